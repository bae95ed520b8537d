// Long code as several functions, for which code can be made at the same time (split.c): runs of nodes of the program's own
// body, and of the bodies of long loops and branches in it, become functions that are called one after another. They have one
// frame in common, a block on the stack of the program's function: a value that is computed in one function and used in
// another is put there where it is computed, and taken from there before its first use. What a program is cut into depends on
// the program alone.
#include "emit/program/chunk.h"

#include "base/size.h"
#include "emit/program/access.h"
#include "emit/program/piece.h"
#include "loop/target/cost.h"

#include <string.h>

// The frame's first fields, pointers.
enum { FIELD_ARGUMENTS, FIELD_RESULTS, FIELD_SCRATCH, FIELD_HOST, FIELD_STOP, FIELD_STATUS, FIELDS };
enum { POINTER_BYTES = 8 };

// Finding ---------------------------------------------------------------------------------------------------------------

static bool is_piece(indim_generator *g, const indim_loop_node *node) {
  return (node->kind == INDIM_NODE_FOR && node->u.loop.is_parallel) || indim_emit_is_repeated(g, node);
}

static int64_t weight_of_value(const indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *value = indim_emit_value(g, node->first_result);
  int64_t bytes = (int64_t)value->lanes * indim_type_bytes(value->type);
  int64_t registers = indim_ceil_div(bytes, g->e.program->target.vector_bytes);
  bool is_function = node->kind == INDIM_NODE_ELEMENTWISE &&
                     (indim_op_is_function(node->u.op.op) || indim_type_is_complex(value->type));
  return registers * (is_function ? INDIM_COST_FUNCTION_NODES : 1);
}

static int64_t weight_of(indim_generator *g, const indim_loop_node *node);

static int64_t weight_of_body(indim_generator *g, const indim_loop_body *body) {
  int64_t weight = 0;
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    weight += weight_of(g, node);
  }
  return weight;
}

// About how many instructions of LLVM's a node is in the function that has it.
static int64_t weight_of(indim_generator *g, const indim_loop_node *node) {
  enum { CALL = 24, LOOP = 8 };
  if (indim_node_group_of(node->kind) == INDIM_GROUP_CONTROL) {
    bool is_call = is_piece(g, node);
    bool is_empty = is_call || indim_emit_never_runs(g, node);
    int64_t weight = is_call ? CALL : LOOP;
    for (int32_t k = 0; !is_empty && k < 2 && node->bodies[k] != NULL; k++) {
      weight += node->bodies[k]->depth <= INDIM_EMIT_MAX_DEPTH ? weight_of_body(g, node->bodies[k]) : 0;
    }
    return weight;
  }
  if (node->kind == INDIM_NODE_HOST) {
    return CALL;
  }
  bool is_constant = node->kind == INDIM_NODE_CONST || node->kind == INDIM_NODE_LANES;
  return is_constant ? 0 : node->result_count > 0 ? weight_of_value(g, node) : 1;
}

static indim_status add_chunk(indim_generator *g, const indim_loop_node *first, const indim_loop_node *end) {
  indim_emit_chunks *c = g->chunks;
  if (c->count == c->capacity) {
    int32_t capacity = c->capacity == 0 ? 64 : 2 * c->capacity;
    void *grown = NULL;
    INDIM_TRY(indim_arena_array(g->arena, (size_t)capacity, sizeof *c->list, &grown));
    if (c->count > 0) {
      memcpy(grown, c->list, (size_t)c->count * sizeof *c->list);
    }
    c->list = grown;
    c->capacity = capacity;
  }
  c->list[c->count++] = (indim_emit_chunk){first, end};
  return INDIM_OK;
}

// A loop or branch so long that it stays, and what is in it is cut.
static bool is_cut_inside(indim_generator *g, const indim_loop_node *node, int64_t weight) {
  int64_t least = (node->kind == INDIM_NODE_FOR ? 4 : 2) * g->chunk;
  return indim_node_group_of(node->kind) == INDIM_GROUP_CONTROL && weight >= least && !is_piece(g, node);
}

static indim_status cut(indim_generator *g, const indim_loop_body *body) {
  const indim_loop_node *first = NULL;
  int64_t weight = 0;
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    int64_t own = weight_of(g, node);
    bool is_inside = is_cut_inside(g, node, own);
    bool is_full = weight > 0 && weight + own > g->chunk + g->chunk / 2;
    if (first != NULL && (is_inside || is_full)) {
      if (weight >= g->chunk / 4) {
        INDIM_TRY(add_chunk(g, first, node));
      }
      first = NULL;
      weight = 0;
    }
    if (is_inside) {
      for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
        INDIM_TRY(cut(g, node->bodies[k]));
      }
      continue;
    }
    first = first == NULL ? node : first;
    weight += own;
    if (weight >= g->chunk) {
      INDIM_TRY(add_chunk(g, first, node->next));
      first = NULL;
      weight = 0;
    }
  }
  return first != NULL && weight >= g->chunk / 4 ? add_chunk(g, first, NULL) : INDIM_OK;
}

