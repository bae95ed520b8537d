// Shape rules of gather and scatter. Both have the same parts under different
// names: an array that is indexed; indices, whose dimension index_vector_dim= holds the coordinates of a start (one past
// the last dimension: every index is one); and a third array, gather's result or scatter's updates, whose window
// dimensions run inside a slice while its other, batch, dimensions are those of the indices.
#include <inttypes.h>

#include "graph/infer_kit.h"

// The names that one of the two ops has for the parts.
typedef struct list_names {
  indim_attr_id window;            // dimensions of the third array that run inside a slice
  indim_attr_id collapsed;         // dimensions of the indexed array that the third does not have
  indim_attr_id map;               // which dimension of the indexed array each coordinate is for
  indim_attr_id batching;          // dimensions of the indexed array that go along with ...
  indim_attr_id indices_batching;  // ... these of the indices
} list_names;

static const list_names gather_names = {INDIM_ATTR_OFFSET_DIMS, INDIM_ATTR_COLLAPSED_SLICE_DIMS,
                                        INDIM_ATTR_START_INDEX_MAP, INDIM_ATTR_OPERAND_BATCHING_DIMS,
                                        INDIM_ATTR_START_INDICES_BATCHING_DIMS};
static const list_names scatter_names = {INDIM_ATTR_UPDATE_WINDOW_DIMS, INDIM_ATTR_INSERTED_WINDOW_DIMS,
                                         INDIM_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, INDIM_ATTR_INPUT_BATCHING_DIMS,
                                         INDIM_ATTR_SCATTER_INDICES_BATCHING_DIMS};

static int64_t list_count(const indim_instr *instr, indim_attr_id id) {
  int64_t count = 0;
  (void)indim_instr_ints(instr, id, &count);
  return count;
}

// No dimension of the indexed array stands in both lists.
static indim_status verify_disjoint(indim_ctx *cx, const indim_instr *instr, indim_attr_id a, indim_attr_id b) {
  uint64_t both = indim_attr_mask(instr, a) & indim_attr_mask(instr, b);
  for (int32_t i = 0; both != 0; i++, both >>= 1) {
    if ((both & 1) != 0) {
      return indim_fail_attr(cx, instr, b, "dimension %d is in %s= and in %s=", (int)i, indim_attr_text(a),
                             indim_attr_text(b));
    }
  }
  return INDIM_OK;
}

// The dimension of the coordinates, 0 to the rank of the indices, and as many coordinates as the map has entries.
static indim_status verify_index_vector(indim_ctx *cx, const indim_instr *instr, const list_names *names,
                                        int32_t indices, int64_t *out_dim) {
  const indim_shape *shape = indim_operand_shape(instr, indices);
  indim_shape_text text;
  indim_shape_brief(shape, &text);
  int64_t dim = indim_instr_int(instr, INDIM_ATTR_INDEX_VECTOR_DIM, 0);
  if (dim < 0 || dim > shape->rank) {
    indim_fail_attr(cx, instr, INDIM_ATTR_INDEX_VECTOR_DIM,
                    "index_vector_dim=%" PRId64 ", expected 0 to %d for the indices, operand %d (%s), which are %s",
                    dim, (int)shape->rank, (int)indices, indim_operand_name(instr, indices), text.text);
    indim_hint(cx, "%d says that every index is one coordinate", (int)shape->rank);
    return INDIM_INVALID;
  }
  int64_t coordinates = dim == shape->rank ? 1 : shape->sizes[dim];
  int64_t count = list_count(instr, names->map);
  if (!indim_size_fits(coordinates, count)) {
    return indim_fail_attr(cx, instr, names->map,
                           "%s= has length %" PRId64 ", but the indices, operand %d (%s), which are %s, hold %" PRId64
                           " coordinate%s each (index_vector_dim=%" PRId64 ")",
                           indim_attr_text(names->map), count, (int)indices, indim_operand_name(instr, indices),
                           text.text, coordinates, coordinates == 1 ? "" : "s", dim);
  }
  *out_dim = dim;
  return INDIM_OK;
}

