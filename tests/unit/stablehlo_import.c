// What becomes of StableHLO text: what the module gives, also after it was written as both forms and read again, and what is refused.
#include "indim/eval.h"
#include "indim/read.h"
#include "indim/stablehlo.h"
#include "indim/text.h"
#include "graph/module.h"
#include "literal_test.h"
#include "stablehlo/vhlo.h"

enum { MOST = 4 };

// |arguments| in the order of the entry's parameters; NULL behind the last. The result is printed to |out|.
static indim_status evaluate(indim_ctx *cx, const indim_module *module, const char *const *arguments,
                             indim_buffer *out) {
  const indim_computation *entry = indim_module_entry(module);
  int64_t count = indim_computation_parameter_count(entry);
  indim_literal *literals[MOST] = {NULL}, *result = NULL;
  indim_status status = count <= MOST ? INDIM_OK : INDIM_LIMIT;
  for (int64_t i = 0; i < count && status == INDIM_OK; i++) {
    char text[256];
    indim_shape_text shape;
    snprintf(text, sizeof text, "%s %s",
             indim_shape_brief(indim_instr_shape(indim_computation_parameter(entry, i)), &shape), arguments[i]);
    status = indim_literal_parse(cx, indim_str_of(text), &literals[i]);
  }
  if (status == INDIM_OK) {
    status = indim_eval(cx, module, (const indim_literal *const *)literals, count, NULL, &result);
  }
  if (status == INDIM_OK) {
    indim_literal_print(result, (unsigned)INDIM_LITERAL_SHAPE | (unsigned)INDIM_LITERAL_ONE_LINE, out);
    status = out->status;
  }
  indim_literal_destroy(result);
  for (int i = 0; i < MOST; i++) {
    indim_literal_destroy(literals[i]);
  }
  return status;
}

static indim_status read(indim_ctx *cx, indim_str bytes, indim_module **out_module) {
  indim_status status = indim_module_read(cx, indim_str_of("p"), bytes.data, bytes.size, out_module);
  return status == INDIM_OK ? indim_module_verify(cx, *out_module) : status;
}

static indim_status write(indim_ctx *cx, const indim_module *module, bool is_artifact, indim_buffer *out) {
  return is_artifact ? indim_module_encode_stablehlo(cx, module, out) : indim_module_print_stablehlo(cx, module, out);
}

static void check_result(indim_ctx *cx, const indim_module *module, const char *const *arguments, const char *expected,
                         const char *form) {
  indim_buffer out;
  indim_buffer_init(&out, cx);
  indim_status status = evaluate(cx, module, arguments, &out);
  CHECK_MSG(status == INDIM_OK, "%s: %s", form, test_message(cx));
  CHECK_MSG(status != INDIM_OK || indim_str_is((indim_str){out.data, out.size}, expected), "%s gives %.*s, expected %s",
            form, (int)out.size, out.data, expected);
  indim_buffer_deinit(&out);
}

// As it is read, and from both forms that are written of it.
static void gives(const char *text, const char *const *arguments, const char *expected) {
  static const char *const forms[] = {"written as text", "written as an artifact"};
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  CHECK_OK(cx, read(cx, indim_str_of(text), &module));
  if (module != NULL && indim_ctx_diagnostic_count(cx) == 0) {
    check_result(cx, module, arguments, expected, "the program");
    for (int is_artifact = 0; is_artifact < 2; is_artifact++) {
      indim_module *again = NULL;
      indim_buffer bytes;
      indim_buffer_init(&bytes, cx);
      CHECK_OK(cx, write(cx, module, is_artifact != 0, &bytes));
      CHECK_OK(cx, read(cx, (indim_str){bytes.data, bytes.size}, &again));
      if (again != NULL) {
        check_result(cx, again, arguments, expected, forms[is_artifact]);
      }
      indim_module_destroy(again);
      indim_buffer_deinit(&bytes);
    }
  }
  indim_module_destroy(module);
  test_cx_free(cx);
}
#define GIVES(text, expected, ...) gives(text, (const char *const[MOST + 1]){__VA_ARGS__, NULL}, expected)
#define GIVES_ALONE(text, expected) gives(text, (const char *const[1]){NULL}, expected)

// The first problem has this text and, unless |line| is 0, this line.
static void refuses(const char *text, int32_t line, const char *message) {
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  indim_status status = read(cx, indim_str_of(text), &module);
  const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
  CHECK_MSG(status != INDIM_OK && status != INDIM_INTERNAL, "%s: %s", message, indim_status_name(status));
  CHECK_MSG(d != NULL && strstr(d->message, message) != NULL, "expected %s, not %s", message,
            d == NULL ? "nothing" : d->message);
  CHECK_MSG(d == NULL || d->line == line, "%s: in line %d, not %d", message, (int)d->line, (int)line);
  indim_module_destroy(module);
  test_cx_free(cx);
}

