// Writes shapes and layouts as text. The one writer serves growing buffers and the fixed room of a message alike.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "array/shape_internal.h"
#include "array/shape_text.h"

// Where the text goes: |buffer|, or if that is NULL into |room| as far as it reaches.
typedef struct writer {
  indim_buffer *buffer;
  char *room;
  size_t capacity;  // of |room|, the null included
  size_t size;
  bool cut;
} writer;

static void put(writer *w, const char *text, size_t size) {
  if (w->buffer != NULL) {
    indim_buffer_append(w->buffer, text, size);
    return;
  }
  size_t left = w->capacity - 1 - w->size;
  w->cut = w->cut || size > left;
  size = size < left ? size : left;
  memcpy(w->room + w->size, text, size);
  w->size += size;
}

static void put_text(writer *w, const char *text) { put(w, text, strlen(text)); }

static void put_int(writer *w, int64_t value) {
  char digits[24];
  int size = snprintf(digits, sizeof digits, "%" PRId64, value);
  put(w, digits, size < 0 ? 0 : (size_t)size);
}

static void put_list(writer *w, const int64_t *values, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    put_text(w, i > 0 ? "," : "");
    put_int(w, values[i]);
  }
}

// name(value)
static void put_part(writer *w, const char *name, int64_t value) {
  put_text(w, name);
  put_text(w, "(");
  put_int(w, value);
  put_text(w, ")");
}

static void put_padding(writer *w, const indim_layout *layout) {
  static const char *const values[] = {"", ";zero", ";one", ";lowest", ";highest", ";unknown"};
  put_text(w, "PAD(");
  put_list(w, layout->padded_sizes, layout->padded_rank);
  put_text(w, (unsigned)layout->padding_value < sizeof values / sizeof values[0] ? values[layout->padding_value] : "");
  put_text(w, ")");
}

static void put_tiles(writer *w, const indim_layout *layout) {
  const int64_t *sizes = layout->tile_sizes;
  put_text(w, "T");
  for (int32_t t = 0; t < layout->tile_count; t++) {
    put_text(w, "(");
    for (int32_t i = 0; i < layout->tile_ranks[t]; i++) {
      put_text(w, i > 0 ? "," : "");
      if (*sizes == INDIM_TILE_COMBINE) {
        put_text(w, "*");
      } else {
        put_int(w, *sizes);
      }
      sizes++;
    }
    put_text(w, ")");
  }
}

static void put_type(writer *w, const char *sign, indim_type type) {
  put_text(w, sign);
  put_text(w, "(");
  put_text(w, indim_type_is_integral(type) ? indim_type_text(type) : "invalid");
  put_text(w, ")");
}

static void put_splits(writer *w, const indim_layout *layout) {
  const int64_t *indices = layout->split_indices;
  put_text(w, "SC");
  for (int32_t s = 0; s < layout->split_count; s++) {
    put_text(w, "(");
    put_int(w, layout->split_dimensions[s]);
    put_text(w, ":");
    put_list(w, indices, layout->split_index_counts[s]);
    put_text(w, ")");
    indices += layout->split_index_counts[s];
  }
}

static void put_shape(writer *w, const indim_shape *shape, bool with_layout);

static bool has_parts(const indim_layout *layout) {
  return layout->padded_rank > 0 || layout->tile_count > 0 || layout->tail_alignment != 1 ||
         layout->index_type != INDIM_TYPE_INVALID || layout->pointer_type != INDIM_TYPE_INVALID ||
         layout->element_bits != 0 || layout->memory_space != 0 || layout->split_count > 0 ||
         layout->physical_shape != NULL || layout->metadata_prefix_bytes > 0;
}

