// Register arrays against the evaluator: programs of a few instructions whose arrays are all held in registers, lowered one
// instruction after another, compiled and run on random values, for vectors of 16, 32 and 64 bytes.
#include <stdlib.h>

#include "array/element.h"
#include "emit/program/program.h"
#include "indim/eval.h"
#include "indim/text.h"
#include "literal_test.h"
#include "loop/lowering/lowering.h"
#include "loop/regs/regs.h"
#include "loop/pass/pass.h"

enum { MOST_LEAVES = 8, MOST_INSTRS = 64, MOST_BYTES = 16 * INDIM_REGS_ELEMENTS };

static uint64_t random_state = 1;

static uint64_t random_bits(void) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return random_state >> 29;
}

// Small numbers, so that sums and products are exact more often than not; now and then a special one.
static indim_element random_element(indim_type type) {
  if (type == INDIM_PRED || indim_type_is_integral(type)) {
    return indim_element_of_int(type, (int64_t)(random_bits() % 41) - 20);
  }
  double parts[2];
  for (int i = 0; i < 2; i++) {
    parts[i] = (double)((int64_t)(random_bits() % 257) - 128) / 32;
  }
  return indim_element_of_float(type, parts[0], parts[1]);
}

static indim_literal *random_literal(indim_ctx *cx, const indim_shape *shape) {
  indim_literal *literal = NULL;
  unsigned char dense[MOST_BYTES];
  int64_t bytes = indim_type_bytes(shape->type);
  int64_t count = indim_shape_element_count(shape);
  CHECK_OK(cx, indim_literal_create(cx, shape, &literal));
  for (int64_t k = 0; k < count; k++) {
    indim_element_store(shape->type, 8 * bytes, dense, k, random_element(shape->type));
  }
  CHECK_OK(cx, indim_literal_write_dense(cx, literal, dense, count * bytes));
  return literal;
}

typedef struct fixture {
  const char *text;
  indim_ctx *cx;
  indim_module *module;
  indim_loop_program *program;
  indim_loop_builder b;
  indim_code *code;
  indim_regs arrays[MOST_INSTRS][MOST_LEAVES];
} fixture;

static indim_storage *make_storage(fixture *f, indim_storage_kind kind, const indim_shape *shape, int32_t number,
                                   int64_t *strides) {
  int64_t places = 0;
  CHECK_OK(f->cx, indim_shape_storage_count(f->cx, shape, &places));
  CHECK_OK(f->cx, indim_index_strides(f->cx, shape, strides));
  indim_storage *storage = indim_loop_storage(&f->b, kind, shape->type, places, "s");
  storage->number = number;
  return storage;
}

static void lower_instr(fixture *f, const indim_instr *instr) {
  indim_regs *out = f->arrays[instr->index];
  if (instr->op == INDIM_OP_PARAMETER) {
    int64_t strides[INDIM_MAX_RANK];
    int32_t number = (int32_t)instr->parameter_number;
    indim_storage *storage = make_storage(f, INDIM_STORAGE_ARGUMENT, instr->shape, number, strides);
    indim_regs_load(&f->b, instr->shape, storage, indim_loop_index(&f->b, 0), strides, out);
    return;
  }
  if (instr->op == INDIM_OP_GET_TUPLE_ELEMENT) {
    *out = f->arrays[instr->operands[0]->index][indim_instr_int(instr, INDIM_ATTR_INDEX, 0)];
    return;
  }
  indim_regs operands[MOST_LEAVES];
  for (int32_t i = 0; i < instr->operand_count && i < MOST_LEAVES; i++) {
    operands[i] = f->arrays[instr->operands[i]->index][0];
  }
  CHECK_MSG(indim_regs_can(instr), "%s: %s cannot be a tile", f->text, instr->name.data);
  indim_regs_lower(&f->b, instr, operands, out);
}

static void store_result(fixture *f, const indim_regs *regs, const indim_shape *shape, int32_t number) {
  int64_t strides[INDIM_MAX_RANK];
  indim_regs named = *regs;
  named.shape = shape;
  indim_storage *storage = make_storage(f, INDIM_STORAGE_RESULT, shape, number, strides);
  indim_loop_region_begin(&f->b, &storage, 1);
  indim_regs_store(&f->b, &named, storage, indim_loop_index(&f->b, 0), strides);
}

static int32_t leaves_of(const indim_shape *shape) {
  return indim_shape_is_tuple(shape) ? (int32_t)shape->member_count : 1;
}

static const indim_shape *leaf_of(const indim_shape *shape, int32_t k) {
  return indim_shape_is_tuple(shape) ? shape->members[k] : shape;
}

