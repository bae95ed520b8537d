// What all kernels share. A file is compiled twice: with OpenMP for more than one thread, and without.
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stdint.h>

#define KERNEL(name)                                                          \
  void name(const void *const *args, void *const *results, const int64_t *n); \
  void name(const void *const *args, void *const *results, const int64_t *n)

#ifdef _OPENMP
#define PARALLEL _Pragma("omp parallel for schedule(static)")
#else
#define PARALLEL
#endif

#endif  // BENCH_KERNELS_H
