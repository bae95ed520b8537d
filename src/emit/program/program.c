// A loop program to LLVM IR, one node after another. Nothing is decided here: order, vectors and addresses are the
// program's. The function's entry block stays open until the end and collects what must dominate everything (base
// addresses, stack slots). Long straight-line code is split into blocks, because LLVM's time per block grows
// superlinearly.
#include "emit/program/chunk.h"
#include "emit/program/piece.h"
#include "emit/program/program.h"
#include "loop/target/cost.h"

#include <stddef.h>
#include <string.h>

// Nodes after which the host is polled for cancellation.
enum { POLL_NODES = 1024 };

// Body ------------------------------------------------------------------------------------------------------------------

// Networks of shuffles of bytes are long, and LLVM looks for ways to combine them within a block.
static int32_t length_of(LLVMValueRef instruction) {
  if (LLVMGetInstructionOpcode(instruction) != LLVMShuffleVector) {
    return 1;
  }
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(instruction));
  bool is_byte = LLVMGetTypeKind(element) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 8;
  return is_byte ? INDIM_COST_BLOCK_SHUFFLE : 1;
}

// Continues in a new block when this one is long. The block's address is taken so that LLVM does not merge the two
// again.
static void split_block(indim_generator *g) {
  LLVMBasicBlockRef block = LLVMGetInsertBlock(g->e.builder);
  if (g->mark != NULL && LLVMGetInstructionParent(g->mark) != block) {
    g->mark = NULL;  // the functions of math.c create blocks of their own
    g->block_count = 0;
  }
  LLVMValueRef next = g->mark == NULL ? LLVMGetFirstInstruction(block) : LLVMGetNextInstruction(g->mark);
  for (; next != NULL; next = LLVMGetNextInstruction(next)) {
    g->mark = next;
    g->block_count += length_of(next);
  }
  if (g->block_count >= INDIM_COST_BLOCK) {
    LLVMBasicBlockRef rest = indim_emit_block(g, INDIM_EMIT_CUT);
    LLVMBlockAddress(g->current->function, rest);
    LLVMBuildBr(g->e.builder, rest);
    indim_emit_enter(g, rest);
  }
}

static indim_status emit_node(indim_generator *g, const indim_loop_node *node) {
  switch (indim_node_group_of(node->kind)) {
  case INDIM_GROUP_VALUE:
    return indim_emit_value_node(g, node);
  case INDIM_GROUP_LOAD:
  case INDIM_GROUP_WRITE:
  case INDIM_GROUP_HINT:
    return indim_emit_memory_node(g, node);
  case INDIM_GROUP_CONTROL:
    return indim_emit_control_node(g, node);
  case INDIM_GROUP_HOST:
    return indim_emit_host_node(g, node);
  }
  return indim_fail(g->e.cx, INDIM_INTERNAL, "the code generator has no node of kind %d", (int)node->kind);
}

indim_status indim_emit_nodes(indim_generator *g, const indim_loop_body *body, const indim_loop_node *first,
                              const indim_loop_node *end) {
  bool is_chunk = g->current->chunk > 0 && g->current->loop == NULL;
  int32_t left = body->owner == NULL && g->most_nodes > 0 ? g->most_nodes : INT32_MAX;
  const indim_loop_body *outer = g->body;
  for (const indim_loop_node *node = first; node != end && left > 0; left--) {
    const indim_emit_chunk *chunk = indim_emit_chunk_at(g, node);
    g->body = body;
    if (chunk != NULL) {
      INDIM_TRY(indim_emit_next_chunk(g, body));
      node = chunk->end;
      continue;
    }
    if (++g->node_count % POLL_NODES == 0) {
      INDIM_TRY(indim_poll(g->e.cx));
    }
    if (is_chunk) {
      indim_emit_take_uses(g, node);
    }
    bool is_step = indim_emit_lines_enter(g, node);
    INDIM_TRY(emit_node(g, node));
    indim_emit_put(g, node->first_result, node->result_count);
    split_block(g);
    indim_emit_lines_leave(g, is_step);
    node = node->next;
  }
  g->body = outer;
  return INDIM_OK;
}

indim_status indim_emit_body(indim_generator *g, const indim_loop_body *body) {
  if (body->depth > INDIM_EMIT_MAX_DEPTH) {
    return indim_fail(g->e.cx, INDIM_LIMIT, "loops and branches are nested %d deep, the most is %d", (int)body->depth,
                      (int)INDIM_EMIT_MAX_DEPTH);
  }
  indim_emit_put(g, body->first_parameter, body->parameter_count);
  return indim_emit_nodes(g, body, body->first, NULL);
}

