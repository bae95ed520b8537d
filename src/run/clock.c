// The clock for measurements.
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L  // CLOCK_MONOTONIC
#endif

#include "run/clock.h"

#include <time.h>

int64_t indim_clock_ns(void) {
  struct timespec t;
#if defined(CLOCK_MONOTONIC)
  clock_gettime(CLOCK_MONOTONIC, &t);
#else
  timespec_get(&t, TIME_UTC);
#endif
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
