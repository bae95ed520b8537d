// One row times a matrix.
#include "loop/ir/build.h"
#include "loop/kernels/dot.h"
#include "loop/target/cost.h"

// Rows of the matrix are read sequentially, |steps| of them at a time, and accumulated into sums in the result's
// memory; with threads, in parts of the rows with sums of their own. Bands of columns instead, which need no final
// addition, reach two thirds of that speed: memory is fastest when read sequentially.

bool indim_product_is_one_row(const indim_product *p, const int64_t *collapsed, int32_t *out_contracted) {
  int32_t contracted = -1;
  if (p->vector_dim < 0 || p->vector_dim >= p->out_rank || p->sum != p->item->shape->type ||
      p->item->place.tiled != NULL || p->item->place.strides[p->vector_dim] != 1 ||
      p->item->shape->sizes[p->vector_dim] < INDIM_COST_ROW_PRODUCT_COLUMNS) {
    return false;
  }
  for (int32_t d = 0; d < p->rank; d++) {
    if (d == p->vector_dim || collapsed[d] == 1) {
      continue;
    }
    if (d < p->out_rank || contracted >= 0) {
      return false;
    }
    contracted = d;
  }
  for (int32_t d = 0; d < p->out_rank; d++) {
    if (d != p->vector_dim && p->item->shape->sizes[d] != 1) {
      return false;
    }
  }
  *out_contracted = contracted;
  return contracted >= 0 && collapsed[contracted] >= 4 * INDIM_COST_ROW_PRODUCT_STEPS;
}

typedef struct row_product {
  indim_product *p;
  int32_t contracted;
  int64_t columns;
  int32_t steps;         // rows of the matrix at a time
  indim_storage *parts;  // of the sums: from |part| * |columns| on; NULL: the result
  indim_value_id part;
} row_product;

static void set_index(const row_product *r, int32_t lanes, indim_value_id column, indim_coord *index) {
  for (int32_t d = 0; d < r->p->rank; d++) {
    index[d] = (indim_coord){indim_loop_index(&r->p->l->b, 0), 0};
  }
  index[r->p->vector_dim] = (indim_coord){column, lanes > 1 ? 1 : 0};
}

// Adds |steps| products to |sum|, from row |from| of the matrix on.
static indim_value_id add_rows(const row_product *r, indim_element_ctx *k, indim_coord *index, indim_value_id from,
                               int32_t steps, indim_value_id sum) {
  for (int32_t i = 0; i < steps && !indim_lower_failed(r->p->l); i++) {
    index[r->contracted] = (indim_coord){indim_loop_add_const(&r->p->l->b, from, i), 0};
    sum = indim_product_multiply_add(r->p, k->lanes, indim_product_factor(r->p, k, true, index),
                                     indim_product_factor(r->p, k, false, index), sum);
  }
  return sum;
}

static void add_steps(const row_product *r, int32_t lanes, indim_value_id column, indim_value_id from, int32_t steps) {
  indim_product *p = r->p;
  indim_loop_builder *b = &p->l->b;
  indim_element_ctx k = {.l = p->l, .lanes = lanes};
  indim_coord index[INDIM_MAX_RANK];
  set_index(r, lanes, column, index);
  indim_value_id at = r->parts == NULL ? 0 : indim_loop_add(b, indim_loop_mul_const(b, r->part, r->columns), column);
  indim_value_id sum = r->parts == NULL ? indim_load_at(&k, p->item->shape, &p->item->place, index)
                                        : indim_loop_load(b, r->parts, at, lanes, 1);
  sum = add_rows(r, &k, index, from, steps, sum);
  if (indim_lower_failed(p->l)) {
    return;
  }
  set_index(r, lanes, column, index);
  if (r->parts == NULL) {
    indim_store_at(&k, p->item->shape, &p->item->place, index, sum);
  } else {
    indim_loop_store(b, r->parts, at, sum, 1, false);
  }
}

static void sweep_columns(const row_product *r, indim_value_id from, int32_t steps) {
  indim_loop_builder *b = &r->p->l->b;
  int32_t full = r->p->lanes;
  int64_t main = r->columns / full * full;
  if (main > 0) {
    indim_value_id at = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), full, 0, NULL, NULL);
    add_steps(r, full, at, from, steps);
    indim_loop_for_end(b, NULL, NULL);
  }
  for (int32_t lanes = 0; (lanes = indim_piece_lanes(r->columns - main, full)) > 0; main += lanes) {
    add_steps(r, lanes, indim_loop_index(b, main), from, steps);
  }
}

