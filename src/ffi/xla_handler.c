// A frame is made on the stack for each call; what does not change from call to call, the attributes, is made once.
#include "ffi/xla_handler.h"

#include <stdio.h>

// Attributes ---------------------------------------------------------------------------------------------------------

static indim_status new_block(indim_arena *arena, const void **out_block, size_t size, void **out) {
  INDIM_TRY(indim_arena_alloc(arena, size, out));
  *out_block = *out;
  return INDIM_OK;
}

// Depth is that of the attributes, which is limited.
static indim_status make_value(indim_arena *arena, const indim_custom_attr *attr, int32_t *out_kind,
                               const void **out_value) {
  void *memory = NULL;
  switch (attr->kind) {
  case INDIM_CUSTOM_SCALAR:
    *out_kind = INDIM_XLA_SCALAR;
    INDIM_TRY(new_block(arena, out_value, sizeof(indim_xla_scalar), &memory));
    *(indim_xla_scalar *)memory = (indim_xla_scalar){(int32_t)attr->type, attr->data};
    return INDIM_OK;
  case INDIM_CUSTOM_ARRAY:
    *out_kind = INDIM_XLA_ARRAY;
    INDIM_TRY(new_block(arena, out_value, sizeof(indim_xla_array), &memory));
    *(indim_xla_array *)memory = (indim_xla_array){(int32_t)attr->type, (size_t)attr->count, attr->data};
    return INDIM_OK;
  case INDIM_CUSTOM_STRING:
    *out_kind = INDIM_XLA_STRING;
    INDIM_TRY(new_block(arena, out_value, sizeof(indim_xla_span), &memory));
    *(indim_xla_span *)memory = (indim_xla_span){attr->data, (size_t)attr->count};
    return INDIM_OK;
  case INDIM_CUSTOM_DICTIONARY:
    *out_kind = INDIM_XLA_DICTIONARY;
    INDIM_TRY(new_block(arena, out_value, sizeof(indim_xla_attrs), &memory));
    return indim_handler_attrs(arena, attr->entries, attr->count, memory);
  }
  return INDIM_INTERNAL;
}

indim_status indim_handler_attrs(indim_arena *arena, const indim_custom_attr *attrs, int64_t count,
                                 indim_xla_attrs *out_attrs) {
  void *memory[4] = {NULL};
  static const size_t sizes[4] = {sizeof(int32_t), sizeof(indim_xla_span), sizeof(void *), sizeof(void *)};
  for (int i = 0; i < 4; i++) {
    INDIM_TRY(indim_arena_array(arena, (size_t)count, sizes[i], &memory[i]));
  }
  int32_t *kinds = memory[0];
  indim_xla_span *spans = memory[1];
  const indim_xla_span **names = memory[2];
  const void **values = memory[3];
  for (int64_t i = 0; i < count; i++) {
    spans[i] = (indim_xla_span){attrs[i].name.data, attrs[i].name.size};
    names[i] = &spans[i];
    INDIM_TRY(make_value(arena, &attrs[i], &kinds[i], &values[i]));
  }
  *out_attrs = (indim_xla_attrs){.struct_size = INDIM_XLA_SIZE(indim_xla_attrs, values),
                                 .count = count,
                                 .kinds = kinds,
                                 .names = names,
                                 .values = values};
  return INDIM_OK;
}

// Frames -------------------------------------------------------------------------------------------------------------

static struct XLA_FFI_CallFrame new_frame(indim_xla_context *context, indim_xla_stage stage) {
  const indim_xla_arrays none = {.struct_size = INDIM_XLA_SIZE(indim_xla_arrays, arrays)};
  return (struct XLA_FFI_CallFrame){.struct_size = INDIM_XLA_SIZE(struct XLA_FFI_CallFrame, attrs),
                                    .api = indim_xla_api_get(),
                                    .context = context,
                                    .stage = (int32_t)stage,
                                    .operands = none,
                                    .results = none,
                                    .attrs = {.struct_size = INDIM_XLA_SIZE(indim_xla_attrs, values)}};
}

