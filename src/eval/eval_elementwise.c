// Elementwise operations: one loop, the same for all; what happens to an element is in scalar*.c. A scalar operand
// beside arrays (select's predicate, clamp's bounds) goes with every element.
#include <string.h>

#include "eval/evaluator.h"

// Computes elements first ... last - 1 of the result.
static void fill(const indim_scalar_op *op, int32_t count, indim_value *const *operands, indim_value *result,
                 int64_t first, int64_t last) {
  indim_type types[3];
  int64_t steps[3];
  for (int32_t i = 0; i < count; i++) {
    types[i] = operands[i]->shape->type;
    steps[i] = operands[i]->count == result->count ? 1 : 0;
  }
  for (int64_t k = first; k < last; k++) {
    indim_scalar inputs[3];
    for (int32_t i = 0; i < count; i++) {
      inputs[i] = indim_scalar_load(types[i], operands[i]->data, k * steps[i]);
    }
    indim_scalar_store(op->result, result->data, k, op->run(op, inputs));
  }
}

static indim_status fill_polling(indim_evaluator *e, const indim_scalar_op *op, int32_t count,
                                 indim_value *const *operands, indim_value *result) {
  enum { BETWEEN_POLLS = 1 << 16 };
  for (int64_t first = 0; first < result->count; first += BETWEEN_POLLS) {
    int64_t left = result->count - first;
    fill(op, count, operands, result, first, first + (left < BETWEEN_POLLS ? left : BETWEEN_POLLS));
    INDIM_TRY(indim_poll(e->cx));
  }
  return INDIM_OK;
}

static indim_status run_elements(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                 indim_value **out) {
  indim_scalar_op op;
  indim_value *result = NULL;
  if (!indim_scalar_prepare(instr, &op)) {
    indim_shape_text text;
    return indim_fail_instr(e->cx, INDIM_UNSUPPORTED, instr, "has no meaning for %s",
                            indim_shape_brief(instr->operands[0]->shape, &text));
  }
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  indim_status status = fill_polling(e, &op, instr->operand_count, operands, result);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}

indim_status indim_eval_unary(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  return run_elements(e, instr, operands, out);
}

indim_status indim_eval_binary(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                               indim_value **out) {
  return run_elements(e, instr, operands, out);
}

indim_status indim_eval_complex(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                indim_value **out) {
  return run_elements(e, instr, operands, out);
}

indim_status indim_eval_compare(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                indim_value **out) {
  return run_elements(e, instr, operands, out);
}

indim_status indim_eval_clamp(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  return run_elements(e, instr, operands, out);
}

indim_status indim_eval_convert(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                indim_value **out) {
  return run_elements(e, instr, operands, out);
}

indim_status indim_eval_reduce_precision(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                         indim_value **out) {
  return run_elements(e, instr, operands, out);
}

indim_status indim_eval_stochastic_convert(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                           indim_value **out) {
  return run_elements(e, instr, operands, out);
}

indim_status indim_eval_select(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                               indim_value **out) {
  if (operands[0]->shape->rank == 0) {
    *out = indim_value_retain(operands[operands[0]->data[0] != 0 ? 1 : 2]);
    return INDIM_OK;
  }
  return run_elements(e, instr, operands, out);
}

indim_status indim_eval_copy(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  (void)e;
  (void)instr;
  *out = indim_value_retain(operands[0]);
  return INDIM_OK;
}

// Bits ---------------------------------------------------------------------------------------------------------------

static int32_t stored_bits(indim_type type) { return type == INDIM_PRED ? 8 : indim_type_bits(type); }

// The same bits dealt out anew: element k of a narrower result is bits [k*b, (k+1)*b) of its source.
indim_status indim_eval_bitcast_convert(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                        indim_value **out) {
  indim_type from = operands[0]->shape->type;
  indim_type to = instr->shape->type;
  int64_t from_bits = stored_bits(from);
  int64_t to_bits = stored_bits(to);
  indim_value *result = NULL;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  if (from_bits % 8 == 0 && to_bits % 8 == 0) {
    size_t size = (size_t)(operands[0]->bytes < result->bytes ? operands[0]->bytes : result->bytes);
    memcpy(result->data, operands[0]->data, size);
  } else {
    // One of them is less than a byte, with a byte for each element.
    memset(result->data, 0, (size_t)result->bytes);
    int64_t from_stride = 8 * (int64_t)indim_type_bytes(from);
    int64_t to_stride = 8 * (int64_t)indim_type_bytes(to);
    for (int64_t bit = 0; bit < result->count * to_bits; bit++) {
      int64_t read = bit / from_bits * from_stride + bit % from_bits;
      int64_t write = bit / to_bits * to_stride + bit % to_bits;
      unsigned value = operands[0]->data[read / 8] >> (read % 8) & 1u;
      result->data[write / 8] = (unsigned char)(result->data[write / 8] | value << (write % 8));
    }
  }
  for (int64_t k = 0; to == INDIM_PRED && k < result->count; k++) {
    result->data[k] = result->data[k] != 0;
  }
  *out = result;
  return INDIM_OK;
}
