// What the stages of a compilation share.
#include "pipeline/compilation.h"

indim_emit_options indim_compilation_emit_options(indim_compilation *c) {
  unsigned fast = c->options->fast;
  unsigned flags = 0;
  flags |= (fast & INDIM_COMPILE_CONTRACT) != 0 ? (unsigned)INDIM_FAST_CONTRACT : 0;
  flags |= (fast & INDIM_COMPILE_REASSOCIATE) != 0 ? (unsigned)INDIM_FAST_REASSOCIATE : 0;
  flags |= (fast & INDIM_COMPILE_RECIPROCAL) != 0 ? (unsigned)INDIM_FAST_RECIPROCAL : 0;
  flags |= (fast & INDIM_COMPILE_FLUSH) != 0 ? (unsigned)INDIM_FAST_FLUSH : 0;
  bool has_pool = c->options->parallel == NULL && indim_pool_threads(c->options->pool) > 1;
  return (indim_emit_options){.fast = flags,
                              .symbol = c->symbol,
                              .is_cross = c->missing[0] != '\0' || c->symbol != NULL,
                              .leaves_signals = c->options->leaves_signals,
                              .parallel = has_pool ? indim_pool_run : c->options->parallel,
                              .parallel_user = has_pool ? c->options->pool : c->options->parallel_user,
                              .crash_from = c->options->crash_from,
                              .chunk = c->options->chunk,
                              .out_llvm = c->options->out_llvm,
                              .out_asm = c->options->out_asm,
                              .out_object = c->options->out_object,
                              .out_lines = c->options->out_report == NULL ? NULL : &c->lines};
}
