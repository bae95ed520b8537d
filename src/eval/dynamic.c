// Run-time sizes: which of its elements an op's result has, by those of its operands (dynamic.h).
#include "eval/dynamic.h"

#include <string.h>

#include "base/size.h"
#include "graph/dynamic.h"
#include "graph/infer.h"
#include "graph/infer_kit.h"
#include "graph/one_device.h"
#include "linalg/linalg.h"

typedef enum indim_dynamic_rule {
  INDIM_DYNAMIC_PASS,   // values go through as they are, or the op looks at sizes itself
  INDIM_DYNAMIC_WHOLE,  // computed over the bounds
  INDIM_DYNAMIC_CUT     // computed over what counts
} indim_dynamic_rule;

static indim_dynamic_rule rule_of(const indim_instr *instr) {
  switch ((int)instr->op) {
  case INDIM_OP_PARAMETER:
  case INDIM_OP_CONSTANT:
  case INDIM_OP_TUPLE:
  case INDIM_OP_GET_TUPLE_ELEMENT:
  case INDIM_OP_COPY:
  case INDIM_OP_OPT_BARRIER:
  case INDIM_OP_DOMAIN:
  case INDIM_OP_ADD_DEPENDENCY:
  case INDIM_OP_AFTER_ALL:
  case INDIM_OP_CALL:
  case INDIM_OP_WHILE:
  case INDIM_OP_CONDITIONAL:
  case INDIM_OP_FUSION:
  case INDIM_OP_GET_DIMENSION_SIZE:
  case INDIM_OP_SET_DIMENSION_SIZE:
  case INDIM_OP_COPY_START:
  case INDIM_OP_COPY_DONE:
  case INDIM_OP_ASYNC_START:
  case INDIM_OP_ASYNC_UPDATE:
  case INDIM_OP_ASYNC_DONE:
  case INDIM_OP_IOTA:  // what comes from nowhere has as many elements as the bounds
  case INDIM_OP_RNG:
  case INDIM_OP_RNG_BIT_GENERATOR:
  case INDIM_OP_SCAN:
    return INDIM_DYNAMIC_PASS;
  case INDIM_OP_RESHAPE:
  case INDIM_OP_DYNAMIC_RESHAPE:
  case INDIM_OP_REVERSE:
  case INDIM_OP_CONCATENATE:
  case INDIM_OP_PAD:
  case INDIM_OP_REDUCE:
  case INDIM_OP_REDUCE_WINDOW:
  case INDIM_OP_SELECT_AND_SCATTER:
  case INDIM_OP_BATCH_NORM_TRAINING:
  case INDIM_OP_BATCH_NORM_INFERENCE:
  case INDIM_OP_BATCH_NORM_GRAD:
  case INDIM_OP_SORT:
  case INDIM_OP_DOT:
  case INDIM_OP_RAGGED_DOT:
  case INDIM_OP_CONVOLUTION:
    return INDIM_DYNAMIC_CUT;
  case INDIM_OP_TOPK:
    return indim_dim_is_dynamic(instr->operands[0]->shape, instr->operands[0]->shape->rank - 1) ? INDIM_DYNAMIC_CUT
                                                                                                : INDIM_DYNAMIC_WHOLE;
  default:
    return indim_op_is_collective(instr->op) ? INDIM_DYNAMIC_PASS : INDIM_DYNAMIC_WHOLE;
  }
}

// Sizes -----------------------------------------------------------------------------------------------------------------

int64_t indim_dynamic_size(const indim_value *value, int32_t dim) {
  return value->sizes == NULL ? value->shape->sizes[dim] : value->sizes[dim];
}

static bool is_dynamic_dim(const indim_value *value, int32_t dim) {
  return value->sizes != NULL && (value->shape->dynamic >> dim & 1) != 0;
}

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

// Whether less than all of the array counts.
static bool is_cut(const indim_value *value) {
  for (int32_t d = 0; value->sizes != NULL && d < value->shape->rank; d++) {
    if (value->sizes[d] != value->shape->sizes[d]) {
      return true;
    }
  }
  return false;
}

indim_status indim_dynamic_check_sizes(indim_evaluator *e, const indim_instr *instr, const indim_shape *shape,
                                       const int64_t *sizes) {
  for (int32_t d = 0; d < shape->rank; d++) {
    bool is_dynamic = (shape->dynamic >> d & 1) != 0;
    if (sizes[d] < 0 || sizes[d] > shape->sizes[d] || (!is_dynamic && sizes[d] != shape->sizes[d])) {
      indim_shape_text text;
      return indim_fail_instr(e->cx, INDIM_INVALID, instr,
                              "dimension %d has %lld elements when the program runs, and the result is %s", (int)d,
                              (long long)sizes[d], indim_shape_brief(shape, &text));
    }
  }
  return INDIM_OK;
}

