// How much code becomes of a program: linear in its size, and next to nothing for a layer like the ones before. Counted are
// lines of LLVM's IR for a named target, so that the numbers are the same on every machine.
#include "indim/compile.h"
#include "indim/text.h"
#include "test.h"

// Writes |layers| layers of a program.
typedef void write_program(indim_buffer *out, int layers);

static const char *without;               // decisions left out
static const char *target = "x86-64-v3";  // where the code is for

// How often the IR of a program has a word; -1 when it does not compile.
static int count_of(const char *word, write_program *write, int layers) {
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  indim_executable *exe = NULL;
  int found = -1;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    return -1;
  }
  indim_buffer text, llvm;
  indim_buffer_init(&text, cx);
  indim_buffer_init(&llvm, cx);
  write(&text, layers);
  indim_compile_options options = {.target = target, .without = without, .out_llvm = &llvm};
  if (indim_module_parse(cx, indim_str_of("p.hlo"), indim_str_of(text.data), &module) == INDIM_OK &&
      indim_module_verify(cx, module) == INDIM_OK && indim_compile(cx, module, &options, &exe) == INDIM_OK) {
    found = 0;
    for (const char *at = llvm.data; (at = strstr(at, word)) != NULL; at++) {
      found++;
    }
  } else {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
    printf("  %s\n", d == NULL ? "no diagnostic" : d->message);
  }
  indim_executable_destroy(exe);
  indim_module_destroy(module);
  indim_buffer_deinit(&text);
  indim_buffer_deinit(&llvm);
  indim_ctx_destroy(cx);
  return found;
}

static int lines_of(write_program *write, int layers) { return count_of("\n", write, layers); }

static bool can_compile(void) {
  bool can = indim_compile_available(NULL) == INDIM_OK;
  if (!can) {
    printf("  this build has no code generator: not tested\n");
  }
  return can;
}

// h = tanh(h) * w, and its columns normalized, which no loop can do while it computes them, each layer in arrays of its own.
static void write_layers(indim_buffer *out, int layers) {
  indim_buffer_text(out, "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
                         "ENTRY e { h0 = f32[300,400] parameter(0) z = f32[] constant(0)\n");
  for (int i = 0; i < layers; i++) {
    indim_buffer_printf(out,
                        "w%d = f32[400] parameter(%d) b%d = f32[300,400] broadcast(w%d), dimensions={1}\n"
                        "t%d = f32[300,400] tanh(h%d) m%d = f32[300,400] multiply(t%d, b%d)\n"
                        "r%d = f32[400] reduce(m%d, z), dimensions={0}, to_apply=add\n"
                        "x%d = f32[300,400] broadcast(r%d), dimensions={1} h%d = f32[300,400] divide(m%d, x%d)\n",
                        i, i + 1, i, i, i, i, i, i, i, i, i, i, i, i + 1, i, i);
  }
  indim_buffer_printf(out, "ROOT r = f32[300,400] negate(h%d) }\n", layers);
}

// Gates of a quantum circuit: each of 8 qubits in turn is multiplied by a matrix, its dimension moved to the front.
static void write_gates(indim_buffer *out, int layers) {
  indim_buffer_text(out, "ENTRY e { g = c64[2,2] parameter(0) q0 = c64[2,2,2,2,2,2,2,2] parameter(1)\n");
  for (int i = 0; i < 8 * layers; i++) {
    indim_buffer_printf(out,
                        "q%d = c64[2,2,2,2,2,2,2,2] dot(g, q%d), lhs_contracting_dims={1}, rhs_contracting_dims={%d}\n",
                        i + 1, i, i % 8);
  }
  indim_buffer_printf(out, "ROOT r = c64[2,2,2,2,2,2,2,2] negate(q%d) }\n", 8 * layers);
}

