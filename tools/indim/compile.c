// indim compile: what becomes of a program on its way to machine code, stage by stage; or a file to link (object.c).
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "compiling.h"
#include "indim/text.h"
#include "object.h"

const char *const help_compile =
    "Usage: indim compile [OPTION...] FILE\n"
    "\n"
    "Compiles a program (HLO, StableHLO or a protocol buffer; - is standard input) without running it: to an object "
    "file\n"
    "that programs in C and other languages link, or to see what becomes of it.\n"
    "\n"
    "To make a file:\n"
    "  -o FILE, --output=FILE  FILE.o (an object), .a (a static library), .so (a shared library, by the system's "
    "linker),\n"
    "                          .s (assembly), .ll (LLVM IR); other names are as --emit says\n"
    "  --emit=KIND             object, static-library, shared-library, asm, llvm\n"
    "  --header=FILE           write its header for C and C++, which has all that a caller needs to know\n"
    "  --name=NAME             NAME_run is the function; without it NAME is that of the program's file\n"
    "  --static-arguments=NUMBER:FILE.npy,...\n"
    "                          put values of parameters into the object; they are arguments no more\n"
    "  --self-contained        products and Fourier transforms are loops in the object; refuse what else would\n"
    "                          need a service of the host\n"
    "  --triple=TRIPLE         another system of the target's processor, and its format: x86_64-pc-windows-msvc,\n"
    "                          arm64-apple-macosx\n"
    "\n"
    "To see what becomes of it:\n"
    "  --dump=STAGE,...        print stages: graph (the program in canonical text), plan (where each array lives),\n"
    "                          loops (fused loop nests), llvm (LLVM IR), asm (machine code as assembly), report (what\n"
    "                          became of each instruction, steps, buffers and code, as JSON), choices (which way was\n"
    "                          taken where there were two, in the form of --choices); loops:PASS\n"
    "                          for the loops after a pass, loops:all after each that changed something; --dump=help\n"
    "                          lists the passes\n"
    "  --explain               tell what was fused and what was not, and why\n"
    "  --time                  tell how long each stage took\n"
    "  -o FILE, --output=FILE  write all that there instead of to standard output\n"
    "\n"
    "For both:\n"
    "  --fast=NAME,...         relax strict IEEE: contract, reassociate, reciprocal, flush (`indim run --help`)\n"
    "  --target=NAME           make code for that processor instead of this one: x86-64-v3, aarch64, riscv64, ...;\n"
    "                          --target=help lists the names\n"
    "  --without=NAME,...      leave decisions of the compiler out, to see what they do; --without=help lists them\n"
    "  --choices=FILE          take decisions as this file says, which `indim tune` writes\n"
    "  --custom-call=NAME=LIBRARY:SYMBOL\n"
    "                          custom calls of NAME run that function of a shared library (indim/custom_call.h);\n"
    "                          --ffi-handler=NAME=LIBRARY:SYMBOL for a handler of XLA's typed interface\n"
    "  --crash-from=BYTES      for tests: make LLVM crash where vectors have so many bytes or more\n"
    "  --json                  print an object: stages, explanation, times, bytes, and the buffers of a call\n"
    "  --max-memory=N[K|M|G]   refuse to hold more than N bytes; what LLVM takes for itself is estimated\n"
    "\n"
    "A crash of LLVM does not end indim: the program is compiled again for narrower vectors, which is told. Large\n"
    "programs are compiled by as many threads as INDIM_NUM_THREADS says, or this process has processors.\n"
    "\n"
    "Exit code 5 when the program has something that does not compile (`indim run` evaluates it), or when the\n"
    "library libindim-llvm or LLVM 19 is not installed.\n"
    "\n"
    "Examples:\n"
    "  $ indim compile examples/digits/digits.hlo -o digits.o --header digits.h\n"
    "  $ indim compile --dump=loops,asm --time examples/seeds/row_add.hlo\n";

enum {
  OPTION_DUMP = 1,
  OPTION_EXPLAIN,
  OPTION_TIME,
  OPTION_OUTPUT,
  OPTION_JSON,
  OPTION_EMIT,
  OPTION_HEADER,
  OPTION_NAME,
  OPTION_STATIC,
  OPTION_SELF_CONTAINED,
  OPTION_TRIPLE
};

