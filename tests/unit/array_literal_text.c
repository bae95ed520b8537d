// Literal text: the cases L01-L16 (printing) and L29-L49 (parsing) by id, and that what is printed reads
// back to the same bits.
#include "array/literal_text.h"

#include <math.h>

#include "array/float_format.h"
#include "literal_test.h"

#define FULL INDIM_LITERAL_SHAPE
#define ONE_LINE INDIM_LITERAL_ONE_LINE

// Reads |text| and prints it with |flags|.
static void check_prints(const char *id, const char *text, unsigned flags, const char *expected) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  indim_status status = indim_literal_parse(cx, indim_str_of(text), &literal);
  CHECK_MSG(status == INDIM_OK, "%s: %s: %s", id, text, test_message(cx));
  if (status == INDIM_OK) {
    indim_literal_print(literal, flags, &out);
    CHECK_MSG(strcmp(out.data, expected) == 0, "%s: %s prints\n%s\nexpected\n%s", id, text, out.data, expected);
  }
  indim_buffer_deinit(&out);
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

// Prints as it was written.
static void check_same(const char *id, const char *text) { check_prints(id, text, FULL, text); }

static void check_refused(const char *id, const char *text, const char *part) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  indim_status status = indim_literal_parse(cx, indim_str_of(text), &literal);
  CHECK_MSG(status == INDIM_SYNTAX || status == INDIM_INVALID, "%s: %s: %s", id, text, indim_status_name(status));
  CHECK_MSG(literal == NULL, "%s: %s left a literal", id, text);
  CHECK_MSG(strstr(test_message(cx), part) != NULL, "%s: %s: \"%s\" does not hold \"%s\"", id, text, test_message(cx),
            part);
  const indim_diagnostic *first = indim_ctx_diagnostic_get(cx, 0);
  CHECK_MSG(first != NULL && first->line > 0 && indim_ctx_diagnostic_count(cx) == 1, "%s: %s has no place", id, text);
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

TEST(L01_scalars) {
  const char *const texts[] = {"pred[] true",
                               "pred[] false",
                               "u1[] 1",
                               "u2[] 0",
                               "u4[] 5",
                               "u32[] 42",
                               "s1[] -1",
                               "s2[] 1",
                               "s4[] -3",
                               "s32[] -999",
                               "s2[] -2",
                               "u2[] 3",
                               "s64[] -9223372036854775808",
                               "u64[] 18446744073709551615"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    check_same("L01", texts[i]);
  }
}

TEST(L02_floats) {
  check_same("L02", "f32[] 3.14");
  check_same("L02", "f16[] 0.5");
  check_same("L02", "bf16[] 0.5");
  check_prints("L02", "bf16[] 3.14", FULL, "bf16[] 3.141");
  check_prints("L02", "bf16[] 9.001", FULL, "bf16[] 9");
  check_prints("L02", "f8e5m2[] 3.141", FULL, "f8e5m2[] 3");
  check_same("f32 with nine digits", "f32[] 0.333333343");
  check_same("f64 with seventeen", "f64[] 0.30000000000000004");
  check_same("f64 with fifteen", "f64[] 0.1");
  check_same("infinities", "f32[3] {inf, -inf, -0}");
  check_same("large and small", "f32[4] {1e+10, 1.4013e-45, 3.40282347e+38, 1.17549435e-38}");
}

TEST(L03_complex) {
  check_same("L03", "c64[] (3.14, 2.78)");
  check_prints("L03", "c128[] (3.14, 2.78)", FULL, "c128[] (3.14, 2.78)");
  check_same("L03", "c64[2] {(1, -0), (-inf, nan)}");
}

TEST(L04_to_L10_arrays) {
  check_same("L04", "pred[3] {1, 0, 1}");
  check_same("L05", "s32[3,2] {\n  { 1, 2 },\n  { 3, 4 },\n  { 5, 6 }\n}");
  check_same("L06", "s32[<=3,2](2,2) {\n  { 1, 2 },\n  { 3, 4 }\n}");
  check_same("L07", "s32[2,<=3](2,2) {\n  { 1, 2 },\n  { 4, 5 }\n}");
  check_same("L08", "pred[<=3,3](2,3) {\n  { 1, 1, 1 },\n  { 1, 1, 1 }\n}");
  check_same("L09", "s32[3,2,1] {\n{\n  {1},\n  {2}\n},\n{\n  {3},\n  {4}\n},\n{\n  {5},\n  {6}\n}\n}");
  check_same("L10", "f32[2,3,2] {\n{\n  { 1, 2 },\n  { 3, 4 },\n  { 5, 6 }\n},\n{\n  { 7, 8 },\n  { 9, 10 },\n"
                    "  { 11, 12 }\n}\n}");
}

