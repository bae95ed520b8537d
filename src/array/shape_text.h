// Shapes and layouts inside other text: what the readers of HLO and literal text call, and a short name of a shape for
// messages.
#ifndef INDIM_ARRAY_SHAPE_TEXT_H
#define INDIM_ARRAY_SHAPE_TEXT_H

#include "array/lexer.h"
#include "indim/shape.h"

// The text of a shape in a message: indim_fail(cx, INDIM_INVALID, "got %s", indim_shape_name_of(&shape).text). A long
// one ends in "...".
typedef struct indim_shape_name {
  char text[240];
} indim_shape_name;
indim_shape_name indim_shape_name_of(const indim_shape *shape);           // f32[2,3]
indim_shape_name indim_shape_name_with_layout(const indim_shape *shape);  // f32[2,3]{1,0}
indim_shape_name indim_layout_name_of(const indim_layout *layout);        // {1,0}

// Whether the current token can begin a shape: a type word, '(', or the 'b' of "b(".
bool indim_shape_text_begins(const indim_lexer *lexer);

// Reads one shape from the current token on and leaves the lexer on the first token behind it. A '{' belongs to the
// shape when an integer or ':' follows it, or, after a scalar, '}' ("f32[]{}" as older printers write); any other '{'
// is left for the caller. Missing layouts become the default. Tuples, buffers and physical shapes go into |arena|
// (NULL: they are refused). *out_shape is untouched on failure.
INDIM_CHECKED indim_status indim_shape_parse_tokens(indim_lexer *lexer, indim_arena *arena, indim_shape *out_shape);

// The same for text where values in braces may follow, as in the literal "f32[2] {1, 2}": a layout is taken only where
// its '{' touches the ']' before it.
INDIM_CHECKED indim_status indim_shape_parse_tokens_before_values(indim_lexer *lexer, indim_arena *arena,
                                                                  indim_shape *out_shape);

// Reads one layout; the current token is its '{'. An empty layout "{}" is allowed. The layout is checked as far as it
// can be without a shape: a permutation, tiles of sizes that make sense, L >= 1, E >= 0, widths not negative.
INDIM_CHECKED indim_status indim_layout_parse_tokens(indim_lexer *lexer, indim_arena *arena, indim_layout *out_layout);

#endif  // INDIM_ARRAY_SHAPE_TEXT_H
