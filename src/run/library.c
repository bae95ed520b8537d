// Loading shared libraries with dlopen. Ours are found relative to the file that this code was loaded from, so that an
// installed tree can be moved. Without dlopen every library is missing.
#if defined(__unix__) || defined(__APPLE__)
#define HAS_DLOPEN 1
#define _GNU_SOURCE  // dladdr, dlinfo
#else
#define HAS_DLOPEN 0
#endif

#include "run/library.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
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
#if defined(PATH_MAX) && PATH_MAX > 4096
#error "realpath writes up to PATH_MAX bytes"
#endif

void *indim_library_open(const char *name, const char **out_why) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL && out_why != NULL) {
    *out_why = dlerror();
  }
  return library;
}

bool indim_library_is_loaded(const char *name) {
  void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (library != NULL) {
    dlclose(library);
  }
  return library != NULL;
}

static void truncate_to_folder(char *path) {
  char *slash = strrchr(path, '/');
  path[slash == NULL ? 0 : slash + 1 - path] = '\0';
}

// The path of the file that contains this code, as it was passed to the loader; "" when unknown. A path relative to the
// working directory of that time is useless by now, but the loader keeps the directory itself.
static void own_path(char *out) {
  Dl_info info;
  indim_symbol *self = (indim_symbol *)indim_library_open;
  const void *address = NULL;
  memcpy(&address, &self, sizeof address);
  out[0] = '\0';
  if (dladdr(address, &info) == 0 || info.dli_fname == NULL || strlen(info.dli_fname) >= PATH_SIZE) {
    return;
  }
  strcpy(out, info.dli_fname);
#if defined(__GLIBC__)
  const char *slash = strrchr(info.dli_fname, '/');
  const char *name = slash == NULL ? info.dli_fname : slash + 1;
  void *loaded = out[0] == '/' ? NULL : dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  char folder[PATH_SIZE];
  if (loaded != NULL && dlinfo(loaded, RTLD_DI_ORIGIN, folder) == 0 && strlen(folder) + strlen(name) + 1 < PATH_SIZE) {
    strcpy(out, folder);
    strcat(out, "/");
    strcat(out, name);
  }
  if (loaded != NULL) {
    dlclose(loaded);
  }
#endif
}

// The executable's folder. If this code is linked into it, dladdr returns argv[0], which may be no path, or one
// relative to a former working directory.
static void executable_folder(char *out) {
  out[0] = '\0';
#if defined(__linux__)
  ssize_t size = readlink("/proc/self/exe", out, PATH_SIZE - 1);
  out[size > 0 ? size : 0] = '\0';
#endif
  truncate_to_folder(out);
}

// Whether the library exists near |folder|; its path then.
static bool find_near(const char *folder, const char *name, char *out_path) {
  static const char *const ways[] = {"", "../lib/", "../" INDIM_LIBRARY_FOLDER "/", "../"};
  for (size_t i = 0; folder[0] != '\0' && i < sizeof ways / sizeof ways[0]; i++) {
    if (strlen(folder) + strlen(ways[i]) + strlen(name) < PATH_SIZE) {
      strcpy(out_path, folder);
      strcat(out_path, ways[i]);
      strcat(out_path, name);
      if (access(out_path, F_OK) == 0) {
        return true;
      }
    }
  }
  return false;
}

// A file that exists but does not load is the error to report, not that it is missing elsewhere.
void *indim_library_open_ours(const char *name, const char **out_why) {
  char folder[PATH_SIZE];
  char path[PATH_SIZE];
  char own[PATH_SIZE];
  own_path(own);
  bool is_found = false;
  if (realpath(own, folder) != NULL) {  // it may be loaded through a symbolic link, whose folder may be anyone's
    truncate_to_folder(folder);
    is_found = find_near(folder, name, path);
  }
  if (!is_found) {
    strcpy(folder, own);
    truncate_to_folder(folder);
    is_found = find_near(folder, name, path);
  }
  if (!is_found && own[0] != '/') {
    executable_folder(folder);
    is_found = find_near(folder, name, path);
  }
  return indim_library_open(is_found ? path : name, out_why);
}

void indim_library_close(void *library) {
  if (library != NULL) {
    dlclose(library);
  }
}

// dlsym returns functions as object pointers, which C does not convert; POSIX guarantees the same bytes.
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

bool indim_library_is_loaded(const char *name) {
  (void)name;
  return false;
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
