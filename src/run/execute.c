// Running an executable: everything about the caller's buffers is checked first, then the code runs with the host
// table. Nothing here allocates, unless two runs need the executable's one scratch block at the same time. A small
// program runs for as long as the checks take, so there is a fast path for what is clearly valid, and only the rest is
// checked in detail.
#include "run/clock.h"
#include "run/convolution.h"
#include "run/executable.h"
#include "run/fft.h"
#include "run/flushing.h"
#include "run/sort.h"

#include <string.h>

#if defined(__GNUC__)
#define NOT_INLINED __attribute__((noinline))
#else
#define NOT_INLINED
#endif

// Services -------------------------------------------------------------------------------------------------------------

// State of this run, for the functions of the host table.
typedef struct run {
  indim_parallel_fn *parallel;
  void *parallel_user;
  indim_flushing flushing;  // who runs |parallel|'s loops, if the executable flushes subnormal numbers
  const indim_executable *executable;
  const volatile int32_t *stop;
  indim_call_state *calls;      // NULL: the program calls no functions of the caller's
  indim_step_time *step_times;  // NULL: not counted
  int64_t step_begin;
} run;

static void run_parallel(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain) {
  const run *r = user;
  r->parallel(r->parallel_user, piece, frame, count, grain);
}

// Without threads: one piece, as ends of pieces would limit out-of-order execution.
static void run_whole(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain) {
  (void)user;
  (void)grain;
  if (count > 0) {
    piece(frame, 0, count);
  }
}

// A parallel loop whose remaining pieces are skipped once the run is to stop.
typedef struct stoppable {
  void (*piece)(void *frame, int64_t begin, int64_t end);
  void *frame;
  const volatile int32_t *stop;
} stoppable;

static void run_unless_stopped(void *user, int64_t begin, int64_t end) {
  const stoppable *s = user;
  if (*s->stop == 0) {
    s->piece(s->frame, begin, end);
  }
}

static void run_stoppable(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame,
                          int64_t count, int64_t grain) {
  const run *r = user;
  stoppable s = {piece, frame, r->stop};
  if (r->parallel != NULL) {
    r->parallel(r->parallel_user, run_unless_stopped, &s, count, grain);
    return;
  }
  for (int64_t begin = 0; begin < count; begin += grain) {
    run_unless_stopped(&s, begin, count - begin < grain ? count : begin + grain);
  }
}

static int32_t run_matmul(void *user, const indim_host_matmul *sizes, void *const *arrays) {
  run *r = user;
  if (!indim_matmul_run(&r->executable->blas, run_stoppable, r, sizes, arrays[0], arrays[1], arrays[2])) {
    return INDIM_HOST_FAILED;
  }
  return *r->stop == 0 ? INDIM_HOST_OK : INDIM_HOST_STOPPED;
}

static int32_t run_fft(void *user, const indim_host_fft *sizes, void *const *arrays) {
  run *r = user;
  const indim_fft_context context = {.parallel = r->parallel == NULL ? NULL : run_stoppable,
                                     .parallel_user = r,
                                     .stop = r->stop,
                                     .vector_bytes = r->executable->blas.vector_bytes};
  return indim_fft_run(&context, sizes, arrays[0], arrays[1], NULL, 0);
}

static int32_t run_lapack(void *user, const indim_host_lapack *numbers, void *const *arrays) {
  run *r = user;
  const indim_host_lapack_run context = {.stop = r->stop,
                                         .parallel = r->parallel == NULL ? NULL : run_stoppable,
                                         .parallel_user = r,
                                         .library = r->executable->lapack_library};
  return r->executable->lapack(&context, numbers, arrays);
}

static int32_t run_convolution(void *user, const indim_host_convolution *sizes, void *const *arrays) {
  run *r = user;
  int32_t vector_bytes = r->executable->blas.vector_bytes;
  indim_parallel_fn *parallel = r->parallel == NULL ? NULL : run_stoppable;
  if (!indim_convolution_run(vector_bytes, r->stop, parallel, r, sizes, arrays[0], arrays[1], arrays[2])) {
    return INDIM_HOST_FAILED;
  }
  return *r->stop == 0 ? INDIM_HOST_OK : INDIM_HOST_STOPPED;
}

// What is in a piece of it needs all that was in the pieces before, so that none may be skipped.
static int32_t run_sort(void *user, const indim_host_sort *numbers, void *const *arrays) {
  const run *r = user;
  const indim_sort_context context = {.parallel = r->parallel, .parallel_user = r->parallel_user, .stop = r->stop};
  return indim_sort_run(&context, numbers, arrays);
}

