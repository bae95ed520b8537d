// What drawings of an array and of its memory share.
#ifndef INDIM_PICTURE_DRAW_INTERNAL_H
#define INDIM_PICTURE_DRAW_INTERNAL_H

#include "draw.h"

typedef struct drawing {
  picture *p;
  indim_ctx *cx;
  const indim_shape *shape;
  const draw_source *source;
  picture_options options;
  int64_t elements;
  int64_t places;
  indim_shape whole;  // the same with the padding as elements, where indices reach it
  int64_t tile;       // places of one tile; 0: none to outline
} drawing;

drawing drawing_start_of(picture *p, const indim_shape *shape, const draw_source *source, int64_t places,
                         const picture_options *options);

// The element of an index into |whole|, or padding, without a text for an element.
void drawing_fill_cell(const drawing *d, const int64_t *index, int64_t place, picture_cell *cell);
// The name of an element by its number: a letter, or its index.
void drawing_name(const drawing *d, int64_t element, char *out);
int32_t drawing_name_size(const drawing *d);  // characters of the longest name
const char *drawing_padding_text(const indim_layout *layout);
void drawing_axis_label(char *out, int64_t at);  // nothing for a gap

// Columns that fit into the width, cells of |size| characters with |between| each two of them.
int32_t drawing_column_limit(const drawing *d, int32_t size, int32_t between);
int32_t drawing_digits(int64_t value);
// A tile's size along dimension |dim|, or 0.
int64_t drawing_tile_along(const indim_shape *shape, int32_t dim);

#endif  // INDIM_PICTURE_DRAW_INTERNAL_H
