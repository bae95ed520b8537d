// Random bits by elementwise ops: word w of every block is one vector of u32, over the number of the block.
//
//   Philox     the four vectors, u32[blocks,1] each, side by side: u32[blocks,4] is the words in their order
//   ThreeFry   both vectors in one of u64, which is u32[blocks,2] by another name: one elementwise loop
//
// 32-bit arithmetic throughout, for twice as many lanes: the upper words of the counter are the same for all blocks up
// to where the lowest one wraps around, and the same for all behind, so each is a choice between two scalars.
//
// They are the bits that the evaluator gives (graph/rng.h says which). UNSUPPORTED are arrays of more than 2^32 blocks
// (16 GiB of u8, 64 GiB of u32), and rng and rng-get-and-update-state outside the entry computation: their numbers depend
// on how often they have run.
#include "expand/rng.h"

#include "graph/rng.h"

// A generator in a computation: u64 scalars.
typedef struct generator {
  value key;
  value low;  // of the counter
  value high;
} generator;

static value add(indim_builder *b, value x, value y) { return indim_build_binary(b, INDIM_OP_ADD, x, y, NULL, 0); }
static value exclusive_or(indim_builder *b, value x, value y) {
  return indim_build_binary(b, INDIM_OP_XOR, x, y, NULL, 0);
}
static value multiply(indim_builder *b, value x, value y) {
  return indim_build_binary(b, INDIM_OP_MULTIPLY, x, y, NULL, 0);
}
static value u32(indim_builder *b, uint32_t x) { return indim_build_scalar_int(b, INDIM_U32, x); }
static value u64(indim_builder *b, uint64_t x) { return indim_build_scalar_int(b, INDIM_U64, (int64_t)x); }

static value shifted(indim_builder *b, indim_op op, value x, int32_t distance, indim_type type) {
  return indim_build_binary(b, op, x, indim_build_scalar_int(b, type, distance), NULL, 0);
}

static value lower(indim_builder *b, value x) { return indim_build_convert(b, x, INDIM_U32); }
static value upper(indim_builder *b, value x) {
  return lower(b, shifted(b, INDIM_OP_SHIFT_RIGHT_LOGICAL, x, 32, INDIM_U64));
}

// low + 2^32 high, elementwise.
static value joined(indim_builder *b, value low, value high) {
  value wide = indim_build_convert(b, high, INDIM_U64);
  return indim_build_binary(b, INDIM_OP_OR, indim_build_convert(b, low, INDIM_U64),
                            shifted(b, INDIM_OP_SHIFT_LEFT, wide, 32, INDIM_U64), NULL, 0);
}

// Element |i| of a vector, as a scalar.
static value element(indim_builder *b, value vector, int64_t i) {
  int64_t limit = i + 1;
  return indim_build_reshape(b, indim_build_slice(b, vector, &i, &limit, NULL), NULL, 0);
}

// The counter moved on by |count|, with the carry.
static generator advanced(indim_builder *b, generator g, uint64_t count) {
  value low = add(b, g.low, u64(b, count));
  value carry = indim_build_compare(b, low, g.low, "LT", NULL, NULL, 0);
  return (generator){g.key, low, add(b, g.high, indim_build_convert(b, carry, INDIM_U64))};
}

// Words 0 to 3 of the counters of |blocks| blocks.
static void count_blocks(indim_builder *b, generator g, int64_t blocks, value *word) {
  indim_shape shape = {0};
  indim_build_fail(b, indim_shape_init(b->cx, INDIM_U32, 1, &blocks, &shape));
  value index = indim_build_iota(b, &shape, 0);
  generator behind = advanced(b, g, UINT64_C(1) << 32);
  value before_words[] = {NULL, upper(b, g.low), lower(b, g.high), upper(b, g.high)};
  value behind_words[] = {NULL, upper(b, behind.low), lower(b, behind.high), upper(b, behind.high)};
  word[0] = add(b, lower(b, g.low), index);
  value wraps = indim_build_compare(b, word[0], index, "LT", NULL, NULL, 0);
  for (int w = 1; w < 4; w++) {
    value before = indim_build_broadcast(b, before_words[w], &blocks, 1);
    word[w] = indim_build_select(b, wraps, indim_build_broadcast(b, behind_words[w], &blocks, 1), before);
  }
}