// Gives |*value|, an array of the bounds of |shape|, that shape and these sizes.
static indim_status take_shape(indim_evaluator *e, const indim_instr *instr, const indim_shape *shape,
                               const int64_t *sizes, indim_value **value) {
  INDIM_TRY(indim_dynamic_check_sizes(e, instr, shape, sizes));
  bool has_room = (*value)->size_count == (!indim_shape_is_static(shape) ? shape->rank : 0);
  if (!has_room || (*value)->references > 1) {
    indim_value *copy = NULL;
    INDIM_TRY(indim_value_new(e->cx, shape, &copy));
    memcpy(copy->data, (*value)->data, (size_t)copy->bytes);
    indim_value_release(e->cx, *value);
    *value = copy;
  }
  (*value)->shape = shape;
  if ((*value)->sizes != NULL) {
    memcpy((*value)->sizes, sizes, (size_t)shape->rank * sizeof *sizes);
  }
  return INDIM_OK;
}

indim_status indim_dynamic_settle(indim_evaluator *e, const indim_instr *instr, indim_value **value) {
  int64_t sizes[INDIM_MAX_RANK];
  if (!indim_shape_is_array(instr->shape) || (*value)->shape->dynamic == instr->shape->dynamic) {
    return INDIM_OK;
  }
  for (int32_t d = 0; d < instr->shape->rank; d++) {
    sizes[d] = indim_dynamic_size(*value, d);
  }
  return take_shape(e, instr, instr->shape, sizes, value);
}

// The result's, or that of each array of a tuple.
static indim_status take_sizes(indim_evaluator *e, const indim_instr *instr, const int64_t *sizes,
                               indim_value **value) {
  const indim_shape *shape = instr->shape;
  if (!indim_shape_is_tuple(shape)) {
    return take_shape(e, instr, shape, sizes, value);
  }
  for (int64_t i = 0; i < shape->member_count; i++) {
    INDIM_TRY(take_shape(e, instr, shape->members[i], sizes, &(*value)->members[i]));
  }
  return INDIM_OK;
}

// Over the bounds ---------------------------------------------------------------------------------------------------------

// Copies the one element along |dim| that counts to |count|.
static indim_status spread(indim_evaluator *e, indim_value **value, int32_t dim, int64_t count) {
  INDIM_TRY(indim_value_own(e->cx, value));
  const indim_shape *shape = (*value)->shape;
  int64_t inner = indim_type_bytes(shape->type);
  int64_t outer = 1;
  for (int32_t d = 0; d < shape->rank; d++) {
    outer *= d < dim ? shape->sizes[d] : 1;
    inner *= d > dim ? shape->sizes[d] : 1;
  }
  for (int64_t o = 0; o < outer; o++) {
    unsigned char *row = (*value)->data + o * shape->sizes[dim] * inner;
    for (int64_t i = 1; i < count && inner > 0; i++) {
      memcpy(row + i * inner, row, (size_t)inner);
    }
    INDIM_TRY(indim_eval_work(e, count));
  }
  (*value)->sizes[dim] = count;
  return INDIM_OK;
}

// The size of a dimension that all operands have: the least of the dynamic ones; those of 1 are repeated to fill it.
static indim_status match_dim(indim_evaluator *e, const indim_instr *instr, indim_value **operands, int32_t dim,
                              int64_t *out_size) {
  int64_t size = -1;
  bool has_one = false;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    if (operands[i]->shape->rank == instr->shape->rank && is_dynamic_dim(operands[i], dim)) {
      int64_t own = indim_dynamic_size(operands[i], dim);
      has_one = has_one || own == 1;
      size = own == 1 ? size : size < 0 ? own : least(size, own);
    }
  }
  *out_size = size >= 0 ? size : has_one ? 1 : instr->shape->sizes[dim];
  for (int32_t i = 0; i<instr->operand_count && * out_size> 1 && has_one; i++) {
    if (operands[i]->shape->rank == instr->shape->rank && is_dynamic_dim(operands[i], dim) &&
        indim_dynamic_size(operands[i], dim) == 1) {
      INDIM_TRY(spread(e, &operands[i], dim, *out_size));
    }
  }
  return INDIM_OK;
}

static int64_t slice_size(const indim_slice_dim *slice, int64_t size) {
  int64_t count = least(slice->limit, size) - slice->start;
  return count <= 0 ? 0 : indim_ceil_div(count, slice->stride);
}

static bool is_among(const int64_t *list, int64_t count, int64_t number) {
  for (int64_t i = 0; i < count; i++) {
    if (list[i] == number) {
      return true;
    }
  }
  return false;
}

