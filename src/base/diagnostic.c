// Recording what went wrong: a status, a place in a text with its line and a caret, a message and a way out. Nothing
// here allocates, so an allocation failure can be reported too.
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"

// Text of the user's may be in it: what a terminal would obey becomes '?'.
static void print_into(char *out, size_t capacity, const char *format, va_list arguments) {
  int size = vsnprintf(out, capacity, format, arguments);
  if (size < 0) {
    out[0] = '\0';
  } else if ((size_t)size >= capacity) {
    memcpy(out + capacity - 4, "...", 4);
  }
  indim_hide_controls(out, '?');
}

static void copy_into(char *out, size_t capacity, indim_str text) {
  size_t size = text.size < capacity ? text.size : capacity - 1;
  memcpy(out, text.data == NULL ? "" : text.data, size);
  out[size] = '\0';
  if (size < text.size) {
    memcpy(out + capacity - 4, "...", 4);
  }
  indim_hide_controls(out, '?');
}

// Copies the line of |offset|, or the part of a long line around it, with control characters turned into blanks so that
// the caret stands right.
static void set_place(indim_diagnostic *d, const indim_source *source, size_t offset) {
  indim_str text = source->text;
  copy_into(d->source, sizeof d->source, source->name);
  offset = offset < text.size ? offset : text.size;
  size_t line_start = 0;
  d->line = 1;
  for (size_t i = 0; i < offset; i++) {
    if (text.data[i] == '\n') {
      d->line++;
      line_start = i + 1;
    }
  }
  d->column = offset - line_start < INT32_MAX ? (int32_t)(offset - line_start) + 1 : INT32_MAX;
  size_t line_end = offset;
  while (line_end < text.size && text.data[line_end] != '\n') {
    line_end++;
  }
  size_t capacity = sizeof d->excerpt - 1;
  size_t start = line_start;
  if (line_end - line_start > capacity && offset - line_start > capacity / 2) {
    start = offset - capacity / 2;
  }
  size_t size = line_end - start < capacity ? line_end - start : capacity;
  for (size_t i = 0; i < size; i++) {
    char c = text.data[start + i];
    d->excerpt[i] = c == '\0' ? ' ' : c;
  }
  d->excerpt[size] = '\0';
  indim_hide_controls(d->excerpt, ' ');
  d->excerpt_caret = (int32_t)(offset - start);
}

// NULL, and nothing recorded, without a context or beyond what it keeps.
static indim_diagnostic *new_diagnostic(indim_ctx *cx, indim_status status) {
  if (cx == NULL) {
    return NULL;
  }
  size_t index = cx->diagnostic_count++;
  if (index >= INDIM_MAX_DIAGNOSTICS) {
    return NULL;
  }
  indim_diagnostic *d = &cx->diagnostics[index];
  memset(d, 0, sizeof *d);
  d->status = status;
  return d;
}

indim_status indim_fail(indim_ctx *cx, indim_status status, const char *format, ...) {
  indim_diagnostic *d = new_diagnostic(cx, status);
  if (d != NULL) {
    va_list arguments;
    va_start(arguments, format);
    print_into(d->message, sizeof d->message, format, arguments);
    va_end(arguments);
  }
  return status;
}

indim_status indim_fail_at(indim_ctx *cx, indim_status status, const indim_source *source, size_t offset,
                           const char *format, ...) {
  indim_diagnostic *d = new_diagnostic(cx, status);
  if (d != NULL) {
    va_list arguments;
    va_start(arguments, format);
    print_into(d->message, sizeof d->message, format, arguments);
    va_end(arguments);
    if (source != NULL) {
      set_place(d, source, offset);
    }
  }
  return status;
}

static indim_diagnostic *last_diagnostic(indim_ctx *cx) {
  size_t count = cx == NULL ? 0 : cx->diagnostic_count;
  return count == 0 || count > INDIM_MAX_DIAGNOSTICS ? NULL : &cx->diagnostics[count - 1];
}

void indim_hint(indim_ctx *cx, const char *format, ...) {
  indim_diagnostic *d = last_diagnostic(cx);
  if (d != NULL) {
    va_list arguments;
    va_start(arguments, format);
    print_into(d->hint, sizeof d->hint, format, arguments);
    va_end(arguments);
  }
}

void indim_place(indim_ctx *cx, const indim_source *source, size_t offset) {
  indim_diagnostic *d = last_diagnostic(cx);
  if (d != NULL && d->line == 0 && source != NULL) {
    set_place(d, source, offset);
  }
}

void indim_place_name(indim_ctx *cx, indim_str name) {
  indim_diagnostic *d = last_diagnostic(cx);
  if (d != NULL && d->line == 0 && d->source[0] == '\0') {
    copy_into(d->source, sizeof d->source, name);
  }
}

void indim_diagnostic_print(const indim_diagnostic *d, indim_buffer *out) {
  if (d == NULL) {
    return;
  }
  if (d->source[0] != '\0') {
    indim_buffer_printf(out, "%s:", d->source);
  }
  if (d->line > 0) {
    indim_buffer_printf(out, "%d:%d:", (int)d->line, (int)d->column);
  }
  indim_buffer_printf(out, "%serror: %s\n", d->source[0] != '\0' || d->line > 0 ? " " : "", d->message);
  if (d->line > 0) {
    indim_buffer_printf(out, "  %s\n  ", d->excerpt);
    for (int32_t i = 0; i < d->excerpt_caret; i++) {
      // Continuation bytes of UTF-8 take no column of their own.
      if (((unsigned char)d->excerpt[i] & 0xC0) != 0x80) {
        indim_buffer_char(out, ' ');
      }
    }
    indim_buffer_text(out, "^\n");
  }
  if (d->hint[0] != '\0') {
    indim_buffer_printf(out, "  hint: %s\n", d->hint);
  }
}
