// Running an executable over literals: arguments are converted to the program's layouts where they differ, the result
// is a new literal, and indim_execute does the rest.
#include <string.h>

#include "array/literal_internal.h"
#include "array/shape_text.h"
#include "run/clock.h"
#include "run/executable.h"

typedef struct binding {
  indim_ctx *cx;
  indim_executable *executable;
  indim_literal **converted;  // by parameter: in the program's layout, NULL where the caller's literal has it
  const void **arguments;     // leaves
  void **results;
  int32_t *sizes;  // of dynamic dimensions, by leaf: the arguments', then the results'
  indim_literal *result;
} binding;

// Arguments ------------------------------------------------------------------------------------------------------------

static const indim_literal *leaf_at(const indim_literal *literal, const indim_shape_walk *walk) {
  for (int32_t i = 0; i < walk->length; i++) {
    literal = indim_literal_member(literal, walk->path[i]);
  }
  return literal;
}

// What is short of a fixed size would be taken for whole.
static indim_status check_sizes(indim_ctx *cx, const indim_literal *argument, const indim_shape *shape,
                                int64_t number) {
  indim_shape_walk walk;
  indim_shape_walk_init(&walk, shape);
  while (indim_leaf_next(&walk)) {
    const indim_literal *leaf = leaf_at(argument, &walk);
    for (int32_t d = 0; d < walk.shape->rank; d++) {
      int64_t size = indim_literal_dynamic_size(leaf, d);
      if (size != walk.shape->sizes[d] && !indim_shape_is_dynamic_dim(walk.shape, d)) {
        return indim_fail(cx, INDIM_INVALID,
                          "argument %lld has %lld elements along dimension %d, and the program takes %lld",
                          (long long)number, (long long)size, (int)d, (long long)walk.shape->sizes[d]);
      }
    }
  }
  return INDIM_OK;
}

static indim_status check_argument(indim_ctx *cx, const indim_executable *e, const indim_literal *argument,
                                   int64_t number) {
  if (argument == NULL) {
    return indim_fail(cx, INDIM_INVALID, "argument %lld is NULL", (long long)number);
  }
  const indim_shape *shape = e->parameter_shapes[number];
  if (!indim_shape_compatible(indim_literal_shape(argument), shape)) {
    indim_shape_name given = indim_shape_name_of(indim_literal_shape(argument));
    indim_shape_name wanted = indim_shape_name_of(shape);
    indim_fail(cx, INDIM_INVALID, "argument %lld is %s, parameter %s is %s", (long long)number, given.text,
               e->parameter_names[number].data, wanted.text);
    if (indim_shape_equal(indim_literal_shape(argument), shape, INDIM_COMPATIBLE | INDIM_IGNORE_ELEMENT_TYPE)) {
      indim_hint(cx, "the sizes agree; convert the argument to %s", indim_type_text(shape->type));
    }
    return INDIM_INVALID;
  }
  if (indim_literal_is_elided(argument)) {
    return indim_fail(cx, INDIM_INVALID, "argument %lld has values that the text left out: {...}", (long long)number);
  }
  return check_sizes(cx, argument, shape, number);
}

// Fills the list with the data pointers of the leaves, and those of their sizes where |shape| has dynamic dimensions.
static void list_leaves(binding *b, const indim_literal *literal, const indim_shape *shape, int64_t *count) {
  indim_shape_walk walk;
  indim_shape_walk_init(&walk, shape);
  while (indim_leaf_next(&walk)) {
    const indim_literal *leaf = leaf_at(literal, &walk);
    b->arguments[(*count)++] = indim_literal_data(leaf);
    for (; *count < b->executable->argument_count && b->executable->arguments[*count].size_of >= 0; (*count)++) {
      b->sizes[*count] = (int32_t)indim_literal_dynamic_size(leaf, b->executable->arguments[*count].size_of);
      b->arguments[*count] = &b->sizes[*count];
    }
  }
}

// Whether the leaves of |literal|, starting with |leaf|, may be passed without conversion.
static bool fits(const indim_executable *e, const indim_literal *literal, int64_t leaf) {
  indim_shape_walk walk;
  bool fits = true;
  indim_shape_walk_init(&walk, indim_literal_shape(literal));
  for (; indim_leaf_next(&walk); leaf++) {
    while (e->arguments[leaf].size_of >= 0) {
      leaf++;
    }
    fits = fits &&
           indim_shape_equal(walk.shape, e->arguments[leaf].shape, INDIM_IGNORE_MEMORY_SPACE | INDIM_IGNORE_DYNAMIC);
  }
  return fits;
}

static indim_status bind_argument(binding *b, const indim_literal *argument, int64_t number, int64_t *leaf) {
  const indim_shape *shape = b->executable->parameter_shapes[number];
  INDIM_TRY(check_argument(b->cx, b->executable, argument, number));
  if (!fits(b->executable, argument, *leaf)) {
    INDIM_TRY(indim_literal_relayout(b->cx, argument, shape, &b->converted[number]));
    argument = b->converted[number];
  }
  list_leaves(b, argument, shape, leaf);
  return INDIM_OK;
}

// Results --------------------------------------------------------------------------------------------------------------

static indim_literal *result_at(const binding *b, const indim_shape_walk *walk) {
  indim_literal *leaf = b->result;
  for (int32_t i = 0; i < walk->length; i++) {
    leaf = indim_literal_mutable_member(leaf, walk->path[i]);
  }
  return leaf;
}

