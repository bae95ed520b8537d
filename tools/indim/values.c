// Values in and out of the command line: arguments from .npy files and literal text, results to .npz, leaf by leaf.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zip.h>  // minizip's

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
  zipFile archive;
  int entries;
} npz_writer;

static int npz_error(const npz_writer *w, const char *what) {
  return refuse(w->self, INDIM_IO, "cannot write %s: %s", w->path, what);
}

// What one of minizip's codes means; those of zlib have no text of their own here.
static int npz_failed(const npz_writer *w, int code) {
  return npz_error(w, code == ZIP_ERRNO && errno != 0 ? strerror(errno) : "the archive cannot be made");
}

// One array, stored, as numpy.savez does, and without the time, so that equal results are equal files.
static int add_entry(const npz_writer *w, const char *name, const char *bytes, size_t size) {
  enum { UTF_8 = 1 << 11, FIRST_OF_1980 = 0x210000, PIECE = 1 << 30 };
  const zip_fileinfo info = {.dosDate = FIRST_OF_1980};
  int code = zipOpenNewFileInZip4_64(w->archive, name, &info, NULL, 0, NULL, 0, NULL, 0, 0, 0, -MAX_WBITS,
                                     DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, NULL, 0, 0, UTF_8, size >= UINT32_MAX);
  for (size_t at = 0; code == ZIP_OK && at < size; at += PIECE) {
    code = zipWriteInFileInZip(w->archive, bytes + at, (unsigned)(size - at < PIECE ? size - at : PIECE));
  }
  return code == ZIP_OK ? zipCloseFileInZip(w->archive) : code;
}

static int add_to_npz(indim_ctx *cx, void *user, const char *path, const indim_literal *leaf) {
  npz_writer *w = user;
  if (!indim_shape_is_array(indim_literal_shape(leaf))) {
    return EXIT_OK;  // a token has no data
  }
  char name[LEAF_PATH_SIZE + 8];
  snprintf(name, sizeof name, "%s.npy", path);
  indim_buffer bytes;
  indim_buffer_init(&bytes, cx);
  indim_status status = indim_npy_print(cx, leaf, &bytes);
  int code = status != INDIM_OK ? report(cx, status) : EXIT_OK;
  if (code == EXIT_OK) {
    errno = 0;
    int added = add_entry(w, name, bytes.data, bytes.size);
    code = added == ZIP_OK ? EXIT_OK : npz_failed(w, added);
  }
  w->entries++;
  indim_buffer_deinit(&bytes);
  return code;
}

static int fill_npz(indim_ctx *cx, npz_writer *w, const char *file, const indim_literal *literal) {
  errno = 0;
  w->archive = zipOpen64(file, APPEND_STATUS_CREATE);
  if (w->archive == NULL) {
    return npz_failed(w, ZIP_ERRNO);
  }
  int code = visit_leaves(cx, literal, add_to_npz, w);
  if (code == EXIT_OK && w->entries == 0) {
    code = npz_error(w, "the result has no array in it");
  }
  errno = 0;
  int closed = zipClose(w->archive, NULL);
  return code == EXIT_OK && closed != ZIP_OK ? npz_failed(w, closed) : code;
}

int write_npz(indim_ctx *cx, const command *self, const char *path, const indim_literal *literal) {
  npz_writer w = {self, path, NULL, 0};
  struct stat status;
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
    return npz_error(&w, S_ISDIR(status.st_mode) ? strerror(EISDIR) : "an archive needs a regular file");
  }
  new_file file;
  int code = begin_file(self, path, &file);
  if (code != EXIT_OK) {
    return code;
  }
  code = fill_npz(cx, &w, file.temporary, literal);
  return end_file(self, &file, code);
}
