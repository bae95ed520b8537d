// Blocks of the host's convolution of bytes and 16-bit integers summed in s32, and of bf16 summed in f32: the left side of some rows is laid out in
// memory, and the built-in product of narrow elements does the rest. It packs both of its sides anyway.
#include <string.h>

#include "base/size.h"
#include "run/convolution_places.h"
#include "run/matmul.h"

enum {
  MOST_STEPS = 512,         // of the products: a block of the built-in one
  MOST_ROWS = 264,          // the same
  PATCH_BYTES = 96 << 10,   // of the left side of some rows
  FILTER_BYTES = 32 << 10,  // of a part of the filter that does not lie row after row
  FILTER_COLUMNS = 32,
  GROUP = 4  // steps that the product takes together
};

// Steps whose elements are neighbours in the image.
typedef struct span {
  int64_t first, count;
} span;

typedef struct work {
  char patches[PATCH_BYTES];
  char filter[FILTER_BYTES];
  place rows[MOST_ROWS];
  place steps[MOST_STEPS];
  span units[MOST_STEPS];  // at one place
  span runs[MOST_STEPS];   // at any
  int64_t unit_count, run_count;
} work;

static void list_spans(work *w, int64_t count) {
  w->unit_count = w->run_count = 0;
  for (int64_t k = 0; k < count; k++) {
    const place *step = &w->steps[k];
    bool continues = k > 0 && step->image == step[-1].image + 1;
    if (!continues) {
      w->runs[w->run_count++] = (span){k, 0};
    }
    if (!continues || memcmp(step->at, step[-1].at, sizeof step->at) != 0) {
      w->units[w->unit_count++] = (span){k, 0};
    }
    w->runs[w->run_count - 1].count++;
    w->units[w->unit_count - 1].count++;
  }
}

// Most often so few bytes that a call of memcpy would take longer: pieces of which the last two overlap.
static inline void copy(char *to, const char *from, int64_t bytes) {
  enum { PIECE = 16 };
  if (bytes >= PIECE) {
    for (int64_t i = 0; i + PIECE < bytes; i += PIECE) {
      memcpy(to + i, from + i, PIECE);
    }
    memcpy(to + bytes - PIECE, from + bytes - PIECE, PIECE);
  } else if (bytes >= PIECE / 2) {
    memcpy(to, from, PIECE / 2);
    memcpy(to + bytes - PIECE / 2, from + bytes - PIECE / 2, PIECE / 2);
  } else {
    for (int64_t i = 0; i < bytes; i++) {
      to[i] = from[i];
    }
  }
}

// |count| steps of |rows| listed rows, one row behind the other.
static void lay_out_rows(work *w, const indim_gather *g, const char *image, int64_t element_bytes, int64_t rows,
                         int64_t count) {
  const bounds steps = bounds_of(w->steps, count);
  for (int64_t i = 0; i < rows; i++) {
    const place *row = &w->rows[i];
    bool is_whole = are_inside(g, &steps, row);
    const span *spans = is_whole ? w->runs : w->units;
    int64_t span_count = is_whole ? w->run_count : w->unit_count;
    for (int64_t s = 0; s < span_count; s++) {
      const place *step = &w->steps[spans[s].first];
      char *to = w->patches + (i * count + spans[s].first) * element_bytes;
      int64_t bytes = spans[s].count * element_bytes;
      if (is_whole || is_inside(g, row, step)) {
        copy(to, image + (row->image + step->image) * element_bytes, bytes);
      } else {
        memset(to, 0, (size_t)bytes);
      }
    }
  }
}

// A matrix of the filter's elements: its first one, and the elements from one step to the next.
typedef struct matrix {
  const char *at;
  int64_t stride;
} matrix;

static matrix filter_at(work *w, const char *filter, int64_t element_bytes, int64_t count, int64_t column,
                        int64_t columns) {
  for (int64_t k = 0; k < count; k++) {
    memcpy(w->filter + k * columns * element_bytes, filter + (w->steps[k].other + column) * element_bytes,
           (size_t)(columns * element_bytes));
  }
  return (matrix){w->filter, columns};
}

