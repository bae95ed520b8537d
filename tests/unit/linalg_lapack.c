// Large matrices by a LAPACK library against math/: every routine and type, all orders in which its matrices may lie, the
// thresholds, elements that are not finite, libraries that lack routines or lie; and batches cut into pieces.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/ctx.h"
#include "linalg/service.h"
#include "linalg/subnormal.h"
#include "run/library.h"
#include "run/matmul.h"
#include "test.h"

enum { SIDE = 14, RIGHT = 9, BATCH = 2 };

static indim_ctx *cx;
static indim_lapack library;

// Looks the library up once; false, with a line that says so, where there is none.
static bool has_library(void) {
  static indim_blas blas;
  if (cx == NULL) {
    CHECK(indim_ctx_create(NULL, &cx) == INDIM_OK);
    indim_blas_open(&blas);
    if (blas.library == NULL) {
      printf("no OpenBLAS: not tested\n");
    } else {
      indim_lapack_find(indim_library_function, blas.library, &library);
    }
  }
  return library.routines[INDIM_LINALG_POTRF][0] != NULL;
}

// Calls --------------------------------------------------------------------------------------------------------------

static indim_type type_of(indim_type type, char kind) {
  bool is_complex = indim_type_is_complex(type);
  return kind == 'I'                  ? INDIM_S32
         : kind == 'R' && is_complex  ? indim_type_component_of(type)
         : kind == 'C' && !is_complex ? indim_type_complex_of(type)
                                      : type;
}

// The arrays that a row of linalg.def describes, of sizes that are known; bit i of |columns| is the order of array i.
static int32_t describe(const indim_linalg_call *call, const char *text, unsigned columns, indim_linalg_array *out) {
  int32_t count = 0;
  for (const char *at = text; *at != '\0'; at += strspn(at, " ")) {
    const char *kind = strchr(at, ':') + 1;
    const char *end = strchr(kind, ']') + 1;
    bool is_optional = kind[-2] == '?';
    indim_linalg_array a = {.type = type_of(call->type, *kind), .is_batched = true, .sizes = {1, 1}};
    for (const char *letter = kind + 1; letter < end; letter++) {
      if (*letter >= 'a' && *letter <= 'z') {
        a.sizes[a.rank++] = indim_linalg_size(call, *letter);
      }
    }
    a.by_columns = (columns >> count & 1) != 0;
    count += is_optional ? 0 : 1;
    if (!is_optional) {
      out[count - 1] = a;
    }
    at = end;
  }
  return count;
}

static void set_attr(indim_linalg_call *call, const char *name, int64_t value) {
  const char *at = strstr(call->target->attributes, name);
  int32_t place = 0;
  for (const char *c = call->target->attributes; at != NULL && c < at; c++) {
    place += *c == ' ';
  }
  if (at != NULL) {
    call->attrs[place] = value;
  }
}

// Attributes that ask for all there is; odd |variant|s have the other ones where there is a choice.
static void set_attrs(indim_linalg_call *call, int variant) {
  bool odd = variant % 2 != 0;
  bool is_svd = call->target->id == INDIM_LINALG_GESDD || call->target->id == INDIM_LINALG_GESVD;
  set_attr(call, "uplo", odd ? 'U' : 'L');
  set_attr(call, "lower", !odd);
  set_attr(call, "side", odd ? 'R' : 'L');
  set_attr(call, "trans_x", odd ? 'C' : 'N');
  set_attr(call, "diag", 'N');
  set_attr(call, "left", !odd);
  set_attr(call, "transpose", odd);
  set_attr(call, "mode", is_svd ? (odd ? 'A' : 'S') : 'V');
  set_attr(call, "sort", 'N');
  set_attr(call, "compute_left", 'V');
  set_attr(call, "compute_right", 'V');
  set_attr(call, "low", 1);
  set_attr(call, "high", call->sizes['n' - 'a']);
}

