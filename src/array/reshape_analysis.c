// When reshapes and transposes move no byte, and what a reshape does to dimensions.
#include <string.h>

#include "array/permutation.h"
#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/size.h"
#include "indim/index.h"
#include "indim/shape_util.h"

// Bitcasts are asked of unpadded arrays with layouts.
static bool fit_for_bitcast(const indim_shape *shape) {
  return indim_shape_is_array(shape) && shape->has_layout && shape->layout.rank == shape->rank &&
         !indim_shape_is_padded(shape) && !indim_shape_is_unbounded(shape);
}

bool indim_shape_transpose_is_bitcast(const indim_shape *in, const indim_shape *out, const int64_t *p,
                                      bool ignore_type) {
  if (in == NULL || out == NULL) {
    return false;
  }
  int64_t composed[INDIM_MAX_RANK];
  if (!fit_for_bitcast(in) || !fit_for_bitcast(out) || in->rank != out->rank ||
      !indim_permutation_is_valid(p, in->rank) || (!ignore_type && in->type != out->type)) {
    return false;
  }
  indim_permutation_compose(p, out->layout.minor_to_major, in->rank, composed);
  return memcmp(composed, in->layout.minor_to_major, (size_t)in->rank * sizeof *composed) == 0;
}

static void dense_strides(const indim_shape *shape, bool physical, int64_t *out) {
  int64_t stride = 1;
  for (int32_t k = 0; k < shape->rank; k++) {
    int32_t dim = physical ? (int32_t)shape->layout.minor_to_major[k] : shape->rank - 1 - k;
    out[dim] = stride;
    stride *= shape->sizes[dim];
  }
}

// Whether one step along each dimension of |a| is the same number of places in both.
static bool steps_agree(const indim_shape *a, const indim_shape *b) {
  int64_t a_logical[INDIM_MAX_RANK];
  int64_t a_physical[INDIM_MAX_RANK];
  int64_t b_logical[INDIM_MAX_RANK];
  int64_t b_physical[INDIM_MAX_RANK];
  dense_strides(a, false, a_logical);
  dense_strides(a, true, a_physical);
  dense_strides(b, false, b_logical);
  dense_strides(b, true, b_physical);
  for (int32_t d = 0; d < a->rank; d++) {
    if (a->sizes[d] <= 1) {
      continue;
    }
    int64_t place = 0;
    for (int32_t k = 0; k < b->rank; k++) {
      place += a_logical[d] / b_logical[k] % b->sizes[k] * b_physical[k];
    }
    if (place != a_physical[d]) {
      return false;
    }
  }
  return true;
}

bool indim_shape_reshape_is_bitcast(const indim_shape *in, const indim_shape *out, bool ignore_type) {
  if (in == NULL || out == NULL) {
    return false;
  }
  if (!fit_for_bitcast(in) || !fit_for_bitcast(out) || (!ignore_type && in->type != out->type) ||
      indim_shape_element_count(in) != indim_shape_element_count(out)) {
    return false;
  }
  return indim_shape_element_count(in) == 0 || (steps_agree(in, out) && steps_agree(out, in));
}

bool indim_shape_deduce_transpose(const indim_shape *in, const indim_shape *out, int64_t *out_p) {
  if (in == NULL || out == NULL) {
    return false;
  }
  int64_t inverse[INDIM_MAX_RANK];
  int64_t p[INDIM_MAX_RANK];
  if (!fit_for_bitcast(in) || !fit_for_bitcast(out) || in->rank != out->rank) {
    return false;
  }
  indim_permutation_invert(out->layout.minor_to_major, out->rank, inverse);
  indim_permutation_compose(in->layout.minor_to_major, inverse, in->rank, p);
  for (int32_t d = 0; d < in->rank; d++) {
    if (in->sizes[p[d]] != out->sizes[d]) {
      return false;
    }
  }
  memcpy(out_p, p, (size_t)in->rank * sizeof *p);
  return true;
}

