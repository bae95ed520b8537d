// The graph: modules, computations, instructions and their attributes. Everything lives in the module's arena and is
// dropped with it; pointers between the parts are plain. Whoever makes a module (the parser, the builder) fills it
// through the functions below; afterwards nothing changes.
//
// Invariants, kept by the makers and checked by the verifier: an instruction's operands stand before it in the same
// computation; a called computation stands before its caller in the module; shapes are interned (equal shapes of one
// module are one pointer).
#ifndef INDIM_GRAPH_MODULE_H
#define INDIM_GRAPH_MODULE_H

#include "array/shape_text.h"
#include "base/arena.h"
#include "indim/graph.h"

// Attributes -------------------------------------------------------------------------------------------------------

typedef enum indim_attr_id {
#define INDIM_ATTR(name, text, kind, meaning) INDIM_ATTR_##name,
#include "graph/attr.def"
  INDIM_ATTR_COUNT
} indim_attr_id;

typedef enum indim_attr_kind {
  INDIM_KIND_INT,
  INDIM_KIND_BOOL,
  INDIM_KIND_FLOAT,
  INDIM_KIND_INTS,
  INDIM_KIND_BOOLS,
  INDIM_KIND_INT_LISTS,
  INDIM_KIND_WORD,
  INDIM_KIND_WORDS,
  INDIM_KIND_STRING,
  INDIM_KIND_RAW,
  INDIM_KIND_GROUPS,
  INDIM_KIND_WINDOW,
  INDIM_KIND_PADDING,
  INDIM_KIND_SLICE,
  INDIM_KIND_DIM_LABELS,
  INDIM_KIND_COMPUTATION,
  INDIM_KIND_COMPUTATIONS,
  INDIM_KIND_INSTRS,
  INDIM_KIND_SHAPE,
  INDIM_KIND_SHAPES,
  INDIM_KIND_LITERAL
} indim_attr_kind;

typedef struct indim_window_dim {
  int64_t size;
  int64_t stride;
  int64_t pad_low;  // may be negative
  int64_t pad_high;
  int64_t base_dilation;    // lhs_dilate
  int64_t window_dilation;  // rhs_dilate
  bool reversal;            // rhs_reversal
} indim_window_dim;

typedef struct indim_padding_dim {
  int64_t low;  // may be negative: crops
  int64_t high;
  int64_t interior;
} indim_padding_dim;

typedef struct indim_slice_dim {
  int64_t start;
  int64_t limit;
  int64_t stride;
} indim_slice_dim;

// bf01_oi01->bf01: for each part the array dimension of each letter; -1 for one that does not occur.
typedef struct indim_dim_labels {
  int32_t spatial_count;
  int32_t input_rank;  // entries of the part, '?' included
  int32_t kernel_rank;
  int32_t output_rank;
  int32_t input_batch, input_feature;
  int32_t kernel_input, kernel_output;
  int32_t output_batch, output_feature;
  int32_t input_spatial[INDIM_MAX_RANK];
  int32_t kernel_spatial[INDIM_MAX_RANK];
  int32_t output_spatial[INDIM_MAX_RANK];
  indim_str text;  // as written
} indim_dim_labels;

// One attribute with its value; which field holds it follows from the id's kind.
typedef struct indim_attr {
  indim_attr_id id;
  size_t offset;  // of its name in the module's source
  int64_t count;  // items of the list kinds; dimensions of WINDOW, PADDING, SLICE
  union {
    int64_t integer;         // INT, BOOL (0 or 1)
    double number;           // FLOAT
    const int64_t *ints;     // INTS, BOOLS; INT_LISTS: all lists' entries, one list after another
    indim_str text;          // WORD; STRING with its escapes resolved; RAW and GROUPS as written
    const indim_str *words;  // WORDS
    const indim_window_dim *window;
    const indim_padding_dim *padding;
    const indim_slice_dim *slice;
    const indim_dim_labels *dim_labels;
    indim_computation *const *computations;  // COMPUTATION (count 1), COMPUTATIONS
    indim_instr *const *instrs;
    const indim_shape *const *shapes;  // SHAPE (count 1), SHAPES
    const indim_literal *literal;      // owned by the module
  } value;
  const int64_t *list_sizes;  // INT_LISTS: |count| lengths
  bool is_string;             // RAW: was a quoted string; |text| has its escapes resolved
} indim_attr;

