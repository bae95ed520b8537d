// The ops that are kernels of their own, compiled, against the evaluator: programs with sizes, windows, strides, paddings,
// dilations, groups, dimension orders and comparators drawn by a fixed generator. Values are small integers, so that sums
// are exact in any order and every bit must agree.
#include <stdarg.h>

#include "indim/compile.h"
#include "indim/eval.h"
#include "indim/shape_util.h"
#include "indim/text.h"
#include "literal_test.h"

enum { MOST_TEXT = 1 << 14, MOST_PARAMETERS = 8, MOST_RANK = 6 };

// Drawing ---------------------------------------------------------------------------------------------------------------

static uint64_t state;

static int64_t draw(int64_t below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)((state >> 33) % (uint64_t)below);
}

static int64_t pick(int32_t count, const int64_t *list) { return list[draw(count)]; }
#define PICK(...) pick((int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})

// 0 .. rank - 1 in any order.
static void draw_order(int32_t rank, int64_t *order) {
  for (int32_t d = 0; d < rank; d++) {
    int64_t at = draw(d + 1);
    order[d] = order[at];
    order[at] = d;
  }
}

static const char *draw_type(void) {
  static const char *const types[] = {"f32", "f32", "s32", "f64", "s8", "bf16"};
  return types[draw(6)];
}

// Text ------------------------------------------------------------------------------------------------------------------

static char text[MOST_TEXT];
static size_t text_size;

static INDIM_PRINTF(1, 2) void add(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_size += (size_t)vsnprintf(text + text_size, MOST_TEXT - text_size, format, arguments);
  va_end(arguments);
}

static void add_shape(const char *type, int32_t rank, const int64_t *sizes) {
  add("%s[", type);
  for (int32_t d = 0; d < rank; d++) {
    add("%s%lld", d == 0 ? "" : ",", (long long)sizes[d]);
  }
  add("]");
}

static void add_list(const char *before, int32_t count, const int64_t *list, const char *between) {
  add("%s", before);
  for (int32_t i = 0; i < count; i++) {
    add("%s%lld", i == 0 ? "" : between, (long long)list[i]);
  }
}

// A layout now and then, any order of the dimensions.
static void add_layout(int32_t rank) {
  int64_t order[MOST_RANK];
  if (rank == 0 || draw(3) != 0) {
    return;
  }
  draw_order(rank, order);
  add_list("{", rank, order, ",");
  add("}");
}

static void begin(void) {
  text_size = 0;
  add("HloModule test\n");
}

static void add_reducer(const char *type, const char *op) {
  add("f {\n  x = %s[] parameter(0)\n  y = %s[] parameter(1)\n  ROOT r = %s[] %s(x, y)\n}\n", type, type, type, op);
}

// Running ---------------------------------------------------------------------------------------------------------------

// Small integers; none below 0 where they are unsigned.
static indim_literal *draw_literal(indim_ctx *cx, const indim_shape *shape) {
  indim_literal *literal = NULL;
  int64_t index[INDIM_MAX_RANK] = {0};
  CHECK_OK(cx, indim_literal_create(cx, shape, &literal));
  for (int64_t i = 0; literal != NULL && i < indim_shape_element_count(shape); i++) {
    int64_t value = indim_type_is_unsigned_int(shape->type) ? draw(12) : draw(9) - 4;
    bool is_complex = indim_type_is_complex(shape->type);
    double imag = is_complex ? (double)(i % 7) : 0;
    CHECK_OK(cx, is_complex || indim_type_is_float(shape->type)
                     ? indim_literal_set_float(cx, literal, index, (double)value, imag)
                     : indim_literal_set_int(cx, literal, index, value));
    for (int32_t d = shape->rank - 1; d >= 0 && ++index[d] == shape->sizes[d]; d--) {
      index[d] = 0;
    }
  }
  return literal;
}

static const char *without;  // decisions left out

// With no threads and with three.
static void compare(indim_ctx *cx, const indim_module *module, const indim_literal *const *arguments, int64_t count) {
  indim_literal *expected = NULL;
  indim_literal *result = NULL;
  indim_executable *exe = NULL;
  indim_mismatch mismatch = {0};
  indim_tolerance exact = {.equal_nans = true};
  CHECK_OK(cx, indim_eval(cx, module, arguments, count, NULL, &expected));
  indim_compile_options compiling = {.without = without};
  indim_status made = indim_compile(cx, module, &compiling, &exe);
  CHECK_MSG(made == INDIM_OK, "%s\n%s", test_message(cx), text);
  for (int threads = 1; threads <= 3 && exe != NULL && expected != NULL; threads += 2) {
    indim_pool *pool = NULL;
    CHECK_OK(cx, indim_pool_create(cx, threads, &pool));
    indim_run_options options = {.pool = pool, .cx = cx};
    CHECK_OK(cx, indim_execute_literals(cx, exe, arguments, count, &options, &result));
    if (result != NULL) {
      CHECK_OK(cx, indim_literal_compare(cx, expected, result, &exact, &mismatch));
      CHECK_MSG(mismatch.count == 0, "%lld elements differ in\n%s", (long long)mismatch.count, text);
    }
    indim_literal_destroy(result);
    indim_pool_destroy(pool);
    result = NULL;
  }
  indim_literal_destroy(expected);
  indim_executable_destroy(exe);
}

static void run(void) {
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  indim_literal *arguments[MOST_PARAMETERS] = {NULL};
  indim_status status = indim_module_parse(cx, indim_str_of("test"), indim_str_of(text), &module);
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  CHECK_MSG(status == INDIM_OK, "%s\n%s", test_message(cx), text);
  if (status == INDIM_OK) {
    const indim_computation *entry = indim_module_entry(module);
    int64_t count = indim_computation_parameter_count(entry);
    for (int64_t p = 0; p < count; p++) {
      arguments[p] = draw_literal(cx, indim_instr_shape(indim_computation_parameter(entry, p)));
    }
    compare(cx, module, (const indim_literal *const *)arguments, count);
  }
  for (int64_t p = 0; p < MOST_PARAMETERS; p++) {
    indim_literal_destroy(arguments[p]);
  }
  indim_module_destroy(module);
  test_cx_free(cx);
}

// Whether this of the programs with large arrays is run.
static bool is_in_sample(void) {
  static int turn;
  return turn++ % TEST_SAMPLE == 0;
}

static bool can_compile(void) {
  bool can = indim_compile_available(NULL) == INDIM_OK;
  if (!can) {
    printf("  this build has no code generator: not tested\n");
  }
  return can;
}

static void run_each(uint64_t seed, const char *const *programs, size_t count) {
  state = seed;
  for (size_t i = 0; i < count && can_compile(); i++) {
    begin();
    add("%s\n", programs[i]);
    run();
  }
}
#define RUN_EACH(programs, seed) run_each(seed, programs, sizeof(programs) / sizeof *(programs))

// Windows ---------------------------------------------------------------------------------------------------------------

typedef struct window {
  int64_t size, stride, low, high, base, dilation, reversal;
} window;

static int64_t places(const window *w, int64_t size) {
  int64_t base = (size - 1) * w->base + 1 + w->low + w->high;
  int64_t reach = (w->size - 1) * w->dilation + 1;
  return base < reach ? -1 : (base - reach) / w->stride + 1;
}

static window draw_window(int64_t size) {
  for (;;) {
    window w = {.size = PICK(1, 1, 2, 3, 3, 4, 7),
                .stride = PICK(1, 1, 1, 2, 3),
                .low = PICK(0, 0, 1, 1, 3, -1),
                .high = PICK(0, 0, 1, 2, 3, -1),
                .base = PICK(1, 1, 1, 2, 3),
                .dilation = PICK(1, 1, 1, 2)};
    if (places(&w, size) > 0) {
      return w;
    }
  }
}

static void add_window(int32_t count, const window *w) {
  static const struct {
    const char *name;
    size_t offset;
  } parts[] = {{"size", offsetof(window, size)},
               {"stride", offsetof(window, stride)},
               {"lhs_dilate", offsetof(window, base)},
               {"rhs_dilate", offsetof(window, dilation)},
               {"rhs_reversal", offsetof(window, reversal)}};
  if (count == 0) {
    return;
  }
  add(", window={");
  for (int p = 0; p < 5; p++) {
    add("%s=", parts[p].name);
    for (int32_t d = 0; d < count; d++) {
      int64_t value = 0;
      memcpy(&value, (const char *)&w[d] + parts[p].offset, sizeof value);
      add("%s%lld", d == 0 ? "" : "x", (long long)value);
    }
    add(" ");
  }
  add("pad=");
  for (int32_t d = 0; d < count; d++) {
    add("%s%lld_%lld", d == 0 ? "" : "x", (long long)w[d].low, (long long)w[d].high);
  }
  add("}");
}

static void reduce_window_program(bool is_scan) {
  static const char *const ops[] = {"add", "maximum", "minimum"};
  int32_t rank = (int32_t)draw(3) + 1;
  int64_t sizes[MOST_RANK];
  int64_t results[MOST_RANK];
  window w[MOST_RANK];
  const char *type = draw_type();
  int64_t dim = draw(rank);
  for (int32_t d = 0; d < rank; d++) {
    sizes[d] = rank == 3 ? PICK(1, 2, 4, 9) : PICK(1, 2, 5, 8, 17, 33);
    w[d] = draw_window(sizes[d]);
    if (is_scan) {
      sizes[d] = d == dim ? PICK(2, 7, 16, 37, 64) : sizes[d];
      w[d] = (window){.size = 1, .stride = 1, .base = 1, .dilation = 1};
    }
    if (is_scan && d == dim) {
      bool from_end = draw(2) == 1;
      w[d].size = sizes[d];
      w[d].low = from_end ? 0 : sizes[d] - 1;
      w[d].high = from_end ? sizes[d] - 1 : 0;
    }
    results[d] = places(&w[d], sizes[d]);
  }
  begin();
  add_reducer(type, ops[draw(3)]);
  add("ENTRY main {\n  x = ");
  add_shape(type, rank, sizes);
  add(" parameter(0)\n  i = %s[] parameter(1)\n  y = ", type);
  add_shape(type, rank, sizes);
  add(" %s(x)\n  ROOT r = ", draw(2) == 0 ? "negate" : "copy");
  add_shape(type, rank, results);
  add_layout(rank);
  add(" reduce-window(y, i)");
  add_window(rank, w);
  add(", to_apply=f\n}\n");
}

