// Shape and Layout messages.
#include <string.h>

#include "array/wire.h"

// Encoding -----------------------------------------------------------------------------------------------------------

static indim_status copy_ints(indim_arena *arena, const int64_t *values, int32_t count, size_t *out_count,
                              int64_t **out_values) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)count, sizeof *values, &memory));
  if (count > 0) {
    memcpy(memory, values, (size_t)count * sizeof *values);
  }
  *out_values = memory;
  *out_count = (size_t)count;
  return INDIM_OK;
}

static indim_status encode_tiles(indim_arena *arena, const indim_layout *layout, Indim__Wire__Layout *message) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)layout->tile_count, sizeof(Indim__Wire__Tile *), &memory));
  message->tiles = memory;
  message->n_tiles = (size_t)layout->tile_count;
  const int64_t *sizes = layout->tile_sizes;
  for (int32_t t = 0; t < layout->tile_count; t++) {
    for (int32_t i = 0; i < layout->tile_ranks[t]; i++) {
      if (sizes[i] < 0) {
        return indim_fail(arena->cx, INDIM_UNSUPPORTED, "a tile entry '*' has no form on the wire");
      }
    }
    INDIM_TRY(indim_arena_alloc(arena, sizeof(Indim__Wire__Tile), &memory));
    Indim__Wire__Tile *tile = memory;
    indim__wire__tile__init(tile);
    INDIM_TRY(copy_ints(arena, sizes, layout->tile_ranks[t], &tile->n_dimensions, &tile->dimensions));
    message->tiles[t] = tile;
    sizes += layout->tile_ranks[t];
  }
  return INDIM_OK;
}

static indim_status encode_splits(indim_arena *arena, const indim_layout *layout, Indim__Wire__Layout *message) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)layout->split_count, sizeof(Indim__Wire__SplitConfig *), &memory));
  message->split_configs = memory;
  message->n_split_configs = (size_t)layout->split_count;
  const int64_t *indices = layout->split_indices;
  for (int32_t i = 0; i < layout->split_count; i++) {
    INDIM_TRY(indim_arena_alloc(arena, sizeof(Indim__Wire__SplitConfig), &memory));
    Indim__Wire__SplitConfig *split = memory;
    indim__wire__split_config__init(split);
    split->dimension = layout->split_dimensions[i];
    INDIM_TRY(copy_ints(arena, indices, layout->split_index_counts[i], &split->n_split_indices, &split->split_indices));
    message->split_configs[i] = split;
    indices += layout->split_index_counts[i];
  }
  return INDIM_OK;
}

indim_status indim_wire_from_layout(indim_arena *arena, const indim_layout *layout, Indim__Wire__Layout **out_message) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(arena, sizeof(Indim__Wire__Layout), &memory));
  Indim__Wire__Layout *message = memory;
  indim__wire__layout__init(message);
  INDIM_TRY(
      copy_ints(arena, layout->minor_to_major, layout->rank, &message->n_minor_to_major, &message->minor_to_major));
  INDIM_TRY(copy_ints(arena, layout->padded_sizes, layout->padded_rank, &message->n_padded_dimensions,
                      &message->padded_dimensions));
  message->padding_value = (int32_t)layout->padding_value;
  INDIM_TRY(encode_tiles(arena, layout, message));
  message->element_size_in_bits = layout->element_bits;
  message->memory_space = layout->memory_space;
  if (layout->physical_shape != NULL) {
    INDIM_TRY(indim_wire_from_shape(arena, layout->physical_shape, &message->physical_shape));
  }
  message->index_primitive_type = (int32_t)layout->index_type;
  message->pointer_primitive_type = (int32_t)layout->pointer_type;
  message->dynamic_shape_metadata_prefix_bytes = layout->metadata_prefix_bytes;
  message->tail_padding_alignment_in_elements = layout->tail_alignment;
  INDIM_TRY(encode_splits(arena, layout, message));
  *out_message = message;
  return INDIM_OK;
}

