// Running an executable whose code is a function of ours: wrong counts and buffers are refused before it runs, working
// memory is its own for every run at the same time, the host table does what it says, and literals of any layout and
// nesting come in and go out. Run under the ThreadSanitizer preset.
#include <pthread.h>
#include <stdlib.h>

#include "run/executable.h"
#include "test.h"

enum { COUNT = 6 };

static int32_t calls;  // of any code below

// result[i] = x[i] + y, through working memory; x: f32[2,3], y: f32[].
static int32_t add_code(const void *const *arguments, void *const *results, void *scratch, const indim_host *host) {
  const float *x = arguments[0];
  const float *y = arguments[1];
  float *sum = results[0];
  volatile float *between = scratch;
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (*host->stop != 0) {
    return INDIM_HOST_STOPPED;
  }
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < COUNT; i++) {
      between[i] = x[i] + *y;
    }
    for (int i = 0; i < COUNT; i++) {
      sum[i] = between[i];
    }
  }
  return INDIM_HOST_OK;
}

typedef struct fixture {
  indim_ctx *cx;
  indim_arena *arena;
  indim_executable *exe;
} fixture;

// Parameters and result as texts of shapes; |second| may be NULL.
static bool make(fixture *f, const char *first, const char *second, const char *result, indim_compiled_fn *code,
                 int64_t scratch) {
  indim_shape shapes[3];
  const indim_shape *list[2] = {&shapes[0], &shapes[1]};
  const indim_str names[2] = {indim_str_of("x"), indim_str_of("y")};
  *f = (fixture){0};
  calls = 0;
  if (indim_ctx_create(NULL, &f->cx) != INDIM_OK || indim_arena_create(f->cx, &f->arena) != INDIM_OK ||
      indim_shape_parse(f->cx, indim_str_of(first), f->arena, &shapes[0]) != INDIM_OK ||
      (second != NULL && indim_shape_parse(f->cx, indim_str_of(second), f->arena, &shapes[1]) != INDIM_OK) ||
      indim_shape_parse(f->cx, indim_str_of(result), f->arena, &shapes[2]) != INDIM_OK ||
      indim_executable_create(f->cx, list, names, second != NULL ? 2 : 1, &shapes[2], &f->exe) != INDIM_OK ||
      indim_executable_set_scratch(f->exe, scratch) != INDIM_OK) {
    return false;
  }
  f->exe->function = code;
  return true;
}

static void drop(fixture *f) {
  indim_executable_destroy(f->exe);
  indim_arena_destroy(f->arena);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(f->cx), 0);
  indim_ctx_destroy(f->cx);
}

static bool make_add(fixture *f) {
  return make(f, "f32[2,3]", "f32[]", "f32[2,3]", add_code, COUNT * (int64_t)sizeof(float));
}

// A call that is right, to be spoiled.
typedef struct call {
  float x[COUNT + 1], y[2], sum[COUNT + 1];
  const void *arguments[2];
  void *results[1];
  indim_run_options run;
} call;

static void make_call(const fixture *f, call *c) {
  *c = (call){.x = {1, 2, 3, 4, 5, 6}, .y = {10}};
  c->arguments[0] = c->x;
  c->arguments[1] = c->y;
  c->results[0] = c->sum;
  c->run = (indim_run_options){
      .arguments = c->arguments, .argument_count = 2, .results = c->results, .result_count = 1, .cx = f->cx};
}

static bool is_sum(const float *sum) {
  for (int i = 0; i < COUNT; i++) {
    if (sum[i] != (float)(11 + i)) {
      return false;
    }
  }
  return true;
}

TEST(runs_and_allocates_nothing) {
  fixture f;
  call c;
  REQUIRE(make_add(&f));
  make_call(&f, &c);
  uint64_t peak = indim_ctx_memory_peak(f.cx);
  for (int i = 0; i < 3; i++) {
    CHECK(indim_execute(f.exe, &c.run) == INDIM_OK);
    CHECK(is_sum(c.sum));
  }
  CHECK_EQ_UINT(indim_ctx_memory_peak(f.cx), peak);
  CHECK_EQ_INT(calls, 3);
  drop(&f);
}