static int32_t run_custom_call(void *user, const indim_host_custom_call *numbers, void *const *arrays) {
  const run *r = user;
  const indim_call_table *table = &r->executable->calls;
  return table->run(table->calls, numbers, arrays, r->calls);
}

static int32_t run_clock(void *user, const indim_host_clock *numbers, void *const *arrays) {
  run *r = user;
  (void)arrays;
  if (r->step_times == NULL) {
    return INDIM_HOST_OK;
  }
  int64_t now = indim_clock_ns();
  if (numbers->is_end != 0) {
    indim_step_time *time = &r->step_times[numbers->step];
    time->runs++;
    time->ns += now - r->step_begin;
  }
  r->step_begin = now;
  return INDIM_HOST_OK;
}

// Checks ---------------------------------------------------------------------------------------------------------------

static indim_status check_count(indim_ctx *cx, const char *what, int64_t wanted, int64_t given, const void *list) {
  if (given != wanted) {
    indim_fail(cx, INDIM_INVALID, "the program has %lld %s leaves, %lld are given", (long long)wanted, what,
               (long long)given);
    indim_hint(cx, "each array of a tuple is a leaf of its own");
    return INDIM_INVALID;
  }
  if (list == NULL && wanted > 0) {
    return indim_fail(cx, INDIM_INVALID, "the list of %ss is NULL", what);
  }
  return INDIM_OK;
}

static indim_status refuse_buffer(indim_ctx *cx, const char *what, int64_t i, const void *buffer,
                                  const indim_leaf *leaf) {
  if (buffer == NULL) {
    return indim_fail(cx, INDIM_INVALID, "%s leaf %lld is NULL and should hold %lld bytes", what, (long long)i,
                      (long long)leaf->bytes);
  }
  return indim_fail(cx, INDIM_INVALID, "%s leaf %lld lies at %p, which is no multiple of %lld, the alignment of %s",
                    what, (long long)i, buffer, (long long)leaf->misaligned + 1, indim_type_text(leaf->shape->type));
}

static inline bool is_wrong(const void *buffer, const indim_leaf *leaf) {
  return leaf->bytes > 0 && (buffer == NULL || ((uintptr_t)buffer & leaf->misaligned) != 0);
}

static inline bool overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {
  uintptr_t x = (uintptr_t)a;
  uintptr_t y = (uintptr_t)b;
  return x < y + (uintptr_t)b_bytes && y < x + (uintptr_t)a_bytes;
}

static indim_status refuse_overlap(indim_ctx *cx, int64_t result, const char *what, int64_t other, bool is_same) {
  indim_fail(cx, INDIM_INVALID, "result leaf %lld overlaps %s leaf %lld", (long long)result, what, (long long)other);
  if (is_same) {
    indim_hint(cx, "a program gives an argument's buffer to a result by its input_output_alias");
  }
  return INDIM_INVALID;
}

static indim_status check_overlaps(indim_ctx *cx, const indim_executable *e, const indim_run_options *o) {
  for (int64_t r = 0; r < e->result_count; r++) {
    const void *buffer = o->results[r];
    int64_t bytes = e->results[r].bytes;
    if (bytes == 0) {
      continue;
    }
    for (int64_t a = 0; a < e->argument_count; a++) {
      bool is_alias = e->results[r].alias == a && buffer == o->arguments[a];
      if (!is_alias && e->arguments[a].bytes > 0 && overlap(buffer, bytes, o->arguments[a], e->arguments[a].bytes)) {
        return refuse_overlap(cx, r, "argument", a, buffer == o->arguments[a]);
      }
    }
    for (int64_t s = 0; s < r; s++) {
      if (e->results[s].bytes > 0 && overlap(buffer, bytes, o->results[s], e->results[s].bytes)) {
        return refuse_overlap(cx, r, "result", s, false);
      }
    }
  }
  return INDIM_OK;
}

static indim_status check_machine(indim_ctx *cx, const indim_executable *e) {
  if (e->missing == NULL) {
    return INDIM_OK;
  }
  indim_fail(cx, INDIM_UNSUPPORTED, "the code is for %s, and this machine lacks %s", e->target, e->missing);
  indim_hint(cx, "compile it for \"native\", or for a target whose features this machine has");
  return INDIM_UNSUPPORTED;
}

