// Loads. How each access pattern is lowered:
//
//   contiguous lanes            one vector access (masked: one masked access)
//   the same element            one load, splat
//   stride -1                   one vector access, reversed
//   stride 2, 3 or 4            vector loads, shuffled (interleave.c), also where it is known which lanes a mask has on; narrow
//                               ones of 6 and 8
//   anything else               a load per lane; a gather where the target has fast ones. A masked-off lane reads
//                               element 0 of the storage instead of its own.
#include "emit/program/access.h"

// One vector load when all lanes are on, else through a stack slot.
static LLVMValueRef load_by_branch(indim_generator *g, indim_type type, indim_type stored, int32_t lanes,
                                   LLVMValueRef pointer, LLVMValueRef mask) {
  LLVMBuilderRef b = g->e.builder;
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, type, lanes);
  LLVMBasicBlockRef blocks[] = {indim_emit_block(g, "all"), indim_emit_block(g, "some")};
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMValueRef slot = indim_emit_stack(g, memory, "");
  LLVMValueRef bits = indim_emit_mask_bits(g, mask, lanes);
  LLVMValueRef all = indim_emit_s64(g, lanes == 64 ? -1 : (int64_t)(((uint64_t)1 << lanes) - 1));
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, bits, all, ""), blocks[0], blocks[1]);
  indim_emit_enter(g, blocks[0]);
  LLVMValueRef values[] = {indim_emit_plain_load(g, memory, pointer, stored), NULL};
  LLVMBuildBr(b, after);
  indim_emit_enter(g, blocks[1]);
  LLVMBuildStore(b, LLVMConstNull(memory), slot);
  indim_emit_lane_loop l = indim_emit_lanes_begin(g, bits);
  LLVMTypeRef element = indim_emit_element_type(g, type);
  indim_emit_move_element(g, stored, indim_emit_offset(g, element, slot, l.lane, true),
                          indim_emit_offset(g, element, pointer, l.lane, false));
  indim_emit_lanes_end(g, &l);
  values[1] = indim_emit_loaded(g, LLVMBuildLoad2(b, memory, slot, ""));
  blocks[1] = LLVMGetInsertBlock(b);
  LLVMBuildBr(b, after);
  indim_emit_enter(g, after);
  LLVMValueRef phi = LLVMBuildPhi(b, memory, "");
  LLVMAddIncoming(phi, values, blocks, 2);
  return phi;
}

// The first |count| lanes; the rest is zero.
static LLVMValueRef load_prefix(indim_generator *g, indim_type type, indim_type stored, int32_t lanes,
                                LLVMValueRef pointer, int32_t count) {
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, type, lanes);
  int32_t map[2 * INDIM_EMIT_MAX_LANES];
  if (count == 0) {
    return LLVMConstNull(memory);
  }
  LLVMValueRef some = indim_emit_plain_load(g, indim_emit_memory_type(&g->e, type, count), pointer, stored);
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

// Contiguous lanes, in the memory type. Masked-off lanes are zero.
static LLVMValueRef load_contiguous(indim_generator *g, indim_type type, indim_type stored, int32_t lanes,
                                    LLVMValueRef pointer, LLVMValueRef mask) {
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, type, lanes);
  int32_t prefix = mask == NULL ? lanes : indim_emit_known_prefix(mask, lanes);
  if (prefix == lanes) {
    return indim_emit_plain_load(g, memory, pointer, stored);
  }
  if (prefix >= 0) {
    return load_prefix(g, type, stored, lanes, pointer, prefix);
  }
  if (!indim_emit_has_masked_moves(g, type) && indim_emit_can_loop_lanes(lanes)) {
    return load_by_branch(g, type, stored, lanes, pointer, mask);
  }
  LLVMValueRef args[] = {pointer, indim_emit_alignment_argument(g, stored),
                         indim_emit_memory_mask(g, type, lanes, mask), LLVMConstNull(memory)};
  return indim_emit_masked_call(g, "llvm.masked.load", memory, LLVMTypeOf(pointer), args, 4);
}

static indim_reg load_one(indim_generator *g, indim_type type, indim_type stored, LLVMValueRef pointer) {
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, type, 1);
  return indim_emit_unpack(&g->e, type, 1, indim_emit_plain_load(g, memory, pointer, stored));
}

// Masked-off lanes get element 0 of the storage instead of their own, so that every lane may be read.
static void make_readable(indim_generator *g, indim_emit_access_lanes *a) {
  bool is_narrow = g->e.program->storages[a->storage]->elements <= INT32_MAX;
  if (a->lanes > 1 && (a->mask != NULL || (a->has_lanes && !a->is_cheap && is_narrow))) {
    LLVMValueRef indices = indim_emit_index_vector(g, a, is_narrow);
    if (a->mask != NULL) {
      indices = LLVMBuildSelect(g->e.builder, a->mask, indices, LLVMConstNull(LLVMTypeOf(indices)), "");
    }
    a->indices = indices;
    a->has_lanes = true;
    a->base = indim_emit_storage_base(g, a->storage);
  }
}

