// .npy files: what is read and written, and every way in which a file can be wrong. numpy itself is the witness in
// tests/witness/npy.py.
#include "literal_test.h"

// A file from a header text and elements; format 1.0 unless |major| says otherwise.
typedef struct file {
  unsigned char bytes[4096];
  size_t size;
} file;

static file make_file(int major, const char *header, const void *data, size_t data_size) {
  file f = {{0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)major, 0}, 8};
  size_t length = strlen(header);
  f.bytes[f.size++] = (unsigned char)(length & 0xFF);
  f.bytes[f.size++] = (unsigned char)(length >> 8);
  f.size += major == 1 ? 0 : 2;
  memcpy(f.bytes + f.size, header, length);
  f.size += length;
  if (data_size > 0) {
    memcpy(f.bytes + f.size, data, data_size);
  }
  f.size += data_size;
  return f;
}

static void check_reads(int major, const char *header, indim_type type, const void *data, size_t size,
                        const char *expected) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  file f = make_file(major, header, data, size);
  indim_status status = indim_npy_parse(cx, f.bytes, f.size, type, &literal);
  CHECK_MSG(status == INDIM_OK, "%s: %s", header, test_message(cx));
  if (literal != NULL) {
    indim_literal_print(literal, INDIM_LITERAL_LAYOUT | INDIM_LITERAL_ONE_LINE, &out);
    CHECK_EQ_STR(out.data, expected);
  }
  indim_buffer_deinit(&out);
  indim_literal_destroy(literal);
  test_cx_free(cx);
}

static void check_refuses(const char *header, indim_type type, size_t data_size, indim_status expected,
                          const char *part) {
  static const unsigned char data[64] = {0};
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  file f = make_file(1, header, data, data_size);
  indim_status status = indim_npy_parse(cx, f.bytes, f.size, type, &literal);
  CHECK_MSG(status == expected && literal == NULL, "%s: %s", header, indim_status_name(status));
  CHECK_MSG(strstr(test_message(cx), part) != NULL, "%s: \"%s\" does not hold \"%s\"", header, test_message(cx), part);
  test_cx_free(cx);
}

#define NONE INDIM_TYPE_INVALID

TEST(reads_orders_and_versions) {
  const float values[6] = {1, 2, 3, 4, 5, 6};
  const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n";
  check_reads(1, header, NONE, values, 24, "f32[2,3]{1,0} { { 1, 2, 3 }, { 4, 5, 6 } }");
  check_reads(2, header, NONE, values, 24, "f32[2,3]{1,0} { { 1, 2, 3 }, { 4, 5, 6 } }");
  check_reads(3, header, NONE, values, 24, "f32[2,3]{1,0} { { 1, 2, 3 }, { 4, 5, 6 } }");
  check_reads(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", NONE, values, 24,
              "f32[2,3]{0,1} { { 1, 3, 5 }, { 2, 4, 6 } }");
  check_reads(1, "{\"shape\":(6,),\"fortran_order\":True,\"descr\":\"float32\"}", NONE, values, 24,
              "f32[6]{0} {1, 2, 3, 4, 5, 6}");
  check_reads(1, "{'descr': '=f4', 'fortran_order': False, 'shape': ()}", NONE, values, 4, "f32[] 1");
  check_reads(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L)}", NONE, values, 24,
              "f32[2,3]{1,0} { { 1, 2, 3 }, { 4, 5, 6 } }");
  check_reads(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3)}", NONE, NULL, 0, "f32[0,3]{1,0} {  }");
}

