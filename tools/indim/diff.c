// indim diff: two programs side by side.
#include "diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "indim/text.h"

const char *const help_diff =
    "Usage: indim diff [OPTION...] A B\n"
    "\n"
    "Tells what became of the instructions of program A in program B: what appeared, what went, what changed its op, "
    "shape,\n"
    "layout, operands or attributes. Instructions are matched by what they compute and by their neighbours, names only "
    "come\n"
    "last, so programs whose names were numbered anew compare as they should. A and B may be in any format that indim "
    "reads.\n"
    "\n"
    "Options:\n"
    "  --json                  print "
    "{\"same\":false,\"counts\":{..},\"changes\":[{\"kind\":\"changed\",\"what\":[\"shape\"],\n"
    "                          \"a\":..,\"b\":..}]}\n"
    "  --html                  print a page with the two programs in two columns\n"
    "  --all                   print instructions that are the same, too\n"
    "  --brief                 print the counts alone\n"
    "  -o FILE, --output=FILE  write there instead of to standard output\n"
    "\n"
    "Exit codes: 0 the same but for names, 1 different, 2 a file cannot be read or written, a program\n"
    "is refused, or the command line is wrong.\n"
    "\n"
    "Example:\n"
    "  $ indim diff before.hlo after.hlo\n"
    "  $ indim diff --html before.hlo after.hlo -o diff.html\n";

enum { OPTION_JSON = 1, OPTION_HTML, OPTION_ALL, OPTION_BRIEF, OPTION_OUTPUT };
static const option_spec specs[] = {{"json", 0, OPTION_JSON, false},      {"html", 0, OPTION_HTML, false},
                                    {"all", 0, OPTION_ALL, false},        {"brief", 0, OPTION_BRIEF, false},
                                    {"output", 'o', OPTION_OUTPUT, true}, {0}};

enum { EXIT_DIFFERENT = 1, EXIT_TROUBLE = 2 };

typedef enum change_kind { CHANGE_SAME, CHANGE_CHANGED, CHANGE_GONE, CHANGE_NEW, CHANGE_HEADER } change_kind;

// One line of the comparison. |a| and |b| are numbers of instructions, -1 for none.
typedef struct change {
  change_kind kind;
  unsigned what;
  int64_t a, b;
} change;

typedef struct comparison {
  indim_ctx *cx;
  bool has_color;
  diff_side sides[2];
  char *headers[2];
  change *changes;  // in the order of the programs
  int64_t count;
  int64_t same, changed, gone, fresh, renamed;
  bool header_differs;
} comparison;

// Finding ---------------------------------------------------------------------------------------------------------------

static bool is_renamed(const comparison *c, int64_t a, int64_t b) {
  return !indim_str_equal(indim_instr_name(c->sides[0].t.instrs[a]), indim_instr_name(c->sides[1].t.instrs[b]));
}

static void add(comparison *c, change found) { c->changes[c->count++] = found; }

static int64_t end_of(const diff_side *s, int64_t computation) {
  return s->t.first[computation] + indim_computation_instr_count(indim_module_computation(s->t.module, computation));
}

// The new ones of B from |*at| to before |end|.
static void add_new(comparison *c, int64_t *at, int64_t end) {
  for (; *at < end; ++*at) {
    if (c->sides[1].partner[*at] < 0) {
      add(c, (change){CHANGE_NEW, 0, -1, *at});
      c->fresh++;
    }
  }
}

static indim_status compare_computations(comparison *c, int64_t a, int64_t b) {
  int64_t at = b < 0 ? 0 : c->sides[1].t.first[b];
  int64_t b_end = b < 0 ? 0 : end_of(&c->sides[1], b);
  for (int64_t i = c->sides[0].t.first[a]; i < end_of(&c->sides[0], a); i++) {
    int64_t partner = c->sides[0].partner[i];
    unsigned what = 0;
    if (partner < 0) {
      add(c, (change){CHANGE_GONE, 0, i, -1});
      c->gone++;
      continue;
    }
    indim_status status = diff_compare(c->cx, c->sides, i, &what);
    if (status != INDIM_OK) {
      return status;
    }
    if (c->sides[1].t.owner[partner] == b) {
      add_new(c, &at, partner);
    }
    add(c, (change){what == 0 ? CHANGE_SAME : CHANGE_CHANGED, what, i, partner});
    c->same += what == 0;
    c->changed += what != 0;
    c->renamed += what == 0 && is_renamed(c, i, partner);
  }
  add_new(c, &at, b_end);
  return INDIM_OK;
}

