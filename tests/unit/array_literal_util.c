// Questions about literals (L50-L55) and moves without arithmetic, by id.
#include <math.h>

#include "indim/literal_util.h"
#include "literal_test.h"

static indim_literal *parse(indim_ctx *cx, const char *text) {
  indim_literal *literal = NULL;
  CHECK_MSG(indim_literal_parse(cx, indim_str_of(text), &literal) == INDIM_OK, "%s: %s", text, test_message(cx));
  return literal;
}

typedef enum question { ALL, ALL_FLOAT, ALL_FIRST, COUNT_INT, COUNT_FLOAT } question;

static void check_answer(const char *id, const char *text, question q, double value, int64_t expected) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = parse(cx, text);
  int64_t answer = -1;
  switch (q) {
  case ALL:
    answer = indim_literal_is_all(literal, (int64_t)value);
    break;
  case ALL_FLOAT:
    answer = indim_literal_is_all_float(literal, value);
    break;
  case ALL_FIRST:
    answer = indim_literal_is_all_first(literal);
    break;
  case COUNT_INT:
    answer = indim_literal_count_equal_int(literal, (int64_t)value);
    break;
  case COUNT_FLOAT:
    answer = indim_literal_count_equal_float(literal, value);
    break;
  }
  CHECK_MSG(answer == expected, "%s: %s, %g: %" PRId64, id, text, value, answer);
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

TEST(L50_L51_is_all) {
  check_answer("L50", "pred[] false", ALL, 0, 1);
  check_answer("L50", "pred[] true", ALL, 1, 1);
  check_answer("L50", "pred[] false", ALL, 1, 0);
  check_answer("L50", "pred[] false", ALL, 2, 0);
  check_answer("L50", "pred[] true", ALL, 0, 0);
  check_answer("L50", "pred[] true", ALL, -1, 0);
  check_answer("L51", "u8[2] {255,255}", ALL, -128, 0);
  check_answer("L51", "u8[2] {255,255}", ALL, -1, 0);
  check_answer("L51", "u8[2] {255,255}", ALL, 255, 1);
  check_answer("L51", "f32[] 42.0", ALL, 42, 1);
  check_answer("L51", "f32[] 42.0001", ALL, 42, 0);
  check_answer("L51", "u64[1] {18446744073709551615}", ALL, -1, 0);
  check_answer("wide", "s8[] 0", ALL, 256, 0);
  check_answer("not a double", "f64[] 9007199254740992", ALL, 9007199254740992.0, 1);
  check_answer("zeros", "f32[2] {0, -0}", ALL, 0, 1);
  check_answer("complex", "c64[2] {(3,0),(3,-0)}", ALL, 3, 1);
  check_answer("complex", "c64[1] {(3,1)}", ALL, 3, 0);
  check_answer("empty", "s32[0] {}", ALL, 3, 1);
  check_answer("empty", "u8[0] {}", ALL, -3, 1);
  check_answer("tuple", "(s32[] 3)", ALL, 3, 0);
  check_answer("elided", "s32[2] {...}", ALL, 3, 0);
  check_answer("run-time sizes", "s32[<=3](2) {3,3}", ALL, 3, 1);
  indim_ctx *cx = test_cx_new();
  indim_literal *large = parse(cx, "f64[] 9223372036854775807");
  CHECK(!indim_literal_is_all(large, INT64_MAX));
  CHECK(!indim_literal_is_all(large, (INT64_C(1) << 53) + 1));
  indim_literal_destroy(large);
  large = parse(cx, "f64[] -9223372036854775808");
  CHECK(indim_literal_is_all(large, INT64_MIN));
  indim_literal_destroy(large);
  test_cx_free(cx);
}

