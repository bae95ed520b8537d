// What the files of the lowering share. All files of the folder, in the order in which a program goes through them:
//
//   lower.c        the way of a module: flow, plan, each item lowered, then the passes over the finished program
//   decision.c     which decisions are left out (decisions.def)
//   flow.c         a computation without its names: items
//   plan.c         where each item lives: registers, memory, or nowhere (fusion)
//
// Items in registers (tile.h, tile_internal.h)
//   tile.c         rows of lanes, elementwise; tile_move.c, tile_pool.c: shuffles; tile_reduce.c: sums, products;
//                  tile_dynamic.c: starts known at run time; tile_memory.c: from and to memory
// Items in memory, and those inside their users (element.h)
//   location.c     arrays in memory: addresses, loads and stores of lanes
//   element.c      the value of any item at an index: what is inline is computed on the way; element_move.c: ops that
//                  move elements; element_memory.c: loads and stores
//   coord.c        the index of lanes, and masks
//   recast.c       the same for bitcasts between widths
//   apply.c        elementwise instructions and computations of scalars, as nodes; frame.c: what computations that are written
//                  out have given so far
//   survey.c       what a loop nest does with memory, seen before it is built
//   nest.c         loop nests: order, merging, vectors, segments, threads
//   nest_turn.c    those around turned blocks
//   kernel.c       nests that fill or copy one array, element by element, split where an index is divided
//   turn.c         blocks that are read in one direction and written in the other
// Ops that are kernels of their own (dispatch.c finds them)
//   dot.c  convolution.c  scan.c  scatter.c  sort.c
//   reduce.c       reductions: reduce_rows.c along rows, reduce_bands.c columns row by row, long rows in pieces
//   window.c       reduce-window and select-and-scatter; scan.c: those that are cumulative sums
//   control.c      while, conditional and dynamic-update-slice
//
// Loop programs (loop.h, nodes.def, nodes.c)
//   build.c        the builder: build_pure.c, build_index.c, build_range.c, build_memory.c, build_control.c
//   prune.c        takes out what nobody uses
//   roll.c         long straight code that repeats itself, as a loop
//   pack.c         scalars that do the same, as vectors: pack_group.c chooses, pack_carry.c carries them through loops
//   join.c         loops one behind the other that become one; touch.c: what their steps read and write
//   cut.c          a loop as two, one in the other
//   unroll.c       short loops that are written out
//   contract.c     scratch arrays of which a loop needs one part at a time
//   ahead.c        rows that are gone over several times, asked for in time
//   widen.c        vectors get lanes up to a power of two
//   share.c        arrays that may be one buffer
//   scratch.c      where in the scratch block each storage lies
//   place.c        addresses taken apart: whether two accesses may meet
//   print.c        text for people
//   verify.c       what must hold of a program: verify_value.c, verify_memory.c, verify_parallel.c
#ifndef INDIM_LOOP_LOWERING_H
#define INDIM_LOOP_LOWERING_H

#include "loop/flow.h"
#include "loop/lower.h"

typedef struct indim_lower_memo indim_lower_memo;
typedef struct indim_turn indim_turn;

typedef struct indim_lowering {
  indim_ctx *cx;
  indim_arena arena;  // of flows and plans; gone when the program is made
  indim_loop_builder b;
  indim_loop_program *program;
  const indim_target *target;
  const indim_lower_options *options;
  uint32_t without;     // decisions left out, one bit each
  indim_status status;  // of what is not the builder's: the first error
  indim_lower_memo *memo;
  int32_t loop_depth;           // FORs that are open around what is built
  struct indim_survey *survey;  // running, or NULL
  indim_turn *turn;             // likewise
} indim_lowering;

