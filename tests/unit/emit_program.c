// The code generator: loop programs built by hand, compiled for this machine and run. Every kind of node, every form of
// memory access with guard values around, parallel loops with and without a host, stopping, and bodies so long that
// anything worse than linear would show.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "allocator_test.h"
#include "base/ctx.h"
#include "emit/program/program.h"
#include "target_test.h"
#include "test.h"

typedef struct fixture {
  indim_ctx *cx;
  indim_loop_program *program;
  indim_loop_builder b;
  indim_code *code;
  indim_emit_report times;
  int32_t argument_count, result_count;
  int32_t chunk;  // instructions of a function, where code is cut; 0: as long code is
} fixture;

// What the cases are compiled for: this machine, unless a case says otherwise.
static const char *target_name = "native";

static bool open_fixture(fixture *f) {
  indim_target target = target_named(target_name);
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
  indim_emit_options options = {.fast = fast, .chunk = f->chunk};
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
    indim_loop_region_begin(&f->b, &s, 1);
  }
  return s;
}

static indim_value_id index_of(fixture *f, int64_t value) { return indim_loop_index(&f->b, value); }

static indim_value_id f32_const(fixture *f, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return indim_loop_const(&f->b, INDIM_F32, bits, 0);
}

static indim_value_id f64_const(fixture *f, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return indim_loop_const(&f->b, INDIM_F64, bits, 0);
}

static indim_value_id s64_lanes(fixture *f, int32_t lanes, const int64_t *values) {
  uint64_t bits[128];
  for (int32_t k = 0; k < lanes; k++) {
    bits[2 * k] = (uint64_t)values[k];
    bits[2 * k + 1] = 0;
  }
  return indim_loop_lanes(&f->b, INDIM_S64, lanes, bits);
}

static indim_value_id pred_lanes(fixture *f, int32_t lanes, unsigned bits_set) {
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
  indim_value_id i = indim_loop_for_begin(b, index_of(f, 0), index_of(f, elements), step, 0, NULL, NULL);
  indim_value_id sums[8];
  for (int32_t u = 0; u < unroll; u++) {
    indim_value_id at = indim_loop_add_const(b, i, (int64_t)u * lanes);
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

// The machine that generates code is kept between compilations: what came before makes no difference.
TEST(same_object_after_others) {
  static const char *const targets[] = {"native", "native", "x86-64-v3", "aarch64", "native"};
  enum { COUNT = sizeof targets / sizeof targets[0] };
  fixture f;
  REQUIRE(open_fixture(&f));
  build_add(&f, INDIM_F32, 100, 8, 4);
  f.program->argument_count = f.argument_count;
  f.program->result_count = f.result_count;
  indim_buffer objects[COUNT];
  for (int i = 0; i < COUNT; i++) {
    indim_buffer_init(&objects[i], f.cx);
    f.program->target = target_named(targets[i]);
    indim_emit_options options = {.is_cross = true, .out_object = &objects[i]};
    if (indim_machine_is_there(&f.program->target)) {
      CHECK_EQ_INT(indim_jit_compile(f.cx, f.program, &options, NULL, &f.code), INDIM_OK);
      indim_jit_destroy(f.code);
      f.code = NULL;
    }
  }
  for (int i = 1; i < COUNT; i++) {
    if (strcmp(targets[i], targets[0]) == 0 && objects[0].data != NULL) {
      CHECK(objects[i].size == objects[0].size && memcmp(objects[i].data, objects[0].data, objects[0].size) == 0);
    }
  }
  for (int i = 0; i < COUNT; i++) {
    indim_buffer_deinit(&objects[i]);
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
  indim_value_id begin = indim_loop_clamp_index(b, indim_loop_load(b, bounds, index_of(&f, 0), 1, 1), 0, 100);
  indim_value_id end = indim_loop_clamp_index(b, indim_loop_load(b, bounds, index_of(&f, 1), 1, 1), 0, 100);
  indim_value_id zero = index_of(&f, 1000);
  indim_value_id sum = 0;
  indim_value_id i = indim_loop_for_begin(b, begin, end, 3, 1, &zero, &sum);
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
  indim_value_id first = indim_loop_load(b, x, index_of(&f, 0), 1, 1);
  indim_value_id carried = 0;
  indim_value_id out[2];
  indim_value_id i = indim_loop_for_begin(b, index_of(&f, 1), index_of(&f, 3), 2, 1, &first, &carried);
  indim_value_id sum = indim_loop_binary(b, INDIM_OP_ADD, carried, indim_loop_load(b, x, i, 1, 1));
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

// x^(2^20) by products, of numbers that the loop before would have changed, with every few nodes a function of their own; the loop, so
// long that it would be cut as well, never runs.
TEST(chunks_behind_a_loop_of_none) {
  enum { SQUARES = 20, MANY = 60 };
  static const int32_t chunks[] = {0, 4, 8, 16};
  for (size_t c = 0; c < sizeof chunks / sizeof chunks[0]; c++) {
    fixture f;
    REQUIRE(open_fixture(&f));
    indim_loop_builder *b = &f.b;
    indim_storage *x = argument(&f, INDIM_F64, 2);
    indim_storage *r = result(&f, INDIM_F64, 2);
    indim_value_id first = indim_loop_load(b, x, index_of(&f, 0), 1, 1);
    indim_value_id second = indim_loop_load(b, x, index_of(&f, 1), 1, 1);
    indim_value_id power = first;
    for (int i = 0; i < SQUARES / 2; i++) {
      power = indim_loop_binary(b, INDIM_OP_MULTIPLY, power, power);
    }
    indim_value_id carried = 0;
    indim_value_id kept = 0;
    indim_loop_for_begin(b, index_of(&f, 3), index_of(&f, 3), 1, 1, &power, &carried);
    for (int i = 0; i < MANY; i++) {
      carried = indim_loop_binary(b, INDIM_OP_ADD, carried, i % 2 == 0 ? first : carried);
    }
    indim_loop_for_end(b, &carried, &kept);
    for (int i = 0; i < SQUARES / 2; i++) {
      kept = indim_loop_binary(b, INDIM_OP_MULTIPLY, kept, kept);
    }
    indim_loop_store(b, r, index_of(&f, 0), kept, 1, false);
    indim_loop_store(b, r, index_of(&f, 1), indim_loop_binary(b, INDIM_OP_SUBTRACT, second, first), 1, false);
    f.chunk = chunks[c];
    indim_compiled_fn *fn = compile(&f);
    double in[] = {1.000001, 7};
    double expected = in[0];
    double got[] = {0, 0};
    for (int i = 0; i < SQUARES; i++) {
      expected *= expected;
    }
    if (fn != NULL) {
      CHECK_EQ_INT(run2(fn, in, NULL, got), 0);
      CHECK_MSG(got[0] == expected && got[1] == in[1] - in[0], "chunks of %d: %g, %g", (int)chunks[c], got[0], got[1]);
    }
    close_fixture(&f);
  }
}

TEST(if_gives_complex_values) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *p = argument(&f, INDIM_PRED, 1);
  indim_storage *x = argument(&f, INDIM_C64, 2);
  indim_storage *r = result(&f, INDIM_C64, 2);
  indim_value_id z = indim_loop_load(b, x, index_of(&f, 0), 2, 1);
  indim_loop_if_begin(b, indim_loop_load(b, p, index_of(&f, 0), 1, 1));
  indim_value_id sum = indim_loop_binary(b, INDIM_OP_ADD, z, z);
  indim_loop_if_else(b, 1, &sum);
  indim_value_id difference = indim_loop_binary(b, INDIM_OP_SUBTRACT, indim_loop_binary(b, INDIM_OP_ADD, z, z), z);
  indim_value_id out = 0;
  indim_loop_if_end(b, &difference, &out);
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
    CHECK(memcmp(got, in, sizeof in) == 0);
  }
  close_fixture(&f);
}

// while (x < limit) x += x, a pair carried: counts the turns as well.
static void build_while(fixture *f) {
  indim_loop_builder *b = &f->b;
  indim_storage *x = argument(f, INDIM_F64, 2);
  indim_storage *r = result(f, INDIM_F64, 2);
  indim_value_id start[] = {indim_loop_load(b, x, index_of(f, 0), 1, 1), f64_const(f, 0)};
  indim_value_id limit = indim_loop_load(b, x, index_of(f, 1), 1, 1);
  indim_value_id now[2];
  indim_value_id next[2];
  indim_loop_while_begin(b, 2, start, now);
  indim_loop_op less = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_LT};
  indim_value_id args[] = {now[0], limit};
  indim_loop_while_body(b, indim_loop_elementwise(b, less, INDIM_PRED, 2, args), now);
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
  indim_value_id v = indim_loop_load(b, x, index_of(&f, from), lanes, stride);
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
    CHECK_MSG(memcmp(out, expected, sizeof out) == 0, "%s: %s, %d lanes, stride %d", target_name, indim_type_text(type),
              (int)lanes, (int)stride);
  }
  close_fixture(&f);
}

