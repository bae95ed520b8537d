// Executes compiled programs on a machine that is emulated, and writes what they give. It is linked with the programs'
// objects and with a table of them (run.py), and stands for the library: a table of the host's, buffers, nothing else.
//
//   runner FOLDER FIRST STEP    the programs number FIRST, FIRST + STEP, ... of the table
//
// Each case is FOLDER/N.C.in, numbers of 64 bits: the bytes of the scratch block, the counts of arguments and results, of
// each of them bytes and alignment; then the arguments' bytes. FOLDER/N.C.out takes the results' bytes. A case runs twice:
// each parallel loop at once, then its pieces one by one and the last one first, between other guard pages. Both must give
// the same bits. What fails is told in lines that begin with FAILED.
#define _GNU_SOURCE  // MAP_ANONYMOUS
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "indim/indim_host.h"
#include "linalg/service.h"
#include "run/fft.h"
#include "run/matmul.h"
#include "run/sort.h"

// A program, and how its files are called.
typedef struct entry {
  int number;
  indim_compiled_fn *program;
} entry;
extern const entry entries[];
extern const int entry_count;

enum { MOST_BUFFERS = 256, MOST_CASES = 64, ALARM_SECONDS = 60 };

// A buffer between guard pages.
typedef struct buffer {
  int64_t bytes, alignment;
  uint8_t *block;
  size_t block_bytes;
  uint8_t *at;
} buffer;

typedef struct run_case {
  const entry *entry;
  int number;
  int64_t argument_count, result_count;
  buffer scratch;
  buffer arguments[MOST_BUFFERS];
  buffer results[MOST_BUFFERS];
  uint8_t *first[MOST_BUFFERS];  // what each result was in the first run
} run_case;

static bool fail(const run_case *c, const char *what) {
  printf("FAILED %d.%d: %s\n", c->entry->number, c->number, what);
  return false;
}

// The host --------------------------------------------------------------------------------------------------------------

static void run_at_once(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain) {
  (void)user;
  (void)grain;
  piece(frame, 0, count);
}

static void run_backwards(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain) {
  (void)user;
  for (int64_t begin = count > 0 ? (count - 1) / grain * grain : -1; begin >= 0; begin -= grain) {
    piece(frame, begin, begin + grain < count ? begin + grain : count);
  }
}

static int32_t multiply(void *user, const indim_host_matmul *sizes, void *const *arrays) {
  bool is_backwards = *(const bool *)user;
  bool ok =
      indim_matmul_run(NULL, is_backwards ? run_backwards : run_at_once, user, sizes, arrays[0], arrays[1], arrays[2]);
  return ok ? INDIM_HOST_OK : INDIM_HOST_FAILED;
}

static int32_t transform(void *user, const indim_host_fft *sizes, void *const *arrays) {
  (void)user;
  const indim_fft_context context = {.parallel = NULL};
  return indim_fft_run(&context, sizes, arrays[0], arrays[1], NULL, 0);
}

static int32_t factor(void *user, const indim_host_lapack *numbers, void *const *arrays) {
  (void)user;
  const indim_host_lapack_run run = {0};
  return indim_linalg_serve(&run, numbers, arrays);
}

static int32_t sort(void *user, const indim_host_sort *numbers, void *const *arrays) {
  bool is_backwards = *(const bool *)user;
  const indim_sort_context context = {.parallel = is_backwards ? run_backwards : run_at_once, .parallel_user = user};
  return indim_sort_run(&context, numbers, arrays);
}

// Buffers ---------------------------------------------------------------------------------------------------------------

static void make_buffer(buffer *b, bool at_end) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t size = ((size_t)b->bytes + page) / page * page;
  b->block_bytes = size + 2 * page;
  b->block = mmap(NULL, b->block_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (b->block == MAP_FAILED || mprotect(b->block + page, size, PROT_READ | PROT_WRITE) != 0) {
    abort();
  }
  size_t alignment = (size_t)b->alignment;
  b->at = b->block + page + (at_end ? (size - (size_t)b->bytes) / alignment * alignment : 0);
}

// Running ---------------------------------------------------------------------------------------------------------------

static FILE *open_case(const char *folder, const run_case *c, const char *ending, const char *mode) {
  char path[1000];
  snprintf(path, sizeof path, "%s/%d.%d.%s", folder, c->entry->number, c->number, ending);
  return fopen(path, mode);
}

static int64_t get_number(FILE *file) {
  int64_t number = -1;
  return fread(&number, sizeof number, 1, file) == 1 ? number : -1;
}