static void put_parts(writer *w, const indim_layout *layout) {
  put_text(w, ":");
  if (layout->padded_rank > 0) {
    put_padding(w, layout);
  }
  if (layout->tile_count > 0) {
    put_tiles(w, layout);
  }
  if (layout->tail_alignment != 1) {
    put_part(w, "L", layout->tail_alignment);
  }
  if (layout->index_type != INDIM_TYPE_INVALID) {
    put_type(w, "#", layout->index_type);
  }
  if (layout->pointer_type != INDIM_TYPE_INVALID) {
    put_type(w, "*", layout->pointer_type);
  }
  if (layout->element_bits != 0) {
    put_part(w, "E", layout->element_bits);
  }
  if (layout->memory_space != 0) {
    put_part(w, "S", layout->memory_space);
  }
  if (layout->split_count > 0) {
    put_splits(w, layout);
  }
  if (layout->physical_shape != NULL) {
    put_text(w, "P(");
    put_shape(w, layout->physical_shape, true);
    put_text(w, ")");
  }
  if (layout->metadata_prefix_bytes > 0) {
    put_part(w, "M", layout->metadata_prefix_bytes);
  }
}

static void put_layout(writer *w, const indim_layout *layout) {
  put_text(w, "{");
  put_list(w, layout->minor_to_major, layout->rank);
  if (has_parts(layout)) {
    put_parts(w, layout);
  }
  put_text(w, "}");
}

static void put_array(writer *w, const indim_shape *shape, bool with_layout) {
  put_text(w, indim_type_text(shape->type));
  put_text(w, "[");
  for (int32_t d = 0; d < shape->rank; d++) {
    put_text(w, d > 0 ? "," : "");
    if (shape->sizes[d] == INDIM_UNBOUNDED) {
      put_text(w, "?");
      continue;
    }
    put_text(w, indim_shape_is_dynamic_dim(shape, d) ? "<=" : "");
    put_int(w, shape->sizes[d]);
  }
  put_text(w, "]");
  bool is_trivial = shape->rank == 0 && shape->layout.rank == 0 && !has_parts(&shape->layout);
  if (with_layout && shape->has_layout && !is_trivial) {
    put_layout(w, &shape->layout);
  }
}

static void put_shape(writer *w, const indim_shape *shape, bool with_layout) {
  if (shape->type == INDIM_TUPLE) {
    put_text(w, "(");
    for (int64_t i = 0; i < shape->member_count && !w->cut; i++) {
      put_text(w, i > 0 ? ", " : "");
      if (i > 0 && i % 5 == 0) {
        put_text(w, "/*index=");
        put_int(w, i);
        put_text(w, "*/");
      }
      put_shape(w, shape->members[i], with_layout);
    }
    put_text(w, ")");
  } else if (shape->type == INDIM_BUFFER) {
    put_text(w, "b(");
    put_shape(w, indim_shape_array_of(shape), with_layout);
    put_text(w, ")");
  } else if (indim_type_is_array(shape->type)) {
    put_array(w, shape, with_layout);
  } else {
    put_text(w, indim_type_text(shape->type));
    put_text(w, shape->type == INDIM_TOKEN || shape->type == INDIM_OPAQUE ? "[]" : "");
  }
}

void indim_shape_print(const indim_shape *shape, bool with_layout, indim_buffer *out) {
  if (shape == NULL) {
    return;
  }
  put_shape(&(writer){.buffer = out}, shape, with_layout);
}

void indim_layout_print(const indim_layout *layout, indim_buffer *out) {
  if (layout == NULL) {
    return;
  }
  put_layout(&(writer){.buffer = out}, layout);
}

static void end_name(writer *w) {
  w->room[w->size] = '\0';
  if (w->cut) {
    memcpy(w->room + w->capacity - 4, "...", 4);
  }
}

static indim_shape_name shape_name(const indim_shape *shape, bool with_layout) {
  indim_shape_name name;
  writer w = {.room = name.text, .capacity = sizeof name.text};
  put_shape(&w, shape, with_layout);
  end_name(&w);
  return name;
}

indim_shape_name indim_shape_name_of(const indim_shape *shape) { return shape_name(shape, false); }
indim_shape_name indim_shape_name_with_layout(const indim_shape *shape) { return shape_name(shape, true); }

indim_shape_name indim_layout_name_of(const indim_layout *layout) {
  indim_shape_name name;
  writer w = {.room = name.text, .capacity = sizeof name.text};
  put_layout(&w, layout);
  end_name(&w);
  return name;
}
