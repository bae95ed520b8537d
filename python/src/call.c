// Calling a program. What decides the time of a small one is in this file: an array of NumPy's that is what the program takes costs
// some comparisons (leaf_takes), a result one call of NumPy's, and everything else is left to the slower ways of leaf.c.
#include "module.h"

#include <stdlib.h>
#include <string.h>

enum {
  INLINE_LEAVES = 12,              // arguments and results that need no memory besides the stack's
  TIMED_RUNS = 8,                  // runs that are timed before a program may keep the GIL
  GIL_NS = 2000,                   // runs that are shorter keep it
  INTERRUPT_NS = 10 * 1000 * 1000  // steady runs that are shorter are not stopped by Ctrl-C: Python is back soon
};

// The arrays of one call. Views come into being with the first array that needs one.
typedef struct frame {
  const program *p;
  void **buffers;      // the arguments', then the results'
  PyObject **results;  // new references
  view *views;         // as buffers; NULL: none
  void *inline_buffers[INLINE_LEAVES];
  PyObject *inline_results[INLINE_LEAVES];
} frame;

static int frame_begin(frame *f, const program *p) {
  int64_t leaves = p->argument_count + p->result_count;
  f->p = p;
  f->views = NULL;
  f->buffers = f->inline_buffers;
  f->results = f->inline_results;
  if (leaves > INLINE_LEAVES) {
    f->buffers = malloc((size_t)leaves * sizeof *f->buffers);
    f->results = malloc((size_t)(p->result_count + 1) * sizeof *f->results);
    if (f->buffers == NULL || f->results == NULL) {
      free(f->buffers);
      free(f->results);
      PyErr_NoMemory();
      return -1;
    }
  }
  memset(f->results, 0, (size_t)p->result_count * sizeof *f->results);
  return 0;
}

static void frame_end(frame *f) {
  const program *p = f->p;
  for (int64_t i = 0; i < p->result_count; i++) {
    Py_XDECREF(f->results[i]);
  }
  for (int64_t i = 0; f->views != NULL && i < p->argument_count + p->result_count; i++) {
    view_close(&f->views[i]);
  }
  free(f->views);
  if (f->buffers != f->inline_buffers) {
    free(f->buffers);
    free(f->results);
  }
}

static view *frame_view(frame *f, int64_t index) {
  if (f->views == NULL) {
    f->views = calloc((size_t)(f->p->argument_count + f->p->result_count), sizeof *f->views);
    if (f->views == NULL) {
      PyErr_NoMemory();
      return NULL;
    }
  }
  return &f->views[index];
}

// What is given -------------------------------------------------------------------------------------------------------

static int refuse_count(const program *p, Py_ssize_t given) {
  PyObject *signature = PyObject_GetAttrString((PyObject *)(uintptr_t)p, "shapes");
  if (signature != NULL) {
    PyErr_Format(PyExc_TypeError, "%zd argument%s given, %zd expected: %U", given, given == 1 ? "" : "s",
                 (Py_ssize_t)p->argument_count, signature);
    Py_DECREF(signature);
  }
  return -1;
}

static int take_argument(frame *f, int64_t i, PyObject *object) {
  const leaf *l = &f->p->arguments[i];
  if (Py_TYPE(object) == numpy_array_type &&
      leaf_takes(l, (const numpy_array *)object, NUMPY_C_CONTIGUOUS | NUMPY_ALIGNED)) {
    f->buffers[i] = ((numpy_array *)object)->data;
    return 0;
  }
  view *v = frame_view(f, i);
  f->buffers[i] = v == NULL ? NULL : (void *)(uintptr_t)leaf_argument(l, object, v);
  return f->buffers[i] == NULL ? -1 : 0;
}

static int take_arguments(frame *f, PyObject *args) {
  Py_ssize_t count = PyTuple_Size(args);
  if (count != f->p->argument_count) {
    return refuse_count(f->p, count);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    if (take_argument(f, i, PyTuple_GetItem(args, i)) < 0) {
      return -1;
    }
  }
  return 0;
}

