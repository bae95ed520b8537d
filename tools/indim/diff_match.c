// Which instruction of one program is which of another. Names do not decide, as front ends number them anew. In this order:
// equal expressions (hashes of op, shape, attributes and operands, from the leaves up); then neighbours of those that are
// matched, users by their operands and operands by their users; then names; then what stands in order among the like;
// at last what has the same users, whatever its op. Computations follow the instructions that call them, then what they
// compute, then their names. Each step looks at every instruction once or a few times.
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "indim/text.h"

// Sides -----------------------------------------------------------------------------------------------------------------

static void *zeroed(int64_t count, size_t size) {
  void *memory = must_alloc(((size_t)count + 1) * size);
  memset(memory, 0, ((size_t)count + 1) * size);
  return memory;
}

static void fill_side(diff_side *s, const indim_module *module) {
  int64_t computations = indim_module_computation_count(module);
  instr_table_fill(&s->t, module);
  s->exact = zeroed(s->t.count, sizeof *s->exact);
  s->loose = zeroed(s->t.count, sizeof *s->loose);
  s->computations = zeroed(computations, sizeof *s->computations);
  s->partner = zeroed(s->t.count, sizeof *s->partner);
  s->computation_partner = zeroed(computations, sizeof *s->computation_partner);
  for (int64_t i = 0; i < s->t.count; i++) {
    s->partner[i] = -1;
  }
  for (int64_t i = 0; i < computations; i++) {
    s->computation_partner[i] = -1;
  }
}

void diff_side_free(diff_side *s) {
  instr_table_free(&s->t);
  free(s->exact);
  free(s->loose);
  free(s->computations);
  free(s->partner);
  free(s->computation_partner);
}

// Hashes ----------------------------------------------------------------------------------------------------------------

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, at, sizeof word);
    hash = mix(hash, word);
  }
  uint64_t rest = size;
  for (size_t i = 0; i < size; i++) {
    rest = rest << 8 | at[i];
  }
  return mix(hash, rest);
}

static uint64_t mix_literal(uint64_t hash, const indim_literal *literal) {
  if (indim_literal_is_elided(literal)) {
    return mix(hash, 1);
  }
  if (indim_literal_data(literal) != NULL) {
    return mix_bytes(hash, indim_literal_data(literal), (size_t)indim_literal_bytes(literal));
  }
  for (int64_t i = 0; indim_literal_member(literal, i) != NULL; i++) {
    hash = mix_literal(mix(hash, (uint64_t)i), indim_literal_member(literal, i));
  }
  return hash;
}

static uint64_t mix_shape(uint64_t hash, const indim_shape *shape, bool with_layout, indim_buffer *text) {
  indim_buffer_clear(text);
  indim_shape_print(shape, with_layout, text);
  return mix_bytes(hash, text->data, text->size);
}

// What is the same in all places: not the operands.
static uint64_t own_hash(const diff_side *s, int64_t i, bool is_exact, indim_buffer *text) {
  const indim_instr *instr = s->t.instrs[i];
  indim_str target = indim_instr_call_target(instr);
  uint64_t hash = mix(17, (uint64_t)indim_instr_op(instr));
  hash = mix(hash, (uint64_t)indim_instr_parameter_number(instr));
  hash = mix_bytes(hash, target.data, target.size);
  if (indim_instr_literal(instr) != NULL) {
    hash = mix_literal(hash, indim_instr_literal(instr));
  }
  hash = mix_shape(hash, indim_instr_shape(instr), is_exact, text);
  if (is_exact) {
    indim_buffer_clear(text);
    indim_instr_attributes_print(instr, INDIM_PRINT_NO_REFERENCES, text);
    hash = mix_bytes(hash, text->data, text->size);
  }
  for (int64_t k = 0; k < indim_instr_called_count(instr); k++) {
    hash = mix(hash, s->computations[indim_computation_index(indim_instr_called(instr, k))]);
  }
  return hash;
}

