// Which batches are computed with a matrix in each lane, and their blocks. Plain C over vectors of the compiler's, one instance
// for each element type and vector width (host/vector_instances.h), compiled with contraction.
#include "linalg/lanes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/ctx.h"
#include "host/transpose_square.h"

#if defined(__GNUC__)

enum {
  TILE = 4,          // sides of a tile of sums in registers
  LEAST_BYTES = 16,  // of a vector
  MOST_BYTES = 64,
  MOST_SIDE = 64,
  SCRATCH_BYTES = 1 << 20,
  MOST_AT_ONCE = 256  // matrices between two questions whether the run is to stop
};

// The attributes of any routine; 0 for those that it has not.
#define ATTRIBUTES(X) \
  X(compute_left)     \
  X(compute_right)    \
  X(diag)             \
  X(left)             \
  X(lower)            \
  X(mode)             \
  X(side)             \
  X(trans_x)          \
  X(transpose)        \
  X(uplo)

typedef struct indim_lanes_attrs {
#define X(name) int64_t name;
  ATTRIBUTES(X)
#undef X
} indim_lanes_attrs;

// What the bodies compute next.
typedef struct indim_lanes_block {
  const indim_linalg_call *call;
  indim_lanes_attrs attrs;  // found by their names once for all blocks
  int routine;
  void *const *arrays;
  int64_t first, count;  // matrices of the batch
} indim_lanes_block;

// Vectors between the columns of a matrix.
static inline int64_t indim_lanes_step(int64_t rows) { return rows | 1; }

static inline float sqrt_f32(float x) { return __builtin_sqrtf(x); }
static inline double sqrt_f64(double x) { return __builtin_sqrt(x); }
#define SQRT(x) _Generic((x), float : sqrt_f32, double : sqrt_f64)(x)

// Vectors of different widths can be joined and split in registers.
#if defined(__clang__) || __GNUC__ >= 12
#define CAN_JOIN
#endif

#define BODY "linalg/lanes_body.h"
#include "host/vector_instances.h"

static void run_f32(int32_t vector_bytes, indim_lanes_block *b, int64_t end, void *scratch) {
  DISPATCH(run, f32, b, end, scratch);
  run_f32_16(b, end, scratch);
}

static void run_f64(int32_t vector_bytes, indim_lanes_block *b, int64_t end, void *scratch) {
  DISPATCH(run, f64, b, end, scratch);
  run_f64_16(b, end, scratch);
}

enum { SD = 1, CZ = 2, SDCZ = SD | CZ };  // real, complex

typedef struct routine {
  int64_t (*vectors)(const indim_linalg_call *call);  // of scratch, of real matrices; NULL: it is not here
  int types;
  int64_t least[2][3];  // of real and complex matrices
} routine;

#define C indim_linalg_size(call, 'c')
#define K indim_linalg_size(call, 'k')
#define L(x) indim_lanes_step(x)
#define M indim_linalg_size(call, 'm')
#define N indim_linalg_size(call, 'n')
#define S indim_linalg_size(call, 's')
#define T indim_linalg_size(call, 't')
#define INDIM_LANES(routine, vectors, least, complex_least, types, computes) \
  static int64_t vectors_of_##routine(const indim_linalg_call *call) { return vectors; }
#include "linalg/lanes.def"
#undef C
#undef K
#undef L
#undef M
#undef N
#undef S
#undef T

#define LEAST(side_16, side_32, side_64) \
  { side_16, side_32, side_64 }
static const routine routines[INDIM_LINALG_COUNT] = {
#define INDIM_LANES(routine, vectors, least, complex_least, types, computes) \
  [INDIM_LINALG_##routine] = {vectors_of_##routine, types, {least, complex_least}},
#include "linalg/lanes.def"
};

// Of the numbers that an element has one or two of.
static indim_type part_of(const indim_linalg_call *call) {
  return indim_type_is_complex(call->type) ? indim_type_component_of(call->type) : call->type;
}

static int64_t vectors_of(const indim_linalg_call *call) {
  return routines[call->target->id].vectors(call) * (indim_type_is_complex(call->type) ? 2 : 1);
}

// The narrowest vectors that have a lane for each matrix, or the widest there are.
static int32_t vector_bytes_for(const indim_linalg_call *call, int64_t matrices) {
  int32_t bytes = LEAST_BYTES;
  while (bytes < MOST_BYTES && bytes < matrices * indim_type_bytes(part_of(call))) {
    bytes *= 2;
  }
  return bytes;
}

// The longest side of the operands; 0 if one is empty.
static int64_t side_of(const indim_linalg_call *call) {
  int64_t side = 0;
  for (int32_t i = 0; i < call->operand_count; i++) {
    for (int d = 0; d < 2; d++) {
      int64_t size = call->operands[i].sizes[d];
      if (size == 0) {
        return 0;
      }
      side = size > side ? size : side;
    }
  }
  return side;
}

bool indim_lanes_takes(const indim_linalg_call *call, int64_t matrices) {
  const routine *r = &routines[call->target->id];
  int64_t side = side_of(call);
  bool has_type = (part_of(call) == INDIM_F32 || part_of(call) == INDIM_F64) &&
                  (r->types & (indim_type_is_complex(call->type) ? CZ : SD)) != 0;
  if (!has_type || r->vectors == NULL || side == 0 || side > MOST_SIDE) {
    return false;
  }
  int64_t least = r->least[indim_type_is_complex(call->type)][side <= 16 ? 0 : side <= 32 ? 1 : 2];
  return matrices >= least && vectors_of(call) * vector_bytes_for(call, matrices) <= SCRATCH_BYTES;
}

indim_status indim_lanes_run(indim_ctx *cx, const indim_linalg_call *call, int64_t begin, int64_t end,
                             void *const *arrays) {
  int32_t vector_bytes = vector_bytes_for(call, call->batch);
  size_t bytes = (size_t)vectors_of(call) * (size_t)vector_bytes + MOST_BYTES;
  void *memory = NULL;
  INDIM_TRY(indim_alloc(cx, bytes, &memory));
  char *scratch = (char *)memory + (MOST_BYTES - (uintptr_t)memory % MOST_BYTES) % MOST_BYTES;
  indim_lanes_block block = {.call = call, .routine = (int)call->target->id, .arrays = arrays};
#define X(name) block.attrs.name = indim_linalg_attr(call, #name);
  ATTRIBUTES(X)
#undef X
  indim_status status = INDIM_OK;
  for (int64_t first = begin; first < end && status == INDIM_OK; first += MOST_AT_ONCE) {
    block.first = first;
    (part_of(call) == INDIM_F32 ? run_f32 : run_f64)(vector_bytes, &block,
                                                     end - first < MOST_AT_ONCE ? end : first + MOST_AT_ONCE, scratch);
    status = indim_poll(cx);
  }
  indim_free(cx, memory, bytes);
  return status;
}

#else  // another compiler, which has no vectors

bool indim_lanes_takes(const indim_linalg_call *call, int64_t matrices) {
  (void)call;
  (void)matrices;
  return false;
}

indim_status indim_lanes_run(indim_ctx *cx, const indim_linalg_call *call, int64_t begin, int64_t end,
                             void *const *arrays) {
  (void)arrays;
  return indim_fail(cx, INDIM_INTERNAL, "%s of matrices %lld to %lld has no lanes", call->target->routine,
                    (long long)begin, (long long)end);
}

#endif