TEST(says_what_it_takes) {
  fixture f;
  REQUIRE(make(&f, "(f32[2]{0}, (pred[], c128[3]{0}), token[])", "f16[2,3]{0,1:PAD(3,5;zero)}", "(s4[5]{0}, f64[])",
               add_code, 100));
  CHECK_EQ_INT(indim_executable_argument_count(f.exe), 4);
  CHECK_EQ_INT(indim_executable_result_count(f.exe), 2);
  static const int64_t bytes[] = {8, 1, 48, 30};
  static const int64_t alignments[] = {4, 1, 8, 2};
  for (int i = 0; i < 4; i++) {
    CHECK_EQ_INT(indim_executable_argument_bytes(f.exe, i), bytes[i]);
    CHECK_EQ_INT(indim_executable_argument_alignment(f.exe, i), alignments[i]);
  }
  CHECK_EQ_INT(indim_executable_result_bytes(f.exe, 0), 5);
  CHECK_EQ_INT(indim_executable_result_bytes(f.exe, 1), 8);
  CHECK_EQ_INT(indim_executable_result_alignment(f.exe, 1), 8);
  CHECK(indim_executable_argument_shape(f.exe, 2)->type == INDIM_C128);
  CHECK(indim_executable_result_shape(f.exe, 0)->type == INDIM_S4);
  CHECK_EQ_INT(indim_executable_result_alias(f.exe, 0), -1);
  CHECK_EQ_INT(indim_executable_scratch_bytes(f.exe), 100);
  CHECK_EQ_INT(indim_executable_argument_bytes(f.exe, 4), 0);
  CHECK_EQ_INT(indim_executable_argument_bytes(f.exe, -1), 0);
  CHECK(indim_executable_argument_shape(f.exe, 4) == NULL && indim_executable_result_shape(f.exe, 2) == NULL);
  drop(&f);
}

TEST(null_is_answered) {
  CHECK_EQ_INT(indim_executable_argument_count(NULL), 0);
  CHECK_EQ_INT(indim_executable_result_count(NULL), 0);
  CHECK_EQ_INT(indim_executable_argument_bytes(NULL, 0), 0);
  CHECK_EQ_INT(indim_executable_result_bytes(NULL, 0), 0);
  CHECK_EQ_INT(indim_executable_argument_alignment(NULL, 0), 0);
  CHECK_EQ_INT(indim_executable_result_alignment(NULL, 0), 0);
  CHECK_EQ_INT(indim_executable_result_alias(NULL, 0), -1);
  CHECK_EQ_INT(indim_executable_scratch_bytes(NULL), 0);
  CHECK_EQ_INT(indim_executable_code_bytes(NULL), 0);
  CHECK(indim_executable_argument_shape(NULL, 0) == NULL && indim_executable_result_shape(NULL, 0) == NULL);
  indim_compile_times times = {.code = 1};
  indim_executable_times(NULL, &times);
  CHECK_EQ_INT(times.code, 0);
  indim_executable_destroy(NULL);
  indim_run_options run = {0};
  CHECK(indim_execute(NULL, &run) == INDIM_INVALID);
}

// Each spoils one thing; the code must not run.
static void expect_refusal(fixture *f, const indim_run_options *run, const char *word) {
  calls = 0;
  indim_ctx_diagnostics_clear(f->cx);
  CHECK_MSG(indim_execute(f->exe, run) == INDIM_INVALID, "not refused: %s", word);
  CHECK_MSG(calls == 0, "ran in spite of: %s", word);
  const indim_diagnostic *d = indim_ctx_diagnostic_get(f->cx, 0);
  CHECK_MSG(d != NULL && strstr(d->message, word) != NULL, "'%s' lacks '%s'", d == NULL ? "" : d->message, word);
  indim_run_options silent = *run;
  silent.cx = NULL;
  CHECK(indim_execute(f->exe, &silent) == INDIM_INVALID);
  indim_binding *binding = NULL;
  CHECK(indim_binding_create(f->cx, f->exe, &silent, &binding) == INDIM_INVALID && binding == NULL);
}

