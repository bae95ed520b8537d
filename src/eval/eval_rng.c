// Random bits and numbers: the words of one block of a counter-based generator, and the elements that take them. Which
// block and word is an element's is said in graph/rng.h; blocks are computed one at a time, for each element that asks for
// another one than the element before.
#include "graph/rng.h"

#include "array/element.h"
#include "eval/evaluator.h"
#include "eval/real_math.h"
#include "eval/scalar_ops.h"

// A generator at the counter of its block 0.
typedef struct generator {
  uint64_t key;
  uint64_t low;  // of the counter
  uint64_t high;
} generator;

static uint32_t upper(uint64_t x) { return (uint32_t)(x >> 32); }

// The counter's low half moves to low + count; the high half takes the carry.
static generator advanced(generator g, uint64_t count) {
  uint64_t low = g.low + count;
  return (generator){g.key, low, g.high + (low < count)};
}

static void philox(generator g, uint32_t *word) {
  uint32_t key[2] = {(uint32_t)g.key, upper(g.key)};
  word[0] = (uint32_t)g.low;
  word[1] = upper(g.low);
  word[2] = (uint32_t)g.high;
  word[3] = upper(g.high);
  for (int round = 0; round < INDIM_PHILOX_ROUNDS; round++) {
    uint64_t first = (uint64_t)word[0] * INDIM_PHILOX_MULTIPLIER_0;
    uint64_t second = (uint64_t)word[2] * INDIM_PHILOX_MULTIPLIER_1;
    word[0] = upper(second) ^ word[1] ^ key[0];
    word[1] = (uint32_t)second;
    word[2] = upper(first) ^ word[3] ^ key[1];
    word[3] = (uint32_t)first;
    key[0] += INDIM_PHILOX_KEY_STEP_0;
    key[1] += INDIM_PHILOX_KEY_STEP_1;
  }
}

// The key's words, and the parity of both, are added in turn after each four rounds.
static void three_fry(generator g, uint32_t *word) {
  static const int rotations[] = INDIM_THREE_FRY_ROTATIONS;
  uint32_t key[3] = {(uint32_t)g.key, upper(g.key)};
  key[2] = key[0] ^ key[1] ^ INDIM_THREE_FRY_PARITY;
  word[0] = (uint32_t)g.low + key[0];
  word[1] = upper(g.low) + key[1];
  for (int round = 0; round < INDIM_THREE_FRY_ROUNDS; round++) {
    int rotation = rotations[round % 8];
    word[0] += word[1];
    word[1] = (word[1] << rotation | word[1] >> (32 - rotation)) ^ word[0];
    if (round % 4 == 3) {
      uint32_t turn = (uint32_t)round / 4 + 1;
      word[0] += key[turn % 3];
      word[1] += key[(turn + 1) % 3] + turn;
    }
  }
}

// Reading a plan's elements in turn.
typedef struct reader {
  const indim_rng_plan *plan;
  generator first;
  int64_t block;  // that |word| holds; -1: none
  uint32_t word[4];
} reader;

// The bits of element |k|: a word, or two with the lower one first.
static indim_status read_bits(indim_evaluator *e, reader *r, int64_t k, uint64_t *out_bits) {
  int32_t word = 0;
  int64_t block = indim_rng_block(r->plan, k, &word);
  if (block != r->block) {
    INDIM_TRY(indim_eval_work(e, 1));
    (r->plan->is_three_fry ? three_fry : philox)(advanced(r->first, (uint64_t)block), r->word);
    r->block = block;
  }
  *out_bits = r->word[word] | (r->plan->words == 2 ? (uint64_t)r->word[word + 1] << 32 : 0);
  return INDIM_OK;
}

// rng-bit-generator --------------------------------------------------------------------------------------------------

static generator generator_of_state(const indim_rng_plan *plan, const indim_value *state) {
  generator g = {.key = (uint64_t)indim_scalar_load(INDIM_U64, state->data, 0).i,
                 .low = (uint64_t)indim_scalar_load(INDIM_U64, state->data, 1).i};
  g.high = plan->is_three_fry ? 0 : g.key;
  if (state->count == 3) {
    g.high = (uint64_t)indim_scalar_load(INDIM_U64, state->data, 2).i;
  }
  return g;
}

