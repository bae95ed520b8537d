// Literals: values of arrays and tuples. An array literal holds bytes in its shape's layout: minor_to_major, padding
// (filled with the padding value), tiles and element size included; the storage is indim_shape_storage_bytes long.
// Elements are the type's own little-endian bits; sub-byte types and pred take one byte each, low bits used, unless
// the layout packs them (E).
#ifndef INDIM_LITERAL_H
#define INDIM_LITERAL_H

#include "indim/index.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct indim_literal indim_literal;

// Making: one literal has one owner, who destroys it. Destroy it before its context.
//
// A literal of zeros (all bits zero; pred false) of an array, token or tuple shape (tokens have no data; opaque,
// buffers and unbounded dynamic dimensions are refused; bounded ones are stored at their bound with a run-time size, at
// first the bound). The shape is copied, a missing layout becomes the default. Errors: INVALID shape, an element size E
// too small for the type, lowest or highest as padding of complex numbers, LIMIT or NO_MEMORY.
INDIM_API INDIM_CHECKED indim_status indim_literal_create(indim_ctx *cx, const indim_shape *shape,
                                                          indim_literal **out_literal);
// An array literal whose values are missing, as of "f32[1000] {...}"; no storage is taken.
INDIM_API INDIM_CHECKED indim_status indim_literal_create_elided(indim_ctx *cx, const indim_shape *shape,
                                                                 indim_literal **out_literal);
// A tuple literal that takes over |count| literals (on success only; none may belong to another tuple).
INDIM_API INDIM_CHECKED indim_status indim_literal_create_tuple(indim_ctx *cx, indim_literal *const *members,
                                                                int64_t count, indim_literal **out_literal);
// A deep copy, made with |cx|.
INDIM_API INDIM_CHECKED indim_status indim_literal_copy(indim_ctx *cx, const indim_literal *literal,
                                                        indim_literal **out_literal);
INDIM_API void indim_literal_destroy(indim_literal *literal);  // NULL allowed

// Looking inside.
INDIM_API const indim_shape *indim_literal_shape(const indim_literal *literal);
// Storage of an array literal and its length in bytes; NULL and 0 for tuples and tokens, and for elided literals.
INDIM_API const void *indim_literal_data(const indim_literal *literal);
INDIM_API void *indim_literal_mutable_data(indim_literal *literal);
INDIM_API int64_t indim_literal_bytes(const indim_literal *literal);
// Member of a tuple literal, owned by the tuple; NULL outside 0..count-1 and for arrays.
INDIM_API const indim_literal *indim_literal_member(const indim_literal *literal, int64_t member);
INDIM_API indim_literal *indim_literal_mutable_member(indim_literal *literal, int64_t member);
// Whether the values are missing because the text said {...}; for a tuple, whether any member's are. Functions that
// need values refuse an elided literal with INDIM_INVALID.
INDIM_API bool indim_literal_is_elided(const indim_literal *literal);
// The run-time size of a bounded dynamic dimension (0 <= size <= bound); the static size of any other. Setting one
// makes the dimension dynamic in the literal's shape; elements beyond it stay stored but no longer count.
INDIM_API int64_t indim_literal_dynamic_size(const indim_literal *literal, int32_t dim);
INDIM_API INDIM_CHECKED indim_status indim_literal_set_dynamic_size(indim_ctx *cx, indim_literal *literal, int32_t dim,
                                                                    int64_t size);

// Elements by index, widened: integers and pred as 64 bits (sign- or zero-extended), floats as double (f16, bf16, fp8,
// ... are exactly representable), complex as two doubles. Setting rounds as the type does.
// |out_imag| may be NULL. INDIM_INVALID for a wrong class of type, an index out of bounds (of the bound, where a
// dimension is dynamic), or an elided literal.
INDIM_API INDIM_CHECKED indim_status indim_literal_get_int(indim_ctx *cx, const indim_literal *literal,
                                                           const int64_t *index, int64_t *out_value);
INDIM_API INDIM_CHECKED indim_status indim_literal_set_int(indim_ctx *cx, indim_literal *literal, const int64_t *index,
                                                           int64_t value);
INDIM_API INDIM_CHECKED indim_status indim_literal_get_float(indim_ctx *cx, const indim_literal *literal,
                                                             const int64_t *index, double *out_real, double *out_imag);
INDIM_API INDIM_CHECKED indim_status indim_literal_set_float(indim_ctx *cx, indim_literal *literal,
                                                             const int64_t *index, double real, double imag);

// Copies the values of a dense row-major array without padding (one byte per pred and sub-byte element) into the
// literal's layout, filling its padding; and back. |bytes| must be the element count times the type's bytes.
INDIM_API INDIM_CHECKED indim_status indim_literal_write_dense(indim_ctx *cx, indim_literal *literal, const void *dense,
                                                               int64_t bytes);
INDIM_API INDIM_CHECKED indim_status indim_literal_read_dense(indim_ctx *cx, const indim_literal *literal, void *dense,
                                                              int64_t bytes);

