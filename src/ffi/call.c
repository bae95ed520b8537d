// Everything about a call lives in one arena. A run copies the list of arrays to the stack and fills in the addresses.
#include "ffi/call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "ffi/attrs.h"
#include "ffi/xla_handler.h"
#include "graph/infer_kit.h"
#include "graph/word.h"
#include "indim/shape_util.h"

struct indim_call {
  indim_ctx *cx;
  indim_arena arena;
  indim_allocator allocator;  // for handlers
  indim_target_row target;
  indim_handler handler;  // of a target with stages
  const char *place;
  const char *metadata;    // of the instruction: its op_name and source; "" if there is none
  indim_custom_call call;  // without arrays and message
  indim_custom_array *leaves;
  int64_t leaf_count;
  int64_t result_count;
  indim_status check_status;  // of a CHECK, which has no function; INDIM_OK: it is none
};

static indim_str target_of(const indim_instr *instr) {
  return indim_instr_attr(instr, INDIM_ATTR_CUSTOM_CALL_TARGET)->value.text;
}

indim_call_kind indim_call_kind_of(const indim_ctx *cx, const indim_instr *instr) {
  static const char *const callbacks[] = {"xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback",
                                          "xla_python_cpu_callback"};
  indim_str name = target_of(instr);
  if (indim_str_is(name, INDIM_CALL_FAILED_CHECK)) {
    return INDIM_CALL_CHECK;
  }
  if (indim_registry_find(cx, name) != NULL) {
    return INDIM_CALL_REGISTERED;
  }
  for (size_t i = 0; i < sizeof callbacks / sizeof callbacks[0]; i++) {
    if (indim_str_is(name, callbacks[i])) {
      return INDIM_CALL_CALLBACK;
    }
  }
  return INDIM_CALL_UNKNOWN;
}

// Arrays -------------------------------------------------------------------------------------------------------------

static bool is_dense(const indim_shape *shape) {
  const indim_layout *layout = &shape->layout;
  return !shape->has_layout ||
         (layout->padded_rank == 0 && layout->tile_count == 0 &&
          (layout->element_bits == 0 || layout->element_bits == 8 * indim_type_bytes(shape->type)) &&
          layout->split_count == 0 && layout->physical_shape == NULL && layout->index_type == INDIM_TYPE_INVALID &&
          layout->pointer_type == INDIM_TYPE_INVALID && layout->metadata_prefix_bytes == 0);
}

static indim_status check_leaf(indim_ctx *cx, const indim_instr *instr, const char *what, const indim_shape *shape) {
  indim_shape_text text;
  if (shape->type == INDIM_TOKEN) {
    return INDIM_OK;
  }
  if (!indim_shape_is_array(shape) || !indim_shape_is_static(shape)) {
    return indim_fail_instr(cx, INDIM_UNSUPPORTED, instr,
                            "%s has %s, and functions take arrays of known size and tokens", what,
                            indim_shape_brief(shape, &text));
  }
  if (!is_dense(shape)) {
    return indim_fail_instr(cx, INDIM_UNSUPPORTED, instr,
                            "%s has %s in a layout that is padded, tiled or packed, and functions take dense arrays",
                            what, indim_shape_brief(shape, &text));
  }
  return INDIM_OK;
}

static indim_status add_leaf(indim_call *c, const indim_instr *instr, const char *what, const indim_shape *shape,
                             bool is_row_major) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(&c->arena, sizeof *shape, &memory));
  indim_shape *leaf = memory;
  *leaf = *shape;
  if (indim_shape_is_array(shape) && (is_row_major || !shape->has_layout)) {
    leaf->has_layout = true;
    indim_layout_init(shape->rank, &leaf->layout);
  }
  INDIM_TRY(check_leaf(c->cx, instr, what, leaf));
  if (c->leaf_count == INDIM_CUSTOM_MOST_ARRAYS) {
    return indim_fail_instr(c->cx, INDIM_LIMIT, instr, "it has more than %d arrays", INDIM_CUSTOM_MOST_ARRAYS);
  }
  int64_t count = indim_shape_is_array(leaf) ? indim_shape_element_count(leaf) : 0;
  indim_custom_array *array = &c->leaves[c->leaf_count++];
  *array = (indim_custom_array){.shape = leaf};
  return indim_count_mul(count, indim_type_bytes(leaf->type), &array->bytes)
             ? INDIM_OK
             : indim_fail_instr(c->cx, INDIM_LIMIT, instr, "an array of %" PRId64 " elements is too large", count);
}

