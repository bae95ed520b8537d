// From a module to results through the public headers: what an embedder does, what is refused and how, and that an
// endless loop can be stopped. What programs compute is the differential tests' matter.
#include <stdlib.h>

#include "indim/compile.h"
#include "indim/eval.h"
#include "indim/text.h"
#include "test.h"

typedef struct fixture {
  indim_ctx *cx;
  indim_module *module;
  indim_executable *exe;
} fixture;

static bool parse(fixture *f, const char *text) {
  *f = (fixture){0};
  return indim_ctx_create(NULL, &f->cx) == INDIM_OK &&
         indim_module_parse(f->cx, indim_str_of("p.hlo"), indim_str_of(text), &f->module) == INDIM_OK &&
         indim_module_verify(f->cx, f->module) == INDIM_OK;
}

static void drop(fixture *f) {
  indim_executable_destroy(f->exe);
  indim_module_destroy(f->module);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(f->cx), 0);
  indim_ctx_destroy(f->cx);
}

// Whether there is a generator; a test without one ends at once.
static bool can_compile(void) {
  bool can = indim_compile_available(NULL) == INDIM_OK;
  if (!can) {
    printf("  this build has no code generator: not tested\n");
  }
  return can;
}

static bool compile(fixture *f, const char *text) {
  bool ok = parse(f, text) && indim_compile(f->cx, f->module, NULL, &f->exe) == INDIM_OK;
  if (!ok) {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(f->cx, 0);
    printf("  %s\n", d == NULL ? "no diagnostic" : d->message);
  }
  return ok;
}

TEST(null_is_refused) {
  fixture f;
  REQUIRE(parse(&f, "ENTRY e { ROOT x = f32[] parameter(0) }"));
  CHECK(indim_compile(NULL, f.module, NULL, &f.exe) == INDIM_INVALID);
  CHECK(indim_compile(f.cx, NULL, NULL, &f.exe) == INDIM_INVALID);
  CHECK(indim_compile(f.cx, f.module, NULL, NULL) == INDIM_INVALID);
  CHECK(f.exe == NULL);
  drop(&f);
}

TEST(the_module_may_go) {
  fixture f;
  if (!can_compile()) {
    return;
  }
  REQUIRE(
      compile(&f, "ENTRY e { x = f32[5] parameter(0) c = f32[5] constant({10, 20, 30, 40, 50}) ROOT s = add(x, c) }"));
  indim_module_destroy(f.module);
  f.module = NULL;
  const float x[5] = {1, 2, 3, 4, 5};
  float sum[5] = {0};
  indim_run_options run = {.arguments = (const void *const[]){x},
                           .argument_count = 1,
                           .results = (void *const[]){sum},
                           .result_count = 1,
                           .cx = f.cx};
  CHECK(indim_execute(f.exe, &run) == INDIM_OK);
  for (int i = 0; i < 5; i++) {
    CHECK(sum[i] == (float)(11 * (i + 1)));
  }
  CHECK(indim_executable_code_bytes(f.exe) > 0);
  indim_compile_times times;
  indim_executable_times(f.exe, &times);
  CHECK(times.lower > 0 && times.emit > 0 && times.code > 0);
  drop(&f);
}

// Arguments and results are the leaves, in the layouts of the entry.
TEST(leaves_and_layouts) {
  fixture f;
  if (!can_compile()) {
    return;
  }
  REQUIRE(compile(
      &f, "HloModule m, entry_computation_layout={((f32[2,3]{0,1}, s32[]))->(s32[], f32[2,3]{1,0:PAD(3,4;one)})}\n"
          "ENTRY e { p = (f32[2,3]{0,1}, s32[]) parameter(0) x = f32[2,3]{0,1} get-tuple-element(p), index=0\n"
          "  n = s32[] get-tuple-element(p), index=1 y = f32[2,3] negate(x) m = s32[] negate(n)\n"
          "  ROOT t = tuple(m, y) }"));
  CHECK_EQ_INT(indim_executable_argument_count(f.exe), 2);
  CHECK_EQ_INT(indim_executable_result_count(f.exe), 2);
  CHECK_EQ_INT(indim_executable_result_bytes(f.exe, 1), 48);
  const float x[6] = {1, 4, 2, 5, 3, 6};
  const int32_t n = 7;
  int32_t m = 0;
  float y[12] = {0};
  indim_run_options run = {.arguments = (const void *const[]){x, &n},
                           .argument_count = 2,
                           .results = (void *const[]){&m, y},
                           .result_count = 2,
                           .cx = f.cx};
  CHECK(indim_execute(f.exe, &run) == INDIM_OK);
  CHECK_EQ_INT(m, -7);
  static const float expected[12] = {-1, -2, -3, 1, -4, -5, -6, 1, 1, 1, 1, 1};
  for (int i = 0; i < 12; i++) {
    CHECK_MSG(y[i] == expected[i], "place %d is %g, expected %g", i, (double)y[i], (double)expected[i]);
  }
  drop(&f);
}

