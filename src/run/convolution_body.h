// The body of the host's convolution for one element type and vector width; included by convolution_block.c once for each,
// with
//
//   REAL          the element type
//   VECTOR_BYTES  16, 32 or 64
//   TILE_M        rows of a register tile, a multiple of 3
//   NAME(x)       the name of x in this instance
//   TARGET        attributes of the functions
//
// As in gemm_body.h, register tiles of TILE_M rows by one or two vectors go down all rows of a block for one panel of
// columns after the other; a panel of the filter is packed on the stack and stays in L1 meanwhile. The image is never
// unfolded: a row of the left side is read in place through one pointer for each tap, which for a tap in the padding points
// to zeros, or is packed for this block alone.
#define VECTOR NAME(vector)
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define TILE_N (2 * LANES)
#define DEPTH ((int64_t)(INDIM_GATHER_DEPTH_BYTES / sizeof(REAL)))
#define PITCH (DEPTH + 16)  // of packed rows: the rows of a tile are in different sets of a cache
#define HEIGHT_STEP (TILE_M / 3)

typedef REAL VECTOR __attribute__((vector_size(VECTOR_BYTES)));

static const REAL NAME(zeros)[INDIM_GATHER_DEPTH_BYTES / sizeof(REAL)];

// What a block works with: on the stack, and not needed from one block to the next.
typedef struct NAME(work) {
  _Alignas(64) REAL filter[INDIM_GATHER_DEPTH_BYTES / sizeof(REAL) * 2 * VECTOR_BYTES / sizeof(REAL)];
  union {
    REAL packed[INDIM_GATHER_PACKED_ROWS * (INDIM_GATHER_DEPTH_BYTES / sizeof(REAL) + 16)];
    const REAL *pointers[INDIM_GATHER_ROWS * MOST_RUNS];  // of each tile's runs, TILE_M each
  } left;
  _Alignas(64) REAL spare[TILE_M * 2 * VECTOR_BYTES / sizeof(REAL)];
  place rows[INDIM_GATHER_ROWS];
  place steps[MOST_STEPS];
} NAME(work);

// The left side of a tile: for each of |runs| TILE_M pointers to |length| steps; or |packed|, TILE_M elements for each of
// |length| steps.
typedef struct NAME(left) {
  const REAL *const *pointers;
  const REAL *packed;
  int64_t runs, length;
} NAME(left);

// out[i][0..vectors * LANES) (+)= sum over all steps of left[i, .] * b[., .]; the constants are so where this is inlined.
TARGET static inline __attribute__((always_inline)) void NAME(sum_up)(const int height, const int vectors,
                                                                      const bool is_packed, const NAME(left) * left,
                                                                      const REAL *b, REAL *const *out,
                                                                      bool accumulate) {
  VECTOR sums[TILE_M][2];
#pragma GCC unroll 12
  for (int i = 0; i < height; i++) {
    sums[i][0] = sums[i][1] = (VECTOR){0};
  }
  int64_t runs = is_packed ? 1 : left->runs;
  int64_t length = left->length;
  for (int64_t r = 0; r < runs; r++) {
    const REAL *a[TILE_M];
#pragma GCC unroll 12
    for (int i = 0; i < height; i++) {
      a[i] = is_packed ? left->packed + i : left->pointers[r * TILE_M + i];
    }
    for (int64_t k = 0; k < length; k++) {
      VECTOR b0;
      VECTOR b1 = {0};
      memcpy(&b0, b, sizeof b0);
      if (vectors == 2) {
        memcpy(&b1, b + LANES, sizeof b1);
      }
      b += vectors * LANES;
#pragma GCC unroll 12
      for (int i = 0; i < height; i++) {
        REAL x = is_packed ? a[0][k * TILE_M + i] : a[i][k];
        sums[i][0] += x * b0;
        if (vectors == 2) {
          sums[i][1] += x * b1;
        }
      }
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      VECTOR sum = sums[i][v];
      if (accumulate) {
        VECTOR before;
        memcpy(&before, out[i] + v * LANES, sizeof before);
        sum += before;
      }
      memcpy(out[i] + v * LANES, &sum, sizeof sum);
    }
  }
}

#define DEFINE_TILE(suffix, height, vectors, is_packed)                                                              \
  TARGET static void NAME(tile_##suffix)(const NAME(left) * left, const REAL *b, REAL *const *out, bool accumulate) { \
    NAME(sum_up)(height, vectors, is_packed, left, b, out, accumulate);                                              \
  }
