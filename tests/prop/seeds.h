// Programs made of seeds, one after another, through both engines for some time.
//
//   run_seeds(program_make, seconds, first);    checks that none gave another result
//
// INDIM_SEED=n runs one alone and prints it; INDIM_REFUSED=1 says why programs are refused; INDIM_TARGET=x86-64-v2 compiles
// for that target, which this machine must have, instead of for the machine.
#ifndef INDIM_TESTS_SEEDS_H
#define INDIM_TESTS_SEEDS_H

#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
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

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void program_maker(program *p, choices *c);

typedef struct tally {
  int64_t outcomes[3];
} tally;

static void run_seed(program_maker *maker, twin *t, uint64_t seed, bool verbose, tally *sum) {
  choices c = {.state = seed * UINT64_C(0x5851F42D4C957F2D)};
  program p;
  char names[200];
  maker(&p, &c);
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

static void run_seeds(program_maker *maker, double seconds, uint64_t first) {
  twin t;
  tally sum = {{0}};
  const char *one = getenv("INDIM_SEED");
  double end = seconds_now() + seconds;
  twin_init(&t);
  catch_signals(die);
  if (one != NULL) {
    run_seed(maker, &t, strtoull(one, NULL, 10), true, &sum);
  }
  for (uint64_t seed = first; one == NULL && seconds_now() < end; seed++) {
    run_seed(maker, &t, seed, false, &sum);
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

// What the command line asks for: SECONDS FIRST.
static double seconds_asked = 12;
static uint64_t first_asked = 1;

static void read_seeds(int argc, char **argv) {
  seconds_asked = argc > 1 ? strtod(argv[1], NULL) : seconds_asked;
  first_asked = argc > 2 ? strtoull(argv[2], NULL, 10) : first_asked;
}

#endif  // INDIM_TESTS_SEEDS_H