// What input_output_alias names may be one buffer; a comment and what is not there do no harm.
TEST(a_result_in_the_buffer_of_an_argument) {
  fixture f;
  if (!can_compile()) {
    return;
  }
  REQUIRE(compile(&f, "HloModule m, input_output_alias={ {1}: (1, {0}, may-alias), /* 7 */ {0}: (9, {}), {1}: (0, {}), "
                      "{0, 3}: (0, {}), {2}: (0, {}, must-alias) }\n"
                      "ENTRY e { x = f32[4] parameter(0) p = (f32[4], f32[4]) parameter(1)\n"
                      "  a = f32[4] get-tuple-element(p), index=0 b = f32[4] get-tuple-element(p), index=1\n"
                      "  r = reverse(a), dimensions={0} s = add(a, b) t = subtract(r, x) ROOT o = tuple(s, r, t) }"));
  CHECK_EQ_INT(indim_executable_result_alias(f.exe, 0), -1);
  CHECK_EQ_INT(indim_executable_result_alias(f.exe, 1), 1);
  CHECK_EQ_INT(indim_executable_result_alias(f.exe, 2), 0);
  float x[4] = {1, 1, 1, 1};
  float a[4] = {1, 2, 3, 4};
  const float b[4] = {10, 20, 30, 40};
  float s[4] = {0};
  indim_run_options run = {.arguments = (const void *const[]){x, a, b},
                           .argument_count = 3,
                           .results = (void *const[]){s, a, x},
                           .result_count = 3,
                           .cx = f.cx};
  CHECK(indim_execute(f.exe, &run) == INDIM_OK);
  for (int i = 0; i < 4; i++) {
    CHECK(s[i] == (float)(11 * (i + 1)));
    CHECK(a[i] == (float)(4 - i));
    CHECK(x[i] == (float)(3 - i));
  }
  run.results = (void *const[]){a, s, x};
  CHECK(indim_execute(f.exe, &run) == INDIM_INVALID);
  drop(&f);
}

TEST(stages_as_text) {
  fixture f;
  indim_buffer texts[4];
  if (!can_compile()) {
    return;
  }
  REQUIRE(parse(&f, "ENTRY e { x = f32[1000] parameter(0) ROOT y = multiply(x, x) }"));
  for (int i = 0; i < 4; i++) {
    indim_buffer_init(&texts[i], f.cx);
  }
  indim_compile_options options = {
      .out_loops = &texts[0], .out_llvm = &texts[1], .out_asm = &texts[2], .out_explain = &texts[3]};
  CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_OK);
  static const char *const words[] = {"multiply", "fmul", "ret", "y"};
  for (int i = 0; i < 4; i++) {
    CHECK_MSG(texts[i].data != NULL && strstr(texts[i].data, words[i]) != NULL, "text %d lacks %s", i, words[i]);
    indim_buffer_deinit(&texts[i]);
  }
  drop(&f);
}

static int count_of(const char *text, const char *word) {
  int count = 0;
  for (; (text = strstr(text, word)) != NULL; text++) {
    count++;
  }
  return count;
}

// What stands around a parallel loop is compiled with the least effort, and only where next to nothing is done there. A
// function in the loop is put down once: it is too long to be written out for several vectors.
TEST(code_is_short_where_it_may_be) {
  static const struct {
    const char *text;
    int powers;
    bool is_seldom;
  } rows[] = {
      {"ENTRY e { x = f32[5000000] parameter(0) ROOT y = power(x, x) }", 1, true},
      {"ENTRY e { x = f32[1024] parameter(0) ROOT y = power(x, x) }", 1, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0] && can_compile(); i++) {
    fixture f;
    indim_buffer loops;
    indim_buffer code;
    REQUIRE(parse(&f, rows[i].text));
    indim_buffer_init(&loops, f.cx);
    indim_buffer_init(&code, f.cx);
    indim_compile_options options = {.out_loops = &loops, .out_llvm = &code};
    CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_OK);
    CHECK_EQ_INT(count_of(loops.data, "power v"), rows[i].powers);
    CHECK_EQ_INT(strstr(code.data, "optnone") != NULL, rows[i].is_seldom);
    indim_buffer_deinit(&loops);
    indim_buffer_deinit(&code);
    drop(&f);
  }
}

static void count_stage(void *user, indim_compile_stage stage) { ((int *)user)[stage]++; }

TEST(stages_are_told) {
  fixture f;
  int stages[2] = {0};
  if (!can_compile()) {
    return;
  }
  REQUIRE(parse(&f, "ENTRY e { ROOT x = f32[3] parameter(0) }"));
  indim_compile_options options = {.progress = count_stage, .progress_user = stages};
  CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_OK);
  CHECK_EQ_INT(stages[INDIM_COMPILE_LOWER], 1);
  CHECK_EQ_INT(stages[INDIM_COMPILE_EMIT], 1);
  drop(&f);
}

