// Files in and out: whole files are read, outputs appear complete under their name or not at all.
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

void *must_alloc(size_t size) {
  void *memory = malloc(size == 0 ? 1 : size);
  if (memory == NULL) {
    fputs("indim: out of memory\n", stderr);
    exit(EXIT_MEMORY);
  }
  return memory;
}

static int file_error(const command *self, const char *what, const char *path) {
  return refuse(self, INDIM_IO, "cannot %s %s: %s", what, path, strerror(errno));
}

// Room for the whole file and a byte more, which is where its end is noticed; where the size is not known, some.
static size_t capacity_for(FILE *file) {
  struct stat status;
  bool known = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= 0 &&
               (uintmax_t)status.st_size < SIZE_MAX / 2;
  size_t size = known ? (size_t)status.st_size + 1 : 0;
  return size > 1 << 16 ? size : 1 << 16;
}

static bool is_regular(FILE *file) {
  struct stat status;
  return fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
}

int read_file(const command *self, const char *path, char **out_bytes, size_t *out_size) {
  enum { ENDLESS = 1 << 30 };  // bytes of a device or a pipe
  bool standard = strcmp(path, "-") == 0;
  const char *name = standard ? "standard input" : path;
  FILE *file = standard ? stdin : fopen(path, "rb");
  if (file == NULL) {
    return file_error(self, "open", name);
  }
  size_t capacity = capacity_for(file);
  size_t size = 0;
  char *bytes = must_alloc(capacity);
  errno = 0;
  for (;;) {
    size += fread(bytes + size, 1, capacity - size, file);
    if (size < capacity) {
      break;
    }
    bool is_endless = capacity >= ENDLESS && !is_regular(file);
    char *larger = is_endless || capacity > SIZE_MAX / 2 ? NULL : realloc(bytes, capacity * 2);
    if (larger == NULL) {
      free(bytes);
      if (!standard) {
        fclose(file);
      }
      return is_endless
                 ? refuse(self, INDIM_LIMIT, "%s has no end within %d MiB, and is no regular file", name, ENDLESS >> 20)
                 : refuse(self, INDIM_NO_MEMORY, "%s does not fit in memory", name);
    }
    bytes = larger;
    capacity *= 2;
  }
  bool failed = ferror(file) != 0;
  int error = errno;
  if (!standard) {
    fclose(file);
  }
  if (failed) {
    free(bytes);
    errno = error;
    return file_error(self, "read", name);
  }
  *out_bytes = bytes;
  *out_size = size;
  return EXIT_OK;
}

static bool write_all(int file, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, bytes, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    bytes += written;
    size -= (size_t)written;
  }
  return true;
}

char *real_path_of(const char *path) {
  char *real = realpath(path, NULL);
  if (real != NULL) {
    return real;
  }
  char *copy = must_alloc(strlen(path) + 1);
  return strcpy(copy, path);
}

// A device or a pipe cannot be replaced.
static int write_through(const command *self, const char *path, const void *bytes, size_t size) {
  int device = open(path, O_WRONLY);
  bool written = device >= 0 && write_all(device, bytes, size);
  written = device >= 0 && close(device) == 0 && written;
  return written ? EXIT_OK : file_error(self, "write", path);
}

int open_temporary(const char *path, char **out_name) {
  size_t length = strlen(path);
  *out_name = must_alloc(length + 8);
  memcpy(*out_name, path, length);
  memcpy(*out_name + length, ".XXXXXX", 8);
  return mkstemp(*out_name);
}

bool is_same_file(const char *a, const char *b) {
  struct stat of_a;
  struct stat of_b;
  return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

int keep_program(const command *self, const char *input, const char *output) {
  bool is_program = output != NULL && strcmp(output, "-") != 0 && is_same_file(input, output);
  return is_program ? usage_error(self, "-o %s is the program itself, which would be lost", output) : EXIT_OK;
}

int begin_file(const command *self, const char *path, new_file *out) {
  struct stat status;
  mode_t mask = umask(0);
  umask(mask);
  *out = (new_file){.path = path, .real = real_path_of(path)};
  out->mode = stat(path, &status) == 0 ? status.st_mode & 07777 : 0666 & ~mask;
  out->file = open_temporary(out->real, &out->temporary);
  return out->file >= 0 ? EXIT_OK : end_file(self, out, file_error(self, "write", path));
}

int end_file(const command *self, new_file *file, int code) {
  bool is_done = file->file >= 0 && fchmod(file->file, file->mode) == 0;
  is_done = file->file >= 0 && close(file->file) == 0 && is_done;
  if (code == EXIT_OK && (!is_done || rename(file->temporary, file->real) != 0)) {
    code = file_error(self, "write", file->path);
  }
  if (code != EXIT_OK && file->file >= 0) {
    unlink(file->temporary);
  }
  free(file->temporary);
  free(file->real);
  return code;
}

static int replace_file(const command *self, const char *path, const void *bytes, size_t size) {
  new_file file;
  int code = begin_file(self, path, &file);
  if (code != EXIT_OK) {
    return code;
  }
  return end_file(self, &file, write_all(file.file, bytes, size) ? EXIT_OK : file_error(self, "write", path));
}

// "/dev/stdout" may lead to a file that is open already, which is not to be replaced.
int write_file(const command *self, const char *path, const void *bytes, size_t size) {
  if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
    return fwrite(bytes, 1, size, stdout) == size ? EXIT_OK : file_error(self, "write", "standard output");
  }
  struct stat status;
  bool is_device = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
  return is_device ? write_through(self, path, bytes, size) : replace_file(self, path, bytes, size);
}

int finish_output(const command *self) {
  if (fflush(stdout) != 0 || ferror(stdout)) {
    return file_error(self, "write", "standard output");
  }
  return EXIT_OK;
}
