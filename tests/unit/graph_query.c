// What callers may ask of instructions: attributes as numbers, called computations, places.
#include <string.h>

#include "indim/text.h"
#include "test.h"

static const char text[] =
    "HloModule m\n"
    "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
    "ENTRY e {\n"
    "  x = f32[4,6] parameter(0)\n"
    "  t = f32[6,4] transpose(x), dimensions={1,0}, metadata={op_name=\"jit(f)/t\" source_file=\"/a/model.py\" "
    "source_line=12}\n"
    "  s = f32[2,3] slice(x), slice={[0:4:2], [1:4]}\n"
    "  p = s32[] parameter(1)\n"
    "  z = f32[] constant(2.5)\n"
    "  r = f32[4] reduce(x, z), dimensions={1}, to_apply=sum\n"
    "  g = f32[7,4] pad(t, z), padding=0_1x0_0\n"
    "  k = pred[] compare(p, p), direction=EQ\n"
    "  w = s32[] conditional(k, p, p), true_computation={ q = s32[] parameter(0) ROOT n = s32[] negate(q) },\n"
    "    false_computation={ q2 = s32[] parameter(0) ROOT n2 = s32[] copy(q2) }\n"
    "  ROOT all = tuple(t, s, r, g, w)\n"
    "}\n";

static const indim_instr *find(const indim_module *module, const char *name) {
  const indim_computation *entry = indim_module_entry(module);
  for (int64_t i = 0; i < indim_computation_instr_count(entry); i++) {
    const indim_instr *instr = indim_computation_instr(entry, i);
    if (indim_str_equal(indim_instr_name(instr), indim_str_of(name))) {
      CHECK_EQ_INT(indim_instr_index(instr), i);
      return instr;
    }
  }
  CHECK_MSG(false, "%s", name);
  return NULL;
}

static void check_numbers(const indim_module *module, const char *name, const char *attribute, int64_t count,
                          const int64_t *expected) {
  const int64_t *numbers = NULL;
  CHECK_EQ_INT(indim_instr_numbers(find(module, name), attribute, &numbers), count);
  for (int64_t i = 0; i < count; i++) {
    CHECK_EQ_INT(numbers[i], expected[i]);
  }
}

TEST(a_program) {
  indim_ctx *cx = NULL;
  indim_module *m = NULL;
  indim_buffer out;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_buffer_init(&out, cx);
  REQUIRE(indim_module_parse(cx, indim_str_of("p"), indim_str_of(text), &m) == INDIM_OK);
  check_numbers(m, "t", "dimensions", 2, (const int64_t[]){1, 0});
  check_numbers(m, "s", "slice", 6, (const int64_t[]){0, 4, 2, 1, 4, 1});
  check_numbers(m, "g", "padding", 6, (const int64_t[]){0, 1, 0, 0, 0, 0});
  check_numbers(m, "t", "slice", -1, NULL);
  check_numbers(m, "k", "direction", -1, NULL);  // a word
  const int64_t *numbers = NULL;
  CHECK_EQ_INT(indim_instr_numbers(NULL, "dimensions", &numbers), -1);
  CHECK_EQ_INT(indim_instr_numbers(find(m, "t"), NULL, &numbers), -1);
  CHECK_EQ_INT(indim_instr_parameter_number(find(m, "p")), 1);
  CHECK_EQ_INT(indim_instr_parameter_number(find(m, "z")), -1);
  CHECK(indim_instr_literal(find(m, "z")) != NULL && indim_instr_literal(find(m, "p")) == NULL);
  CHECK_EQ_INT(indim_instr_called_count(find(m, "r")), 1);
  CHECK(indim_str_equal(indim_computation_name(indim_instr_called(find(m, "r"), 0)), indim_str_of("sum")));
  CHECK_EQ_INT(indim_instr_called_count(find(m, "w")), 2);
  CHECK(indim_instr_called(find(m, "w"), 1) != NULL && indim_instr_called(find(m, "w"), 2) == NULL);
  CHECK(indim_instr_called(find(m, "w"), 0) != indim_instr_called(find(m, "w"), 1));
  CHECK_EQ_INT(indim_computation_index(indim_module_entry(m)), indim_module_computation_count(m) - 1);
  CHECK_EQ_INT(indim_instr_line(find(m, "x")), 6);
  CHECK_EQ_INT(indim_instr_line(find(m, "t")), 7);
  CHECK_EQ_INT(indim_instr_line(NULL), 0);
  indim_instr_origin_print(find(m, "t"), &out);
  CHECK(strstr(out.data, "model.py:12") != NULL);
  indim_buffer_clear(&out);
  indim_instr_origin_print(find(m, "x"), &out);
  CHECK_EQ_INT((int64_t)out.size, 0);
  indim_instr_attributes_print(find(m, "r"), 0, &out);
  CHECK(strcmp(out.data, ", dimensions={1}, to_apply=sum") == 0);
  indim_buffer_clear(&out);
  indim_instr_attributes_print(find(m, "r"), INDIM_PRINT_NO_REFERENCES, &out);
  CHECK(strcmp(out.data, ", dimensions={1}") == 0);
  indim_buffer_deinit(&out);
  indim_module_destroy(m);
  indim_ctx_destroy(cx);
}

#define CASES(X) X(a_program)

TEST_MAIN(CASES)