// Masked-off lanes read the storage's first element. The storage has one, or no lane is ever on.
static indim_reg load_each(indim_generator *g, indim_type type, indim_emit_access_lanes *a) {
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  indim_reg out = {{NULL, NULL}};
  if (a->lanes == 1) {
    LLVMValueRef pointer = indim_emit_lane_pointer(g, a, 0);
    if (a->mask != NULL) {
      pointer = LLVMBuildSelect(g->e.builder, a->mask, pointer, indim_emit_storage_base(g, a->storage), "");
    }
    return load_one(g, type, a->stored, pointer);
  }
  make_readable(g, a);
  indim_type moved = indim_emit_moved_type(g, type);
  if (!indim_type_is_complex(moved)) {
    LLVMTypeRef one = indim_emit_memory_type(&g->e, moved, 1);
    LLVMValueRef all = LLVMGetPoison(indim_emit_memory_type(&g->e, moved, a->lanes));
    for (int32_t k = 0; k < a->lanes; k++) {
      LLVMValueRef x = indim_emit_plain_load(g, one, indim_emit_lane_pointer(g, a, k), a->stored);
      all = LLVMBuildInsertElement(g->e.builder, all, x, LLVMConstInt(word, (unsigned)k, 0), "");
    }
    return indim_emit_unpack(&g->e, type, a->lanes, indim_emit_from_moved(g, type, a->lanes, all));
  }
  if ((a->lanes & (a->lanes - 1)) == 0) {
    LLVMValueRef parts[INDIM_EMIT_MAX_LANES];
    LLVMTypeRef one = indim_emit_memory_type(&g->e, type, 1);
    for (int32_t k = 0; k < a->lanes; k++) {
      parts[k] = indim_emit_plain_load(g, one, indim_emit_lane_pointer(g, a, k), a->stored);
    }
    return indim_emit_unpack(&g->e, type, a->lanes, indim_emit_joined(g, parts, a->lanes, 2));
  }
  for (int32_t k = 0; k < a->lanes; k++) {
    indim_reg x = load_one(g, type, a->stored, indim_emit_lane_pointer(g, a, k));
    for (int32_t part = 0; part < 2; part++) {
      out.part[part] = k == 0 ? LLVMGetPoison(indim_emit_part_type(&g->e, type, a->lanes)) : out.part[part];
      out.part[part] =
          LLVMBuildInsertElement(g->e.builder, out.part[part], x.part[part], LLVMConstInt(word, (unsigned)k, 0), "");
    }
  }
  return out;
}

static indim_reg load_gathered(indim_generator *g, indim_type type, const indim_emit_access_lanes *a) {
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, indim_emit_moved_type(g, type), a->lanes);
  LLVMTypeRef bit = LLVMVectorType(LLVMInt1TypeInContext(g->e.context), (unsigned)a->lanes);
  LLVMValueRef pointers = indim_emit_pointer_vector(g, a);
  LLVMValueRef mask = a->mask == NULL ? LLVMConstAllOnes(bit) : a->mask;
  LLVMValueRef args[] = {pointers, indim_emit_alignment_argument(g, a->stored), mask, LLVMConstNull(memory)};
  LLVMValueRef x = indim_emit_masked_call(g, "llvm.masked.gather", memory, LLVMTypeOf(pointers), args, 4);
  return indim_emit_unpack(&g->e, type, a->lanes, indim_emit_from_moved(g, type, a->lanes, x));
}

// Every lane the same element, which is read if any lane is on.
static indim_reg load_repeated(indim_generator *g, indim_type type, indim_emit_access_lanes *a) {
  LLVMValueRef pointer = indim_emit_lane_pointer(g, a, 0);
  if (a->mask != NULL) {
    LLVMTypeRef bits = LLVMIntTypeInContext(g->e.context, (unsigned)a->lanes);
    LLVMValueRef word = LLVMBuildBitCast(g->e.builder, a->mask, bits, "");
    pointer = LLVMBuildSelect(g->e.builder, LLVMBuildIsNotNull(g->e.builder, word, ""), pointer,
                              indim_emit_storage_base(g, a->storage), "");
  }
  indim_reg x = load_one(g, type, a->stored, pointer);
  for (int32_t part = 0; part < 2 && x.part[part] != NULL; part++) {
    x.part[part] = indim_emit_splat(g, x.part[part], a->lanes);
  }
  return x;
}

