// The body of the host's convolution for one element type and vector width, which convolution_block.c has by
// vector_instances.h.
//
// As in gemm_body.h, register tiles of TILE_M rows by one or two vectors go down all rows of a block for one panel of
// columns after the other; a panel of the filter is packed on the stack and stays in L1 meanwhile. The image is never
// unfolded: a tile of neighbouring rows that lies inside with all taps is read in place, by one offset for each step and the
// distance of its rows. The other rows are read in place through one pointer for each tap, which for a tap in the padding points
// to zeros, or are packed for this block alone.
#define VECTOR NAME(vector)
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define TILE_M (VECTOR_BYTES == 64 ? 12 : 6)  // rows of a register tile, a multiple of 3
#define TILE_N (2 * LANES)
#define DEPTH ((int64_t)(INDIM_GATHER_DEPTH_BYTES / sizeof(REAL)))
#define PITCH (DEPTH + 16)  // of packed rows: the rows of a tile are in different sets of a cache
#define HEIGHT_STEP (TILE_M / 3)

#define WORDS NAME(words)
#define WORD_LANES ((int64_t)(VECTOR_BYTES / sizeof(intptr_t)))

typedef REAL VECTOR __attribute__((vector_size(VECTOR_BYTES)));
typedef intptr_t WORDS __attribute__((vector_size(VECTOR_BYTES)));

// For all steps of a unit, or for a tile of rows from those before the first on.
static const REAL NAME(zeros)[TILE_M + MOST_UNIT_BYTES / sizeof(REAL)];

// What a block works with: on the stack, and not needed from one block to the next.
typedef struct NAME(work) {
  _Alignas(64) REAL filter[INDIM_GATHER_DEPTH_BYTES / sizeof(REAL) * 2 * VECTOR_BYTES / sizeof(REAL)];
  REAL packed[INDIM_GATHER_ROWS_PACKED * (INDIM_GATHER_DEPTH_BYTES / sizeof(REAL) + 16)];
  const REAL *pointers[MOST_POINTERS + SLACK];  // see point and point_steps
  _Alignas(64) REAL spare[TILE_M * 2 * VECTOR_BYTES / sizeof(REAL)];
  place rows[INDIM_GATHER_ROWS];
  place steps[MOST_STEPS];
  place_lists lists;  // of rows or steps
  run runs[MOST_STEPS];
  intptr_t offsets[MOST_STEPS];  // of steps, in elements
  place tiles[MOST_TILES];       // the first rows of tiles that are read by their rows' distance
} NAME(work);

// The left side of a tile: for each of |runs| TILE_M pointers to |length| steps (ROWS); TILE_M elements for each of |length|
// steps (STEPS); one pointer for each, |within| elements beyond which the rows are (POINTED); or one offset for each from
// |packed|, where rows are |within| elements apart (DISTANT).
typedef struct NAME(left) {
  const REAL *const *pointers;
  const REAL *packed;
  const intptr_t *offsets;
  int64_t runs, length, within;
  enum { NAME(ROWS), NAME(STEPS), NAME(POINTED), NAME(DISTANT), NAME(KINDS) } kind;
} NAME(left);

