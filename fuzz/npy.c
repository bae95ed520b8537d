// Any bytes as a .npy file, the first of them the type to take raw data as: the file is read or refused, and what is read
// can be written and read back to the same.
#include <stdlib.h>

#include "indim/literal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) {
    abort();
  }
}

static void check_file(indim_ctx *cx, const indim_literal *literal) {
  indim_buffer file;
  indim_literal *back = NULL;
  indim_buffer_init(&file, cx);
  indim_status status = indim_npy_print(cx, literal, &file);
  require(status == INDIM_OK || status == INDIM_LIMIT);
  if (status == INDIM_OK) {
    status = indim_npy_parse(cx, file.data, file.size, indim_literal_shape(literal)->type, &back);
    require(status == INDIM_LIMIT || (status == INDIM_OK && indim_literal_equal(literal, back)));
  }
  indim_literal_destroy(back);
  indim_buffer_deinit(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  indim_ctx *cx = NULL;
  indim_literal *literal = NULL;
  if (size == 0) {
    return 0;
  }
  require(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_ctx_set_memory_limit(cx, 16 << 20);
  indim_type type = (indim_type)(data[0] % INDIM_TYPE_COUNT);
  if (indim_npy_parse(cx, data + 1, size - 1, type, &literal) == INDIM_OK) {
    check_file(cx, literal);
  } else {
    require(literal == NULL && indim_ctx_diagnostic_count(cx) > 0);
  }
  indim_literal_destroy(literal);
  require(indim_ctx_memory_in_use(cx) == 0);
  indim_ctx_destroy(cx);
  return 0;
}
