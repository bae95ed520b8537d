// while: a loop over arrays each element of which runs until it is done, as JAX makes of a loop under vmap: it goes on while any
// element is active, and each step leaves those alone that are not,
//
//   while (any(p(s)))  s = select(p(s), f(s), s)
//
// becomes a loop over blocks of elements, which live in registers, and inside it the same loop over a block: a block makes as
// many steps as its own elements need, and nothing passes through memory in between. The last block overlaps the one before,
// and computes some elements again. The condition may also ask a scalar, as a number of steps.
//
// So does a loop in which all elements make the same steps, as many as scalars say, if its arrays do not fit the first cache: z = z z + c
// fifty times over is one pass through the memory. Scalars run along in every block.
#include "expand/expand.h"
#include "expand/kit.h"
#include "expand/pivots.h"
#include "graph/dynamic.h"
#include "graph/equal.h"
#include "graph/infer_kit.h"
#include "indim/shape_util.h"

enum { BLOCK = 16, LEAST = 4 * BLOCK, MOST_VISITS = 2000, MOST_CALLS = 8, MOST_CARRIED = 64 };

// Of loops that make the same number of steps for all elements. Blocks are of so many elements that chains of operations overlap.
enum { LEAST_BYTES = 1 << 16, MOST_ELEMENT_BYTES = 24, MOST_INSTRS = 64 };

static int32_t counted_block(int64_t elements) {
  static const int32_t sizes[] = {64, 80, 96, 48, 112, 32};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (elements % sizes[i] == 0) {
      return sizes[i];
    }
  }
  return sizes[0];
}

// Where an instruction stands: in what is called there, or NULL for the computations of the loop.
typedef struct scope {
  const indim_instr *call;
  const struct scope *outer;
} scope;

static const scope top = {NULL, NULL};

typedef struct search {
  const indim_instr *any;     // in the condition: of
  const indim_instr *active;  // p(s)
  const indim_shape *whole;   // its shape, that of all arrays
  const indim_computation *condition, *body;
  int32_t visits;  // that are left
  int32_t number;  // of a carried value
} search;

typedef bool question(search *s, const indim_instr *x, const scope *of);

static const indim_computation *called_by(const indim_instr *call) {
  return indim_instr_computation(call, INDIM_ATTR_TO_APPLY);
}

// Asks of the instruction that |x| is, through calls.
static bool follow(search *s, const indim_instr *x, const scope *of, question *ask) {
  if (--s->visits < 0) {
    return false;
  }
  if (x->op == INDIM_OP_PARAMETER && of->call != NULL) {
    return follow(s, of->call->operands[x->parameter_number], of->outer, ask);
  }
  if (x->op == INDIM_OP_CALL) {
    scope inner = {x, of};
    return follow(s, called_by(x)->root, &inner, ask);
  }
  return ask(s, x, of);
}

static bool is_through(const indim_instr *x, const scope *of) {
  return x->op == INDIM_OP_CALL || (x->op == INDIM_OP_PARAMETER && of->call != NULL);
}

// Whether both are the same function of what is carried.
static bool is_same(search *s, const indim_instr *x, const scope *of_x, const indim_instr *y, const scope *of_y) {
  if (--s->visits < 0) {
    return false;
  }
  if (x->op == INDIM_OP_PARAMETER && of_x->call != NULL) {
    return is_same(s, of_x->call->operands[x->parameter_number], of_x->outer, y, of_y);
  }
  if (x->op == INDIM_OP_CALL) {
    scope inner = {x, of_x};
    return is_same(s, called_by(x)->root, &inner, y, of_y);
  }
  if (is_through(y, of_y)) {
    return is_same(s, y, of_y, x, of_x);
  }
  if (x->op == INDIM_OP_PARAMETER || y->op == INDIM_OP_PARAMETER) {
    return x->op == y->op;
  }
  if (x->operand_count != y->operand_count || !indim_instr_computes_same(x, y)) {
    return false;
  }
  for (int32_t k = 0; k < x->operand_count; k++) {
    if (!is_same(s, x->operands[k], of_x, y->operands[k], of_y)) {
      return false;
    }
  }
  return true;
}

static bool is_carried(search *s, const indim_instr *x, const scope *of) {
  return x->op == INDIM_OP_GET_TUPLE_ELEMENT && of->call == NULL && x->operands[0]->op == INDIM_OP_PARAMETER &&
         indim_instr_int(x, INDIM_ATTR_INDEX, 0) == s->number;
}

