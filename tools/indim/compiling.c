// How a program is compiled: the options that the commands share which compile.
#include "compiling.h"

#include <stdlib.h>
#include <string.h>

// "contract,reassociate" to INDIM_COMPILE_ flags.
static int parse_fast(const command *self, const char *list, unsigned *out_fast) {
  static const struct {
    const char *name;
    unsigned flag;
  } names[] = {{"contract", INDIM_COMPILE_CONTRACT},
               {"reassociate", INDIM_COMPILE_REASSOCIATE},
               {"reciprocal", INDIM_COMPILE_RECIPROCAL},
               {"flush", INDIM_COMPILE_FLUSH}};
  for (indim_str name; next_name(&list, &name);) {
    unsigned flag = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      flag |= indim_str_equal(indim_str_of(names[i].name), name) ? names[i].flag : 0;
    }
    if (flag == 0) {
      return usage_error(self, "--fast knows contract, reassociate, reciprocal and flush, not '%.*s'", (int)name.size,
                         name.data);
    }
    *out_fast |= flag;
  }
  return EXIT_OK;
}

static int check_target(const command *self, const char *name) {
  spelling meant = spelling_of(name, strlen(name));
  for (const indim_compile_target *t = indim_compile_targets(); t->name != NULL; t++) {
    if (strcmp(t->name, name) == 0) {
      return EXIT_OK;
    }
    spelling_offer(&meant, t->name);
  }
  return usage_error(self, "there is no target '%s'%s (--target=help lists them)", name, did_you_mean(&meant, ""));
}

static int check_decisions(const command *self, const char *list) {
  for (indim_str name; next_name(&list, &name);) {
    const indim_compile_decision *known = indim_compile_decisions();
    while (known->name != NULL && !indim_str_equal(indim_str_of(known->name), name)) {
      known++;
    }
    if (known->name == NULL) {
      return usage_error(self, "--without knows no '%.*s'; --without=help lists what it knows", (int)name.size,
                         name.data);
    }
  }
  return EXIT_OK;
}

static void list_targets(void) {
  for (const indim_compile_target *t = indim_compile_targets(); t->name != NULL; t++) {
    printf("%-12s%s\n", t->name, t->meaning);
  }
}

static void list_decisions(void) {
  for (const indim_compile_decision *d = indim_compile_decisions(); d->name != NULL; d++) {
    printf("%-17s%s\n", d->name, d->meaning);
  }
}

bool compiling_help(int option, const char *value) {
  if ((option != COMPILING_TARGET && option != COMPILING_WITHOUT) || strcmp(value, "help") != 0) {
    return false;
  }
  if (option == COMPILING_TARGET) {
    list_targets();
  } else {
    list_decisions();
  }
  return true;
}

// The file's bytes stay as long as the process.
static int read_choices(const command *self, const char *path, const char **out_text) {
  static char *text = NULL;
  char *bytes = NULL;
  size_t size = 0;
  int code = read_file(self, path, &bytes, &size);
  if (code != EXIT_OK) {
    return code;
  }
  if (memchr(bytes, '\0', size) != NULL) {
    free(bytes);
    return refuse(self, INDIM_INVALID, "%s is no text", path);
  }
  free(text);
  text = must_alloc(size + 1);
  memcpy(text, bytes, size);
  text[size] = '\0';
  free(bytes);
  *out_text = text;
  return EXIT_OK;
}

static int set_number(indim_ctx *cx, const command *self, int option, const char *value, indim_compile_options *out) {
  uint64_t count = 0;
  int code = parse_count(self, option == COMPILING_CRASH ? "crash-from" : "max-memory", value, &count);
  if (code == EXIT_OK && option == COMPILING_CRASH) {
    out->crash_from = count < INT32_MAX ? (int32_t)count : INT32_MAX;
  } else if (code == EXIT_OK) {
    indim_ctx_set_memory_limit(cx, count);
  }
  return code;
}

int compiling_option(indim_ctx *cx, const command *self, int option, const char *value, indim_compile_options *out) {
  switch (option) {
  case COMPILING_FAST:
    return parse_fast(self, value, &out->fast);
  case COMPILING_TARGET:
    out->target = value;
    return check_target(self, value);
  case COMPILING_WITHOUT:
    out->without = value;
    return check_decisions(self, value);
  case COMPILING_CHOICES:
    return read_choices(self, value, &out->choices);
  case COMPILING_CUSTOM_CALL:
    return load_function(cx, self, "custom-call", value, false);
  case COMPILING_HANDLER:
    return load_function(cx, self, "ffi-handler", value, true);
  default:
    return set_number(cx, self, option, value, out);
  }
}
