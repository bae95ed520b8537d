// Sorts by the host: of lines whose comparator orders them by plain keys, in the order that numbers have. A key that is an array
// itself is read where it lies, any other is computed first. An object's host is its caller's, who need not know how to sort:
// there, sorts are code.
#include <string.h>

#include "host/sort.h"
#include "loop/ir/build.h"
#include "loop/kernels/sort.h"

enum { LEAST_LINE = 48 };  // elements; code of their own sorts shorter ones as fast

typedef struct sort_call {
  indim_lowering *l;
  indim_flow_item *item;
  indim_host_sort numbers;
  indim_sort_key keys[INDIM_HOST_SORT_KEYS];
  indim_location columns[INDIM_HOST_SORT_COLUMNS];
  int32_t count;  // of arrays
  indim_storage *storages[INDIM_MAX_HOST_STORAGES];
  indim_value_id addresses[INDIM_MAX_HOST_STORAGES];
  int64_t elements[INDIM_MAX_HOST_STORAGES];
} sort_call;

static void add_array(sort_call *c, indim_storage *storage, indim_value_id address, int64_t elements) {
  c->storages[c->count] = storage;
  c->addresses[c->count] = address;
  c->elements[c->count++] = elements;
}

// |shape| in the order in which all arrays of the call lie: that of the first one.
static indim_shape in_order(const sort_call *c, const indim_shape *shape) {
  const indim_shape *first = c->item->operands[0]->shape;
  indim_shape ordered = *shape;
  ordered.has_layout = first->has_layout && first->layout.tile_count == 0;
  if (ordered.has_layout) {
    ordered.layout = first->layout;
  }
  return ordered;
}

// Keys -----------------------------------------------------------------------------------------------------------------

// The column that a key is; -1 for one that is computed.
static int32_t column_of(const sort_call *c, int32_t key) {
  const indim_instr *value = c->keys[key].value;
  return value == NULL ? 0 : value->op == INDIM_OP_PARAMETER ? (int32_t)value->parameter_number / 2 : -1;
}

static bool take_keys(sort_call *c) {
  const indim_flow_item *item = c->item;
  indim_host_sort *p = &c->numbers;
  const indim_computation *comparator = indim_instr_computation(item->instr, INDIM_ATTR_TO_APPLY);
  if (item->instr->op == INDIM_OP_TOPK) {
    p->key_count = 1;
    p->key_types[0] = item->operands[0]->shape->type;
    p->descending = indim_instr_bool(item->instr, INDIM_ATTR_LARGEST, true);
    return indim_sort_key_bytes(p->key_types[0]) > 0;
  }
  p->key_count = indim_sort_find_keys(comparator, INDIM_HOST_SORT_KEYS, c->keys);
  bool is_plain = p->key_count > 0;
  for (int32_t k = 0; k < p->key_count; k++) {
    p->key_types[k] = c->keys[k].value->shape->type;
    p->descending |= (int64_t)c->keys[k].descending << k;
    is_plain = is_plain && !c->keys[k].is_partial && indim_sort_key_bytes(p->key_types[k]) > 0;
  }
  return is_plain;
}

// A key that is a function of the columns, in memory of its own.
static void compute_key(sort_call *c, int32_t key) {
  indim_loop_builder *b = &c->l->b;
  int64_t elements = indim_sort_line_count(&c->numbers) * c->numbers.size;
  indim_computation part = *indim_instr_computation(c->item->instr, INDIM_ATTR_TO_APPLY);
  indim_type type = (indim_type)c->numbers.key_types[key];
  indim_storage *to = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, type, elements, "key");
  indim_value_id args[2 * INDIM_HOST_SORT_COLUMNS] = {0};
  part.root = (indim_instr *)c->keys[key].value;
  indim_loop_region_begin(b, &to, 1);
  int32_t widest = indim_type_bytes(type);
  for (int64_t k = 0; k < c->numbers.column_count; k++) {
    int32_t bytes = (int32_t)c->numbers.column_bytes[k];
    widest = bytes > widest ? bytes : widest;
  }
  int32_t lanes = c->l->target->vector_bytes / widest;
  lanes = indim_piece_lanes(elements, lanes < 1 ? 1 : lanes);
  int64_t end = (elements + lanes - 1) / lanes * lanes;
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, end), lanes, 0, NULL, NULL);
  i = end == elements ? i : indim_loop_binary(b, INDIM_OP_MINIMUM, i, indim_loop_index(b, elements - lanes));
  for (int64_t k = 0; k < c->numbers.column_count && !indim_lower_failed(c->l); k++) {
    indim_value_id at = indim_loop_add(b, indim_location_start(c->l, &c->columns[k]), i);
    args[2 * k] = args[2 * k + 1] = indim_loop_load(b, c->columns[k].storage, at, lanes, 1);
  }
  indim_value_id value = 0;
  indim_loop_apply(b, &part, lanes, args, &value);
  indim_loop_store(b, to, i, value, 1, false);
  indim_loop_for_end(b, NULL, NULL);
  add_array(c, to, indim_loop_index(b, 0), elements);
}

// Arrays ---------------------------------------------------------------------------------------------------------------

