// Computations to flows: a walk over the instructions that keeps, for each, the items of its leaves. A called computation
// is walked at the place of its call, its parameters standing for the caller's items; so is the computation of simpler ops
// that an op without loops of its own becomes (expand/).
#include "loop/lowering/flow.h"

#include <string.h>

#include "graph/alias.h"
#include "graph/one_device.h"
#include "linalg/linalg.h"
#include "expand/narrow_reduce.h"
#include "expand/columns.h"
#include "expand/complex_dot.h"
#include "expand/custom_call.h"
#include "expand/needed.h"
#include "expand/merge_dims.h"
#include "expand/merge_windows.h"
#include "expand/outer.h"
#include "expand/phases.h"
#include "expand/pivots.h"
#include "expand/power.h"
#include "expand/split.h"
#include "expand/unit_reduce.h"
#include "loop/plan/flow_make.h"
#include "loop/plan/plan.h"

enum { MAX_DEPTH = 500 };

// The items of one instruction's leaves.
typedef struct leaves {
  int32_t count;
  indim_flow_item **items;
  bool is_apart;  // computed behind a barrier: not to be shared with what is before it
} leaves;

typedef indim_flow_maker maker;

// |m| says what the new flow shares with others; its own flow plays no part.
static indim_status make_flow(const maker *m, const indim_computation *computation, int depth, indim_flow **out_flow);

// One item for each leaf of |shape|: parameters of the flow, or members of |source|.
static indim_status new_leaves(maker *m, indim_flow_kind kind, const indim_instr *instr, const indim_shape *shape,
                               indim_flow_item *source, int32_t first_number, leaves *out) {
  int64_t count = indim_array_leaf_count(shape);
  const indim_shape **shapes = NULL;
  INDIM_TRY(indim_flow_array(m->arena, count, sizeof *shapes, &shapes));
  (void)indim_array_leaves(shape, shapes);
  out->count = (int32_t)count;
  INDIM_TRY(indim_flow_array(m->arena, count, sizeof *out->items, &out->items));
  for (int32_t i = 0; i < out->count; i++) {
    INDIM_TRY(indim_flow_new_item(m, kind, instr, shapes[i], &out->items[i]));
    out->items[i]->number = first_number + i;
    out->items[i]->source = source;
  }
  return INDIM_OK;
}

static indim_status join(maker *m, const indim_instr *instr, const leaves *of, leaves *out) {
  int64_t count = 0;
  bool is_apart = false;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    count += of[instr->operands[i]->index].count;
    is_apart = is_apart || of[instr->operands[i]->index].is_apart;
  }
  out->is_apart = is_apart;
  out->count = (int32_t)count;
  INDIM_TRY(indim_flow_array(m->arena, count, sizeof *out->items, &out->items));
  int32_t at = 0;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    const leaves *operand = &of[instr->operands[i]->index];
    if (operand->count > 0) {
      memcpy(out->items + at, operand->items, (size_t)operand->count * sizeof *out->items);
    }
    at += operand->count;
  }
  return INDIM_OK;
}

static void take_member(const indim_instr *instr, const leaves *tuple, leaves *out) {
  const indim_shape *shape = instr->operands[0]->shape;
  int64_t index = indim_instr_int(instr, INDIM_ATTR_INDEX, 0);
  int64_t first = 0;
  for (int64_t i = 0; i < index; i++) {
    first += indim_array_leaf_count(shape->members[i]);
  }
  out->count = (int32_t)indim_array_leaf_count(shape->members[index]);
  out->items = tuple->items + first;
  out->is_apart = tuple->is_apart;
}

static indim_status walk(maker *m, const indim_computation *computation, const leaves *arguments, leaves *out);

// Walks |computation| in place of an instruction whose operands are its arguments.
static indim_status walk_called(maker *m, const indim_instr *instr, const indim_computation *computation,
                                const leaves *of, leaves *out) {
  if (m->depth >= MAX_DEPTH) {
    return indim_fail_instr(m->cx, INDIM_LIMIT, instr, "calls are nested deeper than %d", MAX_DEPTH);
  }
  leaves *arguments = NULL;
  INDIM_TRY(indim_flow_array(m->arena, instr->operand_count, sizeof *arguments, &arguments));
  for (int32_t i = 0; i < instr->operand_count; i++) {
    arguments[i] = of[instr->operands[i]->index];
  }
  m->depth++;
  indim_status status = walk(m, computation, arguments, out);
  m->depth--;
  return status;
}