static int take_out(frame *f, int64_t i, PyObject *object) {
  int64_t index = f->p->argument_count + i;
  const leaf *l = &f->p->results[i];
  f->results[i] = Py_NewRef(object);
  if (Py_TYPE(object) == numpy_array_type &&
      leaf_takes(l, (const numpy_array *)object, NUMPY_C_CONTIGUOUS | NUMPY_ALIGNED | NUMPY_WRITEABLE)) {
    f->buffers[index] = ((numpy_array *)object)->data;
    return 0;
  }
  view *v = frame_view(f, index);
  f->buffers[index] = v == NULL ? NULL : leaf_out(l, object, v);
  return f->buffers[index] == NULL ? -1 : 0;
}

static int make_result(frame *f, int64_t i) {
  int64_t index = f->p->argument_count + i;
  const leaf *l = &f->p->results[i];
  view *v = NULL;
  if (!l->is_strided && (v = frame_view(f, index)) == NULL) {
    return -1;
  }
  f->results[i] = leaf_result(l, f->p->numpy, &f->buffers[index], v);
  return f->results[i] == NULL ? -1 : 0;
}

// The array that |out| has for a result; borrowed. NULL: none. A tuple's or list's count is checked before.
static PyObject *out_item(const program *p, PyObject *out, int64_t i) {
  if (out == NULL || out == Py_None) {
    return NULL;
  }
  PyObject *item = PyTuple_Check(out) ? PyTuple_GetItem(out, i) : PyList_Check(out) ? PyList_GetItem(out, i) : out;
  (void)p;
  return item == Py_None ? NULL : item;
}

static int check_out(const program *p, PyObject *out) {
  bool is_list = PyTuple_Check(out) || PyList_Check(out);
  Py_ssize_t count = PyTuple_Check(out) ? PyTuple_Size(out) : PyList_Check(out) ? PyList_Size(out) : 1;
  if (out == Py_None || (count == p->result_count && (is_list || !p->is_tuple))) {
    return 0;
  }
  PyErr_Format(PyExc_TypeError, "out: %s%zd given, %s%zd expected",
               is_list ? "a tuple or list of " : "an array, not a tuple; ", count, p->is_tuple ? "a tuple of " : "",
               (Py_ssize_t)p->result_count);
  return -1;
}

static int take_results(frame *f, PyObject *out) {
  if (out != NULL && check_out(f->p, out) < 0) {
    return -1;
  }
  for (int64_t i = 0; i < f->p->result_count; i++) {
    PyObject *item = out_item(f->p, out, i);
    if ((item == NULL ? make_result(f, i) : take_out(f, i, item)) < 0) {
      return -1;
    }
  }
  return 0;
}

// out= is the only keyword. 0 with *|out| or NULL; -1. PyArg_ParseTupleAndKeywords would take as long as the rest of a call.
static int parse_out(PyObject *kwargs, PyObject **out) {
  static PyObject *key;
  *out = NULL;
  if (kwargs == NULL || PyDict_Size(kwargs) == 0) {
    return 0;
  }
  if (key == NULL && (key = PyUnicode_InternFromString("out")) == NULL) {
    return -1;
  }
  *out = PyDict_GetItemWithError(kwargs, key);
  if (PyDict_Size(kwargs) == 1 && *out != NULL) {
    return 0;
  }
  if (!PyErr_Occurred()) {
    PyErr_SetString(PyExc_TypeError, "a program takes its arrays in order, and out= as the only keyword");
  }
  return -1;
}

// What is given back: the array, or a tuple of them. Takes the references out of the frame.
static PyObject *give_results(frame *f) {
  const program *p = f->p;
  for (int64_t i = 0; i < p->result_count; i++) {
    if (!p->results[i].is_strided && leaf_finish(&p->results[i], f->results[i], &f->views[p->argument_count + i]) < 0) {
      return NULL;
    }
  }
  if (!p->is_tuple) {
    PyObject *result = f->results[0];
    f->results[0] = NULL;
    return result;
  }
  PyObject *tuple = PyTuple_New((Py_ssize_t)p->result_count);
  for (int64_t i = 0; tuple != NULL && i < p->result_count; i++) {
    PyTuple_SetItem(tuple, (Py_ssize_t)i, f->results[i]);  // which it takes
    f->results[i] = NULL;
  }
  return tuple;
}

