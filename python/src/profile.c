// Program.profile: the program compiled once more, with clocks around its steps, and what they say.
#include <stdlib.h>
#include <string.h>

#include "module.h"

static PyObject *names_of(const indim_profile_step *step) {
  PyObject *list = PyList_New((Py_ssize_t)step->instruction_count);
  for (int64_t i = 0; list != NULL && i < step->instruction_count; i++) {
    PyObject *name = PyUnicode_DecodeUTF8(step->instructions[i], (Py_ssize_t)strlen(step->instructions[i]), "replace");
    if (name == NULL || PyList_SetItem(list, (Py_ssize_t)i, name) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

static PyObject *text_of(const char *text) { return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"); }

// Of one call; of a while step nobody knows the iterations, so it has no bytes and operations.
static PyObject *describe(const indim_executable *executable, int64_t index, const indim_step_time *time,
                          int64_t repeat) {
  const indim_profile_step *step = indim_executable_step(executable, index);
  double runs = (double)time->runs / (double)repeat;
  double counted = strcmp(step->kind, "while") == 0 ? 0 : runs;
  return Py_BuildValue("{s:L,s:s,s:s,s:N,s:s,s:N,s:N,s:d,s:d,s:d,s:d,s:d,s:d}", "step", (long long)index, "kind",
                       step->kind, "service", step->service, "name", text_of(step->name), "op", step->op,
                       "instructions", names_of(step), "parallel", PyBool_FromLong(step->is_parallel), "runs", runs,
                       "seconds", (double)time->ns * 1e-9 / (double)repeat, "bytes_read", counted * step->bytes_read,
                       "bytes_written", counted * step->bytes_written, "operations", counted * step->operations,
                       "transcendentals", counted * step->transcendentals);
}

static PyObject *run_and_list(program *p, PyObject *args, indim_executable *executable, int64_t repeat) {
  int64_t count = indim_executable_step_count(executable);
  indim_step_time *times = calloc((size_t)count + 1, sizeof *times);
  if (times == NULL) {
    return PyErr_NoMemory();
  }
  PyObject *list = call_profiled(p, args, executable, repeat, times) == 0 ? PyList_New((Py_ssize_t)count) : NULL;
  for (int64_t i = 0; list != NULL && i < count; i++) {
    PyObject *step = describe(executable, i, &times[i], repeat);
    if (step == NULL || PyList_SetItem(list, (Py_ssize_t)i, step) < 0) {
      Py_CLEAR(list);
    }
  }
  free(times);
  return list;
}

static int take_repeat(PyObject *kwargs, int64_t *out_repeat) {
  PyObject *given = kwargs == NULL ? NULL : PyDict_GetItemString(kwargs, "repeat");  // borrowed
  Py_ssize_t known = given == NULL ? 0 : 1;
  if (kwargs != NULL && PyDict_Size(kwargs) != known) {
    PyErr_SetString(PyExc_TypeError, "profile takes arrays, and repeat= beside them");
    return -1;
  }
  *out_repeat = given == NULL ? 10 : PyLong_AsLongLong(given);
  if (PyErr_Occurred() != NULL) {
    return -1;
  }
  if (*out_repeat < 1) {
    PyErr_SetString(PyExc_ValueError, "repeat is at least 1");
    return -1;
  }
  return 0;
}

PyObject *program_profile(PyObject *self, PyObject *args, PyObject *kwargs) {
  program *p = (program *)self;
  int64_t repeat = 0;
  work w;
  if (take_repeat(kwargs, &repeat) < 0) {
    return NULL;
  }
  if (p->executable == NULL || p->is_dynamic) {
    PyErr_SetString(PyExc_ValueError, p->executable == NULL
                                          ? "the evaluator has no steps: load the program with engine=\"native\""
                                          : "programs with dynamic dimensions are profiled by `indim run --profile`");
    return NULL;
  }
  if (work_begin(&w) < 0) {
    return NULL;
  }
  indim_executable *executable = NULL;
  const indim_compile_options options = {
      .fast = p->fast, .without = p->without, .choices = p->choices, .target = p->target, .profile = true};
  work_release(&w);
  indim_status status = indim_compile(w.cx, p->module, &options, &executable);
  work_acquire(&w);
  PyObject *list = NULL;
  if (status == INDIM_OK) {
    list = run_and_list(p, args, executable, repeat);
  } else if (PyErr_Occurred() == NULL) {
    error_raise(w.cx, status);
  }
  indim_executable_destroy(executable);
  work_end(&w);
  return list;
}
