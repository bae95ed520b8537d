// The builder: the broadcast and reshape instructions it writes, the values they give when
// evaluated (2.1-2.10), the first error it keeps, and every call once.
#include "indim/builder.h"

#include <stdlib.h>

#include "indim/eval.h"
#include "indim/text.h"
#include "test.h"

static int32_t read_dims(const char *text, int64_t *out) {
  int32_t count = 0;
  for (const char *at = text; *at != '\0';) {
    char *end = NULL;
    out[count++] = strtoll(at, &end, 10);
    at = *end == ',' ? end + 1 : end;
  }
  return count;
}

static const indim_instr *constant(indim_ctx *cx, indim_builder *b, const char *text) {
  indim_literal *literal = NULL;
  CHECK_MSG(indim_literal_parse(cx, indim_str_of(text), &literal) == INDIM_OK, "%s does not parse", text);
  const indim_instr *instr = indim_build_constant(b, literal);
  indim_literal_destroy(literal);
  return instr;
}

// Finishes the module with |root| and evaluates it; the result as text, to be freed.
static char *result_text(indim_ctx *cx, indim_builder *b, const indim_instr *root) {
  indim_module *module = NULL;
  indim_literal *result = NULL;
  indim_builder_end(b, root);
  if (indim_builder_finish(b, &module) != INDIM_OK || indim_eval(cx, module, NULL, 0, NULL, &result) != INDIM_OK) {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
    printf("  error: %s\n", d == NULL ? "none recorded" : d->message);
    indim_module_destroy(module);
    return NULL;
  }
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_literal_print(result, (unsigned)INDIM_LITERAL_SHAPE | (unsigned)INDIM_LITERAL_ONE_LINE, &text);
  char *copy = malloc(text.size + 1);
  memcpy(copy, text.data, text.size + 1);
  indim_buffer_deinit(&text);
  indim_literal_destroy(result);
  indim_module_destroy(module);
  return copy;
}

// Reads |expected| and prints it back, so that rows may be written freely.
static void check_text(indim_ctx *cx, const char *id, char *actual, const char *expected) {
  indim_literal *literal = NULL;
  CHECK_MSG(indim_literal_parse(cx, indim_str_of(expected), &literal) == INDIM_OK, "%s: %s", id, expected);
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_literal_print(literal, (unsigned)INDIM_LITERAL_SHAPE | (unsigned)INDIM_LITERAL_ONE_LINE, &text);
  CHECK_MSG(actual != NULL && strcmp(actual, text.data) == 0, "%s: got %s, expected %s", id,
            actual == NULL ? "an error" : actual, text.data);
  indim_buffer_deinit(&text);
  indim_literal_destroy(literal);
  free(actual);
  indim_ctx_diagnostics_clear(cx);
}

static void with_context(void (*body)(indim_ctx *cx)) {
  indim_ctx *cx = NULL;
  CHECK(indim_ctx_create(NULL, &cx) == INDIM_OK);
  body(cx);
  CHECK_EQ_INT((int64_t)indim_ctx_memory_in_use(cx), 0);
  indim_ctx_destroy(cx);
}

// Values ------------------------------------------------------------------------------------------------------------

typedef struct row {
  const char *id;
  indim_op op;
  const char *direction;  // compare
  const char *lhs;
  const char *rhs;
  const char *dims;
  const char *expected;  // NULL: refused
} row;

#define M "f32[2,3] {{-2.5,3.14,1},{2.25,-10,3.33}}"
#define R3 "f32[2,2,2] {{{1,2},{3,4}},{{5,6},{7,8}}}"
#define T232 "f32[2,3,2] {{{1,2},{3,4},{5,6}},{{7,8},{9,10},{11,12}}}"

