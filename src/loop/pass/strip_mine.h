// Strip-mining: a loop becomes a loop around a shorter one of its own iterations. The nodes nested in it and the values
// that these define stay the same.
#ifndef INDIM_LOOP_STRIP_MINE_H
#define INDIM_LOOP_STRIP_MINE_H

#include "loop/ir/rewrite.h"

// Inserts the bounds 0 and |end| before the loop at |*link|; returns the link to the loop.
indim_loop_node **indim_loop_put_bounds(indim_loop_builder *b, indim_loop_node **link, int64_t end,
                                        indim_value_id *out);

// Replaces the node at |*link|, which is detached then, by an empty parallel loop of step 1, to be given a body. NULL after a
// failure.
indim_loop_node *indim_strip_mine_around(indim_loop_builder *b, indim_loop_node **link, const indim_value_id *bounds,
                                         int64_t grain);

// Makes the parallel loop at |*link|, from |begin| to |end|, one over its pieces:
//
//   for i in 0..4096 parallel grain 256         for p in 0..16 parallel grain 1
//     ...                                         for i in 256 p..256 p + 256
//                                                   ...
//
// Returns p.
indim_value_id indim_strip_mine_pieces(indim_loop_builder *b, indim_loop_node **link, int64_t begin, int64_t end);

// Strip-mines the parallel loop at |*link|, from |begin| on, by |many| iterations, to match a loop like |coarse|, which
// runs from 0 on in steps of 1:
//
//   for i in 0..8192 parallel                   for b in 0..32 parallel
//     ... load t[256 i + k]                       for j in 0..256
//                                                   ... load t[65536 b + 256 j + k]
//
// |bounds| are the bounds of the new outer loop. Returns b.
indim_value_id indim_strip_mine_like(indim_loop_builder *b, indim_loop_node **link, int64_t begin, int64_t many,
                                     const indim_loop_node *coarse, const indim_value_id *bounds);

#endif  // INDIM_LOOP_STRIP_MINE_H
