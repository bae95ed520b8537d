// Loads, stores, copies and fills. An address is the storage's base and an element number; the constant of an affine
// element number goes into the displacement. Which instructions a form of access becomes:
//
//   lanes side by side          one vector access (masked: one masked access)
//   the same element            one load, repeated
//   backwards                   one vector access, reversed
//   2, 3 or 4 apart, loads      vector loads of the span, shuffled; never outside the span
//   anything else               an access for each lane; gathers and scatters where the target has good ones. A masked-off
//                               lane reads element 0 of the storage instead of its own, or jumps over its store.
#include "emit/program.h"

#include <string.h>

#include "base/size.h"

// Addresses -------------------------------------------------------------------------------------------------------------

static indim_type storage_type(const indim_generator *g, int32_t storage) {
  return g->e.program->storages[storage]->type;
}

// An integer as wide as one element in memory, for address arithmetic and moving elements whole.
static LLVMTypeRef element_type(indim_generator *g, indim_type type) {
  return LLVMIntTypeInContext(g->e.context, 8 * (unsigned)indim_type_bytes(type));
}

// What an element's address is a multiple of: its own size, or its parts'.
static unsigned element_alignment(indim_type type) {
  unsigned bytes = (unsigned)indim_type_bytes(type);
  return indim_type_is_complex(type) ? bytes / 2 : bytes;
}

static LLVMValueRef offset_pointer(indim_generator *g, LLVMTypeRef element, LLVMValueRef base, LLVMValueRef index,
                                   bool is_inside) {
  return is_inside ? LLVMBuildInBoundsGEP2(g->e.builder, element, base, &index, 1, "")
                   : LLVMBuildGEP2(g->e.builder, element, base, &index, 1, "");
}

static LLVMValueRef constant_base(indim_generator *g, const indim_storage *storage) {
  size_t bytes = (size_t)storage->elements * (size_t)indim_type_bytes(storage->type);
  LLVMValueRef data = LLVMConstStringInContext2(g->e.context, storage->data, bytes, 1);
  LLVMValueRef global = LLVMAddGlobal(g->e.module, LLVMTypeOf(data), "constant");
  LLVMSetInitializer(global, data);
  LLVMSetGlobalConstant(global, 1);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
  LLVMSetAlignment(global, 64);
  return global;
}

// Where a storage begins. Loaded once, in the entry block; a part of the scratch block is a displacement.
static LLVMValueRef storage_base(indim_generator *g, int32_t index) {
  const indim_storage *storage = g->e.program->storages[index];
  indim_emit_function *f = g->current;
  while (storage->kind == INDIM_STORAGE_SCRATCH && storage->shares != 0) {
    storage = g->e.program->storages[storage->shares - 1];
  }
  index = storage->index;
  if (storage->kind == INDIM_STORAGE_SCRATCH) {
    return offset_pointer(g, LLVMInt8TypeInContext(g->e.context), f->scratch, indim_emit_s64(g, storage->offset), true);
  }
  if (storage->kind == INDIM_STORAGE_CONSTANT) {
    g->constants[index] = g->constants[index] == NULL ? constant_base(g, storage) : g->constants[index];
    return g->constants[index];
  }
  if (f->bases[index] != NULL) {
    return f->bases[index];
  }
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  LLVMPositionBuilderAtEnd(g->e.builder, f->entry);
  LLVMValueRef table = storage->kind == INDIM_STORAGE_ARGUMENT ? f->arguments : f->results;
  LLVMTypeRef pointer = indim_emit_pointer_type(g);
  LLVMValueRef place = offset_pointer(g, pointer, table, indim_emit_s64(g, storage->number), true);
  f->bases[index] =
      LLVMBuildLoad2(g->e.builder, pointer, place, storage->kind == INDIM_STORAGE_ARGUMENT ? "arg" : "res");
  LLVMPositionBuilderAtEnd(g->e.builder, here);
  return f->bases[index];
}

// The node that gives a value, if its arguments are registers of this function: a piece knows of those outside only what
// was captured.
static const indim_loop_node *node_here(const indim_generator *g, indim_lval v) {
  const indim_loop_node *node = indim_emit_value(g, v)->node;
  return node != NULL && indim_emit_is_inside(node->body, g->current->body) ? node : NULL;
}

// A scalar address taken apart: base[variable] + constant elements.
typedef struct place {
  LLVMTypeRef element;
  LLVMValueRef base;  // with the variable part
  int64_t constant;
  bool is_inside;  // false: masked, so that the address itself may be anywhere
} place;

static place scalar_place(indim_generator *g, int32_t storage, indim_lval address, bool is_inside) {
  place out = {.element = element_type(g, storage_type(g, storage)), .is_inside = is_inside};
  const indim_loop_node *node = node_here(g, address);
  LLVMValueRef variable = g->regs[address].part[0];
  if (LLVMIsAConstantInt(variable) != NULL) {
    out.constant = LLVMConstIntGetSExtValue(variable);
    variable = NULL;
  } else if (node != NULL && node->kind == INDIM_NODE_AFFINE && node->u.affine.constant != 0) {
    out.constant = node->u.affine.constant;
    variable = indim_emit_affine_sum(g, node);
  }
  out.base = storage_base(g, storage);
  if (variable != NULL) {
    // The variable part alone may lie outside of the storage.
    out.base = offset_pointer(g, out.element, out.base, variable, is_inside && out.constant == 0);
  }
  return out;
}

