// Shared by the files of the builder: making values and nodes, the hash table of pure nodes, ranges. build_pure.c and
// build_index.c call each other: integer arithmetic is index arithmetic where it may be, and the reverse for lanes.
#ifndef INDIM_LOOP_BUILD_H
#define INDIM_LOOP_BUILD_H

#include "loop/ir/affine.h"
#include "loop/ir/index_math.h"
#include "loop/ir/loop.h"

// A pure node that may exist already. The arrays that |node| points to need not outlive the call.
typedef struct indim_loop_draft {
  indim_loop_node node;  // kind, args and the kind's part of the union
  indim_type type;       // of its value
  int32_t lanes;
  int32_t region;  // LOAD: shared only within the same region; else 0
} indim_loop_draft;

static inline indim_loop_draft indim_loop_draft_of(indim_node_kind kind, indim_type type, int32_t lanes, int32_t count,
                                                   const indim_value_id *args) {
  indim_loop_draft draft = {.type = type, .lanes = lanes};
  draft.node.kind = kind;
  draft.node.arg_count = count;
  draft.node.args = (indim_value_id *)args;  // read-only until copied
  return draft;
}

// The value of an equal node in a body that is still open, or of a new one appended to |body|.
indim_value_id indim_loop_intern(indim_loop_builder *b, const indim_loop_draft *draft, indim_loop_body *body);
// The same, in the outermost body where all args are in scope; if |stays_in_if|, not hoisted out of an if.
indim_value_id indim_loop_intern_pure(indim_loop_builder *b, const indim_loop_draft *draft, bool stays_in_if);

// Whether every arg is a value of an open body; INTERNAL otherwise.
bool indim_loop_check_in_scope(indim_loop_builder *b, int32_t count, const indim_value_id *args);
// Reports a bug of the caller: INTERNAL with this text.
void indim_loop_refuse(indim_loop_builder *b, const char *format, ...) INDIM_PRINTF(2, 3);

// Zeroed memory in the program's arena; NULL after a failure.
void *indim_loop_alloc(indim_loop_builder *b, size_t count, size_t size);
// A copy of |size| bytes in the program's arena; NULL after a failure.
void *indim_loop_copy_of(indim_loop_builder *b, const void *data, size_t size);
// A value without a node; 0 after a failure.
indim_value_id indim_loop_new_value(indim_loop_builder *b, indim_type type, int32_t lanes, indim_loop_body *body);
// A detached node with copied args; NULL after a failure.
indim_loop_node *indim_loop_new_node(indim_loop_builder *b, indim_node_kind kind, int32_t count,
                                     const indim_value_id *args);
void indim_loop_append(indim_loop_body *body, indim_loop_node *node);

// Mixes one more word into a node's hash.
static inline uint64_t indim_loop_mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

// The storage that owns the bytes: the end of the chain of |shares|.
indim_storage *indim_loop_storage_root(indim_loop_program *program, indim_storage *storage);
static inline int32_t indim_loop_root_of(indim_loop_program *program, int32_t storage) {
  return indim_loop_storage_root(program, program->storages[storage])->index;
}
bool indim_loop_is_written(indim_loop_builder *b, indim_storage *storage);

static inline const indim_loop_node *indim_loop_node_of(const indim_loop_builder *b, indim_value_id v) {
  return b->program->values[v].node;
}
// Whether |v| is defined by a node of this kind.
static inline bool indim_loop_is(const indim_loop_builder *b, indim_value_id v, indim_node_kind kind) {
  return b->program->values[v].node != NULL && b->program->values[v].node->kind == kind;
}

// (constant_folding.c) The constant that an op on scalar constants gives; 0 where it is not one, or not the same on every target.
indim_value_id indim_loop_fold(indim_loop_builder *b, const indim_loop_op *op, indim_type type, int32_t count,
                               const indim_value_id *args);
// The value of a sum whose window is one number and whose terms have |lanes| lanes; |sum| is simplified in place.
indim_value_id indim_loop_sum(indim_loop_builder *b, indim_affine *sum, int32_t lanes);
// The range of a pure s64 node by those of its arguments; all of s64 where unknown.
void indim_loop_node_range(const indim_loop_program *program, const indim_loop_node *node, int32_t lanes,
                           int64_t *out_low, int64_t *out_high);
// The range of an integer of at most 32 bits, or pred, by the nodes it comes from, |depth| of them deep; false for other types.
// Nothing is proved by it, since passes may hide where a value comes from.
bool indim_loop_narrow_range(const indim_loop_program *program, indim_value_id v, int32_t depth, int64_t *out_low,
                             int64_t *out_high);
// The range of an s64 or a narrower integer, as far as the builder knows; false for other types.
bool indim_loop_range(const indim_loop_builder *b, indim_value_id v, int64_t *out_low, int64_t *out_high);
// Whether |from| is known but for a multiple of |step|.
bool indim_loop_is_multiple(const indim_loop_value *from, int64_t step);
// The range of a for's index: from the least begin to the last step before the greatest end; just the least begin when
// the loop never runs.
void indim_loop_for_range(const indim_loop_program *program, indim_value_id begin, indim_value_id end, int64_t step,
                          int64_t *out_low, int64_t *out_high);
// The trip count of a for with constant bounds; 0 when they are not constant, or it never runs.
int64_t indim_loop_steps(const indim_loop_program *program, const indim_loop_node *loop);
// Whether |lanes| elements from |address| on, |lane_stride| apart, are inside |storage|, by the address's range. With
// an address that has lanes, |lanes| is 1.
bool indim_loop_is_inside(const indim_loop_value *address, const indim_storage *storage, int64_t lanes,
                          int64_t lane_stride);

#endif  // INDIM_LOOP_BUILD_H
