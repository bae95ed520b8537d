// Internal to element*.c, coord.c, access.c and nest.c: coordinates, and the access analysis that precedes each nest.
#ifndef INDIM_LOOP_ELEMENT_H
#define INDIM_LOOP_ELEMENT_H

#include "array/permutation.h"
#include "loop/nest/nest.h"

// Memoized values (memo.c) --------------------------------------------------------------------------------------------

// The memoized value of an item at an index, if it is in scope; 0 otherwise.
indim_value_id indim_memo_find(const indim_element_ctx *k, const indim_flow_item *item, const indim_coord *index,
                               indim_value_id mask);
void indim_memo_keep(indim_element_ctx *k, const indim_flow_item *item, const indim_coord *index, indim_value_id mask,
                     indim_value_id value);
// Clears the table: at the start of every region.
void indim_element_forget(indim_lowering *l);

// Coordinates (coord.c) -----------------------------------------------------------------------------------------------

// Lanes of a value; 1 for none.
static inline int32_t indim_coord_value_lanes(const indim_element_ctx *k, indim_value_id v) {
  return indim_loop_value_of(&k->l->b, v)->lanes;
}
// Whether lanes of a coordinate differ.
bool indim_coord_has_lanes(const indim_element_ctx *k, indim_coord x);
// The coordinate as a value with one number per lane.
indim_value_id indim_coord_lanes(indim_element_ctx *k, indim_coord x);
// The same in another integer type, whose sums wrap, if the base is a scalar.
indim_value_id indim_coord_lanes_as(indim_element_ctx *k, indim_coord x, indim_type type);
indim_coord indim_coord_const(indim_element_ctx *k, int64_t value);
indim_coord indim_coord_add(indim_element_ctx *k, indim_coord x, indim_coord y);
indim_coord indim_coord_scale(indim_element_ctx *k, indim_coord x, int64_t factor, int64_t constant);
// x / divisor and x % divisor. Both stay affine in the lane if the lanes provably do not cross a multiple of the
// divisor.
void indim_coord_divide(indim_element_ctx *k, indim_coord x, int64_t divisor, indim_coord *out_quotient,
                        indim_coord *out_remainder);
// low <= x <= high, as a pred of one lane or all; 0 when always true, and |*out_never| when never true. An access
// analysis records split points at both ends.
indim_value_id indim_coord_guard(indim_element_ctx *k, indim_coord x, int64_t low, int64_t high, bool *out_never);
// The conjunction of two masks; 0 is a mask that is always true.
indim_value_id indim_mask_and(indim_element_ctx *k, indim_value_id x, indim_value_id y);
// A select whose operands have one lane or all.
indim_value_id indim_select_lanes(indim_element_ctx *k, indim_value_id pred, indim_value_id on_true,
                                  indim_value_id on_false);

// Elements (element.c, element_move.c, element_memory.c) --------------------------------------------------------------

// Whether element.c computes the op.
bool indim_element_can(const indim_instr *instr);
// The value of |item| computed inline even though it is placed in memory (the nest that fills it is being built).
indim_value_id indim_element_compute(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index);
// The function that computes an op that moves elements; NULL for other ops.
typedef indim_value_id indim_element_move(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                          indim_value_id mask);
indim_element_move *indim_element_move_of(const indim_instr *instr);
// Loads elements of an array in memory; masked-off lanes are 0.
indim_value_id indim_load_item(indim_element_ctx *k, const indim_flow_item *item, const indim_location *at,
                               const indim_coord *index, indim_value_id mask);
// (packed.c) |lanes| elements of a packed array from the place |address| on; masked-off lanes touch no memory and are undefined.
indim_value_id indim_packed_load(indim_element_ctx *k, indim_type type, const indim_location *at, indim_coord address,
                                 int32_t lanes, indim_value_id mask);
// The start index of dimension |d|, from the operands starting at |first|, clamped to 0..|most|.
indim_value_id indim_clamp_start(indim_element_ctx *k, indim_flow_item **operands, int32_t operand_count, int32_t first,
                                 int32_t d, int64_t most);

// In-register transpose (transpose.c) ---------------------------------------------------------------------------------