// The program's function ------------------------------------------------------------------------------------------------

static bool can_stop(const indim_loop_program *program) {
  const indim_loop_node *node = program->body->first;
  while (node != NULL && node->kind != INDIM_NODE_WHILE &&
         (node->kind != INDIM_NODE_FOR || node->u.loop.poll_interval == 0)) {
    node = indim_loop_next(node);
  }
  return node != NULL;
}

// The trip count of a body per call, by the ranges of the enclosing loops; both sides of an if count.
static double trip_count(const indim_loop_program *program, const indim_loop_body *body, bool *out_is_parallel) {
  double runs = 1;
  for (; body->owner != NULL; body = body->outer) {
    const indim_loop_node *loop = body->owner;
    if (loop->kind == INDIM_NODE_FOR) {
      double low = (double)program->values[loop->args[0]].low;
      double high = (double)program->values[loop->args[1]].high;
      runs *= high > low ? (high - low) / (double)loop->u.loop.step : 0;
      *out_is_parallel = *out_is_parallel || loop->u.loop.is_parallel;
    }
  }
  return runs;
}

// Whether nearly all work is in parallel loops, which are functions of their own. Then the code of this one (calls, and
// remainders of loops) is compiled without optimization: half of the code generator's time would go there.
static bool is_mostly_parallel(const indim_loop_program *program) {
  double inside = 0;
  double outside = 0;
  const indim_loop_body *body = NULL;
  bool is_parallel = false;
  double runs = 0;
  for (const indim_loop_node *node = program->body->first; node != NULL; node = indim_loop_next(node)) {
    if (node->kind == INDIM_NODE_WHILE) {
      return false;
    }
    if (node->body != body) {
      body = node->body;
      is_parallel = false;
      runs = trip_count(program, body, &is_parallel);
    }
    *(is_parallel ? &inside : &outside) += runs;
  }
  return outside * INDIM_COST_UNOPTIMIZED_SHARE < inside;
}

// A word that is 0, or the host's if it has one. Only while loops and long for loops poll it.
static void find_stop_word(indim_generator *g, LLVMBasicBlockRef *in_out_block) {
  indim_emit_function *f = g->current;
  LLVMBuilderRef builder = g->e.builder;
  LLVMBasicBlockRef with_host = indim_emit_block(g, "host");
  LLVMBasicBlockRef start = indim_emit_block(g, "start");
  LLVMPositionBuilderAtEnd(builder, *in_out_block);
  LLVMBuildCondBr(builder, LLVMBuildIsNull(builder, f->host, ""), start, with_host);
  LLVMPositionBuilderAtEnd(builder, with_host);
  LLVMValueRef host_stop = indim_emit_host_field(g, f->host, offsetof(indim_host, stop));
  LLVMValueRef chosen = LLVMBuildSelect(builder, LLVMBuildIsNull(builder, host_stop, ""), f->status, host_stop, "");
  LLVMBuildBr(builder, start);
  LLVMPositionBuilderAtEnd(builder, start);
  f->stop = LLVMBuildPhi(builder, indim_emit_pointer_type(g), "stop");
  LLVMValueRef values[] = {f->status, chosen};
  LLVMBasicBlockRef blocks[] = {*in_out_block, with_host};
  LLVMAddIncoming(f->stop, values, blocks, 2);
  *in_out_block = start;
}

// entry (open) -> first, and if something polls the stop word -> host? -> start: the body.
static indim_status fill_function(indim_generator *g) {
  indim_emit_function *f = g->current;
  f->entry = indim_emit_block(g, "entry");
  LLVMBasicBlockRef first = indim_emit_block(g, "first");
  LLVMPositionBuilderAtEnd(g->e.builder, first);
  f->arguments = LLVMGetParam(f->function, 0);
  f->results = LLVMGetParam(f->function, 1);
  f->scratch = LLVMGetParam(f->function, 2);
  f->host = LLVMGetParam(f->function, 3);
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  f->status = indim_emit_stack(g, word, "status");
  LLVMBuildStore(g->e.builder, LLVMConstNull(word), f->status);
  f->stop = f->status;
  LLVMBasicBlockRef start = first;
  if (can_stop(g->e.program)) {
    find_stop_word(g, &start);
  }
  indim_emit_enter(g, start);
  indim_emit_open_frame(g);
  INDIM_TRY(indim_emit_body(g, g->e.program->body));
  indim_emit_close_frame(g);
  indim_emit_function_end(g, first);
  return INDIM_OK;
}