// Element |further| from the place.
static LLVMValueRef place_pointer(indim_generator *g, const place *at, int64_t further) {
  int64_t constant = at->constant + further;
  return constant == 0 ? at->base : offset_pointer(g, at->element, at->base, indim_emit_s64(g, constant), false);
}

LLVMValueRef indim_emit_element(indim_generator *g, int32_t storage, indim_lval address) {
  place at = scalar_place(g, storage, address, true);
  return place_pointer(g, &at, 0);
}

// The number of an element for lane k of an address with lanes, as a scalar. What is affine in scalars and constants is
// computed so, instead of taking it out of a vector.
static bool is_lane_cheap(const indim_generator *g, indim_lval v, int32_t depth) {
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

static LLVMValueRef address_lane(indim_generator *g, indim_lval v, int32_t lane, int64_t *constant, bool is_cheap) {
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

// An access whose lanes are not side by side.
typedef struct lanes_access {
  int32_t storage;
  indim_lval address;
  int32_t lanes;
  int32_t stride;  // with a scalar address
  bool has_lanes;
  bool is_cheap;
  place at;              // with a scalar address
  LLVMValueRef mask;     // or NULL
  LLVMValueRef base;     // with an address with lanes
  LLVMValueRef indices;  // of all lanes, all of them readable; or NULL
  LLVMTypeRef element;   // as the unit of addresses
} lanes_access;

static lanes_access access_lanes(indim_generator *g, const indim_loop_node *node, int32_t lanes, LLVMValueRef mask) {
  lanes_access a = {.storage = node->u.memory.storage, .address = node->args[0], .lanes = lanes, .mask = mask};
  a.has_lanes = indim_emit_value(g, a.address)->lanes > 1;
  a.element = element_type(g, storage_type(g, a.storage));
  if (a.has_lanes) {
    a.base = storage_base(g, a.storage);
    a.is_cheap = is_lane_cheap(g, a.address, AFFINE_DEPTH);
  } else {
    a.stride = node->u.memory.lane_stride;
    a.at = scalar_place(g, a.storage, a.address, mask == NULL);
  }
  return a;
}

static LLVMValueRef mask_lane(indim_generator *g, LLVMValueRef mask, int32_t lanes, int32_t lane) {
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  return lanes == 1 ? mask : LLVMBuildExtractElement(g->e.builder, mask, LLVMConstInt(word, (unsigned)lane, 0), "");
}

static LLVMValueRef lane_pointer(indim_generator *g, const lanes_access *a, int32_t lane) {
  if (!a->has_lanes) {
    return place_pointer(g, &a->at, (int64_t)lane * a->stride);
  }
  if (a->indices != NULL) {
    LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
    LLVMValueRef index = LLVMBuildExtractElement(g->e.builder, a->indices, LLVMConstInt(word, (unsigned)lane, 0), "");
    index = LLVMBuildZExt(g->e.builder, index, indim_emit_s64_type(g), "");
    return offset_pointer(g, a->element, a->base, index, false);
  }
  int64_t constant = 0;
  LLVMValueRef index = address_lane(g, a->address, lane, &constant, a->is_cheap);
  place at = {.element = a->element, .base = a->base, .constant = constant};
  if (index != NULL) {
    at.base = offset_pointer(g, a->element, a->base, index, false);
  }
  return place_pointer(g, &at, 0);
}

// The element numbers of all lanes as a vector. In 32 bits when the storage is small enough for that, which halves the
// registers; what is cut off belongs to lanes that are switched off.
static LLVMValueRef index_vector(indim_generator *g, const lanes_access *a, bool is_narrow) {
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

// Lanes that are off get element 0 of the storage instead of their own, so that every lane may be read.
static void make_readable(indim_generator *g, lanes_access *a) {
  bool is_narrow = g->e.program->storages[a->storage]->elements <= INT32_MAX;
  if (a->lanes > 1 && (a->mask != NULL || (a->has_lanes && !a->is_cheap && is_narrow))) {
    LLVMValueRef indices = index_vector(g, a, is_narrow);
    if (a->mask != NULL) {
      indices = LLVMBuildSelect(g->e.builder, a->mask, indices, LLVMConstNull(LLVMTypeOf(indices)), "");
    }
    a->indices = indices;
    a->has_lanes = true;
    a->base = storage_base(g, a->storage);
  }
}

// The pointers as a vector, for gathers and scatters.
static LLVMValueRef pointer_vector(indim_generator *g, const lanes_access *a) {
  if (a->has_lanes) {
    return offset_pointer(g, a->element, a->base, g->regs[a->address].part[0], false);
  }
  LLVMValueRef steps = LLVMGetPoison(LLVMVectorType(indim_emit_s64_type(g), (unsigned)a->lanes));
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  for (int32_t k = 0; k < a->lanes; k++) {
    LLVMValueRef step = indim_emit_s64(g, a->at.constant + (int64_t)k * a->stride);
    steps = LLVMBuildInsertElement(g->e.builder, steps, step, LLVMConstInt(word, (unsigned)k, 0), "");
  }
  return offset_pointer(g, a->element, a->at.base, steps, false);
}

static bool can_gather(const indim_generator *g, indim_type type, int32_t lanes) {
  int32_t bytes = indim_type_bytes(type);
  return g->has_gather && (bytes == 4 || bytes == 8) && !indim_type_is_complex(type) && lanes >= 4 &&
         (lanes & (lanes - 1)) == 0;
}

// Loads -----------------------------------------------------------------------------------------------------------------

static LLVMValueRef plain_load(indim_generator *g, LLVMTypeRef type, LLVMValueRef pointer, indim_type element) {
  LLVMValueRef load = LLVMBuildLoad2(g->e.builder, type, pointer, "");
  LLVMSetAlignment(load, element_alignment(element));
  return load;
}

// The mask as it lies over memory: complex elements are two numbers each.
static LLVMValueRef memory_mask(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef mask) {
  int32_t map[2 * INDIM_EMIT_MAX_LANES];
  if (!indim_type_is_complex(type)) {
    return mask;
  }
  for (int32_t k = 0; k < 2 * lanes; k++) {
    map[k] = k / 2;
  }
  return indim_emit_shuffle(g, mask, NULL, 2 * lanes, map);
}

// Calls llvm.masked.load, store, gather or scatter, which are overloaded on the data and the pointer.
static LLVMValueRef masked_call(indim_generator *g, const char *name, LLVMTypeRef data, LLVMTypeRef pointer,
                                LLVMValueRef *args, unsigned count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMTypeRef overloads[] = {data, pointer};
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->e.module, id, overloads, 2);
  LLVMTypeRef type = LLVMIntrinsicGetType(g->e.context, id, overloads, 2);
  return LLVMBuildCall2(g->e.builder, type, function, args, count, "");
}

static LLVMValueRef alignment_argument(indim_generator *g, indim_type type) {
  return LLVMConstInt(LLVMInt32TypeInContext(g->e.context), element_alignment(type), 0);
}

// How many lanes a mask known beforehand switches on, when they are the first ones; -1 for any other mask.
static int32_t known_prefix(LLVMValueRef mask, int32_t lanes) {
  int32_t count = 0;
  bool has_ended = false;
  if (!LLVMIsConstant(mask)) {
    return -1;
  }
  for (int32_t k = 0; k < lanes; k++) {
    LLVMValueRef bit = LLVMGetAggregateElement(mask, (unsigned)k);
    if (bit == NULL || LLVMIsAConstantInt(bit) == NULL) {
      return -1;
    }
    bool is_on = LLVMConstIntGetZExtValue(bit) != 0;
    if (is_on && has_ended) {
      return -1;
    }
    has_ended = !is_on;
    count += is_on;
  }
  return count;
}

// Whether the target moves lanes of this type under a mask; otherwise LLVM would make a branch of every lane.
static bool has_masked_moves(const indim_generator *g, indim_type type) {
  int32_t vector = g->e.program->target.vector_bytes;
  return vector >= 64 || (vector == 32 && element_alignment(type) >= 4);
}

// The lanes that are on, one turn of a loop for each. Between loop_lanes_begin and loop_lanes_end the builder stands in
// the loop, |lane| being the number of the lane.
typedef struct lane_loop {
  LLVMBasicBlockRef loop, after;
  LLVMValueRef bits, lane;
} lane_loop;

static LLVMValueRef mask_bits(indim_generator *g, LLVMValueRef mask, int32_t lanes) {
  LLVMTypeRef bits = LLVMIntTypeInContext(g->e.context, (unsigned)lanes);
  return LLVMBuildZExt(g->e.builder, LLVMBuildBitCast(g->e.builder, mask, bits, ""), indim_emit_s64_type(g), "");
}

static lane_loop loop_lanes_begin(indim_generator *g, LLVMValueRef bits) {
  LLVMBuilderRef b = g->e.builder;
  lane_loop l = {.loop = indim_emit_block(g, "lanes"), .after = indim_emit_block(g, "")};
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBuildCondBr(b, LLVMBuildIsNull(b, bits, ""), l.after, l.loop);
  indim_emit_enter(g, l.loop);
  l.bits = LLVMBuildPhi(b, indim_emit_s64_type(g), "");
  LLVMAddIncoming(l.bits, &bits, &before, 1);
  LLVMValueRef args[] = {l.bits, LLVMConstAllOnes(LLVMInt1TypeInContext(g->e.context))};
  l.lane = indim_emit_intrinsic(&g->e, "llvm.cttz", 2, args);
  return l;
}

static void loop_lanes_end(indim_generator *g, const lane_loop *l) {
  LLVMBuilderRef b = g->e.builder;
  LLVMValueRef rest = LLVMBuildAnd(b, l->bits, LLVMBuildSub(b, l->bits, indim_emit_s64(g, 1), ""), "");
  LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
  LLVMAddIncoming(l->bits, &rest, &here, 1);
  LLVMBuildCondBr(b, LLVMBuildIsNull(b, rest, ""), l->after, l->loop);
  indim_emit_enter(g, l->after);
}

// One element from a place to another.
static void move_element(indim_generator *g, indim_type type, LLVMValueRef to, LLVMValueRef from) {
  LLVMValueRef x = plain_load(g, element_type(g, type), from, type);
  LLVMSetAlignment(LLVMBuildStore(g->e.builder, x, to), element_alignment(type));
}

static bool can_loop_lanes(int32_t lanes) { return lanes <= 64; }

// All lanes at once when all are on, else through a place on the stack.
static LLVMValueRef load_by_branch(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef pointer,
                                   LLVMValueRef mask) {
  LLVMBuilderRef b = g->e.builder;
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, type, lanes);
  LLVMBasicBlockRef blocks[] = {indim_emit_block(g, "all"), indim_emit_block(g, "some")};
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMValueRef slot = indim_emit_stack(g, memory, "");
  LLVMValueRef bits = mask_bits(g, mask, lanes);
  LLVMValueRef all = indim_emit_s64(g, lanes == 64 ? -1 : (int64_t)(((uint64_t)1 << lanes) - 1));
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, bits, all, ""), blocks[0], blocks[1]);
  indim_emit_enter(g, blocks[0]);
  LLVMValueRef values[] = {plain_load(g, memory, pointer, type), NULL};
  LLVMBuildBr(b, after);
  indim_emit_enter(g, blocks[1]);
  LLVMBuildStore(b, LLVMConstNull(memory), slot);
  lane_loop l = loop_lanes_begin(g, bits);
  LLVMTypeRef element = element_type(g, type);
  move_element(g, type, offset_pointer(g, element, slot, l.lane, true),
               offset_pointer(g, element, pointer, l.lane, false));
  loop_lanes_end(g, &l);
  values[1] = LLVMBuildLoad2(b, memory, slot, "");
  blocks[1] = LLVMGetInsertBlock(b);
  LLVMBuildBr(b, after);
  indim_emit_enter(g, after);
  LLVMValueRef phi = LLVMBuildPhi(b, memory, "");
  LLVMAddIncoming(phi, values, blocks, 2);
  return phi;
}

