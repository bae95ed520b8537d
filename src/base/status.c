// Names and sentences of the status codes, from status.def.
#include <string.h>

#include "indim/base.h"

static const struct {
  const char *name;
  const char *text;
} rows[] = {
#define INDIM_STATUS(name, text) {#name, text},
#include "indim/status.def"
};

const char *indim_status_name(indim_status status) {
  return (size_t)status < sizeof(rows) / sizeof(rows[0]) ? rows[status].name : "UNKNOWN";
}

const char *indim_status_text(indim_status status) {
  return (size_t)status < sizeof(rows) / sizeof(rows[0]) ? rows[status].text : "unknown status";
}

indim_str indim_str_of(const char *text) { return (indim_str){text, text == NULL ? 0 : strlen(text)}; }

bool indim_str_equal(indim_str a, indim_str b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
