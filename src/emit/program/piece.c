// Loops that are functions of their own: parallel ones, and those of which a program has several equal ones.
//
// Such a loop becomes piece(frame, begin, end), which runs iterations begin to end; of a while it runs all. The frame is its
// closure: a struct on the caller's stack with the function's own arguments, every outside value that the body uses, and
// the carried values, which are there at the beginning and at the end. The host runs pieces of
// a parallel loop on its threads; without a host, or when there is only one piece, the piece is called directly. A piece
// that has to end early stores the reason in a word of the caller's, which is tested afterwards.
//
// The piece of a loop that has equals (repeat.c) takes the addresses of its storages from the frame as well, and each of
// them fills the frame with its own.
#include "emit/program/piece.h"

#include "emit/program/access.h"

#include <stddef.h>
#include <string.h>

// The first fields of every frame.
enum { FRAME_ARGUMENTS, FRAME_RESULTS, FRAME_SCRATCH, FRAME_HOST, FRAME_STOP, FRAME_STATUS, FRAME_BEGIN, FRAME_FIXED };

static bool is_field(const indim_generator *g, indim_value_id v, int32_t part) {
  return g->regs[v].part[part] != NULL && indim_emit_splat_of(g, v) == NULL;
}

// Constants need no field in the frame.
static void see_value(indim_generator *g, indim_value_id v, const indim_loop_node *loop) {
  indim_emit_repeats *r = g->repeats;
  for (const indim_loop_node *splat = NULL;; v = splat->args[0]) {
    LLVMValueRef reg = g->regs[v].part[0];
    if (r->seen[v].stamp == r->loop || reg == NULL || indim_emit_is_in_loop(indim_emit_value(g, v)->body, loop) ||
        LLVMIsConstant(reg)) {
      return;
    }
    r->seen[v].stamp = r->loop;
    r->captured[r->captured_count++] = v;
    splat = indim_emit_splat_of(g, v);
    if (splat == NULL) {
      return;
    }
  }
}

static void see_storage(void *user, int32_t storage) {
  const indim_generator *g = user;
  indim_emit_repeats *r = g->repeats;
  if (r->used_seen[storage].stamp != r->loop) {
    r->used_seen[storage].stamp = r->loop;
    r->used[r->used_count++] = storage;
  }
}

static void see_body(indim_generator *g, const indim_loop_body *body, const indim_loop_node *loop) {
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    for (int32_t i = 0; i < node->arg_count; i++) {
      see_value(g, node->args[i], loop);
    }
    indim_emit_each_storage(node, see_storage, g);
    for (int32_t k = 0; k < 2; k++) {
      // Deeper nests are refused by indim_emit_body before the capture matters.
      if (node->bodies[k] != NULL && node->bodies[k]->depth <= INDIM_EMIT_MAX_DEPTH) {
        see_body(g, node->bodies[k], loop);
      }
    }
  }
  for (int32_t i = 0; i < body->yield_count; i++) {
    see_value(g, body->yields[i], loop);
  }
}

// The values that the loop uses from outside of it, and, if it has equals, its storages.
static indim_status capture(indim_generator *g, indim_emit_piece *piece, bool has_equals) {
  indim_emit_repeats *r = g->repeats;
  r->loop++;
  r->captured_count = 0;
  r->used_count = 0;
  for (int32_t k = 0; k < 2 && piece->node->bodies[k] != NULL; k++) {
    see_body(g, piece->node->bodies[k], piece->node);
  }
  piece->value_count = r->captured_count;
  piece->storage_count = has_equals ? r->used_count : 0;
  INDIM_TRY(indim_arena_array(g->arena, (size_t)r->captured_count, sizeof *piece->values, (void **)&piece->values));
  INDIM_TRY(indim_arena_array(g->arena, (size_t)r->used_count, sizeof *piece->storages, (void **)&piece->storages));
  for (int32_t i = 0; i < piece->value_count; i++) {
    piece->values[i] = r->captured[i];
  }
  for (int32_t i = 0; i < piece->storage_count; i++) {
    piece->storages[i] = r->used[i];
  }
  return INDIM_OK;
}

static LLVMValueRef frame_field(indim_generator *g, const indim_emit_piece *piece, LLVMValueRef frame, int32_t field) {
  return LLVMBuildStructGEP2(g->e.builder, piece->type, frame, (unsigned)field, "");
}

