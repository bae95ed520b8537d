// The generator's real functions against the C library's long double ones: sweeps over all magnitudes, special values,
// every number of lanes, with fused multiply-add and without. The limits are those that docs/math.md states.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "emit/llvm/codegen.h"
#include "test.h"

// One loop: results[i] = function(x[i], y[i]) for i < count, a multiple of the lanes.
typedef void loop_fn(const void *x, const void *y, void *results, int64_t count);

enum { COUNT = 960, MOST_LANES = 16, F32 = 0, F64 = 1 };
// Ops of the test's own: of the pair, and POWER_OF + 2 y for the power of a constant y.
enum { SINE_OF_PAIR = -1, COSINE_OF_PAIR = -2, POWER_OF = -1000 };

typedef long double unary_fn(long double);
typedef long double binary_fn(long double, long double);

typedef struct function {
  int op;  // an indim_op, or one of the test's own
  const char *name;
  unary_fn *unary;
  binary_fn *binary;
  double limits[2];  // units in the last place, of f32 and f64
  double low, high;  // where it is interesting
} function;

static long double logistic(long double x) {
  long double power = expl(-fabsl(x));
  return (x < 0 ? power : 1) / (1 + power);
}

static long double rsqrt(long double x) { return 1 / sqrtl(x); }

static long double power(long double x, long double y) { return x == 1 || y == 0 ? 1 : powl(x, y); }

static long double power_m2(long double x) { return powl(x, -2); }
static long double power_m1_5(long double x) { return powl(x, -1.5L); }
static long double power_m1(long double x) { return powl(x, -1); }
static long double power_m0_5(long double x) { return powl(x, -0.5L); }
static long double power_0(long double x) { return (void)x, 1; }
static long double power_0_5(long double x) { return powl(x, 0.5L); }
static long double power_1(long double x) { return x; }
static long double power_1_5(long double x) { return powl(x, 1.5L); }
static long double power_2(long double x) { return powl(x, 2); }
static long double power_2_5(long double x) { return powl(x, 2.5L); }
static long double power_3(long double x) { return powl(x, 3); }
static long double power_4(long double x) { return powl(x, 4); }

