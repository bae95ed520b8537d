// The attributes of a custom call of XLA's typed interface, as backend_config= has them: the text of an MLIR dictionary.
//
//   {uplo = 76 : ui8, left = true, name = "x, y"}  ->  uplo "76 : ui8", left "true", name "\"x, y\""
#ifndef INDIM_GRAPH_DICTIONARY_H
#define INDIM_GRAPH_DICTIONARY_H

#include "indim/base.h"

typedef struct indim_dictionary_entry {
  indim_str name;
  indim_str value;  // as written, without blanks around it; "" for a name alone
} indim_dictionary_entry;

// Reads the entry at |*cursor|, which starts at 0, and steps to the next. |*out_more| is false at the end. False if the
// text is no dictionary; |*cursor| is then where it stops being one.
bool indim_dictionary_next(indim_str text, size_t *cursor, indim_dictionary_entry *out_entry, bool *out_more);

// An integer with its type, "76 : ui8"; false for anything else and for what int64 does not hold.
bool indim_dictionary_int(indim_str value, int64_t *out_value, indim_str *out_type);
// "true" or "false".
bool indim_dictionary_bool(indim_str value, bool *out_value);

#endif  // INDIM_GRAPH_DICTIONARY_H
