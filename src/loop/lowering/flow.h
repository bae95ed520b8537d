// The flow: what a computation computes with everything dissolved that only names things. Tuples, get-tuple-element,
// calls, fusions, expanded ops and barriers are gone; what is left are items, each one array (or an op with several results, followed
// by its members), in an order in which operands come first. Bodies of while and branches of conditional are flows of
// their own, whose parameters and results are the leaves of the carried tuple.
#ifndef INDIM_LOOP_FLOW_H
#define INDIM_LOOP_FLOW_H

#include "loop/ir/loop.h"
#include "loop/regs/regs.h"

enum { INDIM_INLINE_DEPTH = 400 };  // items that are inline one in the other, at most: walks over them recurse

typedef struct indim_flow indim_flow;
typedef struct indim_flow_item indim_flow_item;

typedef enum indim_flow_kind {
  INDIM_FLOW_OP,         // an instruction
  INDIM_FLOW_PARAMETER,  // leaf |number| of the flow's parameters
  INDIM_FLOW_MEMBER      // result |number| of |source|
} indim_flow_kind;

// Where a value lives while the program runs.
typedef enum indim_placement {
  INDIM_PLACEMENT_NONE,       // nobody needs it
  INDIM_PLACEMENT_REGISTERS,  // in registers
  INDIM_PLACEMENT_INLINE,     // nowhere: computed where an element is needed
  INDIM_PLACEMENT_MEMORY
} indim_placement;

// An array in memory: element i is at base + offset + sum of strides[d] * i[d] of |storage|; a tiled layout has a shape
// instead of strides. Of a packed argument these are places, |packed_bits| apart, and |storage| is its bytes: such a location
// is read element by element and never written.
typedef struct indim_location {
  indim_storage *storage;  // NULL: no place yet
  indim_value_id base;     // 0: none
  int64_t offset;
  const int64_t *strides;    // in elements, one for each logical dimension
  const indim_shape *tiled;  // NULL unless the layout has tiles
  int32_t packed_bits;       // 1, 2 or 4; 0: not packed
} indim_location;

typedef struct indim_flow_copy {
  indim_type type;
  indim_layout layout;
  indim_location place;
  struct indim_flow_copy *next;
} indim_flow_copy;

struct indim_flow_item {
  indim_flow_kind kind;
  int32_t index;             // in its flow
  const indim_instr *instr;  // OP: what it computes; else what it is called after
  const indim_shape *shape;  // an array, except for an op with several results
  int32_t operand_count;
  indim_flow_item **operands;
  int32_t number;
  indim_flow_item *source;  // MEMBER
  indim_flow **flows;       // WHILE: condition, body; CONDITIONAL: the branches
  int32_t flow_count;
  int32_t member_count;  // of an op with several results; they follow in |members|
  indim_flow_item **members;
  int32_t call;                   // of a function of the caller's: number + 1 in the program's calls; 0: none
  struct indim_flow_item *equal;  // an earlier item of the flow that is always the same; NULL: none is known
  bool has_effect;  // computed even if nobody needs its results, and after all such items that stand before it

  // Filled by the planner (plan.c).
  int32_t use_count;  // by needed items and results
  indim_placement placement;
  int32_t cost;               // of one element, all that is inline included, in cheap operations
  int32_t chain;              // the cost of the longest chain of operations in it that need each other
  int64_t kept;               // SORT: of each line, the first elements that somebody reads
  int32_t separate_row_dims;  // trailing dimensions that a reduction of it folds: its own loops keep them apart
  bool is_known;              // the same number in each run: a constant, or computed from such
  bool is_indexed;            // read or written at an index that is known at run time only: not in registers
  bool needs_memory_copy;     // in registers, and loops read it element by element: it gets a place too
  const char *reason;         // why it is in memory, for people
  int64_t cost_again;         // where it is needed several times: what computing an element again costs in all, and
  int64_t cost_kept;          // what storing and loading it does; 0: there was nothing to weigh
  int32_t walk;               // the last over what is inline that saw it: below 0 the verifier's, above the lowering's

