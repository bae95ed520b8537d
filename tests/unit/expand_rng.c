// Random bits and numbers as computations of other ops: every expansion gives what the evaluator gives for the op itself,
// evaluated and compiled.
#include "expand/kit.h"

#include "indim/compile.h"
#include "indim/eval.h"
#include "indim/literal_util.h"
#include "indim/text.h"
#include "test.h"

static indim_module *parse(indim_ctx *cx, const char *text) {
  indim_module *module = NULL;
  indim_status status = indim_module_parse(cx, indim_str_of("rng.hlo"), indim_str_of(text), &module);
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
  CHECK_MSG(status == INDIM_OK, "%s: %s", text, d == NULL ? "" : d->message);
  return module;
}

// |expand|'s computation in the place of |root|, whose operands are parameters.
static indim_status expanded(indim_ctx *cx, const indim_instr *root, indim_expand_fn *expand,
                             indim_module **out_module) {
  value operands[4] = {NULL};
  indim_expander x = {.cx = cx, .instr = root, .operands = operands};
  INDIM_TRY(indim_builder_create(cx, "expanded", &x.b));
  value result = expand(&x);
  indim_builder_end(x.b, result);
  indim_status status = indim_builder_finish(x.b, out_module);
  indim_builder_destroy(x.b);
  return status;
}

static indim_status run_native(indim_ctx *cx, const indim_module *module, const indim_literal *const *arguments,
                               int64_t count, indim_literal **out) {
  indim_executable *exe = NULL;
  INDIM_TRY(indim_compile(cx, module, NULL, &exe));
  indim_status status = indim_execute_literals(cx, exe, arguments, count, NULL, out);
  indim_executable_destroy(exe);
  return status;
}

// Floats may differ by |tolerance|, or by as much as a part of them.
static bool near(indim_ctx *cx, const indim_literal *a, const indim_literal *b, double tolerance) {
  indim_tolerance how = {.abs = tolerance, .rel = tolerance};
  indim_mismatch mismatch;
  return indim_literal_compare(cx, a, b, &how, &mismatch) == INDIM_OK && mismatch.count == 0;
}

static void compare(indim_ctx *cx, const char *what, const char *text, const indim_literal *expected,
                    const indim_literal *result, double tolerance) {
  bool same = tolerance > 0 ? near(cx, expected, result, tolerance) : indim_literal_equal(expected, result);
  CHECK_MSG(same, "%s differs: %s", what, text);
}

// The program |text| against its expansion.
static void check(const char *text, indim_expand_fn *expand, const char *const *argument_texts, double tolerance) {
  indim_ctx *cx = NULL;
  indim_module *after = NULL;
  indim_literal *arguments[2] = {NULL, NULL};
  indim_literal *expected = NULL;
  indim_literal *result = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_module *before = parse(cx, text);
  int64_t count = before->entry->parameter_count;
  for (int64_t i = 0; i < count; i++) {
    CHECK_MSG(indim_literal_parse(cx, indim_str_of(argument_texts[i]), &arguments[i]) == INDIM_OK, "%s",
              argument_texts[i]);
  }
  const indim_literal *const *given = (const indim_literal *const *)arguments;
  CHECK_MSG(indim_eval(cx, before, given, count, NULL, &expected) == INDIM_OK, "evaluating %s", text);
  indim_status status = expanded(cx, before->entry->root, expand, &after);
  const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
  CHECK_MSG(status == INDIM_OK, "expanding %s: %s", text, d == NULL ? "" : d->message);
  if (status == INDIM_OK) {
    CHECK_MSG(indim_eval(cx, after, given, count, NULL, &result) == INDIM_OK, "evaluating the expansion of %s", text);
    compare(cx, "the evaluated expansion", text, expected, result, 0);
    indim_literal_destroy(result);
    result = NULL;
  }
  if (status == INDIM_OK && indim_compile_available(NULL) == INDIM_OK) {
    status = run_native(cx, after, given, count, &result);
    d = indim_ctx_diagnostic_get(cx, 0);
    CHECK_MSG(status == INDIM_OK, "compiling %s: %s", text, d == NULL ? "" : d->message);
    compare(cx, "the compiled expansion", text, expected, result, tolerance);
  }
  indim_literal_destroy(result);
  indim_literal_destroy(expected);
  indim_literal_destroy(arguments[0]);
  indim_literal_destroy(arguments[1]);
  indim_module_destroy(after);
  indim_module_destroy(before);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(cx), 0);
  indim_ctx_destroy(cx);
}

