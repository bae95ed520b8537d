// indim tune: measures on this machine what the compiler's estimates cannot know. Wherever it took one of two ways
// (indim_compile_options.out_choices) the other is compiled, run in turn with the best so far, and kept if it is faster.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "compiling.h"
#include "measuring.h"

const char *const help_tune =
    "Usage: indim tune [OPTION...] FILE [ARGUMENT...]\n"
    "\n"
    "Finds out by measuring which of the compiler's choices make a program faster on this machine: each array kept or\n"
    "computed again, each product by the library or as loops, and so on. What is better is written to a file, which\n"
    "`indim run`, `indim compile` and indim_compile_options.choices take. Results stay within the stated ulps.\n"
    "Arguments are as in `indim run`; without any the program is run on made-up ones (floats from 0.5 to 1.5, "
    "integers\n"
    "1), which is wrong where they decide how long a loop runs.\n"
    "\n"
    "Options:\n"
    "  -o FILE, --output=FILE  write the choices there; to standard output unless said\n"
    "  --seconds=N             try new choices for so long; 20 unless said\n"
    "  --gain=PERCENT          keep what makes the program so much faster; 3 unless said\n"
    "  --threads=N             as it runs on so many threads, 1 unless said; auto: `indim run --help`\n"
    "  --json                  print {\"before_ns\":..,\"after_ns\":..,\"gain\":..,\"tried\":..,\"of\":..,\n"
    "                          \"choices\":[{\"instruction\":..,\"decision\":..,\"taken\":..,\"gain\":..}]}\n"
    "  --choices=FILE          begin with these\n"
    "  --fast=NAME,... --target=NAME --without=NAME,... --custom-call=.. --ffi-handler=.. --max-memory=N\n"
    "                          as of `indim run`\n"
    "\n"
    "Ctrl-C ends the search; what was found until then is written.\n"
    "\n"
    "Example:\n"
    "  $ indim tune program.hlo x.npy -o program.choices\n"
    "  $ indim run --choices=program.choices program.hlo x.npy\n";

enum { OPTION_OUTPUT = 1, OPTION_SECONDS, OPTION_GAIN, OPTION_THREADS, OPTION_JSON };
static const option_spec specs[] = {{"output", 'o', OPTION_OUTPUT, true},
                                    {"seconds", 0, OPTION_SECONDS, true},
                                    {"gain", 0, OPTION_GAIN, true},
                                    {"threads", 0, OPTION_THREADS, true},
                                    {"json", 0, OPTION_JSON, false},
                                    COMPILING_OPTIONS,
                                    {0}};

typedef struct tune_options {
  indim_compile_options compile;
  const char *output;
  int32_t threads;
  int64_t seconds;
  double gain;  // as a share
  bool json;
} tune_options;

// One line of choices that can be tried.
typedef struct candidate {
  char *line;    // "exp.2 inline no"
  double bytes;  // of the instruction's array
  double gain;   // of one that was kept: before / after, less 1
  bool is_of_whole;
  bool is_kept;
} candidate;

typedef struct tuner {
  indim_ctx *cx;
  const indim_module *module;
  const tune_options *options;
  measuring buffers;
  indim_executable *first, *best;  // |best| may be |first|
  indim_binding *first_binding, *best_binding;
  int64_t together;  // runs that are timed as one
  candidate *candidates;
  int64_t count, tried, kept;
  double before_ns, after_ns;
  bool is_interrupted;
} tuner;

// Candidates -----------------------------------------------------------------------------------------------------------

static double bytes_of(const indim_module *module, indim_str name) {
  for (int64_t c = 0; c < indim_module_computation_count(module); c++) {
    const indim_computation *computation = indim_module_computation(module, c);
    for (int64_t i = 0; i < indim_computation_instr_count(computation); i++) {
      const indim_instr *instr = indim_computation_instr(computation, i);
      if (indim_str_equal(indim_instr_name(instr), name)) {
        const indim_shape *shape = indim_instr_shape(instr);
        return indim_shape_is_array(shape) ? (double)indim_shape_element_count(shape) * indim_type_bits(shape->type) / 8
                                           : 0;
      }
    }
  }
  return 0;
}

static char *copy_text(const char *text, size_t size, const char *more) {
  size_t rest = strlen(more);
  char *out = must_alloc(size + rest + 1);
  memcpy(out, text, size);
  memcpy(out + size, more, rest + 1);
  return out;
}

// The opposite of "NAME DECISION yes", the line at |line|.
static candidate opposite(const indim_module *module, const char *line, size_t size) {
  bool is_taken = size > 4 && memcmp(line + size - 4, " yes", 4) == 0;
  size_t kept = size - (is_taken ? 4 : 3);
  size_t name = 0;
  while (name < size && line[name] != ' ') {
    name++;
  }
  return (candidate){.line = copy_text(line, kept, is_taken ? " no" : " yes"),
                     .bytes = bytes_of(module, (indim_str){line, name})};
}

