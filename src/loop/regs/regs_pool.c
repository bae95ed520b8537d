// Pools of elements, and the shuffles that make rows of them. A row of one or two sources is one shuffle; more sources
// are merged pairwise. A transpose is split into square blocks of a register's lanes, each transposed in log2(lanes)
// exchange steps, so that the rows share the work.
#include "loop/regs/regs_internal.h"

int32_t indim_regs_register_lanes(const indim_target *target, indim_type type) {
  int32_t bytes = indim_type_bytes(type);
  if (indim_type_is_complex(type)) {
    bytes /= 2;  // real and imaginary parts are separate registers
  } else if (type == INDIM_PRED || (indim_type_is_float(type) && bytes < 4)) {
    bytes = 4;
  }
  return target->vector_bytes / bytes > 2 ? target->vector_bytes / bytes : 2;
}

void indim_pool_add_value(indim_value_id value, int32_t lanes, indim_regs_pool *pool) {
  for (int32_t k = 0; k < lanes; k++) {
    pool->value[pool->count] = value;
    pool->lane[pool->count++] = (int16_t)k;
  }
}

void indim_pool_add(const indim_regs *regs, indim_regs_pool *pool) {
  for (int32_t r = 0; r < regs->row_count; r++) {
    indim_pool_add_value(regs->rows[r], regs->lanes, pool);
  }
}

void indim_pool_map(const indim_regs_pool *from, int32_t count, const int32_t *map, indim_regs_pool *out) {
  out->type = from->type;
  out->count = count;
  for (int32_t e = 0; e < count; e++) {
    out->value[e] = from->value[map[e]];
    out->lane[e] = from->lane[map[e]];
  }
}

// Picking rows --------------------------------------------------------------------------------------------------------

// A shuffle of one or two values; |x| itself if the shuffle is the identity.
static indim_value_id shuffle(indim_loop_builder *b, indim_value_id x, indim_value_id y, int32_t lanes,
                              const int32_t *map) {
  if (b->status != INDIM_OK) {
    return 0;
  }
  int32_t x_lanes = indim_loop_value_of(b, x)->lanes;
  bool same = x_lanes == lanes;
  for (int32_t k = 0; same && k < lanes; k++) {
    same = map[k] < 0 || map[k] == k;
  }
  if (same) {
    return x;
  }
  if (x_lanes == 1 && y == 0) {
    return indim_loop_splat(b, x, lanes);
  }
  return indim_loop_shuffle(b, y == 0 ? 1 : 2, (indim_value_id[]){x, y}, lanes, map);
}

// The sources of one row: lane k of the row is lane |lane[k]| of source |owner[k]|; -1: undefined.
typedef struct row_sources {
  int32_t lanes;
  int32_t count;
  indim_value_id source[INDIM_REGS_ELEMENTS];
  int16_t owner[INDIM_REGS_ELEMENTS];
  int16_t lane[INDIM_REGS_ELEMENTS];
} row_sources;

static void find_sources(const indim_regs_pool *pool, int32_t lanes, const int32_t *map, row_sources *row) {
  row->lanes = lanes;
  row->count = 0;
  for (int32_t k = 0; k < lanes; k++) {
    row->owner[k] = -1;
    row->lane[k] = 0;
    if (map[k] >= 0) {
      int32_t s = row->count - 1;
      while (s >= 0 && row->source[s] != pool->value[map[k]]) {
        s--;
      }
      if (s < 0) {
        s = row->count++;
        row->source[s] = pool->value[map[k]];
      }
      row->owner[k] = (int16_t)s;
      row->lane[k] = pool->lane[map[k]];
    }
  }
}

// Merges the needed lanes of sources |s| and |s| + 1, without gaps, into source |to|.
static void merge_two(indim_loop_builder *b, row_sources *row, int32_t s, int32_t to) {
  int32_t map[INDIM_REGS_ELEMENTS];
  int32_t wanted = 0;
  int32_t x_lanes = indim_loop_value_of(b, row->source[s])->lanes;
  for (int32_t k = 0; k < row->lanes; k++) {
    if (row->owner[k] == s || row->owner[k] == s + 1) {
      map[wanted] = row->lane[k] + (row->owner[k] == s ? 0 : x_lanes);
      row->owner[k] = (int16_t)to;
      row->lane[k] = (int16_t)wanted++;
    }
  }
  row->source[to] = shuffle(b, row->source[s], row->source[s + 1], wanted, map);
}

