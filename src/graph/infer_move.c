// Shape rules of the ops that move elements without computing: broadcast, reshape, transpose, slices, pad, concatenate.
// Where the result cannot follow from the operands (reshape, broadcast, bitcast), the declared shape is checked against
// them and returned.
#include <inttypes.h>

#include "base/size.h"
#include "graph/infer_kit.h"

// The declared shape, which must be an array of the operand's element type.
static indim_status declared_like(indim_ctx *cx, const indim_instr *instr, const indim_shape **out_declared) {
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(indim_instr_declared(cx, instr, out_declared));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  if ((*out_declared)->type != operand->type) {
    indim_shape_text declared_text;
    indim_shape_text operand_text;
    indim_fail_instr(cx, INDIM_INVALID, instr, "declared %s, but operand 0 (%s) is %s: the element type stays the same",
                     indim_shape_brief(*out_declared, &declared_text), indim_operand_name(instr, 0),
                     indim_shape_brief(operand, &operand_text));
    indim_hint(cx, "convert changes the element type");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

// Both have the same number of elements; bounds count, and "?" is not known.
static indim_status verify_element_count(indim_ctx *cx, const indim_instr *instr, const indim_shape *declared) {
  const indim_shape *operand = indim_operand_shape(instr, 0);
  if (indim_shape_is_unbounded(operand) || indim_shape_is_unbounded(declared)) {
    return INDIM_OK;
  }
  int64_t from = indim_shape_element_count(operand);
  int64_t to = indim_shape_element_count(declared);
  if (from == to) {
    return INDIM_OK;
  }
  indim_shape_text declared_text;
  indim_shape_text operand_text;
  indim_fail_instr(cx, INDIM_INVALID, instr,
                   "operand 0 (%s) is %s of %" PRId64 " elements, but the declared %s has %" PRId64,
                   indim_operand_name(instr, 0), indim_shape_brief(operand, &operand_text), from,
                   indim_shape_brief(declared, &declared_text), to);
  indim_hint(cx, "the sizes must have the product %" PRId64, from);
  return INDIM_INVALID;
}

indim_status indim_infer_reshape(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  const indim_shape *declared = NULL;
  INDIM_TRY(declared_like(cx, instr, &declared));
  INDIM_TRY(verify_element_count(cx, instr, declared));
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_INFERRED_DIMENSION);
  if (attr != NULL && (attr->value.integer < 0 || attr->value.integer >= declared->rank)) {
    indim_shape_text text;
    return indim_fail_attr(cx, instr, attr->id, "inferred_dimension=%" PRId64 " is no dimension of the declared %s",
                           attr->value.integer, indim_shape_brief(declared, &text));
  }
  *out_shape = *declared;
  return INDIM_OK;
}

indim_status indim_infer_dynamic_reshape(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                         indim_shape *out_shape) {
  (void)arena;
  const indim_shape *declared = NULL;
  INDIM_TRY(declared_like(cx, instr, &declared));
  if (instr->operand_count - 1 != declared->rank) {
    indim_shape_text text;
    return indim_fail_instr(
        cx, INDIM_INVALID, instr,
        "has %d operand%s after the first, but the declared %s has rank %d: each is the size of a dimension",
        (int)instr->operand_count - 1, instr->operand_count == 2 ? "" : "s", indim_shape_brief(declared, &text),
        (int)declared->rank);
  }
  for (int32_t i = 1; i < instr->operand_count; i++) {
    INDIM_TRY(indim_operand_verify_scalar(cx, instr, i, "a size"));
    INDIM_TRY(indim_operand_verify_classes(cx, instr, i, INDIM_CLASS_INTEGER));
  }
  INDIM_TRY(verify_element_count(cx, instr, declared));
  *out_shape = *declared;
  return INDIM_OK;
}

static indim_status storage_bytes(indim_ctx *cx, const indim_instr *instr, const indim_shape *shape, int64_t *out) {
  indim_status status = indim_shape_storage_bytes(cx, shape, out);
  if (status != INDIM_OK && instr->offset != INDIM_NO_OFFSET) {
    indim_place(cx, &instr->computation->module->source, instr->offset);
  }
  return status;
}

indim_status indim_infer_bitcast(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  const indim_shape *declared = NULL;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(indim_instr_declared(cx, instr, &declared));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  indim_shape_text declared_text;
  indim_shape_text operand_text;
  indim_shape_brief(declared, &declared_text);
  if (!indim_shape_is_array(declared)) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "the result is %s, expected an array", declared_text.text);
  }
  if (!indim_shape_is_unbounded(operand) && !indim_shape_is_unbounded(declared)) {
    int64_t from = 0;
    int64_t to = 0;
    INDIM_TRY(storage_bytes(cx, instr, operand, &from));
    INDIM_TRY(storage_bytes(cx, instr, declared, &to));
    if (from != to) {
      return indim_fail_instr(
          cx, INDIM_INVALID, instr, "operand 0 (%s) is %s of %" PRId64 " bytes, but the declared %s takes %" PRId64,
          indim_operand_name(instr, 0), indim_shape_brief(operand, &operand_text), from, declared_text.text, to);
    }
  }
  *out_shape = *declared;
  return INDIM_OK;
}

