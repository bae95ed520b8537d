// The code generator: loop programs built by hand, compiled for this machine and run. Every kind of node, every form of
// memory access with guard values around, parallel loops with and without a host, stopping, and bodies so long that
// anything worse than linear would show.
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/ctx.h"
#include "emit/program.h"
#include "test.h"

typedef struct fixture {
  indim_ctx *cx;
  indim_loop_program *program;
  indim_loop_builder b;
  indim_code *code;
  indim_emit_times times;
  int32_t argument_count, result_count;
} fixture;

static bool open_fixture(fixture *f) {
  indim_loop_target target;
  indim_jit_target(&target);
  *f = (fixture){.cx = NULL};
  if (indim_ctx_create(NULL, &f->cx) != INDIM_OK ||
      indim_loop_program_create(f->cx, NULL, &target, &f->program) != INDIM_OK) {
    indim_ctx_destroy(f->cx);
    return false;
  }
  indim_loop_builder_init(&f->b, f->program);
  return true;
}

static void print_diagnostics(const fixture *f) {
  for (size_t i = 0; i < indim_ctx_diagnostic_count(f->cx) && i < INDIM_MAX_DIAGNOSTICS; i++) {
    printf("    %s\n", indim_ctx_diagnostic_get(f->cx, i)->message);
  }
}

// With INDIM_TEST_DUMP set, IR and assembly are printed: for looking at what a case becomes.
static indim_compiled_fn *compile_with(fixture *f, unsigned fast) {
  bool is_wanted = getenv("INDIM_TEST_DUMP") != NULL;
  indim_buffer llvm;
  indim_buffer assembly;
  indim_buffer_init(&llvm, f->cx);
  indim_buffer_init(&assembly, f->cx);
  indim_emit_options options = {.fast = fast};
  options.out_llvm = is_wanted ? &llvm : NULL;
  options.out_asm = is_wanted ? &assembly : NULL;
  CHECK_EQ_INT(f->b.status, INDIM_OK);
  f->program->argument_count = f->argument_count;
  f->program->result_count = f->result_count;
  indim_status status = f->b.status;
  if (status == INDIM_OK) {
    status = indim_jit_compile(f->cx, f->program, &options, &f->times, &f->code);
  }
  if (status != INDIM_OK) {
    test_fail(__FILE__, __LINE__);
    printf("compiling: %s\n", indim_status_name(status));
    print_diagnostics(f);
  }
  if (is_wanted) {
    printf("%s\n%s\n", llvm.data == NULL ? "" : llvm.data, assembly.data == NULL ? "" : assembly.data);
  }
  indim_buffer_deinit(&llvm);
  indim_buffer_deinit(&assembly);
  return f->code == NULL ? NULL : indim_jit_function(f->code);
}

static indim_compiled_fn *compile(fixture *f) { return compile_with(f, 0); }

static void close_fixture(fixture *f) {
  indim_jit_destroy(f->code);
  indim_loop_builder_deinit(&f->b);
  indim_loop_program_destroy(f->program);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(f->cx), 0);
  indim_ctx_destroy(f->cx);
}

// Storages of the caller, numbered in the order they are made.
static indim_storage *argument(fixture *f, indim_type type, int64_t elements) {
  indim_storage *s = indim_loop_storage(&f->b, INDIM_STORAGE_ARGUMENT, type, elements, "a");
  if (s != NULL) {
    s->number = f->argument_count++;
  }
  return s;
}

static indim_storage *result(fixture *f, indim_type type, int64_t elements) {
  indim_storage *s = indim_loop_storage(&f->b, INDIM_STORAGE_RESULT, type, elements, "r");
  if (s != NULL) {
    s->number = f->result_count++;
    indim_loop_kernel_begin(&f->b, &s, 1);
  }
  return s;
}

static indim_lval index_of(fixture *f, int64_t value) { return indim_loop_index(&f->b, value); }

static indim_lval f32_const(fixture *f, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return indim_loop_const(&f->b, INDIM_F32, bits, 0);
}

