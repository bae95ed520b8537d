// The loop representation: a program of structured control (for, if, while) over values in registers, with loads and
// stores at explicit addresses. Fusion and lowering translate a graph to it, and emit/ translates it to machine code
// node by node; nothing below it decides anything about loops, vectors or memory.
//
//   for i in 0..64 step 8                      a[64] + b, b a scalar
//     v3: f32x8 = load a[i]
//     v4: f32x8 = add v3, v2                   v2: f32x8 = splat v1, defined outside the loop
//     store r[i], v4
//
// A value is |lanes| elements of one type, lanes 1 being a scalar. Programs are in SSA form: a value is defined once,
// by a node or as a body parameter (a block argument), and may be used after that in the same body and those nested in
// it. A storage is an array of elements in memory. Addresses are s64 values that count elements of a storage; every s64
// value in an address carries its range (|low| to |high|), so that the verifier can prove that no access leaves its
// storage.
//
// The builder (build.c) hash-conses: structurally equal pure nodes are one value, and a pure node is placed in the
// outermost body where all its arguments are in scope, so that nothing loop-invariant is computed inside a loop. It
// keeps its first error (|status|) and then returns 0 from every call; only the end needs a check. Value 0 is "none".
#ifndef INDIM_LOOP_LOOP_H
#define INDIM_LOOP_LOOP_H

#include "expand/expand.h"
#include "ffi/call.h"
#include "graph/module.h"
#include "indim/indim_host.h"
#include "loop/ir/op.h"
#include "loop/target/target.h"

typedef enum indim_node_kind {
#define INDIM_NODE(name, text, args, regions, group, meaning) INDIM_NODE_##name,
#include "loop/ir/nodes.def"
  INDIM_NODE_COUNT
} indim_node_kind;

typedef enum indim_node_group {
  INDIM_GROUP_VALUE,    // defines one value and has no side effects
  INDIM_GROUP_LOAD,     // defines one value that depends on memory
  INDIM_GROUP_WRITE,    // writes memory
  INDIM_GROUP_HINT,     // affects performance only
  INDIM_GROUP_CONTROL,  // has bodies (regions)
  INDIM_GROUP_HOST      // calls the host
} indim_node_group;

// Storages -------------------------------------------------------------------------------------------------------------

typedef enum indim_storage_kind {
  INDIM_STORAGE_ARGUMENT,  // the caller's, read only unless |is_donated|
  INDIM_STORAGE_RESULT,    // the caller's, written
  INDIM_STORAGE_SCRATCH,   // a part of the scratch block
  INDIM_STORAGE_CONSTANT   // embedded in the program
} indim_storage_kind;

typedef struct indim_storage {
  indim_storage_kind kind;
  int32_t index;     // position in the program's list
  int32_t number;    // which argument or result: position among their flattened leaves
  indim_type type;   // of an element, stored as indim_type_bytes(type) bytes each
  int64_t elements;  // allocated, padding included
  int64_t offset;    // SCRATCH: bytes from the start of the block, a multiple of 64; set by buffer assignment
  // In use from that node to that one, numbered from 1 in a pre-order walk; set by buffer assignment. 0: never.
  int64_t first_node, last_node;
  const void *data;    // CONSTANT: the bytes, aligned to 16, alive as long as the program
  bool is_donated;     // ARGUMENT: may be written
  int32_t shares;      // index + 1 of the storage whose buffer this one reuses, 0 if none
  bool is_temporary;   // SCRATCH: each user writes what it reads, so that later ones may use it, too
  const char *name;    // for people: the instruction's name
  int32_t root;        // builder's: index + 1 of a storage further along |shares|, 0 if not looked up yet
  int32_t written_in;  // builder's: the last region that declared writing these bytes; kept in the root
} indim_storage;

// Values and nodes -----------------------------------------------------------------------------------------------------

typedef int32_t indim_value_id;  // number of a value; 0 is none

typedef struct indim_loop_body indim_loop_body;
typedef struct indim_loop_node indim_loop_node;

