// Random programs: HLO text and what its results may be compared by. One stream of choices makes one program, so a seed
// (or a fuzzer's bytes) names it.
//
//   program p;
//   program_make(&p, &(choices){.state = seed});     p.text, p.parameters[], p.results[].within
//   program_free(&p);
//
// Programs are made so that two right engines agree to the bit nearly everywhere: sums are over small integers, the order
// of a sort is total, bits of numbers that may be NaN are not looked at. What is left to rounding (functions, real sums) is
// only moved on, with the distance that is allowed.
#ifndef INDIM_TESTS_PROGRAM_H
#define INDIM_TESTS_PROGRAM_H

#include "device_steps.h"
#include "elementwise_steps.h"
#include "generator.h"
#include "linalg_steps.h"
#include "loop_steps.h"

// Moves: what they carry stays as near as it was ---------------------------------------------------------------------

static void do_reshape(scope *s) {
  value x = *pick_any(s);
  array a = {.type = x.a.type};
  int64_t left = element_count(&x.a);
  int32_t most = chance(s->g->c, 8) ? PROGRAM_RANK - 1 : 3;
  while (left > 1 && a.rank < most) {
    int64_t size = 1 + (int64_t)choose(s->g->c, 16);
    while (left % size != 0) {
      size--;
    }
    a.sizes[a.rank++] = size;
    left /= size;
  }
  if (left != 1 || chance(s->g->c, 4)) {
    a.sizes[a.rank++] = left;
  }
  moved(make(s, &a, "reshape", &x, NULL, NULL, ""), &x);
}

static void do_broadcast(scope *s) {
  value x = *pick_any(s);
  array a = {.type = x.a.type};
  int64_t dims[PROGRAM_RANK];
  int32_t at = 0;
  if (x.a.rank == PROGRAM_RANK) {
    return;
  }
  int32_t most = x.a.rank < 4 && !chance(s->g->c, 8) ? 4 : PROGRAM_RANK;
  int32_t more = 1 + (int32_t)choose(s->g->c, (uint64_t)(most - x.a.rank));
  any_sizes(s->g, &a, x.a.rank + more);
  for (int32_t i = 0; i < a.rank; i++) {
    bool must = a.rank - i == x.a.rank - at;
    if (at < x.a.rank && (must || chance(s->g->c, 2))) {
      dims[at] = i;
      a.sizes[i] = x.a.sizes[at++];
    }
  }
  if (element_count(&a) <= s->g->limit) {
    (void)broadcast_to(s, &x, &a, dims);
  }
}

static void add_operand(scope *s, const char *op, const value *x, const char *after) {
  text_add(&s->body, "%s(v%d)%s", op, x->name, after);
}

static void do_transpose(scope *s) {
  value x = *pick_any(s);
  array a = x.a;
  int64_t order[PROGRAM_RANK];
  any_order(s->g->c, a.rank, order);
  for (int32_t i = 0; i < a.rank; i++) {
    a.sizes[i] = x.a.sizes[order[i]];
  }
  value *v = moved(new_value(s, &a), &x);
  (void)v;
  add_operand(s, "transpose", &x, ", dimensions=");
  add_list(&s->body, "{", order, a.rank, "}\n");
}

static void do_reverse(scope *s) {
  value x = *pick_any(s);
  int64_t dims[PROGRAM_RANK];
  int32_t count = 0;
  for (int32_t i = 0; i < x.a.rank; i++) {
    if (chance(s->g->c, 2)) {
      dims[count++] = i;
    }
  }
  moved(new_value(s, &x.a), &x);
  add_operand(s, "reverse", &x, ", dimensions=");
  add_list(&s->body, "{", dims, count, "}\n");
}

static void do_slice(scope *s) {
  value x = *pick_any(s);
  array a = x.a;
  int64_t start[PROGRAM_RANK];
  int64_t limit[PROGRAM_RANK];
  int64_t stride[PROGRAM_RANK];
  for (int32_t i = 0; i < a.rank; i++) {
    bool whole_dim = chance(s->g->c, 3);
    start[i] = whole_dim ? 0 : (int64_t)choose(s->g->c, (uint64_t)x.a.sizes[i] + 1);
    limit[i] = whole_dim ? x.a.sizes[i] : start[i] + (int64_t)choose(s->g->c, (uint64_t)(x.a.sizes[i] - start[i]) + 1);
    stride[i] = chance(s->g->c, 3) ? 1 + (int64_t)choose(s->g->c, 4) : 1;
    a.sizes[i] = (limit[i] - start[i] + stride[i] - 1) / stride[i];
  }
  moved(new_value(s, &a), &x);
  add_operand(s, "slice", &x, ", slice={");
  for (int32_t i = 0; i < a.rank; i++) {
    text_add(&s->body, "%s[%lld:%lld:%lld]", i > 0 ? ", " : "", (long long)start[i], (long long)limit[i],
             (long long)stride[i]);
  }
  text_add(&s->body, "}\n");
}

static void do_pad(scope *s) {
  value x = *pick_any(s);
  array a = x.a;
  text padding = {0};
  for (int32_t i = 0; i < a.rank; i++) {
    int64_t low = (int64_t)choose(s->g->c, 6) - 2;
    int64_t high = (int64_t)choose(s->g->c, 6) - 2;
    int64_t between = chance(s->g->c, 4) ? 1 + (int64_t)choose(s->g->c, 2) : 0;
    int64_t spread = a.sizes[i] == 0 ? 0 : a.sizes[i] + (a.sizes[i] - 1) * between;
    if (spread + low + high < 0) {
      low = high = 0;
    }
    a.sizes[i] = spread + low + high;
    text_add(&padding, "%s%lld_%lld_%lld", i > 0 ? "x" : "", (long long)low, (long long)high, (long long)between);
  }
  if (a.rank > 0 && element_count(&a) <= s->g->limit) {
    value by = need_scalar(s, a.type);
    text attributes = {0};
    text_add(&attributes, ", padding=%s", padding.data);
    value *v = moved(make(s, &a, "pad", &x, &by, NULL, attributes.data), &x);
    v->bits_count = v->bits_count && by.bits_count;
    free(attributes.data);
  }
  free(padding.data);
}

static void do_concatenate(scope *s) {
  value x = *pick_any(s);
  value parts[5] = {x};
  array a = x.a;
  if (a.rank == 0 || !is_exact(&x)) {
    return;
  }
  int32_t dim = (int32_t)choose(s->g->c, (uint64_t)a.rank);
  int count = 1 + (int)choose(s->g->c, 4);
  bool bits_count = x.bits_count;
  for (int i = 1; i < count; i++) {
    array other = x.a;
    if (chance(s->g->c, 3)) {
      other.sizes[dim] = 1 + (int64_t)choose(s->g->c, 9);
    }
    if (element_count(&other) > s->g->limit) {  // what a dimension of no elements hid
      return;
    }
    parts[i] = need(s, &other);
    bits_count = bits_count && parts[i].bits_count;
    a.sizes[dim] += other.sizes[dim];
  }
  if (element_count(&a) > s->g->limit) {
    return;
  }
  value *v = new_value(s, &a);
  v->bits_count = bits_count;
  text_add(&s->body, "concatenate(");
  for (int i = 0; i < count; i++) {
    text_add(&s->body, "%sv%d", i > 0 ? ", " : "", parts[i].name);
  }
  text_add(&s->body, "), dimensions={%d}\n", (int)dim);
}

// The bytes of a value in some layout, seen as an array of another shape.
static void do_bitcast(scope *s) {
  value x = *pick_any(s);
  array a = x.a;
  int64_t order[PROGRAM_RANK];
  any_order(s->g->c, a.rank, order);
  moved(new_value(s, &a), &x);
  cut_layout(&s->body);
  add_list(&s->body, "{", order, a.rank, "} ");
  add_operand(s, "copy", &x, "\n");
  value from = s->values[s->count - 1];
  for (int32_t i = 0; i < a.rank; i++) {
    a.sizes[i] = from.a.sizes[order[a.rank - 1 - i]];
  }
  moved(new_value(s, &a), &from);
  cut_layout(&s->body);
  int64_t rows[PROGRAM_RANK];
  for (int32_t i = 0; i < a.rank; i++) {
    rows[i] = a.rank - 1 - i;
  }
  add_list(&s->body, "{", rows, a.rank, "} ");
  add_operand(s, "bitcast", &from, "\n");
}

