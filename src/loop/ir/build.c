// The builder's base: programs, storages, values, and the hash table of pure nodes. A pure node is built from a draft:
// if an equal node is in a body that is still open (so that it precedes whatever is built next), the table returns its
// value; else the draft is copied to the program's arena and appended to the outermost body where its arguments are in
// scope. A control node is appended to its body only when it is closed, so such a node precedes the control that is
// open.
#include "loop/ir/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"

struct indim_loop_slot {
  uint64_t hash;
  indim_value_id value;  // 0: free
  int32_t region;
};

enum { FIRST_SLOTS = 256, FIRST_VALUES = 64, FIRST_STORAGES = 8 };

// Programs --------------------------------------------------------------------------------------------------------------

indim_status indim_loop_program_create(indim_ctx *cx, const indim_module *module, const indim_target *target,
                                       indim_loop_program **out_program) {
  void *memory = NULL;
  *out_program = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, sizeof(indim_loop_program), &memory));
  indim_loop_program *program = memory;
  program->cx = cx;
  program->module = module;
  program->target = *target;
  indim_arena_init(&program->arena, cx);
  indim_expansions_init(&program->expansions, cx);
  indim_status status = indim_arena_alloc(&program->arena, sizeof(indim_loop_body), &memory);
  program->body = memory;
  if (status == INDIM_OK) {
    status = indim_alloc(cx, FIRST_VALUES * sizeof *program->values, &memory);
    program->values = memory;
  }
  if (status != INDIM_OK) {
    indim_loop_program_destroy(program);
    return status;
  }
  program->value_capacity = FIRST_VALUES;
  program->value_count = 1;
  program->values[0] = (indim_loop_value){.type = INDIM_PRED, .lanes = 1, .low = INT64_MIN, .high = INT64_MAX};
  *out_program = program;
  return INDIM_OK;
}

void indim_loop_program_destroy(indim_loop_program *program) {
  if (program != NULL) {
    indim_ctx *cx = program->cx;
    indim_free(cx, program->values, (size_t)program->value_capacity * sizeof *program->values);
    indim_free(cx, program->storages, (size_t)program->storage_capacity * sizeof(indim_storage *));
    indim_arena_deinit(&program->arena);
    indim_expansions_deinit(&program->expansions);
    indim_calls_destroy(cx, &program->calls);
    indim_free(cx, program, sizeof *program);
  }
}

void indim_loop_builder_init(indim_loop_builder *b, indim_loop_program *program) {
  *b = (indim_loop_builder){.program = program, .body = program->body, .status = INDIM_OK};
  b->spare.name = "";
}

void indim_loop_builder_deinit(indim_loop_builder *b) {
  indim_free(b->program->cx, b->slots, b->slot_count * sizeof *b->slots);
  b->slots = NULL;
  b->slot_count = b->slot_used = 0;
}

void indim_loop_fail(indim_loop_builder *b, indim_status status) {
  if (b->status == INDIM_OK) {
    b->status = status;
  }
}

void indim_loop_refuse(indim_loop_builder *b, const char *format, ...) {
  char text[256];
  if (b->status == INDIM_OK) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    b->status = indim_fail(b->program->cx, INDIM_INTERNAL, "loop builder: %s", text);
  }
}

void *indim_loop_alloc(indim_loop_builder *b, size_t count, size_t size) {
  void *memory = NULL;
  if (b->status == INDIM_OK) {
    b->status = indim_arena_array(&b->program->arena, count, size, &memory);
  }
  return memory;
}

void *indim_loop_copy_of(indim_loop_builder *b, const void *data, size_t size) {
  void *copy = indim_loop_alloc(b, 1, size);
  if (copy != NULL && size > 0) {
    memcpy(copy, data, size);
  }
  return copy;
}

// Grows an array of items of |size| bytes so that one more fits.
static bool grow(indim_loop_builder *b, void **items, int32_t count, int32_t *capacity, int32_t first, size_t size) {
  if (b->status != INDIM_OK) {
    return false;
  }
  if (count < *capacity) {
    return true;
  }
  if (*capacity > INT32_MAX / 2) {
    b->status = indim_fail(b->program->cx, INDIM_NO_MEMORY, "out of memory: a loop program has too many parts");
    return false;
  }
  int32_t wanted = *capacity == 0 ? first : *capacity * 2;
  b->status = indim_resize(b->program->cx, items, (size_t)*capacity * size, (size_t)wanted * size);
  if (b->status == INDIM_OK) {
    *capacity = wanted;
  }
  return b->status == INDIM_OK;
}

// Storages --------------------------------------------------------------------------------------------------------------

