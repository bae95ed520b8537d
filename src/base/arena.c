// An arena is a list of blocks; blocks double in size up to 1 MiB, and a large request gets a block of its own.
#include "base/arena.h"

#include <string.h>

#include "base/size.h"

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20, ALIGNMENT = 16 };

struct indim_arena_block {
  indim_arena_block *next;
  size_t capacity;  // bytes of the whole block
  size_t used;      // this header included
};

static size_t aligned(size_t size) { return (size + (ALIGNMENT - 1)) & ~(size_t)(ALIGNMENT - 1); }

void indim_arena_init(indim_arena *arena, indim_ctx *cx) { *arena = (indim_arena){cx, NULL}; }

void indim_arena_deinit(indim_arena *arena) {
  indim_arena_block *block = arena->blocks;
  while (block != NULL) {
    indim_arena_block *next = block->next;
    indim_free(arena->cx, block, block->capacity);
    block = next;
  }
  arena->blocks = NULL;
}

indim_status indim_arena_create(indim_ctx *cx, indim_arena **out_arena) {
  void *memory = NULL;
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, out_arena);
  *out_arena = NULL;
  INDIM_TRY(indim_alloc(cx, sizeof(indim_arena), &memory));
  indim_arena_init(memory, cx);
  *out_arena = memory;
  return INDIM_OK;
}

void indim_arena_destroy(indim_arena *arena) {
  if (arena != NULL) {
    indim_ctx *cx = arena->cx;
    indim_arena_deinit(arena);
    indim_free(cx, arena, sizeof *arena);
  }
}

static indim_status add_block(indim_arena *arena, size_t payload) {
  size_t header = aligned(sizeof(indim_arena_block));
  size_t capacity = arena->blocks == NULL ? FIRST_BLOCK : arena->blocks->capacity * 2;
  capacity = capacity > LARGEST_BLOCK ? LARGEST_BLOCK : capacity;
  if (payload > capacity - header) {
    if (!indim_size_add(payload, header, &capacity)) {
      return indim_fail(arena->cx, INDIM_NO_MEMORY, "out of memory: a size overflows");
    }
  }
  void *memory = NULL;
  INDIM_TRY(indim_alloc(arena->cx, capacity, &memory));
  indim_arena_block *block = memory;
  *block = (indim_arena_block){arena->blocks, capacity, header};
  arena->blocks = block;
  return INDIM_OK;
}

indim_status indim_arena_alloc(indim_arena *arena, size_t size, void **out) {
  *out = NULL;
  if (size > SIZE_MAX - ALIGNMENT) {
    return indim_fail(arena->cx, INDIM_NO_MEMORY, "out of memory: a size overflows");
  }
  size = aligned(size);
  if (arena->blocks == NULL || size > arena->blocks->capacity - arena->blocks->used) {
    INDIM_TRY(add_block(arena, size));
  }
  indim_arena_block *block = arena->blocks;
  *out = (char *)block + block->used;
  block->used += size;
  memset(*out, 0, size);
  return INDIM_OK;
}

indim_status indim_arena_array(indim_arena *arena, size_t count, size_t size, void **out) {
  size_t total = 0;
  *out = NULL;
  if (!indim_size_mul(count, size, &total)) {
    return indim_fail(arena->cx, INDIM_NO_MEMORY, "out of memory: a size overflows");
  }
  return indim_arena_alloc(arena, total, out);
}

indim_status indim_arena_str(indim_arena *arena, indim_str text, indim_str *out) {
  void *copy = NULL;
  INDIM_TRY(indim_arena_alloc(arena, text.size + 1, &copy));
  if (text.size > 0) {
    memcpy(copy, text.data, text.size);
  }
  *out = (indim_str){copy, text.size};
  return INDIM_OK;
}