// A dimension of a gather's result is one of the operand's that is sliced, or one of the indices'.
static void gather_sizes(const indim_instr *instr, indim_value *const *operands, int64_t *sizes) {
  int64_t offsets = 0;
  int64_t collapsed = 0;
  int64_t batched = 0;
  int64_t slices = 0;
  const int64_t *offset = indim_instr_ints(instr, INDIM_ATTR_OFFSET_DIMS, &offsets);
  const int64_t *left_out = indim_instr_ints(instr, INDIM_ATTR_COLLAPSED_SLICE_DIMS, &collapsed);
  const int64_t *batch = indim_instr_ints(instr, INDIM_ATTR_OPERAND_BATCHING_DIMS, &batched);
  const int64_t *slice = indim_instr_ints(instr, INDIM_ATTR_SLICE_SIZES, &slices);
  int64_t vector = indim_instr_int(instr, INDIM_ATTR_INDEX_VECTOR_DIM, 0);
  int32_t from_operand = 0;
  int32_t from_indices = 0;
  for (int32_t d = 0; d < instr->shape->rank; d++) {
    if (is_among(offset, offsets, d)) {
      while (is_among(left_out, collapsed, from_operand) || is_among(batch, batched, from_operand)) {
        from_operand++;
      }
      bool is_whole = slice[from_operand] == operands[0]->shape->sizes[from_operand];
      sizes[d] = is_whole ? indim_dynamic_size(operands[0], from_operand) : sizes[d];
      from_operand++;
    } else {
      from_indices += from_indices == vector ? 1 : 0;
      sizes[d] = indim_dynamic_size(operands[1], from_indices++);
    }
  }
}

// As many elements as all arrays have that are scattered to.
static void scattered_sizes(const indim_instr *instr, indim_value *const *operands, int64_t *sizes) {
  for (int32_t i = 0; i < instr->operand_count / 2; i++) {
    for (int32_t d = 0; d < operands[0]->shape->rank; d++) {
      sizes[d] = i == 0 ? indim_dynamic_size(operands[i], d) : least(sizes[d], indim_dynamic_size(operands[i], d));
    }
  }
}

// As many of the batch as all operands have.
static void batch_sizes(const indim_instr *instr, indim_value *const *operands, int32_t batch_rank, int64_t *sizes) {
  for (int32_t i = 0; i < instr->operand_count; i++) {
    for (int32_t d = 0; d < batch_rank && d < operands[i]->shape->rank; d++) {
      sizes[d] = least(sizes[d], indim_dynamic_size(operands[i], d));
    }
  }
}

// The sizes of a result computed over the bounds; those of dimensions that come from nowhere are the bounds.
static indim_status whole_sizes(indim_evaluator *e, const indim_instr *instr, indim_value **operands, int64_t *sizes) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  const indim_shape *from = operands[0]->shape;
  const indim_shape *result = indim_instr_result_shape(instr, 0);
  memcpy(sizes, result->sizes, (size_t)result->rank * sizeof *sizes);
  switch ((int)instr->op) {
  case INDIM_OP_BROADCAST:
    for (int64_t k = 0; k < count; k++) {
      sizes[dims[k]] = indim_dynamic_size(operands[0], (int32_t)k);
    }
    return INDIM_OK;
  case INDIM_OP_TRANSPOSE:
    for (int64_t k = 0; k < count; k++) {
      sizes[k] = indim_dynamic_size(operands[0], (int32_t)dims[k]);
    }
    return INDIM_OK;
  case INDIM_OP_SLICE:
    for (int32_t d = 0; d < from->rank; d++) {
      const indim_slice_dim *slice = &indim_instr_attr(instr, INDIM_ATTR_SLICE)->value.slice[d];
      bool follows = (instr->shape->dynamic >> d & 1) != 0 && is_dynamic_dim(operands[0], d);
      sizes[d] = follows ? slice_size(slice, indim_dynamic_size(operands[0], d)) : sizes[d];
    }
    return INDIM_OK;
  case INDIM_OP_DYNAMIC_SLICE:
    for (int32_t d = 0; d < from->rank; d++) {
      sizes[d] = sizes[d] == from->sizes[d] ? indim_dynamic_size(operands[0], d) : sizes[d];
    }
    return INDIM_OK;
  case INDIM_OP_DYNAMIC_UPDATE_SLICE:
    for (int32_t d = 0; d < from->rank; d++) {
      sizes[d] = indim_dynamic_size(operands[0], d);
    }
    return INDIM_OK;
  case INDIM_OP_GATHER:
    gather_sizes(instr, operands, sizes);
    return INDIM_OK;
  case INDIM_OP_SCATTER:
    scattered_sizes(instr, operands, sizes);
    return INDIM_OK;
  case INDIM_OP_FFT:
  case INDIM_OP_TOPK:
  case INDIM_OP_CHOLESKY:
  case INDIM_OP_TRIANGULAR_SOLVE:
    batch_sizes(instr, operands, indim_instr_batch_rank(instr), sizes);
    return INDIM_OK;
  default:
    if (!indim_instr_is_elementwise(instr)) {  // bitcast-convert
      batch_sizes(instr, operands, indim_instr_batch_rank(instr), sizes);
      return INDIM_OK;
    }
    for (int32_t d = 0; d < instr->shape->rank; d++) {
      INDIM_TRY(match_dim(e, instr, operands, d, &sizes[d]));
    }
    return INDIM_OK;
  }
}