static void store_state(generator g, indim_value *state) {
  uint64_t parts[3] = {g.key, g.low, g.high};
  for (int64_t i = 0; i < state->count; i++) {
    indim_scalar_store(INDIM_U64, state->data, i, (indim_scalar){.i = (int64_t)parts[i]});
  }
}

static indim_status fill_bits(indim_evaluator *e, reader *r, indim_value *result) {
  indim_type type = result->shape->type;
  int64_t width = 8 * (int64_t)indim_type_bytes(type);
  uint64_t mask = UINT64_MAX >> (64 - indim_type_bits(type));
  for (int64_t k = 0; k < result->count; k++) {
    uint64_t bits = 0;
    INDIM_TRY(read_bits(e, r, k, &bits));
    indim_element_store(type, width, result->data, k, (indim_element){.bits = bits & mask});
  }
  return INDIM_OK;
}

indim_status indim_eval_rng_bit_generator(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                          indim_value **out) {
  indim_rng_plan plan;
  INDIM_TRY(indim_rng_plan_init(e->cx, instr, &plan));
  reader r = {.plan = &plan, .first = generator_of_state(&plan, operands[0]), .block = -1};
  indim_value *results[2] = {NULL, NULL};  // the new state, the bits
  bool both = indim_shape_is_tuple(instr->shape);
  indim_status status = indim_value_new(e->cx, plan.shape, &results[1]);
  status = status == INDIM_OK ? fill_bits(e, &r, results[1]) : status;
  if (status == INDIM_OK && !both) {
    *out = results[1];
    return INDIM_OK;
  }
  status = status == INDIM_OK ? indim_value_new(e->cx, instr->operands[0]->shape, &results[0]) : status;
  if (status == INDIM_OK) {
    store_state(advanced(r.first, (uint64_t)plan.blocks), results[0]);
    status = indim_value_new_tuple(e->cx, instr->shape, results, out);
  }
  for (int i = 0; status != INDIM_OK && i < 2; i++) {
    indim_value_release(e->cx, results[i]);
  }
  return status;
}

// rng ----------------------------------------------------------------------------------------------------------------

// A number of an rng: its bits, and for the normal distribution those of its other half.
typedef struct draw {
  indim_type type;  // of the result
  indim_type work;  // in which is computed: f32 for narrower floats
  indim_scalar a;   // the operands
  indim_scalar b;
  uint64_t bits[2];
} draw;

static double rounded(const draw *d, double x) { return indim_scalar_round(d->work, (indim_scalar){.f = x}).f; }

// |count| upper bits as a number in [0, 1); with |above| in (0, 1].
static double fraction(const draw *d, uint64_t bits, int32_t count, uint64_t above) {
  int32_t all = d->work == INDIM_F64 ? 64 : 32;
  return (double)((bits >> (all - count)) + above) / (double)(UINT64_C(1) << count);
}

// a + u (b - a), with b - a halved so that it does not overflow.
static indim_scalar uniform_float(const draw *d) {
  double u = fraction(d, d->bits[0], indim_rng_mantissa_bits(d->type), 0);
  double half = rounded(d, rounded(d, d->b.f * 0.5) - rounded(d, d->a.f * 0.5));
  double step = rounded(d, u * half);
  indim_scalar x = {.f = rounded(d, rounded(d, d->a.f + step) + step)};
  x = indim_scalar_round(d->type, x);
  return d->a.f < d->b.f && x.f < d->b.f ? x : d->a;
}

static indim_scalar uniform_int(const draw *d) {
  bool is_less = indim_type_is_signed_int(d->type) ? d->a.i < d->b.i : (uint64_t)d->a.i < (uint64_t)d->b.i;
  uint64_t range = (uint64_t)d->b.i - (uint64_t)d->a.i;
  if (!is_less) {
    return d->a;
  }
  uint64_t offset = d->bits[0] * range >> 32;  // no product of 32 and 32 bits overflows
  if (indim_type_bits(d->type) > 32) {
    indim_scalar_op op = {.type = INDIM_U64, .result = INDIM_U64};
    indim_scalar factors[2] = {{.i = (int64_t)d->bits[0]}, {.i = (int64_t)range}};
    offset = (uint64_t)indim_int_mulhi(&op, factors).i;
  }
  return (indim_scalar){.i = (int64_t)((uint64_t)d->a.i + offset)};
}