static void expect_refusal(const char *text, indim_status expected, const char *word) {
  fixture f;
  REQUIRE(parse(&f, text));
  indim_status status = indim_compile(f.cx, f.module, NULL, &f.exe);
  const indim_diagnostic *d = indim_ctx_diagnostic_get(f.cx, 0);
  CHECK_MSG(status == expected, "%s: %s, expected %s", word, indim_status_name(status), indim_status_name(expected));
  CHECK_MSG(d != NULL && strstr(d->message, word) != NULL, "'%s' lacks '%s'", d == NULL ? "" : d->message, word);
  CHECK(f.exe == NULL);
  drop(&f);
}

TEST(what_does_not_compile_says_where_and_why) {
  if (!can_compile()) {
    return;
  }
  expect_refusal("ENTRY e { x = c64[4] parameter(0) ROOT f = c64[4] fft(x), fft_type=FFT, fft_length={3} }",
                 INDIM_UNSUPPORTED, "f (fft)");
  expect_refusal("ENTRY e { x = f32[?] parameter(0) ROOT n = negate(x) }", INDIM_UNSUPPORTED, "without bound");
  expect_refusal("ENTRY e { x = f32[<=4] parameter(0) ROOT f = c64[<=3] fft(x), fft_type=RFFT, fft_length={4} }",
                 INDIM_UNSUPPORTED, "dynamic");
  expect_refusal("HloModule m, entry_computation_layout={(s32[4]{0:E(16)})->s32[4]{0}}\n"
                 "ENTRY e { x = s32[4] parameter(0) ROOT y = s32[4] negate(x) }",
                 INDIM_UNSUPPORTED, "elements of fewer bits (E) than their type");
  expect_refusal("HloModule m, entry_computation_layout={(s32[4]{0})->s32[4]{0:E(8192)}}\n"
                 "ENTRY e { x = s32[4] parameter(0) ROOT y = s32[4] negate(x) }",
                 INDIM_UNSUPPORTED, "elements of more than 4096 bits (E)");
  expect_refusal("ENTRY e { x = s32[4,4]{1,0:T(2,2)} parameter(0) ROOT y = s32[16]{0} bitcast(x) }", INDIM_UNSUPPORTED,
                 "y (bitcast)");
  expect_refusal("ENTRY e { ROOT c = f32[100] constant({...}) }", INDIM_INVALID,
                 "c (constant): its values were left out");
  expect_refusal("ENTRY e { c = f32[100] constant({...}) b = f32[100] call(c), to_apply={ x = f32[100] parameter(0) "
                 "d = f32[100] constant({...}) ROOT s = add(x, d) } ROOT n = negate(b) }",
                 INDIM_INVALID, "left out");
}

// Computations of arrays stand in the way of the kernels that apply them.
#define MORE_THAN_SCALARS                                                                                       \
  "lt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }\n"          \
  "f { x = f32[] parameter(0) y = f32[] parameter(1) t = f32[2] broadcast(x), dimensions={}\n"                  \
  "  u = f32[2] sort(t), dimensions={0}, to_apply=lt v = f32[1] slice(u), slice={[0:1]} w = f32[] reshape(v)\n" \
  "  ROOT r = f32[] add(w, y) }\n"                                                                              \
  "g { x = f32[] parameter(0) y = f32[] parameter(1) t = f32[2] broadcast(x), dimensions={}\n"                  \
  "  u = f32[2] sort(t), dimensions={0}, to_apply=lt v = f32[1] slice(u), slice={[0:1]} w = f32[] reshape(v)\n" \
  "  ROOT r = pred[] compare(w, y), direction=GE }\n"

TEST(computations_that_are_more_than_scalars) {
  static const char *const entries[] = {
      "ENTRY e { x = f32[50,60] parameter(0) z = f32[] constant(0) ROOT r = reduce(x, z), dimensions={1}, to_apply=f }",
      "ENTRY e { x = f32[50] parameter(0) z = f32[] constant(0)\n"
      "  ROOT r = f32[48] reduce-window(x, z), window={size=3}, to_apply=f }",
      "ENTRY e { x = f32[50] parameter(0) ROOT r = f32[50] sort(x), dimensions={0}, to_apply=g }",
      "ENTRY e { x = f32[50] parameter(0) i = s32[3,1] parameter(1) u = f32[3] parameter(2)\n"
      "  ROOT r = f32[50] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0},\n"
      "    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }",
      "ENTRY e { x = f32[50] parameter(0) s = f32[48] parameter(1) z = f32[] constant(0)\n"
      "  ROOT r = f32[50] select-and-scatter(x, s, z), window={size=3}, select=g, scatter=f }",
  };
  for (size_t i = 0; i < sizeof entries / sizeof entries[0] && can_compile(); i++) {
    char text[4000];
    snprintf(text, sizeof text, "%s%s", MORE_THAN_SCALARS, entries[i]);
    expect_refusal(text, INDIM_UNSUPPORTED, "its computation is more than elementwise work on scalars");
  }
}

// |count| numbers or names from |first| on, with commas between: "f0, f1"; without a name "0, 1".
static void append_list(char *text, const char *name, int first, int count) {
  for (int i = first; i < first + count; i++) {
    sprintf(text + strlen(text), "%s%s%d", i == first ? "" : ", ", name, i);
  }
}

static void append_times(char *text, const char *word, int count) {
  for (int i = 0; i < count; i++) {
    strcat(text, word);
  }
}

