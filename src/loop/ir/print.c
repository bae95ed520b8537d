// Loop programs as text, for people. First the storages, then the nodes, one per line, the bodies of control nodes
// indented. Constants are printed inline at their uses and have no line of their own. docs/loop.md explains every part
// of an example. Any program can be printed, even a broken one: the verifier shows invalid nodes this way.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/literal_text.h"
#include "base/size.h"
#include "loop/ir/loop.h"

typedef struct printer {
  const indim_loop_program *program;
  indim_buffer *out;
  bool *is_shared;        // for each storage: whether its name is not unique; NULL: unknown
  indim_loop_mark *mark;  // NULL: nobody asks
  void *user;
} printer;

// Values and storages ---------------------------------------------------------------------------------------------------

static void print_element(indim_buffer *out, indim_type type, indim_element element) {
  char text[INDIM_ELEMENT_TEXT_SIZE];
  if (type == INDIM_PRED) {
    indim_buffer_text(out, element.bits != 0 ? "true" : "false");
  } else if (indim_type_is_array(type)) {
    indim_buffer_append(out, text, indim_element_print(type, element, text));
  } else {
    indim_buffer_char(out, '?');
  }
}

static bool is_value(const printer *p, indim_value_id v) { return v > 0 && v < p->program->value_count; }

static void print_value(const printer *p, indim_value_id v) {
  const indim_loop_node *node = is_value(p, v) ? p->program->values[v].node : NULL;
  if (node != NULL && node->kind == INDIM_NODE_CONST) {
    print_element(p->out, p->program->values[v].type,
                  (indim_element){node->u.constant.bits[0], node->u.constant.bits[1]});
  } else {
    indim_buffer_printf(p->out, "v%d", (int)v);
  }
}

static void print_values(const printer *p, int32_t count, const indim_value_id *values) {
  for (int32_t i = 0; i < count; i++) {
    indim_buffer_text(p->out, i == 0 ? " " : ", ");
    print_value(p, values[i]);
  }
}

// "v3: f32x8"; an s64 with its range, if known: "v3: s64 0..56".
static void print_declared(const printer *p, indim_value_id v) {
  indim_buffer_printf(p->out, "v%d", (int)v);
  if (!is_value(p, v)) {
    return;
  }
  const indim_loop_value *value = &p->program->values[v];
  indim_buffer_printf(p->out, ": %s", indim_type_text(value->type));
  if (value->lanes != 1) {
    indim_buffer_printf(p->out, "x%d", (int)value->lanes);
  }
  if (value->type == INDIM_S64 && value->low != INT64_MIN && value->high != INT64_MAX) {
    indim_buffer_printf(p->out, " %lld..%lld", (long long)value->low, (long long)value->high);
  }
}

static void print_storage(const printer *p, int32_t index) {
  if (index < 0 || index >= p->program->storage_count) {
    indim_buffer_printf(p->out, "storage %d?", (int)index);
    return;
  }
  const char *name = p->program->storages[index]->name;
  indim_buffer_text(p->out, name);
  if (name[0] == '\0' || p->is_shared == NULL || p->is_shared[index]) {
    indim_buffer_printf(p->out, "#%d", (int)index);
  }
}

static void print_address(const printer *p, int32_t storage, indim_value_id address) {
  print_storage(p, storage);
  indim_buffer_char(p->out, '[');
  print_value(p, address);
  indim_buffer_char(p->out, ']');
}

// Nodes -----------------------------------------------------------------------------------------------------------------

static indim_value_id arg(const indim_loop_node *node, int32_t i) { return i < node->arg_count ? node->args[i] : 0; }

static void print_op(const printer *p, const indim_loop_op *op) {
  static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  indim_buffer_text(p->out, indim_op_get(op->op)->text);
  if (op->op == INDIM_OP_COMPARE) {
    bool is_known = op->direction >= 0 && op->direction <= (int32_t)INDIM_COMPARE_LT;
    indim_buffer_printf(p->out, " %s%s", is_known ? directions[op->direction] : "?",
                        op->total_order ? " total order" : "");
  } else if (op->op == INDIM_OP_REDUCE_PRECISION) {
    indim_buffer_printf(p->out, " e%dm%d", (int)op->exponent_bits, (int)op->mantissa_bits);
  }
}