static bool has_line(const tuner *t, const char *line) {
  for (int64_t i = 0; i < t->count; i++) {
    if (strcmp(t->candidates[i].line, line) == 0) {
      return true;
    }
  }
  return false;
}

static int by_promise(const void *a, const void *b) {
  const candidate *x = a;
  const candidate *y = b;
  if (x->is_of_whole != y->is_of_whole) {
    return y->is_of_whole - x->is_of_whole;
  }
  return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : strcmp(x->line, y->line);
}

// One step for the program as a whole, and one for each instruction where there were two ways, large arrays first.
static void list_candidates(tuner *t, const char *choices) {
  enum { LEAST_BYTES = 256 };
  int64_t most = 0;
  for (const indim_compile_decision *d = indim_compile_decisions(); d->name != NULL; d++) {
    most++;
  }
  for (const char *c = choices; *c != '\0'; c++) {
    most += *c == '\n';
  }
  t->candidates = zeroed((size_t)most, sizeof *t->candidates);
  for (const indim_compile_decision *d = indim_compile_decisions(); d->name != NULL; d++) {
    if (t->options->threads > 1 || strcmp(d->name, "threads") != 0) {
      char line[128];
      snprintf(line, sizeof line, "* %s no", d->name);
      t->candidates[t->count++] = (candidate){.line = copy_text(line, strlen(line), ""), .is_of_whole = true};
    }
  }
  for (const char *at = choices; *at != '\0';) {
    size_t size = strcspn(at, "\n");
    candidate new = opposite(t->module, at, size);
    bool is_threads = strstr(new.line, " threads ") != NULL;
    if (new.bytes >= LEAST_BYTES && !has_line(t, new.line) && (!is_threads || t->options->threads > 1)) {
      t->candidates[t->count++] = new;
    } else {
      free(new.line);
    }
    at += size + (at[size] == '\n');
  }
  qsort(t->candidates, (size_t)t->count, sizeof *t->candidates, by_promise);
}

// The text of what is kept, and of |more|.
static void print_choices(const tuner *t, const candidate *more, indim_buffer *out) {
  for (int64_t i = 0; i < t->count; i++) {
    const candidate *c = &t->candidates[i];
    if (c->is_kept || c == more) {
      indim_buffer_printf(out, c->is_kept ? "%s  # %.1f %%\n" : "%s\n", c->line, 100 * c->gain);
    }
  }
  indim_buffer_text(out, t->options->compile.choices == NULL ? "" : t->options->compile.choices);
}

// Measuring ------------------------------------------------------------------------------------------------------------

// How two bindings compare, run in turn: the median of a's times over b's, and the ratio that three of four pairs exceed.
typedef struct comparison {
  double ratio, most_exceed;
  double a_ns;
} comparison;

static indim_status compare(const tuner *t, indim_binding *a, indim_binding *b, int64_t rounds, comparison *out) {
  enum { MOST_ROUNDS = 64 };
  double ratios[MOST_ROUNDS], times[MOST_ROUNDS];
  indim_status status = INDIM_OK;
  for (int64_t r = 0; r < rounds && r < MOST_ROUNDS && status == INDIM_OK; r++) {
    int64_t first = 0;
    int64_t second = 0;
    status = measuring_run(r % 2 == 0 ? a : b, t->together, &first);
    status = status == INDIM_OK ? measuring_run(r % 2 == 0 ? b : a, t->together, &second) : status;
    int64_t of_a = r % 2 == 0 ? first : second;
    int64_t of_b = r % 2 == 0 ? second : first;
    ratios[r] = (double)of_a / ((double)of_b + 1);
    times[r] = (double)of_a / (double)t->together;
  }
  if (status == INDIM_OK) {
    *out = (comparison){quantile_of(ratios, rounds, 0.5), quantile_of(ratios, rounds, 0.25),
                        quantile_of(times, rounds, 0.5)};
  }
  return status;
}

// By as much as is asked for, and in most pairs, not by a few lucky ones.
static bool is_faster(const tuner *t, const comparison *c) {
  return c->ratio >= 1 + t->options->gain && c->most_exceed > 1;
}

static void replace_best(tuner *t, indim_executable *executable, indim_binding *binding) {
  if (t->best != t->first) {
    indim_binding_destroy(t->best_binding);
    indim_executable_destroy(t->best);
  }
  t->best = executable;
  t->best_binding = binding;
}

static indim_status compile_with(tuner *t, const candidate *more, indim_buffer *out_choices,
                                 indim_executable **out_executable) {
  indim_compile_options options = t->options->compile;
  indim_buffer text;
  indim_buffer_init(&text, t->cx);
  print_choices(t, more, &text);
  options.choices = text.data;
  options.out_choices = out_choices;
  indim_status status = text.status;
  status = status == INDIM_OK ? indim_compile(t->cx, t->module, &options, out_executable) : status;
  indim_buffer_deinit(&text);
  return status;
}