// The first |count| lanes; the rest is zero.
static LLVMValueRef load_prefix(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef pointer,
                                int32_t count) {
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, type, lanes);
  int32_t map[2 * INDIM_EMIT_MAX_LANES];
  if (count == 0) {
    return LLVMConstNull(memory);
  }
  LLVMValueRef some = plain_load(g, indim_emit_memory_type(&g->e, type, count), pointer, type);
  int32_t parts = indim_type_is_complex(type) ? 2 : 1;
  if (count * parts == 1) {
    LLVMValueRef zero = LLVMConstNull(LLVMInt32TypeInContext(g->e.context));
    return LLVMBuildInsertElement(g->e.builder, LLVMConstNull(memory), some, zero, "");
  }
  for (int32_t k = 0; k < parts * lanes; k++) {
    map[k] = k < parts * count ? k : parts * count;
  }
  return indim_emit_shuffle(g, some, LLVMConstNull(LLVMTypeOf(some)), parts * lanes, map);
}

// Lanes side by side, as memory holds them. Masked-off lanes are zero.
static LLVMValueRef load_contiguous(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef pointer,
                                    LLVMValueRef mask) {
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, type, lanes);
  int32_t prefix = mask == NULL ? lanes : known_prefix(mask, lanes);
  if (prefix == lanes) {
    return plain_load(g, memory, pointer, type);
  }
  if (prefix >= 0) {
    return load_prefix(g, type, lanes, pointer, prefix);
  }
  if (!has_masked_moves(g, type) && can_loop_lanes(lanes)) {
    return load_by_branch(g, type, lanes, pointer, mask);
  }
  LLVMValueRef args[] = {pointer, alignment_argument(g, type), memory_mask(g, type, lanes, mask),
                         LLVMConstNull(memory)};
  return masked_call(g, "llvm.masked.load", memory, LLVMTypeOf(pointer), args, 4);
}

