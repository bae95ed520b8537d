// Custom calls of functions of the caller's, in both engines: what functions get, that they are called as often as the program
// says and in its order, how they fail, and what is refused before anything runs.
#include "indim/custom_call.h"

#include <stdio.h>

#include "indim/compile.h"
#include "indim/eval.h"
#include "indim/text.h"
#include "literal_test.h"

// Programs -----------------------------------------------------------------------------------------------------------

enum { EVALUATED, COMPILED, ENGINES };

static indim_status run_module(indim_ctx *cx, const indim_module *module, const indim_literal *const *arguments,
                               int count, int engine, indim_literal **out) {
  indim_executable *executable = NULL;
  if (engine == EVALUATED) {
    return indim_eval(cx, module, arguments, count, NULL, out);
  }
  indim_status status = indim_compile(cx, module, NULL, &executable);
  if (status == INDIM_OK) {
    status = indim_execute_literals(cx, executable, arguments, count, NULL, out);
  }
  indim_executable_destroy(executable);
  return status;
}

// Runs |text| on an argument given as text, NULL for none; the result is written to |out|.
static indim_status run(indim_ctx *cx, const char *text, const char *argument, int engine, char *out, size_t room) {
  indim_module *module = NULL;
  indim_literal *in = NULL;
  indim_literal *result = NULL;
  indim_buffer printed;
  indim_buffer_init(&printed, cx);
  out[0] = '\0';
  indim_status status = indim_module_parse(cx, indim_str_of("p.hlo"), indim_str_of(text), &module);
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  if (status == INDIM_OK && argument != NULL) {
    status = indim_literal_parse(cx, indim_str_of(argument), &in);
  }
  if (status == INDIM_OK) {
    const indim_literal *arguments[] = {in};
    status = run_module(cx, module, arguments, argument != NULL, engine, &result);
  }
  if (status == INDIM_OK) {
    indim_literal_print(result, (unsigned)(INDIM_LITERAL_ONE_LINE | INDIM_LITERAL_SHAPE), &printed);
    snprintf(out, room, "%s", printed.data);
  }
  indim_literal_destroy(result);
  indim_literal_destroy(in);
  indim_module_destroy(module);
  indim_buffer_deinit(&printed);
  return status;
}

static void check_run(indim_ctx *cx, const char *text, const char *argument, const char *expected) {
  char out[1000];
  for (int engine = 0; engine < ENGINES; engine++) {
    CHECK_OK(cx, run(cx, text, argument, engine, out, sizeof out));
    CHECK_MSG(strcmp(out, expected) == 0, "engine %d gives %s, expected %s", engine, out, expected);
  }
}

static void check_fails(indim_ctx *cx, const char *text, const char *argument, indim_status status, const char *part) {
  char out[1000];
  for (int engine = 0; engine < ENGINES; engine++) {
    CHECK_FAILS(cx, run(cx, text, argument, engine, out, sizeof out), status, part);
  }
}

// Functions ----------------------------------------------------------------------------------------------------------

static indim_status twice(void *user, const indim_custom_call *call) {
  const float *x = call->operands[0].data;
  float *y = call->results[0].data;
  (void)user;
  for (int64_t i = 0; i < call->results[0].bytes / (int64_t)sizeof *y; i++) {
    y[i] = 2 * x[i];
  }
  return INDIM_OK;
}

// Notes its name and config, in the order of calls.
typedef struct journal {
  char text[1000];
  size_t size;
} journal;

static void note(journal *j, const char *text) {
  int more = snprintf(j->text + j->size, sizeof j->text - j->size, "%s;", text);
  j->size += more > 0 ? (size_t)more : 0;
}

static indim_status noting(void *user, const indim_custom_call *call) {
  note(user, call->config.data);
  for (int64_t i = 0; i < call->result_count; i++) {
    if (call->results[i].data != NULL) {
      memset(call->results[i].data, 0, (size_t)call->results[i].bytes);
    }
  }
  return INDIM_OK;
}