static bool build(fixture *f, int32_t vector_bytes, bool is_widened) {
  indim_target target;
  indim_host_target(&target);
  target.vector_bytes = vector_bytes;
  CHECK_OK(f->cx, indim_loop_program_create(f->cx, f->module, &target, &f->program));
  indim_loop_builder_init(&f->b, f->program);
  const indim_computation *entry = f->module->entry;
  for (int32_t i = 0; i < entry->instr_count && i < MOST_INSTRS; i++) {
    if (entry->instrs[i]->op != INDIM_OP_TUPLE) {
      lower_instr(f, entry->instrs[i]);
    }
  }
  const indim_instr *root = entry->root;
  for (int32_t k = 0; k < leaves_of(root->shape); k++) {
    const indim_regs *regs =
        root->op == INDIM_OP_TUPLE ? f->arrays[root->operands[k]->index] : &f->arrays[root->index][k];
    store_result(f, regs, leaf_of(root->shape, k), k);
  }
  f->program->argument_count = entry->parameter_count;
  f->program->result_count = leaves_of(root->shape);
  indim_status status = f->b.status;
  if (status == INDIM_OK && is_widened) {
    status = indim_pass_widen(f->program);
  }
  if (status == INDIM_OK) {
    status = indim_pass_buffer_assignment(f->program);
  }
  if (status == INDIM_OK) {
    status = indim_loop_verify(f->program);
  }
  CHECK_MSG(status == INDIM_OK, "%s: %s", f->text, test_message(f->cx));
  return status == INDIM_OK;
}

// With INDIM_TEST_DUMP set, IR and assembly are printed: for looking at what a case becomes.
static bool compile(fixture *f) {
  bool is_wanted = getenv("INDIM_TEST_DUMP") != NULL;
  indim_buffer llvm;
  indim_buffer assembly;
  indim_emit_report times;
  indim_buffer_init(&llvm, f->cx);
  indim_buffer_init(&assembly, f->cx);
  indim_emit_options options = {.fast = 0};
  options.out_llvm = is_wanted ? &llvm : NULL;
  options.out_asm = is_wanted ? &assembly : NULL;
  indim_status status = indim_jit_compile(f->cx, f->program, &options, &times, &f->code);
  CHECK_MSG(status == INDIM_OK, "%s: compile: %s", f->text, test_message(f->cx));
  if (is_wanted) {
    printf("%s\n%s\n", llvm.data == NULL ? "" : llvm.data, assembly.data == NULL ? "" : assembly.data);
  }
  indim_buffer_deinit(&llvm);
  indim_buffer_deinit(&assembly);
  return status == INDIM_OK;
}

static void compare(fixture *f, const indim_literal *expected, const indim_literal *actual, int64_t ulps, int32_t k) {
  indim_mismatch mismatch = {.count = 0};
  indim_tolerance tolerance = {.ulps = ulps, .abs = ulps > 0 ? 1e-6 : 0, .equal_nans = true};
  CHECK_OK(f->cx, indim_literal_compare(f->cx, expected, actual, &tolerance, &mismatch));
  if (mismatch.count != 0) {
    indim_buffer texts[2];
    for (int i = 0; i < 2; i++) {
      indim_buffer_init(&texts[i], f->cx);
      indim_literal_print(i == 0 ? expected : actual, (unsigned)(INDIM_LITERAL_SHAPE | INDIM_LITERAL_ONE_LINE),
                          &texts[i]);
    }
    CHECK_MSG(false, "%s: vectors of %d bytes: result %d is\n    %s\n  expected\n    %s", f->text,
              (int)f->program->target.vector_bytes, (int)k, texts[1].data, texts[0].data);
    indim_buffer_deinit(&texts[0]);
    indim_buffer_deinit(&texts[1]);
  }
}

static void run(fixture *f, int64_t ulps) {
  const indim_computation *entry = f->module->entry;
  const indim_shape *shape = entry->root->shape;
  indim_literal *arguments[MOST_LEAVES] = {NULL};
  indim_literal *results[MOST_LEAVES] = {NULL};
  indim_literal *expected = NULL;
  const void *inputs[MOST_LEAVES] = {NULL};
  void *outputs[MOST_LEAVES] = {NULL};
  for (int32_t i = 0; i < entry->parameter_count; i++) {
    arguments[i] = random_literal(f->cx, entry->parameters[i]->shape);
    inputs[i] = indim_literal_data(arguments[i]);
  }
  for (int32_t k = 0; k < leaves_of(shape); k++) {
    CHECK_OK(f->cx, indim_literal_create(f->cx, leaf_of(shape, k), &results[k]));
    outputs[k] = indim_literal_mutable_data(results[k]);
  }
  CHECK_OK(f->cx, indim_eval(f->cx, f->module, (const indim_literal *const *)arguments, entry->parameter_count, NULL,
                             &expected));
  void *scratch = aligned_alloc(64, (size_t)(f->program->scratch_bytes / 64 + 1) * 64);
  CHECK_EQ_INT(indim_jit_function(f->code)(inputs, outputs, scratch, NULL), 0);
  free(scratch);
  for (int32_t k = 0; k < leaves_of(shape) && expected != NULL; k++) {
    const indim_literal *leaf = indim_shape_is_tuple(shape) ? indim_literal_member(expected, k) : expected;
    compare(f, leaf, results[k], ulps, k);
  }
  for (int32_t i = 0; i < MOST_LEAVES; i++) {
    indim_literal_destroy(arguments[i]);
    indim_literal_destroy(results[i]);
  }
  indim_literal_destroy(expected);
}

