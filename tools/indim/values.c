// Values in and out of the command line: arguments from .npy files and literal text, results to .npz, leaf by leaf.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zip.h>

#include "tool.h"

// Arguments ---------------------------------------------------------------------------------------------------------

static bool may_be_path(const char *text) { return strpbrk(text, "[({ ") == NULL; }

static bool is_file(const char *text) {
  struct stat status;
  size_t size = strlen(text);
  if (size >= 4 && strcmp(text + size - 4, ".npy") == 0) {
    return true;
  }
  return may_be_path(text) && stat(text, &status) == 0 && !S_ISDIR(status.st_mode);
}

// Whether the text begins with a shape of its own: "f32[2] ..." or "(f32[] ...".
static bool has_shape(const char *text) {
  text += strspn(text, "( ");
  size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
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
  int code = status == INDIM_OK ? EXIT_OK : report(cx, status);
  if (code != EXIT_OK && may_be_path(text)) {
    fprintf(stderr, "  and '%s' is no file\n", text);
  }
  return code;
}

// Leaves ------------------------------------------------------------------------------------------------------------

typedef struct leaf_path {
  char text[LEAF_PATH_SIZE];
  size_t size;
} leaf_path;

static int visit_members(indim_ctx *cx, const indim_literal *literal, leaf_path *path, leaf_visit *visit, void *user) {
  const indim_shape *shape = indim_literal_shape(literal);
  if (shape->type != INDIM_TUPLE) {
    return visit(cx, user, path->size == 0 ? "0" : path->text, literal);
  }
  size_t size = path->size;
  for (int64_t i = 0; i < shape->member_count; i++) {
    int added = snprintf(path->text + size, sizeof path->text - size, "%s%" PRId64, size == 0 ? "" : ".", i);
    if (added < 0 || size + (size_t)added >= sizeof path->text) {
      fputs("indim: the result is nested too deep to name its leaves\n", stderr);
      json_keep_reason(INDIM_LIMIT, "the result is nested too deep to name its leaves");
      return EXIT_LIMIT;
    }
    path->size = size + (size_t)added;
    int code = visit_members(cx, indim_literal_member(literal, i), path, visit, user);
    if (code != EXIT_OK) {
      return code;
    }
    path->size = size;
    path->text[size] = '\0';
  }
  return EXIT_OK;
}

int visit_leaves(indim_ctx *cx, const indim_literal *literal, leaf_visit *visit, void *user) {
  leaf_path path = {{0}, 0};
  return visit_members(cx, literal, &path, visit, user);
}

// .npz --------------------------------------------------------------------------------------------------------------

typedef struct npz_writer {
  const command *self;
  const char *path;
  zip_t *archive;
} npz_writer;

static int npz_error(const npz_writer *w, const char *what) {
  return refuse(w->self, INDIM_IO, "cannot write %s: %s", w->path, what);
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
  char name[LEAF_PATH_SIZE + 8];
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

// libzip writes a temporary file beside the archive and renames it when the archive is closed.
int write_npz(indim_ctx *cx, const command *self, const char *path, const indim_literal *literal) {
  npz_writer w = {self, path, NULL};
  char *real = real_path_of(path);
  struct stat status;
  if (stat(real, &status) == 0 && !S_ISREG(status.st_mode)) {
    free(real);
    return npz_error(&w, S_ISDIR(status.st_mode) ? strerror(EISDIR) : "an archive needs a regular file");
  }
  int error = 0;
  w.archive = zip_open(real, ZIP_CREATE | ZIP_TRUNCATE, &error);
  free(real);
  if (w.archive == NULL) {
    zip_error_t description;
    zip_error_init_with_code(&description, error);
    int code = npz_error(&w, zip_error_strerror(&description));
    zip_error_fini(&description);
    return code;
  }
  int code = visit_leaves(cx, literal, add_to_npz, &w);
  if (code == EXIT_OK && zip_get_num_entries(w.archive, 0) == 0) {
    code = npz_error(&w, "the result has no array in it");  // and libzip would delete the file
  }
  if (code == EXIT_OK && zip_close(w.archive) != 0) {
    code = npz_error(&w, zip_strerror(w.archive));
  }
  if (code != EXIT_OK) {
    zip_discard(w.archive);
  }
  return code;
}
