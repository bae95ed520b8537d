// indim run: a program, its arguments, its results.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiling.h"
#include "indim/eval.h"
#include "indim/text.h"
#include "profile.h"
#include "tool.h"

const char *const help_run =
    "Usage: indim run [OPTION...] FILE [ARGUMENT...]\n"
    "\n"
    "Runs a program (HLO, StableHLO or a protocol buffer; - is standard input) and prints each result as a literal. "
    "An\n"
    "argument is a .npy file, a literal with its shape ('f32[2] {1, 2}'), or bare values that take the parameter's\n"
    "shape ('3', '{1, 2}').\n"
    "\n"
    "Options:\n"
    "  -o FILE, --output=FILE  write the result there: FILE.npy for an array, FILE.npz for the leaves of any result\n"
    "                          by their path (0, 1, 2.0; a lone array is 0)\n"
    "  --json                  print {\"results\":[{\"path\":\"0\",\"shape\":\"f32[2]{0}\",\"data\":[1,2]}],\n"
    "                          \"engine\":\"native\"}; NaN and infinities are strings, complex numbers pairs\n"
    "  --layouts               print layouts in the shapes of literals\n"
    "  --engine=ENGINE         native: compile to machine code; eval: the plain evaluator, slow and right; auto, the\n"
    "                          usual: native, and eval with a word on standard error for what does not compile\n"
    "  --target=NAME           compile for that processor, not for all that this one has (x86-64-v3 on a machine with\n"
    "                          AVX-512, to see what a lesser one does); --target=help lists the names\n"
    "  --threads=N             so many threads, 1 unless said; the results are the same bits for any number;\n"
    "                          --threads=auto: what INDIM_NUM_THREADS says, or the processors that this process may\n"
    "                          use by its affinity and cgroup; with --json told as \"threads\":N\n"
    "  --repeat=N              run once to warm up and then N times, and tell the median and the least time of one\n"
    "                          execution on standard error; with --json as\n"
    "                          \"time_ns\":{\"median\":..,\"min\":..,\"compile\":..}\n"
    "  --profile               tell for each loop nest and call of the host how long it takes, what it moves and "
    "computes,\n"
    "                          in place of the results, and what measuring costs; without arguments the program is "
    "run\n"
    "                          on made-up ones (floats from 0.5 to 1.5, integers 1). With --json as \"profile\":{..}\n"
    "  --limits                with --profile: measure the machine's bandwidth and multiplications, too, and tell how\n"
    "                          near to them each step comes\n"
    "  --fast=NAME,...         relax strict IEEE: contract (a*b+c rounded once), reassociate (sums and products in\n"
    "                          another order), reciprocal (a/b as a*(1/b)), flush (subnormal numbers as zeros)\n"
    "  --without=NAME,...      compile without these decisions (`indim compile --without=help`)\n"
    "  --choices=FILE          compile with the choices that `indim tune` found\n"
    "  --max-memory=N[K|M|G]   refuse to hold more than N bytes of arguments, results, working memory and what the\n"
    "                          compiler keeps; what LLVM takes for itself is estimated\n"
    "  --custom-call=NAME=LIBRARY:SYMBOL\n"
    "                          custom calls of NAME run that function of a shared library (indim/custom_call.h);\n"
    "                          --ffi-handler=NAME=LIBRARY:SYMBOL for a handler of XLA's typed interface\n"
    "  --crash-from=BYTES      for tests: make LLVM crash where vectors have so many bytes (`indim compile --help`)\n"
    "  --max-steps=N           stop after N instructions, those of loops each time; only the evaluator counts, so\n"
    "                          this means --engine=eval\n"
    "\n"
    "Ctrl-C stops programs and the compiler, this once LLVM is through; a second one ends indim at once.\n"
    "\n"
    "Exit codes: 0 ok, 1 program or argument refused, 2 usage, 3 file, 4 limit, 5 not supported, 6 out of memory,\n"
    "7 defect of indim, 130 interrupted.\n"
    "\n"
    "Examples:\n"
    "  $ indim run examples/seeds/row_add.hlo 'f32[2,3] {{1, 2, 3}, {4, 5, 6}}' '{7, 8, 9}'\n"
    "  $ indim run --threads=2 --repeat=100 -o y.npy program.hlo x.npy\n";

