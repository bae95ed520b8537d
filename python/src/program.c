// indim.Program: reading, checking and compiling, and what can be asked of a program afterwards.
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indim/read.h"
#include "indim/stablehlo.h"
#include "indim/text.h"

PyTypeObject *program_type;
static PyTypeObject *spec_type;  // indim.ArraySpec

// Leaves ---------------------------------------------------------------------------------------------------------------

// The arrays of a shape, in order, and names for them: "x", of a tuple "x.0".
typedef struct walk {
  program *p;
  bool is_result;
  int64_t count;  // found so far
  leaf *leaves;   // NULL: only counted
} walk;

static int add_leaf(walk *w, const indim_shape *shape, const char *name) {
  const indim_executable *e = w->p->executable;
  int64_t i = w->count++;
  if (w->leaves == NULL) {
    return 0;
  }
  if (e == NULL || w->p->is_dynamic) {
    return leaf_init(&w->leaves[i], w->is_result, i, name, shape, indim_shape_element_bytes(shape), 1);
  }
  return w->is_result ? leaf_init(&w->leaves[i], true, i, name, indim_executable_result_shape(e, i),
                                  indim_executable_result_bytes(e, i), indim_executable_result_alignment(e, i))
                      : leaf_init(&w->leaves[i], false, i, name, indim_executable_argument_shape(e, i),
                                  indim_executable_argument_bytes(e, i), indim_executable_argument_alignment(e, i));
}

static int walk_shape(walk *w, const indim_shape *shape, const char *name) {
  char longer[200];
  if (indim_shape_is_array(shape)) {
    return add_leaf(w, shape, name);
  }
  for (int64_t i = 0; indim_shape_is_tuple(shape) && i < shape->member_count; i++) {
    snprintf(longer, sizeof longer, "%.150s.%lld", name, (long long)i);
    if (walk_shape(w, shape->members[i], longer) < 0) {
      return -1;
    }
  }
  return 0;
}

static int walk_instr(walk *w, const indim_instr *instr) {
  char name[160];
  indim_str full = indim_instr_name(instr);
  snprintf(name, sizeof name, "%.*s", (int)(full.size < 150 ? full.size : 150), full.data == NULL ? "" : full.data);
  return walk_shape(w, indim_instr_shape(instr), name);
}

static int walk_arguments(walk *w) {
  const indim_computation *entry = indim_module_entry(w->p->module);
  for (int64_t i = 0; i < indim_computation_parameter_count(entry); i++) {
    if (walk_instr(w, indim_computation_parameter(entry, i)) < 0) {
      return -1;
    }
  }
  return 0;
}

// A tuple's members have the names of what it is made of.
static int walk_results(walk *w) {
  const indim_instr *root = indim_computation_root(indim_module_entry(w->p->module));
  if (indim_instr_op(root) != INDIM_OP_TUPLE) {
    return walk_instr(w, root);
  }
  for (int64_t i = 0; i < indim_instr_operand_count(root); i++) {
    if (walk_instr(w, indim_instr_operand(root, i)) < 0) {
      return -1;
    }
  }
  return 0;
}

static int find_leaves(program *p, bool is_result, leaf **out_leaves, int64_t *out_count) {
  walk w = {.p = p, .is_result = is_result};
  int (*go)(walk *) = is_result ? walk_results : walk_arguments;
  if (go(&w) < 0) {
    return -1;
  }
  *out_leaves = calloc((size_t)w.count + 1, sizeof **out_leaves);
  if (*out_leaves == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  *out_count = w.count;
  w = (walk){.p = p, .is_result = is_result, .leaves = *out_leaves};
  return go(&w);
}

static bool is_dynamic(const indim_module *module) {
  const indim_computation *entry = indim_module_entry(module);
  bool is_static = indim_shape_is_static(indim_instr_shape(indim_computation_root(entry)));
  for (int64_t i = 0; i < indim_computation_parameter_count(entry); i++) {
    is_static = is_static && indim_shape_is_static(indim_instr_shape(indim_computation_parameter(entry, i)));
  }
  return !is_static;
}

static int describe(program *p) {
  p->is_dynamic = is_dynamic(p->module);
  if (find_leaves(p, false, &p->arguments, &p->argument_count) < 0 ||
      find_leaves(p, true, &p->results, &p->result_count) < 0) {
    return -1;
  }
  p->is_tuple = !indim_shape_is_array(indim_instr_shape(indim_computation_root(indim_module_entry(p->module))));
  indim_str name = indim_module_name(p->module);
  p->name = PyUnicode_DecodeUTF8(name.data == NULL ? "" : name.data, (Py_ssize_t)name.size, "replace");
  return p->name == NULL ? -1 : 0;
}

// Whether each run does the same work, whatever the values are.
static bool is_steady(const indim_module *module) {
  for (int64_t c = 0; c < indim_module_computation_count(module); c++) {
    const indim_computation *computation = indim_module_computation(module, c);
    for (int64_t i = 0; i < indim_computation_instr_count(computation); i++) {
      indim_op op = indim_instr_op(indim_computation_instr(computation, i));
      if (op == INDIM_OP_WHILE || op == INDIM_OP_CONDITIONAL || op == INDIM_OP_CUSTOM_CALL) {
        return false;
      }
    }
  }
  return true;
}

// Loading --------------------------------------------------------------------------------------------------------------

typedef enum engine { ENGINE_NATIVE, ENGINE_EVAL, ENGINE_AUTO } engine;

static int parse_engine(const char *name, engine *out) {
  static const char *const names[] = {"native", "eval", "auto"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(name, names[i]) == 0) {
      *out = (engine)i;
      return 0;
    }
  }
  PyErr_Format(PyExc_ValueError, "there is no engine '%s'; there are native, eval and auto", name);
  return -1;
}

