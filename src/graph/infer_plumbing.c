// Shape rules of what only carries values: parameter, constant, iota, tuple, get-tuple-element, copies, tokens.
#include <inttypes.h>

#include "graph/infer_kit.h"

indim_status indim_infer_parameter(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                   indim_shape *out_shape) {
  (void)arena;
  const indim_shape *declared = NULL;
  INDIM_TRY(indim_instr_declared(cx, instr, &declared));
  if (instr->parameter_number < 0) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "parameter number %" PRId64 " is negative",
                            instr->parameter_number);
  }
  *out_shape = *declared;
  return INDIM_OK;
}

indim_status indim_infer_constant(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  if (instr->literal == NULL) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "has no value");
  }
  *out_shape = *indim_literal_shape(instr->literal);
  return INDIM_OK;
}

indim_status indim_infer_iota(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  const indim_shape *declared = NULL;
  INDIM_TRY(indim_instr_declared(cx, instr, &declared));
  indim_shape_text text;
  indim_shape_brief(declared, &text);
  unsigned numbers = INDIM_CLASS_INTEGER | INDIM_CLASS_FLOAT | INDIM_CLASS_COMPLEX;
  if ((indim_type_class(declared->type) & numbers) == 0) {
    indim_fail_instr(cx, INDIM_INVALID, instr, "the result is %s, expected an array of numbers", text.text);
    if (declared->type == INDIM_PRED) {
      indim_hint(cx, "compare an s32 iota instead");
    }
    return INDIM_INVALID;
  }
  int64_t dim = indim_instr_int(instr, INDIM_ATTR_IOTA_DIMENSION, 0);
  if (dim < 0 || dim >= declared->rank) {
    indim_fail_attr(cx, instr, INDIM_ATTR_IOTA_DIMENSION, "iota_dimension=%" PRId64 " is no dimension of %s", dim,
                    text.text);
    if (declared->rank == 0) {
      indim_hint(cx, "iota needs rank 1 at least; of a scalar it would be constant(0)");
    } else {
      indim_hint(cx, "its dimensions are numbered 0 to %d", (int)declared->rank - 1);
    }
    return INDIM_INVALID;
  }
  *out_shape = *declared;
  return INDIM_OK;
}

indim_status indim_infer_tuple(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)instr->operand_count, sizeof(indim_shape *), &memory));
  const indim_shape **members = memory;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    members[i] = indim_operand_shape(instr, i);
  }
  return indim_instr_make_tuple(cx, instr, arena, members, instr->operand_count, out_shape);
}

indim_status indim_infer_get_tuple_element(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                           indim_shape *out_shape) {
  (void)arena;
  const indim_shape *tuple = indim_operand_shape(instr, 0);
  indim_shape_text text;
  if (tuple->type != INDIM_TUPLE) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s, expected a tuple",
                            indim_operand_name(instr, 0), indim_shape_brief(tuple, &text));
  }
  int64_t index = indim_instr_int(instr, INDIM_ATTR_INDEX, 0);
  if (index < 0 || index >= tuple->member_count) {
    indim_fail_attr(cx, instr, INDIM_ATTR_INDEX, "index=%" PRId64 " is no member of operand 0 (%s), which is %s", index,
                    indim_operand_name(instr, 0), indim_shape_brief(tuple, &text));
    if (tuple->member_count == 0) {
      indim_hint(cx, "the tuple is empty");
    } else {
      indim_hint(cx, "its %" PRId64 " members are numbered 0 to %" PRId64, tuple->member_count,
                 tuple->member_count - 1);
    }
    return INDIM_INVALID;
  }
  *out_shape = *tuple->members[index];
  return INDIM_OK;
}

indim_status indim_infer_copy(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)cx;
  (void)arena;
  *out_shape = *indim_operand_shape(instr, 0);
  return INDIM_OK;
}

// The declared shape must be (destination, source, context): all it needs is that both are the operand's.
indim_status indim_infer_copy_start(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                    indim_shape *out_shape) {
  indim_shape context;
  INDIM_TRY(indim_instr_make_array(cx, instr, INDIM_U32, 0, NULL, 0, &context));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(arena, sizeof context, &memory));
  *(indim_shape *)memory = context;
  const indim_shape *members[] = {operand, operand, memory};
  return indim_instr_make_tuple(cx, instr, arena, members, 3, out_shape);
}

indim_status indim_infer_copy_done(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                   indim_shape *out_shape) {
  (void)arena;
  const indim_instr *start = instr->operands[0];
  if (start->op != INDIM_OP_COPY_START || start->shape->member_count == 0) {
    indim_shape_text text;
    return indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s of %s, expected a copy-start",
                            start->name.data, indim_shape_brief(start->shape, &text), indim_op_get(start->op)->text);
  }
  *out_shape = *start->shape->members[0];
  return INDIM_OK;
}

indim_status indim_infer_add_dependency(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                        indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operand_verify_token(cx, instr, 1));
  *out_shape = *indim_operand_shape(instr, 0);
  return INDIM_OK;
}

indim_status indim_infer_after_all(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                   indim_shape *out_shape) {
  (void)arena;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    INDIM_TRY(indim_operand_verify_token(cx, instr, i));
  }
  *out_shape = indim_shape_plain(INDIM_TOKEN);
  return INDIM_OK;
}
