// LAPACK's custom calls by other names (linalg/older.h).
#ifndef INDIM_EXPAND_OLDER_LAPACK_H
#define INDIM_EXPAND_OLDER_LAPACK_H

#include "expand/kit.h"

value indim_expand_older_lapack(indim_expander *x);

#endif  // INDIM_EXPAND_OLDER_LAPACK_H