TEST(L06_to_L08_set_dynamic_size) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  CHECK_OK(cx, indim_literal_parse(cx, indim_str_of("s32[3,2] {{1,2},{3,4},{5,6}}"), &literal));
  CHECK_OK(cx, indim_literal_set_dynamic_size(cx, literal, 0, 2));
  indim_literal_print(literal, FULL, &out);
  CHECK_EQ_STR(out.data, "s32[<=3,2](2,2) {\n  { 1, 2 },\n  { 3, 4 }\n}");
  CHECK_OK(cx, indim_literal_set_dynamic_size(cx, literal, 0, 0));
  indim_buffer_clear(&out);
  indim_literal_print(literal, ONE_LINE, &out);
  CHECK_EQ_STR(out.data, "{  }");
  indim_buffer_deinit(&out);
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

TEST(L11_L12_deep) {
  check_same("L11", "f32[1,2,3,2] {\n{ /*i0=0*/\n{ /*i1=0*/\n  { 1, 2 },\n  { 1001, 1002 },\n  { 2001, 2002 }\n},\n"
                    "{ /*i1=1*/\n  { 1, 2 },\n  { 1001, 1002 },\n  { 2001, 2002 }\n}\n}\n}");
  check_same("L12", "s32[2,2,1,1,1,2] {\n{ /*i0=0*/\n{ /*i1=0*/\n{ /*i2=0*/\n{ /*i3=0*/\n  { 0, 0 }\n}\n}\n},\n"
                    "{ /*i1=1*/\n{ /*i2=0*/\n{ /*i3=0*/\n  { 0, 0 }\n}\n}\n}\n},\n"
                    "{ /*i0=1*/\n{ /*i1=0*/\n{ /*i2=0*/\n{ /*i3=0*/\n  { 0, 0 }\n}\n}\n},\n"
                    "{ /*i1=1*/\n{ /*i2=0*/\n{ /*i3=0*/\n  { 0, 0 }\n}\n}\n}\n}\n}");
}

TEST(L13_L14_tuples_and_one_line) {
  check_same("L13", "(\nf32[] 1,\nf32[2,2] {\n  { 1, 2 },\n  { 3, 4 }\n}\n)");
  check_prints("L14", "pred[2,3] {{0,1,0},{1,0,1}}", ONE_LINE, "{ { 0, 1, 0 }, { 1, 0, 1 } }");
  check_prints("L14", "f32[2,0,4,3] {{},{}}", ONE_LINE, "{ { /*i0=0*/ }, { /*i0=1*/ } }");
  check_prints("L14", "f32[0] {}", ONE_LINE, "{}");
  check_prints("L14", "f32[0,2] {}", ONE_LINE, "{  }");
  check_prints("L14", "f32[0,2] {}", FULL, "f32[0,2] {\n\n}");
  check_prints("L14", "f32[2,0] {{},{}}", ONE_LINE, "{ {}, {} }");
  check_prints("L14", "f32[3,2,1,1] {{{{-1}},{{2}}},{{{3}},{{4}}},{{{5}},{{6}}}}", ONE_LINE,
               "{ { /*i0=0*/ { /*i1=0*/ {-1} }, { /*i1=1*/ {2} } }, { /*i0=1*/ { /*i1=0*/ {3} }, { /*i1=1*/ {4} } }, "
               "{ /*i0=2*/ { /*i1=0*/ {5} }, { /*i1=1*/ {6} } } }");
  check_prints("L14", "(f32[2,1] {{1},{2}}, f32[2] {2,42})", ONE_LINE, "( { {1}, {2} }, {2, 42} )");
  check_prints("empty tuple", "()", ONE_LINE, "(  )");
  check_prints("scalars", "pred[] 1", ONE_LINE, "true");
}

