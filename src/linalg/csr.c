#include "linalg/csr.h"

#include <inttypes.h>
#include <stdio.h>

#include "graph/dynamic.h"
#include "graph/infer_kit.h"

bool indim_is_csr_product(const indim_instr *instr) {
  return instr->op == INDIM_OP_CUSTOM_CALL &&
         indim_str_is(indim_instr_attr(instr, INDIM_ATTR_CUSTOM_CALL_TARGET)->value.text, "cpu_csr_sparse_dense_ffi");
}

static const char *const names[] = {"the elements", "the starts of the rows", "the columns", "the dense operand",
                                    "the result"};

// |shape| is an array of one of |types|, which |expected| names, and of |rank| dimensions.
static indim_status check_array(indim_ctx *cx, const indim_instr *instr, int32_t i, const indim_shape *shape,
                                const indim_type *types, int32_t count, const char *expected, int32_t rank) {
  indim_shape_text text;
  bool ok = indim_shape_is_array(shape) && shape->rank == rank;
  bool is_type = false;
  for (int32_t k = 0; ok && k < count; k++) {
    is_type = is_type || shape->type == types[k];
  }
  return ok && is_type ? INDIM_OK
                       : indim_fail_instr(cx, INDIM_INVALID, instr, "%s, %s, expected %s of rank %d", names[i],
                                          indim_shape_brief(shape, &text), expected, (int)rank);
}

static indim_status check_size(indim_ctx *cx, const indim_instr *instr, int32_t i, const indim_shape *shape,
                               int32_t dim, int64_t expected, const char *why) {
  indim_shape_text text;
  return shape->sizes[dim] == expected
             ? INDIM_OK
             : indim_fail_instr(cx, INDIM_INVALID, instr, "%s, %s: dimension %d should have the size %" PRId64 ", %s",
                                names[i], indim_shape_brief(shape, &text), (int)dim, expected, why);
}

indim_status indim_csr_verify(indim_ctx *cx, const indim_instr *instr) {
  static const indim_type elements[] = {INDIM_F32, INDIM_F64, INDIM_C64, INDIM_C128, INDIM_S32, INDIM_S64};
  static const indim_type indices[] = {INDIM_S32, INDIM_S64};
  const indim_shape *of[5];
  if (instr->operand_count != 4) {
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "cpu_csr_sparse_dense_ffi takes 4 operands (elements, starts of rows, columns, the dense "
                            "operand), here are %d",
                            (int)instr->operand_count);
  }
  if (indim_instr_is_dynamic(instr)) {
    return indim_fail_instr(cx, INDIM_UNSUPPORTED, instr,
                            "cpu_csr_sparse_dense_ffi is not computed of dynamic dimensions");
  }
  for (int32_t i = 0; i < 5; i++) {
    of[i] = i < 4 ? indim_operand_shape(instr, i) : instr->shape;
  }
  INDIM_TRY(check_array(cx, instr, 0, of[0], elements, 6, "f32, f64, c64, c128, s32 or s64", 1));
  INDIM_TRY(check_array(cx, instr, 1, of[1], indices, 2, "s32 or s64", 1));
  INDIM_TRY(check_array(cx, instr, 2, of[2], &of[1]->type, 1, "the type of the starts", 1));
  INDIM_TRY(check_size(cx, instr, 2, of[2], 0, of[0]->sizes[0], "one for each element"));
  int32_t rank = indim_shape_is_array(of[3]) && of[3]->rank == 2 ? 2 : 1;
  INDIM_TRY(check_array(cx, instr, 3, of[3], &of[0]->type, 1, "the type of the elements", rank));
  INDIM_TRY(check_array(cx, instr, 4, of[4], &of[0]->type, 1, "the type of the elements", rank));
  INDIM_TRY(check_size(cx, instr, 1, of[1], 0, of[4]->sizes[0] + 1, "one more than rows of the result"));
  return rank == 1 ? INDIM_OK
                   : check_size(cx, instr, 4, of[4], 1, of[3]->sizes[1], "as many columns as the dense operand");
}
