// Affine expressions: sums of values with constant coefficients, plus an interval for all that is not kept symbolic.
// The builder simplifies index arithmetic with them; the verifier and the passes decompose addresses into them.
#ifndef INDIM_LOOP_AFFINE_H
#define INDIM_LOOP_AFFINE_H

#include "loop/ir/loop.h"

enum { INDIM_MAX_AFFINE_TERMS = 64 };

// The sum of coefficients times terms, plus a value in [low, high]: the window, a single number if everything is a
// term. 8 i + j + 3 with j in 0..7, of which i is kept as a term, is {i: 8} and 3..10.
typedef struct indim_affine {
  int32_t count;
  indim_value_id terms[INDIM_MAX_AFFINE_TERMS];  // ascending
  int64_t coefficients[INDIM_MAX_AFFINE_TERMS];  // never 0
  int64_t low, high;
} indim_affine;

// |value| expanded one level: a constant is a window of one number, a sum node its terms, and any other value is itself
// the only term.
void indim_affine_of(const indim_loop_program *program, indim_value_id value, indim_affine *out);
// The terms of an AFFINE node. False when they do not fit.
bool indim_affine_of_sum(const indim_loop_node *sum, indim_affine *out);

// Whether a scalar stays a symbolic term; called for body parameters, and for nodes that are neither sums nor
// constants. All other values are expanded: a sum to its terms, a for's index to the loop's begin and trip extent, and
// the rest to their ranges.
typedef bool indim_affine_keeps(const void *user, indim_value_id term);
// The elements |address| + low to |address| + high, in terms that |keeps| accepts. False when a value that must be
// expanded has no range, or when the sum gets too long.
bool indim_affine_decompose(const indim_loop_program *program, indim_value_id address, int64_t low, int64_t high,
                            indim_affine_keeps *keeps, const void *user, indim_affine *out);

// Adds coefficient * term. False on overflow or when |x| is full, as in the following; |x| is unusable then.
bool indim_affine_add(indim_affine *x, indim_value_id term, int64_t coefficient);
// Adds coefficient * [low, high] to the window.
bool indim_affine_widen(indim_affine *x, int64_t coefficient, int64_t low, int64_t high);
// Adds factor * |other|.
bool indim_affine_add_scaled(indim_affine *x, const indim_affine *other, int64_t factor);
// The coefficient of a term; 0 if it is none.
int64_t indim_affine_coefficient(const indim_affine *x, indim_value_id term);
// Removes a term, if it is one, and returns its coefficient.
int64_t indim_affine_remove(indim_affine *x, indim_value_id term);
// Whether both have the same terms with the same coefficients.
bool indim_affine_same_terms(const indim_affine *x, const indim_affine *y);
// Widens the window of |x| to include that of |other|.
void indim_affine_cover(indim_affine *x, const indim_affine *other);

// Bounds of the whole sum by the ranges of its terms; INT64_MIN or INT64_MAX where unknown.
void indim_affine_range(const indim_loop_program *program, const indim_affine *x, int64_t *out_low, int64_t *out_high);
// Whether end - begin is a constant: both are constants, or sums of the same terms.
bool indim_affine_distance(const indim_loop_program *program, indim_value_id begin, indim_value_id end, int64_t *out);

#endif  // INDIM_LOOP_AFFINE_H