// A line of so many elements sorted in JAX's order of floats, whose constants are there once for each side.
static void write_sort(indim_buffer *out, int size) {
  indim_buffer_text(out, "before { x = f32[] parameter(0) y = f32[] parameter(1)\n");
  for (int i = 0; i < 2; i++) {
    const char *x = i == 0 ? "x" : "y";
    indim_buffer_printf(out,
                        "z%d = f32[] constant(0)\nn%d = f32[] constant(nan)\n"
                        "e%d = pred[] compare(%s, z%d), direction=EQ\n"
                        "nan%d = pred[] compare(%s, %s), direction=NE\n"
                        "zero%d = f32[] select(e%d, z%d, %s)\nk%d = f32[] select(nan%d, n%d, zero%d)\n",
                        i, i, i, x, i, i, x, x, i, i, i, x, i, i, i, i);
  }
  indim_buffer_printf(
      out,
      "ROOT r = pred[] compare(k0, k1), direction=LT, type=TOTALORDER }\n"
      "ENTRY e { a = f32[%d] parameter(0) ROOT s = f32[%d] sort(a), dimensions={0}, to_apply=before }\n",
      size, size);
}

// Loops in a row that run until a sum is large enough: each carries its array and the sum in registers.
static void write_whiles(indim_buffer *out, int layers) {
  indim_buffer_text(out,
                    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
                    "test { p = (f32[32], f32[]) parameter(0) s = f32[] get-tuple-element(p), index=1\n"
                    "m = f32[] constant(100) ROOT r = pred[] compare(s, m), direction=LT }\n"
                    "step { p = (f32[32], f32[]) parameter(0) x = f32[32] get-tuple-element(p), index=0\n"
                    "s = f32[] get-tuple-element(p), index=1 z = f32[] constant(0) y = f32[32] multiply(x, x)\n"
                    "e = f32[32] tanh(y) f = f32[32] add(e, y) t = f32[] reduce(f, z), dimensions={0}, to_apply=add\n"
                    "n = f32[] add(s, t) ROOT r = (f32[32], f32[]) tuple(f, n) }\n"
                    "ENTRY e { x0 = f32[32] parameter(0) s0 = f32[] constant(0)\n");
  for (int i = 0; i < layers; i++) {
    indim_buffer_printf(out,
                        "t%d = (f32[32], f32[]) tuple(x%d, s0)\n"
                        "w%d = (f32[32], f32[]) while(t%d), condition=test, body=step\n"
                        "y%d = f32[32] get-tuple-element(w%d), index=0 x%d = f32[32] negate(y%d)\n",
                        i, i, i, i, i, i, i + 1, i);
  }
  indim_buffer_printf(out, "ROOT r = f32[32] negate(x%d) }\n", layers);
}

// The largest elements of a line, again and again: loops that carry the threshold and how many were found.
static void write_top_elements(indim_buffer *out, int layers) {
  indim_buffer_text(out, "ENTRY e { x0 = f32[500] parameter(0)\n");
  for (int i = 0; i < layers; i++) {
    indim_buffer_printf(
        out,
        "t%d = (f32[5], s32[5]) topk(x%d), k=5, largest=true\n"
        "v%d = f32[5] get-tuple-element(t%d), index=0 f%d = f32[1] slice(v%d), slice={[0:1]}\n"
        "g%d = f32[] reshape(f%d) b%d = f32[500] broadcast(g%d), dimensions={} x%d = f32[500] add(x%d, b%d)\n",
        i, i, i, i, i, i, i, i, i, i, i + 1, i, i);
  }
  indim_buffer_printf(out, "ROOT r = f32[500] negate(x%d) }\n", layers);
}

// Branches, each with its own cosines of an array that takes four registers.
static void write_branches(indim_buffer *out, int layers) {
  for (int i = 0; i < layers; i++) {
    indim_buffer_printf(out,
                        "yes%d { x = f32[32] parameter(0) ROOT r = f32[32] cosine(x) }\n"
                        "no%d { x = f32[32] parameter(0) ROOT r = f32[32] negate(x) }\n",
                        i, i);
  }
  indim_buffer_text(out, "ENTRY e { x0 = f32[32] parameter(0)\n");
  for (int i = 0; i < layers; i++) {
    indim_buffer_printf(out,
                        "p%d = pred[] parameter(%d) x%d = f32[32] conditional(p%d, x%d, x%d), true_computation=yes%d, "
                        "false_computation=no%d\n",
                        i, i + 1, i + 1, i, i, i, i, i);
  }
  indim_buffer_printf(out, "ROOT r = f32[32] negate(x%d) }\n", layers);
}

