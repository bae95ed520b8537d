// The parts of a shape's picture.
#ifndef INDIM_PICTURE_SHAPE_H
#define INDIM_PICTURE_SHAPE_H

#include "picture.h"

// The facts of one array. |places| and |bytes| of its storage; unused where a size is unbounded.
void shape_add_facts(picture *p, const indim_shape *shape, int64_t places, int64_t bytes);
// Why a tiled array has padding, and which order of its dimensions would take less than its |bytes|.
void shape_add_waste(picture *p, const indim_shape *shape, int64_t bytes);

#endif  // INDIM_PICTURE_SHAPE_H
