// Moves values between shapes without arithmetic. Everything is one copy of a block from one literal
// into another, by strides where both have them; broadcasting is a stride of 0.
#include <inttypes.h>
#include <string.h>

#include "array/literal_internal.h"
#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/size.h"
#include "indim/literal_util.h"

// A block: where it begins and which of the block's dimensions each of the literal's own dimensions is.
typedef struct block {
  const indim_literal *literal;
  const int64_t *base;        // NULL: zeros
  const int64_t *dimensions;  // NULL: each its own
} block;

// Place strides along the block's dimensions, and the place of its first element.
static int64_t block_strides(const block *b, int32_t rank, int64_t *out_strides) {
  int64_t place = 0;
  for (int32_t d = 0; d < rank; d++) {
    out_strides[d] = 0;
  }
  for (int32_t d = 0; d < b->literal->shape.rank; d++) {
    out_strides[b->dimensions != NULL ? b->dimensions[d] : d] = b->literal->strides[d];
    place += b->base != NULL ? b->base[d] * b->literal->strides[d] : 0;
  }
  return place;
}

static int64_t block_place(const block *b, const int64_t *index) {
  int64_t own[INDIM_MAX_RANK];
  for (int32_t d = 0; d < b->literal->shape.rank; d++) {
    own[d] = index[b->dimensions != NULL ? b->dimensions[d] : d] + (b->base != NULL ? b->base[d] : 0);
  }
  return indim_literal_place(b->literal, own);
}

// Copies |sizes| elements; |target| writes to |to|.
static void copy_block(int32_t rank, const int64_t *sizes, const block *source, const block *target,
                       indim_literal *to) {
  const indim_literal *from = source->literal;
  if (!indim_rows_any(rank, sizes)) {
    return;
  }
  if (indim_literal_is_strided(from) && indim_literal_is_strided(to)) {
    int64_t source_strides[INDIM_MAX_RANK];
    int64_t target_strides[INDIM_MAX_RANK];
    int32_t bytes = indim_type_bytes(from->shape.type);
    int64_t source_place = block_strides(source, rank, source_strides);
    int64_t target_place = block_strides(target, rank, target_strides);
    indim_strided_copy(rank, sizes, bytes, to->data + target_place * bytes, target_strides,
                       from->data + source_place * bytes, source_strides);
    return;
  }
  int64_t index[INDIM_MAX_RANK] = {0};
  int32_t d = 0;
  while (d >= 0) {
    indim_literal_store(to, block_place(target, index), indim_literal_load(from, block_place(source, index)));
    for (d = rank - 1; d >= 0 && ++index[d] == sizes[d]; d--) {
      index[d] = 0;
    }
  }
}

static indim_status need_static(indim_ctx *cx, const indim_literal *literal, const char *what) {
  INDIM_TRY(indim_literal_need_array(cx, literal, what));
  if (literal->shape.dynamic != 0) {
    indim_fail(cx, INDIM_UNSUPPORTED, "%s of %s: a dimension is dynamic", what,
               indim_shape_name_of(&literal->shape).text);
    indim_hint(cx, "cut it to its run-time sizes first (indim_literal_to_static)");
    return INDIM_UNSUPPORTED;
  }
  return INDIM_OK;
}

indim_status indim_literal_reshape(indim_ctx *cx, const indim_literal *literal, int32_t rank, const int64_t *sizes,
                                   indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, literal);
  indim_shape shape;
  indim_literal *result = NULL;
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  INDIM_TRY(need_static(cx, literal, "a reshape"));
  INDIM_TRY(indim_shape_init(cx, literal->shape.type, rank, sizes, &shape));
  int64_t count = indim_shape_element_count(&literal->shape);
  if (indim_shape_is_unbounded(&shape) || indim_shape_element_count(&shape) != count) {
    return indim_fail(cx, INDIM_INVALID, "%s has %" PRId64 " elements, it cannot be reshaped to %s",
                      indim_shape_name_of(&literal->shape).text, count, indim_shape_name_of(&shape).text);
  }
  INDIM_TRY(indim_literal_create(cx, &shape, &result));
  indim_status status = indim_literal_read_dense(cx, literal, result->data, count * indim_type_bytes(shape.type));
  if (status != INDIM_OK) {
    indim_literal_destroy(result);
    return status;
  }
  *out_literal = result;
  return INDIM_OK;
}