static void print_affine(const printer *p, const indim_loop_node *node) {
  int64_t constant = node->u.affine.constant;
  for (int32_t i = 0; i < node->arg_count; i++) {
    int64_t coefficient = node->u.affine.coefficients[i];
    bool is_less = coefficient < 0;
    uint64_t size = is_less ? 0 - (uint64_t)coefficient : (uint64_t)coefficient;
    indim_buffer_text(p->out, i == 0 ? (is_less ? "-" : "") : is_less ? " - " : " + ");
    if (size != 1) {
      indim_buffer_printf(p->out, "%llu * ", (unsigned long long)size);
    }
    print_value(p, node->args[i]);
  }
  if (constant != 0 || node->arg_count == 0) {
    uint64_t size = constant < 0 ? 0 - (uint64_t)constant : (uint64_t)constant;
    indim_buffer_printf(p->out, "%s%llu",
                        node->arg_count == 0 ? (constant < 0 ? "-" : "")
                        : constant < 0       ? " - "
                                             : " + ",
                        (unsigned long long)size);
  }
}

static void print_lanes(const printer *p, const indim_loop_node *node) {
  const indim_loop_value *value = &p->program->values[is_value(p, node->first_result) ? node->first_result : 0];
  indim_buffer_char(p->out, '{');
  for (int32_t i = 0; i < value->lanes && node->u.lanes.bits != NULL; i++) {
    indim_buffer_text(p->out, i == 0 ? "" : ", ");
    print_element(p->out, value->type, (indim_element){node->u.lanes.bits[2 * i], node->u.lanes.bits[2 * i + 1]});
  }
  indim_buffer_char(p->out, '}');
}

static void print_map(const printer *p, const indim_loop_node *node) {
  const indim_loop_value *value = &p->program->values[is_value(p, node->first_result) ? node->first_result : 0];
  indim_buffer_text(p->out, " {");
  for (int32_t i = 0; i < value->lanes && node->u.map != NULL; i++) {
    indim_buffer_text(p->out, i == 0 ? "" : ", ");
    if (node->u.map[i] < 0) {
      indim_buffer_char(p->out, '_');
    } else {
      indim_buffer_int(p->out, node->u.map[i]);
    }
  }
  indim_buffer_char(p->out, '}');
}

// " by 64" after an address with strided lanes, " lane by lane" for an address with lanes.
static void print_stride(const printer *p, const indim_loop_node *node) {
  indim_value_id address = arg(node, 0);
  if (is_value(p, address) && p->program->values[address].lanes > 1) {
    indim_buffer_text(p->out, " lane by lane");
  } else if (node->u.memory.lane_stride != 1) {
    indim_buffer_printf(p->out, " by %" PRId64, node->u.memory.lane_stride);
  }
}

static void print_memory(const printer *p, const indim_loop_node *node) {
  bool is_load = node->kind == INDIM_NODE_LOAD;
  indim_buffer_text(p->out, is_load ? "load " : "store ");
  print_address(p, node->u.memory.storage, arg(node, 0));
  print_stride(p, node);
  if (!is_load) {
    indim_buffer_text(p->out, ", ");
    print_value(p, arg(node, 1));
  }
  if (node->u.memory.has_mask) {
    indim_buffer_text(p->out, " where ");
    print_value(p, arg(node, is_load ? 1 : 2));
  }
  if (node->u.memory.has_mask && is_load) {
    indim_buffer_text(p->out, " else ");
    print_value(p, arg(node, 2));
  }
  indim_buffer_text(p->out, is_load && node->u.memory.fresh ? " fresh" : "");
  if (node->u.memory.prefetch != 0) {
    indim_buffer_printf(p->out, " prefetch distance %lld", (long long)node->u.memory.prefetch);
  }
  indim_buffer_text(p->out, !is_load && node->u.memory.non_temporal ? " non-temporal" : "");
}