// Dimensions of the indexed array and of the indices that go together: as many, of the same size.
static indim_status verify_batching(indim_ctx *cx, const indim_instr *instr, const list_names *names, int32_t indices,
                                    int64_t index_vector_dim) {
  int64_t count = 0;
  int64_t indices_count = 0;
  const int64_t *dims = indim_instr_ints(instr, names->batching, &count);
  const int64_t *indices_dims = indim_instr_ints(instr, names->indices_batching, &indices_count);
  const indim_shape *indexed = indim_operand_shape(instr, 0);
  const indim_shape *shape = indim_operand_shape(instr, indices);
  if (count != indices_count) {
    return indim_fail_attr(cx, instr, count == 0 ? names->indices_batching : names->batching,
                           "%s= has length %" PRId64 ", %s= has %" PRId64 ": each pairs one dimension with one",
                           indim_attr_text(names->batching), count, indim_attr_text(names->indices_batching),
                           indices_count);
  }
  for (int64_t i = 0; i < count; i++) {
    if (indices_dims[i] == index_vector_dim) {
      return indim_fail_attr(cx, instr, names->indices_batching,
                             "%s= names dimension %" PRId64 ", which holds the coordinates (index_vector_dim=)",
                             indim_attr_text(names->indices_batching), index_vector_dim);
    }
    if (!indim_size_fits(indexed->sizes[dims[i]], shape->sizes[indices_dims[i]])) {
      indim_shape_text indexed_text;
      indim_shape_text text;
      return indim_fail_attr(cx, instr, names->batching,
                             "dimension %" PRId64 " of operand 0 (%s), which is %s, goes along with dimension %" PRId64
                             " of the indices, operand %d (%s), which are %s, but the sizes differ",
                             dims[i], indim_operand_name(instr, 0), indim_shape_brief(indexed, &indexed_text),
                             indices_dims[i], (int)indices, indim_operand_name(instr, indices),
                             indim_shape_brief(shape, &text));
    }
  }
  return INDIM_OK;
}

// All that concerns the indexed array (operand 0) and the indices.
static indim_status verify_indexed(indim_ctx *cx, const indim_instr *instr, const list_names *names, int32_t indices,
                                   int64_t *out_index_vector_dim) {
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(indim_operand_verify_array(cx, instr, indices));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, indices, INDIM_CLASS_INTEGER));
  const indim_shape *indexed = indim_operand_shape(instr, 0);
  const indim_shape *shape = indim_operand_shape(instr, indices);
  INDIM_TRY(indim_attr_verify_dims(cx, instr, names->collapsed, indexed, INDIM_DIMS_SORTED));
  INDIM_TRY(indim_attr_verify_dims(cx, instr, names->batching, indexed, INDIM_DIMS_SORTED));
  INDIM_TRY(indim_attr_verify_dims(cx, instr, names->map, indexed, INDIM_DIMS_UNIQUE));
  INDIM_TRY(indim_attr_verify_dims(cx, instr, names->indices_batching, shape, INDIM_DIMS_UNIQUE));
  INDIM_TRY(verify_disjoint(cx, instr, names->collapsed, names->batching));
  INDIM_TRY(verify_disjoint(cx, instr, names->batching, names->map));
  INDIM_TRY(verify_index_vector(cx, instr, names, indices, out_index_vector_dim));
  return verify_batching(cx, instr, names, indices, *out_index_vector_dim);
}

// The window dimensions and those that are left out make up the dimensions of the indexed array.
static indim_status verify_window_rank(indim_ctx *cx, const indim_instr *instr, const list_names *names) {
  const indim_shape *indexed = indim_operand_shape(instr, 0);
  int64_t window = list_count(instr, names->window);
  int64_t collapsed = list_count(instr, names->collapsed);
  int64_t batching = list_count(instr, names->batching);
  if (window + collapsed + batching == indexed->rank) {
    return INDIM_OK;
  }
  indim_shape_text text;
  indim_fail_attr(cx, instr, names->window,
                  "the lengths of %s= (%" PRId64 "), %s= (%" PRId64 ") and %s= (%" PRId64
                  ") do not add up to the rank %d of "
                  "operand 0 (%s), which is %s",
                  indim_attr_text(names->window), window, indim_attr_text(names->collapsed), collapsed,
                  indim_attr_text(names->batching), batching, (int)indexed->rank, indim_operand_name(instr, 0),
                  indim_shape_brief(indexed, &text));
  indim_hint(cx, "every dimension of operand 0 runs inside the window or is left out");
  return INDIM_INVALID;
}

