// The one symbol that the code generator's library exports.
#include "emit/object.h"
#include "emit/program/program.h"

// The object has its type's name, which C allows only with an asm label.
#define LABEL_TEXT_OF(x) #x
#define LABEL_TEXT(x) LABEL_TEXT_OF(x)
INDIM_API extern const indim_emit_library library_table __asm__(LABEL_TEXT(__USER_LABEL_PREFIX__) "indim_emit_library");

const indim_emit_library library_table = {
    .version = INDIM_EMIT_VERSION,
    .host = indim_host_target,
    .makes = indim_machine_is_there,
    .compile = indim_jit_compile,
    .find_culprit = indim_object_find_culprit,
    .function = indim_jit_function,
    .code_bytes = indim_jit_code_bytes,
    .destroy = indim_jit_destroy,
};