// Calls a handler and waits for what it has left to be computed: its error, or NULL.
static indim_xla_error *call(indim_ffi_handler *handler, struct XLA_FFI_CallFrame *frame) {
  frame->future = NULL;
  indim_xla_error *error = handler(frame);
  indim_xla_error *later = frame->future == NULL ? NULL : indim_xla_future_wait(frame->future);
  if (error == NULL) {
    return later;
  }
  indim_xla_error_free(later);
  return error;
}

// The status that is nearest to XLA's code.
static indim_status status_of(const indim_xla_error *error) {
  switch (error->code) {
  case INDIM_XLA_CANCELLED:
    return INDIM_INTERRUPTED;
  case INDIM_XLA_RESOURCE_EXHAUSTED:
    return INDIM_NO_MEMORY;
  case INDIM_XLA_UNIMPLEMENTED:
    return INDIM_UNSUPPORTED;
  default:
    return INDIM_INVALID;
  }
}

static const char *code_text(int32_t code) {
  static const char *const texts[INDIM_XLA_LAST_CODE + 1] = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  return code < 0 || code > INDIM_XLA_LAST_CODE ? "an unknown code" : texts[code];
}

// Takes the error over.
static indim_status finish(indim_xla_error *error, char *message, size_t message_size) {
  if (error == NULL) {
    return INDIM_OK;
  }
  indim_status status = status_of(error);
  if (message_size > 0) {
    snprintf(message, message_size, "%s: %s", code_text(error->code), indim_xla_error_text(error));
  }
  indim_xla_error_free(error);
  return status;
}

// Versions -----------------------------------------------------------------------------------------------------------

static indim_status ask(indim_ctx *cx, const char *name, indim_ffi_handler *handler, indim_xla_stage stage,
                        int32_t *minor) {
  indim_xla_metadata metadata = {.struct_size = INDIM_XLA_SIZE(indim_xla_metadata, traits),
                                 .version = {.struct_size = INDIM_XLA_SIZE(indim_xla_version, minor)}};
  indim_xla_metadata_extension extension = {.metadata = &metadata};
  extension.base.struct_size = INDIM_XLA_SIZE(indim_xla_metadata_extension, metadata);
  extension.base.kind = INDIM_XLA_METADATA;
  struct XLA_FFI_CallFrame frame = new_frame(NULL, stage);
  char message[INDIM_XLA_MESSAGE];
  if (handler == NULL) {
    return INDIM_OK;
  }
  frame.extensions = &extension.base;
  indim_status status = finish(call(handler, &frame), message, sizeof message);
  if (status != INDIM_OK) {
    return indim_fail(cx, status, "the handler of %s does not tell its version: %s", name, message);
  }
  if (metadata.version.major != INDIM_XLA_MAJOR || metadata.version.minor < INDIM_XLA_LEAST_MINOR ||
      metadata.version.minor > INDIM_XLA_MINOR) {
    return indim_fail(cx, INDIM_UNSUPPORTED,
                      "the handler of %s is built for version %d.%d of XLA's interface, known are %d.%d to %d.%d", name,
                      (int)metadata.version.major, (int)metadata.version.minor, INDIM_XLA_MAJOR, INDIM_XLA_LEAST_MINOR,
                      INDIM_XLA_MAJOR, INDIM_XLA_MINOR);
  }
  *minor = metadata.version.minor < *minor ? metadata.version.minor : *minor;
  return INDIM_OK;
}

