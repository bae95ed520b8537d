// The context: memory with accounting and a limit, the interrupt poll, and the list of diagnostics.
#include "base/ctx.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void *default_resize(void *self, void *pointer, size_t old_size, size_t new_size) {
  (void)self;
  (void)old_size;
  if (new_size == 0) {
    free(pointer);
    return NULL;
  }
  return realloc(pointer, new_size);
}

indim_allocator indim_allocator_default(void) { return (indim_allocator){default_resize, NULL}; }

indim_status indim_ctx_create(const indim_allocator *allocator, indim_ctx **out_cx) {
  if (out_cx == NULL) {
    return INDIM_INVALID;
  }
  *out_cx = NULL;
  indim_allocator host = allocator != NULL ? *allocator : indim_allocator_default();
  indim_ctx *cx = host.resize(host.self, NULL, 0, sizeof(indim_ctx));
  if (cx == NULL) {
    return INDIM_NO_MEMORY;
  }
  memset(cx, 0, offsetof(indim_ctx, diagnostics));  // each diagnostic when it is recorded
  cx->allocator = host;
  *out_cx = cx;
  return INDIM_OK;
}

void indim_ctx_destroy(indim_ctx *cx) {
  if (cx != NULL) {
    if (cx->registry != NULL) {
      cx->registry_destroy(cx);
    }
    indim_allocator host = cx->allocator;
    host.resize(host.self, cx, sizeof *cx, 0);
  }
}

void indim_ctx_set_memory_limit(indim_ctx *cx, uint64_t bytes) {
  if (cx != NULL) {
    cx->bytes_limit = bytes;
  }
}

uint64_t indim_ctx_memory_in_use(const indim_ctx *cx) { return cx == NULL ? 0 : cx->bytes_in_use; }
uint64_t indim_ctx_memory_peak(const indim_ctx *cx) { return cx == NULL ? 0 : cx->bytes_peak; }

void indim_ctx_set_interrupt(indim_ctx *cx, bool (*poll)(void *user), void *user) {
  if (cx != NULL) {
    cx->poll = poll;
    cx->poll_user = user;
  }
}

indim_status indim_poll(indim_ctx *cx) {
  if (cx->poll != NULL && cx->poll(cx->poll_user)) {
    return indim_fail(cx, INDIM_INTERRUPTED, "interrupted");
  }
  return INDIM_OK;
}

// Memory ----------------------------------------------------------------------------------------------------------

// Zero-byte requests take one byte, so that a successful result is never NULL.
static size_t real_size(size_t size) { return size == 0 ? 1 : size; }

static indim_status check_limit(indim_ctx *cx, size_t old_size, size_t new_size) {
  if (cx->bytes_limit != 0 && new_size > old_size &&
      (new_size - old_size > cx->bytes_limit || cx->bytes_in_use > cx->bytes_limit - (new_size - old_size))) {
    indim_fail(cx, INDIM_LIMIT,
               "memory limit: %" PRIu64 " bytes are in use and %zu more are needed, the limit is %" PRIu64,
               cx->bytes_in_use, new_size - old_size, cx->bytes_limit);
    indim_hint(cx, "raise the memory limit (--max-memory)");
    return INDIM_LIMIT;
  }
  return INDIM_OK;
}

indim_status indim_resize(indim_ctx *cx, void **pointer, size_t old_size, size_t new_size) {
  old_size = *pointer == NULL ? 0 : real_size(old_size);
  new_size = real_size(new_size);
  INDIM_TRY(check_limit(cx, old_size, new_size));
  void *resized = cx->allocator.resize(cx->allocator.self, *pointer, old_size, new_size);
  if (resized == NULL) {
    return indim_fail(cx, INDIM_NO_MEMORY, "out of memory: %zu bytes could not be allocated", new_size);
  }
  cx->bytes_in_use += new_size;
  cx->bytes_in_use -= old_size;
  if (cx->bytes_in_use > cx->bytes_peak) {
    cx->bytes_peak = cx->bytes_in_use;
  }
  *pointer = resized;
  return INDIM_OK;
}

indim_status indim_alloc(indim_ctx *cx, size_t size, void **out) {
  *out = NULL;
  return indim_resize(cx, out, 0, size);
}

indim_status indim_alloc_zeroed(indim_ctx *cx, size_t size, void **out) {
  INDIM_TRY(indim_alloc(cx, size, out));
  memset(*out, 0, real_size(size));
  return INDIM_OK;
}

void indim_free(indim_ctx *cx, void *pointer, size_t size) {
  if (pointer != NULL) {
    cx->allocator.resize(cx->allocator.self, pointer, real_size(size), 0);
    cx->bytes_in_use -= real_size(size);
  }
}

size_t indim_ctx_diagnostic_count(const indim_ctx *cx) { return cx == NULL ? 0 : cx->diagnostic_count; }

const indim_diagnostic *indim_ctx_diagnostic_get(const indim_ctx *cx, size_t index) {
  if (cx == NULL) {
    return NULL;
  }
  size_t kept = cx->diagnostic_count < INDIM_MAX_DIAGNOSTICS ? cx->diagnostic_count : INDIM_MAX_DIAGNOSTICS;
  return index < kept ? &cx->diagnostics[index] : NULL;
}

void indim_ctx_diagnostics_clear(indim_ctx *cx) {
  if (cx != NULL) {
    cx->diagnostic_count = 0;
  }
}
