// JSON out: results, the reasons of a refusal, and the text of any value.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "tool.h"

// Text ---------------------------------------------------------------------------------------------------------------

// Set by json_begin and json_answered.
static bool is_wanted;
static bool is_answered;
static cJSON *reasons;

char *json_text(cJSON *value, bool indented) {
  char *text = indented ? cJSON_Print(value) : cJSON_PrintUnformatted(value);
  cJSON_Delete(value);
  if (text == NULL) {
    fputs("indim: out of memory\n", stderr);
    exit(EXIT_MEMORY);
  }
  for (char *at = text, *end = text + strlen(text); at < end;) {
    size_t size = indim_character_size((indim_str){at, (size_t)(end - at)});
    *at = size == 0 ? '?' : *at;
    at += size == 0 ? 1 : size;
  }
  return text;
}

void json_answered(void) { is_answered = true; }

void json_print(cJSON *value, bool indented) {
  char *text = json_text(value, indented);
  puts(text);
  json_answered();
  free(text);
}

// Refusals -----------------------------------------------------------------------------------------------------------

void json_begin(void) { is_wanted = true; }

cJSON *json_take_reasons(void) {
  cJSON *taken = reasons == NULL ? cJSON_CreateArray() : reasons;
  reasons = NULL;
  return taken;
}

static void keep(indim_status status, int32_t line, int32_t column, const char *message, const char *hint) {
  if (is_wanted) {
    reasons = json_take_reasons();
    cJSON *reason = cJSON_CreateObject();
    cJSON_AddNumberToObject(reason, "line", line);
    cJSON_AddNumberToObject(reason, "column", column);
    cJSON_AddStringToObject(reason, "status", indim_status_name(status));
    cJSON_AddStringToObject(reason, "message", message);
    cJSON_AddStringToObject(reason, "hint", hint);
    cJSON_AddItemToArray(reasons, reason);
  }
}

void json_keep_reason(indim_status status, const char *message) { keep(status, 0, 0, message, ""); }

void json_keep_diagnostics(const indim_ctx *cx) {
  const indim_diagnostic *d = NULL;
  for (size_t i = 0; (d = indim_ctx_diagnostic_get(cx, i)) != NULL; i++) {
    keep(d->status, d->line, d->column, d->message, d->hint);
  }
}

void json_end(int code) {
  cJSON *errors = json_take_reasons();
  if (!is_wanted || is_answered || code == EXIT_OK) {
    cJSON_Delete(errors);
    return;
  }
  cJSON *object = cJSON_CreateObject();
  cJSON_AddBoolToObject(object, "ok", false);
  cJSON_AddItemToObject(object, "errors", errors);
  json_print(object, true);
}

// Results ------------------------------------------------------------------------------------------------------------

// The shortest of 6, 9 (f32 and narrower) or 15, 17 digits that reads back; NaN and infinities as strings.
static void json_number(double value, bool narrow, indim_buffer *out) {
  char digits[40];
  if (isnan(value) || isinf(value)) {
    indim_buffer_text(out, isnan(value) ? "\"nan\"" : value < 0 ? "\"-inf\"" : "\"inf\"");
    return;
  }
  snprintf(digits, sizeof digits, "%.*g", narrow ? 6 : 15, value);
  double back = strtod(digits, NULL);
  if (narrow ? (float)back != (float)value : back != value) {
    snprintf(digits, sizeof digits, "%.*g", narrow ? 9 : 17, value);
  }
  indim_buffer_text(out, digits);
}

static indim_status json_element(indim_ctx *cx, const indim_literal *literal, const int64_t *index, indim_buffer *out) {
  indim_type type = indim_literal_shape(literal)->type;
  if (indim_type_is_float(type) || indim_type_is_complex(type)) {
    double real = 0;
    double imag = 0;
    indim_status status = indim_literal_get_float(cx, literal, index, &real, &imag);
    bool narrow = type != INDIM_F64 && type != INDIM_C128;
    bool pair = indim_type_is_complex(type);
    indim_buffer_text(out, pair ? "[" : "");
    json_number(real, narrow, out);
    if (pair) {
      indim_buffer_char(out, ',');
      json_number(imag, narrow, out);
      indim_buffer_char(out, ']');
    }
    return status;
  }
  int64_t value = 0;
  indim_status status = indim_literal_get_int(cx, literal, index, &value);
  if (type == INDIM_PRED) {
    indim_buffer_text(out, value != 0 ? "true" : "false");
  } else if (indim_type_is_unsigned_int(type)) {
    indim_buffer_printf(out, "%" PRIu64, (uint64_t)value);
  } else {
    indim_buffer_int(out, value);
  }
  return status;
}

// Nested lists by logical index. A dynamic dimension has its run-time size.
static indim_status json_data(indim_ctx *cx, const indim_literal *literal, int32_t dim, int64_t *index,
                              indim_buffer *out) {
  const indim_shape *shape = indim_literal_shape(literal);
  if (dim == shape->rank) {
    return json_element(cx, literal, index, out);
  }
  indim_buffer_char(out, '[');
  int64_t size = indim_literal_dynamic_size(literal, dim);
  for (index[dim] = 0; index[dim] < size; index[dim]++) {
    indim_buffer_text(out, index[dim] == 0 ? "" : ",");
    indim_status status = json_data(cx, literal, dim + 1, index, out);
    if (status != INDIM_OK) {
      return status;
    }
  }
  indim_buffer_char(out, ']');
  return out->status;
}

static int add_to_json(indim_ctx *cx, void *user, const char *path, const indim_literal *leaf) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddItemToArray(user, object);
  char *shape = shape_text(cx, indim_literal_shape(leaf), true);
  cJSON_AddStringToObject(object, "path", path);
  cJSON_AddStringToObject(object, "shape", shape);
  free(shape);
  if (!indim_shape_is_array(indim_literal_shape(leaf))) {
    cJSON_AddNullToObject(object, "data");
    return EXIT_OK;
  }
  indim_buffer data;
  int64_t index[INDIM_MAX_RANK] = {0};
  indim_buffer_init(&data, cx);
  indim_status status = json_data(cx, leaf, 0, index, &data);
  if (status == INDIM_OK) {
    status = data.status;
  }
  if (status == INDIM_OK && cJSON_AddRawToObject(object, "data", data.data) == NULL) {
    status = INDIM_NO_MEMORY;
  }
  indim_buffer_deinit(&data);
  return status == INDIM_OK ? EXIT_OK : report(cx, status);
}

static void add_times(cJSON *object, const run_times *times) {
  cJSON *time = cJSON_AddObjectToObject(object, "time_ns");
  cJSON_AddNumberToObject(time, "median", (double)times->median);
  cJSON_AddNumberToObject(time, "min", (double)times->least);
  cJSON_AddNumberToObject(time, "compile", (double)times->compile);
}

int json_print_results(indim_ctx *cx, const indim_literal *literal, const char *engine, const char *target,
                       int32_t threads, const run_times *times) {
  cJSON *object = cJSON_CreateObject();
  cJSON *results = cJSON_AddArrayToObject(object, "results");
  int code = visit_leaves(cx, literal, add_to_json, results);
  if (code != EXIT_OK) {
    cJSON_Delete(object);
    return code;
  }
  cJSON_AddStringToObject(object, "engine", engine);
  if (target != NULL) {
    cJSON_AddStringToObject(object, "target", target);
  }
  if (threads > 0) {
    cJSON_AddNumberToObject(object, "threads", threads);
  }
  if (times->count > 0) {
    add_times(object, times);
  }
  json_print(object, false);
  return EXIT_OK;
}
