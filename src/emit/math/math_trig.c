// Sine, cosine and tangent. Angles up to a few hundred thousand (2^28 for double) are reduced by products with pi in
// three parts (Cody-Waite); larger ones by a product with the relevant 192 bits of 2/pi (Payne-Hanek), lane by lane, in
// a function that is called when some lane is that large. So every argument is reduced exactly.
#include "emit/math/math_kit.h"

// sin r = r + r^3 p(r^2) for |r| <= pi/2 and for |r| <= pi/4, cos r = 1 - r^2/2 + r^4 p(r^2) for |r| <= pi/4.
static const double sin_half_float[] = {-0x1.55554cp-3, 0x1.110edp-7, -0x1.9f6f4ep-13, 0x1.5db3a6p-19};
static const double sin_half_double[] = {-0x1.5555555555555p-3, 0x1.11111111110cp-7,    -0x1.a01a01a0147acp-13,
                                         0x1.71de3a5280442p-19, -0x1.ae6454c7cff5bp-26, 0x1.6123ca4085e67p-33,
                                         -0x1.ae42dfbf20acp-41, 0x1.8822fd44fd92fp-49};
static const double sin_float[] = {-0x1.555546p-3, 0x1.110756p-7, -0x1.994b4p-13};
static const double sin_double[] = {-0x1.5555555555549p-3, 0x1.111111110f842p-7,   -0x1.a01a019c0a30cp-13,
                                    0x1.71de357101c87p-19, -0x1.ae5e60c69c593p-26, 0x1.5d915e5ee1455p-33};
static const double cos_float[] = {0x1.55554ap-5, -0x1.6c0c82p-10, 0x1.99ff4p-16};
static const double cos_double[] = {0x1.555555555554cp-5,   -0x1.6c16c16c1514p-10, 0x1.a01a019cab724p-16,
                                    -0x1.27e4f80532704p-22, 0x1.1ee9e88fdc66fp-29, -0x1.8facd0e68232bp-37};

// pi in three parts of 24 and of 53 bits, each truncated; halves of them are the parts of pi/2.
static const double pi_float[] = {0x1.921fb4p+1, 0x1.4442d0p-23, 0x1.846988p-47};
static const double pi_double[] = {0x1.921fb54442d18p+1, 0x1.1a62633145c06p-53, 0x1.c1cd129024e08p-106};

// x = quarters * pi/2 + high + low; quarters is modulo 4, in the low two bits.
typedef struct angle {
  val quarters;
  val high;
  val low;
} angle;

// ----------------------------------------------------------------------------------------------- far from zero

// The fraction bits of 2/pi, after 64 zeros.
static const uint64_t two_over_pi[] = {0x0,
                                       0xa2f9836e4e441529,
                                       0xfc2757d1f534ddc0,
                                       0xdb6295993c439041,
                                       0xfe5163abdebbc561,
                                       0xb7246e3a424dd2e0,
                                       0x6492eea09d1921c,
                                       0xfe1deb1cb129a73e,
                                       0xe88235f52ebb4484,
                                       0xe99c7026b45f7e41,
                                       0x3991d639835339f4,
                                       0x9c845f8bbdf9283b,
                                       0x1ff897ffde05980f,
                                       0xef2f118b5a0a6d1f,
                                       0x6d367ecf27cb09b7,
                                       0x4f463f669e5fea2d,
                                       0x7527bac7ebe5f17b,
                                       0x3d0739f78a5292ea,
                                       0x6bfb5fb11f8d5d08,
                                       0x56033046fc7b6bab};
enum { TWO_OVER_PI_WORDS = sizeof two_over_pi / sizeof two_over_pi[0], EXPONENT_LEAST = 1013 };

