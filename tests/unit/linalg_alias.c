// LAPACK's custom calls with the names that JAX gave them before 0.4.36, and XLA's: the calls of today that they become, and what
// is refused with which words.
#include "linalg/alias.h"

#include <stdio.h>

#include "indim/text.h"
#include "literal_test.h"

// A custom call of scalars and one matrix x, or two.
typedef struct call_text {
  const char *target;
  const char *scalars;  // values of s32, or of u8 with a 'V' before; p: a parameter; separated by blanks
  const char *arrays;   // shapes, separated by blanks
  const char *result;
  const char *config;    // of the call of today; NULL: it is refused
  const char *expected;  // that call's shape, or of the message
} call_text;

#define SQUARE "f64[2,3,3]{1,2,0}"
#define FACTOR "(" SQUARE ", s32[2])"
#define QR "(" SQUARE ", f64[2,3], s32[2], f64[7])"

static const call_text texts[] = {
    {"lapack_dpotrf", "1 2 3", SQUARE, FACTOR, "{uplo = 76 : ui8}", "(f64[2,3,3], s32[2])"},
    {"lapack_dpotrf", "0 2 3", SQUARE, FACTOR, "{uplo = 85 : ui8}", "(f64[2,3,3], s32[2])"},
    {"lapack_dgetrf", "2 3 3", SQUARE, "(" SQUARE ", s32[2,3], s32[2])", "{}", "(f64[2,3,3], s32[2,3], s32[2])"},
    {"lapack_dgeqrf", "2 3 3 7", SQUARE, QR, "{}", "(f64[2,3,3], f64[2,3])"},
    {"lapack_dorgqr", "2 3 3 3 7", SQUARE " f64[2,3]", "(" SQUARE ", s32[2], f64[7])", "{}", "f64[2,3,3]"},
    {"lapack_zungqr", "1 3 2 1 5", "c128[3,2]{0,1} c128[1]", "(c128[3,2]{0,1}, s32[], c128[5])", "{}", "c128[3,2]"},
    {"lapack_dsyevd", "1 2 3", SQUARE, "(" SQUARE ", f64[2,3], s32[2], f64[50], s32[20])",
     "{mode = 86 : ui8, uplo = 76 : ui8}", "(f64[2,3,3], f64[2,3], s32[2])"},
    {"lapack_cheevd", "0 1 2", "c64[2,2]{0,1}", "(c64[2,2]{0,1}, f32[2], s32[], c64[9], f32[8], s32[7])",
     "{mode = 86 : ui8, uplo = 85 : ui8}", "(c64[2,2], f32[2], s32[])"},
    {"lapack_dgesdd", "1 1 1 3 2 90", "f64[3,2]{0,1}",
     "(f64[3,2]{0,1}, f64[2], f64[3,3]{0,1}, f64[2,2]{0,1}, s32[], s32[16], f64[90])", "{mode = 65 : ui8}",
     "(f64[3,2], f64[2], f64[3,3], f64[2,2], s32[])"},
    {"lapack_zgesdd", "0 1 1 3 2 90", "c128[3,2]{0,1}",
     "(c128[3,2]{0,1}, f64[2], c128[3,2]{0,1}, c128[2,2]{0,1}, s32[], s32[16], f64[30], c128[90])", "{mode = 83 : ui8}",
     "(c128[3,2], f64[2], c128[3,2], c128[2,2], s32[])"},
    {"lapack_dgesdd", "1 0 1 3 2 90", "f64[3,2]{0,1}",
     "(f64[3,2]{0,1}, f64[2], f64[3,3]{0,1}, f64[2,2]{0,1}, s32[], s32[16], f64[90])", "{mode = 78 : ui8}",
     "(f64[3,2], f64[2], f64[3,3], f64[2,2], s32[])"},
    {"lapack_sgeev", "1 2 V86 V78", "f32[2,2]{0,1}",
     "(f32[2,2], f32[2,2], f32[2,2], f32[2], f32[2], c64[2,2]{0,1}, c64[2,2]{0,1}, s32[])",
     "{compute_left = 86 : ui8, compute_right = 78 : ui8}", "(f32[2], f32[2], c64[2,2], c64[2,2], s32[])"},
    {"lapack_cgeev", "1 2 V78 V86", "c64[2,2]{0,1}", "(c64[2,2], f32[4], c64[2], c64[2,2]{0,1}, c64[2,2]{0,1}, s32[])",
     "{compute_left = 78 : ui8, compute_right = 86 : ui8}", "(c64[2], c64[2,2], c64[2,2], s32[])"},
    {"lapack_sgees", "1 2 V86 V78", "f32[2,2]{0,1}", "(f32[2,2]{0,1}, f32[2], f32[2], f32[2,2]{0,1}, s32[], s32[])",
     "{mode = 86 : ui8, sort = 78 : ui8}", "(f32[2,2], f32[2,2], f32[2], f32[2], s32[], /*index=5*/s32[])"},
    {"lapack_zgees", "1 2 V78 V78", "c128[2,2]{0,1}", "(c128[2,2]{0,1}, f64[2], c128[2], c128[2,2]{0,1}, s32[], s32[])",
     "{mode = 78 : ui8, sort = 78 : ui8}", "(c128[2,2], c128[2,2], c128[2], s32[], s32[])"},
    {"lapack_dgehrd", "3 1 3 3 2 96", SQUARE, "(" SQUARE ", f64[2,2], s32[2], f64[96])",
     "{low = 1 : i32, high = 3 : i32}", "(f64[2,3,3], f64[2,2], s32[2])"},
    {"lapack_dsytrd", "3 1 3 2 8", SQUARE, "(" SQUARE ", f64[2,3], f64[2,2], f64[2,2], s32[2], f64[8])",
     "{uplo = 76 : ui8}", "(f64[2,3,3], f64[2,3], f64[2,2], f64[2,2], s32[2])"},
    {"lapack_chetrd", "1 0 1 1 8", "c64[1,1]", "(c64[1,1], f32[1], f32[0], c64[0], s32[], c64[8])", "{uplo = 85 : ui8}",
     "(c64[1,1], f32[1], f32[0], c64[0], s32[])"},
    {"blas_dtrsm", "1 0 2 1 2 1 1", "f64[] f64[2,2]{0,1} f64[2,1]", "f64[2,1]",
     "{side = 76 : ui8, uplo = 85 : ui8, trans_x = 67 : ui8, diag = 85 : ui8}", "f64[2,1]"},
    {"blas_dtrsm", "0 1 1 0 1 2 1", "f64[] f64[2,2]{0,1} f64[1,2]{0,1}", "f64[1,2]{0,1}",
     "{side = 82 : ui8, uplo = 76 : ui8, trans_x = 84 : ui8, diag = 78 : ui8}", "f64[1,2]"},
    // Scalars.
    {"lapack_dpotrf", "1 4 3", SQUARE, FACTOR, NULL, "operand 1 (batch) is 4, expected 2 from the shapes"},
    {"lapack_dpotrf", "1 2 4", SQUARE, FACTOR, NULL, "operand 2 (n) is 4, expected 3 from the shapes"},
    {"lapack_dpotrf", "1 2 -3", SQUARE, FACTOR, NULL, "operand 2 (n) is -3, expected 3 from the shapes"},
    {"lapack_dpotrf", "2 2 3", SQUARE, FACTOR, NULL, "operand 0 (lower) is 2, expected 0 or 1"},
    {"lapack_dpotrf", "-1 2 3", SQUARE, FACTOR, NULL, "operand 0 (lower) is -1, expected 0 or 1"},
    {"lapack_dpotrf", "1 p 3", SQUARE, FACTOR, NULL, "operand 1 (batch) is not a constant"},
    {"lapack_dpotrf", "1 V2 3", SQUARE, FACTOR, NULL, "operand 1 (batch) is u8[], expected s32[]"},
    {"lapack_dpotrf", "2 3", SQUARE, FACTOR, NULL, "potrf takes 4 operands (lower batch n x), here are 3"},
    {"lapack_dgeqrf", "2 3 3 8", SQUARE, QR, NULL, "operand 3 (lwork) is 8, expected 7 from the shapes"},
    {"lapack_dgehrd", "3 1 3 4 2 96", SQUARE, "(" SQUARE ", f64[2,2], s32[2], f64[96])", NULL,
     "operand 3 (lda) is 4, expected 3"},
    {"lapack_dgehrd", "3 0 3 3 2 96", SQUARE, "(" SQUARE ", f64[2,2], s32[2], f64[96])", NULL,
     "low = 0 and high = 3, expected 1 <= low <= high <= 3"},
    {"lapack_dgesdd", "1 2 1 3 2 90", "f64[3,2]{0,1}",
     "(f64[3,2]{0,1}, f64[2], f64[3,3]{0,1}, f64[2,2]{0,1}, s32[], s32[16], f64[90])", NULL,
     "operand 1 (vectors) is 2, expected 0 or 1"},
    {"lapack_dgesdd", "0 1 1 3 2 90", "f64[3,2]{0,1}",
     "(f64[3,2]{0,1}, f64[2], f64[3,3]{0,1}, f64[2,2]{0,1}, s32[], s32[16], f64[90])", NULL,
     "u has 3 columns and vt 2 rows, expected 2 and 2 with mode 'S'"},
    {"lapack_sgeev", "1 2 V86 V7", "f32[2,2]{0,1}",
     "(f32[2,2], f32[2,2], f32[2,2], f32[2], f32[2], c64[2,2]{0,1}, c64[2,2]{0,1}, s32[])", NULL,
     "attribute compute_right is 7 : ui8, expected"},
    {"lapack_sgeev", "1 2 V86 86", "f32[2,2]{0,1}",
     "(f32[2,2], f32[2,2], f32[2,2], f32[2], f32[2], c64[2,2]{0,1}, c64[2,2]{0,1}, s32[])", NULL,
     "operand 3 (compute_right) is s32[], expected u8[]"},
    {"blas_dtrsm", "1 0 3 1 2 1 1", "f64[] f64[2,2]{0,1} f64[2,1]", "f64[2,1]", NULL,
     "operand 2 (trans) is 3, expected 0, 1 or 2"},
    // Arrays.
    {"lapack_dpotrf", "1 2 3", "f32[2,3,3]{1,2,0}", FACTOR, NULL, "is f32[2,3,3], expected f64[2,n,n]"},
    {"lapack_dpotrf", "1 2 3", "f64[2,3,3]{2,1,0}", FACTOR, NULL, "is {2,1,0}, expected {1,2,0}"},
    {"lapack_dpotrf", "1 2 3", SQUARE, "(" SQUARE ", s32[3])", NULL, "result 1 (info) is s32[3], expected s32[2]"},
    {"lapack_dpotrf", "1 2 3", SQUARE, SQUARE, NULL,
     "the result is f64[2,3,3], expected a tuple of 2 arrays (factor info)"},
    {"lapack_dgeqrf", "2 3 3 7", SQUARE, "(" SQUARE ", f64[2,3], s32[3], f64[7])", NULL,
     "result 2 (info) is s32[3], expected one s32 for each of 2 matrices"},
    {"lapack_dgeqrf", "2 3 3 7", SQUARE, "(" SQUARE ", f64[2,3], s32[2], f32[7])", NULL,
     "result 3 (work) is f32[7], expected an array of f64"},
    {"lapack_cheevd", "0 1 2", "c64[2,2]{0,1}", "(c64[2,2]{0,1}, f32[2], s32[], c64[9], c64[8], s32[7])", NULL,
     "result 4 (rwork) is c64[8], expected an array of f32"},
    {"blas_dtrsm", "1 0 2 1 2 1 1", "f64[] f64[2,2]{0,1} f64[2,1]", "(f64[2,1])", NULL, "expected 1 array (solution)"},
};

