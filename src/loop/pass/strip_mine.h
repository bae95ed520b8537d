// Loops cut in two: each becomes a loop around a shorter one of its own steps. What stands in it, and the values that it
// gives, stay as they are.
#ifndef INDIM_LOOP_STRIP_MINE_H
#define INDIM_LOOP_STRIP_MINE_H

#include "loop/ir/rewrite.h"

// Puts the bounds 0 and |end| in front of the loop at |*link|; answers the link to the loop.
indim_loop_node **indim_loop_put_bounds(indim_loop_builder *b, indim_loop_node **link, int64_t end,
                                        indim_value_id *out);

// The parallel loop at |*link|, from |begin| to |end|, as one over its pieces:
//
//   for i in 0..4096 parallel grain 256         for p in 0..16 parallel grain 1
//     ...                                         for i in 256 p..256 p + 256
//                                                   ...
//
// Answers p.
indim_value_id indim_strip_mine_pieces(indim_loop_builder *b, indim_loop_node **link, int64_t begin, int64_t end);

// The parallel loop at |*link|, from |begin| on, with |many| of its steps in each of those of a loop like |coarse|, which goes
// from 0 on by ones:
//
//   for i in 0..8192 parallel                   for b in 0..32 parallel
//     ... load t[256 i + k]                       for j in 0..256
//                                                   ... load t[65536 b + 256 j + k]
//
// Its bounds are |bounds|. Answers b.
indim_value_id indim_strip_mine_like(indim_loop_builder *b, indim_loop_node **link, int64_t begin, int64_t many,
                                     const indim_loop_node *coarse, const indim_value_id *bounds);

#endif  // INDIM_LOOP_STRIP_MINE_H
