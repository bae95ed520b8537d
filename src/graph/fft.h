// The kind of an fft, and what both engines check of it beyond its shape.
#ifndef INDIM_GRAPH_FFT_H
#define INDIM_GRAPH_FFT_H

#include "graph/module.h"

typedef enum indim_fft_kind { INDIM_FFT_FFT, INDIM_FFT_IFFT, INDIM_FFT_RFFT, INDIM_FFT_IRFFT } indim_fft_kind;

// The word of fft_type=, which the verifier has checked.
indim_fft_kind indim_fft_kind_of(const indim_instr *instr);

// UNSUPPORTED for a complex transform whose lengths are not the sizes of its dimensions: XLA accepts it, and then reads and
// writes at random.
INDIM_CHECKED indim_status indim_fft_check(indim_ctx *cx, const indim_instr *instr);

#endif  // INDIM_GRAPH_FFT_H
