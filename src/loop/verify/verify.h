// Shared by the files of the verifier: the state of the walk, and the checks of a node by its kind.
#ifndef INDIM_LOOP_VERIFY_H
#define INDIM_LOOP_VERIFY_H

#include "loop/ir/build.h"
#include "loop/ir/effects.h"

// One access in the parallel loop being walked: elements address + low to address + high of |storage|.
typedef struct indim_loop_access {
  int32_t storage;
  int32_t root;  // index of the storage that owns the bytes
  bool is_write, is_masked;
  indim_value_id address;
  int64_t low, high;
  const indim_loop_node *node;
} indim_loop_access;

typedef struct indim_loop_verifier {
  const indim_loop_program *program;
  const indim_loop_body **open;  // the bodies around the walk, by depth
  int32_t open_count, open_capacity;
  bool *is_defined;                 // for each value: whether its definition has been visited
  int32_t value_count;              // of the program, when the walk began
  int32_t *roots;                   // for each storage: the index of the one that owns its bytes
  int32_t dead;                     // depth of the outermost body around the walk that never runs; 0: none
  const indim_loop_node *parallel;  // the parallel loop around the walk
  indim_loop_access *accesses;      // in |parallel|
  size_t access_count, access_capacity;
} indim_loop_verifier;

// INTERNAL with the node's text.
indim_status indim_verify_fail_node(const indim_loop_verifier *v, const indim_loop_node *node, const char *format, ...)
    INDIM_PRINTF(3, 4);

// Types, lanes and ranges of a pure node other than a load.
INDIM_CHECKED indim_status indim_loop_verify_value(indim_loop_verifier *v, const indim_loop_node *node);
// Loads, stores, copies, fills and calls of the host: storages, types, addresses. Records accesses in a parallel loop.
INDIM_CHECKED indim_status indim_loop_verify_memory(indim_loop_verifier *v, const indim_loop_node *node);
// Records an access in the parallel loop around the walk. NO_MEMORY.
INDIM_CHECKED indim_status indim_loop_record(indim_loop_verifier *v, const indim_loop_node *node, const indim_effect *e,
                                             bool is_write);
// The recorded accesses of the parallel loop around the walk, when its body ends.
INDIM_CHECKED indim_status indim_loop_verify_parallel(indim_loop_verifier *v);

// For a pass that makes loops parallel: what all loops of a program share, and whether one could be.
INDIM_CHECKED indim_status indim_loop_verifier_init(indim_loop_verifier *v, const indim_loop_program *program);
void indim_loop_verifier_deinit(indim_loop_verifier *v);
// |*out_conflict|: a node of |loop| that writes what another iteration may access, NULL if there is none: stricter than the
// verifier, which leaves it to the lowering that iterations write different elements. NO_MEMORY.
INDIM_CHECKED indim_status indim_loop_find_conflict(indim_loop_verifier *v, const indim_loop_node *loop,
                                                    const indim_loop_node **out_conflict);

#endif  // INDIM_LOOP_VERIFY_H
