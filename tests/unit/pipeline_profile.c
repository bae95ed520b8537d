// Programs compiled with clocks around their steps: which steps there are, how often each ran, and that nothing else differs.
#include <stdlib.h>
#include <string.h>

#include "indim/compile.h"
#include "indim/text.h"
#include "test.h"

// A loop nest before the loop, one inside that runs ten times, and one behind.
static const char loop_text[] =
    "HloModule m\n"
    "body { p = (s32[], f32[8192]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = f32[8192] "
    "get-tuple-element(p), index=1 one = s32[] constant(1) j = s32[] add(i, one) r = f32[8192] reverse(x), "
    "dimensions={0} y = f32[8192] add(r, r) ROOT t = (s32[], f32[8192]) tuple(j, y) }\n"
    "more { p = (s32[], f32[8192]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(10) "
    "ROOT c = pred[] compare(i, n), direction=LT }\n"
    "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
    "ENTRY e { v = f32[8192] parameter(0) s = f32[8192] sine(v) z = s32[] constant(0) t = (s32[], f32[8192]) tuple(z, "
    "s) "
    "w = (s32[], f32[8192]) while(t), condition=more, body=body k = f32[8192] get-tuple-element(w), index=1 "
    "c = f32[] constant(0) ROOT u = f32[] reduce(k, c), dimensions={0}, to_apply=sum }\n";

typedef struct fixture {
  indim_ctx *cx;
  indim_module *module;
  indim_executable *plain, *timed;
  indim_step_time *times;
} fixture;

// Whether there is a generator; a test without one ends at once.
static bool can_compile(void) {
  bool can = indim_compile_available(NULL) == INDIM_OK;
  if (!can) {
    printf("  this build has no code generator: not tested\n");
  }
  return can;
}

static bool open_fixture(fixture *f, const char *text, const char *target) {
  indim_compile_options options = {.target = target};
  *f = (fixture){0};
  bool ok = indim_ctx_create(NULL, &f->cx) == INDIM_OK &&
            indim_module_parse(f->cx, indim_str_of("p"), indim_str_of(text), &f->module) == INDIM_OK &&
            indim_module_verify(f->cx, f->module) == INDIM_OK &&
            indim_compile(f->cx, f->module, &options, &f->plain) == INDIM_OK;
  options.profile = true;
  ok = ok && indim_compile(f->cx, f->module, &options, &f->timed) == INDIM_OK;
  CHECK_MSG(ok, "%s", indim_ctx_diagnostic_count(f->cx) == 0 ? "?" : indim_ctx_diagnostic_get(f->cx, 0)->message);
  f->times = calloc((size_t)indim_executable_step_count(f->timed) + 1, sizeof *f->times);
  return ok && f->times != NULL;
}

static void close_fixture(fixture *f) {
  free(f->times);
  indim_executable_destroy(f->plain);
  indim_executable_destroy(f->timed);
  indim_module_destroy(f->module);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(f->cx), 0);
  indim_ctx_destroy(f->cx);
}

static int64_t step_named(const indim_executable *e, const char *name) {
  int64_t found = -1;
  for (int64_t i = 0; i < indim_executable_step_count(e); i++) {
    found = strcmp(indim_executable_step(e, i)->name, name) == 0 ? i : found;
  }
  return found;
}

static bool has_instruction(const indim_profile_step *step, const char *name) {
  bool found = false;
  for (int64_t i = 0; i < step->instruction_count; i++) {
    found = found || strcmp(step->instructions[i], name) == 0;
  }
  return found;
}

static float run_once(const fixture *f, indim_executable *e, const float *argument, indim_step_time *times,
                      indim_pool *pool) {
  float result = -1;
  const void *arguments[] = {argument};
  void *results[] = {&result};
  const indim_run_options run = {.arguments = arguments,
                                 .argument_count = 1,
                                 .results = results,
                                 .result_count = 1,
                                 .pool = pool,
                                 .step_times = times,
                                 .cx = f->cx};
  CHECK_EQ_INT(indim_execute(e, &run), INDIM_OK);
  return result;
}

