// Shape rules of the transforms and solvers: fft, triangular-solve, cholesky, batch normalisation.
#include <inttypes.h>

#include "graph/fft.h"
#include "graph/infer_kit.h"

// Real input for RFFT, complex for the others.
static indim_status verify_fft_type(indim_ctx *cx, const indim_instr *instr, bool real) {
  const indim_shape *operand = indim_operand_shape(instr, 0);
  bool ok = real ? operand->type == INDIM_F32 || operand->type == INDIM_F64 : indim_type_is_complex(operand->type);
  if (ok) {
    return INDIM_OK;
  }
  indim_shape_text text;
  indim_str word = indim_instr_word(instr, INDIM_ATTR_FFT_TYPE);
  indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s, but %.*s takes %s", indim_operand_name(instr, 0),
                   indim_shape_brief(operand, &text), (int)word.size, word.data, real ? "f32 or f64" : "c64 or c128");
  if (real) {
    indim_hint(cx, "convert it to f32 first; complex input goes through FFT");
  } else {
    indim_hint(cx, "RFFT takes real input");
  }
  return INDIM_INVALID;
}

// RFFT transforms whole dimensions; IRFFT too, but for the last, which has length / 2 + 1 entries.
static indim_status verify_fft_length(indim_ctx *cx, const indim_instr *instr, int64_t dim, int64_t length,
                                      bool halved) {
  const indim_shape *operand = indim_operand_shape(instr, 0);
  int64_t expected = halved ? length / 2 + 1 : length;
  if (indim_size_fits(operand->sizes[dim], expected) || (length == 0 && operand->sizes[dim] == 0)) {
    return INDIM_OK;
  }
  indim_shape_text text;
  indim_str word = indim_instr_word(instr, INDIM_ATTR_FFT_TYPE);
  return indim_fail_attr(cx, instr, INDIM_ATTR_FFT_LENGTH,
                         "%.*s of length %" PRId64 " needs size %" PRId64 " in dimension %" PRId64
                         " of operand 0 (%s), which is %s",
                         (int)word.size, word.data, length, expected, dim, indim_operand_name(instr, 0),
                         indim_shape_brief(operand, &text));
}

indim_status indim_infer_fft(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  bool real = indim_fft_kind_of(instr) == INDIM_FFT_RFFT;
  bool inverse_real = indim_fft_kind_of(instr) == INDIM_FFT_IRFFT;
  INDIM_TRY(verify_fft_type(cx, instr, real));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  int64_t count = 0;
  const int64_t *lengths = indim_instr_ints(instr, INDIM_ATTR_FFT_LENGTH, &count);
  indim_shape_text text;
  if (count < 1 || count > 3 || count > operand->rank) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_FFT_LENGTH,
                           "fft_length= has length %" PRId64 ", expected 1 to %d for operand 0 (%s), which is %s",
                           count, operand->rank < 3 ? (int)operand->rank : 3, indim_operand_name(instr, 0),
                           indim_shape_brief(operand, &text));
  }
  for (int64_t i = 0; i < count; i++) {
    if (lengths[i] < 0) {
      return indim_fail_attr(cx, instr, INDIM_ATTR_FFT_LENGTH, "length %" PRId64 " is negative", lengths[i]);
    }
    if (real || inverse_real) {
      bool halved = inverse_real && i == count - 1;
      INDIM_TRY(verify_fft_length(cx, instr, operand->rank - count + i, lengths[i], halved));
    }
  }
  indim_shape result = *operand;
  int64_t last = lengths[count - 1];
  int32_t dim = operand->rank - 1;
  bool dynamic = indim_dim_is_dynamic(operand, dim) && operand->sizes[dim] != INDIM_UNBOUNDED;
  if (real) {
    indim_dim_set(&result, dim, last == 0 ? 0 : last / 2 + 1, dynamic);
    return indim_instr_change_type(cx, instr, &result, indim_type_complex_of(operand->type), out_shape);
  }
  if (inverse_real) {
    indim_dim_set(&result, dim, last, dynamic);
    return indim_instr_change_type(cx, instr, &result, indim_type_component_of(operand->type), out_shape);
  }
  *out_shape = result;
  return INDIM_OK;
}

// A batch of square matrices of floats or complex numbers.
static indim_status verify_square(indim_ctx *cx, const indim_instr *instr) {
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 0, INDIM_CLASS_FLOAT | INDIM_CLASS_COMPLEX));
  const indim_shape *a = indim_operand_shape(instr, 0);
  if (a->rank < 2 || !indim_size_fits(a->sizes[a->rank - 1], a->sizes[a->rank - 2])) {
    indim_shape_text text;
    return indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s, expected square matrices: %s",
                            indim_operand_name(instr, 0), indim_shape_brief(a, &text),
                            a->rank < 2 ? "rank 2 at least" : "the last two sizes equal");
  }
  return INDIM_OK;
}

indim_status indim_infer_cholesky(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(verify_square(cx, instr));
  *out_shape = *indim_operand_shape(instr, 0);
  return INDIM_OK;
}

