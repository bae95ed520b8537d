// One program in both engines: evaluated, compiled and run on memory with guard pages, compared.
//
//   twin t;
//   twin_init(&t);                    the guarded memory and the pools; once
//   twin_run(&t, &p, seed)            what the engines did: the same, refused, or different (then t.complaint says how)
#ifndef INDIM_TESTS_TWIN_H
#define INDIM_TESTS_TWIN_H

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "array/element.h"
#include "array/float_format.h"
#include "indim/compile.h"
#include "indim/custom_call.h"
#include "indim/eval.h"
#include "indim/shape_util.h"
#include "indim/text.h"
#include "program.h"

enum { SLOTS = PROGRAM_PARAMETERS + 2 * PROGRAM_RESULTS + 1, SLOT_BYTES = 1 << 20, PAGE = 4096 };

typedef enum twin_outcome { TWIN_SAME, TWIN_REFUSED, TWIN_DIFFERENT } twin_outcome;

typedef struct twin {
  indim_ctx *pool_cx;
  indim_pool *pools[2];  // of 1 and 3 threads
  uint8_t *memory;       // slots with a guard page on each side
  int slots_used;
  struct {
    void *at;
    size_t size;
  } extra[SLOTS];  // what is larger than a slot
  int extra_count;
  char complaint[2000];
  int64_t elements;  // compared so far
  int64_t parts;     // programs in what was the same
  int64_t runs;
  uint64_t effects;  // a number made of the calls with effects, one after another
  uint64_t effects_expected;
} twin;

// Lets |die| tell what was at hand when a test crashes, aborts or takes too long.
static inline void catch_signals(void (*die)(int signal_number)) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
  struct sigaction action = {.sa_handler = die};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    sigaction(signals[i], &action, NULL);
  }
}