typedef struct indim_loop_value {
  indim_type type;
  int32_t lanes;
  indim_loop_body *body;  // whose scope, nested bodies included, the value is in
  indim_loop_node *node;  // that defines it; NULL for a body parameter
  int64_t low, high;      // of an s64: bounds of every lane; else INT64_MIN, INT64_MAX
  int64_t step;           // of a loop index: low, low + step, ...; 0 if unknown
} indim_loop_value;

// What an elementwise node computes: an op of the graph with its attributes.
typedef struct indim_loop_op {
  indim_op op;
  int32_t direction;      // COMPARE: an indim_compare_direction
  bool total_order;       // COMPARE
  int32_t exponent_bits;  // REDUCE_PRECISION
  int32_t mantissa_bits;
} indim_loop_op;

typedef enum indim_host_service {
#define INDIM_SERVICE(enumerator, name, storages, written, arrays) INDIM_HOST_##enumerator,
#include "host/service.def"
  INDIM_HOST_SERVICE_COUNT
} indim_host_service;

// Lanes of up to such a stride are loaded and stored as whole vectors that are taken apart (emit/program/interleave.c).
enum { INDIM_LOOP_MOST_STRIDE = 4 };
// Whether that is so of some farther ones, too, which are bytes or halves and only loaded: no instruction gathers these.
static inline bool indim_loop_is_narrow_stride(int64_t stride, int32_t bytes) {
  return bytes <= 2 && (stride == 6 || stride == 8);
}

// What a row of service.def says.
typedef struct indim_service_info {
  const char *name;
  int32_t storages, written;  // storages: -1 for any number
  int32_t numbers;            // int64_t in its struct
  bool is_dense;
} indim_service_info;
const indim_service_info *indim_service_get(indim_host_service service);

enum { INDIM_MAX_HOST_NUMBERS = 128, INDIM_MAX_HOST_STORAGES = 256 };

struct indim_loop_node {
  indim_node_kind kind;
  int32_t arg_count;
  indim_value_id *args;
  indim_value_id first_result;  // results are numbered consecutively
  int32_t result_count;
  const indim_instr *origin;  // source instruction; NULL if unknown
  indim_loop_node *next;      // in its body
  indim_loop_body *body;      // that contains it
  indim_loop_body *bodies[2];
  union {
    struct {
      uint64_t bits[2];  // CONST: of the element as in memory (element.h), imaginary part separate
    } constant;
    struct {
      const uint64_t *bits;  // LANES: two words per lane
    } lanes;
    indim_loop_op op;  // ELEMENTWISE, REDUCE
    struct {
      int64_t constant;             // AFFINE: the constant term; FLOORDIV, MODULO: the divisor
      const int64_t *coefficients;  // AFFINE: one per argument
    } affine;
    struct {
      int64_t low, high;
    } clamp;
    int32_t lane;        // EXTRACT
    const int32_t *map;  // SHUFFLE: one entry per lane of the result
    struct {
      int32_t storage;
      int64_t lane_stride;  // elements between lanes; 1 is contiguous, may be 0 or negative; unused when the
                            // address has lanes
      bool has_mask;        // LOAD: args are address, mask, fill; STORE: address, value, mask
      bool non_temporal;    // STORE: bypasses the caches
      bool fresh;           // LOAD: the region also writes the storage; never moved or shared
      int64_t prefetch;     // LOAD, STORE: distance in elements of a prefetch issued with it; 0: none
    } memory;
    struct {
      int32_t to, from;  // COPY, FILL (|to| only)
      int64_t count;     // elements
    } move;
    struct {
      int32_t storage;
      int64_t distance, count;  // elements
    } prefetch;
    struct {
      int64_t step;           // FOR: positive
      bool is_parallel;       // iterations may run in any order and concurrently; no carried values; nested in
                              // ifs and whiles only, never in a for
      int64_t grain;          // PARALLEL: least iterations per piece; the partition depends on the program only
      int64_t poll_interval;  // iterations between two polls of the host's stop word; 0: never
    } loop;
    struct {
      indim_host_service service;
      int32_t storage_count, written_count;  // the first |written_count| are written, the others read
      int32_t *storages;                     // the args are the address of one element in each
      int64_t *elements;  // of each storage, from the address on; NULL for a service that is not dense
      int32_t number_count;
      int64_t *numbers;  // the service's struct
    } host;
  } u;
};

