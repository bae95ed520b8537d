// Programs for any machine, with arguments and with what they must give: those of tests/hlo, modules of JAX, those of the
// benchmark, and random ones.
//
//   corpus c = {0};
//   corpus_fill(&c, 100, 1);                 the files, and random programs with the seeds 1 to 100
//   if (subject_make(&s, &c.items[i])) {     parsed and verified, with the arguments of its cases
//     subject_evaluate(&s);                  what the cases must give, where that is not too much work
//   }
//   subject_free(&s);
#ifndef INDIM_TESTS_CORPUS_H
#define INDIM_TESTS_CORPUS_H

#include <math.h>

#include "hlo_files.h"
#include "twin.h"

typedef enum corpus_kind { CORPUS_HLO, CORPUS_JAX, CORPUS_BENCH, CORPUS_RANDOM, CORPUS_KINDS } corpus_kind;

typedef struct item {
  corpus_kind kind;
  uint64_t seed;  // of a random program
  char *name;     // "tests/hlo/op/add.hlo", "seed 7"
} item;

typedef struct corpus {
  item *items;
  int count;
} corpus;

typedef struct subject {
  const item *item;
  bool is_refused;  // it is there to be refused
  indim_ctx *cx;
  char *text;
  indim_module *module;
  int parameter_count;
  int case_count;
  indim_literal *arguments[MOST_CASES][PROGRAM_PARAMETERS];
  indim_literal *expected[MOST_CASES];  // NULL: not evaluated
  within near[PROGRAM_RESULTS];         // for each leaf of the result
  const char *without;                  // decisions of the compiler that are left out; NULL: none
  char names[200];                      // of them
} subject;

// The list --------------------------------------------------------------------------------------------------------------

static inline void corpus_add(corpus *c, corpus_kind kind, uint64_t seed, const char *name) {
  c->items = realloc(c->items, (size_t)(c->count + 1) * sizeof *c->items);
  char *copy = malloc(strlen(name) + 1);
  if (c->items == NULL || copy == NULL) {
    abort();
  }
  c->items[c->count++] = (item){kind, seed, strcpy(copy, name)};
}

static inline void corpus_add_seed(corpus *c, uint64_t seed) {
  char name[40];
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
  corpus_add(c, CORPUS_RANDOM, seed, name);
}

typedef struct corpus_folder {
  corpus *c;
  corpus_kind kind;
} corpus_folder;

static inline void corpus_add_file(const char *path, void *user) {
  const corpus_folder *folder = user;
  corpus_add(folder->c, folder->kind, 0, path);
}

// All programs below a folder, in the order of their names.
static inline void corpus_add_folder(corpus *c, corpus_kind kind, const char *path) {
  corpus_folder folder = {c, kind};
  hlo_each_file(path, corpus_add_file, &folder);
}

static inline void corpus_fill(corpus *c, uint64_t seeds, uint64_t first) {
  corpus_add_folder(c, CORPUS_HLO, "tests/hlo");
  corpus_add_folder(c, CORPUS_JAX, "tests/programs");
  corpus_add_folder(c, CORPUS_BENCH, "bench/programs");
  for (uint64_t seed = first; seed < first + seeds; seed++) {
    corpus_add_seed(c, seed);
  }
}

static inline void corpus_free(corpus *c) {
  for (int i = 0; i < c->count; i++) {
    free(c->items[i].name);
  }
  free(c->items);
}

// One program -----------------------------------------------------------------------------------------------------------

// The cases of a file of tests/hlo. False if it is one that is refused, or cannot be read.
static inline bool read_hlo(subject *s) {
  static hlo_file file;
  memset(&file, 0, sizeof file);
  file.path = s->item->name;
  file.text = hlo_read(file.path);
  if (file.text == NULL) {
    return false;
  }
  hlo_cases_read(&file);
  bool ok = file.error == NULL;
  s->is_refused = !ok;
  s->case_count = file.case_count;
  for (int c = 0; c < file.case_count && ok; c++) {
    s->parameter_count = file.cases[c].input_count;
    for (int i = 0; i < s->parameter_count && ok; i++) {
      ok = indim_literal_parse(s->cx, indim_str_of(file.cases[c].inputs[i]), &s->arguments[c][i]) == INDIM_OK;
    }
  }
  for (int i = 0; i < PROGRAM_RESULTS; i++) {
    s->near[i] = (within){.ulps = hlo_ulps(&file), .abs = file.compiled_abs};
  }
  s->text = file.text;
  file.text = NULL;
  hlo_cases_free(&file);
  return ok;
}

// One case of random arguments; none for a program that does not take such.
static inline void make_case(subject *s, choices *c, const program *p) {
  s->parameter_count = p->parameter_count;
  s->case_count = 1;
  for (int i = 0; i < p->parameter_count && s->case_count == 1; i++) {
    bool made = make_argument(s->cx, c, &p->parameters[i], p->any_values[i], &s->arguments[0][i]);
    s->case_count = made ? 1 : 0;
  }
  memcpy(s->near, p->results, sizeof s->near);
}

// Whether small differences grow without bound, so that results cannot be compared: a filter far from what it is made for.
static inline bool is_chaotic(const char *name) { return strstr(name, "/kalman_loop.hlo") != NULL; }

