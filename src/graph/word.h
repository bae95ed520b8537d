// The words that attributes hold: which are known, and their list for messages.
#ifndef INDIM_GRAPH_WORD_H
#define INDIM_GRAPH_WORD_H

#include "graph/module.h"

// Whether the attribute knows the word; true for every word of an attribute that word.def does not list.
bool indim_word_is_known(indim_attr_id id, indim_str word);
// The same two words to this attribute: upper and lower case are one where word.def says so.
bool indim_word_equal(indim_attr_id id, indim_str word, const char *other);
// The attribute's words, "EQ, NE, GE, GT, LE or LT", cut with "..." where |capacity| is too small. Returns |out|.
const char *indim_word_list(indim_attr_id id, char *out, size_t capacity);
// Word |index| of the attribute's, from 0; NULL beyond the last.
const char *indim_word_at(indim_attr_id id, int32_t index);

#endif  // INDIM_GRAPH_WORD_H