// |count| rows of the matrix from |first| on.
static void sweep_rows(const row_product *r, indim_value_id first, int64_t count) {
  indim_lowering *l = r->p->l;
  indim_loop_builder *b = &l->b;
  int64_t main = count / r->steps * r->steps;
  indim_storage *sums = r->parts == NULL ? r->p->item->place.storage : r->parts;
  indim_value_id start =
      r->parts == NULL ? indim_location_start(l, &r->p->item->place) : indim_loop_mul_const(b, r->part, r->columns);
  indim_loop_fill(b, sums, start, indim_loop_const(b, r->p->sum, 0, 0), r->columns);
  indim_value_id at =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), r->steps, 0, NULL, NULL);
  l->loop_depth++;
  sweep_columns(r, indim_loop_add(b, first, at), r->steps);
  l->loop_depth--;
  indim_loop_for_end(b, NULL, NULL);
  if (count > main) {
    sweep_columns(r, indim_loop_add_const(b, first, main), (int32_t)(count - main));
  }
}

// Adds up the parts' sums, and the rows from |done| on that belong to no part.
static void add_parts(const row_product *r, int32_t lanes, indim_value_id column, int64_t parts, int64_t done,
                      int64_t size) {
  indim_loop_builder *b = &r->p->l->b;
  indim_element_ctx k = {.l = r->p->l, .lanes = lanes};
  indim_coord index[INDIM_MAX_RANK];
  indim_value_id sum = indim_loop_load(b, r->parts, column, lanes, 1);
  for (int64_t i = 1; i < parts; i++) {
    indim_value_id part = indim_loop_load(b, r->parts, indim_loop_add_const(b, column, i * r->columns), lanes, 1);
    sum = indim_loop_binary(b, INDIM_OP_ADD, sum, part);
  }
  set_index(r, lanes, column, index);
  sum = add_rows(r, &k, index, indim_loop_index(b, done), (int32_t)(size - done), sum);
  set_index(r, lanes, column, index);
  if (!indim_lower_failed(r->p->l)) {
    indim_store_at(&k, r->p->item->shape, &r->p->item->place, index, sum);
  }
}

static void run_parts(row_product *r, int64_t parts, int64_t size) {
  indim_product *p = r->p;
  indim_loop_builder *b = &p->l->b;
  int64_t rows = size / parts / r->steps * r->steps;
  r->parts = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, p->sum, parts * r->columns, p->item->instr->name.data);
  indim_loop_region_begin(b, &r->parts, 1);
  r->part = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, parts), 1, 0, NULL, NULL);
  indim_loop_for_parallel(b, 1);
  p->l->loop_depth++;
  sweep_rows(r, indim_loop_mul_const(b, r->part, rows), rows);
  p->l->loop_depth--;
  indim_loop_for_end(b, NULL, NULL);
  indim_element_forget(p->l);
  indim_loop_region_begin(b, &p->item->place.storage, 1);
  int64_t main = r->columns / p->lanes * p->lanes;
  if (main > 0) {
    indim_value_id at =
        indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), p->lanes, 0, NULL, NULL);
    add_parts(r, p->lanes, at, parts, parts * rows, size);
    indim_loop_for_end(b, NULL, NULL);
  }
  for (int32_t lanes = 0; (lanes = indim_piece_lanes(r->columns - main, p->lanes)) > 0; main += lanes) {
    add_parts(r, lanes, indim_loop_index(b, main), parts, parts * rows, size);
  }
}

void indim_product_run_one_row(indim_product *p, int32_t contracted, int64_t size) {
  enum { PARTS = 16 };
  row_product r = {.p = p, .contracted = contracted, .columns = p->item->shape->sizes[p->vector_dim]};
  int64_t parts = r.columns * size / INDIM_COST_ROW_PRODUCT_PART;
  parts = parts < PARTS ? parts : PARTS;
  bool has_few = parts > 1 || indim_type_is_complex(p->sum);
  r.steps = has_few ? INDIM_COST_ROW_PRODUCT_FEW_STEPS : INDIM_COST_ROW_PRODUCT_STEPS;
  if (parts > 1 && size / parts >= 4 * INDIM_COST_ROW_PRODUCT_STEPS && p->l->loop_depth == 0 &&
      indim_lower_choose(p->l, p->l->b.origin, INDIM_DECISION_THREADS, true)) {
    run_parts(&r, parts, size);
  } else {
    sweep_rows(&r, indim_loop_index(&p->l->b, 0), size);
  }
}