// Whether |x| is false where an element is not active.
static bool needs_active(search *s, const indim_instr *x, const scope *of) {
  if (is_same(s, x, of, s->active, &top)) {
    return true;
  }
  return x->op == INDIM_OP_AND &&
         (follow(s, x->operands[0], of, needs_active) || follow(s, x->operands[1], of, needs_active));
}

// Whether |x|, what is carried next, is what was where an element is not active.
static bool stays(search *s, const indim_instr *x, const scope *of) {
  if (is_carried(s, x, of)) {
    return true;
  }
  if (x->op == INDIM_OP_SELECT) {
    return follow(s, x->operands[2], of, is_carried) && follow(s, x->operands[0], of, needs_active);
  }
  return x->op == INDIM_OP_AND && follow(s, s->active, &top, is_carried) &&
         (follow(s, x->operands[0], of, is_carried) || follow(s, x->operands[1], of, is_carried));
}

static bool is_fixed(search *s, int32_t k) {
  s->number = k;
  return follow(s, s->body->root->operands[k], &top, is_carried);
}

// Whether |x| is of arrays, and of scalars that are the same in each step.
static bool is_of_arrays(search *s, const indim_instr *x, const scope *of) {
  if (x->op == INDIM_OP_GET_TUPLE_ELEMENT) {
    return !indim_shape_is_scalar(x->shape) || is_fixed(s, (int32_t)indim_instr_int(x, INDIM_ATTR_INDEX, 0));
  }
  for (int32_t k = 0; k < x->operand_count; k++) {
    if (!follow(s, x->operands[k], of, is_of_arrays)) {
      return false;
    }
  }
  return true;
}

// What can be copied for a block ---------------------------------------------------------------------------------------

static bool is_plain(const indim_shape *shape) {
  return indim_shape_is_array(shape) && shape->dynamic == 0 && indim_expand_is_row_major(shape);
}

static bool is_scalar_or_whole(const search *s, const indim_shape *shape) {
  if (!is_plain(shape) || (shape->rank != 0 && shape->rank != s->whole->rank)) {
    return false;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] != s->whole->sizes[d]) {
      return false;
    }
  }
  return true;
}

static bool fits(search *s, const indim_computation *computation, int32_t depth);

static bool fits_instr(search *s, const indim_instr *x, int32_t depth) {
  const indim_computation *c = x->computation;
  switch ((int)x->op) {
  case INDIM_OP_PARAMETER:
    return depth == 0 || is_scalar_or_whole(s, x->shape);
  case INDIM_OP_GET_TUPLE_ELEMENT:
    return (depth == 0 && x->operands[0]->op == INDIM_OP_PARAMETER) ||
           (s->any == NULL && x->operands[0]->op == INDIM_OP_CALL);
  case INDIM_OP_TUPLE:
    return (depth == 0 && x == s->body->root) || (s->any == NULL && x == c->root);
  case INDIM_OP_REDUCE:
    return depth == 0 && x == s->any;
  case INDIM_OP_CONSTANT:
    return indim_shape_is_scalar(x->shape) && !indim_literal_is_elided(x->literal);
  case INDIM_OP_BROADCAST:
    return indim_shape_is_scalar(x->operands[0]->shape) && is_scalar_or_whole(s, x->shape);
  case INDIM_OP_CALL:
    return depth < MOST_CALLS &&
           (is_scalar_or_whole(s, x->shape) || (s->any == NULL && indim_shape_is_tuple(x->shape))) &&
           fits(s, called_by(x), depth + 1);
  default:
    break;
  }
  bool is_elementwise = indim_instr_is_elementwise(x) && x->op != INDIM_OP_MAP && !indim_instr_has_effect(x) &&
                        is_scalar_or_whole(s, x->shape) && c != NULL;
  for (int32_t k = 0; k < x->operand_count && is_elementwise; k++) {
    is_elementwise = is_scalar_or_whole(s, x->operands[k]->shape);
  }
  return is_elementwise;
}

static bool fits(search *s, const indim_computation *computation, int32_t depth) {
  for (int32_t i = 0; i < computation->instr_count; i++) {
    if (--s->visits < 0 || !fits_instr(s, computation->instrs[i], depth)) {
      return false;
    }
  }
  return true;
}