// Values ----------------------------------------------------------------------------------------------------------------

static void set_chunk(indim_emit_chunks *c, indim_value_id first, int32_t count, int32_t chunk) {
  for (int32_t i = 0; i < count; i++) {
    c->chunk_of[first + i] = chunk;
  }
}

// A splat is repeated where it is used (piece.c), so its scalar is used there, too.
static void see_use(indim_generator *g, indim_value_id v, int32_t chunk) {
  indim_emit_chunks *c = g->chunks;
  for (const indim_loop_node *splat = NULL;; v = splat->args[0]) {
    bool is_elsewhere = c->chunk_of[v] != chunk;
    c->crosses[v] = c->crosses[v] || is_elsewhere;
    c->is_outside[v] = c->is_outside[v] || (is_elsewhere && chunk == 0);
    splat = indim_emit_splat_of(g, v);
    if (splat == NULL) {
      return;
    }
  }
}

// The chunk of each value, and which are used elsewhere: nodes come before their users. |chunk|: of the body; 0: the program's
// function has it, and chunks of it.
static void see_values(indim_generator *g, const indim_loop_body *body, int32_t chunk) {
  indim_emit_chunks *c = g->chunks;
  const indim_loop_node *end = NULL;
  int32_t here = chunk;
  set_chunk(c, body->first_parameter, body->parameter_count, chunk);
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    here = chunk == 0 && node == end ? 0 : here;
    if (chunk == 0 && here == 0 && c->at < c->count && c->list[c->at].first == node) {
      end = c->list[c->at++].end;
      here = c->at;
    }
    set_chunk(c, node->first_result, node->result_count, here);
    for (int32_t i = 0; i < node->arg_count; i++) {
      see_use(g, node->args[i], here);
    }
    for (int32_t k = 0; k < 2; k++) {
      if (node->bodies[k] != NULL && node->bodies[k]->depth <= INDIM_EMIT_MAX_DEPTH) {
        see_values(g, node->bodies[k], here);
      }
    }
  }
  for (int32_t i = 0; i < body->yield_count; i++) {
    see_use(g, body->yields[i], chunk);
  }
}

// About how many bytes of stack the frame takes.
static int64_t frame_bytes(const indim_generator *g) {
  int64_t bytes = 0;
  for (int32_t v = 0; v < g->e.program->value_count; v++) {
    const indim_loop_value *value = indim_emit_value(g, v);
    bytes += g->chunks->crosses[v] ? (int64_t)value->lanes * indim_type_bytes(value->type) : 0;
  }
  return bytes;
}

static indim_status make_room(indim_generator *g) {
  indim_emit_chunks *c = g->chunks;
  size_t values = (size_t)g->e.program->value_count + 1;
  size_t storages = (size_t)g->e.program->storage_count + 1;
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *c->chunk_of, (void **)&c->chunk_of));
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *c->crosses, (void **)&c->crosses));
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *c->is_outside, (void **)&c->is_outside));
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *c->slots, (void **)&c->slots));
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *c->taken, (void **)&c->taken));
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *c->before, (void **)&c->before));
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *c->taken_by, (void **)&c->taken_by));
  return indim_arena_array(g->arena, storages, sizeof *c->bases, (void **)&c->bases);
}

indim_status indim_emit_find_chunks(indim_generator *g) {
  const indim_loop_body *body = g->e.program->body;
  if (weight_of_body(g, body) < 2 * g->chunk) {
    return INDIM_OK;
  }
  INDIM_TRY(indim_arena_array(g->arena, 1, sizeof *g->chunks, (void **)&g->chunks));
  INDIM_TRY(cut(g, body));
  INDIM_TRY(make_room(g));
  see_values(g, body, 0);
  g->chunks->at = 0;
  if (g->chunks->count < 2 || frame_bytes(g) > INDIM_COST_CHUNK_FRAME) {
    g->chunks = NULL;
  }
  return INDIM_OK;
}

// The frame -------------------------------------------------------------------------------------------------------------

static LLVMValueRef field_at(indim_generator *g, int64_t offset) {
  LLVMTypeRef byte = LLVMInt8TypeInContext(g->e.context);
  return indim_emit_offset(g, byte, g->current->frame, indim_emit_s64(g, offset), true);
}