// Which ways there are to memory depends on the target: masks for all elements, for some, for none; gathers. |body| for this
// machine, and for each level of its family that it has.
static void on_each_target(void (*body)(void)) {
  body();
  for (int32_t k = 0; k < LEVELS; k++) {
    indim_target target = target_named(levels[k]);
    if (runs_here(&target)) {
      target_name = levels[k];
      body();
    }
  }
  target_name = "native";
}

static void check_every_stride(void) {
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

TEST(every_stride) { on_each_target(check_every_stride); }

// Points of |stride| numbers one behind the other: each is loaded with |lanes| lanes, and stored where the next one was
// (with |whole| false, all but the last). In a loop, so that ranges are proven.
static void check_points(indim_type type, int32_t lanes, int32_t stride, bool whole) {
  enum { MOST = 16 * 64 * 4 };
  int32_t bytes = indim_type_bytes(type);
  int64_t points = 3 * lanes;
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, type, points * stride);
  indim_storage *r = result(&f, type, points * stride);
  indim_value_id i = indim_loop_for_begin(b, index_of(&f, 0), index_of(&f, points), lanes, 0, NULL, NULL);
  indim_value_id at = indim_loop_mul_const(b, i, stride);
  for (int32_t k = 0; k < stride - (whole ? 0 : 1); k++) {
    indim_value_id v = indim_loop_load(b, x, indim_loop_add_const(b, at, k), lanes, stride);
    indim_loop_store(b, r, indim_loop_add_const(b, at, (k + 1) % stride), v, stride, false);
  }
  indim_loop_for_end(b, NULL, NULL);
  indim_compiled_fn *fn = compile(&f);
  uint8_t in[MOST], out[MOST], expected[MOST];
  for (int32_t k = 0; k < MOST; k++) {
    in[k] = (uint8_t)((k * 7 + k / 50) & 0x3b);
  }
  memset(out, 0xa5, sizeof out);
  memset(expected, 0xa5, sizeof expected);
  for (int64_t k = 0; k < points * stride; k++) {
    if (whole || k % stride != stride - 1) {
      int64_t to = k / stride * stride + (k + 1) % stride;
      memcpy(expected + to * bytes, in + k * bytes, (size_t)bytes);
    }
  }
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, in, NULL, out), 0);
    CHECK_MSG(memcmp(out, expected, sizeof out) == 0, "%s, %d lanes, %d numbers", indim_type_text(type), (int)lanes,
              (int)stride);
  }
  close_fixture(&f);
}

static void check_points_of_eight(void) {
  static const int32_t lanes[] = {2, 4, 6, 8, 16, 32, 64};
  for (size_t k = 0; k < sizeof lanes / sizeof lanes[0]; k++) {
    check_points(INDIM_U8, lanes[k], 8, k != 3);
    check_points(INDIM_S16, lanes[k], 8, k % 2 == 0);
    check_points(INDIM_BF16, lanes[k], 8, k % 2 != 0);
  }
  check_points(INDIM_U8, 128, 8, true);
  check_points(INDIM_F32, 16, 8, true);
}

TEST(points_of_eight) { on_each_target(check_points_of_eight); }

TEST(points_sorted_apart_and_together) {
  for (int32_t stride = 2; stride <= 4; stride++) {
    check_points(INDIM_F32, 8, stride, true);
    check_points(INDIM_F32, 8, stride, false);
    check_points(INDIM_F32, 16, stride, true);
    check_points(INDIM_F64, 4, stride, true);
    check_points(INDIM_U8, 32, stride, true);
    check_points(INDIM_BF16, 16, stride, true);
    check_points(INDIM_S64, 2, stride, true);
    check_points(INDIM_F32, 6, stride, true);
    check_points(INDIM_C64, 4, stride, true);
  }
}

// What is at the edge of readable memory is not touched where the mask is off: the storage is the last page's end.
static void check_mask_of(indim_type type, int32_t lanes, int32_t stride, bool has_lanes, unsigned on, bool is_known) {
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
  indim_value_id address = has_lanes ? s64_lanes(&f, lanes, places) : index_of(&f, from);
  indim_storage *masks = argument(&f, INDIM_PRED, 32);
  indim_value_id mask = is_known ? pred_lanes(&f, lanes, on) : indim_loop_load(b, masks, index_of(&f, 0), lanes, 1);
  indim_value_id fill = indim_loop_load(b, fills, index_of(&f, 0), lanes, 1);
  indim_value_id v = indim_loop_load_masked(b, x, address, stride, mask, fill);
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
    uint8_t bits[32];
    for (int32_t k = 0; k < 32; k++) {
      bits[k] = (on >> k) & 1;
    }
    const void *arguments[] = {in, fill_bytes, bits};
    void *results[] = {out, out_all};
    CHECK_EQ_INT(fn(arguments, results, NULL, NULL), 0);
    CHECK_MSG(memcmp(out, expected, sizeof out) == 0 && memcmp(out_all, expected_all, sizeof out_all) == 0,
              "%s: %s, %d lanes, stride %d, mask %x%s", target_name, indim_type_text(type), (int)lanes, (int)stride, on,
              is_known ? ", known" : "");
  }
  close_fixture(&f);
}

static void check_mask(indim_type type, int32_t lanes, int32_t stride, bool has_lanes, unsigned on) {
  check_mask_of(type, lanes, stride, has_lanes, on, true);
  check_mask_of(type, lanes, stride, has_lanes, on, false);
}

static void check_every_mask(void) {
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
  check_mask(INDIM_U8, 32, 1, false, 0x80000001);
  check_mask(INDIM_U8, 32, 1, false, 0xffffffff);
  check_mask(INDIM_BF16, 16, 2, false, 0xa5a5);
  check_mask(INDIM_C64, 16, 3, true, 0x1234);
  check_mask(INDIM_S16, 16, -1, false, 0xfffe);
}

TEST(every_mask) { on_each_target(check_every_mask); }

