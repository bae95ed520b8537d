// The service: a batch is cut into pieces, each of which has a context of its own, because a context serves one thread.
#include "linalg/service.h"

#include "linalg/lanes.h"
#include "linalg/substitute.h"

bool indim_linalg_wants_library(const indim_host_lapack *numbers) {
  indim_linalg_call call = indim_linalg_from_host(numbers);
  return indim_lapack_wants(&call) && !indim_substitute_takes(&call);
}

// A matrix that the library does not take is computed by math/.
static indim_status run_large(indim_ctx *cx, indim_lapack_job *job, const indim_linalg_call *call, int64_t begin,
                              int64_t end, void *const *arrays) {
  for (int64_t number = begin; number < end; number++) {
    bool is_done = false;
    INDIM_TRY(indim_lapack_run(job, number, arrays, &is_done));
    if (!is_done) {
      INDIM_TRY(indim_linalg_run_some(cx, call, number, number + 1, arrays));
    }
    INDIM_TRY(indim_poll(cx));
  }
  return INDIM_OK;
}

static indim_status run_some(indim_ctx *cx, const indim_lapack *library, const indim_linalg_call *call, int64_t begin,
                             int64_t end, void *const *arrays) {
  if (indim_lanes_takes(call, call->batch)) {  // whatever a piece has: the same bits for any number of threads
    return indim_lanes_run(cx, call, begin, end, arrays);
  }
  if (indim_substitute_takes(call)) {
    enum { WIDEST = 64 };
    return indim_substitute_run(cx, WIDEST, call, begin, end, arrays);
  }
  indim_lapack_job *job = NULL;
  INDIM_TRY(indim_lapack_begin(cx, library, call, &job));
  indim_status status =
      job == NULL ? indim_linalg_run_some(cx, call, begin, end, arrays) : run_large(cx, job, call, begin, end, arrays);
  indim_lapack_end(job);
  return status;
}

// Pieces -------------------------------------------------------------------------------------------------------------

enum { MOST_PIECES = 64 };

typedef struct batch {
  const indim_host_lapack_run *run;
  const indim_linalg_call *call;
  void *const *arrays;
  int64_t grain;
  int32_t codes[MOST_PIECES];
} batch;

static bool is_stopped(void *user) {
  const volatile int32_t *stop = ((const batch *)user)->run->stop;
  return stop != NULL && *stop != 0;
}

static void run_piece(void *frame, int64_t begin, int64_t end) {
  batch *b = frame;
  indim_ctx *cx = NULL;
  indim_status status = indim_ctx_create(NULL, &cx);
  if (status == INDIM_OK) {
    indim_ctx_set_interrupt(cx, is_stopped, b);
    status = run_some(cx, b->run->library, b->call, begin, end, b->arrays);
    indim_ctx_destroy(cx);
  }
  b->codes[begin / b->grain] = status == INDIM_OK            ? INDIM_HOST_OK
                               : status == INDIM_INTERRUPTED ? INDIM_HOST_STOPPED
                                                             : INDIM_HOST_FAILED;
}

// Matrices of a piece: as many as are worth handing to another thread.
static int64_t grain_of(const indim_linalg_call *call) {
  double work = 1;
  for (int32_t i = 0; i < call->operand_count; i++) {
    const indim_linalg_array *a = &call->operands[i];
    double larger = (double)(a->sizes[0] > a->sizes[1] ? a->sizes[0] : a->sizes[1]);
    double all = larger * (double)a->sizes[0] * (double)a->sizes[1];
    work = all > work ? all : work;
  }
  static const double least_work = 2.5e5;  // multiplications
  int64_t together = work < least_work ? (int64_t)(least_work / work) : 1;
  int64_t share = call->batch / MOST_PIECES + 1;
  int64_t grain = together > share ? together : share;
  enum { LANES = 16 };  // whole vectors (lanes.h)
  return indim_lanes_takes(call, call->batch) ? (grain + LANES - 1) / LANES * LANES : grain;
}

int32_t indim_linalg_serve(const indim_host_lapack_run *run, const indim_host_lapack *numbers, void *const *arrays) {
  indim_linalg_call call = indim_linalg_from_host(numbers);
  batch b = {.run = run, .call = &call, .arrays = arrays, .grain = grain_of(&call)};
  if (run->parallel == NULL || call.batch <= b.grain) {
    run_piece(&b, 0, call.batch);
  } else {
    run->parallel(run->parallel_user, run_piece, &b, call.batch, b.grain);
  }
  for (int i = 0; i < MOST_PIECES; i++) {
    if (b.codes[i] != INDIM_HOST_OK) {
      return b.codes[i];
    }
  }
  return run->stop != NULL && *run->stop != 0 ? INDIM_HOST_STOPPED : INDIM_HOST_OK;
}