// Operands stand before their users, and called computations before their callers.
static indim_status hash_all(indim_ctx *cx, diff_side *s) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_buffer_text(&text, " ");
  for (int64_t i = 0; i < s->t.count && text.status == INDIM_OK; i++) {
    uint64_t exact = own_hash(s, i, true, &text);
    uint64_t loose = own_hash(s, i, false, &text);
    for (int64_t k = 0; k < indim_instr_operand_count(s->t.instrs[i]); k++) {
      exact = mix(exact, s->exact[operand_number(&s->t, i, k)]);
      loose = mix(loose, s->loose[operand_number(&s->t, i, k)]);
    }
    s->exact[i] = exact;
    s->loose[i] = loose;
    bool is_root = indim_computation_root(indim_module_computation(s->t.module, s->t.owner[i])) == s->t.instrs[i];
    s->computations[s->t.owner[i]] += is_root ? mix(exact, 3) : exact;  // in any order
  }
  indim_status status = text.status;
  indim_buffer_deinit(&text);
  return status;
}

// Matching --------------------------------------------------------------------------------------------------------------

typedef struct matcher {
  indim_ctx *cx;
  diff_side *a, *b;
  int64_t *queue;  // matched instructions of a whose neighbours are to be looked at
  int64_t queue_begin, queue_end;
  int64_t *computations;  // likewise, computations of a
  int64_t computation_count;
} matcher;

static void match_computations(matcher *m, int64_t a, int64_t b) {
  if (m->a->computation_partner[a] < 0 && m->b->computation_partner[b] < 0) {
    m->a->computation_partner[a] = b;
    m->b->computation_partner[b] = a;
    m->computations[m->computation_count++] = a;
  }
}

static bool is_free(const matcher *m, int64_t a, int64_t b) { return m->a->partner[a] < 0 && m->b->partner[b] < 0; }

static void match(matcher *m, int64_t a, int64_t b) {
  if (!is_free(m, a, b)) {
    return;
  }
  m->a->partner[a] = b;
  m->b->partner[b] = a;
  m->queue[m->queue_end++] = a;
  int64_t called = indim_instr_called_count(m->a->t.instrs[a]);
  if (called == indim_instr_called_count(m->b->t.instrs[b])) {
    for (int64_t k = 0; k < called; k++) {
      match_computations(m, indim_computation_index(indim_instr_called(m->a->t.instrs[a], k)),
                         indim_computation_index(indim_instr_called(m->b->t.instrs[b], k)));
    }
  }
}

static indim_op op_of(const diff_side *s, int64_t i) { return indim_instr_op(s->t.instrs[i]); }

static bool is_same_name(const matcher *m, int64_t a, int64_t b) {
  return indim_str_equal(indim_instr_name(m->a->t.instrs[a]), indim_instr_name(m->b->t.instrs[b]));
}

static bool is_commutative(indim_op op) {
  return op == INDIM_OP_ADD || op == INDIM_OP_MULTIPLY || op == INDIM_OP_MAXIMUM || op == INDIM_OP_MINIMUM ||
         op == INDIM_OP_AND || op == INDIM_OP_OR || op == INDIM_OP_XOR;
}

// Operands of partners, at the same places; of commutative ops, crosswise too if only so their ops agree.
static void match_operands(matcher *m, int64_t a) {
  int64_t b = m->a->partner[a];
  int64_t count = indim_instr_operand_count(m->a->t.instrs[a]);
  if (count != indim_instr_operand_count(m->b->t.instrs[b])) {
    return;
  }
  bool crosses = false;
  if (count == 2 && is_commutative(op_of(m->a, a))) {
    int64_t x[] = {operand_number(&m->a->t, a, 0), operand_number(&m->a->t, a, 1)};
    int64_t y[] = {operand_number(&m->b->t, b, 0), operand_number(&m->b->t, b, 1)};
    bool is_straight = m->a->partner[x[0]] == y[0] || m->a->partner[x[1]] == y[1];
    crosses = !is_straight &&
              (m->a->partner[x[0]] == y[1] || m->a->partner[x[1]] == y[0] || op_of(m->a, x[0]) != op_of(m->b, y[0]));
  }
  for (int64_t k = 0; k < count; k++) {
    int64_t x = operand_number(&m->a->t, a, k);
    int64_t y = operand_number(&m->b->t, b, crosses ? 1 - k : k);
    if (op_of(m->a, x) == op_of(m->b, y)) {
      match(m, x, y);
    }
  }
}

