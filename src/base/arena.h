// Arenas for a product's own memory (a module, a tree of shapes), dropped whole.
#ifndef INDIM_BASE_ARENA_H
#define INDIM_BASE_ARENA_H

#include "base/ctx.h"

typedef struct indim_arena_block indim_arena_block;

struct indim_arena {
  indim_ctx *cx;
  indim_arena_block *blocks;  // newest first
};

void indim_arena_init(indim_arena *arena, indim_ctx *cx);
void indim_arena_deinit(indim_arena *arena);

// Zeroed memory, aligned to 16 bytes, valid until the arena goes.
INDIM_CHECKED indim_status indim_arena_alloc(indim_arena *arena, size_t size, void **out);
// |count| items of |size| bytes, with the product checked.
INDIM_CHECKED indim_status indim_arena_array(indim_arena *arena, size_t count, size_t size, void **out);
// A copy of |text| with a terminating null behind it.
INDIM_CHECKED indim_status indim_arena_str(indim_arena *arena, indim_str text, indim_str *out);

#endif  // INDIM_BASE_ARENA_H