// Limits of the compiler: a product of more dimensions than an array may have, branches, and levels of control.
TEST(more_than_the_compiler_takes) {
  enum { ROOM = 1 << 17, BRANCHES = 201, LEVELS = 501 };
  char *text = calloc(1, ROOM);
  REQUIRE(text != NULL);
  if (can_compile()) {
    for (int i = 0; i < 2; i++) {
      sprintf(text + strlen(text), "%s = f32[2,", i == 0 ? "ENTRY e { x" : " y");
      append_times(text, "1,", 38);
      sprintf(text + strlen(text), "50] parameter(%d)", i);
    }
    strcat(text, " ROOT d = dot(x, y), lhs_contracting_dims={");
    append_list(text, "", 0, 10);
    strcat(text, "}, rhs_contracting_dims={");
    append_list(text, "", 0, 10);
    strcat(text, "} }");
    expect_refusal(text, INDIM_UNSUPPORTED, "d (dot): output and contracted dimensions together are more than 64");

    text[0] = '\0';
    for (int i = 0; i < BRANCHES; i++) {
      sprintf(text + strlen(text), "b%d { p = f32[200] parameter(0) ROOT r = negate(p) }\n", i);
    }
    strcat(text, "ENTRY e { i = s32[] parameter(0) x = f32[200] parameter(1) ROOT c = f32[200] conditional(i");
    append_times(text, ", x", BRANCHES);
    strcat(text, "), branch_computations={");
    append_list(text, "b", 0, BRANCHES);
    strcat(text, "} }");
    expect_refusal(text, INDIM_UNSUPPORTED, "c (conditional): a conditional of more than 200 branches");

    strcpy(text, "w0 { p = s32[] parameter(0) ROOT r = negate(p) }\n");
    for (int i = 1; i < LEVELS; i++) {
      sprintf(text + strlen(text),
              "%sw%d { p = s32[] parameter(0) ROOT r = s32[] conditional(p, p), branch_computations={w%d} }\n",
              i == LEVELS - 1 ? "ENTRY " : "", i, i - 1);
    }
    expect_refusal(text, INDIM_LIMIT, "nested deeper than 500");
  }
  free(text);
}

// What is computed inside what is computed inside its user ends somewhere: 300 times the same turn, told in --explain, and right.
TEST(a_long_chain_is_cut) {
  enum { LINKS = 300, N = 1000 };
  fixture f;
  indim_buffer explain;
  float x[N], y[N];
  char *text = calloc(1, 1 << 16);
  REQUIRE(text != NULL);
  strcpy(text, "ENTRY e { z = f32[] constant(7) a0 = f32[1000] parameter(0)\n");
  for (int i = 1; i <= LINKS; i++) {
    sprintf(text + strlen(text), "%sa%d = pad(a%d, z), padding=1_-1\n", i == LINKS ? "ROOT " : "", i, i - 1);
  }
  strcat(text, "}");
  if (can_compile()) {
    REQUIRE(parse(&f, text));
    indim_buffer_init(&explain, f.cx);
    const indim_compile_options options = {.out_explain = &explain};
    CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_OK);
    CHECK(explain.data != NULL && strstr(explain.data, "nests too deep") != NULL);
    for (int i = 0; i < N; i++) {
      x[i] = (float)i;
    }
    const indim_run_options run = {.arguments = (const void *const[]){x},
                                   .argument_count = 1,
                                   .results = (void *const[]){y},
                                   .result_count = 1,
                                   .cx = f.cx};
    CHECK(f.exe != NULL && indim_execute(f.exe, &run) == INDIM_OK);
    for (int i = 0; i < N; i++) {
      CHECK(y[i] == (i < LINKS ? 7 : (float)(i - LINKS)));
    }
    indim_buffer_deinit(&explain);
    drop(&f);
  }
  free(text);
}

// Sorting takes as much working memory as its array: more bytes than there are numbers for, or more than the machine has.
TEST(more_working_memory_than_there_is) {
  static const char lt[] =
      "lt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }\n";
  static const char entry[] =
      "ENTRY e { x = f32[%lld] iota(), iota_dimension=0 s = f32[%lld] sort(x), dimensions={0}, to_apply=lt\n"
      "  ROOT u = f32[1] slice(s), slice={[5:6]} }";
  char text[600];
  if (!can_compile()) {
    return;
  }
  snprintf(text, sizeof text, "%s", lt);
  snprintf(text + strlen(text), sizeof text - strlen(text), entry, 1LL << 60, 1LL << 60);
  expect_refusal(text, INDIM_LIMIT, "more bytes of scratch memory than can be counted");
  snprintf(text, sizeof text, "%s", lt);
  snprintf(text + strlen(text), sizeof text - strlen(text), entry, 1LL << 58, 1LL << 58);
  expect_refusal(text, INDIM_NO_MEMORY, "bytes could not be allocated");
}

