// Widening: vectors of a number of lanes that is no power of two get more lanes, of any value, until it is one. Code
// generators know registers of powers of two; anything else they take apart into single lanes on the way from one stretch
// of code to another, and shuffle by way of memory. Only loads and stores keep their lanes:
//
//   v1: f64x6 = load a[0]         v3: f64x6 = load a[0]
//                                 v1: f64x8 = shuffle v3 {0, 1, 2, 3, 4, 5, _, _}
//   v2: f64x6 = add v1, v1        v2: f64x8 = add v1, v1
//                                 v4: f64x6 = shuffle v2 {0, 1, 2, 3, 4, 5}
//   store r[0], v2                store r[0], v4
#ifndef INDIM_LOOP_WIDEN_H
#define INDIM_LOOP_WIDEN_H

#include "loop/loop.h"

// Rewrites a finished program; no result changes. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_loop_widen(indim_loop_program *program);

#endif  // INDIM_LOOP_WIDEN_H
