// The inside of a literal, for the files that are about literals.
#ifndef INDIM_ARRAY_LITERAL_INTERNAL_H
#define INDIM_ARRAY_LITERAL_INTERNAL_H

#include "array/element.h"
#include "array/index_plan.h"
#include "indim/literal.h"

struct indim_literal {
  indim_ctx *cx;
  indim_shape shape;  // a tuple's members are the member literals' own shapes
  int32_t depth;      // of the tuple tree: 0 for a leaf
  bool elided;        // an array whose values the text left out; data is NULL
  bool in_tuple;      // owned by a tuple literal

  // Arrays.
  unsigned char *data;
  size_t bytes;
  int64_t width;                          // bits of a stored element
  int64_t places;                         // stored elements, padding included
  int64_t dynamic_sizes[INDIM_MAX_RANK];  // sizes at run time; the static size where a dimension is not dynamic
  int64_t strides[INDIM_MAX_RANK];        // in places, if there is no plan
  indim_index_plan *plan;                 // of a tiled layout; NULL otherwise

  // Tuples.
  int64_t member_count;
  indim_literal **members;
  const indim_shape **member_shapes;
};

// INDIM_INVALID, naming |what| was to be done, unless the literal is an array with values.
INDIM_CHECKED indim_status indim_literal_need_array(indim_ctx *cx, const indim_literal *literal, const char *what);

// Elements lie one after another in row-major order, in the type's own bytes.
bool indim_literal_is_plain(const indim_literal *literal);
// Whole bytes of the type, no tiles: strides say everything (padding may lie between).
bool indim_literal_is_strided(const indim_literal *literal);
// Fills the storage with the padding value if the layout is padded, with zero bits otherwise.
void indim_literal_fill(indim_literal *literal);
// Makes pred bytes 0 or 1 and clears the unused bits of sub-byte elements of one byte each.
void indim_literal_canonicalize(indim_type type, unsigned char *bytes, size_t count);

// Place of an index in bounds.
static inline int64_t indim_literal_place(const indim_literal *literal, const int64_t *index) {
  if (literal->plan != NULL) {
    return indim_index_plan_place(literal->plan, index);
  }
  int64_t place = 0;
  for (int32_t d = 0; d < literal->shape.rank; d++) {
    place += index[d] * literal->strides[d];
  }
  return place;
}

static inline indim_element indim_literal_load(const indim_literal *literal, int64_t place) {
  return indim_element_load(literal->shape.type, literal->width, literal->data, place);
}

static inline void indim_literal_store(indim_literal *literal, int64_t place, indim_element element) {
  indim_element_store(literal->shape.type, literal->width, literal->data, place, element);
}

// A row: the elements along the last dimension from a given index on. Loops over all elements in logical order are a
// loop over rows and one along the row:
//
//   int64_t index[INDIM_MAX_RANK] = {0};
//   int64_t length = indim_row_length(rank, sizes);
//   for (bool more = indim_rows_any(rank, sizes); more; more = indim_rows_next(rank, sizes, index)) {
//     indim_row row = indim_row_at(literal, index);
//     for (int64_t i = 0; i < length; i++) { ... indim_literal_load(literal, indim_row_place(&row, i)) ... }
//   }
typedef struct indim_row {
  const indim_literal *literal;
  int64_t *index;  // its last entry is used while the row is walked
  int64_t place;
  int64_t stride;
} indim_row;

static inline indim_row indim_row_at(const indim_literal *literal, int64_t *index) {
  int32_t rank = literal->shape.rank;
  if (rank > 0) {
    index[rank - 1] = 0;
  }
  bool tiled = literal->plan != NULL;
  return (indim_row){literal, index, tiled ? 0 : indim_literal_place(literal, index),
                     rank > 0 && !tiled ? literal->strides[rank - 1] : 0};
}

static inline int64_t indim_row_place(const indim_row *row, int64_t i) {
  const indim_literal *literal = row->literal;
  if (literal->plan == NULL) {
    return row->place + i * row->stride;
  }
  if (literal->shape.rank > 0) {
    row->index[literal->shape.rank - 1] = i;
  }
  return indim_index_plan_place(literal->plan, row->index);
}

static inline int64_t indim_row_length(int32_t rank, const int64_t *sizes) { return rank > 0 ? sizes[rank - 1] : 1; }

// Whether there is any element.
static inline bool indim_rows_any(int32_t rank, const int64_t *sizes) {
  for (int32_t d = 0; d < rank; d++) {
    if (sizes[d] == 0) {
      return false;
    }
  }
  return true;
}

// Steps to the next row; false, with |index| zero again, after the last.
static inline bool indim_rows_next(int32_t rank, const int64_t *sizes, int64_t *index) {
  for (int32_t d = rank - 2; d >= 0; d--) {
    if (++index[d] < sizes[d]) {
      return true;
    }
    index[d] = 0;
  }
  return false;
}

// Copies sizes[0] x sizes[1] x ... items of |item_bytes| (1, 2, 4, 8 or 16) between two arrays given by their first
// item and their strides in items, which may be 0 in the source (broadcast). The two must not overlap.
void indim_strided_copy(int32_t rank, const int64_t *sizes, int32_t item_bytes, void *target,
                        const int64_t *target_strides, const void *source, const int64_t *source_strides);

// The strides of a row-major array without gaps, in items.
void indim_dense_strides(int32_t rank, const int64_t *sizes, int64_t *out_strides);

#endif  // INDIM_ARRAY_LITERAL_INTERNAL_H
