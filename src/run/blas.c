// OpenBLAS, loaded when a program first asks for it, and what has to be looked at before it is used.
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L  // setenv
#define HAS_SETENV 1
#else
#define HAS_SETENV 0
#endif

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "run/library.h"
#include "run/matmul.h"

// What OpenBLAS reports about itself. Built without threads it takes no locks, and concurrent calls give wrong results;
// built for OpenMP its threads cannot be controlled from here.
enum { BUILT_WITH_THREADS = 1 };

static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib"};
enum { NAMES = sizeof names / sizeof names[0] };

// Looks up a function; memcpy converts the function pointer to its true type.
static bool find(void *library, const char *name, void *out_function, size_t size) {
  indim_symbol *function = indim_library_function(library, name);
  memcpy(out_function, &function, size);
  return function != NULL;
}

// The code for this processor ----------------------------------------------------------------------------------------------

#if HAS_SETENV && defined(__x86_64__) && defined(__GNUC__)

// OpenBLAS has code for each model of processor that it knows. For one that is newer than itself it takes that of models without
// AVX: a tenth as fast, and, in 0.3.21, with routines that read beyond their arrays and crash (ssymv for "Prescott").
static bool is_for_other(void *library) {
  static const char *const old[] = {"Unknown", "Katmai",       "Coppermine", "Northwood",  "Prescott", "Banias",
                                    "Atom",    "Core2",        "Penryn",     "Dunnington", "Nehalem",  "Athlon",
                                    "Opteron", "Opteron_SSE3", "Barcelona",  "Bobcat",     "Nano"};
  char *(*core)(void) = NULL;
  bool is_old = false;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !find(library, "openblas_get_corename", &core, sizeof core)) {
    return false;
  }
  const char *name = core();
  for (size_t i = 0; i < sizeof old / sizeof old[0] && name != NULL; i++) {
    is_old = is_old || strcmp(name, old[i]) == 0;
  }
  return is_old;
}

// Has it choose again, by the variable that it has for that. Not if others use it already, or if the user has chosen.
static void choose_again(void *library) {
  static const char variable[] = "OPENBLAS_CORETYPE";
  void (*quit)(void) = NULL;
  void (*init)(void) = NULL;
  if (getenv(variable) != NULL || !find(library, "gotoblas_dynamic_quit", &quit, sizeof quit) ||
      !find(library, "gotoblas_dynamic_init", &init, sizeof init)) {
    return;
  }
  bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (setenv(variable, has_512 ? "SkylakeX" : "Haswell", 1) == 0) {
    quit();
    init();
    unsetenv(variable);
  }
}

// False if its code is for another processor.
static bool suits_processor(void *library, bool is_shared) {
  if (is_for_other(library) && !is_shared) {
    choose_again(library);
  }
  return !is_for_other(library);
}

#else

static bool suits_processor(void *library, bool is_shared) {
  (void)library;
  (void)is_shared;
  return true;
}

#endif

// Loading ------------------------------------------------------------------------------------------------------------------

static void *load(const char *name) {
  int (*get_parallel)(void) = NULL;
  bool is_shared = indim_library_is_loaded(name);
  void *library = indim_library_open(name, NULL);
  if (library == NULL) {
    return NULL;
  }
  if (find(library, "openblas_get_parallel", &get_parallel, sizeof get_parallel) &&
      get_parallel() == BUILT_WITH_THREADS && suits_processor(library, is_shared)) {
    return library;
  }
  indim_library_close(library);
  return NULL;
}

// The first that is there. Once in a process: it stays loaded.
static void *find_library(void) {
  static void *found;
#if defined(__GNUC__)
  static int state;  // 1: on a thread, 2: done
  int before = 0;
  if (__atomic_compare_exchange_n(&state, &before, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    for (size_t i = 0; i < NAMES && found == NULL; i++) {
      found = load(names[i]);
    }
    __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != 2) {
  }
#else  // where indim_library_open has none
  for (size_t i = 0; i < NAMES && found == NULL; i++) {
    found = load(names[i]);
  }
#endif
  return found;
}

void indim_blas_open(indim_blas *out_blas) {
  void (*set_threads)(int) = NULL;
  *out_blas = (indim_blas){.vector_bytes = out_blas->vector_bytes, .library = find_library()};
  if (out_blas->library == NULL) {
    return;
  }
  if (!find(out_blas->library, "cblas_sgemm", &out_blas->sgemm, sizeof out_blas->sgemm) ||
      !find(out_blas->library, "cblas_dgemm", &out_blas->dgemm, sizeof out_blas->dgemm) ||
      !find(out_blas->library, "openblas_set_num_threads", &set_threads, sizeof set_threads)) {
    indim_blas_close(out_blas);
    return;
  }
  set_threads(1);
}

void indim_blas_close(indim_blas *blas) { *blas = (indim_blas){.vector_bytes = blas->vector_bytes}; }
