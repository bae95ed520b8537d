// The Fortran interfaces of LAPACK's routines, real and complex, and what the calls of linalg.def pass to them.
#include "linalg/lapack_call.h"

#include <math.h>
#include <string.h>

static int64_t attr(const indim_lapack_args *a, const char *name) { return indim_linalg_attr(a->call, name); }
static bool is_complex(const indim_lapack_args *a) { return indim_type_is_complex(a->call->type); }
static int32_t size_of(const indim_lapack_args *a, char letter) {
  return (int32_t)indim_linalg_size(a->call, letter);  // as indim_linalg_read has checked
}

// Parts --------------------------------------------------------------------------------------------------------------

indim_type indim_lapack_part(indim_type type) {
  return indim_type_is_complex(type) ? indim_type_component_of(type) : type;
}

double indim_lapack_get(indim_type part, const void *array, int64_t i) {
  return part == INDIM_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

void indim_lapack_set(indim_type part, void *array, int64_t i, double value) {
  if (part == INDIM_F32) {
    ((float *)array)[i] = (float)value;
  } else {
    ((double *)array)[i] = value;
  }
}

// Cholesky and triangular systems ------------------------------------------------------------------------------------

typedef void potrf_fn(const char *uplo, const int32_t *n, void *a, const int32_t *lda, int32_t *info, size_t uplo_size);

static int32_t factor(const indim_lapack_args *a, bool lower) {
  char uplo = lower != a->is_flipped ? 'L' : 'U';
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  ((potrf_fn *)a->function)(&uplo, &n, a->out[0], &n, &info, 1);
  return info;
}

int32_t indim_lapack_call_potrf(indim_lapack_args *a) { return factor(a, attr(a, "uplo") == 'L'); }

// The triangle that is no part of the factor becomes 0, and everything NaN where there is none: not positive definite, or
// a NaN, which always reaches the diagonal.
int32_t indim_lapack_call_cholesky(indim_lapack_args *a) {
  bool lower = attr(a, "lower") != 0;
  bool failed = factor(a, lower) != 0;
  int64_t n = size_of(a, 'n');
  int64_t parts = is_complex(a) ? 2 : 1;
  indim_type part = indim_lapack_part(a->call->type);
  for (int64_t i = 0; i < n; i++) {
    failed = failed || isnan(indim_lapack_get(part, a->out[0], (i + i * n) * parts));
  }
  bool below = lower != a->is_flipped;
  for (int64_t j = 0; j < n; j++) {
    int64_t first = failed ? 0 : below ? 0 : j + 1;
    int64_t end = failed ? n : below ? j : n;
    for (int64_t i = first * parts; i < end * parts; i++) {
      indim_lapack_set(part, a->out[0], j * n * parts + i, failed ? (double)NAN : 0);
    }
  }
  return 0;
}

typedef void trsm_fn(const char *side, const char *uplo, const char *trans, const char *diag, const int32_t *m,
                     const int32_t *n, const void *alpha, const void *x, const int32_t *ldx, void *y,
                     const int32_t *ldy, size_t side_size, size_t uplo_size, size_t trans_size, size_t diag_size);

// op(x) z = y, transposed: z^T op(x)^T = y^T, and op(x)^T is op of x^T.
int32_t indim_lapack_call_trsm(indim_lapack_args *a) {
  bool left = attr(a, "side") == 'L';
  bool lower = attr(a, "uplo") == 'L';
  char side = left != a->is_flipped ? 'L' : 'R';
  char uplo = lower != a->is_flipped ? 'L' : 'U';
  char trans = (char)attr(a, "trans_x");
  char diag = (char)attr(a, "diag");
  int32_t s = size_of(a, 's');
  int32_t m = size_of(a, a->is_flipped ? 'n' : 'm');
  int32_t n = size_of(a, a->is_flipped ? 'm' : 'n');
  static const float one_f32[2] = {1, 0};
  static const double one_f64[2] = {1, 0};
  const void *one = indim_lapack_part(a->call->type) == INDIM_F32 ? (const void *)one_f32 : (const void *)one_f64;
  const void *alpha = a->call->operand_count == 3 ? a->in[2] : one;
  ((trsm_fn *)a->function)(&side, &uplo, &trans, &diag, &m, &n, alpha, a->in[0], &s, a->out[0], &m, 1, 1, 1, 1);
  return 0;
}

// LU and QR ----------------------------------------------------------------------------------------------------------

typedef void getrf_fn(const int32_t *m, const int32_t *n, void *a, const int32_t *lda, int32_t *pivots, int32_t *info);

int32_t indim_lapack_call_getrf(indim_lapack_args *a) {
  int32_t m = size_of(a, 'm');
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  ((getrf_fn *)a->function)(&m, &n, a->out[0], &m, a->out[1], &info);
  return info;
}

typedef void geqrf_fn(const int32_t *m, const int32_t *n, void *a, const int32_t *lda, void *taus, void *work,
                      const int32_t *work_count, int32_t *info);

int32_t indim_lapack_call_geqrf(indim_lapack_args *a) {
  int32_t m = size_of(a, 'm');
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  ((geqrf_fn *)a->function)(&m, &n, a->out[0], &m, a->out[1], a->work.elements, &a->work.element_count, &info);
  return info;
}

typedef void real_geqp3_fn(const int32_t *m, const int32_t *n, void *a, const int32_t *lda, int32_t *order, void *taus,
                           void *work, const int32_t *work_count, int32_t *info);
typedef void complex_geqp3_fn(const int32_t *m, const int32_t *n, void *a, const int32_t *lda, int32_t *order,
                              void *taus, void *work, const int32_t *work_count, void *reals, int32_t *info);

int32_t indim_lapack_call_geqp3(indim_lapack_args *a) {
  int32_t m = size_of(a, 'm');
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  indim_lapack_work *w = &a->work;
  if (is_complex(a)) {
    ((complex_geqp3_fn *)a->function)(&m, &n, a->out[0], &m, a->out[1], a->out[2], w->elements, &w->element_count,
                                      w->reals, &info);
  } else {
    ((real_geqp3_fn *)a->function)(&m, &n, a->out[0], &m, a->out[1], a->out[2], w->elements, &w->element_count, &info);
  }
  return info;
}

typedef void orgqr_fn(const int32_t *m, const int32_t *n, const int32_t *k, void *a, const int32_t *lda,
                      const void *taus, void *work, const int32_t *work_count, int32_t *info);

int32_t indim_lapack_call_orgqr(indim_lapack_args *a) {
  int32_t m = size_of(a, 'm');
  int32_t n = size_of(a, 'n');
  int32_t t = size_of(a, 't');
  int32_t info = 0;
  ((orgqr_fn *)a->function)(&m, &n, &t, a->out[0], &m, a->in[1], a->work.elements, &a->work.element_count, &info);
  return info;
}

typedef void ormqr_fn(const char *side, const char *trans, const int32_t *m, const int32_t *n, const int32_t *k,
                      const void *a, const int32_t *lda, const void *taus, void *c, const int32_t *ldc, void *work,
                      const int32_t *work_count, int32_t *info, size_t side_size, size_t trans_size);

int32_t indim_lapack_call_ormqr(indim_lapack_args *a) {
  char side = attr(a, "left") != 0 ? 'L' : 'R';
  char trans = attr(a, "transpose") == 0 ? 'N' : is_complex(a) ? 'C' : 'T';
  int32_t m = size_of(a, 'm');
  int32_t n = size_of(a, 'n');
  int32_t s = size_of(a, 's');
  int32_t t = size_of(a, 't');
  int32_t info = 0;
  ((ormqr_fn *)a->function)(&side, &trans, &m, &n, &t, a->in[0], &s, a->in[1], a->out[0], &m, a->work.elements,
                            &a->work.element_count, &info, 1, 1);
  return info;
}

// Symmetric eigenvalues, singular values -----------------------------------------------------------------------------

typedef void syevd_fn(const char *mode, const char *uplo, const int32_t *n, void *a, const int32_t *lda, void *values,
                      void *work, const int32_t *work_count, int32_t *ints, const int32_t *int_count, int32_t *info,
                      size_t mode_size, size_t uplo_size);

int32_t indim_lapack_call_syevd(indim_lapack_args *a) {
  char mode = (char)attr(a, "mode");
  char uplo = (char)attr(a, "uplo");
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  indim_lapack_work *w = &a->work;
  ((syevd_fn *)a->function)(&mode, &uplo, &n, a->out[0], &n, a->out[1], w->elements, &w->element_count, w->ints,
                            &w->int_count, &info, 1, 1);
  return info;
}

typedef void heevd_fn(const char *mode, const char *uplo, const int32_t *n, void *a, const int32_t *lda, void *values,
                      void *work, const int32_t *work_count, void *reals, const int32_t *real_count, int32_t *ints,
                      const int32_t *int_count, int32_t *info, size_t mode_size, size_t uplo_size);

int32_t indim_lapack_call_heevd(indim_lapack_args *a) {
  char mode = (char)attr(a, "mode");
  char uplo = (char)attr(a, "uplo");
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  indim_lapack_work *w = &a->work;
  ((heevd_fn *)a->function)(&mode, &uplo, &n, a->out[0], &n, a->out[1], w->elements, &w->element_count, w->reals,
                            &w->real_count, w->ints, &w->int_count, &info, 1, 1);
  return info;
}

// x = u diag(s) vt, transposed: x^T = vt^T diag(s) u^T, where the transpose of vt takes the place of u.
typedef struct svd {
  int32_t m, n, ldu, ldvt;
  void *u, *vt;
} svd;

static svd svd_of(const indim_lapack_args *a) {
  if (a->is_flipped) {
    return (svd){size_of(a, 'n'), size_of(a, 'm'), size_of(a, 'n'), size_of(a, 'p'), a->out[3], a->out[2]};
  }
  return (svd){size_of(a, 'm'), size_of(a, 'n'), size_of(a, 'm'), size_of(a, 'q'), a->out[2], a->out[3]};
}

typedef void real_gesdd_fn(const char *mode, const int32_t *m, const int32_t *n, void *a, const int32_t *lda, void *s,
                           void *u, const int32_t *ldu, void *vt, const int32_t *ldvt, void *work,
                           const int32_t *work_count, int32_t *ints, int32_t *info, size_t mode_size);
typedef void complex_gesdd_fn(const char *mode, const int32_t *m, const int32_t *n, void *a, const int32_t *lda,
                              void *s, void *u, const int32_t *ldu, void *vt, const int32_t *ldvt, void *work,
                              const int32_t *work_count, void *reals, int32_t *ints, int32_t *info, size_t mode_size);

int32_t indim_lapack_call_gesdd(indim_lapack_args *a) {
  char mode = (char)attr(a, "mode");
  svd d = svd_of(a);
  int32_t info = 0;
  indim_lapack_work *w = &a->work;
  if (is_complex(a)) {
    ((complex_gesdd_fn *)a->function)(&mode, &d.m, &d.n, a->out[0], &d.m, a->out[1], d.u, &d.ldu, d.vt, &d.ldvt,
                                      w->elements, &w->element_count, w->reals, w->ints, &info, 1);
  } else {
    ((real_gesdd_fn *)a->function)(&mode, &d.m, &d.n, a->out[0], &d.m, a->out[1], d.u, &d.ldu, d.vt, &d.ldvt,
                                   w->elements, &w->element_count, w->ints, &info, 1);
  }
  return info;
}

typedef void real_gesvd_fn(const char *mode_u, const char *mode_vt, const int32_t *m, const int32_t *n, void *a,
                           const int32_t *lda, void *s, void *u, const int32_t *ldu, void *vt, const int32_t *ldvt,
                           void *work, const int32_t *work_count, int32_t *info, size_t u_size, size_t vt_size);
typedef void complex_gesvd_fn(const char *mode_u, const char *mode_vt, const int32_t *m, const int32_t *n, void *a,
                              const int32_t *lda, void *s, void *u, const int32_t *ldu, void *vt, const int32_t *ldvt,
                              void *work, const int32_t *work_count, void *reals, int32_t *info, size_t u_size,
                              size_t vt_size);

int32_t indim_lapack_call_gesvd(indim_lapack_args *a) {
  char mode = (char)attr(a, "mode");
  svd d = svd_of(a);
  int32_t info = 0;
  indim_lapack_work *w = &a->work;
  if (is_complex(a)) {
    ((complex_gesvd_fn *)a->function)(&mode, &mode, &d.m, &d.n, a->out[0], &d.m, a->out[1], d.u, &d.ldu, d.vt, &d.ldvt,
                                      w->elements, &w->element_count, w->reals, &info, 1, 1);
  } else {
    ((real_gesvd_fn *)a->function)(&mode, &mode, &d.m, &d.n, a->out[0], &d.m, a->out[1], d.u, &d.ldu, d.vt, &d.ldvt,
                                   w->elements, &w->element_count, &info, 1, 1);
  }
  return info;
}

// Eigenvalues and Schur forms ----------------------------------------------------------------------------------------

typedef void real_geev_fn(const char *left, const char *right, const int32_t *n, void *a, const int32_t *lda, void *wr,
                          void *wi, void *vl, const int32_t *ldvl, void *vr, const int32_t *ldvr, void *work,
                          const int32_t *work_count, int32_t *info, size_t left_size, size_t right_size);
typedef void complex_geev_fn(const char *left, const char *right, const int32_t *n, void *a, const int32_t *lda,
                             void *values, void *vl, const int32_t *ldvl, void *vr, const int32_t *ldvr, void *work,
                             const int32_t *work_count, void *reals, int32_t *info, size_t left_size,
                             size_t right_size);

// Of a pair of complex eigenvalues LAPACK has the real parts of the first vector in one column and the imaginary ones in
// the next; the second vector is its conjugate.
static void unpack(indim_type part, int64_t n, const void *wi, const void *packed, void *out) {
  for (int64_t j = 0; j < n; j++) {
    bool is_pair = j + 1 < n && indim_lapack_get(part, wi, j) > 0;
    for (int64_t i = 0; i < n; i++) {
      double re = indim_lapack_get(part, packed, i + j * n);
      double im = is_pair ? indim_lapack_get(part, packed, i + (j + 1) * n) : 0;
      indim_lapack_set(part, out, 2 * (i + j * n), re);
      indim_lapack_set(part, out, 2 * (i + j * n) + 1, im);
      if (is_pair) {
        indim_lapack_set(part, out, 2 * (i + (j + 1) * n), re);
        indim_lapack_set(part, out, 2 * (i + (j + 1) * n) + 1, -im);
      }
    }
    j += is_pair ? 1 : 0;
  }
}

int32_t indim_lapack_call_real_geev(indim_lapack_args *a) {
  char left = (char)attr(a, "compute_left");
  char right = (char)attr(a, "compute_right");
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  indim_lapack_work *w = &a->work;
  ((real_geev_fn *)a->function)(&left, &right, &n, a->copy, &n, a->out[0], a->out[1], a->vectors[0], &n, a->vectors[1],
                                &n, w->elements, &w->element_count, &info, 1, 1);
  if (w->element_count >= 0 && left == 'V') {
    unpack(a->call->type, n, a->out[1], a->vectors[0], a->out[2]);
  }
  if (w->element_count >= 0 && right == 'V') {
    unpack(a->call->type, n, a->out[1], a->vectors[1], a->out[3]);
  }
  return info;
}

int32_t indim_lapack_call_complex_geev(indim_lapack_args *a) {
  char left = (char)attr(a, "compute_left");
  char right = (char)attr(a, "compute_right");
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  indim_lapack_work *w = &a->work;
  ((complex_geev_fn *)a->function)(&left, &right, &n, a->copy, &n, a->out[0], a->out[1], &n, a->out[2], &n, w->elements,
                                   &w->element_count, w->reals, &info, 1, 1);
  return info;
}

// |select| and |bools| are for sorting, which is not asked for.
typedef void real_gees_fn(const char *mode, const char *sort, indim_lapack_symbol *select, const int32_t *n, void *a,
                          const int32_t *lda, int32_t *selected, void *wr, void *wi, void *z, const int32_t *ldz,
                          void *work, const int32_t *work_count, int32_t *bools, int32_t *info, size_t mode_size,
                          size_t sort_size);
typedef void complex_gees_fn(const char *mode, const char *sort, indim_lapack_symbol *select, const int32_t *n, void *a,
                             const int32_t *lda, int32_t *selected, void *values, void *z, const int32_t *ldz,
                             void *work, const int32_t *work_count, void *reals, int32_t *bools, int32_t *info,
                             size_t mode_size, size_t sort_size);

int32_t indim_lapack_call_real_gees(indim_lapack_args *a) {
  char mode = (char)attr(a, "mode");
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  indim_lapack_work *w = &a->work;
  ((real_gees_fn *)a->function)(&mode, "N", NULL, &n, a->out[0], &n, a->out[4], a->out[2], a->out[3], a->out[1], &n,
                                w->elements, &w->element_count, NULL, &info, 1, 1);
  return info;
}

int32_t indim_lapack_call_complex_gees(indim_lapack_args *a) {
  char mode = (char)attr(a, "mode");
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  indim_lapack_work *w = &a->work;
  ((complex_gees_fn *)a->function)(&mode, "N", NULL, &n, a->out[0], &n, a->out[3], a->out[2], a->out[1], &n,
                                   w->elements, &w->element_count, w->reals, NULL, &info, 1, 1);
  return info;
}

// Hessenberg and tridiagonal -----------------------------------------------------------------------------------------

typedef void gehrd_fn(const int32_t *n, const int32_t *low, const int32_t *high, void *a, const int32_t *lda,
                      void *taus, void *work, const int32_t *work_count, int32_t *info);

int32_t indim_lapack_call_gehrd(indim_lapack_args *a) {
  int32_t n = size_of(a, 'n');
  int32_t low = (int32_t)attr(a, "low");
  int32_t high = (int32_t)attr(a, "high");
  int32_t info = 0;
  ((gehrd_fn *)a->function)(&n, &low, &high, a->out[0], &n, a->out[1], a->work.elements, &a->work.element_count, &info);
  return info;
}

typedef void sytrd_fn(const char *uplo, const int32_t *n, void *a, const int32_t *lda, void *diagonal,
                      void *off_diagonal, void *taus, void *work, const int32_t *work_count, int32_t *info,
                      size_t uplo_size);

int32_t indim_lapack_call_sytrd(indim_lapack_args *a) {
  char uplo = (char)attr(a, "uplo");
  int32_t n = size_of(a, 'n');
  int32_t info = 0;
  ((sytrd_fn *)a->function)(&uplo, &n, a->out[0], &n, a->out[1], a->out[2], a->out[3], a->work.elements,
                            &a->work.element_count, &info, 1);
  return info;
}

typedef void gtsv_fn(const int32_t *n, const int32_t *r, void *dl, void *d, void *du, void *b, const int32_t *ldb,
                     int32_t *info);

// The first element of dl plays no part.
int32_t indim_lapack_call_gtsv(indim_lapack_args *a) {
  int32_t n = size_of(a, 'n');
  int32_t r = size_of(a, 'r');
  int32_t info = 0;
  void *dl = (char *)a->out[0] + indim_type_bytes(a->call->type);
  ((gtsv_fn *)a->function)(&n, &r, dl, a->out[1], a->out[2], a->out[3], &n, &info);
  return info;
}

// Scratch ------------------------------------------------------------------------------------------------------------

// As LAPACK's manual has them for the complex routines' reals, and for gesdd's ints.
void indim_lapack_fixed_work(const indim_linalg_call *call, int64_t *out_reals, int64_t *out_ints) {
  int64_t n = indim_linalg_size(call, 'n');
  int64_t k = indim_linalg_size(call, 'k');
  bool is_svd = call->target->id == INDIM_LINALG_GESDD || call->target->id == INDIM_LINALG_GESVD;
  int64_t larger = is_svd ? indim_linalg_size(call, 'm') + n - k : 0;
  *out_ints = call->target->id == INDIM_LINALG_GESDD ? 8 * k : 0;
  *out_reals = 0;
  if (!indim_type_is_complex(call->type)) {
    return;
  }
  if (call->target->id == INDIM_LINALG_GESDD) {
    int64_t with_vectors = 5 * k * k + 5 * k;
    int64_t of_long = 2 * larger * k + 2 * k * k + k;
    *out_reals = indim_linalg_attr(call, "mode") == 'N' ? 7 * k : with_vectors > of_long ? with_vectors : of_long;
  } else if (call->target->id == INDIM_LINALG_GESVD) {
    *out_reals = 5 * k;
  } else if (call->target->id == INDIM_LINALG_GEES_COMPLEX) {
    *out_reals = n;
  } else if (call->target->id == INDIM_LINALG_GEEV_COMPLEX || call->target->id == INDIM_LINALG_GEQP3) {
    *out_reals = 2 * n;
  }
}