static bool is_any(const indim_instr *reduce) {
  int64_t count = 0;
  if (reduce->op != INDIM_OP_REDUCE || reduce->operand_count != 2 || reduce->shape->type != INDIM_PRED) {
    return false;
  }
  const indim_instr *operand = reduce->operands[0];
  const indim_instr *root = called_by(reduce)->root;
  const indim_instr *init = reduce->operands[1];
  (void)indim_instr_ints(reduce, INDIM_ATTR_DIMENSIONS, &count);
  return count == operand->shape->rank && root->op == INDIM_OP_OR && root->operands[0] != root->operands[1] &&
         root->operands[0]->op == INDIM_OP_PARAMETER && root->operands[1]->op == INDIM_OP_PARAMETER &&
         init->op == INDIM_OP_CONSTANT && !indim_literal_is_elided(init->literal) &&
         *(const uint8_t *)indim_literal_data(init->literal) == 0;
}

// What asks whether any element is active: the root of the condition, or one of the two that it needs. NULL if nothing does.
static const indim_instr *find_any(const indim_computation *condition) {
  const indim_instr *root = condition->root;
  if (is_any(root)) {
    return root;
  }
  for (int32_t k = 0; k < 2 && root->op == INDIM_OP_AND; k++) {
    if (is_any(root->operands[k])) {
      return root->operands[k];
    }
  }
  return NULL;
}

static bool has_operand(const indim_instr *user, const indim_instr *x) {
  for (int32_t j = 0; j < user->operand_count; j++) {
    if (user->operands[j] == x) {
      return true;
    }
  }
  return false;
}

// Whether result |k| is asked for: JAX takes all members of a loop, whether it needs them or not.
static bool is_used(const indim_instr *loop, int32_t k) {
  const indim_computation *c = loop->computation;
  bool is_asked = c->root == loop;
  for (int32_t i = loop->index + 1; i < c->instr_count && !is_asked; i++) {
    const indim_instr *member = c->instrs[i];
    if (!has_operand(member, loop)) {
      continue;
    }
    bool is_member = member->op == INDIM_OP_GET_TUPLE_ELEMENT;
    if (is_member && indim_instr_int(member, INDIM_ATTR_INDEX, 0) != k) {
      continue;
    }
    is_asked = !is_member || c->root == member;
    for (int32_t j = i + 1; j < c->instr_count && !is_asked; j++) {
      is_asked = has_operand(c->instrs[j], member);
    }
  }
  return is_asked;
}

bool indim_expand_is_while_elementwise(const indim_instr *loop) {
  if (loop->op != INDIM_OP_WHILE || !indim_shape_is_tuple(loop->shape) || loop->shape->member_count > MOST_CARRIED) {
    return false;
  }
  search s = {.visits = MOST_VISITS};
  s.condition = indim_instr_computation(loop, INDIM_ATTR_CONDITION);
  s.body = indim_instr_computation(loop, INDIM_ATTR_BODY);
  s.any = find_any(s.condition);
  if (s.any == NULL || s.body->root->op != INDIM_OP_TUPLE) {
    return false;
  }
  s.active = s.any->operands[0];
  s.whole = s.active->shape;
  if (indim_shape_element_count(s.whole) < LEAST || !fits(&s, s.condition, 0) || !fits(&s, s.body, 0)) {
    return false;
  }
  bool is_ours = true;
  for (int32_t k = 0; k < loop->shape->member_count && is_ours; k++) {
    const indim_shape *shape = loop->shape->members[k];
    s.visits = MOST_VISITS;
    s.number = k;
    is_ours = is_scalar_or_whole(&s, shape) &&
              (indim_shape_is_scalar(shape) ? is_fixed(&s, k) || !is_used(loop, k)
                                            : follow(&s, s.body->root->operands[k], &top, stays));
  }
  s.visits = MOST_VISITS;
  return is_ours && follow(&s, s.active, &top, is_of_arrays);
}

// Whether all elements make as many steps, which scalars alone decide: then scalars are the same for every block. Arrays that fit the
// first cache are as fast there, and the steps of a long body hide the memory.
bool indim_expand_is_while_counted(const indim_instr *loop) {
  int64_t bytes = 0;
  if (loop->op != INDIM_OP_WHILE || !indim_shape_is_tuple(loop->shape) || loop->shape->member_count > MOST_CARRIED) {
    return false;
  }
  search s = {.condition = indim_instr_computation(loop, INDIM_ATTR_CONDITION),
              .body = indim_instr_computation(loop, INDIM_ATTR_BODY)};
  if (s.body->root->op != INDIM_OP_TUPLE || find_any(s.condition) != NULL) {
    return false;
  }
  for (int32_t k = 0; k < loop->shape->member_count; k++) {
    const indim_shape *shape = loop->shape->members[k];
    if (!indim_shape_is_array(shape)) {
      return false;
    }
    if (!indim_shape_is_scalar(shape)) {
      s.visits = MOST_VISITS;
      s.whole = is_fixed(&s, k) ? s.whole : shape;
      bytes += indim_type_bytes(shape->type);
    }
  }
  bool is_worth =
      s.whole != NULL && bytes <= MOST_ELEMENT_BYTES && indim_shape_element_count(s.whole) >= LEAST_BYTES / bytes;
  s.visits = MOST_INSTRS;
  bool is_ours = is_worth && fits(&s, s.condition, 0) && fits(&s, s.body, 0);
  for (int32_t k = 0; k < loop->shape->member_count && is_ours; k++) {
    is_ours = is_scalar_or_whole(&s, loop->shape->members[k]);
  }
  return is_ours;
}

