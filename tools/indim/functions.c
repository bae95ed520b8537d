// Functions for custom calls from shared libraries: --custom-call=NAME=LIBRARY:SYMBOL and --ffi-handler=. Libraries stay loaded.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "indim/custom_call.h"
#include "tool.h"

// "twice=./functions.so:twice_f32" in three; false for anything else. |text| is changed.
static bool split(char *text, char **out_library, char **out_symbol) {
  char *equals = strchr(text, '=');
  char *colon = strrchr(text, ':');
  if (equals == NULL || colon == NULL || equals == text || colon <= equals + 1 || colon[1] == '\0') {
    return false;
  }
  *equals = '\0';
  *colon = '\0';
  *out_library = equals + 1;
  *out_symbol = colon + 1;
  return true;
}

// C has no conversion from an object's address to a function's; POSIX has.
typedef union symbol {
  void *address;
  indim_custom_call_fn *function;
  indim_ffi_handler *handler;
} symbol;

static int find(const command *self, const char *library, const char *name, symbol *out) {
  void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded == NULL) {
    return refuse(self, INDIM_IO, "%s", dlerror());
  }
  out->address = dlsym(loaded, name);
  return out->address != NULL ? EXIT_OK : refuse(self, INDIM_IO, "%s has no symbol %s", library, name);
}

int load_function(indim_ctx *cx, const command *self, const char *option, const char *value, bool is_handler) {
  size_t size = strlen(value) + 1;
  char *text = must_alloc(size);
  char *library = NULL;
  char *name = NULL;
  symbol found = {NULL};
  memcpy(text, value, size);
  int code = split(text, &library, &name)
                 ? find(self, library, name, &found)
                 : usage_error(self, "--%s: '%s' is not like NAME=LIBRARY:SYMBOL", option, value);
  if (code == EXIT_OK) {
    indim_status status = is_handler ? indim_register_ffi_handler(cx, text, found.handler)
                                     : indim_register_custom_call(cx, text, found.function, NULL);
    code = status == INDIM_OK ? EXIT_OK : report(cx, status);
  }
  free(text);
  return code;
}
