// Steps of random programs that compute element by element.
#ifndef INDIM_TESTS_ELEMENTWISE_STEPS_H
#define INDIM_TESTS_ELEMENTWISE_STEPS_H

#include "generator.h"

static void do_unary(scope *s) {
  static const char *const reals[] = {
      "abs", "negate", "sign", "floor", "ceil", "round-nearest-afz", "round-nearest-even", "sqrt", "is-finite"};
  static const char *const integers[] = {"abs", "negate", "sign", "not", "popcnt", "count-leading-zeros"};
  static const char *const complexes[] = {"negate", "real", "imag"};
  value x = pick_exact(s);
  array a = x.a;
  const char *op = "not";
  if (is_real(a.type)) {
    op = ANY_OF(s->g->c, reals);
    a.type = strcmp(op, "is-finite") == 0 ? INDIM_PRED : a.type;
  } else if (is_int(a.type)) {
    op = ANY_OF(s->g->c, integers);
    op = indim_type_is_unsigned_int(a.type) && (op[0] == 'a' || op[0] == 's') ? "not" : op;
  } else if (is_complex(a.type)) {
    op = ANY_OF(s->g->c, complexes);
    a.type = op[0] == 'n' ? a.type : indim_type_component_of(a.type);
  }
  make(s, &a, op, &x, NULL, NULL, "");
}

static bool has_functions(const value *v) { return is_exact(v) && (is_wide(v->a.type) || is_half(v->a.type)); }

static void do_function(scope *s) {
  static const char *const ops[] = {"exponential", "exponential-minus-one",
                                    "log",         "log-plus-one",
                                    "logistic",    "rsqrt",
                                    "cbrt",        "sine",
                                    "cosine",      "tan",
                                    "sinh",        "cosh",
                                    "tanh",        "asin",
                                    "acos",        "asinh",
                                    "acosh",       "atanh",
                                    "erf"};
  static const char *const pairs[] = {"power", "atan2"};
  value x = pick(s, has_functions);
  value *v = NULL;
  if (chance(s->g->c, 6)) {
    value y = need(s, &x.a);
    v = make(s, &x.a, ANY_OF(s->g->c, pairs), &x, &y, NULL, "");
  } else {
    v = make(s, &x.a, ANY_OF(s->g->c, ops), &x, NULL, NULL, "");
  }
  v->within.ulps = is_half(x.a.type) ? 1 : 3;
}

static void do_binary(scope *s) {
  static const char *const reals[] = {"add",     "subtract",  "multiply", "divide",   "maximum",
                                      "minimum", "remainder", "add",      "multiply", "multiply"};
  static const char *const integers[] = {"add",
                                         "subtract",
                                         "multiply",
                                         "divide",
                                         "remainder",
                                         "maximum",
                                         "minimum",
                                         "and",
                                         "or",
                                         "xor",
                                         "shift-left",
                                         "shift-right-arithmetic",
                                         "shift-right-logical",
                                         "power"};
  static const char *const preds[] = {"and", "or", "xor", "add", "multiply", "maximum", "minimum"};
  static const char *const complexes[] = {"add", "subtract", "multiply", "divide"};
  value x = pick_exact(s);
  value y = need(s, &x.a);
  const char *op = is_real(x.a.type)      ? ANY_OF(s->g->c, reals)
                   : is_int(x.a.type)     ? ANY_OF(s->g->c, integers)
                   : is_complex(x.a.type) ? ANY_OF(s->g->c, complexes)
                                          : ANY_OF(s->g->c, preds);
  bool swap = chance(s->g->c, 2);
  make(s, &x.a, op, swap ? &y : &x, swap ? &x : &y, NULL, "");
}

static void do_compare(scope *s) {
  static const char *const directions[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  char attributes[60];
  value x = pick_exact(s);
  value y = need(s, &x.a);
  array a = x.a;
  snprintf(attributes, sizeof attributes, ", direction=%s",
           is_complex(a.type) ? directions[choose(s->g->c, 2)] : ANY_OF(s->g->c, directions));
  if (is_real(a.type) && x.bits_count && y.bits_count && chance(s->g->c, 3)) {
    strcat(attributes, ", type=TOTALORDER");
  }
  a.type = INDIM_PRED;
  make(s, &a, "compare", &x, &y, NULL, attributes);
}

static void do_select(scope *s) {
  value x = pick_exact(s);
  value y = need(s, &x.a);
  array a = x.a;
  a.type = INDIM_PRED;
  a.rank = chance(s->g->c, 6) ? 0 : a.rank;
  value p = need(s, &a);
  value *v = make(s, &x.a, "select", &p, &x, &y, "");
  v->bits_count = x.bits_count && y.bits_count;
}

static void do_clamp(scope *s) {
  value x = pick_exact(s);
  if (is_complex(x.a.type)) {
    return;
  }
  array a = x.a;
  a.rank = chance(s->g->c, 2) ? 0 : a.rank;
  value low = need(s, &a);
  value high = need(s, &a);
  make(s, &x.a, "clamp", &low, &x, &high, "");
}

static void do_convert(scope *s) {
  value x = pick_exact(s);
  (void)as_type(s, &x, any_type(s->g->c));
}

static void do_bits(scope *s) {
  value x = pick_exact(s);
  array a = x.a;
  int32_t bits = indim_type_bits(a.type);
  if (!x.bits_count || is_complex(a.type) || bits < 8) {
    return;
  }
  static const indim_type of16[] = {INDIM_S16, INDIM_U16, INDIM_F16, INDIM_BF16};
  static const indim_type of32[] = {INDIM_S32, INDIM_U32, INDIM_F32};
  static const indim_type of64[] = {INDIM_S64, INDIM_U64, INDIM_F64};
  static const indim_type of8[] = {INDIM_S8, INDIM_U8, INDIM_F8E5M2, INDIM_F8E4M3FN};
  a.type = bits == 8    ? ANY_OF(s->g->c, of8)
           : bits == 16 ? ANY_OF(s->g->c, of16)
           : bits == 32 ? ANY_OF(s->g->c, of32)
                        : ANY_OF(s->g->c, of64);
  if (chance(s->g->c, 3) && bits > 8 && a.rank < PROGRAM_RANK && element_count(&a) * bits / 8 <= s->g->limit) {
    a.type = INDIM_U8;
    a.sizes[a.rank++] = bits / 8;
  }
  make(s, &a, "bitcast-convert", &x, NULL, NULL, "")->bits_count = true;
}

static void do_reduce_precision(scope *s) {
  value x = pick_exact(s);
  char attributes[60];
  if (is_wide(x.a.type) || is_half(x.a.type)) {
    snprintf(attributes, sizeof attributes, ", exponent_bits=%d, mantissa_bits=%d", 2 + (int)choose(s->g->c, 7),
             (int)choose(s->g->c, 12));
    make(s, &x.a, "reduce-precision", &x, NULL, NULL, attributes);
  }
}

static void do_complex(scope *s) {
  value x = pick_exact(s);
  if (is_wide(x.a.type)) {
    array a = x.a;
    value y = need(s, &a);
    a.type = indim_type_complex_of(a.type);
    make(s, &a, "complex", &x, &y, NULL, "");
  }
}

#endif  // INDIM_TESTS_ELEMENTWISE_STEPS_H
