// Blocks of the host's convolution: plain C over vectors of the compiler's, one instance for each element type and vector
// width, as in gemm.c. Compiled with FMA contraction: the order and rounding of the sums are unspecified.
#include "run/convolution_block.h"

#include <string.h>

#include "base/size.h"
#include "host/transpose_square.h"
#include "run/convolution_places.h"

enum {
  MOST_STEPS = INDIM_GATHER_DEPTH_BYTES / 4,
  MOST_UNIT_BYTES = 4096,  // of a unit in place, for few columns
  MOST_POINTERS = (INDIM_GATHER_ROWS + INDIM_GATHER_UNIT) * (MOST_STEPS / INDIM_GATHER_UNIT),
  MOST_TILES = 2 * INDIM_GATHER_ROWS / 6,  // that are read by their rows' distance
  SLACK = 16                               // of lists that vectors go over
};

static const int64_t ANYWHERE = INTPTR_MAX / 16;  // beyond every element

// Several places, one list for each number. Behind the last place it is repeated.
typedef struct place_lists {
  intptr_t image[MOST_STEPS + SLACK];  // bytes
  intptr_t at[INDIM_GATHER_AXES][MOST_STEPS + SLACK];
} place_lists;

static void to_lists(const place *places, int64_t count, int64_t element_bytes, place_lists *out) {
  for (int64_t i = 0; i < count; i++) {
    out->image[i] = (intptr_t)(places[i].image * element_bytes);
    for (int32_t s = 0; s < INDIM_GATHER_AXES; s++) {
      out->at[s][i] = (intptr_t)places[i].at[s];
    }
  }
  for (int64_t i = count; i < count + SLACK; i++) {
    out->image[i] = out->image[count - 1];
    for (int32_t s = 0; s < INDIM_GATHER_AXES; s++) {
      out->at[s][i] = out->at[s][count - 1];
    }
  }
}

// Of |count| rows from |first| on, along the innermost dimension, those of which all steps lie inside: from |*out_low| to below
// the result.
static int64_t inside_all(const indim_gather *g, const place *first, const bounds *steps, int64_t count,
                          int64_t *out_low) {
  const indim_gather_dim *inner = &g->rows[g->row_dims - 1];
  int64_t low = 0;
  int64_t end = clip(g, first, &steps->high, inner->axis, inner->move, count, &low);
  int64_t high = clip(g, first, &steps->low, inner->axis, inner->move, count, out_low);
  *out_low = *out_low > low ? *out_low : low;
  end = high < end ? high : end;
  return end > *out_low ? end : *out_low;  // none of them, where windows lie beyond opposite edges
}

// The dimension of the steps along which runs of the sum go, and the elements of one of its taps.
static const indim_gather_dim *dim_of_runs(const indim_gather *g, int64_t *out_unit) {
  const indim_gather_dim *inner = &g->steps[g->step_dims - 1];
  *out_unit = inner->axis < 0 ? inner->size : 1;
  return inner->axis < 0 ? inner - 1 : inner;
}

// Steps along one axis: |taps| units from step |first| of a block on.
typedef struct run {
  int64_t first, taps;
} run;

// The runs of |count| steps from |begin| on, which are whole units; |*out_dim|: the dimension that they go along.
static int64_t list_runs(const indim_gather *g, int64_t begin, int64_t count, run *out,
                         const indim_gather_dim **out_dim) {
  const indim_gather_dim *dim = &g->steps[g->step_dims - 1];
  bool has_unit = g->unit > 1;
  dim -= has_unit && g->step_dims > 1 ? 1 : 0;
  int64_t length = has_unit && g->step_dims == 1 ? 1 : dim->size;
  int64_t runs = 0;
  for (int64_t k = 0; k < count; runs++) {
    int64_t first = (begin + k) / g->unit % length;
    int64_t left = (count - k) / g->unit;
    out[runs] = (run){k, length - first < left ? length - first : left};
    k += out[runs].taps * g->unit;
  }
  *out_dim = dim;
  return runs;
}

// Rows of a tile that are neighbours in the image, at one place or one behind the other along |axis|.
typedef struct piece {
  int64_t row, count, move;
  int32_t axis;
} piece;

// The only axis along which two places differ, -1 for none; -2 if they differ along several.
static int32_t axis_between(const place *a, const place *b) {
  int32_t axis = -1;
  for (int32_t s = 0; s < INDIM_GATHER_AXES; s++) {
    if (a->at[s] != b->at[s]) {
      axis = axis == -1 ? s : -2;
    }
  }
  return axis;
}

// The pieces of a tile. |at_any_place|: of neighbours, wherever they are.
static int64_t list_pieces(const place *rows, int64_t count, bool at_any_place, piece *out) {
  int64_t pieces = 0;
  for (int64_t i = 0; i < count; i++) {
    bool continues = i > 0 && rows[i].image == rows[i - 1].image + 1;
    if (continues && !at_any_place) {
      piece *p = &out[pieces - 1];
      int32_t axis = axis_between(&rows[i - 1], &rows[i]);
      int64_t by = axis < 0 ? 0 : rows[i].at[axis] - rows[i - 1].at[axis];
      if (p->count == 1 && axis > -2 && by >= 0) {
        p->axis = axis;
        p->move = by;
      }
      continues = axis == p->axis && by == p->move;
    }
    if (!continues) {
      out[pieces++] = (piece){i, 0, 0, -1};
    }
    out[pieces - 1].count++;
  }
  return pieces;
}