// Lanes |first| to |first| + |count| of |lanes|, which span the storage, between pages that cannot be read: at its begin or its end.
static void check_interval(indim_type type, int32_t lanes, int32_t stride, int32_t first, int32_t count) {
  int32_t bytes = indim_type_bytes(type);
  int32_t apart = stride < 0 ? -stride : stride;
  int32_t span = (count - 1) * apart + 1;
  unsigned on = (unsigned)(((1ULL << count) - 1) << first);
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, type, span);
  indim_storage *r = result(&f, type, lanes);
  indim_value_id fill = indim_loop_splat(b, indim_loop_const(b, type, 1, 0), lanes);
  indim_value_id address = index_of(&f, (stride < 0 ? span - 1 : 0) - first * stride);
  indim_value_id v = indim_loop_load_masked(b, x, address, stride, pred_lanes(&f, lanes, on), fill);
  indim_loop_store(b, r, index_of(&f, 0), v, 1, false);
  indim_compiled_fn *fn = compile(&f);
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uint8_t out[16 * 64];
  CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_READ | PROT_WRITE) == 0);
  for (int at_end = 0; fn != NULL && at_end < 2; at_end++) {
    uint8_t *in = pages + page + (at_end ? page - (size_t)(span * bytes) : 0);
    for (int32_t i = 0; i < span * bytes; i++) {
      in[i] = (uint8_t)((i * 5 + 1) & 0x3b);
    }
    CHECK_EQ_INT(run2(fn, in, NULL, out), 0);
    for (int32_t k = first; k < first + count; k++) {
      int32_t from = stride < 0 ? span - 1 - (k - first) * apart : (k - first) * apart;
      CHECK_MSG(memcmp(out + k * bytes, in + from * bytes, (size_t)bytes) == 0,
                "%s: %s, lane %d of %d, stride %d, mask %x", target_name, indim_type_text(type), (int)k, (int)lanes,
                (int)stride, on);
    }
  }
  munmap(pages, 3 * page);
  close_fixture(&f);
}

static void check_every_interval(void) {
  static const indim_type types[] = {INDIM_F32, INDIM_U8, INDIM_F64, INDIM_BF16, INDIM_C64, INDIM_S16};
  static const int32_t strides[] = {2, -2, 3, -3, 4, -4};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
    int32_t most = t == 1 ? 32 : t == 0 || t == 3 ? 16 : 8;
    for (int32_t first = 0; first < most; first += most / 8) {
      for (int32_t count = 1; first + count <= most; count += most / 8 + (int32_t)t) {
        check_interval(types[t], most, strides[(size_t)(first + count) % 6], first, count);
      }
    }
  }
}

TEST(every_interval_of_lanes) { on_each_target(check_every_interval); }

// Stores past the caches give the same values, wherever the result lies.
TEST(streamed_stores) {
  enum { N = 256 };
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F32, N);
  indim_storage *r = result(&f, INDIM_F32, N);
  indim_value_id i = indim_loop_for_begin(b, index_of(&f, 0), index_of(&f, N), 16, 0, NULL, NULL);
  indim_loop_store(b, r, i, indim_loop_load(b, x, i, 16, 1), 1, true);
  indim_loop_for_end(b, NULL, NULL);
  indim_compiled_fn *fn = compile(&f);
  _Alignas(64) static float in[N], got[N + 32];
  for (int k = 0; k < N; k++) {
    in[k] = (float)k;
  }
  for (int shift = 0; fn != NULL && shift < 20; shift++) {
    memset(got, 0, sizeof got);
    CHECK_EQ_INT(run2(fn, in, NULL, got + shift), 0);
    CHECK(memcmp(got + shift, in, sizeof in) == 0 && got[N + shift] == 0 && (shift == 0 || got[shift - 1] == 0));
  }
  if (fn != NULL) {
    indim_buffer assembly;
    indim_buffer_init(&assembly, f.cx);
    indim_emit_options options = {.is_cross = true, .out_asm = &assembly};
    indim_jit_destroy(f.code);
    f.program->target = target_named("x86-64-v3");
    CHECK_EQ_INT(indim_jit_compile(f.cx, f.program, &options, NULL, &f.code), INDIM_OK);
    CHECK(indim_jit_function(f.code) == NULL);
    CHECK(assembly.data != NULL && strstr(assembly.data, "movnt") != NULL && strstr(assembly.data, "sfence") != NULL);
    indim_buffer_deinit(&assembly);
  }
  close_fixture(&f);
}

// A scalar under a mask, and one element for all lanes under a mask.
TEST(masked_scalar_and_repeated) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F32, 1);
  indim_storage *p = argument(&f, INDIM_PRED, 4);
  indim_storage *r = result(&f, INDIM_F32, 8);
  indim_value_id on = indim_loop_load(b, p, index_of(&f, 0), 1, 1);
  indim_value_id far = index_of(&f, (int64_t)1 << 40);
  indim_value_id one = indim_loop_load_masked(b, x, far, 1, on, f32_const(&f, 5));
  indim_value_id four = indim_loop_load(b, p, index_of(&f, 0), 4, 1);
  indim_value_id fill = indim_loop_splat(b, f32_const(&f, 9), 4);
  indim_value_id repeated = indim_loop_load_masked(b, x, far, 0, four, fill);
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

// Of an array without elements every lane is off, and is the fill.
TEST(masked_load_of_nothing) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *nothing = argument(&f, INDIM_F32, 0);
  indim_storage *p = argument(&f, INDIM_PRED, 4);
  indim_storage *r = result(&f, INDIM_F32, 4);
  indim_value_id mask = indim_loop_load(b, p, index_of(&f, 0), 4, 1);
  indim_value_id fill = indim_loop_splat(b, f32_const(&f, 9), 4);
  indim_loop_store(b, r, index_of(&f, 0), indim_loop_load_masked(b, nothing, index_of(&f, 0), 1, mask, fill), 1, false);
  indim_compiled_fn *fn = compile(&f);
  const uint8_t none[] = {0, 0, 0, 0};
  float got[4] = {0};
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, NULL, none, got), 0);
    CHECK(got[0] == 9 && got[1] == 9 && got[2] == 9 && got[3] == 9);
  }
  close_fixture(&f);
}

// Lane addresses: loaded ones, and ones that are affine in a scalar and in constants.
static void check_lane_addresses(void) {
  static const int64_t steps[] = {0, 7, 3, 12, 1, 9, 9, 2};
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F32, 64);
  indim_storage *at = argument(&f, INDIM_S32, 8);
  indim_storage *r = result(&f, INDIM_F32, 64);
  indim_value_id loaded = indim_loop_clamp_index(b, indim_loop_load(b, at, index_of(&f, 0), 8, 1), 0, 63);
  indim_value_id first = indim_loop_load(b, x, loaded, 8, 1);
  indim_value_id i = indim_loop_for_begin(b, index_of(&f, 0), index_of(&f, 4), 1, 0, NULL, NULL);
  indim_value_id args[] = {indim_loop_splat(b, i, 8), s64_lanes(&f, 8, steps)};
  int64_t coefficients[] = {5, 2};
  indim_value_id affine = indim_loop_affine(b, 3, 2, args, coefficients);
  indim_value_id second = indim_loop_load(b, x, affine, 8, 1);
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

TEST(lane_addresses) { on_each_target(check_lane_addresses); }

// Copies, fills, constants, scratch ----------------------------------------------------------------------------------

