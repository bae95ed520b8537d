// Random programs of arrays that are updated, through both engines as in compile.c: what may be done in place and what needs
// a copy. Arrays of 130 to 300 elements, which live in memory and not in registers, are updated by slices and scatters,
// read before, inside and after that by slices, gathers, folds and other ops, carried by loops inside loops, given to
// conditionals, swapped, given twice and given away.
//
//   test_prop_in_place                12 seconds of programs, the same ones every time
//   test_prop_in_place SECONDS FIRST  that long from a seed on; INDIM_SEED=n runs one, and prints it
#include "seeds.h"

enum { LARGE = 128, MOST_CARRIED = 4 };

// Values ---------------------------------------------------------------------------------------------------------------

static bool is_large(const value *v) { return is_exact(v) && element_count(&v->a) > LARGE; }

static bool is_counter(const value *v) { return v->a.type == INDIM_S32 && v->a.rank == 0; }

// An array of a size that the program likes.
static array liked(generator *g) {
  array a = {.type = chance(g->c, 2) ? INDIM_S32 : any_type(g->c), .rank = 1, .sizes = {g->base[0]}};
  if (chance(g->c, 3)) {
    a.rank = 2;
    a.sizes[0] = g->base[1];
    a.sizes[1] = g->base[2];
  }
  return a;
}

// A large array, often one of the last that were made.
static value pick_large(scope *s) {
  uint64_t back = choose(s->g->c, chance(s->g->c, 2) ? 3 : (uint64_t)s->count);
  const value *found = NULL;
  for (int i = s->count - 1; i >= s->first; i--) {
    if (is_large(&s->values[i])) {
      found = &s->values[i];
      if (back-- == 0) {
        break;
      }
    }
  }
  array a = liked(s->g);
  return found != NULL ? *found : need(s, &a);
}

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

// The sizes of a part of |a|: one element, a few, or whole rows.
static array part_of(scope *s, const array *a) {
  choices *c = s->g->c;
  array part = *a;
  uint64_t kind = choose(c, 6);
  for (int32_t i = 0; i < a->rank; i++) {
    int64_t few = 1 + (int64_t)choose(c, 9);
    bool is_whole = kind == 5 ? !chance(c, 3) : kind == 4 && i > 0;
    part.sizes[i] = is_whole ? a->sizes[i] : kind < 2 ? 1 : least(few, a->sizes[i]);
  }
  if (kind == 5 && chance(c, 3) && a->rank > 0) {
    part.sizes[0] = a->sizes[0] - least(a->sizes[0], (int64_t)choose(c, 9));
  }
  return part;
}

// A start along a dimension: a constant, something that a loop counts, or an element of an array.
static value start_along(scope *s, int64_t size) {
  choices *c = s->g->c;
  char number[30];
  uint64_t kind = choose(c, 4);
  snprintf(number, sizeof number, "%lld", (long long)choose(c, (uint64_t)least(size, 12) + 1));
  if (kind == 0) {
    return scalar(s, INDIM_S32, number);
  }
  if (kind == 1) {
    value any = any_start(s, size);
    return as_type(s, &any, INDIM_S32);
  }
  value x = pick(s, is_counter);
  x = as_type(s, &x, INDIM_S32);
  if (chance(c, 2)) {
    value by = scalar(s, INDIM_S32, number);
    array a = {.type = INDIM_S32};
    x = *make(s, &a, chance(c, 3) ? "multiply" : "add", &x, &by, NULL, "");
  }
  return x;
}

static void starts_along(scope *s, const array *a, value *starts) {
  for (int32_t i = 0; i < a->rank; i++) {
    starts[i] = start_along(s, a->sizes[i]);
  }
}

// Reading --------------------------------------------------------------------------------------------------------------

static value fold_all(scope *s, const value *from) {
  static const int64_t all[PROGRAM_RANK] = {0, 1, 2, 3, 4, 5};
  value x = *from;
  value init;
  array out = {.type = x.a.type};
  const char *op = any_fold(s, x.a.type, element_count(&x.a), &x, &init);
  int name = combine(s->g, x.a.type, op);
  value *v = new_value(s, &out);
  v->bits_count |= is_by_order(op);
  text_add(&s->body, "reduce(v%d, v%d), dimensions=", x.name, init.name);
  add_list(&s->body, "{", all, x.a.rank, "}");
  text_add(&s->body, ", to_apply=k%d\n", name);
  return *v;
}