// How many operands of a free pair are partners.
static int64_t agreement(const matcher *m, int64_t a, int64_t b) {
  int64_t count = indim_instr_operand_count(m->a->t.instrs[a]);
  int64_t agree = 0;
  if (count != indim_instr_operand_count(m->b->t.instrs[b])) {
    return 0;
  }
  for (int64_t k = 0; k < count; k++) {
    agree += m->a->partner[operand_number(&m->a->t, a, k)] == operand_number(&m->b->t, b, k);
  }
  return agree;
}

// Users of partners: the best free one of the same op for each, among the first some.
static void match_users(matcher *m, int64_t a) {
  enum { MOST = 24 };
  int64_t b = m->a->partner[a];
  int64_t last = m->a->t.users_begin[a + 1];
  last = last > m->a->t.users_begin[a] + MOST ? m->a->t.users_begin[a] + MOST : last;
  for (int64_t u = m->a->t.users_begin[a]; u < last; u++) {
    int64_t x = m->a->t.users[u];
    int64_t best = -1, best_score = 0;
    for (int64_t v = m->b->t.users_begin[b]; v < m->b->t.users_begin[b + 1] && v < m->b->t.users_begin[b] + MOST; v++) {
      int64_t y = m->b->t.users[v];
      if (is_free(m, x, y) && op_of(m->a, x) == op_of(m->b, y)) {
        int64_t score = 4 * agreement(m, x, y) + 2 * (m->a->loose[x] == m->b->loose[y]) + is_same_name(m, x, y) + 1;
        best = score > best_score ? y : best;
        best_score = score > best_score ? score : best_score;
      }
    }
    if (best >= 0) {
      match(m, x, best);
    }
  }
}

static void spread(matcher *m) {
  while (m->queue_begin < m->queue_end) {
    int64_t a = m->queue[m->queue_begin++];
    match_operands(m, a);
    match_users(m, a);
  }
}

// By keys: what is free on both sides and has equal keys, in order. If |counts|, only where there are as many of a key on
// both sides, and else those of the same name.
typedef struct keyed {
  uint64_t key;
  int64_t number;
} keyed;

static int compare_keys(const void *a, const void *b) {
  const keyed *x = a;
  const keyed *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->number > y->number) - (x->number < y->number);
}

typedef uint64_t key_fn(const diff_side *s, int64_t i);

static int64_t list_keys(const diff_side *s, int64_t computation, key_fn *key, keyed *out) {
  int64_t count = 0;
  int64_t end =
      s->t.first[computation] + indim_computation_instr_count(indim_module_computation(s->t.module, computation));
  for (int64_t i = s->t.first[computation]; i < end; i++) {
    if (s->partner[i] < 0) {
      out[count++] = (keyed){key(s, i), i};
    }
  }
  qsort(out, (size_t)count, sizeof *out, compare_keys);
  return count;
}

static void match_group(matcher *m, const keyed *x, int64_t xs, const keyed *y, int64_t ys, bool counts) {
  if (xs == ys || !counts) {
    for (int64_t i = 0; i < xs && i < ys; i++) {
      match(m, x[i].number, y[i].number);
    }
    return;
  }
  enum { MOST = 64 };
  for (int64_t i = 0; i < xs; i++) {
    for (int64_t j = 0; j < ys && j < MOST; j++) {
      if (is_same_name(m, x[i].number, y[j].number)) {
        match(m, x[i].number, y[j].number);
      }
    }
  }
}

static void match_by(matcher *m, int64_t a, int64_t b, key_fn *key, bool counts, keyed *lists[2]) {
  int64_t xs = list_keys(m->a, a, key, lists[0]);
  int64_t ys = list_keys(m->b, b, key, lists[1]);
  for (int64_t i = 0, j = 0; i < xs && j < ys;) {
    uint64_t x = lists[0][i].key;
    uint64_t y = lists[1][j].key;
    int64_t i_end = i;
    int64_t j_end = j;
    while (i_end < xs && lists[0][i_end].key == x) {
      i_end++;
    }
    while (j_end < ys && lists[1][j_end].key == y) {
      j_end++;
    }
    if (x == y) {
      match_group(m, lists[0] + i, i_end - i, lists[1] + j, j_end - j, counts);
    }
    i = x <= y ? i_end : i;
    j = y <= x ? j_end : j;
  }
  spread(m);
}