static void set_sizes(indim_linalg_call *call, int variant) {
  bool odd = variant % 2 != 0;
  bool is_square = strchr(call->target->operands, 'm') == NULL;
  bool is_svd = call->target->id == INDIM_LINALG_GESDD || call->target->id == INDIM_LINALG_GESVD;
  int64_t m = SIDE;
  int64_t n = is_square ? SIDE : RIGHT;
  if (odd && strcmp(call->target->routine, "orgqr") != 0 && strcmp(call->target->routine, "ungqr") != 0 && !is_square) {
    m = RIGHT;
    n = SIDE;
  }
  const struct {
    char letter;
    int64_t size;
  } sizes[] = {{'m', m}, {'n', n}, {'s', SIDE}, {'c', RIGHT}, {'t', RIGHT}, {'r', RIGHT}, {'p', 0}, {'q', 0}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    call->sizes[sizes[i].letter - 'a'] = sizes[i].size;
  }
  call->sizes['p' - 'a'] = is_svd && odd ? m : RIGHT;
  call->sizes['q' - 'a'] = is_svd && odd ? n : RIGHT;
}

static indim_linalg_call make(indim_linalg_id id, indim_type type, int variant, unsigned columns) {
  indim_linalg_call call = {.target = indim_linalg_target_of(id), .type = type, .batch = BATCH};
  set_sizes(&call, variant);
  set_attrs(&call, variant);
  call.result_count = describe(&call, call.target->results, columns, call.results);
  call.operand_count = describe(&call, call.target->operands, columns >> call.result_count, call.operands);
  return call;
}

// Arrays -------------------------------------------------------------------------------------------------------------

static int64_t count_of(const indim_linalg_array *a) { return a->sizes[0] * a->sizes[1]; }
static bool is_complex(const indim_linalg_array *a) { return indim_type_is_complex(a->type); }

// Part |part| of element i, j of matrix |number|.
static int64_t place(const indim_linalg_array *a, int64_t number, int64_t i, int64_t j, int64_t part) {
  int64_t at = number * count_of(a) + (a->by_columns ? i + j * a->sizes[0] : i * a->sizes[1] + j);
  return is_complex(a) ? 2 * at + part : at;
}

static bool has_f32(const indim_linalg_array *a) { return a->type == INDIM_F32 || a->type == INDIM_C64; }

static double get(const indim_linalg_array *a, const void *array, int64_t at) {
  return a->type == INDIM_S32 ? (double)((const int32_t *)array)[at]
         : has_f32(a)         ? (double)((const float *)array)[at]
                              : ((const double *)array)[at];
}

static void set(const indim_linalg_array *a, void *array, int64_t at, double x) {
  if (a->type == INDIM_S32) {
    ((int32_t *)array)[at] = (int32_t)x;
  } else if (has_f32(a)) {
    ((float *)array)[at] = (float)x;
  } else {
    ((double *)array)[at] = x;
  }
}

static double number(int64_t i) { return (double)((i * 2654435761 >> 7) % 1000) / 1000 - 0.5; }

// Hermitian and positive in its square part, with eigenvalues apart; vectors of taus below 1.
static double element(int64_t which, int64_t i, int64_t j, int64_t part) {
  int64_t low = i < j ? i : j;
  int64_t high = i < j ? j : i;
  double value = number(1000 * which + 50 * low + high + 7777 * part) / 4;
  if (part == 1) {
    return i == j ? 0 : i < j ? value : -value;
  }
  return i == j ? value + 2 + (double)i / 2 : value;
}

typedef struct buffers {
  void *arrays[2 * INDIM_LINALG_MOST_ARRAYS];
  void *pages[2 * INDIM_LINALG_MOST_ARRAYS];
} buffers;

// Room for an array, and a page behind it that nobody may read.
enum { PAGE = 1 << 16, ROOM = (BATCH * SIDE * SIDE * 16 / PAGE + 1) * PAGE };

// An array that ends where its pages do: libraries that read behind it are found.
static void *allocate(const indim_linalg_array *a, void **out_pages) {
  size_t size = (size_t)(BATCH * count_of(a)) * (size_t)indim_type_bytes(a->type);
  void *pages = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect((char *)pages + ROOM, PAGE, PROT_NONE) != 0 || size > ROOM) {
    abort();
  }
  *out_pages = pages;
  return memset((char *)pages + ROOM - size, 0x5a, size);
}

static buffers new_buffers(const indim_linalg_call *call) {
  buffers b = {0};
  for (int32_t k = 0; k < call->result_count; k++) {
    b.arrays[k] = allocate(&call->results[k], &b.pages[k]);
  }
  for (int32_t k = 0; k < call->operand_count; k++) {
    const indim_linalg_array *a = &call->operands[k];
    void *array = b.arrays[call->result_count + k] = allocate(a, &b.pages[call->result_count + k]);
    for (int64_t which = 0; which < BATCH; which++) {
      for (int64_t i = 0; i < a->sizes[0]; i++) {
        for (int64_t j = 0; j < a->sizes[1]; j++) {
          for (int64_t part = 0; part <= is_complex(a); part++) {
            set(a, array, place(a, which, i, j, part), a->type == INDIM_S32 ? 0 : element(which + 3 * k, i, j, part));
          }
        }
      }
    }
  }
  return b;
}

