// How tiles turn an index into a place: the list of sizes, and of coordinates, that each tile leaves.
#ifndef INDIM_PICTURE_TILES_H
#define INDIM_PICTURE_TILES_H

#include "indim/shape.h"

// A list of sizes, the most major first, with the coordinates of one index in it.
typedef struct tile_list {
  int32_t count;
  int64_t sizes[INDIM_MAX_RANK + INDIM_MAX_TILE_SIZES];
  int64_t at[INDIM_MAX_RANK + INDIM_MAX_TILE_SIZES];
} tile_list;

// The sizes in the order of memory, padded widths counted, before any tile.
void tile_list_start(const indim_shape *shape, const int64_t *index, tile_list *out);
// Puts sizes of 1 in front, until a tile of |rank| entries fits.
void tile_list_lengthen(tile_list *list, int32_t rank);
// What the next tile, of |rank| entries, leaves.
void tile_list_cut(tile_list *list, const int64_t *tile, int32_t rank);
// The row-major number of the coordinates in the list.
int64_t tile_list_place(const tile_list *list);

#endif  // INDIM_PICTURE_TILES_H
