// The module's input_output_alias: which results may take the buffer of an argument.
#ifndef INDIM_GRAPH_ALIAS_H
#define INDIM_GRAPH_ALIAS_H

#include "graph/module.h"

// Arrays that an entry's parameters and its result consist of, counted from left to right; tokens are none.
int64_t indim_array_leaf_count(const indim_shape *shape);
// Writes these arrays' shapes, which stay where they are in |shape|, in order; answers how many.
int64_t indim_array_leaves(const indim_shape *shape, const indim_shape **out_leaves);

// Writes for every array leaf of the entry's result the number of the argument leaf whose buffer it may take, counted over
// all parameters, or -1. HloModule m, input_output_alias={ {1}: (0, {}) } gives {-1, 0} for a result of two arrays. What
// names nothing that is there says nothing; of two that name one result, and of two results that name one argument,
// the first holds.
void indim_module_aliases(const indim_module *module, int64_t *out_arguments);

#endif  // INDIM_GRAPH_ALIAS_H