TEST(L52_L53_small_floats) {
  check_answer("L52", "f4e2m1fn[] 4", ALL, 4, 1);
  check_answer("L52", "f4e2m1fn[] 4", ALL, 5, 0);
  check_answer("L52", "f8e5m2[] 8", ALL, 8, 1);
  check_answer("L52", "f8e5m2[] 8", ALL, 9, 0);
  check_answer("L52", "f8e4m3[] 9", ALL, 8, 0);
  check_answer("L52", "f8e4m3[] 9", ALL, 9, 1);
  check_answer("L52", "f8e8m0fnu[] 8", ALL, 8, 1);
  check_answer("L52", "f8e8m0fnu[] 8", ALL, 9, 0);
  check_answer("L53", "bf16[2] {9.001, 9}", ALL, 9, 1);
  check_answer("L53", "bf16[] 128", ALL_FLOAT, 128.5, 1);
  check_answer("L53", "f32[2] {0.1, 0.1}", ALL_FLOAT, 0.1, 1);
  check_answer("L53", "f32[2] {0.1, 0.2}", ALL_FLOAT, 0.1, 0);
  check_answer("L53", "pred[] false", ALL_FLOAT, 0, 0);
  check_answer("L53", "s32[] 0", ALL_FLOAT, 0, 0);
  check_answer("L53", "f32[1] {...}", ALL_FLOAT, 0, 0);
  indim_ctx *cx = test_cx_new();
  indim_literal *complexes = parse(cx, "c64[2] {(8, 9), (8, 9)}");
  indim_literal *reals = parse(cx, "f32[] 8");
  CHECK(indim_literal_is_all_complex(complexes, 8, 9) && !indim_literal_is_all_complex(complexes, 8, 8));
  CHECK(!indim_literal_is_all_complex(reals, 8, 0) && !indim_literal_is_all_float(complexes, 8));
  indim_literal_destroy(complexes);
  indim_literal_destroy(reals);
  test_cx_free(cx);
}

TEST(L54_is_all_first) {
  check_answer("L54", "f32[2] {0, 1.4e-45}", ALL_FIRST, 0, 0);
  check_answer("L54", "pred[2] {0, 1}", ALL_FIRST, 0, 0);
  check_answer("L54", "u8[4] {5,5,5,5}", ALL_FIRST, 0, 1);
  check_answer("L54", "s32[4] {1,1,2,1}", ALL_FIRST, 0, 0);
  check_answer("L54", "f32[2] {0, -0}", ALL_FIRST, 0, 0);
  check_answer("L54", "f32[2] {nan, nan}", ALL_FIRST, 0, 1);
  check_answer("L54", "c64[2] {(1,2), (1,3)}", ALL_FIRST, 0, 0);
  check_answer("L54", "f32[0] {}", ALL_FIRST, 0, 0);
  check_answer("L54", "(f32[] 1)", ALL_FIRST, 0, 0);
}

TEST(L55_count_equal) {
  check_answer("L55", "s32[6] {1,2,3,4,5,100}", COUNT_INT, 2, 1);
  check_answer("L55", "s32[7] {0,3,6,0,9,18,0}", COUNT_INT, 0, 3);
  check_answer("L55", "f32[9] {nan,0,6.8,nan,nan,-nan,63.12,24.6,nan(0x1)}", COUNT_FLOAT, (double)NAN, 5);
  check_answer("L55", "f32[4] {13,10.5,15.6,22.7}", COUNT_INT, 13, 1);
  check_answer("L55", "f32[3] {10.5,15.6,22.7}", COUNT_INT, 1, 0);
  check_answer("L55", "s8[3] {1,2,1}", COUNT_FLOAT, 1.5, 2);
  check_answer("L55", "u8[2] {255,1}", COUNT_INT, -1, 1);
  check_answer("L55", "f32[2] {0.1,0.2}", COUNT_FLOAT, 0.1, 1);
  check_answer("L55", "c64[3] {(1,0),(1,1),(1,-0)}", COUNT_FLOAT, 1, 2);
  check_answer("L55", "(s32[] 1)", COUNT_INT, 1, 0);
  check_answer("L55", "(s32[] 1)", COUNT_FLOAT, 1, 0);
  indim_ctx *cx = test_cx_new();
  indim_literal *complexes = parse(cx, "c64[3] {(1,2),(1,nan),(1,2)}");
  indim_literal *reals = parse(cx, "f32[] 1");
  CHECK_EQ_INT(indim_literal_count_equal_complex(complexes, 1, 2), 2);
  CHECK_EQ_INT(indim_literal_count_equal_complex(complexes, 1, (double)NAN), 1);
  CHECK_EQ_INT(indim_literal_count_equal_complex(reals, 1, 0), 0);
  indim_literal_destroy(complexes);
  indim_literal_destroy(reals);
  test_cx_free(cx);
}