static bool is_even(const place *places, int64_t count) {
  for (int64_t i = 2; i < count; i++) {
    if (places[i].other - places[i - 1].other != places[1].other - places[0].other) {
      return false;
    }
  }
  return true;
}

// How many rows from |i| on are equally far apart in the output.
static int64_t even_rows(const place *rows, int64_t i, int64_t count) {
  int64_t end = i + 1;
  while (end < count && rows[end].other - rows[end - 1].other == rows[i + 1].other - rows[i].other) {
    end++;
  }
  return end - i;
}

typedef struct block {
  const indim_gather *g;
  indim_type image_type, filter_type;
  int32_t vector_bytes;
} block;

// Sums are 4 bytes, of s32 or f32.
static void multiply(work *w, const block *b, const matrix *filter, char *out, int64_t rows, int64_t count,
                     int64_t columns, bool accumulate) {
  int64_t element_bytes = indim_type_bytes(b->image_type);
  for (int64_t i = 0, part = 0; i < rows; i += part) {
    part = even_rows(w->rows, i, rows);
    int64_t distance = part > 1 ? w->rows[i + 1].other - w->rows[i].other : 0;
    const char *patches = w->patches + i * count * element_bytes;
    char *to = out + w->rows[i].other * 4;
    if (b->image_type == INDIM_BF16) {
      indim_gemm_bf16(b->vector_bytes, part, columns, count, patches, count, 1, filter->at, filter->stride, 1,
                      (float *)(void *)to, distance, accumulate);
    } else {
      indim_gemm_s32(b->vector_bytes, part, columns, count, b->image_type, patches, count, 1, b->filter_type,
                     filter->at, filter->stride, 1, (int32_t *)(void *)to, distance, accumulate);
    }
  }
}

void indim_gather_narrow(int32_t vector_bytes, const indim_gather *g, indim_type image_type, const void *image,
                         indim_type filter_type, const void *filter, void *out, int64_t row, int64_t rows,
                         int64_t column, int64_t columns) {
  work w;
  const block b = {g, image_type, filter_type, vector_bytes};
  const place first_row = {g->first_image, g->first_out + column, {g->origin[0], g->origin[1], g->origin[2]}};
  const place first_step = {0, g->first_filter + column, {0}};
  int64_t image_bytes = indim_type_bytes(image_type);
  int64_t filter_bytes = indim_type_bytes(filter_type);
  for (int64_t begin = 0, count = 0; begin < g->step_count; begin += count) {
    int64_t left = g->step_count - begin;
    count = indim_ceil_div(indim_ceil_div(left, indim_ceil_div(left, MOST_STEPS)), GROUP) * GROUP;
    count = count < left ? count : left;
    int64_t most = PATCH_BYTES / (count * image_bytes);
    most = most < MOST_ROWS ? most : MOST_ROWS;
    list_places(g->steps, g->step_dims, begin, count, first_step, w.steps);
    list_spans(&w, count);
    bool is_matrix = is_even(w.steps, count);
    for (int64_t i = 0; i < rows; i += most) {
      int64_t part = rows - i < most ? rows - i : most;
      list_places(g->rows, g->row_dims, row + i, part, first_row, w.rows);
      lay_out_rows(&w, g, image, image_bytes, part, count);
      for (int64_t j = 0, width = columns; j < columns; j += width) {
        matrix m = {(const char *)filter + w.steps[0].other * filter_bytes,
                    count > 1 ? w.steps[1].other - w.steps[0].other : columns};
        if (!is_matrix) {
          width = columns - j < FILTER_COLUMNS ? columns - j : FILTER_COLUMNS;
          m = filter_at(&w, filter, filter_bytes, count, j, width);
        }
        multiply(&w, &b, &m, (char *)out + j * 4, part, count, width, begin > 0);
      }
    }
  }
}
