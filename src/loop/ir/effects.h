// What a node does with memory: which elements of which storages it reads and writes.
#ifndef INDIM_LOOP_EFFECTS_H
#define INDIM_LOOP_EFFECTS_H

#include "loop/ir/loop.h"

// Elements low to high around each lane of |address|; none when low > high. What does both reads first.
typedef struct indim_effect {
  int32_t storage;
  indim_value_id address;
  int64_t low, high;
  bool reads, writes;
  bool is_masked;  // not all of them need be touched, nor be inside
} indim_effect;

enum { INDIM_MAX_EFFECTS = INDIM_MAX_HOST_STORAGES };

// Fills |out|, which has room for INDIM_MAX_EFFECTS, and answers how many there are: one for a load, a store or a fill, two
// for a copy (what it reads first), one for each storage of a call. All other nodes have none: what stands in the bodies of
// control has its own, and a hint may ask for what is not there.
int32_t indim_loop_effects(const indim_loop_program *program, const indim_loop_node *node, indim_effect *out);

#endif  // INDIM_LOOP_EFFECTS_H