static indim_lval f64_const(fixture *f, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return indim_loop_const(&f->b, INDIM_F64, bits, 0);
}

static indim_lval s64_lanes(fixture *f, int32_t lanes, const int64_t *values) {
  uint64_t bits[128];
  for (int32_t k = 0; k < lanes; k++) {
    bits[2 * k] = (uint64_t)values[k];
    bits[2 * k + 1] = 0;
  }
  return indim_loop_lanes(&f->b, INDIM_S64, lanes, bits);
}

static indim_lval pred_lanes(fixture *f, int32_t lanes, unsigned bits_set) {
  uint64_t bits[128];
  for (int32_t k = 0; k < lanes; k++) {
    bits[2 * k] = (bits_set >> k) & 1;
    bits[2 * k + 1] = 0;
  }
  return indim_loop_lanes(&f->b, INDIM_PRED, lanes, bits);
}

static int32_t run2(indim_compiled_fn *fn, const void *x, const void *y, void *out) {
  const void *arguments[] = {x, y};
  void *results[] = {out};
  return fn(arguments, results, NULL, NULL);
}

// Loops -----------------------------------------------------------------------------------------------------------------

// out[i] = a[i] + b[i], |unroll| vectors of |lanes| at a time.
static void build_add(fixture *f, indim_type type, int64_t elements, int32_t lanes, int32_t unroll) {
  indim_loop_builder *b = &f->b;
  indim_storage *x = argument(f, type, elements);
  indim_storage *y = argument(f, type, elements);
  indim_storage *r = result(f, type, elements);
  int64_t step = (int64_t)lanes * unroll;
  indim_lval i = indim_loop_for_begin(b, index_of(f, 0), index_of(f, elements), step, 0, NULL, NULL);
  indim_lval sums[8];
  for (int32_t u = 0; u < unroll; u++) {
    indim_lval at = indim_loop_add_const(b, i, (int64_t)u * lanes);
    sums[u] =
        indim_loop_binary(b, INDIM_OP_ADD, indim_loop_load(b, x, at, lanes, 1), indim_loop_load(b, y, at, lanes, 1));
  }
  for (int32_t u = 0; u < unroll; u++) {
    indim_loop_store(b, r, indim_loop_add_const(b, i, (int64_t)u * lanes), sums[u], 1, false);
  }
  indim_loop_for_end(b, NULL, NULL);
}

TEST(add_of_two_arrays) {
  enum { N = 4096 };
  static float x[N], y[N], r[N + 1];
  fixture f;
  REQUIRE(open_fixture(&f));
  build_add(&f, INDIM_F32, N, 8, 4);
  indim_compiled_fn *fn = compile(&f);
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = (float)(3 * i);
  }
  r[N] = 77;
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, x, y, r), 0);
    for (int i = 0; i < N; i++) {
      CHECK(r[i] == (float)(4 * i));
    }
    CHECK(r[N] == 77);
    CHECK(indim_jit_code_bytes(f.code) > 0);
  }
  close_fixture(&f);
}

// The bounds come from memory: 0 trips, one, several; the carried value is the result.
TEST(for_with_bounds_from_memory) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *bounds = argument(&f, INDIM_S32, 2);
  indim_storage *r = result(&f, INDIM_S64, 1);
  indim_lval begin = indim_loop_clamp_index(b, indim_loop_load(b, bounds, index_of(&f, 0), 1, 1), 0, 100);
  indim_lval end = indim_loop_clamp_index(b, indim_loop_load(b, bounds, index_of(&f, 1), 1, 1), 0, 100);
  indim_lval zero = index_of(&f, 1000);
  indim_lval sum = 0;
  indim_lval i = indim_loop_for_begin(b, begin, end, 3, 1, &zero, &sum);
  sum = indim_loop_binary(b, INDIM_OP_ADD, sum, i);
  indim_loop_for_end(b, &sum, &sum);
  indim_loop_store(b, r, index_of(&f, 0), sum, 1, false);
  indim_compiled_fn *fn = compile(&f);
  static const int32_t cases[][2] = {{0, 0}, {5, 5}, {7, 5}, {0, 1}, {0, 10}, {-4, 7}, {90, 1000}};
  for (size_t k = 0; fn != NULL && k < sizeof cases / sizeof cases[0]; k++) {
    int64_t expected = 1000;
    int64_t actual = 0;
    for (int64_t j = cases[k][0] < 0 ? 0 : cases[k][0]; j < (cases[k][1] > 100 ? 100 : cases[k][1]); j += 3) {
      expected += j;
    }
    CHECK_EQ_INT(run2(fn, cases[k], NULL, &actual), 0);
    CHECK_EQ_INT(actual, expected);
  }
  close_fixture(&f);
}