static indim_status bind_result(binding *b) {
  const indim_executable *e = b->executable;
  indim_shape_walk walk;
  int64_t count = 0;
  INDIM_TRY(indim_literal_create(b->cx, e->result_shape, &b->result));
  indim_shape_walk_init(&walk, indim_literal_shape(b->result));
  while (indim_leaf_next(&walk)) {
    b->results[count++] = indim_literal_mutable_data(result_at(b, &walk));
    for (; count < e->result_count && e->results[count].size_of >= 0; count++) {
      b->results[count] = &b->sizes[e->argument_count + count];
    }
  }
  return INDIM_OK;
}

// Says in the result how much of it counts.
static indim_status take_sizes(const binding *b) {
  const indim_executable *e = b->executable;
  indim_shape_walk walk;
  int64_t leaf = 0;
  indim_shape_walk_init(&walk, e->result_shape);
  while (indim_leaf_next(&walk)) {
    for (leaf++; leaf < e->result_count && e->results[leaf].size_of >= 0; leaf++) {
      int64_t size = b->sizes[e->argument_count + leaf];
      INDIM_TRY(indim_literal_set_dynamic_size(b->cx, result_at(b, &walk), e->results[leaf].size_of, size));
    }
  }
  return INDIM_OK;
}

// Binding --------------------------------------------------------------------------------------------------------------

// The lists of a binding in one block.
static size_t list_size(const indim_executable *e) {
  size_t leaves = (size_t)e->argument_count + (size_t)e->result_count;
  return ((size_t)e->parameter_count + leaves) * sizeof(void *) + leaves * sizeof(int32_t);
}

static indim_status make_lists(binding *b) {
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(b->cx, list_size(b->executable), &memory));
  b->converted = memory;
  b->arguments = (const void **)(void *)(b->converted + b->executable->parameter_count);
  b->results = (void **)(void *)(b->arguments + b->executable->argument_count);
  b->sizes = (int32_t *)(void *)(b->results + b->executable->result_count);
  return INDIM_OK;
}

static void unbind(binding *b) {
  for (int64_t i = 0; b->converted != NULL && i < b->executable->parameter_count; i++) {
    indim_literal_destroy(b->converted[i]);
  }
  indim_literal_destroy(b->result);
  indim_free(b->cx, b->converted, list_size(b->executable));
}

static indim_status bind(binding *b, const indim_literal *const *arguments) {
  int64_t leaf = 0;
  INDIM_TRY(make_lists(b));
  for (int64_t i = 0; i < b->executable->parameter_count; i++) {
    INDIM_TRY(bind_argument(b, arguments[i], i, &leaf));
  }
  return bind_result(b);
}

// Running --------------------------------------------------------------------------------------------------------------

static indim_status run_together(const binding *b, const indim_run_options *run, int64_t count, int64_t *out_ns) {
  int64_t begin = indim_clock_ns();
  for (int64_t i = 0; i < count; i++) {
    INDIM_TRY(indim_execute(b->executable, run));
  }
  *out_ns = indim_clock_ns() - begin;
  return indim_poll(b->cx);
}

// Reading the clock takes as long as a small program: so many runs are measured together that it does not matter.
static indim_status measure(const binding *b, const indim_run_options *run, int64_t times, int64_t *out_ns) {
  enum { LONG_ENOUGH = 4000, MOST_TOGETHER = 1024 };
  int64_t together = 1;
  int64_t ns = LONG_ENOUGH;
  INDIM_TRY(run_together(b, run, 1, &ns));
  while (times > 0 && ns < LONG_ENOUGH && together < MOST_TOGETHER) {
    together *= 2;
    INDIM_TRY(run_together(b, run, together, &ns));
  }
  for (int64_t i = 0; i < times; i++) {
    INDIM_TRY(run_together(b, run, together, &ns));
    out_ns[i] = ns / together;
  }
  return INDIM_OK;
}

static indim_status run_bound(const binding *b, const indim_run_options *options, int64_t times, int64_t *out_ns) {
  indim_run_options run = options == NULL ? (indim_run_options){0} : *options;
  run.cx = b->cx;
  run.arguments = b->arguments;
  run.argument_count = b->executable->argument_count;
  run.results = b->results;
  run.result_count = b->executable->result_count;
  return measure(b, &run, times, out_ns);
}

indim_status indim_execute_timed(indim_ctx *cx, indim_executable *executable, const indim_literal *const *arguments,
                                 int64_t argument_count, const indim_run_options *options, int64_t times,
                                 int64_t *out_ns, indim_literal **out_result) {
  if (cx == NULL || executable == NULL || out_result == NULL || (arguments == NULL && argument_count > 0) ||
      (out_ns == NULL && times > 0)) {
    return indim_fail(cx, INDIM_INVALID, "running literals: a pointer that is needed is NULL");
  }
  *out_result = NULL;
  if (argument_count != executable->parameter_count) {
    return indim_fail(cx, INDIM_INVALID, "the program takes %lld arguments, %lld are given",
                      (long long)executable->parameter_count, (long long)argument_count);
  }
  binding b = {.cx = cx, .executable = executable};
  indim_status status = bind(&b, arguments);
  if (status == INDIM_OK) {
    status = run_bound(&b, options, times, out_ns);
  }
  if (status == INDIM_OK) {
    status = take_sizes(&b);
  }
  if (status == INDIM_OK) {
    *out_result = b.result;
    b.result = NULL;
  }
  unbind(&b);
  return status;
}

indim_status indim_execute_literals(indim_ctx *cx, indim_executable *executable, const indim_literal *const *arguments,
                                    int64_t argument_count, const indim_run_options *options,
                                    indim_literal **out_result) {
  return indim_execute_timed(cx, executable, arguments, argument_count, options, 0, NULL, out_result);
}