static void free_buffers(buffers *b) {
  for (size_t i = 0; i < sizeof b->arrays / sizeof b->arrays[0]; i++) {
    if (b->pages[i] != NULL) {
      munmap(b->pages[i], ROOM + PAGE);
    }
  }
}

// By the library. False if it does not take the call, or not all its matrices.
static bool run_library(const indim_linalg_call *call, const indim_lapack *lapack, buffers *b) {
  indim_lapack_job *job = NULL;
  bool all = true;
  CHECK(indim_lapack_begin(cx, lapack, call, &job) == INDIM_OK);
  for (int64_t i = 0; i < call->batch && job != NULL; i++) {
    bool is_done = false;
    CHECK(indim_lapack_run(job, i, b->arrays, &is_done) == INDIM_OK);
    all &= is_done;
  }
  all &= job != NULL;
  indim_lapack_end(job);
  return all;
}

// Comparison ---------------------------------------------------------------------------------------------------------

// What of a result has one answer: 's' as it is, 'a' but for signs and phases, '-' nothing.
static char uniqueness(indim_linalg_id id, int32_t result) {
  switch ((int)id) {
  case INDIM_LINALG_SYEVD:
  case INDIM_LINALG_HEEVD:
    return result == 0 ? 'a' : 's';
  case INDIM_LINALG_GESDD:
  case INDIM_LINALG_GESVD:
    return result == 0 ? '-' : result == 1 || result == 4 ? 's' : 'a';
  case INDIM_LINALG_GEEV:
  case INDIM_LINALG_GEEV_COMPLEX:
  case INDIM_LINALG_GEES:
  case INDIM_LINALG_GEES_COMPLEX:
    return '-';  // their order is free
  default:
    return 's';
  }
}

static double magnitude(const indim_linalg_array *a, const void *array, int64_t which, int64_t i, int64_t j) {
  double re = get(a, array, place(a, which, i, j, 0));
  return is_complex(a) ? hypot(re, get(a, array, place(a, which, i, j, 1))) : fabs(re);
}

// The largest difference of a result that lies in two ways, of its largest element. Of the vectors that complete a basis only the others are
// unique.
static double distance(const indim_linalg_array *a, const void *x, const indim_linalg_array *b, const void *y, char how,
                       int64_t rows, int64_t columns) {
  double most = 0;
  double largest = 1;
  for (int64_t which = 0; which < BATCH; which++) {
    for (int64_t i = 0; i < rows; i++) {
      for (int64_t j = 0; j < columns; j++) {
        for (int64_t part = 0; part <= is_complex(a); part++) {
          double p = how == 'a' ? magnitude(a, x, which, i, j) : get(a, x, place(a, which, i, j, part));
          double q = how == 'a' ? magnitude(b, y, which, i, j) : get(b, y, place(b, which, i, j, part));
          most = fabs(p - q) > most || isnan(p - q) ? fabs(p - q) : most;
          largest = fabs(q) > largest ? fabs(q) : largest;
        }
      }
    }
  }
  return most / largest;
}

static void compare(const indim_linalg_call *x, const buffers *of_x, const indim_linalg_call *y, const buffers *of_y,
                    bool same_library) {
  double limit = x->type == INDIM_F32 || x->type == INDIM_C64 ? 2e-4 : 1e-11;
  int64_t k = indim_linalg_size(x, 'k');
  for (int32_t i = 0; i < x->result_count; i++) {
    const indim_linalg_array *a = &x->results[i];
    char how = uniqueness(x->target->id, i);
    bool is_svd = x->target->id == INDIM_LINALG_GESDD || x->target->id == INDIM_LINALG_GESVD;
    how = same_library && !is_svd ? 's' : how;
    int64_t rows = is_svd && i == 3 ? k : a->sizes[0];
    int64_t columns = is_svd && i == 2 ? k : a->sizes[1];
    double far = how == '-' ? 0 : distance(a, of_x->arrays[i], &y->results[i], of_y->arrays[i], how, rows, columns);
    if (!(far <= limit)) {
      test_fail(__FILE__, __LINE__);
      printf("%s of %s, orders %s: result %d is %g away, %g allowed\n", x->target->routine, indim_type_text(x->type),
             same_library ? "mixed" : "alike", (int)i, far, limit);
    }
  }
}

