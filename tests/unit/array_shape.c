// Shapes and layouts: text both ways, construction, validation, equality, ranks, cases by id.
#include "indim/shape.h"

#include "indim/index.h"
#include "indim/shape_util.h"
#include "literal_test.h"

typedef void shape_test(indim_ctx *cx, indim_arena *arena);

static void with_context(shape_test *body) {
  indim_ctx *cx = test_cx_new();
  indim_arena *arena = NULL;
  CHECK(indim_arena_create(cx, &arena) == INDIM_OK);
  body(cx, arena);
  indim_arena_destroy(arena);
  test_cx_free(cx);
}

static indim_shape parse(indim_ctx *cx, indim_arena *arena, const char *text) {
  indim_shape shape = {0};
  CHECK_MSG(indim_shape_parse(cx, indim_str_of(text), arena, &shape) == INDIM_OK, "%s: %s", text, test_message(cx));
  indim_ctx_diagnostics_clear(cx);
  return shape;
}

static void check_print(indim_ctx *cx, const indim_shape *shape, bool with_layout, const char *expected) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_shape_print(shape, with_layout, &text);
  CHECK_EQ_STR(text.data, expected);
  indim_buffer_deinit(&text);
}

// Text --------------------------------------------------------------------------------------------------------------

typedef struct text_row {
  const char *id;
  const char *text;
  const char *printed;  // with layouts; NULL: refused
} text_row;

