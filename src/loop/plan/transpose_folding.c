// A product that is only read transposed is computed so: the sides change places (XLA: transpose folding). What JAX gives as the
// gradient of a matrix of weights is such a product.
//
//   transpose(dot(y, x), {1, 0})    -> dot(x, y)
//
// The transpose becomes the product, so that loops that read it, and those that store it as a result, meet rows. Where it has the rows
// of the exchanged product, but other dimensions too are in another order, rows are left to be moved (attention as einsum writes it):
//
//   transpose(dot(values[b,k,h,d], weights[b,h,q,k]), {0, 3, 1, 2})    -> transpose(dot(weights, values), {0, 2, 1, 3})
#include "loop/ir/index_math.h"
#include "loop/lowering/lowering.h"
#include "loop/plan/flow_make.h"
#include "loop/target/cost.h"

typedef indim_flow_maker maker;

typedef struct side {
  int32_t batch, free;   // how many dimensions
  int64_t columns, sum;  // elements of all free ones, and of the contracted ones
  bool is_along;         // a contracted dimension is that of rows in memory, which are then no rows of a result
} side;

// What |item| is a transpose of, of some transposes, or itself; |*dim| becomes the dimension there, unless |dim| is NULL.
static indim_flow_item *transposed_item(indim_flow_item *item, int64_t *dim) {
  enum { MOST = 16 };  // a longer chain is walked along by each of its transposes, and gains nothing
  for (int32_t i = 0; i < MOST && indim_flow_is_op(item, INDIM_OP_TRANSPOSE); i++) {
    int64_t rank = 0;
    const int64_t *permutation = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &rank);
    if (dim != NULL) {
      *dim = permutation[*dim];
    }
    item = item->operands[0];
  }
  return item;
}

// Whether a dimension of |item| is that of rows in memory.
static bool is_row_dim(indim_flow_item *item, int64_t dim) {
  const indim_flow_item *in_memory = transposed_item(item, &dim);
  return dim == in_memory->shape->rank - 1;
}

static side side_of(const indim_flow_item *dot, int32_t number) {
  indim_flow_item *operand = dot->operands[number];
  side s = {.columns = 1, .sum = 1};
  indim_dot_dim kind[INDIM_MAX_RANK];
  indim_instr_dot_dims(dot->instr, number, operand->shape->rank, kind);
  for (int32_t d = 0; d < operand->shape->rank; d++) {
    int64_t size = operand->shape->sizes[d];
    s.batch += kind[d] == INDIM_DOT_BATCH ? 1 : 0;
    s.free += kind[d] == INDIM_DOT_FREE ? 1 : 0;
    s.columns = kind[d] == INDIM_DOT_FREE ? indim_index_mul_saturated(s.columns, size) : s.columns;
    s.sum = kind[d] == INDIM_DOT_CONTRACTED ? indim_index_mul_saturated(s.sum, size) : s.sum;
    s.is_along = s.is_along || (kind[d] == INDIM_DOT_CONTRACTED && is_row_dim(operand, d));
  }
  return s;
}

// How the dimensions of a product lie: those of the batch, the free ones of the left side, those of the right.
typedef struct order {
  int32_t batch, left, right;
} order;

static order order_of(const indim_flow_item *dot) {
  side left = side_of(dot, 0);
  side right = side_of(dot, 1);
  return (order){left.batch, left.free, right.free};
}

// Where dimension |dim| lies when the sides are exchanged.
static int32_t exchanged_dim(order o, int32_t dim) {
  return dim < o.batch ? dim : dim < o.batch + o.left ? dim + o.right : dim - o.left;
}

