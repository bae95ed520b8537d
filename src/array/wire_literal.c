// Literal messages and the serialised stream. Both hold elements in the order of minor_to_major alone, so a literal in any
// other layout is brought there first.
#include <string.h>

#include "array/wire.h"
#include "base/size.h"

// Where a type's elements stand in the message: a bytes field, or a repeated one of |item_bytes| each.
typedef struct field {
  indim_type type;
  bool is_bytes;
  size_t count_offset;  // repeated fields only
  size_t data_offset;
  size_t item_bytes;
  int64_t items_each;  // 2 for complex
} field;

#define BYTES(type, name) \
  { INDIM_##type, true, 0, offsetof(Indim__Wire__Literal, name), 1, 1 }
#define REPEATED(type, name, item, each)                                                                               \
  {                                                                                                                    \
    INDIM_##type, false, offsetof(Indim__Wire__Literal, n_##name), offsetof(Indim__Wire__Literal, name), sizeof(item), \
        each                                                                                                           \
  }

static const field fields[] = {
    REPEATED(PRED, preds, protobuf_c_boolean, 1),
    BYTES(U8, u8s),
    BYTES(S8, s8s),
    REPEATED(S32, s32s, int32_t, 1),
    REPEATED(S64, s64s, int64_t, 1),
    REPEATED(U32, u32s, uint32_t, 1),
    REPEATED(U64, u64s, uint64_t, 1),
    REPEATED(F32, f32s, float, 1),
    REPEATED(F64, f64s, double, 1),
    BYTES(F16, f16s),
    BYTES(BF16, bf16s),
    BYTES(U16, u16s),
    BYTES(S16, s16s),
    REPEATED(C64, c64s, float, 2),
    REPEATED(C128, c128s, double, 2),
    BYTES(F8E5M2, f8e5m2s),
    BYTES(F8E4M3FN, f8e4m3fns),
    BYTES(F8E4M3B11FNUZ, f8e4m3b11fnuzs),
    BYTES(F8E5M2FNUZ, f8e5m2fnuzs),
    BYTES(F8E4M3FNUZ, f8e4m3fnuzs),
    BYTES(S4, s4s),
    BYTES(U4, u4s),
    BYTES(S2, s2s),
    BYTES(U2, u2s),
    BYTES(S1, s1s),
    BYTES(U1, u1s),
    BYTES(F8E4M3, f8e4m3s),
    BYTES(F8E3M4, f8e3m4s),
    BYTES(F4E2M1FN, f4e2m1fns),
    BYTES(F8E8M0FNU, f8e8m0fnus),
};

static const field *field_of(indim_type type) {
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    if (fields[i].type == type) {
      return &fields[i];
    }
  }
  return NULL;
}

// The shape with nothing in its layout but minor_to_major: how elements travel.
static indim_shape plain_shape(const indim_shape *shape) {
  indim_shape plain = *shape;
  plain.has_layout = true;
  indim_layout_init(shape->rank, &plain.layout);
  if (shape->has_layout) {
    memcpy(plain.layout.minor_to_major, shape->layout.minor_to_major, sizeof plain.layout.minor_to_major);
  }
  return plain;
}

// Low bits of a sub-byte element; the bits above are 0 on the wire.
static unsigned char low_bits(indim_type type) {
  int32_t bits = indim_type_bits(type);
  return type == INDIM_PRED || bits >= 8 ? 0xFF : (unsigned char)((1u << bits) - 1);
}

// Encoding -----------------------------------------------------------------------------------------------------------

static indim_status encode_array(indim_arena *arena, const indim_literal *plain, Indim__Wire__Literal *message) {
  const indim_shape *shape = indim_literal_shape(plain);
  const field *f = field_of(shape->type);
  const unsigned char *data = indim_literal_data(plain);
  size_t bytes = (size_t)indim_literal_bytes(plain);
  size_t count = (size_t)indim_shape_element_count(shape);
  void *memory = NULL;
  if (f == NULL) {
    return indim_fail(arena->cx, INDIM_UNSUPPORTED, "%s has no field in XLA's literal message",
                      indim_type_text(shape->type));
  }
  size_t items = f->is_bytes ? bytes : count * (size_t)f->items_each;
  INDIM_TRY(indim_arena_array(arena, items, f->item_bytes, &memory));
  if (shape->type == INDIM_PRED) {
    protobuf_c_boolean *preds = memory;
    for (size_t i = 0; i < count; i++) {
      preds[i] = data[i] != 0;
    }
  } else if (bytes > 0) {
    memcpy(memory, data, bytes);
    for (size_t i = 0; indim_type_is_sub_byte(shape->type) && i < bytes; i++) {
      ((unsigned char *)memory)[i] &= low_bits(shape->type);
    }
  }
  if (f->is_bytes) {
    ProtobufCBinaryData value = {items, memory};
    memcpy((char *)message + f->data_offset, &value, sizeof value);
  } else {
    memcpy((char *)message + f->count_offset, &items, sizeof items);
    memcpy((char *)message + f->data_offset, &memory, sizeof memory);
  }
  return INDIM_OK;
}