static const option_spec specs[] = {{"dump", 0, OPTION_DUMP, true},
                                    {"explain", 0, OPTION_EXPLAIN, false},
                                    {"time", 0, OPTION_TIME, false},
                                    {"output", 'o', OPTION_OUTPUT, true},
                                    {"json", 0, OPTION_JSON, false},
                                    COMPILING_OPTIONS,
                                    {"emit", 0, OPTION_EMIT, true},
                                    {"header", 0, OPTION_HEADER, true},
                                    {"name", 0, OPTION_NAME, true},
                                    {"static-arguments", 0, OPTION_STATIC, true},
                                    {"self-contained", 0, OPTION_SELF_CONTAINED, false},
                                    {"triple", 0, OPTION_TRIPLE, true},
                                    {0}};

// The texts that can be asked for, in the order of printing.
typedef enum part {
  PART_GRAPH,
  PART_PLAN,
  PART_LOOPS,
  PART_LLVM,
  PART_ASM,
  PART_REPORT,
  PART_CHOICES,
  PART_EXPLAIN,
  PART_COUNT
} part;

static const char *const part_names[] = {"graph", "plan", "loops", "llvm", "asm", "report", "choices", "explain"};

typedef struct compile_options {
  bool wanted[PART_COUNT];
  bool time;
  bool json;
  const char *output;
  indim_compile_options compile;  // without the texts
  object_request object;
  bool wants_file;  // an option was given that only a file to link has
} compile_options;

// Everything known of one compilation. Times in nanoseconds.
typedef struct findings {
  const char *path;
  indim_buffer parts[PART_COUNT];
  int64_t parse;
  int64_t verify;
  indim_executable *executable;  // NULL if that failed
} findings;

// Output ------------------------------------------------------------------------------------------------------------

typedef struct stage_time {
  const char *name;
  int64_t ns;
} stage_time;

enum { STAGES = 6 };

static void list_times(const findings *f, stage_time *out) {
  indim_compile_times t;
  indim_executable_times(f->executable, &t);
  const stage_time list[STAGES] = {{"parse", f->parse}, {"verify", f->verify}, {"load", t.load},
                                   {"lower", t.lower},  {"emit", t.emit},      {"code", t.code}};
  memcpy(out, list, sizeof list);
}

static int64_t total_of(const stage_time *times) {
  int64_t total = 0;
  for (int i = 0; i < STAGES; i++) {
    total += times[i].ns;
  }
  return total;
}

static void print_times(const findings *f, indim_buffer *out) {
  stage_time times[STAGES];
  list_times(f, times);
  for (int i = 0; i < STAGES; i++) {
    indim_buffer_printf(out, "%-8s %s\n", times[i].name, time_text_of(times[i].ns).text);
  }
  indim_buffer_printf(out, "%-8s %s\n", "total", time_text_of(total_of(times)).text);
}

// The parts one after another, each under its name if there are several.
static void print_text(const findings *f, const compile_options *options, indim_buffer *out) {
  int count = options->time && f->executable != NULL;
  for (int i = 0; i < PART_COUNT; i++) {
    count += f->parts[i].size > 0;
  }
  for (int i = 0; i < PART_COUNT; i++) {
    if (f->parts[i].size > 0) {
      if (count > 1) {
        indim_buffer_printf(out, "==== %s\n", part_names[i]);
      }
      indim_buffer_append(out, f->parts[i].data, f->parts[i].size);
    }
  }
  if (options->time && f->executable != NULL) {
    indim_buffer_text(out, count > 1 ? "==== time\n" : "");
    print_times(f, out);
  }
  bool asked = options->time;
  for (int i = 0; i < PART_COUNT; i++) {
    asked = asked || options->wanted[i];
  }
  if (!asked && f->executable != NULL) {
    stage_time times[STAGES];
    char *shown = shown_path(f->path);
    list_times(f, times);
    indim_buffer_printf(out,
                        "%s: compiled in %s for %s (vectors of %d bytes), %" PRId64 " bytes of code, %" PRId64
                        " bytes of working memory\n",
                        shown, time_text_of(total_of(times)).text, indim_executable_target(f->executable),
                        (int)indim_executable_vector_bytes(f->executable), indim_executable_code_bytes(f->executable),
                        indim_executable_scratch_bytes(f->executable));
    free(shown);
  }
}