indim_status indim_infer_broadcast(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                   indim_shape *out_shape) {
  (void)arena;
  const indim_shape *declared = NULL;
  INDIM_TRY(declared_like(cx, instr, &declared));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  const char *name = indim_operand_name(instr, 0);
  indim_shape_text operand_text;
  indim_shape_text declared_text;
  indim_shape_brief(operand, &operand_text);
  indim_shape_brief(declared, &declared_text);
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  if (count != operand->rank) {
    indim_fail_attr(cx, instr, INDIM_ATTR_DIMENSIONS,
                    "dimensions= has length %" PRId64 ", but operand 0 (%s) is %s of rank %d", count, name,
                    operand_text.text, (int)operand->rank);
    indim_hint(cx, "name the dimension of %s that each dimension of the operand becomes", declared_text.text);
    return INDIM_INVALID;
  }
  INDIM_TRY(indim_attr_verify_dims(cx, instr, INDIM_ATTR_DIMENSIONS, declared, INDIM_DIMS_UNIQUE));
  for (int32_t i = 0; i < operand->rank; i++) {
    if (!indim_size_fits(operand->sizes[i], declared->sizes[dims[i]])) {
      indim_dim_text from;
      indim_dim_text to;
      indim_fail_attr(cx, instr, INDIM_ATTR_DIMENSIONS,
                      "dimension %d of operand 0 (%s), which is %s, has size %s; it becomes dimension %" PRId64
                      " of %s, which has size %s",
                      (int)i, name, operand_text.text, indim_dim_brief(operand, i, &from), dims[i], declared_text.text,
                      indim_dim_brief(declared, dims[i], &to));
      if (operand->sizes[i] == 1) {
        indim_hint(cx, "a size 1 is not stretched; reshape the dimension away first");
      } else {
        indim_hint(cx, "the sizes must be equal");
      }
      return INDIM_INVALID;
    }
  }
  *out_shape = *declared;
  return INDIM_OK;
}

// The same layout after the dimensions were renamed: dimension dims[i] of |layout| is dimension i of the result.
static void permute_layout(const indim_layout *layout, const int64_t *dims, indim_layout *out_layout) {
  int64_t renamed[INDIM_MAX_RANK];
  *out_layout = *layout;
  for (int32_t i = 0; i < layout->rank; i++) {
    renamed[dims[i]] = i;
  }
  for (int32_t i = 0; i < layout->rank; i++) {
    out_layout->minor_to_major[i] = renamed[layout->minor_to_major[i]];
  }
  for (int32_t i = 0; i < layout->padded_rank; i++) {
    out_layout->padded_sizes[i] = layout->padded_sizes[dims[i]];
  }
}

indim_status indim_infer_transpose(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                   indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  INDIM_TRY(indim_attr_verify_dims(cx, instr, INDIM_ATTR_DIMENSIONS, operand, INDIM_DIMS_UNIQUE));
  if (count != operand->rank) {
    indim_list_text list;
    indim_shape_text text;
    indim_fail_attr(cx, instr, INDIM_ATTR_DIMENSIONS, "dimensions=%s is no permutation of the dimensions of %s",
                    indim_list_brief(dims, count, &list), indim_shape_brief(operand, &text));
    indim_hint(cx, "each of its %d dimensions must stand there once", (int)operand->rank);
    return INDIM_INVALID;
  }
  *out_shape = *operand;
  out_shape->dynamic = 0;
  for (int32_t i = 0; i < operand->rank; i++) {
    indim_dim_set(out_shape, i, operand->sizes[dims[i]], indim_dim_is_dynamic(operand, dims[i]));
  }
  if (operand->has_layout && operand->layout.rank == operand->rank) {
    permute_layout(&operand->layout, dims, &out_shape->layout);
  }
  return INDIM_OK;
}