// Types of the frame's fields: the fixed ones, the storages, then each part of each value.
static indim_status frame_type(indim_generator *g, indim_emit_piece *piece) {
  LLVMTypeRef *fields = NULL;
  indim_reg *initial = NULL;
  INDIM_TRY(indim_emit_initial(g, piece->node, &initial));
  size_t values = (size_t)piece->value_count + (size_t)piece->node->result_count;
  size_t most = FRAME_FIXED + (size_t)piece->storage_count + 2 * values;
  INDIM_TRY(indim_arena_array(g->arena, most, sizeof *fields, (void **)&fields));
  unsigned count = 0;
  while (count < FRAME_FIXED + (unsigned)piece->storage_count) {
    fields[count] = count == FRAME_BEGIN ? indim_emit_s64_type(g) : indim_emit_pointer_type(g);
    count++;
  }
  for (int32_t i = 0; i < piece->value_count; i++) {
    for (int32_t part = 0; part < 2 && is_field(g, piece->values[i], part); part++) {
      fields[count++] = LLVMTypeOf(g->regs[piece->values[i]].part[part]);
    }
  }
  piece->first_carried = (int32_t)count;
  for (int32_t i = 0; i < piece->node->result_count; i++) {
    for (int32_t part = 0; part < 2 && initial[i].part[part] != NULL; part++) {
      fields[count++] = LLVMTypeOf(initial[i].part[part]);
    }
  }
  piece->type = LLVMStructTypeInContext(g->e.context, fields, count, 0);
  return INDIM_OK;
}

// For |node|, which is the piece's loop or its equal.
static void fill_frame(indim_generator *g, const indim_emit_piece *piece, const indim_loop_node *node,
                       LLVMValueRef begin) {
  indim_emit_function *f = g->current;
  bool is_own = node == piece->node;
  LLVMValueRef fixed[] = {f->arguments, f->results, f->scratch, f->host, f->stop, f->status, begin};
  int32_t field = 0;
  for (; field < FRAME_FIXED; field++) {
    LLVMBuildStore(g->e.builder, fixed[field], frame_field(g, piece, piece->frame, field));
  }
  for (int32_t i = 0; i < piece->storage_count; i++) {
    int32_t storage = is_own ? piece->storages[i] : indim_emit_storage_counterpart(g, piece->storages[i]);
    LLVMBuildStore(g->e.builder, indim_emit_storage_base(g, storage), frame_field(g, piece, piece->frame, field++));
  }
  for (int32_t i = 0; i < piece->value_count; i++) {
    indim_value_id v = is_own ? piece->values[i] : indim_emit_counterpart(g, piece->values[i]);
    for (int32_t part = 0; part < 2 && is_field(g, v, part); part++) {
      LLVMBuildStore(g->e.builder, g->regs[v].part[part], frame_field(g, piece, piece->frame, field++));
    }
  }
}

static LLVMValueRef load_field(indim_generator *g, const indim_emit_piece *piece, LLVMValueRef frame, int32_t field) {
  LLVMTypeRef type = LLVMStructGetTypeAtIndex(piece->type, (unsigned)field);
  return indim_emit_loaded(g, LLVMBuildLoad2(g->e.builder, type, frame_field(g, piece, frame, field), ""));
}

static void store_carried(indim_generator *g, const indim_emit_piece *piece, LLVMValueRef frame,
                          const indim_reg *values) {
  int32_t field = piece->first_carried;
  for (int32_t i = 0; i < piece->node->result_count; i++) {
    for (int32_t part = 0; part < 2 && values[i].part[part] != NULL; part++) {
      LLVMBuildStore(g->e.builder, values[i].part[part], frame_field(g, piece, frame, field++));
    }
  }
}

// |like|: registers of the same types.
static void load_carried(indim_generator *g, const indim_emit_piece *piece, LLVMValueRef frame, const indim_reg *like,
                         indim_reg *out) {
  int32_t field = piece->first_carried;
  for (int32_t i = 0; i < piece->node->result_count; i++) {
    indim_reg loaded = {{NULL, NULL}};
    for (int32_t part = 0; part < 2 && like[i].part[part] != NULL; part++) {
      loaded.part[part] = load_field(g, piece, frame, field++);
    }
    out[i] = loaded;
  }
}