static indim_status read_and_compile(program *p, indim_ctx *cx, const char *name, const Py_buffer *source,
                                     engine wanted) {
  indim_status status = indim_module_read(cx, indim_str_of(name), source->buf, (size_t)source->len, &p->module);
  if (status == INDIM_OK) {
    status = indim_module_verify(cx, p->module);
  }
  if (status != INDIM_OK || wanted == ENGINE_EVAL) {
    return status;
  }
  indim_compile_options options = {.fast = p->fast, .without = p->without, .choices = p->choices, .target = p->target};
  options.parallel = run_parallel_of(p->threads, &options.parallel_user);
  status = indim_compile(cx, p->module, &options, &p->executable);
  if (wanted == ENGINE_AUTO && (status == INDIM_UNSUPPORTED || status == INDIM_INTERNAL)) {
    indim_ctx_diagnostics_clear(cx);
    return INDIM_OK;
  }
  return status;
}

static int load_into(program *p, const char *name, const Py_buffer *source, engine wanted) {
  work w;
  if (work_begin(&w) < 0) {
    return -1;
  }
  work_release(&w);
  indim_status status = read_and_compile(p, w.cx, name, source, wanted);
  work_acquire(&w);
  p->cx = w.cx;
  if (status != INDIM_OK) {
    error_raise(p->cx, status);
    return -1;
  }
  indim_ctx_diagnostics_clear(p->cx);  // what the compiler mended on its way
  p->is_steady = is_steady(p->module);
  return describe(p);
}

// A copy for the program, NULL for None; -1 without memory.
static int keep_text(const char *text, char **out) {
  *out = text == NULL ? NULL : strdup(text);
  if (text != NULL && *out == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  return 0;
}

static PyObject *load(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"source", "name", "threads", "target", "fast", "engine", "without", "choices", "numpy", NULL};
  Py_buffer source = {0};
  const char *name = "";
  const char *target = NULL;
  const char *engine_name = "native";
  const char *without = NULL;
  const char *choices = NULL;
  int threads = 0;
  int fast = 0;
  int numpy = 1;
  engine wanted = ENGINE_NATIVE;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y*|$sizizzzp:load", names, &source, &name, &threads, &target, &fast,
                                   &engine_name, &without, &choices, &numpy)) {
    return NULL;
  }
  program *p = NULL;
  int has_numpy = 0;
  if (threads < 0 || threads > INDIM_MAX_THREADS) {
    PyErr_Format(PyExc_ValueError, "threads=%d: between 1 and %d", threads, (int)INDIM_MAX_THREADS);
  } else if (parse_engine(engine_name == NULL ? "native" : engine_name, &wanted) == 0 &&
             (has_numpy = numpy_load()) >= 0) {
    p = (program *)PyType_GenericAlloc(program_type, 0);
  }
  if (p != NULL) {
    p->threads = threads;
    p->fast = (unsigned)fast;
    p->numpy = numpy != 0 && has_numpy != 0;
    if (keep_text(target, &p->target) < 0 || keep_text(without, &p->without) < 0 ||
        keep_text(choices, &p->choices) < 0 || load_into(p, name, &source, wanted) < 0) {
      Py_CLEAR(p);
    }
  }
  PyBuffer_Release(&source);
  return (PyObject *)p;
}