static const function functions[] = {
    {INDIM_OP_EXPONENTIAL, "exponential", expl, NULL, {1.1, 1.05}, -20, 20},
    {INDIM_OP_EXPONENTIAL_MINUS_ONE, "exponential-minus-one", expm1l, NULL, {1.15, 1.2}, -20, 20},
    {INDIM_OP_LOG, "log", logl, NULL, {1.05, 0.8}, 0.01, 100},
    {INDIM_OP_LOG_PLUS_ONE, "log-plus-one", log1pl, NULL, {1.05, 0.85}, -1, 100},
    {INDIM_OP_LOGISTIC, "logistic", logistic, NULL, {1.75, 1.75}, -20, 20},
    {INDIM_OP_SINE, "sine", sinl, NULL, {1.95, 1.8}, -50, 50},
    {INDIM_OP_COSINE, "cosine", cosl, NULL, {1.95, 1.8}, -50, 50},
    {INDIM_OP_TAN, "tan", tanl, NULL, {1.1, 1}, -50, 50},
    {INDIM_OP_SINH, "sinh", sinhl, NULL, {1.2, 1.25}, -20, 20},
    {INDIM_OP_COSH, "cosh", coshl, NULL, {0.95, 0.95}, -20, 20},
    {INDIM_OP_TANH, "tanh", tanhl, NULL, {1.97, 1.9}, -10, 10},
    {INDIM_OP_ASIN, "asin", asinl, NULL, {1.2, 1.2}, -1, 1},
    {INDIM_OP_ACOS, "acos", acosl, NULL, {1.2, 1.2}, -1, 1},
    {INDIM_OP_ASINH, "asinh", asinhl, NULL, {1.3, 1.25}, -10, 10},
    {INDIM_OP_ACOSH, "acosh", acoshl, NULL, {1.85, 1.5}, 1, 10},
    {INDIM_OP_ATANH, "atanh", atanhl, NULL, {1.05, 1}, -1, 1},
    {INDIM_OP_CBRT, "cbrt", cbrtl, NULL, {0.6, 0.51}, -100, 100},
    {INDIM_OP_ERF, "erf", erfl, NULL, {1.9, 1.4}, -6, 6},
    {INDIM_OP_RSQRT, "rsqrt", rsqrt, NULL, {1.5, 1.5}, 0, 100},
    {SINE_OF_PAIR, "sine with cosine", sinl, NULL, {0.8, 0.8}, -50, 50},
    {COSINE_OF_PAIR, "cosine with sine", cosl, NULL, {0.8, 0.8}, -50, 50},
    {INDIM_OP_POWER, "power", NULL, power, {0.6, 1.25}, 0, 10},
    {POWER_OF - 4, "power of -2", power_m2, NULL, {1.95, 1.95}, 0, 10},
    {POWER_OF - 3, "power of -1.5", power_m1_5, NULL, {1.3, 1.3}, 0, 10},
    {POWER_OF - 2, "power of -1", power_m1, NULL, {0.5, 0.5}, 0, 10},
    {POWER_OF - 1, "power of -0.5", power_m0_5, NULL, {1.5, 1.5}, 0, 10},
    {POWER_OF + 0, "power of 0", power_0, NULL, {0, 0}, 0, 10},
    {POWER_OF + 1, "power of 0.5", power_0_5, NULL, {0.5, 0.5}, 0, 10},
    {POWER_OF + 2, "power of 1", power_1, NULL, {0, 0}, 0, 10},
    {POWER_OF + 3, "power of 1.5", power_1_5, NULL, {1.5, 1.5}, 0, 10},
    {POWER_OF + 4, "power of 2", power_2, NULL, {0.5, 0.5}, 0, 10},
    {POWER_OF + 5, "power of 2.5", power_2_5, NULL, {0.6, 1.25}, 0, 10},
    {POWER_OF + 6, "power of 3", power_3, NULL, {1.5, 1.5}, 0, 10},
    {POWER_OF + 8, "power of 4", power_4, NULL, {1.95, 1.95}, 0, 10},
    {INDIM_OP_ATAN2, "atan2", NULL, atan2l, {1.8, 1.5}, -1, 1},
    {INDIM_OP_REMAINDER, "remainder", NULL, fmodl, {0, 0}, -100, 100},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static const double edges[] = {0,
                               1,
                               2,
                               0.5,
                               3,
                               0.25,
                               1.5,
                               2.5,
                               INFINITY,
                               NAN,
                               FLT_TRUE_MIN,
                               FLT_MIN,
                               0x1.8p-130,
                               FLT_MAX,
                               DBL_TRUE_MIN,
                               DBL_MIN,
                               0x1.8p-1030,
                               DBL_MAX,
                               1e10,
                               0x1.000002p0,
                               0x1.fffffep-1,
                               1 + DBL_EPSILON,
                               1 - DBL_EPSILON / 2,
                               8388609,
                               16777215,
                               16777217,
                               4503599627370497.0,
                               9007199254740993.0,
                               88.72,
                               87.5,
                               103.9,
                               709.7,
                               745.1,
                               0x1.921fb6p0,
                               0x1.921fb54442d18p0,
                               0x1.6a09e6p-1};
enum { EDGES = 2 * sizeof edges / sizeof edges[0] };

static double edge(int32_t i) { return i % 2 == 0 ? edges[i / 2] : -edges[i / 2]; }

static uint64_t random_state = 1;

static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static double random_between(double low, double high) {
  return low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53);
}

// The code -------------------------------------------------------------------------------------------------------------

typedef struct code {
  LLVMOrcLLJITRef jit;
  loop_fn *loops[FUNCTIONS];
} code;

static LLVMValueRef value_of(indim_emit *e, int op, LLVMValueRef x, LLVMValueRef y) {
  if (op == SINE_OF_PAIR || op == COSINE_OF_PAIR) {
    LLVMValueRef pair[2];
    indim_emit_sincos(e, x, &pair[0], &pair[1]);
    return pair[op == COSINE_OF_PAIR];
  }
  if (op < COSINE_OF_PAIR) {
    return indim_emit_math2(e, INDIM_OP_POWER, x, indim_emit_real(e, LLVMTypeOf(x), (op - POWER_OF) * 0.5));
  }
  LLVMValueRef value = indim_emit_math(e, (indim_op)op, x);
  return value != NULL ? value : indim_emit_math2(e, (indim_op)op, x, y);
}

static LLVMValueRef address(indim_emit *e, LLVMTypeRef element, unsigned argument, LLVMValueRef index) {
  return LLVMBuildGEP2(e->builder, element, LLVMGetParam(e->function, argument), &index, 1, "");
}

