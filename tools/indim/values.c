// Values in and out of the command line: arguments from .npy files and literal text, results to .npz and JSON.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <zip.h>

#include "tool.h"

// Arguments ---------------------------------------------------------------------------------------------------------

static bool is_file(const char *text) {
  struct stat status;
  size_t size = strlen(text);
  if (size >= 4 && strcmp(text + size - 4, ".npy") == 0) {
    return true;
  }
  return strpbrk(text, "[({ ") == NULL && stat(text, &status) == 0 && !S_ISDIR(status.st_mode);
}

// Whether the text begins with a shape of its own: "f32[2] ..." or "(f32[] ...".
static bool has_shape(const char *text) {
  size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
  if (text[0] == '(') {
    return has_shape(text + 1 + strspn(text + 1, " "));
  }
  return text[0] == ')' || (word > 0 && text[word] == '[');
}

static int read_npy(indim_ctx *cx, const command *self, const char *path, const indim_shape *shape,
                    indim_literal **out_literal) {
  char *bytes = NULL;
  size_t size = 0;
  int code = read_file(self, path, &bytes, &size);
  if (code != EXIT_OK) {
    return code;
  }
  indim_status status = indim_npy_parse(cx, bytes, size, shape->type, out_literal);
  free(bytes);
  if (status != INDIM_OK) {
    code = report(cx, status);
    fprintf(stderr, "  in %s\n", path);
  }
  return code;
}

int read_argument(indim_ctx *cx, const command *self, const char *text, const indim_shape *shape,
                  indim_literal **out_literal) {
  if (is_file(text)) {
    return read_npy(cx, self, text, shape, out_literal);
  }
  indim_status status = INDIM_OK;
  text += strspn(text, " \t\n");
  if (has_shape(text)) {
    status = indim_literal_parse(cx, indim_str_of(text), out_literal);
  } else {
    indim_buffer full;
    indim_buffer_init(&full, cx);
    indim_shape_print(shape, false, &full);
    indim_buffer_char(&full, ' ');
    indim_buffer_text(&full, text);
    status =
        full.status != INDIM_OK ? full.status : indim_literal_parse(cx, (indim_str){full.data, full.size}, out_literal);
    indim_buffer_deinit(&full);
  }
  return status == INDIM_OK ? EXIT_OK : report(cx, status);
}

// Leaves ------------------------------------------------------------------------------------------------------------

// "0", "2.0": the path of a leaf; a lone array is "0".
typedef struct leaf_path {
  char text[512];
  size_t size;
} leaf_path;

typedef int leaf_visit(indim_ctx *cx, void *user, const char *path, const indim_literal *leaf);

static int visit_leaves(indim_ctx *cx, const indim_literal *literal, leaf_path *path, leaf_visit *visit, void *user) {
  const indim_shape *shape = indim_literal_shape(literal);
  if (shape->type != INDIM_TUPLE) {
    return visit(cx, user, path->size == 0 ? "0" : path->text, literal);
  }
  size_t size = path->size;
  for (int64_t i = 0; i < shape->member_count; i++) {
    int added = snprintf(path->text + size, sizeof path->text - size, "%s%" PRId64, size == 0 ? "" : ".", i);
    if (added < 0 || size + (size_t)added >= sizeof path->text) {
      fputs("indim: the result is nested too deep to name its leaves\n", stderr);
      return EXIT_LIMIT;
    }
    path->size = size + (size_t)added;
    int code = visit_leaves(cx, indim_literal_member(literal, i), path, visit, user);
    if (code != EXIT_OK) {
      return code;
    }
    path->size = size;
    path->text[size] = '\0';
  }
  return EXIT_OK;
}

// .npz --------------------------------------------------------------------------------------------------------------

typedef struct npz_writer {
  const command *self;
  const char *path;
  zip_t *archive;
} npz_writer;

static int npz_error(const npz_writer *w, const char *what) {
  fprintf(stderr, "indim %s: cannot write %s: %s\n", w->self->name, w->path, what);
  return EXIT_FILE;
}