static indim_status from_literal(indim_arena *arena, const indim_literal *literal, Indim__Wire__Literal **out) {
  void *memory = NULL;
  const indim_shape *shape = indim_literal_shape(literal);
  indim_shape wire_shape = *shape;
  wire_shape.layout.element_bits = 0;
  INDIM_TRY(indim_arena_alloc(arena, sizeof(Indim__Wire__Literal), &memory));
  Indim__Wire__Literal *message = memory;
  indim__wire__literal__init(message);
  INDIM_TRY(indim_wire_from_shape(arena, &wire_shape, &message->shape));
  if (shape->type == INDIM_TUPLE) {
    size_t count = (size_t)shape->member_count;
    INDIM_TRY(indim_arena_array(arena, count, sizeof *message->tuple_literals, &memory));
    message->tuple_literals = memory;
    message->n_tuple_literals = count;
    for (size_t i = 0; i < count; i++) {
      INDIM_TRY(from_literal(arena, indim_literal_member(literal, (int64_t)i), &message->tuple_literals[i]));
    }
  } else if (indim_shape_is_array(shape)) {
    indim_shape plain = plain_shape(shape);
    indim_literal *dense = NULL;
    INDIM_TRY(indim_literal_relayout(arena->cx, literal, &plain, &dense));
    indim_status status = encode_array(arena, dense, message);
    indim_literal_destroy(dense);
    INDIM_TRY(status);
  }
  *out = message;
  return INDIM_OK;
}

indim_status indim_literal_encode(indim_ctx *cx, const indim_literal *literal, indim_buffer *out) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, literal);
  INDIM_NOT_NULL(cx, out);
  indim_arena arena;
  Indim__Wire__Literal *message = NULL;
  indim_arena_init(&arena, cx);
  indim_status status = INDIM_OK;
  if (indim_literal_is_elided(literal)) {
    status = indim_fail(cx, INDIM_INVALID, "the literal's values were left out ({...}), so it cannot be written");
  }
  if (status == INDIM_OK) {
    status = from_literal(&arena, literal, &message);
  }
  if (status == INDIM_OK) {
    status = indim_wire_pack(cx, &message->base, out);
  }
  indim_arena_deinit(&arena);
  return status;
}

// Decoding -----------------------------------------------------------------------------------------------------------

// Fills a plain literal from its message.
static indim_status decode_array(indim_ctx *cx, const Indim__Wire__Literal *message, indim_literal *plain) {
  const indim_shape *shape = indim_literal_shape(plain);
  const field *f = field_of(shape->type);
  unsigned char *data = indim_literal_mutable_data(plain);
  int64_t count = indim_shape_element_count(shape);
  if (f == NULL) {
    return indim_fail(cx, INDIM_UNSUPPORTED, "%s has no field in XLA's literal message", indim_type_text(shape->type));
  }
  size_t items = 0;
  const void *from = NULL;
  size_t wanted = (size_t)count * (size_t)f->items_each;
  if (f->is_bytes) {
    ProtobufCBinaryData value;
    memcpy(&value, (const char *)message + f->data_offset, sizeof value);
    items = value.len;
    from = value.data;
    wanted = (size_t)count * (size_t)indim_type_bytes(shape->type);
  } else {
    memcpy(&items, (const char *)message + f->count_offset, sizeof items);
    memcpy(&from, (const char *)message + f->data_offset, sizeof from);
  }
  if (items != wanted) {
    return indim_fail(cx, INDIM_INVALID, "expected %lld elements in a literal message, it has %zu %s", (long long)count,
                      items, f->is_bytes ? "bytes" : "items");
  }
  if (shape->type == INDIM_PRED) {
    const protobuf_c_boolean *preds = from;
    for (int64_t i = 0; i < count; i++) {
      data[i] = preds[i] != 0;
    }
  } else if (items > 0) {
    memcpy(data, from, (size_t)indim_literal_bytes(plain));
    for (size_t i = 0; indim_type_is_sub_byte(shape->type) && i < items; i++) {
      data[i] &= low_bits(shape->type);
    }
  }
  return INDIM_OK;
}