// Elements of elements of a line, by indices: a load for each lane, again and again.
static void write_gathers(indim_buffer *out, int layers) {
  indim_buffer_text(out, "ENTRY e { x = f32[1000] parameter(0) i0 = s32[1000] parameter(1)\n");
  for (int i = 0; i < layers; i++) {
    indim_buffer_printf(
        out,
        "i%d = s32[1000] gather(i0, i%d), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}\n",
        i + 1, i);
  }
  indim_buffer_printf(
      out,
      "ROOT r = f32[1000] gather(x, i%d), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={1} }\n",
      layers);
}

TEST(equal_layers_are_one_function) {
  if (!can_compile()) {
    return;
  }
  int few = lines_of(write_layers, 4);
  int many = lines_of(write_layers, 12);
  printf("  4 layers: %d lines, 12 layers: %d\n", few, many);
  REQUIRE(few > 0 && many > 0);
  CHECK((many - few) / 8 < 450);  // with functions of its own a layer is 730 lines
}

TEST(many_short_dimensions_are_little_code) {
  if (!can_compile()) {
    return;
  }
  int one = lines_of(write_gates, 1);
  int three = lines_of(write_gates, 3);
  printf("  8 gates: %d lines, 24 gates: %d\n", one, three);
  REQUIRE(one > 0 && three > 0);
  CHECK(one < 8 * 500);
  CHECK((three - one) / 16 < 170);
}

TEST(sorts_are_as_long_for_any_size) {
  if (!can_compile()) {
    return;
  }
  int by_host = lines_of(write_sort, 30000);
  without = "library";
  int few = lines_of(write_sort, 100);
  int many = lines_of(write_sort, 30000);
  int threaded = lines_of(write_sort, 1000000);
  without = NULL;
  printf("  100: %d lines, 30000: %d, 1000000: %d\n", few, many, threaded);
  REQUIRE(few > 0 && many > 0 && threaded > 0);
  CHECK(many < few + 100 && threaded < few + 100);
  CHECK(by_host > 0 && by_host < few / 2);
  CHECK(few < 1000);  // with code for each pass 2500 for 100000
}

// Reflectors of a small matrix, made of those before: straight code that runs once.
static void write_reflectors(indim_buffer *out, int layers) {
  indim_buffer_text(out, "ENTRY e { x0 = f32[10,5]{0,1} parameter(0)\n");
  for (int i = 0; i < layers; i++) {
    indim_buffer_printf(
        out,
        "c%d = (f32[10,5]{0,1}, f32[5]{0}) custom-call(x%d), custom_call_target=\"lapack_sgeqrf_ffi\", "
        "operand_layout_constraints={f32[10,5]{0,1}}, api_version=API_VERSION_TYPED_FFI, backend_config={}\n"
        "x%d = f32[10,5]{0,1} get-tuple-element(c%d), index=0\n",
        i, i, i + 1, i);
  }
  indim_buffer_printf(out, "ROOT r = f32[10,5]{0,1} copy(x%d) }\n", layers);
}

// A maximum of all elements of a matrix of so many rows.
static void write_maximum(indim_buffer *out, int rows) {
  indim_buffer_printf(out,
                      "more { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }\n"
                      "ENTRY e { x = f32[%d,1024] parameter(0) z = f32[] constant(-inf)\n"
                      "ROOT r = f32[] reduce(x, z), dimensions={0,1}, to_apply=more }\n",
                      rows);
}

// The lines of each program after the third, on the average.
static int further_lines(write_program *write) {
  int few = lines_of(write, 3);
  int many = lines_of(write, 11);
  printf("  3: %d lines, 11: %d\n", few, many);
  return few > 0 && many > 0 ? (many - few) / 8 : -1;
}

TEST(equal_loops_that_carry_values_are_one_function) {
  if (!can_compile()) {
    return;
  }
  int whiles = further_lines(write_whiles);
  int tops = further_lines(write_top_elements);
  CHECK(whiles > 0 && whiles < 150);
  CHECK(tops > 0 && tops < 600);  // with loops of its own 919
}

TEST(equal_factorizations_of_one_matrix_are_one_function) {
  if (!can_compile()) {
    return;
  }
  int few = lines_of(write_reflectors, 6);
  int many = lines_of(write_reflectors, 14);
  printf("  6: %d lines, 14: %d\n", few, many);
  CHECK(few > 0 && many > 0 && many < few + 8 * 100);  // with code of its own each takes 670
}

