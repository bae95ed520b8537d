// Whatever ends LLVM's work, a signal or a fatal error, comes back to the caller, and the process's own handlers work as if
// nothing had been: before, meanwhile on other threads, and afterwards.
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit/guard.h"
#include "test.h"

static const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
enum { CAUGHT = sizeof caught / sizeof caught[0], OWN_HANDLER = 42 };

// Ways to crash --------------------------------------------------------------------------------------------------------

static volatile uintptr_t nowhere = 64;

// Nothing is written there, so there is no race.
#if defined(__GNUC__)
#define UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define UNWATCHED
#endif

static UNWATCHED void segfault(void *user) {
  (void)user;
  *(volatile int32_t *)nowhere = 1;
}

static void give_up(void *user) {
  (void)user;
  abort();
}

static void illegal(void *user) {
  (void)user;
  (void)raise(SIGILL);
}

static void trap(void *user) {
  (void)user;
  (void)raise(SIGTRAP);
}

static void bad_arithmetic(void *user) {
  (void)user;
  (void)raise(SIGFPE);
}

static int32_t recurse(volatile int32_t *depth) {
  volatile char room[4096];
  room[0] = (char)*depth;
  *depth += 1;
  return *depth > 0 ? recurse(depth) + room[0] : 0;
}

static void overflow(void *user) {
  volatile int32_t depth = 1;
  *(int32_t *)user = recurse(&depth);
}

static void nothing(void *user) { *(int32_t *)user += 1; }

static void expect_crash(void (*crash)(void *), const char *said) {
  indim_guard guard;
  int32_t count = 0;
  CHECK(!indim_guard_run(&guard, false, crash, &count));
  CHECK_MSG(strstr(guard.message, said) != NULL, "the message is \"%s\", expected \"%s\" in it", guard.message, said);
  count = 0;
  CHECK(indim_guard_run(&guard, false, nothing, &count));  // and goes on
  CHECK_EQ_INT(count, 1);
  CHECK_EQ_STR(guard.message, "");
}

TEST(access_outside) { expect_crash(segfault, "SIGSEGV"); }
TEST(aborting) { expect_crash(give_up, "aborted"); }
TEST(illegal_instruction) { expect_crash(illegal, "SIGILL"); }
TEST(trapping) { expect_crash(trap, "SIGTRAP"); }
TEST(division) { expect_crash(bad_arithmetic, "SIGFPE"); }

TEST(stack_overflow) {
  expect_crash(overflow, "SIGSEGV");
  expect_crash(overflow, "SIGSEGV");
}

static void *overflow_on_thread(void *user) {
  (void)user;
  indim_guard guard;
  int32_t count = 0;
  return (void *)(intptr_t)indim_guard_run(&guard, false, overflow, &count);
}

TEST(stack_overflow_on_a_thread) {
  pthread_t thread;
  void *is_well = &thread;
  REQUIRE(pthread_create(&thread, NULL, overflow_on_thread, NULL) == 0);
  CHECK_EQ_INT(pthread_join(thread, &is_well), 0);
  CHECK(is_well == NULL);
}

// Handlers -------------------------------------------------------------------------------------------------------------

static void own_handler(int number) {
  (void)number;
  _exit(OWN_HANDLER);
}

static void set_own_handlers(void) {
  struct sigaction own;
  memset(&own, 0, sizeof own);
  own.sa_handler = own_handler;
  for (int i = 0; i < CAUGHT; i++) {
    sigaction(caught[i], &own, NULL);
  }
}

static bool has_own_handlers(void) {
  bool is_own = true;
  for (int i = 0; i < CAUGHT; i++) {
    struct sigaction now;
    is_own = is_own && sigaction(caught[i], NULL, &now) == 0 && now.sa_handler == own_handler;
  }
  return is_own;
}

