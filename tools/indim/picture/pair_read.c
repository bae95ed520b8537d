// Whether B is A's bytes read otherwise, and if not what moves: by looking at where each element lies in both.
#include <string.h>

#include "build.h"
#include "draw.h"
#include "indim/index.h"
#include "indim/shape_util.h"
#include "pair.h"

enum { MOST_LOOKED_AT = 16384 };  // elements; of larger arrays as many are looked at

// The ways -----------------------------------------------------------------------------------------------------------

static bool same_sizes(const indim_shape *a, const indim_shape *b) {
  return a->rank == b->rank && memcmp(a->sizes, b->sizes, (size_t)a->rank * sizeof a->sizes[0]) == 0;
}

// The permutation that takes A's sizes to B's, equal sizes in their order. False if there is none but the identity.
static bool match_sizes(const indim_shape *a, const indim_shape *b, int64_t *out_p) {
  uint64_t taken = 0;
  bool moves = false;
  if (a->rank != b->rank) {
    return false;
  }
  for (int32_t i = 0; i < b->rank; i++) {
    int32_t d = 0;
    while (d < a->rank && ((taken >> d & 1) != 0 || a->sizes[d] != b->sizes[i])) {
      d++;
    }
    if (d == a->rank) {
      return false;
    }
    taken |= UINT64_C(1) << d;
    out_p[i] = d;
    moves = moves || d != i;
  }
  return moves;
}

static bool is_identity(const int64_t *p, int32_t rank) {
  for (int32_t i = 0; i < rank; i++) {
    if (p[i] != i) {
      return false;
    }
  }
  return true;
}

// Where elements lie ---------------------------------------------------------------------------------------------

// What the bytes are worth beside the places of the elements.
static const char *find_obstacle(const indim_shape *a, const indim_shape *b) {
  int64_t a_places = 0;
  int64_t b_places = 0;
  if (indim_shape_element_bits(a) != indim_shape_element_bits(b)) {
    return "an element takes another number of bits";
  }
  if (a->layout.memory_space != b->layout.memory_space) {
    return "they are in different memory spaces";
  }
  if (indim_shape_storage_count(NULL, a, &a_places) != INDIM_OK ||
      indim_shape_storage_count(NULL, b, &b_places) != INDIM_OK || a_places != b_places) {
    return "their memory is not of the same size";
  }
  indim_padding wanted = b->layout.padded_rank > 0 ? b->layout.padding_value : INDIM_PADDING_UNKNOWN;
  bool any = wanted == INDIM_PADDING_UNKNOWN || wanted == INDIM_PADDING_INVALID;
  bool has = a->layout.padded_rank > 0 && a->layout.padding_value == wanted;
  return b_places > indim_shape_element_count(b) && !any && !has ? "B's padding holds a value that A's need not hold"
                                                                 : NULL;
}

static void index_in(const indim_shape *shape, int64_t number, int64_t *out) {
  for (int32_t d = shape->rank - 1; d >= 0; d--) {
    out[d] = number % shape->sizes[d];
    number /= shape->sizes[d];
  }
}

// Looks at one element of B; false when it cannot be asked.
static bool look(const indim_shape *a, const indim_shape *b, pair_reading *r, int64_t number) {
  draw_source source = {a, r->kind == PAIR_TRANSPOSE ? r->p : NULL};
  int64_t index[INDIM_MAX_RANK];
  int64_t from = 0;
  int64_t to = 0;
  index_in(b, number, index);
  int64_t element = draw_element(&source, b, index);
  if (indim_index_linearize(NULL, b, index, &to) != INDIM_OK) {
    return false;
  }
  index_in(a, element, index);
  if (indim_index_linearize(NULL, a, index, &from) != INDIM_OK) {
    return false;
  }
  r->looked_at++;
  if (from != to) {
    r->moved++;
    if (r->first < 0) {
      r->first = element;
      r->from = from;
      r->to = to;
    }
  }
  return true;
}

// All elements, or the first, the last, the second of each dimension and many between.
static bool look_at_elements(const indim_shape *a, const indim_shape *b, pair_reading *r) {
  int64_t count = indim_shape_element_count(b);
  r->is_sampled = count > MOST_LOOKED_AT;
  if (!r->is_sampled) {
    for (int64_t i = 0; i < count; i++) {
      if (!look(a, b, r, i)) {
        return false;
      }
    }
    return true;
  }
  int64_t stride = 1;
  for (int32_t d = b->rank - 1; d >= 0; d--) {
    if (!look(a, b, r, b->sizes[d] > 1 ? stride : 0)) {
      return false;
    }
    stride *= b->sizes[d];
  }
  uint64_t state = 1;
  for (int64_t i = 0; i < MOST_LOOKED_AT; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int64_t number = i < 64 ? count - 1 - i : i < 1024 ? i - 64 : (int64_t)((state >> 1) % (uint64_t)count);
    if (!look(a, b, r, number)) {
      return false;
    }
  }
  return true;
}