// A first look, and a longer one at what looked better: both have to say so.
static indim_status try_candidate(tuner *t, candidate *c) {
  enum { FIRST_LOOK = 7, SECOND_LOOK = 25 };
  indim_executable *executable = NULL;
  indim_binding *binding = NULL;
  comparison found = {0};
  indim_status status = compile_with(t, c, NULL, &executable);
  if (status != INDIM_OK && status != INDIM_INTERRUPTED) {
    indim_ctx_diagnostics_clear(t->cx);  // that way does not compile: the other one does
    return INDIM_OK;
  }
  status = status == INDIM_OK ? measuring_bind(&t->buffers, executable, NULL, &binding) : status;
  int64_t warm = 0;
  status = status == INDIM_OK ? measuring_run(binding, 1, &warm) : status;
  status = status == INDIM_OK ? compare(t, t->best_binding, binding, FIRST_LOOK, &found) : status;
  if (status == INDIM_OK && is_faster(t, &found)) {
    status = compare(t, t->best_binding, binding, SECOND_LOOK, &found);
  }
  indim_ctx_diagnostics_clear(t->cx);
  if (status == INDIM_OK && is_faster(t, &found)) {
    c->is_kept = true;
    c->gain = found.ratio - 1;
    t->kept++;
    replace_best(t, executable, binding);
    return INDIM_OK;
  }
  indim_binding_destroy(binding);
  indim_executable_destroy(executable);
  return status;
}

static indim_status search(tuner *t) {
  int64_t end = now_ns() + t->options->seconds * 1000000000;
  indim_status status = INDIM_OK;
  for (int64_t i = 0; i < t->count && status == INDIM_OK && now_ns() < end; i++) {
    status = try_candidate(t, &t->candidates[i]);
    t->tried += status == INDIM_OK;
  }
  return status;
}

// The program as it was against what was found, which is dropped if it is not faster after all.
static indim_status weigh(tuner *t) {
  enum { ROUNDS = 25 };
  comparison found = {0};
  indim_status status = t->kept > 0 ? compare(t, t->first_binding, t->best_binding, ROUNDS, &found) : INDIM_OK;
  if (status != INDIM_OK || t->kept == 0) {
    return status;
  }
  t->before_ns = found.a_ns;
  t->after_ns = found.a_ns / found.ratio;
  if (!is_faster(t, &found)) {
    for (int64_t i = 0; i < t->count; i++) {
      t->candidates[i].is_kept = false;
    }
    t->kept = 0;
    t->after_ns = t->before_ns;
  }
  return status;
}

static indim_status tune(tuner *t, const program_arguments *arguments) {
  indim_buffer choices;
  int64_t ns = 0;
  indim_buffer_init(&choices, t->cx);
  work_begin(t->cx, "tuning");
  indim_status status = compile_with(t, NULL, &choices, &t->first);
  t->best = t->first;
  if (status == INDIM_OK) {
    status = measuring_begin(t->cx, t->module, t->first, (const indim_literal *const *)arguments->list,
                             arguments->count, t->options->threads, &t->buffers);
  }
  status = status == INDIM_OK ? measuring_bind(&t->buffers, t->first, NULL, &t->first_binding) : status;
  t->best_binding = t->first_binding;
  status = status == INDIM_OK ? measuring_choose_together(t->first_binding, &t->together, &ns) : status;
  if (status == INDIM_OK) {
    t->before_ns = t->after_ns = (double)ns / (double)t->together;
    list_candidates(t, choices.data == NULL ? "" : choices.data);
    status = search(t);
    status = status == INDIM_OK ? weigh(t) : status;
    t->is_interrupted = status == INDIM_INTERRUPTED;
    status = t->is_interrupted ? INDIM_OK : status;
  }
  work_end(t->cx);
  indim_buffer_deinit(&choices);
  return status;
}

// Output ---------------------------------------------------------------------------------------------------------------

static void tell_json(const tuner *t) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddNumberToObject(object, "before_ns", t->before_ns);
  cJSON_AddNumberToObject(object, "after_ns", t->after_ns);
  cJSON_AddNumberToObject(object, "gain", t->before_ns / t->after_ns - 1);
  cJSON_AddNumberToObject(object, "tried", (double)t->tried);
  cJSON_AddNumberToObject(object, "of", (double)t->count);
  cJSON *list = cJSON_AddArrayToObject(object, "choices");
  for (int64_t i = 0; i < t->count; i++) {
    const candidate *c = &t->candidates[i];
    if (c->is_kept) {
      cJSON *choice = cJSON_CreateObject();
      const char *decision = strchr(c->line, ' ');
      const char *answer = strrchr(c->line, ' ');
      char *name = copy_text(c->line, (size_t)(decision - c->line), "");
      char *word = copy_text(decision + 1, (size_t)(answer - decision - 1), "");
      cJSON_AddStringToObject(choice, "instruction", name);
      cJSON_AddStringToObject(choice, "decision", word);
      cJSON_AddBoolToObject(choice, "taken", strcmp(answer, " yes") == 0);
      cJSON_AddNumberToObject(choice, "gain", c->gain);
      cJSON_AddItemToArray(list, choice);
      free(name);
      free(word);
    }
  }
  json_print(object, true);
}

