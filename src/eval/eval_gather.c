// gather and scatter: slices read from, or combined into, places that an array of indices names.
//
// An index of the result (of the updates, for scatter) splits in two: its window positions walk along the slice, the
// others, in order, are an index into the array of start vectors.
#include <string.h>

#include "array/permutation.h"
#include "eval/apply.h"

// How start vectors turn into places of the operand.
typedef struct starting {
  const indim_value *indices;
  int64_t strides[INDIM_MAX_RANK];  // of the indices
  int64_t vector_dim;               // that the start vectors lie along; the rank: every element is one
  const int64_t *map;               // operand dimension of each entry of a start vector
  int64_t map_count;
  const int64_t *operand_batching;
  const int64_t *indices_batching;
  int64_t batching_count;
} starting;

static void read_starting(const indim_instr *instr, const indim_value *indices, indim_attr_id map,
                          indim_attr_id operand_batching, indim_attr_id indices_batching, starting *out) {
  int64_t count = 0;
  out->indices = indices;
  out->vector_dim = indim_instr_int(instr, INDIM_ATTR_INDEX_VECTOR_DIM, 0);
  out->map = indim_instr_ints(instr, map, &out->map_count);
  out->operand_batching = indim_instr_ints(instr, operand_batching, &out->batching_count);
  out->indices_batching = indim_instr_ints(instr, indices_batching, &count);
  indim_eval_dense_strides(indices->shape, out->strides);
}

// The operand index that the start vector at |batch| (an index of the indices without vector_dim) names: dimensions it
// says nothing about are 0. Unsigned starts beyond int64 become INT64_MAX.
static void find_start(const starting *s, const int64_t *batch, int32_t rank, int64_t *out_start) {
  indim_type type = s->indices->shape->type;
  int64_t place = 0;
  for (int32_t d = 0, b = 0; d < s->indices->shape->rank; d++) {
    place += d == s->vector_dim ? 0 : batch[b++] * s->strides[d];
  }
  memset(out_start, 0, (size_t)rank * sizeof *out_start);
  for (int64_t k = 0; k < s->map_count; k++) {
    int64_t step = s->vector_dim < s->indices->shape->rank ? s->strides[s->vector_dim] : 0;
    int64_t start = indim_scalar_load(type, s->indices->data, place + k * step).i;
    out_start[s->map[k]] = start < 0 && indim_type_is_unsigned_int(type) ? INT64_MAX : start;
  }
  for (int64_t j = 0; j < s->batching_count; j++) {
    int64_t dim = s->indices_batching[j];
    out_start[s->operand_batching[j]] = batch[dim > s->vector_dim ? dim - 1 : dim];
  }
}

// Splits |index| into its window positions and the others.
static void split_index(int32_t rank, const int64_t *index, const int64_t *window_dims, int64_t window_count,
                        int64_t *out_window, int64_t *out_batch) {
  for (int32_t d = 0, w = 0, b = 0; d < rank; d++) {
    if (indim_list_has(window_dims, window_count, d)) {
      out_window[w++] = index[d];
    } else {
      out_batch[b++] = index[d];
    }
  }
}

// Operand dimensions that the window walks along: those in neither list. Returns how many.
static int32_t walked_dims(int32_t rank, const int64_t *dropped, int64_t dropped_count, const starting *s,
                           int32_t *out_dims) {
  int32_t count = 0;
  for (int32_t d = 0; d < rank; d++) {
    if (!indim_list_has(dropped, dropped_count, d) && !indim_list_has(s->operand_batching, s->batching_count, d)) {
      out_dims[count++] = d;
    }
  }
  return count;
}

// gather ------------------------------------------------------------------------------------------------------------

// Starts are moved so that the whole slice lies inside.
static indim_status gather_into(indim_evaluator *e, const indim_instr *instr, indim_value *const *operands,
                                indim_value *result) {
  const indim_shape *shape = operands[0]->shape;
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t window[INDIM_MAX_RANK];
  int64_t batch[INDIM_MAX_RANK];
  int64_t start[INDIM_MAX_RANK];
  int64_t strides[INDIM_MAX_RANK];
  int32_t walked[INDIM_MAX_RANK];
  int64_t offset_count = 0;
  int64_t collapsed_count = 0;
  int64_t size_count = 0;
  const int64_t *offset_dims = indim_instr_ints(instr, INDIM_ATTR_OFFSET_DIMS, &offset_count);
  const int64_t *collapsed = indim_instr_ints(instr, INDIM_ATTR_COLLAPSED_SLICE_DIMS, &collapsed_count);
  const int64_t *sizes = indim_instr_ints(instr, INDIM_ATTR_SLICE_SIZES, &size_count);
  size_t bytes = (size_t)indim_type_bytes(shape->type);
  starting s;
  read_starting(instr, operands[1], INDIM_ATTR_START_INDEX_MAP, INDIM_ATTR_OPERAND_BATCHING_DIMS,
                INDIM_ATTR_START_INDICES_BATCHING_DIMS, &s);
  int32_t walked_count = walked_dims(shape->rank, collapsed, collapsed_count, &s, walked);
  indim_eval_dense_strides(shape, strides);
  for (int64_t k = 0; k < result->count; k++) {
    int64_t place = 0;
    split_index(instr->shape->rank, index, offset_dims, offset_count, window, batch);
    find_start(&s, batch, shape->rank, start);
    for (int32_t d = 0; d < shape->rank; d++) {
      int64_t most = shape->sizes[d] - sizes[d];
      place += (start[d] < 0 ? 0 : start[d] > most ? most : start[d]) * strides[d];
    }
    for (int32_t w = 0; w < walked_count; w++) {
      place += window[w] * strides[walked[w]];
    }
    memcpy(result->data + (size_t)k * bytes, operands[0]->data + (size_t)place * bytes, bytes);
    (void)indim_index_next(instr->shape, index);
    INDIM_TRY(k % 4096 == 4095 ? indim_poll(e->cx) : INDIM_OK);
  }
  return INDIM_OK;
}

