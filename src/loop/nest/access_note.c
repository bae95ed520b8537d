// What an access analysis records: addresses, guards and uses of indices, as affine functions of the nest's indices.
#include <string.h>

#include "loop/ir/build.h"
#include "loop/nest/element.h"

// The dimension whose index |v| is; -1: none.
static int32_t dim_of_index(const indim_access_analysis *s, indim_value_id v) {
  for (int32_t d = 0; d < s->rank; d++) {
    if (s->index[d] == v) {
      return d;
    }
  }
  return -1;
}

static bool is_defined_outside(const indim_lowering *l, const indim_access_analysis *s, indim_value_id v) {
  const indim_loop_value *value = &l->program->values[v];
  for (int32_t d = 0; d < s->rank; d++) {
    const indim_loop_value *index = &l->program->values[s->index[d]];
    if (index->node == NULL && value->body->depth >= index->body->depth) {
      return false;
    }
  }
  return true;
}

// |v| as constant + sum of strides[d] * index[d] + values defined outside the nest. False when it is not of that form.
static bool decompose(const indim_lowering *l, const indim_access_analysis *s, indim_value_id v, int64_t *strides,
                      bool *out_only_indices, int64_t *out_constant) {
  const indim_loop_value *value = &l->program->values[v];
  memset(strides, 0, (size_t)s->rank * sizeof *strides);
  *out_only_indices = true;
  *out_constant = 0;
  if (value->lanes != 1) {
    return false;
  }
  int32_t dim = dim_of_index(s, v);
  if (dim >= 0 && value->low != value->high) {
    strides[dim] = 1;
    return true;
  }
  indim_affine sum;
  indim_affine_of(l->program, v, &sum);
  *out_constant = sum.low;
  for (int32_t i = 0; i < sum.count; i++) {
    dim = dim_of_index(s, sum.terms[i]);
    if (dim >= 0) {
      strides[dim] = sum.coefficients[i];
    } else if (is_defined_outside(l, s, sum.terms[i])) {
      *out_only_indices = false;
    } else {
      return false;
    }
  }
  return true;
}

// Whether |v| follows from the index of |dim|, or may: |budget| is of values that are looked at.
static bool may_depend(const indim_lowering *l, const indim_access_analysis *s, indim_value_id v, int32_t dim,
                       int32_t *budget) {
  const indim_loop_node *node = l->program->values[v].node;
  int32_t found = dim_of_index(s, v);
  if (found >= 0 || is_defined_outside(l, s, v)) {
    return found == dim;
  }
  bool depends = --*budget < 0 || node == NULL || node->bodies[0] != NULL;
  for (int32_t i = 0; !depends && i < node->arg_count; i++) {
    depends = may_depend(l, s, node->args[i], dim, budget);
  }
  return depends;
}

// The strides of |v| along those dimensions on which nothing else in it depends, as of j in x[k / 2, j] and x[row[k], j].
static void find_some_strides(const indim_lowering *l, const indim_access_analysis *s, indim_value_id v,
                              int64_t *strides) {
  enum { MOST_VALUES = 64 };
  indim_affine sum;
  bool is_scalar = l->program->values[v].lanes == 1;
  if (is_scalar) {
    indim_affine_of(l->program, v, &sum);
  }
  for (int32_t d = 0; d < s->rank; d++) {
    int32_t budget = MOST_VALUES;
    bool is_known = is_scalar;
    for (int32_t i = 0; is_known && i < sum.count; i++) {
      is_known = sum.terms[i] == s->index[d] || !may_depend(l, s, sum.terms[i], d, &budget);
    }
    strides[d] = is_known ? indim_affine_coefficient(&sum, s->index[d]) : INDIM_NO_STRIDE;
  }
}

