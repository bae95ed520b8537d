// Plans of Fourier transforms (fft.h): how a length is computed and the twiddle factors for it. Plans are immutable,
// shared by all threads and kept in a cache of bounded size.
#ifndef INDIM_RUN_FFT_PLAN_H
#define INDIM_RUN_FFT_PLAN_H

#include "run/fft_kernels.h"

// Longest transform by lanes alone, whose buffer grows with lanes times length.
enum { INDIM_FFT_MOST_LANES_LENGTH = 16384 };

typedef enum indim_fft_method {
  INDIM_FFT_DIRECT,  // scalar passes
  // A matrix in two steps: transforms of its columns, twiddle factors, transforms of its rows (Bailey, "FFTs in external
  // or hierarchical memory", 1990). Each step has a batch, which vectors need, and short transforms, which caches hold.
  INDIM_FFT_STEPS,
  INDIM_FFT_DENSE,  // a product with the matrix of the transform, for small primes
  // A convolution with exp(pi i k^2 / length), by transforms of a longer, smooth length (Bluestein, 1970).
  INDIM_FFT_CHIRP
} indim_fft_method;

// One transform of contiguous complex numbers.
typedef struct indim_fft_row indim_fft_row;
struct indim_fft_row {
  int64_t length;
  indim_fft_method method;
  const indim_fft_kernels *kernels;
  indim_fft_lanes columns;     // DIRECT: the transform; STEPS: |rows.length| columns
  indim_fft_lanes rows;        // STEPS: |columns.length| rows
  const void *lane_twiddles;   // STEPS: see indim_fft_columns; for each group of columns if there are no others
  const void *group_twiddles;  // STEPS: columns.length for each group of columns, or NULL
  const void *matrix;          // DENSE: see indim_fft_kernels.dense
  const indim_fft_row *inner;  // CHIRP: the longer transform
  const void *chirp;           // CHIRP: |length|
  const void *chirp_spectrum;  // CHIRP: inner->length
};

typedef struct indim_fft_plan {
  bool is_f64;
  bool is_real;            // the plan is for real rows of |length|
  int64_t length;          // of the whole transform
  int32_t vector_bytes;    // at most
  int64_t complex_length;  // of the complex transform: |length|, or half of it for real rows of even length
  bool has_lanes;
  indim_fft_lanes lanes;  // if has_lanes: several transforms, one in each lane
  const indim_fft_row *row;
  const void *real_roots;  // is_real, even: exp(-2 pi i k / length) for k <= length / 4
} indim_fft_plan;

// The plan for rows of this length (at least 1), from the cache or new; NULL without memory.
const indim_fft_plan *indim_fft_plan_acquire(bool is_f64, bool is_real, int64_t length, int32_t vector_bytes);
void indim_fft_plan_release(const indim_fft_plan *plan);  // NULL allowed

// Frees all plans that nobody holds.
void indim_fft_plans_clear(void);
// Of all plans in the cache, and the bound that it keeps unless its plans are held.
int64_t indim_fft_plans_bytes(void);
enum { INDIM_FFT_MOST_CACHED_PLANS = 64, INDIM_FFT_MOST_CACHED_BYTES = 128 << 20 };

// Estimated time of the transforms in lanes, in some unit, for |count| of them; |transposed|: they are rows.
double indim_fft_lanes_time(const indim_fft_lanes *lanes, const indim_fft_kernels *kernels, bool is_f64, int64_t count,
                            bool transposed);
double indim_fft_row_time(const indim_fft_row *row, bool is_f64);

// Bytes of the scratch memory that one row needs: indim_fft_row_work for each thread, and a shared part.
int64_t indim_fft_row_shared(const indim_fft_row *row, bool is_f64);
int64_t indim_fft_row_work(const indim_fft_row *row, bool is_f64);

// Transforms one row; |in| may be |out|. False when |stop| was set. |scratch|: the shared part, then the work.
bool indim_fft_row_run(const indim_fft_row *row, bool is_f64, const void *in, void *out, double in_sign, double out_re,
                       double out_im, void *scratch, const volatile int32_t *stop);
// The two steps of STEPS apart, for groups [begin, end) of columns, of rows. The second follows all of the first.
int64_t indim_fft_column_groups(const indim_fft_row *row);
int64_t indim_fft_row_groups(const indim_fft_row *row);
bool indim_fft_first_step(const indim_fft_row *row, bool is_f64, const void *in, void *shared, double in_sign,
                          int64_t begin, int64_t end, void *work, const volatile int32_t *stop);
bool indim_fft_second_step(const indim_fft_row *row, bool is_f64, const void *shared, void *out, double out_re,
                           double out_im, int64_t begin, int64_t end, void *work, const volatile int32_t *stop);

static inline int64_t indim_fft_complex_bytes(bool is_f64) { return is_f64 ? 16 : 8; }
static inline int64_t indim_fft_line_up(int64_t bytes) { return (bytes + 63) / 64 * 64; }

#endif  // INDIM_RUN_FFT_PLAN_H
