// Affine expressions: sums of values with constant coefficients, and a window for all that is not followed any further.
// The builder simplifies index arithmetic with them; the verifier and the passes take addresses apart into them.
#ifndef INDIM_LOOP_AFFINE_H
#define INDIM_LOOP_AFFINE_H

#include "loop/ir/loop.h"

enum { INDIM_MAX_AFFINE_TERMS = 64 };

// The sum of coefficients times terms, plus something in low to high: the window, one number if all is followed. 8 i + j + 3
// with j in 0..7, of which i is kept as a term, is {i: 8} and 3..10.
typedef struct indim_affine {
  int32_t count;
  indim_value_id terms[INDIM_MAX_AFFINE_TERMS];  // ascending
  int64_t coefficients[INDIM_MAX_AFFINE_TERMS];  // none is 0
  int64_t low, high;
} indim_affine;

// |value| as a sum of one step: a constant is a window of one number, a sum node its terms, and any other value is itself
// the only term.
void indim_affine_of(const indim_loop_program *program, indim_value_id value, indim_affine *out);
// The terms of an AFFINE node. False when there is no room for them.
bool indim_affine_of_sum(const indim_loop_node *sum, indim_affine *out);

// Whether a scalar stays a term; asked of parameters, and of nodes that are neither sums nor constants. All other values are
// replaced by what they are made of: a sum by its terms, a for's index by the loop's begin and how far it gets, and in
// the end by their ranges.
typedef bool indim_affine_keeps(const void *user, indim_value_id term);
// The elements |address| + low to |address| + high, with nothing but the terms that stay. False when something that is to
// be replaced has no range, or when it gets too long.
bool indim_affine_decompose(const indim_loop_program *program, indim_value_id address, int64_t low, int64_t high,
                            indim_affine_keeps *keeps, const void *user, indim_affine *out);

// Adds coefficient * term. False when that overflows or finds no room, as in the following; |x| is of no use then.
bool indim_affine_add(indim_affine *x, indim_value_id term, int64_t coefficient);
// Adds coefficient * [low, high] to the window.
bool indim_affine_widen(indim_affine *x, int64_t coefficient, int64_t low, int64_t high);
// Adds factor * |other|.
bool indim_affine_add_scaled(indim_affine *x, const indim_affine *other, int64_t factor);
// Of a term; 0 if it is none.
int64_t indim_affine_coefficient(const indim_affine *x, indim_value_id term);
// Takes a term out, if it is one, and answers its coefficient.
int64_t indim_affine_remove(indim_affine *x, indim_value_id term);
// Whether both have the same terms with the same coefficients.
bool indim_affine_same_terms(const indim_affine *x, const indim_affine *y);
// Makes the window of |x| include that of |other|.
void indim_affine_cover(indim_affine *x, const indim_affine *other);

// What the whole sum lies in by the ranges of its terms; INT64_MIN or INT64_MAX where nothing is known.
void indim_affine_range(const indim_loop_program *program, const indim_affine *x, int64_t *out_low, int64_t *out_high);
// Whether end - begin is the same number whenever both are computed: constants, or sums of the same terms.
bool indim_affine_distance(const indim_loop_program *program, indim_value_id begin, indim_value_id end, int64_t *out);

#endif  // INDIM_LOOP_AFFINE_H
