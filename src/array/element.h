// One array element as bits, and the same widened: what every walk over literals loads, stores and converts.
//
// Bits are right-aligned and canonical: pred is 0 or 1, sub-byte types use their low bits and nothing above. Complex
// types have their imaginary part's bits apart.
#ifndef INDIM_ARRAY_ELEMENT_H
#define INDIM_ARRAY_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "indim/shape.h"

typedef struct indim_element {
  uint64_t bits;  // of the value, or of the real part
  uint64_t imag;  // of the imaginary part; 0 for real types
} indim_element;

// The element at |place| of storage whose elements are |width| bits apart (indim_shape_element_bits: 8, 32, 4 when
// packed ...), at least as wide as the type. Packed elements fill each byte from its low bits up.
//
//   s4, width 4: element 1 of the bytes 21 03 is 2       pred, width 32: element 1 is bytes 4..7
indim_element indim_element_load(indim_type type, int64_t width, const void *data, int64_t place);
void indim_element_store(indim_type type, int64_t width, void *data, int64_t place, indim_element element);

// Integers and pred, sign- or zero-extended; and back, wrapped to the type's bits (pred: not zero is true).
int64_t indim_element_to_int(indim_type type, indim_element element);
indim_element indim_element_of_int(indim_type type, int64_t value);
// Floats and complex numbers; |imag| is ignored for real types. Rounds once.
double indim_element_real(indim_type type, indim_element element);
double indim_element_imag(indim_type type, indim_element element);
indim_element indim_element_of_float(indim_type type, double real, double imag);

// Conversion by XLA's rules: integers wrap, floats to integers truncate and saturate with NaN giving 0,
// anything but zero is true, real to complex has imaginary part 0. Complex to real has no rule: |to| must be complex
// then.
indim_element indim_element_convert(indim_type from, indim_type to, indim_element element);

// The value that fills padding. UNKNOWN and INVALID give all zero bits. False for LOWEST and HIGHEST of complex types,
// which have no order.
bool indim_element_padding(indim_type type, indim_padding padding, indim_element *out);

#endif  // INDIM_ARRAY_ELEMENT_H
