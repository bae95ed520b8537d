// loader LIBRARY [FOLDER]: loads libindim by dlopen, goes to the folder, and asks whether a program can be compiled. Exit
// code 0 if it can.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int failed(const char *what) {
  fprintf(stderr, "loader: %s\n", what);
  return 2;
}

int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    return failed(argc > 1 ? dlerror() : "no library is named");
  }
  if (argc > 2 && chdir(argv[2]) != 0) {
    return failed("cannot go to the folder");
  }
  int (*create)(const void *allocator, void **out_cx);
  int (*available)(void *cx);
  void *address = dlsym(library, "indim_ctx_create");
  memcpy(&create, &address, sizeof create);
  address = dlsym(library, "indim_compile_available");
  memcpy(&available, &address, sizeof available);
  void *cx = NULL;
  if (create == NULL || available == NULL || create(NULL, &cx) != 0) {
    return failed("the library is not Indim");
  }
  return available(cx) == 0 ? 0 : failed("there is no code generator");
}
