// Blocks of the host's convolution: plain C over vectors of the compiler's, one instance for each element type and vector
// width, as in gemm.c. Compiled with FMA contraction: the order and rounding of the sums are unspecified.
#include "run/convolution_block.h"

#include <string.h>

#include "base/size.h"

enum { MOST_RUNS = INDIM_GATHER_DEPTH_BYTES / 4 / INDIM_GATHER_UNIT, MOST_STEPS = INDIM_GATHER_DEPTH_BYTES / 4 };

// Where a row, or a step of the sum, is.
typedef struct place {
  int64_t image, other;
  int64_t at[INDIM_GATHER_AXES];
} place;

// Indices |begin| to |begin| + |count| of the dimensions.
static void list_places(const indim_gather_dim *dims, int32_t rank, int64_t begin, int64_t count, place first,
                        place *out) {
  int64_t index[INDIM_GATHER_DIMS] = {0};
  place at = first;
  for (int32_t d = rank - 1; d >= 0; d--) {
    index[d] = begin % dims[d].size;
    begin /= dims[d].size;
    at.image += index[d] * dims[d].image;
    at.other += index[d] * dims[d].other;
    if (dims[d].axis >= 0) {
      at.at[dims[d].axis] += index[d] * dims[d].move;
    }
  }
  for (int64_t i = 0; i < count; i++) {
    out[i] = at;
    for (int32_t d = rank - 1; d >= 0; d--) {
      const indim_gather_dim *dim = &dims[d];
      bool is_end = ++index[d] == dim->size;
      int64_t by = is_end ? 1 - dim->size : 1;
      at.image += by * dim->image;
      at.other += by * dim->other;
      if (dim->axis >= 0) {
        at.at[dim->axis] += by * dim->move;
      }
      if (!is_end) {
        break;
      }
      index[d] = 0;
    }
  }
}

static inline bool is_inside(const indim_gather *g, const place *row, const place *step) {
  return (uint64_t)(row->at[0] + step->at[0]) < (uint64_t)g->limits[0] &&
         (uint64_t)(row->at[1] + step->at[1]) < (uint64_t)g->limits[1] &&
         (uint64_t)(row->at[2] + step->at[2]) < (uint64_t)g->limits[2];
}

static inline bool is_same_place(const place *a, const place *b) {
  return a->at[0] == b->at[0] && a->at[1] == b->at[1] && a->at[2] == b->at[2];
}

// How many steps are summed together from |begin| on, at most |most|: blocks of about equal depth, of whole units, or where
// these are longer parts of one.
static int64_t depth_at(const indim_gather *g, int64_t begin, int64_t most) {
  bool is_long = g->unit > most;
  int64_t all = is_long ? g->unit : g->step_count;
  int64_t unit = is_long ? 1 : g->unit;
  int64_t blocks = indim_ceil_div(all, most / unit * unit);
  int64_t depth = indim_ceil_div(all / unit, blocks) * unit;
  int64_t left = all - begin % all;
  return left < depth ? left : depth;
}

#if defined(__GNUC__)
#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)

#define VECTOR_BYTES 16
#define TILE_M 6
#define TARGET
#define REAL float
#define NAME(x) PASTE(x, f32_16)
#include "run/convolution_body.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) PASTE(x, f64_16)
#include "run/convolution_body.h"
#undef REAL
#undef NAME
#undef TARGET
#undef VECTOR_BYTES

#if defined(__x86_64__)
#define VECTOR_BYTES 32
#define TARGET __attribute__((target("avx2,fma")))
#define REAL float
#define NAME(x) PASTE(x, f32_32)
#include "run/convolution_body.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) PASTE(x, f64_32)
#include "run/convolution_body.h"
#undef REAL
#undef NAME
#undef TARGET
#undef VECTOR_BYTES
#undef TILE_M

#define VECTOR_BYTES 64
#define TILE_M 12
#define TARGET __attribute__((target("avx512f,avx2,fma")))
#define REAL float
#define NAME(x) PASTE(x, f32_64)
#include "run/convolution_body.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) PASTE(x, f64_64)
#include "run/convolution_body.h"
#undef REAL
#undef NAME
#undef TARGET
#undef VECTOR_BYTES

#define DISPATCH(type, ...)                                                                      \
  do {                                                                                           \
    if (vector_bytes >= 64 && __builtin_cpu_supports("avx512f")) {                               \
      block_##type##_64(__VA_ARGS__);                                                            \
      return;                                                                                    \
    }                                                                                            \
    if (vector_bytes >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) { \
      block_##type##_32(__VA_ARGS__);                                                            \
      return;                                                                                    \
    }                                                                                            \
  } while (0)
#else
#define DISPATCH(type, ...) (void)vector_bytes
#endif

// A vector holds no more columns than there are.
static int32_t useful_bytes(int32_t vector_bytes, int64_t columns, int64_t element_bytes) {
  while (vector_bytes > 16 && columns * element_bytes <= vector_bytes / 2) {
    vector_bytes /= 2;
  }
  return vector_bytes;
}

void indim_gather_f32(int32_t vector_bytes, const indim_gather *g, const float *image, const float *filter, float *out,
                      int64_t row, int64_t rows, int64_t column, int64_t columns) {
  vector_bytes = useful_bytes(vector_bytes, columns, sizeof(float));
  DISPATCH(f32, g, image, filter, out, row, rows, column, columns);
  block_f32_16(g, image, filter, out, row, rows, column, columns);
}

void indim_gather_f64(int32_t vector_bytes, const indim_gather *g, const double *image, const double *filter,
                      double *out, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  vector_bytes = useful_bytes(vector_bytes, columns, sizeof(double));
  DISPATCH(f64, g, image, filter, out, row, rows, column, columns);
  block_f64_16(g, image, filter, out, row, rows, column, columns);
}

#else  // another compiler: plain loops, columns innermost

#define DEFINE_GATHER(type, REAL)                                                                                 \
  void indim_gather_##type(int32_t vector_bytes, const indim_gather *g, const REAL *image, const REAL *filter,    \
                           REAL *out, int64_t row, int64_t rows, int64_t column, int64_t columns) {               \
    (void)vector_bytes;                                                                                           \
    place step_places[MOST_STEPS];                                                                                \
    place at = {g->first_image, g->first_out, {g->origin[0], g->origin[1], g->origin[2]}};                        \
    place first = {0, g->first_filter, {0}};                                                                      \
    for (int64_t begin = 0; begin < g->step_count; begin += MOST_STEPS) {                                         \
      int64_t count = g->step_count - begin < MOST_STEPS ? g->step_count - begin : MOST_STEPS;                    \
      list_places(g->steps, g->step_dims, begin, count, first, step_places);                                      \
      for (int64_t i = row; i < row + rows; i++) {                                                                \
        place r;                                                                                                  \
        list_places(g->rows, g->row_dims, i, 1, at, &r);                                                          \
        for (int64_t j = 0; begin == 0 && j < columns; j++) {                                                     \
          out[r.other + column + j] = 0;                                                                          \
        }                                                                                                         \
        for (int64_t k = 0; k < count; k++) {                                                                     \
          if (is_inside(g, &r, &step_places[k])) {                                                                \
            for (int64_t j = 0; j < columns; j++) {                                                               \
              out[r.other + column + j] +=                                                                        \
                  image[r.image + step_places[k].image] * filter[step_places[k].other + column + j];              \
            }                                                                                                     \
          }                                                                                                       \
        }                                                                                                         \
      }                                                                                                           \
    }                                                                                                             \
  }
DEFINE_GATHER(f32, float)
DEFINE_GATHER(f64, double)

#endif