TEST(wrong_calls_are_refused_before_anything_runs) {
  fixture f;
  call c;
  REQUIRE(make_add(&f));
  CHECK(indim_execute(f.exe, NULL) == INDIM_INVALID);
  make_call(&f, &c);
  c.run.argument_count = 1;
  expect_refusal(&f, &c.run, "2 argument leaves, 1 are given");
  c.run.argument_count = 3;
  expect_refusal(&f, &c.run, "2 argument leaves, 3 are given");
  make_call(&f, &c);
  c.run.result_count = 0;
  expect_refusal(&f, &c.run, "1 result leaves, 0 are given");
  make_call(&f, &c);
  c.run.arguments = NULL;
  expect_refusal(&f, &c.run, "list of arguments is NULL");
  make_call(&f, &c);
  c.run.results = NULL;
  expect_refusal(&f, &c.run, "list of results is NULL");
  make_call(&f, &c);
  c.arguments[1] = NULL;
  expect_refusal(&f, &c.run, "argument leaf 1 is NULL");
  make_call(&f, &c);
  c.results[0] = NULL;
  expect_refusal(&f, &c.run, "result leaf 0 is NULL");
  make_call(&f, &c);
  c.arguments[0] = (const char *)c.x + 2;
  expect_refusal(&f, &c.run, "multiple of 4");
  make_call(&f, &c);
  c.results[0] = (char *)c.sum + 1;
  expect_refusal(&f, &c.run, "multiple of 4");
  make_call(&f, &c);
  c.run.scratch = (char *)c.sum + 4;
  expect_refusal(&f, &c.run, "scratch lies at");
  drop(&f);
}

TEST(overlaps_are_refused_unless_stated) {
  fixture f;
  call c;
  REQUIRE(make_add(&f));
  make_call(&f, &c);
  c.results[0] = c.x;
  expect_refusal(&f, &c.run, "result leaf 0 overlaps argument leaf 0");
  c.results[0] = c.x + 1;
  expect_refusal(&f, &c.run, "result leaf 0 overlaps argument leaf 0");
  make_call(&f, &c);
  indim_executable_set_alias(f.exe, 0, 0, false);
  c.results[0] = c.x;
  CHECK_EQ_INT(indim_executable_result_alias(f.exe, 0), 0);
  c.x[0] = 1;
  CHECK(indim_execute(f.exe, &c.run) == INDIM_OK);
  c.results[0] = c.x + 1;
  expect_refusal(&f, &c.run, "overlaps");
  drop(&f);
  REQUIRE(make(&f, "f32[4]", "f32[]", "(f32[2]{0}, f32[2]{0})", add_code, 0));
  float x[4] = {0};
  float y[4] = {0};
  indim_run_options run = {.arguments = (const void *const[]){x, x},  // arguments may overlap
                           .argument_count = 2,
                           .results = (void *const[]){y, y + 1},
                           .result_count = 2,
                           .cx = f.cx};
  expect_refusal(&f, &run, "result leaf 1 overlaps result leaf 0");
  drop(&f);
}

static int32_t nothing_code(const void *const *arguments, void *const *results, void *scratch, const indim_host *host) {
  (void)arguments, (void)results, (void)scratch, (void)host;
  calls++;
  return INDIM_HOST_OK;
}

TEST(empty_buffers_may_be_null) {
  fixture f;
  REQUIRE(make(&f, "f32[0,3]", NULL, "f64[5,0]", nothing_code, 0));
  indim_run_options run = {.arguments = (const void *const[]){NULL},
                           .argument_count = 1,
                           .results = (void *const[]){NULL},
                           .result_count = 1};
  CHECK(indim_execute(f.exe, &run) == INDIM_OK);
  CHECK_EQ_INT(calls, 1);
  drop(&f);
}

// Bindings -------------------------------------------------------------------------------------------------------------

