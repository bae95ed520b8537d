#include "run/aligned_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

void *(*indim_aligned_malloc)(size_t bytes) = malloc;

// The address that malloc gave lies before the block.
void *indim_aligned_alloc(int64_t bytes) {
  size_t size = 0;
  if (bytes < 0 || !indim_size_add((size_t)bytes, INDIM_ALIGNED_BYTES + sizeof(void *), &size)) {
    return NULL;
  }
  unsigned char *given = indim_aligned_malloc(size);
  if (given == NULL) {
    return NULL;
  }
  unsigned char *block = given + sizeof(void *);
  block += (INDIM_ALIGNED_BYTES - (uintptr_t)block % INDIM_ALIGNED_BYTES) % INDIM_ALIGNED_BYTES;
  memcpy(block - sizeof(void *), &given, sizeof given);
  return block;
}

void indim_aligned_free(void *pointer) {
  if (pointer != NULL) {
    void *given = NULL;
    memcpy(&given, (unsigned char *)pointer - sizeof(void *), sizeof given);
    free(given);
  }
}
