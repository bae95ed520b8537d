// What the parts of dot share: the product as a nest over the output's dimensions and the contracted ones, its factors, and the
// ways to compute it.
#ifndef INDIM_LOOP_DOT_H
#define INDIM_LOOP_DOT_H

#include "loop/kernels/kernels.h"

// Of dimensions.
enum { INDIM_PRODUCT_BATCH = 1, INDIM_PRODUCT_LEFT = 2, INDIM_PRODUCT_RIGHT = 3, INDIM_PRODUCT_CONTRACTED = 4 };

typedef struct indim_product {
  indim_lowering *l;
  indim_flow_item *item;
  indim_flow_item *lhs, *rhs;
  int32_t out_rank, rank;         // dimensions of the output, then the contracted ones
  int64_t sizes[INDIM_MAX_RANK];  // 1 for a dimension collapsed into another
  uint8_t group[INDIM_MAX_RANK];
  int32_t lhs_dim[INDIM_MAX_RANK];  // the nest's dimension of each of the operand's
  int32_t rhs_dim[INDIM_MAX_RANK];
  indim_type sum;  // type of the sums
  int32_t vector_dim;
  int32_t lanes;
  int32_t row_dim;     // dimension that is unroll-and-jammed; -1: none
  int32_t column_dim;  // the same of the other operand's where lanes are of the batch; -1: none
  int32_t rows, columns;
  int64_t first_row, first_column;
  int64_t copies;           // of the innermost steps, from unrolled loops
  indim_access_list *list;  // of the left operand, |left_accesses|, and then of the right one
  int32_t left_accesses;
} indim_product;

// dot_product.c: fills all that follows from the op: dimensions, groups, the type of the sums.
void indim_product_set_up(indim_product *p);
// The elements of the dimensions of a group, as they were before collapsing.
int64_t indim_product_size_of_group(const indim_product *p, int32_t group);
// Whether all that an operand reads has adjacent elements along dimension |dim| of the nest, which has been analyzed.
bool indim_product_side_lies_along(const indim_product *p, bool is_left, int32_t dim);
// The shape of a copy of an operand: dimension |minor| of the nest (-1: none) is innermost, if the operand has it, then those of the
// three groups in |order|, each as in the nest. |is_left|: which operand, as both may be one item.
indim_shape indim_product_laid_out(const indim_product *p, bool is_left, indim_type type, const int32_t *order,
                                   int32_t minor);
// One factor at a nest index, in the type of the sums.
indim_value_id indim_product_factor(indim_product *p, indim_element_ctx *k, bool left, const indim_coord *index);
// x * y + sum.
indim_value_id indim_product_multiply_add(indim_product *p, int32_t lanes, indim_value_id x, indim_value_id y,
                                          indim_value_id sum);

// dot_host.c: leaves the product to the host. Returns NULL if it did, or the reason why it does not. |sizes|: of the nest after
// collapsing.
const char *indim_product_call_host(indim_product *p, const int64_t *sizes);
// The same of copies of what lies or is of another type than the host takes. False if the product is not worth them.
bool indim_product_call_packed(indim_product *p);
// Whether both operands lie along the sum, so that a nest would add up the lanes of each element.
bool indim_product_lies_along_sum(const indim_product *p);
// Whether vectors of an operand are put together lane by lane, for each tile of rows anew, where no few loads and shuffles do it.
bool indim_product_is_fetched_by_lanes(const indim_product *p);
// Whether lanes are elements of the result that lie in different lines of memory.
bool indim_product_is_stored_by_lanes(const indim_product *p);

// dot_lay_out.c: copies of operands from which a nest can move whole vectors, where that pays. True if there are any: they are the
// operands' places until the caller sets these back.
bool indim_product_lay_out(indim_product *p);

// dot.c: what is converted to s32 on the way to a product in s32: small integers are multiplied as they are.
indim_flow_item *indim_product_before_conversion(indim_flow_item *operand);

// dot_rows.c: one row times a matrix. Whether the product is one, and its contracted dimension.
bool indim_product_is_one_row(const indim_product *p, const int64_t *collapsed, int32_t *out_contracted);
void indim_product_run_one_row(indim_product *p, int32_t contracted, int64_t size);

// dot_nest.c: the loops over the output, a tile of rows and columns at a time.
void indim_product_run_nest(indim_product *p);

#endif  // INDIM_LOOP_DOT_H
