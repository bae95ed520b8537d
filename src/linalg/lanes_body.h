// Of lanes.c, for one element type and vector width.
#include "linalg/lanes_block.h"
#include "linalg/lanes_factor.h"
#include "linalg/lanes_householder.h"
#include "linalg/lanes_symmetric.h"
#include "linalg/lanes_svd.h"

TARGET static void NAME(run)(indim_lanes_block *b, int64_t end, void *scratch) {
  for (int64_t first = b->first; first < end; first += LANES) {
    b->first = first;
    b->count = end - first < LANES ? end - first : LANES;
    switch (b->routine) {
#define INDIM_LANES(id, vectors, least, routine) \
  case INDIM_LINALG_##id:                        \
    NAME(routine)(b, scratch);                   \
    break;
#include "linalg/lanes.def"
    default:
      break;
    }
  }
}

#undef VECTOR
#undef MASK
#undef INT
#undef LANES
#undef SQUARE
#undef INLINE