static void check_routine(indim_linalg_id id, indim_type type, int variant) {
  indim_linalg_call plain = make(id, type, variant, ~0u);
  buffers by_math = new_buffers(&plain);
  buffers by_columns = new_buffers(&plain);
  CHECK(indim_linalg_run_call(cx, &plain, by_math.arrays) == INDIM_OK);
  CHECK(run_library(&plain, &library, &by_columns));
  compare(&plain, &by_columns, &plain, &by_math, false);
  unsigned count = (unsigned)(plain.result_count + plain.operand_count);
  for (unsigned columns = 0; columns < 1u << count; columns++) {
    indim_linalg_call mixed = make(id, type, variant, columns);
    buffers b = new_buffers(&mixed);
    CHECK(run_library(&mixed, &library, &b));
    compare(&mixed, &b, &plain, &by_columns, true);
    free_buffers(&b);
  }
  free_buffers(&by_math);
  free_buffers(&by_columns);
}

TEST(every_routine_as_math_and_in_all_orders) {
  static const indim_type types[] = {INDIM_F32, INDIM_F64, INDIM_C64, INDIM_C128};
  for (int id = 0; id < INDIM_LINALG_COUNT && has_library(); id++) {
    const char *letters = id == INDIM_LINALG_CHOLESKY ? "sdcz" : indim_linalg_target_of((indim_linalg_id)id)->types;
    for (int k = 0; k < 4; k++) {
      for (int variant = 0; variant < 2 && strchr(letters, "sdcz"[k]) != NULL; variant++) {
        check_routine((indim_linalg_id)id, types[k], variant);
      }
    }
  }
}

// Limits -------------------------------------------------------------------------------------------------------------

static bool wants(indim_linalg_id id, indim_type type, int64_t m, int64_t n) {
  indim_linalg_call call = make(id, type, 0, 0);
  call.sizes['m' - 'a'] = call.sizes['s' - 'a'] = m;
  call.sizes['n' - 'a'] = call.sizes['r' - 'a'] = n;
  return indim_lapack_wants(&call);
}

TEST(thresholds) {
  CHECK(!wants(INDIM_LINALG_POTRF, INDIM_F32, 0, 7) && wants(INDIM_LINALG_POTRF, INDIM_F32, 0, 8));
  CHECK(!wants(INDIM_LINALG_CHOLESKY, INDIM_F64, 0, 7) && wants(INDIM_LINALG_CHOLESKY, INDIM_F64, 0, 8));
  CHECK(!wants(INDIM_LINALG_TRSM, INDIM_C64, 8, 1) && wants(INDIM_LINALG_TRSM, INDIM_C64, 8, 2));
  CHECK(!wants(INDIM_LINALG_GETRF, INDIM_C128, 511, 1) && wants(INDIM_LINALG_GETRF, INDIM_C128, 512, 1));
  CHECK(!wants(INDIM_LINALG_SYEVD, INDIM_F32, 0, 9) && wants(INDIM_LINALG_SYEVD, INDIM_F32, 0, 10));
  CHECK(!wants(INDIM_LINALG_GETRF, INDIM_F32, 1000, 0) && !wants(INDIM_LINALG_POTRF, INDIM_F32, 0, 0));
  CHECK(wants(INDIM_LINALG_SYEVD, INDIM_F32, 0, 16000) && !wants(INDIM_LINALG_SYEVD, INDIM_F32, 0, 16001));
  CHECK(!wants(INDIM_LINALG_GESDD, INDIM_F32, 16001, 2) && !wants(INDIM_LINALG_GEQRF, INDIM_F32, INT32_MAX, 2));
  CHECK(!wants(INDIM_LINALG_CHOLESKY, INDIM_F16, 0, 100) && !wants(INDIM_LINALG_TRSM, INDIM_BF16, 100, 100));
}