TEST(L15_layout_does_not_matter) {
  const char *const texts[] = {"s32[2,3]{1,0} {{1,2,3},{4,5,6}}", "s32[2,3]{0,1} {{1,2,3},{4,5,6}}",
                               "s32[2,3]{0,1:PAD(3,5;one)} {{1,2,3},{4,5,6}}", "s32[2,3]{1,0:T(2,2)} {{1,2,3},{4,5,6}}",
                               "s32[2,3]{1,0:E(48)} {{1,2,3},{4,5,6}}"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    check_prints("L15", texts[i], FULL, "s32[2,3] {\n  { 1, 2, 3 },\n  { 4, 5, 6 }\n}");
  }
  check_prints("L15", texts[3], INDIM_LITERAL_LAYOUT | ONE_LINE, "s32[2,3]{1,0:T(2,2)} { { 1, 2, 3 }, { 4, 5, 6 } }");
}

TEST(L16_nans) {
  check_same("L16", "f32[2] {nan, -nan}");
  const char *const types[] = {"f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3", "f8e3m4"};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    char text[80];
    snprintf(text, sizeof text, "%s[4] {nan, -nan, nan(0x1), -nan(0x1)}", types[i]);
    check_same("L16", text);
  }
  check_same("L16", "f8e4m3fn[2] {nan, -nan}");
  check_prints("L16", "f8e4m3fnuz[2] {nan, -nan}", FULL, "f8e4m3fnuz[2] {-nan, -nan}");
  check_prints("L16", "f8e5m2fnuz[] nan", FULL, "f8e5m2fnuz[] -nan");
  check_prints("L16", "f8e8m0fnu[] nan", FULL, "f8e8m0fnu[] nan");
  check_same("full payload", "f64[] nan(0xfffffffffffff)");
}

TEST(L29_scalars_for_arrays) {
  const char *const texts[] = {"f32[2] 5",     "f32[1,1] 5", "f32[1,1] {5}", "f32[0] 1",
                               "c64[1] (1,2)", "f32[] {1}",  "f32[2,4] 1"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    check_refused("L29", texts[i], "expects nested array in rank");
  }
  check_refused("L29", "f32[] 1 2", "the end of the literal");
}

TEST(L30_to_L34_braces) {
  check_same("L30", "pred[] true");
  check_same("L30", "s32[] -42");
  check_prints("L30", "f32[] 3e+2", FULL, "f32[] 300");
  check_refused("L31", "f32[2,3]{1,0} }{1, 2, 3}, {4, 5, 6}}", "unexpected '}' token");
  check_refused("L32", "f32[2] {1,{2}}", "expects nested array in rank 1, but sees larger");
  check_refused("L33", "f32[2,3] {1, 2, 3, 4, 5, 6}", "expects nested array in rank 2, but sees 1");
  check_refused("L34", "f32[2,3,2] {{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}}}",
                "expects 3 elements in the [0]th element");
}

TEST(L35_to_L38_ranges) {
  check_refused("L35", "f16[] -65520", "out of range");
  check_prints("L35", "bf16[] -65505", FULL, "bf16[] -6.554e+04");
  check_refused("L35", "bf16[] 1e100", "out of range");
  check_refused("L35", "f64[] 1.8e308", "out of range");
  check_refused("L35", "f64[] -1.8e308", "out of range");
  check_refused("L36", "u4[] -1", "out of range for u4");
  check_refused("L36", "u4[] 16", "out of range for u4");
  check_refused("L36", "s4[] -9", "out of range for s4");
  check_refused("L36", "s4[] 8", "out of range for s4");
  check_refused("L36", "u32[] 4294967296", "out of range for u32");
  check_refused("L36 in an array", "u32[2] {1, 4294967296}", "4294967296 is out of range for u32");
  check_prints("L37", "u64[] -1", FULL, "u64[] 18446744073709551615");
  check_same("L37", "u64[] 9223372036854775808");
  check_prints("section 5.3", "s64[] 9223372036854775808", FULL, "s64[] -9223372036854775808");
  check_prints("section 5.3", "s32[] 18446744073709551615", FULL, "s32[] -1");
  check_refused("section 5.3", "s64[1] {18446744073709551616}", "64 bits");
  check_refused("section 5.3", "f32[1] {18446744073709551616}", "64 bits");
  check_refused("L38", "c64[] (1e100, 0)", "out of range");
  check_refused("L38", "c64[] (0, -1e100)", "out of range");
}