struct indim_loop_body {
  indim_loop_node *first, *last;
  indim_loop_node *owner;  // NULL for the program's own
  indim_loop_body *outer;
  int32_t depth;  // 0 for the program's own
  int32_t parameter_count;
  indim_value_id first_parameter;  // FOR: the index, then the carried values
  int32_t yield_count;
  indim_value_id *yields;
  bool is_closed;
};

typedef struct indim_loop_program {
  indim_ctx *cx;
  indim_arena arena;
  const indim_module *module;
  indim_expansions expansions;  // whose instructions are the origins of nodes, beside the module's
  indim_calls calls;            // of functions of the caller's
  indim_target target;
  indim_storage **storages;
  int32_t storage_count, storage_capacity;
  indim_loop_value *values;  // [0] is none: a pred of one lane without a body
  int32_t value_count, value_capacity;
  int64_t scratch_bytes;
  int32_t argument_count;  // leaves of all arguments
  int32_t result_count;    // leaves of the result
  indim_loop_body *body;
} indim_loop_program;

// Builder --------------------------------------------------------------------------------------------------------------

typedef struct indim_loop_slot indim_loop_slot;

typedef struct indim_loop_builder {
  indim_loop_program *program;
  indim_loop_body *body;   // insertion point
  indim_status status;     // the first error; every call is a no-op after it
  indim_loop_slot *slots;  // of the hash table of pure nodes
  size_t slot_count, slot_used;
  int32_t load_floor;         // loads of storages that the current region does not write may be hoisted to this depth
  int32_t region;             // number of the current region; 0 before the first
  const indim_instr *origin;  // source instruction of the nodes built now
  indim_value_id less[2];     // integers of which the first is known to be less in every lane; 0: none
  indim_storage spare;        // returned for a new storage after an error, so that callers never see NULL
} indim_loop_builder;

INDIM_CHECKED indim_status indim_loop_program_create(indim_ctx *cx, const indim_module *module,
                                                     const indim_target *target, indim_loop_program **out_program);
void indim_loop_program_destroy(indim_loop_program *program);

void indim_loop_builder_init(indim_loop_builder *b, indim_loop_program *program);
void indim_loop_builder_deinit(indim_loop_builder *b);
// Records a failure.
void indim_loop_fail(indim_loop_builder *b, indim_status status);

// A new storage. Its name is copied.
indim_storage *indim_loop_storage(indim_loop_builder *b, indim_storage_kind kind, indim_type type, int64_t elements,
                                  const char *name);
// Begins a region: until the next call, the code that is built writes the storages in |written|; loads of all others
// may be hoisted out of loops up to the present body. Storages that share bytes count as one. A store to any other
// storage is refused (INTERNAL): loads of it may have been hoisted already. Loads are not shared between regions,
// except those of constants and of read-only arguments.
void indim_loop_region_begin(indim_loop_builder *b, indim_storage *const *written, int32_t count);

indim_value_id indim_loop_const(indim_loop_builder *b, indim_type type, uint64_t bits, uint64_t imag);
indim_value_id indim_loop_lanes(indim_loop_builder *b, indim_type type, int32_t lanes, const uint64_t *bits);
indim_value_id indim_loop_index(indim_loop_builder *b, int64_t value);  // an s64 constant
// Folds constants, flattens nested sums, drops zero terms. Scalars among arguments with lanes are splat.
indim_value_id indim_loop_affine(indim_loop_builder *b, int64_t constant, int32_t count, const indim_value_id *args,
                                 const int64_t *coefficients);
