// Long sums with few results, as parts for threads (split K, two-stage reductions):
//
//   reduce f32[1000000] over 0        reshape to [16,62500], reduce over 1, reduce over 0
//   reduce f32[8,56,56,64] over 0..2  reduce over 1 and 2, reduce over 0
//   dot [m,k] [k,n]                   of [m,16,k/16] and [16,k/16,n], batch 16, and the sum over the batch
//
// Parts start with the reducer's identity, or with the initial value where the reducer chooses among its arguments, so that
// it may come in more than once. Narrow floats of a product are summed in f32 until the end.
#include "expand/split.h"

#include "expand/complex_dot.h"
#include "expand/outer.h"
#include "graph/infer_kit.h"

enum {
  MOST_PARTS = 16,
  LEAST_PARTS = 8,
  ROWS = 4,                  // of parts that a loop reduces together (loop/kernels/reduce_rows.c)
  LEAST_ELEMENTS = 1 << 17,  // of a reduction
  FEW_RESULTS = 8,           // more rows, or blocks of columns, are shared among threads as they are
  FEW_COLUMNS = 128,
  LEAST_LENGTH = 256,           // of a part of a sum
  MOST_PRODUCT_SIDE = 64,       // of a product's results
  LEAST_HOST_SIDE = 8,          // a product that the host computes, it splits itself
  LEAST_PRODUCT_WORK = 1 << 18  // multiplications
};

// Whether |x|, of a reducer of |n| arrays, is argument |number| or |n| + |number|, whichever. Reducers are small trees.
static bool chooses(const indim_instr *x, int64_t number, int64_t n, int depth) {
  enum { DEEP = 16 };
  bool is_choice = x->op == INDIM_OP_MAXIMUM || x->op == INDIM_OP_MINIMUM || x->op == INDIM_OP_SELECT ||
                   ((x->op == INDIM_OP_AND || x->op == INDIM_OP_OR) && x->shape->type == INDIM_PRED);
  if (x->op == INDIM_OP_PARAMETER) {
    return x->parameter_number % n == number;
  }
  int32_t first = x->op == INDIM_OP_SELECT ? 1 : 0;
  return is_choice && depth < DEEP && chooses(x->operands[first], number, n, depth + 1) &&
         chooses(x->operands[first + 1], number, n, depth + 1);
}

bool indim_split_only_selects(const indim_computation *computation) {
  static const bool allowed[INDIM_OP_COUNT] = {
      [INDIM_OP_PARAMETER] = true, [INDIM_OP_COMPARE] = true, [INDIM_OP_SELECT] = true,
      [INDIM_OP_MAXIMUM] = true,   [INDIM_OP_MINIMUM] = true, [INDIM_OP_TUPLE] = true,
  };
  for (int32_t i = 0; i < computation->instr_count; i++) {
    const indim_instr *instr = computation->instrs[i];
    bool is_logic = (instr->op == INDIM_OP_AND || instr->op == INDIM_OP_OR || instr->op == INDIM_OP_NOT) &&
                    instr->shape->type == INDIM_PRED;
    if (!allowed[instr->op] && !is_logic) {
      return false;
    }
  }
  const indim_instr *root = computation->root;
  if (root->op != INDIM_OP_TUPLE) {
    return chooses(root, 0, 1, 0);
  }
  for (int32_t k = 0; k < root->operand_count; k++) {
    if (!chooses(root->operands[k], k, root->operand_count, 0)) {
      return false;
    }
  }
  return true;
}

// The largest divisor of |size| that is at most |most|.
static int64_t divisor_of(int64_t size, int64_t most) {
  int64_t divisor = most < size ? most : size;
  while (divisor > 1 && size % divisor != 0) {
    divisor--;
  }
  return divisor < 1 ? 1 : divisor;
}

// Reductions -------------------------------------------------------------------------------------------------------------

// A sum or product of numbers that have its identity: its op. INDIM_OP_COUNT for another reducer.
static indim_op simple_op(const indim_computation *apply, indim_type type) {
  const indim_instr *root = apply->root;
  bool is_plain = type == INDIM_F32 || type == INDIM_F64 || type == INDIM_F16 || type == INDIM_BF16 ||
                  (indim_type_is_integral(type) && type != INDIM_PRED);
  bool is_op = root->op == INDIM_OP_ADD || root->op == INDIM_OP_MULTIPLY;
  if (apply->parameter_count != 2 || !is_plain || !is_op || root->shape->type != type ||
      root->operands[0]->op != INDIM_OP_PARAMETER || root->operands[1]->op != INDIM_OP_PARAMETER ||
      root->operands[0] == root->operands[1]) {
    return INDIM_OP_COUNT;
  }
  return root->op;
}

