// The items of a lowered program as JSON, for reports: what became of each instruction. include/indim/compile.h says what
// stands in it.
#include <stdlib.h>

#include "loop/plan/plan.h"

enum { MOST_USERS = 8 };  // that an inline item is told to be in

// The flows, each before those inside it.
typedef struct listed_flow {
  const indim_flow *flow;
  int32_t owner_flow, owner_item;  // -1: the program
  const char *role;
  int32_t branch;
} listed_flow;

typedef struct reporter {
  indim_lowering *l;
  indim_buffer *out;
  listed_flow *flows;
  int32_t flow_count, flow_capacity;
} reporter;

// Those who compute an inline item in their loops; |count| MOST_USERS + 1: more than are listed.
typedef struct users {
  int32_t count;
  int32_t items[MOST_USERS];
} users;

static const char *place_of(const indim_flow_item *item) {
  switch (item->placement) {
  case INDIM_PLACEMENT_NONE:
    return "none";
  case INDIM_PLACEMENT_REGISTERS:
    return "registers";
  case INDIM_PLACEMENT_INLINE:
    return item->instr->op == INDIM_OP_CONSTANT ? "constant" : "fused";
  case INDIM_PLACEMENT_MEMORY:
    break;
  }
  return "memory";
}

static void add_user(users *u, int32_t item) {
  for (int32_t i = 0; i < u->count && i < MOST_USERS; i++) {
    if (u->items[i] == item) {
      return;
    }
  }
  if (u->count < MOST_USERS) {
    u->items[u->count] = item;
  }
  u->count += u->count <= MOST_USERS;
}

// Users come behind what they use.
static users *find_users(reporter *r, const indim_flow *flow) {
  users *all = indim_lower_alloc(r->l, flow->item_count, sizeof *all);
  for (int32_t i = flow->item_count - 1; i >= 0 && all != NULL; i--) {
    const indim_flow_item *user = flow->items[i];
    for (int32_t k = 0; k < user->operand_count && user->placement != INDIM_PLACEMENT_NONE; k++) {
      users *u = &all[user->operands[k]->index];
      if (user->placement != INDIM_PLACEMENT_INLINE) {
        add_user(u, i);
        continue;
      }
      for (int32_t n = 0; n < all[i].count && n < MOST_USERS; n++) {
        add_user(u, all[i].items[n]);
      }
    }
  }
  return all;
}

static void add_flow(reporter *r, const indim_flow *flow, int32_t owner_flow, int32_t owner_item, const char *role,
                     int32_t branch) {
  if (r->flow_count == r->flow_capacity) {
    int32_t capacity = r->flow_capacity == 0 ? 16 : 2 * r->flow_capacity;
    listed_flow *flows = indim_lower_alloc(r->l, capacity, sizeof *flows);
    if (flows == NULL) {
      return;
    }
    for (int32_t i = 0; i < r->flow_count; i++) {
      flows[i] = r->flows[i];
    }
    r->flows = flows;
    r->flow_capacity = capacity;
  }
  r->flows[r->flow_count++] = (listed_flow){flow, owner_flow, owner_item, role, branch};
}

static void print_instr(const reporter *r, const indim_instr *instr) {
  const indim_loop_program *program = r->l->program;
  const indim_instr *source = indim_expansion_source(&program->expansions, program->module, instr);
  source = source == NULL ? instr : source;
  indim_buffer_text(r->out, "\"instruction\":");
  indim_buffer_json(r->out, source->name);
  indim_buffer_text(r->out, ",\"computation\":");
  indim_buffer_json(r->out, source->computation->name);
  if (source != instr) {
    indim_buffer_text(r->out, ",\"part\":");
    indim_buffer_json(r->out, instr->name);
  }
}

static void print_list(const reporter *r, const char *key, int32_t count, indim_flow_item *const *items) {
  indim_buffer_printf(r->out, ",\"%s\":[", key);
  for (int32_t k = 0; k < count; k++) {
    indim_buffer_printf(r->out, "%s%d", k == 0 ? "" : ",", (int)items[k]->index);
  }
  indim_buffer_char(r->out, ']');
}

