// An array's layout worked out once, so that many indices can be turned into places quickly.
#ifndef INDIM_ARRAY_INDEX_PLAN_H
#define INDIM_ARRAY_INDEX_PLAN_H

#include "base/ctx.h"
#include "indim/index.h"

// A tiled layout is a list of sizes that grows with each tile: at most one entry for each dimension and each tile entry.
#define INDIM_MAX_PHYSICAL_RANK (INDIM_MAX_RANK + INDIM_MAX_TILE_SIZES)

// One list of sizes, major first, and the tile that turns it into the next list.
typedef struct indim_index_stage {
  int32_t count;        // sizes, |lead| included
  int32_t lead;         // sizes of 1 put in front because the tile is longer than the list
  int32_t tile_rank;    // 0: the last stage
  const int64_t *tile;  // entries, in the shape's layout
  int64_t sizes[INDIM_MAX_PHYSICAL_RANK];
} indim_index_stage;

// Valid as long as the shape it was made for.
typedef struct indim_index_plan {
  int32_t rank;
  bool tiled;
  int64_t sizes[INDIM_MAX_RANK];    // of the array
  int32_t order[INDIM_MAX_RANK];    // logical dimensions, major first
  int64_t strides[INDIM_MAX_RANK];  // untiled: places between neighbours along each logical dimension
  int64_t count;                    // places before tail padding
  int64_t padded_count;             // with it
  int32_t last_stage;
  indim_index_stage stages[INDIM_MAX_TILES + 1];
} indim_index_plan;

// |shape| must be an array with bounded sizes and, if it has a layout, a valid one. Fails when the places overflow or a
// tile ends in "*".
INDIM_CHECKED indim_status indim_index_plan_init(indim_ctx *cx, const indim_shape *shape, indim_index_plan *out_plan);

// Place of an index that is in bounds (of the padded widths).
int64_t indim_index_plan_place(const indim_index_plan *plan, const int64_t *index);
// Reverse, for 0 <= place < padded_count.
void indim_index_plan_index(const indim_index_plan *plan, int64_t place, int64_t *out_index, bool *out_is_padding);

#endif  // INDIM_ARRAY_INDEX_PLAN_H