// Sizes as operands ----------------------------------------------------------------------------------------------------

TEST(sizes_as_operands) {
  GIVES("func.func @main(%s: tensor<3xf32>, %n: tensor<2xi64>) -> (tensor<?x?xf32, #stablehlo.bounds<4, 3>>, "
        "tensor<?x2xi32, #stablehlo.bounds<4, ?>>, tensor<2x3xf32>, tensor<3x1xf32>) {\n"
        "  %0 = stablehlo.dynamic_broadcast_in_dim %s, %n, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> "
        "tensor<?x?xf32, #stablehlo.bounds<4, 3>>\n"
        "  %1 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xi64>) -> tensor<?x2xi32, #stablehlo.bounds<4, ?>>\n"
        "  %2 = stablehlo.dynamic_broadcast_in_dim %s, %n, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> "
        "tensor<2x3xf32>\n"
        "  %3 = stablehlo.dynamic_reshape %s, %n : (tensor<3xf32>, tensor<2xi64>) -> tensor<3x1xf32>\n"
        "  return %0, %1, %2, %3 : tensor<?x?xf32, #stablehlo.bounds<4, 3>>, tensor<?x2xi32, #stablehlo.bounds<4, ?>>, "
        "tensor<2x3xf32>, tensor<3x1xf32>\n"
        "}\n",
        "( f32[<=4,<=3](3,1) { {1}, {1}, {1} }, s32[<=4,2](3,2) { { 0, 0 }, { 1, 1 }, { 2, 2 } }, "
        "f32[2,3] { { 1, 2, 3 }, { 1, 2, 3 } }, f32[3,1] { {1}, {2}, {3} } )",
        "{1, 2, 3}", "{3, 1}");
  GIVES("func.func @main(%s: tensor<3xf32>) -> (tensor<5xf32>, tensor<2xf32>) {\n"
        "  %f = stablehlo.constant dense<9.0> : tensor<f32>\n"
        "  %o = stablehlo.constant dense<1> : tensor<1xi64>\n"
        "  %z = stablehlo.constant dense<0> : tensor<1xi64>\n"
        "  %t = stablehlo.constant dense<[3]> : tensor<1xi64>\n"
        "  %u = stablehlo.constant dense<[2]> : tensor<1xi64>\n"
        "  %0 = stablehlo.dynamic_pad %s, %f, %o, %o, %z : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, "
        "tensor<1xi64>) -> tensor<5xf32>\n"
        "  %1 = stablehlo.real_dynamic_slice %s, %z, %t, %u : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, "
        "tensor<1xi64>) -> tensor<2xf32>\n"
        "  return %0, %1 : tensor<5xf32>, tensor<2xf32>\n"
        "}\n",
        "( f32[5] {9, 1, 2, 3, 9}, f32[2] {1, 3} )", "{1, 2, 3}");
}

// Control flow ---------------------------------------------------------------------------------------------------------

TEST(captures_of_branches) {
  const char *text = "func.func @main(%p: tensor<i1>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {\n"
                     "  %c = stablehlo.constant dense<100> : tensor<i32>\n"
                     "  %r = \"stablehlo.if\"(%p) ({\n"
                     "    %s = stablehlo.add %a, %b : tensor<i32>\n"
                     "    stablehlo.return %s : tensor<i32>\n"
                     "  }, {\n"
                     "    %d = stablehlo.multiply %b, %c : tensor<i32>\n"
                     "    stablehlo.return %d : tensor<i32>\n"
                     "  }) : (tensor<i1>) -> tensor<i32>\n"
                     "  return %r : tensor<i32>\n"
                     "}\n";
  GIVES(text, "s32[] 7", "true", "3", "4");
  GIVES(text, "s32[] 400", "false", "3", "4");
  GIVES("func.func @main(%i: tensor<i32>, %a: tensor<i32>) -> tensor<i32> {\n"
        "  %r = \"stablehlo.case\"(%i) ({\n"
        "    %n = stablehlo.negate %a : tensor<i32>\n"
        "    stablehlo.return %n : tensor<i32>\n"
        "  }) : (tensor<i32>) -> tensor<i32>\n"
        "  return %r : tensor<i32>\n"
        "}\n",
        "s32[] -5", "7", "5");
}

