// Every allocation of compiling and running failed in turn: first that one alone, then that one and all after it. Each
// time the outcome is NO_MEMORY with a diagnostic or success, never anything else, and nothing is left. And the memory
// limit at every height, which has to say LIMIT.
#include "allocator_test.h"
#include "indim/compile.h"
#include "indim/eval.h"
#include "indim/text.h"
#include "test.h"

// Read and evaluated with memory enough.
typedef struct program {
  indim_ctx *cx;
  indim_module *module;
  indim_literal *arguments[2];
  int64_t count;
  indim_literal *expected;
} program;

static bool make(program *p, const char *text, const char *const *inputs, int64_t count) {
  *p = (program){.count = count};
  bool ok = indim_ctx_create(NULL, &p->cx) == INDIM_OK &&
            indim_module_parse(p->cx, indim_str_of("p"), indim_str_of(text), &p->module) == INDIM_OK &&
            indim_module_verify(p->cx, p->module) == INDIM_OK;
  for (int64_t i = 0; ok && i < count; i++) {
    ok = indim_literal_parse(p->cx, indim_str_of(inputs[i]), &p->arguments[i]) == INDIM_OK;
  }
  ok = ok &&
       indim_eval(p->cx, p->module, (const indim_literal *const *)p->arguments, count, NULL, &p->expected) == INDIM_OK;
  if (!ok) {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(p->cx, 0);
    printf("  %s\n", d == NULL ? "no diagnostic" : d->message);
  }
  return ok;
}

static void drop(program *p) {
  indim_literal_destroy(p->expected);
  for (int i = 0; i < 2; i++) {
    indim_literal_destroy(p->arguments[i]);
  }
  indim_module_destroy(p->module);
  indim_ctx_destroy(p->cx);
}

static indim_status compile_and_run(indim_ctx *cx, const program *p) {
  indim_executable *executable = NULL;
  indim_literal *result = NULL;
  enum { TEXTS = 4 };
  indim_buffer texts[TEXTS];
  for (int i = 0; i < TEXTS; i++) {
    indim_buffer_init(&texts[i], cx);
  }
  indim_compile_options options = {.out_loops = &texts[0],
                                   .out_llvm = &texts[1],
                                   .out_explain = &texts[2],
                                   .out_report = &texts[3],
                                   .profile = true};
  indim_status status = indim_compile(cx, p->module, &options, &executable);
  for (int i = 0; i < TEXTS; i++) {
    status = status == INDIM_OK ? texts[i].status : status;
    indim_buffer_deinit(&texts[i]);
  }
  if (status == INDIM_OK) {
    status =
        indim_execute_literals(cx, executable, (const indim_literal *const *)p->arguments, p->count, NULL, &result);
  }
  CHECK(status == INDIM_OK || result == NULL);
  CHECK(status != INDIM_OK || indim_literal_equal(result, p->expected));
  indim_literal_destroy(result);
  indim_executable_destroy(executable);
  return status;
}

// Compiles with allocation number |n| failing; whether it came so far.
static bool fail_one(const program *p, int64_t n, bool for_ever) {
  test_allocator f = {.fail_at = n + 1, .fail_on = for_ever};
  indim_allocator allocator = {test_resize, &f};
  indim_ctx *cx = NULL;
  indim_status status = indim_ctx_create(&allocator, &cx);
  if (status == INDIM_OK) {
    status = compile_and_run(cx, p);
    const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
    CHECK_MSG(status == INDIM_OK || status == INDIM_NO_MEMORY, "allocation %" PRId64 ": %s: %s", n,
              indim_status_name(status), d == NULL ? "" : d->message);
    CHECK_MSG(status == INDIM_OK || d != NULL, "allocation %" PRId64 ": no diagnostic", n);
    CHECK_MSG(indim_ctx_memory_in_use(cx) == 0, "allocation %" PRId64 ": memory is left", n);
  }
  indim_ctx_destroy(cx);
  CHECK_MSG(f.blocks == 0, "allocation %" PRId64 ": %" PRId64 " blocks are left", n, f.blocks);
  CHECK_MSG(f.failed || status == INDIM_OK, "%s without a failed allocation", indim_status_name(status));
  CHECK_MSG(status != INDIM_OK || !f.failed || !for_ever, "allocation %" PRId64 " fails unnoticed", n);
  return f.failed;
}

