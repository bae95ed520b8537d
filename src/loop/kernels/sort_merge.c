// The merges of a sort. Each pass merges pairs of runs from one buffer into the other, and one loop does two passes each time,
// there and back, so that the code is as long for any number of elements; what is equal in both becomes one function. Where
// it could not, in loops over lines, the buffers are halves of one, and the loop does one pass each time.
#include "loop/kernels/sort.h"

typedef indim_sorting sorting;
typedef indim_sort_line line;

// Up to so many passes are code of their own, with constant widths.
enum { FEW_PASSES = 2 };

// What is merged: elements first <= i < middle with middle <= i < end.
typedef struct runs {
  const line *from, *to;
  indim_value_id first, middle, end;
} runs;

// The next elements of two runs: where they are, and whether the right one is taken.
typedef struct choice {
  indim_value_id left, right, takes_right;
} choice;

static bool constant_of(const sorting *s, indim_value_id v, int64_t *out) {
  const indim_loop_value *value = indim_loop_value_of(&s->l->b, v);
  *out = value->low;
  return value->low == value->high;
}

static indim_value_id subtract(sorting *s, indim_value_id x, indim_value_id y) {
  const indim_value_id both[2] = {x, y};
  const int64_t signs[2] = {1, -1};
  return indim_loop_affine(&s->l->b, 0, 2, both, signs);
}

static indim_value_id minimum(sorting *s, indim_value_id x, indim_value_id y) {
  int64_t a = 0;
  int64_t b = 0;
  if (constant_of(s, x, &a) && constant_of(s, y, &b)) {
    return a < b ? x : y;
  }
  return indim_loop_binary(&s->l->b, INDIM_OP_MINIMUM, x, y);
}

static indim_value_id is_less(sorting *s, indim_value_id x, indim_value_id y) {
  indim_loop_op op = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_LT};
  const indim_value_id args[2] = {x, y};
  return indim_loop_elementwise(&s->l->b, op, INDIM_PRED, 2, args);
}

// An element of the line.
static indim_value_id inside(sorting *s, indim_value_id i) {
  return indim_loop_clamp_index(&s->l->b, i, 0, s->size - 1);
}

static void load_keys(sorting *s, const line *from, indim_value_id i, indim_value_id *out) {
  for (int32_t c = 0; c < s->n; c++) {
    indim_type type = from->storage[c]->type;
    out[c] = s->is_key[c] ? indim_sort_element(s, from, c, i) : indim_loop_const(&s->l->b, type, 0, 0);
  }
}

// Whether the right element precedes the left one.
static indim_value_id right_precedes(sorting *s, const line *from, const choice *at) {
  indim_value_id *x = indim_lower_alloc(s->l, 2 * (int64_t)s->n, sizeof *x);
  if (x == NULL) {
    return 0;
  }
  load_keys(s, from, at->left, x);
  load_keys(s, from, at->right, x + s->n);
  return indim_sort_before(s, 1, x + s->n, x);
}

// Moves the element that is taken to element |i|. The select is between addresses, since one between values may become
// an unpredictable branch.
static void move(sorting *s, const runs *r, indim_value_id i, const choice *at) {
  indim_loop_builder *b = &s->l->b;
  indim_value_id taken = indim_loop_select(b, at->takes_right, at->right, at->left);
  for (int32_t c = 0; c < s->n && !indim_lower_failed(s->l); c++) {
    indim_value_id value = indim_sort_element(s, r->from, c, inside(s, taken));
    indim_loop_store(b, r->to->storage[c], indim_loop_add(b, r->to->base[c], inside(s, i)), value, 1, false);
  }
}

// Merges |count| elements from the front and as many from the back: two independent chains, none of which reaches the end of
// a run before its last step if neither run is shorter than |count|. |taken|: of the right run, from either end.
static void merge_ends(sorting *s, const runs *r, indim_value_id count, indim_value_id taken[2]) {
  indim_loop_builder *b = &s->l->b;
  const int64_t minus = -1;
  indim_value_id in[2] = {0, 0};
  indim_value_id next[2] = {0, 0};
  indim_value_id j = indim_loop_for_begin(b, indim_loop_index(b, 0), count, 1, 2, taken, in);
  for (int32_t side = 0; side < 2 && !indim_lower_failed(s->l); side++) {
    indim_value_id left = subtract(s, j, in[side]);
    choice at = {.left = indim_loop_add(b, r->first, left), .right = indim_loop_add(b, r->middle, in[side])};
    indim_value_id to = indim_loop_add(b, r->first, j);
    if (side == 1) {
      at.left = subtract(s, indim_loop_add_const(b, r->middle, -1), left);
      at.right = subtract(s, indim_loop_add_const(b, r->end, -1), in[side]);
      to = indim_loop_add(b, r->end, indim_loop_affine(b, -1, 1, &j, &minus));
    }
    at.left = inside(s, at.left);
    at.right = inside(s, at.right);
    at.takes_right = right_precedes(s, r->from, &at);
    if (indim_lower_failed(s->l)) {
      return;
    }
    at.takes_right = side == 0 ? at.takes_right : indim_sort_not(s, at.takes_right);
    move(s, r, to, &at);
    next[side] = indim_sort_count_if(s, in[side], at.takes_right);
  }
  indim_loop_for_end(b, next, taken);
}