static indim_status add_leaves(indim_call *c, const indim_instr *instr, const char *what, const indim_shape *shape,
                               bool is_row_major) {
  indim_shape_walk walk;
  indim_shape_walk_init(&walk, shape);
  while (indim_shape_walk_next_leaf(&walk)) {
    INDIM_TRY(add_leaf(c, instr, what, walk.shape, is_row_major));
  }
  return INDIM_OK;
}

static indim_status read_arrays(indim_call *c, const indim_instr *instr) {
  const indim_attr *constraints = indim_instr_attr(instr, INDIM_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
  void *memory = NULL;
  char what[40];
  INDIM_TRY(indim_arena_array(&c->arena, INDIM_CUSTOM_MOST_ARRAYS, sizeof *c->leaves, &memory));
  c->leaves = memory;
  INDIM_TRY(add_leaves(c, instr, "the result", instr->shape, false));
  c->result_count = c->leaf_count;
  bool is_read = indim_call_kind_of(c->cx, instr) != INDIM_CALL_CALLBACK;  // a callback runs, and fails, without arrays
  for (int32_t i = 0; is_read && i < instr->operand_count; i++) {
    snprintf(what, sizeof what, "operand %d", (int)i);
    const indim_shape *shape = constraints == NULL ? indim_operand_shape(instr, i) : constraints->value.shapes[i];
    INDIM_TRY(add_leaves(c, instr, what, shape, constraints == NULL));
  }
  return INDIM_OK;
}

// Reading ------------------------------------------------------------------------------------------------------------

static indim_status copy_text(indim_call *c, indim_str text, const char **out) {
  indim_str copy;
  INDIM_TRY(indim_arena_str(&c->arena, text, &copy));
  *out = copy.data;
  return INDIM_OK;
}

static indim_status read_texts(indim_call *c, const indim_instr *instr) {
  const indim_attr *config = indim_instr_attr(instr, INDIM_ATTR_BACKEND_CONFIG);
  const indim_attr *metadata = indim_instr_attr(instr, INDIM_ATTR_METADATA);
  char place[200];
  snprintf(place, sizeof place, "%.150s (custom-call)", instr->name.data);
  INDIM_TRY(copy_text(c, indim_str_of(place), &c->place));
  INDIM_TRY(copy_text(c, instr->name, &c->call.instruction));
  INDIM_TRY(copy_text(c, target_of(instr), &c->call.target));
  INDIM_TRY(copy_text(c, metadata == NULL ? indim_str_of("") : metadata->value.text, &c->metadata));
  return indim_arena_str(&c->arena, config == NULL ? indim_str_of("") : config->value.text, &c->call.config);
}

static indim_status read_attrs(indim_call *c, const indim_instr *instr) {
  indim_str version = indim_instr_word(instr, INDIM_ATTR_API_VERSION);
  if (indim_word_equal(INDIM_ATTR_API_VERSION, version, "API_VERSION_TYPED_FFI")) {
    return indim_attrs_read(c->cx, instr, &c->arena, c->call.config, &c->call.attrs, &c->call.attr_count);
  }
  if (c->target.stages.execute == NULL) {
    return INDIM_OK;
  }
  bool stated = version.size > 0;
  return indim_fail_attr(c->cx, instr, INDIM_ATTR_API_VERSION,
                         "api_version= is %.*s, but the handler of '%s' is called by API_VERSION_TYPED_FFI",
                         stated ? (int)version.size : 7, stated ? version.data : "missing", c->call.target);
}

static indim_status instantiate(indim_call *c, const indim_instr *instr) {
  char message[INDIM_XLA_MESSAGE] = "";
  void *memory = NULL;
  int64_t count = 0;
  const indim_state_type *types = indim_registry_types(c->cx, &count);
  INDIM_TRY(indim_arena_array(&c->arena, (size_t)count, sizeof *types, &memory));
  if (count > 0) {
    memcpy(memory, types, (size_t)count * sizeof *types);
  }
  c->handler.row = &c->target;
  c->handler.context = (indim_xla_context){.allocator = &c->allocator,
                                           .types = memory,
                                           .type_count = count,
                                           .data = indim_registry_data(c->cx),
                                           .minor = c->target.minor};
  INDIM_TRY(indim_handler_attrs(&c->arena, c->call.attrs, c->call.attr_count, &c->handler.attrs));
  indim_status status = indim_handler_instantiate(&c->handler, message, sizeof message);
  return status == INDIM_OK
             ? status
             : indim_fail_instr(c->cx, status, instr, "custom-call '%s' failed: %s", c->call.target, message);
}

// The config's lines: the status, of which nothing is left here, the place, and the message.
static indim_status read_check(indim_call *c, const indim_instr *instr) {
  indim_str config = c->call.config;
  const char *place = memchr(config.data, '\n', config.size);
  const char *why = place == NULL ? NULL : memchr(place + 1, '\n', config.size - (size_t)(place + 1 - config.data));
  if (why == NULL || config.data[0] < '1' || config.data[0] > '9') {
    return indim_fail_instr(c->cx, INDIM_INVALID, instr,
                            "'%s' has no status, place and message in its backend_config=", c->call.target);
  }
  c->check_status = (indim_status)(config.data[0] - '0');
  return copy_text(c, (indim_str){place + 1, (size_t)(why - place) - 1}, &c->place);
}

static indim_status read_call(indim_call *c, const indim_instr *instr) {
  const indim_target_row *row = indim_registry_find(c->cx, target_of(instr));
  c->target = row == NULL ? (indim_target_row){.name = {"", 0}} : *row;
  INDIM_TRY(read_texts(c, instr));
  INDIM_TRY(read_arrays(c, instr));
  if (indim_call_kind_of(c->cx, instr) == INDIM_CALL_CHECK) {
    return read_check(c, instr);
  }
  if (row == NULL) {
    return INDIM_OK;
  }
  INDIM_TRY(read_attrs(c, instr));
  return c->target.function != NULL ? INDIM_OK : instantiate(c, instr);
}

indim_status indim_call_create(indim_ctx *cx, const indim_instr *instr, indim_call **out_call) {
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, sizeof(indim_call), &memory));
  indim_call *c = memory;
  c->cx = cx;
  c->allocator = cx->allocator;
  indim_arena_init(&c->arena, cx);
  indim_status status = read_call(c, instr);
  if (status != INDIM_OK) {
    indim_call_destroy(c);
    return status;
  }
  *out_call = c;
  return INDIM_OK;
}