static const text_row texts[] = {
    {"S01", "f32[123,456]", "f32[123,456]{1,0}"},
    {"S02", "f32[?,784]", "f32[?,784]{1,0}"},
    {"S03", "f32[123,<=456]", "f32[123,<=456]{1,0}"},
    {"S04", "(f32[42], u32[<=123,<=456])", "(f32[42]{0}, u32[<=123,<=456]{1,0})"},
    {"S05", "(f32[1572864],s8[5120,1024])", "(f32[1572864]{0}, s8[5120,1024]{1,0})"},
    {"S06", "(f32[1],(f32[2], token[]), opaque[], f32[3])", "(f32[1]{0}, (f32[2]{0}, token[]), opaque[], f32[3]{0})"},
    {"S07", "()", "()"},
    {"S08", "b(s32[3,4]{1,0})", "b(s32[3,4]{1,0})"},
    {"S09", "f32[123,456]{0,1}", "f32[123,456]{0,1}"},
    {"S10 a", "f32[123,456]foobar{0,1}", NULL},
    {"S10 b", "f32[123,456]{foo}", NULL},
    {"S10 c", "f32[123,456]dense{foo}", NULL},
    {"S11 a", "F32[2]", NULL},
    {"S11 b", "f32", NULL},
    {"S11 c", "f32[-1]", NULL},
    {"S11 d", "f32[2,]", NULL},
    {"S11 e", "(f32[2],)", NULL},
    {"S11 f", "tuple[]", NULL},
    {"S11 g", "g32[]", NULL},
    {"S11 h", "f32[2]{}", NULL},
    {"S12", "f32[123,456,789]{1:T(2, * , 128)}", NULL},
    {"S13", "f32[2, /*c*/ 3]", "f32[2,3]{1,0}"},
    {"S14", " f32 [ 2 , 3 ] { 1 , 0 } ", "f32[2,3]{1,0}"},
    {"S15 a", "token[2]", NULL},
    {"S15 b", "opaque[3]", NULL},
    {"S15 c", "f32[2,3]{1,0:L(0)}", NULL},
    {"S15 d", "f32[2,3]{0,0}", NULL},
    {"S15 e", "f32[2,3]{5,4}", NULL},
    {"S17 a", "f32[2x3]", NULL},
    {"S17 b", "f32[1_2]", NULL},
    {"S17 c", "f32[<=?]", NULL},
    {"S17 d", "f32[<=-1]", NULL},
    {"S17 e", "f32[18446744073709551615]", NULL},
    {"S17 f", "f32[<= 3]", "f32[<=3]{0}"},
    {"S17 g", "f32[<=0]", "f32[<=0]{0}"},
    {"S17 h", "f32[?]", "f32[?]{0}"},
    {"S17 i", "f32[0]", "f32[0]{0}"},
    {"S18 a", "b(s32[3,4])", "b(s32[3,4]{1,0})"},
    {"S18 b", "b (f32[2])", "b(f32[2]{0})"},
    {"S18 c", "b()", NULL},
    {"S18 d", "b(f32[2],f32[3])", NULL},
    {"S18 e", "b(token[])", NULL},
    {"S18 f", "b((f32[]))", NULL},
    {"S18 g", "b(b(f32[2]))", NULL},
    {"S21", "f32[]{:T(256)}", "f32[]{:T(256)}"},
    {"S24", "(opaque[], f32[], u32[1,2], s32[3,4]{0,1})", "(opaque[], f32[], u32[1,2]{1,0}, s32[3,4]{0,1})"},
    {"S27", "(f32[], f32[], f32[], f32[], f32[], f32[])", "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])"},
    {"seed", "f32[2,3]{0,1:PAD(3,5;zero)}", "f32[2,3]{0,1:PAD(3,5;zero)}"},
    {"pad one", "f32[2]{0:PAD(4;one)}", "f32[2]{0:PAD(4;one)}"},
    {"pad lowest", "f32[2]{0:PAD(4;lowest)}", "f32[2]{0:PAD(4;lowest)}"},
    {"pad highest", "f32[2]{0:PAD(4;highest)}", "f32[2]{0:PAD(4;highest)}"},
    {"pad unknown", "f32[2]{0:PAD(4;unknown)}", "f32[2]{0:PAD(4;unknown)}"},
    {"pad word", "f32[2]{0:PAD(4;purple)}", NULL},
    {"pad scalar", "f32[]{:PAD(;zero)}", NULL},
    {"Y11", "f32[123,456]{0,1:T(2,128)}", "f32[123,456]{0,1:T(2,128)}"},
    {"Y12", "f32[123,456,789]{0,1,2:T(2, * , 128)}", "f32[123,456,789]{0,1,2:T(2,*,128)}"},
    {"Y13", "bf16[123,456,789]{2,1,0:T(2,*,128)(2,1)}", "bf16[123,456,789]{2,1,0:T(2,*,128)(2,1)}"},
    {"Y14 a", "s4[123,456]{1,0:T(2,128)E(4)}", "s4[123,456]{1,0:T(2,128)E(4)}"},
    {"Y14 b", "pred[123,456]{1,0:T(2,128)S(3)}", "pred[123,456]{1,0:T(2,128)S(3)}"},
    {"Y14 c", "pred[123,456]{1,0:S(3)}", "pred[123,456]{1,0:S(3)}"},
    {"Y15", "f32[123,456]{1,0:T(16,128)M(1024)}", "f32[123,456]{1,0:T(16,128)M(1024)}"},
    {"Y16 a", "pred[123,456]{1,0:T(2,128)S(3)SC(1:200)}", "pred[123,456]{1,0:T(2,128)S(3)SC(1:200)}"},
    {"Y16 b", "pred[123,456]{1,0:S(3)SC(0:10)(1:4,5)}", "pred[123,456]{1,0:S(3)SC(0:10)(1:4,5)}"},
    {"Y16 c", "pred[123,456]{1,0:SC(1:50,200)}", "pred[123,456]{1,0:SC(1:50,200)}"},
    {"Y17 a", "f32[2,3]{1,0:S(3)T(2,128)}", NULL},
    {"Y17 b", "f32[2]{0:E(4)T(2)}", NULL},
    {"Y17 c", "f32[2,3]{1,0,}", NULL},
    {"Y17 d", "f32[2,3]{1,0:E()}", NULL},
    {"Y17 e", "f32[2,3]{1,0:S 3}", NULL},
    {"Y17 f", "f32[2,3]{1,0 :T(2,128)", NULL},
    {"unbalanced a", "f32[2,3]{1,0:T(2,128}", NULL},
    {"unbalanced b", "f32[2,3]{1,0:S(3}", NULL},
    {"unbalanced c", "f32[2,3]{1,0:T(2,128S(3)}", NULL},
    {"tile -2", "f32[2,3]{1,0:T(-2)}", NULL},
    {"{1,0:}", "f32[2,3]{1,0:}", "f32[2,3]{1,0}"},
};

static void run_texts(indim_ctx *cx, indim_arena *arena) {
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    indim_shape shape;
    indim_status status = indim_shape_parse(cx, indim_str_of(texts[i].text), arena, &shape);
    CHECK_MSG((status == INDIM_OK) == (texts[i].printed != NULL), "%s: %s: %s", texts[i].id, texts[i].text,
              indim_status_name(status));
    if (status == INDIM_OK && texts[i].printed != NULL) {
      check_print(cx, &shape, true, texts[i].printed);
    } else {
      CHECK_MSG(indim_ctx_diagnostic_count(cx) > 0, "%s: no diagnostic", texts[i].id);
    }
    indim_ctx_diagnostics_clear(cx);
  }
}
TEST(texts) { with_context(run_texts); }

