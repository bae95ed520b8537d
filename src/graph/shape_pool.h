// Equal shapes of a module as one pointer: a large program has few different ones.
#ifndef INDIM_GRAPH_SHAPE_POOL_H
#define INDIM_GRAPH_SHAPE_POOL_H

#include "base/arena.h"
#include "indim/shape.h"

typedef struct indim_shape_pool indim_shape_pool;

// A pool whose shapes live in |arena|. Its table is heap memory of the arena's context.
INDIM_CHECKED indim_status indim_shape_pool_create(indim_arena *arena, indim_shape_pool **out_pool);
void indim_shape_pool_destroy(indim_shape_pool *pool);
// The pool's pointer for |shape|; members of tuples are interned too.
INDIM_CHECKED indim_status indim_shape_pool_intern(indim_shape_pool *pool, const indim_shape *shape,
                                                   const indim_shape **out_shape);

#endif  // INDIM_GRAPH_SHAPE_POOL_H
