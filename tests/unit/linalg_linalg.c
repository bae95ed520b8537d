// Reading LAPACK's custom calls: which targets there are, and what is refused with which words.
#include "linalg/linalg.h"

#include <stdio.h>

#include "indim/text.h"
#include "literal_test.h"

// A custom call of two operands x and y with everything that can be wrong.
typedef struct call_text {
  const char *target;
  const char *x;
  const char *y;  // NULL: one operand
  const char *result;
  const char *constraints;  // NULL: none
  const char *attributes;   // NULL: none
  const char *expected;     // of the message; NULL: it is read
} call_text;

static const char potrf[] = "lapack_dpotrf_ffi";
static const char trsm[] = "lapack_ctrsm_ffi";
static const char gesdd[] = "lapack_zgesdd_ffi";
static const char lower[] = "{uplo = 76 : ui8}";
static const char solve[] = "{diag = 78 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}";
#define FACTOR "(f64[3,3]{0,1}, s32[])"
#define COLUMNS "f64[3,3]{0,1}"

static const call_text texts[] = {
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, lower, NULL},
    {potrf, "f64[3,3]", NULL, FACTOR, COLUMNS, "{\"uplo\"=85:ui8}", NULL},
    {potrf, "f64[4,2,3,3]", NULL, "(f64[4,2,3,3]{2,3,1,0}, s32[4,2]{1,0})", "f64[4,2,3,3]{2,3,1,0}", lower, NULL},
    {potrf, "f64[1,1]", NULL, "(f64[1,1], s32[])", "f64[1,1]", lower, NULL},
    {potrf, "f64[5,0,0]", NULL, "(f64[5,0,0], s32[5])", "f64[5,0,0]", lower, NULL},
    {potrf, "f64[2,1,1]", NULL, "(f64[2,1,1]{0,2,1}, s32[2])", "f64[2,1,1]{2,0,1}", lower, NULL},
    {trsm, "c64[2,2]", "c64[2,1]", "c64[2,1]", "c64[2,2]{0,1}, c64[2,1]", solve, NULL},
    // Targets.
    {"lapack_dpotrf", COLUMNS, NULL, FACTOR, COLUMNS, lower,
     "'lapack_dpotrf' is not known; known are lapack_{sdcz}potrf"},
    {"lapack_dheevd_ffi", COLUMNS, NULL, FACTOR, COLUMNS, lower, "'lapack_dheevd_ffi' is not known"},
    {"lapack_potrf_ffi", COLUMNS, NULL, FACTOR, COLUMNS, lower, "'lapack_potrf_ffi' is not known"},
    {"lapack__ffi", COLUMNS, NULL, FACTOR, COLUMNS, lower, "'lapack__ffi' is not known"},
    {"", COLUMNS, NULL, FACTOR, COLUMNS, lower, "'' is not known"},
    // Attributes.
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, NULL, "potrf needs the attribute uplo = 76 : ui8 ('L') or 85 : ui8 ('U')"},
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, "{}", "potrf needs the attribute uplo"},
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, "{uplo = 78 : ui8}", "uplo is 78 : ui8, expected uplo = 76 : ui8 ('L')"},
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, "{uplo = 76 : i32}", "uplo is 76 : i32, expected"},
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, "{uplo = 332 : ui8}", "uplo is 332 : ui8, expected"},
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, "{uplo = true}", "uplo is true, expected"},
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, "{uplo}", "uplo is , expected"},
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, "{uplo = 76 : ui8, low = 1 : i32}",
     "potrf takes no attribute low; it takes uplo"},
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, "{uplo = 76 : ui8, uplo = 76 : ui8}", "uplo stands there twice"},
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, "\"uplo\"", "character 1 is unexpected"},
    {potrf, COLUMNS, NULL, FACTOR, COLUMNS, "{uplo = 76 : ui8,}", "character 18 is unexpected"},
    {"lapack_dgees_ffi", COLUMNS, NULL, FACTOR, COLUMNS, "{mode = 86 : ui8, sort = 83 : ui8}",
     "sort is 83 : ui8, expected sort = 78 : ui8 ('N')"},
    {"lapack_dgehrd_ffi", COLUMNS, NULL, "(f64[3,3]{0,1}, f64[2], s32[])", COLUMNS, "{low = 0 : i32, high = 3 : i32}",
     "low = 0 and high = 3, expected 1 <= low <= high <= 3"},
    {"lapack_dgehrd_ffi", COLUMNS, NULL, "(f64[3,3]{0,1}, f64[2], s32[])", COLUMNS, "{low = 1 : i32, high = 4 : i32}",
     "high = 4, expected"},
    // Operands.
    {potrf, "f32[3,3]{0,1}", NULL, FACTOR, "f32[3,3]{0,1}", lower, "operand 0 (x) is f32[3,3], expected f64[n,n]"},
    {potrf, "f64[3,4]{0,1}", NULL, FACTOR, "f64[3,4]{0,1}", lower, "operand 0 (x) is f64[3,4], expected f64[3,3]"},
    {potrf, "f64[3]", NULL, FACTOR, "f64[3]", lower, "operand 0 (x) is f64[3], expected f64[n,n]"},
    {potrf, COLUMNS, COLUMNS, FACTOR, COLUMNS ", " COLUMNS, lower, "potrf takes 1 operands (x:T[n,n]), here are 2"},
    {trsm, "c64[2,2]", NULL, "c64[2,1]", "c64[2,2]{0,1}", solve, "trsm takes 2 or more operands"},
    {trsm, "c64[3,2,2]", "c64[2,2,1]", "c64[2,2,1]", "c64[3,2,2]{1,2,0}, c64[2,2,1]{1,2,0}", solve,
     "operand 1 (y) is c64[2,2,1], expected c64[3,m,n]"},
    {trsm, "c64[2,2]", "c64[3,2]", "c64[3,2]{0,1}", "c64[2,2]{0,1}, c64[3,2]{0,1}", solve,
     "has 2 rows, expected 3: it stands on the left"},
    {"lapack_dorgqr_ffi", "f64[2,3]", "f64[1]", "f64[2,3]{0,1}", "f64[2,3]{0,1}, f64[1]", NULL,
     "cannot have more columns than rows"},
    {"lapack_dorgqr_ffi", "f64[3,2]", "f64[3]", "f64[3,2]{0,1}", "f64[3,2]{0,1}, f64[3]", NULL,
     "operand 1 (taus) has 3 elements"},
    // Results.
    {potrf, COLUMNS, NULL, COLUMNS, COLUMNS, lower,
     "the result is f64[3,3], expected a tuple of 2 arrays (factor:T[n,n] info:I[])"},
    {potrf, COLUMNS, NULL, "(f64[3,3]{0,1}, s64[])", COLUMNS, lower, "result 1 (info) is s64[], expected s32[]"},
    {potrf, COLUMNS, NULL, "(f64[3,2]{0,1}, s32[])", COLUMNS, lower,
     "result 0 (factor) is f64[3,2], expected f64[3,3]"},
    {trsm, "c64[2,2]", "c64[2,1]", "(c64[2,1])", "c64[2,2]{0,1}, c64[2,1]", solve,
     "expected 1 array (solution:T[m,n])"},
    {gesdd, "c128[3,2]", NULL, "(c128[3,2]{0,1}, f64[2], c128[3,3]{0,1}, c128[2,2]{0,1}, s32[])", "c128[3,2]{0,1}",
     "{mode = 65 : ui8}", NULL},
    {gesdd, "c128[3,2]", NULL, "(c128[3,2]{0,1}, f64[2], c128[3,3]{0,1}, c128[2,2]{0,1}, s32[])", "c128[3,2]{0,1}",
     "{mode = 78 : ui8}", NULL},
    {gesdd, "c128[3,2]", NULL, "(c128[3,2]{0,1}, f64[2], c128[3,3]{0,1}, c128[2,2]{0,1}, s32[])", "c128[3,2]{0,1}",
     "{mode = 83 : ui8}", "u has 3 columns and vt 2 rows, expected 2 and 2 with mode 'S'"},
    {gesdd, "c128[3,2]", NULL, "(c128[3,2]{0,1}, c128[2], c128[3,3]{0,1}, c128[2,2]{0,1}, s32[])", "c128[3,2]{0,1}",
     "{mode = 65 : ui8}", "result 1 (s) is c128[2], expected f64[2]"},
    // Layouts.
    {potrf, COLUMNS, NULL, FACTOR, "f64[3,3]{1,0}", lower, "the layout of operand 0 (x) is {1,0}, expected {0,1}"},
    {potrf, COLUMNS, NULL, FACTOR, NULL, lower, "the layout of operand 0 (x) is {1,0}, expected {0,1}"},
    {potrf, COLUMNS, NULL, "(f64[3,3], s32[])", COLUMNS, lower,
     "the layout of result 0 (factor) is {1,0}, expected {0,1}"},
    {potrf, COLUMNS, NULL, "(f64[3,3]{0,1:T(2,2)}, s32[])", COLUMNS, lower, "the layout of result 0 (factor)"},
    {potrf, "f64[2,3,3]", NULL, "(f64[2,3,3]{1,2,0}, s32[2])", "f64[2,3,3]{0,1,2}", lower,
     "is {0,1,2}, expected {1,2,0}"},
};

