// The inside of element*.c, coord.c, access.c and nest.c: coordinates, and the survey that a nest makes before it is built.
#ifndef INDIM_LOOP_ELEMENT_H
#define INDIM_LOOP_ELEMENT_H

#include "array/permutation.h"
#include "loop/nest/nest.h"

// What was computed before (memo.c) ------------------------------------------------------------------------------------

// An item at an index: lanes, mask, and two words for each coordinate.
typedef struct indim_memo_key {
  uint64_t hash;
  const indim_flow_item *item;
  int32_t count;
  int64_t words[2 + 2 * INDIM_MAX_RANK];
} indim_memo_key;
indim_memo_key indim_memo_key_of(const indim_element_ctx *k, const indim_flow_item *item, const indim_coord *index,
                                 indim_value_id mask);
// The value, if it was computed where it is still known; 0 otherwise.
indim_value_id indim_memo_find(const indim_lowering *l, const indim_memo_key *key);
void indim_memo_keep(indim_lowering *l, const indim_memo_key *key, indim_value_id value);
// Forgets all that was computed: at the start of every kernel.
void indim_element_forget(indim_lowering *l);

// Coordinates (coord.c) ------------------------------------------------------------------------------------------------

// Lanes of a value; 1 for none.
static inline int32_t indim_coord_value_lanes(const indim_element_ctx *k, indim_value_id v) {
  return indim_loop_value_of(&k->l->b, v)->lanes;
}
// Whether lanes of a coordinate differ.
bool indim_coord_has_lanes(const indim_element_ctx *k, indim_coord x);
// All lanes of a coordinate, one by one.
indim_value_id indim_coord_lanes(indim_element_ctx *k, indim_coord x);
indim_coord indim_coord_const(indim_element_ctx *k, int64_t value);
indim_coord indim_coord_add(indim_element_ctx *k, indim_coord x, indim_coord y);
indim_coord indim_coord_scale(indim_element_ctx *k, indim_coord x, int64_t factor, int64_t constant);
// x / divisor and x % divisor. Lanes stay on a line when they provably do not cross a multiple of the divisor.
void indim_coord_divide(indim_element_ctx *k, indim_coord x, int64_t divisor, indim_coord *out_quotient,
                        indim_coord *out_rest);
// low <= x <= high, as a pred of one lane or all; 0 when that is always so, and *|out_never| when it is never so. A
// survey makes a cut where it begins and ends.
indim_value_id indim_coord_guard(indim_element_ctx *k, indim_coord x, int64_t low, int64_t high, bool *out_never);
// Both masks; 0 stands for one that is always true.
indim_value_id indim_mask_and(indim_element_ctx *k, indim_value_id x, indim_value_id y);
// A select of values and a pred of one lane or all.
indim_value_id indim_select_lanes(indim_element_ctx *k, indim_value_id pred, indim_value_id on_true,
                                  indim_value_id on_false);

// Elements (element.c, element_move.c, element_memory.c) ---------------------------------------------------------------

// Whether element.c computes the op.
bool indim_element_can(const indim_instr *instr);
// The value of |item| computed even though it is to live somewhere (its kernel is being built).
indim_value_id indim_element_compute(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index);
// What computes an op that moves elements; NULL for others.
typedef indim_value_id indim_element_move(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                          indim_value_id mask);
indim_element_move *indim_element_move_of(const indim_instr *instr);
// The elements of an array in memory; those that the mask leaves out are 0.
indim_value_id indim_load_item(indim_element_ctx *k, const indim_flow_item *item, const indim_location *at,
                               const indim_coord *index, indim_value_id mask);
// The start along dimension |d| that the operands from |first| on give, clamped to 0..|most|.
indim_value_id indim_clamp_start(indim_element_ctx *k, indim_flow_item **operands, int32_t operand_count, int32_t first,
                                 int32_t d, int64_t most);

// Turning (transpose.c) -----------------------------------------------------------------------------------------------------

// The dimension along which arrays are contiguous that the nest's vector dimension reads with a stride; -1: none.
int32_t indim_transpose_dim(const indim_nest *nest);
// Whether what an access reads is turned.
bool indim_transpose_wants(const indim_nest *nest, const indim_access *access);
// Whether a nest that turns also reads arrays of which nothing is turned.
bool indim_transpose_is_mixed(const indim_nest *nest);
enum { INDIM_MAX_SQUARES = 8 };
// Builds lanes x (squares lanes) elements, from |w| along the turned and |v| along the vector dimension. At most
// INDIM_MAX_SQUARES.
void indim_transpose_block(indim_nest *nest, indim_coord *index, indim_value_id w, indim_value_id v, int32_t squares);

