// The verifier's rule for parallel loops: no iteration may read what another one writes. In a storage that is both read
// and written there, every access of iteration i is at c i + r with r in a window not wider than c times the step, or
// the same with the digits of i (its quotients and remainders) in place of i. In one that is only written, no element
// is written by all iterations.
#include <stdlib.h>

#include "loop/ir/affine.h"
#include "loop/verify/verify.h"

static const indim_loop_value *value_of(const indim_loop_verifier *v, indim_value_id value) {
  return &v->program->values[value];
}

// A part of the parallel index i: (i / divisor) mod |modulus|, or just i / divisor when |modulus| is 0.
typedef struct digit {
  int64_t divisor, modulus;
} digit;

// Whether |term| is a digit of the parallel index.
static bool digit_of(const indim_loop_verifier *v, indim_value_id term, digit *out) {
  indim_value_id index = v->parallel->bodies[0]->first_parameter;
  const indim_loop_node *chain[8];
  int count = 0;
  while (term != index) {
    const indim_loop_node *node = value_of(v, term)->node;
    if (node == NULL || count == 8 || (node->kind != INDIM_NODE_FLOORDIV && node->kind != INDIM_NODE_MODULO)) {
      return false;
    }
    chain[count++] = node;
    term = node->args[0];
  }
  *out = (digit){1, 0};
  while (count-- > 0) {
    int64_t number = chain[count]->u.affine.constant;
    if (out->modulus != 0 && out->modulus % number != 0) {
      return false;
    }
    if (chain[count]->kind == INDIM_NODE_MODULO) {
      out->modulus = number;
    } else if (!indim_index_mul(out->divisor, number, &out->divisor)) {
      return false;
    } else {
      out->modulus /= number;
      if (out->modulus == 1) {
        return false;
      }
    }
  }
  return true;
}

// A term stays symbolic if it is invariant within one iteration.
static bool is_fixed(const void *user, indim_value_id term) {
  const indim_loop_verifier *v = user;
  const indim_loop_value *value = value_of(v, term);
  return value->low != value->high && value->body->depth <= v->parallel->bodies[0]->depth;
}

// The same, but of values defined in the iteration only the digits of its index.
static bool is_outer_or_digit(const void *user, indim_value_id term) {
  const indim_loop_verifier *v = user;
  digit d = {0, 0};
  return is_fixed(v, term) && (value_of(v, term)->body != v->parallel->bodies[0] || digit_of(v, term, &d));
}

// Only the digits of the index: other values of a small range, such as places in a line found by comparisons of what all lines
// have, are a part of the window.
static bool is_digit(const void *user, indim_value_id term) {
  const indim_loop_verifier *v = user;
  digit d = {0, 0};
  return is_fixed(v, term) && digit_of(v, term, &d);
}

// Whether the terms that vary with the iteration determine it: their digits cover the whole index. i mod step is the
// same in all iterations; i mod d and (i / d) mod m determine i mod (d m).
static bool determines_index(const indim_loop_verifier *v, const indim_affine *p) {
  const indim_loop_value *index = value_of(v, v->parallel->bodies[0]->first_parameter);
  int64_t step = v->parallel->u.loop.step;
  int64_t known = step;  // i mod |known| is determined
  for (int32_t rounds = 0; rounds <= p->count; rounds++) {
    int64_t next = known;
    for (int32_t i = 0; i < p->count; i++) {
      digit d = {0, 0};
      int64_t end = 0;
      bool is_digit = digit_of(v, p->terms[i], &d);
      if (is_digit && d.modulus == 0 && (d.divisor <= step || known % d.divisor == 0)) {
        return true;
      }
      if (is_digit && d.modulus != 0 && known % d.divisor == 0 && indim_index_mul(d.divisor, d.modulus, &end)) {
        next = end > next ? end : next;
      }
    }
    if (index->low >= 0 && index->high < next) {
      return true;
    }
    known = next;
  }
  return false;
}

