// Memory effects of a node: which elements of which storages it reads and writes.
#ifndef INDIM_LOOP_EFFECTS_H
#define INDIM_LOOP_EFFECTS_H

#include "loop/ir/loop.h"

// Elements low to high relative to each lane of |address|; none when low > high. If both flags are set, it reads first.
typedef struct indim_effect {
  int32_t storage;
  indim_value_id address;
  int64_t low, high;
  bool reads, writes;
  bool is_masked;  // not all elements need be accessed, nor be inside the storage
} indim_effect;

enum { INDIM_MAX_EFFECTS = INDIM_MAX_HOST_STORAGES };

// Fills |out|, which has room for INDIM_MAX_EFFECTS, and returns the number of effects: one for a load, a store or a
// fill, two for a copy (the read first), one for each storage of a call. All other nodes have none: nodes nested in
// control have their own, and a hint may name elements that do not exist.
int32_t indim_loop_effects(const indim_loop_program *program, const indim_loop_node *node, indim_effect *out);

#endif  // INDIM_LOOP_EFFECTS_H