static void run_printing(indim_ctx *cx, indim_arena *arena) {
  indim_shape shape = parse(cx, arena, "(opaque[], f32[], u32[1,2], s32[3,4]{0,1})");
  check_print(cx, &shape, false, "(opaque[], f32[], u32[1,2], s32[3,4])");  // S24
  shape = parse(cx, arena, "f32[]{:T(256)}");
  check_print(cx, &shape, false, "f32[]");  // S21
  shape = parse(cx, arena, "f32[<=23,44,<=55]");
  check_print(cx, &shape, false, "f32[<=23,44,<=55]");  // S25
  shape.dynamic &= ~UINT64_C(4);
  check_print(cx, &shape, false, "f32[<=23,44,55]");
  shape = indim_shape_plain(INDIM_TOKEN);
  check_print(cx, &shape, true, "token[]");  // S20
}
TEST(S20_printing) { with_context(run_printing); }

// Shapes that are built, not read.
static void run_built(indim_ctx *cx, indim_arena *arena) {
  static const int64_t one_two[] = {1, 2};
  static const int64_t three_four[] = {3, 4};
  static const int64_t rows[] = {INDIM_UNBOUNDED, 784};
  indim_shape shape;
  indim_shape buffer;
  CHECK(indim_shape_init(cx, INDIM_U32, 2, one_two, &shape) == INDIM_OK);
  check_print(cx, &shape, false, "u32[1,2]");
  check_print(cx, &shape, true, "u32[1,2]{1,0}");
  CHECK(indim_shape_init(cx, INDIM_S32, 2, three_four, &shape) == INDIM_OK);
  CHECK(indim_shape_init_buffer(arena, &shape, &buffer) == INDIM_OK);
  check_print(cx, &buffer, true, "b(s32[3,4]{1,0})");  // S23
  shape.layout.minor_to_major[0] = 0;
  shape.layout.minor_to_major[1] = 1;
  check_print(cx, &shape, false, "s32[3,4]");
  check_print(cx, &shape, true, "s32[3,4]{0,1}");
  CHECK(indim_shape_init(cx, INDIM_F32, 2, rows, &shape) == INDIM_OK);
  check_print(cx, &shape, false, "f32[?,784]");  // S26
}
TEST(S22_S23_S26_built) { with_context(run_built); }

// Layouts -----------------------------------------------------------------------------------------------------------

static const char *const layouts[] = {
    "{}",                        // Y01
    "{1,2,0}",                   // Y02
    "{3,2,1,0:T(42,123)(4,5)}",  // Y03
    "{3,2,1,0:T(*,*,42,123)}",   // Y04
    "{3,2,1,0:L(100)}",          // Y05
    "{3,2,1,0:#(u32)}",
    "{3,2,1,0:*(u16)}",
    "{3,2,1,0:E(42)}",
    "{3,2,1,0:S(3)}",
    "{0,1:SC(0:3)(1:0,4)}",                 // Y06
    "{0,1:P(s32[10,20]{1,0})}",             // Y07
    "{0,1:M(123)}",                         // Y08
    "{3,2,1,0:T(42,123)(4,5)L(100)E(42)}",  // Y09
    "{1,0:T(7,8)}",                         // Y10: of a tile alone the text is what stands behind T
    "{0,1:PAD(3,5;zero)}",
};

static void run_layouts(indim_ctx *cx, indim_arena *arena) {
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
    indim_layout layout;
    indim_buffer text;
    indim_buffer_init(&text, cx);
    CHECK_MSG(indim_layout_parse(cx, indim_str_of(layouts[i]), arena, &layout) == INDIM_OK, "%s: %s", layouts[i],
              test_message(cx));
    indim_layout_print(&layout, &text);
    CHECK_EQ_STR(text.data, layouts[i]);
    indim_buffer_deinit(&text);
    indim_ctx_diagnostics_clear(cx);
  }
}
TEST(Y01_layout_texts) { with_context(run_layouts); }

typedef struct layout_pair {
  const char *a;
  const char *b;
  unsigned ignore;  // makes them equal
} layout_pair;