// The first line of the module's text behind its name: layouts, aliases, donors.
static char *header_of(indim_ctx *cx, const indim_module *module, indim_status *out_status) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_module_print(module, INDIM_PRINT_ELIDE_CONSTANTS, &text);
  *out_status = text.status;
  const char *begin = text.status != INDIM_OK || text.data == NULL ? "" : strstr(text.data, ", ");
  size_t size = begin == NULL ? 0 : strcspn(begin, "\n");
  char *copy = must_alloc(size + 1);
  memcpy(copy, size == 0 ? "" : begin, size);
  copy[size] = '\0';
  indim_buffer_deinit(&text);
  return copy;
}

static indim_status compare_programs(comparison *c, const indim_module *a, const indim_module *b) {
  indim_status status = diff_match(c->cx, a, b, c->sides);
  for (int i = 0; i < 2 && status == INDIM_OK; i++) {
    c->headers[i] = header_of(c->cx, i == 0 ? a : b, &status);
  }
  if (status != INDIM_OK) {
    return status;
  }
  c->header_differs = strcmp(c->headers[0], c->headers[1]) != 0;
  c->changes = must_alloc(((size_t)c->sides[0].t.count + (size_t)c->sides[1].t.count + 1) * sizeof *c->changes);
  if (c->header_differs) {
    add(c, (change){CHANGE_HEADER, 0, -1, -1});
  }
  for (int64_t i = 0; i < indim_module_computation_count(a) && status == INDIM_OK; i++) {
    status = compare_computations(c, i, c->sides[0].computation_partner[i]);
  }
  for (int64_t i = 0; i < indim_module_computation_count(b); i++) {
    if (c->sides[1].computation_partner[i] < 0) {
      int64_t at = c->sides[1].t.first[i];
      add_new(c, &at, end_of(&c->sides[1], i));
    }
  }
  return status;
}

static void free_comparison(comparison *c) {
  diff_side_free(&c->sides[0]);
  diff_side_free(&c->sides[1]);
  free(c->headers[0]);
  free(c->headers[1]);
  free(c->changes);
}

static bool is_different(const comparison *c) { return c->header_differs || c->changed + c->gone + c->fresh > 0; }

// Words -----------------------------------------------------------------------------------------------------------------

static const struct {
  unsigned flag;
  const char *name;
} parts[] = {{DIFF_OP, "op"},
             {DIFF_SHAPE, "shape"},
             {DIFF_LAYOUT, "layout"},
             {DIFF_OPERANDS, "operands"},
             {DIFF_ATTRIBUTES, "attributes"},
             {DIFF_VALUE, "value"},
             {DIFF_CALLS, "calls"}};

static void list_parts(unsigned what, char *out, size_t size) {
  out[0] = '\0';
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if ((what & parts[i].flag) != 0) {
      snprintf(out + strlen(out), size - strlen(out), "%s%s", out[0] == '\0' ? "" : ", ", parts[i].name);
    }
  }
}

// An instruction's text, in |out|; of the header's change the header.
static void text_of(const comparison *c, const change *found, int side, indim_buffer *out) {
  int64_t number = side == 0 ? found->a : found->b;
  indim_buffer_clear(out);
  if (found->kind == CHANGE_HEADER) {
    indim_buffer_text(out, c->headers[side][0] == '\0' ? "" : c->headers[side] + 2);
  } else if (number >= 0) {
    indim_instr_print(c->sides[side].t.instrs[number], INDIM_PRINT_ELIDE_CONSTANTS, out);
  }
}

static indim_str computation_name(const comparison *c, int side, int64_t number) {
  if (number < 0) {
    return indim_str_of("");
  }
  return indim_computation_name(indim_module_computation(c->sides[side].t.module, c->sides[side].t.owner[number]));
}

static const char *const kind_names[] = {[CHANGE_SAME] = "same",
                                         [CHANGE_CHANGED] = "changed",
                                         [CHANGE_GONE] = "gone",
                                         [CHANGE_NEW] = "new",
                                         [CHANGE_HEADER] = "header"};

// The computation that a change belongs to: A's, or B's for what is new.
static int64_t place_of(const comparison *c, const change *found) {
  if (found->kind == CHANGE_HEADER) {
    return -1;
  }
  if (found->a >= 0) {
    return c->sides[0].t.owner[found->a];
  }
  int64_t b = c->sides[1].t.owner[found->b];
  int64_t a = c->sides[1].computation_partner[b];
  return a >= 0 ? a : indim_module_computation_count(c->sides[0].t.module) + b;
}