void indim_emit_open_frame(indim_generator *g) {
  indim_emit_function *f = g->current;
  LLVMTypeRef byte = LLVMInt8TypeInContext(g->e.context);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  if (g->chunks == NULL) {
    return;
  }
  LLVMPositionBuilderAtEnd(g->e.builder, f->entry);
  f->frame = LLVMBuildArrayAlloca(g->e.builder, byte, indim_emit_s64(g, FIELDS * POINTER_BYTES), "frame");
  LLVMSetAlignment(f->frame, 64);
  LLVMPositionBuilderAtEnd(g->e.builder, here);
  g->chunks->bytes = FIELDS * POINTER_BYTES;
  const LLVMValueRef fields[FIELDS] = {f->arguments, f->results, f->scratch, f->host, f->stop, f->status};
  for (int32_t i = 0; i < FIELDS; i++) {
    LLVMBuildStore(g->e.builder, fields[i], field_at(g, (int64_t)i * POINTER_BYTES));
  }
}

void indim_emit_close_frame(indim_generator *g) {
  if (g->chunks != NULL) {
    LLVMSetOperand(g->current->frame, 0, indim_emit_s64(g, g->chunks->bytes));
  }
}

static LLVMValueRef load_pointer(indim_generator *g, int32_t field) {
  return LLVMBuildLoad2(g->e.builder, indim_emit_pointer_type(g), field_at(g, (int64_t)field * POINTER_BYTES), "");
}

// Whether a part of a value has to be in the frame: constants are known everywhere.
static bool has_part(const indim_reg *reg, int32_t part) {
  return reg->part[part] != NULL && !LLVMIsConstant(reg->part[part]);
}

static int64_t slot_of(indim_generator *g, indim_value_id v, int32_t part) {
  indim_emit_chunks *c = g->chunks;
  if (c->slots[v][part] == 0) {
    LLVMTypeRef type = LLVMTypeOf(g->regs[v].part[part]);
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(g->e.module);
    c->bytes = indim_ceil_div(c->bytes, LLVMABIAlignmentOfType(layout, type)) * LLVMABIAlignmentOfType(layout, type);
    c->slots[v][part] = c->bytes;
    c->bytes += (int64_t)LLVMABISizeOfType(layout, type);
  }
  return c->slots[v][part];
}

void indim_emit_put(indim_generator *g, indim_value_id first, int32_t count) {
  if (g->chunks == NULL || g->current->loop != NULL) {
    return;
  }
  for (indim_value_id v = first; v < first + count; v++) {
    for (int32_t part = 0; part < 2 && g->chunks->crosses[v] && g->chunks->chunk_of[v] == g->current->chunk; part++) {
      if (has_part(&g->regs[v], part)) {
        LLVMBuildStore(g->e.builder, g->regs[v].part[part], field_at(g, slot_of(g, v, part)));
      }
    }
  }
}

static void take(indim_generator *g, indim_value_id v) {
  for (int32_t part = 0; part < 2; part++) {
    if (has_part(&g->regs[v], part)) {
      LLVMTypeRef type = LLVMTypeOf(g->regs[v].part[part]);
      LLVMValueRef load = LLVMBuildLoad2(g->e.builder, type, field_at(g, slot_of(g, v, part)), "");
      g->regs[v].part[part] = indim_emit_loaded(g, load);
    }
  }
}

// With the scalar of a splat.
static void take_use(indim_generator *g, indim_value_id v) {
  indim_emit_chunks *c = g->chunks;
  int32_t chunk = g->current->chunk;
  for (const indim_loop_node *splat = NULL;; v = splat->args[0]) {
    if (c->chunk_of[v] != chunk && c->taken_by[v] != chunk) {
      c->taken_by[v] = chunk;
      c->before[c->taken_count] = g->regs[v];
      c->taken[c->taken_count++] = v;
      take(g, v);
    }
    splat = indim_emit_splat_of(g, v);
    if (splat == NULL) {
      return;
    }
  }
}

static void take_body(indim_generator *g, const indim_loop_body *body) {
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    indim_emit_take_uses(g, node);
  }
  for (int32_t i = 0; i < body->yield_count; i++) {
    take_use(g, body->yields[i]);
  }
}

void indim_emit_take_uses(indim_generator *g, const indim_loop_node *node) {
  for (int32_t i = 0; i < node->arg_count; i++) {
    take_use(g, node->args[i]);
  }
  for (int32_t k = 0; k < 2; k++) {
    if (node->bodies[k] != NULL && node->bodies[k]->depth <= INDIM_EMIT_MAX_DEPTH) {
      take_body(g, node->bodies[k]);
    }
  }
}

