// Rules about what is computed for nobody, computed twice, or computed by more than it takes.
#include <stdlib.h>
#include <string.h>

#include "lint.h"

// Nobody's values -------------------------------------------------------------------------------------------------------

void lint_unread_parameter(lint *l) {
  const indim_computation *entry = indim_module_entry(l->t.module);
  for (int64_t i = 0; i < indim_computation_parameter_count(entry); i++) {
    int64_t number = value_number(&l->t, entry, indim_computation_parameter(entry, i));
    if (user_count(&l->t, number) == 0 && number != lint_entry_root(l)) {
      lint_add(l, RULE_unread_parameter, number, lint_bytes(lint_shape_of(l, number)), "nothing reads %s %s",
               lint_name(l, number), lint_shape(l, number).text);
    }
  }
}

static bool has_effect(indim_op op) {
  switch ((int)op) {
  case INDIM_OP_PARAMETER:
  case INDIM_OP_CUSTOM_CALL:
  case INDIM_OP_INFEED:
  case INDIM_OP_OUTFEED:
  case INDIM_OP_SEND:
  case INDIM_OP_SEND_DONE:
  case INDIM_OP_RECV:
  case INDIM_OP_RECV_DONE:
  case INDIM_OP_RNG_GET_AND_UPDATE_STATE:
  case INDIM_OP_ALL_REDUCE:
  case INDIM_OP_AFTER_ALL:
  case INDIM_OP_CALL:
  case INDIM_OP_WHILE:
  case INDIM_OP_CONDITIONAL:
    return true;  // or what they call may have
  default:
    return false;
  }
}

// Whether it is what its computation, or the one that it is inlined into, returns.
static bool is_root(const lint *l, int64_t number) {
  const indim_computation *c = indim_module_computation(l->t.module, l->t.owner[number]);
  return value_number(&l->t, c, indim_computation_root(c)) == number;
}

// Nothing is computed for these.
static bool is_plumbing(indim_op op) {
  return op == INDIM_OP_GET_TUPLE_ELEMENT || op == INDIM_OP_TUPLE || op == INDIM_OP_CONSTANT || op == INDIM_OP_IOTA ||
         op == INDIM_OP_BROADCAST || op == INDIM_OP_RESHAPE || op == INDIM_OP_BITCAST;
}

void lint_dead_instruction(lint *l) {
  for (int64_t i = 0; i < l->t.count; i++) {
    if (user_count(&l->t, i) == 0 && !is_root(l, i) && !has_effect(lint_op(l, i)) && !is_plumbing(lint_op(l, i))) {
      lint_add(l, RULE_dead_instruction, i, lint_bytes(lint_shape_of(l, i)), "nobody uses %s %s", lint_name(l, i),
               lint_shape(l, i).text);
    }
  }
}

void lint_duplicate_output(lint *l) {
  int64_t root = lint_entry_root(l);
  int64_t count = lint_op(l, root) == INDIM_OP_TUPLE ? operand_count(&l->t, root) : 0;
  int64_t *first = must_alloc(((size_t)l->t.count + 1) * sizeof *first);  // where an instruction is returned, plus one
  memset(first, 0, ((size_t)l->t.count + 1) * sizeof *first);
  for (int64_t k = 0; k < count; k++) {
    int64_t number = operand_number(&l->t, root, k);
    if (first[number] != 0) {
      lint_add(l, RULE_duplicate_output, number, lint_bytes(lint_shape_of(l, number)),
               "results %lld and %lld are both %s %s", (long long)first[number] - 1, (long long)k, lint_name(l, number),
               lint_shape(l, number).text);
    } else {
      first[number] = k + 1;
    }
  }
  free(first);
}

void lint_constant_output(lint *l) {
  int64_t root = lint_entry_root(l);
  bool is_tuple = lint_op(l, root) == INDIM_OP_TUPLE;
  int64_t count = is_tuple ? operand_count(&l->t, root) : 1;
  for (int64_t k = 0; k < count; k++) {
    int64_t number = is_tuple ? operand_number(&l->t, root, k) : root;
    double bytes = lint_bytes(lint_shape_of(l, number));
    if (!l->depends[number] && bytes >= l->least_bytes) {
      lint_add(l, RULE_constant_output, number, bytes, "result %lld, %s %s, is the same in each run", (long long)k,
               lint_name(l, number), lint_shape(l, number).text);
    }
  }
}

// Which elements of the state reach others in one iteration: a row of bits for each instruction of the body.
enum { MOST_CARRIED = 64 };

static int64_t state_index(const indim_instr *gte) {
  const int64_t *index = NULL;
  return indim_instr_numbers(gte, "index", &index) == 1 ? *index : -1;
}