// Whether |item|, a transpose of the product |dot|, is that with its sides exchanged; or has rows where this has them, long enough to
// be moved as they are.
static bool has_exchanged_rows(indim_flow_item *item, const indim_flow_item *dot, bool *out_is_all) {
  enum { LEAST_ROW = 8 };
  order o = order_of(dot);
  int32_t rank = dot->shape->rank;
  bool has_rows = o.left > 0 && o.right > 0;
  *out_is_all = has_rows;
  for (int32_t d = rank - 1; d >= 0 && has_rows; d--) {
    int64_t dim = d;
    (void)transposed_item(item, &dim);
    bool is_there = exchanged_dim(o, (int32_t)dim) == d;
    has_rows = is_there || d < rank - 1;
    *out_is_all = *out_is_all && is_there;
  }
  return *out_is_all || (has_rows && item->shape->sizes[rank - 1] >= LEAST_ROW);
}

// Operations on vectors that a row of so many columns takes.
static int64_t vectors_of(int64_t columns) {
  enum { LANES = 16 };
  return columns / LANES + indim_piece_count(columns % LANES, LANES);
}

// Whether the other order of the sides gains where there are |readers| of the transpose. What the host computes it takes in any
// order. Of a small product the sides are to lie no worse than before, for reading one across its rows costs what reading the result
// so does; and rows that fill vectors worse are to cost less than the readers' transposes.
static bool gains(const indim_flow_item *dot, int32_t readers) {
  enum { TURNED = 2 };  // elements of a transpose for each operation on vectors
  side left = side_of(dot, 0);
  side right = side_of(dot, 1);
  int64_t elements = indim_index_mul_saturated(left.columns, right.columns);
  int64_t before = indim_index_mul_saturated(left.columns, vectors_of(right.columns));
  int64_t after = indim_index_mul_saturated(right.columns, vectors_of(left.columns));
  int64_t most = indim_index_add_saturated(indim_index_mul_saturated(left.sum, before),
                                           indim_index_mul_saturated(elements, readers) / TURNED);
  return indim_index_mul_saturated(elements, left.sum) >= INDIM_COST_HOST_PRODUCT ||
         (!left.is_along && right.is_along) ||
         (left.is_along == right.is_along && indim_index_mul_saturated(left.sum, after) <= most);
}

static indim_attr_id of_other_side(indim_attr_id id) {
  static const indim_attr_id pairs[][2] = {{INDIM_ATTR_LHS_BATCH_DIMS, INDIM_ATTR_RHS_BATCH_DIMS},
                                           {INDIM_ATTR_LHS_CONTRACTING_DIMS, INDIM_ATTR_RHS_CONTRACTING_DIMS}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    if (id == pairs[i][0] || id == pairs[i][1]) {
      return pairs[i][id == pairs[i][0] ? 1 : 0];
    }
  }
  return id;
}

// Makes |item| the product |dot|, which it may be itself, with its sides in the other order.
static indim_status become_product(maker *m, indim_flow_item *item, const indim_flow_item *dot) {
  indim_flow_item *sides[] = {dot->operands[1], dot->operands[0]};
  const indim_instr *origin = dot->instr;
  INDIM_TRY(indim_flow_become(m, item, origin, INDIM_OP_DOT, origin->attrs, origin->attr_count, sides, 2));
  for (int32_t k = 0; k < item->instr->attr_count; k++) {
    item->instr->attrs[k].id = of_other_side(item->instr->attrs[k].id);
  }
  return INDIM_OK;
}

// Makes |transpose| what it was of a product of |o| before its sides were exchanged.
static indim_status adapt(maker *m, indim_flow_item *transpose, order o) {
  int64_t rank = 0;
  const int64_t *old = indim_instr_ints(transpose->instr, INDIM_ATTR_DIMENSIONS, &rank);
  int64_t *permutation = NULL;
  INDIM_TRY(indim_flow_array(m->instr_arena, rank, sizeof *permutation, &permutation));
  for (int64_t d = 0; d < rank; d++) {
    permutation[d] = exchanged_dim(o, (int32_t)old[d]);
  }
  indim_attr attr = {.id = INDIM_ATTR_DIMENSIONS, .offset = INDIM_NO_OFFSET, .count = rank, .value.ints = permutation};
  return indim_flow_become(m, transpose, transpose->instr, INDIM_OP_TRANSPOSE, &attr, 1, transpose->operands, 1);
}