static void emit_loop(indim_emit *e, const char *name, int op, int type, int32_t lanes) {
  LLVMContextRef c = e->context;
  LLVMTypeRef word = LLVMInt64TypeInContext(c);
  LLVMTypeRef pointer = LLVMPointerTypeInContext(c, 0);
  LLVMTypeRef arguments[] = {pointer, pointer, pointer, word};
  LLVMTypeRef element = type == F64 ? LLVMDoubleTypeInContext(c) : LLVMFloatTypeInContext(c);
  LLVMTypeRef vector = lanes == 1 ? element : LLVMVectorType(element, (unsigned)lanes);
  e->function = LLVMAddFunction(e->module, name, LLVMFunctionType(LLVMVoidTypeInContext(c), arguments, 4, 0));
  if (!e->has_fma) {
    const char key[] = "target-features";
    const char off[] = "-fma,-avx2,-avx";
    LLVMAttributeRef features = LLVMCreateStringAttribute(c, key, sizeof key - 1, off, sizeof off - 1);
    LLVMAddAttributeAtIndex(e->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, features);
  }
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c, e->function, "entry");
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(c, e->function, "body");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(c, e->function, "done");
  LLVMPositionBuilderAtEnd(e->builder, entry);
  LLVMBuildBr(e->builder, body);
  LLVMPositionBuilderAtEnd(e->builder, body);
  LLVMValueRef i = LLVMBuildPhi(e->builder, word, "i");
  LLVMValueRef zero = LLVMConstInt(word, 0, 0);
  LLVMAddIncoming(i, &zero, &entry, 1);
  LLVMValueRef loaded[2];
  for (unsigned k = 0; k < 2; k++) {
    loaded[k] = LLVMBuildLoad2(e->builder, vector, address(e, element, k, i), "");
    LLVMSetAlignment(loaded[k], 4);
  }
  LLVMValueRef stored = LLVMBuildStore(e->builder, value_of(e, op, loaded[0], loaded[1]), address(e, element, 2, i));
  LLVMSetAlignment(stored, 4);
  LLVMValueRef next = LLVMBuildAdd(e->builder, i, LLVMConstInt(word, (unsigned)lanes, 0), "");
  LLVMBasicBlockRef last = LLVMGetInsertBlock(e->builder);
  LLVMAddIncoming(i, &next, &last, 1);
  LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntSLT, next, LLVMGetParam(e->function, 3), "");
  LLVMBuildCondBr(e->builder, more, body, done);
  LLVMPositionBuilderAtEnd(e->builder, done);
  LLVMBuildRetVoid(e->builder);
}

static bool check_error(LLVMErrorRef error) {
  if (error == NULL) {
    return true;
  }
  char *message = LLVMGetErrorMessage(error);
  CHECK_MSG(false, "LLVM: %s", message);
  LLVMDisposeErrorMessage(message);
  return false;
}

static LLVMOrcLLJITRef make_jit(void) {
  char *triple = LLVMGetDefaultTargetTriple();
  char *cpu = LLVMGetHostCPUName();
  char *features = LLVMGetHostCPUFeatures();
  char *message = NULL;
  LLVMTargetRef target = NULL;
  LLVMOrcLLJITRef jit = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    CHECK_MSG(false, "LLVM: %s", message);
    LLVMDisposeMessage(message);
  } else {
    LLVMTargetMachineRef machine =
        LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelLess, LLVMRelocPIC, LLVMCodeModelSmall);
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                  LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
    check_error(LLVMOrcCreateLLJIT(&jit, builder));
  }
  LLVMDisposeMessage(features);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(triple);
  return jit;
}

// What a call of rint or floor needs where the processor has no such instruction.
static void add_library(LLVMOrcLLJITRef jit) {
  LLVMOrcDefinitionGeneratorRef generator = NULL;
  char prefix = LLVMOrcLLJITGetGlobalPrefix(jit);
  if (check_error(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&generator, prefix, NULL, NULL))) {
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), generator);
  }
}