static indim_status walk_expansion(maker *m, const indim_instr *instr, int32_t bytes, const leaves *of, leaves *out) {
  const indim_computation *expansion = NULL;
  INDIM_TRY(indim_expand(m->expansions, instr, bytes, &expansion));
  if (expansion == NULL) {
    return indim_fail_instr(m->cx, INDIM_INTERNAL, instr, "has no expansion (expand/expand.def)");
  }
  return walk_called(m, instr, expansion, of, out);
}

static indim_status add_flow(maker *m, const indim_computation *computation, indim_flow **out) {
  return make_flow(m, computation, m->depth + 1, out);
}

static indim_status make_flows(maker *m, const indim_instr *instr, indim_flow_item *item) {
  if (instr->op == INDIM_OP_WHILE) {
    item->flow_count = 2;
    INDIM_TRY(indim_flow_array(m->arena, 2, sizeof *item->flows, &item->flows));
    INDIM_TRY(add_flow(m, indim_instr_computation(instr, INDIM_ATTR_CONDITION), &item->flows[0]));
    return add_flow(m, indim_instr_computation(instr, INDIM_ATTR_BODY), &item->flows[1]);
  }
  if (instr->op == INDIM_OP_CONDITIONAL) {
    const indim_attr *branches = indim_instr_attr(instr, INDIM_ATTR_BRANCH_COMPUTATIONS);
    item->flow_count = branches == NULL ? 2 : (int32_t)branches->count;
    INDIM_TRY(indim_flow_array(m->arena, item->flow_count, sizeof *item->flows, &item->flows));
    for (int32_t i = 0; i < item->flow_count; i++) {
      indim_attr_id id = i == 0 ? INDIM_ATTR_TRUE_COMPUTATION : INDIM_ATTR_FALSE_COMPUTATION;
      INDIM_TRY(add_flow(m, branches == NULL ? indim_instr_computation(instr, id) : branches->value.computations[i],
                         &item->flows[i]));
    }
  }
  return INDIM_OK;
}

// Members for what is carried besides: nobody asks for them.
static indim_status add_members(maker *m, indim_flow_item *loop) {
  int32_t count = loop->member_count;
  INDIM_TRY(indim_flow_lengthen(m, count, loop->operand_count - count, &loop->members));
  for (int32_t k = count; k < loop->operand_count; k++) {
    const indim_flow_item *parameter = loop->flows[1]->parameters[k];
    INDIM_TRY(indim_flow_new_item(m, INDIM_FLOW_MEMBER, parameter->instr, parameter->shape, &loop->members[k]));
    loop->members[k]->number = k;
    loop->members[k]->source = loop;
  }
  loop->member_count = loop->operand_count;
  return INDIM_OK;
}

static indim_status one_leaf(maker *m, indim_flow_item *item, leaves *out) {
  out->count = 1;
  INDIM_TRY(indim_flow_array(m->arena, 1, sizeof *out->items, &out->items));
  out->items[0] = item;
  return INDIM_OK;
}

// Whether a custom call is one of the host's: of a function that is registered, or else, where the host brings those, of one
// that is none of LAPACK's.
static bool is_hosts(const maker *m, const indim_instr *instr) {
  indim_type type = INDIM_TYPE_INVALID;
  indim_str target = indim_instr_attr(instr, INDIM_ATTR_CUSTOM_CALL_TARGET)->value.text;
  return indim_call_kind_of(m->cx, instr) != INDIM_CALL_UNKNOWN ||
         (m->options.has_foreign_calls && indim_linalg_find(target, &type) == NULL);
}

// Whether a custom call is a computation of other ops, under a name that no function of the caller's has taken.
static bool is_expanded_call(const maker *m, const indim_instr *instr) {
  return indim_custom_call_suits(instr) && indim_call_kind_of(m->cx, instr) == INDIM_CALL_UNKNOWN;
}