TEST(copy_fill_constant_scratch) {
  enum { N = 100 };
  static const int16_t data[] = {3, -4, 5, -6, 7, 8};
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *constant = indim_loop_storage(b, INDIM_STORAGE_CONSTANT, INDIM_S16, 6, "c");
  indim_storage *unused = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, INDIM_S16, 32, "s");
  indim_storage *scratch = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, INDIM_S16, 32, "s");
  REQUIRE(constant != NULL && unused != NULL && scratch != NULL);
  constant->data = data;
  scratch->offset = 64;
  f.program->scratch_bytes = 128;
  indim_storage *r = result(&f, INDIM_S16, N);
  indim_storage *z = result(&f, INDIM_C64, N);
  indim_storage *bytes = result(&f, INDIM_U8, N);
  indim_storage *zeros = result(&f, INDIM_F64, N);
  indim_storage *written[] = {r, z, bytes, zeros, scratch};
  indim_loop_region_begin(b, written, 5);
  indim_loop_copy(b, scratch, index_of(&f, 1), constant, index_of(&f, 2), 4);
  indim_loop_copy(b, r, index_of(&f, 10), scratch, index_of(&f, 1), 4);
  indim_loop_fill(b, r, index_of(&f, 50), indim_loop_const(b, INDIM_S16, 0x1234, 0), 37);
  float re = 1.5f;
  float im = -2.5f;
  uint32_t bits[2];
  memcpy(&bits[0], &re, 4);
  memcpy(&bits[1], &im, 4);
  indim_loop_fill(b, z, index_of(&f, 3), indim_loop_const(b, INDIM_C64, bits[0], bits[1]), 9);
  indim_loop_fill(b, bytes, index_of(&f, 1), indim_loop_const(b, INDIM_U8, 0xc3, 0), 50);
  indim_loop_fill(b, zeros, index_of(&f, 1), f64_const(&f, 0), 98);
  indim_compiled_fn *fn = compile(&f);
  static int16_t out_r[N];
  static float out_z[2 * N];
  static uint8_t out_bytes[N];
  static double out_zeros[N];
  _Alignas(64) static char block[128];
  void *results[] = {out_r, out_z, out_bytes, out_zeros};
  out_zeros[0] = out_zeros[99] = 6;
  out_zeros[50] = 7;
  if (fn != NULL) {
    CHECK_EQ_INT(fn(NULL, results, block, NULL), 0);
    for (int i = 0; i < N; i++) {
      CHECK_EQ_INT(out_r[i], i >= 10 && i < 14 ? data[i - 8] : i >= 50 && i < 87 ? 0x1234 : 0);
      CHECK(out_z[2 * i] == (i >= 3 && i < 12 ? re : 0) && out_z[2 * i + 1] == (i >= 3 && i < 12 ? im : 0));
      CHECK_EQ_INT(out_bytes[i], i >= 1 && i < 51 ? 0xc3 : 0);
      CHECK(out_zeros[i] == (i == 0 || i == 99 ? 6 : 0));
    }
    CHECK(memcmp(block + 64 + 2, data + 2, 8) == 0);
  }
  close_fixture(&f);
}

// Constants too large to go through LLVM: two of them, and a small one, read in a loop and copied; the program is gone
// when the code runs.
TEST(large_constants) {
  enum { N = 3000 };
  static float data[N];
  static double more[N];
  static const float few[] = {1, 2, 3, 4, 5, 6, 7, 8};
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = indim_loop_storage(b, INDIM_STORAGE_CONSTANT, INDIM_F32, N, "x");
  indim_storage *y = indim_loop_storage(b, INDIM_STORAGE_CONSTANT, INDIM_F64, N, "y");
  indim_storage *z = indim_loop_storage(b, INDIM_STORAGE_CONSTANT, INDIM_F32, 8, "z");
  REQUIRE(x != NULL && y != NULL && z != NULL);
  x->data = data;
  y->data = more;
  z->data = few;
  for (int k = 0; k < N; k++) {
    data[k] = (float)k;
    more[k] = k * 0.5;
  }
  indim_storage *r = result(&f, INDIM_F32, N);
  indim_storage *copy = result(&f, INDIM_F64, N);
  indim_storage *written[] = {r, copy};
  indim_loop_region_begin(b, written, 2);
  indim_loop_copy(b, copy, index_of(&f, 0), y, index_of(&f, 0), N);
  indim_value_id i = indim_loop_for_begin(b, index_of(&f, 0), index_of(&f, N), 8, 0, NULL, NULL);
  indim_loop_for_parallel(b, 8);
  indim_value_id v = indim_loop_load(b, x, i, 8, 1);
  v = indim_loop_binary(b, INDIM_OP_ADD, v, indim_loop_load(b, z, index_of(&f, 0), 8, 1));
  indim_loop_store(b, r, i, v, 1, false);
  indim_loop_for_end(b, NULL, NULL);
  indim_compiled_fn *fn = compile(&f);
  static float got[N];
  static double got_copy[N];
  void *results[] = {got, got_copy};
  if (fn != NULL) {
    memset(data, 0, sizeof data);
    memset(more, 0, sizeof more);
    CHECK_EQ_INT(fn(NULL, results, NULL, NULL), 0);
    for (int k = 0; k < N; k++) {
      CHECK(got[k] == (float)k + few[k % 8] && got_copy[k] == k * 0.5);
    }
  }
  close_fixture(&f);
}

// Lanes -----------------------------------------------------------------------------------------------------------------

// Arguments of 4, 4, 1 and 3 lanes under one map; then a fold of the result in every number of lanes.
TEST(shuffles_of_several_arguments) {
  static const int32_t map[] = {11, 0, 8, 4, -1, 7, 9, 3, 8, 10, 2, 2, 5};
  enum { COUNT = sizeof map / sizeof map[0] };
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F32, 12);
  indim_storage *z = argument(&f, INDIM_C128, 4);
  indim_storage *r = result(&f, INDIM_F32, COUNT);
  indim_storage *rz = result(&f, INDIM_C128, 4);
  indim_storage *written[] = {r, rz};
  indim_loop_region_begin(b, written, 2);
  indim_value_id args[] = {indim_loop_load(b, x, index_of(&f, 0), 4, 1), indim_loop_load(b, x, index_of(&f, 4), 4, 1),
                           indim_loop_load(b, x, index_of(&f, 8), 1, 1), indim_loop_load(b, x, index_of(&f, 9), 3, 1)};
  indim_loop_store(b, r, index_of(&f, 0), indim_loop_shuffle(b, 4, args, COUNT, map), 1, false);
  indim_value_id pair = indim_loop_load(b, z, index_of(&f, 0), 2, 1);
  indim_value_id other = indim_loop_load(b, z, index_of(&f, 2), 2, 1);
  indim_value_id both[] = {pair, other};
  static const int32_t turned[] = {3, 0, 2, 1};
  indim_loop_store(b, rz, index_of(&f, 0), indim_loop_shuffle(b, 2, both, 4, turned), 1, false);
  indim_compiled_fn *fn = compile(&f);
  float in[12], got[COUNT];
  double zin[8], zgot[8];
  for (int k = 0; k < 12; k++) {
    in[k] = (float)(k + 100);
    zin[k % 8] = k % 8;
  }
  if (fn != NULL) {
    const void *arguments[] = {in, zin};
    void *results[] = {got, zgot};
    CHECK_EQ_INT(fn(arguments, results, NULL, NULL), 0);
    for (int k = 0; k < COUNT; k++) {
      CHECK(map[k] < 0 || got[k] == in[map[k]]);
    }
    for (int k = 0; k < 4; k++) {
      CHECK(zgot[2 * k] == zin[2 * turned[k]] && zgot[2 * k + 1] == zin[2 * turned[k] + 1]);
    }
  }
  close_fixture(&f);
}

