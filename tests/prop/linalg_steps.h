// Steps of random programs: Fourier transforms, linear algebra as ops and as LAPACK's custom calls on matrices that are well
// conditioned, normalised batches, and products in groups. All are given small whole numbers; what is rounded is only moved
// on, with the distance that is allowed.
#ifndef INDIM_TESTS_LINALG_STEPS_H
#define INDIM_TESTS_LINALG_STEPS_H

#include "generator.h"

static inline indim_type component_of(indim_type type) {
  return is_complex(type) ? indim_type_component_of(type) : type;
}
static inline bool is_single(indim_type type) { return component_of(type) == INDIM_F32; }

// Of numbers of about this size.
static within near_of(indim_type type, double size) {
  static const within of_half = {.ulps = 2, .abs = 0.01, .rel = 0.002};
  static const within of_bf16 = {.ulps = 2, .abs = 0.08, .rel = 0.02};
  double unit = is_single(type) ? 1e-5 : 1e-13;
  within w = {.abs = unit * size, .rel = unit * 10};
  return type == INDIM_F16 ? of_half : type == INDIM_BF16 ? of_bf16 : w;
}

// Whole numbers from -2 to 2, no NaN among them.
static value counted(scope *s, const array *a) {
  array part = *a;
  value halves[2];
  part.type = component_of(a->type);
  for (int i = 0; i < (is_complex(a->type) ? 2 : 1); i++) {
    halves[i] = need(s, &part);
    halves[i] = whole(s, &halves[i]);
    halves[i] = as_type(s, &halves[i], INDIM_S8);
    value three = scalar(s, INDIM_S8, "3");
    value threes = broadcast_to(s, &three, &part, NULL);
    halves[i] = *make(s, &halves[i].a, "remainder", &halves[i], &threes, NULL, "");
    halves[i] = as_type(s, &halves[i], part.type);
  }
  return is_complex(a->type) ? *make(s, a, "complex", &halves[0], &halves[1], NULL, "") : halves[0];
}

static value number_everywhere(scope *s, const array *a, int64_t number) {
  char digits[40];
  snprintf(digits, sizeof digits, is_complex(a->type) ? "(%lld, 0)" : "%lld", (long long)number);
  value v = scalar(s, a->type, digits);
  return broadcast_to(s, &v, a, NULL);
}

// Row less column, or row plus column, compared with |number|.
static value where_in_matrix(scope *s, const array *a, const char *op, int64_t number, const char *direction) {
  char text_of[2][40];
  array at = *a;
  value index[2];
  at.type = INDIM_S32;
  for (int i = 0; i < 2; i++) {
    snprintf(text_of[i], sizeof text_of[i], ", iota_dimension=%d", (int)a->rank - 2 + i);
    index[i] = *make(s, &at, "iota", NULL, NULL, NULL, text_of[i]);
  }
  value sum = *make(s, &at, op, &index[0], &index[1], NULL, "");
  value limit = number_everywhere(s, &at, number);
  snprintf(text_of[0], sizeof text_of[0], ", direction=%s", direction);
  at.type = INDIM_PRED;
  return *make(s, &at, "compare", &sum, &limit, NULL, text_of[0]);
}

// |x| plus |number| along the diagonal, or, mirrored, along the one from the top right.
static value with_diagonal(scope *s, const value *x, int64_t number, bool mirrored) {
  int64_t n = x->a.sizes[x->a.rank - 1];
  value from = *x;
  value on = where_in_matrix(s, &from.a, mirrored ? "add" : "subtract", mirrored ? n - 1 : 0, "EQ");
  value numbers = number_everywhere(s, &from.a, number);
  value zeros = number_everywhere(s, &from.a, 0);
  value diagonal = *make(s, &from.a, "select", &on, &numbers, &zeros, "");
  return *make(s, &from.a, "add", &from, &diagonal, NULL, "");
}