static bool get_header(FILE *file, run_case *c) {
  c->scratch = (buffer){.bytes = get_number(file), .alignment = 64};
  c->argument_count = get_number(file);
  c->result_count = get_number(file);
  if (c->argument_count < 0 || c->argument_count > MOST_BUFFERS || c->result_count < 0 ||
      c->result_count > MOST_BUFFERS) {
    return fail(c, "its file makes no sense");
  }
  for (int64_t i = 0; i < c->argument_count + c->result_count; i++) {
    buffer *b = i < c->argument_count ? &c->arguments[i] : &c->results[i - c->argument_count];
    b->bytes = get_number(file);
    b->alignment = get_number(file);
  }
  return true;
}

static bool make_buffers(FILE *file, run_case *c, bool at_end) {
  bool ok = get_header(file, c);
  for (int64_t i = 0; i < c->argument_count && ok; i++) {
    buffer *b = &c->arguments[i];
    make_buffer(b, at_end);
    ok = fread(b->at, 1, (size_t)b->bytes, file) == (size_t)b->bytes || fail(c, "its arguments are cut off");
  }
  for (int64_t i = 0; i < c->result_count && ok; i++) {
    make_buffer(&c->results[i], at_end);
    memset(c->results[i].at, 0xA5, (size_t)c->results[i].bytes);
  }
  make_buffer(&c->scratch, at_end);
  memset(c->scratch.at, 0xC3, (size_t)c->scratch.bytes);
  return ok;
}

static int32_t call(run_case *c, bool is_backwards) {
  const volatile int32_t stop = 0;
  const void *arguments[MOST_BUFFERS];
  void *results[MOST_BUFFERS];
  for (int64_t i = 0; i < c->argument_count; i++) {
    arguments[i] = c->arguments[i].at;
  }
  for (int64_t i = 0; i < c->result_count; i++) {
    results[i] = c->results[i].at;
  }
  const indim_host host = {.user = &is_backwards,
                           .stop = &stop,
                           .parallel = is_backwards ? run_backwards : run_at_once,
                           .matmul = multiply,
                           .fft = transform,
                           .lapack = factor,
                           .sort = sort};
  return c->entry->program(arguments, results, c->scratch.at, &host);
}

// Keeps the results of the first run; those of the second must be the same.
static bool take_results(run_case *c, bool is_second) {
  bool ok = true;
  for (int64_t i = 0; i < c->result_count; i++) {
    size_t bytes = (size_t)c->results[i].bytes;
    if (is_second) {
      ok = ok && memcmp(c->first[i], c->results[i].at, bytes) == 0;
      continue;
    }
    c->first[i] = malloc(bytes + 1);
    if (c->first[i] == NULL) {
      abort();
    }
    memcpy(c->first[i], c->results[i].at, bytes);
  }
  return ok || fail(c, "other bits when its pieces run backwards");
}

static bool run_once(const char *folder, run_case *c, bool is_second) {
  FILE *file = open_case(folder, c, "in", "rb");
  bool ok = file != NULL && make_buffers(file, c, !is_second);
  fclose(file);
  if (!ok) {
    return false;
  }
  return call(c, is_second) == INDIM_HOST_OK ? take_results(c, is_second) : fail(c, "it stopped early");
}

static bool write_results(const char *folder, run_case *c) {
  FILE *file = open_case(folder, c, "out", "wb");
  bool ok = file != NULL;
  for (int64_t i = 0; i < c->result_count && ok; i++) {
    ok = fwrite(c->first[i], 1, (size_t)c->results[i].bytes, file) == (size_t)c->results[i].bytes;
  }
  ok = file != NULL && fclose(file) == 0 && ok;
  return ok || fail(c, "its results cannot be written");
}

// The exit code of the process that a case has for itself, which takes its memory with it.
static int run_case_alone(const char *folder, run_case *c) {
  alarm(ALARM_SECONDS);
  return run_once(folder, c, false) && run_once(folder, c, true) && write_results(folder, c) ? 0 : 1;
}

// False when there is no such case.
static bool run_one(const char *folder, const entry *entry, int number, int *failed) {
  static run_case c;
  int status = 0;
  c.entry = entry;
  c.number = number;
  FILE *file = open_case(folder, &c, "in", "rb");
  if (file == NULL) {
    return false;
  }
  fclose(file);
  pid_t pid = fork();
  if (pid == 0) {
    exit(run_case_alone(folder, &c));
  }
  bool has_ended = pid > 0 && waitpid(pid, &status, 0) == pid;
  if (!has_ended || !WIFEXITED(status)) {
    fail(&c, has_ended && WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it has no process");
  }
  *failed += has_ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
  return true;
}

int main(int argc, char **argv) {
  int failed = 0;
  int cases = 0;
  if (argc != 4) {
    return 4;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = atoi(argv[2]); i < entry_count; i += atoi(argv[3])) {
    for (int number = 0; number < MOST_CASES; number++) {
      cases += run_one(argv[1], &entries[i], number, &failed) ? 1 : 0;
    }
  }
  printf("%d cases ran, %d failed\n", cases, failed);
  return failed > 0;
}