// The innermost region uses values of all around it, and constants of each.
TEST(captures_through_three_regions) {
  const char *text =
      "func.func @main(%n: tensor<i32>, %p: tensor<i1>, %a: tensor<i32>) -> (tensor<i32>, tensor<i32>) {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %far = stablehlo.multiply %a, %a : tensor<i32>\n"
      "  %r:2 = stablehlo.while(%i = %zero, %sum = %zero) : tensor<i32>, tensor<i32>\n"
      "   cond {\n"
      "    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %go : tensor<i1>\n"
      "  } do {\n"
      "    %near = stablehlo.add %i, %one : tensor<i32>\n"
      "    %s = \"stablehlo.if\"(%p) ({\n"
      "      %t:2 = stablehlo.while(%k = %zero, %u = %sum) : tensor<i32>, tensor<i32>\n"
      "       cond {\n"
      "        %go = stablehlo.compare LT, %k, %near : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "        stablehlo.return %go : tensor<i1>\n"
      "      } do {\n"
      "        %v = stablehlo.add %u, %far : tensor<i32>\n"
      "        %l = stablehlo.add %k, %one : tensor<i32>\n"
      "        stablehlo.return %l, %v : tensor<i32>, tensor<i32>\n"
      "      }\n"
      "      stablehlo.return %t#1 : tensor<i32>\n"
      "    }, {\n"
      "      stablehlo.return %near : tensor<i32>\n"
      "    }) : (tensor<i1>) -> tensor<i32>\n"
      "    stablehlo.return %near, %s : tensor<i32>, tensor<i32>\n"
      "  }\n"
      "  return %r#0, %r#1 : tensor<i32>, tensor<i32>\n"
      "}\n";
  GIVES(text, "( s32[] 3, s32[] 24 )", "3", "true", "2");  // (1 + 2 + 3) 2*2
  GIVES(text, "( s32[] 3, s32[] 3 )", "3", "false", "2");
}

TEST(while_without_operands) {
  GIVES("func.func @main(%a: tensor<i32>) -> tensor<i32> {\n"
        "  %no = stablehlo.constant dense<false> : tensor<i1>\n"
        "  \"stablehlo.while\"() ({\n"
        "    stablehlo.return %no : tensor<i1>\n"
        "  }, {\n"
        "    stablehlo.return\n"
        "  }) : () -> ()\n"
        "  return %a : tensor<i32>\n"
        "}\n",
        "s32[] 8", "8");
  GIVES("func.func @main(%p: tensor<i1>, %a: tensor<i32>) -> tensor<i32> {\n"
        "  \"stablehlo.while\"() ({\n"
        "    stablehlo.return %p : tensor<i1>\n"
        "  }, {\n"
        "    stablehlo.return\n"
        "  }) : () -> ()\n"
        "  return %a : tensor<i32>\n"
        "}\n",
        "s32[] 8", "false", "8");
}

TEST(constants_in_bodies) {
  GIVES("func.func @main(%x: tensor<3xi32>) -> tensor<i32> {\n"
        "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
        "  %two = stablehlo.constant dense<2> : tensor<i32>\n"
        "  %r = \"stablehlo.reduce\"(%x, %zero) <{dimensions = array<i64: 0>}> ({\n"
        "  ^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
        "    %t = stablehlo.maximum %b, %two : tensor<i32>\n"
        "    %s = stablehlo.maximum %a, %t : tensor<i32>\n"
        "    stablehlo.return %s : tensor<i32>\n"
        "  }) : (tensor<3xi32>, tensor<i32>) -> tensor<i32>\n"
        "  return %r : tensor<i32>\n"
        "}\n",
        "s32[] 2", "{1, 0, -3}");
}

// The body of a manual computation stands in the function around it, and sees its values.
TEST(manual_computation) {
  GIVES("module {\n"
        "sdy.mesh @mesh = <[\"a\"=1]>\n"
        "func.func @main(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {\n"
        "  %c = stablehlo.constant dense<10> : tensor<2xi32>\n"
        "  %r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}]>] out_shardings=[<@mesh, [{\"a\"}]>] "
        "manual_axes={\"a\"} (%z: tensor<2xi32>) {\n"
        "    %s = stablehlo.multiply %z, %c : tensor<2xi32>\n"
        "    %t = stablehlo.add %s, %y : tensor<2xi32>\n"
        "    sdy.return %t : tensor<2xi32>\n"
        "  } : (tensor<2xi32>) -> tensor<2xi32>\n"
        "  return %r : tensor<2xi32>\n"
        "}\n"
        "}\n",
        "s32[2] {13, 24}", "{1, 2}", "{3, 4}");
}

// Functions ------------------------------------------------------------------------------------------------------------