// Fails at the item's instruction, if nothing failed before.
void indim_lower_refuse(indim_lowering *l, const indim_flow_item *item, const char *reason);
bool indim_lower_failed(const indim_lowering *l);
// Memory of the lowering's arena; NULL after a failure.
void *indim_lower_alloc(indim_lowering *l, int64_t count, size_t size);
// A line of --explain.
void indim_lower_explain(indim_lowering *l, const indim_flow_item *item, const char *format, ...) INDIM_PRINTF(3, 4);

// How many of |most| lanes (a power of two) the next piece of |left| elements takes: all, or a half, a quarter ...; 0 at the
// end.
static inline int32_t indim_piece_lanes(int64_t left, int32_t most) {
  while (most > left) {
    most /= 2;
  }
  return most;
}

// decision.c -----------------------------------------------------------------------------------------------------------

// The set of the names in |text| (separated by commas, NULL for none), bit k for decision k. INVALID for another name.
INDIM_CHECKED indim_status indim_decisions_parse(indim_ctx *cx, const char *text, uint32_t *out_set);
// Whether the decision is left out.
bool indim_lower_without(const indim_lowering *l, indim_decision decision);

// plan.c ---------------------------------------------------------------------------------------------------------------

void indim_plan_flow(indim_lowering *l, indim_flow *flow);
// Whether the item writes a part of its first operand, whose memory it may take over: dynamic-update-slice, scatter.
bool indim_plan_updates(const indim_flow_item *item);
// Whether |update| is the only update of |item|, and all that reads it otherwise comes before.
bool indim_plan_others_are_done(const indim_flow_item *item, const indim_flow_item *update);

// Coordinates ----------------------------------------------------------------------------------------------------------

// One coordinate of |lanes| elements: lane k is at base + k * step. Where lanes do not lie on a line, |base| has lanes
// itself and |step| is 0.
typedef struct indim_coord {
  indim_lval base;
  int64_t step;
} indim_coord;

// A running generation: |lanes| elements at a time.
typedef struct indim_kernel {
  indim_lowering *l;
  int32_t lanes;
  bool is_trial;  // nothing is stored
  bool streams;   // stores pass the caches
} indim_kernel;

// location.c -----------------------------------------------------------------------------------------------------------

// The location of an array of |shape| at the start of |storage|, laid out as the shape says.
indim_location indim_location_of(indim_lowering *l, const indim_shape *shape, indim_storage *storage);
// A new scratch array for |item|, in its shape's layout but without padding and tiles.
indim_location indim_location_scratch(indim_lowering *l, const indim_flow_item *item);
// The address of an index: one s64 value for each dimension, with one lane or several.
indim_lval indim_location_address(indim_lowering *l, const indim_shape *shape, const indim_location *at,
                                  const indim_lval *index);
// The same of coordinates.
indim_coord indim_location_place(indim_kernel *k, const indim_shape *shape, const indim_location *at,
                                 const indim_coord *index);
// The address of the element at index 0, 0, ... of an array without tiles.
indim_lval indim_location_start(indim_lowering *l, const indim_location *at);
// Whether both have their elements in the same places one behind the other.
bool indim_location_is_dense(const indim_shape *shape, const indim_location *at);
// The item's location: a tile that has none yet is stored first, a constant gets its bytes.
indim_location indim_location_need(indim_lowering *l, indim_flow_item *item);
// The item as a tile: loaded when it lives in memory.
const indim_tile *indim_tile_need(indim_lowering *l, indim_flow_item *item);

// element.c ------------------------------------------------------------------------------------------------------------

// The value of |item| at |index| (rank coordinates), as one lane if no coordinate differs between lanes, else |lanes|.
// |mask|: 0, or a pred (one lane or |lanes|) outside of which memory must not be touched and the result does not matter.
indim_lval indim_value_at(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask);
// The same with all lanes.
indim_lval indim_value_at_lanes(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask);
// What lies at |index| of a place that the running kernel writes, in all lanes: never remembered.
indim_lval indim_load_at(indim_kernel *k, const indim_shape *shape, const indim_location *at, const indim_coord *index);
// Stores |value| (lanes at |index|).
void indim_store_at(indim_kernel *k, const indim_shape *shape, const indim_location *at, const indim_coord *index,
                    indim_lval value);

