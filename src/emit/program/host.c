// What leaves the function: parallel loops and calls of the host's services.
//
// A parallel loop becomes a function of its own, piece(frame, begin, end), which runs iterations begin to end. The
// frame is its closure: a struct on the caller's stack with the function's own arguments and every outside value that
// the body uses. The host runs pieces on its threads; without a host, or when there is only one piece, the piece is
// called directly. A piece that has to end early stores the reason in a word of the caller's, which is tested
// afterwards.
#include "emit/program/program.h"

#include <stddef.h>

// The first fields of every frame.
enum { FRAME_ARGUMENTS, FRAME_RESULTS, FRAME_SCRATCH, FRAME_HOST, FRAME_STOP, FRAME_STATUS, FRAME_BEGIN, FRAME_FIXED };

// The values that a body uses from outside of it, with their registers there.
typedef struct capture {
  const indim_loop_body *loop;
  indim_value_id *values;
  indim_reg *outside;
  int32_t count;
  bool *is_seen;  // for each value of the program
  LLVMTypeRef type;
} capture;

// A splat is repeated in the piece: its scalar takes less room in the frame, and LLVM knows that all its registers are
// one.
static const indim_loop_node *splat_of(const indim_generator *g, indim_value_id v) {
  const indim_loop_node *node = indim_emit_value(g, v)->node;
  return node != NULL && node->kind == INDIM_NODE_SPLAT ? node : NULL;
}

// Constants need no field in the frame.
static void see_value(indim_generator *g, indim_value_id v, capture *c) {
  for (const indim_loop_node *splat = NULL;; v = splat->args[0]) {
    LLVMValueRef reg = g->regs[v].part[0];
    if (c->is_seen[v] || reg == NULL || indim_emit_is_inside(indim_emit_value(g, v)->body, c->loop) ||
        LLVMIsConstant(reg)) {
      return;
    }
    c->is_seen[v] = true;
    c->values[c->count++] = v;
    splat = splat_of(g, v);
    if (splat == NULL) {
      return;
    }
  }
}

static void see_body(indim_generator *g, const indim_loop_body *body, capture *c) {
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    for (int32_t i = 0; i < node->arg_count; i++) {
      see_value(g, node->args[i], c);
    }
    for (int32_t k = 0; k < 2; k++) {
      // Deeper nests are refused by indim_emit_body before the capture matters.
      if (node->bodies[k] != NULL && node->bodies[k]->depth <= INDIM_EMIT_MAX_DEPTH) {
        see_body(g, node->bodies[k], c);
      }
    }
  }
  for (int32_t i = 0; i < body->yield_count; i++) {
    see_value(g, body->yields[i], c);
  }
}

static LLVMValueRef frame_field(indim_generator *g, const capture *c, LLVMValueRef frame, int32_t field) {
  return LLVMBuildStructGEP2(g->e.builder, c->type, frame, (unsigned)field, "");
}

// Types of the frame's fields: the fixed ones, then each part of each value.
static indim_status frame_type(indim_generator *g, capture *c) {
  LLVMTypeRef *fields = NULL;
  INDIM_TRY(indim_arena_array(g->arena, FRAME_FIXED + 2 * (size_t)c->count, sizeof *fields, (void **)&fields));
  unsigned count = 0;
  while (count < FRAME_FIXED) {
    fields[count] = count == FRAME_BEGIN ? indim_emit_s64_type(g) : indim_emit_pointer_type(g);
    count++;
  }
  for (int32_t i = 0; i < c->count; i++) {
    bool is_splat = splat_of(g, c->values[i]) != NULL;
    for (int32_t part = 0; part < 2 && !is_splat && c->outside[i].part[part] != NULL; part++) {
      fields[count++] = LLVMTypeOf(c->outside[i].part[part]);
    }
  }
  c->type = LLVMStructTypeInContext(g->e.context, fields, count, 0);
  return INDIM_OK;
}