// The span of lanes |stride| apart (2 to 4), loaded in vectors of |lanes| elements, the last of which ends with the
// span; then each lane is picked from its vector.
static LLVMValueRef load_span(indim_generator *g, indim_type type, int32_t lanes, const lanes_access *a) {
  enum { MOST = 64 };
  int32_t stride = a->stride < 0 ? -a->stride : a->stride;
  int32_t span = (lanes - 1) * stride + 1;
  int64_t start = a->stride < 0 ? -(int64_t)(span - 1) : 0;
  int32_t map[MOST];
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, type, lanes);
  LLVMValueRef out = NULL;
  int32_t done = 0;
  for (int32_t at = 0; at < span; at += lanes) {
    int32_t first = at + lanes <= span ? at : span - lanes;
    LLVMValueRef vector = plain_load(g, memory, place_pointer(g, &a->at, start + first), type);
    if (out == NULL) {
      out = vector;
      done = lanes;
      continue;
    }
    // Before the first merge |out| is the memory at the start of the span, afterwards lanes in ascending order.
    for (int32_t k = 0; k < lanes; k++) {
      int32_t from = k * stride;
      bool is_new = from >= done && from < first + lanes;
      map[k] = from >= first + lanes ? -1 : is_new ? lanes + from - first : done == lanes ? from : k;
    }
    out = indim_emit_shuffle(g, out, vector, lanes, map);
    done = first + lanes;
  }
  if (a->stride < 0) {
    for (int32_t k = 0; k < lanes; k++) {
      map[k] = lanes - 1 - k;
    }
    out = indim_emit_shuffle(g, out, NULL, lanes, map);
  }
  return out;
}

