// Products with subnormal numbers. A multiplication that meets one takes many x86 processors some hundred cycles, and a matrix of
// weights that fall off (a blur, a kernel of distances) has one in every row: the product takes fifty times as long.
//
// Where one side has some, they are taken as zeros at first, which changes a sum by less than 2^-126 (2^-1022 of f64) for each of the
// other side's elements, times that. If all results turn out to be so large that they would be rounded by more, that was it.
//
// Else a side in which there are some is copied, times a power of two that makes them normal; the sums are the same, times that
// power, and are divided by it at the end. Nothing is rounded otherwise but what would be subnormal itself. A sum that becomes too
// large is infinite or NaN at the end, and the product is computed without powers then.
#include "base/float_mode.h"
#include "host/matmul.h"
#include "run/aligned_memory.h"
#include "run/matmul.h"
#include "run/subnormal.h"

#include <string.h>

enum {
  SAMPLE = 16,      // every so manieth row of a matrix is looked at, of one that few others are multiplied with every
                    // second or fourth of these: two or three hundredths of a product's time
  LEAST_SIDE = 16,  // of a sum that is worth a look, and of the longer side of its results
  LEAST_OTHER = 2   // of the shorter one
};

// The matrices of one side: their rows are what lies contiguously.
static indim_rows side_of(const indim_host_matmul *s, bool is_left) {
  int64_t free_stride = is_left ? s->lhs_m : s->rhs_n;
  int64_t sum_stride = is_left ? s->lhs_k : s->rhs_k;
  int64_t free_size = is_left ? s->m : s->n;
  bool along_sum = sum_stride == 1;
  return (indim_rows){.type = (indim_type)s->type,
                      .batches = s->batch,
                      .rows = along_sum ? free_size : s->k,
                      .length = along_sum ? s->k : free_size,
                      .batch_stride = is_left ? s->lhs_batch : s->rhs_batch,
                      .row_stride = along_sum ? free_stride : sum_stride};
}

static indim_rows result_of(const indim_host_matmul *s) {
  return (indim_rows){(indim_type)s->type, s->batch, s->m, s->n, s->out_batch, s->out_m};
}

// |uses|: of each element.
static bool has_subnormals(const indim_rows *side, const void *from, int64_t uses) {
  return indim_has_subnormals(side, from, uses >= LEAST_SIDE ? SAMPLE : SAMPLE * (LEAST_SIDE / uses));
}

// Whether both sides are one: an array times itself, or times its own transpose.
static bool are_same(const indim_rows *left, const void *lhs, const indim_rows *right, const void *rhs) {
  return lhs == rhs && left->rows == right->rows && left->length == right->length &&
         left->row_stride == right->row_stride && left->batch_stride == right->batch_stride;
}

static double elements_of(const indim_rows *side) {
  return (double)side->batches * (double)side->rows * (double)side->length;
}

bool indim_matmul_meets_subnormals(const indim_host_matmul *s, const void *lhs, const void *rhs,
                                   indim_matmul_subnormals *out) {
  *out = (indim_matmul_subnormals){.in_lhs = false};
  bool is_float = (s->type == INDIM_F32 || s->type == INDIM_F64) && indim_matmul_lhs_type(s) == s->type;
  if (INDIM_SUBNORMALS_ARE_SLOW == 0 || !is_float || s->accumulate != 0 || s->k < LEAST_SIDE ||
      (s->m < LEAST_SIDE && s->n < LEAST_SIDE) || s->m < LEAST_OTHER || s->n < LEAST_OTHER) {
    return false;
  }
  indim_rows left = side_of(s, true);
  indim_rows right = side_of(s, false);
  out->in_lhs = has_subnormals(&left, lhs, s->n);
  out->in_rhs = are_same(&left, lhs, &right, rhs) ? out->in_lhs : has_subnormals(&right, rhs, s->m);
  const indim_rows *other = out->in_lhs ? &right : &left;
  if (out->in_lhs != out->in_rhs && elements_of(other) <= elements_of(out->in_lhs ? &left : &right)) {
    double step =
        s->type == INDIM_F32 ? 0x1p-126 * 0x1p26 : 0x1p-1022 * 0x1p55;  // so that it is a quarter of a rounding
    double largest = indim_largest_normal(other, out->in_lhs ? rhs : lhs);
    out->least = largest > 0 ? step * (double)s->k * (largest + 1) : 0;
  }
  return out->in_lhs || out->in_rhs;
}

bool indim_matmul_stands_flushing(const indim_host_matmul *s, const indim_matmul_subnormals *found, const void *out) {
  indim_rows result = result_of(s);
  return indim_are_large(&result, out, found->least);
}

bool indim_matmul_scale(indim_matmul_scaled *scaled, const indim_host_matmul *s, const indim_matmul_subnormals *found,
                        const void *lhs, const void *rhs) {
  *scaled = (indim_matmul_scaled){.sizes = *s, .lhs = lhs, .rhs = rhs};
  indim_rows left = side_of(s, true);
  indim_rows right = side_of(s, false);
  bool are_both = found->in_lhs && found->in_rhs;
  int power = indim_subnormal_power((indim_type)s->type, are_both);
  if (found->in_lhs) {
    scaled->copies[0] = indim_copy_scaled(&left, lhs, power);
    scaled->lhs = scaled->copies[0];
    scaled->sizes.lhs_batch = left.rows * left.length;
    *(s->lhs_k == 1 ? &scaled->sizes.lhs_m : &scaled->sizes.lhs_k) = left.length;
  }
  if (found->in_rhs && scaled->lhs != NULL) {
    bool is_same = are_same(&left, lhs, &right, rhs);
    scaled->copies[1] = is_same ? NULL : indim_copy_scaled(&right, rhs, power);
    scaled->rhs = is_same ? scaled->lhs : scaled->copies[1];
    scaled->sizes.rhs_batch = right.rows * right.length;
    *(s->rhs_k == 1 ? &scaled->sizes.rhs_n : &scaled->sizes.rhs_k) = right.length;
  }
  scaled->power = are_both ? 2 * power : power;
  bool has_memory = scaled->lhs != NULL && scaled->rhs != NULL;
  if (!has_memory) {
    indim_matmul_scaled_free(scaled);
  }
  return has_memory;
}

bool indim_matmul_unscale(const indim_matmul_scaled *scaled, void *out) {
  indim_rows result = result_of(&scaled->sizes);
  return indim_unscale(&result, out, scaled->power);
}

void indim_matmul_scaled_free(indim_matmul_scaled *scaled) {
  indim_aligned_free(scaled->copies[0]);
  indim_aligned_free(scaled->copies[1]);
}