static LLVMValueRef fill_frame(indim_generator *g, const capture *c, LLVMValueRef begin) {
  indim_emit_function *f = g->current;
  LLVMValueRef frame = indim_emit_stack(g, c->type, "frame");
  LLVMValueRef fixed[] = {f->arguments, f->results, f->scratch, f->host, f->stop, f->status, begin};
  int32_t field = 0;
  for (; field < FRAME_FIXED; field++) {
    LLVMBuildStore(g->e.builder, fixed[field], frame_field(g, c, frame, field));
  }
  for (int32_t i = 0; i < c->count; i++) {
    bool is_splat = splat_of(g, c->values[i]) != NULL;
    for (int32_t part = 0; part < 2 && !is_splat && c->outside[i].part[part] != NULL; part++) {
      LLVMBuildStore(g->e.builder, c->outside[i].part[part], frame_field(g, c, frame, field++));
    }
  }
  return frame;
}

static LLVMValueRef load_field(indim_generator *g, const capture *c, LLVMValueRef frame, int32_t field) {
  LLVMTypeRef type = LLVMStructGetTypeAtIndex(c->type, (unsigned)field);
  return indim_emit_loaded(g, LLVMBuildLoad2(g->e.builder, type, frame_field(g, c, frame, field), ""));
}

// Loads the frame's fields into registers, in the entry block of the piece.
static LLVMValueRef open_frame(indim_generator *g, const capture *c, LLVMValueRef frame) {
  indim_emit_function *f = g->current;
  f->arguments = load_field(g, c, frame, FRAME_ARGUMENTS);
  f->results = load_field(g, c, frame, FRAME_RESULTS);
  f->scratch = load_field(g, c, frame, FRAME_SCRATCH);
  f->host = load_field(g, c, frame, FRAME_HOST);
  f->stop = load_field(g, c, frame, FRAME_STOP);
  f->status = load_field(g, c, frame, FRAME_STATUS);
  int32_t field = FRAME_FIXED;
  for (int32_t i = 0; i < c->count; i++) {
    bool is_splat = splat_of(g, c->values[i]) != NULL;
    for (int32_t part = 0; part < 2 && !is_splat && c->outside[i].part[part] != NULL; part++) {
      g->regs[c->values[i]].part[part] = load_field(g, c, frame, field++);
    }
  }
  // A scalar follows its splat in the list, and may be a splat itself.
  for (int32_t i = c->count - 1; i >= 0; i--) {
    const indim_loop_node *splat = splat_of(g, c->values[i]);
    for (int32_t part = 0; part < 2 && splat != NULL && c->outside[i].part[part] != NULL; part++) {
      LLVMValueRef scalar = g->regs[splat->args[0]].part[part];
      g->regs[c->values[i]].part[part] = indim_emit_splat(g, scalar, indim_emit_value(g, c->values[i])->lanes);
    }
  }
  return load_field(g, c, frame, FRAME_BEGIN);
}

// Iterations [parameter 1, parameter 2) of the loop, at least one.
static indim_status fill_piece(indim_generator *g, const indim_loop_node *node, const capture *c) {
  LLVMBuilderRef b = g->e.builder;
  indim_emit_function *f = g->current;
  LLVMValueRef step = indim_emit_s64(g, node->u.loop.step);
  f->entry = indim_emit_block(g, "entry");
  LLVMBasicBlockRef start = indim_emit_block(g, "start");
  LLVMBasicBlockRef loop = indim_emit_block(g, "for");
  LLVMPositionBuilderAtEnd(b, f->entry);
  LLVMValueRef origin = open_frame(g, c, LLVMGetParam(f->function, 0));
  LLVMPositionBuilderAtEnd(b, start);
  LLVMValueRef begin = LLVMBuildNSWMul(b, LLVMGetParam(f->function, 1), step, "");
  LLVMValueRef end = LLVMBuildNSWMul(b, LLVMGetParam(f->function, 2), step, "");
  begin = LLVMBuildNSWAdd(b, begin, origin, "");
  end = LLVMBuildNSWAdd(b, end, origin, "");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMBasicBlockRef last = NULL;
  LLVMBuildBr(b, loop);
  INDIM_TRY(indim_emit_iterations(g, node, begin, end, start, loop, after, &last));
  indim_emit_enter(g, after);
  indim_emit_function_end(g, start);
  return INDIM_OK;
}

static LLVMTypeRef piece_type(indim_generator *g) {
  LLVMTypeRef s64 = indim_emit_s64_type(g);
  LLVMTypeRef parameters[] = {indim_emit_pointer_type(g), s64, s64};
  return LLVMFunctionType(LLVMVoidTypeInContext(g->e.context), parameters, 3, 0);
}

