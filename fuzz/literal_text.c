// Any text as a literal: it is read or refused, and what is read prints and reads back to the same.
#include <stdlib.h>
#include <string.h>

#include "indim/literal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) {
    abort();
  }
}

static void check_text(indim_ctx *cx, const indim_literal *literal, unsigned flags) {
  indim_buffer once;
  indim_buffer again;
  indim_literal *back = NULL;
  indim_buffer_init(&once, cx);
  indim_buffer_init(&again, cx);
  indim_literal_print(literal, flags, &once);
  if (once.status == INDIM_OK) {
    indim_status status = indim_literal_parse(cx, (indim_str){once.data, once.size}, &back);
    require(status == INDIM_OK || status == INDIM_LIMIT);
  }
  if (back != NULL) {
    require(indim_literal_equal(literal, back) != indim_literal_is_elided(literal));
    indim_literal_print(back, flags, &again);
    require(again.status != INDIM_OK || strcmp(once.data, again.data) == 0);
  }
  indim_literal_destroy(back);
  indim_buffer_deinit(&once);
  indim_buffer_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  indim_ctx *cx = NULL;
  indim_literal *literal = NULL;
  require(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_ctx_set_memory_limit(cx, 16 << 20);
  if (indim_literal_parse(cx, (indim_str){(const char *)data, size}, &literal) == INDIM_OK) {
    check_text(cx, literal, INDIM_LITERAL_SHAPE);
    check_text(cx, literal, INDIM_LITERAL_LAYOUT | INDIM_LITERAL_ONE_LINE);
  } else {
    require(literal == NULL && indim_ctx_diagnostic_count(cx) > 0);
  }
  indim_literal_destroy(literal);
  require(indim_ctx_memory_in_use(cx) == 0);
  indim_ctx_destroy(cx);
  return 0;
}