// The address where all of the nest's indices are 0, computed outside the nest.
static indim_value_id address_at_zero(indim_lowering *l, const indim_access_analysis *s, indim_value_id v) {
  if (dim_of_index(s, v) >= 0) {
    return indim_loop_index(&l->b, 0);
  }
  if (is_defined_outside(l, s, v)) {
    return v;
  }
  indim_affine address;
  indim_affine_of(l->program, v, &address);
  for (int32_t d = 0; d < s->rank; d++) {
    (void)indim_affine_remove(&address, s->index[d]);
  }
  return indim_loop_sum(&l->b, &address, 1);
}

int64_t indim_access_stride(const indim_access *access, int32_t dim) {
  const int64_t *strides = access->strides != NULL ? access->strides : access->some_strides;
  return strides == NULL ? INDIM_NO_STRIDE : strides[dim];
}

bool indim_access_is_adjacent(const indim_access *access, int32_t dim) {
  int64_t stride = indim_access_stride(access, dim);
  return stride == 1 || stride == -1;
}

static void note_access(indim_lowering *l, const indim_flow_item *item, const indim_location *at,
                        indim_value_id address) {
  indim_access_analysis *s = l->survey;
  if (s == NULL || indim_lower_failed(l)) {
    return;
  }
  indim_access_list *list = s->list;
  if (list->count == INDIM_MAX_ACCESSES) {
    list->is_full = true;
    return;
  }
  int64_t strides[INDIM_MAX_RANK];
  bool only_indices = false;
  int64_t constant = 0;
  indim_access *access = &list->accesses[list->count++];
  *access = (indim_access){.item = item, .storage = at->storage, .is_packed = at->packed_bits != 0};
  bool is_affine = decompose(l, s, address, strides, &only_indices, &constant);
  if (!is_affine) {
    find_some_strides(l, s, address, strides);
  }
  int64_t *kept = indim_lower_alloc(l, s->rank, sizeof *kept);
  if (kept != NULL) {
    memcpy(kept, strides, (size_t)s->rank * sizeof *kept);
  }
  if (is_affine) {
    access->strides = kept;
    access->base = address_at_zero(l, s, address);
  } else {
    access->some_strides = kept;
  }
}

void indim_access_note_read(indim_lowering *l, const indim_flow_item *item, const indim_location *at,
                            indim_value_id address) {
  note_access(l, item, at, address);
}

void indim_access_note_store(indim_lowering *l, const indim_location *at, indim_value_id address) {
  note_access(l, NULL, at, address);
}

void indim_access_note_value_use(indim_lowering *l, indim_coord x) {
  indim_access_analysis *s = l->survey;
  if (s == NULL || indim_lower_failed(l)) {
    return;
  }
  int64_t strides[INDIM_MAX_RANK];
  bool only_indices = false;
  int64_t constant = 0;
  bool is_affine = decompose(l, s, x.base, strides, &only_indices, &constant);
  for (int32_t d = 0; d < s->rank; d++) {
    s->list->used_as_value[d] = s->list->used_as_value[d] || !is_affine || strides[d] != 0;
  }
}

// Records a split of a dimension that makes x / divisor and x % divisor affine: x is c * index + k, plus multiples of
// the divisor. The split factor is divisor / c, counted from the first multiple on.
static void note_split(indim_lowering *l, indim_coord x, int64_t divisor) {
  indim_access_analysis *s = l->survey;
  int64_t strides[INDIM_MAX_RANK];
  bool only_indices = false;
  int64_t constant = 0;
  int32_t dim = -1;
  if (!decompose(l, s, x.base, strides, &only_indices, &constant) || !only_indices) {
    return;
  }
  for (int32_t d = 0; d < s->rank; d++) {
    if (strides[d] % divisor != 0) {
      if (dim >= 0) {
        return;
      }
      dim = d;
    }
  }
  int64_t remainder = indim_index_modulo(constant, divisor);
  if (dim < 0 || strides[dim] <= 0 || divisor % strides[dim] != 0 || remainder % strides[dim] != 0) {
    return;
  }
  int64_t factor = divisor / strides[dim];
  if (s->list->split_factor[dim] == 0 || factor < s->list->split_factor[dim]) {
    s->list->split_factor[dim] = factor;
    s->list->split_offset[dim] = (factor - remainder / strides[dim]) % factor;
  }
}