  // Filled by the analysis of who may overwrite whom (in_place.c).
  indim_flow_item *base;  // whose memory it would overwrite: that of an updated array, or of one that a loop carries
  bool overwrites;        // it may: all that reads the old value is computed before it
  const indim_flow_item *blocker;  // why not: this one reads the old value afterwards; NULL: see |blocked|
  const char *blocked;             // why not, for people

  // Filled while lowering.
  bool may_be_overwritten;  // PARAMETER: its memory may be overwritten
  bool has_regs;
  indim_regs regs;
  indim_location place;
  int32_t unroll;                  // vectors in one step of the loop that filled it; 0: none did
  struct indim_flow_copy *copies;  // of it in other types and layouts, which calls of the host needed
};

struct indim_flow {
  indim_flow_item **items;
  int32_t item_count, item_capacity;
  indim_flow_item **parameters;
  int32_t parameter_count;
  indim_flow_item **results;
  int32_t result_count;
};

// Whether the item is an instruction of that op.
static inline bool indim_flow_is_op(const indim_flow_item *item, indim_op op) {
  return item->kind == INDIM_FLOW_OP && item->instr->op == op;
}
// Whether the item is computed where it is read: nothing has stored it yet.
static inline bool indim_flow_is_inline(const indim_flow_item *item) {
  return item->placement == INDIM_PLACEMENT_INLINE && item->place.storage == NULL;
}
// The cost of an element, without its operands': of a modulus that of a function of complex numbers.
static inline int32_t indim_flow_op_cost(const indim_flow_item *item) {
  bool is_of_complex = item->operand_count > 0 && indim_type_is_complex(item->operands[0]->shape->type);
  return indim_op_cost(item->instr->op, (is_of_complex ? item->operands[0] : item)->shape->type);
}
// Result |k| of an op, which is the item itself if the op has but one and no tuple of it.
static inline indim_flow_item *indim_flow_result(indim_flow_item *item, int32_t k) {
  return item->member_count > 0 ? item->members[k] : item;
}
// The op that gives |item|, which may be one of several results.
static inline indim_flow_item *indim_flow_op(indim_flow_item *item) {
  return item->kind == INDIM_FLOW_MEMBER ? item->source : item;
}
// The one pred, in registers or memory, by which a select chooses all of an array; NULL where it chooses each element.
indim_flow_item *indim_flow_select_pred(const indim_flow_item *select);
// Whether the item is the operand's own memory, which a loop passes on untouched.
bool indim_flow_is_passed_on(const indim_flow_item *item);
// The item that |item| has its memory from, by overwriting it or by being passed on; NULL if it has memory of its own.
indim_flow_item *indim_flow_origin(const indim_flow_item *item);
// The item itself, or the one that loops pass on untouched as this one.
indim_flow_item *indim_flow_memory(indim_flow_item *item);
// The parameter that |item| has its memory from in the end; NULL if that is none.
indim_flow_item *indim_flow_root(indim_flow_item *item);
// Whether the memory of an item that has its place belongs to this flow, so that it may be overwritten.
bool indim_flow_owns(indim_flow_item *item);

// How a flow is made.
typedef struct indim_flow_options {
  bool may_unroll;         // loops of few steps become the items of their steps
  bool is_self_contained;  // what has an expansion is not left to a service of the host
  bool has_library;        // the host computes large convolutions, phase by phase where they have any
  bool may_split;          // long sums with few results become parts for threads
  bool has_foreign_calls;  // custom calls of functions that nobody knows here are the host's
} indim_flow_options;

// The flow of a computation of |program|, in |arena|. Items of expanded ops point into the program's expansions; functions of the
// caller's are looked up and become its calls. LIMIT when dissolving the calls would give more than a few million items.
INDIM_CHECKED indim_status indim_flow_make(indim_loop_program *program, indim_arena *arena,
                                           const indim_computation *computation, const indim_flow_options *options,
                                           indim_flow **out_flow);

#endif  // INDIM_LOOP_FLOW_H