// Complex numbers have no least one: their padding is zero.
TEST(padding_of_complex_numbers) {
  fixture f;
  if (!can_compile()) {
    return;
  }
  REQUIRE(compile(&f, "HloModule m, entry_computation_layout={(c64[2]{0})->c64[2]{0:PAD(3;lowest)}}\n"
                      "ENTRY e { x = c64[2] parameter(0) ROOT y = c64[2] negate(x) }"));
  const float x[4] = {1, 2, 3, 4};
  float y[6] = {9, 9, 9, 9, 9, 9};
  const indim_run_options run = {.arguments = (const void *const[]){x},
                                 .argument_count = 1,
                                 .results = (void *const[]){y},
                                 .result_count = 1,
                                 .cx = f.cx};
  CHECK(indim_execute(f.exe, &run) == INDIM_OK);
  static const float expected[6] = {-1, -2, -3, -4, 0, 0};
  for (int i = 0; i < 6; i++) {
    CHECK_MSG(y[i] == expected[i], "place %d is %g, expected %g", i, (double)y[i], (double)expected[i]);
  }
  drop(&f);
}

// Rows that are read backwards, and arrays that are turned panel by panel, ask for what comes next: the next row; the next panel
// along one dimension, along the other, or of the next array.
TEST(what_comes_next_is_asked_for) {
  static const struct {
    const char *text, *words;
  } rows[] = {
      {"ENTRY e { x = f32[4000,1024] parameter(0) ROOT r = f32[4000,1024] reverse(x), dimensions={1} }",
       "prefetch distance 1024"},
      {"ENTRY e { x = f32[4096,4096] parameter(0) ROOT t = f32[4096,4096] transpose(x), dimensions={1,0} }",
       "prefetch"},
      {"ENTRY e { x = f32[65536,100] parameter(0) ROOT t = f32[100,65536] transpose(x), dimensions={1,0} }",
       "prefetch"},
      {"ENTRY e { x = f32[100,90000] parameter(0) ROOT t = f32[90000,100] transpose(x), dimensions={1,0} }",
       "prefetch"},
      {"ENTRY e { x = f32[900,120,100] parameter(0) ROOT t = f32[900,100,120] transpose(x), dimensions={0,2,1} }",
       "prefetch"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0] && can_compile(); i++) {
    for (int is_out = 0; is_out < 2; is_out++) {
      fixture f;
      indim_buffer loops;
      REQUIRE(parse(&f, rows[i].text));
      indim_buffer_init(&loops, f.cx);
      const indim_compile_options options = {
          .target = "x86-64-v3", .out_loops = &loops, .without = is_out ? "prefetch" : NULL};
      CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_OK);
      bool asks = loops.data != NULL && strstr(loops.data, is_out ? "prefetch" : rows[i].words) != NULL;
      CHECK_MSG(asks == !is_out, "program %d %s", (int)i, is_out ? "asks, though it is left out" : "does not ask");
      indim_buffer_deinit(&loops);
      drop(&f);
    }
  }
}

TEST(no_pass_of_that_name) {
  fixture f;
  indim_buffer loops;
  if (!can_compile()) {
    return;
  }
  REQUIRE(parse(&f, "ENTRY e { ROOT x = f32[3] parameter(0) }"));
  indim_buffer_init(&loops, f.cx);
  const indim_compile_options options = {.out_loops = &loops, .loops_after = "nope"};
  CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_INVALID);
  const indim_diagnostic *d = indim_ctx_diagnostic_get(f.cx, 0);
  CHECK(d != NULL && strstr(d->message, "no pass 'nope'") != NULL && strstr(d->hint, "lowering, all, ") != NULL);
  CHECK(f.exe == NULL);
  indim_buffer_deinit(&loops);
  drop(&f);
}

// An elided constant that nothing needs does no harm.
TEST(elided_and_not_needed) {
  fixture f;
  if (!can_compile()) {
    return;
  }
  REQUIRE(compile(&f, "dead { ROOT d = f32[100] constant({...}) }\n"
                      "ENTRY e { c = f32[100] constant({...}) k = f32[100] call(), to_apply=dead\n"
                      "  x = f32[] parameter(0) ROOT y = negate(x) }"));
  drop(&f);
}

// Loops written out inside loops that are written out: the second time the values are those that the first time made.
TEST(short_loops_in_short_loops) {
  fixture f;
  char text[2000] = "ENTRY e {\n";
  if (!can_compile()) {
    return;
  }
  for (int i = 0; i < 19; i++) {  // storages, whose state lay where names of values were written
    char line[60];
    snprintf(line, sizeof line, "  p%d = f32[8] parameter(%d)\n", i, i);
    strcat(text, line);
  }
  strcat(text, "  z = f64[] constant(0) w = f64[32,5,32] broadcast(z), dimensions={}\n"
               "  x = f64[32,5,32]{0,1,2} round-nearest-even(w) y = f64[0,5,32] constant({})\n"
               "  c = f64[32,5,32]{2,0,1} clamp(z, x, z)\n"
               "  ROOT d = f64[5,32,0] dot(c, y), lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, "
               "rhs_contracting_dims={2} }");
  REQUIRE(parse(&f, text));
  indim_compile_options options = {.without = "inline,prefetch"};
  CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_OK);
  drop(&f);
}

