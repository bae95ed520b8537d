// Random programs through both engines: what is compiled, with any decisions left out, with and without threads, on memory
// between guard pages, gives what the evaluator gives (program.h says how near). Most programs are small and each is
// compiled once, so that there are many of them.
//
//   test_prop_compile                 12 seconds of programs, the same ones every time
//   test_prop_compile SECONDS FIRST   that long from a seed on; INDIM_SEED=n runs one, and prints it
//   test_prop_compile file PATH       the program of a file on 8 sets of arguments, without INDIM_WITHOUT
//
// A difference, a crash and a hang all name their seed.
#include "seeds.h"

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
  catch_signals(die);
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

static void make_program(program *p, choices *c) {
  c->with_calls = true;
#if defined(__SANITIZE_THREAD__)
  program_make_sized(p, c, 0);  // what is large is parallel
#else
  program_make(p, c);
#endif
}

TEST(both_engines_agree) { run_seeds(make_program, seconds_asked, first_asked); }

int main(int argc, char **argv) {
  static const test_entry entries[] = {{"both_engines_agree", test_case_both_engines_agree}};
  if (indim_compile_available(NULL) != INDIM_OK) {
    printf("this build has no code generator\n1 passed, 0 failed\n");
    return 0;
  }
  if (argc > 2 && strcmp(argv[1], "file") == 0) {
    return run_file(argv[2]);
  }
  read_seeds(argc, argv);
  return test_main(entries, 1, 1, argv);
}
