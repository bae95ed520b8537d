// From an instruction to its result shape: what every op needs (operands counted, attributes there, words known), then
// the op's own rule, found through the infer column of ops.def.
#include "graph/infer.h"

#include <inttypes.h>

#include "graph/infer_kit.h"
#include "graph/word.h"

static indim_infer_fn *const rules[INDIM_OP_COUNT] = {
#define INDIM_OP(name, text, least, most, types, shape, infer, eval, meaning) [INDIM_OP_##name] = indim_infer_##infer,
#include "indim/ops.def"
};

static indim_status verify_operands(indim_ctx *cx, const indim_instr *instr) {
  const indim_op_info *info = indim_op_get(instr->op);
  int32_t count = instr->operand_count;
  if (count < info->least || (info->most >= 0 && count > info->most)) {
    const char *more = info->most < 0 ? " or more" : "";
    return indim_fail_instr(cx, INDIM_INVALID, instr, "takes %d%s operand%s, has %d", (int)info->least, more,
                            info->least == 1 && info->most == 1 ? "" : "s", (int)count);
  }
  for (int32_t i = 0; i < count; i++) {
    if (instr->operands[i]->shape == NULL) {
      return indim_fail_instr(cx, INDIM_INTERNAL, instr, "operand %d (%s) has no shape yet", (int)i,
                              indim_operand_name(instr, i));
    }
  }
  return INDIM_OK;
}

static indim_status verify_word(indim_ctx *cx, const indim_instr *instr, indim_attr_id id, indim_str word) {
  if (indim_word_is_known(id, word)) {
    return INDIM_OK;
  }
  char list[300];
  indim_fail_attr(cx, instr, id, "%s=%.*s is not known", indim_attr_text(id), (int)(word.size < 64 ? word.size : 64),
                  word.data);
  indim_hint(cx, "it is one of %s", indim_word_list(id, list, sizeof list));
  return INDIM_INVALID;
}

static indim_status verify_called(indim_ctx *cx, const indim_instr *instr, const indim_attr *attr) {
  for (int64_t i = 0; i < attr->count; i++) {
    const indim_computation *called = attr->value.computations[i];
    if (called == NULL || called->root == NULL || called->root->shape == NULL) {
      return indim_fail_attr(cx, instr, attr->id, "%s= names a computation that is not complete",
                             indim_attr_text(attr->id));
    }
  }
  return INDIM_OK;
}

static indim_status verify_attrs(indim_ctx *cx, const indim_instr *instr) {
  int32_t cursor = 0;
  bool required = false;
  indim_attr_id id = INDIM_ATTR_DIMENSIONS;
  while (indim_attr_next(instr->op, &cursor, &id, &required) && !(required && indim_instr_attr(instr, id) == NULL)) {
    required = false;
  }
  if (required) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "attribute %s= is missing", indim_attr_text(id));
  }
  for (int32_t i = 0; i < instr->attr_count; i++) {
    const indim_attr *attr = &instr->attrs[i];
    indim_attr_kind kind = indim_attr_kind_of(attr->id);
    if (kind == INDIM_KIND_WORD) {
      INDIM_TRY(verify_word(cx, instr, attr->id, attr->value.text));
    } else if (kind == INDIM_KIND_WORDS) {
      for (int64_t k = 0; k < attr->count; k++) {
        INDIM_TRY(verify_word(cx, instr, attr->id, attr->value.words[k]));
      }
    } else if (kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS) {
      INDIM_TRY(verify_called(cx, instr, attr));
    }
  }
  return INDIM_OK;
}

indim_status indim_infer_shape(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  INDIM_TRY(verify_operands(cx, instr));
  INDIM_TRY(verify_attrs(cx, instr));
  return rules[instr->op](cx, instr, arena, out_shape);
}
