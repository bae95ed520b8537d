// Rules about shapes, types and layouts: broadcasts that were not meant, precision, padding.
#include <stdlib.h>
#include <string.h>

#include "indim/literal_util.h"
#include "lint.h"

// Broadcasts ------------------------------------------------------------------------------------------------------------

// Where the elements of an operand come from, through reshapes that only add or drop dimensions of size 1, broadcasts and
// conversions: |dims[d]| is the source's dimension that dimension d of the result runs along, -1 if it is repeated there.
typedef struct origin {
  int64_t number;
  int32_t dims[INDIM_MAX_RANK];
} origin;

static void through_broadcast(const indim_instr *instr, const indim_shape *from, int32_t rank, origin *o) {
  const int64_t *list = NULL;
  int64_t count = indim_instr_numbers(instr, "dimensions", &list);
  for (int32_t d = 0; d < rank; d++) {
    int32_t found = -1;
    for (int64_t k = 0; k < count && k < from->rank; k++) {
      found = o->dims[d] >= 0 && list[k] == o->dims[d] ? (int32_t)k : found;
    }
    o->dims[d] = found;
  }
}

// The dimensions above size 1 of both are the same, in order.
static bool through_reshape(const indim_shape *to, const indim_shape *from, int32_t rank, origin *o) {
  int32_t map[INDIM_MAX_RANK];
  int32_t k = 0;
  for (int32_t d = 0; d < to->rank; d++) {
    map[d] = -1;
    if (to->sizes[d] == 1) {
      continue;
    }
    while (k < from->rank && from->sizes[k] == 1) {
      k++;
    }
    if (k == from->rank || from->sizes[k] != to->sizes[d]) {
      return false;
    }
    map[d] = k++;
  }
  while (k < from->rank && from->sizes[k] == 1) {
    k++;
  }
  for (int32_t d = 0; d < rank && k == from->rank; d++) {
    o->dims[d] = o->dims[d] < 0 ? -1 : map[o->dims[d]];
  }
  return k == from->rank;
}

static origin origin_of(const lint *l, int64_t number) {
  int32_t rank = lint_shape_of(l, number)->rank;
  origin o = {.number = number};
  for (int32_t d = 0; d < rank; d++) {
    o.dims[d] = d;
  }
  for (;;) {
    indim_op op = lint_op(l, o.number);
    bool passes = op == INDIM_OP_BROADCAST || op == INDIM_OP_RESHAPE || op == INDIM_OP_CONVERT;
    if (!passes) {
      return o;
    }
    int64_t from = operand_number(&l->t, o.number, 0);
    if (op == INDIM_OP_BROADCAST) {
      through_broadcast(l->t.instrs[o.number], lint_shape_of(l, from), rank, &o);
    } else if (op == INDIM_OP_RESHAPE &&
               !through_reshape(lint_shape_of(l, o.number), lint_shape_of(l, from), rank, &o)) {
      return o;
    }
    o.number = from;
  }
}

// The only dimension of the result that it runs along; -1 if there is none, or more than one.
static int32_t only_dim(const indim_shape *result, const origin *o) {
  int32_t found = -1;
  for (int32_t d = 0; d < result->rank; d++) {
    if (o->dims[d] >= 0 && result->sizes[d] > 1) {
      if (found >= 0) {
        return -1;
      }
      found = d;
    }
  }
  return found;
}

static bool joins(indim_op op) {
  switch ((int)op) {
  case INDIM_OP_ADD:
  case INDIM_OP_SUBTRACT:
  case INDIM_OP_MULTIPLY:
  case INDIM_OP_DIVIDE:
  case INDIM_OP_REMAINDER:
  case INDIM_OP_POWER:
  case INDIM_OP_MAXIMUM:
  case INDIM_OP_MINIMUM:
  case INDIM_OP_AND:
  case INDIM_OP_OR:
  case INDIM_OP_XOR:
  case INDIM_OP_ATAN2:
  case INDIM_OP_COMPARE:
  case INDIM_OP_SELECT:
    return true;
  default:
    return false;
  }
}

// Two different values of n elements, operands |a| and |b|, that are joined to n x n; a constant or a count is nobody's value.
static bool is_crossed(const lint *l, int64_t number, int64_t a, int64_t b, origin *x, origin *y) {
  const indim_shape *shape = lint_shape_of(l, number);
  if (!joins(lint_op(l, number)) || !indim_shape_is_array(shape) || shape->rank < 2) {
    return false;
  }
  *x = origin_of(l, operand_number(&l->t, number, a));
  *y = origin_of(l, operand_number(&l->t, number, b));
  int32_t dx = only_dim(shape, x);
  int32_t dy = only_dim(shape, y);
  bool is_square = dx >= 0 && dy >= 0 && dx != dy && shape->sizes[dx] == shape->sizes[dy];
  return is_square && x->number != y->number && l->depends[x->number] && l->depends[y->number];
}