static void check_journal(indim_ctx *cx, const char *text, const char *argument, const char *expected) {
  char out[1000];
  for (int engine = 0; engine < ENGINES; engine++) {
    journal j = {.size = 0};
    CHECK_OK(cx, indim_register_custom_call(cx, "note", noting, &j));
    CHECK_OK(cx, run(cx, text, argument, engine, out, sizeof out));
    CHECK_MSG(strcmp(j.text, expected) == 0, "engine %d calls %s, expected %s", engine, j.text, expected);
  }
  CHECK_OK(cx, indim_register_custom_call(cx, "note", NULL, NULL));
}

static void free_cx(indim_ctx *cx) { indim_ctx_destroy(cx); }

// Arrays -------------------------------------------------------------------------------------------------------------

TEST(one_array) {
  indim_ctx *cx = test_cx_new();
  CHECK_OK(cx, indim_register_custom_call(cx, "twice", twice, NULL));
  check_run(cx,
            "ENTRY e { x = f32[3] parameter(0) y = f32[3] custom-call(x), custom_call_target=\"twice\"\n"
            "  ROOT s = f32[3] add(y, x) }",
            "f32[3] {1, 2, 3}", "f32[3] {3, 6, 9}");
  free_cx(cx);
}

// What a call gets: its texts and all of its arrays with their layouts.
static indim_status describe(void *user, const indim_custom_call *call) {
  char *out = user;
  indim_ctx *cx = test_cx_new();
  indim_buffer b;
  indim_buffer_init(&b, cx);
  indim_buffer_printf(&b, "%s %s |%s|", call->target, call->instruction, call->config.data);
  for (int64_t i = 0; i < call->operand_count + call->result_count; i++) {
    bool is_operand = i < call->operand_count;
    const indim_custom_array *a = is_operand ? &call->operands[i] : &call->results[i - call->operand_count];
    indim_buffer_text(&b, i == call->operand_count ? " ->" : "");
    indim_buffer_text(&b, " ");
    indim_shape_print(a->shape, true, &b);
    indim_buffer_printf(&b, " %d", (int)a->bytes);
    if (is_operand && a->shape->type == INDIM_F32) {
      indim_buffer_printf(&b, " %g", a->bytes > 4 ? (double)((const float *)a->data)[1] : 0.0);
    }
    if (!is_operand && a->data != NULL) {
      memset(a->data, 0, (size_t)a->bytes);
    }
  }
  snprintf(out, 1000, "%s", b.data);
  indim_buffer_deinit(&b);
  test_cx_free(cx);
  return INDIM_OK;
}

static void check_described(const char *text, const char *argument, const char *expected, const char *result) {
  indim_ctx *cx = test_cx_new();
  char out[1000];
  char described[1000];
  for (int engine = 0; engine < ENGINES; engine++) {
    described[0] = '\0';
    CHECK_OK(cx, indim_register_custom_call(cx, "describe", describe, described));
    CHECK_OK(cx, run(cx, text, argument, engine, out, sizeof out));
    CHECK_MSG(strcmp(described, expected) == 0, "engine %d:\n  %s\nexpected\n  %s", engine, described, expected);
    CHECK_EQ_STR(out, result);
  }
  free_cx(cx);
}

TEST(tuples_and_tokens_are_leaves) {
  check_described(
      "ENTRY e { x = f32[2] parameter(0) t = token[] after-all() p = (f32[2], token[]) tuple(x, t)\n"
      "  c = ((s32[2], token[]), pred[]) custom-call(p, x), custom_call_target=\"describe\", "
      "backend_config=\"some\\\"thing\"\n"
      "  g = (s32[2], token[]) get-tuple-element(c), index=0 ROOT r = s32[2] get-tuple-element(g), index=0 }",
      "f32[2] {1, 2}",
      "describe c |some\"thing| f32[2]{0} 8 2 token[] 0 f32[2]{0} 8 2 -> s32[2]{0} 8 token[] 0 pred[] 1",
      "s32[2] {0, 0}");
}

