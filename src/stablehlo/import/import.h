// Import: a StableHLO program (vhlo.h) becomes a module. Each op has a row in import.def with a function that writes the
// HLO of it with the builder; regions become computations, a value of an enclosing region that one uses is passed in, or, if it
// is a constant, cloned. The builder keeps the first error.
#ifndef INDIM_STABLEHLO_IMPORT_IMPORT_H
#define INDIM_STABLEHLO_IMPORT_IMPORT_H

#include "graph/build.h"
#include "stablehlo/vhlo.h"

enum {
  INDIM_IMPORT_SHAPES = 64,        // shapes of types seen last
  INDIM_IMPORT_MAX_LIST = 1 << 20  // numbers in an attribute: dimensions, groups of devices
};

// A function of the program and what became of it.
typedef struct indim_import_function {
  const indim_vhlo_op *op;  // FUNC
  indim_str name;
  const indim_computation *computation;  // NULL before it is imported
  enum { INDIM_IMPORT_UNSEEN, INDIM_IMPORT_OPEN, INDIM_IMPORT_DONE } state;
} indim_import_function;

typedef struct indim_import {
  indim_ctx *cx;
  const indim_vhlo_program *program;
  indim_builder *b;
  const indim_vhlo_op *op;           // that is being imported, for errors
  indim_import_function *functions;  // by name
  int64_t function_count;
  uint32_t mark;  // the last one given to values
  int32_t begun;  // computations
  struct {
    const indim_vhlo_type *type;
    const indim_shape *shape;
  } shapes[INDIM_IMPORT_SHAPES];
  const indim_vhlo_location *metadata_from;  // |metadata| is the attribute's text of this location
  indim_str metadata;
} indim_import;

typedef const indim_instr *indim_import_value;

// Writes the op's instructions and maps its results.
typedef void indim_import_fn(indim_import *im, const indim_vhlo_op *op);

typedef struct indim_import_row {
  indim_import_fn *function;
  indim_op op;  // for functions that many rows share
  const char *text;
} indim_import_row;
const indim_import_row *indim_import_row_of(indim_vhlo_op_code code);

// kit.c ----------------------------------------------------------------------------------------------------------------

// Fails at the op that is being imported. Nothing is done after the first error.
void indim_import_fail(indim_import *im, indim_status status, const char *format, ...) INDIM_PRINTF(3, 4);
bool indim_import_ok(const indim_import *im);

// What the operand became in the open computation; NULL after an error.
indim_import_value indim_import_operand(indim_import *im, const indim_vhlo_op *op, int64_t i);
// All of them, in the module's arena; NULL if there are none.
indim_import_value *indim_import_operands(indim_import *im, const indim_vhlo_op *op);
void indim_import_result(const indim_vhlo_op *op, int64_t i, indim_import_value value);

// The shape of a type, interned, with the default layout. NULL after an error: sizes that are not static, quantized elements, ...
const indim_shape *indim_import_shape(indim_import *im, const indim_vhlo_type *type);
// The op's result types as one shape: itself, or a tuple if there is not exactly one.
const indim_shape *indim_import_result_shape(indim_import *im, const indim_vhlo_op *op);
const indim_shape *indim_import_tuple_shape(indim_import *im, const indim_shape *const *members, int64_t count);

// A shape that was changed, checked and interned; NULL after an error.
const indim_shape *indim_import_own_shape(indim_import *im, const indim_shape *shape);

// Zeroed memory as long as the module lives; NULL after an error.
void *indim_import_array(indim_import *im, int64_t count, size_t size);

indim_import_value indim_import_emit(indim_import *im, indim_op op, const indim_shape *shape,
                                     const indim_import_value *operands, int64_t count, const indim_attr *attrs,
                                     int64_t attr_count);
// The instruction that an op is, of all its operands, and its results.
void indim_import_emit_op(indim_import *im, const indim_vhlo_op *op, indim_op hlo, const indim_attr *attrs,
                          int64_t attr_count);
// Maps each result to the value itself, or to its parts.
void indim_import_results(indim_import *im, const indim_vhlo_op *op, indim_import_value value);
// One value as it is, any other number as a tuple.
indim_import_value indim_import_maybe_tuple(indim_import *im, const indim_import_value *values, int64_t count);

// Attributes of instructions from attributes of the op.
const int64_t *indim_import_ints(indim_import *im, const indim_vhlo_attr *tensor, int64_t *out_count);
indim_attr indim_import_attr_ints(indim_import *im, indim_attr_id id, const indim_vhlo_op *op,
                                  indim_vhlo_attr_name name);