TEST(reduce_windows) {
  state = 1;
  for (int i = 0; i < 80 && can_compile(); i++) {
    reduce_window_program(false);
    run();
  }
}

TEST(scans) {
  state = 2;
  for (int i = 0; i < 30 && can_compile(); i++) {
    reduce_window_program(true);
    run();
  }
}

TEST(select_and_scatters) {
  state = 3;
  for (int i = 0; i < 20 && can_compile(); i++) {
    int64_t sizes[2] = {PICK(3, 6, 11), PICK(4, 9)};
    window w[2] = {draw_window(sizes[0]), draw_window(sizes[1])};
    w[0].base = w[1].base = 1;
    w[0].dilation = w[1].dilation = 1;
    int64_t sources[2] = {places(&w[0], sizes[0]), places(&w[1], sizes[1])};
    if (sources[0] < 1 || sources[1] < 1) {
      continue;
    }
    begin();
    add_reducer("f32", "add");
    add("g {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT r = pred[] compare(x, y), direction=GE\n}\n");
    add("ENTRY main {\n  x = ");
    add_shape("f32", 2, sizes);
    add(" parameter(0)\n  s = ");
    add_shape("f32", 2, sources);
    add(" parameter(1)\n  i = f32[] parameter(2)\n  ROOT r = ");
    add_shape("f32", 2, sizes);
    add(" select-and-scatter(x, s, i)");
    add_window(2, w);
    add(", select=g, scatter=f\n}\n");
    run();
  }
}

// Convolutions -------------------------------------------------------------------------------------------------------------

// Puts the parts of a convolution's array in a drawn order: batch and feature (or output and input), then the spatial ones.
static void draw_labels(const char *letters, int64_t first, int64_t second, int32_t spatial, const int64_t *sizes,
                        char *out_labels, int64_t *out_sizes) {
  char labels[MOST_RANK] = {letters[0], letters[1]};
  int64_t all[MOST_RANK] = {first, second};
  int32_t rank = spatial + 2;
  for (int32_t s = 0; s < spatial; s++) {
    labels[s + 2] = (char)('0' + s);
    all[s + 2] = sizes[s];
  }
  for (int32_t d = 0; d < rank; d++) {
    int64_t at = draw(d + 1);
    out_labels[d] = out_labels[at];
    out_sizes[d] = out_sizes[at];
    out_labels[at] = labels[d];
    out_sizes[at] = all[d];
  }
  out_labels[rank] = '\0';
}

// |is_large|: the host's, most of them.
static void convolution_program(bool is_large) {
  static const char *const floats[] = {"f32", "f32", "f64", "f16", "bf16"};
  int32_t spatial = (int32_t)draw(3) + (is_large ? 1 : 0);
  int64_t feature_groups = draw(3) == 0 ? PICK(2, 3, 8) : 1;
  int64_t batch_groups = feature_groups == 1 && draw(4) == 0 ? 2 : 1;
  int64_t batch = PICK(1, 2, 3);
  int64_t inputs = is_large ? PICK(3, 8, 16, 17, 32, 40) : PICK(1, 2, 3, 5, 8);
  int64_t outputs = (is_large ? PICK(1, 3, 8, 16, 33, 70) : PICK(1, 2, 3, 8, 17)) * feature_groups * batch_groups;
  const char *type = is_large ? floats[draw(5)] : draw_type();
  window w[MOST_RANK];
  int64_t sizes[MOST_RANK], taps[MOST_RANK], results[MOST_RANK];
  for (int32_t s = 0; s < spatial; s++) {
    sizes[s] = is_large ? spatial == 3 ? PICK(3, 5, 8) : PICK(6, 11, 19, 28) : PICK(1, 3, 6, 11, 19);
    w[s] = draw_window(sizes[s]);
    w[s].reversal = draw(4) == 0;
    taps[s] = w[s].size;
    results[s] = places(&w[s], sizes[s]);
  }
  char labels[3][MOST_RANK + 1];
  int64_t shapes[3][MOST_RANK];
  draw_labels("bf", batch * batch_groups, inputs * feature_groups, spatial, sizes, labels[0], shapes[0]);
  draw_labels("oi", outputs, inputs, spatial, taps, labels[1], shapes[1]);
  draw_labels("bf", batch, outputs, spatial, results, labels[2], shapes[2]);
  begin();
  add("ENTRY main {\n  x = ");
  add_shape(type, spatial + 2, shapes[0]);
  add(" parameter(0)\n  p = ");
  add_shape(type, spatial + 2, shapes[1]);
  add(" parameter(1)\n  k = ");
  add_shape(type, spatial + 2, shapes[1]);
  add(draw(3) == 0 ? " reverse(p), dimensions={0,1}\n  ROOT r = " : " copy(p)\n  ROOT r = ");
  add_shape(type, spatial + 2, shapes[2]);
  add(" convolution(x, k)");
  add_window(spatial, w);
  add(", dim_labels=%s_%s->%s, feature_group_count=%lld, batch_group_count=%lld\n}\n", labels[0], labels[1], labels[2],
      (long long)feature_groups, (long long)batch_groups);
}

TEST(convolutions) {
  state = 4;
  for (int i = 0; i < 80 && can_compile(); i++) {
    convolution_program(false);
    run();
  }
  for (int i = 0; i < 60 && can_compile(); i++) {
    convolution_program(true);
    run();
  }
}

// Of small integers into s32, of different types and converted on the way, which are the host's.
TEST(convolutions_of_integers) {
  static const char *const programs[] = {
      "ENTRY main { x = s8[2,11,13,16] parameter(0) k = s8[3,3,16,40] parameter(1)\n"
      "  ROOT r = s32[2,11,13,40] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f }",
      "ENTRY main { x = u8[2,10,19,28] parameter(0) k = s8[24,10,5,3] parameter(1)\n"
      "  ROOT r = s32[2,24,10,14] convolution(x, k), window={size=5x3 stride=2x2 pad=2_2x1_1}, "
      "dim_labels=bf01_oi01->bf01 }",
      "ENTRY main { x = s16[1,17,17,40] parameter(0) k = u8[4,4,40,17] parameter(1)\n"
      "  ROOT r = s32[1,34,34,17] convolution(x, k), window={size=4x4 pad=2_2x2_2 lhs_dilate=2x2 rhs_reversal=1x1}, "
      "dim_labels=b01f_01io->b01f }",
      "ENTRY main { a = s8[3,600,34] parameter(0) x = s32[3,600,34] convert(a) b = s8[7,17,30] parameter(1)\n"
      "  k = s32[7,17,30] convert(b)\n"
      "  ROOT r = s32[3,597,30] convolution(x, k), window={size=7 pad=0_9 rhs_dilate=2}, dim_labels=b0f_0io->b0f, "
      "feature_group_count=2 }",
      "ENTRY main { x = s8[1,9,9,700] parameter(0) k = s8[1,1,700,16] parameter(1)\n"
      "  ROOT r = s32[1,9,9,16] convolution(x, k), window={size=1x1}, dim_labels=b01f_01io->b01f }",
  };
  RUN_EACH(programs, 13);
}

// Sorts --------------------------------------------------------------------------------------------------------------------

static void sort_program(void) {
  static const char *const directions[] = {"LT", "GT", "LT", "LE"};
  int32_t rank = (int32_t)draw(3) + 1;
  int32_t count = (int32_t)draw(3) + 1;
  int64_t sizes[MOST_RANK];
  const char *types[3] = {draw_type(), draw_type(), draw_type()};
  for (int32_t d = 0; d < rank; d++) {
    sizes[d] = rank == 1   ? PICK(1, 7, 8, 100, 128, 131, 777)
               : rank == 2 ? PICK(1, 2, 5, 8, 17, 33, 50)
                           : PICK(1, 2, 9, 16, 49);
  }
  bool is_float = types[0][0] == 'f' || types[0][0] == 'b';
  begin();
  add("f {\n");
  for (int32_t k = 0; k < count; k++) {
    add("  x%d = %s[] parameter(%d)\n  y%d = %s[] parameter(%d)\n", (int)k, types[k], (int)(2 * k), (int)k, types[k],
        (int)(2 * k + 1));
  }
  add("  p = %s[] negate(x0)\n  q = %s[] negate(y0)\n", types[0], types[0]);
  add("  ROOT r = pred[] compare(%s), direction=%s%s\n}\nENTRY main {\n", draw(2) == 0 ? "p, q" : "x0, y0",
      directions[draw(4)], is_float && draw(2) == 0 ? ", type=TOTALORDER" : "");
  for (int32_t k = 0; k < count; k++) {
    add("  a%d = ", (int)k);
    add_shape(types[k], rank, sizes);
    add(" parameter(%d)\n", (int)k);
  }
  add("  ROOT s = %s", count > 1 ? "(" : "");
  for (int32_t k = 0; k < count; k++) {
    add(k == 0 ? "" : ", ");
    add_shape(types[k], rank, sizes);
    add_layout(rank);
  }
  add("%s sort(", count > 1 ? ")" : "");
  for (int32_t k = 0; k < count; k++) {
    add("%sa%d", k == 0 ? "" : ", ", (int)k);
  }
  add("), dimensions={%lld}, is_stable=true, to_apply=f\n}\n", (long long)draw(rank));
}

// By the host, and by code.
static void run_both(void) {
  uint64_t before = state;
  run();
  state = before;
  without = "library";
  run();
  without = NULL;
}

TEST(sorts) {
  state = 5;
  for (int i = 0; i < 80 && can_compile(); i++) {
    sort_program();
    run_both();
  }
}

// The first key decides, the second where the first is equal: as a select, and as JAX writes it.
TEST(sorts_by_two_keys) {
  static const char *const orders[] = {"e, t, s", "n, s, t"};
  state = 15;
  for (int i = 0; i < 12 && can_compile(); i++) {
    const char *types[2] = {draw(2) == 0 ? "s32" : "u8", draw(2) == 0 ? "s64" : "u16"};
    const char *shape = draw(2) == 0 ? "[60]" : "[3,500]";
    const char *way = draw(2) == 0 ? "LT" : "GT";
    begin();
    add("f {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n", types[0], types[0]);
    add("  c = %s[] parameter(2)\n  d = %s[] parameter(3)\n", types[1], types[1]);
    add("  s = pred[] compare(a, b), direction=%s\n  t = pred[] compare(d, c), direction=%s\n", way, way);
    add("  e = pred[] compare(a, b), direction=EQ\n  n = pred[] compare(b, a), direction=NE\n  k = pred[] and(t, e)\n");
    if (draw(2) == 0) {
      add("  ROOT r = pred[] or(s, k)\n}\n");
    } else {
      add("  ROOT r = pred[] select(%s)\n}\n", orders[draw(2)]);
    }
    add("ENTRY main {\n  x = %s%s parameter(0)\n  y = %s%s parameter(1)\n  ROOT r = (%s%s, %s%s) sort(x, y), ",
        types[0], shape, types[1], shape, types[0], shape, types[1], shape);
    add("dimensions={%d}, is_stable=true, to_apply=f\n}\n", shape[2] == ',' ? 1 : 0);
    run_both();
  }
}