static indim_reg load_one(indim_generator *g, indim_type type, LLVMValueRef pointer) {
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, type, 1);
  return indim_emit_unpack(&g->e, type, 1, plain_load(g, memory, pointer, type));
}

// A lane that is off reads the storage's first element. The storage has one, or no lane is ever on.
static indim_reg load_each(indim_generator *g, indim_type type, lanes_access *a) {
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  indim_reg out = {{NULL, NULL}};
  if (a->lanes == 1) {
    LLVMValueRef pointer = lane_pointer(g, a, 0);
    if (a->mask != NULL) {
      pointer = LLVMBuildSelect(g->e.builder, a->mask, pointer, storage_base(g, a->storage), "");
    }
    return load_one(g, type, pointer);
  }
  make_readable(g, a);
  if (!indim_type_is_complex(type)) {
    LLVMTypeRef one = indim_emit_memory_type(&g->e, type, 1);
    LLVMValueRef all = LLVMGetPoison(indim_emit_memory_type(&g->e, type, a->lanes));
    for (int32_t k = 0; k < a->lanes; k++) {
      LLVMValueRef x = plain_load(g, one, lane_pointer(g, a, k), type);
      all = LLVMBuildInsertElement(g->e.builder, all, x, LLVMConstInt(word, (unsigned)k, 0), "");
    }
    return indim_emit_unpack(&g->e, type, a->lanes, all);
  }
  for (int32_t k = 0; k < a->lanes; k++) {
    indim_reg x = load_one(g, type, lane_pointer(g, a, k));
    for (int32_t part = 0; part < 2; part++) {
      out.part[part] = k == 0 ? LLVMGetPoison(indim_emit_part_type(&g->e, type, a->lanes)) : out.part[part];
      out.part[part] =
          LLVMBuildInsertElement(g->e.builder, out.part[part], x.part[part], LLVMConstInt(word, (unsigned)k, 0), "");
    }
  }
  return out;
}

static indim_reg load_gathered(indim_generator *g, indim_type type, const lanes_access *a) {
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, type, a->lanes);
  LLVMTypeRef bit = LLVMVectorType(LLVMInt1TypeInContext(g->e.context), (unsigned)a->lanes);
  LLVMValueRef pointers = pointer_vector(g, a);
  LLVMValueRef mask = a->mask == NULL ? LLVMConstAllOnes(bit) : a->mask;
  LLVMValueRef args[] = {pointers, alignment_argument(g, type), mask, LLVMConstNull(memory)};
  LLVMValueRef x = masked_call(g, "llvm.masked.gather", memory, LLVMTypeOf(pointers), args, 4);
  return indim_emit_unpack(&g->e, type, a->lanes, x);
}

static indim_reg reversed(indim_generator *g, int32_t lanes, indim_reg x) {
  int32_t map[INDIM_EMIT_MAX_LANES];
  for (int32_t k = 0; k < lanes; k++) {
    map[k] = lanes - 1 - k;
  }
  for (int32_t part = 0; part < 2 && x.part[part] != NULL; part++) {
    x.part[part] = indim_emit_shuffle(g, x.part[part], NULL, lanes, map);
  }
  return x;
}

// Every lane the same element, which is read when a lane is on.
static indim_reg load_repeated(indim_generator *g, indim_type type, lanes_access *a) {
  LLVMValueRef pointer = lane_pointer(g, a, 0);
  if (a->mask != NULL) {
    LLVMTypeRef bits = LLVMIntTypeInContext(g->e.context, (unsigned)a->lanes);
    LLVMValueRef word = LLVMBuildBitCast(g->e.builder, a->mask, bits, "");
    pointer = LLVMBuildSelect(g->e.builder, LLVMBuildIsNotNull(g->e.builder, word, ""), pointer,
                              storage_base(g, a->storage), "");
  }
  indim_reg x = load_one(g, type, pointer);
  for (int32_t part = 0; part < 2 && x.part[part] != NULL; part++) {
    x.part[part] = indim_emit_splat(g, x.part[part], a->lanes);
  }
  return x;
}

static indim_reg load_lanes(indim_generator *g, const indim_loop_node *node, indim_type type, int32_t lanes,
                            LLVMValueRef mask) {
  lanes_access a = access_lanes(g, node, lanes, mask);
  if (!a.has_lanes && lanes > 1 && a.stride == 1) {
    return indim_emit_unpack(&g->e, type, lanes, load_contiguous(g, type, lanes, place_pointer(g, &a.at, 0), mask));
  }
  if (!a.has_lanes && lanes > 1 && a.stride == -1) {
    indim_reg backwards = {{mask, NULL}};
    mask = mask == NULL ? NULL : reversed(g, lanes, backwards).part[0];
    LLVMValueRef pointer = place_pointer(g, &a.at, -(int64_t)(lanes - 1));
    return reversed(g, lanes, indim_emit_unpack(&g->e, type, lanes, load_contiguous(g, type, lanes, pointer, mask)));
  }
  if (!a.has_lanes && lanes > 1 && a.stride == 0) {
    return load_repeated(g, type, &a);
  }
  if (!a.has_lanes && mask == NULL && lanes > 1 && lanes <= 64 && a.stride <= 4 && a.stride >= -4 &&
      !indim_type_is_complex(type)) {
    return indim_emit_unpack(&g->e, type, lanes, load_span(g, type, lanes, &a));
  }
  return can_gather(g, type, lanes) ? load_gathered(g, type, &a) : load_each(g, type, &a);
}

