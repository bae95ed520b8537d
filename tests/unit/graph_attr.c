// What the public header says of the attributes of ops, against the tables.
#include <string.h>

#include "graph/word.h"
#include "test.h"

TEST(every_op_tells_its_attributes) {
  for (int op = 0; op < INDIM_OP_COUNT; op++) {
    indim_op_attr_info info;
    indim_attr_id id;
    bool required = false;
    bool was_common = false;
    int32_t cursor = 0;
    int32_t count = 0;
    for (; indim_op_attr_get((indim_op)op, count, &info); count++) {
      REQUIRE(indim_attr_next((indim_op)op, &cursor, &id, &required));
      CHECK_EQ_STR(info.text, indim_attr_text(id));
      CHECK(info.required == required);
      CHECK_MSG(info.meaning[0] != '\0' && info.form != NULL, "%s", info.text);
      CHECK_MSG(!was_common || info.of_any_op, "%s stands behind those of any op", info.text);
      was_common = info.of_any_op;
      for (int32_t i = 0; indim_op_attr_word((indim_op)op, count, i) != NULL; i++) {
        CHECK(indim_word_is_known(id, indim_str_of(indim_op_attr_word((indim_op)op, count, i))));
      }
    }
    CHECK(!indim_attr_next((indim_op)op, &cursor, &id, &required));
    CHECK(was_common);
  }
}

TEST(one_op) {
  indim_op_attr_info info;
  CHECK(indim_op_attr_get(INDIM_OP_REDUCE, 1, &info));
  CHECK_EQ_STR(info.text, "to_apply");
  CHECK(info.required && info.names_computations && !info.of_any_op);
  CHECK_EQ_STR(indim_op_attr_word(INDIM_OP_COMPARE, 0, 5), "LT");
  CHECK(indim_op_attr_word(INDIM_OP_COMPARE, 0, 6) == NULL);
  CHECK(indim_op_attr_word(INDIM_OP_REDUCE, 0, 0) == NULL);
}

TEST(outside_there_is_nothing) {
  indim_op_attr_info info;
  CHECK(!indim_op_attr_get(INDIM_OP_COUNT, 0, &info));
  CHECK(!indim_op_attr_get(INDIM_OP_ADD, -1, &info));
  CHECK(!indim_op_attr_get(INDIM_OP_ADD, 1000, &info));
  CHECK(!indim_op_attr_get(INDIM_OP_ADD, 0, NULL));
  CHECK(indim_op_attr_word(INDIM_OP_COUNT, 0, 0) == NULL);
  CHECK(indim_op_attr_word(INDIM_OP_COMPARE, 0, -1) == NULL);
}

#define CASES(X)                   \
  X(every_op_tells_its_attributes) \
  X(one_op)                        \
  X(outside_there_is_nothing)
TEST_MAIN(CASES)