static indim_status encode_dimensions(indim_arena *arena, const indim_shape *shape, Indim__Wire__Shape *message) {
  void *memory = NULL;
  INDIM_TRY(copy_ints(arena, shape->sizes, shape->rank, &message->n_dimensions, &message->dimensions));
  INDIM_TRY(indim_arena_array(arena, (size_t)shape->rank, sizeof(protobuf_c_boolean), &memory));
  message->is_dynamic_dimension = memory;
  message->n_is_dynamic_dimension = (size_t)shape->rank;
  for (int32_t d = 0; d < shape->rank; d++) {
    message->is_dynamic_dimension[d] = indim_shape_is_dynamic_dim(shape, d);
  }
  return INDIM_OK;
}

indim_status indim_wire_from_shape(indim_arena *arena, const indim_shape *shape, Indim__Wire__Shape **out_message) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(arena, sizeof(Indim__Wire__Shape), &memory));
  Indim__Wire__Shape *message = memory;
  indim__wire__shape__init(message);
  message->element_type = (int32_t)shape->type;
  if (shape->member_count > 0) {
    INDIM_TRY(indim_arena_array(arena, (size_t)shape->member_count, sizeof *message->tuple_shapes, &memory));
    message->tuple_shapes = memory;
    message->n_tuple_shapes = (size_t)shape->member_count;
    for (int64_t i = 0; i < shape->member_count; i++) {
      INDIM_TRY(indim_wire_from_shape(arena, shape->members[i], &message->tuple_shapes[i]));
    }
  } else if (indim_shape_is_array(shape)) {
    INDIM_TRY(encode_dimensions(arena, shape, message));
    if (shape->has_layout) {
      INDIM_TRY(indim_wire_from_layout(arena, &shape->layout, &message->layout));
    }
  }
  *out_message = message;
  return INDIM_OK;
}

// Decoding -----------------------------------------------------------------------------------------------------------

static indim_status too_many(indim_ctx *cx, const char *what, size_t count, int limit) {
  return indim_fail(cx, INDIM_LIMIT, "%zu %s in a message; the limit is %d", count, what, limit);
}

static indim_status decode_ints(indim_ctx *cx, const char *what, const int64_t *values, size_t count, int capacity,
                                int64_t *out, int32_t *out_count) {
  if (count > (size_t)capacity) {
    return too_many(cx, what, count, capacity);
  }
  if (count > 0) {
    memcpy(out, values, count * sizeof *values);
  }
  *out_count = (int32_t)count;
  return INDIM_OK;
}

static indim_status decode_tiles(indim_ctx *cx, const Indim__Wire__Layout *message, indim_layout *out) {
  int32_t used = 0;
  if (message->n_tiles > INDIM_MAX_TILES) {
    return too_many(cx, "tiles", message->n_tiles, INDIM_MAX_TILES);
  }
  out->tile_count = (int32_t)message->n_tiles;
  for (int32_t t = 0; t < out->tile_count; t++) {
    const Indim__Wire__Tile *tile = message->tiles[t];
    for (size_t i = 0; i < tile->n_dimensions; i++) {
      if (tile->dimensions[i] < 0) {
        return indim_fail(cx, INDIM_INVALID, "tile entry %lld in a layout message is negative",
                          (long long)tile->dimensions[i]);
      }
    }
    INDIM_TRY(decode_ints(cx, "tile entries", tile->dimensions, tile->n_dimensions, INDIM_MAX_TILE_SIZES - used,
                          out->tile_sizes + used, &out->tile_ranks[t]));
    used += out->tile_ranks[t];
  }
  return INDIM_OK;
}