TEST(reads_types) {
  const unsigned char bytes[16] = {0, 0, 128, 63, 0, 0, 0, 64, 1, 0, 0, 0, 0, 0, 0, 0};
  const struct {
    const char *descr;
    indim_type type;
    size_t size;
    const char *expected;
  } cases[] = {
      {"|b1", NONE, 4, "pred[4]{0} {0, 0, 1, 1}"},
      {"?", NONE, 4, "pred[4]{0} {0, 0, 1, 1}"},
      {"|i1", NONE, 3, "s8[3]{0} {0, 0, -128}"},
      {"|u1", INDIM_F32, 3, "u8[3]{0} {0, 0, 128}"},
      {"<u2", NONE, 4, "u16[2]{0} {0, 16256}"},
      {">u2", NONE, 4, "u16[2]{0} {0, 32831}"},
      {">f4", NONE, 4, "f32[1]{0} {4.6006e-41}"},
      {"<c8", NONE, 8, "c64[1]{0} {(1, 2)}"},
      {">c8", NONE, 8, "c64[1]{0} {(4.6006e-41, 8.96831e-44)}"},
      {"<V2", INDIM_BF16, 4, "bf16[2]{0} {0, 1}"},
      {"|V2", INDIM_F16, 4, "f16[2]{0} {0, 1.875}"},
      {">V2", INDIM_BF16, 4, "bf16[2]{0} {0, 1}"},
      {"bfloat16", NONE, 4, "bf16[2]{0} {0, 1}"},
      {"<f1", NONE, 4, "f8e5m2[4]{0} {0, 0, -0, 1.8}"},
      {"|V1", INDIM_S4, 4, "s4[4]{0} {0, 0, 0, -1}"},
      {"<V1", INDIM_U2, 4, "u2[4]{0} {0, 0, 0, 3}"},
      {"int4", NONE, 4, "s4[4]{0} {0, 0, 0, -1}"},
      {"<V16", INDIM_C128, 16, "c128[1]{0} {(2.0000004731118679, 4.94065645841247e-324)}"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char header[120];
    indim_shape shape;
    indim_ctx *cx = test_cx_new();
    indim_arena *arena = NULL;
    CHECK_OK(cx, indim_arena_create(cx, &arena));
    const char *end = strchr(cases[i].expected, ' ');
    CHECK_OK(cx,
             indim_shape_parse(cx, (indim_str){cases[i].expected, (size_t)(end - cases[i].expected)}, arena, &shape));
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }\n", cases[i].descr,
             (int)shape.sizes[0]);
    check_reads(1, header, cases[i].type, bytes, cases[i].size, cases[i].expected);
    indim_arena_destroy(arena);
    test_cx_free(cx);
  }
}

TEST(refuses_types) {
  const struct {
    const char *descr;
    indim_type type;
    indim_status status;
    const char *part;
  } cases[] = {{"|O", NONE, INDIM_UNSUPPORTED, "Python objects"},
               {"<U3", NONE, INDIM_UNSUPPORTED, "'<U3' is text"},
               {"|S3", NONE, INDIM_UNSUPPORTED, "'|S3' is text"},
               {"<M8[s]", NONE, INDIM_UNSUPPORTED, "a date"},
               {"<m8[ns]", NONE, INDIM_UNSUPPORTED, "a date"},
               {"<f16", NONE, INDIM_UNSUPPORTED, "'<f16' has no counterpart"},
               {"<c32", NONE, INDIM_UNSUPPORTED, "has no counterpart"},
               {"<i3", NONE, INDIM_UNSUPPORTED, "has no counterpart"},
               {"<W4", NONE, INDIM_UNSUPPORTED, "has no counterpart"},
               {"<V2", NONE, INDIM_UNSUPPORTED, "raw bytes"},
               {"<V1", NONE, INDIM_UNSUPPORTED, "raw bytes"},
               {"<V7", NONE, INDIM_UNSUPPORTED, "raw bytes"},
               {"<V2", INDIM_F8E4M3, INDIM_INVALID, "elements of 2 bytes ('<V2') cannot be f8e4m3"},
               {"<V1", INDIM_TUPLE, INDIM_INVALID, "cannot be tuple"},
               {"", NONE, INDIM_UNSUPPORTED, "is not known"},
               {"<", NONE, INDIM_UNSUPPORTED, "is not known"},
               {"<f", NONE, INDIM_UNSUPPORTED, "is not known"},
               {"float23", NONE, INDIM_UNSUPPORTED, "'float23' is not known"},
               {"<f4444444444444444444", NONE, INDIM_UNSUPPORTED, "is not known"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char header[120];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }\n", cases[i].descr);
    check_refuses(header, cases[i].type, 4, cases[i].status, cases[i].part);
  }
  check_refuses("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", NONE, 4, INDIM_UNSUPPORTED,
                "structure of fields");
}

