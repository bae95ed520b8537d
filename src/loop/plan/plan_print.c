// A plan as text: the items of a flow in the order in which they are computed, where each lives, and why.
//
//   %0 x = f32[4096] parameter 0: memory
//   %1 y = f32[4096] add(%0, %0): inline, cost 1, 2 uses
//   %2 s = f32[] reduce(%1, %3): memory (a kernel of its own), cost 2
//   results %2
#include "indim/shape_util.h"
#include "loop/plan/plan.h"

static const char *const placements[] = {[INDIM_PLACEMENT_NONE] = "not needed",
                                         [INDIM_PLACEMENT_REGISTERS] = "registers",
                                         [INDIM_PLACEMENT_INLINE] = "inline",
                                         [INDIM_PLACEMENT_MEMORY] = "memory"};

static void indent(indim_buffer *out, int depth) { indim_buffer_printf(out, "%*s", 2 * depth, ""); }

static void print_list(indim_buffer *out, int32_t count, indim_flow_item *const *items) {
  for (int32_t k = 0; k < count; k++) {
    indim_buffer_printf(out, "%s%%%d", k == 0 ? "" : ", ", (int)items[k]->index);
  }
}

static void print_meaning(const indim_flow_item *item, indim_buffer *out) {
  switch (item->kind) {
  case INDIM_FLOW_PARAMETER:
    indim_buffer_printf(out, "parameter %d", (int)item->number);
    break;
  case INDIM_FLOW_MEMBER:
    indim_buffer_printf(out, "result %d of %%%d", (int)item->number, (int)item->source->index);
    break;
  case INDIM_FLOW_OP:
    indim_buffer_printf(out, "%s(", indim_op_get(item->instr->op)->text);
    print_list(out, item->operand_count, item->operands);
    indim_buffer_text(out, ")");
    break;
  }
}

static void print_placement(const indim_flow_item *item, indim_buffer *out) {
  indim_buffer_printf(out, ": %s", placements[item->placement]);
  if (item->placement == INDIM_PLACEMENT_MEMORY && item->reason != NULL) {
    indim_buffer_printf(out, " (%s)", item->reason);
  }
  if (item->kind == INDIM_FLOW_OP && item->cost > 0) {
    indim_buffer_printf(out, ", cost %d", (int)item->cost);
  }
  if (item->use_count > 1) {
    indim_buffer_printf(out, ", %d uses", (int)item->use_count);
  }
  if (item->separate_row_dims > 0) {
    indim_buffer_printf(out, ", rows of %d dimensions", (int)item->separate_row_dims);
  }
  if (item->overwrites) {
    indim_buffer_printf(out, ", overwrites %%%d", (int)item->base->index);
  } else if (item->blocked != NULL && item->blocker != NULL) {
    indim_buffer_printf(out, ", not over %%%d: %%%d %s", (int)item->base->index, (int)item->blocker->index,
                        item->blocked);
  }
}

static void print_flow(const indim_flow *flow, int depth, indim_buffer *out);

static void print_flows(const indim_flow_item *item, int depth, indim_buffer *out) {
  for (int32_t k = 0; k < item->flow_count; k++) {
    indent(out, depth);
    if (item->instr->op == INDIM_OP_WHILE) {
      indim_buffer_text(out, k == 0 ? "condition\n" : "body\n");
    } else {
      indim_buffer_printf(out, "branch %d\n", (int)k);
    }
    print_flow(item->flows[k], depth + 1, out);
  }
}

// Flows are nested at most as deep as indim_flow_make allows.
static void print_flow(const indim_flow *flow, int depth, indim_buffer *out) {
  for (int32_t i = 0; i < flow->item_count; i++) {
    const indim_flow_item *item = flow->items[i];
    indim_shape_text shape;
    indent(out, depth);
    indim_buffer_printf(out, "%%%d %.*s = %s ", (int)item->index, (int)item->instr->name.size, item->instr->name.data,
                        indim_shape_brief(item->shape, &shape));
    print_meaning(item, out);
    print_placement(item, out);
    indim_buffer_text(out, "\n");
    print_flows(item, depth + 1, out);
  }
  indent(out, depth);
  indim_buffer_text(out, flow->result_count == 0 ? "results none" : "results ");
  print_list(out, flow->result_count, flow->results);
  indim_buffer_text(out, "\n");
}

void indim_plan_print(const indim_flow *flow, indim_buffer *out) { print_flow(flow, 0, out); }
