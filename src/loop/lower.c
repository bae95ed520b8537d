// From a module to a loop program: the entry's flow is made and planned, its parameters are bound to the arguments and
// its results to the caller's buffers, and every item that lives somewhere is lowered in order.
#include "loop/lower.h"

#include <inttypes.h>

#include "array/element.h"
#include "graph/alias.h"
#include "loop/control.h"
#include "loop/kernels/kernels.h"
#include "loop/pass/pass.h"
#include "loop/plan/plan.h"

// Items ------------------------------------------------------------------------------------------------------------------

static void lower_regs(indim_lowering *l, indim_flow_item *item) {
  bool is_slice = item->instr->op == INDIM_OP_DYNAMIC_SLICE && item->operands[0]->placement == INDIM_PLACEMENT_MEMORY;
  if (is_slice && !item->operands[0]->has_regs) {
    indim_regs_load_slice(l, item);
    indim_lower_deliver(l, item);
    return;
  }
  indim_regs few[8];
  indim_regs *operands = few;
  if (item->operand_count > 8) {
    operands = indim_lower_alloc(l, item->operand_count, sizeof *operands);
  }
  for (int32_t k = 0; k < item->operand_count && !indim_lower_failed(l); k++) {
    operands[k] = *indim_regs_need(l, item->operands[k]);
  }
  if (indim_lower_failed(l)) {
    return;
  }
  indim_regs_lower(&l->b, item->instr, operands, &item->regs);
  item->has_regs = true;
  indim_lower_deliver(l, item);
}

static void lower_memory(indim_lowering *l, indim_flow_item *item) {
  if (item->flow_count > 0) {
    indim_lower_control(l, item);
  } else if (indim_shape_is_array(item->shape) && indim_element_can(item->instr)) {
    if (item->instr->op == INDIM_OP_SELECT && indim_lower_select_over(l, item)) {
      return;
    }
    indim_lower_place(l, item);
    if (!indim_lower_failed(l)) {
      indim_nest_fill(l, item, &item->place);
    }
  } else {
    indim_lower_kernel(l, item);
  }
}

static void lower_item(indim_lowering *l, indim_flow_item *item) {
  switch (item->placement) {
  case INDIM_PLACEMENT_REGISTERS:
    indim_lower_explain(l, item, "in registers");
    lower_regs(l, item);
    break;
  case INDIM_PLACEMENT_MEMORY:
    if (item->cost_kept > 0) {
      indim_lower_explain(l, item, "in memory: %s (%" PRId64 " against %" PRId64 ")", item->reason, item->cost_again,
                          item->cost_kept);
    } else {
      indim_lower_explain(l, item, "in memory: %s", item->reason == NULL ? "" : item->reason);
    }
    lower_memory(l, item);
    break;
  case INDIM_PLACEMENT_INLINE:
    if (item->cost_kept > 0) {
      indim_lower_explain(l, item,
                          "inside its user: computing its elements again costs %" PRId64 ", keeping them %" PRId64,
                          item->cost_again, item->cost_kept);
    } else {
      indim_lower_explain(l, item, "inside its user");
    }
    break;
  case INDIM_PLACEMENT_NONE:
    break;
  }
}

static bool check_item(indim_lowering *l, const indim_flow_item *item) {
  if (indim_shape_is_array(item->shape) && !indim_shape_is_static(item->shape)) {
    indim_lower_refuse(l, item, "a dynamic dimension is not compiled");
    return false;
  }
  return true;
}

void indim_lower_flow(indim_lowering *l, indim_flow *flow) {
  for (int32_t i = 0; i < flow->item_count && !indim_lower_failed(l); i++) {
    indim_flow_item *item = flow->items[i];
    if (item->kind == INDIM_FLOW_OP && item->placement != INDIM_PLACEMENT_NONE && check_item(l, item)) {
      const indim_instr *outer = l->b.origin;
      l->b.origin = item->instr;
      lower_item(l, item);
      l->b.origin = outer;
    }
    if ((i & 255) == 255 && l->status == INDIM_OK) {
      l->status = indim_poll(l->cx);
    }
  }
}

// Arguments and results ------------------------------------------------------------------------------------------------