TEST(refuses_headers) {
  const char *const descr = "{'descr': '<f4', ";
  const struct {
    const char *rest;
    indim_status status;
    const char *part;
  } cases[] = {{"'fortran_order': False, 'shape': (1,)", INDIM_SYNTAX, "',' or '}'"},
               {"'fortran_order': False, 'shape': (1)}", INDIM_SYNTAX, "a tuple such as (3,)"},
               {"'fortran_order': False, 'shape': 1}", INDIM_SYNTAX, "'(' of the shape"},
               {"'fortran_order': False, 'shape': (1,,)}", INDIM_SYNTAX, "a size"},
               {"'fortran_order': False, 'shape': (1 1)}", INDIM_SYNTAX, "',' or ')'"},
               {"'fortran_order': False, 'shape': (-1,)}", INDIM_SYNTAX, "a size of 0 or more"},
               {"'fortran_order': False, 'shape': (1.5,)}", INDIM_SYNTAX, "',' or ')'"},
               {"'fortran_order': False, 'shape': (9223372036854775808,)}", INDIM_SYNTAX, "below 2^63"},
               {"'fortran_order': False, 'shape': (4611686018427387904,)}", INDIM_INVALID, "overflow"},
               {"'fortran_order': False, 'shape': (99999999999,)}", INDIM_INVALID, "399999999996 bytes"},
               {"'fortran_order': 0, 'shape': (1,)}", INDIM_SYNTAX, "True or False"},
               {"'fortran_order' False, 'shape': (1,)}", INDIM_SYNTAX, "':'"},
               {"'fortran_order': False, 'shape': (1,), 'x': 1}", INDIM_SYNTAX, "the key 'x' besides"},
               {"'fortran_order': False, 'shape': (1,), 'descr': '<f4'}", INDIM_SYNTAX, "the key 'descr' twice"},
               {"'fortran_order': False}", INDIM_SYNTAX, "no key 'shape'"},
               {"'shape': (1,)}", INDIM_SYNTAX, "no key 'fortran_order'"},
               {"'fortran_order': False, 'shape': (1,)} x", INDIM_SYNTAX, "nothing but blanks"},
               {"'fortran_order': False 'shape': (1,)}", INDIM_SYNTAX, "',' or '}'"},
               {"fortran_order: False, 'shape': (1,)}", INDIM_SYNTAX, "a string"},
               {"'fortran_order: False", INDIM_SYNTAX, "a closed string"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char header[200];
    snprintf(header, sizeof header, "%s%s", descr, cases[i].rest);
    check_refuses(header, NONE, 4, cases[i].status, cases[i].part);
  }
  check_refuses("", NONE, 4, INDIM_SYNTAX, "expected '{', found its end");
  check_refuses("[1]", NONE, 4, INDIM_SYNTAX, "expected '{', found '[1]'");
  check_refuses("{'fortran_order': False, 'shape': (1,)}", NONE, 4, INDIM_SYNTAX, "no key 'descr'");
  check_refuses("{'descr': 5, 'fortran_order': False, 'shape': (1,)}", NONE, 4, INDIM_SYNTAX, "a string");
  char deep[600] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 65; i++) {
    strcat(deep, "1,");
  }
  strcat(deep, ")}");
  check_refuses(deep, NONE, 4, INDIM_LIMIT, "above the largest, 64");
}

TEST(refuses_files) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  const float value = 1;
  file f = make_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", &value, 4);
  for (size_t size = 0; size < f.size; size++) {
    CHECK_FAILS(cx, indim_npy_parse(cx, f.bytes, size, NONE, &literal), INDIM_INVALID, ".npy: ");
  }
  CHECK_OK(cx, indim_npy_parse(cx, f.bytes, f.size, NONE, &literal));
  indim_literal_destroy(literal);
  CHECK_FAILS(cx, indim_npy_parse(cx, f.bytes, f.size + 1, NONE, &literal), INDIM_INVALID, "the file has 5");
  CHECK_FAILS(cx, indim_npy_parse(cx, NULL, 0, NONE, &literal), INDIM_INVALID, "NUMPY");
  CHECK_FAILS(cx, indim_npy_parse(cx, "PK\3\4 ........", 12, NONE, &literal), INDIM_INVALID, "NUMPY");
  CHECK_FAILS(cx, indim_npy_parse(cx, f.bytes, f.size, NONE, NULL), INDIM_INVALID, "NULL");
  f.bytes[6] = 4;
  CHECK_FAILS(cx, indim_npy_parse(cx, f.bytes, f.size, NONE, &literal), INDIM_UNSUPPORTED, "format 4.0");
  f.bytes[6] = 2;
  CHECK_FAILS(cx, indim_npy_parse(cx, f.bytes, f.size, NONE, &literal), INDIM_INVALID, "the header has");
  CHECK_FAILS(cx, indim_npy_parse(cx, f.bytes, 11, NONE, &literal), INDIM_INVALID, "inside its header");
  f.bytes[6] = 0;
  CHECK_FAILS(cx, indim_npy_parse(cx, f.bytes, f.size, NONE, &literal), INDIM_UNSUPPORTED, "format 0.0");
  f.bytes[6] = 1;
  f.bytes[7] = 1;
  CHECK_FAILS(cx, indim_npy_parse(cx, f.bytes, f.size, NONE, &literal), INDIM_UNSUPPORTED, "format 1.1");
  test_cx_free(cx);
}