static value slice_at_starts(scope *s, const value *x, const array *part) {
  value starts[PROGRAM_RANK];
  array a = *part;
  a.type = x->a.type;
  starts_along(s, &x->a, starts);
  value *v = moved(new_value(s, &a), x);
  text_add(&s->body, "dynamic-slice(v%d", x->name);
  add_starts(s, starts, x->a.rank);
  add_list(&s->body, "), dynamic_slice_sizes={", a.sizes, a.rank, "}\n");
  return *v;
}

static value slice_at(scope *s, const value *x, const array *part) {
  array a = *part;
  a.type = x->a.type;
  value *v = moved(new_value(s, &a), x);
  text_add(&s->body, "slice(v%d), slice={", x->name);
  for (int32_t i = 0; i < a.rank; i++) {
    int64_t start = (int64_t)choose(s->g->c, (uint64_t)(x->a.sizes[i] - a.sizes[i]) + 1);
    text_add(&s->body, "%s[%lld:%lld]", i > 0 ? ", " : "", (long long)start, (long long)(start + a.sizes[i]));
  }
  text_add(&s->body, "}\n");
  return *v;
}

// Rows of x, one for each along the part's first dimension.
static value gather_rows(scope *s, const value *x, const array *part) {
  array indices = {.type = INDIM_S32, .rank = 1, .sizes = {part->sizes[0]}};
  array a = *part;
  static const int64_t offsets[PROGRAM_RANK] = {1, 2, 3, 4, 5};
  value i = any_indices(s, &indices, x->a.sizes[0]);
  a.type = x->a.type;
  value *v = moved(new_value(s, &a), x);
  text_add(&s->body, "gather(v%d, v%d), offset_dims={", x->name, i.name);
  add_list(&s->body, "", offsets, a.rank - 1, "");
  a.sizes[0] = 1;
  add_list(&s->body, "}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={", a.sizes,
           a.rank, "}\n");
  return *v;
}

static bool fits(const array *part, const array *a) {
  bool ok = part->rank == a->rank && part->rank > 0;
  for (int32_t i = 0; ok && i < a->rank; i++) {
    ok = part->sizes[i] <= a->sizes[i];
  }
  return ok;
}

static const char *any_op(scope *s, indim_type type) {
  static const char *const reals[] = {"add", "subtract", "multiply", "maximum"};
  static const char *const integers[] = {"add", "subtract", "multiply", "xor", "minimum"};
  static const char *const preds[] = {"and", "or", "xor"};
  static const char *const complexes[] = {"add", "subtract"};
  choices *c = s->g->c;
  return is_real(type)      ? ANY_OF(c, reals)
         : is_int(type)     ? ANY_OF(c, integers)
         : is_complex(type) ? ANY_OF(c, complexes)
                            : ANY_OF(c, preds);
}

// All of an array, seen through something: what is read of this may be computed later than the array.
static value seen_through(scope *s, const value *x) {
  switch ((int)choose(s->g->c, 6)) {
  case 0:
    return *make(s, &x->a, x->a.type == INDIM_PRED ? "not" : "negate", x, NULL, NULL, "");
  case 1:
    return *moved(make(s, &x->a, "copy", x, NULL, NULL, ""), x);
  case 2: {
    value y = need(s, &x->a);
    return *make(s, &x->a, any_op(s, x->a.type), x, &y, NULL, "");
  }
  case 3:
    return x->a.rank == 0 ? *x : *moved(make(s, &x->a, "reverse", x, NULL, NULL, ", dimensions={0}"), x);
  default:
    return *x;
  }
}

