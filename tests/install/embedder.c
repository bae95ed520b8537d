// A user of an installed library who compiles a program once and runs it over memory of their own: a donated buffer, own
// threads, a loop that is stopped, and refused calls. Prints "ok" or what is wrong.
#include <stdio.h>
#include <string.h>

#include "indim/compile.h"
#include "indim/text.h"

enum { COUNT = 100000 };

static const char add[] = "HloModule add, input_output_alias={ {}: (0, {}, may-alias) }\n"
                          "ENTRY e { x = f32[100000] parameter(0) y = f32[100000] parameter(1) ROOT s = add(x, y) }";
static const char endless[] = "c { x = s32[] parameter(0) ROOT t = pred[] constant(true) }\n"
                              "b { x = s32[] parameter(0) o = s32[] constant(1) ROOT s = add(x, o) }\n"
                              "ENTRY e { i = s32[] parameter(0) ROOT w = s32[] while(i), condition=c, body=b }";

static float x[COUNT];
static float y[COUNT];
static float sum[COUNT];
static int loops;

static indim_executable *compile(indim_ctx *cx, const char *text) {
  indim_module *module = NULL;
  indim_executable *executable = NULL;
  if (indim_module_parse(cx, indim_str_of("program"), indim_str_of(text), &module) != INDIM_OK ||
      indim_module_verify(cx, module) != INDIM_OK || indim_compile(cx, module, NULL, &executable) != INDIM_OK) {
    fprintf(stderr, "%s\n", indim_ctx_diagnostic_get(cx, 0)->message);
  }
  indim_module_destroy(module);
  return executable;
}

// All pieces on this thread, the last first.
static void run_pieces(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame, int64_t count,
                       int64_t grain) {
  ++*(int *)user;
  for (int64_t begin = (count - 1) / grain * grain; begin >= 0; begin -= grain) {
    piece(frame, begin, begin + grain < count ? begin + grain : count);
  }
}

static int fail(const char *what) {
  printf("wrong: %s\n", what);
  return 1;
}

// Refused before anything runs, with a reason.
static int is_refused(indim_ctx *cx, indim_executable *executable, const indim_run_options *call, const char *reason) {
  indim_ctx_diagnostics_clear(cx);
  indim_status status = indim_execute(executable, call);
  const indim_diagnostic *told = indim_ctx_diagnostic_get(cx, 0);
  return status == INDIM_INVALID && told != NULL && strstr(told->message, reason) != NULL;
}

static int run_sum(indim_ctx *cx, indim_executable *executable) {
  const void *arguments[] = {x, y};
  void *results[] = {sum};
  indim_run_options call = {
      .arguments = arguments, .argument_count = 2, .results = results, .result_count = 1, .cx = cx};
  for (int i = 0; i < COUNT; i++) {
    x[i] = (float)i;
    y[i] = 1;
  }
  if (indim_execute(executable, &call) != INDIM_OK || sum[0] != 1 || sum[COUNT - 1] != COUNT)
    return fail("a call");
  call.parallel = run_pieces;
  call.parallel_user = &loops;
  sum[0] = 0;
  if (indim_execute(executable, &call) != INDIM_OK || sum[0] != 1 || loops == 0)
    return fail("a call with own threads");
  call.argument_count = 1;
  if (!is_refused(cx, executable, &call, "2 argument leaves, 1 are given"))
    return fail("one argument");
  call.argument_count = 2;
  results[0] = y;
  if (!is_refused(cx, executable, &call, "overlaps argument leaf 1"))
    return fail("a result over an argument");
  results[0] = NULL;
  if (!is_refused(cx, executable, &call, "NULL"))
    return fail("no result");
  results[0] = x;  // donated
  if (indim_executable_result_alias(executable, 0) != 0 || indim_execute(executable, &call) != INDIM_OK ||
      memcmp(x, sum, sizeof x) != 0) {
    return fail("a donated argument");
  }
  return 0;
}

static int run_endless(indim_executable *executable) {
  const volatile int32_t stop = 1;
  const int32_t from = 0;
  int32_t to = 0;
  indim_run_options call = {.arguments = (const void *const[]){&from},
                            .argument_count = 1,
                            .results = (void *const[]){&to},
                            .result_count = 1,
                            .stop = &stop};
  return indim_execute(executable, &call) == INDIM_INTERRUPTED ? 0 : fail("a stopped loop");
}

int main(void) {
  indim_ctx *cx = NULL;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK)
    return 1;
  indim_executable *one = compile(cx, add);
  indim_executable *other = compile(cx, endless);
  int outcome = one == NULL || other == NULL || run_sum(cx, one) != 0 || run_endless(other) != 0;
  indim_executable_destroy(other);
  indim_executable_destroy(one);
  indim_ctx_destroy(cx);
  if (outcome == 0)
    puts("ok");
  return outcome;
}
