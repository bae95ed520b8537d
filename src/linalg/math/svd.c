// Singular values and vectors by one-sided Jacobi rotations.
#include <float.h>
#include <math.h>

#include "linalg/math/math.h"

#define NEGLIGIBLE 1e-140  // the length of a column that is as good as 0, where the largest element is about 1

#include "linalg/math/real.h"

#include "linalg/math/svd_body.h"

#include "linalg/math/complex.h"

#include "linalg/math/svd_body.h"
