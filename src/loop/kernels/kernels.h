// The ops that have loop nests of their own. Each fills the places of its item, or of its members.
#ifndef INDIM_LOOP_KERNELS_H
#define INDIM_LOOP_KERNELS_H

#include "loop/nest/element.h"

// Lowers an item by the first kernel of its op (kernels.def) that takes it, or refuses it with the reason.
void indim_lower_kernel(indim_lowering *l, indim_flow_item *item);
// Whether the item's kernel computes the elements of operand |k| itself, so that the operand may live nowhere.
bool indim_lower_takes_elements(const indim_flow_item *item, int32_t k);
// How often it computes each of them.
int64_t indim_lower_repeats(const indim_flow_item *item, int32_t k);
// The item from which a large product reads operand |k|, through transposes and reshapes, if it is computed and would be a matrix
// in memory; otherwise NULL. (dot_host.c)
indim_flow_item *indim_lower_stored_operand(const indim_flow_item *item, int32_t k);

#define INDIM_KERNEL(op, name, refuses, reads, repeats, results, lower) \
  void indim_lower_##lower(indim_lowering *l, indim_flow_item *item);
#include "loop/kernels/kernels.def"

// Whether the windows of a scatter are columns, one for each start, whose elements are then combined row by row. (scatter.c)
bool indim_scatters_columns(const indim_flow_item *item);
// Whether a reducer is one op of its two parameters that has an identity in |type|, and which.
bool indim_lower_single(indim_lowering *l, const indim_computation *apply, indim_type type, indim_loop_op *out_op,
                        indim_value_id *out_identity);
// Whether the windows of a reduce-window all reach from an element to one end of one dimension: a cumulative sum or the like.
bool indim_lower_is_cumulative(const indim_flow_item *item);

// Stores an item that would be computed inside its user. Outside of loops. (stored.c)
void indim_lower_keep(indim_lowering *l, indim_flow_item *item);
// The same if indices are divided there, as those of a reshape of what is transposed or put together, so that no dimension has rows: a nest
// is split where quotients change, a kernel would find the element of each lane by itself. Or if narrow elements are put together.
void indim_lower_keep_tangled(indim_lowering *l, indim_flow_item *item);
// Whether an operand is in memory, or moves what is: nothing is computed where it is read.
bool indim_lower_only_moves(const indim_flow_item *operand);
// An array in memory: the address of its first element, and the stride of each dimension.
typedef struct indim_stored {
  indim_storage *storage;
  indim_value_id address;
  const int64_t *strides;
} indim_stored;
// What is read for an element of |item|, with a stride for each of its dimensions; NULL after a failure. (stored.c)
const indim_access_list *indim_lower_accesses_of(indim_lowering *l, indim_flow_item *item);
// Where the elements of |item| are in memory as |type|, in its own array or in that of which it is a transpose, slice, reversal or
// broadcast. False if they are computed, of another type, packed or tiled. Outside of loops. (stored.c)
bool indim_lower_find_stored(indim_lowering *l, indim_flow_item *item, indim_type type, indim_stored *out);
// Stores |item| in memory of |shape|, which has a type and a layout of its own, unless another kernel of the flow has done so, and
// returns where that is; NULL, or false, when the lowering has failed. Outside of loops.
const indim_location *indim_lower_copy(indim_lowering *l, indim_flow_item *item, const indim_shape *shape);
bool indim_lower_store_copy(indim_lowering *l, indim_flow_item *item, const indim_shape *shape, indim_stored *out);

// Gives the results of |item| that have no memory yet some of the scratch block.
void indim_lower_place(indim_lowering *l, indim_flow_item *item);
// Updates (overwrite.c): gives |result| its place, holding what |operand| does: the operand's own memory, where that may be
// overwritten, or a copy.
void indim_lower_overwrite(indim_lowering *l, indim_flow_item *result, indim_flow_item *operand);
// A select that overwrites one of its operands: stores the other where that is chosen, else nothing. False, and nothing done,
// where the operand's memory may not be overwritten.
bool indim_lower_select_over(indim_lowering *l, indim_flow_item *item);
// Stores an item that would be computed inside its user if that reads |storage|, which is going to be overwritten.
void indim_lower_keep_before(indim_lowering *l, indim_flow_item *item, const indim_storage *storage);
// A line of --explain: why |item| works on a copy of |base|.
void indim_lower_explain_copy(indim_lowering *l, const indim_flow_item *item, const indim_flow_item *base);
// Lets an item without a place be computed at |at|, and with it what it overwrites.
void indim_lower_aim(indim_flow_item *item, const indim_location *at);

#endif  // INDIM_LOOP_KERNELS_H