TEST(layouts_are_those_of_the_call) {
  check_described("ENTRY e { x = f32[2,3]{1,0} parameter(0)\n"
                  "  ROOT c = f32[2,3]{0,1} custom-call(x), custom_call_target=\"describe\", "
                  "operand_layout_constraints={f32[2,3]{0,1}} }",
                  "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "describe c || f32[2,3]{0,1} 24 4 -> f32[2,3]{0,1} 24",
                  "f32[2,3] { { 0, 0, 0 }, { 0, 0, 0 } }");
  check_described("ENTRY e { x = f32[2,3]{0,1} parameter(0)\n"
                  "  ROOT c = f32[2,3]{1,0} custom-call(x), custom_call_target=\"describe\" }",
                  "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "describe c || f32[2,3]{1,0} 24 2 -> f32[2,3]{1,0} 24",
                  "f32[2,3] { { 0, 0, 0 }, { 0, 0, 0 } }");
}

TEST(operands_in_layouts_of_their_own_are_copied) {
  indim_ctx *cx = test_cx_new();
  CHECK_OK(cx, indim_register_custom_call(cx, "twice", twice, NULL));
  check_run(cx,
            "ENTRY e { x = f32[2,3]{0,1:T(2,2)} parameter(0) ROOT y = f32[2,3] custom-call(x), "
            "custom_call_target=\"twice\" }",
            "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[2,3] { { 2, 4, 6 }, { 8, 10, 12 } }");
  check_fails(cx,
              "ENTRY e { x = f32[2,3] parameter(0) ROOT y = f32[2,3]{1,0:T(2,2)} custom-call(x), "
              "custom_call_target=\"twice\" }",
              "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", INDIM_UNSUPPORTED, "padded, tiled or packed");
  check_fails(cx,
              "ENTRY e { x = f32[2,3] parameter(0) ROOT y = f32[2,3] custom-call(x), custom_call_target=\"twice\",\n"
              "  operand_layout_constraints={f32[2,3]{1,0:T(2,2)}} }",
              "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", INDIM_UNSUPPORTED, "operand 0 has f32[2,3]");
  free_cx(cx);
}

// More arrays than there may be, in the result or together.
TEST(too_many_arrays) {
  indim_ctx *cx = test_cx_new();
  char text[8000] = "ENTRY e { x = f32[] parameter(0) y = (f32[]";
  CHECK_OK(cx, indim_register_custom_call(cx, "note", twice, NULL));
  for (int i = 1; i < 256; i++) {
    strcat(text, ", f32[]");
  }
  strcat(text, ") custom-call(x), custom_call_target=\"note\" ROOT r = f32[] get-tuple-element(y), index=3 }");
  check_fails(cx, text, "f32[] 1", INDIM_LIMIT, "it has more than 256 arrays");
  free_cx(cx);
}

TEST(arrays_without_elements) {
  check_described("ENTRY e { x = f32[0] parameter(0)\n"
                  "  c = (f32[3,0], s32[1]) custom-call(x), custom_call_target=\"describe\"\n"
                  "  ROOT r = s32[1] get-tuple-element(c), index=1 }",
                  "f32[0] {}", "describe c || f32[0]{0} 0 0 -> f32[3,0]{1,0} 0 s32[1]{0} 4", "s32[1] {0}");
}

TEST(no_arrays_at_all) {
  indim_ctx *cx = test_cx_new();
  check_journal(cx,
                "ENTRY e { c = () custom-call(), custom_call_target=\"note\", custom_call_has_side_effect=true,\n"
                "  backend_config=\"a\" ROOT r = f32[] constant(1) }",
                NULL, "a;");
  free_cx(cx);
}

static indim_status rotate(void *user, const indim_custom_call *call) {  // a column-major matrix as its transpose
  (void)user;
  memcpy(call->results[0].data, call->operands[0].data, (size_t)call->operands[0].bytes);
  return INDIM_OK;
}