static const row rows[] = {
    {"S1", INDIM_OP_ADD, NULL, "f32[2,3] {{1,2,3},{4,5,6}}", "f32[3] {7,8,9}", "1", "f32[2,3] {{8,10,12},{11,13,15}}"},
    {"S2", INDIM_OP_ADD, NULL, "f32[2,3] {{1,2,3},{4,5,6}}", "f32[] 7", "", "f32[2,3] {{8,9,10},{11,12,13}}"},
    {"S3", INDIM_OP_ADD, NULL, "f32[2,3] {{1,2,3},{4,5,6}}", "f32[3] {7,8,9}", "", NULL},
    {"S4", INDIM_OP_ADD, NULL, "f32[3,3] {{0,0,0},{0,0,0},{0,0,0}}", "f32[3] {7,8,9}", "1",
     "f32[3,3] {{7,8,9},{7,8,9},{7,8,9}}"},
    {"S5", INDIM_OP_ADD, NULL, "f32[3,3] {{0,0,0},{0,0,0},{0,0,0}}", "f32[3] {7,8,9}", "0",
     "f32[3,3] {{7,7,7},{8,8,8},{9,9,9}}"},
    {"S15", INDIM_OP_ADD, NULL, "f32[2,1] {{10},{20}}", "f32[1,3] {{1,2,3}}", "", "f32[2,3] {{11,12,13},{21,22,23}}"},
    {"S16", INDIM_OP_ADD, NULL, "f32[4] {1,2,3,4}", "f32[1,2] {{5,6}}", "0", "f32[4,2] {{6,7},{7,8},{8,9},{9,10}}"},
    {"C10", INDIM_OP_ADD, NULL, "f32[2] {20,40}", "f32[2,2] {{10,50},{77,88}}", "1", "f32[2,2] {{30,90},{97,128}}"},
    {"C11", INDIM_OP_ADD, NULL, "f32[2] {20,40}", "f32[2,2] {{10,50},{77,88}}", "0", "f32[2,2] {{30,70},{117,128}}"},
    {"C12", INDIM_OP_ADD, NULL, "f32[3] {20,40,60}", M, "1", "f32[2,3] {{17.5,43.14,61},{22.25,30,63.33}}"},
    {"C13", INDIM_OP_MULTIPLY, NULL, "f32[3] {2,4,6}", "f32[2,3] {{1.5,2.5,3.5},{4.5,5.5,6.5}}", "1",
     "f32[2,3] {{3,10,21},{9,22,39}}"},
    {"C14", INDIM_OP_ADD, NULL, "f32[2] {10,20}", R3, "0", "f32[2,2,2] {{{11,12},{13,14}},{{25,26},{27,28}}}"},
    {"C15", INDIM_OP_ADD, NULL, "f32[2] {10,20}", R3, "1", "f32[2,2,2] {{{11,12},{23,24}},{{15,16},{27,28}}}"},
    {"C16", INDIM_OP_ADD, NULL, "f32[2] {10,20}", R3, "2", "f32[2,2,2] {{{11,22},{13,24}},{{15,26},{17,28}}}"},
    {"C17", INDIM_OP_ADD, NULL, T232, "f32[2,3] {{10,20,30},{40,50,60}}", "0,1",
     "f32[2,3,2] {{{11,12},{23,24},{35,36}},{{47,48},{59,60},{71,72}}}"},
    {"C18 inner", INDIM_OP_ADD, NULL, T232, "f32[2] {100,200}", "2",
     "f32[2,3,2] {{{101,202},{103,204},{105,206}},{{107,208},{109,210},{111,212}}}"},
    {"C18 outer", INDIM_OP_ADD, NULL, T232, "f32[2] {100,200}", "0",
     "f32[2,3,2] {{{101,102},{103,104},{105,106}},{{207,208},{209,210},{211,212}}}"},
    {"C21", INDIM_OP_MAXIMUM, NULL, M, "f32[3] {2,3,4}", "1", "f32[2,3] {{2,3.14,4},{2.25,3,4}}"},
    {"C22", INDIM_OP_MINIMUM, NULL, "f32[2,3] {{-10.4,64,6},{0.1,32,16.1}}", "f32[2] {-10.2,16.4}", "0",
     "f32[2,3] {{-10.4,-10.2,-10.2},{0.1,16.4,16.1}}"},
    {"C23", INDIM_OP_MINIMUM, NULL, "f32[2,3] {{-12.2,64.3,6.1},{0,32.2,2.5}}",
     "f32[2,2,1,3] {{{{-12.1,32.3,6.2}},{{0,32.5,3}}},{{{-2.5,64.29,6.5}},{{-0.01,32.25,2.6}}}}", "1,3",
     "f32[2,2,1,3] {{{{-12.2,32.3,6.1}},{{0,32.2,2.5}}},{{{-12.2,64.29,6.1}},{{-0.01,32.2,2.5}}}}"},
    {"C24", INDIM_OP_COMPARE, "EQ", "s32[2] {42,73}", "s32[2,2] {{42,73},{42,52}}", "1", "pred[2,2] {{1,1},{1,0}}"},
    {"C25", INDIM_OP_COMPARE, "EQ", "s32[2] {42,73}", "s32[2,2] {{42,73},{42,52}}", "0", "pred[2,2] {{1,0},{0,0}}"},
    {"C26", INDIM_OP_COMPARE, "GE", "s32[4] {1,2,3,4}", "s32[2,4] {{1,0,5,6},{42,52,10,4}}", "1",
     "pred[2,4] {{1,1,0,0},{0,0,0,1}}"},
    {"C27", INDIM_OP_COMPARE, "GT", "s32[4] {1,2,3,4}", "s32[2,4] {{1,0,5,6},{42,52,10,4}}", "1",
     "pred[2,4] {{0,1,0,0},{0,0,0,0}}"},
    {"C28", INDIM_OP_COMPARE, "LE", "s32[4] {1,2,3,4}", "s32[2,4] {{1,0,5,6},{42,52,10,4}}", "1",
     "pred[2,4] {{1,0,1,1},{1,1,1,1}}"},
    {"C29", INDIM_OP_COMPARE, "LT", "s32[4] {1,2,3,4}", "s32[2,4] {{1,0,5,6},{42,52,10,4}}", "1",
     "pred[2,4] {{0,0,1,1},{1,1,1,0}}"},
    {"C55", INDIM_OP_ADD, NULL, "f32[2,2] {{1,2},{3,4}}", "f32[1,2] {{1,2}}", "", "f32[2,2] {{2,4},{4,6}}"},
    {"C56", INDIM_OP_ADD, NULL, "f32[2,2] {{1,2},{3,4}}", "f32[2,1] {{1},{2}}", "", "f32[2,2] {{2,3},{5,6}}"},
    {"C57", INDIM_OP_ADD, NULL, R3, "f32[2,1,1] {{{1}},{{2}}}", "", "f32[2,2,2] {{{2,3},{4,5}},{{7,8},{9,10}}}"},
    {"C58", INDIM_OP_ADD, NULL, R3, "f32[1,1,2] {{{1,2}}}", "", "f32[2,2,2] {{{2,4},{4,6}},{{6,8},{8,10}}}"},
    {"C59", INDIM_OP_ADD, NULL, R3, "f32[1,2,1] {{{1},{2}}}", "", "f32[2,2,2] {{{2,3},{5,6}},{{6,7},{9,10}}}"},
    {"C60", INDIM_OP_ADD, NULL, R3, "f32[1,2,2] {{{1,2},{3,4}}}", "", "f32[2,2,2] {{{2,4},{6,8}},{{6,8},{10,12}}}"},
    {"C61", INDIM_OP_ADD, NULL, R3, "f32[2,1,2] {{{1,2}},{{3,4}}}", "", "f32[2,2,2] {{{2,4},{4,6}},{{8,10},{10,12}}}"},
    {"C62", INDIM_OP_ADD, NULL, R3, "f32[2,2,1] {{{1},{2}},{{3},{4}}}", "",
     "f32[2,2,2] {{{2,3},{5,6}},{{8,9},{11,12}}}"},
    {"C63", INDIM_OP_ADD, NULL, R3, "f32[1,1,1] {{{1}}}", "", "f32[2,2,2] {{{2,3},{4,5}},{{6,7},{8,9}}}"},
    {"C64", INDIM_OP_ADD, NULL, M, "f32[1,3] {{10,20,30}}", "", "f32[2,3] {{7.5,23.14,31},{12.25,10,33.33}}"},
    {"C65", INDIM_OP_ADD, NULL, M, "f32[2,1] {{10},{20}}", "", "f32[2,3] {{7.5,13.14,11},{22.25,10,23.33}}"},
    {"C66", INDIM_OP_ADD, NULL, "f32[4,1] {{0},{10},{20},{30}}", "f32[1,3] {{1,2,3}}", "",
     "f32[4,3] {{1,2,3},{11,12,13},{21,22,23},{31,32,33}}"},
    {"C67", INDIM_OP_SUBTRACT, NULL, "f32[1] {2}", "f32[2] {4,5}", "", "f32[2] {-2,-3}"},
    {"C72", INDIM_OP_ADD, NULL, "f32[1,2] {{1,5}}", "f32[2,3,1] {{{2},{3},{4}},{{5},{6},{7}}}", "1,2",
     "f32[2,3,2] {{{3,7},{4,8},{5,9}},{{6,10},{7,11},{8,12}}}"},
    {"C73", INDIM_OP_AND, NULL, "pred[2,1] {{1},{0}}", "pred[2,2,1] {{{0},{0}},{{1},{1}}}", "1,2",
     "pred[2,2,1] {{{0},{0}},{{1},{0}}}"},
    {"C80", INDIM_OP_MAXIMUM, NULL, "f32[1] {5}", "f32[0] {}", "", "f32[0] {}"},
    {"C81", INDIM_OP_ADD, NULL, "f32[1] {5}", "f32[0,2] {}", "1", "f32[0,2] {}"},
    {"C84", INDIM_OP_ADD, NULL, "s32[2,0,3] {{},{}}", "s32[] 1", "", "s32[2,0,3] {{},{}}"},
    {"C90", INDIM_OP_ADD, NULL, "f32[2] {1,2}", "s32[2] {1,2}", "", NULL},
    {"C91", INDIM_OP_ADD, NULL, "bf16[2] {1,2}", "f32[2] {0.001,2}", "", "f32[2] {1.001,4}"},
    {"C93", INDIM_OP_ADD, NULL, "pred[2] {1,1}", "pred[2] {1,0}", "", "pred[2] {1,1}"},
    {"C94", INDIM_OP_SUBTRACT, NULL, "pred[2] {1,1}", "pred[2] {1,0}", "", NULL},
    {"C95", INDIM_OP_AND, NULL, "f32[2] {1,1}", "f32[2] {1,0}", "", NULL},
    {"C96", INDIM_OP_COMPLEX, NULL, "f32[2] {1,2}", "f32[] 3", "", "c64[2] {(1,3),(2,3)}"},
    {"C96 s32", INDIM_OP_COMPLEX, NULL, "s32[2] {1,2}", "s32[] 3", "", NULL},
    {"C97", INDIM_OP_COMPARE, "EQ", "c64[2] {(1,2),(3,4)}", "c64[2] {(1,2),(3,5)}", "", "pred[2] {1,0}"},
    {"C99", INDIM_OP_COMPLEX, NULL, "f32[2] {1,2}", "f32[3,2] {{1,2},{3,4},{5,6}}", "1",
     "c64[3,2] {{(1,1),(2,2)},{(1,3),(2,4)},{(1,5),(2,6)}}"},
};

