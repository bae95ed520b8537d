// Every program for every target, on any machine: code is made for each of them down to an object that needs next to nothing
// of others, without a failure on the way; what this machine can execute must give what the evaluator gives. The last
// targets, "plain", are the way that is left when LLVM fails at everything else.
//
//   test_prop_targets                       the programs of corpus.h with some random ones, in a process for each processor
//   test_prop_targets SEEDS FIRST           so many random ones, from a seed on
//   test_prop_targets file PATH [TARGET]    one program, for all targets or one
//   test_prop_targets seed NUMBER [TARGET]  one random program, which is printed
//   test_prop_targets export TARGET FOLDER [SEEDS FIRST]   leaves objects and arguments for tests/emulate/run.py there
//   test_prop_targets compare TARGET FOLDER [SEEDS FIRST]  holds the results that it left there against the evaluator's
//                                                          (INDIM_PART=1/2 with both: every second program, from the
//                                                          second on)
//
// A difference and a crash name their program and target.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include <elf.h>
#include <sys/wait.h>

#include "corpus.h"
#include "expand/dynamic/dynamic.h"

// LLVM's objects are lost when it crashes, as it is made to for "plain".
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

enum { MOST_MACHINES = 16, MOST_PROCESSES = 16, USUAL_SEEDS = 60 };

typedef struct machine {
  const char *name;
  const char *target;  // NULL: native
  int32_t crash_from;
  int every;  // of so many random programs one is made
} machine;

static machine machines[MOST_MACHINES];
static int machine_count;
static int machines_of = 1;  // a program is made for one in so many,
static int first_machine;    // another one than the program before it, the first for this one
static int items_of = 1;     // and one program in so many is taken,
static int first_item;       // from this one on

// What the processes count together, in shared memory.
typedef enum count { COMPILED, EXECUTED, EQUAL, REFUSED, COUNTS } count;

typedef struct sums {
  int next;  // program to take
  int64_t passed, failed;
  int64_t counts[MOST_MACHINES][CORPUS_KINDS][COUNTS];
} sums;

static sums *shared;

// What a process that dies must still say.
static const char *volatile item_now = "";
static const char *volatile machine_now = "";

static void die(int signal_number) {
  char line[400];
  int length = snprintf(line, sizeof line, "FAILED %s for %s: signal %d\n", item_now, machine_now, signal_number);
  _exit(write(1, line, (size_t)length) == length ? 2 : 3);
}

static void add(int64_t *counter) { __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED); }

static void add_count(const subject *s, const machine *m, count what) {
  add(&shared->counts[m - machines][s->item->kind][what]);
}

// Objects ---------------------------------------------------------------------------------------------------------------

// What generated code may need of others: functions of the C library that exist wherever there is one.
static bool is_allowed(const char *symbol) {
  static const char *const allowed[] = {"", "memcpy", "memmove", "memset", "fmod", "fmodf"};
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
    if (strcmp(symbol, allowed[i]) == 0) {
      return true;
    }
  }
  return false;
}

static bool check_symbol(twin *t, const Elf64_Sym *symbol, const char *name, bool *has_program) {
  bool is_program = strcmp(name, "indim_program") == 0 && symbol->st_shndx != SHN_UNDEF;
  *has_program = *has_program || is_program;
  if (symbol->st_shndx == SHN_UNDEF && !is_allowed(name)) {
    return complain(t, "the object needs '%s'", name);
  }
  return ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || symbol->st_shndx == SHN_UNDEF || is_program ||
         complain(t, "the object shows '%s'", name);
}