// Exchanges the sides of |dot|, which only transposes read.
static indim_status exchange(maker *m, indim_flow_item *dot) {
  order o = order_of(dot);
  int64_t sizes[INDIM_MAX_RANK];
  indim_shape *shape = NULL;
  for (int32_t d = 0; d < dot->shape->rank; d++) {
    sizes[exchanged_dim(o, d)] = dot->shape->sizes[d];
  }
  INDIM_TRY(indim_flow_array(m->instr_arena, 1, sizeof *shape, &shape));
  INDIM_TRY(indim_shape_init(m->cx, dot->shape->type, dot->shape->rank, sizes, shape));
  dot->shape = shape;
  return become_product(m, dot, dot);
}

typedef struct reading {
  // Of a transpose: the product with whose rows, when its sides are exchanged, it has its own; NULL: none. Whether it is that product.
  indim_flow_item *product;
  bool is_all;
  // Of a product: such transposes that are read, and whether it is read otherwise.
  int32_t readers;
  bool has_others, are_all;
  indim_flow_item *instead;  // the transpose that has become it
  bool is_exchanged;
} reading;

static void note_read(reading *of, indim_flow_item *item) {
  reading *root = &of[transposed_item(item, NULL)->index];
  const reading *r = &of[item->index];
  root->are_all = (root->readers == 0 || root->are_all) && r->is_all;
  root->readers += r->product != NULL ? 1 : 0;
  root->has_others = root->has_others || r->product == NULL;
}

static void note_reads(const indim_flow *flow, reading *of) {
  for (int32_t i = 0; i < flow->item_count; i++) {
    indim_flow_item *item = flow->items[i];
    if (indim_flow_is_op(item, INDIM_OP_TRANSPOSE)) {
      indim_flow_item *dot = transposed_item(item, NULL);
      bool is = indim_flow_is_op(dot, INDIM_OP_DOT) && has_exchanged_rows(item, dot, &of[i].is_all);
      of[i].product = is ? dot : NULL;
      continue;  // its readers count
    }
    for (int32_t k = 0; k < item->operand_count; k++) {
      note_read(of, item->operands[k]);
    }
  }
  for (int32_t k = 0; k < flow->result_count; k++) {
    note_read(of, flow->results[k]);
  }
}

static indim_status fold_transpose(maker *m, reading *of, indim_flow_item *item) {
  const reading *own = &of[item->index];
  reading *root = own->is_all ? &of[own->product->index] : NULL;
  if (of[item->operands[0]->index].is_exchanged) {
    order now = order_of(item->operands[0]);
    return adapt(m, item, (order){now.batch, now.right, now.left});
  }
  if (root == NULL || root->has_others || !root->are_all || !gains(own->product, root->readers)) {
    return INDIM_OK;
  }
  if (root->instead != NULL) {
    return indim_flow_become(m, item, item->instr, INDIM_OP_COPY, NULL, 0, &root->instead, 1);
  }
  root->instead = item;
  return become_product(m, item, own->product);
}

indim_status indim_flow_fold_transposes(maker *m) {
  const indim_flow *flow = m->flow;
  reading *of = NULL;
  INDIM_TRY(indim_flow_array(m->arena, flow->item_count, sizeof *of, &of));
  note_reads(flow, of);
  for (int32_t i = 0; i < flow->item_count; i++) {
    indim_flow_item *item = flow->items[i];
    if (indim_flow_is_op(item, INDIM_OP_TRANSPOSE)) {
      INDIM_TRY(fold_transpose(m, of, item));
    } else if (indim_flow_is_op(item, INDIM_OP_DOT) && of[i].readers > 0 && !of[i].has_others && !of[i].are_all &&
               gains(item, of[i].readers)) {
      of[i].is_exchanged = true;
      INDIM_TRY(exchange(m, item));
    }
  }
  return INDIM_OK;
}