// Appends |text| up to a blank at |*from| to |out|, and steps behind the blank.
static void take_word(const char **from, char *out, size_t room) {
  size_t size = strcspn(*from, " ");
  snprintf(out, room, "%.*s", (int)size, *from);
  *from += size + ((*from)[size] == ' ');
}

static void print_program(const call_text *t, const char *version, char *out, size_t room) {
  char lines[1500] = "";
  char names[200] = "";
  char constraints[300] = "";
  char word[60];
  size_t at = 0;
  int count = 0;
  int parameters = 0;
  for (const char *s = t->scalars; *s != '\0'; count++) {
    take_word(&s, word, sizeof word);
    const char *type = word[0] == 'V' ? "u8" : "s32";
    if (word[0] == 'p') {
      at += (size_t)snprintf(lines + at, sizeof lines - at, "  o%d = s32[] parameter(%d)\n", count, parameters++);
    } else {
      at += (size_t)snprintf(lines + at, sizeof lines - at, "  o%d = %s[] constant(%s)\n", count, type,
                             word + (word[0] == 'V'));
    }
    snprintf(names + strlen(names), sizeof names - strlen(names), "%so%d", count == 0 ? "" : ", ", count);
    snprintf(constraints + strlen(constraints), sizeof constraints - strlen(constraints), "%s%s[]",
             count == 0 ? "" : ", ", type);
  }
  for (const char *a = t->arrays; *a != '\0'; count++) {
    take_word(&a, word, sizeof word);
    at += (size_t)snprintf(lines + at, sizeof lines - at, "  o%d = %s parameter(%d)\n", count, word, parameters++);
    const char *comma = count == 0 ? "" : ", ";
    snprintf(names + strlen(names), sizeof names - strlen(names), "%so%d", comma, count);
    snprintf(constraints + strlen(constraints), sizeof constraints - strlen(constraints), "%s%s", comma, word);
  }
  snprintf(out, room,
           "HloModule m\nENTRY e {\n%s  ROOT r = %s custom-call(%s), custom_call_target=\"%s\", "
           "operand_layout_constraints={%s}%s\n}\n",
           lines, t->result, names, t->target, constraints, version);
}