static void run_values(indim_ctx *cx) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const row *r = &rows[i];
    int64_t dims[8];
    int32_t count = read_dims(r->dims, dims);
    indim_builder *b = NULL;
    CHECK(indim_builder_create(cx, "case", &b) == INDIM_OK);
    indim_builder_begin(b, "main");
    const indim_instr *lhs = constant(cx, b, r->lhs);
    const indim_instr *rhs = constant(cx, b, r->rhs);
    const indim_instr *root = r->op == INDIM_OP_COMPARE
                                  ? indim_build_compare(b, lhs, rhs, r->direction, NULL, dims, count)
                                  : indim_build_binary(b, r->op, lhs, rhs, dims, count);
    if (r->expected == NULL) {
      CHECK_MSG(root == NULL && indim_builder_status(b) == INDIM_INVALID, "%s: not refused", r->id);
      CHECK_MSG(indim_ctx_diagnostic_count(cx) == 1, "%s: %zu diagnostics", r->id, indim_ctx_diagnostic_count(cx));
      indim_ctx_diagnostics_clear(cx);
    } else {
      check_text(cx, r->id, result_text(cx, b, root), r->expected);
    }
    indim_builder_destroy(b);
  }
}
TEST(values) { with_context(run_values); }

// Emission ----------------------------------------------------------------------------------------------------------

