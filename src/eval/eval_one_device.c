// Collectives over groups of one device, and copies and calls that are begun and ended: the operands, as they are or in a
// tuple with what else is stated.
#include <string.h>

#include "eval/evaluator.h"
#include "graph/one_device.h"

// Zeros of any shape; as deep as the shape, whose depth is limited.
static indim_status new_zeros(indim_evaluator *e, const indim_shape *shape, indim_value **out);

static void release_all(indim_evaluator *e, indim_value **values, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    indim_value_release(e->cx, values[i]);
  }
}

// A tuple of |members|, whose references it takes over whatever the outcome.
static indim_status take_tuple(indim_evaluator *e, const indim_shape *shape, indim_value **members, indim_value **out) {
  indim_status status = indim_value_new_tuple(e->cx, shape, members, out);
  if (status != INDIM_OK) {
    release_all(e, members, shape->member_count);
  }
  return status;
}

static indim_status new_zero_tuple(indim_evaluator *e, const indim_shape *shape, indim_value **out) {
  size_t bytes = (size_t)shape->member_count * sizeof *out;
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(e->cx, bytes, &memory));
  indim_value **members = memory;
  indim_status status = INDIM_OK;
  for (int64_t i = 0; i < shape->member_count && status == INDIM_OK; i++) {
    status = new_zeros(e, shape->members[i], &members[i]);
  }
  if (status == INDIM_OK) {
    status = take_tuple(e, shape, members, out);
  } else {
    release_all(e, members, shape->member_count);
  }
  indim_free(e->cx, memory, bytes);
  return status;
}

static indim_status new_zeros(indim_evaluator *e, const indim_shape *shape, indim_value **out) {
  if (shape->type == INDIM_TUPLE) {
    return new_zero_tuple(e, shape, out);
  }
  INDIM_TRY(indim_value_new(e->cx, shape, out));
  if ((*out)->bytes > 0) {
    memset((*out)->data, 0, (size_t)(*out)->bytes);
  }
  return INDIM_OK;
}

// One operand as it is, several, or one that is stated as a tuple, as a tuple.
static indim_status operands_as(indim_evaluator *e, const indim_instr *instr, const indim_shape *shape,
                                indim_value **operands, indim_value **out) {
  if (instr->operand_count == 1 && indim_shape_compatible(instr->operands[0]->shape, shape)) {
    *out = indim_value_retain(operands[0]);
    return INDIM_OK;
  }
  INDIM_TRY(indim_value_new_tuple(e->cx, shape, operands, out));
  for (int32_t i = 0; i < instr->operand_count; i++) {
    (void)indim_value_retain(operands[i]);
  }
  return INDIM_OK;
}

// (|operands|, |result|, zeros for the rest of what a start is stated to return); takes both references over.
static indim_status start_with(indim_evaluator *e, const indim_shape *shape, indim_value *operands, indim_value *result,
                               indim_value **out) {
  indim_status status = new_zero_tuple(e, shape, out);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, operands);
    indim_value_release(e->cx, result);
    return status;
  }
  release_all(e, (*out)->members, 2);
  (*out)->members[0] = operands;
  (*out)->members[1] = result;
  return INDIM_OK;
}

// Copies and calls -----------------------------------------------------------------------------------------------------

indim_status indim_eval_copy_start(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                   indim_value **out) {
  return start_with(e, instr->shape, indim_value_retain(operands[0]), indim_value_retain(operands[0]), out);
}

indim_status indim_eval_copy_done(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                  indim_value **out) {
  (void)e;
  (void)instr;
  *out = indim_value_retain(operands[0]->members[0]);
  return INDIM_OK;
}

// ((the operands), what the computation gives, the context). It runs here and now.
indim_status indim_eval_async_start(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                    indim_value **out) {
  indim_value *given = NULL;
  indim_value *result = NULL;
  INDIM_TRY(indim_value_new_tuple(e->cx, instr->shape->members[0], operands, &given));
  for (int32_t i = 0; i < instr->operand_count; i++) {
    (void)indim_value_retain(operands[i]);  // one for the tuple, and one that the computation takes over
  }
  const indim_computation *called = indim_instr_computation(instr, INDIM_ATTR_CALLS);
  indim_status status = indim_eval_computation(e, called, operands, instr->operand_count, &result);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, given);
    return status;
  }
  return start_with(e, instr->shape, given, result, out);
}

indim_status indim_eval_async_done(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                   indim_value **out) {
  (void)e;
  (void)instr;
  *out = indim_value_retain(operands[0]->members[1]);
  return INDIM_OK;
}

// Collectives ----------------------------------------------------------------------------------------------------------

// The result of a collective, in the shape that it has by itself.
static indim_status exchange(indim_evaluator *e, const indim_instr *instr, const indim_shape *shape,
                             indim_value **operands, indim_value **out) {
  bool is_permute = instr->op == INDIM_OP_COLLECTIVE_PERMUTE || instr->op == INDIM_OP_COLLECTIVE_PERMUTE_START;
  return is_permute && !indim_permute_keeps(instr) ? new_zeros(e, shape, out)
                                                   : operands_as(e, instr, shape, operands, out);
}

indim_status indim_eval_collective(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                   indim_value **out) {
  INDIM_TRY(indim_collective_verify_alone(e->cx, instr));
  return exchange(e, instr, instr->shape, operands, out);
}

// (operands, result, context).
indim_status indim_eval_collective_start(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                         indim_value **out) {
  indim_value *given = NULL;
  indim_value *result = NULL;
  INDIM_TRY(indim_collective_verify_alone(e->cx, instr));
  if (indim_collective_start_is_result(instr)) {
    return exchange(e, instr, instr->shape, operands, out);
  }
  INDIM_TRY(operands_as(e, instr, instr->shape->members[0], operands, &given));
  indim_status status = exchange(e, instr, instr->shape->members[1], operands, &result);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, given);
    return status;
  }
  return start_with(e, instr->shape, given, result, out);
}

indim_status indim_eval_collective_done(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                        indim_value **out) {
  (void)e;
  bool is_whole = indim_shape_compatible(instr->operands[0]->shape, instr->shape);
  *out = indim_value_retain(is_whole ? operands[0] : operands[0]->members[1]);
  return INDIM_OK;
}
