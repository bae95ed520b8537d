// Common subexpressions: how often a product is in the plan of a program.
#include <string.h>

#include "indim/compile.h"
#include "indim/text.h"
#include "test.h"

#define ADDS "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
#define PLUS "plus { u = f32[] parameter(0) v = f32[] parameter(1) ROOT w = f32[] add(u, v) }\n"
#define OTHER "other { u = f32[] parameter(0) v = f32[] parameter(1) ROOT w = f32[] multiply(u, v) }\n"
#define ENTRY "ENTRY e { x = f32[90,90] parameter(0) y = f32[90,90] parameter(1) z = f32[] constant(0)\n"
#define DOT "f32[90,90] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"

// How often |what| stands in the plan; -1 when the program does not compile.
static int count_in_plan(const char *text, const char *what) {
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  indim_executable *exe = NULL;
  int count = -1;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    return -1;
  }
  indim_buffer plan;
  indim_buffer_init(&plan, cx);
  indim_compile_options options = {.out_plan = &plan};
  if (indim_module_parse(cx, indim_str_of("p.hlo"), indim_str_of(text), &module) == INDIM_OK &&
      indim_module_verify(cx, module) == INDIM_OK && indim_compile(cx, module, &options, &exe) == INDIM_OK) {
    count = 0;
    for (const char *at = plan.data; (at = strstr(at, what)) != NULL; at++) {
      count++;
    }
  }
  indim_executable_destroy(exe);
  indim_module_destroy(module);
  indim_buffer_deinit(&plan);
  indim_ctx_destroy(cx);
  return count;
}

// A program and how often the op is computed in it.
#define PROGRAMS(X)                                                                                                    \
  X("equal products", " dot(", 1, ENTRY "p = " DOT " q = " DOT ", metadata={op_name=\"q\"} ROOT r = subtract(p, q) }") \
  X("of equal operands", " dot(", 1,                                                                                   \
    ENTRY "n = f32[90,90] sine(x) m = f32[90,90] sine(x)\n"                                                            \
          "p = f32[90,90] dot(n, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"                             \
          "q = f32[90,90] dot(m, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT r = subtract(p, q) }")    \
  X("along other dimensions", " dot(", 2,                                                                              \
    ENTRY "p = " DOT " q = f32[90,90] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"                 \
          "ROOT r = subtract(p, q) }")                                                                                 \
  X("behind a barrier", " dot(", 2,                                                                                    \
    ENTRY "p = " DOT " t = (f32[90,90], f32[90,90]) tuple(x, p) b = (f32[90,90], f32[90,90]) opt-barrier(t)\n"         \
          "c = f32[90,90] get-tuple-element(b), index=0\n"                                                             \
          "q = f32[90,90] dot(c, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT r = subtract(p, q) }")    \
  X("by equal computations", " reduce(", 1,                                                                            \
    ADDS PLUS ENTRY "p = f32[90] reduce(x, z), dimensions={0}, to_apply=add\n"                                         \
                    "q = f32[90] reduce(x, z), dimensions={0}, to_apply=plus ROOT r = divide(p, q) }")                 \
  X("by other computations", " reduce(", 2,                                                                            \
    ADDS OTHER ENTRY "p = f32[90] reduce(x, z), dimensions={0}, to_apply=add\n"                                        \
                     "q = f32[90] reduce(x, z), dimensions={0}, to_apply=other ROOT r = divide(p, q) }")

#define STEP                                                                                                       \
  "keep { ka = (f32[90,90], f32[90,90]) parameter(0) ROOT kr = f32[90,90] get-tuple-element(ka), index=0 }\n"      \
  "take { ta = (f32[90,90], f32[90,90]) parameter(0) ROOT tr = f32[90,90] get-tuple-element(ta), index=1 }\n"      \
  "go { gs = (s32[], f32[90,90]) parameter(0) gi = s32[] get-tuple-element(gs), index=0 gn = s32[] constant(99)\n" \
  "ROOT gp = pred[] compare(gi, gn), direction=LT }\n"                                                             \
  "step { s = (s32[], f32[90,90]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"                          \
  "old = f32[90,90] get-tuple-element(s), index=1 new = f32[90,90] sine(old) m = s32[] constant(50)\n"             \
  "p = pred[] compare(i, m), direction=LT o = s32[] constant(1) j = s32[] add(i, o)\n"                             \
  "both = (f32[90,90], f32[90,90]) tuple(old, new) which = s32[] convert(p)\n"
#define LOOP                                                                                           \
  "ROOT t = (s32[], f32[90,90]) tuple(j, c) }\n"                                                       \
  "ENTRY e { x = f32[90,90] parameter(0) z = s32[] constant(0) t0 = (s32[], f32[90,90]) tuple(z, x)\n" \
  "w = (s32[], f32[90,90]) while(t0), condition=go, body=step ROOT r = f32[90,90] get-tuple-element(w), index=1 }"

// A step that is rejected keeps the old value: a select, which the conditional's result is not copied for.
TEST(a_conditional_that_chooses_is_a_select) {
  if (indim_compile_available(NULL) != INDIM_OK) {
    printf("  this build has no code generator: not tested\n");
    return;
  }
  CHECK_EQ_INT(count_in_plan(STEP
                             "c = f32[90,90] conditional(which, both, both), branch_computations={keep, take}\n" LOOP,
                             " select("),
               1);
  CHECK_EQ_INT(count_in_plan(STEP "c = f32[90,90] conditional(p, both, both), true_computation=take, "
                                  "false_computation=keep\n" LOOP,
                             " select("),
               1);
}

TEST(equal_work_is_done_once) {
  if (indim_compile_available(NULL) != INDIM_OK) {
    printf("  this build has no code generator: not tested\n");
    return;
  }
#define TRY(name, op, expected, text)                                                           \
  {                                                                                             \
    int count = count_in_plan(text, op);                                                        \
    CHECK_MSG(count == (expected), "%s: %d times instead of %d", name, count, (int)(expected)); \
  }
  PROGRAMS(TRY)
}

#define CASES(X)                            \
  X(a_conditional_that_chooses_is_a_select) \
  X(equal_work_is_done_once)
TEST_MAIN(CASES)