static void do_copy(scope *s) {
  static const char *const ops[] = {"copy", "opt-barrier", "copy"};
  value x = *pick_any(s);
  moved(make(s, &x.a, ANY_OF(s->g->c, ops), &x, NULL, NULL, ""), &x);
}

// Indexing ---------------------------------------------------------------------------------------------------------

// A start that is often outside.
static value any_start(scope *s, int64_t size) {
  static const indim_type types[] = {INDIM_S32, INDIM_S32, INDIM_S64, INDIM_U32,
                                     INDIM_U8,  INDIM_S8,  INDIM_U64, INDIM_S16};
  char number[30];
  indim_type type = ANY_OF(s->g->c, types);
  if (chance(s->g->c, 4)) {
    int64_t at = (int64_t)choose(s->g->c, (uint64_t)size + 3) - 1;
    snprintf(number, sizeof number, "%lld", (long long)(at < 0 && indim_type_is_unsigned_int(type) ? 0 : at % 100));
    return scalar(s, type, number);
  }
  for (int tries = 0; tries < 8; tries++) {  // an element of a vector of integers
    const value *v = pick_any(s);
    if (is_int(v->a.type) && indim_type_bits(v->a.type) >= 8 && v->a.rank == 1 && v->a.sizes[0] > 0) {
      value x = *v;
      char attributes[80];
      int64_t at = (int64_t)choose(s->g->c, (uint64_t)x.a.sizes[0]);
      snprintf(attributes, sizeof attributes, ", slice={[%lld:%lld]}", (long long)at, (long long)at + 1);
      array one = {.type = x.a.type, .rank = 1, .sizes = {1}};
      value slice = *make(s, &one, "slice", &x, NULL, NULL, attributes);
      one.rank = 0;
      return *make(s, &one, "reshape", &slice, NULL, NULL, "");
    }
  }
  return need_scalar(s, type);
}

static int any_starts(scope *s, const array *a, value *starts) {
  for (int32_t i = 0; i < a->rank; i++) {
    starts[i] = any_start(s, a->sizes[i]);
    if (i > 0) {
      starts[i] = as_type(s, &starts[i], starts[0].a.type);
    }
  }
  return a->rank;
}

static void any_part(scope *s, const array *a, array *part) {
  *part = *a;
  for (int32_t i = 0; i < a->rank; i++) {
    part->sizes[i] = chance(s->g->c, 3)   ? a->sizes[i]
                     : chance(s->g->c, 2) ? (a->sizes[i] > 0)
                                          : (int64_t)choose(s->g->c, (uint64_t)a->sizes[i] + 1);
  }
}

static void add_starts(scope *s, const value *starts, int count) {
  for (int i = 0; i < count; i++) {
    text_add(&s->body, ", v%d", starts[i].name);
  }
}

static void do_dynamic_slice(scope *s) {
  value x = *pick_any(s);
  value starts[PROGRAM_RANK];
  array part;
  if (x.a.rank == 0) {
    return;
  }
  any_part(s, &x.a, &part);
  int count = any_starts(s, &x.a, starts);
  moved(new_value(s, &part), &x);
  text_add(&s->body, "dynamic-slice(v%d", x.name);
  add_starts(s, starts, count);
  add_list(&s->body, "), dynamic_slice_sizes={", part.sizes, part.rank, "}\n");
}

static void do_dynamic_update_slice(scope *s) {
  value x = pick_exact(s);
  value starts[PROGRAM_RANK];
  array part;
  if (x.a.rank == 0) {
    return;
  }
  any_part(s, &x.a, &part);
  value update = need(s, &part);
  int count = any_starts(s, &x.a, starts);
  new_value(s, &x.a)->bits_count = x.bits_count && update.bits_count;
  text_add(&s->body, "dynamic-update-slice(v%d, v%d", x.name, update.name);
  add_starts(s, starts, count);
  text_add(&s->body, ")\n");
}

// Indices along one dimension, or along all of them in a last dimension of vectors.
static void do_gather(scope *s) {
  choices *c = s->g->c;
  value x = *pick_any(s);
  if (x.a.rank == 0 || element_count(&x.a) == 0) {
    return;
  }
  static const indim_type types[] = {INDIM_S32, INDIM_S64, INDIM_U32, INDIM_S8};
  bool along_one = !chance(s->g->c, 3);
  array indices = {.type = ANY_OF(s->g->c, types)};
  array part = x.a;
  array out = {.type = x.a.type};
  int32_t dim = (int32_t)choose(s->g->c, (uint64_t)x.a.rank);
  any_sizes(s->g, &indices, along_one ? (int32_t)choose(s->g->c, 2) : 1);
  int64_t batch = indices.sizes[0];
  int32_t batch_rank = indices.rank;
  if (!along_one) {
    any_part(s, &x.a, &part);
    indices.sizes[indices.rank++] = x.a.rank;
  } else {
    part.sizes[dim] = 1;
  }
  int32_t offsets = along_one ? x.a.rank - 1 : x.a.rank;
  out.rank = batch_rank + offsets;
  if (out.rank > PROGRAM_RANK) {
    return;
  }
  int64_t offset[PROGRAM_RANK];
  int32_t hole = batch_rank == 0 ? out.rank : chance(c, 2) ? 0 : (int32_t)choose(c, (uint64_t)out.rank);
  int32_t at = 0;
  for (int32_t i = 0; i < x.a.rank; i++) {
    if (!along_one || i != dim) {
      offset[at] = at + (at >= hole);
      out.sizes[offset[at++]] = part.sizes[i];
    }
  }
  if (batch_rank > 0) {
    out.sizes[hole] = batch;
  }
  if (element_count(&out) > s->g->limit || element_count(&indices) > s->g->limit) {
    return;
  }
  value i = any_indices(s, &indices, x.a.sizes[dim]);
  moved(new_value(s, &out), &x);
  text_add(&s->body, "gather(v%d, v%d), offset_dims={", x.name, i.name);
  add_list(&s->body, "", offset, offsets, "");
  text_add(&s->body, "}, collapsed_slice_dims={");
  if (along_one) {
    text_add(&s->body, "%d}, start_index_map={%d", (int)dim, (int)dim);
  } else {
    static const int64_t all[PROGRAM_RANK] = {0, 1, 2, 3, 4, 5};
    add_list(&s->body, "}, start_index_map={", all, x.a.rank, "");
  }
  text_add(&s->body, "}, index_vector_dim=%d, slice_sizes=", (int)batch_rank);
  add_list(&s->body, "{", part.sizes, part.rank, "}\n");
}

// Computations of scalars ------------------------------------------------------------------------------------------

// An op whose order does not matter, for |count| numbers of this type, and what to begin with.
static const char *any_fold(scope *s, indim_type type, int64_t count, value *x, value *init) {
  static const char *const integers[] = {"add", "multiply", "and", "or", "xor", "maximum", "minimum", "add"};
  static const char *const preds[] = {"and", "or", "xor"};
  static const char *const reals[] = {"add", "maximum", "minimum", "add"};
  const char *op = is_int(type) ? ANY_OF(s->g->c, integers) : is_real(type) ? ANY_OF(s->g->c, reals) : "add";
  op = type == INDIM_PRED ? ANY_OF(s->g->c, preds) : op;
  if (is_real(type) && op[0] == 'a' && count > most_summed(type)) {
    op = "maximum";
  }
  if (is_real(type) && x->bits_count && chance(s->g->c, 2)) {
    *init = small_constant(s, type);
    return ANY_OF(s->g->c, by_order);
  }
  if (is_real(type) && op[0] == 'a') {
    *x = whole(s, x);
    *init = scalar(s, type, chance(s->g->c, 3) ? "1" : "0");
  } else if (is_complex(type)) {
    array part = x->a;
    part.type = indim_type_component_of(type);
    value re = *make(s, &part, "real", x, NULL, NULL, "");
    re = whole(s, &re);
    *x = *make(s, &x->a, "complex", &re, &re, NULL, "");
    *init = scalar(s, type, "(0, 0)");
  } else {
    *init = chance(s->g->c, 2) ? need_scalar(s, type) : small_constant(s, type);
  }
  return op;
}