static void run_layout_equality(indim_ctx *cx, indim_arena *arena) {
  static const layout_pair pairs[] = {
      {"{0,1:T(42,44)}", "{0,1:T(42,45)}", INDIM_IGNORE_TILES},
      {"{0,1:T(42,44)}", "{0,1}", INDIM_IGNORE_TILES},
      {"{0,1:E(33)}", "{0,1:E(7)}", INDIM_IGNORE_ELEMENT_SIZE},
      {"{0,1:S(1)}", "{0,1:S(3)}", INDIM_IGNORE_MEMORY_SPACE},
      {"{0,1:SC(0:2)}", "{0,1:SC(0:3)}", INDIM_IGNORE_SPLIT_CONFIG},
      {"{0,1:L(2)}", "{0,1}", INDIM_IGNORE_TAIL_PADDING},
      {"{0,1:#(u8)}", "{0,1}", INDIM_IGNORE_INDEX_TYPE},
      {"{0,1:*(u8)}", "{0,1}", INDIM_IGNORE_POINTER_TYPE},
      {"{0,1:P(f32[2]{0})}", "{0,1}", INDIM_IGNORE_PHYSICAL_SHAPE},
      {"{0,1:PAD(3,5;zero)}", "{0,1:PAD(3,6;zero)}", INDIM_IGNORE_PADDED_DIMENSIONS},    // Y66
      {"{0,1:PAD(3,5;zero)}", "{0,1:PAD(3,5;lowest)}", INDIM_IGNORE_PADDED_DIMENSIONS},  // Y66
  };
  indim_layout a;
  indim_layout b;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    CHECK(indim_layout_parse(cx, indim_str_of(pairs[i].a), arena, &a) == INDIM_OK);
    CHECK(indim_layout_parse(cx, indim_str_of(pairs[i].b), arena, &b) == INDIM_OK);
    CHECK_MSG(indim_layout_equal(&a, &a, 0) && indim_layout_equal(&b, &b, 0), "%s is not itself", pairs[i].a);
    CHECK_MSG(!indim_layout_equal(&a, &b, 0), "Y32: %s equals %s", pairs[i].a, pairs[i].b);
    CHECK_MSG(indim_layout_equal(&a, &b, pairs[i].ignore), "Y33: %s differs from %s", pairs[i].a, pairs[i].b);
    CHECK_MSG(indim_layout_equal(&a, &b, INDIM_MINOR_TO_MAJOR_ONLY), "Y33: %s differs from %s", pairs[i].a, pairs[i].b);
  }
  CHECK(indim_layout_parse(cx, indim_str_of("{0,1,2}"), arena, &a) == INDIM_OK);
  CHECK(indim_layout_parse(cx, indim_str_of("{0,1}"), arena, &b) == INDIM_OK);
  CHECK(!indim_layout_equal(&a, &b, INDIM_MINOR_TO_MAJOR_ONLY));
  CHECK(indim_layout_parse(cx, indim_str_of("{0,1:M(1)}"), arena, &a) == INDIM_OK);
  CHECK(indim_layout_parse(cx, indim_str_of("{0,1:M(2)}"), arena, &b) == INDIM_OK);
  CHECK(indim_layout_equal(&a, &b, 0));  // Y34
}
TEST(Y32_layout_equality) { with_context(run_layout_equality); }

// Construction and validation ------------------------------------------------------------------------------------------

static void run_init(indim_ctx *cx, indim_arena *arena) {
  indim_shape shape;
  int64_t unbounded[] = {INDIM_UNBOUNDED, INDIM_UNBOUNDED};
  CHECK_FAILS(cx, indim_shape_init_dynamic(cx, INDIM_F32, 2, unbounded, 1, &shape), INDIM_INVALID, "");  // S30
  CHECK(indim_shape_init(cx, INDIM_F32, 2, unbounded, &shape) == INDIM_OK);
  CHECK_EQ_UINT(shape.dynamic, 3);
  int64_t overflows[] = {INT64_C(1) << 62, 4, 0};
  int64_t hidden[] = {0, INT64_C(1) << 62, 4};
  CHECK_FAILS(cx, indim_shape_init(cx, INDIM_F32, 3, overflows, &shape), INDIM_INVALID, "");  // S34
  CHECK(indim_shape_init(cx, INDIM_F32, 3, hidden, &shape) == INDIM_OK);
  CHECK_FAILS(cx, indim_shape_init(cx, INDIM_TUPLE, 0, NULL, &shape), INDIM_INVALID, "");
  CHECK_FAILS(cx, indim_shape_init(cx, INDIM_F32, 1, (int64_t[]){-3}, &shape), INDIM_INVALID, "-3");
  int64_t ones[70];
  for (int i = 0; i < 70; i++) {
    ones[i] = 1;
  }
  CHECK(indim_shape_init(cx, INDIM_F32, 64, ones, &shape) == INDIM_OK);
  CHECK_FAILS(cx, indim_shape_init(cx, INDIM_F32, 65, ones, &shape), INDIM_LIMIT, "64");
  // S35
  indim_shape one;
  CHECK(indim_shape_init(cx, INDIM_F32, 2, (int64_t[]){3, 2}, &one) == INDIM_OK);
  CHECK(indim_shape_init_maybe_tuple(arena, &one, 1, &shape) == INDIM_OK);
  check_print(cx, &shape, false, "f32[3,2]");
  CHECK(indim_shape_init_maybe_tuple(arena, NULL, 0, &shape) == INDIM_OK);
  check_print(cx, &shape, false, "()");
  // Y30
  static const char *const defaults[] = {"{}", "{0}", "{1,0}", "{2,1,0}", "{3,2,1,0}", "{4,3,2,1,0}"};
  for (int rank = 0; rank < 6; rank++) {
    indim_layout layout;
    indim_buffer text;
    indim_buffer_init(&text, cx);
    indim_layout_init(rank, &layout);
    indim_layout_print(&layout, &text);
    CHECK_EQ_STR(text.data, defaults[rank]);
    indim_buffer_deinit(&text);
  }
}
TEST(S30_construction) { with_context(run_init); }

