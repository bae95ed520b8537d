// Singular values and vectors by one-sided Jacobi rotations.
#include <float.h>
#include <math.h>

#include "linalg/math/math.h"

#include "linalg/math/real.h"

#include "linalg/math/svd_body.h"

#include "linalg/math/complex.h"

#include "linalg/math/svd_body.h"
