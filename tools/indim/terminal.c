// What a table on standard output may look like: how wide it is, and whether there are colours.
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tool.h"

int terminal_width(void) {
  enum { USUAL = 100, LEAST = 40, MOST = 1000 };
  const char *columns = getenv("COLUMNS");
  struct winsize size;
  int width = USUAL;
  if (columns != NULL && atoi(columns) > 0) {
    width = atoi(columns);
  } else if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width = size.ws_col;
  }
  return width < LEAST ? LEAST : width > MOST ? MOST : width;
}

// The locale's name says so where the locale itself is not installed, too.
bool terminal_has_utf8(void) {
  const char *const names[] = {getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (names[i] != NULL && names[i][0] != '\0') {
      return strstr(names[i], "UTF-8") != NULL || strstr(names[i], "utf8") != NULL ||
             strstr(names[i], "UTF8") != NULL || strstr(names[i], "utf-8") != NULL;
    }
  }
  return false;
}

// NO_COLOR: no-color.org.
bool terminal_has_color(void) {
  const char *none = getenv("NO_COLOR");
  const char *kind = getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (none == NULL || none[0] == '\0') && (kind == NULL || strcmp(kind, "dumb") != 0);
}

char *shown_path(const char *path) {
  char *shown = strcpy(must_alloc(strlen(path) + 1), path);
  indim_hide_controls(shown, '?');
  return shown;
}