static void run_validation(indim_ctx *cx, indim_arena *arena) {
  indim_shape good = parse(cx, arena, "f32[2,3]{0,1}");
  indim_shape shape = good;
  CHECK(indim_shape_validate(cx, &good, true) == INDIM_OK);  // Y43
  CHECK(indim_shape_validate(cx, &good, false) == INDIM_OK);
  shape.layout.rank = 3;
  shape.layout.minor_to_major[2] = 2;
  CHECK_FAILS(cx, indim_shape_validate(cx, &shape, false), INDIM_INVALID, "3");
  shape = good;
  shape.has_layout = false;  // Y44
  CHECK_FAILS(cx, indim_shape_validate(cx, &shape, true), INDIM_INVALID, "f32[2,3] does not have a layout");
  CHECK(indim_shape_validate(cx, &shape, false) == INDIM_OK);
  // Y46
  int64_t orders[][2] = {{0, 2}, {0, -1}, {0, 0}};
  for (int i = 0; i < 3; i++) {
    shape = good;
    shape.layout.minor_to_major[0] = orders[i][0];
    shape.layout.minor_to_major[1] = orders[i][1];
    CHECK_FAILS(cx, indim_shape_validate(cx, &shape, true), INDIM_INVALID, "");
  }
  shape = good;
  shape.layout.tile_count = 1;
  shape.layout.tile_ranks[0] = 2;
  shape.layout.tile_sizes[0] = 0;
  shape.layout.tile_sizes[1] = 2;
  CHECK_FAILS(cx, indim_shape_validate(cx, &shape, true), INDIM_INVALID, "tile");
  shape = good;
  shape.layout.tail_alignment = 0;
  CHECK_FAILS(cx, indim_shape_validate(cx, &shape, true), INDIM_INVALID, "");
  shape = good;
  shape.layout.index_type = INDIM_U32;
  CHECK_FAILS(cx, indim_shape_validate(cx, &shape, true), INDIM_INVALID, "");
  shape = good;
  shape.layout.element_bits = -1;
  CHECK_FAILS(cx, indim_shape_validate(cx, &shape, true), INDIM_INVALID, "");
  shape = parse(cx, arena, "f32[2]{0:T(2,2,2)S(-4)}");  // Y47: not checked
  CHECK(indim_shape_validate(cx, &shape, true) == INDIM_OK);
  // Y45
  indim_shape inner = parse(cx, arena, "f32[9]{0}");
  inner.layout.rank = 3;
  inner.layout.minor_to_major[1] = 2;
  inner.layout.minor_to_major[2] = 3;
  indim_shape members[] = {good, inner};
  indim_shape tuple;
  CHECK(indim_shape_init_tuple(arena, members, 2, &tuple) == INDIM_OK);
  CHECK_FAILS(cx, indim_shape_validate(cx, &tuple, false), INDIM_INVALID, "3");
  shape = good;
  shape.sizes[1] = -5;
  CHECK_FAILS(cx, indim_shape_validate(cx, &shape, true), INDIM_INVALID, "-5");
  shape = (indim_shape){0};
  CHECK_FAILS(cx, indim_shape_validate(cx, &shape, true), INDIM_INVALID, "");
}
TEST(Y43_validation) { with_context(run_validation); }