// Plain layouts are answered for all elements by their strides.
static bool is_plain(const indim_shape *shape) {
  const indim_layout *layout = &shape->layout;
  return layout->tile_count == 0 && layout->padded_rank == 0 && layout->split_count == 0;
}

static bool is_free_by_rule(const indim_shape *a, const indim_shape *b, const pair_reading *r) {
  if (r->kind == PAIR_TRANSPOSE) {
    indim_shape moved;
    return indim_shape_permute_dims(NULL, a, r->p, &moved) == INDIM_OK &&
           indim_shape_reshape_is_bitcast(&moved, b, true);
  }
  return indim_shape_reshape_is_bitcast(a, b, true);
}

static bool judge(const indim_shape *a, const indim_shape *b, pair_reading *r) {
  r->first = -1;
  r->obstacle = find_obstacle(a, b);
  if (!look_at_elements(a, b, r)) {
    return false;
  }
  r->is_free = r->moved == 0 && r->obstacle == NULL;
  if (r->is_sampled && is_plain(a) && is_plain(b)) {
    r->is_free = r->obstacle == NULL && is_free_by_rule(a, b, r);
    r->is_sampled = false;
  }
  return true;
}

// A layout that is free ----------------------------------------------------------------------------------------------

static void find_free(const indim_shape *a, const indim_shape *b, pair_reading *r) {
  indim_shape wanted = *a;
  bool found = true;
  if (r->kind == PAIR_TRANSPOSE) {
    found = indim_shape_permute_dims(NULL, a, r->p, &wanted) == INDIM_OK;
  } else if (r->kind == PAIR_RESHAPE) {
    found = is_plain(a) && indim_shape_align_layouts(a, b, &wanted);
    wanted.layout.memory_space = a->layout.memory_space;
    wanted.layout.element_bits = a->layout.element_bits;
    wanted.layout.tail_alignment = a->layout.tail_alignment;
  }
  wanted.type = b->type;
  wanted.dynamic = b->dynamic;
  pair_reading check = {.kind = r->kind};
  memcpy(check.p, r->p, sizeof check.p);
  r->has_free =
      found && indim_shape_validate(NULL, &wanted, true) == INDIM_OK && judge(a, &wanted, &check) && check.is_free;
  if (r->has_free) {
    r->free = wanted;
  }
}

static int32_t add(const indim_shape *a, const indim_shape *b, pair_kind kind, const int64_t *p, pair_reading *out,
                   int32_t count) {
  pair_reading *r = &out[count];
  *r = (pair_reading){.kind = kind};
  if (p != NULL) {
    memcpy(r->p, p, (size_t)b->rank * sizeof p[0]);
  }
  if (!judge(a, b, r)) {
    return count;
  }
  if (!r->is_free) {
    find_free(a, b, r);
  }
  return count + 1;
}

int32_t pair_type_bits(indim_type type) { return type == INDIM_PRED ? 8 : indim_type_bits(type); }

int32_t pair_read(const indim_shape *a, const indim_shape *b, pair_reading *out) {
  int64_t p[INDIM_MAX_RANK];
  int32_t count = 0;
  bool types_match = pair_type_bits(a->type) == pair_type_bits(b->type) &&
                     indim_type_is_complex(a->type) == indim_type_is_complex(b->type);
  if (!types_match || indim_shape_element_count(a) != indim_shape_element_count(b)) {
    return 0;
  }
  // A transposition that could be free, else the one that the sizes suggest.
  bool transposes = (indim_shape_deduce_transpose(a, b, p) && !is_identity(p, a->rank)) || match_sizes(a, b, p);
  bool same = same_sizes(a, b);
  if (same) {
    count = add(a, b, PAIR_SAME, NULL, out, count);
  } else {
    count = add(a, b, PAIR_RESHAPE, NULL, out, count);
  }
  if (transposes && (!same || (count > 0 && !out[0].is_free))) {
    count = add(a, b, PAIR_TRANSPOSE, p, out, count);
  }
  // What is free before what is not; else a transposition before a reshape, which sizes in another order rarely mean.
  bool swap = count == 2 && !same && (out[0].is_free != out[1].is_free ? out[1].is_free : !out[0].is_free);
  if (swap) {
    pair_reading first = out[0];
    out[0] = out[1];
    out[1] = first;
  }
  return count;
}
