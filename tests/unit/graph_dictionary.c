// The text of a typed custom call's attributes, entry by entry, and what is no such text.
#include "graph/dictionary.h"

#include <stdio.h>

#include "test.h"

// Writes the entries as "name=value;"; "!" where the text ends to be a dictionary, with the place.
static void read_all(const char *text, char *out, size_t room) {
  indim_dictionary_entry entry;
  size_t cursor = 0;
  size_t size = 0;
  out[0] = '\0';
  for (bool more = true; more;) {
    if (!indim_dictionary_next(indim_str_of(text), &cursor, &entry, &more)) {
      snprintf(out + size, room - size, "!%d", (int)cursor);
      return;
    }
    if (more) {
      size += (size_t)snprintf(out + size, room - size, "%.*s=%.*s;", (int)entry.name.size, entry.name.data,
                               (int)entry.value.size, entry.value.data);
    }
  }
}

TEST(entries) {
  static const char *const texts[][2] = {
      {"{}", ""},
      {" { } ", ""},
      {"{uplo = 76 : ui8}", "uplo=76 : ui8;"},
      {"{a=1:i32,b = true ,c}", "a=1:i32;b=true;c=;"},
      {"{s = \"x, {y}\\\"\", \"t u\" = [1, {v = 2}], w = array<i64: 1, 2>}",
       "s=\"x, {y}\\\"\";t u=[1, {v = 2}];w=array<i64: 1, 2>;"},
      {"", "!0"},
      {"uplo = 76", "!0"},
      {"{", "!1"},
      {"{,}", "!1"},
      {"{a = }", "!5"},
      {"{a = 1,}", "a=1;!7"},
      {"{a = 1 b = 2}", "a=1 b = 2;"},
      {"{a = [1}", "a=[1};!8"},
      {"{a = \"x}", "!8"},
      {"{a = 1", "a=1;!6"},
      {"{a = 1} b", "a=1;!8"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char found[200];
    read_all(texts[i][0], found, sizeof found);
    CHECK_MSG(strcmp(found, texts[i][1]) == 0, "%s gives %s, expected %s", texts[i][0], found, texts[i][1]);
  }
}

TEST(values) {
  int64_t number = 0;
  indim_str type = {"", 0};
  bool flag = true;
  CHECK(indim_dictionary_int(indim_str_of("76 : ui8"), &number, &type));
  CHECK_EQ_INT(number, 76);
  CHECK(type.size == 3 && memcmp(type.data, "ui8", 3) == 0);
  CHECK(indim_dictionary_int(indim_str_of("-3:i64"), &number, &type));
  CHECK_EQ_INT(number, -3);
  CHECK(indim_dictionary_int(indim_str_of("9223372036854775807 : i64"), &number, &type));
  CHECK(number == INT64_MAX);
  CHECK(!indim_dictionary_int(indim_str_of("9223372036854775808 : i64"), &number, &type));
  CHECK(!indim_dictionary_int(indim_str_of("76"), &number, &type));
  CHECK(!indim_dictionary_int(indim_str_of("76 :"), &number, &type));
  CHECK(!indim_dictionary_int(indim_str_of("1.5 : f32"), &number, &type));
  CHECK(!indim_dictionary_int(indim_str_of("76 : ui8 x"), &number, &type));
  CHECK(!indim_dictionary_int(indim_str_of(""), &number, &type));
  CHECK(indim_dictionary_bool(indim_str_of("false"), &flag) && !flag);
  CHECK(indim_dictionary_bool(indim_str_of("true"), &flag) && flag);
  CHECK(!indim_dictionary_bool(indim_str_of("1"), &flag));
}

#define CASES(X) \
  X(entries)     \
  X(values)
TEST_MAIN(CASES)
