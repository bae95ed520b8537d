// The inner part of the host's convolution: a product whose left side is gathered from the image.
#ifndef INDIM_RUN_CONVOLUTION_BLOCK_H
#define INDIM_RUN_CONVOLUTION_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "indim/type.h"

enum { INDIM_GATHER_AXES = 3, INDIM_GATHER_DIMS = 1 + INDIM_GATHER_AXES };

// One dimension of the rows or of the sum: |image| elements and, along |axis| (-1: none), |move| places further in the image
// with each step, and |other| elements further in the output (of the rows) or in the filter (of the sum).
typedef struct indim_gather_dim {
  int64_t size, image, other, move;
  int32_t axis;
} indim_gather_dim;

// How the left side is read.
typedef enum indim_gather_mode {
  INDIM_GATHER_UNITS,         // in place: |unit| steps at a time are neighbours in the image
  INDIM_GATHER_RUNS,          // the same, at several places: what lies partly beside the image is copied
  INDIM_GATHER_ROW_UNITS,     // in place: |unit| rows at a time are
  INDIM_GATHER_ROW_RUNS,      // the same of rows
  INDIM_GATHER_PACKED_ROWS,   // packed row after row
  INDIM_GATHER_PACKED_STEPS,  // packed step after step
} indim_gather_mode;

// out[row, column] = sum over steps of image[row, step] * filter[step, column]; 0 for what lies beside the image. Columns
// are contiguous. Dimensions are listed from the outermost.
typedef struct indim_gather {
  indim_gather_mode mode;
  int32_t row_dims, step_dims;
  indim_gather_dim rows[INDIM_GATHER_DIMS], steps[INDIM_GATHER_DIMS];
  int64_t row_count, step_count;                 // neither is 0
  int64_t unit;                                  // innermost steps, or rows, that are neighbours in the image
  bool by_distance;                              // tiles of innermost rows that lie inside are read without any of this
  int64_t image_end;                             // the elements from the image's address to the end of what may be read
  int64_t first_image, first_filter, first_out;  // elements from the arrays' addresses to row, column and step 0
  int64_t origin[INDIM_GATHER_AXES];             // the place in the image of row 0 and step 0
  int64_t limits[INDIM_GATHER_AXES];             // the image's sizes
} indim_gather;

enum {
  INDIM_GATHER_DEPTH_BYTES = 1024,  // of the steps of a row that are summed in registers
  INDIM_GATHER_UNIT = 16,           // of the units that are read in place, at least
  INDIM_GATHER_RUN = 4,             // of the runs that are read in place, at least
  INDIM_GATHER_ROWS = 192,          // of a block at most, and
  INDIM_GATHER_ROWS_PACKED = 48,    // of one that is packed
  INDIM_GATHER_ROW_RUN = 4,         // of the runs of rows that are read in place, at least
  INDIM_GATHER_DISTANT_ROWS = 16    // of the innermost dimension of rows that are read by their distance, at least
};

// Rows |row| to |row| + |rows| and columns |column| to |column| + |columns| of the output, with vectors of at most so many
// bytes, as far as the processor has them.
void indim_gather_f32(int32_t vector_bytes, const indim_gather *g, const float *image, const float *filter, float *out,
                      int64_t row, int64_t rows, int64_t column, int64_t columns);
void indim_gather_f64(int32_t vector_bytes, const indim_gather *g, const double *image, const double *filter,
                      double *out, int64_t row, int64_t rows, int64_t column, int64_t columns);

// The same of S8, U8 or S16 into S32, each of the two another if so, and of BF16 into F32 (convolution_narrow.c).
void indim_gather_narrow(int32_t vector_bytes, const indim_gather *g, indim_type image_type, const void *image,
                         indim_type filter_type, const void *filter, void *out, int64_t row, int64_t rows,
                         int64_t column, int64_t columns);

#endif  // INDIM_RUN_CONVOLUTION_BLOCK_H