// The exact check, with diagnostics. Not inlined: its calls would cost the fast path registers.
static NOT_INLINED indim_status check(const indim_executable *e, const indim_run_options *o) {
  indim_ctx *cx = o->cx;
  INDIM_TRY(check_machine(cx, e));
  INDIM_TRY(check_count(cx, "argument", e->argument_count, o->argument_count, o->arguments));
  INDIM_TRY(check_count(cx, "result", e->result_count, o->result_count, o->results));
  for (int64_t i = 0; i < e->argument_count; i++) {
    if (is_wrong(o->arguments[i], &e->arguments[i])) {
      return refuse_buffer(cx, "argument", i, o->arguments[i], &e->arguments[i]);
    }
  }
  for (int64_t i = 0; i < e->result_count; i++) {
    if (is_wrong(o->results[i], &e->results[i])) {
      return refuse_buffer(cx, "result", i, o->results[i], &e->results[i]);
    }
  }
  if (((uintptr_t)o->scratch & (INDIM_SCRATCH_ALIGNMENT - 1)) != 0) {
    return indim_fail(cx, INDIM_INVALID, "scratch lies at %p, which is no multiple of %d", o->scratch,
                      (int)INDIM_SCRATCH_ALIGNMENT);
  }
  return check_overlaps(cx, e, o);
}

// Whether [x, x + x_bytes) and [y, y + y_bytes) overlap, in one comparison; arbitrary for empty ranges.
static inline bool may_overlap(uintptr_t x, uintptr_t x_bytes, uintptr_t y, uintptr_t y_bytes) {
  return x - y + x_bytes - 1 < x_bytes + y_bytes - 1;
}

// True only if check() succeeds; conservatively false for NULL or overlapping buffers, which may have no bytes. Tests
// all buffers without a branch per buffer.
static inline bool is_clearly_valid(const indim_executable *e, const indim_run_options *o) {
  if (o->argument_count != e->argument_count || o->result_count != e->result_count || o->arguments == NULL ||
      o->results == NULL || e->missing != NULL) {
    return false;
  }
  uintptr_t wrong = (uintptr_t)o->scratch & (INDIM_SCRATCH_ALIGNMENT - 1);
  for (int64_t a = 0; a < e->argument_count; a++) {
    uintptr_t buffer = (uintptr_t)o->arguments[a];
    wrong |= (buffer & e->arguments[a].misaligned) | (buffer == 0);
  }
  for (int64_t r = 0; r < e->result_count; r++) {
    const indim_leaf *leaf = &e->results[r];
    uintptr_t buffer = (uintptr_t)o->results[r];
    uintptr_t bytes = (uintptr_t)leaf->bytes;
    uintptr_t overlaps = 0;
    for (int64_t a = 0; a < e->argument_count; a++) {
      overlaps += may_overlap(buffer, bytes, (uintptr_t)o->arguments[a], (uintptr_t)e->arguments[a].bytes);
    }
    for (int64_t s = 0; s < r; s++) {
      overlaps += may_overlap(buffer, bytes, (uintptr_t)o->results[s], (uintptr_t)e->results[s].bytes);
    }
    bool is_alias = leaf->alias >= 0 && o->results[r] == o->arguments[leaf->alias];
    wrong |= (buffer & leaf->misaligned) | (buffer == 0) | (overlaps ^ is_alias);
  }
  return wrong == 0;
}

// Scratch --------------------------------------------------------------------------------------------------------------

#if defined(__GNUC__)
static bool claim(uint32_t *in_use) { return __atomic_exchange_n(in_use, 1, __ATOMIC_ACQUIRE) == 0; }
static void release(uint32_t *in_use) { __atomic_store_n(in_use, 0, __ATOMIC_RELEASE); }
#else  // no atomics: every run has a block of its own
static bool claim(uint32_t *in_use) {
  (void)in_use;
  return false;
}
static void release(uint32_t *in_use) { (void)in_use; }
#endif

// A block besides the executable's own. Without a context of this thread it comes uncounted from the allocator.
static indim_status alloc_scratch(const indim_executable *e, indim_ctx *cx, void **out_block, void **out_aligned) {
  if (cx != NULL) {
    return indim_scratch_alloc(cx, e->scratch_bytes, out_block, out_aligned);
  }
  const indim_allocator *allocator = &e->cx->allocator;
  size_t size = (size_t)e->scratch_bytes + INDIM_SCRATCH_ALIGNMENT;
  *out_block = allocator->resize(allocator->self, NULL, 0, size);
  if (*out_block == NULL) {
    return INDIM_NO_MEMORY;
  }
  uintptr_t at = (uintptr_t)*out_block + INDIM_SCRATCH_ALIGNMENT - 1;
  *out_aligned = (void *)(at / INDIM_SCRATCH_ALIGNMENT * INDIM_SCRATCH_ALIGNMENT);
  return INDIM_OK;
}

