// The pool: every piece is run once and no more, the pieces do not depend on the number of threads, loops inside loops
// and loops at the same time work, and a worker that is late holds nobody up. Run under the ThreadSanitizer preset.
#if defined(__linux__)
#define _GNU_SOURCE  // sched_setaffinity, pthread_setattr_default_np
#endif
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "indim/execute.h"
#include "test.h"

enum { MOST = 4096 };

typedef struct loop {
  int64_t count;
  int64_t grain;
  int32_t hits[MOST];      // by iteration
  int64_t wrong_pieces;    // that are none of [i * grain, (i + 1) * grain)
  indim_pool *inner_pool;  // loops inside, if not NULL
  int64_t inner;           // iterations of those, together
} loop;

static void inner_piece(void *frame, int64_t begin, int64_t end) {
  __atomic_add_fetch(&((loop *)frame)->inner, end - begin, __ATOMIC_RELAXED);
}

static void piece(void *frame, int64_t begin, int64_t end) {
  loop *l = frame;
  bool right = begin % l->grain == 0 && end > begin && (end == l->count || end - begin == l->grain);
  __atomic_add_fetch(&l->wrong_pieces, right ? 0 : 1, __ATOMIC_RELAXED);
  for (int64_t i = begin; i < end; i++) {
    l->hits[i]++;  // plain: two threads here at once are a race for the sanitizer to see
  }
  if (l->inner_pool != NULL) {
    indim_pool_run(l->inner_pool, inner_piece, l, 10, 3);
  }
}

static void run_loop(indim_pool *pool, loop *l, int64_t count, int64_t grain) {
  memset(l, 0, sizeof *l);
  l->count = count;
  l->grain = grain;
  indim_pool_run(pool, piece, l, count, grain);
}

static void check_loop(const loop *l) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < l->count; i++) {
    wrong += l->hits[i] != 1;
  }
  CHECK_MSG(wrong == 0, "%" PRId64 " of %" PRId64 " iterations, grain %" PRId64 ", did not run once", wrong, l->count,
            l->grain);
  CHECK_EQ_INT(l->wrong_pieces, 0);
}

static void with_pool(int32_t threads, void (*body)(indim_ctx *cx, indim_pool *pool)) {
  indim_ctx *cx = NULL;
  indim_pool *pool = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  REQUIRE(indim_pool_create(cx, threads, &pool) == INDIM_OK);
  CHECK_EQ_INT(indim_pool_threads(pool), threads);
  body(cx, pool);
  indim_pool_destroy(pool);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(cx), 0);
  indim_ctx_destroy(cx);
}

static void many_sizes(indim_ctx *cx, indim_pool *pool) {
  static const int64_t counts[] = {0, 1, 2, 3, 7, 16, 100, 1000, MOST};
  static const int64_t grains[] = {1, 2, 3, 64, 1000, 5000};
  (void)cx;
  loop l;
  for (int round = 0; round < 50; round++) {
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
      for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++) {
        run_loop(pool, &l, counts[c], grains[g]);
        check_loop(&l);
      }
    }
  }
}

TEST(one_thread) { with_pool(1, many_sizes); }
TEST(two_threads) { with_pool(2, many_sizes); }
TEST(seven_threads) { with_pool(7, many_sizes); }

TEST(no_pool_runs_here) {
  loop l;
  run_loop(NULL, &l, 1000, 7);
  check_loop(&l);
  CHECK_EQ_INT(indim_pool_threads(NULL), 0);
  indim_pool_destroy(NULL);
}

// Workers have gone to sleep between two loops.
static void after_sleep(indim_ctx *cx, indim_pool *pool) {
  (void)cx;
  loop l;
  for (int i = 0; i < 20; i++) {
    const struct timespec pause = {0, 2000000};
    nanosleep(&pause, NULL);
    run_loop(pool, &l, 1000, 10);
    check_loop(&l);
  }
}

TEST(sleeping_workers_wake) { with_pool(4, after_sleep); }

static void nested(indim_ctx *cx, indim_pool *pool) {
  (void)cx;
  loop l = {.count = 100, .grain = 1, .inner_pool = pool};
  indim_pool_run(pool, piece, &l, l.count, l.grain);
  check_loop(&l);
  CHECK_EQ_INT(l.inner, 1000);
}

TEST(nested_loops_run_inside) { with_pool(3, nested); }

typedef struct user {
  pthread_t thread;
  indim_pool *pool;
  loop l;
  bool ok;
} user;

static void *use_pool(void *argument) {
  user *u = argument;
  u->ok = true;
  for (int round = 0; round < 200; round++) {
    run_loop(u->pool, &u->l, 500, 9);
    for (int64_t i = 0; i < u->l.count; i++) {
      u->ok = u->ok && u->l.hits[i] == 1;
    }
  }
  return NULL;
}

static void shared(indim_ctx *cx, indim_pool *pool) {
  enum { USERS = 3 };
  static user users[USERS];
  (void)cx;
  for (int i = 0; i < USERS; i++) {
    users[i].pool = pool;
    REQUIRE(pthread_create(&users[i].thread, NULL, use_pool, &users[i]) == 0);
  }
  for (int i = 0; i < USERS; i++) {
    pthread_join(users[i].thread, NULL);
    CHECK(users[i].ok);
  }
}

TEST(several_callers_share_a_pool) { with_pool(3, shared); }

