// HLO text: every kind of attribute printed as it is read, the flags of the printer, what is left out as default, and
// several errors of one text with their places.
#include "indim/text.h"

#include "literal_test.h"

// Reads |text| and checks that it prints as |expected| with |flags|.
static void prints(const char *text, unsigned flags, const char *expected) {
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  indim_buffer out;
  indim_buffer_init(&out, cx);
  CHECK_MSG(indim_module_parse(cx, indim_str_of("t"), indim_str_of(text), &module) == INDIM_OK, "%s", test_message(cx));
  indim_module_print(module, flags, &out);
  CHECK_EQ_STR(out.data, expected);
  indim_buffer_deinit(&out);
  indim_module_destroy(module);
  test_cx_free(cx);
}

#define SAME(text) prints(text, 0, text)

TEST(windows_slices_padding) {
  SAME("HloModule m, entry_computation_layout={(f32[4,6]{1,0})->f32[2,3]{1,0}}\n\n"
       "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n"
       "ENTRY e {\n  x = f32[4,6]{1,0} parameter(0)\n  z = f32[] constant(-0)\n"
       "  w = f32[6,2]{1,0} reduce-window(x, z), window={size=2x2 stride=1x2 pad=0_0x1_0 lhs_dilate=2x1 "
       "rhs_dilate=1x2}, "
       "to_apply=add\n"
       "  p = f32[7,9]{1,0} pad(x, z), padding=1_2_0x0_-2_1\n"
       "  ROOT s = f32[2,3]{1,0} slice(x), slice={[0:4:2], [0:6:2]}\n}\n");
}

TEST(defaults_are_left_out) {
  prints("HloModule m\n\nENTRY e {\n  x = f32[1,8,8,4] parameter(0)\n  k = f32[3,3,4,5] parameter(1)\n"
         "  ROOT c = f32[1,8,8,5] convolution(x, k), window={size=3x3 pad=1_1x1_1 stride=1x1 rhs_reversal=0x1}, "
         "dim_labels=b01f_01io->b01f, feature_group_count=1, batch_group_count=1, "
         "operand_precision={default,default}\n}\n",
         0,
         "HloModule m, entry_computation_layout={(f32[1,8,8,4]{3,2,1,0}, "
         "f32[3,3,4,5]{3,2,1,0})->f32[1,8,8,5]{3,2,1,0}}\n\n"
         "ENTRY e {\n  x = f32[1,8,8,4]{3,2,1,0} parameter(0)\n  k = f32[3,3,4,5]{3,2,1,0} parameter(1)\n"
         "  ROOT c = f32[1,8,8,5]{3,2,1,0} convolution(x, k), window={size=3x3 pad=1_1x1_1 rhs_reversal=0x1}, "
         "dim_labels=b01f_01io->b01f\n}\n");
  prints("HloModule m\n\nlt {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n"
         "  ROOT c = pred[] compare(a, b), direction=LT\n}\n\nENTRY e {\n  x = s32[4] parameter(0)\n"
         "  ROOT s = s32[4] sort(x), dimensions={0}, is_stable=false, to_apply=lt\n}\n",
         0,
         "HloModule m, entry_computation_layout={(s32[4]{0})->s32[4]{0}}\n\nlt {\n  a = s32[] parameter(0)\n"
         "  b = s32[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=LT\n}\n\nENTRY e {\n"
         "  x = s32[4]{0} parameter(0)\n  ROOT s = s32[4]{0} sort(x), dimensions={0}, to_apply=lt\n}\n");
}