DEFINE_TILE(1_1_rows, HEIGHT_STEP, 1, false)
DEFINE_TILE(2_1_rows, 2 * HEIGHT_STEP, 1, false)
DEFINE_TILE(3_1_rows, TILE_M, 1, false)
DEFINE_TILE(1_2_rows, HEIGHT_STEP, 2, false)
DEFINE_TILE(2_2_rows, 2 * HEIGHT_STEP, 2, false)
DEFINE_TILE(3_2_rows, TILE_M, 2, false)
DEFINE_TILE(1_1_steps, HEIGHT_STEP, 1, true)
DEFINE_TILE(2_1_steps, 2 * HEIGHT_STEP, 1, true)
DEFINE_TILE(3_1_steps, TILE_M, 1, true)
DEFINE_TILE(1_2_steps, HEIGHT_STEP, 2, true)
DEFINE_TILE(2_2_steps, 2 * HEIGHT_STEP, 2, true)
DEFINE_TILE(3_2_steps, TILE_M, 2, true)
#undef DEFINE_TILE

// A tile of |rows| rows and |columns| columns. Rows and columns beyond these go to |spare|.
TARGET static void NAME(tile)(NAME(work) * w, const NAME(left) * left, int64_t rows, int64_t columns, const REAL *b,
                              const place *at, REAL *out, bool accumulate) {
  typedef void tile_fn(const NAME(left) * left, const REAL *b, REAL *const *out, bool accumulate);
  static tile_fn *const tiles[2][2][3] = {
      {{NAME(tile_1_1_rows), NAME(tile_2_1_rows), NAME(tile_3_1_rows)},
       {NAME(tile_1_2_rows), NAME(tile_2_2_rows), NAME(tile_3_2_rows)}},
      {{NAME(tile_1_1_steps), NAME(tile_2_1_steps), NAME(tile_3_1_steps)},
       {NAME(tile_1_2_steps), NAME(tile_2_2_steps), NAME(tile_3_2_steps)}}};
  bool is_partial = columns != LANES && columns != TILE_N;
  REAL *to[TILE_M];
  for (int64_t i = 0; i < TILE_M; i++) {
    to[i] = is_partial || i >= rows ? w->spare + i * TILE_N : out + at[i].other;
  }
  tile_fn *tile = tiles[left->packed != NULL][columns > LANES][(rows - 1) / HEIGHT_STEP];
  tile(left, b, to, accumulate && !is_partial);
  for (int64_t i = 0; is_partial && i < rows; i++) {
    REAL *row = out + at[i].other;
    for (int64_t j = 0; j < columns; j++) {
      row[j] = accumulate ? row[j] + to[i][j] : to[i][j];
    }
  }
}

// Packing -----------------------------------------------------------------------------------------------------------------

// Neighbouring elements; few, so that a call of memcpy would take longer.
TARGET static inline __attribute__((always_inline)) void NAME(copy)(REAL *to, const REAL *from, int64_t count) {
  enum { FEW = 4 };
  if (count < FEW) {
    for (int64_t i = 0; i < count; i++) {
      to[i] = from[i];
    }
    return;
  }
  int64_t i = 0;
  for (; i + FEW <= count; i += FEW) {
    memcpy(to + i, from + i, FEW * sizeof(REAL));
  }
  memcpy(to + count - FEW, from + count - FEW, FEW * sizeof(REAL));
}

// A panel of the filter: its |count| steps, |width| elements each. Columns beyond |columns| are zero.
TARGET static void NAME(pack_filter)(NAME(work) * w, const REAL *filter, int64_t count, int64_t columns,
                                     int64_t width) {
  for (int64_t k = 0; k < count; k++) {
    REAL *to = w->filter + k * width;
    const REAL *from = filter + w->steps[k].other;
    if (columns == TILE_N) {
      memcpy(to, from, TILE_N * sizeof(REAL));
    } else if (columns == LANES) {
      memcpy(to, from, LANES * sizeof(REAL));
    } else {
      for (int64_t j = 0; j < width; j++) {
        to[j] = j < columns ? from[j] : 0;
      }
    }
  }
}

// Of each tile and unit of the sum TILE_M pointers; rows that a tile does not have repeat its first.
TARGET static void NAME(point)(NAME(work) * w, const indim_gather *g, const REAL *image, int64_t rows, int64_t count,
                               int64_t unit) {
  const REAL **to = w->left.pointers;
  for (int64_t first = 0; first < rows; first += TILE_M) {
    for (int64_t k = 0; k < count; k += unit) {
      const place *step = &w->steps[k];
      for (int64_t i = 0; i < TILE_M; i++) {
        const place *row = &w->rows[first + i < rows ? first + i : first];
        *to++ = is_inside(g, row, step) ? image + (row->image + step->image) : NAME(zeros);
      }
    }
  }
}

