// What lies between two shapes.
#ifndef INDIM_PICTURE_PAIR_H
#define INDIM_PICTURE_PAIR_H

#include "picture.h"

// A way to read A -> B: the values of B are those of A at the same index, in the same row-major order, or transposed.
typedef enum pair_kind { PAIR_SAME, PAIR_RESHAPE, PAIR_TRANSPOSE } pair_kind;

typedef struct pair_reading {
  pair_kind kind;
  int64_t p[INDIM_MAX_RANK];  // of a transpose: dimension i of B is dimension p[i] of A
  bool is_free;               // no byte moves
  bool is_sampled;            // as far as was looked: not at every element
  int64_t looked_at;          // elements
  int64_t moved;              // of these, those whose place changes
  int64_t first;              // the first of these, its number in A; -1: none
  int64_t from, to;           // its places
  const char *obstacle;       // what else speaks against a bitcast, or NULL
  bool has_free;              // |free| is a layout of B that makes it free
  indim_shape free;
} pair_reading;

enum { PAIR_MOST_READINGS = 2 };

// The bits of a type as bitcast-convert counts them.
int32_t pair_type_bits(indim_type type);

// The readings of A -> B: that at the same indices first, else those that are free before the others. Returns how many:
// 0 when the element counts differ, or the types cannot be read as each other. Both are valid, bounded arrays with
// layouts.
int32_t pair_read(const indim_shape *a, const indim_shape *b, pair_reading *out);

#endif  // INDIM_PICTURE_PAIR_H