indim_storage *indim_loop_storage(indim_loop_builder *b, indim_storage_kind kind, indim_type type, int64_t elements,
                                  const char *name) {
  indim_loop_program *program = b->program;
  name = name == NULL ? "" : name;
  char *copy = indim_loop_copy_of(b, name, strlen(name) + 1);
  indim_storage *storage = indim_loop_alloc(b, 1, sizeof(indim_storage));
  void *items = program->storages;
  bool fits =
      grow(b, &items, program->storage_count, &program->storage_capacity, FIRST_STORAGES, sizeof(indim_storage *));
  program->storages = items;
  if (!fits) {
    b->spare = (indim_storage){.kind = kind, .type = type, .elements = elements, .name = ""};
    return &b->spare;
  }
  *storage =
      (indim_storage){.kind = kind, .index = program->storage_count, .type = type, .elements = elements, .name = copy};
  program->storages[program->storage_count++] = storage;
  return storage;
}

indim_storage *indim_loop_storage_root(indim_loop_program *program, indim_storage *storage) {
  indim_storage *root = storage;
  while (root->shares != 0) {
    root = program->storages[(root->root != 0 ? root->root : root->shares) - 1];
  }
  while (storage != root && storage->shares != 0) {  // path compression: the next walk along this chain is one step
    indim_storage *next = program->storages[(storage->root != 0 ? storage->root : storage->shares) - 1];
    storage->root = root->index + 1;
    storage = next;
  }
  return root;
}

void indim_loop_region_begin(indim_loop_builder *b, indim_storage *const *written, int32_t count) {
  if (b->status != INDIM_OK) {
    return;
  }
  b->region++;
  b->load_floor = b->body->depth;
  for (int32_t i = 0; i < count; i++) {
    indim_loop_storage_root(b->program, written[i])->written_in = b->region;
  }
}

bool indim_loop_is_written(indim_loop_builder *b, indim_storage *storage) {
  return b->region != 0 && indim_loop_storage_root(b->program, storage)->written_in == b->region;
}

// Values and nodes ------------------------------------------------------------------------------------------------------

indim_value_id indim_loop_new_value(indim_loop_builder *b, indim_type type, int32_t lanes, indim_loop_body *body) {
  indim_loop_program *program = b->program;
  void *items = program->values;
  bool fits = grow(b, &items, program->value_count, &program->value_capacity, FIRST_VALUES, sizeof(indim_loop_value));
  program->values = items;
  if (!fits) {
    return 0;
  }
  program->values[program->value_count] =
      (indim_loop_value){.type = type, .lanes = lanes, .body = body, .low = INT64_MIN, .high = INT64_MAX};
  return program->value_count++;
}

indim_loop_node *indim_loop_new_node(indim_loop_builder *b, indim_node_kind kind, int32_t count,
                                     const indim_value_id *args) {
  indim_loop_node *node = indim_loop_alloc(b, 1, sizeof(indim_loop_node));
  indim_value_id *copy = count == 0 ? NULL : indim_loop_copy_of(b, args, (size_t)count * sizeof *args);
  if (b->status != INDIM_OK) {
    return NULL;
  }
  node->kind = kind;
  node->arg_count = count;
  node->args = copy;
  node->origin = b->origin;
  return node;
}

void indim_loop_append(indim_loop_body *body, indim_loop_node *node) {
  node->body = body;
  if (body->last == NULL) {
    body->first = node;
  } else {
    body->last->next = node;
  }
  body->last = node;
}

bool indim_loop_check_in_scope(indim_loop_builder *b, int32_t count, const indim_value_id *args) {
  for (int32_t i = 0; i < count && b->status == INDIM_OK; i++) {
    if (args[i] <= 0 || args[i] >= b->program->value_count) {
      indim_loop_refuse(b, "argument %d is not a value", (int)i);
    } else if (b->program->values[args[i]].body->is_closed) {
      indim_loop_refuse(b, "v%d is used after the end of the body that defines it", (int)args[i]);
    }
  }
  return b->status == INDIM_OK;
}

// The table of pure nodes -----------------------------------------------------------------------------------------------

static uint64_t mix_bytes(uint64_t hash, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (; size >= 8; size -= 8, bytes += 8) {
    uint64_t word = 0;
    memcpy(&word, bytes, 8);
    hash = indim_loop_mix(hash, word);
  }
  if (size > 0) {
    uint64_t word = 0;
    memcpy(&word, bytes, size);
    hash = indim_loop_mix(hash, word);
  }
  return hash;
}