// Whether accesses of different iterations, each with the window around it, are disjoint: as in a number system, each
// coefficient is at least the extent of all smaller ones and the window.
static bool is_disjoint_by(const indim_loop_verifier *v, const indim_affine *p) {
  const indim_loop_body *body = v->parallel->bodies[0];
  int64_t width =
      indim_index_add_saturated(indim_index_add_saturated(p->high, 1), indim_index_mul_saturated(p->low, -1));
  bool is_used[INDIM_MAX_AFFINE_TERMS] = {false};
  for (int32_t rounds = 0; rounds < p->count; rounds++) {
    int32_t least = -1;
    int64_t least_size = 0;
    for (int32_t i = 0; i < p->count; i++) {
      int64_t size = indim_index_abs(p->coefficients[i]);
      bool counts = !is_used[i] && value_of(v, p->terms[i])->body == body;
      if (counts && (least < 0 || size < least_size)) {
        least = i;
        least_size = size;
      }
    }
    if (least < 0) {
      break;
    }
    const indim_loop_value *value = value_of(v, p->terms[least]);
    int64_t gap = p->terms[least] == body->first_parameter ? v->parallel->u.loop.step : 1;
    if (value->low == INT64_MIN || value->high == INT64_MAX || indim_index_mul_saturated(least_size, gap) < width) {
      return false;
    }
    int64_t reach = indim_index_mul_saturated(least_size, indim_index_add_saturated(value->high, -value->low));
    width = indim_index_add_saturated(width, reach);
    is_used[least] = true;
  }
  return width < INT64_MAX && determines_index(v, p);
}

// Accesses whose addresses are the same sum, with one window around all of them.
typedef struct access_class {
  indim_affine at;
  bool is_read, is_written;
  const indim_loop_node *node;
} access_class;

enum { MAX_CLASSES = 32, MAX_FREE_TERMS = 4, MAX_VALUES = 8 };

// Whether |term| is invariant in the parallel loop.
static bool is_outer(const indim_loop_verifier *v, indim_value_id term) {
  return value_of(v, term)->body->depth < v->parallel->bodies[0]->depth;
}

// Adds the terms of |from| times |sign| to a difference of two addresses: loop-invariant ones as terms, the others,
// which differ per iteration, by their ranges.
static bool add_address(const indim_loop_verifier *v, indim_affine *difference, const indim_affine *from,
                        int64_t sign) {
  bool fits = indim_affine_widen(difference, sign, from->low, from->high);
  for (int32_t i = 0; i < from->count && fits; i++) {
    const indim_loop_value *value = value_of(v, from->terms[i]);
    int64_t coefficient = indim_index_mul_saturated(from->coefficients[i], sign);
    fits = is_outer(v, from->terms[i]) ? indim_affine_add(difference, from->terms[i], coefficient)
                                       : value->low > INT64_MIN && value->high < INT64_MAX &&
                                             indim_affine_widen(difference, coefficient, value->low, value->high);
  }
  return fits;
}

// A term as (value + constant) modulo |modulus|; any other term is itself, with modulus 0.
typedef struct free_term {
  indim_value_id value;
  int64_t constant, modulus;
} free_term;

static free_term free_term_of(const indim_loop_verifier *v, indim_value_id term) {
  const indim_loop_node *node = value_of(v, term)->node;
  if (node == NULL || node->kind != INDIM_NODE_MODULO) {
    return (free_term){term, 0, 0};
  }
  const indim_loop_node *sum = value_of(v, node->args[0])->node;
  bool is_sum =
      sum != NULL && sum->kind == INDIM_NODE_AFFINE && sum->arg_count == 1 && sum->u.affine.coefficients[0] == 1;
  return is_sum ? (free_term){sum->args[0], sum->u.affine.constant, node->u.affine.constant}
                : (free_term){node->args[0], 0, node->u.affine.constant};
}

// The operands of a difference's terms: a few values with small ranges, to be enumerated.
typedef struct free_values {
  free_term terms[MAX_FREE_TERMS];
  int64_t coefficients[MAX_FREE_TERMS];
  int32_t term_count;
  int64_t low, high;  // the window, including all terms with large ranges
  indim_value_id values[MAX_FREE_TERMS];
  int64_t at[MAX_FREE_TERMS];  // current number of each value
  int32_t count;
} free_values;

static int32_t find_value(const free_values *f, indim_value_id value) {
  int32_t i = 0;
  while (i < f->count && f->values[i] != value) {
    i++;
  }
  return i;
}