static bool takes_not_finite(indim_linalg_id id, double value) {
  indim_linalg_call call = make(id, INDIM_F64, 0, ~0u);
  buffers b = new_buffers(&call);
  set(&call.operands[0], b.arrays[call.result_count], 3, value);
  set(&call.operands[0], b.arrays[call.result_count], count_of(&call.operands[0]) + 3, value);
  bool all = run_library(&call, &library, &b);
  bool untouched = ((unsigned char *)b.arrays[0])[1] == 0x5a;
  CHECK(all != untouched);
  free_buffers(&b);
  return all;
}

TEST(not_finite) {
  for (int i = 0; i < 3 && has_library(); i++) {
    double value = (double[]){(double)NAN, (double)INFINITY, -(double)INFINITY}[i];
    CHECK(takes_not_finite(INDIM_LINALG_POTRF, value) && takes_not_finite(INDIM_LINALG_GETRF, value) &&
          takes_not_finite(INDIM_LINALG_GEQRF, value));
    CHECK(!takes_not_finite(INDIM_LINALG_SYEVD, value) && !takes_not_finite(INDIM_LINALG_GESDD, value) &&
          !takes_not_finite(INDIM_LINALG_GESVD, value) && !takes_not_finite(INDIM_LINALG_GEEV, value) &&
          !takes_not_finite(INDIM_LINALG_GEES, value) && !takes_not_finite(INDIM_LINALG_GEQP3, value));
  }
}

// A matrix that falls off from its diagonal, down to subnormal numbers, as a kernel of distances.
static void set_falling(const indim_linalg_call *call, buffers *b) {
  const indim_linalg_array *a = &call->operands[0];
  for (int64_t which = 0; which < BATCH; which++) {
    for (int64_t i = 0; i < a->sizes[0]; i++) {
      for (int64_t j = 0; j < a->sizes[1]; j++) {
        double apart = 1.3 * (double)(i - j);
        set(a, b->arrays[call->result_count], place(a, which, i, j, 0),
            exp(-apart * apart / 2) + (i == j) + 0.1 * (i == j) * (double)i);
      }
    }
  }
}

static bool flushes(const indim_linalg_call *call, const buffers *b) {
  const void *operands[INDIM_LINALG_MOST_ARRAYS];
  for (int32_t i = 0; i < call->operand_count; i++) {
    operands[i] = b->arrays[call->result_count + i];
  }
  return indim_linalg_may_flush(call, operands);
}

// Whether it does with element i, j of the first matrix set to |value|.
static bool flushes_with(indim_linalg_id id, int64_t i, int64_t j, double value) {
  indim_linalg_call call = make(id, INDIM_F32, 0, 0);
  buffers b = new_buffers(&call);
  set_falling(&call, &b);
  set(&call.operands[0], b.arrays[call.result_count], place(&call.operands[0], 0, i, j, 0), value);
  bool does = flushes(&call, &b);
  free_buffers(&b);
  return does;
}

TEST(subnormal_numbers) {
  static const indim_linalg_id ids[] = {INDIM_LINALG_POTRF, INDIM_LINALG_CHOLESKY, INDIM_LINALG_GETRF,
                                        INDIM_LINALG_GEQRF, INDIM_LINALG_SYEVD,    INDIM_LINALG_GESDD,
                                        INDIM_LINALG_TRSM,  INDIM_LINALG_GEEV,     INDIM_LINALG_ORGQR};
  for (size_t i = 0; i < sizeof ids / sizeof *ids && has_library(); i++) {
    for (unsigned columns = 0; columns < 4; columns++) {
      indim_linalg_call call = make(ids[i], INDIM_F32, (int)columns, columns % 2 != 0 ? ~0u : 0);
      buffers by_library = new_buffers(&call);
      buffers by_math = new_buffers(&call);
      set_falling(&call, &by_library);
      set_falling(&call, &by_math);
      CHECK_MSG(flushes(&call, &by_library), "%s", call.target->routine);
      CHECK(run_library(&call, &library, &by_library));
      CHECK(indim_linalg_run_call(cx, &call, by_math.arrays) == INDIM_OK);
      compare(&call, &by_library, &call, &by_math, false);
      free_buffers(&by_library);
      free_buffers(&by_math);
    }
  }
  volatile float small = 0x1p-130F;
  CHECK(small * 0.5F > 0);  // and the thread computes with them again
}