void indim_access_note_divided(indim_lowering *l, indim_coord x, int64_t divisor, indim_value_id quotient) {
  if (l->survey == NULL || indim_lower_failed(l)) {
    return;
  }
  const indim_loop_value *range = indim_loop_value_of(&l->b, quotient);
  if (range->low == range->high) {
    indim_access_note_value_use(l, x);
  } else {
    note_split(l, x, divisor);
  }
}

// Of a quotient plus a constant: what is divided, which is at least another value where that is at least |*value|.
static bool undivide(const indim_lowering *l, indim_value_id *x, int64_t *value) {
  indim_affine sum;
  if (l->program->values[*x].lanes != 1) {
    return false;
  }
  indim_affine_of(l->program, *x, &sum);
  const indim_loop_node *node = sum.count == 1 ? l->program->values[sum.terms[0]].node : NULL;
  bool is_quotient =
      node != NULL && node->kind == INDIM_NODE_FLOORDIV && sum.coefficients[0] == 1 && sum.low == sum.high;
  if (is_quotient) {
    *x = node->args[0];
    *value = indim_index_mul_saturated(*value - sum.low, node->u.affine.constant);
  }
  return is_quotient;
}

void indim_access_note_split(indim_lowering *l, indim_coord x, int64_t value) {
  indim_access_analysis *s = l->survey;
  if (s == NULL || indim_lower_failed(l)) {
    return;
  }
  indim_access_note_value_use(l, x);
  int64_t strides[INDIM_MAX_RANK];
  bool only_indices = false;
  int64_t constant = 0;
  indim_value_id base = x.base;
  while (undivide(l, &base, &value)) {
  }
  if (!decompose(l, s, base, strides, &only_indices, &constant) || !only_indices) {
    return;
  }
  int32_t dim = -1;
  for (int32_t d = 0; d < s->rank; d++) {
    if (strides[d] != 0) {
      if (dim >= 0) {
        return;
      }
      dim = d;
    }
  }
  if (dim < 0 || (strides[dim] != 1 && strides[dim] != -1)) {
    return;
  }
  // x >= value holds from the index value - constant on, or up to constant - value.
  int64_t point = strides[dim] == 1 ? value - constant : constant - value + 1;
  for (int32_t i = 0; i < s->list->split_point_count[dim]; i++) {
    if (s->list->split_points[dim][i] == point) {
      return;
    }
  }
  if (s->list->split_point_count[dim] < INDIM_MAX_SPLIT_POINTS) {
    s->list->split_points[dim][s->list->split_point_count[dim]++] = point;
  }
}

// Bytes of a lane in a register (emit/llvm/codegen.h).
static int32_t register_bytes(indim_type type) {
  if (type == INDIM_PRED) {
    return 1;
  }
  if (indim_type_is_float(type)) {
    return type == INDIM_F64 ? 8 : 4;
  }
  return type == INDIM_C128 ? 8 : type == INDIM_C64 ? 4 : (int32_t)indim_type_bytes(type);
}

void indim_access_note_type(indim_lowering *l, indim_type type) {
  if (l->survey == NULL) {
    return;
  }
  indim_access_list *list = l->survey->list;
  bool is_of_bits = l->survey->is_of_bits && !indim_type_is_complex(type);
  int32_t bytes = is_of_bits ? (int32_t)indim_type_bytes(type) : register_bytes(type);
  list->widest = bytes > list->widest ? bytes : list->widest;
  list->values++;
  list->wide_values += bytes == 8 ? 1 : 0;
  list->has_bf16 = list->has_bf16 || (type == INDIM_BF16 && !is_of_bits);
  list->has_others = list->has_others || type != INDIM_BF16 || is_of_bits;
}

bool indim_access_note_bits(indim_lowering *l, bool is_of_bits) {
  bool before = l->survey != NULL && l->survey->is_of_bits;
  if (l->survey != NULL) {
    l->survey->is_of_bits = is_of_bits;
  }
  return before;
}