// False when there are too many terms with small ranges, or one is unbounded.
static bool find_values(const indim_loop_verifier *v, const indim_affine *d, free_values *f) {
  indim_affine window = {.low = d->low, .high = d->high};
  *f = (free_values){.count = 0};
  for (int32_t i = 0; i < d->count; i++) {
    const free_term term = free_term_of(v, d->terms[i]);
    const indim_loop_value *whole = value_of(v, d->terms[i]);
    const indim_loop_value *value = value_of(v, term.value);
    if ((uint64_t)value->high - (uint64_t)value->low >= MAX_VALUES) {
      if (whole->low == INT64_MIN || whole->high == INT64_MAX ||
          !indim_affine_widen(&window, d->coefficients[i], whole->low, whole->high)) {
        return false;
      }
      continue;
    }
    if (f->term_count == MAX_FREE_TERMS) {
      return false;
    }
    int32_t k = find_value(f, term.value);
    f->count += k == f->count ? 1 : 0;
    f->values[k] = term.value;
    f->at[k] = value->low;
    f->coefficients[f->term_count] = d->coefficients[i];
    f->terms[f->term_count++] = term;
  }
  f->low = window.low;
  f->high = window.high;
  return true;
}

// Advances all values to the next combination; false after the last.
static bool next_values(const indim_loop_verifier *v, free_values *f) {
  int32_t next = 0;
  while (next < f->count && f->at[next] == value_of(v, f->values[next])->high) {
    f->at[next] = value_of(v, f->values[next])->low;
    next++;
  }
  if (next == f->count) {
    return false;
  }
  f->at[next]++;
  return true;
}

// Whether the difference is never 0, for any combination of the enumerated values: for example the slot of a rotating
// buffer that is read while another one is written.
static bool is_never_zero(const indim_loop_verifier *v, const indim_affine *d) {
  free_values f;
  if (!find_values(v, d, &f)) {
    return false;
  }
  do {
    indim_affine one = {.low = f.low, .high = f.high};
    bool fits = true;
    for (int32_t i = 0; i < f.term_count; i++) {
      const free_term *t = &f.terms[i];
      int64_t at = f.at[find_value(&f, t->value)] + t->constant;
      at = t->modulus == 0 ? at : indim_index_modulo(at, t->modulus);
      fits &= indim_affine_widen(&one, f.coefficients[i], at, at);
    }
    if (!fits || (one.low <= 0 && one.high >= 0)) {
      return false;
    }
  } while (next_values(v, &f));
  return true;
}

// Whether no access of |x| overlaps one of |y|, in any two iterations.
static bool is_disjoint_from(const indim_loop_verifier *v, const indim_affine *x, const indim_affine *y) {
  indim_affine difference = {.count = 0};
  return add_address(v, &difference, x, 1) && add_address(v, &difference, y, -1) && is_never_zero(v, &difference);
}

// Adds an access to the class of its address. False when the address or the class does not fit.
static bool classify(const indim_loop_verifier *v, const indim_loop_access *access, indim_affine_keeps *keeps,
                     access_class *classes, int32_t *count) {
  indim_affine p;
  int32_t at = 0;
  if (!indim_affine_decompose(v->program, access->address, access->low, access->high, keeps, v, &p)) {
    return false;
  }
  while (at < *count && !indim_affine_same_terms(&classes[at].at, &p)) {
    at++;
  }
  if (at == MAX_CLASSES) {
    return false;
  }
  access_class *c = &classes[at];
  if (at == *count) {
    *c = (access_class){.at = p, .node = access->node};
    (*count)++;
  }
  indim_affine_cover(&c->at, &p);
  c->is_read |= !access->is_write;
  c->is_written |= access->is_write;
  return true;
}

// NULL, or the node of an access that may overlap another one's element in a different iteration. |of_writes|: two writes
// must not overlap, either.
static const indim_loop_node *find_conflict(const indim_loop_verifier *v, const indim_loop_access *accesses,
                                            size_t count, indim_affine_keeps *keeps, bool of_writes) {
  access_class classes[MAX_CLASSES];
  int32_t class_count = 0;
  for (size_t i = 0; i < count; i++) {
    bool same_size = indim_type_bytes(v->program->storages[accesses[i].storage]->type) ==
                     indim_type_bytes(v->program->storages[accesses[0].storage]->type);
    if (!same_size || !classify(v, &accesses[i], keeps, classes, &class_count)) {
      return accesses[i].node;
    }
  }
  for (int32_t i = 0; i < class_count; i++) {
    const access_class *x = &classes[i];
    bool is_disjoint = !x->is_written || !(x->is_read || of_writes) || is_disjoint_by(v, &x->at);
    for (int32_t j = 0; j < i && is_disjoint; j++) {
      const access_class *y = &classes[j];
      bool may_matter = (x->is_written && y->is_read) || (x->is_read && y->is_written) || of_writes;
      is_disjoint = !may_matter || is_disjoint_from(v, &x->at, &y->at);
    }
    if (!is_disjoint) {
      return x->node;
    }
  }
  return NULL;
}