static inline void twin_init(twin *t) {
  size_t slot = SLOT_BYTES + PAGE;
  memset(t, 0, sizeof *t);
  t->memory = mmap(NULL, SLOTS * slot + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (t->memory == MAP_FAILED || indim_ctx_create(NULL, &t->pool_cx) != INDIM_OK) {
    abort();
  }
  for (size_t i = 0; i <= SLOTS; i++) {
    if (mprotect(t->memory + i * slot, PAGE, PROT_NONE) != 0) {
      abort();
    }
  }
  for (int i = 0; i < 2; i++) {
    if (indim_pool_create(t->pool_cx, i == 0 ? 1 : 3, &t->pools[i]) != INDIM_OK) {
      abort();
    }
  }
}

static inline void twin_deinit(twin *t) {
  indim_pool_destroy(t->pools[0]);
  indim_pool_destroy(t->pools[1]);
  indim_ctx_destroy(t->pool_cx);
  munmap(t->memory, SLOTS * (size_t)(SLOT_BYTES + PAGE) + PAGE);
}

// |bytes| that touch a guard page at their end (as near as |alignment| lets them) or at their beginning.
static inline void *guarded(twin *t, int64_t bytes, int64_t alignment, bool at_end) {
  size_t size = SLOT_BYTES;
  uint8_t *begin = NULL;
  if (bytes <= SLOT_BYTES && t->slots_used < SLOTS) {
    begin = t->memory + (size_t)t->slots_used++ * (SLOT_BYTES + PAGE) + PAGE;
  } else {
    size = ((size_t)bytes + PAGE - 1) / PAGE * PAGE;
    begin = mmap(NULL, size + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED || mprotect(begin + PAGE, size, PROT_READ | PROT_WRITE) != 0) {
      abort();
    }
    t->extra[t->extra_count].at = begin;
    t->extra[t->extra_count++].size = size + 2 * PAGE;
    begin += PAGE;
  }
  return at_end ? begin + (size - (size_t)bytes) / (size_t)alignment * (size_t)alignment : begin;
}

static inline void release_guarded(twin *t) {
  for (int i = 0; i < t->extra_count; i++) {
    munmap(t->extra[i].at, t->extra[i].size);
  }
  t->extra_count = t->slots_used = 0;
}

static bool complain(twin *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(t->complaint, sizeof t->complaint, format, arguments);
  va_end(arguments);
  return false;
}

static const char *last_message(const indim_ctx *cx) {
  size_t count = indim_ctx_diagnostic_count(cx);
  const indim_diagnostic *d = count > 0 ? indim_ctx_diagnostic_get(cx, count - 1) : NULL;
  return d == NULL ? "(no diagnostic)" : d->message;
}

// The host's function -----------------------------------------------------------------------------------------------

// The elements of the operand from the last to the first. Notes them for |user|, if that is a twin.
static inline indim_status turn(void *user, const indim_custom_call *call) {
  twin *t = user;
  const indim_custom_array *from = &call->operands[0];
  const indim_custom_array *to = &call->results[0];
  const uint8_t *x = from->data;
  uint8_t *y = to->data;
  int64_t count = 1;
  for (int32_t i = 0; i < from->shape->rank; i++) {
    count *= from->shape->sizes[i];
  }
  int64_t width = count == 0 ? 1 : from->bytes / count;
  if (from->bytes != to->bytes) {
    return INDIM_INTERNAL;
  }
  for (int64_t i = 0; i < from->bytes; i++) {
    y[i] = x[(count - 1 - i / width) * width + i % width];
  }
  for (int64_t i = 0; t != NULL && i < from->bytes; i++) {
    t->effects = (t->effects ^ x[i]) * UINT64_C(1099511628211);
  }
  if (t != NULL) {
    t->effects = (t->effects ^ (uint64_t)count) * UINT64_C(1099511628211) + 1;
  }
  return INDIM_OK;
}

// Arguments --------------------------------------------------------------------------------------------------------

// Eighths between -4 and 4, of integers small ones; with |any| half of the elements are any bits, of floats also NaNs.
static inline bool make_argument(indim_ctx *cx, choices *c, const array *a, bool any, indim_literal **out) {
  indim_shape shape;
  indim_literal *small = NULL;
  bool eighths = is_real(a->type) || is_complex(a->type);
  if (indim_shape_init(cx, eighths ? INDIM_F32 : INDIM_S32, a->rank, a->sizes, &shape) != INDIM_OK ||
      indim_literal_create(cx, &shape, &small) != INDIM_OK) {
    return false;
  }
  int64_t count = element_count(a);
  void *data = indim_literal_mutable_data(small);
  for (int64_t i = 0; i < count; i++) {
    int64_t n = (int64_t)choose(c, 65) - 32;
    if (eighths) {
      ((float *)data)[i] = (float)n / 8;
    } else {
      ((int32_t *)data)[i] = (int32_t)(n / (a->type == INDIM_PRED ? 24 : 3));
    }
  }
  bool ok = indim_literal_convert(cx, small, a->type, out) == INDIM_OK;
  indim_literal_destroy(small);
  uint8_t *bytes = ok ? indim_literal_mutable_data(*out) : NULL;
  int64_t width = indim_type_bytes(a->type);
  for (int64_t i = 0; ok && any && indim_type_bits(a->type) >= 8 && i < count; i++) {
    uint64_t kind = choose(c, 8);
    for (int64_t b = 0; kind < 4 && b < width; b++) {
      uint8_t edge = kind == 0 ? 0 : kind == 1 ? 0xFF : (uint8_t)choose(c, 256);
      edge = kind == 1 && b == width - 1 && chance(c, 2) ? 0x7F : edge;
      edge = kind == 0 && b == width - 1 && chance(c, 2) ? 0x80 : edge;
      bytes[i * width + b] = edge;
    }
    if (kind == 3 && is_real(a->type)) {
      indim_element element = indim_element_load(a->type, 8 * width, bytes, i);
      element.bits |= indim_float_format_of(a->type)->infinity_bits;
      indim_element_store(a->type, 8 * width, bytes, i, element);
    }
  }
  return ok;
}

// A parallel loop of the caller's: every third piece to each of three threads of its own, so that neighbours never share one.
typedef struct apart {
  void (*piece)(void *frame, int64_t begin, int64_t end);
  void *frame;
  int64_t begin, count, grain;
} apart;

static void *every_third(void *user) {
  const apart *a = user;
  for (int64_t begin = a->begin; begin < a->count; begin += 3 * a->grain) {
    a->piece(a->frame, begin, begin + a->grain < a->count ? begin + a->grain : a->count);
  }
  return NULL;
}

static void run_apart(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame, int64_t count,
                      int64_t grain) {
  pthread_t threads[3];
  apart parts[3];
  (void)user;
  for (int i = 0; i < 3; i++) {
    parts[i] = (apart){piece, frame, i * grain, count, grain};
    if (pthread_create(&threads[i], NULL, every_third, &parts[i]) != 0) {
      abort();
    }
  }
  for (int i = 0; i < 3; i++) {
    pthread_join(threads[i], NULL);
  }
}

// Names of decisions to leave out: none half of the time, else each by chance. |room| is enough for all.
static inline const char *any_decisions(choices *c, char *room) {
  room[0] = '\0';
  bool all_on = chance(c, 2);
  uint64_t in = 2 + choose(c, 8);
  for (const indim_compile_decision *d = indim_compile_decisions(); d->name != NULL; d++) {
    if (!all_on && chance(c, in)) {
      strcat(strcat(room, room[0] == '\0' ? "" : ","), d->name);
    }
  }
  return room[0] == '\0' ? NULL : room;
}

// Running ----------------------------------------------------------------------------------------------------------

typedef struct buffers {
  const void *arguments[PROGRAM_PARAMETERS];
  void *results[PROGRAM_RESULTS];
} buffers;

// Arguments copied behind guard pages in the layouts that the executable wants; results filled with junk. A result may
// be in its argument's buffer.
static inline bool lay_out(twin *t, indim_ctx *cx, choices *c, const indim_executable *exe,
                           const indim_literal *const *arguments, buffers *b) {
  bool at_end = chance(c, 2);
  bool share = chance(c, 2);
  int64_t count = indim_executable_argument_count(exe);
  for (int64_t i = 0; i < count; i++) {
    int64_t bytes = indim_executable_argument_bytes(exe, i);
    void *at = guarded(t, bytes, indim_executable_argument_alignment(exe, i), at_end);
    indim_literal *laid = NULL;
    if (indim_literal_relayout(cx, arguments[i], indim_executable_argument_shape(exe, i), &laid) != INDIM_OK ||
        indim_literal_bytes(laid) != bytes) {
      indim_literal_destroy(laid);
      return complain(t, "argument %d: %s", (int)i, last_message(cx));
    }
    if (bytes > 0) {
      memcpy(at, indim_literal_data(laid), (size_t)bytes);
    }
    indim_literal_destroy(laid);
    b->arguments[i] = at;
  }
  for (int64_t i = 0; i < indim_executable_result_count(exe); i++) {
    int64_t bytes = indim_executable_result_bytes(exe, i);
    int64_t alias = indim_executable_result_alias(exe, i);
    void *at = NULL;
    for (int64_t k = 0; k < i; k++) {
      share = share && b->results[k] != b->arguments[alias < 0 ? 0 : alias];
    }
    if (alias >= 0 && share) {
      memcpy(&at, &b->arguments[alias], sizeof at);
    } else {
      at = guarded(t, bytes, indim_executable_result_alignment(exe, i), at_end);
      memset(at, 0xA5, (size_t)bytes);
    }
    b->results[i] = at;
  }
  return true;
}

typedef enum crew { CREW_NONE, CREW_ONE, CREW_POOL, CREW_APART } crew;

static inline bool run_once(twin *t, indim_ctx *cx, choices *c, indim_executable *exe,
                            const indim_literal *const *arguments, crew who, buffers *b) {
  release_guarded(t);
  if (!lay_out(t, cx, c, exe, arguments, b)) {
    return false;
  }
  int64_t scratch_bytes = indim_executable_scratch_bytes(exe);
  void *scratch = guarded(t, scratch_bytes, INDIM_SCRATCH_ALIGNMENT, chance(c, 2));
  memset(scratch, 0xC3, (size_t)scratch_bytes);
  indim_run_options run = {.arguments = b->arguments,
                           .argument_count = indim_executable_argument_count(exe),
                           .results = b->results,
                           .result_count = indim_executable_result_count(exe),
                           .scratch = scratch,
                           .pool = who == CREW_ONE    ? t->pools[0]
                                   : who == CREW_POOL ? t->pools[1]
                                                      : NULL,
                           .parallel = who == CREW_APART ? run_apart : NULL,
                           .cx = cx};
  t->runs++;
  t->effects = 0;
  return (indim_execute(exe, &run) == INDIM_OK || complain(t, "executing: %s", last_message(cx))) &&
         (t->effects == t->effects_expected || complain(t, "other calls with effects"));
}

// Comparing --------------------------------------------------------------------------------------------------------

static inline bool compare_leaf(twin *t, indim_ctx *cx, const indim_literal *expected, const indim_shape *shape,
                                const void *bytes, const within *w, int64_t leaf) {
  indim_literal *actual = NULL;
  indim_mismatch mismatch;
  indim_tolerance tolerance = {.abs = w->abs, .rel = w->rel, .ulps = w->ulps, .equal_nans = true};
  if (indim_literal_create(cx, shape, &actual) != INDIM_OK) {
    return complain(t, "result %d: %s", (int)leaf, last_message(cx));
  }
  if (indim_literal_bytes(actual) > 0) {
    memcpy(indim_literal_mutable_data(actual), bytes, (size_t)indim_literal_bytes(actual));
  }
  bool same = indim_literal_compare(cx, expected, actual, &tolerance, &mismatch) == INDIM_OK && mismatch.count == 0;
  t->elements += mismatch.elements;
  if (!same) {
    indim_buffer line;
    indim_buffer_init(&line, cx);
    indim_mismatch_print(&mismatch, expected, &line);
    complain(t, "result %d: %s", (int)leaf, line.data);
    indim_buffer_deinit(&line);
  }
  indim_literal_destroy(actual);
  return same;
}

static inline bool compare_all(twin *t, indim_ctx *cx, const program *p, const indim_executable *exe,
                               const indim_literal *expected, const buffers *b) {
  int64_t count = indim_executable_result_count(exe);
  if (count != p->result_count) {
    return complain(t, "%d results, not %d", (int)count, p->result_count);
  }
  for (int64_t i = 0; i < count; i++) {
    bool is_tuple = indim_shape_is_tuple(indim_literal_shape(expected));
    const indim_literal *leaf = is_tuple ? indim_literal_member(expected, i) : expected;
    if (!compare_leaf(t, cx, leaf, indim_executable_result_shape(exe, i), b->results[i], &p->results[i], i)) {
      return false;
    }
  }
  return true;
}

// A number for all bytes of the results, padding included.
static inline uint64_t digest(const indim_executable *exe, const buffers *b) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (int64_t i = 0; i < indim_executable_result_count(exe); i++) {
    const uint8_t *bytes = b->results[i];
    for (int64_t k = 0; k < indim_executable_result_bytes(exe, i); k++) {
      hash = (hash ^ bytes[k]) * UINT64_C(1099511628211);
    }
  }
  return hash;
}