// @two is used before it is defined, has two results, and calls another.
TEST(calls) {
  GIVES("func.func @main(%a: tensor<i32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i32>) {\n"
        "  %r:2 = call @two(%a, %b) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)\n"
        "  %s = call @one(%r#0) : (tensor<i32>) -> tensor<i32>\n"
        "  return %s, %r#1 : tensor<i32>, tensor<i32>\n"
        "}\n"
        "func.func private @two(%a: tensor<i32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i32>) {\n"
        "  %m = call @one(%a) : (tensor<i32>) -> tensor<i32>\n"
        "  return %b, %m : tensor<i32>, tensor<i32>\n"
        "}\n"
        "func.func private @one(%a: tensor<i32>) -> tensor<i32> {\n"
        "  %n = stablehlo.negate %a : tensor<i32>\n"
        "  return %n : tensor<i32>\n"
        "}\n",
        "( s32[] -4, s32[] -3 )", "3", "4");
}

// A function of any name is the entry if it is the only one; results may be arguments, twice, or none.
TEST(entries) {
  GIVES("func.func @f(%a: tensor<i32>) -> (tensor<i32>, tensor<i32>) {\n"
        "  return %a, %a : tensor<i32>, tensor<i32>\n"
        "}\n",
        "( s32[] 3, s32[] 3 )", "3");
  GIVES_ALONE("func.func @main() {\n  return\n}\n", "(  )");
  GIVES("func.func @main(%a: tensor<0x3xf32>) -> tensor<0x3xf32> {\n  return %a : tensor<0x3xf32>\n}\n",
        "f32[0,3] {  }", "{}");
}

TEST(tokens) {
  GIVES("func.func @main(%a: tensor<i32>) -> tensor<i32> {\n"
        "  %t = stablehlo.create_token : !stablehlo.token\n"
        "  %u = stablehlo.after_all %t, %t : !stablehlo.token\n"
        "  return %a : tensor<i32>\n"
        "}\n",
        "s32[] 3", "3");
}

// A chain of functions is imported, written and read without recursion over the calls.
TEST(many_functions) {
  enum { COUNT = 20000 };
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL, *again = NULL;
  indim_buffer text, out;
  indim_buffer_init(&text, cx);
  indim_buffer_init(&out, cx);
  indim_buffer_text(&text, "func.func @main(%a: tensor<i32>) -> tensor<i32> {\n"
                           "  %r = call @f0(%a) : (tensor<i32>) -> tensor<i32>\n  return %r : tensor<i32>\n}\n");
  for (int i = 0; i < COUNT; i++) {
    indim_buffer_printf(&text, "func.func private @f%d(%%a: tensor<i32>) -> tensor<i32> {\n", i);
    if (i + 1 < COUNT) {
      indim_buffer_printf(&text, "  %%r = call @f%d(%%a) : (tensor<i32>) -> tensor<i32>\n", i + 1);
    }
    indim_buffer_printf(&text, "  return %s : tensor<i32>\n}\n", i + 1 < COUNT ? "%r" : "%a");
  }
  CHECK_OK(cx, read(cx, (indim_str){text.data, text.size}, &module));
  if (module != NULL) {
    CHECK_EQ_INT(indim_module_computation_count(module), COUNT + 1);
    CHECK_OK(cx, write(cx, module, true, &out));
    CHECK_OK(cx, read(cx, (indim_str){out.data, out.size}, &again));
    CHECK(again != NULL && indim_module_computation_count(again) == COUNT + 1);
  }
  indim_module_destroy(again);
  indim_module_destroy(module);
  indim_buffer_deinit(&text);
  indim_buffer_deinit(&out);
  test_cx_free(cx);
}

// Moving and folding ---------------------------------------------------------------------------------------------------

// Dimensions out of order, and of size 1 that stretch.
TEST(broadcasts) {
  GIVES("func.func @main(%a: tensor<3x2xi32>) -> tensor<2x3xi32> {\n"
        "  %r = stablehlo.broadcast_in_dim %a, dims = [1, 0] : (tensor<3x2xi32>) -> tensor<2x3xi32>\n"
        "  return %r : tensor<2x3xi32>\n}\n",
        "s32[2,3] { { 1, 3, 5 }, { 2, 4, 6 } }", "{{1, 2}, {3, 4}, {5, 6}}");
  GIVES("func.func @main(%a: tensor<3x1xi32>) -> tensor<2x2x3xi32> {\n"
        "  %r = stablehlo.broadcast_in_dim %a, dims = [2, 0] : (tensor<3x1xi32>) -> tensor<2x2x3xi32>\n"
        "  return %r : tensor<2x2x3xi32>\n}\n",
        "s32[2,2,3] { { { 1, 2, 3 }, { 1, 2, 3 } }, { { 1, 2, 3 }, { 1, 2, 3 } } }", "{{1}, {2}, {3}}");
  GIVES("func.func @main(%a: tensor<2xi32>) -> tensor<2x2xi32> {\n"
        "  %r = \"stablehlo.broadcast\"(%a) <{broadcast_sizes = array<i64: 2>}> : (tensor<2xi32>) -> tensor<2x2xi32>\n"
        "  return %r : tensor<2x2xi32>\n}\n",
        "s32[2,2] { { 1, 2 }, { 1, 2 } }", "{1, 2}");
}

