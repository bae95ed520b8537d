// What the expansions share: the instruction that is expanded, the builder of its computation, and small computations.
#ifndef INDIM_EXPAND_KIT_H
#define INDIM_EXPAND_KIT_H

#include "graph/build.h"

typedef const indim_instr *value;

typedef struct indim_expander {
  indim_ctx *cx;
  indim_builder *b;
  const indim_instr *instr;
  int32_t bytes;    // low bytes of its elements that are asked for
  value *operands;  // the parameters that stand for its operands, once the computation is begun
  bool is_refused;  // by indim_expand_fail: the error is told at the instruction already
} indim_expander;

// Builds the called computations, begins the computation of the instruction, and returns its root. Errors are the
// builder's.
typedef value indim_expand_fn(indim_expander *x);
#define INDIM_EXPANSION(op, function) indim_expand_fn indim_expand_##function;
#include "expand/expand.def"

// Begins the computation, after all that it calls.
void indim_expand_begin(indim_expander *x);
// Records a refusal that was reported at the instruction. Returns NULL, for a root.
value indim_expand_fail(indim_expander *x, indim_status status);

// Gives an instruction the place of the one that it is for, and its name, as it is or before its own: y.reduce.5.
INDIM_CHECKED indim_status indim_expand_label(indim_instr *instr, const indim_instr *origin, bool stands_for_it);

// Room for |count| values, as long as the module lives; NULL after an error.
value *indim_expand_values(indim_expander *x, int64_t count);

// A computation of two scalars by a binary op; and the one that adds them.
const indim_computation *indim_expand_reducer(indim_expander *x, const char *name, indim_op op, indim_type type);
const indim_computation *indim_expand_sum(indim_expander *x, indim_type type);
// The sum over |dims|.
value indim_expand_reduce(indim_expander *x, const indim_computation *sum, value operand, const int64_t *dims,
                          int32_t count);
// Whether a list of an instruction is empty or not stated.
bool indim_expand_has_none(const indim_instr *instr, indim_attr_id id);
// Whether an array lies in the order of its indices, without tiles or padding.
bool indim_expand_is_row_major(const indim_shape *shape);
value indim_expand_convert(indim_expander *x, value operand, indim_type type);
// |operand| repeated: its dimension i is dimension dims[i] of |shape|, whose element type plays no part.
value indim_expand_repeat(indim_expander *x, value operand, const indim_shape *shape, const int64_t *dims);
// Zeros of any shape, tuples and tokens included.
value indim_expand_zeros(indim_expander *x, const indim_shape *shape);
// A call of a computation of any module.
value indim_expand_call(indim_expander *x, const indim_computation *computation, const value *operands, int32_t count);

// The attribute of a convolution's labels, with their text.
indim_attr indim_expand_labels(indim_expander *x, const indim_dim_labels *labels);
// Whether a window only passes on the elements of a dimension.
bool indim_expand_window_does_nothing(const indim_window_dim *window);
// The attribute of a window, of which a copy is kept.
indim_attr indim_expand_window(indim_expander *x, const indim_window_dim *window, int64_t count);

// |size| places of dimension |dim| of an array, from |index| on.
value indim_expand_part(indim_expander *x, value operand, int64_t dim, value index, int64_t size);
// |operand| with such a part replaced.
value indim_expand_put_part(indim_expander *x, value operand, int64_t dim, value index, value part);
// One place, without the dimension; and |operand| with such a cut replaced.
value indim_expand_cut(indim_expander *x, value operand, int64_t dim, value index);
value indim_expand_put(indim_expander *x, value operand, int64_t dim, value index, value cut);

// Loops ----------------------------------------------------------------------------------------------------------------

// Replaces |values| by those of the next step, and returns the next index, an s64 that starts at 0. |about|: whatever the
// step needs.
typedef value indim_expand_step(indim_expander *x, const void *about, value index, value *values);
// index + 1
value indim_expand_next(indim_expander *x, value index);

typedef struct indim_expand_loop {
  const indim_computation *condition, *body;
  int32_t count;  // values
} indim_expand_loop;

// The computations of a while loop that runs as long as the index is less than |end|, or, if that is negative, than the first
// value, an s64. It carries values of |shapes|. Built before the computation of the instruction is begun; then, in that, the
// loop itself: |values| are the first ones before, the last ones after.
indim_expand_loop indim_expand_make_loop(indim_expander *x, int64_t end, const indim_shape *const *shapes,
                                         int32_t count, indim_expand_step *step, const void *about);
void indim_expand_run_loop(indim_expander *x, const indim_expand_loop *loop, value *values);

#endif  // INDIM_EXPAND_KIT_H
