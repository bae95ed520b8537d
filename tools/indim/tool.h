// What the commands of the indim program share: options, files, diagnostics, exit codes.
#ifndef INDIM_TOOL_H
#define INDIM_TOOL_H

#include <stdio.h>

#include "indim/base.h"
#include "indim/compile.h"
#include "indim/graph.h"

// Exit codes; the man page lists them.
enum {
  EXIT_OK = 0,
  EXIT_REFUSED = 1,      // the program, a shape or an argument breaks a rule
  EXIT_USAGE = 2,        // the command line is wrong
  EXIT_FILE = 3,         // a file could not be read or written
  EXIT_LIMIT = 4,        // --max-memory, --max-steps or another limit
  EXIT_UNSUPPORTED = 5,  // valid, but this program cannot run it
  EXIT_MEMORY = 6,       // the machine has no more memory
  EXIT_INTERNAL = 7,     // a defect of ours
  EXIT_INTERRUPTED = 130
};

// One command: `indim NAME ...`. commands.def lists them.
typedef struct command {
  const char *name;
  const char *summary;  // one line for `indim help`
  const char *help;     // what `indim NAME --help` prints
  int (*run)(indim_ctx *cx, const struct command *command, int argc, char **argv);
} command;

#define COMMAND(name, summary)          \
  extern const char *const help_##name; \
  int command_##name(indim_ctx *cx, const command *self, int argc, char **argv);
#include "commands.def"
#undef COMMAND

// The exit code of a library call's outcome.
int exit_code_of(indim_status status);
// Prints every diagnostic of the context to stderr, clears them, and returns the exit code of |status|.
int report(indim_ctx *cx, indim_status status);
// Prints "indim NAME: message" to stderr ("indim: message" where |self| is NULL); returns the exit code of |status|.
// What a library call did not find wrong.
int refuse(const command *self, indim_status status, const char *format, ...) INDIM_PRINTF(3, 4);
// The same for a wrong command line, with where help is to be had; returns EXIT_USAGE.
int usage_error(const command *self, const char *format, ...) INDIM_PRINTF(2, 3);

// An option of one command, GNU style.
typedef struct option_spec {
  const char *long_name;
  char letter;  // 0: none
  int code;     // above 0; what options_next returns
  bool takes_value;
} option_spec;

// Walks argv: returns the code of the next option with its value, 0 at the end, when all operands are collected, or -1
// after printing a usage error or the help. "--" ends the options; options and operands may be mixed.
typedef struct option_walk {
  const command *self;
  const option_spec *specs;  // ended by long_name NULL
  int argc;
  char **argv;
  int index;          // next argument to look at
  const char *value;  // of the option just returned
  char **operands;    // argv reused: operands collected so far
  int operand_count;
  const char *cluster;  // rest of a "-abc" argument
  int exit_code;        // of the command, when options_next returns -1
} option_walk;
void options_start(option_walk *walk, const command *self, const option_spec *specs, int argc, char **argv);
int options_next(option_walk *walk);

// Finds what a word was meant to be: the nearest candidate, at most two letters away or longer by its end.
typedef struct spelling {
  const char *word;
  size_t size;
  const char *best;  // NULL: none so far
  int distance;      // of |best|
} spelling;
spelling spelling_of(const char *word, size_t size);
void spelling_offer(spelling *s, const char *candidate);  // which must stay
// "; did you mean PREFIXbest?", or "" if there is none. Valid until the next call.
const char *did_you_mean(const spelling *s, const char *prefix);

// The value of --|option|, a number above 0: digits with an optional K, M, G, T (1024s). Anything else is reported, and
// EXIT_USAGE returned.
int parse_count(const command *self, const char *option, const char *text, uint64_t *out_count);
// Takes the first name from "a,b,c", and moves |*list| behind it, to NULL at the end. False if it is NULL; a name may
// be empty.
bool next_name(const char **list, indim_str *out_name);
// "1,2" or "{1,2}" or "" to a list. False if malformed or longer than |capacity|.
bool parse_dims(const char *text, int64_t *out_dims, int32_t capacity, int32_t *out_count);

// The bytes of a file ("-" is standard input), to be freed with free(). On failure prints why and returns EXIT_FILE.
int read_file(const command *self, const char *path, char **out_bytes, size_t *out_size);
// Writes a file completely or not at all: a temporary file beside it is renamed. "-" is standard output; what a link
// points to is written, and devices and pipes are written to.
int write_file(const command *self, const char *path, const void *bytes, size_t size);
// Opens a new file beside |path|, whose name is to be freed with free(); negative on failure.
int open_temporary(const char *path, char **out_name);
// A file in the making: a temporary one beside it, open for writing, which end_file renames if |code| is EXIT_OK, and else removes.
typedef struct new_file {
  const char *path;
  char *real, *temporary;
  int file;
  unsigned mode;  // that it gets in the end
} new_file;
int begin_file(const command *self, const char *path, new_file *out);
int end_file(const command *self, new_file *file, int code);
// Whether two names lead to one regular file that exists.
bool is_same_file(const char *a, const char *b);
// A usage error when what a program becomes would replace the program; |output| may be NULL.
int keep_program(const command *self, const char *input, const char *output);
// The name without links of the file that |path| is or will be, to be freed with free().
char *real_path_of(const char *path);
// Flushes standard output; EXIT_FILE with a message if that fails (a full disk, a closed pipe). |self| may be NULL.
int finish_output(const command *self);