static int64_t any_dims(scope *s, const array *a, int64_t *dims, int32_t *count, array *left) {
  int64_t folded = 1;
  *count = 0;
  *left = (array){.type = a->type};
  for (int32_t i = 0; i < a->rank; i++) {
    if (chance(s->g->c, 2)) {
      dims[(*count)++] = i;
      folded *= a->sizes[i];
    } else {
      left->sizes[left->rank++] = a->sizes[i];
    }
  }
  return folded;
}

static void do_reduce(scope *s) {
  value x = pick_exact(s);
  value init;
  array out;
  int64_t dims[PROGRAM_RANK];
  int32_t count = 0;
  int64_t folded = any_dims(s, &x.a, dims, &count, &out);
  if (element_count(&out) > s->g->limit) {  // what a dimension of no elements hid
    return;
  }
  const char *op = any_fold(s, x.a.type, folded, &x, &init);
  int name = combine(s->g, x.a.type, op);
  new_value(s, &out)->bits_count |= is_by_order(op);
  text_add(&s->body, "reduce(v%d, v%d), dimensions=", x.name, init.name);
  add_list(&s->body, "{", dims, count, "}");
  text_add(&s->body, ", to_apply=k%d\n", name);
}

// A sum of reals, whose order is free.
static void do_real_sum(scope *s) {
  value x = pick(s, has_functions);
  if (!is_wide(x.a.type)) {
    return;
  }
  array out;
  int64_t dims[PROGRAM_RANK];
  int32_t count = 0;
  value bottom = scalar(s, x.a.type, "-10");
  value top = scalar(s, x.a.type, "10");
  value zero = scalar(s, x.a.type, "0");
  value clamped = *make(s, &x.a, "clamp", &bottom, &x, &top, "");
  int64_t folded = any_dims(s, &x.a, dims, &count, &out);
  if (element_count(&out) > s->g->limit) {
    return;
  }
  int name = combine(s->g, x.a.type, "add");
  value *v = new_value(s, &out);
  v->within.abs = 10.0 * (double)folded * (x.a.type == INDIM_F32 ? 1e-6 : 1e-14);
  text_add(&s->body, "reduce(v%d, v%d), dimensions=", clamped.name, zero.name);
  add_list(&s->body, "{", dims, count, "}");
  text_add(&s->body, ", to_apply=k%d\n", name);
}

// The largest with its index, ties to the smaller one.
static void do_argmax(scope *s) {
  value x = pick_exact(s);
  indim_type type = x.a.type;
  if (is_complex(type) || type == INDIM_PRED || x.a.rank == 0) {
    return;
  }
  if (is_real(type)) {  // of two NaN the one that comes first wins, and the order is free
    array mask = x.a;
    mask.type = INDIM_PRED;
    value ok = *make(s, &mask, "compare", &x, &x, NULL, ", direction=EQ");
    value one = scalar(s, type, "1");
    value ones = broadcast_to(s, &one, &x.a, NULL);
    x = *make(s, &x.a, "select", &ok, &x, &ones, "");
  }
  array indices = x.a;
  array out;
  int64_t dims[PROGRAM_RANK];
  int32_t count = 0;
  char attributes[40];
  indices.type = chance(s->g->c, 4) ? INDIM_S64 : INDIM_S32;
  any_dims(s, &x.a, dims, &count, &out);
  if (element_count(&out) > s->g->limit) {
    return;
  }
  snprintf(attributes, sizeof attributes, ", iota_dimension=%d",
           (int)(count > 0 ? dims[choose(s->g->c, (uint64_t)count)] : 0));
  value at = *make(s, &indices, "iota", NULL, NULL, NULL, attributes);
  value low = small_constant(s, type);
  value zero = scalar(s, indices.type, "0");
  int name = s->g->names++;
  const char *t = indim_type_text(type);
  const char *n = indim_type_text(indices.type);
  text_add(&s->g->computations,
           "k%d {\n  x = %s[] parameter(0)\n  i = %s[] parameter(1)\n  y = %s[] parameter(2)\n  j = %s[] parameter(3)\n"
           "  g = pred[] compare(x, y), direction=%s\n  ne = pred[] compare(x, x), direction=NE\n"
           "  k = pred[] or(g, ne)\n  e = pred[] compare(x, y), direction=EQ\n"
           "  lt = pred[] compare(i, j), direction=LT\n  both = pred[] and(e, lt)\n  first = pred[] or(k, both)\n"
           "  m = %s[] select(k, x, y)\n  a = %s[] select(first, i, j)\n  ROOT r = (%s[], %s[]) tuple(m, a)\n}\n\n",
           name, t, n, t, n, chance(s->g->c, 2) ? "GT" : "LT", t, n, t, n);
  int tuple = s->g->names++;
  array second = out;
  second.type = indices.type;
  text_add(&s->body, "  v%d = (", tuple);
  add_shape(&s->body, &out);
  text_add(&s->body, ", ");
  add_shape(&s->body, &second);
  text_add(&s->body, ") reduce(v%d, v%d, v%d, v%d), dimensions=", x.name, at.name, low.name, zero.name);
  add_list(&s->body, "{", dims, count, "}");
  text_add(&s->body, ", to_apply=k%d\n", name);
  new_value(s, &out);
  text_add(&s->body, "get-tuple-element(v%d), index=0\n", tuple);
  new_value(s, &second);
  text_add(&s->body, "get-tuple-element(v%d), index=1\n", tuple);
}

static void do_dot(scope *s) {
  static const indim_type types[] = {INDIM_F32, INDIM_F32,  INDIM_F64, INDIM_S32,
                                     INDIM_S8,  INDIM_BF16, INDIM_F16, INDIM_U64};
  choices *c = s->g->c;
  indim_type type = ANY_OF(c, types);
  array l = {.type = type};
  array r = {.type = type};
  array out = {.type = type};
  int64_t l_order[PROGRAM_RANK];
  int64_t r_order[PROGRAM_RANK];
  // Dimensions in the order batch, free, contracted, then shuffled.
  int32_t batch = (int32_t)choose(c, 2);
  int32_t contracted = chance(c, 5) ? (int32_t)choose(c, 3) : 1;
  int32_t l_free = chance(c, 5) ? 0 : 1;
  int32_t r_free = chance(c, 4) ? 0 : 1;
  array b;
  any_sizes(s->g, &b, batch + contracted + l_free + r_free);
  int64_t *size = b.sizes;
  int64_t l_sizes[PROGRAM_RANK] = {0};
  int64_t r_sizes[PROGRAM_RANK] = {0};
  int64_t k = 1;
  l.rank = batch + contracted + l_free;
  r.rank = batch + contracted + r_free;
  if (b.rank > PROGRAM_RANK || element_count(&b) > 200000) {
    return;
  }
  for (int32_t i = 0; i < batch; i++) {
    l_sizes[i] = r_sizes[i] = out.sizes[out.rank++] = *size++;
  }
  for (int32_t i = 0; i < contracted; i++) {
    l_sizes[batch + i] = r_sizes[batch + i] = *size;
    k *= *size++;
  }
  for (int32_t i = 0; i < l_free; i++) {
    l_sizes[batch + contracted + i] = out.sizes[out.rank++] = *size++;
  }
  for (int32_t i = 0; i < r_free; i++) {
    r_sizes[batch + contracted + i] = out.sizes[out.rank++] = *size++;
  }
  any_order(c, l.rank, l_order);
  any_order(c, r.rank, r_order);
  int64_t l_at[PROGRAM_RANK];
  int64_t r_at[PROGRAM_RANK];
  for (int32_t i = 0; i < l.rank; i++) {
    l.sizes[i] = l_sizes[l_order[i]];
    l_at[l_order[i]] = i;
  }
  for (int32_t i = 0; i < r.rank; i++) {
    r.sizes[i] = r_sizes[r_order[i]];
    r_at[r_order[i]] = i;
  }
  if (k > most_summed(type) / 4) {
    return;
  }
  if (chance(c, 4)) {  // sums of narrow numbers in a wide type
    static const indim_type narrow[] = {INDIM_S8, INDIM_BF16, INDIM_F16, INDIM_U8, INDIM_F8E4M3FN, INDIM_F8E5M2};
    l.type = r.type = ANY_OF(c, narrow);
    out.type = is_real(l.type) ? INDIM_F32 : INDIM_S32;
  }
  value x = need(s, &l);
  value y = need(s, &r);
  x = whole(s, &x);
  y = whole(s, &y);
  new_value(s, &out);
  text_add(&s->body, "dot(v%d, v%d), ", x.name, y.name);
  add_list(&s->body, "lhs_batch_dims={", l_at, batch, "}, ");
  add_list(&s->body, "rhs_batch_dims={", r_at, batch, "}, ");
  add_list(&s->body, "lhs_contracting_dims={", l_at + batch, contracted, "}, ");
  add_list(&s->body, "rhs_contracting_dims={", r_at + batch, contracted, "}\n");
}