// Every instruction of the entry computation becomes register arrays; the results are those of the evaluator.
static void check(const char *text, int64_t ulps) {
  static const int32_t widths[] = {16, 32, 64, 32};
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
    static fixture f;
    memset(&f, 0, sizeof f);
    f.text = text;
    f.cx = test_cx_new();
    CHECK_MSG(indim_module_parse(f.cx, indim_str_of("test"), indim_str_of(text), &f.module) == INDIM_OK, "%s: %s", text,
              test_message(f.cx));
    if (f.module != NULL) {
      CHECK_MSG(indim_module_verify(f.cx, f.module) == INDIM_OK, "%s: %s", text, test_message(f.cx));
      if (build(&f, widths[i], i == 3) && compile(&f)) {
        run(&f, ulps);
        run(&f, ulps);
      }
      indim_jit_destroy(f.code);
      indim_loop_builder_deinit(&f.b);
      indim_loop_program_destroy(f.program);
    }
    indim_module_destroy(f.module);
    test_cx_free(f.cx);
  }
}

// One instruction: "p0, p1" are the parameters of the given shapes.
static void check_op(const char *parameters, const char *instr, int64_t ulps) {
  char text[4096] = "HloModule test\n";
  char extra[1024] = "";
  const char *called = strstr(instr, " called ");
  if (called != NULL) {
    snprintf(extra, sizeof extra, "%s", called + 8);
    strcat(text, extra);
    strcat(text, "\n");
  }
  strcat(text, "ENTRY main {\n");
  char shapes[512];
  snprintf(shapes, sizeof shapes, "%s", parameters);
  int32_t number = 0;
  char *rest = NULL;
  for (char *shape = strtok_r(shapes, " ", &rest); shape != NULL; shape = strtok_r(NULL, " ", &rest), number++) {
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "  p%d = %s parameter(%d)\n", number, shape, number);
  }
  size_t used = strlen(text);
  size_t length = called != NULL ? (size_t)(called - instr) : strlen(instr);
  snprintf(text + used, sizeof text - used, "  ROOT r = %.*s\n}\n", (int)length, instr);
  check(text, ulps);
}

// Cutting -----------------------------------------------------------------------------------------------------------------

static void check_lanes(int32_t vector_bytes, const char *text, int32_t lanes) {
  indim_target target = {.vector_bytes = vector_bytes};
  indim_shape shape = test_shape(text);
  CHECK_MSG(indim_regs_lanes(&target, &shape) == lanes, "%s with %d bytes: %d lanes, expected %d", text,
            (int)vector_bytes, (int)indim_regs_lanes(&target, &shape), (int)lanes);
}

TEST(lanes_follow_from_sizes) {
  check_lanes(32, "f64[6,6]", 6);
  check_lanes(32, "f64[3,3]", 3);
  check_lanes(32, "pred[3,3]", 3);
  check_lanes(32, "f32[4,4]", 8);
  check_lanes(64, "f32[4,4]", 16);
  check_lanes(16, "f32[4,4]", 4);
  check_lanes(32, "f32[6,1]", 6);
  check_lanes(32, "f32[1,3]", 1);
  check_lanes(32, "f32[2,2]", 1);
  check_lanes(32, "f32[]", 1);
  check_lanes(32, "f64[36]", 4);
  check_lanes(32, "f64[12]", 4);
  check_lanes(32, "f32[2,2,3]", 3);
  check_lanes(32, "f32[8,3]", 8);
  check_lanes(64, "f32[8,3]", 8);
  check_lanes(64, "f32[12,3]", 4);
  check_lanes(64, "f64[4,6]", 6);
  check_lanes(32, "f32[32]", 8);
  check_lanes(32, "f32[17]", 17);
}

#define PRODUCT ", rhs_contracting_dims={0} }"