// The taps of a run that lie inside the image for a row, from |*out_low| to below the result.
static inline int64_t NAME(inside)(const indim_gather *g, const place *row, const place *step, int32_t axis, int64_t move,
                                   int64_t taps, int64_t *out_low) {
  *out_low = 0;
  for (int32_t s = 0; s < INDIM_GATHER_AXES; s++) {
    int64_t at = row->at[s] + step->at[s];
    if (s != axis && (uint64_t)at >= (uint64_t)g->limits[s]) {
      return 0;
    }
  }
  if (axis < 0) {
    return taps;
  }
  int64_t at = row->at[axis] + step->at[axis];
  int64_t left = g->limits[axis] - at;
  if (at >= 0 && left > (taps - 1) * move) {
    return taps;
  }
  int64_t low = at >= 0 ? 0 : (move - 1 - at) / move;
  int64_t high = left <= 0 ? 0 : (left - 1) / move + 1;
  high = high < taps ? high : taps;
  *out_low = low < high ? low : high;
  return high;
}

// |taps| units, the first elements of which are |stride| apart.
TARGET static inline void NAME(copy_taps)(REAL *to, const REAL *from, int64_t taps, int64_t unit, int64_t stride) {
  if (stride == unit) {
    NAME(copy)(to, from, taps * unit);
  } else if (unit == 1) {
    for (int64_t t = 0; t < taps; t++) {
      to[t] = from[t * stride];
    }
  } else {
    for (int64_t t = 0; t < taps; t++) {
      NAME(copy)(to + t * unit, from + t * stride, unit);
    }
  }
}

// Row after row. The steps of a run along the innermost axis are clipped to the image together.
TARGET static void NAME(pack_rows)(NAME(work) * w, const indim_gather *g, const REAL *image, int64_t rows,
                                   int64_t begin, int64_t count) {
  const indim_gather_dim *inner = &g->steps[g->step_dims - 1];
  inner -= inner->axis < 0 && g->step_dims > 1 && g->unit == inner->size ? 1 : 0;
  int64_t unit = g->unit;
  int64_t length = inner->size;
  if (inner->axis < 0) {  // a single unit, or no units at all
    length = unit == 1 ? inner->size : 1;
  }
  for (int64_t i = 0; i < rows; i++) {
    const place *row = &w->rows[i];
    REAL *to = w->left.packed + i * PITCH;
    for (int64_t k = 0; k < count;) {
      int64_t first = (begin + k) / unit % length;
      int64_t taps = length - first < (count - k) / unit ? length - first : (count - k) / unit;
      int64_t low = 0;
      int64_t high = NAME(inside)(g, row, &w->steps[k], inner->axis, inner->move, taps, &low);
      for (int64_t j = 0; j < low * unit; j++) {
        to[k + j] = 0;
      }
      if (low < high) {
        const REAL *from = image + (row->image + w->steps[k].image + low * inner->image);
        NAME(copy_taps)(to + k + low * unit, from, high - low, unit, inner->image);
      }
      for (int64_t j = high * unit; j < taps * unit; j++) {
        to[k + j] = 0;
      }
      k += taps * unit;
    }
  }
}

// Rows of a tile that are neighbours in the image.
typedef struct NAME(piece) {
  int64_t row, count;
} NAME(piece);

// The pieces of a block; those of |at_one_place| lie at the same place along all axes.
static int64_t NAME(list_pieces)(const NAME(work) * w, int64_t rows, bool at_one_place, NAME(piece) * out) {
  int64_t count = 0;
  for (int64_t i = 0; i < rows; i++) {
    const place *row = &w->rows[i];
    bool continues = i % TILE_M != 0 && row->image == row[-1].image + 1 && (!at_one_place || is_same_place(row, row - 1));
    if (!continues) {
      out[count++] = (NAME(piece)){i, 0};
    }
    out[count - 1].count++;
  }
  return count;
}