// The elements of the parameter that the instructions of a computation depend on; all of them where it is used whole.
static uint64_t *spread_state(const lint *l, int64_t c) {
  int64_t first = l->t.first[c];
  uint64_t *reach = must_alloc(((size_t)(l->t.last[c] - first) + 1) * sizeof *reach);
  for (int64_t i = first; i < l->t.last[c]; i++) {
    reach[i - first] = 0;
    for (int64_t k = 0; k < operand_count(&l->t, i); k++) {
      int64_t operand = operand_number(&l->t, i, k);
      bool is_state = lint_op(l, operand) == INDIM_OP_PARAMETER;
      bool is_part = is_state && lint_op(l, i) == INDIM_OP_GET_TUPLE_ELEMENT;
      reach[i - first] |= is_part    ? (uint64_t)1 << (state_index(l->t.instrs[i]) & 63)
                          : is_state ? ~(uint64_t)0
                                     : reach[operand - first];
    }
  }
  return reach;
}

// Of the state of the loop |number|, what is read behind it.
static uint64_t read_behind(const lint *l, int64_t number) {
  uint64_t needed = user_count(&l->t, number) == 0 ? ~(uint64_t)0 : 0;  // it is the result
  for (int64_t u = l->t.users_begin[number]; u < l->t.users_begin[number + 1]; u++) {
    int64_t user = l->t.users[u];
    bool is_read = user_count(&l->t, user) > 0 || is_root(l, user);
    needed |= lint_op(l, user) != INDIM_OP_GET_TUPLE_ELEMENT ? ~(uint64_t)0
              : is_read                                      ? (uint64_t)1 << (state_index(l->t.instrs[user]) & 63)
                                                             : 0;
  }
  return needed;
}

// What is needed: behind the loop, by the condition, by what has effects, and by what is needed itself in the next iteration.
static uint64_t needed_state(const lint *l, int64_t number, int64_t condition, int64_t body, int64_t condition_root,
                             int64_t root) {
  uint64_t *in_condition = spread_state(l, condition);
  uint64_t *in_body = spread_state(l, body);
  int64_t first = l->t.first[body];
  uint64_t needed = read_behind(l, number) | in_condition[condition_root - l->t.first[condition]];
  for (int64_t i = first; i < l->t.last[body]; i++) {
    needed |= has_effect(lint_op(l, i)) && lint_op(l, i) != INDIM_OP_PARAMETER ? in_body[i - first] : 0;
  }
  for (uint64_t before = ~needed; before != needed;) {
    before = needed;
    for (int64_t k = 0; k < operand_count(&l->t, root); k++) {
      needed |= (needed >> k & 1) != 0 ? in_body[operand_number(&l->t, root, k) - first] : 0;
    }
  }
  free(in_condition);
  free(in_body);
  return needed;
}

static void check_while(lint *l, int64_t number) {
  const indim_instr *loop = l->t.instrs[number];
  const indim_computation *c = indim_instr_called(loop, 0);
  const indim_computation *b = indim_instr_called(loop, 1);
  int64_t count = indim_instr_shape(loop)->member_count;
  if (!indim_shape_is_tuple(indim_instr_shape(loop)) || count > MOST_CARRIED || b == NULL) {
    return;
  }
  int64_t root = value_number(&l->t, b, indim_computation_root(b));
  int64_t condition_root = value_number(&l->t, c, indim_computation_root(c));
  if (lint_op(l, root) != INDIM_OP_TUPLE) {
    return;
  }
  uint64_t needed =
      needed_state(l, number, indim_computation_index(c), indim_computation_index(b), condition_root, root);
  for (int64_t k = 0; k < count; k++) {
    int64_t next = operand_number(&l->t, root, k);
    bool is_kept = lint_op(l, next) == INDIM_OP_GET_TUPLE_ELEMENT && state_index(l->t.instrs[next]) == k &&
                   lint_op(l, operand_number(&l->t, next, 0)) == INDIM_OP_PARAMETER;
    // A counter beside the loop's own costs nothing: lax.fori_loop has one whether the body uses it or not.
    bool is_counter = lint_shape_of(l, next)->rank == 0 && indim_type_is_integral(lint_shape_of(l, next)->type);
    if ((needed >> k & 1) == 0 && !is_kept && !is_counter) {
      lint_add(l, RULE_dead_carry, number, lint_bytes(lint_shape_of(l, next)),
               "element %lld of the state, %s which %s computes, is read by nobody", (long long)k,
               lint_shape(l, next).text, lint_name(l, next));
    }
  }
}

void lint_dead_carry(lint *l) {
  for (int64_t i = 0; i < l->t.count; i++) {
    if (lint_op(l, i) == INDIM_OP_WHILE) {
      check_while(l, i);
    }
  }
}

// More than it takes ----------------------------------------------------------------------------------------------------

