// Common subexpressions: a product, a convolution, a reduction or another op with loops of its own that a flow has already is
// computed once, and so is a function such as a sine. Equal are items of the same op on equal operands, so each item is first given
// the one that it equals; but what costs next to nothing stays an item for each user, which computes it where it needs it: one of
// them, kept, would hold its memory from the first user to the last. What large products read is in memory in any case.
#include "graph/equal.h"
#include "loop/ir/build.h"
#include "loop/ir/op.h"
#include "loop/kernels/kernels.h"
#include "loop/plan/flow_make.h"

#include <string.h>

struct indim_flow_table {
  indim_flow_item **slots;
  size_t slot_count, used;
};

static const indim_flow_item *class_of(const indim_flow_item *item) { return item->equal == NULL ? item : item->equal; }

static uint64_t hash_of(const indim_instr *instr, int32_t count, indim_flow_item *const *operands) {
  uint64_t hash = indim_loop_mix((uint64_t)instr->op, (uint64_t)count);
  for (int32_t d = 0; indim_shape_is_array(instr->shape) && d < instr->shape->rank; d++) {
    hash = indim_loop_mix(hash, (uint64_t)instr->shape->sizes[d]);
  }
  for (int32_t k = 0; k < count; k++) {
    hash = indim_loop_mix(hash, (uint64_t)(uint32_t)class_of(operands[k])->index);
  }
  return hash;
}

static bool is_same(const indim_flow_item *item, const indim_instr *instr, int32_t count,
                    indim_flow_item *const *operands) {
  if (item->operand_count != count || !indim_instr_computes_same(item->instr, instr)) {
    return false;
  }
  for (int32_t k = 0; k < count; k++) {
    if (class_of(item->operands[k]) != class_of(operands[k])) {
      return false;
    }
  }
  return true;
}

// The slot of an equal item, or the empty one where it would be.
static indim_flow_item **find(struct indim_flow_table *table, const indim_instr *instr, int32_t count,
                              indim_flow_item *const *operands) {
  size_t at = (size_t)hash_of(instr, count, operands) & (table->slot_count - 1);
  while (table->slots[at] != NULL && !is_same(table->slots[at], instr, count, operands)) {
    at = (at + 1) & (table->slot_count - 1);
  }
  return &table->slots[at];
}

static indim_status grow(indim_flow_maker *m) {
  struct indim_flow_table *table = m->table;
  indim_flow_item **old = table->slots;
  size_t count = table->slot_count;
  if (2 * (table->used + 1) <= count) {
    return INDIM_OK;
  }
  size_t grown = count == 0 ? 64 : 2 * count;
  INDIM_TRY(indim_flow_array(m->arena, (int64_t)grown, sizeof *table->slots, &table->slots));
  table->slot_count = grown;
  for (size_t i = 0; i < count; i++) {
    if (old[i] != NULL) {
      size_t at = (size_t)hash_of(old[i]->instr, old[i]->operand_count, old[i]->operands) & (grown - 1);
      while (table->slots[at] != NULL) {
        at = (at + 1) & (grown - 1);
      }
      table->slots[at] = old[i];
    }
  }
  return INDIM_OK;
}

indim_status indim_flow_find_equal(indim_flow_maker *m, const indim_instr *instr, int32_t count,
                                   indim_flow_item *const *operands, indim_flow_item **out_item) {
  *out_item = NULL;
  if (m->table == NULL) {
    void *memory = NULL;
    INDIM_TRY(indim_arena_alloc(m->arena, sizeof *m->table, &memory));
    m->table = memory;
  }
  INDIM_TRY(grow(m));
  *out_item = *find(m->table, instr, count, operands);
  return INDIM_OK;
}

bool indim_flow_is_shared(const indim_instr *instr) {
  return indim_op_class_of(instr->op) == INDIM_OP_CLASS_KERNEL || instr->op == INDIM_OP_GATHER ||
         indim_op_is_function(instr->op);
}

void indim_flow_note_equal(indim_flow_maker *m, indim_flow_item *item, indim_flow_item *equal) {
  item->equal = equal;
  if (equal == NULL) {
    *find(m->table, item->instr, item->operand_count, item->operands) = item;
    m->table->used++;
  }
}

void indim_flow_share_stored(const indim_flow *flow) {
  for (int32_t i = 0; i < flow->item_count; i++) {
    indim_flow_item *item = flow->items[i];
    for (int32_t k = 0; indim_flow_is_op(item, INDIM_OP_DOT) && k < item->operand_count; k++) {
      const indim_flow_item *stored = indim_lower_stored_operand(item, k);
      indim_flow_item **at = &item->operands[k];
      while (stored != NULL && *at != stored) {
        at = &(*at)->operands[0];
      }
      *at = stored != NULL && stored->equal != NULL ? stored->equal : *at;
    }
  }
}