// The object is ELF of 64 bits, defines the program and nothing else that others see, and needs only what is allowed.
static bool check_object(twin *t, const indim_buffer *object) {
  Elf64_Ehdr header;
  bool has_program = false;
  bool ok = object->size > sizeof header && memcmp(object->data, ELFMAG, SELFMAG) == 0 &&
            object->data[EI_CLASS] == ELFCLASS64;
  memcpy(&header, object->data, ok ? sizeof header : 0);
  for (size_t i = 0; ok && i < header.e_shnum; i++) {
    Elf64_Shdr section;
    Elf64_Shdr names;
    memcpy(&section, object->data + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_SYMTAB) {
      continue;
    }
    memcpy(&names, object->data + header.e_shoff + section.sh_link * sizeof names, sizeof names);
    for (size_t k = 0; k < section.sh_size / sizeof(Elf64_Sym); k++) {
      Elf64_Sym symbol;
      memcpy(&symbol, object->data + section.sh_offset + k * sizeof symbol, sizeof symbol);
      if (!check_symbol(t, &symbol, object->data + names.sh_offset + symbol.st_name, &has_program)) {
        return false;
      }
    }
  }
  return has_program || complain(t, "the object is none, or without the program");
}

// Compiling -------------------------------------------------------------------------------------------------------------

// Nothing: the program is not among those that are looked at.
typedef enum outcome { OUTCOME_MADE, OUTCOME_REFUSED, OUTCOME_FAILED, OUTCOME_NOTHING } outcome;

// What does not compile anywhere; constants that the text leaves out are refused by another name.
static bool is_refusal(const indim_ctx *cx, indim_status status) {
  return status == INDIM_UNSUPPORTED || (status == INDIM_INVALID && strstr(last_message(cx), "left out") != NULL);
}

// A failure that was stepped around leaves diagnostics behind; one that was asked for must.
static bool check_way(twin *t, const subject *s, const machine *m, const indim_executable *exe) {
  size_t told = indim_ctx_diagnostic_count(s->cx);
  if (m->crash_from == 0) {
    return told == 0 || complain(t, "not as it should: %s", last_message(s->cx));
  }
  return (told > 0 && indim_executable_vector_bytes(exe) == 8) || complain(t, "the crash did not come");
}

static outcome make_for(twin *t, const subject *s, const machine *m, indim_buffer *object, indim_executable **out) {
  int32_t chunk = strlen(s->item->name) % 2 == 0 ? 0 : 40;  // of every second one the code is cut
  const indim_compile_options options = {
      .target = m->target, .without = s->without, .crash_from = m->crash_from, .chunk = chunk, .out_object = object};
  *out = NULL;
  indim_ctx_diagnostics_clear(s->cx);
  indim_status status = indim_compile(s->cx, s->module, &options, out);
  if (status == INDIM_OK) {
    return check_way(t, s, m, *out) && check_object(t, object) ? OUTCOME_MADE : OUTCOME_FAILED;
  }
  complain(t, "compiling: %s: %s", indim_status_name(status), last_message(s->cx));
  return is_refusal(s->cx, status) ? OUTCOME_REFUSED : OUTCOME_FAILED;
}

// Executing -------------------------------------------------------------------------------------------------------------

static bool check_leaf(twin *t, const subject *s, int number, int leaf, const leaves *expected,
                       const indim_shape *shape, const void *bytes) {
  bool ok = compare_leaf(t, s->cx, expected->at[leaf], shape, bytes, &s->near[leaf], leaf);
  if (!ok && number > 0) {
    printf("case %d of %s:\n", number + 1, s->item->name);
  }
  return ok;
}

// Dynamic dimensions are further leaves of the executable, so such programs run over literals.
static bool execute_literals(twin *t, const subject *s, int number, indim_executable *exe, const leaves *arguments,
                             const leaves *expected) {
  indim_literal *actual = NULL;
  indim_ctx_diagnostics_clear(s->cx);
  indim_status status = indim_execute_literals(s->cx, exe, arguments->at, arguments->count, NULL, &actual);
  if (status != INDIM_OK) {
    return complain(t, "running: %s: %s", indim_status_name(status), last_message(s->cx));
  }
  leaves given = {.count = 0};
  leaves_add(&given, actual);
  bool ok = given.count == expected->count || complain(t, "%d results, not %d", given.count, expected->count);
  for (int i = 0; ok && i < expected->count; i++) {
    const within *w = &s->near[i];
    indim_mismatch mismatch;
    indim_tolerance tolerance = {.abs = w->abs, .rel = w->rel, .ulps = w->ulps, .equal_nans = true};
    ok = indim_literal_compare(s->cx, expected->at[i], given.at[i], &tolerance, &mismatch) == INDIM_OK &&
         mismatch.count == 0;
    ok = ok || complain(t, "result %d of case %d differs", i, number + 1);
  }
  indim_literal_destroy(actual);
  return ok;
}