// Compiles without the decisions named, in any number of functions, and runs twice, with other buffers and once with threads: near the evaluator, and
// the same bits.
static inline twin_outcome run_compiled(twin *t, indim_ctx *cx, choices *c, const program *p,
                                        const indim_module *module, const indim_literal *const *arguments,
                                        const indim_literal *expected, const char *without) {
  static const int32_t chunks[] = {0, 0, 8, 30, 100};  // instructions of a function, where code is cut
  indim_compile_options options = {.target = getenv("INDIM_TARGET"), .without = without, .chunk = ANY_OF(c, chunks)};
  options.pool = chance(c, 2) ? t->pools[1] : NULL;
  indim_executable *exe = NULL;
  static const crew crews[] = {CREW_ONE, CREW_POOL, CREW_POOL, CREW_APART};
  crew asked[2] = {CREW_NONE, ANY_OF(c, crews)};
  buffers b;
  indim_status status = indim_compile(cx, module, &options, &exe);
  if (status != INDIM_OK) {
    complain(t, "compiling: %s: %s", indim_status_name(status), last_message(cx));
    bool refused = status == INDIM_UNSUPPORTED || status == INDIM_LIMIT;
    return refused && strstr(t->complaint, "defect") == NULL ? TWIN_REFUSED : TWIN_DIFFERENT;
  }
  bool threads_first = chance(c, 2);
  uint64_t first = 0;
  bool ok = true;
  for (int i = 0; i < 2 && ok; i++) {
    ok = run_once(t, cx, c, exe, arguments, asked[i ^ (int)threads_first], &b);
    ok = ok && (i > 0 || compare_all(t, cx, p, exe, expected, &b));
    uint64_t now = ok ? digest(exe, &b) : 0;
    first = i == 0 ? now : first;
    if (ok && now != first) {
      ok = compare_all(t, cx, p, exe, expected, &b) && complain(t, "other bits in the second run");
    }
  }
  indim_executable_destroy(exe);
  return ok ? TWIN_SAME : TWIN_DIFFERENT;
}