// The loop over a block ------------------------------------------------------------------------------------------------

typedef struct blocks {
  search s;
  int32_t count;  // values
  int32_t block;  // elements
  const indim_computation *any, *condition, *body;
} blocks;

static bool shape_of_block(indim_expander *x, const blocks *w, const indim_shape *shape, indim_shape *out) {
  const int64_t size = w->block;
  bool is_scalar = indim_shape_is_scalar(shape);
  indim_build_fail(x->b, indim_shape_init(x->cx, shape->type, is_scalar ? 0 : 1, is_scalar ? NULL : &size, out));
  return x->b->status == INDIM_OK;
}

// The root of a copy of |computation|, of |arguments|.
static value copy(indim_expander *x, const blocks *w, const indim_computation *computation, const value *arguments) {
  static const int64_t dim = 0;
  value *made = indim_expand_values(x, computation->instr_count);
  for (int32_t i = 0; i < computation->instr_count && made != NULL; i++) {
    const indim_instr *instr = computation->instrs[i];
    indim_shape shape;
    value *operands = indim_expand_values(x, instr->operand_count);
    for (int32_t k = 0; operands != NULL && k < instr->operand_count; k++) {
      operands[k] = made[instr->operands[k]->index];
    }
    if (x->b->status != INDIM_OK) {
      return NULL;
    }
    switch ((int)instr->op) {
    case INDIM_OP_PARAMETER:
      made[i] = arguments[instr->parameter_number];
      break;
    case INDIM_OP_CONSTANT:
      made[i] = indim_build_constant(x->b, instr->literal);
      break;
    case INDIM_OP_GET_TUPLE_ELEMENT:
      made[i] = indim_build_get_tuple_element(x->b, operands[0], indim_instr_int(instr, INDIM_ATTR_INDEX, 0));
      break;
    case INDIM_OP_TUPLE:
      made[i] = indim_build_tuple(x->b, operands, instr->operand_count);
      break;
    case INDIM_OP_REDUCE:
      made[i] = indim_build_reduce(x->b, &operands[0], &operands[1], 1, w->any, &dim, 1);
      break;
    case INDIM_OP_CALL:
      made[i] = copy(x, w, called_by(instr), operands);
      break;
    default:
      if (!shape_of_block(x, w, instr->shape, &shape)) {
        return NULL;
      }
      made[i] = instr->op == INDIM_OP_BROADCAST
                    ? indim_expand_repeat(x, operands[0], &shape, NULL)
                    : indim_build_emit(x->b, instr->op, &shape, operands, instr->operand_count, instr->attrs,
                                       instr->attr_count);
      break;
    }
  }
  return made == NULL || x->b->status != INDIM_OK ? NULL : made[computation->root->index];
}

static const indim_computation *make_copy(indim_expander *x, const blocks *w, const char *name,
                                          const indim_computation *of, const indim_shape *state) {
  indim_builder_begin(x->b, name);
  value parameter = indim_build_parameter(x->b, 0, state, NULL);
  return indim_builder_end(x->b, copy(x, w, of, &parameter));
}

// Shapes of the values, twice, of a block or of all elements in one dimension.
static const indim_shape **make_shapes(indim_expander *x, const blocks *w, bool is_block) {
  void *memory = NULL;
  indim_arena *arena = &x->b->module->arena;
  int64_t size = is_block ? w->block : indim_shape_element_count(w->s.whole);
  indim_build_fail(x->b, indim_arena_array(arena, 2 * (size_t)w->count, sizeof(indim_shape *), &memory));
  const indim_shape **shapes = memory;
  for (int32_t k = 0; k < w->count && x->b->status == INDIM_OK; k++) {
    const indim_shape *of = x->instr->shape->members[k];
    bool is_scalar = indim_shape_is_scalar(of);
    indim_build_fail(x->b, indim_arena_alloc(arena, sizeof(indim_shape), &memory));
    if (x->b->status == INDIM_OK) {
      indim_build_fail(x->b, indim_shape_init(x->cx, of->type, is_scalar ? 0 : 1, is_scalar ? NULL : &size, memory));
      shapes[k] = shapes[w->count + k] = memory;
    }
  }
  return x->b->status == INDIM_OK ? shapes : NULL;
}

