// The attributes of a custom call of XLA's typed interface: the text of an MLIR dictionary becomes values with types.
//
//   {uplo = 76 : ui8, sizes = array<i64: 1, 2>}  ->  sizes: ARRAY of S64 {1, 2}; uplo: SCALAR of U8 76
#ifndef INDIM_FFI_ATTRS_H
#define INDIM_FFI_ATTRS_H

#include "graph/module.h"
#include "indim/custom_call.h"

// Reads |text| into |arena|, sorted by name; "" gives none. What XLA hands to handlers is taken: booleans, integers of 8 to
// 64 bits, f32 and f64, dense arrays of them, strings and dictionaries. INVALID at the backend_config= of |instr| for text that
// is no dictionary, for numbers beyond their type and for names that stand there twice; UNSUPPORTED for other kinds.
INDIM_CHECKED indim_status indim_attrs_read(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_str text,
                                            const indim_custom_attr **out_attrs, int64_t *out_count);

#endif  // INDIM_FFI_ATTRS_H
