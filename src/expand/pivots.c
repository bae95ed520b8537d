// while: the permutations that the row exchanges of LU factorizations amount to, as JAX computes them,
//
//   p = 0, 1, ... of every matrix;  i = 0;  while (i < count)  p[i], p[s[i]] = p[s[i]], p[i];  i++
//
// where s are getrf's pivots less 1, so that i <= s[i] < rows. Each step gathers from all matrices and scatters into them; for small
// matrices the steps of one matrix are code (lu_permutation of linalg.def) with a lane for each matrix.
#include "expand/pivots.h"

#include "array/element.h"
#include "linalg/linalg.h"

enum { MOST_VISITS = 500, MOST_CALLS = 16, MOST_CARRIED = 8, MOST_ROWS = 16 };

// Where an instruction stands: in what is called there, or NULL for the computations of the loop.
typedef struct scope {
  const indim_instr *call;
  const struct scope *outer;
} scope;

typedef struct place {
  const indim_instr *instr;
  const scope *of;
} place;

typedef struct search {
  const indim_instr *loop;
  const indim_computation *body;
  int32_t visits;  // that are left
  int32_t scope_count;
  scope scopes[MOST_CALLS];
  int32_t permutation, swaps;  // carried values; -1 while unknown
} search;

static const scope top = {NULL, NULL};

// The inside of a call; NULL where there are too many.
static const scope *enter(search *s, const indim_instr *call, const scope *outer) {
  for (int32_t i = 0; i < s->scope_count; i++) {
    if (s->scopes[i].call == call && s->scopes[i].outer == outer) {
      return &s->scopes[i];
    }
  }
  if (s->scope_count == MOST_CALLS) {
    return NULL;
  }
  s->scopes[s->scope_count] = (scope){call, outer};
  return &s->scopes[s->scope_count++];
}

// What |p| is, through calls, tuples, and what leaves the elements in their order. What is carried is a get-tuple-element of the
// body's parameter.
static place resolve(search *s, place p) {
  while (--s->visits >= 0) {
    const indim_instr *x = p.instr;
    if (x->op == INDIM_OP_PARAMETER && p.of->call != NULL) {
      p = (place){p.of->call->operands[x->parameter_number], p.of->outer};
    } else if (x->op == INDIM_OP_CALL) {
      const scope *inner = enter(s, x, p.of);
      if (inner == NULL) {
        break;
      }
      p = (place){indim_instr_computation(x, INDIM_ATTR_TO_APPLY)->root, inner};
    } else if (x->op == INDIM_OP_RESHAPE || x->op == INDIM_OP_COPY) {
      p.instr = x->operands[0];
    } else if (x->op == INDIM_OP_GET_TUPLE_ELEMENT) {
      place tuple = resolve(s, (place){x->operands[0], p.of});
      if (tuple.instr->op != INDIM_OP_TUPLE) {
        return tuple.instr->op == INDIM_OP_PARAMETER ? (place){x, &top} : tuple;
      }
      p = (place){tuple.instr->operands[indim_instr_int(x, INDIM_ATTR_INDEX, 0)], tuple.of};
    } else {
      break;
    }
  }
  return p;
}

static place operand_of(search *s, place p, int32_t k) { return resolve(s, (place){p.instr->operands[k], p.of}); }

// The number of the carried value that a resolved place is; -1 for another.
static int32_t carried(place p) {
  bool is_it =
      p.instr->op == INDIM_OP_GET_TUPLE_ELEMENT && p.instr->operands[0]->op == INDIM_OP_PARAMETER && p.of->call == NULL;
  return is_it ? (int32_t)indim_instr_int(p.instr, INDIM_ATTR_INDEX, 0) : -1;
}

// Whether a resolved place is that integer everywhere.
static bool is_number(search *s, place p, int64_t number) {
  p = p.instr->op == INDIM_OP_BROADCAST ? operand_of(s, p, 0) : p;
  const indim_literal *literal = p.instr->op == INDIM_OP_CONSTANT ? p.instr->literal : NULL;
  if (literal == NULL || indim_literal_is_elided(literal) || !indim_shape_is_scalar(p.instr->shape) ||
      !indim_type_is_integral(p.instr->shape->type)) {
    return false;
  }
  const indim_shape *shape = indim_literal_shape(literal);
  indim_element element =
      indim_element_load(shape->type, indim_shape_element_bits(shape), indim_literal_data(literal), 0);
  return indim_element_to_int(shape->type, element) == number;
}

