// State shared by the files that translate a loop program to LLVM IR: the function under construction and the registers
// of the values. All LLVM objects that they create belong to the context and module in |e|.
// program.c, control.c and host.c call each other, because bodies are nested.
#ifndef INDIM_EMIT_PROGRAM_H
#define INDIM_EMIT_PROGRAM_H

#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>

#include "base/arena.h"
#include "emit/llvm/codegen.h"
#include "loop/ir/steps.h"

// Deeper nests of bodies are refused: each level is a recursion here and a loop level for LLVM.
enum { INDIM_EMIT_MAX_DEPTH = 256 };

// The most lanes of a value.
enum { INDIM_EMIT_MAX_LANES = 1024 };

// The function under construction: the program's own, a piece (piece.c), or a chunk (chunk.c).
typedef struct indim_emit_function {
  LLVMValueRef function;
  const indim_loop_node *loop;  // the piece's; NULL: it is none
  int32_t chunk;                // 1 + the chunk's number; 0: it is none
  LLVMBasicBlockRef entry;      // left open until the end: collects what must dominate everything (bases, stack slots)
  LLVMBasicBlockRef stopped;    // returns INDIM_HOST_STOPPED; NULL until needed
  LLVMBasicBlockRef failed;     // returns INDIM_HOST_FAILED; likewise
  bool is_piece;
  bool leaves;        // returns before its end
  bool has_streamed;  // contains non-temporal stores, which need a fence at the end
  LLVMValueRef arguments, results, scratch, host;
  LLVMValueRef stop;        // pointer to the stop word, never NULL
  LLVMValueRef status;      // pointer to the word in which pieces record why they ended early
  LLVMValueRef frame;       // of values that chunks have in common; NULL: there are none
  LLVMValueRef *bases;      // of each storage, NULL until used
  LLVMValueRef float_mode;  // the slot of the processor's mode before; NULL until needed
  LLVMMetadataRef scope;    // of its lines; NULL: they are not wanted
} indim_emit_function;

// A costly function that occurs in the program; where it occurs often, it is outlined as a function of the module.
typedef struct indim_emit_outlined {
  indim_op op;
  indim_type type;
  int32_t lanes;
  int32_t total;          // occurrences in the program
  int32_t count;          // in |outlined_body|
  LLVMValueRef function;  // NULL until the first call
} indim_emit_outlined;

enum { INDIM_EMIT_OUTLINED = 32 };

// Stores of stride |count| that together cover a contiguous range of memory, in program order.
typedef struct indim_emit_group {
  int32_t count;  // 0: no open group
  const indim_loop_node *nodes[4];
  int64_t offsets[4];  // of each, in elements, from the start of the range
} indim_emit_group;

// An address that has been computed in a body: base + coefficients * values, in elements (address.c).
enum { INDIM_EMIT_TERMS = 6, INDIM_EMIT_POINTERS = 16 };
typedef struct indim_emit_pointer {
  const indim_loop_body *body;  // NULL: none
  LLVMValueRef base;
  LLVMTypeRef element;
  int32_t count;
  LLVMValueRef values[INDIM_EMIT_TERMS];
  int64_t coefficients[INDIM_EMIT_TERMS];
  LLVMValueRef pointer;
} indim_emit_pointer;

// Pending non-temporal stores, emitted together at the last of them: their addresses differ by whole vectors.
typedef struct indim_emit_streams {
  int32_t count;
  LLVMValueRef packed[16];
  LLVMValueRef pointers[16];
} indim_emit_streams;

// Debug lines that say which step an instruction is for (lines.c).
typedef struct indim_emit_lines {
  LLVMDIBuilderRef builder;  // NULL: they are not wanted
  LLVMMetadataRef file, type;
  indim_step *steps;
  int32_t count;
  int32_t next;   // the step that is met next
  unsigned line;  // of what is built now
} indim_emit_lines;

