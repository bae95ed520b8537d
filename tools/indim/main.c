// The indim program: finds the command, gives it a context, returns its exit code.
#include <string.h>

#include "tool.h"

static int list_commands(FILE *out, const command *commands, size_t count) {
  fprintf(out, "indim runs and explains programs in XLA's array language (HLO).\n\n"
               "Usage: indim COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n");
  for (size_t i = 0; i < count; i++) {
    fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
  }
  fprintf(out, "\n`indim COMMAND --help` tells more, with an example. `indim --version` prints the version.\n"
               "With --json a command prints one JSON value, and when it fails {\"ok\":false,\"errors\":[...]}.\n\n"
               "Example:\n"
               "  $ indim broadcast 'f32[2,3]' 'f32[3]' --dims 1\n");
  return EXIT_OK;
}

static const command *find(const command *commands, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(name, commands[i].name) == 0) {
      return &commands[i];
    }
  }
  return NULL;
}

static int no_command(const command *commands, size_t count, char *name) {
  indim_hide_controls(name, '?');
  spelling nearest = spelling_of(name, strlen(name));
  for (size_t i = 0; i < count; i++) {
    spelling_offer(&nearest, commands[i].name);
  }
  fprintf(stderr, "indim: there is no command '%s'%s `indim help` lists them\n", name,
          nearest.best == NULL ? ";" : did_you_mean(&nearest, ""));
  return EXIT_USAGE;
}

// Whether a command's answer is to be JSON: asked before the options are read, so that what is wrong with them is told
// so, too.
static bool wants_json(int argc, char **argv) {
  bool wants = false;
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
    wants = wants || strcmp(argv[i], "--json") == 0;
  }
  return wants;
}

static int run_command(const command *self, int argc, char **argv) {
  indim_ctx *cx = NULL;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    fputs("indim: out of memory\n", stderr);
    return EXIT_MEMORY;
  }
  if (wants_json(argc, argv)) {
    json_begin();
  }
  int code = self->run(cx, self, argc, argv);
  indim_ctx_destroy(cx);
  json_end(code);
  int output = finish_output(self);
  return code != EXIT_OK ? code : output;
}

int main(int argc, char **argv) {
  const command commands[] = {
#define COMMAND(name, summary) {#name, summary, help_##name, command_##name},
#include "commands.def"
#undef COMMAND
  };
  size_t count = sizeof commands / sizeof commands[0];
  char none[] = "";
  char *name = argc > 1 ? argv[1] : none;
  if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
    if (argc == 2) {
      list_commands(stdout, commands, count);
      return finish_output(NULL);
    }
    const command *found = find(commands, count, argv[2]);
    if (found == NULL) {
      return no_command(commands, count, argv[2]);
    }
    fputs(found->help, stdout);
    return finish_output(found);
  }
  if (strcmp(name, "--version") == 0) {
    printf("indim %s\n", INDIM_VERSION);
    return finish_output(NULL);
  }
  if (argc == 1) {
    list_commands(stderr, commands, count);
    return EXIT_USAGE;
  }
  const command *self = find(commands, count, name);
  return self == NULL ? no_command(commands, count, name) : run_command(self, argc - 2, argv + 2);
}