// A block that is turned in memory: its place, and how long it is along the turned and the vector dimension, at least as
// long as a vector.
typedef struct indim_panel {
  indim_value_id w, v;
  int64_t rows, columns;
} indim_panel;
// Turns a block of each array into the nest's panels. From now on loads of these are given from there, until the end.
void indim_transpose_fill(indim_nest *nest, indim_coord *index, const indim_panel *panel);
void indim_transpose_end(indim_lowering *l);
// The nest's body is going to be built at |index|.
void indim_transpose_enter(indim_lowering *l, const indim_coord *index);

// What the next load is to give, which reads |item|: a turned register, or what lies in a panel; 0: load.
indim_value_id indim_transpose_find(indim_element_ctx *k, const indim_flow_item *item);
// A load was made, or an element taken out of a register (not contiguous, value 0).
void indim_transpose_note(indim_lowering *l, const indim_flow_item *item, bool is_contiguous, indim_value_id value);

// Nests (nest.c): what the loops around turned blocks are made of (nest_transpose.c) ------------------------------------------

enum { INDIM_NEST_PIECES = 16 };  // that a parallel loop is cut into, or a few more

// The borders of the segments of one dimension, from 0 to its size; answers how many segments there are.
int32_t indim_nest_borders(const indim_nest *nest, int32_t dim, int32_t segments, int64_t *borders);
// |count| elements from |from| on, a number known now, in full vectors and then in halves of one.
void indim_nest_remainder(indim_nest *nest, indim_coord *index, indim_value_id from, int64_t count);
// Elements low to high one by one.
void indim_nest_scalar_loop(indim_nest *nest, indim_coord *index, indim_value_id low, indim_value_id high);
// Elements low to high in loops of vectors.
void indim_nest_vector_loop(indim_nest *nest, indim_coord *index, int64_t low, int64_t high, bool threads);
// The elements of what is stored that a cache line holds, and at least a vector.
int64_t indim_nest_line(const indim_nest *nest);
// How many elements from |low| on are stored before the next cache line of the result, and how many a line has; 0 when the
// address is not known to move with the vector's lanes.
indim_value_id indim_nest_before_line(const indim_nest *nest, const indim_coord *index, int64_t low, int64_t *out_line);
int64_t indim_nest_elements(const indim_nest *nest);
// Whether so many elements are worth threads, if no loop stands around them.
bool indim_nest_worth_threads(const indim_nest *nest, int64_t elements);
// A loop over low to high; with threads one over pieces and another inside, so that each piece has panels of its own.
indim_value_id indim_nest_pieces_begin(indim_nest *nest, int64_t low, int64_t high, bool threads);
void indim_nest_pieces_end(indim_nest *nest, bool threads);
// (nest_transpose.c) Makes room for so many pieces, of which |piece| runs.
void indim_nest_make_panels(indim_nest *nest, indim_value_id piece, int64_t count);
// (nest_transpose.c) The loops of the vector and the turned dimension.
void indim_nest_transposed(indim_nest *nest, indim_coord *index, int32_t segments);

// recast.c: bitcast-convert, and bitcast to another type, where the widths differ or the order in memory counts.
bool indim_recast_can(const indim_instr *instr);
indim_value_id indim_recast(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index, indim_value_id mask);

// Survey ---------------------------------------------------------------------------------------------------------------

// What is seen while one element at a general index is computed for nothing.
typedef struct indim_access_analysis {
  int32_t rank;
  indim_value_id index[INDIM_MAX_RANK];  // the general index: one value for each dimension of the nest
  indim_access_list *list;               // what is noted
} indim_access_analysis;

// The following note something in the list of the running survey; without one they do nothing.

// An element of |at| is read for |item|, or stored, at |address|.
void indim_access_note_read(indim_lowering *l, const indim_flow_item *item, const indim_location *at,
                            indim_value_id address);
void indim_access_note_store(indim_lowering *l, const indim_location *at, indim_value_id address);
// A guard changes its mind where |x| reaches |value|.
void indim_access_note_split(indim_lowering *l, indim_coord x, int64_t value);
// |x| is used for itself, not for an address.
void indim_access_used_alone(indim_lowering *l, indim_coord x);
// |x| was divided: a quotient that is one number for all of |x| would not be if |x| were merged with another;
// for any other, the dimension may be split.
void indim_access_note_divided(indim_lowering *l, indim_coord x, int64_t divisor, indim_value_id quotient);
// A value of |type| is held in registers.
void indim_access_note_type(indim_lowering *l, indim_type type);

#endif  // INDIM_LOOP_ELEMENT_H
