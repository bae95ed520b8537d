// Shape rules of what talks to the host or to other programs, and of the random numbers: custom-call, infeed, outfeed,
// send, recv, rng. Most results are whatever the text declares; what can be held against the operands is.
#include <inttypes.h>

#include "graph/infer_kit.h"
#include "graph/word.h"

// Any declared shape; operand_layout_constraints= has the operands' shapes.
indim_status indim_infer_custom_call(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                     indim_shape *out_shape) {
  (void)arena;
  const indim_shape *declared = NULL;
  INDIM_TRY(indim_instr_declared(cx, instr, &declared));
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
  if (attr != NULL && attr->count != instr->operand_count) {
    return indim_fail_attr(cx, instr, attr->id,
                           "operand_layout_constraints= has length %" PRId64
                           ", expected %d: one shape for each operand",
                           attr->count, (int)instr->operand_count);
  }
  for (int32_t i = 0; attr != NULL && i < instr->operand_count; i++) {
    const indim_shape *constraint = attr->value.shapes[i];
    if (!indim_shape_compatible(constraint, indim_operand_shape(instr, i))) {
      indim_shape_text text;
      indim_shape_text operand_text;
      return indim_fail_attr(cx, instr, attr->id,
                             "operand_layout_constraints= gives %s for operand %d (%s), which is %s",
                             indim_shape_brief(constraint, &text), (int)i, indim_operand_name(instr, i),
                             indim_shape_brief(indim_operand_shape(instr, i), &operand_text));
    }
  }
  *out_shape = *declared;
  return INDIM_OK;
}

static indim_status fail_declared(indim_ctx *cx, const indim_instr *instr, const char *expected) {
  indim_shape_text text;
  return indim_fail_instr(cx, INDIM_INVALID, instr, "declared %s, expected %s", indim_shape_brief(instr->shape, &text),
                          expected);
}

// Tuple shapes of tokens and of the u32[] that stands for a transfer --------------------------------------------------

static indim_status new_shape(indim_arena *arena, const indim_shape *shape, const indim_shape **out_shape) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(arena, sizeof *shape, &memory));
  *(indim_shape *)memory = *shape;
  *out_shape = memory;
  return INDIM_OK;
}

// (data, token[]), or with |with_context| (data, u32[], token[]).
static indim_status make_transfer(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, const indim_shape *data,
                                  bool with_context, indim_shape *out_shape) {
  indim_shape token = indim_shape_plain(INDIM_TOKEN);
  indim_shape context;
  INDIM_TRY(indim_instr_make_array(cx, instr, INDIM_U32, 0, NULL, 0, &context));
  const indim_shape *members[3] = {data};
  int64_t count = 1;
  if (with_context) {
    INDIM_TRY(new_shape(arena, &context, &members[count++]));
  }
  INDIM_TRY(new_shape(arena, &token, &members[count++]));
  return indim_instr_make_tuple(cx, instr, arena, members, count, out_shape);
}

indim_status indim_infer_infeed(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  const indim_shape *declared = NULL;
  INDIM_TRY(indim_operand_verify_token(cx, instr, 0));
  INDIM_TRY(indim_instr_declared(cx, instr, &declared));
  if (declared->type != INDIM_TUPLE || declared->member_count != 2 || declared->members[1]->type != INDIM_TOKEN) {
    return fail_declared(cx, instr, "(the data, token[])");
  }
  *out_shape = *declared;
  return INDIM_OK;
}

indim_status indim_infer_outfeed(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operand_verify_token(cx, instr, 1));
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_OUTFEED_SHAPE);
  const indim_shape *operand = indim_operand_shape(instr, 0);
  if (!indim_shape_compatible(attr->value.shapes[0], operand)) {
    indim_shape_text text;
    indim_shape_text operand_text;
    return indim_fail_attr(cx, instr, attr->id, "outfeed_shape=%s, but operand 0 (%s) is %s",
                           indim_shape_brief(attr->value.shapes[0], &text), indim_operand_name(instr, 0),
                           indim_shape_brief(operand, &operand_text));
  }
  *out_shape = indim_shape_plain(INDIM_TOKEN);
  return INDIM_OK;
}

indim_status indim_infer_send(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  INDIM_TRY(indim_operand_verify_token(cx, instr, 1));
  return make_transfer(cx, instr, arena, indim_operand_shape(instr, 0), true, out_shape);
}

// The operand is a tuple (data, u32[], token[]) that an instruction of the kind |op| (or one that passes it on) made.
static indim_status verify_transfer(indim_ctx *cx, const indim_instr *instr, indim_op op) {
  const indim_shape *shape = indim_operand_shape(instr, 0);
  if (shape->type == INDIM_TUPLE && shape->member_count == 3 && shape->members[2]->type == INDIM_TOKEN) {
    return INDIM_OK;
  }
  indim_shape_text text;
  return indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s, expected the (data, u32[], token[]) of a %s",
                          indim_operand_name(instr, 0), indim_shape_brief(shape, &text), indim_op_get(op)->text);
}

