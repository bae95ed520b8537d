// Custom calls that Indim knows and that are none of LAPACK's: what is refused, with which words.
#include <stdio.h>

#include "graph/topk_call.h"
#include "indim/text.h"
#include "linalg/csr.h"
#include "literal_test.h"

typedef struct refusal {
  const char *target;
  const char *operands;  // shapes, separated by blanks
  const char *result;
  const char *message;  // NULL: it is taken
} refusal;

static const refusal refusals[] = {
    {"TopK", "f32[2,5]", "(f32[2,3], s32[2,3])", NULL},
    {"TopK", "u8[5]", "(u8[0], s32[0])", NULL},
    {"TopK", "f32[2,5]", "(f32[2,3], s64[2,3])", "is (f32[2,3], s64[2,3]), expected (f32[2,3], s32[2,3])"},
    {"TopK", "f32[2,5]", "(f32[2,6], s32[2,6])", "k=6, expected 0 to 5"},
    {"TopK", "f32[2,5]", "f32[2,3]", "expected a tuple of the values and their places"},
    {"TopK", "f32[]", "(f32[1], s32[1])", "expected rank 1 at least"},
    {"TopK", "f32[5] f32[5]", "(f32[1], s32[1])", "TopK takes one operand, here are 2"},
    {"TopK", "f32[<=5]", "(f32[1], s32[1])", "TopK is not computed of dynamic dimensions"},
    {"cpu_csr_sparse_dense_ffi", "f32[9] s32[4] s32[9] f32[5]", "f32[3]", NULL},
    {"cpu_csr_sparse_dense_ffi", "c64[9] s64[4] s64[9] c64[5,2]", "c64[3,2]", NULL},
    {"cpu_csr_sparse_dense_ffi", "f32[0] s32[1] s32[0] f32[0,0]", "f32[0,0]", NULL},
    {"cpu_csr_sparse_dense_ffi", "f32[9] s32[4] s32[9]", "f32[3]", "takes 4 operands"},
    {"cpu_csr_sparse_dense_ffi", "f16[9] s32[4] s32[9] f16[5]", "f16[3]",
     "the elements, f16[9], expected f32, f64, c64, c128, s32 or s64 of rank 1"},
    {"cpu_csr_sparse_dense_ffi", "f32[9] u32[4] s32[9] f32[5]", "f32[3]",
     "the starts of the rows, u32[4], expected s32 or s64 of rank 1"},
    {"cpu_csr_sparse_dense_ffi", "f32[9] s32[4] s64[9] f32[5]", "f32[3]",
     "the columns, s64[9], expected the type of the starts of rank 1"},
    {"cpu_csr_sparse_dense_ffi", "f32[9] s32[4] s32[8] f32[5]", "f32[3]",
     "the columns, s32[8]: dimension 0 should have the size 9, one for each element"},
    {"cpu_csr_sparse_dense_ffi", "f32[9] s32[4] s32[9] f64[5]", "f32[3]",
     "the dense operand, f64[5], expected the type of the elements of rank 1"},
    {"cpu_csr_sparse_dense_ffi", "f32[9] s32[4] s32[9] f32[5,2]", "f32[3]",
     "the result, f32[3], expected the type of the elements of rank 2"},
    {"cpu_csr_sparse_dense_ffi", "f32[9] s32[3] s32[9] f32[5]", "f32[3]",
     "the starts of the rows, s32[3]: dimension 0 should have the size 4, one more than rows of the result"},
    {"cpu_csr_sparse_dense_ffi", "f32[9] s32[4] s32[9] f32[5,2]", "f32[3,4]",
     "the result, f32[3,4]: dimension 1 should have the size 2, as many columns as the dense operand"},
    {"cpu_csr_sparse_dense_ffi", "f32[<=9] s32[4] s32[<=9] f32[5]", "f32[3]", "is not computed of dynamic dimensions"},
};

static indim_module *parse(indim_ctx *cx, const refusal *r) {
  char program[1000] = "";
  char names[100] = "";
  size_t at = (size_t)snprintf(program, sizeof program, "HloModule m\nENTRY e {\n");
  int count = 0;
  for (const char *s = r->operands; *s != '\0'; count++) {
    size_t size = strcspn(s, " ");
    at +=
        (size_t)snprintf(program + at, sizeof program - at, "  o%d = %.*s parameter(%d)\n", count, (int)size, s, count);
    snprintf(names + strlen(names), sizeof names - strlen(names), "%so%d", count == 0 ? "" : ", ", count);
    s += size + (s[size] == ' ');
  }
  snprintf(program + at, sizeof program - at, "  ROOT r = %s custom-call(%s), custom_call_target=\"%s\"\n}\n",
           r->result, names, r->target);
  indim_module *module = NULL;
  indim_status status = indim_module_parse(cx, indim_str_of("p"), indim_str_of(program), &module);
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  CHECK_MSG(status == INDIM_OK, "%s: %s", program, test_message(cx));
  return module;
}

TEST(taken_or_refused) {
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const refusal *r = &refusals[i];
    indim_topk_call call;
    indim_ctx *cx = test_cx_new();
    indim_module *module = parse(cx, r);
    const indim_instr *root = module->entry->root;
    bool is_topk = indim_is_topk_call(root);
    CHECK(is_topk != indim_is_csr_product(root));
    indim_status status = is_topk ? indim_topk_call_read(cx, root, &call) : indim_csr_verify(cx, root);
    bool as_expected =
        r->message == NULL ? status == INDIM_OK : status != INDIM_OK && strstr(test_message(cx), r->message) != NULL;
    CHECK_MSG(as_expected, "%s of %s gives \"%s\", expected \"%s\"", r->target, r->operands,
              status == INDIM_OK ? "" : test_message(cx), r->message == NULL ? "" : r->message);
    indim_module_destroy(module);
    test_cx_free(cx);
  }
}

#define CASES(X) X(taken_or_refused)
TEST_MAIN(CASES)