static indim_status check_permutation(indim_ctx *cx, const indim_shape *shape, const int64_t *permutation) {
  uint64_t seen = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    int64_t p = permutation[d];
    if (p < 0 || p >= shape->rank || (seen >> p & 1) != 0) {
      return indim_fail(
          cx, INDIM_INVALID, "a transposition of %s: entry %" PRId32 " of the permutation is %" PRId64 ", which is %s",
          indim_shape_name_of(shape).text, d, p, p < 0 || p >= shape->rank ? "no dimension" : "there already");
    }
    seen |= UINT64_C(1) << p;
  }
  return INDIM_OK;
}

// Sizes, flags and widths move with their dimension; minor_to_major names the dimensions by their new numbers.
static indim_shape permute(const indim_shape *shape, const int64_t *permutation) {
  indim_shape result = *shape;
  int64_t inverse[INDIM_MAX_RANK];
  result.dynamic = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    int64_t from = permutation[d];
    inverse[from] = d;
    result.sizes[d] = shape->sizes[from];
    result.dynamic |= (shape->dynamic >> from & 1) << d;
    if (shape->layout.padded_rank > 0) {
      result.layout.padded_sizes[d] = shape->layout.padded_sizes[from];
    }
  }
  for (int32_t i = 0; i < shape->rank; i++) {
    result.layout.minor_to_major[i] = inverse[shape->layout.minor_to_major[i]];
  }
  return result;
}

indim_status indim_literal_transpose(indim_ctx *cx, const indim_literal *literal, const int64_t *permutation,
                                     indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, literal);
  indim_literal *result = NULL;
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  INDIM_TRY(indim_literal_need_array(cx, literal, "a transposition"));
  if (literal->shape.rank > 0) {
    INDIM_NOT_NULL(cx, permutation);
  }
  INDIM_TRY(check_permutation(cx, &literal->shape, permutation));
  indim_shape shape = permute(&literal->shape, permutation);
  INDIM_TRY(indim_literal_create(cx, &shape, &result));
  memcpy(result->data, literal->data, literal->bytes);
  for (int32_t d = 0; d < shape.rank; d++) {
    result->dynamic_sizes[d] = literal->dynamic_sizes[permutation[d]];
  }
  *out_literal = result;
  return INDIM_OK;
}

// A shape of other sizes with the same order in memory and nothing else of the layout.
static void shape_in_same_order(const indim_shape *shape, const int64_t *sizes, indim_shape *out) {
  *out = *shape;
  indim_layout_init(shape->rank, &out->layout);
  memcpy(out->layout.minor_to_major, shape->layout.minor_to_major, sizeof out->layout.minor_to_major);
  memcpy(out->sizes, sizes, (size_t)shape->rank * sizeof sizes[0]);
}

indim_status indim_literal_slice(indim_ctx *cx, const indim_literal *literal, const int64_t *start,
                                 const int64_t *limit, indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, literal);
  int64_t sizes[INDIM_MAX_RANK] = {0};
  indim_shape shape;
  indim_literal *result = NULL;
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  INDIM_TRY(indim_literal_need_array(cx, literal, "a slice"));
  if (literal->shape.rank > 0) {
    INDIM_NOT_NULL(cx, start);
    INDIM_NOT_NULL(cx, limit);
  }
  for (int32_t d = 0; d < literal->shape.rank; d++) {
    if (start[d] < 0 || start[d] > limit[d] || limit[d] > literal->shape.sizes[d]) {
      return indim_fail(cx, INDIM_INVALID, "a slice of %s: %" PRId64 " to %" PRId64 " is no part of dimension %" PRId32,
                        indim_shape_name_of(&literal->shape).text, start[d], limit[d], d);
    }
    sizes[d] = limit[d] - start[d];
  }
  shape_in_same_order(&literal->shape, sizes, &shape);
  INDIM_TRY(indim_literal_create(cx, &shape, &result));
  copy_block(shape.rank, sizes, &(block){literal, start, NULL}, &(block){result, NULL, NULL}, result);
  for (int32_t d = 0; d < shape.rank; d++) {
    int64_t left = literal->dynamic_sizes[d] - start[d];
    result->dynamic_sizes[d] = left < 0 ? 0 : left < sizes[d] ? left : sizes[d];
  }
  *out_literal = result;
  return INDIM_OK;
}

