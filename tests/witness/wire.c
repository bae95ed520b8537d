// The wire format for the Python witness: texts in, messages out.
#include <string.h>

#include "indim/wire.h"

#define EXPORT __attribute__((visibility("default")))

// Writes the message of a shape (kind 0) or a literal (kind 1) given as text into |out|. Returns its size, or -1.
EXPORT int64_t witness_wire_encode(int kind, const char *text, unsigned char *out, size_t capacity);
// Reads the message and writes its text, null-terminated. Returns 0, or -1.
EXPORT int witness_wire_decode(int kind, const unsigned char *bytes, size_t size, char *out, size_t capacity);

static indim_status encode(indim_ctx *cx, int kind, const char *text, indim_buffer *bytes) {
  if (kind == 1) {
    indim_literal *literal = NULL;
    indim_status status = indim_literal_parse(cx, indim_str_of(text), &literal);
    status = status == INDIM_OK ? indim_literal_encode(cx, literal, bytes) : status;
    indim_literal_destroy(literal);
    return status;
  }
  indim_arena *arena = NULL;
  indim_shape shape;
  indim_status status = indim_arena_create(cx, &arena);
  status = status == INDIM_OK ? indim_shape_parse(cx, indim_str_of(text), arena, &shape) : status;
  status = status == INDIM_OK ? indim_shape_encode(cx, &shape, bytes) : status;
  indim_arena_destroy(arena);
  return status;
}

static indim_status decode(indim_ctx *cx, int kind, const unsigned char *bytes, size_t size, indim_buffer *text) {
  if (kind == 1) {
    indim_literal *literal = NULL;
    indim_status status = indim_literal_decode(cx, bytes, size, &literal);
    if (status == INDIM_OK) {
      indim_literal_print(literal, (unsigned)INDIM_LITERAL_SHAPE | (unsigned)INDIM_LITERAL_ONE_LINE, text);
    }
    indim_literal_destroy(literal);
    return status;
  }
  indim_arena *arena = NULL;
  indim_shape shape;
  indim_status status = indim_arena_create(cx, &arena);
  status = status == INDIM_OK ? indim_shape_decode(cx, bytes, size, arena, &shape) : status;
  if (status == INDIM_OK) {
    indim_shape_print(&shape, true, text);
  }
  indim_arena_destroy(arena);
  return status;
}

int64_t witness_wire_encode(int kind, const char *text, unsigned char *out, size_t capacity) {
  indim_ctx *cx = NULL;
  int64_t size = -1;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    return -1;
  }
  indim_buffer bytes;
  indim_buffer_init(&bytes, cx);
  if (encode(cx, kind, text, &bytes) == INDIM_OK && bytes.size <= capacity) {
    memcpy(out, bytes.data, bytes.size);
    size = (int64_t)bytes.size;
  }
  indim_buffer_deinit(&bytes);
  indim_ctx_destroy(cx);
  return size;
}

int witness_wire_decode(int kind, const unsigned char *bytes, size_t size, char *out, size_t capacity) {
  indim_ctx *cx = NULL;
  int result = -1;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    return -1;
  }
  indim_buffer text;
  indim_buffer_init(&text, cx);
  if (decode(cx, kind, bytes, size, &text) == INDIM_OK && text.size < capacity) {
    memcpy(out, text.data, text.size + 1);
    result = 0;
  }
  indim_buffer_deinit(&text);
  indim_ctx_destroy(cx);
  return result;
}