static indim_reg select_lanes(indim_generator *g, LLVMValueRef mask, indim_reg on_true, indim_reg on_false) {
  for (int32_t part = 0; part < 2 && on_true.part[part] != NULL; part++) {
    on_true.part[part] = LLVMBuildSelect(g->e.builder, mask, on_true.part[part], on_false.part[part], "");
  }
  return on_true;
}

static indim_status emit_load(indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *result = indim_emit_value(g, node->first_result);
  const indim_storage *storage = g->e.program->storages[node->u.memory.storage];
  indim_reg *out = &g->regs[node->first_result];
  if (!node->u.memory.has_mask) {
    *out = load_lanes(g, node, result->type, result->lanes, NULL);
    return INDIM_OK;
  }
  indim_reg fill = g->regs[node->args[2]];
  LLVMValueRef mask = g->regs[node->args[1]].part[0];
  if (storage->elements == 0) {
    *out = fill;
    return INDIM_OK;
  }
  *out = select_lanes(g, mask, load_lanes(g, node, result->type, result->lanes, mask), fill);
  return INDIM_OK;
}

// Stores ----------------------------------------------------------------------------------------------------------------

static LLVMValueRef plain_store(indim_generator *g, LLVMValueRef value, LLVMValueRef pointer, indim_type element) {
  LLVMValueRef store = LLVMBuildStore(g->e.builder, value, pointer);
  LLVMSetAlignment(store, element_alignment(element));
  return store;
}

// Past the caches, where the address turns out to be aligned for that.
static void store_streamed(indim_generator *g, indim_type type, LLVMValueRef packed, int64_t bytes,
                           LLVMValueRef pointer) {
  LLVMBuilderRef b = g->e.builder;
  int64_t vector = g->e.program->target.vector_bytes;
  int64_t alignment = bytes < vector ? bytes : vector;
  LLVMBasicBlockRef streamed = indim_emit_block(g, "stream");
  LLVMBasicBlockRef plain = indim_emit_block(g, "plain");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMValueRef number = LLVMBuildPtrToInt(b, pointer, indim_emit_s64_type(g), "");
  LLVMValueRef low = LLVMBuildAnd(b, number, indim_emit_s64(g, alignment - 1), "");
  LLVMBuildCondBr(b, LLVMBuildIsNull(b, low, ""), streamed, plain);
  indim_emit_enter(g, streamed);
  LLVMValueRef store = LLVMBuildStore(b, packed, pointer);
  LLVMSetAlignment(store, (unsigned)alignment);
  LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(g->e.context), 1, 0));
  LLVMValueRef node = LLVMMetadataAsValue(g->e.context, LLVMMDNodeInContext2(g->e.context, &one, 1));
  LLVMSetMetadata(store, LLVMGetMDKindIDInContext(g->e.context, "nontemporal", 11), node);
  LLVMBuildBr(b, after);
  indim_emit_enter(g, plain);
  plain_store(g, packed, pointer, type);
  LLVMBuildBr(b, after);
  indim_emit_enter(g, after);
  g->current->has_streamed = true;
}

// All lanes at once when all are on, else from a place on the stack.
static void store_by_branch(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef packed,
                            LLVMValueRef pointer, LLVMValueRef mask) {
  LLVMBuilderRef b = g->e.builder;
  LLVMBasicBlockRef all = indim_emit_block(g, "all");
  LLVMBasicBlockRef some = indim_emit_block(g, "some");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMValueRef slot = indim_emit_stack(g, LLVMTypeOf(packed), "");
  LLVMValueRef bits = mask_bits(g, mask, lanes);
  LLVMValueRef every = indim_emit_s64(g, lanes == 64 ? -1 : (int64_t)(((uint64_t)1 << lanes) - 1));
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, bits, every, ""), all, some);
  indim_emit_enter(g, all);
  plain_store(g, packed, pointer, type);
  LLVMBuildBr(b, after);
  indim_emit_enter(g, some);
  LLVMBuildStore(b, packed, slot);
  lane_loop l = loop_lanes_begin(g, bits);
  LLVMTypeRef element = element_type(g, type);
  move_element(g, type, offset_pointer(g, element, pointer, l.lane, false),
               offset_pointer(g, element, slot, l.lane, true));
  loop_lanes_end(g, &l);
  LLVMBuildBr(b, after);
  indim_emit_enter(g, after);
}

static void store_prefix(indim_generator *g, indim_type type, LLVMValueRef packed, LLVMValueRef pointer,
                         int32_t count) {
  int32_t map[2 * INDIM_EMIT_MAX_LANES];
  int32_t parts = indim_type_is_complex(type) ? 2 : 1;
  if (count == 0) {
    return;
  }
  for (int32_t k = 0; k < parts * count; k++) {
    map[k] = k;
  }
  LLVMValueRef zero = LLVMConstNull(LLVMInt32TypeInContext(g->e.context));
  LLVMValueRef some = count * parts == 1 ? LLVMBuildExtractElement(g->e.builder, packed, zero, "")
                                         : indim_emit_shuffle(g, packed, NULL, parts * count, map);
  plain_store(g, some, pointer, type);
}

