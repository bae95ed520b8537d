// Nanoseconds since some moment, for measuring; from a clock that never steps back where there is one.
#ifndef INDIM_RUN_CLOCK_H
#define INDIM_RUN_CLOCK_H

#include <stdint.h>

int64_t indim_clock_ns(void);

#endif  // INDIM_RUN_CLOCK_H
