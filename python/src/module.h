// What the files of the extension module indim._indim share. It uses Python's limited API, so that one build serves every Python
// from 3.11 on, and Indim's public headers.
//
// Functions that can fail return NULL, or -1, with an exception set, as Python's own do. All of it is called with the GIL held.
#ifndef INDIM_PYTHON_MODULE_H
#define INDIM_PYTHON_MODULE_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "indim/compile.h"
#include "indim/eval.h"

_Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "sizes are Python's and Indim's at once");

// A row of PyType_Slot with a function. ISO C has no conversion of functions to void *, every system with Python has.
#define SLOT(slot, function) \
  { slot, __extension__(void *)(function) }
#define METHOD(function) __extension__(PyCFunction)(void (*)(void))(function)

// types.c --------------------------------------------------------------------------------------------------------------

typedef struct type_row {
  const char *name;    // "float32"; NULL for what is no element type
  const char *format;  // of the buffer protocol, "" for none
  uint8_t dlpack_code;
  bool is_numpys;
} type_row;

const type_row *type_get(indim_type type);
// INDIM_TYPE_INVALID for what no type is.
indim_type type_of_format(const char *format, Py_ssize_t item_bytes);
indim_type type_of_dlpack(unsigned code, unsigned bits);
unsigned type_dlpack_bits(indim_type type);
// "float32[2,3]"; NULL sizes: no brackets.
PyObject *type_text(const char *name, int32_t rank, const int64_t *sizes);

// error.c --------------------------------------------------------------------------------------------------------------

extern PyObject *error_type;  // indim.Error
int error_init(PyObject *module);
// Raises indim.Error with the text of the diagnostics of |cx| (which may be NULL) and clears them; NO_MEMORY is MemoryError, and
// after INTERRUPTED an exception that a signal's handler has raised stays.
void error_raise(indim_ctx *cx, indim_status status);

// numpy.c --------------------------------------------------------------------------------------------------------------

// NumPy's array object, as its binary interface fixes it for extensions (ndarraytypes.h, PyArrayObject_fields).
typedef struct numpy_array {
  PyObject_HEAD char *data;
  int rank;
  int64_t *sizes;
  int64_t *strides;  // in bytes
  PyObject *base;
  PyObject *descr;
  int flags;
} numpy_array;
enum { NUMPY_C_CONTIGUOUS = 0x1, NUMPY_ALIGNED = 0x100, NUMPY_WRITEABLE = 0x400 };

// The type of NumPy's arrays; NULL until numpy_load has found NumPy.
extern PyTypeObject *numpy_array_type;
// Imports NumPy; 1 when it is there, 0 when it is not (no exception), -1.
int numpy_load(void);
// The dtype of an element type, borrowed; NULL without an exception where NumPy or ml_dtypes is missing.
PyObject *numpy_descr(indim_type type);
indim_type numpy_type_of_descr(PyObject *descr);
// A new array: of NumPy's own memory (row-major), or of |data|, kept alive by |base|, whose reference is taken. |strides| NULL: row-major.
PyObject *numpy_new(PyObject *descr, int32_t rank, const int64_t *sizes, const int64_t *strides, void *data,
                    PyObject *base);
// numpy.asarray(object).
PyObject *numpy_asarray(PyObject *object);

// array.c --------------------------------------------------------------------------------------------------------------

// An array of ours: offers the buffer protocol and DLPack. Dense in some order of its dimensions.
typedef struct array {
  PyObject_HEAD indim_type type;
  int32_t rank;
  int64_t bytes;     // of the elements
  void *data;        // aligned to 64
  int64_t *sizes;    // and strides behind them, in one block
  int64_t *strides;  // in bytes
} array;
extern PyTypeObject *array_type;
int array_init(PyObject *module);
// |strides| NULL: row-major. |block_bytes|: memory taken, at least what sizes and strides reach; not initialised.
array *array_new(indim_type type, int32_t rank, const int64_t *sizes, const int64_t *strides, int64_t block_bytes);
void strides_row_major(int32_t rank, const int64_t *sizes, int64_t item_bytes, int64_t *out_strides);

