// Files in and out: whole files are read, outputs appear complete under their name or not at all.
#define _POSIX_C_SOURCE 200809L
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
  fprintf(stderr, "indim %s: cannot %s %s: %s\n", self->name, what, strcmp(path, "-") == 0 ? "standard input" : path,
          strerror(errno));
  return EXIT_FILE;
}

int read_file(const command *self, const char *path, char **out_bytes, size_t *out_size) {
  bool standard = strcmp(path, "-") == 0;
  FILE *file = standard ? stdin : fopen(path, "rb");
  if (file == NULL) {
    return file_error(self, "open", path);
  }
  size_t capacity = 1 << 16;
  size_t size = 0;
  char *bytes = must_alloc(capacity);
  errno = 0;
  for (;;) {
    size += fread(bytes + size, 1, capacity - size, file);
    if (size < capacity) {
      break;
    }
    char *larger = capacity > SIZE_MAX / 2 ? NULL : realloc(bytes, capacity * 2);
    if (larger == NULL) {
      free(bytes);
      if (!standard) {
        fclose(file);
      }
      fprintf(stderr, "indim %s: %s does not fit in memory\n", self->name, path);
      return EXIT_MEMORY;
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
    return file_error(self, "read", path);
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

int write_file(const command *self, const char *path, const void *bytes, size_t size) {
  struct stat status;
  bool exists = stat(path, &status) == 0;
  if (strcmp(path, "-") == 0) {
    return fwrite(bytes, 1, size, stdout) == size ? EXIT_OK : file_error(self, "write", "standard output");
  }
  if (exists && !S_ISREG(status.st_mode)) {
    // A device or a pipe cannot be replaced: write to it.
    int device = open(path, O_WRONLY);
    bool written = device >= 0 && write_all(device, bytes, size);
    written = device >= 0 && close(device) == 0 && written;
    return written ? EXIT_OK : file_error(self, "write", path);
  }
  size_t length = strlen(path);
  char *temporary = must_alloc(length + 8);
  memcpy(temporary, path, length);
  memcpy(temporary + length, ".XXXXXX", 8);
  int file = mkstemp(temporary);
  if (file < 0) {
    free(temporary);
    return file_error(self, "write", path);
  }
  mode_t mask = umask(0);
  umask(mask);
  bool written = write_all(file, bytes, size);
  written = fchmod(file, exists ? status.st_mode & 07777 : 0666 & ~mask) == 0 && written;
  written = close(file) == 0 && written;
  if (!written || rename(temporary, path) != 0) {
    int code = file_error(self, "write", path);
    unlink(temporary);
    free(temporary);
    return code;
  }
  free(temporary);
  return EXIT_OK;
}

int finish_output(const command *self) {
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "indim %s: cannot write standard output: %s\n", self->name, strerror(errno));
    return EXIT_FILE;
  }
  return EXIT_OK;
}
