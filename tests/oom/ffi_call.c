// Every allocation of registering functions and running their calls failed in turn, in both engines: the outcome is NO_MEMORY
// or success, and nothing is left, states of handlers included.
#include <stdio.h>

#include "allocator_test.h"
#include "ffi/xla_ffi.h"
#include "indim/compile.h"
#include "indim/custom_call.h"
#include "indim/eval.h"
#include "indim/text.h"
#include "test.h"

static const char text[] =
    "ENTRY e { x = f32[2,3] parameter(0)\n"
    "  a = (f32[3,2]{0,1}, token[]) custom-call(x), custom_call_target=\"plain\", "
    "operand_layout_constraints={f32[2,3]{0,1}}\n"
    "  t = f32[3,2] get-tuple-element(a), index=0\n"
    "  ROOT y = f32[3,2] custom-call(t), custom_call_target=\"handler\", api_version=API_VERSION_TYPED_FFI,\n"
    "    backend_config={n = 3 : i64, s = \"text\", d = {a = array<i32: 1, 2>}, v = dense<[1.5, 2.5]> : tensor<2xf32>} "
    "}";

static indim_status plain(void *user, const indim_custom_call *call) {
  (void)user;
  memcpy(call->results[0].data, call->operands[0].data, (size_t)call->operands[0].bytes);
  return INDIM_OK;
}

static int64_t type_id;
static int states;

static void delete_state(void *state) {
  (void)state;
  states--;
}

static bool tells_version(struct XLA_FFI_CallFrame *frame) {
  if (frame->extensions == NULL) {
    return false;
  }
  indim_xla_metadata *metadata = ((indim_xla_metadata_extension *)(void *)frame->extensions)->metadata;
  metadata->version.major = INDIM_XLA_MAJOR;
  metadata->version.minor = INDIM_XLA_MINOR;
  return true;
}

static struct XLA_FFI_Error *instantiate(struct XLA_FFI_CallFrame *frame) {
  static int state;
  if (tells_version(frame)) {
    return NULL;
  }
  indim_xla_state set = {sizeof set, NULL, frame->context, frame->stage, &type_id, &state};
  indim_xla_error *error = frame->api->state_set(&set);
  states += error == NULL;
  return error;
}

static struct XLA_FFI_Error *handler(struct XLA_FFI_CallFrame *frame) {
  if (tells_version(frame)) {
    return NULL;
  }
  indim_xla_allocate memory = {sizeof memory, NULL, frame->context, 100, 64, NULL};
  const indim_xla_buffer *x = frame->operands.arrays[0];
  const indim_xla_buffer *y = frame->results.arrays[0];
  memcpy(y->data, x->data, 24);
  return frame->api->memory_allocate(&memory);
}

static indim_status run(indim_ctx *cx, bool compiled) {
  indim_module *module = NULL;
  indim_literal *in = NULL;
  indim_literal *out = NULL;
  indim_executable *executable = NULL;
  indim_ffi_stages stages = {.instantiate = instantiate, .execute = handler};
  indim_status status = indim_register_custom_call(cx, "plain", plain, NULL);
  status = status == INDIM_OK ? indim_register_ffi_type(cx, "state", &type_id, delete_state) : status;
  status = status == INDIM_OK ? indim_register_ffi_stages(cx, "handler", &stages) : status;
  status = status == INDIM_OK ? indim_module_parse(cx, indim_str_of("p"), indim_str_of(text), &module) : status;
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  status = status == INDIM_OK ? indim_literal_parse(cx, indim_str_of("f32[2,3] {{1,2,3},{4,5,6}}"), &in) : status;
  const indim_literal *arguments[] = {in};
  if (status == INDIM_OK && compiled) {
    status = indim_compile(cx, module, NULL, &executable);
    status = status == INDIM_OK ? indim_execute_literals(cx, executable, arguments, 1, NULL, &out) : status;
  } else if (status == INDIM_OK) {
    status = indim_eval(cx, module, arguments, 1, NULL, &out);
  }
  CHECK((out != NULL) == (status == INDIM_OK));
  indim_literal_destroy(out);
  indim_literal_destroy(in);
  indim_executable_destroy(executable);
  indim_module_destroy(module);
  return status;
}

// Returns whether an allocation failed.
static bool run_failing(int64_t fail_at, bool fail_on, bool compiled) {
  test_allocator state = {.fail_at = fail_at, .fail_on = fail_on};
  indim_allocator allocator = {test_resize, &state};
  indim_ctx *cx = NULL;
  indim_status status = indim_ctx_create(&allocator, &cx);
  if (status == INDIM_OK) {
    status = run(cx, compiled);
    const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
    bool is_fine = status == INDIM_OK || (state.failed && (status == INDIM_NO_MEMORY || status == INDIM_UNSUPPORTED));
    CHECK_MSG(is_fine, "allocation %d: %s, %s", (int)fail_at, indim_status_name(status), d == NULL ? "" : d->message);
  }
  indim_ctx_destroy(cx);
  CHECK_EQ_INT(state.blocks, 0);
  CHECK_EQ_INT(states, 0);
  return state.failed;
}

static void run_all(bool compiled) {
  for (int fail_on = 0; fail_on < 2; fail_on++) {
    for (int64_t fail_at = 1; run_failing(fail_at, fail_on != 0, compiled); fail_at++) {
    }
  }
}

TEST(evaluated) { run_all(false); }
TEST(compiled) { run_all(true); }

#define CASES(X) \
  X(evaluated)   \
  X(compiled)
TEST_MAIN(CASES)
