// Building programs from C, one instruction a call, with XLA's broadcasting: where operands differ in shape the builder
// writes the broadcast and reshape instructions that HLO wants (as XLA's own builder does), and where two float types
// meet it converts to the one of higher precision.
//
//   indim_builder *b;
//   indim_builder_create(cx, "row_add", &b);
//   indim_builder_begin(b, "main");
//   const indim_instr *x = indim_build_parameter(b, 0, &f32_2_3, "x");
//   const indim_instr *v = indim_build_parameter(b, 1, &f32_3, "v");
//   const indim_instr *s = indim_build_binary(b, INDIM_OP_ADD, x, v, (int64_t[]){1}, 1);   // every row
//   indim_builder_end(b, s);
//   indim_module *module;
//   indim_status status = indim_builder_finish(b, &module);   // the first error, if there was one
//   indim_builder_destroy(b);
//
// Errors need no checking between calls: the first one is kept (with its diagnostic in the context), every later call
// returns NULL and does nothing, and NULL operands are passed on. Instructions belong to the builder's module and live
// as long as it.
#ifndef INDIM_BUILDER_H
#define INDIM_BUILDER_H

#include "indim/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct indim_builder indim_builder;

INDIM_API INDIM_CHECKED indim_status indim_builder_create(indim_ctx *cx, const char *module_name,
                                                          indim_builder **out_builder);
// Frees the builder, and its module unless it was finished. NULL allowed.
INDIM_API void indim_builder_destroy(indim_builder *builder);
// The first error so far, or INDIM_OK.
INDIM_API indim_status indim_builder_status(const indim_builder *builder);

// Begins a computation; computations are built one after another, callees first. The name must be an identifier
// ([A-Za-z_][A-Za-z0-9_.-]*) and unique in the module.
INDIM_API void indim_builder_begin(indim_builder *builder, const char *name);
// Ends it with |root| as its result. The computation ended last is the module's entry.
INDIM_API const indim_computation *indim_builder_end(indim_builder *builder, const indim_instr *root);
// Verifies the module and hands it over (destroy it with indim_module_destroy), or returns the first error.
INDIM_API INDIM_CHECKED indim_status indim_builder_finish(indim_builder *builder, indim_module **out_module);

// Leaves -------------------------------------------------------------------------------------------------------------

// Parameter |number| (0, 1, ... each once) of the current computation. |name| may be NULL.
INDIM_API const indim_instr *indim_build_parameter(indim_builder *builder, int64_t number, const indim_shape *shape,
                                                   const char *name);
// A copy of |literal|.
INDIM_API const indim_instr *indim_build_constant(indim_builder *builder, const indim_literal *literal);
// A scalar of any real type from a double (rounded as the type does; integers truncated) or from an integer.
INDIM_API const indim_instr *indim_build_scalar(indim_builder *builder, indim_type type, double value);
INDIM_API const indim_instr *indim_build_scalar_int(indim_builder *builder, indim_type type, int64_t value);
// out[i] = i[dim]
INDIM_API const indim_instr *indim_build_iota(indim_builder *builder, const indim_shape *shape, int64_t dim);

// Elementwise --------------------------------------------------------------------------------------------------------

// Any op of one operand whose result shape follows from it: INDIM_OP_ABS, INDIM_OP_EXPONENTIAL, INDIM_OP_COPY, ...
INDIM_API const indim_instr *indim_build_unary(indim_builder *builder, indim_op op, const indim_instr *operand);
// Any elementwise op of two: INDIM_OP_ADD ... INDIM_OP_ATAN2, INDIM_OP_COMPLEX. |dims| names, for each dimension of the
// lower-rank operand, the dimension of the other that it is matched with (broadcast.h); |dim_count| 0 for operands of
// equal rank or a scalar.
INDIM_API const indim_instr *indim_build_binary(indim_builder *builder, indim_op op, const indim_instr *lhs,
                                                const indim_instr *rhs, const int64_t *dims, int32_t dim_count);
// |direction| "EQ", "NE", "GE", "GT", "LE" or "LT"; |type| NULL for the type's own order, or "TOTALORDER" for floats.
INDIM_API const indim_instr *indim_build_compare(indim_builder *builder, const indim_instr *lhs, const indim_instr *rhs,
                                                 const char *direction, const char *type, const int64_t *dims,
                                                 int32_t dim_count);
// Scalar operands are broadcast to the shape of the others; other shapes must agree.
INDIM_API const indim_instr *indim_build_select(indim_builder *builder, const indim_instr *pred,
                                                const indim_instr *on_true, const indim_instr *on_false);
INDIM_API const indim_instr *indim_build_clamp(indim_builder *builder, const indim_instr *low,
                                               const indim_instr *operand, const indim_instr *high);