static void store_contiguous(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef packed,
                             LLVMValueRef pointer, LLVMValueRef mask) {
  int32_t prefix = mask == NULL ? lanes : known_prefix(mask, lanes);
  if (prefix == lanes) {
    plain_store(g, packed, pointer, type);
    return;
  }
  if (prefix >= 0) {
    store_prefix(g, type, packed, pointer, prefix);
    return;
  }
  if (!has_masked_moves(g, type) && can_loop_lanes(lanes)) {
    store_by_branch(g, type, lanes, packed, pointer, mask);
    return;
  }
  LLVMValueRef args[] = {packed, pointer, alignment_argument(g, type), memory_mask(g, type, lanes, mask)};
  masked_call(g, "llvm.masked.store", LLVMTypeOf(packed), LLVMTypeOf(pointer), args, 4);
}

// Element k of what pack gave.
static LLVMValueRef packed_lane(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef packed, int32_t lane) {
  if (lanes == 1) {
    return packed;
  }
  if (indim_type_is_complex(type)) {
    int32_t map[] = {2 * lane, 2 * lane + 1};
    return indim_emit_shuffle(g, packed, NULL, 2, map);
  }
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  return LLVMBuildExtractElement(g->e.builder, packed, LLVMConstInt(word, (unsigned)lane, 0), "");
}

// The same in a loop over the lanes that are on, values and element numbers on the stack.
static void store_in_loop(indim_generator *g, indim_type type, const lanes_access *a, LLVMValueRef packed) {
  LLVMBuilderRef b = g->e.builder;
  LLVMTypeRef s64 = indim_emit_s64_type(g);
  LLVMValueRef indices = index_vector(g, a, false);
  LLVMValueRef values = indim_emit_stack(g, LLVMTypeOf(packed), "");
  LLVMValueRef numbers = indim_emit_stack(g, LLVMTypeOf(indices), "");
  LLVMBuildStore(b, packed, values);
  LLVMBuildStore(b, indices, numbers);
  LLVMValueRef base = storage_base(g, a->storage);
  lane_loop l = loop_lanes_begin(g, mask_bits(g, a->mask, a->lanes));
  LLVMValueRef index = LLVMBuildLoad2(b, s64, offset_pointer(g, s64, numbers, l.lane, true), "");
  move_element(g, type, offset_pointer(g, a->element, base, index, false),
               offset_pointer(g, a->element, values, l.lane, true));
  loop_lanes_end(g, &l);
}

// One lane after another, so that of lanes with the same address the last one stays.
static void store_each(indim_generator *g, indim_type type, const lanes_access *a, LLVMValueRef packed) {
  if (a->mask != NULL && a->lanes > 8 && can_loop_lanes(a->lanes)) {
    store_in_loop(g, type, a, packed);
    return;
  }
  for (int32_t k = 0; k < a->lanes; k++) {
    LLVMBasicBlockRef next = NULL;
    if (a->mask != NULL) {
      LLVMValueRef is_on = mask_lane(g, a->mask, a->lanes, k);
      LLVMBasicBlockRef store = indim_emit_block(g, "");
      next = indim_emit_block(g, "");
      LLVMBuildCondBr(g->e.builder, is_on, store, next);
      indim_emit_enter(g, store);
    }
    plain_store(g, packed_lane(g, type, a->lanes, packed, k), lane_pointer(g, a, k), type);
    if (next != NULL) {
      LLVMBuildBr(g->e.builder, next);
      indim_emit_enter(g, next);
    }
  }
}

static void store_scattered(indim_generator *g, indim_type type, const lanes_access *a, LLVMValueRef packed) {
  LLVMTypeRef bit = LLVMVectorType(LLVMInt1TypeInContext(g->e.context), (unsigned)a->lanes);
  LLVMValueRef pointers = pointer_vector(g, a);
  LLVMValueRef mask = a->mask == NULL ? LLVMConstAllOnes(bit) : a->mask;
  LLVMValueRef args[] = {packed, pointers, alignment_argument(g, type), mask};
  masked_call(g, "llvm.masked.scatter", LLVMTypeOf(packed), LLVMTypeOf(pointers), args, 4);
}

static indim_status emit_store(indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *value = indim_emit_value(g, node->args[1]);
  indim_type type = value->type;
  int32_t lanes = value->lanes;
  LLVMValueRef mask = node->u.memory.has_mask ? g->regs[node->args[2]].part[0] : NULL;
  lanes_access a = access_lanes(g, node, lanes, mask);
  indim_reg x = g->regs[node->args[1]];
  if (!a.has_lanes && lanes > 1 && a.stride == -1) {
    indim_reg backwards = {{mask, NULL}};
    a.mask = mask == NULL ? NULL : reversed(g, lanes, backwards).part[0];
    a.at.constant -= lanes - 1;
    a.stride = 1;
    x = reversed(g, lanes, x);
  }
  LLVMValueRef packed = indim_emit_pack(&g->e, type, lanes, x);
  int64_t bytes = (int64_t)lanes * indim_type_bytes(type);
  if (!a.has_lanes && lanes > 1 && a.stride == 1 && mask == NULL && node->u.memory.non_temporal && bytes >= 16 &&
      (bytes & (bytes - 1)) == 0) {
    store_streamed(g, type, packed, bytes, place_pointer(g, &a.at, 0));
  } else if (!a.has_lanes && lanes > 1 && a.stride == 1) {
    store_contiguous(g, type, lanes, packed, place_pointer(g, &a.at, 0), a.mask);
  } else if (can_gather(g, type, lanes) && a.stride != 0) {
    store_scattered(g, type, &a, packed);
  } else {
    store_each(g, type, &a, packed);
  }
  return INDIM_OK;
}

