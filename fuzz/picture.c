// Any text "SHAPE", or "SHAPE | SHAPE" of two, drawn: a valid shape has a picture, in every form, or its
// storage is beyond counting; two have one of what lies between them, and of how they broadcast.
#include "picture.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) {
    abort();
  }
}

static void print(indim_ctx *cx, const picture *p, const picture_options *options) {
  indim_buffer out;
  indim_buffer_init(&out, cx);
  picture_print_text(p, options, &out);
  picture_print_svg(p, options, &out);
  picture_print_html(p, options, "a shape", &out);
  picture_print_json(p, &out);
  require(out.status == INDIM_OK || out.status == INDIM_LIMIT);
  indim_buffer_deinit(&out);
}

static bool read(indim_ctx *cx, indim_str text, indim_arena *arena, indim_shape *out) {
  return indim_shape_parse(cx, text, arena, out) == INDIM_OK && indim_shape_validate(cx, out, true) == INDIM_OK;
}

static indim_status draw_two(indim_ctx *cx, picture *p, const indim_shape *a, const indim_shape *b,
                             const picture_options *options) {
  indim_broadcast result;
  indim_broadcast_reason reason = INDIM_BROADCAST_NONE;
  indim_status status = picture_add_pair(p, a, b, options);
  if (status == INDIM_OK &&
      (indim_broadcast_shapes(cx, a, b, NULL, 0, &result, &reason) == INDIM_OK || reason != INDIM_BROADCAST_NONE)) {
    status = picture_add_broadcast(p, a, b, NULL, 0, true, &result, reason, NULL, options);
  }
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  indim_ctx *cx = NULL;
  indim_arena *arena = NULL;
  indim_shape shapes[2];
  require(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_ctx_set_memory_limit(cx, 64 << 20);
  require(indim_arena_create(cx, &arena) == INDIM_OK);
  const char *text = (const char *)data;
  const char *bar = size == 0 ? NULL : memchr(text, '|', size);
  size_t first = bar == NULL ? size : (size_t)(bar - text);
  picture_options options = {.width = 40 + (int32_t)(size % 100), .ascii = size % 2 == 0, .colour = size % 3 == 0};
  picture p;
  picture_init(&p, cx);
  indim_status status = INDIM_OK;
  if (read(cx, (indim_str){text, first}, arena, &shapes[0])) {
    if (bar == NULL) {
      status = picture_add_shape(&p, &shapes[0], &options);
    } else if (read(cx, (indim_str){bar + 1, size - first - 1}, arena, &shapes[1])) {
      status = draw_two(cx, &p, &shapes[0], &shapes[1], &options);
    }
    require(status == INDIM_OK || status == INDIM_LIMIT || status == INDIM_INVALID);
    if (status == INDIM_OK) {
      print(cx, &p, &options);
    }
  }
  picture_deinit(&p);
  indim_arena_destroy(arena);
  require(indim_ctx_memory_in_use(cx) == 0);
  indim_ctx_destroy(cx);
  return 0;
}