// Box and Muller's transformation.
static indim_scalar normal(const draw *d) {
  int32_t count = indim_rng_mantissa_bits(d->work);
  double log_u = rounded(d, indim_math_log(fraction(d, d->bits[0], count, 1)));
  double radius = rounded(d, indim_math_sqrt(-2 * log_u));
  double angle = rounded(d, fraction(d, d->bits[1], count, 0) * rounded(d, 6.283185307179586));
  double x = rounded(d, radius * rounded(d, indim_math_cos(angle)));
  return (indim_scalar){.f = rounded(d, d->a.f + rounded(d, d->b.f * x))};
}

static indim_status fill_numbers(indim_evaluator *e, const indim_instr *instr, reader *r, indim_value **operands,
                                 indim_value *result) {
  indim_type type = instr->shape->type;
  bool is_normal = indim_rng_is_normal(instr);
  reader second = *r;
  draw d = {.type = type,
            .work = type == INDIM_F64 ? INDIM_F64 : INDIM_F32,
            .a = indim_scalar_load(type, operands[0]->data, 0),
            .b = indim_scalar_load(type, operands[1]->data, 0)};
  for (int64_t k = 0; k < result->count; k++) {
    INDIM_TRY(read_bits(e, r, k, &d.bits[0]));
    if (is_normal) {
      INDIM_TRY(read_bits(e, &second, result->count + k, &d.bits[1]));
    }
    indim_scalar x = is_normal ? normal(&d) : indim_type_is_float(type) ? uniform_float(&d) : uniform_int(&d);
    indim_scalar_store(type, result->data, k, x);
  }
  return INDIM_OK;
}

// What the instruction has drawn in this run, {low, high}.
static indim_status find_drawn(indim_evaluator *e, const indim_instr *instr, uint64_t **out_drawn) {
  indim_eval_plan *plan = &e->plans[instr->computation->index];
  if (plan->drawn == NULL) {
    void *memory = NULL;
    INDIM_TRY(indim_arena_array(&e->arena, (size_t)instr->computation->instr_count, 2 * sizeof *plan->drawn, &memory));
    plan->drawn = memory;
  }
  *out_drawn = &plan->drawn[2 * instr->index];
  return INDIM_OK;
}

indim_status indim_eval_rng(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  indim_shape bits;
  indim_rng_plan plan;
  uint64_t *drawn = NULL;
  indim_value *result = NULL;
  INDIM_TRY(indim_rng_plan_stream(e->cx, instr, &bits, &plan));
  INDIM_TRY(find_drawn(e, instr, &drawn));
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  reader r = {.plan = &plan, .first = {indim_rng_stream_key(instr), *drawn, INDIM_RNG_STREAM}, .block = -1};
  indim_status status = fill_numbers(e, instr, &r, operands, result);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *drawn += (uint64_t)plan.blocks;
  *out = result;
  return INDIM_OK;
}

// rng-get-and-update-state -------------------------------------------------------------------------------------------

// The state before, as {low, high}; delta=, unsigned, is added to it.
indim_status indim_eval_rng_get_and_update_state(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                                 indim_value **out) {
  (void)operands;
  uint64_t *drawn = NULL;
  INDIM_TRY(find_drawn(e, instr, &drawn));
  INDIM_TRY(indim_value_new(e->cx, instr->shape, out));
  generator state = advanced((generator){.low = drawn[0], .high = drawn[1]}, INDIM_RNG_FIRST_STATE);
  indim_scalar_store(INDIM_U64, (*out)->data, 0, (indim_scalar){.i = (int64_t)state.low});
  indim_scalar_store(INDIM_U64, (*out)->data, 1, (indim_scalar){.i = (int64_t)state.high});
  state =
      advanced((generator){.low = drawn[0], .high = drawn[1]}, (uint64_t)indim_instr_int(instr, INDIM_ATTR_DELTA, 0));
  drawn[0] = state.low;
  drawn[1] = state.high;
  return INDIM_OK;
}
