// Random bits: which generator an instruction means, how many of its blocks an array takes, and in which block the bits of
// each element are. What a block holds is computed by the evaluator (eval/eval_rng.c) and by the expansion into
// elementwise ops (expand/rng.c).
//
// Both generators are counter-based (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011):
// block i is a function of a key and of the counter plus i, and has the words of 32 bits w0, w1, ...
//
//   Philox 4x32, 10 rounds      four words; key and counter of 64 and 128 bits
//   ThreeFry 2x32, 20 rounds    two words; key and counter of 64 bits
//
// rng-bit-generator, with XLA:CPU's bits (rng_default is Philox there):
//
//   ThreeFry           state u64[2] {key, counter}             new state {key, counter + blocks}
//   Philox             state u64[2] {key, counter}             likewise; the counter's upper half is the key
//                      state u64[3] {key, low, high}           {key, (low, high) + blocks}, with the carry
//
// The elements in row-major order take the words one after another, those of 64 bits two each, the lower one first; narrower
// ones take a word each and keep its lowest bits. Only ThreeFry with one word an element differs: the two words of a
// block go to neighbours 2i and 2i + 1 along one dimension, the first of even size, or the longest where all are odd. Of
// an odd size the last block's second word is dropped.
#ifndef INDIM_GRAPH_RNG_H
#define INDIM_GRAPH_RNG_H

#include "graph/module.h"

// Constants of the generators.
#define INDIM_PHILOX_MULTIPLIER_0 UINT32_C(0xD2511F53)
#define INDIM_PHILOX_MULTIPLIER_1 UINT32_C(0xCD9E8D57)
#define INDIM_PHILOX_KEY_STEP_0 UINT32_C(0x9E3779B9)
#define INDIM_PHILOX_KEY_STEP_1 UINT32_C(0xBB67AE85)
#define INDIM_THREE_FRY_PARITY UINT32_C(0x1BD11BDA)
#define INDIM_THREE_FRY_ROTATIONS \
  { 13, 15, 26, 6, 17, 29, 16, 24 }
enum { INDIM_PHILOX_ROUNDS = 10, INDIM_THREE_FRY_ROUNDS = 20 };

// How an array takes its bits.
typedef struct indim_rng_plan {
  const indim_shape *shape;  // of the bits
  bool is_three_fry;
  int32_t words;   // of an element: 1, or 2 for types of 64 bits
  int64_t count;   // elements
  int64_t blocks;  // that they take
  // Where the two words of a block go to neighbours along a dimension (elsewhere |pairs| is false):
  bool pairs;
  int64_t size;   // of that dimension; 1 for a scalar
  int64_t inner;  // elements of the dimensions after it
} indim_rng_plan;

// The plan of a rng-bit-generator. UNSUPPORTED for a state that its generator does not have (rng_default states none).
INDIM_CHECKED indim_status indim_rng_plan_init(indim_ctx *cx, const indim_instr *instr, indim_rng_plan *out_plan);
// The block that has element |k| in row-major order, and which of its words (the first of two).
int64_t indim_rng_block(const indim_rng_plan *plan, int64_t k, int32_t *out_word);

// rng: no generator is stated, so this is ours. Every rng of a module draws from a Philox stream of its own: the key is
// its place in the module, the upper half of the counter is INDIM_RNG_STREAM, and the lower half goes on where the
// instruction, in a loop say, ended the last time; it begins at 0 in each run. So the numbers follow from the module.
//
//   uniform    a + (b - a) u; u: the upper bits of a word (f64: of two), as many as the type's mantissa holds, times a power
//              of two. x < b wherever a < b, rounding or not; anything else gives a. Integers: a + floor((b - a) u)
//   normal     mean + deviation * sqrt(-2 log u) cos(2 pi v); u in (0, 1] of element k, v in [0, 1) of element count + k
#define INDIM_RNG_STREAM UINT64_C(0x243F6A8885A308D3)
uint64_t indim_rng_stream_key(const indim_instr *instr);
bool indim_rng_is_normal(const indim_instr *instr);
// The plan of its bits: a vector of u32 or u64, for the normal distribution of two for each element. |out_shape| is the
// vector's. UNSUPPORTED for types without a meaning: pred and floats of 8 bits and less.
INDIM_CHECKED indim_status indim_rng_plan_stream(indim_ctx *cx, const indim_instr *instr, indim_shape *out_shape,
                                                 indim_rng_plan *out_plan);
// Bits of a uniform number before its type rounds: 24 for f32.
int32_t indim_rng_mantissa_bits(indim_type type);

// rng-get-and-update-state: each has a counter of 128 bits, {low, high}, that every run begins with the value that XLA:CPU
// begins with.
#define INDIM_RNG_FIRST_STATE UINT64_C(0x7012395)

#endif  // INDIM_GRAPH_RNG_H
