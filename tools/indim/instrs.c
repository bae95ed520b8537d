// Tables of instructions: a walk over the computations that makes a row for each instruction, and the users from the operands.
#include "instrs.h"

#include <stdlib.h>
#include <string.h>

static void *zeroed(int64_t count, size_t size) {
  void *memory = must_alloc(((size_t)count + 1) * size);
  memset(memory, 0, ((size_t)count + 1) * size);
  return memory;
}

int64_t operand_count(const instr_table *t, int64_t number) {
  return t->operands_begin[number + 1] - t->operands_begin[number];
}

int64_t operand_number(const instr_table *t, int64_t user, int64_t k) {
  return t->operands[t->operands_begin[user] + k];
}

int64_t user_count(const instr_table *t, int64_t number) { return t->users_begin[number + 1] - t->users_begin[number]; }

int64_t value_number(const instr_table *t, const indim_computation *computation, const indim_instr *instr) {
  int64_t place = t->places[indim_computation_index(computation)];
  return place < 0 ? -1 : t->values[place + indim_instr_index(instr)];
}

// Making ----------------------------------------------------------------------------------------------------------------

enum { MOST_DEPTH = 100, MOST_GROWTH = 8, SMALL = 1000 };

typedef struct maker {
  instr_table *t;
  int64_t capacity, operand_capacity;
  int64_t most;  // instructions, from where on nothing is inlined
  int64_t section;
} maker;

static void *grown(void *list, int64_t count, int64_t capacity, size_t size) {
  void *larger = must_alloc((size_t)capacity * size);
  if (count > 0) {
    memcpy(larger, list, (size_t)count * size);
  }
  free(list);
  return larger;
}

static int64_t add_row(maker *m, const indim_instr *instr, const int64_t *values) {
  instr_table *t = m->t;
  int64_t operands = indim_instr_operand_count(instr);
  int64_t end = t->count == 0 ? 0 : t->operands_begin[t->count];
  if (t->count + 2 > m->capacity) {
    m->capacity = 2 * m->capacity + 64;
    t->instrs = grown((void *)t->instrs, t->count, m->capacity, sizeof *t->instrs);
    t->owner = grown(t->owner, t->count, m->capacity, sizeof *t->owner);
    t->operands_begin =
        grown(t->operands_begin, t->count == 0 ? 0 : t->count + 1, m->capacity, sizeof *t->operands_begin);
  }
  if (end + operands > m->operand_capacity) {
    m->operand_capacity = 2 * (end + operands) + 64;
    t->operands = grown(t->operands, end, m->operand_capacity, sizeof *t->operands);
  }
  for (int64_t k = 0; k < operands; k++) {
    t->operands[end + k] = values[indim_instr_index(indim_instr_operand(instr, k))];
  }
  t->instrs[t->count] = instr;
  t->owner[t->count] = m->section;
  t->operands_begin[t->count] = end;
  t->operands_begin[t->count + 1] = end + operands;
  return t->count++;
}

static void add_body(maker *m, const indim_computation *computation, const int64_t *arguments, int64_t *values,
                     int depth);

static bool is_inlined(const maker *m, const indim_instr *instr, int depth) {
  indim_op op = indim_instr_op(instr);
  return (op == INDIM_OP_CALL || op == INDIM_OP_FUSION) && indim_instr_called_count(instr) == 1 && depth < MOST_DEPTH &&
         m->t->count < m->most;
}

static int64_t add_call(maker *m, const indim_instr *call, const int64_t *values, int depth) {
  const indim_computation *callee = indim_instr_called(call, 0);
  int64_t operands = indim_instr_operand_count(call);
  int64_t *arguments = zeroed(operands, sizeof *arguments);
  int64_t *inner = zeroed(indim_computation_instr_count(callee), sizeof *inner);
  for (int64_t k = 0; k < operands; k++) {
    arguments[k] = values[indim_instr_index(indim_instr_operand(call, k))];
  }
  add_body(m, callee, arguments, inner, depth + 1);
  int64_t result = inner[indim_instr_index(indim_computation_root(callee))];
  free(arguments);
  free(inner);
  return result;
}

// The element of a tuple that is known; -1 if it is not.
static int64_t known_element(const maker *m, const indim_instr *instr, const int64_t *values) {
  const int64_t *index = NULL;
  if (indim_instr_op(instr) != INDIM_OP_GET_TUPLE_ELEMENT || indim_instr_numbers(instr, "index", &index) != 1) {
    return -1;
  }
  int64_t tuple = values[indim_instr_index(indim_instr_operand(instr, 0))];
  bool is_known = indim_instr_op(m->t->instrs[tuple]) == INDIM_OP_TUPLE && *index < operand_count(m->t, tuple);
  return is_known ? operand_number(m->t, tuple, *index) : -1;
}