// Runs a case twice, the second time with threads: near the evaluator, and the same bits.
static bool execute_case(twin *t, const subject *s, int number, indim_executable *exe) {
  static const crew crews[] = {CREW_ONE, CREW_POOL, CREW_POOL, CREW_APART};
  choices c = {.state = s->item->seed + (uint64_t)number};
  leaves arguments = leaves_of_case(s, number);
  leaves expected = {.count = 0};
  buffers b;
  leaves_add(&expected, s->expected[number]);
  if (indim_module_is_dynamic(s->module)) {
    return execute_literals(t, s, number, exe, &arguments, &expected);
  }
  if (arguments.count != indim_executable_argument_count(exe) || expected.count != indim_executable_result_count(exe)) {
    return complain(t, "%d arguments and %d results are not what it takes and gives", arguments.count, expected.count);
  }
  bool ok = run_once(t, s->cx, &c, exe, arguments.at, CREW_NONE, &b);
  for (int i = 0; ok && i < expected.count; i++) {
    ok = check_leaf(t, s, number, i, &expected, indim_executable_result_shape(exe, i), b.results[i]);
  }
  uint64_t first = ok ? digest(exe, &b) : 0;
  ok = ok && run_once(t, s->cx, &c, exe, arguments.at, ANY_OF(&c, crews), &b);
  return ok && (digest(exe, &b) == first || complain(t, "other bits in the second run"));
}

// All cases whose results are known.
static outcome execute(twin *t, const subject *s, const machine *m, indim_executable *exe) {
  int executed = 0;
  for (int c = 0; c < s->case_count && indim_executable_missing(exe) == NULL; c++) {
    if (s->expected[c] == NULL) {
      continue;
    }
    if (executed++ == 0) {
      add_count(s, m, EXECUTED);
    }
    if (!execute_case(t, s, c, exe)) {
      return OUTCOME_FAILED;
    }
  }
  if (executed > 0) {
    add_count(s, m, EQUAL);
  }
  return OUTCOME_MADE;
}

// What is done with a program ---------------------------------------------------------------------------------------------

static const char *folder;  // of "export" and "compare"
static bool is_compare;

static FILE *open_in(int number, int which, const char *ending, const char *mode) {
  char path[1000];
  if (which < 0) {
    snprintf(path, sizeof path, "%s/%d.%s", folder, number, ending);
  } else {
    snprintf(path, sizeof path, "%s/%d.%d.%s", folder, number, which, ending);
  }
  return fopen(path, mode);
}

static void put(FILE *file, const void *bytes, int64_t size) {
  if (size > 0 && fwrite(bytes, 1, (size_t)size, file) != (size_t)size) {
    abort();
  }
}

static void put_number(FILE *file, int64_t number) { put(file, &number, sizeof number); }

// A case for tests/emulate/runner.c, which says how it reads.
static bool export_case(twin *t, const subject *s, const leaves *arguments, const indim_executable *exe, FILE *file) {
  if (arguments->count != indim_executable_argument_count(exe)) {
    return complain(t, "%d arguments are not what it takes", arguments->count);
  }
  put_number(file, indim_executable_scratch_bytes(exe));
  put_number(file, indim_executable_argument_count(exe));
  put_number(file, indim_executable_result_count(exe));
  for (int64_t i = 0; i < indim_executable_argument_count(exe); i++) {
    put_number(file, indim_executable_argument_bytes(exe, i));
    put_number(file, indim_executable_argument_alignment(exe, i));
  }
  for (int64_t i = 0; i < indim_executable_result_count(exe); i++) {
    put_number(file, indim_executable_result_bytes(exe, i));
    put_number(file, indim_executable_result_alignment(exe, i));
  }
  for (int64_t i = 0; i < indim_executable_argument_count(exe); i++) {
    indim_literal *laid = NULL;
    if (indim_literal_relayout(s->cx, arguments->at[i], indim_executable_argument_shape(exe, i), &laid) != INDIM_OK) {
      return complain(t, "argument %d: %s", (int)i, last_message(s->cx));
    }
    put(file, indim_literal_data(laid), indim_literal_bytes(laid));
    indim_literal_destroy(laid);
  }
  return true;
}

