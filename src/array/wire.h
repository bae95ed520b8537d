// Between our values and the structs that protoc-c generates.
#ifndef INDIM_ARRAY_WIRE_H
#define INDIM_ARRAY_WIRE_H

#include "array/wire.pb-c.h"
#include "base/arena.h"
#include "indim/wire.h"

// The message struct for a shape or layout, made in |arena|.
INDIM_CHECKED indim_status indim_wire_from_shape(indim_arena *arena, const indim_shape *shape,
                                                 Indim__Wire__Shape **out_message);
INDIM_CHECKED indim_status indim_wire_from_layout(indim_arena *arena, const indim_layout *layout,
                                                  Indim__Wire__Layout **out_message);
// The value of a message; trees go into |arena|.
INDIM_CHECKED indim_status indim_wire_to_shape(indim_arena *arena, const Indim__Wire__Shape *message,
                                               indim_shape *out_shape);
INDIM_CHECKED indim_status indim_wire_to_layout(indim_arena *arena, const Indim__Wire__Layout *message,
                                                indim_layout *out_layout);

// Appends the message's bytes.
INDIM_CHECKED indim_status indim_wire_pack(indim_ctx *cx, const ProtobufCMessage *message, indim_buffer *out);

// Reads a message whose memory is |arena|'s. Nesting is measured first, so that the reader, which recurses, stays within
// the stack.
INDIM_CHECKED indim_status indim_wire_unpack(indim_arena *arena, const ProtobufCMessageDescriptor *descriptor,
                                             const void *bytes, size_t size, ProtobufCMessage **out_message);

#endif  // INDIM_ARRAY_WIRE_H
