// Parallel loops whose pieces take subnormal numbers as zeros, whichever thread runs them.
#ifndef INDIM_RUN_FLUSHING_H
#define INDIM_RUN_FLUSHING_H

#include "base/float_mode.h"
#include "indim/execute.h"

// Who runs the loops.
typedef struct indim_flushing {
  indim_parallel_fn *parallel;
  void *user;
  bool only_results;  // those given are what they are
} indim_flushing;

typedef struct indim_flushing_loop {
  void (*piece)(void *frame, int64_t begin, int64_t end);
  void *frame;
  bool only_results;
} indim_flushing_loop;

static inline void indim_flushing_run_piece(void *user, int64_t begin, int64_t end) {
  const indim_flushing_loop *loop = user;
  indim_float_mode before = loop->only_results ? indim_float_mode_flush_results() : indim_float_mode_flush();
  loop->piece(loop->frame, begin, end);
  indim_float_mode_restore(before);
}

// An indim_parallel_fn; |user| is an indim_flushing.
static inline void indim_flushing_run(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame,
                                      int64_t count, int64_t grain) {
  const indim_flushing *f = user;
  indim_flushing_loop loop = {piece, frame, f->only_results};
  f->parallel(f->user, indim_flushing_run_piece, &loop, count, grain);
}

#endif  // INDIM_RUN_FLUSHING_H