indim_status indim_handler_ask(indim_ctx *cx, const char *name, indim_target_row *row) {
  row->minor = INDIM_XLA_MINOR;
  INDIM_TRY(ask(cx, name, row->stages.instantiate, INDIM_XLA_INSTANTIATE, &row->minor));
  INDIM_TRY(ask(cx, name, row->stages.prepare, INDIM_XLA_PREPARE, &row->minor));
  INDIM_TRY(ask(cx, name, row->stages.initialize, INDIM_XLA_INITIALIZE, &row->minor));
  return ask(cx, name, row->stages.execute, INDIM_XLA_EXECUTE, &row->minor);
}

// Stages -------------------------------------------------------------------------------------------------------------

indim_status indim_handler_instantiate(indim_handler *handler, char *message, size_t message_size) {
  struct XLA_FFI_CallFrame frame = new_frame(&handler->context, INDIM_XLA_INSTANTIATE);
  if (handler->row->stages.instantiate == NULL) {
    return INDIM_OK;
  }
  frame.attrs = handler->attrs;
  indim_xla_error *error = call(handler->row->stages.instantiate, &frame);
  indim_xla_blocks_free(&handler->context);
  return finish(error, message, message_size);
}

void indim_handler_destroy(indim_handler *handler) {
  indim_xla_kept_destroy(&handler->context, &handler->context.kept[INDIM_XLA_INSTANTIATE]);
}

// Room for the operands and results of a call.
typedef struct call_arrays {
  int32_t kinds[INDIM_CUSTOM_MOST_ARRAYS];
  indim_xla_buffer buffers[INDIM_CUSTOM_MOST_ARRAYS];
  void *pointers[INDIM_CUSTOM_MOST_ARRAYS];
  int64_t count;
} call_arrays;

static void add_arrays(call_arrays *a, const indim_custom_array *arrays, int64_t count, indim_xla_arrays *out) {
  out->count = count;
  out->kinds = &a->kinds[a->count];
  out->arrays = &a->pointers[a->count];
  for (int64_t i = 0; i < count; i++, a->count++) {
    const indim_shape *shape = arrays[i].shape;
    a->kinds[a->count] = INDIM_XLA_BUFFER;
    a->pointers[a->count] = &a->buffers[a->count];
    a->buffers[a->count] = (indim_xla_buffer){.struct_size = INDIM_XLA_SIZE(indim_xla_buffer, sizes),
                                              .type = (int32_t)shape->type,
                                              .data = arrays[i].data,
                                              .rank = shape->rank,
                                              .sizes = shape->sizes};
  }
}

indim_status indim_handler_run(const indim_handler *handler, const indim_custom_call *custom, int64_t run_id) {
  const indim_ffi_stages *stages = &handler->row->stages;
  indim_ffi_handler *const handlers[] = {NULL, stages->prepare, stages->initialize, stages->execute};
  call_arrays arrays;
  indim_xla_error *error = NULL;
  indim_xla_context context = handler->context;
  struct XLA_FFI_CallFrame frame = new_frame(&context, INDIM_XLA_EXECUTE);
  context.run_id = run_id;
  arrays.count = 0;
  add_arrays(&arrays, custom->operands, custom->operand_count, &frame.operands);
  add_arrays(&arrays, custom->results, custom->result_count, &frame.results);
  frame.attrs = handler->attrs;
  for (int32_t stage = INDIM_XLA_PREPARE; error == NULL && stage <= INDIM_XLA_EXECUTE; stage++) {
    frame.stage = stage;
    error = handlers[stage] == NULL ? NULL : call(handlers[stage], &frame);
  }
  if (handler->context.kept[INDIM_XLA_INSTANTIATE].type == 0) {  // left by a later stage, for this call alone
    indim_xla_kept_destroy(&context, &context.kept[INDIM_XLA_INSTANTIATE]);
  }
  indim_xla_kept_destroy(&context, &context.kept[INDIM_XLA_PREPARE]);
  indim_xla_kept_destroy(&context, &context.kept[INDIM_XLA_INITIALIZE]);
  indim_xla_blocks_free(&context);
  return finish(error, custom->message, custom->message_size);
}