static void add_buffers(indim_ctx *cx, cJSON *object, const char *name, const indim_executable *e, int64_t count,
                        const indim_shape *(*shape)(const indim_executable *, int64_t),
                        int64_t (*bytes)(const indim_executable *, int64_t),
                        int64_t (*alignment)(const indim_executable *, int64_t)) {
  cJSON *list = cJSON_AddArrayToObject(object, name);
  for (int64_t i = 0; i < count; i++) {
    cJSON *leaf = cJSON_CreateObject();
    char *text = shape_text(cx, shape(e, i), true);
    cJSON_AddStringToObject(leaf, "shape", text);
    free(text);
    cJSON_AddNumberToObject(leaf, "bytes", (double)bytes(e, i));
    cJSON_AddNumberToObject(leaf, "alignment", (double)alignment(e, i));
    cJSON_AddItemToArray(list, leaf);
  }
}

static void print_json(indim_ctx *cx, const findings *f, const compile_options *options, indim_buffer *out) {
  cJSON *object = cJSON_CreateObject();
  const indim_executable *e = f->executable;
  stage_time times[STAGES];
  cJSON_AddStringToObject(object, "file", f->path);
  cJSON_AddBoolToObject(object, "ok", e != NULL);
  if (e == NULL) {
    cJSON_AddItemToObject(object, "errors", json_take_reasons());
  }
  if (e != NULL) {
    cJSON_AddStringToObject(object, "target", indim_executable_target(e));
    cJSON_AddNumberToObject(object, "vector_bytes", indim_executable_vector_bytes(e));
    if (indim_executable_missing(e) != NULL) {
      cJSON_AddStringToObject(object, "missing", indim_executable_missing(e));
    }
    cJSON_AddNumberToObject(object, "code_bytes", (double)indim_executable_code_bytes(e));
    cJSON_AddNumberToObject(object, "scratch_bytes", (double)indim_executable_scratch_bytes(e));
    add_buffers(cx, object, "arguments", e, indim_executable_argument_count(e), indim_executable_argument_shape,
                indim_executable_argument_bytes, indim_executable_argument_alignment);
    add_buffers(cx, object, "results", e, indim_executable_result_count(e), indim_executable_result_shape,
                indim_executable_result_bytes, indim_executable_result_alignment);
    cJSON *time = cJSON_AddObjectToObject(object, "time_ns");
    list_times(f, times);
    for (int i = 0; i < STAGES; i++) {
      cJSON_AddNumberToObject(time, times[i].name, (double)times[i].ns);
    }
    cJSON_AddNumberToObject(time, "total", (double)total_of(times));
  }
  for (int i = 0; i < PART_COUNT; i++) {
    if (options->wanted[i]) {
      cJSON_AddStringToObject(object, part_names[i], f->parts[i].data == NULL ? "" : f->parts[i].data);
    }
  }
  char *text = json_text(object, true);
  indim_buffer_text(out, text);
  indim_buffer_char(out, '\n');
  free(text);
}

// What there is, also of a compilation that failed half-way.
static int deliver(indim_ctx *cx, const command *self, const findings *f, const compile_options *options) {
  indim_buffer text;
  indim_ctx_set_memory_limit(cx, 0);  // was for the compiler, not for showing what it did
  indim_buffer_init(&text, cx);
  indim_status status = INDIM_OK;
  for (int i = 0; i < PART_COUNT; i++) {
    status = f->parts[i].status != INDIM_OK ? f->parts[i].status : status;
  }
  if (options->json) {
    print_json(cx, f, options, &text);
  } else {
    print_text(f, options, &text);
  }
  status = text.status != INDIM_OK ? text.status : status;
  int code = EXIT_OK;
  if (status != INDIM_OK) {
    code = report(cx, status);
  } else if (text.size > 0) {
    code = write_file(self, options->output, text.data, text.size);
  }
  if (code == EXIT_OK) {
    json_answered();
  }
  indim_buffer_deinit(&text);
  return code;
}

// Work --------------------------------------------------------------------------------------------------------------

