// Function outlining: where one body computes the same costly function many times (tanh of 60 matrices), its code is
// emitted once, as a function of the module that is called; inlined, the code generator's time and the code would grow
// beyond what the caches hold. Fewer occurrences are inlined, as a call would cost more than it saves; but outside of loops, and
// where a value takes several registers and the function is as many times as long, all occurrences in the program count. Functions of
// complex numbers are some of real ones each, so fewer of them are inlined.
#include "array/float_format.h"
#include "emit/program/program.h"
#include "loop/target/cost.h"

// The lanes of one call: those of many registers are computed some at a time, since code for all of them would be as many times as
// long, with all its values on the stack.
static int32_t lanes_of_call(const indim_generator *g, indim_type type, int32_t lanes) {
  int32_t most = INDIM_COST_OUTLINED_REGISTERS * g->e.program->target.vector_bytes / indim_type_bytes(type);
  bool has_halves = most > 0 && (most & (most - 1)) == 0 && (lanes & (lanes - 1)) == 0;
  return has_halves && lanes > most ? most : lanes;
}

// What a node calls, without its counts.
static indim_emit_outlined called_by(const indim_generator *g, const indim_loop_node *node) {
  indim_type type = indim_emit_computed_type(g, node->first_result);
  int32_t lanes = lanes_of_call(g, type, indim_emit_value(g, node->first_result)->lanes);
  return (indim_emit_outlined){.op = node->u.op.op, .type = type, .lanes = lanes};
}

static int32_t find(const indim_generator *g, const indim_loop_node *node) {
  indim_emit_outlined called = called_by(g, node);
  for (int32_t i = 0; i < g->outlined_count; i++) {
    const indim_emit_outlined *o = &g->outlined[i];
    if (o->op == called.op && o->type == called.type && o->lanes == called.lanes) {
      return i;
    }
  }
  return -1;
}

// A power whose exponent is a constant that makes it a few products: as an argument, it would be unknown.
static bool is_simple_power(const indim_generator *g, const indim_loop_node *node) {
  if (node->u.op.op != INDIM_OP_POWER) {
    return false;
  }
  const indim_loop_value *exponent = indim_emit_value(g, node->args[1]);
  return exponent->node != NULL && exponent->node->kind == INDIM_NODE_CONST && indim_type_is_float(exponent->type) &&
         indim_emit_is_simple_power(indim_float_decode(exponent->type, exponent->node->u.constant.bits[0]));
}

static bool is_function(const indim_generator *g, const indim_loop_node *node) {
  return node->kind == INDIM_NODE_ELEMENTWISE && indim_op_is_function(node->u.op.op) && !is_simple_power(g, node);
}

// How often a node calls the function.
static int32_t calls_of(const indim_generator *g, const indim_loop_node *node, const indim_emit_outlined *o) {
  return indim_emit_value(g, node->first_result)->lanes / o->lanes;
}

void indim_emit_find_outlined(indim_generator *g) {
  for (const indim_loop_node *node = g->e.program->body->first; node != NULL; node = indim_loop_next(node)) {
    if (!is_function(g, node)) {
      continue;
    }
    int32_t i = find(g, node);
    if (i < 0 && g->outlined_count < INDIM_EMIT_OUTLINED) {
      i = g->outlined_count++;
      g->outlined[i] = called_by(g, node);
    }
    if (i >= 0) {
      g->outlined[i].total += calls_of(g, node, &g->outlined[i]);
    }
  }
}

// Counts the functions of a body when the first of them is met.
static void count_body(indim_generator *g, const indim_loop_body *body) {
  g->outlined_body = body;
  for (int32_t i = 0; i < g->outlined_count; i++) {
    g->outlined[i].count = 0;
  }
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    int32_t i = is_function(g, node) ? find(g, node) : -1;
    if (i >= 0) {
      g->outlined[i].count += calls_of(g, node, &g->outlined[i]);
    }
  }
}

// The innermost loop around a body; NULL if there is none.
static const indim_loop_node *loop_around(const indim_loop_body *body) {
  while (body->owner != NULL && body->owner->kind == INDIM_NODE_IF) {
    body = body->outer;
  }
  return body->owner;
}

// Loops over elements are where programs spend their time: functions of one register are inlined there, unless they are many.
static bool is_worth_it(const indim_generator *g, const indim_emit_outlined *o, const indim_loop_body *body) {
  int64_t bytes = (int64_t)o->lanes * indim_type_bytes(o->type);
  int64_t registers = (bytes + g->e.program->target.vector_bytes - 1) / g->e.program->target.vector_bytes;
  const indim_loop_node *loop = loop_around(body);
  bool is_hot = loop != NULL && loop->kind == INDIM_NODE_FOR;
  int64_t here = is_hot ? registers : registers * o->count;
  bool is_wide = loop == NULL || here >= INDIM_COST_OUTLINED_REGISTERS;
  int32_t most = o->total > 1 && indim_type_is_complex(o->type) ? INDIM_COST_OUTLINED_COMPLEX : INDIM_COST_OUTLINED;
  return o->count >= most || (is_wide && registers * o->total >= most);
}

// Of real numbers a vector, of complex ones the vectors of both parts.
static LLVMTypeRef result_type(const indim_generator *g, indim_type type, LLVMTypeRef part) {
  LLVMTypeRef parts[2] = {part, part};
  return indim_type_is_complex(type) ? LLVMStructTypeInContext(g->e.context, parts, 2, 0) : part;
}

