// The wire format: W01 to W07 by id, bytes that XLA writes, truncated and foreign bytes.
#include "indim/wire.h"

#include "test.h"

static void with_context(void (*body)(indim_ctx *cx, indim_arena *arena)) {
  indim_ctx *cx = NULL;
  indim_arena *arena = NULL;
  CHECK(indim_ctx_create(NULL, &cx) == INDIM_OK);
  CHECK(indim_arena_create(cx, &arena) == INDIM_OK);
  body(cx, arena);
  indim_arena_destroy(arena);
  CHECK_EQ_INT((int64_t)indim_ctx_memory_in_use(cx), 0);
  indim_ctx_destroy(cx);
}

static bool same_bytes(const indim_buffer *buffer, const char *bytes, size_t size) {
  return buffer->size == size && memcmp(buffer->data, bytes, size) == 0;
}

static void shape_round_trip(indim_ctx *cx, indim_arena *arena, const char *text) {
  indim_shape shape;
  indim_shape back;
  indim_buffer bytes;
  indim_buffer printed;
  indim_buffer_init(&bytes, cx);
  indim_buffer_init(&printed, cx);
  CHECK_MSG(indim_shape_parse(cx, indim_str_of(text), arena, &shape) == INDIM_OK, "%s", text);
  CHECK_MSG(indim_shape_encode(cx, &shape, &bytes) == INDIM_OK, "%s", text);
  CHECK_MSG(indim_shape_decode(cx, bytes.data, bytes.size, arena, &back) == INDIM_OK, "%s", text);
  CHECK_MSG(indim_shape_equal(&shape, &back, 0), "%s: not equal after a round trip", text);
  indim_shape_print(&back, true, &printed);
  indim_buffer_clear(&bytes);
  indim_shape_print(&shape, true, &bytes);
  CHECK_EQ_STR(printed.data, bytes.data);
  indim_buffer_deinit(&bytes);
  indim_buffer_deinit(&printed);
}

static void run_shapes(indim_ctx *cx, indim_arena *arena) {
  static const char *const texts[] = {"opaque[]",
                                      "token[]",
                                      "f32[]",
                                      "u32[1,2]",
                                      "s32[3,4]{0,1}",
                                      "b(s32[3,4])",
                                      "(f32[2], token[], ())",
                                      "((f32[2]{0}, (s32[])), pred[3])",
                                      "s32[<=5,2]",
                                      "f32[?,784]",
                                      "f32[2,3]{0,1:PAD(3,5;zero)}",
                                      "bf16[32,256]{1,0:T(8,128)(2,1)}",
                                      "s4[9,6]{1,0:T(4,8)L(64)E(4)S(1)}",
                                      "f32[4,6]{1,0:M(8)}"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    shape_round_trip(cx, arena, texts[i]);
  }
}
TEST(W01_shapes) { with_context(run_shapes); }

static void run_layouts(indim_ctx *cx, indim_arena *arena) {
  static const char *const texts[] = {"{}",
                                      "{1,3,2,0}",
                                      "{0,1:E(42)}",
                                      "{3,2,1,0:T(42,123)(4,5)}",
                                      "{1,0}",
                                      "{1,0:P(s32[10,10]{1,0})}",
                                      "{0,1:T(123)SC(0:3)(1:0,4)}",
                                      "{3,2,1,0:#(u32)}"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    indim_layout layout;
    indim_layout back;
    indim_buffer bytes;
    indim_buffer_init(&bytes, cx);
    CHECK_MSG(indim_layout_parse(cx, indim_str_of(texts[i]), arena, &layout) == INDIM_OK, "%s", texts[i]);
    CHECK_MSG(indim_layout_encode(cx, &layout, &bytes) == INDIM_OK, "%s", texts[i]);
    CHECK_MSG(indim_layout_decode(cx, bytes.data, bytes.size, arena, &back) == INDIM_OK, "%s", texts[i]);
    CHECK_MSG(indim_layout_equal(&layout, &back, 0), "%s: not equal after a round trip", texts[i]);
    indim_buffer_deinit(&bytes);
  }
}
TEST(W02_layouts) { with_context(run_layouts); }

