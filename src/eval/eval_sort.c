// sort and topk: an order of the elements of each line, then the elements in that order. The order is found by merging,
// bottom up, which keeps equal elements as they were; so sort is stable whether is_stable= asks for it or not.
#include <string.h>

#include "array/element.h"
#include "eval/apply.h"

// The lines of an array along one dimension: elements base + 0 * stride, base + 1 * stride, ...
typedef struct lines {
  int64_t length;
  int64_t stride;
  int64_t count;
} lines;

static lines lines_along(const indim_shape *shape, int64_t dim) {
  lines l = {.length = shape->sizes[dim], .stride = 1, .count = 1};
  for (int32_t d = 0; d < shape->rank; d++) {
    l.stride *= d > dim ? shape->sizes[d] : 1;
    l.count *= d != dim ? shape->sizes[d] : 1;
  }
  return l;
}

static int64_t line_base(const lines *l, int64_t line) {
  return line / l->stride * l->stride * l->length + line % l->stride;
}

// Merging -----------------------------------------------------------------------------------------------------------

// Whether element |a| of the line has to stand before element |b|.
typedef indim_status before_fn(void *user, int64_t a, int64_t b, bool *out_before);

// Merges from[first, middle) and from[middle, last) into |to|.
static indim_status merge(before_fn *before, void *user, const int64_t *from, int64_t *to, int64_t first,
                          int64_t middle, int64_t last) {
  int64_t left = first;
  int64_t right = middle;
  for (int64_t i = first; i < last; i++) {
    bool takes_right = left == middle;
    if (left < middle && right < last) {
      INDIM_TRY(before(user, from[right], from[left], &takes_right));
    }
    to[i] = takes_right ? from[right++] : from[left++];
  }
  return INDIM_OK;
}

// Leaves the order in order[0 ... length - 1]; |order| has room for twice as many.
static indim_status find_order(before_fn *before, void *user, int64_t length, int64_t *order) {
  int64_t *from = order;
  int64_t *to = order + length;
  for (int64_t i = 0; i < length; i++) {
    from[i] = i;
  }
  for (int64_t width = 1; width < length; width *= 2) {
    for (int64_t first = 0; first < length; first += 2 * width) {
      int64_t middle = first + width < length ? first + width : length;
      int64_t last = middle + width < length ? middle + width : length;
      INDIM_TRY(merge(before, user, from, to, first, middle, last));
    }
    int64_t *other = from;
    from = to;
    to = other;
  }
  if (from != order) {
    memcpy(order, from, (size_t)length * sizeof *order);
  }
  return INDIM_OK;
}

static void move_line(const lines *l, int64_t base, const int64_t *order, const indim_value *from, indim_value *to) {
  size_t bytes = (size_t)indim_type_bytes(from->shape->type);
  for (int64_t i = 0; i < l->length; i++) {
    memcpy(to->data + (size_t)(base + i * l->stride) * bytes,
           from->data + (size_t)(base + order[i] * l->stride) * bytes, bytes);
  }
}

// sort --------------------------------------------------------------------------------------------------------------

typedef struct sorting {
  indim_applied comparator;
  lines along;
  int64_t base;
  int32_t count;  // of operands
  indim_value **operands;
  indim_scalar *arguments;  // left and right element of each operand
} sorting;

static indim_status compare_elements(void *user, int64_t a, int64_t b, bool *out_before) {
  sorting *s = user;
  indim_scalar answer;
  for (int32_t k = 0; k < s->count; k++) {
    indim_type type = s->operands[k]->shape->type;
    s->arguments[2 * k] = indim_scalar_load(type, s->operands[k]->data, s->base + a * s->along.stride);
    s->arguments[2 * k + 1] = indim_scalar_load(type, s->operands[k]->data, s->base + b * s->along.stride);
  }
  INDIM_TRY(indim_applied_run(&s->comparator, s->arguments, &answer));
  *out_before = answer.i != 0;
  return INDIM_OK;
}

static indim_status sort_lines(sorting *s, int64_t *order, indim_value **results) {
  for (int64_t line = 0; line < s->along.count && s->along.length > 0; line++) {
    s->base = line_base(&s->along, line);
    INDIM_TRY(find_order(compare_elements, s, s->along.length, order));
    for (int32_t k = 0; k < s->count; k++) {
      move_line(&s->along, s->base, order, s->operands[k], results[k]);
    }
  }
  return INDIM_OK;
}

