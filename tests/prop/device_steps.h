// Steps of random programs: random bits, collectives over one device, copies and calls that are begun and ended, and calls of
// the host's functions.
#ifndef INDIM_TESTS_DEVICE_STEPS_H
#define INDIM_TESTS_DEVICE_STEPS_H

#include "elementwise_steps.h"
#include "generator.h"

static void do_random_bits(scope *s) {
  static const indim_type types[] = {INDIM_U32, INDIM_U32, INDIM_U64, INDIM_S32, INDIM_U8,
                                     INDIM_S16, INDIM_S64, INDIM_U16, INDIM_S8,  INDIM_U4};
  static const char *const names[] = {"rng_three_fry", "rng_philox", "rng_default"};
  choices *c = s->g->c;
  int algorithm = (int)choose(c, 3);
  array state = {.type = INDIM_U64, .rank = 1, .sizes = {algorithm == 0 || chance(c, 2) ? 2 : 3}};
  array out = {.type = ANY_OF(c, types)};
  any_sizes(s->g, &out, (int32_t)choose(c, 4));
  value from = need(s, &state);
  int tuple = s->g->names++;
  text_add(&s->body, "  v%d = (", tuple);
  add_shape(&s->body, &state);
  text_add(&s->body, ", ");
  add_shape(&s->body, &out);
  text_add(&s->body, ") rng-bit-generator(v%d), algorithm=%s\n", from.name, names[algorithm]);
  (void)take_result(s, tuple, 0, &state, exactly);
  (void)take_result(s, tuple, 1, &out, exactly);
}

static bool is_integer(const value *v) { return is_exact(v) && is_int(v->a.type); }

static void do_mulhi(scope *s) {
  value x = pick(s, is_integer);
  if (is_int(x.a.type)) {
    value y = need(s, &x.a);
    make(s, &x.a, "mulhi", &x, &y, NULL, "");
  }
}

// One device ---------------------------------------------------------------------------------------------------------

static const char *fold_of(indim_type type) { return type == INDIM_PRED ? "or" : is_complex(type) ? "add" : "maximum"; }

static void do_collective(scope *s) {
  static const char *const groups[] = {"{}", "{{0}}", "{{1},{0}}", "[2,1]<=[2]"};
  value x = *pick_any(s);
  char attributes[160];
  const char *group = ANY_OF(s->g->c, groups);
  int dim = x.a.rank > 0 ? (int)choose(s->g->c, (uint64_t)x.a.rank) : 0;
  uint64_t kind = choose(s->g->c, x.a.rank > 0 ? 6 : 3);
  if (kind == 0) {
    snprintf(attributes, sizeof attributes, ", source_target_pairs={{0,0}}");
    moved(make(s, &x.a, "collective-permute", &x, NULL, NULL, attributes), &x);
  } else if (kind == 1) {
    moved(make(s, &x.a, "collective-broadcast", &x, NULL, NULL, ", replica_groups={{0}}"), &x);
  } else if (kind == 2) {
    int name = combine(s->g, x.a.type, fold_of(x.a.type));
    snprintf(attributes, sizeof attributes, ", replica_groups=%s, to_apply=k%d", group, name);
    moved(make(s, &x.a, "all-reduce", &x, NULL, NULL, attributes), &x);
  } else if (kind == 3) {
    int name = combine(s->g, x.a.type, fold_of(x.a.type));
    snprintf(attributes, sizeof attributes, ", replica_groups={{0}}, dimensions={%d}, to_apply=k%d", dim, name);
    moved(make(s, &x.a, "reduce-scatter", &x, NULL, NULL, attributes), &x);
  } else {
    snprintf(attributes, sizeof attributes, ", replica_groups={{0}}, dimensions={%d}", dim);
    moved(make(s, &x.a, kind == 4 ? "all-gather" : "all-to-all", &x, NULL, NULL, attributes), &x);
  }
}