indim_status indim_eval_gather(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                               indim_value **out) {
  indim_value *result = NULL;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  indim_status status = gather_into(e, instr, operands, result);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}

// scatter -----------------------------------------------------------------------------------------------------------

typedef struct scattering {
  indim_applied combiner;
  int32_t count;  // of operands, and of updates
  indim_value **operands;
  indim_value **updates;
  indim_scalar *scalars;  // the elements there, the updates; then the results
  starting start;
  const int64_t *window_dims;  // of the updates
  int64_t window_count;
  int32_t walked[INDIM_MAX_RANK];
  int32_t walked_count;
} scattering;

// Whether the whole window of one start vector lies inside the operand.
static bool is_inside(const scattering *s, const int64_t *start) {
  const indim_shape *operand = s->operands[0]->shape;
  int64_t sizes[INDIM_MAX_RANK];
  for (int32_t d = 0; d < operand->rank; d++) {
    sizes[d] = 1;
  }
  for (int32_t w = 0; w < s->walked_count; w++) {
    sizes[s->walked[w]] = s->updates[0]->shape->sizes[s->window_dims[w]];
  }
  for (int32_t d = 0; d < operand->rank; d++) {
    if (start[d] < 0 || start[d] > operand->sizes[d] - sizes[d]) {
      return false;
    }
  }
  return true;
}

// Combines update element |k|, for each operand, into the element at |place|.
static indim_status combine(scattering *s, int64_t k, int64_t place) {
  for (int32_t i = 0; i < s->count; i++) {
    s->scalars[i] = indim_scalar_load(s->operands[i]->shape->type, s->operands[i]->data, place);
    s->scalars[s->count + i] = indim_scalar_load(s->updates[i]->shape->type, s->updates[i]->data, k);
  }
  INDIM_TRY(indim_applied_run(&s->combiner, s->scalars, s->scalars + 2 * s->count));
  for (int32_t i = 0; i < s->count; i++) {
    indim_scalar_store(s->operands[i]->shape->type, s->operands[i]->data, place, s->scalars[2 * s->count + i]);
  }
  return INDIM_OK;
}

// In row-major order of the updates. A window that is not wholly inside is left out.
static indim_status scatter_all(indim_evaluator *e, scattering *s) {
  const indim_shape *operand = s->operands[0]->shape;
  const indim_shape *updates = s->updates[0]->shape;
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t window[INDIM_MAX_RANK];
  int64_t batch[INDIM_MAX_RANK];
  int64_t start[INDIM_MAX_RANK];
  int64_t strides[INDIM_MAX_RANK];
  indim_eval_dense_strides(operand, strides);
  for (int64_t k = 0; k < s->updates[0]->count; k++) {
    split_index(updates->rank, index, s->window_dims, s->window_count, window, batch);
    find_start(&s->start, batch, operand->rank, start);
    if (is_inside(s, start)) {
      int64_t place = 0;
      for (int32_t d = 0; d < operand->rank; d++) {
        place += start[d] * strides[d];
      }
      for (int32_t w = 0; w < s->walked_count; w++) {
        place += window[w] * strides[s->walked[w]];
      }
      INDIM_TRY(combine(s, k, place));
    }
    (void)indim_index_next(updates, index);
    INDIM_TRY(k % 4096 == 4095 ? indim_poll(e->cx) : INDIM_OK);
  }
  return INDIM_OK;
}

static indim_status scatter_with(indim_evaluator *e, const indim_instr *instr, scattering *s) {
  void *scalars = NULL;
  size_t bytes = 3 * (size_t)s->count * sizeof *s->scalars;
  for (int32_t i = 0; i < s->count; i++) {
    INDIM_TRY(indim_value_own(e->cx, &s->operands[i]));
  }
  INDIM_TRY(indim_alloc(e->cx, bytes, &scalars));
  s->scalars = scalars;
  indim_status status = indim_applied_init(e, indim_instr_computation(instr, INDIM_ATTR_TO_APPLY), &s->combiner);
  status = status == INDIM_OK ? scatter_all(e, s) : status;
  indim_applied_deinit(&s->combiner);
  indim_free(e->cx, scalars, bytes);
  return status;
}

// The operands are changed in place when nobody else has them.
indim_status indim_eval_scatter(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                indim_value **out) {
  int32_t count = (instr->operand_count - 1) / 2;
  int64_t inserted_count = 0;
  const int64_t *inserted = indim_instr_ints(instr, INDIM_ATTR_INSERTED_WINDOW_DIMS, &inserted_count);
  scattering s = {.count = count, .operands = operands, .updates = operands + count + 1};
  s.window_dims = indim_instr_ints(instr, INDIM_ATTR_UPDATE_WINDOW_DIMS, &s.window_count);
  read_starting(instr, operands[count], INDIM_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, INDIM_ATTR_INPUT_BATCHING_DIMS,
                INDIM_ATTR_SCATTER_INDICES_BATCHING_DIMS, &s.start);
  s.walked_count = walked_dims(operands[0]->shape->rank, inserted, inserted_count, &s.start, s.walked);
  INDIM_TRY(scatter_with(e, instr, &s));
  if (indim_shape_is_tuple(instr->shape)) {
    INDIM_TRY(indim_value_new_tuple(e->cx, instr->shape, operands, out));
  } else {
    *out = operands[0];
  }
  for (int32_t i = 0; i < count; i++) {
    operands[i] = NULL;  // the result has the reference now
  }
  return INDIM_OK;
}