// Of rank 2 and more, all in one dimension.
static bool is_column(const indim_shape *shape) {
  int32_t above = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    above += shape->sizes[d] != 1;
  }
  return shape->rank >= 2 && above == 1;
}

// Whether |number|'s value is made of |of|'s; operands stand before their users.
static bool is_made_of(const lint *l, int64_t number, int64_t of) {
  if (number <= of) {
    return number == of;
  }
  bool *is_made = must_alloc((size_t)(number - of) + 1);
  for (int64_t i = of; i <= number; i++) {
    is_made[i - of] = i == of;
    for (int64_t k = 0; k < operand_count(&l->t, i) && !is_made[i - of]; k++) {
      int64_t operand = operand_number(&l->t, i, k);
      is_made[i - of] = operand >= of && is_made[operand - of];
    }
  }
  bool found = is_made[number - of];
  free(is_made);
  return found;
}

// Whether it is joined with a value that has both dimensions by itself: then the matrix was meant, as in x @ y.T / (a * b).
static bool meets_matrix(const lint *l, int64_t number) {
  const indim_shape *shape = lint_shape_of(l, number);
  for (int64_t u = l->t.users_begin[number]; u < l->t.users_begin[number + 1]; u++) {
    int64_t user = l->t.users[u];
    for (int64_t k = 0; joins(lint_op(l, user)) && k < operand_count(&l->t, user); k++) {
      int64_t other = operand_number(&l->t, user, k);
      origin o = origin_of(l, other);
      int32_t dims = 0;
      for (int32_t d = 0; d < shape->rank; d++) {
        dims += o.dims[d] >= 0 && shape->sizes[d] > 1;
      }
      if (dims >= 2 && l->depends[o.number] && !is_made_of(l, o.number, number)) {
        return true;
      }
    }
  }
  return false;
}

// Whether operands |a| and |b| are a vector and a column; told once for each instruction.
static bool check_promotion(lint *l, int64_t i, int64_t a, int64_t b) {
  origin x, y;
  if (!is_crossed(l, i, a, b, &x, &y)) {
    return false;
  }
  const indim_shape *sx = lint_shape_of(l, x.number);
  const indim_shape *sy = lint_shape_of(l, y.number);
  bool is_promotion = (sx->rank == 1 && is_column(sy)) || (sy->rank == 1 && is_column(sx));
  if (is_promotion && !meets_matrix(l, i)) {
    lint_add(l, RULE_rank_promotion, i, lint_bytes(lint_shape_of(l, i)), "%s %s and %s %s are joined to %s",
             lint_name(l, x.number), lint_shape(l, x.number).text, lint_name(l, y.number), lint_shape(l, y.number).text,
             lint_shape(l, i).text);
  }
  return is_promotion;
}

void lint_rank_promotion(lint *l) {
  for (int64_t i = 0; i < l->t.count; i++) {
    int64_t operands = joins(lint_op(l, i)) ? operand_count(&l->t, i) : 0;
    bool is_told = false;
    for (int64_t a = 0; a < operands; a++) {
      for (int64_t b = a + 1; b < operands && !is_told; b++) {
        is_told = check_promotion(l, i, a, b);
      }
    }
  }
}

// Whether it ends in a reduction to one number, by elementwise steps that nobody else uses.
static bool is_all_reduced(const lint *l, int64_t number) {
  enum { MOST_STEPS = 16 };
  for (int step = 0; step < MOST_STEPS && user_count(&l->t, number) >= 1; step++) {
    int64_t user = l->t.users[l->t.users_begin[number]];
    bool is_square = user_count(&l->t, number) == 2 && l->t.users[l->t.users_begin[number] + 1] == user;
    if (user_count(&l->t, number) != 1 && !is_square) {
      return false;
    }
    number = user;
    if (lint_op(l, number) == INDIM_OP_REDUCE) {
      return indim_shape_is_array(lint_shape_of(l, number)) && lint_shape_of(l, number)->rank == 0;
    }
  }
  return false;
}

void lint_outer_difference(lint *l) {
  for (int64_t i = 0; i < l->t.count; i++) {
    origin x, y;
    if (lint_op(l, i) == INDIM_OP_SUBTRACT && is_crossed(l, i, 0, 1, &x, &y) && lint_shape_of(l, x.number)->rank == 1 &&
        lint_shape_of(l, y.number)->rank == 1 && is_all_reduced(l, i)) {
      lint_add(l, RULE_outer_difference, i, lint_bytes(lint_shape_of(l, i)),
               "%s and %s, both %s, are subtracted each from each to %s", lint_name(l, x.number),
               lint_name(l, y.number), lint_shape(l, x.number).text, lint_shape(l, i).text);
    }
  }
}

// Types -----------------------------------------------------------------------------------------------------------------

static bool is_double(indim_type type) { return type == INDIM_F64 || type == INDIM_C128; }