static void limit_each(const program *p) {
  indim_ctx *cx = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  CHECK(compile_and_run(cx, p) == INDIM_OK);
  uint64_t peak = indim_ctx_memory_peak(cx);
  for (uint64_t limit = 1; limit < peak; limit += 1 + peak / 50) {
    indim_ctx_set_memory_limit(cx, limit);
    indim_status status = compile_and_run(cx, p);
    CHECK_MSG(status == INDIM_LIMIT, "limit %" PRIu64 " of %" PRIu64 ": %s", limit, peak, indim_status_name(status));
    CHECK_EQ_UINT(indim_ctx_memory_in_use(cx), 0);
    indim_ctx_diagnostics_clear(cx);
  }
  indim_ctx_destroy(cx);
}

static void fail_each(const char *text, const char *const *inputs, int64_t count) {
  program p;
  if (indim_compile_available(NULL) != INDIM_OK) {
    printf("  this build has no code generator: its allocations are not tested\n");
    return;
  }
  REQUIRE(make(&p, text, inputs, count));
  int64_t n = 0;
  for (; fail_one(&p, n, true) && test_failures < 10; n++) {
    fail_one(&p, n, false);
  }
  CHECK(n > 10);
  limit_each(&p);
  drop(&p);
}

TEST(elementwise_and_reduce) {
  static const char *const inputs[] = {"f32[2,3] {{1,2,3},{4,5,6}}", "f32[3] {7,8,9}"};
  fail_each("HloModule m, entry_computation_layout={(f32[2,3]{0,1}, f32[3]{0})->(f32[2]{0}, f32[2,3]{0,1})}\n"
            "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n"
            "ENTRY e { p = f32[2,3]{0,1} parameter(0) q = f32[3] parameter(1)\n"
            "  b = f32[2,3] broadcast(q), dimensions={1} s = f32[2,3] add(p, b) z = f32[] constant(0)\n"
            "  r = reduce(s, z), dimensions={1}, to_apply=add ROOT t = tuple(r, s) }\n",
            inputs, 2);
}

TEST(loops_over_memory) {
  fail_each("add { x = s32[] parameter(0) y = s32[] parameter(1) ROOT s = add(x, y) }\n"
            "ENTRY e { i = s32[100,37] iota(), iota_dimension=1 t = transpose(i), dimensions={1,0}\n"
            "  z = s32[] constant(0) r = s32[37] reduce(t, z), dimensions={1}, to_apply=add\n"
            "  b = s32[37,100] broadcast(r), dimensions={0} m = multiply(b, t) h = s32[] constant(3) k = s32[37,100] "
            "broadcast(h), dimensions={}\n"
            "  q = add(m, k) c = s32[74,100] concatenate(q, t), dimensions={0} v = reverse(c), dimensions={1} ROOT o = "
            "tuple(v, r) }\n",
            NULL, 0);
}

TEST(control) {
  static const char *const inputs[] = {"s32[] 5"};
  fail_each("ENTRY e { i = s32[] parameter(0) a = s32[50] iota(), iota_dimension=0 s = tuple(i, a)\n"
            "  w = (s32[], s32[50]) while(s), condition={ x = (s32[], s32[50]) parameter(0) "
            "c = s32[] get-tuple-element(x), index=0 n = s32[] constant(30) ROOT l = compare(c, n), direction=LT }, "
            "body={ x = (s32[], s32[50]) parameter(0) c = s32[] get-tuple-element(x), index=0 "
            "v = s32[50] get-tuple-element(x), index=1 o = s32[] constant(1) d = add(c, o) u = s32[1] reshape(c) "
            "y = s32[50] dynamic-update-slice(v, u, c) ROOT t = tuple(d, y) }\n"
            "  g = s32[50] get-tuple-element(w), index=1 p = pred[] constant(true)\n"
            "  ROOT c = s32[50] conditional(p, g, a), true_computation={ ROOT x = s32[50] parameter(0) }, "
            "false_computation={ x = s32[50] parameter(0) ROOT n = negate(x) } }\n",
            inputs, 1);
}