static uint64_t exact_key(const diff_side *s, int64_t i) { return s->exact[i]; }
static uint64_t loose_key(const diff_side *s, int64_t i) { return s->loose[i]; }
static uint64_t name_key(const diff_side *s, int64_t i) {
  indim_str name = indim_instr_name(s->t.instrs[i]);
  return mix_bytes(mix(5, (uint64_t)op_of(s, i)), name.data, name.size);
}
static uint64_t sizes_key(const diff_side *s, int64_t i) {
  const indim_shape *shape = indim_instr_shape(s->t.instrs[i]);
  uint64_t hash = mix(mix(7, (uint64_t)op_of(s, i)), (uint64_t)shape->type);
  return mix_bytes(hash, shape->sizes, (size_t)shape->rank * sizeof *shape->sizes);
}

static uint64_t rank_key(const diff_side *s, int64_t i) {
  return mix(mix(13, (uint64_t)op_of(s, i)), (uint64_t)indim_instr_shape(s->t.instrs[i])->rank);
}

static int64_t parameter_at(const diff_side *s, const indim_computation *c, int64_t number) {
  return s->t.first[indim_computation_index(c)] + indim_instr_index(indim_computation_parameter(c, number));
}

// Parameters: of the same number and name, then of the same name, if there is one, then of the same number.
static void match_parameters(matcher *m, const indim_computation *a, const indim_computation *b, keyed *lists[2]) {
  int64_t counts[] = {indim_computation_parameter_count(a), indim_computation_parameter_count(b)};
  int64_t both = counts[0] < counts[1] ? counts[0] : counts[1];
  for (int64_t i = 0; i < both; i++) {
    if (is_same_name(m, parameter_at(m->a, a, i), parameter_at(m->b, b, i))) {
      match(m, parameter_at(m->a, a, i), parameter_at(m->b, b, i));
    }
  }
  for (int side = 0; side < 2; side++) {
    const diff_side *s = side == 0 ? m->a : m->b;
    for (int64_t i = 0; i < counts[side]; i++) {
      int64_t number = parameter_at(s, side == 0 ? a : b, i);
      lists[side][i] = (keyed){mix(name_key(s, number), sizes_key(s, number)), number};
    }
    qsort(lists[side], (size_t)counts[side], sizeof(keyed), compare_keys);
  }
  for (int64_t i = 0, j = 0; i < counts[0] && j < counts[1];) {
    if (lists[0][i].key == lists[1][j].key) {
      match(m, lists[0][i++].number, lists[1][j++].number);
    } else if (lists[0][i].key < lists[1][j].key) {
      i++;
    } else {
      j++;
    }
  }
  for (int64_t i = 0; i < both; i++) {
    match(m, parameter_at(m->a, a, i), parameter_at(m->b, b, i));
  }
}

// What has the same users at the same places, whatever it is: an instruction whose op was changed.
static void match_across_ops(matcher *m, int64_t computation) {
  const indim_computation *c = indim_module_computation(m->a->t.module, computation);
  for (int64_t i = indim_computation_instr_count(c); i-- > 0;) {
    int64_t a = m->a->t.first[computation] + i;
    int64_t b = m->a->partner[a];
    int64_t count = indim_instr_operand_count(m->a->t.instrs[a]);
    if (b < 0 || count != indim_instr_operand_count(m->b->t.instrs[b])) {
      continue;
    }
    for (int64_t k = 0; k < count; k++) {
      int64_t x = operand_number(&m->a->t, a, k);
      int64_t y = operand_number(&m->b->t, b, k);
      bool is_parameter = op_of(m->a, x) == INDIM_OP_PARAMETER || op_of(m->b, y) == INDIM_OP_PARAMETER;
      if (is_free(m, x, y) && !is_parameter &&
          indim_shape_equal(indim_instr_shape(m->a->t.instrs[x]), indim_instr_shape(m->b->t.instrs[y]),
                            INDIM_COMPATIBLE | INDIM_IGNORE_ELEMENT_TYPE)) {
        match(m, x, y);
      }
    }
  }
  spread(m);
}