bool indim_shape_is_reshape_or_transpose_bitcast(const indim_shape *a, const indim_shape *b, bool ignore_type) {
  if (a == NULL || b == NULL) {
    return false;
  }
  int64_t p[INDIM_MAX_RANK];
  if (!fit_for_bitcast(a) || !fit_for_bitcast(b) || (!ignore_type && a->type != b->type)) {
    return false;
  }
  return indim_shape_equal(a, b, INDIM_IGNORE_ELEMENT_TYPE) || indim_shape_reshape_is_bitcast(a, b, ignore_type) ||
         (indim_shape_deduce_transpose(a, b, p) && indim_shape_transpose_is_bitcast(b, a, p, ignore_type));
}

// The dimensions listed as they lie in memory; the layout is then descending.
static void in_memory_order(const indim_shape *shape, indim_shape *out) {
  indim_shape result = *shape;
  indim_layout_init(shape->rank, &result.layout);
  result.dynamic = 0;
  for (int32_t i = 0; i < shape->rank; i++) {
    int64_t dim = indim_layout_major(&shape->layout, i);
    result.sizes[i] = shape->sizes[dim];
    result.dynamic |= (shape->dynamic >> dim & 1) << i;
  }
  *out = result;
}

void indim_shape_decompose_bitcast(const indim_shape *in, const indim_shape *out, indim_bitcast_parts *out_parts) {
  if (in == NULL || out == NULL || out_parts == NULL) {
    return;
  }
  memset(out_parts, 0, sizeof *out_parts);
  if (!fit_for_bitcast(in) || !fit_for_bitcast(out) ||
      indim_shape_element_count(in) != indim_shape_element_count(out)) {
    return;
  }
  if (indim_shape_reshape_is_bitcast(in, out, true)) {
    out_parts->kind = INDIM_BITCAST_RESHAPE;
  } else if (indim_shape_deduce_transpose(in, out, out_parts->transpose1)) {
    out_parts->kind = INDIM_BITCAST_TRANSPOSE;
  } else {
    out_parts->kind = INDIM_BITCAST_GENERAL;
    for (int32_t i = 0; i < in->rank; i++) {
      out_parts->transpose1[i] = indim_layout_major(&in->layout, i);
    }
    indim_layout_logical_to_physical(&out->layout, out_parts->transpose2);
    in_memory_order(in, &out_parts->middle1);
    in_memory_order(out, &out_parts->middle2);
    out_parts->middle2.type = in->type;
  }
}

// Common factors ----------------------------------------------------------------------------------------------------

// Product of sizes; false if one is negative or it overflows.
static bool product(const int64_t *sizes, int32_t count, int64_t *out) {
  *out = 1;
  for (int32_t i = 0; i < count; i++) {
    if (sizes[i] < 0 || !indim_count_mul(*out, sizes[i], out)) {
      return false;
    }
  }
  return true;
}

int32_t indim_dims_common_factors(int32_t a_rank, const int64_t *a, int32_t b_rank, const int64_t *b,
                                  indim_dim_pair *out_pairs) {
  if (out_pairs == NULL || (a == NULL && a_rank > 0) || (b == NULL && b_rank > 0)) {
    return 0;
  }
  int64_t a_total = 0;
  int64_t b_total = 0;
  int32_t count = 0;
  int32_t i = 0;
  int32_t j = 0;
  if (!product(a, a_rank, &a_total) || !product(b, b_rank, &b_total) || a_total != b_total) {
    return 0;
  }
  for (; i < a_rank && j < b_rank && a[i] == b[j]; i++, j++) {
    out_pairs[count++] = (indim_dim_pair){i, j};
  }
  product(a + i, a_rank - i, &a_total);
  product(b + j, b_rank - j, &b_total);
  if (a_total != b_total) {  // only behind a zero
    out_pairs[0] = (indim_dim_pair){0, 0};
    out_pairs[1] = (indim_dim_pair){a_rank, b_rank};
    return 2;
  }
  out_pairs[count++] = (indim_dim_pair){i, j};
  if (a_total == 0) {
    out_pairs[count++] = (indim_dim_pair){a_rank, b_rank};
    return count;
  }
  int64_t a_part = 1;
  int64_t b_part = 1;
  while (i < a_rank || j < b_rank) {
    bool a_next = a_part < b_part || (i < a_rank && (j == b_rank || (a_part == b_part && a[i] <= b[j])));
    bool b_next = b_part < a_part || (j < b_rank && (i == a_rank || (a_part == b_part && b[j] <= a[i])));
    a_part *= a_next ? a[i] : 1;
    b_part *= b_next ? b[j] : 1;
    i += a_next;
    j += b_next;
    if (a_part == b_part) {
      out_pairs[count++] = (indim_dim_pair){i, j};
    }
  }
  return count;
}

