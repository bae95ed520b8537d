// Every elementwise operation as machine code against the evaluator: bit for bit where the result is exact, within the
// stated units in the last place elsewhere. Types of up to 8 bits are run over all their pairs, types of 16 bits over
// all their values, wider ones over edge values and random bits. Each kernel is a loop over arrays; many go into one
// module, because making a module costs more than a kernel.
#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <math.h>
#include <stdlib.h>

#include "array/element.h"
#include "array/float_format.h"
#include "emit/llvm/codegen.h"
#include "eval/scalar_ops.h"
#include "test.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

enum { MOST = 1 << 16, PADDING = 512, MOST_KERNELS = 4096 };

static const indim_type integers[] = {INDIM_S1, INDIM_U1,  INDIM_S2,  INDIM_U2,  INDIM_S4,  INDIM_U4,  INDIM_S8,
                                      INDIM_U8, INDIM_S16, INDIM_U16, INDIM_S32, INDIM_U32, INDIM_S64, INDIM_U64};
static const indim_type floats[] = {
    INDIM_F4E2M1FN,  INDIM_F6E2M3FN,      INDIM_F6E3M2FN,   INDIM_F8E3M4, INDIM_F8E4M3,
    INDIM_F8E4M3FN,  INDIM_F8E4M3B11FNUZ, INDIM_F8E4M3FNUZ, INDIM_F8E5M2, INDIM_F8E5M2FNUZ,
    INDIM_F8E8M0FNU, INDIM_F16,           INDIM_BF16,       INDIM_F32,    INDIM_F64};

// Machine code --------------------------------------------------------------------------------------------------------

typedef void kernel_fn(int64_t count, void *out, const void *x, const void *y, const void *z);

typedef struct kernel {
  indim_loop_op op;
  int32_t count;
  indim_type types[3];
  indim_type result;
  int32_t lanes;
  bool has_constant;  // the second operand is the same constant in every lane
  indim_element constant;
  bool is_supported;
  kernel_fn *run;
} kernel;

typedef struct harness {
  bool has_f16c;
  bool has_f16_arithmetic;  // the processor, for tests that want it
  bool has_fma;
  LLVMOrcLLJITRef jit;
  LLVMTargetMachineRef machine;
  kernel kernels[MOST_KERNELS];
  int32_t kernel_count;
} harness;

static void emit_kernel(indim_emit *e, kernel *k, int32_t number) {
  LLVMContextRef c = e->context;
  LLVMTypeRef pointer = LLVMPointerTypeInContext(c, 0);
  LLVMTypeRef s64 = LLVMInt64TypeInContext(c);
  LLVMTypeRef parameters[] = {s64, pointer, pointer, pointer, pointer};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(c), parameters, 5, 0);
  char name[32];
  (void)snprintf(name, sizeof name, "kernel_%d", (int)number);
  e->function = LLVMAddFunction(e->module, name, type);
  LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(c, e->function, "");
  LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(c, e->function, "");
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(c, e->function, "");
  LLVMPositionBuilderAtEnd(e->builder, start);
  LLVMBuildBr(e->builder, loop);
  LLVMPositionBuilderAtEnd(e->builder, loop);
  LLVMValueRef index = LLVMBuildPhi(e->builder, s64, "");
  indim_reg args[3];
  LLVMTypeRef byte = LLVMInt8TypeInContext(c);
  for (int32_t i = 0; i < k->count; i++) {
    LLVMValueRef size = LLVMConstInt(s64, (unsigned)indim_type_bytes(k->types[i]), 0);
    LLVMValueRef offset = LLVMBuildMul(e->builder, index, size, "");
    LLVMValueRef at = LLVMBuildGEP2(e->builder, byte, LLVMGetParam(e->function, 2 + (unsigned)i), &offset, 1, "");
    LLVMTypeRef memory = indim_emit_memory_type(e, k->types[i], k->lanes);
    LLVMValueRef load = LLVMBuildLoad2(e->builder, memory, at, "");
    LLVMSetAlignment(load, 1);
    args[i] = indim_emit_unpack(e, k->types[i], k->lanes, load);
    if (i == 1 && k->has_constant) {
      args[i] = indim_emit_constant(e, k->types[i], k->lanes, k->constant.bits, k->constant.imag);
    }
  }
  indim_reg result;
  k->is_supported = indim_emit_scalar(e, &k->op, k->result, k->lanes, k->count, k->types, args, &result) == INDIM_OK;
  if (k->is_supported) {
    CHECK_MSG(LLVMTypeOf(result.part[0]) == indim_emit_part_type(e, k->result, k->lanes), "%s of %s: register type",
              indim_op_get(k->op.op)->text, indim_type_text(k->types[0]));
    LLVMValueRef size = LLVMConstInt(s64, (unsigned)indim_type_bytes(k->result), 0);
    LLVMValueRef offset = LLVMBuildMul(e->builder, index, size, "");
    LLVMValueRef at = LLVMBuildGEP2(e->builder, byte, LLVMGetParam(e->function, 1), &offset, 1, "");
    LLVMValueRef packed = indim_emit_pack(e, k->result, k->lanes, result);
    CHECK(LLVMTypeOf(packed) == indim_emit_memory_type(e, k->result, k->lanes));
    LLVMSetAlignment(LLVMBuildStore(e->builder, packed, at), 1);
  }
  LLVMValueRef next = LLVMBuildAdd(e->builder, index, LLVMConstInt(s64, (unsigned)k->lanes, 0), "");
  LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntSLT, next, LLVMGetParam(e->function, 0), "");
  LLVMAddIncoming(index, (LLVMValueRef[]){LLVMConstInt(s64, 0, 0), next},
                  (LLVMBasicBlockRef[]){start, LLVMGetInsertBlock(e->builder)}, 2);
  LLVMBuildCondBr(e->builder, more, loop, end);
  LLVMPositionBuilderAtEnd(e->builder, end);
  LLVMBuildRetVoid(e->builder);
}