indim_status indim_infer_send_done(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                   indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(verify_transfer(cx, instr, INDIM_OP_SEND));
  *out_shape = indim_shape_plain(INDIM_TOKEN);
  return INDIM_OK;
}

indim_status indim_infer_recv(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  const indim_shape *declared = NULL;
  INDIM_TRY(indim_operand_verify_token(cx, instr, 0));
  INDIM_TRY(indim_instr_declared(cx, instr, &declared));
  if (declared->type != INDIM_TUPLE || declared->member_count != 3) {
    return fail_declared(cx, instr, "(the data, u32[], token[])");
  }
  return make_transfer(cx, instr, arena, declared->members[0], true, out_shape);
}

indim_status indim_infer_recv_done(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                   indim_shape *out_shape) {
  INDIM_TRY(verify_transfer(cx, instr, INDIM_OP_RECV));
  return make_transfer(cx, instr, arena, indim_operand_shape(instr, 0)->members[0], false, out_shape);
}

// Random numbers -----------------------------------------------------------------------------------------------------

indim_status indim_infer_rng(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  const indim_shape *declared = NULL;
  INDIM_TRY(indim_operand_verify_scalar(cx, instr, 0, "the first parameter of the distribution"));
  INDIM_TRY(indim_operand_verify_scalar(cx, instr, 1, "the second parameter of the distribution"));
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, 1));
  bool normal =
      indim_word_equal(INDIM_ATTR_DISTRIBUTION, indim_instr_word(instr, INDIM_ATTR_DISTRIBUTION), "rng_normal");
  unsigned uniform_classes = INDIM_CLASS_PRED | INDIM_CLASS_INTEGER | INDIM_CLASS_FLOAT;
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 0, normal ? INDIM_CLASS_FLOAT : uniform_classes));
  INDIM_TRY(indim_instr_declared(cx, instr, &declared));
  if (declared->type != indim_operand_shape(instr, 0)->type) {
    indim_shape_text text;
    return indim_fail_instr(cx, INDIM_INVALID, instr, "declared %s, but the parameters are of type %s",
                            indim_shape_brief(declared, &text), indim_type_text(indim_operand_shape(instr, 0)->type));
  }
  *out_shape = *declared;
  return INDIM_OK;
}

// The state is u64[2] for ThreeFry, u64[2] or u64[3] for Philox, any vector of u64 where the algorithm is not stated.
static indim_status verify_state(indim_ctx *cx, const indim_instr *instr) {
  const indim_shape *state = indim_operand_shape(instr, 0);
  indim_str algorithm = indim_instr_word(instr, INDIM_ATTR_RNG_ALGORITHM);
  bool three_fry = indim_word_equal(INDIM_ATTR_RNG_ALGORITHM, algorithm, "rng_three_fry");
  bool philox = indim_word_equal(INDIM_ATTR_RNG_ALGORITHM, algorithm, "rng_philox");
  int64_t size = state->type == INDIM_U64 && state->rank == 1 ? state->sizes[0] : -1;
  if (size >= 0 && (!three_fry || size == 2) && (!philox || size == 2 || size == 3)) {
    return INDIM_OK;
  }
  indim_shape_text text;
  return indim_fail_instr(cx, INDIM_INVALID, instr, "the state, operand 0 (%s), is %s, expected %s",
                          indim_operand_name(instr, 0), indim_shape_brief(state, &text),
                          three_fry ? "u64[2]"
                          : philox  ? "u64[2] or u64[3]"
                                    : "a vector of u64");
}

// The declared shape is (new state, bits), or the bits alone.
indim_status indim_infer_rng_bit_generator(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                           indim_shape *out_shape) {
  (void)arena;
  const indim_shape *declared = NULL;
  INDIM_TRY(verify_state(cx, instr));
  INDIM_TRY(indim_instr_declared(cx, instr, &declared));
  const indim_shape *bits = declared;
  if (declared->type == INDIM_TUPLE) {
    if (declared->member_count != 2 || !indim_shape_compatible(declared->members[0], indim_operand_shape(instr, 0))) {
      return fail_declared(cx, instr, "(the new state, shaped as operand 0, the bits)");
    }
    bits = declared->members[1];
  }
  unsigned class = indim_type_class(bits->type);
  if ((class & (INDIM_CLASS_INTEGER | INDIM_CLASS_FLOAT)) == 0 || indim_type_bits(bits->type) < 2) {
    return fail_declared(cx, instr, "the bits as an array of integers or floats of 2 bits at least");
  }
  *out_shape = *declared;
  return INDIM_OK;
}

indim_status indim_infer_rng_get_and_update_state(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                                  indim_shape *out_shape) {
  (void)arena;
  int64_t size = 2;
  return indim_instr_make_array(cx, instr, INDIM_U64, 1, &size, 0, out_shape);
}
