// Random programs through both engines: what is compiled, with any decisions left out, with and without threads, on memory
// between guard pages, gives what the evaluator gives (program.h says how near). Most programs are small and each is
// compiled once, so that there are many of them.
//
//   test_prop_compile                 12 seconds of programs, the same ones every time
//   test_prop_compile SECONDS FIRST   that long from a seed on; INDIM_SEED=n runs one, and prints it
//   test_prop_compile file PATH       the program of a file on 8 sets of arguments, without INDIM_WITHOUT
//
// A difference, a crash and a hang all name their seed.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include <signal.h>
#include <time.h>

#include "twin.h"

static volatile sig_atomic_t seed_now;
static const char *text_now = "";

// What a test that dies must still say.
static void die(int signal_number) {
  char line[100];
  int length = snprintf(line, sizeof line, "FAILED seed %d: signal %d\n", (int)seed_now, signal_number);
  if (write(1, line, (size_t)length) != length || write(1, text_now, strlen(text_now)) < 0) {
    _exit(3);
  }
  _exit(2);
}

static void catch_signals(void) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
  struct sigaction action = {.sa_handler = die};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    sigaction(signals[i], &action, NULL);
  }
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct tally {
  int64_t outcomes[3];
} tally;

static void run_seed(twin *t, uint64_t seed, bool verbose, tally *sum) {
  choices c = {.state = seed * UINT64_C(0x5851F42D4C957F2D)};
  program p;
  char names[200];
#if defined(__SANITIZE_THREAD__)
  program_make_sized(&p, &c, 0);  // what is large is parallel
#else
  program_make(&p, &c);
#endif
  const char *without = any_decisions(&c, names);
  seed_now = (sig_atomic_t)seed;
  text_now = p.text;
  alarm(300);
  twin_outcome outcome = twin_run(t, &p, &c, without);
  alarm(0);
  sum->outcomes[outcome]++;
  if (verbose || outcome == TWIN_DIFFERENT) {
    printf("seed %llu, without %s: %s\n", (unsigned long long)seed, without == NULL ? "nothing" : without,
           t->complaint);
  }
  if (verbose) {
    printf("%s", p.text);
  } else if (outcome == TWIN_REFUSED && getenv("INDIM_REFUSED") != NULL) {
    printf("seed %llu is refused: %s\n", (unsigned long long)seed, t->complaint);
  }
  text_now = "";
  program_free(&p);
}

static void run_seeds(double seconds, uint64_t first) {
  twin t;
  tally sum = {{0}};
  const char *one = getenv("INDIM_SEED");
  double end = seconds_now() + seconds;
  twin_init(&t);
  catch_signals();
  if (one != NULL) {
    run_seed(&t, strtoull(one, NULL, 10), true, &sum);
  }
  for (uint64_t seed = first; one == NULL && seconds_now() < end; seed++) {
    run_seed(&t, seed, false, &sum);
  }
  twin_deinit(&t);
  printf("seeds from %llu on: %lld programs in %lld modules the same, %lld refused, %lld different; %lld runs, "
         "%lld elements\n",
         (unsigned long long)first, (long long)t.parts, (long long)sum.outcomes[TWIN_SAME],
         (long long)sum.outcomes[TWIN_REFUSED], (long long)sum.outcomes[TWIN_DIFFERENT], (long long)t.runs,
         (long long)t.elements);
  CHECK_EQ_INT(sum.outcomes[TWIN_DIFFERENT], 0);
  CHECK(one != NULL || sum.outcomes[TWIN_SAME] > 10 * sum.outcomes[TWIN_REFUSED]);
}

// A program of somebody else's, with a bound that suits most.
static int run_file(const char *path) {
  static char from[1 << 20];
  static const char *const decisions[] = {NULL, "inline", "registers",
                                          "inline,registers,loop-fusion,slp,threads,library,in-place"};
  FILE *file = fopen(path, "rb");
  size_t size = file == NULL ? 0 : fread(from, 1, sizeof from - 1, file);
  program p;
  twin t;
  const char *asked = getenv("INDIM_WITHOUT");
  int outcomes[3] = {0};
  from[size] = '\0';
  text_now = "";
  catch_signals();
  if (!program_of_text(&p, from, (within){.ulps = 4, .rel = 1e-5, .abs = 1e-5}, 1 << 24)) {
    printf("%s: no such program\n", path);
    return 4;
  }
  p.text = from;
  twin_init(&t);
  for (uint64_t seed = 0; seed < 8; seed++) {
    choices c = {.state = seed + 1};
    for (int i = 0; i < p.parameter_count; i++) {
      p.any_values[i] = chance(&c, 2);
    }
    twin_outcome outcome = twin_run(&t, &p, &c, asked == NULL ? decisions[seed % 4] : asked);
    if (outcome != TWIN_SAME) {
      printf("%s\n", t.complaint);
    }
    outcomes[outcome]++;
    if (outcome == TWIN_DIFFERENT) {
      break;
    }
  }
  twin_deinit(&t);
  printf("%d the same, %d refused, %d different\n", outcomes[0], outcomes[1], outcomes[2]);
  return outcomes[TWIN_DIFFERENT] > 0;
}

static double seconds_asked = 12;
static uint64_t first_asked = 1;

TEST(both_engines_agree) { run_seeds(seconds_asked, first_asked); }

int main(int argc, char **argv) {
  static const test_entry entries[] = {{"both_engines_agree", test_case_both_engines_agree}};
  if (indim_compile_available(NULL) != INDIM_OK) {
    printf("this build has no code generator\n1 passed, 0 failed\n");
    return 0;
  }
  if (argc > 2 && strcmp(argv[1], "file") == 0) {
    return run_file(argv[2]);
  }
  seconds_asked = argc > 1 ? strtod(argv[1], NULL) : seconds_asked;
  first_asked = argc > 2 ? strtoull(argv[2], NULL, 10) : first_asked;
  return test_main(entries, 1, 1, argv);
}
