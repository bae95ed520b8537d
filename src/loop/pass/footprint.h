// Access footprints of a loop: what its iterations read and write of each storage, as windows that advance with its
// index.
//
//   for i in 0..64                         a: read at 8 i + [0, 7]; r: written at 8 i + [0, 7]
//     v3: f32x8 = load a[8 i]
//     store r[8 i], v3
#ifndef INDIM_LOOP_FOOTPRINT_H
#define INDIM_LOOP_FOOTPRINT_H

#include "loop/ir/affine.h"
#include "loop/ir/effects.h"

enum { INDIM_FOOTPRINT_STORAGES = 64 };

// One storage: stride * index + common outer terms, and a window around all accesses.
typedef struct indim_footprint {
  int32_t storage;  // the root of those with the same bytes
  int32_t count;    // of loads, stores, fills, and operands of calls
  bool reads, writes;
  bool is_known;
  int64_t stride;
  indim_affine outer;
} indim_footprint;

typedef struct indim_footprints {
  indim_loop_program *program;
  const indim_loop_node *loop;
  indim_value_id index;
  indim_footprint list[INDIM_FOOTPRINT_STORAGES];
  int32_t count;
  bool is_opaque;  // it has copies, loops without a trip count, or accesses too many storages
} indim_footprints;

// Analyzes a for and all nodes nested in it.
void indim_footprints_of(indim_loop_program *program, const indim_loop_node *loop, indim_footprints *out);
// The footprint of the storage that owns the bytes of |storage|; NULL: the loop does not access them.
indim_footprint *indim_footprints_find(indim_footprints *t, int32_t storage);
// Widens |to| to cover another footprint with the same stride and outer terms; false when these differ.
bool indim_footprint_unite(indim_footprint *to, const indim_footprint *other);
// Whether no iteration accesses what |e|, of a node outside of the loop, writes, nor writes what it reads.
bool indim_footprints_miss(indim_footprints *t, const indim_effect *e);
// Elements in the window.
int64_t indim_footprint_width(const indim_footprint *t);

#endif  // INDIM_LOOP_FOOTPRINT_H
