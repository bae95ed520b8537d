// Addresses: a storage's base and an element number. The constant of an affine element number becomes the displacement,
// and what is affine lane by lane is computed in scalars.
#include "emit/program/access.h"
#include "emit/program/chunk.h"

#include <stdio.h>

indim_type indim_emit_storage_type(const indim_generator *g, int32_t storage) {
  return g->e.program->storages[storage]->type;
}

LLVMTypeRef indim_emit_element_type(indim_generator *g, indim_type type) {
  return LLVMIntTypeInContext(g->e.context, 8 * (unsigned)indim_type_bytes(type));
}

unsigned indim_emit_alignment(indim_type type) {
  unsigned bytes = (unsigned)indim_type_bytes(type);
  return indim_type_is_complex(type) ? bytes / 2 : bytes;
}

indim_type indim_emit_moved_type(const indim_generator *g, indim_type type) {
  return type == INDIM_C64 && indim_emit_has_words(g->e.program) ? INDIM_F64 : type;
}

LLVMValueRef indim_emit_as_moved(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef x) {
  LLVMTypeRef moved = indim_emit_memory_type(&g->e, indim_emit_moved_type(g, type), lanes);
  return LLVMBuildBitCast(g->e.builder, x, moved, "");
}

LLVMValueRef indim_emit_from_moved(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef x) {
  return LLVMBuildBitCast(g->e.builder, x, indim_emit_memory_type(&g->e, type, lanes), "");
}

LLVMValueRef indim_emit_offset(indim_generator *g, LLVMTypeRef element, LLVMValueRef base, LLVMValueRef index,
                               bool is_inside) {
  return is_inside ? LLVMBuildInBoundsGEP2(g->e.builder, element, base, &index, 1, "")
                   : LLVMBuildGEP2(g->e.builder, element, base, &index, 1, "");
}

static LLVMValueRef constant_base(indim_generator *g, const indim_storage *storage) {
  size_t bytes = (size_t)storage->elements * (size_t)indim_type_bytes(storage->type);
  char name[INDIM_EMIT_NAME];
  indim_emit_constant_name(storage, name);
  bool is_external = !g->has_constants && indim_emit_is_external(storage);
  LLVMValueRef data = is_external ? NULL : LLVMConstStringInContext2(g->e.context, storage->data, bytes, 1);
  LLVMTypeRef type = is_external ? LLVMArrayType2(LLVMInt8TypeInContext(g->e.context), bytes) : LLVMTypeOf(data);
  LLVMValueRef global = LLVMAddGlobal(g->e.module, type, name);
  if (!is_external) {
    LLVMSetInitializer(global, data);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
  }
  LLVMSetGlobalConstant(global, 1);
  LLVMSetAlignment(global, 64);
  return global;
}

void indim_emit_constant_name(const indim_storage *storage, char *out) {
  snprintf(out, INDIM_EMIT_NAME, "indim_constant_%d", (int)storage->index);
}

bool indim_emit_is_external(const indim_storage *storage) {
  enum { LARGE = 4096 };
  return storage->kind == INDIM_STORAGE_CONSTANT && storage->elements > LARGE / indim_type_bytes(storage->type);
}

// The storage that owns these bytes.
static const indim_storage *own_storage(const indim_generator *g, int32_t index) {
  const indim_storage *storage = g->e.program->storages[index];
  while (storage->kind == INDIM_STORAGE_SCRATCH && storage->shares != 0) {
    storage = g->e.program->storages[storage->shares - 1];
  }
  return storage;
}

int32_t indim_emit_owner(const indim_generator *g, int32_t storage) { return own_storage(g, storage)->index; }

LLVMValueRef indim_emit_storage_base(indim_generator *g, int32_t index) {
  const indim_storage *storage = own_storage(g, index);
  indim_emit_function *f = g->current;
  index = storage->index;
  if (f->bases[index] != NULL) {
    return f->bases[index];
  }
  if (storage->kind == INDIM_STORAGE_SCRATCH) {
    return indim_emit_offset(g, LLVMInt8TypeInContext(g->e.context), f->scratch, indim_emit_s64(g, storage->offset),
                             true);
  }
  if (storage->kind == INDIM_STORAGE_CONSTANT) {
    g->constants[index] = g->constants[index] == NULL ? constant_base(g, storage) : g->constants[index];
    return g->constants[index];
  }
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  LLVMPositionBuilderAtEnd(g->e.builder, f->entry);
  LLVMValueRef table = storage->kind == INDIM_STORAGE_ARGUMENT ? f->arguments : f->results;
  LLVMTypeRef pointer = indim_emit_pointer_type(g);
  LLVMValueRef field = indim_emit_offset(g, pointer, table, indim_emit_s64(g, storage->number), true);
  f->bases[index] =
      LLVMBuildLoad2(g->e.builder, pointer, field, storage->kind == INDIM_STORAGE_ARGUMENT ? "arg" : "res");
  LLVMPositionBuilderAtEnd(g->e.builder, here);
  return f->bases[index];
}