indim_status indim_infer_triangular_solve(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                          indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(verify_square(cx, instr));
  INDIM_TRY(indim_operand_verify_array(cx, instr, 1));
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, 1));
  const indim_shape *a = indim_operand_shape(instr, 0);
  const indim_shape *b = indim_operand_shape(instr, 1);
  indim_shape_text a_text;
  indim_shape_text b_text;
  indim_shape_brief(a, &a_text);
  indim_shape_brief(b, &b_text);
  const char *a_name = indim_operand_name(instr, 0);
  const char *b_name = indim_operand_name(instr, 1);
  if (a->rank != b->rank) {
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "operands of different rank: operand 0 (%s) is %s, operand 1 (%s) is %s", a_name,
                            a_text.text, b_name, b_text.text);
  }
  for (int32_t i = 0; i < a->rank - 2; i++) {
    if (!indim_size_fits(a->sizes[i], b->sizes[i])) {
      return indim_fail_instr(cx, INDIM_INVALID, instr,
                              "batches differ in dimension %d: operand 0 (%s) is %s, operand 1 (%s) is %s", (int)i,
                              a_name, a_text.text, b_name, b_text.text);
    }
  }
  bool left = indim_instr_bool(instr, INDIM_ATTR_LEFT_SIDE, false);
  int32_t dim = left ? b->rank - 2 : b->rank - 1;
  if (!indim_size_fits(a->sizes[dim], b->sizes[dim])) {
    indim_fail_instr(cx, INDIM_INVALID, instr,
                     "size %" PRId64 " of operand 0 (%s), which is %s, does not fit dimension %d of operand 1 (%s), "
                     "which is %s",
                     a->sizes[dim], a_name, a_text.text, (int)dim, b_name, b_text.text);
    indim_hint(cx, "left_side=%s solves %s", left ? "true" : "false", left ? "a x = b" : "x a = b");
    return INDIM_INVALID;
  }
  *out_shape = *b;
  return INDIM_OK;
}

// Batch normalisation ------------------------------------------------------------------------------------------------

// An operand of rank 1 with one entry for each feature, of the element type of operand 0.
static indim_status verify_feature_vector(indim_ctx *cx, const indim_instr *instr, int32_t operand, int32_t feature) {
  INDIM_TRY(indim_operand_verify_array(cx, instr, operand));
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, operand));
  const indim_shape *input = indim_operand_shape(instr, 0);
  const indim_shape *vector = indim_operand_shape(instr, operand);
  if (vector->rank != 1 || !indim_size_fits(vector->sizes[0], input->sizes[feature])) {
    indim_shape_text input_text;
    indim_shape_text vector_text;
    indim_dim_text size;
    return indim_fail_instr(
        cx, INDIM_INVALID, instr,
        "operand %d (%s) is %s, expected a vector of size %s, one entry for each of the features in "
        "dimension %d of operand 0 (%s), which is %s",
        (int)operand, indim_operand_name(instr, operand), indim_shape_brief(vector, &vector_text),
        indim_dim_brief(input, feature, &size), (int)feature, indim_operand_name(instr, 0),
        indim_shape_brief(input, &input_text));
  }
  return INDIM_OK;
}

static indim_status verify_batch_norm(indim_ctx *cx, const indim_instr *instr, int32_t last_vector,
                                      int32_t *out_feature) {
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 0, INDIM_CLASS_FLOAT));
  const indim_shape *input = indim_operand_shape(instr, 0);
  int64_t feature = indim_instr_int(instr, INDIM_ATTR_FEATURE_INDEX, 0);
  if (feature < 0 || feature >= input->rank) {
    indim_shape_text text;
    return indim_fail_attr(cx, instr, INDIM_ATTR_FEATURE_INDEX,
                           "feature_index=%" PRId64 " is no dimension of operand 0 (%s), which is %s", feature,
                           indim_operand_name(instr, 0), indim_shape_brief(input, &text));
  }
  for (int32_t i = 1; i <= last_vector; i++) {
    INDIM_TRY(verify_feature_vector(cx, instr, i, (int32_t)feature));
  }
  *out_feature = (int32_t)feature;
  return INDIM_OK;
}

// (operand's shape, vector of features, vector of features)
static indim_status make_three(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, int32_t feature,
                               indim_shape *out_shape) {
  const indim_shape *input = indim_operand_shape(instr, 0);
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_shape), &memory));
  indim_shape *vector = memory;
  uint64_t dynamic = indim_dim_is_dynamic(input, feature);
  INDIM_TRY(indim_instr_make_array(cx, instr, input->type, 1, &input->sizes[feature], dynamic, vector));
  const indim_shape *members[] = {input, vector, vector};
  return indim_instr_make_tuple(cx, instr, arena, members, 3, out_shape);
}

indim_status indim_infer_batch_norm_training(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                             indim_shape *out_shape) {
  int32_t feature = 0;
  INDIM_TRY(verify_batch_norm(cx, instr, 2, &feature));
  return make_three(cx, instr, arena, feature, out_shape);
}

indim_status indim_infer_batch_norm_inference(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                              indim_shape *out_shape) {
  (void)arena;
  int32_t feature = 0;
  INDIM_TRY(verify_batch_norm(cx, instr, 4, &feature));
  *out_shape = *indim_operand_shape(instr, 0);
  return INDIM_OK;
}

indim_status indim_infer_batch_norm_grad(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                         indim_shape *out_shape) {
  int32_t feature = 0;
  INDIM_TRY(verify_batch_norm(cx, instr, 3, &feature));
  INDIM_TRY(indim_operand_verify_array(cx, instr, 4));
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, 4));
  INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 0, 4));
  return make_three(cx, instr, arena, feature, out_shape);
}