// Whose diagonal outweighs the rest of each row and column.
static value dominant(scope *s, const array *a, bool mirrored) {
  int64_t most = a->sizes[a->rank - 1] > a->sizes[a->rank - 2] ? a->sizes[a->rank - 1] : a->sizes[a->rank - 2];
  value x = counted(s, a);
  return with_diagonal(s, &x, (is_complex(a->type) ? 4 : 2) * most + 9, mirrored);
}

static value transposed(scope *s, const value *x) {
  array a = x->a;
  int64_t order[PROGRAM_RANK] = {0, 1, 2, 3, 4, 5};
  value from = *x;
  order[a.rank - 2] = a.rank - 1;
  order[a.rank - 1] = a.rank - 2;
  a.sizes[a.rank - 2] = from.a.sizes[a.rank - 1];
  a.sizes[a.rank - 1] = from.a.sizes[a.rank - 2];
  value *v = new_value(s, &a);
  text_add(&s->body, "transpose(v%d), dimensions=", from.name);
  add_list(&s->body, "{", order, a.rank, "}\n");
  return *v;
}

static value conjugate(scope *s, const value *x) {
  value from = *x;
  array part = from.a;
  if (!is_complex(part.type)) {
    return from;
  }
  part.type = component_of(part.type);
  value re = *make(s, &part, "real", &from, NULL, NULL, "");
  value im = *make(s, &part, "imag", &from, NULL, NULL, "");
  value less = *make(s, &part, "negate", &im, NULL, NULL, "");
  return *make(s, &from.a, "complex", &re, &less, NULL, "");
}

// x x^H + n, positive definite.
static value definite(scope *s, const array *a) {
  static const int64_t all[PROGRAM_RANK] = {0, 1, 2, 3, 4, 5};
  int32_t batch = a->rank - 2;
  value x = counted(s, a);
  value y = conjugate(s, &x);
  value square = *new_value(s, a);
  text_add(&s->body, "dot(v%d, v%d), ", x.name, y.name);
  add_list(&s->body, "lhs_batch_dims={", all, batch, "}, ");
  add_list(&s->body, "rhs_batch_dims={", all, batch, "}, ");
  text_add(&s->body, "lhs_contracting_dims={%d}, rhs_contracting_dims={%d}\n", (int)batch + 1, (int)batch + 1);
  return with_diagonal(s, &square, a->sizes[a->rank - 1], false);
}

// Anything in the triangle that is not read.
static value spoilt(scope *s, const value *x, bool lower) {
  value from = *x;
  if (!chance(s->g->c, 2)) {
    return from;
  }
  value at = where_in_matrix(s, &from.a, "subtract", 0, lower ? "LT" : "GT");
  value any = need(s, &from.a);
  return *make(s, &from.a, "select", &at, &any, &from, "");
}

static array any_matrices(scope *s, indim_type type, bool square) {
  choices *c = s->g->c;
  array a = {.type = type, .rank = 2 + (int32_t)choose(c, 3)};
  for (int32_t i = 0; i < a.rank; i++) {
    a.sizes[i] = i + 2 < a.rank ? (int64_t)choose(c, 4) : (int64_t)choose(c, 10);
  }
  if (a.rank == 3 && chance(c, 4)) {
    a.sizes[0] = any_size(c);
  }
  if (square) {
    a.sizes[a.rank - 1] = a.sizes[a.rank - 2];
  }
  while (element_count(&a) > s->g->limit * 4) {
    a.sizes[a.rank - 2] = a.sizes[a.rank - 1] = 3;
    a.sizes[0] = 1 + (int64_t)choose(c, 4);
  }
  return a;
}

static const indim_type lapack_types[] = {INDIM_F32, INDIM_F64, INDIM_F32, INDIM_C64, INDIM_C128};

static void do_cholesky(scope *s) {
  static const indim_type types[] = {INDIM_F32, INDIM_F32, INDIM_F64, INDIM_C64, INDIM_C128, INDIM_F16, INDIM_BF16};
  array a = any_matrices(s, ANY_OF(s->g->c, types), true);
  bool lower = chance(s->g->c, 2);
  value x = definite(s, &a);
  if (chance(s->g->c, 8)) {
    x = *make(s, &a, "negate", &x, NULL, NULL, "");
  }
  x = spoilt(s, &x, lower);
  make(s, &a, "cholesky", &x, NULL, NULL, lower ? ", lower=true" : ", lower=false")->within = near_of(a.type, 10);
}

