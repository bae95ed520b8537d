// reduce and map: small computations applied to many elements. When the computation is a few operations on scalars, as
// nearly always, it runs as a scalar program; otherwise as a computation on scalar values.
#include <string.h>

#include "eval/evaluator.h"

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

void indim_scalar_program_release(indim_evaluator *e, indim_scalar_program *program) {
  if (program != NULL) {
    indim_arena_deinit(&program->arena);
    indim_free(e->cx, program, sizeof *program);
  }
}

indim_status indim_scalar_program_create(indim_evaluator *e, const indim_computation *computation,
                                         indim_scalar_program **out_program) {
  void *memory = NULL;
  bool fits = false;
  *out_program = NULL;
  INDIM_TRY(indim_alloc_zeroed(e->cx, sizeof(indim_scalar_program), &memory));
  indim_scalar_program *program = memory;
  indim_arena_init(&program->arena, e->cx);
  indim_status status = fill_program(computation, program, &fits);
  if (status != INDIM_OK || !fits) {
    indim_scalar_program_release(e, program);
    return status;
  }
  *out_program = program;
  return INDIM_OK;
}

uint64_t indim_scalar_program_steps(const indim_scalar_program *program) { return program->step_count; }

void indim_scalar_program_run(indim_scalar_program *program, const indim_scalar *arguments, indim_scalar *results) {
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

// A computation on scalars, in whichever of the two ways it runs.
typedef struct applied {
  indim_evaluator *e;
  const indim_computation *computation;
  indim_scalar_program *program;  // NULL: by values
  indim_value **values;           // room for the arguments then
} applied;

static indim_status applied_init(indim_evaluator *e, const indim_instr *instr, applied *out) {
  *out = (applied){.e = e, .computation = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY)};
  INDIM_TRY(indim_scalar_program_create(e, out->computation, &out->program));
  if (out->program == NULL) {
    void *memory = NULL;
    INDIM_TRY(indim_alloc_zeroed(e->cx, (size_t)out->computation->parameter_count * sizeof *out->values, &memory));
    out->values = memory;
  }
  return INDIM_OK;
}

static void applied_deinit(applied *a) {
  indim_scalar_program_release(a->e, a->program);
  if (a->values != NULL) {
    indim_free(a->e->cx, a->values, (size_t)a->computation->parameter_count * sizeof *a->values);
  }
}

static indim_status run_by_values(applied *a, const indim_scalar *arguments, indim_scalar *results) {
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

static indim_status apply(applied *a, const indim_scalar *arguments, indim_scalar *results) {
  if (a->program == NULL) {
    return run_by_values(a, arguments, results);
  }
  INDIM_TRY(indim_eval_steps(a->e, indim_scalar_program_steps(a->program)));
  indim_scalar_program_run(a->program, arguments, results);
  return INDIM_OK;
}

// reduce ------------------------------------------------------------------------------------------------------------

// What a reduction works on: |n| inputs and as many accumulators, which are the results.
typedef struct reduction {
  int32_t n;
  indim_value **inputs;
  indim_value **results;
  indim_scalar *scalars;            // 2n arguments, then n results
  int64_t strides[INDIM_MAX_RANK];  // of the result, for each dimension of the input; 0 where it is reduced
} reduction;

// Folds every element into its accumulator, in row-major order of the input.
static indim_status fold(indim_evaluator *e, applied *a, const reduction *r) {
  enum { BETWEEN_POLLS = 1 << 14 };
  const indim_shape *shape = r->inputs[0]->shape;
  int64_t index[INDIM_MAX_RANK] = {0};
  for (int64_t k = 0; k < r->inputs[0]->count; k++) {
    int64_t to = 0;
    for (int32_t d = 0; d < shape->rank; d++) {
      to += index[d] * r->strides[d];
    }
    for (int32_t i = 0; i < r->n; i++) {
      r->scalars[i] = indim_scalar_load(r->results[i]->shape->type, r->results[i]->data, to);
      r->scalars[r->n + i] = indim_scalar_load(r->inputs[i]->shape->type, r->inputs[i]->data, k);
    }
    INDIM_TRY(apply(a, r->scalars, r->scalars + 2 * r->n));
    for (int32_t i = 0; i < r->n; i++) {
      indim_scalar_store(r->results[i]->shape->type, r->results[i]->data, to, r->scalars[2 * r->n + i]);
    }
    (void)indim_index_next(shape, index);
    if (k % BETWEEN_POLLS == BETWEEN_POLLS - 1) {
      INDIM_TRY(indim_poll(e->cx));
    }
  }
  return INDIM_OK;
}

static void fill_strides(const indim_instr *instr, const indim_shape *input, reduction *r) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  int64_t stride = 1;
  for (int32_t d = input->rank - 1; d >= 0; d--) {
    bool reduced = false;
    for (int64_t i = 0; i < count; i++) {
      reduced = reduced || dims[i] == d;
    }
    r->strides[d] = reduced ? 0 : stride;
    stride *= reduced ? 1 : input->sizes[d];
  }
}