// Whether the instruction becomes a computation of other ops (expand/expand.def): all of its op, or this one.
static bool is_expanded(const maker *m, const indim_instr *instr, int32_t bytes) {
  switch ((int)instr->op) {
  case INDIM_OP_FFT:
    return m->options.is_self_contained;
  case INDIM_OP_CUSTOM_CALL:
    return is_expanded_call(m, instr);
  case INDIM_OP_REDUCE:
    return (m->options.may_split && indim_split_suits(instr)) || indim_narrow_reduce_suits(instr, bytes) ||
           indim_unit_reduce_suits(instr);
  case INDIM_OP_DOT:
    return (m->options.may_split && indim_split_suits(instr)) || indim_outer_suits(instr) ||
           indim_complex_dot_suits(instr);
  case INDIM_OP_CONVOLUTION:
    return indim_merge_dims_suits(instr) || indim_phases_suit_together(instr) ||
           ((!m->options.has_library || !indim_type_is_float(instr->shape->type)) && indim_phases_suit(instr));
  case INDIM_OP_REDUCE_WINDOW:
    return indim_merge_windows_suits(instr);
  case INDIM_OP_WHILE:
    return indim_expand_is_while_elementwise(instr) || indim_pivots_suit(instr);
  case INDIM_OP_GATHER:
    return indim_columns_suit(m->cx, instr);
  case INDIM_OP_POWER:
    return indim_power_suits(m->cx, instr);
  default:
    return indim_op_class_of(instr->op) == INDIM_OP_CLASS_EXPAND;
  }
}

// A custom call: of a function of the caller's, or else of LAPACK's.
static indim_status find_call(maker *m, const indim_instr *instr, indim_flow_item *item) {
  indim_call *call = NULL;
  indim_linalg_call linalg;
  if (instr->op != INDIM_OP_CUSTOM_CALL) {
    return INDIM_OK;
  }
  if (!is_hosts(m, instr)) {
    return indim_linalg_read(m->cx, instr, &linalg);  // whose kernel reads it again
  }
  INDIM_TRY(indim_call_create(m->cx, instr, &call));
  INDIM_TRY(indim_calls_add(m->cx, m->calls, call));
  item->call = m->calls->count;
  return INDIM_OK;
}

// Whether an instruction gives the same each time: no loops and branches, whose bodies are flows, and no calls of functions.
static bool has_equals(const indim_instr *instr) {
  return instr->op != INDIM_OP_WHILE && instr->op != INDIM_OP_CONDITIONAL && instr->op != INDIM_OP_CUSTOM_CALL &&
         !indim_instr_has_effect(instr);
}

// Whether a conditional's results may become selects: within a loop or a branch, where they would be copied in each step.
static bool chooses(const maker *m, const indim_instr *instr) {
  return instr->op == INDIM_OP_CONDITIONAL && m->depth > 0;
}

// Whether lines of one element are sorted: each result is an operand.
static bool sorts_nothing(const indim_instr *instr) {
  int64_t count = 0;
  const indim_shape *shape = instr->operand_count > 0 ? instr->operands[0]->shape : NULL;
  const int64_t *dims = instr->op == INDIM_OP_SORT ? indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count) : NULL;
  return count == 1 && shape->sizes[dims[0]] <= 1;
}

