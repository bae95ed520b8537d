// The page of `indim view` (tools/indim/view/), which the build makes an array of (cmake/view_page.cmake).
#ifndef INDIM_TOOL_VIEW_H
#define INDIM_TOOL_VIEW_H

#include <stddef.h>

#include "indim/graph.h"

// HTML, complete but for the data, which takes the place of "@DATA@".
extern const unsigned char view_page[];
extern const size_t view_page_size;

// view_shapes.c: the members of an object, one for each shape of the module's instructions by its text:
// {"elements":6,"bytes":24,"picture":[blocks]}. What fails is in |out|'s status; shapes that cannot be drawn have no picture.
void view_put_shapes(indim_ctx *cx, const indim_module *module, indim_buffer *out);

#endif  // INDIM_TOOL_VIEW_H