// The text of the instructions that an add of two parameters becomes.
static void emission(indim_ctx *cx, const char *lhs, const char *rhs, const char *dims_text, const char *expected) {
  int64_t dims[8];
  int32_t count = read_dims(dims_text, dims);
  indim_shape shapes[2];
  indim_builder *b = NULL;
  indim_module *module = NULL;
  CHECK(indim_shape_parse(cx, indim_str_of(lhs), NULL, &shapes[0]) == INDIM_OK);
  CHECK(indim_shape_parse(cx, indim_str_of(rhs), NULL, &shapes[1]) == INDIM_OK);
  CHECK(indim_builder_create(cx, "m", &b) == INDIM_OK);
  indim_builder_begin(b, "e");
  const indim_instr *p0 = indim_build_parameter(b, 0, &shapes[0], "p0");
  const indim_instr *p1 = indim_build_parameter(b, 1, &shapes[1], "p1");
  indim_builder_end(b, indim_build_binary(b, INDIM_OP_ADD, p0, p1, dims, count));
  CHECK(indim_builder_finish(b, &module) == INDIM_OK);
  indim_buffer text;
  indim_buffer_init(&text, cx);
  const indim_computation *entry = indim_module_entry(module);
  for (int64_t i = 2; i < indim_computation_instr_count(entry); i++) {
    indim_instr_print(indim_computation_instr(entry, i), 0, &text);
    indim_buffer_char(&text, '\n');
  }
  CHECK_EQ_STR(text.data, expected);
  indim_buffer_deinit(&text);
  indim_module_destroy(module);
  indim_builder_destroy(b);
}