// Running --------------------------------------------------------------------------------------------------------------

// A context where a failure is explained: the program's, or a new one while another thread has that.
static indim_ctx *borrow_ctx(program *p) {
  indim_ctx *cx = NULL;
  if (!p->cx_is_taken) {
    p->cx_is_taken = true;
    return p->cx;
  }
  return indim_ctx_create(NULL, &cx) == INDIM_OK ? cx : NULL;
}

static void return_ctx(program *p, indim_ctx *cx) {
  if (cx == p->cx) {
    p->cx_is_taken = false;
  } else {
    indim_ctx_destroy(cx);
  }
}

static void learn_time(program *p, int64_t ns) {
  p->best_ns = p->timed_runs == 0 || ns < p->best_ns ? ns : p->best_ns;
  p->timed_runs++;
  p->keeps_gil = p->timed_runs >= TIMED_RUNS && p->best_ns < GIL_NS;
}

// What runs: the executable with these buffers, or a binding.
typedef struct runnable {
  indim_executable *executable;
  indim_run_options *options;
  indim_binding *binding;
} runnable;

static inline indim_status run_it(const runnable *r) {
  return r->binding != NULL ? indim_binding_run(r->binding) : indim_execute(r->executable, r->options);
}

static indim_status run_without_gil(program *p, const runnable *r) {
  bool is_timed = p->is_steady && p->timed_runs < TIMED_RUNS;
  int64_t begin = is_timed ? run_now() : 0;
  PyThreadState *state = PyEval_SaveThread();
  indim_status status = run_it(r);
  int64_t end = is_timed ? run_now() : 0;
  PyEval_RestoreThread(state);
  if (is_timed && status == INDIM_OK) {
    learn_time(p, end - begin);
  }
  return status;
}

static bool may_last(const program *p) { return !p->is_steady || p->timed_runs == 0 || p->best_ns > INTERRUPT_NS; }

// On the main thread: what Ctrl-C stopped ends with Python's exception. Where a handler of the user's raises nothing, the run begins
// again, unless it writes over what it reads.
static indim_status run_interruptible(program *p, const runnable *r, run_interrupt *interrupt, bool may_repeat) {
  for (;;) {
    run_interrupt_begin(interrupt);
    indim_status status = run_without_gil(p, r);
    run_interrupt_end(interrupt);
    if (status != INDIM_INTERRUPTED || PyErr_CheckSignals() < 0 || !may_repeat) {
      return status;
    }
  }
}

static indim_status run(program *p, const runnable *r, run_interrupt *interrupt, bool may_repeat) {
  if (p->keeps_gil) {
    return run_it(r);
  }
  return may_last(p) && run_is_main_thread() ? run_interruptible(p, r, interrupt, may_repeat) : run_without_gil(p, r);
}

// |executable| is the program's, or one of the same module whose steps take |times|.
static int execute(program *p, indim_executable *executable, const frame *f, bool has_out, indim_step_time *times) {
  run_interrupt interrupt;
  indim_ctx *cx = borrow_ctx(p);
  interrupt.stop = 0;
  indim_run_options options = {.arguments = (const void *const *)f->buffers,
                               .argument_count = p->argument_count,
                               .results = f->buffers + p->argument_count,
                               .result_count = p->result_count,
                               .stop = &interrupt.stop,
                               .step_times = times,
                               .cx = cx};
  options.parallel = run_parallel_of(p->threads, &options.parallel_user);
  const runnable r = {.executable = executable, .options = &options};
  indim_status status = run(p, &r, &interrupt, !has_out);
  if (status != INDIM_OK) {
    error_raise(cx, status);
  }
  return_ctx(p, cx);
  return status == INDIM_OK ? 0 : -1;
}

