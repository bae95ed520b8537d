// indim view: a program, and what the compiler made of it, as one HTML file that needs nothing else.
#include "view.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "compiling.h"
#include "indim/text.h"

const char *const help_view =
    "Usage: indim view [OPTION...] FILE\n"
    "\n"
    "Writes a program (HLO, StableHLO or a protocol buffer; - is standard input) as one HTML file to look at in a\n"
    "browser: its computations as text and as graphs, where each array lives, what was fused and why not, the steps\n"
    "that are executed with their loops and machine code, the buffers in working memory over the steps, copies and\n"
    "transposes. The file needs no network. A program that does not compile is shown with the reason.\n"
    "\n"
    "Options:\n"
    "  -o FILE, --output=FILE  write there instead of to standard output\n"
    "  --profile=FILE          show times: a profile of `indim run` in JSON, of the same program and target\n"
    "  --target=NAME           as it is compiled for that processor; --target=help lists the names\n"
    "  --fast=NAME,...         as it is compiled with these (`indim run --help`)\n"
    "  --without=NAME,...      as it is compiled without these decisions (`indim compile --without=help`)\n"
    "  --choices=FILE          as it is compiled with the choices that `indim tune` found\n"
    "  --custom-call=NAME=LIBRARY:SYMBOL, --ffi-handler=NAME=LIBRARY:SYMBOL\n"
    "                          functions for custom calls (`indim run --help`)\n"
    "  --max-memory=N[K|M|G]   refuse to hold more than N bytes\n"
    "  --crash-from=BYTES      for tests: make LLVM crash where vectors have so many bytes (`indim compile --help`)\n"
    "\n"
    "Exit code 1 when the program breaks a rule; the page is written all the same, with the reason in it.\n"
    "\n"
    "Example:\n"
    "  $ indim view examples/digits/digits.hlo -o digits.html\n";

enum { OPTION_OUTPUT = 1, OPTION_PROFILE };

static const option_spec specs[] = {
    {"output", 'o', OPTION_OUTPUT, true}, {"profile", 0, OPTION_PROFILE, true}, COMPILING_OPTIONS, {0}};

typedef struct view_options {
  const char *output;
  const char *profile;
  indim_compile_options compile;
} view_options;

// The program -----------------------------------------------------------------------------------------------------------

// ["name","op","shape",[operands],"text",[called]]: numbers of operands in the computation, of computations in the module.
static void put_instr(indim_ctx *cx, const indim_instr *instr, indim_buffer *out) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_buffer_text(out, indim_instr_index(instr) == 0 ? "\n[" : ",\n[");
  indim_buffer_json(out, indim_instr_name(instr));
  indim_buffer_printf(out, ",\"%s\",", indim_op_get(indim_instr_op(instr))->text);
  if (indim_instr_shape(instr) != NULL) {
    indim_shape_print(indim_instr_shape(instr), true, &text);
  }
  indim_buffer_json(out, (indim_str){text.size == 0 ? "" : text.data, text.size});
  indim_buffer_text(out, ",[");
  for (int64_t k = 0; k < indim_instr_operand_count(instr); k++) {
    indim_buffer_text(out, k == 0 ? "" : ",");
    indim_buffer_int(out, indim_instr_index(indim_instr_operand(instr, k)));
  }
  indim_buffer_text(out, "],");
  indim_buffer_clear(&text);
  indim_instr_print(instr, INDIM_PRINT_ELIDE_CONSTANTS | INDIM_PRINT_METADATA, &text);
  indim_buffer_json(out, (indim_str){text.size == 0 ? "" : text.data, text.size});
  for (int64_t k = 0; k < indim_instr_called_count(instr); k++) {
    indim_buffer_text(out, k == 0 ? ",[" : ",");
    indim_buffer_int(out, indim_computation_index(indim_instr_called(instr, k)));
  }
  indim_buffer_text(out, indim_instr_called_count(instr) > 0 ? "]]" : "]");
  indim_buffer_deinit(&text);
}

