// What the files share that turn a loop program into LLVM IR: the function being filled, the registers of the values.
// Everything of LLVM that they make belongs to the context and module in |e|.
#ifndef INDIM_EMIT_PROGRAM_H
#define INDIM_EMIT_PROGRAM_H

#include <llvm-c/TargetMachine.h>

#include "base/arena.h"
#include "emit/llvm/codegen.h"

// Deeper nests of bodies are refused: each level is a recursion here and a loop level for LLVM.
enum { INDIM_EMIT_MAX_DEPTH = 256 };

// The most lanes of a value.
enum { INDIM_EMIT_MAX_LANES = 1024 };

// The function that is being filled: the program's own, or the piece of a parallel loop.
typedef struct indim_emit_function {
  LLVMValueRef function;
  const indim_loop_body *body;  // whose nodes it computes
  LLVMBasicBlockRef entry;      // stays open to the end: what is known everywhere (bases, stack places) is put here
  LLVMBasicBlockRef stopped;    // leaves with INDIM_HOST_STOPPED; NULL until somebody needs it
  LLVMBasicBlockRef failed;     // the same with INDIM_HOST_FAILED
  bool is_piece;
  bool has_streamed;  // stores past the caches, which a fence has to end
  LLVMValueRef arguments, results, scratch, host;
  LLVMValueRef stop;    // points to the word that stops loops, never NULL
  LLVMValueRef status;  // points to the word in which pieces leave why they ended early
  LLVMValueRef *bases;  // of each storage, NULL until used
} indim_emit_function;

// A costly function of which a body has many, as a function of the module.
typedef struct indim_emit_outlined {
  indim_op op;
  indim_type type;
  int32_t lanes;
  int32_t count;
  LLVMValueRef function;  // NULL until called
} indim_emit_outlined;

enum { INDIM_EMIT_OUTLINED = 32 };

// Stores to every |count|-th element that together fill a stretch of memory, in the order of the body.
typedef struct indim_emit_group {
  int32_t count;  // 0: none is open
  const indim_loop_node *nodes[4];
  int64_t offsets[4];  // of each, in elements, from where the stretch begins
} indim_emit_group;

// Where elements lie, as far as it is known in a body: base + coefficients * values, counted in elements (address.c).
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

// Stores past the caches that wait for the last of them: their addresses differ by whole vectors.
typedef struct indim_emit_streams {
  int32_t count;
  LLVMValueRef packed[16];
  LLVMValueRef pointers[16];
} indim_emit_streams;

typedef struct indim_generator {
  indim_emit e;
  indim_arena *arena;  // of all memory that is taken while the module is filled
  void *room;          // indim_emit_room
  size_t room_bytes;
  bool has_constants;        // large ones, too, are in the module
  int32_t most_nodes;        // of the program's own body; 0: all
  indim_reg *regs;           // of each value of the program
  indim_loop_value *values;  // the program's, with the types in which they are in registers (legalize.c)
  bool *is_split;  // of each value: bf16 whose even lanes are one register and whose odd lanes are another (legalize.c)
  LLVMValueRef *constants;  // of each constant storage, NULL until used
  indim_emit_function *current;
  const indim_loop_body *body;  // whose nodes are being computed
  const indim_loop_body *loop;  // the innermost loop that it is or stands in, and the block that leads there; or NULL
  LLVMBasicBlockRef before_loop;
  indim_emit_pointer pointers[INDIM_EMIT_POINTERS];  // the latest ones
  int32_t pointer_count;                             // made so far
  LLVMValueRef mark;                                 // last instruction that was counted in this block
  int32_t block_count;                               // instructions in this block
  int32_t node_count;                                // since the host was asked whether to go on
  indim_emit_group group;
  indim_emit_streams streams;
  const indim_loop_body *outlined_body;  // that the list below is of
  int32_t outlined_count;
  indim_emit_outlined outlined[INDIM_EMIT_OUTLINED];
} indim_generator;

// program.c -------------------------------------------------------------------------------------------------------------

// What is to be put into a module.
typedef struct indim_emit_job {
  const indim_loop_program *program;
  unsigned fast;
  bool has_constants;  // large constants, too; else whoever links the module defines them (indim_emit_is_external)
  int32_t most_nodes;  // so many nodes of the program's own body, to find the one that LLVM fails at; 0: all
} indim_emit_job;