static void topk_program(int64_t lines, int64_t size, int64_t k, const char *operand) {
  const char *type = draw_type();
  int64_t sizes[2] = {lines, size}, kept[2] = {lines, k};
  begin();
  add("ENTRY main {\n  x = ");
  add_shape(type, 2, sizes);
  add(" parameter(0)\n  y = ");
  add_shape(type, 2, sizes);
  add(" %s\n  ROOT r = (", operand);
  add_shape(type, 2, kept);
  add(", ");
  add_shape("s32", 2, kept);
  add(") topk(y), k=%lld, largest=%s\n}\n", (long long)k, draw(2) == 0 ? "true" : "false");
}

TEST(topks) {
  state = 6;
  for (int i = 0; i < 12 && can_compile(); i++) {
    int64_t size = PICK(1, 5, 8, 21, 40);
    topk_program(PICK(1, 3), size, draw(size) + 1, "copy(x)");
    run_both();
  }
}

// Few of a line: selected, from values in order (each is a candidate), against it (none is), and at random; inserted, and
// more of them sorted with the candidates.
TEST(selections) {
  state = 8;
  for (int i = 0; i < 36 && can_compile(); i++) {
    bool is_short = i % 3 == 0;
    int64_t size = is_short ? PICK(4, 11, 29, 50) : PICK(700, 1024, 1601);
    topk_program(PICK(1, 3), size, is_short ? 1 + draw(size / 4) : PICK(1, 2, 7, 30, 64, 90),
                 PICK(0, 1) == 0 ? "copy(x)" : "iota(), iota_dimension=1");
    run_both();
  }
}

// Many lines at once and one long one: loops that may run in parallel, and merges of several widths.
TEST(large_sorts) {
  static const char *const shapes[] = {"[400,100]", "[40000]", "[3,20,1000]", "[70005]", "[32771]"};
  for (int i = 0; i < 5 && can_compile(); i++) {
    state = (uint64_t)(7 + i);
    begin();
    add("f {\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT r = pred[] compare(x, y), direction=LT\n}\n");
    add("ENTRY main {\n  x = s32%s parameter(0)\n  ROOT r = s32%s sort(x), dimensions={%d}, to_apply=f\n}\n", shapes[i],
        shapes[i], i == 0 || i == 2 ? 1 : 0);
    run_both();
  }
}

// Loops long enough to run in parallel.
TEST(large_windows) {
  static const char *const programs[] = {
      "ENTRY main { x = s32[180,200] parameter(0) i = s32[] parameter(1)\n"
      "  ROOT r = s32[180,200] reduce-window(x, i), window={size=3x3 pad=1_1x1_1}, to_apply=f }",
      "ENTRY main { x = s32[1000,40] parameter(0) i = s32[] parameter(1)\n"
      "  ROOT r = s32[1000,40] reduce-window(x, i), window={size=1x40 pad=0_0x39_0}, to_apply=f }",
      "ENTRY main { x = s32[40,1000] parameter(0) i = s32[] parameter(1)\n"
      "  ROOT r = s32[40,1000] reduce-window(x, i), window={size=40x1 pad=0_39x0_0}, to_apply=f }",
      "ENTRY main { x = s32[40,9,9,5] parameter(0) k = s32[3,3,5,16] parameter(1)\n"
      "  ROOT r = s32[40,9,9,16] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f }",
      "ENTRY main { x = s32[4,16,24,40] parameter(0) k = s32[16,16,3,3] parameter(1)\n"
      "  ROOT r = s32[4,16,24,40] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01 }",
  };
  state = 12;
  for (size_t i = 0; i < sizeof programs / sizeof *programs && can_compile(); i++) {
    begin();
    add_reducer("s32", "add");
    add("%s\n", programs[i]);
    run();
  }
}

// Scatters -----------------------------------------------------------------------------------------------------------------

static void scatter_program(void) {
  static const char *const ops[] = {"add", "maximum", "subtract"};
  static const char *const index_types[] = {"s32", "u8", "s64"};
  int64_t sizes[2] = {PICK(3, 7, 10), PICK(2, 9, 24)};
  int64_t count = PICK(1, 5, 12);
  const char *type = draw_type();
  int64_t kind = draw(5);
  bool by_vectors = kind >= 3;  // both coordinates, and windows of two dimensions
  int64_t wide[2] = {draw(sizes[0]) + 1, draw(sizes[1]) + 1};
  int64_t updates[3];
  int64_t indices[2] = {count, by_vectors ? 2 : 1};
  int32_t rank = by_vectors ? 3 : 2;
  switch (kind) {
  case 0:  // rows
    memcpy(updates, (int64_t[]){count, wide[1], 0}, sizeof updates);
    break;
  case 1:  // rows, the window first
    memcpy(updates, (int64_t[]){wide[1], count, 0}, sizeof updates);
    break;
  case 2:  // columns
    memcpy(updates, (int64_t[]){count, wide[0], 0}, sizeof updates);
    break;
  case 3:
    memcpy(updates, (int64_t[]){count, wide[0], wide[1]}, sizeof updates);
    break;
  default:
    memcpy(updates, (int64_t[]){wide[0], count, wide[1]}, sizeof updates);
    break;
  }
  begin();
  add_reducer(type, ops[draw(3)]);
  add("ENTRY main {\n  x = ");
  add_shape(type, 2, sizes);
  add(" parameter(0)\n  i = ");
  add_shape(index_types[draw(3)], 2, indices);
  add(" parameter(1)\n  u = ");
  add_shape(type, rank, updates);
  add(" parameter(2)\n  y = ");
  add_shape(type, 2, sizes);
  add(" %s(x)\n  ROOT r = ", draw(2) == 0 ? "negate" : "copy");
  add_shape(type, 2, sizes);
  add_layout(2);
  add(" scatter(y, i, u), update_window_dims={%s}, inserted_window_dims={%s}, scatter_dims_to_operand_dims={%s}, "
      "index_vector_dim=1, to_apply=f\n}\n",
      kind == 1   ? "0"
      : kind == 3 ? "1,2"
      : kind == 4 ? "0,2"
                  : "1",
      kind < 2    ? "0"
      : kind == 2 ? "1"
                  : "",
      kind < 2    ? "0"
      : kind == 2 ? "1"
                  : "0,1");
}

TEST(scatters) {
  state = 10;
  for (int i = 0; i < 80 && can_compile(); i++) {
    scatter_program();
    run();
  }
}

// In a loop, on memory of its own that nobody else looks at, and on memory that somebody does.
TEST(scatters_in_a_loop) {
  for (int shared = 0; shared < 2 && can_compile(); shared++) {
    state = (uint64_t)(20 + shared);
    begin();
    add_reducer("s32", "add");
    add("c {\n  p = (s32[], s32[300], s32[4]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  n = s32[] constant(9)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n");
    add("b {\n  p = (s32[], s32[300], s32[4]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  x = s32[300] get-tuple-element(p), index=1\n  j = s32[4] get-tuple-element(p), index=2\n"
        "  bi = s32[4] broadcast(i), dimensions={}\n  k = s32[4] add(j, bi)\n"
        "  y = s32[300] scatter(x, k, bi), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f\n"
        "  v = s32[300] reverse(x), dimensions={0}\n  z = s32[300] add(y, %s)\n  one = s32[] constant(1)\n"
        "  i2 = s32[] add(i, one)\n  ROOT t = tuple(i2, %s, j)\n}\n",
        shared == 1 ? "v" : "y", shared == 1 ? "z" : "y");
    add("ENTRY main {\n  x = s32[300] parameter(0)\n  j = s32[4] parameter(1)\n  zero = s32[] constant(0)\n"
        "  t = tuple(zero, x, j)\n  w = (s32[], s32[300], s32[4]) while(t), condition=c, body=b\n"
        "  ROOT r = s32[300] get-tuple-element(w), index=1\n}\n");
    run();
  }
}

// Products --------------------------------------------------------------------------------------------------------------

// Rows of the matrix are shared by threads, with sums of their own; sizes that leave rows and columns over.
TEST(rows_times_large_matrices) {
  static const struct {
    const char *type, *row;
    int64_t steps, columns, contracted;
  } cases[] = {{"f32", "[1,300]", 300, 512, 1},   {"f32", "[1031]", 1031, 133, 0},
               {"f64", "[517,1]", 517, 1000, 0},  {"f32", "[1,2049]", 2049, 64, 1},
               {"f32", "[1,4099]", 4099, 130, 1}, {"f32", "[300]", 300, 130, 0}};  // less than what is cut
  state = 12;
  for (size_t i = 0; i < sizeof cases / sizeof *cases && can_compile(); i++) {
    bool is_flat = strchr(cases[i].row, ',') == NULL;
    begin();
    add("ENTRY main { x = %s%s parameter(0) w = %s[%lld,%lld] parameter(1) ROOT r = %s[%s%lld] dot(x, w), ",
        cases[i].type, cases[i].row, cases[i].type, (long long)cases[i].steps, (long long)cases[i].columns,
        cases[i].type, is_flat ? "" : "1,", (long long)cases[i].columns);
    add("lhs_contracting_dims={%lld}, rhs_contracting_dims={0} }\n", (long long)cases[i].contracted);
    run();
  }
}