static void put_computation(indim_ctx *cx, const indim_module *module, const indim_computation *computation,
                            indim_buffer *out) {
  indim_buffer_text(out, indim_computation_index(computation) == 0 ? "\n{\"name\":" : ",\n{\"name\":");
  indim_buffer_json(out, indim_computation_name(computation));
  indim_buffer_printf(out, ",\"entry\":%s,\"root\":%lld,\"instructions\":[",
                      computation == indim_module_entry(module) ? "true" : "false",
                      (long long)indim_instr_index(indim_computation_root(computation)));
  for (int64_t i = 0; i < indim_computation_instr_count(computation); i++) {
    put_instr(cx, indim_computation_instr(computation, i), out);
  }
  indim_buffer_text(out, "]}");
}

// What the ops that occur mean: {"add":"x + y"}.
static void put_ops(const indim_module *module, indim_buffer *out) {
  bool seen[INDIM_OP_COUNT] = {false};
  const char *separator = "";
  for (int64_t c = 0; c < indim_module_computation_count(module); c++) {
    const indim_computation *computation = indim_module_computation(module, c);
    for (int64_t i = 0; i < indim_computation_instr_count(computation); i++) {
      indim_op op = indim_instr_op(indim_computation_instr(computation, i));
      if (op < INDIM_OP_COUNT && !seen[op]) {
        seen[op] = true;
        indim_buffer_printf(out, "%s\"%s\":", separator, indim_op_get(op)->text);
        indim_buffer_json(out, indim_str_of(indim_op_get(op)->meaning));
        separator = ",";
      }
    }
  }
}

// The data --------------------------------------------------------------------------------------------------------------

typedef struct findings {
  const char *path;
  const indim_module *module;
  const indim_buffer *report;
  char *profile;  // JSON; NULL: none
} findings;

// What the context was told while the program was checked and compiled.
static void put_problems(indim_ctx *cx, indim_buffer *out) {
  const indim_diagnostic *d = NULL;
  for (size_t i = 0; (d = indim_ctx_diagnostic_get(cx, i)) != NULL; i++) {
    indim_buffer_printf(out, "%s{\"line\":%d,\"column\":%d,\"message\":", i == 0 ? "" : ",", (int)d->line,
                        (int)d->column);
    indim_buffer_json(out, indim_str_of(d->message));
    indim_buffer_text(out, ",\"hint\":");
    indim_buffer_json(out, indim_str_of(d->hint));
    indim_buffer_char(out, '}');
  }
}

static void put_data(indim_ctx *cx, const findings *f, indim_buffer *out) {
  const indim_module *module = f->module;
  indim_buffer_text(out, "{\"program\":");
  indim_buffer_json(out, indim_str_of(f->path));
  indim_buffer_text(out, ",\"module\":");
  indim_buffer_json(out, indim_module_name(module));
  indim_buffer_text(out, ",\"problems\":[");
  put_problems(cx, out);
  indim_buffer_text(out, "],\n\"ops\":{");
  put_ops(module, out);
  indim_buffer_text(out, "},\n\"shapes\":{");
  view_put_shapes(cx, module, out);
  indim_buffer_text(out, "},\n\"computations\":[");
  for (int64_t c = 0; c < indim_module_computation_count(module); c++) {
    put_computation(cx, module, indim_module_computation(module, c), out);
  }
  indim_buffer_text(out, "],\n\"profile\":");
  indim_buffer_text(out, f->profile == NULL ? "null" : f->profile);
  indim_buffer_text(out, ",\n\"report\":");
  if (f->report->size > 0) {
    indim_buffer_append(out, f->report->data, f->report->size);
  } else {
    indim_buffer_text(out, "null");
  }
  indim_buffer_text(out, "}");
}

// JSON inside a script element: nothing of it may end the element. These stand in strings alone.
static void put_escaped(const indim_buffer *data, indim_buffer *out) {
  size_t from = 0;
  for (size_t i = 0; i < data->size; i++) {
    char c = data->data[i];
    if (c == '<' || c == '>' || c == '&') {
      indim_buffer_append(out, data->data + from, i - from);
      indim_buffer_printf(out, "\\u%04x", (unsigned)c);
      from = i + 1;
    }
  }
  indim_buffer_append(out, data->data + from, data->size - from);
}