static void free_scratch(const indim_executable *e, indim_ctx *cx, void *block) {
  size_t size = (size_t)e->scratch_bytes + INDIM_SCRATCH_ALIGNMENT;
  if (cx != NULL) {
    indim_free(cx, block, size);
  } else {
    e->cx->allocator.resize(e->cx->allocator.self, block, size, 0);
  }
}

// Running --------------------------------------------------------------------------------------------------------------

static const volatile int32_t never = 0;

// The list of arguments with copies of those whose buffers are also results', where the code requires disjoint buffers.
static NOT_INLINED const void *const *copy_arguments(const indim_executable *e, const indim_run_options *o,
                                                     void *scratch) {
  const void **list = (const void **)(void *)((char *)scratch + e->alias_list);
  memcpy(list, o->arguments, (size_t)e->argument_count * sizeof *list);
  for (int64_t r = 0; r < e->result_count; r++) {
    const indim_leaf *leaf = &e->results[r];
    if (leaf->is_copied && leaf->bytes > 0 && o->results[r] == o->arguments[leaf->alias]) {
      void *copy = (char *)scratch + e->arguments[leaf->alias].copy;
      memcpy(copy, o->results[r], (size_t)leaf->bytes);
      list[leaf->alias] = copy;
    }
  }
  return list;
}

static inline void make_host(const indim_executable *e, const indim_run_options *o, run *r, indim_host *host) {
  *r = (run){.parallel = o->parallel,
             .parallel_user = o->parallel_user,
             .executable = e,
             .stop = o->stop == NULL ? &never : o->stop,
             .step_times = o->step_times};
  if (r->parallel == NULL && o->pool != NULL) {
    r->parallel = indim_pool_run;
    r->parallel_user = o->pool;
  }
  if (r->parallel != NULL && e->flushes) {
    r->flushing = (indim_flushing){r->parallel, r->parallel_user, false};
    r->parallel = indim_flushing_run;
    r->parallel_user = &r->flushing;
  }
  *host = (indim_host){.user = r,
                       .stop = r->stop,
                       .parallel = r->parallel == NULL ? run_whole : run_parallel,
                       .matmul = run_matmul,
                       .fft = run_fft,
                       .lapack = run_lapack,
                       .custom_call = e->calls.calls == NULL ? NULL : run_custom_call,
                       .clock = run_clock,
                       .convolution = run_convolution,
                       .sort = run_sort};
}

static inline int32_t call(const indim_executable *e, const indim_run_options *o, void *scratch,
                           const indim_host *host) {
  const void *const *arguments = e->has_copies ? copy_arguments(e, o, scratch) : o->arguments;
  return e->function(arguments, o->results, scratch, host);
}

static NOT_INLINED indim_status explain(indim_ctx *cx, int32_t code, const indim_call_state *calls) {
  if (calls != NULL && calls->status != INDIM_OK) {
    return indim_fail(cx, calls->status, "%s", calls->message);
  }
  if (code == INDIM_HOST_STOPPED) {
    return indim_fail(cx, INDIM_INTERRUPTED, "interrupted");
  }
  return indim_fail(cx, INDIM_INTERNAL, "a service of the host was refused");
}

static inline indim_status finish(indim_ctx *cx, int32_t code, const run *r) {
  return code == INDIM_HOST_OK ? INDIM_OK : explain(cx, code, r->calls);
}

// With the executable's own working memory, or a block allocated for this run while that is in use.
static NOT_INLINED indim_status run_in_scratch(indim_executable *e, const indim_run_options *o, const run *r,
                                               const indim_host *host) {
  if (claim(&e->scratch_in_use)) {
    int32_t code = call(e, o, e->scratch, host);
    release(&e->scratch_in_use);
    return finish(o->cx, code, r);
  }
  void *block = NULL;
  void *scratch = NULL;
  INDIM_TRY(alloc_scratch(e, o->cx, &block, &scratch));
  int32_t code = call(e, o, scratch, host);
  free_scratch(e, o->cx, block);
  return finish(o->cx, code, r);
}

static inline indim_status run_once(indim_executable *e, const indim_run_options *o, const run *r,
                                    const indim_host *host) {
  if (o->scratch == NULL && e->scratch_bytes > 0) {
    return run_in_scratch(e, o, r, host);
  }
  return finish(o->cx, call(e, o, o->scratch, host), r);
}

static void begin_calls(const run *r, indim_call_state *state) {
#if defined(__GNUC__)
  state->run_id = __atomic_add_fetch(r->executable->calls.run_count, 1, __ATOMIC_RELAXED);
#else
  state->run_id = ++*r->executable->calls.run_count;
#endif
  state->stop = r->stop;
  state->status = INDIM_OK;
}