TEST(a_binding_runs_on_what_the_buffers_hold) {
  fixture f;
  call c;
  volatile int32_t stop = 0;
  indim_binding *binding = NULL;
  REQUIRE(make_add(&f));
  make_call(&f, &c);
  c.run.stop = &stop;
  c.run.cx = NULL;
  REQUIRE(indim_binding_create(f.cx, f.exe, &c.run, &binding) == INDIM_OK);
  CHECK_EQ_INT(calls, 0);
  c.arguments[0] = NULL;  // the lists were copied
  c.results[0] = NULL;
  f.exe->scratch_in_use = 1;  // and its working memory is its own
  uint64_t peak = indim_ctx_memory_peak(f.cx);
  CHECK(indim_binding_run(binding) == INDIM_OK && is_sum(c.sum));
  c.x[0] = 91;
  CHECK(indim_binding_run(binding) == INDIM_OK && c.sum[0] == 101);
  CHECK_EQ_UINT(indim_ctx_memory_peak(f.cx), peak);
  stop = 1;
  CHECK(indim_binding_run(binding) == INDIM_INTERRUPTED);
  CHECK_EQ_UINT(indim_ctx_diagnostic_count(f.cx), 1);
  indim_binding_destroy(binding);
  indim_binding_destroy(NULL);
  CHECK(indim_binding_run(NULL) == INDIM_INVALID);
  CHECK(indim_binding_create(f.cx, NULL, &c.run, &binding) == INDIM_INVALID);
  CHECK(indim_binding_create(f.cx, f.exe, NULL, &binding) == INDIM_INVALID);
  CHECK(indim_binding_create(NULL, f.exe, &c.run, &binding) == INDIM_INVALID);
  CHECK(indim_binding_create(f.cx, f.exe, &c.run, NULL) == INDIM_INVALID);
  drop(&f);
}

TEST(a_binding_without_memory_leaves_nothing) {
  fixture f;
  call c;
  indim_binding *binding = NULL;
  REQUIRE(make_add(&f));
  make_call(&f, &c);
  uint64_t in_use = indim_ctx_memory_in_use(f.cx);
  indim_status status = INDIM_LIMIT;
  for (uint64_t room = 0; status == INDIM_LIMIT; room += 8) {
    indim_ctx_set_memory_limit(f.cx, in_use + room);
    status = indim_binding_create(f.cx, f.exe, &c.run, &binding);
    CHECK_EQ_UINT(indim_ctx_memory_in_use(f.cx) > in_use, status == INDIM_OK);
  }
  CHECK(status == INDIM_OK);
  indim_binding_destroy(binding);
  drop(&f);
}

// Stopping and services ------------------------------------------------------------------------------------------------

TEST(the_stop_flag_reaches_the_code) {
  fixture f;
  call c;
  volatile int32_t stop = 0;
  REQUIRE(make_add(&f));
  make_call(&f, &c);
  c.run.stop = &stop;
  CHECK(indim_execute(f.exe, &c.run) == INDIM_OK);
  stop = 1;
  CHECK(indim_execute(f.exe, &c.run) == INDIM_INTERRUPTED);
  CHECK_EQ_UINT(indim_ctx_diagnostic_count(f.cx), 1);
  drop(&f);
}

static void add_range(void *frame, int64_t begin, int64_t end) {
  __atomic_add_fetch((int64_t *)frame, end - begin, __ATOMIC_RELAXED);
}

// x[2,2] times itself into the result, and y counts a parallel loop's iterations.
static int32_t service_code(const void *const *arguments, void *const *results, void *scratch, const indim_host *host) {
  int64_t counted = 0;
  (void)scratch;
  host->parallel(host->user, add_range, &counted, 1000, 7);
  *(int64_t *)results[1] = counted;
  indim_host_matmul sizes = {INDIM_F64, 1, 2, 2, 2, 0, 2, 1, 0, 2, 1, 0, 2, 0, 0, 0, 0, 0};
  void *arrays[] = {results[0], (void *)(uintptr_t)arguments[0], (void *)(uintptr_t)arguments[0]};
  return host->matmul(host->user, &sizes, arrays);
}

static int32_t refused_service_code(const void *const *arguments, void *const *results, void *scratch,
                                    const indim_host *host) {
  indim_host_matmul sizes = {INDIM_S32, 1, 2, 2, 2, 0, 2, 1, 0, 2, 1, 0, 2, 0, 0, 0, 0, 0};
  (void)scratch;
  void *arrays[] = {results[0], (void *)(uintptr_t)arguments[0], (void *)(uintptr_t)arguments[0]};
  return host->matmul(host->user, &sizes, arrays);
}