// Two batches of products, and what makes the right side of the second of the first: loops of calls that are joined with the
// loop between, product by product, or must not be.
TEST(batches_of_products) {
  static const char *const between[] = {
      // rows less their greatest elements
      "  g = f32[%lld,64] reduce(s, z), dimensions={2}, to_apply=f\n  h = f32[%lld,64,60] broadcast(g), "
      "dimensions={0,1}\n"
      "  p = f32[%lld,64,60] subtract(s, h)\n",
      // the rows of other products
      "  h = f32[%lld,64,60] reverse(s), dimensions={0}\n  i = f32[%lld,64,60] multiply(h, s)\n"
      "  p = f32[%lld,64,60] maximum(i, h)\n",
      // other rows of the same
      "  h = f32[%lld,64,60] reverse(s), dimensions={1}\n  i = f32[%lld,64,60] multiply(h, s)\n"
      "  p = f32[%lld,64,60] maximum(i, h)\n"};
  static const int64_t batches[] = {16, 21, 32};
  state = 15;
  for (int i = 0; i < 9 && can_compile(); i++) {
    long long n = batches[i / 3];
    begin();
    add_reducer("f32", "maximum");
    add("ENTRY main {\n  a = f32[%lld,64,56] parameter(0)\n  b = f32[%lld,60,56] parameter(1)\n"
        "  c = f32[%lld,60,58] parameter(2)\n  z = f32[] constant(-100)\n  s = f32[%lld,64,60] dot(a, b), "
        "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}\n",
        n, n, n, n);
    add(between[i % 3], n, n, n);
    add("  r = f32[%lld,64,58] dot(p, c), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={1}\n  ROOT t = (f32[%lld,64,58], f32[%lld,64,60]) tuple(r, %s)\n}\n",
        n, n, n, i % 2 == 0 ? "p" : "s");
    run();
  }
}

// Reductions ------------------------------------------------------------------------------------------------------------

static void add_sizes(int32_t rank, int64_t most, int64_t *sizes) {
  int64_t count = 1;
  for (int32_t d = 0; d < rank; d++) {
    sizes[d] = 1 + draw(PICK(3, 9, 40, 200, 5000));
    sizes[d] = count * sizes[d] > most ? 1 + draw(3) : sizes[d];
    count *= sizes[d];
  }
}

TEST(reductions) {
  state = 12;
  for (int i = 0; i < 120 && can_compile(); i++) {
    static const char *const ops[] = {"add", "add", "maximum", "minimum"};
    const char *type = draw_type();
    int32_t rank = (int32_t)(1 + draw(4));
    int64_t sizes[MOST_RANK];
    int64_t dims[MOST_RANK];
    int64_t kept[MOST_RANK];
    int32_t dim_count = 0;
    int32_t kept_count = 0;
    add_sizes(rank, i % 8 == 0 ? 200000 : 20000, sizes);
    for (int32_t d = 0; d < rank; d++) {
      if (draw(2) == 0) {
        dims[dim_count++] = d;
      } else {
        kept[kept_count++] = sizes[d];
      }
    }
    begin();
    add_reducer(type, strcmp(type, "bf16") == 0 ? "maximum" : ops[draw(4)]);  // its sums are rounded
    add("ENTRY main {\n  x = ");
    add_shape(type, rank, sizes);
    add_layout(rank);
    add(" parameter(0)\n  z = %s[] constant(3)\n  ROOT r = ", type);
    add_shape(type, kept_count, kept);
    add_layout(kept_count);
    add_list(" reduce(x, z), dimensions={", dim_count, dims, ",");
    add("}, to_apply=f\n}\n");
    run();
  }
}

// The place of the greatest element of each row; small integers meet their equals.
TEST(places_of_greatest) {
  static const int64_t shapes[][2] = {{1, 1}, {5, 7}, {3, 8}, {9, 100}, {130, 33}, {6, 4099}, {64, 257}};
  state = 13;
  for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes && can_compile(); i++) {
    const int64_t *s = shapes[i / 2];
    long long n = s[0], m = s[1], dim = (long long)(i % 2), kept = s[1 - i % 2];
    begin();
    add("f {\n  a = f32[] parameter(0)\n  i = s32[] parameter(1)\n  b = f32[] parameter(2)\n  j = s32[] parameter(3)\n"
        "  gt = pred[] compare(a, b), direction=GT\n  ne = pred[] compare(a, a), direction=NE\n  first = pred[] or(gt, "
        "ne)\n"
        "  eq = pred[] compare(a, b), direction=EQ\n  lt = pred[] compare(i, j), direction=LT\n"
        "  tie = pred[] and(eq, lt)\n  that = pred[] or(first, tie)\n  v = f32[] select(first, a, b)\n"
        "  p = s32[] select(that, i, j)\n  ROOT t = (f32[], s32[]) tuple(v, p)\n}\n");
    add("ENTRY main {\n  x = f32[%lld,%lld] parameter(0)\n  i = s32[%lld,%lld] iota(), iota_dimension=%lld\n"
        "  z = f32[] constant(-inf)\n  o = s32[] constant(0)\n"
        "  ROOT r = (f32[%lld], s32[%lld]) reduce(x, i, z, o), dimensions={%lld}, to_apply=f\n}\n",
        n, m, n, m, dim, kept, kept, dim);
    run();
  }
}

// An array that is computed from a row's greatest element, folded, and used again: it holds one row for each piece.
// Columns of several inputs, row by row: the places of the greatest, and a function whose order of rows shows in its result.
TEST(columns_of_several_inputs) {
  static const char *const selects[] = {
      "f {\n  a = %s[] parameter(0)\n  i = %s[] parameter(1)\n  b = %s[] parameter(2)\n  j = %s[] parameter(3)\n"
      "  g = pred[] compare(a, b), direction=GE\n  v = %s[] select(g, a, b)\n  w = %s[] select(g, i, j)\n"
      "  ROOT t = (%s[], %s[]) tuple(v, w)\n}\n",
      "f {\n  a = %s[] parameter(0)\n  i = %s[] parameter(1)\n  b = %s[] parameter(2)\n  j = %s[] parameter(3)\n"
      "  v = %s[] subtract(b, a)\n  k = %s[] add(i, j)\n  w = %s[] subtract(k, i)\n  n = %s[] subtract(w, i)\n"
      "  ROOT t = (%s[], %s[]) tuple(v, n)\n}\n"};
  state = 47;
  for (int i = 0; i < 24 && can_compile(); i++) {
    const char *type = draw_type();
    const char *index = draw(2) == 0 ? "s32" : "s64";
    long long outer = PICK(1, 1, 3), rows = 15 + draw(40), columns = PICK(9, 17, 33, 64, 100, 130, 3000);
    bool is_order = draw(2) == 0;
    begin();
    add(selects[is_order], type, index, type, index, type, index, is_order ? index : type, index, type, index);
    add("ENTRY main {\n  x = %s[%lld,%lld,%lld] parameter(0)\n  i = %s[%lld,%lld,%lld] parameter(1)\n", type, outer,
        rows, columns, index, outer, rows, columns);
    add("  z = %s[] parameter(2)\n  o = %s[] constant(7)\n", type, index);
    add("  ROOT r = (%s[%lld,%lld], %s[%lld,%lld]) reduce(x, i, z, o), dimensions={1}, to_apply=f\n}\n", type, outer,
        columns, index, outer, columns);
    run();
  }
}

// Rows with elements behind the last whole vector, which are taken with some of those before them, or on their own.
TEST(ends_of_rows) {
  static const char *const types[] = {"s32", "f32", "f64", "s8", "u16", "bf16", "pred"};
  static const char *const numbers[] = {"add", "maximum", "multiply"};
  state = 53;
  for (int i = 0; i < 80 && can_compile(); i++) {
    const char *type = types[i % 7];
    bool is_rounded = strcmp(type, "bf16") == 0;
    const char *op = strcmp(type, "pred") == 0 ? (draw(2) == 0 ? "and" : "or") : numbers[is_rounded ? 1 : draw(3)];
    long long outer = PICK(1, 5, 40), middle = PICK(1, 1, 3), row = 15 + draw(70);
    bool is_nested = draw(2) == 0;
    begin();
    add_reducer(type, op);
    add("ENTRY main {\n  x = %s[%lld,%lld,%lld] parameter(0)\n  z = %s[] parameter(1)\n", type, outer, middle, row,
        type);
    add(is_nested ? "  ROOT r = %s[%lld] reduce(x, z), dimensions={1,2}, to_apply=f\n}\n"
                  : "  ROOT r = %s[%lld,%lld] reduce(x, z), dimensions={2}, to_apply=f\n}\n",
        type, outer, middle);
    run();
  }
}

TEST(rows_in_several_steps) {
  static const int64_t shapes[][2] = {{131, 300}, {257, 129}, {48, 512}, {1021, 40}, {16, 3000}, {320, 1024}};
  state = 14;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes && can_compile(); i++) {
    long long n = shapes[i][0], m = shapes[i][1];
    begin();
    add_reducer("s32", "maximum");
    add("g {\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT r = s32[] add(x, y)\n}\n");
    add("ENTRY main {\n  x = s32[%lld,%lld] parameter(0)\n  z = s32[] constant(0)\n"
        "  m = s32[%lld] reduce(x, z), dimensions={1}, to_apply=f\n"
        "  mb = s32[%lld,%lld] broadcast(m), dimensions={0}\n"
        "  d = s32[%lld,%lld] subtract(x, mb)\n  q = s32[%lld,%lld] multiply(d, d)\n  c = s32[%lld,%lld] multiply(q, "
        "d)\n"
        "  p = s32[%lld,%lld] remainder(c, d)\n  e = s32[%lld,%lld] add(p, q)\n"
        "  s = s32[%lld] reduce(e, z), dimensions={1}, to_apply=g\n"
        "  sb = s32[%lld,%lld] broadcast(s), dimensions={0}\n  ROOT r = s32[%lld,%lld] subtract(e, sb)\n}\n",
        n, m, n, n, m, n, m, n, m, n, m, n, m, n, m, n, n, m, n, m);
    run();
  }
}

// Divisions by powers of two are products: of subnormal numbers, too, and where the reciprocal would be none.
TEST(divisions_by_powers_of_two) {
  static const char *const divisors[] = {"8",
                                         "-0.5",
                                         "1.1754943508222875e-38",
                                         "8.5070591730234616e37",
                                         "1.7014118346046923e38",
                                         "-5.8774717541114375e-39",
                                         "3",
                                         "inf",
                                         "0"};
  state = 13;
  for (size_t i = 0; i < 2 * sizeof divisors / sizeof *divisors && can_compile(); i++) {
    const char *type = i % 2 == 0 ? "f32" : "f64";
    const char *scale = i % 4 < 2 ? "1" : i % 2 == 0 ? "4.2e-45" : "1.5e-323";
    begin();
    add("ENTRY main { x = %s[37] parameter(0) s = %s[] constant(%s) t = %s[37] broadcast(s), dimensions={}\n", type,
        type, scale, type);
    add("  y = %s[37] multiply(x, t) d = %s[] constant(%s) e = %s[37] broadcast(d), dimensions={}\n", type, type,
        divisors[i / 2], type);
    add("  ROOT r = %s[37] divide(y, e) }\n", type);
    run();
  }
}

