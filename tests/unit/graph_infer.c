// Every op's shape rule, by the cases of infer_cases.txt: the shape that it gives, or the refusal with its place.
#include <stdlib.h>

#include "graph/module.h"
#include "indim/text.h"
#include "test.h"

typedef struct casebook {
  char *text;  // all of infer_cases.txt, cut into lines
  const char *prologue;
  char *cases;
} casebook;

static casebook read_cases(void) {
  casebook book = {NULL, NULL, NULL};
  FILE *file = fopen("tests/unit/infer_cases.txt", "rb");
  if (file == NULL) {
    return book;
  }
  size_t capacity = 1 << 20;
  book.text = malloc(capacity);
  size_t size = book.text == NULL ? 0 : fread(book.text, 1, capacity - 1, file);
  fclose(file);
  if (book.text == NULL) {
    return book;
  }
  book.text[size] = '\0';
  char *end = strstr(book.text, "\n---\n");
  char *start = strstr(book.text, "\nadd {");
  if (end != NULL && start != NULL) {
    *end = '\0';
    book.prologue = start + 1;
    book.cases = end + 5;
  }
  return book;
}

// "a | b | c" cut at its bars, blanks around the parts dropped; false for a comment or an empty line.
static bool split_case(char *line, char *parts[3]) {
  if (line[0] == '#' || line[0] == '\0') {
    return false;
  }
  for (int i = 0; i < 3; i++) {
    char *end = i < 2 ? strstr(line, " | ") : line + strlen(line);
    if (end == NULL) {
      return false;
    }
    char *next = i < 2 ? end + 3 : end;
    while (line < end && *line == ' ') {
      line++;
    }
    while (end > line && end[-1] == ' ') {
      end--;
    }
    *end = '\0';
    parts[i] = line;
    line = next;
  }
  return true;
}

// The module of a case; its last line but one is the root.
static void write_module(const char *prologue, const char *operands, const char *instr, indim_buffer *out) {
  indim_buffer_printf(out, "HloModule m\n%s\nENTRY e {\n", prologue);
  int number = 0;
  while (*operands != '\0') {
    const char *end = strstr(operands, "; ");
    size_t size = end == NULL ? strlen(operands) : (size_t)(end - operands);
    indim_buffer_printf(out, "  p%d = %.*s parameter(%d)\n", number, (int)size, operands, number);
    number++;
    operands += size + (end == NULL ? 0 : 2);
  }
  for (const char *cut = strstr(instr, ";;"); cut != NULL; cut = strstr(instr, ";;")) {
    indim_buffer_printf(out, "  %.*s\n", (int)(cut - instr), instr);
    instr = cut + 2;
  }
  indim_buffer_printf(out, "  ROOT result = %s\n}\n", instr);
}

static int32_t count_lines(const char *text) {
  int32_t count = 1;
  for (; *text != '\0'; text++) {
    count += *text == '\n';
  }
  return count;
}

static void check_refusal(indim_ctx *cx, const char *module_text, const char *instr, const char *expected) {
  const indim_diagnostic *diagnostic = indim_ctx_diagnostic_get(cx, 0);
  if (diagnostic == NULL) {
    test_fail(__FILE__, __LINE__);
    printf("%s: refused without a diagnostic\n", instr);
    return;
  }
  expected += strspn(expected, "!~ ");
  if (strstr(diagnostic->message, expected) == NULL && strstr(diagnostic->hint, expected) == NULL) {
    test_fail(__FILE__, __LINE__);
    printf("%s\n    says     %s\n    hint     %s\n    expected %s\n", instr, diagnostic->message, diagnostic->hint,
           expected);
  }
  if (diagnostic->line != count_lines(module_text) - 2 || diagnostic->column < 3) {
    test_fail(__FILE__, __LINE__);
    printf("%s: line %d, column %d\n", instr, diagnostic->line, diagnostic->column);
  }
  if (indim_ctx_diagnostic_count(cx) != 1) {
    test_fail(__FILE__, __LINE__);
    printf("%s: %zu diagnostics\n", instr, indim_ctx_diagnostic_count(cx));
  }
}

static void check_shape(indim_ctx *cx, const indim_module *module, const char *instr, const char *expected) {
  indim_buffer shape;
  indim_buffer_init(&shape, cx);
  indim_shape_print(indim_instr_shape(indim_computation_root(indim_module_entry(module))), true, &shape);
  expected += strspn(expected, "~ ");
  if (shape.data == NULL || strcmp(shape.data, expected) != 0) {
    test_fail(__FILE__, __LINE__);
    printf("%s gives %s, expected %s\n", instr, shape.data, expected);
  }
  indim_buffer_deinit(&shape);
}