// Where they matter: beside nothing larger, or times something large.
TEST(subnormal_numbers_that_count) {
  indim_linalg_call call = make(INDIM_LINALG_POTRF, INDIM_F32, 0, 0);
  buffers b = new_buffers(&call);
  CHECK(!flushes(&call, &b));  // there are none
  free_buffers(&b);
  CHECK(flushes_with(INDIM_LINALG_POTRF, 3, 3, 0x1p-50) && !flushes_with(INDIM_LINALG_POTRF, 3, 3, 0x1p-70));
  CHECK(flushes_with(INDIM_LINALG_TRSM, 3, 3, 0x1p-50) && !flushes_with(INDIM_LINALG_TRSM, 3, 3, 0x1p-70));
  CHECK(flushes_with(INDIM_LINALG_SYEVD, 3, 3, 0x1p-70));
  CHECK(flushes_with(INDIM_LINALG_GETRF, 3, 3, 0x1p39) && !flushes_with(INDIM_LINALG_GETRF, 3, 3, 0x1p41));
  for (int across = 0; across < 2; across++) {  // a row, or a column, of small numbers alone
    indim_linalg_call lu = make(INDIM_LINALG_GETRF, INDIM_F32, 0, 0);
    b = new_buffers(&lu);
    set_falling(&lu, &b);
    for (int64_t i = 0; i < lu.operands[0].sizes[across]; i++) {
      int64_t at = place(&lu.operands[0], 0, across ? 2 : i, across ? i : 2, 0);
      CHECK(i > 0 || flushes(&lu, &b));
      set(&lu.operands[0], b.arrays[lu.result_count], at, 0x1p-70);
    }
    CHECK(!flushes(&lu, &b));
    free_buffers(&b);
  }
}

// The op's whole result, of the second matrix alone, whose last pivot is |value|.
static void check_no_factor(indim_type type, int variant, unsigned columns, double value) {
  indim_linalg_call call = make(INDIM_LINALG_CHOLESKY, type, variant, columns);
  buffers b = new_buffers(&call);
  const indim_linalg_array *a = &call.results[0];
  set(&call.operands[0], b.arrays[1], place(&call.operands[0], 1, SIDE - 1, SIDE - 1, 0), value);
  CHECK(run_library(&call, &library, &b));
  int64_t numbers = 0;
  for (int64_t i = 0; i < 2 * count_of(a) * (is_complex(a) ? 2 : 1); i++) {
    numbers += isnan(get(a, b.arrays[0], i)) ? 0 : 1;
  }
  CHECK_EQ_INT(numbers, count_of(a) * (is_complex(a) ? 2 : 1));
  CHECK(get(a, b.arrays[0], place(a, 0, 1, 1, 0)) > 0);
  free_buffers(&b);
}

TEST(cholesky_without_a_factor) {
  for (unsigned i = 0; i < 32 && has_library(); i++) {
    indim_type type = (const indim_type[]){INDIM_F32, INDIM_F64, INDIM_C64, INDIM_C128}[i % 4];
    check_no_factor(type, i / 4 % 2, i / 8, -1);
    check_no_factor(type, i / 4 % 2, i / 8, (double)NAN);
  }
}

// Libraries that are none ------------------------------------------------------------------------------------------

static void refusing_potrf(const char *uplo, const int32_t *n, void *a, const int32_t *lda, int32_t *info,
                           size_t size) {
  (void)uplo, (void)n, (void)a, (void)lda, (void)size;
  *info = -4;
}

static void strange_geqrf(const int32_t *m, const int32_t *n, void *a, const int32_t *lda, void *taus, void *work,
                          const int32_t *work_count, int32_t *info) {
  (void)m, (void)n, (void)a, (void)lda, (void)taus, (void)work_count;
  ((double *)work)[0] = -7;
  *info = 0;
}

static indim_lapack_symbol *find_false(void *user, const char *name) {
  (void)user;
  return strcmp(name, "dpotrf_") == 0   ? (indim_lapack_symbol *)refusing_potrf
         : strcmp(name, "dgeqrf_") == 0 ? (indim_lapack_symbol *)strange_geqrf
                                        : NULL;
}