// One piece takes long: all others are done meanwhile, by whom does not matter.
static void slow_piece(void *frame, int64_t begin, int64_t end) {
  if (begin == 0) {
    const struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
  }
  piece(frame, begin, end);
}

static void uneven(indim_ctx *cx, indim_pool *pool) {
  (void)cx;
  loop l = {.count = 64, .grain = 1};
  indim_pool_run(pool, slow_piece, &l, l.count, l.grain);
  check_loop(&l);
}

TEST(uneven_pieces) { with_pool(4, uneven); }

static void nothing(indim_ctx *cx, indim_pool *pool) {
  (void)cx;
  (void)pool;
}

TEST(many_pools_come_and_go) {
  for (int i = 0; i < 100; i++) {
    with_pool(1 + i % 5, nothing);
  }
}

TEST(more_pieces_than_32_bits_count) {
  // Only the arithmetic is of interest, so the pieces do nothing but count.
  indim_ctx *cx = NULL;
  indim_pool *pool = NULL;
  loop l = {0};
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  REQUIRE(indim_pool_create(cx, 2, &pool) == INDIM_OK);
  indim_pool_run(pool, inner_piece, &l, INT64_MAX, INT64_MAX / 1000);
  CHECK_EQ_INT(l.inner, INT64_MAX);
  indim_pool_destroy(pool);
  indim_ctx_destroy(cx);
}

TEST(wrong_numbers_are_refused) {
  indim_ctx *cx = NULL;
  indim_pool *pool = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  CHECK(indim_pool_create(cx, 0, &pool) == INDIM_INVALID && pool == NULL);
  CHECK(indim_pool_create(cx, -1, &pool) == INDIM_INVALID && pool == NULL);
  CHECK(indim_pool_create(cx, INDIM_MAX_THREADS + 1, &pool) == INDIM_INVALID && pool == NULL);
  CHECK_EQ_UINT(indim_ctx_diagnostic_count(cx), 3);
  CHECK(indim_pool_create(cx, 1, NULL) == INDIM_INVALID);
  CHECK(indim_pool_create(NULL, 1, &pool) == INDIM_INVALID);
  indim_ctx_set_memory_limit(cx, 64);
  CHECK(indim_pool_create(cx, 2, &pool) == INDIM_LIMIT && pool == NULL);
  indim_ctx_destroy(cx);
}

// Workers are barred from the caller's processor when they are woken, unless it is all there is; the caller moves.
TEST(few_processors) {
#if defined(__linux__)
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  for (int processors = 1; processors <= 2; processors++) {
    cpu_set_t few;
    CPU_ZERO(&few);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&few) < processors; i++) {
      if (CPU_ISSET(i, &before)) {
        CPU_SET(i, &few);
      }
    }
    REQUIRE(sched_setaffinity(0, sizeof few, &few) == 0);
    indim_ctx *cx = NULL;
    indim_pool *pool = NULL;
    REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
    REQUIRE(indim_pool_create(cx, 3, &pool) == INDIM_OK);
    for (size_t round = 0; round < 40; round++) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(round % CPU_SETSIZE, &one);
      CPU_AND(&one, &one, &few);
      if (CPU_COUNT(&one) == 1) {
        sched_setaffinity(0, sizeof one, &one);
      }
      nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);  // workers go to sleep
      loop l;
      run_loop(pool, &l, 100, 3);
      check_loop(&l);
      sched_setaffinity(0, sizeof few, &few);
    }
    indim_pool_destroy(pool);
    indim_ctx_destroy(cx);
    sched_setaffinity(0, sizeof before, &before);
  }
#endif
}

// The system starts no thread whose stack it has no memory for: what was started ends, and nothing is lost.
TEST(threads_that_cannot_start) {
#if defined(__GLIBC__) && !defined(__SANITIZE_THREAD__)
  pthread_attr_t before, huge;
  indim_ctx *cx = NULL;
  indim_pool *pool = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  REQUIRE(pthread_getattr_default_np(&before) == 0 && pthread_attr_init(&huge) == 0);
  REQUIRE(pthread_attr_setstacksize(&huge, (size_t)1 << 46) == 0 && pthread_setattr_default_np(&huge) == 0);
  indim_status status = indim_pool_create(cx, 3, &pool);
  CHECK_EQ_INT(pthread_setattr_default_np(&before), 0);
  CHECK(status == INDIM_LIMIT && pool == NULL);
  const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
  CHECK(d != NULL && strstr(d->message, "no more than 1 of 3 threads") != NULL);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(cx), 0);
  CHECK(indim_pool_create(cx, 3, &pool) == INDIM_OK);
  indim_pool_destroy(pool);
  pthread_attr_destroy(&huge);
  pthread_attr_destroy(&before);
  indim_ctx_destroy(cx);
#endif
}

#define CASES(X)                    \
  X(one_thread)                     \
  X(two_threads)                    \
  X(seven_threads)                  \
  X(no_pool_runs_here)              \
  X(sleeping_workers_wake)          \
  X(nested_loops_run_inside)        \
  X(several_callers_share_a_pool)   \
  X(uneven_pieces)                  \
  X(few_processors)                 \
  X(many_pools_come_and_go)         \
  X(more_pieces_than_32_bits_count) \
  X(wrong_numbers_are_refused)      \
  X(threads_that_cannot_start)

TEST_MAIN(CASES)
