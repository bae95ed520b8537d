// Computations applied to single elements, as reduce, map and sort apply them. When the computation is a few operations
// on scalars, as nearly always, it runs as a scalar program; otherwise as a computation on scalar values.
#include "eval/apply.h"

#include <string.h>

// Scalar programs ---------------------------------------------------------------------------------------------------

typedef struct scalar_step {
  indim_scalar_op op;
  int32_t operands[3];
  int32_t operand_count;
} scalar_step;

struct indim_scalar_program {
  int32_t slot_count;  // one for each instruction
  indim_scalar *slots;
  scalar_step *steps;   // for each instruction; operand_count 0 for parameters and constants
  int32_t *parameters;  // slot of each
  int32_t parameter_count;
  int32_t *results;  // slot of each
  int32_t result_count;
  uint64_t step_count;  // of those that compute
  indim_arena arena;
};

// Whether |instr| may stand in a scalar program, and its step.
static bool prepare_step(const indim_instr *instr, bool is_root, indim_scalar_program *program) {
  scalar_step *step = &program->steps[instr->index];
  if (instr->op == INDIM_OP_TUPLE) {
    return is_root;
  }
  if (!indim_shape_is_scalar(instr->shape)) {
    return false;
  }
  if (instr->op == INDIM_OP_PARAMETER) {
    program->parameters[instr->parameter_number] = instr->index;
    return true;
  }
  if (instr->op == INDIM_OP_CONSTANT) {
    if (indim_literal_is_elided(instr->literal)) {
      return false;
    }
    program->slots[instr->index] = indim_scalar_load(instr->shape->type, indim_literal_data(instr->literal), 0);
    return true;
  }
  if (instr->operand_count > 3 || !indim_scalar_prepare(instr, &step->op)) {
    return false;
  }
  step->operand_count = instr->operand_count;
  program->step_count++;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    step->operands[i] = instr->operands[i]->index;
  }
  return true;
}

static indim_status fill_program(const indim_computation *computation, indim_scalar_program *program, bool *out_fits) {
  size_t count = (size_t)computation->instr_count;
  const indim_instr *root = computation->root;
  bool tuple = root->op == INDIM_OP_TUPLE;
  program->result_count = tuple ? root->operand_count : 1;
  program->parameter_count = computation->parameter_count;
  program->slot_count = computation->instr_count;
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&program->arena, count, sizeof *program->slots, &memory));
  program->slots = memory;
  INDIM_TRY(indim_arena_array(&program->arena, count, sizeof *program->steps, &memory));
  program->steps = memory;
  INDIM_TRY(indim_arena_array(&program->arena, (size_t)program->parameter_count, sizeof(int32_t), &memory));
  program->parameters = memory;
  INDIM_TRY(indim_arena_array(&program->arena, (size_t)program->result_count, sizeof(int32_t), &memory));
  program->results = memory;
  for (int32_t i = 0; i < program->result_count; i++) {
    program->results[i] = tuple ? root->operands[i]->index : root->index;
  }
  *out_fits = true;
  for (int32_t i = 0; i < computation->instr_count && *out_fits; i++) {
    *out_fits = prepare_step(computation->instrs[i], computation->instrs[i] == root, program);
  }
  return INDIM_OK;
}

static void program_release(indim_evaluator *e, indim_scalar_program *program) {
  if (program != NULL) {
    indim_arena_deinit(&program->arena);
    indim_free(e->cx, program, sizeof *program);
  }
}

static indim_status program_create(indim_evaluator *e, const indim_computation *computation,
                                   indim_scalar_program **out_program) {
  void *memory = NULL;
  bool fits = false;
  *out_program = NULL;
  INDIM_TRY(indim_alloc_zeroed(e->cx, sizeof(indim_scalar_program), &memory));
  indim_scalar_program *program = memory;
  indim_arena_init(&program->arena, e->cx);
  indim_status status = fill_program(computation, program, &fits);
  if (status != INDIM_OK || !fits) {
    program_release(e, program);
    return status;
  }
  *out_program = program;
  return INDIM_OK;
}

static void program_run(indim_scalar_program *program, const indim_scalar *arguments, indim_scalar *results) {
  indim_scalar *slots = program->slots;
  for (int32_t i = 0; i < program->parameter_count; i++) {
    slots[program->parameters[i]] = arguments[i];
  }
  for (int32_t i = 0; i < program->slot_count; i++) {
    const scalar_step *step = &program->steps[i];
    if (step->operand_count > 0) {
      indim_scalar inputs[3];
      for (int32_t k = 0; k < step->operand_count; k++) {
        inputs[k] = slots[step->operands[k]];
      }
      slots[i] = indim_scalar_apply(&step->op, inputs);
    }
  }
  for (int32_t i = 0; i < program->result_count; i++) {
    results[i] = slots[program->results[i]];
  }
}

// Applying ----------------------------------------------------------------------------------------------------------

indim_status indim_applied_init(indim_evaluator *e, const indim_computation *computation, indim_applied *out) {
  *out = (indim_applied){.e = e, .computation = computation};
  INDIM_TRY(program_create(e, out->computation, &out->program));
  if (out->program == NULL) {
    void *memory = NULL;
    INDIM_TRY(indim_alloc_zeroed(e->cx, (size_t)out->computation->parameter_count * sizeof *out->values, &memory));
    out->values = memory;
  }
  return INDIM_OK;
}

void indim_applied_deinit(indim_applied *a) {
  program_release(a->e, a->program);
  if (a->values != NULL) {
    indim_free(a->e->cx, a->values, (size_t)a->computation->parameter_count * sizeof *a->values);
  }
}

static indim_status run_by_values(indim_applied *a, const indim_scalar *arguments, indim_scalar *results) {
  indim_ctx *cx = a->e->cx;
  indim_value *result = NULL;
  int32_t count = a->computation->parameter_count;
  for (int32_t i = 0; i < count; i++) {
    const indim_shape *shape = a->computation->parameters[i]->shape;
    indim_status status = indim_value_new(cx, shape, &a->values[i]);
    if (status != INDIM_OK) {
      while (i-- > 0) {
        indim_value_release(cx, a->values[i]);
      }
      return status;
    }
    indim_scalar_store(shape->type, a->values[i]->data, 0, arguments[i]);
  }
  INDIM_TRY(indim_eval_computation(a->e, a->computation, a->values, count, &result));
  int64_t parts = result->members == NULL ? 1 : result->count;
  for (int64_t i = 0; i < parts; i++) {
    const indim_value *part = result->members == NULL ? result : result->members[i];
    results[i] = indim_scalar_load(part->shape->type, part->data, 0);
  }
  indim_value_release(cx, result);
  return INDIM_OK;
}

indim_status indim_applied_run(indim_applied *a, const indim_scalar *arguments, indim_scalar *results) {
  if (a->program == NULL) {
    return run_by_values(a, arguments, results);
  }
  INDIM_TRY(indim_eval_steps(a->e, a->program->step_count));
  program_run(a->program, arguments, results);
  return INDIM_OK;
}