// The terminal ------------------------------------------------------------------------------------------------------------

// |text| in |width| columns, cut, and filled up unless it is the last.
static void print_cell(FILE *out, const indim_buffer *text, int width, bool is_last) {
  int size = (int)text->size;
  const char *data = text->data == NULL ? "" : text->data;
  if (size > width) {
    fprintf(out, "%.*s..", width - 2, data);
  } else {
    fprintf(out, "%.*s%*s", size, data, is_last ? 0 : width - size, "");
  }
}

static void print_title(FILE *out, const comparison *c, const change *found) {
  if (found->kind == CHANGE_HEADER) {
    fprintf(out, "header\n");
    return;
  }
  indim_str names[2] = {computation_name(c, 0, found->a), computation_name(c, 1, found->b)};
  int64_t a =
      found->a >= 0 ? c->sides[0].t.owner[found->a] : c->sides[1].computation_partner[c->sides[1].t.owner[found->b]];
  if (a >= 0) {
    names[0] = indim_computation_name(indim_module_computation(c->sides[0].t.module, a));
    int64_t b = c->sides[0].computation_partner[a];
    names[1] = b < 0 ? indim_str_of("") : indim_computation_name(indim_module_computation(c->sides[1].t.module, b));
  }
  if (names[0].size == 0) {
    fprintf(out, "computation %.*s, new\n", (int)names[1].size, names[1].data);
  } else if (names[1].size == 0) {
    fprintf(out, "computation %.*s, gone\n", (int)names[0].size, names[0].data);
  } else if (indim_str_equal(names[0], names[1])) {
    fprintf(out, "computation %.*s\n", (int)names[0].size, names[0].data);
  } else {
    fprintf(out, "computation %.*s, now %.*s\n", (int)names[0].size, names[0].data, (int)names[1].size, names[1].data);
  }
}

static const char *color_of(change_kind kind, bool has_color) {
  if (!has_color || kind == CHANGE_SAME) {
    return "";
  }
  return kind == CHANGE_GONE ? "\033[31m" : kind == CHANGE_NEW ? "\033[32m" : "\033[33m";
}

static void print_change(FILE *out, const comparison *c, const change *found, int width, indim_buffer texts[2]) {
  enum { TWO_COLUMNS = 130, MARGIN = 6 };
  bool has_color = c->has_color;
  const char *color = color_of(found->kind, has_color);
  const char *end = color[0] == '\0' ? "" : "\033[0m";
  char what[100];
  list_parts(found->what, what, sizeof what);
  text_of(c, found, 0, &texts[0]);
  text_of(c, found, 1, &texts[1]);
  static const char marks[] = {
      [CHANGE_SAME] = ' ', [CHANGE_CHANGED] = '~', [CHANGE_GONE] = '-', [CHANGE_NEW] = '+', [CHANGE_HEADER] = '~'};
  if (width >= TWO_COLUMNS) {
    int column = (width - MARGIN) / 2;
    fprintf(out, "%s%c ", color, marks[found->kind]);
    print_cell(out, &texts[0], column, false);
    fputs(" | ", out);
    print_cell(out, &texts[1], column, true);
    fprintf(out, "%s\n", end);
    if (what[0] != '\0') {
      fprintf(out, "    %s\n", what);
    }
    return;
  }
  if (found->kind == CHANGE_SAME) {
    fprintf(out, "  %s\n", texts[0].data);
    return;
  }
  bool is_pair = found->kind == CHANGE_CHANGED || found->kind == CHANGE_HEADER;
  if (found->kind != CHANGE_NEW) {
    fprintf(out, "%s- %s%s%s%s%s\n", has_color ? "\033[31m" : "", texts[0].data == NULL ? "" : texts[0].data,
            has_color ? "\033[0m" : "", what[0] == '\0' ? "" : "  (", what, what[0] == '\0' ? "" : ")");
  }
  if (found->kind == CHANGE_NEW || is_pair) {
    fprintf(out, "%s+ %s%s\n", has_color ? "\033[32m" : "", texts[1].data == NULL ? "" : texts[1].data,
            has_color ? "\033[0m" : "");
  }
}

static void print_counts(FILE *out, const comparison *c) {
  fprintf(out,
          "%" PRId64 " changed, %" PRId64 " gone, %" PRId64 " new, %" PRId64 " the same (%" PRId64
          " under another name)%s\n",
          c->changed, c->gone, c->fresh, c->same, c->renamed, c->header_differs ? "; the header differs" : "");
}

