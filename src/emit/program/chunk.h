// Long code as several functions (chunk.c).
#ifndef INDIM_EMIT_CHUNK_H
#define INDIM_EMIT_CHUNK_H

#include "emit/program/program.h"

// Nodes of one body, in a row.
typedef struct indim_emit_chunk {
  const indim_loop_node *first;
  const indim_loop_node *end;  // behind the last; NULL: the end of the body
} indim_emit_chunk;

// The chunks of a program, and the values that are computed in one and used in another, or in the program's function. Those
// are in the frame: a block of the program's function, with its own arguments at the beginning.
typedef struct indim_emit_chunks {
  indim_emit_chunk *list;  // in the order in which they are emitted
  int32_t count, capacity;
  int32_t at;           // the next one
  int32_t *chunk_of;    // of each value: 1 + its chunk; 0: the program's function
  bool *crosses;        // of each value: it is in the frame
  bool *is_outside;     // of each value: the program's function uses it, a chunk computes it
  int64_t (*slots)[2];  // of each value: where each of its parts is in the frame
  int64_t bytes;        // of the frame so far
  LLVMValueRef frame;   // the program's function's
  LLVMValueRef *bases;  // of the chunk under construction
  // What the chunk under construction has taken from the frame, and the registers before.
  indim_value_id *taken;
  indim_reg *before;
  int32_t taken_count;
  int32_t *taken_by;  // of each value: 1 + the chunk that took it last
} indim_emit_chunks;

// Finds the chunks of a long program; of others there are none.
INDIM_CHECKED indim_status indim_emit_find_chunks(indim_generator *g);
// In the program's function, before its body.
void indim_emit_open_frame(indim_generator *g);
// In the program's function, at its end.
void indim_emit_close_frame(indim_generator *g);
// The chunk that begins with |node|, in the program's function; NULL: none.
const indim_emit_chunk *indim_emit_chunk_at(const indim_generator *g, const indim_loop_node *node);
// The next chunk: its function, and the call of it.
INDIM_CHECKED indim_status indim_emit_next_chunk(indim_generator *g, const indim_loop_body *body);
// Before a node of a chunk's own level: takes what the node uses from the frame.
void indim_emit_take_uses(indim_generator *g, const indim_loop_node *node);
// Puts those of some values into the frame that are used elsewhere.
void indim_emit_put(indim_generator *g, indim_value_id first, int32_t count);
// Whether the function under construction computes |v|, of the body that it is about.
bool indim_emit_is_of_chunk(const indim_generator *g, indim_value_id v);
// The node at which what waits for a later node has to be done: behind it is another function.
const indim_loop_node *indim_emit_chunk_end(const indim_generator *g);

#endif  // INDIM_EMIT_CHUNK_H