static void destroy(PyObject *self) {
  program *p = (program *)self;
  PyTypeObject *type = Py_TYPE(self);
  for (int64_t i = 0; p->arguments != NULL && i < p->argument_count; i++) {
    leaf_deinit(&p->arguments[i]);
  }
  for (int64_t i = 0; p->results != NULL && i < p->result_count; i++) {
    leaf_deinit(&p->results[i]);
  }
  free(p->arguments);
  free(p->results);
  indim_executable_destroy(p->executable);
  indim_module_destroy(p->module);
  indim_ctx_destroy(p->cx);
  free(p->target);
  free(p->without);
  free(p->choices);
  Py_XDECREF(p->name);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)type;
  (void)args;
  (void)kwargs;
  PyErr_SetString(PyExc_TypeError, "a program is made by indim.load or indim.jit");
  return NULL;
}

// Looking --------------------------------------------------------------------------------------------------------------

static PyObject *spec_of(const leaf *l) {
  PyObject *spec = PyStructSequence_New(spec_type);
  PyObject *sizes = PyTuple_New(l->rank);
  for (int32_t d = 0; sizes != NULL && d < l->rank; d++) {
    PyObject *size = PyLong_FromSsize_t((Py_ssize_t)l->sizes[d]);
    if (size == NULL || PyTuple_SetItem(sizes, d, size) < 0) {
      Py_CLEAR(sizes);
    }
  }
  const char *type = type_get(l->type)->name;
  PyObject *dtype = PyUnicode_FromString(type == NULL ? indim_type_text(l->type) : type);
  if (spec == NULL || sizes == NULL || dtype == NULL) {
    Py_XDECREF(spec);
    Py_XDECREF(sizes);
    Py_XDECREF(dtype);
    return NULL;
  }
  PyStructSequence_SetItem(spec, 0, Py_NewRef(l->name));
  PyStructSequence_SetItem(spec, 1, dtype);
  PyStructSequence_SetItem(spec, 2, sizes);
  return spec;
}

static PyObject *specs_of(const leaf *leaves, int64_t count) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)count);
  for (int64_t i = 0; tuple != NULL && i < count; i++) {
    PyObject *spec = spec_of(&leaves[i]);
    if (spec == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, spec) < 0) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

static PyObject *get_arguments(PyObject *self, void *ignored) {
  const program *p = (const program *)self;
  (void)ignored;
  return specs_of(p->arguments, p->argument_count);
}
static PyObject *get_results(PyObject *self, void *ignored) {
  const program *p = (const program *)self;
  (void)ignored;
  return specs_of(p->results, p->result_count);
}

// "x: float32[2,3], y: float32[3]", or without names.
static PyObject *list_text(const leaf *leaves, int64_t count, bool has_names) {
  PyObject *parts = PyList_New(0);
  PyObject *comma = PyUnicode_FromString(", ");
  for (int64_t i = 0; parts != NULL && i < count; i++) {
    PyObject *text = leaf_text(&leaves[i]);
    PyObject *part =
        text == NULL || !has_names ? Py_XNewRef(text) : PyUnicode_FromFormat("%U: %U", leaves[i].name, text);
    if (part == NULL || PyList_Append(parts, part) < 0) {
      Py_CLEAR(parts);
    }
    Py_XDECREF(text);
    Py_XDECREF(part);
  }
  PyObject *joined = parts == NULL || comma == NULL ? NULL : PyUnicode_Join(comma, parts);
  Py_XDECREF(parts);
  Py_XDECREF(comma);
  return joined;
}

static PyObject *get_shapes(PyObject *self, void *ignored) {
  const program *p = (const program *)self;
  (void)ignored;
  PyObject *arguments = list_text(p->arguments, p->argument_count, true);
  PyObject *results = list_text(p->results, p->result_count, false);
  PyObject *text = arguments == NULL || results == NULL
                       ? NULL
                       : PyUnicode_FromFormat(p->is_tuple ? "(%U) -> (%U)" : "(%U) -> %U", arguments, results);
  Py_XDECREF(arguments);
  Py_XDECREF(results);
  return text;
}

static PyObject *repr(PyObject *self) {
  PyObject *shapes = get_shapes(self, NULL);
  PyObject *text =
      shapes == NULL ? NULL : PyUnicode_FromFormat("<indim.Program %U%U>", ((program *)self)->name, shapes);
  Py_XDECREF(shapes);
  return text;
}

