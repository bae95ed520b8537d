// Text of others' on its way out: characters of UTF-8, strings of JSON, and what a terminal would obey.
#include "indim/base.h"

#include <string.h>

size_t indim_character_size(indim_str text) {
  const unsigned char *bytes = (const unsigned char *)text.data;
  static const struct {
    unsigned char mask, lead;
    uint32_t least;  // what fewer bytes could say is no character
  } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
  for (size_t n = 0; n < 4 && n < text.size; n++) {
    if ((bytes[0] & forms[n].mask) != forms[n].lead) {
      continue;
    }
    uint32_t code = bytes[0] & (unsigned char)~forms[n].mask;
    for (size_t i = 1; i <= n; i++) {
      if ((bytes[i] & 0xC0) != 0x80) {
        return 0;
      }
      code = code << 6 | (bytes[i] & 0x3Fu);
    }
    bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < forms[n].least || code > 0x10FFFF || is_surrogate ? 0 : n + 1;
  }
  return 0;
}

void indim_buffer_json(indim_buffer *out, indim_str text) {
  size_t from = 0;  // what is not written yet
  indim_buffer_char(out, '"');
  for (size_t i = 0; i < text.size;) {
    unsigned char c = (unsigned char)text.data[i];
    size_t size = indim_character_size((indim_str){text.data + i, text.size - i});
    if (size > 0 && c >= ' ' && c != '"' && c != '\\') {
      i += size;
      continue;
    }
    indim_buffer_append(out, text.data + from, i - from);
    if (size == 0) {
      indim_buffer_text(out, "\xEF\xBF\xBD");
    } else if (c == '\n') {
      indim_buffer_text(out, "\\n");
    } else if (c < ' ') {
      indim_buffer_printf(out, "\\u%04x", (unsigned)c);
    } else {
      indim_buffer_char(out, '\\');
      indim_buffer_char(out, (char)c);
    }
    from = ++i;
  }
  indim_buffer_append(out, text.data + from, text.size - from);
  indim_buffer_char(out, '"');
}

// C1 is U+0080 to U+009F in UTF-8, and the bytes 80 to 9F where a terminal knows none.
static bool is_control(const char *text, size_t size) {
  unsigned char c = (unsigned char)text[0];
  unsigned char last = (unsigned char)text[size == 2 ? 1 : 0];
  return c < ' ' || c == 127 || ((size == 0 || (size == 2 && c == 0xC2)) && last >= 0x80 && last <= 0x9F);
}

void indim_hide_controls(char *text, char by) {
  for (size_t left = text == NULL ? 0 : strlen(text); left > 0;) {
    size_t size = indim_character_size((indim_str){text, left});
    size_t bytes = size == 0 ? 1 : size;
    if (is_control(text, size)) {
      memset(text, by, bytes);
    }
    text += bytes;
    left -= bytes;
  }
}
