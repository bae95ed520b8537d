// How much memory a compilation takes.
#include "pipeline/compilation.h"

// LLVM asks nobody for memory, so what it will take is estimated, by what the programs of the benchmark took: so much to
// begin with, for a value, and for a function like exp, of which a body has its own code for few (emit/program/outline.c). Its own
// code, 25 MB that all processes share, is not counted.
static uint64_t estimate_memory(const indim_loop_program *program, uint64_t *out_values) {
  enum { BEGIN = 1536 << 10, VALUE = 3 << 10, FUNCTION = 300 << 10, MOST_FUNCTIONS = 12 };
  uint64_t bytes = BEGIN;
  const indim_loop_body *body = NULL;
  int32_t functions = 0;
  *out_values = 0;
  for (const indim_loop_node *node = program->body->first; node != NULL; node = indim_loop_next(node)) {
    functions = node->body == body ? functions : 0;
    body = node->body;
    *out_values += (uint64_t)node->result_count;
    bytes += (uint64_t)node->result_count * VALUE;
    if (node->kind == INDIM_NODE_ELEMENTWISE && indim_op_is_function(node->u.op.op) && functions < MOST_FUNCTIONS) {
      functions++;
      bytes += FUNCTION;
    }
  }
  return bytes;
}

indim_status indim_compilation_check_memory(const indim_compilation *c) {
  const indim_ctx *cx = c->cx;
  uint64_t values = 0;
  uint64_t bytes = cx->bytes_limit == 0 ? 0 : estimate_memory(c->program, &values);
  if (cx->bytes_limit != 0 && (bytes > cx->bytes_limit || cx->bytes_in_use > cx->bytes_limit - bytes)) {
    indim_fail(c->cx, INDIM_LIMIT,
               "memory limit: %llu bytes are in use and compiling %llu values takes about %llu more, the limit is %llu",
               (unsigned long long)cx->bytes_in_use, (unsigned long long)values, (unsigned long long)bytes,
               (unsigned long long)cx->bytes_limit);
    indim_hint(c->cx, "raise the memory limit (--max-memory), or evaluate (--engine=eval)");
    return INDIM_LIMIT;
  }
  return INDIM_OK;
}