static bool is_same(place x, place y) {
  return carried(x) >= 0 ? carried(x) == carried(y) : x.instr == y.instr && x.of == y.of;
}

// Of select(x < 0, x + size, x), which is x for what is never negative, x; and that in another integral type, as it is never
// large either.
static place without_wrapping(search *s, place p) {
  if (p.instr->op == INDIM_OP_CONVERT && indim_type_is_integral(p.instr->shape->type) &&
      indim_type_is_integral(p.instr->operands[0]->shape->type)) {
    p = operand_of(s, p, 0);
  }
  if (p.instr->op != INDIM_OP_SELECT) {
    return p;
  }
  place pred = operand_of(s, p, 0);
  place x = operand_of(s, p, 2);
  bool wraps = pred.instr->op == INDIM_OP_COMPARE && indim_instr_direction(pred.instr) == INDIM_COMPARE_LT &&
               is_same(operand_of(s, pred, 0), x) && is_number(s, operand_of(s, pred, 1), 0);
  return wraps ? x : p;
}

static place initial(search *s, int32_t k) {
  const indim_instr *tuple = s->loop->operands[0];
  return resolve(s, (place){tuple->operands[k], &top});
}

static place next(search *s, int32_t k) { return resolve(s, (place){s->body->root->operands[k], &top}); }

// Whether carried value |k| counts steps from 0.
static bool is_counter(search *s, int32_t k) {
  if (k < 0 || !indim_shape_is_scalar(s->loop->shape->members[k])) {
    return false;
  }
  place sum = next(s, k);
  return is_number(s, initial(s, k), 0) && sum.instr->op == INDIM_OP_ADD && carried(operand_of(s, sum, 0)) == k &&
         is_number(s, operand_of(s, sum, 1), 1);
}

static bool is_step(search *s, place p) { return is_counter(s, carried(without_wrapping(s, p))); }

// Attributes that are 0, 1, ... or the last dimension.
static bool is_all_but_last(const indim_instr *x, indim_attr_id id, int32_t rank) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(x, id, &count);
  bool is_it = count == rank - 1;
  for (int64_t d = 0; d < count; d++) {
    is_it = is_it && dims[d] == d;
  }
  return is_it;
}

static bool is_last(const indim_instr *x, indim_attr_id id, int32_t rank) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(x, id, &count);
  return count == 1 && dims[0] == rank - 1;
}

// Whether |x| takes one element of each row: the same one, or that of the row's own index.
static bool gathers(const indim_instr *x, bool by_row) {
  const indim_shape *shape = x->operands[0]->shape;
  const indim_shape *indices = x->operands[1]->shape;
  int64_t count = 0;
  const int64_t *sizes = indim_instr_ints(x, INDIM_ATTR_SLICE_SIZES, &count);
  bool is_it = count == shape->rank && is_last(x, INDIM_ATTR_START_INDEX_MAP, shape->rank);
  for (int32_t d = 0; d < shape->rank && is_it; d++) {
    is_it = sizes[d] == (by_row || d == shape->rank - 1 ? 1 : shape->sizes[d]);
  }
  if (!by_row) {
    return is_it && indim_shape_element_count(indices) == 1 &&
           indim_expand_has_none(x, INDIM_ATTR_OPERAND_BATCHING_DIMS);
  }
  return is_it && indices->rank == shape->rank &&
         indim_instr_int(x, INDIM_ATTR_INDEX_VECTOR_DIM, -1) == shape->rank - 1 &&
         is_all_but_last(x, INDIM_ATTR_OPERAND_BATCHING_DIMS, shape->rank) &&
         is_all_but_last(x, INDIM_ATTR_START_INDICES_BATCHING_DIMS, shape->rank);
}

static bool assigns(const indim_instr *scatter) {
  const indim_instr *root = indim_instr_computation(scatter, INDIM_ATTR_TO_APPLY)->root;
  return scatter->operand_count == 3 && root->op == INDIM_OP_PARAMETER && root->parameter_number == 1;
}