enum {
  OPTION_OUTPUT = 1,
  OPTION_JSON,
  OPTION_ENGINE,
  OPTION_STEPS,
  OPTION_LAYOUTS,
  OPTION_THREADS,
  OPTION_REPEAT,
  OPTION_PROFILE,
  OPTION_LIMITS
};

static const option_spec specs[] = {{"output", 'o', OPTION_OUTPUT, true},
                                    {"json", 0, OPTION_JSON, false},
                                    {"engine", 0, OPTION_ENGINE, true},
                                    {"max-steps", 0, OPTION_STEPS, true},
                                    {"layouts", 0, OPTION_LAYOUTS, false},
                                    {"threads", 0, OPTION_THREADS, true},
                                    {"repeat", 0, OPTION_REPEAT, true},

                                    COMPILING_OPTIONS,
                                    {"profile", 0, OPTION_PROFILE, false},
                                    {"limits", 0, OPTION_LIMITS, false},
                                    {0}};

typedef enum engine { ENGINE_AUTO, ENGINE_NATIVE, ENGINE_EVAL } engine;

typedef struct run_options {
  const char *output;  // NULL: print
  bool json;
  bool layouts;
  bool profile;
  bool limits;
  engine engine;
  indim_compile_options compile;
  int32_t threads;  // 0: not said
  bool is_auto;     // --threads=auto
  int64_t repeat;   // 0: not said
  indim_eval_options eval;
} run_options;

// What a run gave.
typedef struct outcome {
  indim_literal *result;
  const char *engine;
  const char *target;  // of native code
  int32_t threads;     // that it ran on; 0: on those of the evaluator
  run_times times;
} outcome;

// Running -----------------------------------------------------------------------------------------------------------

