// Loops that are functions of their own (piece.c), and which of them are equal (repeat.c).
#ifndef INDIM_EMIT_PIECE_H
#define INDIM_EMIT_PIECE_H

#include "emit/program/program.h"

// The function of a loop, and what its frame holds.
typedef struct indim_emit_piece {
  const indim_loop_node *node;  // the loop that it was made of
  LLVMValueRef function;
  LLVMValueRef caller;     // the function that called it last
  LLVMValueRef frame;      // that one's stack slot
  LLVMTypeRef type;        // of the frame
  int32_t first_carried;   // the field of the first carried value's first part: how it begins, then how it ends
  bool may_leave;          // may end early
  indim_value_id *values;  // from outside of the loop
  int32_t value_count;
  int32_t *storages;  // whose addresses are in the frame; none if the loop has no equals
  int32_t storage_count;
  struct indim_emit_piece *next;  // another one of the same signature
} indim_emit_piece;

// Of a value or a storage: its counterpart in another loop, as far as |stamp| is that of the present comparison.
typedef struct indim_emit_image {
  int32_t stamp, at;
} indim_emit_image;

// A loop that no for contains: a for or a while.
typedef struct indim_emit_entry {
  const indim_loop_node *node;
  int64_t *signature;  // NULL: never shared
  int32_t length;
  int32_t group;             // the first entry of the same signature
  int32_t count;             // of the first: entries of the group
  indim_emit_piece *pieces;  // of the first: made so far
} indim_emit_entry;

typedef struct indim_emit_repeats {
  indim_emit_entry *entries;  // in the order in which they are emitted
  int32_t count;
  int32_t at;                     // the one that was looked for last
  int32_t stamp;                  // of the latest comparison
  indim_emit_image *values;       // of each value of the program
  indim_emit_image *storages[2];  // of each storage, there and back
  indim_emit_image *owners[2];    // the same for those that own their bytes
  // What a loop uses from outside of it.
  int32_t loop;            // its stamp
  indim_emit_image *seen;  // of each value
  indim_value_id *captured;
  int32_t captured_count;
  indim_emit_image *used_seen;  // of each storage
  int32_t *used;
  int32_t used_count;
  LLVMValueRef *bases;  // of the piece under construction
} indim_emit_repeats;

// repeat.c: finds the program's equal loops. |has_lines|: none, since each loop has lines of its own then.
INDIM_CHECKED indim_status indim_emit_find_repeats(indim_generator *g, bool has_lines);
// The entry of |node| if there are loops of its signature besides; NULL otherwise.
indim_emit_entry *indim_emit_repeat_of(indim_generator *g, const indim_loop_node *node);
// Whether |node| is the loop of |piece| but for the storages and the values from outside; then indim_emit_counterpart and
// indim_emit_storage_counterpart say what is what.
bool indim_emit_is_repeat(indim_generator *g, const indim_emit_piece *piece, const indim_loop_node *node);
indim_value_id indim_emit_counterpart(const indim_generator *g, indim_value_id v);
int32_t indim_emit_storage_counterpart(const indim_generator *g, int32_t storage);
// A splat is repeated in the piece: its scalar takes less room in the frame, and LLVM knows that all its registers are
// one.
const indim_loop_node *indim_emit_splat_of(const indim_generator *g, indim_value_id v);
// Calls |see| with each storage that a node accesses.
void indim_emit_each_storage(const indim_loop_node *node, void (*see)(void *user, int32_t storage), void *user);

#endif  // INDIM_EMIT_PIECE_H
