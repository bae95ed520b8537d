// The words in which the files named *_body.h are written, for complex numbers; see real.h.
#include "linalg/math/undef.h"

#define T double complex
#define NAME(x) indim_complex_##x
#define CONJ(x) conj(x)
#define RE(x) creal(x)
#define IM(x) cimag(x)
#define ABS(x) cabs(x)
#define ABS1(x) (fabs(creal(x)) + fabs(cimag(x)))
#define MAKE(re, im) indim_complex_make(re, im)
