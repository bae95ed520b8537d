// Compares what the programs of tests/hlo become with what their comments say: the loops after a pass, and why arrays live
// where they do (tests/hlo/README.md says how that reads). `test_unit_loop_dumps --update` writes what they become into the
// files. Every pass, and every decision that can be left out, has a program that shows it at work.
#include <ctype.h>

#include "hlo_files.h"
#include "indim/compile.h"
#include "indim/text.h"
#include "literal_test.h"
#include "loop/lower.h"
#include "loop/target/target.h"

// A line that asks for a text: "// dump loops:slp for x86-64-v3 without inline", "// explain for x86-64-v3 of y".
typedef struct request {
  bool is_explain;
  bool is_plan;
  char pass[60];  // "": the finished loops
  char target[60];
  char without[200];  // "": nothing
  char name[60];      // the instruction that is explained, "": all
} request;

static bool is_update;

static bool take_word(const char **at, char *word, size_t room) {
  size_t blanks = strspn(*at, " ");
  size_t length = strcspn(*at + blanks, " \n");
  if (length == 0 || length >= room) {
    return false;
  }
  memcpy(word, *at + blanks, length);
  word[length] = '\0';
  *at += blanks + length;
  return true;
}

// False for a line that asks for nothing.
static bool read_request(const char *path, const char *line, request *out) {
  char word[200] = "";
  *out = (request){.is_explain = strncmp(line, "// explain for ", 15) == 0,
                   .is_plan = strncmp(line, "// dump plan for ", 17) == 0};
  if (!out->is_explain && !out->is_plan && strncmp(line, "// dump loops", 13) != 0) {
    return false;
  }
  line += strlen(out->is_explain ? "// explain" : out->is_plan ? "// dump plan" : "// dump loops");
  if (*line == ':') {
    line++;
    (void)take_word(&line, out->pass, sizeof out->pass);
  }
  while (*line != '\n' && *line != '\0') {
    bool ok = take_word(&line, word, sizeof word);
    if (ok && strcmp(word, "for") == 0) {
      ok = take_word(&line, out->target, sizeof out->target);
    } else if (ok && strcmp(word, "without") == 0) {
      ok = take_word(&line, out->without, sizeof out->without);
    } else if (ok && strcmp(word, "of") == 0) {
      ok = take_word(&line, out->name, sizeof out->name);
    } else {
      ok = false;
    }
    CHECK_MSG(ok, "%s: '%s' is not understood", path, word);
    line += ok ? strspn(line, " ") : strcspn(line, "\n");
  }
  CHECK_MSG(out->target[0] != '\0', "%s: no target is named", path);
  return true;
}

// What the compiler says -------------------------------------------------------------------------------------------------

static bool open_module(indim_ctx *cx, const char *path, const char *text, indim_module **out) {
  bool ok = indim_module_parse(cx, indim_str_of(path), indim_str_of(text), out) == INDIM_OK &&
            indim_module_verify(cx, *out) == INDIM_OK;
  CHECK_MSG(ok, "%s: %s", path, test_message(cx));
  return ok;
}

// Appends the text that is asked for.
static void lower(indim_ctx *cx, const char *path, const indim_module *module, const request *r, indim_buffer *out) {
  indim_target target;
  indim_loop_program *program = NULL;
  bool is_finished = !r->is_explain && !r->is_plan && r->pass[0] == '\0';
  indim_lower_options options = {.without = r->without,
                                 .out_explain = r->is_explain ? out : NULL,
                                 .out_plan = r->is_plan ? out : NULL,
                                 .shown_pass = r->is_explain || r->is_plan || is_finished ? NULL : r->pass,
                                 .out_shown = out};
  bool ok = indim_target_find(cx, r->target, &target) == INDIM_OK &&
            indim_loop_lower(cx, module, &target, &options, &program) == INDIM_OK;
  CHECK_MSG(ok, "%s: %s", path, test_message(cx));
  if (ok && is_finished) {
    indim_loop_print(program, out);
  }
  indim_loop_program_destroy(program);
}

// Comparing --------------------------------------------------------------------------------------------------------------