// Reads, verifies and compiles. A file error is returned; anything else is |*out_status|.
static int compile_file(indim_ctx *cx, const command *self, const compile_options *options, findings *f,
                        indim_status *out_status) {
  indim_module *module = NULL;
  int64_t begin = now_ns();
  int code = load_module(cx, self, f->path, false, &module, out_status);
  f->parse = now_ns() - begin;
  if (code != EXIT_OK || *out_status != INDIM_OK) {
    return code;
  }
  begin = now_ns();
  *out_status = indim_module_verify(cx, module);
  f->verify = now_ns() - begin;
  if (*out_status == INDIM_OK) {
    if (options->wanted[PART_GRAPH]) {
      indim_module_print(module, 0, &f->parts[PART_GRAPH]);
    }
    indim_compile_options compile = options->compile;
    compile.out_plan = options->wanted[PART_PLAN] ? &f->parts[PART_PLAN] : NULL;
    compile.out_loops = options->wanted[PART_LOOPS] ? &f->parts[PART_LOOPS] : NULL;
    compile.out_llvm = options->wanted[PART_LLVM] ? &f->parts[PART_LLVM] : NULL;
    compile.out_asm = options->wanted[PART_ASM] ? &f->parts[PART_ASM] : NULL;
    compile.out_report = options->wanted[PART_REPORT] ? &f->parts[PART_REPORT] : NULL;
    compile.out_choices = options->wanted[PART_CHOICES] ? &f->parts[PART_CHOICES] : NULL;
    compile.out_explain = options->wanted[PART_EXPLAIN] ? &f->parts[PART_EXPLAIN] : NULL;
    *out_status = compile_module(cx, module, &compile, &f->executable);
    if (*out_status == INDIM_OK) {
      tell_detours(cx, self);
    }
  }
  indim_module_destroy(module);
  return EXIT_OK;
}

static int compile_and_show(indim_ctx *cx, const command *self, const compile_options *options, const char *path) {
  findings f = {.path = path};
  indim_status status = INDIM_OK;
  for (int i = 0; i < PART_COUNT; i++) {
    indim_buffer_init(&f.parts[i], cx);
  }
  int code = compile_file(cx, self, options, &f, &status);
  if (code == EXIT_OK) {
    json_keep_diagnostics(cx);
    code = deliver(cx, self, &f, options);
  }
  if (code == EXIT_OK && status != INDIM_OK) {
    code = report(cx, status);
  }
  indim_executable_destroy(f.executable);
  for (int i = 0; i < PART_COUNT; i++) {
    indim_buffer_deinit(&f.parts[i]);
  }
  return code;
}

// Options -----------------------------------------------------------------------------------------------------------

// "loops:unroll".
static int set_loops(const command *self, indim_str name, compile_options *options) {
  enum { BEGIN = sizeof "loops:" - 1 };
  indim_str after = {name.data + BEGIN, name.size - BEGIN};
  const indim_compile_pass *known = indim_compile_passes();
  options->compile.loops_after = indim_str_equal(after, indim_str_of("all"))        ? "all"
                                 : indim_str_equal(after, indim_str_of("lowering")) ? "lowering"
                                                                                    : NULL;
  for (; known->name != NULL && options->compile.loops_after == NULL; known++) {
    options->compile.loops_after = indim_str_equal(after, indim_str_of(known->name)) ? known->name : NULL;
  }
  if (options->compile.loops_after == NULL) {
    return usage_error(self, "there is no pass '%.*s' to show the loops after; --dump=help lists them", (int)after.size,
                       after.data);
  }
  options->wanted[PART_LOOPS] = true;
  return EXIT_OK;
}

static void list_passes(void) {
  printf("%-19s%s\n", "lowering", "before all passes");
  for (const indim_compile_pass *p = indim_compile_passes(); p->name != NULL; p++) {
    printf("%-19s%s\n", p->name, p->meaning);
  }
  printf("%-19s%s\n", "all", "after each pass that changed something");
}

static int set_dump(const command *self, const char *list, compile_options *options) {
  for (indim_str name; next_name(&list, &name);) {
    if (name.size > 6 && memcmp(name.data, "loops:", 6) == 0) {
      int code = set_loops(self, name, options);
      if (code != EXIT_OK) {
        return code;
      }
      continue;
    }
    int found = PART_COUNT;
    for (int i = 0; i < PART_EXPLAIN; i++) {
      found = indim_str_equal(indim_str_of(part_names[i]), name) ? i : found;
    }
    if (found == PART_COUNT) {
      return usage_error(self, "--dump knows graph, plan, loops, llvm, asm, report and choices, not '%.*s'",
                         (int)name.size, name.data);
    }
    options->wanted[found] = true;
  }
  return EXIT_OK;
}

static int set_file_option(const command *self, int option, const char *value, compile_options *options) {
  object_request *object = &options->object;
  options->wants_file = true;
  switch (option) {
  case OPTION_EMIT:
    return parse_emit(self, value, &object->emit);
  case OPTION_STATIC:
    return add_static_arguments(self, value, object);
  case OPTION_HEADER:
    object->header = value;
    return EXIT_OK;
  case OPTION_NAME:
    object->name = value;
    return EXIT_OK;
  case OPTION_TRIPLE:
    object->triple = value;
    return EXIT_OK;
  default:
    object->is_self_contained = true;
    return EXIT_OK;
  }
}

