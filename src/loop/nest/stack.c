// Rows of a short dimension, written out by a nest whose vectors lie along another one (indim_nest.stacked): what is stored for
// each element of the rows is kept until the rows are whole. Rows that repeat an element, or that are moved as they are, as the
// pixels of a mirrored image, become whole vectors by one shuffle for each, where they are shorter than a vector; all others are stored element
// by element with the stride of a row, which the code generator interleaves where rows are short enough.
//
//   x x x x y y y y z z ...     from a vector of x, y, z, ...
//   d e f a b c                 from a b c d e f
#include "loop/ir/affine.h"
#include "loop/ir/build.h"
#include "loop/nest/element.h"

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

void indim_stack_store(indim_element_ctx *k) {
  const indim_stack *s = k->stack;
  indim_loop_builder *b = &k->l->b;
  if (indim_lower_failed(k->l)) {
    return;
  }
  indim_type type = s->count > 0 ? s->storage->type : INDIM_PRED;
  bool may_shuffle = k->lanes > 1 && s->count * k->lanes <= INDIM_STACK_LANES && type != INDIM_PRED &&
                     !indim_type_is_complex(type) && fills_memory(k, s) &&
                     indim_loop_value_of(b, s->values[0])->lanes == k->lanes;
  if (may_shuffle && (store_repeated(k, s) || store_moved(k, s))) {
    return;
  }
  for (int32_t i = 0; i < s->count; i++) {
    indim_loop_store(b, s->storage, s->addresses[i], s->values[i], s->steps[i], k->streams);
  }
}