// A while loop whose elements run by themselves.
TEST(loop_over_blocks) {
  fail_each("any { a = pred[] parameter(0) b = pred[] parameter(1) ROOT r = or(a, b) }\n"
            "small { x = s32[70] parameter(0) n = s32[] constant(100) m = s32[70] broadcast(n), dimensions={} "
            "ROOT r = compare(x, m), direction=LT }\n"
            "ENTRY e { a = s32[70] iota(), iota_dimension=0 s = tuple(a, a)\n"
            "  w = (s32[70], s32[70]) while(s), condition={ x = (s32[70], s32[70]) parameter(0) "
            "v = s32[70] get-tuple-element(x), index=0 p = pred[70] call(v), to_apply=small f = pred[] constant(false) "
            "ROOT r = pred[] reduce(p, f), dimensions={0}, to_apply=any }, "
            "body={ x = (s32[70], s32[70]) parameter(0) v = s32[70] get-tuple-element(x), index=0 "
            "u = s32[70] get-tuple-element(x), index=1 p = pred[70] call(v), to_apply=small o = s32[] constant(1) "
            "ones = s32[70] broadcast(o), dimensions={} d = add(v, u) e = add(d, ones) n = select(p, e, v) "
            "ROOT t = tuple(n, u) }\n"
            "  ROOT g = s32[70] get-tuple-element(w), index=0 }\n",
            NULL, 0);
}

TEST(products) {
  fail_each("ENTRY e { i = f32[64,48] iota(), iota_dimension=0 j = f32[48,80] iota(), iota_dimension=1\n"
            "  d = f32[64,80] dot(i, j), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT n = negate(d) }\n",
            NULL, 0);
}

// Computations written out where they are called, of tiles and of scalars, with tuples on the way.
TEST(written_out) {
  static const char *const inputs[] = {"f32[4] {1,2,3,4}"};
  fail_each("half { x = f32[] parameter(0) h = f32[] constant(0.5) ROOT r = f32[] multiply(x, h) }\n"
            "mean { x = f32[] parameter(0) y = f32[] parameter(1) s = f32[] add(x, y) p = (f32[], f32[]) tuple(s, x) "
            "g = f32[] get-tuple-element(p), index=0 ROOT r = f32[] call(g), to_apply=half }\n"
            "both { x = f32[4] parameter(0) n = f32[4] negate(x) ROOT t = (f32[4], f32[4]) tuple(x, n) }\n"
            "twice { x = f32[4] parameter(0) p = (f32[4], f32[4]) call(x), to_apply=both "
            "a = f32[4] get-tuple-element(p), index=0 b = f32[4] get-tuple-element(p), index=1 "
            "ROOT m = f32[4] map(a, b), dimensions={0}, to_apply=mean }\n"
            "ENTRY e { x = f32[4] parameter(0) ROOT f = f32[4] fusion(x), kind=kLoop, calls=twice }\n",
            inputs, 1);
}

// Arguments and results of packed elements: unpacked before, in loops, and packed at the end.
TEST(packed) {
  static const char *const inputs[] = {"s4[3] {1,-2,3}"};
  fail_each("HloModule m, entry_computation_layout={(s4[3]{0:E(4)})->(s4[3]{0:E(4)}, u2[200]{0:E(2)})}\n"
            "ENTRY e { x = s4[3] parameter(0) y = s4[3] add(x, x) i = u2[200] iota(), iota_dimension=0 "
            "ROOT t = (s4[3], u2[200]) tuple(y, i) }\n",
            inputs, 1);
}

