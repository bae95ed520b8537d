// What the rules of dynamic dimensions share: arrays with their sizes, arithmetic on sizes, masks and checks.
#ifndef INDIM_EXPAND_DYNAMIC_PADDER_H
#define INDIM_EXPAND_DYNAMIC_PADDER_H

#include "expand/kit.h"

// How much of a dimension counts.
typedef struct indim_run_size {
  value scalar;   // an s32 or s64; NULL:
  int64_t known;  // a number
} indim_run_size;

// What stands for a value of the program.
typedef struct indim_sized {
  value data;             // an array of the bounds, or a tuple, in which a dynamic array is a tuple of its own
  indim_run_size *sizes;  // of an array's dimensions; NULL: all of it counts
} indim_sized;

typedef struct indim_padder {
  indim_expander x;  // x.instr: the program's instruction, which errors are told at
  const indim_module *from;
  const indim_computation **made;  // what the computations of |from| have become, by their index; NULL: not called
  indim_sized *of;                 // the open computation's values, by the index of the program's instruction
  int32_t serial;                  // of computations that are made besides
} indim_padder;

// The rule of one op: what |instr| becomes, with these operands.
typedef indim_sized indim_dynamic_fn(indim_padder *p, const indim_instr *instr, indim_sized *operands);
indim_dynamic_fn indim_dynamic_elementwise;
indim_dynamic_fn indim_dynamic_moved;  // broadcast, transpose, slice, dynamic-slice, gather: as they are
indim_dynamic_fn indim_dynamic_update;
indim_dynamic_fn indim_dynamic_scatter;
indim_dynamic_fn indim_dynamic_reverse;
indim_dynamic_fn indim_dynamic_concatenate;
indim_dynamic_fn indim_dynamic_pad;
indim_dynamic_fn indim_dynamic_reshape;
indim_dynamic_fn indim_dynamic_reduce;
indim_dynamic_fn indim_dynamic_reduce_window;
indim_dynamic_fn indim_dynamic_sort;
indim_dynamic_fn indim_dynamic_topk;
indim_dynamic_fn indim_dynamic_dot;
indim_dynamic_fn indim_dynamic_ragged_dot;
indim_dynamic_fn indim_dynamic_scan;
indim_dynamic_fn indim_dynamic_convolution;
indim_dynamic_fn indim_dynamic_select_and_scatter;
indim_dynamic_fn indim_dynamic_batch_norm;
indim_dynamic_fn indim_dynamic_one_device;  // collectives, and copies and calls that are begun and ended
indim_dynamic_fn indim_dynamic_drawn;       // rng, rng-bit-generator
indim_dynamic_fn indim_dynamic_custom_call;
indim_dynamic_fn
    indim_dynamic_batch;  // what is done to each of a batch: fft, cholesky, triangular-solve, topk, bits of another size

// Errors are kept by the builder: after the first one all functions return NULL or what does not matter.
static inline bool indim_padder_failed(const indim_padder *p) { return p->x.b->status != INDIM_OK; }

// Sizes ------------------------------------------------------------------------------------------------------------------

indim_run_size indim_size_known(int64_t size);
indim_run_size indim_size_of(const indim_sized *array, const indim_shape *shape, int32_t dim);
// Whether it may be less than |bound|.
bool indim_size_is_cut(indim_run_size size, int64_t bound);
bool indim_size_same(indim_run_size a, indim_run_size b);
value indim_size_scalar(indim_padder *p, indim_run_size size, indim_type type);
// a op b as s64, ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, MINIMUM or MAXIMUM; a number if both are.
indim_run_size indim_size_op(indim_padder *p, indim_op op, indim_run_size a, indim_run_size b);
indim_run_size indim_size_least(indim_padder *p, indim_run_size a, indim_run_size b);
// With so many places from each element to the next: 0 for 0, else (size - 1) * dilation + 1.
indim_run_size indim_size_dilated(indim_padder *p, indim_run_size size, int64_t dilation);
// The places of a window along a dimension of |size|.
indim_run_size indim_size_windows(indim_padder *p, indim_run_size size, const indim_window_dim *window);
// Room for |count| of them.
indim_run_size *indim_sizes_new(indim_padder *p, int64_t count);

