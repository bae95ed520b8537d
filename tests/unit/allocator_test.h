// An allocator that fails on demand and counts what is held, for indim_ctx_create.
//
//   test_allocator state = {.fail_at = 3};                // the third allocation fails
//   indim_allocator allocator = {test_resize, &state};
#ifndef INDIM_ALLOCATOR_TEST_H
#define INDIM_ALLOCATOR_TEST_H

#include <stdlib.h>

#include "indim/base.h"

typedef struct test_allocator {
  int64_t count;    // allocations asked for
  int64_t fail_at;  // the number, from 1, of the one that fails; 0: none
  bool fail_on;     // all behind it fail, too
  bool failed;      // one did
  int64_t blocks;   // held now
} test_allocator;

static inline void *test_resize(void *self, void *pointer, size_t old_size, size_t new_size) {
  test_allocator *a = self;
  (void)old_size;
  if (new_size == 0) {
    a->blocks -= pointer != NULL;
    free(pointer);
    return NULL;
  }
  a->count++;
  if (a->fail_at > 0 && (a->count == a->fail_at || (a->fail_on && a->count > a->fail_at))) {
    a->failed = true;
    return NULL;
  }
  void *result = realloc(pointer, new_size);
  a->blocks += pointer == NULL && result != NULL;
  return result;
}

#endif  // INDIM_ALLOCATOR_TEST_H
