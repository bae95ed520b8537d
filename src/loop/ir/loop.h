// The loop representation: a program of structured control (for, if, while) over values in registers, with loads and
// stores at explicit addresses. It is what fusion and lowering make of a graph, and what emit/ turns into machine code
// one node after another; nothing below it decides anything about loops, vectors or memory.
//
//   for i in 0..64 step 8                      a[64] + b, b a scalar
//     v3: f32x8 = load a[i]
//     v4: f32x8 = add v3, v2                   v2: f32x8 = splat v1, made outside the loop
//     store r[i], v4
//
// A value is |lanes| elements of one type, lanes 1 being a scalar; it is given once, by a node or as a parameter of a
// body, and may be used behind that in the same body and those inside it. A storage is an array of elements in memory.
// Addresses count elements of a storage and are s64 values; every s64 value that an address is made of knows its range
// (|low| to |high|), so that the verifier can prove that no access leaves its storage.
//
// The builder (build.c) hash-conses: the same pure node twice is one value, and a pure node is put into the outermost
// body in which all its arguments are known, so that nothing invariant is ever computed inside a loop. It keeps its
// first error (|status|) and then answers 0 to everything; only the end needs a check. Value 0 is "none".
#ifndef INDIM_LOOP_LOOP_H
#define INDIM_LOOP_LOOP_H

#include "graph/module.h"
#include "loop/ir/op.h"
#include "loop/target/target.h"

typedef enum indim_node_kind {
#define INDIM_NODE(name, text, args, regions, group, meaning) INDIM_NODE_##name,
#include "loop/ir/nodes.def"
  INDIM_NODE_COUNT
} indim_node_kind;

typedef enum indim_node_group {
  INDIM_GROUP_VALUE,    // gives one value, and that is all it does
  INDIM_GROUP_LOAD,     // gives one value that depends on memory
  INDIM_GROUP_WRITE,    // changes memory
  INDIM_GROUP_HINT,     // changes nothing but the time that others take
  INDIM_GROUP_CONTROL,  // has bodies
  INDIM_GROUP_HOST      // calls out
} indim_node_group;

// Storages -------------------------------------------------------------------------------------------------------------

typedef enum indim_storage_kind {
  INDIM_STORAGE_ARGUMENT,  // the caller's, read only unless |is_donated|
  INDIM_STORAGE_RESULT,    // the caller's, written
  INDIM_STORAGE_SCRATCH,   // a part of the scratch block
  INDIM_STORAGE_CONSTANT   // inside the program
} indim_storage_kind;

typedef struct indim_storage {
  indim_storage_kind kind;
  int32_t index;       // position in the program's list
  int32_t number;      // which argument or result: position among the leaves of all of them
  indim_type type;     // of an element, stored as indim_type_bytes(type) bytes each
  int64_t elements;    // allocated, padding included
  int64_t offset;      // SCRATCH: bytes from the start of the block, a multiple of 64; set by the buffer plan
  const void *data;    // CONSTANT: the bytes, aligned to 16, alive as long as the program
  bool is_donated;     // ARGUMENT: may be written
  int32_t shares;      // index + 1 of the storage whose bytes this one takes over, 0 if none
  bool is_temporary;   // SCRATCH: each user writes what it reads, so that later ones may use it, too
  const char *name;    // for people: the instruction's name
  int32_t root;        // builder's: index + 1 of a storage further along |shares|, 0 if not looked for yet
  int32_t written_in;  // builder's: the kernel that last said that it writes these bytes; kept in the root
} indim_storage;

// Values and nodes -----------------------------------------------------------------------------------------------------

typedef int32_t indim_value_id;  // number of a value; 0 is none

typedef struct indim_loop_body indim_loop_body;
typedef struct indim_loop_node indim_loop_node;

typedef struct indim_loop_value {
  indim_type type;
  int32_t lanes;
  indim_loop_body *body;  // that it is known in, and in those inside
  indim_loop_node *node;  // that gives it; NULL for a body's parameter
  int64_t low, high;      // of an s64: every lane lies in here; else INT64_MIN, INT64_MAX
  int64_t step;           // of a loop's index: low, low + step, ...; 0 when nothing is known
} indim_loop_value;

// What an elementwise node computes: an op of the graph with what its attributes say.
typedef struct indim_loop_op {
  indim_op op;
  int32_t direction;      // COMPARE: an indim_compare_direction
  bool total_order;       // COMPARE
  int32_t exponent_bits;  // REDUCE_PRECISION
  int32_t mantissa_bits;
} indim_loop_op;

typedef enum indim_host_service {
  INDIM_HOST_MATMUL,  // storages out, lhs, rhs; numbers: see run/host.h
  INDIM_HOST_SERVICE_COUNT
} indim_host_service;