TEST(what_cannot_be) {
  static const char *const texts[] = {
      "HloModule m\nENTRY e { a = f32[300] parameter(0)\n ROOT r = f32[300] negate(a) }",
      "HloModule m\nENTRY e { a = f32[2304] parameter(0)\n ROOT r = f32[] dot(a, a), lhs_contracting_dims={0}" PRODUCT,
      "HloModule m\nENTRY e { a = f32[16,16] parameter(0)\n ROOT r = f32[16,16] dot(a, a), "
      "lhs_contracting_dims={1}" PRODUCT,
      "HloModule m\nENTRY e { a = f32[0,3] parameter(0)\n ROOT r = f32[0,3] negate(a) }",
      "HloModule m\nENTRY e { a = f32[4] parameter(0)\n ROOT r = u8[4,4] bitcast-convert(a) }",
      "HloModule m\nENTRY e { a = f32[] parameter(0)\n ROOT r = (f32[], f32[]) tuple(a, a) }",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    indim_ctx *cx = test_cx_new();
    indim_module *module = NULL;
    CHECK_OK(cx, indim_module_parse(cx, indim_str_of("test"), indim_str_of(texts[i]), &module));
    CHECK_MSG(module != NULL && !indim_regs_can(module->entry->root), "%s", texts[i]);
    indim_module_destroy(module);
    test_cx_free(cx);
  }
}

// Elementwise ---------------------------------------------------------------------------------------------------------------

TEST(elementwise) {
  check_op("f32[3,3] f32[3,3]", "f32[3,3] add(p0, p1)", 0);
  check_op("f64[6,6] f64[6,6]", "f64[6,6] multiply(p0, p1)", 0);
  check_op("s32[7] s32[7]", "s32[7] divide(p0, p1)", 0);
  check_op("f32[5] f32[5]", "pred[5] compare(p0, p1), direction=LT", 0);
  check_op("f32[5] f32[5]", "pred[5] compare(p0, p1), direction=GE, type=TOTALORDER", 0);
  check_op("pred[3,3] f64[3,3] f64[3,3]", "f64[3,3] select(p0, p1, p2)", 0);
  check_op("pred[] f64[3,3] f64[3,3]", "f64[3,3] select(p0, p1, p2)", 0);
  check_op("s16[] s16[36] s16[]", "s16[36] clamp(p0, p1, p2)", 0);
  check_op("f32[] f32[4,4] f32[4,4]", "f32[4,4] clamp(p0, p1, p2)", 0);
  check_op("f32[11]", "s8[11] convert(p0)", 0);
  check_op("u8[3,5]", "bf16[3,5] convert(p0)", 0);
  check_op("f32[9]", "f32[9] reduce-precision(p0), exponent_bits=5, mantissa_bits=2", 0);
  check_op("f32[4] f32[4]", "c64[4] complex(p0, p1)", 0);
  check_op("c64[5]", "f32[5] imag(p0)", 0);
  check_op("f32[5]", "f32[5] imag(p0)", 0);
  check_op("f32[5]", "f32[5] real(p0)", 0);
  check_op("f32[2,3]", "s32[2,3] bitcast-convert(p0)", 0);
  check_op("pred[6]", "u8[6] bitcast-convert(p0)", 0);
  check_op("s8[6]", "pred[6] bitcast-convert(p0)", 0);
  check_op("bf16[6]", "u16[6] bitcast-convert(p0)", 0);
  check_op("f32[250]", "f32[250] negate(p0)", 0);
}

TEST(applied) {
  check_op("f32[6] f32[6]",
           "f32[6] map(p0, p1), dimensions={0}, to_apply=g called "
           "f { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT t = (f32[], f32[]) tuple(b, a) }\n"
           "g { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] constant(2)\n"
           " t = (f32[], f32[]) call(a, b), to_apply=f\n x = f32[] get-tuple-element(t), index=0\n"
           " y = f32[] get-tuple-element(t), index=1\n z = f32[] multiply(x, c)\n s = f32[] reshape(z)\n"
           " ROOT r = f32[] subtract(s, y) }",
           0);
  check_op("f32[3,4] f32[]",
           "(f32[4,3], f32[3]) fusion(p0, p1), kind=kLoop, calls=f called "
           "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
           "f { a = f32[3,4] parameter(0)\n b = f32[] parameter(1)\n w = f32[3,4] broadcast(b), dimensions={}\n"
           " m = f32[3,4] multiply(a, w)\n t = f32[4,3] transpose(m), dimensions={1,0}\n"
           " s = f32[3] reduce(m, b), dimensions={1}, to_apply=add\n ROOT r = (f32[4,3], f32[3]) tuple(t, s) }",
           4);
}

// Movement ----------------------------------------------------------------------------------------------------------------