static indim_status check_broadcast(indim_ctx *cx, const indim_literal *literal, const indim_shape *shape,
                                    const int64_t *dimensions) {
  INDIM_TRY(need_static(cx, literal, "a broadcast"));
  INDIM_NOT_NULL(cx, shape);
  if (!indim_shape_is_array(shape) || shape->type != literal->shape.type || shape->dynamic != 0) {
    return indim_fail(cx, INDIM_INVALID, "%s cannot be broadcast to %s", indim_shape_name_of(&literal->shape).text,
                      indim_shape_name_of(shape).text);
  }
  uint64_t seen = 0;
  for (int32_t d = 0; d < literal->shape.rank; d++) {
    INDIM_NOT_NULL(cx, dimensions);
    int64_t to = dimensions[d];
    if (to < 0 || to >= shape->rank || (seen >> to & 1) != 0 || shape->sizes[to] != literal->shape.sizes[d]) {
      return indim_fail(cx, INDIM_INVALID,
                        "%s cannot be broadcast to %s: dimension %" PRId32 " cannot become dimension %" PRId64,
                        indim_shape_name_of(&literal->shape).text, indim_shape_name_of(shape).text, d, to);
    }
    seen |= UINT64_C(1) << to;
  }
  return INDIM_OK;
}

indim_status indim_literal_broadcast(indim_ctx *cx, const indim_literal *literal, const indim_shape *shape,
                                     const int64_t *dimensions, indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, literal);
  INDIM_NOT_NULL(cx, shape);
  indim_literal *result = NULL;
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  INDIM_TRY(check_broadcast(cx, literal, shape, dimensions));
  INDIM_TRY(indim_literal_create(cx, shape, &result));
  copy_block(shape->rank, shape->sizes, &(block){literal, NULL, dimensions}, &(block){result, NULL, NULL}, result);
  *out_literal = result;
  return INDIM_OK;
}

indim_status indim_literal_replicate(indim_ctx *cx, const indim_literal *literal, int64_t times,
                                     indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, literal);
  int64_t sizes[INDIM_MAX_RANK];
  int64_t dimensions[INDIM_MAX_RANK];
  indim_shape shape;
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  INDIM_TRY(need_static(cx, literal, "a replication"));
  int32_t rank = literal->shape.rank;
  if (rank == INDIM_MAX_RANK) {
    return indim_fail(cx, INDIM_LIMIT, "a replication of %s: the rank is %d already",
                      indim_shape_name_of(&literal->shape).text, INDIM_MAX_RANK);
  }
  sizes[0] = times == INDIM_UNBOUNDED ? -1 : times;
  for (int32_t d = 0; d < rank; d++) {
    sizes[d + 1] = literal->shape.sizes[d];
    dimensions[d] = d + 1;
  }
  INDIM_TRY(indim_shape_init(cx, literal->shape.type, rank + 1, sizes, &shape));
  return indim_literal_broadcast(cx, literal, &shape, dimensions, out_literal);
}

static indim_status tuple_to_static(indim_ctx *cx, const indim_literal *literal, indim_literal **out_literal) {
  void *memory = NULL;
  size_t bytes = (size_t)literal->member_count * sizeof(indim_literal *);
  INDIM_TRY(indim_alloc_zeroed(cx, bytes, &memory));
  indim_literal **members = memory;
  indim_status status = INDIM_OK;
  for (int64_t i = 0; i < literal->member_count && status == INDIM_OK; i++) {
    status = indim_literal_to_static(cx, literal->members[i], &members[i]);
  }
  if (status == INDIM_OK) {
    status = indim_literal_create_tuple(cx, members, literal->member_count, out_literal);
  }
  for (int64_t i = 0; i < literal->member_count && status != INDIM_OK; i++) {
    indim_literal_destroy(members[i]);
  }
  indim_free(cx, memory, bytes);
  return status;
}

