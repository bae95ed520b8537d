// Making a picture, block by block. What fails is remembered in the picture, so that only the end needs a check.
#ifndef INDIM_PICTURE_BUILD_H
#define INDIM_PICTURE_BUILD_H

#include "picture.h"

indim_status picture_status(const picture *p);

void picture_heading(picture *p, const char *format, ...) INDIM_PRINTF(2, 3);
void picture_note(picture *p, const char *format, ...) INDIM_PRINTF(2, 3);
void picture_fact(picture *p, const char *label, const char *format, ...) INDIM_PRINTF(3, 4);
// The same with a text that was put together in a buffer, which is cleared; its failure becomes the picture's.
void picture_fact_from(picture *p, const char *label, indim_buffer *text);
void picture_heading_from(picture *p, indim_buffer *text);
void picture_note_from(picture *p, indim_buffer *text);
// A grid of empty cells without labels; NULL when there is no memory. Pointers to blocks, cells and labels are valid
// until the next grid is added.
picture_block *picture_add_grid(picture *p, int32_t rows, int32_t columns, const char *format, ...) INDIM_PRINTF(4, 5);
picture_cell *picture_cell_of(picture *p, const picture_block *grid, int32_t row, int32_t column);
char *picture_row_label_of(picture *p, const picture_block *grid, int32_t row);
char *picture_column_label_of(picture *p, const picture_block *grid, int32_t column);

// The indices of a dimension that a drawing shows, in order; -1 where some are left out. At least the first and the
// last; where there is room the neighbours of a border at |period|, 2 * |period|, ... (0: none), and at |size|, where
// padding up to |extent| begins.
enum { PICTURE_MOST_SHOWN = 1024 };
typedef struct picture_axis {
  int32_t count;
  int64_t at[PICTURE_MOST_SHOWN];
  int64_t left_out;
} picture_axis;
void picture_axis_pick(int64_t extent, int64_t size, int64_t period, int32_t limit, picture_axis *out);

// "y", "x" for a dimension, "d5" where XLA has no letter; room for 8 characters.
void picture_dim_name(const indim_shape *shape, int32_t dim, char *out);
// "[2,3]".
void picture_print_sizes(indim_buffer *out, const int64_t *sizes, int32_t count);

#endif  // INDIM_PICTURE_BUILD_H
