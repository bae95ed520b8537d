// What both engines check of an fft beyond its shape.
#ifndef INDIM_GRAPH_FFT_H
#define INDIM_GRAPH_FFT_H

#include "graph/module.h"

// UNSUPPORTED for a complex transform whose lengths are not the sizes of its dimensions: XLA accepts it, and then reads and
// writes at random.
INDIM_CHECKED indim_status indim_fft_check(indim_ctx *cx, const indim_instr *instr);

#endif  // INDIM_GRAPH_FFT_H
