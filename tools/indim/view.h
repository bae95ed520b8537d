// The page of `indim view` (tools/indim/view/), which the build makes an array of (cmake/view_page.cmake).
#ifndef INDIM_TOOL_VIEW_H
#define INDIM_TOOL_VIEW_H

#include <stddef.h>

// HTML, complete but for the data, which takes the place of "@DATA@".
extern const unsigned char view_page[];
extern const size_t view_page_size;

#endif  // INDIM_TOOL_VIEW_H