static PyObject *call_native(program *p, PyObject *args, PyObject *out) {
  frame f;
  PyObject *result = NULL;
  if (frame_begin(&f, p) < 0) {
    return NULL;
  }
  if (take_arguments(&f, args) == 0 && take_results(&f, out) == 0 &&
      execute(p, p->executable, &f, out != NULL, NULL) == 0) {
    result = give_results(&f);
  }
  frame_end(&f);
  return result;
}

int call_profiled(program *p, PyObject *args, indim_executable *executable, int64_t repeat, indim_step_time *times) {
  frame f;
  if (frame_begin(&f, p) < 0) {
    return -1;
  }
  int code = take_arguments(&f, args) == 0 && take_results(&f, NULL) == 0 ? 0 : -1;
  for (int64_t i = 0; i <= repeat && code == 0; i++) {
    code = execute(p, executable, &f, false, i == 0 ? NULL : times);  // once to warm up
  }
  frame_end(&f);
  return code;
}

// Evaluating ----------------------------------------------------------------------------------------------------------

// The literal of a shape whose arrays are the next arguments.
static indim_literal *build(const program *p, indim_ctx *cx, const indim_shape *shape, PyObject *args, int64_t *next) {
  if (!indim_shape_is_tuple(shape)) {
    indim_literal *literal = NULL;
    if (indim_shape_is_array(shape)) {
      const leaf *l = &p->arguments[*next];
      return leaf_to_literal(l, cx, shape, PyTuple_GetItem(args, (Py_ssize_t)(*next)++));
    }
    indim_status status = indim_literal_create(cx, shape, &literal);  // a token
    if (status != INDIM_OK) {
      error_raise(cx, status);
    }
    return literal;
  }
  indim_literal *tuple = NULL;
  indim_literal **members = calloc((size_t)shape->member_count + 1, sizeof *members);
  int64_t made = 0;
  while (members != NULL && made < shape->member_count &&
         (members[made] = build(p, cx, shape->members[made], args, next)) != NULL) {
    made++;
  }
  indim_status status = members == NULL              ? INDIM_NO_MEMORY
                        : made < shape->member_count ? INDIM_OK
                                                     : indim_literal_create_tuple(cx, members, made, &tuple);
  if (status != INDIM_OK) {
    error_raise(cx, status);
  }
  for (int64_t i = 0; tuple == NULL && i < made; i++) {
    indim_literal_destroy(members[i]);
  }
  free(members);
  return tuple;
}

// The arrays of a literal, in order, as results.
static int gather(const program *p, const indim_literal *literal, PyObject *list) {
  const indim_shape *shape = indim_literal_shape(literal);
  for (int64_t i = 0; indim_shape_is_tuple(shape) && i < shape->member_count; i++) {
    if (gather(p, indim_literal_member(literal, i), list) < 0) {
      return -1;
    }
  }
  if (!indim_shape_is_array(shape)) {
    return 0;
  }
  PyObject *item = leaf_of_literal(&p->results[PyList_Size(list)], p->numpy, literal);
  int outcome = item == NULL ? -1 : PyList_Append(list, item);
  Py_XDECREF(item);
  return outcome;
}

static PyObject *give_literal(const program *p, const indim_literal *literal) {
  PyObject *list = PyList_New(0);
  PyObject *result = NULL;
  if (list != NULL && gather(p, literal, list) == 0) {
    result = p->is_tuple ? PyList_AsTuple(list) : Py_NewRef(PyList_GetItem(list, 0));
  }
  Py_XDECREF(list);
  return result;
}

static indim_status run_literals(program *p, indim_ctx *cx, const indim_literal *const *arguments, int64_t count,
                                 const indim_run_options *options, indim_literal **out) {
  return p->executable == NULL ? indim_eval(cx, p->module, arguments, count, NULL, out)
                               : indim_execute_literals(cx, p->executable, arguments, count, options, out);
}