// The numbers of INDIM_HOST_MATMUL, as the struct of run/host.h holds them.
enum {
  INDIM_MATMUL_TYPE,
  INDIM_MATMUL_BATCH,
  INDIM_MATMUL_M,
  INDIM_MATMUL_N,
  INDIM_MATMUL_K,
  INDIM_MATMUL_LHS_BATCH,
  INDIM_MATMUL_LHS_M,
  INDIM_MATMUL_LHS_K,
  INDIM_MATMUL_RHS_BATCH,
  INDIM_MATMUL_RHS_K,
  INDIM_MATMUL_RHS_N,
  INDIM_MATMUL_OUT_BATCH,
  INDIM_MATMUL_OUT_M,
  INDIM_MATMUL_ACCUMULATE,
  INDIM_MATMUL_SINGLE_THREAD,
  INDIM_MATMUL_NUMBERS
};

enum { INDIM_MAX_HOST_NUMBERS = 16, INDIM_MAX_HOST_STORAGES = 4 };

struct indim_loop_node {
  indim_node_kind kind;
  int32_t arg_count;
  indim_value_id *args;
  indim_value_id first_result;  // results are numbered one after another
  int32_t result_count;
  const indim_instr *origin;  // that it was made for; NULL when that is not known
  indim_loop_node *next;      // in its body
  indim_loop_body *body;      // that it stands in
  indim_loop_body *bodies[2];
  union {
    struct {
      uint64_t bits[2];  // CONST: of the element as in memory (element.h), imaginary part apart
    } constant;
    struct {
      const uint64_t *bits;  // LANES: two words for each lane
    } lanes;
    indim_loop_op op;  // SCALAR, FOLD
    struct {
      int64_t constant;             // AFFINE: added; FLOORDIV, MODULO: the divisor
      const int64_t *coefficients;  // AFFINE: one for each argument
    } affine;
    struct {
      int64_t low, high;
    } clamp;
    int32_t lane;        // EXTRACT
    const int32_t *map;  // SHUFFLE: one for each lane of the result
    struct {
      int32_t storage;
      int32_t lane_stride;  // elements between lanes; 1 is contiguous, may be 0 or negative; unused when the
                            // address has lanes of its own
      bool has_mask;        // LOAD: args are address, mask, fill; STORE: address, value, mask
      bool non_temporal;    // STORE: past the caches
      bool fresh;           // LOAD: the storage is also written in this loop; never moved or shared
      int64_t prefetch;     // LOAD: the distance, in elements, of a prefetch made with it; 0: none
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
      int64_t step;      // FOR: positive
      bool is_parallel;  // iterations in any order and at the same time; carries nothing, stands in the program's body
                         // or in ifs and whiles, never in a for
      int64_t grain;     // PARALLEL: at least so many iterations a piece; the split depends on the program only
      int64_t poll_interval;  // so many iterations between two looks at the host's stop word; 0: never
    } loop;
    struct {
      indim_host_service service;
      int32_t storage_count;
      int32_t storages[INDIM_MAX_HOST_STORAGES];  // the args are one element address each
      bool is_written[INDIM_MAX_HOST_STORAGES];
      int32_t number_count;
      int64_t numbers[INDIM_MAX_HOST_NUMBERS];
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
  indim_loop_body *body;   // that nodes are put into
  indim_status status;     // the first error; every call does nothing after it
  indim_loop_slot *slots;  // of the table of pure nodes
  size_t slot_count, slot_used;
  int32_t load_floor;         // loads of storages that are not written in the running kernel may move out to this depth
  int32_t kernel;             // number of the running kernel; 0 before the first
  const indim_instr *origin;  // of the nodes that are made now
  indim_storage spare;        // the answer to a new storage after an error, so that nobody holds NULL
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
// Storages in |written| are from now on written by what is built, until the next call; loads of all others may move out
// of loops as far as the present body. Storages that share bytes count as one. A store to any other storage is refused
// (INTERNAL): loads of it may have been moved already. Loads of a kernel are not shared with other kernels, but for those
// of constants and of arguments that nobody may write.
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
indim_value_id indim_loop_fma(indim_loop_builder *b, indim_value_id x, indim_value_id y, indim_value_id z);

// x itself when it has the lanes already.
indim_value_id indim_loop_splat(indim_loop_builder *b, indim_value_id x, int32_t lanes);
indim_value_id indim_loop_extract(indim_loop_builder *b, indim_value_id x, int32_t lane);
// Arguments of equal type, any lanes. The identity gives the argument itself, one lane a scalar.
indim_value_id indim_loop_shuffle(indim_loop_builder *b, int32_t count, const indim_value_id *args, int32_t lanes,
                                  const int32_t *map);
indim_value_id indim_loop_reduce(indim_loop_builder *b, indim_loop_op op, indim_value_id x);

indim_value_id indim_loop_load(indim_loop_builder *b, indim_storage *storage, indim_value_id address, int32_t lanes,
                               int32_t lane_stride);
// Lane k is from address + k * lane_stride (or address[k], when the address has lanes) where mask[k], else fill[k].
indim_value_id indim_loop_load_masked(indim_loop_builder *b, indim_storage *storage, indim_value_id address,
                                      int32_t lane_stride, indim_value_id mask, indim_value_id fill);
void indim_loop_store(indim_loop_builder *b, indim_storage *storage, indim_value_id address, indim_value_id value,
                      int32_t lane_stride, bool non_temporal);
void indim_loop_store_masked(indim_loop_builder *b, indim_storage *storage, indim_value_id address,
                             indim_value_id value, int32_t lane_stride, indim_value_id mask);
void indim_loop_copy(indim_loop_builder *b, indim_storage *to, indim_value_id to_address, indim_storage *from,
                     indim_value_id from_address, int64_t count);
// Prefetches |count| elements starting |distance| after the address; they may lie outside the storage.
void indim_loop_prefetch(indim_loop_builder *b, const indim_storage *storage, indim_value_id address, int64_t distance,
                         int64_t count);
void indim_loop_fill(indim_loop_builder *b, indim_storage *to, indim_value_id to_address, indim_value_id value,
                     int64_t count);

// Control. A begin opens the body, what is built goes into it, the end closes it; the carried values of the body come in
// |out_carried|, the results in |out_results| (both |count|, NULL when 0). After an error |out_carried| is zeros and
// |out_results| is left alone.
indim_value_id indim_loop_for_begin(indim_loop_builder *b, indim_value_id begin, indim_value_id end, int64_t step,
                                    int32_t count, const indim_value_id *carried,
                                    indim_value_id *out_carried);  // answers the index
void indim_loop_for_end(indim_loop_builder *b, const indim_value_id *yields, indim_value_id *out_results);
// Makes the open for a parallel one. It must carry nothing.
void indim_loop_for_parallel(indim_loop_builder *b, int64_t grain);
void indim_loop_if_begin(indim_loop_builder *b, indim_value_id pred);
void indim_loop_if_else(indim_loop_builder *b, int32_t count, const indim_value_id *yields);
void indim_loop_if_end(indim_loop_builder *b, const indim_value_id *yields, indim_value_id *out_results);
void indim_loop_while_begin(indim_loop_builder *b, int32_t count, const indim_value_id *carried,
                            indim_value_id *out_carried);
void indim_loop_while_body(indim_loop_builder *b, indim_value_id pred, indim_value_id *out_carried);
void indim_loop_while_end(indim_loop_builder *b, const indim_value_id *yields, indim_value_id *out_results);

void indim_loop_host(indim_loop_builder *b, indim_host_service service, int32_t storage_count,
                     indim_storage *const *storages, const bool *is_written, const indim_value_id *addresses,
                     int32_t number_count, const int64_t *numbers);

// What is known of a value, until the next call that builds. After an error: of none (a pred of one lane), whatever |v|.
static inline const indim_loop_value *indim_loop_value_of(const indim_loop_builder *b, indim_value_id v) {
  return &b->program->values[b->status == INDIM_OK ? v : 0];
}

// Looking --------------------------------------------------------------------------------------------------------------

const char *indim_node_text(indim_node_kind kind);
// |kind| must be one.
indim_node_group indim_node_group_of(indim_node_kind kind);
// Whether two elementwise ops compute the same, attributes included.
bool indim_loop_same_op(const indim_loop_op *x, const indim_loop_op *y);
// The node after |node| in the walk over a whole program, those inside it first; NULL at the end.
indim_loop_node *indim_loop_next(const indim_loop_node *node);
// The same in the walk over |body| and the bodies inside it.
indim_loop_node *indim_loop_next_in(const indim_loop_body *body, const indim_loop_node *node);
// Writes the program as text, for people (docs/loop.md).
void indim_loop_print(const indim_loop_program *program, indim_buffer *out);
// Writes one node as the program's text shows it, without its bodies and without an end of line.
void indim_loop_print_node(const indim_loop_program *program, const indim_loop_node *node, indim_buffer *out);
// Checks every rule of this header: types and lanes of arguments and results, values used where they are known, bodies'
// parameters and yields, every unmasked address inside its storage, parallel loops that carry nothing and write nothing
// that another iteration reads. INDIM_INTERNAL with the node's text otherwise: a broken rule is a defect of ours.
INDIM_CHECKED indim_status indim_loop_verify(const indim_loop_program *program);

#endif  // INDIM_LOOP_LOOP_H