// DLPack's structs, as dlpack.h 1.1 fixes them.
typedef struct dl_device {
  int32_t type;
  int32_t id;
} dl_device;
typedef struct dl_tensor {
  void *data;
  dl_device device;
  int32_t rank;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t *sizes;
  int64_t *strides;  // in elements; NULL: row-major
  uint64_t byte_offset;
} dl_tensor;
typedef struct dl_managed {
  dl_tensor tensor;
  void *context;
  void (*deleter)(struct dl_managed *self);
} dl_managed;
typedef struct dl_versioned {
  uint32_t major;
  uint32_t minor;
  void *context;
  void (*deleter)(struct dl_versioned *self);
  uint64_t flags;
  dl_tensor tensor;
} dl_versioned;
enum { DL_CPU = 1, DL_CUDA_HOST = 3 };
enum { DL_READ_ONLY = 1, DL_PADDED_SUB_BYTE = 4 };

// view.c ---------------------------------------------------------------------------------------------------------------

// Somebody's array, looked at: NumPy's, or what offers the buffer protocol or DLPack. Holds on to it until it is closed.
typedef struct view {
  char *data;
  indim_type type;      // INVALID: none of ours
  PyObject *type_name;  // then: what it is called
  int32_t rank;
  const int64_t *sizes;
  const int64_t *strides;  // in bytes
  bool is_writable;
  bool is_elsewhere;  // not in the CPU's memory
  // What is held.
  PyObject *object;
  bool has_buffer;
  Py_buffer buffer;
  dl_managed *managed;
  dl_versioned *versioned;
  void *copy;
  int64_t own_strides[INDIM_MAX_RANK];
} view;
// 1; 0 when it offers no array (no exception); -1. A view that was not opened may be closed if it is all zero.
int view_open(view *v, PyObject *object, bool needs_writable);
void view_close(view *v);
// Copies elements between arrays of the same sizes.
void copy_strided(char *to, const int64_t *to_strides, const char *from, const int64_t *from_strides,
                  const int64_t *sizes, int32_t rank, int64_t item_bytes);

// leaf.c ---------------------------------------------------------------------------------------------------------------

// One array among a program's arguments or results.
typedef struct leaf {
  bool is_result;
  int64_t index;
  PyObject *name;
  indim_shape shape;  // with the layout of the program's buffer
  int64_t sizes[INDIM_MAX_RANK];
  int64_t strides[INDIM_MAX_RANK];  // of that layout, in bytes
  bool is_strided;                  // the layout is its strides; else padded, tiled or packed
  bool is_row_major;
  int32_t rank;
  indim_type type;
  int64_t item_bytes;
  int64_t bytes;  // of the buffer
  int64_t alignment;
  PyObject *descr;  // NumPy's, NULL if there is none
} leaf;

int leaf_init(leaf *l, bool is_result, int64_t index, const char *name, const indim_shape *shape, int64_t bytes,
              int64_t alignment);
void leaf_deinit(leaf *l);
PyObject *leaf_text(const leaf *l);  // "float32[2,3]"
// Whether an array of NumPy's is the buffer that the program wants, as it is.
static inline bool leaf_takes(const leaf *l, const numpy_array *a, int flags) {
  if (a->descr != l->descr || a->rank != l->rank || (a->flags & flags) != flags || !l->is_row_major) {
    return false;
  }
  for (int32_t d = 0; d < l->rank; d++) {
    if (a->sizes[d] != l->sizes[d]) {
      return false;
    }
  }
  return true;
}
// The buffer for an argument: that of |object| if it can be it, or a copy, which the view holds. NULL with TypeError or ValueError.
const void *leaf_argument(const leaf *l, PyObject *object, view *v);
// The buffer of an array that a result is to be written into.
void *leaf_out(const leaf *l, PyObject *object, view *v);
// A new array for a result, NumPy's if |numpy| and it can be, with the buffer to be written. For a layout that Python's libraries lack
// the buffer is memory of |v|'s, and leaf_finish copies from it.
PyObject *leaf_result(const leaf *l, bool numpy, void **out_buffer, view *v);
int leaf_finish(const leaf *l, PyObject *result, view *v);
// An array of a literal's values.
PyObject *leaf_of_literal(const leaf *l, bool numpy, const indim_literal *literal);
// The literal of an argument.
indim_literal *leaf_to_literal(const leaf *l, indim_ctx *cx, const indim_shape *shape, PyObject *object);

