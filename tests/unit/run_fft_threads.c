// The host's Fourier transforms in threads: the same bits for any number of them, and plans that several threads make,
// share and drop at once. Run under the ThreadSanitizer preset.
#include <pthread.h>

#include "fft_test.h"
#include "run/fft_plan.h"

static void check_threads(int64_t kind, indim_type type, int64_t batch, int64_t rank, const int64_t *lengths) {
  static const int32_t threads[3] = {1, 2, 5};
  indim_ctx *cx = NULL;
  sample samples[4];
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  for (int i = 0; i < 4; i++) {
    indim_pool *pool = NULL;
    sample *s = &samples[i];
    REQUIRE(i == 3 || indim_pool_create(cx, threads[i], &pool) == INDIM_OK);
    REQUIRE(sample_init(s, kind, type, batch, rank, lengths));
    s->sizes.single_thread = i == 3;
    indim_fft_context context = {.parallel = indim_pool_run, .parallel_user = pool};
    CHECK_EQ_INT(indim_fft_run(&context, &s->sizes, s->out, s->in, NULL, 0), INDIM_HOST_OK);
    size_t bytes = (size_t)s->out_count * (type == INDIM_F32 ? 4 : 8) * (s->out_real ? 1 : 2);
    CHECK(memcmp(samples[0].out, s->out, bytes) == 0);
    indim_pool_destroy(pool);
  }
  CHECK(sample_worst(&samples[0], 10) < (type == INDIM_F32 ? 3e-6 : 6e-15));
  for (int i = 0; i < 4; i++) {
    sample_deinit(&samples[i]);
  }
  indim_ctx_destroy(cx);
}

TEST(same_bits_for_any_number_of_threads) {
  static const int64_t sizes[][4] = {{1000, 100, 1, 1}, {100, 1000, 1, 1}, {37, 1009, 1, 1}, {1, 65536, 1, 1},
                                     {1, 50000, 1, 1},  {2, 90000, 1, 1},  {1, 300, 201, 1}, {3, 20, 21, 22},
                                     {50, 999, 1, 1},   {1, 40009, 1, 1}};
  for (int i = 0; i < 10 * 4; i++) {
    const int64_t *s = sizes[i / 4];
    check_threads(i % 4, i % 3 == 0 ? INDIM_F64 : INDIM_F32, s[0], s[3] > 1 ? 3 : s[2] > 1 ? 2 : 1, s + 1);
  }
}

typedef struct user {
  pthread_t thread;
  uint64_t seed;
  double worst;
} user;

static void *transform_lengths(void *argument) {
  user *u = argument;
  for (int i = 0; i < 150; i++) {
    sample s;
    int64_t n = 1 + (int64_t)(fft_random(&u->seed) % 100);
    indim_fft_context context = {.vector_bytes = 0};
    if (!sample_init(&s, i % 4, INDIM_F64, 3, 1, &n) ||
        indim_fft_run(&context, &s.sizes, s.out, s.in, NULL, 0) != INDIM_HOST_OK) {
      u->worst = INFINITY;
      return NULL;
    }
    double error = sample_worst(&s, 3);
    u->worst = error > u->worst ? error : u->worst;
    if (i % 50 == 49) {
      indim_fft_plans_clear();
    }
    sample_deinit(&s);
  }
  return NULL;
}

TEST(threads_share_plans) {
  enum { USERS = 4 };
  static user users[USERS];
  for (int i = 0; i < USERS; i++) {
    users[i].seed = (uint64_t)i / 2;  // two and two have the same lengths
    REQUIRE(pthread_create(&users[i].thread, NULL, transform_lengths, &users[i]) == 0);
  }
  for (int i = 0; i < USERS; i++) {
    pthread_join(users[i].thread, NULL);
    CHECK_MSG(users[i].worst < 6e-15, "error %g", users[i].worst);
  }
  CHECK(indim_fft_plans_bytes() <= INDIM_FFT_MOST_CACHED_BYTES);
}

#define CASES(X)                         \
  X(same_bits_for_any_number_of_threads) \
  X(threads_share_plans)

TEST_MAIN(CASES)