// Code for the functions from |first| to before |end|.
static bool compile_for(code *out, int type, int32_t lanes, bool has_fma, bool has_slow_subnormals, int32_t first,
                        int32_t end) {
  out->jit = make_jit();
  if (out->jit == NULL) {
    return false;
  }
  add_library(out->jit);
  LLVMOrcThreadSafeContextRef shared = LLVMOrcCreateNewThreadSafeContext();
  LLVMContextRef c = LLVMOrcThreadSafeContextGetContext(shared);
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("math", c);
  LLVMSetTarget(module, LLVMOrcLLJITGetTripleString(out->jit));
  LLVMSetDataLayout(module, LLVMOrcLLJITGetDataLayoutStr(out->jit));
  indim_emit e = {.context = c,
                  .module = module,
                  .builder = LLVMCreateBuilderInContext(c),
                  .has_fma = has_fma,
                  .has_slow_subnormals = has_slow_subnormals};
  for (int32_t f = first; f < end; f++) {
    emit_loop(&e, functions[f].name, functions[f].op, type, lanes);
  }
  LLVMDisposeBuilder(e.builder);
  char *message = NULL;
  bool ok = !LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
  CHECK_MSG(ok, "LLVM: %s", message);
  LLVMDisposeMessage(message);
  LLVMOrcThreadSafeModuleRef owned = LLVMOrcCreateNewThreadSafeModule(module, shared);
  LLVMOrcDisposeThreadSafeContext(shared);
  if (!ok) {
    LLVMOrcDisposeThreadSafeModule(owned);
    return false;
  }
  ok = check_error(LLVMOrcLLJITAddLLVMIRModule(out->jit, LLVMOrcLLJITGetMainJITDylib(out->jit), owned));
  for (int32_t f = first; ok && f < end; f++) {
    LLVMOrcExecutorAddress at = 0;
    ok = check_error(LLVMOrcLLJITLookup(out->jit, &at, functions[f].name));
    uintptr_t number = (uintptr_t)at;
    memcpy(&out->loops[f], &number, sizeof number);
  }
  return ok;
}

static bool compile(code *out, int type, int32_t lanes, bool has_fma, int32_t first, int32_t end) {
  return compile_for(out, type, lanes, has_fma, has_fma, first, end);
}

static void discard(code *c) {
  if (c->jit != NULL) {
    check_error(LLVMOrcDisposeLLJIT(c->jit));
  }
}

// Values ---------------------------------------------------------------------------------------------------------------

typedef struct values {
  int type;
  union {
    float f32[COUNT];
    double f64[COUNT];
  } x, y, results;
} values;

static void put(values *v, bool is_y, int32_t i, double value) {
  if (v->type == F64) {
    *(is_y ? &v->y.f64[i] : &v->x.f64[i]) = value;
  } else {
    *(is_y ? &v->y.f32[i] : &v->x.f32[i]) = (float)value;
  }
}

static double get(const values *v, int which, int32_t i) {
  if (v->type == F64) {
    return which == 0 ? v->x.f64[i] : which == 1 ? v->y.f64[i] : v->results.f64[i];
  }
  return (double)(which == 0 ? v->x.f32[i] : which == 1 ? v->y.f32[i] : v->results.f32[i]);
}

// A number of any bits.
static double any_value(int type) {
  uint64_t bits = random_bits();
  if (type == F64) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  uint32_t low = (uint32_t)(bits >> 16);
  float value;
  memcpy(&value, &low, sizeof value);
  return (double)value;
}

// Any bits; the interesting range; all magnitudes; around 1, from far to near.
static double some_value(const function *f, int type) {
  switch (random_bits() % 4) {
  case 0:
    return any_value(type);
  case 1:
    return random_between(f->low, f->high);
  case 2:
    return ldexp(random_between(-1, 1), (int)(random_bits() % 60) - 50);
  default:
    return (random_bits() % 2 == 0 ? 1 : -1) + ldexp(random_between(-1, 1), -(int)(random_bits() % 52));
  }
}

static void fill(values *v, const function *f) {
  for (int32_t i = 0; i < COUNT; i++) {
    double x = some_value(f, v->type);
    double y = some_value(f, v->type);
    if (f->op == INDIM_OP_POWER && random_bits() % 4 != 0) {
      // Exponents that lead to results of all sizes, and small multiples of a half.
      x = random_bits() % 8 == 0 ? x : fabs(x);
      double most = (v->type == F64 ? 1080 : 152) / (fabs(log2(fabs(x))) + 1e-30);
      y = random_bits() % 2 == 0 ? random_between(-most, most) : 0.5 * (double)(random_bits() % 17) - 4;
    }
    put(v, false, i, x);
    put(v, true, i, y);
  }
}

