// What the files of tiles share: elements by number, and how rows are made of them.
#ifndef INDIM_LOOP_TILE_INTERNAL_H
#define INDIM_LOOP_TILE_INTERNAL_H

#include "loop/regs/tile.h"

// Where each of a number of elements of one type stands: element e is lane |lane[e]| of |value[e]|. What is moved is only
// renumbered; nodes are made when rows are picked.
enum { INDIM_POOL_ELEMENTS = 2 * INDIM_TILE_ELEMENTS };

typedef struct indim_pool {
  indim_type type;
  int32_t count;
  indim_lval value[INDIM_POOL_ELEMENTS];
  int16_t lane[INDIM_POOL_ELEMENTS];
} indim_pool;

// Up to so many elements a tile is rows of one lane.
enum { INDIM_TILE_SCALARS = 4 };

// Lanes of the rows of an array with these sizes, however small; see indim_tile_lanes.
int32_t indim_tile_row_lanes(const indim_target *target, int32_t rank, const int64_t *sizes);
// Lanes of this type that fill a register, a power of two and 2 at least.
int32_t indim_tile_register_lanes(const indim_target *target, indim_type type);
// Rows for a tile of |shape|, all none. NULL after a failure, with |*out| empty.
indim_lval *indim_tile_new(indim_loop_builder *b, const indim_shape *shape, indim_tile *out);

// Appends a tile's elements in their order.
void indim_pool_add(const indim_tile *tile, indim_pool *pool);
// Appends |lanes| elements, the lanes of one value.
void indim_pool_add_value(indim_lval value, int32_t lanes, indim_pool *pool);
// |count| of the elements of |from|: number i is from[map[i]].
void indim_pool_map(const indim_pool *from, int32_t count, const int32_t *map, indim_pool *out);
// A value whose lane k is element map[k]; -1: any value.
indim_lval indim_pool_pick(indim_loop_builder *b, const indim_pool *pool, int32_t lanes, const int32_t *map);
// The tile of |shape| whose element e is element map[e] of the pool, or e itself when |map| is NULL.
void indim_pool_deal(indim_loop_builder *b, const indim_pool *pool, const int32_t *map, const indim_shape *shape,
                     indim_tile *out);
// The same elements in another order of the dimensions, dimension perm[k] of |sizes| becoming number k, and made to
// stand in rows of |lanes| lanes that are contiguous in the new order.
void indim_pool_transpose(indim_loop_builder *b, const indim_pool *pool, int32_t rank, const int64_t *sizes,
                          const int32_t *perm, int32_t lanes, indim_pool *out);
// For each element of the new order its number in the old one.
void indim_order_fill(int32_t rank, const int64_t *sizes, const int32_t *perm, int32_t *out_map);

// tile_move.c: the ops that only move elements.
void indim_tile_move(indim_loop_builder *b, const indim_instr *instr, const indim_tile *operands, indim_tile *out);
// tile_dynamic.c
bool indim_tile_can_dynamic(const indim_instr *instr);
void indim_tile_dynamic(indim_loop_builder *b, const indim_instr *instr, const indim_tile *operands, indim_tile *out);
// tile_reduce.c
bool indim_tile_can_dot(const indim_instr *instr);
void indim_tile_dot(indim_loop_builder *b, const indim_instr *instr, const indim_tile *operands, indim_tile *out);
bool indim_tile_can_reduce(const indim_instr *instr);
void indim_tile_reduce(indim_loop_builder *b, const indim_instr *instr, const indim_tile *operands, indim_tile *out);

#endif  // INDIM_LOOP_TILE_INTERNAL_H