static void print_text(FILE *out, const comparison *c, bool all, indim_buffer texts[2]) {
  int width = terminal_width();
  int64_t place = -2;
  for (int64_t i = 0; i < c->count; i++) {
    const change *found = &c->changes[i];
    if (found->kind == CHANGE_SAME && !all) {
      continue;
    }
    if (place_of(c, found) != place) {
      place = place_of(c, found);
      print_title(out, c, found);
    }
    print_change(out, c, found, width, texts);
  }
  print_counts(out, c);
}

// JSON --------------------------------------------------------------------------------------------------------------------

static void add_side(const comparison *c, cJSON *object, const char *name, const change *found, int side,
                     indim_buffer *text) {
  int64_t number = side == 0 ? found->a : found->b;
  if (number < 0 && found->kind != CHANGE_HEADER) {
    return;
  }
  cJSON *entry = cJSON_AddObjectToObject(object, name);
  text_of(c, found, side, text);
  if (number >= 0) {
    cJSON_AddStringToObject(entry, "name", indim_instr_name(c->sides[side].t.instrs[number]).data);
    cJSON_AddStringToObject(entry, "computation", computation_name(c, side, number).data);
  }
  cJSON_AddStringToObject(entry, "text", text->data == NULL ? "" : text->data);
}

static void print_json(FILE *out, const comparison *c, bool all, bool brief, indim_buffer texts[2]) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddBoolToObject(object, "same", !is_different(c));
  cJSON *counts = cJSON_AddObjectToObject(object, "counts");
  cJSON_AddNumberToObject(counts, "changed", (double)c->changed);
  cJSON_AddNumberToObject(counts, "gone", (double)c->gone);
  cJSON_AddNumberToObject(counts, "new", (double)c->fresh);
  cJSON_AddNumberToObject(counts, "same", (double)c->same);
  cJSON_AddNumberToObject(counts, "renamed", (double)c->renamed);
  cJSON *list = cJSON_AddArrayToObject(object, "changes");
  for (int64_t i = 0; i < c->count && !brief; i++) {
    const change *found = &c->changes[i];
    if (found->kind == CHANGE_SAME && !all) {
      continue;
    }
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddItemToArray(list, entry);
    cJSON_AddStringToObject(entry, "kind", kind_names[found->kind]);
    cJSON *what = cJSON_AddArrayToObject(entry, "what");
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
      if ((found->what & parts[k].flag) != 0) {
        cJSON_AddItemToArray(what, cJSON_CreateString(parts[k].name));
      }
    }
    add_side(c, entry, "a", found, 0, &texts[0]);
    add_side(c, entry, "b", found, 1, &texts[1]);
  }
  char *text = json_text(object, true);
  fprintf(out, "%s\n", text);
  free(text);
}

// HTML --------------------------------------------------------------------------------------------------------------------

static void print_escaped(FILE *out, const indim_buffer *text) {
  for (size_t i = 0; i < text->size; i++) {
    char at = text->data[i];
    const char *word = at == '<' ? "&lt;" : at == '>' ? "&gt;" : at == '&' ? "&amp;" : at == '"' ? "&quot;" : NULL;
    if (word != NULL) {
      fputs(word, out);
    } else {
      fputc(at, out);
    }
  }
}

static void print_html(FILE *out, const comparison *c, bool all, indim_buffer texts[2]) {
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>indim diff</title>\n<style>\n"
        "body{font:14px system-ui,sans-serif;margin:1em;color-scheme:light dark}\n"
        "table{border-collapse:collapse;width:100%;table-layout:fixed}\n"
        "td{font:12px ui-monospace,monospace;vertical-align:top;padding:1px 6px;overflow-wrap:anywhere}\n"
        ".changed td,.header td{background:#fb02}.gone td:first-child{background:#f442}.new "
        "td:last-child{background:#4c42}\n"
        "i{display:block;color:gray}\n</style>\n",
        out);
  fprintf(out,
          "<p>%" PRId64 " changed, %" PRId64 " gone, %" PRId64 " new, %" PRId64 " the same (%" PRId64
          " under another name)</p>\n<table>\n",
          c->changed, c->gone, c->fresh, c->same, c->renamed);
  for (int64_t i = 0; i < c->count; i++) {
    const change *found = &c->changes[i];
    if (found->kind == CHANGE_SAME && !all) {
      continue;
    }
    char what[100];
    list_parts(found->what, what, sizeof what);
    text_of(c, found, 0, &texts[0]);
    text_of(c, found, 1, &texts[1]);
    fprintf(out, "<tr class=\"%s\"><td>", kind_names[found->kind]);
    print_escaped(out, &texts[0]);
    if (what[0] != '\0') {
      fprintf(out, "<i>%s</i>", what);
    }
    fputs("</td><td>", out);
    print_escaped(out, &texts[1]);
    fputs("</td></tr>\n", out);
  }
  fputs("</table></html>\n", out);
}

