// indim run: a program, its arguments, its results.
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "indim/eval.h"
#include "indim/text.h"
#include "tool.h"

const char *const help_run =
    "Usage: indim run [OPTION...] FILE [ARGUMENT...]\n"
    "\n"
    "Runs a program (HLO text; - is standard input) and prints each result as a literal. An argument is a .npy file,\n"
    "a literal with its shape ('f32[2] {1, 2}'), or bare values that take the parameter's shape ('3', '{1, 2}').\n"
    "\n"
    "Options:\n"
    "  -o FILE, --output=FILE  write the result there: FILE.npy for an array, FILE.npz for the leaves of any result "
    "by\n"
    "                          their path (0, 1, 2.0; a lone array is 0)\n"
    "  --json                  print {\"results\":[{\"path\":\"0\",\"shape\":\"f32[2]{0}\",\"data\":[1,2]}]}; NaN and "
    "infinities\n"
    "                          are strings, complex numbers pairs\n"
    "  --layouts               print layouts in the shapes of literals\n"
    "  --engine=eval           which engine runs it; eval, the plain evaluator, is the only one\n"
    "  --max-memory=N[K|M|G]   refuse to hold more than N bytes\n"
    "  --max-steps=N           stop after N instructions, those of loops each time\n"
    "\n"
    "Exit codes: 0 ok, 1 program or argument refused, 2 usage, 3 file, 4 limit, 5 not supported, 6 out of memory,\n"
    "7 defect of indim, 130 interrupted.\n"
    "\n"
    "Example:\n"
    "  $ indim run examples/seeds/row_add.hlo 'f32[2,3] {{1, 2, 3}, {4, 5, 6}}' '{7, 8, 9}'\n";

enum { OPTION_OUTPUT = 1, OPTION_JSON, OPTION_ENGINE, OPTION_MEMORY, OPTION_STEPS, OPTION_LAYOUTS };

static const option_spec specs[] = {{"output", 'o', OPTION_OUTPUT, true},
                                    {"json", 0, OPTION_JSON, false},
                                    {"engine", 0, OPTION_ENGINE, true},
                                    {"max-memory", 0, OPTION_MEMORY, true},
                                    {"max-steps", 0, OPTION_STEPS, true},
                                    {"layouts", 0, OPTION_LAYOUTS, false},
                                    {0}};

typedef struct run_options {
  const char *output;  // NULL: print
  bool json;
  bool layouts;
  indim_eval_options eval;
} run_options;

// Interrupt and progress --------------------------------------------------------------------------------------------

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}

// What the poll keeps: when the run began, and which second was shown last.
typedef struct progress {
  struct timespec start;
  long shown;
  bool to_terminal;
} progress;

static bool poll(void *user) {
  progress *p = user;
  if (p->to_terminal && !interrupted) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long seconds = (long)(now.tv_sec - p->start.tv_sec);
    if (seconds >= 2 && seconds != p->shown) {
      fprintf(stderr, "\rrunning, %ld s (Ctrl-C stops)", seconds);
      p->shown = seconds;
    }
  }
  return interrupted != 0;
}

static indim_status evaluate(indim_ctx *cx, const indim_module *module, const indim_literal *const *arguments,
                             int64_t count, const run_options *options, indim_literal **out_result) {
  progress p = {.shown = 0, .to_terminal = isatty(STDERR_FILENO) != 0};
  clock_gettime(CLOCK_MONOTONIC, &p.start);
  signal(SIGINT, on_interrupt);
  indim_ctx_set_interrupt(cx, poll, &p);
  indim_status status = indim_eval(cx, module, arguments, count, &options->eval, out_result);
  indim_ctx_set_interrupt(cx, NULL, NULL);
  if (p.shown > 0) {
    fputs("\r                               \r", stderr);
  }
  return status;
}

// Results -----------------------------------------------------------------------------------------------------------

static bool ends_with(const char *text, const char *end) {
  size_t size = strlen(text);
  size_t end_size = strlen(end);
  return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static int write_npy(indim_ctx *cx, const command *self, const char *path, const indim_literal *literal) {
  indim_buffer bytes;
  indim_buffer_init(&bytes, cx);
  indim_status status = indim_npy_print(cx, literal, &bytes);
  int code = status == INDIM_OK ? write_file(self, path, bytes.data, bytes.size) : report(cx, status);
  indim_buffer_deinit(&bytes);
  return code;
}

static int print_literal(indim_ctx *cx, const indim_literal *literal, bool layouts) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  unsigned flags = (unsigned)INDIM_LITERAL_SHAPE | (layouts ? (unsigned)INDIM_LITERAL_LAYOUT : 0);
  indim_literal_print(literal, flags, &text);
  int code = EXIT_OK;
  if (text.status != INDIM_OK) {
    code = report(cx, text.status);
  } else {
    fwrite(text.data, 1, text.size, stdout);
    putchar('\n');
  }
  indim_buffer_deinit(&text);
  return code;
}

