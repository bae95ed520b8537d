// The representation of an executable. The pipeline fills one; execute.c and literals.c run it. Immutable once made,
// except for the ownership of the scratch block.
#ifndef INDIM_RUN_EXECUTABLE_H
#define INDIM_RUN_EXECUTABLE_H

#include "base/arena.h"
#include "indim/execute.h"
#include "indim/shape_util.h"
#include "indim/indim_host.h"
#include "run/matmul.h"

// The buffer of one leaf of an argument or of the result: an array of the program's, of its bounds, or how much of it counts
// along one of its dynamic dimensions, an s32, behind it.
typedef struct indim_leaf {
  const indim_shape *shape;  // in the executable's arena, without dynamic dimensions, with the layout of the buffer
  int32_t size_of;           // the dimension that it is the size of, -1 for an array
  int64_t bytes;
  uintptr_t misaligned;  // bits that must be 0 in its address
  int32_t alias;         // of a result: the argument leaf whose buffer it may share, -1 if none
  bool is_copied;        // such a result, but the code requires disjoint buffers: it gets a copy of the argument
  int64_t copy;          // of an argument, if a result has |is_copied|: the offset of the copy in the scratch block
} indim_leaf;

// What a run needs for functions of the caller's, and why one failed.
typedef struct indim_call_state {
  const volatile int32_t *stop;
  int64_t run_id;
  indim_status status;  // OK: none failed
  char message[850];
} indim_call_state;

typedef struct indim_call_table {
  void *calls;         // NULL: there are none
  int64_t *run_count;  // atomic
  // Runs call |numbers->number| and returns INDIM_HOST_...
  int32_t (*run)(void *calls, const indim_host_custom_call *numbers, void *const *arrays, indim_call_state *state);
  void (*destroy)(indim_ctx *cx, void *calls);
} indim_call_table;

struct indim_executable {
  indim_ctx *cx;
  indim_arena arena;
  indim_compiled_fn *function;
  indim_leaf *arguments;
  indim_leaf *results;
  int64_t argument_count;
  int64_t result_count;
  // Of the program: a shape for each parameter, and the result's, with explicit layouts.
  const indim_shape **parameter_shapes;
  indim_str *parameter_names;
  int64_t parameter_count;
  const indim_shape *result_shape;
  int64_t scratch_bytes;  // of a run: the code's, followed by what aliases need
  int64_t alias_list;     // offset of the list of argument pointers with copies
  bool flushes;           // subnormal numbers to zeros (INDIM_COMPILE_FLUSH)
  bool has_copies;        // of arguments whose buffers are also results'
  void *scratch;          // the executable's own block, aligned
  void *scratch_block;
  uint32_t scratch_in_use;  // atomic
  indim_blas blas;
  // Linear algebra: from linalg/, which this layer does not know.
  int32_t (*lapack)(const indim_host_lapack_run *run, const indim_host_lapack *numbers, void *const *arrays);
  const void *lapack_library;  // for |lapack|, of blas.library; NULL: none
  // Functions of the caller's that the program calls: from ffi/, which this layer does not know either.
  indim_call_table calls;
  int64_t code_bytes;
  const char *target;   // a name
  const char *missing;  // what this machine lacks to run the code; NULL: nothing
  int32_t vector_bytes;
  indim_compile_times times;
  indim_profile_step *steps;  // of a program that is profiled
  int64_t step_count;
  // Owns the code; released last.
  void *code;
  void *library;
  void (*release)(void *code, void *library);
};

// An executable without code for these shapes and names, which are copied. Tuple parameters are flattened to leaves.
INDIM_CHECKED indim_status indim_executable_create(indim_ctx *cx, const indim_shape *const *parameter_shapes,
                                                   const indim_str *parameter_names, int64_t parameter_count,
                                                   const indim_shape *result_shape, indim_executable **out_executable);
// Advances to the next leaf that has a buffer: an array.
bool indim_leaf_next(indim_shape_walk *walk);
// Lets a result share the buffer of an argument of the same size; before the scratch block is made.
void indim_executable_set_alias(indim_executable *executable, int64_t result, int64_t argument, bool is_copied);
// The target of the code, and the feature that this machine lacks for it (empty: none).
INDIM_CHECKED indim_status indim_executable_set_target(indim_executable *executable, const char *name,
                                                       int32_t vector_bytes, const char *missing);
// Allocates the scratch block, for code that needs so many bytes.
INDIM_CHECKED indim_status indim_executable_set_scratch(indim_executable *executable, int64_t bytes);

// The host table of a binding, as long as that lives.
const indim_host *indim_binding_host(const indim_binding *binding);

// Memory aligned for scratch blocks and for vectors; large blocks are advised to use huge pages. Free |*out_block| with
// indim_free; it is |bytes| + INDIM_SCRATCH_ALIGNMENT long.
INDIM_CHECKED indim_status indim_scratch_alloc(indim_ctx *cx, int64_t bytes, void **out_block, void **out_aligned);

#endif  // INDIM_RUN_EXECUTABLE_H