static uint64_t hash_payload(uint64_t hash, const indim_loop_node *node, int32_t lanes) {
  switch (node->kind) {
  case INDIM_NODE_CONST:
    return indim_loop_mix(indim_loop_mix(hash, node->u.constant.bits[0]), node->u.constant.bits[1]);
  case INDIM_NODE_LANES:
    return mix_bytes(hash, node->u.lanes.bits, (size_t)lanes * 16);
  case INDIM_NODE_ELEMENTWISE:
  case INDIM_NODE_REDUCE:
    return indim_loop_mix(indim_loop_mix(hash, (uint64_t)node->u.op.op), (uint64_t)node->u.op.direction);
  case INDIM_NODE_AFFINE:
    return indim_loop_mix(mix_bytes(hash, node->u.affine.coefficients, (size_t)node->arg_count * sizeof(int64_t)),
                          (uint64_t)node->u.affine.constant);
  case INDIM_NODE_FLOORDIV:
  case INDIM_NODE_MODULO:
    return indim_loop_mix(hash, (uint64_t)node->u.affine.constant);
  case INDIM_NODE_CLAMP_INDEX:
    return indim_loop_mix(indim_loop_mix(hash, (uint64_t)node->u.clamp.low), (uint64_t)node->u.clamp.high);
  case INDIM_NODE_EXTRACT:
    return indim_loop_mix(hash, (uint64_t)node->u.lane);
  case INDIM_NODE_SHUFFLE:
    return mix_bytes(hash, node->u.map, (size_t)lanes * sizeof(int32_t));
  case INDIM_NODE_LOAD:
    return indim_loop_mix(indim_loop_mix(hash, (uint64_t)node->u.memory.storage), (uint64_t)node->u.memory.lane_stride);
  case INDIM_NODE_FMA:
  case INDIM_NODE_SPLAT:
#include "loop/ir/impure.def"
    break;
  }
  return hash;
}

static uint64_t hash_draft(const indim_loop_draft *draft) {
  const indim_loop_node *node = &draft->node;
  uint64_t hash = indim_loop_mix((uint64_t)node->kind, (uint64_t)draft->type << 32 | (uint32_t)draft->lanes);
  hash = mix_bytes(hash, node->args, (size_t)node->arg_count * sizeof *node->args);
  return indim_loop_mix(hash_payload(hash, node, draft->lanes), (uint64_t)draft->region);
}

static bool payload_equal(const indim_loop_node *x, const indim_loop_node *y, int32_t lanes) {
  switch (x->kind) {
  case INDIM_NODE_CONST:
    return x->u.constant.bits[0] == y->u.constant.bits[0] && x->u.constant.bits[1] == y->u.constant.bits[1];
  case INDIM_NODE_LANES:
    return memcmp(x->u.lanes.bits, y->u.lanes.bits, (size_t)lanes * 16) == 0;
  case INDIM_NODE_ELEMENTWISE:
  case INDIM_NODE_REDUCE:
    return indim_loop_same_op(&x->u.op, &y->u.op);
  case INDIM_NODE_AFFINE:
    return x->u.affine.constant == y->u.affine.constant &&
           memcmp(x->u.affine.coefficients, y->u.affine.coefficients, (size_t)x->arg_count * sizeof(int64_t)) == 0;
  case INDIM_NODE_FLOORDIV:
  case INDIM_NODE_MODULO:
    return x->u.affine.constant == y->u.affine.constant;
  case INDIM_NODE_CLAMP_INDEX:
    return x->u.clamp.low == y->u.clamp.low && x->u.clamp.high == y->u.clamp.high;
  case INDIM_NODE_EXTRACT:
    return x->u.lane == y->u.lane;
  case INDIM_NODE_SHUFFLE:
    return memcmp(x->u.map, y->u.map, (size_t)lanes * sizeof(int32_t)) == 0;
  case INDIM_NODE_LOAD:
    return x->u.memory.storage == y->u.memory.storage && x->u.memory.lane_stride == y->u.memory.lane_stride &&
           x->u.memory.has_mask == y->u.memory.has_mask;
  case INDIM_NODE_FMA:
  case INDIM_NODE_SPLAT:
    return true;
#include "loop/ir/impure.def"
    break;
  }
  return false;
}

static bool same(const indim_loop_builder *b, const indim_loop_slot *slot, const indim_loop_draft *draft) {
  const indim_loop_value *value = &b->program->values[slot->value];
  const indim_loop_node *node = value->node;
  return node->kind == draft->node.kind && slot->region == draft->region && value->type == draft->type &&
         value->lanes == draft->lanes && node->arg_count == draft->node.arg_count &&
         (node->arg_count == 0 ||
          memcmp(node->args, draft->node.args, (size_t)node->arg_count * sizeof *node->args) == 0) &&
         payload_equal(node, &draft->node, draft->lanes);
}