static bool scatters(const indim_instr *x, bool by_row) {
  const indim_shape *shape = x->operands[0]->shape;
  const indim_shape *indices = x->operands[1]->shape;
  bool is_it = assigns(x) && is_last(x, INDIM_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, shape->rank) &&
               is_last(x, INDIM_ATTR_INSERTED_WINDOW_DIMS, shape->rank);
  if (!by_row) {
    return is_it && indim_shape_element_count(indices) == 1 && indim_expand_has_none(x, INDIM_ATTR_INPUT_BATCHING_DIMS);
  }
  return is_it && indices->rank == shape->rank &&
         indim_instr_int(x, INDIM_ATTR_INDEX_VECTOR_DIM, -1) == shape->rank - 1 &&
         indim_expand_has_none(x, INDIM_ATTR_UPDATE_WINDOW_DIMS) &&
         is_all_but_last(x, INDIM_ATTR_INPUT_BATCHING_DIMS, shape->rank) &&
         is_all_but_last(x, INDIM_ATTR_SCATTER_INDICES_BATCHING_DIMS, shape->rank);
}

// s[i]
static bool is_swap(search *s, place p) {
  p = without_wrapping(s, p);
  if (p.instr->op != INDIM_OP_GATHER || !gathers(p.instr, false) || !is_step(s, operand_of(s, p, 1))) {
    return false;
  }
  int32_t k = carried(operand_of(s, p, 0));
  s->swaps = s->swaps < 0 ? k : s->swaps;
  return k >= 0 && k == s->swaps;
}

// p[i], or p[s[i]]
static bool is_element(search *s, place p, bool by_row) {
  return p.instr->op == INDIM_OP_GATHER && gathers(p.instr, by_row) && carried(operand_of(s, p, 0)) == s->permutation &&
         (by_row ? is_swap(s, operand_of(s, p, 1)) : is_step(s, operand_of(s, p, 1)));
}

static bool exchanges(search *s) {
  place second = next(s, s->permutation);
  if (second.instr->op != INDIM_OP_SCATTER || !scatters(second.instr, true)) {
    return false;
  }
  place first = operand_of(s, second, 0);
  return first.instr->op == INDIM_OP_SCATTER && scatters(first.instr, false) &&
         carried(operand_of(s, first, 0)) == s->permutation && is_step(s, operand_of(s, first, 1)) &&
         is_element(s, operand_of(s, first, 2), true) && is_swap(s, operand_of(s, second, 1)) &&
         is_element(s, operand_of(s, second, 2), false);
}

// 0, 1, ... in each row.
static bool counts_rows(search *s, place p) {
  int32_t last = p.instr->shape->rank - 1;
  if (p.instr->op == INDIM_OP_BROADCAST) {
    place row = operand_of(s, p, 0);
    return row.instr->op == INDIM_OP_IOTA && row.instr->shape->rank == 1 &&
           is_last(p.instr, INDIM_ATTR_DIMENSIONS, last + 1);
  }
  return p.instr->op == INDIM_OP_IOTA && indim_instr_int(p.instr, INDIM_ATTR_IOTA_DIMENSION, -1) == last;
}

// The pivots less 1 of a factorization of matrices with at most |rows| rows: below 0 and from |rows| on there is none.
static bool are_pivots(search *s, place p, int64_t rows) {
  if (p.instr->op != INDIM_OP_SUBTRACT || !is_number(s, operand_of(s, p, 1), 1)) {
    return false;
  }
  const indim_instr *member = operand_of(s, p, 0).instr;
  if (member->op != INDIM_OP_CUSTOM_CALL) {
    return false;
  }
  const indim_instr *named = p.instr->operands[0];
  const indim_attr *name = indim_instr_attr(member, INDIM_ATTR_CUSTOM_CALL_TARGET);
  indim_type type = INDIM_TYPE_INVALID;
  const indim_linalg_target *target = name == NULL ? NULL : indim_linalg_find(name->value.text, &type);
  if (target == NULL || target->id != INDIM_LINALG_GETRF || named->op != INDIM_OP_GET_TUPLE_ELEMENT ||
      indim_instr_int(named, INDIM_ATTR_INDEX, -1) != 1 || member->operand_count == 0) {
    return false;
  }
  const indim_shape *matrix = member->operands[0]->shape;
  return indim_shape_is_array(matrix) && matrix->rank >= 2 && matrix->sizes[matrix->rank - 2] <= rows;
}

