// Shapes, layouts and ops in words, as markdown.
#include <inttypes.h>
#include <string.h>

#include "indim/index.h"
#include "indim/shape.h"
#include "lsp.h"

enum { FEW_MEMBERS = 12 };

static const char *kind_of_type(indim_type type) {
  return type == INDIM_PRED                 ? "truth value"
         : indim_type_is_complex(type)      ? "complex number"
         : indim_type_is_float(type)        ? "floating point"
         : indim_type_is_unsigned_int(type) ? "unsigned integer"
                                            : "signed integer";
}

// "dimension 1 (x)"
static void print_dim(const indim_shape *shape, int32_t dim, indim_buffer *out) {
  char letter = indim_shape_dim_letter(shape->rank, dim);
  indim_buffer_printf(out, letter != 0 ? "dimension %d (%c)" : "dimension %d", (int)dim, letter);
}

static void print_sizes(const indim_shape *shape, indim_buffer *out) {
  indim_buffer_printf(out, "- %s, %d bit%s\n", kind_of_type(shape->type), (int)indim_type_bits(shape->type),
                      indim_type_bits(shape->type) == 1 ? "" : "s");
  if (shape->rank == 0) {
    indim_buffer_text(out, "- a scalar: one element, no dimensions\n");
    return;
  }
  indim_buffer_printf(out, "- rank %d: ", (int)shape->rank);
  for (int32_t d = 0; d < shape->rank; d++) {
    char letter = indim_shape_dim_letter(shape->rank, d);
    bool is_dynamic = indim_shape_is_dynamic_dim(shape, d);
    indim_buffer_text(out, d == 0 ? "" : " × ");
    if (shape->sizes[d] == INDIM_UNBOUNDED) {
      indim_buffer_text(out, "any size");
    } else {
      indim_buffer_printf(out, "%s%" PRId64, is_dynamic ? "at most " : "", shape->sizes[d]);
    }
    if (letter != 0) {
      indim_buffer_printf(out, " (%c)", letter);
    }
  }
  if (!indim_shape_is_unbounded(shape)) {
    int64_t count = indim_shape_element_count(shape);
    indim_buffer_printf(out, ", %" PRId64 " element%s", count, count == 1 ? "" : "s");
  }
  indim_buffer_text(out, "\n");
}

static bool is_in_order(const indim_layout *layout, bool ascending) {
  for (int32_t i = 0; i < layout->rank; i++) {
    if (layout->minor_to_major[i] != (ascending ? i : layout->rank - 1 - i)) {
      return false;
    }
  }
  return true;
}

static void print_order(const indim_shape *shape, indim_buffer *out) {
  const indim_layout *layout = &shape->layout;
  if (layout->rank < 2) {
    return;
  }
  indim_buffer_text(out, "- in memory ");
  for (int32_t i = 0; i < layout->rank; i++) {
    indim_buffer_text(out, i == 0 ? "" : i == 1 ? " runs fastest, then " : ", ");
    print_dim(shape, (int32_t)layout->minor_to_major[i], out);
  }
  indim_buffer_text(out, is_in_order(layout, false)  ? ": row-major, as in C and NumPy\n"
                         : is_in_order(layout, true) ? ": column-major, as in Fortran\n"
                                                     : "\n");
}

static const char *padding_word(indim_padding padding) {
  static const char *const words[] = {"what is not stated", "zero",    "one", "the lowest value",
                                      "the highest value",  "anything"};
  return (unsigned)padding < sizeof words / sizeof words[0] ? words[padding] : "";
}

static void print_storage(const indim_shape *shape, indim_buffer *out) {
  const indim_layout *layout = &shape->layout;
  if (layout->padded_rank > 0) {
    indim_buffer_text(out, "- stored as ");
    for (int32_t i = 0; i < layout->padded_rank; i++) {
      indim_buffer_printf(out, "%s%" PRId64, i == 0 ? "" : " × ", layout->padded_sizes[i]);
    }
    indim_buffer_printf(out, "; the padding holds %s\n", padding_word(layout->padding_value));
  }
  for (int32_t t = 0, at = 0; t < layout->tile_count; t++) {
    indim_buffer_text(out, t == 0 ? "- in tiles of " : ", each in tiles of ");
    for (int32_t i = 0; i < layout->tile_ranks[t]; i++, at++) {
      indim_buffer_text(out, i == 0 ? "" : " × ");
      if (layout->tile_sizes[at] == INDIM_TILE_COMBINE) {
        indim_buffer_text(out, "(joined with the next)");
      } else {
        indim_buffer_int(out, layout->tile_sizes[at]);
      }
    }
    indim_buffer_text(out, t + 1 == layout->tile_count ? ", one tile after another\n" : "");
  }
  if (layout->element_bits != 0) {
    indim_buffer_printf(out, "- packed, %" PRId64 " bits an element\n", layout->element_bits);
  }
  if (layout->memory_space != 0) {
    indim_buffer_printf(out, "- in memory space %" PRId64 "\n", layout->memory_space);
  }
}

static void print_bytes(indim_ctx *cx, const indim_shape *shape, indim_buffer *out) {
  int64_t bytes = 0;
  int64_t strides[INDIM_MAX_RANK];
  if (indim_shape_is_unbounded(shape) || indim_shape_storage_bytes(cx, shape, &bytes) != INDIM_OK) {
    return;
  }
  int64_t of_elements = indim_shape_element_bytes(shape);
  indim_buffer_printf(out, "- %" PRId64 " byte%s", bytes, bytes == 1 ? "" : "s");
  if (bytes > of_elements) {
    indim_buffer_printf(out, ", %" PRId64 " of them padding (%.1f %%)", bytes - of_elements,
                        100.0 * (double)(bytes - of_elements) / (double)bytes);
  }
  bool has_strides =
      shape->rank > 0 && shape->layout.tile_count == 0 && indim_index_strides(cx, shape, strides) == INDIM_OK;
  for (int32_t d = 0; has_strides && d < shape->rank; d++) {
    indim_buffer_printf(out, "%s%" PRId64, d == 0 ? "; strides in elements " : ", ", strides[d]);
  }
  indim_buffer_text(out, "\n");
}

static void print_title(const indim_shape *shape, indim_buffer *out) {
  indim_buffer_text(out, "`");
  indim_shape_print(shape, true, out);
  indim_buffer_text(out, "`");
}

void explain_shape(indim_ctx *cx, const indim_shape *shape, indim_buffer *out) {
  print_title(shape, out);
  if (indim_shape_is_array(shape)) {
    indim_buffer_text(out, "\n\n");
    print_sizes(shape, out);
    print_order(shape, out);
    print_storage(shape, out);
    print_bytes(cx, shape, out);
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
