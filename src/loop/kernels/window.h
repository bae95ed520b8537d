// Windows that slide over an array: where a tap of the window at a place falls. Tap w of the window at place o meets the
// base coordinate o * stride + w * window_dilation - pad_low, and an element there if that is not negative, a multiple of
// base_dilation, and its quotient inside the array.
#ifndef INDIM_LOOP_WINDOW_H
#define INDIM_LOOP_WINDOW_H

#include "loop/kernels/kernels.h"

// Dimension |d| of the window; one element where the text gives none.
const indim_window_dim *indim_window_dim_of(const indim_instr *instr, int32_t d);
// Whether the window's places along the dimension are just those of the array.
bool indim_window_is_plain(const indim_window_dim *window);
// The element that |tap| meets in a dimension of |size|. The answer is when: 0 for always; *|out_never| when never.
indim_value_id indim_window_element(indim_element_ctx *k, const indim_window_dim *window, int64_t size,
                                    indim_coord place, indim_coord tap, indim_coord *out_element, bool *out_never);
// The taps that meet an element, as *|out_low| to below *|out_high|; false where they are no such range or where lanes
// differ in them.
bool indim_window_range(indim_element_ctx *k, const indim_window_dim *window, int64_t size, indim_coord place,
                        indim_value_id *out_low, indim_value_id *out_high);
// The element that a tap of that range meets.
indim_coord indim_window_inside(indim_element_ctx *k, const indim_window_dim *window, int64_t size, indim_coord place,
                                indim_value_id tap);
// Cuts the nest's dimension |d| where taps begin and cease to fall outside, or at the next whole vector of |lanes|: one
// that is partly outside costs less than several narrow ones.
void indim_window_cut(indim_access_list *list, int32_t d, const indim_window_dim *window, int64_t size, int64_t places,
                      int32_t lanes);

#endif  // INDIM_LOOP_WINDOW_H