static void do_scatter(scope *s) {
  static const char *const integers[] = {"add", "maximum", "minimum", "xor", "last", "multiply"};
  static const char *const reals[] = {"add", "maximum", "last"};
  choices *c = s->g->c;
  value x = pick_exact(s);
  if (x.a.rank == 0 || is_complex(x.a.type) || x.a.type == INDIM_PRED) {
    return;
  }
  bool vectors = chance(c, 3);  // blocks anywhere instead of rows
  int32_t dim = (int32_t)choose(c, (uint64_t)x.a.rank);
  array indices = {.type = chance(c, 3) ? INDIM_S64 : INDIM_S32, .rank = 1, .sizes = {any_size(c)}};
  array block = x.a;
  array update = {.type = x.a.type, .rank = 1, .sizes = {indices.sizes[0]}};
  if (vectors) {
    any_part(s, &x.a, &block);
    indices.sizes[indices.rank++] = x.a.rank;
  }
  for (int32_t i = 0; i < x.a.rank; i++) {
    if (vectors || i != dim) {
      if (update.rank == PROGRAM_RANK) {
        return;
      }
      update.sizes[update.rank++] = block.sizes[i];
    }
  }
  if (element_count(&update) > s->g->limit) {
    return;
  }
  const char *op = is_int(x.a.type) ? ANY_OF(c, integers) : ANY_OF(c, reals);
  value i = any_indices(s, &indices, x.a.sizes[dim]);
  value u = need(s, &update);
  if (is_real(x.a.type) && x.bits_count && u.bits_count && chance(c, 2)) {
    op = ANY_OF(c, by_order);
  }
  if (op[0] == 'a' && is_real(x.a.type)) {
    if (indices.sizes[0] + 1 > most_summed(x.a.type)) {
      return;
    }
    x = whole(s, &x);
    u = whole(s, &u);
  }
  int name = combine(s->g, x.a.type, op);
  new_value(s, &x.a)->bits_count |= is_by_order(op);
  text_add(&s->body, "scatter(v%d, v%d, v%d), update_window_dims={", x.name, i.name, u.name);
  for (int32_t k = 1; k < update.rank; k++) {
    text_add(&s->body, "%s%d", k > 1 ? "," : "", (int)k);
  }
  static const int64_t all[PROGRAM_RANK] = {0, 1, 2, 3, 4, 5};
  if (vectors) {
    add_list(&s->body, "}, inserted_window_dims={}, scatter_dims_to_operand_dims={", all, x.a.rank, "}");
  } else {
    text_add(&s->body, "}, inserted_window_dims={%d}, scatter_dims_to_operand_dims={%d}", (int)dim, (int)dim);
  }
  text_add(&s->body, ", index_vector_dim=1, to_apply=k%d\n", name);
}

static void do_sort(scope *s) {
  value x = pick_exact(s);
  if (x.a.rank == 0 || is_complex(x.a.type) || !x.bits_count) {
    return;
  }
  const char *t = indim_type_text(x.a.type);
  const char *total = is_real(x.a.type) ? ", type=TOTALORDER" : "";
  const char *direction = chance(s->g->c, 2) ? "LT" : "GT";
  int dim = (int)choose(s->g->c, (uint64_t)x.a.rank);
  int name = s->g->names++;
  if (chance(s->g->c, 2)) {
    text_add(&s->g->computations,
             "k%d {\n  x = %s[] parameter(0)\n  y = %s[] parameter(1)\n  ROOT r = pred[] compare(x, y), "
             "direction=%s%s\n}\n\n",
             name, t, t, direction, total);
    new_value(s, &x.a)->bits_count = true;
    text_add(&s->body, "sort(v%d), dimensions={%d}, to_apply=k%d\n", x.name, dim, name);
    return;
  }
  array other = x.a;
  other.type = chance(s->g->c, 2) ? INDIM_S32 : any_type(s->g->c);
  value w = need(s, &other);
  const char *u = indim_type_text(other.type);
  text_add(&s->g->computations,
           "k%d {\n  x = %s[] parameter(0)\n  y = %s[] parameter(1)\n  a = %s[] parameter(2)\n  b = %s[] parameter(3)\n"
           "  ROOT r = pred[] compare(x, y), direction=%s%s\n}\n\n",
           name, t, t, u, u, direction, total);
  int tuple = s->g->names++;
  text_add(&s->body, "  v%d = (", tuple);
  add_shape(&s->body, &x.a);
  text_add(&s->body, ", ");
  add_shape(&s->body, &other);
  text_add(&s->body, ") sort(v%d, v%d), dimensions={%d}, is_stable=true, to_apply=k%d\n", x.name, w.name, dim, name);
  new_value(s, &x.a)->bits_count = true;
  text_add(&s->body, "get-tuple-element(v%d), index=0\n", tuple);
  new_value(s, &other)->bits_count = w.bits_count;
  text_add(&s->body, "get-tuple-element(v%d), index=1\n", tuple);
}

// x[b, n, m] read, or updated, at [b, i[b, k], 0..m] for all b and k.
static void do_batched(scope *s) {
  choices *c = s->g->c;
  bool is_scatter = chance(c, 2);
  int64_t b = 1 + (int64_t)choose(c, 4);
  int64_t k = (int64_t)choose(c, 9);
  array x = {.type = any_type(c), .rank = 3, .sizes = {b, 1 + (int64_t)choose(c, 9), (int64_t)choose(c, 12)}};
  array indices = {.type = chance(c, 2) ? INDIM_S32 : INDIM_S64, .rank = 2, .sizes = {b, k}};
  array rows = {.type = x.type, .rank = 3, .sizes = {b, k, x.sizes[2]}};
  value from = need(s, &x);
  value i = any_indices(s, &indices, x.sizes[1]);
  if (is_scatter) {
    value update = need(s, &rows);
    int name = combine(s->g, x.type, "last");
    new_value(s, &x);
    text_add(&s->body,
             "scatter(v%d, v%d, v%d), update_window_dims={2}, inserted_window_dims={1}, "
             "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, "
             "index_vector_dim=2, to_apply=k%d\n",
             from.name, i.name, update.name, name);
    return;
  }
  moved(new_value(s, &rows), &from);
  text_add(&s->body,
           "gather(v%d, v%d), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, "
           "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, "
           "slice_sizes={1,1,%lld}\n",
           from.name, i.name, (long long)x.sizes[2]);
}