// Checks |actual| against text with its layout, and destroys it.
static void check_result(indim_ctx *cx, indim_status status, indim_literal **result, const char *expected) {
  indim_literal *actual = status == INDIM_OK ? *result : NULL;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  CHECK_MSG(status == INDIM_OK, "%s: %s", expected, test_message(cx));
  if (actual != NULL) {
    indim_literal_print(actual, INDIM_LITERAL_LAYOUT | INDIM_LITERAL_ONE_LINE, &out);
    CHECK_EQ_STR(out.data, expected);
  }
  indim_buffer_deinit(&out);
  indim_literal_destroy(actual);
}

#define SIZES(...) ((const int64_t[]){__VA_ARGS__})

TEST(reshape) {
  indim_ctx *cx = test_cx_new();
  indim_literal *out = NULL;
  indim_literal *literal = parse(cx, "s32[2,3]{0,1} {{1,2,3},{4,5,6}}");
  check_result(cx, indim_literal_reshape(cx, literal, 2, SIZES(3, 2), &out), &out,
               "s32[3,2]{1,0} { { 1, 2 }, { 3, 4 }, { 5, 6 } }");
  check_result(cx, indim_literal_reshape(cx, literal, 1, SIZES(6), &out), &out, "s32[6]{0} {1, 2, 3, 4, 5, 6}");
  CHECK_FAILS(cx, indim_literal_reshape(cx, literal, 1, SIZES(5), &out), INDIM_INVALID, "6 elements");
  CHECK_FAILS(cx, indim_literal_reshape(cx, literal, 1, SIZES(-6), &out), INDIM_INVALID, "");
  CHECK_FAILS(cx, indim_literal_reshape(cx, literal, 1, SIZES(INDIM_UNBOUNDED), &out), INDIM_INVALID, "6 elements");
  indim_literal_destroy(literal);
  literal = parse(cx, "s32[<=6](2) {1,2}");
  CHECK_FAILS(cx, indim_literal_reshape(cx, literal, 1, SIZES(6), &out), INDIM_UNSUPPORTED, "dynamic");
  indim_literal_destroy(literal);
  literal = parse(cx, "s32[2] {...}");
  CHECK_FAILS(cx, indim_literal_reshape(cx, literal, 1, SIZES(2), &out), INDIM_INVALID, "{...}");
  indim_literal_destroy(literal);
  literal = parse(cx, "s32[] 7");
  check_result(cx, indim_literal_reshape(cx, literal, 2, SIZES(1, 1), &out), &out, "s32[1,1]{1,0} { {7} }");
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

TEST(transpose) {
  indim_ctx *cx = test_cx_new();
  indim_literal *out = NULL;
  indim_literal *literal = parse(cx, "s32[2,3]{1,0} {{1,2,3},{4,5,6}}");
  check_result(cx, indim_literal_transpose(cx, literal, SIZES(1, 0), &out), &out,
               "s32[3,2]{0,1} { { 1, 4 }, { 2, 5 }, { 3, 6 } }");
  CHECK_FAILS(cx, indim_literal_transpose(cx, literal, SIZES(1, 1), &out), INDIM_INVALID, "there already");
  CHECK_FAILS(cx, indim_literal_transpose(cx, literal, SIZES(0, 2), &out), INDIM_INVALID, "no dimension");
  CHECK_FAILS(cx, indim_literal_transpose(cx, literal, SIZES(-1, 0), &out), INDIM_INVALID, "no dimension");
  CHECK_FAILS(cx, indim_literal_transpose(cx, literal, NULL, &out), INDIM_INVALID, "NULL");
  indim_literal_destroy(literal);
  literal = parse(cx, "s32[2,<=3]{1,0:PAD(4,5;one)}(2,2) {{1,2},{4,5}}");
  check_result(cx, indim_literal_transpose(cx, literal, SIZES(1, 0), &out), &out,
               "s32[<=3,2]{0,1:PAD(5,4;one)}(2,2) { { 1, 4 }, { 2, 5 } }");
  indim_literal_destroy(literal);
  // Y69 and three dimensions, tiled: the bytes stay where they are.
  literal = parse(cx, "s32[2,3,2]{1,2,0:T(2,2)} {{{1,2},{3,4},{5,6}},{{7,8},{9,10},{11,12}}}");
  CHECK_OK(cx, indim_literal_transpose(cx, literal, SIZES(1, 2, 0), &out));
  CHECK_EQ_INT(indim_literal_bytes(out), indim_literal_bytes(literal));
  CHECK(memcmp(indim_literal_data(out), indim_literal_data(literal), (size_t)indim_literal_bytes(out)) == 0);
  indim_literal *again = NULL;
  CHECK_OK(cx, indim_literal_transpose(cx, out, SIZES(2, 0, 1), &again));
  CHECK(indim_literal_equal(again, literal));
  for (int64_t i = 0; i < 12; i++) {
    int64_t a = 0;
    int64_t b = 0;
    CHECK_OK(cx, indim_literal_get_int(cx, literal, SIZES(i / 6, i / 2 % 3, i % 2), &a));
    CHECK_OK(cx, indim_literal_get_int(cx, out, SIZES(i / 2 % 3, i % 2, i / 6), &b));
    CHECK_EQ_INT(b, a);
  }
  indim_literal_destroy(again);
  indim_literal_destroy(out);
  indim_literal_destroy(literal);
  literal = parse(cx, "s32[] 7");
  check_result(cx, indim_literal_transpose(cx, literal, NULL, &out), &out, "s32[] 7");
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

TEST(slice) {
  indim_ctx *cx = test_cx_new();
  indim_literal *out = NULL;
  const char *const texts[] = {"s32[3,3]{0,1} {{1,2,3},{4,5,6},{7,8,9}}",
                               "s32[3,3]{0,1:T(2,2)} {{1,2,3},{4,5,6},{7,8,9}}",
                               "s32[3,3]{0,1:PAD(4,4;one)E(40)} {{1,2,3},{4,5,6},{7,8,9}}"};
  for (size_t i = 0; i < 3; i++) {
    indim_literal *literal = parse(cx, texts[i]);
    check_result(cx, indim_literal_slice(cx, literal, SIZES(1, 0), SIZES(3, 2), &out), &out,
                 "s32[2,2]{0,1} { { 4, 5 }, { 7, 8 } }");
    check_result(cx, indim_literal_slice(cx, literal, SIZES(1, 3), SIZES(3, 3), &out), &out,
                 "s32[2,0]{0,1} { {}, {} }");
    CHECK_FAILS(cx, indim_literal_slice(cx, literal, SIZES(1, 0), SIZES(4, 2), &out), INDIM_INVALID, "dimension 0");
    CHECK_FAILS(cx, indim_literal_slice(cx, literal, SIZES(0, 2), SIZES(1, 1), &out), INDIM_INVALID, "dimension 1");
    CHECK_FAILS(cx, indim_literal_slice(cx, literal, SIZES(-1, 0), SIZES(1, 1), &out), INDIM_INVALID, "dimension 0");
    CHECK_FAILS(cx, indim_literal_slice(cx, literal, NULL, SIZES(1, 1), &out), INDIM_INVALID, "NULL");
    indim_literal_destroy(literal);
  }
  indim_literal *literal = parse(cx, "s32[<=5](3) {1,2,3}");
  check_result(cx, indim_literal_slice(cx, literal, SIZES(1), SIZES(5), &out), &out, "s32[<=4]{0}(2) {2, 3}");
  check_result(cx, indim_literal_slice(cx, literal, SIZES(4), SIZES(5), &out), &out, "s32[<=1]{0}(0) {}");
  check_result(cx, indim_literal_slice(cx, literal, SIZES(0), SIZES(2), &out), &out, "s32[<=2]{0}(2) {1, 2}");
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

TEST(broadcast_and_replicate) {
  indim_ctx *cx = test_cx_new();
  indim_literal *out = NULL;
  indim_literal *literal = parse(cx, "s32[2] {1,2}");
  indim_shape shape = test_shape("s32[2,3]{0,1}");
  check_result(cx, indim_literal_broadcast(cx, literal, &shape, SIZES(0), &out), &out,
               "s32[2,3]{0,1} { { 1, 1, 1 }, { 2, 2, 2 } }");
  shape = test_shape("s32[3,2]{1,0:T(2,2)}");
  check_result(cx, indim_literal_broadcast(cx, literal, &shape, SIZES(1), &out), &out,
               "s32[3,2]{1,0:T(2,2)} { { 1, 2 }, { 1, 2 }, { 1, 2 } }");
  CHECK_FAILS(cx, indim_literal_broadcast(cx, literal, &shape, SIZES(0), &out), INDIM_INVALID, "dimension 0");
  CHECK_FAILS(cx, indim_literal_broadcast(cx, literal, &shape, SIZES(2), &out), INDIM_INVALID, "dimension 2");
  CHECK_FAILS(cx, indim_literal_broadcast(cx, literal, &shape, NULL, &out), INDIM_INVALID, "NULL");
  shape = test_shape("f32[3,2]");
  CHECK_FAILS(cx, indim_literal_broadcast(cx, literal, &shape, SIZES(1), &out), INDIM_INVALID, "f32[3,2]");
  shape = test_shape("s32[<=3,2]");
  CHECK_FAILS(cx, indim_literal_broadcast(cx, literal, &shape, SIZES(1), &out), INDIM_INVALID, "<=3");
  check_result(cx, indim_literal_replicate(cx, literal, 3, &out), &out,
               "s32[3,2]{1,0} { { 1, 2 }, { 1, 2 }, { 1, 2 } }");
  check_result(cx, indim_literal_replicate(cx, literal, 0, &out), &out, "s32[0,2]{1,0} {  }");
  CHECK_FAILS(cx, indim_literal_replicate(cx, literal, -1, &out), INDIM_INVALID, "-1");
  CHECK_FAILS(cx, indim_literal_replicate(cx, literal, INDIM_UNBOUNDED, &out), INDIM_INVALID, "");
  indim_literal_destroy(literal);
  literal = parse(cx, "pred[] true");
  shape = test_shape("pred[2,2]");
  check_result(cx, indim_literal_broadcast(cx, literal, &shape, NULL, &out), &out,
               "pred[2,2]{1,0} { { 1, 1 }, { 1, 1 } }");
  indim_literal_destroy(literal);
  literal = parse(cx, "s32[2,3]{0,1} {{1,2,3},{4,5,6}}");
  shape = test_shape("s32[3,2]");
  check_result(cx, indim_literal_broadcast(cx, literal, &shape, SIZES(1, 0), &out), &out,
               "s32[3,2]{1,0} { { 1, 4 }, { 2, 5 }, { 3, 6 } }");
  shape = test_shape("s32[2,2]");
  indim_literal *square = parse(cx, "s32[2,2] {{1,2},{3,4}}");
  CHECK_FAILS(cx, indim_literal_broadcast(cx, square, &shape, SIZES(1, 1), &out), INDIM_INVALID, "dimension 1");
  indim_literal_destroy(square);
  indim_literal_destroy(literal);
  int64_t ones[INDIM_MAX_RANK];
  for (int d = 0; d < INDIM_MAX_RANK; d++) {
    ones[d] = 1;
  }
  CHECK_OK(cx, indim_shape_init(cx, INDIM_S8, INDIM_MAX_RANK, ones, &shape));
  CHECK_OK(cx, indim_literal_create(cx, &shape, &literal));
  CHECK_FAILS(cx, indim_literal_replicate(cx, literal, 2, &out), INDIM_LIMIT, "rank");
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

TEST(to_static) {
  indim_ctx *cx = test_cx_new();
  indim_literal *out = NULL;
  indim_literal *literal = parse(cx, "(s32[<=3,2]{0,1}(2,2) {{1,2},{3,4}}, (f32[<=2](0) {}, s32[] 5), f32[2] {...})");
  check_result(cx, indim_literal_to_static(cx, literal, &out), &out,
               "( s32[2,2]{0,1} { { 1, 2 }, { 3, 4 } }, ( f32[0]{0} {}, s32[] 5 ), f32[2]{0} {...} )");
  indim_literal_destroy(literal);
  literal = parse(cx, "f32[<=2] {...}");
  check_result(cx, indim_literal_to_static(cx, literal, &out), &out, "f32[2]{0} {...}");
  indim_literal_destroy(literal);
  literal = parse(cx, "f32[<=2](1) {...}");
  CHECK_FAILS(cx, indim_literal_to_static(cx, literal, &out), INDIM_INVALID, "{...}");
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

TEST(copy_slice) {
  indim_ctx *cx = test_cx_new();
  indim_buffer out;
  indim_buffer_init(&out, cx);
  const char *const targets[] = {"s32[3,3] {{0,0,0},{0,0,0},{0,0,0}}",
                                 "s32[3,3]{0,1:T(2,2)} {{0,0,0},{0,0,0},{0,0,0}}"};
  for (size_t i = 0; i < 2; i++) {
    indim_literal *source = parse(cx, "s32[2,3]{0,1} {{1,2,3},{4,5,6}}");
    indim_literal *target = parse(cx, targets[i]);
    CHECK_OK(cx, indim_literal_copy_slice(cx, source, SIZES(0, 1), target, SIZES(1, 0), SIZES(2, 2)));
    CHECK_OK(cx, indim_literal_copy_slice(cx, source, SIZES(2, 3), target, SIZES(3, 3), SIZES(0, 0)));
    indim_buffer_clear(&out);
    indim_literal_print(target, INDIM_LITERAL_ONE_LINE, &out);
    CHECK_EQ_STR(out.data, "{ { 0, 0, 0 }, { 2, 3, 0 }, { 5, 6, 0 } }");
    CHECK_FAILS(cx, indim_literal_copy_slice(cx, source, SIZES(1, 1), target, SIZES(0, 0), SIZES(2, 2)), INDIM_INVALID,
                "source");
    CHECK_FAILS(cx, indim_literal_copy_slice(cx, source, SIZES(0, 0), target, SIZES(2, 0), SIZES(2, 2)), INDIM_INVALID,
                "target");
    CHECK_FAILS(cx, indim_literal_copy_slice(cx, source, SIZES(0, -1), target, SIZES(0, 0), SIZES(1, 1)), INDIM_INVALID,
                "dimension 1");
    CHECK_FAILS(cx, indim_literal_copy_slice(cx, source, SIZES(0, 0), target, SIZES(0, 0), SIZES(1, -1)), INDIM_INVALID,
                "dimension 1");
    CHECK_FAILS(cx, indim_literal_copy_slice(cx, source, NULL, target, SIZES(0, 0), SIZES(1, 1)), INDIM_INVALID,
                "NULL");
    indim_literal *other = parse(cx, "f32[3,3] {{0,0,0},{0,0,0},{0,0,0}}");
    CHECK_FAILS(cx, indim_literal_copy_slice(cx, source, SIZES(0, 0), other, SIZES(0, 0), SIZES(1, 1)), INDIM_INVALID,
                "f32[3,3]");
    indim_literal_destroy(other);
    indim_literal_destroy(source);
    indim_literal_destroy(target);
  }
  indim_buffer_deinit(&out);
  test_cx_free(cx);
}

TEST(L75_L76_bitcast) {
  indim_ctx *cx = test_cx_new();
  indim_literal *out = NULL;
  indim_literal *literal = parse(cx, "u32[2] {1075838976, 3257466880}");
  indim_shape shape = test_shape("f32[2]");
  check_result(cx, indim_literal_bitcast(cx, literal, &shape, &out), &out, "f32[2]{0} {2.5, -42.25}");
  shape = test_shape("u8[2,4]");
  check_result(cx, indim_literal_bitcast(cx, literal, &shape, &out), &out,
               "u8[2,4]{1,0} { { 0, 0, 32, 64 }, { 0, 0, 41, 194 } }");
  shape = test_shape("f64[]");
  check_result(cx, indim_literal_bitcast(cx, literal, &shape, &out), &out, "f64[] -53687099408");
  indim_literal *scalar = parse(cx, "u32[] 1");
  CHECK_FAILS(cx, indim_literal_bitcast(cx, scalar, &shape, &out), INDIM_INVALID, "different size");
  shape = indim_shape_plain(INDIM_TOKEN);
  CHECK_FAILS(cx, indim_literal_bitcast(cx, scalar, &shape, &out), INDIM_INVALID, "token[]");
  shape = test_shape("u32[<=1]");
  CHECK_FAILS(cx, indim_literal_bitcast(cx, scalar, &shape, &out), INDIM_INVALID, "<=1");
  indim_literal_destroy(scalar);
  indim_literal_destroy(literal);
  literal = parse(cx, "s32[2,2]{1,0} {{1,2},{3,4}}");
  shape = test_shape("s32[2,2]{0,1}");
  check_result(cx, indim_literal_bitcast(cx, literal, &shape, &out), &out, "s32[2,2]{0,1} { { 1, 3 }, { 2, 4 } }");
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

#define CASES(X)             \
  X(L50_L51_is_all)          \
  X(L52_L53_small_floats)    \
  X(L54_is_all_first)        \
  X(L55_count_equal)         \
  X(reshape)                 \
  X(transpose)               \
  X(slice)                   \
  X(broadcast_and_replicate) \
  X(to_static)               \
  X(copy_slice)              \
  X(L75_L76_bitcast)
TEST_MAIN(CASES)
