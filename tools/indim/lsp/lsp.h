// The language server: documents as an editor has them, what stands in them, and the answers. A document's text may be
// broken at any time, so names and places come from a scan of its own (scan.c, outline.c) that never fails; shapes and
// diagnostics come from the library's reader.
#ifndef INDIM_LSP_H
#define INDIM_LSP_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "indim/graph.h"
#include "../tool.h"

// Room for twice as many, at least 64; exits with EXIT_MEMORY where there is none.
void *must_grow(void *items, uint32_t *capacity, size_t item_size);
char *copy_text(const char *text, size_t size);

// Tokens (scan.c) ----------------------------------------------------------------------------------------------------

typedef enum token_kind {
  TOKEN_NAME,       // add, %add.1, or "name:" without its colon
  TOKEN_ATTRIBUTE,  // "dimensions=", its end before the sign, which is no token
  TOKEN_TYPE,       // f32, token
  TOKEN_KEYWORD,    // HloModule ENTRY ROOT true false ...
  TOKEN_NUMBER,     // 3, 1e5, 3x3, 0_1x0_1, inf
  TOKEN_STRING,
  TOKEN_COMMENT,
  TOKEN_PUNCTUATION,  // one character, "->", "<=" or "..."
  TOKEN_WRONG         // what begins no token, or does not end
} token_kind;

// What a token is for (outline.c).
typedef enum token_role { ROLE_NONE, ROLE_OP, ROLE_COMPUTATION, ROLE_INSTR, ROLE_LABEL } token_role;

typedef struct token {
  uint32_t start;
  uint32_t end;
  uint8_t kind;
  uint8_t role;
  int32_t symbol;  // that it names, or -1
} token;

// All tokens of a text, comments included, to be freed with free().
token *scan_tokens(const char *text, size_t size, uint32_t *out_count);

// What stands in a text (outline.c) ----------------------------------------------------------------------------------

typedef struct definition {
  bool is_computation;
  bool is_entry;
  bool is_parameter;
  int32_t owner;  // the computation it stands in; -1 for one at the top
  // Tokens: the name (an inline body has none: its brace), the first and last of all that belongs to it, the op, and
  // the declared shape from shape_first until shape_end. What is not there has NO_TOKEN; a shape then is empty.
  uint32_t name;
  uint32_t first;
  uint32_t last;
  uint32_t op;
  uint32_t shape_first;
  uint32_t shape_end;
  char *text;  // the name as the library has it
} definition;

#define NO_TOKEN UINT32_MAX

typedef struct outline {
  token *tokens;
  uint32_t token_count;
  definition *symbols;
  int32_t symbol_count;
  uint32_t *shapes;  // tokens at which an array's shape begins
  uint32_t shape_count;
} outline;

outline *outline_make(const char *text, size_t size);
void outline_free(outline *o);
// The token that holds the byte, or ends there and is no punctuation; NO_TOKEN if none does.
uint32_t outline_token_at(const outline *o, uint32_t offset);
// The innermost computation, or instruction, whose text holds the byte; -1 if none does.
int32_t outline_computation_at(const outline *o, uint32_t offset);
int32_t outline_instr_at(const outline *o, uint32_t offset);
// The token after or before |at| that is no comment; NO_TOKEN at the end.
uint32_t outline_next(const outline *o, uint32_t at);
uint32_t outline_previous(const outline *o, uint32_t at);
// The token behind an array's shape that begins at |at|.
uint32_t outline_shape_end(const outline *o, const char *text, uint32_t at);

// Documents (document.c) ---------------------------------------------------------------------------------------------

// How an editor counts within a line; the protocol's own way is UTF-16.
typedef enum position_encoding { POSITION_UTF16, POSITION_UTF8, POSITION_UTF32 } position_encoding;

typedef struct document {
  char *uri;
  char *text;  // null-terminated
  size_t size;
  double version;
  bool is_dirty;  // diagnostics are to be told
  size_t *lines;  // offset of each line's first byte; NULL: not counted yet
  size_t line_count;
  size_t place_at;  // the last place that was counted, and its units within its line
  size_t place_units;
  outline *outline;  // NULL: not made yet
  // By analyse(): NULL where the text was refused.
  bool is_analysed;
  indim_module *module;
  struct named_instr *instrs;
  size_t instr_count;
} document;

