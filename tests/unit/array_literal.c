// Literals: storage in every layout (X10, X11, Y60, Y61, E30-E33), elements, bulk copies, relayout, conversion (L70-L78),
// equality (L56) and comparison within a tolerance (L60-L64), by id; failing allocations.
#include <math.h>

#include "array/element.h"
#include "array/float_format.h"
#include "indim/literal_util.h"
#include "literal_test.h"

static indim_literal *parse(indim_ctx *cx, const char *text) {
  indim_literal *literal = NULL;
  CHECK_MSG(indim_literal_parse(cx, indim_str_of(text), &literal) == INDIM_OK, "%s: %s", text, test_message(cx));
  return literal;
}

// Values in storage order, as numbers.
static void check_memory(const char *id, const char *text, const double *expected, int64_t count) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = parse(cx, text);
  if (literal != NULL) {
    indim_type type = indim_literal_shape(literal)->type;
    int64_t width = indim_shape_element_bits(indim_literal_shape(literal));
    CHECK_MSG(indim_literal_bytes(literal) == (count * width + 7) / 8, "%s: %" PRId64 " bytes", id,
              indim_literal_bytes(literal));
    for (int64_t i = 0; i < count; i++) {
      indim_element element = indim_element_load(type, width, indim_literal_data(literal), i);
      double value =
          indim_type_is_float(type) ? indim_element_real(type, element) : (double)indim_element_to_int(type, element);
      CHECK_MSG(value == expected[i], "%s: %s: place %" PRId64 " holds %g, expected %g", id, text, i, value,
                expected[i]);
    }
  }
  indim_literal_destroy(literal);
  test_cx_free(cx);
}
#define MEMORY(id, text, ...)                                                       \
  do {                                                                              \
    const double values_[] = {__VA_ARGS__};                                         \
    check_memory(id, text, values_, (int64_t)(sizeof values_ / sizeof values_[0])); \
  } while (0)

TEST(X10_X11_orders) {
  MEMORY("X10", "f32[2,3]{1,0} {{1,2,3},{4,5,6}}", 1, 2, 3, 4, 5, 6);
  MEMORY("X10", "f32[2,3]{0,1} {{1,2,3},{4,5,6}}", 1, 4, 2, 5, 3, 6);
  MEMORY("X11", "f32[2,2,3]{0,1,2} {{{1,2,3},{4,5,6}},{{7,8,9},{10,11,12}}}", 1, 7, 4, 10, 2, 8, 5, 11, 3, 9, 6, 12);
  MEMORY("X11b", "f32[2,3,2]{0,1,2} {{{1,2},{3,4},{5,6}},{{7,8},{9,10},{11,12}}}", 1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6,
         12);
}

TEST(Y60_Y61_padded) {
  MEMORY("Y60", "f32[2,3]{0,1:PAD(3,5;zero)} {{1,2,3},{4,5,6}}", 1, 4, 0, 2, 5, 0, 3, 6, 0, 0, 0, 0, 0, 0, 0);
  MEMORY("Y61", "f32[2,3]{1,0:PAD(3,5;zero)} {{1,2,3},{4,5,6}}", 1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0);
  MEMORY("one", "s32[1,2]{1,0:PAD(2,3;one)} {{5,6}}", 5, 6, 1, 1, 1, 1);
  MEMORY("lowest", "s8[1]{0:PAD(3;lowest)} {5}", 5, -128, -128);
  MEMORY("highest", "u16[1]{0:PAD(2;highest)} {5}", 5, 65535);
  MEMORY("lowest", "f32[1]{0:PAD(2;lowest)} {5}", 5, -(double)INFINITY);
  MEMORY("highest", "f16[1]{0:PAD(2;highest)} {5}", 5, (double)INFINITY);
  MEMORY("highest", "f8e4m3fn[1]{0:PAD(2;highest)} {5}", 5, 448);
  MEMORY("lowest", "f4e2m1fn[1]{0:PAD(2;lowest)} {4}", 4, -6);
  MEMORY("lowest", "f8e8m0fnu[1]{0:PAD(2;lowest)} {4}", 4, 0x1p-127);
  MEMORY("highest", "pred[1]{0:PAD(2;highest)} {0}", 0, 1);
  MEMORY("one", "bf16[1]{0:PAD(2;one)} {0}", 0, 1);
  MEMORY("unknown", "s32[1]{0:PAD(2;unknown)} {7}", 7, 0);
  MEMORY("widths equal to sizes", "s32[2]{0:PAD(2;one)} {7,8}", 7, 8);
  MEMORY("packed", "s4[3]{0:PAD(5;one)E(4)} {-1,2,-3}", -1, 2, -3, 1, 1);
}