TEST(elements_follow_the_layout) {
  indim_ctx *cx = test_cx_new();
  CHECK_OK(cx, indim_register_custom_call(cx, "rotate", rotate, NULL));
  check_run(
      cx,
      "ENTRY e { x = f32[2,3] parameter(0) ROOT c = f32[3,2]{1,0} custom-call(x), custom_call_target=\"rotate\",\n"
      "  operand_layout_constraints={f32[2,3]{0,1}} }",
      "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[3,2] { { 1, 4 }, { 2, 5 }, { 3, 6 } }");
  check_run(cx,
            "ENTRY e { x = f32[2,3] parameter(0) c = f32[3,2]{0,1} custom-call(x), custom_call_target=\"rotate\",\n"
            "  operand_layout_constraints={f32[2,3]{1,0}} ROOT n = f32[3,2] negate(c) }",
            "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[3,2] { { -1, -4 }, { -2, -5 }, { -3, -6 } }");
  free_cx(cx);
}

// Effects ------------------------------------------------------------------------------------------------------------

#define NOTE(name, operands, config, effect)                                                                       \
  "  " name " = f32[] custom-call(" operands "), custom_call_target=\"note\", custom_call_has_side_effect=" effect \
  ", backend_config=\"" config "\"\n"

static indim_status bytes_of(void *user, const indim_custom_call *call) {
  (void)user;
  memcpy(call->results[0].data, call->operands[0].data, (size_t)call->results[0].bytes);
  return INDIM_OK;
}

TEST(bits_above_narrow_elements_are_0) {
  indim_ctx *cx = test_cx_new();
  CHECK_OK(cx, indim_register_custom_call(cx, "bytes", bytes_of, NULL));
  check_run(cx,
            "ENTRY e { x = s2[4] parameter(0)\n y = s2[4] add(x, x)\n"
            "  ROOT r = u8[4] custom-call(y), custom_call_target=\"bytes\" }",
            "s2[4] {0, 1, -2, -1}", "u8[4] {0, 2, 0, 2}");
  check_run(cx,
            "ENTRY e { x = s4[3] parameter(0)\n y = s4[3] negate(x)\n"
            "  ROOT r = u8[3] custom-call(y), custom_call_target=\"bytes\" }",
            "s4[3] {0, 1, -8}", "u8[3] {0, 15, 8}");
  free_cx(cx);
}

TEST(effects_are_kept_in_order) {
  indim_ctx *cx = test_cx_new();
  check_journal(cx,
                "ENTRY e { x = f32[] parameter(0)\n" NOTE("b", "x", "1", "true") NOTE("dead", "x", "dropped", "false")
                    NOTE("a", "x", "2", "true") NOTE("c", "b", "3", "true") "  ROOT r = f32[] add(x, a) }",
                "f32[] 1", "1;2;3;");
  free_cx(cx);
}

TEST(effects_in_calls_branches_and_loops) {
  indim_ctx *cx = test_cx_new();
  static const char text[] = "f { p = f32[] parameter(0)\n" NOTE(
      "n", "p", "f",
      "true") "  ROOT z = f32[] constant(0) }\n"
              "t { p = f32[] parameter(0)\n" NOTE(
                  "n", "p", "t",
                  "true") "  ROOT k = f32[] call(p), to_apply=f }\n"
                          "u { p = f32[] parameter(0)\n" NOTE(
                              "n", "p", "u",
                              "true") "  ROOT z = f32[] constant(0) }\n"
                                      "b { p = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = "
                                      "f32[] get-tuple-element(p), index=1\n"
                                      "  o = s32[] constant(1) j = s32[] add(i, o)\n" NOTE(
                                          "n", "x", "b",
                                          "true") "  ROOT r = (s32[], f32[]) tuple(j, x) }\n"
                                                  "c { p = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(p), "
                                                  "index=0 three = s32[] constant(3)\n"
                                                  "  ROOT l = pred[] compare(i, three), direction=LT }\n"
                                                  "ENTRY e { x = f32[] parameter(0) z = s32[] constant(0) zero = f32[] "
                                                  "constant(0)\n"
                                                  "  p = pred[] compare(x, zero), direction=GT\n"
                                                  "  unused = f32[] conditional(p, x, x), true_computation=t, "
                                                  "false_computation=u\n"
                                                  "  i = (s32[], f32[]) tuple(z, x) w = (s32[], f32[]) while(i), "
                                                  "condition=c, body=b ROOT r = f32[] negate(x) }";
  check_journal(cx, text, "f32[] 1", "t;f;b;b;b;");
  check_journal(cx, text, "f32[] -1", "u;b;b;b;");
  free_cx(cx);
}