typedef struct server {
  indim_ctx *cx;
  position_encoding encoding;
  bool is_initialized;
  bool is_shut_down;
  bool is_done;
  bool has_hierarchy;  // what the editor can show
  bool has_lint;
  document **documents;
  size_t document_count;
  struct input *input;
} server;

document *document_find(const server *s, const char *uri);
// Texts are copied.
void document_open(server *s, const char *uri, const char *text, double version);
// One element of contentChanges; false if it is malformed.
bool document_change(server *s, document *d, const cJSON *change);
void document_close(server *s, document *d);
const outline *document_outline(document *d);
// Between a place in the text and the editor's {line, character}; places outside are moved to the nearest inside.
bool document_offset(const server *s, document *d, const cJSON *position, uint32_t *out_offset);
size_t document_line_count(document *d);
size_t document_line(document *d, size_t line);  // where it begins
void document_place(const server *s, document *d, size_t offset, size_t *out_line, size_t *out_character);
cJSON *document_position(const server *s, document *d, size_t offset);
cJSON *document_range(const server *s, document *d, size_t start, size_t end);
// {"range":..,"newText":..}, the text taken as it is.
cJSON *document_edit(const server *s, document *d, size_t start, size_t end, const char *text);

// What the library says (analyse.c) ----------------------------------------------------------------------------------

// Reads and verifies the text, if that has not been done: d->module is set where it parses. False: stopped by the
// context's poll; the document is as before.
bool analyse(server *s, document *d);
// The diagnostics of the text as the protocol has them, or NULL when stopped by the context's poll.
cJSON *diagnose(server *s, document *d);
void analysis_drop(document *d);
// The instruction, or computation, that a symbol is; NULL if the text is refused.
const indim_instr *symbol_instr(server *s, document *d, int32_t symbol);
const indim_computation *symbol_computation(server *s, document *d, int32_t symbol);

// Answers ------------------------------------------------------------------------------------------------------------

// An answer to a request about a place or a document: a value, NULL for "null", or an error in |*out_error|, which then
// stays until the next request.
typedef cJSON *answer(server *s, document *d, const cJSON *params, const char **out_error);

answer answer_hover;       // hover.c
answer answer_definition;  // navigate.c
answer answer_references;
answer answer_highlight;
answer answer_prepare_rename;  // rename.c
answer answer_rename;
answer answer_symbols;  // symbols.c
answer answer_folding;
answer answer_completion;       // complete.c
answer answer_formatting;       // format.c
answer answer_semantic_tokens;  // colour.c
answer answer_inlay_hints;      // hints.c
// {"tokenTypes":[..],"tokenModifiers":[..]}
cJSON *semantic_legend(void);

// The symbol named at the place of a request, or -1; its token.
int32_t symbol_at(server *s, document *d, const cJSON *params, uint32_t *out_token);
// The first byte of a token's name: behind its %.
uint32_t name_start(const document *d, const token *t);
// A shape in words and, where it is small, its memory drawn; markdown (explain.c).
void explain_shape(indim_ctx *cx, const indim_shape *shape, indim_buffer *out);
// What an op is, and an attribute of it; markdown.
void explain_op(indim_op op, indim_buffer *out);
void explain_attribute(indim_op op, int32_t index, indim_buffer *out);

// Messages (transport.c) ---------------------------------------------------------------------------------------------

struct input *input_open(int file);
void input_close(struct input *in);
// The next message, waiting for it; false at the end of the input. A message that is no JSON becomes NULL in
// |*out_message|; a request that was cancelled while it waited has a member "is_cancelled".
bool input_next(struct input *in, cJSON **out_message);
// Whether a message, or a part of one, is there without waiting.
bool input_is_pending(struct input *in);
// Writes a message, which is deleted.
void send_message(cJSON *message);

// Talks with an editor until it says exit, or the input ends; answers go to standard output. The exit code (lsp.c).
int serve(indim_ctx *cx, int file, bool with_lint);

#endif  // INDIM_LSP_H