// The node that defines a value if its arguments are registers of this function: in a piece, outside values are
// available only if captured, in a chunk if taken.
static const indim_loop_node *node_here(const indim_generator *g, indim_value_id v) {
  const indim_loop_node *node = indim_emit_value(g, v)->node;
  const indim_loop_node *loop = g->current->loop;
  bool is_here = loop == NULL ? indim_emit_is_of_chunk(g, v) : node != NULL && indim_emit_is_in_loop(node->body, loop);
  return is_here ? node : NULL;
}

// An element number, decomposed: coefficients * values + constant.
typedef struct terms {
  indim_emit_pointer at;  // its base is set later
  bool is_outer[INDIM_EMIT_TERMS];
  int64_t constant;
} terms;

static void add_term(indim_generator *g, indim_value_id v, int64_t coefficient, terms *t) {
  LLVMValueRef value = g->regs[v].part[0];
  if (LLVMIsAConstantInt(value) != NULL) {
    t->constant = (int64_t)((uint64_t)t->constant + (uint64_t)coefficient * LLVMConstIntGetZExtValue(value));
    return;
  }
  t->is_outer[t->at.count] = g->loop != NULL && !indim_emit_is_inside(indim_emit_value(g, v)->body, g->loop);
  t->at.values[t->at.count] = value;
  t->at.coefficients[t->at.count++] = coefficient;
}

static terms collect_terms(indim_generator *g, indim_value_id address) {
  const indim_loop_node *node = node_here(g, address);
  terms t = {.constant = 0};
  if (node == NULL || node->kind != INDIM_NODE_AFFINE || node->arg_count > INDIM_EMIT_TERMS) {
    add_term(g, address, 1, &t);
    return t;
  }
  t.constant = node->u.affine.constant;
  // Positive terms first, so that a difference is one subtraction.
  for (int32_t sign = 1; sign >= -1; sign -= 2) {
    for (int32_t i = 0; i < node->arg_count; i++) {
      if ((node->u.affine.coefficients[i] > 0) == (sign > 0)) {
        add_term(g, node->args[i], node->u.affine.coefficients[i], &t);
      }
    }
  }
  return t;
}

static bool is_same_pointer(const indim_emit_pointer *a, const indim_emit_pointer *b) {
  bool is_same = a->body == b->body && a->base == b->base && a->element == b->element && a->count == b->count;
  for (int32_t i = 0; is_same && i < a->count; i++) {
    is_same = a->values[i] == b->values[i] && a->coefficients[i] == b->coefficients[i];
  }
  return is_same;
}

// The pointer that |at| describes, created unless the body has it already. A body's nodes are straight-line code: an
// earlier one dominates a later one.
static LLVMValueRef pointer_to(indim_generator *g, indim_emit_pointer *at) {
  for (int32_t i = 0; i < INDIM_EMIT_POINTERS; i++) {
    if (is_same_pointer(&g->pointers[i], at)) {
      return g->pointers[i].pointer;
    }
  }
  LLVMValueRef sum = NULL;
  for (int32_t i = 0; i < at->count; i++) {
    sum = indim_emit_add_scaled(g, sum, at->values[i], at->coefficients[i]);
  }
  // A part of the sum alone may lie outside the storage.
  at->pointer = sum == NULL ? at->base : indim_emit_offset(g, at->element, at->base, sum, false);
  g->pointers[g->pointer_count++ % INDIM_EMIT_POINTERS] = *at;
  return at->pointer;
}