static int deliver(indim_ctx *cx, const command *self, const indim_literal *result, const run_options *options) {
  if (options->output == NULL) {
    return options->json ? print_json_results(cx, result) : print_literal(cx, result, options->layouts);
  }
  int code = ends_with(options->output, ".npz") ? write_npz(cx, self, options->output, result)
                                                : write_npy(cx, self, options->output, result);
  return code == EXIT_OK && options->json ? print_json_results(cx, result) : code;
}

// An output that cannot work is refused before the run, not after it.
static int check_output(const command *self, const indim_module *module, const run_options *options) {
  if (options->output == NULL || ends_with(options->output, ".npz")) {
    return EXIT_OK;
  }
  if (!ends_with(options->output, ".npy")) {
    return usage_error(self, "%s: an output ends in .npy or .npz", options->output);
  }
  const indim_instr *root = indim_computation_root(indim_module_entry(module));
  if (!indim_shape_is_array(indim_instr_shape(root))) {
    return usage_error(self, "%s: a .npy file holds one array, and the result is a tuple; use .npz", options->output);
  }
  return EXIT_OK;
}

// Arguments ---------------------------------------------------------------------------------------------------------

static int read_arguments(indim_ctx *cx, const command *self, const indim_module *module, char **texts, int count,
                          indim_literal **arguments) {
  const indim_computation *entry = indim_module_entry(module);
  int64_t parameters = indim_computation_parameter_count(entry);
  if (count != parameters) {
    fprintf(stderr, "indim run: the program takes %" PRId64 " argument%s, %d %s given\n", parameters,
            parameters == 1 ? "" : "s", count, count == 1 ? "is" : "are");
    for (int64_t i = 0; i < parameters; i++) {
      const indim_instr *parameter = indim_computation_parameter(entry, i);
      char *shape = shape_text(cx, indim_instr_shape(parameter), false);
      indim_str name = indim_instr_name(parameter);
      fprintf(stderr, "  %" PRId64 "  %s  %.*s\n", i, shape, (int)name.size, name.data);
      free(shape);
    }
    return EXIT_REFUSED;
  }
  for (int i = 0; i < count; i++) {
    const indim_shape *shape = indim_instr_shape(indim_computation_parameter(entry, i));
    int code = read_argument(cx, self, texts[i], shape, &arguments[i]);
    if (code != EXIT_OK) {
      fprintf(stderr, "  in argument %d\n", i);
      return code;
    }
  }
  return EXIT_OK;
}

static int run_module(indim_ctx *cx, const command *self, const indim_module *module, char **texts, int count,
                      const run_options *options) {
  int code = check_output(self, module, options);
  if (code != EXIT_OK) {
    return code;
  }
  indim_literal **arguments = must_alloc(((size_t)count + 1) * sizeof *arguments);
  for (int i = 0; i < count; i++) {
    arguments[i] = NULL;
  }
  code = read_arguments(cx, self, module, texts, count, arguments);
  if (code == EXIT_OK) {
    indim_literal *result = NULL;
    indim_status status = evaluate(cx, module, (const indim_literal *const *)arguments, count, options, &result);
    code = status == INDIM_OK ? deliver(cx, self, result, options) : report(cx, status);
    indim_literal_destroy(result);
  }
  for (int i = 0; i < count; i++) {
    indim_literal_destroy(arguments[i]);
  }
  free(arguments);
  return code;
}

static int set_option(indim_ctx *cx, const command *self, int option, const char *value, run_options *options) {
  uint64_t count = 0;
  switch (option) {
  case OPTION_OUTPUT:
    options->output = value;
    return EXIT_OK;
  case OPTION_JSON:
    options->json = true;
    return EXIT_OK;
  case OPTION_LAYOUTS:
    options->layouts = true;
    return EXIT_OK;
  case OPTION_ENGINE:
    return strcmp(value, "eval") == 0 ? EXIT_OK : usage_error(self, "there is no engine '%s'; there is eval", value);
  default:
    break;
  }
  if (!parse_count(value, &count) || count == 0) {
    return usage_error(self, "'%s' is no positive number like 1000 or 4G", value);
  }
  if (option == OPTION_MEMORY) {
    indim_ctx_set_memory_limit(cx, count);
  } else {
    options->eval.max_steps = count;
  }
  return EXIT_OK;
}

int command_run(indim_ctx *cx, const command *self, int argc, char **argv) {
  run_options options = {0};
  option_walk walk;
  options_start(&walk, self, specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    int code = set_option(cx, self, option, walk.value, &options);
    if (code != EXIT_OK) {
      return code;
    }
  }
  if (walk.operand_count == 0) {
    return usage_error(self, "give a program");
  }
  indim_module *module = NULL;
  indim_status status = INDIM_OK;
  int code = load_module(cx, self, walk.operands[0], true, &module, &status);
  if (code != EXIT_OK) {
    return code;
  }
  if (status != INDIM_OK) {
    return report(cx, status);
  }
  code = run_module(cx, self, module, walk.operands + 1, walk.operand_count - 1, &options);
  indim_module_destroy(module);
  return code;
}