// Merges one by one what is left after |count| elements from either end, safe for any comparator and any lengths.
static void merge_checked(sorting *s, const runs *r, indim_value_id count, const indim_value_id taken[2]) {
  indim_loop_builder *b = &s->l->b;
  indim_value_id none = indim_loop_index(b, 0);
  indim_value_id in = 0;
  indim_value_id left = indim_loop_add(b, r->first, subtract(s, count, taken[0]));
  indim_value_id left_end = subtract(s, r->middle, subtract(s, count, taken[1]));
  indim_value_id right = indim_loop_add(b, r->middle, taken[0]);
  indim_value_id right_end = subtract(s, r->end, taken[1]);
  indim_value_id to = indim_loop_add(b, r->first, count);
  indim_value_id rest = subtract(s, subtract(s, r->end, r->first), indim_loop_mul_const(b, count, 2));
  int64_t size = 0;
  if (constant_of(s, rest, &size) && size == 0) {
    return;
  }
  rest = indim_loop_clamp_index(b, rest, 0, s->size);
  indim_value_id j = indim_loop_for_begin(b, indim_loop_index(b, 0), rest, 1, 1, &none, &in);
  left = indim_loop_add(b, left, subtract(s, j, in));
  right = indim_loop_add(b, right, in);
  choice at = {.left = inside(s, left), .right = inside(s, right)};
  indim_value_id precedes = right_precedes(s, r->from, &at);
  if (indim_lower_failed(s->l)) {
    return;
  }
  precedes = indim_loop_binary(b, INDIM_OP_AND, is_less(s, right, right_end), precedes);
  at.takes_right = indim_loop_binary(b, INDIM_OP_OR, indim_sort_not(s, is_less(s, left, left_end)), precedes);
  move(s, r, indim_loop_add(b, to, j), &at);
  indim_value_id next = indim_sort_count_if(s, in, at.takes_right);
  indim_loop_for_end(b, &next, &none);
}

// Merges pairs of runs, each pair |span| elements long but for the last one.
static void merge_pass(sorting *s, const line *from, const line *to, indim_value_id pairs, indim_value_id span) {
  indim_loop_builder *b = &s->l->b;
  indim_value_id begin = indim_loop_index(b, 0);
  indim_value_id end = pairs;
  bool may_thread = indim_sort_may_thread(s);
  if (may_thread) {  // as many pieces in each pass
    indim_value_id piece = indim_loop_for_begin(b, begin, indim_loop_index(b, INDIM_NEST_PIECES), 1, 0, NULL, NULL);
    indim_loop_for_parallel(b, 1);
    begin = indim_loop_floordiv(b, indim_loop_binary(b, INDIM_OP_MULTIPLY, piece, pairs), INDIM_NEST_PIECES);
    indim_value_id next = indim_loop_add_const(b, piece, 1);
    end = indim_loop_floordiv(b, indim_loop_binary(b, INDIM_OP_MULTIPLY, next, pairs), INDIM_NEST_PIECES);
    begin = indim_loop_clamp_index(b, begin, 0, s->size);
    end = indim_loop_clamp_index(b, end, 0, s->size);
  }
  indim_value_id pair = indim_loop_for_begin(b, begin, end, 1, 0, NULL, NULL);
  indim_value_id start = indim_loop_binary(b, INDIM_OP_MULTIPLY, pair, span);
  runs r = {.from = from, .to = to, .first = indim_loop_clamp_index(b, start, 0, s->size)};
  indim_value_id middle = indim_loop_add(b, start, indim_loop_floordiv(b, span, 2));
  r.middle = indim_loop_clamp_index(b, middle, 0, s->size);
  r.end = indim_loop_clamp_index(b, indim_loop_add(b, start, span), 0, s->size);
  indim_value_id taken[2] = {indim_loop_index(b, 0), indim_loop_index(b, 0)};
  indim_value_id count = indim_loop_index(b, 0);
  if (s->is_strict) {
    count = minimum(s, subtract(s, r.middle, r.first), subtract(s, r.end, r.middle));
    count = indim_loop_clamp_index(b, count, 0, s->size);
    merge_ends(s, &r, count, taken);
  }
  merge_checked(s, &r, count, taken);
  indim_loop_for_end(b, NULL, NULL);
  if (may_thread) {
    indim_loop_for_end(b, NULL, NULL);
  }
}

static int32_t pass_count(int64_t size, int64_t run) {
  int32_t passes = 0;
  for (; run < size; run *= 2) {
    passes++;
  }
  return passes;
}