// A pure function in a loop is called in each step, and not at all where there is none.
TEST(calls_are_not_hoisted) {
  indim_ctx *cx = test_cx_new();
  static const char text[] =
      "b { p = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = f32[] get-tuple-element(p), "
      "index=1\n"
      "  o = s32[] constant(1) j = s32[] subtract(i, o) k = f32[] constant(5)\n" NOTE(
          "n", "k", "n",
          "false") "  y = f32[] add(x, n) ROOT r = (s32[], f32[]) tuple(j, y) }\n"
                   "c { p = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 z = s32[] constant(0)\n"
                   "  ROOT l = pred[] compare(i, z), direction=GT }\n"
                   "ENTRY e { i = s32[] parameter(0) x = f32[] constant(0) t = (s32[], f32[]) tuple(i, x)\n"
                   "  w = (s32[], f32[]) while(t), condition=c, body=b ROOT r = f32[] get-tuple-element(w), index=1 }";
  check_journal(cx, text, "s32[] 2", "n;n;");
  check_journal(cx, text, "s32[] 0", "");
  free_cx(cx);
}

TEST(only_the_taken_branch_is_run) {
  indim_ctx *cx = test_cx_new();
  static const char text[] = "t { p = f32[] parameter(0)\n" NOTE(
      "n", "p", "t",
      "false") "  ROOT r = f32[] add(n, p) }\n"
               "u { ROOT p = f32[] parameter(0) }\n"
               "ENTRY e { x = f32[] parameter(0) z = f32[] constant(0) p = pred[] compare(x, z), direction=GT\n"
               "  ROOT c = f32[] conditional(p, x, x), true_computation=t, false_computation=u }";
  check_journal(cx, text, "f32[] 1", "t;");
  check_journal(cx, text, "f32[] -1", "");
  free_cx(cx);
}

// An update in place moves what reads the old value before it, but no effect past another.
TEST(updates_in_place_keep_the_order) {
  indim_ctx *cx = test_cx_new();
  check_journal(cx,
                "ENTRY e { a = f32[] parameter(0) x = f32[1000] broadcast(a), dimensions={} i = s32[] constant(3) v = "
                "f32[1] constant({7})\n"
                "  y = f32[1000] dynamic-update-slice(x, v, i)\n"
                "  n1 = f32[] custom-call(y), custom_call_target=\"note\", custom_call_has_side_effect=true, "
                "backend_config=\"new\"\n"
                "  n2 = f32[] custom-call(x), custom_call_target=\"note\", custom_call_has_side_effect=true, "
                "backend_config=\"old\"\n"
                "  ROOT s = f32[1] slice(y), slice={[2:3]} }",
                "f32[] 1", "new;old;");
  free_cx(cx);
}

