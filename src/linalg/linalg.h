// Linear algebra: the custom calls that are LAPACK's, and the ops cholesky and triangular-solve. linalg.def lists the first;
// docs/linalg.md says what they take and give. A call is read from its instruction once, with every attribute, shape and
// layout checked, and whoever runs it trusts what is here.
//
//   (f32[2,3,3]{1,2,0}, s32[2]) custom-call(x), custom_call_target="lapack_spotrf_ffi", ..., backend_config={uplo = 76 : ui8}
//     -> target POTRF of f32, 2 matrices, n = 3, uplo 'L'
#ifndef INDIM_LINALG_LINALG_H
#define INDIM_LINALG_LINALG_H

#include "graph/module.h"

typedef enum indim_linalg_id {
#define INDIM_LINALG(enumerator, routine, types, runs, operands, results, attributes) INDIM_LINALG_##enumerator,
#include "linalg/linalg.def"
  INDIM_LINALG_CHOLESKY,  // the op; triangular-solve is TRSM
  INDIM_LINALG_COUNT
} indim_linalg_id;

// A row of the table.
typedef struct indim_linalg_target {
  indim_linalg_id id;
  const char *routine;
  const char *types;
  const char *operands;
  const char *results;
  const char *attributes;
} indim_linalg_target;

enum { INDIM_LINALG_MOST_ARRAYS = 6, INDIM_LINALG_MOST_ATTRS = 4 };

// An operand or a result, of which there is one for each matrix of the batch.
typedef struct indim_linalg_array {
  indim_str name;
  indim_type type;
  bool is_batched;   // false for one that all matrices share
  bool by_columns;   // a matrix lies column by column; false as it is read: row by row
  int32_t rank;      // 0 to 2, without the batch
  int64_t sizes[2];  // 1 beyond the rank
} indim_linalg_array;

typedef struct indim_linalg_call {
  const indim_linalg_target *target;
  indim_type type;     // F32, F64, C64 or C128; of the ops also the other floats
  int64_t batch;       // matrices
  int32_t batch_rank;  // dimensions that number them, the first ones of every operand and result
  int32_t operand_count;
  int32_t result_count;
  indim_linalg_array operands[INDIM_LINALG_MOST_ARRAYS];
  indim_linalg_array results[INDIM_LINALG_MOST_ARRAYS];
  int64_t sizes[26];                       // by letter of the table; see indim_linalg_size
  int64_t attrs[INDIM_LINALG_MOST_ATTRS];  // in the order of the table; see indim_linalg_attr
} indim_linalg_call;

const indim_linalg_target *indim_linalg_target_of(indim_linalg_id id);
// The target of that name, with its element type; NULL if it is none of the table's.
const indim_linalg_target *indim_linalg_find(indim_str name, indim_type *out_type);
// Refuses |name|, whoever else was asked before: names the targets that are known.
indim_status indim_linalg_fail_unknown(indim_ctx *cx, const indim_instr *instr, indim_str name);
// Reads a cholesky, triangular-solve or custom-call. INDIM_UNSUPPORTED with the known targets for another custom call,
// INDIM_INVALID with what is wrong and what is expected; UNSUPPORTED for a matrix with a dynamic dimension: those of the batch
// may be dynamic, and the sizes here are the bounds.
INDIM_CHECKED indim_status indim_linalg_read(indim_ctx *cx, const indim_instr *instr, indim_linalg_call *out_call);

// The size that a letter of the table's row means: 'm', 'n', 'k', ...
int64_t indim_linalg_size(const indim_linalg_call *call, char letter);
// The matrix of that number in |array|, which has the batch's one after another.
void *indim_linalg_matrix_at(const indim_linalg_array *a, int64_t number, void *array);
// The value of an attribute of the table's row: a character for ui8, 0 or 1 for bool.
int64_t indim_linalg_attr(const indim_linalg_call *call, const char *name);

#endif  // INDIM_LINALG_LINALG_H