TEST(tiled_and_packed) {
  MEMORY("X22", "s32[4,2]{1,0:T(2,2)} {{1,2},{3,4},{5,6},{7,8}}", 1, 2, 3, 4, 5, 6, 7, 8);
  MEMORY("X23", "s32[3,5]{1,0:T(2,2)} {{1,2,3,4,5},{6,7,8,9,10},{11,12,13,14,15}}", 1, 2, 6, 7, 3, 4, 8, 9, 5, 0, 10, 0,
         11, 12, 0, 0, 13, 14, 0, 0, 15, 0, 0, 0);
  MEMORY("E(32)", "pred[3]{0:E(32)} {1,0,1}", 1, 0, 1);
  MEMORY("E(3)", "u2[5]{0:E(3)} {1,2,3,0,1}", 1, 2, 3, 0, 1);
  MEMORY("tail", "s16[3]{0:T(2)L(8)} {1,2,3}", 1, 2, 3, 0, 0, 0, 0, 0);
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = parse(cx, "u4[3]{0:E(4)} {1,2,3}");
  CHECK(memcmp(indim_literal_data(literal), "\x21\x03", 2) == 0);  // E32
  indim_literal_destroy(literal);
  literal = parse(cx, "u2[5]{0:E(2)} {1,2,3,0,1}");
  CHECK(memcmp(indim_literal_data(literal), "\x39\x01", 2) == 0);  // E33
  indim_literal_destroy(literal);
  literal = parse(cx, "c64[2]{0:E(68)} {(1,2),(3,4)}");
  double real = 0;
  double imag = 0;
  CHECK_OK(cx, indim_literal_get_float(cx, literal, (const int64_t[]){1}, &real, &imag));
  CHECK(real == 3 && imag == 4);
  indim_literal_destroy(literal);
  literal = parse(cx, "c128[2]{0:E(256)} {(1,2),(3,4)}");
  CHECK_OK(cx, indim_literal_get_float(cx, literal, (const int64_t[]){1}, &real, &imag));
  CHECK(real == 3 && imag == 4 && indim_literal_bytes(literal) == 64);
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

TEST(refused_shapes) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  indim_shape shape = indim_shape_plain(INDIM_OPAQUE);
  CHECK_FAILS(cx, indim_literal_create(cx, &shape, &literal), INDIM_INVALID, "opaque");
  shape = test_shape("f32[?]");
  CHECK_FAILS(cx, indim_literal_create(cx, &shape, &literal), INDIM_INVALID, "no bound");
  shape = test_shape("f32[2]{0:E(16)}");
  CHECK_FAILS(cx, indim_literal_create(cx, &shape, &literal), INDIM_INVALID, "needs 32 bits");
  shape = test_shape("c64[2]{0:PAD(3;lowest)}");
  CHECK_FAILS(cx, indim_literal_create(cx, &shape, &literal), INDIM_INVALID, "complex");
  shape = test_shape("f32[2]");
  shape.sizes[0] = -1;
  CHECK_FAILS(cx, indim_literal_create(cx, &shape, &literal), INDIM_INVALID, "negative");
  shape = test_shape("f32[1000000]");
  indim_ctx_set_memory_limit(cx, 1000000);
  CHECK_FAILS(cx, indim_literal_create(cx, &shape, &literal), INDIM_LIMIT, "limit");
  CHECK(literal == NULL);
  CHECK_FAILS(cx, indim_literal_create(cx, NULL, &literal), INDIM_INVALID, "NULL");
  CHECK_FAILS(cx, indim_literal_create(cx, &shape, NULL), INDIM_INVALID, "NULL");
  CHECK_FAILS(cx, indim_literal_copy(cx, NULL, &literal), INDIM_INVALID, "NULL");
  indim_literal_destroy(NULL);
  test_cx_free(cx);
}

TEST(E30_elements) {
  indim_ctx *cx = test_cx_new();
  const struct {
    const char *type;
    int64_t set, get;
  } cases[] = {{"s4[]", 8, -8},
               {"s4[]", -9, 7},
               {"u4[]", 16, 0},
               {"u4[]", -1, 15},
               {"s2[]", 2, -2},
               {"s1[]", 1, -1},
               {"u1[]", 3, 1},
               {"pred[]", 7, 1},
               {"s8[]", 300, 44},
               {"u8[]", -1, 255},
               {"s64[]", INT64_MIN, INT64_MIN},
               {"u64[]", -1, -1},
               {"u32[]", -1, 4294967295}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    indim_shape shape = test_shape(cases[i].type);
    indim_literal *literal = NULL;
    int64_t value = 0;
    CHECK_OK(cx, indim_literal_create(cx, &shape, &literal));
    CHECK_OK(cx, indim_literal_set_int(cx, literal, NULL, cases[i].set));
    CHECK_OK(cx, indim_literal_get_int(cx, literal, NULL, &value));
    CHECK_MSG(value == cases[i].get, "E30: %s %" PRId64 " is %" PRId64, cases[i].type, cases[i].set, value);
    indim_literal_destroy(literal);
  }
  test_cx_free(cx);
}

TEST(element_access) {
  indim_ctx *cx = test_cx_new();
  indim_literal *floats = parse(cx, "f32[2,2]{0,1} {{1,2},{3,4}}");
  indim_literal *ints = parse(cx, "s32[2] {1,2}");
  indim_literal *complexes = parse(cx, "c64[1] {(1,2)}");
  double real = 0;
  double imag = 7;
  int64_t value = 0;
  CHECK_OK(cx, indim_literal_get_float(cx, floats, (const int64_t[]){1, 0}, &real, NULL));
  CHECK(real == 3);
  CHECK_OK(cx, indim_literal_set_float(cx, floats, (const int64_t[]){1, 0}, 0.1, 0));
  CHECK_OK(cx, indim_literal_get_float(cx, floats, (const int64_t[]){1, 0}, &real, &imag));
  CHECK(real == (double)0.1f && imag == 0);
  CHECK_OK(cx, indim_literal_set_float(cx, complexes, (const int64_t[]){0}, 5, 6));
  CHECK_OK(cx, indim_literal_get_float(cx, complexes, (const int64_t[]){0}, &real, &imag));
  CHECK(real == 5 && imag == 6);
  const int64_t beyond[] = {2, 0};
  const int64_t before[] = {0, -1};
  CHECK_FAILS(cx, indim_literal_get_float(cx, floats, beyond, &real, NULL), INDIM_INVALID, "out of bounds");
  CHECK_FAILS(cx, indim_literal_set_float(cx, floats, before, 1, 0), INDIM_INVALID, "dimension 1");
  CHECK_FAILS(cx, indim_literal_get_int(cx, floats, beyond, &value), INDIM_INVALID, "floating");
  CHECK_FAILS(cx, indim_literal_get_float(cx, ints, beyond, &real, NULL), INDIM_INVALID, "integers");
  CHECK_FAILS(cx, indim_literal_set_int(cx, ints, beyond, 1), INDIM_INVALID, "out of bounds");
  CHECK_FAILS(cx, indim_literal_set_int(cx, NULL, beyond, 1), INDIM_INVALID, "NULL");
  CHECK_FAILS(cx, indim_literal_set_int(cx, ints, NULL, 1), INDIM_INVALID, "out of bounds");
  indim_literal_destroy(floats);
  indim_literal_destroy(ints);
  indim_literal_destroy(complexes);
  test_cx_free(cx);
}