static void print_move(const printer *p, const indim_loop_node *node) {
  bool is_copy = node->kind == INDIM_NODE_COPY;
  indim_buffer_text(p->out, is_copy ? "copy " : "fill ");
  print_address(p, node->u.move.to, arg(node, 0));
  indim_buffer_text(p->out, ", ");
  if (is_copy) {
    print_address(p, node->u.move.from, arg(node, 1));
  } else {
    print_value(p, arg(node, 1));
  }
  indim_buffer_printf(p->out, " count %lld", (long long)node->u.move.count);
}

// " carrying v7: f32 = v3, ...": the parameters of |body| from number |first| on, with their initial |values|.
static void print_carried(const printer *p, const indim_loop_body *body, int32_t first, int32_t count,
                          const indim_value_id *values) {
  for (int32_t i = 0; i < count && body != NULL; i++) {
    indim_buffer_text(p->out, i == 0 ? " carrying " : ", ");
    print_declared(p, body->first_parameter + first + i);
    if (values != NULL) {
      indim_buffer_text(p->out, " = ");
      print_value(p, values[i]);
    }
  }
}

static void print_for(const printer *p, const indim_loop_node *node) {
  indim_buffer_text(p->out, "for ");
  print_declared(p, node->bodies[0] == NULL ? 0 : node->bodies[0]->first_parameter);
  indim_buffer_text(p->out, " in ");
  print_value(p, arg(node, 0));
  indim_buffer_text(p->out, "..");
  print_value(p, arg(node, 1));
  if (node->u.loop.step != 1) {
    indim_buffer_printf(p->out, " step %lld", (long long)node->u.loop.step);
  }
  if (node->u.loop.is_parallel) {
    indim_buffer_printf(p->out, " parallel grain %lld", (long long)node->u.loop.grain);
  }
  if (node->u.loop.poll_interval > 0) {
    indim_buffer_printf(p->out, " polls every %lld", (long long)node->u.loop.poll_interval);
  }
  print_carried(p, node->bodies[0], 1, node->arg_count - 2, node->args + 2);
}

static void print_host(const printer *p, const indim_loop_node *node) {
  indim_buffer_text(p->out, "host");
  const indim_service_info *info = indim_service_get(node->u.host.service);
  indim_buffer_printf(p->out, " %s", info == NULL ? "?" : info->name);
  for (int32_t i = 0; i < node->u.host.storage_count && i < INDIM_MAX_HOST_STORAGES; i++) {
    indim_buffer_text(p->out, i == 0 ? " " : ", ");
    indim_buffer_text(p->out, i < node->u.host.written_count ? "out " : "");
    print_address(p, node->u.host.storages[i], arg(node, i));
  }
  for (int32_t i = 0; i < node->u.host.number_count && i < INDIM_MAX_HOST_NUMBERS; i++) {
    indim_buffer_printf(p->out, "%s%lld", i == 0 ? " numbers " : ", ", (long long)node->u.host.numbers[i]);
  }
}