static bool always(void *user) {
  ++*(int *)user;
  return true;
}

TEST(compiling_is_interrupted) {
  fixture f;
  int asked = 0;
  if (!can_compile()) {
    return;
  }
  REQUIRE(parse(&f, "ENTRY e { ROOT x = f32[3] parameter(0) }"));
  indim_ctx_set_interrupt(f.cx, always, &asked);
  CHECK(indim_compile(f.cx, f.module, NULL, &f.exe) == INDIM_INTERRUPTED);
  CHECK(f.exe == NULL && asked > 0);
  drop(&f);
}

// What was asked to stop, how often it was asked before the code generator began, and after how many questions it says yes.
typedef struct asking {
  int asked, before, most;
} asking;

static bool later(void *user) {
  asking *a = user;
  return ++a->asked > a->most;
}

static void note_stage(void *user, indim_compile_stage stage) {
  asking *a = user;
  a->before = stage == INDIM_COMPILE_EMIT ? a->asked : a->before;
}

// While LLVM works nobody looks; so its result is asked for once more.
TEST(compiling_is_interrupted_while_code_is_generated) {
  fixture f;
  asking a = {.most = 1 << 20};
  indim_compile_options options = {.progress = note_stage, .progress_user = &a};
  if (!can_compile()) {
    return;
  }
  REQUIRE(parse(&f, "ENTRY e { x = f32[3] parameter(0) ROOT y = f32[3] add(x, x) }"));
  indim_ctx_set_interrupt(f.cx, later, &a);
  CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_OK);
  CHECK(a.asked >= a.before + 2);
  indim_executable_destroy(f.exe);
  f.exe = NULL;
  a = (asking){.most = a.before + 1};
  CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_INTERRUPTED);
  CHECK(f.exe == NULL && a.asked == a.before + 2);
  drop(&f);
}

TEST(an_endless_loop_is_stopped) {
  fixture f;
  if (!can_compile()) {
    return;
  }
  REQUIRE(compile(&f, "ENTRY e { i = s32[] constant(0) ROOT w = s32[] while(i), condition={ x = s32[] parameter(0) "
                      "ROOT c = pred[] constant(true) }, body={ x = s32[] parameter(0) o = s32[] constant(1) "
                      "ROOT s = add(x, o) } }"));
  int32_t result = 0;
  const volatile int32_t stop = 1;
  indim_run_options run = {.results = (void *const[]){&result}, .result_count = 1, .stop = &stop, .cx = f.cx};
  CHECK(indim_execute(f.exe, &run) == INDIM_INTERRUPTED);
  drop(&f);
}

// Each of these would run for minutes; what is asked to stop before it begins does so at its first look.
TEST(long_programs_are_stopped) {
  static const char *const programs[] = {
      "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = add(a, b) }\n"  // one short loop inside another
      "ENTRY e { x = s32[2000000,2000000] iota(), iota_dimension=0 y = s32[2000000,2000000] multiply(x, x)\n"
      "  z = s32[] constant(0) ROOT r = s32[] reduce(y, z), dimensions={0,1}, to_apply=add }",
      "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = add(a, b) }\n"  // stretches of one long loop
      "ENTRY e { x = s32[9000000000001] iota(), iota_dimension=0 y = s32[9000000000001] multiply(x, x)\n"
      "  z = s32[] constant(0) ROOT r = s32[] reduce(y, z), dimensions={0}, to_apply=add }",
      "f { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] multiply(a, b) d = s32[] add(c, a)\n"
      "  ROOT r = s32[] xor(d, b) }\n"
      "ENTRY e { x = s32[70000000000] iota(), iota_dimension=0\n"
      "  z = s32[] constant(1) ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=f }",
  };
  indim_pool *pool = NULL;
  indim_ctx *cx = NULL;
  if (!can_compile()) {
    return;
  }
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK && indim_pool_create(cx, 2, &pool) == INDIM_OK);
  for (int i = 0; i < 6; i++) {
    fixture f;
    int32_t result = 0;
    const volatile int32_t stop = 1;
    REQUIRE(compile(&f, programs[i / 2]));
    indim_run_options run = {.results = (void *const[]){&result},
                             .result_count = 1,
                             .stop = &stop,
                             .pool = i % 2 == 0 ? NULL : pool,
                             .cx = f.cx};
    CHECK_MSG(indim_execute(f.exe, &run) == INDIM_INTERRUPTED, "program %d", i / 2);
    drop(&f);
  }
  indim_pool_destroy(pool);
  indim_ctx_destroy(cx);
}

// What is stopped is not computed to its end, and what is not gives the right number: a loop of stretches.
TEST(a_loop_of_stretches_counts_right) {
  fixture f;
  int64_t result = 0;
  if (!can_compile()) {
    return;
  }
  REQUIRE(compile(&f,
                  "f { a = s64[] parameter(0) b = s64[] parameter(1) t = s64[] constant(3) c = s64[] multiply(a, t)\n"
                  "  ROOT r = s64[] add(c, b) }\n"
                  "ENTRY e { x = s64[100000007] iota(), iota_dimension=0 z = s64[] constant(1)\n"
                  "  ROOT r = s64[] reduce(x, z), dimensions={0}, to_apply=f }"));
  indim_run_options run = {.results = (void *const[]){&result}, .result_count = 1, .cx = f.cx};
  CHECK(indim_execute(f.exe, &run) == INDIM_OK);
  uint64_t expected = 1;
  for (uint64_t i = 0; i < 100000007; i++) {
    expected = 3 * expected + i;
  }
  CHECK_EQ_UINT((uint64_t)result, expected);
  drop(&f);
}

