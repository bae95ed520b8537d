// The attribute tables of attr.def and op_attr.def, and reading an instruction's attributes.
#include <string.h>

#include "graph/module.h"

static const struct {
  const char *text;
  indim_attr_kind kind;
} attrs[] = {
#define INDIM_ATTR(name, text, kind) [INDIM_ATTR_##name] = {text, INDIM_KIND_##kind},
#include "graph/attr.def"
};

enum { OPTIONAL = 0, REQUIRED = 1 };

static const struct {
  indim_op op;
  indim_attr_id id;
  bool required;
} op_attrs[] = {
#define INDIM_OP_ATTR(op, attribute, presence) {INDIM_OP_##op, INDIM_ATTR_##attribute, presence},
#define INDIM_ANY_ATTR(attribute)
#include "graph/op_attr.def"
};

static const indim_attr_id any_attrs[] = {
#define INDIM_OP_ATTR(op, attribute, presence)
#define INDIM_ANY_ATTR(attribute) INDIM_ATTR_##attribute,
#include "graph/op_attr.def"
};

enum {
  OP_ATTR_COUNT = (int)(sizeof op_attrs / sizeof op_attrs[0]),
  ANY_ATTR_COUNT = (int)(sizeof any_attrs / sizeof any_attrs[0])
};

const char *indim_attr_text(indim_attr_id id) { return attrs[id].text; }
indim_attr_kind indim_attr_kind_of(indim_attr_id id) { return attrs[id].kind; }

bool indim_attr_next(indim_op op, int32_t *cursor, indim_attr_id *out_id, bool *out_required) {
  while (*cursor < OP_ATTR_COUNT) {
    int32_t i = (*cursor)++;
    if (op_attrs[i].op == op) {
      *out_id = op_attrs[i].id;
      *out_required = op_attrs[i].required;
      return true;
    }
  }
  if (*cursor < OP_ATTR_COUNT + ANY_ATTR_COUNT) {
    *out_id = any_attrs[(*cursor)++ - OP_ATTR_COUNT];
    *out_required = false;
    return true;
  }
  return false;
}

bool indim_attr_find(indim_op op, indim_str text, indim_attr_id *out_id) {
  int32_t cursor = 0;
  bool required = false;
  while (indim_attr_next(op, &cursor, out_id, &required)) {
    if (indim_str_is(text, attrs[*out_id].text)) {
      return true;
    }
  }
  return false;
}

bool indim_attr_is_required(indim_op op, indim_attr_id id) {
  for (int i = 0; i < OP_ATTR_COUNT; i++) {
    if (op_attrs[i].op == op && op_attrs[i].id == id) {
      return op_attrs[i].required;
    }
  }
  return false;
}

const indim_attr *indim_instr_attr(const indim_instr *instr, indim_attr_id id) {
  for (int32_t i = 0; i < instr->attr_count; i++) {
    if (instr->attrs[i].id == id) {
      return &instr->attrs[i];
    }
  }
  return NULL;
}

int64_t indim_instr_int(const indim_instr *instr, indim_attr_id id, int64_t if_absent) {
  const indim_attr *attr = indim_instr_attr(instr, id);
  return attr == NULL ? if_absent : attr->value.integer;
}

bool indim_instr_bool(const indim_instr *instr, indim_attr_id id, bool if_absent) {
  return indim_instr_int(instr, id, if_absent) != 0;
}

const int64_t *indim_instr_ints(const indim_instr *instr, indim_attr_id id, int64_t *out_count) {
  const indim_attr *attr = indim_instr_attr(instr, id);
  *out_count = attr == NULL ? 0 : attr->count;
  return attr == NULL ? NULL : attr->value.ints;
}

indim_str indim_instr_word(const indim_instr *instr, indim_attr_id id) {
  const indim_attr *attr = indim_instr_attr(instr, id);
  return attr == NULL ? (indim_str){"", 0} : attr->value.text;
}

indim_compare_direction indim_instr_direction(const indim_instr *instr) {
  static const char *const words[] = {[INDIM_COMPARE_EQ] = "EQ", [INDIM_COMPARE_NE] = "NE", [INDIM_COMPARE_GE] = "GE",
                                      [INDIM_COMPARE_GT] = "GT", [INDIM_COMPARE_LE] = "LE", [INDIM_COMPARE_LT] = "LT"};
  indim_str word = indim_instr_word(instr, INDIM_ATTR_DIRECTION);
  int direction = 0;  // the checker has seen to it that it is one of these
  while (direction < INDIM_COMPARE_LT && !indim_str_is(word, words[direction])) {
    direction++;
  }
  return (indim_compare_direction)direction;
}

bool indim_instr_is_total_order(const indim_instr *instr) {
  return indim_type_is_float(instr->operands[0]->shape->type) &&
         indim_str_is(indim_instr_word(instr, INDIM_ATTR_COMPARE_TYPE), "TOTALORDER");
}

indim_computation *indim_instr_computation(const indim_instr *instr, indim_attr_id id) {
  const indim_attr *attr = indim_instr_attr(instr, id);
  return attr == NULL || attr->count == 0 ? NULL : attr->value.computations[0];
}

bool indim_str_is(indim_str text, const char *word) {
  return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}