// Rows in several steps, of which one part is kept for each piece of the loop.
TEST(contracted_rows) {
  fail_each("most { x = s32[] parameter(0) y = s32[] parameter(1) ROOT s = maximum(x, y) }\n"
            "add { x = s32[] parameter(0) y = s32[] parameter(1) ROOT s = add(x, y) }\n"
            "ENTRY e { x = s32[256,256] iota(), iota_dimension=1 z = s32[] constant(0)\n"
            "  m = s32[256] reduce(x, z), dimensions={1}, to_apply=most b = s32[256,256] broadcast(m), dimensions={0}\n"
            "  d = subtract(x, b) q = multiply(d, d) c = remainder(q, b)\n"
            "  s = s32[256] reduce(c, z), dimensions={1}, to_apply=add t = s32[256,256] broadcast(s), dimensions={0}\n"
            "  ROOT r = subtract(c, t) }\n",
            NULL, 0);
}

// Computations that take the place of ops, of which one calls a computation of the program.
TEST(expanded) {
  static const char *const inputs[] = {"f32[3,2] {{1,2},{1,2},{1,2}}", "f32[2] {1,-1}"};
  fail_each(
      "step { x = f32[2] parameter(0) c = f32[2] parameter(1) s = add(x, c) ROOT t = tuple(s, s) }\n"
      "ENTRY e { x = f32[3,2] parameter(0) s = f32[2] parameter(1)\n"
      "  n = batch-norm-training(x, s, s), epsilon=1, feature_index=1 y = f32[3,2] get-tuple-element(n), index=0\n"
      "  v = scan(y, s), dimensions={0}, num_carries=1, to_apply=step\n"
      "  b = (f32[2], f32[2], u32[]) copy-start(s) d = f32[2] copy-done(b) ROOT r = tuple(v, d) }\n",
      inputs, 2);
}

// Linear algebra as code, of diagonal matrices, whose factors are exact.
TEST(small_matrices) {
  static const char *const inputs[] = {"f32[3,2,2] {{{4, 0}, {0, 9}}, {{1, 0}, {0, 16}}, {{25, 0}, {0, 4}}}"};
  fail_each("ENTRY e { x = f32[3,2,2]{1,2,0} parameter(0) l = f32[3,2,2] cholesky(x), lower=true\n"
            "  s = f32[3,2,2] triangular-solve(l, x), left_side=true, lower=true, transpose_a=NO_TRANSPOSE\n"
            "  f = (f32[3,2,2]{1,2,0}, s32[3,2], s32[3]) custom-call(x), custom_call_target=\"lapack_sgetrf_ffi\", "
            "operand_layout_constraints={f32[3,2,2]{1,2,0}}, api_version=API_VERSION_TYPED_FFI\n"
            "  u = f32[3,2,2]{1,2,0} get-tuple-element(f), index=0 p = s32[3,2] get-tuple-element(f), index=1\n"
            "  e = (f32[3,2,2]{1,2,0}, f32[3,2], s32[3]) custom-call(x), custom_call_target=\"lapack_ssyevd_ffi\", "
            "operand_layout_constraints={f32[3,2,2]{1,2,0}}, api_version=API_VERSION_TYPED_FFI, "
            "backend_config={mode = 86 : ui8, uplo = 76 : ui8}\n"
            "  w = f32[3,2] get-tuple-element(e), index=1\n"
            "  d = (f32[3,2,2]{1,2,0}, f32[3,2], f32[3,2,2]{1,2,0}, f32[3,2,2]{1,2,0}, s32[3]) custom-call(x), "
            "custom_call_target=\"lapack_sgesdd_ffi\", operand_layout_constraints={f32[3,2,2]{1,2,0}}, "
            "api_version=API_VERSION_TYPED_FFI, backend_config={mode = 65 : ui8}\n"
            "  v = f32[3,2] get-tuple-element(d), index=1\n"
            "  one = s32[] constant(1) two = s32[] constant(2) three = s32[] constant(3)\n"
            "  o = (f32[3,2,2]{1,2,0}, s32[3], f32[1]) custom-call(three, two, two, two, one, x, v), "
            "custom_call_target=\"lapack_sorgqr\", "
            "operand_layout_constraints={s32[], s32[], s32[], s32[], s32[], f32[3,2,2]{1,2,0}, f32[3,2]}\n"
            "  q = f32[3,2,2]{1,2,0} get-tuple-element(o), index=0 ROOT r = tuple(l, s, u, p, w, v, q) }\n",
            inputs, 1);
}

