// Runs the programs of tests/hlo through both engines and compares with what their comments promise (tests/hlo/README.md
// says how they read).
#include "indim/compile.h"
#include "indim/eval.h"
#include "hlo_files.h"
#include "indim/text.h"
#include "literal_test.h"

static void check_output(indim_ctx *cx, const hlo_file *file, const hlo_case *c, const char *engine,
                         indim_tolerance tolerance, const indim_literal *result) {
  indim_literal *expected = NULL;
  indim_mismatch mismatch;
  indim_buffer printed;
  indim_buffer_init(&printed, cx);
  CHECK_MSG(indim_literal_parse(cx, indim_str_of(c->output), &expected) == INDIM_OK, "%s: // out: %s", file->path,
            test_message(cx));
  if (expected != NULL) {
    CHECK_MSG(indim_literal_compare(cx, expected, result, &tolerance, &mismatch) == INDIM_OK, "%s: %s", file->path,
              test_message(cx));
    indim_literal_print(result, (unsigned)(INDIM_LITERAL_SHAPE | INDIM_LITERAL_ONE_LINE), &printed);
    CHECK_MSG(mismatch.count == 0, "%s, %s: leaf %d is off by %g ulps: the result is\n    %s\n  expected\n    %s",
              file->path, engine, (int)mismatch.worst_leaf, mismatch.worst_ulps, printed.data, c->output);
  }
  indim_literal_destroy(expected);
  indim_buffer_deinit(&printed);
}

static int compiled_files;

// The same case compiled. |executable| is NULL where that is not supported.
static void run_compiled(indim_ctx *cx, const hlo_file *file, const hlo_case *c, indim_executable *executable,
                         const indim_literal *const *arguments) {
  indim_literal *result = NULL;
  if (executable == NULL || c->output == NULL) {
    return;
  }
  indim_ctx_diagnostics_clear(cx);
  indim_status status = indim_execute_literals(cx, executable, arguments, c->input_count, NULL, &result);
  CHECK_MSG(status == INDIM_OK, "%s, compiled: %s", file->path, test_message(cx));
  if (result != NULL) {
    const indim_tolerance tolerance = {.ulps = hlo_ulps(file), .abs = file->compiled_abs, .equal_nans = true};
    check_output(cx, file, c, "compiled", tolerance, result);
  }
  indim_literal_destroy(result);
}

// NULL, counted and told, for what the compiler does not do; where running is to fail, for the same reason.
static indim_executable *compile_file(indim_ctx *cx, const hlo_file *file, const indim_module *module) {
  indim_executable *executable = NULL;
  indim_status status = indim_compile(cx, module, NULL, &executable);
  if (status == INDIM_UNSUPPORTED) {
    const char *expected = file->cases[0].run_error;
    printf("  %s is not compiled: %s\n", file->path, test_message(cx));
    CHECK_MSG(expected == NULL || strstr(test_message(cx), expected) != NULL, "%s, compiled: \"%s\", expected \"%s\"",
              file->path, test_message(cx), expected);
  } else {
    bool is_promised = status != INDIM_OK && file->cases[0].run_error != NULL;
    CHECK_MSG(status == INDIM_OK || is_promised, "%s, compiled: %s: %s", file->path, indim_status_name(status),
              test_message(cx));
  }
  compiled_files += status == INDIM_OK;
  indim_ctx_diagnostics_clear(cx);
  return executable;
}

static void run_case(indim_ctx *cx, const hlo_file *file, const hlo_case *c, const indim_module *module,
                     indim_executable *executable) {
  indim_literal *arguments[MOST_INPUTS] = {NULL};
  indim_literal *result = NULL;
  for (int i = 0; i < c->input_count; i++) {
    CHECK_MSG(indim_literal_parse(cx, indim_str_of(c->inputs[i]), &arguments[i]) == INDIM_OK, "%s: // in: %s: %s",
              file->path, c->inputs[i], test_message(cx));
  }
  indim_status status = indim_eval(cx, module, (const indim_literal *const *)arguments, c->input_count, NULL, &result);
  if (c->run_error != NULL) {
    CHECK_MSG(status != INDIM_OK && strstr(test_message(cx), c->run_error) != NULL, "%s: %s: \"%s\", expected \"%s\"",
              file->path, indim_status_name(status), test_message(cx), c->run_error);
  } else {
    CHECK_MSG(status == INDIM_OK, "%s: %s", file->path, test_message(cx));
  }
  if (result != NULL && c->output != NULL) {
    check_output(cx, file, c, "evaluated", (indim_tolerance){.ulps = file->ulps, .equal_nans = true}, result);
  }
  run_compiled(cx, file, c, executable, (const indim_literal *const *)arguments);
  indim_ctx_diagnostics_clear(cx);
  indim_literal_destroy(result);
  for (int i = 0; i < MOST_INPUTS; i++) {
    indim_literal_destroy(arguments[i]);
  }
}

// "3:14 text", or a text alone: some diagnostic has that place and holds that text.
static void check_refusal(indim_ctx *cx, const hlo_file *file, indim_status status) {
  int line = 0;
  int column = 0;
  int used = 0;
  bool found = false;
  if (sscanf(file->error, "%d:%d %n", &line, &column, &used) < 2) {
    line = 0;
    used = 0;
  }
  for (size_t i = 0; i < indim_ctx_diagnostic_count(cx) && indim_ctx_diagnostic_get(cx, i) != NULL; i++) {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, i);
    found |= strstr(d->message, file->error + used) != NULL && (line == 0 || (d->line == line && d->column == column));
  }
  CHECK_MSG(status != INDIM_OK && found, "%s: expected the error \"%s\", got %s: %s", file->path, file->error,
            indim_status_name(status), test_message(cx));
}

static void run_file(const char *path, void *user) {
  (void)user;
  static hlo_file file;
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  memset(&file, 0, sizeof file);
  file.path = path;
  file.text = hlo_read_file(path);
  hlo_cases_read(&file);
  indim_status status = indim_module_parse(cx, indim_str_of(path), indim_str_of(file.text), &module);
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  if (file.error != NULL) {
    check_refusal(cx, &file, status);
  } else {
    CHECK_MSG(status == INDIM_OK, "%s: %s", path, test_message(cx));
    CHECK_MSG(file.case_count > 0 || file.has_dump, "%s has no case", path);
  }
  bool has_generator = indim_compile_available(NULL) == INDIM_OK;
  indim_executable *executable = status == INDIM_OK && has_generator ? compile_file(cx, &file, module) : NULL;
  for (int c = 0; status == INDIM_OK && c < file.case_count; c++) {
    run_case(cx, &file, &file.cases[c], module, executable);
  }
  indim_executable_destroy(executable);
  indim_module_destroy(module);
  hlo_cases_free(&file);
  test_cx_free(cx);
}

TEST(all_programs) {
  CHECK(hlo_each_file("tests/hlo", run_file, NULL) > 80);
  CHECK(compiled_files > 75 || indim_compile_available(NULL) != INDIM_OK);
}

TEST(every_evaluated_op_has_a_program) {
  for (int op = 0; op < INDIM_OP_COUNT; op++) {
    const indim_op_info *info = indim_op_get((indim_op)op);
    char path[200];
    struct stat status;
    snprintf(path, sizeof path, "tests/hlo/op/%s.hlo", info->text);
    CHECK_MSG(!info->evaluated || stat(path, &status) == 0, "%s is missing", path);
  }
}

#define CASES(X)  \
  X(all_programs) \
  X(every_evaluated_op_has_a_program)
TEST_MAIN(CASES)