// Something of a large array that has the part's sizes and type.
static value read_part(scope *s, const array *part) {
  choices *c = s->g->c;
  value x = pick_large(s);
  value v;
  if (chance(c, 3)) {
    x = seen_through(s, &x);
  }
  if (!fits(part, &x.a) || chance(c, 6)) {
    value sum = fold_all(s, &x);
    v = part->rank == 0 ? sum : broadcast_to(s, &sum, part, NULL);
  } else if (chance(c, 5)) {
    v = slice_at(s, &x, part);
  } else if (chance(c, 4) && part->rank + 1 < PROGRAM_RANK) {
    v = gather_rows(s, &x, part);
  } else {
    v = slice_at_starts(s, &x, part);
  }
  return as_type(s, &v, part->type);
}

// What an array is updated with.
static value expression(scope *s, const array *part, int depth) {
  uint64_t kind = choose(s->g->c, depth > 2 ? 4 : 8);
  if (kind == 0) {
    return need(s, part);
  }
  if (kind < 4) {
    return read_part(s, part);
  }
  value x = expression(s, part, depth + 1);
  if (kind == 4) {
    return *make(s, part, part->type == INDIM_PRED ? "not" : "negate", &x, NULL, NULL, "");
  }
  value y = expression(s, part, depth + 1);
  if (kind < 7) {
    return *make(s, part, any_op(s, part->type), &x, &y, NULL, "");
  }
  array p = {.type = INDIM_PRED};
  value which = need(s, &p);
  return *make(s, part, "select", &which, &x, &y, "");
}

// Steps ----------------------------------------------------------------------------------------------------------------

static void do_update(scope *s) {
  value x = pick_large(s);
  value starts[PROGRAM_RANK];
  array part = part_of(s, &x.a);
  value update = expression(s, &part, 0);
  starts_along(s, &x.a, starts);
  new_value(s, &x.a)->bits_count = x.bits_count && update.bits_count;
  text_add(&s->body, "dynamic-update-slice(v%d, v%d", x.name, update.name);
  add_starts(s, starts, x.a.rank);
  text_add(&s->body, ")\n");
}

static const char *const scatter_rows =
    "}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1";

// Rows of an array replaced, or combined where that is exact in any order.
static void do_scatter_rows(scope *s) {
  static const char *const integers[] = {"add", "maximum", "xor", "last"};
  static const int64_t dims[PROGRAM_RANK] = {1, 2, 3, 4, 5};
  value x = pick_large(s);
  array part = part_of(s, &x.a);
  array indices = {.type = INDIM_S32, .rank = 1, .sizes = {part.sizes[0]}};
  value update = expression(s, &part, 0);
  value i = any_indices(s, &indices, x.a.sizes[0]);
  int name = combine(s->g, x.a.type, is_int(x.a.type) ? ANY_OF(s->g->c, integers) : "last");
  new_value(s, &x.a);
  text_add(&s->body, "scatter(v%d, v%d, v%d), update_window_dims={", x.name, i.name, update.name);
  add_list(&s->body, "", dims, x.a.rank - 1, scatter_rows);
  text_add(&s->body, ", to_apply=k%d\n", name);
}

// A scatter into two arrays at once, which may be the same one.
static void do_scatter_two(scope *s) {
  value x = pick_large(s);
  value y = chance(s->g->c, 4) ? x : need(s, &x.a);
  static const int64_t dims[PROGRAM_RANK] = {1, 2, 3, 4, 5};
  array part = part_of(s, &x.a);
  array indices = {.type = INDIM_S32, .rank = 1, .sizes = {part.sizes[0]}};
  value u = expression(s, &part, 0);
  value w = expression(s, &part, 1);
  value i = any_indices(s, &indices, x.a.sizes[0]);
  int name = s->g->names++;
  int tuple = s->g->names++;
  const char *t = indim_type_text(x.a.type);
  value pair[2] = {x, y};
  text_add(&s->g->computations,
           "k%d {\n  x = %s[] parameter(0)\n  y = %s[] parameter(1)\n  u = %s[] parameter(2)\n  w = %s[] parameter(3)\n"
           "  ROOT r = (%s[], %s[]) tuple(%s)\n}\n\n",
           name, t, t, t, t, t, t, chance(s->g->c, 2) ? "u, w" : "w, x");
  text_add(&s->body, "  v%d = ", tuple);
  add_tuple_shape(&s->body, pair, 2);
  text_add(&s->body, " scatter(v%d, v%d, v%d, v%d, v%d), update_window_dims={", x.name, y.name, i.name, u.name, w.name);
  add_list(&s->body, "", dims, x.a.rank - 1, scatter_rows);
  text_add(&s->body, ", to_apply=k%d\n", name);
  open_tuple(s, tuple, pair, 2);
}