// survey.c ------------------------------------------------------------------------------------------------------------

// How the elements of one array that a nest reads or writes lie, seen from the nest's own dimensions.
typedef struct indim_access {
  const indim_flow_item *item;  // NULL: what is stored
  const indim_storage *storage;
  const int64_t *strides;  // elements moved by one step of each dimension; NULL: not constant
  indim_lval base;         // the address where all indices are 0, if the strides are constant
} indim_access;

enum { INDIM_MAX_ACCESSES = 256, INDIM_MAX_CUTS = 16 };

// A body that costs more for each element is long enough to hide its own latencies: to write it out more than once in a
// loop's step gains nothing at run time and costs the code generator as much again.
enum { INDIM_LONG_BODY = 48 };

// What a nest does with memory.
typedef struct indim_access_list {
  indim_access accesses[INDIM_MAX_ACCESSES];
  int32_t count;
  bool is_full;                                  // there were more
  bool alone[INDIM_MAX_RANK];                    // the index of this dimension is used for more than addresses
  int64_t cuts[INDIM_MAX_RANK][INDIM_MAX_CUTS];  // places along a dimension where a guard changes its mind
  int32_t cut_count[INDIM_MAX_RANK];
  int64_t part[INDIM_MAX_RANK];        // the dimension is divided by this; 0: by nothing, or by nothing constant
  int64_t first_part[INDIM_MAX_RANK];  // its elements before the first multiple
  int32_t widest;                      // bytes of the widest lane in a register
  bool has_bf16;
  bool has_others;  // values of other types than bf16
} indim_access_list;

// kernel.c -------------------------------------------------------------------------------------------------------------

// Fills |at| with |item|, computed element by element.
void indim_kernel_fill(indim_lowering *l, indim_flow_item *item, const indim_location *at);

// Copies an item that has its value to another location.
void indim_kernel_copy(indim_lowering *l, indim_flow_item *item, const indim_location *at);

// nest.c --------------------------------------------------------------------------------------------------------------

// A loop nest over |sizes|, cut where guards change their mind, with one dimension in vectors. |body| is called for
// |lanes| elements at |index|; merged dimensions have index 0 but for the most minor one, which runs over all of them.
enum { INDIM_MAX_PANELS = 4 };

typedef struct indim_nest indim_nest;
typedef void indim_nest_body(indim_nest *nest, indim_kernel *k, const indim_coord *index);