static indim_status to_literal(indim_ctx *cx, const Indim__Wire__Literal *message, const indim_shape *shape,
                               indim_literal **out);

static indim_status to_tuple(indim_ctx *cx, const Indim__Wire__Literal *message, const indim_shape *shape,
                             indim_literal **out) {
  if (message->n_tuple_literals != (size_t)shape->member_count) {
    return indim_fail(cx, INDIM_INVALID, "a tuple of %lld members has %zu in its message",
                      (long long)shape->member_count, message->n_tuple_literals);
  }
  size_t size = message->n_tuple_literals * sizeof(indim_literal *);
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, size, &memory));
  indim_literal **members = memory;
  indim_status status = INDIM_OK;
  for (size_t i = 0; status == INDIM_OK && i < message->n_tuple_literals; i++) {
    status = to_literal(cx, message->tuple_literals[i], shape->members[i], &members[i]);
  }
  if (status == INDIM_OK) {
    status = indim_literal_create_tuple(cx, members, shape->member_count, out);
  }
  for (size_t i = 0; status != INDIM_OK && i < message->n_tuple_literals; i++) {
    indim_literal_destroy(members[i]);
  }
  indim_free(cx, memory, size);
  return status;
}

static indim_status to_array(indim_ctx *cx, const Indim__Wire__Literal *message, const indim_shape *shape,
                             indim_literal **out) {
  indim_literal *plain = NULL;
  if (!shape->has_layout) {
    return indim_fail(cx, INDIM_INVALID, "a literal message without a layout");
  }
  indim_shape dense = plain_shape(shape);
  INDIM_TRY(indim_literal_create(cx, &dense, &plain));
  indim_status status = decode_array(cx, message, plain);
  if (status == INDIM_OK && !indim_layout_equal(&dense.layout, &shape->layout, 0)) {
    status = indim_literal_relayout(cx, plain, shape, out);
    indim_literal_destroy(plain);
    return status;
  }
  if (status != INDIM_OK) {
    indim_literal_destroy(plain);
    return status;
  }
  *out = plain;
  return INDIM_OK;
}

// |shape| is the message's own, or the tuple's for a member, which must agree with the member's own.
static indim_status to_literal(indim_ctx *cx, const Indim__Wire__Literal *message, const indim_shape *shape,
                               indim_literal **out) {
  indim_arena arena;
  indim_shape own;
  *out = NULL;
  if (message->shape == NULL) {
    return indim_fail(cx, INDIM_INVALID, "a literal message without a shape");
  }
  indim_arena_init(&arena, cx);
  indim_status status = indim_wire_to_shape(&arena, message->shape, &own);
  if (status == INDIM_OK && !indim_shape_equal(&own, shape, 0)) {
    status = indim_fail(cx, INDIM_INVALID, "a member of a literal message has another shape than its tuple says");
  }
  if (status == INDIM_OK && own.layout.element_bits != 0) {
    status = indim_fail(cx, INDIM_INVALID, "a literal message with an element size in its layout (E(%lld))",
                        (long long)own.layout.element_bits);
  }
  indim_arena_deinit(&arena);
  INDIM_TRY(status);
  if (shape->type == INDIM_TUPLE) {
    return to_tuple(cx, message, shape, out);
  }
  if (shape->type == INDIM_TOKEN) {
    return indim_literal_create(cx, shape, out);
  }
  if (!indim_shape_is_array(shape)) {
    return indim_fail(cx, INDIM_INVALID, "a literal message of shape %s", indim_type_text(shape->type));
  }
  return to_array(cx, message, shape, out);
}

indim_status indim_literal_decode(indim_ctx *cx, const void *bytes, size_t size, indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, out_literal);
  indim_arena arena;
  ProtobufCMessage *base = NULL;
  indim_shape shape;
  *out_literal = NULL;
  indim_arena_init(&arena, cx);
  indim_status status = indim_wire_unpack(&arena, &indim__wire__literal__descriptor, bytes, size, &base);
  const Indim__Wire__Literal *message = (const Indim__Wire__Literal *)base;
  if (status == INDIM_OK && message->shape == NULL) {
    status = indim_fail(cx, INDIM_INVALID, "a literal message without a shape");
  }
  if (status == INDIM_OK) {
    status = indim_wire_to_shape(&arena, message->shape, &shape);
  }
  if (status == INDIM_OK) {
    status = indim_shape_validate(cx, &shape, true);
  }
  if (status == INDIM_OK) {
    status = to_literal(cx, message, &shape, out_literal);
  }
  indim_arena_deinit(&arena);
  return status;
}

