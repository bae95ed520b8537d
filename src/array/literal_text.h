// Values as text inside other text: what the reader and the printer of HLO call.
#ifndef INDIM_ARRAY_LITERAL_TEXT_H
#define INDIM_ARRAY_LITERAL_TEXT_H

#include "array/element.h"
#include "array/lexer.h"
#include "indim/literal.h"

// Reads values without a shape before them, as inside constant(...), for the given shape: "5", "{1, 2}",
// "{ {1, 2}, {3, 4} }", "(1, {2, 3})" for a tuple, "{...}" for values that were left out. Stands behind the last token
// of the values afterwards. The literal has the shape's layout; dynamic flags are dropped, the sizes are the bounds.
// Errors carry their place.
INDIM_CHECKED indim_status indim_literal_parse_body(indim_lexer *lexer, const indim_shape *shape,
                                                    indim_literal **out_literal);

// Reads one element from the current token on: "-3", "true", "nan(0x1)", "(1, -0)".
INDIM_CHECKED indim_status indim_literal_read_element(indim_lexer *lexer, indim_type type, indim_element *out);
// The same for a plain number in |text|, of at most 18 digits if it is an integer, with ',', '}' or a blank behind it.
// Returns its length; 0 leaves the text to the lexer, which says what is wrong with it if anything is.
size_t indim_literal_read_plain(indim_type type, const char *text, const char *end, indim_element *out);

// Writes one element as the literal printer does: "-3", "0.5", "nan(0x1)", "(1, -0)"; pred as 1 and 0.
// |out| has INDIM_ELEMENT_TEXT_SIZE bytes. Returns the length.
size_t indim_element_print(indim_type type, indim_element element, char *out);

#endif  // INDIM_ARRAY_LITERAL_TEXT_H
