// Code of a large program is made by several threads: in how many parts depends on the program alone, and results are the
// same bits with any threads and with none. What fails in one part fails as it does without parts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "indim/compile.h"
#include "indim/eval.h"
#include "indim/text.h"
#include "test.h"

#if defined(__SANITIZE_ADDRESS__)
// What LLVM held when it crashed is lost, as it has to be.
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
#endif

enum { STAGES = 40, WIDTH = 24, MOST_TEXT = 1 << 16 };

// A loop whose body is long, around sums of rows of different lengths, each with a loop of its own, and straight code on small
// arrays between them; a branch, and a constant that all parts refer to.
static const char *make_text(void) {
  static char text[MOST_TEXT];
  size_t at = 0;
#define ADD(...) at += (size_t)snprintf(text + at, MOST_TEXT - at, __VA_ARGS__)
  ADD("HloModule stages\n"
      "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
      "small { v = f32[%d]{0} parameter(0)  ROOT w = f32[%d]{0} tanh(v) }\n"
      "large { v = f32[%d]{0} parameter(0)  ROOT w = f32[%d]{0} cosine(v) }\n"
      "test { s = (s32[], f32[%d]{0}, f32[64,500]{1,0}) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)  ROOT t = pred[] compare(i, n), direction=LT "
      "}\n"
      "body { s = (s32[], f32[%d]{0}, f32[64,500]{1,0}) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0  one = s32[] constant(1)  next = s32[] add(i, one)\n"
      "  x0 = f32[%d]{0} get-tuple-element(s), index=1  m = f32[64,500]{1,0} get-tuple-element(s), index=2\n"
      "  zero = f32[] constant(0)\n",
      WIDTH, WIDTH, WIDTH, WIDTH, WIDTH, WIDTH, WIDTH);
  ADD("  table = f32[64]{0} constant({");
  for (int i = 0; i < 64; i++) {
    ADD("%s%d.5", i == 0 ? "" : ", ", 400 + i);
  }
  ADD("})\n");
  for (int i = 0; i < STAGES; i++) {
    int columns = 300 + 5 * i;
    ADD("  part%d = f32[64,%d]{1,0} slice(m), slice={[0:64], [0:%d]}\n", i, columns, columns);
    ADD("  e%d = f32[64,%d]{1,0} exponential(part%d)\n", i, columns, i);
    ADD("  t%d = f32[64,%d]{1,0} broadcast(table), dimensions={0}\n", i, columns);
    ADD("  d%d = f32[64,%d]{1,0} divide(e%d, t%d)\n", i, columns, i, i);
    ADD("  r%d = f32[64]{0} reduce(d%d, zero), dimensions={1}, to_apply=sum\n", i, i);
    ADD("  h%d = f32[%d]{0} slice(r%d), slice={[%d:%d]}\n", i, WIDTH, i, i, i + WIDTH);
    ADD("  y%d = f32[%d]{0} multiply(x%d, h%d)\n", i, WIDTH, i, i);
    ADD("  z%d = f32[%d]{0} reverse(y%d), dimensions={0}\n", i, WIDTH, i);
    ADD("  x%d = f32[%d]{0} sine(z%d)\n", i + 1, WIDTH, i);
  }
  ADD("  two = s32[] constant(2)  odd = s32[] remainder(i, two)\n"
      "  end = f32[%d]{0} conditional(odd, x%d, x%d), branch_computations={small, large}\n"
      "  ROOT out = (s32[], f32[%d]{0}, f32[64,500]{1,0}) tuple(next, end, m) }\n",
      WIDTH, STAGES, STAGES, WIDTH);
  ADD("ENTRY main { x = f32[%d]{0} parameter(0)  m = f32[64,500]{1,0} parameter(1)  i = s32[] constant(0)\n"
      "  s = (s32[], f32[%d]{0}, f32[64,500]{1,0}) tuple(i, x, m)\n"
      "  w = (s32[], f32[%d]{0}, f32[64,500]{1,0}) while(s), condition=test, body=body\n"
      "  ROOT y = f32[%d]{0} get-tuple-element(w), index=1 }\n",
      WIDTH, WIDTH, WIDTH, WIDTH);
#undef ADD
  return text;
}

typedef struct subject {
  indim_ctx *cx;
  indim_module *module;
  float x[WIDTH], m[64][500];
} subject;

static bool open_subject(subject *s) {
  s->module = NULL;
  if (indim_ctx_create(NULL, &s->cx) != INDIM_OK ||
      indim_module_parse(s->cx, indim_str_of("stages.hlo"), indim_str_of(make_text()), &s->module) != INDIM_OK ||
      indim_module_verify(s->cx, s->module) != INDIM_OK) {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(s->cx, 0);
    printf("  %d: %s\n", d == NULL ? 0 : (int)d->line, d == NULL ? "?" : d->message);
    return false;
  }
  for (int i = 0; i < WIDTH; i++) {
    s->x[i] = (float)(i + 1) / WIDTH;
  }
  for (int i = 0; i < 64 * 500; i++) {
    s->m[i / 500][i % 500] = (float)(i % 37) / 37 - 0.5F;
  }
  return true;
}

static void close_subject(subject *s) {
  indim_module_destroy(s->module);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(s->cx), 0);
  indim_ctx_destroy(s->cx);
}

