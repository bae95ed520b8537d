// Memory that a service takes for the time of a call or keeps in a cache: aligned to a cache line, from the C library, for a service
// may be called by any thread.
#ifndef INDIM_RUN_ALIGNED_MEMORY_H
#define INDIM_RUN_ALIGNED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum { INDIM_ALIGNED_BYTES = 64 };

// What it is taken from: malloc, unless a test puts another function there.
extern void *(*indim_aligned_malloc)(size_t bytes);

void *indim_aligned_alloc(int64_t bytes);  // NULL: there is none
void indim_aligned_free(void *pointer);    // NULL allowed

#endif  // INDIM_RUN_ALIGNED_MEMORY_H