// The right-hand side of the "=", or the whole line of a node without results.
static void print_computation(const printer *p, const indim_loop_node *node) {
  switch (node->kind) {
  case INDIM_NODE_CONST:
    print_element(p->out, p->program->values[is_value(p, node->first_result) ? node->first_result : 0].type,
                  (indim_element){node->u.constant.bits[0], node->u.constant.bits[1]});
    return;
  case INDIM_NODE_LANES:
    print_lanes(p, node);
    return;
  case INDIM_NODE_ELEMENTWISE:
    print_op(p, &node->u.op);
    print_values(p, node->arg_count, node->args);
    return;
  case INDIM_NODE_AFFINE:
    print_affine(p, node);
    return;
  case INDIM_NODE_FLOORDIV:
  case INDIM_NODE_MODULO:
    print_value(p, arg(node, 0));
    indim_buffer_printf(p->out, " %s %lld", indim_node_text(node->kind), (long long)node->u.affine.constant);
    return;
  case INDIM_NODE_CLAMP_INDEX:
    indim_buffer_text(p->out, "clamp-index ");
    print_value(p, arg(node, 0));
    indim_buffer_printf(p->out, " to %lld..%lld", (long long)node->u.clamp.low, (long long)node->u.clamp.high);
    return;
  case INDIM_NODE_FMA:
  case INDIM_NODE_SPLAT:
    indim_buffer_text(p->out, indim_node_text(node->kind));
    print_values(p, node->arg_count, node->args);
    return;
  case INDIM_NODE_EXTRACT:
    indim_buffer_text(p->out, "extract ");
    print_value(p, arg(node, 0));
    indim_buffer_printf(p->out, " lane %d", (int)node->u.lane);
    return;
  case INDIM_NODE_SHUFFLE:
    indim_buffer_text(p->out, "shuffle");
    print_values(p, node->arg_count, node->args);
    print_map(p, node);
    return;
  case INDIM_NODE_REDUCE:
    indim_buffer_text(p->out, "reduce ");
    print_op(p, &node->u.op);
    print_values(p, node->arg_count, node->args);
    return;
  case INDIM_NODE_LOAD:
  case INDIM_NODE_STORE:
    print_memory(p, node);
    return;
  case INDIM_NODE_COPY:
  case INDIM_NODE_FILL:
    print_move(p, node);
    return;
  case INDIM_NODE_PREFETCH:
    indim_buffer_text(p->out, "prefetch ");
    print_address(p, node->u.prefetch.storage, arg(node, 0));
    indim_buffer_printf(p->out, " distance %lld count %lld", (long long)node->u.prefetch.distance,
                        (long long)node->u.prefetch.count);
    return;
  case INDIM_NODE_FOR:
    print_for(p, node);
    return;
  case INDIM_NODE_IF:
    indim_buffer_text(p->out, "if ");
    print_value(p, arg(node, 0));
    return;
  case INDIM_NODE_WHILE:
    indim_buffer_text(p->out, "while");
    print_carried(p, node->bodies[0], 0, node->arg_count, node->args);
    return;
  case INDIM_NODE_HOST:
    print_host(p, node);
    return;
  case INDIM_NODE_COUNT:
    break;
  }
  indim_buffer_char(p->out, '?');
}

static void print_node(const printer *p, const indim_loop_node *node) {
  for (int32_t i = 0; i < node->result_count; i++) {
    indim_buffer_text(p->out, i == 0 ? "" : ", ");
    print_declared(p, node->first_result + i);
  }
  indim_buffer_text(p->out, node->result_count == 0 ? "" : " = ");
  print_computation(p, node);
}

void indim_loop_print_node(const indim_loop_program *program, const indim_loop_node *node, indim_buffer *out) {
  const printer p = {.program = program, .out = out};
  print_node(&p, node);
}

// Programs --------------------------------------------------------------------------------------------------------------

static void indent(const printer *p, int32_t depth) {
  for (int32_t i = 0; i < depth; i++) {
    indim_buffer_text(p->out, "  ");
  }
}

// The last line of a body: what it yields; and the separator line between the two bodies of a control node.
static void print_body_end(const printer *p, const indim_loop_body *body) {
  const indim_loop_node *owner = body->owner;
  if (body->yield_count > 0) {
    indent(p, body->depth);
    indim_buffer_text(p->out, "yield");
    print_values(p, body->yield_count, body->yields);
    indim_buffer_char(p->out, '\n');
  }
  if (owner != NULL && body == owner->bodies[0] && owner->bodies[1] != NULL) {
    indent(p, body->depth - 1);
    indim_buffer_text(p->out, owner->kind == INDIM_NODE_IF ? "else" : "do");
    if (owner->kind == INDIM_NODE_WHILE) {
      print_carried(p, owner->bodies[1], 0, owner->arg_count, NULL);
    }
    indim_buffer_char(p->out, '\n');
  }
}

static void tell(const printer *p, const indim_loop_node *node, bool is_end) {
  if (p->mark != NULL) {
    p->mark(p->user, node, is_end);
  }
}