TEST(kept_as_written) {
  SAME("HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, "
       "entry_computation_layout={(f32[2]{0})->f32[2]{0}}, replica_count=2, num_partitions=4, "
       "frontend_attributes={a=\"b\"}\n\n"
       "ENTRY e {\n  x = f32[2]{0} parameter(0), parameter_replication={true}, sharding={replicated}\n"
       "  y = f32[2]{0} negate(x), frontend_attributes={k=\"v\"}, statistics={}\n"
       "  ROOT z = f32[2]{0} exponential(y), result_accuracy={mode=highest}, control-predecessors={x}, "
       "backend_config=\"a\\n\\t\\\\\\\"\\'\\303\\251\"\n}, execution_thread=\"side\"\n");
  SAME("HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n\n"
       "ENTRY e {\n  x = f32[2]{0} parameter(0)\n"
       "  c = f32[2]{0} custom-call(x), custom_call_target=\"f\", operand_layout_constraints={f32[2]{0}}, "
       "custom_call_has_side_effect=true, literal=s32[3]{0} {1, 2, 3}, api_version=API_VERSION_TYPED_FFI, "
       "backend_config={uplo = 76 : ui8}\n"
       "  p = f32[2]{0} collective-permute(c), channel_id=1, source_target_pairs={{0,1},{1,0}}\n"
       "  ROOT g = f32[2]{0} all-to-all(p), replica_groups=[2,1]<=[2], dimensions={0}\n}\n");
  SAME("HloModule m, entry_computation_layout={(f32[3,2]{1,0}, f32[2]{0}, f32[2]{0}, f32[2]{0}, "
       "f32[2]{0})->f32[3,2]{1,0}}\n\n"
       "ENTRY e {\n  x = f32[3,2]{1,0} parameter(0)\n  s = f32[2]{0} parameter(1)\n  o = f32[2]{0} parameter(2)\n"
       "  n = f32[2]{0} parameter(3)\n  v = f32[2]{0} parameter(4)\n"
       "  ROOT b = f32[3,2]{1,0} batch-norm-inference(x, s, o, n, v), epsilon=0.001, feature_index=1\n}\n");
  SAME("HloModule m, entry_computation_layout={(f32[2]{0}, token[])->token[]}\n\n"
       "ENTRY e {\n  x = f32[2]{0} parameter(0)\n  t = token[] parameter(1)\n"
       "  ROOT o = token[] outfeed(x, t), outfeed_shape=f32[2]{0}, outfeed_config=\"c\"\n}\n");
  SAME("HloModule m, entry_computation_layout={(s32[], f32[])->f32[]}\n\nneg {\n  x = f32[] parameter(0)\n"
       "  ROOT y = f32[] negate(x)\n}\n\nENTRY e {\n  i = s32[] parameter(0)\n  x = f32[] parameter(1)\n"
       "  ROOT c = f32[] conditional(i, x, x), branch_computations={neg, neg}\n}\n");
  SAME("HloModule m, entry_computation_layout={(f32[4]{0})->(f32[2]{0}, s32[2]{0})}\n\nENTRY e {\n"
       "  x = f32[4]{0} parameter(0)\n  ROOT t = (f32[2]{0}, s32[2]{0}) topk(x), k=2, largest=true\n}\n");
}

TEST(flags) {
  const char *text = "HloModule m\n\nFileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"
                     "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n\nStackFrames\n"
                     "1 {file_location_id=1 parent_frame_id=1}\n\n"
                     "ENTRY e {\n  x = s32[] parameter(0), metadata={op_name=\"x\"}\n"
                     "  c = s32[11] constant({0,1,2,3,4,5,6,7,8,9,10})\n  %nan = s32[] negate(x)\n"
                     "  ROOT t = (s32[11], s32[]) tuple(c, %nan)\n}\n";
  prints(text, INDIM_PRINT_ELIDE_CONSTANTS | INDIM_PRINT_PROGRAM_SHAPES,
         "HloModule m, entry_computation_layout={(s32[])->(s32[11]{0}, s32[])}\n\n"
         "ENTRY e (x: s32[]) -> (s32[11], s32[]) {\n  x = s32[] parameter(0)\n  c = s32[11]{0} constant({...})\n"
         "  %nan = s32[] negate(x)\n  ROOT t = (s32[11]{0}, s32[]) tuple(c, %nan)\n}\n");
  prints(
      text, INDIM_PRINT_METADATA | INDIM_PRINT_PERCENT,
      "HloModule m, entry_computation_layout={(s32[])->(s32[11]{0}, s32[])}\n\nFileNames\n1 \"a.py\"\n\nFunctionNames\n"
      "1 \"f\"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n\n"
      "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
      "ENTRY %e {\n  %x = s32[] parameter(0), metadata={op_name=\"x\"}\n"
      "  %c = s32[11]{0} constant({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})\n  %nan = s32[] negate(%x)\n"
      "  ROOT %t = (s32[11]{0}, s32[]) tuple(%c, %nan)\n}\n");
}