static void run_emission(indim_ctx *cx) {
  emission(cx, "f32[4]", "f32[1,2]", "0",
           "broadcast.2 = f32[4,2]{1,0} broadcast(p0), dimensions={0}\n"
           "reshape.3 = f32[2]{0} reshape(p1)\n"
           "broadcast.4 = f32[4,2]{1,0} broadcast(reshape.3), dimensions={1}\n"
           "ROOT add.5 = f32[4,2]{1,0} add(broadcast.2, broadcast.4)\n");
  emission(cx, "f32[1,2]", "f32[4,3,1]", "1,2",
           "broadcast.2 = f32[4,1,2]{2,1,0} broadcast(p0), dimensions={1,2}\n"
           "reshape.3 = f32[4,2]{1,0} reshape(broadcast.2)\n"
           "broadcast.4 = f32[4,3,2]{2,1,0} broadcast(reshape.3), dimensions={0,2}\n"
           "reshape.5 = f32[4,3]{1,0} reshape(p1)\n"
           "broadcast.6 = f32[4,3,2]{2,1,0} broadcast(reshape.5), dimensions={0,1}\n"
           "ROOT add.7 = f32[4,3,2]{2,1,0} add(broadcast.4, broadcast.6)\n");
  emission(cx, "f32[2,3]", "f32[2,1,4]", "0,1",
           "broadcast.2 = f32[2,3,4]{2,1,0} broadcast(p0), dimensions={0,1}\n"
           "reshape.3 = f32[2,4]{1,0} reshape(p1)\n"
           "broadcast.4 = f32[2,3,4]{2,1,0} broadcast(reshape.3), dimensions={0,2}\n"
           "ROOT add.5 = f32[2,3,4]{2,1,0} add(broadcast.2, broadcast.4)\n");
  emission(cx, "f32[1,2,3]", "f32[1,2,1]", "",
           "reshape.2 = f32[1,2]{1,0} reshape(p1)\n"
           "broadcast.3 = f32[1,2,3]{2,1,0} broadcast(reshape.2), dimensions={0,1}\n"
           "ROOT add.4 = f32[1,2,3]{2,1,0} add(p0, broadcast.3)\n");
  emission(cx, "f32[2,1]", "f32[1,3]", "",
           "reshape.2 = f32[2]{0} reshape(p0)\n"
           "broadcast.3 = f32[2,3]{1,0} broadcast(reshape.2), dimensions={0}\n"
           "reshape.4 = f32[3]{0} reshape(p1)\n"
           "broadcast.5 = f32[2,3]{1,0} broadcast(reshape.4), dimensions={1}\n"
           "ROOT add.6 = f32[2,3]{1,0} add(broadcast.3, broadcast.5)\n");
  emission(cx, "f32[]", "f32[2,3]", "",
           "broadcast.2 = f32[2,3]{1,0} broadcast(p0), dimensions={}\n"
           "ROOT add.3 = f32[2,3]{1,0} add(broadcast.2, p1)\n");
  emission(cx, "f32[3]", "f32[2,3]", "1",
           "broadcast.2 = f32[2,3]{1,0} broadcast(p0), dimensions={1}\n"
           "ROOT add.3 = f32[2,3]{1,0} add(broadcast.2, p1)\n");
}
TEST(emission) { with_context(run_emission); }

// Every call --------------------------------------------------------------------------------------------------------

static indim_builder *start(indim_ctx *cx) {
  indim_builder *b = NULL;
  CHECK(indim_builder_create(cx, "m", &b) == INDIM_OK);
  return b;
}

static void finish(indim_ctx *cx, indim_builder *b, const char *id, const indim_instr *root, const char *expected) {
  check_text(cx, id, result_text(cx, b, root), expected);
  indim_builder_destroy(b);
}