TEST(elided_values_are_refused) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = parse(cx, "(s32[] 1, f32[3] {...})");
  indim_literal *leaf = indim_literal_mutable_member(literal, 1);
  indim_literal *copy = NULL;
  indim_shape shape = test_shape("f32[3]");
  double real = 0;
  float dense[3] = {0, 0, 0};
  CHECK(indim_literal_is_elided(literal) && !indim_literal_is_elided(indim_literal_member(literal, 0)));
  CHECK_FAILS(cx, indim_literal_get_float(cx, leaf, (const int64_t[]){0}, &real, NULL), INDIM_INVALID, "{...}");
  CHECK_FAILS(cx, indim_literal_read_dense(cx, leaf, dense, 12), INDIM_INVALID, "{...}");
  CHECK_FAILS(cx, indim_literal_write_dense(cx, leaf, dense, 12), INDIM_INVALID, "{...}");
  CHECK_FAILS(cx, indim_literal_relayout(cx, leaf, &shape, &copy), INDIM_INVALID, "{...}");
  CHECK_FAILS(cx, indim_literal_convert(cx, leaf, INDIM_F64, &copy), INDIM_INVALID, "{...}");
  CHECK(!indim_literal_equal(leaf, leaf));
  CHECK(!indim_literal_equal(literal, literal));
  CHECK_OK(cx, indim_literal_copy(cx, literal, &copy));
  CHECK(indim_literal_is_elided(copy) && indim_literal_data(indim_literal_member(copy, 0)) != NULL);
  indim_literal_destroy(copy);
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

TEST(tuples) {
  indim_ctx *cx = test_cx_new();
  indim_literal *members[2] = {parse(cx, "s32[2] {1,2}"), parse(cx, "(f32[] 1)")};
  indim_literal *tuple = NULL;
  indim_literal *other = NULL;
  CHECK_OK(cx, indim_literal_create_tuple(cx, members, 2, &tuple));
  const indim_shape *shape = indim_literal_shape(tuple);
  CHECK(shape->type == INDIM_TUPLE && shape->member_count == 2 && shape->members[1]->members[0]->type == INDIM_F32);
  CHECK(indim_literal_data(tuple) == NULL && indim_literal_bytes(tuple) == 0);
  CHECK(indim_literal_member(tuple, 0) == members[0] && indim_literal_member(tuple, 2) == NULL);
  CHECK(indim_literal_member(tuple, -1) == NULL && indim_literal_member(members[0], 0) == NULL);
  CHECK(indim_literal_mutable_member(tuple, 2) == NULL);
  indim_literal_destroy(members[0]);  // the tuple's: stays
  CHECK_FAILS(cx, indim_literal_create_tuple(cx, members, 2, &other), INDIM_INVALID, "already belongs");
  indim_literal *twice[2] = {tuple, tuple};
  CHECK_FAILS(cx, indim_literal_create_tuple(cx, twice, 2, &other), INDIM_INVALID, "member 1");
  indim_literal *none[1] = {NULL};
  CHECK_FAILS(cx, indim_literal_create_tuple(cx, none, 1, &other), INDIM_INVALID, "NULL");
  CHECK_FAILS(cx, indim_literal_create_tuple(cx, NULL, 1, &other), INDIM_INVALID, "NULL");
  CHECK_FAILS(cx, indim_literal_create_tuple(cx, members, -1, &other), INDIM_INVALID, "-1 members");
  CHECK_OK(cx, indim_literal_copy(cx, tuple, &other));
  CHECK(indim_literal_equal(tuple, other) && indim_literal_member(other, 0) != members[0]);
  indim_literal_destroy(other);
  CHECK_OK(cx, indim_literal_create(cx, shape, &other));
  CHECK(!indim_literal_equal(tuple, other));
  indim_literal_destroy(other);
  CHECK_OK(cx, indim_literal_create_tuple(cx, NULL, 0, &other));
  for (int depth = 1; depth < INDIM_MAX_TUPLE_DEPTH; depth++) {
    indim_literal *outer = NULL;
    CHECK_OK(cx, indim_literal_create_tuple(cx, &other, 1, &outer));
    other = outer;
  }
  CHECK_FAILS(cx, indim_literal_create_tuple(cx, &other, 1, &(indim_literal *){NULL}), INDIM_LIMIT, "deeper");
  indim_literal_destroy(other);
  indim_literal_destroy(tuple);
  test_cx_free(cx);
}

TEST(tokens_have_no_data) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  indim_literal *copy = NULL;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  indim_shape shape = indim_shape_plain(INDIM_TOKEN);
  CHECK_OK(cx, indim_literal_create(cx, &shape, &literal));
  CHECK(indim_literal_data(literal) == NULL && indim_literal_bytes(literal) == 0);
  CHECK_OK(cx, indim_literal_copy(cx, literal, &copy));
  CHECK(indim_literal_equal(literal, copy));
  indim_literal_print(literal, INDIM_LITERAL_SHAPE, &out);
  CHECK_EQ_STR(out.data, "token");
  CHECK_FAILS(cx, indim_literal_read_dense(cx, literal, NULL, 0), INDIM_INVALID, "token[]");
  indim_buffer_deinit(&out);
  indim_literal_destroy(literal);
  indim_literal_destroy(copy);
  test_cx_free(cx);
}

