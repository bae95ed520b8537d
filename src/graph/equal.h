// Whether instructions compute the same.
#ifndef INDIM_GRAPH_EQUAL_H
#define INDIM_GRAPH_EQUAL_H

#include "graph/module.h"

// Whether both compute the same from equal operands: op, shape with its layout, constant, attributes that mean something, and
// called computations, compared by structure. False where that is not known, and for what has an effect or calls a function of
// the caller's.
bool indim_instr_computes_same(const indim_instr *a, const indim_instr *b);

#endif  // INDIM_GRAPH_EQUAL_H
