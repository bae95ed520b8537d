// Element types: names, widths, classes and how they order (XLA's PrimitiveType).
#ifndef INDIM_TYPE_H
#define INDIM_TYPE_H

#include "indim/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// XLA's numbers; see type.def for each type's text, bits and class.
typedef enum indim_type {
#define INDIM_TYPE(name, number, text, bits, class) INDIM_##name = number,
#include "indim/type.def"
} indim_type;

// One more than the largest type number.
#define INDIM_TYPE_COUNT 37

// The text of a type: "f32". "primitive_type_invalid" for INDIM_TYPE_INVALID and for numbers that are no type.
INDIM_API const char *indim_type_text(indim_type type);
// The enumerator's name as XLA's messages print it: "F32".
INDIM_API const char *indim_type_name(indim_type type);
// Finds a type by its exact lower-case text, "tuple", "token", "opaque" and "buffer" included. False if there is none.
INDIM_API bool indim_type_parse(indim_str text, indim_type *out_type);

// Whether an array may have this element type: all but INVALID, TUPLE, OPAQUE, TOKEN, BUFFER and unknown numbers.
INDIM_API bool indim_type_is_array(indim_type type);
INDIM_API bool indim_type_is_signed_int(indim_type type);
INDIM_API bool indim_type_is_unsigned_int(indim_type type);
INDIM_API bool indim_type_is_integral(indim_type type);  // signed or unsigned; PRED is not
INDIM_API bool indim_type_is_float(indim_type type);     // complex is not
INDIM_API bool indim_type_is_complex(indim_type type);
INDIM_API bool indim_type_is_sub_byte(indim_type type);  // fewer than 8 bits and not PRED

// Bits of a value (PRED 1); bytes of one element in memory, 1 for PRED and sub-byte types. 0 for non-array types.
INDIM_API int32_t indim_type_bits(indim_type type);
INDIM_API int32_t indim_type_bytes(indim_type type);

// F32 -> C64, F64 -> C128; the reverse; INDIM_TYPE_INVALID for any other.
INDIM_API indim_type indim_type_complex_of(indim_type component);
INDIM_API indim_type indim_type_component_of(indim_type complex);

// The type of the result where two may mix: larger in the order (is complex, overflow exponent or -1, significand
// width or -1, bits, is signed int); the first when they are equal. bf16 and f16 give bf16.
INDIM_API indim_type indim_type_higher_precision(indim_type a, indim_type b);
// Whether every value of |from| is a value of |to|.
INDIM_API bool indim_type_cast_preserves_values(indim_type from, indim_type to);
// S8 <-> U8 and so on; INDIM_TYPE_INVALID if there is none. |bits| 1, 2, 4, 8, 16, 32 or 64.
INDIM_API indim_type indim_type_unsigned_of_bits(int32_t bits);
INDIM_API indim_type indim_type_signed_of_bits(int32_t bits);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_TYPE_H
