// Steps of random programs: scans, arrays put side by side, and loops of few steps whose values change places.
#ifndef INDIM_TESTS_LOOP_STEPS_H
#define INDIM_TESTS_LOOP_STEPS_H

#include "elementwise_steps.h"
#include "generator.h"

// Scans ----------------------------------------------------------------------------------------------------------------

static array without_dim(const array *a, int32_t dim) {
  array out = {.type = a->type};
  for (int32_t i = 0; i < a->rank; i++) {
    if (i != dim) {
      out.sizes[out.rank++] = a->sizes[i];
    }
  }
  return out;
}

static array with_dim(const array *a, int32_t dim, int64_t size) {
  array out = {.type = a->type};
  for (int32_t i = 0; i <= a->rank; i++) {
    out.sizes[out.rank++] = i == dim ? size : a->sizes[i - (i > dim)];
  }
  return out;
}

static bool has_few_rows(const value *v) { return is_exact(v) && v->a.rank > 0 && v->a.sizes[v->a.rank - 1] <= 16; }

static void do_scan(scope *s) {
  enum { MOST = 3 };
  choices *c = s->g->c;
  value x[2 * MOST];
  value out[2 * MOST];
  x[0] = pick(s, has_few_rows);
  if (x[0].a.rank == 0) {
    return;
  }
  int32_t dim = x[0].a.rank - 1;
  int64_t size = x[0].a.sizes[dim];
  int inputs = 1 + (int)choose(c, 2);
  int carries = (int)choose(c, MOST);
  int outputs = carries == 0 ? 1 : (int)choose(c, MOST);
  array slice = without_dim(&x[0].a, dim);
  for (int i = 1; i < inputs; i++) {
    array other = x[0].a;
    other.type = any_type(c);
    x[i] = need(s, &other);
  }
  scope *inner = begin_inner(s);
  for (int i = 0; i < inputs; i++) {
    array part = without_dim(&x[i].a, dim);
    new_value(inner, &part);
    text_add(&inner->body, "parameter(%d)\n", i);
  }
  for (int i = 0; i < carries; i++) {
    x[inputs + i] = pick_exact(s);
    new_value(inner, &x[inputs + i].a);
    text_add(&inner->body, "parameter(%d)\n", inputs + i);
  }
  add_steps(inner, 1 + (int)choose(c, 4));
  for (int i = 0; i < outputs; i++) {
    out[i] = pick_exact(inner);
    bool fits = out[i].a.rank >= dim && out[i].a.rank < PROGRAM_RANK && element_count(&out[i].a) * size <= s->g->limit;
    out[i] = fits ? out[i] : need(inner, &slice);
  }
  for (int i = 0; i < carries; i++) {
    out[outputs + i] = need(inner, &x[inputs + i].a);
  }
  int results = outputs + carries;
  text_add(&inner->body, "  ROOT v%d = ", s->g->names++);
  if (results == 1) {
    add_shape(&inner->body, &out[0].a);
    text_add(&inner->body, " copy(v%d)\n", out[0].name);
  } else {
    add_tuple_shape(&inner->body, out, results);
    text_add(&inner->body, " ");
    add_tuple(&inner->body, out, results);
  }
  int called = end_inner(inner);
  for (int i = 0; i < outputs; i++) {
    out[i].a = with_dim(&out[i].a, dim, size);
  }
  int tuple = s->g->names;
  if (results == 1) {
    new_value(s, &out[0].a);
  } else {
    s->g->names++;
    text_add(&s->body, "  v%d = ", tuple);
    add_tuple_shape(&s->body, out, results);
    text_add(&s->body, " ");
  }
  text_add(&s->body, "scan(");
  for (int i = 0; i < inputs + carries; i++) {
    text_add(&s->body, "%sv%d", i > 0 ? ", " : "", x[i].name);
  }
  text_add(&s->body, "), dimensions={%d}, num_carries=%d%s, to_apply=k%d\n", (int)dim, carries,
           chance(c, 2) ? ", is_reverse=true" : "", called);
  if (results > 1) {
    open_tuple(s, tuple, out, results);
  }
}

// Side by side -------------------------------------------------------------------------------------------------------

static void (*const elementwise_steps[])(scope *s) = {do_unary,  do_binary, do_binary,  do_binary, do_select,
                                                      do_select, do_clamp,  do_convert, do_bits,   do_compare};