// The distance in units in the last place of the exact value; huge where one is NaN, infinite or negative 0 and should
// not be. What lies between the greatest number and infinity counts as if the exponents went on.
static double distance(int type, double actual, long double exact) {
  if (isnan(actual) || isnan(exact)) {
    return isnan(actual) && isnan(exact) ? 0 : HUGE_VAL;
  }
  int digits = type == F64 ? DBL_MANT_DIG : FLT_MANT_DIG;
  int least = type == F64 ? DBL_MIN_EXP : FLT_MIN_EXP;
  int most = type == F64 ? DBL_MAX_EXP : FLT_MAX_EXP;
  if (isinf(exact) || exact == 0) {
    return (long double)actual == exact && (signbit(actual) != 0) == (signbit(exact) != 0) ? 0 : HUGE_VAL;
  }
  if (actual == 0 && (signbit(actual) != 0) != (signbit(exact) != 0)) {
    return HUGE_VAL;
  }
  int exponent = 0;
  frexpl(exact, &exponent);
  exponent = exponent < least ? least : exponent;
  if (exponent > most) {
    return isinf(actual) && (actual > 0) == (exact > 0) ? 0 : HUGE_VAL;
  }
  long double value = isinf(actual) ? copysignl(ldexpl(1, most), actual) : (long double)actual;
  return (double)(fabsl(value - exact) * ldexpl(1, digits - exponent));
}

// The worst of the values, after the loop ran.
static void measure(const function *f, const values *v, double *worst, double *where) {
  for (int32_t i = 0; i < COUNT; i++) {
    double x = get(v, 0, i);
    double y = get(v, 1, i);
    long double exact = f->unary != NULL ? f->unary((long double)x) : f->binary((long double)x, (long double)y);
    double far = distance(v->type, get(v, 2, i), exact);
    if (far > *worst) {
      *worst = far;
      where[0] = x;
      where[1] = y;
    }
  }
}

// Cases ----------------------------------------------------------------------------------------------------------------

// |rounds| random blocks after one of all the special values, in pairs.
static void sweep(int type, int32_t lanes, bool has_fma, int32_t rounds) {
  code c = {NULL, {NULL}};
  static values v;
  v.type = type;
  if (compile(&c, type, lanes, has_fma, 0, FUNCTIONS)) {
    for (int32_t f = 0; f < FUNCTIONS; f++) {
      double worst = 0;
      double where[2] = {0, 0};
      for (int32_t first = 0; first < EDGES * EDGES; first += COUNT) {
        for (int32_t i = 0; i < COUNT; i++) {
          put(&v, false, i, edge((first + i) % EDGES));
          put(&v, true, i, edge((first + i) / EDGES % EDGES));
        }
        c.loops[f](&v.x, &v.y, &v.results, COUNT);
        measure(&functions[f], &v, &worst, where);
      }
      for (int32_t round = 0; round < rounds; round++) {
        fill(&v, &functions[f]);
        c.loops[f](&v.x, &v.y, &v.results, COUNT);
        measure(&functions[f], &v, &worst, where);
      }
      CHECK_MSG(worst <= functions[f].limits[type], "%s of %s, %s fma: %.3f at %a, %a", functions[f].name,
                type == F64 ? "f64" : "f32", has_fma ? "with" : "without", worst, where[0], where[1]);
    }
  }
  discard(&c);
}

static bool machine_has_fma(void) {
  char *features = LLVMGetHostCPUFeatures();
#if defined(__x86_64__)
  bool has = strstr(features, "+fma,") != NULL;
#else
  bool has = true;
#endif
  LLVMDisposeMessage(features);
  return has;
}

TEST(float_errors) { sweep(F32, 8, machine_has_fma(), 100); }
TEST(double_errors) { sweep(F64, 4, machine_has_fma(), 100); }

#if defined(__x86_64__)
TEST(float_errors_without_fma) { sweep(F32, 4, false, 40); }
TEST(double_errors_without_fma) { sweep(F64, 2, false, 40); }
#define WITHOUT_FMA(X)        \
  X(float_errors_without_fma) \
  X(double_errors_without_fma)
#else
#define WITHOUT_FMA(X)
#endif

// Every 61st float of a function that serves many: nothing between the samples of the sweeps is missed.
TEST(float_grid) {
  code c = {NULL, {NULL}};
  static values v;
  v.type = F32;
  if (compile(&c, F32, 8, machine_has_fma(), 0, 1)) {
    double worst = 0;
    double where[2] = {0, 0};
    // Where the result is neither 0 nor infinite.
    for (uint32_t bits = 0; bits < UINT32_C(0x42D00000); bits += 61 * COUNT) {
      for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t pattern = (bits + 61 * i) | (i % 2 == 0 ? UINT32_C(0x80000000) : 0);
        memcpy(&v.x.f32[i], &pattern, sizeof pattern);
      }
      c.loops[0](&v.x, &v.y, &v.results, COUNT);
      measure(&functions[0], &v, &worst, where);
    }
    CHECK_MSG(worst <= functions[0].limits[F32], "%.3f at %a", worst, where[0]);
  }
  discard(&c);
}