static void run_moves(indim_ctx *cx) {
  indim_builder *b = start(cx);
  indim_builder_begin(b, "e");
  const indim_instr *x = constant(cx, b, "f32[2,3] {{1,2,3},{4,5,6}}");
  const indim_instr *one = indim_build_scalar_int(b, INDIM_S32, 1);
  const indim_instr *zero = indim_build_scalar(b, INDIM_F32, 0);
  int64_t sizes[] = {3, 2};
  const indim_instr *starts[] = {indim_build_scalar_int(b, INDIM_S32, 0), one};
  const indim_instr *parts[] = {
      indim_build_reshape(b, x, sizes, 2),
      indim_build_transpose(b, x, (int64_t[]){1, 0}, 2),
      indim_build_reverse(b, x, (int64_t[]){1}, 1),
      indim_build_slice(b, x, (int64_t[]){0, 1}, (int64_t[]){2, 3}, NULL),
      indim_build_slice(b, x, (int64_t[]){0, 0}, (int64_t[]){2, 3}, (int64_t[]){1, 2}),
      indim_build_dynamic_slice(b, x, starts, (int64_t[]){1, 2}),
      indim_build_dynamic_update_slice(b, x, constant(cx, b, "f32[1,1] {{9}}"), starts),
      indim_build_pad(b, x, zero, (int64_t[]){0, -1}, (int64_t[]){1, 0}, (int64_t[]){0, 1}),
      indim_build_broadcast(b, constant(cx, b, "f32[2] {1,2}"), (int64_t[]){2}, 1),
      indim_build_broadcast_in_dim(b, constant(cx, b, "f32[1,2] {{1,2}}"), (int64_t[]){3, 2}, 2, (int64_t[]){0, 1}, 2),
  };
  const indim_instr *both[] = {x, x};
  const indim_instr *more[] = {indim_build_concatenate(b, both, 2, 1),
                               parts[0],
                               parts[1],
                               parts[2],
                               parts[3],
                               parts[4],
                               parts[5],
                               parts[6],
                               parts[7],
                               parts[8],
                               parts[9]};
  finish(cx, b, "moves", indim_build_tuple(b, more, 11),
         "(f32[2,6] {{1,2,3,1,2,3},{4,5,6,4,5,6}}, f32[3,2] {{1,2},{3,4},{5,6}}, f32[3,2] {{1,4},{2,5},{3,6}}, "
         "f32[2,3] {{3,2,1},{6,5,4}}, f32[2,2] {{2,3},{5,6}}, f32[2,2] {{1,3},{4,6}}, f32[1,2] {{2,3}}, "
         "f32[2,3] {{1,9,3},{4,5,6}}, f32[3,4] {{0,2,0,3},{0,5,0,6},{0,0,0,0}}, f32[2,2] {{1,2},{1,2}}, "
         "f32[3,2] {{1,2},{1,2},{1,2}})");
}
TEST(moves) { with_context(run_moves); }

static void run_elementwise(indim_ctx *cx) {
  indim_builder *b = start(cx);
  indim_shape shape;
  indim_builder_begin(b, "e");
  CHECK(indim_shape_init(cx, INDIM_S32, 2, (int64_t[]){2, 2}, &shape) == INDIM_OK);
  const indim_instr *x = constant(cx, b, "f32[3] {-1.5,0,7}");
  const indim_instr *p = constant(cx, b, "pred[3] {1,0,1}");
  const indim_instr *low = indim_build_scalar(b, INDIM_F32, -1);
  const indim_instr *parts[] = {
      indim_build_unary(b, INDIM_OP_ABS, x),
      indim_build_select(b, p, x, low),
      indim_build_clamp(b, low, x, indim_build_scalar(b, INDIM_F32, 5)),
      indim_build_convert(b, x, INDIM_S8),
      indim_build_convert(b, constant(cx, b, "c64[1] {(2,3)}"), INDIM_F32),
      indim_build_bitcast_convert(b, constant(cx, b, "s32[2] {1,2}"), INDIM_U8),
      indim_build_bitcast_convert(b, constant(cx, b, "u8[2,4] {{1,0,0,0},{2,0,0,0}}"), INDIM_S32),
      indim_build_reduce_precision(b, constant(cx, b, "f32[1] {1.0009765625}"), 5, 7),
      indim_build_iota(b, &shape, 1),
      indim_build_compare(b, x, low, "LT", "TOTALORDER", NULL, 0),
      indim_build_scalar(b, INDIM_S32, -3.9),
  };
  finish(cx, b, "elementwise", indim_build_tuple(b, parts, 11),
         "(f32[3] {1.5,0,7}, f32[3] {-1.5,-1,7}, f32[3] {-1,0,5}, s8[3] {-1,0,7}, f32[1] {2}, "
         "u8[2,4] {{1,0,0,0},{2,0,0,0}}, s32[2] {1,2}, f32[1] {1}, s32[2,2] {{0,1},{0,1}}, pred[3] {1,0,0}, s32[] -3)");
}
TEST(elementwise) { with_context(run_elementwise); }