static void match_computation(matcher *m, int64_t a) {
  int64_t b = m->a->computation_partner[a];
  const indim_computation *x = indim_module_computation(m->a->t.module, a);
  const indim_computation *y = indim_module_computation(m->b->t.module, b);
  keyed *lists[2] = {zeroed(indim_computation_instr_count(x), sizeof(keyed)),
                     zeroed(indim_computation_instr_count(y), sizeof(keyed))};
  // All that is equal comes first, and its neighbours when all of it is known.
  int64_t begin = m->queue_begin;
  match_parameters(m, x, y, lists);
  m->queue_begin = m->queue_end;
  match_by(m, a, b, exact_key, true, lists);
  m->queue_begin = begin;
  spread(m);
  match_by(m, a, b, exact_key, false, lists);
  match_by(m, a, b, loose_key, true, lists);
  int64_t roots[] = {m->a->t.first[a] + indim_instr_index(indim_computation_root(x)),
                     m->b->t.first[b] + indim_instr_index(indim_computation_root(y))};
  if (op_of(m->a, roots[0]) == op_of(m->b, roots[1])) {
    match(m, roots[0], roots[1]);
    spread(m);
  }
  match_by(m, a, b, name_key, false, lists);
  match_by(m, a, b, sizes_key, true, lists);
  match_by(m, a, b, rank_key, true, lists);
  match_across_ops(m, a);
  if (is_free(m, roots[0], roots[1])) {
    match(m, roots[0], roots[1]);
    spread(m);
  }
  free(lists[0]);
  free(lists[1]);
}

// Computations that nobody's partner calls: by what they compute, then by name.
static void match_rest(matcher *m) {
  int64_t as = indim_module_computation_count(m->a->t.module);
  int64_t bs = indim_module_computation_count(m->b->t.module);
  for (int by_name = 0; by_name < 2; by_name++) {
    keyed *lists[2] = {zeroed(as, sizeof(keyed)), zeroed(bs, sizeof(keyed))};
    const diff_side *sides[2] = {m->a, m->b};
    int64_t counts[2] = {0, 0};
    for (int s = 0; s < 2; s++) {
      for (int64_t c = 0; c < indim_module_computation_count(sides[s]->t.module); c++) {
        indim_str name = indim_computation_name(indim_module_computation(sides[s]->t.module, c));
        uint64_t key = by_name != 0 ? mix_bytes(11, name.data, name.size) : sides[s]->computations[c];
        if (sides[s]->computation_partner[c] < 0) {
          lists[s][counts[s]++] = (keyed){key, c};
        }
      }
      qsort(lists[s], (size_t)counts[s], sizeof(keyed), compare_keys);
    }
    for (int64_t i = 0, j = 0; i < counts[0] && j < counts[1];) {
      if (lists[0][i].key == lists[1][j].key) {
        match_computations(m, lists[0][i++].number, lists[1][j++].number);
      } else if (lists[0][i].key < lists[1][j].key) {
        i++;
      } else {
        j++;
      }
    }
    free(lists[0]);
    free(lists[1]);
  }
}

static void match_all(matcher *m) {
  int64_t done = 0;
  match_computations(m, indim_computation_index(indim_module_entry(m->a->t.module)),
                     indim_computation_index(indim_module_entry(m->b->t.module)));
  for (int rest = 0; rest < 2; rest++) {
    while (done < m->computation_count) {
      match_computation(m, m->computations[done++]);
    }
    if (rest == 0) {
      match_rest(m);
    }
  }
}

indim_status diff_match(indim_ctx *cx, const indim_module *a, const indim_module *b, diff_side sides[2]) {
  fill_side(&sides[0], a);
  fill_side(&sides[1], b);
  indim_status status = hash_all(cx, &sides[0]);
  status = status == INDIM_OK ? hash_all(cx, &sides[1]) : status;
  if (status != INDIM_OK) {
    return status;
  }
  matcher m = {.cx = cx, .a = &sides[0], .b = &sides[1]};
  m.queue = zeroed(sides[0].t.count, sizeof *m.queue);
  m.computations = zeroed(indim_module_computation_count(a), sizeof *m.computations);
  match_all(&m);
  free(m.queue);
  free(m.computations);
  return INDIM_OK;
}

