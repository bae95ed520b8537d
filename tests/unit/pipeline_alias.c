// Results in the buffers of arguments: each program is run with buffers of its own and with shared ones, and gives the same
// bits; and it is known which of them need no copy for that.
#include <stdlib.h>

#include "indim/compile.h"
#include "indim/text.h"
#include "run/executable.h"
#include "test.h"

typedef struct fixture {
  indim_ctx *cx;
  indim_module *module;
  indim_executable *exe;
} fixture;

static bool open_fixture(fixture *f, const char *text) {
  *f = (fixture){0};
  bool ok = indim_ctx_create(NULL, &f->cx) == INDIM_OK &&
            indim_module_parse(f->cx, indim_str_of("p.hlo"), indim_str_of(text), &f->module) == INDIM_OK &&
            indim_module_verify(f->cx, f->module) == INDIM_OK &&
            indim_compile(f->cx, f->module, NULL, &f->exe) == INDIM_OK;
  if (!ok) {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(f->cx, 0);
    printf("  %s\n", d == NULL ? "no diagnostic" : d->message);
  }
  return ok;
}

static void close_fixture(fixture *f) {
  indim_executable_destroy(f->exe);
  indim_module_destroy(f->module);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(f->cx), 0);
  indim_ctx_destroy(f->cx);
}

enum { MOST = 4 };

// Every leaf f32; values that differ everywhere.
static float *fresh(const indim_executable *e, int64_t leaf) {
  int64_t count = indim_executable_argument_bytes(e, leaf) / (int64_t)sizeof(float);
  float *buffer = malloc((size_t)count * sizeof *buffer + 1);
  for (int64_t i = 0; buffer != NULL && i < count; i++) {
    buffer[i] = (float)(i * 7 % 1009) + (float)leaf * 0.25F;
  }
  return buffer;
}

static void run_both(fixture *f, indim_pool *pool) {
  float *own[MOST];
  float *results[MOST];
  float *shared[MOST];
  void *shared_results[MOST];
  int64_t arguments = f->exe->argument_count;
  int64_t count = f->exe->result_count;
  for (int64_t i = 0; i < arguments; i++) {
    own[i] = fresh(f->exe, i);
    shared[i] = fresh(f->exe, i);
  }
  for (int64_t i = 0; i < count; i++) {
    int64_t alias = indim_executable_result_alias(f->exe, i);
    results[i] = malloc((size_t)indim_executable_result_bytes(f->exe, i) + 1);
    shared_results[i] =
        alias < 0 ? malloc((size_t)indim_executable_result_bytes(f->exe, i) + 1) : (void *)shared[alias];
  }
  indim_run_options run = {.arguments = (const void *const *)own,
                           .argument_count = arguments,
                           .results = (void *const *)results,
                           .result_count = count,
                           .pool = pool,
                           .cx = f->cx};
  CHECK(indim_execute(f->exe, &run) == INDIM_OK);
  run.arguments = (const void *const *)shared;
  run.results = shared_results;
  CHECK(indim_execute(f->exe, &run) == INDIM_OK);
  for (int64_t i = 0; i < count; i++) {
    CHECK_MSG(memcmp(results[i], shared_results[i], (size_t)indim_executable_result_bytes(f->exe, i)) == 0,
              "result %d differs", (int)i);
    free(indim_executable_result_alias(f->exe, i) < 0 ? shared_results[i] : NULL);
    free(results[i]);
  }
  for (int64_t i = 0; i < arguments; i++) {
    float *untouched = fresh(f->exe, i);
    CHECK_MSG(memcmp(own[i], untouched, (size_t)indim_executable_argument_bytes(f->exe, i)) == 0,
              "argument %d was written", (int)i);
    free(untouched);
    free(own[i]);
    free(shared[i]);
  }
}

// |free_aliases|: how many of the program's aliases need no copy.
static void check(const char *text, int aliases, int free_aliases) {
  fixture f;
  indim_pool *pool = NULL;
  if (indim_compile_available(NULL) != INDIM_OK) {
    printf("  this build has no code generator: not tested\n");
    return;
  }
  REQUIRE(open_fixture(&f, text));
  REQUIRE(indim_pool_create(f.cx, 3, &pool) == INDIM_OK);
  int found = 0;
  int found_free = 0;
  for (int64_t r = 0; r < f.exe->result_count; r++) {
    found += f.exe->results[r].alias >= 0;
    found_free += f.exe->results[r].alias >= 0 && !f.exe->results[r].is_copied;
  }
  CHECK_EQ_INT(found, aliases);
  CHECK_EQ_INT(found_free, free_aliases);
  for (int round = 0; round < 3; round++) {
    run_both(&f, round == 0 ? NULL : pool);
  }
  indim_pool_destroy(pool);
  close_fixture(&f);
}

#define ONE "HloModule m, input_output_alias={ {}: (0, {}) }\n"
#define TWO "HloModule m, input_output_alias={ {0}: (0, {}), {1}: (1, {}) }\n"
#define ADD "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = add(a, b) }\n"

TEST(elementwise) {
  static const char *const sizes[] = {"1", "5", "100", "4096", "100003", "37,53", "300,1000"};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    char text[400];
    snprintf(text, sizeof text,
             ONE "ENTRY e { x = f32[%s] parameter(0) y = f32[%s] parameter(1) m = multiply(x, y) "
                 "ROOT s = add(m, x) }",
             sizes[i], sizes[i]);
    check(text, 1, 1);
  }
}