// sum of squares below 10 by a loop, a map, a conditional, a call, a reduce and a dot.
static void run_control(indim_ctx *cx) {
  indim_builder *b = start(cx);
  indim_shape s32;
  indim_shape f32;
  CHECK(indim_shape_init(cx, INDIM_S32, 0, NULL, &s32) == INDIM_OK);
  CHECK(indim_shape_init(cx, INDIM_F32, 0, NULL, &f32) == INDIM_OK);
  indim_builder_begin(b, "below_ten");
  const indim_instr *c = indim_build_parameter(b, 0, &s32, "c");
  const indim_computation *below =
      indim_builder_end(b, indim_build_compare(b, c, indim_build_scalar_int(b, INDIM_S32, 10), "LT", NULL, NULL, 0));
  indim_builder_begin(b, "plus_three");
  const indim_instr *n = indim_build_parameter(b, 0, &s32, NULL);
  const indim_computation *plus =
      indim_builder_end(b, indim_build_binary(b, INDIM_OP_ADD, n, indim_build_scalar_int(b, INDIM_S32, 3), NULL, 0));
  indim_builder_begin(b, "add");
  const indim_instr *u = indim_build_parameter(b, 0, &f32, "u");
  const indim_instr *v = indim_build_parameter(b, 1, &f32, "v");
  const indim_computation *add = indim_builder_end(b, indim_build_binary(b, INDIM_OP_ADD, u, v, NULL, 0));
  indim_builder_begin(b, "e");
  const indim_instr *zero = indim_build_scalar_int(b, INDIM_S32, 0);
  const indim_instr *loop = indim_build_while(b, below, plus, zero);
  const indim_instr *x = constant(cx, b, "f32[2,3] {{1,2,3},{4,5,6}}");
  const indim_instr *y = constant(cx, b, "f32[3,2] {{1,0},{0,1},{1,1}}");
  const indim_instr *init = indim_build_scalar(b, INDIM_F32, 100);
  const indim_instr *pair[] = {x, x};
  const indim_computation *branches[] = {plus, plus};
  const indim_instr *inputs[] = {loop, zero};
  indim_dot_dims dims = {(int64_t[]){1}, (int64_t[]){0}, 1, NULL, NULL, 0};
  const indim_instr *parts[] = {
      loop,
      indim_build_reduce(b, &x, &init, 1, add, (int64_t[]){1}, 1),
      indim_build_map(b, pair, 2, add),
      indim_build_dot(b, x, y, &dims),
      indim_build_call(b, plus, &loop, 1),
      indim_build_conditional(b, constant(cx, b, "pred[] false"), branches, inputs, 2),
      indim_build_conditional(b, constant(cx, b, "s32[] 7"), branches, inputs, 2),
  };
  const indim_instr *tuple = indim_build_tuple(b, parts, 7);
  const indim_instr *root[] = {tuple, indim_build_get_tuple_element(b, tuple, 4)};
  finish(cx, b, "control", indim_build_tuple(b, root, 2),
         "((s32[] 12, f32[2] {106,115}, f32[2,3] {{2,4,6},{8,10,12}}, f32[2,2] {{4,5},{10,11}}, s32[] 15, s32[] 3, "
         "s32[] 3), s32[] 15)");
}
TEST(control) { with_context(run_control); }

// Errors ------------------------------------------------------------------------------------------------------------

// The first error is kept with its diagnostic; later calls return NULL and add nothing.
static void run_first_error(indim_ctx *cx) {
  indim_builder *b = start(cx);
  indim_module *module = (indim_module *)b;
  indim_builder_begin(b, "e");
  const indim_instr *x = constant(cx, b, "f32[2,3] {{1,2,3},{4,5,6}}");
  const indim_instr *v = constant(cx, b, "f32[3] {1,2,3}");
  const indim_instr *bad = indim_build_binary(b, INDIM_OP_ADD, x, v, NULL, 0);
  CHECK(bad == NULL);
  CHECK(indim_build_unary(b, INDIM_OP_ABS, bad) == NULL);
  CHECK(indim_build_unary(b, INDIM_OP_ABS, x) == NULL);
  CHECK(indim_builder_end(b, x) == NULL);
  CHECK_EQ_INT(indim_builder_finish(b, &module), INDIM_INVALID);
  CHECK(module == NULL);
  CHECK_EQ_INT((int64_t)indim_ctx_diagnostic_count(cx), 1);
  CHECK_EQ_STR(indim_ctx_diagnostic_get(cx, 0)->hint, "match it with dims {1}");
  indim_builder_destroy(b);
}
TEST(first_error) { with_context(run_first_error); }

