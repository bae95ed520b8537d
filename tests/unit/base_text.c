// Text of others' on its way out: characters of UTF-8, strings of JSON, and what a terminal would obey, in diagnostics too.
#include "base/ctx.h"
#include "test.h"

TEST(character_sizes) {
  static const struct {
    const char *text;
    size_t size;
  } cases[] = {{"a", 1},
               {"\xC3\xA4", 2},
               {"\xE2\x82\xAC", 3},
               {"\xF0\x9F\x98\x80", 4},
               {"", 0},
               {"\x80", 0},
               {"\xC0\x80", 0},
               {"\xC3", 0},
               {"\xC3z", 0},
               {"\xE0\x80\x80", 0},
               {"\xED\xA0\x80", 0},
               {"\xF0\x80\x80\x80", 0},
               {"\xF4\x90\x80\x80", 0},
               {"\xFF", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_MSG(indim_character_size(indim_str_of(cases[i].text)) == cases[i].size, "case %zu", i);
  }
}

TEST(strings_of_json) {
  indim_ctx *cx = NULL;
  indim_buffer out;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_buffer_init(&out, cx);
  indim_buffer_json(&out, indim_str_of("a\"\\\n\x1b\xC3\xA4\xFF"));
  CHECK_EQ_STR(out.data, "\"a\\\"\\\\\\n\\u001b\xC3\xA4\xEF\xBF\xBD\"");
  indim_buffer_clear(&out);
  indim_buffer_json(&out, (indim_str){0});
  CHECK_EQ_STR(out.data, "\"\"");
  indim_buffer_deinit(&out);
  indim_ctx_destroy(cx);
}

TEST(controls_are_hidden) {
  char text[] = "a\x1b[31m\n\x7f\xC3\xA4\xC2\x9B\xE2\x9B\x84\x9Bz\xA4";
  indim_hide_controls(text, '?');
  CHECK_EQ_STR(text, "a?[31m??\xC3\xA4??\xE2\x9B\x84?z\xA4");
  indim_hide_controls(NULL, '?');
}

// The name of the file, its line and the message may all be somebody else's.
TEST(diagnostics_have_no_controls) {
  indim_ctx *cx = NULL;
  indim_buffer out;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_source source = {.name = indim_str_of("a\x1b.hlo"), .text = indim_str_of("b\x1b \xC2\x9B c")};
  (void)indim_fail_at(cx, INDIM_INVALID, &source, 6, "found %s", "d\x1b\xC2\x9B");
  indim_buffer_init(&out, cx);
  indim_diagnostic_print(indim_ctx_diagnostic_get(cx, 0), &out);
  CHECK_EQ_STR(out.data, "a?.hlo:1:7: error: found d???\n  b     c\n        ^\n");
  indim_buffer_deinit(&out);
  indim_ctx_destroy(cx);
}

#define CASES(X)         \
  X(character_sizes)     \
  X(strings_of_json)     \
  X(controls_are_hidden) \
  X(diagnostics_have_no_controls)
TEST_MAIN(CASES)
