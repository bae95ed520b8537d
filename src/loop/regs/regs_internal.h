// Internal to regs*.c: pools of elements, and making rows of them.
#ifndef INDIM_LOOP_REGS_INTERNAL_H
#define INDIM_LOOP_REGS_INTERNAL_H

#include "loop/regs/regs.h"

// The locations of elements of one type: element e is lane |lane[e]| of |value[e]|. Moving elements only renumbers
// them; shuffles are emitted when rows are made.
enum { INDIM_POOL_ELEMENTS = 2 * INDIM_REGS_ELEMENTS };

typedef struct indim_regs_pool {
  indim_type type;
  int32_t count;
  indim_value_id value[INDIM_POOL_ELEMENTS];
  int16_t lane[INDIM_POOL_ELEMENTS];
} indim_regs_pool;

// A register array of at most this many elements has rows of one lane.
enum { INDIM_REGS_SCALARS = 4 };

// Lanes of the rows of an array with these sizes, without the scalar case of indim_regs_lanes.
int32_t indim_regs_row_lanes(const indim_target *target, int32_t rank, const int64_t *sizes);
// Lanes of this type in a register, a power of two and at least 2.
int32_t indim_regs_register_lanes(const indim_target *target, indim_type type);
// Allocates rows of a register array of |shape|, all 0. NULL after a failure, with |*out| empty.
indim_value_id *indim_regs_new(indim_loop_builder *b, const indim_shape *shape, indim_regs *out);

// Appends a register array's elements in order.
void indim_pool_add(const indim_regs *regs, indim_regs_pool *pool);
// Appends |lanes| elements, the lanes of one value.
void indim_pool_add_value(indim_value_id value, int32_t lanes, indim_regs_pool *pool);
// A pool of |count| elements: element i is element map[i] of |from|.
void indim_pool_map(const indim_regs_pool *from, int32_t count, const int32_t *map, indim_regs_pool *out);
// A value whose lane k is element map[k]; -1: undefined.
indim_value_id indim_pool_pick(indim_loop_builder *b, const indim_regs_pool *pool, int32_t lanes, const int32_t *map);
// The register array of |shape| whose element e is element map[e] of the pool, or element e when |map| is NULL.
void indim_pool_deal(indim_loop_builder *b, const indim_regs_pool *pool, const int32_t *map, const indim_shape *shape,
                     indim_regs *out);
// The elements with permuted dimensions, dimension perm[k] of |sizes| becoming dimension k, in new rows of |lanes|
// lanes that are contiguous in the new order.
void indim_pool_transpose(indim_loop_builder *b, const indim_regs_pool *pool, int32_t rank, const int64_t *sizes,
                          const int32_t *perm, int32_t lanes, indim_regs_pool *out);
// Maps each element number after that permutation to the one before.
void indim_order_fill(int32_t rank, const int64_t *sizes, const int32_t *perm, int32_t *out_map);

// regs_move.c: ops that only move elements.
void indim_regs_move(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out);
// regs_dynamic.c
bool indim_regs_can_dynamic(const indim_instr *instr);
void indim_regs_dynamic(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out);
// regs_reduce.c
bool indim_regs_can_dot(const indim_instr *instr);
void indim_regs_dot(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out);
bool indim_regs_can_reduce(const indim_instr *instr);
void indim_regs_reduce(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out);

#endif  // INDIM_LOOP_REGS_INTERNAL_H