// Bits ---------------------------------------------------------------------------------------------------------------------

TEST(bits_of_other_widths) {
  static const char *const programs[] = {
      "ENTRY main { x = s32[3,8] parameter(0) ROOT r = u8[3,8,4] bitcast-convert(x) }",
      "ENTRY main { x = u8[5,3,4] parameter(0) ROOT r = f32[5,3] bitcast-convert(x) }",
      "ENTRY main { x = f64[9] parameter(0) ROOT r = s16[9,4] bitcast-convert(x) }",
      "ENTRY main { x = u8[6] parameter(0) ROOT r = u4[6,2] bitcast-convert(x) }",
      "ENTRY main { x = f32[4,6]{0,1} parameter(0) ROOT r = s16[8,6]{0,1} bitcast(x) }",
      "ENTRY main { x = s16[4,6] parameter(0) ROOT r = f32[3,4] bitcast(x) }",
      "ENTRY main { x = bf16[16] parameter(0) ROOT r = s16[2,8] bitcast(x) }",
  };
  RUN_EACH(programs, 11);
}

// Tiles ---------------------------------------------------------------------------------------------------------------------

static void add_tiled(const char *type, int32_t rank, const int64_t *sizes) {
  static const char *const tiles[] = {"",           ":T(2)",     ":T(3)",          ":T(16)",         ":T(2,4)",
                                      ":T(3,5)",    ":T(8,128)", ":T(4,4)(2,2)",   ":T(8,128)(2,1)", ":T(2,2,4)",
                                      ":T(8)(4,2)", ":T(4,*,4)", ":T(2,4)(4)(2,2)"};
  int64_t order[MOST_RANK];
  draw_order(rank, order);
  add_shape(type, rank, sizes);
  add_list("{", rank, order, ",");
  add("%s}", tiles[draw(rank < 2 ? 4 : rank < 3 ? 9 : 10)]);
}

// Arrays in tiled layouts, sliced, transposed, reversed, taken apart and put together on the way.
TEST(tiles) {
  for (int i = 0; i < 60 && can_compile(); i++) {
    state = (uint64_t)(900 + i);
    const char *type = draw_type();
    int32_t rank = 1 + (int32_t)draw(3);
    int64_t sizes[4], kept[4], swapped[4], start[4];
    int64_t count = 1;
    for (int32_t d = 0; d < rank; d++) {
      sizes[d] = rank < 3 ? PICK(1, 3, 16, 40, 100, 130, 260) : PICK(1, 2, 5, 8, 13, 24);
      kept[d] = draw(2) == 0 ? sizes[d] : 1 + draw(sizes[d]);
      start[d] = draw(sizes[d] - kept[d] + 1);
      count *= kept[d];
    }
    for (int32_t d = 0; d < rank; d++) {
      swapped[d] = kept[rank - 1 - d];
    }
    int64_t inner = count % 8 == 0 ? 8 : count % 3 == 0 ? 3 : 1;
    begin();
    add("ENTRY main {\n  x = ");
    add_tiled(type, rank, sizes);
    add(" parameter(0)\n  s = ");
    add_shape(type, rank, kept);
    add(" slice(x), slice={");
    for (int32_t d = 0; d < rank; d++) {
      add("%s[%lld:%lld]", d == 0 ? "" : ", ", (long long)start[d], (long long)(start[d] + kept[d]));
    }
    add("}\n  t = ");
    add_shape(type, rank, swapped);
    add(" transpose(s), dimensions={");
    for (int32_t d = 0; d < rank; d++) {
      add("%s%d", d == 0 ? "" : ",", (int)(rank - 1 - d));
    }
    add("}\n  a = ");
    add_tiled(type, rank, swapped);
    add(" add(t, t)\n  r = ");
    add_shape(type, 2, (int64_t[]){count / inner, inner});
    add(" reshape(t)\n  m = ");
    add_tiled(type, 2, (int64_t[]){inner, count / inner});
    add(" transpose(r), dimensions={1,0}\n  v = ");
    add_shape(type, 1, (int64_t[]){count});
    add(" reshape(m)\n  ROOT o = tuple(a, m, v)\n}\n");
    run();
  }
}

// Products that are left to the library, with dimensions that lie together or do not, and ones that it cannot take as they
// lie; and one between costly scalars, which are computed together.
TEST(products_as_they_lie) {
  static const char *const programs[] = {
      "ENTRY main { x = f32[4,32,64] parameter(0) y = f32[64,64] parameter(1) ROOT d = f32[4,32,64] dot(x, y), "
      "lhs_contracting_dims={2}, rhs_contracting_dims={0} }",
      "ENTRY main { x = f32[4,32,64] parameter(0) y = f32[64,64] parameter(1) d = f32[4,32,64]{2,0,1} dot(x, y), "
      "lhs_contracting_dims={2}, rhs_contracting_dims={0} ROOT n = f32[4,32,64] negate(d) }",
      "ENTRY main { x = f32[2,64,64] parameter(0) y = f32[2,64,64] parameter(1) d = f32[2,64,64]{0,2,1} dot(x, y), "
      "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1} ROOT n = "
      "f32[2,64,64] "
      "negate(d) }",
      "ENTRY main { x = f32[64,64,2] parameter(0) y = f32[2,64,64] parameter(1) ROOT d = f32[2,64,64] dot(x, y), "
      "lhs_batch_dims={2}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1} }",
      "ENTRY main { x = f32[64,64] parameter(0) a = f32[] parameter(1) b = f32[] parameter(2) c = f32[] parameter(3) "
      "d = f32[] parameter(4) p = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
      "t = f32[] constant(3) s = f32[1,1] slice(p), slice={[5:6], [7:8]} r = f32[] reshape(s) e = f32[] divide(a, t) "
      "f = f32[] divide(b, t) g = f32[] divide(c, r) h = f32[] divide(d, r) ROOT o = tuple(p, e, f, g, h) }",
  };
  RUN_EACH(programs, 14);
}

// Sums of columns that are cut into bands, with and without threads to do them: more than the caches hold, and few rows.
// Operands that do not lie as matrices, are of another type than the sums, or are computed on the way.
TEST(products_of_copies) {
  static const char *const programs[] = {
      "ENTRY main { x = f32[8,32,16,24] parameter(0) y = f32[24,40,16] parameter(1) ROOT d = f32[8,32,40] dot(x, y), "
      "lhs_contracting_dims={2,3}, rhs_contracting_dims={2,0} }",
      "ENTRY main { x = f64[40,3,16,33] parameter(0) y = f64[50,33,3,16] parameter(1) ROOT d = f64[3,40,50] dot(x, y), "
      "lhs_batch_dims={1}, rhs_batch_dims={2}, lhs_contracting_dims={2,3}, rhs_contracting_dims={3,1} }",
      "ENTRY main { x = bf16[64,96] parameter(0) y = bf16[80,96] parameter(1) ROOT d = bf16[64,80] dot(x, y), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={1} }",
      "ENTRY main { x = f16[64,96] parameter(0) y = f16[96,80] parameter(1) one = f16[] constant(1) "
      "o = f16[64,96] broadcast(one), dimensions={} z = f16[64,96] add(x, o) ROOT d = f32[64,80] dot(z, y), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
      "ENTRY main { x = f32[64,96] parameter(0) y = f32[96,80] parameter(1) n = f32[96,80] negate(y) ROOT d = "
      "f32[64,80]{0,1} dot(x, n), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
      "ENTRY main { x = s8[64,96] parameter(0) y = s8[96,80] parameter(1) ROOT d = s32[64,80] dot(x, y), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
      "ENTRY main { x = u8[64,600] parameter(0) y = s8[2,600,40] parameter(1) ROOT d = s32[64,2,40] dot(x, y), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={1} }",
      "ENTRY main { a = s8[] constant(-128) x = s8[64,1100] broadcast(a), dimensions={} y = s8[1100,32] parameter(0) "
      "ROOT d = s32[64,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
      "ENTRY main { x = s32[64,96] parameter(0) y = s8[96,80] parameter(1) ROOT d = s32[64,80] dot(x, y), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
  };
  RUN_EACH(programs, 41);
}

// One side of a product with such |sizes|: a transpose of what parameter |name| is in one of four ways, whose dimensions lie in any
// order. Leaves in |dims| where each of them lies in the operand.
static void add_side(const char *name, int32_t rank, const int64_t *sizes, int64_t *dims) {
  static const char *const computed[] = {"add(p%s, p%s)", "negate(p%s)", "copy(p%s)", "slice(p%s)"};
  int64_t how = draw(4);
  int64_t lies[MOST_RANK] = {0};
  int64_t turned[MOST_RANK];
  int64_t shuffled[MOST_RANK];
  int64_t permutation[MOST_RANK];
  draw_order(rank, shuffled);
  for (int32_t d = 0; d < rank; d++) {
    dims[d] = d;
    lies[d] = sizes[shuffled[d]];
  }
  int64_t shift = draw(rank);  // the transpose turns the dimensions round, or leaves them
  for (int32_t d = 0; d < rank; d++) {
    permutation[d] = (d + shift) % rank;
    turned[d] = lies[permutation[d]];
    dims[shuffled[permutation[d]]] = d;
  }
  int64_t given[MOST_RANK];
  memcpy(given, lies, sizeof given);
  given[rank - 1] *= how == 3 ? 2 : 1;
  add("  p%s = ", name);
  add_shape("f32", rank, given);
  add(" parameter(%s)\n  c%s = ", name, name);
  add_shape("f32", rank, lies);
  add(" ");
  add(computed[how], name, name);
  for (int32_t d = 0; d < rank && how == 3; d++) {
    add("%s[0:%lld%s", d == 0 ? ", slice={" : ", ", (long long)given[d], d == rank - 1 ? ":2]}" : "]");
  }
  add("\n  t%s = ", name);
  add_shape("f32", rank, turned);
  add(" transpose(c%s)", name);
  add_list(", dimensions={", rank, permutation, ",");
  add("}\n");
}