// What stands for them: sizes, masks, checks, and computations that are made besides.
TEST(dynamic_dimensions) {
  static const char *const inputs[] = {"f32[2,<=3](2,2) {{1,2},{3,4}}", "s32[] 1"};
  fail_each(
      "farther { a = f32[] parameter(0) b = f32[] parameter(1) p = abs(a) q = abs(b) g = compare(p, q), direction=GE\n"
      "  ROOT s = select(g, a, b) }\n"
      "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }\n"
      "ENTRY e { x = f32[2,<=3] parameter(0) n = s32[] parameter(1) z = f32[] constant(0) j = f32[4] "
      "constant({5,6,7,8})\n"
      "  k = f32[<=4] set-dimension-size(j, n), dimensions={0} a = f32[<=6] reshape(x) b = f32[<=10] concatenate(a, "
      "k), dimensions={0} c = sort(b), dimensions={0}, "
      "to_apply=less\n"
      "  d = f32[<=10] set-dimension-size(c, n), dimensions={0} f = f32[<=10] add(c, d)\n"
      "  r = reduce(f, z), dimensions={0}, to_apply=farther v = reverse(f), dimensions={0}\n"
      "  s = tuple(n, d) w = (s32[], f32[<=10]) while(s), condition={ x = (s32[], f32[<=10]) parameter(0) "
      "c = s32[] get-tuple-element(x), index=0 t = s32[] constant(3) ROOT l = compare(c, t), direction=LT }, "
      "body={ x = (s32[], f32[<=10]) parameter(0) c = s32[] get-tuple-element(x), index=0 "
      "v = f32[<=10] get-tuple-element(x), index=1 o = s32[] constant(1) d = add(c, o) "
      "y = f32[<=10] set-dimension-size(v, d), dimensions={0} ROOT t = tuple(d, y) }\n"
      "  g = f32[<=10] get-tuple-element(w), index=1 ROOT o = tuple(r, v, g) }\n",
      inputs, 2);
}

TEST(dynamic_rows) {
  static const char *const inputs[] = {"f32[<=3,2](2,2) {{1,2},{3,4}}", "s32[<=2](1) {2}"};
  fail_each(
      "HloModule m\n"
      "step { x = f32[2] parameter(0) c = f32[2] parameter(1) s = f32[2] add(x, c)\n"
      "ROOT r = (f32[2], f32[2]) tuple(s, s) }\n"
      "ENTRY e { p = f32[<=3,2] parameter(0) q = f32[2] constant({1, 1}) n = s32[<=2] parameter(1)\n"
      "a = (f32[<=3,2], f32[2]) scan(p, q), dimensions={0}, num_carries=1, to_apply=step\n"
      "b = f32[<=2,2,2] ragged-dot(p, p, n), lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={0}\n"
      "t = f32[2,<=3] transpose(p), dimensions={1,0}\n"
      "k = (f32[2,<=2], s32[2,<=2]) topk(t), k=2, largest=true\n"
      "ROOT r = ((f32[<=3,2], f32[2]), f32[<=2,2,2], (f32[2,<=2], s32[2,<=2])) tuple(a, b, k) }\n",
      inputs, 2);
}

#define CASES(X)            \
  X(elementwise_and_reduce) \
  X(loops_over_memory)      \
  X(control)                \
  X(loop_over_blocks)       \
  X(dynamic_dimensions)     \
  X(dynamic_rows)           \
  X(expanded)               \
  X(small_matrices)         \
  X(written_out)            \
  X(contracted_rows)        \
  X(packed)                 \
  X(products)

TEST_MAIN(CASES)