static LLVMValueRef table_of_two_over_pi(indim_emit *e) {
  static const char name[] = "indim.two_over_pi";
  LLVMValueRef table = LLVMGetNamedGlobal(e->module, name);
  if (table != NULL) {
    return table;
  }
  LLVMTypeRef word = LLVMInt64TypeInContext(e->context);
  LLVMValueRef words[TWO_OVER_PI_WORDS];
  for (int i = 0; i < TWO_OVER_PI_WORDS; i++) {
    words[i] = LLVMConstInt(word, two_over_pi[i], 0);
  }
  LLVMValueRef content = LLVMConstArray2(word, words, TWO_OVER_PI_WORDS);
  table = LLVMAddGlobal(e->module, LLVMTypeOf(content), name);
  LLVMSetInitializer(table, content);
  LLVMSetGlobalConstant(table, 1);
  LLVMSetLinkage(table, LLVMPrivateLinkage);
  LLVMSetAlignment(table, 64);
  return table;
}

// 64 bits of 2/pi from bit |shift| of word |at| + |word_offset| on.
static LLVMValueRef window(indim_emit *e, LLVMValueRef at, int64_t word_offset, LLVMValueRef shift) {
  LLVMTypeRef word = LLVMInt64TypeInContext(e->context);
  LLVMValueRef part[3];
  for (int64_t i = 0; i < 2; i++) {
    LLVMValueRef index = LLVMBuildAdd(e->builder, at, LLVMConstInt(word, (uint64_t)(word_offset + i), 0), "");
    LLVMValueRef address = LLVMBuildInBoundsGEP2(e->builder, word, table_of_two_over_pi(e), &index, 1, "");
    part[i] = LLVMBuildLoad2(e->builder, word, address, "");
  }
  part[2] = shift;
  return indim_emit_intrinsic(e, "llvm.fshl", 3, part);
}

// |x| * 2/pi modulo 4 in units of 2^-126, for one double x of at least 2^-10. |x| = m 2^e with m an integer, so the
// bits of 2/pi of weight 4 times 2^-e and more contribute nothing.
static LLVMValueRef quarters_of(indim_emit *e, LLVMValueRef x_bits) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef word = LLVMInt64TypeInContext(e->context);
  LLVMTypeRef wide = LLVMIntTypeInContext(e->context, 128);
  LLVMValueRef exponent =
      LLVMBuildAnd(b, LLVMBuildLShr(b, x_bits, LLVMConstInt(word, 52, 0), ""), LLVMConstInt(word, 0x7FF, 0), "");
  LLVMValueRef least = LLVMConstInt(word, EXPONENT_LEAST, 0);
  exponent = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, exponent, least, ""), least, exponent, "");
  LLVMValueRef fraction = LLVMBuildAnd(b, x_bits, LLVMConstInt(word, (UINT64_C(1) << 52) - 1, 0), "");
  LLVMValueRef whole_part = LLVMBuildOr(b, fraction, LLVMConstInt(word, UINT64_C(1) << 52, 0), "");
  LLVMValueRef m = LLVMBuildZExt(b, whole_part, wide, "");
  // Bit 0 of the table has weight 2^(63 - 1 + e), and 2^1 is the first that counts.
  LLVMValueRef bit = LLVMBuildSub(b, exponent, least, "");
  LLVMValueRef at = LLVMBuildLShr(b, bit, LLVMConstInt(word, 6, 0), "");
  LLVMValueRef shift = LLVMBuildAnd(b, bit, LLVMConstInt(word, 63, 0), "");
  LLVMValueRef sixty_four = LLVMConstInt(wide, 64, 0);
  LLVMValueRef product[3];
  for (int64_t i = 0; i < 3; i++) {
    product[i] = LLVMBuildMul(b, m, LLVMBuildZExt(b, window(e, at, i, shift), wide, ""), "");
  }
  LLVMValueRef sum = LLVMBuildAdd(b, LLVMBuildShl(b, product[0], sixty_four, ""), product[1], "");
  return LLVMBuildAdd(b, sum, LLVMBuildLShr(b, product[2], sixty_four, ""), "");
}

