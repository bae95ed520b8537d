// Ops that are made of others: what comes in is an instruction of an op that the compiler has no loops for, what goes out
// a computation of simpler ops that gives the same, of parameters that are the instruction's operands (XLA: expander
// passes). A batch norm becomes reductions and elementwise ops, a scan a while loop, an all-reduce of one device its
// operand. The evaluator knows nothing of this: it has plain functions for the same ops, and the two are compared.
//
// Each expansion is a module of its own, kept here, since what is made of it points to its instructions. These bear the
// name of the instruction they stand for before their own (y.reduce.5) and its place in the source, so that messages lead
// there. They may call computations of the instruction's module.
#ifndef INDIM_EXPAND_EXPAND_H
#define INDIM_EXPAND_EXPAND_H

#include "graph/module.h"

typedef struct indim_expansion {
  const indim_instr *instr;  // NULL: a free slot
  indim_module *module;      // its entry is the computation
} indim_expansion;

typedef struct indim_expansions {
  indim_ctx *cx;
  indim_expansion *slots;  // a hash table by the address of the instruction
  size_t count, capacity;  // a power of two, or 0
} indim_expansions;

void indim_expansions_init(indim_expansions *e, indim_ctx *cx);
void indim_expansions_deinit(indim_expansions *e);

// The computation for |instr|, the same for each call; NULL in |*out| for an op that is not made of others. Of integers the
// |bytes| low bytes are as the instruction gives them (needed.h); those follow from where it stands. It lives as long as |e|. UNSUPPORTED at the instruction for what its op can say and no expansion does.
INDIM_CHECKED indim_status indim_expand(indim_expansions *e, const indim_instr *instr, int32_t bytes,
                                        const indim_computation **out);
// Whether a while loop runs on each element of arrays by itself until that is done: its expansion does so in blocks
// (while_elementwise.c).
bool indim_expand_is_while_elementwise(const indim_instr *loop);
// The same of a loop that makes the same steps for all elements of arrays that do not fit the first cache.
bool indim_expand_is_while_counted(const indim_instr *loop);
// The instruction of |module| that an instruction of an expansion stands for; one of |module| itself is that. The module of an
// expansion that is not among these: NULL.
const indim_instr *indim_expansion_source(const indim_expansions *e, const indim_module *module,
                                          const indim_instr *instr);

#endif  // INDIM_EXPAND_EXPAND_H