// Two to four arguments element by element one behind the other, with and without lanes left over.
static void check_interleaving(int32_t count, int32_t lanes, int32_t more) {
  enum { MOST = 64 };
  int32_t map[MOST];
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F32, MOST);
  indim_storage *r = result(&f, INDIM_F32, MOST);
  indim_value_id args[4];
  for (int32_t i = 0; i < count; i++) {
    args[i] = indim_loop_load(b, x, index_of(&f, i * lanes), lanes, 1);
  }
  int32_t result_lanes = count * lanes + more;
  for (int32_t k = 0; k < result_lanes; k++) {
    map[k] = k < count * lanes ? k % count * lanes + k / count : -1;
  }
  indim_loop_store(b, r, index_of(&f, 0), indim_loop_shuffle(b, count, args, result_lanes, map), 1, false);
  indim_compiled_fn *fn = compile(&f);
  float in[MOST], got[MOST];
  for (int32_t k = 0; k < MOST; k++) {
    in[k] = (float)k;
  }
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, in, NULL, got), 0);
    for (int32_t k = 0; k < count * lanes; k++) {
      CHECK_MSG(got[k] == in[map[k]], "%d of %d lanes: lane %d", (int)count, (int)lanes, (int)k);
    }
  }
  close_fixture(&f);
}

TEST(shuffles_that_interleave) {
  check_interleaving(2, 8, 0);
  check_interleaving(2, 16, 0);
  check_interleaving(3, 16, 16);
  check_interleaving(3, 8, 8);
  check_interleaving(3, 4, 4);
  check_interleaving(3, 2, 2);
  check_interleaving(3, 8, 0);
  check_interleaving(4, 4, 0);
  check_interleaving(4, 16, 0);
}

// One lane of several arguments. The builder makes an extract of that, but the language has it.
TEST(shuffles_to_one_lane) {
  for (int32_t from = 0; from < 8; from += 3) {
    fixture f;
    REQUIRE(open_fixture(&f));
    indim_loop_builder *b = &f.b;
    indim_storage *x = argument(&f, INDIM_C64, 8);
    indim_storage *r = result(&f, INDIM_C64, 1);
    const indim_value_id args[] = {indim_loop_load(b, x, index_of(&f, 0), 4, 1),
                                   indim_loop_load(b, x, index_of(&f, 4), 4, 1)};
    indim_value_id one = indim_loop_shuffle(b, 2, args, 2, (const int32_t[]){from, 7 - from});
    REQUIRE(b->status == INDIM_OK);
    f.program->values[one].lanes = 1;
    indim_loop_store(b, r, index_of(&f, 0), one, 1, false);
    CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
    indim_compiled_fn *fn = compile(&f);
    float in[16], got[2] = {0};
    for (int32_t k = 0; k < 16; k++) {
      in[k] = (float)k;
    }
    if (fn != NULL) {
      CHECK_EQ_INT(run2(fn, in, NULL, got), 0);
      CHECK(got[0] == in[2 * from] && got[1] == in[2 * from + 1]);
    }
    close_fixture(&f);
  }
}

TEST(folds_splats_extracts) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_S32, 64);
  indim_storage *z = argument(&f, INDIM_C64, 8);
  indim_storage *r = result(&f, INDIM_S32, 40);
  indim_storage *rz = result(&f, INDIM_C64, 8);
  indim_storage *written[] = {r, rz};
  indim_loop_region_begin(b, written, 2);
  indim_loop_op add = {.op = INDIM_OP_ADD};
  for (int32_t lanes = 2; lanes <= 33; lanes++) {
    indim_value_id sum = indim_loop_reduce(b, add, indim_loop_load(b, x, index_of(&f, 3), lanes, 1));
    indim_loop_store(b, r, index_of(&f, lanes), sum, 1, false);
  }
  indim_value_id v = indim_loop_load(b, z, index_of(&f, 1), 5, 1);
  indim_loop_store(b, rz, index_of(&f, 0), indim_loop_reduce(b, add, v), 1, false);
  indim_loop_store(b, rz, index_of(&f, 1), indim_loop_splat(b, indim_loop_extract(b, v, 3), 3), 1, false);
  indim_compiled_fn *fn = compile(&f);
  int32_t in[64], got[40];
  float zin[16], zgot[16];
  for (int k = 0; k < 64; k++) {
    in[k] = k * k;
    zin[k % 16] = (float)(k % 16);
  }
  if (fn != NULL) {
    const void *arguments[] = {in, zin};
    void *results[] = {got, zgot};
    CHECK_EQ_INT(fn(arguments, results, NULL, NULL), 0);
    for (int lanes = 2, sum = 9; lanes <= 33; lanes++) {
      sum += in[2 + lanes];
      CHECK_EQ_INT(got[lanes], sum);
    }
    CHECK(zgot[0] == 2 + 4 + 6 + 8 + 10 && zgot[1] == 3 + 5 + 7 + 9 + 11);
    for (int k = 1; k < 4; k++) {
      CHECK(zgot[2 * k] == zin[8] && zgot[2 * k + 1] == zin[9]);
    }
  }
  close_fixture(&f);
}

// Index arithmetic ------------------------------------------------------------------------------------------------------

TEST(divisions_round_down) {
  static const int64_t divisors[] = {1, 2, 3, 7, 8, 1000003};
  enum { N = 8, DIVISORS = 6 };
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_S64, N);
  indim_storage *r = result(&f, INDIM_S64, 4 * N * DIVISORS);
  indim_value_id raw = indim_loop_load(b, x, index_of(&f, 0), N, 1);
  indim_value_id values[] = {indim_loop_clamp_index(b, raw, -5000000, 5000000),
                             indim_loop_clamp_index(b, raw, 0, 5000000)};
  for (int64_t d = 0; d < DIVISORS; d++) {
    for (int64_t v = 0; v < 2; v++) {
      int64_t at = (2 * d + v) * 2 * N;
      indim_loop_store(b, r, index_of(&f, at), indim_loop_floordiv(b, values[v], divisors[d]), 1, false);
      indim_loop_store(b, r, index_of(&f, at + N), indim_loop_modulo(b, values[v], divisors[d]), 1, false);
    }
  }
  indim_compiled_fn *fn = compile(&f);
  int64_t in[] = {-4999999, -8, -7, -1, 0, 6, 4000012, INT64_MIN};
  int64_t got[4 * N * DIVISORS];
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, in, NULL, got), 0);
    for (int64_t d = 0; d < DIVISORS; d++) {
      for (int64_t v = 0; v < 2; v++) {
        for (int64_t k = 0; k < N; k++) {
          int64_t least = v == 0 ? -5000000 : 0;
          int64_t y = in[k] < least ? least : in[k];
          int64_t quotient = y / divisors[d] - (y % divisors[d] < 0);
          CHECK_EQ_INT(got[(2 * d + v) * 2 * N + k], quotient);
          CHECK_EQ_INT(got[(2 * d + v) * 2 * N + N + k], y - quotient * divisors[d]);
        }
      }
    }
  }
  close_fixture(&f);
}

static void check_clamp(indim_type type, const void *in, const int64_t *expected) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, type, 4);
  indim_storage *r = result(&f, INDIM_S64, 8);
  for (int32_t k = 0; k < 4; k++) {
    indim_value_id one = indim_loop_load(b, x, index_of(&f, k), 1, 1);
    indim_loop_store(b, r, index_of(&f, k), indim_loop_clamp_index(b, one, -3, 5), 1, false);
  }
  indim_value_id all = indim_loop_load(b, x, index_of(&f, 0), 4, 1);
  indim_loop_store(b, r, index_of(&f, 4), indim_loop_clamp_index(b, all, -3, 5), 1, false);
  indim_compiled_fn *fn = compile(&f);
  int64_t got[8];
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, in, NULL, got), 0);
    for (int32_t k = 0; k < 8; k++) {
      CHECK_MSG(got[k] == expected[k % 4], "%s, element %d: %lld", indim_type_text(type), (int)k, (long long)got[k]);
    }
  }
  close_fixture(&f);
}

