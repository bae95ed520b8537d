// A failure of LLVM (a fatal error of its own, an abort, or a crash inside it) ends the guarded work and not the
// process. The process belongs to the library's user, so its side effects are few and listed here:
//
// - While work is guarded on any thread, the process has our handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and
//   SIGABRT. A signal of a thread that guards nothing, or that another process sent, is forwarded to the previous
//   handlers. They are restored when the last guarded work ends. A thread without a signal stack gets one for that
//   time, so that an overflow of its own stack can be caught.
// - LLVM's objects at that moment leak: their memory is not freed, and they are never touched again.
// - The cost is about 10 us per compilation.
//
// A host whose handlers must not be touched sets indim_compile_options.leaves_signals: then fatal errors are caught,
// crashes are not.
#ifndef INDIM_EMIT_GUARD_H
#define INDIM_EMIT_GUARD_H

#include <setjmp.h>
#include <stdbool.h>

enum { INDIM_GUARD_MESSAGE = 512 };

#if defined(__unix__) || defined(__APPLE__)
#define INDIM_GUARDS_SIGNALS 1
typedef sigjmp_buf indim_guard_point;
#else
#define INDIM_GUARDS_SIGNALS 0
typedef jmp_buf indim_guard_point;
#endif

typedef struct indim_guard {
  char message[INDIM_GUARD_MESSAGE];  // LLVM's message, or the signal
  indim_guard_point point;
  bool is_armed;  // a failure may jump to |point|
} indim_guard;

// Calls work(user). False when LLVM failed in it; the message then says how. Of nested guards the inner one counts.
bool indim_guard_run(indim_guard *guard, bool leaves_signals, void (*work)(void *user), void *user);
// Keeps the first nonfatal error that LLVM reports, for the work that is guarded on this thread.
void indim_guard_note(const char *text);

#endif  // INDIM_EMIT_GUARD_H