TEST(sources) {
  check_op("", "f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})", 0);
  check_op("", "s8[5] constant({1, 1, 1, 1, 1})", 0);
  check_op("", "c64[2] constant({(1, 2), (3, -4)})", 0);
  check_op("", "f16[4,3] iota(), iota_dimension=0", 0);
  check_op("", "s64[4,3] iota(), iota_dimension=1", 0);
  check_op("", "u8[4] iota(), iota_dimension=0", 0);
  check_op("f32[4,3]", "s32[] get-dimension-size(p0), dimensions={1}", 0);
}

TEST(broadcast) {
  check_op("f32[]", "f32[3,5] broadcast(p0), dimensions={}", 0);
  check_op("f64[6]", "f64[6,6] broadcast(p0), dimensions={1}", 0);
  check_op("f64[6]", "f64[6,6] broadcast(p0), dimensions={0}", 0);
  check_op("s8[2,3]", "s8[2,4,3] broadcast(p0), dimensions={0,2}", 0);
  check_op("f32[3,1]", "f32[3,1,2] broadcast(p0), dimensions={0,1}", 0);
  check_op("pred[3]", "pred[3,4] broadcast(p0), dimensions={0}", 0);
}

TEST(reshape) {
  check_op("f64[36]", "f64[6,6] reshape(p0)", 0);
  check_op("f64[6,6]", "f64[36] reshape(p0)", 0);
  check_op("f32[2,2,3]", "f32[12] reshape(p0)", 0);
  check_op("f32[15]", "f32[3,5] reshape(p0)", 0);
  check_op("f32[]", "f32[1,1] reshape(p0)", 0);
  check_op("s16[7,9]", "s16[9,7] reshape(p0)", 0);
  check_op("f32[3,4]{1,0}", "f32[4,3]{0,1} bitcast(p0)", 0);
  check_op("f32[3,4]{0,1}", "f32[12]{0} bitcast(p0)", 0);
}

TEST(transpose) {
  check_op("f64[6,6]", "f64[6,6] transpose(p0), dimensions={1,0}", 0);
  check_op("f64[3,3]", "f64[3,3] transpose(p0), dimensions={1,0}", 0);
  check_op("f32[4,4]", "f32[4,4] transpose(p0), dimensions={1,0}", 0);
  check_op("f32[8,8]", "f32[8,8] transpose(p0), dimensions={1,0}", 0);
  check_op("f32[16,16]", "f32[16,16] transpose(p0), dimensions={1,0}", 0);
  check_op("s8[5,7]", "s8[7,5] transpose(p0), dimensions={1,0}", 0);
  check_op("f32[2,3,4]", "f32[4,3,2] transpose(p0), dimensions={2,1,0}", 0);
  check_op("f32[2,3,4]", "f32[3,2,4] transpose(p0), dimensions={1,0,2}", 0);
  check_op("f32[2,3,4]", "f32[2,4,3] transpose(p0), dimensions={0,2,1}", 0);
  check_op("c64[2,5]", "c64[5,2] transpose(p0), dimensions={1,0}", 0);
  check_op("pred[3,5]", "pred[5,3] transpose(p0), dimensions={1,0}", 0);
  check_op("f64[1,6]", "f64[6,1] transpose(p0), dimensions={1,0}", 0);
}

TEST(slices) {
  check_op("f32[10]", "f32[4] slice(p0), slice={[1:9:2]}", 0);
  check_op("f64[6,6]", "f64[3,2] slice(p0), slice={[0:6:2],[2:4]}", 0);
  check_op("f64[6,6]", "f64[6,6] reverse(p0), dimensions={0}", 0);
  check_op("f64[3,5]", "f64[3,5] reverse(p0), dimensions={0,1}", 0);
  check_op("f32[3] f32[2] f32[3]", "f32[8] concatenate(p0, p1, p2), dimensions={0}", 0);
  check_op("f32[2,3] f32[2,1]", "f32[2,4] concatenate(p0, p1), dimensions={1}", 0);
  check_op("f32[2,3] f32[1,3]", "f32[3,3] concatenate(p0, p1), dimensions={0}", 0);
  check_op("f32[3] f32[]", "f32[9] pad(p0, p1), padding=1_3_1", 0);
  check_op("f32[3,4] f32[]", "f32[4,4] pad(p0, p1), padding=1_0x-1_1", 0);
  check_op("s8[4] s8[]", "s8[3] pad(p0, p1), padding=-1_-3_1", 0);
  check_op("pred[4] pred[]", "pred[6] pad(p0, p1), padding=1_1", 0);
}

