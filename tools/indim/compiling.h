// How a program is compiled: the options that the commands share which compile.
#ifndef INDIM_TOOL_COMPILING_H
#define INDIM_TOOL_COMPILING_H

#include "tool.h"

// Codes of these options, apart from those of the commands' own.
enum {
  COMPILING_FAST = 100,
  COMPILING_TARGET,
  COMPILING_WITHOUT,
  COMPILING_CHOICES,
  COMPILING_CUSTOM_CALL,
  COMPILING_HANDLER,
  COMPILING_MEMORY,
  COMPILING_CRASH
};

// Their part of a command's table of options.
#define COMPILING_OPTIONS                                                                                            \
  {"fast", 0, COMPILING_FAST, true}, {"target", 0, COMPILING_TARGET, true}, {"without", 0, COMPILING_WITHOUT, true}, \
      {"choices", 0, COMPILING_CHOICES, true}, {"custom-call", 0, COMPILING_CUSTOM_CALL, true},                      \
      {"ffi-handler", 0, COMPILING_HANDLER, true}, {"max-memory", 0, COMPILING_MEMORY, true}, {                      \
    "crash-from", 0, COMPILING_CRASH, true                                                                           \
  }

// Whether an option asks what it may be (--target=help, --without=help), which is printed then.
bool compiling_help(int option, const char *value);
// Takes an option of these: into |out|, whose strings are the value's or stay as long as the process, and into |cx| what functions there are and how much
// memory. Reports a wrong value and returns EXIT_USAGE.
int compiling_option(indim_ctx *cx, const command *self, int option, const char *value, indim_compile_options *out);

#endif  // INDIM_TOOL_COMPILING_H
