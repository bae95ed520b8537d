// A loop around the C kernels, so that Python's calls are not in the numbers, and the limit of the memory: a copy, a read or
// a fill of so many bytes in the ways that may be the fastest.
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels.h"

typedef void kernel_fn(const void *const *args, void *const *results, const int64_t *n);

double bench_time_kernel(kernel_fn *kernel, const void *const *args, void *const *results, const int64_t *n,
                         int64_t runs);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

// Nanoseconds of so many runs.
double bench_time_kernel(kernel_fn *kernel, const void *const *args, void *const *results, const int64_t *n,
                         int64_t runs) {
  double start = now();
  for (int64_t i = 0; i < runs; i++) {
    kernel(args, results, n);
  }
  return now() - start;
}

typedef long long vector __attribute__((vector_size(32), aligned(32)));
enum { CHUNK = 1024, VECTORS = CHUNK / sizeof(vector) };

static inline void store(vector *to, vector value, const int past_cache) {
#if defined(__AVX__)
  if (past_cache) {
    _mm256_stream_si256((__m256i *)to, (__m256i)value);
    return;
  }
#else
  (void)past_cache;
#endif
  *to = value;
}

// Chunks. The last arguments are constants where these are inlined.
#define INLINED static inline __attribute__((always_inline))

INLINED void copy_chunk(const char *from, char *to, const int past_cache, const int ahead) {
  const vector *x = (const vector *)(const void *)from;
  vector *y = (vector *)(void *)to;
  for (int i = 0; i < VECTORS; i += 4) {
    if (ahead) {
      __builtin_prefetch(from + 2048 + (size_t)i * sizeof(vector));
      __builtin_prefetch(from + 2112 + (size_t)i * sizeof(vector));
    }
    vector a = x[i];
    vector b = x[i + 1];
    vector c = x[i + 2];
    vector d = x[i + 3];
    store(y + i, a, past_cache);
    store(y + i + 1, b, past_cache);
    store(y + i + 2, c, past_cache);
    store(y + i + 3, d, past_cache);
  }
}

INLINED void read_chunk(const char *from, vector sum[4], const int ahead) {
  const vector *x = (const vector *)(const void *)from;
  vector a = sum[0];
  vector b = sum[1];
  vector c = sum[2];
  vector d = sum[3];
  for (int i = 0; i < VECTORS; i += 4) {
    if (ahead) {
      __builtin_prefetch(from + 2048 + (size_t)i * sizeof(vector));
      __builtin_prefetch(from + 2112 + (size_t)i * sizeof(vector));
    }
    a ^= x[i];
    b ^= x[i + 1];
    c ^= x[i + 2];
    d ^= x[i + 3];
  }
  sum[0] = a;
  sum[1] = b;
  sum[2] = c;
  sum[3] = d;
}

// Not with zeros: some processors write lines of zeros more than twice as fast as any others.
INLINED void fill_chunk(char *to, const int past_cache) {
  vector *y = (vector *)(void *)to;
  vector value = {1, 2, 3, 4};
  for (int i = 0; i < VECTORS; i++) {
    store(y + i, value, past_cache);
  }
}

// Chunk number |k| of |count| when |streams| parts of the array are gone through at once.
static inline int64_t place(int64_t k, int64_t count, int64_t streams) {
  int64_t part = count / streams;
  return k < part * streams ? (k % streams * part + k / streams) * CHUNK : k * CHUNK;
}

typedef struct work {
  const char *source, *read;
  char *target, *filled;
  int64_t copies, reads, fills, streams;
} work;

INLINED void move(const work *w, int64_t begin, int64_t end, vector sum[4], const int past_cache, const int ahead) {
  for (int64_t k = begin; k < end; k++) {
    if (k < w->copies) {
      int64_t at = place(k, w->copies, w->streams);
      copy_chunk(w->source + at, w->target + at, past_cache, ahead);
    }
    if (k < w->reads) {
      read_chunk(w->read + place(k, w->reads, w->streams), sum, ahead);
    }
    if (k < w->fills) {
      fill_chunk(w->filled + place(k, w->fills, w->streams), past_cache);
    }
  }
}

static void piece(const work *w, int64_t begin, int64_t end, vector sum[4], int way) {
  switch (way) {
  case 0:
    move(w, begin, end, sum, 0, 0);
    break;
  case 1:
    move(w, begin, end, sum, 0, 1);
    break;
  case 2:
    move(w, begin, end, sum, 1, 0);
    break;
  default:
    move(w, begin, end, sum, 1, 1);
    break;
  }
#if defined(__AVX__)
  _mm_sfence();
#endif
}

// n: bytes copied, bytes read besides, bytes filled besides, stores past the caches?, prefetch?, streams. Sizes are rounded
// up to chunks. Args: source, read; results: target, filled, and 32 bytes that keep what was read alive.
KERNEL(limit) {
  const work w = {args[0],
                  args[1],
                  results[0],
                  results[1],
                  (n[0] + CHUNK - 1) / CHUNK,
                  (n[1] + CHUNK - 1) / CHUNK,
                  (n[2] + CHUNK - 1) / CHUNK,
                  n[5]};
  const int way = (int)(2 * n[3] + n[4]);
  int64_t most = w.copies > w.reads ? w.copies : w.reads;
  most = w.fills > most ? w.fills : most;
#ifdef _OPENMP
#pragma omp parallel
#endif
  {
    vector sum[4] = {{0}};
#ifdef _OPENMP
    const int64_t threads = omp_get_num_threads();
    const int64_t thread = omp_get_thread_num();
    piece(&w, most * thread / threads, most * (thread + 1) / threads, sum, way);
#pragma omp critical
#else
    piece(&w, 0, most, sum, way);
#endif
    *(vector *)results[2] ^= sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
  }
}