static indim_status compile_and_run(subject *s, const indim_compile_options *options, float *out) {
  indim_executable *exe = NULL;
  const void *arguments[] = {s->x, s->m};
  void *results[] = {out};
  indim_run_options run = {
      .arguments = arguments, .argument_count = 2, .results = results, .result_count = 1, .cx = s->cx};
  indim_status status = indim_compile(s->cx, s->module, options, &exe);
  status = status == INDIM_OK ? indim_execute(exe, &run) : status;
  indim_executable_destroy(exe);
  return status;
}

// Without a code generator there is nothing to test.
static bool has_generator(subject *s) {
  bool is_there = indim_compile_available(s->cx) == INDIM_OK;
  if (!is_there) {
    printf("  this build has no code generator: not tested\n");
  }
  return is_there;
}

// What the compiler asked of its caller's threads.
typedef struct asked {
  int32_t loops;
  int64_t pieces;
} asked;

// From the last piece to the first, on the caller's thread.
static void run_backwards(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame,
                          int64_t count, int64_t grain) {
  asked *a = user;
  a->loops++;
  a->pieces += count;
  for (int64_t end = count; end > 0; end -= grain) {
    piece(frame, end > grain ? end - grain : 0, end);
  }
}

TEST(threads_make_the_same_code) {
  subject s;
  indim_pool *pool = NULL;
  asked all[2] = {{0}};
  float plain[WIDTH], pooled[WIDTH], backwards[2][WIDTH];
  REQUIRE(open_subject(&s));
  if (has_generator(&s)) {
    CHECK_EQ_INT(compile_and_run(&s, NULL, plain), INDIM_OK);
    REQUIRE(indim_pool_create(s.cx, 3, &pool) == INDIM_OK);
    for (int round = 0; round < 3; round++) {
      const indim_compile_options threads = {.pool = pool};
      CHECK_EQ_INT(compile_and_run(&s, &threads, pooled), INDIM_OK);
      CHECK(memcmp(pooled, plain, sizeof plain) == 0);
    }
    for (int i = 0; i < 2; i++) {
      const indim_compile_options own = {
          .pool = pool, .parallel = run_backwards, .parallel_user = &all[i], .chunk = i * 20};
      CHECK_EQ_INT(compile_and_run(&s, &own, backwards[i]), INDIM_OK);
      CHECK(memcmp(backwards[i], plain, sizeof plain) == 0);
      CHECK_EQ_INT(all[i].loops, 1);
    }
    CHECK(all[0].pieces > 1);
    CHECK(all[1].pieces > all[0].pieces);
    CHECK_EQ_UINT(indim_ctx_diagnostic_count(s.cx), 0);
    indim_pool_destroy(pool);
  }
  close_subject(&s);
}

TEST(compiled_is_evaluated) {
  subject s;
  float compiled[WIDTH];
  indim_literal *arguments[2] = {NULL};
  indim_literal *expected = NULL;
  REQUIRE(open_subject(&s));
  if (has_generator(&s)) {
    const indim_compile_options options = {.chunk = 50};
    CHECK_EQ_INT(compile_and_run(&s, &options, compiled), INDIM_OK);
    indim_str texts[2] = {indim_str_of("f32[24]{0}"), indim_str_of("f32[64,500]{1,0}")};
    const void *data[2] = {s.x, s.m};
    size_t sizes[2] = {sizeof s.x, sizeof s.m};
    for (int i = 0; i < 2; i++) {
      indim_arena arena;
      indim_shape shape;
      indim_arena_init(&arena, s.cx);
      REQUIRE(indim_shape_parse(s.cx, texts[i], &arena, &shape) == INDIM_OK);
      REQUIRE(indim_literal_create(s.cx, &shape, &arguments[i]) == INDIM_OK);
      memcpy(indim_literal_mutable_data(arguments[i]), data[i], sizes[i]);
      indim_arena_deinit(&arena);
    }
    REQUIRE(indim_eval(s.cx, s.module, (const indim_literal *const *)arguments, 2, NULL, &expected) == INDIM_OK);
    const float *right = indim_literal_data(expected);
    for (int i = 0; i < WIDTH; i++) {
      CHECK(compiled[i] > right[i] - 1e-4F && compiled[i] < right[i] + 1e-4F);
    }
    indim_literal_destroy(expected);
    indim_literal_destroy(arguments[0]);
    indim_literal_destroy(arguments[1]);
  }
  close_subject(&s);
}

// A crash in each part, on whichever thread: narrower vectors, as without threads.
TEST(a_crash_is_contained) {
  subject s;
  indim_pool *pool = NULL;
  float plain[WIDTH], stepped[WIDTH];
  REQUIRE(open_subject(&s));
  if (has_generator(&s)) {
    REQUIRE(indim_pool_create(s.cx, 3, &pool) == INDIM_OK);
    const indim_compile_options crash = {.pool = pool, .crash_from = 16};
    CHECK_EQ_INT(compile_and_run(&s, NULL, plain), INDIM_OK);
    CHECK_EQ_INT(compile_and_run(&s, &crash, stepped), INDIM_OK);
    CHECK(indim_ctx_diagnostic_count(s.cx) > 0);
    for (int i = 0; i < WIDTH; i++) {
      CHECK(stepped[i] > plain[i] - 1e-4F && stepped[i] < plain[i] + 1e-4F);
    }
    indim_pool_destroy(pool);
  }
  close_subject(&s);
}

#define CASES(X)                \
  X(threads_make_the_same_code) \
  X(compiled_is_evaluated)      \
  X(a_crash_is_contained)
TEST_MAIN(CASES)
