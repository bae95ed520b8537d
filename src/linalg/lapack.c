// Which matrices a LAPACK library computes, and how they come to lie as it wants them: column by column. What lies row by
// row is the transpose of that, which some routines can be told; for the others it is turned in scratch.
#include "linalg/lapack.h"

#include <math.h>
#include <string.h>

#include "base/ctx.h"
#include "base/float_mode.h"
#include "base/size.h"
#include "linalg/lapack_call.h"
#include "linalg/subnormal.h"

enum { LINEAR = 1 << 24, QUADRATIC = 16000 };  // see lapack.def

typedef struct row {
  const char *symbol;
  indim_lapack_call_fn *call;
  const char *work;
  double least;
  int64_t most;
  const char *begins;
  bool asks;
  bool is_flippable;
  bool wants_finite;
} row;

static const row rows[INDIM_LINALG_COUNT] = {
#define INDIM_LAPACK(enumerator, symbol, calls, work, least, most, begins, asks, is_flippable, wants_finite) \
  [INDIM_LINALG_##                                                                                           \
      enumerator] = {symbol, indim_lapack_call_##calls, work, least, most, begins, asks, is_flippable, wants_finite},
#include "linalg/lapack.def"
};

// The library --------------------------------------------------------------------------------------------------------

static const char letters[] = "sdcz";

// The place in |letters|; -1 for types that LAPACK does not have.
static int letter_of(indim_type type) {
  return type == INDIM_F32 ? 0 : type == INDIM_F64 ? 1 : type == INDIM_C64 ? 2 : type == INDIM_C128 ? 3 : -1;
}

void indim_lapack_find(indim_lapack_lookup *lookup, void *library, indim_lapack *out) {
  for (int i = 0; i < INDIM_LINALG_COUNT; i++) {
    for (int k = 0; k < 4; k++) {
      if (rows[i].symbol == NULL) {  // none of LAPACK's
        out->routines[i][k] = NULL;
        continue;
      }
      const char name[] = {letters[k], '\0'};
      char symbol[16] = "";
      strcat(strcat(strcat(symbol, name), rows[i].symbol), "_");
      out->routines[i][k] = lookup(library, symbol);
    }
  }
}

bool indim_lapack_wants(const indim_linalg_call *call) {
  const row *r = &rows[call->target->id];
  double work = 1;
  if (r->symbol == NULL) {
    return false;
  }
  for (const char *letter = r->work; *letter != '\0'; letter++) {
    work *= (double)indim_linalg_size(call, *letter);
  }
  for (size_t i = 0; i < sizeof call->sizes / sizeof call->sizes[0]; i++) {
    if (call->sizes[i] > r->most) {
      return false;
    }
  }
  return letter_of(call->type) >= 0 && work >= r->least;
}

// Order --------------------------------------------------------------------------------------------------------------

enum { TILE = 8 };

// to[x][y] = from[y][x] for a tile; the lines of |from| and |to| are so many bytes apart. With a whole tile's constants
// gcc unrolls both loops.
static inline void turn_tile(size_t bytes, int64_t height, int64_t width, size_t from_line, size_t to_line,
                             const char *from, char *to) {
  for (int64_t x = 0; x < width; x++) {
    for (int64_t y = 0; y < height; y++) {
      memcpy(to + (size_t)x * to_line + (size_t)y * bytes, from + (size_t)y * from_line + (size_t)x * bytes, bytes);
    }
  }
}

static inline void turn_elements(size_t bytes, int64_t rows_of, int64_t columns, const char *from, char *to) {
  size_t from_line = (size_t)columns * bytes;
  size_t to_line = (size_t)rows_of * bytes;
  for (int64_t j = 0; j < columns; j += TILE) {
    for (int64_t i = 0; i < rows_of; i += TILE) {
      const char *source = from + (size_t)i * from_line + (size_t)j * bytes;
      char *target = to + (size_t)j * to_line + (size_t)i * bytes;
      int64_t height = rows_of - i;
      int64_t width = columns - j;
      if (height >= TILE && width >= TILE) {
        turn_tile(bytes, TILE, TILE, from_line, to_line, source, target);
      } else {
        turn_tile(bytes, height < TILE ? height : TILE, width < TILE ? width : TILE, from_line, to_line, source,
                  target);
      }
    }
  }
}

// The transpose of |rows_of| rows that lie one after another.
static void turn(size_t bytes, int64_t rows_of, int64_t columns, const void *from, void *to) {
  if (bytes == 4) {
    turn_elements(4, rows_of, columns, from, to);
  } else if (bytes == 8) {
    turn_elements(8, rows_of, columns, from, to);
  } else {
    turn_elements(16, rows_of, columns, from, to);
  }
}

static int64_t count_of(const indim_linalg_array *a) { return a->sizes[0] * a->sizes[1]; }
static size_t type_bytes(indim_type type) { return (size_t)indim_type_bytes(type); }
static size_t bytes_of(const indim_linalg_array *a) { return (size_t)count_of(a) * type_bytes(a->type); }
static bool is_vector(const indim_linalg_array *a) { return a->sizes[0] <= 1 || a->sizes[1] <= 1; }

// The matrix |from| in the other order, or as it is.
static void move(const indim_linalg_array *a, bool from_columns, bool to_columns, const void *from, void *to) {
  if (from_columns == to_columns || is_vector(a)) {
    memcpy(to, from, bytes_of(a));
  } else {
    turn(type_bytes(a->type), a->sizes[from_columns ? 1 : 0], a->sizes[from_columns ? 0 : 1], from, to);
  }
}

// Scratch ------------------------------------------------------------------------------------------------------------

struct indim_lapack_job {
  indim_ctx *cx;
  const row *row;
  indim_lapack_args args;
  // Matrices in the order that the routine wants, where they do not lie so; NULL: they do.
  void *results[INDIM_LINALG_MOST_ARRAYS];
  void *operands[INDIM_LINALG_MOST_ARRAYS];
  void *block;  // all scratch
  size_t block_bytes;
};

// Parts of the block: where their addresses go, and their lengths.
typedef struct parts {
  int count;
  void **to[2 * INDIM_LINALG_MOST_ARRAYS + 6];
  size_t bytes[2 * INDIM_LINALG_MOST_ARRAYS + 6];
} parts;

static void want(parts *p, void **to, size_t bytes) {
  p->to[p->count] = to;
  p->bytes[p->count++] = bytes;
}

// OpenBLAS's products of a complex matrix and a vector for AVX2 (zgemv_n, zhemv_U; 0.3.21) read an element beyond the vector, which may
// be a row or lie at the end of memory: results are made in scratch, which has room for that.
static bool is_overread(const indim_linalg_array *result) { return indim_type_is_complex(result->type); }

static bool lies_right(const indim_lapack_job *job, const indim_linalg_array *a) {
  return is_vector(a) || a->by_columns != job->args.is_flipped;
}

// Whether a result is computed from the operand in place.
static bool is_begun(const row *r, int32_t operand) { return strchr(r->begins, '0' + operand) != NULL; }

static void want_arrays(indim_lapack_job *job, parts *p) {
  const indim_linalg_call *call = job->args.call;
  for (int32_t i = 0; i < call->result_count; i++) {
    if (!lies_right(job, &call->results[i]) || is_overread(&call->results[i])) {
      want(p, &job->results[i], bytes_of(&call->results[i]));
    }
  }
  for (int32_t i = 0; i < call->operand_count; i++) {
    if (!lies_right(job, &call->operands[i]) && !is_begun(job->row, i)) {
      want(p, &job->operands[i], bytes_of(&call->operands[i]));
    }
  }
}

// Asks the routine for the lengths of its scratch. One told as f32 may have been rounded down.
static indim_status ask(indim_lapack_job *job, indim_lapack_work *counts) {
  double element[2] = {0};
  double real = 0;
  int32_t number = 0;
  indim_lapack_args asking = job->args;
  indim_type part = indim_lapack_part(asking.call->type);
  asking.work = (indim_lapack_work){element, &real, &number, -1, -1, -1};
  int32_t info = job->row->call(&asking);
  double more = part == INDIM_F32 ? 1 + 0x1p-22 : 1;
  double elements = ceil(indim_lapack_get(part, element, 0) * more);
  double reals = ceil(indim_lapack_get(part, &real, 0) * more);
  if (info != 0 || !(elements >= 0 && elements <= INT32_MAX) || !(reals >= 0 && reals <= INT32_MAX) || number < 0) {
    return indim_fail(job->cx, INDIM_INTERNAL, "LAPACK's %s does not tell its scratch: info %d, %g elements",
                      job->row->symbol, (int)info, elements);
  }
  counts->element_count = (int32_t)elements;
  counts->real_count = (int32_t)reals;
  counts->int_count = number;
  return INDIM_OK;
}

static indim_status want_work(indim_lapack_job *job, parts *p) {
  indim_lapack_args *a = &job->args;
  size_t part = type_bytes(indim_lapack_part(a->call->type));
  int64_t reals = 0;
  int64_t ints = 0;
  if (job->row->asks) {
    INDIM_TRY(ask(job, &a->work));
  }
  indim_lapack_fixed_work(a->call, &reals, &ints);
  reals = reals > a->work.real_count ? reals : a->work.real_count;
  ints = ints > a->work.int_count ? ints : a->work.int_count;
  want(p, &a->work.elements, (size_t)a->work.element_count * type_bytes(a->call->type));
  want(p, &a->work.reals, (size_t)reals * part);
  want(p, &a->work.ints, (size_t)ints * sizeof(int32_t));
  if (job->row->begins[0] == '-') {
    want(p, &a->copy, bytes_of(&a->call->operands[0]));
  }
  for (int32_t i = 0; i < 2 && a->call->target->id == INDIM_LINALG_GEEV; i++) {
    want(p, &a->vectors[i], bytes_of(&a->call->operands[0]));
  }
  return INDIM_OK;
}

// What is read beyond the last part at most: a line of a matrix, to the next element of a row.
static size_t slack_of(const indim_linalg_call *call) {
  size_t most = 0;  // bytes
  for (int32_t i = 0; i < call->result_count; i++) {
    const indim_linalg_array *a = &call->results[i];
    size_t line = (size_t)(a->sizes[0] > a->sizes[1] ? a->sizes[0] : a->sizes[1]) * type_bytes(a->type);
    most = is_overread(a) && line > most ? line : most;
  }
  return most;
}

static indim_status allocate(indim_lapack_job *job, const parts *p) {
  enum { ALIGN = 64 };
  job->block_bytes = ALIGN + slack_of(job->args.call);
  for (int i = 0; i < p->count; i++) {
    job->block_bytes += (p->bytes[i] + ALIGN - 1) / ALIGN * ALIGN;
  }
  INDIM_TRY(indim_alloc(job->cx, job->block_bytes, &job->block));
  char *at = (char *)job->block + (ALIGN - (uintptr_t)job->block % ALIGN) % ALIGN;
  for (int i = 0; i < p->count; i++) {
    *p->to[i] = at;
    at += (p->bytes[i] + ALIGN - 1) / ALIGN * ALIGN;
  }
  return INDIM_OK;
}

// Whether to work on the transposes. OpenBLAS with AVX-512 factors the lower triangle in 0.6 of the time of the upper one,
// and solves from the right in half the time of the left where there are several right sides, which is worth turning
// matrices (0.3.21 and 0.3.30; with AVX2 both sides take the same time). A few right sides are less than the matrix.
static bool is_flipped(const indim_linalg_call *call) {
  enum { FEW = 8 };
  bool left = indim_linalg_attr(call, "side") == 'L';
  int64_t right_sides = indim_linalg_size(call, left ? 'n' : 'm');
  switch ((int)call->target->id) {
  case INDIM_LINALG_POTRF:
    return indim_linalg_attr(call, "uplo") == 'U';
  case INDIM_LINALG_CHOLESKY:
    return indim_linalg_attr(call, "lower") == 0;
  case INDIM_LINALG_TRSM:
    return right_sides >= FEW ? left : !call->operands[0].by_columns;
  default:
    return !call->results[0].by_columns;
  }
}

indim_status indim_lapack_begin(indim_ctx *cx, const indim_lapack *lapack, const indim_linalg_call *call,
                                indim_lapack_job **out_job) {
  *out_job = NULL;
  int letter = letter_of(call->type);
  if (lapack == NULL || letter < 0 || !indim_lapack_wants(call) || lapack->routines[call->target->id][letter] == NULL) {
    return INDIM_OK;
  }
  indim_lapack_job *job = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, sizeof *job, (void **)&job));
  job->cx = cx;
  job->row = &rows[call->target->id];
  job->args.call = call;
  job->args.function = lapack->routines[call->target->id][letter];
  job->args.is_flipped = job->row->is_flippable && is_flipped(call);
  parts p = {0};
  want_arrays(job, &p);
  indim_status status = want_work(job, &p);
  status = status == INDIM_OK ? allocate(job, &p) : status;
  if (status != INDIM_OK) {
    indim_lapack_end(job);
    return status;
  }
  *out_job = job;
  return INDIM_OK;
}