static void print_program(const call_text *t, const char *version, char *out, size_t room) {
  char y[100] = "";
  char constraints[200] = "";
  char attributes[200] = "";
  if (t->y != NULL) {
    snprintf(y, sizeof y, "  y = %s parameter(1)\n", t->y);
  }
  if (t->constraints != NULL) {
    snprintf(constraints, sizeof constraints, ", operand_layout_constraints={%s}", t->constraints);
  }
  if (t->attributes != NULL) {
    snprintf(attributes, sizeof attributes, ", backend_config=%s", t->attributes);
  }
  snprintf(
      out, room,
      "HloModule m\nENTRY e {\n  x = %s parameter(0)\n%s  ROOT r = %s custom-call(x%s), custom_call_target=\"%s\"%s, "
      "api_version=%s%s\n}\n",
      t->x, y, t->result, t->y != NULL ? ", y" : "", t->target, constraints, version, attributes);
}

// The status of reading the root of the program.
static indim_status read_root(indim_ctx *cx, const char *program, indim_linalg_call *out) {
  indim_module *module = NULL;
  indim_status status = indim_module_parse(cx, indim_str_of("p"), indim_str_of(program), &module);
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  CHECK_MSG(status == INDIM_OK, "%s: %s", program, test_message(cx));
  if (status == INDIM_OK) {
    status = indim_linalg_read(cx, module->entry->root, out);
  }
  indim_module_destroy(module);
  return status;
}