static PyObject *get_name(PyObject *self, void *ignored) {
  (void)ignored;
  return Py_NewRef(((program *)self)->name);
}
static PyObject *get_engine(PyObject *self, void *ignored) {
  (void)ignored;
  return PyUnicode_FromString(((program *)self)->executable == NULL ? "eval" : "native");
}
static PyObject *get_target(PyObject *self, void *ignored) {
  const program *p = (const program *)self;
  (void)ignored;
  return p->executable == NULL ? Py_NewRef(Py_None) : PyUnicode_FromString(indim_executable_target(p->executable));
}
static PyObject *get_threads(PyObject *self, void *ignored) {
  const program *p = (const program *)self;
  (void)ignored;
  return PyLong_FromLong(p->threads == 0 ? run_default_threads() : p->threads);
}
static PyObject *get_code_bytes(PyObject *self, void *ignored) {
  (void)ignored;
  return PyLong_FromLongLong(indim_executable_code_bytes(((program *)self)->executable));
}
static PyObject *get_scratch_bytes(PyObject *self, void *ignored) {
  (void)ignored;
  return PyLong_FromLongLong(indim_executable_scratch_bytes(((program *)self)->executable));
}

// Texts and objects ----------------------------------------------------------------------------------------------------

// The bytes of a buffer that was written with |w|'s context, as str or bytes; raises what |status| or the buffer says.
static PyObject *take_buffer(work *w, indim_status status, indim_buffer *buffer, bool is_text) {
  PyObject *answer = NULL;
  if (status == INDIM_OK) {
    status = buffer->status;
  }
  if (status != INDIM_OK) {
    error_raise(w->cx, status);
  } else {
    const char *data = buffer->data == NULL ? "" : buffer->data;
    answer = is_text ? PyUnicode_DecodeUTF8(data, (Py_ssize_t)buffer->size, "replace")
                     : PyBytes_FromStringAndSize(data, (Py_ssize_t)buffer->size);
  }
  indim_buffer_deinit(buffer);
  return answer;
}

typedef enum form { FORM_HLO, FORM_STABLEHLO, FORM_BYTECODE } form;

static indim_status print_form(program *p, indim_ctx *cx, form wanted, indim_buffer *out) {
  switch (wanted) {
  case FORM_STABLEHLO:
    return indim_module_print_stablehlo(cx, p->module, out);
  case FORM_BYTECODE:
    return indim_module_encode_stablehlo(cx, p->module, out);
  case FORM_HLO:
    break;
  }
  indim_module_print(p->module, 0, out);
  return INDIM_OK;
}

static PyObject *print(PyObject *self, form wanted) {
  program *p = (program *)self;
  indim_buffer buffer;
  work w;
  if (work_begin(&w) < 0) {
    return NULL;
  }
  indim_buffer_init(&buffer, w.cx);
  work_release(&w);
  indim_status status = print_form(p, w.cx, wanted, &buffer);
  work_acquire(&w);
  PyObject *answer = take_buffer(&w, status, &buffer, wanted != FORM_BYTECODE);
  work_end(&w);
  return answer;
}

static PyObject *program_text(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"form", NULL};
  const char *name = "hlo";
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|s:text", names, &name)) {
    return NULL;
  }
  if (strcmp(name, "hlo") == 0) {
    return print(self, FORM_HLO);
  }
  if (strcmp(name, "stablehlo") == 0) {
    return print(self, FORM_STABLEHLO);
  }
  PyErr_Format(PyExc_ValueError, "there is no form '%s'; there are hlo and stablehlo", name);
  return NULL;
}

static PyObject *program_bytecode(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return print(self, FORM_BYTECODE);
}

static PyObject *program_explain(PyObject *self, PyObject *ignored) {
  program *p = (program *)self;
  indim_buffer buffer;
  work w;
  (void)ignored;
  if (work_begin(&w) < 0) {
    return NULL;
  }
  indim_executable *executable = NULL;
  indim_buffer_init(&buffer, w.cx);
  const indim_compile_options options = {
      .fast = p->fast, .without = p->without, .choices = p->choices, .target = p->target, .out_explain = &buffer};
  work_release(&w);
  indim_status status = indim_compile(w.cx, p->module, &options, &executable);
  indim_executable_destroy(executable);
  work_acquire(&w);
  PyObject *text = take_buffer(&w, status, &buffer, true);
  work_end(&w);
  return text;
}