// Step after step, TILE_M rows each. Whether a step lies inside the image is asked for all rows together, then for each place.
TARGET static void NAME(pack_steps)(NAME(work) * w, const indim_gather *g, const REAL *image, int64_t rows,
                                    int64_t count) {
  NAME(piece) whole[INDIM_GATHER_PACKED_ROWS];
  NAME(piece) parts[INDIM_GATHER_PACKED_ROWS];
  int64_t whole_count = NAME(list_pieces)(w, rows, false, whole);
  int64_t part_count = NAME(list_pieces)(w, rows, true, parts);
  place low = w->rows[0];
  place high = w->rows[0];
  for (int64_t i = 1; i < rows; i++) {
    for (int32_t s = 0; s < INDIM_GATHER_AXES; s++) {
      int64_t at = w->rows[i].at[s];
      low.at[s] = at < low.at[s] ? at : low.at[s];
      high.at[s] = at > high.at[s] ? at : high.at[s];
    }
  }
  int64_t tail = rows % TILE_M;
  if (tail != 0) {
    REAL *last = w->left.packed + rows / TILE_M * TILE_M * count;
    memset(last, 0, (size_t)(TILE_M * count) * sizeof(REAL));
  }
  for (int64_t k = 0; k < count; k++) {
    const place *step = &w->steps[k];
    bool is_whole = is_inside(g, &low, step) && is_inside(g, &high, step);
    const NAME(piece) *pieces = is_whole ? whole : parts;
    int64_t pieces_count = is_whole ? whole_count : part_count;
    bool inside = is_whole;
    for (int64_t p = 0; p < pieces_count; p++) {
      const place *row = &w->rows[pieces[p].row];
      if (!is_whole && (p == 0 || !is_same_place(row, &w->rows[pieces[p - 1].row]))) {
        inside = is_inside(g, row, step);
      }
      int64_t within = pieces[p].row % TILE_M;
      REAL *to = w->left.packed + (pieces[p].row - within) * count + k * TILE_M + within;
      if (!inside) {
        for (int64_t i = 0; i < pieces[p].count; i++) {
          to[i] = 0;
        }
      } else if (pieces[p].count == TILE_M) {
        memcpy(to, image + (row->image + step->image), TILE_M * sizeof(REAL));
      } else {
        NAME(copy)(to, image + (row->image + step->image), pieces[p].count);
      }
    }
  }
}

// Blocks --------------------------------------------------------------------------------------------------------------------

// The tiles of all rows for one panel of columns.
TARGET static void NAME(panel)(NAME(work) * w, const indim_gather *g, int64_t rows, int64_t count, int64_t columns,
                               REAL *out, bool accumulate) {
  bool in_place = g->mode == INDIM_GATHER_IN_PLACE;
  int64_t unit = g->unit < count ? g->unit : count;
  int64_t runs = in_place ? count / unit : 1;
  for (int64_t i = 0; i < rows; i += TILE_M) {
    const REAL *of_rows[TILE_M];
    NAME(left) left = {.runs = runs, .length = count / runs};
    int64_t height = rows - i < TILE_M ? rows - i : TILE_M;
    if (g->mode == INDIM_GATHER_BY_STEPS) {
      left.packed = w->left.packed + i * count;
    } else if (in_place) {
      left.pointers = w->left.pointers + i * runs;
    } else {
      for (int64_t r = 0; r < TILE_M; r++) {
        of_rows[r] = w->left.packed + (r < height ? i + r : i) * PITCH;
      }
      left.pointers = of_rows;
    }
    NAME(tile)(w, &left, height, columns, w->filter, &w->rows[i], out, accumulate);
  }
}

TARGET static void NAME(block)(const indim_gather *g, const REAL *image, const REAL *filter, REAL *out, int64_t row,
                               int64_t rows, int64_t column, int64_t columns) {
  NAME(work) w;
  list_places(g->rows, g->row_dims, row, rows,
              (place){g->first_image, g->first_out + column, {g->origin[0], g->origin[1], g->origin[2]}}, w.rows);
  memset(w.spare, 0, sizeof w.spare);
  for (int64_t begin = 0, count = 0; begin < g->step_count; begin += count) {
    count = depth_at(g, begin, DEPTH);
    list_places(g->steps, g->step_dims, begin, count, (place){0, g->first_filter + column, {0}}, w.steps);
    switch (g->mode) {
    case INDIM_GATHER_IN_PLACE:
      NAME(point)(&w, g, image, rows, count, g->unit < count ? g->unit : count);
      break;
    case INDIM_GATHER_BY_ROWS:
      NAME(pack_rows)(&w, g, image, rows, begin, count);
      break;
    case INDIM_GATHER_BY_STEPS:
      NAME(pack_steps)(&w, g, image, rows, count);
      break;
    }
    for (int64_t j = 0; j < columns; j += TILE_N) {
      int64_t width = columns - j < TILE_N ? columns - j : TILE_N;
      NAME(pack_filter)(&w, filter + j, count, width, width > LANES ? TILE_N : LANES);
      NAME(panel)(&w, g, rows, count, width, out + j, begin > 0);
    }
  }
}

#undef VECTOR
#undef LANES
#undef TILE_N
#undef DEPTH
#undef PITCH
#undef HEIGHT_STEP