static PyObject *evaluate_literals(program *p, work *w, indim_literal *const *arguments, int64_t count) {
  indim_literal *result = NULL;
  run_interrupt interrupt;
  bool stops = p->executable != NULL && run_is_main_thread();
  interrupt.stop = 0;
  indim_run_options options = {.stop = &interrupt.stop};
  options.parallel = run_parallel_of(p->threads, &options.parallel_user);
  if (stops) {
    run_interrupt_begin(&interrupt);
  }
  work_release(w);
  indim_status status = run_literals(p, w->cx, (const indim_literal *const *)arguments, count, &options, &result);
  work_acquire(w);
  if (stops) {
    run_interrupt_end(&interrupt);
  }
  if (status == INDIM_INTERRUPTED && PyErr_CheckSignals() < 0) {
    return NULL;
  }
  if (status != INDIM_OK) {
    error_raise(w->cx, status);
    return NULL;
  }
  PyObject *answer = give_literal(p, result);
  indim_literal_destroy(result);
  return answer;
}

static PyObject *evaluate(program *p, PyObject *args) {
  const indim_computation *entry = indim_module_entry(p->module);
  int64_t count = indim_computation_parameter_count(entry);
  int64_t next = 0;
  int64_t made = 0;
  work w;
  indim_literal **arguments = calloc((size_t)count + 1, sizeof *arguments);
  if (arguments == NULL) {
    return PyErr_NoMemory();
  }
  if (work_begin(&w) < 0) {
    free(arguments);
    return NULL;
  }
  while (made < count && (arguments[made] = build(p, w.cx, indim_instr_shape(indim_computation_parameter(entry, made)),
                                                  args, &next)) != NULL) {
    made++;
  }
  PyObject *answer = made < count ? NULL : evaluate_literals(p, &w, arguments, count);
  for (int64_t i = 0; i < made; i++) {
    indim_literal_destroy(arguments[i]);
  }
  free(arguments);
  work_end(&w);
  return answer;
}

static PyObject *call_eval(program *p, PyObject *args, PyObject *out) {
  if (PyTuple_Size(args) != p->argument_count) {
    refuse_count(p, PyTuple_Size(args));
    return NULL;
  }
  if (out != NULL && out != Py_None) {
    PyErr_SetString(PyExc_TypeError, p->is_dynamic ? "out: arrays of sizes known when it runs are new; leave out= away"
                                                   : "out: the evaluator gives new arrays; leave out= away");
    return NULL;
  }
  return evaluate(p, args);
}

PyObject *program_call(PyObject *self, PyObject *args, PyObject *kwargs) {
  program *p = (program *)self;
  PyObject *out = NULL;
  if (kwargs != NULL && parse_out(kwargs, &out) < 0) {
    return NULL;
  }
  return p->executable != NULL && !p->is_dynamic ? call_native(p, args, out) : call_eval(p, args, out);
}

// Binding --------------------------------------------------------------------------------------------------------------

// A program with its arrays. The frame holds on to them for as long as the binding lives.
typedef struct bound {
  PyObject_HEAD program *p;
  indim_ctx *cx;
  indim_binding *binding;
  PyObject *args;
  PyObject *answer;  // what each run returns
  bool is_running;
  bool has_frame;
  bool may_repeat;
  run_interrupt interrupt;
  frame f;
} bound;
static PyTypeObject *bound_type;