indim_value_id indim_loop_add(indim_loop_builder *b, indim_value_id x, indim_value_id y);
indim_value_id indim_loop_add_const(indim_loop_builder *b, indim_value_id x, int64_t constant);
indim_value_id indim_loop_mul_const(indim_loop_builder *b, indim_value_id x, int64_t factor);
// Simplified where the ranges allow: (8 i + j) / 8 is i when 0 <= j < 8.
indim_value_id indim_loop_floordiv(indim_loop_builder *b, indim_value_id x, int64_t divisor);
indim_value_id indim_loop_modulo(indim_loop_builder *b, indim_value_id x, int64_t divisor);
// Any integer type or pred; unsigned values above int64 count as |high|.
indim_value_id indim_loop_clamp_index(indim_loop_builder *b, indim_value_id x, int64_t low, int64_t high);
// The same in a branch that is taken only where indim_loop_in_range(b, x, low, high) is true: it stays there, where it needs no code.
indim_value_id indim_loop_checked_index(indim_loop_builder *b, indim_value_id x, int64_t low, int64_t high);
// low <= x <= high as a pred with x's lanes; a constant where x's range decides it.
indim_value_id indim_loop_in_range(indim_loop_builder *b, indim_value_id x, int64_t low, int64_t high);

// |type| is the result's. All args have the same lanes.
indim_value_id indim_loop_elementwise(indim_loop_builder *b, indim_loop_op op, indim_type type, int32_t count,
                                      const indim_value_id *args);
indim_value_id indim_loop_binary(indim_loop_builder *b, indim_op op, indim_value_id x,
                                 indim_value_id y);  // of x's type
indim_value_id indim_loop_select(indim_loop_builder *b, indim_value_id pred, indim_value_id on_true,
                                 indim_value_id on_false);
indim_value_id indim_loop_convert(indim_loop_builder *b, indim_value_id x, indim_type type);
// x * y + z of f32, f64 or complex numbers: four real ones, as the plain formula of a product needs.
bool indim_loop_has_fma(indim_type type);
indim_value_id indim_loop_fma(indim_loop_builder *b, indim_value_id x, indim_value_id y, indim_value_id z);

// x itself when it has the lanes already.
indim_value_id indim_loop_splat(indim_loop_builder *b, indim_value_id x, int32_t lanes);
indim_value_id indim_loop_extract(indim_loop_builder *b, indim_value_id x, int32_t lane);
// Arguments of equal type, any lanes. Returns the argument itself for the identity, a scalar for one lane.
indim_value_id indim_loop_shuffle(indim_loop_builder *b, int32_t count, const indim_value_id *args, int32_t lanes,
                                  const int32_t *map);
indim_value_id indim_loop_reduce(indim_loop_builder *b, indim_loop_op op, indim_value_id x);

indim_value_id indim_loop_load(indim_loop_builder *b, indim_storage *storage, indim_value_id address, int32_t lanes,
                               int64_t lane_stride);
// Lane k is from address + k * lane_stride (or address[k] when the address has lanes) where mask[k], else fill[k].
indim_value_id indim_loop_load_masked(indim_loop_builder *b, indim_storage *storage, indim_value_id address,
                                      int64_t lane_stride, indim_value_id mask, indim_value_id fill);
void indim_loop_store(indim_loop_builder *b, indim_storage *storage, indim_value_id address, indim_value_id value,
                      int64_t lane_stride, bool non_temporal);
void indim_loop_store_masked(indim_loop_builder *b, indim_storage *storage, indim_value_id address,
                             indim_value_id value, int64_t lane_stride, indim_value_id mask);
void indim_loop_copy(indim_loop_builder *b, indim_storage *to, indim_value_id to_address, indim_storage *from,
                     indim_value_id from_address, int64_t count);
// Prefetches |count| elements starting |distance| after the address; they may lie outside the storage.
void indim_loop_prefetch(indim_loop_builder *b, const indim_storage *storage, indim_value_id address, int64_t distance,
                         int64_t count);
void indim_loop_fill(indim_loop_builder *b, indim_storage *to, indim_value_id to_address, indim_value_id value,
                     int64_t count);