// With functions of the caller's, which say why they failed.
static NOT_INLINED indim_status run_with_calls(indim_executable *e, const indim_run_options *o, run *r,
                                               const indim_host *host) {
  indim_call_state state;
  begin_calls(r, &state);
  r->calls = &state;
  return run_once(e, o, r, host);
}

indim_status indim_execute(indim_executable *executable, const indim_run_options *options) {
  if (executable == NULL || options == NULL) {
    return indim_fail(options == NULL ? NULL : options->cx, INDIM_INVALID,
                      "indim_execute: a pointer that is needed is NULL");
  }
  if (!is_clearly_valid(executable, options)) {
    INDIM_TRY(check(executable, options));
  }
  run r;
  indim_host host;
  make_host(executable, options, &r, &host);
  if (executable->calls.calls != NULL) {
    return run_with_calls(executable, options, &r, &host);
  }
  return run_once(executable, options, &r, &host);
}

// Binding --------------------------------------------------------------------------------------------------------------

struct indim_binding {
  indim_compiled_fn *function;   // the executable's
  const void *const *arguments;  // passed to it: the list of the options, or one with copies
  const indim_executable *executable;
  indim_run_options options;  // checked, with lists of the binding's own
  run services;
  indim_call_state calls;
  indim_host host;
  void *scratch_block;  // of its own, NULL if it needs none
  const void **lists;   // the arguments', followed by the results'
};

static size_t lists_size(const indim_executable *e) {
  return (size_t)(e->argument_count + e->result_count) * sizeof(void *);
}

static indim_status bind(indim_binding *b, const indim_executable *e, const indim_run_options *options) {
  indim_run_options *o = &b->options;
  void *memory = NULL;
  INDIM_TRY(check(e, o));
  INDIM_TRY(indim_alloc(o->cx, lists_size(e), &memory));
  b->lists = memory;
  for (int64_t i = 0; i < e->argument_count; i++) {
    b->lists[i] = options->arguments[i];
  }
  void **results = (void **)(void *)(b->lists + e->argument_count);
  for (int64_t i = 0; i < e->result_count; i++) {
    results[i] = options->results[i];
  }
  o->arguments = b->lists;
  o->results = results;
  make_host(e, o, &b->services, &b->host);
  b->services.calls = e->calls.calls == NULL ? NULL : &b->calls;
  if (o->scratch == NULL && e->scratch_bytes > 0) {
    INDIM_TRY(indim_scratch_alloc(o->cx, e->scratch_bytes, &b->scratch_block, &o->scratch));
  }
  b->arguments = e->has_copies ? copy_arguments(e, o, o->scratch) : o->arguments;
  b->function = e->function;
  return INDIM_OK;
}

indim_status indim_binding_create(indim_ctx *cx, const indim_executable *executable, const indim_run_options *options,
                                  indim_binding **out_binding) {
  void *memory = NULL;
  if (cx == NULL || executable == NULL || options == NULL || out_binding == NULL) {
    return indim_fail(cx, INDIM_INVALID, "indim_binding_create: a pointer that is needed is NULL");
  }
  *out_binding = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, sizeof(indim_binding), &memory));
  indim_binding *b = memory;
  b->executable = executable;
  b->options = *options;
  b->options.cx = cx;
  indim_status status = bind(b, executable, options);
  if (status != INDIM_OK) {
    indim_binding_destroy(b);
    return status;
  }
  *out_binding = b;
  return INDIM_OK;
}

void indim_binding_destroy(indim_binding *binding) {
  if (binding == NULL) {
    return;
  }
  indim_ctx *cx = binding->options.cx;
  const indim_executable *e = binding->executable;
  if (binding->scratch_block != NULL) {
    indim_free(cx, binding->scratch_block, (size_t)e->scratch_bytes + INDIM_SCRATCH_ALIGNMENT);
  }
  indim_free(cx, binding->lists, lists_size(e));
  indim_free(cx, binding, sizeof *binding);
}

const indim_host *indim_binding_host(const indim_binding *binding) { return &binding->host; }

indim_status indim_binding_run(indim_binding *binding) {
  if (binding == NULL) {
    return INDIM_INVALID;
  }
  const indim_run_options *o = &binding->options;
  if (binding->arguments != o->arguments) {  // the list is in the working memory, and copies are made again
    copy_arguments(binding->executable, o, o->scratch);
  }
  if (binding->services.calls != NULL) {
    begin_calls(&binding->services, &binding->calls);
  }
  int32_t code = binding->function(binding->arguments, o->results, o->scratch, &binding->host);
  return finish(o->cx, code, &binding->services);
}