static void merge_sources(indim_loop_builder *b, row_sources *row) {
  while (row->count > 2 && b->status == INDIM_OK) {
    int32_t merged = 0;
    for (int32_t s = 0; s < row->count && b->status == INDIM_OK; s += 2, merged++) {
      if (s + 1 < row->count) {
        merge_two(b, row, s, merged);
        continue;
      }
      row->source[merged] = row->source[s];
      for (int32_t k = 0; k < row->lanes; k++) {
        row->owner[k] = row->owner[k] == s ? (int16_t)merged : row->owner[k];
      }
    }
    row->count = merged;
  }
}

indim_value_id indim_pool_pick(indim_loop_builder *b, const indim_regs_pool *pool, int32_t lanes, const int32_t *map) {
  row_sources row;
  int32_t last[INDIM_REGS_ELEMENTS];
  if (b->status != INDIM_OK) {
    return 0;
  }
  find_sources(pool, lanes, map, &row);
  if (row.count == 0) {
    return indim_loop_splat(b, indim_loop_const(b, pool->type, 0, 0), lanes);
  }
  merge_sources(b, &row);
  if (b->status != INDIM_OK) {
    return 0;
  }
  int32_t x_lanes = indim_loop_value_of(b, row.source[0])->lanes;
  for (int32_t k = 0; k < lanes; k++) {
    last[k] = row.owner[k] < 0 ? -1 : row.lane[k] + (row.owner[k] == 0 ? 0 : x_lanes);
  }
  return shuffle(b, row.source[0], row.count == 2 ? row.source[1] : 0, lanes, last);
}

void indim_pool_deal(indim_loop_builder *b, const indim_regs_pool *pool, const int32_t *map, const indim_shape *shape,
                     indim_regs *out) {
  indim_value_id *rows = indim_regs_new(b, shape, out);
  for (int32_t r = 0; rows != NULL && r < out->row_count; r++) {
    int32_t row[INDIM_REGS_ELEMENTS];
    for (int32_t k = 0; k < out->lanes; k++) {
      int32_t e = r * out->lanes + k;
      row[k] = map == NULL ? e : map[e];
    }
    rows[r] = indim_pool_pick(b, pool, out->lanes, row);
  }
}

// Transposing ---------------------------------------------------------------------------------------------------------

void indim_order_fill(int32_t rank, const int64_t *sizes, const int32_t *perm, int32_t *out_map) {
  int32_t strides[INDIM_MAX_RANK];
  int32_t index[INDIM_MAX_RANK] = {0};
  int32_t total = 1;
  for (int32_t d = rank - 1; d >= 0; d--) {
    strides[d] = total;
    total *= (int32_t)sizes[d];
  }
  for (int32_t e = 0, from = 0; e < total; e++) {
    out_map[e] = from;
    for (int32_t k = rank - 1; k >= 0; k--) {
      from += strides[perm[k]];
      if (++index[k] < sizes[perm[k]]) {
        break;
      }
      from -= index[k] * strides[perm[k]];
      index[k] = 0;
    }
  }
}

// One step of a block of |size| rows: rows whose numbers differ in bit |step| exchange lanes by that bit of the lane
// number. Rows beyond the block are 0; lanes beyond a row are undefined. Only |lanes| lanes of the results are needed.
static void exchange(indim_loop_builder *b, int32_t size, int32_t step, int32_t lanes, indim_value_id *rows) {
  for (int32_t i = 0; i < size && b->status == INDIM_OK; i++) {
    if ((i & step) != 0 || (rows[i] == 0 && rows[i + step] == 0)) {
      continue;
    }
    indim_value_id pair[2] = {rows[i], rows[i + step]};
    for (int32_t half = 0; half < 2; half++) {
      int32_t map[INDIM_REGS_ELEMENTS];
      bool any = false;
      for (int32_t k = 0; k < lanes; k++) {
        int32_t from = (k & step) != 0 ? 1 : 0;
        int32_t lane = (k & ~step) | (half * step);
        bool is_defined = pair[from] != 0 && lane < indim_loop_value_of(b, pair[from])->lanes;
        int32_t base = from == 1 && pair[0] != 0 ? indim_loop_value_of(b, pair[0])->lanes : 0;
        map[k] = is_defined ? base + lane : -1;
        any = any || is_defined;
      }
      indim_value_id x = pair[0] != 0 ? pair[0] : pair[1];
      rows[i + half * step] = any ? shuffle(b, x, pair[0] != 0 ? pair[1] : 0, lanes, map) : 0;
    }
  }
}