enum { INDIM_TRANSPOSE_LANES = 32 };
// As many vectors as each has lanes (a power of two, at most INDIM_TRANSPOSE_LANES): lane k of row i becomes lane i of row k.
void indim_transpose_square(indim_lowering *l, int32_t lanes, const indim_value_id *rows, indim_value_id *out);

// The dimension along which arrays are contiguous that are strided along the nest's vector dimension; -1: none.
int32_t indim_transpose_dim(const indim_nest *nest);
// Whether an access is to be loaded transposed.
bool indim_transpose_applies(const indim_nest *nest, const indim_access *access);
// Whether a nest that transposes also reads arrays that are not transposed.
bool indim_transpose_is_mixed(const indim_nest *nest);
enum { INDIM_MAX_SQUARES = 8 };
// Builds lanes x (squares * lanes) elements, from |w| along the transposed and |v| along the vector dimension.
// |squares| is at most INDIM_MAX_SQUARES. Where a dimension is joined, squares behind the end of the vector's (|v| is 0) are at its
// next index.
void indim_transpose_block(indim_nest *nest, indim_coord *index, indim_value_id w, indim_value_id v, int32_t squares);

// A block transposed through a packed panel: its start (w, v) and its extents along the transposed (rows) and the
// vector dimension (columns), each at least a vector.
typedef struct indim_panel {
  indim_value_id w, v;
  int64_t rows, columns;
} indim_panel;
// Transposes a block of each such array into the nest's panels. Loads of them read the panels until
// indim_transpose_end.
void indim_transpose_fill(indim_nest *nest, indim_coord *index, const indim_panel *panel);
void indim_transpose_end(indim_lowering *l);
// Called before the nest's body is built at |index|.
void indim_transpose_enter(indim_lowering *l, const indim_coord *index);

// The value of the next load, which reads |item| at |index|: a transposed register, or a load from a panel; 0: an ordinary load.
indim_value_id indim_transpose_find(indim_element_ctx *k, const indim_flow_item *item, const indim_coord *index);
// Records a load, or an element extracted from a register (index NULL, not contiguous, value 0).
void indim_transpose_note(indim_lowering *l, const indim_flow_item *item, const indim_coord *index, bool is_contiguous,
                          indim_value_id value);

// Rows of a short dimension (stack.c) ----------------------------------------------------------------------------------

enum { INDIM_STACK_ROW = 32, INDIM_STACK_LANES = 512 };  // elements of a row, and of all rows that a vector meets

// What is stored for the elements of such rows, one vector each.
typedef struct indim_stack {
  int64_t size;     // of a row
  bool is_regular;  // all go to one storage, with the stride of a row
  int32_t count;
  indim_storage *storage;
  indim_value_id addresses[INDIM_STACK_ROW];
  indim_value_id values[INDIM_STACK_ROW];
  int64_t steps[INDIM_STACK_ROW];
} indim_stack;

void indim_stack_keep(indim_element_ctx *k, indim_storage *storage, indim_value_id address, indim_value_id value,
                      int64_t step);
// Stores what |k|'s stack has kept.
void indim_stack_store(indim_element_ctx *k);

// Nests (nest.c): parts shared with nest_transpose.c ------------------------------------------------------------------

enum {
  INDIM_NEST_PIECES = 16,   // of a parallel loop, or a few more
  INDIM_NEST_SEGMENTS = 24  // of all dimensions, at most, that a nest is split into where guards change their values
};