// The ways to the exponential give the same numbers around where they are subnormal: a conversion, a sum, a product.
static void compare_subnormals(int type, int32_t lanes) {
  static values expected;
  static values v;
  code slow = {NULL, {NULL}};
  code fast = {NULL, {NULL}};
  double from = type == F64 ? -750 : -106;
  double span = type == F64 ? 50 : 20;
  if (compile_for(&slow, type, lanes, machine_has_fma(), true, 0, 1) &&
      compile_for(&fast, type, lanes, machine_has_fma(), false, 0, 1)) {
    for (int32_t round = 0; round < 200; round++) {
      v.type = type;
      for (int32_t i = 0; i < COUNT; i++) {
        put(&v, false, i, from + span * (i * 200 + round) / (COUNT * 200.0));
      }
      memcpy(&expected, &v, sizeof v);
      slow.loops[0](&v.x, &v.y, &v.results, COUNT);
      fast.loops[0](&expected.x, &expected.y, &expected.results, COUNT);
      for (int32_t i = 0; i < COUNT; i++) {
        CHECK_MSG(get(&v, 2, i) == get(&expected, 2, i), "exp %a: %a, by a product %a", get(&v, 0, i), get(&v, 2, i),
                  get(&expected, 2, i));
      }
    }
  }
  discard(&fast);
  discard(&slow);
}

TEST(float_subnormals) { compare_subnormals(F32, 8); }
TEST(double_subnormals) {
  compare_subnormals(F64, 1);
  compare_subnormals(F64, 4);
}

// A value does not depend on the lane it is computed in, nor on how many there are.
static void compare_lanes(int type) {
  static const int32_t lanes[] = {1, 2, 3, 5, 16};
  static values expected;
  static values v;
  code narrow = {NULL, {NULL}};
  bool ok = compile(&narrow, type, 1, machine_has_fma(), 0, FUNCTIONS);
  for (size_t k = 1; ok && k < sizeof lanes / sizeof lanes[0]; k++) {
    code c = {NULL, {NULL}};
    ok = compile(&c, type, lanes[k], machine_has_fma(), 0, FUNCTIONS);
    for (int32_t f = 0; ok && f < FUNCTIONS; f++) {
      v.type = type;
      fill(&v, &functions[f]);
      memcpy(&expected, &v, sizeof v);
      c.loops[f](&v.x, &v.y, &v.results, COUNT);
      narrow.loops[f](&expected.x, &expected.y, &expected.results, COUNT);
      for (int32_t i = 0; i < COUNT; i++) {
        double actual = get(&v, 2, i);
        double wanted = get(&expected, 2, i);
        CHECK_MSG(actual == wanted || (isnan(actual) && isnan(wanted)), "%s, %d lanes, of %a, %a: %a, in one lane %a",
                  functions[f].name, (int)lanes[k], get(&v, 0, i), get(&v, 1, i), actual, wanted);
      }
    }
    discard(&c);
  }
  discard(&narrow);
}

TEST(float_lanes) { compare_lanes(F32); }
TEST(double_lanes) { compare_lanes(F64); }

TEST(no_function) {
  LLVMContextRef c = LLVMContextCreate();
  indim_emit e = {.context = c, .module = LLVMModuleCreateWithNameInContext("none", c)};
  LLVMValueRef x = LLVMConstReal(LLVMFloatTypeInContext(c), 1);
  CHECK(indim_emit_math(&e, INDIM_OP_ADD, x) == NULL);
  CHECK(indim_emit_math2(&e, INDIM_OP_ADD, x, x) == NULL);
  LLVMDisposeModule(e.module);
  LLVMContextDispose(c);
}

#define CASES(X)               \
  X(float_errors)              \
  X(double_errors)             \
  WITHOUT_FMA(X) X(float_grid) \
  X(float_subnormals)          \
  X(double_subnormals)         \
  X(float_lanes)               \
  X(double_lanes)              \
  X(no_function)

TEST_MAIN(CASES)
