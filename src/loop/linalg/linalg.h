// Linear algebra on small matrices, as code (code.h) in a loop over the batch.
#ifndef INDIM_LOOP_LINALG_LINALG_H
#define INDIM_LOOP_LINALG_LINALG_H

#include "linalg/linalg.h"
#include "loop/nest/element.h"

// Why a call is not lowered so; NULL if it is. |has_lanes|: the host computes batches with a lane for each matrix.
const char *indim_small_linalg_refuses(const indim_linalg_call *call, bool has_lanes);
// Lowers the call of |item|, whose results have their places. False if an array has tiles: nothing is done then.
bool indim_small_linalg_lower(indim_lowering *l, indim_flow_item *item, const indim_linalg_call *call);

#endif  // INDIM_LOOP_LINALG_LINALG_H