static indim_status run_whole(indim_evaluator *e, const indim_instr *instr, indim_eval_fn *run, indim_value **operands,
                              indim_value **out) {
  int64_t sizes[INDIM_MAX_RANK];
  INDIM_TRY(whole_sizes(e, instr, operands, sizes));
  INDIM_TRY(run(e, instr, operands, out));
  return take_sizes(e, instr, sizes, out);
}

// A batch of LAPACK's, each result of which has the batch's dimensions first.
static indim_status run_custom_call(indim_evaluator *e, const indim_instr *instr, indim_eval_fn *run,
                                    indim_value **operands, indim_value **out) {
  indim_linalg_call call;
  int64_t batch[INDIM_MAX_RANK];
  int64_t sizes[INDIM_MAX_RANK];
  bool is_tuple = indim_shape_is_tuple(instr->shape);
  INDIM_TRY(indim_linalg_read(e->cx, instr, &call));  // others run on static shapes only
  memcpy(batch, operands[0]->shape->sizes, (size_t)call.batch_rank * sizeof *batch);
  batch_sizes(instr, operands, call.batch_rank, batch);
  INDIM_TRY(run(e, instr, operands, out));
  for (int32_t i = 0; i < call.result_count; i++) {
    const indim_shape *shape = is_tuple ? instr->shape->members[i] : instr->shape;
    memcpy(sizes, shape->sizes, (size_t)shape->rank * sizeof *sizes);
    memcpy(sizes, batch, (size_t)call.batch_rank * sizeof *sizes);
    INDIM_TRY(take_shape(e, instr, shape, sizes, is_tuple ? &(*out)->members[i] : out));
  }
  return INDIM_OK;
}

// Over what counts ----------------------------------------------------------------------------------------------------------

// An instruction as it would be with the sizes that count; its parts live in the arena.
typedef struct cutting {
  indim_evaluator *e;
  const indim_instr *instr;  // the program's
  indim_arena arena;
  indim_instr short_instr;
  indim_shape *shapes;  // of the operands
  indim_value **operands;
} cutting;

static void share_size(cutting *c, int32_t i, int64_t di, int32_t j, int64_t dj) {
  int64_t size = least(c->shapes[i].sizes[di], c->shapes[j].sizes[dj]);
  c->shapes[i].sizes[di] = c->shapes[j].sizes[dj] = size;
}

static void share_pairs(cutting *c, indim_attr_id left, indim_attr_id right) {
  int64_t count = 0;
  const int64_t *lhs = indim_instr_ints(c->instr, left, &count);
  const int64_t *rhs = indim_instr_ints(c->instr, right, &count);
  for (int64_t k = 0; k < count; k++) {
    share_size(c, 0, lhs[k], 1, rhs[k]);
  }
}

// The groups of a ragged-dot are those that have a size, and on the other side a matrix where that has groups.
static void share_groups(cutting *c) {
  int64_t leading[INDIM_MAX_RANK];
  int64_t count = 0;
  const int64_t *group = indim_instr_ints(c->instr, INDIM_ATTR_RHS_GROUP_DIMS, &count);
  (void)indim_ragged_dot_leading(c->instr, leading);
  int32_t last = c->shapes[2].rank - 1;
  for (int32_t d = 0; d < last; d++) {
    share_size(c, 2, d, 0, leading[d]);
  }
  if (count > 0) {
    share_size(c, 2, last, 1, group[0]);
  }
}