// Fills |module| (empty, in |context|) with the function "indim_program" and what it needs. Memory is taken from |arena|
// alone, so that nothing is lost when LLVM fails half-way.
INDIM_CHECKED indim_status indim_emit_program(const indim_emit_job *job, indim_arena *arena, LLVMContextRef context,
                                              LLVMModuleRef module);
// Memory of so many bytes until the next call.
INDIM_CHECKED indim_status indim_emit_room(indim_generator *g, size_t bytes, void **out);

static inline const indim_loop_value *indim_emit_value(const indim_generator *g, indim_value_id v) {
  return &g->values[v];
}
// The type in which a value is computed, which a narrow float's registers are not always of.
static inline indim_type indim_emit_computed_type(const indim_generator *g, indim_value_id v) {
  return g->e.program->values[v].type;
}
LLVMTypeRef indim_emit_pointer_type(indim_generator *g);
LLVMTypeRef indim_emit_s64_type(indim_generator *g);
LLVMValueRef indim_emit_s64(indim_generator *g, int64_t value);
// A new block of the current function; and going on in it.
LLVMBasicBlockRef indim_emit_block(indim_generator *g, const char *name);
void indim_emit_enter(indim_generator *g, LLVMBasicBlockRef block);
// A place on the stack of the current function.
LLVMValueRef indim_emit_stack(indim_generator *g, LLVMTypeRef type, const char *name);
// The pointer |offset| bytes into the host's table; |host| is not NULL.
LLVMValueRef indim_emit_host_field(indim_generator *g, LLVMValueRef host, size_t offset);
// Attributes that all functions of ours have.
void indim_emit_mark_function(indim_generator *g, LLVMValueRef function);
void indim_emit_add_attribute(indim_generator *g, LLVMValueRef function, const char *attribute);
// Whether |body| is |outer| or stands in it.
bool indim_emit_is_inside(const indim_loop_body *body, const indim_loop_body *outer);
// The nodes of a body, one after another.
INDIM_CHECKED indim_status indim_emit_body(indim_generator *g, const indim_loop_body *body);
// Ends the function: closes the entry block, returns 0 (or nothing, from a piece).
void indim_emit_function_end(indim_generator *g, LLVMBasicBlockRef start);
// Leaves the current function early with an outcome that is not 0.
void indim_emit_answer(indim_generator *g, LLVMValueRef outcome);
// Where it leaves with this outcome.
LLVMBasicBlockRef indim_emit_leave(indim_generator *g, int32_t outcome);

// legalize.c ---------------------------------------------------------------------------------------------------------------

// |values|: a copy of the program's. Narrow floats that are only moved, and f16, become the unsigned integers of their bits.
// |is_split|: false for all; set for values of bf16 whose even and odd lanes are computed apart.
INDIM_CHECKED indim_status indim_emit_find_moves(const indim_loop_program *program, indim_arena *arena,
                                                 indim_loop_value *values, bool *is_split);
// Whether all lanes of a value are known to be the same.
bool indim_emit_is_uniform(const indim_loop_program *program, indim_value_id v);

// values.c: constants, arithmetic and lanes -----------------------------------------------------------------------------

INDIM_CHECKED indim_status indim_emit_value_node(indim_generator *g, const indim_loop_node *node);
LLVMValueRef indim_emit_shuffle(indim_generator *g, LLVMValueRef a, LLVMValueRef b, int32_t lanes, const int32_t *map);
LLVMValueRef indim_emit_splat(indim_generator *g, LLVMValueRef x, int32_t lanes);
// The number in each lane of a vector of integers like |x|, or as such an integer.
LLVMValueRef indim_emit_s64_like(indim_generator *g, LLVMValueRef x, int64_t value);
// What a load gives, to go on with. LLVM 19 sees through shuffles that repeat a first lane to the load that it is from, and
// crashes there at vectors like <6 x double>: through a freeze it does not see.
LLVMValueRef indim_emit_loaded(indim_generator *g, LLVMValueRef load);
// sum + factor * x of s64 that do not wrap, with or without lanes; |sum| may be NULL for nothing.
LLVMValueRef indim_emit_add_scaled(indim_generator *g, LLVMValueRef sum, LLVMValueRef x, int64_t factor);