static bool is_double_array(const lint *l, int64_t number) {
  const indim_shape *shape = lint_shape_of(l, number);
  return indim_shape_is_array(shape) && is_double(shape->type) && indim_shape_element_count(shape) > 1;
}

// What parameters have: tuples with all their members.
static void see_types(const indim_shape *shape, bool *has_double, bool *has_float) {
  if (indim_shape_is_array(shape)) {
    bool is_float = indim_type_is_float(shape->type) || indim_type_is_complex(shape->type);
    *has_double = *has_double || is_double(shape->type);
    *has_float = *has_float || (is_float && !is_double(shape->type));
  }
  for (int64_t i = 0; shape->members != NULL && i < shape->member_count; i++) {
    see_types(shape->members[i], has_double, has_float);
  }
}

void lint_f64_in_f32(lint *l) {
  const indim_computation *entry = indim_module_entry(l->t.module);
  bool has_double = false, has_float = false;
  for (int64_t i = 0; i < indim_computation_parameter_count(entry); i++) {
    see_types(indim_instr_shape(indim_computation_parameter(entry, i)), &has_double, &has_float);
  }
  for (int64_t i = 0; i < l->t.count && has_float && !has_double; i++) {
    bool is_first = is_double_array(l, i) && lint_op(l, i) != INDIM_OP_PARAMETER;
    for (int64_t k = 0; k < operand_count(&l->t, i) && is_first; k++) {
      is_first = !is_double_array(l, operand_number(&l->t, i, k)) &&
                 !indim_shape_is_tuple(lint_shape_of(l, operand_number(&l->t, i, k)));
    }
    if (is_first) {
      lint_add(l, RULE_f64_in_f32, i, lint_bytes(lint_shape_of(l, i)), "%s where the parameters are f32 or narrower",
               lint_shape(l, i).text);
    }
  }
}

void lint_convert_round_trip(lint *l) {
  for (int64_t i = 0; i < l->t.count; i++) {
    if (lint_op(l, i) != INDIM_OP_CONVERT) {
      continue;
    }
    int64_t inner = operand_number(&l->t, i, 0);
    if (lint_op(l, inner) != INDIM_OP_CONVERT) {
      continue;
    }
    int64_t from = operand_number(&l->t, inner, 0);
    const indim_shape *a = lint_shape_of(l, from);
    const indim_shape *b = lint_shape_of(l, inner);
    const indim_shape *c = lint_shape_of(l, i);
    bool is_only = user_count(&l->t, inner) == 1;
    if (a->type == c->type && a->type != b->type && is_only && lint_bytes(c) >= l->least_bytes) {
      bool loses = indim_type_bytes(b->type) < indim_type_bytes(a->type);
      lint_add(l, RULE_convert_round_trip, i, lint_bytes(c), "%s to %s and back: %s", indim_type_text(a->type),
               indim_type_text(b->type), loses ? "digits are lost on the way" : "nothing happens to the values");
    }
  }
}

// Layouts ---------------------------------------------------------------------------------------------------------------

static bool was_seen(const indim_shape *const *seen, int64_t count, const indim_shape *shape) {
  for (int64_t i = 0; i < count; i++) {
    if (indim_shape_equal(seen[i], shape, 0)) {
      return true;
    }
  }
  return false;
}

// Once for each shape: a program has it everywhere.
void lint_padding_waste(lint *l) {
  const indim_shape *seen[LINT_MOST_FINDINGS];
  int64_t count = 0;
  for (int64_t i = 0; i < l->t.count && count < LINT_MOST_FINDINGS; i++) {
    const indim_shape *shape = lint_shape_of(l, i);
    int64_t stored = 0;
    if (!indim_shape_is_array(shape) || !shape->has_layout ||
        indim_shape_storage_bytes(NULL, shape, &stored) != INDIM_OK) {
      continue;
    }
    double waste = (double)stored - lint_bytes(shape);
    if (waste >= l->least_bytes && waste >= l->padding * lint_bytes(shape) && !was_seen(seen, count, shape)) {
      seen[count++] = shape;
      indim_buffer text;
      indim_buffer_init(&text, l->cx);
      indim_shape_print(shape, true, &text);
      lint_add(l, RULE_padding_waste, i, waste, "%s takes %.0f bytes for %.0f of elements",
               text.data == NULL ? "" : text.data, (double)stored, lint_bytes(shape));
      indim_buffer_deinit(&text);
    }
  }
}

void lint_large_constant(lint *l) {
  const double most = 4 << 20;
  for (int64_t i = 0; i < l->t.count; i++) {
    bool is_large = lint_op(l, i) == INDIM_OP_CONSTANT && lint_bytes(lint_shape_of(l, i)) >= most;
    if (is_large && !indim_literal_is_all_first(indim_instr_literal(l->t.instrs[i]))) {
      lint_add(l, RULE_large_constant, i, lint_bytes(lint_shape_of(l, i)), "a constant %s", lint_shape(l, i).text);
    }
  }
}