const char *indim_attr_text(indim_attr_id id);
indim_attr_kind indim_attr_kind_of(indim_attr_id id);
// The attribute that |text| names on |op|, the ones every instruction may carry included. False if the op takes none
// of that name.
bool indim_attr_find(indim_op op, indim_str text, indim_attr_id *out_id);
bool indim_attr_is_required(indim_op op, indim_attr_id id);
// Calls for the attributes of |op| in the order of printing: its own, then the general ones. |*cursor| starts at 0;
// false at the end.
bool indim_attr_next(indim_op op, int32_t *cursor, indim_attr_id *out_id, bool *out_required);

// The graph ----------------------------------------------------------------------------------------------------------

// Place of a part that was not read from text.
#define INDIM_NO_OFFSET SIZE_MAX

struct indim_instr {
  indim_op op;
  int32_t index;  // position in its computation
  int32_t operand_count;
  int32_t attr_count;
  const indim_shape *shape;  // interned in the module; NULL only before it is inferred
  indim_str name;            // null-terminated, unique in the computation
  indim_instr **operands;
  indim_attr *attrs;               // in the order of the text
  int64_t parameter_number;        // PARAMETER
  const indim_literal *literal;    // CONSTANT; owned by the module
  indim_computation *computation;  // that it stands in
  size_t offset;                   // of its name in the module's source
};

struct indim_computation {
  indim_module *module;
  int32_t index;         // position in the module
  indim_str name;        // null-terminated, unique in the module
  indim_instr **instrs;  // in text order
  int32_t instr_count;
  int32_t instr_capacity;
  indim_instr *root;
  indim_instr **parameters;  // by number; filled by indim_computation_finish
  int32_t parameter_count;
  bool has_effect;             // some instruction does more than give its result; filled by indim_computation_finish
  indim_str execution_thread;  // "" for the main thread
  size_t offset;
};

// An attribute of the module's header that is kept as written.
typedef struct indim_header_attr {
  indim_str name;
  indim_str text;
  size_t offset;
} indim_header_attr;

typedef struct indim_shape_pool indim_shape_pool;
typedef struct indim_literal_node indim_literal_node;

struct indim_module {
  indim_ctx *cx;
  indim_arena arena;
  indim_source source;  // copied into the arena
  indim_str name;
  indim_computation **computations;  // callees before callers
  int32_t computation_count;
  int32_t computation_capacity;
  indim_computation *entry;
  bool is_scheduled;
  int64_t replica_count;   // 1 unless stated
  int64_t num_partitions;  // 1 unless stated
  // entry_computation_layout: the caller's shapes with layouts; NULL when not stated (the parameters' own hold).
  const indim_shape **entry_parameter_shapes;  // |entry_shape_count| of them
  int64_t entry_shape_count;
  const indim_shape *entry_result_shape;
  indim_header_attr *header_attrs;  // the others, in the order of the text
  int32_t header_attr_count;
  // Of a specialized module: the number that each parameter of the text has now, -1 for one that has become a constant; else NULL.
  const int32_t *parameter_places;
  int32_t place_count;
  indim_str frames;  // the four frame sections as written, "" if none
  indim_shape_pool *shapes;
  indim_literal_node *literals;  // destroyed with the module
};

// Making -------------------------------------------------------------------------------------------------------------

// An empty module. Name and source are copied.
INDIM_CHECKED indim_status indim_module_create(indim_ctx *cx, indim_str name, indim_source source,
                                               indim_module **out_module);
// The one shape of the module that equals |shape| (layout, flags and all); a deep copy is made at first sight.
INDIM_CHECKED indim_status indim_module_intern(indim_module *module, const indim_shape *shape,
                                               const indim_shape **out_shape);
// Hands a literal over: destroyed with the module. On failure it is destroyed at once.
INDIM_CHECKED indim_status indim_module_own_literal(indim_module *module, indim_literal *literal);
// A new computation, not yet in its place among the module's, which is behind all that it calls. The name is copied and
// must be unique (the caller's to check).
INDIM_CHECKED indim_status indim_module_new_computation(indim_module *module, indim_str name, size_t offset,
                                                        indim_computation **out_computation);
// Puts it in its place: behind those that are there.
INDIM_CHECKED indim_status indim_module_append(indim_module *module, indim_computation *computation);
// Both at once.
INDIM_CHECKED indim_status indim_module_add_computation(indim_module *module, indim_str name, size_t offset,
                                                        indim_computation **out_computation);