// outline.c -------------------------------------------------------------------------------------------------------------

// Calls the function that an elementwise node is of, if its body has many of the same; |*out_done| tells.
INDIM_CHECKED indim_status indim_emit_outlined_scalar(indim_generator *g, const indim_loop_node *node,
                                                      const indim_type *types, const indim_reg *args, indim_reg *out,
                                                      bool *out_done);

// interleave.c: the shuffle by |map| of |count| vectors of |lanes| lanes if it puts their lanes element by element one
// behind the other, else NULL.
LLVMValueRef indim_emit_interleaved(indim_generator *g, LLVMValueRef *values, int32_t count, int32_t lanes,
                                    int32_t result_lanes, const int32_t *map);

// memory.c, address.c ---------------------------------------------------------------------------------------------------

INDIM_CHECKED indim_status indim_emit_memory_node(indim_generator *g, const indim_loop_node *node);
// Where element |address| of the storage lies; |address| is a scalar value.
LLVMValueRef indim_emit_element(indim_generator *g, int32_t storage, indim_value_id address);

// tsan.c: in a build with ThreadSanitizer, code that reports what the node is going to read and write; else nothing.
#if defined(__SANITIZE_THREAD__)
#define INDIM_EMIT_WATCHES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define INDIM_EMIT_WATCHES 1
#endif
#endif
#if !defined(INDIM_EMIT_WATCHES)
#define INDIM_EMIT_WATCHES 0
#endif
void indim_emit_tsan(indim_generator *g, const indim_loop_node *node);

// Large constants do not go through LLVM, which would hold them several times over: the module declares them by name, and
// whoever links it has to define them, aligned to 64 bytes.
enum { INDIM_EMIT_NAME = 32 };
bool indim_emit_is_external(const indim_storage *storage);
void indim_emit_constant_name(const indim_storage *storage, char *out);

// control.c -------------------------------------------------------------------------------------------------------------

INDIM_CHECKED indim_status indim_emit_control_node(indim_generator *g, const indim_loop_node *node);
// The body of a loop that |before|, which is finished, leads to.
INDIM_CHECKED indim_status indim_emit_loop_body(indim_generator *g, const indim_loop_body *body,
                                                LLVMBasicBlockRef before);
// The iterations of a for from |begin| to below |end|, at least one, behind |before|, which goes to the empty block |head|.
// They go on to |after| from |*out_last|; what they carry from there are the body's yields.
INDIM_CHECKED indim_status indim_emit_iterations(indim_generator *g, const indim_loop_node *node, LLVMValueRef begin,
                                                 LLVMValueRef end, LLVMBasicBlockRef before, LLVMBasicBlockRef head,
                                                 LLVMBasicBlockRef after, LLVMBasicBlockRef *out_last);

// host.c: calls through the host table, and parallel loops -----------------------------------------------------------

INDIM_CHECKED indim_status indim_emit_host_node(indim_generator *g, const indim_loop_node *node);
INDIM_CHECKED indim_status indim_emit_parallel(indim_generator *g, const indim_loop_node *node);

// machine.c -------------------------------------------------------------------------------------------------------------

// This machine, known by its feature bits and never by its name.
void indim_host_target(indim_target *out_target);
// Whether this library has the target's family.
bool indim_machine_is_there(const indim_target *target);
// A target as LLVM knows it; without its features, which take long to read, unless |is_for_code|. UNSUPPORTED when this
// LLVM was built without it.
INDIM_CHECKED indim_status indim_machine_create(indim_ctx *cx, const indim_target *target, bool is_for_code,
                                                LLVMTargetMachineRef *out_machine);

// jit.c -----------------------------------------------------------------------------------------------------------------

INDIM_CHECKED indim_status indim_jit_compile(indim_ctx *cx, const indim_loop_program *program,
                                             const indim_emit_options *options, indim_emit_report *out_report,
                                             indim_code **out_code);
indim_compiled_fn *indim_jit_function(const indim_code *code);
int64_t indim_jit_code_bytes(const indim_code *code);
void indim_jit_destroy(indim_code *code);

#endif  // INDIM_EMIT_PROGRAM_H