static void philox(indim_builder *b, value key, value *word) {
  value keys[2] = {lower(b, key), upper(b, key)};
  value multipliers[2] = {u32(b, INDIM_PHILOX_MULTIPLIER_0), u32(b, INDIM_PHILOX_MULTIPLIER_1)};
  for (uint32_t round = 0; round < INDIM_PHILOX_ROUNDS; round++) {
    value step_0 = add(b, keys[0], u32(b, round * INDIM_PHILOX_KEY_STEP_0));
    value step_1 = add(b, keys[1], u32(b, round * INDIM_PHILOX_KEY_STEP_1));
    value first = indim_build_binary(b, INDIM_OP_MULHI, word[0], multipliers[0], NULL, 0);
    value second = indim_build_binary(b, INDIM_OP_MULHI, word[2], multipliers[1], NULL, 0);
    value next_1 = multiply(b, word[2], multipliers[1]);
    value next_3 = multiply(b, word[0], multipliers[0]);
    word[0] = exclusive_or(b, second, exclusive_or(b, word[1], step_0));
    word[2] = exclusive_or(b, first, exclusive_or(b, word[3], step_1));
    word[1] = next_1;
    word[3] = next_3;
  }
}

static value rotated(indim_builder *b, value x, int32_t distance) {
  return indim_build_binary(b, INDIM_OP_OR, shifted(b, INDIM_OP_SHIFT_LEFT, x, distance, INDIM_U32),
                            shifted(b, INDIM_OP_SHIFT_RIGHT_LOGICAL, x, 32 - distance, INDIM_U32), NULL, 0);
}

static void three_fry(indim_builder *b, value key, value *word) {
  static const int rotations[] = INDIM_THREE_FRY_ROTATIONS;
  value keys[3] = {lower(b, key), upper(b, key)};
  keys[2] = exclusive_or(b, exclusive_or(b, keys[0], keys[1]), u32(b, INDIM_THREE_FRY_PARITY));
  word[0] = add(b, word[0], keys[0]);
  word[1] = add(b, word[1], keys[1]);
  for (uint32_t round = 0; round < INDIM_THREE_FRY_ROUNDS; round++) {
    word[0] = add(b, word[0], word[1]);
    word[1] = exclusive_or(b, rotated(b, word[1], rotations[round % 8]), word[0]);
    if (round % 4 == 3) {
      uint32_t turn = round / 4 + 1;
      word[0] = add(b, word[0], keys[turn % 3]);
      word[1] = add(b, word[1], add(b, keys[(turn + 1) % 3], u32(b, turn)));
    }
  }
}

// Vectors side by side, each a column, read row by row.
static value interleaved(indim_builder *b, const value *columns, int32_t count, int64_t length) {
  value parts[4];
  int64_t all = count * length;
  for (int32_t i = 0; i < count; i++) {
    parts[i] = indim_build_reshape(b, columns[i], (int64_t[]){length, 1}, 2);
  }
  return indim_build_reshape(b, indim_build_concatenate(b, parts, count, 1), &all, 1);
}

// Pairs of words, u64[blocks], as u32[rows, size, inner]: the two words are neighbours in the middle dimension.
static value paired(indim_builder *b, const indim_rng_plan *plan, value pairs) {
  int64_t half = plan->size / 2 + plan->size % 2;
  int64_t rows = plan->count / plan->inner / plan->size;
  value split = indim_build_reshape(b, pairs, (int64_t[]){rows, half, plan->inner}, 3);
  split = indim_build_bitcast_convert(b, split, INDIM_U32);
  split = indim_build_transpose(b, split, (int64_t[]){0, 1, 3, 2}, 4);
  split = indim_build_reshape(b, split, (int64_t[]){rows, 2 * half, plan->inner}, 3);
  return indim_build_slice(b, split, (int64_t[]){0, 0, 0}, (int64_t[]){rows, plan->size, plan->inner}, NULL);
}

// The bits of all elements in row-major order, u32 or u64; there is at least one.
static value draw(indim_builder *b, const indim_rng_plan *plan, generator g) {
  value word[4];
  int64_t zero = 0;
  count_blocks(b, g, plan->blocks, word);
  if (plan->is_three_fry) {
    three_fry(b, g.key, word);
    value pairs = joined(b, word[0], word[1]);
    return plan->pairs ? paired(b, plan, pairs) : pairs;
  }
  philox(b, g.key, word);
  if (plan->words == 2) {
    value wide[] = {joined(b, word[0], word[1]), joined(b, word[2], word[3])};
    return indim_build_slice(b, interleaved(b, wide, 2, plan->blocks), &zero, &plan->count, NULL);
  }
  return indim_build_slice(b, interleaved(b, word, 4, plan->blocks), &zero, &plan->count, NULL);
}

static indim_status check_blocks(indim_ctx *cx, const indim_instr *instr, const indim_rng_plan *plan) {
  indim_shape_text text;
  if (plan->blocks <= INT64_C(1) << 32) {
    return INDIM_OK;
  }
  return indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "%s takes %lld blocks of random bits; 2^32 are counted",
                          indim_shape_brief(plan->shape, &text), (long long)plan->blocks);
}

// rng-bit-generator --------------------------------------------------------------------------------------------------