static int write_page(indim_ctx *cx, const command *self, const view_options *options, const findings *f) {
  static const char mark[] = "@DATA@";
  indim_buffer data, page;
  indim_buffer_init(&data, cx);
  indim_buffer_init(&page, cx);
  put_data(cx, f, &data);
  const char *text = (const char *)view_page;
  size_t at = 0;
  while (memcmp(text + at, mark, sizeof mark - 1) != 0) {
    at++;
  }
  indim_buffer_append(&page, text, at);
  put_escaped(&data, &page);
  at += sizeof mark - 1;
  indim_buffer_append(&page, text + at, view_page_size - at);
  indim_status status = data.status != INDIM_OK ? data.status : page.status;
  int code = status != INDIM_OK ? report(cx, status) : write_file(self, options->output, page.data, page.size);
  indim_buffer_deinit(&data);
  indim_buffer_deinit(&page);
  return code;
}

// Work ------------------------------------------------------------------------------------------------------------------

// What `indim run --profile --json` prints, or a part of it down to the list of steps, as programs in Python have it.
static bool is_profile(const cJSON *value) {
  const cJSON *profile = cJSON_GetObjectItemCaseSensitive(value, "profile");
  const cJSON *steps = cJSON_GetObjectItemCaseSensitive(profile == NULL ? value : profile, "steps");
  return cJSON_IsArray(value) || cJSON_IsArray(steps);
}

// The text of a profile, to be freed with free().
static int read_profile(const command *self, const char *path, char **out_text) {
  char *bytes = NULL;
  size_t size = 0;
  int code = read_file(self, path, &bytes, &size);
  if (code != EXIT_OK) {
    return code;
  }
  cJSON *value = cJSON_ParseWithLength(bytes, size);
  free(bytes);
  if (!is_profile(value)) {
    cJSON_Delete(value);
    return refuse(self, INDIM_SYNTAX, "%s is no profile; `indim run --profile --json` prints one", path);
  }
  *out_text = json_text(value, false);
  return EXIT_OK;
}

static int view(indim_ctx *cx, const command *self, view_options *options, const char *path) {
  indim_module *module = NULL;
  indim_executable *executable = NULL;
  indim_buffer text;
  indim_status status = INDIM_OK;
  findings f = {.path = path, .report = &text};
  int code = options->profile == NULL ? EXIT_OK : read_profile(self, options->profile, &f.profile);
  code = code == EXIT_OK ? load_module(cx, self, path, false, &module, &status) : code;
  if (code != EXIT_OK || status != INDIM_OK) {
    free(f.profile);
    return code != EXIT_OK ? code : report(cx, status);
  }
  indim_buffer_init(&text, cx);
  f.module = module;
  status = indim_module_verify(cx, module);
  bool is_valid = status == INDIM_OK;
  if (is_valid) {
    options->compile.out_report = &text;
    status = compile_module(cx, module, &options->compile, &executable);
  }
  if (status == INDIM_INTERRUPTED || status == INDIM_NO_MEMORY) {
    code = report(cx, status);
  } else {
    code = write_page(cx, self, options, &f);
    int reason = report(cx, status);  // told on standard error, too
    code = code == EXIT_OK && !is_valid ? reason : code;
  }
  indim_executable_destroy(executable);
  indim_buffer_deinit(&text);
  indim_module_destroy(module);
  free(f.profile);
  return code;
}

static int set_option(indim_ctx *cx, const command *self, int option, const char *value, view_options *options) {
  switch (option) {
  case OPTION_OUTPUT:
    options->output = value;
    return EXIT_OK;
  case OPTION_PROFILE:
    options->profile = value;
    return EXIT_OK;
  default:
    return compiling_option(cx, self, option, value, &options->compile);
  }
}

int command_view(indim_ctx *cx, const command *self, int argc, char **argv) {
  view_options options = {.output = "-"};
  option_walk walk;
  options_start(&walk, self, specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    if (compiling_help(option, walk.value)) {
      return EXIT_OK;
    }
    int code = set_option(cx, self, option, walk.value, &options);
    if (code != EXIT_OK) {
      return code;
    }
  }
  if (walk.operand_count != 1) {
    return usage_error(self, "give one file");
  }
  int code = keep_program(self, walk.operands[0], options.output);
  return code != EXIT_OK ? code : view(cx, self, &options, walk.operands[0]);
}