// The places of an array as elements of a storage; packed ones (packed.c) are bytes for the caller.
static indim_storage *plain_storage(indim_lowering *l, indim_storage_kind kind, const indim_flow_item *item,
                                    const indim_shape *shape) {
  int64_t places = 0;
  l->status = indim_shape_storage_count(l->cx, shape, &places);
  return l->status != INDIM_OK ? NULL : indim_loop_storage(&l->b, kind, shape->type, places, item->instr->name.data);
}

static bool check_distance(indim_lowering *l, const indim_flow_item *item, const indim_shape *shape) {
  enum { FAR = 1 << 12 };
  int64_t bits = indim_shape_element_bits(shape);
  if (bits < indim_type_bits(shape->type)) {
    indim_lower_refuse(l, item, "an argument or result has elements of fewer bits (E) than their type");
    return false;
  }
  if (indim_packed_is(shape) && bits > FAR) {
    indim_lower_refuse(l, item, "elements of more than 4096 bits (E) are not compiled");
    return false;
  }
  return true;
}

static indim_storage *outer_storage(indim_lowering *l, indim_storage_kind kind, int32_t number,
                                    const indim_flow_item *item, const indim_shape *shape) {
  int64_t bytes = 0;
  indim_storage *storage = NULL;
  if (!check_distance(l, item, shape)) {
    return NULL;
  }
  if (!indim_packed_is(shape)) {
    storage = plain_storage(l, kind, item, shape);
  } else {
    l->status = indim_shape_storage_bytes(l->cx, shape, &bytes);
    storage = l->status != INDIM_OK ? NULL : indim_loop_storage(&l->b, kind, INDIM_U8, bytes, item->instr->name.data);
  }
  if (storage != NULL) {
    storage->number = number;
  }
  return storage;
}

static void bind_argument(indim_lowering *l, indim_flow_item *item, int32_t number, const indim_shape *shape) {
  indim_storage *storage = outer_storage(l, INDIM_STORAGE_ARGUMENT, number, item, shape);
  bool is_loaded = indim_packed_loads(shape);
  if (storage != NULL && indim_packed_is(shape) && !is_loaded && item->use_count > 0) {
    indim_storage *bytes = storage;
    storage = plain_storage(l, INDIM_STORAGE_SCRATCH, item, shape);
    if (storage != NULL) {
      indim_packed_read(l, item, shape, bytes, storage);
      item->may_be_overwritten = true;
    }
  }
  if (storage != NULL) {
    item->place = indim_location_of(l, shape, storage);
    item->place.packed_bits = is_loaded ? (int32_t)indim_shape_element_bits(shape) : 0;
  }
}

// The shapes of the flow's parameters as the caller lays them out.
static const indim_shape **argument_shapes(indim_lowering *l, const indim_flow *flow) {
  const indim_module *module = l->program->module;
  const indim_shape **shapes = indim_lower_alloc(l, flow->parameter_count, sizeof *shapes);
  int32_t count = 0;
  for (int32_t p = 0; shapes != NULL && p < module->entry->parameter_count; p++) {
    const indim_shape *shape = module->entry_parameter_shapes != NULL ? module->entry_parameter_shapes[p]
                                                                      : module->entry->parameters[p]->shape;
    count += (int32_t)indim_array_leaves(shape, shapes + count);
  }
  return shapes;
}

static void bind_arguments(indim_lowering *l, indim_flow *flow, const indim_shape *const *shapes) {
  for (int32_t p = 0; p < flow->parameter_count && !indim_lower_failed(l); p++) {
    if (check_item(l, flow->parameters[p])) {
      bind_argument(l, flow->parameters[p], p, shapes[p]);
    }
  }
  l->program->argument_count = flow->parameter_count;
}

// Padding holds its value, whatever is computed.
static void fill_padding(indim_lowering *l, const indim_shape *shape, indim_storage *storage) {
  indim_element value = {0};
  if (storage->elements == indim_shape_element_count(shape)) {
    return;
  }
  indim_padding padding = shape->layout.padded_rank > 0 ? shape->layout.padding_value : INDIM_PADDING_ZERO;
  if (!indim_element_padding(shape->type, padding, &value)) {
    value = (indim_element){0};
  }
  indim_loop_region_begin(&l->b, &storage, 1);
  indim_loop_fill(&l->b, storage, indim_loop_index(&l->b, 0),
                  indim_loop_const(&l->b, shape->type, value.bits, value.imag), storage->elements);
}