int32_t indim_shape_dims_unmodified_by_reshape(const indim_shape *in, const indim_shape *out,
                                               indim_dim_pair *out_pairs) {
  if (in == NULL || out == NULL) {
    return 0;
  }
  indim_dim_pair pairs[2 * INDIM_MAX_RANK + 1];
  int32_t count = indim_dims_common_factors(in->rank, in->sizes, out->rank, out->sizes, pairs);
  int32_t found = 0;
  for (int32_t k = 0; k + 1 < count; k++) {
    if (pairs[k + 1].a - pairs[k].a == 1 && pairs[k + 1].b - pairs[k].b == 1) {
      out_pairs[found++] = pairs[k];
    }
  }
  return found;
}

bool indim_shape_reshape_keeps_dims(const indim_shape *in, const indim_shape *out, int32_t count, const int64_t *dims,
                                    int64_t *out_dims) {
  if (in == NULL || out == NULL) {
    return false;
  }
  indim_dim_pair pairs[INDIM_MAX_RANK];
  int32_t found = indim_shape_dims_unmodified_by_reshape(in, out, pairs);
  int32_t at = 0;
  for (int32_t i = 0; i < count; i++) {
    while (at < found && pairs[at].a < dims[i]) {
      at++;
    }
    if (at == found || pairs[at].a != dims[i]) {
      return false;
    }
    out_dims[i] = pairs[at].b;
  }
  return true;
}

bool indim_shape_degenerate_changes(const indim_shape *in, const indim_shape *out, uint64_t *out_deleted,
                                    uint64_t *out_inserted) {
  if (in == NULL || out == NULL) {
    return false;
  }
  indim_dim_pair pairs[INDIM_MAX_RANK];
  int32_t found = indim_shape_dims_unmodified_by_reshape(in, out, pairs);
  uint64_t deleted = 0;
  uint64_t inserted = 0;
  for (int32_t d = 0; d < in->rank; d++) {
    deleted |= UINT64_C(1) << d;
  }
  for (int32_t d = 0; d < out->rank; d++) {
    inserted |= UINT64_C(1) << d;
  }
  for (int32_t k = 0; k < found; k++) {
    deleted &= ~(UINT64_C(1) << pairs[k].a);
    inserted &= ~(UINT64_C(1) << pairs[k].b);
  }
  for (int32_t d = 0; d < INDIM_MAX_RANK; d++) {
    if (((deleted >> d & 1) != 0 && in->sizes[d] > 1) || ((inserted >> d & 1) != 0 && out->sizes[d] > 1)) {
      return false;
    }
  }
  *out_deleted = deleted;
  *out_inserted = inserted;
  return true;
}

// Layouts for a reshape ----------------------------------------------------------------------------------------------

// Dimensions whose size is not 1, and their sizes.
static int32_t real_dims(const indim_shape *shape, int64_t *dims, int64_t *sizes) {
  int32_t count = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] != 1) {
      dims[count] = d;
      sizes[count++] = shape->sizes[d];
    }
  }
  return count;
}