static void harness_check(LLVMErrorRef error) {
  if (error != NULL) {
    char *message = LLVMGetErrorMessage(error);
    CHECK_MSG(false, "%s", message);
    LLVMDisposeErrorMessage(message);
  }
}

static harness *harness_new(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  harness *h = calloc(1, sizeof *h);
  char *triple = LLVMGetDefaultTargetTriple();
  char *cpu = LLVMGetHostCPUName();
  char *features = LLVMGetHostCPUFeatures();
  h->has_f16c = strstr(features, "+f16c") != NULL;
  h->has_fma = strstr(features, "+fma,") != NULL;
  LLVMTargetRef target;
  char *message = NULL;
  CHECK(!LLVMGetTargetFromTriple(triple, &target, &message));
  h->machine = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault, LLVMRelocDefault,
                                       LLVMCodeModelJITDefault);
  LLVMTargetMachineRef jit_machine = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault,
                                                             LLVMRelocDefault, LLVMCodeModelJITDefault);
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(jit_machine));
  harness_check(LLVMOrcCreateLLJIT(&h->jit, builder));
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  return h;
}

static void harness_free(harness *h) {
  harness_check(LLVMOrcDisposeLLJIT(h->jit));
  LLVMDisposeTargetMachine(h->machine);
  free(h);
}

static kernel *add_kernel(harness *h, kernel k) {
  h->kernels[h->kernel_count] = k;
  return h->kernel_count < MOST_KERNELS - 1 ? &h->kernels[h->kernel_count++] : NULL;
}

// Compiles all kernels that were added. Nothing of the C library may be called: only symbols of the module exist.
static void compile_kernels(harness *h) {
  LLVMOrcThreadSafeContextRef safe = LLVMOrcCreateNewThreadSafeContext();
  LLVMContextRef context = LLVMOrcThreadSafeContextGetContext(safe);
  indim_emit e = {.has_fma = h->has_fma,
                  .has_f16c = h->has_f16c,
                  .has_f16_arithmetic = h->has_f16_arithmetic,
                  .context = context,
                  .module = LLVMModuleCreateWithNameInContext("kernels", context),
                  .builder = LLVMCreateBuilderInContext(context)};
  LLVMSetDataLayout(e.module, LLVMOrcLLJITGetDataLayoutStr(h->jit));
  for (int32_t i = 0; i < h->kernel_count; i++) {
    emit_kernel(&e, &h->kernels[i], i);
  }
  LLVMDisposeBuilder(e.builder);
  if (getenv("INDIM_DUMP") != NULL) {
    char *message;
    LLVMPrintModuleToFile(e.module, "/tmp/scalar.ll", &message);
    LLVMTargetMachineEmitToFile(h->machine, e.module, "/tmp/scalar.s", LLVMAssemblyFile, &message);
  }
  LLVMOrcThreadSafeModuleRef module = LLVMOrcCreateNewThreadSafeModule(e.module, safe);
  LLVMOrcDisposeThreadSafeContext(safe);
  harness_check(LLVMOrcLLJITAddLLVMIRModule(h->jit, LLVMOrcLLJITGetMainJITDylib(h->jit), module));
  for (int32_t i = 0; i < h->kernel_count; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "kernel_%d", (int)i);
    LLVMOrcExecutorAddress address = 0;
    harness_check(LLVMOrcLLJITLookup(h->jit, &address, name));
    h->kernels[i].run = (kernel_fn *)(uintptr_t)address;
  }
}

// Data ----------------------------------------------------------------------------------------------------------------

typedef struct sample {
  indim_type type;
  int64_t count;
  indim_element elements[MOST];
} sample;

static uint64_t random_state = 88172645463325252;