static int add_to_npz(indim_ctx *cx, void *user, const char *path, const indim_literal *leaf) {
  npz_writer *w = user;
  if (!indim_shape_is_array(indim_literal_shape(leaf))) {
    return EXIT_OK;  // a token has no data
  }
  indim_buffer bytes;
  indim_buffer_init(&bytes, cx);
  indim_status status = indim_npy_print(cx, leaf, &bytes);
  if (status != INDIM_OK) {
    indim_buffer_deinit(&bytes);
    return report(cx, status);
  }
  // libzip reads the data when the archive is closed, and frees it.
  char *copy = must_alloc(bytes.size);
  memcpy(copy, bytes.data, bytes.size);
  zip_source_t *source = zip_source_buffer(w->archive, copy, bytes.size, 1);
  indim_buffer_deinit(&bytes);
  if (source == NULL) {
    free(copy);
    return npz_error(w, zip_strerror(w->archive));
  }
  char name[sizeof((leaf_path *)NULL)->text + 8];
  snprintf(name, sizeof name, "%s.npy", path);
  zip_int64_t entry = zip_file_add(w->archive, name, source, ZIP_FL_ENC_UTF_8);
  if (entry < 0) {
    zip_source_free(source);
    return npz_error(w, zip_strerror(w->archive));
  }
  // Stored, as numpy.savez does, and without the time, so that equal results are equal files.
  zip_set_file_compression(w->archive, (zip_uint64_t)entry, ZIP_CM_STORE, 0);
  zip_file_set_dostime(w->archive, (zip_uint64_t)entry, 0, 0x21, 0);
  return EXIT_OK;
}

int write_npz(indim_ctx *cx, const command *self, const char *path, const indim_literal *literal) {
  npz_writer w = {self, path, NULL};
  leaf_path leaf = {{0}, 0};
  size_t length = strlen(path);
  char *temporary = must_alloc(length + 32);
  snprintf(temporary, length + 32, "%s.%ld.tmp", path, (long)getpid());
  int error = 0;
  w.archive = zip_open(temporary, ZIP_CREATE | ZIP_TRUNCATE, &error);
  int code = EXIT_OK;
  if (w.archive == NULL) {
    zip_error_t description;
    zip_error_init_with_code(&description, error);
    code = npz_error(&w, zip_error_strerror(&description));
    zip_error_fini(&description);
  } else {
    code = visit_leaves(cx, literal, &leaf, add_to_npz, &w);
    if (code != EXIT_OK) {
      zip_discard(w.archive);
    } else if (zip_close(w.archive) != 0) {
      code = npz_error(&w, zip_strerror(w.archive));
      zip_discard(w.archive);
    } else if (access(temporary, F_OK) != 0) {
      code = npz_error(&w, "the result has no array in it");  // libzip writes no empty archive
    } else if (rename(temporary, path) != 0) {
      code = npz_error(&w, strerror(errno));
    }
  }
  if (code != EXIT_OK) {
    unlink(temporary);
  }
  free(temporary);
  return code;
}

// JSON --------------------------------------------------------------------------------------------------------------

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
  int code = EXIT_OK;
  if (status != INDIM_OK) {
    code = report(cx, status);
  } else if (cJSON_AddRawToObject(object, "data", data.data) == NULL) {
    fputs("indim: out of memory\n", stderr);
    code = EXIT_MEMORY;
  }
  indim_buffer_deinit(&data);
  return code;
}

static void add_times(cJSON *object, const run_times *times) {
  cJSON *time = cJSON_AddObjectToObject(object, "time_ns");
  cJSON_AddNumberToObject(time, "median", (double)times->median);
  cJSON_AddNumberToObject(time, "min", (double)times->least);
  cJSON_AddNumberToObject(time, "compile", (double)times->compile);
}

int print_json_results(indim_ctx *cx, const indim_literal *literal, const char *engine, const run_times *times) {
  leaf_path path = {{0}, 0};
  cJSON *object = cJSON_CreateObject();
  cJSON *results = cJSON_AddArrayToObject(object, "results");
  int code = visit_leaves(cx, literal, &path, add_to_json, results);
  if (code == EXIT_OK) {
    cJSON_AddStringToObject(object, "engine", engine);
    if (times->count > 0) {
      add_times(object, times);
    }
    char *text = cJSON_PrintUnformatted(object);
    if (text == NULL) {
      fputs("indim: out of memory\n", stderr);
      code = EXIT_MEMORY;
    } else {
      puts(text);
    }
    cJSON_free(text);
  }
  cJSON_Delete(object);
  return code;
}
