// OpenBLAS is used with code for this processor or not at all, and how that is brought about leaves no trace.
#define _POSIX_C_SOURCE 200809L  // fork, setenv
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/library.h"
#include "run/matmul.h"
#include "test.h"

static const char variable[] = "OPENBLAS_CORETYPE";

// Whether there is one in a process of its own, for which the user has chosen |core|; NULL: nothing.
static bool is_used_with(const char *core) {
  int status = 1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    indim_blas blas = {0};
    bool is_set = core == NULL ? unsetenv(variable) == 0 : setenv(variable, core, 1) == 0;
    indim_blas_open(&blas);
    _exit(is_set && blas.library != NULL ? 0 : 1);
  }
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(code_of_another_processor_is_refused) {
#if defined(__x86_64__)
  bool is_there = is_used_with("Haswell");
  printf("  %s\n", is_there ? "there is an OpenBLAS" : "no OpenBLAS: not tested");
  if (is_there && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    CHECK(!is_used_with("Prescott"));
    CHECK(!is_used_with("Nehalem"));
    CHECK(is_used_with(NULL));
  }
#endif
}

TEST(the_environment_is_as_it_was) {
  indim_blas first = {.vector_bytes = 32};
  indim_blas second = {0};
  const char *found = getenv(variable);
  char before[64] = "";
  snprintf(before, sizeof before, "%s", found == NULL ? "" : found);
  indim_blas_open(&first);
  indim_blas_open(&second);
  const char *after = getenv(variable);
  CHECK(strcmp(before, after == NULL ? "" : after) == 0);
  CHECK(first.library == second.library);
  CHECK((first.library == NULL) == (first.sgemm == NULL));
  CHECK_EQ_INT(first.vector_bytes, 32);
  indim_blas_close(&first);
  indim_blas_close(&second);
  CHECK(first.library == NULL && first.sgemm == NULL);
}

#define CASES(X)                          \
  X(code_of_another_processor_is_refused) \
  X(the_environment_is_as_it_was)
TEST_MAIN(CASES)