TEST(dynamic_slices) {
  check_op("f32[6] s32[]", "f32[1] dynamic-slice(p0, p1), dynamic_slice_sizes={1}", 0);
  check_op("f64[6,6] s32[] s32[]", "f64[1,6] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={1,6}", 0);
  check_op("f64[6,6] u8[] u8[]", "f64[2,3] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}", 0);
  check_op("pred[5] u64[]", "pred[3] dynamic-slice(p0, p1), dynamic_slice_sizes={3}", 0);
  check_op("s16[5] s64[1]", "s16[3] dynamic-slice(p0, p1), dynamic_slice_sizes={3}", 0);
  check_op("f32[6] f32[1] s32[]", "f32[6] dynamic-update-slice(p0, p1, p2)", 0);
  check_op("f64[6,6] f64[1,6] s32[] s32[]", "f64[6,6] dynamic-update-slice(p0, p1, p2, p3)", 0);
  check_op("f64[6,6] f64[1,1] s32[] s32[]", "f64[6,6] dynamic-update-slice(p0, p1, p2, p3)", 0);
  check_op("f64[6,6] f64[2,3] u32[] u32[]", "f64[6,6] dynamic-update-slice(p0, p1, p2, p3)", 0);
  check_op("s8[20] s8[2] s32[]", "s8[20] dynamic-update-slice(p0, p1, p2)", 0);
  check_op("c64[4] c64[1] u16[]", "c64[4] dynamic-update-slice(p0, p1, p2)", 0);
}

// Sums ----------------------------------------------------------------------------------------------------------------------

