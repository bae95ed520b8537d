// Loops and branches. A for is tested at its end, and before it only when its bounds do not prove that it runs; a while
// polls the host's stop word before every iteration, a long for from time to time. Results and carried values are phis,
// one for each part.
#include "emit/program/program.h"

#include <string.h>

// Phis ------------------------------------------------------------------------------------------------------------------

static indim_reg make_phi(indim_generator *g, const indim_reg *model) {
  indim_reg phi = {{NULL, NULL}};
  for (int32_t part = 0; part < 2 && model->part[part] != NULL; part++) {
    phi.part[part] = LLVMBuildPhi(g->e.builder, LLVMTypeOf(model->part[part]), "");
  }
  return phi;
}

// |count| values from |first| on become phis in the current block, without incoming values yet.
static void make_phis(indim_generator *g, indim_value_id first, int32_t count, const indim_value_id *like) {
  for (int32_t i = 0; i < count; i++) {
    g->regs[first + i] = make_phi(g, &g->regs[like[i]]);
  }
}

static void add_incoming(const indim_reg *phi, const indim_reg *value, LLVMBasicBlockRef from) {
  for (int32_t part = 0; part < 2 && phi->part[part] != NULL; part++) {
    LLVMValueRef incoming = value->part[part];
    LLVMAddIncoming(phi->part[part], &incoming, &from, 1);
  }
}

// Adds |values| from block |from| to the phis from |first| on.
static void feed_phis(indim_generator *g, indim_value_id first, int32_t count, const indim_value_id *values,
                      LLVMBasicBlockRef from) {
  for (int32_t i = 0; i < count; i++) {
    add_incoming(&g->regs[first + i], &g->regs[values[i]], from);
  }
}

// As many phis, with the values that come from |from|.
static void begin_phis(indim_generator *g, indim_value_id first, int32_t count, const indim_reg *initial,
                       LLVMBasicBlockRef from) {
  for (int32_t i = 0; i < count; i++) {
    g->regs[first + i] = make_phi(g, &initial[i]);
    add_incoming(&g->regs[first + i], &initial[i], from);
  }
}

// A value for a loop's next iteration. LLVM does not recognize it as an induction variable and so leaves the loop alone: loop
// strength reduction takes a third of its time, and addresses are formed so that there is nothing to gain (address.c). Where
// long sums of integers depend on a counter, as in a generator of random numbers, it takes minutes.
static LLVMValueRef hidden(indim_generator *g, LLVMValueRef next) {
  bool is_counted = LLVMIsAInstruction(next) != NULL && LLVMGetTypeKind(LLVMTypeOf(next)) == LLVMIntegerTypeKind &&
                    (LLVMGetInstructionOpcode(next) == LLVMAdd || LLVMGetInstructionOpcode(next) == LLVMSub);
  return is_counted ? LLVMBuildFreeze(g->e.builder, next, "") : next;
}

// What a loop's body yields, for the phis of its next iteration; at the end of the body.
static void feed_next(indim_generator *g, indim_value_id first, int32_t count, const indim_value_id *yields) {
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(g->e.builder);
  for (int32_t i = 0; i < count; i++) {
    indim_reg next = g->regs[yields[i]];
    for (int32_t part = 0; part < 2 && next.part[part] != NULL; part++) {
      next.part[part] = hidden(g, next.part[part]);
    }
    add_incoming(&g->regs[first + i], &next, latch);
  }
}

indim_status indim_emit_initial(indim_generator *g, const indim_loop_node *node, indim_reg **out) {
  int32_t skipped = node->kind == INDIM_NODE_FOR ? 2 : 0;
  int32_t count = node->arg_count - skipped;
  INDIM_TRY(indim_arena_array(g->arena, (size_t)count, sizeof **out, (void **)out));
  for (int32_t i = 0; i < count; i++) {
    (*out)[i] = g->regs[node->args[skipped + i]];
  }
  return INDIM_OK;
}

static void copy_regs(indim_generator *g, indim_value_id first, int32_t count, const indim_value_id *values) {
  for (int32_t i = 0; i < count; i++) {
    g->regs[first + i] = g->regs[values[i]];
  }
}

// For -------------------------------------------------------------------------------------------------------------------

indim_status indim_emit_loop_body(indim_generator *g, const indim_loop_body *body, LLVMBasicBlockRef before) {
  const indim_loop_body *outer = g->loop;
  LLVMBasicBlockRef outer_preheader = g->preheader;
  g->loop = body;
  g->preheader = before;
  INDIM_TRY(indim_emit_body(g, body));
  g->loop = outer;
  g->preheader = outer_preheader;
  return INDIM_OK;
}

// A loop that is known to run once: its body, without a loop.
static indim_status emit_once(indim_generator *g, const indim_loop_node *node) {
  const indim_loop_body *body = node->bodies[0];
  g->regs[body->first_parameter] = g->regs[node->args[0]];
  copy_regs(g, body->first_parameter + 1, node->arg_count - 2, node->args + 2);
  INDIM_TRY(indim_emit_body(g, body));
  copy_regs(g, node->first_result, node->result_count, body->yields);
  return INDIM_OK;
}

