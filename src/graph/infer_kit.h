// What the shape rules share: asking for operands and lists, refusing with both sides, and making shapes. A function
// that returns a status has reported the refusal, at the instruction's place or the attribute's.
#ifndef INDIM_GRAPH_INFER_KIT_H
#define INDIM_GRAPH_INFER_KIT_H

#include "graph/infer.h"
#include "graph/op_type.h"

// A list of numbers in a message: "{0,2}", cut with "..." if long.
typedef struct indim_list_text {
  char text[160];
} indim_list_text;
const char *indim_list_brief(const int64_t *values, int64_t count, indim_list_text *out);

// A size in a message: "3", "<=3" or "?".
typedef struct indim_dim_text {
  char text[24];
} indim_dim_text;
const char *indim_dim_brief(const indim_shape *shape, int64_t dim, indim_dim_text *out);

// Fails at the attribute's place in the text (the instruction's if it has none); the message begins as that of
// indim_fail_instr does.
indim_status indim_fail_attr(indim_ctx *cx, const indim_instr *instr, indim_attr_id id, const char *format, ...)
    INDIM_PRINTF(4, 5);

static inline const indim_shape *indim_operand_shape(const indim_instr *instr, int32_t operand) {
  return instr->operands[operand]->shape;
}
static inline const char *indim_operand_name(const indim_instr *instr, int32_t operand) {
  return instr->operands[operand]->name.data;
}

// Operands -----------------------------------------------------------------------------------------------------------

// The operand is an array; the operands |first| to |last| are.
INDIM_CHECKED indim_status indim_operand_verify_array(indim_ctx *cx, const indim_instr *instr, int32_t operand);
INDIM_CHECKED indim_status indim_operands_verify_arrays(indim_ctx *cx, const indim_instr *instr, int32_t first,
                                                        int32_t last);
// An array of rank 0; |what| says what for: "the padding value".
INDIM_CHECKED indim_status indim_operand_verify_scalar(indim_ctx *cx, const indim_instr *instr, int32_t operand,
                                                       const char *what);
INDIM_CHECKED indim_status indim_operand_verify_token(indim_ctx *cx, const indim_instr *instr, int32_t operand);
// The operand's element type is of one of the classes (op_type.h).
INDIM_CHECKED indim_status indim_operand_verify_classes(indim_ctx *cx, const indim_instr *instr, int32_t operand,
                                                        unsigned classes);
// Two operands have one element type; mixed float precision is refused too.
INDIM_CHECKED indim_status indim_operands_verify_same_type(indim_ctx *cx, const indim_instr *instr, int32_t a,
                                                           int32_t b);
// Two operands have the same rank and sizes ("?" fits any): HLO broadcasts nothing by itself.
INDIM_CHECKED indim_status indim_operands_verify_same_dims(indim_ctx *cx, const indim_instr *instr, int32_t a,
                                                           int32_t b);

// Attributes ---------------------------------------------------------------------------------------------------------

enum { INDIM_DIMS_UNIQUE = 1, INDIM_DIMS_SORTED = 2 };  // SORTED: strictly increasing
// Every entry of the INTS attribute lies in 0..rank-1; |of| is the shape they number, for the message.
INDIM_CHECKED indim_status indim_attr_verify_dims(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                                  const indim_shape *of, unsigned flags);
// The set of them: bit d for dimension d. They must have been verified.
uint64_t indim_attr_mask(const indim_instr *instr, indim_attr_id id);
// The one entry of the INTS attribute, in 0..rank-1.
INDIM_CHECKED indim_status indim_attr_one_dim(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                              const indim_shape *of, int32_t *out_dim);

// Called computations ------------------------------------------------------------------------------------------------

// The computation that the attribute names takes |count| parameters.
INDIM_CHECKED indim_status indim_called_verify_count(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                                     const indim_computation *called, int32_t count);
// Its parameter |number| is compatible with |expected|, which |what| names: "operand 0 (x)".
INDIM_CHECKED indim_status indim_called_verify_parameter(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                                         const indim_computation *called, int32_t number,
                                                         const indim_shape *expected, const char *what);