// The accumulators, each full of its initial value.
static indim_status make_accumulators(indim_evaluator *e, const indim_instr *instr, indim_value **inits, reduction *r) {
  for (int32_t i = 0; i < r->n; i++) {
    const indim_shape *shape = r->n == 1 ? instr->shape : instr->shape->members[i];
    INDIM_TRY(indim_value_new(e->cx, shape, &r->results[i]));
    indim_scalar init = indim_scalar_load(inits[i]->shape->type, inits[i]->data, 0);
    for (int64_t k = 0; k < r->results[i]->count; k++) {
      indim_scalar_store(shape->type, r->results[i]->data, k, init);
    }
  }
  return INDIM_OK;
}

indim_status indim_eval_reduce(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                               indim_value **out) {
  reduction r = {.n = instr->operand_count / 2, .inputs = operands};
  applied a = {.e = e};
  void *memory = NULL;
  size_t values_size = (size_t)r.n * sizeof *r.results;
  size_t size = values_size + 3 * (size_t)r.n * sizeof *r.scalars + sizeof *r.scalars;
  INDIM_TRY(indim_alloc_zeroed(e->cx, size, &memory));
  r.scalars = memory;
  r.results = (indim_value **)(void *)((char *)memory + (size - values_size));
  fill_strides(instr, operands[0]->shape, &r);
  indim_status status = make_accumulators(e, instr, operands + r.n, &r);
  if (status == INDIM_OK) {
    status = applied_init(e, instr, &a);
  }
  if (status == INDIM_OK) {
    status = fold(e, &a, &r);
  }
  if (status == INDIM_OK && indim_shape_is_tuple(instr->shape)) {
    status = indim_value_new_tuple(e->cx, instr->shape, r.results, out);
  } else if (status == INDIM_OK) {
    *out = r.results[0];
  }
  for (int32_t i = 0; status != INDIM_OK && i < r.n; i++) {
    indim_value_release(e->cx, r.results[i]);
  }
  applied_deinit(&a);
  indim_free(e->cx, memory, size);
  return status;
}

// map ---------------------------------------------------------------------------------------------------------------

indim_status indim_eval_map(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  applied a = {.e = e};
  void *memory = NULL;
  indim_value *result = NULL;
  size_t size = ((size_t)instr->operand_count + 1) * sizeof(indim_scalar);
  INDIM_TRY(indim_alloc_zeroed(e->cx, size, &memory));
  indim_scalar *scalars = memory;
  indim_status status = indim_value_new(e->cx, instr->shape, &result);
  if (status == INDIM_OK) {
    status = applied_init(e, instr, &a);
  }
  for (int64_t k = 0; status == INDIM_OK && k < result->count; k++) {
    for (int32_t i = 0; i < instr->operand_count; i++) {
      scalars[i] = indim_scalar_load(operands[i]->shape->type, operands[i]->data, k);
    }
    status = apply(&a, scalars, &scalars[instr->operand_count]);
    if (status == INDIM_OK) {
      indim_scalar_store(instr->shape->type, result->data, k, scalars[instr->operand_count]);
      status = k % 1024 == 1023 ? indim_poll(e->cx) : INDIM_OK;
    }
  }
  applied_deinit(&a);
  indim_free(e->cx, memory, size);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}
