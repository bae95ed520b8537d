// Of lanes.c, for one element type and vector width.
#include "linalg/lanes_block.h"
#include "linalg/lanes_ql.h"
#include "linalg/lanes_complex.h"
#include "linalg/lanes_factor.h"
#include "linalg/lanes_householder.h"
#include "linalg/lanes_symmetric.h"
#include "linalg/lanes_svd.h"
#include "linalg/lanes_schur.h"
#include "linalg/lanes_eigen.h"
#include "linalg/lanes_real.h"
#include "linalg/lanes_factor.h"
#include "linalg/lanes_householder.h"
#include "linalg/lanes_symmetric.h"
#include "linalg/lanes_svd.h"
#include "linalg/lanes_schur.h"
#include "linalg/lanes_eigen.h"

TARGET static void NAME(run)(indim_lanes_block *b, int64_t end, void *scratch) {
  for (int64_t first = b->first; first < end; first += LANES) {
    b->first = first;
    b->count = end - first < LANES ? end - first : LANES;
    switch (b->routine) {
#define RUN_SD(routine) NAME(routine)(b, scratch)
#define RUN_CZ(routine) NAME(complex_##routine)(b, scratch)
#define RUN_SDCZ(routine) \
  (indim_type_is_complex(b->call->type) ? NAME(complex_##routine)(b, scratch) : NAME(routine)(b, scratch))
#define INDIM_LANES(id, vectors, least, complex_least, types, routine) \
  case INDIM_LINALG_##id:                                              \
    RUN_##types(routine);                                              \
    break;
#include "linalg/lanes.def"
#undef RUN_SD
#undef RUN_CZ
#undef RUN_SDCZ
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
#undef ELEMENT
#undef PARTS
#undef OF