// Well-formed messages of what is no shape: they are read, and do not stand the validation.
static void run_no_shapes(indim_ctx *cx, indim_arena *arena) {
  static const struct {
    const char *id;
    const char *bytes;
    size_t size;
  } cases[] = {
      {"S31, type 2000", "\x10\xD0\x0F", 3},
      {"S31, type -1", "\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11},
      {"S32, a tuple as physical shape",
       "\x10\x0D\x22\x13\x10\x02\x1A\x06\x80\x80\x80\x80\x80\x04\x2A\x07\x0A\x01\x00\x52\x02\x10\x0D", 23},
      {"S33, a dimension twice in minor_to_major",
       "\x10\x02\x1A\x10\x00\x08\x00\x00\x04\x01\x01\x06\x81\x80\x80\x80\x80\x80\x40\x01"
       "\x2A\x0C\x0A\x0A\x09\x08\x07\x06\x06\x05\x04\x03\x02\x01",
       34},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    indim_shape shape;
    indim_status status = indim_shape_decode(cx, cases[i].bytes, cases[i].size, arena, &shape);
    CHECK_MSG(status == INDIM_OK, "%s: decoding: %s", cases[i].id, indim_status_name(status));
    status = status == INDIM_OK ? indim_shape_validate(cx, &shape, false) : status;
    CHECK_MSG(status == INDIM_INVALID, "%s: validating: %s", cases[i].id, indim_status_name(status));
    indim_ctx_diagnostics_clear(cx);
  }
}
TEST(S31_to_S33_no_shapes) { with_context(run_no_shapes); }

// The two examples that the spec writes out.
static void run_bytes(indim_ctx *cx, indim_arena *arena) {
  indim_shape shape;
  indim_buffer bytes;
  indim_buffer_init(&bytes, cx);
  CHECK(indim_shape_parse(cx, indim_str_of("f32[]"), arena, &shape) == INDIM_OK);
  CHECK(indim_shape_encode(cx, &shape, &bytes) == INDIM_OK);
  CHECK(same_bytes(&bytes, "\x10\x0B\x2A\x03\x80\x01\x01", 7));
  indim_buffer_clear(&bytes);
  CHECK(indim_shape_parse(cx, indim_str_of("u32[1,2]"), arena, &shape) == INDIM_OK);
  CHECK(indim_shape_encode(cx, &shape, &bytes) == INDIM_OK);
  CHECK(same_bytes(&bytes, "\x10\x08\x1A\x02\x01\x02\x2A\x07\x0A\x02\x01\x00\x80\x01\x01\x32\x02\x00\x00", 19));
  // padded_dimensions and padding_value in the fields that the first protocol gave them: 2 and 3.
  indim_layout layout;
  indim_buffer_clear(&bytes);
  CHECK(indim_layout_parse(cx, indim_str_of("{0,1:PAD(3,5;zero)}"), arena, &layout) == INDIM_OK);
  CHECK(indim_layout_encode(cx, &layout, &bytes) == INDIM_OK);
  CHECK(same_bytes(&bytes, "\x0A\x02\x00\x01\x12\x02\x03\x05\x18\x01\x80\x01\x01", 13));
  indim_buffer_deinit(&bytes);
}
TEST(bytes) { with_context(run_bytes); }

static void run_tiles(indim_ctx *cx, indim_arena *arena) {
  indim_layout layout;
  indim_buffer bytes;
  indim_buffer_init(&bytes, cx);
  // A tile {-2}: field 6 with a Tile whose dimensions are one ten-byte varint.
  CHECK_EQ_INT(indim_layout_decode(cx, "\x32\x0C\x0A\x0A\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 14, arena, &layout),
               INDIM_INVALID);
  CHECK(indim_layout_parse(cx, indim_str_of("{1,0:T(*,4)}"), arena, &layout) == INDIM_OK);
  CHECK_EQ_INT(indim_layout_encode(cx, &layout, &bytes), INDIM_UNSUPPORTED);
  indim_buffer_deinit(&bytes);
  indim_ctx_diagnostics_clear(cx);
}
TEST(W03_tiles) { with_context(run_tiles); }

static void run_program_shape(indim_ctx *cx, indim_arena *arena) {
  indim_shape shape;
  indim_program_shape back;
  indim_buffer bytes;
  indim_buffer_init(&bytes, cx);
  CHECK(indim_shape_parse(cx, indim_str_of("f32[2]"), arena, &shape) == INDIM_OK);
  const indim_shape *parameters[] = {&shape, &shape};
  indim_str names[] = {indim_str_of("x"), indim_str_of("")};
  indim_program_shape program = {2, parameters, names, &shape};
  CHECK(indim_program_shape_encode(cx, &program, &bytes) == INDIM_OK);
  CHECK(indim_program_shape_decode(cx, bytes.data, bytes.size, arena, &back) == INDIM_OK);
  CHECK_EQ_INT(back.parameter_count, 2);
  CHECK(indim_str_equal(back.parameter_names[0], names[0]) && indim_shape_equal(back.result, &shape, 0));
  // One parameter, no names.
  CHECK_EQ_INT(indim_program_shape_decode(cx, "\x0A\x02\x10\x0B", 4, arena, &back), INDIM_INVALID);
  indim_buffer_deinit(&bytes);
  indim_ctx_diagnostics_clear(cx);
}
TEST(W04_program_shape) { with_context(run_program_shape); }

static void literal_round_trip(indim_ctx *cx, const char *text) {
  indim_literal *literal = NULL;
  indim_literal *back = NULL;
  indim_buffer bytes;
  indim_buffer_init(&bytes, cx);
  CHECK_MSG(indim_literal_parse(cx, indim_str_of(text), &literal) == INDIM_OK, "%s", text);
  CHECK_MSG(indim_literal_encode(cx, literal, &bytes) == INDIM_OK, "%s", text);
  CHECK_MSG(indim_literal_decode(cx, bytes.data, bytes.size, &back) == INDIM_OK, "%s", text);
  CHECK_MSG(back != NULL && indim_literal_equal(literal, back), "%s: message", text);
  indim_literal_destroy(back);
  indim_buffer_clear(&bytes);
  CHECK_MSG(indim_literal_serialize(cx, literal, &bytes) == INDIM_OK, "%s", text);
  CHECK_MSG(indim_literal_deserialize(cx, bytes.data, bytes.size, &back) == INDIM_OK, "%s", text);
  CHECK_MSG(back != NULL && indim_literal_equal(literal, back), "%s: stream", text);
  indim_literal_destroy(back);
  // Every shorter text of the stream is refused.
  for (size_t size = 0; size < bytes.size; size++) {
    CHECK_MSG(indim_literal_deserialize(cx, bytes.data, size, &back) != INDIM_OK, "%s: %zu bytes", text, size);
  }
  indim_ctx_diagnostics_clear(cx);
  indim_literal_destroy(literal);
  indim_buffer_deinit(&bytes);
}

static void run_literals(indim_ctx *cx, indim_arena *arena) {
  (void)arena;
  static const char *const types[] = {"s8",     "u8",       "s16",           "u16",        "s32",        "u32",
                                      "s64",    "u64",      "f16",           "bf16",       "f32",        "f64",
                                      "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "f8e4m3",
                                      "f8e3m4", "f4e2m1fn", "f8e8m0fnu",     "s4",         "u4"};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    char text[80];
    snprintf(text, sizeof text, "%s[2,3]{0,1} {{1, 2, 4}, {1, 2, 4}}", types[i]);
    literal_round_trip(cx, text);
  }
  literal_round_trip(cx, "c64[2] {(1,2),(3,-0)}");
  literal_round_trip(cx, "c128[] (inf,nan)");
  literal_round_trip(cx, "s2[3] {-2,1,0}");
  literal_round_trip(cx, "u2[5] {1,2,3,0,1}");
  literal_round_trip(cx, "s1[2] {-1,0}");
  literal_round_trip(cx, "u1[9] {1,0,1,1,0,0,1,0,1}");
  literal_round_trip(cx, "f32[2,3]{0,1:PAD(3,5;one)} {{1,2,3},{4,5,6}}");
  literal_round_trip(cx, "f32[0,2] {}");
  literal_round_trip(cx, "(f32[2] {1,2}, (pred[] true, s32[3] {1,2,3}), ())");
}
TEST(literals) { with_context(run_literals); }

// W05: lists of bools of every length, where element i is (i % 2 == length % 2).
static void run_preds(indim_ctx *cx, indim_arena *arena) {
  (void)arena;
  for (int length = 0; length <= 24; length++) {
    char text[128];
    int at = snprintf(text, sizeof text, "pred[%d] {", length);
    for (int i = 0; i < length; i++) {
      at += snprintf(text + at, sizeof text - (size_t)at, "%s%d", i == 0 ? "" : ",", i % 2 == length % 2);
    }
    snprintf(text + at, sizeof text - (size_t)at, "}");
    literal_round_trip(cx, text);
  }
}
TEST(W05_preds) { with_context(run_preds); }

static void run_s4(indim_ctx *cx, indim_arena *arena) {
  (void)arena;
  indim_literal *literal = NULL;
  indim_buffer bytes;
  indim_buffer_init(&bytes, cx);
  CHECK(indim_literal_parse(cx, indim_str_of("s4[3] {1,0,2}"), &literal) == INDIM_OK);
  CHECK(indim_literal_encode(cx, literal, &bytes) == INDIM_OK);
  // Field 21 (s4s), 3 bytes.
  CHECK(bytes.size > 6 && memcmp(bytes.data + bytes.size - 6, "\xAA\x01\x03\x01\x00\x02", 6) == 0);
  indim_buffer_clear(&bytes);
  CHECK(indim_literal_serialize(cx, literal, &bytes) == INDIM_OK);
  CHECK(bytes.size > 2 && memcmp(bytes.data + bytes.size - 2, "\x01\x02", 2) == 0);
  indim_literal_destroy(literal);
  indim_buffer_clear(&bytes);
  CHECK(indim_literal_parse(cx, indim_str_of("s4[1] {-1}"), &literal) == INDIM_OK);
  CHECK(indim_literal_encode(cx, literal, &bytes) == INDIM_OK);
  CHECK_EQ_INT(bytes.data[bytes.size - 1], 0x0F);
  indim_literal_destroy(literal);
  indim_buffer_deinit(&bytes);
}
TEST(W06_s4) { with_context(run_s4); }

static void run_refused(indim_ctx *cx, indim_arena *arena) {
  indim_literal *literal = NULL;
  indim_shape shape;
  // No shape; f32[2] with one element; opaque; f32[] without layout.
  CHECK_EQ_INT(indim_literal_decode(cx, "", 0, &literal), INDIM_INVALID);
  CHECK_EQ_INT(indim_literal_decode(cx,
                                    "\x0A\x10\x10\x0B\x1A\x01\x02\x2A\x06\x0A\x01\x00\x80\x01\x01\x32\x01\x00"
                                    "\x42\x04\x00\x00\x80\x3F",
                                    24, &literal),
               INDIM_INVALID);
  CHECK_EQ_INT(indim_literal_decode(cx, "\x0A\x02\x10\x0E", 4, &literal), INDIM_INVALID);
  CHECK_EQ_INT(indim_literal_decode(cx, "\x0A\x02\x10\x0B\x42\x04\x00\x00\x80\x3F", 10, &literal), INDIM_INVALID);
  CHECK(literal == NULL);
  // Shapes: flags of another length than the sizes; a layout on a token; a buffer of two; a bad varint.
  CHECK_EQ_INT(indim_shape_decode(cx, "\x10\x0B\x1A\x01\x02\x32\x02\x00\x00", 9, arena, &shape), INDIM_INVALID);
  CHECK_EQ_INT(indim_shape_decode(cx, "\x10\x11\x2A\x00", 4, arena, &shape), INDIM_INVALID);
  CHECK_EQ_INT(indim_shape_decode(cx, "\x10\x22\x22\x02\x10\x0B\x22\x02\x10\x0B", 10, arena, &shape), INDIM_INVALID);
  CHECK_EQ_INT(indim_shape_decode(cx, "\x10\xFF\xFF\xFF", 4, arena, &shape), INDIM_INVALID);
  CHECK_EQ_INT(indim_shape_decode(cx, NULL, 4, arena, &shape), INDIM_INVALID);
  indim_ctx_diagnostics_clear(cx);
  // S31: an unknown type decodes, and fails when validated. 2000 is D0 0F.
  CHECK_EQ_INT(indim_shape_decode(cx, "\x10\xD0\x0F", 3, arena, &shape), INDIM_OK);
  CHECK_EQ_INT(indim_shape_validate(cx, &shape, false), INDIM_INVALID);
  indim_ctx_diagnostics_clear(cx);
}
TEST(W07_refused) { with_context(run_refused); }

// Tuples in tuples, 100,000 deep: each level wraps the one before in field 4 of a TUPLE.
static void run_deep(indim_ctx *cx, indim_arena *arena) {
  enum { DEPTH = 100000 };
  static unsigned char bytes[DEPTH * 8];
  size_t at = sizeof bytes;
  indim_shape shape;
  for (int i = 0; i < DEPTH; i++) {
    size_t length = sizeof bytes - at;
    at -= 3;
    if (length > 0) {
      bytes[at] = (unsigned char)((length & 0x7F) | 0x80);
      bytes[at + 1] = (unsigned char)((length >> 7 & 0x7F) | 0x80);
      bytes[at + 2] = (unsigned char)(length >> 14 & 0x7F);
      bytes[--at] = 0x22;
    } else {
      at += 3;
    }
    at -= 2;
    bytes[at] = 0x10;
    bytes[at + 1] = 13;
  }
  CHECK_EQ_INT(indim_shape_decode(cx, bytes + at, sizeof bytes - at, arena, &shape), INDIM_LIMIT);
  indim_ctx_diagnostics_clear(cx);
}
TEST(deep) { with_context(run_deep); }

#define CASES(X)          \
  X(W01_shapes)           \
  X(S31_to_S33_no_shapes) \
  X(W02_layouts)          \
  X(bytes)                \
  X(W03_tiles)            \
  X(W04_program_shape)    \
  X(literals)             \
  X(W05_preds)            \
  X(W06_s4)               \
  X(W07_refused)          \
  X(deep)
TEST_MAIN(CASES)