// Recurses to MOST_DEPTH. |arguments|: of a call; NULL: the computation stands for itself.
static void add_body(maker *m, const indim_computation *computation, const int64_t *arguments, int64_t *values,
                     int depth) {
  for (int64_t i = 0; i < indim_computation_instr_count(computation); i++) {
    const indim_instr *instr = indim_computation_instr(computation, i);
    bool inlines = m->most > 0;
    int64_t element = inlines ? known_element(m, instr, values) : -1;
    if (arguments != NULL && indim_instr_op(instr) == INDIM_OP_PARAMETER) {
      values[i] = arguments[indim_instr_parameter_number(instr)];
    } else if (element >= 0) {
      values[i] = element;
    } else if (is_inlined(m, instr, depth)) {
      values[i] = add_call(m, instr, values, depth);
    } else {
      values[i] = add_row(m, instr, values);
    }
  }
}

// Counts the users of each, then fills in who they are.
static void list_users(instr_table *t) {
  t->users_begin = zeroed(t->count + 1, sizeof *t->users_begin);
  int64_t total = t->count == 0 ? 0 : t->operands_begin[t->count];
  t->users = zeroed(total, sizeof *t->users);
  for (int64_t k = 0; k < total; k++) {
    t->users_begin[t->operands[k] + 1]++;
  }
  for (int64_t i = 0; i < t->count; i++) {
    t->users_begin[i + 1] += t->users_begin[i];
  }
  for (int64_t i = 0; i < t->count; i++) {
    for (int64_t k = 0; k < operand_count(t, i); k++) {
      t->users[t->users_begin[operand_number(t, i, k)]++] = i;
    }
  }
  for (int64_t i = t->count; i > 0; i--) {  // each begins where the next one did
    t->users_begin[i] = t->users_begin[i - 1];
  }
  t->users_begin[0] = 0;
}

// Computations that something else than a call refers to: the entry, bodies of loops, reducers.
static bool *list_sections(const indim_module *module, bool inlines) {
  int64_t computations = indim_module_computation_count(module);
  bool *is_section = zeroed(computations, sizeof *is_section);
  is_section[indim_computation_index(indim_module_entry(module))] = true;
  for (int64_t c = 0; c < computations; c++) {
    const indim_computation *computation = indim_module_computation(module, c);
    is_section[c] = is_section[c] || !inlines;
    for (int64_t i = 0; i < indim_computation_instr_count(computation); i++) {
      const indim_instr *instr = indim_computation_instr(computation, i);
      bool is_call = indim_instr_op(instr) == INDIM_OP_CALL || indim_instr_op(instr) == INDIM_OP_FUSION;
      for (int64_t k = 0; k < indim_instr_called_count(instr) && !is_call; k++) {
        is_section[indim_computation_index(indim_instr_called(instr, k))] = true;
      }
    }
  }
  return is_section;
}

static void fill(instr_table *t, const indim_module *module, bool inlines) {
  int64_t computations = indim_module_computation_count(module);
  bool *is_section = list_sections(module, inlines);
  maker m = {.t = t, .most = inlines ? MOST_GROWTH * indim_module_instr_count(module) + SMALL : 0};
  *t = (instr_table){.module = module};
  t->operands_begin = zeroed(1, sizeof *t->operands_begin);
  t->first = zeroed(computations, sizeof *t->first);
  t->last = zeroed(computations, sizeof *t->last);
  t->places = zeroed(computations, sizeof *t->places);
  t->values = zeroed(indim_module_instr_count(module), sizeof *t->values);
  int64_t place = 0;
  for (int64_t c = 0; c < computations; c++) {
    const indim_computation *computation = indim_module_computation(module, c);
    t->first[c] = t->last[c] = t->count;
    t->places[c] = is_section[c] ? place : -1;
    if (is_section[c]) {
      m.section = c;
      add_body(&m, computation, NULL, t->values + place, 0);
      t->last[c] = t->count;
      place += indim_computation_instr_count(computation);
    }
  }
  free(is_section);
  list_users(t);
}

void instr_table_fill(instr_table *t, const indim_module *module) { fill(t, module, false); }
void instr_table_fill_inlined(instr_table *t, const indim_module *module) { fill(t, module, true); }

void instr_table_free(instr_table *t) {
  free((void *)t->instrs);
  free(t->owner);
  free(t->operands_begin);
  free(t->operands);
  free(t->users_begin);
  free(t->users);
  free(t->first);
  free(t->last);
  free(t->places);
  free(t->values);
}