int32_t indim_sort_first_side(const sorting *s, int64_t run) { return pass_count(s->size, run) % 2; }

bool indim_sort_loops_over_passes(const sorting *s, int64_t size) {
  return pass_count(size, s->is_strict && !s->is_partial ? INDIM_SORT_BLOCK : 1) > FEW_PASSES;
}

enum { RUNS, SPAN, STATE };  // carried: the number of runs, and how long a pair of them is

// All passes, one in each iteration, between the halves of one buffer.
static void merge_halves(sorting *s, int64_t run, int32_t passes) {
  indim_loop_builder *b = &s->l->b;
  enum { FROM = STATE, WITH_HALF };  // carried as well: where the half that is read begins
  line halves[2] = {s->buffers[0], s->buffers[1]};
  for (int32_t side = 0; side < 2; side++) {
    halves[side].base = indim_lower_alloc(s->l, s->n, sizeof(indim_value_id));
  }
  if (indim_lower_failed(s->l)) {
    return;
  }
  indim_value_id state[WITH_HALF] = {indim_loop_index(b, (s->size + run - 1) / run), indim_loop_index(b, 2 * run),
                                     indim_loop_index(b, passes % 2 * s->room)};
  indim_value_id in[WITH_HALF] = {0, 0, 0};
  (void)indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, passes), 1, WITH_HALF, state, in);
  indim_value_id from = indim_loop_clamp_index(b, in[FROM], 0, s->room);
  indim_value_id to = subtract(s, indim_loop_index(b, s->room), from);
  for (int32_t c = 0; c < s->n; c++) {
    halves[0].base[c] = indim_loop_add(b, s->buffers[0].base[c], from);
    halves[1].base[c] = indim_loop_add(b, s->buffers[0].base[c], to);
  }
  indim_value_id pairs = indim_loop_floordiv(b, indim_loop_add_const(b, in[RUNS], 1), 2);
  pairs = indim_loop_clamp_index(b, pairs, 0, s->size);
  merge_pass(s, &halves[0], &halves[1], pairs, in[SPAN]);
  const indim_value_id next[WITH_HALF] = {pairs, indim_loop_mul_const(b, in[SPAN], 2), to};
  indim_loop_for_end(b, next, state);
}

// All passes, two in each iteration: of an odd number the first one is left out, with no pairs.
static void merge_in_loop(sorting *s, int64_t run, int32_t passes) {
  indim_loop_builder *b = &s->l->b;
  int64_t count = (s->size + run - 1) / run;
  bool is_odd = passes % 2 == 1;
  indim_value_id state[STATE] = {indim_loop_index(b, is_odd ? 2 * count : count),
                                 indim_loop_index(b, is_odd ? run : 2 * run)};
  indim_value_id in[STATE] = {0, 0};
  indim_loop_while_begin(b, STATE, state, in);
  indim_value_id goes_on = is_less(s, in[SPAN], indim_loop_index(b, 2 * s->size));
  indim_loop_while_body(b, goes_on, in);
  indim_value_id pairs = 0;
  for (int32_t side = 0; side < 2 && !indim_lower_failed(s->l); side++) {
    // Ranges are the same on both sides, so that they can share their code.
    int64_t factor = side + 1;
    pairs = indim_loop_floordiv(b, indim_loop_add_const(b, in[RUNS], 2 * factor - 1), 2 * factor);
    pairs = indim_loop_clamp_index(b, pairs, 0, s->size);
    indim_value_id span = indim_loop_clamp_index(b, indim_loop_mul_const(b, in[SPAN], factor), 0, 4 * s->size);
    indim_value_id merged = pairs;
    if (side == 0 && is_odd) {
      indim_value_id is_first = is_less(s, in[SPAN], indim_loop_index(b, 2 * run));
      merged = indim_loop_select(b, is_first, indim_loop_index(b, 0), pairs);
    }
    merge_pass(s, &s->buffers[side], &s->buffers[1 - side], merged, span);
  }
  in[RUNS] = pairs;
  in[SPAN] = indim_loop_mul_const(b, in[SPAN], 4);
  indim_loop_while_end(b, in, state);
}

void indim_sort_merge(sorting *s, int64_t run) {
  indim_loop_builder *b = &s->l->b;
  int32_t passes = pass_count(s->size, run);
  if (s->in_halves) {
    merge_halves(s, run, passes);
    return;
  }
  if (passes > FEW_PASSES) {
    merge_in_loop(s, run, passes);
    return;
  }
  for (int32_t side = passes % 2; run < s->size && !indim_lower_failed(s->l); run *= 2) {
    indim_value_id pairs = indim_loop_index(b, (s->size + 2 * run - 1) / (2 * run));
    merge_pass(s, &s->buffers[side], &s->buffers[1 - side], pairs, indim_loop_index(b, 2 * run));
    side = 1 - side;
  }
}