// The low bits of each as elements of the plan's shape.
static value reinterpreted(indim_builder *b, const indim_rng_plan *plan, value bits) {
  const indim_shape *shape = plan->shape;
  indim_type same_size = indim_type_unsigned_of_bits(indim_type_bits(shape->type));
  bits = indim_build_reshape(b, bits, shape->sizes, shape->rank);
  if (indim_type_bits(shape->type) < 32) {
    bits = indim_build_convert(b, bits, same_size);
  }
  return same_size == shape->type ? bits : indim_build_bitcast_convert(b, bits, shape->type);
}

static value nothing(indim_builder *b, const indim_shape *shape) {
  return indim_build_broadcast(b, indim_build_scalar(b, shape->type, 0), shape->sizes, shape->rank);
}

static value new_state(indim_builder *b, generator g, int64_t blocks, int64_t size) {
  generator next = advanced(b, g, (uint64_t)blocks);
  int64_t one = 1;
  value parts[3] = {indim_build_reshape(b, next.key, &one, 1), indim_build_reshape(b, next.low, &one, 1), NULL};
  if (size == 3) {
    parts[2] = indim_build_reshape(b, next.high, &one, 1);
  }
  return indim_build_concatenate(b, parts, (int32_t)size, 0);
}

static indim_status plan_bits(indim_ctx *cx, const indim_instr *instr, indim_rng_plan *plan) {
  INDIM_TRY(indim_rng_plan_init(cx, instr, plan));
  INDIM_TRY(check_blocks(cx, instr, plan));
  if (indim_type_unsigned_of_bits(indim_type_bits(plan->shape->type)) == INDIM_TYPE_INVALID) {
    return indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "no integers have the size of %s",
                            indim_type_text(plan->shape->type));
  }
  return INDIM_OK;
}

value indim_expand_rng_bit_generator(indim_expander *x) {
  indim_rng_plan plan;
  indim_expand_begin(x);
  if (!indim_build_ready(x->b, "rng-bit-generator", x->operands, 1)) {
    return NULL;
  }
  indim_status status = plan_bits(x->cx, x->instr, &plan);
  if (status != INDIM_OK) {
    return indim_expand_fail(x, status);
  }
  value state = x->operands[0];
  int64_t size = state->shape->sizes[0];
  generator g = {element(x->b, state, 0), element(x->b, state, 1), NULL};
  g.high = size == 3 ? element(x->b, state, 2) : g.key;  // ThreeFry does not look at it
  value bits = plan.count == 0 ? nothing(x->b, plan.shape) : reinterpreted(x->b, &plan, draw(x->b, &plan, g));
  if (!indim_shape_is_tuple(x->instr->shape)) {
    return bits;
  }
  value results[2] = {new_state(x->b, g, plan.blocks, size), bits};
  return indim_build_tuple(x->b, results, 2);
}

// rng ----------------------------------------------------------------------------------------------------------------

// Bits as a fraction of |count| bits in [0, 1), in the type |work|; |above| is added to its numerator.
static value fraction(indim_builder *b, value bits, indim_type work, int32_t count, double above) {
  bool wide = work == INDIM_F64;
  value top = shifted(b, INDIM_OP_SHIFT_RIGHT_LOGICAL, bits, (wide ? 64 : 32) - count, wide ? INDIM_U64 : INDIM_U32);
  value x = indim_build_convert(b, top, work);
  x = above == 0 ? x : add(b, x, indim_build_scalar(b, work, above));
  return multiply(b, x, indim_build_scalar(b, work, 1 / (double)(UINT64_C(1) << count)));
}

static value less(indim_builder *b, value x, value y) { return indim_build_compare(b, x, y, "LT", NULL, NULL, 0); }

// a + u (b - a), or |first| where that is not below |last|; |first| and |last| have the result's type.
static value uniform_float(indim_builder *b, value bits, value first, value last, indim_type type, indim_type work) {
  value a = indim_build_convert(b, first, work);
  value half = indim_build_scalar(b, work, 0.5);
  value width = indim_build_binary(b, INDIM_OP_SUBTRACT, multiply(b, indim_build_convert(b, last, work), half),
                                   multiply(b, a, half), NULL, 0);
  value step = multiply(b, fraction(b, bits, work, indim_rng_mantissa_bits(type), 0), width);
  value x = indim_build_convert(b, add(b, add(b, step, a), step), type);
  value inside = indim_build_binary(b, INDIM_OP_AND, less(b, x, last), less(b, first, last), NULL, 0);
  return indim_build_select(b, inside, x, first);
}