// Emits the piece's function. |out_may_leave| says whether it may end early.
static indim_status emit_piece(indim_generator *g, const indim_loop_node *node, const capture *c,
                               LLVMValueRef *out_function, bool *out_may_leave) {
  indim_emit_function piece = {.function = LLVMAddFunction(g->e.module, "indim_piece", piece_type(g)),
                               .body = node->bodies[0],
                               .is_piece = true};
  LLVMSetLinkage(piece.function, LLVMInternalLinkage);
  indim_emit_mark_function(g, piece.function);
  size_t storages = (size_t)g->e.program->storage_count + 1;
  INDIM_TRY(indim_arena_array(g->arena, storages, sizeof *piece.bases, (void **)&piece.bases));
  indim_emit_function *caller = g->current;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  g->current = &piece;
  g->e.function = piece.function;
  indim_emit_lines_function(g);
  indim_status status = fill_piece(g, node, c);
  g->current = caller;
  g->e.function = caller->function;
  indim_emit_enter(g, here);
  indim_emit_lines_go_on(g);
  for (int32_t i = 0; i < c->count; i++) {
    g->regs[c->values[i]] = c->outside[i];
  }
  *out_function = piece.function;
  *out_may_leave = piece.stopped != NULL || piece.failed != NULL;
  return status;
}

// Calls the piece through the host, or directly if there is no host or only one piece.
static void call_piece(indim_generator *g, LLVMValueRef piece, LLVMValueRef frame, LLVMValueRef count, int64_t grain) {
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
static void leave_unless_done(indim_generator *g, LLVMValueRef outcome) {
  LLVMBuilderRef b = g->e.builder;
  LLVMBasicBlockRef leave = indim_emit_block(g, "");
  LLVMBasicBlockRef on = indim_emit_block(g, "");
  LLVMBuildCondBr(b, LLVMBuildIsNull(b, outcome, ""), on, leave);
  indim_emit_enter(g, leave);
  indim_emit_return(g, outcome);
  indim_emit_enter(g, on);
}

// Returns what a piece stored in the status word, if not 0.
static void check_status(indim_generator *g) {
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  LLVMValueRef status = LLVMBuildLoad2(g->e.builder, word, g->current->status, "");
  LLVMSetOrdering(status, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(status, 4);
  leave_unless_done(g, status);
}

static indim_status run_pieces(indim_generator *g, const indim_loop_node *node, const capture *c) {
  LLVMBuilderRef b = g->e.builder;
  LLVMValueRef begin = g->regs[node->args[0]].part[0];
  LLVMValueRef end = g->regs[node->args[1]].part[0];
  LLVMValueRef piece = NULL;
  bool may_leave = false;
  INDIM_TRY(emit_piece(g, node, c, &piece, &may_leave));
  LLVMValueRef frame = fill_frame(g, c, begin);
  LLVMValueRef count = LLVMBuildNSWSub(b, end, begin, "");
  count = LLVMBuildNSWAdd(b, count, indim_emit_s64(g, node->u.loop.step - 1), "");
  count = LLVMBuildSDiv(b, count, indim_emit_s64(g, node->u.loop.step), "");
  LLVMBasicBlockRef some = indim_emit_block(g, "");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGT, count, indim_emit_s64(g, 0), ""), some, after);
  indim_emit_enter(g, some);
  call_piece(g, piece, frame, count, node->u.loop.grain);
  if (may_leave) {
    check_status(g);
  }
  LLVMBuildBr(b, after);
  indim_emit_enter(g, after);
  return INDIM_OK;
}

static indim_status with_captures(indim_generator *g, const indim_loop_node *node, capture *c) {
  see_body(g, c->loop, c);
  INDIM_TRY(indim_arena_array(g->arena, (size_t)c->count, sizeof *c->outside, (void **)&c->outside));
  for (int32_t i = 0; i < c->count; i++) {
    c->outside[i] = g->regs[c->values[i]];
  }
  INDIM_TRY(frame_type(g, c));
  return run_pieces(g, node, c);
}