static PyObject *bytes_of(indim_str s) { return PyBytes_FromStringAndSize(s.data, (Py_ssize_t)s.size); }

static PyObject *needs_of(const indim_object *object) {
  int64_t count = indim_object_need_count(object);
  PyObject *list = PyTuple_New((Py_ssize_t)count);
  for (int64_t i = 0; list != NULL && i < count; i++) {
    const indim_object_need *need = indim_object_need_get(object, i);
    PyObject *item = Py_BuildValue("(ss)", need->service, need->instruction);
    if (item == NULL || PyTuple_SetItem(list, (Py_ssize_t)i, item) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

// (object file, static library or None, header, symbol, needs)
static PyObject *describe_object(work *w, const indim_object *object, bool is_archive) {
  PyObject *archive = NULL;
  if (is_archive) {
    indim_buffer buffer;
    indim_buffer_init(&buffer, w->cx);
    archive = take_buffer(w, indim_object_archive(object, &buffer), &buffer, false);
    if (archive == NULL) {
      return NULL;
    }
  }
  return Py_BuildValue("(NNsN)", is_archive ? archive : bytes_of(indim_object_bytes(object)),
                       bytes_of(indim_object_header(object)), indim_object_symbol(object), needs_of(object));
}

// What save_object of the package writes into files.
static PyObject *program_object(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"name", "target", "triple", "is_self_contained", "is_archive", NULL};
  program *p = (program *)self;
  const char *name = NULL;
  const char *target = NULL;
  const char *triple = NULL;
  int is_self_contained = 0;
  int is_archive = 0;
  work w;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$zzzpp:_object", names, &name, &target, &triple, &is_self_contained,
                                   &is_archive) ||
      work_begin(&w) < 0) {
    return NULL;
  }
  indim_object *object = NULL;
  const indim_compile_options compile = {
      .fast = p->fast, .without = p->without, .choices = p->choices, .target = target != NULL ? target : p->target};
  const indim_object_options options = {
      .compile = &compile, .name = name, .triple = triple, .is_self_contained = is_self_contained != 0};
  work_release(&w);
  indim_status status = indim_compile_object(w.cx, p->module, &options, &object);
  work_acquire(&w);
  PyObject *answer = NULL;
  if (status != INDIM_OK) {
    error_raise(w.cx, status);
  } else {
    answer = describe_object(&w, object, is_archive != 0);
  }
  indim_object_destroy(object);
  work_end(&w);
  return answer;
}

// save_object(path, *, header=None, name=None, target=None, ...): the package's own Python writes the files.
static PyObject *program_save_object(PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *module = PyImport_ImportModule("indim._files");
  PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, "save_object");
  PyObject *first = PyTuple_New(1);
  PyObject *all = NULL;
  PyObject *answer = NULL;
  if (first != NULL && function != NULL && PyTuple_SetItem(first, 0, Py_NewRef(self)) == 0) {
    all = PySequence_Concat(first, args);
    answer = all == NULL ? NULL : PyObject_Call(function, all, kwargs);
  }
  Py_XDECREF(module);
  Py_XDECREF(function);
  Py_XDECREF(first);
  Py_XDECREF(all);
  return answer;
}

// ----------------------------------------------------------------------------------------------------------------------