// Values -----------------------------------------------------------------------------------------------------------------

// The shape that stands for |shape|, of the new module.
const indim_shape *indim_static_shape(indim_padder *p, const indim_shape *shape);
// Of an array, or a tuple of arrays, without their sizes.
const indim_shape *indim_padder_data_shape(indim_padder *p, const indim_shape *shape);
// |instr|'s op with its attributes on other operands; NULL for |shape| infers.
value indim_padder_emit(indim_padder *p, const indim_instr *instr, const indim_shape *shape, const value *operands,
                        int64_t count);
// The same with the operands' data, of |instr|'s own shape.
value indim_padder_emit_data(indim_padder *p, const indim_instr *instr, const indim_sized *operands);
indim_attr *indim_padder_attrs(indim_padder *p, const indim_instr *instr);

// An array with these sizes as the program's |shape| has it: what is fixed there must be whole when the program runs.
indim_sized indim_padder_settle(indim_padder *p, const indim_shape *shape, value data, const indim_run_size *sizes);
// As one value, and back.
value indim_padder_pack(indim_padder *p, const indim_shape *shape, const indim_sized *array);
indim_sized indim_padder_unpack(indim_padder *p, const indim_shape *shape, value packed);
// A packed value of |from| as one of |to|, which differs in what is dynamic.
value indim_padder_coerce(indim_padder *p, value packed, const indim_shape *from, const indim_shape *to);

// Operand |i| as one value of the shape |to|.
value indim_padder_operand(indim_padder *p, const indim_instr *instr, const indim_sized *operands, int32_t i,
                           const indim_shape *to);
// |instr|'s operands given to |called|, whose result becomes one of the shape |to|.
value indim_padder_call(indim_padder *p, const indim_instr *instr, const indim_sized *operands,
                        const indim_computation *called, const indim_shape *to);

// The least sizes of the first |arrays| operands, dimension by dimension.
void indim_padder_least_sizes(indim_padder *p, const indim_instr *instr, const indim_sized *operands, int32_t arrays,
                              indim_run_size *sizes);
// The members of a result that is a tuple of |count|, or it alone; and back, a tuple of several results, or the one, with these
// sizes.
value *indim_padder_take_apart(indim_padder *p, value result, int32_t count, bool is_tuple);
indim_sized indim_padder_results(indim_padder *p, const indim_instr *instr, const value *results, int32_t count,
                                 const indim_run_size *sizes);

// Masks ------------------------------------------------------------------------------------------------------------------

// Where all dimensions of |dims| are below their sizes; NULL: everywhere.
value indim_padder_counts(indim_padder *p, const indim_shape *shape, const indim_run_size *sizes, uint64_t dims);
// |data| with |fill|, a scalar, elsewhere.
value indim_padder_mask(indim_padder *p, value data, const indim_run_size *sizes, uint64_t dims, value fill);
// With zeros behind what counts, as the evaluator has it after ops that move what counts together.
value indim_padder_clear(indim_padder *p, value data, const indim_run_size *sizes);
value indim_padder_compare(indim_padder *p, value lhs, value rhs, const char *direction);

// Checks -----------------------------------------------------------------------------------------------------------------

enum { INDIM_PADDER_MOST_VALUES = 2 };

// Ends the run with |status| unless |is_fine| (pred[]) holds. The message is the instruction's, in which each "\1" is one of the
// |count| sizes.
void indim_padder_check(indim_padder *p, value is_fine, indim_status status, const indim_run_size *sizes, int count,
                        const char *format, ...) INDIM_PRINTF(6, 7);
// 0 <= size <= bound of dimension |dim|.
void indim_padder_check_size(indim_padder *p, indim_run_size size, int32_t dim, int64_t bound);

// Computations besides ---------------------------------------------------------------------------------------------------

// Opens one while another is open, which is to be given to the end.
indim_computation *indim_padder_begin(indim_padder *p, const char *what);
const indim_computation *indim_padder_end(indim_padder *p, value root, indim_computation *outer);
value indim_padder_parameter(indim_padder *p, int64_t number, const indim_shape *shape);

#endif  // INDIM_EXPAND_DYNAMIC_PADDER_H
