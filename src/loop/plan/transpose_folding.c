// A product that is only read transposed is computed so: the sides change places (XLA: transpose folding). What JAX gives as the
// gradient of a matrix of weights is such a product.
//
//   transpose(dot(y, x), {1, 0})    -> dot(x, y)
//
// The transpose becomes the product, so that loops that read it, and those that store it as a result, meet rows.
#include "loop/ir/index_math.h"
#include "loop/lowering/lowering.h"
#include "loop/plan/flow_make.h"
#include "loop/target/cost.h"

typedef indim_flow_maker maker;

typedef struct side {
  int32_t batch, free, contracted;  // how many dimensions
  int64_t columns, sum;             // elements of all free ones, and of the contracted ones
  bool is_along;  // a contracted dimension is that of rows in memory, which are then no rows of a result
} side;

static bool is_op(const indim_flow_item *item, indim_op op) {
  return item->kind == INDIM_FLOW_OP && item->instr->op == op;
}

// What |item| is a transpose of, of a transpose, or itself; |*dim| becomes the dimension there, unless |dim| is NULL.
static indim_flow_item *transposed_item(indim_flow_item *item, int64_t *dim) {
  while (is_op(item, INDIM_OP_TRANSPOSE)) {
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
  static const indim_attr_id ids[2][2] = {{INDIM_ATTR_LHS_BATCH_DIMS, INDIM_ATTR_LHS_CONTRACTING_DIMS},
                                          {INDIM_ATTR_RHS_BATCH_DIMS, INDIM_ATTR_RHS_CONTRACTING_DIMS}};
  indim_flow_item *operand = dot->operands[number];
  int64_t count[2] = {0};
  const int64_t *batch = indim_instr_ints(dot->instr, ids[number][0], &count[0]);
  const int64_t *contracted = indim_instr_ints(dot->instr, ids[number][1], &count[1]);
  side s = {.batch = (int32_t)count[0], .contracted = (int32_t)count[1], .columns = 1, .sum = 1};
  uint8_t kind[INDIM_MAX_RANK] = {0};
  for (int64_t k = 0; k < count[0]; k++) {
    kind[batch[k]] = 1;
  }
  for (int64_t k = 0; k < count[1]; k++) {
    kind[contracted[k]] = 2;
    s.is_along = s.is_along || is_row_dim(operand, contracted[k]);
  }
  for (int32_t d = 0; d < operand->shape->rank; d++) {
    int64_t size = operand->shape->sizes[d];
    s.free += kind[d] == 0 ? 1 : 0;
    s.columns = kind[d] == 0 ? indim_index_mul_saturated(s.columns, size) : s.columns;
    s.sum = kind[d] == 2 ? indim_index_mul_saturated(s.sum, size) : s.sum;
  }
  return s;
}

// Whether |item| is a transpose of the product |dot| in which the dimensions of the right side come before those of the left.
static bool is_swapped(indim_flow_item *item, const indim_flow_item *dot) {
  side left = side_of(dot, 0);
  side right = side_of(dot, 1);
  bool is = left.free > 0 && right.free > 0;
  for (int32_t d = 0; d < dot->shape->rank && is; d++) {
    int64_t dim = d;
    (void)transposed_item(item, &dim);
    is = dim == (d < left.batch ? d : d < left.batch + right.free ? d + left.free : d - right.free);
  }
  return is;
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
         ((!left.is_along || right.is_along) && indim_index_mul_saturated(left.sum, after) <= most);
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

// Makes |item| what |op| is of |operands|, without attributes.
static indim_status become(maker *m, indim_flow_item *item, const indim_instr *origin, indim_op op, int32_t count,
                           indim_flow_item *const *operands, indim_instr **out_instr) {
  INDIM_TRY(indim_flow_make_instr(m, origin, op, item->shape, count, operands, out_instr));
  INDIM_TRY(indim_flow_array(m->arena, count, sizeof *item->operands, &item->operands));
  for (int32_t k = 0; k < count; k++) {
    item->operands[k] = operands[k];
  }
  item->operand_count = count;
  item->instr = *out_instr;
  return INDIM_OK;
}

// Makes |transpose| the product |dot| with its sides in the other order.
static indim_status become_product(maker *m, indim_flow_item *transpose, const indim_flow_item *dot) {
  indim_flow_item *sides[] = {dot->operands[1], dot->operands[0]};
  indim_instr *instr = NULL;
  INDIM_TRY(become(m, transpose, dot->instr, INDIM_OP_DOT, 2, sides, &instr));
  INDIM_TRY(indim_flow_array(m->instr_arena, dot->instr->attr_count, sizeof *instr->attrs, &instr->attrs));
  instr->attr_count = dot->instr->attr_count;
  for (int32_t k = 0; k < instr->attr_count; k++) {
    instr->attrs[k] = dot->instr->attrs[k];
    instr->attrs[k].id = of_other_side(instr->attrs[k].id);
  }
  return INDIM_OK;
}

// What an item is, and who reads it if it is a product.
typedef struct reading {
  indim_flow_item *product;  // the one that it is a swapped transpose of; NULL: none
  int32_t readers;           // of its swapped transposes
  bool has_others;
  indim_flow_item *swapped;  // the transpose that has become it
} reading;

static void note_read(reading *of, indim_flow_item *item) {
  reading *root = &of[transposed_item(item, NULL)->index];
  root->readers += of[item->index].product != NULL ? 1 : 0;
  root->has_others = root->has_others || of[item->index].product == NULL;
}

static void note_reads(const indim_flow *flow, reading *of) {
  for (int32_t i = 0; i < flow->item_count; i++) {
    indim_flow_item *item = flow->items[i];
    if (is_op(item, INDIM_OP_TRANSPOSE)) {
      indim_flow_item *dot = transposed_item(item, NULL);
      of[i].product = is_op(dot, INDIM_OP_DOT) && is_swapped(item, dot) ? dot : NULL;
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

indim_status indim_flow_fold_transposes(maker *m) {
  const indim_flow *flow = m->flow;
  reading *of = NULL;
  INDIM_TRY(indim_flow_array(m->arena, flow->item_count, sizeof *of, &of));
  note_reads(flow, of);
  for (int32_t i = 0; i < flow->item_count; i++) {
    indim_flow_item *dot = of[i].product;
    reading *read = dot == NULL ? NULL : &of[dot->index];
    indim_instr *instr = NULL;
    if (read != NULL && read->swapped != NULL) {
      INDIM_TRY(become(m, flow->items[i], flow->items[i]->instr, INDIM_OP_COPY, 1, &read->swapped, &instr));
    } else if (read != NULL && !read->has_others && gains(dot, read->readers)) {
      read->swapped = flow->items[i];
      INDIM_TRY(become_product(m, flow->items[i], dot));
    }
  }
  return INDIM_OK;
}