static PyGetSetDef properties[] = {
    {"name", get_name, NULL, "The program's name.", NULL},
    {"arguments", get_arguments, NULL,
     "What a call takes: a tuple of ArraySpec(name, dtype, shape). A parameter that is a tuple counts as its arrays.",
     NULL},
    {"results", get_results, NULL, "What a call gives: a tuple of ArraySpec(name, dtype, shape).", NULL},
    {"shapes", get_shapes, NULL,
     "Arguments and results as one text: \"(x: float32[2,3], y: float32[3]) -> float32[2,3]\".", NULL},
    {"engine", get_engine, NULL, "\"native\", compiled, or \"eval\", evaluated.", NULL},
    {"target", get_target, NULL,
     "The machine that the code is for (\"native\", \"x86-64-v3\"); None for an evaluated program.", NULL},
    {"threads", get_threads, NULL, "The most threads that a call uses.", NULL},
    {"code_bytes", get_code_bytes, NULL, "Bytes of machine code; 0 for an evaluated program.", NULL},
    {"scratch_bytes", get_scratch_bytes, NULL,
     "Bytes of working memory that a run needs besides arguments and results.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {
    {"bind", METHOD(program_bind), METH_VARARGS | METH_KEYWORDS,
     "bind($self, /, *arrays, out=None)\n--\n\n"
     "Bind the program to arrays, for calling it again and again on the same memory.\n\n"
     "Returns a Binding: calling that runs the program with what the arrays hold then, and returns the results, which "
     "are the same\n"
     "arrays each time. The arrays must be contiguous and aligned, as nothing is copied."},
    {"explain", program_explain, METH_NOARGS,
     "explain($self, /)\n--\n\nWhat the compiler did with the program and why: a text for people. It compiles once "
     "more."},
    {"profile", METHOD(program_profile), METH_VARARGS | METH_KEYWORDS,
     "profile($self, /, *arrays, repeat=10)\n--\n\n"
     "How long each step of the program takes: a list of dicts with step, kind, name, op, instructions, parallel, "
     "runs, "
     "seconds, bytes_read,\n"
     "bytes_written, operations and transcendentals, of one call, the mean of so many. It compiles once more, with "
     "clocks around loop\n"
     "nests and calls of the host; a reading takes some 20 to 50 ns."},
    {"text", METHOD(program_text), METH_VARARGS | METH_KEYWORDS,
     "text($self, /, form='hlo')\n--\n\nThe program as text: \"hlo\" or \"stablehlo\"."},
    {"bytecode", program_bytecode, METH_NOARGS,
     "bytecode($self, /)\n--\n\nThe program as a StableHLO portable artifact (MLIR bytecode)."},
    {"save_object", METHOD(program_save_object), METH_VARARGS | METH_KEYWORDS,
     "save_object($self, /, path, *, header=None, name=None, target=None, triple=None, self_contained=False)\n--\n\n"
     "Write the program as an object file for C, or with a path that ends in .a as a static library.\n\n"
     "header: path of the C header to write as well. name: what the function is named after (``NAME_run``); by default "
     "the program's\n"
     "name. target: what the code is for (indim.targets()), by default what it was loaded for. triple: another system "
     "of the same processor, by LLVM's name.\n"
     "self_contained: products and Fourier transforms are loops of the object's own. Returns the name of the "
     "function.\n"
     "Nothing of Indim needs to be linked, except for a program that asks its host for services; the header says "
     "which."},
    {"_object", METHOD(program_object), METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

static const char doc[] = "A compiled program (indim.load). Calling it with arrays gives an array, or a tuple of "
                          "arrays where the program's result is a\n"
                          "tuple.\n\n"
                          "    program(*arrays, out=None)\n\n"
                          "Arrays are NumPy's, or any objects with the buffer protocol or DLPack; they are used "
                          "without a copy where they are contiguous\n"
                          "and aligned. Element types and sizes have to agree exactly. A scalar may be Python's int, "
                          "float, complex or bool. ``out`` has\n"
                          "an array for each result, or None, to be written in place of new ones. Any number of "
                          "threads may call one program at once.";

static PyStructSequence_Field spec_fields[] = {
    {"name", "what the program calls it"}, {"dtype", "\"float32\""}, {"shape", "its sizes"}, {NULL, NULL}};

int program_init(PyObject *module) {
  static PyMethodDef functions[] = {{"load", METHOD(load), METH_VARARGS | METH_KEYWORDS, NULL}, {NULL, NULL, 0, NULL}};
  PyType_Slot slots[] = {SLOT(Py_tp_dealloc, destroy),        SLOT(Py_tp_new, refuse_new),
                         SLOT(Py_tp_call, program_call),      SLOT(Py_tp_repr, repr),
                         {Py_tp_getset, properties},          {Py_tp_methods, methods},
                         {Py_tp_doc, (void *)(uintptr_t)doc}, {0, NULL}};
  PyType_Spec spec = {"indim.Program", (int)sizeof(program), 0, Py_TPFLAGS_DEFAULT, slots};
  PyStructSequence_Desc desc = {"indim.ArraySpec", "What an argument or a result is.", spec_fields, 3};
  program_type = (PyTypeObject *)PyType_FromSpec(&spec);
  spec_type = PyStructSequence_NewType(&desc);
  if (program_type == NULL || spec_type == NULL || PyModule_AddFunctions(module, functions) < 0 ||
      PyModule_AddObjectRef(module, "Program", (PyObject *)program_type) < 0) {
    return -1;
  }
  return PyModule_AddObjectRef(module, "ArraySpec", (PyObject *)spec_type);
}
