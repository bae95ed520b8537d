// Strings of JSON.
#ifndef INDIM_BASE_JSON_H
#define INDIM_BASE_JSON_H

#include "indim/base.h"

// Writes |text| in quotes; bytes that are no UTF-8 become U+FFFD.
void indim_json_string(indim_buffer *out, indim_str text);

#endif  // INDIM_BASE_JSON_H