static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static uint64_t mask_of(indim_type type) {
  int bits = indim_type_bits(type);
  return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static void add_pair(sample *s, uint64_t re, uint64_t im) {
  uint64_t mask = indim_type_is_complex(s->type) ? mask_of(indim_type_component_of(s->type)) : mask_of(s->type);
  if (s->count < MOST) {
    s->elements[s->count++] = (indim_element){re & mask, im & mask};
  }
}

static void add_bits(sample *s, uint64_t bits) {
  if (s->count < MOST) {
    s->elements[s->count++] = (indim_element){bits & mask_of(s->type), 0};
  }
}

// Neighbours of powers of two and of the ends.
static void fill_edges(sample *s, indim_type type) {
  int bits = indim_type_bits(type);
  s->type = type;
  s->count = 0;
  if (bits <= 8) {
    for (uint64_t i = 0; i <= mask_of(type); i++) {
      add_bits(s, i);
    }
    return;
  }
  for (int i = 0; i<bits; i += bits> 16 ? 3 : 1) {
    for (int d = -1; d <= 1; d++) {
      add_bits(s, (UINT64_C(1) << i) + (uint64_t)(int64_t)d);
      add_bits(s, ~((UINT64_C(1) << i) + (uint64_t)(int64_t)d));
    }
  }
  for (uint64_t i = 0; i < 12; i++) {
    add_bits(s, i);
    add_bits(s, mask_of(type) - i);
    add_bits(s, (mask_of(type) >> 1) - 4 + i);
  }
  if (indim_type_is_float(type)) {
    static const double values[] = {0,   0.25, 0.5,        0.75,       1,        1.5,    2,      2.5,       3,
                                    3.5, 7,    127.5,      128,        255.5,    256,    32767,  65519,     65520,
                                    1e9, 1e19, 2147483648, 4294967296, 0x1.8p62, 0x1p63, 0x1p64, 0x1.fp-24, HUGE_VAL};
    for (int i = 0; i < COUNT(values); i++) {
      add_bits(s, indim_float_encode(type, values[i]));
      add_bits(s, indim_float_encode(type, -values[i]));
      add_bits(s, indim_float_encode(type, values[i]) + 1);
      add_bits(s, indim_float_encode(type, values[i]) - 1);
    }
  }
}

// A pattern that is near a tie of a narrower type as often as not.
static uint64_t interesting_bits(void) {
  uint64_t bits = random_bits();
  switch (random_bits() % 4) {
  case 0:
    return bits;
  case 1:
    return bits & UINT64_MAX << random_bits() % 52;
  case 2:
    return (bits & UINT64_MAX << random_bits() % 52) + 1;
  default:
    return (bits & UINT64_MAX << random_bits() % 52) - 1;
  }
}

// Edges in both parts, numbers of all sizes, moderate ones, and some near the unit circle.
static void fill_complex(sample *s, indim_type type, int count) {
  static const double edges[] = {0,     1,        -1,        0.5,         -2,       3,  1e-30,
                                 -1e30, HUGE_VAL, -HUGE_VAL, (double)NAN, 0x1p-149, 40, -90};
  indim_type part = indim_type_component_of(type);
  s->type = type;
  s->count = 0;
  for (int i = 0; i < COUNT(edges); i++) {
    for (int j = 0; j < COUNT(edges); j++) {
      for (int sign = 0; sign < 4; sign++) {
        double re = sign % 2 == 0 ? edges[i] : -edges[i];
        double im = sign / 2 == 0 ? edges[j] : -edges[j];
        add_pair(s, indim_float_encode(part, re), indim_float_encode(part, im));
      }
    }
  }
  while (s->count < count) {
    double re = ldexp((double)(int64_t)random_bits(), -63);
    double im = ldexp((double)(int64_t)random_bits(), -63);
    int range = part == INDIM_F32 ? 140 : 1060;
    int kind = (int)(random_bits() % 5);
    if (kind == 4) {  // products of these are subnormal
      re = ldexp(re, -range / 2);
      im = ldexp(im, -range / 2);
    } else if (kind == 0) {
      re = ldexp(re, (int)(random_bits() % (unsigned)(2 * range)) - range);
      im = ldexp(im, (int)(random_bits() % (unsigned)(2 * range)) - range);
    } else if (kind == 1) {
      int shift = (int)(random_bits() % 20) - 10;
      re = ldexp(re, shift);
      im = ldexp(im, shift);
    } else if (kind == 2) {
      double angle = 4 * re;
      re = cos(angle) * (1 + ldexp(im, -(int)(random_bits() % 50)));
      im = sin(angle);
    } else {
      im = ldexp(im, -(int)(random_bits() % 60));
      re = ldexp(re, (int)(random_bits() % 8));
    }
    add_pair(s, indim_float_encode(part, re), indim_float_encode(part, im));
  }
}

static void fill_values(sample *s, indim_type type) {
  if (indim_type_is_complex(type)) {
    fill_complex(s, type, 5000);
    return;
  }
  fill_edges(s, type);
  if (indim_type_bits(type) == 16 && indim_type_is_float(type)) {
    s->count = 0;
    for (uint64_t i = 0; i <= 0xFFFF; i++) {
      add_bits(s, i);
    }
  }
  // Floats of moderate size are the rarer ones among random bits.
  for (int i = 0; i < 3000 && indim_type_bits(type) > 16; i++) {
    add_bits(s, indim_type_bits(type) == 32 ? interesting_bits() >> 32 : interesting_bits());
    add_bits(s, indim_type_bits(type) == 32 ? interesting_bits() & UINT32_MAX : interesting_bits());
    if (indim_type_is_float(type)) {
      double value = ldexp((double)random_bits(), (int)(random_bits() % 200) - 164);
      add_bits(s, indim_float_encode(type, i % 2 == 0 ? value : -value));
    }
  }
}

// An angle of 2^50 and more means nothing, and one below the least double is taken for 0.
static void tame_powers(sample *x, sample *y) {
  indim_type part = indim_type_component_of(x->type);
  for (int64_t i = 0; i < y->count; i++) {
    uint64_t *parts[] = {&y->elements[i].bits, &y->elements[i].imag};
    for (int j = 0; j < 2; j++) {
      double value = indim_float_decode(part, *parts[j]);
      *parts[j] = isfinite(value) && fabs(value) > 0x1p30 ? indim_float_encode(part, remainder(value, 64)) : *parts[j];
    }
    double re = indim_float_decode(part, x->elements[i].bits);
    double im = indim_float_decode(part, x->elements[i].imag);
    if (fabs(log2(fabs(re)) - log2(fabs(im))) > 1000 && isfinite(re) && re != 0 && im != 0) {
      x->elements[i].bits = x->elements[i].imag;
    }
  }
}

// All pairs of small types and of edges, and random pairs.
static void fill_pairs(sample *x, sample *y, indim_type type, indim_op op) {
  static sample all;
  if (indim_type_is_complex(type)) {
    fill_complex(x, type, 10000);
    fill_complex(y, type, 10000);
    for (int64_t i = 0; i < y->count; i++) {  // each meets others
      indim_element swap = y->elements[i];
      int64_t j = (int64_t)(random_bits() % (uint64_t)y->count);
      y->elements[i] = y->elements[j];
      y->elements[j] = swap;
    }
    if (op == INDIM_OP_POWER) {
      tame_powers(x, y);
    }
    return;
  }
  fill_edges(&all, type);
  x->type = y->type = type;
  x->count = y->count = 0;
  for (int64_t i = 0; i < all.count && i < 220 * (indim_type_bits(type) > 8 ? 1 : 2); i++) {
    for (int64_t j = 0; j < all.count; j++) {
      add_bits(x, all.elements[i].bits);
      add_bits(y, all.elements[j].bits);
    }
  }
  for (int i = 0; i < 8000 && indim_type_bits(type) > 8; i++) {
    uint64_t bits = random_bits();
    add_bits(x, bits);
    add_bits(y, i % 2 == 0 ? random_bits() : bits ^ random_bits() >> 40);
  }
}

// Comparing -----------------------------------------------------------------------------------------------------------

static unsigned char memory[4][(MOST + PADDING) * 16];

static void write_sample(unsigned char *to, const sample *s) {
  int64_t bytes = indim_type_bytes(s->type);
  for (int64_t i = 0; i < s->count; i++) {
    indim_element_store(s->type, 8 * bytes, to, i, s->elements[i]);
  }
  memset(to + s->count * bytes, 0, (size_t)(PADDING * bytes));
}

// What the evaluator gives.
static indim_element expected_of(const kernel *k, const indim_scalar_op *op, int64_t i) {
  unsigned char result[16];
  indim_scalar inputs[3];
  int64_t width = 8 * (int64_t)indim_type_bytes(k->types[0]);
  if (k->op.op == INDIM_OP_BITCAST_CONVERT) {
    indim_element element = indim_element_load(k->types[0], width, memory[1], i);
    return k->result == INDIM_PRED ? (indim_element){element.bits != 0, 0} : element;
  }
  for (int32_t j = 0; j < k->count; j++) {
    inputs[j] = indim_scalar_load(k->types[j], memory[1 + j], i);
  }
  indim_scalar_store(k->result, result, 0, op->run(op, inputs));
  return indim_element_load(k->result, 8 * (int64_t)indim_type_bytes(k->result), result, 0);
}

static bool is_nan_bits(indim_type type, uint64_t bits) {
  return indim_type_is_float(type) && isnan(indim_float_decode(type, bits));
}

// Whether two results of one part are so many units in the last place apart at most.
static bool is_near(indim_type type, uint64_t actual, uint64_t expected, int64_t ulps) {
  if (actual == expected || (is_nan_bits(type, actual) && is_nan_bits(type, expected))) {
    return true;
  }
  if (ulps == 0 || !indim_type_is_float(type) || is_nan_bits(type, actual) || is_nan_bits(type, expected)) {
    return false;
  }
  int64_t a = indim_total_order_key(type, actual);
  int64_t b = indim_total_order_key(type, expected);
  a += a < 0 ? 1 : 0;  // both zeros are one value here
  b += b < 0 ? 1 : 0;
  bool are_zeros = a == 0 && b == 0;
  return !are_zeros && (a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a) <= (uint64_t)ulps;
}

// What a function's NaN becomes in a type that has none: a zero, whose sign is the NaN's, which is open.
static bool is_open_nan(indim_type type, uint64_t actual, uint64_t expected) {
  const indim_float_format *format = indim_float_format_of(type);
  return format != NULL && !format->has_nan && ((actual | expected) & ~format->sign_bit) == 0;
}

// How far a function may be off: real ones of f32 and f64 as math.c says, narrower ones by their rounding and one unit
// of what is rounded; complex ones within 3 units of each part of c128, of c64 by their rounding, but for signs, which are
// computed in floats. Remainders are exact; products of complex numbers and quotients of c128 are the evaluator's formula.
static int64_t tolerance_of(const kernel *k) {
  indim_type type = k->types[0];
  if (k->op.op == INDIM_OP_REMAINDER || k->op.op == INDIM_OP_MULTIPLY ||
      (k->op.op == INDIM_OP_DIVIDE && type == INDIM_C128)) {
    return 0;
  }
  if (type == INDIM_C128 || (type == INDIM_C64 && k->op.op == INDIM_OP_SIGN)) {
    return 3;
  }
  return type == INDIM_F32 || type == INDIM_F64 ? 2 : 1;
}

static void run_kernel(const kernel *k, const indim_scalar_op *op, const sample *const *inputs, bool are_functions) {
  int64_t count = inputs[0]->count;
  int wrong = 0;
  for (int32_t j = 0; j < k->count; j++) {
    write_sample(memory[1 + j], inputs[j]);
  }
  memset(memory[0], 0x5A, sizeof memory[0]);
  k->run(count, memory[0], memory[1], memory[2], memory[3]);
  int64_t width = 8 * (int64_t)indim_type_bytes(k->result);
  indim_type part = indim_type_is_complex(k->result) ? indim_type_component_of(k->result) : k->result;
  for (int64_t i = 0; i < count && wrong < 3; i++) {
    indim_element actual = indim_element_load(k->result, width, memory[0], i);
    indim_element expected = expected_of(k, op, i);
    int64_t ulps = are_functions ? tolerance_of(k) : 0;
    bool is_open = are_functions && is_open_nan(part, actual.bits, expected.bits);
    if (!is_open &&
        (!is_near(part, actual.bits, expected.bits, ulps) || !is_near(part, actual.imag, expected.imag, ulps))) {
      wrong++;
      CHECK_MSG(false,
                "%s %s of %s (%d lanes, direction %d) of %" PRIx64 ",%" PRIx64 " and %" PRIx64 ",%" PRIx64
                " is %" PRIx64 ",%" PRIx64 ", expected %" PRIx64 ",%" PRIx64,
                indim_op_get(k->op.op)->text, indim_type_text(k->result), indim_type_text(k->types[0]), (int)k->lanes,
                (int)k->op.direction, inputs[0]->elements[i].bits, inputs[0]->elements[i].imag,
                k->count > 1 ? inputs[1]->elements[i].bits : 0, k->count > 1 ? inputs[1]->elements[i].imag : 0,
                actual.bits, actual.imag, expected.bits, expected.imag);
    }
  }
}

// Operations ----------------------------------------------------------------------------------------------------------

#define indim_int_none NULL
#define indim_float_none NULL
#define indim_complex_op_none NULL

static const struct {
  indim_op op;
  indim_scalar_fn *on_int;
  indim_scalar_fn *on_float;
  indim_scalar_fn *on_complex;
} rows[] = {
#define INDIM_SCALAR_OP(op, integer, float, complex) \
  {INDIM_OP_##op, indim_int_##integer, indim_float_##float, indim_complex_op_##complex},
#include "eval/scalar_ops.def"
};

static indim_scalar_op oracle_of(const kernel *k) {
  indim_type type = k->op.op == INDIM_OP_SELECT ? k->types[1] : k->types[0];
  indim_scalar_op op = {.type = type,
                        .result = k->result,
                        .second = k->types[k->count > 1 ? 1 : 0],
                        .direction = (indim_compare_direction)k->op.direction,
                        .exponent_bits = k->op.exponent_bits,
                        .mantissa_bits = k->op.mantissa_bits};
  for (int i = 0; i < COUNT(rows); i++) {
    if (rows[i].op == k->op.op) {
      op.run = indim_type_is_float(type)     ? rows[i].on_float
               : indim_type_is_complex(type) ? rows[i].on_complex
                                             : rows[i].on_int;
    }
  }
  op.run = k->op.total_order && indim_type_is_float(type) ? indim_float_compare_total : op.run;
  return op;
}

// Lane counts in turn, so that each meets every operation with some type and every type with some operation.
static int32_t next_lanes(void) {
  static const int32_t lanes[] = {8, 1, 3};
  static int turn = 0;
  return lanes[turn++ % 3];
}

static void add(harness *h, indim_op op, int32_t count, indim_type type, indim_type result) {
  add_kernel(
      h,
      (kernel){.op = {.op = op}, .count = count, .types = {type, type, type}, .result = result, .lanes = next_lanes()});
}

static sample first;
static sample second;
static sample third;

// Runs all kernels; a kernel's operands are chosen by its operand types.
static void run_all(harness *h, bool are_functions) {
  compile_kernels(h);
  const sample *const inputs[] = {&first, &second, &third};
  for (int32_t i = 0; i < h->kernel_count; i++) {
    const kernel *k = &h->kernels[i];
    indim_scalar_op op = oracle_of(k);
    CHECK_MSG(k->is_supported, "%s of %s is refused", indim_op_get(k->op.op)->text, indim_type_text(k->types[0]));
    if (!k->is_supported || k->run == NULL) {
      continue;
    }
    if (k->count == 1) {
      fill_values(&first, k->types[0]);
    } else if (k->count == 2) {
      fill_pairs(&first, &second, k->types[0], k->op.op);
    } else {
      fill_pairs(&first, &second, k->types[2], k->op.op);
      third = first;
      for (int64_t j = 0; j < third.count; j++) {
        third.elements[j] = first.elements[random_bits() % (uint64_t)first.count];
      }
    }
    for (int64_t j = 0; k->has_constant && j < second.count; j++) {
      second.elements[j] = k->constant;
    }
    if (k->op.op == INDIM_OP_STOCHASTIC_CONVERT) {
      second.type = k->types[1];
    }
    if (k->op.op == INDIM_OP_SELECT) {
      for (int64_t j = 0; j < first.count; j++) {
        third.elements[j] = first.elements[j];
        first.elements[j] = (indim_element){random_bits() & 1, 0};
      }
      first.type = INDIM_PRED;
    }
    run_kernel(k, &op, inputs, are_functions);
  }
  h->kernel_count = 0;
}

// Cases ---------------------------------------------------------------------------------------------------------------

static const indim_op int_unary[] = {
    INDIM_OP_NEGATE, INDIM_OP_SIGN, INDIM_OP_NOT, INDIM_OP_POPCNT, INDIM_OP_COUNT_LEADING_ZEROS, INDIM_OP_COPY};
static const indim_op int_binary[] = {INDIM_OP_ADD,
                                      INDIM_OP_SUBTRACT,
                                      INDIM_OP_MULTIPLY,
                                      INDIM_OP_MULHI,
                                      INDIM_OP_DIVIDE,
                                      INDIM_OP_REMAINDER,
                                      INDIM_OP_POWER,
                                      INDIM_OP_MAXIMUM,
                                      INDIM_OP_MINIMUM,
                                      INDIM_OP_AND,
                                      INDIM_OP_OR,
                                      INDIM_OP_XOR,
                                      INDIM_OP_SHIFT_LEFT,
                                      INDIM_OP_SHIFT_RIGHT_ARITHMETIC,
                                      INDIM_OP_SHIFT_RIGHT_LOGICAL};

TEST(integers) {
  harness *h = harness_new();
  for (int t = 0; t < COUNT(integers); t++) {
    for (int i = 0; i < COUNT(int_unary); i++) {
      add(h, int_unary[i], 1, integers[t], integers[t]);
    }
    if (indim_type_is_signed_int(integers[t])) {
      add(h, INDIM_OP_ABS, 1, integers[t], integers[t]);
    }
    for (int i = 0; i < COUNT(int_binary); i++) {
      add(h, int_binary[i], 2, integers[t], integers[t]);
    }
    add(h, INDIM_OP_CLAMP, 3, integers[t], integers[t]);
  }
  static const indim_op on_pred[] = {INDIM_OP_ADD, INDIM_OP_MULTIPLY, INDIM_OP_MAXIMUM, INDIM_OP_MINIMUM,
                                     INDIM_OP_AND, INDIM_OP_OR,       INDIM_OP_XOR};
  for (int i = 0; i < COUNT(on_pred); i++) {
    add(h, on_pred[i], 2, INDIM_PRED, INDIM_PRED);
  }
  add(h, INDIM_OP_NOT, 1, INDIM_PRED, INDIM_PRED);
  add(h, INDIM_OP_CLAMP, 3, INDIM_PRED, INDIM_PRED);
  run_all(h, false);
  harness_free(h);
}

// By constants, some operations have code of their own.
TEST(constants) {
  static const int64_t values[] = {0, 1, -1, 2, 7, -7, 10, 32, INT64_MIN, INT64_MAX};
  static const indim_op ops[] = {INDIM_OP_DIVIDE, INDIM_OP_REMAINDER, INDIM_OP_POWER, INDIM_OP_SHIFT_LEFT,
                                 INDIM_OP_SHIFT_RIGHT_ARITHMETIC};
  harness *h = harness_new();
  for (int v = 0; v < COUNT(values); v++) {
    for (int t = 0; t < COUNT(integers); t++) {
      add(h, ops[(v + t) % COUNT(ops)], 2, integers[t], integers[t]);
      h->kernels[h->kernel_count - 1].has_constant = true;
      h->kernels[h->kernel_count - 1].constant = indim_element_of_int(integers[t], values[v]);
    }
  }
  static const indim_op on_floats[] = {INDIM_OP_ADD, INDIM_OP_DIVIDE, INDIM_OP_MAXIMUM};
  static const double reals[] = {0, -0.0, 1, 3, -2.5, 1e-3, 448, HUGE_VAL, (double)NAN};
  for (int v = 0; v < COUNT(reals); v++) {
    for (int t = 0; t < COUNT(floats); t++) {
      add(h, on_floats[(v + t) % COUNT(on_floats)], 2, floats[t], floats[t]);
      h->kernels[h->kernel_count - 1].has_constant = true;
      h->kernels[h->kernel_count - 1].constant = indim_element_of_float(floats[t], reals[v], 0);
    }
  }
  for (int wide = 0; wide < 2; wide++) {
    indim_type type = wide == 0 ? INDIM_C64 : INDIM_C128;
    add(h, INDIM_OP_ADD, 2, type, type);
    h->kernels[h->kernel_count - 1].has_constant = true;
    h->kernels[h->kernel_count - 1].constant = indim_element_of_float(type, 2.5, -1e10);
  }
  run_all(h, false);
  harness_free(h);
}

// Quotients by constants, of which most are computed as products; the values include the smallest and the largest.
TEST(quotients_by_constants) {
  static const double by[] = {3,    -5,         0.1,        0.001,     255,         1e-8,  0x1.fffffep0, 0x1.000002p0,
                              1e12, -0x1p-20,   8388609,    -16777215, 0x1.8p-38,   1e30,  1e-40,        7e-10,
                              2,    0x1.8p+127, 0x1.4p-126, 100,       0x1.55554p3, 0.999, 1.0 / 3,      1e5};
  harness *h = harness_new();
  for (int i = 0; i < COUNT(by); i++) {
    for (int lanes = 4; lanes <= 16; lanes *= 2) {
      add(h, INDIM_OP_DIVIDE, 2, INDIM_F32, INDIM_F32);
      h->kernels[h->kernel_count - 1].lanes = lanes;
      h->kernels[h->kernel_count - 1].has_constant = true;
      h->kernels[h->kernel_count - 1].constant = indim_element_of_float(INDIM_F32, by[i], 0);
    }
  }
  run_all(h, false);
  harness_free(h);
}

static const indim_op float_unary[] = {INDIM_OP_ABS,   INDIM_OP_NEGATE, INDIM_OP_SIGN,
                                       INDIM_OP_FLOOR, INDIM_OP_CEIL,   INDIM_OP_ROUND_NEAREST_AFZ,
                                       INDIM_OP_SQRT,  INDIM_OP_REAL,   INDIM_OP_ROUND_NEAREST_EVEN,
                                       INDIM_OP_COPY,  INDIM_OP_IMAG};
static const indim_op float_binary[] = {INDIM_OP_ADD,    INDIM_OP_SUBTRACT, INDIM_OP_MULTIPLY,
                                        INDIM_OP_DIVIDE, INDIM_OP_MAXIMUM,  INDIM_OP_MINIMUM};

typedef enum f16_by { BY_INTEGERS, BY_CONVERSIONS, BY_INSTRUCTIONS } f16_by;

static bool has_f16_instructions(void) {
  char *features = LLVMGetHostCPUFeatures();
  bool has = strstr(features, "+avx512fp16") != NULL || strstr(features, "+fullfp16") != NULL;
  LLVMDisposeMessage(features);
  return has;
}

static void test_floats(f16_by way) {
  harness *h = harness_new();
  h->has_f16c &= way != BY_INTEGERS;
  h->has_f16_arithmetic = h->has_f16c && way == BY_INSTRUCTIONS && has_f16_instructions();
  for (int t = 0; t < COUNT(floats); t++) {
    if (way != BY_CONVERSIONS && floats[t] != INDIM_F16) {
      continue;
    }
    for (int i = 0; i < COUNT(float_unary); i++) {
      add(h, float_unary[i], 1, floats[t], floats[t]);
    }
    for (int i = 0; i < COUNT(float_binary); i++) {
      add(h, float_binary[i], 2, floats[t], floats[t]);
    }
    add(h, INDIM_OP_IS_FINITE, 1, floats[t], INDIM_PRED);
    add(h, INDIM_OP_CLAMP, 3, floats[t], floats[t]);
  }
  run_all(h, false);
  harness_free(h);
}

TEST(floats) { test_floats(BY_CONVERSIONS); }
TEST(f16_without_hardware) { test_floats(BY_INTEGERS); }
// On a processor that has none they are as before.
TEST(f16_by_instructions) { test_floats(BY_INSTRUCTIONS); }

static indim_type any_type(int i) {
  return i < COUNT(integers)                        ? integers[i]
         : i < COUNT(integers) + COUNT(floats)      ? floats[i - COUNT(integers)]
         : i == COUNT(integers) + COUNT(floats)     ? INDIM_PRED
         : i == COUNT(integers) + COUNT(floats) + 1 ? INDIM_C64
                                                    : INDIM_C128;
}
enum { REAL_TYPES = COUNT(integers) + COUNT(floats) + 1 };

TEST(compare_and_select) {
  harness *h = harness_new();
  for (int t = 0; t < REAL_TYPES; t++) {
    indim_type type = any_type(t);
    // Of each type every other direction, and those of the next type the others.
    for (int32_t direction = INDIM_COMPARE_EQ + t % 2; direction <= INDIM_COMPARE_LT; direction += 2) {
      for (int total = 0; total <= (indim_type_is_float(type) ? 1 : 0); total++) {
        add_kernel(h, (kernel){.op = {.op = INDIM_OP_COMPARE, .direction = direction, .total_order = total != 0},
                               .count = 2,
                               .types = {type, type},
                               .result = INDIM_PRED,
                               .lanes = next_lanes()});
      }
    }
    add_kernel(h, (kernel){.op = {.op = INDIM_OP_SELECT},
                           .count = 3,
                           .types = {INDIM_PRED, type, type},
                           .result = type,
                           .lanes = next_lanes()});
  }
  run_all(h, false);
  harness_free(h);
}

static void test_convert(bool with_f16c) {
  harness *h = harness_new();
  h->has_f16c &= with_f16c;
  for (int from = 0; from < REAL_TYPES; from++) {
    for (int to = 0; to < REAL_TYPES; to++) {
      if ((from + to) % TEST_SAMPLE != 0) {
        continue;
      }
      if (with_f16c || any_type(from) == INDIM_F16 || any_type(to) == INDIM_F16) {
        add(h, INDIM_OP_CONVERT, 1, any_type(from), any_type(to));
      }
      int32_t from_bits = any_type(from) == INDIM_PRED ? 8 : indim_type_bits(any_type(from));
      int32_t to_bits = any_type(to) == INDIM_PRED ? 8 : indim_type_bits(any_type(to));
      if (from_bits == to_bits && with_f16c) {
        add(h, INDIM_OP_BITCAST_CONVERT, 1, any_type(from), any_type(to));
      }
    }
  }
  run_all(h, false);
  harness_free(h);
}

TEST(convert) { test_convert(true); }
TEST(convert_f16_without_hardware) { test_convert(false); }

TEST(stochastic_convert) {
  static const indim_type targets[] = {INDIM_S2, INDIM_S4, INDIM_S8, INDIM_S16, INDIM_S32, INDIM_S64};
  harness *h = harness_new();
  for (int t = 0; t < COUNT(floats); t++) {
    for (int i = 0; i < COUNT(targets); i++) {
      int32_t bits = indim_type_bits(floats[t]);
      indim_type random = bits == 6 ? INDIM_U8 : indim_type_unsigned_of_bits(bits);
      add_kernel(h, (kernel){.op = {.op = INDIM_OP_STOCHASTIC_CONVERT},
                             .count = 2,
                             .types = {floats[t], random},
                             .result = targets[i],
                             .lanes = next_lanes()});
    }
  }
  run_all(h, false);
  harness_free(h);
}

TEST(reduce_precision) {
  static const int32_t widths[][2] = {{5, 10}, {5, 23}, {8, 10}, {8, 7},   {2, 1},  {3, 2},
                                      {1, 0},  {4, 0},  {3, 7},  {11, 52}, {8, 23}, {6, 3}};
  harness *h = harness_new();
  for (int t = 0; t < COUNT(floats); t++) {
    for (int i = 0; i < COUNT(widths); i++) {
      add_kernel(
          h, (kernel){
                 .op = {.op = INDIM_OP_REDUCE_PRECISION, .exponent_bits = widths[i][0], .mantissa_bits = widths[i][1]},
                 .count = 1,
                 .types = {floats[t]},
                 .result = floats[t],
                 .lanes = next_lanes()});
    }
  }
  run_all(h, false);
  harness_free(h);
}

TEST(complex_moves) {
  harness *h = harness_new();
  for (int wide = 0; wide < 2; wide++) {
    indim_type type = wide == 0 ? INDIM_C64 : INDIM_C128;
    add(h, INDIM_OP_COMPLEX, 2, indim_type_component_of(type), type);
    add(h, INDIM_OP_BITCAST_CONVERT, 1, type, type);
    for (int t = 0; t < REAL_TYPES + 2; t++) {
      add(h, INDIM_OP_CONVERT, 1, type, any_type(t));
      if (t < REAL_TYPES) {
        add(h, INDIM_OP_CONVERT, 1, any_type(t), type);
      }
    }
    for (int32_t direction = INDIM_COMPARE_EQ; direction <= INDIM_COMPARE_NE; direction++) {
      add(h, INDIM_OP_COMPARE, 2, type, INDIM_PRED);
      h->kernels[h->kernel_count - 1].op.direction = direction;
    }
    add_kernel(h, (kernel){.op = {.op = INDIM_OP_SELECT},
                           .count = 3,
                           .types = {INDIM_PRED, type, type},
                           .result = type,
                           .lanes = next_lanes()});
  }
  run_all(h, false);
  harness_free(h);
}

TEST(many_lanes) {
  static const struct {
    indim_op op;
    int32_t count;
    indim_type type;
    indim_type result;
    int32_t lanes;
  } cases[] = {{INDIM_OP_ADD, 2, INDIM_C64, INDIM_C64, 300},  {INDIM_OP_REAL, 1, INDIM_C64, INDIM_F32, 150},
               {INDIM_OP_ADD, 2, INDIM_BF16, INDIM_BF16, 65}, {INDIM_OP_CONVERT, 1, INDIM_F32, INDIM_F8E5M2, 130},
               {INDIM_OP_DIVIDE, 2, INDIM_S8, INDIM_S8, 32},  {INDIM_OP_POWER, 2, INDIM_S32, INDIM_S32, 16}};
  harness *h = harness_new();
  for (int i = 0; i < COUNT(cases); i++) {
    add(h, cases[i].op, cases[i].count, cases[i].type, cases[i].result);
    h->kernels[h->kernel_count - 1].lanes = cases[i].lanes;
  }
  run_all(h, false);
  harness_free(h);
}

// What has no meaning is refused, not made up.
TEST(refused) {
  static const struct {
    indim_op op;
    indim_type type;
    indim_type result;
  } cases[] = {{INDIM_OP_FLOOR, INDIM_S32, INDIM_S32},     {INDIM_OP_ABS, INDIM_U8, INDIM_U8},
               {INDIM_OP_NEGATE, INDIM_PRED, INDIM_PRED},  {INDIM_OP_AND, INDIM_F32, INDIM_F32},
               {INDIM_OP_MAXIMUM, INDIM_C64, INDIM_C64},   {INDIM_OP_CBRT, INDIM_C128, INDIM_C128},
               {INDIM_OP_REMAINDER, INDIM_C64, INDIM_C64}, {INDIM_OP_BITCAST_CONVERT, INDIM_F32, INDIM_S64},
               {INDIM_OP_POPCNT, INDIM_F16, INDIM_F16},    {INDIM_OP_BITCAST_CONVERT, INDIM_C64, INDIM_F64},
               {INDIM_OP_DOT, INDIM_F32, INDIM_F32},       {INDIM_OP_SUBTRACT, INDIM_PRED, INDIM_PRED}};
  harness *h = harness_new();
  for (int i = 0; i < COUNT(cases); i++) {
    add(h, cases[i].op, 2, cases[i].type, cases[i].result);
  }
  compile_kernels(h);
  for (int i = 0; i < COUNT(cases); i++) {
    CHECK_MSG(!h->kernels[i].is_supported, "%s of %s is taken", indim_op_get(cases[i].op)->text,
              indim_type_text(cases[i].type));
  }
  harness_free(h);
}

static void test_complex(const indim_op *ops, int op_count, int32_t count, bool are_functions, bool with_fma) {
  harness *h = harness_new();
  h->has_fma &= with_fma;
  for (int i = 0; i < op_count; i++) {
    for (int wide = 0; wide < 2; wide++) {
      indim_type type = wide == 0 ? INDIM_C64 : INDIM_C128;
      bool is_real = ops[i] == INDIM_OP_ABS || ops[i] == INDIM_OP_REAL || ops[i] == INDIM_OP_IMAG;
      add(h, ops[i], count, type, is_real ? indim_type_component_of(type) : type);
    }
  }
  run_all(h, are_functions);
  harness_free(h);
}

TEST(complex_exact) {
  static const indim_op unary[] = {INDIM_OP_NEGATE, INDIM_OP_REAL, INDIM_OP_IMAG, INDIM_OP_COPY};
  static const indim_op binary[] = {INDIM_OP_ADD, INDIM_OP_SUBTRACT};
  test_complex(unary, COUNT(unary), 1, false, true);
  test_complex(binary, COUNT(binary), 2, false, true);
}

TEST(complex_arithmetic) {
  static const indim_op unary[] = {INDIM_OP_ABS, INDIM_OP_SIGN, INDIM_OP_SQRT, INDIM_OP_RSQRT};
  static const indim_op binary[] = {INDIM_OP_MULTIPLY, INDIM_OP_DIVIDE};
  test_complex(unary, COUNT(unary), 1, true, true);
  test_complex(binary, COUNT(binary), 2, true, true);
}

TEST(complex_without_fma) {
  static const indim_op unary[] = {INDIM_OP_ABS, INDIM_OP_SIGN, INDIM_OP_SQRT, INDIM_OP_LOG, INDIM_OP_TANH};
  static const indim_op binary[] = {INDIM_OP_MULTIPLY, INDIM_OP_DIVIDE, INDIM_OP_POWER};
  test_complex(unary, COUNT(unary), 1, true, false);
  test_complex(binary, COUNT(binary), 2, true, false);
}

static const indim_op functions[] = {INDIM_OP_EXPONENTIAL, INDIM_OP_EXPONENTIAL_MINUS_ONE,
                                     INDIM_OP_LOG,         INDIM_OP_LOG_PLUS_ONE,
                                     INDIM_OP_LOGISTIC,    INDIM_OP_SINE,
                                     INDIM_OP_COSINE,      INDIM_OP_TAN,
                                     INDIM_OP_SINH,        INDIM_OP_COSH,
                                     INDIM_OP_TANH,        INDIM_OP_ASIN,
                                     INDIM_OP_ACOS,        INDIM_OP_ASINH,
                                     INDIM_OP_ACOSH,       INDIM_OP_ATANH,
                                     INDIM_OP_RSQRT,       INDIM_OP_CBRT,
                                     INDIM_OP_ERF};

TEST(real_functions) {
  harness *h = harness_new();
  for (int t = 0; t < COUNT(floats); t++) {
    for (int i = 0; i < COUNT(functions); i++) {
      if ((t + i) % TEST_SAMPLE == 0) {
        add(h, functions[i], 1, floats[t], floats[t]);
      }
    }
    add(h, INDIM_OP_POWER, 2, floats[t], floats[t]);
    add(h, INDIM_OP_ATAN2, 2, floats[t], floats[t]);
    add(h, INDIM_OP_REMAINDER, 2, floats[t], floats[t]);
  }
  run_all(h, true);
  harness_free(h);
}

TEST(complex_functions) {
  test_complex(functions, COUNT(functions) - 3, 1, true, true);
  static const indim_op binary[] = {INDIM_OP_POWER, INDIM_OP_ATAN2};
  test_complex(binary, COUNT(binary), 2, true, true);
}

#define CASES(X)                  \
  X(integers)                     \
  X(constants)                    \
  X(quotients_by_constants)       \
  X(floats)                       \
  X(f16_without_hardware)         \
  X(f16_by_instructions)          \
  X(compare_and_select)           \
  X(convert)                      \
  X(convert_f16_without_hardware) \
  X(reduce_precision)             \
  X(stochastic_convert)           \
  X(complex_moves)                \
  X(many_lanes)                   \
  X(refused)                      \
  X(complex_exact)                \
  X(complex_arithmetic)           \
  X(complex_without_fma)          \
  X(real_functions)               \
  X(complex_functions)
TEST_MAIN(CASES)