static void do_topk(scope *s) {
  value x = pick_exact(s);
  if (x.a.rank == 0 || is_complex(x.a.type) || x.a.type == INDIM_PRED || !x.bits_count) {
    return;
  }
  array out = x.a;
  out.sizes[out.rank - 1] = (int64_t)choose(s->g->c, (uint64_t)x.a.sizes[out.rank - 1] + 1);
  array indices = out;
  indices.type = INDIM_S32;
  int tuple = s->g->names++;
  text_add(&s->body, "  v%d = (", tuple);
  add_shape(&s->body, &out);
  text_add(&s->body, ", ");
  add_shape(&s->body, &indices);
  text_add(&s->body, ") topk(v%d), k=%lld, largest=%s\n", x.name, (long long)out.sizes[out.rank - 1],
           chance(s->g->c, 2) ? "true" : "false");
  new_value(s, &out)->bits_count = true;
  text_add(&s->body, "get-tuple-element(v%d), index=0\n", tuple);
  new_value(s, &indices);
  text_add(&s->body, "get-tuple-element(v%d), index=1\n", tuple);
}

static void do_stochastic_convert(scope *s) {
  static const indim_type types[] = {INDIM_S8, INDIM_S16, INDIM_S32, INDIM_U8};
  value x = pick_exact(s);
  if (!is_wide(x.a.type) && !is_half(x.a.type)) {
    return;
  }
  array random = x.a;
  random.type = x.a.type == INDIM_F64 ? INDIM_U64 : x.a.type == INDIM_F32 ? INDIM_U32 : INDIM_U16;
  value r = need(s, &random);
  array out = x.a;
  out.type = ANY_OF(s->g->c, types);
  make(s, &out, "stochastic-convert", &x, &r, NULL, "");
}

// The same operations on each of some scalars, taken out of a vector and put into another.
static void do_scalars(scope *s) {
  static const char *const unary[] = {"negate", "abs", "sqrt", "floor", "exponential", "sine", "tanh", "log", "rsqrt"};
  static const char *const binary[] = {"add", "multiply", "divide", "subtract", "maximum"};
  choices *c = s->g->c;
  enum { MOST = 9, STEPS = 4 };
  array v = {.type = chance(c, 2) ? INDIM_F64 : INDIM_F32, .rank = 1, .sizes = {2 + (int64_t)choose(c, MOST - 1)}};
  array one = {.type = v.type, .rank = 1, .sizes = {1}};
  array none = {.type = v.type};
  value from = need(s, &v);
  value by = need_scalar(s, v.type);
  value out[MOST];
  const char *ops[STEPS];
  int steps = 1 + (int)choose(c, STEPS);
  bool is_function = false;
  for (int k = 0; k < steps; k++) {
    ops[k] = k + 1 == steps && chance(c, 2) ? ANY_OF(c, unary) : ANY_OF(c, binary);
    is_function = k + 1 == steps && ops[k][0] != 'n' && ops[k][0] != 'a' && ops[k][0] != 'f';
  }
  for (int64_t i = 0; i < v.sizes[0]; i++) {
    char attributes[60];
    snprintf(attributes, sizeof attributes, ", slice={[%d:%d]}", (int)i, (int)i + 1);
    value x = *make(s, &one, "slice", &from, NULL, NULL, attributes);
    x = *make(s, &none, "reshape", &x, NULL, NULL, "");
    for (int k = 0; k < steps; k++) {
      bool is_binary = strstr("add multiply divide subtract maximum", ops[k]) != NULL;
      x = *make(s, &none, ops[k], &x, is_binary ? &by : NULL, NULL, "");
    }
    out[i] = *make(s, &one, "reshape", &x, NULL, NULL, "");
    s->count -= steps + 3;
  }
  value *all = new_value(s, &v);
  all->within.ulps = is_function ? 3 : 0;
  text_add(&s->body, "concatenate(");
  for (int64_t i = 0; i < v.sizes[0]; i++) {
    text_add(&s->body, "%sv%d", i > 0 ? ", " : "", out[i].name);
  }
  text_add(&s->body, "), dimensions={0}\n");
}

typedef struct window {
  int64_t size, stride, low, high, base, dilation;
} window;

static window any_window(choices *c, int64_t size) {
  window w = {.size = 1 + (int64_t)choose(c, 4), .stride = 1, .base = 1, .dilation = 1};
  if (chance(c, 8)) {
    w.size = size > 0 ? size : 1;
  }
  w.low = (int64_t)choose(c, 3);
  w.high = (int64_t)choose(c, 3);
  if (chance(c, 8)) {
    w.low = w.size - 1;
  }
  w.stride = chance(c, 3) ? 1 + (int64_t)choose(c, 3) : 1;
  w.base = chance(c, 5) ? 1 + (int64_t)choose(c, 3) : 1;
  w.dilation = chance(c, 4) ? 1 + (int64_t)choose(c, 3) : 1;
  return w;
}

static int64_t windows_in(const window *w, int64_t size) {
  int64_t room = (size == 0 ? 0 : (size - 1) * w->base + 1) + w->low + w->high;
  int64_t reach = (w->size - 1) * w->dilation + 1;
  return reach > room ? 0 : (room - reach) / w->stride + 1;
}

static void add_window(text *t, const window *w, int32_t rank, const bool *reversed) {
  static const char *const names[] = {"size=", " stride=", " pad=", " lhs_dilate=", " rhs_dilate=", " rhs_reversal="};
  text_add(t, "window={");
  for (int part = 0; part < (reversed == NULL ? 5 : 6); part++) {
    text_add(t, "%s", names[part]);
    for (int32_t i = 0; i < rank; i++) {
      const char *x = i > 0 ? "x" : "";
      if (part == 2) {
        text_add(t, "%s%lld_%lld", x, (long long)w[i].low, (long long)w[i].high);
      } else {
        int64_t number = part == 0 ? w[i].size : part == 1 ? w[i].stride : part == 3 ? w[i].base : w[i].dilation;
        text_add(t, "%s%lld", x, (long long)(part == 5 ? (int64_t)reversed[i] : number));
      }
    }
  }
  text_add(t, "}");
}

static void do_reduce_window(scope *s) {
  value x = pick_exact(s);
  value init;
  array out = x.a;
  window w[PROGRAM_RANK];
  int64_t taps = 1;
  if (x.a.rank == 0) {
    return;
  }
  for (int32_t i = 0; i < x.a.rank; i++) {
    w[i] = chance(s->g->c, 3) ? (window){1, 1, 0, 0, 1, 1} : any_window(s->g->c, x.a.sizes[i]);
    out.sizes[i] = windows_in(&w[i], x.a.sizes[i]);
    taps *= w[i].size;
  }
  if (element_count(&out) * taps > 20 * s->g->limit || element_count(&out) > s->g->limit) {
    return;
  }
  const char *op = any_fold(s, x.a.type, taps, &x, &init);
  int name = combine(s->g, x.a.type, op);
  new_value(s, &out)->bits_count |= is_by_order(op);
  text_add(&s->body, "reduce-window(v%d, v%d), ", x.name, init.name);
  add_window(&s->body, w, x.a.rank, NULL);
  text_add(&s->body, ", to_apply=k%d\n", name);
}

