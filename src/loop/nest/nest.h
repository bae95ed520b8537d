// Loop nests over elements: coordinates, locations of arrays, the value of an item at an index, access analysis, and
// nests. element.h is internal. Two circles of calls: element.c, element_move.c and recast.c, because the value of an item is
// made of values of its operands; nest.c and nest_transpose.c, because a transposed nest has plain loops at its edges.
#ifndef INDIM_LOOP_NEST_H
#define INDIM_LOOP_NEST_H

#include "loop/lowering/lowering.h"

// Coordinates ---------------------------------------------------------------------------------------------------------

// One coordinate of |lanes| elements: lane k is at base + k * step. If the lanes are not affine, |base| is a vector and
// |step| is 0.
typedef struct indim_coord {
  indim_value_id base;
  int64_t step;
} indim_coord;

// Emission context: |lanes| elements at a time.
typedef struct indim_element_ctx {
  indim_lowering *l;
  int32_t lanes;
  bool is_trial;              // nothing is stored
  bool streams;               // non-temporal stores
  struct indim_stack *stack;  // that keeps what is stored, or NULL
} indim_element_ctx;

// location.c ----------------------------------------------------------------------------------------------------------

// The location of an array of |shape| at the start of |storage|, laid out as the shape says.
indim_location indim_location_of(indim_lowering *l, const indim_shape *shape, indim_storage *storage);
// A new scratch array of |shape| in the order of its layout (row-major without one), without padding and tiles; and one for
// |item|.
indim_location indim_location_new(indim_lowering *l, const indim_shape *shape, const char *name);
indim_location indim_location_scratch(indim_lowering *l, const indim_flow_item *item);
// The address of an index: one s64 value for each dimension, with one lane or several.
indim_value_id indim_location_address(indim_lowering *l, const indim_shape *shape, const indim_location *at,
                                      const indim_value_id *index);
// The address of coordinates.
indim_coord indim_location_address_coord(indim_element_ctx *k, const indim_shape *shape, const indim_location *at,
                                         const indim_coord *index);
// The address of the element at index 0, 0, ... of an array without tiles.
indim_value_id indim_location_start(indim_lowering *l, const indim_location *at);
// Whether both are the same address.
bool indim_location_same(const indim_location *a, const indim_location *b);
// Whether the elements are contiguous in the shape's layout order.
bool indim_location_is_dense(const indim_shape *shape, const indim_location *at);
// The item's location: an item only in registers is stored first, a constant becomes a constant storage.
indim_location indim_location_need(indim_lowering *l, indim_flow_item *item);
// The item as a register array: loaded if it is in memory.
const indim_regs *indim_regs_need(indim_lowering *l, indim_flow_item *item);
// A dynamic-slice as a register array, loaded from its operand in memory.
void indim_regs_load_slice(indim_lowering *l, indim_flow_item *slice);

// packed.c ------------------------------------------------------------------------------------------------------------

// Whether elements of an array are further apart or closer than their type is wide (E). It is a storage of bytes then.
bool indim_packed_is(const indim_shape *shape);
// Whether loops read a packed argument of this shape as it is, wherever they need an element: a large one with several elements
// in each byte.
bool indim_packed_loads(const indim_shape *shape);
// From bytes to plain elements, one for each place of |shape|'s layout, and back. |item|: whose they are.
void indim_packed_read(indim_lowering *l, const indim_flow_item *item, const indim_shape *shape, indim_storage *from,
                       indim_storage *to);
void indim_packed_write(indim_lowering *l, const indim_flow_item *item, const indim_shape *shape, indim_storage *from,
                        indim_storage *to);

// element.c -----------------------------------------------------------------------------------------------------------

// The value of |item| at |index| (rank coordinates), as one lane if no coordinate differs between lanes, else |lanes|.
// |mask|: 0, or a pred (one lane or |lanes|); lanes where it is false must not access memory, and are undefined.
indim_value_id indim_value_at(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                              indim_value_id mask);
// The same, always with |lanes| lanes.
indim_value_id indim_value_at_lanes(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                    indim_value_id mask);
// Loads from |index| of a location that the current region writes, in all lanes; not memoized.
indim_value_id indim_load_at(indim_element_ctx *k, const indim_shape *shape, const indim_location *at,
                             const indim_coord *index);
// Stores |value| (lanes at |index|).
void indim_store_at(indim_element_ctx *k, const indim_shape *shape, const indim_location *at, const indim_coord *index,
                    indim_value_id value);

// access.c ------------------------------------------------------------------------------------------------------------

// One array that a nest reads or writes, as a function of the nest's indices.
typedef struct indim_access {
  const indim_flow_item *item;  // NULL: a store
  const indim_storage *storage;
  bool is_packed;          // the address counts places, and |storage| has bytes
  const int64_t *strides;  // elements moved by one step of each dimension; NULL: not constant
  indim_value_id base;     // the address where all indices are 0, if the strides are constant
  // If not: the same of each dimension of which the rest does not depend, as of those of rows that an index in memory names; of
  // others INDIM_NO_STRIDE.
  const int64_t *some_strides;
} indim_access;

#define INDIM_NO_STRIDE INT64_MIN
// The stride along |dim|, or INDIM_NO_STRIDE.
int64_t indim_access_stride(const indim_access *access, int32_t dim);
// Whether the elements along |dim| are adjacent.
bool indim_access_is_adjacent(const indim_access *access, int32_t dim);

