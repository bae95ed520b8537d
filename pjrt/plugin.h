// The plugin's objects. A client has one device, the host's processors, with memories of several kinds, which are all the
// host's memory. Buffers share blocks of it. Programs run one after another on the client's thread (queue.c), or at once on the
// caller's when nothing is waiting and they are short.
//
// Locks: |client->lock| guards the queue and who may overwrite whose block. Nothing is locked while a program runs.
#ifndef INDIM_PJRT_PLUGIN_H
#define INDIM_PJRT_PLUGIN_H

#include <pthread.h>
#include <stdatomic.h>

#include "indim/compile.h"
#include "indim/custom_call.h"
#include "interface.h"

// Errors (error.c) -----------------------------------------------------------------------------------------------------

// Never NULL: what cannot be allocated is an error of its own.
pjrt_error *plugin_error(pjrt_code code, const char *format, ...) INDIM_PRINTF(2, 3);
pjrt_error *plugin_error_copy(const pjrt_error *error);                // NULL gives NULL
pjrt_error *plugin_error_copy_text(pjrt_code code, const char *text);  // of any length
// What the context says of a call that failed.
pjrt_error *plugin_error_of(const indim_ctx *cx, indim_status status);
pjrt_error *plugin_no_memory(void);
void plugin_error_free(pjrt_error *error);  // NULL allowed
const char *plugin_error_text(const pjrt_error *error);

#define PLUGIN_TRY(call)                   \
  do {                                     \
    pjrt_error *plugin_try_error = (call); \
    if (plugin_try_error != NULL) {        \
      return plugin_try_error;             \
    }                                      \
  } while (0)

// Events (event.c) -----------------------------------------------------------------------------------------------------

pjrt_event *plugin_event_ready(void);   // the one that is always ready
pjrt_event *plugin_event_create(void);  // with one reference; NULL: no memory
pjrt_event *plugin_event_retain(pjrt_event *event);
void plugin_event_release(pjrt_event *event);
void plugin_event_set(pjrt_event *event, pjrt_error *error);  // takes |error|, NULL for none
bool plugin_event_is_ready(pjrt_event *event);
// In the child of a fork: one that the parent would have set fails, and calls nobody.
void plugin_event_forked(pjrt_event *event);
// Waits; a copy of the error.
pjrt_error *plugin_event_wait(pjrt_event *event);

// Blocks of memory (block.c) -------------------------------------------------------------------------------------------

enum { PLUGIN_ALIGNMENT = 64 };

typedef struct plugin_block {
  pjrt_client *client;
  atomic_int references;  // of everyone
  // Buffers and views of the client's user: when there is one only, its buffer may be donated. |client->lock| for the change
  // from one to two.
  atomic_int owners;
  atomic_int readers;  // programs that read it and are not in the queue, with whose order they would come
  bool is_foreign;     // not written, not given back to malloc
  void *data;          // NULL for no bytes, too
  size_t size;
  pjrt_event *done;  // set when a foreign block is gone
  void (*on_delete)(void *data, void *user);
  void *on_delete_user;
} plugin_block;

// With one reference and one owner.
pjrt_error *plugin_block_create(pjrt_client *client, size_t size, plugin_block **out_block);
pjrt_error *plugin_block_foreign(pjrt_client *client, void *data, size_t size, plugin_block **out_block);
void plugin_block_own(plugin_block *block);     // another owner
void plugin_block_disown(plugin_block *block);  // ends an owner and its reference
void plugin_block_retain(plugin_block *block);
void plugin_block_release(plugin_block *block);
// Memory that nobody uses and that is kept for the next block is given back.
void plugin_blocks_trim(pjrt_client *client);

// Client (client.c) ----------------------------------------------------------------------------------------------------

enum { PLUGIN_MEMORIES = 3, PLUGIN_BINS = 48, PLUGIN_KEYS = 8 };

typedef struct plugin_user_data {
  const void *key;
  void *data;
  void (*destructor)(void *data);
} plugin_user_data;

struct pjrt_memory {
  const pjrt_memory_vtable *vtable;  // first: clients look there
  pjrt_client *client;
  int32_t id;
  const char *kind;
  char text[64];
  plugin_user_data data[PLUGIN_KEYS];
};

struct pjrt_device {
  pjrt_client *client;
};

