// Loading shared libraries with dlopen. Ours are found by the path of the file that this very code was loaded from, so
// that an installed tree can be moved. Without dlopen every library is "not there".
#if defined(__unix__) || defined(__APPLE__)
#define HAS_DLOPEN 1
#define _GNU_SOURCE  // dladdr
#else
#define HAS_DLOPEN 0
#endif

#include "run/library.h"

#include <string.h>

#if HAS_DLOPEN
#include <dlfcn.h>
#include <unistd.h>
#endif

#ifndef INDIM_LIBRARY_FOLDER
#define INDIM_LIBRARY_FOLDER "lib"  // where libraries are installed, under the prefix
#endif

#if HAS_DLOPEN

enum { PATH_SIZE = 4096 };

static void *open_library(const char *name, int flags, const char **out_why) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | flags);
  if (library == NULL && out_why != NULL) {
    *out_why = dlerror();
  }
  return library;
}

void *indim_library_open(const char *name, const char **out_why) { return open_library(name, 0, out_why); }

// The folder of the file that this code is in, with a slash at its end; "" when that is not known.
static void own_folder(char *out) {
  Dl_info info;
  indim_symbol *self = (indim_symbol *)indim_library_open;
  const void *address = NULL;
  memcpy(&address, &self, sizeof address);
  out[0] = '\0';
  if (dladdr(address, &info) != 0 && info.dli_fname != NULL && strlen(info.dli_fname) < PATH_SIZE) {
    strcpy(out, info.dli_fname);
  }
#if defined(__linux__)
  // An executable is known by the name it was called with, which need not be a path.
  if (out[0] != '/') {
    ssize_t size = readlink("/proc/self/exe", out, PATH_SIZE - 1);
    out[size > 0 ? size : 0] = '\0';
  }
#endif
  char *slash = strrchr(out, '/');
  out[slash == NULL ? 0 : slash + 1 - out] = '\0';
}

void *indim_library_open_ours(const char *name, const char **out_why) {
  static const char *const folders[] = {"", "../lib/", "../" INDIM_LIBRARY_FOLDER "/", "../"};
  char folder[PATH_SIZE];
  char path[PATH_SIZE + 256];
  own_folder(folder);
  for (size_t i = 0; folder[0] != '\0' && i < sizeof folders / sizeof folders[0]; i++) {
    if (strlen(folder) + strlen(folders[i]) + strlen(name) + 1 > sizeof path) {
      continue;
    }
    strcpy(path, folder);
    strcat(path, folders[i]);
    strcat(path, name);
    // A file that is there and does not load is the reason to tell, not that it is missing elsewhere.
    if (access(path, F_OK) == 0) {
      return open_library(path, RTLD_NODELETE, out_why);
    }
  }
  return open_library(name, RTLD_NODELETE, out_why);
}

void indim_library_close(void *library) {
  if (library != NULL) {
    dlclose(library);
  }
}

// dlsym gives functions as object pointers, which C does not convert; POSIX says that the bytes are the same.
indim_symbol *indim_library_function(void *library, const char *name) {
  void *address = dlsym(library, name);
  indim_symbol *function = NULL;
  memcpy(&function, &address, sizeof function);
  return function;
}

const void *indim_library_object(void *library, const char *name) { return dlsym(library, name); }

#else

void *indim_library_open(const char *name, const char **out_why) {
  (void)name;
  if (out_why != NULL) {
    *out_why = "this build loads no libraries";
  }
  return NULL;
}

void *indim_library_open_ours(const char *name, const char **out_why) { return indim_library_open(name, out_why); }

void indim_library_close(void *library) { (void)library; }

indim_symbol *indim_library_function(void *library, const char *name) {
  (void)library;
  (void)name;
  return NULL;
}

const void *indim_library_object(void *library, const char *name) {
  (void)library;
  (void)name;
  return NULL;
}

#endif