TEST(sort_along_the_last) {
  GIVES("func.func @main(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {\n"
        "  %r = \"stablehlo.sort\"(%a) <{dimension = -1 : i64}> ({\n"
        "  ^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
        "    %c = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "    stablehlo.return %c : tensor<i1>\n"
        "  }) : (tensor<2x3xi32>) -> tensor<2x3xi32>\n"
        "  return %r : tensor<2x3xi32>\n}\n",
        "s32[2,3] { { 1, 2, 3 }, { 4, 5, 6 } }", "{{3, 1, 2}, {6, 5, 4}}");
}

TEST(sizes) {
  GIVES("func.func @main(%a: tensor<4x7xi32>) -> tensor<i32> {\n"
        "  %r = stablehlo.get_dimension_size %a, dim = 1 : (tensor<4x7xi32>) -> tensor<i32>\n"
        "  return %r : tensor<i32>\n}\n",
        "s32[] 7", "{{1,2,3,4,5,6,7},{1,2,3,4,5,6,7},{1,2,3,4,5,6,7},{1,2,3,4,5,6,7}}");
}

// Main's arguments and results, custom calls: as HLO text ---------------------------------------------------------------

// The module's HLO text holds each of |parts|, also after it was written as both forms and read again.
static void says(const char *text, const char *const *parts) {
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  CHECK_OK(cx, read(cx, indim_str_of(text), &module));
  for (int turn = 0; turn < 3 && module != NULL; turn++) {
    indim_buffer hlo, bytes;
    indim_module *next = NULL;
    indim_buffer_init(&hlo, cx);
    indim_buffer_init(&bytes, cx);
    indim_module_print(module, 0, &hlo);
    indim_buffer_char(&hlo, '\0');
    for (int i = 0; hlo.status == INDIM_OK && parts[i] != NULL; i++) {
      CHECK_MSG(strstr(hlo.data, parts[i]) != NULL, "turn %d: there is no %s in\n%s", turn, parts[i], hlo.data);
    }
    if (turn < 2) {
      CHECK_OK(cx, write(cx, module, turn == 1, &bytes));
      CHECK_OK(cx, read(cx, (indim_str){bytes.data, bytes.size}, &next));
    }
    indim_module_destroy(module);
    module = next;
    indim_buffer_deinit(&bytes);
    indim_buffer_deinit(&hlo);
  }
  indim_module_destroy(module);
  test_cx_free(cx);
}
#define SAYS(text, ...) says(text, (const char *const[]){__VA_ARGS__, NULL})

TEST(signature) {
  SAYS("func.func @main(%a: tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\", tf.aliasing_output = 1 : i32}, "
       "%b: tensor<2x3xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}, tensor<2x3xf32>) {\n"
       "  return %b, %a : tensor<2x3xf32>, tensor<2x3xf32>\n}\n",
       "entry_computation_layout={(f32[2,3]{0,1}, f32[2,3]{1,0})->(f32[2,3]{0,1}, f32[2,3]{1,0})}",
       "input_output_alias={ {1}: (0, {}, may-alias) }");
  SAYS("func.func @main(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<2xf32> {mhlo.layout_mode = "
       "\"default\"}) {\n  return %a : tensor<2xf32>\n}\n",
       "input_output_alias={ {}: (0, {}, may-alias) }");
}

TEST(donors) {
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  indim_buffer hlo;
  indim_buffer_init(&hlo, cx);
  CHECK_OK(cx, read(cx,
                    indim_str_of("func.func @main(%a: tensor<2xf32> {jax.buffer_donor = true}, %b: tensor<2xf32>, "
                                 "%c: tensor<2xf32> {jax.buffer_donor = true}) -> tensor<2xf32> {\n"
                                 "  return %b : tensor<2xf32>\n}\n"),
                    &module));
  if (module != NULL) {
    indim_module_print(module, 0, &hlo);
    indim_buffer_char(&hlo, '\0');
    CHECK(hlo.status == INDIM_OK && strstr(hlo.data, "buffer_donor={ (0, {}), (2, {}) }") != NULL);
  }
  indim_buffer_deinit(&hlo);
  indim_module_destroy(module);
  test_cx_free(cx);
}