static void check_bits(const char *algorithm, const char *state, const char *bits) {
  char text[512];
  int size = 1;
  for (const char *at = state; *at != '\0'; at++) {
    size += *at == ',';
  }
  char argument[128];
  snprintf(argument, sizeof argument, "u64[%d] {%s}", size, state);
  snprintf(text, sizeof text,
           "ENTRY e { s = u64[%d] parameter(0) ROOT r = (u64[%d], %s) rng-bit-generator(s), algorithm=%s }", size, size,
           bits, algorithm);
  check(text, indim_expand_rng_bit_generator, (const char *const[]){argument}, 0);
}

static const char *const shapes[] = {"[]",    "[1]",   "[2]",   "[3]",   "[4]",     "[5]",     "[8]",      "[17]",
                                     "[64]",  "[250]", "[0]",   "[0,3]", "[3,0]",   "[2,3]",   "[3,2]",    "[3,3]",
                                     "[3,5]", "[5,3]", "[7,1]", "[1,7]", "[3,4,5]", "[3,5,4]", "[3,17,5]", "[5,5,5]"};
static const char *const types[] = {"u8",  "s8",   "u16", "s16", "s32",    "u64",     "s64",
                                    "f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3fn"};

static void check_algorithm(const char *algorithm, const char *state) {
  static int turn;
  char bits[64];
  for (size_t i = 0; i < 2 * (sizeof shapes / sizeof shapes[0]); i++) {
    if (turn++ % TEST_SAMPLE == 0) {
      snprintf(bits, sizeof bits, "%s%s", i % 2 == 0 ? "u32" : "u64", shapes[i / 2]);
      check_bits(algorithm, state, bits);
    }
  }
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    snprintf(bits, sizeof bits, "%s[3,21]", types[i]);
    check_bits(algorithm, state, bits);
  }
}

TEST(philox) { check_algorithm("rng_philox", "81985529216486895,18446744073709551613"); }
TEST(philox_of_three) { check_algorithm("rng_default", "7,18446744069414584318,18446744073709551615"); }
TEST(three_fry) { check_algorithm("rng_three_fry", "81985529216486895,4294967290"); }

// The counter wraps around in each of its words.
TEST(carries) {
  static const char *const states[] = {"1,0",
                                       "1,4294967295",
                                       "1,18446744073709551615",
                                       "1,18446744069414584320",
                                       "18446744073709551615,18446744073709551600",
                                       "0,18446744073709551600,4294967295",
                                       "0,18446744073709551600,18446744073709551615",
                                       "5,4294967280,9"};
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
    check_bits("rng_philox", states[i], "u32[200]");
    check_bits("rng_philox", states[i], "u64[99]");
    if (i < 5) {
      check_bits("rng_three_fry", states[i], "u32[200]");
      check_bits("rng_three_fry", states[i], "u64[99]");
    }
  }
}

TEST(large) {
  check_bits("rng_philox", "3,4", "u32[100003]");
  check_bits("rng_philox", "3,4", "u64[300,301]");
  check_bits("rng_philox", "3,4", "u8[100003]");
  check_bits("rng_three_fry", "3,4", "u32[100003]");
  check_bits("rng_three_fry", "3,4", "f32[300,301]");
  check_bits("rng_three_fry", "3,4", "u16[101,17,101]");
}

TEST(bits_alone) {
  check("ENTRY e { s = u64[2] parameter(0) ROOT r = s16[9] rng-bit-generator(s), algorithm=rng_three_fry }",
        indim_expand_rng_bit_generator, (const char *const[]){"u64[2] {1, 2}"}, 0);
}

static void check_numbers(const char *shape, const char *type, const char *distribution, const char *a, const char *b,
                          double tolerance) {
  char text[512];
  char first[64];
  char last[64];
  snprintf(first, sizeof first, "%s[] %s", type, a);
  snprintf(last, sizeof last, "%s[] %s", type, b);
  snprintf(text, sizeof text,
           "ENTRY e { a = %s[] parameter(0) b = %s[] parameter(1) ROOT r = %s%s rng(a, b), distribution=%s }", type,
           type, type, shape, distribution);
  check(text, indim_expand_rng, (const char *const[]){first, last}, tolerance);
}