typedef struct indim_generator {
  indim_emit e;
  indim_arena *arena;  // owns all memory allocated while the module is built
  const char *symbol;  // of the program's function
  void *temp;          // see indim_emit_temp
  size_t temp_bytes;
  bool has_constants;        // large constants are in the module too
  int32_t most_nodes;        // of the program's own body; 0: all
  int64_t chunk;             // about how many instructions long code is cut after
  indim_reg *regs;           // of each value of the program
  indim_loop_value *values;  // the program's, with their register types (legalize.c)
  bool *is_split;  // of each value: bf16 with the even lanes in one register and the odd lanes in another (legalize.c)
  LLVMValueRef *constants;  // of each constant storage, NULL until used
  indim_emit_function *current;
  const indim_loop_body *body;  // whose nodes are being emitted
  const indim_loop_body *loop;  // the innermost loop body that contains |body| (or is it), and its preheader; or NULL
  LLVMBasicBlockRef preheader;
  indim_emit_pointer pointers[INDIM_EMIT_POINTERS];  // ring buffer of the latest
  int32_t pointer_count;                             // created so far
  LLVMValueRef mark;                                 // last instruction counted in the current block
  int32_t block_count;                               // instructions in the current block
  int32_t node_count;                                // since the last poll for cancellation
  indim_emit_group group;
  indim_emit_streams streams;
  const indim_loop_body *outlined_body;  // the body whose functions are counted in the table below
  int32_t outlined_count;
  indim_emit_outlined outlined[INDIM_EMIT_OUTLINED];
  indim_emit_lines lines;
  struct indim_emit_repeats *repeats;  // piece.h
  struct indim_emit_chunks *chunks;    // chunk.h; NULL: there are none
  bool is_unoptimized;                 // the program's own function is
} indim_generator;

// program.c -------------------------------------------------------------------------------------------------------------

// What to translate.
typedef struct indim_emit_job {
  const indim_loop_program *program;
  const char *symbol;  // of the function; NULL: "indim_program"
  unsigned fast;
  bool has_constants;  // large constants too; else the linker has to define them (indim_emit_is_external)
  int32_t most_nodes;  // only the first nodes of the program's own body, to bisect a failure of LLVM; 0: all
  bool has_lines;      // instructions have debug lines (INDIM_EMIT_FIRST_LINE)
  int32_t chunk;       // about how many instructions long code is cut after; 0: INDIM_COST_CHUNK
} indim_emit_job;

// Fills |module| (empty, in |context|) with the program's function and what it needs. Allocates from |arena|
// alone, so that nothing leaks when LLVM fails half-way.
INDIM_CHECKED indim_status indim_emit_program(const indim_emit_job *job, indim_arena *arena, LLVMContextRef context,
                                              LLVMModuleRef module);
// Temporary memory, valid until the next call.
INDIM_CHECKED indim_status indim_emit_temp(indim_generator *g, size_t bytes, void **out);

static inline const indim_loop_value *indim_emit_value(const indim_generator *g, indim_value_id v) {
  return &g->values[v];
}
// The type in which a value is computed; registers of narrow floats may hold the bits instead.
static inline indim_type indim_emit_computed_type(const indim_generator *g, indim_value_id v) {
  return g->e.program->values[v].type;
}
LLVMTypeRef indim_emit_pointer_type(indim_generator *g);
LLVMTypeRef indim_emit_s64_type(indim_generator *g);
LLVMValueRef indim_emit_s64(indim_generator *g, int64_t value);
// A new block of the current function; and moving the builder to its end.
LLVMBasicBlockRef indim_emit_block(indim_generator *g, const char *name);
void indim_emit_enter(indim_generator *g, LLVMBasicBlockRef block);
// A stack slot (alloca) of the current function.
LLVMValueRef indim_emit_stack(indim_generator *g, LLVMTypeRef type, const char *name);
// A pointer to |offset| bytes into the host table; |host| is not NULL.
LLVMValueRef indim_emit_host_field(indim_generator *g, LLVMValueRef host, size_t offset);
// Attributes of all generated functions.
void indim_emit_mark_function(indim_generator *g, LLVMValueRef function);
// Those of the program's own function, and of chunks of it: whether they are optimized.
void indim_emit_mark_own(indim_generator *g, LLVMValueRef function);
void indim_emit_add_attribute(indim_generator *g, LLVMValueRef function, const char *attribute);
// Whether |body| is |outer| or nested in it; whether it is one of the loop's bodies, or nested in one.
bool indim_emit_is_inside(const indim_loop_body *body, const indim_loop_body *outer);
bool indim_emit_is_in_loop(const indim_loop_body *body, const indim_loop_node *loop);
// Emits the nodes of a body in order, or some of them; |end|: behind the last, NULL for the end of the body.
INDIM_CHECKED indim_status indim_emit_body(indim_generator *g, const indim_loop_body *body);
INDIM_CHECKED indim_status indim_emit_nodes(indim_generator *g, const indim_loop_body *body,
                                            const indim_loop_node *first, const indim_loop_node *end);