// a + floor((b - a) bits / 2^32), in the unsigned type of the bits.
static value uniform_int(indim_builder *b, value bits, value first, value last, indim_type type) {
  bool wide = indim_type_bits(type) > 32;
  indim_type word = wide ? INDIM_U64 : INDIM_U32;
  indim_type extended = !indim_type_is_signed_int(type) ? word : wide ? INDIM_S64 : INDIM_S32;
  value low = indim_build_convert(b, indim_build_convert(b, first, extended), word);
  value high = indim_build_convert(b, indim_build_convert(b, last, extended), word);
  value range = indim_build_binary(b, INDIM_OP_SUBTRACT, high, low, NULL, 0);
  range = indim_build_select(b, less(b, first, last), range, indim_build_scalar_int(b, word, 0));
  value offset = indim_build_binary(b, INDIM_OP_MULHI, bits, range, NULL, 0);
  return indim_build_convert(b, add(b, offset, low), type);
}

static value normal(indim_builder *b, value bits, value mean, value deviation, indim_type type, indim_type work) {
  int64_t count = bits == NULL ? 0 : bits->shape->sizes[0] / 2;
  int64_t all = 2 * count;
  int32_t digits = indim_rng_mantissa_bits(work);
  value u = indim_build_slice(b, bits, (int64_t[]){0}, &count, NULL);
  value v = indim_build_slice(b, bits, &count, &all, NULL);
  value log_u = indim_build_unary(b, INDIM_OP_LOG, fraction(b, u, work, digits, 1));
  value radius = indim_build_unary(b, INDIM_OP_SQRT, multiply(b, log_u, indim_build_scalar(b, work, -2)));
  value angle = multiply(b, fraction(b, v, work, digits, 0), indim_build_scalar(b, work, 6.283185307179586));
  value x = multiply(b, radius, indim_build_unary(b, INDIM_OP_COSINE, angle));
  x = multiply(b, x, indim_build_convert(b, deviation, work));
  return indim_build_convert(b, add(b, x, indim_build_convert(b, mean, work)), type);
}

// What runs more than once goes on with other numbers, which a computation without a state cannot.
static indim_status check_runs_once(indim_ctx *cx, const indim_instr *instr) {
  const indim_computation *computation = instr->computation;
  if (computation == computation->module->entry) {
    return INDIM_OK;
  }
  return indim_fail_instr(cx, INDIM_UNSUPPORTED, instr,
                          "%s outside the entry computation, in %s, has another value each time that it runs",
                          indim_op_get(instr->op)->text, computation->name.data);
}

static indim_status plan_numbers(indim_ctx *cx, const indim_instr *instr, indim_shape *bits, indim_rng_plan *plan) {
  INDIM_TRY(indim_rng_plan_stream(cx, instr, bits, plan));
  INDIM_TRY(check_blocks(cx, instr, plan));
  return check_runs_once(cx, instr);
}

value indim_rng_build(indim_expander *x) {
  indim_shape shape = {0};
  indim_rng_plan plan;
  if (!indim_build_ready(x->b, "rng", x->operands, 2)) {
    return NULL;
  }
  indim_status status = plan_numbers(x->cx, x->instr, &shape, &plan);
  if (status != INDIM_OK) {
    return indim_expand_fail(x, status);
  }
  if (plan.count == 0) {
    return nothing(x->b, x->instr->shape);
  }
  indim_type type = x->instr->shape->type;
  indim_type work = type == INDIM_F64 ? INDIM_F64 : INDIM_F32;
  generator g = {u64(x->b, indim_rng_stream_key(x->instr)), u64(x->b, 0), u64(x->b, INDIM_RNG_STREAM)};
  value bits = draw(x->b, &plan, g);
  value first = x->operands[0];
  value second = x->operands[1];
  value numbers = indim_rng_is_normal(x->instr) ? normal(x->b, bits, first, second, type, work)
                  : indim_type_is_float(type)   ? uniform_float(x->b, bits, first, second, type, work)
                                                : uniform_int(x->b, bits, first, second, type);
  return indim_build_reshape(x->b, numbers, x->instr->shape->sizes, x->instr->shape->rank);
}

value indim_expand_rng(indim_expander *x) {
  indim_expand_begin(x);
  return indim_rng_build(x);
}

value indim_expand_rng_get_and_update_state(indim_expander *x) {
  indim_expand_begin(x);
  if (!indim_build_ready(x->b, "rng-get-and-update-state", NULL, 0)) {
    return NULL;
  }
  indim_status status = check_runs_once(x->cx, x->instr);
  if (status != INDIM_OK) {
    return indim_expand_fail(x, status);
  }
  int64_t one = 1;
  value parts[2] = {indim_build_reshape(x->b, u64(x->b, INDIM_RNG_FIRST_STATE), &one, 1),
                    indim_build_reshape(x->b, u64(x->b, 0), &one, 1)};
  return indim_build_concatenate(x->b, parts, 2, 0);
}