static indim_module *parse(indim_ctx *cx, const char *program) {
  indim_module *module = NULL;
  indim_status status = indim_module_parse(cx, indim_str_of("p"), indim_str_of(program), &module);
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  CHECK_MSG(status == INDIM_OK, "%s: %s", program, test_message(cx));
  return module;
}

static void check_text(const call_text *t, const char *version) {
  char program[3000];
  indim_linalg_call call;
  indim_linalg_alias alias;
  indim_shape_text shape;
  indim_ctx *cx = test_cx_new();
  print_program(t, version, program, sizeof program);
  indim_module *module = parse(cx, program);
  const indim_instr *root = module->entry->root;
  CHECK_MSG(indim_linalg_is_alias(root), "%s is no alias", t->target);
  indim_status status = indim_linalg_read_alias(cx, root, &alias, &call);
  if (t->config == NULL) {
    CHECK_MSG(status != INDIM_OK && strstr(test_message(cx), t->expected) != NULL, "%sgives \"%s\", expected \"%s\"",
              program, status == INDIM_OK ? "" : test_message(cx), t->expected);
  } else {
    CHECK_MSG(status == INDIM_OK, "%s: %s", program, test_message(cx));
    CHECK_MSG(strcmp(alias.config, t->config) == 0, "%sgives %s, expected %s", program, alias.config, t->config);
    const char *brief = indim_shape_brief(alias.today.shape, &shape);
    CHECK_MSG(strcmp(brief, t->expected) == 0, "%sgives %s, expected %s", program, brief, t->expected);
  }
  indim_module_destroy(module);
  test_cx_free(cx);
}