// slice_sizes=: one for each dimension, at most its size, and at most 1 where the result leaves the dimension out.
static indim_status verify_slice_sizes(indim_ctx *cx, const indim_instr *instr) {
  const indim_shape *operand = indim_operand_shape(instr, 0);
  int64_t count = 0;
  const int64_t *sizes = indim_instr_ints(instr, INDIM_ATTR_SLICE_SIZES, &count);
  indim_shape_text text;
  indim_shape_brief(operand, &text);
  const char *name = indim_operand_name(instr, 0);
  if (count != operand->rank) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_SLICE_SIZES,
                           "slice_sizes= has length %" PRId64 ", but operand 0 (%s) is %s of rank %d", count, name,
                           text.text, (int)operand->rank);
  }
  uint64_t left_out = indim_attr_mask(instr, INDIM_ATTR_COLLAPSED_SLICE_DIMS) |
                      indim_attr_mask(instr, INDIM_ATTR_OPERAND_BATCHING_DIMS);
  for (int32_t i = 0; i < operand->rank; i++) {
    if (sizes[i] < 0 || (operand->sizes[i] != INDIM_UNBOUNDED && sizes[i] > operand->sizes[i])) {
      indim_dim_text size;
      return indim_fail_attr(cx, instr, INDIM_ATTR_SLICE_SIZES,
                             "slice size %" PRId64 " of dimension %d of operand 0 (%s), which is %s, expected 0 to %s",
                             sizes[i], (int)i, name, text.text, indim_dim_brief(operand, i, &size));
    }
    if ((left_out >> i & 1) != 0 && sizes[i] > 1) {
      return indim_fail_attr(cx, instr, INDIM_ATTR_SLICE_SIZES,
                             "slice size %" PRId64 " of dimension %d of operand 0 (%s), which is %s, expected 1: the "
                             "result leaves this dimension out",
                             sizes[i], (int)i, name, text.text);
    }
  }
  return INDIM_OK;
}

indim_status indim_infer_gather(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  int64_t index_vector_dim = 0;
  INDIM_TRY(verify_indexed(cx, instr, &gather_names, 1, &index_vector_dim));
  INDIM_TRY(verify_slice_sizes(cx, instr));
  INDIM_TRY(verify_window_rank(cx, instr, &gather_names));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  const indim_shape *indices = indim_operand_shape(instr, 1);
  int64_t offset_count = list_count(instr, INDIM_ATTR_OFFSET_DIMS);
  indim_shape dims = indim_shape_plain(INDIM_TOKEN);
  int64_t rank = offset_count + indices->rank - (index_vector_dim < indices->rank);
  if (rank > INDIM_MAX_RANK) {
    return indim_fail_instr(cx, INDIM_LIMIT, instr, "the result would have rank %" PRId64 ", more than %d", rank,
                            INDIM_MAX_RANK);
  }
  dims.rank = (int32_t)rank;
  INDIM_TRY(indim_attr_verify_dims(cx, instr, INDIM_ATTR_OFFSET_DIMS, &dims, INDIM_DIMS_SORTED));
  uint64_t offsets = indim_attr_mask(instr, INDIM_ATTR_OFFSET_DIMS);
  uint64_t left_out = indim_attr_mask(instr, INDIM_ATTR_COLLAPSED_SLICE_DIMS) |
                      indim_attr_mask(instr, INDIM_ATTR_OPERAND_BATCHING_DIMS);
  int64_t count = 0;
  const int64_t *slice_sizes = indim_instr_ints(instr, INDIM_ATTR_SLICE_SIZES, &count);
  int32_t from_operand = 0;
  int32_t from_indices = 0;
  for (int32_t i = 0; i < dims.rank; i++) {
    if ((offsets >> i & 1) != 0) {
      while ((left_out >> from_operand & 1) != 0) {
        from_operand++;
      }
      bool whole = slice_sizes[from_operand] == operand->sizes[from_operand];
      indim_dim_set(&dims, i, slice_sizes[from_operand], whole && indim_dim_is_dynamic(operand, from_operand));
      from_operand++;
    } else {
      from_indices += from_indices == index_vector_dim;
      indim_dim_set(&dims, i, indices->sizes[from_indices], indim_dim_is_dynamic(indices, from_indices));
      from_indices++;
    }
  }
  return indim_instr_make_array(cx, instr, operand->type, dims.rank, dims.sizes, dims.dynamic, out_shape);
}

