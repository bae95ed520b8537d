// Register arrays: small arrays held in registers instead of memory. A 3x3 array carried by a while loop is three
// values of three lanes, its product with another is nine multiplications of a row by a splat lane, its transpose three
// shuffles.
//
// The elements are in row-major order of the logical dimensions, independent of the layout, split into rows of |lanes|:
// f64[6,6] is 6 rows of 6 lanes, f32[8,1] one row of 8; the smallest are scalars: f32[3] is 3 rows of 1 lane.
#ifndef INDIM_LOOP_REGS_H
#define INDIM_LOOP_REGS_H

#include "loop/ir/loop.h"

typedef struct indim_regs {
  const indim_shape *shape;
  int32_t lanes;
  int32_t row_count;
  const indim_value_id *rows;
} indim_regs;

// The most elements of a register array.
enum { INDIM_REGS_ELEMENTS = 256 };

// The lanes of a register array of |shape|, which depend on its sizes and not on its type: 1 up to four elements; else
// the last size above 1, times what fits a register when that is a power of two, or a part of it when it is longer than
// a register of f32.
int32_t indim_regs_lanes(const indim_target *target, const indim_shape *shape);
// Whether |instr| can be lowered on register arrays: static shapes, operands and result within the element limit, and
// an op listed below. Called computations are checked too: indim_loop_apply must support them.
bool indim_regs_can(const indim_instr *instr);
// Lowers |instr| on its operands' register arrays: constant, iota, every elementwise op, broadcast, reshape, transpose,
// copy, bitcast, bitcast-convert, slice, pad, concatenate, reverse, dot, reduce (|out| has a register array for each
// result), map, dynamic-slice and dynamic-update-slice (selects over the possible starts if they are few), and fusions
// and calls of these.
void indim_regs_lower(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out);

// Loads from and stores to memory: |strides| in elements, one for each logical dimension.
void indim_regs_load(indim_loop_builder *b, const indim_shape *shape, indim_storage *storage, indim_value_id address,
                     const int64_t *strides, indim_regs *out);
void indim_regs_store(indim_loop_builder *b, const indim_regs *regs, indim_storage *storage, indim_value_id address,
                      const int64_t *strides);

// apply.c: whether |computation| has scalar parameters and results and only elementwise ops (constants, scalar ops,
// tuples, calls and fusions of these); and its results for |args|, each of |lanes| lanes, lane by lane. |out| gets one
// value for each leaf of the result.
bool indim_loop_can_apply(const indim_computation *computation);
void indim_loop_apply(indim_loop_builder *b, const indim_computation *computation, int32_t lanes,
                      const indim_value_id *args, indim_value_id *out);
// Whether a reduction by |computation| may be reordered: each result is one associative and commutative op of its own
// two parameters.
bool indim_loop_can_reorder(const indim_computation *computation);
// Whether |instr| is an elementwise op that indim_loop_instr supports; args of one lane are splat to the lanes of the
// others.
bool indim_loop_can_instr(const indim_instr *instr);
// The op with its attributes.
indim_loop_op indim_loop_op_of(const indim_instr *instr);
// |x| bitcast to |type|, of the same width; a pred counts as a byte.
indim_value_id indim_loop_bitcast(indim_loop_builder *b, indim_value_id x, indim_type type);
indim_value_id indim_loop_instr(indim_loop_builder *b, const indim_instr *instr, int32_t count,
                                const indim_value_id *args);

#endif  // INDIM_LOOP_REGS_H