// Doubles the table, dropping nodes in closed bodies.
static bool rehash(indim_loop_builder *b) {
  size_t count = b->slot_count == 0 ? FIRST_SLOTS : b->slot_count * 2;
  size_t size = 0;
  void *memory = NULL;
  if (!indim_size_mul(count, sizeof *b->slots, &size)) {
    b->status = indim_fail(b->program->cx, INDIM_NO_MEMORY, "out of memory: a loop program has too many nodes");
    return false;
  }
  b->status = indim_alloc_zeroed(b->program->cx, size, &memory);
  if (b->status != INDIM_OK) {
    return false;
  }
  indim_loop_slot *slots = memory;
  size_t used = 0;
  for (size_t i = 0; i < b->slot_count; i++) {
    const indim_loop_slot *old = &b->slots[i];
    if (old->value != 0 && !b->program->values[old->value].body->is_closed) {
      size_t at = (size_t)old->hash & (count - 1);
      while (slots[at].value != 0) {
        at = (at + 1) & (count - 1);
      }
      slots[at] = *old;
      used++;
    }
  }
  indim_free(b->program->cx, b->slots, b->slot_count * sizeof *b->slots);
  b->slots = slots;
  b->slot_count = count;
  b->slot_used = used;
  return true;
}

// Copies the arrays that a pure node's union points to.
static void copy_payload(indim_loop_builder *b, indim_loop_node *node, int32_t lanes) {
  if (node->kind == INDIM_NODE_LANES) {
    node->u.lanes.bits = indim_loop_copy_of(b, node->u.lanes.bits, (size_t)lanes * 16);
  } else if (node->kind == INDIM_NODE_AFFINE) {
    node->u.affine.coefficients =
        indim_loop_copy_of(b, node->u.affine.coefficients, (size_t)node->arg_count * sizeof(int64_t));
  } else if (node->kind == INDIM_NODE_SHUFFLE) {
    node->u.map = indim_loop_copy_of(b, node->u.map, (size_t)lanes * sizeof(int32_t));
  }
}

static indim_value_id make(indim_loop_builder *b, const indim_loop_draft *draft, indim_loop_body *body) {
  indim_loop_node *node = indim_loop_new_node(b, draft->node.kind, draft->node.arg_count, draft->node.args);
  indim_value_id value = indim_loop_new_value(b, draft->type, draft->lanes, body);
  if (value == 0 || node == NULL) {
    return 0;
  }
  node->u = draft->node.u;
  copy_payload(b, node, draft->lanes);
  if (b->status != INDIM_OK) {
    return 0;
  }
  node->first_result = value;
  node->result_count = 1;
  b->program->values[value].node = node;
  if (draft->type == INDIM_S64) {
    indim_loop_node_range(b->program, node, draft->lanes, &b->program->values[value].low,
                          &b->program->values[value].high);
  }
  indim_loop_append(body, node);
  return value;
}

indim_value_id indim_loop_intern(indim_loop_builder *b, const indim_loop_draft *draft, indim_loop_body *body) {
  if (b->status != INDIM_OK || (b->slot_used * 2 >= b->slot_count && !rehash(b))) {
    return 0;
  }
  uint64_t hash = hash_draft(draft);
  size_t at = (size_t)hash & (b->slot_count - 1);
  while (b->slots[at].value != 0 && !(b->slots[at].hash == hash && same(b, &b->slots[at], draft))) {
    at = (at + 1) & (b->slot_count - 1);
  }
  indim_loop_slot *slot = &b->slots[at];
  if (slot->value != 0 && !b->program->values[slot->value].body->is_closed) {
    return slot->value;
  }
  indim_value_id value = make(b, draft, body);
  if (value != 0) {
    b->slot_used += slot->value == 0;
    *slot = (indim_loop_slot){hash, value, draft->region};
  }
  return value;
}

indim_value_id indim_loop_intern_pure(indim_loop_builder *b, const indim_loop_draft *draft, bool stays_in_if) {
  if (!indim_loop_check_in_scope(b, draft->node.arg_count, draft->node.args)) {
    return 0;
  }
  indim_loop_body *body = b->program->body;
  for (int32_t i = 0; i < draft->node.arg_count; i++) {
    indim_loop_body *own = b->program->values[draft->node.args[i]].body;
    body = own->depth > body->depth ? own : body;
  }
  if (stays_in_if) {
    indim_loop_body *inner = b->body;
    while (inner->depth > body->depth && inner->owner->kind != INDIM_NODE_IF) {
      inner = inner->outer;
    }
    body = inner;
  }
  return indim_loop_intern(b, draft, body);
}