// Evaluates a module, and compiles it without the decisions named.
static inline twin_outcome run_module(twin *t, indim_ctx *cx, choices *c, const program *p, const indim_module *module,
                                      const char *without) {
  indim_literal *arguments[PROGRAM_PARAMETERS] = {NULL};
  indim_literal *expected = NULL;
  twin_outcome outcome = TWIN_SAME;
  bool made = true;
  for (int i = 0; i < p->parameter_count && made; i++) {
    made = make_argument(cx, c, &p->parameters[i], p->any_values[i], &arguments[i]);
  }
  const indim_literal *const *given = (const indim_literal *const *)arguments;
  t->effects = 0;
  indim_status status = made ? indim_eval(cx, module, given, p->parameter_count, NULL, &expected) : INDIM_INTERNAL;
  t->effects_expected = t->effects;
  if (status != INDIM_OK) {
    complain(t, "evaluating: %s: %s", indim_status_name(status), last_message(cx));
    outcome = status == INDIM_UNSUPPORTED || status == INDIM_LIMIT ? TWIN_REFUSED : TWIN_DIFFERENT;
  } else {
    outcome = run_compiled(t, cx, c, p, module, given, expected, without);
  }
  indim_literal_destroy(expected);
  for (int i = 0; i < PROGRAM_PARAMETERS; i++) {
    indim_literal_destroy(arguments[i]);
  }
  return outcome;
}