void indim_call_destroy(indim_call *call) {
  if (call == NULL) {
    return;
  }
  indim_ctx *cx = call->cx;
  indim_handler_destroy(&call->handler);
  indim_arena_deinit(&call->arena);
  indim_free(cx, call, sizeof *call);
}

int64_t indim_call_result_count(const indim_call *call) { return call->result_count; }
int64_t indim_call_leaf_count(const indim_call *call) { return call->leaf_count; }
const indim_shape *indim_call_leaf(const indim_call *call, int64_t leaf) { return call->leaves[leaf].shape; }
bool indim_call_is_check(const indim_call *call) { return call->check_status != INDIM_OK; }
const char *indim_call_place(const indim_call *call) { return call->place; }

indim_status indim_calls_add(indim_ctx *cx, indim_calls *calls, indim_call *call) {
  if (calls->count == calls->capacity) {
    void *list = calls->list;
    size_t size = (size_t)calls->capacity * sizeof call;
    indim_status status = indim_resize(cx, &list, size, 2 * size + 8 * sizeof call);
    if (status != INDIM_OK) {
      indim_call_destroy(call);
      return status;
    }
    calls->list = list;
    calls->capacity = 2 * calls->capacity + 8;
  }
  calls->list[calls->count++] = call;
  return INDIM_OK;
}

