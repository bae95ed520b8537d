// Stores: contiguous lanes are one vector access, stride -1 as well; any other pattern is a store per lane, in order,
// or a scatter where the target has fast ones; several that together cover a range of memory are interleaved
// (interleave.c). A masked-off lane accesses nothing.
#include "emit/program/access.h"

// One vector store when all lanes are on, else from a stack slot.
static void store_by_branch(indim_generator *g, indim_type stored, int32_t lanes, LLVMValueRef packed,
                            LLVMValueRef pointer, LLVMValueRef mask) {
  LLVMBuilderRef b = g->e.builder;
  LLVMBasicBlockRef all = indim_emit_block(g, "all");
  LLVMBasicBlockRef some = indim_emit_block(g, "some");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMValueRef slot = indim_emit_stack(g, LLVMTypeOf(packed), "");
  LLVMValueRef bits = indim_emit_mask_bits(g, mask, lanes);
  LLVMValueRef every = indim_emit_s64(g, lanes == 64 ? -1 : (int64_t)(((uint64_t)1 << lanes) - 1));
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, bits, every, ""), all, some);
  indim_emit_enter(g, all);
  indim_emit_plain_store(g, packed, pointer, stored);
  LLVMBuildBr(b, after);
  indim_emit_enter(g, some);
  LLVMBuildStore(b, packed, slot);
  indim_emit_lane_loop l = indim_emit_lanes_begin(g, bits);
  LLVMTypeRef element = indim_emit_element_type(g, stored);
  indim_emit_move_element(g, stored, indim_emit_offset(g, element, pointer, l.lane, false),
                          indim_emit_offset(g, element, slot, l.lane, true));
  indim_emit_lanes_end(g, &l);
  LLVMBuildBr(b, after);
  indim_emit_enter(g, after);
}

static void store_prefix(indim_generator *g, indim_type type, indim_type stored, LLVMValueRef packed,
                         LLVMValueRef pointer, int32_t count) {
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
  indim_emit_plain_store(g, some, pointer, stored);
}

static void store_contiguous(indim_generator *g, indim_type type, indim_type stored, int32_t lanes, LLVMValueRef packed,
                             LLVMValueRef pointer, LLVMValueRef mask) {
  int32_t prefix = mask == NULL ? lanes : indim_emit_known_prefix(mask, lanes);
  if (prefix == lanes) {
    indim_emit_plain_store(g, packed, pointer, stored);
    return;
  }
  if (prefix >= 0) {
    store_prefix(g, type, stored, packed, pointer, prefix);
    return;
  }
  if (!indim_emit_has_masked_moves(g, type) && indim_emit_can_loop_lanes(lanes)) {
    store_by_branch(g, stored, lanes, packed, pointer, mask);
    return;
  }
  LLVMValueRef args[] = {packed, pointer, indim_emit_alignment_argument(g, stored),
                         indim_emit_memory_mask(g, type, lanes, mask)};
  indim_emit_masked_call(g, "llvm.masked.store", LLVMTypeOf(packed), LLVMTypeOf(pointer), args, 4);
}

// Element k of the result of indim_emit_as_moved.
static LLVMValueRef packed_lane(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef packed, int32_t lane) {
  if (lanes == 1) {
    return packed;
  }
  if (indim_type_is_complex(indim_emit_moved_type(g, type))) {
    int32_t map[] = {2 * lane, 2 * lane + 1};
    return indim_emit_shuffle(g, packed, NULL, 2, map);
  }
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  return LLVMBuildExtractElement(g->e.builder, packed, LLVMConstInt(word, (unsigned)lane, 0), "");
}

// The same in a loop over the active lanes, with values and element numbers on the stack.
static void store_in_loop(indim_generator *g, const indim_emit_access_lanes *a, LLVMValueRef packed) {
  LLVMBuilderRef b = g->e.builder;
  LLVMTypeRef s64 = indim_emit_s64_type(g);
  LLVMValueRef indices = indim_emit_index_vector(g, a, false);
  LLVMValueRef values = indim_emit_stack(g, LLVMTypeOf(packed), "");
  LLVMValueRef numbers = indim_emit_stack(g, LLVMTypeOf(indices), "");
  LLVMBuildStore(b, packed, values);
  LLVMBuildStore(b, indices, numbers);
  LLVMValueRef base = indim_emit_storage_base(g, a->storage);
  indim_emit_lane_loop l = indim_emit_lanes_begin(g, indim_emit_mask_bits(g, a->mask, a->lanes));
  LLVMValueRef index = LLVMBuildLoad2(b, s64, indim_emit_offset(g, s64, numbers, l.lane, true), "");
  indim_emit_move_element(g, a->stored, indim_emit_offset(g, a->element, base, index, false),
                          indim_emit_offset(g, a->element, values, l.lane, true));
  indim_emit_lanes_end(g, &l);
}