TEST(uniform) {
  static const char *const all[] = {"f32", "f64", "f16", "bf16", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    check_numbers("[5,7]", all[i], "rng_uniform", "3", "117", 0);
    check_numbers("[]", all[i], "rng_uniform", "0", "1", 0);
    check_numbers("[9]", all[i], "rng_uniform", "5", "5", 0);
    check_numbers("[9]", all[i], "rng_uniform", "5", "1", 0);
    check_numbers("[0]", all[i], "rng_uniform", "0", "1", 0);
  }
  check_numbers("[3000]", "f32", "rng_uniform", "1", "1.0000002", 0);
  check_numbers("[300]", "f32", "rng_uniform", "-3.4028235e38", "3.4028235e38", 0);
  check_numbers("[30]", "f32", "rng_uniform", "nan", "1", 0);
  check_numbers("[30]", "f32", "rng_uniform", "1", "inf", 0);
  check_numbers("[300]", "s32", "rng_uniform", "-2147483648", "2147483647", 0);
  check_numbers("[300]", "s64", "rng_uniform", "-9223372036854775808", "9223372036854775807", 0);
  check_numbers("[300]", "u64", "rng_uniform", "1", "18446744073709551615", 0);
  check_numbers("[300]", "s8", "rng_uniform", "-128", "127", 0);
}

TEST(normal) {
  check_numbers("[2001]", "f32", "rng_normal", "0", "1", 1e-6);
  check_numbers("[2001]", "f64", "rng_normal", "0", "1", 2e-15);
  check_numbers("[2001]", "f16", "rng_normal", "-3", "0.5", 1e-3);
  check_numbers("[2001]", "bf16", "rng_normal", "-3", "0.5", 8e-3);
  check_numbers("[]", "f32", "rng_normal", "2", "0", 0);
  check_numbers("[0]", "f32", "rng_normal", "2", "0", 0);
}

TEST(state) {
  check("ENTRY e { ROOT r = u64[2] rng-get-and-update-state(), delta=3 }", indim_expand_rng_get_and_update_state, NULL,
        0);
}

// What cannot be expanded says why.
static void check_refused(const char *text, indim_expand_fn *expand, const char *message) {
  indim_ctx *cx = NULL;
  indim_module *after = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_module *before = parse(cx, text);
  CHECK_EQ_INT(expanded(cx, before->computations[0]->root, expand, &after), INDIM_UNSUPPORTED);
  const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
  CHECK_MSG(d != NULL && strstr(d->message, message) != NULL, "%s: %s", text, d == NULL ? "nothing said" : d->message);
  indim_module_destroy(before);
  indim_ctx_destroy(cx);
}

TEST(refused) {
  check_refused("ENTRY e { s = u64[4] parameter(0) ROOT r = u8[9] rng-bit-generator(s), algorithm=rng_default }",
                indim_expand_rng_bit_generator, "whose state is u64[2] or u64[3]; this is u64[4]");
  check_refused(
      "ENTRY e { s = u64[2] parameter(0) ROOT r = u8[20000000000] rng-bit-generator(s), algorithm=rng_default }",
      indim_expand_rng_bit_generator, "5000000000 blocks");
  check_refused("ENTRY e { a = f8e5m2[] parameter(0) b = f8e5m2[] parameter(1) ROOT r = f8e5m2[2] rng(a, b), "
                "distribution=rng_uniform }",
                indim_expand_rng, "f8e5m2[2] have no meaning here");
  check_refused(
      "f { ROOT r = u64[2] rng-get-and-update-state(), delta=3 } ENTRY e { ROOT c = u64[2] call(), to_apply=f }",
      indim_expand_rng_get_and_update_state, "outside the entry computation, in f,");
}

#define CASES(X)     \
  X(philox)          \
  X(philox_of_three) \
  X(three_fry)       \
  X(carries)         \
  X(large)           \
  X(bits_alone)      \
  X(uniform)         \
  X(normal)          \
  X(state)           \
  X(refused)

TEST_MAIN(CASES)
