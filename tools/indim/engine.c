// Long work that can be stopped and says on a terminal how long it has been going on; and compiling, which is such
// work.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

// Set by the handlers, so all of it is what a handler may touch.
static volatile int32_t stop;
static volatile sig_atomic_t seconds;
static volatile sig_atomic_t is_shown;
static const char *volatile doing;

static void on_interrupt(int signal_number) {
  (void)signal_number;
  stop = 1;
}

static size_t put(char *line, size_t size, size_t capacity, const char *text) {
  while (*text != '\0' && size < capacity) {
    line[size++] = *text++;
  }
  return size;
}

// Only what may be called in a handler: "\rcompiling, 12 s (Ctrl-C stops)".
static void on_second(int signal_number) {
  enum { QUIET_SECONDS = 2, WIDTH = 100 };
  char line[WIDTH];
  char digits[12] = {0};
  int at = (int)sizeof digits - 1;
  (void)signal_number;
  seconds = seconds + 1;
  if (seconds < QUIET_SECONDS) {
    return;
  }
  for (int n = (int)seconds; n > 0 && at > 0; n /= 10) {
    digits[--at] = (char)('0' + n % 10);
  }
  size_t size = put(line, 0, sizeof line, "\r");
  size = put(line, size, sizeof line, doing);
  size = put(line, size, sizeof line, ", ");
  size = put(line, size, sizeof line, digits + at);
  size = put(line, size, sizeof line, " s (Ctrl-C stops)   ");
  is_shown = 1;
  if (write(STDERR_FILENO, line, size) < 0) {
    return;  // nobody to tell
  }
}

static bool poll(void *user) {
  (void)user;
  return stop != 0;
}

static void set_timer(long period) {
  struct itimerval timer = {.it_interval = {.tv_sec = period}, .it_value = {.tv_sec = period}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

void work_begin(indim_ctx *cx, const char *what) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigemptyset(&action.sa_mask);
  action.sa_handler = on_interrupt;
  action.sa_flags = (int)SA_RESETHAND;  // the second Ctrl-C is the system's
  sigaction(SIGINT, &action, NULL);
  work_now(what);
  seconds = 0;
  is_shown = 0;
  if (isatty(STDERR_FILENO) != 0) {
    action.sa_handler = on_second;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    set_timer(1);
  }
  indim_ctx_set_interrupt(cx, poll, NULL);
}

void work_now(const char *what) { doing = what; }

void work_end(indim_ctx *cx) {
  set_timer(0);
  indim_ctx_set_interrupt(cx, NULL, NULL);
  if (is_shown) {
    fputs("\r                                                  \r", stderr);
  }
}

const volatile int32_t *work_stop_flag(void) { return &stop; }

// Compiling ---------------------------------------------------------------------------------------------------------

void tell_detours(indim_ctx *cx, const command *self) {
  const indim_diagnostic *d = NULL;
  for (size_t i = 0; (d = indim_ctx_diagnostic_get(cx, i)) != NULL; i++) {
    fprintf(stderr, "indim %s: note: ", self->name);
    if (d->line > 0) {
      fprintf(stderr, "%s:%d:%d: ", d->source, (int)d->line, (int)d->column);
    }
    fprintf(stderr, "%s; %s\n", d->message, d->hint);
  }
  indim_ctx_diagnostics_clear(cx);
}

static void show_stage(void *user, indim_compile_stage stage) {
  (void)user;
  work_now(stage == INDIM_COMPILE_LOWER ? "fusing and planning" : "generating code");
}

// Threads for the time of one parallel loop, of which the compiler has one for large programs and none for others.
static void run_in_own_pool(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame,
                            int64_t count, int64_t grain) {
  indim_pool *pool = NULL;
  indim_ctx *cx = NULL;
  (void)user;
  bool has_pool =
      indim_ctx_create(NULL, &cx) == INDIM_OK && indim_pool_create(cx, indim_pool_default_threads(), &pool) == INDIM_OK;
  if (has_pool) {
    indim_pool_run(pool, piece, frame, count, grain);
  } else {
    piece(frame, 0, count);
  }
  indim_pool_destroy(pool);
  indim_ctx_destroy(cx);
}

indim_status compile_module(indim_ctx *cx, const indim_module *module, indim_compile_options *options,
                            indim_executable **out_executable) {
  options->progress = show_stage;
  options->parallel = indim_pool_default_threads() > 1 ? run_in_own_pool : NULL;
  work_begin(cx, "compiling");
  indim_status status = indim_compile(cx, module, options, out_executable);
  work_end(cx);
  return status;
}

// Times -------------------------------------------------------------------------------------------------------------

int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

time_text time_text_of(int64_t nanoseconds) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  time_text out;
  double value = (double)nanoseconds;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
    value /= 1000;
    unit++;
  }
  snprintf(out.text, sizeof out.text, "%.3g %s", value, units[unit]);
  return out;
}