// Y64: padded dimensions.
static void run_padding(indim_ctx *cx, indim_arena *arena) {
  static const struct {
    int32_t count;
    int64_t widths[3];
    bool ok;
  } rows[] = {{1, {3}, false}, {3, {3, 5, 1}, false}, {2, {1, 5}, false}, {2, {2, 3}, true}, {0, {0}, true}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    indim_shape shape = parse(cx, arena, "f32[2,3]");
    shape.layout.padded_rank = rows[i].count;
    memcpy(shape.layout.padded_sizes, rows[i].widths, sizeof rows[i].widths);
    CHECK_MSG((indim_shape_validate(cx, &shape, true) == INDIM_OK) == rows[i].ok, "Y64 %zu", i);
    indim_ctx_diagnostics_clear(cx);
  }
  // Y63
  indim_shape shape = parse(cx, arena, "f32[2,3,4]");
  CHECK(!indim_shape_is_padded(&shape));
  shape = parse(cx, arena, "f32[2,3,4]{2,1,0:PAD(2,3,4;zero)}");
  CHECK(!indim_shape_is_padded(&shape));
  shape = parse(cx, arena, "f32[2,3,4]{2,1,0:PAD(2,14,42;zero)}");
  CHECK(indim_shape_is_padded(&shape));
  // Y62
  int64_t bytes = 0;
  shape = parse(cx, arena, "f32[10,20]{1,0:PAD(15,21;unknown)}");
  CHECK(indim_shape_storage_bytes(cx, &shape, &bytes) == INDIM_OK);
  CHECK_EQ_INT(bytes, 1260);
  CHECK(indim_shape_byte_size(cx, &shape, -1, &bytes) == INDIM_OK);
  CHECK_EQ_INT(bytes, 1260);
  CHECK_EQ_INT(indim_shape_element_count(&shape), 200);
  // Y65
  int64_t strides[2];
  CHECK(indim_index_strides(cx, &shape, strides) == INDIM_OK);
  CHECK(strides[0] == 21 && strides[1] == 1);
  shape = parse(cx, arena, "f32[10,20]{0,1:PAD(15,21;unknown)}");
  CHECK(indim_index_strides(cx, &shape, strides) == INDIM_OK);
  CHECK(strides[0] == 1 && strides[1] == 15);
  // Y68, with the "or" that was meant: a padded side makes neither a bitcast. Y69: widths are permuted like sizes.
  indim_shape padded = parse(cx, arena, "f32[2,3]{1,0:PAD(3,5;zero)}");
  indim_shape plain = parse(cx, arena, "f32[2,3]{1,0}");
  CHECK(!indim_shape_reshape_is_bitcast(&padded, &plain, false) &&
        !indim_shape_reshape_is_bitcast(&plain, &padded, false));
  CHECK(!indim_shape_transpose_is_bitcast(&padded, &plain, (int64_t[]){0, 1}, false));
  CHECK(!indim_shape_transpose_is_bitcast(&plain, &padded, (int64_t[]){0, 1}, false));
  CHECK(indim_shape_transpose_is_bitcast(&plain, &plain, (int64_t[]){0, 1}, false));
  CHECK(indim_shape_permute_dims(cx, &padded, (int64_t[]){1, 0}, &shape) == INDIM_OK);
  check_print(cx, &shape, true, "f32[3,2]{0,1:PAD(5,3;zero)}");
}
TEST(Y60_padding) { with_context(run_padding); }

// Equality ----------------------------------------------------------------------------------------------------------

enum { EQ = 0 };

typedef struct equal_row {
  const char *id;
  const char *a;
  const char *b;
  unsigned ignore;
  bool equal;
} equal_row;