// Loads the frame's fields into registers, in the entry block of the piece.
static LLVMValueRef open_frame(indim_generator *g, const indim_emit_piece *piece, const indim_reg *outside) {
  indim_emit_function *f = g->current;
  LLVMValueRef frame = LLVMGetParam(f->function, 0);
  f->arguments = load_field(g, piece, frame, FRAME_ARGUMENTS);
  f->results = load_field(g, piece, frame, FRAME_RESULTS);
  f->scratch = load_field(g, piece, frame, FRAME_SCRATCH);
  f->host = load_field(g, piece, frame, FRAME_HOST);
  f->stop = load_field(g, piece, frame, FRAME_STOP);
  f->status = load_field(g, piece, frame, FRAME_STATUS);
  int32_t field = FRAME_FIXED;
  for (int32_t i = 0; i < piece->storage_count; i++) {
    f->bases[indim_emit_owner(g, piece->storages[i])] = load_field(g, piece, frame, field++);
  }
  for (int32_t i = 0; i < piece->value_count; i++) {
    indim_value_id v = piece->values[i];
    for (int32_t part = 0; part < 2 && is_field(g, v, part); part++) {
      g->regs[v].part[part] = load_field(g, piece, frame, field++);
    }
  }
  // A scalar follows its splat in the list, and may be a splat itself.
  for (int32_t i = piece->value_count - 1; i >= 0; i--) {
    indim_value_id v = piece->values[i];
    const indim_loop_node *splat = indim_emit_splat_of(g, v);
    for (int32_t part = 0; part < 2 && splat != NULL && outside[i].part[part] != NULL; part++) {
      g->regs[v].part[part] = indim_emit_splat(g, g->regs[splat->args[0]].part[part], indim_emit_value(g, v)->lanes);
    }
  }
  return load_field(g, piece, frame, FRAME_BEGIN);
}

// Iterations [parameter 1, parameter 2) of a for, at least one. |carried|: how they begin, then how they end.
static indim_status fill_for(indim_generator *g, const indim_loop_node *node, LLVMValueRef origin,
                             LLVMBasicBlockRef start, indim_reg *carried) {
  LLVMBuilderRef b = g->e.builder;
  LLVMValueRef function = g->current->function;
  LLVMValueRef step = indim_emit_s64(g, node->u.loop.step);
  LLVMBasicBlockRef loop = indim_emit_block(g, "for");
  LLVMValueRef begin = LLVMBuildNSWMul(b, LLVMGetParam(function, 1), step, "");
  LLVMValueRef end = LLVMBuildNSWMul(b, LLVMGetParam(function, 2), step, "");
  begin = LLVMBuildNSWAdd(b, begin, origin, "");
  end = LLVMBuildNSWAdd(b, end, origin, "");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMBasicBlockRef last = NULL;
  LLVMBuildBr(b, loop);
  INDIM_TRY(indim_emit_iterations(g, node, begin, end, carried, start, loop, after, &last));
  indim_emit_enter(g, after);
  for (int32_t i = 0; i < node->result_count; i++) {
    carried[i] = g->regs[node->bodies[0]->yields[i]];
  }
  return INDIM_OK;
}

static indim_status fill_piece(indim_generator *g, const indim_emit_piece *piece, const indim_reg *outside) {
  LLVMBuilderRef b = g->e.builder;
  indim_emit_function *f = g->current;
  const indim_loop_node *node = piece->node;
  LLVMValueRef frame = LLVMGetParam(f->function, 0);
  indim_reg *carried = NULL;
  INDIM_TRY(indim_emit_initial(g, node, &carried));
  f->entry = indim_emit_block(g, "entry");
  LLVMBasicBlockRef start = indim_emit_block(g, "start");
  LLVMPositionBuilderAtEnd(b, f->entry);
  LLVMValueRef origin = open_frame(g, piece, outside);
  load_carried(g, piece, frame, carried, carried);
  indim_emit_enter(g, start);
  if (node->kind == INDIM_NODE_WHILE) {
    INDIM_TRY(indim_emit_while(g, node, carried, carried));
  } else {
    INDIM_TRY(fill_for(g, node, origin, start, carried));
  }
  store_carried(g, piece, frame, carried);
  indim_emit_function_end(g, start);
  return INDIM_OK;
}

