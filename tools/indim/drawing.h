// What the commands that draw share.
#ifndef INDIM_TOOL_DRAWING_H
#define INDIM_TOOL_DRAWING_H

#include "picture/picture.h"
#include "tool.h"

typedef enum drawing_form { DRAWING_TEXT, DRAWING_SVG, DRAWING_HTML, DRAWING_JSON } drawing_form;

typedef struct drawing {
  drawing_form form;
  const char *path;  // of the output; "-" is standard output
  picture_options options;
} drawing;

enum {
  DRAWING_OPTION_SVG = 100,
  DRAWING_OPTION_HTML,
  DRAWING_OPTION_JSON,
  DRAWING_OPTION_OUTPUT,
  DRAWING_OPTION_ASCII,
  DRAWING_OPTION_WIDTH,
  DRAWING_OPTION_COLOR
};

// For the list of a command's options, and for its help.
#define DRAWING_OPTIONS                                                                      \
  {"svg", 0, DRAWING_OPTION_SVG, false}, {"html", 0, DRAWING_OPTION_HTML, false},            \
      {"json", 0, DRAWING_OPTION_JSON, false}, {"output", 'o', DRAWING_OPTION_OUTPUT, true}, \
      {"ascii", 0, DRAWING_OPTION_ASCII, false}, {"width", 0, DRAWING_OPTION_WIDTH, true}, { \
    "color", 0, DRAWING_OPTION_COLOR, true                                                   \
  }
#define DRAWING_HELP                                                                                \
  "  --svg, --html, --json    a drawing as SVG, as a page of its own, or as one JSON object\n"      \
  "  -o FILE, --output=FILE   write there\n"                                                        \
  "  --ascii                  draw with ASCII characters alone, as where the locale is not UTF-8\n" \
  "  --width=N                characters of a line, instead of the terminal's ($COLUMNS)\n"         \
  "  --color=WHEN             always, never, or auto: on a terminal, unless $NO_COLOR is set\n"

// What the terminal and the environment say.
void drawing_start(drawing *d);
// Takes one of the options above (and ignores others); EXIT_USAGE after telling what is wrong with it.
int drawing_option(drawing *d, const command *self, int code, const char *value);

struct cJSON;
// Writes the picture where it is to go. |title| is the page's; |facts|, an object for JSON, is deleted in any case (NULL
// where the form is another).
int drawing_print(indim_ctx *cx, const command *self, const drawing *d, const picture *p, const char *title,
                  struct cJSON *facts);

#endif  // INDIM_TOOL_DRAWING_H
