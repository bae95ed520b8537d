// A custom call of LAPACK's by another name: the call of today on its arrays, and zeros for working arrays.
#include "expand/lapack_alias.h"

#include "linalg/alias.h"

// Copies that last as long as the expansion.
static indim_attr copy_attr(indim_expander *x, const indim_attr *attr) {
  if (attr->id != INDIM_ATTR_OPERAND_LAYOUT_CONSTRAINTS) {
    return indim_build_attr_word(x->b, attr->id, attr->value.text.data);
  }
  indim_attr copy = *attr;
  void *memory = NULL;
  size_t count = (size_t)attr->count;
  if (x->b->status == INDIM_OK) {
    indim_build_fail(x->b, indim_arena_array(&x->b->module->arena, count, sizeof *attr->value.shapes, &memory));
  }
  copy.value.shapes = memory;
  const indim_shape **shapes = memory;
  for (size_t i = 0; i < count && x->b->status == INDIM_OK; i++) {
    indim_build_fail(x->b, indim_module_intern(x->b->module, attr->value.shapes[i], &shapes[i]));
  }
  return copy;
}

static value call_today(indim_expander *x, const indim_linalg_alias *alias) {
  value arrays[INDIM_LINALG_MOST_ARRAYS];
  indim_attr attrs[sizeof alias->attrs / sizeof alias->attrs[0]];
  const indim_instr *today = &alias->today;
  for (int32_t i = 0; i < today->operand_count; i++) {
    arrays[i] = x->operands[alias->operands[i]];
  }
  for (int32_t i = 0; i < today->attr_count; i++) {
    attrs[i] = copy_attr(x, &today->attrs[i]);
  }
  return indim_build_emit(x->b, today->op, today->shape, arrays, today->operand_count, attrs, today->attr_count);
}

value indim_expand_lapack_alias(indim_expander *x) {
  indim_linalg_alias alias;
  indim_linalg_call call;
  value results[INDIM_LINALG_MOST_ALIAS_RESULTS];
  indim_status status = indim_linalg_read_alias(x->cx, x->instr, &alias, &call);
  if (status != INDIM_OK) {
    return indim_expand_fail(x, status);
  }
  indim_expand_begin(x);
  value today = call_today(x, &alias);
  if (!indim_shape_is_tuple(x->instr->shape)) {
    return today;
  }
  bool is_tuple = indim_shape_is_tuple(alias.today.shape);
  for (int32_t i = 0; i < alias.result_count; i++) {
    int32_t k = alias.results[i];
    results[i] = k < 0      ? indim_expand_zeros(x, x->instr->shape->members[i])
                 : is_tuple ? indim_build_get_tuple_element(x->b, today, k)
                            : today;
  }
  return indim_build_tuple(x->b, results, alias.result_count);
}