static LLVMTypeRef piece_type(indim_generator *g) {
  LLVMTypeRef s64 = indim_emit_s64_type(g);
  LLVMTypeRef parameters[] = {indim_emit_pointer_type(g), s64, s64};
  return LLVMFunctionType(LLVMVoidTypeInContext(g->e.context), parameters, 3, 0);
}

// Emits the piece's function.
static indim_status emit_piece(indim_generator *g, indim_emit_piece *piece) {
  indim_emit_function f = {.function = LLVMAddFunction(g->e.module, "indim_piece", piece_type(g)),
                           .loop = piece->node,
                           .is_piece = true,
                           .bases = g->repeats->bases};
  LLVMSetLinkage(f.function, LLVMInternalLinkage);
  indim_emit_mark_function(g, f.function);
  memset(f.bases, 0, ((size_t)g->e.program->storage_count + 1) * sizeof *f.bases);
  indim_reg *outside = NULL;
  INDIM_TRY(indim_arena_array(g->arena, (size_t)piece->value_count, sizeof *outside, (void **)&outside));
  for (int32_t i = 0; i < piece->value_count; i++) {
    outside[i] = g->regs[piece->values[i]];
  }
  indim_emit_function *caller = g->current;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  g->current = &f;
  g->e.function = f.function;
  indim_emit_lines_function(g);
  indim_status status = fill_piece(g, piece, outside);
  g->current = caller;
  g->e.function = caller->function;
  indim_emit_enter(g, here);
  indim_emit_lines_go_on(g);
  for (int32_t i = 0; i < piece->value_count; i++) {
    g->regs[piece->values[i]] = outside[i];
  }
  piece->function = f.function;
  piece->may_leave = f.leaves;
  return status;
}

static void add_frame(indim_generator *g, indim_emit_piece *piece) {
  piece->frame = indim_emit_stack(g, piece->type, "frame");
  piece->caller = g->current->function;
}

static indim_status make_piece(indim_generator *g, const indim_loop_node *node, bool has_equals,
                               indim_emit_piece **out) {
  indim_emit_piece *piece = NULL;
  INDIM_TRY(indim_arena_array(g->arena, 1, sizeof *piece, (void **)&piece));
  piece->node = node;
  INDIM_TRY(capture(g, piece, has_equals));
  INDIM_TRY(frame_type(g, piece));
  INDIM_TRY(emit_piece(g, piece));
  add_frame(g, piece);
  *out = piece;
  return INDIM_OK;
}

// The piece that computes |node|: that of an equal loop before, or a new one.
static indim_status find_piece(indim_generator *g, const indim_loop_node *node, indim_emit_piece **out) {
  indim_emit_entry *entry = indim_emit_repeat_of(g, node);
  for (indim_emit_piece *piece = entry == NULL ? NULL : entry->pieces; piece != NULL; piece = piece->next) {
    if (indim_emit_is_repeat(g, piece, node)) {
      if (piece->caller != g->current->function) {
        add_frame(g, piece);
      }
      *out = piece;
      return INDIM_OK;
    }
  }
  INDIM_TRY(make_piece(g, node, entry != NULL, out));
  if (entry != NULL) {
    (*out)->next = entry->pieces;
    entry->pieces = *out;
  }
  return INDIM_OK;
}