static outcome export_cases(twin *t, const subject *s, int number, const indim_executable *exe,
                            const indim_buffer *object) {
  int exported = 0;
  bool ok = true;
  for (int c = 0; c < s->case_count && ok; c++) {
    leaves arguments = leaves_of_case(s, c);
    if (s->expected[c] == NULL) {
      continue;
    }
    FILE *file = open_in(number, c, "in", "wb");
    ok = file != NULL && export_case(t, s, &arguments, exe, file);
    ok = file != NULL && fclose(file) == 0 && ok;
    ok = ok || file != NULL || complain(t, "its files cannot be written");
    exported++;
  }
  FILE *file = ok && exported > 0 ? open_in(number, -1, "o", "wb") : NULL;
  if (file != NULL) {
    put(file, object->data, (int64_t)object->size);
    ok = fclose(file) == 0;
  }
  return ok ? OUTCOME_MADE : OUTCOME_FAILED;
}

// Makes the program, and executes or exports it.
static outcome make_one(twin *t, const subject *s, int number, const machine *m) {
  indim_executable *exe = NULL;
  indim_buffer object;
  indim_buffer_init(&object, s->cx);
  outcome o = make_for(t, s, m, &object, &exe);
  if (o != OUTCOME_FAILED) {
    add_count(s, m, o == OUTCOME_MADE ? COMPILED : REFUSED);
  }
  if (o == OUTCOME_MADE) {
    bool is_dynamic = indim_module_is_dynamic(s->module);  // sizes in buffers of their own, which the runner has not
    o = folder == NULL ? execute(t, s, m, exe) : is_dynamic ? OUTCOME_MADE : export_cases(t, s, number, exe, &object);
  }
  indim_executable_destroy(exe);
  indim_buffer_deinit(&object);
  return o;
}

// The results of a case as the runner wrote them, one leaf behind the other in the layout that the evaluator gives, too.
static bool compare_case(twin *t, const subject *s, int number, FILE *file) {
  leaves expected = {.count = 0};
  bool ok = true;
  leaves_add(&expected, s->expected[number]);
  for (int i = 0; i < expected.count && ok; i++) {
    size_t size = (size_t)indim_literal_bytes(expected.at[i]);
    void *bytes = malloc(size + 1);
    ok = bytes != NULL && (fread(bytes, 1, size, file) == size || complain(t, "its results are cut off"));
    ok = ok && check_leaf(t, s, number, i, &expected, indim_literal_shape(expected.at[i]), bytes);
    free(bytes);
  }
  return ok && (fgetc(file) == EOF || complain(t, "it left more than its results"));
}

static outcome compare_one(twin *t, const subject *s, int number, const machine *m) {
  FILE *object = open_in(number, -1, "o", "rb");
  bool ok = true;
  if (object == NULL) {
    return OUTCOME_NOTHING;
  }
  fclose(object);
  add_count(s, m, COMPILED);
  add_count(s, m, EXECUTED);
  for (int c = 0; c < s->case_count && ok; c++) {
    FILE *file = s->expected[c] == NULL ? NULL : open_in(number, c, "out", "rb");
    ok = s->expected[c] == NULL || (file != NULL ? compare_case(t, s, c, file) : complain(t, "it left no results"));
    if (file != NULL) {
      fclose(file);
    }
  }
  if (ok) {
    add_count(s, m, EQUAL);
  }
  return ok ? OUTCOME_MADE : OUTCOME_FAILED;
}

// All programs ----------------------------------------------------------------------------------------------------------

static void report(const twin *t, bool ok) {
  add(ok ? &shared->passed : &shared->failed);
  if (!ok) {
    printf("FAILED %s for %s: %s\n", item_now, machine_now, t->complaint);
  }
}