// Aliases --------------------------------------------------------------------------------------------------------------

// Whether two arrays have their elements in the same places.
static bool lie_alike(const indim_location *a, const indim_location *b, int32_t rank) {
  for (int32_t d = 0; d < rank && a->tiled == NULL && b->tiled == NULL; d++) {
    if (a->strides[d] != b->strides[d]) {
      return false;
    }
  }
  return a->tiled == NULL && b->tiled == NULL && a->storage->elements == b->storage->elements &&
         a->storage->type == b->storage->type;
}

// A result that may take over an argument's buffer. The argument is moved there at once (which is nothing when it is
// there already) and lives there from now on: an update may then change it in place.
static void take_over(indim_lowering *l, indim_flow_item *parameter, const indim_location *to) {
  indim_loop_builder *b = &l->b;
  indim_storage *from = parameter->place.storage;
  to->storage->shares = from->index + 1;
  from->is_donated = true;
  indim_loop_region_begin(b, &to->storage, 1);
  indim_loop_copy(b, to->storage, indim_loop_index(b, 0), from, indim_loop_index(b, 0), from->elements);
  parameter->place = *to;
  parameter->may_be_overwritten = true;
}

// Entry ------------------------------------------------------------------------------------------------------------------

typedef struct entry {
  indim_flow *flow;
  int32_t count;  // results
  const indim_shape **shapes;
  indim_location *places;
  indim_storage **packed;  // where those end up that are packed from their places; else NULL
  int64_t *arguments;      // whose buffers they may take over, -1 for none
} entry;

static void bind_results(indim_lowering *l, entry *e) {
  for (int32_t k = 0; k < e->count && !indim_lower_failed(l); k++) {
    indim_flow_item *item = e->flow->results[k];
    indim_storage *storage = outer_storage(l, INDIM_STORAGE_RESULT, k, item, e->shapes[k]);
    if (storage != NULL && indim_packed_is(e->shapes[k])) {
      e->packed[k] = storage;
      storage = plain_storage(l, INDIM_STORAGE_SCRATCH, item, e->shapes[k]);
    }
    if (storage == NULL) {
      return;
    }
    e->places[k] = indim_location_of(l, e->shapes[k], storage);
    int64_t p = e->arguments[k];
    bool is_alike = p >= 0 && p < e->flow->parameter_count && !indim_lower_failed(l) &&
                    e->flow->parameters[p]->place.storage->kind == INDIM_STORAGE_ARGUMENT &&
                    lie_alike(&e->flow->parameters[p]->place, &e->places[k], e->shapes[k]->rank);
    // Anything else than an update is computed straight into the result; buffer_sharing.c sees whether that may be the
    // argument's buffer as it is.
    if (is_alike && indim_flow_root(item) == e->flow->parameters[p]) {
      take_over(l, e->flow->parameters[p], &e->places[k]);
      continue;
    }
    fill_padding(l, e->shapes[k], storage);
    bool is_computed = item->kind == INDIM_FLOW_OP && item->placement != INDIM_PLACEMENT_INLINE;
    if ((is_computed || item->kind == INDIM_FLOW_MEMBER) && item->place.storage == NULL) {
      indim_lower_aim(item, &e->places[k]);
    }
  }
}

// A result that lives in another result's memory is saved before that is written.
static void save_results(indim_lowering *l, const entry *e) {
  for (int32_t k = 0; k < e->count && !indim_lower_failed(l); k++) {
    indim_flow_item *item = e->flow->results[k];
    const indim_storage *storage = item->place.storage;
    if (storage != NULL && storage->shares != 0 && storage != e->places[k].storage) {
      indim_location at = indim_location_scratch(l, item);
      indim_nest_copy(l, item, &at);
      item->place = at;
    }
  }
}