// A signed fraction of 2^128, not 0, times pi/2, as a pair of doubles.
static pair fraction_times_half_pi(const kit *k, LLVMValueRef fraction) {
  LLVMBuilderRef b = k->b;
  LLVMTypeRef wide = LLVMTypeOf(fraction);
  LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, fraction, LLVMConstNull(wide), "");
  LLVMValueRef magnitude = LLVMBuildSelect(b, negative, LLVMBuildNeg(b, fraction, ""), fraction, "");
  LLVMValueRef args[] = {magnitude, LLVMConstNull(LLVMInt1TypeInContext(k->e->context))};
  LLVMValueRef zeros = indim_emit_intrinsic(k->e, "llvm.ctlz", 2, args);
  LLVMValueRef normal = LLVMBuildShl(b, magnitude, zeros, "");
  LLVMValueRef first = LLVMBuildTrunc(b, LLVMBuildLShr(b, normal, LLVMConstInt(wide, 75, 0), ""), k->bits, "");
  LLVMValueRef second = LLVMBuildTrunc(b, LLVMBuildLShr(b, normal, LLVMConstInt(wide, 22, 0), ""), k->bits, "");
  second = iand(k, second, whole(k, (INT64_C(1) << 53) - 1));
  val high = mul(k, LLVMBuildSIToFP(b, first, k->type, ""), real(k, 0x1p-53));
  val low = mul(k, LLVMBuildSIToFP(b, second, k->type, ""), real(k, 0x1p-106));
  pair product = indim_emit_math_two_product(k, high, real(k, pi_double[0] / 2));
  val rest = fused(k, high, real(k, pi_double[1] / 2), fused(k, low, real(k, pi_double[0] / 2), product.low));
  pair sum = quick_two_sum(k, product.high, rest);
  val exponent = isub(k, whole(k, bias(k)), LLVMBuildTrunc(b, zeros, k->bits, ""));
  val scale = as_real(k, shift_left(k, exponent, mantissa_bits(k)));
  scale = choose(k, negative, minus(k, scale), scale);
  return (pair){mul(k, sum.high, scale), mul(k, sum.low, scale)};
}

// One double of any size.
static angle reduce_double(const kit *k, val x) {
  LLVMBuilderRef b = k->b;
  LLVMValueRef quarters = quarters_of(k->e, as_bits(k, x));
  LLVMTypeRef wide = LLVMTypeOf(quarters);
  pair r = fraction_times_half_pi(k, LLVMBuildShl(b, quarters, LLVMConstInt(wide, 2, 0), ""));
  LLVMValueRef half = LLVMBuildShl(b, LLVMConstInt(wide, 1, 0), LLVMConstInt(wide, 125, 0), "");
  LLVMValueRef rounded = LLVMBuildAdd(b, quarters, half, "");
  LLVMValueRef top = LLVMBuildLShr(b, rounded, LLVMConstInt(wide, 126, 0), "");
  LLVMValueRef count = LLVMBuildTrunc(b, top, k->bits, "");
  val is_negative = below(k, x, 0);
  return (angle){choose(k, is_negative, isub(k, whole(k, 0), count), count),
                 choose(k, is_negative, minus(k, r.high), r.high), choose(k, is_negative, minus(k, r.low), r.low)};
}

// The same for one float or double.
static angle reduce_lane(const kit *k, val x) {
  if (k->is_double) {
    return reduce_double(k, x);
  }
  val exact = to_double(k, x);
  kit of_double = kit_of(k->e, exact);
  angle out = reduce_double(&of_double, exact);
  val high = from_double(k, out.high);
  val rest = LLVMBuildFSub(k->b, out.high, to_double(k, high), "");
  return (angle){LLVMBuildTrunc(k->b, out.quarters, k->bits, ""), high,
                 from_double(k, LLVMBuildFAdd(k->b, rest, out.low, ""))};
}

// ------------------------------------------------------------------------------------------------------ near zero

// r - n * part, rounded only once.
static val less_product(const kit *k, val r, val n, double part) {
  if (k->e->has_fma) {
    return fused(k, n, real(k, -part), r);
  }
  pair product = indim_emit_math_two_product(k, n, real(k, part));
  return sub(k, sub(k, r, product.high), product.low);
}

static const double *pi_parts(const kit *k) { return k->is_double ? pi_double : pi_float; }