// What is refused for one target is for all.
static void visit_all(twin *t, const subject *s, int number) {
  int made = 0;
  int refused = 0;
  for (int i = 0; i < machine_count; i++) {
    const machine *m = &machines[i];
    int turn = s->item->kind == CORPUS_RANDOM ? number / m->every + i : number + i;
    if ((s->item->kind == CORPUS_RANDOM && number % m->every != 0) ||
        turn % machines_of != first_machine % machines_of) {
      continue;
    }
    machine_now = m->name;
    outcome o = is_compare ? compare_one(t, s, number, m) : make_one(t, s, number, m);
    made += o == OUTCOME_MADE;
    refused += o == OUTCOME_REFUSED;
    if (o == OUTCOME_REFUSED && made > 0) {
      o = OUTCOME_FAILED;
    } else if (o == OUTCOME_MADE && refused > 0) {
      o = complain(t, "it compiles, and not for another target") ? OUTCOME_MADE : OUTCOME_FAILED;
    }
    if (o != OUTCOME_NOTHING) {
      report(t, o != OUTCOME_FAILED);
    }
    indim_ctx_diagnostics_clear(s->cx);
  }
}

static void visit_item(twin *t, const item *i, int number) {
  static subject s;
  item_now = i->name;
  machine_now = "the evaluator";
  alarm(300);
  if (subject_make(&s, i)) {
    subject_evaluate(&s);
    visit_all(t, &s, number);
  } else if (!s.is_refused) {
    complain(t, "no program: %s", last_message(s.cx));
    report(t, false);
  }
  if (!subject_free(&s)) {
    machine_now = "all";
    complain(t, "memory is left");
    report(t, false);
  }
  release_guarded(t);
  alarm(0);
}

static int work(const corpus *c) {
  twin t;
  catch_signals(die);
  twin_init(&t);
  for (;;) {
    int number = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
    if (number >= c->count) {
      break;
    }
    if (number % items_of == first_item) {
      visit_item(&t, &c->items[number], number);
    }
  }
  twin_deinit(&t);
  return 0;
}

// In processes of their own, so that a crash costs one program.
static void work_together(const corpus *c, int processes) {
  for (int started = 0, running = 0; started < processes || running > 0;) {
    int status = 0;
    if (started < processes && running < MOST_PROCESSES) {
      fflush(stdout);
      pid_t pid = fork();
      if (pid == 0) {
        exit(work(c));
      }
      started++;
      running += pid > 0;
      continue;
    }
    running -= wait(&status) > 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      add(&shared->failed);
      processes += shared->next < c->count;
    }
  }
  if (shared->next < c->count) {
    printf("FAILED: not all programs were taken\n");
    add(&shared->failed);
  }
}

// What comes out of it --------------------------------------------------------------------------------------------------

static void print_table(void) {
  static const char *const kinds[CORPUS_KINDS] = {"tests/hlo", "tests/programs", "bench/programs", "random"};
  printf("%-13s", "");
  for (int k = 0; k < CORPUS_KINDS; k++) {
    printf(" | %-31s", kinds[k]);
  }
  printf("\n%-12s", "target");
  for (int k = 0; k < CORPUS_KINDS; k++) {
    printf(" | compiled executed equal refused");
  }
  printf("\n");
  for (int i = 0; i < machine_count; i++) {
    printf("%-13s", machines[i].name);
    for (int k = 0; k < CORPUS_KINDS; k++) {
      const int64_t *n = shared->counts[i][k];
      printf(" | %8lld %8lld %5lld %7lld", (long long)n[COMPILED], (long long)n[EXECUTED], (long long)n[EQUAL],
             (long long)n[REFUSED]);
    }
    printf("\n");
  }
}

static int run_corpus(const corpus *c) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  work_together(c, processors < 1 ? 1 : processors > MOST_PROCESSES ? MOST_PROCESSES : (int)processors);
  print_table();
  printf("%lld passed, %lld failed\n", (long long)shared->passed, (long long)shared->failed);
  return shared->failed > 0 || shared->passed == 0;
}

// Which targets ---------------------------------------------------------------------------------------------------------