TEST(calls_become_todays_or_are_refused) {
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    check_text(&texts[i], ", api_version=API_VERSION_STATUS_RETURNING");
  }
}

TEST(calls_of_xla) {
#define WIDE "f32[2,2,3]"
  static const struct {
    call_text text;
    const char *config;
  } calls[] = {
      {{"Qr", "", WIDE, "(" WIDE ", f32[2,2])", "{}", "(f32[2,2,3], f32[2,2])"}, ""},
      {{"Qr", "", "c64[3,2]{1,0}", "(c64[3,2]{0,1}, c64[2])", "{}", "(c64[3,2], c64[2])"}, ""},
      {{"ProductOfElementaryHouseholderReflectors", "", "f64[3,2] f64[2]", "f64[3,2]", "{}", "f64[3,2]"}, ""},
      {{"Eigh", "", "c128[4,2,2]", "(c128[4,2,2], f64[4,2])", "{mode = 86 : ui8, uplo = 76 : ui8}",
        "(c128[4,2,2], f64[4,2], s32[4])"},
       "1,1,100,1e-6"},
      {{"Eigh", "", "f32[2,2]", "(f32[2,2], f32[2])", "{mode = 86 : ui8, uplo = 85 : ui8}",
        "(f32[2,2], f32[2], s32[])"},
       "0,1,8,0.000001"},
      {{"Eigh", "", "f32[2,2]", "(f32[2,2], f32[2])", NULL, "expected lower,sort,sweeps,tolerance like 1,1,100,1e-6"},
       ""},
      {{"Eigh", "", "f32[2,2]", "(f32[2,2], f32[2])", NULL, "backend_config= of Eigh is '2,1'"}, "2,1"},
      {{"Eigh", "", "f32[2,2]", "f32[2]", NULL, "expected a tuple of 2 arrays (vectors values)"}, "1,1,100,1e-6"},
      {{"Qr", "", "f16[2,2]", "(f16[2,2], f16[2])", NULL, "is f16[2,2], expected f32[m,n]"}, ""},
      {{"Qr", "", WIDE, "(" WIDE ", f32[2,3])", NULL, "result 1 (taus) is f32[2,3], expected f32[2,2]"}, ""},
      {{"Qr", "", WIDE " " WIDE, "(" WIDE ", f32[2,2])", NULL, "Qr takes 1 operand (x), here are 2"}, ""},
      {{"Qr", "", "", "(" WIDE ", f32[2,2])", NULL, "Qr takes 1 operand (x), here are 0"}, ""},
      {{"Qr", "", "f32[<=2,2,3]", "(f32[<=2,2,3], f32[<=2,2])", NULL, "Qr is not computed of dynamic dimensions"}, ""}};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    char config[60] = "";
    if (calls[i].config[0] != '\0') {
      snprintf(config, sizeof config, ", backend_config=\"%s\"", calls[i].config);
    }
    check_text(&calls[i].text, config);
  }
}

