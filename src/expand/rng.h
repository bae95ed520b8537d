// Random bits and numbers as computations of existing ops, with the bits that the evaluator gives (graph/rng.h says which).
//
// Each function builds its computation behind what |builder| has, from |operands| in the place of |instr|'s own, and returns
// its root, in the default layout; NULL after an error, which the builder keeps. UNSUPPORTED are arrays of more than 2^32
// blocks (16 GiB of u8, 64 GiB of u32), and rng and rng-get-and-update-state outside the entry computation: their
// numbers depend on how often they have run.
#ifndef INDIM_EXPAND_RNG_H
#define INDIM_EXPAND_RNG_H

#include "graph/module.h"
#include "indim/builder.h"

const indim_instr *indim_expand_rng_bit_generator(indim_builder *builder, const indim_instr *instr,
                                                  const indim_instr *const *operands);
const indim_instr *indim_expand_rng(indim_builder *builder, const indim_instr *instr,
                                    const indim_instr *const *operands);
const indim_instr *indim_expand_rng_get_and_update_state(indim_builder *builder, const indim_instr *instr,
                                                         const indim_instr *const *operands);

#endif  // INDIM_EXPAND_RNG_H
