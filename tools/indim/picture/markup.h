// What the SVG and HTML renderers share.
#ifndef INDIM_PICTURE_MARKUP_H
#define INDIM_PICTURE_MARKUP_H

#include "picture.h"

// Text between tags or in an attribute: nothing of it can become markup.
void markup_escape(indim_buffer *out, const char *text);
// The style of .pic elements, for dark and light.
void markup_style(indim_buffer *out);
// Blocks |first| to |end| - 1 as an <svg> element, with the style in it where it is to stand alone.
void markup_svg(const picture *p, const picture_options *options, size_t first, size_t end, bool with_style,
                indim_buffer *out);

#endif  // INDIM_PICTURE_MARKUP_H