struct indim_nest {
  indim_lowering *l;
  int32_t rank;
  int64_t sizes[INDIM_MAX_RANK];  // 1 for a dimension merged into another
  int32_t order[INDIM_MAX_RANK];  // dimensions, outermost first
  int32_t vector_dim;             // -1: one element at a time
  bool turns;                     // blocks are turned: |turn_dim| is read along, the vector dimension written
  int32_t turn_dim;
  int64_t side;   // of the panels that are turned in memory; 0: in registers alone
  int64_t pitch;  // elements between their rows
  bool is_far;    // what it touches does not fit the third cache
  int32_t panel_count;
  indim_storage *panels[INDIM_MAX_PANELS];  // one for each array that is turned
  indim_lval panel_start;                   // the first element of those that the running piece has; 0: the first
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
// (survey.c) Surveys |body|: |nest| has l, rank, sizes, body and user.
void indim_nest_survey(indim_nest *nest, indim_access_list *out_list);
// Chooses order (|strides|: of what is written, may be NULL), merging, vector dimension, lanes and unrolling.
void indim_nest_choose(indim_nest *nest, const int64_t *strides);
// For nests that store at one place per index, and whose body can be built without storing: squares that are turned.
void indim_nest_choose_turning(indim_nest *nest);
// (nest_turn.c) Whether they are turned in panels in memory, which are made; |streams| is known.
void indim_nest_choose_panels(indim_nest *nest);
// (nest_turn.c) Whether rows of what is stored begin anywhere in a cache line.
bool indim_nest_is_askew(const indim_nest *nest);
void indim_nest_run(indim_nest *nest);

// The ops that are kernels of their own fill the places of their item, or of its members ------------------------------

// Dispatches on the op; false when there is no kernel for it.
bool indim_lower_kernel(indim_lowering *l, indim_flow_item *item);
// Whether the item's kernel computes the elements of operand |k| itself, so that the operand may live nowhere.
bool indim_lower_takes_elements(const indim_flow_item *item, int32_t k);
// How often it computes each of them.
int64_t indim_lower_repeats(const indim_flow_item *item, int32_t k);
void indim_lower_reduce(indim_lowering *l, indim_flow_item *item);
// Whether a reducer is one op of its two parameters that has an identity in |type|, and which.
bool indim_lower_single(indim_lowering *l, const indim_computation *apply, indim_type type, indim_loop_op *out_op,
                        indim_lval *out_identity);
void indim_lower_dot(indim_lowering *l, indim_flow_item *item);
void indim_lower_reduce_window(indim_lowering *l, indim_flow_item *item);
// Whether a reduce-window is a cumulative sum or the like, and one that is; false, with nothing built, when it is not.
bool indim_lower_is_scan(const indim_flow_item *item);
bool indim_lower_scan(indim_lowering *l, indim_flow_item *item);
void indim_lower_select_and_scatter(indim_lowering *l, indim_flow_item *item);
void indim_lower_convolution(indim_lowering *l, indim_flow_item *item);
void indim_lower_sort(indim_lowering *l, indim_flow_item *item);
void indim_lower_topk(indim_lowering *l, indim_flow_item *item);
void indim_lower_update(indim_lowering *l, indim_flow_item *item);  // dynamic-update-slice
// scatter: gives its results their places itself, because they may be the operands'.
void indim_lower_scatter(indim_lowering *l, indim_flow_item *item);
// Puts an item that is in registers where it is to lie, or where loops can read it, if they do.
void indim_lower_deliver(indim_lowering *l, indim_flow_item *item);
void indim_lower_while(indim_lowering *l, indim_flow_item *item);
// Whether |item| is |from| itself, or |from| updated, once or in loops that carry it in one memory.
bool indim_lower_updates(const indim_flow_item *item, const indim_flow_item *from);
void indim_lower_conditional(indim_lowering *l, indim_flow_item *item);

// Lowers all items of a flow whose parameters have their values.
void indim_lower_flow(indim_lowering *l, indim_flow *flow);

// Joins loops that count alike and share arrays.
INDIM_CHECKED indim_status indim_loop_join(indim_loop_program *program);
// Writes short loops inside loops out, and takes what they store from registers.
INDIM_CHECKED indim_status indim_loop_unroll(indim_loop_program *program);
// Lets scratch arrays of which each step of a loop uses a part of its own hold one part for each piece of the loop.
INDIM_CHECKED indim_status indim_loop_contract(indim_loop_program *program);
// Lets loops that go over rows several times ask for the next row.
INDIM_CHECKED indim_status indim_loop_ask_ahead(indim_loop_program *program);
// stops.c: lets long loops look at the host's stop word.
void indim_loop_place_stops(indim_loop_program *program);
// Removes what nobody uses.
INDIM_CHECKED indim_status indim_loop_prune(indim_loop_program *program);
// Lets arrays in scratch memory live where what is made of them goes, element by element (share.c).
INDIM_CHECKED indim_status indim_loop_share(indim_loop_program *program);
// Sets the offsets of all scratch storages and the size of the block.
INDIM_CHECKED indim_status indim_scratch_plan(indim_loop_program *program);

#endif  // INDIM_LOOP_LOWERING_H