TEST(L39_L40_nans) {
  check_prints("L39", "bf16[2]{0} {-nan, -nan}", FULL, "bf16[2] {-nan, -nan}");
  check_same("L40", "f32[] nan(0x1)");
  check_refused("L40", "bf16[] nan(0x3ff)", "out of range");
  check_refused("L40", "f8e4m3fn[] nan(0x1)", "does not support NaN payloads");
  check_refused("L40", "f32[] nan(0x0)", "payload");
  check_prints("the quiet bit of f64 is plain", "f32[] nan(0x8000000000000)", FULL, "f32[] nan");
}

TEST(L41_elided) {
  const char *const texts[] = {"f32[67,89] {...}", "f32[3] {...}", "f32[2,2] {{1,2},...}", "f32[99999999999] {...}",
                               "f32[99999999999] {1, 2, ...}"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    indim_ctx *cx = test_cx_new();
    indim_literal *literal = NULL;
    indim_buffer out;
    indim_buffer_init(&out, cx);
    CHECK_OK(cx, indim_literal_parse(cx, indim_str_of(texts[i]), &literal));
    CHECK(indim_literal_is_elided(literal));
    CHECK(indim_literal_data(literal) == NULL && indim_literal_bytes(literal) == 0);
    indim_literal_print(literal, 0, &out);
    CHECK_EQ_STR(out.data, "{...}");
    indim_buffer_deinit(&out);
    indim_literal_destroy(literal);
    test_cx_free(cx);
  }
  check_prints("L41", "(s32[] 1, f32[5] {...})", ONE_LINE, "( 1, {...} )");
  check_prints("L41", "(s32[], f32[5]) (1, {...})", ONE_LINE, "( 1, {...} )");
  check_refused("L41", "f32[3] ...", "'...'");
  check_refused("L41", "f32[3] {...,1}", "expects 3 elements");
  check_refused("L41", "f32[3,3] {{...}}", "'...'");
  check_refused("L41", "f32[3] {..., ...}", "'...'");
  check_refused("L41", "(s32[], f32[5]) {...}", "'('");
  check_refused("L41", "f32[] {...}", "expects nested array");
}

TEST(L42_to_L45) {
  check_refused("L42", "s32[] 1.5", "an integer");
  check_refused("L42", "s32[2] {1.5, 2}", "an integer");
  check_refused("L42", "s32[2] {1}", "expects 2 elements in the []th element, but sees 1");
  check_refused("L42", "s32[2] {1, 2, 3}", "expects 2 elements");
  check_prints("L43", "f32[2] {1 2}", ONE_LINE, "{1, 2}");
  check_prints("L43", "f32[2] {,1,,2,}", ONE_LINE, "{1, 2}");
  check_prints("L44", "f32[2,2] { /*x*/ {1, 2}, {3, 4} }", ONE_LINE, "{ { 1, 2 }, { 3, 4 } }");
  check_prints("L44", "f32[2,2] { //x\n {1,\t2}, {3/**/4} }", ONE_LINE, "{ { 1, 2 }, { 3, 4 } }");
  check_prints("L45", "()", FULL, "(\n\n)");
  check_prints("L45", "(f32[] 1, (s32[] 2))", ONE_LINE, "( 1, ( 2 ) )");
  check_prints("L45", "((), ((),))", ONE_LINE, "( (  ), ( (  ) ) )");
  check_prints("tuple shapes", "(f32[], (s32[2]{0}, pred[])) (1, ({2, 3}, true))", ONE_LINE, "( 1, ( {2, 3}, true ) )");
  check_prints("tuple shapes", "() ()", ONE_LINE, "(  )");
  check_refused("tuple shapes", "(f32[], f32[]) (1, 2,)", "')'");
  check_refused("tuple shapes", "(f32[], f32[]) (1 2)", "','");
  check_refused("tuple shapes", "(f32[], f32[]) (1)", "','");
  check_refused("tuple shapes", "(f32[], token[]) (1, token)", "no literal text for token[]");
}