static void do_convolution(scope *s) {
  static const indim_type types[] = {INDIM_F32, INDIM_F32, INDIM_F64, INDIM_S32, INDIM_S8, INDIM_F16};
  choices *c = s->g->c;
  indim_type type = ANY_OF(c, types);
  if (s->g->is_small && !chance(c, 3)) {  // they take the compiler ten times as long as others
    return;
  }
  int32_t spatial = 1 + (int32_t)choose(c, 2);
  int64_t groups = 1 + (int64_t)chance(c, 4);
  bool of_batch = chance(c, 3);
  int64_t features = 1 + (int64_t)choose(c, 4);
  int64_t outputs = groups * (1 + (int64_t)choose(c, chance(c, 4) ? 20 : 4));
  if (!s->g->is_small && chance(c, 6)) {  // large enough for the host
    features = 1 + (int64_t)choose(c, 40);
    outputs = groups * (1 + (int64_t)choose(c, 40));
  }
  array in = {.type = type, .rank = spatial + 2};
  array kernel = {.type = type, .rank = spatial + 2};
  array out = {.type = type, .rank = spatial + 2};
  int64_t order[3][PROGRAM_RANK];
  array *arrays[3] = {&in, &kernel, &out};
  int64_t sizes[3][PROGRAM_RANK] = {{1 + (int64_t)choose(c, 3), features * groups}, {outputs, features}, {0}};
  window w[2];
  bool reversed[2] = {chance(c, 4), chance(c, 4)};
  int64_t taps = features;
  sizes[2][0] = sizes[0][0];
  sizes[2][1] = outputs;
  if (of_batch) {
    sizes[0][0] *= groups;
    sizes[0][1] = features;
  }
  uint64_t most = (spatial == 1 ? 40U : 12U) / (s->g->is_small ? 2U : 1U);
  for (int32_t i = 0; i < spatial; i++) {
    sizes[0][2 + i] = (int64_t)choose(c, most);
    w[i] = any_window(c, 3);
    sizes[1][2 + i] = w[i].size;
    sizes[2][2 + i] = windows_in(&w[i], sizes[0][2 + i]);
    taps *= w[i].size;
  }
  char labels[3][PROGRAM_RANK + 1] = {{0}};
  static const char names[3][PROGRAM_RANK + 1] = {"bf01", "oi01", "bf01"};
  for (int k = 0; k < 3; k++) {
    any_order(c, in.rank, order[k]);
    for (int32_t i = 0; i < in.rank; i++) {
      arrays[k]->sizes[i] = sizes[k][order[k][i]];
      labels[k][i] = names[k][order[k][i]];
    }
  }
  if (taps > most_summed(type) / 4) {
    return;
  }
  value x = need(s, &in);
  value y = need(s, &kernel);
  x = whole(s, &x);
  y = whole(s, &y);
  new_value(s, &out);
  text_add(&s->body, "convolution(v%d, v%d), ", x.name, y.name);
  add_window(&s->body, w, spatial, reversed);
  text_add(&s->body, ", dim_labels=%s_%s->%s, %s_group_count=%lld\n", labels[0], labels[1], labels[2],
           of_batch ? "batch" : "feature", (long long)groups);
}

static void do_select_and_scatter(scope *s) {
  value x = pick_exact(s);
  array out = x.a;
  window w[PROGRAM_RANK];
  if (x.a.rank == 0 || !(x.a.type == INDIM_S32 || x.a.type == INDIM_F32 || x.a.type == INDIM_F64)) {
    return;
  }
  bool order = is_real(x.a.type) && x.bits_count && chance(s->g->c, 2);
  x = order ? x : whole(s, &x);
  int64_t taps = 1;
  for (int32_t i = 0; i < x.a.rank; i++) {
    w[i] = chance(s->g->c, 2) ? (window){1, 1, 0, 0, 1, 1} : any_window(s->g->c, x.a.sizes[i]);
    w[i].base = w[i].dilation = 1;
    w[i].low = w[i].low < w[i].size ? w[i].low : 0;
    w[i].high = w[i].high < w[i].size ? w[i].high : 0;
    out.sizes[i] = windows_in(&w[i], x.a.sizes[i]);
    taps *= w[i].size;
  }
  if (element_count(&out) * taps > 20 * s->g->limit) {
    return;
  }
  value source = need(s, &out);
  source = whole(s, &source);
  value init = small_constant(s, x.a.type);
  int name = s->g->names++;
  const char *t = indim_type_text(x.a.type);
  text_add(
      &s->g->computations,
      "k%d {\n  x = %s[] parameter(0)\n  y = %s[] parameter(1)\n  ROOT r = pred[] compare(x, y), direction=GE%s\n}\n\n",
      name, t, t, order ? ", type=TOTALORDER" : "");
  int add = combine(s->g, x.a.type, "add");
  new_value(s, &x.a);
  text_add(&s->body, "select-and-scatter(v%d, v%d, v%d), ", x.name, source.name, init.name);
  add_window(&s->body, w, x.a.rank, NULL);
  text_add(&s->body, ", select=k%d, scatter=k%d\n", name, add);
}

// Control flow -----------------------------------------------------------------------------------------------------

// x with row |i|, which the loop counts, made of itself or of the row before.
static value row_by_row(scope *s, const value *whole_value, const value *i) {
  value x = *whole_value;
  array part = x.a;
  value from = *i;
  char zeros[10 * PROGRAM_RANK] = "";
  part.sizes[0] = part.sizes[0] > 0;
  value zero = scalar(s, INDIM_S32, "0");
  for (int32_t d = 1; d < x.a.rank; d++) {
    snprintf(zeros + strlen(zeros), 10, ", v%d", zero.name);
  }
  if (chance(s->g->c, 3)) {
    value one = scalar(s, INDIM_S32, "1");
    from = *make(s, &from.a, "subtract", &from, &one, NULL, "");
  }
  moved(new_value(s, &part), &x);
  text_add(&s->body, "dynamic-slice(v%d, v%d%s)", x.name, from.name, zeros);
  add_list(&s->body, ", dynamic_slice_sizes={", part.sizes, part.rank, "}\n");
  do_unary(s);
  value update = need(s, &part);
  value *out = new_value(s, &x.a);
  out->bits_count = x.bits_count && update.bits_count;
  text_add(&s->body, "dynamic-update-slice(v%d, v%d, v%d%s)\n", x.name, update.name, i->name, zeros);
  return *out;
}

// A computation of a tuple that gives one of the same shapes; with |counts| member 0 is increased by one.
static int tuple_computation(scope *outer, const value *carry, int count, bool counts) {
  scope *s = begin_inner(outer);
  value out[8];
  int tuple = s->g->names++;
  text_add(&s->body, "  v%d = ", tuple);
  add_tuple_shape(&s->body, carry, count);
  text_add(&s->body, " parameter(0)\n");
  open_tuple(s, tuple, carry, count);
  value i = s->values[0];
  int row = counts && chance(s->g->c, 2) ? 1 + (int)choose(s->g->c, (uint64_t)count - 1) : 0;
  value rows = row > 0 && s->values[row].a.rank > 0 ? row_by_row(s, &s->values[row], &i) : i;
  add_steps(s, 1 + (int)choose(s->g->c, 4));
  for (int k = 0; k < count; k++) {
    out[k] = k > 0 && k == row && rows.name != i.name ? rows : need(s, &carry[k].a);
  }
  if (counts) {
    value one = scalar(s, INDIM_S32, "1");
    out[0] = *make(s, &i.a, "add", &i, &one, NULL, "");
  }
  text_add(&s->body, "  ROOT v%d = ", s->g->names++);
  add_tuple_shape(&s->body, carry, count);
  text_add(&s->body, " ");
  add_tuple(&s->body, out, count);
  return end_inner(s);
}

static void do_while(scope *s) {
  value carry[6];
  carry[0] = scalar(s, INDIM_S32, "0");
  int count = 1 + take_carry(s, carry + 1, 4);
  int body = tuple_computation(s, carry, count, true);
  int condition = s->g->names++;
  text *t = &s->g->computations;
  text_add(t, "k%d {\n  p = ", condition);
  add_tuple_shape(t, carry, count);
  text_add(t,
           " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(%d)\n"
           "  ROOT r = pred[] compare(i, n), direction=LT\n}\n\n",
           (int)choose(s->g->c, 6));
  int tuple = make_tuple(s, carry, count);
  int loop = s->g->names++;
  text_add(&s->body, "  v%d = ", loop);
  add_tuple_shape(&s->body, carry, count);
  text_add(&s->body, " while(v%d), condition=k%d, body=k%d\n", tuple, condition, body);
  open_tuple(s, loop, carry, count);
}

static void do_conditional(scope *s) {
  value carry[4];
  int count = take_carry(s, carry, 3);
  bool two = chance(s->g->c, 2);
  int branches = two ? 2 : 1 + (int)choose(s->g->c, 4);
  value chooser = two ? need_scalar(s, INDIM_PRED) : any_start(s, branches);
  chooser = two ? chooser : as_type(s, &chooser, INDIM_S32);
  int names[5];
  for (int i = 0; i < branches; i++) {
    names[i] = tuple_computation(s, carry, count, false);
  }
  int tuple = make_tuple(s, carry, count);
  int out = s->g->names++;
  text_add(&s->body, "  v%d = ", out);
  add_tuple_shape(&s->body, carry, count);
  text_add(&s->body, " conditional(v%d", chooser.name);
  for (int i = 0; i < branches; i++) {
    text_add(&s->body, ", v%d", tuple);
  }
  if (two) {
    text_add(&s->body, "), true_computation=k%d, false_computation=k%d\n", names[0], names[1]);
  } else {
    text_add(&s->body, "), branch_computations={");
    for (int i = 0; i < branches; i++) {
      text_add(&s->body, "%sk%d", i > 0 ? ", " : "", names[i]);
    }
    text_add(&s->body, "}\n");
  }
  open_tuple(s, out, carry, count);
}