static bool accepted[INDIM_OP_COUNT];
static bool refused[INDIM_OP_COUNT];

static void note_op(const char *instr, bool *seen) {
  const char *cut = strstr(instr, ";;");
  for (; cut != NULL; cut = strstr(instr, ";;")) {
    instr = cut + 2;
  }
  for (int op = 0; op < INDIM_OP_COUNT; op++) {
    char call[64];
    snprintf(call, sizeof call, "%s(", indim_op_get((indim_op)op)->text);
    const char *at = strstr(instr, call);
    while (at != NULL && at != instr && at[-1] != ' ') {
      at = strstr(at + 1, call);
    }
    seen[op] = seen[op] || at != NULL;
  }
}

static void run_case(indim_ctx *cx, const char *prologue, char *parts[3]) {
  bool refusal = parts[2][0] == '!';
  indim_buffer text;
  indim_buffer_init(&text, cx);
  write_module(prologue, parts[0], parts[1], &text);
  indim_ctx_diagnostics_clear(cx);
  indim_module *module = NULL;
  indim_status status = indim_module_parse(cx, indim_str_of("case.hlo"), (indim_str){text.data, text.size}, &module);
  if (status == INDIM_OK) {
    status = indim_module_verify(cx, module);
  }
  note_op(parts[1], refusal ? refused : accepted);
  if (refusal && status == INDIM_OK) {
    test_fail(__FILE__, __LINE__);
    printf("%s | %s is accepted, expected %s\n", parts[0], parts[1], parts[2]);
  } else if (refusal) {
    check_refusal(cx, text.data, parts[1], parts[2]);
  } else if (status != INDIM_OK) {
    test_fail(__FILE__, __LINE__);
    const indim_diagnostic *diagnostic = indim_ctx_diagnostic_get(cx, 0);
    printf("%s | %s is refused: %s\n", parts[0], parts[1], diagnostic == NULL ? "" : diagnostic->message);
  } else {
    check_shape(cx, module, parts[1], parts[2]);
  }
  indim_module_destroy(module);
  indim_buffer_deinit(&text);
}

TEST(cases) {
  casebook book = read_cases();
  REQUIRE(book.cases != NULL);
  indim_ctx *cx = NULL;
  CHECK(indim_ctx_create(NULL, &cx) == INDIM_OK);
  int count[2] = {0, 0};
  char *line = book.cases;
  while (*line != '\0') {
    char *end = strchr(line, '\n');
    char *next = end == NULL ? line + strlen(line) : end + 1;
    if (end != NULL) {
      *end = '\0';
    }
    char *parts[3];
    if (split_case(line, parts)) {
      count[parts[2][0] == '!']++;
      run_case(cx, book.prologue, parts);
    } else if (line[0] != '#' && line[0] != '\0') {
      test_fail(__FILE__, __LINE__);
      printf("not a case: %s\n", line);
    }
    line = next;
  }
  printf("%d shapes, %d refusals\n", count[0], count[1]);
  CHECK(count[0] > 290 && count[1] > 400);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(cx), 0);
  indim_ctx_destroy(cx);
  free(book.text);
}

// Every op has an accepted case; every one that can be refused for its operands or attributes a refused one.
TEST(every_op_has_cases) {
  for (int op = 0; op < INDIM_OP_COUNT; op++) {
    const char *text = indim_op_get((indim_op)op)->text;
    bool any_operand = op == INDIM_OP_PARAMETER || op == INDIM_OP_CONSTANT || op == INDIM_OP_TUPLE ||
                       op == INDIM_OP_COPY || op == INDIM_OP_OPT_BARRIER || op == INDIM_OP_DOMAIN ||
                       op == INDIM_OP_PARTITION_ID || op == INDIM_OP_ALL_REDUCE_START;
    if (op != INDIM_OP_PARAMETER && !accepted[op]) {
      test_fail(__FILE__, __LINE__);
      printf("no accepted case of %s\n", text);
    }
    if (!any_operand && !refused[op]) {
      test_fail(__FILE__, __LINE__);
      printf("no refused case of %s\n", text);
    }
  }
}

#define CASES(X) \
  X(cases)       \
  X(every_op_has_cases)
TEST_MAIN(CASES)