// As many rows of a scatter's indices as of all its updates.
static void share_rows(cutting *c) {
  int64_t count = 0;
  const int64_t *windows = indim_instr_ints(c->instr, INDIM_ATTR_UPDATE_WINDOW_DIMS, &count);
  int64_t vector = indim_instr_int(c->instr, INDIM_ATTR_INDEX_VECTOR_DIM, 0);
  int32_t indices = c->instr->operand_count / 2;
  for (int pass = 0; pass < 2; pass++) {  // the least reaches all in two
    for (int32_t i = indices + 1; i < c->instr->operand_count; i++) {
      int32_t row = 0;
      for (int32_t d = 0; d < c->shapes[i].rank; d++) {
        if (!is_among(windows, count, d)) {
          row += row == vector ? 1 : 0;
          share_size(c, indices, row++, i, d);
        }
      }
    }
  }
}

// As many sources as there are windows.
static void share_windows(cutting *c) {
  const indim_window_dim *window = indim_instr_attr(c->instr, INDIM_ATTR_WINDOW)->value.window;
  for (int32_t d = 0; d < c->shapes[0].rank; d++) {
    int64_t count = 0;
    (void)indim_window_count(c->shapes[0].sizes[d], &window[d], &count);  // no more than the bound's, which is checked
    c->shapes[1].sizes[d] = least(c->shapes[1].sizes[d], count);
  }
}

// All operands of a batch normalisation have the same features, and each element of the last of batch-norm-grad is of one of
// the first.
static void share_features(cutting *c) {
  int64_t feature = indim_instr_int(c->instr, INDIM_ATTR_FEATURE_INDEX, 0);
  for (int pass = 0; pass < 2; pass++) {  // the least reaches all in two
    for (int32_t i = 1; i < c->instr->operand_count; i++) {
      bool has_elements = c->instr->op == INDIM_OP_BATCH_NORM_GRAD && i == 4;
      for (int32_t d = 0; d < c->shapes[0].rank && has_elements; d++) {
        share_size(c, 0, d, i, d);
      }
      if (!has_elements) {
        share_size(c, 0, feature, i, 0);
      }
    }
  }
}

