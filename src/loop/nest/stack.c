// Rows of a short dimension, written out by a nest whose vectors lie along another one (indim_nest.stacked): what is stored for
// each element of the rows is kept until the rows are whole. Rows that repeat an element, or that are moved as they are, as the
// pixels of a mirrored image, become whole vectors by one shuffle for each, where they are shorter than a vector; so do rows that are put
// together from parts of other rows, as a pad's and a concatenate's, and from what was computed. All others are stored element
// by element with the stride of a row, which the code generator interleaves where rows are short enough.
//
//   x x x x y y y y z z ...     from a vector of x, y, z, ...
//   d e f a b c                 from a b c d e f
//   0 a b c 0 0 d e f 0         from a b c d e f and a vector of 0
#include <string.h>

#include "loop/ir/affine.h"
#include "loop/ir/build.h"
#include "loop/nest/element.h"

enum {
  MOST_DISTANCE = 1 << 16,  // of columns of the same rows
  MOST_SOURCES = 12         // vectors that one vector of memory is made of
};

void indim_stack_keep(indim_element_ctx *k, indim_storage *storage, indim_value_id address, indim_value_id value,
                      int64_t step) {
  indim_stack *s = k->stack;
  s->is_regular = s->is_regular && step == s->size && indim_loop_value_of(&k->l->b, address)->lanes == 1 &&
                  (s->count == 0 || storage == s->storage);
  if (s->count < INDIM_STACK_ROW) {
    s->storage = storage;
    s->addresses[s->count] = address;
    s->values[s->count] = value;
    s->steps[s->count] = step;
  } else {
    indim_loop_refuse(&k->l->b, "a row of more than %d elements", (int)INDIM_STACK_ROW);
  }
  s->count++;
}

// Whether |value| is |first| plus |offset|.
static bool is_after(const indim_element_ctx *k, indim_value_id first, indim_value_id value, int64_t *offset) {
  return indim_affine_distance(k->l->program, first, value, offset);
}

// Whether the rows follow each other in memory, and are of a type whose vectors are shuffled as they are.
static bool fills_memory(const indim_element_ctx *k, const indim_stack *s) {
  bool fills = s->is_regular && s->count == s->size && s->count > 1;
  for (int32_t i = 1; i < s->count && fills; i++) {
    int64_t offset = 0;
    fills = is_after(k, s->addresses[0], s->addresses[i], &offset) && offset == i;
  }
  return fills;
}

// A part of the rows: |lanes| elements from |from| on, which are those of |vectors| as |map| says of the whole rows.
static void store_part(indim_element_ctx *k, const indim_stack *s, const indim_value_id *vectors, const int32_t *map,
                       int32_t from) {
  indim_loop_builder *b = &k->l->b;
  indim_value_id used[INDIM_STACK_ROW];
  int32_t first[INDIM_STACK_ROW];  // lane of each vector among those that are used; -1: it is not
  int32_t own[INDIM_STACK_LANES];
  int32_t count = 0;
  for (int32_t v = 0; v < s->count; v++) {
    first[v] = -1;
  }
  for (int32_t i = 0; i < k->lanes; i++) {
    int32_t v = map[from + i] / k->lanes;
    if (first[v] < 0) {
      first[v] = count * k->lanes;
      used[count++] = vectors[v];
    }
    own[i] = first[v] + map[from + i] % k->lanes;
  }
  indim_value_id part = indim_loop_shuffle(b, count, used, k->lanes, own);
  indim_loop_store(b, s->storage, indim_loop_add_const(b, s->addresses[0], from), part, 1, k->streams);
}

static void store_parts(indim_element_ctx *k, const indim_stack *s, const indim_value_id *vectors, const int32_t *map) {
  for (int32_t j = 0; j < s->count && !indim_lower_failed(k->l); j++) {
    store_part(k, s, vectors, map, j * k->lanes);
  }
}

// Rows of one element each.
static bool store_repeated(indim_element_ctx *k, const indim_stack *s) {
  int32_t map[INDIM_STACK_LANES];
  for (int32_t i = 1; i < s->count; i++) {
    if (s->values[i] != s->values[0]) {
      return false;
    }
  }
  for (int32_t i = 0; i < s->count * k->lanes; i++) {
    map[i] = i / s->count;
  }
  indim_value_id vectors[INDIM_STACK_ROW];
  for (int32_t i = 0; i < s->count; i++) {
    vectors[i] = s->values[0];
  }
  store_parts(k, s, vectors, map);
  return true;
}