TEST(custom_calls) {
  SAYS("func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {\n"
       "  %r:2 = stablehlo.custom_call @f(%a, %b) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : "
       "tensor<1xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], "
       "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, "
       "operand_tuple_indices = []>], has_side_effect = true, backend_config = \"x=1\", api_version = 2 : i32} : "
       "(tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)\n"
       "  return %r#0, %r#1 : tensor<2x3xf32>, tensor<3xf32>\n}\n",
       "operand_layout_constraints={f32[2,3]{0,1}, f32[3]{0}}", "custom_call_has_side_effect=true",
       "output_to_operand_aliasing={{1}: (1, {})}", "backend_config=\"x=1\"",
       "api_version=API_VERSION_STATUS_RETURNING", "(f32[2,3]{1,0}, f32[3]{0}) custom-call(");
  SAYS("func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
       "  %r = stablehlo.custom_call @f(%a) {api_version = 4 : i32, backend_config = {k = 1 : i32, s = \"t\", "
       "b = true}, result_layouts = [dense<[0, 1]> : tensor<2xindex>], operand_layouts = [dense<[0, 1]> : "
       "tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
       "  return %r : tensor<2x3xf32>\n}\n",
       "f32[2,3]{0,1} custom-call(", "operand_layout_constraints={f32[2,3]{0,1}}", "api_version=API_VERSION_TYPED_FFI",
       "b = true");
  // A result that is a tuple, as JAX wrote several in 2023: the layouts are those of its members.
  SAYS("func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
       "  %r = stablehlo.custom_call @f(%a) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = "
       "[dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<2x3xf32>) -> "
       "tuple<tensor<2x3xf32>, tensor<3xf32>>\n"
       "  %m = stablehlo.get_tuple_element %r[0] : (tuple<tensor<2x3xf32>, tensor<3xf32>>) -> tensor<2x3xf32>\n"
       "  return %m : tensor<2x3xf32>\n}\n",
       "(f32[2,3]{0,1}, f32[3]{0}) custom-call(");
}

// HLO that no StableHLO becomes: fusions, bitcasts, constant tuples, a called function named main.
TEST(written_hlo) {
  GIVES("HloModule m\nmain {\n  a = s32[] parameter(0)\n  ROOT n = s32[] negate(a)\n}\n"
        "f {\n  a = s32[2,3]{1,0} parameter(0)\n  b = s32[6]{0} bitcast(a)\n  ROOT c = s32[6]{0} add(b, b)\n}\n"
        "ENTRY e {\n  a = s32[2,3]{1,0} parameter(0)\n  i = s32[] parameter(1)\n"
        "  f = s32[6]{0} fusion(a), kind=kLoop, calls=f\n  k = s32[] call(i), to_apply=main\n"
        "  t = (s32[], (s32[2]{0})) constant((7, ({8, 9})))\n  g = (s32[2]{0}) get-tuple-element(t), index=1\n"
        "  h = s32[2]{0} get-tuple-element(g), index=0\n"
        "  ROOT r = (s32[6]{0}, s32[], s32[2]{0}) tuple(f, k, h)\n}\n",
        "( s32[6] {2, 4, 6, 8, 10, 12}, s32[] -5, s32[2] {8, 9} )", "{{1, 2, 3}, {4, 5, 6}}", "5");
  SAYS("HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  s = u64[2]{0} parameter(2)\n"
       "  u = f32[2,3]{1,0} rng(a, b), distribution=rng_uniform\n  n = f32[4]{0} rng(a, b), distribution=rng_normal\n"
       "  g = (u64[2]{0}, u32[5]{0}) rng-bit-generator(s), algorithm=rng_philox\n"
       "  k = (f32[2,2]{1,0}, s32[2,2]{1,0}) topk(u), k=2, largest=true\n  x = f32[4]{0} erf(n)\n"
       "  ROOT t = (f32[4]{0}, (u64[2]{0}, u32[5]{0}), (f32[2,2]{1,0}, s32[2,2]{1,0})) tuple(x, g, k)\n}\n",
       "distribution=rng_uniform", "distribution=rng_normal", "algorithm=rng_philox", "k=2, largest=true", " erf(");
}