// Something is read now, and used whenever.
static void do_read(scope *s) {
  value x = pick_large(s);
  array part = part_of(s, &x.a);
  (void)read_part(s, &part);
}

static void do_whole(scope *s) {
  value x = pick_large(s);
  array p = {.type = INDIM_PRED};
  if (chance(s->g->c, 3)) {
    value y = need(s, &x.a);
    value which = need(s, &p);
    make(s, &x.a, "select", &which, &x, &y, "");
    return;
  }
  (void)seen_through(s, &x);
}

// One of two arrays by a pred that changes as loops run, an old value that is kept or replaced.
static void do_choose(scope *s) {
  choices *c = s->g->c;
  array p = {.type = INDIM_PRED};
  value x = pick_large(s);
  value y = chance(c, 4) ? seen_through(s, &x) : need(s, &x.a);
  value i = start_along(s, 8);
  array scalar_shape = {.type = INDIM_S32};
  value one = scalar(s, INDIM_S32, chance(c, 2) ? "1" : "2");
  value low = *make(s, &scalar_shape, "and", &i, &one, NULL, "");
  value zero = scalar(s, INDIM_S32, "0");
  value which = *make(s, &p, "compare", &low, &zero, NULL, chance(c, 2) ? ", direction=EQ" : ", direction=GT");
  bool is_swapped = chance(c, 2);
  const value *first = is_swapped ? &y : &x;
  const value *second = is_swapped ? &x : &y;
  if (chance(c, 2)) {
    array all = x.a;
    all.type = INDIM_PRED;
    value preds = broadcast_to(s, &which, &all, NULL);
    make(s, &x.a, "select", &preds, first, second, "");
  } else {
    make(s, &x.a, "select", &which, first, second, "");
  }
}

// Control --------------------------------------------------------------------------------------------------------------

static bool is_like(const value *v, const value *like) {
  return is_exact(v) && v->a.type == like->a.type && same_sizes(&v->a, &like->a);
}

// What a body gives as the result that is like |like|: what was made last, one of the |count| parameters, or any value.
static value give(scope *s, const value *like, int count) {
  choices *c = s->g->c;
  uint64_t kind = choose(c, 6);
  int most = kind < 2 ? count : s->count;
  uint64_t back = kind < 2 ? choose(c, 3) : kind == 2 ? choose(c, 6) : 0;
  const value *found = NULL;
  for (int i = most - 1; i >= 0; i--) {
    if (is_like(&s->values[i], like)) {
      found = &s->values[i];
      if (back-- == 0) {
        break;
      }
    }
  }
  return found == NULL ? need(s, &like->a) : *found;
}

// A computation of |given| that gives what is like |likes|, as tuples where they are not alone. It counts in value 0 if it is
// a loop's body.
static int computation_of(scope *outer, const value *given, int count, const value *likes, int results, bool counts) {
  scope *s = begin_inner(outer);
  value out[1 + MOST_CARRIED];
  if (count == 1) {
    new_value(s, &given[0].a);
    cut_layout(&s->body);
    text_add(&s->body, " parameter(0)\n");
  } else {
    int tuple = s->g->names++;
    text_add(&s->body, "  v%d = ", tuple);
    add_tuple_shape(&s->body, given, count);
    text_add(&s->body, " parameter(0)\n");
    open_tuple(s, tuple, given, count);
  }
  value i = s->values[0];
  add_steps(s, counts ? 1 + (int)choose(s->g->c, 4) : (int)choose(s->g->c, 4));
  for (int k = 0; k < results; k++) {
    out[k] = give(s, &likes[k], count);
  }
  if (counts) {
    value one = scalar(s, INDIM_S32, "1");
    out[0] = *make(s, &i.a, "add", &i, &one, NULL, "");
  }
  int alone = results == 1 ? make_tuple(s, out, 1) : 0;
  text_add(&s->body, "  ROOT v%d = ", s->g->names++);
  if (results == 1) {
    add_shape(&s->body, &out[0].a);
    text_add(&s->body, " get-tuple-element(v%d), index=0\n", alone);
  } else {
    add_tuple_shape(&s->body, out, results);
    text_add(&s->body, " ");
    add_tuple(&s->body, out, results);
  }
  return end_inner(s);
}