static indim_status decode_splits(indim_ctx *cx, const Indim__Wire__Layout *message, indim_layout *out) {
  int32_t used = 0;
  if (message->n_split_configs > INDIM_MAX_SPLITS) {
    return too_many(cx, "split configurations", message->n_split_configs, INDIM_MAX_SPLITS);
  }
  out->split_count = (int32_t)message->n_split_configs;
  for (int32_t i = 0; i < out->split_count; i++) {
    const Indim__Wire__SplitConfig *split = message->split_configs[i];
    out->split_dimensions[i] = split->dimension;
    INDIM_TRY(decode_ints(cx, "split indices", split->split_indices, split->n_split_indices,
                          INDIM_MAX_SPLIT_INDICES - used, out->split_indices + used, &out->split_index_counts[i]));
    used += out->split_index_counts[i];
  }
  return INDIM_OK;
}

// A number that is no type becomes INVALID.
static indim_type decode_type(int32_t number) {
  return number > 0 && number < INDIM_TYPE_COUNT ? (indim_type)number : INDIM_TYPE_INVALID;
}

indim_status indim_wire_to_layout(indim_arena *arena, const Indim__Wire__Layout *message, indim_layout *out_layout) {
  indim_ctx *cx = arena->cx;
  indim_layout layout;
  indim_layout_init(0, &layout);
  INDIM_TRY(decode_ints(cx, "entries of minor_to_major", message->minor_to_major, message->n_minor_to_major,
                        INDIM_MAX_RANK, layout.minor_to_major, &layout.rank));
  INDIM_TRY(decode_ints(cx, "padded dimensions", message->padded_dimensions, message->n_padded_dimensions,
                        INDIM_MAX_RANK, layout.padded_sizes, &layout.padded_rank));
  bool known = message->padding_value >= 0 && message->padding_value <= (int32_t)INDIM_PADDING_UNKNOWN;
  layout.padding_value = known ? (indim_padding)message->padding_value : INDIM_PADDING_INVALID;
  INDIM_TRY(decode_tiles(cx, message, &layout));
  INDIM_TRY(decode_splits(cx, message, &layout));
  layout.element_bits = message->element_size_in_bits;
  layout.memory_space = message->memory_space;
  layout.index_type = decode_type(message->index_primitive_type);
  layout.pointer_type = decode_type(message->pointer_primitive_type);
  layout.metadata_prefix_bytes = message->dynamic_shape_metadata_prefix_bytes;
  if (message->tail_padding_alignment_in_elements < 0) {
    return indim_fail(cx, INDIM_INVALID, "tail padding alignment %lld in a layout message is negative",
                      (long long)message->tail_padding_alignment_in_elements);
  }
  // Unset is 1.
  layout.tail_alignment =
      message->tail_padding_alignment_in_elements == 0 ? 1 : message->tail_padding_alignment_in_elements;
  if (message->physical_shape != NULL) {
    void *memory = NULL;
    INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_shape), &memory));
    INDIM_TRY(indim_wire_to_shape(arena, message->physical_shape, memory));
    layout.physical_shape = memory;
  }
  *out_layout = layout;
  return INDIM_OK;
}

static indim_status decode_members(indim_arena *arena, const Indim__Wire__Shape *message, indim_shape *out) {
  void *memory = NULL;
  if (message->n_tuple_shapes == 0) {
    return INDIM_OK;
  }
  INDIM_TRY(indim_arena_array(arena, message->n_tuple_shapes, sizeof(indim_shape *), &memory));
  const indim_shape **members = memory;
  INDIM_TRY(indim_arena_array(arena, message->n_tuple_shapes, sizeof(indim_shape), &memory));
  indim_shape *storage = memory;
  for (size_t i = 0; i < message->n_tuple_shapes; i++) {
    INDIM_TRY(indim_wire_to_shape(arena, message->tuple_shapes[i], &storage[i]));
    members[i] = &storage[i];
  }
  out->members = members;
  out->member_count = (int64_t)message->n_tuple_shapes;
  return INDIM_OK;
}