// The nearest multiple of pi/2 to x, and the remainder, for |x| below the limit.
static angle reduce_near(const kit *k, val x) {
  double magic = pick(k, 0x1.8p23, 0x1.8p52);
  const double *pi = pi_parts(k);
  val shifted = fused(k, x, real(k, 0x1.45f306dc9c883p-1), real(k, magic));
  val n = sub(k, shifted, real(k, magic));
  val first = less_product(k, x, n, pi[0] / 2);
  pair product = indim_emit_math_two_product(k, n, real(k, pi[1] / 2));
  pair rest = two_sum(k, first, minus(k, product.high));
  val low = sub(k, sub(k, rest.low, product.low), mul(k, n, real(k, pi[2] / 2)));
  pair sum = quick_two_sum(k, rest.high, low);
  return (angle){as_bits(k, shifted), sum.high, sum.low};
}

// x = (halves - (shifted ? 1/2 : 0)) pi + high; halves is modulo 2, in the low bit.
static angle reduce_near_half(const kit *k, val x, bool shifted) {
  double magic = pick(k, 0x1.8p23, 0x1.8p52);
  const double *pi = pi_parts(k);
  val one_over_pi = real(k, 0x1.45f306dc9c883p-2);
  val sum = shifted ? add(k, fused(k, x, one_over_pi, real(k, 0.5)), real(k, magic))
                    : fused(k, x, one_over_pi, real(k, magic));
  val n = sub(k, sum, real(k, magic));
  if (shifted) {
    n = sub(k, n, real(k, 0.5));
  }
  val r = less_product(k, less_product(k, x, n, pi[0]), n, pi[1]);
  return (angle){as_bits(k, sum), less_product(k, r, n, pi[2]), NULL};
}

// ------------------------------------------------------------------------------------------------------------ any x

enum { QUARTERS, HALVES, HALVES_SHIFTED };

// From the nearest multiple of pi/2 what reduce_near_half finds; |offset| is 1 where it is shifted. An odd multiple is moved to an
// even neighbour.
static angle halves_of(const kit *k, angle far, val offset) {
  const double *pi = pi_parts(k);
  val quarters = iadd(k, far.quarters, offset);
  val is_odd = compare_bits(k, LLVMIntNE, iand(k, quarters, whole(k, 1)), whole(k, 0));
  val is_negative = below(k, far.high, 0);
  val step = choose(k, is_negative, real(k, pi[0] / 2), real(k, -pi[0] / 2));
  val rest = choose(k, is_negative, real(k, pi[1] / 2), real(k, -pi[1] / 2));
  pair sum = quick_two_sum(k, step, far.high);
  val moved = add(k, sum.high, add(k, sum.low, add(k, rest, far.low)));
  val even = iadd(k, quarters, choose(k, is_negative, whole(k, -1), whole(k, 1)));
  val halves = shift_right(k, choose(k, is_odd, even, quarters), 1);
  return (angle){halves, choose(k, is_odd, moved, far.high), NULL};
}

// What lanes are passed in to the outlined function: arrays of x, quarters, high and low, each of |lanes| elements.
enum { FAR_X, FAR_QUARTERS, FAR_HIGH, FAR_LOW, FAR_ARRAYS };

static val is_far(const kit *k, val x) {
  return compare(k, LLVMRealOGE, absolute(k, x), real(k, pick(k, 0x1p17, 0x1p28)));
}

static LLVMTypeRef element_of(const kit *k) {
  return k->is_double ? LLVMDoubleTypeInContext(k->e->context) : LLVMFloatTypeInContext(k->e->context);
}

// The addresses in all arrays from |lane| on.
static void far_addresses(const kit *k, val arrays, val lanes, val lane, val *out_addresses) {
  for (unsigned i = 0; i < FAR_ARRAYS; i++) {
    LLVMValueRef start = LLVMBuildMul(k->b, lanes, LLVMConstInt(LLVMTypeOf(lanes), i, 0), "");
    LLVMValueRef index = LLVMBuildAdd(k->b, start, lane, "");
    out_addresses[i] = LLVMBuildInBoundsGEP2(k->b, element_of(k), arrays, &index, 1, "");
  }
}