// A run that waits (queue.c).
typedef struct plugin_task plugin_task;
struct plugin_task {
  plugin_task *next;
  pjrt_event *done;                                   // set by |run|
  void (*run)(plugin_task *task, bool is_cancelled);  // frees the task
};

// A freed block's memory, kept.
typedef struct plugin_kept {
  struct plugin_kept *next;
} plugin_kept;

typedef struct plugin_queue {
  pthread_cond_t changed;
  pthread_t thread;
  bool has_thread, is_closed;
  pjrt_event *running;  // of the task that runs
  plugin_task *first, **last;
  atomic_int count;  // with the one that runs
} plugin_queue;

struct pjrt_client {
  pthread_mutex_t lock;
  indim_ctx *cx;  // of the pool; |lock|
  indim_pool *pool;
  int32_t threads;
  pjrt_device device;
  pjrt_device *devices[1];
  pjrt_memory memory[PLUGIN_MEMORIES];
  pjrt_memory *memories[PLUGIN_MEMORIES];
  char version[96];
  plugin_queue queue;
  pthread_mutex_t kept_lock;
  plugin_kept *kept[PLUGIN_BINS];
  size_t kept_count[PLUGIN_BINS];
  uint64_t kept_used[PLUGIN_BINS];  // when a block of the bin was last freed or taken, counted in |kept_clock|
  uint64_t kept_clock;
  size_t kept_bytes;
  atomic_llong bytes, peak_bytes, blocks, largest_block;  // in use
  pjrt_client *next;                                      // of all in the process
};

// Has clients survive a fork.
void plugin_watch_forks(void);

// Queue (queue.c) ------------------------------------------------------------------------------------------------------

pjrt_error *plugin_queue_init(pjrt_client *client);
// Waits for the task that runs and cancels the others.
void plugin_queue_close(pjrt_client *client);
// With |client->lock|.
bool plugin_queue_is_idle(const pjrt_client *client);
// With |client->lock|; false when there can be no thread.
bool plugin_queue_add(pjrt_client *client, plugin_task *task);
// Waits until no more than so many are left, with the one that runs.
void plugin_queue_wait(pjrt_client *client, int count);
// Whether this thread is one that runs a program now: then nothing may be waited for.
bool plugin_is_inside(void);
void plugin_enter(void);
void plugin_leave(void);
// In the child of a fork, with |client->lock|: the thread is gone, and what waited or ran fails.
void plugin_queue_forked(pjrt_client *client);

// Buffers (buffer.c) ---------------------------------------------------------------------------------------------------

struct pjrt_buffer {
  pjrt_client *client;
  pjrt_memory *memory;
  pjrt_type type;
  atomic_bool is_deleted;
  atomic_int views;     // external references; each owns the block
  size_t donated_as;    // |client->lock|: while a call is checked, the argument that donates it, counted from 1
  plugin_block *block;  // NULL for tokens and errors
  pjrt_event *ready;    // an event, never NULL
  size_t bytes;
  size_t rank;
  const int64_t *order;  // of the dimensions, from minor to major; that of plugin_row_major if it is the same
  int64_t dims[];        // without padding; then |order|, if it is another
};

// Takes the block and the event, also on failure.
pjrt_error *plugin_buffer_create(pjrt_memory *memory, pjrt_type type, size_t rank, const int64_t *dims,
                                 const int64_t *order, plugin_block *block, pjrt_event *ready,
                                 pjrt_buffer **out_buffer);
void plugin_buffer_delete(pjrt_buffer *buffer);
// Bytes of an array; an error for a type that is none, for negative sizes and for too many.
pjrt_error *plugin_array_bytes(int32_t type, size_t rank, const int64_t *dims, size_t *out_bytes);
indim_type plugin_type(int32_t type);  // INDIM_TYPE_INVALID for none
bool plugin_type_of(indim_type type, pjrt_type *out_type);
const char *plugin_type_text(int32_t type);
// "f32[2,3]", with "{0,1}" behind it if it is not row-major; cut off at |size|.
void plugin_shape_text(int32_t type, size_t rank, const int64_t *dims, const int64_t *order, char *out, size_t size);

// Orders of dimensions in memory (layout.c) ----------------------------------------------------------------------------