// Functions -------------------------------------------------------------------------------------------------------------

static LLVMTypeRef chunk_type(indim_generator *g) {
  LLVMTypeRef parameters[] = {indim_emit_pointer_type(g)};
  return LLVMFunctionType(LLVMVoidTypeInContext(g->e.context), parameters, 1, 0);
}

static indim_status fill_chunk(indim_generator *g, const indim_loop_body *body, const indim_emit_chunk *chunk) {
  indim_emit_function *f = g->current;
  f->entry = indim_emit_block(g, "entry");
  LLVMBasicBlockRef start = indim_emit_block(g, "start");
  LLVMPositionBuilderAtEnd(g->e.builder, f->entry);
  f->frame = LLVMGetParam(f->function, 0);
  f->arguments = load_pointer(g, FIELD_ARGUMENTS);
  f->results = load_pointer(g, FIELD_RESULTS);
  f->scratch = load_pointer(g, FIELD_SCRATCH);
  f->host = load_pointer(g, FIELD_HOST);
  f->stop = load_pointer(g, FIELD_STOP);
  f->status = load_pointer(g, FIELD_STATUS);
  indim_emit_enter(g, start);
  INDIM_TRY(indim_emit_nodes(g, body, chunk->first, chunk->end));
  indim_emit_function_end(g, start);
  return INDIM_OK;
}

// Addresses are of one function.
static void forget_pointers(indim_generator *g) {
  memset(g->pointers, 0, sizeof g->pointers);
  g->pointer_count = 0;
}

// Calls the chunk, and takes what the program's function uses of it.
static void call_chunk(indim_generator *g, const indim_emit_chunk *chunk, const indim_emit_function *made) {
  LLVMBuildCall2(g->e.builder, chunk_type(g), made->function, &g->current->frame, 1, "");
  if (made->leaves) {
    indim_emit_check_status(g);
  }
  for (const indim_loop_node *node = chunk->first; node != chunk->end; node = node->next) {
    for (int32_t i = 0; i < node->result_count; i++) {
      if (g->chunks->is_outside[node->first_result + i]) {
        take(g, node->first_result + i);
      }
    }
  }
}

indim_status indim_emit_next_chunk(indim_generator *g, const indim_loop_body *body) {
  indim_emit_chunks *c = g->chunks;
  const indim_emit_chunk *chunk = &c->list[c->at++];
  indim_emit_function f = {.function = LLVMAddFunction(g->e.module, "indim_chunk", chunk_type(g)),
                           .chunk = c->at,
                           .is_piece = true,
                           .bases = c->bases};
  LLVMSetLinkage(f.function, LLVMInternalLinkage);
  indim_emit_mark_own(g, f.function);
  memset(c->bases, 0, ((size_t)g->e.program->storage_count + 1) * sizeof *c->bases);
  indim_emit_function *caller = g->current;
  const indim_loop_body *loop = g->loop;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  g->current = &f;
  g->e.function = f.function;
  g->loop = NULL;
  c->taken_count = 0;
  forget_pointers(g);
  indim_status status = fill_chunk(g, body, chunk);
  g->current = caller;
  g->e.function = caller->function;
  g->loop = loop;
  forget_pointers(g);
  for (int32_t i = 0; i < c->taken_count; i++) {
    g->regs[c->taken[i]] = c->before[i];
  }
  indim_emit_enter(g, here);
  if (status == INDIM_OK) {
    call_chunk(g, chunk, &f);
  }
  return status;
}

const indim_emit_chunk *indim_emit_chunk_at(const indim_generator *g, const indim_loop_node *node) {
  const indim_emit_chunks *c = g->chunks;
  bool is_next = c != NULL && g->current->loop == NULL && g->current->chunk == 0 && c->at < c->count &&
                 c->list[c->at].first == node;
  return is_next ? &c->list[c->at] : NULL;
}

bool indim_emit_is_of_chunk(const indim_generator *g, indim_value_id v) {
  return g->chunks == NULL || g->chunks->chunk_of[v] == g->current->chunk;
}

const indim_loop_node *indim_emit_chunk_end(const indim_generator *g) {
  const indim_emit_chunks *c = g->chunks;
  if (c == NULL || g->current->loop != NULL) {
    return NULL;
  }
  if (g->current->chunk > 0) {
    return c->list[g->current->chunk - 1].end;
  }
  return c->at < c->count ? c->list[c->at].first : NULL;
}
