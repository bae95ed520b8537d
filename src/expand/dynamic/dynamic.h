// Programs with dynamic dimensions (f32[<=10]) as programs without (XLA: DynamicPadder). An array becomes one of its bounds
// and an s32 for each dynamic dimension, which says how much of it counts:
//
//   f32[<=10,4]            ->  (f32[10,4], s32[])
//   (f32[<=10], s32[])     ->  ((f32[10], s32[]), s32[])
//
// so the caller's arrays are followed by their sizes, in parameters and in the result, and loops, branches and calls carry them
// along. What an op does with elements that are not there is the evaluator's to say (eval/dynamic.h): most ops compute over the
// bounds and only the sizes of the result follow a rule; where what is not there would be mixed with what is, as in a sum, it
// is replaced by what does not matter (a mask), or what counts is moved together. What the evaluator finds wrong when it runs
// (a size beyond the bound) is a branch that no sound run takes, with a custom call that fails (ffi/call.h).
#ifndef INDIM_EXPAND_DYNAMIC_DYNAMIC_H
#define INDIM_EXPAND_DYNAMIC_DYNAMIC_H

#include "graph/module.h"

// Whether what the entry computes, its parameters, or anything it calls has a dynamic dimension.
bool indim_module_is_dynamic(const indim_module *module);

// The module without. It refers to |module| and goes before it. UNSUPPORTED at the instruction for an op that has no meaning
// over dynamic dimensions, and for dimensions without bound.
INDIM_CHECKED indim_status indim_module_make_static(indim_ctx *cx, const indim_module *module,
                                                    indim_module **out_module);

#endif  // INDIM_EXPAND_DYNAMIC_DYNAMIC_H
