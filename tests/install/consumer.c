// The smallest user of an installed library: makes a context, asks for something impossible, prints what it is told.
#include <stdio.h>

#include "indim/base.h"

int main(void) {
  indim_ctx *cx = NULL;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    return 1;
  }
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_buffer_printf(&text, "indim says %s", indim_status_name(INDIM_OK));
  int outcome = text.status == INDIM_OK ? 0 : 1;
  printf("%s\n", text.data == NULL ? "nothing" : text.data);
  indim_buffer_deinit(&text);
  indim_ctx_destroy(cx);
  return outcome;
}