// run.c ----------------------------------------------------------------------------------------------------------------

int run_init(PyObject *module);
int32_t run_default_threads(void);
// What indim_run_options.parallel and .parallel_user are to be for so many threads: a pool that the process shares, which is made when
// a parallel loop first asks for it. NULL for 1 thread. 0: the default number.
indim_parallel_fn *run_parallel_of(int32_t threads, void **out_user);
// A run of the process's main thread, which Ctrl-C stops: |stop| becomes 1. Where SIGINT is none of Python's, nothing happens.
typedef struct run_interrupt run_interrupt;
struct run_interrupt {
  volatile int32_t stop;
  bool is_installed;
  run_interrupt *outer;
};
bool run_is_main_thread(void);
void run_interrupt_begin(run_interrupt *interrupt);
void run_interrupt_end(run_interrupt *interrupt);
int64_t run_now(void);  // nanoseconds

// program.c ------------------------------------------------------------------------------------------------------------

typedef struct program {
  PyObject_HEAD indim_ctx *cx;  // of the module and the executable; afterwards of one call at a time, while cx_is_taken
  bool cx_is_taken;
  indim_module *module;
  indim_executable *executable;  // NULL: evaluated
  leaf *arguments;
  leaf *results;
  int64_t argument_count;
  int64_t result_count;
  bool is_tuple;    // the result is a tuple of arrays, not one
  bool is_dynamic;  // an argument or result has a dimension whose size is known when it runs: runs are over literals
  bool numpy;       // results are NumPy's arrays
  int32_t threads;
  unsigned fast;
  char *target;
  char *without;
  char *choices;
  PyObject *name;
  // Whether a run keeps the GIL: one that takes less than two microseconds, whatever the values of its arguments.
  bool is_steady;  // no loops and branches that depend on values, no functions of others'
  bool keeps_gil;
  int32_t timed_runs;
  int64_t best_ns;
} program;
extern PyTypeObject *program_type;
int program_init(PyObject *module);

// call.c ---------------------------------------------------------------------------------------------------------------

int call_init(PyObject *module);
PyObject *program_call(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *program_bind(PyObject *self, PyObject *args, PyObject *kwargs);
// Runs |executable|, made of the program's module with |profile|, once and then |repeat| times more, which |times| take. The program
// is compiled and has no dynamic dimensions.
int call_profiled(program *p, PyObject *args, indim_executable *executable, int64_t repeat, indim_step_time *times);

// profile.c --------------------------------------------------------------------------------------------------------------

PyObject *program_profile(PyObject *self, PyObject *args, PyObject *kwargs);

// callback.c ------------------------------------------------------------------------------------------------------------

// The address of the function by which JAX's plugin calls Python.
PyObject *callback_caller(PyObject *module, PyObject *ignored);

// work.c ---------------------------------------------------------------------------------------------------------------

// Work of the library's that takes a while: a context of its own; between release and acquire no GIL, and Ctrl-C stops it.
typedef struct work {
  indim_ctx *cx;
  PyThreadState *state;
  int64_t polled;  // when signals were last looked for
} work;
int work_begin(work *w);
void work_release(work *w);
void work_acquire(work *w);
void work_end(work *w);

#endif  // INDIM_PYTHON_MODULE_H