// The serialised stream ----------------------------------------------------------------------------------------------

// Bits of an element in the stream.
static int32_t stream_bits(indim_type type) {
  return type == INDIM_PRED || indim_type_is_sub_byte(type) ? indim_type_bits(type) : 8 * indim_type_bytes(type);
}

static void append_packed(const unsigned char *data, int64_t count, int32_t bits, indim_buffer *out) {
  int32_t each = 8 / bits;
  for (int64_t i = 0; i < count; i += each) {
    unsigned byte = 0;
    for (int32_t k = 0; k < each && i + k < count; k++) {
      byte |= (data[i + k] & ((1u << bits) - 1)) << (k * bits);
    }
    indim_buffer_char(out, (char)byte);
  }
}

static indim_status append_sizes(indim_ctx *cx, const indim_literal *literal, indim_buffer *out) {
  const indim_shape *shape = indim_literal_shape(literal);
  for (int32_t d = 0; shape->dynamic != 0 && d < shape->rank; d++) {
    int64_t size = indim_literal_dynamic_size(literal, d);
    if (size > INT32_MAX) {
      return indim_fail(cx, INDIM_INVALID, "run-time size %lld does not fit in 32 bits", (long long)size);
    }
    for (int shift = 0; shift < 32; shift += 8) {
      indim_buffer_char(out, (char)(size >> shift & 0xFF));
    }
  }
  return INDIM_OK;
}

static indim_status serialize_leaves(indim_ctx *cx, const indim_literal *literal, indim_buffer *out) {
  const indim_shape *shape = indim_literal_shape(literal);
  for (int64_t i = 0; shape->type == INDIM_TUPLE && i < shape->member_count; i++) {
    INDIM_TRY(serialize_leaves(cx, indim_literal_member(literal, i), out));
  }
  if (shape->type == INDIM_TUPLE) {
    return out->status;
  }
  if (!indim_shape_is_array(shape)) {
    return indim_fail(cx, INDIM_INVALID, "a %s has no form in the serialised stream", indim_type_text(shape->type));
  }
  indim_literal *plain = NULL;
  indim_shape dense = plain_shape(shape);
  INDIM_TRY(append_sizes(cx, literal, out));
  INDIM_TRY(indim_literal_relayout(cx, literal, &dense, &plain));
  int32_t bits = stream_bits(shape->type);
  if (bits < 8 && 8 % bits == 0) {
    append_packed(indim_literal_data(plain), indim_shape_element_count(shape), bits, out);
  } else {
    indim_buffer_append(out, indim_literal_data(plain), (size_t)indim_literal_bytes(plain));
  }
  indim_literal_destroy(plain);
  return out->status;
}

indim_status indim_literal_serialize(indim_ctx *cx, const indim_literal *literal, indim_buffer *out) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, literal);
  INDIM_NOT_NULL(cx, out);
  if (indim_literal_is_elided(literal)) {
    return indim_fail(cx, INDIM_INVALID, "the literal's values were left out ({...}), so it cannot be written");
  }
  indim_buffer shape;
  indim_buffer_init(&shape, cx);
  indim_status status = indim_shape_encode(cx, indim_literal_shape(literal), &shape);
  if (status == INDIM_OK) {
    for (int shift = 0; shift < 64; shift += 8) {
      indim_buffer_char(out, (char)((uint64_t)shape.size >> shift & 0xFF));
    }
    indim_buffer_append(out, shape.data, shape.size);
    status = serialize_leaves(cx, literal, out);
  }
  indim_buffer_deinit(&shape);
  return status;
}

// What is left of a stream.
typedef struct stream {
  const unsigned char *at;
  size_t left;
} stream;

static indim_status take(indim_ctx *cx, stream *s, size_t size, const unsigned char **out) {
  if (size > s->left) {
    return indim_fail(cx, INDIM_INVALID, "the serialised literal ends early: %zu bytes are missing", size - s->left);
  }
  *out = s->at;
  s->at += size;
  s->left -= size;
  return INDIM_OK;
}