// Appends an instruction without operands and attributes; the name is copied. |shape| may be NULL and set later.
INDIM_CHECKED indim_status indim_computation_add(indim_computation *computation, indim_op op, indim_str name,
                                                 const indim_shape *shape, size_t offset, indim_instr **out_instr);
INDIM_CHECKED indim_status indim_instr_set_operands(indim_instr *instr, indim_instr *const *operands, int64_t count);
INDIM_CHECKED indim_status indim_instr_set_attrs(indim_instr *instr, const indim_attr *attrs, int64_t count);
// Fills |parameters| from the PARAMETER instructions: numbers 0..n-1, each once; else INDIM_INVALID with the place. What it
// calls is finished.
// The root must be set.
INDIM_CHECKED indim_status indim_computation_finish(indim_computation *computation);

// constants.c: INVALID for a constant that the result needs and whose values the text left out ({...}).
INDIM_CHECKED indim_status indim_module_check_constants(indim_ctx *cx, const indim_module *module);

// A value for a parameter.
typedef struct indim_fixed_parameter {
  int64_t number;
  const indim_literal *value;
} indim_fixed_parameter;
// specialize.c: the module with those parameters turned into constants, and the others numbered anew. It refers to |module|, of
// which it has the called computations, and goes before it. INVALID for a number that is none or is given twice, for a
// value of another type or size, and for one that was left out of its text.
INDIM_CHECKED indim_status indim_module_specialize(indim_ctx *cx, const indim_module *module,
                                                   const indim_fixed_parameter *fixed, int64_t count,
                                                   indim_module **out_module);

// Asking -------------------------------------------------------------------------------------------------------------

// The instruction's attribute, or NULL.
const indim_attr *indim_instr_attr(const indim_instr *instr, indim_attr_id id);
// Shorthands; the default, 0 items or NULL when the attribute is absent.
int64_t indim_instr_int(const indim_instr *instr, indim_attr_id id, int64_t if_absent);
bool indim_instr_bool(const indim_instr *instr, indim_attr_id id, bool if_absent);
const int64_t *indim_instr_ints(const indim_instr *instr, indim_attr_id id, int64_t *out_count);
indim_str indim_instr_word(const indim_instr *instr, indim_attr_id id);
// How a compare compares: its direction, and whether floats compare in the total order.
typedef enum indim_compare_direction {
  INDIM_COMPARE_EQ,
  INDIM_COMPARE_NE,
  INDIM_COMPARE_GE,
  INDIM_COMPARE_GT,
  INDIM_COMPARE_LE,
  INDIM_COMPARE_LT
} indim_compare_direction;
indim_compare_direction indim_instr_direction(const indim_instr *instr);
bool indim_instr_is_total_order(const indim_instr *instr);
// What a dot does with a dimension of an operand.
typedef enum indim_dot_dim { INDIM_DOT_FREE, INDIM_DOT_BATCH, INDIM_DOT_CONTRACTED } indim_dot_dim;
// Of each of the |rank| dimensions of operand |number|.
void indim_instr_dot_dims(const indim_instr *dot, int32_t number, int32_t rank, indim_dot_dim *out);
indim_computation *indim_instr_computation(const indim_instr *instr, indim_attr_id id);
// The root of a computation of two parameters that is one op of both, each once; NULL for any other.
const indim_instr *indim_computation_single_op(const indim_computation *computation);
// The shape of result |k|: that member of a tuple, or the one result's.
const indim_shape *indim_instr_result_shape(const indim_instr *instr, int64_t k);
// Whether it has to run even if nobody uses its result: a custom call that says so, or what calls a computation with one.
bool indim_instr_has_effect(const indim_instr *instr);
bool indim_str_is(indim_str text, const char *word);

// Fails at the instruction's place: "add.3: ..." with the source line. The message begins with name and op.
indim_status indim_fail_instr(indim_ctx *cx, indim_status status, const indim_instr *instr, const char *format, ...)
    INDIM_PRINTF(4, 5);

// Storage for one shape in a message.
typedef indim_shape_name indim_shape_text;
// The shape's text without layout (cut with "..." if long), for printf arguments: indim_shape_brief(s, &t).
const char *indim_shape_brief(const indim_shape *shape, indim_shape_text *out);

#endif  // INDIM_GRAPH_MODULE_H
