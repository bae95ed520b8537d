// Which element types an op takes, by class.
#ifndef INDIM_GRAPH_OP_TYPE_H
#define INDIM_GRAPH_OP_TYPE_H

#include "indim/graph.h"

enum {
  INDIM_CLASS_PRED = 1 << 0,
  INDIM_CLASS_SIGNED = 1 << 1,
  INDIM_CLASS_UNSIGNED = 1 << 2,
  INDIM_CLASS_FLOAT = 1 << 3,
  INDIM_CLASS_COMPLEX = 1 << 4,
  INDIM_CLASS_INTEGER = INDIM_CLASS_SIGNED | INDIM_CLASS_UNSIGNED,
  INDIM_CLASS_ANY = (1 << 5) - 1
};

// The one class of an element type; 0 for what is no array element.
unsigned indim_type_class(indim_type type);
// The classes that an elementwise op's operands may have; INDIM_CLASS_ANY for an op whose infer function decides.
unsigned indim_op_classes(indim_op op);

// Storage for classes in words.
typedef struct indim_class_text {
  char text[80];
} indim_class_text;
// "a signed integer, floating or complex type", for messages.
const char *indim_class_brief(unsigned classes, indim_class_text *out);

#endif  // INDIM_GRAPH_OP_TYPE_H