// A load of one element of each of the rows that the others load as well. |*offset|: of the first lane, from the first one's.
static bool is_of_rows(const indim_element_ctx *k, const indim_stack *s, int32_t i, int64_t *offset) {
  const indim_loop_program *program = k->l->program;
  const indim_loop_node *first = program->values[s->values[0]].node;
  const indim_loop_node *node = program->values[s->values[i]].node;
  return node != NULL && node->kind == INDIM_NODE_LOAD && !node->u.memory.has_mask && !node->u.memory.fresh &&
         node->u.memory.storage == first->u.memory.storage &&
         node->u.memory.lane_stride == first->u.memory.lane_stride &&
         indim_index_abs(node->u.memory.lane_stride) == s->size && program->values[node->args[0]].lanes == 1 &&
         is_after(k, first->args[0], node->args[0], offset) && indim_index_abs(*offset) < s->size;
}

// Rows of memory, in order or backwards, in which the elements may change places.
static bool store_moved(indim_element_ctx *k, const indim_stack *s) {
  indim_loop_builder *b = &k->l->b;
  int64_t offsets[INDIM_STACK_ROW] = {0};
  const indim_loop_node *first = indim_loop_node_of(b, s->values[0]);
  int64_t least = 0;
  bool seen[INDIM_STACK_ROW] = {false};
  if (first == NULL || first->kind != INDIM_NODE_LOAD) {
    return false;
  }
  for (int32_t i = 0; i < s->count; i++) {
    if (!is_of_rows(k, s, i, &offsets[i])) {
      return false;
    }
    least = offsets[i] < least ? offsets[i] : least;
  }
  for (int32_t i = 0; i < s->count; i++) {
    offsets[i] -= least;
    if (offsets[i] >= s->count || seen[offsets[i]]) {
      return false;
    }
    seen[offsets[i]] = true;
  }
  bool is_backwards = first->u.memory.lane_stride < 0;
  int64_t start = least - (is_backwards ? (int64_t)(k->lanes - 1) * s->size : 0);
  indim_storage *from = k->l->program->storages[first->u.memory.storage];
  indim_value_id vectors[INDIM_STACK_ROW];
  int32_t map[INDIM_STACK_LANES];
  for (int32_t j = 0; j < s->count; j++) {
    vectors[j] =
        indim_loop_load(b, from, indim_loop_add_const(b, first->args[0], start + (int64_t)j * k->lanes), k->lanes, 1);
  }
  for (int32_t i = 0; i < s->count * k->lanes; i++) {
    int32_t row = i / s->count;
    map[i] = (is_backwards ? k->lanes - 1 - row : row) * s->count + (int32_t)offsets[i % s->count];
  }
  store_parts(k, s, vectors, map);
  return true;
}

// Pieces of rows ------------------------------------------------------------------------------------------------------
//
// In general the elements of rows come from vectors that were computed and from rows of several arrays, whose own length may be
// another. Each vector of memory is then one shuffle of the vectors that it meets, and of rows it meets what is contiguous in memory
// there, not the elements of one column.

// What the elements at one place of all rows are: a vector, or lanes of an array with a stride.
typedef struct column {
  indim_value_id value;
  int32_t rows;    // first column of the same array and stride; -1: of none
  int64_t offset;  // from that one's address
} column;

// The elements of memory between the first and the last one that columns load, as offsets from the first column's address.
typedef struct span {
  int64_t low, high;
} span;

// The sources of one vector that is stored.
typedef struct sources {
  indim_value_id vectors[MOST_SOURCES];
  int32_t count;
  int32_t map[INDIM_STACK_LANES];
} sources;

static const indim_loop_node *load_of(const indim_element_ctx *k, const indim_stack *s, int32_t i) {
  const indim_loop_program *program = k->l->program;
  const indim_loop_node *node = program->values[s->values[i]].node;
  bool is_load = node != NULL && node->kind == INDIM_NODE_LOAD && !node->u.memory.has_mask && !node->u.memory.fresh &&
                 indim_index_abs(node->u.memory.lane_stride) > 1 && program->values[node->args[0]].lanes == 1 &&
                 program->values[s->values[i]].lanes == k->lanes &&
                 program->storages[node->u.memory.storage] != s->storage;
  return is_load ? node : NULL;
}