// Sides that are computed, and lie in any order: by themselves, and the same one on both sides or in two products.
TEST(products_of_what_is_computed) {
  state = 61;
  for (int i = 0; i < 80 && can_compile(); i++) {
    int32_t batch = (int32_t)draw(3);
    int32_t rank = batch + 1 + 1 + (int32_t)draw(2);
    int64_t left[MOST_RANK];
    int64_t right[MOST_RANK];
    for (int32_t d = 0; d < rank; d++) {
      left[d] = d < batch ? PICK(1, 2, 3) : d == batch ? PICK(9, 32, 48) : d == batch + 1 ? PICK(40, 70) : PICK(2, 3);
      right[d] = left[d];
    }
    bool is_same = i % 3 == 0;
    right[batch] = is_same ? left[batch] : PICK(33, 64, 10);
    int64_t first[MOST_RANK];
    int64_t second[MOST_RANK];
    begin();
    add("ENTRY main {\n");
    add_side("0", rank, left, first);
    if (is_same) {
      memcpy(second, first, sizeof second);
    } else {
      add_side("1", rank, right, second);
    }
    int64_t sizes[MOST_RANK];
    memcpy(sizes, left, sizeof sizes);
    sizes[batch + 1] = right[batch];
    for (int k = 0; k < 2; k++) {
      add("  d%d = ", k);
      add_shape("f32", batch + 2, sizes);
      add(" dot(%s, t%d)", k == 0 ? "t0" : "u", is_same ? 0 : 1);
      add_list(", lhs_batch_dims={", batch, first, ",");
      add_list("}, rhs_batch_dims={", batch, second, ",");
      add_list("}, lhs_contracting_dims={", rank - batch - 1, first + batch + 1, ",");
      add_list("}, rhs_contracting_dims={", rank - batch - 1, second + batch + 1, ",");
      add("}\n");
      if (k == 0) {  // the same once more, computed of the product's side
        int64_t turned[MOST_RANK];
        for (int32_t d = 0; d < rank; d++) {
          turned[first[d]] = left[d];
        }
        add("  u = ");
        add_shape("f32", rank, turned);
        add(" multiply(t0, t0)\n");
      }
    }
    add("  ROOT r = tuple(d0, d1)\n}\n");
    run();
  }
}

// An operand of a product: three dimensions in any order, and where each of them lies.
static void add_ordered(const char *name, const char *type, const int64_t *given, int64_t *places) {
  enum { RANK = 3 };
  int64_t order[RANK];
  int64_t sizes[RANK];
  draw_order(RANK, order);
  for (int32_t d = 0; d < RANK; d++) {
    places[order[d]] = d;
    sizes[d] = given[order[d]];
  }
  add("  %s = ", name);
  add_shape(type, RANK, sizes);
}

// Products of types that lanes are left with, of sides that lie along the sum, across, or along the batch: those of them that are laid
// out before, and the complex ones that become real.
TEST(products_in_any_order) {
  static const char *const types[] = {"c64", "c64", "c128", "s32", "f16", "f32", "f64"};
  state = 83;
  for (int i = 0; i < 70 && can_compile(); i++) {
    const char *type = types[draw(7)];
    const char *result = type[0] == 'c' || type[0] == 's' ? type : "f64";
    int64_t m = PICK(1, 3, 4, 16, 24, 40), n = PICK(1, 3, 8, 12, 20, 44), k = PICK(3, 9, 20, 44, 130);
    int64_t b = PICK(1, 1, 3, 5);
    int64_t lhs[3], rhs[3];
    begin();
    add("ENTRY main {\n");
    add_ordered("x", type, (int64_t[]){b, m, k}, lhs);
    add(" parameter(0)\n");
    add_ordered("y", type, (int64_t[]){b, k, n}, rhs);
    add(" parameter(1)\n  d = ");
    add_shape(result, 3, (int64_t[]){b, m, n});
    add(" dot(x, y), lhs_batch_dims={%d}, lhs_contracting_dims={%d}, rhs_batch_dims={%d}, rhs_contracting_dims={%d}\n",
        (int)lhs[0], (int)lhs[2], (int)rhs[0], (int)rhs[1]);
    add("  ROOT r = ");
    add_shape(result, 3, (int64_t[]){n, b, m});
    add(" transpose(d), dimensions={2,0,1}\n}\n");
    run();
  }
  static const char *const programs[] = {
      "ENTRY main { x = c64[3,4,6,11,4] parameter(0) y = c64[3,20,11,4] parameter(1) ROOT d = c64[3,4,6,20] dot(x, y), "
      "lhs_batch_dims={0}, lhs_contracting_dims={3,4}, rhs_batch_dims={0}, rhs_contracting_dims={2,3} }",
      "ENTRY main { x = c64[90,80] parameter(0) y = c64[90,3,40] parameter(1) ROOT d = c64[80,3,40] dot(x, y), "
      "lhs_contracting_dims={0}, rhs_contracting_dims={0} }",
  };
  RUN_EACH(programs, 84);
}

// The batch as the last dimension, whose elements are the lanes: sizes beside those of a tile, of a register, and so large
// that the operands are copied into matrices.
TEST(products_of_a_last_batch) {
  static const struct {
    const char *type, *layout;
    int m, n, k, batch;
  } products[] = {
      {"f32", "0,2,1", 8, 6, 4, 4},    {"f32", "0,1,2", 8, 6, 4, 4},    {"f32", "2,1,0", 9, 7, 5, 21},
      {"f64", "0,2,1", 5, 4, 3, 40},   {"s32", "2,0,1", 4, 9, 17, 13},  {"s64", "0,2,1", 6, 5, 4, 9},
      {"f32", "0,2,1", 33, 32, 32, 3}, {"f32", "2,1,0", 1, 6, 8, 33},   {"f16", "0,2,1", 7, 5, 20, 30},
      {"f64", "0,1,2", 4, 8, 2, 2},    {"f32", "1,0,2", 16, 16, 3, 64},
  };
  state = 47;
  for (size_t i = 0; i < sizeof products / sizeof *products && can_compile(); i++) {
    const char *type = products[i].type;
    int m = products[i].m, n = products[i].n, k = products[i].k, batch = products[i].batch;
    begin();
    add("ENTRY main { x = %s[%d,%d,%d] parameter(0) y = %s[%d,%d,%d] parameter(1) d = %s[%d,%d,%d]{%s} dot(x, y), ",
        type, m, k, batch, type, k, n, batch, type, batch, m, n, products[i].layout);
    add("lhs_batch_dims={2}, rhs_batch_dims={2}, lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT c = "
        "%s[%d,%d,%d]{%s} copy(d) }\n",
        type, batch, m, n, products[i].layout);
    run();
  }
}

TEST(sums_of_many_columns) {
  static const int64_t sizes[][2] = {{17, 40007}, {40, 5003}, {20, 32768}, {16, 4095}};
  state = 15;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && can_compile(); i++) {
    begin();
    add_reducer("f32", "add");
    add("ENTRY main { x = f32[%lld,%lld] parameter(0) z = f32[] constant(3) ROOT r = f32[%lld] reduce(x, z), "
        "dimensions={0}, to_apply=f }\n",
        (long long)sizes[i][0], (long long)sizes[i][1], (long long)sizes[i][1]);
    run();
  }
  begin();  // and of one row, cut into pieces
  add_reducer("f32", "add");
  add("ENTRY main { x = f32[1,200003] parameter(0) z = f32[] constant(3) ROOT r = f32[1] reduce(x, z), dimensions={1}, "
      "to_apply=f }\n");
  if (can_compile()) {
    run();
  }
}

// Results that are stored past the caches, turned with and without an array that is not, at sizes that leave parts over.
TEST(large_turns) {
  static const int64_t sizes[][2] = {{3001, 2999}, {3072, 2960}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && can_compile(); i++) {
    for (int with = 0; with < 2 - (int)i; with++) {
      state = 77;
      begin();
      add("ENTRY main {\n  b = ");
      add_shape("f32", 2, (int64_t[]){sizes[i][1], sizes[i][0]});
      add(" parameter(0)\n  %st = ", with ? "" : "ROOT ");
      add_shape("f32", 2, sizes[i]);
      add(" transpose(b), dimensions={1,0}\n");
      if (with) {
        add("  a = ");
        add_shape("f32", 2, sizes[i]);
        add(" parameter(1)\n  ROOT s = ");
        add_shape("f32", 2, sizes[i]);
        add(" add(a, t)\n");
      }
      add("}\n");
      if (is_in_sample()) {
        run();
      }
    }
  }
}

