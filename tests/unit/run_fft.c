// The host's Fourier transforms against their definition: all kinds, types and vector widths; every small length, random
// ones, long ones, several dimensions, batches; cancellation, memory that fails, senseless sizes.
#include "fft_test.h"
#include "run/aligned_memory.h"
#include "run/fft_plan.h"

static const int32_t widths[] = {0, 1, 16, 32};  // the widest, scalars, two others
enum { WIDTHS = sizeof widths / sizeof widths[0] };

// The error of a single result may exceed the root mean square by some times.
static double limit(indim_type type) { return type == INDIM_F32 ? 3e-6 : 6e-15; }

static void check_with(const indim_fft_context *context, sample *s, int64_t tries) {
  CHECK_EQ_INT(indim_fft_run(context, &s->sizes, s->out, s->in, NULL, 0), INDIM_HOST_OK);
  double worst = sample_worst(s, tries);
  CHECK_MSG(worst < limit((indim_type)s->sizes.type),
            "kind %d, %s, width %d, batch %" PRId64 ", rank %" PRId64 ", lengths %" PRId64 " %" PRId64 " %" PRId64
            ": error %g",
            (int)s->sizes.kind, s->sizes.type == INDIM_F32 ? "f32" : "f64", (int)context->vector_bytes, s->sizes.batch,
            s->sizes.rank, s->sizes.lengths[0], s->sizes.lengths[1], s->sizes.lengths[2], worst);
}

// All kinds, types and widths, or one in |one_of|.
static void check_some(int64_t batch, int64_t rank, const int64_t *lengths, int64_t tries, int one_of) {
  static int turn;
  for (int way = 0; way < 8 * WIDTHS; way++) {
    if (turn++ % one_of != 0) {
      continue;
    }
    sample s;
    indim_fft_context context = {.vector_bytes = widths[way / 8]};
    REQUIRE(sample_init(&s, way % 4, way / 4 % 2 == 0 ? INDIM_F32 : INDIM_F64, batch, rank, lengths));
    check_with(&context, &s, tries);
    sample_deinit(&s);
  }
}

static void check_sizes(int64_t batch, int64_t rank, const int64_t *lengths, int64_t tries) {
  check_some(batch, rank, lengths, tries, 1);
}

TEST(every_small_length) {
  for (int64_t n = 0; n <= 70; n++) {
    check_sizes(1, 1, &n, 1000);
    check_sizes(19, 1, &n, 100);
  }
}

TEST(random_lengths) {
  uint64_t state = 5;
  for (int i = 0; i < 40; i++) {
    int64_t n = 71 + (int64_t)(fft_random(&state) % 4930);
    check_some(1 + i % 5 * 4, 1, &n, 12, TEST_SAMPLE);
  }
}

// The largest prime that has passes of its own, the next one, chirps, powers, products of large primes.
TEST(long_lengths) {
  static const int64_t lengths[] = {127,   131,   127 * 127, 4096,  16384,  32768, 65536,    65537,
                                    59049, 78125, 30030,     65521, 131072, 10007, 254 * 254};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    check_some(1, 1, &lengths[i], 4, TEST_SAMPLE);
  }
}

TEST(several_dimensions) {
  static const int64_t lengths[][3] = {{1, 1, 1},   {4, 4, 4},   {3, 5, 7},   {16, 9, 8},  {33, 2, 17},
                                       {2, 3, 64},  {1, 40, 1},  {131, 3, 2}, {2, 131, 4}, {5, 4, 131},
                                       {64, 64, 1}, {20, 1, 31}, {0, 3, 4},   {3, 4, 0}};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    for (int64_t rank = 2; rank <= 3; rank++) {
      check_sizes(1, rank, lengths[i], 25);
      check_sizes(3, rank, lengths[i], 25);
    }
  }
}

TEST(no_batch) {
  int64_t n = 8;
  check_sizes(0, 1, &n, 1);
}