TEST(steps_of_a_loop) {
  fixture f;
  if (!can_compile()) {
    return;
  }
  if (open_fixture(&f, loop_text, NULL)) {
    float *argument = calloc(8192, sizeof *argument);
    REQUIRE(argument != NULL);
    for (int i = 0; i < 8192; i++) {
      argument[i] = (float)i / 8192;
    }
    indim_pool *pool = NULL;
    CHECK_EQ_INT(indim_pool_create(f.cx, 2, &pool), INDIM_OK);
    float expected = run_once(&f, f.plain, argument, NULL, NULL);
    CHECK(run_once(&f, f.timed, argument, NULL, NULL) == expected);  // nobody wants the times
    CHECK(run_once(&f, f.timed, argument, f.times, NULL) == expected);
    CHECK(run_once(&f, f.timed, argument, f.times, pool) == expected);
    CHECK_EQ_INT(indim_executable_step_count(f.plain), 0);
    CHECK(indim_executable_step(f.plain, 0) == NULL && indim_executable_step(NULL, 0) == NULL);
    int64_t sine = step_named(f.timed, "s");
    int64_t inside = step_named(f.timed, "y");
    int64_t sum = step_named(f.timed, "u");
    REQUIRE(sine >= 0 && inside > sine && sum > inside);
    CHECK(indim_executable_step(f.timed, indim_executable_step_count(f.timed)) == NULL);
    CHECK(!indim_executable_step(f.timed, sine)->is_repeated && indim_executable_step(f.timed, inside)->is_repeated);
    CHECK_EQ_INT(f.times[sine].runs, 2);
    CHECK_EQ_INT(f.times[inside].runs, 20);
    CHECK_EQ_INT(f.times[sum].runs, 2);
    CHECK(f.times[sine].ns > 0 && f.times[inside].ns > 0 && f.times[sum].ns >= 0);
    const indim_profile_step *step = indim_executable_step(f.timed, inside);
    CHECK(strcmp(step->kind, "loop") == 0 && strcmp(step->op, "add") == 0 && strcmp(step->service, "") == 0);
    CHECK(step->bytes_read == 32768 && step->bytes_written == 32768 && step->operations == 8192);
    step = indim_executable_step(f.timed, sine);
    CHECK(step->transcendentals == 8192 && step->operations == 0 && has_instruction(step, "s"));
    indim_pool_destroy(pool);
    free(argument);
  }
  close_fixture(&f);
}

// What is fused into a nest is named with it; a call of the host has its service.
TEST(names) {
  static const char text[] =
      "ENTRY e { x = f32[256,256] parameter(0) y = f32[256,256] negate(x) h = f32[256,256] exponential(y) "
      "d = f32[256,256] dot(h, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} n = f32[256,256] negate(d) "
      "ROOT m = f32[256,256] multiply(n, n) }";
  fixture f;
  if (!can_compile()) {
    return;
  }
  if (open_fixture(&f, text, "x86-64-v3")) {
    int64_t fused = step_named(f.timed, "h");
    int64_t product = step_named(f.timed, "d");
    int64_t last = step_named(f.timed, "m");
    REQUIRE(fused >= 0 && product > fused && last > product);
    const indim_profile_step *step = indim_executable_step(f.timed, fused);
    CHECK(has_instruction(step, "y") && has_instruction(step, "h") && !has_instruction(step, "d"));
    step = indim_executable_step(f.timed, product);
    CHECK(strcmp(step->kind, "host") == 0 && strcmp(step->service, "matmul") == 0);
    CHECK(step->operations == 2.0 * 256 * 256 * 256 && step->bytes_read == 2.0 * 4 * 256 * 256);
    step = indim_executable_step(f.timed, last);
    CHECK(has_instruction(step, "n") && has_instruction(step, "m"));
  }
  close_fixture(&f);
}

TEST(straight_line_code_has_no_step) {
  fixture f;
  if (!can_compile()) {
    return;
  }
  if (open_fixture(&f, "ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }", NULL)) {
    CHECK_EQ_INT(indim_executable_step_count(f.timed), 0);
  }
  close_fixture(&f);
}

// The loops of a program say where the clocks are.
TEST(clocks_in_the_loops) {
  static const char text[] = "ENTRY e { x = f32[4096] parameter(0) ROOT y = f32[4096] add(x, x) }";
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  indim_executable *e = NULL;
  indim_buffer loops;
  if (!can_compile()) {
    return;
  }
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_buffer_init(&loops, cx);
  CHECK(indim_module_parse(cx, indim_str_of("p"), indim_str_of(text), &module) == INDIM_OK &&
        indim_module_verify(cx, module) == INDIM_OK);
  indim_compile_options options = {.out_loops = &loops, .profile = true};
  CHECK_EQ_INT(indim_compile(cx, module, &options, &e), INDIM_OK);
  const char *first = strstr(loops.data, "clock");
  const char *nest = strstr(loops.data, "for ");
  CHECK(first != NULL && nest != NULL && first < nest && strstr(nest, "clock") != NULL);
  indim_executable_destroy(e);
  indim_object *object = NULL;
  const indim_object_options wrong = {.compile = &options};
  CHECK_EQ_INT(indim_compile_object(cx, module, &wrong, &object), INDIM_INVALID);
  CHECK(object == NULL && strstr(indim_ctx_diagnostic_get(cx, 0)->message, "profile") != NULL);
  indim_buffer_deinit(&loops);
  indim_module_destroy(module);
  indim_ctx_destroy(cx);
}

#define CASES(X)                    \
  X(steps_of_a_loop)                \
  X(names)                          \
  X(straight_line_code_has_no_step) \
  X(clocks_in_the_loops)

TEST_MAIN(CASES)