// Arrays beyond the second cache, turned in memory: by themselves and with others, several at once, cut by guards, as planes
// of larger ones, and of all widths.
TEST(panels) {
  static const char *const programs[] = {
      "ENTRY main { x = f32[515,512] parameter(0) ROOT t = f32[512,515] transpose(x), dimensions={1,0} }",
      "ENTRY main { x = f64[383,449] parameter(0) ROOT t = f64[449,383] transpose(x), dimensions={1,0} }",
      "ENTRY main { x = s8[1025,1155] parameter(0) ROOT t = s8[1155,1025] transpose(x), dimensions={1,0} }",
      "ENTRY main { x = bf16[640,769] parameter(0) y = bf16[769,640] parameter(1) t = bf16[769,640] transpose(x), "
      "dimensions={1,0} ROOT s = bf16[769,640] add(t, y) }",
      "ENTRY main { x = s64[300,321] parameter(0) ROOT t = s64[321,300] transpose(x), dimensions={1,0} }",
      "ENTRY main { x = c64[33001,9] parameter(0) y = c64[9,33001] parameter(1) t = c64[9,33001] transpose(x), "
      "dimensions={1,0} u = c64[33001,9] transpose(y), dimensions={1,0} ROOT r = tuple(t, u) }",
      "ENTRY main { x = f32[600,500] parameter(0) y = f64[600,500] parameter(1) z = f64[500,600] parameter(2) a = "
      "f32[500,600] transpose(x), dimensions={1,0} c = f64[500,600] convert(a) b = f64[500,600] transpose(y), "
      "dimensions={1,0} p = f64[500,600] multiply(c, b) ROOT s = f64[500,600] add(p, z) }",
      "ENTRY main { x = f32[512,640] parameter(0) t = f32[640,512] transpose(x), dimensions={1,0} a = f32[639,511] "
      "slice(t), slice={[0:639], [0:511]} b = f32[639,511] slice(t), slice={[1:640], [1:512]} y = f32[639,511] "
      "parameter(1) p = f32[639,511] multiply(a, b) ROOT r = f32[639,511] subtract(p, y) }",
      "ENTRY main { x = f32[512,700] parameter(0) c = f32[] constant(7) t = f32[700,512] transpose(x), "
      "dimensions={1,0} "
      "ROOT r = f32[705,1000] pad(t, c), padding=2_3x300_188 }",
      "ENTRY main { x = f32[512,400] parameter(0) y = f32[400,250] parameter(1) t = f32[400,512] transpose(x), "
      "dimensions={1,0} ROOT r = f32[400,762] concatenate(t, y), dimensions={1} }",
      "ENTRY main { x = f32[70,130,128] parameter(0) ROOT t = f32[128,130,70] transpose(x), dimensions={2,1,0} }",
      "ENTRY main { x = f32[5,300,257] parameter(0) ROOT t = f32[5,257,300] transpose(x), dimensions={0,2,1} }",
      "ENTRY main { x = s32[256,7,256] parameter(0) y = s32[256,256,7]{1,0,2} parameter(1) t = s32[256,256,7] "
      "transpose(x), dimensions={2,0,1} ROOT r = s32[256,256,7] add(t, y) }",
      "ENTRY main { x = f32[512,512]{0,1} parameter(0) y = f32[512,512] parameter(1) v = f32[512] parameter(2) w = "
      "f32[512,512] broadcast(v), dimensions={0} a = f32[512,512] add(x, y) ROOT r = f32[512,512] multiply(a, w) }",
      "ENTRY main { x = f32[512,640] parameter(0) t = f32[640,512] transpose(x), dimensions={1,0} ROOT r = "
      "f32[640,512] "
      "reverse(t), dimensions={0} }",
      "ENTRY main { x = f32[256,1024] parameter(0) r = f32[256,32,32] reshape(x) t = f32[32,32,256] transpose(r), "
      "dimensions={2,1,0} ROOT s = f32[32,32,256] negate(t) }",
  };
  RUN_EACH(programs, 13);
}

// Rows of a transposed result that are shorter than a cache line, of one square and of several, joined along the dimension that they
// go on along, with what is left over along each; and what is left beside whole squares, in smaller ones.
TEST(short_rows) {
  static const char *const programs[] = {
      "ENTRY main { x = f32[8,7,3,5,27] parameter(0) ROOT t = f32[27,5,3,7,8] transpose(x), dimensions={4,3,2,1,0} }",
      "ENTRY main { x = f32[8,5,12,20,24] parameter(0) ROOT t = f32[24,20,12,5,8] transpose(x), dimensions={4,3,2,1,0} "
      "}",
      "ENTRY main { x = u8[32,9,40] parameter(0) ROOT t = u8[40,9,32] transpose(x), dimensions={2,1,0} }",
      "ENTRY main { x = bf16[16,5,6,24] parameter(0) y = bf16[24,6,5,16] parameter(1) t = bf16[24,6,5,16] "
      "transpose(x), "
      "dimensions={3,2,1,0} ROOT s = bf16[24,6,5,16] add(t, y) }",
      "ENTRY main { x = c64[4,6,9] parameter(0) ROOT t = c64[9,6,4] transpose(x), dimensions={2,1,0} }",
      "ENTRY main { x = f64[4,300,301] parameter(0) ROOT t = f64[301,300,4] transpose(x), dimensions={2,1,0} }",
      "ENTRY main { x = f32[8,1,64] parameter(0) ROOT t = f32[64,1,8] transpose(x), dimensions={2,1,0} }",
      "ENTRY main { x = f32[4,3,16] parameter(0) c = f32[] constant(7) t = f32[16,3,4] transpose(x), "
      "dimensions={2,1,0} ROOT r = "
      "f32[17,6,4] pad(t, c), padding=0_1x1_2x0_0 }",
      "ENTRY main { x = s32[8,6,16] parameter(0) t = s32[16,6,8] transpose(x), dimensions={2,1,0} i = s32[16,6,8] "
      "iota(), "
      "iota_dimension=1 ROOT r = s32[16,6,8] add(t, i) }",
      "ENTRY main { x = f32[4,4,16] parameter(0) t = f32[16,4,4] transpose(x), dimensions={2,1,0} u = f32[16,4,4] "
      "transpose(x), dimensions={2,0,1} ROOT r = f32[16,4,4] add(t, u) }",
      "ENTRY main { x = f32[9,31,30] parameter(0) ROOT t = f32[9,30,31] transpose(x), dimensions={0,2,1} }",
      "ENTRY main { x = u8[7,40,28] parameter(0) ROOT t = u8[7,28,40] transpose(x), dimensions={0,2,1} }",
      "ENTRY main { x = c64[5,20,30] parameter(0) ROOT t = c64[5,30,20] transpose(x), dimensions={0,2,1} }",
  };
  RUN_EACH(programs, 17);
}

// What is computed step by step: its name is v and the step's number.
typedef struct chain {
  int32_t step, parameters, rank;
  int64_t sizes[MOST_RANK];
} chain;

static void add_value(const chain *c, const char *of) {
  add("  v%d = ", (int)c->step);
  add_shape("s32", c->rank, c->sizes);
  add(" %s", of);
}

// A slice of the last step, each dimension with a start, an end and a stride of its own.
static void add_slice(chain *c, const char *name) {
  int64_t starts[MOST_RANK], limits[MOST_RANK], strides[MOST_RANK], sizes[MOST_RANK];
  for (int32_t d = 0; d < c->rank; d++) {
    starts[d] = draw(3) == 0 ? 0 : draw(c->sizes[d]);
    limits[d] = draw(3) == 0 ? c->sizes[d] : starts[d] + 1 + draw(c->sizes[d] - starts[d]);
    strides[d] = PICK(1, 1, 2, 3);
    sizes[d] = (limits[d] - starts[d] - 1) / strides[d] + 1;
  }
  add("  %s = ", name);
  add_shape("s32", c->rank, sizes);
  add(" slice(v%d), slice={", (int)c->step);
  for (int32_t d = 0; d < c->rank; d++) {
    add("%s[%lld:%lld:%lld]", d == 0 ? "" : ", ", (long long)starts[d], (long long)limits[d], (long long)strides[d]);
  }
  add("}\n");
}

// Step |before| in any order.
static void add_transpose(chain *c, int32_t before) {
  int64_t order[MOST_RANK], old[MOST_RANK];
  memcpy(old, c->sizes, sizeof old);
  draw_order(c->rank, order);
  for (int32_t k = 0; k < c->rank; k++) {
    c->sizes[k] = old[order[k]];
  }
  add_value(c, "");
  add("transpose(v%d)", (int)before);
  add_list(", dimensions={", c->rank, order, ",");
  add("}\n");
}

static void add_step(chain *c) {
  int64_t order[MOST_RANK], old[MOST_RANK];
  int32_t before = c->step++;
  int32_t d = (int32_t)draw(c->rank);
  int64_t size = c->sizes[d];
  memcpy(old, c->sizes, sizeof old);
  switch (draw(8)) {
  case 0:  // with a row of its own
    add("  p%d = s32[%lld] parameter(%d)\n", (int)c->step, (long long)size, (int)c->parameters++);
    add("  b%d = ", (int)c->step);
    add_shape("s32", c->rank, c->sizes);
    add(" broadcast(p%d), dimensions={%d}\n", (int)c->step, (int)d);
    add_value(c, "");
    add("add(v%d, b%d)\n", (int)before, (int)c->step);
    break;
  case 1:
    add_value(c, "");
    add("multiply(v%d, v%d)\n", (int)before, (int)before);
    break;
  case 2:
    add_transpose(c, before);
    break;
  case 3:  // less the sums along a dimension
    add("  sum%d = ", (int)c->step);
    for (int32_t k = 0, next = 0; k < c->rank; k++) {
      order[next] = k;
      old[next] = c->sizes[k];
      next += k != d;
    }
    add_shape("s32", c->rank - 1, old);
    add(" reduce(v%d, zero), dimensions={%d}, to_apply=f\n  b%d = ", (int)before, (int)d, (int)c->step);
    add_shape("s32", c->rank, c->sizes);
    add(" broadcast(sum%d)", (int)c->step);
    add_list(", dimensions={", c->rank - 1, order, ",");
    add("}\n");
    add_value(c, "");
    add("subtract(v%d, b%d)\n", (int)before, (int)c->step);
    break;
  case 4:
    c->sizes[d] *= size < 100 ? 2 : 1;
    add_value(c, "");
    if (size < 100) {
      add("concatenate(v%d, v%d), dimensions={%d}\n", (int)before, (int)before, (int)d);
    } else {
      add("negate(v%d)\n", (int)before);
    }
    break;
  case 5:  // a dimension of one element more, or two as one
    if (c->rank > 2 && draw(2) == 0) {
      d = (int32_t)draw(c->rank - 1);
      c->sizes[d] *= c->sizes[d + 1];
      memmove(c->sizes + d + 1, c->sizes + d + 2, (size_t)(c->rank - d - 2) * sizeof *c->sizes);
      c->rank--;
    } else if (c->rank < 4) {
      memmove(c->sizes + d + 1, c->sizes + d, (size_t)(c->rank - d) * sizeof *c->sizes);
      c->sizes[d] = 1;
      c->rank++;
    }
    add_value(c, "");
    add("reshape(v%d)\n", (int)before);
    break;
  case 6:  // every element is read twice
    add("  n%d = ", (int)c->step);
    add_shape("s32", c->rank, c->sizes);
    add(" negate(v%d)\n", (int)before);
    add_value(c, "");
    add("multiply(n%d, v%d)\n", (int)c->step, (int)before);
    break;
  default: {  // times a matrix
    int64_t n = PICK(3, 20, 33);
    add("  m%d = s32[%lld,%lld] parameter(%d)\n", (int)c->step, (long long)size, (long long)n, (int)c->parameters++);
    memmove(c->sizes + d, c->sizes + d + 1, (size_t)(c->rank - d - 1) * sizeof *c->sizes);
    c->sizes[c->rank - 1] = n;
    add_value(c, "");
    add("dot(v%d, m%d), lhs_contracting_dims={%d}, rhs_contracting_dims={0}\n", (int)before, (int)c->step, (int)d);
    break;
  }
  }
}