// The caller's scratch memory is used if it is enough, and nothing is written behind it.
TEST(scratch_of_the_caller) {
  static const int64_t lengths[][3] = {{1000, 0, 0}, {1009, 0, 0}, {12, 35, 0}, {9, 8, 15}, {16384, 0, 0}};
  enum { GUARD = 64 };
  for (int64_t i = 0; i < 5 * 8; i++) {
    sample s;
    indim_fft_context context = {.vector_bytes = 0};
    const int64_t *l = lengths[i / 8];
    int64_t rank = l[2] > 0 ? 3 : l[1] > 0 ? 2 : 1;
    REQUIRE(sample_init(&s, i % 4, i / 4 % 2 == 0 ? INDIM_F32 : INDIM_F64, 20, rank, l));
    int64_t bytes = indim_fft_scratch_bytes(&context, &s.sizes);
    REQUIRE(bytes > 0);
    unsigned char *scratch = indim_aligned_alloc(bytes + GUARD);
    REQUIRE(scratch != NULL);
    memset(scratch, 0xff, (size_t)bytes + GUARD);
    CHECK_EQ_INT(indim_fft_run(&context, &s.sizes, s.out, s.in, scratch, bytes), INDIM_HOST_OK);
    CHECK(sample_worst(&s, 8) < limit((indim_type)s.sizes.type));
    for (int g = 0; g < GUARD; g++) {
      CHECK_EQ_INT(scratch[bytes + g], 0xff);
    }
    indim_aligned_free(scratch);
    sample_deinit(&s);
  }
}

// Stopping -------------------------------------------------------------------------------------------------------------

static volatile int32_t stop;
static int pieces_left;

static void stop_after_pieces(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame,
                              int64_t count, int64_t grain) {
  (void)user;
  for (int64_t begin = 0; begin < count; begin += grain) {
    piece(frame, begin, count - begin < grain ? count : begin + grain);
    stop = stop != 0 || --pieces_left <= 0;
  }
}

TEST(stopping) {
  static const int64_t lengths[][2] = {{300, 1000}, {65536, 1}, {1009, 40}};
  for (int i = 0; i < 3; i++) {
    sample s;
    indim_fft_context context = {.stop = &stop, .parallel = stop_after_pieces};
    REQUIRE(sample_init(&s, INDIM_HOST_FFT_FFT, INDIM_F64, 1, i == 1 ? 1 : 2, lengths[i]));
    stop = 1;
    pieces_left = 1000000;
    CHECK_EQ_INT(indim_fft_run(&context, &s.sizes, s.out, s.in, NULL, 0), INDIM_HOST_STOPPED);
    for (pieces_left = 1; pieces_left < 4; pieces_left++) {
      int before = pieces_left;
      stop = 0;
      CHECK_EQ_INT(indim_fft_run(&context, &s.sizes, s.out, s.in, NULL, 0), INDIM_HOST_STOPPED);
      pieces_left = before;
    }
    stop = 0;
    pieces_left = 1000000;
    CHECK_EQ_INT(indim_fft_run(&context, &s.sizes, s.out, s.in, NULL, 0), INDIM_HOST_OK);
    sample_deinit(&s);
  }
}

// Memory ---------------------------------------------------------------------------------------------------------------

static int64_t allocations_left;

static void *failing_malloc(size_t bytes) { return allocations_left-- > 0 ? malloc(bytes) : NULL; }