// Whether the loop goes on: value 0 is below a number, and sometimes an array that is carried says so as well.
static int condition_of(scope *outer, const value *given, int count) {
  scope *s = begin_inner(outer);
  array p = {.type = INDIM_PRED};
  int tuple = s->g->names++;
  char number[30];
  text_add(&s->body, "  v%d = ", tuple);
  add_tuple_shape(&s->body, given, count);
  text_add(&s->body, " parameter(0)\n");
  open_tuple(s, tuple, given, count);
  value i = s->values[0];
  snprintf(number, sizeof number, "%d", (int)choose(s->g->c, 6));
  value n = scalar(s, INDIM_S32, number);
  value goes = *make(s, &p, "compare", &i, &n, NULL, ", direction=LT");
  if (chance(s->g->c, 3)) {
    array scalar_shape = {.type = given[count - 1].a.type};
    value x = fold_all(s, &s->values[count - 1]);
    value y = small_constant(s, scalar_shape.type);
    value differs = *make(s, &p, "compare", &x, &y, NULL, ", direction=NE");
    goes = *make(s, &p, "and", &goes, &differs, NULL, "");
  }
  text_add(&s->body, "  ROOT v%d = pred[] copy(v%d)\n", s->g->names++, goes.name);
  return end_inner(s);
}

// Some large arrays, sometimes the same one twice.
static int take_large(scope *s, value *list, int most) {
  int count = 1 + (int)choose(s->g->c, (uint64_t)most);
  for (int k = 0; k < count; k++) {
    list[k] = k > 0 && chance(s->g->c, 4) ? list[k - 1] : pick_large(s);
    if (k > 0 && chance(s->g->c, 3)) {
      list[k] = need(s, &list[0].a);  // of one kind, so that they can be swapped
    }
  }
  return count;
}

static void do_loop(scope *s) {
  value carry[1 + MOST_CARRIED];
  int count = 1 + take_large(s, carry + 1, MOST_CARRIED - 1);
  carry[0] = scalar(s, INDIM_S32, "0");
  if (chance(s->g->c, 4)) {
    carry[count++] = need_scalar(s, chance(s->g->c, 2) ? INDIM_S32 : INDIM_PRED);
  }
  int body = computation_of(s, carry, count, carry, count, true);
  int condition = condition_of(s, carry, count);
  int tuple = make_tuple(s, carry, count);
  int loop = s->g->names++;
  text_add(&s->body, "  v%d = ", loop);
  add_tuple_shape(&s->body, carry, count);
  text_add(&s->body, " while(v%d), condition=k%d, body=k%d\n", tuple, condition, body);
  open_tuple(s, loop, carry, count);
}

// The operand of a branch: some of the arrays that the results are like, in any order, and what else there is.
static int any_operand(scope *s, const value *likes, int results, value *given) {
  int count = 1 + (int)choose(s->g->c, MOST_CARRIED);
  for (int k = 0; k < count; k++) {
    given[k] = chance(s->g->c, 5)
                   ? pick_exact(s)
                   : likes[chance(s->g->c, 3) ? choose(s->g->c, (uint64_t)results) : (uint64_t)(k % results)];
  }
  return count;
}

