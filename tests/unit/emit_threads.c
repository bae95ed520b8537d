// What ThreadSanitizer sees of generated code: with it, a parallel loop whose iterations write one place is found, by a
// store, under a mask, by a copy and by a fill, and one whose iterations keep apart is not. Without it, the same loops run.
#include <pthread.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "emit/program/program.h"
#include "test.h"

#if INDIM_EMIT_TSAN
enum { IS_WATCHED = 1 };

static int reports;

// ThreadSanitizer's own hooks: called at each race; and its options. Races are counted here, not printed, and fail no test
// by themselves.
void __tsan_on_report(const void *report);
void __tsan_on_report(const void *report) {
  (void)report;
  __atomic_add_fetch(&reports, 1, __ATOMIC_RELAXED);
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
  return "exitcode=0:symbolize=0:log_path=/dev/null:suppress_equal_stacks=0:suppress_equal_addresses=0";
}
#else
enum { IS_WATCHED = 0 };
static const int reports = 0;
#endif

typedef struct half {
  indim_host_piece *piece;
  void *frame;
  int64_t begin, end;
} half;

static void *run_half(void *user) {
  const half *h = user;
  h->piece(h->frame, h->begin, h->end);
  return NULL;
}

// Each half of the iterations on a thread of its own.
static void run_halves(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain) {
  half halves[2] = {{piece, frame, 0, count / 2}, {piece, frame, count / 2, count}};
  pthread_t threads[2];
  (void)user;
  (void)grain;
  for (int i = 0; i < 2; i++) {
    if (pthread_create(&threads[i], NULL, run_half, &halves[i]) != 0) {
      abort();
    }
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
  }
}

enum { ITERATIONS = 8, WIDTH = 4, ELEMENTS = ITERATIONS * WIDTH };

typedef enum way { BY_STORE, BY_MASKED_STORE, BY_LANES, BY_COPY, BY_FILL, BY_LOAD, WAYS } way;

// One iteration on elements |at| and on.
static void add_body(indim_loop_builder *b, way how, indim_storage *from, indim_storage *to, indim_value_id i,
                     indim_value_id at) {
  static const uint64_t three_on[] = {1, 0, 1, 0, 1, 0, 0, 0};
  static const uint64_t steps[] = {0, 0, 2, 0, 1, 0, 3, 0};
  indim_value_id own = indim_loop_affine(b, 0, 1, &i, (int64_t[]){WIDTH});
  indim_value_id x = indim_loop_load(b, from, how == BY_LOAD ? own : indim_loop_index(b, 0), WIDTH, 1);
  if (how == BY_COPY) {
    indim_loop_copy(b, to, at, from, indim_loop_index(b, 0), WIDTH);
  } else if (how == BY_FILL) {
    indim_loop_fill(b, to, at, indim_loop_const(b, INDIM_S32, 7, 0), WIDTH);
  } else if (how == BY_MASKED_STORE) {
    indim_loop_store_masked(b, to, at, x, 1, indim_loop_lanes(b, INDIM_PRED, WIDTH, three_on));
  } else if (how == BY_LANES) {
    indim_value_id parts[] = {indim_loop_splat(b, at, WIDTH), indim_loop_lanes(b, INDIM_S64, WIDTH, steps)};
    indim_loop_store(b, to, indim_loop_affine(b, 0, 2, parts, (int64_t[]){1, 1}), x, 0, false);
  } else if (how == BY_LOAD) {  // each writes its own and reads the first's
    indim_value_id first = indim_loop_load(b, to, at, WIDTH, 1);
    indim_loop_store(b, to, own, indim_loop_binary(b, INDIM_OP_ADD, x, first), 1, false);
  } else {
    indim_loop_store(b, to, at, x, 1, false);
  }
}

// How many races are reported when the loop runs; all iterations work on the same elements, or each on its own. The
// arrays are new each time: of a word ThreadSanitizer remembers four accesses only, and older loops' would crowd them out.
static int races(way how, bool is_racy) {
  int32_t *in = calloc(ELEMENTS, sizeof *in);
  int32_t *out = calloc(ELEMENTS, sizeof *out);
  indim_target target;
  indim_loop_program *program = NULL;
  indim_code *code = NULL;
  indim_ctx *cx = NULL;
  indim_loop_builder builder;
  indim_loop_builder *b = &builder;
  int before = reports;
  indim_host_target(&target);
  if (in == NULL || out == NULL || indim_ctx_create(NULL, &cx) != INDIM_OK ||
      indim_loop_program_create(cx, NULL, &target, &program) != INDIM_OK) {
    abort();
  }
  indim_loop_builder_init(b, program);
  indim_storage *from = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S32, ELEMENTS, "a");
  indim_storage *to = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_S32, ELEMENTS, "r");
  indim_loop_region_begin(b, &to, 1);
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, ITERATIONS), 1, 0, NULL, NULL);
  indim_loop_for_parallel(b, 1);
  add_body(b, how, from, to, i, indim_loop_affine(b, 0, 1, &i, (int64_t[]){is_racy ? 0 : WIDTH}));
  indim_loop_for_end(b, NULL, NULL);
  program->argument_count = program->result_count = 1;
  CHECK_EQ_INT(b->status, INDIM_OK);
  CHECK_EQ_INT(indim_jit_compile(cx, program, NULL, NULL, &code), INDIM_OK);
  if (code != NULL) {
    indim_host host = {.parallel = run_halves};
    const void *arguments[] = {in};
    void *results[] = {out};
    CHECK_EQ_INT(indim_jit_function(code)(arguments, results, NULL, &host), 0);
  }
  indim_jit_destroy(code);
  indim_loop_builder_deinit(b);
  indim_loop_program_destroy(program);
  indim_ctx_destroy(cx);
  free(out);
  free(in);
  return reports - before;
}

TEST(iterations_apart) {
  for (int how = 0; how < WAYS; how++) {
    CHECK_EQ_INT(races((way)how, false), 0);
  }
}

TEST(iterations_in_one_place) {
  for (int how = 0; how < WAYS; how++) {
    bool is_seen = races((way)how, true) > 0;
    CHECK_MSG(is_seen == (IS_WATCHED == 1), "way %d", how);
  }
}

#define CASES(X)      \
  X(iterations_apart) \
  X(iterations_in_one_place)

TEST_MAIN(CASES)
