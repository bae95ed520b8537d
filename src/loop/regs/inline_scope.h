// Inlining of called computations: which can be, and the values of their instructions meanwhile: apply.c with values as
// leaves, regs.c with register arrays.
#ifndef INDIM_LOOP_INLINE_SCOPE_H
#define INDIM_LOOP_INLINE_SCOPE_H

#include "loop/ir/build.h"

// The values of a computation's instructions while it is inlined. An array has one leaf, a flat tuple one for each
// member:
//
//   p = f32[] parameter(0)   t = (f32[], f32[]) tuple(p, p)   ROOT g = f32[] get-tuple-element(t), index=1
//   first: 0, 1, 3           leaves: p, p, p, p
typedef struct indim_inline_scope {
  const indim_computation *computation;
  size_t leaf_bytes;
  int32_t *first;  // for each instruction the number of its first leaf; -1 if the root does not depend on it
  char *leaves;    // initially zero
  int32_t leaf_count;
} indim_inline_scope;

// Whether |instr| can be inlined, in a computation that is |depth| calls deep; |*steps| instructions are left to be asked
// about.
typedef bool indim_inline_can_fn(const indim_instr *instr, int32_t depth, int32_t *steps);
// Makes the leaves |out| of an instruction that does more than move leaves.
typedef void indim_inline_run_fn(indim_loop_builder *b, const indim_inline_scope *f, const indim_instr *instr,
                                 void *out);

// The computation that a call, a fusion or a map is of; NULL for other ops.
indim_computation *indim_inline_called(const indim_instr *instr);

// The number of leaves of an array or a flat tuple.
int32_t indim_inline_leaf_count(const indim_shape *shape);

// Whether all instructions can; false as well where calls are nested deeper than the evaluator would go.
bool indim_inline_can(const indim_computation *computation, int32_t depth, int32_t *steps, indim_inline_can_fn *can);
// Runs what the root depends on, in order. |args| are the leaves of all parameters, |out| gets those of the root.
void indim_inline_run(indim_loop_builder *b, const indim_computation *computation, size_t leaf_bytes, const void *args,
                      indim_inline_run_fn *run, void *out);

// The first leaf of an instruction that the root depends on.
void *indim_inline_leaf(const indim_inline_scope *f, const indim_instr *instr);

// The concatenated leaves of the operands of |instr|, to be freed by indim_inline_release; NULL, with the builder
// failed, when out of memory.
void *indim_inline_operands(indim_loop_builder *b, const indim_inline_scope *f, const indim_instr *instr);
void indim_inline_release(indim_loop_builder *b, const indim_inline_scope *f, const indim_instr *instr, void *operands);

#endif  // INDIM_LOOP_INLINE_SCOPE_H