static indim_status read_sizes(indim_ctx *cx, stream *s, indim_literal *literal) {
  const indim_shape *shape = indim_literal_shape(literal);
  for (int32_t d = 0; shape->dynamic != 0 && d < shape->rank; d++) {
    const unsigned char *bytes = NULL;
    INDIM_TRY(take(cx, s, 4, &bytes));
    uint32_t size = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    if (indim_shape_is_dynamic_dim(shape, d)) {
      INDIM_TRY(indim_literal_set_dynamic_size(cx, literal, d, (int32_t)size));
    }
  }
  return INDIM_OK;
}

static indim_status read_data(indim_ctx *cx, stream *s, indim_literal *plain) {
  const indim_shape *shape = indim_literal_shape(plain);
  unsigned char *data = indim_literal_mutable_data(plain);
  const unsigned char *bytes = NULL;
  int64_t count = indim_shape_element_count(shape);
  int32_t bits = stream_bits(shape->type);
  if (bits >= 8 || 8 % bits != 0) {
    size_t size = (size_t)indim_literal_bytes(plain);
    INDIM_TRY(take(cx, s, size, &bytes));
    if (size > 0) {
      memcpy(data, bytes, size);
    }
    return INDIM_OK;
  }
  INDIM_TRY(take(cx, s, (size_t)indim_ceil_div(count, 8 / bits), &bytes));
  for (int64_t i = 0; i < count; i++) {
    data[i] = (unsigned char)(bytes[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1));
  }
  return INDIM_OK;
}

static indim_status deserialize(indim_ctx *cx, stream *s, const indim_shape *shape, indim_literal **out);

static indim_status deserialize_tuple(indim_ctx *cx, stream *s, const indim_shape *shape, indim_literal **out) {
  size_t size = (size_t)shape->member_count * sizeof(indim_literal *);
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, size, &memory));
  indim_literal **members = memory;
  indim_status status = INDIM_OK;
  for (int64_t i = 0; status == INDIM_OK && i < shape->member_count; i++) {
    status = deserialize(cx, s, shape->members[i], &members[i]);
  }
  if (status == INDIM_OK) {
    status = indim_literal_create_tuple(cx, members, shape->member_count, out);
  }
  for (int64_t i = 0; status != INDIM_OK && i < shape->member_count; i++) {
    indim_literal_destroy(members[i]);
  }
  indim_free(cx, memory, size);
  return status;
}

static indim_status deserialize(indim_ctx *cx, stream *s, const indim_shape *shape, indim_literal **out) {
  if (shape->type == INDIM_TUPLE) {
    return deserialize_tuple(cx, s, shape, out);
  }
  if (!indim_shape_is_array(shape)) {
    return indim_fail(cx, INDIM_INVALID, "a %s has no form in the serialised stream", indim_type_text(shape->type));
  }
  indim_literal *plain = NULL;
  indim_shape dense = plain_shape(shape);
  INDIM_TRY(indim_literal_create(cx, &dense, &plain));
  indim_status status = read_sizes(cx, s, plain);
  if (status == INDIM_OK) {
    status = read_data(cx, s, plain);
  }
  if (status == INDIM_OK) {
    status = indim_literal_relayout(cx, plain, shape, out);
  }
  indim_literal_destroy(plain);
  return status;
}

indim_status indim_literal_deserialize(indim_ctx *cx, const void *bytes, size_t size, indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, bytes);
  INDIM_NOT_NULL(cx, out_literal);
  stream s = {bytes, size};
  const unsigned char *part = NULL;
  uint64_t length = 0;
  indim_shape shape;
  indim_arena arena;
  *out_literal = NULL;
  INDIM_TRY(take(cx, &s, 8, &part));
  for (int i = 7; i >= 0; i--) {
    length = length << 8 | part[i];
  }
  INDIM_TRY(take(cx, &s, length > SIZE_MAX ? SIZE_MAX : (size_t)length, &part));
  indim_arena_init(&arena, cx);
  indim_status status = indim_shape_decode(cx, part, (size_t)length, &arena, &shape);
  if (status == INDIM_OK) {
    status = indim_shape_validate(cx, &shape, true);
  }
  if (status == INDIM_OK) {
    status = deserialize(cx, &s, &shape, out_literal);
  }
  indim_arena_deinit(&arena);
  if (status == INDIM_OK && s.left > 0) {
    indim_literal_destroy(*out_literal);
    *out_literal = NULL;
    status = indim_fail(cx, INDIM_INVALID, "%zu bytes are left behind the serialised literal", s.left);
  }
  return status;
}
