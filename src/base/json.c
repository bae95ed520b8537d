// Strings of JSON.
#include "base/json.h"

// How many bytes at |text| are one character of UTF-8; 0 if none is.
static size_t character_bytes(const unsigned char *text, size_t left) {
  static const struct {
    unsigned char mask, lead;
    uint32_t least;  // what fewer bytes could say is no character
  } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
  for (size_t n = 0; n < 4 && n < left; n++) {
    if ((text[0] & forms[n].mask) != forms[n].lead) {
      continue;
    }
    uint32_t code = text[0] & (unsigned char)~forms[n].mask;
    for (size_t i = 1; i <= n; i++) {
      if ((text[i] & 0xC0) != 0x80) {
        return 0;
      }
      code = code << 6 | (text[i] & 0x3Fu);
    }
    bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < forms[n].least || code > 0x10FFFF || is_surrogate ? 0 : n + 1;
  }
  return 0;
}

void indim_json_string(indim_buffer *out, indim_str text) {
  size_t from = 0;  // what is not written yet
  indim_buffer_char(out, '"');
  for (size_t i = 0; i < text.size;) {
    unsigned char c = (unsigned char)text.data[i];
    size_t size = character_bytes((const unsigned char *)text.data + i, text.size - i);
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