// Walks along |next| and into bodies, and returns from a body through its owner.
static void print_nodes(const printer *p) {
  const indim_loop_body *body = p->program->body;
  const indim_loop_node *node = body->first;
  for (;;) {
    if (node != NULL) {
      tell(p, node, false);
      if (node->kind != INDIM_NODE_CONST) {
        indent(p, body->depth);
        print_node(p, node);
        indim_buffer_char(p->out, '\n');
      }
      if (node->bodies[0] == NULL) {
        tell(p, node, true);
      }
      body = node->bodies[0] != NULL ? node->bodies[0] : body;
      node = node->bodies[0] != NULL ? body->first : node->next;
      continue;
    }
    print_body_end(p, body);
    const indim_loop_node *owner = body->owner;
    if (owner == NULL) {
      return;
    }
    bool has_more = body == owner->bodies[0] && owner->bodies[1] != NULL;
    if (!has_more) {
      tell(p, owner, true);
    }
    body = has_more ? owner->bodies[1] : body->outer;
    node = has_more ? body->first : owner->next;
  }
}

static void print_storage_line(const printer *p, const indim_storage *storage) {
  static const char *const kinds[] = {"argument", "result", "scratch", "constant"};
  indim_buffer_text(p->out, kinds[storage->kind]);
  if (storage->kind == INDIM_STORAGE_ARGUMENT || storage->kind == INDIM_STORAGE_RESULT) {
    indim_buffer_printf(p->out, " %d", (int)storage->number);
  }
  indim_buffer_char(p->out, ' ');
  print_storage(p, storage->index);
  indim_buffer_printf(p->out, ": %s[%lld]", indim_type_text(storage->type), (long long)storage->elements);
  if (storage->kind == INDIM_STORAGE_SCRATCH) {
    indim_buffer_printf(p->out, " at byte %lld", (long long)storage->offset);
  }
  indim_buffer_text(p->out, storage->is_donated ? " donated" : "");
  if (storage->shares != 0) {
    indim_buffer_text(p->out, " aliases ");
    print_storage(p, storage->shares - 1);
  }
  indim_buffer_char(p->out, '\n');
}

static int by_name(const void *x, const void *y) {
  const indim_storage *const *a = x;
  const indim_storage *const *b = y;
  return strcmp((*a)->name, (*b)->name);
}

// Marks the storages whose names are not unique.
static indim_status find_shared(const indim_loop_program *program, bool *is_shared) {
  size_t count = (size_t)program->storage_count;
  void *memory = NULL;
  INDIM_TRY(indim_alloc(program->cx, count * sizeof(indim_storage *), &memory));
  indim_storage **sorted = memory;
  if (count > 0) {
    memcpy(sorted, program->storages, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_name);
  }
  for (size_t i = 1; i < count; i++) {
    if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0) {
      is_shared[sorted[i - 1]->index] = is_shared[sorted[i]->index] = true;
    }
  }
  indim_free(program->cx, memory, count * sizeof *sorted);
  return INDIM_OK;
}

void indim_loop_print_marked(const indim_loop_program *program, indim_loop_mark *mark, void *user, indim_buffer *out) {
  size_t count = (size_t)program->storage_count;
  void *memory = NULL;
  indim_status status = indim_alloc_zeroed(program->cx, count, &memory);
  printer p = {program, out, memory, mark, user};
  if (status == INDIM_OK) {
    status = find_shared(program, p.is_shared);
  }
  if (status != INDIM_OK) {
    out->status = out->status == INDIM_OK ? status : out->status;
    indim_free(program->cx, memory, count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    print_storage_line(&p, program->storages[i]);
  }
  if (program->scratch_bytes > 0) {
    indim_buffer_printf(out, "scratch block: %lld bytes\n", (long long)program->scratch_bytes);
  }
  indim_buffer_text(out, count == 0 ? "" : "\n");
  print_nodes(&p);
  indim_free(program->cx, memory, count);
}

void indim_loop_print(const indim_loop_program *program, indim_buffer *out) {
  indim_loop_print_marked(program, NULL, NULL, out);
}