// Calls the piece through the host, or directly if there is no host or only one piece.
static void call_piece(indim_generator *g, const indim_emit_piece *made, const indim_loop_node *node,
                       LLVMValueRef count) {
  LLVMValueRef piece = made->function;
  LLVMValueRef frame = made->frame;
  if (node->kind == INDIM_NODE_WHILE || !node->u.loop.is_parallel) {
    LLVMValueRef each[] = {frame, indim_emit_s64(g, 0), count};
    LLVMBuildCall2(g->e.builder, piece_type(g), piece, each, 3, "");
    return;
  }
  int64_t grain = node->u.loop.grain;
  LLVMBuilderRef b = g->e.builder;
  LLVMTypeRef pointer = indim_emit_pointer_type(g);
  LLVMTypeRef s64 = indim_emit_s64_type(g);
  LLVMBasicBlockRef table = indim_emit_block(g, "");
  LLVMBasicBlockRef shared = indim_emit_block(g, "parallel");
  LLVMBasicBlockRef alone = indim_emit_block(g, "alone");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMValueRef host = g->current->host;
  LLVMValueRef grains = indim_emit_s64(g, grain < 1 ? 1 : grain);
  LLVMValueRef is_one = LLVMBuildICmp(b, LLVMIntSLE, count, grains, "");
  LLVMBuildCondBr(b, LLVMBuildOr(b, is_one, LLVMBuildIsNull(b, host, ""), ""), alone, table);
  indim_emit_enter(g, table);
  LLVMValueRef parallel = indim_emit_host_field(g, host, offsetof(indim_host, parallel));
  LLVMBuildCondBr(b, LLVMBuildIsNull(b, parallel, ""), alone, shared);
  indim_emit_enter(g, shared);
  LLVMValueRef user = indim_emit_host_field(g, host, offsetof(indim_host, user));
  LLVMTypeRef parameters[] = {pointer, pointer, pointer, s64, s64};
  LLVMValueRef args[] = {user, piece, frame, count, grains};
  LLVMBuildCall2(b, LLVMFunctionType(LLVMVoidTypeInContext(g->e.context), parameters, 5, 0), parallel, args, 5, "");
  LLVMBuildBr(b, after);
  indim_emit_enter(g, alone);
  LLVMValueRef all[] = {frame, indim_emit_s64(g, 0), count};
  LLVMBuildCall2(b, piece_type(g), piece, all, 3, "");
  LLVMBuildBr(b, after);
  indim_emit_enter(g, after);
}

// Returns |outcome| unless that is 0.
void indim_emit_leave_unless_done(indim_generator *g, LLVMValueRef outcome) {
  LLVMBuilderRef b = g->e.builder;
  LLVMBasicBlockRef leave = indim_emit_block(g, "");
  LLVMBasicBlockRef on = indim_emit_block(g, "");
  LLVMBuildCondBr(b, LLVMBuildIsNull(b, outcome, ""), on, leave);
  indim_emit_enter(g, leave);
  indim_emit_return(g, outcome);
  indim_emit_enter(g, on);
}

void indim_emit_check_status(indim_generator *g) {
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  LLVMValueRef status = LLVMBuildLoad2(g->e.builder, word, g->current->status, "");
  LLVMSetOrdering(status, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(status, 4);
  indim_emit_leave_unless_done(g, status);
}

static void run_piece(indim_generator *g, const indim_emit_piece *piece, const indim_loop_node *node,
                      LLVMValueRef begin, LLVMValueRef count) {
  fill_frame(g, piece, node, begin);
  call_piece(g, piece, node, count);
  if (piece->may_leave) {
    indim_emit_check_status(g);
  }
}

// The iterations of a for, if there are any.
static void run_for(indim_generator *g, const indim_emit_piece *piece, const indim_loop_node *node) {
  LLVMBuilderRef b = g->e.builder;
  LLVMValueRef begin = g->regs[node->args[0]].part[0];
  LLVMValueRef end = g->regs[node->args[1]].part[0];
  LLVMValueRef count = LLVMBuildNSWSub(b, end, begin, "");
  count = LLVMBuildNSWAdd(b, count, indim_emit_s64(g, node->u.loop.step - 1), "");
  count = LLVMBuildSDiv(b, count, indim_emit_s64(g, node->u.loop.step), "");
  if (LLVMIsConstant(count) && LLVMConstIntGetSExtValue(count) > 0) {
    run_piece(g, piece, node, begin, count);
    return;
  }
  LLVMBasicBlockRef some = indim_emit_block(g, "");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGT, count, indim_emit_s64(g, 0), ""), some, after);
  indim_emit_enter(g, some);
  run_piece(g, piece, node, begin, count);
  LLVMBuildBr(b, after);
  indim_emit_enter(g, after);
}

indim_status indim_emit_piece_loop(indim_generator *g, const indim_loop_node *node) {
  indim_emit_piece *piece = NULL;
  indim_reg *initial = NULL;
  INDIM_TRY(find_piece(g, node, &piece));
  INDIM_TRY(indim_emit_initial(g, node, &initial));
  store_carried(g, piece, piece->frame, initial);
  if (node->kind == INDIM_NODE_WHILE) {
    run_piece(g, piece, node, indim_emit_s64(g, 0), indim_emit_s64(g, 0));
  } else {
    run_for(g, piece, node);
  }
  load_carried(g, piece, piece->frame, initial, &g->regs[node->first_result]);
  return INDIM_OK;
}