// Finds which columns are of the same rows, and what of these is read.
static void find_rows(const indim_element_ctx *k, const indim_stack *s, column *columns, span *spans) {
  for (int32_t i = 0; i < s->count; i++) {
    const indim_loop_node *node = load_of(k, s, i);
    columns[i] = (column){.value = s->values[i], .rows = -1};
    for (int32_t j = 0; j <= i && node != NULL && columns[i].rows < 0; j++) {
      const indim_loop_node *first = j == i ? node : columns[j].rows == j ? load_of(k, s, j) : NULL;
      int64_t offset = 0;
      bool is_same = first != NULL && first->u.memory.storage == node->u.memory.storage &&
                     first->u.memory.lane_stride == node->u.memory.lane_stride &&
                     is_after(k, first->args[0], node->args[0], &offset) && indim_index_abs(offset) < MOST_DISTANCE;
      if (is_same) {
        columns[i].rows = j;
        columns[i].offset = offset;
        int64_t last = offset + (k->lanes - 1) * node->u.memory.lane_stride;
        int64_t low = offset < last ? offset : last;
        int64_t high = offset < last ? last : offset;
        spans[j].low = j == i || low < spans[j].low ? low : spans[j].low;
        spans[j].high = j == i || high > spans[j].high ? high : spans[j].high;
      }
    }
  }
  for (int32_t i = 0; i < s->count; i++) {
    int32_t rows = columns[i].rows;
    columns[i].rows = rows >= 0 && spans[rows].high - spans[rows].low + 1 >= k->lanes ? rows : -1;
  }
}

static int32_t add_source(sources *from, indim_value_id vector) {
  for (int32_t i = 0; i < from->count; i++) {
    if (from->vectors[i] == vector) {
      return i;
    }
  }
  if (from->count == MOST_SOURCES) {
    return -1;
  }
  from->vectors[from->count] = vector;
  return from->count++;
}

// The vector that loads the element |offset| of rows and as many after it as it has lanes, but nothing behind |all|.
static int32_t add_loaded(indim_element_ctx *k, const indim_stack *s, int32_t rows, const span *all, int64_t offset,
                          sources *from, int64_t *out_start) {
  indim_loop_builder *b = &k->l->b;
  const indim_loop_node *node = load_of(k, s, rows);
  int64_t start = offset + k->lanes - 1 <= all->high ? offset : all->high - k->lanes + 1;
  indim_storage *storage = k->l->program->storages[node->u.memory.storage];
  indim_value_id address = indim_loop_add_const(b, node->args[0], start);
  *out_start = start;
  return add_source(from, indim_loop_load(b, storage, address, k->lanes, 1));
}

// The sources of |lanes| elements of memory from |at| on; false: they are too many.
static bool find_sources(indim_element_ctx *k, const indim_stack *s, const column *columns, const span *spans,
                         int32_t at, sources *from) {
  from->count = 0;
  for (int32_t i = 0; i < k->lanes; i++) {
    from->map[i] = -1;
  }
  for (int32_t next = 0; next < k->lanes; next++) {
    const column *c = &columns[(at + next) % s->count];
    int32_t row = (at + next) / s->count;
    int32_t source = 0;
    if (from->map[next] >= 0) {
      continue;
    }
    if (c->rows < 0) {
      source = add_source(from, c->value);
      from->map[next] = source * k->lanes + row;
      if (source < 0) {
        return false;
      }
      continue;
    }
    // The least of the elements of these rows that are not there yet, and all that the vector from there on has.
    int64_t stride = load_of(k, s, c->rows)->u.memory.lane_stride;
    int64_t least = c->offset + row * stride;
    for (int32_t i = next; i < k->lanes; i++) {
      const column *other = &columns[(at + i) % s->count];
      int64_t offset = other->offset + (at + i) / s->count * stride;
      least = other->rows == c->rows && from->map[i] < 0 && offset < least ? offset : least;
    }
    int64_t start = 0;
    source = add_loaded(k, s, c->rows, &spans[c->rows], least, from, &start);
    if (source < 0) {
      return false;
    }
    for (int32_t i = next; i < k->lanes; i++) {
      const column *other = &columns[(at + i) % s->count];
      int64_t offset = other->offset + (at + i) / s->count * stride - start;
      if (other->rows == c->rows && from->map[i] < 0 && offset >= 0 && offset < k->lanes) {
        from->map[i] = source * k->lanes + (int32_t)offset;
      }
    }
    next -= from->map[next] < 0 ? 1 : 0;  // its own turn comes with a vector further on
  }
  return true;
}

// One unit of |unit| elements of each of |count| vectors in turn, a power of two of them, for each block of |block| elements by itself:
// those of the even ones in turn, and of the odd ones, two by two.
static void interleave_units(indim_element_ctx *k, int32_t count, indim_value_id *vectors, int32_t unit,
                             int32_t block) {
  int32_t low[INDIM_STACK_LANES];
  int32_t high[INDIM_STACK_LANES];
  for (int32_t i = 0; i < k->lanes; i++) {
    int32_t within = i % block;
    int32_t from = within / unit % 2 * k->lanes + i / block * block + within / unit / 2 * unit + within % unit;
    low[i] = from;
    high[i] = from + block / 2;
  }
  for (int32_t side = 1; side < count; side *= 2) {  // so many are in turn already
    indim_value_id next[INDIM_STACK_ROW];
    int32_t groups = count / side / 2;
    for (int32_t g = 0; g < groups; g++) {  // vectors g and g + groups of those that are in turn
      for (int32_t i = 0; i < side; i++) {
        const indim_value_id pair[] = {vectors[g * side + i], vectors[(g + groups) * side + i]};
        next[g * 2 * side + 2 * i] = indim_loop_shuffle(&k->l->b, 2, pair, k->lanes, low);
        next[g * 2 * side + 2 * i + 1] = indim_loop_shuffle(&k->l->b, 2, pair, k->lanes, high);
      }
    }
    memcpy(vectors, next, (size_t)count * sizeof *vectors);
  }
}

