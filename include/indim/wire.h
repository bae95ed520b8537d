// The wire format: shapes, layouts and literals as the protocol buffer messages that XLA writes (xla_data.proto,
// literal.proto), equal to XLA's own byte for byte, plus the seed's padded_dimensions and padding_value in the layout
// fields they had (2 and 3), which XLA today skips.
//
// Decoding checks what the message itself must be, not what a shape must be: negative sizes or a wrong layout decode,
// and indim_shape_validate refuses them. Ranks, tiles and nesting beyond our capacities are INDIM_LIMIT.
#ifndef INDIM_WIRE_H
#define INDIM_WIRE_H

#include "indim/literal.h"

#ifdef __cplusplus
extern "C" {
#endif

// Appends the message's bytes to |out|; text functions of the buffer do not apply, it may hold zero bytes.
// A tile entry "*" has no form on the wire: INDIM_UNSUPPORTED.
INDIM_API INDIM_CHECKED indim_status indim_shape_encode(indim_ctx *cx, const indim_shape *shape, indim_buffer *out);
INDIM_API INDIM_CHECKED indim_status indim_layout_encode(indim_ctx *cx, const indim_layout *layout, indim_buffer *out);

// Reads one message that takes all of |bytes|. Trees go into |arena|. Errors (INVALID): malformed bytes; a dynamic flag
// list of another length than the sizes; a layout on what is no array; a negative tail alignment or tile entry; a
// buffer that does not wrap one array. A message without layout gives a shape without.
INDIM_API INDIM_CHECKED indim_status indim_shape_decode(indim_ctx *cx, const void *bytes, size_t size,
                                                        indim_arena *arena, indim_shape *out_shape);
INDIM_API INDIM_CHECKED indim_status indim_layout_decode(indim_ctx *cx, const void *bytes, size_t size,
                                                         indim_arena *arena, indim_layout *out_layout);

// Literals: elements in the order of minor_to_major, without padding and tiles, one byte for pred and sub-byte types.
// The layout's element size is not written (a literal has none on the wire). INDIM_INVALID for elided literals, when
// decoding also for a missing shape or layout, an opaque leaf, a wrong number of elements or members, or a member whose
// shape is not the tuple's. INDIM_UNSUPPORTED for f6e3m2fn and f6e2m3fn, which have no field.
INDIM_API INDIM_CHECKED indim_status indim_literal_encode(indim_ctx *cx, const indim_literal *literal,
                                                          indim_buffer *out);
INDIM_API INDIM_CHECKED indim_status indim_literal_decode(indim_ctx *cx, const void *bytes, size_t size,
                                                          indim_literal **out_literal);

// XLA's serialised stream: the length of the shape message in 8 little-endian bytes, the message, then the data of
// every array leaf in the order of minor_to_major, after the run-time sizes (s32 each) of a dynamic one; pred 8 to a
// byte and sub-byte types packed, least significant bits first. A token or opaque leaf is INDIM_INVALID.
INDIM_API INDIM_CHECKED indim_status indim_literal_serialize(indim_ctx *cx, const indim_literal *literal,
                                                             indim_buffer *out);
INDIM_API INDIM_CHECKED indim_status indim_literal_deserialize(indim_ctx *cx, const void *bytes, size_t size,
                                                               indim_literal **out_literal);

// A program's parameters and result. Parameter names are views into |arena|.
typedef struct indim_program_shape {
  int64_t parameter_count;
  const indim_shape *const *parameters;
  const indim_str *parameter_names;
  const indim_shape *result;
} indim_program_shape;
INDIM_API INDIM_CHECKED indim_status indim_program_shape_encode(indim_ctx *cx, const indim_program_shape *program,
                                                                indim_buffer *out);
// INDIM_INVALID also when there are not as many names as parameters.
INDIM_API INDIM_CHECKED indim_status indim_program_shape_decode(indim_ctx *cx, const void *bytes, size_t size,
                                                                indim_arena *arena, indim_program_shape *out_program);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_WIRE_H