// A column in that order: where it is, or a copy.
static indim_location column_at(const sort_call *c, indim_flow_item *operand) {
  bool is_constant = operand->kind == INDIM_FLOW_OP && operand->instr->op == INDIM_OP_CONSTANT;
  bool is_somewhere = operand->place.storage != NULL || operand->has_regs || is_constant;
  indim_location at = is_somewhere ? indim_location_need(c->l, operand) : (indim_location){0};
  indim_shape ordered = in_order(c, operand->shape);
  if (!indim_lower_failed(c->l) && (!is_somewhere || !indim_location_is_dense(&ordered, &at))) {
    at = indim_location_new(c->l, &ordered, operand->instr->name.data);
    indim_nest_copy(c->l, operand, &at);
    indim_element_forget(c->l);
  }
  return at;
}

static void add_results(sort_call *c, indim_location *wanted) {
  for (int32_t i = 0; i < c->numbers.column_count && !indim_lower_failed(c->l); i++) {
    indim_flow_item *result = indim_flow_result(c->item, i);
    indim_shape ordered = in_order(c, result->shape);
    wanted[i] = result->place;
    if (!indim_location_is_dense(&ordered, &result->place)) {
      result->place = indim_location_new(c->l, &ordered, result->instr->name.data);
    }
    if (!indim_lower_failed(c->l)) {
      add_array(c, result->place.storage, indim_location_start(c->l, &result->place),
                indim_shape_element_count(result->shape));
    }
  }
  int64_t words = indim_sort_room(&c->numbers) * indim_sort_pieces(&c->numbers);
  add_array(c, indim_loop_storage(&c->l->b, INDIM_STORAGE_SCRATCH, INDIM_U64, words, "words"),
            indim_loop_index(&c->l->b, 0), words);
}

static void add_columns(sort_call *c) {
  int64_t elements = indim_sort_line_count(&c->numbers) * c->numbers.size;
  for (int32_t k = 0; k < c->item->operand_count && !indim_lower_failed(c->l); k++) {
    c->columns[k] = column_at(c, c->item->operands[k]);
  }
  for (int32_t k = 0; k < c->numbers.key_count && !indim_lower_failed(c->l); k++) {
    int32_t column = column_of(c, k);
    if (column < 0) {
      compute_key(c, k);
    } else {
      add_array(c, c->columns[column].storage, indim_location_start(c->l, &c->columns[column]), elements);
    }
  }
  for (int32_t k = 0; k < c->item->operand_count && !indim_lower_failed(c->l); k++) {
    add_array(c, c->columns[k].storage, indim_location_start(c->l, &c->columns[k]), elements);
  }
}

static void call_host(sort_call *c) {
  indim_lowering *l = c->l;
  indim_location wanted[INDIM_HOST_SORT_COLUMNS];
  add_results(c, wanted);
  int32_t written = c->count;
  add_columns(c);
  if (indim_lower_failed(l)) {
    return;
  }
  indim_loop_region_begin(&l->b, c->storages, written);
  indim_loop_host(&l->b, &(indim_host_call){.service = INDIM_HOST_SORT,
                                            .storage_count = c->count,
                                            .written_count = written,
                                            .storages = c->storages,
                                            .addresses = c->addresses,
                                            .elements = c->elements,
                                            .numbers = &c->numbers});
  indim_element_forget(l);
  for (int32_t i = 0; i < c->numbers.column_count && !indim_lower_failed(l); i++) {
    indim_flow_item *result = indim_flow_result(c->item, i);
    if (!indim_location_same(&result->place, &wanted[i])) {
      indim_nest_copy(l, result, &wanted[i]);
      result->place = wanted[i];
    }
  }
}

// Fills in the sizes. False for what the host does not sort.
static bool take_sizes(sort_call *c) {
  const indim_flow_item *item = c->item;
  const indim_shape *shape = item->operands[0]->shape;
  indim_host_sort *p = &c->numbers;
  int64_t count = 0;
  bool is_topk = item->instr->op == INDIM_OP_TOPK;
  int64_t dim = is_topk ? shape->rank - 1 : *indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  p->size = p->kept = shape->sizes[dim];
  if (is_topk) {
    p->kept = indim_instr_int(item->instr, INDIM_ATTR_K, 0);
  }
  p->column_count = is_topk ? 2 : item->operand_count;
  if (p->size < 1 || p->size > INT32_MAX || p->column_count > INDIM_HOST_SORT_COLUMNS) {
    return false;
  }
  p->outer = p->inner = 1;
  indim_shape ordered = in_order(c, shape);
  bool is_inner = true;
  for (int32_t k = 0; k < shape->rank; k++) {
    int32_t d = ordered.has_layout ? (int32_t)ordered.layout.minor_to_major[k] : shape->rank - 1 - k;
    is_inner = is_inner && d != dim;
    *(is_inner ? &p->inner : &p->outer) *= d == dim ? 1 : shape->sizes[d];
  }
  for (int32_t k = 0; k < item->operand_count; k++) {
    p->column_bytes[k] = indim_type_bytes(item->operands[k]->shape->type);
  }
  return true;
}

bool indim_sort_lower_host(indim_lowering *l, indim_flow_item *item) {
  sort_call *c = NULL;
  if (l->options->has_foreign_calls || l->loop_depth > 0) {
    return false;
  }
  c = indim_lower_alloc(l, 1, sizeof *c);
  if (c == NULL) {
    return true;  // it has failed
  }
  c->l = l;
  c->item = item;
  if (!take_sizes(c) || !take_keys(c)) {
    return false;
  }
  const char *reason = c->numbers.size < LEAST_LINE ? "its lines are short" : NULL;
  if (indim_lower_choose_library(l, item->instr, reason) != NULL) {
    return false;
  }
  indim_lower_explain(l, item, "lines of %lld sorted by the host", (long long)c->numbers.size);
  call_host(c);
  return true;
}