// How a reduction is split: the dimensions of |outer| are left to the second stage, and of dimension |split| (-1: none) so
// many parts.
typedef struct parts {
  uint64_t reduced, outer;  // dimensions of the input
  int32_t split;
  int64_t split_into;
  int64_t count;
} parts;

// In how many parts a dimension is split of which there are |others| already. Rather fewer than some rows that are left over: these are
// code of their own, and no other thread computes them.
static int64_t split_of(int64_t size, int64_t others) {
  int64_t most = MOST_PARTS / others;
  int64_t best = divisor_of(size, most);
  for (int64_t count = best; count > 0 && count * others >= LEAST_PARTS; count--) {
    if (size % count == 0 && count * others % ROWS == 0) {
      return count;
    }
  }
  return best;
}

static parts parts_of(const indim_shape *shape, uint64_t reduced) {
  parts p = {.reduced = reduced, .split = -1, .count = 1};
  for (int32_t d = 0; d < shape->rank; d++) {
    int64_t size = shape->sizes[d];
    if ((reduced >> d & 1) == 0) {
      continue;
    }
    if (size > MOST_PARTS / p.count) {
      p.split = d;
      p.split_into = split_of(size, p.count);
      p.count *= p.split_into;
      break;
    }
    p.outer |= UINT64_C(1) << d;
    p.count *= size;
  }
  if (p.split_into <= 1) {
    p.split = -1;
  }
  return p;
}

// Whether so few rows, or columns, are reduced that there is nothing else to share among threads.
static bool has_few_results(const indim_shape *shape, uint64_t reduced, bool is_simple) {
  int64_t columns = 1, others = 1;
  bool is_behind = true;
  for (int32_t d = shape->rank - 1; d >= 0; d--) {
    bool is_reduced = (reduced >> d & 1) != 0;
    is_behind = is_behind && (!is_reduced || shape->sizes[d] == 1);
    int64_t *count = is_behind ? &columns : &others;
    *count *= is_reduced ? 1 : shape->sizes[d];
  }
  return others < FEW_RESULTS && columns <= (is_simple ? FEW_COLUMNS : FEW_COLUMNS / 4);
}

static bool suits_reduce(const indim_instr *instr) {
  int32_t n = instr->operand_count / 2;
  const indim_shape *shape = instr->operands[0]->shape;
  const indim_computation *apply = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
  bool is_simple = n == 1 && simple_op(apply, shape->type) != INDIM_OP_COUNT;
  uint64_t reduced = indim_attr_mask(instr, INDIM_ATTR_DIMENSIONS);
  if (!indim_shape_is_static(shape) || shape->rank == INDIM_MAX_RANK ||
      indim_shape_element_count(shape) < LEAST_ELEMENTS || (!is_simple && !indim_split_only_selects(apply)) ||
      !has_few_results(shape, reduced, is_simple)) {
    return false;
  }
  int64_t results = 1;
  for (int32_t d = 0; d < shape->rank; d++) {
    results *= (reduced >> d & 1) != 0 ? 1 : shape->sizes[d];
  }
  for (int32_t i = 0; i < n; i++) {
    if (!indim_expand_is_row_major(instr->operands[i]->shape)) {
      return false;
    }
  }
  // A single row of numbers has partial results in its own loop (loop/kernels/reduce_bands.c).
  bool is_one_row = n == 1 && results == 1 && shape->rank == 1 && apply->root->operand_count == 2;
  parts p = parts_of(shape, reduced);
  return !is_one_row && p.count >= LEAST_PARTS &&
         indim_shape_element_count(shape) / (p.count * results) >= LEAST_LENGTH;
}