TEST(L46_decimals) {
  check_refused("L46", "f32[] .5", "");
  check_refused("L46", "f32[] +1", "a number");
  check_refused("L46", "f32[] 0x10", "a number");
  check_refused("L46 in an array", "f32[2] {.5, 1}", "");
  check_refused("L46 in an array", "f32[2] {+1, 1}", "a number");
  check_refused("L46 in an array", "f32[2] {0x10, 1}", "a number");
  check_refused("L46 in an array", "f32[2] {1e, 1}", "");
  check_prints("L46", "f32[] 5.", FULL, "f32[] 5");
  check_prints("L46", "f32[2] {5., -.5}", FULL, "f32[2] {5, -0.5}");
  check_prints("L46", "f8e4m3fn[] 448", FULL, "f8e4m3fn[] 448");
  check_refused("L46", "f8e4m3fn[] 500", "500 is out of range for f8e4m3fn");
  check_prints("L46", "f4e2m1fn[] 7", FULL, "f4e2m1fn[] 6");
  check_prints("section 1.1", "f6e3m2fn[2] {31, -28}", FULL, "f6e3m2fn[2] {28, -28}");
  check_prints("section 1.1", "f6e2m3fn[2] {8, 7.5}", FULL, "f6e2m3fn[2] {7.5, 7.5}");
  check_prints("L46", "pred[] 2", FULL, "pred[] true");
  check_prints("L46", "pred[4] {2, 0, true, false}", FULL, "pred[4] {1, 0, 1, 0}");
}

TEST(L47_to_L49) {
  check_same("L47", "f32[] -0");
  check_same("L47", "f32[3] {-0, 0, -0}");
  check_same("L47", "bf16[] -0");
  check_prints("L47", "f8e4m3fnuz[] -0", FULL, "f8e4m3fnuz[] 0");
  check_refused("L47", "s32[] true", "an integer");
  check_refused("L47", "f32[] true", "a number");
  check_refused("L47", "c64[] 1", "a pair");
  check_refused("L47", "token[] token", "no literal text");
  check_refused("L47", "opaque[] 1", "no literal text");
  check_refused("L47", "f32[?] {1}", "no bound");
  check_same("L48", "c64[] (3.40282347e+38, -3.40282347e+38)");
  check_prints("L49", "f8e8m0fnu[2] {3, 1e-39}", FULL, "f8e8m0fnu[2] {4, 5.9e-39}");
  check_refused("L49", "f8e8m0fnu[] 0", "out of range");
  check_refused("L49", "f8e8m0fnu[] -1", "out of range");
  check_refused("L49", "f8e8m0fnu[] 1e39", "out of range");
  check_prints("L49", "f8e4m3fn[] 464", FULL, "f8e4m3fn[] 448");
  check_refused("L49", "f8e4m3fn[] 465", "out of range");
  check_prints("L49", "f8e4m3fn[] inf", FULL, "f8e4m3fn[] nan");
  check_prints("L49", "f4e2m1fn[2] {inf, nan}", FULL, "f4e2m1fn[2] {6, -0}");
  check_prints("L49", "f16[] 65519", FULL, "f16[] 65504");
}

TEST(parentheses_and_pairs) {
  check_refused("complex", "f32[] (1, 2)", "parentheses are only for complex numbers");
  check_refused("complex", "c64[] (1 2)", "','");
  check_refused("complex", "c64[] (1, 2", "')'");
  check_refused("complex", "c64[] (1, x)", "a number");
  check_prints("NaN in one part", "c64[2] {(nan, 1), (1, -nan)}", ONE_LINE, "{(nan, 1), (1, -nan)}");
  check_prints("integers", "c128[2] {(1,2)(-3,4)}", ONE_LINE, "{(1, 2), (-3, 4)}");
}

TEST(truncated_text) {
  const char *text =
      "(s32[<=3,2](2,2) {\n  { 1, 2 },\n  { 3, 4 }\n}, f32[2]{0} {1.5, -nan(0x1)}, (c64[] (1, 2), pred[2] {1, 0}))";
  size_t size = strlen(text);
  for (size_t i = 0; i < size; i++) {
    indim_ctx *cx = test_cx_new();
    indim_literal *literal = NULL;
    CHECK_MSG(indim_literal_parse(cx, (indim_str){text, i}, &literal) != INDIM_OK, "the first %zu bytes parse", i);
    CHECK(literal == NULL);
    test_cx_free(cx);
  }
}

TEST(dynamic_sizes_in_text) {
  check_refused("too large", "s32[<=3](4) {1,2,3,4}", "does not fit");
  check_refused("too small", "s32[<=3](-1) {}", "does not fit");
  check_refused("static dimension", "s32[<=3,2](3,1) {{1},{2},{3}}", "does not fit");
  check_refused("too few", "s32[<=3,2](3) {{1},{2},{3}}", "a run-time size for each dimension");
  check_refused("no number", "s32[<=3](x) {}", "a run-time size");
  check_refused("not closed", "s32[<=3](2 {1,2}", "')'");
  check_prints("elided", "s32[<=3](2) {...}", FULL, "s32[<=3](2) {...}");
  check_prints("without sizes the flags go", "s32[<=3] {1,2,3}", FULL, "s32[3] {1, 2, 3}");
}

