// Growing text. Errors stick: after a failed growth the buffer keeps what it has and ignores further writes.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/size.h"

void indim_buffer_init(indim_buffer *buffer, indim_ctx *cx) {
  if (buffer != NULL) {
    *buffer = (indim_buffer){cx, NULL, 0, 0, INDIM_OK};
  }
}

void indim_buffer_deinit(indim_buffer *buffer) {
  if (buffer == NULL) {
    return;
  }
  indim_free(buffer->cx, buffer->data, buffer->capacity);
  indim_buffer_init(buffer, buffer->cx);
}

void indim_buffer_clear(indim_buffer *buffer) {
  if (buffer == NULL) {
    return;
  }
  buffer->size = 0;
  buffer->status = INDIM_OK;
  if (buffer->data != NULL) {
    buffer->data[0] = '\0';
  }
}

// Makes room for |size| more bytes and the null.
static bool reserve(indim_buffer *buffer, size_t size) {
  size_t needed = 0;
  if (buffer == NULL || buffer->status != INDIM_OK) {
    return false;
  }
  if (!indim_size_add(buffer->size, size, &needed) || !indim_size_add(needed, 1, &needed) || needed > SIZE_MAX / 2) {
    buffer->status = indim_fail(buffer->cx, INDIM_NO_MEMORY, "out of memory: a text is too long");
    return false;
  }
  if (needed <= buffer->capacity) {
    return true;
  }
  size_t capacity = buffer->capacity < 64 ? 64 : buffer->capacity;
  while (capacity < needed) {
    capacity *= 2;
  }
  void *data = buffer->data;
  buffer->status = indim_resize(buffer->cx, &data, buffer->capacity, capacity);
  if (buffer->status != INDIM_OK) {
    return false;
  }
  buffer->data = data;
  buffer->capacity = capacity;
  return true;
}

void indim_buffer_append(indim_buffer *buffer, const char *bytes, size_t size) {
  if ((bytes != NULL || size == 0) && reserve(buffer, size)) {
    if (size > 0) {
      memcpy(buffer->data + buffer->size, bytes, size);
    }
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
  }
}

void indim_buffer_text(indim_buffer *buffer, const char *text) {
  indim_buffer_append(buffer, text, text == NULL ? 0 : strlen(text));
}
void indim_buffer_char(indim_buffer *buffer, char c) { indim_buffer_append(buffer, &c, 1); }

void indim_buffer_int(indim_buffer *buffer, int64_t value) {
  char digits[24];
  int size = snprintf(digits, sizeof digits, "%" PRId64, value);
  indim_buffer_append(buffer, digits, size < 0 ? 0 : (size_t)size);
}

void indim_buffer_printf(indim_buffer *buffer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  int size = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (size >= 0 && reserve(buffer, (size_t)size)) {
    vsnprintf(buffer->data + buffer->size, (size_t)size + 1, format, again);
    buffer->size += (size_t)size;
  }
  va_end(again);
}