// Reads a program and verifies it if asked. A file error is reported and returned; a refused program is |*out_status|
// with its diagnostics in the context.
int load_module(indim_ctx *cx, const command *self, const char *path, bool verify, indim_module **out_module,
                indim_status *out_status);

// Text of a shape with its layout, or without, to be freed with free(); never NULL (exits with EXIT_MEMORY).
char *shape_text(indim_ctx *cx, const indim_shape *shape, bool with_layout);
// malloc that exits with EXIT_MEMORY and a message instead of returning NULL.
void *must_alloc(size_t size);

// Values (values.c) ------------------------------------------------------------------------------------------------

// Reads an argument of `indim run`: a .npy file, a literal with its shape ('f32[2] {1, 2}'), or bare values for |shape|
// ('3', '{1, 2}').
int read_argument(indim_ctx *cx, const command *self, const char *text, const indim_shape *shape,
                  indim_literal **out_literal);
// The arguments of a program: one for each parameter as read_argument has them or, if none is given and that is allowed,
// made-up ones (make_argument, profile.h). |out| is to be dropped, also after a failure.
typedef struct program_arguments {
  indim_literal **list;
  int64_t count;
} program_arguments;
int take_arguments(indim_ctx *cx, const command *self, const indim_module *module, char **texts, int count,
                   bool may_make, program_arguments *out);
void drop_arguments(program_arguments *arguments);
// The value of --threads: a number, or "auto".
int parse_threads(const command *self, const char *value, int32_t *out_threads);
// Writes the leaves of a literal to a .npz file, named by their path.
int write_npz(indim_ctx *cx, const command *self, const char *path, const indim_literal *literal);
// Calls |visit| for each leaf with its path, "2.0", until one returns another code than EXIT_OK, which is returned. A
// literal that is no tuple is a leaf "0".
enum { LEAF_PATH_SIZE = 512 };
typedef int leaf_visit(indim_ctx *cx, void *user, const char *path, const indim_literal *leaf);
int visit_leaves(indim_ctx *cx, const indim_literal *literal, leaf_visit *visit, void *user);

// The terminal (terminal.c) ------------------------------------------------------------------------------------------

// Columns of standard output: COLUMNS, or the terminal's, or 100; at least 40.
int terminal_width(void);
// Whether standard output is a terminal that takes colours; not with NO_COLOR.
bool terminal_has_color(void);
// Whether the locale is one of UTF-8.
bool terminal_has_utf8(void);
// The name of a file without what a terminal would obey, to be freed with free().
char *shown_path(const char *path);

// Functions (functions.c) ------------------------------------------------------------------------------------------

// Registers a function of a shared library for custom calls: |value| is "NAME=LIBRARY:SYMBOL", given with --|option|.
int load_function(indim_ctx *cx, const command *self, const char *option, const char *value, bool is_handler);

// JSON (json.c) ----------------------------------------------------------------------------------------------------

struct cJSON;
// With --json (json_begin) a command answers with one JSON value on standard output. When it fails before it has,
// json_end prints
// {"ok":false,"errors":[...]} of what was told on standard error: refuse, usage_error and report keep it here.
void json_begin(void);
void json_end(int code);
void json_answered(void);  // the value was written by other means than json_print
// The text of a value, which is deleted, to be freed with free(). Bytes that are no UTF-8, as names of files may have,
// become '?'.
char *json_text(struct cJSON *value, bool indented);
void json_print(struct cJSON *value, bool indented);  // to standard output
// [{"line":3,"column":7,"status":"INVALID","message":"...","hint":"..."}]: what was kept since it was last taken.
struct cJSON *json_take_reasons(void);
void json_keep_reason(indim_status status, const char *message);
void json_keep_diagnostics(const indim_ctx *cx);

// Times of `indim run --repeat`, nanoseconds.
typedef struct run_times {
  int64_t count;  // executions measured; 0: none
  int64_t median;
  int64_t least;
  int64_t compile;  // from the verified program to code; 0 for the evaluator
} run_times;

// Prints {"results":[{"path":"0","shape":"f32[2]{0}","data":[1,2]}],"engine":"native"}, an object for every leaf of the
// literal, and "time_ns":{"median":..,"min":..,"compile":..} when there are times.
// |target| is what native code was made for, or NULL; |threads| it ran on are told unless they are 0.
int json_print_results(indim_ctx *cx, const indim_literal *literal, const char *engine, const char *target,
                       int32_t threads, const run_times *times);

// Long work (engine.c) ----------------------------------------------------------------------------------------------

// From here to work_end, Ctrl-C stops what runs: the context's poll says so, and the word of work_stop_flag is set for
// compiled code. A second Ctrl-C ends the program at once. On a terminal a line says what has been done for how long,
// from 2 s on.
void work_begin(indim_ctx *cx, const char *what);
void work_now(const char *what);  // another |what|: a string that stays
void work_end(indim_ctx *cx);
const volatile int32_t *work_stop_flag(void);

// Tells, a line each, what went wrong on the way to a compilation that succeeded, and clears it.
void tell_detours(indim_ctx *cx, const command *self);
// Compiles between work_begin and work_end.
indim_status compile_module(indim_ctx *cx, const indim_module *module, indim_compile_options *options,
                            indim_executable **out_executable);
// "1.23 us": three digits and the unit that fits.
typedef struct time_text {
  char text[32];
} time_text;
time_text time_text_of(int64_t nanoseconds);
int64_t now_ns(void);

#endif  // INDIM_TOOL_H