bool indim_shape_align_layouts(const indim_shape *in, const indim_shape *out, indim_shape *out_aligned) {
  if (in == NULL || out == NULL || out_aligned == NULL) {
    return false;
  }
  int64_t in_dims[INDIM_MAX_RANK];
  int64_t in_sizes[INDIM_MAX_RANK];
  int64_t out_dims[INDIM_MAX_RANK];
  int64_t out_sizes[INDIM_MAX_RANK];
  int64_t number[INDIM_MAX_RANK];  // of each input dimension among those that count
  indim_dim_pair pairs[2 * INDIM_MAX_RANK + 1];
  if (!fit_for_bitcast(in) || !indim_shape_is_array(out) || indim_shape_is_unbounded(out) ||
      indim_shape_element_count(in) != indim_shape_element_count(out)) {
    return false;
  }
  int32_t in_count = real_dims(in, in_dims, in_sizes);
  int32_t out_count = real_dims(out, out_dims, out_sizes);
  int32_t groups = indim_dims_common_factors(in_count, in_sizes, out_count, out_sizes, pairs) - 1;
  indim_layout layout;
  indim_layout_init(out->rank, &layout);
  int32_t filled = 0;
  for (int32_t i = 0; i < in_count; i++) {
    number[in_dims[i]] = i;
  }
  for (int32_t place = 0; place < in->rank;) {
    int64_t dim = in->layout.minor_to_major[place];
    if (in->sizes[dim] == 1) {
      place++;
      continue;
    }
    int32_t g = 0;
    while (g < groups && !(number[dim] >= pairs[g].a && number[dim] < pairs[g + 1].a)) {
      g++;
    }
    // The group's dimensions must lie together, the last one fastest.
    for (int32_t k = pairs[g + 1].a - 1; k >= pairs[g].a; place++) {
      if (place == in->rank) {
        return false;
      }
      int64_t next = in->layout.minor_to_major[place];
      if (in->sizes[next] == 1) {
        continue;
      }
      if (number[next] != k) {
        return false;
      }
      k--;
    }
    for (int32_t k = pairs[g + 1].b - 1; k >= pairs[g].b; k--) {
      layout.minor_to_major[filled++] = out_dims[k];
    }
  }
  for (int32_t d = out->rank - 1; d >= 0; d--) {
    if (out->sizes[d] == 1) {
      layout.minor_to_major[filled++] = d;
    }
  }
  if (filled != out->rank) {
    return false;
  }
  indim_shape result = *out;
  result.has_layout = true;
  result.layout = layout;
  *out_aligned = result;
  return true;
}

// Transposes --------------------------------------------------------------------------------------------------------

indim_status indim_shape_normalize_transpose(indim_ctx *cx, const indim_shape *in, const indim_shape *out,
                                             const int64_t *p, int32_t *out_rank, int64_t *out_sizes, int64_t *out_p) {
  INDIM_NOT_NULL(cx, in);
  INDIM_NOT_NULL(cx, out);
  int64_t first[INDIM_MAX_RANK];  // input dimension that begins each run
  int64_t sizes[INDIM_MAX_RANK];
  int64_t number[INDIM_MAX_RANK];
  int32_t runs = 0;
  int64_t kept = 0;
  if (!fit_for_bitcast(in) || !fit_for_bitcast(out) || in->rank != out->rank ||
      !indim_layout_is_descending(&in->layout) || !indim_layout_is_descending(&out->layout) ||
      !indim_permutation_is_valid(p, in->rank)) {
    return indim_fail(cx, INDIM_INVALID, "a transpose is normalised between descending layouts, not from %s to %s",
                      indim_shape_name_with_layout(in).text, indim_shape_name_with_layout(out).text);
  }
  for (int32_t d = 0; d < in->rank; d++) {
    number[d] = kept;
    kept += in->sizes[d] != 1;
  }
  int64_t previous = -2;
  for (int32_t d = 0; d < out->rank; d++) {
    if (out->sizes[d] == 1) {
      continue;
    }
    int64_t dim = number[p[d]];
    if (dim == previous + 1) {
      sizes[runs - 1] *= out->sizes[d];
    } else {
      first[runs] = dim;
      sizes[runs++] = out->sizes[d];
    }
    previous = dim;
  }
  if (runs == 0) {
    first[0] = 0;
    sizes[runs++] = 1;
  }
  for (int32_t i = 0; i < runs; i++) {
    out_sizes[i] = sizes[i];
    out_p[i] = 0;
    for (int32_t k = 0; k < runs; k++) {
      out_p[i] += first[k] < first[i];
    }
  }
  *out_rank = runs;
  return INDIM_OK;
}
