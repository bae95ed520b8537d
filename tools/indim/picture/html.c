// A picture as one HTML page without anything from elsewhere: facts as a table, grids as SVG that scrolls where the
// screen is narrow, and the same as text for those who read or copy it.
#include "build.h"
#include "markup.h"

static const char page_style[] =
    "body{margin:0 auto;max-width:64rem;padding:1rem;font:15px/1.5 "
    "system-ui,sans-serif;color:#1f2328;background:#fff}\n"
    "h2{font:600 1.05rem ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere;margin:1.5rem 0 .5rem}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}\n"
    "dt{color:#6e7781}dd{margin:0;overflow-wrap:anywhere}\n"
    "figure{margin:1rem 0;overflow-x:auto}figure svg{display:block}\n"
    "pre{overflow-x:auto;font:12px/1.3 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}\n"
    "@media(max-width:36rem){dl{grid-template-columns:1fr}dd{margin:0 0 .4rem}}\n"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}dt{color:#8d96a0}}\n";

static void put_element(indim_buffer *out, const char *tag, const char *text) {
  indim_buffer_printf(out, "<%s>", tag);
  markup_escape(out, text);
  indim_buffer_printf(out, "</%s>\n", tag);
}

// From the block |first|, one of a kind; returns the number of the one behind.
static size_t put_run(const picture *p, const picture_options *options, size_t first, indim_buffer *out) {
  size_t count = picture_block_count(p);
  size_t i = first;
  picture_block_kind kind = picture_block_at(p, first)->kind;
  if (kind == PICTURE_FACT) {
    indim_buffer_text(out, "<dl>\n");
    for (; i < count && picture_block_at(p, i)->kind == PICTURE_FACT; i++) {
      put_element(out, "dt", picture_string(p, picture_block_at(p, i)->label));
      put_element(out, "dd", picture_string(p, picture_block_at(p, i)->text));
    }
    indim_buffer_text(out, "</dl>\n");
    return i;
  }
  if (kind == PICTURE_HEADING) {
    put_element(out, "h2", picture_string(p, picture_block_at(p, first)->text));
    return first + 1;
  }
  // Grids and their notes together: arrows may lead from one to another.
  while (i < count && (picture_block_at(p, i)->kind == PICTURE_GRID || picture_block_at(p, i)->kind == PICTURE_NOTE)) {
    i++;
  }
  indim_buffer_text(out, "<figure>");
  markup_svg(p, options, first, i, false, out);
  indim_buffer_text(out, "</figure>\n");
  return i;
}

void picture_print_html(const picture *p, const picture_options *options, const char *title, indim_buffer *out) {
  picture_options plain = options == NULL ? (picture_options){0} : *options;
  indim_buffer text;
  plain.colour = false;
  indim_buffer_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                         "<meta name=\"color-scheme\" content=\"light dark\">\n");
  put_element(out, "title", title);
  indim_buffer_text(out, "<style>\n");
  indim_buffer_text(out, page_style);
  markup_style(out);
  indim_buffer_text(out, "</style>\n</head>\n<body>\n");
  for (size_t i = 0; i < picture_block_count(p) && out->status == INDIM_OK;) {
    i = put_run(p, &plain, i, out);
  }
  indim_buffer_init(&text, out->cx);
  picture_print_text(p, &plain, &text);
  indim_buffer_text(out, "<details><summary>As text</summary>\n<pre>");
  markup_escape(out, text.data == NULL ? "" : text.data);
  indim_buffer_text(out, "</pre></details>\n</body>\n</html>\n");
  out->status = out->status == INDIM_OK ? text.status : out->status;
  indim_buffer_deinit(&text);
}
