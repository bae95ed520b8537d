// Of lanes.c, for one element type and vector width: the words of lanes_real.h, for complex matrices, whose elements are a vector of
// real parts and one of imaginary parts behind it.
#undef ELEMENT
#undef PARTS
#undef OF
#define ELEMENT NAME(pair)
#define PARTS 2
#define OF(x) NAME(complex_##x)

typedef struct NAME(pair) {
  VECTOR re, im;
} NAME(pair);

INLINE VECTOR NAME(complex_real_part)(ELEMENT x) { return x.re; }
INLINE ELEMENT NAME(complex_from_real)(VECTOR x) { return (ELEMENT){x, (VECTOR){0}}; }
INLINE ELEMENT NAME(complex_conj)(ELEMENT x) { return (ELEMENT){x.re, -x.im}; }
INLINE VECTOR NAME(complex_square)(ELEMENT x) { return x.re * x.re + x.im * x.im; }
INLINE ELEMENT NAME(complex_times)(ELEMENT x, ELEMENT y) {
  return (ELEMENT){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
INLINE ELEMENT NAME(complex_times_real)(ELEMENT x, VECTOR y) { return (ELEMENT){x.re * y, x.im * y}; }
INLINE ELEMENT NAME(complex_minus_product)(ELEMENT z, ELEMENT x, ELEMENT y) {
  return (ELEMENT){z.re - x.re * y.re + x.im * y.im, z.im - x.re * y.im - x.im * y.re};
}
INLINE ELEMENT NAME(complex_plus_product)(ELEMENT z, ELEMENT x, ELEMENT y) {
  return (ELEMENT){z.re + x.re * y.re - x.im * y.im, z.im + x.re * y.im + x.im * y.re};
}
INLINE ELEMENT NAME(complex_plus)(ELEMENT x, ELEMENT y) { return (ELEMENT){x.re + y.re, x.im + y.im}; }
INLINE ELEMENT NAME(complex_minus)(ELEMENT x, ELEMENT y) { return (ELEMENT){x.re - y.re, x.im - y.im}; }
INLINE ELEMENT NAME(complex_minus_real)(ELEMENT x, VECTOR y) { return (ELEMENT){x.re - y, x.im}; }
INLINE ELEMENT NAME(complex_inverse)(ELEMENT x) {
  VECTOR square = NAME(complex_square)(x);
  return (ELEMENT){x.re / square, -x.im / square};
}
INLINE ELEMENT NAME(complex_tau)(ELEMENT head, VECTOR beta) {
  return (ELEMENT){(beta - head.re) / beta, -head.im / beta};
}
INLINE MASK NAME(complex_is_real)(ELEMENT x) { return x.im == 0; }
INLINE ELEMENT NAME(complex_turn_back)(ELEMENT x, ELEMENT phase) {
  return (ELEMENT){x.re * phase.re + x.im * phase.im, x.im * phase.re - x.re * phase.im};
}
INLINE VECTOR NAME(complex_largest_part)(ELEMENT x) {
  VECTOR re = NAME(abs)(x.re);
  VECTOR im = NAME(abs)(x.im);
  return NAME(select)(re > im, re, im);
}
// The size of |x| and, where |pred|, the phase that it has.
INLINE VECTOR NAME(complex_without_phase)(MASK pred, ELEMENT x, ELEMENT *out_phase) {
  VECTOR scale, inverse;
  NAME(scale)(NAME(complex_largest_part)(x), &scale, &inverse);
  x = NAME(complex_times_real)(x, scale);
  VECTOR size = NAME(sqrt)(NAME(complex_square)(x));
  pred &= size > 0;
  out_phase->re = NAME(select)(pred, x.re / size, NAME(all)(1));
  out_phase->im = NAME(select)(pred, x.im / size, (VECTOR){0});
  return size * inverse;
}
INLINE MASK NAME(complex_is_zero)(ELEMENT x) { return (x.re == 0) & (x.im == 0); }
INLINE VECTOR NAME(complex_pivot_size)(ELEMENT x) { return NAME(abs)(x.re) + NAME(abs)(x.im); }
INLINE ELEMENT NAME(complex_select)(MASK pred, ELEMENT on_true, ELEMENT on_false) {
  return (ELEMENT){NAME(select)(pred, on_true.re, on_false.re), NAME(select)(pred, on_true.im, on_false.im)};
}

// The inverse of the number times a power of two that brings it next to 1; of 0 an infinite one, so that a quotient is infinite.
typedef struct NAME(complex_divisor) {
  ELEMENT inverse;
  VECTOR scale;
} NAME(complex_divisor);

INLINE NAME(complex_divisor) NAME(complex_divisor_of)(ELEMENT x, bool has_much) {
  VECTOR scale, inverse;
  (void)has_much;
  NAME(scale)(NAME(complex_largest_part)(x), &scale, &inverse);
  ELEMENT near_one = NAME(complex_times_real)(x, scale);
  VECTOR square = NAME(complex_square)(near_one);
  MASK is_zero = square == 0;
  VECTOR infinite = (VECTOR)((MASK)NAME(all)((REAL)INFINITY) | (MASK)x.re);  // 1 / x.re, which is 0 there
  return (NAME(complex_divisor)){{NAME(select)(is_zero, infinite, near_one.re / square),
                                  NAME(select)(is_zero, (VECTOR){0}, -near_one.im / square)},
                                 scale};
}

INLINE ELEMENT NAME(complex_quotient)(ELEMENT x, const NAME(complex_divisor) * by) {
  return NAME(complex_times_real)(NAME(complex_times)(x, by->inverse), by->scale);
}

// x / |by|, or by a number next to nothing if that is less.
INLINE ELEMENT NAME(complex_divide)(ELEMENT x, ELEMENT by, REAL least) {
  by = NAME(complex_select)(NAME(complex_largest_part)(by) < least, NAME(complex_from_real)(NAME(all)(least)), by);
  NAME(complex_divisor) divisor = NAME(complex_divisor_of)(by, false);
  return NAME(complex_quotient)(x, &divisor);
}

INLINE ELEMENT NAME(complex_to_complex)(ELEMENT x) { return x; }
INLINE ELEMENT NAME(complex_minus_multiple)(ELEMENT z, ELEMENT x, ELEMENT y) {
  return NAME(complex_minus_product)(z, x, y);
}

// p + sqrt(q) or p - sqrt(q), and where it is an element: everywhere.
INLINE MASK NAME(complex_larger_root)(ELEMENT p, ELEMENT q, ELEMENT *out) {
  VECTOR scale, inverse;
  NAME(scale)(NAME(complex_largest_part)(q), &scale, &inverse);
  VECTOR size = NAME(sqrt)(NAME(complex_square)(NAME(complex_times_real)(q, scale))) * inverse;
  VECTOR longer = NAME(sqrt)((size + NAME(abs)(q.re)) / 2);
  VECTOR shorter = NAME(select)(longer > 0, q.im / (2 * longer), (VECTOR){0});
  MASK is_left = q.re < 0;
  ELEMENT root = {NAME(select)(is_left, shorter, longer), NAME(select)(is_left, longer, shorter)};
  MASK is_opposite = p.re * root.re + p.im * root.im < 0;
  root.re = NAME(select)(is_opposite, -root.re, root.re);
  root.im = NAME(select)(is_opposite, -root.im, root.im);
  *out = NAME(complex_plus)(p, root);
  return NAME(all_int)(-1);
}