TEST(clamps_of_every_integer_type) {
  const uint64_t u64[] = {0, 4, (uint64_t)1 << 63, UINT64_MAX};
  check_clamp(INDIM_U64, u64, (const int64_t[]){0, 4, 5, 5});
  const int64_t s64[] = {INT64_MIN, -1, 6, INT64_MAX};
  check_clamp(INDIM_S64, s64, (const int64_t[]){-3, -1, 5, 5});
  const uint32_t u32[] = {UINT32_MAX, 0x80000000u, 1, 5};
  check_clamp(INDIM_U32, u32, (const int64_t[]){5, 5, 1, 5});
  check_clamp(INDIM_S32, u32, (const int64_t[]){-1, -3, 1, 5});
  const uint8_t bytes[] = {0xff, 0x80, 3, 0x7f};
  check_clamp(INDIM_U8, bytes, (const int64_t[]){5, 5, 3, 5});
  check_clamp(INDIM_S8, bytes, (const int64_t[]){-1, -3, 3, 5});
  const uint8_t nibbles[] = {0x0f, 0x08, 3, 7};
  check_clamp(INDIM_U4, nibbles, (const int64_t[]){5, 5, 3, 5});
  check_clamp(INDIM_S4, nibbles, (const int64_t[]){-1, -3, 3, 5});
}

TEST(fma_and_affine) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F64, 3);
  indim_storage *n = argument(&f, INDIM_S32, 3);
  indim_storage *r = result(&f, INDIM_F64, 1);
  indim_storage *ri = result(&f, INDIM_S64, 1);
  indim_storage *written[] = {r, ri};
  indim_loop_region_begin(b, written, 2);
  indim_value_id v[3];
  indim_value_id index[3];
  for (int32_t k = 0; k < 3; k++) {
    v[k] = indim_loop_load(b, x, index_of(&f, k), 1, 1);
    index[k] = indim_loop_clamp_index(b, indim_loop_load(b, n, index_of(&f, k), 1, 1), -1000, 1000);
  }
  indim_loop_store(b, r, index_of(&f, 0), indim_loop_fma(b, v[0], v[1], v[2]), 1, false);
  int64_t coefficients[] = {-3, 8, -1};
  indim_loop_store(b, ri, index_of(&f, 0), indim_loop_affine(b, 41, 3, index, coefficients), 1, false);
  indim_compiled_fn *fn = compile(&f);
  double in[] = {1 + 0x1p-30, 1 - 0x1p-30, -1};
  int32_t numbers[] = {100, -7, 900};
  double got = 0;
  int64_t got_index = 0;
  if (fn != NULL) {
    const void *arguments[] = {in, numbers};
    void *results[] = {&got, &got_index};
    CHECK_EQ_INT(fn(arguments, results, NULL, NULL), 0);
    CHECK(got == (f.program->target.has_fma ? fma(in[0], in[1], in[2]) : in[0] * in[1] + in[2]));
    CHECK_EQ_INT(got_index, 41 - 300 - 56 - 900);
  }
  close_fixture(&f);
}

// Parallel loops and the host -------------------------------------------------------------------------------------------

typedef struct calls {
  int count;
  int64_t iterations, grain;
  bool wants_stop;
  int32_t stop;
} calls;

// Runs the pieces backwards.
static void run_backwards(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain) {
  calls *c = user;
  c->count++;
  c->iterations = count;
  c->grain = grain;
  for (int64_t begin = (count - 1) / grain * grain; begin >= 0; begin -= grain) {
    c->stop = c->wants_stop;
    piece(frame, begin, begin + grain < count ? begin + grain : count);
  }
}

// r[i] = a[i] * s + c + table[i % 4], 8 lanes at a time, s and c from outside; n from memory.
static void build_parallel(fixture *f, bool has_while) {
  static const float table[] = {10, 20, 30, 40, 10, 20, 30, 40};
  indim_loop_builder *b = &f->b;
  indim_storage *x = argument(f, INDIM_F32, 1024);
  indim_storage *n = argument(f, INDIM_S32, 2);
  indim_storage *t = indim_loop_storage(b, INDIM_STORAGE_CONSTANT, INDIM_F32, 8, "t");
  indim_storage *r = result(f, INDIM_F32, 1024);
  REQUIRE(t != NULL);
  t->data = table;
  indim_value_id begin = indim_loop_clamp_index(b, indim_loop_load(b, n, index_of(f, 0), 1, 1), 0, 1000);
  indim_value_id end = indim_loop_clamp_index(b, indim_loop_load(b, n, index_of(f, 1), 1, 1), 0, 1017);
  indim_value_id factor = indim_loop_splat(b, indim_loop_load(b, x, index_of(f, 0), 1, 1), 8);
  indim_value_id i = indim_loop_for_begin(b, begin, end, 8, 0, NULL, NULL);
  indim_loop_for_parallel(b, 4);
  indim_value_id v = indim_loop_load(b, x, i, 8, 1);
  v = indim_loop_binary(b, INDIM_OP_MULTIPLY, v, factor);
  v = indim_loop_binary(b, INDIM_OP_ADD, v, indim_loop_load(b, t, index_of(f, 0), 8, 1));
  if (has_while) {
    indim_value_id now;
    indim_value_id start = f32_const(f, 1);
    indim_loop_while_begin(b, 1, &start, &now);
    indim_loop_op less = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_LT};
    indim_value_id args[] = {now, f32_const(f, 100)};
    indim_loop_while_body(b, indim_loop_elementwise(b, less, INDIM_PRED, 2, args), &now);
    indim_value_id next = indim_loop_binary(b, INDIM_OP_ADD, now, now);
    indim_loop_while_end(b, &next, &now);
    v = indim_loop_binary(b, INDIM_OP_ADD, v, indim_loop_splat(b, now, 8));
  }
  indim_loop_store(b, r, i, v, 1, false);
  indim_loop_for_end(b, NULL, NULL);
}

static void check_parallel(indim_compiled_fn *fn, const indim_host *host, int32_t begin, int32_t end, float more) {
  static float x[1024], got[1024];
  int32_t bounds[] = {begin, end};
  for (int k = 0; k < 1024; k++) {
    x[k] = (float)(k + 3);
    got[k] = -1;
  }
  const void *arguments[] = {x, bounds};
  void *results[] = {got};
  CHECK_EQ_INT(fn(arguments, results, NULL, host), 0);
  int32_t last = begin < end ? begin + (end - begin + 7) / 8 * 8 : begin;
  for (int k = 0; k < 1024; k++) {
    bool is_in = k >= begin && k < last;
    CHECK(got[k] == (is_in ? x[k] * 3 + (float)(10 * ((k - begin) % 4 + 1)) + more : -1));
  }
}

TEST(parallel_loops) {
  fixture f;
  REQUIRE(open_fixture(&f));
  build_parallel(&f, false);
  indim_compiled_fn *fn = compile(&f);
  if (fn != NULL) {
    calls c = {.count = 0};
    indim_host host = {.user = &c};
    check_parallel(fn, NULL, 4, 1004, 0);
    check_parallel(fn, &host, 4, 1004, 0);
    host.parallel = run_backwards;
    check_parallel(fn, &host, 4, 1005, 0);
    CHECK_EQ_INT(c.count, 1);
    CHECK_EQ_INT(c.iterations, 126);
    CHECK_EQ_INT(c.grain, 4);
    check_parallel(fn, &host, 50, 50, 0);
    check_parallel(fn, &host, 60, 40, 0);
    check_parallel(fn, &host, 60, 92, 0);
    CHECK_EQ_INT(c.count, 1);
  }
  close_fixture(&f);
}