// Copies and fills ------------------------------------------------------------------------------------------------------

static indim_status emit_copy(indim_generator *g, const indim_loop_node *node) {
  indim_type type = storage_type(g, node->u.move.to);
  int64_t bytes = 0;
  if (!indim_count_mul(node->u.move.count, indim_type_bytes(type), &bytes)) {
    return indim_fail(g->e.cx, INDIM_LIMIT, "a copy of %lld elements of %s", (long long)node->u.move.count,
                      indim_type_text(type));
  }
  unsigned alignment = element_alignment(type);
  LLVMValueRef to = indim_emit_element(g, node->u.move.to, node->args[0]);
  LLVMValueRef from = indim_emit_element(g, node->u.move.from, node->args[1]);
  if (bytes > 0) {
    // Not memcpy: a result may be a donated argument's buffer.
    LLVMValueRef size = indim_emit_s64(g, bytes);
    if (g->e.program->storages[node->u.move.to]->shares != 0) {
      // A result in the buffer of the argument that it may take over is there already.
      LLVMValueRef is_there = LLVMBuildICmp(g->e.builder, LLVMIntEQ, to, from, "");
      size = LLVMBuildSelect(g->e.builder, is_there, indim_emit_s64(g, 0), size, "");
    }
    LLVMBuildMemMove(g->e.builder, to, alignment, from, alignment, size);
  }
  return INDIM_OK;
}

// |count| vectors of |lanes| elements each, from |pointer| on.
static void fill_loop(indim_generator *g, indim_type type, LLVMValueRef packed, int64_t step, int64_t count,
                      LLVMValueRef pointer) {
  LLVMBuilderRef b = g->e.builder;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef loop = indim_emit_block(g, "fill");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMBuildBr(b, loop);
  indim_emit_enter(g, loop);
  LLVMValueRef index = LLVMBuildPhi(b, indim_emit_s64_type(g), "");
  plain_store(g, packed, offset_pointer(g, element_type(g, type), pointer, index, true), type);
  LLVMValueRef next = LLVMBuildNSWAdd(b, index, indim_emit_s64(g, step), "");
  LLVMValueRef values[] = {indim_emit_s64(g, 0), next};
  LLVMBasicBlockRef blocks[] = {before, loop};
  LLVMAddIncoming(index, values, blocks, 2);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, next, indim_emit_s64(g, count * step), ""), loop, after);
  indim_emit_enter(g, after);
}

// Vectors as far as they fit, the rest element by element. Bytes, and zeros, are for memset.
static indim_status emit_fill(indim_generator *g, const indim_loop_node *node) {
  indim_type type = storage_type(g, node->u.move.to);
  LLVMBuilderRef b = g->e.builder;
  LLVMValueRef pointer = indim_emit_element(g, node->u.move.to, node->args[0]);
  indim_reg x = g->regs[node->args[1]];
  LLVMValueRef one = indim_emit_pack(&g->e, type, 1, x);
  int64_t count = node->u.move.count;
  int64_t bytes = 0;
  if (!indim_count_mul(count, indim_type_bytes(type), &bytes)) {
    return indim_fail(g->e.cx, INDIM_LIMIT, "a fill of %lld elements of %s", (long long)count, indim_type_text(type));
  }
  bool is_zero = LLVMIsConstant(one) && LLVMIsNull(one);
  if (is_zero || indim_type_bytes(type) == 1) {
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->e.context);
    one = is_zero ? LLVMConstNull(byte) : LLVMBuildBitCast(b, one, byte, "");
    LLVMBuildMemSet(b, pointer, one, indim_emit_s64(g, bytes), element_alignment(type));
    return INDIM_OK;
  }
  int32_t lanes = g->e.program->target.vector_bytes / indim_type_bytes(type);
  lanes = lanes < 1 ? 1 : lanes;
  indim_reg all = {{indim_emit_splat(g, x.part[0], lanes), NULL}};
  all.part[1] = x.part[1] == NULL ? NULL : indim_emit_splat(g, x.part[1], lanes);
  int64_t vectors = count / lanes;
  if (vectors > 0) {
    fill_loop(g, type, indim_emit_pack(&g->e, type, lanes, all), lanes, vectors, pointer);
  }
  for (int64_t k = vectors * lanes; k < count; k++) {
    plain_store(g, one, offset_pointer(g, element_type(g, type), pointer, indim_emit_s64(g, k), true), type);
  }
  return INDIM_OK;
}

indim_status indim_emit_memory_node(indim_generator *g, const indim_loop_node *node) {
  if (node->kind == INDIM_NODE_LOAD) {
    return emit_load(g, node);
  }
  if (node->kind == INDIM_NODE_STORE) {
    return emit_store(g, node);
  }
  return node->kind == INDIM_NODE_COPY ? emit_copy(g, node) : emit_fill(g, node);
}
