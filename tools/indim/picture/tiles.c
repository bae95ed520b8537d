#include "tiles.h"

#include <string.h>

void tile_list_start(const indim_shape *shape, const int64_t *index, tile_list *out) {
  const indim_layout *layout = &shape->layout;
  *out = (tile_list){.count = shape->rank};
  for (int32_t i = 0; i < shape->rank; i++) {
    int64_t dim = layout->minor_to_major[shape->rank - 1 - i];
    out->sizes[i] = layout->padded_rank > 0 ? layout->padded_sizes[dim] : shape->sizes[dim];
    out->at[i] = index[dim];
  }
}

void tile_list_lengthen(tile_list *list, int32_t rank) {
  int32_t lead = rank - list->count;
  if (lead > 0) {
    memmove(list->sizes + lead, list->sizes, (size_t)list->count * sizeof list->sizes[0]);
    memmove(list->at + lead, list->at, (size_t)list->count * sizeof list->at[0]);
    for (int32_t i = 0; i < lead; i++) {
      list->sizes[i] = 1;
      list->at[i] = 0;
    }
    list->count = rank;
  }
}

void tile_list_cut(tile_list *list, const int64_t *tile, int32_t rank) {
  tile_list_lengthen(list, rank);
  int32_t first = list->count - rank;
  int32_t cut = 0;
  int64_t inner_sizes[INDIM_MAX_TILE_SIZES];
  int64_t inner_at[INDIM_MAX_TILE_SIZES];
  int64_t size = 1;
  int64_t at = 0;
  for (int32_t i = 0; i < rank; i++) {
    at = at * list->sizes[first + i] + list->at[first + i];
    size *= list->sizes[first + i];
    if (tile[i] != INDIM_TILE_COMBINE) {
      list->sizes[first + cut] = size / tile[i] + (size % tile[i] != 0);
      list->at[first + cut] = at / tile[i];
      inner_sizes[cut] = tile[i];
      inner_at[cut] = at % tile[i];
      cut++;
      size = 1;
      at = 0;
    }
  }
  memcpy(list->sizes + first + cut, inner_sizes, (size_t)cut * sizeof inner_sizes[0]);
  memcpy(list->at + first + cut, inner_at, (size_t)cut * sizeof inner_at[0]);
  list->count = first + 2 * cut;
}

int64_t tile_list_place(const tile_list *list) {
  int64_t place = 0;
  for (int32_t i = 0; i < list->count; i++) {
    place = place * list->sizes[i] + list->at[i];
  }
  return place;
}
