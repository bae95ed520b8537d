// Windows that slide over an array. Tap w of the window at position o is at the base coordinate o * stride + w *
// window_dilation - pad_low, and reads an element if that is not negative, a multiple of base_dilation, and its
// quotient is inside the array.
#ifndef INDIM_LOOP_WINDOW_H
#define INDIM_LOOP_WINDOW_H

#include "loop/kernels/kernels.h"

// Dimension |d| of the window; a size of one element if the instruction has no window.
const indim_window_dim *indim_window_dim_of(const indim_instr *instr, int32_t d);
// Whether the window is trivial along the dimension: position o reads element o.
bool indim_window_is_plain(const indim_window_dim *window);
// The element that |tap| reads in a dimension of |size|. Returns the guard: 0 if always true; |*out_never| if never
// true.
indim_value_id indim_window_element(indim_element_ctx *k, const indim_window_dim *window, int64_t size,
                                    indim_coord position, indim_coord tap, indim_coord *out_element, bool *out_never);
// The range of taps that read an element, from |*out_low| to below |*out_high|; false if they are not a range or differ
// between lanes.
bool indim_window_range(indim_element_ctx *k, const indim_window_dim *window, int64_t size, indim_coord position,
                        indim_value_id *out_low, indim_value_id *out_high);
// The element that a tap of that range reads.
indim_coord indim_window_element_in_range(indim_element_ctx *k, const indim_window_dim *window, int64_t size,
                                          indim_coord position, indim_value_id tap);
// The positions of which no tap reads padding, from |*out_low| to below |*out_high|; of an image that is not dilated.
void indim_window_inside(const indim_window_dim *window, int64_t size, int64_t positions, int64_t *out_low,
                         int64_t *out_high);
// Adds split points to the nest's dimension |d| between positions with and without taps in the padding, rounded to
// whole vectors of |lanes|: one guarded vector costs less than several narrow ones.
void indim_window_split(indim_access_list *list, int32_t d, const indim_window_dim *window, int64_t size,
                        int64_t positions, int32_t lanes);

#endif  // INDIM_LOOP_WINDOW_H