// Writes the literal, reads it back: same values, and this header.
static void check_writes(const char *text, const char *header, const char *expected) {
  indim_ctx *cx = test_cx_new();
  indim_literal *literal = NULL;
  indim_literal *back = NULL;
  indim_literal *values = NULL;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  CHECK_OK(cx, indim_literal_parse(cx, indim_str_of(text), &literal));
  CHECK_OK(cx, indim_literal_parse(cx, indim_str_of(expected), &values));
  CHECK_OK(cx, indim_npy_print(cx, literal, &out));
  CHECK_MSG(out.size > 10 && strncmp(out.data + 10, header, strlen(header)) == 0, "%s: %.80s", text, out.data + 10);
  CHECK_MSG((10 + (unsigned char)out.data[8] + 256 * (unsigned char)out.data[9]) % 64 == 0, "%s: alignment", text);
  CHECK_OK(cx, indim_npy_parse(cx, out.data, out.size, indim_literal_shape(literal)->type, &back));
  CHECK_MSG(back != NULL && indim_literal_equal(back, values), "%s comes back", text);
  indim_buffer_deinit(&out);
  indim_literal_destroy(literal);
  indim_literal_destroy(back);
  indim_literal_destroy(values);
  test_cx_free(cx);
}

TEST(writes) {
  const char *values = "s32[2,3] {{1,2,3},{4,5,6}}";
  const char *c_order = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
  const char *f_order = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }";
  check_writes(values, c_order, values);
  check_writes("s32[2,3]{0,1} {{1,2,3},{4,5,6}}", f_order, values);
  check_writes("s32[2,3]{0,1:PAD(3,5;one)} {{1,2,3},{4,5,6}}", f_order, values);
  check_writes("s32[2,3]{1,0:T(2,2)} {{1,2,3},{4,5,6}}", c_order, values);
  check_writes("s32[<=4,3](2,3) {{1,2,3},{4,5,6}}", c_order, values);
  check_writes("s32[<=4,3]{0,1}(2,3) {{1,2,3},{4,5,6}}", f_order, values);
  check_writes("s32[2,1,3]{2,0,1} {{{1,2,3}},{{4,5,6}}}",
               "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1, 3), }", "s32[2,1,3] {{{1,2,3}},{{4,5,6}}}");
  check_writes("s32[2,1,2]{1,2,0} {{{1,2}},{{4,5}}}", "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1, 2), }",
               "s32[2,1,2] {{{1,2}},{{4,5}}}");
  check_writes("s32[2,2,2]{1,2,0} {{{1,2},{3,4}},{{5,6},{7,8}}}",
               "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2, 2), }",
               "s32[2,2,2] {{{1,2},{3,4}},{{5,6},{7,8}}}");
  check_writes("pred[] true", "{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "pred[] true");
  check_writes("bf16[2] {1,nan}", "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }", "bf16[2] {1,nan}");
  check_writes("f8e5m2[1] {3}", "{'descr': '<f1', 'fortran_order': False, 'shape': (1,), }", "f8e5m2[1] {3}");
  check_writes("s4[2]{0:E(4)} {-1,2}", "{'descr': '<V1', 'fortran_order': False, 'shape': (2,), }", "s4[2] {-1,2}");
  check_writes("f32[0,2]{0,1} {}", "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2), }", "f32[0,2] {}");
  check_writes("c128[1] {(1,2)}", "{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", "c128[1] {(1,2)}");
}

TEST(writes_every_type) {
  for (int t = 1; t < INDIM_TYPE_COUNT; t++) {
    indim_type type = (indim_type)t;
    if (indim_type_is_array(type)) {
      char text[80];
      snprintf(text, sizeof text, indim_type_is_complex(type) ? "%s[2] {(1,0), (0,1)}" : "%s[2] {%s, %s}",
               indim_type_text(type), type == INDIM_S1 ? "-1" : "1", type == INDIM_F8E8M0FNU ? "2" : "0");
      check_writes(text, "{'descr': '", text);
    }
  }
}

TEST(refuses_to_write) {
  indim_ctx *cx = test_cx_new();
  indim_literal *tuple = NULL;
  indim_literal *elided = NULL;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  CHECK_OK(cx, indim_literal_parse(cx, indim_str_of("(s32[] 1)"), &tuple));
  CHECK_OK(cx, indim_literal_parse(cx, indim_str_of("s32[5] {...}"), &elided));
  CHECK_FAILS(cx, indim_npy_print(cx, tuple, &out), INDIM_INVALID, "(s32[])");
  CHECK_FAILS(cx, indim_npy_print(cx, elided, &out), INDIM_INVALID, "{...}");
  CHECK_FAILS(cx, indim_npy_print(cx, elided, NULL), INDIM_INVALID, "NULL");
  CHECK_EQ_UINT(out.size, 0);
  indim_buffer_deinit(&out);
  indim_literal_destroy(tuple);
  indim_literal_destroy(elided);
  test_cx_free(cx);
}

#define CASES(X)               \
  X(reads_orders_and_versions) \
  X(reads_types)               \
  X(refuses_types)             \
  X(refuses_headers)           \
  X(refuses_files)             \
  X(writes)                    \
  X(writes_every_type)         \
  X(refuses_to_write)
TEST_MAIN(CASES)
