// The code generator's library.
#include "pipeline/generator.h"

#include "indim/compile.h"
#include "run/library.h"

#if defined(__APPLE__)
#define GENERATOR_NAME "libindim-llvm.dylib"
#define CROSS_GENERATOR_NAME "libindim-llvm-cross.dylib"
#else
#define GENERATOR_NAME "libindim-llvm.so"
#define CROSS_GENERATOR_NAME "libindim-llvm-cross.so"
#endif

indim_status indim_code_generator_open(indim_ctx *cx, bool is_cross, indim_code_generator *out) {
  const char *name = is_cross ? CROSS_GENERATOR_NAME : GENERATOR_NAME;
  const char *why = NULL;
  *out = (indim_code_generator){indim_library_open_ours(name, &why), NULL};
  if (out->library == NULL) {
    indim_fail(cx, INDIM_UNSUPPORTED, "compiling needs the library %s, which does not load: %s", name,
               why == NULL ? "no reason is given" : why);
    indim_hint(cx, "install the library beside libindim (and LLVM 19, if it was built without), or use --engine=eval");
    return INDIM_UNSUPPORTED;
  }
  out->functions = indim_library_object(out->library, "indim_emit_library");
  if (out->functions == NULL || out->functions->version != INDIM_EMIT_VERSION) {
    int version = out->functions == NULL ? 0 : (int)out->functions->version;
    indim_library_close(out->library);
    *out = (indim_code_generator){NULL, NULL};
    indim_fail(cx, INDIM_UNSUPPORTED, "%s is of version %d, this libindim needs version %d", name, version,
               INDIM_EMIT_VERSION);
    indim_hint(cx, "install the two from the same build");
    return INDIM_UNSUPPORTED;
  }
  return INDIM_OK;
}

indim_status indim_compile_available(indim_ctx *cx) {
  indim_code_generator g;
  INDIM_TRY(indim_code_generator_open(cx, false, &g));
  indim_library_close(g.library);
  return INDIM_OK;
}