INDIM_API const indim_instr *indim_build_convert(indim_builder *builder, const indim_instr *operand, indim_type type);
INDIM_API const indim_instr *indim_build_bitcast_convert(indim_builder *builder, const indim_instr *operand,
                                                         indim_type type);
INDIM_API const indim_instr *indim_build_reduce_precision(indim_builder *builder, const indim_instr *operand,
                                                          int64_t exponent_bits, int64_t mantissa_bits);

// Shape and data movement -------------------------------------------------------------------------------------------

// New major dimensions of the given sizes: f32[3] with {2} is f32[2,3].
INDIM_API const indim_instr *indim_build_broadcast(indim_builder *builder, const indim_instr *operand,
                                                   const int64_t *sizes, int32_t count);
// To |sizes|, with dimension i of the operand lying along dims[i] (strictly increasing); a size 1 stretches.
INDIM_API const indim_instr *indim_build_broadcast_in_dim(indim_builder *builder, const indim_instr *operand,
                                                          const int64_t *sizes, int32_t rank, const int64_t *dims,
                                                          int32_t dim_count);
INDIM_API const indim_instr *indim_build_reshape(indim_builder *builder, const indim_instr *operand,
                                                 const int64_t *sizes, int32_t rank);
// out dimension i is operand dimension permutation[i].
INDIM_API const indim_instr *indim_build_transpose(indim_builder *builder, const indim_instr *operand,
                                                   const int64_t *permutation, int32_t count);
INDIM_API const indim_instr *indim_build_reverse(indim_builder *builder, const indim_instr *operand,
                                                 const int64_t *dims, int32_t count);
// |starts|, |limits|, |strides|: one per dimension; |strides| may be NULL for 1.
INDIM_API const indim_instr *indim_build_slice(indim_builder *builder, const indim_instr *operand,
                                               const int64_t *starts, const int64_t *limits, const int64_t *strides);
// |starts|: one integer scalar per dimension; |sizes| likewise.
INDIM_API const indim_instr *indim_build_dynamic_slice(indim_builder *builder, const indim_instr *operand,
                                                       const indim_instr *const *starts, const int64_t *sizes);
INDIM_API const indim_instr *indim_build_dynamic_update_slice(indim_builder *builder, const indim_instr *operand,
                                                              const indim_instr *update,
                                                              const indim_instr *const *starts);
// |low|, |high|, |interior|: one per dimension; |interior| may be NULL for 0.
INDIM_API const indim_instr *indim_build_pad(indim_builder *builder, const indim_instr *operand,
                                             const indim_instr *value, const int64_t *low, const int64_t *high,
                                             const int64_t *interior);
INDIM_API const indim_instr *indim_build_concatenate(indim_builder *builder, const indim_instr *const *operands,
                                                     int32_t count, int64_t dim);

// Reductions and products ------------------------------------------------------------------------------------------

// Folds |count| operands of the same dimensions together with as many scalar initial values; |to_apply| takes
// 2 * |count| scalars. The result is a tuple when |count| is above 1.
INDIM_API const indim_instr *indim_build_reduce(indim_builder *builder, const indim_instr *const *operands,
                                                const indim_instr *const *inits, int32_t count,
                                                const indim_computation *to_apply, const int64_t *dims,
                                                int32_t dim_count);
INDIM_API const indim_instr *indim_build_map(indim_builder *builder, const indim_instr *const *operands, int32_t count,
                                             const indim_computation *to_apply);

// The dimensions of a general dot; both lists of a kind have the same length.
typedef struct indim_dot_dims {
  const int64_t *lhs_contracting;
  const int64_t *rhs_contracting;
  int32_t contracting_count;
  const int64_t *lhs_batch;
  const int64_t *rhs_batch;
  int32_t batch_count;
} indim_dot_dims;
INDIM_API const indim_instr *indim_build_dot(indim_builder *builder, const indim_instr *lhs, const indim_instr *rhs,
                                             const indim_dot_dims *dims);

// Tuples and control flow -------------------------------------------------------------------------------------------

INDIM_API const indim_instr *indim_build_tuple(indim_builder *builder, const indim_instr *const *operands,
                                               int32_t count);
INDIM_API const indim_instr *indim_build_get_tuple_element(indim_builder *builder, const indim_instr *operand,
                                                           int64_t index);
INDIM_API const indim_instr *indim_build_call(indim_builder *builder, const indim_computation *to_apply,
                                              const indim_instr *const *operands, int32_t count);
INDIM_API const indim_instr *indim_build_while(indim_builder *builder, const indim_computation *condition,
                                               const indim_computation *body, const indim_instr *init);
// |index| is a pred scalar with two branches (true first) or an s32 scalar; operand i feeds branch i.
INDIM_API const indim_instr *indim_build_conditional(indim_builder *builder, const indim_instr *index,
                                                     const indim_computation *const *branches,
                                                     const indim_instr *const *operands, int32_t count);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_BUILDER_H