// Dimensions that have to agree have the least of their sizes: where one operand is static, its first elements count.
static void share_sizes(cutting *c) {
  int64_t count = 0;
  int64_t along = -1;
  int32_t arrays = c->instr->operand_count;
  if (c->instr->op == INDIM_OP_DOT || c->instr->op == INDIM_OP_RAGGED_DOT) {
    for (int pass = 0; pass < 2; pass++) {  // the least reaches all in two
      share_pairs(c, INDIM_ATTR_LHS_CONTRACTING_DIMS, INDIM_ATTR_RHS_CONTRACTING_DIMS);
      share_pairs(c, INDIM_ATTR_LHS_BATCH_DIMS, INDIM_ATTR_RHS_BATCH_DIMS);
      if (c->instr->op == INDIM_OP_RAGGED_DOT) {
        share_groups(c);
      }
    }
    return;
  }
  if (c->instr->op == INDIM_OP_SCATTER) {
    share_rows(c);
    return;
  }
  if (c->instr->op == INDIM_OP_SELECT_AND_SCATTER) {
    share_windows(c);
    return;
  }
  if (indim_instr_is_batch_norm(c->instr)) {
    share_features(c);
    return;
  }
  if (c->instr->op == INDIM_OP_CONVOLUTION) {
    const indim_dim_labels *labels = indim_instr_attr(c->instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels;
    if (indim_instr_int(c->instr, INDIM_ATTR_FEATURE_GROUP_COUNT, 1) == 1) {
      share_size(c, 0, labels->input_feature, 1, labels->kernel_input);
    }
    return;
  }
  if (c->instr->op == INDIM_OP_CONCATENATE) {
    along = indim_instr_ints(c->instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  } else if (c->instr->op == INDIM_OP_REDUCE || c->instr->op == INDIM_OP_REDUCE_WINDOW) {
    arrays /= 2;
  } else if (c->instr->op != INDIM_OP_SORT) {
    return;
  }
  for (int pass = 0; pass < 2; pass++) {  // the least reaches all in two
    for (int32_t i = 1; i < arrays; i++) {
      for (int32_t d = 0; d < c->shapes[0].rank; d++) {
        if (d != along) {
          share_size(c, 0, d, i, d);
        }
      }
    }
  }
}

static indim_status cut_operand(cutting *c, int32_t i, const indim_value *whole) {
  int64_t to[INDIM_MAX_RANK];
  int64_t from[INDIM_MAX_RANK];
  const indim_shape *shape = &c->shapes[i];
  INDIM_TRY(indim_value_new(c->e->cx, shape, &c->operands[i]));
  indim_eval_dense_strides(shape, to);
  indim_eval_dense_strides(whole->shape, from);
  return indim_eval_copy_box(c->e, shape->rank, shape->sizes, indim_type_bytes(shape->type), c->operands[i]->data, to,
                             whole->data, from);
}

static indim_status make_short(cutting *c, indim_value *const *operands) {
  void *memory = NULL;
  size_t count = (size_t)c->instr->operand_count;
  INDIM_TRY(indim_arena_array(&c->arena, count, sizeof(indim_instr), &memory));
  indim_instr *stubs = memory;
  INDIM_TRY(indim_arena_array(&c->arena, count, sizeof(indim_instr *), &memory));
  c->short_instr = *c->instr;
  c->short_instr.operands = memory;
  INDIM_TRY(indim_arena_array(&c->arena, count, sizeof *c->shapes, &memory));
  c->shapes = memory;
  INDIM_TRY(indim_arena_array(&c->arena, count, sizeof *c->operands, &memory));
  c->operands = memory;
  for (size_t i = 0; i < count; i++) {
    c->shapes[i] = *operands[i]->shape;
    c->shapes[i].dynamic = 0;
    c->shapes[i].has_layout = false;
    bool is_whole =
        c->instr->op == INDIM_OP_SCATTER && i < (size_t)c->instr->operand_count / 2;  // keeps what is beyond
    for (int32_t d = 0; d < c->shapes[i].rank && !is_whole; d++) {
      c->shapes[i].sizes[d] = indim_dynamic_size(operands[i], d);
    }
    stubs[i] = *c->instr->operands[i];
    stubs[i].shape = &c->shapes[i];
    c->short_instr.operands[i] = &stubs[i];
  }
  share_sizes(c);
  for (int32_t i = 0; i < c->instr->operand_count; i++) {
    INDIM_TRY(cut_operand(c, i, operands[i]));
  }
  return INDIM_OK;
}

// Reshapes --------------------------------------------------------------------------------------------------------------------

static int64_t product(const int64_t *sizes, int32_t begin, int32_t end) {
  int64_t count = 1;
  for (int32_t d = begin; d < end; d++) {
    count *= sizes[d];  // no more than the array's elements
  }
  return count;
}

// Dimensions begin to end of the result have |count| elements: the one dynamic one of them has what the others leave.
static indim_status divide_up(const cutting *c, int64_t count, int32_t begin, int32_t end, int64_t *sizes) {
  const indim_shape *bound = c->instr->shape;
  int32_t open = -1;
  int64_t others = 1;
  int32_t dynamic = 0;
  for (int32_t d = begin; d < end; d++) {
    bool is_open = (bound->dynamic >> d & 1) != 0;
    sizes[d] = bound->sizes[d];
    others *= is_open ? 1 : bound->sizes[d];
    open = is_open ? d : open;
    dynamic += is_open ? 1 : 0;
  }
  if (product(bound->sizes, begin, end) == count) {
    return INDIM_OK;
  }
  if (dynamic != 1 || others == 0 || count % others != 0) {
    return indim_fail_instr(c->e->cx, INDIM_INVALID, c->instr,
                            "%lld elements when the program runs cannot be dealt out to the result's %d dimension%s",
                            (long long)count, (int)(end - begin), end - begin == 1 ? "" : "s");
  }
  sizes[open] = count / others;
  return INDIM_OK;
}

// Dimensions on both sides are taken in groups with equally many elements by their bounds.
static indim_status reshape_sizes(const cutting *c, const indim_shape *from, int64_t *sizes) {
  const indim_shape *to = c->instr->shape;
  const int64_t *counts = c->shapes[0].sizes;
  if (indim_shape_element_count(to) == 0) {  // no elements by the bounds: any sizes will do
    memcpy(sizes, to->sizes, (size_t)to->rank * sizeof *sizes);
    return INDIM_OK;
  }
  indim_reshape_group g = {0};
  while (indim_reshape_group_next(from, to, &g)) {
    INDIM_TRY(divide_up(c, product(counts, g.first_from, g.from), g.first_to, g.to, sizes));
  }
  return INDIM_OK;
}

// The sizes that the operands of a dynamic-reshape say.
static indim_status stated_sizes(const cutting *c, int64_t *sizes) {
  const indim_shape *bound = c->instr->shape;
  int64_t count = 1;
  for (int32_t d = 0; d < bound->rank; d++) {
    const indim_value *size = c->operands[1 + d];
    sizes[d] = indim_scalar_load(size->shape->type, size->data, 0).i;
    if (sizes[d] < 0 || sizes[d] > bound->sizes[d]) {
      return indim_fail_instr(c->e->cx, INDIM_INVALID, c->instr, "the size of dimension %d is %lld, expected 0 to %lld",
                              (int)d, (long long)sizes[d], (long long)bound->sizes[d]);
    }
    count *= sizes[d];
  }
  if (count != c->operands[0]->count) {
    return indim_fail_instr(c->e->cx, INDIM_INVALID, c->instr, "the sizes hold %lld elements, and operand 0 has %lld",
                            (long long)count, (long long)c->operands[0]->count);
  }
  return INDIM_OK;
}

// Of a line that has less than k= elements all are taken.
static indim_status limit_k(cutting *c) {
  void *memory = NULL;
  size_t count = (size_t)c->instr->attr_count;
  int64_t length = c->shapes[0].sizes[c->shapes[0].rank - 1];
  INDIM_TRY(indim_arena_array(&c->arena, count, sizeof(indim_attr), &memory));
  c->short_instr.attrs = memcpy(memory, c->instr->attrs, count * sizeof(indim_attr));
  for (size_t i = 0; i < count; i++) {
    indim_attr *attr = &c->short_instr.attrs[i];
    if (attr->id == INDIM_ATTR_K) {
      attr->value.integer = least(attr->value.integer, length);
    }
  }
  return INDIM_OK;
}

// Negative padding takes away no more than there is.
static indim_status check_padding(const cutting *c) {
  const indim_padding_dim *padding = indim_instr_attr(c->instr, INDIM_ATTR_PADDING)->value.padding;
  for (int32_t d = 0; d < c->shapes[0].rank; d++) {
    int64_t size = c->shapes[0].sizes[d];
    size = size == 0 ? 0 : (size - 1) * (padding[d].interior + 1) + 1;  // no more than the bound's, which is checked
    size += padding[d].low + padding[d].high;
    if (size < 0) {
      return indim_fail_instr(c->e->cx, INDIM_INVALID, c->instr, "the padding leaves %lld elements along dimension %d",
                              (long long)size, (int)d);
    }
  }
  return INDIM_OK;
}

static indim_status short_shape(cutting *c, const indim_shape *from, indim_shape *out) {
  if (c->instr->op == INDIM_OP_PAD) {
    INDIM_TRY(check_padding(c));
  }
  if (c->instr->op == INDIM_OP_TOPK) {
    INDIM_TRY(limit_k(c));
  }
  if (c->instr->op == INDIM_OP_SELECT_AND_SCATTER) {  // of which there may be less sources than windows
    *out = c->shapes[0];
    out->type = c->instr->shape->type;
    return INDIM_OK;
  }
  if (c->instr->op != INDIM_OP_RESHAPE && c->instr->op != INDIM_OP_DYNAMIC_RESHAPE) {
    return indim_infer_shape(c->e->cx, &c->short_instr, &c->arena, out);
  }
  *out = *c->instr->shape;
  out->dynamic = 0;
  return c->instr->op == INDIM_OP_RESHAPE ? reshape_sizes(c, from, out->sizes) : stated_sizes(c, out->sizes);
}

// Back to the bounds; what does not count is 0.
static indim_status stretch(cutting *c, const indim_value *value, const indim_shape *shape, indim_value **out) {
  int64_t to[INDIM_MAX_RANK];
  int64_t from[INDIM_MAX_RANK];
  INDIM_TRY(indim_dynamic_check_sizes(c->e, c->instr, shape, value->shape->sizes));
  INDIM_TRY(indim_value_new(c->e->cx, shape, out));
  memset((*out)->data, 0, (size_t)(*out)->bytes);
  indim_eval_dense_strides(shape, to);
  indim_eval_dense_strides(value->shape, from);
  if ((*out)->sizes != NULL) {
    memcpy((*out)->sizes, value->shape->sizes, (size_t)shape->rank * sizeof *to);
  }
  return indim_eval_copy_box(c->e, shape->rank, value->shape->sizes, indim_type_bytes(shape->type), (*out)->data, to,
                             value->data, from);
}

static indim_status stretch_all(cutting *c, const indim_value *value, indim_value **out) {
  const indim_shape *shape = c->instr->shape;
  if (!indim_shape_is_tuple(shape)) {
    return stretch(c, value, shape, out);
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&c->arena, (size_t)shape->member_count, sizeof *out, &memory));
  indim_value **members = memory;
  indim_status status = INDIM_OK;
  for (int64_t i = 0; i < shape->member_count && status == INDIM_OK; i++) {
    status = stretch(c, value->members[i], shape->members[i], &members[i]);
  }
  if (status == INDIM_OK) {
    status = indim_value_new_tuple(c->e->cx, shape, members, out);
  }
  for (int64_t i = 0; i < shape->member_count && status != INDIM_OK; i++) {
    indim_value_release(c->e->cx, members[i]);
  }
  return status;
}

static indim_status run_short(cutting *c, indim_eval_fn *run, indim_value *const *operands, indim_value **out) {
  indim_shape shape;
  indim_value *result = NULL;
  INDIM_TRY(make_short(c, operands));
  INDIM_TRY(short_shape(c, operands[0]->shape, &shape));
  c->short_instr.shape = &shape;
  indim_status status = run(c->e, &c->short_instr, c->operands, &result);
  if (status == INDIM_OK) {
    status = stretch_all(c, result, out);
  }
  indim_value_release(c->e->cx, result);
  return status;
}

static indim_status run_cut(indim_evaluator *e, const indim_instr *instr, indim_eval_fn *run, indim_value **operands,
                            indim_value **out) {
  cutting c = {.e = e, .instr = instr};
  indim_arena_init(&c.arena, e->cx);
  indim_status status = run_short(&c, run, operands, out);
  for (int32_t i = 0; c.operands != NULL && i < instr->operand_count; i++) {
    indim_value_release(e->cx, c.operands[i]);
  }
  indim_arena_deinit(&c.arena);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, *out);
    *out = NULL;
  }
  return status;
}

