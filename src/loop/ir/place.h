// Addresses taken apart, for all who ask whether two accesses may meet: the verifier, join and share.
#ifndef INDIM_LOOP_PLACE_H
#define INDIM_LOOP_PLACE_H

#include "loop/ir/loop.h"

enum { INDIM_MAX_PLACE_TERMS = 32 };

// The sum of coefficients times terms, and something in low to high: the window. 8 i + j + 3 with j in 0..7, of which i is
// kept as a term, is {i: 8} and 3..10.
typedef struct indim_loop_place {
  int32_t count;
  indim_lval terms[INDIM_MAX_PLACE_TERMS];      // ascending, scalars
  int64_t coefficients[INDIM_MAX_PLACE_TERMS];  // none is 0
  int64_t low, high;
} indim_loop_place;

// Whether a scalar stays a term; asked of parameters, and of nodes that are neither sums nor constants. All other values are
// replaced by what they are made of: a sum by its terms, a for's index by the loop's begin and how far it gets, and in
// the end by their ranges.
typedef bool indim_loop_keeps(const void *user, indim_lval term);

// The elements |address| + low to |address| + high as one place. False when something that is to be replaced has no range, or
// when it gets too long.
bool indim_loop_take_apart(const indim_loop_program *program, indim_lval address, int64_t low, int64_t high,
                           indim_loop_keeps *keeps, const void *user, indim_loop_place *out);

// Adds coefficient * term. False when that overflows or finds no room, as in the following.
bool indim_loop_place_add(indim_loop_place *place, indim_lval term, int64_t coefficient);
// Adds coefficient * [low, high] to the window.
bool indim_loop_place_widen(indim_loop_place *place, int64_t coefficient, int64_t low, int64_t high);
// Of a term; 0 if it is none.
int64_t indim_loop_place_coefficient(const indim_loop_place *place, indim_lval term);
// Whether the same terms with the same coefficients stand in both.
bool indim_loop_place_same_terms(const indim_loop_place *x, const indim_loop_place *y);
// The window of |place| around that of |other|, too.
void indim_loop_place_cover(indim_loop_place *place, const indim_loop_place *other);

// The elements around its address that a call of the host touches of storage |i| of its list; low > high when none.
void indim_loop_host_span(const indim_loop_node *node, int32_t i, int64_t *out_low, int64_t *out_high);

#endif  // INDIM_LOOP_PLACE_H