// The body of the outlined function: a loop over lanes that replaces what reduce_near found for those that are far from zero.
static void reduce_far_lanes(const kit *k, val arrays, val lanes, val how) {
  indim_emit *e = k->e;
  LLVMTypeRef word = LLVMTypeOf(lanes);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(k->b);
  LLVMBasicBlockRef loop = indim_emit_math_block(e, "lane");
  LLVMBasicBlockRef far = indim_emit_math_block(e, "lane.far");
  LLVMBasicBlockRef next = indim_emit_math_block(e, "lane.next");
  LLVMBasicBlockRef after = indim_emit_math_block(e, "lanes");
  LLVMBuildBr(k->b, loop);
  LLVMPositionBuilderAtEnd(k->b, loop);
  LLVMValueRef lane = indim_emit_math_phi(e, word, LLVMConstNull(word), before);
  val at[FAR_ARRAYS];
  far_addresses(k, arrays, lanes, lane, at);
  val x = LLVMBuildLoad2(k->b, k->type, at[FAR_X], "");
  val is_finite = compare(k, LLVMRealOLT, absolute(k, x), real(k, HUGE_VAL));
  LLVMBuildCondBr(k->b, both(k, is_far(k, x), is_finite), far, next);
  LLVMPositionBuilderAtEnd(k->b, far);
  angle found = reduce_lane(k, x);
  LLVMValueRef is_shifted = LLVMBuildICmp(k->b, LLVMIntEQ, how, LLVMConstInt(word, HALVES_SHIFTED, 0), "");
  LLVMValueRef is_quarters = LLVMBuildICmp(k->b, LLVMIntEQ, how, LLVMConstInt(word, QUARTERS, 0), "");
  angle halves = halves_of(k, found, LLVMBuildZExt(k->b, is_shifted, k->bits, ""));
  LLVMBuildStore(k->b, choose(k, is_quarters, found.quarters, halves.quarters), at[FAR_QUARTERS]);
  LLVMBuildStore(k->b, choose(k, is_quarters, found.high, halves.high), at[FAR_HIGH]);
  LLVMBuildStore(k->b, found.low, at[FAR_LOW]);
  LLVMBuildBr(k->b, next);
  LLVMPositionBuilderAtEnd(k->b, next);
  LLVMValueRef next_lane = LLVMBuildAdd(k->b, lane, LLVMConstInt(word, 1, 0), "");
  LLVMAddIncoming(lane, &next_lane, &next, 1);
  LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntULT, next_lane, lanes, ""), loop, after);
  LLVMPositionBuilderAtEnd(k->b, after);
}

// One function for all numbers of lanes: it is most of the code of a sine, and hardly any program calls it.
static outlined far_function(const kit *k) {
  indim_emit *e = k->e;
  LLVMTypeRef word = LLVMInt64TypeInContext(e->context);
  LLVMTypeRef parameters[] = {LLVMPointerTypeInContext(e->context, 0), word, word};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), parameters, 3, 0);
  outlined function;
  if (indim_emit_math_outlined_new(e, k->is_double ? "indim.far_angle.f64" : "indim.far_angle.f32", type, &function)) {
    kit of_lane = kit_of(e, LLVMConstNull(element_of(k)));
    reduce_far_lanes(&of_lane, LLVMGetParam(function.function, 0), LLVMGetParam(function.function, 1),
                     LLVMGetParam(function.function, 2));
    indim_emit_math_outlined_end(e, function, NULL);
  }
  return function;
}

// The arrays of the current function for lanes of type |type|, which all its angles share.
static LLVMValueRef far_arrays(const kit *k, LLVMTypeRef type) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b);
  LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(here)));
  for (LLVMValueRef v = first; v != NULL && LLVMIsAAllocaInst(v) != NULL; v = LLVMGetNextInstruction(v)) {
    if (LLVMGetAllocatedType(v) == type) {
      return v;
    }
  }
  if (first != NULL) {
    LLVMPositionBuilderBefore(k->b, first);
  } else {
    LLVMPositionBuilderAtEnd(k->b, LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(here)));
  }
  LLVMValueRef arrays = LLVMBuildAlloca(k->b, type, "angles");
  LLVMPositionBuilderAtEnd(k->b, here);
  return arrays;
}