static bool has_short_rows(const indim_instr *instr, indim_value *const *operands) {
  for (int32_t i = instr->operand_count / 2; i < instr->operand_count; i++) {
    if (is_cut(operands[i])) {
      return true;
    }
  }
  return false;
}

// A scatter of rows of which only some count.
static indim_status scatter_rows(indim_evaluator *e, const indim_instr *instr, indim_eval_fn *run,
                                 indim_value **operands, indim_value **out) {
  int64_t sizes[INDIM_MAX_RANK];
  int64_t count = 0;
  const int64_t *windows = indim_instr_ints(instr, INDIM_ATTR_UPDATE_WINDOW_DIMS, &count);
  for (int32_t i = instr->operand_count / 2 + 1; i < instr->operand_count; i++) {
    for (int64_t k = 0; k < count; k++) {
      int32_t d = (int32_t)windows[k];
      if (indim_dynamic_size(operands[i], d) != operands[i]->shape->sizes[d]) {
        return indim_fail_instr(
            e->cx, INDIM_UNSUPPORTED, instr,
            "the windows of the updates have %lld of %lld elements along dimension %d; they must be whole",
            (long long)indim_dynamic_size(operands[i], d), (long long)operands[i]->shape->sizes[d], (int)d);
      }
    }
  }
  scattered_sizes(instr, operands, sizes);
  INDIM_TRY(run_cut(e, instr, run, operands, out));
  return take_sizes(e, instr, sizes, out);
}

