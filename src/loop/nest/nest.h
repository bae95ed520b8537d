// Elements and the loops around them: coordinates, where arrays lie, the value of an item at an index, what a nest does with
// memory, and nests. element.h is the inside.
#ifndef INDIM_LOOP_NEST_H
#define INDIM_LOOP_NEST_H

#include "loop/lowering/lowering.h"

// Coordinates ----------------------------------------------------------------------------------------------------------

// One coordinate of |lanes| elements: lane k is at base + k * step. Where lanes do not lie on a line, |base| has lanes
// itself and |step| is 0.
typedef struct indim_coord {
  indim_value_id base;
  int64_t step;
} indim_coord;

// A running generation: |lanes| elements at a time.
typedef struct indim_element_ctx {
  indim_lowering *l;
  int32_t lanes;
  bool is_trial;  // nothing is stored
  bool streams;   // stores pass the caches
} indim_element_ctx;

// location.c -----------------------------------------------------------------------------------------------------------

// The location of an array of |shape| at the start of |storage|, laid out as the shape says.
indim_location indim_location_of(indim_lowering *l, const indim_shape *shape, indim_storage *storage);
// A new scratch array for |item|, in its shape's layout but without padding and tiles.
indim_location indim_location_scratch(indim_lowering *l, const indim_flow_item *item);
// The address of an index: one s64 value for each dimension, with one lane or several.
indim_value_id indim_location_address(indim_lowering *l, const indim_shape *shape, const indim_location *at,
                                      const indim_value_id *index);
// The same of coordinates.
indim_coord indim_location_place(indim_element_ctx *k, const indim_shape *shape, const indim_location *at,
                                 const indim_coord *index);
// The address of the element at index 0, 0, ... of an array without tiles.
indim_value_id indim_location_start(indim_lowering *l, const indim_location *at);
// Whether two places are the same.
bool indim_location_same(const indim_location *a, const indim_location *b);
// Whether both have their elements in the same places one behind the other.
bool indim_location_is_dense(const indim_shape *shape, const indim_location *at);
// The item's location: one in registers that has none yet is stored first, a constant gets its bytes.
indim_location indim_location_need(indim_lowering *l, indim_flow_item *item);
// The item in registers: loaded when it lives in memory.
const indim_regs *indim_regs_need(indim_lowering *l, indim_flow_item *item);

// element.c ------------------------------------------------------------------------------------------------------------

// The value of |item| at |index| (rank coordinates), as one lane if no coordinate differs between lanes, else |lanes|.
// |mask|: 0, or a pred (one lane or |lanes|) outside of which memory must not be touched and the result does not matter.
indim_value_id indim_value_at(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                              indim_value_id mask);
// The same with all lanes.
indim_value_id indim_value_at_lanes(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                    indim_value_id mask);
// What lies at |index| of a place that the running kernel writes, in all lanes: never remembered.
indim_value_id indim_load_at(indim_element_ctx *k, const indim_shape *shape, const indim_location *at,
                             const indim_coord *index);
// Stores |value| (lanes at |index|).
void indim_store_at(indim_element_ctx *k, const indim_shape *shape, const indim_location *at, const indim_coord *index,
                    indim_value_id value);

// access.c ------------------------------------------------------------------------------------------------------------

// How the elements of one array that a nest reads or writes lie, seen from the nest's own dimensions.
typedef struct indim_access {
  const indim_flow_item *item;  // NULL: what is stored
  const indim_storage *storage;
  const int64_t *strides;  // elements moved by one step of each dimension; NULL: not constant
  indim_value_id base;     // the address where all indices are 0, if the strides are constant
} indim_access;

enum { INDIM_MAX_ACCESSES = 256, INDIM_MAX_SPLIT_POINTS = 16 };

// A body that costs more for each element is long enough to hide its own latencies: to write it out more than once in a
// loop's step gains nothing at run time and costs the code generator as much again.
enum { INDIM_LONG_BODY = 48 };

// What a nest does with memory.
typedef struct indim_access_list {
  indim_access accesses[INDIM_MAX_ACCESSES];
  int32_t count;
  bool is_full;                // there were more
  bool alone[INDIM_MAX_RANK];  // the index of this dimension is used for more than addresses
  int64_t split_points[INDIM_MAX_RANK]
                      [INDIM_MAX_SPLIT_POINTS];  // places along a dimension where a guard changes its mind
  int32_t split_point_count[INDIM_MAX_RANK];
  int64_t part[INDIM_MAX_RANK];        // the dimension is divided by this; 0: by nothing, or by nothing constant
  int64_t first_part[INDIM_MAX_RANK];  // its elements before the first multiple
  int32_t widest;                      // bytes of the widest lane in a register
  bool has_bf16;
  bool has_others;  // values of other types than bf16
} indim_access_list;

// fill.c -------------------------------------------------------------------------------------------------------------

// Fills |at| with |item|, computed element by element.
void indim_nest_fill(indim_lowering *l, indim_flow_item *item, const indim_location *at);

// Copies an item that has its value to another location.
void indim_nest_copy(indim_lowering *l, indim_flow_item *item, const indim_location *at);

// nest.c --------------------------------------------------------------------------------------------------------------

// A loop nest over |sizes|, cut where guards change their mind, with one dimension in vectors. |body| is called for
// |lanes| elements at |index|; merged dimensions have index 0 but for the most minor one, which runs over all of them.
enum { INDIM_MAX_PANELS = 4 };

typedef struct indim_nest indim_nest;
typedef void indim_nest_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index);

struct indim_nest {
  indim_lowering *l;
  int32_t rank;
  int64_t sizes[INDIM_MAX_RANK];  // 1 for a dimension merged into another
  int32_t order[INDIM_MAX_RANK];  // dimensions, outermost first
  int32_t vector_dim;             // -1: one element at a time
  bool turns;                     // blocks are turned: |transpose_dim| is read along, the vector dimension written
  int32_t transpose_dim;
  int64_t side;   // of the panels that are turned in memory; 0: in registers alone
  int64_t pitch;  // elements between their rows
  bool is_far;    // what it touches does not fit the third cache
  int32_t panel_count;
  indim_storage *panels[INDIM_MAX_PANELS];  // one for each array that is turned
  indim_value_id panel_start;               // the first element of those that the running piece has; 0: the first
  int32_t lanes;                            // at most
  int32_t unroll;
  bool streams;                   // stores of full vectors pass the caches
  int64_t cost;                   // of one element, in cheap operations
  uint8_t group[INDIM_MAX_RANK];  // dimensions of different groups are never merged
  bool may_thread;
  int32_t copies;  // of the body that small loops are written out to, while the nest is built
  const indim_access_list *list;
  indim_nest_body *body;
  void *user;
  int64_t user_offset;  // a number for the body: dot.c's first row
};
// (access.c) Surveys |body|: |nest| has l, rank, sizes, body and user.
void indim_nest_analyze(indim_nest *nest, indim_access_list *out_list);
// Chooses order (|strides|: of what is written, may be NULL), merging, vector dimension, lanes and unrolling.
void indim_nest_choose(indim_nest *nest, const int64_t *strides);
// For nests that store at one place per index, and whose body can be built without storing: squares that are turned.
void indim_nest_choose_transpose(indim_nest *nest);
// (nest_transpose.c) Whether they are turned in panels in memory, which are made; |streams| is known.
void indim_nest_choose_panels(indim_nest *nest);
// (nest_transpose.c) Whether rows of what is stored begin anywhere in a cache line.
bool indim_nest_rows_are_misaligned(const indim_nest *nest);
void indim_nest_run(indim_nest *nest);

#endif  // INDIM_LOOP_NEST_H