// Three independent mistakes, three diagnostics; the use of a broken instruction is not a fourth.
TEST(several_errors) {
  const char *text = "HloModule m\n"
                     "ENTRY e {\n"
                     "  x = f32[2] parameter(0)\n"
                     "  a = f32[2] add(x, y)\n"
                     "  b = f32[2] frobnicate(x)\n"
                     "  c = f32[2] add(a, b)\n"
                     "  d = f32[2] negate(x), dimensions={0}\n"
                     "  ROOT r = f32[2] negate(c)\n"
                     "}\n";
  static const struct {
    int32_t line;
    int32_t column;
    const char *part;
  } expected[] = {{4, 21, "y does not exist"}, {5, 14, "frobnicate"}, {7, 25, "dimensions"}};
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  CHECK(indim_module_parse(cx, indim_str_of("t.hlo"), indim_str_of(text), &module) != INDIM_OK);
  CHECK(module == NULL);
  CHECK_EQ_INT((int64_t)indim_ctx_diagnostic_count(cx), 3);
  for (size_t i = 0; i < 3; i++) {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, i);
    REQUIRE(d != NULL);
    CHECK_EQ_INT(d->line, expected[i].line);
    CHECK_EQ_INT(d->column, expected[i].column);
    CHECK_MSG(strstr(d->message, expected[i].part) != NULL, "%s", d->message);
    CHECK_EQ_STR(d->source, "t.hlo");
  }
  indim_buffer out;
  indim_buffer_init(&out, cx);
  indim_diagnostic_print(indim_ctx_diagnostic_get(cx, 0), &out);
  CHECK_EQ_STR(out.data, "t.hlo:4:21: error: instruction y does not exist before this place in the computation\n"
                         "    a = f32[2] add(x, y)\n"
                         "                      ^\n");
  indim_buffer_deinit(&out);
  test_cx_free(cx);
}

// A program walked by the public functions alone, and what they answer to nothing.
TEST(a_module_is_walked) {
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  REQUIRE(indim_module_parse(
              cx, indim_str_of("t"),
              indim_str_of("HloModule m\n\nneg {\n  a = f32[] parameter(0)\n  ROOT b = f32[] negate(a)\n}\n\n"
                           "ENTRY e {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
                           "  s = f32[] subtract(y, x)\n  ROOT c = f32[] call(s), to_apply=neg\n}\n"),
              &module) == INDIM_OK);
  const indim_computation *entry = indim_module_entry(module);
  CHECK(indim_str_equal(indim_module_name(module), indim_str_of("m")));
  CHECK(indim_module_computation_count(module) == 2 && indim_module_instr_count(module) == 6);
  CHECK(indim_module_computation(module, 1) == entry && indim_module_computation(module, 2) == NULL);
  CHECK(indim_str_equal(indim_computation_name(indim_module_computation(module, 0)), indim_str_of("neg")));
  CHECK(indim_computation_instr_count(entry) == 4 && indim_computation_parameter_count(entry) == 2);
  const indim_instr *difference = indim_computation_instr(entry, 2);
  CHECK(indim_instr_op(difference) == INDIM_OP_SUBTRACT && indim_instr_operand_count(difference) == 2);
  CHECK(indim_instr_operand(difference, 0) == indim_computation_parameter(entry, 1));
  CHECK(indim_instr_operand(difference, 1) == indim_computation_parameter(entry, 0));
  CHECK(indim_instr_operand(difference, 2) == NULL && indim_instr_operand(difference, -1) == NULL);
  CHECK(indim_computation_instr(entry, 4) == NULL && indim_computation_parameter(entry, 2) == NULL);
  CHECK(indim_instr_op(indim_computation_root(entry)) == INDIM_OP_CALL);
  CHECK(indim_shape_is_scalar(indim_instr_shape(difference)));
  CHECK(indim_str_equal(indim_instr_name(difference), indim_str_of("s")));
  indim_module_destroy(module);
  test_cx_free(cx);
  CHECK(indim_module_name(NULL).size == 0 && indim_module_entry(NULL) == NULL && indim_module_instr_count(NULL) == 0);
  CHECK(indim_module_computation_count(NULL) == 0 && indim_module_computation(NULL, 0) == NULL);
  CHECK(indim_computation_name(NULL).size == 0 && indim_computation_instr_count(NULL) == 0);
  CHECK(indim_computation_instr(NULL, 0) == NULL && indim_computation_root(NULL) == NULL);
  CHECK(indim_computation_parameter_count(NULL) == 0 && indim_computation_parameter(NULL, 0) == NULL);
  CHECK(indim_instr_op(NULL) == INDIM_OP_COUNT && indim_instr_name(NULL).size == 0 && indim_instr_shape(NULL) == NULL);
  CHECK(indim_instr_operand_count(NULL) == 0 && indim_instr_operand(NULL, 0) == NULL);
}