// Products and sums of which slices are read, through what passes on which elements these need: one or two slices, which may overlap, at
// the end, and the whole now and then.
TEST(parts_of_what_is_computed) {
  state = 91;
  for (int i = 0; i < 300 && can_compile(); i++) {
    chain c = {.parameters = 2, .rank = 2, .sizes = {PICK(20, 37, 64), PICK(16, 30, 50)}};
    int64_t k = PICK(5, 40);
    begin();
    add_reducer("s32", "add");
    add("ENTRY main {\n  x = s32[%lld,%lld] parameter(0)\n  y = s32[%lld,%lld] parameter(1)\n  zero = s32[] "
        "constant(0)\n",
        (long long)c.sizes[0], (long long)k, (long long)k, (long long)c.sizes[1]);
    add_value(&c, "dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
    for (int64_t steps = draw(6); steps > 0; steps--) {
      add_step(&c);
    }
    add_slice(&c, "first");
    add_slice(&c, "second");
    add("  ROOT r = tuple(%s)\n}\n", draw(2) == 0 ? "first, zero" : draw(6) == 0 ? "first, x" : "first, second");
    run();
  }
}

// The last step in another order, beside itself backwards, with some zeros around it, or with two dimensions as one.
static void add_move(chain *c) {
  int32_t before = c->step++;
  int32_t d = (int32_t)draw(c->rank);
  switch (draw(4)) {
  case 0:
    add_transpose(c, before);
    break;
  case 1:
    add("  back%d = ", (int)c->step);
    add_shape("s32", c->rank, c->sizes);
    add(" reverse(v%d), dimensions={%d}\n", (int)before, (int)d);
    c->sizes[d] *= 2;
    add_value(c, "");
    add("concatenate(v%d, back%d), dimensions={%d}\n", (int)before, (int)c->step, (int)d);
    break;
  case 2:
    c->sizes[d] += 3;
    add_value(c, "");
    add("pad(v%d, zero), padding=", (int)before);
    for (int32_t k = 0; k < c->rank; k++) {
      add("%s%s", k == 0 ? "" : "x", k == d ? "1_2" : "0_0");
    }
    add("\n");
    break;
  default:
    d = c->rank > 1 ? (int32_t)draw(c->rank - 1) : 0;
    if (c->rank > 1) {
      c->sizes[d] *= c->sizes[d + 1];
      memmove(c->sizes + d + 1, c->sizes + d + 2, (size_t)(c->rank - d - 2) * sizeof *c->sizes);
      c->rank--;
    }
    add_value(c, "");
    add("reshape(v%d)\n", (int)before);
  }
}

// Guards of more lanes than a vector of indices has, backwards.
TEST(guards_of_bytes) {
  static const char *const programs[] = {
      "f { a = u8[] parameter(0) b = u8[] parameter(1) ROOT c = u8[] maximum(a, b) } ENTRY main { x = u8[7,4096] "
      "parameter(0) zero = u8[] constant(0) p = u8[7,4100] pad(x, zero), padding=0_0x1_3 r = u8[7,4100] reverse(p), "
      "dimensions={1} ROOT m = u8[7] reduce(r, zero), dimensions={1}, to_apply=f }",
      "f { a = u8[] parameter(0) b = u8[] parameter(1) ROOT c = u8[] maximum(a, b) } ENTRY main { x = u8[7,4096] "
      "parameter(0) zero = u8[] constant(0) r = u8[7,4096] reverse(x), dimensions={1} c = u8[7,8192] concatenate(x, "
      "r), dimensions={1} ROOT m = u8[7] reduce(c, zero), dimensions={1}, to_apply=f }",
  };
  RUN_EACH(programs, 101);
}

// Sums, running maxima and products of what is moved where they read it.
TEST(kernels_of_what_is_moved) {
  state = 97;
  for (int i = 0; i < 150 && can_compile(); i++) {
    chain c = {.parameters = 1, .rank = 3, .sizes = {PICK(3, 4, 7), PICK(6, 20, 33), PICK(5, 16, 40)}};
    begin();
    add_reducer("s32", i % 2 == 0 ? "add" : "maximum");
    add("ENTRY main {\n  zero = s32[] constant(0)\n");
    add_value(&c, "parameter(0)\n");
    for (int64_t steps = 1 + draw(4); steps > 0; steps--) {
      add_move(&c);
    }
    int32_t d = (int32_t)draw(c.rank);
    int64_t kept[MOST_RANK];
    int64_t n = PICK(3, 20);
    memcpy(kept, c.sizes, sizeof kept);
    memmove(kept + d, kept + d + 1, (size_t)(c.rank - d - 1) * sizeof *kept);
    add("  w = s32[%lld,%lld] parameter(1)\n  ROOT r = ", (long long)c.sizes[d], (long long)n);
    switch (draw(4)) {
    case 3:
      add("s32[] reduce(v%d, zero), dimensions={", (int)c.step);
      for (int32_t k = 0; k < c.rank; k++) {
        add("%s%d", k == 0 ? "" : ",", (int)k);
      }
      add("}, to_apply=f\n}\n");
      break;
    case 0:
      add_shape("s32", c.rank - 1, kept);
      add(" reduce(v%d, zero), dimensions={%d}, to_apply=f\n}\n", (int)c.step, (int)d);
      break;
    case 1:
      add_shape("s32", c.rank, c.sizes);
      add(" reduce-window(v%d, zero), window={size=", (int)c.step);
      for (int32_t k = 0; k < c.rank; k++) {
        add("%s%lld", k == 0 ? "" : "x", (long long)(k == d ? c.sizes[d] : 1));
      }
      add(" pad=");
      for (int32_t k = 0; k < c.rank; k++) {
        add("%s%lld_0", k == 0 ? "" : "x", (long long)(k == d ? c.sizes[d] - 1 : 0));
      }
      add("}, to_apply=f\n}\n");
      break;
    default:
      kept[c.rank - 1] = n;
      add_shape("s32", c.rank, kept);
      add(" dot(v%d, w), lhs_contracting_dims={%d}, rhs_contracting_dims={0}\n}\n", (int)c.step, (int)d);
    }
    run();
  }
}

// An array and its transpose, whose first rows are read twice: there two reads are one, and those behind them stay what they were.
TEST(rows_that_are_shared) {
  static const int64_t sizes[] = {4, 8, 16, 20, 33, 64};
  state = 17;
  for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes) && can_compile(); i++) {
    long long n = (long long)sizes[i / 2];
    begin();
    add("ENTRY main { x = f32[%lld,%lld,%lld] parameter(0) p = pred[] parameter(1) t = f32[%lld,%lld,%lld] "
        "transpose(x), "
        "dimensions={1,2,0}\n",
        n, n, n, n, n, n);
    add("  i = s32[%lld,%lld,%lld] iota(), iota_dimension=1 m = s32[] parameter(2) mb = s32[%lld,%lld,%lld] "
        "broadcast(m), "
        "dimensions={} in = pred[%lld,%lld,%lld] compare(i, mb), direction=LT\n",
        n, n, n, n, n, n, n, n, n);
    add("  f = f32[%lld,1,%lld] slice(t), slice={[0:%lld], [0:1], [0:%lld]} g = f32[%lld,%lld] reshape(f) h = "
        "f32[%lld,%lld,%lld] broadcast(g), dimensions={0,2}\n",
        n, n, n, n, n, n, n, n, n);
    add("  pb = pred[%lld,%lld,%lld] broadcast(p), dimensions={} c = pred[%lld,%lld,%lld] and(pb, in) s = "
        "f32[%lld,%lld,%lld] select(c, h, t)\n",
        n, n, n, n, n, n, n, n, n);
    add("  ROOT r = f32[%lld,%lld,%lld] subtract(%s) }\n", n, n, n, i % 2 == 0 ? "s, x" : "x, s");
    run();
  }
}

// The same with rows that begin anywhere in a cache line.
TEST(large_rows) {
  static const char *const programs[] = {
      "ENTRY main { x = f32[2011,2003] parameter(0) c = f32[] constant(7) ROOT p = f32[2017,2014] pad(x, c), "
      "padding=3_3x5_6 }",
      "ENTRY main { x = s16[2611,3003] parameter(0) y = s16[2611,2997] slice(x), slice={[0:2611], [2:2999]} ROOT r = "
      "s16[2611,2997] reverse(y), dimensions={0} }",
      "ENTRY main { x = f32[700,1003] parameter(0) ROOT r = f32[700,1003] reverse(x), dimensions={1} }",
      "ENTRY main { x = s8[700,2048] parameter(0) ROOT r = s8[700,2048] reverse(x), dimensions={0,1} }",
      "ENTRY main { x = f32[4100003] parameter(0) y = f32[9] parameter(1) ROOT c = f32[4100012] concatenate(y, x), "
      "dimensions={0} }",
  };
  state = 12;
  for (size_t i = 0; i < sizeof programs / sizeof *programs && can_compile(); i++) {
    begin();
    add("%s\n", programs[i]);
    if (is_in_sample()) {
      run();
    }
  }
}

#define CASES(X)                  \
  X(reduce_windows)               \
  X(scans)                        \
  X(select_and_scatters)          \
  X(convolutions)                 \
  X(convolutions_of_integers)     \
  X(sorts)                        \
  X(sorts_by_two_keys)            \
  X(topks)                        \
  X(selections)                   \
  X(large_sorts)                  \
  X(large_windows)                \
  X(scatters)                     \
  X(scatters_in_a_loop)           \
  X(rows_times_large_matrices)    \
  X(batches_of_products)          \
  X(products_as_they_lie)         \
  X(products_of_copies)           \
  X(products_of_what_is_computed) \
  X(products_in_any_order)        \
  X(products_of_a_last_batch)     \
  X(sums_of_many_columns)         \
  X(divisions_by_powers_of_two)   \
  X(reductions)                   \
  X(places_of_greatest)           \
  X(columns_of_several_inputs)    \
  X(ends_of_rows)                 \
  X(rows_in_several_steps)        \
  X(bits_of_other_widths)         \
  X(tiles)                        \
  X(large_turns)                  \
  X(panels)                       \
  X(short_rows)                   \
  X(parts_of_what_is_computed)    \
  X(guards_of_bytes)              \
  X(kernels_of_what_is_moved)     \
  X(rows_that_are_shared)         \
  X(large_rows)
TEST_MAIN(CASES)
