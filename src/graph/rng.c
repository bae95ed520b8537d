// How arrays take the words of counter-based generators: rng.h has the rules.
#include "graph/rng.h"

#include "base/size.h"
#include "graph/word.h"

static bool is_algorithm(const indim_instr *instr, const char *name) {
  return indim_word_equal(INDIM_ATTR_RNG_ALGORITHM, indim_instr_word(instr, INDIM_ATTR_RNG_ALGORITHM), name);
}

static int32_t pairing_dim(const indim_shape *shape) {
  int32_t longest = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] % 2 == 0) {
      return d;
    }
    longest = shape->sizes[d] > shape->sizes[longest] ? d : longest;
  }
  return longest;
}

static void pair_words(const indim_shape *shape, indim_rng_plan *plan) {
  int32_t dim = pairing_dim(shape);
  plan->pairs = true;
  plan->size = shape->rank > 0 ? shape->sizes[dim] : 1;
  plan->inner = 1;
  for (int32_t d = dim + 1; d < shape->rank && plan->count > 0; d++) {
    plan->inner *= shape->sizes[d];
  }
  plan->blocks = plan->count == 0 ? 0 : plan->count / plan->size * indim_ceil_div(plan->size, 2);
}

static void make_plan(const indim_shape *shape, bool is_three_fry, indim_rng_plan *plan) {
  int32_t words = indim_type_bits(shape->type) > 32 ? 2 : 1;
  int64_t count = indim_shape_element_count(shape);
  *plan = (indim_rng_plan){.shape = shape, .is_three_fry = is_three_fry, .words = words, .count = count};
  if (!is_three_fry) {
    plan->blocks = indim_ceil_div(count, 4 / words);
  } else if (words == 2) {
    plan->blocks = count;
  } else {
    pair_words(shape, plan);
  }
}

indim_status indim_rng_plan_init(indim_ctx *cx, const indim_instr *instr, indim_rng_plan *out_plan) {
  const indim_shape *shape = instr->shape->type == INDIM_TUPLE ? instr->shape->members[1] : instr->shape;
  const indim_shape *state = instr->operands[0]->shape;
  indim_shape_text text;
  if (state->sizes[0] != 2 && state->sizes[0] != 3) {
    indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "rng_default is Philox, whose state is u64[2] or u64[3]; this is %s",
                     indim_shape_brief(state, &text));
    return INDIM_UNSUPPORTED;
  }
  make_plan(shape, is_algorithm(instr, "rng_three_fry"), out_plan);
  return INDIM_OK;
}

int64_t indim_rng_block(const indim_rng_plan *plan, int64_t k, int32_t *out_word) {
  if (plan->pairs) {
    int64_t row = k / plan->inner / plan->size;
    int64_t index = k / plan->inner % plan->size;
    *out_word = (int32_t)(index % 2);
    return (row * indim_ceil_div(plan->size, 2) + index / 2) * plan->inner + k % plan->inner;
  }
  int64_t per_block = (plan->is_three_fry ? 2 : 4) / plan->words;
  *out_word = (int32_t)(k % per_block) * plan->words;
  return k / per_block;
}

// rng ----------------------------------------------------------------------------------------------------------------

uint64_t indim_rng_stream_key(const indim_instr *instr) {
  return (uint64_t)(uint32_t)instr->computation->index << 32 | (uint32_t)instr->index;
}

bool indim_rng_is_normal(const indim_instr *instr) {
  return indim_word_equal(INDIM_ATTR_DISTRIBUTION, indim_instr_word(instr, INDIM_ATTR_DISTRIBUTION), "rng_normal");
}

int32_t indim_rng_mantissa_bits(indim_type type) {
  return type == INDIM_F64 ? 53 : type == INDIM_F16 ? 11 : type == INDIM_BF16 ? 8 : 24;
}

indim_status indim_rng_plan_stream(indim_ctx *cx, const indim_instr *instr, indim_shape *out_shape,
                                   indim_rng_plan *out_plan) {
  indim_type type = instr->shape->type;
  bool wide_float = indim_type_is_float(type) && indim_type_bits(type) > 8;
  int64_t count = 0;
  indim_shape_text text;
  if (type == INDIM_PRED || (indim_type_is_float(type) && !wide_float)) {
    indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "random numbers of shape %s have no meaning here",
                     indim_shape_brief(instr->shape, &text));
    indim_hint(cx, "draw f32 or integers, and convert them");
    return INDIM_UNSUPPORTED;
  }
  if (!indim_count_mul(indim_shape_element_count(instr->shape), indim_rng_is_normal(instr) ? 2 : 1, &count)) {
    return indim_fail_instr(cx, INDIM_LIMIT, instr, "%s is too large", indim_shape_brief(instr->shape, &text));
  }
  indim_type bits = indim_type_bits(type) > 32 ? INDIM_U64 : INDIM_U32;
  INDIM_TRY(indim_shape_init(cx, bits, 1, &count, out_shape));
  make_plan(out_shape, false, out_plan);
  return INDIM_OK;
}