static const equal_row equals[] = {
    {"S40", "f32[3,2]{0,1}", "f32[3,2]{1,0}", EQ, false},
    {"S40", "f32[3,2]{0,1}", "f32[3,2]{1,0}", INDIM_COMPATIBLE, true},
    {"S41", "token[]", "token[]", EQ, true},
    {"S41", "token[]", "f32[]", EQ, false},
    {"S41", "token[]", "f32[]", INDIM_COMPATIBLE, false},
    {"S42", "(token[], s32[3,4]{0,1})", "(token[], s32[3,4]{0,1})", EQ, true},
    {"S42", "(token[], s32[3,4]{0,1})", "(token[], s32[3,4]{1,0})", EQ, false},
    {"S43", "bf16[3,2]", "f32[3,2]", INDIM_COMPATIBLE_IGNORING_FP_PRECISION, true},
    {"S43", "bf16[3,2]", "f32[2,2]", INDIM_COMPATIBLE_IGNORING_FP_PRECISION, false},
    {"S44", "f32[3,2]", "pred[3,2]", INDIM_COMPATIBLE, false},
    {"S45", "f32[4,3]{0,1}", "f16[4,3]{0,1}", INDIM_IGNORE_FP_PRECISION, true},
    {"S45", "f32[4,3]{0,1}", "f16[3,4]{0,1}", INDIM_IGNORE_FP_PRECISION, false},
    {"S45", "f32[4,3]{0,1}", "f16[4,3]{1,0}", INDIM_IGNORE_FP_PRECISION, false},
    {"S45", "f32[4,3]{0,1}", "pred[4,3]{0,1}", INDIM_IGNORE_FP_PRECISION, false},
    {"S46", "f32[4,3]{0,1}", "f16[4,3]{0,1}", INDIM_IGNORE_ELEMENT_TYPE, true},
    {"S46", "f32[4,3]{0,1}", "pred[4,3]{0,1}", INDIM_IGNORE_ELEMENT_TYPE, true},
    {"S46", "f32[4,3]{0,1}", "pred[3,4]{0,1}", INDIM_IGNORE_ELEMENT_TYPE, false},
    {"S46", "f32[4,3]{0,1}", "pred[4,3]{1,0}", INDIM_IGNORE_ELEMENT_TYPE, false},
    {"S47", "f32[<=4,3]", "f32[<=4,3]", EQ, true},
    {"S47", "f32[<=4,3]", "f32[4,3]", EQ, false},
    {"S48", "f32[?]", "f32[<=2]", EQ, false},
    {"S48", "f32[?]", "f32[<=2]", INDIM_COMPATIBLE, true},
    {"S49", "f32[<=4,3]{1,0}", "f32[4,<=3]{0,1}", INDIM_COMPATIBLE, true},
    {"S50", "(pred[4,5], f32[3,2])", "(f32[3,2], pred[4,5])", INDIM_COMPATIBLE, false},
    {"S50", "(pred[4,5], f32[3,2])", "(f32[3,2], pred[4,5])", INDIM_COMPATIBLE_IGNORING_ELEMENT_TYPE, false},
    {"S51", "(pred[4,5], f32[3,2])", "(pred[4,5], s32[3,2])", INDIM_COMPATIBLE, false},
    {"S51", "(pred[4,5], f32[3,2])", "(pred[4,5], s32[3,2])", INDIM_COMPATIBLE_IGNORING_ELEMENT_TYPE, true},
    {"S52", "(bf16[3,2], f32[4,5])", "(f64[3,2], bf16[4,5])", INDIM_COMPATIBLE_IGNORING_FP_PRECISION, true},
    {"S53", "f32[]", "(f32[3,2], u32[])", INDIM_COMPATIBLE_KIND, false},
    {"S53", "f32[]", "(f32[3,2], u32[])", INDIM_COMPATIBLE, false},
    {"S54", "f32[5,7]", "opaque[]", INDIM_COMPATIBLE_KIND, false},
    {"S54", "f32[5,7]", "opaque[]", INDIM_COMPATIBLE_IGNORING_ELEMENT_TYPE, false},
    {"S55", "b(s32[3,4]{1,0})", "s32[3,4]{1,0}", EQ, false},
    {"S55", "b(s32[3,4]{1,0})", "s32[3,4]{1,0}", INDIM_IGNORE_BUFFER, true},
    {"S55", "b(s32[3,4]{1,0})", "s32[3,4]{0,1}", INDIM_IGNORE_BUFFER | INDIM_IGNORE_LAYOUT, true},
    {"S56", "f32[256,256]{1,0}", "f32[256,256]{1,0:SC(0:128)}", INDIM_IGNORE_SPLIT_CONFIG, true},
    {"S56", "f32[256,256]{1,0}", "f32[256,256]{1,0:SC(0:128)}", EQ, false},
    {"kind", "f32[2,3]", "s8[4,5]{0,1}", INDIM_COMPATIBLE_KIND, true},
    {"kind rank", "f32[2,3]", "s8[4]", INDIM_COMPATIBLE_KIND, false},
};

