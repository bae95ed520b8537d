// Programs: a module holds computations, a computation holds instructions, one of them its root (XLA's HLO). A module
// is made by parsing text (text.h) or by the builder (builder.h), is immutable afterwards, and may then be read by
// many threads at once.
#ifndef INDIM_GRAPH_H
#define INDIM_GRAPH_H

#include "indim/literal.h"

#ifdef __cplusplus
extern "C" {
#endif

// The opcodes; ops.def has one row for each.
typedef enum indim_op {
#define INDIM_OP(name, text, least, most, types, shape, infer, eval, meaning) INDIM_OP_##name,
#include "indim/ops.def"
  INDIM_OP_COUNT
} indim_op;

// What ops.def says of an op.
typedef struct indim_op_info {
  const char *text;     // "add"
  int32_t least;        // operands
  int32_t most;         // -1: no bound
  bool shape_inferred;  // the result shape may be left out of the text
  bool evaluated;       // the evaluator runs it
  const char *meaning;
} indim_op_info;

// The row of an op; of INDIM_OP_ADD for a number that is no op.
INDIM_API const indim_op_info *indim_op_get(indim_op op);
// Finds an op by its exact text.
INDIM_API bool indim_op_parse(indim_str text, indim_op *out_op);

// An attribute that an op takes: name=value behind its operands.
typedef struct indim_op_attr_info {
  const char *text;         // "dimensions"
  const char *form;         // how its value is written: "{integers}"
  const char *meaning;      // one line for people
  bool required;            // the text must have it
  bool of_any_op;           // every op takes it
  bool names_computations;  // its value is computations
} indim_op_attr_info;

// Attribute |index| of an op, from 0: the op's own in the order in which they are printed, then those of any op. False beyond
// the last.
INDIM_API bool indim_op_attr_get(indim_op op, int32_t index, indim_op_attr_info *out_info);
// Word |word|, from 0, that this attribute may hold ("EQ"); NULL beyond the last, and where it does not hold one of a list.
INDIM_API const char *indim_op_attr_word(indim_op op, int32_t index, int32_t word);

typedef struct indim_module indim_module;
typedef struct indim_computation indim_computation;
typedef struct indim_instr indim_instr;

// Frees the module and everything in it. NULL allowed.
INDIM_API void indim_module_destroy(indim_module *module);

// What follows only looks: given NULL or a number outside, it answers 0, NULL, "" or INDIM_OP_COUNT.
INDIM_API indim_str indim_module_name(const indim_module *module);
INDIM_API const indim_computation *indim_module_entry(const indim_module *module);
INDIM_API int64_t indim_module_computation_count(const indim_module *module);
INDIM_API const indim_computation *indim_module_computation(const indim_module *module, int64_t index);
INDIM_API int64_t indim_module_instr_count(const indim_module *module);  // of all computations together
// What stands behind a name in the module's header ("buffer_donor"), as it is written; "" if nothing, and for those that have a
// meaning of their own here (entry_computation_layout and others).
INDIM_API indim_str indim_module_header(const indim_module *module, const char *name);

INDIM_API indim_str indim_computation_name(const indim_computation *computation);
INDIM_API int64_t indim_computation_instr_count(const indim_computation *computation);
INDIM_API const indim_instr *indim_computation_instr(const indim_computation *computation, int64_t index);
INDIM_API const indim_instr *indim_computation_root(const indim_computation *computation);
INDIM_API int64_t indim_computation_parameter_count(const indim_computation *computation);
INDIM_API const indim_instr *indim_computation_parameter(const indim_computation *computation, int64_t number);

INDIM_API indim_op indim_instr_op(const indim_instr *instr);
INDIM_API indim_str indim_instr_name(const indim_instr *instr);
INDIM_API const indim_shape *indim_instr_shape(const indim_instr *instr);
INDIM_API int64_t indim_instr_operand_count(const indim_instr *instr);
INDIM_API const indim_instr *indim_instr_operand(const indim_instr *instr, int64_t index);
// The target of a custom-call; "" of others.
INDIM_API indim_str indim_instr_call_target(const indim_instr *instr);

// Positions: of a computation in its module, of an instruction in its computation.
INDIM_API int64_t indim_computation_index(const indim_computation *computation);
INDIM_API int64_t indim_instr_index(const indim_instr *instr);
// The computations that it calls, in the order of its attributes: to_apply, calls, condition, body, branches.
INDIM_API int64_t indim_instr_called_count(const indim_instr *instr);
INDIM_API const indim_computation *indim_instr_called(const indim_instr *instr, int64_t index);
INDIM_API int64_t indim_instr_parameter_number(const indim_instr *instr);      // of a parameter; else -1
INDIM_API const indim_literal *indim_instr_literal(const indim_instr *instr);  // of a constant; else NULL
// An attribute that is a number or a list of numbers, by its name in the text: of "dimensions={0,1}" 2, and |*out_numbers| 0, 1;
// of a slice three a dimension (start, limit, stride), of a padding (low, high, interior). -1 if it has none, or one of another
// kind.
INDIM_API int64_t indim_instr_numbers(const indim_instr *instr, const char *attribute, const int64_t **out_numbers);
// The line of the text that it was read from; 0 where there was none.
INDIM_API int64_t indim_instr_line(const indim_instr *instr);
// Writes where the front end's own program has it, as the metadata tells: "model.py:12"; nothing if it does not.
INDIM_API void indim_instr_origin_print(const indim_instr *instr, indim_buffer *out);

// Checks the whole module: every declared shape against the one that the op's rule gives, operand counts and types,
// attributes in range, called computations' signatures, constants against their shapes, entry layouts. Reports as
// many independent problems as the context keeps, each with its place. INDIM_OK when there is none.
INDIM_API INDIM_CHECKED indim_status indim_module_verify(indim_ctx *cx, const indim_module *module);

// What a program costs: an estimate, counted as XLA does, of the instructions as they stand and not of what a compiler makes of
// them. Of a loop one step, of branches the dearest.
typedef struct indim_cost {
  double flops;            // operations on elements; a product of matrices has two for each product of elements
  double transcendentals;  // exponentials, logarithms, roots, sines and the like, which are not among the flops
  double bytes;            // that all instructions read and write, as if none were fused
} indim_cost;

// Of a verified module's entry computation. Custom calls cost their memory alone. NO_MEMORY.
INDIM_API INDIM_CHECKED indim_status indim_module_cost(indim_ctx *cx, const indim_module *module, indim_cost *out_cost);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_GRAPH_H