TEST(dynamic_sizes) {
  indim_ctx *cx = test_cx_new();
  indim_shape shape = test_shape("s32[<=3,2]");
  indim_literal *literal = NULL;
  indim_literal *fixed = parse(cx, "s32[2,2] {{0,0},{0,0}}");
  CHECK_OK(cx, indim_literal_create(cx, &shape, &literal));
  CHECK_EQ_INT(indim_literal_dynamic_size(literal, 0), 3);
  CHECK_EQ_INT(indim_literal_dynamic_size(literal, 1), 2);
  CHECK_EQ_INT(indim_literal_dynamic_size(literal, 2), 0);
  CHECK(!indim_literal_equal(literal, fixed));
  CHECK_OK(cx, indim_literal_set_dynamic_size(cx, literal, 0, 2));
  CHECK_OK(cx, indim_literal_set_int(cx, literal, (const int64_t[]){2, 0}, 9));  // stored, but beyond the run-time size
  CHECK(indim_literal_equal(literal, fixed));                                    // bounds and flags do not matter
  CHECK_FAILS(cx, indim_literal_set_dynamic_size(cx, literal, 0, 4), INDIM_INVALID, "outside 0..3");
  CHECK_FAILS(cx, indim_literal_set_dynamic_size(cx, literal, 0, -1), INDIM_INVALID, "outside 0..3");
  CHECK_FAILS(cx, indim_literal_set_dynamic_size(cx, literal, 2, 1), INDIM_INVALID, "no dimension 2");
  indim_literal *copy = NULL;
  CHECK_OK(cx, indim_literal_copy(cx, literal, &copy));
  CHECK_EQ_INT(indim_literal_dynamic_size(copy, 0), 2);
  indim_literal_destroy(copy);
  indim_literal_destroy(literal);
  indim_literal_destroy(fixed);
  test_cx_free(cx);
}

TEST(dense_sizes_are_checked) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = parse(cx, "s32[2] {1,2}");
  indim_literal *empty = parse(cx, "s32[0] {}");
  int32_t dense[2] = {5, 6};
  CHECK_FAILS(cx, indim_literal_write_dense(cx, literal, dense, 4), INDIM_INVALID, "8 bytes of values");
  CHECK_FAILS(cx, indim_literal_read_dense(cx, literal, dense, 12), INDIM_INVALID, "the buffer has 12");
  CHECK_FAILS(cx, indim_literal_write_dense(cx, literal, NULL, 8), INDIM_INVALID, "NULL");
  CHECK_OK(cx, indim_literal_write_dense(cx, empty, NULL, 0));
  CHECK_OK(cx, indim_literal_read_dense(cx, empty, NULL, 0));
  CHECK_OK(cx, indim_literal_write_dense(cx, literal, dense, 8));
  CHECK(memcmp(indim_literal_mutable_data(literal), dense, 8) == 0);
  indim_literal_destroy(literal);
  indim_literal_destroy(empty);
  test_cx_free(cx);
}

static uint64_t state = UINT64_C(88172645463325252);
static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static const char *const layouts[] = {"f32[3,4,5]{2,1,0}",
                                      "f32[3,4,5]{0,1,2}",
                                      "f32[3,4,5]{1,2,0}",
                                      "f32[3,4,5]{2,0,1}",
                                      "f32[3,4,5]{1,0,2:PAD(4,4,9;one)}",
                                      "f32[3,4,5]{2,1,0:PAD(3,5,5;lowest)}",
                                      "f32[3,4,5]{2,1,0:T(2,3)}",
                                      "f32[3,4,5]{0,2,1:T(*,2,2)(2,1)}",
                                      "f32[3,4,5]{1,2,0:E(40)}",
                                      "f32[3,4,5]{2,1,0:E(33)}",
                                      "f32[3,4,5]{0,1,2:T(7)L(64)E(64)}"};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

// Any layout, same values; L56.
TEST(L56_any_layout_same_values) {
  indim_ctx *cx = test_cx_new();
  float values[60];
  for (int i = 0; i < 60; i++) {
    values[i] = (float)(int64_t)next_random();
  }
  for (size_t a = 0; a < LAYOUTS; a++) {
    indim_shape shape_a = test_shape(layouts[a]);
    indim_literal *literal = NULL;
    CHECK_OK(cx, indim_literal_create(cx, &shape_a, &literal));
    CHECK_OK(cx, indim_literal_write_dense(cx, literal, values, sizeof values));
    for (size_t b = 0; b < LAYOUTS; b++) {
      indim_shape shape_b = test_shape(layouts[b]);
      indim_literal *moved = NULL;
      indim_literal *back = NULL;
      float dense[60];
      CHECK_OK(cx, indim_literal_relayout(cx, literal, &shape_b, &moved));
      CHECK_OK(cx, indim_literal_relayout(cx, moved, &shape_a, &back));
      CHECK_MSG(indim_literal_equal(literal, moved), "L56: %s to %s", layouts[a], layouts[b]);
      CHECK_MSG(
          indim_literal_bytes(back) == indim_literal_bytes(literal) &&
              memcmp(indim_literal_data(back), indim_literal_data(literal), (size_t)indim_literal_bytes(literal)) == 0,
          "%s to %s and back", layouts[a], layouts[b]);
      CHECK_OK(cx, indim_literal_read_dense(cx, moved, dense, sizeof dense));
      CHECK_MSG(memcmp(dense, values, sizeof values) == 0, "dense values of %s", layouts[b]);
      indim_literal_destroy(moved);
      indim_literal_destroy(back);
    }
    indim_literal_destroy(literal);
  }
  test_cx_free(cx);
}

TEST(large_transpositions) {
  indim_ctx *cx = test_cx_new();
  const char *const types[] = {"u8", "u16", "u32", "u64", "c128"};
  for (size_t t = 0; t < 5; t++) {
    char text[64];
    snprintf(text, sizeof text, "%s[70,3,90]{0,2,1}", types[t]);
    indim_shape shape = test_shape(text);
    indim_literal *literal = NULL;
    int64_t bytes = INT64_C(70) * 3 * 90 * indim_type_bytes(shape.type);
    unsigned char *dense = malloc((size_t)bytes);
    unsigned char *back = malloc((size_t)bytes);
    for (int64_t i = 0; i < bytes; i++) {
      dense[i] = (unsigned char)(next_random() >> 20);
    }
    CHECK_OK(cx, indim_literal_create(cx, &shape, &literal));
    CHECK_OK(cx, indim_literal_write_dense(cx, literal, dense, bytes));
    CHECK_OK(cx, indim_literal_read_dense(cx, literal, back, bytes));
    CHECK(memcmp(dense, back, (size_t)bytes) == 0);
    const int64_t index[] = {69, 2, 31};
    int64_t place = 0;
    CHECK_OK(cx, indim_index_linearize(cx, &shape, index, &place));
    size_t item = (size_t)indim_type_bytes(shape.type);
    CHECK(memcmp((const unsigned char *)indim_literal_data(literal) + (size_t)place * item,
                 dense + ((69 * 3 + 2) * 90 + 31) * item, item) == 0);
    free(dense);
    free(back);
    indim_literal_destroy(literal);
  }
  test_cx_free(cx);
}

