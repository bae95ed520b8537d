// Triangular systems with one right side. Plain C over vectors of the compiler's, one instance for each element type and vector
// width (host/vector_instances.h), compiled with contraction.
#include "linalg/substitute.h"

#include <string.h>

#include "base/ctx.h"
#include "base/float_mode.h"
#include "linalg/subnormal.h"

#if defined(__GNUC__)

enum {
  ROWS = 4,  // whose sums are made together
  FEW = 4    // right sides: each reads the matrix again
};

// The call, and its matrices.
typedef struct solving {
  const indim_linalg_call *call;
  const void *operands[2];
  bool is_asked;  // whether subnormal numbers may be zeros
} solving;

// The coefficient of unknown j in equation i is [i * row + j * column] of the matrix; one of the two is 1.
typedef struct indim_triangle {
  int64_t order, row, column;
  bool is_forward;  // equation 0 has one unknown
  bool is_unit;     // the diagonal is ones
  solving *solving;
} indim_triangle;

// Between two blocks: from the first one on that met subnormal numbers these are zeros, if that is right.
static inline void look_for_subnormals(solving *s) {
  if (!s->is_asked && indim_float_mode_met_subnormals()) {
    s->is_asked = true;
    if (indim_linalg_stands_flushing(s->call, s->operands)) {
      (void)indim_float_mode_flush();
    }
  }
}

#define BODY "linalg/substitute_body.h"
#include "host/vector_instances.h"

static void solve_f32(int32_t vector_bytes, const indim_triangle *t, const float *a, float *x) {
  DISPATCH(solve, f32, t, a, x);
  solve_f32_16(t, a, x);
}

static void solve_f64(int32_t vector_bytes, const indim_triangle *t, const double *a, double *x) {
  DISPATCH(solve, f64, t, a, x);
  solve_f64_16(t, a, x);
}

// op(x) z = y has right sides in columns, z op(x) = y in rows.
static bool is_left(const indim_linalg_call *call) { return indim_linalg_attr(call, "side") == 'L'; }
static int64_t right_sides(const indim_linalg_call *call) { return indim_linalg_size(call, is_left(call) ? 'n' : 'm'); }

bool indim_substitute_takes(const indim_linalg_call *call) {
  return call->target->id == INDIM_LINALG_TRSM && (call->type == INDIM_F32 || call->type == INDIM_F64) &&
         right_sides(call) <= FEW;
}

// A call's matrices are alike.
typedef struct solver {
  int32_t vector_bytes;
  indim_triangle triangle;
  int64_t count;      // right sides
  int64_t stride[2];  // between the elements of one in y and in the result
  int64_t next[2];    // between two of them
  void *one;          // an unknown vector
} solver;

static void begin(solver *s, int32_t vector_bytes, const indim_linalg_call *call) {
  int64_t order = indim_linalg_size(call, 's');
  // z op(x) = y is op(x)^T z^T = y^T; a real matrix has no other conjugate.
  bool is_transposed = (indim_linalg_attr(call, "trans_x") != 'N') == is_left(call);
  bool has_columns = call->operands[0].by_columns != is_transposed;
  *s = (solver){.vector_bytes = vector_bytes, .count = right_sides(call)};
  s->triangle = (indim_triangle){.order = order,
                                 .row = has_columns ? 1 : order,
                                 .column = has_columns ? order : 1,
                                 .is_forward = (indim_linalg_attr(call, "uplo") == 'L') != is_transposed,
                                 .is_unit = indim_linalg_attr(call, "diag") == 'U'};
  for (int i = 0; i < 2; i++) {
    const indim_linalg_array *a = i == 0 ? &call->operands[1] : &call->results[0];
    bool is_contiguous = a->by_columns == is_left(call);
    s->stride[i] = is_contiguous ? 1 : s->count;
    s->next[i] = is_contiguous ? order : 1;
  }
}

#define DEFINE_SOLVE_ALL(type, REAL)                                                                               \
  static void solve_all_##type(const solver *s, const REAL *a, const REAL *y, const REAL *alpha, REAL *solution) { \
    REAL *x = s->one;                                                                                              \
    for (int64_t r = 0; r < s->count; r++) {                                                                       \
      for (int64_t i = 0; i < s->triangle.order; i++) {                                                            \
        x[i] = y[r * s->next[0] + i * s->stride[0]] * (alpha == NULL ? 1 : *alpha);                                \
      }                                                                                                            \
      solve_##type(s->vector_bytes, &s->triangle, a, x);                                                           \
      for (int64_t i = 0; i < s->triangle.order; i++) {                                                            \
        solution[r * s->next[1] + i * s->stride[1]] = x[i];                                                        \
      }                                                                                                            \
    }                                                                                                              \
  }
DEFINE_SOLVE_ALL(f32, float)
DEFINE_SOLVE_ALL(f64, double)

indim_status indim_substitute_run(indim_ctx *cx, int32_t vector_bytes, const indim_linalg_call *call, int64_t first,
                                  int64_t end, void *const *arrays) {
  solver s;
  begin(&s, vector_bytes, call);
  size_t bytes = (size_t)(s.triangle.order * indim_type_bytes(call->type));
  INDIM_TRY(indim_alloc(cx, bytes, &s.one));
  indim_status status = INDIM_OK;
  for (int64_t number = first; number < end && status == INDIM_OK; number++) {
    const void *a = indim_linalg_matrix_at(&call->operands[0], number, arrays[1]);
    const void *y = indim_linalg_matrix_at(&call->operands[1], number, arrays[2]);
    const void *alpha = call->operand_count == 3 ? indim_linalg_matrix_at(&call->operands[2], number, arrays[3]) : NULL;
    void *solution = indim_linalg_matrix_at(&call->results[0], number, arrays[0]);
    solving now = {.call = call, .operands = {a, y}};
    s.triangle.solving = &now;
    indim_float_mode before = indim_float_mode_forget_subnormals();
    if (call->type == INDIM_F32) {
      solve_all_f32(&s, a, y, alpha, solution);
    } else {
      solve_all_f64(&s, a, y, alpha, solution);
    }
    indim_float_mode_restore(before);
    status = indim_poll(cx);
  }
  indim_free(cx, s.one, bytes);
  return status;
}

#else  // another compiler, which has no vectors

bool indim_substitute_takes(const indim_linalg_call *call) {
  (void)call;
  return false;
}

indim_status indim_substitute_run(indim_ctx *cx, int32_t vector_bytes, const indim_linalg_call *call, int64_t begin,
                                  int64_t end, void *const *arrays) {
  (void)vector_bytes;
  (void)arrays;
  return indim_fail(cx, INDIM_INTERNAL, "%s of matrices %lld to %lld has no vectors", call->target->routine,
                    (long long)begin, (long long)end);
}

#endif