indim_status indim_literal_to_static(indim_ctx *cx, const indim_literal *literal, indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, literal);
  int64_t start[INDIM_MAX_RANK] = {0};
  INDIM_NOT_NULL(cx, literal);
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  if (indim_shape_is_tuple(&literal->shape)) {
    return tuple_to_static(cx, literal, out_literal);
  }
  if (!indim_shape_is_array(&literal->shape) || literal->shape.dynamic == 0) {
    return indim_literal_copy(cx, literal, out_literal);
  }
  INDIM_TRY(indim_literal_slice(cx, literal, start, literal->dynamic_sizes, out_literal));
  (*out_literal)->shape.dynamic = 0;
  return INDIM_OK;
}

static indim_status check_block(indim_ctx *cx, const indim_shape *shape, const int64_t *base, const int64_t *sizes,
                                const char *what) {
  for (int32_t d = 0; d < shape->rank; d++) {
    if (base[d] < 0 || sizes[d] < 0 || base[d] > shape->sizes[d] || sizes[d] > shape->sizes[d] - base[d]) {
      return indim_fail(cx, INDIM_INVALID,
                        "the block of size %" PRId64 " at %" PRId64 " is no part of dimension %" PRId32 " of the %s %s",
                        sizes[d], base[d], d, what, indim_shape_name_of(shape).text);
    }
  }
  return INDIM_OK;
}

indim_status indim_literal_copy_slice(indim_ctx *cx, const indim_literal *source, const int64_t *source_base,
                                      indim_literal *target, const int64_t *target_base, const int64_t *sizes) {
  INDIM_NOT_NULL(cx, source);
  INDIM_NOT_NULL(cx, target);
  INDIM_TRY(indim_literal_need_array(cx, source, "copying a slice"));
  INDIM_TRY(indim_literal_need_array(cx, target, "copying a slice"));
  if (source->shape.type != target->shape.type || source->shape.rank != target->shape.rank) {
    return indim_fail(cx, INDIM_INVALID, "no slice of %s fits into %s", indim_shape_name_of(&source->shape).text,
                      indim_shape_name_of(&target->shape).text);
  }
  if (source->shape.rank > 0) {
    INDIM_NOT_NULL(cx, source_base);
    INDIM_NOT_NULL(cx, target_base);
    INDIM_NOT_NULL(cx, sizes);
  }
  INDIM_TRY(check_block(cx, &source->shape, source_base, sizes, "source"));
  INDIM_TRY(check_block(cx, &target->shape, target_base, sizes, "target"));
  copy_block(source->shape.rank, sizes, &(block){source, source_base, NULL}, &(block){target, target_base, NULL},
             target);
  return INDIM_OK;
}

indim_status indim_literal_bitcast(indim_ctx *cx, const indim_literal *literal, const indim_shape *shape,
                                   indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, literal);
  INDIM_NOT_NULL(cx, shape);
  indim_literal *result = NULL;
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  INDIM_TRY(need_static(cx, literal, "a bitcast"));
  if (!indim_shape_is_array(shape) || shape->dynamic != 0) {
    return indim_fail(cx, INDIM_INVALID, "%s cannot be bitcast to %s", indim_shape_name_of(&literal->shape).text,
                      indim_shape_name_of(shape).text);
  }
  INDIM_TRY(indim_literal_create(cx, shape, &result));
  if (result->bytes != literal->bytes) {
    indim_status status = indim_fail(
        cx, INDIM_INVALID, "cannot bitcast-convert %s to %s: different size, %zu and %zu bytes of storage",
        indim_shape_name_of(&literal->shape).text, indim_shape_name_of(shape).text, literal->bytes, result->bytes);
    indim_literal_destroy(result);
    return status;
  }
  memcpy(result->data, literal->data, literal->bytes);
  *out_literal = result;
  return INDIM_OK;
}