// Transposes |n| rows of |m| lanes into |m| rows of |n| lanes; both at most |width|, a power of two.
static void transpose_block(indim_loop_builder *b, int32_t width, int32_t n, int32_t m, indim_value_id *rows) {
  int32_t size = 1;
  while (size < n || size < m) {
    size *= 2;
  }
  if (size == 1) {
    return;
  }
  for (int32_t i = n; i < width; i++) {
    rows[i] = 0;
  }
  for (int32_t step = 1; step < size; step *= 2) {
    exchange(b, size, step, step * 2 == size ? n : size, rows);
  }
}

// Transposes an |n| x |m| matrix of elements that begins at |base| in |pool| and in |out|.
static void transpose_matrix(indim_loop_builder *b, const indim_regs_pool *pool, int32_t base, int32_t n, int32_t m,
                             indim_regs_pool *out) {
  enum { MOST_LANES = 64 };
  int32_t width = indim_regs_register_lanes(&b->program->target, pool->type);
  width = width > MOST_LANES ? MOST_LANES : width;
  for (int32_t i = 0; i < n; i += width) {
    for (int32_t j = 0; j < m && b->status == INDIM_OK; j += width) {
      int32_t block_n = n - i < width ? n - i : width;
      int32_t block_m = m - j < width ? m - j : width;
      indim_value_id rows[MOST_LANES];
      for (int32_t r = 0; r < block_n; r++) {
        int32_t map[MOST_LANES];
        for (int32_t k = 0; k < block_m; k++) {
          map[k] = base + (i + r) * m + j + k;
        }
        rows[r] = indim_pool_pick(b, pool, block_m, map);
      }
      transpose_block(b, width, block_n, block_m, rows);
      for (int32_t k = 0; k < block_m; k++) {
        for (int32_t r = 0; r < block_n; r++) {
          int32_t to = base + (j + k) * n + i + r;
          out->value[to] = rows[k];
          out->lane[to] = (int16_t)r;
        }
      }
    }
  }
}

// The permutation without dimensions of size 1, with dimensions collapsed that stay adjacent. Returns the new rank.
static int32_t simplify(int32_t rank, const int64_t *sizes, const int32_t *perm, int32_t *out_perm,
                        int64_t *out_sizes) {
  int32_t group_of[INDIM_MAX_RANK];  // of each dimension, numbered in the new order
  int64_t group_size[INDIM_MAX_RANK];
  int32_t groups = 0;
  int32_t before = -1;
  for (int32_t k = 0; k < rank; k++) {
    int32_t d = perm[k];
    if (sizes[d] == 1) {
      continue;
    }
    int32_t next = before + 1;
    while (before >= 0 && next < rank && sizes[next] == 1) {
      next++;
    }
    if (before >= 0 && next == d) {
      group_size[groups - 1] *= sizes[d];
    } else {
      group_size[groups++] = sizes[d];
    }
    group_of[d] = groups - 1;
    before = d;
  }
  int32_t number = 0;
  int32_t last = -1;
  for (int32_t d = 0; d < rank; d++) {
    if (sizes[d] != 1 && group_of[d] != last) {
      last = group_of[d];
      out_perm[last] = number;
      out_sizes[number++] = group_size[last];
    }
  }
  return groups;
}

void indim_pool_transpose(indim_loop_builder *b, const indim_regs_pool *pool, int32_t rank, const int64_t *sizes,
                          const int32_t *perm, int32_t lanes, indim_regs_pool *out) {
  int32_t map[INDIM_REGS_ELEMENTS];
  int32_t order[INDIM_MAX_RANK];
  int64_t merged[INDIM_MAX_RANK];
  indim_regs_pool moved = {.type = pool->type};
  indim_order_fill(rank, sizes, perm, map);
  indim_pool_map(pool, pool->count, map, &moved);
  int32_t groups = simplify(rank, sizes, perm, order, merged);
  bool swaps_last = groups >= 2 && order[groups - 1] == groups - 2 && order[groups - 2] == groups - 1;
  for (int32_t k = 0; swaps_last && k < groups - 2; k++) {
    swaps_last = order[k] == k;
  }
  if (swaps_last) {
    int32_t n = (int32_t)merged[groups - 2];
    int32_t m = (int32_t)merged[groups - 1];
    for (int32_t base = 0; base < pool->count; base += n * m) {
      transpose_matrix(b, pool, base, n, m, &moved);
    }
  }
  *out = (indim_regs_pool){.type = pool->type};
  for (int32_t e = 0; e < pool->count && b->status == INDIM_OK; e += lanes) {
    int32_t row[INDIM_REGS_ELEMENTS];
    for (int32_t k = 0; k < lanes; k++) {
      row[k] = e + k;
    }
    indim_pool_add_value(indim_pool_pick(b, &moved, lanes, row), lanes, out);
  }
  out->count = pool->count;
}