static void lower_entry(indim_lowering *l, indim_flow *flow, const indim_shape *const *shapes) {
  const indim_module *module = l->program->module;
  const indim_shape *result_shape =
      module->entry_result_shape != NULL ? module->entry_result_shape : module->entry->root->shape;
  entry e = {.flow = flow};
  e.shapes = indim_lower_alloc(l, flow->result_count, sizeof *e.shapes);
  e.places = indim_lower_alloc(l, flow->result_count, sizeof *e.places);
  e.packed = indim_lower_alloc(l, flow->result_count, sizeof *e.packed);
  e.arguments = indim_lower_alloc(l, flow->result_count, sizeof *e.arguments);
  bind_arguments(l, flow, shapes);
  if (indim_lower_failed(l) || e.shapes == NULL || e.places == NULL || e.packed == NULL || e.arguments == NULL) {
    return;
  }
  e.count = (int32_t)indim_array_leaves(result_shape, e.shapes);
  indim_module_aliases(module, e.arguments);
  bind_results(l, &e);
  l->program->result_count = e.count;
  indim_lower_flow(l, flow);
  save_results(l, &e);
  for (int32_t k = 0; k < e.count && !indim_lower_failed(l); k++) {
    if (flow->results[k]->place.storage != e.places[k].storage) {
      indim_nest_copy(l, flow->results[k], &e.places[k]);
    }
    if (e.packed[k] != NULL) {
      indim_packed_write(l, flow->results[k], e.shapes[k], e.places[k].storage, e.packed[k]);
    }
  }
}

static indim_status check_plan(const indim_lowering *l, const indim_flow *flow) {
#if defined(NDEBUG)
  (void)l;
  (void)flow;
  return INDIM_OK;
#else
  return indim_plan_verify(l->cx, flow);
#endif
}

static indim_status lower_module(indim_lowering *l) {
  indim_flow *flow = NULL;
  const indim_flow_options options = {.may_unroll = indim_lower_is_enabled(l, INDIM_DECISION_UNROLL),
                                      .is_self_contained = l->options->is_self_contained,
                                      .has_library = indim_lower_is_enabled(l, INDIM_DECISION_LIBRARY),
                                      .may_split = indim_lower_is_enabled(l, INDIM_DECISION_THREADS),
                                      .has_foreign_calls = l->options->has_foreign_calls};
  INDIM_TRY(indim_flow_make(l->program, &l->arena, l->program->module->entry, &options, &flow));
  const indim_shape **shapes = argument_shapes(l, flow);
  if (shapes == NULL) {
    return l->status;
  }
  indim_plan_unpack(l, flow, shapes);
  if (!indim_lower_failed(l)) {
    indim_plan_mark_indexed(flow);
    indim_plan_flow(l, flow);
  }
  if (!indim_lower_failed(l)) {
    l->status = check_plan(l, flow);
  }
  if (!indim_lower_failed(l) && l->options->out_plan != NULL) {
    indim_plan_print(flow, l->options->out_plan);
  }
  indim_element_forget(l);
  if (!indim_lower_failed(l)) {
    lower_entry(l, flow, shapes);
  }
  if (l->status == INDIM_OK && l->b.status == INDIM_OK && l->options->out_items != NULL) {
    l->status = indim_plan_report(l, flow);
  }
  if (l->status != INDIM_OK || l->b.status != INDIM_OK) {
    return l->status != INDIM_OK ? l->status : l->b.status;
  }
  indim_choices_tell_unmet(l->cx, &l->choices);
  return indim_passes_run(l->program, l->options, l->without);
}

indim_status indim_loop_lower(indim_ctx *cx, const indim_module *module, const indim_target *target,
                              const indim_lower_options *options, indim_loop_program **out_program) {
  static const indim_lower_options none = {0};
  indim_lowering l = {.cx = cx, .target = target, .options = options == NULL ? &none : options};
  *out_program = NULL;
  INDIM_TRY(indim_decisions_parse(cx, l.options->without, &l.without));
  l.without |= l.options->is_self_contained ? (uint32_t)1 << INDIM_DECISION_LIBRARY : 0;
  INDIM_TRY(indim_loop_program_create(cx, module, target, &l.program));
  indim_arena_init(&l.arena, cx);
  indim_loop_builder_init(&l.b, l.program);
  indim_status status = indim_choices_parse(cx, &l.arena, l.options->choices, &l.choices);
  l.without |= l.choices.without;
  status = status == INDIM_OK ? lower_module(&l) : status;
  indim_loop_builder_deinit(&l.b);
  indim_arena_deinit(&l.arena);
  if (status != INDIM_OK) {
    indim_loop_program_destroy(l.program);
    return status;
  }
  *out_program = l.program;
  return INDIM_OK;
}
