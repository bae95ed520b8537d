// The lowering of one module: what all that takes part in it shares. The rooms of src/loop, each of which may include those
// behind it alone (tests/tools/include_order.py):
//
//   loop/            lower.c: the way of a module: flow, plan, each item lowered, then the passes; control.c: while, conditional
//                    and dynamic-update-slice, which lower flows inside
//   loop/plan/       flow.c: a computation without its names: items; plan.c: where each lives: registers, memory, or nowhere
//   loop/kernels/    ops with loop nests of their own: dot, convolution, reduce, window, scan, scatter, sort
//   loop/nest/       loop nests around elements: the value of an item at an index, accesses, order, vectors, turning
//   loop/regs/       small arrays in registers: rows of lanes
//   loop/lowering/   this header: what a lowering knows, items, decisions
//   loop/pass/       passes over a finished program
//   loop/verify/     what must hold of a program
//   loop/ir/         programs: nodes, the builder, addresses taken apart, text
//   loop/target/     what code is made for
#ifndef INDIM_LOOP_LOWERING_H
#define INDIM_LOOP_LOWERING_H

#include "loop/lowering/flow.h"
#include "loop/decision/choices.h"

typedef struct indim_lower_memo indim_lower_memo;
typedef struct indim_transposition indim_transposition;

// What --explain tells of an item, kept for a report.
typedef struct indim_lower_note {
  const indim_flow_item *item;
  int32_t order;
  indim_str text;
} indim_lower_note;

typedef struct indim_lowering {
  indim_ctx *cx;
  indim_arena arena;  // of flows and plans; gone when the program is made
  indim_loop_builder b;
  indim_loop_program *program;
  const indim_target *target;
  const indim_lower_options *options;
  uint32_t without;  // decisions left out, one bit each
  indim_choices choices;
  indim_status status;  // of what is not the builder's: the first error
  indim_lower_memo *memo;
  int32_t walks;            // over what is inline, so far
  int32_t loop_depth;       // FORs that are open around what is built
  indim_lower_note *notes;  // in the order in which they were told
  int32_t note_count, note_capacity;
  struct indim_access_analysis *survey;  // running, or NULL
  indim_transposition *turn;             // likewise
} indim_lowering;

// Fails at the item's instruction, if nothing failed before.
void indim_lower_refuse(indim_lowering *l, const indim_flow_item *item, const char *reason);
bool indim_lower_failed(const indim_lowering *l);
// Memory of the lowering's arena; NULL after a failure.
void *indim_lower_alloc(indim_lowering *l, int64_t count, size_t size);
// A line of --explain, and a note for the report.
void indim_lower_explain(indim_lowering *l, const indim_flow_item *item, const char *format, ...) INDIM_PRINTF(3, 4);

// How many of |most| lanes (a power of two) the next piece of |left| elements takes: all, or a half, a quarter ...; 0 at the
// end.
static inline int32_t indim_piece_lanes(int64_t left, int32_t most) {
  while (most > left) {
    most /= 2;
  }
  return most;
}

// How many such pieces |left| elements are.
static inline int32_t indim_piece_count(int64_t left, int32_t most) {
  int32_t count = 0;
  for (int32_t lanes = 0; (lanes = indim_piece_lanes(left, most)) > 0; left -= lanes) {
    count++;
  }
  return count;
}

// The lanes (a power of two) of one vector for |left| elements.
static inline int32_t indim_covering_lanes(int64_t left) {
  int32_t lanes = 1;
  while (lanes < left) {
    lanes *= 2;
  }
  return lanes;
}

// Whether a decision is taken, and not left out.
bool indim_lower_is_enabled(const indim_lowering *l, indim_decision decision);
// Whether it is taken at an instruction where both ways are right: as a choice says, else if it |pays|; never if it is left
// out.
bool indim_lower_choose(indim_lowering *l, const indim_instr *instr, indim_decision decision, bool pays);
// The same for what can be a call of the host: NULL if it is one, else why not, which is |reason| if the estimate has one
// against it (NULL: it pays).
const char *indim_lower_choose_library(indim_lowering *l, const indim_instr *instr, const char *reason);
// The same for the threads of what is being built: work of |count|, which pays from |least| on; a sixteenth of that is never
// worth asking.
bool indim_lower_may_thread(indim_lowering *l, int64_t count, int64_t least);

typedef struct indim_element_bits {
  uint64_t bits, imag;
} indim_element_bits;
// Whether all elements of a literal are the same, and which.
bool indim_uniform_literal(const indim_literal *literal, indim_element_bits *out_bits);

#endif  // INDIM_LOOP_LOWERING_H