// One element of each of |count| vectors in turn, a power of two of them. For narrow elements that takes few instructions of any
// processor, where a shuffle of all takes many of most: bytes first within the blocks that such instructions stay in, then whole blocks.
static void interleave(indim_element_ctx *k, int32_t count, indim_value_id *vectors, bool are_bytes) {
  int32_t block = 16;
  int32_t blocks = k->lanes / block;
  if (!are_bytes || k->lanes % block != 0 || (blocks & (blocks - 1)) != 0) {
    interleave_units(k, count, vectors, 1, k->lanes);
    return;
  }
  interleave_units(k, count, vectors, 1, block);
  indim_value_id ordered[INDIM_STACK_ROW];
  int32_t side = blocks < count ? blocks : count;
  int32_t groups = count / side;
  for (int32_t g = 0; g < groups; g++) {  // a block of each of these vectors in turn
    interleave_units(k, side, vectors + g * side, block, k->lanes);
    for (int32_t i = 0; i < side; i++) {
      ordered[i * groups + g] = vectors[g * side + i];
    }
  }
  memcpy(vectors, ordered, (size_t)count * sizeof *vectors);
}

// Vectors of memory from pieces of rows and computed vectors; false if these are so many that stores with a stride are better.
static bool store_pieces(indim_element_ctx *k, const indim_stack *s) {
  enum { INTERLEAVED = 4 };  // rows of so many that the code generator interleaves
  indim_loop_builder *b = &k->l->b;
  column columns[INDIM_STACK_ROW];
  span spans[INDIM_STACK_ROW] = {{0, 0}};
  indim_value_id parts[INDIM_STACK_ROW];
  int32_t used = 0;
  bool has_rows = false;
  find_rows(k, s, columns, spans);
  for (int32_t i = 0; i < s->count; i++) {
    has_rows = has_rows || columns[i].rows >= 0;
  }
  int64_t bytes = indim_type_bytes(s->storage->type);
  bool is_in_turn =
      !has_rows && (s->count & (s->count - 1)) == 0 && (bytes == 1 || (bytes == 2 && s->count > INTERLEAVED));
  if (s->count <= INTERLEAVED && !has_rows && !is_in_turn) {
    return false;
  }
  if (is_in_turn) {
    memcpy(parts, s->values, (size_t)s->count * sizeof *parts);
    interleave(k, s->count, parts, bytes == 1);
  }
  for (int32_t j = 0; j < s->count && !is_in_turn; j++) {
    sources from;
    if (!find_sources(k, s, columns, spans, j * k->lanes, &from) || indim_lower_failed(k->l)) {
      return false;
    }
    used += from.count;
    parts[j] = indim_loop_shuffle(b, from.count, from.vectors, k->lanes, from.map);
  }
  if (s->count <= INTERLEAVED && used > 2 * s->count) {
    return false;
  }
  for (int32_t j = 0; j < s->count; j++) {
    indim_loop_store(b, s->storage, indim_loop_add_const(b, s->addresses[0], (int64_t)j * k->lanes), parts[j], 1,
                     k->streams);
  }
  return true;
}

void indim_stack_store(indim_element_ctx *k) {
  const indim_stack *s = k->stack;
  indim_loop_builder *b = &k->l->b;
  if (indim_lower_failed(k->l)) {
    return;
  }
  indim_type type = s->count > 0 ? s->storage->type : INDIM_PRED;
  bool may_shuffle = k->lanes > 1 && s->count * k->lanes <= INDIM_STACK_LANES && type != INDIM_PRED &&
                     !indim_type_is_complex(type) && fills_memory(k, s);
  for (int32_t i = 0; i < s->count && may_shuffle; i++) {
    may_shuffle = indim_loop_value_of(b, s->values[i])->lanes == k->lanes;
  }
  if (may_shuffle && (store_repeated(k, s) || store_moved(k, s) || store_pieces(k, s))) {
    return;
  }
  for (int32_t i = 0; i < s->count; i++) {
    indim_loop_store(b, s->storage, s->addresses[i], s->values[i], s->steps[i], k->streams);
  }
}