// Loops over the same array could be one loop, but for what is called in them.
TEST(loops_of_calls_stay_apart) {
  indim_ctx *cx = test_cx_new();
#define LOOP(name, config)                                                                           \
  name " { s = (s64[], f32[48]) parameter(0) i = s64[] get-tuple-element(s), index=0 x = f32[48] "   \
       "get-tuple-element(s), index=1 c = s64[] constant(16) at = s64[] multiply(i, c)\n"            \
       "  p = f32[16] dynamic-slice(x, at), dynamic_slice_sizes={16}\n"                              \
       "  n = f32[] custom-call(p), custom_call_target=\"note\", custom_call_has_side_effect=true, " \
       "backend_config=\"" config                                                                    \
       "\"\n  one = s64[] constant(1) j = s64[] add(i, one) ROOT r = (s64[], f32[48]) tuple(j, x) }\n"
  check_journal(
      cx,
      LOOP("first", "a") LOOP(
          "second",
          "b") "cond { s = (s64[], f32[48]) parameter(0) i = s64[] get-tuple-element(s), index=0 n = s64[] constant(3) "
               "ROOT r = pred[] compare(i, n), direction=LT }\n"
               "ENTRY e { a = f32[] parameter(0) x = f32[48] broadcast(a), dimensions={} z = s64[] constant(0)\n"
               "  t = (s64[], f32[48]) tuple(z, x) wa = (s64[], f32[48]) while(t), condition=cond, body=first\n"
               "  wb = (s64[], f32[48]) while(t), condition=cond, body=second ROOT r = f32[] negate(a) }",
      "f32[] 1", "a;a;a;b;b;b;");
#undef LOOP
  free_cx(cx);
}

// Failing ------------------------------------------------------------------------------------------------------------

static indim_status failing(void *user, const indim_custom_call *call) {
  const indim_status *status = user;
  return *status == INDIM_LIMIT ? INDIM_LIMIT
                                : indim_custom_call_fail(call, *status, "it has %d arrays", (int)call->operand_count);
}

TEST(failures_end_the_run) {
  indim_ctx *cx = test_cx_new();
  static const char text[] =
      "ENTRY e { x = f32[3] parameter(0) ROOT y = f32[3] custom-call(x), custom_call_target=\"fail\" }";
  indim_status status = INDIM_INVALID;
  CHECK_OK(cx, indim_register_custom_call(cx, "fail", failing, &status));
  check_fails(cx, text, "f32[3] {1, 2, 3}", INDIM_INVALID,
              "y (custom-call): custom-call 'fail' failed: it has 1 arrays");
  status = INDIM_INTERRUPTED;
  check_fails(cx, text, "f32[3] {1, 2, 3}", INDIM_INTERRUPTED, "custom-call 'fail' failed: it has 1 arrays");
  status = INDIM_LIMIT;
  check_fails(cx, text, "f32[3] {1, 2, 3}", INDIM_LIMIT, "custom-call 'fail' failed: it gives no reason");
  status = (indim_status)99;
  check_fails(cx, text, "f32[3] {1, 2, 3}", INDIM_INVALID, "custom-call 'fail' failed");
  free_cx(cx);
}

TEST(failures_end_loops) {
  indim_ctx *cx = test_cx_new();
  static const char text[] =
      "b { p = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = f32[] get-tuple-element(p), "
      "index=1\n"
      "  y = f32[] custom-call(x), custom_call_target=\"fail\" ROOT r = (s32[], f32[]) tuple(i, y) }\n"
      "c { p = (s32[], f32[]) parameter(0) ROOT t = pred[] constant(true) }\n"
      "ENTRY e { x = f32[] parameter(0) z = s32[] constant(0) t = (s32[], f32[]) tuple(z, x)\n"
      "  w = (s32[], f32[]) while(t), condition=c, body=b ROOT r = f32[] get-tuple-element(w), index=1 }";
  indim_status status = INDIM_INVALID;
  CHECK_OK(cx, indim_register_custom_call(cx, "fail", failing, &status));
  check_fails(cx, text, "f32[] 1", INDIM_INVALID, "y (custom-call): custom-call 'fail' failed");
  free_cx(cx);
}

// Names --------------------------------------------------------------------------------------------------------------