TEST(relayout_of_trees) {
  indim_ctx *cx = test_cx_new();
  indim_arena *arena = NULL;
  indim_shape shape;
  indim_literal *literal = parse(cx, "(s32[2,2] {{1,2},{3,4}}, f32[] 5)");
  indim_literal *moved = NULL;
  CHECK_OK(cx, indim_arena_create(cx, &arena));
  CHECK_OK(cx, indim_shape_parse(cx, indim_str_of("(s32[2,2]{0,1}, f32[])"), arena, &shape));
  CHECK_OK(cx, indim_literal_relayout(cx, literal, &shape, &moved));
  CHECK(memcmp(indim_literal_data(indim_literal_member(moved, 0)), (const int32_t[]){1, 3, 2, 4}, 16) == 0);
  CHECK(indim_literal_equal(literal, moved));
  indim_literal_destroy(moved);
  CHECK_OK(cx, indim_shape_parse(cx, indim_str_of("(s32[2,2]{0,1}, f64[])"), arena, &shape));
  CHECK_FAILS(cx, indim_literal_relayout(cx, literal, &shape, &moved), INDIM_INVALID, "other values");
  indim_literal_destroy(literal);
  // Run-time sizes stay the literal's.
  literal = parse(cx, "s32[<=3](2) {1,2}");
  shape = test_shape("s32[3]{0:T(2)}");
  CHECK_OK(cx, indim_literal_relayout(cx, literal, &shape, &moved));
  CHECK_EQ_INT(indim_literal_dynamic_size(moved, 0), 2);
  CHECK(indim_shape_is_dynamic_dim(indim_literal_shape(moved), 0) && indim_literal_equal(literal, moved));
  indim_literal_destroy(literal);
  indim_literal_destroy(moved);
  indim_arena_destroy(arena);
  test_cx_free(cx);
}

// Conversion ------------------------------------------------------------------------------------------------------

static void check_convert(const char *id, const char *from, const char *to) {
  indim_ctx *cx = test_cx_new();
  indim_literal *source = parse(cx, from);
  indim_literal *expected = parse(cx, to);
  indim_literal *actual = NULL;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  CHECK_OK(cx, indim_literal_convert(cx, source, indim_literal_shape(expected)->type, &actual));
  if (actual != NULL) {
    indim_literal_print(actual, INDIM_LITERAL_SHAPE | INDIM_LITERAL_ONE_LINE, &out);
    CHECK_MSG(indim_literal_equal(actual, expected), "%s: %s converts to %s, expected %s", id, from, out.data, to);
  }
  indim_buffer_deinit(&out);
  indim_literal_destroy(source);
  indim_literal_destroy(expected);
  indim_literal_destroy(actual);
  test_cx_free(cx);
}

TEST(L70_to_L72_convert) {
  const char *const ints[] = {"s16", "u16", "s32", "u32", "s64", "u64", "f32", "f64", "f16", "bf16"};
  char text[64];
  for (size_t i = 0; i < 10; i++) {
    snprintf(text, sizeof text, "%s[2] {10, 33}", ints[i]);
    check_convert("L70", "s8[2] {10, 33}", text);
    check_convert("L71", text, "s32[2] {10, 33}");
    check_convert("L70", text, "pred[2] {1, 1}");
  }
  check_convert("L70", "s8[3] {0, 2, -1}", "pred[3] {0, 1, 1}");
}

TEST(L72_to_L78_convert) {
  check_convert("L72", "s32[2] {1, -2}", "c64[2] {(1, 0), (-2, 0)}");
  check_convert("L72", "s32[2] {1, -2}", "c128[2] {(1, 0), (-2, 0)}");
  check_convert("L72", "f16[1] {0.5}", "c64[1] {(0.5, 0)}");
  check_convert("complex", "c64[1] {(0.5, -3)}", "c128[1] {(0.5, -3)}");
  check_convert("complex", "c128[1] {(0.1, 1e300)}", "c64[1] {(0.1, inf)}");
  check_convert("part", "f32[1] {0.5}", "c64[1] {(0.5, 0)}");
  check_convert("L74", "f4e2m1fn[16] {0,0.5,1,1.5,2,3,4,6,-0,-0.5,-1,-1.5,-2,-3,-4,-6}",
                "f32[16] {0,0.5,1,1.5,2,3,4,6,-0,-0.5,-1,-1.5,-2,-3,-4,-6}");
  check_convert("L74", "f4e2m1fn[4] {6,-6,1.5,-1.5}", "s4[4] {6,-6,1,-1}");
  check_convert("L74", "f4e2m1fn[4] {6,-6,1.5,-1.5}", "s2[4] {1,-2,1,-1}");
  check_convert("L74", "f4e2m1fn[4] {6,-6,1.5,-1.5}", "u2[4] {3,0,1,0}");
  check_convert("L77", "f32[3] {300, -300, 2.9}", "s8[3] {127, -128, 2}");
  check_convert("L77", "f32[3] {nan, 2.9, -2.9}", "s32[3] {0, 2, -2}");
  check_convert("L77", "f32[2] {inf, -inf}", "s64[2] {9223372036854775807, -9223372036854775808}");
  check_convert("L77", "f64[2] {1e20, -1}", "u64[2] {18446744073709551615, 0}");
  check_convert("L77", "f32[2] {-1, 255.9}", "u8[2] {0, 255}");
  check_convert("L77", "f32[4] {0.1, nan, 0, -0}", "pred[4] {1, 1, 0, 0}");
  check_convert("L78", "s32[2] {300, -1}", "u8[2] {44, 255}");
  check_convert("L78", "s32[1] {9}", "s4[1] {-7}");
  check_convert("L78", "u64[1] {9223372036854775808}", "f64[1] {9.223372036854775808e18}");
  check_convert("pred", "pred[2] {1, 0}", "bf16[2] {1, 0}");
  check_convert("pred", "pred[2] {1, 0}", "c64[2] {(1, 0), (0, 0)}");
  check_convert("negative", "s8[1] {-3}", "f16[1] {-3}");
  check_convert("scale", "s8[2] {0, 4}", "f8e8m0fnu[2] {nan, 4}");
  check_convert("nan", "f64[1] {-nan}", "f32[1] {-nan}");
  check_convert("same type", "f32[1] {nan(0x1)}", "f32[1] {nan(0x1)}");
}

