// The words in which the files named *_body.h are written, for real numbers. No include guard: the last one included of
// real.h and complex.h holds.
#include "linalg/math/undef.h"

#define T double
#define NAME(x) indim_real_##x
#define CONJ(x) (x)
#define RE(x) (x)
#define IM(x) 0.0
#define ABS(x) fabs(x)
#define ABS1(x) fabs(x)  // the size by which LAPACK chooses pivots
#define MAKE(re, im) (re)
