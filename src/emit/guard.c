// Failures of LLVM return to the caller of the guarded work (guard.h). LLVM's fatal error handler is one per process,
// as signal handlers are; which work a failure belongs to is thread-local.
#define _DEFAULT_SOURCE  // signal stacks
#define _DARWIN_C_SOURCE
#include "emit/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/ErrorHandling.h>

#if INDIM_GUARDS_SIGNALS
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#endif

// A handler may read it on a thread that never used it: it must not be allocated lazily there.
#if defined(__GLIBC__) && defined(__GNUC__)
static _Thread_local indim_guard *running __attribute__((tls_model("initial-exec")));
#else
static _Thread_local indim_guard *running;
#endif

static void keep(indim_guard *guard, const char *text) {
  size_t length = strlen(text);
  length = length < sizeof guard->message - 1 ? length : sizeof guard->message - 1;
  memcpy(guard->message, text, length);
  guard->message[length] = '\0';
}

void indim_guard_note(const char *text) {
  if (running != NULL && running->message[0] == '\0') {
    keep(running, text);
  }
}

// Does not return if work is guarded on this thread.
static void leave(const char *text) {
  indim_guard *guard = running;
  if (guard != NULL && guard->is_armed) {
    guard->is_armed = false;
    keep(guard, text);
#if INDIM_GUARDS_SIGNALS
    siglongjmp(guard->point, 1);
#else
    longjmp(guard->point, 1);
#endif
  }
}

// LLVM exits when this returns.
static void on_fatal_error(const char *reason) { leave(reason); }

// Once, when the library is loaded.
__attribute__((constructor)) static void install(void) { LLVMInstallFatalErrorHandler(on_fatal_error); }

#if INDIM_GUARDS_SIGNALS

// Signals --------------------------------------------------------------------------------------------------------------

static const struct {
  int number;
  const char *text;
} signals[] = {{SIGSEGV, "it crashed (SIGSEGV, an access outside of its memory)"},
               {SIGBUS, "it crashed (SIGBUS)"},
               {SIGILL, "it crashed (SIGILL)"},
               {SIGFPE, "it crashed (SIGFPE)"},
               {SIGTRAP, "it crashed (SIGTRAP)"},
               {SIGABRT, "it aborted"}};

enum { SIGNALS = sizeof signals / sizeof signals[0], STACK_BYTES = 64 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;  // threads with guarded work
static struct sigaction previous[SIGNALS];

// What would have happened without this handler.
static void forward(int index, int number, siginfo_t *info, void *context) {
  const struct sigaction *before = &previous[index];
  if ((before->sa_flags & SA_SIGINFO) != 0) {
    before->sa_sigaction(number, info, context);
  } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
    before->sa_handler(number);
  } else {
    bool is_sent = info->si_code <= 0;
    if (is_sent && before->sa_handler == SIG_IGN) {
      return;
    }
    struct sigaction usual;
    memset(&usual, 0, sizeof usual);
    usual.sa_handler = SIG_DFL;
    sigaction(number, &usual, NULL);
    if (is_sent) {
      raise(number);  // the fault recurs by itself
    }
  }
}

static void on_signal(int number, siginfo_t *info, void *context) {
  int index = 0;
  while (index < SIGNALS - 1 && signals[index].number != number) {
    index++;
  }
  bool is_ours = info->si_code > 0 || info->si_pid == getpid();
  if (is_ours) {
    leave(signals[index].text);
  }
  forward(index, number, info, context);
}

static void install_handlers(void) {
  pthread_mutex_lock(&lock);
  if (users++ == 0) {
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    for (int i = 0; i < SIGNALS; i++) {
      sigaction(signals[i].number, &ours, &previous[i]);
    }
  }
  pthread_mutex_unlock(&lock);
}

// Keeps handlers that somebody else has installed over ours.
static void restore_handlers(void) {
  pthread_mutex_lock(&lock);
  if (--users == 0) {
    for (int i = 0; i < SIGNALS; i++) {
      struct sigaction now;
      bool is_ours = sigaction(signals[i].number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
                     now.sa_sigaction == on_signal;
      if (is_ours) {
        sigaction(signals[i].number, &previous[i], NULL);
      }
    }
  }
  pthread_mutex_unlock(&lock);
}

// A signal stack, if this thread has none. NULL: it has one, or there is no memory.
static void *add_signal_stack(void) {
  stack_t now;
  if (sigaltstack(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) {
    return NULL;
  }
  void *memory = malloc(STACK_BYTES);
  if (memory != NULL) {
    stack_t ours;
    memset(&ours, 0, sizeof ours);
    ours.ss_sp = memory;
    ours.ss_size = STACK_BYTES;
    if (sigaltstack(&ours, NULL) != 0) {
      free(memory);
      memory = NULL;
    }
  }
  return memory;
}

static void remove_signal_stack(void *memory) {
  if (memory != NULL) {
    stack_t none;
    memset(&none, 0, sizeof none);
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, NULL);
    free(memory);
  }
}

#endif

// The work -------------------------------------------------------------------------------------------------------------

static bool run(indim_guard *guard, void (*work)(void *user), void *user) {
  indim_guard *outer = running;
  running = guard;
#if INDIM_GUARDS_SIGNALS
  bool has_failed = sigsetjmp(guard->point, 1) != 0;
#else
  bool has_failed = setjmp(guard->point) != 0;
#endif
  if (!has_failed) {
    guard->is_armed = true;
    work(user);
    guard->is_armed = false;
  }
  running = outer;
  return !has_failed;
}

bool indim_guard_run(indim_guard *guard, bool leaves_signals, void (*work)(void *user), void *user) {
  guard->message[0] = '\0';
#if INDIM_GUARDS_SIGNALS
  if (!leaves_signals) {
    void *stack = add_signal_stack();
    install_handlers();
    bool is_done = run(guard, work, user);
    restore_handlers();
    remove_signal_stack(stack);
    return is_done;
  }
#endif
  (void)leaves_signals;
  return run(guard, work, user);
}