// An instruction that computes something.
static indim_status walk_op(maker *m, const indim_instr *instr, const leaves *of, leaves *out) {
  leaves operands;
  INDIM_TRY(join(m, instr, of, &operands));
  indim_flow_item *item = NULL;
  if (sorts_nothing(instr)) {
    *out = operands;
    return INDIM_OK;
  }
  if (instr->op == INDIM_OP_SELECT) {
    INDIM_TRY(indim_flow_select_update(m, instr, operands.items, &item));
  }
  if (instr->op == INDIM_OP_CONVERT) {
    INDIM_TRY(indim_flow_convert_once(m, instr, operands.items[0], &item));
  }
  out->is_apart = operands.is_apart;
  if (item != NULL) {
    return one_leaf(m, item, out);
  }
  bool may_share = !operands.is_apart && has_equals(instr);
  indim_flow_item *equal = NULL;
  if (may_share) {
    INDIM_TRY(indim_flow_find_equal(m, instr, operands.count, operands.items, &equal));
  }
  if (equal != NULL && indim_flow_is_shared(instr)) {
    *out = (leaves){equal->member_count, equal->members, false};
    return equal->member_count > 0 ? INDIM_OK : one_leaf(m, equal, out);
  }
  INDIM_TRY(indim_flow_new_item(m, INDIM_FLOW_OP, instr, instr->shape, &item));
  item->operand_count = operands.count;
  item->operands = operands.items;
  item->has_effect = indim_instr_has_effect(instr);
  if (may_share) {
    indim_flow_note_equal(m, item, equal);
  }
  INDIM_TRY(find_call(m, instr, item));
  INDIM_TRY(make_flows(m, instr, item));
  if (instr->op == INDIM_OP_WHILE && m->options.may_unroll) {
    indim_flow_item **results = NULL;
    INDIM_TRY(indim_flow_unroll(m, item, &results));
    if (results != NULL) {
      *out = (leaves){item->operand_count, results, operands.is_apart};
      return INDIM_OK;
    }
  }
  if (indim_expand_is_while_counted(instr)) {
    m->flow->item_count--;  // the loop itself
    return walk_expansion(m, instr, INDIM_NEEDED_ALL, of, out);
  }
  if (instr->op == INDIM_OP_WHILE && indim_shape_is_tuple(instr->shape)) {
    INDIM_TRY(indim_flow_hoist(m, item));
  }
  if (indim_shape_is_array(instr->shape)) {
    INDIM_TRY(one_leaf(m, item, out));
    return chooses(m, instr) ? indim_flow_select_places(m, instr, item, 1, out->items) : INDIM_OK;
  }
  INDIM_TRY(new_leaves(m, INDIM_FLOW_MEMBER, instr, instr->shape, item, 0, out));
  out->is_apart = operands.is_apart;
  item->member_count = out->count;
  item->members = out->items;
  if (chooses(m, instr)) {
    INDIM_TRY(indim_flow_array(m->arena, out->count, sizeof *out->items, &out->items));
    for (int32_t k = 0; k < out->count; k++) {
      out->items[k] = item->members[k];
    }
    return indim_flow_select_places(m, instr, item, out->count, out->items);
  }
  return item->operand_count > out->count && instr->op == INDIM_OP_WHILE ? add_members(m, item) : INDIM_OK;
}

// The leaves of a constant tuple, each as a constant of its own.
static indim_status add_constants(maker *m, const indim_instr *instr, const indim_shape *shape,
                                  const indim_literal *literal, leaves *out) {
  for (int64_t i = 0; indim_shape_is_tuple(shape) && i < shape->member_count; i++) {
    INDIM_TRY(add_constants(m, instr, shape->members[i], indim_literal_member(literal, i), out));
  }
  if (!indim_shape_is_array(shape)) {
    return INDIM_OK;
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(m->arena, sizeof *instr, &memory));
  indim_instr *leaf = memory;
  *leaf = *instr;
  leaf->shape = shape;
  leaf->literal = literal;
  return indim_flow_new_item(m, INDIM_FLOW_OP, leaf, shape, &out->items[out->count++]);
}

static indim_status walk_constant(maker *m, const indim_instr *instr, leaves *out) {
  *out = (leaves){0};
  INDIM_TRY(indim_flow_array(m->arena, indim_array_leaf_count(instr->shape) + 1, sizeof *out->items, &out->items));
  return add_constants(m, instr, instr->shape, instr->literal, out);
}