// Ends the function: terminates the entry block, returns 0 (or void, from a piece).
void indim_emit_function_end(indim_generator *g, LLVMBasicBlockRef start);
// Returns early from the current function with a nonzero |outcome|.
void indim_emit_return(indim_generator *g, LLVMValueRef outcome);
// The block that returns |outcome|.
LLVMBasicBlockRef indim_emit_leave(indim_generator *g, int32_t outcome);

// float_mode.c: at the end of the current function's entry, and before it returns -------------------------------------------

void indim_emit_float_mode_set(indim_generator *g);
void indim_emit_float_mode_restore(indim_generator *g);

// lines.c ---------------------------------------------------------------------------------------------------------------

INDIM_CHECKED indim_status indim_emit_lines_begin(indim_generator *g);
// Behind the last function; nothing is left to be freed.
void indim_emit_lines_end(indim_generator *g);
// Gives the current function a scope for its lines, and the builder the present line in it.
void indim_emit_lines_function(indim_generator *g);
// The builder goes on in the current function.
void indim_emit_lines_go_on(indim_generator *g);
// Before a node; whether it is a step. After it, with the answer.
bool indim_emit_lines_enter(indim_generator *g, const indim_loop_node *node);
void indim_emit_lines_leave(indim_generator *g, bool is_step);

// legalize.c ------------------------------------------------------------------------------------------------------------

// |values|: a copy of the program's. Narrow floats and c64 that are only moved, and f16, become the unsigned integers of
// their bits. |is_split|: initially false; set for bf16 values whose even and odd lanes are in separate registers.
INDIM_CHECKED indim_status indim_emit_legalize(const indim_loop_program *program, indim_arena *arena,
                                               indim_loop_value *values, bool *is_split);
// Whether c64 may be moved as words of eight bytes, which are aligned like the four of a part.
bool indim_emit_has_words(const indim_loop_program *program);
// Whether all lanes of a value are known to be equal.
bool indim_emit_is_uniform(const indim_loop_program *program, indim_value_id v);

// values.c: constants, arithmetic and lanes -----------------------------------------------------------------------------

INDIM_CHECKED indim_status indim_emit_value_node(indim_generator *g, const indim_loop_node *node);
LLVMValueRef indim_emit_shuffle(indim_generator *g, LLVMValueRef a, LLVMValueRef b, int32_t lanes, const int32_t *map);
LLVMValueRef indim_emit_splat(indim_generator *g, LLVMValueRef x, int32_t lanes);
// |value| as a constant of |x|'s integer type, in every lane.
LLVMValueRef indim_emit_s64_like(indim_generator *g, LLVMValueRef x, int64_t value);
// The loaded value, frozen. LLVM 19 looks through shuffles that repeat a first lane to the load behind them and crashes
// at vectors like <6 x double>; it does not look through a freeze.
LLVMValueRef indim_emit_loaded(indim_generator *g, LLVMValueRef load);
// sum + factor * x in s64 without wrapping, scalar or vector; a NULL |sum| counts as 0.
LLVMValueRef indim_emit_add_scaled(indim_generator *g, LLVMValueRef sum, LLVMValueRef x, int64_t factor);

// outline.c -------------------------------------------------------------------------------------------------------------

// Counts the program's functions.
void indim_emit_find_outlined(indim_generator *g);
// Calls the outlined function for an elementwise node if its body or the program has many of the same; |*out_done| says whether it
// did.
INDIM_CHECKED indim_status indim_emit_outlined_scalar(indim_generator *g, const indim_loop_node *node,
                                                      const indim_type *types, const indim_reg *args, indim_reg *out,
                                                      bool *out_done);

// interleave.c: the shuffle by |map| of |count| vectors of |lanes| lanes if it interleaves them element by element,
// else NULL.
LLVMValueRef indim_emit_interleaved(indim_generator *g, LLVMValueRef *values, int32_t count, int32_t lanes,
                                    int32_t result_lanes, const int32_t *map);

// memory.c, address.c ---------------------------------------------------------------------------------------------------

INDIM_CHECKED indim_status indim_emit_memory_node(indim_generator *g, const indim_loop_node *node);
// The address of element |address| of the storage; |address| is a scalar value.
LLVMValueRef indim_emit_element(indim_generator *g, int32_t storage, indim_value_id address);