// The caller's own parallel-for: from the back, and counted.
static void backwards(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame, int64_t count,
                      int64_t grain) {
  for (int64_t begin = (count - 1) / grain * grain; begin >= 0; begin -= grain) {
    piece(frame, begin, begin + grain < count ? begin + grain : count);
    ++*(int64_t *)user;
  }
}

TEST(services_of_the_host) {
  fixture f;
  REQUIRE(make(&f, "f64[2,2]", NULL, "(f64[2,2]{1,0}, s64[])", service_code, 0));
  const double x[4] = {1, 2, 3, 4};
  double product[4] = {0};
  int64_t counted = 0;
  int64_t pieces = 0;
  indim_run_options run = {.arguments = (const void *const[]){x},
                           .argument_count = 1,
                           .results = (void *const[]){product, &counted},
                           .result_count = 2,
                           .cx = f.cx};
  indim_pool *pool = NULL;
  REQUIRE(indim_pool_create(f.cx, 3, &pool) == INDIM_OK);
  for (int way = 0; way < 3; way++) {
    memset(product, 0, sizeof product);
    counted = 0;
    run.pool = way >= 1 ? pool : NULL;
    run.parallel = way == 2 ? backwards : NULL;
    run.parallel_user = &pieces;
    CHECK(indim_execute(f.exe, &run) == INDIM_OK);
    CHECK_EQ_INT(counted, 1000);
    CHECK(product[0] == 7 && product[1] == 10 && product[2] == 15 && product[3] == 22);
  }
  CHECK_EQ_INT(pieces, 143);
  f.exe->function = refused_service_code;
  CHECK(indim_execute(f.exe, &run) == INDIM_INTERNAL);
  indim_pool_destroy(pool);
  drop(&f);
}

// Threads --------------------------------------------------------------------------------------------------------------

typedef struct user {
  pthread_t thread;
  const fixture *f;
  bool own_context;
  bool own_scratch;
  bool is_bound;
  bool ok;
} user;

static void *use(void *argument) {
  user *u = argument;
  indim_ctx *cx = NULL;
  _Alignas(64) unsigned char scratch[64];
  u->ok = !u->own_context || indim_ctx_create(NULL, &cx) == INDIM_OK;
  for (int round = 0; u->ok && round < 500; round++) {
    call c;
    make_call(u->f, &c);
    c.run.cx = cx;
    c.run.scratch = u->own_scratch ? scratch : NULL;
    indim_binding *binding = NULL;
    if (u->is_bound) {
      u->ok = indim_binding_create(cx, u->f->exe, &c.run, &binding) == INDIM_OK;
    }
    u->ok = u->ok && (u->is_bound ? indim_binding_run(binding) : indim_execute(u->f->exe, &c.run)) == INDIM_OK &&
            is_sum(c.sum);
    indim_binding_destroy(binding);
  }
  u->ok = u->ok && (cx == NULL || indim_ctx_memory_in_use(cx) == 0);
  indim_ctx_destroy(cx);
  return NULL;
}

TEST(many_threads_run_one_executable) {
  enum { USERS = 5 };
  fixture f;
  static user users[USERS];
  REQUIRE(make_add(&f));
  for (int i = 0; i < USERS; i++) {
    users[i] = (user){.f = &f, .own_context = i % 2 == 0, .own_scratch = i == 3, .is_bound = i == 4};
    REQUIRE(pthread_create(&users[i].thread, NULL, use, &users[i]) == 0);
  }
  for (int i = 0; i < USERS; i++) {
    pthread_join(users[i].thread, NULL);
    CHECK(users[i].ok);
  }
  CHECK_EQ_INT(calls, USERS * 500);
  drop(&f);
}

