// Of lanes.c, for one element type and vector width: the words in which lanes_factor.h and lanes_householder.h are
// written, for real matrices, whose elements are a vector each. No include guard: the last one included of this and lanes_complex.h holds.
#undef ELEMENT
#undef PARTS
#undef OF
#define ELEMENT VECTOR
#define PARTS 1  // vectors of an element
#define OF(x) NAME(x)

INLINE VECTOR NAME(real_part)(VECTOR x) { return x; }
INLINE VECTOR NAME(from_real)(VECTOR x) { return x; }
INLINE VECTOR NAME(conj)(VECTOR x) { return x; }
INLINE VECTOR NAME(square)(VECTOR x) { return x * x; }  // of the absolute value
INLINE VECTOR NAME(times)(VECTOR x, VECTOR y) { return x * y; }
INLINE VECTOR NAME(times_real)(VECTOR x, VECTOR y) { return x * y; }
INLINE VECTOR NAME(minus_product)(VECTOR z, VECTOR x, VECTOR y) { return z - x * y; }
INLINE VECTOR NAME(plus_product)(VECTOR z, VECTOR x, VECTOR y) { return z + x * y; }
INLINE VECTOR NAME(plus)(VECTOR x, VECTOR y) { return x + y; }
INLINE VECTOR NAME(minus)(VECTOR x, VECTOR y) { return x - y; }
INLINE VECTOR NAME(minus_real)(VECTOR x, VECTOR y) { return x - y; }
INLINE VECTOR NAME(inverse)(VECTOR x) { return 1 / x; }  // of a number next to 1
INLINE VECTOR NAME(tau)(VECTOR head, VECTOR beta) { return (beta - head) / beta; }
INLINE MASK NAME(is_real)(VECTOR x) {
  (void)x;
  return NAME(all_int)(-1);
}
// |x| times a phase, of whatever sign: real numbers keep theirs.
INLINE VECTOR NAME(without_phase)(MASK pred, VECTOR x, VECTOR *out_phase) {
  (void)pred;
  *out_phase = NAME(all)(1);
  return x;
}
INLINE VECTOR NAME(turn_back)(VECTOR x, VECTOR phase) {
  (void)phase;
  return x;
}
INLINE VECTOR NAME(largest_part)(VECTOR x) { return NAME(abs)(x); }
INLINE MASK NAME(is_zero)(VECTOR x) { return x == 0; }
INLINE VECTOR NAME(pivot_size)(VECTOR x) { return NAME(abs)(x); }

// What to divide by, in lanes where |divides|; others are multiplied by the inverse. All divide unless there is much to divide, and
// then those do whose inverse overflows or loses digits.
typedef struct NAME(divisor) {
  VECTOR value, inverse;
  MASK divides;
  bool any, all;
} NAME(divisor);

INLINE NAME(divisor) NAME(divisor_of)(VECTOR x, bool has_much) {
  VECTOR inverse = 1 / x;
  MASK divides = has_much ? ~NAME(is_normal)(inverse) : NAME(all_int)(-1);
  return (NAME(divisor)){x, inverse, divides, NAME(any)(divides), !has_much};
}

INLINE VECTOR NAME(quotient)(VECTOR x, const NAME(divisor) * by) {
  return by->all   ? x / by->value
         : by->any ? NAME(select)(by->divides, x / by->value, x * by->inverse)
                   : x * by->inverse;
}

INLINE NAME(pair) NAME(to_complex)(VECTOR x) { return (NAME(pair)){x, (VECTOR){0}}; }
INLINE NAME(pair) NAME(minus_multiple)(NAME(pair) z, VECTOR x, NAME(pair) y) {
  return (NAME(pair)){z.re - x * y.re, z.im - x * y.im};
}

// The one of p + sqrt(q) and p - sqrt(q) with the larger size, and where it is a real number.
INLINE MASK NAME(larger_root)(VECTOR p, VECTOR q, VECTOR *out) {
  MASK is_real = q >= 0;
  VECTOR root = NAME(sqrt)(NAME(select)(is_real, q, (VECTOR){0}));
  *out = NAME(select)(p < 0, p - root, p + root);
  return is_real;
}