TEST(L73_refused_conversions) {
  indim_ctx *cx = test_cx_new();
  indim_literal *out = NULL;
  indim_literal *ints = parse(cx, "s32[1] {1}");
  indim_literal *complexes = parse(cx, "c64[1] {(1,2)}");
  indim_literal *tuple = parse(cx, "(c128[] (1,2))");
  CHECK_FAILS(cx, indim_literal_convert(cx, ints, INDIM_TUPLE, &out), INDIM_UNSUPPORTED, "tuple");
  CHECK_FAILS(cx, indim_literal_convert(cx, complexes, INDIM_F32, &out), INDIM_UNSUPPORTED, "c64[1]");
  CHECK_FAILS(cx, indim_literal_convert(cx, indim_literal_member(tuple, 0), INDIM_S32, &out), INDIM_UNSUPPORTED, "s32");
  CHECK_FAILS(cx, indim_literal_convert(cx, tuple, INDIM_S32, &out), INDIM_UNSUPPORTED, "(c128[])");
  indim_literal_destroy(ints);
  indim_literal_destroy(complexes);
  indim_literal_destroy(tuple);
  test_cx_free(cx);
}

TEST(conversion_keeps_the_layout) {
  indim_ctx *cx = test_cx_new();
  const struct {
    const char *from, *to;
  } cases[] = {{"s4[2,1]{0,1:E(4)} {{1},{2}}", "s32[2,1]{0,1}"},
               {"s4[2,1]{0,1:E(4)} {{1},{2}}", "u2[2,1]{0,1:E(4)}"},
               {"s2[2,1]{0,1:E(2)} {{1},{0}}", "s4[2,1]{0,1}"},
               {"s32[2,1]{0,1:PAD(2,2;one)} {{1},{2}}", "f32[2,1]{0,1:PAD(2,2;one)}"},
               {"s32[2,1]{1,0:T(2,2)} {{1},{2}}", "f16[2,1]{1,0:T(2,2)}"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    indim_literal *source = parse(cx, cases[i].from);
    indim_literal *out = NULL;
    indim_shape expected = test_shape(cases[i].to);
    CHECK_OK(cx, indim_literal_convert(cx, source, expected.type, &out));
    CHECK_MSG(out != NULL && indim_shape_equal(indim_literal_shape(out), &expected, 0), "%s to %s", cases[i].from,
              cases[i].to);
    indim_literal_destroy(source);
    indim_literal_destroy(out);
  }
  test_cx_free(cx);
}

// Comparison ------------------------------------------------------------------------------------------------------

static indim_mismatch compare(const char *expected, const char *actual, indim_tolerance tolerance, char *out_text,
                              size_t text_size) {
  indim_ctx *cx = test_cx_new();
  indim_literal *a = parse(cx, expected);
  indim_literal *b = parse(cx, actual);
  indim_mismatch mismatch;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  CHECK_OK(cx, indim_literal_compare(cx, a, b, &tolerance, &mismatch));
  indim_mismatch_print(&mismatch, a, &out);
  if (out_text != NULL) {
    snprintf(out_text, text_size, "%s", out.data);
  }
  indim_buffer_deinit(&out);
  indim_literal_destroy(a);
  indim_literal_destroy(b);
  test_cx_free(cx);
  return mismatch;
}

static void check_compare(const char *id, const char *expected, const char *actual, indim_tolerance tolerance,
                          bool ok) {
  indim_mismatch mismatch = compare(expected, actual, tolerance, NULL, 0);
  CHECK_MSG((mismatch.count == 0) == ok, "%s: %s and %s: %" PRId64 " differ", id, expected, actual, mismatch.count);
}

static const indim_tolerance exact = {0, 0, 0, true};
static indim_tolerance within(int64_t ulps) { return (indim_tolerance){0, 0, ulps, true}; }

TEST(L60_L61_ulps) {
  const struct {
    const char *type, *next, *fourth;
  } cases[] = {{"f8e4m3", "1.125", "1.5"},        {"f8e4m3fn", "1.125", "1.5"}, {"f8e4m3fnuz", "1.125", "1.5"},
               {"f8e4m3b11fnuz", "1.125", "1.5"}, {"f8e5m2", "1.25", "2"},      {"f8e5m2fnuz", "1.25", "2"},
               {"f8e3m4", "1.0625", "1.25"},      {"f4e2m1fn", "1.5", "4"},     {"f8e8m0fnu", "2", "16"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char one[40];
    char next[40];
    char fourth[40];
    snprintf(one, sizeof one, "%s[] 1", cases[i].type);
    snprintf(next, sizeof next, "%s[] %s", cases[i].type, cases[i].next);
    snprintf(fourth, sizeof fourth, "%s[] %s", cases[i].type, cases[i].fourth);
    check_compare("L60", next, one, exact, false);
    check_compare("L60", next, one, within(1), true);
    check_compare("L61", fourth, one, within(1), false);
    check_compare("L61", fourth, one, within(4), true);
    check_compare("L61", one, fourth, within(3), false);
  }
  // Surprise 28: around zero, the negative side is not shifted.
  check_compare("L61", "f8e4m3fnuz[] 0", "f8e4m3fnuz[] -0.0009765625", within(1), true);
  CHECK(compare("f8e4m3fnuz[] 0", "f8e4m3fnuz[] -0.0009765625", exact, NULL, 0).worst_ulps == 1);
  CHECK(compare("f32[] -1e-45", "f32[] 1e-45", exact, NULL, 0).worst_ulps == 2);
  CHECK(compare("f64[] -1.7976931348623157e308", "f64[] 1.7976931348623157e308", exact, NULL, 0).worst_ulps > 1e18);
}

TEST(L62_to_L64_near) {
  check_compare("L62", "f32[] 0", "f32[] 1e-9", exact, false);
  check_compare("L62", "f32[] 0", "f32[] 1e-9", (indim_tolerance){1e-8, 0, 0, true}, true);
  check_compare("L63", "f32[] nan", "f32[] 1", exact, false);
  check_compare("L63", "f32[] 1", "f32[] nan", (indim_tolerance){1e9, 1e9, INT64_MAX, true}, false);
  check_compare("L63", "f32[] inf", "f32[] 1", (indim_tolerance){1e9, 1e9, INT64_MAX, true}, false);
  check_compare("L63", "f32[] inf", "f32[] -inf", (indim_tolerance){1e9, 1e9, INT64_MAX, true}, false);
  check_compare("L63", "f32[] nan", "f32[] nan(0x1)", exact, true);
  check_compare("L63", "f32[] nan", "f32[] nan(0x1)", (indim_tolerance){0, 0, 0, false}, false);
  check_compare("L63", "f32[] nan", "f32[] nan", (indim_tolerance){0, 0, 0, false}, true);
  check_compare("L64", "f32[] 1.0", "f32[] 1.0000001", (indim_tolerance){0, 1e-5, 0, true}, true);
  check_compare("zeros", "f32[] 0", "f32[] -0", exact, true);
  check_compare("integers are exact", "s32[] 1000", "s32[] 1001", (indim_tolerance){1e9, 1e9, 100, true}, false);
  check_compare("complex", "c64[] (1, 2)", "c64[] (1, 2.001)", (indim_tolerance){0.01, 0, 0, true}, true);
  check_compare("complex", "c64[] (1, 2)", "c64[] (1, 3)", (indim_tolerance){0.01, 0, 0, true}, false);
  check_compare("layouts", "f32[2,2]{0,1} {{1,2},{3,4}}", "f32[2,2]{1,0:T(2,1)} {{1,2},{3,4}}", exact, true);
  check_compare("run-time sizes", "f32[<=3](2) {1,2}", "f32[2] {1,2}", exact, true);
}

TEST(mismatch_reports) {
  char text[400];
  indim_mismatch m =
      compare("(s32[] 1, f32[2,2] {{1,2},{4,5}})", "(s32[] 1, f32[2,2] {{1,2.5},{4.5,5}})", exact, text, sizeof text);
  CHECK(m.count == 2 && m.elements == 5 && m.worst_leaf == 1);
  CHECK(m.worst_index[0] == 0 && m.worst_index[1] == 1 && m.worst_rel == 0.25 && m.worst_abs == 0.5);
  CHECK_EQ_STR(text,
               "2 of 5 elements differ (40 %); worst in leaf 1 at (0,1): expected 2, got 2.5, absolute error 0.5, "
               "relative error 0.25, ulps 2.1e+06\n");
  compare("f32[2] {1,2}", "f32[2] {1,2}", exact, text, sizeof text);
  CHECK_EQ_STR(text, "all 2 elements agree\n");
  m = compare("f32[3] {1,2,3}", "f32[3] {1,2.5,3.25}", (indim_tolerance){1, 0, 0, true}, text, sizeof text);
  CHECK(m.count == 0 && m.worst_index[0] == 1);
  CHECK(strncmp(text, "all 3 elements agree; worst at (1): expected 2, got 2.5", 55) == 0);
  m = compare("u64[] 18446744073709551615", "u64[] 18446744073709551614", exact, text, sizeof text);
  CHECK(strstr(text, "expected 18446744073709551615, got 18446744073709551614, absolute error 1") != NULL);
  CHECK(m.worst_abs == 1 && m.worst_ulps == 1);
  m = compare("f32[2] {1, nan}", "f32[2] {2, 1}", exact, text, sizeof text);
  CHECK(m.count == 2 && m.worst_index[0] == 1 && isinf(m.worst_ulps) && isnan(m.worst_expected[0]));
  m = compare("f32[2] {0, 1}", "f32[2] {1e-9, 1.5}", (indim_tolerance){1e-8, 0, 0, true}, NULL, 0);
  CHECK(m.count == 1 && m.worst_index[0] == 1);  // what passes is not the worst, however far
  m = compare("f32[2] {1, 0}", "f32[2] {1.5, 1e-9}", (indim_tolerance){1e-8, 0, 0, true}, NULL, 0);
  CHECK(m.count == 1 && m.worst_index[0] == 0);
  m = compare("f32[0] {}", "f32[0] {}", exact, text, sizeof text);
  CHECK(m.elements == 0 && m.worst_leaf == -1);
  CHECK_EQ_STR(text, "all 0 elements agree\n");
}

TEST(comparisons_that_make_no_sense) {
  indim_ctx *cx = test_cx_new();
  indim_mismatch m;
  const char *const texts[] = {"f32[2] {1,2}", "f32[3] {1,2,3}", "f32[1,2] {{1,2}}",
                               "s32[2] {1,2}", "(f32[2] {1,2})", "f32[<=2](1) {1}",
                               "()",           "f32[2] {...}"};
  enum { COUNT = sizeof texts / sizeof texts[0] };
  for (size_t a = 0; a < COUNT; a++) {
    for (size_t b = 0; b < COUNT; b++) {
      indim_literal *x = parse(cx, texts[a]);
      indim_literal *y = parse(cx, texts[b]);
      if (a != b) {
        CHECK_FAILS(cx, indim_literal_compare(cx, x, y, &exact, &m), INDIM_INVALID, "");
      }
      CHECK(indim_literal_equal(x, y) == (a == b && a != COUNT - 1));
      indim_literal_destroy(x);
      indim_literal_destroy(y);
    }
  }
  CHECK_FAILS(cx, indim_literal_compare(cx, NULL, NULL, &exact, &m), INDIM_INVALID, "NULL");
  test_cx_free(cx);
}

TEST(equality_is_bitwise) {
  indim_ctx *cx = test_cx_new();
  const struct {
    const char *a, *b;
    bool equal;
  } cases[] = {{"f32[] 0", "f32[] -0", false},
               {"f32[] nan", "f32[] nan", true},
               {"f32[] nan", "f32[] -nan", false},
               {"f32[] nan", "f32[] nan(0x1)", false},
               {"c64[] (1,2)", "c64[] (1,3)", false},
               {"(f32[] 1)", "(f32[] 1)", true},
               {"(f32[] 1)", "(f32[] 1, f32[] 1)", false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    indim_literal *a = parse(cx, cases[i].a);
    indim_literal *b = parse(cx, cases[i].b);
    CHECK_MSG(indim_literal_equal(a, b) == cases[i].equal, "%s and %s", cases[i].a, cases[i].b);
    indim_literal_destroy(a);
    indim_literal_destroy(b);
  }
  // High bits of a byte that holds fewer do not count.
  indim_literal *a = parse(cx, "s4[1] {-1}");
  indim_literal *b = parse(cx, "s4[1] {-1}");
  *(unsigned char *)indim_literal_mutable_data(b) = 0xFF;
  CHECK(indim_literal_equal(a, b));
  indim_literal_destroy(a);
  indim_literal_destroy(b);
  test_cx_free(cx);
}

// Failing allocations ---------------------------------------------------------------------------------------------

// Everything once: create, parse, print, relayout, convert, move, file. Returns the first failure.
static indim_status do_all(indim_ctx *cx) {
  indim_literal *made[12] = {NULL};
  indim_buffer out;
  indim_shape tiled = test_shape("f32[3,4]{0,1:PAD(4,4;one)}");
  indim_shape packed = test_shape("f32[3,4]{0,1:T(2,2)}");
  indim_str text = indim_str_of("(f32[3,4]{1,0:T(2,2)} {{1,2,3,4},{5,6,7,8},{9,10,11,12}}, (s32[] 1, f32[2] {...}), "
                                "s32[<=3](2) {1,2}, s32[] 1, s32[] 2, s32[] 3)");
  indim_buffer_init(&out, cx);
  indim_status status = indim_literal_parse(cx, text, &made[0]);
  const indim_literal *array = status == INDIM_OK ? indim_literal_member(made[0], 0) : NULL;
#define STEP(call) status = status == INDIM_OK ? (call) : status
  STEP(indim_literal_copy(cx, made[0], &made[1]));
  STEP(indim_literal_relayout(cx, array, &tiled, &made[2]));
  STEP(indim_literal_relayout(cx, made[2], &packed, &made[3]));
  STEP(indim_literal_convert(cx, array, INDIM_F16, &made[4]));
  STEP(indim_literal_reshape(cx, array, 1, (const int64_t[]){12}, &made[5]));
  STEP(indim_literal_replicate(cx, array, 2, &made[6]));
  STEP(indim_literal_to_static(cx, indim_literal_member(made[0], 2), &made[7]));
  STEP(indim_literal_transpose(cx, array, (const int64_t[]){1, 0}, &made[8]));
  STEP(indim_npy_print(cx, made[8], &out));
  STEP(indim_npy_parse(cx, out.data, out.size, INDIM_TYPE_INVALID, &made[9]));
  if (status == INDIM_OK) {
    indim_literal_print(made[0], INDIM_LITERAL_LAYOUT, &out);
    status = out.status;
  }
#undef STEP
  indim_buffer_deinit(&out);
  for (size_t i = 0; i < 12; i++) {
    indim_literal_destroy(made[i]);
  }
  return status;
}

static void check_failing(bool fail_on) {
  for (int64_t at = 1;; at++) {
    test_allocator allocator = {.fail_at = at + 1, .fail_on = fail_on};  // the first is the context's own
    indim_ctx *cx = NULL;
    REQUIRE(indim_ctx_create(&(indim_allocator){test_resize, &allocator}, &cx) == INDIM_OK);
    indim_status status = do_all(cx);
    CHECK_MSG(status == (allocator.failed ? INDIM_NO_MEMORY : INDIM_OK), "allocation %" PRId64 ": %s", at,
              indim_status_name(status));
    test_cx_free(cx);
    if (!allocator.failed) {
      CHECK(at > 30);
      return;
    }
  }
}

TEST(every_allocation_fails_in_turn) {
  check_failing(false);
  check_failing(true);
}

#define CASES(X)                    \
  X(X10_X11_orders)                 \
  X(Y60_Y61_padded)                 \
  X(tiled_and_packed)               \
  X(refused_shapes)                 \
  X(E30_elements)                   \
  X(element_access)                 \
  X(elided_values_are_refused)      \
  X(tuples)                         \
  X(tokens_have_no_data)            \
  X(dynamic_sizes)                  \
  X(dense_sizes_are_checked)        \
  X(L56_any_layout_same_values)     \
  X(large_transpositions)           \
  X(relayout_of_trees)              \
  X(L70_to_L72_convert)             \
  X(L72_to_L78_convert)             \
  X(L73_refused_conversions)        \
  X(conversion_keeps_the_layout)    \
  X(L60_L61_ulps)                   \
  X(L62_to_L64_near)                \
  X(mismatch_reports)               \
  X(comparisons_that_make_no_sense) \
  X(equality_is_bitwise)            \
  X(every_allocation_fails_in_turn)
TEST_MAIN(CASES)
