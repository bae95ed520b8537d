// The instructions of a module by number, with the users of each: as they stand, or with calls inlined.
#ifndef INDIM_TOOL_INSTRS_H
#define INDIM_TOOL_INSTRS_H

#include "tool.h"

typedef struct instr_table {
  const indim_module *module;
  int64_t count;
  const indim_instr **instrs;
  int64_t *owner;  // by instruction: its computation; of what is inlined, the one that it is inlined into
  int64_t *
      operands_begin;  // by instruction, with one more: operands[operands_begin[i]] to operands[operands_begin[i + 1] - 1]
  int64_t *operands;
  int64_t *users_begin;  // likewise
  int64_t *users;
  // By computation: the numbers of its instructions. Of one that is inlined everywhere there are none.
  int64_t *first;
  int64_t *last;    // + 1
  int64_t *places;  // where the values of its instructions begin in |values|
  int64_t *values;  // the number of each instruction's value: of a call it is what the callee returns
} instr_table;

// The module is verified, and outlives the table. Instructions are numbered in the order of its text.
void instr_table_fill(instr_table *table, const indim_module *module);
// The same with the bodies of calls and fusions in the place of these, as often as they are called, and elements of tuples that are
// known in the place of get-tuple-element. Bodies that would make it eight times as long, or that nest deeper than 100, stay
// out: such a call stays an instruction.
void instr_table_fill_inlined(instr_table *table, const indim_module *module);
void instr_table_free(instr_table *table);
// The number of operand |k| of instruction |user|.
int64_t operand_number(const instr_table *table, int64_t user, int64_t k);
int64_t operand_count(const instr_table *table, int64_t number);
int64_t user_count(const instr_table *table, int64_t number);
// The number of an instruction's value, of a computation that is not inlined; -1 of one that is.
int64_t value_number(const instr_table *table, const indim_computation *computation, const indim_instr *instr);

#endif  // INDIM_TOOL_INSTRS_H