// Arrays that share what they are made of, each with a dimension of 1, in one.
static void do_stack(scope *s) {
  choices *c = s->g->c;
  value x = pick_exact(s);
  value parts[5];
  int count = 2 + (int)choose(c, 4);
  if (x.a.rank == PROGRAM_RANK || element_count(&x.a) * count > s->g->limit) {
    return;
  }
  int32_t dim = !chance(c, 4) ? x.a.rank : (int32_t)choose(c, (uint64_t)x.a.rank + 1);
  array one = with_dim(&x.a, dim, 1);
  array all = with_dim(&x.a, dim, count);
  for (uint64_t i = choose(c, 5); i > 0; i--) {
    ANY_OF(c, elementwise_steps)(s);
  }
  bool bits_count = true;
  for (int i = 0; i < count; i++) {
    value from = need(s, &x.a);
    parts[i] = *moved(make(s, &one, "reshape", &from, NULL, NULL, ""), &from);
    bits_count = bits_count && from.bits_count;
  }
  new_value(s, &all)->bits_count = bits_count;
  text_add(&s->body, "concatenate(");
  for (int i = 0; i < count; i++) {
    text_add(&s->body, "%sv%d", i > 0 ? ", " : "", parts[i].name);
  }
  text_add(&s->body, "), dimensions={%d}\n", (int)dim);
}

// A loop of 0 to 9 steps, up or down, whose body works element by element on arrays that change places.
static void do_rotating_while(scope *s) {
  static const indim_type counters[] = {INDIM_S32, INDIM_S32, INDIM_U32, INDIM_S64, INDIM_U8};
  choices *c = s->g->c;
  enum { MOST = 5 };
  value carry[MOST + 1];
  value next[MOST + 1];
  indim_type type = ANY_OF(c, counters);
  char number[24];
  int64_t steps = (int64_t)choose(c, 10);
  int64_t by = 1 + (int64_t)choose(c, 3);
  bool down = chance(c, 3);
  snprintf(number, sizeof number, "%lld", (long long)(down ? steps * by + 3 : 3));
  carry[0] = scalar(s, type, number);
  int count = 2 + (int)choose(c, MOST - 1);
  carry[1] = pick_exact(s);
  for (int i = 2; i <= count; i++) {
    carry[i] = chance(c, 4) ? pick_exact(s) : need(s, &carry[1].a);
  }
  int condition = s->g->names++;
  text *t = &s->g->computations;
  text_add(t, "k%d {\n  p = ", condition);
  add_tuple_shape(t, carry, count + 1);
  text_add(t,
           " parameter(0)\n  i = %s[] get-tuple-element(p), index=0\n  n = %s[] constant(%lld)\n"
           "  ROOT r = pred[] compare(i, n), direction=%s\n}\n\n",
           indim_type_text(type), indim_type_text(type), (long long)(down ? 3 : 3 + steps * by),
           down           ? "GT"
           : chance(c, 4) ? "NE"
                          : "LT");
  scope *inner = begin_inner(s);
  int tuple = inner->g->names++;
  text_add(&inner->body, "  v%d = ", tuple);
  add_tuple_shape(&inner->body, carry, count + 1);
  text_add(&inner->body, " parameter(0)\n");
  open_tuple(inner, tuple, carry, count + 1);
  value i = inner->values[0];
  for (uint64_t k = choose(c, 6); k > 0; k--) {
    ANY_OF(c, elementwise_steps)(inner);
  }
  for (int k = 1; k <= count; k++) {
    next[k] = need(inner, &carry[k].a);
  }
  snprintf(number, sizeof number, "%lld", (long long)by);
  value one = scalar(inner, type, number);
  next[0] = *make(inner, &i.a, down ? "subtract" : "add", &i, &one, NULL, "");
  text_add(&inner->body, "  ROOT v%d = ", s->g->names++);
  add_tuple_shape(&inner->body, carry, count + 1);
  text_add(&inner->body, " ");
  add_tuple(&inner->body, next, count + 1);
  int body = end_inner(inner);
  int start = make_tuple(s, carry, count + 1);
  int loop = s->g->names++;
  text_add(&s->body, "  v%d = ", loop);
  add_tuple_shape(&s->body, carry, count + 1);
  text_add(&s->body, " while(v%d), condition=k%d, body=k%d\n", start, condition, body);
  open_tuple(s, loop, carry, count + 1);
}

#endif  // INDIM_TESTS_LOOP_STEPS_H