TEST(while_inside_a_piece_stops) {
  fixture f;
  REQUIRE(open_fixture(&f));
  build_parallel(&f, true);
  indim_compiled_fn *fn = compile(&f);
  if (fn != NULL) {
    calls c = {.count = 0};
    indim_host host = {.user = &c, .stop = &c.stop, .parallel = run_backwards};
    check_parallel(fn, NULL, 0, 1000, 128);
    check_parallel(fn, &host, 0, 1000, 128);
    c.wants_stop = true;
    static float x[1024], got[1024];
    int32_t bounds[] = {0, 1000};
    const void *arguments[] = {x, bounds};
    void *results[] = {got};
    CHECK_EQ_INT(fn(arguments, results, NULL, &host), INDIM_HOST_STOPPED);
  }
  close_fixture(&f);
}

static int32_t see_matmul(void *user, const indim_host_matmul *sizes, void *const *arrays) {
  calls *c = user;
  c->count++;
  c->iterations = sizes->type == INDIM_F32 && sizes->batch == 1 && sizes->m == 2 && sizes->accumulate == 14 &&
                  sizes->single_thread == 15 && sizes->rhs_type == INDIM_F32;
  *(float *)arrays[0] = *(const float *)arrays[1] * *(const float *)arrays[2];
  return c->wants_stop ? 5 : 0;
}

TEST(host_matmul) {
  static const indim_host_matmul numbers = {INDIM_F32, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, INDIM_F32, 0};
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F32, 8);
  indim_storage *y = argument(&f, INDIM_F32, 8);
  indim_storage *r = result(&f, INDIM_F32, 8);
  indim_storage *storages[] = {r, x, y};
  indim_value_id addresses[] = {index_of(&f, 3), index_of(&f, 1), index_of(&f, 2)};
  indim_loop_host(b, &(indim_host_call){INDIM_HOST_MATMUL, 3, 1, storages, addresses, NULL, &numbers});
  indim_compiled_fn *fn = compile(&f);
  float in[] = {0, 5, 7, 0, 0, 0, 0, 0};
  float got[8] = {0};
  if (fn != NULL) {
    calls c = {.count = 0};
    indim_host host = {.user = &c};
    const void *arguments[] = {in, in};
    void *results[] = {got};
    CHECK_EQ_INT(fn(arguments, results, NULL, NULL), INDIM_HOST_FAILED);
    CHECK_EQ_INT(fn(arguments, results, NULL, &host), INDIM_HOST_FAILED);
    host.matmul = see_matmul;
    CHECK_EQ_INT(fn(arguments, results, NULL, &host), 0);
    CHECK(c.count == 1 && c.iterations == 1 && got[3] == 35);
    c.wants_stop = true;
    CHECK_EQ_INT(fn(arguments, results, NULL, &host), INDIM_HOST_FAILED);
  }
  close_fixture(&f);
}

// Long bodies -----------------------------------------------------------------------------------------------------------

static double seconds_of(const indim_emit_report *times) { return 1e-9 * (double)(times->emit_ns + times->code_ns); }

// |count| additions and products of 8 running values, scalars; each checked against the same in C.
TEST(body_of_12000_scalar_nodes) {
  enum { COUNT = 12000, VALUES = 8 };
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F32, VALUES);
  indim_storage *r = result(&f, INDIM_F32, VALUES);
  indim_value_id start[VALUES], now[VALUES];
  for (int32_t k = 0; k < VALUES; k++) {
    start[k] = indim_loop_load(b, x, index_of(&f, k), 1, 1);
  }
  indim_loop_for_begin(b, index_of(&f, 0), index_of(&f, 3), 1, VALUES, start, now);
  for (int32_t i = 0; i < COUNT; i++) {
    indim_value_id other = now[(i * 5 + 3) % VALUES];
    indim_op op = i % 3 == 0 ? INDIM_OP_MULTIPLY : i % 3 == 1 ? INDIM_OP_ADD : INDIM_OP_SUBTRACT;
    now[i % VALUES] = indim_loop_binary(b, op, now[i % VALUES], other);
  }
  indim_loop_for_end(b, now, now);
  for (int32_t k = 0; k < VALUES; k++) {
    indim_loop_store(b, r, index_of(&f, k), now[k], 1, false);
  }
  indim_compiled_fn *fn = compile(&f);
  float in[VALUES] = {0.5f, 0.25f, 1, -0.75f, 0.125f, 0.3f, -0.2f, 0.9f};
  float got[VALUES], expected[VALUES];
  memcpy(expected, in, sizeof in);
  for (int32_t i = 0; i < 3 * COUNT; i++) {
    int32_t k = i % COUNT;
    float other = expected[(k * 5 + 3) % VALUES];
    float *v = &expected[k % VALUES];
    *v = k % 3 == 0 ? *v * other : k % 3 == 1 ? *v + other : *v - other;
  }
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, in, NULL, got), 0);
    CHECK(memcmp(got, expected, sizeof got) == 0);
    CHECK_MSG(seconds_of(&f.times) < 60, "%.2f s", seconds_of(&f.times));
    printf("12,000 nodes: %.3f s\n", seconds_of(&f.times));
  }
  close_fixture(&f);
}

// 2,000 hyperbolic tangents, each of a sum: inline code of tens of instructions each.
TEST(body_of_2000_tanh) {
  enum { COUNT = 2000, VALUES = 50 };
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *x = argument(&f, INDIM_F32, VALUES);
  indim_storage *r = result(&f, INDIM_F32, VALUES);
  indim_value_id now[VALUES];
  for (int32_t k = 0; k < VALUES; k++) {
    now[k] = indim_loop_load(b, x, index_of(&f, k), 1, 1);
  }
  indim_loop_op tanh_op = {.op = INDIM_OP_TANH};
  for (int32_t i = 0; i < COUNT; i++) {
    indim_value_id sum = indim_loop_binary(b, INDIM_OP_ADD, now[i % VALUES], now[(i + 7) % VALUES]);
    now[i % VALUES] = indim_loop_elementwise(b, tanh_op, INDIM_F32, 1, &sum);
  }
  for (int32_t k = 0; k < VALUES; k++) {
    indim_loop_store(b, r, index_of(&f, k), now[k], 1, false);
  }
  indim_compiled_fn *fn = compile(&f);
  float in[VALUES], got[VALUES];
  double expected[VALUES];
  for (int32_t k = 0; k < VALUES; k++) {
    in[k] = 0.1f * (float)(k - 20);
    expected[k] = (double)in[k];
  }
  for (int32_t i = 0; i < COUNT; i++) {
    expected[i % VALUES] = tanh(expected[i % VALUES] + expected[(i + 7) % VALUES]);
  }
  if (fn != NULL) {
    CHECK_EQ_INT(run2(fn, in, NULL, got), 0);
    for (int32_t k = 0; k < VALUES; k++) {
      CHECK_MSG(fabs((double)got[k] - expected[k]) < 1e-4, "%d: %g %g", (int)k, (double)got[k], expected[k]);
    }
    CHECK_MSG(seconds_of(&f.times) < 60, "%.2f s", seconds_of(&f.times));
    printf("2,000 tanh: %.3f s\n", seconds_of(&f.times));
  }
  close_fixture(&f);
}

// Text ------------------------------------------------------------------------------------------------------------------

TEST(text_of_ir_and_assembly) {
  fixture f;
  REQUIRE(open_fixture(&f));
  build_add(&f, INDIM_F64, 64, 4, 1);
  indim_buffer llvm, assembly;
  indim_buffer_init(&llvm, f.cx);
  indim_buffer_init(&assembly, f.cx);
  indim_emit_options options = {.out_llvm = &llvm, .out_asm = &assembly};
  CHECK_EQ_INT(indim_jit_compile(f.cx, f.program, &options, NULL, &f.code), INDIM_OK);
  CHECK(llvm.data != NULL && strstr(llvm.data, "fadd <4 x double>") != NULL);
  CHECK(assembly.data != NULL && strstr(assembly.data, "indim_program:") != NULL);
  indim_buffer_deinit(&llvm);
  indim_buffer_deinit(&assembly);
  close_fixture(&f);
}

