// Function outlining: where one body computes the same costly function many times (tanh of 60 matrices), its code is
// emitted once, as a function of the module that is called; inlined, the code generator's time and the code would grow
// beyond what the caches hold. Fewer occurrences are inlined, as a call would cost more than it saves.
#include "emit/program/program.h"
#include "loop/target/cost.h"

static bool is_like(const indim_emit_outlined *o, const indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *result = indim_emit_value(g, node->first_result);
  return o->op == node->u.op.op && o->type == indim_emit_computed_type(g, node->first_result) &&
         o->lanes == result->lanes;
}

// Counts the functions of a body when the first of them is met.
static void count_body(indim_generator *g, const indim_loop_body *body) {
  g->outlined_body = body;
  g->outlined_count = 0;
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    if (node->kind != INDIM_NODE_ELEMENTWISE || !indim_op_is_function(node->u.op.op)) {
      continue;
    }
    int32_t i = 0;
    while (i < g->outlined_count && !is_like(&g->outlined[i], g, node)) {
      i++;
    }
    if (i == g->outlined_count && i < INDIM_EMIT_OUTLINED) {
      g->outlined[g->outlined_count++] = (indim_emit_outlined){.op = node->u.op.op,
                                                               .type = indim_emit_computed_type(g, node->first_result),
                                                               .lanes = indim_emit_value(g, node->first_result)->lanes};
    }
    if (i < g->outlined_count) {
      g->outlined[i].count++;
    }
  }
}

// Emits the outlined function.
static indim_status make_function(indim_generator *g, const indim_loop_node *node, const indim_type *types,
                                  LLVMTypeRef type, LLVMValueRef function) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  LLVMValueRef outer = g->e.function;
  indim_reg args[2] = {{{NULL, NULL}}};
  indim_reg result = {{NULL, NULL}};
  LLVMSetLinkage(function, LLVMInternalLinkage);
  indim_emit_mark_function(g, function);
  g->e.function = function;
  LLVMSetCurrentDebugLocation2(g->e.builder, NULL);
  LLVMPositionBuilderAtEnd(g->e.builder, LLVMAppendBasicBlockInContext(g->e.context, function, ""));
  for (int32_t k = 0; k < node->arg_count; k++) {
    args[k].part[0] = LLVMGetParam(function, (unsigned)k);
  }
  indim_status status =
      indim_emit_scalar(&g->e, &node->u.op, indim_emit_computed_type(g, node->first_result),
                        indim_emit_value(g, node->first_result)->lanes, node->arg_count, types, args, &result);
  LLVMBuildRet(g->e.builder, status == INDIM_OK ? result.part[0] : LLVMGetPoison(type));
  g->e.function = outer;
  LLVMPositionBuilderAtEnd(g->e.builder, here);
  indim_emit_lines_go_on(g);
  return status;
}

indim_status indim_emit_outlined_scalar(indim_generator *g, const indim_loop_node *node, const indim_type *types,
                                        const indim_reg *args, indim_reg *out, bool *out_done) {
  *out_done = false;
  if (!indim_op_is_function(node->u.op.op) || !indim_type_is_float(indim_emit_computed_type(g, node->first_result)) ||
      node->arg_count > 2) {
    return INDIM_OK;
  }
  if (g->outlined_body != node->body) {
    count_body(g, node->body);
  }
  int32_t i = 0;
  while (i < g->outlined_count && !is_like(&g->outlined[i], g, node)) {
    i++;
  }
  if (i == g->outlined_count || g->outlined[i].count < INDIM_COST_OUTLINED) {
    return INDIM_OK;
  }
  LLVMTypeRef type = LLVMTypeOf(args[0].part[0]);
  LLVMTypeRef parameters[2] = {type, type};
  LLVMValueRef values[2] = {args[0].part[0], args[node->arg_count - 1].part[0]};
  LLVMTypeRef function_type = LLVMFunctionType(type, parameters, (unsigned)node->arg_count, 0);
  if (g->outlined[i].function == NULL) {
    g->outlined[i].function = LLVMAddFunction(g->e.module, "function", function_type);
    INDIM_TRY(make_function(g, node, types, type, g->outlined[i].function));
  }
  out->part[0] =
      LLVMBuildCall2(g->e.builder, function_type, g->outlined[i].function, values, (unsigned)node->arg_count, "");
  *out_done = true;
  return INDIM_OK;
}