// Whether this build makes code for it at all.
static bool is_built(const char *target) {
  const indim_compile_options options = {.target = target};
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  indim_executable *exe = NULL;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    abort();
  }
  static const char from[] = "ENTRY e { ROOT a = f32[] parameter(0) }";
  bool ok = indim_module_parse(cx, indim_str_of("text"), indim_str_of(from), &module) == INDIM_OK &&
            indim_module_verify(cx, module) == INDIM_OK && indim_compile(cx, module, &options, &exe) == INDIM_OK;
  indim_executable_destroy(exe);
  indim_module_destroy(module);
  indim_ctx_destroy(cx);
  return ok;
}

static void add_machine(const char *asked, const char *name, const char *target, int32_t crash_from) {
  bool is_wanted = asked == NULL || strcmp(asked, name) == 0;
  if (is_wanted && machine_count < MOST_MACHINES && is_built(target)) {
    bool is_slow = asked == NULL && strncmp(name, "riscv64", 7) == 0;
    machines[machine_count++] = (machine){name, target, crash_from, is_slow ? 3 : 1};
  } else if (is_wanted) {
    printf("this build makes no code for %s\n", name);
  }
}

// All, or the one that is asked for. For RISC-V without vectors code takes LLVM three times as long.
static void choose_machines(const char *asked) {
  enum { EVERY_VECTOR = 16 };  // bytes
  for (const indim_compile_target *t = indim_compile_targets() + 1; t->name != NULL; t++) {
    add_machine(asked, t->name, t->name, 0);
  }
  add_machine(asked, "plain", NULL, EVERY_VECTOR);
  add_machine(asked, "aarch64 plain", "aarch64", EVERY_VECTOR);
  add_machine(asked, "riscv64 plain", "riscv64", EVERY_VECTOR);
}

// "file" and "seed".
static int run_one(const char *word, const char *name, const char *target, corpus *c) {
  choose_machines(target);
  if (strcmp(word, "file") == 0) {
    corpus_add(c, strncmp(name, "tests/hlo/", 10) == 0 ? CORPUS_HLO : CORPUS_JAX, 0, name);
    return run_corpus(c);
  }
  choices any = {.state = 0};
  program p;
  corpus_add_seed(c, strtoull(name, NULL, 10));
  any.state = corpus_state(&c->items[0]);
  program_make(&p, &any);
  printf("%s", p.text);
  program_free(&p);
  return run_corpus(c);
}

// K/N in the environment, for every |of|th |what| from the |first| on.
static bool read_part(const char *name, const char *what, int *first, int *of) {
  const char *part = getenv(name);
  bool is_one = part == NULL || (sscanf(part, "%d/%d", first, of) == 2 && *of >= 1);
  if (!is_one) {
    fprintf(stderr, "%s is K/N: every Nth %s from the Kth on\n", name, what);
  }
  return is_one;
}

static int run(int argc, char **argv, corpus *c) {
  const char *word = argc > 1 ? argv[1] : "";
  int from = 1;
  if (argc > 2 && (strcmp(word, "file") == 0 || strcmp(word, "seed") == 0)) {
    return run_one(word, argv[2], argc > 3 ? argv[3] : NULL, c);
  }
  if (argc > 3 && (strcmp(word, "export") == 0 || strcmp(word, "compare") == 0)) {
    is_compare = word[0] == 'c';
    folder = argv[3];
    from = 4;
    if (!read_part("INDIM_PART", "program", &first_item, &items_of)) {
      return 4;
    }
  } else if (argc == 1) {
    machines_of = TEST_SAMPLE;
    if (!read_part("INDIM_TEST_PART", "processor of a program", &first_machine, &machines_of)) {
      return 4;  // as in tests/witness/_sample.py
    }
  }
  choose_machines(from == 4 ? argv[2] : NULL);
  uint64_t seeds = argc > from ? strtoull(argv[from], NULL, 10) : USUAL_SEEDS;
  corpus_fill(c, seeds, argc > from + 1 ? strtoull(argv[from + 1], NULL, 10) : 1);
  return run_corpus(c);
}

int main(int argc, char **argv) {
  corpus c = {0};
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (indim_compile_available(NULL) != INDIM_OK) {
    printf("this build has no code generator\n1 passed, 0 failed\n");
    return 0;
  }
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int code = shared == MAP_FAILED ? 4 : run(argc, argv, &c);
  corpus_free(&c);
  return code;
}