TEST(parts_of_a_sum_leave_no_rows_over) {
  if (!can_compile()) {
    return;
  }
  int sixteen = lines_of(write_maximum, 1024);
  int eight = lines_of(write_maximum, 1000);
  printf("  1024 rows: %d lines, 1000: %d\n", sixteen, eight);
  CHECK(sixteen > 0 && eight > 0 && eight < sixteen + 20);
}

TEST(functions_of_many_registers_are_called) {
  if (!can_compile()) {
    return;
  }
  int branches = further_lines(write_branches);
  CHECK(branches > 0 && branches < 100);
}

TEST(lane_by_lane_is_one_vector_at_a_time) {
  if (!can_compile()) {
    return;
  }
  int lines = lines_of(write_gathers, 1);
  printf("  %d lines\n", lines);
  CHECK(lines > 0 && lines < 200);
}

// Sums of rows of eight that do not follow each other, as of each head of a node: what vectors take apart only for neighbours is
// loaded one by one here.
static void write_rows_apart(indim_buffer *out, int layers) {
  (void)layers;
  indim_buffer_text(
      out, "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
           "ENTRY e { x = f32[300,32] parameter(0) w = f32[4,8] parameter(1) z = f32[] constant(0)\n"
           "h = f32[300,4,8] reshape(x) v = f32[300,4,8] broadcast(w), dimensions={1,2}\n"
           "m = f32[300,4,8] multiply(h, v) ROOT r = f32[300,4] reduce(m, z), dimensions={2}, to_apply=add }\n");
}

TEST(rows_apart_are_one_vector_at_a_time) {
  if (!can_compile()) {
    return;
  }
  target = "x86-64-v4";  // a row is half a vector
  int lines = lines_of(write_rows_apart, 1);
  target = "x86-64-v3";
  printf("  %d lines\n", lines);
  CHECK(lines > 0 && lines < 2000);
}

// A loop whose steps nobody knows before it runs: LLVM's loop strength reduction does not end in a useful time where long sums
// depend on a counter, and has nothing to do where it sees none.
static void write_counter(indim_buffer *out, int layers) {
  (void)layers;
  indim_buffer_text(
      out,
      "ENTRY e { n = s32[] parameter(0) x = s32[] parameter(1) z = s32[] constant(0) t = tuple(z, x, n)\n"
      "w = (s32[], s32[], s32[]) while(t), condition={ s = (s32[], s32[], s32[]) parameter(0) "
      "i = s32[] get-tuple-element(s), index=0 x = s32[] get-tuple-element(s), index=1 "
      "n = s32[] get-tuple-element(s), index=2 a = compare(i, n), direction=LT b = compare(x, n), direction=NE "
      "ROOT c = pred[] and(a, b) }, body={ s = (s32[], s32[], s32[]) parameter(0) "
      "i = s32[] get-tuple-element(s), index=0 x = s32[] get-tuple-element(s), index=1 "
      "n = s32[] get-tuple-element(s), index=2 o = s32[] constant(1) j = add(i, o) y = xor(x, j) k = multiply(y, n) "
      "ROOT t = tuple(j, k, n) }\n"
      "y = s32[] get-tuple-element(w), index=1 ROOT r = tuple(y) }\n");
}

TEST(counters_are_hidden) {
  if (!can_compile()) {
    return;
  }
  CHECK(count_of("freeze i32", write_counter, 1) == 1);
}

#define CASES(X)                                         \
  X(equal_layers_are_one_function)                       \
  X(equal_loops_that_carry_values_are_one_function)      \
  X(equal_factorizations_of_one_matrix_are_one_function) \
  X(parts_of_a_sum_leave_no_rows_over)                   \
  X(functions_of_many_registers_are_called)              \
  X(sorts_are_as_long_for_any_size)                      \
  X(lane_by_lane_is_one_vector_at_a_time)                \
  X(counters_are_hidden)                                 \
  X(rows_apart_are_one_vector_at_a_time)                 \
  X(many_short_dimensions_are_little_code)
TEST_MAIN(CASES)