// How a process of its own ends in which |body| runs: its exit code, or minus the signal.
static int outcome_of(void (*body)(void)) {
  int status = 0;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) {
    return -1000;
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void see_own_handlers(void *user) { *(bool *)user = has_own_handlers(); }

static void check_handlers(void) {
  indim_guard guard;
  int32_t count = 0;
  bool is_own = true;
  set_own_handlers();
  bool is_well = indim_guard_run(&guard, false, see_own_handlers, &is_own) && !is_own;
  is_well = is_well && has_own_handlers();
  is_well = is_well && indim_guard_run(&guard, true, see_own_handlers, &is_own) && is_own;  // left alone
  is_well = is_well && !indim_guard_run(&guard, false, segfault, &count) && has_own_handlers();
  _exit(is_well ? 0 : 1);
}

TEST(handlers_are_put_back) { CHECK_EQ_INT(outcome_of(check_handlers), 0); }

static void change_handlers(void *user) {
  (void)user;
  set_own_handlers();
}

static void check_changed(void) {
  indim_guard guard;
  _exit(indim_guard_run(&guard, false, change_handlers, NULL) && has_own_handlers() ? 0 : 1);
}

TEST(handlers_that_came_meanwhile_stay) { CHECK_EQ_INT(outcome_of(check_changed), 0); }

static void crash_alone(void) {
  set_own_handlers();
  int32_t count = 0;
  indim_guard guard;
  (void)indim_guard_run(&guard, true, segfault, &count);
}

TEST(a_host_that_keeps_its_handlers) { CHECK_EQ_INT(outcome_of(crash_alone), OWN_HANDLER); }

// A thread that guards nothing crashes while another is guarded.
typedef struct meeting {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_guarded;
} meeting;

static void wait_for_ever(void *user) {
  meeting *m = user;
  pthread_mutex_lock(&m->lock);
  m->is_guarded = true;
  pthread_cond_signal(&m->changed);
  pthread_mutex_unlock(&m->lock);
  for (;;) {
    pause();
  }
}

static void *guard_for_ever(void *user) {
  indim_guard guard;
  (void)indim_guard_run(&guard, false, wait_for_ever, user);
  return NULL;
}

static void crash_beside_guarded(int number) {
  meeting m = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  pthread_t thread;
  if (pthread_create(&thread, NULL, guard_for_ever, &m) != 0) {
    _exit(1);
  }
  pthread_mutex_lock(&m.lock);
  while (!m.is_guarded) {
    pthread_cond_wait(&m.changed, &m.lock);
  }
  pthread_mutex_unlock(&m.lock);
  if (number == 0) {
    segfault(NULL);
  }
  (void)raise(number);
}

static void unset_handlers(void) {
  for (int i = 0; i < CAUGHT; i++) {
    signal(caught[i], SIG_DFL);
  }
}

static void crash_beside_with_handler(void) {
  set_own_handlers();
  crash_beside_guarded(0);
}

static void crash_beside_without(void) {
  unset_handlers();
  crash_beside_guarded(0);
}

static void trap_beside_without(void) {
  unset_handlers();
  crash_beside_guarded(SIGTRAP);
}

TEST(crashes_of_others_go_on) {
  CHECK_EQ_INT(outcome_of(crash_beside_with_handler), OWN_HANDLER);
  CHECK_EQ_INT(outcome_of(crash_beside_without), -SIGSEGV);
  CHECK_EQ_INT(outcome_of(trap_beside_without), -SIGTRAP);
}

// Many at once ---------------------------------------------------------------------------------------------------------

static void *crash_often(void *user) {
  static void (*const works[])(void *) = {nothing, segfault, give_up, illegal};
  intptr_t wrong = 0;
  for (int32_t i = 0; i < 200; i++) {
    indim_guard guard;
    int32_t count = 0;
    int32_t which = (i + *(int32_t *)user) % 4;
    wrong += indim_guard_run(&guard, false, works[which], &count) != (which == 0);
  }
  return (void *)wrong;
}

TEST(threads) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  int32_t numbers[THREADS];
  for (int32_t i = 0; i < THREADS; i++) {
    numbers[i] = i;
    REQUIRE(pthread_create(&threads[i], NULL, crash_often, &numbers[i]) == 0);
  }
  for (int32_t i = 0; i < THREADS; i++) {
    void *wrong = NULL;
    CHECK_EQ_INT(pthread_join(threads[i], &wrong), 0);
    CHECK(wrong == NULL);
  }
}

#define CASES(X)                       \
  X(access_outside)                    \
  X(aborting)                          \
  X(illegal_instruction)               \
  X(trapping)                          \
  X(division)                          \
  X(stack_overflow)                    \
  X(stack_overflow_on_a_thread)        \
  X(handlers_are_put_back)             \
  X(handlers_that_came_meanwhile_stay) \
  X(a_host_that_keeps_its_handlers)    \
  X(crashes_of_others_go_on)           \
  X(threads)
TEST_MAIN(CASES)