// The size of the rows that the body is written out for; 1: of none.
static inline int64_t indim_nest_row(const indim_nest *nest) {
  return nest->stacked > 0 ? nest->sizes[nest->stacked - 1] : 1;
}
// Builds the body, for each element of a row.
void indim_nest_rows(indim_nest *nest, indim_element_ctx *k, indim_coord *index);
// The bounds of the segments of one dimension, from 0 to its size; returns the number of segments.
int32_t indim_nest_borders(const indim_nest *nest, int32_t dim, int32_t segments, int64_t *borders);
// The most elements in one of them: vectors do not go beyond.
int64_t indim_nest_longest_segment(const indim_nest *nest, int32_t dim);
// |count| elements starting at |from|, unrolled: full vectors, then a half, a quarter, ... of one.
void indim_nest_remainder(indim_nest *nest, indim_coord *index, indim_value_id from, int64_t count);
// A scalar loop over low to high.
void indim_nest_scalar_loop(indim_nest *nest, indim_coord *index, indim_value_id low, indim_value_id high);
// A vector loop over low to high with its remainder.
void indim_nest_vector_loop(indim_nest *nest, indim_coord *index, int64_t low, int64_t high, bool threads);
// Of all arrays that it accesses.
int64_t indim_nest_bytes(const indim_nest *nest);
// Elements of the stored array in a cache line, at least a vector.
int64_t indim_nest_line(const indim_nest *nest);
// The number of elements from |low| to the next cache line of the result, and the elements per line; 0 when the store
// is not known to be contiguous along the vector dimension.
indim_value_id indim_nest_before_line(const indim_nest *nest, const indim_coord *index, int64_t low, int64_t *out_line);
int64_t indim_nest_elements(const indim_nest *nest);
// Whether a loop over so many elements should be parallel: only outermost loops are.
bool indim_nest_worth_threads(const indim_nest *nest, int64_t elements);
// Whether threads share as much where loops over few iterations are not unrolled: the loop around vectors is an inner one then.
// Sizes and order are all it needs.
bool indim_nest_keeps_threads(const indim_nest *nest);
// A loop over low to high; with |threads| a parallel loop over pieces around it, so that each piece has its own panels.
indim_value_id indim_nest_pieces_begin(indim_nest *nest, int64_t low, int64_t high, bool threads);
void indim_nest_pieces_end(indim_nest *nest, bool threads);
// (nest_transpose.c) Enlarges the panels for |count| pieces and selects those of |piece|.
void indim_nest_make_panels(indim_nest *nest, indim_value_id piece, int64_t count);
// (nest_squares.c) The same in part of both dimensions, in squares that are transposed in registers; and for all of the joined and
// the vector dimension, where |nest| has such: each line of the result is filled at once.
void indim_nest_squares(indim_nest *nest, indim_coord *index, const int64_t *w, const int64_t *v);
void indim_nest_squares_joined(indim_nest *nest, indim_coord *index, const int64_t *w);
// (nest_transpose.c) The loops of the vector and the transposed dimension.
void indim_nest_transposed(indim_nest *nest, indim_coord *index, int32_t segments);

// recast.c: bitcast-convert and bitcast where the element widths differ or the order in memory matters.
bool indim_recast_can(const indim_instr *instr);
// Whether a bitcast only moves elements: both sides have the same ones, in the order of their layouts.
bool indim_recast_is_move(const indim_instr *instr);
// The unsigned type as wide as |type| in memory; INVALID if there is none.
indim_type indim_recast_unsigned(indim_type type);
indim_value_id indim_recast(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index, indim_value_id mask);

// Access analysis -----------------------------------------------------------------------------------------------------

// State of a dry run of one element at a general index.
typedef struct indim_access_analysis {
  int32_t rank;
  indim_value_id index[INDIM_MAX_RANK];  // the general index: one value for each dimension of the nest
  indim_access_list *list;               // the result
  bool is_of_bits;                       // what is read now is wanted as the integers of its bits, not converted
} indim_access_analysis;

// The following record in the list of the running analysis; without one they do nothing.

// An element of |at| is read for |item|, or stored, at |address|.
void indim_access_note_read(indim_lowering *l, const indim_flow_item *item, const indim_location *at,
                            indim_value_id address);
void indim_access_note_store(indim_lowering *l, const indim_location *at, indim_value_id address);
// A guard changes its value where |x| reaches |value|.
void indim_access_note_split(indim_lowering *l, indim_coord x, int64_t value);
// |x| is used as a value, not only in addresses.
void indim_access_note_value_use(indim_lowering *l, indim_coord x);
// |x| was divided. If the quotient is constant, it would not be were the dimension collapsed with another; otherwise
// the dimension may be split.
void indim_access_note_divided(indim_lowering *l, indim_coord x, int64_t divisor, indim_value_id quotient);
// A value of |type| is held in registers.
void indim_access_note_type(indim_lowering *l, indim_type type);
// Whether the values from here on are wanted as integers; answers what was said before.
bool indim_access_note_bits(indim_lowering *l, bool is_of_bits);

#endif  // INDIM_LOOP_ELEMENT_H
