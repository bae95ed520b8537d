// indim check and indim print: programs are read, verified, and printed back.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "indim/read.h"
#include "indim/text.h"
#include "tool.h"

const char *const help_check =
    "Usage: indim check [--json] FILE...\n"
    "\n"
    "Reads programs (HLO, StableHLO or a protocol buffer; - is standard input) and verifies them: syntax, names,\n"
    "operands, shapes, attributes, called computations. Every error has its place, both sides, and the way out.\n"
    "\n"
    "Options:\n"
    "  --json  print a JSON array, one object a file: {\"file\":..,\"ok\":..,\"errors\":[..]}\n"
    "\n"
    "Exit code 1 when a program is refused.\n"
    "\n"
    "Example:\n"
    "  $ indim check examples/digits/digits.hlo\n";

const char *const help_print =
    "Usage: indim print [OPTION...] FILE\n"
    "\n"
    "Prints a program in canonical text, which reads back as the same program.\n"
    "\n"
    "Options:\n"
    "  -o FILE, --output=FILE  write there instead of to standard output\n"
    "  --elide                 print constants of more than 10 elements as {...}\n"
    "  --metadata              keep metadata and the frame sections\n"
    "  --percent               write % before names\n"
    "  --program-shapes        write (parameters) -> result behind the names of computations\n"
    "  --no-verify             print also what does not verify\n"
    "\n"
    "Example:\n"
    "  $ indim print --elide examples/digits/digits.hlo\n";

enum { OPTION_JSON = 1, OPTION_OUTPUT, OPTION_ELIDE, OPTION_METADATA, OPTION_PERCENT, OPTION_SHAPES, OPTION_NO_VERIFY };

static const option_spec check_specs[] = {{"json", 0, OPTION_JSON, false}, {0}};

static const option_spec print_specs[] = {{"output", 'o', OPTION_OUTPUT, true},
                                          {"elide", 0, OPTION_ELIDE, false},
                                          {"metadata", 0, OPTION_METADATA, false},
                                          {"percent", 0, OPTION_PERCENT, false},
                                          {"program-shapes", 0, OPTION_SHAPES, false},
                                          {"no-verify", 0, OPTION_NO_VERIFY, false},
                                          {0}};

int load_module(indim_ctx *cx, const command *self, const char *path, bool verify, indim_module **out_module,
                indim_status *out_status) {
  char *bytes = NULL;
  size_t size = 0;
  *out_module = NULL;
  *out_status = INDIM_OK;
  int code = read_file(self, path, &bytes, &size);
  if (code != EXIT_OK) {
    return code;
  }
  const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
  *out_status = indim_module_read(cx, indim_str_of(name), bytes, size, out_module);
  if (*out_status == INDIM_OK && verify) {
    *out_status = indim_module_verify(cx, *out_module);
  }
  free(bytes);
  if (*out_status != INDIM_OK) {
    indim_module_destroy(*out_module);
    *out_module = NULL;
  }
  return EXIT_OK;
}

static void print_counts(const char *path, const indim_module *module) {
  int64_t computations = indim_module_computation_count(module);
  int64_t instrs = indim_module_instr_count(module);
  char *shown = shown_path(path);
  printf("%s: ok, %" PRId64 " computation%s, %" PRId64 " instruction%s\n", shown, computations,
         computations == 1 ? "" : "s", instrs, instrs == 1 ? "" : "s");
  free(shown);
}

// A line about a program that is right, or an object of any program into the |list|.
static int check_file(indim_ctx *cx, const command *self, const char *path, cJSON *list) {
  indim_module *module = NULL;
  indim_status status = INDIM_OK;
  int code = load_module(cx, self, path, true, &module, &status);
  if (code == EXIT_OK && status != INDIM_OK) {
    code = report(cx, status);
  }
  if (list != NULL) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "file", path);
    cJSON_AddBoolToObject(object, "ok", code == EXIT_OK);
    cJSON_AddItemToObject(object, "errors", json_take_reasons());
    cJSON_AddItemToArray(list, object);
  } else if (code == EXIT_OK) {
    print_counts(path, module);
  }
  indim_module_destroy(module);
  return code;
}

int command_check(indim_ctx *cx, const command *self, int argc, char **argv) {
  bool json = false;
  option_walk walk;
  options_start(&walk, self, check_specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    json = true;
  }
  if (walk.operand_count == 0) {
    return usage_error(self, "give at least one file");
  }
  cJSON *list = json ? cJSON_CreateArray() : NULL;
  int worst = EXIT_OK;
  for (int i = 0; i < walk.operand_count; i++) {
    int code = check_file(cx, self, walk.operands[i], list);
    worst = code > worst ? code : worst;
  }
  if (json) {
    json_print(list, true);
  }
  return worst;
}

int command_print(indim_ctx *cx, const command *self, int argc, char **argv) {
  unsigned flags = 0;
  bool verify = true;
  const char *output = "-";
  option_walk walk;
  options_start(&walk, self, print_specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    output = option == OPTION_OUTPUT ? walk.value : output;
    flags |= option == OPTION_ELIDE ? (unsigned)INDIM_PRINT_ELIDE_CONSTANTS : 0;
    flags |= option == OPTION_METADATA ? (unsigned)INDIM_PRINT_METADATA : 0;
    flags |= option == OPTION_PERCENT ? (unsigned)INDIM_PRINT_PERCENT : 0;
    flags |= option == OPTION_SHAPES ? (unsigned)INDIM_PRINT_PROGRAM_SHAPES : 0;
    verify = verify && option != OPTION_NO_VERIFY;
  }
  if (walk.operand_count != 1) {
    return usage_error(self, "give one file");
  }
  indim_module *module = NULL;
  indim_status status = INDIM_OK;
  int code = load_module(cx, self, walk.operands[0], verify, &module, &status);
  if (code != EXIT_OK) {
    return code;
  }
  if (status != INDIM_OK) {
    return report(cx, status);
  }
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_module_print(module, flags, &text);
  code = text.status == INDIM_OK ? write_file(self, output, text.size == 0 ? "" : text.data, text.size)
                                 : report(cx, text.status);
  indim_buffer_deinit(&text);
  indim_module_destroy(module);
  return code;
}