TEST(a_busy_scratch_block_may_be_beyond_the_limit) {
  fixture f;
  call c;
  REQUIRE(make_add(&f));
  make_call(&f, &c);
  f.exe->scratch_in_use = 1;
  CHECK(indim_execute(f.exe, &c.run) == INDIM_OK);
  indim_ctx_set_memory_limit(f.cx, indim_ctx_memory_in_use(f.cx));
  CHECK(indim_execute(f.exe, &c.run) == INDIM_LIMIT);
  f.exe->scratch_in_use = 0;
  CHECK(indim_execute(f.exe, &c.run) == INDIM_OK);
  drop(&f);
}

// Literals -------------------------------------------------------------------------------------------------------------

static indim_literal *parse(indim_ctx *cx, const char *text) {
  indim_literal *literal = NULL;
  return indim_literal_parse(cx, indim_str_of(text), &literal) == INDIM_OK ? literal : NULL;
}

TEST(literals_of_any_layout) {
  fixture f;
  REQUIRE(make_add(&f));
  indim_literal *x = parse(f.cx, "f32[2,3]{0,1} {{1, 2, 3}, {4, 5, 6}}");
  indim_literal *y = parse(f.cx, "f32[] 10");
  indim_literal *expected = parse(f.cx, "f32[2,3] {{11, 12, 13}, {14, 15, 16}}");
  indim_literal *result = NULL;
  const indim_literal *arguments[] = {x, y};
  CHECK(indim_execute_literals(f.cx, f.exe, arguments, 2, NULL, &result) == INDIM_OK);
  CHECK(indim_literal_equal(result, expected));
  indim_literal_destroy(result);
  int64_t ns[5] = {-1, -1, -1, -1, -1};
  CHECK(indim_execute_timed(f.cx, f.exe, arguments, 2, NULL, 5, ns, &result) == INDIM_OK);
  CHECK(indim_literal_equal(result, expected));
  for (int i = 0; i < 5; i++) {
    CHECK(ns[i] >= 0);
  }
  indim_literal_destroy(result);
  indim_literal_destroy(expected);
  indim_literal_destroy(x);
  indim_literal_destroy(y);
  drop(&f);
}

// (a: f32[2]{0}, (b: f32[2,2]{0,1})) -> ((b, a)): leaves are copied as they lie.
static int32_t swap_code(const void *const *arguments, void *const *results, void *scratch, const indim_host *host) {
  (void)scratch, (void)host;
  memcpy(results[0], arguments[1], 16);
  memcpy(results[1], arguments[0], 8);
  return INDIM_HOST_OK;
}

TEST(literals_of_tuples) {
  fixture f;
  REQUIRE(make(&f, "(f32[2]{0}, (f32[2,2]{0,1}))", NULL, "((f32[2,2]{1,0}, f32[2]{0}))", swap_code, 0));
  indim_literal *x = parse(f.cx, "(f32[2] {1, 2}, (f32[2,2] {{1, 2}, {3, 4}}))");
  // The code copies bytes, so what was column-major comes out transposed.
  indim_literal *expected = parse(f.cx, "((f32[2,2] {{1, 3}, {2, 4}}, f32[2] {1, 2}))");
  indim_literal *result = NULL;
  const indim_literal *arguments[] = {x};
  REQUIRE(x != NULL && expected != NULL);
  CHECK(indim_execute_literals(f.cx, f.exe, arguments, 1, NULL, &result) == INDIM_OK);
  CHECK(indim_literal_equal(result, expected));
  indim_literal_destroy(result);
  indim_literal_destroy(expected);
  indim_literal_destroy(x);
  drop(&f);
}

// Writes its result before it has read its argument.
static int32_t reverse_code(const void *const *arguments, void *const *results, void *scratch, const indim_host *host) {
  const int32_t *x = arguments[0];
  int32_t *y = results[0];
  (void)scratch, (void)host;
  for (int i = 0; i < 3; i++) {
    y[i] = x[2 - i];
  }
  return INDIM_HOST_OK;
}