// |bytes| of each element are asked for (needed.h).
static indim_status walk_instr(maker *m, const indim_instr *instr, int32_t bytes, const leaves *arguments,
                               const leaves *of, leaves *out) {
  switch ((int)instr->op) {
  case INDIM_OP_CONSTANT:
    return indim_shape_is_tuple(instr->shape) ? walk_constant(m, instr, out) : walk_op(m, instr, of, out);
  case INDIM_OP_PARAMETER:
    *out = arguments[instr->parameter_number];
    return INDIM_OK;
  case INDIM_OP_TUPLE:
    return join(m, instr, of, out);
  case INDIM_OP_GET_TUPLE_ELEMENT:
    take_member(instr, &of[instr->operands[0]->index], out);
    return INDIM_OK;
  case INDIM_OP_OPT_BARRIER:
    *out = of[instr->operands[0]->index];
    out->is_apart = true;
    return INDIM_OK;
  case INDIM_OP_DOMAIN:
  case INDIM_OP_ADD_DEPENDENCY:
    *out = of[instr->operands[0]->index];
    return INDIM_OK;
  case INDIM_OP_AFTER_ALL:
    *out = (leaves){0};
    return INDIM_OK;
  case INDIM_OP_CALL:
    return walk_called(m, instr, indim_instr_computation(instr, INDIM_ATTR_TO_APPLY), of, out);
  case INDIM_OP_FUSION:
    return walk_called(m, instr, indim_instr_computation(instr, INDIM_ATTR_CALLS), of, out);
  default:
    break;
  }
  if (indim_op_is_host_transfer(instr->op)) {
    return indim_host_transfer_refuse(m->cx, instr);
  }
  INDIM_TRY(indim_flow_reduce_in_any_order(m, &instr));
  return is_expanded(m, instr, bytes) ? walk_expansion(m, instr, bytes, of, out) : walk_op(m, instr, of, out);
}

static indim_status walk(maker *m, const indim_computation *computation, const leaves *arguments, leaves *out) {
  leaves *of = NULL;
  int8_t *needed = NULL;
  INDIM_TRY(indim_flow_array(m->arena, computation->instr_count, sizeof *of, &of));
  INDIM_TRY(indim_flow_array(m->arena, computation->instr_count, sizeof *needed, &needed));
  indim_needed_fill(computation, needed);
  for (int32_t i = 0; i < computation->instr_count; i++) {
    if (needed[i] > 0) {
      INDIM_TRY(walk_instr(m, computation->instrs[i], needed[i], arguments, of, &of[i]));
    }
  }
  *out = of[computation->root->index];
  return INDIM_OK;
}

static indim_status make_flow(const maker *outer, const indim_computation *computation, int depth,
                              indim_flow **out_flow) {
  if (depth >= MAX_DEPTH) {
    return indim_fail_instr(outer->cx, INDIM_LIMIT, computation->root, "loops and branches are nested deeper than %d",
                            MAX_DEPTH);
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(outer->arena, sizeof(indim_flow), &memory));
  indim_flow *flow = memory;
  maker m = *outer;
  m.flow = flow;
  m.table = NULL;
  m.depth = depth;
  leaves *arguments = NULL;
  INDIM_TRY(indim_flow_array(m.arena, computation->parameter_count, sizeof *arguments, &arguments));
  for (int32_t i = 0; i < computation->parameter_count; i++) {
    const indim_instr *parameter = computation->parameters[i];
    INDIM_TRY(
        new_leaves(&m, INDIM_FLOW_PARAMETER, parameter, parameter->shape, NULL, flow->parameter_count, &arguments[i]));
    flow->parameter_count += arguments[i].count;
  }
  flow->parameters = NULL;
  if (flow->parameter_count > 0) {
    INDIM_TRY(indim_flow_array(m.arena, flow->parameter_count, sizeof *flow->parameters, &flow->parameters));
    memcpy(flow->parameters, flow->items, (size_t)flow->parameter_count * sizeof *flow->parameters);
  }
  leaves results;
  INDIM_TRY(walk(&m, computation, arguments, &results));
  flow->results = results.items;
  flow->result_count = results.count;
  *out_flow = flow;
  INDIM_TRY(indim_flow_cut(&m));
  INDIM_TRY(indim_flow_shrink(&m));
  INDIM_TRY(indim_flow_fold_transposes(&m));
  indim_flow_share_stored(flow);
  return INDIM_OK;
}

indim_status indim_flow_make(indim_loop_program *program, indim_arena *arena, const indim_computation *computation,
                             const indim_flow_options *options, indim_flow **out_flow) {
  int64_t item_total = 0;
  maker m = {.cx = program->cx,
             .arena = arena,
             .instr_arena = &program->arena,
             .expansions = &program->expansions,
             .calls = &program->calls,
             .item_total = &item_total,
             .options = *options};
  return make_flow(&m, computation, 0, out_flow);
}
