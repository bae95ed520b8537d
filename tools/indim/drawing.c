// What the commands that draw share: their options, what the terminal can show, and the drawing's way out.
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "drawing.h"

enum { NARROWEST = 40, WIDEST = 1000 };

static int32_t read_width(const char *text) {
  char *end = NULL;
  long value = text == NULL ? 0 : strtol(text, &end, 10);
  bool is_number = end != NULL && end != text && *end == '\0' && value > 0;
  return !is_number ? 0 : value < NARROWEST ? NARROWEST : value > WIDEST ? WIDEST : (int32_t)value;
}

void drawing_start(drawing *d) {
  *d = (drawing){.form = DRAWING_TEXT, .path = "-"};
  d->options.width = terminal_width();
  d->options.ascii = !terminal_has_utf8();
  d->options.colour = terminal_has_color();
}

static int set_form(drawing *d, const command *self, drawing_form form) {
  if (d->form != DRAWING_TEXT && d->form != form) {
    return usage_error(self, "give one of --svg, --html and --json");
  }
  d->form = form;
  return EXIT_OK;
}

int drawing_option(drawing *d, const command *self, int code, const char *value) {
  switch (code) {
  case DRAWING_OPTION_SVG:
    return set_form(d, self, DRAWING_SVG);
  case DRAWING_OPTION_HTML:
    return set_form(d, self, DRAWING_HTML);
  case DRAWING_OPTION_JSON:
    return set_form(d, self, DRAWING_JSON);
  case DRAWING_OPTION_OUTPUT:
    d->path = value;
    return EXIT_OK;
  case DRAWING_OPTION_ASCII:
    d->options.ascii = true;
    return EXIT_OK;
  case DRAWING_OPTION_WIDTH:
    d->options.width = read_width(value);
    return d->options.width > 0 ? EXIT_OK : usage_error(self, "--width: '%s' is no number of characters", value);
  case DRAWING_OPTION_COLOR:
    if (strcmp(value, "always") != 0 && strcmp(value, "never") != 0 && strcmp(value, "auto") != 0) {
      return usage_error(self, "--color=%s: give always, never or auto", value);
    }
    d->options.colour = strcmp(value, "auto") == 0 ? d->options.colour : strcmp(value, "always") == 0;
    return EXIT_OK;
  default:
    return EXIT_OK;
  }
}

static int write_text(indim_ctx *cx, const command *self, const drawing *d, const indim_buffer *text) {
  return text->status != INDIM_OK ? report(cx, text->status) : write_file(self, d->path, text->data, text->size);
}

// The facts with the picture behind them.
static int write_json(indim_ctx *cx, const command *self, const drawing *d, const picture *p, cJSON *facts) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  picture_print_json(p, &text);
  if (text.status != INDIM_OK || cJSON_AddRawToObject(facts, "picture", text.data) == NULL) {
    indim_status status = text.status == INDIM_OK ? INDIM_NO_MEMORY : text.status;
    indim_buffer_deinit(&text);
    cJSON_Delete(facts);
    return report(cx, status);
  }
  indim_buffer_deinit(&text);
  char *whole = json_text(facts, true);
  indim_buffer_init(&text, cx);
  indim_buffer_text(&text, whole);
  indim_buffer_char(&text, '\n');
  free(whole);
  int code = write_text(cx, self, d, &text);
  indim_buffer_deinit(&text);
  if (code == EXIT_OK) {
    json_answered();
  }
  return code;
}

int drawing_print(indim_ctx *cx, const command *self, const drawing *d, const picture *p, const char *title,
                  cJSON *facts) {
  if (d->form == DRAWING_JSON) {
    return write_json(cx, self, d, p, facts);
  }
  indim_buffer text;
  indim_buffer_init(&text, cx);
  if (d->form == DRAWING_SVG) {
    picture_print_svg(p, &d->options, &text);
  } else if (d->form == DRAWING_HTML) {
    picture_print_html(p, &d->options, title, &text);
  } else {
    picture_options options = d->options;
    options.colour = options.colour && strcmp(d->path, "-") == 0;
    picture_print_text(p, &options, &text);
  }
  int code = write_text(cx, self, d, &text);
  indim_buffer_deinit(&text);
  cJSON_Delete(facts);
  return code;
}