// |operand| with its split dimension as two.
static value reshape_parts(const indim_expander *x, const parts *p, value operand) {
  int64_t sizes[INDIM_MAX_RANK];
  int32_t rank = 0;
  if (p->split < 0 || operand == NULL) {
    return operand;
  }
  for (int32_t d = 0; d < operand->shape->rank; d++) {
    if (d == p->split) {
      sizes[rank++] = p->split_into;
    }
    sizes[rank++] = operand->shape->sizes[d] / (d == p->split ? p->split_into : 1);
  }
  return indim_build_reshape(x->b, operand, sizes, rank);
}

static value reduce(const indim_expander *x, const value *operands, int32_t n, const int64_t *dims, int32_t count) {
  indim_attr attrs[] = {indim_build_attr_ints(x->b, INDIM_ATTR_DIMENSIONS, dims, count),
                        *indim_instr_attr(x->instr, INDIM_ATTR_TO_APPLY)};
  return indim_build_emit(x->b, INDIM_OP_REDUCE, NULL, operands, 2 * n, attrs, 2);
}

value indim_split_reduce(indim_expander *x) {
  const indim_instr *instr = x->instr;
  int32_t n = instr->operand_count / 2;
  const indim_shape *shape = instr->operands[0]->shape;
  indim_op op = n == 1 ? simple_op(indim_instr_computation(instr, INDIM_ATTR_TO_APPLY), shape->type) : INDIM_OP_COUNT;
  parts p = parts_of(shape, indim_attr_mask(instr, INDIM_ATTR_DIMENSIONS));
  int64_t inner[INDIM_MAX_RANK], outer[INDIM_MAX_RANK];
  int32_t inner_count = 0, outer_count = 0, at = 0;
  indim_expand_begin(x);
  value *first = indim_expand_values(x, 2 * (int64_t)n);
  value *second = indim_expand_values(x, 2 * (int64_t)n);
  if (first == NULL || second == NULL) {
    return NULL;
  }
  // Dimension numbers: of the reshaped input, and of the first stage's result.
  for (int32_t d = 0, input = 0; d < shape->rank; d++, input++) {
    bool is_outer = (p.outer >> d & 1) != 0;
    if (d == p.split || is_outer) {
      outer[outer_count++] = at++;
      input += d == p.split ? 1 : 0;
    }
    if ((p.reduced >> d & 1) != 0 && !is_outer) {
      inner[inner_count++] = input;
    } else if (!is_outer) {
      at++;
    }
  }
  for (int32_t i = 0; i < n; i++) {
    double identity = op == INDIM_OP_MULTIPLY ? 1 : indim_type_is_float(shape->type) ? -0.0 : 0;
    first[i] = reshape_parts(x, &p, x->operands[i]);
    first[n + i] = op == INDIM_OP_COUNT ? x->operands[n + i] : indim_build_scalar(x->b, shape->type, identity);
    second[n + i] = x->operands[n + i];
  }
  value stage = reduce(x, first, n, inner, inner_count);
  for (int32_t i = 0; i < n && stage != NULL; i++) {
    second[i] = indim_shape_is_tuple(instr->shape) ? indim_build_get_tuple_element(x->b, stage, i) : stage;
  }
  return stage == NULL ? NULL : reduce(x, second, n, outer, outer_count);
}

// Products ---------------------------------------------------------------------------------------------------------------

static int64_t contracted_dim(const indim_instr *instr, indim_attr_id id, int64_t *out_count) {
  const int64_t *dims = indim_instr_ints(instr, id, out_count);
  return *out_count == 1 ? dims[0] : -1;
}

static bool suits_dot(const indim_instr *instr) {
  const indim_shape *lhs = instr->operands[0]->shape;
  const indim_shape *rhs = instr->operands[1]->shape;
  int64_t count = 0;
  int64_t dim = contracted_dim(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS, &count);
  bool is_plain = instr->operand_count == 2 && indim_instr_attr(instr, INDIM_ATTR_DOT_ALGORITHM) == NULL &&
                  indim_type_is_array(instr->shape->type) && instr->shape->type != INDIM_PRED;
  if (!is_plain || dim < 0 || !indim_shape_is_static(lhs) || !indim_shape_is_static(rhs) ||
      lhs->rank == INDIM_MAX_RANK || rhs->rank == INDIM_MAX_RANK || instr->shape->rank == INDIM_MAX_RANK ||
      !indim_expand_is_row_major(lhs) || !indim_expand_is_row_major(rhs)) {
    return false;
  }
  int64_t length = lhs->sizes[dim];
  int64_t results = indim_shape_element_count(instr->shape);
  int64_t divisor = divisor_of(length, MOST_PARTS);
  bool is_host_type =
      (lhs->type == INDIM_F32 || lhs->type == INDIM_F64) && rhs->type == lhs->type && instr->shape->type == lhs->type;
  int64_t rows = length == 0 ? 0 : indim_shape_element_count(lhs) / length;
  int64_t columns = length == 0 ? 0 : indim_shape_element_count(rhs) / length;
  bool is_hosts = is_host_type && rows >= LEAST_HOST_SIDE && columns >= LEAST_HOST_SIDE &&
                  rows == results / columns;  // else there is a batch
  return !is_hosts && results > 0 && results <= MOST_PRODUCT_SIDE * MOST_PRODUCT_SIDE && divisor >= LEAST_PARTS &&
         length / divisor >= LEAST_LENGTH && length >= 16 * results / MOST_PRODUCT_SIDE &&
         length >= LEAST_PRODUCT_WORK / results;
}