// A loop of one trip is no loop, and carried values pass through it.
TEST(for_of_one_trip_and_of_none) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F64, 4);
  indim_storage *r = result(&f, INDIM_F64, 2);
  indim_lval first = indim_loop_load(b, x, index_of(&f, 0), 1, 1);
  indim_lval carried = 0;
  indim_lval out[2];
  indim_lval i = indim_loop_for_begin(b, index_of(&f, 1), index_of(&f, 3), 2, 1, &first, &carried);
  indim_lval sum = indim_loop_binary(b, INDIM_OP_ADD, carried, indim_loop_load(b, x, i, 1, 1));
  indim_loop_for_end(b, &sum, &out[0]);
  indim_loop_for_begin(b, index_of(&f, 3), index_of(&f, 3), 1, 1, &first, &carried);
  sum = indim_loop_binary(b, INDIM_OP_ADD, carried, carried);
  indim_loop_for_end(b, &sum, &out[1]);
  indim_loop_store(b, r, index_of(&f, 0), out[0], 1, false);
  indim_loop_store(b, r, index_of(&f, 1), out[1], 1, false);
  indim_compiled_fn *fn = compile(&f);
  double in[] = {1, 20, 300, 4000};
  double got[] = {0, 0};
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, in, NULL, got), 0);
    CHECK(got[0] == 21 && got[1] == 1);
  }
  close_fixture(&f);
}

TEST(if_gives_complex_values) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *p = argument(&f, INDIM_PRED, 1);
  indim_storage *x = argument(&f, INDIM_C64, 2);
  indim_storage *r = result(&f, INDIM_C64, 2);
  indim_lval z = indim_loop_load(b, x, index_of(&f, 0), 2, 1);
  indim_loop_if_begin(b, indim_loop_load(b, p, index_of(&f, 0), 1, 1));
  indim_lval sum = indim_loop_binary(b, INDIM_OP_ADD, z, z);
  indim_loop_if_else(b, 1, &sum);
  indim_lval product = indim_loop_binary(b, INDIM_OP_MULTIPLY, z, z);
  indim_lval out = 0;
  indim_loop_if_end(b, &product, &out);
  indim_loop_store(b, r, index_of(&f, 0), out, 1, false);
  indim_compiled_fn *fn = compile(&f);
  float in[] = {1, 2, 3, -1};
  float got[4];
  uint8_t yes = 1;
  uint8_t no = 0;
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, &yes, in, got), 0);
    CHECK(got[0] == 2 && got[1] == 4 && got[2] == 6 && got[3] == -2);
    CHECK_EQ_INT(run2(fn, &no, in, got), 0);
    CHECK(got[0] == -3 && got[1] == 4 && got[2] == 8 && got[3] == -6);
  }
  close_fixture(&f);
}

// while (x < limit) x += x, a pair carried: counts the turns as well.
static void build_while(fixture *f) {
  indim_loop_builder *b = &f->b;
  indim_storage *x = argument(f, INDIM_F64, 2);
  indim_storage *r = result(f, INDIM_F64, 2);
  indim_lval start[] = {indim_loop_load(b, x, index_of(f, 0), 1, 1), f64_const(f, 0)};
  indim_lval limit = indim_loop_load(b, x, index_of(f, 1), 1, 1);
  indim_lval now[2];
  indim_lval next[2];
  indim_loop_while_begin(b, 2, start, now);
  indim_loop_op less = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_LT};
  indim_lval args[] = {now[0], limit};
  indim_loop_while_body(b, indim_loop_scalar(b, less, INDIM_PRED, 2, args), now);
  next[0] = indim_loop_binary(b, INDIM_OP_ADD, now[0], now[0]);
  next[1] = indim_loop_binary(b, INDIM_OP_ADD, now[1], f64_const(f, 1));
  indim_loop_while_end(b, next, now);
  indim_loop_store(b, r, index_of(f, 0), now[0], 1, false);
  indim_loop_store(b, r, index_of(f, 1), now[1], 1, false);
}