indim_status indim_wire_to_shape(indim_arena *arena, const Indim__Wire__Shape *message, indim_shape *out_shape) {
  indim_ctx *cx = arena->cx;
  indim_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.type = decode_type(message->element_type);
  if (shape.type == INDIM_TUPLE || shape.type == INDIM_BUFFER) {
    INDIM_TRY(decode_members(arena, message, &shape));
  }
  if (shape.type == INDIM_BUFFER && (shape.member_count != 1 || !indim_shape_is_array(shape.members[0]))) {
    return indim_fail(cx, INDIM_INVALID, "a buffer shape wraps exactly one array shape, the message has %lld members",
                      (long long)shape.member_count);
  }
  bool is_array = indim_type_is_array(shape.type);
  if (message->layout != NULL && !is_array) {
    return indim_fail(cx, INDIM_INVALID, "a layout in the message of a %s shape", indim_type_text(shape.type));
  }
  if (is_array) {
    if (message->n_is_dynamic_dimension != 0 && message->n_is_dynamic_dimension != message->n_dimensions) {
      return indim_fail(cx, INDIM_INVALID, "%zu dynamic flags for %zu dimensions in a shape message",
                        message->n_is_dynamic_dimension, message->n_dimensions);
    }
    INDIM_TRY(decode_ints(cx, "dimensions", message->dimensions, message->n_dimensions, INDIM_MAX_RANK, shape.sizes,
                          &shape.rank));
    for (size_t i = 0; i < message->n_is_dynamic_dimension; i++) {
      shape.dynamic |= (uint64_t)(message->is_dynamic_dimension[i] != 0) << i;
    }
    shape.has_layout = message->layout != NULL;
    if (shape.has_layout) {
      INDIM_TRY(indim_wire_to_layout(arena, message->layout, &shape.layout));
    }
  }
  *out_shape = shape;
  return INDIM_OK;
}

// Public ------------------------------------------------------------------------------------------------------------

indim_status indim_shape_encode(indim_ctx *cx, const indim_shape *shape, indim_buffer *out) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out);
  indim_arena arena;
  Indim__Wire__Shape *message = NULL;
  indim_arena_init(&arena, cx);
  indim_status status = indim_wire_from_shape(&arena, shape, &message);
  if (status == INDIM_OK) {
    status = indim_wire_pack(cx, &message->base, out);
  }
  indim_arena_deinit(&arena);
  return status;
}

indim_status indim_layout_encode(indim_ctx *cx, const indim_layout *layout, indim_buffer *out) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, layout);
  INDIM_NOT_NULL(cx, out);
  indim_arena arena;
  Indim__Wire__Layout *message = NULL;
  indim_arena_init(&arena, cx);
  indim_status status = indim_wire_from_layout(&arena, layout, &message);
  if (status == INDIM_OK) {
    status = indim_wire_pack(cx, &message->base, out);
  }
  indim_arena_deinit(&arena);
  return status;
}

indim_status indim_shape_decode(indim_ctx *cx, const void *bytes, size_t size, indim_arena *arena,
                                indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, arena);
  INDIM_NOT_NULL(cx, out_shape);
  indim_arena scratch;
  ProtobufCMessage *message = NULL;
  indim_arena_init(&scratch, cx);
  indim_status status = indim_wire_unpack(&scratch, &indim__wire__shape__descriptor, bytes, size, &message);
  if (status == INDIM_OK) {
    status = indim_wire_to_shape(arena, (const Indim__Wire__Shape *)message, out_shape);
  }
  indim_arena_deinit(&scratch);
  return status;
}

indim_status indim_layout_decode(indim_ctx *cx, const void *bytes, size_t size, indim_arena *arena,
                                 indim_layout *out_layout) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, arena);
  INDIM_NOT_NULL(cx, out_layout);
  indim_arena scratch;
  ProtobufCMessage *message = NULL;
  indim_arena_init(&scratch, cx);
  indim_status status = indim_wire_unpack(&scratch, &indim__wire__layout__descriptor, bytes, size, &message);
  if (status == INDIM_OK) {
    status = indim_wire_to_layout(arena, (const Indim__Wire__Layout *)message, out_layout);
  }
  indim_arena_deinit(&scratch);
  return status;
}