// tsan.c: in a build with ThreadSanitizer, instrumentation for what the node reads and writes; else nothing.
#if defined(__SANITIZE_THREAD__)
#define INDIM_EMIT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define INDIM_EMIT_TSAN 1
#endif
#endif
#if !defined(INDIM_EMIT_TSAN)
#define INDIM_EMIT_TSAN 0
#endif
void indim_emit_tsan(indim_generator *g, const indim_loop_node *node);

// Large constants do not go through LLVM, which would hold several copies of them: the module declares them by name and
// the linker has to define them, aligned to 64 bytes.
enum { INDIM_EMIT_NAME = 32 };
// How the names of blocks begin that long code is split into.
#define INDIM_EMIT_CUT "cut"
bool indim_emit_is_external(const indim_storage *storage);
void indim_emit_constant_name(const indim_storage *storage, char *out);

// control.c -------------------------------------------------------------------------------------------------------------

INDIM_CHECKED indim_status indim_emit_control_node(indim_generator *g, const indim_loop_node *node);
// The body of a loop with the finished preheader |before|.
INDIM_CHECKED indim_status indim_emit_loop_body(indim_generator *g, const indim_loop_body *body,
                                                LLVMBasicBlockRef before);
// The values with which a loop begins, from its arguments; as many as it carries.
INDIM_CHECKED indim_status indim_emit_initial(indim_generator *g, const indim_loop_node *node, indim_reg **out);
// The iterations of a for from |begin| to below |end|, at least one, beginning with the values |initial|. |before| is the
// preheader and branches to the empty block |head|; the exit edge goes from |*out_last| to |after|, where the carried values
// are the body's yields.
INDIM_CHECKED indim_status indim_emit_iterations(indim_generator *g, const indim_loop_node *node, LLVMValueRef begin,
                                                 LLVMValueRef end, const indim_reg *initial, LLVMBasicBlockRef before,
                                                 LLVMBasicBlockRef head, LLVMBasicBlockRef after,
                                                 LLVMBasicBlockRef *out_last);
// A while, beginning with |initial|; |out| are the values with which it ends.
INDIM_CHECKED indim_status indim_emit_while(indim_generator *g, const indim_loop_node *node, const indim_reg *initial,
                                            indim_reg *out);

// host.c: calls through the host table; piece.c: loops that are functions of their own ---------------------------------

INDIM_CHECKED indim_status indim_emit_host_node(indim_generator *g, const indim_loop_node *node);
// A loop, by a function that computes its iterations; a parallel one carries nothing.
INDIM_CHECKED indim_status indim_emit_piece_loop(indim_generator *g, const indim_loop_node *node);
// Whether a loop is known not to run: nothing of its body is emitted.
bool indim_emit_never_runs(const indim_generator *g, const indim_loop_node *node);
// Returns |outcome| unless that is 0.
void indim_emit_leave_unless_done(indim_generator *g, LLVMValueRef outcome);
// Returns what a piece or a chunk stored in the status word, if not 0.
void indim_emit_check_status(indim_generator *g);
// repeat.c: whether a loop that is not parallel becomes a function, because the program has equal ones.
bool indim_emit_is_repeated(indim_generator *g, const indim_loop_node *node);

// machine.c -------------------------------------------------------------------------------------------------------------

// This machine, detected by feature bits, never by name.
void indim_host_target(indim_target *out_target);
// Whether this library contains the backend for the target.
bool indim_machine_is_there(const indim_target *target);
// LLVM's target machine; without the feature string, which is slow to parse, unless |is_for_code|. NULL, UNSUPPORTED when
// this LLVM lacks the backend.
LLVMTargetMachineRef indim_machine_take(const indim_target *target, bool is_for_code);
INDIM_CHECKED indim_status indim_machine_create(indim_ctx *cx, const indim_target *target, bool is_for_code,
                                                LLVMTargetMachineRef *out_machine);
// For one that made code: this machine's is kept for the next compilation. After a failure it is disposed of instead.
void indim_machine_release(const indim_target *target, LLVMTargetMachineRef machine);

// jit.c -----------------------------------------------------------------------------------------------------------------

INDIM_CHECKED indim_status indim_jit_compile(indim_ctx *cx, const indim_loop_program *program,
                                             const indim_emit_options *options, indim_emit_report *out_report,
                                             indim_code **out_code);
indim_compiled_fn *indim_jit_function(const indim_code *code);
int64_t indim_jit_code_bytes(const indim_code *code);
void indim_jit_destroy(indim_code *code);

#endif  // INDIM_EMIT_PROGRAM_H
