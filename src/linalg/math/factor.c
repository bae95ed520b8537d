// Factorisations and solvers without iteration: Cholesky, triangular systems, LU, tridiagonal systems.
#include <math.h>

#include "linalg/math/math.h"

#include "linalg/math/real.h"

#include "linalg/math/factor_body.h"

#include "linalg/math/complex.h"

#include "linalg/math/factor_body.h"
