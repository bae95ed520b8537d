// Lanes under masks: constant masks, masked instructions for the others where the target has them, and else a loop over
// the active lanes.
#include "emit/program/access.h"

#include <string.h>

LLVMValueRef indim_emit_plain_load(indim_generator *g, LLVMTypeRef type, LLVMValueRef pointer, indim_type element) {
  LLVMValueRef load = LLVMBuildLoad2(g->e.builder, type, pointer, "");
  LLVMSetAlignment(load, indim_emit_alignment(element));
  return indim_emit_loaded(g, load);
}

LLVMValueRef indim_emit_plain_store(indim_generator *g, LLVMValueRef value, LLVMValueRef pointer, indim_type element) {
  LLVMValueRef store = LLVMBuildStore(g->e.builder, value, pointer);
  LLVMSetAlignment(store, indim_emit_alignment(element));
  return store;
}

LLVMValueRef indim_emit_mask_lane(indim_generator *g, LLVMValueRef mask, int32_t lanes, int32_t lane) {
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  return lanes == 1 ? mask : LLVMBuildExtractElement(g->e.builder, mask, LLVMConstInt(word, (unsigned)lane, 0), "");
}

LLVMValueRef indim_emit_memory_mask(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef mask) {
  int32_t map[2 * INDIM_EMIT_MAX_LANES];
  if (!indim_type_is_complex(type)) {
    return mask;
  }
  for (int32_t k = 0; k < 2 * lanes; k++) {
    map[k] = k / 2;
  }
  return indim_emit_shuffle(g, mask, NULL, 2 * lanes, map);
}

LLVMValueRef indim_emit_masked_call(indim_generator *g, const char *name, LLVMTypeRef data, LLVMTypeRef pointer,
                                    LLVMValueRef *args, unsigned count) {
  LLVMTypeRef overloads[] = {data, pointer};
  return indim_emit_intrinsic_of(&g->e, name, overloads, 2, args, (int32_t)count);
}

LLVMValueRef indim_emit_alignment_argument(indim_generator *g, indim_type type) {
  return LLVMConstInt(LLVMInt32TypeInContext(g->e.context), indim_emit_alignment(type), 0);
}

bool indim_emit_known_lanes(LLVMValueRef mask, int32_t lanes, int32_t *out_first, int32_t *out_count) {
  *out_first = 0;
  *out_count = 0;
  if (!LLVMIsConstant(mask)) {
    return false;
  }
  for (int32_t k = 0; k < lanes; k++) {
    LLVMValueRef bit = LLVMGetAggregateElement(mask, (unsigned)k);
    if (bit == NULL || LLVMIsAConstantInt(bit) == NULL) {
      return false;
    }
    bool is_on = LLVMConstIntGetZExtValue(bit) != 0;
    *out_first = is_on && *out_count == 0 ? k : *out_first;
    if (is_on && *out_first + *out_count != k) {
      return false;
    }
    *out_count += is_on;
  }
  return true;
}

int32_t indim_emit_known_prefix(LLVMValueRef mask, int32_t lanes) {
  int32_t first = 0, count = 0;
  return indim_emit_known_lanes(mask, lanes, &first, &count) && first == 0 ? count : -1;
}

bool indim_emit_has_masked_moves(const indim_generator *g, indim_type type) {
  int32_t least = g->e.program->target.mask_bytes;
  return least > 0 && indim_emit_alignment(type) >= (unsigned)least;
}

LLVMValueRef indim_emit_mask_bits(indim_generator *g, LLVMValueRef mask, int32_t lanes) {
  LLVMTypeRef bits = LLVMIntTypeInContext(g->e.context, (unsigned)lanes);
  return LLVMBuildZExt(g->e.builder, LLVMBuildBitCast(g->e.builder, mask, bits, ""), indim_emit_s64_type(g), "");
}

indim_emit_lane_loop indim_emit_lanes_begin(indim_generator *g, LLVMValueRef bits) {
  LLVMBuilderRef b = g->e.builder;
  indim_emit_lane_loop l = {.loop = indim_emit_block(g, "lanes"), .after = indim_emit_block(g, "")};
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBuildCondBr(b, LLVMBuildIsNull(b, bits, ""), l.after, l.loop);
  indim_emit_enter(g, l.loop);
  l.bits = LLVMBuildPhi(b, indim_emit_s64_type(g), "");
  LLVMAddIncoming(l.bits, &bits, &before, 1);
  LLVMValueRef args[] = {l.bits, LLVMConstAllOnes(LLVMInt1TypeInContext(g->e.context))};
  l.lane = indim_emit_intrinsic(&g->e, "llvm.cttz", 2, args);
  return l;
}

void indim_emit_lanes_end(indim_generator *g, const indim_emit_lane_loop *l) {
  LLVMBuilderRef b = g->e.builder;
  LLVMValueRef rest = LLVMBuildAnd(b, l->bits, LLVMBuildSub(b, l->bits, indim_emit_s64(g, 1), ""), "");
  LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
  LLVMAddIncoming(l->bits, &rest, &here, 1);
  LLVMBuildCondBr(b, LLVMBuildIsNull(b, rest, ""), l->after, l->loop);
  indim_emit_enter(g, l->after);
}

void indim_emit_move_element(indim_generator *g, indim_type type, LLVMValueRef to, LLVMValueRef from) {
  LLVMValueRef x = indim_emit_plain_load(g, indim_emit_element_type(g, type), from, type);
  LLVMSetAlignment(LLVMBuildStore(g->e.builder, x, to), indim_emit_alignment(type));
}

bool indim_emit_can_loop_lanes(int32_t lanes) { return lanes <= 64; }

indim_reg indim_emit_reversed(indim_generator *g, int32_t lanes, indim_reg x) {
  int32_t map[INDIM_EMIT_MAX_LANES];
  for (int32_t k = 0; k < lanes; k++) {
    map[k] = lanes - 1 - k;
  }
  for (int32_t part = 0; part < 2 && x.part[part] != NULL; part++) {
    x.part[part] = indim_emit_shuffle(g, x.part[part], NULL, lanes, map);
  }
  return x;
}
