// Eigenvalues and eigenvectors of symmetric and Hermitian matrices: tridiagonal form, then implicit QL.
#include <float.h>
#include <math.h>

#include "linalg/math/math.h"

#include "linalg/math/real.h"

#include "linalg/math/symmetric_body.h"

#include "linalg/math/complex.h"

#include "linalg/math/symmetric_body.h"