indim_status indim_infer_reverse(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  INDIM_TRY(indim_attr_verify_dims(cx, instr, INDIM_ATTR_DIMENSIONS, operand, INDIM_DIMS_UNIQUE));
  *out_shape = *operand;
  return INDIM_OK;
}

static indim_status verify_slice_dim(indim_ctx *cx, const indim_instr *instr, const indim_shape *operand, int32_t dim,
                                     const indim_slice_dim *slice) {
  const char *reason = NULL;
  const char *hint = NULL;
  bool bounded = operand->sizes[dim] != INDIM_UNBOUNDED;
  if (slice->start < 0) {
    reason = "the start is negative";
    hint = "count from the front: the size minus how many from the end";
  } else if (bounded && slice->limit > operand->sizes[dim]) {
    reason = "the limit is beyond the end";
    hint = "the limit is the first place that is not taken, at most the size";
  } else if (slice->start > slice->limit) {
    reason = "the start is beyond the limit";
    hint = "for the other direction reverse the result";
  } else if (slice->stride < 1) {
    reason = "the stride is not positive";
    hint = "for the other direction reverse the result";
  } else {
    return INDIM_OK;
  }
  indim_shape_text text;
  indim_dim_text size;
  indim_fail_attr(cx, instr, INDIM_ATTR_SLICE,
                  "[%" PRId64 ":%" PRId64 ":%" PRId64
                  "] of dimension %d, of size %s, of operand 0 (%s), which is %s: %s",
                  slice->start, slice->limit, slice->stride, (int)dim, indim_dim_brief(operand, dim, &size),
                  indim_operand_name(instr, 0), indim_shape_brief(operand, &text), reason);
  indim_hint(cx, "%s", hint);
  return INDIM_INVALID;
}

indim_status indim_infer_slice(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_SLICE);
  if (attr->count != operand->rank) {
    indim_shape_text text;
    return indim_fail_attr(cx, instr, attr->id, "slice= has length %" PRId64 ", but operand 0 (%s) is %s of rank %d",
                           attr->count, indim_operand_name(instr, 0), indim_shape_brief(operand, &text),
                           (int)operand->rank);
  }
  int64_t sizes[INDIM_MAX_RANK];
  uint64_t dynamic = 0;
  for (int32_t i = 0; i < operand->rank; i++) {
    const indim_slice_dim *slice = &attr->value.slice[i];
    INDIM_TRY(verify_slice_dim(cx, instr, operand, i, slice));
    sizes[i] = indim_ceil_div(slice->limit - slice->start, slice->stride);
    bool is_bounded = operand->sizes[i] != INDIM_UNBOUNDED;
    dynamic |= (uint64_t)(is_bounded && indim_dim_is_dynamic(operand, i) && sizes[i] != 1) << i;
  }
  return indim_instr_make_array(cx, instr, operand->type, operand->rank, sizes, dynamic, out_shape);
}

// The starts of a dynamic slice, from operand |first| on: one integer scalar for each dimension of operand 0, all of one
// type; or, as in old texts, one vector of them.
static indim_status verify_starts(indim_ctx *cx, const indim_instr *instr, int32_t first) {
  const indim_shape *operand = indim_operand_shape(instr, 0);
  int32_t count = instr->operand_count - first;
  indim_shape_text text;
  bool is_vector = count == 1 && indim_operand_shape(instr, first)->rank == 1;
  if (is_vector && indim_operand_shape(instr, first)->sizes[0] == operand->rank) {
    return indim_operand_verify_classes(cx, instr, first, INDIM_CLASS_INTEGER);
  }
  if (count != operand->rank || is_vector) {
    indim_fail_instr(cx, INDIM_INVALID, instr,
                     "has %d start ind%s after operand %d, but operand 0 (%s) is %s of rank %d", (int)count,
                     count == 1 ? "ex" : "ices", (int)first - 1, indim_operand_name(instr, 0),
                     indim_shape_brief(operand, &text), (int)operand->rank);
    indim_hint(cx, "give one scalar for each dimension");
    return INDIM_INVALID;
  }
  for (int32_t i = first; i < instr->operand_count; i++) {
    INDIM_TRY(indim_operand_verify_scalar(cx, instr, i, "a start index"));
    INDIM_TRY(indim_operand_verify_classes(cx, instr, i, INDIM_CLASS_INTEGER));
    INDIM_TRY(indim_operands_verify_same_type(cx, instr, first, i));
  }
  return INDIM_OK;
}