indim_status indim_emit_parallel(indim_generator *g, const indim_loop_node *node) {
  size_t values = (size_t)g->e.program->value_count;
  capture c = {.loop = node->bodies[0]};
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *c.values, (void **)&c.values));
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *c.is_seen, (void **)&c.is_seen));
  return with_captures(g, node, &c);
}

// Services --------------------------------------------------------------------------------------------------------------

// The struct that a service takes, as constant data: its fields are the node's numbers, in order.
static LLVMValueRef service_constants(indim_generator *g, const indim_loop_node *node) {
  LLVMValueRef numbers[INDIM_MAX_HOST_NUMBERS];
  for (int32_t i = 0; i < node->u.host.number_count; i++) {
    numbers[i] = indim_emit_s64(g, node->u.host.numbers[i]);
  }
  LLVMTypeRef s64 = indim_emit_s64_type(g);
  LLVMValueRef data = LLVMConstArray2(s64, numbers, (uint64_t)node->u.host.number_count);
  LLVMValueRef global = LLVMAddGlobal(g->e.module, LLVMTypeOf(data), "numbers");
  LLVMSetInitializer(global, data);
  LLVMSetGlobalConstant(global, 1);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetAlignment(global, 8);
  return global;
}

// Continues when |is_fine|, else returns INDIM_HOST_FAILED.
static void continue_if(indim_generator *g, LLVMValueRef is_fine) {
  LLVMBasicBlockRef failed = indim_emit_leave(g, INDIM_HOST_FAILED);
  LLVMBasicBlockRef on = indim_emit_block(g, "");
  LLVMBuildCondBr(g->e.builder, is_fine, on, failed);
  indim_emit_enter(g, on);
}

// Where the entry of a service is in struct indim_host.
static size_t entry_of(indim_host_service service) {
  static const size_t offsets[] = {
#define INDIM_SERVICE(enumerator, name, storages, written, arrays) offsetof(indim_host, name),
#include "host/service.def"
  };
  return offsets[service];
}

indim_status indim_emit_host_node(indim_generator *g, const indim_loop_node *node) {
  LLVMBuilderRef b = g->e.builder;
  LLVMTypeRef pointer = indim_emit_pointer_type(g);
  LLVMTypeRef parameters[] = {pointer, pointer, pointer};
  LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(g->e.context), parameters, 3, 0);
  LLVMValueRef host = g->current->host;
  if (indim_loop_node_fails(node)) {
    continue_if(g, LLVMConstInt(LLVMInt1TypeInContext(g->e.context), 0, 0));
    return INDIM_OK;
  }
  continue_if(g, LLVMBuildIsNotNull(b, host, ""));
  LLVMValueRef service = indim_emit_host_field(g, host, entry_of(node->u.host.service));
  continue_if(g, LLVMBuildIsNotNull(b, service, ""));
  int32_t count = node->u.host.storage_count;
  LLVMValueRef arrays = indim_emit_stack(g, LLVMArrayType2(pointer, (uint64_t)count), "arrays");
  for (int32_t i = 0; i < count; i++) {
    LLVMValueRef slot = LLVMConstInt(LLVMInt32TypeInContext(g->e.context), (unsigned)i, 0);
    LLVMBuildStore(b, indim_emit_element(g, node->u.host.storages[i], node->args[i]),
                   LLVMBuildGEP2(b, pointer, arrays, &slot, 1, ""));
  }
  LLVMValueRef args[] = {indim_emit_host_field(g, host, offsetof(indim_host, user)), service_constants(g, node),
                         arrays};
  LLVMValueRef outcome = LLVMBuildCall2(b, type, service, args, 3, "");
  LLVMTypeRef word = LLVMTypeOf(outcome);
  LLVMValueRef stopped = LLVMBuildICmp(b, LLVMIntEQ, outcome, LLVMConstInt(word, INDIM_HOST_STOPPED, 0), "");
  LLVMValueRef failed = LLVMBuildSelect(b, LLVMBuildIsNull(b, outcome, ""), LLVMConstNull(word),
                                        LLVMConstInt(word, INDIM_HOST_FAILED, 0), "");
  leave_unless_done(g, LLVMBuildSelect(b, stopped, outcome, failed, ""));
  return INDIM_OK;
}