TEST(versions_of_the_interface) {
  static const char *const versions[] = {"", ", api_version=API_VERSION_ORIGINAL",
                                         ", api_version=API_VERSION_STATUS_RETURNING_UNIFIED"};
  call_text typed = texts[0];
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    check_text(&texts[0], versions[i]);
  }
  typed.config = NULL;
  typed.expected = "lapack_potrf is not called by API_VERSION_TYPED_FFI; that is lapack_potrf_ffi";
  check_text(&typed, ", api_version=API_VERSION_TYPED_FFI");
}

TEST(which_targets_are_aliases) {
  static const char *const others[] = {"lapack_dpotrf_ffi",
                                       "lapack_dheevd",
                                       "lapack_dgtsv",
                                       "lapack_xpotrf",
                                       "blas_dpotrf",
                                       "lapack_dtrsm",
                                       "lapack_d",
                                       "",
                                       "qr",
                                       "Qrs"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    char program[3000];
    call_text text = texts[0];
    indim_ctx *cx = test_cx_new();
    text.target = others[i];
    print_program(&text, "", program, sizeof program);
    indim_module *module = parse(cx, program);
    CHECK_MSG(!indim_linalg_is_alias(module->entry->root), "%s is an alias", others[i]);
    indim_module_destroy(module);
    test_cx_free(cx);
  }
}

// A number of matrices as JAX writes it, and as no one does.
static void check_batch(const char *lines, const char *expected) {
  char program[3000];
  indim_linalg_call call;
  indim_linalg_alias alias;
  indim_ctx *cx = test_cx_new();
  snprintf(program, sizeof program,
           "HloModule m\nENTRY e {\n  one = s32[] constant(1)\n  two = s32[] constant(2)\n  n = s32[] constant(3)\n"
           "  wide = s64[] constant(2)\n  list = s32[1] constant({2})\n  f = f32[] constant(2)\n  x = " SQUARE
           " parameter(0)\n%s\n"
           "  ROOT r = " FACTOR " custom-call(one, b, n, x), custom_call_target=\"lapack_dpotrf\", "
           "operand_layout_constraints={s32[], s32[], s32[], " SQUARE "}\n}\n",
           lines);
  indim_module *module = parse(cx, program);
  indim_status status = indim_linalg_read_alias(cx, module->entry->root, &alias, &call);
  if (expected == NULL) {
    CHECK_MSG(status == INDIM_OK, "%s: %s", lines, test_message(cx));
    CHECK_EQ_INT(call.batch, 2);
    CHECK_EQ_INT(alias.operands[0], 3);
    CHECK_EQ_INT(alias.today.operand_count, 1);
  } else {
    CHECK_MSG(status != INDIM_OK && strstr(test_message(cx), expected) != NULL, "%s gives \"%s\"", lines,
              status == INDIM_OK ? "" : test_message(cx));
  }
  indim_module_destroy(module);
  test_cx_free(cx);
}

TEST(constants_behind_moves_and_products) {
  check_batch("  b = s32[] multiply(one, two)", NULL);
  check_batch("  a = s32[] multiply(one, two)\n  b = s32[] multiply(a, one)", NULL);
  check_batch("  b = s32[] convert(wide)", NULL);
  check_batch("  b = s32[] reshape(list)", NULL);
  check_batch("  c = s32[] copy(two)\n  b = s32[] opt-barrier(c)", NULL);
  check_batch("  c = s32[] broadcast(two), dimensions={}\n  b = s32[] multiply(c, one)", NULL);
  check_batch("  b = s32[] add(one, one)", "is not a constant");
  check_batch("  b = s32[] convert(f)", "is not a constant");
  check_batch("  a = s32[] add(one, one)\n  b = s32[] multiply(one, a)", "is not a constant");
  check_batch("  a = s32[] negate(one)\n  b = s32[] multiply(a, one)", "is not a constant");
  check_batch("  m = s32[] constant(-1)\n  b = s32[] multiply(two, m)", "is not a constant");
  check_batch("  h = s32[] constant(2147483647)\n  c = s32[] multiply(h, h)\n  d = s32[] multiply(c, h)\n"
              "  b = s32[] multiply(d, h)",
              "is not a constant");
}

#define CASES(X)                        \
  X(calls_become_todays_or_are_refused) \
  X(calls_of_xla)                       \
  X(versions_of_the_interface)          \
  X(which_targets_are_aliases)          \
  X(constants_behind_moves_and_products)
TEST_MAIN(CASES)