TEST(a_matrix_product_is_stopped) {
  enum { N = 512 };
  fixture f;
  volatile int32_t stop = 0;
  if (!can_compile()) {
    return;
  }
  REQUIRE(compile(&f, "ENTRY e { x = f32[512,512] parameter(0) ROOT d = f32[512,512] dot(x, x), "
                      "lhs_contracting_dims={1}, rhs_contracting_dims={0} }"));
  float *x = calloc(2 * N * N, sizeof *x);
  REQUIRE(x != NULL);
  indim_run_options run = {.arguments = (const void *const[]){x},
                           .argument_count = 1,
                           .results = (void *const[]){x + N * N},
                           .result_count = 1,
                           .stop = &stop,
                           .cx = f.cx};
  CHECK(indim_execute(f.exe, &run) == INDIM_OK);
  stop = 1;
  CHECK(indim_execute(f.exe, &run) == INDIM_INTERRUPTED);
  free(x);
  drop(&f);
}

// A product, elementwise work and sums, each of which is cut for threads.
TEST(threads_give_the_same_bits) {
  enum { N = 200 };
  fixture f;
  if (!can_compile()) {
    return;
  }
  REQUIRE(compile(&f, "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = add(a, b) }\n"
                      "ENTRY e { x = f32[200,200] parameter(0) d = f32[200,200] dot(x, x), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0} t = tanh(d) z = f32[] constant(0) r = f32[200] reduce(t, z), "
                      "dimensions={0}, to_apply=add s = f32[] reduce(r, z), dimensions={0}, to_apply=add\n"
                      "  ROOT o = tuple(t, s) }"));
  float *x = malloc(N * N * sizeof *x);
  float *y[2] = {malloc(N * N * sizeof *x), malloc(N * N * sizeof *x)};
  float sums[2] = {0};
  REQUIRE(x != NULL && y[0] != NULL && y[1] != NULL);
  for (int i = 0; i < N * N; i++) {
    x[i] = (float)(i % 23 - 11) / 97;
  }
  for (int round = 0; round < 2; round++) {
    indim_pool *pool = NULL;
    REQUIRE(indim_pool_create(f.cx, 1 + 3 * round, &pool) == INDIM_OK);
    indim_run_options run = {.arguments = (const void *const[]){x},
                             .argument_count = 1,
                             .results = (void *const[]){y[round], &sums[round]},
                             .result_count = 2,
                             .pool = pool,
                             .cx = f.cx};
    for (int i = 0; i < 5; i++) {
      CHECK(indim_execute(f.exe, &run) == INDIM_OK);
    }
    indim_pool_destroy(pool);
  }
  CHECK(memcmp(y[0], y[1], N * N * sizeof *x) == 0);
  CHECK(memcmp(&sums[0], &sums[1], sizeof sums[0]) == 0);
  free(x);
  free(y[0]);
  free(y[1]);
  drop(&f);
}

TEST(every_decision_can_be_left_out) {
  fixture f;
  if (!can_compile()) {
    return;
  }
  REQUIRE(parse(&f, "ENTRY e { x = f32[3] parameter(0) ROOT y = f32[3] multiply(x, x) }"));
  const indim_compile_decision *first = indim_compile_decisions();
  for (const indim_compile_decision *d = first; d->name != NULL; d++) {
    const indim_compile_options options = {.without = d->name};
    CHECK(d->meaning != NULL && d->meaning[0] != '\0');
    CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_OK);
    indim_executable_destroy(f.exe);
    f.exe = NULL;
  }
  CHECK_EQ_STR(first->name, "inline");
  const indim_compile_options several = {.without = "inline,buffer-sharing"};
  CHECK(indim_compile(f.cx, f.module, &several, &f.exe) == INDIM_OK);
  indim_executable_destroy(f.exe);
  f.exe = NULL;
  static const char *const wrong[] = {"inlin", "inlines", "inline,,unroll", " inline", "inline,Unroll"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    const indim_compile_options options = {.without = wrong[i]};
    CHECK(indim_compile(f.cx, f.module, &options, &f.exe) == INDIM_INVALID);
    CHECK(f.exe == NULL);
    const indim_diagnostic *d = indim_ctx_diagnostic_get(f.cx, i);
    REQUIRE(d != NULL);
    CHECK(strstr(d->message, "no decision '") != NULL && strstr(d->hint, "it has inline, registers, ") != NULL);
  }
  drop(&f);
}

