// What the files that make flows share.
#ifndef INDIM_LOOP_FLOW_MAKE_H
#define INDIM_LOOP_FLOW_MAKE_H

#include "loop/lowering/flow.h"

typedef struct indim_flow_maker {
  indim_ctx *cx;
  indim_arena *arena;
  indim_arena *instr_arena;      // of made instructions, which the program's nodes name: outlives the flow
  indim_expansions *expansions;  // likewise
  indim_calls *calls;            // likewise
  indim_flow *flow;
  struct indim_flow_table *table;  // common.c: of the flow; NULL: empty
  int64_t *item_total;
  int depth;
  indim_flow_options options;
} indim_flow_maker;

// |count| zeroed elements; |out| points to the pointer.
INDIM_CHECKED indim_status indim_flow_array(indim_arena *arena, int64_t count, size_t size, void *out);
// A new item, the last of its flow so far; and one that exists put there.
INDIM_CHECKED indim_status indim_flow_new_item(indim_flow_maker *m, indim_flow_kind kind, const indim_instr *instr,
                                               const indim_shape *shape, indim_flow_item **out_item);
INDIM_CHECKED indim_status indim_flow_add_item(indim_flow_maker *m, indim_flow_item *item);
// An instruction that stands in no text, named after |origin|, without attributes; and the item of an instruction, the last of
// its flow.
INDIM_CHECKED indim_status indim_flow_make_instr(indim_flow_maker *m, const indim_instr *origin, indim_op op,
                                                 const indim_shape *shape, int32_t count,
                                                 indim_flow_item *const *operands, indim_instr **out);
INDIM_CHECKED indim_status indim_flow_make_item(indim_flow_maker *m, const indim_instr *instr, int32_t count,
                                                indim_flow_item *const *operands, indim_flow_item **out);
// Makes |item| what |op| with these attributes is of |operands|, named after |origin|.
INDIM_CHECKED indim_status indim_flow_become(indim_flow_maker *m, indim_flow_item *item, const indim_instr *origin,
                                             indim_op op, const indim_attr *attrs, int32_t attr_count,
                                             indim_flow_item *const *operands, int32_t count);

// Makes |item| a slice of |of|, of its own shape, and a dynamic slice at constant places a slice.
INDIM_CHECKED indim_status indim_flow_become_slice(indim_flow_maker *m, indim_flow_item *item, indim_flow_item *of,
                                                   const indim_slice_dim *dims);
INDIM_CHECKED indim_status indim_flow_fix_starts(indim_flow_maker *m, indim_flow_item *item);

// Makes room for |more| behind the |count| of a list.
INDIM_CHECKED indim_status indim_flow_lengthen(indim_flow_maker *m, int32_t count, int32_t more,
                                               indim_flow_item ***list);

// common.c: an item that computes the same as |instr| on these operands; NULL: there is none.
INDIM_CHECKED indim_status indim_flow_find_equal(indim_flow_maker *m, const indim_instr *instr, int32_t count,
                                                 indim_flow_item *const *operands, indim_flow_item **out_item);
// Whether an equal item is taken in place of a new one.
bool indim_flow_is_shared(const indim_instr *instr);
// |item| is new, and |equal| what was found for it: later ones are equal to that, or else to it.
void indim_flow_note_equal(indim_flow_maker *m, indim_flow_item *item, indim_flow_item *equal);

// Large products that read equal operands from memory read one of them. The flow is complete.
void indim_flow_share_stored(const indim_flow *flow);

// licm.c: copies kernels of the loop's body that are the same in each step before it, with what they are computed from.
// |loop| is the last item so far, and has no members yet.
INDIM_CHECKED indim_status indim_flow_hoist(indim_flow_maker *m, indim_flow_item *loop);
// unroll_while.c: the loop's results, as many as it has operands, when it is of few steps and becomes their items; else NULL.
// |loop| is the last item so far, and is none any more then.
INDIM_CHECKED indim_status indim_flow_unroll(indim_flow_maker *m, const indim_flow_item *loop,
                                             indim_flow_item ***out_results);
// Whether an item is a constant integer, a scalar.
bool indim_flow_read_constant(const indim_flow_item *item, int64_t *out);
// select_update.c: of a select between an array and the same array updated, an update with what the select chooses; NULL in
// |*out_item| for any other select.
INDIM_CHECKED indim_status indim_flow_select_update(indim_flow_maker *m, const indim_instr *instr,
                                                    indim_flow_item *const *operands, indim_flow_item **out_item);
// converts.c: of a convert of converted integers, one of what these were before, or that itself, where it gives the same bits; NULL
// in |*out_item| for any other convert.
INDIM_CHECKED indim_status indim_flow_convert_once(indim_flow_maker *m, const indim_instr *instr,
                                                   indim_flow_item *operand, indim_flow_item **out_item);
// slices.c: slices of what is put together read only the parts that they meet. The flow is complete.
INDIM_CHECKED indim_status indim_flow_cut(indim_flow_maker *m);
// any_order.c: a reduction of all elements as one of what they were before they were moved.
INDIM_CHECKED indim_status indim_flow_reduce_in_any_order(indim_flow_maker *m, const indim_instr **instr);
// regions.c: products and reductions of which only a part is read compute that alone. The flow is complete.
INDIM_CHECKED indim_status indim_flow_shrink(indim_flow_maker *m);
// transpose_folding.c: products that are only read transposed are computed so. The flow is complete.
INDIM_CHECKED indim_status indim_flow_fold_transposes(indim_flow_maker *m);
// Puts selects in the place of those results of a conditional, the last item so far, between which both branches only choose.
INDIM_CHECKED indim_status indim_flow_select_places(indim_flow_maker *m, const indim_instr *instr,
                                                    const indim_flow_item *conditional, int32_t count,
                                                    indim_flow_item **results);

#endif  // INDIM_LOOP_FLOW_MAKE_H