// Adds the loop-invariant terms of |t|, or the variant ones, to |base|.
static LLVMValueRef add_terms(indim_generator *g, LLVMTypeRef element, LLVMValueRef base, const terms *t,
                              bool is_outer) {
  indim_emit_pointer at = {.body = is_outer ? g->loop : g->body, .base = base, .element = element};
  for (int32_t i = 0; i < t->at.count; i++) {
    if (t->is_outer[i] == is_outer) {
      at.values[at.count] = t->at.values[i];
      at.coefficients[at.count++] = t->at.coefficients[i];
    }
  }
  if (at.count == 0) {
    return base;
  }
  if (!is_outer) {
    return pointer_to(g, &at);
  }
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  LLVMPositionBuilderBefore(g->e.builder, LLVMGetBasicBlockTerminator(g->preheader));
  LLVMValueRef pointer = pointer_to(g, &at);
  LLVMPositionBuilderAtEnd(g->e.builder, here);
  indim_emit_lines_go_on(g);
  return pointer;
}

// What is invariant in the innermost loop is added to the base in its preheader, so that only the index is added
// inside; accesses that differ by a constant share their pointer. Scratch is one block: the offset of a storage there
// is a constant, too, unless the function is told where it is (piece.c).
static indim_emit_address scalar_address(indim_generator *g, int32_t storage, indim_value_id address) {
  indim_emit_address out = {.element = indim_emit_element_type(g, indim_emit_storage_type(g, storage))};
  const indim_storage *own = own_storage(g, storage);
  terms t = collect_terms(g, address);
  out.constant = t.constant;
  if (own->kind == INDIM_STORAGE_SCRATCH && g->current->bases[own->index] == NULL) {
    out.constant += own->offset / indim_type_bytes(indim_emit_storage_type(g, storage));
    out.base = g->current->scratch;
  } else {
    out.base = indim_emit_storage_base(g, storage);
  }
  out.base = add_terms(g, out.element, out.base, &t, true);
  out.base = add_terms(g, out.element, out.base, &t, false);
  return out;
}

LLVMValueRef indim_emit_address_pointer(indim_generator *g, const indim_emit_address *at, int64_t offset) {
  int64_t constant = at->constant + offset;
  return constant == 0 ? at->base : indim_emit_offset(g, at->element, at->base, indim_emit_s64(g, constant), false);
}

LLVMValueRef indim_emit_element(indim_generator *g, int32_t storage, indim_value_id address) {
  indim_emit_address at = scalar_address(g, storage, address);
  return indim_emit_address_pointer(g, &at, 0);
}

// Whether the element number of each lane of a vector address can be computed in scalars: if it is affine in scalars
// and constants, it is not extracted from a vector.
static bool is_lane_cheap(const indim_generator *g, indim_value_id v, int32_t depth) {
  const indim_loop_node *node = indim_emit_value(g, v)->node;
  if (node != NULL && (node->kind == INDIM_NODE_CONST || node->kind == INDIM_NODE_LANES)) {
    return true;
  }
  node = node_here(g, v);
  if (node == NULL || node->kind != INDIM_NODE_AFFINE) {
    return node != NULL && node->kind == INDIM_NODE_SPLAT;
  }
  for (int32_t i = 0; i < node->arg_count; i++) {
    if (depth == 0 || !is_lane_cheap(g, node->args[i], depth - 1)) {
      return false;
    }
  }
  return true;
}

enum { AFFINE_DEPTH = 4 };

static LLVMValueRef address_lane(indim_generator *g, indim_value_id v, int32_t lane, int64_t *constant, bool is_cheap) {
  const indim_loop_node *node = indim_emit_value(g, v)->node;
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  if (!is_cheap) {
    return LLVMBuildExtractElement(g->e.builder, g->regs[v].part[0], LLVMConstInt(word, (unsigned)lane, 0), "");
  }
  if (node->kind == INDIM_NODE_CONST) {
    *constant += (int64_t)node->u.constant.bits[0];
    return NULL;
  }
  if (node->kind == INDIM_NODE_LANES) {
    *constant += (int64_t)node->u.lanes.bits[2 * lane];
    return NULL;
  }
  if (node->kind == INDIM_NODE_SPLAT) {
    return g->regs[node->args[0]].part[0];
  }
  LLVMValueRef sum = NULL;
  *constant += node->u.affine.constant;
  for (int32_t i = 0; i < node->arg_count; i++) {
    int64_t inner = 0;
    int64_t coefficient = node->u.affine.coefficients[i];
    LLVMValueRef x = address_lane(g, node->args[i], lane, &inner, true);
    *constant += inner * coefficient;
    if (x != NULL) {
      x = coefficient == 1 ? x : LLVMBuildMul(g->e.builder, x, indim_emit_s64(g, coefficient), "");
      sum = sum == NULL ? x : LLVMBuildAdd(g->e.builder, sum, x, "");
    }
  }
  return sum;
}

