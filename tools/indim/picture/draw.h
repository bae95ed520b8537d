// An array, and its memory, as grids. |places| are those of its storage.
#ifndef INDIM_PICTURE_DRAW_H
#define INDIM_PICTURE_DRAW_H

#include "picture.h"

// Up to so many elements have letters for names; others have their index.
enum { DRAW_LETTERS = 26 };

typedef enum draw_view { DRAW_NAMES, DRAW_PLACES } draw_view;

// Whose elements an array shows: their numbers, names and colours are those of |of|.
typedef struct draw_source {
  const indim_shape *of;
  const int64_t *p;  // the array is transpose(of, p); NULL: its elements are of's in row-major order
} draw_source;

// The number in |source->of| of the element at an index of |shape|.
int64_t draw_element(const draw_source *source, const indim_shape *shape, const int64_t *index);

indim_status draw_array(picture *p, const indim_shape *shape, const draw_source *source, int64_t places, draw_view view,
                        const char *title, bool beside, const picture_options *options);
// |joined|: the block of another memory whose equal elements arrows come from, or -1.
indim_status draw_memory(picture *p, const indim_shape *shape, const draw_source *source, int64_t places,
                         const char *title, int32_t joined, const picture_options *options);

#endif  // INDIM_PICTURE_DRAW_H