// Every allocation of a compilation fails in turn: NO_MEMORY, and nothing is lost.
TEST(every_allocation_may_fail) {
  test_allocator state = {0};
  indim_allocator allocator = {test_resize, &state};
  indim_target target;
  indim_host_target(&target);
  fixture f = {.cx = NULL};
  REQUIRE(indim_ctx_create(&allocator, &f.cx) == INDIM_OK);
  REQUIRE(indim_loop_program_create(f.cx, NULL, &target, &f.program) == INDIM_OK);
  indim_loop_builder_init(&f.b, f.program);
  build_parallel(&f, true);
  indim_storage *more = result(&f, INDIM_C64, 8);
  uint64_t bits[16] = {0};
  indim_value_id lanes = indim_loop_lanes(&f.b, INDIM_C64, 8, bits);
  static const int32_t map[] = {3, 2, 1, 0, 7, 6, 5, 5};
  indim_loop_store(&f.b, more, index_of(&f, 0), indim_loop_shuffle(&f.b, 1, &lanes, 8, map), 1, false);
  REQUIRE(f.b.status == INDIM_OK);
  uint64_t before = indim_ctx_memory_in_use(f.cx);
  indim_status status = INDIM_NO_MEMORY;
  int64_t tries = 0;
  for (; status == INDIM_NO_MEMORY && tries < 1000; tries++) {
    state.fail_at = state.count + 1 + tries;
    status = indim_jit_compile(f.cx, f.program, NULL, NULL, &f.code);
    CHECK(status == INDIM_OK || (f.code == NULL && indim_ctx_memory_in_use(f.cx) == before));
  }
  state.fail_at = 0;
  CHECK_EQ_INT(status, INDIM_OK);
  CHECK(tries >= 3);
  close_fixture(&f);
}

TEST(too_many_lanes_are_refused) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_storage *x = argument(&f, INDIM_F32, 1);
  indim_storage *r = result(&f, INDIM_F32, 5000);
  indim_value_id one = indim_loop_load(&f.b, x, index_of(&f, 0), 1, 1);
  indim_loop_store(&f.b, r, index_of(&f, 0), indim_loop_splat(&f.b, one, 5000), 1, false);
  if (f.b.status == INDIM_OK) {
    CHECK_EQ_INT(indim_jit_compile(f.cx, f.program, NULL, NULL, &f.code), INDIM_LIMIT);
  }
  close_fixture(&f);
}

TEST(a_deep_nest_is_refused) {
  fixture f;
  REQUIRE(open_fixture(&f));
  enum { DEEP = 300 };
  indim_storage *p = argument(&f, INDIM_PRED, 1);
  indim_value_id pred = indim_loop_load(&f.b, p, index_of(&f, 0), 1, 1);
  for (int32_t i = 0; i < DEEP; i++) {
    indim_loop_if_begin(&f.b, pred);
  }
  for (int32_t i = 0; i < DEEP; i++) {
    indim_loop_if_else(&f.b, 0, NULL);
    indim_loop_if_end(&f.b, NULL, NULL);
  }
  CHECK_EQ_INT(f.b.status, INDIM_OK);
  CHECK_EQ_INT(indim_jit_compile(f.cx, f.program, NULL, NULL, &f.code), INDIM_LIMIT);
  CHECK(f.code == NULL);
  close_fixture(&f);
}

// What it does not do ---------------------------------------------------------------------------------------------------

// Compiling fails with |expected| and |words| in the message.
static void expect_failure(fixture *f, indim_status expected, const char *words) {
  CHECK_EQ_INT(f->b.status, INDIM_OK);
  f->program->argument_count = f->argument_count;
  f->program->result_count = f->result_count;
  indim_status status = indim_jit_compile(f->cx, f->program, NULL, NULL, &f->code);
  const indim_diagnostic *d = indim_ctx_diagnostic_get(f->cx, 0);
  const char *message = d == NULL ? "" : d->message;
  CHECK_MSG(status == expected && strstr(message, words) != NULL, "%s: \"%s\", expected %s: \"%s\"",
            indim_status_name(status), message, indim_status_name(expected), words);
  CHECK(f->code == NULL);
  close_fixture(f);
}

// The verifier lets none of these through; the code generator does not rely on it.
TEST(ops_of_other_types_are_refused) {
  for (int32_t is_fold = 0; is_fold < 2; is_fold++) {
    fixture f;
    REQUIRE(open_fixture(&f));
    indim_loop_builder *b = &f.b;
    indim_value_id x = indim_loop_load(b, argument(&f, INDIM_F32, 8), index_of(&f, 0), 8, 1);
    indim_storage *r = result(&f, INDIM_F32, 8);
    indim_loop_op op = {.op = INDIM_OP_AND};
    indim_value_id y = is_fold ? indim_loop_reduce(b, op, x) : indim_loop_binary(b, op.op, x, x);
    indim_loop_store(b, r, index_of(&f, 0), y, 1, false);
    expect_failure(&f, INDIM_UNSUPPORTED, "no and of f32");
  }
}

TEST(moves_of_too_many_bytes_are_refused) {
  const int64_t many = INT64_C(1) << 61;
  for (int32_t is_fill = 0; is_fill < 2; is_fill++) {
    fixture f;
    REQUIRE(open_fixture(&f));
    indim_storage *x = argument(&f, INDIM_F64, many);
    indim_storage *r = result(&f, INDIM_F64, many);
    if (is_fill) {
      indim_loop_fill(&f.b, r, index_of(&f, 0), f64_const(&f, 7), many);
    } else {
      indim_loop_copy(&f.b, r, index_of(&f, 0), x, index_of(&f, 0), many);
    }
    expect_failure(&f, INDIM_LIMIT, "2305843009213693952 elements of f64");
  }
}

#define CASES(X)                      \
  X(add_of_two_arrays)                \
  X(same_object_after_others)         \
  X(for_with_bounds_from_memory)      \
  X(for_of_one_trip_and_of_none)      \
  X(chunks_behind_a_loop_of_none)     \
  X(if_gives_complex_values)          \
  X(while_runs_and_stops)             \
  X(every_stride)                     \
  X(points_sorted_apart_and_together) \
  X(points_of_eight)                  \
  X(every_mask)                       \
  X(every_interval_of_lanes)          \
  X(streamed_stores)                  \
  X(masked_scalar_and_repeated)       \
  X(masked_load_of_nothing)           \
  X(lane_addresses)                   \
  X(copy_fill_constant_scratch)       \
  X(large_constants)                  \
  X(shuffles_of_several_arguments)    \
  X(shuffles_that_interleave)         \
  X(shuffles_to_one_lane)             \
  X(folds_splats_extracts)            \
  X(divisions_round_down)             \
  X(clamps_of_every_integer_type)     \
  X(fma_and_affine)                   \
  X(parallel_loops)                   \
  X(while_inside_a_piece_stops)       \
  X(host_matmul)                      \
  X(body_of_12000_scalar_nodes)       \
  X(body_of_2000_tanh)                \
  X(text_of_ir_and_assembly)          \
  X(every_allocation_may_fail)        \
  X(too_many_lanes_are_refused)       \
  X(a_deep_nest_is_refused)           \
  X(ops_of_other_types_are_refused)   \
  X(moves_of_too_many_bytes_are_refused)
TEST_MAIN(CASES)
