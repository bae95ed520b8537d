// Custom calls of functions of the caller's. Values are row-major; an array that the call wants in another layout is copied.
#include <string.h>

#include "array/literal_internal.h"
#include "eval/evaluator.h"
#include "indim/shape_util.h"

indim_status indim_eval_prepare_call(indim_evaluator *e, const indim_instr *instr) {
  indim_eval_plan *plan = &e->plans[instr->computation->index];
  void *memory = NULL;
  if (plan->calls == NULL) {
    INDIM_TRY(indim_arena_array(&e->arena, (size_t)instr->computation->instr_count, sizeof(indim_call *), &memory));
    plan->calls = memory;
  }
  return indim_call_create(e->cx, instr, &plan->calls[instr->index]);
}

// Strides in elements of a dense array in the layout of |shape|; whether that is row-major order.
static bool layout_strides(const indim_shape *shape, int64_t *out_strides) {
  int64_t dense[INDIM_MAX_RANK];
  int64_t stride = 1;
  bool same = true;
  indim_eval_dense_strides(shape, dense);
  for (int32_t k = 0; k < shape->rank; k++) {
    int64_t d = shape->layout.minor_to_major[k];
    out_strides[d] = stride;
    same = same && (shape->sizes[d] == 1 || dense[d] == stride);
    stride *= shape->sizes[d];
  }
  return same || stride == 0;
}

// Copies an array from row-major order to the layout of |shape|, or back.
static indim_status convert(indim_evaluator *e, const indim_shape *shape, bool to_layout, const unsigned char *from,
                            unsigned char *to) {
  int64_t dense[INDIM_MAX_RANK];
  int64_t strides[INDIM_MAX_RANK];
  indim_eval_dense_strides(shape, dense);
  layout_strides(shape, strides);
  return indim_eval_copy_box(e, shape->rank, shape->sizes, indim_type_bytes(shape->type), to,
                             to_layout ? strides : dense, from, to_layout ? dense : strides);
}

typedef struct frame {
  indim_evaluator *e;
  const indim_call *call;
  indim_arena arena;
  int64_t leaf_count;
  void *arrays[INDIM_CUSTOM_MOST_ARRAYS];  // of the leaves that are no tokens
  indim_value *values[INDIM_CUSTOM_MOST_ARRAYS];
  const indim_shape *shapes[INDIM_CUSTOM_MOST_ARRAYS];
  int64_t count;
} frame;

static indim_status add_value(frame *f, indim_value *value, bool is_operand) {
  const indim_shape *shape = indim_call_leaf(f->call, f->leaf_count++);
  int64_t strides[INDIM_MAX_RANK];
  void *copy = value->data;
  if (shape->type == INDIM_TOKEN) {
    return INDIM_OK;
  }
  if (is_operand && value->bytes > 0) {  // what the evaluator computes has any bits above those of a narrow element
    indim_literal_canonicalize(shape->type, value->data, (size_t)value->bytes);
  }
  if (!layout_strides(shape, strides)) {
    INDIM_TRY(indim_arena_alloc(&f->arena, (size_t)value->bytes, &copy));
    if (is_operand) {
      INDIM_TRY(convert(f->e, shape, true, value->data, copy));
    }
  }
  f->shapes[f->count] = shape;
  f->values[f->count] = value;
  f->arrays[f->count++] = copy;
  return INDIM_OK;
}

static indim_status add_values(frame *f, indim_value *value, bool is_operand) {
  indim_shape_walk walk;
  indim_shape_walk_init(&walk, value->shape);
  while (indim_shape_walk_next_leaf(&walk)) {
    indim_value *leaf = value;
    for (int32_t i = 0; i < walk.length; i++) {
      leaf = leaf->members[walk.path[i]];
    }
    INDIM_TRY(add_value(f, leaf, is_operand));
  }
  return INDIM_OK;
}

static indim_status run_frame(frame *f, const indim_instr *instr, indim_value **operands, indim_value *result) {
  static const volatile int32_t never = 0;
  indim_call_run run = {.stop = &never, .run_id = f->e->run_id};
  INDIM_TRY(add_values(f, result, false));
  int64_t result_count = f->count;
  for (int32_t i = 0; i < instr->operand_count && f->leaf_count < indim_call_leaf_count(f->call); i++) {
    INDIM_TRY(add_values(f, operands[i], true));
  }
  indim_status status = indim_call_execute(f->call, &run, f->arrays);
  if (status != INDIM_OK) {
    return indim_fail_instr(f->e->cx, status, instr, "%s", run.message);
  }
  for (int64_t i = 0; i < result_count; i++) {
    indim_value *value = f->values[i];
    INDIM_TRY(indim_eval_work(f->e, value->count));
    if (f->arrays[i] != value->data) {
      INDIM_TRY(convert(f->e, f->shapes[i], false, f->arrays[i], value->data));
    }
  }
  return INDIM_OK;
}

// The result, of any nesting, with undefined elements. Depth is that of the shape, which is limited.
static indim_status new_result(indim_evaluator *e, const indim_shape *shape, indim_value **out) {
  void *members = NULL;
  size_t size = (size_t)shape->member_count * sizeof(indim_value *);
  if (!indim_shape_is_tuple(shape)) {
    return indim_value_new(e->cx, shape, out);
  }
  INDIM_TRY(indim_alloc_zeroed(e->cx, size, &members));
  indim_status status = indim_value_new_tuple(e->cx, shape, members, out);  // of NULLs, filled below
  indim_free(e->cx, members, size);
  for (int64_t i = 0; status == INDIM_OK && i < shape->member_count; i++) {
    status = new_result(e, shape->members[i], &(*out)->members[i]);
  }
  if (status != INDIM_OK) {
    indim_value_release(e->cx, *out);
    *out = NULL;
  }
  return status;
}

indim_status indim_eval_run_call(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                 indim_value **out) {
  frame f = {.e = e, .call = e->plans[instr->computation->index].calls[instr->index]};
  INDIM_TRY(new_result(e, instr->shape, out));
  indim_arena_init(&f.arena, e->cx);
  indim_status status = run_frame(&f, instr, operands, *out);
  indim_arena_deinit(&f.arena);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, *out);
    *out = NULL;
  }
  return status;
}