// One program from its text on. A text that does not verify is a mistake of the generator, and different.
static inline twin_outcome twin_run(twin *t, const program *p, choices *c, const char *without) {
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  twin_outcome outcome = TWIN_DIFFERENT;
  t->complaint[0] = '\0';
  if (indim_ctx_create(NULL, &cx) != INDIM_OK || indim_register_custom_call(cx, CALL, turn, NULL) != INDIM_OK ||
      indim_register_custom_call(cx, CALL_WITH_EFFECT, turn, t) != INDIM_OK) {
    abort();
  }
  uint64_t bytes_before = indim_ctx_memory_in_use(cx);
  if (indim_module_parse(cx, indim_str_of("random.hlo"), indim_str_of(p->text), &module) != INDIM_OK ||
      indim_module_verify(cx, module) != INDIM_OK) {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
    complain(t, "not a program: %d:%d: %s", d == NULL ? 0 : d->line, d == NULL ? 0 : d->column,
             d == NULL ? "" : d->message);
  } else {
    outcome = run_module(t, cx, c, p, module, without);
  }
  indim_module_destroy(module);
  release_guarded(t);
  uint64_t bytes_left = indim_ctx_memory_in_use(cx) - bytes_before;
  if (bytes_left != 0 && outcome != TWIN_DIFFERENT) {
    complain(t, "%llu bytes are left", (unsigned long long)bytes_left);
    outcome = TWIN_DIFFERENT;
  }
  indim_ctx_destroy(cx);
  t->parts += outcome == TWIN_SAME ? p->part_count : 0;
  return outcome;
}

// What a text needs to be run like a program: its parameters, all arrays of few dimensions and elements. False if it is
// not such a program. |within| holds for every result.
static inline bool program_of_text(program *p, const char *from, within near, int64_t most_elements) {
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  memset(p, 0, sizeof *p);
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    abort();
  }
  bool ok = indim_module_parse(cx, indim_str_of("text"), indim_str_of(from), &module) == INDIM_OK &&
            indim_module_verify(cx, module) == INDIM_OK;
  const indim_computation *entry = ok ? indim_module_entry(module) : NULL;
  p->part_count = 1;
  p->parameter_count = ok ? (int)indim_computation_parameter_count(entry) : 0;
  ok = ok && p->parameter_count <= PROGRAM_PARAMETERS;
  for (int i = 0; ok && i < p->parameter_count; i++) {
    const indim_shape *shape = indim_instr_shape(indim_computation_parameter(entry, i));
    array *a = &p->parameters[i];
    ok = indim_shape_is_array(shape) && indim_shape_is_static(shape) && shape->rank <= PROGRAM_RANK;
    if (ok) {
      a->type = shape->type;
      a->rank = shape->rank;
      memcpy(a->sizes, shape->sizes, (size_t)a->rank * sizeof *a->sizes);
      p->any_values[i] = i % 2 == 1;
      ok = element_count(a) <= most_elements;
    }
  }
  const indim_shape *result = ok ? indim_instr_shape(indim_computation_root(entry)) : NULL;
  ok = ok && (indim_shape_is_array(result) || (indim_shape_is_tuple(result) && !indim_shape_is_nested_tuple(result)));
  int64_t leaves = ok ? indim_shape_leaf_count(result) : 0;
  ok = ok && leaves <= PROGRAM_RESULTS;
  p->result_count = ok ? (int)leaves : 0;
  for (int i = 0; i < p->result_count; i++) {
    p->results[i] = near;
  }
  indim_module_destroy(module);
  indim_ctx_destroy(cx);
  return ok;
}

#endif  // INDIM_TESTS_TWIN_H