// Control. A begin opens the body, nodes are inserted into it, the end closes it; the body's carried values are
// returned in |out_carried|, the results in |out_results| (|count| of each, NULL when 0). After an error |out_carried|
// is zeros and |out_results| is left alone.
indim_value_id indim_loop_for_begin(indim_loop_builder *b, indim_value_id begin, indim_value_id end, int64_t step,
                                    int32_t count, const indim_value_id *carried,
                                    indim_value_id *out_carried);  // returns the index
void indim_loop_for_end(indim_loop_builder *b, const indim_value_id *yields, indim_value_id *out_results);
// Makes the open for parallel. It must not carry values.
void indim_loop_for_parallel(indim_loop_builder *b, int64_t grain);
void indim_loop_if_begin(indim_loop_builder *b, indim_value_id pred);
void indim_loop_if_else(indim_loop_builder *b, int32_t count, const indim_value_id *yields);
void indim_loop_if_end(indim_loop_builder *b, const indim_value_id *yields, indim_value_id *out_results);
void indim_loop_while_begin(indim_loop_builder *b, int32_t count, const indim_value_id *carried,
                            indim_value_id *out_carried);
void indim_loop_while_body(indim_loop_builder *b, indim_value_id pred, indim_value_id *out_carried);
void indim_loop_while_end(indim_loop_builder *b, const indim_value_id *yields, indim_value_id *out_results);

// A call of a service of the host. |numbers| is its struct indim_host_<name>.
typedef struct indim_host_call {
  indim_host_service service;
  int32_t storage_count, written_count;
  indim_storage *const *storages;
  const indim_value_id *addresses;  // of one element in each
  const int64_t *elements;          // of each from the address on, for a dense service; else NULL
  const void *numbers;
} indim_host_call;
void indim_loop_host(indim_loop_builder *b, const indim_host_call *call);
// Number of a custom call that nobody is asked for: the run fails there.
enum { INDIM_LOOP_FAILS = -1 };
static inline bool indim_loop_node_fails(const indim_loop_node *node) {
  return node->kind == INDIM_NODE_HOST && node->u.host.service == INDIM_HOST_CUSTOM_CALL &&
         node->u.host.numbers[0] == INDIM_LOOP_FAILS;
}

// The attributes of a value, valid until the next call that builds. After an error: those of none (a pred of one lane).
static inline const indim_loop_value *indim_loop_value_of(const indim_loop_builder *b, indim_value_id v) {
  return &b->program->values[b->status == INDIM_OK ? v : 0];
}

// Looking --------------------------------------------------------------------------------------------------------------

const char *indim_node_text(indim_node_kind kind);
// |kind| must be valid.
indim_node_group indim_node_group_of(indim_node_kind kind);
// Whether two elementwise ops compute the same, attributes included.
bool indim_loop_same_op(const indim_loop_op *x, const indim_loop_op *y);
// The node after |node| in a pre-order walk of the whole program; NULL at the end.
indim_loop_node *indim_loop_next(const indim_loop_node *node);
// The same for a walk of |body| and the bodies nested in it.
indim_loop_node *indim_loop_next_in(const indim_loop_body *body, const indim_loop_node *node);
// Writes the program as text, for people (docs/loop.md).
void indim_loop_print(const indim_loop_program *program, indim_buffer *out);
// The same, and calls |mark| where the text of each node begins and where it ends, with all that is nested in it.
typedef void indim_loop_mark(void *user, const indim_loop_node *node, bool is_end);
void indim_loop_print_marked(const indim_loop_program *program, indim_loop_mark *mark, void *user, indim_buffer *out);
// Writes one node as in the program's text, without its bodies and without a newline.
void indim_loop_print_node(const indim_loop_program *program, const indim_loop_node *node, indim_buffer *out);
// Checks every rule of this header: types and lanes of arguments and results, uses in scope, body parameters and
// yields, every unmasked address inside its storage, parallel loops that carry nothing and write nothing that another
// iteration reads. INDIM_INTERNAL with the node's text otherwise: a broken rule is a compiler bug.
INDIM_CHECKED indim_status indim_loop_verify(const indim_loop_program *program);

#endif  // INDIM_LOOP_LOOP_H