static indim_status encode_program(indim_arena *arena, const indim_program_shape *program, indim_buffer *out) {
  Indim__Wire__ProgramShape message;
  void *memory = NULL;
  indim__wire__program_shape__init(&message);
  size_t count = (size_t)program->parameter_count;
  INDIM_TRY(indim_arena_array(arena, count, sizeof *message.parameters, &memory));
  message.parameters = memory;
  INDIM_TRY(indim_arena_array(arena, count, sizeof *message.parameter_names, &memory));
  message.parameter_names = memory;
  message.n_parameters = count;
  message.n_parameter_names = count;
  for (size_t i = 0; i < count; i++) {
    indim_str name;
    INDIM_TRY(indim_wire_from_shape(arena, program->parameters[i], &message.parameters[i]));
    INDIM_TRY(indim_arena_str(arena, program->parameter_names[i], &name));
    INDIM_TRY(indim_arena_alloc(arena, name.size + 1, &memory));
    memcpy(memory, name.data, name.size + 1);
    message.parameter_names[i] = memory;
  }
  INDIM_TRY(indim_wire_from_shape(arena, program->result, &message.result));
  return indim_wire_pack(arena->cx, &message.base, out);
}

indim_status indim_program_shape_encode(indim_ctx *cx, const indim_program_shape *program, indim_buffer *out) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, program);
  INDIM_NOT_NULL(cx, out);
  indim_arena arena;
  indim_arena_init(&arena, cx);
  indim_status status = encode_program(&arena, program, out);
  indim_arena_deinit(&arena);
  return status;
}

static indim_status decode_program(indim_arena *arena, const Indim__Wire__ProgramShape *message,
                                   indim_program_shape *out) {
  void *memory = NULL;
  size_t count = message->n_parameters;
  if (message->n_parameter_names != count) {
    return indim_fail(arena->cx, INDIM_INVALID, "%zu names for %zu parameters in a program shape message",
                      message->n_parameter_names, count);
  }
  INDIM_TRY(indim_arena_array(arena, count, sizeof(indim_shape *), &memory));
  const indim_shape **parameters = memory;
  INDIM_TRY(indim_arena_array(arena, count + 1, sizeof(indim_shape), &memory));
  indim_shape *shapes = memory;
  INDIM_TRY(indim_arena_array(arena, count, sizeof(indim_str), &memory));
  indim_str *names = memory;
  for (size_t i = 0; i < count; i++) {
    INDIM_TRY(indim_wire_to_shape(arena, message->parameters[i], &shapes[i]));
    INDIM_TRY(indim_arena_str(arena, indim_str_of(message->parameter_names[i]), &names[i]));
    parameters[i] = &shapes[i];
  }
  if (message->result != NULL) {
    INDIM_TRY(indim_wire_to_shape(arena, message->result, &shapes[count]));
  }
  *out = (indim_program_shape){(int64_t)count, parameters, names, &shapes[count]};
  return INDIM_OK;
}

indim_status indim_program_shape_decode(indim_ctx *cx, const void *bytes, size_t size, indim_arena *arena,
                                        indim_program_shape *out_program) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, arena);
  INDIM_NOT_NULL(cx, out_program);
  indim_arena scratch;
  ProtobufCMessage *message = NULL;
  indim_arena_init(&scratch, cx);
  indim_status status = indim_wire_unpack(&scratch, &indim__wire__program_shape__descriptor, bytes, size, &message);
  if (status == INDIM_OK) {
    status = decode_program(arena, (const Indim__Wire__ProgramShape *)message, out_program);
  }
  indim_arena_deinit(&scratch);
  return status;
}