// Nobody has such arrays, but what is reckoned with their sizes must not overflow, which sanitizers see.
TEST(arrays_of_nearly_all_bytes) {
  static const char *const texts[] = {
      "ENTRY e { x = f32[1152921504606846976] parameter(0) y = f32[1152921504606846976] parameter(1)"
      " ROOT s = f32[1152921504606846976] add(x, y) }",
      "ENTRY e { x = f32[1073741824,1073741824] parameter(0)"
      " ROOT t = f32[1073741824,1073741824] transpose(x), dimensions={1,0} }",
      "ENTRY e { x = f32[1073741824,1073741824] parameter(0) y = f32[1073741824,1073741824] parameter(1)"
      " ROOT p = f32[1073741824,1073741824] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
      "ENTRY e { x = f32[8,144115188075855872] parameter(0) y = power(x, x) z = power(y, x)"
      " ROOT w = f32[144115188075855872,8] transpose(z), dimensions={1,0} }",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0] && can_compile(); i++) {
    fixture f;
    CHECK(compile(&f, texts[i]));
    drop(&f);
  }
}

TEST(an_argument_that_is_short_is_refused) {
  fixture f;
  indim_literal *argument = NULL;
  indim_literal *result = NULL;
  if (!can_compile()) {
    return;
  }
  REQUIRE(compile(&f, "ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }"));
  REQUIRE(indim_literal_parse(f.cx, indim_str_of("f32[<=4](3) {1, 2, 3}"), &argument) == INDIM_OK);
  const indim_literal *arguments[] = {argument};
  CHECK(indim_execute_literals(f.cx, f.exe, arguments, 1, NULL, &result) == INDIM_INVALID);
  CHECK(strstr(indim_ctx_diagnostic_get(f.cx, 0)->message, "3 elements along dimension 0") != NULL);
  indim_literal_destroy(argument);
  drop(&f);
}

TEST(sizes_are_leaves_behind_their_arrays) {
  static const float x[] = {1, 2, 3, 4, 5, 6};
  fixture f;
  if (!can_compile()) {
    return;
  }
  REQUIRE(compile(&f, "ENTRY e { x = f32[<=3,2] parameter(0) t = f32[2,<=3] transpose(x), dimensions={1,0} "
                      "n = s32[] get-dimension-size(x), dimensions={0} ROOT r = tuple(t, n) }"));
  CHECK_EQ_INT(indim_executable_argument_count(f.exe), 2);
  CHECK_EQ_INT(indim_executable_result_count(f.exe), 3);
  CHECK_EQ_INT(indim_executable_argument_bytes(f.exe, 0), 24);
  CHECK_EQ_INT(indim_executable_argument_bytes(f.exe, 1), 4);
  CHECK(indim_shape_is_static(indim_executable_argument_shape(f.exe, 0)));
  for (int32_t size = -1; size <= 4; size++) {
    float y[6] = {0};
    int32_t sizes[2] = {-7, -7};
    const void *arguments[] = {x, &size};
    void *results[] = {y, &sizes[0], &sizes[1]};
    indim_run_options run = {
        .arguments = arguments, .argument_count = 2, .results = results, .result_count = 3, .cx = f.cx};
    bool is_sound = size >= 0 && size <= 3;
    CHECK_EQ_INT(indim_execute(f.exe, &run), is_sound ? INDIM_OK : INDIM_INVALID);
    CHECK(!is_sound || (sizes[0] == size && sizes[1] == size && (size < 2 || (y[0] == 1 && y[1] == 3))));
  }
  const indim_diagnostic *d = indim_ctx_diagnostic_get(f.cx, indim_ctx_diagnostic_count(f.cx) - 1);
  CHECK(strcmp(d->message, "x (parameter): the size of dimension 0 is 4, expected 0 to 3") == 0);
  drop(&f);
}

#define CASES(X)                                      \
  X(null_is_refused)                                  \
  X(the_module_may_go)                                \
  X(leaves_and_layouts)                               \
  X(sizes_are_leaves_behind_their_arrays)             \
  X(a_result_in_the_buffer_of_an_argument)            \
  X(stages_as_text)                                   \
  X(code_is_short_where_it_may_be)                    \
  X(stages_are_told)                                  \
  X(what_does_not_compile_says_where_and_why)         \
  X(computations_that_are_more_than_scalars)          \
  X(more_than_the_compiler_takes)                     \
  X(a_long_chain_is_cut)                              \
  X(no_pass_of_that_name)                             \
  X(what_comes_next_is_asked_for)                     \
  X(more_working_memory_than_there_is)                \
  X(padding_of_complex_numbers)                       \
  X(elided_and_not_needed)                            \
  X(every_decision_can_be_left_out)                   \
  X(arrays_of_nearly_all_bytes)                       \
  X(short_loops_in_short_loops)                       \
  X(compiling_is_interrupted)                         \
  X(compiling_is_interrupted_while_code_is_generated) \
  X(long_programs_are_stopped)                        \
  X(a_loop_of_stretches_counts_right)                 \
  X(a_matrix_product_is_stopped)                      \
  X(an_endless_loop_is_stopped)                       \
  X(an_argument_that_is_short_is_refused)             \
  X(threads_give_the_same_bits)

TEST_MAIN(CASES)
