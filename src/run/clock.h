// Nanoseconds since an arbitrary moment, for measuring; monotonic where the system has such a clock.
#ifndef INDIM_RUN_CLOCK_H
#define INDIM_RUN_CLOCK_H

#include <stdint.h>

int64_t indim_clock_ns(void);

#endif  // INDIM_RUN_CLOCK_H