TEST(false_libraries) {
  CHECK(cx != NULL || indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_lapack wrong;
  indim_lapack_job *job = NULL;
  bool is_done = false;
  indim_lapack_find(find_false, NULL, &wrong);
  indim_linalg_call call = make(INDIM_LINALG_POTRF, INDIM_F64, 0, 0);
  buffers b = new_buffers(&call);
  CHECK(!run_library(&call, NULL, &b));
  CHECK(indim_lapack_begin(cx, &wrong, &call, &job) == INDIM_OK && job != NULL);
  CHECK(indim_lapack_run(job, 0, b.arrays, &is_done) == INDIM_INTERNAL);
  indim_lapack_end(job);
  indim_host_lapack numbers;
  indim_linalg_to_host(&call, &numbers);
  numbers.batch = 1;  // of several each would be a lane's
  CHECK(indim_linalg_serve(&(indim_host_lapack_run){.library = &wrong}, &numbers, b.arrays) == INDIM_HOST_FAILED);
  call.type = INDIM_F32;
  CHECK(!run_library(&call, &wrong, &b));
  call = make(INDIM_LINALG_GEQRF, INDIM_F64, 0, 0);
  CHECK(indim_lapack_begin(cx, &wrong, &call, &job) == INDIM_INTERNAL && job == NULL);
  indim_ctx_diagnostics_clear(cx);
  free_buffers(&b);
}

TEST(no_memory) {
  if (!has_library()) {
    return;
  }
  indim_ctx *small = NULL;
  indim_lapack_job *job = NULL;
  indim_linalg_call call = make(INDIM_LINALG_GESDD, INDIM_F64, 0, 0);
  CHECK(indim_ctx_create(NULL, &small) == INDIM_OK);
  for (uint64_t limit = 1; limit < 4000; limit += 500) {
    indim_ctx_set_memory_limit(small, limit);
    CHECK(indim_lapack_begin(small, &library, &call, &job) != INDIM_OK && job == NULL);
    CHECK(indim_ctx_memory_in_use(small) == 0);
  }
  indim_ctx_destroy(small);
}

// Pieces -------------------------------------------------------------------------------------------------------------

static int pieces;

// The last ones first, two of them merged, as one thread alone may do.
static void backwards(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain) {
  (void)user;
  int64_t last = (count - 1) / grain * grain;
  for (int64_t begin = last; begin >= 0; begin -= grain, pieces++) {
    bool merges = begin == grain;
    piece(frame, merges ? 0 : begin, begin + grain < count ? begin + grain : count);
    begin -= merges ? grain : 0;
  }
}

static void check_pieces(int64_t batch) {
  bool has = has_library();
  indim_linalg_call call = make(INDIM_LINALG_CHOLESKY, INDIM_F64, 0, 0);
  call.batch = batch;
  int64_t count = batch * count_of(&call.results[0]);
  double *x = malloc((size_t)count * 3 * sizeof *x);
  if (x == NULL) {
    abort();
  }
  for (int64_t i = 0; i < count; i++) {
    int64_t at = i % (SIDE * SIDE);
    x[i] = element(i / (SIDE * SIDE), at / SIDE, at % SIDE, 0);
  }
  indim_host_lapack numbers;
  indim_linalg_to_host(&call, &numbers);
  volatile int32_t stop = 0;
  indim_host_lapack_run run = {.stop = &stop, .library = has ? &library : NULL};
  void *const once[] = {x + count, x};
  void *const again[] = {x + 2 * count, x};
  CHECK(indim_linalg_serve(&run, &numbers, once) == INDIM_HOST_OK);
  run.parallel = backwards;
  pieces = 0;
  CHECK(indim_linalg_serve(&run, &numbers, again) == INDIM_HOST_OK);
  CHECK(pieces > 2 && pieces <= 64);
  CHECK(memcmp(once[0], again[0], (size_t)count * sizeof *x) == 0);
  stop = 1;
  CHECK(indim_linalg_serve(&run, &numbers, again) == INDIM_HOST_STOPPED);
  run.parallel = NULL;
  CHECK(indim_linalg_serve(&run, &numbers, again) == INDIM_HOST_STOPPED);
  free(x);
}

TEST(pieces_and_stopping) {
  enum { MANY = 380, LANES = 16 };
  for (int64_t batch = MANY; batch < MANY + LANES; batch++) {  // the last piece has any number of matrices
    check_pieces(batch);
  }
}

#define CASES(X)                             \
  X(every_routine_as_math_and_in_all_orders) \
  X(thresholds)                              \
  X(not_finite)                              \
  X(subnormal_numbers)                       \
  X(subnormal_numbers_that_count)            \
  X(cholesky_without_a_factor)               \
  X(false_libraries)                         \
  X(no_memory)                               \
  X(pieces_and_stopping)

TEST_MAIN(CASES)
