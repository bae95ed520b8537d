// What happens when LLVM fails: a fatal error of its own, an abort, or a crash inside it ends the work that was asked for and
// not the process. The library's users are other people's processes, so what this does to them is little and said here:
//
// - While work is guarded on any thread, the process has our handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and
//   SIGABRT. A signal of a thread that guards nothing, or that another process sent, goes on to the handlers that were
//   there. They are put back when the last guarded work ends. A thread without a signal stack is given one for that time,
//   so that an overflow of its own stack can be caught.
// - What LLVM held at that moment is lost: its memory is not freed, and its objects are never touched again.
// - It costs about 10 us for each compilation.
//
// A host that cannot have its handlers touched says so (indim_compile_options.leaves_signals): fatal errors are caught then,
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
  char message[INDIM_GUARD_MESSAGE];  // what LLVM said, or what happened to it
  indim_guard_point point;
  bool is_armed;  // a failure may come back to |point|
} indim_guard;

// Calls work(user). False when LLVM failed in it; the message then says how. Work that is guarded guards nothing inside.
bool indim_guard_run(indim_guard *guard, bool leaves_signals, void (*work)(void *user), void *user);
// Keeps the first error that LLVM reported without giving up, for the work that is guarded on this thread.
void indim_guard_note(const char *text);

#endif  // INDIM_EMIT_GUARD_H