// Words from elsewhere, small slips and files of other encodings: what is said, and the way out.
TEST(slips_have_a_way_out) {
  static const struct {
    const char *text;
    const char *message;
    const char *hint;
  } cases[] = {
      {"ENTRY e { x = float32[2] parameter(0) }", "expected a shape, found 'float32'", "the type is written f32"},
      {"ENTRY e { x = BF16[2] parameter(0) }", "expected a shape", "the type is written bf16"},
      {"ENTRY e { x = i1[2] parameter(0) }", "expected a shape", "the type is written pred"},
      {"ENTRY e { x = int[2] parameter(0) }", "expected a shape", "the type is written s32"},
      {"ENTRY e { x = thing[2] parameter(0) }", "expected a shape, found 'thing'",
       "as f32[2,3], s32[], (f32[2], token[])"},
      {"ENTRY e { x = f32[2] paramter(0) }", "unknown operation", "did you mean parameter? `indim ops` lists them all"},
      {"ENTRY e { x = f32[2] frobnicate(0) }", "unknown operation frobnicate", "`indim ops` lists them all"},
      {"ENTRY e { x = f32[2] iota(), iota_dimensions=0 }", "unexpected attribute iota_dimensions on iota",
       "did you mean iota_dimension?"},
      {"ENTRY e { }", "expected an instruction like x =", ""},
      {"\xEF\xBB\xBFHloModule m", "a byte that is no printable ASCII",
       "the text begins with a byte order mark; save it "
       "as UTF-8 without one"},
      {"\xFF\xFEH", "a byte that is no printable ASCII", "the text is UTF-16; save it as UTF-8"},
      {"module @jit_f attributes {a = 1 : i32} {}", "this is a program in MLIR, not HLO text",
       "from JAX: jax.jit(f).lower(...).as_text(\"hlo\")"},
      {"@", "this character begins no token", "a program begins with HloModule NAME, or with ENTRY NAME {"},
      {"ENTRY e { x = f32[2] \"a\033[31m\177\"(0) }", "found '\"a?[31m?\"'", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    indim_ctx *cx = test_cx_new();
    indim_module *module = NULL;
    CHECK(indim_module_parse(cx, indim_str_of("t.hlo"), indim_str_of(cases[i].text), &module) == INDIM_SYNTAX);
    const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
    REQUIRE(d != NULL);
    CHECK_MSG(strstr(d->message, cases[i].message) != NULL, "%s", d->message);
    CHECK_EQ_STR(d->hint, cases[i].hint);
    test_cx_free(cx);
  }
}

#define CASES(X)            \
  X(windows_slices_padding) \
  X(defaults_are_left_out)  \
  X(kept_as_written)        \
  X(flags)                  \
  X(several_errors)         \
  X(a_module_is_walked)     \
  X(slips_have_a_way_out)
TEST_MAIN(CASES)