static void print_notes(const reporter *r, const indim_flow_item *item) {
  const indim_lower_note *notes = r->l->notes;
  int32_t end = r->l->note_count;
  int32_t low = 0;
  for (int32_t high = end; low < high;) {  // the first note of the item
    int32_t middle = low + (high - low) / 2;
    if ((uintptr_t)notes[middle].item < (uintptr_t)item) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const char *before = ",\"notes\":[";
  low += low < end && notes[low].item == item;  // the first says the place, which is told already
  for (; low < end && notes[low].item == item; low++) {
    indim_buffer_text(r->out, before);
    indim_buffer_json(r->out, notes[low].text);
    before = ",";
  }
  indim_buffer_text(r->out, before[1] == '\0' ? "]" : "");
}

static void print_place(const reporter *r, const indim_flow_item *item, const users *u) {
  indim_buffer_printf(r->out, ",\"place\":\"%s\"", place_of(item));
  if (item->placement == INDIM_PLACEMENT_MEMORY && item->reason != NULL) {
    indim_buffer_text(r->out, ",\"reason\":");
    indim_buffer_json(r->out, indim_str_of(item->reason));
  }
  if (item->place.storage != NULL) {
    indim_buffer_printf(r->out, ",\"storage\":%d", (int)item->place.storage->index);
  }
  bool is_fused = item->placement == INDIM_PLACEMENT_INLINE && item->instr->op != INDIM_OP_CONSTANT;
  for (int32_t k = 0; k < u->count && k < MOST_USERS && is_fused; k++) {
    indim_buffer_printf(r->out, "%s%d", k == 0 ? ",\"into\":[" : ",", (int)u->items[k]);
    indim_buffer_text(r->out, k + 1 == u->count || k + 1 == MOST_USERS ? "]" : "");
  }
  if (item->overwrites) {
    indim_buffer_printf(r->out, ",\"overwrites\":%d", (int)item->base->index);
  } else if (item->blocked != NULL) {
    indim_buffer_printf(r->out, ",\"copies\":{\"from\":%d", item->base == NULL ? -1 : (int)item->base->index);
    if (item->blocker != NULL) {
      indim_buffer_printf(r->out, ",\"because\":%d", (int)item->blocker->index);
    }
    indim_buffer_text(r->out, ",\"why\":");
    indim_buffer_json(r->out, indim_str_of(item->blocked));
    indim_buffer_char(r->out, '}');
  }
}

static void print_item(reporter *r, int32_t flow, const indim_flow_item *item, const users *u) {
  static const char *const kinds[] = {
      [INDIM_FLOW_OP] = "op", [INDIM_FLOW_PARAMETER] = "parameter", [INDIM_FLOW_MEMBER] = "member"};
  indim_buffer_text(r->out, item->index == 0 ? "\n{" : ",\n{");
  print_instr(r, item->instr);
  indim_buffer_printf(r->out, ",\"kind\":\"%s\",\"op\":\"%s\",\"shape\":\"", kinds[item->kind],
                      indim_op_get(item->instr->op)->text);
  indim_shape_print(item->shape, true, r->out);
  indim_buffer_char(r->out, '"');
  if (item->kind != INDIM_FLOW_OP) {
    indim_buffer_printf(r->out, ",\"number\":%d", (int)item->number);
  }
  if (item->source != NULL) {
    indim_buffer_printf(r->out, ",\"of\":%d", (int)item->source->index);
  }
  print_list(r, "operands", item->operand_count, item->operands);
  print_place(r, item, u);
  indim_buffer_printf(r->out, ",\"cost\":%d,\"uses\":%d", (int)item->cost, (int)item->use_count);
  print_notes(r, item);
  for (int32_t k = 0; k < item->flow_count; k++) {
    bool is_while = item->instr->op == INDIM_OP_WHILE;
    indim_buffer_printf(r->out, "%s%d", k == 0 ? ",\"flows\":[" : ",", (int)r->flow_count);
    indim_buffer_text(r->out, k + 1 == item->flow_count ? "]" : "");
    add_flow(r, item->flows[k], flow, item->index, !is_while ? "branch" : k == 0 ? "condition" : "body", k);
  }
  indim_buffer_char(r->out, '}');
}

static void print_flow(reporter *r, int32_t number) {
  listed_flow f = r->flows[number];
  users *all = find_users(r, f.flow);
  indim_buffer_printf(r->out, "%s{\"role\":\"%s\"", number == 0 ? "" : ",\n", f.role);
  if (f.owner_flow >= 0) {
    indim_buffer_printf(r->out, ",\"branch\":%d,\"owner\":[%d,%d]", (int)f.branch, (int)f.owner_flow,
                        (int)f.owner_item);
  }
  indim_buffer_text(r->out, ",\"items\":[");
  for (int32_t i = 0; i < f.flow->item_count && all != NULL; i++) {
    print_item(r, number, f.flow->items[i], &all[i]);
  }
  indim_buffer_char(r->out, ']');
  print_list(r, "parameters", f.flow->parameter_count, f.flow->parameters);
  print_list(r, "results", f.flow->result_count, f.flow->results);
  indim_buffer_char(r->out, '}');
}

// By their items, and in the order in which they were told.
static int by_item(const void *x, const void *y) {
  const indim_lower_note *a = x;
  const indim_lower_note *b = y;
  if (a->item != b->item) {
    return (uintptr_t)a->item < (uintptr_t)b->item ? -1 : 1;
  }
  return a->order < b->order ? -1 : 1;
}

indim_status indim_plan_report(indim_lowering *l, const indim_flow *flow) {
  reporter r = {.l = l, .out = l->options->out_items};
  add_flow(&r, flow, -1, -1, "program", 0);
  if (l->note_count > 0) {
    qsort(l->notes, (size_t)l->note_count, sizeof *l->notes, by_item);
  }
  indim_buffer_char(r.out, '[');
  for (int32_t i = 0; i < r.flow_count && !indim_lower_failed(l); i++) {
    print_flow(&r, i);
  }
  indim_buffer_char(r.out, ']');
  return l->status != INDIM_OK ? l->status : r.out->status;
}