TEST(while_runs_and_stops) {
  fixture f;
  REQUIRE(open_fixture(&f));
  build_while(&f);
  indim_compiled_fn *fn = compile(&f);
  double in[] = {1, 1000};
  double got[] = {0, 0};
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, in, NULL, got), 0);
    CHECK(got[0] == 1024 && got[1] == 10);
    in[0] = 5000;
    CHECK_EQ_INT(run2(fn, in, NULL, got), 0);
    CHECK(got[0] == 5000 && got[1] == 0);
    // Zero doubled stays below the limit for ever: the stop word ends it.
    in[0] = 0;
    int32_t stop = 1;
    indim_host host = {.stop = &stop};
    const void *arguments[] = {in};
    void *results[] = {got};
    CHECK_EQ_INT(fn(arguments, results, NULL, &host), INDIM_HOST_STOPPED);
    stop = 0;
    in[0] = 1;
    CHECK_EQ_INT(fn(arguments, results, NULL, &host), INDIM_HOST_OK);
    host.stop = NULL;
    CHECK_EQ_INT(fn(arguments, results, NULL, &host), INDIM_HOST_OK);
    CHECK(got[0] == 1024 && got[1] == 10);
  }
  close_fixture(&f);
}

// Memory ----------------------------------------------------------------------------------------------------------------

// Copies |lanes| elements |stride| apart through a register, from element |from| to the mirrored place, for any type of
// |bytes| bytes without padding bits: bytes in, the same bytes out.
static void check_strides(indim_type type, int32_t lanes, int32_t stride) {
  enum { N = 96, MOST = 16 * N };
  int32_t bytes = indim_type_bytes(type);
  int32_t from = stride < 0 ? 90 : 2;
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, type, N);
  indim_storage *r = result(&f, type, N);
  indim_lval v = indim_loop_load(b, x, index_of(&f, from), lanes, stride);
  indim_loop_store(b, r, index_of(&f, from), v, stride == 0 ? 1 : stride, false);
  indim_compiled_fn *fn = compile(&f);
  uint8_t in[MOST];
  uint8_t out[MOST];
  uint8_t expected[MOST];
  for (int32_t i = 0; i < MOST; i++) {
    in[i] = (uint8_t)(type == INDIM_PRED ? i % 3 == 0 : i * 7 + i / 50);
  }
  // Exponents that are no NaN, so that every value comes back bit by bit.
  for (int32_t i = bytes - 1; indim_type_is_float(type) && i < N * bytes; i += bytes) {
    in[i] = (uint8_t)(in[i] & 0x3b);
  }
  memset(out, 0xa5, sizeof out);
  memset(expected, 0xa5, sizeof expected);
  for (int32_t k = 0; k < lanes; k++) {
    int32_t at = from + k * (stride == 0 ? 1 : stride);
    memcpy(expected + at * bytes, in + (from + k * stride) * bytes, (size_t)bytes);
  }
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, in, NULL, out), 0);
    CHECK_MSG(memcmp(out, expected, sizeof out) == 0, "%s, %d lanes, stride %d", indim_type_text(type), (int)lanes,
              (int)stride);
  }
  close_fixture(&f);
}