TEST(unknown_names_are_refused_with_the_known_ones) {
  indim_ctx *cx = test_cx_new();
  static const char text[] =
      "ENTRY e { x = f32[3] parameter(0) ROOT y = f32[3] custom-call(x), custom_call_target=\"other\" }";
  check_fails(cx, text, "f32[3] {1, 2, 3}", INDIM_UNSUPPORTED, "custom-call target 'other' is not known");
  CHECK_OK(cx, indim_register_custom_call(cx, "twice", twice, NULL));
  check_fails(cx, text, "f32[3] {1, 2, 3}", INDIM_UNSUPPORTED, "twice");
  CHECK_OK(cx, indim_register_custom_call(cx, "twice", NULL, NULL));
  CHECK_OK(cx, indim_register_custom_call(cx, "twice", NULL, NULL));
  check_fails(cx, text, "f32[3] {1, 2, 3}", INDIM_UNSUPPORTED, "custom-call target 'other' is not known");
  CHECK_FAILS(cx, indim_register_custom_call(cx, "", twice, NULL), INDIM_INVALID, "the name is empty");
  CHECK_FAILS(cx, indim_register_custom_call(cx, NULL, twice, NULL), INDIM_INVALID, "the name is empty");
  free_cx(cx);
}

TEST(the_last_registration_counts) {
  indim_ctx *cx = test_cx_new();
  static const char text[] =
      "ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] custom-call(x), custom_call_target=\"it\" }";
  CHECK_OK(cx, indim_register_custom_call(cx, "it", twice, NULL));
  CHECK_OK(cx, indim_register_custom_call(cx, "it", rotate, NULL));
  check_run(cx, text, "f32[2] {1, 2}", "f32[2] {1, 2}");
  free_cx(cx);
}

TEST(a_registered_name_goes_before_lapack) {
  static const char *const names[] = {"lapack_spotrf_ffi", "lapack_spotrf"};
  for (size_t i = 0; i < 2; i++) {
    char text[200];
    indim_ctx *cx = test_cx_new();
    snprintf(text, sizeof text,
             "ENTRY e { x = f32[1,1] parameter(0) ROOT y = f32[1,1] custom-call(x), custom_call_target=\"%s\" }",
             names[i]);
    CHECK_OK(cx, indim_register_custom_call(cx, names[i], rotate, NULL));
    check_run(cx, text, "f32[1,1] {{4}}", "f32[1,1] { {4} }");
    free_cx(cx);
  }
}

// An executable keeps the function that it was compiled with.
TEST(an_executable_keeps_its_function) {
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  indim_executable *executable = NULL;
  const float x[2] = {1, 2};
  float y[2] = {0, 0};
  const void *arguments[] = {x};
  void *results[] = {y};
  indim_run_options options = {
      .arguments = arguments, .argument_count = 1, .results = results, .result_count = 1, .cx = cx};
  indim_binding *binding = NULL;
  CHECK_OK(cx, indim_register_custom_call(cx, "it", twice, NULL));
  CHECK_OK(cx, indim_module_parse(cx, indim_str_of("p"),
                                  indim_str_of("ENTRY e { x = f32[2] parameter(0)\n"
                                               "  ROOT y = f32[2] custom-call(x), custom_call_target=\"it\" }"),
                                  &module));
  CHECK_OK(cx, indim_compile(cx, module, NULL, &executable));
  indim_module_destroy(module);
  CHECK_OK(cx, indim_register_custom_call(cx, "it", NULL, NULL));
  CHECK_OK(cx, indim_execute(executable, &options));
  CHECK(y[0] == 2 && y[1] == 4);
  CHECK_OK(cx, indim_binding_create(cx, executable, &options, &binding));
  y[0] = 0;
  CHECK_OK(cx, indim_binding_run(binding));
  CHECK(y[0] == 2 && y[1] == 4);
  indim_binding_destroy(binding);
  indim_executable_destroy(executable);
  free_cx(cx);
}

// Callbacks of Python's ----------------------------------------------------------------------------------------------