// out[i][0..vectors * LANES) (+)= sum over all steps of left[i, .] * b[., .]; the constants are so where this is inlined. The second
// vector begins |second| columns behind the first, which it may overlap: both have the same sums there.
TARGET static inline __attribute__((always_inline)) void NAME(sum_up)(const int height, const int vectors,
                                                                      const int kind, const NAME(left) * left,
                                                                      const REAL *b, int64_t second, REAL *const *out,
                                                                      bool accumulate) {
  VECTOR sums[TILE_M][2];
#pragma GCC unroll 12
  for (int i = 0; i < height; i++) {
    sums[i][0] = sums[i][1] = (VECTOR){0};
  }
  int64_t runs = kind == NAME(ROWS) ? left->runs : 1;
  int64_t length = left->length;
  for (int64_t r = 0; r < runs; r++) {
    const REAL *a[TILE_M];
#pragma GCC unroll 12
    for (int i = 0; i < height; i++) {
      a[i] = kind == NAME(ROWS) ? left->pointers[r * TILE_M + i] : left->packed;
    }
#pragma GCC unroll 2
    for (int64_t k = 0; k < length; k++) {
      VECTOR b0;
      VECTOR b1 = {0};
      memcpy(&b0, b, sizeof b0);
      if (vectors == 2) {
        memcpy(&b1, b + second, sizeof b1);
      }
      b += vectors * LANES;
      const REAL *at = kind == NAME(STEPS) ? a[0] + k * TILE_M : a[0];
      if (kind == NAME(POINTED)) {
        at = left->pointers[k] + left->within;
      }
      if (kind == NAME(DISTANT)) {
        at = left->packed + left->offsets[k];
      }
#pragma GCC unroll 12
      for (int i = 0; i < height; i++) {
        if (kind == NAME(DISTANT) && i % 3 == 0 && i > 0) {
          at += 3 * left->within;
          __asm__("" : "+r"(at));  // a register for the distance of each row would be too many
        }
        REAL x = kind == NAME(ROWS) ? a[i][k] : kind == NAME(DISTANT) ? at[i % 3 * left->within] : at[i];
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
    for (int v = 0; v < vectors && accumulate; v++) {
      VECTOR before;
      memcpy(&before, out[i] + v * second, sizeof before);
      sums[i][v] += before;
    }
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      memcpy(out[i] + v * second, &sums[i][v], sizeof(VECTOR));
    }
  }
}

#define DEFINE_TILE(suffix, height, vectors, kind)                                                                 \
  TARGET static void NAME(tile_##suffix)(const NAME(left) * left, const REAL *b, int64_t second, REAL *const *out, \
                                         bool accumulate) {                                                        \
    NAME(sum_up)(height, vectors, kind, left, b, second, out, accumulate);                                         \
  }
DEFINE_TILE(1_1_rows, 1 * HEIGHT_STEP, 1, NAME(ROWS))
DEFINE_TILE(2_1_rows, 2 * HEIGHT_STEP, 1, NAME(ROWS))
DEFINE_TILE(3_1_rows, 3 * HEIGHT_STEP, 1, NAME(ROWS))
DEFINE_TILE(1_2_rows, 1 * HEIGHT_STEP, 2, NAME(ROWS))
DEFINE_TILE(2_2_rows, 2 * HEIGHT_STEP, 2, NAME(ROWS))
DEFINE_TILE(3_2_rows, 3 * HEIGHT_STEP, 2, NAME(ROWS))
DEFINE_TILE(1_1_steps, 1 * HEIGHT_STEP, 1, NAME(STEPS))
DEFINE_TILE(2_1_steps, 2 * HEIGHT_STEP, 1, NAME(STEPS))
DEFINE_TILE(3_1_steps, 3 * HEIGHT_STEP, 1, NAME(STEPS))
DEFINE_TILE(1_2_steps, 1 * HEIGHT_STEP, 2, NAME(STEPS))
DEFINE_TILE(2_2_steps, 2 * HEIGHT_STEP, 2, NAME(STEPS))
DEFINE_TILE(3_2_steps, 3 * HEIGHT_STEP, 2, NAME(STEPS))
DEFINE_TILE(1_1_pointed, 1 * HEIGHT_STEP, 1, NAME(POINTED))
DEFINE_TILE(2_1_pointed, 2 * HEIGHT_STEP, 1, NAME(POINTED))
DEFINE_TILE(3_1_pointed, 3 * HEIGHT_STEP, 1, NAME(POINTED))
DEFINE_TILE(1_2_pointed, 1 * HEIGHT_STEP, 2, NAME(POINTED))
DEFINE_TILE(2_2_pointed, 2 * HEIGHT_STEP, 2, NAME(POINTED))
DEFINE_TILE(3_2_pointed, 3 * HEIGHT_STEP, 2, NAME(POINTED))
DEFINE_TILE(3_1_distant, 3 * HEIGHT_STEP, 1, NAME(DISTANT))
DEFINE_TILE(3_2_distant, 3 * HEIGHT_STEP, 2, NAME(DISTANT))
#undef DEFINE_TILE

// A tile of |columns| columns and |rows| rows, from the |skipped|th on; |at|: where that is. Others go to |spare|.
TARGET static void NAME(tile)(NAME(work) * w, const NAME(left) * left, int64_t skipped, int64_t rows, int64_t columns,
                              const place *at, REAL *out, bool accumulate) {
  typedef void tile_fn(const NAME(left) * left, const REAL *b, int64_t second, REAL *const *out, bool accumulate);
  static tile_fn *const tiles[NAME(KINDS)][2][3] = {
      {{NAME(tile_1_1_rows), NAME(tile_2_1_rows), NAME(tile_3_1_rows)},
       {NAME(tile_1_2_rows), NAME(tile_2_2_rows), NAME(tile_3_2_rows)}},
      {{NAME(tile_1_1_steps), NAME(tile_2_1_steps), NAME(tile_3_1_steps)},
       {NAME(tile_1_2_steps), NAME(tile_2_2_steps), NAME(tile_3_2_steps)}},
      {{NAME(tile_1_1_pointed), NAME(tile_2_1_pointed), NAME(tile_3_1_pointed)},
       {NAME(tile_1_2_pointed), NAME(tile_2_2_pointed), NAME(tile_3_2_pointed)}},
      {{NULL, NULL, NAME(tile_3_1_distant)}, {NULL, NULL, NAME(tile_3_2_distant)}}};
  bool is_partial = columns < LANES;
  REAL *to[TILE_M];
  if (skipped == 0 && rows == TILE_M && !is_partial) {
    for (int64_t i = 0; i < TILE_M; i++) {
      to[i] = out + at[i].other;
      __builtin_prefetch(to[i], 1);
      if (columns > LANES) {
        __builtin_prefetch(to[i] + columns - LANES, 1);
      }
    }
  } else {
    for (int64_t i = 0; i < TILE_M; i++) {
      bool is_row = i >= skipped && i < rows && !is_partial;
      to[i] = is_row ? out + at[i - skipped].other : w->spare + i * TILE_N;
    }
  }
  tile_fn *tile = tiles[left->kind][columns > LANES][(rows - 1) / HEIGHT_STEP];
  tile(left, w->filter, columns > LANES ? columns - LANES : LANES, to, accumulate && !is_partial);
  for (int64_t i = skipped; is_partial && i < rows; i++) {
    REAL *row = out + at[i - skipped].other;
    for (int64_t j = 0; j < columns; j++) {
      row[j] = accumulate ? row[j] + to[i][j] : to[i][j];
    }
  }
}

// Packing -----------------------------------------------------------------------------------------------------------------

// Neighbouring elements, most often so few that a call of memcpy would take longer: two pieces that overlap.
TARGET static inline __attribute__((always_inline)) void NAME(copy)(REAL *to, const REAL *from, int64_t count) {
#define TWO(piece)                          \
  memcpy(to, from, (piece) * sizeof(REAL)); \
  memcpy(to + count - (piece), from + count - (piece), (piece) * sizeof(REAL))
  if (count > 32) {
    memcpy(to, from, (size_t)count * sizeof(REAL));
  } else if (count >= 16) {
    TWO(16);
  } else if (count >= 8) {
    TWO(8);
  } else if (count >= 4) {
    TWO(4);
  } else if (count >= 2) {
    TWO(2);
  } else if (count == 1) {
    *to = *from;
  }
#undef TWO
}

// A panel of the filter: its |count| steps, |width| elements each. Columns beyond |columns| are zero.
TARGET static void NAME(pack_filter)(NAME(work) * w, const REAL *filter, int64_t count, int64_t columns,
                                     int64_t width) {
  enum { STEPS_AHEAD = 16 };  // that are asked for: each is a line or two of another page
  for (int64_t k = 0; k < count; k++) {
    REAL *to = w->filter + k * width;
    const REAL *from = filter + w->steps[k].other;
    const REAL *later = filter + w->steps[k + STEPS_AHEAD < count ? k + STEPS_AHEAD : k].other;
    __builtin_prefetch(later);
    __builtin_prefetch(later + LANES);
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

// Pointers to |count| places of |lists| from |first| on, and up to a vector more: |outside| for those that are beside the image
// when they are moved by |low| or by |high|, which is further along each axis, or lie beyond element |last| without it. No
// branches: there are as few multiplications as 8 for each pointer.
TARGET static inline __attribute__((always_inline)) void
NAME(fill)(const REAL **to, const place_lists *lists, int64_t first, int64_t count, const place *low, const place *high,
           int64_t last, const indim_gather *g, const REAL *image, const REAL *outside) {
  const WORDS none = (intptr_t)outside - (WORDS){0};
  const WORDS origin = (intptr_t)image + (intptr_t)(low->image * (int64_t)sizeof(REAL)) - (WORDS){0};
  const WORDS end = (intptr_t)(last * (int64_t)sizeof(REAL)) - (WORDS){0};
  WORDS lows[INDIM_GATHER_AXES];
  WORDS highs[INDIM_GATHER_AXES];
  for (int32_t s = 0; s < INDIM_GATHER_AXES; s++) {
    lows[s] = (intptr_t)low->at[s] - (WORDS){0};
    highs[s] = (intptr_t)(g->limits[s] - 1 - high->at[s]) - (WORDS){0};
  }
  for (int64_t i = 0; i < count; i += WORD_LANES) {
    WORDS at;
    memcpy(&at, lists->image + first + i, sizeof at);
    WORDS beside = end - at;  // negative: so is it
    WORDS pointers = at + origin;
    for (int32_t s = 0; s < INDIM_GATHER_AXES; s++) {
      memcpy(&at, lists->at[s] + first + i, sizeof at);
      beside |= (at + lows[s]) | (highs[s] - at);
    }
    beside = beside < 0;
    pointers = (pointers & ~beside) | (none & beside);
    memcpy(to + i, &pointers, sizeof pointers);
  }
}

// Of each tile and unit of the sum TILE_M pointers; rows that a tile does not have repeat the last one.
TARGET static void NAME(point)(NAME(work) * w, const indim_gather *g, const REAL *image, int64_t rows, int64_t count,
                               int64_t unit) {
  const REAL **to = w->pointers;
  to_lists(w->rows, rows, sizeof(REAL), &w->lists);
  for (int64_t first = 0; first < rows; first += TILE_M) {
    for (int64_t k = 0; k < count; k += unit, to += TILE_M) {
      NAME(fill)
      (to, &w->lists, first, TILE_M, &w->steps[k], &w->steps[k], ANYWHERE, g, image, NAME(zeros));
    }
  }
}

// A run of which some taps lie beside the image, copied to |to|. Returns where it is.
TARGET static const REAL *NAME(copy_steps)(const indim_gather *g, const REAL *image, const place *row,
                                           const place *step, const indim_gather_dim *dim, int64_t unit, REAL *to) {
  int64_t low = 0;
  int64_t high = clip(g, row, step, dim->axis, dim->move, dim->size, &low);
  if (low == high) {
    return NAME(zeros);
  }
  NAME(copy)(to, NAME(zeros), low * unit);
  NAME(copy)(to + low * unit, image + (row->image + step->image + low * unit), (high - low) * unit);
  NAME(copy)(to + high * unit, NAME(zeros), (dim->size - high) * unit);
  return to;
}

// The same of runs of several taps along an axis.
TARGET static void NAME(point_taps)(NAME(work) * w, const indim_gather *g, const REAL *image, int64_t rows,
                                    int64_t count) {
  int64_t unit = 0;
  const indim_gather_dim *dim = dim_of_runs(g, &unit);
  const REAL **to = w->pointers;
  REAL *copies = w->packed;
  to_lists(w->rows, rows, sizeof(REAL), &w->lists);
  for (int64_t first = 0; first < rows; first += TILE_M) {
    bounds of_tile = bounds_of(&w->rows[first], rows - first < TILE_M ? rows - first : TILE_M);
    for (int64_t k = 0; k < count; k += g->unit, to += TILE_M) {
      const place *step = &w->steps[k];
      place last = *step;
      move(dim, dim->size - 1, &last);
      bool is_whole = is_inside(g, &of_tile.low, step) && is_inside(g, &of_tile.high, &last);
      NAME(fill)(to, &w->lists, first, TILE_M, step, &last, ANYWHERE, g, image, NULL);
      for (int64_t i = 0; i < TILE_M && !is_whole; i++) {
        if (to[i] == NULL) {
          bool is_row = first + i < rows;
          to[i] = is_row ? NAME(copy_steps)(g, image, &w->rows[first + i], step, dim, unit, copies) : NAME(zeros);
          copies += to[i] == copies ? g->unit : 0;
        }
      }
    }
  }
}

// How many of |rows| rows from |i| on are of one unit.
static int64_t NAME(rows_of_unit)(const indim_gather *g, int64_t row, int64_t i, int64_t rows) {
  int64_t left = g->unit - (row + i) % g->unit;
  return left < rows - i ? left : rows - i;
}

// Of each unit of rows and each step one pointer.
TARGET static void NAME(point_steps)(NAME(work) * w, const indim_gather *g, const REAL *image, int64_t row,
                                     int64_t rows, int64_t count) {
  const REAL **to = w->pointers;
  to_lists(w->steps, count, sizeof(REAL), &w->lists);
  for (int64_t i = 0; i < rows; i += NAME(rows_of_unit)(g, row, i, rows), to += count) {
    const place *first = &w->rows[i];
    NAME(fill)(to, &w->lists, 0, count, first, first, ANYWHERE, g, image, NAME(zeros) + TILE_M);
  }
}

// The rows of a run for one step, of which some lie beside the image: copied to |to|. Returns where they are.
TARGET static const REAL *NAME(copy_run)(const indim_gather *g, const REAL *image, const place *rows, const place *step,
                                         const piece *pieces, int64_t count, REAL *to) {
  bool is_zero = true;
  for (int64_t p = 0; p < count; p++) {
    const place *row = &rows[pieces[p].row];
    REAL *at = to + pieces[p].row;
    int64_t low = 0;
    int64_t high = clip(g, row, step, pieces[p].axis, pieces[p].move, pieces[p].count, &low);
    NAME(copy)(at, NAME(zeros), low);
    if (low < high) {
      NAME(copy)(at + low, image + (row->image + step->image + low), high - low);
      is_zero = false;
    }
    NAME(copy)(at + high, NAME(zeros), pieces[p].count - high);
  }
  return is_zero ? NAME(zeros) : to;
}

// Of each run of rows and each step one pointer. A tile may read beyond the end of a run, but not of the image.
TARGET static void NAME(point_runs)(NAME(work) * w, const indim_gather *g, const REAL *image, int64_t rows,
                                    int64_t count) {
  const REAL **to = w->pointers;
  REAL *copies = w->packed;
  to_lists(w->steps, count, sizeof(REAL), &w->lists);
  for (int64_t i = 0; i < rows; i += g->unit, to += count) {
    piece parts[INDIM_GATHER_ROWS_PACKED];
    const place *first = &w->rows[i];
    bounds of_run = bounds_of(first, g->unit);
    int64_t part_count = list_pieces(first, g->unit, false, parts);
    int64_t last = g->image_end - g->unit - TILE_M - first->image;
    NAME(fill)(to, &w->lists, 0, count, &of_run.low, &of_run.high, last, g, image, NULL);
    for (int64_t k = 0; k < count; k++) {
      if (to[k] == NULL) {
        to[k] = NAME(copy_run)(g, image, first, &w->steps[k], parts, part_count, copies);
        copies += to[k] == copies ? g->unit : 0;
      }
    }
  }
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

// Row after row. The steps of a run are clipped to the image together.
TARGET static void NAME(pack_rows)(NAME(work) * w, const indim_gather *g, const REAL *image, int64_t rows,
                                   int64_t begin, int64_t count) {
  const indim_gather_dim *dim = NULL;
  int64_t runs = list_runs(g, begin, count, w->runs, &dim);
  bounds steps = bounds_of(w->steps, count);
  for (int64_t i = 0; i < rows; i++) {
    const place *row = &w->rows[i];
    REAL *to = w->packed + i * PITCH;
    bool is_whole = are_inside(g, &steps, row);
    for (int64_t r = 0; r < runs; r++) {
      const place *step = &w->steps[w->runs[r].first];
      int64_t taps = w->runs[r].taps;
      int64_t low = 0;
      int64_t high = is_whole ? taps : clip(g, row, step, dim->axis, dim->move, taps, &low);
      NAME(copy)(to, NAME(zeros), low * g->unit);
      if (low < high) {
        NAME(copy_taps)
        (to + low * g->unit, image + (row->image + step->image + low * dim->image), high - low, g->unit, dim->image);
      }
      NAME(copy)(to + high * g->unit, NAME(zeros), (taps - high) * g->unit);
      to += taps * g->unit;
    }
  }
}

// Step after step, TILE_M rows each; those of a tile that are neighbours are clipped to the image together.
TARGET static void NAME(pack_steps)(NAME(work) * w, const indim_gather *g, const REAL *image, int64_t rows,
                                    int64_t count) {
  for (int64_t first = 0; first < rows; first += TILE_M) {
    piece whole[TILE_M];
    piece parts[TILE_M];
    int64_t height = rows - first < TILE_M ? rows - first : TILE_M;
    const place *tile = &w->rows[first];
    bounds of_tile = bounds_of(tile, height);
    int64_t whole_count = list_pieces(tile, height, true, whole);
    int64_t part_count = list_pieces(tile, height, false, parts);
    REAL *to = w->packed + first * count;
    if (height < TILE_M) {
      memset(to, 0, (size_t)(TILE_M * count) * sizeof(REAL));
    }
    for (int64_t k = 0; k < count; k++, to += TILE_M) {
      const place *step = &w->steps[k];
      bool is_whole = are_inside(g, &of_tile, step);
      if (is_whole && whole_count == 1 && height == TILE_M) {
        memcpy(to, image + (tile->image + step->image), TILE_M * sizeof(REAL));
        continue;
      }
      const piece *pieces = is_whole ? whole : parts;
      for (int64_t p = 0; p < (is_whole ? whole_count : part_count); p++) {
        const place *row = &tile[pieces[p].row];
        REAL *at = to + pieces[p].row;
        int64_t low = 0;
        int64_t all = pieces[p].count;
        int64_t high = is_whole ? all : clip(g, row, step, pieces[p].axis, pieces[p].move, all, &low);
        NAME(copy)(at, NAME(zeros), low);
        if (low < high) {
          NAME(copy)(at + low, image + (row->image + step->image + low), high - low);
        }
        NAME(copy)(at + high, NAME(zeros), all - high);
      }
    }
  }
}

// Blocks --------------------------------------------------------------------------------------------------------------------

// Prefetches the filter's next panel: lines of distant rows, which hardware prefetchers miss.
TARGET static void NAME(prefetch)(const NAME(work) * w, const REAL *filter, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    __builtin_prefetch(filter + w->steps[k].other);
    __builtin_prefetch(filter + w->steps[k].other + LANES);
  }
}

// The left side of the tile of |height| rows from |i| on, where these are packed or in place by units of steps.
TARGET static NAME(left) NAME(left_of)(const NAME(work) * w, const indim_gather *g, int64_t i, int64_t height,
                                       int64_t count, const REAL **rows) {
  if (g->mode == INDIM_GATHER_PACKED_STEPS) {
    return (NAME(left)){.packed = w->packed + i * count, .length = count, .kind = NAME(STEPS)};
  }
  if (g->mode == INDIM_GATHER_UNITS || g->mode == INDIM_GATHER_RUNS) {
    int64_t unit = g->unit < count ? g->unit : count;
    return (NAME(left)){.pointers = w->pointers + i * (count / unit), .runs = count / unit, .length = unit};
  }
  for (int64_t r = 0; r < TILE_M; r++) {
    rows[r] = w->packed + (r < height ? i + r : i) * PITCH;
  }
  return (NAME(left)){.pointers = rows, .runs = 1, .length = count};
}

// The tiles of a panel of |columns| columns where units of rows are in place. Tiles end with their unit, the last one with
// rows before its first rather than behind the unit.
TARGET static void NAME(tiles_of_units)(NAME(work) * w, const indim_gather *g, REAL *out, int64_t row, int64_t rows,
                                        int64_t count, int64_t columns, bool accumulate) {
  NAME(left) left = {.pointers = w->pointers, .length = count, .kind = NAME(POINTED)};
  for (int64_t i = 0; i < rows; left.pointers += count) {
    int64_t first = i;
    int64_t end = i + NAME(rows_of_unit)(g, row, i, rows);
    int64_t within = (row + i) % g->unit;
    for (int64_t height = 0; i < end; i += height) {
      height = end - i < TILE_M ? end - i : TILE_M;
      int64_t beyond = within + i - first + indim_ceil_div(height, HEIGHT_STEP) * HEIGHT_STEP - g->unit;
      int64_t skipped = beyond > 0 && g->mode == INDIM_GATHER_ROW_UNITS ? beyond : 0;
      left.within = i - first - skipped;
      NAME(tile)(w, &left, skipped, skipped + height, columns, &w->rows[i], out, accumulate);
    }
  }
}

TARGET static void NAME(tiles)(NAME(work) * w, const indim_gather *g, REAL *out, int64_t rows, int64_t count,
                               int64_t columns, bool accumulate) {
  for (int64_t i = 0; i < rows; i += TILE_M) {
    const REAL *of_rows[TILE_M];
    int64_t height = rows - i < TILE_M ? rows - i : TILE_M;
    const NAME(left) left = NAME(left_of)(w, g, i, height, count, of_rows);
    NAME(tile)(w, &left, 0, height, columns, &w->rows[i], out, accumulate);
  }
}

// Tiles that are read by the distance of their rows.
TARGET static void NAME(distant_tiles)(NAME(work) * w, const indim_gather *g, const REAL *image, REAL *out,
                                       int64_t tiles, int64_t count, int64_t columns, bool accumulate) {
  const indim_gather_dim *inner = &g->rows[g->row_dims - 1];
  NAME(left) left = {.offsets = w->offsets, .length = count, .within = inner->image, .kind = NAME(DISTANT)};
  for (int64_t t = 0; t < tiles; t++) {
    place rows[TILE_M];
    for (int64_t i = 0; i < TILE_M; i++) {
      rows[i].other = w->tiles[t].other + i * inner->other;
    }
    left.packed = image + w->tiles[t].image;
    NAME(tile)(w, &left, 0, TILE_M, columns, rows, out, accumulate);
  }
}

// The left sides of |rows| listed rows from |row| on, for |count| steps from |begin| on.
TARGET static void NAME(lay_out)(NAME(work) * w, const indim_gather *g, const REAL *image, int64_t row, int64_t rows,
                                 int64_t begin, int64_t count) {
  switch (g->mode) {
  case INDIM_GATHER_UNITS:
    NAME(point)(w, g, image, rows, count, g->unit < count ? g->unit : count);
    break;
  case INDIM_GATHER_ROW_UNITS:
    NAME(point_steps)(w, g, image, row, rows, count);
    break;
  case INDIM_GATHER_RUNS:
    NAME(point_taps)(w, g, image, rows, count);
    break;
  case INDIM_GATHER_ROW_RUNS:
    NAME(point_runs)(w, g, image, rows, count);
    break;
  case INDIM_GATHER_PACKED_ROWS:
    NAME(pack_rows)(w, g, image, rows, begin, count);
    break;
  case INDIM_GATHER_PACKED_STEPS:
    NAME(pack_steps)(w, g, image, rows, count);
    break;
  }
}

// The sums of |count| steps, from |begin| on, in |rows| listed rows, which are those from |row| on where units of them are in
// place, in |tiles| tiles, and in all columns.
TARGET static void NAME(sums)(NAME(work) * w, const indim_gather *g, const REAL *image, const REAL *filter, REAL *out,
                              int64_t row, int64_t rows, int64_t tiles, int64_t begin, int64_t count, int64_t columns) {
  if (rows > 0) {
    NAME(lay_out)(w, g, image, row, rows, begin, count);
  }
  for (int64_t j = 0; j < columns; j += TILE_N) {
    int64_t width = columns - j < TILE_N ? columns - j : TILE_N;
    NAME(pack_filter)(w, filter + j, count, width, width > LANES ? TILE_N : LANES);
    if (columns - j >= 2 * TILE_N) {
      NAME(prefetch)(w, filter + j + TILE_N, count);
    }
    NAME(distant_tiles)(w, g, image, out + j, tiles, count, width, begin > 0);
    if (g->mode == INDIM_GATHER_ROW_UNITS || g->mode == INDIM_GATHER_ROW_RUNS) {
      NAME(tiles_of_units)(w, g, out + j, row, rows, count, width, begin > 0);
    } else {
      NAME(tiles)(w, g, out + j, rows, count, width, begin > 0);
    }
  }
}

// How many rows are listed together: so many that the copies and pointers of |count| steps find room.
TARGET static int64_t NAME(most_rows)(const indim_gather *g, int64_t count) {
  if (g->mode == INDIM_GATHER_UNITS || g->mode == INDIM_GATHER_ROW_UNITS) {
    return INDIM_GATHER_ROWS;
  }
  if (g->mode == INDIM_GATHER_ROW_RUNS) {
    return INDIM_GATHER_ROWS_PACKED / g->unit * g->unit;
  }
  if (g->mode != INDIM_GATHER_RUNS) {
    return INDIM_GATHER_ROWS_PACKED;
  }
  int64_t copies = INDIM_GATHER_ROWS_PACKED * PITCH / count;
  int64_t pointers = MOST_POINTERS / (count / g->unit);
  int64_t most = copies < pointers ? copies : pointers;
  return (most < INDIM_GATHER_ROWS ? most : INDIM_GATHER_ROWS) / TILE_M * TILE_M;
}

// Lists rows from |row| on, at most |rows|, and of those not in tiles at most |most|. Returns how many there are in all.
TARGET static int64_t NAME(list_rows)(NAME(work) * w, const indim_gather *g, const place *first_row,
                                      const bounds *steps, int64_t row, int64_t rows, int64_t most, int64_t *out_listed,
                                      int64_t *out_tiles) {
  const indim_gather_dim *inner = &g->rows[g->row_dims - 1];
  int64_t done = 0;
  *out_listed = *out_tiles = 0;
  while (done < rows) {
    place first;
    list_places(g->rows, g->row_dims, row + done, 1, *first_row, &first);
    int64_t left = inner->size - (row + done) % inner->size;
    int64_t length = left < rows - done ? left : rows - done;
    length = length < INDIM_GATHER_ROWS ? length : INDIM_GATHER_ROWS;
    int64_t low = 0;
    int64_t tiles = (inside_all(g, &first, steps, length, &low) - low) / TILE_M;
    if (length - tiles * TILE_M > most) {
      length = most;
      tiles = 0;
    }
    int64_t listed = length - tiles * TILE_M;
    if (*out_listed + listed > most || *out_tiles + tiles > MOST_TILES) {
      break;
    }
    low = tiles == 0 ? 0 : low;
    int64_t end = low + tiles * TILE_M;
    list_places(g->rows, g->row_dims, row + done, low, *first_row, w->rows + *out_listed);
    list_places(g->rows, g->row_dims, row + done + end, length - end, *first_row, w->rows + *out_listed + low);
    move(inner, low, &first);
    for (int64_t t = 0; t < tiles; t++, move(inner, TILE_M, &first)) {
      w->tiles[(*out_tiles)++] = first;
    }
    *out_listed += listed;
    done += length;
  }
  return done;
}

// All rows of a part of the sum before the next part: what it reads stays in L2 meanwhile.
TARGET static void NAME(block)(const indim_gather *g, const REAL *image, const REAL *filter, REAL *out, int64_t row,
                               int64_t rows, int64_t column, int64_t columns) {
  NAME(work) w;
  const place first_row = {g->first_image, g->first_out + column, {g->origin[0], g->origin[1], g->origin[2]}};
  const place first_step = {0, g->first_filter + column, {0}};
  memset(w.spare, 0, sizeof w.spare);
  for (int64_t begin = 0, count = 0; begin < g->step_count; begin += count) {
    count = depth_at(g, begin, DEPTH);
    int64_t most = NAME(most_rows)(g, count);
    list_places(g->steps, g->step_dims, begin, count, first_step, w.steps);
    bounds steps = bounds_of(w.steps, count);
    for (int64_t k = 0; k < count; k++) {
      w.offsets[k] = (intptr_t)w.steps[k].image;
    }
    for (int64_t i = 0, part = 0; i < rows; i += part) {
      int64_t tiles = 0;
      int64_t listed = rows - i < most ? rows - i : most;
      if (g->by_distance) {
        part = NAME(list_rows)(&w, g, &first_row, &steps, row + i, rows - i, most, &listed, &tiles);
      } else {
        part = listed;
        list_places(g->rows, g->row_dims, row + i, part, first_row, w.rows);
      }
      NAME(sums)(&w, g, image, filter, out, row + i, listed, tiles, begin, count, columns);
    }
  }
}

#include "run/convolution_few.h"

#undef VECTOR
#undef LANES
#undef TILE_M
#undef TILE_N
#undef DEPTH
#undef PITCH
#undef HEIGHT_STEP
#undef WORDS
#undef WORD_LANES