TEST(every_stride) {
  static const indim_type types[] = {INDIM_F32, INDIM_PRED, INDIM_S64, INDIM_C64, INDIM_BF16, INDIM_U8, INDIM_C128};
  static const int32_t strides[] = {1, 0, -1, 2, -2, 3, -3, 4, -4, 5, 11, -6};
  static const int32_t lanes[] = {1, 3, 4, 8};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
    for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
      check_strides(types[t], lanes[(s + t) % 4], strides[s]);
    }
  }
  for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
    check_strides(INDIM_F32, 8, strides[s]);
    check_strides(INDIM_F64, 4, strides[s]);
  }
  check_strides(INDIM_F32, 16, 4);
  check_strides(INDIM_U8, 32, 2);
  check_strides(INDIM_S16, 16, -3);
}

// What is at the edge of readable memory is not touched where the mask is off: the storage is the last page's end.
static void check_mask(indim_type type, int32_t lanes, int32_t stride, bool has_lanes, unsigned on) {
  enum { N = 64, MOST = 16 * N };
  int32_t bytes = indim_type_bytes(type);
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, type, N);
  indim_storage *fills = argument(&f, type, N);
  indim_storage *r = result(&f, type, N);
  int64_t places[32];
  int32_t from = stride < 0 ? N - 1 : 0;
  for (int32_t k = 0; k < lanes; k++) {
    int64_t far = k % 2 == 0 ? (int64_t)1 << 40 : -((int64_t)1 << 40);
    places[k] = (on >> k) & 1 ? from + k * stride : far;
  }
  indim_lval address = has_lanes ? s64_lanes(&f, lanes, places) : index_of(&f, from);
  indim_lval mask = pred_lanes(&f, lanes, on);
  indim_lval fill = indim_loop_load(b, fills, index_of(&f, 0), lanes, 1);
  indim_lval v = indim_loop_load_masked(b, x, address, stride, mask, fill);
  indim_loop_store_masked(b, r, address, v, stride, mask);
  indim_storage *all = result(&f, type, N);
  indim_loop_store(b, all, index_of(&f, 0), v, 1, false);
  indim_compiled_fn *fn = compile(&f);
  uint8_t in[MOST], fill_bytes[MOST], out[MOST], out_all[MOST], expected[MOST], expected_all[MOST];
  for (int32_t i = 0; i < MOST; i++) {
    in[i] = (uint8_t)(type == INDIM_PRED ? i % 2 : (i * 5 + 1) & 0x3b);
    fill_bytes[i] = (uint8_t)(type == INDIM_PRED ? i % 3 == 0 : (i * 11 + 2) & 0x3b);
  }
  memset(out, 0xa5, sizeof out);
  memset(expected, 0xa5, sizeof expected);
  memset(out_all, 0xa5, sizeof out_all);
  memset(expected_all, 0xa5, sizeof expected_all);
  for (int32_t k = 0; k < lanes; k++) {
    bool is_on = (on >> k) & 1;
    const uint8_t *source = is_on ? in + places[k] * bytes : fill_bytes + k * bytes;
    memcpy(expected_all + k * bytes, source, (size_t)bytes);
    if (is_on) {
      memcpy(expected + places[k] * bytes, source, (size_t)bytes);
    }
  }
  if (fn != NULL) {
    const void *arguments[] = {in, fill_bytes};
    void *results[] = {out, out_all};
    CHECK_EQ_INT(fn(arguments, results, NULL, NULL), 0);
    CHECK_MSG(memcmp(out, expected, sizeof out) == 0 && memcmp(out_all, expected_all, sizeof out_all) == 0,
              "%s, %d lanes, stride %d, mask %x", indim_type_text(type), (int)lanes, (int)stride, on);
  }
  close_fixture(&f);
}

TEST(every_mask) {
  static const indim_type types[] = {INDIM_F32, INDIM_PRED, INDIM_F64, INDIM_C64, INDIM_F16, INDIM_S8, INDIM_C128};
  static const int32_t strides[] = {1, -1, 2, 7, -5};
  static const unsigned masks[] = {0x0f, 0xff, 0x00, 0xa6, 0x01, 0x80};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
    for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
      check_mask(types[t], 8, strides[s], false, masks[(s + t) % 6]);
    }
    check_mask(types[t], 8, 3, true, masks[t % 6]);
    check_mask(types[t], 4, -3, true, 0x6);
    check_mask(types[t], 8, 1, false, masks[t % 6]);
  }
  check_mask(INDIM_F32, 6, 1, false, 0x15);
  check_mask(INDIM_F64, 3, 1, false, 0x5);
  check_mask(INDIM_S32, 16, 1, false, 0x7fff);
}