TEST(callbacks_fail_only_where_they_are_reached) {
  indim_ctx *cx = test_cx_new();
  static const char text[] =
      "t { p = f32[2] parameter(0) d = () custom-call(p), custom_call_target=\"xla_ffi_python_cpu_callback\",\n"
      "  custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, metadata={op_name=\"jit(f)/print\"},\n"
      "  backend_config={index = 0 : ui64}\n"
      "  ROOT r = f32[2] negate(p) }\n"
      "u { ROOT p = f32[2] parameter(0) }\n"
      "ENTRY e { x = f32[2] parameter(0) s = f32[1] slice(x), slice={[0:1]} q = f32[] reshape(s) z = f32[] "
      "constant(0)\n"
      "  p = pred[] compare(q, z), direction=GT\n"
      "  ROOT c = f32[2] conditional(p, x, x), true_computation=t, false_computation=u }";
  check_run(cx, text, "f32[2] {-1, 2}", "f32[2] {-1, 2}");
  check_fails(cx, text, "f32[2] {1, 2}", INDIM_UNSUPPORTED,
              "d (custom-call): custom-call 'xla_ffi_python_cpu_callback' failed");
  check_fails(cx, text, "f32[2] {1, 2}", INDIM_UNSUPPORTED, "op_name=\"jit(f)/print\"");
  journal j = {.size = 0};
  CHECK_OK(cx, indim_register_custom_call(cx, "xla_ffi_python_cpu_callback", noting, &j));
  check_run(cx, text, "f32[2] {1, 2}", "f32[2] {-1, -2}");
  CHECK_EQ_STR(j.text, "{index = 0 : ui64};{index = 0 : ui64};");
  free_cx(cx);
}

TEST(callbacks_with_tokens) {
  indim_ctx *cx = test_cx_new();
  static const char text[] =
      "t { p = (f32[2], token[]) parameter(0) x = f32[2] get-tuple-element(p), index=0\n"
      "  k = token[] get-tuple-element(p), index=1\n"
      "  d = (token[], f32[2]) custom-call(k, x), custom_call_target=\"xla_python_cpu_callback\",\n"
      "  custom_call_has_side_effect=true, api_version=API_VERSION_STATUS_RETURNING, backend_config=\"94\"\n"
      "  n = token[] get-tuple-element(d), index=0 y = f32[2] get-tuple-element(d), index=1\n"
      "  ROOT r = (f32[2], token[]) tuple(y, n) }\n"
      "u { ROOT p = (f32[2], token[]) parameter(0) }\n"
      "ENTRY e { x = f32[2] parameter(0) s = f32[1] slice(x), slice={[0:1]} q = f32[] reshape(s) z = f32[] "
      "constant(0)\n"
      "  p = pred[] compare(q, z), direction=GT k = token[] after-all() o = (f32[2], token[]) tuple(x, k)\n"
      "  c = (f32[2], token[]) conditional(p, o, o), true_computation=t, false_computation=u\n"
      "  ROOT r = f32[2] get-tuple-element(c), index=0 }";
  check_run(cx, text, "f32[2] {-1, 2}", "f32[2] {-1, 2}");
  check_fails(cx, text, "f32[2] {1, 2}", INDIM_UNSUPPORTED,
              "d (custom-call): custom-call 'xla_python_cpu_callback' failed");
  free_cx(cx);
}

#define CASES(X)                                   \
  X(one_array)                                     \
  X(tuples_and_tokens_are_leaves)                  \
  X(layouts_are_those_of_the_call)                 \
  X(operands_in_layouts_of_their_own_are_copied)   \
  X(too_many_arrays)                               \
  X(arrays_without_elements)                       \
  X(no_arrays_at_all)                              \
  X(elements_follow_the_layout)                    \
  X(bits_above_narrow_elements_are_0)              \
  X(effects_are_kept_in_order)                     \
  X(effects_in_calls_branches_and_loops)           \
  X(calls_are_not_hoisted)                         \
  X(only_the_taken_branch_is_run)                  \
  X(updates_in_place_keep_the_order)               \
  X(loops_of_calls_stay_apart)                     \
  X(failures_end_the_run)                          \
  X(failures_end_loops)                            \
  X(unknown_names_are_refused_with_the_known_ones) \
  X(the_last_registration_counts)                  \
  X(a_registered_name_goes_before_lapack)          \
  X(an_executable_keeps_its_function)              \
  X(callbacks_fail_only_where_they_are_reached)    \
  X(callbacks_with_tokens)
TEST_MAIN(CASES)