enum { INDIM_MAX_ACCESSES = 256, INDIM_MAX_SPLIT_POINTS = 16 };

// Result of an access analysis.
typedef struct indim_access_list {
  indim_access accesses[INDIM_MAX_ACCESSES];
  int32_t count;
  bool is_full;                        // there were more accesses
  bool used_as_value[INDIM_MAX_RANK];  // the index of this dimension is used as a value, not only in addresses
  int64_t split_points[INDIM_MAX_RANK][INDIM_MAX_SPLIT_POINTS];  // indices where a guard changes its value
  int32_t split_point_count[INDIM_MAX_RANK];
  int64_t split_factor[INDIM_MAX_RANK];  // a split by this makes divisions of the index affine; 0: none does
  int64_t split_offset[INDIM_MAX_RANK];  // elements before the first multiple
  int32_t widest;                        // bytes of the widest lane in a register
  int32_t values, wide_values;           // how many are computed or read, and how many of them have lanes of 8 bytes
  bool has_bf16;
  bool has_others;  // values of other types than bf16
} indim_access_list;

// fill.c --------------------------------------------------------------------------------------------------------------

// Whether |instr| puts a few arrays side by side, each an element of every row.
bool indim_nest_stacks(const indim_instr *instr);

// Computes |item| element by element into |at|.
void indim_nest_fill(indim_lowering *l, indim_flow_item *item, const indim_location *at);

// Copies a computed item to another location, and converts it where that is of another type.
void indim_nest_copy(indim_lowering *l, indim_flow_item *item, const indim_location *at);

// nest.c --------------------------------------------------------------------------------------------------------------

// A loop nest over |sizes|, split where guards change their value, with one dimension vectorized. |body| is called for
// |lanes| elements at |index|; collapsed dimensions have index 0 but for the innermost, which covers them all.
enum { INDIM_MAX_PANELS = 4 };

typedef struct indim_nest indim_nest;
typedef void indim_nest_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index);

struct indim_nest {
  indim_lowering *l;
  int32_t rank;
  int64_t sizes[INDIM_MAX_RANK];  // 1 for a dimension collapsed into another
  int32_t order[INDIM_MAX_RANK];  // dimensions, outermost first
  int32_t vector_dim;             // -1: scalar
  int32_t stacked;                // 1 + a short dimension all of which the body is written out for; 0: none
  bool transposes;                // in-register transpose: loads are contiguous along |transpose_dim|
  int32_t transpose_dim;
  int32_t
      joined;  // 1 + the dimension along which short rows of a transposed result follow each other in a cache line; 0: none
  int64_t side;   // of the panels; 0: transposed in registers without panels
  int64_t pitch;  // elements between rows of a panel
  bool is_far;    // the footprint exceeds the third-level cache
  int32_t panel_count;
  indim_storage *panels[INDIM_MAX_PANELS];  // one for each transposed array
  indim_value_id panel_start;               // offset of the current piece's panels; 0: none
  int32_t lanes;                            // at most
  int32_t unroll;
  int32_t jam;                    // vectors that are computed side by side, as one of so many times the lanes
  bool streams;                   // non-temporal stores of full vectors
  int64_t cost;                   // of one element, in cheap operations
  uint8_t group[INDIM_MAX_RANK];  // dimensions of different groups are never collapsed
  bool may_thread;
  bool may_repeat;  // an element may be computed twice: the last vector of a row overlaps the one before
  bool is_long;     // the body becomes so much code that there is one copy of it for all iterations
  int32_t copies;   // of the body from unrolled outer loops, while the nest is built
  const indim_access_list *list;
  indim_nest_body *body;
  void *user;
  int64_t user_offset;  // for the body: convolution.c's first row
};
// (access.c) Access analysis of |body|; |nest| has l, rank, sizes, body and user.
void indim_nest_analyze(indim_nest *nest, indim_access_list *out_list);
// Whether |outer| can be collapsed into |inner|: in every access a step of |outer| equals sizes[inner] steps of |inner|.
bool indim_nest_can_collapse(const indim_nest *nest, int32_t outer, int32_t inner);
// Chooses loop order (|strides|: of the store, may be NULL), collapsing, vector dimension, lanes and unroll factor.
void indim_nest_choose(indim_nest *nest, const int64_t *strides);
// Chooses in-register transpose; only for nests with one store per index whose body can be built without storing.
void indim_nest_choose_transpose(indim_nest *nest);
// (nest_transpose.c) Chooses transpose through panels and allocates them; |streams| is set.
void indim_nest_choose_panels(indim_nest *nest);
// (nest_squares.c) Chooses the dimension whose rows are joined to whole cache lines; panels are chosen.
void indim_nest_choose_joined(indim_nest *nest);
// (nest_transpose.c) Whether rows of the stored array are not aligned to cache lines.
bool indim_nest_rows_are_misaligned(const indim_nest *nest);
// (nest_transpose.c) Whether a square's row is a whole cache line in all that is transposed or stored: each line is then loaded
// once and stored once, by one instruction, and it is no matter which set of a cache it maps to.
bool indim_nest_squares_are_lines(const indim_nest *nest);
void indim_nest_run(indim_nest *nest);

#endif  // INDIM_LOOP_NEST_H