// The same in any of the ways to take an address apart: values defined in an iteration count as terms of the address first, then as a
// part of the window where accesses differ in them, then so do those defined before the loop.
static const indim_loop_node *find_any_conflict(const indim_loop_verifier *v, const indim_loop_access *accesses,
                                                size_t count, bool of_writes) {
  const indim_loop_node *node = find_conflict(v, accesses, count, is_fixed, of_writes);
  bool conflicts = node != NULL && find_conflict(v, accesses, count, is_outer_or_digit, of_writes) != NULL &&
                   find_conflict(v, accesses, count, is_digit, of_writes) != NULL;
  return conflicts ? node : NULL;
}

// All |count| accesses of one storage, which is both read and written.
static indim_status check_group(const indim_loop_verifier *v, const indim_loop_access *accesses, size_t count) {
  const indim_loop_node *node = find_any_conflict(v, accesses, count, false);
  if (node != NULL) {
    return indim_verify_fail_node(v, node, "iterations of a parallel loop may conflict in %s",
                                  v->program->storages[accesses[0].root]->name);
  }
  return INDIM_OK;
}

// Whether every iteration writes the same element: nothing in the address is defined in the loop.
static bool is_loop_invariant(const indim_loop_verifier *v, const indim_loop_access *access) {
  return access->is_write && !access->is_masked &&
         value_of(v, access->address)->body->depth < v->parallel->bodies[0]->depth;
}

static int by_root(const void *x, const void *y) {
  const indim_loop_access *a = x;
  const indim_loop_access *b = y;
  return (a->root > b->root) - (a->root < b->root);
}

indim_status indim_loop_verify_parallel(indim_loop_verifier *v) {
  const indim_loop_value *index = value_of(v, v->parallel->bodies[0]->first_parameter);
  if (v->access_count == 0 || index->low == index->high) {
    return INDIM_OK;
  }
  qsort(v->accesses, v->access_count, sizeof *v->accesses, by_root);
  for (size_t begin = 0; begin < v->access_count;) {
    size_t end = begin;
    bool is_read = false;
    bool is_written = false;
    for (; end < v->access_count && v->accesses[end].root == v->accesses[begin].root; end++) {
      is_read |= !v->accesses[end].is_write;
      is_written |= v->accesses[end].is_write;
      if (is_loop_invariant(v, &v->accesses[end])) {
        return indim_verify_fail_node(v, v->accesses[end].node,
                                      "all iterations of a parallel loop write the same element");
      }
    }
    if (is_read && is_written) {
      INDIM_TRY(check_group(v, v->accesses + begin, end - begin));
    }
    begin = end;
  }
  return INDIM_OK;
}

// All accesses of one storage, which is written, as if each were a read and a write.
static const indim_loop_node *find_overlap(const indim_loop_verifier *v, indim_loop_access *accesses, size_t count) {
  for (size_t i = 0; i < count; i++) {
    accesses[i].is_write = true;
  }
  return find_any_conflict(v, accesses, count, true);
}

indim_status indim_loop_find_conflict(indim_loop_verifier *v, const indim_loop_node *loop,
                                      const indim_loop_node **out_conflict) {
  const indim_loop_body *body = loop->bodies[0];
  *out_conflict = NULL;
  v->parallel = loop;
  v->access_count = 0;
  for (const indim_loop_node *node = body->first; node != NULL; node = indim_loop_next_in(body, node)) {
    indim_effect effects[INDIM_MAX_EFFECTS];
    int32_t count = indim_loop_effects(v->program, node, effects);
    for (int32_t i = 0; i < count; i++) {
      INDIM_TRY(effects[i].low > effects[i].high ? INDIM_OK
                                                 : indim_loop_record(v, node, &effects[i], effects[i].writes));
    }
  }
  if (v->access_count > 0) {
    qsort(v->accesses, v->access_count, sizeof *v->accesses, by_root);
  }
  for (size_t begin = 0; begin < v->access_count && *out_conflict == NULL;) {
    size_t end = begin;
    bool is_written = false;
    for (; end < v->access_count && v->accesses[end].root == v->accesses[begin].root; end++) {
      is_written |= v->accesses[end].is_write;
    }
    *out_conflict = is_written ? find_overlap(v, v->accesses + begin, end - begin) : NULL;
    begin = end;
  }
  v->parallel = NULL;
  return INDIM_OK;
}