// A triangular matrix, the right-hand side of a system, and which one it is.
typedef struct triangular {
  value a, b;
  bool left, lower, unit;
  int trans;  // 0: as it is, 1: transposed, 2: adjoint
} triangular;

static triangular any_triangular(scope *s, indim_type type) {
  choices *c = s->g->c;
  triangular t = {.left = chance(c, 2), .lower = chance(c, 2), .trans = (int)choose(c, 3)};
  array b = any_matrices(s, type, false);
  array a = b;
  a.sizes[a.rank - 1] = a.sizes[a.rank - 2] = b.sizes[b.rank - (t.left ? 2 : 1)];
  t.unit = chance(c, 3) && a.sizes[a.rank - 1] <= 4;
  t.a = dominant(s, &a, false);
  t.a = spoilt(s, &t.a, t.lower);
  t.b = counted(s, &b);
  return t;
}

static void do_triangular_solve(scope *s) {
  static const indim_type types[] = {INDIM_F32, INDIM_F32, INDIM_F64, INDIM_C64, INDIM_C128, INDIM_F16, INDIM_BF16};
  static const char *const names[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  triangular t = any_triangular(s, ANY_OF(s->g->c, types));
  char attributes[120];
  snprintf(attributes, sizeof attributes, ", left_side=%s, lower=%s, unit_diagonal=%s, transpose_a=%s",
           t.left ? "true" : "false", t.lower ? "true" : "false", t.unit ? "true" : "false", names[t.trans]);
  make(s, &t.b.a, "triangular-solve", &t.a, &t.b, NULL, attributes)->within = near_of(t.b.a.type, 100);
}

// Custom calls -----------------------------------------------------------------------------------------------------

static void add_column_major(text *t, const array *a, int32_t batch) {
  add_shape(t, a);
  if (a->rank != batch + 2) {
    return;
  }
  int64_t order[PROGRAM_RANK];
  for (int32_t i = 0; i < a->rank; i++) {
    order[i] = i < 2 ? a->rank - 2 + i : a->rank - 1 - i;
  }
  add_list(t, "{", order, a->rank, "}");
}

// The number of the result, or of the tuple of them.
static int lapack_call(scope *s, const char *routine, const value *operands, int count, const array *results,
                       int result_count, const char *config) {
  static const char letters[] = "sdcz";
  indim_type type = operands[0].a.type;
  int32_t batch = operands[0].a.rank - 2;
  int name = s->g->names++;
  text *t = &s->body;
  text_add(t, "  v%d = %s", name, result_count > 1 ? "(" : "");
  for (int i = 0; i < result_count; i++) {
    text_add(t, "%s", i > 0 ? ", " : "");
    add_column_major(t, &results[i], batch);
  }
  text_add(t, "%s custom-call(", result_count > 1 ? ")" : "");
  for (int i = 0; i < count; i++) {
    text_add(t, "%sv%d", i > 0 ? ", " : "", operands[i].name);
  }
  text_add(t, "), custom_call_target=\"lapack_%c%s_ffi\", operand_layout_constraints={",
           letters[is_single(type) ? 2 * (int)is_complex(type) : 1 + 2 * (int)is_complex(type)], routine);
  for (int i = 0; i < count; i++) {
    text_add(t, "%s", i > 0 ? ", " : "");
    add_column_major(t, &operands[i].a, batch);
  }
  text_add(t, "}, api_version=API_VERSION_TYPED_FFI, backend_config={%s}\n", config);
  return name;
}

// |rank| more dimensions behind those of the batch.
static array behind_batch(const array *matrix, indim_type type, int32_t rank, int64_t first, int64_t second) {
  array a = *matrix;
  a.type = type;
  a.rank = matrix->rank - 2;
  if (rank > 0) {
    a.sizes[a.rank++] = first;
  }
  if (rank > 1) {
    a.sizes[a.rank++] = second;
  }
  return a;
}

static void do_potrf(scope *s) {
  array a = any_matrices(s, ANY_OF(s->g->c, lapack_types), true);
  bool lower = chance(s->g->c, 2);
  array results[2] = {a, behind_batch(&a, INDIM_S32, 0, 0, 0)};
  value x = definite(s, &a);
  x = spoilt(s, &x, lower);
  int call = lapack_call(s, "potrf", &x, 1, results, 2, lower ? "uplo = 76 : ui8" : "uplo = 85 : ui8");
  (void)take_result(s, call, 0, &results[0], near_of(a.type, 10));
  (void)take_result(s, call, 1, &results[1], exactly);
}

static void do_trsm(scope *s) {
  triangular t = any_triangular(s, ANY_OF(s->g->c, lapack_types));
  char config[120];
  snprintf(config, sizeof config, "diag = %d : ui8, side = %d : ui8, trans_x = %d : ui8, uplo = %d : ui8",
           t.unit ? 'U' : 'N', t.left ? 'L' : 'R', "NTC"[t.trans], t.lower ? 'L' : 'U');
  int call = lapack_call(s, "trsm", (value[]){t.a, t.b}, 2, &t.b.a, 1, config);
  new_value(s, &t.b.a)->within = near_of(t.b.a.type, 100);
  text_add(&s->body, "copy(v%d)\n", call);
}

static int64_t shorter_side(const array *a) {
  int64_t m = a->sizes[a->rank - 2];
  int64_t n = a->sizes[a->rank - 1];
  return m < n ? m : n;
}

static void do_getrf(scope *s) {
  array a = any_matrices(s, ANY_OF(s->g->c, lapack_types), chance(s->g->c, 2));
  bool square = a.sizes[a.rank - 1] == a.sizes[a.rank - 2];
  array results[3] = {a, behind_batch(&a, INDIM_S32, 1, shorter_side(&a), 0), behind_batch(&a, INDIM_S32, 0, 0, 0)};
  value x = dominant(s, &a, square && chance(s->g->c, 2));
  int call = lapack_call(s, "getrf", &x, 1, results, 3, "");
  (void)take_result(s, call, 0, &results[0], near_of(a.type, 100));
  (void)take_result(s, call, 1, &results[1], exactly);
  (void)take_result(s, call, 2, &results[2], exactly);
}

// And q made of it, where the matrix is not wider than high.
static void do_geqrf(scope *s) {
  array a = any_matrices(s, ANY_OF(s->g->c, lapack_types), false);
  array results[2] = {a, behind_batch(&a, a.type, 1, shorter_side(&a), 0)};
  value x = dominant(s, &a, false);
  int call = lapack_call(s, "geqrf", &x, 1, results, 2, "");
  value qr = take_result(s, call, 0, &results[0], near_of(a.type, 100));
  value taus = take_result(s, call, 1, &results[1], near_of(a.type, 10));
  if (a.sizes[a.rank - 2] >= a.sizes[a.rank - 1] && chance(s->g->c, 2)) {
    int q = lapack_call(s, is_complex(a.type) ? "ungqr" : "orgqr", (value[]){qr, taus}, 2, &a, 1, "");
    new_value(s, &a)->within = near_of(a.type, 10);
    text_add(&s->body, "copy(v%d)\n", q);
  }
}

// Only the eigenvalues: the signs of vectors are free.
static void do_syevd(scope *s) {
  array a = any_matrices(s, ANY_OF(s->g->c, lapack_types), true);
  int64_t n = a.sizes[a.rank - 1];
  array results[3] = {a, behind_batch(&a, component_of(a.type), 1, n, 0), behind_batch(&a, INDIM_S32, 0, 0, 0)};
  bool lower = chance(s->g->c, 2);
  char config[80];
  value x = counted(s, &a);
  value y = transposed(s, &x);
  y = conjugate(s, &y);
  x = *make(s, &a, "add", &x, &y, NULL, "");
  snprintf(config, sizeof config, "mode = %d : ui8, uplo = %d : ui8", chance(s->g->c, 2) ? 'V' : 'N',
           lower ? 'L' : 'U');
  int call = lapack_call(s, is_complex(a.type) ? "heevd" : "syevd", &x, 1, results, 3, config);
  (void)take_result(s, call, 1, &results[1], near_of(a.type, 100));
  (void)take_result(s, call, 2, &results[2], exactly);
}

// Only the singular values.
static void do_gesdd(scope *s) {
  array a = any_matrices(s, ANY_OF(s->g->c, lapack_types), false);
  int64_t m = a.sizes[a.rank - 2];
  int64_t n = a.sizes[a.rank - 1];
  int64_t k = shorter_side(&a);
  bool all = chance(s->g->c, 2);
  array results[5] = {a, behind_batch(&a, component_of(a.type), 1, k, 0), behind_batch(&a, a.type, 2, m, all ? m : k),
                      behind_batch(&a, a.type, 2, all ? n : k, n), behind_batch(&a, INDIM_S32, 0, 0, 0)};
  value x = counted(s, &a);
  int call = lapack_call(s, chance(s->g->c, 2) ? "gesdd" : "gesvd", &x, 1, results, 5,
                         all                  ? "mode = 65 : ui8"
                         : chance(s->g->c, 2) ? "mode = 83 : ui8"
                                              : "mode = 78 : ui8");
  (void)take_result(s, call, 1, &results[1], near_of(a.type, 100));
  (void)take_result(s, call, 4, &results[4], exactly);
}

static void do_lapack(scope *s) {
  static void (*const calls[])(scope * s) = {do_potrf, do_trsm, do_getrf, do_geqrf, do_syevd, do_gesdd};
  ANY_OF(s->g->c, calls)(s);
}

// Fourier transforms -----------------------------------------------------------------------------------------------

static void do_fft(scope *s) {
  static const int64_t lengths[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 25, 31, 32, 37, 64, 67};
  static const char *const kinds[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  choices *c = s->g->c;
  int kind = (int)choose(c, 4);
  bool is_double = chance(c, 3);
  indim_type real = is_double ? INDIM_F64 : INDIM_F32;
  indim_type wide = is_double ? INDIM_C128 : INDIM_C64;
  int32_t rank = 1 + (int32_t)(chance(c, 3) ? choose(c, 3) : 0);
  array in = {.type = kind == 2 ? real : wide, .rank = rank + (int32_t)choose(c, 3)};
  int64_t length[3] = {0};
  double total = 1;
  for (int32_t i = 0; i < in.rank; i++) {
    in.sizes[i] = i < in.rank - rank ? (int64_t)choose(c, 5) : ANY_OF(c, lengths);
  }
  while (element_count(&in) > 4 * s->g->limit) {
    in.sizes[choose(c, (uint64_t)in.rank)] = 1 + (int64_t)choose(c, 5);
  }
  for (int32_t i = 0; i < rank; i++) {
    length[i] = in.sizes[in.rank - rank + i];
    total *= (double)length[i];
  }
  array out = in;
  int64_t last = length[rank - 1];
  int64_t half = last == 0 ? 0 : last / 2 + 1;
  out.type = kind == 3 ? real : wide;
  out.sizes[out.rank - 1] = kind == 2 ? half : last;
  in.sizes[in.rank - 1] = kind == 3 ? half : last;
  value x = counted(s, &in);
  new_value(s, &out)->within = near_of(wide, kind == 1 || kind == 3 ? 1 : 1 + 0.2 * total);
  text_add(&s->body, "fft(v%d), fft_type=%s, ", x.name, kinds[kind]);
  add_list(&s->body, "fft_length={", length, rank, "}\n");
}

// Normalised batches -------------------------------------------------------------------------------------------------

// At least 1, of whole numbers.
static value one_or_more(scope *s, const array *a) {
  value v = counted(s, a);
  value size = *make(s, a, "abs", &v, NULL, NULL, "");
  value ones = number_everywhere(s, a, 1);
  return *make(s, a, "add", &size, &ones, NULL, "");
}

static void do_batch_norm(scope *s) {
  static const char *const ops[] = {"batch-norm-training", "batch-norm-inference", "batch-norm-grad"};
  static const indim_type types[] = {INDIM_F32, INDIM_F32, INDIM_F64};
  choices *c = s->g->c;
  array x = {.type = ANY_OF(c, types)};
  any_sizes(s->g, &x, 1 + (int32_t)choose(c, 4));
  int dim = (int)choose(c, (uint64_t)x.rank);
  array feature = {.type = x.type, .rank = 1, .sizes = {x.sizes[dim]}};
  int kind = (int)choose(c, 3);
  value operands[5];
  int count = kind == 0 ? 3 : 5;
  operands[0] = counted(s, &x);
  for (int i = 1; i < count; i++) {
    operands[i] = kind == 1 && i == 4   ? one_or_more(s, &feature)
                  : kind == 2 && i == 3 ? one_or_more(s, &feature)
                  : kind == 2 && i == 4 ? counted(s, &x)
                                        : counted(s, &feature);
  }
  within near = {.abs = is_single(x.type) ? 1e-3 : 1e-11, .rel = is_single(x.type) ? 1e-3 : 1e-11};
  near.abs *= kind == 2 ? 1 + 0.1 * (double)element_count(&x) : 1;
  array results[3] = {x, feature, feature};
  int tuple = s->g->names;
  if (kind == 1) {
    new_value(s, &x)->within = near;
  } else {
    s->g->names++;
    text_add(&s->body, "  v%d = (", tuple);
    for (int i = 0; i < 3; i++) {
      text_add(&s->body, i > 0 ? ", " : "");
      add_shape(&s->body, &results[i]);
    }
    text_add(&s->body, ") ");
  }
  text_add(&s->body, "%s(", ops[kind]);
  for (int i = 0; i < count; i++) {
    text_add(&s->body, "%sv%d", i > 0 ? ", " : "", operands[i].name);
  }
  text_add(&s->body, "), epsilon=%s, feature_index=%d\n", chance(c, 2) ? "0.001" : "0.25", dim);
  for (int i = 0; i < 3 && kind != 1; i++) {
    (void)take_result(s, tuple, i, &results[i], near);
  }
}

// Products in groups -------------------------------------------------------------------------------------------------

static void do_ragged_dot(scope *s) {
  static const indim_type types[] = {INDIM_F32, INDIM_F32, INDIM_F64, INDIM_S32, INDIM_BF16};
  static const indim_type counts[] = {INDIM_S32, INDIM_S32, INDIM_S64, INDIM_U32};
  choices *c = s->g->c;
  indim_type type = ANY_OF(c, types);
  int64_t g = (int64_t)choose(c, 6);
  int64_t m = (int64_t)choose(c, 20);
  int64_t k = (int64_t)choose(c, 12);
  int64_t n = chance(c, 4) ? 17 : (int64_t)choose(c, 12);
  array sizes = {.type = ANY_OF(c, counts), .rank = 1, .sizes = {g}};
  bool of_rows = chance(c, 2);
  array x = {.type = type, .rank = 2, .sizes = {m, k}};
  array y = {.type = type, .rank = 3, .sizes = {g, k, n}};
  array out = {.type = type, .rank = 2, .sizes = {m, n}};
  if (!of_rows) {
    y = (array){.type = type, .rank = 2, .sizes = {k, n}};
    out = (array){.type = type, .rank = 3, .sizes = {g, m, n}};
  }
  value left = need(s, &x);
  value right = need(s, &y);
  value groups = any_indices(s, &sizes, (of_rows ? m : k) / 2 + 2);
  left = whole(s, &left);
  right = whole(s, &right);
  new_value(s, &out);
  text_add(&s->body, "ragged-dot(v%d, v%d, v%d), lhs_contracting_dims={1}, rhs_contracting_dims={%d}, %s\n", left.name,
           right.name, groups.name, of_rows ? 1 : 0,
           of_rows ? "lhs_ragged_dims={0}, rhs_group_dims={0}" : "lhs_ragged_dims={1}");
}

#endif  // INDIM_TESTS_LINALG_STEPS_H
