// How a loop touches memory: what its steps read and write of each storage, as windows that move on with the loop's index.
//
//   for i in 0..64                         a: read at 8 i + [0, 7]; r: written at 8 i + [0, 7]
//     v3: f32x8 = load a[8 i]
//     store r[8 i], v3
#ifndef INDIM_LOOP_TOUCH_H
#define INDIM_LOOP_TOUCH_H

#include "loop/ir/affine.h"

enum { INDIM_TOUCH_STORAGES = 64 };

// One storage: at stride * index + the same outer terms everywhere, and a window.
typedef struct indim_touch {
  int32_t storage;  // the root of those with the same bytes
  int32_t count;    // of loads, stores, fills, and operands of calls
  bool reads, writes;
  bool is_known;
  int64_t stride;
  indim_affine outer;
} indim_touch;

typedef struct indim_touches {
  indim_loop_program *program;
  const indim_loop_node *loop;
  indim_lval index;
  indim_touch list[INDIM_TOUCH_STORAGES];
  int32_t count;
  bool is_opaque;  // copies, loops without a count, or touches too many storages
} indim_touches;

// Looks at a for and all that stands in it.
void indim_touches_look(indim_loop_program *program, const indim_loop_node *loop, indim_touches *out);
// The bytes of |storage|, whichever storage they count as; NULL: the loop does not touch them.
indim_touch *indim_touches_find(indim_touches *t, int32_t storage);
// Widens |to| by another window that moves alike; false when it does not.
bool indim_touch_absorb(indim_touch *to, const indim_touch *other);
// Elements of the window.
int64_t indim_touch_width(const indim_touch *t);

#endif  // INDIM_LOOP_TOUCH_H