// Returns early when the host's stop word is not 0.
static void poll_stop(indim_generator *g) {
  LLVMBuilderRef b = g->e.builder;
  LLVMBasicBlockRef stopped = indim_emit_leave(g, INDIM_HOST_STOPPED);
  LLVMBasicBlockRef on = indim_emit_block(g, "");
  LLVMValueRef word = LLVMBuildLoad2(b, LLVMInt32TypeInContext(g->e.context), g->current->stop, "");
  LLVMSetVolatile(word, 1);
  LLVMSetAlignment(word, 4);
  LLVMBuildCondBr(b, LLVMBuildIsNull(b, word, ""), on, stopped);
  indim_emit_enter(g, on);
}

// The test of a loop: branches to |again| if |next| < |end|, else to |after|.
static void branch_if_below(indim_generator *g, LLVMValueRef next, LLVMValueRef end, LLVMBasicBlockRef again,
                            LLVMBasicBlockRef after) {
  LLVMBuildCondBr(g->e.builder, LLVMBuildICmp(g->e.builder, LLVMIntSLT, next, end, ""), again, after);
}

// A long loop of short iterations is strip-mined for polling, so that nothing is added to the iterations:
//
//   strip: polls, and sets limit = min(index + poll_interval * step, end)
//   for:   the iterations below limit
//   done:  continues with the next strip unless none is left
//
// Carried values are phis of both; those of the strip are in the node's results until the loop ends.
static LLVMValueRef begin_strip(indim_generator *g, const indim_loop_node *node, LLVMValueRef begin, LLVMValueRef end,
                                const indim_reg *initial, LLVMBasicBlockRef before, LLVMValueRef *out_limit) {
  LLVMBuilderRef b = g->e.builder;
  int32_t count = node->arg_count - 2;
  LLVMValueRef index = LLVMBuildPhi(b, indim_emit_s64_type(g), "from");
  LLVMAddIncoming(index, &begin, &before, 1);
  begin_phis(g, node->first_result, count, initial, before);
  poll_stop(g);
  int64_t length = node->u.loop.poll_interval * node->u.loop.step;  // shorter than the loop
  LLVMValueRef left = LLVMBuildSub(b, end, index, "");
  LLVMValueRef is_last = LLVMBuildICmp(b, LLVMIntULE, left, indim_emit_s64(g, length), "");
  LLVMValueRef limit = LLVMBuildAdd(b, index, indim_emit_s64(g, length), "");
  *out_limit = LLVMBuildSelect(b, is_last, end, limit, "");
  return index;
}

indim_status indim_emit_iterations(indim_generator *g, const indim_loop_node *node, LLVMValueRef begin,
                                   LLVMValueRef end, const indim_reg *initial, LLVMBasicBlockRef before,
                                   LLVMBasicBlockRef head, LLVMBasicBlockRef after, LLVMBasicBlockRef *out_last) {
  LLVMBuilderRef b = g->e.builder;
  const indim_loop_body *body = node->bodies[0];
  int32_t count = node->arg_count - 2;
  bool has_strips = node->u.loop.poll_interval > 1;
  LLVMBasicBlockRef loop = has_strips ? indim_emit_block(g, "for") : head;
  LLVMBasicBlockRef done = has_strips ? indim_emit_block(g, "") : after;
  LLVMBasicBlockRef from = before;
  LLVMValueRef first = begin;
  LLVMValueRef limit = end;
  indim_emit_enter(g, head);
  if (has_strips) {
    first = begin_strip(g, node, begin, end, initial, before, &limit);
    from = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, loop);
    indim_emit_enter(g, loop);
  }
  LLVMValueRef index = LLVMBuildPhi(b, indim_emit_s64_type(g), "i");
  g->regs[body->first_parameter].part[0] = index;
  LLVMAddIncoming(index, &first, &from, 1);
  begin_phis(g, body->first_parameter + 1, count, has_strips ? &g->regs[node->first_result] : initial, from);
  if (node->u.loop.poll_interval == 1) {
    poll_stop(g);
  }
  INDIM_TRY(indim_emit_loop_body(g, body, before));
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
  LLVMValueRef next = hidden(g, LLVMBuildNSWAdd(b, index, indim_emit_s64(g, node->u.loop.step), ""));
  LLVMAddIncoming(index, &next, &latch, 1);
  feed_next(g, body->first_parameter + 1, count, body->yields);
  branch_if_below(g, next, limit, loop, done);
  *out_last = latch;
  if (has_strips) {
    indim_emit_enter(g, done);
    LLVMAddIncoming(first, &next, &done, 1);
    feed_phis(g, node->first_result, count, body->yields, done);
    branch_if_below(g, next, end, head, after);
    *out_last = done;
  }
  return INDIM_OK;
}