indim_attr indim_import_attr_int(indim_attr_id id, const indim_vhlo_op *op, indim_vhlo_attr_name name,
                                 int64_t if_absent);
indim_attr indim_import_attr_text(indim_import *im, indim_attr_id id, indim_str text);
// The text that was written to |buffer|, which is freed.
indim_attr indim_import_attr_buffer(indim_import *im, indim_attr_id id, indim_buffer *buffer);
// operand_precision=; false if it says nothing but default.
bool indim_import_precision(indim_import *im, const indim_vhlo_op *op, indim_attr *out);

// move.c --------------------------------------------------------------------------------------------------------------

// The op's first operand, repeated to |shape| along its broadcast_dimensions.
indim_import_value indim_import_broadcast_to(indim_import *im, const indim_vhlo_op *op, const indim_shape *shape);

// constraints.c --------------------------------------------------------------------------------------------------------

// Holds an op to what StableHLO alone demands of it, before it is imported, and its results to the types that are stated, after it.
void indim_import_check(indim_import *im, const indim_vhlo_op *op);
void indim_import_check_results(indim_import *im, const indim_vhlo_op *op);

// constant.c -----------------------------------------------------------------------------------------------------------

// A constant of a tensor attribute; a splat is a scalar that is broadcast.
indim_import_value indim_import_tensor(indim_import *im, const indim_vhlo_attr *tensor);

// fold.c ---------------------------------------------------------------------------------------------------------------

// window= of |sizes|, with what the op says of strides, padding and reversal, and of dilations under these names.
indim_attr indim_import_window(indim_import *im, const indim_vhlo_op *op, const int64_t *sizes, int64_t rank,
                               indim_vhlo_attr_name base_dilations, indim_vhlo_attr_name window_dilations);

// region.c -------------------------------------------------------------------------------------------------------------

// What a region uses of those around it; constants not counted.
typedef struct indim_import_captures {
  indim_vhlo_value **values;
  int64_t count, capacity;
} indim_import_captures;
// Adds what |region| uses, each value once for all regions with one mark.
void indim_import_capture(indim_import *im, const indim_vhlo_region *region, uint32_t mark,
                          indim_import_captures *captures);

// Opens a new computation with a name like XLA's, "region_0.3"; the one that was open is open again after its end with |root|
// (not finished if that is NULL). NULL after an error.
indim_computation *indim_import_begin(indim_import *im, const char *name, indim_computation **out_before);
const indim_computation *indim_import_end(indim_import *im, indim_computation *computation, indim_import_value root,
                                          indim_computation *before);

// The computation of |op| on two scalars of |type|, to reduce with. NULL after an error.
const indim_computation *indim_import_scalar_computation(indim_import *im, indim_op op, indim_type type,
                                                         const char *name);

// How a computation takes its arguments and gives its results.
typedef enum indim_import_form {
  INDIM_IMPORT_PLAIN,  // a parameter for each argument; one result as it is
  INDIM_IMPORT_TUPLED  // one parameter: the only value, or a tuple of all; results likewise
} indim_import_form;

// The computation of a region whose arguments are followed by |captures| (NULL: there must be none), which its results are
// followed by, too, if |gives_captures|.
const indim_computation *indim_import_region(indim_import *im, const indim_vhlo_region *region, const char *name,
                                             indim_import_form form, const indim_import_captures *captures,
                                             bool gives_captures);
// The ops of a region, in the open computation; returns its last.
const indim_vhlo_op *indim_import_ops(indim_import *im, const indim_vhlo_region *region);

// names.c: names the open computation's parameters, which are its first instructions, after the region's arguments.
void indim_import_name_parameters(indim_import *im, const indim_vhlo_region *region);

// The computation of the function with this name.
const indim_computation *indim_import_function_named(indim_import *im, indim_str name);

// An op of HLO that stands in the program as a composite or a custom call.
typedef struct indim_import_named_op {
  indim_op op;
  int64_t k;     // of topk
  bool largest;  // likewise
} indim_import_named_op;
// Whether the composite or custom call is one, so that a decomposition is not needed.
bool indim_import_named(const indim_vhlo_op *op, indim_import_named_op *out);
void indim_import_emit_named(indim_import *im, const indim_vhlo_op *op, const indim_import_named_op *named);

// signature.c ----------------------------------------------------------------------------------------------------------

// What the attributes of main's arguments and results say: layouts, and which results may take an argument's buffer.
void indim_import_signature(indim_import *im, const indim_vhlo_op *main, indim_computation *entry);

#define INDIM_IMPORT(code, function, op, text) indim_import_fn indim_import_##function;
#include "stablehlo/import/import.def"

#endif  // INDIM_STABLEHLO_IMPORT_IMPORT_H
