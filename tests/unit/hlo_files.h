// What the tests of tests/hlo share (tests/hlo/README.md): finding the files.
#ifndef INDIM_HLO_FILES_H
#define INDIM_HLO_FILES_H

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "hlo_file.h"
#include "test.h"

// The text of a file, allocated.
static inline char *hlo_read_file(const char *path) {
  char *text = hlo_read(path);
  CHECK_MSG(text != NULL, "%s cannot be read", path);
  return text == NULL ? calloc(1, 1) : text;
}

// The line behind this one, or the end of the text.
static inline const char *hlo_next_line(const char *line) {
  line += strcspn(line, "\n");
  return line + (*line == '\n' ? 1 : 0);
}

// Runs |run| for each program below |folder|, in order, and returns how many there are.
static inline int hlo_each_file(const char *folder, void (*run)(const char *path, void *user), void *user) {
  struct dirent **entries = NULL;
  int found = 0;
  int count = scandir(folder, &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    size_t length = strlen(name);
    char path[1000];
    struct stat status;
    bool fits = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path;
    if (fits && name[0] != '.' && stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
      found += hlo_each_file(path, run, user);
    } else if (fits && length > 4 && strcmp(name + length - 4, ".hlo") == 0) {
      run(path, user);
      found++;
    }
    free(entries[i]);
  }
  free(entries);
  return found;
}

#endif  // INDIM_HLO_FILES_H