// In lane order, so that the last of several lanes with the same address wins.
static void store_each(indim_generator *g, indim_type type, const indim_emit_access_lanes *a, LLVMValueRef packed) {
  if (a->mask != NULL && a->lanes > 8 && indim_emit_can_loop_lanes(a->lanes)) {
    store_in_loop(g, a, packed);
    return;
  }
  packed = indim_emit_as_moved(g, type, a->lanes, packed);
  for (int32_t k = 0; k < a->lanes; k++) {
    LLVMBasicBlockRef next = NULL;
    if (a->mask != NULL) {
      LLVMValueRef is_on = indim_emit_mask_lane(g, a->mask, a->lanes, k);
      LLVMBasicBlockRef store = indim_emit_block(g, "");
      next = indim_emit_block(g, "");
      LLVMBuildCondBr(g->e.builder, is_on, store, next);
      indim_emit_enter(g, store);
    }
    indim_emit_plain_store(g, packed_lane(g, type, a->lanes, packed, k), indim_emit_lane_pointer(g, a, k), a->stored);
    if (next != NULL) {
      LLVMBuildBr(g->e.builder, next);
      indim_emit_enter(g, next);
    }
  }
}

static void store_scattered(indim_generator *g, indim_type type, const indim_emit_access_lanes *a,
                            LLVMValueRef packed) {
  LLVMTypeRef bit = LLVMVectorType(LLVMInt1TypeInContext(g->e.context), (unsigned)a->lanes);
  LLVMValueRef pointers = indim_emit_pointer_vector(g, a);
  LLVMValueRef mask = a->mask == NULL ? LLVMConstAllOnes(bit) : a->mask;
  packed = indim_emit_as_moved(g, type, a->lanes, packed);
  LLVMValueRef args[] = {packed, pointers, indim_emit_alignment_argument(g, a->stored), mask};
  indim_emit_masked_call(g, "llvm.masked.scatter", LLVMTypeOf(packed), LLVMTypeOf(pointers), args, 4);
}

// The even and the odd lanes of bf16 in memory order: the upper halves of all words, interleaved.
static LLVMValueRef pack_split(indim_generator *g, int32_t lanes, indim_reg x) {
  LLVMBuilderRef b = g->e.builder;
  int32_t map[INDIM_EMIT_MAX_LANES];
  LLVMTypeRef words = LLVMVectorType(LLVMInt32TypeInContext(g->e.context), (unsigned)lanes / 2);
  LLVMTypeRef halves = LLVMVectorType(LLVMInt16TypeInContext(g->e.context), (unsigned)lanes);
  LLVMValueRef even = LLVMBuildBitCast(b, x.part[0], words, "");
  even = LLVMBuildBitCast(b, LLVMBuildLShr(b, even, indim_emit_int(&g->e, words, 16), ""), halves, "");
  for (int32_t k = 0; k < lanes; k++) {
    map[k] = k % 2 == 0 ? k : lanes + k;
  }
  return indim_emit_shuffle(g, even, LLVMBuildBitCast(b, x.part[1], halves, ""), lanes, map);
}

// Whether the store belongs to an interleaved group, which is emitted at the last of its stores.
static bool is_grouped(indim_generator *g, const indim_loop_node *node) {
  const indim_emit_group *group = &g->group;
  bool is_member = false;
  for (int32_t i = 0; i < group->count; i++) {
    is_member = is_member || group->nodes[i] == node;
  }
  if (!is_member && !indim_emit_find_group(g, node)) {
    return false;
  }
  if (group->nodes[group->count - 1] == node) {
    indim_emit_store_group(g);
  }
  return true;
}

indim_status indim_emit_store(indim_generator *g, const indim_loop_node *node) {
  if (is_grouped(g, node)) {
    return INDIM_OK;
  }
  const indim_loop_value *value = indim_emit_value(g, node->args[1]);
  indim_type type = value->type;
  int32_t lanes = value->lanes;
  indim_emit_prefetch_lanes(g, node, lanes);
  LLVMValueRef mask = node->u.memory.has_mask ? g->regs[node->args[2]].part[0] : NULL;
  indim_emit_access_lanes a = indim_emit_access(g, node, lanes, mask);
  indim_reg x = g->regs[node->args[1]];
  if (!a.has_lanes && lanes > 1 && a.stride == -1) {
    indim_reg backwards = {{mask, NULL}};
    a.mask = mask == NULL ? NULL : indim_emit_reversed(g, lanes, backwards).part[0];
    a.at.constant -= lanes - 1;
    a.stride = 1;
    x = indim_emit_reversed(g, lanes, x);
  }
  LLVMValueRef packed = g->is_split[node->args[1]] ? pack_split(g, lanes, x) : indim_emit_pack(&g->e, type, lanes, x);
  if (indim_emit_is_streamed(g, node)) {
    indim_emit_store_streamed(g, node, packed, indim_emit_address_pointer(g, &a.at, 0));
  } else if (!a.has_lanes && lanes > 1 && a.stride == 1) {
    store_contiguous(g, type, a.stored, lanes, packed, indim_emit_address_pointer(g, &a.at, 0), a.mask);
  } else if (g->e.program->target.has_scatter && indim_emit_is_gatherable(g, type, lanes) && a.stride != 0) {
    store_scattered(g, type, &a, packed);
  } else {
    store_each(g, type, &a, packed);
  }
  return INDIM_OK;
}
