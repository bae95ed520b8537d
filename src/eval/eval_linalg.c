// cholesky and triangular-solve: one matrix of the batch after another through linalg/math, rounded once at the end. All
// float types are computed in double precision.
#include "eval/evaluator.h"
#include "eval/matrix.h"
#include "graph/infer_kit.h"
#include "linalg/run.h"

// cholesky -----------------------------------------------------------------------------------------------------------

static indim_status factor(indim_linalg_work *w, bool lower, int64_t n, int64_t base, const indim_value *from,
                           indim_value *to) {
  void *a = NULL;
  indim_type type = from->shape->type;
  INDIM_TRY(indim_arena_array(&w->arena, (size_t)(n * n), indim_linalg_element_bytes(type), &a));
  indim_matrix_load(from, base, n, n, a);
  INDIM_TRY(indim_linalg_cholesky(w, indim_type_is_complex(type), lower, n, a));
  indim_matrix_store(a, base, n, n, to);
  return INDIM_OK;
}

indim_status indim_eval_cholesky(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                 indim_value **out) {
  bool lower = indim_instr_bool(instr, INDIM_ATTR_LOWER, false);
  int64_t n = instr->shape->sizes[instr->shape->rank - 1];
  indim_status status = INDIM_OK;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, out));
  for (int64_t base = 0; status == INDIM_OK && base < (*out)->count; base += n * n) {
    indim_linalg_work w = {.cx = e->cx};
    indim_arena_init(&w.arena, e->cx);
    status = factor(&w, lower, n, base, operands[0], *out);
    indim_arena_deinit(&w.arena);
    if (status == INDIM_OK) {
      status = indim_eval_work(e, n * n);
    }
  }
  if (status != INDIM_OK) {
    indim_value_release(e->cx, *out);
    *out = NULL;
  }
  return status;
}

// triangular-solve ---------------------------------------------------------------------------------------------------

typedef struct solve {
  bool left;
  bool lower;
  bool unit;
  char trans;
  int64_t order;  // of the triangular matrices
  int64_t m;
  int64_t n;
} solve;

static indim_status read_solve(indim_ctx *cx, const indim_instr *instr, solve *out) {
  const indim_shape *shape = instr->shape;
  indim_str trans = indim_instr_word(instr, INDIM_ATTR_TRANSPOSE_A);
  *out = (solve){
      .left = indim_instr_bool(instr, INDIM_ATTR_LEFT_SIDE, false),
      .lower = indim_instr_bool(instr, INDIM_ATTR_LOWER, false),
      .unit = indim_instr_bool(instr, INDIM_ATTR_UNIT_DIAGONAL, false),
      .m = shape->sizes[shape->rank - 2],
      .n = shape->sizes[shape->rank - 1],
  };
  out->order = out->left ? out->m : out->n;
  out->trans = indim_str_is(trans, "NO_TRANSPOSE") ? 'N'
               : indim_str_is(trans, "TRANSPOSE")  ? 'T'
               : indim_str_is(trans, "ADJOINT")    ? 'C'
                                                   : '\0';
  if (out->trans == '\0') {
    indim_fail_instr(cx, INDIM_INVALID, instr, "transpose_a= is %.*s", trans.size == 0 ? 7 : (int)trans.size,
                     trans.size == 0 ? "missing" : trans.data);
    indim_hint(cx, "it is one of NO_TRANSPOSE, TRANSPOSE or ADJOINT");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

static indim_status solve_one(indim_linalg_work *w, const solve *s, int64_t number, indim_value *const *operands,
                              indim_value *out) {
  void *a = NULL;
  void *x = NULL;
  indim_type type = out->shape->type;
  size_t bytes = indim_linalg_element_bytes(type);
  INDIM_TRY(indim_arena_array(&w->arena, (size_t)(s->order * s->order), bytes, &a));
  INDIM_TRY(indim_arena_array(&w->arena, (size_t)(s->m * s->n), bytes, &x));
  indim_matrix_load(operands[0], number * s->order * s->order, s->order, s->order, a);
  indim_matrix_load(operands[1], number * s->m * s->n, s->m, s->n, x);
  if (indim_type_is_complex(type)) {
    INDIM_TRY(indim_complex_trsm(w, s->left, s->lower, s->trans, s->unit, s->m, s->n, a, x));
  } else {
    INDIM_TRY(indim_real_trsm(w, s->left, s->lower, s->trans, s->unit, s->m, s->n, a, x));
  }
  indim_matrix_store(x, number * s->m * s->n, s->m, s->n, out);
  return INDIM_OK;
}

indim_status indim_eval_triangular_solve(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                         indim_value **out) {
  solve s;
  indim_status status = INDIM_OK;
  INDIM_TRY(read_solve(e->cx, instr, &s));
  INDIM_TRY(indim_value_new(e->cx, instr->shape, out));
  for (int64_t number = 0; status == INDIM_OK && number * s.m * s.n < (*out)->count; number++) {
    indim_linalg_work w = {.cx = e->cx};
    indim_arena_init(&w.arena, e->cx);
    status = solve_one(&w, &s, number, operands, *out);
    indim_arena_deinit(&w.arena);
    if (status == INDIM_OK) {
      status = indim_eval_work(e, s.order * s.order + s.m * s.n);
    }
  }
  if (status != INDIM_OK) {
    indim_value_release(e->cx, *out);
    *out = NULL;
  }
  return status;
}