// Whether the loop has a step for each pivot.
static bool steps_through(search *s, int64_t count) {
  const indim_computation *condition = indim_instr_computation(s->loop, INDIM_ATTR_CONDITION);
  place root = resolve(s, (place){condition->root, &top});
  return root.instr->op == INDIM_OP_COMPARE && indim_instr_direction(root.instr) == INDIM_COMPARE_LT &&
         is_counter(s, carried(operand_of(s, root, 0))) && is_number(s, operand_of(s, root, 1), count);
}

static bool is_rows(const indim_shape *shape) {
  return indim_shape_is_array(shape) && shape->type == INDIM_S32 && shape->dynamic == 0 && shape->rank >= 2 &&
         shape->sizes[shape->rank - 1] <= MOST_ROWS;
}

static search search_of(const indim_instr *loop) {
  return (search){.loop = loop,
                  .body = indim_instr_computation(loop, INDIM_ATTR_BODY),
                  .visits = MOST_VISITS,
                  .permutation = -1,
                  .swaps = -1};
}

// Finds the carried values.
static bool find(search *s) {
  const indim_shape *shape = s->loop->shape;
  for (int32_t k = 0; k < shape->member_count && s->permutation < 0; k++) {
    if (is_rows(shape->members[k]) && next(s, k).instr->op == INDIM_OP_SCATTER) {
      s->permutation = k;
    }
  }
  if (s->permutation < 0 || !exchanges(s) || carried(next(s, s->swaps)) != s->swaps) {
    return false;
  }
  const indim_shape *swaps = shape->members[s->swaps];
  const indim_shape *rows = shape->members[s->permutation];
  place given = initial(s, s->swaps);
  bool suits = is_rows(swaps) && indim_shape_compatible(given.instr->shape, swaps) && swaps->rank == rows->rank &&
               swaps->sizes[swaps->rank - 1] <= rows->sizes[rows->rank - 1];
  for (int32_t k = 0; k < shape->member_count && suits; k++) {
    suits = k == s->permutation || carried(next(s, k)) == k || is_counter(s, k);
  }
  return suits && counts_rows(s, initial(s, s->permutation)) && are_pivots(s, given, rows->sizes[rows->rank - 1]) &&
         steps_through(s, swaps->sizes[swaps->rank - 1]) && s->visits > 0;
}

bool indim_pivots_suit(const indim_instr *loop) {
  if (loop->op != INDIM_OP_WHILE || indim_instr_has_effect(loop) || !indim_shape_is_tuple(loop->shape) ||
      loop->shape->member_count > MOST_CARRIED || loop->operands[0]->op != INDIM_OP_TUPLE) {
    return false;
  }
  search s = search_of(loop);
  return s.body->root->op == INDIM_OP_TUPLE && find(&s);
}

value indim_pivots_expand(indim_expander *x) {
  value results[MOST_CARRIED];
  search s = search_of(x->instr);
  const indim_shape *shape = x->instr->shape;
  (void)find(&s);
  s.visits = MOST_VISITS;  // for the counters
  const indim_shape *swaps = shape->members[s.swaps];
  int64_t count = swaps->sizes[swaps->rank - 1];
  indim_expand_begin(x);
  for (int32_t k = 0; k < shape->member_count; k++) {
    results[k] = indim_build_get_tuple_element(x->b, x->operands[0], k);
    if (is_counter(&s, k)) {
      results[k] = indim_build_scalar_int(x->b, shape->members[k]->type, count);
    }
  }
  const indim_attr attrs[] = {indim_build_attr_word(x->b, INDIM_ATTR_CUSTOM_CALL_TARGET, "lu_permutation_ffi"),
                              indim_build_attr_word(x->b, INDIM_ATTR_API_VERSION, "API_VERSION_TYPED_FFI")};
  results[s.permutation] =
      indim_build_emit(x->b, INDIM_OP_CUSTOM_CALL, shape->members[s.permutation], &results[s.swaps], 1, attrs, 2);
  return indim_build_tuple(x->b, results, (int32_t)shape->member_count);
}