static void tell(const tuner *t) {
  time_text before = time_text_of((int64_t)t->before_ns);
  time_text after = time_text_of((int64_t)t->after_ns);
  fprintf(stderr, "%" PRId64 " of %" PRId64 " ways tried%s, %" PRId64 " kept: ", t->tried, t->count,
          t->is_interrupted ? " until Ctrl-C" : "", t->kept);
  if (t->kept == 0) {
    fprintf(stderr, "%s, as it is\n", before.text);
  } else {
    fprintf(stderr, "%s, now %s (%.2f times as fast)\n", before.text, after.text, t->before_ns / t->after_ns);
  }
}

static int write_choices(const tuner *t, const command *self, const char *path) {
  indim_buffer text;
  char *shown = shown_path(path);
  indim_buffer_init(&text, t->cx);
  indim_buffer_printf(&text, "# indim tune: %s for %s, %d thread%s\n", shown, indim_executable_target(t->best),
                      (int)(t->options->threads > 1 ? t->options->threads : 1), t->options->threads > 1 ? "s" : "");
  print_choices(t, NULL, &text);
  int code = text.status != INDIM_OK
                 ? report(t->cx, text.status)
                 : write_file(self, t->options->output == NULL ? "-" : t->options->output, text.data, text.size);
  free(shown);
  indim_buffer_deinit(&text);
  return code;
}

// Work -----------------------------------------------------------------------------------------------------------------

static int tune_program(indim_ctx *cx, const command *self, const indim_module *module, char **operands, int count,
                        const tune_options *options) {
  tuner t = {.cx = cx, .module = module, .options = options};
  program_arguments arguments;
  int code = take_arguments(cx, self, module, operands + 1, count - 1, true, &arguments);
  if (code == EXIT_OK) {
    indim_status status = tune(&t, &arguments);
    code = status == INDIM_OK ? EXIT_OK : report(cx, status);
  }
  if (code == EXIT_OK) {
    tell_detours(cx, self);
    if (options->json) {
      tell_json(&t);
    } else {
      tell(&t);
    }
  }
  if (code == EXIT_OK && (options->output != NULL || !options->json)) {
    code = write_choices(&t, self, operands[0]);
  }
  replace_best(&t, NULL, NULL);
  indim_binding_destroy(t.first_binding);
  indim_executable_destroy(t.first);
  measuring_end(&t.buffers);
  for (int64_t i = 0; i < t.count; i++) {
    free(t.candidates[i].line);
  }
  free(t.candidates);
  drop_arguments(&arguments);
  return code;
}

static int set_option(indim_ctx *cx, const command *self, int option, const char *value, tune_options *options) {
  enum { MOST_SECONDS = 1000000, MOST_GAIN = 1000 };
  uint64_t count = 0;
  int code = EXIT_OK;
  switch (option) {
  case OPTION_OUTPUT:
    options->output = value;
    return EXIT_OK;
  case OPTION_JSON:
    options->json = true;
    return EXIT_OK;
  case OPTION_THREADS:
    return parse_threads(self, value, &options->threads);
  case OPTION_SECONDS:
    code = parse_count(self, "seconds", value, &count);
    options->seconds = (int64_t)(count < MOST_SECONDS ? count : MOST_SECONDS);
    return code;
  case OPTION_GAIN:
    code = parse_count(self, "gain", value, &count);
    options->gain = (double)(count < MOST_GAIN ? count : MOST_GAIN) / 100;
    return code;
  default:
    return compiling_option(cx, self, option, value, &options->compile);
  }
}

int command_tune(indim_ctx *cx, const command *self, int argc, char **argv) {
  tune_options options = {.seconds = 20, .gain = 0.03, .threads = 1};
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
  indim_module *module = NULL;
  indim_status status = INDIM_OK;
  int code = keep_program(self, walk.operands[0], options.output);
  code = code != EXIT_OK ? code : load_module(cx, self, walk.operands[0], true, &module, &status);
  if (code != EXIT_OK || status != INDIM_OK) {
    return code != EXIT_OK ? code : report(cx, status);
  }
  code = tune_program(cx, self, module, walk.operands, walk.operand_count, &options);
  indim_module_destroy(module);
  return code;
}