// One loop for both, or two: then what the first has written is read again in the second.
TEST(elementwise_into_several) {
  check(TWO "ENTRY e { x = f32[100003] parameter(0) y = f32[100003] parameter(1) s = add(x, x) d = multiply(y, y) "
            "ROOT t = tuple(s, d) }",
        2, 2);
  check(TWO "ENTRY e { x = f32[100003] parameter(0) y = f32[100003] parameter(1) s = add(x, y) d = subtract(x, s) "
            "ROOT t = tuple(s, d) }",
        2, 1);
}

// Of two that change places, one has to be kept.
TEST(changing_places) {
  check(TWO "ENTRY e { x = f32[1003] parameter(0) y = f32[1003] parameter(1) a = negate(y) b = negate(x) "
            "ROOT t = tuple(a, b) }",
        2, 1);
  check("HloModule m, input_output_alias={ {0}: (1, {}), {1}: (0, {}) }\n"
        "ENTRY e { x = f32[1003] parameter(0) y = f32[1003] parameter(1) ROOT t = tuple(x, y) }",
        2, 1);
}

TEST(moves_that_need_a_copy) {
  check(ONE "ENTRY e { x = f32[1003] parameter(0) ROOT r = reverse(x), dimensions={0} }", 1, 0);
  check(ONE "ENTRY e { x = f32[64,64] parameter(0) ROOT r = f32[64,64]{1,0} transpose(x), dimensions={1,0} }", 1, 0);
  check(
      ONE
      "ENTRY e { x = f32[1000] parameter(0) a = f32[999] slice(x), slice={[1:1000]} b = f32[1] slice(x), slice={[0:1]} "
      "ROOT r = concatenate(a, b), dimensions={0} }",
      1, 0);
  check(ONE "ENTRY e { x = f32[40,40] parameter(0) ROOT d = f32[40,40] dot(x, x), lhs_contracting_dims={1}, "
            "rhs_contracting_dims={0} }",
        1, 0);
  check(ONE "ENTRY e { x = f32[300,300] parameter(0) ROOT d = f32[300,300] dot(x, x), lhs_contracting_dims={1}, "
            "rhs_contracting_dims={0} }",
        1, 0);
}

// The sum needs all of x before any of it is written.
TEST(a_sum_of_all_and_then_elementwise) {
  check(ONE ADD "ENTRY e { x = f32[10007] parameter(0) z = f32[] constant(0) s = f32[] reduce(x, z), dimensions={0}, "
                "to_apply=add b = f32[10007] broadcast(s), dimensions={} ROOT d = subtract(x, b) }",
        1, 1);
}

// Rows may be written while columns are still to be read.
TEST(sums_of_columns) {
  check(ONE ADD "ENTRY e { x = f32[70,90] parameter(0) z = f32[] constant(0) s = f32[90] reduce(x, z), dimensions={0}, "
                "to_apply=add b = f32[70,90] broadcast(s), dimensions={1} ROOT d = subtract(x, b) }",
        1, 1);
}

TEST(another_result_reads_late) {
  check(ONE
        "ENTRY e { x = f32[1003] parameter(0) i = f32[1003] iota(), iota_dimension=0 c = f32[] constant(2) "
        "b = f32[1003] broadcast(c), dimensions={} p = power(x, b) r = reverse(p), dimensions={0} ROOT s = add(x, r) }",
        1, 0);
}

TEST(update_in_a_loop) {
  check(ONE "body { s = (s32[], f32[20000]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"
            "  a = f32[20000] get-tuple-element(s), index=1 o = s32[] constant(1) n = add(i, o)\n"
            "  v = f32[3] dynamic-slice(a, i), dynamic_slice_sizes={3} w = add(v, v) k = s32[] constant(3) j = "
            "multiply(i, k)\n"
            "  u = f32[20000] dynamic-update-slice(a, w, j) ROOT t = tuple(n, u) }\n"
            "cond { s = (s32[], f32[20000]) parameter(0) i = s32[] get-tuple-element(s), index=0 "
            "h = s32[] constant(100) ROOT l = compare(i, h), direction=LT }\n"
            "ENTRY e { x = f32[20000] parameter(0) z = s32[] constant(0) t = tuple(z, x)\n"
            "  w = (s32[], f32[20000]) while(t), condition=cond, body=body ROOT r = f32[20000] get-tuple-element(w), "
            "index=1 }",
        1, 1);
}

TEST(one_update) {
  check(ONE "ENTRY e { x = f32[5000] parameter(0) u = f32[7] parameter(1) i = s32[] constant(17) "
            "ROOT d = f32[5000] dynamic-update-slice(x, u, i) }",
        1, 1);
}

#define CASES(X)                       \
  X(elementwise)                       \
  X(elementwise_into_several)          \
  X(changing_places)                   \
  X(moves_that_need_a_copy)            \
  X(a_sum_of_all_and_then_elementwise) \
  X(sums_of_columns)                   \
  X(another_result_reads_late)         \
  X(update_in_a_loop)                  \
  X(one_update)

TEST_MAIN(CASES)