static int set_option(indim_ctx *cx, const command *self, int option, const char *value, compile_options *options) {
  switch (option) {
  case OPTION_DUMP:
    return set_dump(self, value, options);
  case OPTION_EXPLAIN:
    options->wanted[PART_EXPLAIN] = true;
    return EXIT_OK;
  case OPTION_TIME:
    options->time = true;
    return EXIT_OK;
  case OPTION_OUTPUT:
    options->output = value;
    return EXIT_OK;
  case OPTION_JSON:
    options->json = true;
    return EXIT_OK;
  case OPTION_EMIT:
  case OPTION_HEADER:
  case OPTION_NAME:
  case OPTION_STATIC:
  case OPTION_SELF_CONTAINED:
  case OPTION_TRIPLE:
    return set_file_option(self, option, value, options);
  default:
    return compiling_option(cx, self, option, value, &options->compile);
  }
}

// Whether a file to link is wanted: by an option that says so, or by the name of the output when nothing is to be shown.
static bool is_for_file(const compile_options *options) {
  bool shows = options->time || options->json;
  for (int i = 0; i < PART_COUNT; i++) {
    shows = shows || options->wanted[i];
  }
  return options->wants_file || (!shows && emit_of_file(options->output) != EMIT_NOTHING);
}

static int make_file(indim_ctx *cx, const command *self, compile_options *options, const char *path) {
  object_request *object = &options->object;
  bool has_output = strcmp(options->output, "-") != 0;
  if (options->time || memchr(options->wanted, true, sizeof options->wanted) != NULL) {
    return usage_error(self, "--dump, --explain and --time show stages; a file to link is another call");
  }
  if (object->emit == EMIT_NOTHING) {
    object->emit = emit_of_file(options->output);
  }
  if (object->emit == EMIT_NOTHING && (has_output || object->header == NULL)) {
    object->emit = EMIT_OBJECT;
  }
  bool is_text = object->emit == EMIT_ASM || object->emit == EMIT_LLVM || object->emit == EMIT_NOTHING;
  if (!has_output && !is_text) {
    return usage_error(self, "say where it goes with -o FILE (/dev/stdout to a pipe)");
  }
  if (object->json && !has_output && object->emit != EMIT_NOTHING) {
    return usage_error(self, "--json goes to standard output, and the file elsewhere: -o FILE");
  }
  if (object->header != NULL && keep_program(self, path, object->header) != EXIT_OK) {
    return EXIT_USAGE;
  }
  if (has_output && object->header != NULL && strcmp(object->header, options->output) == 0) {
    return usage_error(self, "the header would replace what -o %s names: give it another file", options->output);
  }
  object->input = path;
  object->output = options->output;
  object->compile = options->compile;
  return compile_object(cx, self, object);
}

static int read_options(indim_ctx *cx, const command *self, option_walk *walk, compile_options *options,
                        bool *out_is_done) {
  for (int option; (option = options_next(walk)) != 0;) {
    if (option < 0) {
      *out_is_done = true;
      return walk->exit_code;
    }
    bool is_about_passes = option == OPTION_DUMP && strcmp(walk->value, "help") == 0;
    if (is_about_passes) {
      list_passes();
    }
    *out_is_done = is_about_passes || compiling_help(option, walk->value);
    if (*out_is_done) {
      return EXIT_OK;
    }
    int code = set_option(cx, self, option, walk->value, options);
    if (code != EXIT_OK) {
      return code;
    }
  }
  return EXIT_OK;
}

int command_compile(indim_ctx *cx, const command *self, int argc, char **argv) {
  compile_options options = {.output = "-"};
  option_walk walk;
  bool is_done = false;
  options_start(&walk, self, specs, argc, argv);
  int code = read_options(cx, self, &walk, &options, &is_done);
  if (code == EXIT_OK && !is_done && walk.operand_count != 1) {
    code = usage_error(self, "give one file");
  } else if (code == EXIT_OK && !is_done) {
    code = keep_program(self, walk.operands[0], options.output);
  }
  if (code == EXIT_OK && !is_done) {
    options.object.json = options.json;
    code = is_for_file(&options) ? make_file(cx, self, &options, walk.operands[0])
                                 : compile_and_show(cx, self, &options, walk.operands[0]);
  }
  free_static_arguments(&options.object);
  return code;
}