// A call or a fusion of some values.
static void do_call(scope *s) {
  value arguments[4];
  int count = take_carry(s, arguments, 3);
  scope *inner = begin_inner(s);
  for (int i = 0; i < count; i++) {
    new_value(inner, &arguments[i].a);
    text_add(&inner->body, "parameter(%d)\n", i);
  }
  add_steps(inner, 1 + (int)choose(s->g->c, 5));
  value out[3];
  int results = 1 + (int)(chance(s->g->c, 4) ? choose(s->g->c, 3) : 0);
  for (int i = 0; i < results; i++) {
    out[i] = pick_exact(inner);
  }
  text_add(&inner->body, "  ROOT v%d = ", s->g->names++);
  int tuple = 0;
  if (results == 1) {
    add_shape(&inner->body, &out[0].a);
    text_add(&inner->body, " copy(v%d)\n", out[0].name);
  } else {
    add_tuple_shape(&inner->body, out, results);
    text_add(&inner->body, " ");
    add_tuple(&inner->body, out, results);
  }
  int name = end_inner(inner);
  if (results == 1) {
    new_value(s, &out[0].a);
  } else {
    tuple = s->g->names++;
    text_add(&s->body, "  v%d = ", tuple);
    add_tuple_shape(&s->body, out, results);
    text_add(&s->body, " ");
  }
  bool fusion = chance(s->g->c, 2);
  text_add(&s->body, "%s(", fusion ? "fusion" : "call");
  for (int i = 0; i < count; i++) {
    text_add(&s->body, "%sv%d", i > 0 ? ", " : "", arguments[i].name);
  }
  text_add(&s->body, fusion ? "), kind=kLoop, calls=k%d\n" : "), to_apply=k%d\n", name);
  if (results > 1) {
    open_tuple(s, tuple, out, results);
  }
}

// A computation of scalars for each element.
static void do_map(scope *s) {
  value arguments[3];
  arguments[0] = pick_exact(s);
  array a = arguments[0].a;
  int count = 1 + (int)choose(s->g->c, 3);
  scope *inner = begin_inner(s);
  for (int i = 0; i < count; i++) {
    if (i > 0) {
      a.type = any_type(s->g->c);
      arguments[i] = need(s, &a);
    }
    new_value(inner, &(array){.type = arguments[i].a.type})->bits_count = arguments[i].bits_count;
    text_add(&inner->body, "parameter(%d)\n", i);
  }
  static void (*const steps[])(scope * s) = {do_unary,  do_unary,   do_select, do_binary,
                                             do_binary, do_compare, do_copy,   do_reduce_precision};
  for (uint64_t i = choose(s->g->c, 4); i < 4; i++) {
    ANY_OF(s->g->c, steps)(inner);
  }
  value out = pick_exact(inner);
  a.type = out.a.type;
  text_add(&inner->body, "  ROOT v%d = ", s->g->names++);
  add_shape(&inner->body, &out.a);
  text_add(&inner->body, " copy(v%d)\n", out.name);
  int name = end_inner(inner);
  static const int64_t all[PROGRAM_RANK] = {0, 1, 2, 3, 4, 5};
  new_value(s, &a)->bits_count = out.bits_count;
  text_add(&s->body, "map(");
  for (int i = 0; i < count; i++) {
    text_add(&s->body, "%sv%d", i > 0 ? ", " : "", arguments[i].name);
  }
  add_list(&s->body, "), dimensions={", all, a.rank, "}");
  text_add(&s->body, ", to_apply=k%d\n", name);
}

// A chain as models have it, within a relative distance: e^x over its sum along the last dimension.
static void do_softmax(scope *s) {
  value x = pick(s, has_functions);
  if (!is_wide(x.a.type) || x.a.rank == 0) {
    return;
  }
  array row = x.a;
  row.rank--;
  if (element_count(&row) > s->g->limit) {  // what a dimension of no elements hid
    return;
  }
  int64_t dims[PROGRAM_RANK] = {0, 1, 2, 3, 4, 5};
  x = whole(s, &x);
  value e = *make(s, &x.a, "exponential", &x, NULL, NULL, "");
  s->count--;
  value zero = scalar(s, x.a.type, "0");
  int name = combine(s->g, x.a.type, "add");
  value sum = *new_value(s, &row);
  text_add(&s->body, "reduce(v%d, v%d), dimensions={%d}, to_apply=k%d\n", e.name, zero.name, (int)row.rank, name);
  s->count--;
  value wide = broadcast_to(s, &sum, &x.a, dims);
  s->count--;
  value *v = make(s, &x.a, "divide", &e, &wide, NULL, "");
  v->within.rel = x.a.type == INDIM_F32 ? 3e-5 : 1e-13;
}

// ------------------------------------------------------------------------------------------------------------------

typedef struct step {
  int weight;
  void (*run)(scope *s);
  bool control;
} step;

// One of the steps, by their weights; control flow only where it is not |deep| already.
static void take_step(scope *s, const step *steps, size_t count, int deep) {
  int total = 0;
  size_t taken = 0;
  for (size_t i = 0; i < count; i++) {
    total += steps[i].weight;
  }
  int at = (int)choose(s->g->c, (uint64_t)total);
  while (at >= steps[taken].weight) {
    at -= steps[taken++].weight;
  }
  if (!steps[taken].control || s->depth < deep) {
    steps[taken].run(s);
  }
}

static void add_step(scope *s) {
  static const step steps[] = {
      {6, do_unary, false},
      {14, do_binary, false},
      {4, do_function, false},
      {4, do_compare, false},
      {4, do_select, false},
      {2, do_clamp, false},
      {3, do_convert, false},
      {2, do_bits, false},
      {1, do_reduce_precision, false},
      {1, do_complex, false},
      {5, do_reshape, false},
      {5, do_broadcast, false},
      {5, do_transpose, false},
      {4, do_reverse, false},
      {5, do_slice, false},
      {5, do_pad, false},
      {5, do_concatenate, false},
      {2, do_copy, false},
      {2, do_bitcast, false},
      {4, do_dynamic_slice, false},
      {4, do_dynamic_update_slice, false},
      {3, do_gather, false},
      {2, do_batched, false},
      {1, do_topk, false},
      {1, do_stochastic_convert, false},
      {1, do_scalars, false},
      {6, do_reduce, false},
      {2, do_real_sum, false},
      {2, do_argmax, false},
      {1, do_cholesky, false},
      {1, do_triangular_solve, false},
      {2, do_lapack, false},
      {2, do_fft, false},
      {1, do_random_bits, false},
      {1, do_mulhi, false},
      {1, do_collective, false},
      {1, do_begun, false},
      {2, do_host_call, false},
      {1, do_untaken_call, true},
      {1, do_batch_norm, false},
      {1, do_ragged_dot, false},
      {2, do_stack, false},
      {3, do_rotating_while, true},
      {1, do_scan, true},
      {1, do_async, true},
      {4, do_dot, false},
      {3, do_scatter, false},
      {2, do_sort, false},
      {3, do_reduce_window, false},
      {2, do_convolution, false},
      {1, do_select_and_scatter, false},
      {2, do_softmax, false},
      {3, do_while, true},
      {2, do_conditional, true},
      {3, do_call, true},
      {1, do_map, true},
  };
  take_step(s, steps, sizeof steps / sizeof *steps, 2);
}

static void add_steps(scope *s, int steps) {
  for (int i = 0; i < steps && s->count < PROGRAM_VALUES - 40; i++) {
    (s->g->step != NULL ? s->g->step : add_step)(s);
  }
}