// Each allocation in turn is the first to fail.
static void check_failures(int64_t kind, int64_t rank, const int64_t *lengths) {
  sample s;
  indim_fft_context context = {.vector_bytes = 0};
  REQUIRE(sample_init(&s, kind, INDIM_F32, 2, rank, lengths));
  indim_aligned_malloc = failing_malloc;
  for (int64_t allowed = 0; allowed < 1000; allowed++) {
    indim_fft_plans_clear();
    allocations_left = allowed;
    int32_t status = indim_fft_run(&context, &s.sizes, s.out, s.in, NULL, 0);
    if (status == INDIM_HOST_OK) {
      CHECK(allowed > 3);
      break;
    }
    CHECK_EQ_INT(status, INDIM_HOST_FAILED);
    CHECK(allowed < 999);
  }
  allocations_left = 0;
  CHECK_EQ_INT(indim_fft_run(&context, &s.sizes, s.out, s.in, NULL, 0), INDIM_HOST_FAILED);  // the scratch memory
  indim_fft_plans_clear();
  CHECK_EQ_INT(indim_fft_scratch_bytes(&context, &s.sizes), -1);
  indim_aligned_malloc = malloc;
  CHECK(sample_worst(&s, 20) < limit(INDIM_F32));
  CHECK_EQ_INT(indim_fft_plans_bytes(), 0);
  sample_deinit(&s);
}

TEST(failing_memory) {
  static const int64_t lengths[][3] = {{16, 0, 0}, {1024, 0, 0}, {1009, 0, 0}, {15, 8, 140}};
  for (int i = 0; i < 16; i++) {
    check_failures(i % 4, i / 4 == 3 ? 3 : 1, lengths[i / 4]);
  }
}

TEST(the_cache_is_bounded) {
  indim_fft_plans_clear();
  CHECK_EQ_INT(indim_fft_plans_bytes(), 0);
  for (int64_t n = 1; n < 300; n++) {
    indim_fft_plan_release(indim_fft_plan_acquire(true, false, n, 64));
  }
  CHECK(indim_fft_plans_bytes() > 0);
  const indim_fft_plan *held = indim_fft_plan_acquire(true, false, 299, 64);
  CHECK(held == indim_fft_plan_acquire(true, false, 299, 64));
  for (int64_t n = 1000000; n < 1000012; n++) {
    indim_fft_plan_release(indim_fft_plan_acquire(true, true, 2 * n, 64));
    CHECK(indim_fft_plans_bytes() <= INDIM_FFT_MOST_CACHED_BYTES);
  }
  CHECK(held == indim_fft_plan_acquire(true, false, 299, 64));
  for (int i = 0; i < 3; i++) {
    indim_fft_plan_release(held);
  }
  indim_fft_plan_release(NULL);
  indim_fft_plans_clear();
  CHECK_EQ_INT(indim_fft_plans_bytes(), 0);
}

TEST(senseless_sizes_are_refused) {
  float x[64] = {0};
  indim_fft_context context = {.vector_bytes = 0};
  indim_host_fft good = {.kind = INDIM_HOST_FFT_FFT, .type = INDIM_F32, .batch = 1, .rank = 1, .lengths = {4, 4, 4}};
  CHECK_EQ_INT(indim_fft_run(&context, &good, x, x + 32, NULL, 0), INDIM_HOST_OK);
  indim_host_fft bad[7] = {good, good, good, good, good, good, good};
  bad[0].kind = 4;
  bad[1].type = INDIM_S32;
  bad[2].batch = -1;
  bad[3].rank = 0;
  bad[4].rank = 4;
  bad[5].lengths[0] = -1;
  bad[6].lengths[0] = INT64_MAX;
  for (int i = 0; i < 7; i++) {
    CHECK_EQ_INT(indim_fft_run(&context, &bad[i], x, x + 32, NULL, 0), INDIM_HOST_FAILED);
    CHECK_EQ_INT(indim_fft_scratch_bytes(&context, &bad[i]), -1);
  }
}

#define CASES(X)           \
  X(every_small_length)    \
  X(random_lengths)        \
  X(long_lengths)          \
  X(several_dimensions)    \
  X(no_batch)              \
  X(scratch_of_the_caller) \
  X(stopping)              \
  X(failing_memory)        \
  X(the_cache_is_bounded)  \
  X(senseless_sizes_are_refused)

TEST_MAIN(CASES)