TEST(depth_and_size_limits) {
  indim_ctx *cx = test_cx_new();
  enum { DEEP = 100000 };
  char *text = malloc(DEEP + 1);
  indim_literal *literal = NULL;
  const char *const openings = "({";
  for (size_t i = 0; i < 2; i++) {
    memset(text, openings[i], DEEP);
    CHECK(indim_literal_parse(cx, (indim_str){text, DEEP}, &literal) != INDIM_OK);
  }
  memset(text, '(', 300);
  memset(text + 300, ')', 300);
  indim_ctx_diagnostics_clear(cx);
  CHECK_FAILS(cx, indim_literal_parse(cx, (indim_str){text, 600}, &literal), INDIM_LIMIT, "deeper than 256");
  CHECK_OK(cx, indim_literal_parse(cx, (indim_str){text + 300 - 256, 512}, &literal));
  indim_literal_destroy(literal);
  // More values than bytes of text: no storage is taken to find out.
  uint64_t peak = indim_ctx_memory_peak(cx);
  CHECK_FAILS(cx, indim_literal_parse(cx, indim_str_of("f32[1000000000000] {1, 2}"), &literal), INDIM_INVALID,
              "expects 1000000000000 elements");
  CHECK_EQ_UINT(indim_ctx_memory_peak(cx), peak);
  free(text);
  test_cx_free(cx);
}

static bool stop(void *user) { return --*(int *)user < 0; }

TEST(reading_can_be_interrupted) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  int left = 3;
  indim_ctx_set_interrupt(cx, stop, &left);
  CHECK_FAILS(cx, indim_literal_parse(cx, indim_str_of("f32[9,1] {{1},{1},{1},{1},{1},{1},{1},{1},{1}}"), &literal),
              INDIM_INTERRUPTED, "interrupted");
  test_cx_free(cx);
}

static uint64_t state = UINT64_C(88172645463325252);
static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// Literals of random bits: print, read, same bits.
static void check_fixpoint(indim_ctx *cx, const char *shape_text) {
  indim_shape shape = test_shape(shape_text);
  indim_literal *literal = NULL;
  indim_literal *back = NULL;
  indim_buffer out;
  indim_buffer again;
  indim_buffer_init(&out, cx);
  indim_buffer_init(&again, cx);
  CHECK_OK(cx, indim_literal_create(cx, &shape, &literal));
  int64_t bytes = indim_shape_element_count(&shape) * indim_type_bytes(shape.type);
  unsigned char dense[4096];
  for (size_t i = 0; i < sizeof dense; i++) {
    dense[i] = (unsigned char)(next_random() >> 13);
  }
  if (next_random() % 4 == 0) {  // many special values: whole bytes of zeros and ones
    for (size_t i = 0; i < sizeof dense; i++) {
      dense[i] = next_random() % 3 == 0 ? dense[i] : (next_random() & 1) != 0 ? 0xFF : 0;
    }
  }
  CHECK_OK(cx, indim_literal_write_dense(cx, literal, dense, bytes));
  unsigned flags = INDIM_LITERAL_SHAPE | ((next_random() & 1) != 0 ? INDIM_LITERAL_LAYOUT : 0) |
                   ((next_random() & 1) != 0 ? INDIM_LITERAL_ONE_LINE : 0);
  indim_literal_print(literal, flags, &out);
  CHECK_OK(cx, indim_literal_parse(cx, (indim_str){out.data, out.size}, &back));
  if (back != NULL) {
    CHECK_MSG(indim_literal_equal(literal, back), "%s", out.data);
    indim_literal_print(back, flags, &again);
    CHECK_MSG(strcmp(out.data, again.data) == 0, "%s\nprints again as\n%s", out.data, again.data);
  }
  indim_literal_destroy(literal);
  indim_literal_destroy(back);
  indim_buffer_deinit(&out);
  indim_buffer_deinit(&again);
}