static void do_branch(scope *s) {
  enum { MOST = 3 };
  choices *c = s->g->c;
  value likes[MOST_CARRIED];
  value given[MOST][MOST_CARRIED];
  int counts[MOST];
  int names[MOST];
  int operands[MOST];
  int results = take_large(s, likes, 2);
  bool two = chance(c, 2);
  bool alike = chance(c, 2);
  int branches = two ? 2 : 1 + (int)choose(c, MOST);
  value chooser = two ? need_scalar(s, INDIM_PRED) : start_along(s, branches);
  for (int b = 0; b < branches; b++) {
    counts[b] = any_operand(s, likes, results, given[b]);
    if (alike && b > 0) {
      counts[b] = counts[0];
      memcpy(given[b], given[0], sizeof given[0]);
    }
    names[b] = computation_of(s, given[b], counts[b], likes, results, false);
  }
  for (int b = 0; b < branches; b++) {
    operands[b] = counts[b] == 1 ? given[b][0].name : make_tuple(s, given[b], counts[b]);
  }
  int out = s->g->names;
  if (results == 1) {
    new_value(s, &likes[0].a);
    cut_layout(&s->body);
  } else {
    text_add(&s->body, "  v%d = ", s->g->names++);
    add_tuple_shape(&s->body, likes, results);
  }
  text_add(&s->body, " conditional(v%d", chooser.name);
  for (int b = 0; b < branches; b++) {
    text_add(&s->body, ", v%d", operands[b]);
  }
  text_add(&s->body, ")");
  for (int b = 0; b < branches; b++) {
    text_add(&s->body,
             two      ? ", %s_computation=k%d"
             : b == 0 ? ", branch_computations={%sk%d"
                      : "%s, k%d",
             two && b == 0 ? "true"
             : two         ? "false"
                           : "",
             names[b]);
  }
  text_add(&s->body, two ? "\n" : "}\n");
  if (results > 1) {
    open_tuple(s, out, likes, results);
  }
}

// ----------------------------------------------------------------------------------------------------------------------

static void any_step_of_updates(scope *s) {
  static const step steps[] = {
      {10, do_update, false}, {3, do_scatter_rows, false}, {2, do_scatter_two, false}, {5, do_read, false},
      {3, do_whole, false},   {4, do_loop, true},          {4, do_branch, true},       {1, do_call, true},
      {3, add_step, false},   {4, do_choose, false},
  };
  enum { DEEP = 3 };
  take_step(s, steps, sizeof steps / sizeof *steps, DEEP);
}

static void make_arrays(scope *s) {
  program *p = s->g->p;
  choices *c = s->g->c;
  array first = {.type = INDIM_S32, .rank = 1, .sizes = {8}};  // what indices are taken from
  p->parameter_count = 3 + (int)choose(c, 3);
  for (int i = 0; i < p->parameter_count; i++) {
    p->parameters[i] = i == 0 ? first : i > 1 && chance(c, 2) ? p->parameters[i - 1] : liked(s->g);
    p->any_values[i] = chance(c, 4);
    value *v = new_value(s, &p->parameters[i]);
    v->bits_count = v->is_parameter = true;
    text_add(&s->body, "parameter(%d)\n", i);
  }
}

static void make_updates(program *p, choices *c) {
  generator g = {.c = c, .p = p, .limit = 400, .step = any_step_of_updates};
  scope *s = calloc(1, sizeof *s);
  array results[PROGRAM_RESULTS];
  bool is_tuple = false;
  text whole_text = {0};
  if (s == NULL) {
    abort();
  }
  memset(p, 0, sizeof *p);
  p->part_count = 1;
  s->g = &g;
  g.base[0] = 130 + (int64_t)choose(c, 170);
  g.base[1] = 2 + (int64_t)choose(c, 16);
  g.base[2] = 130 / g.base[1] + 1 + (int64_t)choose(c, 5);
  g.base[3] = 1 + (int64_t)choose(c, 9);
  make_arrays(s);
  add_steps(s, 2 + (int)choose(c, 6));
  make_root(s, results, &is_tuple);
  make_header(&g, &whole_text, results, is_tuple);
  text_add(&whole_text, "%sENTRY main {\n%s}\n", g.computations.data == NULL ? "" : g.computations.data, s->body.data);
  p->text = whole_text.data;
  free(g.computations.data);
  free(s->body.data);
  free(s);
}

TEST(both_engines_agree) { run_seeds(make_updates, seconds_asked, first_asked); }

int main(int argc, char **argv) {
  static const test_entry entries[] = {{"both_engines_agree", test_case_both_engines_agree}};
  if (indim_compile_available(NULL) != INDIM_OK) {
    printf("this build has no code generator\n1 passed, 0 failed\n");
    return 0;
  }
  read_seeds(argc, argv);
  return test_main(entries, 1, 1, argv);
}