TEST(code_that_does_not_stand_one_buffer) {
  fixture f;
  REQUIRE(make(&f, "s32[3]", NULL, "s32[3]", reverse_code, 0));
  indim_executable_set_alias(f.exe, 0, 0, true);
  REQUIRE(indim_executable_set_scratch(f.exe, 4) == INDIM_OK);
  CHECK_EQ_INT(indim_executable_scratch_bytes(f.exe), 64 + 64 + 12);
  int32_t x[3] = {5, 6, 7};
  int32_t y[3] = {0};
  indim_run_options run = {.arguments = (const void *const[]){x},
                           .argument_count = 1,
                           .results = (void *const[]){y},
                           .result_count = 1,
                           .cx = f.cx};
  CHECK(indim_execute(f.exe, &run) == INDIM_OK);
  CHECK(x[0] == 5 && y[0] == 7 && y[1] == 6 && y[2] == 5);
  run.results = (void *const[]){x};
  CHECK(indim_execute(f.exe, &run) == INDIM_OK);
  CHECK(x[0] == 7 && x[1] == 6 && x[2] == 5);
  indim_binding *binding = NULL;
  REQUIRE(indim_binding_create(f.cx, f.exe, &run, &binding) == INDIM_OK);
  CHECK(indim_binding_run(binding) == INDIM_OK);
  CHECK(x[0] == 5 && x[1] == 6 && x[2] == 7);
  CHECK(indim_binding_run(binding) == INDIM_OK);
  CHECK(x[0] == 7 && x[1] == 6 && x[2] == 5);
  indim_binding_destroy(binding);
  drop(&f);
}

TEST(wrong_literals_are_refused) {
  fixture f;
  REQUIRE(make_add(&f));
  indim_literal *x = parse(f.cx, "f32[2,3] {{1, 2, 3}, {4, 5, 6}}");
  indim_literal *y = parse(f.cx, "f32[] 10");
  indim_literal *s = parse(f.cx, "s32[] 10");
  indim_literal *tuple = parse(f.cx, "(f32[] 10)");
  indim_literal *elided = parse(f.cx, "f32[2,3] {...}");
  indim_literal *result = NULL;
  const indim_literal *pairs[][2] = {{x, s}, {x, tuple}, {x, NULL}, {elided, y}, {y, x}};
  REQUIRE(x != NULL && y != NULL && s != NULL && tuple != NULL && elided != NULL);
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    CHECK(indim_execute_literals(f.cx, f.exe, pairs[i], 2, NULL, &result) == INDIM_INVALID && result == NULL);
  }
  const indim_literal *right[] = {x, y};
  CHECK(indim_execute_literals(f.cx, f.exe, right, 1, NULL, &result) == INDIM_INVALID);
  CHECK(indim_execute_literals(f.cx, f.exe, NULL, 2, NULL, &result) == INDIM_INVALID);
  CHECK(indim_execute_literals(f.cx, f.exe, right, 2, NULL, NULL) == INDIM_INVALID);
  CHECK(indim_execute_literals(f.cx, NULL, right, 2, NULL, &result) == INDIM_INVALID);
  CHECK(indim_execute_literals(NULL, f.exe, right, 2, NULL, &result) == INDIM_INVALID);
  CHECK(indim_execute_timed(f.cx, f.exe, right, 2, NULL, 1, NULL, &result) == INDIM_INVALID);
  CHECK_EQ_INT(calls, 0);
  indim_literal_destroy(x);
  indim_literal_destroy(y);
  indim_literal_destroy(s);
  indim_literal_destroy(tuple);
  indim_literal_destroy(elided);
  drop(&f);
}

#define CASES(X)                                  \
  X(runs_and_allocates_nothing)                   \
  X(says_what_it_takes)                           \
  X(null_is_answered)                             \
  X(wrong_calls_are_refused_before_anything_runs) \
  X(overlaps_are_refused_unless_stated)           \
  X(empty_buffers_may_be_null)                    \
  X(a_binding_runs_on_what_the_buffers_hold)      \
  X(a_binding_without_memory_leaves_nothing)      \
  X(the_stop_flag_reaches_the_code)               \
  X(services_of_the_host)                         \
  X(many_threads_run_one_executable)              \
  X(a_busy_scratch_block_may_be_beyond_the_limit) \
  X(literals_of_any_layout)                       \
  X(literals_of_tuples)                           \
  X(code_that_does_not_stand_one_buffer)          \
  X(wrong_literals_are_refused)

TEST_MAIN(CASES)
