// Computations that are inlined, one instruction after another: their memory, and the instructions that only move leaves.
#include "loop/regs/inline_scope.h"

#include <string.h>

enum { MAX_DEPTH = 500 };  // calls inside calls, as in the evaluator

indim_computation *indim_inline_called(const indim_instr *instr) {
  if (instr->op == INDIM_OP_FUSION) {
    return indim_instr_computation(instr, INDIM_ATTR_CALLS);
  }
  bool applies = instr->op == INDIM_OP_CALL || instr->op == INDIM_OP_MAP;
  return applies ? indim_instr_computation(instr, INDIM_ATTR_TO_APPLY) : NULL;
}

int32_t indim_inline_leaf_count(const indim_shape *shape) {
  return indim_shape_is_tuple(shape) ? (int32_t)shape->member_count : 1;
}

bool indim_inline_can(const indim_computation *computation, int32_t depth, int32_t *steps, indim_inline_can_fn *can) {
  if (computation == NULL || depth > MAX_DEPTH) {
    return false;
  }
  for (int32_t i = 0; i < computation->instr_count; i++) {
    if (!can(computation->instrs[i], depth, steps)) {
      return false;
    }
  }
  return true;
}

// Numbers the leaves of the instructions that the root depends on; returns their count.
static int32_t number_leaves(const indim_computation *computation, int32_t *first) {
  int32_t count = 0;
  for (int32_t i = 0; i < computation->instr_count; i++) {
    first[i] = -1;
  }
  first[computation->root->index] = 0;
  for (int32_t i = computation->root->index; i >= 0; i--) {
    const indim_instr *instr = computation->instrs[i];
    for (int32_t k = 0; first[i] >= 0 && k < instr->operand_count; k++) {
      first[instr->operands[k]->index] = 0;
    }
  }
  for (int32_t i = 0; i < computation->instr_count; i++) {
    if (first[i] >= 0) {
      first[i] = count;
      count += indim_inline_leaf_count(computation->instrs[i]->shape);
    }
  }
  return count;
}

static size_t first_bytes(const indim_inline_scope *f) {
  return (size_t)f->computation->instr_count * sizeof *f->first;
}

// False, with the builder failed, when out of memory.
static bool begin(indim_loop_builder *b, const indim_computation *computation, size_t leaf_bytes,
                  indim_inline_scope *out) {
  indim_ctx *cx = b->program->cx;
  void *memory = NULL;
  *out = (indim_inline_scope){.computation = computation, .leaf_bytes = leaf_bytes};
  indim_status status = indim_alloc(cx, first_bytes(out), &memory);
  if (status == INDIM_OK) {
    out->first = memory;
    out->leaf_count = number_leaves(computation, out->first);
    status = indim_alloc_zeroed(cx, (size_t)out->leaf_count * leaf_bytes, &memory);
    if (status == INDIM_OK) {
      out->leaves = memory;
      return true;
    }
    indim_free(cx, out->first, first_bytes(out));
  }
  indim_loop_fail(b, status);
  return false;
}

static void end(indim_loop_builder *b, const indim_inline_scope *f) {
  indim_free(b->program->cx, f->leaves, (size_t)f->leaf_count * f->leaf_bytes);
  indim_free(b->program->cx, f->first, first_bytes(f));
}

void *indim_inline_leaf(const indim_inline_scope *f, const indim_instr *instr) {
  return f->leaves + (size_t)f->first[instr->index] * f->leaf_bytes;
}

// Concatenates the leaves of all operands.
static void copy_operands(const indim_inline_scope *f, const indim_instr *instr, void *to) {
  char *at = to;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    size_t bytes = (size_t)indim_inline_leaf_count(instr->operands[i]->shape) * f->leaf_bytes;
    if (bytes > 0) {
      memcpy(at, indim_inline_leaf(f, instr->operands[i]), bytes);
    }
    at += bytes;
  }
}

// Sets the leaves of an |instr| that only moves leaves: a parameter takes its own of |args| (the leaves of all
// parameters), a tuple its operands', get-tuple-element one of its operand's. False for other ops.
static bool move(const indim_inline_scope *f, const indim_instr *instr, const void *args) {
  void *out = indim_inline_leaf(f, instr);
  const char *from = args;
  if (instr->op == INDIM_OP_TUPLE) {
    copy_operands(f, instr, out);
    return true;
  }
  if (instr->op == INDIM_OP_PARAMETER) {
    for (int64_t i = 0; i < instr->parameter_number; i++) {
      from += (size_t)indim_inline_leaf_count(f->computation->parameters[i]->shape) * f->leaf_bytes;
    }
  } else if (instr->op == INDIM_OP_GET_TUPLE_ELEMENT) {
    from = indim_inline_leaf(f, instr->operands[0]);
    from += (size_t)indim_instr_int(instr, INDIM_ATTR_INDEX, 0) * f->leaf_bytes;
  } else {
    return false;
  }
  size_t bytes = (size_t)indim_inline_leaf_count(instr->shape) * f->leaf_bytes;
  if (bytes > 0) {
    memcpy(out, from, bytes);
  }
  return true;
}

void indim_inline_run(indim_loop_builder *b, const indim_computation *computation, size_t leaf_bytes, const void *args,
                      indim_inline_run_fn *run, void *out) {
  indim_inline_scope f;
  if (!begin(b, computation, leaf_bytes, &f)) {
    return;
  }
  for (int32_t i = 0; i < computation->instr_count && b->status == INDIM_OK; i++) {
    const indim_instr *instr = computation->instrs[i];
    if (f.first[i] >= 0 && !move(&f, instr, args)) {
      run(b, &f, instr, indim_inline_leaf(&f, instr));
    }
  }
  size_t bytes = (size_t)indim_inline_leaf_count(computation->root->shape) * leaf_bytes;
  if (bytes > 0) {
    memcpy(out, indim_inline_leaf(&f, computation->root), bytes);
  }
  end(b, &f);
}

static size_t operands_bytes(const indim_inline_scope *f, const indim_instr *instr) {
  size_t count = 0;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    count += (size_t)indim_inline_leaf_count(instr->operands[i]->shape);
  }
  return count * f->leaf_bytes;
}

void *indim_inline_operands(indim_loop_builder *b, const indim_inline_scope *f, const indim_instr *instr) {
  void *operands = NULL;
  size_t bytes = operands_bytes(f, instr);
  indim_status status = indim_alloc(b->program->cx, bytes > 0 ? bytes : 1, &operands);
  if (status != INDIM_OK) {
    indim_loop_fail(b, status);
    return NULL;
  }
  copy_operands(f, instr, operands);
  return operands;
}

void indim_inline_release(indim_loop_builder *b, const indim_inline_scope *f, const indim_instr *instr,
                          void *operands) {
  size_t bytes = operands_bytes(f, instr);
  indim_free(b->program->cx, operands, bytes > 0 ? bytes : 1);
}