// --------------------------------------------------------------------------------------------------------------------------

typedef struct diff_options {
  const char *output;
  bool json, html, all, brief;
} diff_options;

static int show(FILE *out, comparison *c, const diff_options *options) {
  indim_buffer texts[2];
  indim_buffer_init(&texts[0], c->cx);
  indim_buffer_init(&texts[1], c->cx);
  if (options->json) {
    print_json(out, c, options->all, options->brief, texts);
  } else if (options->html) {
    print_html(out, c, options->all, texts);
  } else if (options->brief) {
    print_counts(out, c);
  } else {
    print_text(out, c, options->all, texts);
  }
  indim_status status = texts[0].status != INDIM_OK ? texts[0].status : texts[1].status;
  indim_buffer_deinit(&texts[0]);
  indim_buffer_deinit(&texts[1]);
  if (status != INDIM_OK) {
    (void)report(c->cx, status);
    return EXIT_TROUBLE;
  }
  return is_different(c) ? EXIT_DIFFERENT : EXIT_OK;
}

// What is shown goes into the file that is wanted, whole or not at all.
static int deliver(const command *self, comparison *c, const diff_options *options) {
  char *bytes = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&bytes, &size);
  if (out == NULL) {
    (void)refuse(self, INDIM_NO_MEMORY, "out of memory");
    return EXIT_TROUBLE;
  }
  int code = show(out, c, options);
  bool is_whole = ferror(out) == 0;
  if (fclose(out) != 0 || !is_whole) {
    (void)refuse(self, INDIM_NO_MEMORY, "out of memory");
    code = EXIT_TROUBLE;
  } else if (code != EXIT_TROUBLE && write_file(self, options->output, bytes, size) != EXIT_OK) {
    code = EXIT_TROUBLE;
  } else if (code != EXIT_TROUBLE) {
    json_answered();
  }
  free(bytes);
  return code;
}

static int run(indim_ctx *cx, const command *self, char **paths, const diff_options *options) {
  indim_module *modules[2] = {NULL, NULL};
  comparison c = {.cx = cx, .has_color = strcmp(options->output, "-") == 0 && terminal_has_color()};
  int code = EXIT_OK;
  for (int i = 0; i < 2 && code == EXIT_OK; i++) {
    indim_status status = INDIM_OK;
    code = load_module(cx, self, paths[i], true, &modules[i], &status);
    if (code == EXIT_OK && status != INDIM_OK) {
      code = report(cx, status);
    }
    code = code == EXIT_OK ? EXIT_OK : EXIT_TROUBLE;
  }
  if (code == EXIT_OK) {
    indim_status status = compare_programs(&c, modules[0], modules[1]);
    if (status != INDIM_OK) {
      (void)report(cx, status);
      code = EXIT_TROUBLE;
    } else {
      code = deliver(self, &c, options);
    }
    free_comparison(&c);
  }
  indim_module_destroy(modules[0]);
  indim_module_destroy(modules[1]);
  return code;
}

int command_diff(indim_ctx *cx, const command *self, int argc, char **argv) {
  diff_options options = {.output = "-"};
  option_walk walk;
  options_start(&walk, self, specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    options.output = option == OPTION_OUTPUT ? walk.value : options.output;
    options.json = options.json || option == OPTION_JSON;
    options.html = options.html || option == OPTION_HTML;
    options.all = options.all || option == OPTION_ALL;
    options.brief = options.brief || option == OPTION_BRIEF;
  }
  if (walk.operand_count != 2) {
    return usage_error(self, "give two programs");
  }
  if (options.json && options.html) {
    return usage_error(self, "give one of --html and --json");
  }
  if (strcmp(walk.operands[0], "-") == 0 && strcmp(walk.operands[1], "-") == 0) {
    return usage_error(self, "standard input is one program; give the other one as a file");
  }
  int code = keep_program(self, walk.operands[0], options.output);
  code = code != EXIT_OK ? code : keep_program(self, walk.operands[1], options.output);
  return code != EXIT_OK ? code : run(cx, self, walk.operands, &options);
}