indim_status indim_infer_dynamic_slice(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                       indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(verify_starts(cx, instr, 1));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  int64_t count = 0;
  const int64_t *sizes = indim_instr_ints(instr, INDIM_ATTR_DYNAMIC_SLICE_SIZES, &count);
  indim_shape_text text;
  indim_shape_brief(operand, &text);
  const char *name = indim_operand_name(instr, 0);
  if (count != operand->rank) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_DYNAMIC_SLICE_SIZES,
                           "dynamic_slice_sizes= has length %" PRId64 ", but operand 0 (%s) is %s of rank %d", count,
                           name, text.text, (int)operand->rank);
  }
  uint64_t dynamic = 0;
  for (int32_t i = 0; i < operand->rank; i++) {
    if (sizes[i] < 0 || (operand->sizes[i] != INDIM_UNBOUNDED && sizes[i] > operand->sizes[i])) {
      indim_dim_text size;
      return indim_fail_attr(cx, instr, INDIM_ATTR_DYNAMIC_SLICE_SIZES,
                             "slice size %" PRId64 " of dimension %d of operand 0 (%s), which is %s, expected 0 to %s",
                             sizes[i], (int)i, name, text.text, indim_dim_brief(operand, i, &size));
    }
    dynamic |= (uint64_t)(sizes[i] == operand->sizes[i] && indim_dim_is_dynamic(operand, i)) << i;
  }
  return indim_instr_make_array(cx, instr, operand->type, operand->rank, sizes, dynamic, out_shape);
}

indim_status indim_infer_dynamic_update_slice(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                              indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, 1));
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, 1));
  INDIM_TRY(verify_starts(cx, instr, 2));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  const indim_shape *update = indim_operand_shape(instr, 1);
  indim_shape_text operand_text;
  indim_shape_text update_text;
  indim_shape_brief(operand, &operand_text);
  indim_shape_brief(update, &update_text);
  if (operand->rank != update->rank) {
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "the update, operand 1 (%s), is %s of rank %d, but operand 0 (%s) is %s of rank %d",
                            indim_operand_name(instr, 1), update_text.text, (int)update->rank,
                            indim_operand_name(instr, 0), operand_text.text, (int)operand->rank);
  }
  for (int32_t i = 0; i < operand->rank; i++) {
    bool known = operand->sizes[i] != INDIM_UNBOUNDED && update->sizes[i] != INDIM_UNBOUNDED;
    if (known && update->sizes[i] > operand->sizes[i]) {
      return indim_fail_instr(cx, INDIM_INVALID, instr,
                              "the update, operand 1 (%s), is %s: larger in dimension %d than operand 0 (%s), which is "
                              "%s",
                              indim_operand_name(instr, 1), update_text.text, (int)i, indim_operand_name(instr, 0),
                              operand_text.text);
    }
  }
  *out_shape = *operand;
  return INDIM_OK;
}

// Adds the size of operand |i| along |dim| to what |sum| has there: bounds add up, and "?" makes "?".
static indim_status add_size(indim_ctx *cx, const indim_instr *instr, int32_t i, int32_t dim, indim_shape *sum) {
  const indim_shape *part = indim_operand_shape(instr, i);
  int64_t size = INDIM_UNBOUNDED;
  bool known = sum->sizes[dim] != INDIM_UNBOUNDED && part->sizes[dim] != INDIM_UNBOUNDED;
  if (known && !indim_int_add(sum->sizes[dim], part->sizes[dim], &size)) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "the sum of the sizes of dimension %d overflows", (int)dim);
  }
  indim_dim_set(sum, dim, size, !known || indim_dim_is_dynamic(sum, dim) || indim_dim_is_dynamic(part, dim));
  return INDIM_OK;
}