// Comparing -------------------------------------------------------------------------------------------------------------

static bool same_text(const indim_buffer *x, const indim_buffer *y) {
  return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
}

static indim_status compare_attributes(indim_ctx *cx, const indim_instr *x, const indim_instr *y, bool *out_same) {
  indim_buffer texts[2];
  indim_buffer_init(&texts[0], cx);
  indim_buffer_init(&texts[1], cx);
  indim_instr_attributes_print(x, INDIM_PRINT_NO_REFERENCES, &texts[0]);
  indim_instr_attributes_print(y, INDIM_PRINT_NO_REFERENCES, &texts[1]);
  *out_same = same_text(&texts[0], &texts[1]);
  indim_status status = texts[0].status != INDIM_OK ? texts[0].status : texts[1].status;
  indim_buffer_deinit(&texts[0]);
  indim_buffer_deinit(&texts[1]);
  return status;
}

static bool same_operands(const diff_side sides[2], int64_t a, int64_t b) {
  int64_t count = indim_instr_operand_count(sides[0].t.instrs[a]);
  bool same = count == indim_instr_operand_count(sides[1].t.instrs[b]);
  for (int64_t k = 0; k < count && same; k++) {
    int64_t x = operand_number(&sides[0].t, a, k);
    int64_t y = operand_number(&sides[1].t, b, k);
    // One of several equal ones is as good as another.
    same = sides[0].partner[x] == y || sides[0].exact[x] == sides[1].exact[y];
  }
  return same;
}

static bool same_calls(const diff_side sides[2], const indim_instr *x, const indim_instr *y) {
  int64_t count = indim_instr_called_count(x);
  bool same = count == indim_instr_called_count(y);
  for (int64_t k = 0; k < count && same; k++) {
    int64_t c = indim_computation_index(indim_instr_called(x, k));
    int64_t d = indim_computation_index(indim_instr_called(y, k));
    same = sides[0].computation_partner[c] == d || sides[0].computations[c] == sides[1].computations[d];
  }
  return same;
}

static bool same_value(const indim_instr *x, const indim_instr *y) {
  const indim_literal *v = indim_instr_literal(x);
  const indim_literal *w = indim_instr_literal(y);
  if (v == NULL || w == NULL || indim_literal_is_elided(v) || indim_literal_is_elided(w)) {
    return (v == NULL) == (w == NULL) && indim_instr_parameter_number(x) == indim_instr_parameter_number(y);
  }
  return mix_literal(0, v) == mix_literal(0, w);
}

indim_status diff_compare(indim_ctx *cx, const diff_side sides[2], int64_t a, unsigned *out_what) {
  int64_t b = sides[0].partner[a];
  const indim_instr *x = sides[0].t.instrs[a];
  const indim_instr *y = sides[1].t.instrs[b];
  *out_what = 0;
  if (sides[0].exact[a] == sides[1].exact[b] && same_operands(sides, a, b)) {
    return INDIM_OK;
  }
  bool same_attributes = true;
  bool same_op = indim_instr_op(x) == indim_instr_op(y);
  indim_status status = compare_attributes(cx, x, y, &same_attributes);
  unsigned what = same_op ? 0 : DIFF_OP;
  if (!indim_shape_equal(indim_instr_shape(x), indim_instr_shape(y), INDIM_IGNORE_LAYOUT)) {
    what |= DIFF_SHAPE;
  } else if (!indim_shape_equal(indim_instr_shape(x), indim_instr_shape(y), 0)) {
    what |= DIFF_LAYOUT;
  }
  what |= same_operands(sides, a, b) ? 0 : DIFF_OPERANDS;
  what |= same_attributes ? 0 : DIFF_ATTRIBUTES;
  what |= same_op && !same_value(x, y) ? DIFF_VALUE : 0;
  what |= same_calls(sides, x, y) ? 0 : DIFF_CALLS;
  *out_what = what;
  return status;
}