// The numbers of values, v0, v1, ... in the order in which they come: they stay when something unrelated changes.
typedef struct numbers {
  long *list;
  size_t count;
} numbers;

static size_t number_of(numbers *n, long number) {
  size_t k = 0;
  while (k < n->count && n->list[k] != number) {
    k++;
  }
  if (k == n->count) {
    n->list = realloc(n->list, (n->count + 1) * sizeof *n->list);
    n->list[n->count++] = number;
  }
  return k;
}

// Whether |c| belongs to a name, with |beyond| next to it: "v4.x", but not "v4..v5".
static bool is_name(char c, char beyond) {
  return isalnum((unsigned char)c) || c == '_' || (c == '.' && beyond != '.');
}

// Appends a line of |length| characters, with its values' numbers as above.
static void add_line(numbers *n, const char *line, size_t length, indim_buffer *out) {
  for (size_t i = 0; i < length; i++) {
    char *end = NULL;
    bool is_first = i == 0 || !is_name(line[i - 1], i > 1 ? line[i - 2] : ' ');
    bool is_value = is_first && line[i] == 'v' && isdigit((unsigned char)line[i + 1]);
    long number = is_value ? strtol(line + i + 1, &end, 10) : 0;
    if (is_value && !is_name(*end, *end == '\0' ? ' ' : end[1])) {
      indim_buffer_printf(out, "v%d", (int)number_of(n, number));
      i = (size_t)(end - line) - 1;
    } else {
      indim_buffer_printf(out, "%c", line[i]);
    }
  }
}

static bool is_of(const char *line, const char *name) {
  size_t size = strlen(name);
  return size == 0 || (strncmp(line, name, size) == 0 && line[size] == ' ');
}

// The text as comment lines.
static void add_comments(const char *text, const request *r, indim_buffer *out) {
  numbers n = {0};
  for (const char *line = text; *line != '\0'; line = hlo_next_line(line)) {
    size_t length = strcspn(line, "\n");
    if (is_of(line, r->name)) {
      indim_buffer_printf(out, length == 0 ? "//" : "//   ");
      add_line(&n, line, length, out);
      indim_buffer_printf(out, "\n");
    }
  }
  free(n.list);
}

// Where the comment lines end that a request already has.
static const char *end_of_comments(const char *line) {
  while (strncmp(line, "//   ", 5) == 0 || strncmp(line, "//\n", 3) == 0) {
    line = hlo_next_line(line);
  }
  return line;
}

// Says the first line that differs.
static void tell_difference(const char *path, const char *request_line, const char *now, const char *before,
                            const char *end) {
  while (before < end && strncmp(now, before, (size_t)(hlo_next_line(before) - before)) == 0) {
    now += hlo_next_line(before) - before;
    before = hlo_next_line(before);
  }
  CHECK_MSG(false, "%s: %.*s\n  gives\n    %.*s\n  where the file has\n    %.*s\n  (test_unit_loop_dumps --update)",
            path, (int)strcspn(request_line, "\n"), request_line, (int)strcspn(now, "\n"), now,
            before < end ? (int)strcspn(before, "\n") : 0, before);
}

static int requests_seen;

// Appends the file's text with what it ought to say to |out|; false when it says something else.
static bool compare_file(indim_ctx *cx, const char *path, const char *text, indim_buffer *out) {
  indim_module *module = NULL;
  bool is_same = true;
  bool ok = open_module(cx, path, text, &module);
  for (const char *line = text; ok && *line != '\0';) {
    request r;
    const char *next = hlo_next_line(line);
    indim_buffer_printf(out, "%.*s", (int)(next - line), line);
    if (read_request(path, line, &r)) {
      indim_buffer said;
      indim_buffer_init(&said, cx);
      lower(cx, path, module, &r, &said);
      size_t begin = out->size;
      add_comments(said.data == NULL ? "" : said.data, &r, out);
      const char *end = end_of_comments(next);
      const char *now = out->data + begin;
      if (strlen(now) != (size_t)(end - next) || strncmp(now, next, (size_t)(end - next)) != 0) {
        is_same = false;
        if (!is_update) {
          tell_difference(path, line, now, next, end);
        }
      }
      indim_buffer_deinit(&said);
      requests_seen++;
      next = end;
    }
    line = next;
  }
  indim_module_destroy(module);
  return is_same || !ok;
}