// A copy or a collective in two halves, with something between them.
static void do_begun(scope *s) {
  static const char *const names[] = {"copy", "all-gather", "collective-permute", "all-reduce"};
  value x = *pick_any(s);
  uint64_t kind = choose(s->g->c, 4);
  kind = kind == 1 && x.a.rank == 0 ? 0 : kind;
  int name = s->g->names++;
  int fold = kind == 3 ? combine(s->g, x.a.type, fold_of(x.a.type)) : 0;
  text_add(&s->body, "  v%d = (", name);
  add_shape(&s->body, &x.a);
  text_add(&s->body, ", ");
  add_shape(&s->body, &x.a);
  text_add(&s->body, "%s) %s-start(v%d)", kind == 0 ? ", u32[]" : "", names[kind], x.name);
  if (kind == 1) {
    text_add(&s->body, ", replica_groups={{0}}, dimensions={%d}", (int)choose(s->g->c, (uint64_t)x.a.rank));
  } else if (kind == 2) {
    text_add(&s->body, ", source_target_pairs={{0,0}}");
  } else if (kind == 3) {
    text_add(&s->body, ", replica_groups={{0}}, to_apply=k%d", fold);
  }
  text_add(&s->body, "\n");
  do_unary(s);
  moved(new_value(s, &x.a), &x);
  text_add(&s->body, "%s-done(v%d)\n", names[kind], name);
}

static void do_async(scope *s) {
  value arguments[3];
  int count = take_carry(s, arguments, 3);
  scope *inner = begin_inner(s);
  for (int i = 0; i < count; i++) {
    new_value(inner, &arguments[i].a);
    text_add(&inner->body, "parameter(%d)\n", i);
  }
  add_steps(inner, 1 + (int)choose(s->g->c, 3));
  value out = pick_exact(inner);
  text_add(&inner->body, "  ROOT v%d = ", s->g->names++);
  add_shape(&inner->body, &out.a);
  text_add(&inner->body, " copy(v%d)\n", out.name);
  int called = end_inner(inner);
  int updates = (int)choose(s->g->c, 3);
  int name = 0;
  for (int i = 0; i <= updates; i++) {
    int before = name;
    name = s->g->names++;
    text_add(&s->body, "  v%d = (", name);
    add_tuple_shape(&s->body, arguments, count);
    text_add(&s->body, ", ");
    add_shape(&s->body, &out.a);
    text_add(&s->body, ", u32[]) async-%s(", i == 0 ? "start" : "update");
    for (int k = 0; k < count && i == 0; k++) {
      text_add(&s->body, "%sv%d", k > 0 ? ", " : "", arguments[k].name);
    }
    if (i == 0) {
      text_add(&s->body, "), calls=k%d\n", called);
      do_unary(s);
    } else {
      text_add(&s->body, "v%d)\n", before);
    }
  }
  new_value(s, &out.a);
  text_add(&s->body, "async-done(v%d)\n", name);
}

// Functions of the host ------------------------------------------------------------------------------------------------

// What twin.h registers: the result is the operand from its end on.
#define CALL "turn"
#define CALL_WITH_EFFECT "turn_and_note"

static void do_host_call(scope *s) {
  value x = pick_exact(s);
  bool has_effect = chance(s->g->c, 2);
  bool is_pure = !has_effect || x.bits_count;  // of NaNs the bits are free, and the effect is made of bits
  if (s->g->c->with_calls && is_pure) {
    value *v = make(s, &x.a, "custom-call", &x, NULL, NULL,
                    has_effect ? ", custom_call_target=\"" CALL_WITH_EFFECT "\", custom_call_has_side_effect=true"
                               : ", custom_call_target=\"" CALL "\"");
    v->bits_count = x.bits_count;
  }
}

// A callback that nobody runs, in a branch that is not taken.
static void do_untaken_call(scope *s) {
  value y = pick_exact(s);
  array p = {.type = INDIM_PRED};
  value at = need_scalar(s, INDIM_S32);
  int names[2];
  value chooser = *make(s, &p, "compare", &at, &at, NULL, ", direction=NE");
  for (int i = 0; i < 2; i++) {
    scope *inner = begin_inner(s);
    value from = *new_value(inner, &y.a);
    text_add(&inner->body, "parameter(0)\n");
    if (i == 0) {
      from = *make(inner, &y.a, "custom-call", &from, NULL, NULL,
                   ", custom_call_target=\"xla_ffi_python_cpu_callback\", custom_call_has_side_effect=true, "
                   "api_version=API_VERSION_TYPED_FFI, backend_config={index = 0 : ui64}");
    } else {
      add_steps(inner, 2);
      from = need(inner, &y.a);
    }
    text_add(&inner->body, "  ROOT v%d = ", s->g->names++);
    add_shape(&inner->body, &y.a);
    text_add(&inner->body, " copy(v%d)\n", from.name);
    names[i] = end_inner(inner);
  }
  new_value(s, &y.a);
  text_add(&s->body, "conditional(v%d, v%d, v%d), true_computation=k%d, false_computation=k%d\n", chooser.name, y.name,
           y.name, names[0], names[1]);
}

#endif  // INDIM_TESTS_DEVICE_STEPS_H
