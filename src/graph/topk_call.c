#include "graph/topk_call.h"

#include "graph/build.h"
#include "graph/dynamic.h"
#include "graph/infer_kit.h"

bool indim_is_topk_call(const indim_instr *instr) {
  return instr->op == INDIM_OP_CUSTOM_CALL &&
         indim_str_is(indim_instr_attr(instr, INDIM_ATTR_CUSTOM_CALL_TARGET)->value.text, "TopK");
}

// How many elements are taken: the last size of the values. -1: the result is no such tuple.
static int64_t count_of(const indim_shape *shape) {
  const indim_shape *values = indim_shape_is_tuple(shape) && shape->member_count == 2 ? shape->members[0] : NULL;
  return values != NULL && indim_shape_is_array(values) && values->rank > 0 ? values->sizes[values->rank - 1] : -1;
}

indim_status indim_topk_call_read(indim_ctx *cx, const indim_instr *instr, indim_topk_call *out) {
  int64_t count = count_of(instr->shape);
  indim_shape expected;
  indim_shape_text given_text;
  indim_shape_text text;
  if (instr->operand_count != 1) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "TopK takes one operand, here are %d", (int)instr->operand_count);
  }
  if (indim_instr_is_dynamic(instr)) {
    return indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "TopK is not computed of dynamic dimensions");
  }
  *out = (indim_topk_call){
      .topk = *instr,
      .attrs = {indim_build_attr_int(INDIM_ATTR_K, count), indim_build_attr_int(INDIM_ATTR_LARGEST, 1)}};
  out->topk.op = INDIM_OP_TOPK;
  out->topk.attrs = out->attrs;
  out->topk.attr_count = 2;
  if (count < 0) {
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "the result of TopK is %s, expected a tuple of the values and their places",
                            indim_shape_brief(instr->shape, &given_text));
  }
  indim_arena arena;
  indim_arena_init(&arena, cx);
  indim_status status = indim_infer_topk(cx, &out->topk, &arena, &expected);
  if (status == INDIM_OK && !indim_shape_compatible(instr->shape, &expected)) {
    status = indim_fail_instr(cx, INDIM_INVALID, instr, "the result of TopK is %s, expected %s",
                              indim_shape_brief(instr->shape, &given_text), indim_shape_brief(&expected, &text));
  }
  indim_arena_deinit(&arena);
  return status;
}
