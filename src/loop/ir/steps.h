// The steps of a finished program: what is shown and timed as one. A loop nest is a step, with whatever calls of the host are
// in it; so is a while without a step inside; ifs, and whiles with steps, are walked into. Straight-line code is no step.
// They are numbered from 0 in the order of the program, and do not nest.
//
//   v2: f32x8 = load b[0]
//   for ... parallel                                   0  LOOP
//   host matmul ...                                    1  HOST
//   while ...
//     for ...                                          2  LOOP
//     copy ...                                         3  COPY
//     store s[0], v9
#ifndef INDIM_LOOP_STEPS_H
#define INDIM_LOOP_STEPS_H

#include "loop/ir/loop.h"

typedef enum indim_step_kind {
  INDIM_STEP_LOOP,
  INDIM_STEP_HOST,
  INDIM_STEP_COPY,
  INDIM_STEP_FILL,
  INDIM_STEP_WHILE,
  INDIM_STEP_KIND_COUNT
} indim_step_kind;

typedef struct indim_step {
  indim_step_kind kind;
  const indim_loop_node *node;
} indim_step;

// "loop", "host", ...
const char *indim_step_kind_text(indim_step_kind kind);
// Lists them in |arena|. NO_MEMORY.
INDIM_CHECKED indim_status indim_program_steps(const indim_loop_program *program, indim_arena *arena,
                                               indim_step **out_steps, int32_t *out_count);

// What one execution of a step reads and writes of a storage. Each element counts once, however often it is accessed.
typedef struct indim_step_touch {
  int32_t storage;
  double bytes_read, bytes_written;
} indim_step_touch;

// What one execution of a step costs, by the bounds of its loops; of a while, one iteration.
typedef struct indim_step_cost {
  double bytes_read, bytes_written;  // of all touches
  double operations;                 // on elements, counted as indim_module_cost does: two for a product and its sum
  double transcendentals;            // exponentials, logarithms, sines and the like, not among the operations
  int32_t lanes;                     // of its widest access or operation
  bool is_parallel;
  int32_t touch_count;
  indim_step_touch *touches;
} indim_step_cost;

// Fills |out_costs|, an element for each step, in |arena|. NO_MEMORY.
INDIM_CHECKED indim_status indim_loop_step_costs(const indim_loop_program *program, indim_arena *arena,
                                                 const indim_step *steps, int32_t count, indim_step_cost **out_costs);

#endif  // INDIM_LOOP_STEPS_H
