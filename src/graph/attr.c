// The attribute tables of attr.def and op_attr.def, and reading an instruction's attributes.
#include <string.h>

#include "graph/module.h"
#include "graph/word.h"

static const struct {
  const char *text;
  indim_attr_kind kind;
  const char *meaning;
} attrs[] = {
#define INDIM_ATTR(name, text, kind, meaning) [INDIM_ATTR_##name] = {text, INDIM_KIND_##kind, meaning},
#include "graph/attr.def"
};

// How a value of each kind is written.
static const char *const forms[] = {
    [INDIM_KIND_INT] = "an integer",
    [INDIM_KIND_BOOL] = "true or false",
    [INDIM_KIND_FLOAT] = "a number",
    [INDIM_KIND_INTS] = "{integers}",
    [INDIM_KIND_BOOLS] = "{true or false, ...}",
    [INDIM_KIND_INT_LISTS] = "{{integers}, ...}",
    [INDIM_KIND_WORD] = "a word",
    [INDIM_KIND_WORDS] = "{words}",
    [INDIM_KIND_STRING] = "a string",
    [INDIM_KIND_RAW] = "text",
    [INDIM_KIND_GROUPS] = "{{integers}, ...}",
    [INDIM_KIND_WINDOW] = "{size=3x3 pad=1_1x1_1 ...}",
    [INDIM_KIND_PADDING] = "low_high_interior, joined by x",
    [INDIM_KIND_SLICE] = "{[start:limit:stride], ...}",
    [INDIM_KIND_DIM_LABELS] = "labels such as b01f_01io->b01f",
    [INDIM_KIND_COMPUTATION] = "a computation",
    [INDIM_KIND_COMPUTATIONS] = "{computations}",
    [INDIM_KIND_INSTRS] = "{instructions}",
    [INDIM_KIND_SHAPE] = "a shape",
    [INDIM_KIND_SHAPES] = "{shapes}",
    [INDIM_KIND_LITERAL] = "a literal",
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

// The attribute |index| of an op; false beyond the last.
static bool find_index(indim_op op, int32_t index, indim_attr_id *out_id, bool *out_required) {
  int32_t cursor = 0;
  bool found = (unsigned)op < INDIM_OP_COUNT && index >= 0;
  for (int32_t i = 0; found && i <= index; i++) {
    found = indim_attr_next(op, &cursor, out_id, out_required);
  }
  return found;
}

static bool is_any_attr(indim_attr_id id) {
  for (int i = 0; i < ANY_ATTR_COUNT; i++) {
    if (any_attrs[i] == id) {
      return true;
    }
  }
  return false;
}

bool indim_op_attr_get(indim_op op, int32_t index, indim_op_attr_info *out_info) {
  indim_attr_id id = INDIM_ATTR_COUNT;
  bool required = false;
  if (out_info == NULL || !find_index(op, index, &id, &required)) {
    return false;
  }
  indim_attr_kind kind = attrs[id].kind;
  *out_info =
      (indim_op_attr_info){.text = attrs[id].text,
                           .form = forms[kind],
                           .meaning = attrs[id].meaning,
                           .required = required,
                           .of_any_op = is_any_attr(id),
                           .names_computations = kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS};
  return true;
}

const char *indim_op_attr_word(indim_op op, int32_t index, int32_t word) {
  indim_attr_id id = INDIM_ATTR_COUNT;
  bool required = false;
  return find_index(op, index, &id, &required) ? indim_word_at(id, word) : NULL;
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

void indim_instr_dot_dims(const indim_instr *dot, int32_t number, int32_t rank, indim_dot_dim *out) {
  static const indim_attr_id batch_ids[] = {INDIM_ATTR_LHS_BATCH_DIMS, INDIM_ATTR_RHS_BATCH_DIMS};
  static const indim_attr_id contracted_ids[] = {INDIM_ATTR_LHS_CONTRACTING_DIMS, INDIM_ATTR_RHS_CONTRACTING_DIMS};
  int64_t batch_count = 0, contracted_count = 0;
  const int64_t *batch = indim_instr_ints(dot, batch_ids[number], &batch_count);
  const int64_t *contracted = indim_instr_ints(dot, contracted_ids[number], &contracted_count);
  for (int32_t d = 0; d < rank; d++) {
    out[d] = INDIM_DOT_FREE;
  }
  for (int64_t i = 0; i < batch_count; i++) {
    out[batch[i]] = INDIM_DOT_BATCH;
  }
  for (int64_t i = 0; i < contracted_count; i++) {
    out[contracted[i]] = INDIM_DOT_CONTRACTED;
  }
}

bool indim_instr_is_total_order(const indim_instr *instr) {
  return indim_type_is_float(instr->operands[0]->shape->type) &&
         indim_str_is(indim_instr_word(instr, INDIM_ATTR_COMPARE_TYPE), "TOTALORDER");
}

const indim_instr *indim_computation_single_op(const indim_computation *computation) {
  const indim_instr *root = computation->root;
  bool is_of_both = computation->parameter_count == 2 && root->operand_count == 2 &&
                    root->operands[0]->op == INDIM_OP_PARAMETER && root->operands[1]->op == INDIM_OP_PARAMETER &&
                    root->operands[0] != root->operands[1];
  return is_of_both ? root : NULL;
}

indim_computation *indim_instr_computation(const indim_instr *instr, indim_attr_id id) {
  const indim_attr *attr = indim_instr_attr(instr, id);
  return attr == NULL || attr->count == 0 ? NULL : attr->value.computations[0];
}

bool indim_str_is(indim_str text, const char *word) {
  return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}