static indim_status emit_function(indim_generator *g) {
  LLVMTypeRef pointer = indim_emit_pointer_type(g);
  LLVMTypeRef parameters[] = {pointer, pointer, pointer, pointer};
  LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(g->e.context), parameters, 4, 0);
  indim_emit_function function = {.function = LLVMAddFunction(g->e.module, g->symbol, type)};
  g->current = &function;
  g->e.function = function.function;
  g->is_unoptimized = is_mostly_parallel(g->e.program);
  indim_emit_mark_own(g, function.function);
  indim_emit_lines_function(g);
  size_t storages = (size_t)g->e.program->storage_count + 1;
  INDIM_TRY(indim_arena_array(g->arena, storages, sizeof *function.bases, (void **)&function.bases));
  INDIM_TRY(indim_arena_array(g->arena, storages, sizeof *g->constants, (void **)&g->constants));
  INDIM_TRY(fill_function(g));
  g->current = NULL;
  return INDIM_OK;
}

static indim_status check_lanes(indim_ctx *cx, const indim_loop_program *program) {
  for (int32_t v = 1; v < program->value_count; v++) {
    if (program->values[v].lanes > INDIM_EMIT_MAX_LANES) {
      return indim_fail(cx, INDIM_LIMIT, "a value of %d lanes, the most is %d", (int)program->values[v].lanes,
                        (int)INDIM_EMIT_MAX_LANES);
    }
  }
  return INDIM_OK;
}

static indim_status fill_module(indim_generator *g, bool has_lines) {
  const indim_loop_program *program = g->e.program;
  size_t count = (size_t)program->value_count;
  INDIM_TRY(check_lanes(g->e.cx, program));
  INDIM_TRY(indim_arena_array(g->arena, count, sizeof *g->regs, (void **)&g->regs));
  INDIM_TRY(indim_arena_array(g->arena, count, sizeof *g->values, (void **)&g->values));
  INDIM_TRY(indim_arena_array(g->arena, count, sizeof *g->is_split, (void **)&g->is_split));
  if (count > 0) {
    memcpy(g->values, program->values, count * sizeof *g->values);
  }
  INDIM_TRY(indim_emit_legalize(program, g->arena, g->values, g->is_split));
  if (has_lines) {
    INDIM_TRY(indim_emit_lines_begin(g));
  }
  indim_emit_find_outlined(g);
  indim_status status = indim_emit_find_repeats(g, has_lines);
  status = status == INDIM_OK && !has_lines && g->most_nodes == 0 ? indim_emit_find_chunks(g) : status;
  status = status == INDIM_OK ? emit_function(g) : status;
  indim_emit_lines_end(g);
  return status;
}

static bool has_f16_arithmetic(const indim_target *target) {
  return target->has_f16 && !target->is_plain &&
         (indim_features_have(target->features, "avx512fp16") || indim_features_have(target->features, "fullfp16"));
}

indim_status indim_emit_program(const indim_emit_job *job, indim_arena *arena, LLVMContextRef context,
                                LLVMModuleRef module) {
  indim_generator g = {.e = {.cx = arena->cx,
                             .program = job->program,
                             .fast = job->fast,
                             .has_fma = job->program->target.has_fma,
                             .has_f16c = job->program->target.has_f16,
                             .has_f16_arithmetic = has_f16_arithmetic(&job->program->target),
                             .has_slow_subnormals =
                                 job->program->target.arch == INDIM_ARCH_X86_64 && (job->fast & INDIM_FAST_FLUSH) == 0,
                             .context = context,
                             .module = module},
                       .arena = arena,
                       .symbol = job->symbol == NULL ? "indim_program" : job->symbol,
                       .has_constants = job->has_constants,
                       .most_nodes = job->most_nodes,
                       .chunk = job->chunk > 0 ? job->chunk : INDIM_COST_CHUNK};
  g.e.builder = LLVMCreateBuilderInContext(context);
  indim_status status = fill_module(&g, job->has_lines);
  LLVMDisposeBuilder(g.e.builder);
  return status;
}