static int compare_times(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a;
  int64_t y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void take_times(int64_t *times, int64_t count, run_times *out) {
  if (count > 0) {
    qsort(times, (size_t)count, sizeof *times, compare_times);
    out->count = count;
    out->least = times[0];
    out->median = count % 2 != 0 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
  }
}

static indim_status evaluate(indim_ctx *cx, const indim_module *module, const indim_literal *const *arguments,
                             int64_t count, const run_options *options, int64_t *times, outcome *out) {
  out->engine = "eval";
  work_begin(cx, "evaluating");
  indim_status status = indim_eval(cx, module, arguments, count, &options->eval, &out->result);
  for (int64_t i = 0; status == INDIM_OK && i < options->repeat; i++) {
    indim_literal_destroy(out->result);
    out->result = NULL;
    int64_t begin = now_ns();
    status = indim_eval(cx, module, arguments, count, &options->eval, &out->result);
    times[i] = now_ns() - begin;
  }
  work_end(cx);
  return status;
}

static int32_t thread_count(const run_options *options) { return options->threads > 1 ? options->threads : 1; }

static indim_status run_compiled(indim_ctx *cx, indim_executable *executable, const indim_literal *const *arguments,
                                 int64_t count, const run_options *options, int64_t *times, outcome *out) {
  indim_pool *pool = NULL;
  out->threads = thread_count(options);
  indim_status status = out->threads > 1 ? indim_pool_create(cx, out->threads, &pool) : INDIM_OK;
  if (status != INDIM_OK) {
    return status;
  }
  indim_run_options run = {.pool = pool, .stop = work_stop_flag()};
  work_begin(cx, "running");
  status = indim_execute_timed(cx, executable, arguments, count, &run, options->repeat, times, &out->result);
  work_end(cx);
  indim_pool_destroy(pool);
  return status;
}

// One line: where the compiler stopped in the end, and why.
static void tell_fallback(indim_ctx *cx, const command *self) {
  size_t count = indim_ctx_diagnostic_count(cx);
  const indim_diagnostic *d = count == 0 ? NULL : indim_ctx_diagnostic_get(cx, count - 1);
  fprintf(stderr, "indim %s: left to the evaluator: ", self->name);
  if (d != NULL && d->line > 0) {
    fprintf(stderr, "%s:%d:%d: ", d->source, (int)d->line, (int)d->column);
  }
  fprintf(stderr, "%s\n", d == NULL ? indim_status_text(INDIM_UNSUPPORTED) : d->message);
  indim_ctx_diagnostics_clear(cx);
}

// What does not compile, for want of a part of the compiler or for a defect, can be evaluated.
static bool is_left_to_evaluator(indim_status status, const run_options *options) {
  return options->engine == ENGINE_AUTO && (status == INDIM_UNSUPPORTED || status == INDIM_INTERNAL);
}

static indim_status run_engine(indim_ctx *cx, const command *self, const indim_module *module,
                               const indim_literal *const *arguments, int64_t count, const run_options *options,
                               outcome *out) {
  int64_t *times = must_alloc((size_t)options->repeat * sizeof *times);
  indim_executable *executable = NULL;
  indim_status status = INDIM_UNSUPPORTED;
  if (options->engine != ENGINE_EVAL) {
    indim_compile_options compile = options->compile;
    int64_t begin = now_ns();
    status = compile_module(cx, module, &compile, &executable);
    out->times.compile = now_ns() - begin;
    out->engine = "native";
    out->target = options->compile.target == NULL ? "native" : options->compile.target;
    if (status == INDIM_OK) {
      tell_detours(cx, self);
      status = run_compiled(cx, executable, arguments, count, options, times, out);
    } else if (is_left_to_evaluator(status, options)) {
      tell_fallback(cx, self);
    }
    indim_executable_destroy(executable);
  }
  if (options->engine == ENGINE_EVAL || (executable == NULL && is_left_to_evaluator(status, options))) {
    out->times.compile = 0;
    out->target = NULL;
    status = evaluate(cx, module, arguments, count, options, times, out);
  }
  if (status == INDIM_OK) {
    take_times(times, options->repeat, &out->times);
  }
  free(times);
  return status;
}

static void tell_times(const run_times *times) {
  fflush(stdout);  // behind the result
  fprintf(stderr, "%" PRId64 " runs: median %s, least %s", times->count, time_text_of(times->median).text,
          time_text_of(times->least).text);
  if (times->compile > 0) {
    fprintf(stderr, "; compiled in %s", time_text_of(times->compile).text);
  }
  fputs("\n", stderr);
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

static int write_result(indim_ctx *cx, const command *self, const char *path, const indim_literal *result) {
  return ends_with(path, ".npz") ? write_npz(cx, self, path, result) : write_npy(cx, self, path, result);
}

static int deliver(indim_ctx *cx, const command *self, const outcome *out, const run_options *options) {
  int code = EXIT_OK;
  if (options->output != NULL) {
    code = write_result(cx, self, options->output, out->result);
  } else if (!options->json) {
    code = print_literal(cx, out->result, options->layouts);
  }
  if (code == EXIT_OK && options->json) {
    int32_t threads = options->threads == 0 ? 0 : out->threads;
    return json_print_results(cx, out->result, out->engine, out->target, threads, &out->times);
  }
  if (code == EXIT_OK && out->times.count > 0) {
    tell_times(&out->times);
  }
  return code;
}

// An output that cannot work is refused before the run, not after it.
static int check_output(const command *self, const indim_module *module, const run_options *options) {
  if (options->output == NULL || ends_with(options->output, ".npz")) {
    return EXIT_OK;
  }
  if (!ends_with(options->output, ".npy")) {
    return usage_error(self, "'%s': an output ends in .npy or .npz", options->output);
  }
  const indim_instr *root = indim_computation_root(indim_module_entry(module));
  if (!indim_shape_is_array(indim_instr_shape(root))) {
    return usage_error(self, "'%s': a .npy file holds one array, and the result is none; use .npz", options->output);
  }
  return EXIT_OK;
}

// Arguments ---------------------------------------------------------------------------------------------------------

static int run_profile(indim_ctx *cx, const command *self, const indim_module *module,
                       const indim_literal *const *arguments, int64_t count, const run_options *options) {
  profile_options wanted = {.compile = options->compile,
                            .threads = thread_count(options),
                            .repeat = options->repeat,
                            .json = options->json,
                            .limits = options->limits};
  indim_literal *result = NULL;
  int code = profile_program(cx, self, module, arguments, count, &wanted, options->output == NULL ? NULL : &result);
  if (code == EXIT_OK && options->output != NULL) {
    code = write_result(cx, self, options->output, result);
  }
  indim_literal_destroy(result);
  return code;
}

static int run_module(indim_ctx *cx, const command *self, const indim_module *module, char **texts, int count,
                      const run_options *options) {
  int code = check_output(self, module, options);
  if (code != EXIT_OK) {
    return code;
  }
  program_arguments arguments;
  code = take_arguments(cx, self, module, texts, count, options->profile, &arguments);
  const indim_literal *const *list = (const indim_literal *const *)arguments.list;
  if (code == EXIT_OK && options->profile) {
    code = run_profile(cx, self, module, list, arguments.count, options);
  } else if (code == EXIT_OK) {
    outcome out = {0};
    indim_status status = run_engine(cx, self, module, list, arguments.count, options, &out);
    code = status == INDIM_OK ? deliver(cx, self, &out, options) : report(cx, status);
    indim_literal_destroy(out.result);
  }
  drop_arguments(&arguments);
  return code;
}

// Options -----------------------------------------------------------------------------------------------------------

static int set_engine(const command *self, const char *value, run_options *options) {
  static const char *const names[] = {[ENGINE_AUTO] = "auto", [ENGINE_NATIVE] = "native", [ENGINE_EVAL] = "eval"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(value, names[i]) == 0) {
      options->engine = (engine)i;
      return EXIT_OK;
    }
  }
  return usage_error(self, "there is no engine '%s'; there are native, eval and auto", value);
}

static int set_number(const command *self, int option, const char *value, run_options *options) {
  enum { MOST_REPEATS = 100000000 };
  uint64_t count = 0;
  int code = parse_count(self, option == OPTION_STEPS ? "max-steps" : "repeat", value, &count);
  if (code != EXIT_OK) {
    return code;
  }
  if (option == OPTION_STEPS) {
    options->eval.max_steps = count;
  } else {
    if (count > MOST_REPEATS) {
      return usage_error(self, "--repeat is at most %d", (int)MOST_REPEATS);
    }
    options->repeat = (int64_t)count;
  }
  return EXIT_OK;
}

static int set_option(indim_ctx *cx, const command *self, int option, const char *value, run_options *options) {
  switch (option) {
  case OPTION_OUTPUT:
    options->output = value;
    return EXIT_OK;
  case OPTION_JSON:
    options->json = true;
    return EXIT_OK;
  case OPTION_PROFILE:
    options->profile = true;
    return EXIT_OK;
  case OPTION_LIMITS:
    options->limits = true;
    return EXIT_OK;
  case OPTION_LAYOUTS:
    options->layouts = true;
    return EXIT_OK;
  case OPTION_ENGINE:
    return set_engine(self, value, options);
  case OPTION_THREADS:
    options->is_auto = strcmp(value, "auto") == 0;
    return parse_threads(self, value, &options->threads);
  case OPTION_STEPS:
  case OPTION_REPEAT:
    return set_number(self, option, value, options);
  default:
    return compiling_option(cx, self, option, value, &options->compile);
  }
}

// Options that do not go together.
static int check_options(const command *self, run_options *options) {
  if (options->eval.max_steps != 0) {
    if (options->engine == ENGINE_NATIVE) {
      return usage_error(self, "compiled programs do not count steps: --max-steps goes with --engine=eval");
    }
    options->engine = ENGINE_EVAL;
  }
  if (options->engine == ENGINE_EVAL &&
      (options->threads > 1 || options->is_auto || options->compile.fast != 0 || options->compile.target != NULL ||
       options->compile.without != NULL || options->compile.choices != NULL)) {
    return usage_error(self, "the evaluator has one thread, strict arithmetic and no target: --threads, --fast, "
                             "--target, --without and --choices go with compiled programs");
  }
  if (options->profile && options->engine == ENGINE_EVAL) {
    return usage_error(self, "the evaluator has no steps: --profile goes with compiled programs");
  }
  if (options->limits && !options->profile) {
    return usage_error(self, "--limits goes with --profile");
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
    if (compiling_help(option, walk.value)) {
      return EXIT_OK;
    }
    int wrong = set_option(cx, self, option, walk.value, &options);
    if (wrong != EXIT_OK) {
      return wrong;
    }
  }
  if (walk.operand_count == 0) {
    return usage_error(self, "give a program");
  }
  int code = check_options(self, &options);
  if (code != EXIT_OK) {
    return code;
  }
  indim_module *module = NULL;
  indim_status status = INDIM_OK;
  code = load_module(cx, self, walk.operands[0], true, &module, &status);
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