// How many steps are summed together from |begin| on, at most |most|: blocks of about equal depth, of whole units, or where
// these are longer parts of one.
static int64_t depth_at(const indim_gather *g, int64_t begin, int64_t most) {
  bool has_units = g->mode == INDIM_GATHER_UNITS || g->mode == INDIM_GATHER_RUNS || g->mode == INDIM_GATHER_PACKED_ROWS;
  bool is_long = has_units && g->unit > most;
  int64_t all = is_long ? g->unit : g->step_count;
  int64_t unit = has_units && !is_long ? g->unit : 1;
  int64_t blocks = indim_ceil_div(all, most / unit * unit);
  int64_t depth = indim_ceil_div(all / unit, blocks) * unit;
  int64_t left = all - begin % all;
  return left < depth ? left : depth;
}

#if defined(__GNUC__)
#define BODY "run/convolution_body.h"
#include "host/vector_instances.h"

// A vector holds no more columns than there are.
static int32_t useful_bytes(int32_t vector_bytes, int64_t columns, int64_t element_bytes) {
  while (vector_bytes > 16 && columns * element_bytes <= vector_bytes / 2) {
    vector_bytes /= 2;
  }
  return vector_bytes;
}

// The vectors that units of steps are read in, for few columns: no longer than the units; 0: there are too many columns.
static int32_t unit_bytes(int32_t vector_bytes, const indim_gather *g, int64_t columns, int64_t element_bytes) {
  enum { FEW_COLUMNS = 4, FEW_OF_MANY_REGISTERS = 8 };  // see convolution_few.h
  int64_t bytes = g->unit * element_bytes;
  vector_bytes = supported_bytes(vector_bytes);
  while (vector_bytes > 16 && bytes < vector_bytes) {
    vector_bytes /= 2;
  }
  int64_t few = vector_bytes == 64 ? FEW_OF_MANY_REGISTERS : FEW_COLUMNS;
  int64_t room = INDIM_GATHER_DEPTH_BYTES * 2 * (vector_bytes / element_bytes) / few;
  bool fits = bytes >= vector_bytes && indim_ceil_div(bytes, vector_bytes) * vector_bytes <= room;
  return g->mode == INDIM_GATHER_UNITS && columns <= few && fits ? vector_bytes : 0;
}

static void few_f32(int32_t vector_bytes, const indim_gather *g, const float *image, const float *filter, float *out,
                    int64_t row, int64_t rows, int64_t column, int64_t columns) {
  DISPATCH(few, f32, g, image, filter, out, row, rows, column, columns);
  few_f32_16(g, image, filter, out, row, rows, column, columns);
}

static void few_f64(int32_t vector_bytes, const indim_gather *g, const double *image, const double *filter, double *out,
                    int64_t row, int64_t rows, int64_t column, int64_t columns) {
  DISPATCH(few, f64, g, image, filter, out, row, rows, column, columns);
  few_f64_16(g, image, filter, out, row, rows, column, columns);
}

void indim_gather_f32(int32_t vector_bytes, const indim_gather *g, const float *image, const float *filter, float *out,
                      int64_t row, int64_t rows, int64_t column, int64_t columns) {
  int32_t along_sum = unit_bytes(vector_bytes, g, columns, sizeof(float));
  if (along_sum > 0) {
    few_f32(along_sum, g, image, filter, out, row, rows, column, columns);
    return;
  }
  vector_bytes = useful_bytes(vector_bytes, columns, sizeof(float));
  DISPATCH(block, f32, g, image, filter, out, row, rows, column, columns);
  block_f32_16(g, image, filter, out, row, rows, column, columns);
}

void indim_gather_f64(int32_t vector_bytes, const indim_gather *g, const double *image, const double *filter,
                      double *out, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  int32_t along_sum = unit_bytes(vector_bytes, g, columns, sizeof(double));
  if (along_sum > 0) {
    few_f64(along_sum, g, image, filter, out, row, rows, column, columns);
    return;
  }
  vector_bytes = useful_bytes(vector_bytes, columns, sizeof(double));
  DISPATCH(block, f64, g, image, filter, out, row, rows, column, columns);
  block_f64_16(g, image, filter, out, row, rows, column, columns);
}

#else  // another compiler: plain loops, columns innermost

#define DEFINE_GATHER(type, REAL)                                                                              \
  void indim_gather_##type(int32_t vector_bytes, const indim_gather *g, const REAL *image, const REAL *filter, \
                           REAL *out, int64_t row, int64_t rows, int64_t column, int64_t columns) {            \
    (void)vector_bytes;                                                                                        \
    place step_places[MOST_STEPS];                                                                             \
    place at = {g->first_image, g->first_out, {g->origin[0], g->origin[1], g->origin[2]}};                     \
    place first = {0, g->first_filter, {0}};                                                                   \
    for (int64_t begin = 0; begin < g->step_count; begin += MOST_STEPS) {                                      \
      int64_t count = g->step_count - begin < MOST_STEPS ? g->step_count - begin : MOST_STEPS;                 \
      list_places(g->steps, g->step_dims, begin, count, first, step_places);                                   \
      for (int64_t i = row; i < row + rows; i++) {                                                             \
        place r;                                                                                               \
        list_places(g->rows, g->row_dims, i, 1, at, &r);                                                       \
        for (int64_t j = 0; begin == 0 && j < columns; j++) {                                                  \
          out[r.other + column + j] = 0;                                                                       \
        }                                                                                                      \
        for (int64_t k = 0; k < count; k++) {                                                                  \
          if (is_inside(g, &r, &step_places[k])) {                                                             \
            for (int64_t j = 0; j < columns; j++) {                                                            \
              out[r.other + column + j] +=                                                                     \
                  image[r.image + step_places[k].image] * filter[step_places[k].other + column + j];           \
            }                                                                                                  \
          }                                                                                                    \
        }                                                                                                      \
      }                                                                                                        \
    }                                                                                                          \
  }
DEFINE_GATHER(f32, float)
DEFINE_GATHER(f64, double)

#endif