// Ops -----------------------------------------------------------------------------------------------------------------------

indim_status indim_dynamic_run(indim_evaluator *e, const indim_instr *instr, indim_eval_fn *run, indim_value **operands,
                               indim_value **out) {
  if (instr->op == INDIM_OP_SCATTER && has_short_rows(instr, operands)) {
    return scatter_rows(e, instr, run, operands, out);
  }
  if (instr->op == INDIM_OP_CUSTOM_CALL) {
    return run_custom_call(e, instr, run, operands, out);
  }
  switch (rule_of(instr)) {
  case INDIM_DYNAMIC_WHOLE:
    return run_whole(e, instr, run, operands, out);
  case INDIM_DYNAMIC_CUT:
    return run_cut(e, instr, run, operands, out);
  case INDIM_DYNAMIC_PASS:
    break;
  }
  return run(e, instr, operands, out);
}

indim_status indim_eval_get_dimension_size(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                           indim_value **out) {
  int64_t count = 0;
  int64_t dim = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  INDIM_TRY(indim_value_new(e->cx, instr->shape, out));
  indim_scalar_store(INDIM_S32, (*out)->data, 0, (indim_scalar){.i = indim_dynamic_size(operands[0], (int32_t)dim)});
  return INDIM_OK;
}

// The elements stay, those beyond the size too: a larger size brings back what a smaller one hid.
indim_status indim_eval_set_dimension_size(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                           indim_value **out) {
  int64_t count = 0;
  int64_t sizes[INDIM_MAX_RANK];
  int64_t dim = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  for (int32_t d = 0; d < instr->shape->rank; d++) {
    sizes[d] = indim_dynamic_size(operands[0], d);
  }
  sizes[dim] = indim_scalar_load(INDIM_S32, operands[1]->data, 0).i;
  if (sizes[dim] < 0 || sizes[dim] > instr->shape->sizes[dim]) {
    return indim_fail_instr(e->cx, INDIM_INVALID, instr, "the size of dimension %lld is %lld, expected 0 to %lld",
                            (long long)dim, (long long)sizes[dim], (long long)instr->shape->sizes[dim]);
  }
  *out = operands[0];
  operands[0] = NULL;
  return take_sizes(e, instr, sizes, out);
}