TEST(print_and_parse_is_a_fixpoint) {
  indim_ctx *cx = test_cx_new();
  const char *const dims[] = {"[]",
                              "[1]",
                              "[7]",
                              "[0]",
                              "[2,3]{0,1}",
                              "[3,0]",
                              "[4,5]{1,0:T(2,3)}",
                              "[2,3,4]",
                              "[2,1,3]{1,2,0}",
                              "[2,1,2,3]",
                              "[2,2,2]{0,1,2:PAD(2,3,4;one)}",
                              "[1,2,1,3,2]"};
  for (int type = 1; type < INDIM_TYPE_COUNT; type++) {
    for (size_t d = 0; indim_type_is_array((indim_type)type) && d < sizeof dims / sizeof dims[0]; d++) {
      for (int round = 0; round < 12; round++) {
        char shape[80];
        snprintf(shape, sizeof shape, "%s%s", indim_type_text((indim_type)type), dims[d]);
        check_fixpoint(cx, shape);
      }
    }
  }
  test_cx_free(cx);
}

// Every value of the types of 16 bits or fewer.
TEST(all_values_of_small_types_read_back) {
  for (int t = 1; t < INDIM_TYPE_COUNT; t++) {
    indim_type type = (indim_type)t;
    if (!indim_type_is_array(type) || indim_type_bits(type) > 16) {
      continue;
    }
    indim_ctx *cx = test_cx_new();
    int64_t count = INT64_C(1) << indim_type_bits(type);
    indim_shape shape;
    indim_literal *literal = NULL;
    indim_literal *back = NULL;
    indim_buffer out;
    indim_buffer_init(&out, cx);
    CHECK_OK(cx, indim_shape_init(cx, type, 1, &count, &shape));
    CHECK_OK(cx, indim_literal_create(cx, &shape, &literal));
    for (int64_t i = 0; i < count; i++) {
      indim_element_store(type, 8 * (int64_t)indim_type_bytes(type), indim_literal_mutable_data(literal), i,
                          (indim_element){(uint64_t)i, 0});
    }
    indim_literal_print(literal, FULL, &out);
    CHECK_OK(cx, indim_literal_parse(cx, (indim_str){out.data, out.size}, &back));
    CHECK_MSG(back != NULL && indim_literal_equal(literal, back), "%s", indim_type_text(type));
    indim_literal_destroy(literal);
    indim_literal_destroy(back);
    indim_buffer_deinit(&out);
    test_cx_free(cx);
  }
}

TEST(bodies_inside_other_text) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  indim_lexer lexer;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  indim_shape shape = test_shape("f32[2,<=2]{0,1}");
  indim_lexer_init(&lexer, cx, (indim_source){indim_str_of("p.hlo"), indim_str_of("{ {1, 2}, {3, 4} }), metadata")});
  CHECK_OK(cx, indim_literal_parse_body(&lexer, &shape, &literal));
  CHECK(lexer.token.kind == INDIM_TOKEN_RPAREN);
  CHECK(memcmp(indim_literal_data(literal), (const float[]){1, 3, 2, 4}, 16) == 0);
  indim_literal_print(literal, INDIM_LITERAL_LAYOUT | ONE_LINE, &out);
  CHECK_EQ_STR(out.data, "f32[2,2]{0,1} { { 1, 2 }, { 3, 4 } }");
  indim_buffer_deinit(&out);
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

#define CASES(X)                         \
  X(L01_scalars)                         \
  X(L02_floats)                          \
  X(L03_complex)                         \
  X(L04_to_L10_arrays)                   \
  X(L06_to_L08_set_dynamic_size)         \
  X(L11_L12_deep)                        \
  X(L13_L14_tuples_and_one_line)         \
  X(L15_layout_does_not_matter)          \
  X(L16_nans)                            \
  X(L29_scalars_for_arrays)              \
  X(L30_to_L34_braces)                   \
  X(L35_to_L38_ranges)                   \
  X(L39_L40_nans)                        \
  X(L41_elided)                          \
  X(L42_to_L45)                          \
  X(L46_decimals)                        \
  X(L47_to_L49)                          \
  X(parentheses_and_pairs)               \
  X(truncated_text)                      \
  X(dynamic_sizes_in_text)               \
  X(depth_and_size_limits)               \
  X(reading_can_be_interrupted)          \
  X(print_and_parse_is_a_fixpoint)       \
  X(all_values_of_small_types_read_back) \
  X(bodies_inside_other_text)
TEST_MAIN(CASES)