static void expect_error(indim_ctx *cx, indim_builder *b, const char *fragment) {
  const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
  CHECK(indim_builder_status(b) != INDIM_OK);
  CHECK_MSG(d != NULL && strstr(d->message, fragment) != NULL, "message is \"%s\", expected \"%s\" in it",
            d == NULL ? "(none)" : d->message, fragment);
  indim_builder_destroy(b);
  indim_ctx_diagnostics_clear(cx);
}

static void run_misuse(indim_ctx *cx) {
  indim_shape f32;
  indim_module *module = NULL;
  CHECK(indim_shape_init(cx, INDIM_F32, 0, NULL, &f32) == INDIM_OK);
  indim_builder *b = start(cx);
  indim_build_scalar(b, INDIM_F32, 1);
  expect_error(cx, b, "outside a computation");
  b = start(cx);
  indim_builder_begin(b, "two words");
  expect_error(cx, b, "no name for a computation");
  b = start(cx);
  indim_builder_begin(b, "e");
  indim_builder_begin(b, "f");
  expect_error(cx, b, "end the open computation first");
  b = start(cx);
  indim_builder_begin(b, "e");
  indim_build_unary(b, INDIM_OP_ABS, NULL);
  expect_error(cx, b, "operand 0 is NULL");
  b = start(cx);
  indim_builder_begin(b, "e");
  indim_build_parameter(b, 0, NULL, "p");
  expect_error(cx, b, "the shape is NULL");
  b = start(cx);
  indim_builder_begin(b, "e");
  indim_build_parameter(b, 1, &f32, "p");
  indim_builder_end(b, indim_build_scalar(b, INDIM_F32, 1));
  expect_error(cx, b, "parameter number 1");
  b = start(cx);
  indim_builder_begin(b, "e");
  indim_build_parameter(b, 0, &f32, "p");
  indim_build_parameter(b, 1, &f32, "p");
  expect_error(cx, b, "already taken");
  b = start(cx);
  indim_builder_begin(b, "f");
  const indim_instr *other = indim_build_scalar(b, INDIM_F32, 1);
  indim_builder_end(b, other);
  indim_builder_begin(b, "e");
  indim_build_unary(b, INDIM_OP_ABS, other);
  expect_error(cx, b, "belongs to computation f");
  b = start(cx);
  CHECK_EQ_INT(indim_builder_finish(b, &module), INDIM_INVALID);
  expect_error(cx, b, "no finished computation");
  b = start(cx);
  indim_builder_begin(b, "e");
  indim_build_reshape(b, constant(cx, b, "f32[2] {1,2}"), NULL, 1);
  expect_error(cx, b, "NULL");
  b = start(cx);
  indim_builder_begin(b, "e");
  indim_build_broadcast_in_dim(b, constant(cx, b, "f32[2] {1,2}"), (int64_t[]){3, 3}, 2, (int64_t[]){0}, 1);
  expect_error(cx, b, "neither 1 nor size 3");  // B12
  b = start(cx);
  indim_builder_begin(b, "e");
  indim_build_broadcast_in_dim(b, constant(cx, b, "f32[3] {1,2,3}"), (int64_t[]){3}, 1, NULL, 0);
  expect_error(cx, b, "operand of rank 1");  // B10
  b = start(cx);
  indim_builder_begin(b, "e");
  indim_build_broadcast_in_dim(b, constant(cx, b, "f32[2,3] {{1,2,3},{1,2,3}}"), (int64_t[]){3}, 1, (int64_t[]){0, 1},
                               2);
  expect_error(cx, b, "equal or higher ranked");  // B11
  indim_builder_destroy(NULL);
}
TEST(misuse) { with_context(run_misuse); }

#define CASES(X) \
  X(values)      \
  X(emission)    \
  X(moves)       \
  X(elementwise) \
  X(control)     \
  X(first_error) \
  X(misuse)
TEST_MAIN(CASES)