// Its result is compatible with |expected|.
INDIM_CHECKED indim_status indim_called_verify_result(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                                      const indim_computation *called, const indim_shape *expected,
                                                      const char *what);

// Its parameter |number| is a scalar of the element type of the operand.
INDIM_CHECKED indim_status indim_called_verify_scalar(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                                      const indim_computation *called, int32_t number, int32_t operand);
// A combiner of |count| values, all scalars: takes the accumulators, then as many values, and returns the accumulators
// (one as it is, several as a tuple). Accumulator k has the element type of operand |first_accumulator| + k, value k that
// of operand |first_value| + k, and both are the same.
INDIM_CHECKED indim_status indim_combiner_verify(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                                 int32_t count, int32_t first_accumulator, int32_t first_value);
// A comparison: takes two scalars of each type, (a0, b0, a1, b1, ...), those of the operands 0 to |count| - 1, and returns
// pred[].
INDIM_CHECKED indim_status indim_comparator_verify(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                                   int32_t count);

// Shapes -------------------------------------------------------------------------------------------------------------

// An array shape with the default layout; a failure (rank, overflow) is reported at the instruction.
INDIM_CHECKED indim_status indim_instr_make_array(indim_ctx *cx, const indim_instr *instr, indim_type type,
                                                  int32_t rank, const int64_t *sizes, uint64_t dynamic,
                                                  indim_shape *out_shape);
// |shape| with another element type and its layout kept, but for an element size that belonged to the old type.
INDIM_CHECKED indim_status indim_instr_change_type(indim_ctx *cx, const indim_instr *instr, const indim_shape *shape,
                                                   indim_type type, indim_shape *out_shape);
// A tuple whose members are the given shapes themselves; the list of pointers is made in |arena|. Refuses trees too
// deep or with too many leaves, which shared members could otherwise make exponentially large.
INDIM_CHECKED indim_status indim_instr_make_tuple(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                                  const indim_shape *const *members, int64_t count,
                                                  indim_shape *out_shape);
// The declared shape, or a failure when there is none.
INDIM_CHECKED indim_status indim_instr_declared(indim_ctx *cx, const indim_instr *instr, const indim_shape **out_shape);

static inline bool indim_dim_is_dynamic(const indim_shape *shape, int64_t dim) {
  return (shape->dynamic >> dim & 1) != 0;
}
static inline void indim_dim_set(indim_shape *shape, int64_t dim, int64_t size, bool dynamic) {
  shape->sizes[dim] = size;
  shape->dynamic = (shape->dynamic & ~(UINT64_C(1) << dim)) | (uint64_t)dynamic << dim;
}
// Equal, or one of them "?".
static inline bool indim_size_fits(int64_t a, int64_t b) {
  return a == b || a == INDIM_UNBOUNDED || b == INDIM_UNBOUNDED;
}
static inline bool indim_shape_is_scalar_of(const indim_shape *shape, indim_type type) {
  return shape->type == type && shape->rank == 0;
}
// Joins what two fitting dimensions say of one size: N and <=N give <=N; N and ? give N.
void indim_dims_join(indim_shape *shape, const indim_shape *other);

// Windows -------------------------------------------------------------------------------------------------------------

// Places of the window along a dimension of |size|; false on overflow.
bool indim_window_count(int64_t size, const indim_window_dim *window, int64_t *out_count);

// Folds (reduce, reduce-window) ---------------------------------------------------------------------------------------

// 2N operands: N arrays of the same dimensions, then N scalars to start from.
INDIM_CHECKED indim_status indim_folded_verify(indim_ctx *cx, const indim_instr *instr, int32_t *out_count);
// The results: arrays of |dims| with the types that to_apply= returns; a tuple where it returns one.
INDIM_CHECKED indim_status indim_folded_make(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                             const indim_shape *dims, indim_shape *out_shape);

#endif  // INDIM_GRAPH_INFER_KIT_H