// {2, 1, 0} for a rank of 3, of all ranks up to INDIM_MAX_RANK; always the same pointer.
const int64_t *plugin_row_major(size_t rank);
// The row-major one itself where |order| is equal to it.
const int64_t *plugin_known_order(size_t rank, const int64_t *order);
// The order that a client's layout gives, row-major for NULL. *|out_order| is the client's memory, or lasts.
pjrt_error *plugin_order_read(const pjrt_layout *layout, size_t rank, const int64_t **out_order);

// The Layouts extension's.
struct pjrt_memory_layout {
  size_t rank;
  const int64_t *order;
};

extern pjrt_layouts_extension plugin_layouts_extension;

// Programs (executable.c, options.c, serialize.c) ----------------------------------------------------------------------

// A parameter or an output.
typedef struct plugin_array {
  pjrt_type type;
  int64_t leaf;   // of the executable; -1 for a token
  int64_t alias;  // of an output: the parameter that it may overwrite, or -1
  bool is_donor;  // a parameter that ends with the call, though no output is put there
  size_t bytes;
  size_t rank;
  const int64_t *dims;
  const int64_t *order;  // from minor to major
  pjrt_memory *memory;   // that an output is in
} plugin_array;

// What was asked of the compiler (an xla.CompileOptionsProto).
typedef struct plugin_options {
  unsigned fast;  // indim_compile_options
  int64_t replicas, partitions;
} plugin_options;

pjrt_error *plugin_options_read(const char *bytes, size_t size, plugin_options *out_options);

enum { PLUGIN_COSTS = 3 };

typedef struct plugin_program {
  atomic_int references;
  pjrt_client *client;
  indim_ctx *cx;
  indim_module *module;    // kept for the evaluator, which runs what is not compiled; else NULL
  indim_executable *code;  // NULL: the evaluator runs it
  char *name;
  char fingerprint[17];
  plugin_array *parameters, *outputs;
  size_t parameter_count, output_count;
  size_t leaf_count, result_count;  // the arrays among them
  const char **kinds;               // of memory: of the parameters, then of the outputs
  size_t *kind_sizes;
  pjrt_memory_layout *layouts, **layout_list;  // of the parameters, then of the outputs
  int32_t *output_types;
  int64_t *output_dims;
  size_t *output_ranks;
  pjrt_named_value costs[PLUGIN_COSTS];
  bool calls_python;       // it runs on the caller's thread
  atomic_llong run_ns;     // of the last run; -1 before
  char *source, *options;  // as they came: for serialising
  size_t source_size, options_size;
} plugin_program;

struct pjrt_executable {
  plugin_program *program;
};

struct pjrt_loaded {
  plugin_program *program;
  atomic_bool is_deleted;
};

// Fills the costs of a program whose module is there (cost.c).
pjrt_error *plugin_costs_read(plugin_program *program);
pjrt_error *plugin_compile(pjrt_client *client, const char *code, size_t code_size, const char *options,
                           size_t options_size, pjrt_loaded **out_loaded);
void plugin_program_retain(plugin_program *program);
void plugin_program_release(plugin_program *program);

// The data that a client attaches to an execution, for custom calls.
struct pjrt_context {
  struct {
    int64_t type_id;
    void *data;
    void (*deleter)(void *data);
  } data[PLUGIN_KEYS];
  size_t count;
  atomic_int references;
};

void plugin_context_release(pjrt_context *context);  // NULL allowed
// That of the program that this thread runs; NULL if there is none. Setting answers what was there before.
const pjrt_context *plugin_running_context(void);
const pjrt_context *plugin_set_running_context(const pjrt_context *context);

// Runs what the evaluator runs (evaluate.c).
pjrt_error *plugin_evaluate(const plugin_program *program, const void *const *arguments, void *const *results);

// Custom calls (ffi.c) -------------------------------------------------------------------------------------------------

extern pjrt_extension *const plugin_extensions;
bool plugin_is_python_call(indim_str target);
// Makes what was registered with the process known to |cx|.
pjrt_error *plugin_register_calls(indim_ctx *cx);
// What a run ends with: |error|, or in its place the whole of what the callback that ended it said.
pjrt_error *plugin_run_error(pjrt_error *error);
// Around a fork.
void plugin_calls_lock(void);
void plugin_calls_unlock(void);

// Entries --------------------------------------------------------------------------------------------------------------

#define PJRT_FUNCTION(name, function, arguments) pjrt_error *function(arguments *args);
#define PJRT_MISSING(name)
#include "functions.def"

#endif  // INDIM_PJRT_PLUGIN_H
