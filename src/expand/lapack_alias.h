// LAPACK's custom calls by other names (linalg/alias.h).
#ifndef INDIM_EXPAND_LAPACK_ALIAS_H
#define INDIM_EXPAND_LAPACK_ALIAS_H

#include "expand/kit.h"

value indim_expand_lapack_alias(indim_expander *x);

#endif  // INDIM_EXPAND_LAPACK_ALIAS_H
