// Any text as a shape: it is refused with a place, or read, and then what is printed reads back as the same shape, the
// message of the wire format reads back too, and questions about it end.
#include <stdlib.h>
#include <string.h>

#include "indim/shape_util.h"
#include "indim/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) {
    abort();
  }
}

static void read_back(indim_ctx *cx, indim_arena *arena, const indim_shape *shape) {
  indim_buffer text;
  indim_buffer bytes;
  indim_shape again;
  indim_buffer_init(&text, cx);
  indim_buffer_init(&bytes, cx);
  indim_shape_print(shape, true, &text);
  indim_status status = indim_shape_parse(cx, (indim_str){text.data, text.size}, arena, &again);
  require(status == INDIM_LIMIT || (status == INDIM_OK && indim_shape_equal(shape, &again, 0)));
  status = indim_shape_encode(cx, shape, &bytes);
  require(status == INDIM_OK || status == INDIM_UNSUPPORTED || status == INDIM_LIMIT);
  if (status == INDIM_OK) {
    status = indim_shape_decode(cx, bytes.data, bytes.size, arena, &again);
    require(status == INDIM_LIMIT || (status == INDIM_OK && indim_shape_equal(shape, &again, 0)));
  }
  indim_buffer_deinit(&text);
  indim_buffer_deinit(&bytes);
}

static void ask(indim_ctx *cx, indim_arena *arena, const indim_shape *shape) {
  indim_shape other;
  indim_shape_walk walk;
  int64_t number = 0;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next_leaf(&walk);) {
    if (!indim_shape_is_array(walk.shape)) {
      continue;
    }
    indim_bitcast_parts parts;
    (void)!indim_shape_storage_bytes(cx, walk.shape, &number);
    (void)!indim_shape_array_size(cx, walk.shape, &number);
    (void)!indim_shape_array_data_size(cx, walk.shape, &number);
    if (indim_shape_drop_degenerate_dims(cx, walk.shape, &other) == INDIM_OK && !indim_shape_is_unbounded(&other) &&
        indim_shape_validate(cx, walk.shape, true) == INDIM_OK) {
      indim_shape_decompose_bitcast(walk.shape, &other, &parts);
      (void)!indim_shape_align_layouts(walk.shape, &other, &other);
    }
  }
  (void)!indim_shape_to_host(cx, arena, shape, &other);
  (void)!indim_shape_set_default_layout(cx, arena, shape, &other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  indim_ctx *cx = NULL;
  indim_arena *arena = NULL;
  indim_shape shape;
  require(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_ctx_set_memory_limit(cx, 64 << 20);
  require(indim_arena_create(cx, &arena) == INDIM_OK);
  if (indim_shape_parse(cx, (indim_str){(const char *)data, size}, arena, &shape) == INDIM_OK) {
    read_back(cx, arena, &shape);
    ask(cx, arena, &shape);
  } else {
    require(indim_ctx_diagnostic_count(cx) > 0);
  }
  // The same bytes as a message of the wire format.
  (void)!indim_shape_decode(cx, data, size, arena, &shape);
  indim_arena_destroy(arena);
  require(indim_ctx_memory_in_use(cx) == 0);
  indim_ctx_destroy(cx);
  return 0;
}
