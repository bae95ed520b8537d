// Shapes, layouts and ops in words, as markdown.
#include <inttypes.h>

#include "../picture/picture.h"
#include "lsp.h"

enum { FEW_MEMBERS = 12, HOVER_WIDTH = 72 };

static void print_title(const indim_shape *shape, indim_buffer *out) {
  indim_buffer_text(out, "`");
  indim_shape_print(shape, true, out);
  indim_buffer_text(out, "`");
}

void explain_shape(indim_ctx *cx, const indim_shape *shape, indim_buffer *out) {
  print_title(shape, out);
  if (indim_shape_is_array(shape)) {
    indim_buffer_text(out, "\n\n```text\n");
    indim_status status = picture_shape_text(out, shape, &(picture_options){.width = HOVER_WIDTH});
    indim_buffer_text(out, status == INDIM_OK ? "" : indim_status_text(status));
    indim_buffer_text(out, "\n```\n");
  } else if (shape->type == INDIM_TUPLE) {
    indim_buffer_printf(out, ": a tuple of %" PRId64 "\n\n", shape->member_count);
    for (int64_t i = 0; i < shape->member_count && i < FEW_MEMBERS; i++) {
      indim_buffer_printf(out, "- %" PRId64 ": ", i);
      print_title(shape->members[i], out);
      indim_buffer_text(out, "\n");
    }
    indim_buffer_text(out, shape->member_count > FEW_MEMBERS ? "- ...\n" : "");
  } else {
    indim_buffer_text(out, shape->type == INDIM_TOKEN ? ": an order of effects; it holds nothing\n" : "\n");
  }
  indim_ctx_diagnostics_clear(cx);
}

static void print_words(indim_op op, int32_t attribute, indim_buffer *out) {
  const char *word = NULL;
  for (int32_t i = 0; (word = indim_op_attr_word(op, attribute, i)) != NULL; i++) {
    indim_buffer_printf(out, "%s`%s`", i == 0 ? ": " : ", ", word);
  }
}

void explain_attribute(indim_op op, int32_t index, indim_buffer *out) {
  indim_op_attr_info info;
  if (indim_op_attr_get(op, index, &info)) {
    indim_buffer_printf(out, "`%s=` %s%s: %s", info.text, info.form, info.required ? ", required" : "", info.meaning);
    print_words(op, index, out);
  }
}

void explain_op(indim_op op, indim_buffer *out) {
  const indim_op_info *info = indim_op_get(op);
  indim_op_attr_info attribute;
  indim_buffer_printf(out, "**%s**: %s\n\n", info->text, info->meaning);
  indim_buffer_printf(out, "- %d%s operand%s\n", (int)info->least, info->most < 0 ? " or more" : "",
                      info->least == 1 && info->most == 1 ? "" : "s");
  indim_buffer_text(out, info->shape_inferred ? "- the shape may be left out\n" : "- the shape is to be written\n");
  indim_buffer_text(out, info->evaluated ? "" : "- is not evaluated\n");
  for (int32_t i = 0; indim_op_attr_get(op, i, &attribute) && !attribute.of_any_op; i++) {
    indim_buffer_text(out, "- ");
    explain_attribute(op, i, out);
    indim_buffer_text(out, "\n");
  }
}
