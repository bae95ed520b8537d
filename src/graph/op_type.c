// The types column of ops.def, and element type classes in words.
#include "graph/op_type.h"

#include <stdio.h>
#include <string.h>

enum {
  P = INDIM_CLASS_PRED,
  S = INDIM_CLASS_SIGNED,
  U = INDIM_CLASS_UNSIGNED,
  F = INDIM_CLASS_FLOAT,
  C = INDIM_CLASS_COMPLEX,
  ANY = INDIM_CLASS_ANY
};

static const uint8_t op_classes[INDIM_OP_COUNT] = {
#define INDIM_OP(op, text, least, most, types, shape, infer, eval, meaning) [INDIM_OP_##op] = (uint8_t)(types),
#include "indim/ops.def"
};

unsigned indim_op_classes(indim_op op) { return (unsigned)op < INDIM_OP_COUNT ? op_classes[op] : ANY; }

unsigned indim_type_class(indim_type type) {
  return type == INDIM_PRED                 ? P
         : indim_type_is_signed_int(type)   ? S
         : indim_type_is_unsigned_int(type) ? U
         : indim_type_is_float(type)        ? F
         : indim_type_is_complex(type)      ? C
                                            : 0;
}

const char *indim_class_brief(unsigned classes, indim_class_text *out) {
  const char *words[4];
  int count = 0;
  if ((classes & P) != 0) {
    words[count++] = "pred";
  }
  if ((classes & INDIM_CLASS_INTEGER) != 0) {
    words[count++] = (classes & U) == 0 ? "signed integer" : (classes & S) == 0 ? "unsigned integer" : "integer";
  }
  if ((classes & F) != 0) {
    words[count++] = "floating";
  }
  if ((classes & C) != 0) {
    words[count++] = "complex";
  }
  if (classes == INDIM_CLASS_ANY || count == 0) {
    snprintf(out->text, sizeof out->text, "an element type");
    return out->text;
  }
  bool vowel = strchr("aeiou", words[0][0]) != NULL;
  size_t size = (size_t)snprintf(out->text, sizeof out->text, "%s", vowel ? "an " : "a ");
  for (int i = 0; i < count; i++) {
    const char *between = i == 0 ? "" : i + 1 == count ? " or " : ", ";
    size += (size_t)snprintf(out->text + size, sizeof out->text - size, "%s%s", between, words[i]);
  }
  snprintf(out->text + size, sizeof out->text - size, " type");
  return out->text;
}