TEST(calls_are_read_or_refused) {
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char program[1200];
    indim_linalg_call call;
    indim_ctx *cx = test_cx_new();
    print_program(&texts[i], "API_VERSION_TYPED_FFI", program, sizeof program);
    indim_status status = read_root(cx, program, &call);
    if (texts[i].expected == NULL) {
      CHECK_MSG(status == INDIM_OK, "%s: %s", program, test_message(cx));
    } else {
      CHECK_MSG(status != INDIM_OK && strstr(test_message(cx), texts[i].expected) != NULL,
                "%sgives \"%s\", expected \"%s\"", program, status == INDIM_OK ? "" : test_message(cx),
                texts[i].expected);
    }
    test_cx_free(cx);
  }
}

TEST(what_is_read) {
  char program[1200];
  indim_linalg_call call;
  indim_ctx *cx = test_cx_new();
  call_text text = {"lapack_zgesdd_ffi",
                    "c128[4,2,3,5]",
                    NULL,
                    "(c128[4,2,3,5]{2,3,1,0}, f64[4,2,3], c128[4,2,3,3]{2,3,1,0}, c128[4,2,3,5]{2,3,1,0}, s32[4,2])",
                    "c128[4,2,3,5]{2,3,1,0}",
                    "{mode = 83 : ui8}",
                    NULL};
  print_program(&text, "API_VERSION_TYPED_FFI", program, sizeof program);
  CHECK_OK(cx, read_root(cx, program, &call));
  CHECK_EQ_INT(call.target->id, INDIM_LINALG_GESDD);
  CHECK_EQ_INT(call.type, INDIM_C128);
  CHECK_EQ_INT(call.batch, 8);
  CHECK_EQ_INT(call.batch_rank, 2);
  CHECK_EQ_INT(indim_linalg_size(&call, 'm'), 3);
  CHECK_EQ_INT(indim_linalg_size(&call, 'n'), 5);
  CHECK_EQ_INT(indim_linalg_size(&call, 'k'), 3);
  CHECK_EQ_INT(indim_linalg_attr(&call, "mode"), 'S');
  CHECK_EQ_INT(call.result_count, 5);
  CHECK_EQ_INT(call.results[1].type, INDIM_F64);
  CHECK_EQ_INT(call.results[3].sizes[1], 5);
  CHECK_EQ_INT(call.results[4].rank, 0);
  test_cx_free(cx);
}

TEST(other_versions_of_the_interface) {
  char program[1200];
  indim_linalg_call call;
  indim_ctx *cx = test_cx_new();
  print_program(&texts[0], "API_VERSION_STATUS_RETURNING", program, sizeof program);
  CHECK_FAILS(cx, read_root(cx, program, &call), INDIM_INVALID,
              "api_version= is API_VERSION_STATUS_RETURNING, but potrf_ffi is called by API_VERSION_TYPED_FFI");
  test_cx_free(cx);
}

#define CASES(X)               \
  X(calls_are_read_or_refused) \
  X(what_is_read)              \
  X(other_versions_of_the_interface)
TEST_MAIN(CASES)