// A scalar under a mask, and one element for all lanes under a mask.
TEST(masked_scalar_and_repeated) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F32, 1);
  indim_storage *p = argument(&f, INDIM_PRED, 4);
  indim_storage *r = result(&f, INDIM_F32, 8);
  indim_lval on = indim_loop_load(b, p, index_of(&f, 0), 1, 1);
  indim_lval far = index_of(&f, (int64_t)1 << 40);
  indim_lval one = indim_loop_load_masked(b, x, far, 1, on, f32_const(&f, 5));
  indim_lval four = indim_loop_load(b, p, index_of(&f, 0), 4, 1);
  indim_lval fill = indim_loop_splat(b, f32_const(&f, 9), 4);
  indim_lval repeated = indim_loop_load_masked(b, x, far, 0, four, fill);
  indim_loop_store(b, r, index_of(&f, 0), one, 1, false);
  indim_loop_store(b, r, index_of(&f, 1), repeated, 1, false);
  indim_loop_store_masked(b, r, far, one, 1, on);
  indim_compiled_fn *fn = compile(&f);
  float in = 3;
  uint8_t none[] = {0, 0, 0, 0};
  float got[8] = {0};
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, &in, none, got), 0);
    CHECK(got[0] == 5 && got[1] == 9 && got[2] == 9 && got[3] == 9 && got[4] == 9 && got[5] == 0);
  }
  close_fixture(&f);
}

// Lane addresses: loaded ones, and ones that are affine in a scalar and in constants.
TEST(lane_addresses) {
  static const int64_t steps[] = {0, 7, 3, 12, 1, 9, 9, 2};
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F32, 64);
  indim_storage *at = argument(&f, INDIM_S32, 8);
  indim_storage *r = result(&f, INDIM_F32, 64);
  indim_lval loaded = indim_loop_clamp_index(b, indim_loop_load(b, at, index_of(&f, 0), 8, 1), 0, 63);
  indim_lval first = indim_loop_load(b, x, loaded, 8, 1);
  indim_lval i = indim_loop_for_begin(b, index_of(&f, 0), index_of(&f, 4), 1, 0, NULL, NULL);
  indim_lval args[] = {indim_loop_splat(b, i, 8), s64_lanes(&f, 8, steps)};
  int64_t coefficients[] = {5, 2};
  indim_lval affine = indim_loop_affine(b, 3, 2, args, coefficients);
  indim_lval second = indim_loop_load(b, x, affine, 8, 1);
  indim_loop_store(b, r, indim_loop_mul_const(b, i, 8), indim_loop_binary(b, INDIM_OP_ADD, first, second), 1, false);
  indim_loop_for_end(b, NULL, NULL);
  indim_compiled_fn *fn = compile(&f);
  float in[64], got[64];
  for (int32_t k = 0; k < 64; k++) {
    in[k] = (float)(k * k);
  }
  int32_t places[] = {63, 0, -5, 1000, 17, 17, 2, 31};
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, in, places, got), 0);
    for (int32_t k = 0; k < 32; k++) {
      int32_t place = places[k % 8] < 0 ? 0 : places[k % 8] > 63 ? 63 : places[k % 8];
      CHECK(got[k] == in[place] + in[3 + 5 * (k / 8) + 2 * steps[k % 8]]);
    }
  }
  close_fixture(&f);
}

#define CASES(X)                 \
  X(add_of_two_arrays)           \
  X(for_with_bounds_from_memory) \
  X(for_of_one_trip_and_of_none) \
  X(if_gives_complex_values)     \
  X(while_runs_and_stops)        \
  X(every_stride)                \
  X(every_mask)                  \
  X(masked_scalar_and_repeated)  \
  X(lane_addresses)
TEST_MAIN(CASES)