// The names of places keep their bytes, though HLO's metadata= has them with escapes.
TEST(places) {
  const char *text =
      "func.func @main(%a: tensor<i32>) -> tensor<i32> {\n"
      "  %x = stablehlo.negate %a : tensor<i32> loc(\"a\\01\\\\ \\\"source_line=7/b\"(\"f\\0A.py\":3:1))\n"
      "  return %x : tensor<i32>\n}\n";
  indim_ctx *cx = test_cx_new();
  indim_vhlo_program *program = NULL;
  indim_module *module = NULL;
  CHECK_OK(cx, read(cx, indim_str_of(text), &module));
  if (module != NULL) {
    CHECK_OK(cx, indim_vhlo_export(cx, module, true, &program));
  }
  if (program != NULL) {
    const indim_vhlo_location *location = program->functions[0]->regions[0]->ops[0]->location;
    REQUIRE(location != NULL);
    CHECK(indim_str_is(location->name, "a\001\\ \"source_line=7/b"));
    CHECK(indim_str_is(location->file, "f\n.py"));
    CHECK_EQ_INT(location->line, 3);
  }
  indim_vhlo_program_destroy(program);
  indim_module_destroy(module);
  test_cx_free(cx);
}

// Refusals --------------------------------------------------------------------------------------------------------------

TEST(refused_programs) {
  refuses("module {}\n", 0, "the program has no function @main");
  refuses("func.func private @a() {\n  return\n}\nfunc.func private @b() {\n  return\n}\n", 0,
          "the program has no function @main");
  refuses("func.func @main() {\n  return\n}\nfunc.func @main() {\n  return\n}\n", 4, "@main");
  refuses("func.func @main() {\n  call @main() : () -> ()\n  return\n}\n", 2, "@main calls itself");
  refuses("func.func @main() {\n  call @f() : () -> ()\n  return\n}\n"
          "func.func private @f() {\n  call @g() : () -> ()\n  return\n}\n"
          "func.func private @g() {\n  call @f() : () -> ()\n  return\n}\n",
          10, "@f calls itself");
  refuses("module attributes {mhlo.num_partitions = 2 : i32} {\nfunc.func @main() {\n  return\n}\n}\n", 0,
          "the program is for 2 devices (mhlo.num_partitions)");
  refuses("func.func @main(%a: tensor<i32>) {\n  call @f(%a) : (tensor<i32>) -> ()\n  return\n}\n"
          "func.func private @f() {\n  return\n}\n",
          2, "@f takes 0 arguments, here are 1");
  refuses("func.func @main(%a: tensor<i32> {tf.aliasing_output = 1 : i32}) -> tensor<i32> {\n"
          "  return %a : tensor<i32>\n}\n",
          1, "argument 0 gives its buffer to result 1 of 1");
  refuses("func.func @main(%a: tensor<i32> {tf.aliasing_output = 0 : i32}, %b: tensor<i32> {tf.aliasing_output = 0 : "
          "i32}) -> tensor<i32> {\n  return %a : tensor<i32>\n}\n",
          1, "argument 1 gives its buffer to result 0, which has that of another argument");
  refuses("func.func @main(%a: tensor<2xi32> {tf.aliasing_output = 0 : i32}, %b: tensor<i32>) -> tensor<i32> {\n"
          "  return %b : tensor<i32>\n}\n",
          1, "argument 0 is tensor<2xi32> and gives its buffer to result 0, which is tensor<i32>");
  refuses("func.func @main(%a: tensor<2x3xf32> {mhlo.layout_mode = \"{0,0}\"}) {\n  return\n}\n", 1, "{0,0}");
}

// Names of aliases where no definition is, and aliases used twice: reading goes on behind them, not at the definition again.
TEST(aliases) {
  refuses("#a = loc(\"x\")\nmodule {}\n#a\n", 3, "expected a function or a module, or an alias on a line of its own");
  refuses("#a = loc(\"x\")\nmodule {}\n#a loc\n", 3, "expected a function or a module");
  GIVES("func.func @main(%a: !t, %b: !t) -> !t attributes {x = #b, y = #b} {\n  return %b : !t\n}\n"
        "#a = 1 : i32\n#b = #a\n!t = tensor<i32>\n",
        "s32[] 4", "3", "4");
}

TEST(refused_types) {
  refuses("func.func @main(%a: tensor<?xf32>) {\n  return\n}\n", 1, "tensor<?xf32> has a size that is not known");
  refuses("func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {\n  return\n}\n", 1,
          "has elements that HLO has no type for");
  refuses("func.func @main(%a: tensor<2xindex>) {\n  return\n}\n", 1,
          "tensor<2xindex> has elements that HLO has no type for");
}