static void bound_destroy(PyObject *self) {
  bound *b = (bound *)self;
  PyTypeObject *type = Py_TYPE(self);
  indim_binding_destroy(b->binding);
  indim_ctx_destroy(b->cx);
  if (b->has_frame) {
    frame_end(&b->f);
  }
  Py_XDECREF((PyObject *)b->p);
  Py_XDECREF(b->args);
  Py_XDECREF(b->answer);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject *bound_call(PyObject *self, PyObject *args, PyObject *kwargs) {
  bound *b = (bound *)self;
  if (PyTuple_Size(args) != 0 || (kwargs != NULL && PyDict_Size(kwargs) != 0)) {
    PyErr_SetString(PyExc_TypeError, "a binding takes no arguments: it computes with what its arrays hold");
    return NULL;
  }
  if (b->is_running) {
    PyErr_SetString(PyExc_RuntimeError, "this binding is running on another thread: each thread needs one of its own");
    return NULL;
  }
  const runnable r = {.binding = b->binding};
  b->is_running = true;
  b->interrupt.stop = 0;
  indim_status status = run(b->p, &r, &b->interrupt, b->may_repeat);
  b->is_running = false;
  if (status != INDIM_OK) {
    error_raise(b->cx, status);
    return NULL;
  }
  return Py_NewRef(b->answer);
}

// Arguments that would be copied are refused: later runs would not see what their arrays hold then.
static int check_unconverted(const program *p, const frame *f) {
  for (int64_t i = 0; f->views != NULL && i < p->argument_count + p->result_count; i++) {
    const leaf *l = i < p->argument_count ? &p->arguments[i] : &p->results[i - p->argument_count];
    if (f->views[i].copy != NULL) {
      PyErr_Format(PyExc_ValueError,
                   "%s %zd (%U) cannot be bound: it would have to be copied, being no contiguous, aligned array",
                   l->is_result ? "out" : "argument", (Py_ssize_t)l->index, l->name);
      return -1;
    }
  }
  return 0;
}

static int bind(bound *b, PyObject *args, PyObject *out) {
  program *p = b->p;
  if (frame_begin(&b->f, p) < 0) {
    return -1;
  }
  b->has_frame = true;
  if (take_arguments(&b->f, args) < 0 || take_results(&b->f, out) < 0 || check_unconverted(p, &b->f) < 0) {
    return -1;
  }
  indim_status status = indim_ctx_create(NULL, &b->cx);
  indim_run_options options = {.arguments = (const void *const *)b->f.buffers,
                               .argument_count = p->argument_count,
                               .results = b->f.buffers + p->argument_count,
                               .result_count = p->result_count,
                               .stop = &b->interrupt.stop};
  options.parallel = run_parallel_of(p->threads, &options.parallel_user);
  if (status == INDIM_OK) {
    status = indim_binding_create(b->cx, p->executable, &options, &b->binding);
  }
  if (status != INDIM_OK) {
    error_raise(b->cx, status);
    return -1;
  }
  b->args = Py_NewRef(args);
  b->answer = give_results(&b->f);
  return b->answer == NULL ? -1 : 0;
}

PyObject *program_bind(PyObject *self, PyObject *args, PyObject *kwargs) {
  program *p = (program *)self;
  PyObject *out = NULL;
  if (parse_out(kwargs, &out) < 0) {
    return NULL;
  }
  if (p->executable == NULL) {
    PyErr_SetString(PyExc_TypeError, "an evaluated program cannot be bound; leave engine= away");
    return NULL;
  }
  if (p->is_dynamic) {
    PyErr_SetString(PyExc_TypeError, "a program whose arrays have sizes known when it runs cannot be bound; call it");
    return NULL;
  }
  bound *b = (bound *)PyType_GenericAlloc(bound_type, 0);
  if (b == NULL) {
    return NULL;
  }
  b->p = (program *)Py_NewRef(self);
  b->may_repeat = out == NULL;
  if (bind(b, args, out) < 0) {
    Py_CLEAR(b);
  }
  return (PyObject *)b;
}

static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)type;
  (void)args;
  (void)kwargs;
  PyErr_SetString(PyExc_TypeError, "a binding is made by Program.bind");
  return NULL;
}

static const char doc[] = "A program with its arrays (:meth:`Program.bind`). Calling it runs the program and returns "
                          "the arrays of the results,\n"
                          "the same ones each time. It serves one thread at a time.";

int call_init(PyObject *module) {
  PyType_Slot slots[] = {SLOT(Py_tp_dealloc, bound_destroy),
                         SLOT(Py_tp_new, refuse_new),
                         SLOT(Py_tp_call, bound_call),
                         {Py_tp_doc, (void *)(uintptr_t)doc},
                         {0, NULL}};
  PyType_Spec spec = {"indim.Binding", (int)sizeof(bound), 0, Py_TPFLAGS_DEFAULT, slots};
  bound_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return bound_type == NULL ? -1 : PyModule_AddObjectRef(module, "Binding", (PyObject *)bound_type);
}