// |arena| holds what the sort needs beside its results, which the caller releases when this fails.
static indim_status sort_into(indim_evaluator *e, const indim_instr *instr, indim_arena *arena, sorting *s,
                              indim_value **results) {
  void *order = NULL;
  void *arguments = NULL;
  for (int32_t k = 0; k < s->count; k++) {
    INDIM_TRY(indim_value_new(e->cx, instr->operands[k]->shape, &results[k]));
  }
  INDIM_TRY(indim_arena_array(arena, (size_t)s->along.length, 2 * sizeof(int64_t), &order));
  INDIM_TRY(indim_arena_array(arena, (size_t)s->count, 2 * sizeof *s->arguments, &arguments));
  s->arguments = arguments;
  indim_status status = indim_applied_init(e, indim_instr_computation(instr, INDIM_ATTR_TO_APPLY), &s->comparator);
  status = status == INDIM_OK ? sort_lines(s, order, results) : status;
  indim_applied_deinit(&s->comparator);
  return status;
}

// One result, or a tuple of them; releases them if |status| is a failure.
static indim_status hand_out(indim_evaluator *e, const indim_instr *instr, indim_status status, int32_t count,
                             indim_value **results, indim_value **out) {
  if (status == INDIM_OK && indim_shape_is_tuple(instr->shape)) {
    status = indim_value_new_tuple(e->cx, instr->shape, results, out);
  } else if (status == INDIM_OK) {
    *out = results[0];
  }
  for (int32_t k = 0; status != INDIM_OK && k < count; k++) {
    indim_value_release(e->cx, results[k]);
  }
  return status;
}

indim_status indim_eval_sort(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  int64_t dim_count = 0;
  int64_t dim = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &dim_count)[0];
  sorting s = {
      .along = lines_along(instr->operands[0]->shape, dim), .count = instr->operand_count, .operands = operands};
  indim_arena arena;
  void *results = NULL;
  indim_arena_init(&arena, e->cx);
  indim_status status = indim_arena_array(&arena, (size_t)s.count, sizeof(indim_value *), &results);
  if (status == INDIM_OK) {
    status = hand_out(e, instr, sort_into(e, instr, &arena, &s, results), s.count, results, out);
  }
  indim_arena_deinit(&arena);
  return status;
}

// topk --------------------------------------------------------------------------------------------------------------

typedef struct choosing {
  indim_evaluator *e;
  const indim_value *operand;
  int64_t base;
  bool largest;
} choosing;

// Floats by total order, so that NaN comes first among the largest; of equals the first one.
static int64_t key_of(const indim_value *value, int64_t k) {
  indim_type type = value->shape->type;
  if (indim_type_is_float(type)) {
    indim_element element = indim_element_load(type, 8 * indim_type_bytes(type), value->data, k);
    return indim_total_order_key(type, element.bits);
  }
  return indim_scalar_load(type, value->data, k).i;
}

static indim_status compare_keys(void *user, int64_t a, int64_t b, bool *out_before) {
  const choosing *c = user;
  int64_t x = key_of(c->operand, c->base + a);
  int64_t y = key_of(c->operand, c->base + b);
  bool wide = c->operand->shape->type == INDIM_U64;
  bool less = wide ? (uint64_t)x < (uint64_t)y : x < y;
  *out_before = c->largest ? !less && x != y : less;
  return indim_eval_steps(c->e, 1);
}

static indim_status choose_lines(choosing *c, int64_t length, int64_t k, int64_t *order, indim_value *values,
                                 indim_value *places) {
  size_t bytes = (size_t)indim_type_bytes(c->operand->shape->type);
  for (int64_t line = 0; k > 0 && line < values->count / k; line++) {
    c->base = line * length;
    INDIM_TRY(find_order(compare_keys, c, length, order));
    for (int64_t i = 0; i < k; i++) {
      memcpy(values->data + (size_t)(line * k + i) * bytes, c->operand->data + (size_t)(c->base + order[i]) * bytes,
             bytes);
      indim_scalar_store(INDIM_S32, places->data, line * k + i, (indim_scalar){.i = order[i]});
    }
  }
  return INDIM_OK;
}

static indim_status choose_into(indim_evaluator *e, const indim_instr *instr, const indim_value *operand,
                                indim_value **results) {
  const indim_shape *shape = operand->shape;
  int64_t length = shape->sizes[shape->rank - 1];
  choosing c = {.e = e, .operand = operand, .largest = indim_instr_bool(instr, INDIM_ATTR_LARGEST, true)};
  indim_arena arena;
  void *order = NULL;
  INDIM_TRY(indim_value_new(e->cx, instr->shape->members[0], &results[0]));
  INDIM_TRY(indim_value_new(e->cx, instr->shape->members[1], &results[1]));
  indim_arena_init(&arena, e->cx);
  indim_status status = indim_arena_array(&arena, (size_t)length, 2 * sizeof(int64_t), &order);
  if (status == INDIM_OK) {
    status = choose_lines(&c, length, indim_instr_int(instr, INDIM_ATTR_K, 0), order, results[0], results[1]);
  }
  indim_arena_deinit(&arena);
  return status;
}

indim_status indim_eval_topk(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  indim_value *results[2] = {NULL, NULL};
  return hand_out(e, instr, choose_into(e, instr, operands[0], results), 2, results, out);
}