void indim_calls_destroy(indim_ctx *cx, indim_calls *calls) {
  for (int32_t i = 0; i < calls->count; i++) {
    indim_call_destroy(calls->list[i]);
  }
  indim_free(cx, calls->list, (size_t)calls->capacity * sizeof *calls->list);
  *calls = (indim_calls){0};
}

// Running ------------------------------------------------------------------------------------------------------------

static indim_status refuse_callback(const indim_call *c, char *message, size_t size) {
  snprintf(message, size, "it is a callback of Python's, which is not there%s%.200s; register a function of that name",
           c->metadata[0] == '\0' ? "" : ", metadata=", c->metadata);
  return INDIM_UNSUPPORTED;
}

static indim_status run_target(const indim_call *c, const indim_custom_call *call, int64_t run_id) {
  if (c->target.function != NULL) {
    indim_status status = c->target.function(c->target.user, call);
    return status < INDIM_OK || status > INDIM_INTERNAL ? INDIM_INVALID : status;
  }
  return c->target.stages.execute == NULL ? refuse_callback(c, call->message, call->message_size)
                                          : indim_handler_run(&c->handler, call, run_id);
}

// The message with the numbers that the operands are.
static indim_status fail_check(const indim_call *c, const indim_custom_array *operands, int64_t count,
                               indim_call_run *run) {
  const char *at = strchr(strchr(c->call.config.data, '\n') + 1, '\n') + 1;
  size_t size = 0;
  for (int64_t i = 0; *at != '\0' && size + 24 < sizeof run->message; at++) {
    bool is_number = *at == '\1' && i < count && operands[i].bytes == sizeof(int64_t);
    int64_t number = 0;
    if (is_number) {
      memcpy(&number, operands[i++].data, sizeof number);
      size += (size_t)snprintf(run->message + size, sizeof run->message - size, "%" PRId64, number);
    } else {
      run->message[size++] = *at;
    }
  }
  run->message[size] = '\0';
  return c->check_status;
}

indim_status indim_call_execute(const indim_call *c, indim_call_run *run, void *const *arrays) {
  int64_t empty[2] = {0};  // where an array of no bytes is that has no address
  indim_custom_array leaves[INDIM_CUSTOM_MOST_ARRAYS];
  char why[sizeof run->message - 128] = "";
  indim_custom_call call = c->call;
  for (int64_t i = 0; i < c->leaf_count; i++) {
    leaves[i] = c->leaves[i];
    if (leaves[i].shape->type != INDIM_TOKEN) {
      leaves[i].data = *arrays != NULL ? *arrays : empty;
      arrays++;
    }
  }
  if (indim_call_is_check(c)) {
    return fail_check(c, leaves + c->result_count, c->leaf_count - c->result_count, run);
  }
  call.results = leaves;
  call.result_count = c->result_count;
  call.operands = leaves + c->result_count;
  call.operand_count = c->leaf_count - c->result_count;
  call.stop = run->stop;
  call.message = why;
  call.message_size = sizeof why;
  indim_status status = run_target(c, &call, run->run_id);
  why[sizeof why - 1] = '\0';
  run->message[0] = '\0';
  if (status != INDIM_OK) {
    snprintf(run->message, sizeof run->message, "custom-call '%.100s' failed: %s", c->call.target,
             why[0] == '\0' ? "it gives no reason" : why);
  }
  return status;
}

// For functions -------------------------------------------------------------------------------------------------------

indim_status indim_custom_call_fail(const indim_custom_call *call, indim_status status, const char *format, ...) {
  va_list arguments;
  if (call == NULL || call->message == NULL || call->message_size == 0) {
    return status;
  }
  va_start(arguments, format);
  if (vsnprintf(call->message, call->message_size, format, arguments) < 0) {
    call->message[0] = '\0';
  }
  va_end(arguments);
  return status;
}

const indim_custom_attr *indim_custom_call_attr(const indim_custom_call *call, const char *name) {
  for (int64_t i = 0; call != NULL && name != NULL && i < call->attr_count; i++) {
    if (indim_str_equal(call->attrs[i].name, indim_str_of(name))) {
      return &call->attrs[i];
    }
  }
  return NULL;
}