indim_status indim_infer_concatenate(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                     indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, instr->operand_count - 1));
  const indim_shape *first = indim_operand_shape(instr, 0);
  int32_t dim = 0;
  INDIM_TRY(indim_attr_one_dim(cx, instr, INDIM_ATTR_DIMENSIONS, first, &dim));
  indim_shape sum = *first;
  for (int32_t i = 1; i < instr->operand_count; i++) {
    const indim_shape *part = indim_operand_shape(instr, i);
    INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, i));
    int32_t k = 0;
    while (k < first->rank && k < part->rank && (k == dim || indim_size_fits(first->sizes[k], part->sizes[k]))) {
      k++;
    }
    if (first->rank != part->rank || k < first->rank) {
      indim_shape_text first_text;
      indim_shape_text part_text;
      indim_fail_instr(cx, INDIM_INVALID, instr,
                       "operand %d (%s) is %s, which does not fit operand 0 (%s), which is %s, %s %d", (int)i,
                       indim_operand_name(instr, i), indim_shape_brief(part, &part_text), indim_operand_name(instr, 0),
                       indim_shape_brief(first, &first_text), first->rank == part->rank ? "in dimension" : "of rank",
                       first->rank == part->rank ? (int)k : (int)first->rank);
      indim_hint(cx, "all dimensions but the concatenated one, %d, must be equal", (int)dim);
      return INDIM_INVALID;
    }
    indim_shape other = *part;
    indim_dim_set(&other, dim, sum.sizes[dim], indim_dim_is_dynamic(&sum, dim));
    indim_dims_join(&sum, &other);
    INDIM_TRY(add_size(cx, instr, i, dim, &sum));
  }
  return indim_instr_make_array(cx, instr, first->type, first->rank, sum.sizes, sum.dynamic, out_shape);
}

// n + low + high + max(n - 1, 0) * interior; false on overflow.
static bool padded_size(int64_t size, const indim_padding_dim *padding, int64_t *out_size) {
  int64_t between = 0;
  return indim_count_mul(size > 0 ? size - 1 : 0, padding->interior, &between) &&
         indim_int_add(size, between, out_size) && indim_int_add(*out_size, padding->low, out_size) &&
         indim_int_add(*out_size, padding->high, out_size);
}

indim_status indim_infer_pad(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(indim_operand_verify_scalar(cx, instr, 1, "the padding value"));
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, 1));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_PADDING);
  indim_shape_text text;
  indim_shape_brief(operand, &text);
  const char *name = indim_operand_name(instr, 0);
  if (attr->count != operand->rank) {
    return indim_fail_attr(cx, instr, attr->id, "padding= has length %" PRId64 ", but operand 0 (%s) is %s of rank %d",
                           attr->count, name, text.text, (int)operand->rank);
  }
  int64_t sizes[INDIM_MAX_RANK];
  for (int32_t i = 0; i < operand->rank; i++) {
    const indim_padding_dim *padding = &attr->value.padding[i];
    sizes[i] = operand->sizes[i];
    if (padding->interior < 0) {
      indim_fail_attr(cx, instr, attr->id, "interior padding %" PRId64 " of dimension %d is negative",
                      padding->interior, (int)i);
      indim_hint(cx, "slice with a stride leaves elements out");
      return INDIM_INVALID;
    }
    if (sizes[i] == INDIM_UNBOUNDED) {
      continue;
    }
    if (!padded_size(operand->sizes[i], padding, &sizes[i])) {
      return indim_fail_attr(cx, instr, attr->id, "padding of dimension %d of operand 0 (%s), which is %s, overflows",
                             (int)i, name, text.text);
    }
    if (sizes[i] < 0) {
      return indim_fail_attr(cx, instr, attr->id,
                             "padding %" PRId64 "_%" PRId64 "_%" PRId64 " of dimension %d of operand 0 (%s), which is "
                             "%s, leaves the size %" PRId64,
                             padding->low, padding->high, padding->interior, (int)i, name, text.text, sizes[i]);
    }
  }
  return indim_instr_make_array(cx, instr, operand->type, operand->rank, sizes, operand->dynamic, out_shape);
}

indim_status indim_infer_get_dimension_size(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                            indim_shape *out_shape) {
  (void)arena;
  int32_t dim = 0;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(indim_attr_one_dim(cx, instr, INDIM_ATTR_DIMENSIONS, indim_operand_shape(instr, 0), &dim));
  return indim_instr_make_array(cx, instr, INDIM_S32, 0, NULL, 0, out_shape);
}

indim_status indim_infer_set_dimension_size(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                            indim_shape *out_shape) {
  (void)arena;
  int32_t dim = 0;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  INDIM_TRY(indim_attr_one_dim(cx, instr, INDIM_ATTR_DIMENSIONS, operand, &dim));
  INDIM_TRY(indim_operand_verify_scalar(cx, instr, 1, "the size"));
  const indim_shape *size = indim_operand_shape(instr, 1);
  if (size->type != INDIM_S32) {
    indim_shape_text text;
    return indim_fail_instr(cx, INDIM_INVALID, instr, "the size, operand 1 (%s), is %s, expected s32[]",
                            indim_operand_name(instr, 1), indim_shape_brief(size, &text));
  }
  *out_shape = *operand;
  indim_dim_set(out_shape, dim, operand->sizes[dim], true);
  return INDIM_OK;
}