// The updates have the batch dimensions of the indices, and windows that fit into the operand.
static indim_status verify_updates(indim_ctx *cx, const indim_instr *instr, int32_t indices, int64_t index_vector_dim) {
  int32_t operand = indices + 1;
  const indim_shape *updates = indim_operand_shape(instr, operand);
  const indim_shape *indexed = indim_operand_shape(instr, 0);
  const indim_shape *shape = indim_operand_shape(instr, indices);
  indim_shape_text updates_text;
  indim_shape_text text;
  indim_shape_brief(updates, &updates_text);
  const char *name = indim_operand_name(instr, operand);
  int64_t window_count = list_count(instr, INDIM_ATTR_UPDATE_WINDOW_DIMS);
  int64_t rank = window_count + shape->rank - (index_vector_dim < shape->rank);
  if (updates->rank != rank) {
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "the updates, operand %d (%s), are %s of rank %d, expected rank %" PRId64
                            ": the batch dimensions of the indices, operand %d (%s), which are %s, and %" PRId64
                            " window dimensions",
                            (int)operand, name, updates_text.text, (int)updates->rank, rank, (int)indices,
                            indim_operand_name(instr, indices), indim_shape_brief(shape, &text), window_count);
  }
  INDIM_TRY(indim_attr_verify_dims(cx, instr, INDIM_ATTR_UPDATE_WINDOW_DIMS, updates, INDIM_DIMS_SORTED));
  uint64_t windows = indim_attr_mask(instr, INDIM_ATTR_UPDATE_WINDOW_DIMS);
  uint64_t left_out =
      indim_attr_mask(instr, INDIM_ATTR_INSERTED_WINDOW_DIMS) | indim_attr_mask(instr, INDIM_ATTR_INPUT_BATCHING_DIMS);
  int32_t from_operand = 0;
  int32_t from_indices = 0;
  for (int32_t i = 0; i < updates->rank; i++) {
    bool is_window = (windows >> i & 1) != 0;
    while (is_window && (left_out >> from_operand & 1) != 0) {
      from_operand++;
    }
    from_indices += !is_window && from_indices == index_vector_dim;
    int32_t dim = is_window ? from_operand++ : from_indices++;
    const indim_shape *other = is_window ? indexed : shape;
    int64_t size = updates->sizes[i];
    if (indim_size_fits(size, other->sizes[dim]) || (is_window && size < other->sizes[dim])) {
      continue;
    }
    indim_dim_text update_size;
    indim_dim_text other_size;
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "dimension %d of the updates, operand %d (%s), which are %s, has size %s; dimension %d of "
                            "%s, operand %d (%s), which is %s, has %s",
                            (int)i, (int)operand, name, updates_text.text, indim_dim_brief(updates, i, &update_size),
                            (int)dim, is_window ? "the array" : "the indices", is_window ? 0 : (int)indices,
                            indim_operand_name(instr, is_window ? 0 : indices), indim_shape_brief(other, &text),
                            indim_dim_brief(other, dim, &other_size));
  }
  return INDIM_OK;
}

// Operands: N arrays, the indices, N updates.
indim_status indim_infer_scatter(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  if (instr->operand_count % 2 == 0 || instr->operand_count < 3) {
    indim_fail_instr(cx, INDIM_INVALID, instr, "has %d operand%s, expected an odd number, 3 at least",
                     (int)instr->operand_count, instr->operand_count == 1 ? "" : "s");
    indim_hint(cx, "give the arrays, then the indices, then as many updates");
    return INDIM_INVALID;
  }
  int32_t indices = instr->operand_count / 2;
  int64_t index_vector_dim = 0;
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, instr->operand_count - 1));
  for (int32_t i = 1; i < indices; i++) {
    INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 0, i));
    INDIM_TRY(indim_operands_verify_same_dims(cx, instr, indices + 1, indices + 1 + i));
  }
  INDIM_TRY(verify_indexed(cx, instr, &scatter_names, indices, &index_vector_dim));
  INDIM_TRY(verify_window_rank(cx, instr, &scatter_names));
  INDIM_TRY(verify_updates(cx, instr, indices, index_vector_dim));
  INDIM_TRY(indim_combiner_verify(cx, instr, INDIM_ATTR_TO_APPLY, indices, 0, indices + 1));
  if (indices == 1) {
    *out_shape = *indim_operand_shape(instr, 0);
    return INDIM_OK;
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)indices, sizeof(indim_shape *), &memory));
  const indim_shape **members = memory;
  for (int32_t i = 0; i < indices; i++) {
    members[i] = indim_operand_shape(instr, i);
  }
  return indim_instr_make_tuple(cx, instr, arena, members, indices, out_shape);
}