// Vectors lie in the arrays at addresses of their elements.
static void store_lanes(const kit *k, val lanes, val address) {
  LLVMSetAlignment(LLVMBuildStore(k->b, lanes, address), k->is_double ? 8 : 4);
}

static val load_lanes(const kit *k, LLVMTypeRef type, val address) {
  val lanes = LLVMBuildLoad2(k->b, type, address, "");
  LLVMSetAlignment(lanes, k->is_double ? 8 : 4);
  return lanes;
}

// What reduce_near found, with those lanes replaced that are far from zero.
static angle reduce_far(const kit *k, val x, angle near, int how) {
  unsigned count = LLVMGetTypeKind(k->type) == LLVMVectorTypeKind ? LLVMGetVectorSize(k->type) : 1;
  LLVMTypeRef word = LLVMInt64TypeInContext(k->e->context);
  LLVMValueRef arrays = far_arrays(k, LLVMArrayType2(element_of(k), FAR_ARRAYS * (uint64_t)count));
  LLVMValueRef lanes = LLVMConstInt(word, count, 0);
  bool has_low = how == QUARTERS;
  val at[FAR_ARRAYS];
  far_addresses(k, arrays, lanes, LLVMConstNull(word), at);
  store_lanes(k, x, at[FAR_X]);
  store_lanes(k, near.quarters, at[FAR_QUARTERS]);
  store_lanes(k, near.high, at[FAR_HIGH]);
  if (has_low) {
    store_lanes(k, near.low, at[FAR_LOW]);
  }
  val args[] = {arrays, lanes, LLVMConstInt(word, (unsigned)how, 0)};
  indim_emit_math_outlined_call(k->e, far_function(k), args, 3);
  return (angle){load_lanes(k, k->bits, at[FAR_QUARTERS]), load_lanes(k, k->type, at[FAR_HIGH]),
                 has_low ? load_lanes(k, k->type, at[FAR_LOW]) : NULL};
}

// The reduction of any x: near zero inline, and for far lanes in a block that is normally skipped. Infinities and NaN
// give NaN.
static angle reduce_any(const kit *k, val x, int how) {
  indim_emit *e = k->e;
  angle near = how == QUARTERS ? reduce_near(k, x) : reduce_near_half(k, x, how == HALVES_SHIFTED);
  val any_far = indim_emit_math_any_lane(k, is_far(k, x));
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef slow = indim_emit_math_block(e, "angle.far");
  LLVMBasicBlockRef after = indim_emit_math_block(e, "angle");
  indim_emit_math_branch_rarely(e, any_far, slow, after);
  LLVMPositionBuilderAtEnd(e->builder, slow);
  angle far = reduce_far(k, x, near, how);
  LLVMBuildBr(e->builder, after);
  LLVMPositionBuilderAtEnd(e->builder, after);
  val chosen[3] = {far.quarters, far.high, far.low};
  val kept[3] = {near.quarters, near.high, near.low};
  val out[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3 && kept[i] != NULL; i++) {
    out[i] = indim_emit_math_phi(e, LLVMTypeOf(kept[i]), kept[i], before);
    LLVMAddIncoming(out[i], &chosen[i], &slow, 1);
  }
  return (angle){out[0], out[1], out[2]};
}

pair indim_emit_math_reduce(const kit *k, val x, val *out_quarters) {
  angle reduced = reduce_any(k, x, QUARTERS);
  *out_quarters = reduced.quarters;
  return (pair){reduced.high, reduced.low};
}

// ------------------------------------------------------------------------------------------------------- functions