static indim_reg load_lanes(indim_generator *g, const indim_loop_node *node, indim_type type, int32_t lanes,
                            LLVMValueRef mask) {
  indim_emit_access_lanes a = indim_emit_access(g, node, lanes, mask);
  if (!a.has_lanes && lanes > 1 && a.stride == 1) {
    return indim_emit_unpack(&g->e, type, lanes,
                             load_contiguous(g, type, a.stored, lanes, indim_emit_address_pointer(g, &a.at, 0), mask));
  }
  if (!a.has_lanes && lanes > 1 && a.stride == -1) {
    indim_reg backwards = {{mask, NULL}};
    mask = mask == NULL ? NULL : indim_emit_reversed(g, lanes, backwards).part[0];
    LLVMValueRef pointer = indim_emit_address_pointer(g, &a.at, -(int64_t)(lanes - 1));
    return indim_emit_reversed(
        g, lanes, indim_emit_unpack(&g->e, type, lanes, load_contiguous(g, type, a.stored, lanes, pointer, mask)));
  }
  if (!a.has_lanes && lanes > 1 && a.stride == 0) {
    return load_repeated(g, type, &a);
  }
  if (indim_emit_can_load_strided(g, &a, type)) {
    return indim_emit_unpack(&g->e, type, lanes, indim_emit_load_strided(g, type, &a));
  }
  // With a mask each lane would be a branch: a slow gather is faster.
  const indim_target *target = &g->e.program->target;
  bool is_fast = target->has_gather || (a.mask != NULL && target->has_scatter);
  bool gathers = is_fast && indim_emit_is_gatherable(g, type, lanes);
  return gathers ? load_gathered(g, type, &a) : load_each(g, type, &a);
}

static indim_reg select_lanes(indim_generator *g, LLVMValueRef mask, indim_reg on_true, indim_reg on_false) {
  for (int32_t part = 0; part < 2 && on_true.part[part] != NULL; part++) {
    on_true.part[part] = LLVMBuildSelect(g->e.builder, mask, on_true.part[part], on_false.part[part], "");
  }
  return on_true;
}

// A row of bf16, two to a word: the even lanes shifted to the upper halves of floats, the odd ones masked in place.
static indim_reg load_even_odd(indim_generator *g, const indim_loop_node *node, int32_t lanes) {
  LLVMBuilderRef b = g->e.builder;
  indim_emit_access_lanes a = indim_emit_access(g, node, lanes, NULL);
  LLVMTypeRef words = LLVMVectorType(LLVMInt32TypeInContext(g->e.context), (unsigned)lanes / 2);
  LLVMTypeRef floats = LLVMVectorType(LLVMFloatTypeInContext(g->e.context), (unsigned)lanes / 2);
  LLVMValueRef x = indim_emit_plain_load(g, words, indim_emit_address_pointer(g, &a.at, 0), INDIM_BF16);
  LLVMValueRef even = LLVMBuildShl(b, x, indim_emit_int(&g->e, words, 16), "");
  LLVMValueRef odd = LLVMBuildAnd(b, x, indim_emit_int(&g->e, words, 0xFFFF0000), "");
  return (indim_reg){{LLVMBuildBitCast(b, even, floats, ""), LLVMBuildBitCast(b, odd, floats, "")}};
}

void indim_emit_prefetch(indim_generator *g, LLVMValueRef pointer, int64_t offset, int64_t bytes, int32_t nearness,
                         bool is_store) {
  static const char name[] = "llvm.prefetch";
  unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
  if (id == 0) {
    return;
  }
  LLVMTypeRef type = indim_emit_pointer_type(g);
  LLVMTypeRef byte = LLVMInt8TypeInContext(g->e.context);
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->e.module, id, &type, 1);
  type = LLVMIntrinsicGetType(g->e.context, id, &type, 1);
  for (int64_t at = 0; at < bytes; at += INDIM_TARGET_LINE) {
    LLVMValueRef further = indim_emit_s64(g, offset + at);
    LLVMValueRef args[] = {LLVMBuildGEP2(g->e.builder, byte, pointer, &further, 1, ""),
                           LLVMConstInt(word, is_store ? 1 : 0, 0), LLVMConstInt(word, (unsigned)nearness, 0),
                           LLVMConstInt(word, 1, 0)};  // data cache
    LLVMBuildCall2(g->e.builder, type, function, args, 4, "");
  }
}

void indim_emit_prefetch_lanes(indim_generator *g, const indim_loop_node *node, int32_t lanes) {
  int64_t bytes = indim_type_bytes(indim_emit_storage_type(g, node->u.memory.storage));
  if (node->u.memory.prefetch != 0) {
    LLVMValueRef here = indim_emit_element(g, node->u.memory.storage, node->args[0]);
    indim_emit_prefetch(g, here, node->u.memory.prefetch * bytes, lanes * bytes, 3, node->kind == INDIM_NODE_STORE);
  }
}

indim_status indim_emit_load(indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *result = indim_emit_value(g, node->first_result);
  const indim_storage *storage = g->e.program->storages[node->u.memory.storage];
  indim_reg *out = &g->regs[node->first_result];
  indim_emit_prefetch_lanes(g, node, result->lanes);
  if (g->is_split[node->first_result]) {
    *out = load_even_odd(g, node, result->lanes);
    return INDIM_OK;
  }
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