static void run_equality(indim_ctx *cx, indim_arena *arena) {
  for (size_t i = 0; i < sizeof equals / sizeof equals[0]; i++) {
    const equal_row *r = &equals[i];
    indim_shape a = parse(cx, arena, r->a);
    indim_shape b = parse(cx, arena, r->b);
    CHECK_MSG(indim_shape_equal(&a, &b, r->ignore) == r->equal, "%s: %s and %s", r->id, r->a, r->b);
    CHECK_MSG(indim_shape_equal(&b, &a, r->ignore) == r->equal, "%s: %s and %s", r->id, r->b, r->a);
  }
  // S57
  static const struct {
    const char *a;
    const char *b;
    bool same;
  } pairs[] = {{"f32[]", "f32[]", true},    {"f32[1]", "f32[1]", true},      {"f32[0]", "f32[0]", true},
               {"f32[1]", "f32[2]", false}, {"f32[0,0]", "f32[0]", false},   {"f32[1]", "f32[1,1]", false},
               {"f32[]", "f32[1]", false},  {"f32[1,1]", "f32[1,2]", false}, {"f32[?]", "s8[7]", true}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    indim_shape a = parse(cx, arena, pairs[i].a);
    indim_shape b = parse(cx, arena, pairs[i].b);
    CHECK_MSG(indim_shape_same_dimensions(&a, &b) == pairs[i].same, "S57: %s and %s", pairs[i].a, pairs[i].b);
  }
}
TEST(S40_equality) { with_context(run_equality); }

// Ranks and dimensions ------------------------------------------------------------------------------------------------

static void run_ranks(indim_ctx *cx, indim_arena *arena) {
  indim_shape shape = parse(cx, arena, "f32[2,3]");
  int32_t dim = -1;
  CHECK(indim_shape_dim(cx, &shape, -1, &dim) == INDIM_OK && dim == 1);  // S60
  CHECK(indim_shape_dim(cx, &shape, -2, &dim) == INDIM_OK && dim == 0);
  CHECK_FAILS(cx, indim_shape_dim(cx, &shape, -3, &dim), INDIM_INVALID, "-3");
  CHECK_FAILS(cx, indim_shape_dim(cx, &shape, 2, &dim), INDIM_INVALID, "2");
  shape = parse(cx, arena, "f32[1,2,3,4]");  // S61
  CHECK(indim_shape_dim(cx, &shape, -1, &dim) == INDIM_OK && shape.sizes[dim] == 4);
  // S62, but sizes of 0 do not count: the documents say "greater than 1", and they win over the code.
  static const struct {
    const char *text;
    int32_t true_rank;
  } rows[] = {{"f32[3,0,1]", 1}, {"f32[2,1,1]", 1}, {"f32[]", 0}, {"f32[1,1]", 0}, {"f32[3,1]", 1}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    shape = parse(cx, arena, rows[i].text);
    CHECK_MSG(indim_shape_true_rank(&shape) == rows[i].true_rank, "S62: %s", rows[i].text);
  }
  CHECK(indim_shape_dim_letter(2, 0) == 'y' && indim_shape_dim_letter(2, 1) == 'x');
  CHECK(indim_shape_dim_letter(3, 0) == 'z' && indim_shape_dim_letter(3, 2) == 'x');
  CHECK(indim_shape_dim_letter(4, 0) == 'p' && indim_shape_dim_letter(4, 3) == 'x');
  CHECK(indim_shape_dim_letter(5, 0) == 0);
}
TEST(S60_ranks) { with_context(run_ranks); }

// Diagnostics carry place, both sides, and the way out.
static void run_messages(indim_ctx *cx, indim_arena *arena) {
  indim_shape shape;
  CHECK(indim_shape_parse(cx, indim_str_of("f32[2,\n 3]{1,0,2}"), arena, &shape) == INDIM_INVALID);
  const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
  CHECK_EQ_INT(d->line, 2);
  CHECK(strstr(d->message, "3") != NULL && strstr(d->message, "2") != NULL);
  indim_ctx_diagnostics_clear(cx);
  CHECK(indim_shape_parse(cx, indim_str_of("(f32[2])"), NULL, &shape) != INDIM_OK);
  indim_ctx_diagnostics_clear(cx);
  CHECK(indim_shape_parse(NULL, indim_str_of("f32[2"), arena, &shape) != INDIM_OK);
}
TEST(messages) { with_context(run_messages); }

#define CASES(X)         \
  X(texts)               \
  X(S20_printing)        \
  X(S22_S23_S26_built)   \
  X(Y01_layout_texts)    \
  X(Y32_layout_equality) \
  X(S30_construction)    \
  X(Y43_validation)      \
  X(Y60_padding)         \
  X(S40_equality)        \
  X(S60_ranks)           \
  X(messages)
TEST_MAIN(CASES)
