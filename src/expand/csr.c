#include "expand/csr.h"

#include "linalg/csr.h"

// What the loops carry: the inner one how many elements the row has, the place of the first, and their sum.
enum { DATA, STARTS, COLUMNS, DENSE, OPERANDS };
enum { OUT = OPERANDS, VALUES };
enum { COUNT, FIRST, SUM, ROW_DATA, ROW_COLUMNS, ROW_DENSE, ROW_VALUES };

static value binary(indim_expander *x, indim_op op, value a, value b) {
  return indim_build_binary(x->b, op, a, b, NULL, 0);
}

static value s64(indim_expander *x, int64_t number) { return indim_build_scalar_int(x->b, INDIM_S64, number); }

static value add_element(indim_expander *x, const void *about, value index, value *values) {
  (void)about;
  value at = binary(x, INDIM_OP_ADD, values[FIRST], index);
  value column = indim_expand_convert(x, indim_expand_cut(x, values[ROW_COLUMNS], 0, at), INDIM_S64);
  value row = indim_expand_cut(x, values[ROW_DENSE], 0, column);
  value element = indim_expand_cut(x, values[ROW_DATA], 0, at);
  if (row != NULL && row->shape->rank > 0) {
    element = indim_expand_repeat(x, element, row->shape, NULL);
  }
  values[SUM] = binary(x, INDIM_OP_ADD, values[SUM], binary(x, INDIM_OP_MULTIPLY, element, row));
  return indim_expand_next(x, index);
}

// Where row |index| starts, from 0 to the number of elements: whatever the starts are, the loop ends.
static value start_of(indim_expander *x, const value *values, value index) {
  value start = indim_expand_convert(x, indim_expand_cut(x, values[STARTS], 0, index), INDIM_S64);
  value most = s64(x, x->instr->operands[DATA]->shape->sizes[0]);
  return binary(x, INDIM_OP_MINIMUM, binary(x, INDIM_OP_MAXIMUM, start, s64(x, 0)), most);
}

static value compute_row(indim_expander *x, const void *about, value index, value *values) {
  const indim_expand_loop *inner = about;
  value row[ROW_VALUES];
  value next = indim_expand_next(x, index);
  row[FIRST] = start_of(x, values, index);
  row[COUNT] = binary(x, INDIM_OP_SUBTRACT, start_of(x, values, next), row[FIRST]);
  value zeros = indim_expand_cut(x, values[OUT], 0, index);
  if (zeros == NULL) {
    return NULL;
  }
  row[SUM] = indim_expand_zeros(x, zeros->shape);
  row[ROW_DATA] = values[DATA];
  row[ROW_COLUMNS] = values[COLUMNS];
  row[ROW_DENSE] = values[DENSE];
  indim_expand_run_loop(x, inner, row);
  values[OUT] = indim_expand_put(x, values[OUT], 0, index, row[SUM]);
  return next;
}

value indim_expand_csr(indim_expander *x) {
  const indim_instr *instr = x->instr;
  const indim_shape *out = instr->shape;
  value values[VALUES];
  const indim_shape *shapes[VALUES];
  indim_shape number;
  indim_shape sum;
  indim_status status = indim_csr_verify(x->cx, instr);
  if (status != INDIM_OK) {
    return indim_expand_fail(x, status);
  }
  indim_build_fail(x->b, indim_shape_init(x->cx, INDIM_S64, 0, NULL, &number));
  indim_build_fail(x->b, indim_shape_init(x->cx, out->type, out->rank - 1, out->sizes + 1, &sum));
  if (x->b->status != INDIM_OK) {
    return NULL;
  }
  for (int32_t i = 0; i < OPERANDS; i++) {
    shapes[i] = instr->operands[i]->shape;
  }
  shapes[OUT] = out;
  bool is_empty = indim_shape_element_count(out) == 0 || indim_shape_element_count(shapes[DATA]) == 0 ||
                  indim_shape_element_count(shapes[DENSE]) == 0;
  if (is_empty) {
    indim_expand_begin(x);
    return indim_expand_zeros(x, out);
  }
  const indim_shape *row[ROW_VALUES] = {&number, &number, &sum, shapes[DATA], shapes[COLUMNS], shapes[DENSE]};
  indim_expand_loop inner = indim_expand_make_loop(x, -1, row, ROW_VALUES, add_element, NULL);
  indim_expand_loop outer = indim_expand_make_loop(x, out->sizes[0], shapes, VALUES, compute_row, &inner);
  indim_expand_begin(x);
  for (int32_t i = 0; i < OPERANDS; i++) {
    values[i] = x->operands[i];
  }
  values[OUT] = indim_expand_zeros(x, out);
  indim_expand_run_loop(x, &outer, values);
  return values[OUT];
}
