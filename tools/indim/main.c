// The indim program: finds the command, gives it a context, returns its exit code.
#include <string.h>

#include "tool.h"

static int list_commands(FILE *out, const command *commands, size_t count) {
  fprintf(out, "indim runs and explains programs in XLA's array language (HLO).\n\n"
               "Usage: indim COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n");
  for (size_t i = 0; i < count; i++) {
    fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
  }
  fprintf(out, "\n`indim COMMAND --help` tells more, with an example. `indim --version` prints the version.\n\n"
               "Example:\n"
               "  $ indim broadcast 'f32[2,3]' 'f32[3]' --dims 1\n");
  return EXIT_OK;
}

int main(int argc, char **argv) {
  const command commands[] = {
#define COMMAND(name, summary) {#name, summary, help_##name, command_##name},
#include "commands.def"
#undef COMMAND
  };
  size_t count = sizeof commands / sizeof commands[0];
  const char *name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
    name = argc > 2 ? argv[2] : "";
    for (size_t i = 0; i < count; i++) {
      if (strcmp(name, commands[i].name) == 0) {
        fputs(commands[i].help, stdout);
        return finish_output(&commands[i]);
      }
    }
    list_commands(stdout, commands, count);
    return finish_output(&commands[0]);
  }
  if (strcmp(name, "--version") == 0) {
    printf("indim %s\n", INDIM_VERSION);
    return finish_output(&commands[0]);
  }
  for (size_t i = 0; i < count; i++) {
    if (strcmp(name, commands[i].name) != 0) {
      continue;
    }
    indim_ctx *cx = NULL;
    if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
      fputs("indim: out of memory\n", stderr);
      return EXIT_MEMORY;
    }
    int code = commands[i].run(cx, &commands[i], argc - 2, argv + 2);
    indim_ctx_destroy(cx);
    int output = finish_output(&commands[i]);
    return code != EXIT_OK ? code : output;
  }
  if (argc > 1) {
    fprintf(stderr, "indim: there is no command '%s'; `indim help` lists them\n", name);
  } else {
    list_commands(stderr, commands, count);
  }
  return EXIT_USAGE;
}