// The values are those before the loop, and then the results, which are the same at first.
static value step(indim_expander *x, const void *about, value index, value *values) {
  blocks w = *(const blocks *)about;
  value *parts = indim_expand_values(x, w.count);
  value size = indim_build_scalar_int(x->b, INDIM_S64, w.block);
  value start = indim_build_binary(x->b, INDIM_OP_MULTIPLY, index, size, NULL, 0);
  for (int32_t k = 0; k < w.count && parts != NULL; k++) {
    bool is_scalar = indim_shape_is_scalar(x->instr->shape->members[k]);
    parts[k] = is_scalar ? values[k] : indim_expand_part(x, values[k], 0, start, w.block);
  }
  if (parts == NULL) {
    return NULL;
  }
  value done = indim_build_while(x->b, w.condition, w.body, indim_build_tuple(x->b, parts, w.count));
  for (int32_t k = 0; k < w.count; k++) {
    w.s.visits = MOST_VISITS;
    value *result = &values[w.count + k];
    if (indim_shape_is_scalar(x->instr->shape->members[k])) {
      bool is_same = w.s.any != NULL || !is_used(x->instr, k);
      *result = is_same ? *result : indim_build_get_tuple_element(x->b, done, k);
    } else if (!is_fixed(&w.s, k)) {
      *result = indim_expand_put_part(x, *result, 0, start, indim_build_get_tuple_element(x->b, done, k));
    }
  }
  return indim_expand_next(x, index);
}

static value expand_elementwise(indim_expander *x) {
  blocks w = {.count = (int32_t)x->instr->shape->member_count};
  w.s.condition = indim_instr_computation(x->instr, INDIM_ATTR_CONDITION);
  w.s.body = indim_instr_computation(x->instr, INDIM_ATTR_BODY);
  w.s.any = find_any(w.s.condition);
  for (int32_t k = 0; k < w.count; k++) {
    w.s.whole = indim_shape_is_scalar(x->instr->shape->members[k]) ? w.s.whole : x->instr->shape->members[k];
  }
  w.block = w.s.any != NULL ? BLOCK : counted_block(indim_shape_element_count(w.s.whole));
  indim_shape state;
  const indim_shape **shapes = make_shapes(x, &w, true);
  const indim_shape **all = make_shapes(x, &w, false);
  value *values = indim_expand_values(x, 2 * (int64_t)w.count);
  if (shapes == NULL || all == NULL || values == NULL) {
    return NULL;
  }
  indim_build_fail(x->b, indim_instr_make_tuple(x->cx, x->instr, &x->b->module->arena, shapes, w.count, &state));
  if (x->b->status != INDIM_OK) {
    return NULL;
  }
  w.any = indim_expand_reducer(x, "any", INDIM_OP_OR, INDIM_PRED);
  w.condition = make_copy(x, &w, "active", w.s.condition, &state);
  w.body = make_copy(x, &w, "step", w.s.body, &state);
  int64_t count = (indim_shape_element_count(w.s.whole) + w.block - 1) / w.block;
  indim_expand_loop loop = indim_expand_make_loop(x, count, all, 2 * w.count, step, &w);
  indim_expand_begin(x);
  for (int32_t k = 0; k < w.count; k++) {
    values[k] = indim_build_get_tuple_element(x->b, x->operands[0], k);
    values[k] = indim_build_reshape(x->b, values[k], all[k]->sizes, all[k]->rank);
    values[w.count + k] = values[k];
  }
  indim_expand_run_loop(x, &loop, values);
  for (int32_t k = 0; k < w.count; k++) {
    const indim_shape *shape = x->instr->shape->members[k];
    values[k] = indim_build_reshape(x->b, values[w.count + k], shape->sizes, shape->rank);
  }
  return indim_build_tuple(x->b, values, w.count);
}

value indim_expand_while_loop(indim_expander *x) {
  return indim_pivots_suit(x->instr) ? indim_pivots_expand(x) : expand_elementwise(x);
}