TEST(refused_ops) {
  refuses("func.func @main(%a: tensor<f32>, %t: !stablehlo.token) {\n"
          "  %r = \"stablehlo.outfeed\"(%a, %t) <{outfeed_config = \"\"}> : (tensor<f32>, !stablehlo.token) -> "
          "!stablehlo.token\n  return\n}\n",
          2, "there is nobody to exchange data with while the program runs");
  refuses("func.func @main(%a: tensor<2xf32>, %n: tensor<1xi32>) {\n"
          "  %r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>\n  return\n}\n",
          2, "a size that is not known before the run");
  refuses("func.func @main(%a: tensor<2xf32>, %n: tensor<2xi32>) {\n"
          "  %r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xi32>) -> tensor<2xf32>\n  return\n}\n",
          2, "the sizes are not a list of 1");
  refuses(
      "func.func @main(%a: tensor<2xf32>, %f: tensor<f32>, %n: tensor<1xi32>) {\n"
      "  %r = stablehlo.dynamic_pad %a, %f, %n, %n, %n : (tensor<2xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, "
      "tensor<1xi32>) -> tensor<4xf32>\n  return\n}\n",
      2, "operand 2 is not known before the run");
  refuses("func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) {\n"
          "  %r = \"stablehlo.reduce\"(%a, %b) <{dimensions = array<i64: 0>}> ({\n"
          "  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
          "    %s = stablehlo.add %x, %b : tensor<f32>\n"
          "    stablehlo.return %s : tensor<f32>\n"
          "  }) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>\n  return\n}\n",
          2, "its region uses a value of the program around it that is no constant");
  refuses("func.func @main(%a: tensor<f32>, %b: tensor<f32>) {\n"
          "  %r = \"stablehlo.optimization_barrier\"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
          "  return\n}\n",
          2, "2 operands, but 1 results");
  refuses("func.func @main(%a: tensor<4xf32>, %b: tensor<f32>) {\n"
          "  %r = stablehlo.custom_call @ApproxTopK(%a, %b) : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>\n"
          "  return\n}\n",
          2, "ApproxTopK takes as many inputs");
  refuses("func.func @main(%a: tensor<4xf32>) {\n"
          "  %r = stablehlo.custom_call @f(%a) {called_computations = [@g]} : (tensor<4xf32>) -> tensor<2xf32>\n"
          "  return\n}\n",
          2, "there is no function @g");
  refuses("func.func @main(%a: tensor<4xf32>) {\n"
          "  %r = stablehlo.custom_call @f(%a) {operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = "
          "[dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<3xf32>>\n  return\n}\n",
          2, "result_layouts has 1 entries for 2");
  refuses("func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) {\n"
          "  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, "
          "rhs_precision_type = f32, accumulation_type = f64, lhs_component_count = 1, rhs_component_count = 1, "
          "num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> "
          "tensor<2x2xf32>\n  return\n}\n",
          2, "HLO has no algorithm of f32 by f32 into f64 with 1 operations");
}

// Values that a program in memory, but no text or artifact, can use where they are not.
TEST(values_from_nowhere) {
  const char *text = "func.func @main(%a: tensor<i32>) -> tensor<i32> {\n"
                     "  %x = stablehlo.negate %a : tensor<i32>\n"
                     "  %y = stablehlo.negate %x : tensor<i32>\n"
                     "  return %y : tensor<i32>\n}\n";
  indim_ctx *cx = test_cx_new();
  indim_vhlo_program *program = NULL;
  indim_module *module = NULL;
  CHECK_OK(cx, indim_vhlo_read_text(cx, indim_str_of("p"), indim_str_of(text), &program));
  if (program != NULL) {
    const indim_vhlo_region *body = program->functions[0]->regions[0];
    body->ops[0]->operands[0] = body->ops[1]->results[0];
    CHECK_FAILS(cx, indim_vhlo_import(cx, program, &module), INDIM_INVALID,
                "operand 0 is a value that cannot be used here");
    CHECK(module == NULL);
  }
  indim_vhlo_program_destroy(program);
  test_cx_free(cx);
}

#define CASES(X)                    \
  X(captures_of_branches)           \
  X(sizes_as_operands)              \
  X(captures_through_three_regions) \
  X(while_without_operands)         \
  X(constants_in_bodies)            \
  X(manual_computation)             \
  X(calls)                          \
  X(entries)                        \
  X(tokens)                         \
  X(many_functions)                 \
  X(broadcasts)                     \
  X(sort_along_the_last)            \
  X(sizes)                          \
  X(signature)                      \
  X(donors)                         \
  X(custom_calls)                   \
  X(written_hlo)                    \
  X(places)                         \
  X(refused_programs)               \
  X(aliases)                        \
  X(refused_types)                  \
  X(refused_ops)                    \
  X(values_from_nowhere)
TEST_MAIN(CASES)
