// Calling handlers of XLA's: the frame of a call, and the stages around it.
#ifndef INDIM_FFI_XLA_HANDLER_H
#define INDIM_FFI_XLA_HANDLER_H

#include "ffi/registry.h"
#include "ffi/xla_api.h"

// The handlers of a call site.
typedef struct indim_handler {
  const indim_target_row *row;
  indim_xla_attrs attrs;
  indim_xla_context context;  // of the instantiation; its state serves every call
} indim_handler;

// Asks each handler of |row| for the version of its interface, the least of which it notes in |row|.
INDIM_CHECKED indim_status indim_handler_ask(indim_ctx *cx, const char *name, indim_target_row *row);

// Attributes as a frame has them.
INDIM_CHECKED indim_status indim_handler_attrs(indim_arena *arena, const indim_custom_attr *attrs, int64_t count,
                                               indim_xla_attrs *out_attrs);
// The stage INSTANTIATE. On failure the reason is in |message|. Destroy in any case.
INDIM_CHECKED indim_status indim_handler_instantiate(indim_handler *handler, char *message, size_t message_size);
void indim_handler_destroy(indim_handler *handler);
// The other stages. On failure the reason is in the call's message.
INDIM_CHECKED indim_status indim_handler_run(const indim_handler *handler, const indim_custom_call *call,
                                             int64_t run_id);

#endif  // INDIM_FFI_XLA_HANDLER_H
