// Eigenvalues and eigenvectors of symmetric and Hermitian matrices: tridiagonal form, then implicit QL.
#include <float.h>
#include <math.h>

#include "linalg/math/math.h"

#define NEGLIGIBLE 1e-140  // as good as 0 where the largest element is about 1

#include "linalg/math/real.h"

#include "linalg/math/symmetric_body.h"

#include "linalg/math/complex.h"

#include "linalg/math/symmetric_body.h"