void lint_gather_is_slice(lint *l) {
  for (int64_t i = 0; i < l->t.count; i++) {
    double bytes = lint_bytes(lint_shape_of(l, i));
    if (lint_op(l, i) != INDIM_OP_GATHER || bytes < l->least_bytes) {
      continue;
    }
    int64_t indices = operand_number(&l->t, i, 1);
    const indim_shape *shape = lint_shape_of(l, indices);
    const int64_t *dim = NULL;
    bool has_dim = indim_instr_numbers(l->t.instrs[i], "index_vector_dim", &dim) == 1 && *dim < shape->rank;
    int64_t count = indim_shape_element_count(shape);
    count = has_dim && shape->sizes[*dim] > 0 ? count / shape->sizes[*dim] : count;
    if (!l->depends[indices]) {
      lint_add(l, RULE_gather_is_slice, i, bytes, "%lld %s known before the program runs", (long long)count,
               count == 1 ? "index of this gather, which is" : "indices of this gather, which are");
    } else if (count == 1) {
      lint_add(l, RULE_gather_is_slice, i, bytes, "a gather of one slice, %s", lint_shape(l, i).text);
    }
  }
}

// The largest part of a sorted dimension that a user reads; the whole of it unless it is a slice.
static int64_t part_read(const lint *l, int64_t user, int64_t dim, int64_t size) {
  const int64_t *slice = NULL;
  int64_t count = indim_instr_numbers(l->t.instrs[user], "slice", &slice);
  if (lint_op(l, user) != INDIM_OP_SLICE || count < 3 * (dim + 1)) {
    return size;
  }
  return slice[3 * dim + 1] - slice[3 * dim];
}

void lint_sort_for_few(lint *l) {
  enum { LEAST_SIZE = 256 };
  for (int64_t i = 0; i < l->t.count; i++) {
    const int64_t *dim = NULL;
    if (lint_op(l, i) != INDIM_OP_SORT || indim_instr_numbers(l->t.instrs[i], "dimensions", &dim) != 1) {
      continue;
    }
    const indim_shape *shape = lint_shape_of(l, operand_number(&l->t, i, 0));
    int64_t size = shape->sizes[*dim];
    int64_t most = 0;
    for (int64_t u = l->t.users_begin[i]; u < l->t.users_begin[i + 1]; u++) {
      int64_t user = l->t.users[u];
      if (lint_op(l, user) != INDIM_OP_GET_TUPLE_ELEMENT) {
        int64_t part = part_read(l, user, *dim, size);
        most = part > most ? part : most;
        continue;
      }
      for (int64_t v = l->t.users_begin[user]; v < l->t.users_begin[user + 1]; v++) {
        int64_t part = part_read(l, l->t.users[v], *dim, size);
        most = part > most ? part : most;
      }
    }
    if (most > 0 && size >= LEAST_SIZE && most <= size / 4) {
      lint_add(l, RULE_sort_for_few, i, lint_bytes(shape), "%lld of %lld sorted elements are read", (long long)most,
               (long long)size);
    }
  }
}

// Whether |result| depends on |parameter|, both of the entry.
static bool reaches(const lint *l, int64_t result, int64_t parameter, bool *is_seen) {
  int64_t first = l->t.first[l->t.owner[result]];
  memset(is_seen, 0, (size_t)l->t.count * sizeof *is_seen);
  is_seen[result] = true;
  for (int64_t i = result; i > first && i > parameter; i--) {
    for (int64_t k = 0; is_seen[i] && k < operand_count(&l->t, i); k++) {
      is_seen[operand_number(&l->t, i, k)] = true;
    }
  }
  return is_seen[parameter];
}

// Results in the order of the parameters whose new versions they may be: of the same shape, and computed from them.
void lint_state_not_donated(lint *l) {
  enum { LEAST_PAIRS = 2, MOST_PAIRS = 64 };
  const double least = 1 << 20;
  const indim_computation *entry = indim_module_entry(l->t.module);
  int64_t root = lint_entry_root(l);
  bool has_alias = indim_module_header(l->t.module, "input_output_alias").size > 0 ||
                   indim_module_header(l->t.module, "buffer_donor").size > 0;
  if (lint_op(l, root) != INDIM_OP_TUPLE || has_alias) {
    return;
  }
  bool *is_seen = must_alloc((size_t)l->t.count + 1);
  double bytes = 0;
  int64_t pairs = 0;
  int64_t next = 0;
  for (int64_t k = 0; k < operand_count(&l->t, root) && pairs < MOST_PAIRS; k++) {
    int64_t result = operand_number(&l->t, root, k);
    for (int64_t p = next; p < indim_computation_parameter_count(entry); p++) {
      int64_t parameter = value_number(&l->t, entry, indim_computation_parameter(entry, p));
      if (indim_shape_equal(lint_shape_of(l, result), lint_shape_of(l, parameter), 0) &&
          lint_bytes(lint_shape_of(l, result)) > 0 && lint_shape_of(l, result)->rank > 0 && result != parameter &&
          reaches(l, result, parameter, is_seen)) {
        bytes += lint_bytes(lint_shape_of(l, result));
        pairs++;
        next = p + 1;
        break;
      }
    }
  }
  free(is_seen);
  if (pairs >= LEAST_PAIRS && bytes >= least) {
    lint_add(l, RULE_state_not_donated, root, bytes,
             "%lld results are of the shapes of parameters that they are computed from", (long long)pairs);
  }
}