static value split_dim(const indim_expander *x, value operand, int64_t dim, int64_t count) {
  parts p = {.split = (int32_t)dim, .split_into = count};
  return reshape_parts(x, &p, operand);
}

// A list of dimensions after |split| became two: those behind it move; |first|, the new one, is put in front where not -1.
static indim_attr dims_of(const indim_expander *x, indim_attr_id id, int64_t split, bool is_batch) {
  int64_t count = 0;
  const int64_t *from = indim_instr_ints(x->instr, id, &count);
  int64_t dims[INDIM_MAX_RANK];
  int64_t at = 0;
  for (int64_t i = 0; i < count; i++) {
    dims[at++] = from[i] + (from[i] >= split ? 1 : 0);
  }
  if (is_batch) {
    dims[at++] = split;
  }
  return indim_build_attr_ints(x->b, id, dims, at);
}

static value split_dot(indim_expander *x) {
  const indim_instr *instr = x->instr;
  int64_t count = 0, batch = 0;
  int64_t lhs = contracted_dim(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS, &count);
  int64_t rhs = contracted_dim(instr, INDIM_ATTR_RHS_CONTRACTING_DIMS, &count);
  (void)indim_instr_ints(instr, INDIM_ATTR_LHS_BATCH_DIMS, &batch);
  indim_type type = instr->shape->type;
  type = indim_type_is_float(type) && indim_type_bits(type) < 32 ? INDIM_F32 : type;
  int64_t length = instr->operands[0]->shape->sizes[lhs];
  int64_t divisor = divisor_of(length, MOST_PARTS);
  const indim_computation *sum = indim_expand_sum(x, type);
  indim_shape shape;
  int64_t sizes[INDIM_MAX_RANK];
  for (int32_t d = 0; d <= instr->shape->rank; d++) {
    sizes[d] = d == batch ? divisor : instr->shape->sizes[d - (d > batch ? 1 : 0)];
  }
  indim_build_fail(x->b, indim_shape_init(x->cx, type, instr->shape->rank + 1, sizes, &shape));
  indim_expand_begin(x);
  value operands[] = {split_dim(x, x->operands[0], lhs, divisor), split_dim(x, x->operands[1], rhs, divisor)};
  indim_attr attrs[] = {
      dims_of(x, INDIM_ATTR_LHS_BATCH_DIMS, lhs, true), dims_of(x, INDIM_ATTR_LHS_CONTRACTING_DIMS, lhs, false),
      dims_of(x, INDIM_ATTR_RHS_BATCH_DIMS, rhs, true), dims_of(x, INDIM_ATTR_RHS_CONTRACTING_DIMS, rhs, false)};
  value product = indim_build_emit(x->b, INDIM_OP_DOT, &shape, operands, 2, attrs, 4);
  return indim_expand_convert(x, indim_expand_reduce(x, sum, product, &batch, 1), instr->shape->type);
}

value indim_expand_dot(indim_expander *x) {
  return indim_outer_suits(x->instr)         ? indim_outer_expand(x)
         : indim_complex_dot_suits(x->instr) ? indim_complex_dot_expand(x)
                                             : split_dot(x);
}

bool indim_split_suits(const indim_instr *instr) {
  return instr->op == INDIM_OP_REDUCE ? suits_reduce(instr) : instr->op == INDIM_OP_DOT && suits_dot(instr);
}