TEST(dot) {
  check_op("f64[6,6] f64[6,6]", "f64[6,6] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 4);
  check_op("f64[3,3] f64[3,3]", "f64[3,3] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 4);
  check_op("f64[3,3] f64[3,3]", "f64[3,3] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={1}", 4);
  check_op("f32[4,4] f32[4,4]", "f32[4,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 4);
  check_op("f32[4,4] f32[4,4]", "f32[4,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={1}", 4);
  check_op("f64[6,6] f64[6]", "f64[6] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 4);
  check_op("f64[6] f64[6,3]", "f64[3] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}", 4);
  check_op("f32[36] f32[36]", "f32[] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}", 16);
  check_op("f32[3] f32[3]", "f32[] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}", 4);
  check_op("f32[3,1] f32[1,3]", "f32[3,3] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 4);
  check_op("f32[1,3] f32[3,1]", "f32[1,1] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 4);
  check_op("f32[4,3,2] f32[4,2,5]",
           "f32[4,3,5] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
           "rhs_contracting_dims={1}",
           4);
  check_op("f32[8,3] f32[8,3]",
           "f32[8] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
           "rhs_contracting_dims={1}",
           4);
  check_op("s32[3,4] s32[4,2]", "s32[3,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 0);
  check_op("s8[3,4] s8[4,2]", "s32[3,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 0);
  check_op("pred[3,4] pred[4,2]", "pred[3,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 0);
  check_op("bf16[3,4] bf16[4,2]", "bf16[3,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 1);
  check_op("c64[3,4] c64[4,2]", "c64[3,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 8);
  check_op("bf16[3,4] bf16[4,2]", "f32[3,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 4);
  check_op("f32[2,3] f32[]", "f32[2,3] dot(p0, p1)", 0);
  check_op("f32[2,3,2] f32[3,2,4]", "f32[2,4] dot(p0, p1), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}", 8);
  check_op("f32[10,13] f32[13,9]", "f32[10,9] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 16);
}

#define ADD_F32 " called add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }"

TEST(reduce) {
  check_op("f32[6,6] f32[]", "f32[6] reduce(p0, p1), dimensions={0}, to_apply=add" ADD_F32, 8);
  check_op("f32[6,6] f32[]", "f32[6] reduce(p0, p1), dimensions={1}, to_apply=add" ADD_F32, 8);
  check_op("f32[6,6] f32[]", "f32[] reduce(p0, p1), dimensions={0,1}, to_apply=add" ADD_F32, 32);
  check_op("f32[3] f32[]", "f32[] reduce(p0, p1), dimensions={0}, to_apply=add" ADD_F32, 4);
  check_op("f32[17] f32[]", "f32[] reduce(p0, p1), dimensions={0}, to_apply=add" ADD_F32, 32);
  check_op("f32[2,3,4] f32[]", "f32[2,4] reduce(p0, p1), dimensions={1}, to_apply=add" ADD_F32, 8);
  check_op("f32[2,3,4] f32[]", "f32[3] reduce(p0, p1), dimensions={0,2}, to_apply=add" ADD_F32, 8);
  check_op("f32[2,18] f32[]", "f32[2] reduce(p0, p1), dimensions={1}, to_apply=add" ADD_F32, 32);
  check_op("f32[5] f32[]", "f32[5] reduce(p0, p1), dimensions={}, to_apply=add" ADD_F32, 0);
  check_op("s8[4,9] s8[]",
           "s8[4] reduce(p0, p1), dimensions={1}, to_apply=m called "
           "m { a = s8[] parameter(0)\n b = s8[] parameter(1)\n ROOT c = s8[] minimum(a, b) }",
           0);
  check_op("pred[13] pred[]",
           "pred[] reduce(p0, p1), dimensions={0}, to_apply=m called "
           "m { a = pred[] parameter(0)\n b = pred[] parameter(1)\n ROOT c = pred[] and(a, b) }",
           0);
}

#define ARGMAX                                                                                              \
  "m { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n j = s32[] parameter(3)\n" \
  " g = pred[] compare(a, b), direction=GT\n e = pred[] compare(a, b), direction=EQ\n"                      \
  " l = pred[] compare(i, j), direction=LT\n t = pred[] and(e, l)\n k = pred[] or(g, t)\n"                  \
  " x = f32[] select(k, a, b)\n y = s32[] select(k, i, j)\n ROOT r = (f32[], s32[]) tuple(x, y) }"

TEST(argmax) {
  check_op("f32[5,7] s32[5,7] f32[] s32[]",
           "(f32[5], s32[5]) reduce(p0, p1, p2, p3), dimensions={1}, to_apply=m called " ARGMAX, 0);
  check_op("f32[5,7] s32[5,7] f32[] s32[]",
           "(f32[7], s32[7]) reduce(p0, p1, p2, p3), dimensions={0}, to_apply=m called " ARGMAX, 0);
  check_op("f32[29] s32[29] f32[] s32[]",
           "(f32[], s32[]) reduce(p0, p1, p2, p3), dimensions={0}, to_apply=m called " ARGMAX, 0);
}

// Memory --------------------------------------------------------------------------------------------------------------------

TEST(layouts) {
  check_op("f64[6,6]{0,1}", "f64[6,6]{1,0} negate(p0)", 0);
  check_op("f64[6,6]{0,1}", "f64[6,6]{0,1} negate(p0)", 0);
  check_op("f32[3,4]{1,0:PAD(5,7;zero)}", "f32[3,4]{1,0} negate(p0)", 0);
  check_op("f32[2,3,4]{0,2,1}", "f32[2,3,4]{1,0,2} negate(p0)", 0);
  check_op("f32[4,4]{1,0:PAD(4,6;zero)}", "f32[4,4]{0,1} negate(p0)", 0);
  check_op("s8[3,1,5]{0,1,2}", "s8[3,1,5]{2,1,0} negate(p0)", 0);
}

// Random shapes ---------------------------------------------------------------------------------------------------------

static int random_below(int limit) { return (int)(random_bits() % (uint64_t)limit); }

typedef struct random_shape {
  int rank;
  int sizes[4];
  char text[64];
} random_shape;

static void print_shape(const char *type, random_shape *shape) {
  int used = snprintf(shape->text, sizeof shape->text, "%s[", type);
  for (int d = 0; d < shape->rank; d++) {
    used += snprintf(shape->text + used, sizeof shape->text - (size_t)used, "%s%d", d == 0 ? "" : ",", shape->sizes[d]);
  }
  snprintf(shape->text + used, sizeof shape->text - (size_t)used, "]");
}

static random_shape make_shape(const char *type, int most) {
  random_shape shape = {.rank = 1 + random_below(3)};
  int left = most;
  for (int d = 0; d < shape.rank; d++) {
    shape.sizes[d] = 1 + random_below(left < 9 ? left : 9);
    left /= shape.sizes[d];
    left = left < 1 ? 1 : left;
  }
  print_shape(type, &shape);
  return shape;
}

static const char *random_type(void) {
  static const char *const types[] = {"f32", "f64", "s8", "pred", "c64", "u16", "bf16", "s64"};
  return types[random_below(8)];
}

TEST(random_transposes) {
  for (int round = 0; round < 40; round++) {
    const char *type = random_type();
    random_shape from = make_shape(type, 256);
    random_shape to = from;
    char dims[64] = "";
    char instr[256];
    for (int d = 0; d < from.rank; d++) {
      to.sizes[d] = d;
    }
    for (int d = from.rank - 1; d > 0; d--) {
      int other = random_below(d + 1);
      int kept = to.sizes[d];
      to.sizes[d] = to.sizes[other];
      to.sizes[other] = kept;
    }
    for (int d = 0; d < from.rank; d++) {
      size_t used = strlen(dims);
      snprintf(dims + used, sizeof dims - used, "%s%d", d == 0 ? "" : ",", to.sizes[d]);
      to.sizes[d] = from.sizes[to.sizes[d]];
    }
    print_shape(type, &to);
    snprintf(instr, sizeof instr, "%s transpose(p0), dimensions={%s}", to.text, dims);
    check_op(from.text, instr, 0);
  }
}

TEST(random_pads) {
  for (int round = 0; round < 30; round++) {
    const char *type = random_type();
    random_shape from = make_shape(type, 60);
    random_shape to = from;
    char padding[64] = "";
    char parameters[128];
    char instr[256];
    int total = 1;
    for (int d = 0; d < from.rank; d++) {
      int low = random_below(4) - 1;
      int high = random_below(4) - 1;
      int interior = random_below(2);
      int size = from.sizes[d] + (from.sizes[d] - 1) * interior + low + high;
      if (size < 1 || total * size > 256) {
        low = high = interior = 0;
        size = from.sizes[d];
      }
      total *= size;
      to.sizes[d] = size;
      size_t used = strlen(padding);
      snprintf(padding + used, sizeof padding - used, "%s%d_%d_%d", d == 0 ? "" : "x", low, high, interior);
    }
    if (total > 256) {
      continue;
    }
    print_shape(type, &to);
    snprintf(parameters, sizeof parameters, "%s %s[]", from.text, type);
    snprintf(instr, sizeof instr, "%s pad(p0, p1), padding=%s", to.text, padding);
    check_op(parameters, instr, 0);
  }
}

TEST(random_products) {
  static const char *const types[] = {"f32", "f64", "s32", "f32"};
  for (int round = 0; round < 40; round++) {
    const char *type = types[random_below(4)];
    int m = 1 + random_below(9);
    int n = 1 + random_below(9);
    int k = 1 + random_below(12);
    int left = random_below(2);
    int right = random_below(2);
    char parameters[128];
    char instr[256];
    snprintf(parameters, sizeof parameters, "%s[%d,%d] %s[%d,%d]", type, left == 0 ? k : m, left == 0 ? m : k, type,
             right == 0 ? k : n, right == 0 ? n : k);
    snprintf(instr, sizeof instr, "%s[%d,%d] dot(p0, p1), lhs_contracting_dims={%d}, rhs_contracting_dims={%d}", type,
             m, n, left, right);
    check_op(parameters, instr, 16);
  }
}

TEST(random_sums) {
  for (int round = 0; round < 40; round++) {
    random_shape from = make_shape("f32", 256);
    random_shape to = {.rank = 0};
    char dims[64] = "";
    char parameters[128];
    char instr[512];
    for (int d = 0; d < from.rank; d++) {
      if (random_below(2) == 0) {
        to.sizes[to.rank++] = from.sizes[d];
        continue;
      }
      size_t used = strlen(dims);
      snprintf(dims + used, sizeof dims - used, "%s%d", used == 0 ? "" : ",", d);
    }
    print_shape("f32", &to);
    snprintf(parameters, sizeof parameters, "%s f32[]", from.text);
    snprintf(instr, sizeof instr, "%s reduce(p0, p1), dimensions={%s}, to_apply=add" ADD_F32, to.text, dims);
    check_op(parameters, instr, 64);
  }
}

TEST(random_updates) {
  for (int round = 0; round < 30; round++) {
    const char *type = random_type();
    random_shape whole = make_shape(type, 40);
    random_shape block = whole;
    char parameters[256];
    char instr[256];
    char starts[64] = "";
    char sizes[64] = "";
    for (int d = 0; d < whole.rank; d++) {
      block.sizes[d] = 1 + random_below(whole.sizes[d]);
      size_t used = strlen(starts);
      snprintf(starts + used, sizeof starts - used, ", p%d", d + 2);
      used = strlen(sizes);
      snprintf(sizes + used, sizeof sizes - used, "%s%d", d == 0 ? "" : ",", block.sizes[d]);
    }
    print_shape(type, &block);
    snprintf(parameters, sizeof parameters, "%s %s", whole.text, block.text);
    for (int d = 0; d < whole.rank; d++) {
      strcat(parameters, " s32[]");
    }
    snprintf(instr, sizeof instr, "%s dynamic-update-slice(p0, p1%s)", whole.text, starts);
    check_op(parameters, instr, 0);
    snprintf(instr, sizeof instr, "%s dynamic-slice(p0%s), dynamic_slice_sizes={%s}", block.text, starts, sizes);
    check_op(parameters, instr, 0);
  }
}

#define CASES(X)             \
  X(lanes_follow_from_sizes) \
  X(what_cannot_be)          \
  X(elementwise)             \
  X(applied)                 \
  X(sources)                 \
  X(broadcast)               \
  X(reshape)                 \
  X(transpose)               \
  X(slices)                  \
  X(dynamic_slices)          \
  X(dot)                     \
  X(reduce)                  \
  X(argmax)                  \
  X(layouts)                 \
  X(random_transposes)       \
  X(random_pads)             \
  X(random_products)         \
  X(random_sums)             \
  X(random_updates)
TEST_MAIN(CASES)