void indim_lapack_end(indim_lapack_job *job) {
  if (job != NULL) {
    indim_free(job->cx, job->block, job->block_bytes);
    indim_free(job->cx, job, sizeof *job);
  }
}

// One matrix ---------------------------------------------------------------------------------------------------------

static bool is_finite(const indim_linalg_array *a, const void *matrix) {
  indim_type part = indim_lapack_part(a->type);
  int64_t count = count_of(a) * (indim_type_is_complex(a->type) ? 2 : 1);
  bool finite = true;
  for (int64_t i = 0; i < count; i++) {
    finite &= isfinite(indim_lapack_get(part, matrix, i)) != 0;
  }
  return finite;
}

// Brings the operands where the routine wants them, and results to where it writes them.
static void load(indim_lapack_job *job, int64_t number, void *const *arrays) {
  const indim_linalg_call *call = job->args.call;
  bool columns = !job->args.is_flipped;
  void *const *operands = arrays + call->result_count;
  for (int32_t i = 0; i < call->operand_count; i++) {
    const indim_linalg_array *a = &call->operands[i];
    const char *matrix = indim_linalg_matrix_at(a, number, operands[i]);
    job->args.in[i] = matrix;
    if (job->operands[i] != NULL) {
      move(a, a->by_columns, columns, matrix, job->operands[i]);
      job->args.in[i] = job->operands[i];
    }
  }
  for (int32_t i = 0; i < call->result_count; i++) {
    const indim_linalg_array *a = &call->results[i];
    char begin = job->row->begins[i];
    job->args.out[i] = job->results[i] != NULL ? job->results[i] : indim_linalg_matrix_at(a, number, arrays[i]);
    if (begin >= '0' && begin <= '9') {
      const indim_linalg_array *from = &call->operands[begin - '0'];
      move(from, from->by_columns, columns, indim_linalg_matrix_at(from, number, operands[begin - '0']),
           job->args.out[i]);
    } else {
      memset(job->args.out[i], 0, bytes_of(a));
    }
  }
  if (job->args.copy != NULL) {
    memcpy(job->args.copy, job->args.in[0], bytes_of(&call->operands[0]));
  }
}