// The same values in the layout of |shape|; padding is filled with its value. |shape| must be compatible with the
// literal's, tuples too; dynamic dimensions and run-time sizes stay the literal's.
INDIM_API INDIM_CHECKED indim_status indim_literal_relayout(indim_ctx *cx, const indim_literal *literal,
                                                            const indim_shape *shape, indim_literal **out_literal);
// The same dimensions and layout with every element converted; an element size E goes unless |type| is
// sub-byte and fits. INDIM_UNSUPPORTED for complex to real and for what is no array.
INDIM_API INDIM_CHECKED indim_status indim_literal_convert(indim_ctx *cx, const indim_literal *literal, indim_type type,
                                                           indim_literal **out_literal);

// Text ------------------------------------------------------------------------------------------------------------

enum {
  INDIM_LITERAL_SHAPE = 1 << 0,     // "f32[2] {1, 2}", not "{1, 2}"
  INDIM_LITERAL_LAYOUT = 1 << 1,    // "f32[2]{0} {1, 2}"
  INDIM_LITERAL_ONE_LINE = 1 << 2,  // blanks where the other form breaks lines
};
// Writes XLA's literal text; an elided literal's values print as {...}.
INDIM_API void indim_literal_print(const indim_literal *literal, unsigned flags, indim_buffer *out);
// Reads a whole text as a literal with its shape: "f32[2,2] {{1, 2}, {3, 4}}", "(s32[] 1, f32[] 2)".
INDIM_API INDIM_CHECKED indim_status indim_literal_parse(indim_ctx *cx, indim_str text, indim_literal **out_literal);

// Comparing -------------------------------------------------------------------------------------------------------

// Same tree, types, run-time sizes, and every element the same bits; layouts do not matter. Elided equals nothing.
INDIM_API bool indim_literal_equal(const indim_literal *a, const indim_literal *b);

// How near is near: an element passes when it is bitwise equal or |abs| or |rel| or |ulps| admits it (ulps 0: not
// used; counted in values of the element type, -0 and 0 being one). With |equal_nans| (the usual choice) any two NaNs
// are equal. Integers and pred must be equal whatever the tolerance. A NaN or an infinity that stands on one side only
// never passes, ulps or not (XLA lets those pass). Both parts of a complex number must pass.
typedef struct indim_tolerance {
  double abs;
  double rel;
  int64_t ulps;
  bool equal_nans;
} indim_tolerance;

// Room for the text of one element.
#define INDIM_ELEMENT_TEXT_SIZE 80

typedef struct indim_mismatch {
  int64_t count;       // elements that do not pass
  int64_t elements;    // compared
  int64_t worst_leaf;  // leaf number of the worst element, in the order of the tree; -1 when no element was compared
  int64_t worst_index[INDIM_MAX_RANK];
  double worst_expected[2];  // real and imaginary (or the integer) of the worst element
  double worst_actual[2];
  char worst_expected_text[INDIM_ELEMENT_TEXT_SIZE];  // the same as literal text, exactly
  char worst_actual_text[INDIM_ELEMENT_TEXT_SIZE];
  double worst_abs;
  double worst_rel;   // infinite where 0 was expected and something else came
  double worst_ulps;  // of integers their distance; infinite when a NaN or infinity stands on one side only
} indim_mismatch;

// Compares element by element, up to the run-time sizes. INDIM_OK whenever tree, types, ranks and run-time sizes agree,
// |*out_mismatch| tells the rest; INDIM_INVALID otherwise, and for elided literals. "Worst" is the largest relative
// error among those that do not pass (the larger absolute one among equals); if all pass, among all.
INDIM_API INDIM_CHECKED indim_status indim_literal_compare(indim_ctx *cx, const indim_literal *expected,
                                                           const indim_literal *actual,
                                                           const indim_tolerance *tolerance,
                                                           indim_mismatch *out_mismatch);
// One line for people: count, percentage, the worst element with its place, both values and the distances.
INDIM_API void indim_mismatch_print(const indim_mismatch *mismatch, const indim_literal *expected, indim_buffer *out);

// Files -----------------------------------------------------------------------------------------------------------

// NumPy's .npy, formats 1.0 to 3.0, C and Fortran order, either byte order; bf16, fp8, fp4, int4 ... as ml_dtypes
// writes them (their dtype name, or raw |V1|, |V2| with |type|). The literal has the layout of the file's order.
// |type| is the element type to take raw void data as, or INDIM_TYPE_INVALID.
INDIM_API INDIM_CHECKED indim_status indim_npy_parse(indim_ctx *cx, const void *bytes, size_t size, indim_type type,
                                                     indim_literal **out_literal);
// The bytes of a .npy file of an array literal (format 1.0; row-major, or Fortran order when the layout is ascending).
INDIM_API INDIM_CHECKED indim_status indim_npy_print(indim_ctx *cx, const indim_literal *literal, indim_buffer *out);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_LITERAL_H
