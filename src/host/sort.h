// What the service sort takes (struct indim_host_sort), for who asks for it, who checks it and who does it.
#ifndef INDIM_HOST_SORT_SIZES_H
#define INDIM_HOST_SORT_SIZES_H

#include <stdbool.h>

#include "indim/indim_host.h"

enum {
  INDIM_SORT_PIECES = 16,      // of the lines, or of a long line
  INDIM_SORT_WORDS = 1 << 23,  // of working memory, unless one piece needs more
  INDIM_SORT_SLACK = 256       // elements beside those that are kept, until they are sorted
};

// The bytes of a key's type; 0 for a type that is none.
static inline int32_t indim_sort_key_bytes(int64_t type) {
  switch ((int)type) {
  case INDIM_HOST_PRED:
  case INDIM_HOST_S8:
  case INDIM_HOST_U8:
    return 1;
  case INDIM_HOST_S16:
  case INDIM_HOST_U16:
  case INDIM_HOST_F16:
  case INDIM_HOST_BF16:
    return 2;
  case INDIM_HOST_S32:
  case INDIM_HOST_U32:
  case INDIM_HOST_F32:
    return 4;
  case INDIM_HOST_S64:
  case INDIM_HOST_U64:
  case INDIM_HOST_F64:
    return 8;
  default:
    return 0;
  }
}

// Whether the first elements of a line are found without sorting all of it: few, by one key of 32 bits.
static inline bool indim_sort_selects(const indim_host_sort *p) {
  enum { WORTH = 4 };
  return p->key_count == 1 && p->inner == 1 && indim_sort_key_bytes(p->key_types[0]) <= 4 &&
         p->kept + INDIM_SORT_SLACK <= p->size / WORTH;
}

// Elements of the working memory for each piece of the lines: twice a line, or what is selected from.
static inline int64_t indim_sort_room(const indim_host_sort *p) {
  return 2 * (indim_sort_selects(p) ? 2 * p->kept + INDIM_SORT_SLACK : p->size);
}

static inline int64_t indim_sort_line_count(const indim_host_sort *p) {
  bool fits = p->inner == 0 || p->outer <= INT64_MAX / p->inner;
  return fits ? p->outer * p->inner : INT64_MAX;
}

static inline int64_t indim_sort_pieces(const indim_host_sort *p) {
  int64_t most = indim_sort_line_count(p) < INDIM_SORT_PIECES ? indim_sort_line_count(p) : INDIM_SORT_PIECES;
  int64_t fit = indim_sort_room(p) > 0 ? INDIM_SORT_WORDS / indim_sort_room(p) : most;
  return fit >= most ? most : fit > 1 ? fit : most < 1 ? most : 1;
}

#endif  // INDIM_HOST_SORT_SIZES_H
