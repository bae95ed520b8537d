// Householder reflectors and what is made of them: QR with and without pivoting, its q, Hessenberg and tridiagonal form.
#include <float.h>
#include <math.h>

#include "linalg/math/math.h"

#include "linalg/math/real.h"

#include "linalg/math/householder_body.h"

#include "linalg/math/complex.h"

#include "linalg/math/householder_body.h"