// Sums over any values come out differently in another order, so the arguments are small numbers; even so, some matrices of
// them are badly conditioned, and rows next to constant.
static inline bool read_module(subject *s) {
  enum { MOST_ELEMENTS = 1 << 19 };
  choices c = {.state = 1};
  program p;
  s->text = hlo_read(s->item->name);
  const within near = {.ulps = 4, .rel = 1e-4, .abs = 1e-4};
  if (s->text != NULL && !is_chaotic(s->item->name) && program_of_text(&p, s->text, near, MOST_ELEMENTS)) {
    memset(p.any_values, 0, sizeof p.any_values);
    make_case(s, &c, &p);
  }
  return s->text != NULL;
}

// What the choices of a random program begin with.
static inline uint64_t corpus_state(const item *i) { return i->seed * UINT64_C(0x5851F42D4C957F2D); }

static inline void make_random(subject *s) {
  choices c = {.state = corpus_state(s->item)};
  program p;
  program_make(&p, &c);
  s->text = p.text;
  make_case(s, &c, &p);
  s->without = any_decisions(&c, s->names);
}

// False if memory of its context is left.
static inline bool subject_free(subject *s) {
  for (int c = 0; c < s->case_count; c++) {
    for (int i = 0; i < PROGRAM_PARAMETERS; i++) {
      indim_literal_destroy(s->arguments[c][i]);
    }
    indim_literal_destroy(s->expected[c]);
  }
  indim_module_destroy(s->module);
  bool ok = indim_ctx_memory_in_use(s->cx) == 0;
  indim_ctx_destroy(s->cx);
  free(s->text);
  return ok;
}

// To be freed whatever comes of it. False if it is no program.
static inline bool subject_make(subject *s, const item *i) {
  bool ok = true;
  memset(s, 0, sizeof *s);
  s->item = i;
  if (indim_ctx_create(NULL, &s->cx) != INDIM_OK) {
    abort();
  }
  if (i->kind == CORPUS_HLO) {
    ok = read_hlo(s);
  } else if (i->kind == CORPUS_RANDOM) {
    make_random(s);
  } else {
    ok = read_module(s);
  }
  indim_ctx_diagnostics_clear(s->cx);
  return ok && indim_module_parse(s->cx, indim_str_of(i->name), indim_str_of(s->text), &s->module) == INDIM_OK &&
         indim_module_verify(s->cx, s->module) == INDIM_OK;
}

// What the cases must give ----------------------------------------------------------------------------------------------

static inline double elements_of(const indim_shape *shape) {
  double elements = 0;
  indim_shape_walk walk;
  indim_shape_walk_init(&walk, shape);
  while (indim_shape_walk_next_leaf(&walk)) {
    double leaf = indim_shape_is_array(walk.shape) ? 1 : 0;
    for (int32_t d = 0; leaf > 0 && d < walk.shape->rank; d++) {
      leaf *= (double)walk.shape->sizes[d];
    }
    elements += leaf;
  }
  return elements;
}

// About how many elements an instruction computes, products of matrices and windows counted by their multiplications.
static inline double work_of(const indim_instr *instr) {
  double elements = elements_of(indim_instr_shape(instr));
  indim_op op = indim_instr_op(instr);
  if (op == INDIM_OP_DOT || op == INDIM_OP_CONVOLUTION) {
    double lhs = elements_of(indim_instr_shape(indim_instr_operand(instr, 0)));
    double rhs = elements_of(indim_instr_shape(indim_instr_operand(instr, 1)));
    elements = op == INDIM_OP_DOT ? sqrt(elements * lhs * rhs) : elements * rhs;
  }
  return elements;
}

// The most work of one computation, each of its instructions run once.
static inline double most_work(const indim_module *module) {
  double most = 0;
  for (int64_t k = 0; k < indim_module_computation_count(module); k++) {
    const indim_computation *computation = indim_module_computation(module, k);
    double work = 0;
    for (int64_t i = 0; i < indim_computation_instr_count(computation); i++) {
      work += work_of(indim_computation_instr(computation, i));
    }
    most = work > most ? work : most;
  }
  return most;
}

static inline void subject_evaluate(subject *s) {
  static const double bearable = 3e6;  // elements
  double work = most_work(s->module);
  indim_eval_options options = {.max_steps = 200000};
  for (int c = 0; c < s->case_count && work < bearable; c++) {
    const indim_literal *const *given = (const indim_literal *const *)s->arguments[c];
    indim_status status = indim_eval(s->cx, s->module, given, s->parameter_count, &options, &s->expected[c]);
    s->expected[c] = status == INDIM_OK ? s->expected[c] : NULL;
  }
  indim_ctx_diagnostics_clear(s->cx);
}

// Leaves ----------------------------------------------------------------------------------------------------------------

// The arrays that literals consist of, in order.
typedef struct leaves {
  const indim_literal *at[PROGRAM_RESULTS];
  int count;
} leaves;

static inline void leaves_add(leaves *l, const indim_literal *literal) {
  const indim_shape *shape = indim_literal_shape(literal);
  if (indim_shape_is_tuple(shape)) {
    for (int64_t i = 0; i < shape->member_count; i++) {
      leaves_add(l, indim_literal_member(literal, i));
    }
  } else if (indim_shape_is_array(shape) && l->count < PROGRAM_RESULTS) {
    l->at[l->count++] = literal;
  }
}

static inline leaves leaves_of_case(const subject *s, int number) {
  leaves l = {.count = 0};
  for (int i = 0; i < s->parameter_count; i++) {
    leaves_add(&l, s->arguments[number][i]);
  }
  return l;
}

#endif  // INDIM_TESTS_CORPUS_H