static void check_file(const char *path, void *user) {
  (void)user;
  char *text = hlo_read_file(path);
  if (strstr(text, "\n// dump ") != NULL || strstr(text, "\n// explain for ") != NULL) {
    indim_ctx *cx = test_cx_new();
    indim_buffer out;
    indim_buffer_init(&out, cx);
    bool is_same = compare_file(cx, path, text, &out);
    FILE *file = is_same || !is_update ? NULL : fopen(path, "wb");
    if (file != NULL) {
      CHECK(fwrite(out.data, 1, out.size, file) == out.size);
      fclose(file);
      printf("  %s is written\n", path);
    }
    indim_buffer_deinit(&out);
    test_cx_free(cx);
  }
  free(text);
}

TEST(all_dumps_are_as_written) {
  CHECK(hlo_each_file("tests/hlo", check_file, NULL) > 150);
  CHECK(requests_seen > 50);
}

// Every pass and every decision ------------------------------------------------------------------------------------------

// The loops of tests/hlo/pass/|name|.hlo, for the target of its first dump: finished or after a pass, and with a decision or
// without.
static void lower_named(indim_ctx *cx, const char *name, const char *pass, const char *without, indim_buffer *out) {
  char path[200];
  indim_module *module = NULL;
  request r = {0};
  snprintf(path, sizeof path, "tests/hlo/pass/%s.hlo", name);
  char *text = hlo_read_file(path);
  const char *line = text;
  while (*line != '\0' && (!read_request(path, line, &r) || r.is_explain || r.is_plan)) {
    line = hlo_next_line(line);
  }
  CHECK_MSG(*line != '\0', "%s has no dump", path);
  snprintf(r.pass, sizeof r.pass, "%s", pass);
  snprintf(r.without, sizeof r.without, "%s", without);
  if (*line != '\0' && open_module(cx, path, text, &module)) {
    lower(cx, path, module, &r, out);
  }
  indim_module_destroy(module);
  free(text);
}

TEST(every_pass_changes_its_program) {
  for (const indim_compile_pass *p = indim_compile_passes(); p->name != NULL; p++) {
    indim_ctx *cx = test_cx_new();
    indim_buffer all;
    char heading[80];
    indim_buffer_init(&all, cx);
    lower_named(cx, p->name, "all", "", &all);
    snprintf(heading, sizeof heading, "---- %s\n", p->name);
    CHECK_MSG(all.data != NULL && strstr(all.data, heading) != NULL, "%s changes nothing of its program", p->name);
    indim_buffer_deinit(&all);
    test_cx_free(cx);
  }
}

TEST(every_decision_changes_its_program) {
  for (const indim_compile_decision *d = indim_compile_decisions(); d->name != NULL; d++) {
    indim_ctx *cx = test_cx_new();
    indim_buffer with;
    indim_buffer without;
    indim_buffer_init(&with, cx);
    indim_buffer_init(&without, cx);
    lower_named(cx, d->name, "", "", &with);
    lower_named(cx, d->name, "", d->name, &without);
    CHECK_MSG(with.data != NULL && without.data != NULL && strcmp(with.data, without.data) != 0,
              "%s makes no difference to its program", d->name);
    indim_buffer_deinit(&without);
    indim_buffer_deinit(&with);
    test_cx_free(cx);
  }
}

#define CASES(X)                    \
  X(all_dumps_are_as_written)       \
  X(every_pass_changes_its_program) \
  X(every_decision_changes_its_program)

int main(int argc, char **argv) {
  static const test_entry entries[] = {CASES(TEST_ENTRY)};
  is_update = argc > 1 && strcmp(argv[1], "--update") == 0;
  return test_main(entries, sizeof entries / sizeof entries[0], is_update ? 1 : argc, argv);
}