static void store(indim_lapack_job *job, int64_t number, int32_t info, void *const *arrays) {
  const indim_linalg_call *call = job->args.call;
  for (int32_t i = 0; i < call->result_count; i++) {
    const indim_linalg_array *a = &call->results[i];
    if (job->row->begins[i] == 'i') {
      *(int32_t *)(void *)indim_linalg_matrix_at(a, number, arrays[i]) = info;
    } else if (job->results[i] != NULL) {
      move(a, !job->args.is_flipped, a->by_columns, job->results[i], indim_linalg_matrix_at(a, number, arrays[i]));
    }
  }
}

// Whether subnormal numbers may be zeros, to begin with.
static bool may_flush(const indim_lapack_job *job, int64_t number, void *const *arrays) {
  const indim_linalg_call *call = job->args.call;
  const void *matrices[INDIM_LINALG_MOST_ARRAYS];
  bool is_kept = INDIM_SUBNORMALS_ARE_SLOW;
  for (int32_t i = 0; i < call->operand_count; i++) {
    matrices[i] = indim_linalg_matrix_at(&call->operands[i], number, arrays[call->result_count + i]);
    for (int32_t k = 0; k < call->result_count; k++) {
      is_kept = is_kept && job->args.out[k] != matrices[i];
    }
  }
  return is_kept && indim_linalg_may_flush(call, matrices);
}

// Calls the routine: its info. A matrix that is singular with zeros for subnormal numbers is computed again with these.
static int32_t compute(indim_lapack_job *job, int64_t number, void *const *arrays) {
  load(job, number, arrays);
  if (may_flush(job, number, arrays)) {
    indim_float_mode before = indim_float_mode_flush();
    int32_t info = job->row->call(&job->args);
    indim_float_mode_restore(before);
    if (info <= 0) {
      return info;
    }
    load(job, number, arrays);
  }
  return job->row->call(&job->args);
}

indim_status indim_lapack_run(indim_lapack_job *job, int64_t number, void *const *arrays, bool *out_done) {
  const indim_linalg_call *call = job->args.call;
  const indim_linalg_array *x = &call->operands[0];
  *out_done = !job->row->wants_finite || is_finite(x, indim_linalg_matrix_at(x, number, arrays[call->result_count]));
  if (!*out_done) {
    return INDIM_OK;
  }
  int32_t info = compute(job, number, arrays);
  if (info < 0) {
    return indim_fail(job->cx, INDIM_INTERNAL, "LAPACK's %s refuses its argument %d", job->row->symbol, -info);
  }
  store(job, number, info, arrays);
  return INDIM_OK;
}