// Pointers, one lane after another -------------------------------------------------------------------------------------

indim_emit_access_lanes indim_emit_access(indim_generator *g, const indim_loop_node *node, int32_t lanes,
                                          LLVMValueRef mask) {
  indim_emit_access_lanes a = {
      .storage = node->u.memory.storage, .address = node->args[0], .lanes = lanes, .mask = mask};
  a.has_lanes = indim_emit_value(g, a.address)->lanes > 1;
  a.stored = indim_emit_storage_type(g, a.storage);
  a.element = indim_emit_element_type(g, a.stored);
  if (a.has_lanes) {
    a.base = indim_emit_storage_base(g, a.storage);
    a.is_cheap = is_lane_cheap(g, a.address, AFFINE_DEPTH);
  } else {
    a.stride = node->u.memory.lane_stride;
    a.at = scalar_address(g, a.storage, a.address);
  }
  return a;
}

LLVMValueRef indim_emit_lane_pointer(indim_generator *g, const indim_emit_access_lanes *a, int32_t lane) {
  if (!a->has_lanes) {
    return indim_emit_address_pointer(g, &a->at, (int64_t)lane * a->stride);
  }
  if (a->indices != NULL) {
    LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
    LLVMValueRef index = LLVMBuildExtractElement(g->e.builder, a->indices, LLVMConstInt(word, (unsigned)lane, 0), "");
    index = LLVMBuildZExt(g->e.builder, index, indim_emit_s64_type(g), "");
    return indim_emit_offset(g, a->element, a->base, index, false);
  }
  int64_t constant = 0;
  LLVMValueRef index = address_lane(g, a->address, lane, &constant, a->is_cheap);
  indim_emit_address at = {.element = a->element, .base = a->base, .constant = constant};
  if (index != NULL) {
    at.base = indim_emit_offset(g, a->element, a->base, index, false);
  }
  return indim_emit_address_pointer(g, &at, 0);
}

LLVMValueRef indim_emit_index_vector(indim_generator *g, const indim_emit_access_lanes *a, bool is_narrow) {
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  LLVMTypeRef type = LLVMVectorType(is_narrow ? word : indim_emit_s64_type(g), (unsigned)a->lanes);
  LLVMValueRef scalar = g->regs[a->address].part[0];
  if (a->has_lanes) {
    return is_narrow ? LLVMBuildTrunc(g->e.builder, scalar, type, "") : scalar;
  }
  scalar = is_narrow ? LLVMBuildTrunc(g->e.builder, scalar, word, "") : scalar;
  LLVMValueRef steps = LLVMGetPoison(type);
  for (int32_t k = 0; k < a->lanes; k++) {
    LLVMValueRef step = indim_emit_int(&g->e, LLVMGetElementType(type), (uint64_t)((int64_t)k * a->stride));
    steps = LLVMBuildInsertElement(g->e.builder, steps, step, LLVMConstInt(word, (unsigned)k, 0), "");
  }
  return LLVMBuildAdd(g->e.builder, indim_emit_splat(g, scalar, a->lanes), steps, "");
}

LLVMValueRef indim_emit_pointer_vector(indim_generator *g, const indim_emit_access_lanes *a) {
  if (a->has_lanes) {
    return indim_emit_offset(g, a->element, a->base, g->regs[a->address].part[0], false);
  }
  LLVMValueRef steps = LLVMGetPoison(LLVMVectorType(indim_emit_s64_type(g), (unsigned)a->lanes));
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  for (int32_t k = 0; k < a->lanes; k++) {
    LLVMValueRef step = indim_emit_s64(g, a->at.constant + (int64_t)k * a->stride);
    steps = LLVMBuildInsertElement(g->e.builder, steps, step, LLVMConstInt(word, (unsigned)k, 0), "");
  }
  return indim_emit_offset(g, a->element, a->at.base, steps, false);
}

bool indim_emit_is_gatherable(const indim_generator *g, indim_type type, int32_t lanes) {
  int32_t bytes = indim_type_bytes(type);
  bool is_real = !indim_type_is_complex(indim_emit_moved_type(g, type));
  return (bytes == 4 || bytes == 8) && is_real && lanes >= 4 && (lanes & (lanes - 1)) == 0;
}
