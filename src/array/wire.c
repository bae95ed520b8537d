// Bytes to message structs and back, through protobuf-c with the context's memory, and a measure of nesting before
// protobuf-c's recursive reader sees foreign bytes.
#include "array/wire.h"

#include <limits.h>

// Nested messages: tuples in literals, and a layout between two shapes.
enum { MAX_DEPTH = 2 * INDIM_MAX_TUPLE_DEPTH };

typedef struct arena_memory {
  indim_arena *arena;
  indim_status status;  // the first failure
} arena_memory;

static void *take(void *self, size_t size) {
  arena_memory *memory = self;
  void *bytes = NULL;
  indim_status status = indim_arena_alloc(memory->arena, size, &bytes);
  if (status != INDIM_OK) {
    memory->status = status;
  }
  return bytes;
}

static void give(void *self, void *bytes) {
  (void)self;
  (void)bytes;  // the arena's, dropped with it
}

static bool read_varint(const uint8_t *bytes, size_t size, size_t *at, uint64_t *out_value) {
  *out_value = 0;
  for (unsigned shift = 0; shift < 64 && *at < size; shift += 7) {
    uint8_t byte = bytes[(*at)++];
    *out_value |= (uint64_t)(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) {
      return true;
    }
  }
  return false;
}

// The descriptor of the message in field |number|, or NULL if the field is none.
static const ProtobufCMessageDescriptor *nested_message(const ProtobufCMessageDescriptor *descriptor, uint64_t number) {
  if (number > UINT_MAX) {
    return NULL;
  }
  const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(descriptor, (unsigned)number);
  return field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE ? field->descriptor : NULL;
}

// Whether no message is nested deeper than |depth|. Bytes that do not parse pass: the real reader refuses them.
static bool depth_within(const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes, size_t size, int depth) {
  size_t at = 0;
  uint64_t key = 0;
  while (at < size && read_varint(bytes, size, &at, &key)) {
    uint64_t length = 0;
    switch (key & 7) {
    case 0:
      if (!read_varint(bytes, size, &at, &length)) {
        return true;
      }
      continue;
    case 1:
      length = 8;
      break;
    case 2:
      if (!read_varint(bytes, size, &at, &length)) {
        return true;
      }
      break;
    case 5:
      length = 4;
      break;
    default:
      return true;
    }
    if (length > size - at) {
      return true;
    }
    const ProtobufCMessageDescriptor *nested = (key & 7) == 2 ? nested_message(descriptor, key >> 3) : NULL;
    if (nested != NULL && (depth == 0 || !depth_within(nested, bytes + at, (size_t)length, depth - 1))) {
      return false;
    }
    at += (size_t)length;
  }
  return true;
}

indim_status indim_wire_unpack(indim_arena *arena, const ProtobufCMessageDescriptor *descriptor, const void *bytes,
                               size_t size, ProtobufCMessage **out_message) {
  indim_ctx *cx = arena->cx;
  *out_message = NULL;
  if (bytes == NULL && size > 0) {
    return indim_fail(cx, INDIM_INVALID, "the bytes of the message are NULL");
  }
  if (!depth_within(descriptor, bytes, size, MAX_DEPTH)) {
    return indim_fail(cx, INDIM_LIMIT, "the message is nested more than %d deep", (int)MAX_DEPTH);
  }
  arena_memory memory = {arena, INDIM_OK};
  ProtobufCAllocator allocator = {take, give, &memory};
  *out_message = protobuf_c_message_unpack(descriptor, &allocator, size, bytes);
  if (*out_message == NULL) {
    return memory.status != INDIM_OK
               ? memory.status
               : indim_fail(cx, INDIM_INVALID, "the %zu bytes are no %s message", size, descriptor->short_name);
  }
  return INDIM_OK;
}

typedef struct buffer_sink {
  ProtobufCBuffer base;
  indim_buffer *out;
} buffer_sink;

static void append(ProtobufCBuffer *self, size_t size, const uint8_t *data) {
  indim_buffer_append(((buffer_sink *)self)->out, (const char *)data, size);
}

indim_status indim_wire_pack(indim_ctx *cx, const ProtobufCMessage *message, indim_buffer *out) {
  (void)cx;
  buffer_sink sink = {{append}, out};
  protobuf_c_message_pack_to_buffer(message, &sink.base);
  return out->status;
}