bool indim_emit_never_runs(const indim_generator *g, const indim_loop_node *node) {
  return node->kind == INDIM_NODE_FOR &&
         indim_emit_value(g, node->args[0])->low >= indim_emit_value(g, node->args[1])->high;
}

static indim_status emit_for(indim_generator *g, const indim_loop_node *node) {
  LLVMBuilderRef b = g->e.builder;
  const indim_loop_body *body = node->bodies[0];
  const indim_loop_value *begin = indim_emit_value(g, node->args[0]);
  const indim_loop_value *end = indim_emit_value(g, node->args[1]);
  const indim_value_id *carried = node->args + 2;
  int32_t count = node->arg_count - 2;
  if (indim_emit_never_runs(g, node)) {
    copy_regs(g, node->first_result, count, carried);
    return INDIM_OK;
  }
  bool surely_runs = begin->high < end->low;
  if (surely_runs && begin->low >= end->high - node->u.loop.step) {
    return emit_once(g, node);
  }
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef head = indim_emit_block(g, "for");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMBasicBlockRef last = NULL;
  indim_reg *initial = NULL;
  INDIM_TRY(indim_emit_initial(g, node, &initial));
  LLVMValueRef begin_reg = g->regs[node->args[0]].part[0];
  LLVMValueRef end_reg = g->regs[node->args[1]].part[0];
  if (surely_runs) {
    LLVMBuildBr(b, head);
  } else {
    branch_if_below(g, begin_reg, end_reg, head, after);
  }
  INDIM_TRY(indim_emit_iterations(g, node, begin_reg, end_reg, initial, before, head, after, &last));
  indim_emit_enter(g, after);
  make_phis(g, node->first_result, count, carried);
  feed_phis(g, node->first_result, count, body->yields, last);
  if (!surely_runs) {
    feed_phis(g, node->first_result, count, carried, before);
  }
  return INDIM_OK;
}

// If --------------------------------------------------------------------------------------------------------------------

static indim_status emit_if(indim_generator *g, const indim_loop_node *node) {
  LLVMBuilderRef b = g->e.builder;
  LLVMBasicBlockRef blocks[] = {indim_emit_block(g, "then"), indim_emit_block(g, "else")};
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMBasicBlockRef ends[2];
  LLVMBuildCondBr(b, g->regs[node->args[0]].part[0], blocks[0], blocks[1]);
  for (int32_t side = 0; side < 2; side++) {
    indim_emit_enter(g, blocks[side]);
    INDIM_TRY(indim_emit_body(g, node->bodies[side]));
    ends[side] = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, after);
  }
  indim_emit_enter(g, after);
  make_phis(g, node->first_result, node->result_count, node->bodies[0]->yields);
  for (int32_t side = 0; side < 2; side++) {
    feed_phis(g, node->first_result, node->result_count, node->bodies[side]->yields, ends[side]);
  }
  return INDIM_OK;
}

// While -----------------------------------------------------------------------------------------------------------------

indim_status indim_emit_while(indim_generator *g, const indim_loop_node *node, const indim_reg *initial,
                              indim_reg *out) {
  LLVMBuilderRef b = g->e.builder;
  const indim_loop_body *test = node->bodies[0];
  const indim_loop_body *body = node->bodies[1];
  int32_t count = node->arg_count;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef head = indim_emit_block(g, "while");
  LLVMBuildBr(b, head);
  indim_emit_enter(g, head);
  begin_phis(g, test->first_parameter, count, initial, before);
  INDIM_TRY(indim_emit_body(g, test));
  LLVMBasicBlockRef do_block = indim_emit_block(g, "do");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMBuildCondBr(b, g->regs[test->yields[0]].part[0], do_block, after);
  indim_emit_enter(g, do_block);
  poll_stop(g);
  for (int32_t i = 0; i < count; i++) {
    g->regs[body->first_parameter + i] = g->regs[test->first_parameter + i];
  }
  INDIM_TRY(indim_emit_body(g, body));
  feed_next(g, test->first_parameter, count, body->yields);
  LLVMBuildBr(b, head);
  indim_emit_enter(g, after);
  memcpy(out, &g->regs[test->first_parameter], (size_t)count * sizeof *out);
  return INDIM_OK;
}

static indim_status emit_while(indim_generator *g, const indim_loop_node *node) {
  indim_reg *initial = NULL;
  INDIM_TRY(indim_emit_initial(g, node, &initial));
  return indim_emit_while(g, node, initial, &g->regs[node->first_result]);
}

indim_status indim_emit_control_node(indim_generator *g, const indim_loop_node *node) {
  if (node->kind == INDIM_NODE_IF) {
    return emit_if(g, node);
  }
  bool is_parallel = node->kind == INDIM_NODE_FOR && node->u.loop.is_parallel;
  if (g->current->loop == NULL && (is_parallel || indim_emit_is_repeated(g, node))) {
    return indim_emit_piece_loop(g, node);
  }
  return node->kind == INDIM_NODE_WHILE ? emit_while(g, node) : emit_for(g, node);
}