static val sine_of_half(const kit *k, angle a) {
  val z = mul(k, a.high, a.high);
  // Horner: z is up to 2.5, and separate sums of every other term would have larger rounding errors.
  val p = k->is_double ? HORNER(k, z, sin_half_double) : HORNER(k, z, sin_half_float);
  val sine = fused(k, mul(k, z, a.high), p, a.high);
  sine = at_most(k, at_least(k, sine, -1), 1);
  return as_real(k, ixor(k, as_bits(k, sine), shift_left(k, a.quarters, k->is_double ? 63 : 31)));
}

// Sine and cosine of high + low, |high| <= pi/4, as pairs.
static void sine_cosine(const kit *k, angle a, pair *out_sine, pair *out_cosine) {
  val z = mul(k, a.high, a.high);
  val p = k->is_double ? POLYNOMIAL(k, z, sin_double) : POLYNOMIAL(k, z, sin_float);
  val half_z = mul(k, z, real(k, 0.5));
  val slope = sub(k, real(k, 1), half_z);
  *out_sine = quick_two_sum(k, a.high, fused(k, mul(k, z, a.high), p, mul(k, a.low, slope)));
  val c = k->is_double ? POLYNOMIAL(k, z, cos_double) : POLYNOMIAL(k, z, cos_float);
  val lost = sub(k, sub(k, real(k, 1), slope), half_z);
  val rest = add(k, fused(k, mul(k, z, z), c, lost), mul(k, a.high, minus(k, a.low)));
  *out_cosine = quick_two_sum(k, slope, rest);
}

void indim_emit_math_sincos(const kit *k, val x, val *out_sin, val *out_cos) {
  angle a = reduce_any(k, x, QUARTERS);
  pair sine;
  pair cosine;
  sine_cosine(k, a, &sine, &cosine);
  val signed_sine = choose(k, equals(k, x, 0), x, sine.high);
  val is_odd = compare_bits(k, LLVMIntNE, iand(k, a.quarters, whole(k, 1)), whole(k, 0));
  int64_t to_sign = k->is_double ? 62 : 30;
  val next = iadd(k, a.quarters, whole(k, 1));
  *out_sin = flip(k, choose(k, is_odd, cosine.high, signed_sine), as_real(k, shift_left(k, a.quarters, to_sign)));
  *out_cos = flip(k, choose(k, is_odd, signed_sine, cosine.high), as_real(k, shift_left(k, next, to_sign)));
}

// Over half a turn one polynomial is enough, but without fused multiply-add its sum is too inaccurate.
val indim_emit_math_sin(const kit *k, val x) {
  if (k->e->has_fma) {
    // Restores the sign of a zero, which the sums lose.
    return choose(k, equals(k, x, 0), x, sine_of_half(k, reduce_any(k, x, HALVES)));
  }
  val sine = NULL;
  val cosine = NULL;
  indim_emit_math_sincos(k, x, &sine, &cosine);
  return sine;
}

val indim_emit_math_cos(const kit *k, val x) {
  if (k->e->has_fma) {
    return sine_of_half(k, reduce_any(k, x, HALVES_SHIFTED));
  }
  val sine = NULL;
  val cosine = NULL;
  indim_emit_math_sincos(k, x, &sine, &cosine);
  return cosine;
}

// Sine over cosine, or minus cosine over sine; the division's residual is added.
val indim_emit_math_tan(const kit *k, val x) {
  angle a = reduce_any(k, x, QUARTERS);
  pair sine;
  pair cosine;
  sine_cosine(k, a, &sine, &cosine);
  val is_odd = compare_bits(k, LLVMIntNE, iand(k, a.quarters, whole(k, 1)), whole(k, 0));
  pair top = {choose(k, is_odd, minus(k, cosine.high), sine.high), choose(k, is_odd, minus(k, cosine.low), sine.low)};
  pair bottom = {choose(k, is_odd, sine.high, cosine.high), choose(k, is_odd, sine.low, cosine.low)};
  pair tangent = indim_emit_math_quotient(k, top, bottom);
  return choose(k, above(k, absolute(k, x), pick(k, 0x1p-13, 0x1p-27)), add(k, tangent.high, tangent.low), x);
}