static void build_return(indim_generator *g, indim_status status, indim_type type, LLVMTypeRef part,
                         const indim_reg *result) {
  LLVMValueRef whole = LLVMGetPoison(result_type(g, type, part));
  if (status == INDIM_OK && indim_type_is_complex(type)) {
    whole = LLVMBuildInsertValue(g->e.builder, whole, result->part[0], 0, "");
    whole = LLVMBuildInsertValue(g->e.builder, whole, result->part[1], 1, "");
  } else if (status == INDIM_OK) {
    whole = result->part[0];
  }
  LLVMBuildRet(g->e.builder, whole);
}

// Emits the outlined function.
static indim_status make_function(indim_generator *g, const indim_loop_node *node, const indim_type *types,
                                  LLVMTypeRef part, int32_t lanes, LLVMValueRef function) {
  indim_type type = indim_emit_computed_type(g, node->first_result);
  int32_t part_count = indim_type_is_complex(type) ? 2 : 1;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  LLVMValueRef outer = g->e.function;
  indim_reg args[2] = {{{NULL, NULL}}};
  indim_reg result = {{NULL, NULL}};
  LLVMSetLinkage(function, LLVMInternalLinkage);
  indim_emit_mark_function(g, function);
  g->e.function = function;
  LLVMSetCurrentDebugLocation2(g->e.builder, NULL);
  LLVMPositionBuilderAtEnd(g->e.builder, LLVMAppendBasicBlockInContext(g->e.context, function, ""));
  for (int32_t k = 0; k < node->arg_count * part_count; k++) {
    args[k / part_count].part[k % part_count] = LLVMGetParam(function, (unsigned)k);
  }
  indim_status status = indim_emit_scalar(&g->e, &node->u.op, type, lanes, node->arg_count, types, args, &result);
  build_return(g, status, type, part, &result);
  g->e.function = outer;
  LLVMPositionBuilderAtEnd(g->e.builder, here);
  indim_emit_lines_go_on(g);
  return status;
}

static LLVMValueRef lanes_from(indim_generator *g, LLVMValueRef value, int32_t first, int32_t lanes) {
  int32_t map[INDIM_EMIT_MAX_LANES];
  for (int32_t k = 0; k < lanes; k++) {
    map[k] = first + k;
  }
  return indim_emit_shuffle(g, value, NULL, lanes, map);
}

// The parts of one number of lanes each, a power of two of them, one behind the other.
static LLVMValueRef all_lanes(indim_generator *g, const indim_reg *parts, int32_t count, int part) {
  if (count == 1) {
    return parts->part[part];
  }
  LLVMValueRef low = all_lanes(g, parts, count / 2, part);
  LLVMValueRef high = all_lanes(g, parts + count / 2, count / 2, part);
  int32_t map[INDIM_EMIT_MAX_LANES];
  int32_t lanes = 2 * (int32_t)LLVMGetVectorSize(LLVMTypeOf(low));
  for (int32_t k = 0; k < lanes; k++) {
    map[k] = k;
  }
  return indim_emit_shuffle(g, low, high, lanes, map);
}

indim_status indim_emit_outlined_scalar(indim_generator *g, const indim_loop_node *node, const indim_type *types,
                                        const indim_reg *args, indim_reg *out, bool *out_done) {
  *out_done = false;
  indim_type computed = indim_emit_computed_type(g, node->first_result);
  bool is_complex = indim_type_is_complex(computed);
  if (!is_function(g, node) || !(indim_type_is_float(computed) || is_complex) || node->arg_count > 2) {
    return INDIM_OK;
  }
  if (g->outlined_body != node->body) {
    count_body(g, node->body);
  }
  int32_t i = find(g, node);
  if (i < 0 || !is_worth_it(g, &g->outlined[i], node->body)) {
    return INDIM_OK;
  }
  int32_t calls = calls_of(g, node, &g->outlined[i]);
  LLVMTypeRef part = LLVMTypeOf(args[0].part[0]);
  part = calls == 1 ? part : LLVMVectorType(LLVMGetElementType(part), (unsigned)g->outlined[i].lanes);
  LLVMTypeRef parameters[4] = {part, part, part, part};
  unsigned count = (unsigned)(node->arg_count * (is_complex ? 2 : 1));
  LLVMTypeRef function_type = LLVMFunctionType(result_type(g, computed, part), parameters, count, 0);
  if (g->outlined[i].function == NULL) {
    g->outlined[i].function = LLVMAddFunction(g->e.module, "function", function_type);
    INDIM_TRY(make_function(g, node, types, part, g->outlined[i].lanes, g->outlined[i].function));
  }
  indim_reg results[INDIM_EMIT_MAX_LANES];
  for (int32_t c = 0; c < calls; c++) {
    LLVMValueRef values[4];
    for (unsigned k = 0; k < count; k++) {
      LLVMValueRef value = is_complex ? args[k / 2].part[k % 2] : args[k].part[0];
      values[k] = calls == 1 ? value : lanes_from(g, value, c * g->outlined[i].lanes, g->outlined[i].lanes);
    }
    LLVMValueRef result = LLVMBuildCall2(g->e.builder, function_type, g->outlined[i].function, values, count, "");
    results[c].part[0] = is_complex ? LLVMBuildExtractValue(g->e.builder, result, 0, "") : result;
    results[c].part[1] = is_complex ? LLVMBuildExtractValue(g->e.builder, result, 1, "") : NULL;
  }
  out->part[0] = all_lanes(g, results, calls, 0);
  out->part[1] = is_complex ? all_lanes(g, results, calls, 1) : NULL;
  *out_done = true;
  return INDIM_OK;
}