// Bits from one element to the next: often packed where that is possible, rarely anything as wide as the type; 0: none stated.
static int64_t any_distance(choices *c, indim_type type) {
  int64_t bits = indim_type_bits(type);
  if (bits < 8 && chance(c, 2)) {
    return chance(c, 4) ? 4 : bits;
  }
  return !chance(c, 12) ? 0
         : chance(c, 2) ? 8 * ((bits + 7) / 8 + (int64_t)choose(c, 4))
                        : bits + (int64_t)choose(c, 20);
}

static void add_layout(text *t, choices *c, const array *a) {
  int64_t order[PROGRAM_RANK];
  add_shape(t, a);
  int64_t distance = any_distance(c, a->type);
  if (a->rank == 0) {
    text_add(t, distance == 0 ? "" : "{:E(%lld)}", (long long)distance);
    return;
  }
  any_order(c, a->rank, order);
  add_list(t, "{", order, a->rank, distance == 0 ? "" : ":");
  array padded = {.rank = a->rank};
  for (int32_t i = 0; i < a->rank; i++) {
    padded.sizes[i] = a->sizes[i] + (int64_t)choose(c, 4);
  }
  const char *begin = distance == 0 ? ":" : "";
  if (chance(c, 6) && element_count(&padded) < 100000) {
    text_add(t, "%s", begin);
    add_list(t, "PAD(", padded.sizes, a->rank, chance(c, 2) ? ";zero)" : ";one)");
  } else if (chance(c, 6)) {
    int64_t tile[2] = {1 + (int64_t)choose(c, 8), 1 + (int64_t)choose(c, 8)};
    text_add(t, "%s", begin);
    add_list(t, "T(", tile, a->rank > 1 ? 2 : 1, ")");
  }
  text_add(t, distance == 0 ? "}" : "E(%lld)}", (long long)distance);
}

static void make_header(generator *g, text *t, const array *results, bool is_tuple) {
  program *p = g->p;
  text_add(t, "HloModule random");
  if (chance(g->c, g->is_small ? 8 : 3)) {
    text_add(t, ", entry_computation_layout={(");
    for (int i = 0; i < p->parameter_count; i++) {
      text_add(t, i > 0 ? ", " : "");
      add_layout(t, g->c, &p->parameters[i]);
    }
    text_add(t, is_tuple ? ")->(" : ")->");
    for (int i = 0; i < p->result_count; i++) {
      text_add(t, i > 0 ? ", " : "");
      add_layout(t, g->c, &results[i]);
    }
    text_add(t, is_tuple ? ")}" : "}");
  }
  bool begun = false;
  for (int r = 0; r < p->result_count && is_tuple; r++) {
    for (int i = 0; i < p->parameter_count; i++) {
      const array *a = &p->parameters[i];
      if (a->type == results[r].type && same_sizes(a, &results[r]) && chance(g->c, 2)) {
        text_add(t, "%s {%d}: (%d, {}, may-alias)", begun ? "," : ", input_output_alias={", r, i);
        begun = true;
        break;
      }
    }
  }
  text_add(t, begun ? " }\n\n" : "\n\n");
}

static void make_parameters(scope *s) {
  program *p = s->g->p;
  choices *c = s->g->c;
  int begin = p->parameter_count;
  int end = begin + 2 + (int)choose(c, s->g->is_small ? 2 : 4);
  for (int i = begin; i < end; i++) {
    array *a = &p->parameters[i];
    a->type = any_type(c);
    any_sizes(s->g, a, (int32_t)choose(c, chance(c, 6) ? PROGRAM_RANK + 1 : 4));
    if (i == begin) {  // what indices are taken from
      *a = (array){.type = chance(c, 2) ? INDIM_S32 : INDIM_S64, .rank = 1, .sizes = {8}};
    }
    p->any_values[i] = chance(c, 2);
    value *v = new_value(s, a);
    v->bits_count = v->is_parameter = true;
    text_add(&s->body, "parameter(%d)\n", i);
  }
  p->parameter_count = end;
}

// Which names, below |count|, are operands somewhere in the text.
static bool *used_names(const char *from, int count) {
  bool *used = calloc((size_t)count, sizeof *used);
  if (used == NULL) {
    abort();
  }
  for (const char *at = strchr(from, 'v'); at != NULL; at = strchr(at + 1, 'v')) {
    char *end = NULL;
    long name = strtol(at + 1, &end, 10);
    if (end != at + 1 && (at[-1] == '(' || at[-1] == ' ') && strncmp(end, " = ", 3) != 0) {
      used[name] = true;
    }
  }
  return used;
}

// The bits of a float whose NaNs are to have those of the other engine: comparing floats takes all NaNs for equal.
static value bits_of(scope *s, const value *v) {
  static const indim_type of_width[] = {[1] = INDIM_U8, [2] = INDIM_U16, [4] = INDIM_U32, [8] = INDIM_U64};
  array a = v->a;
  value from = *v;
  if (!is_real(a.type) || !v->bits_count || !is_exact(v) || indim_type_bits(a.type) < 8 || s->count == PROGRAM_VALUES) {
    return from;
  }
  a.type = of_width[indim_type_bytes(a.type)];
  return *make(s, &a, "bitcast-convert", &from, NULL, NULL, "");
}

static void make_root(scope *s, array *results, bool *is_tuple) {
  program *p = s->g->p;
  value out[PROGRAM_RESULTS];
  bool *used = used_names(s->body.data, s->g->names);
  for (int i = s->count - 1; i >= 0 && p->result_count < PROGRAM_RESULTS; i--) {
    const value *v = &s->values[i];
    bool is_idle = v->is_parameter && p->result_count > 0 && !chance(s->g->c, 4);
    if ((!used[v->name] && !is_idle) || chance(s->g->c, s->g->is_small ? 16 : 6)) {
      out[p->result_count++] = chance(s->g->c, 2) ? bits_of(s, v) : *v;
    }
  }
  free(used);
  *is_tuple = p->result_count != 1;
  for (int i = 0; i < p->result_count; i++) {
    p->results[i] = out[i].within;
    results[i] = out[i].a;
  }
  text_add(&s->body, "  ROOT out = ");
  if (*is_tuple) {
    add_tuple_shape(&s->body, out, p->result_count);
    text_add(&s->body, " ");
    add_tuple(&s->body, out, p->result_count);
  } else {
    add_shape(&s->body, &out[0].a);
    text_add(&s->body, " copy(v%d)\n", out[0].name);
  }
}

// |size| below 256, 0: large arrays.
static void program_make_sized(program *p, choices *c, uint64_t size) {
  generator g = {.c = c, .p = p};
  scope *s = calloc(1, sizeof *s);
  array results[PROGRAM_RESULTS];
  bool is_tuple = false;
  text whole_text = {0};
  if (s == NULL) {
    abort();
  }
  memset(p, 0, sizeof *p);
  s->g = &g;
  // Most are small, and several side by side: compiling is what takes the time, of a small program much the same.
  bool large = size == 0;
  g.is_small = size >= 8;
  p->part_count = size < 96 ? 1 : 1 + (int)choose(c, 12);
  g.limit = large ? 90000 : size < 3 ? 8000 : size < 24 ? 1200 : size < 56 ? 300 : 40;
  for (int part = 0; part < p->part_count; part++) {
    for (int i = 0; i < 4; i++) {
      g.base[i] = large && i < 2 ? 100 + (int64_t)choose(c, 300) : any_size(c);
    }
    s->first = s->count;
    make_parameters(s);
    add_steps(s, g.is_small ? 1 + (int)choose(c, size < 56 ? 6 : 3) : 3 + (int)choose(c, large ? 8 : 14));
  }
  make_root(s, results, &is_tuple);
  make_header(&g, &whole_text, results, is_tuple);
  text_add(&whole_text, "%sENTRY main {\n%s}\n", g.computations.data == NULL ? "" : g.computations.data, s->body.data);
  p->text = whole_text.data;
  free(g.computations.data);
  free(s->body.data);
  free(s);
}

static inline void program_make(program *p, choices *c) { program_make_sized(p, c, choose(c, 256)); }

static inline void program_free(program *p) { free(p->text); }

#endif  // INDIM_TESTS_PROGRAM_H
