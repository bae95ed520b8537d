// The interface between compiled code and the host. Compiled code is one function
//
//   int32_t fn(const void *const *arguments, void *const *results, void *scratch, const indim_host *host)
//
// that returns 0, or another number when it stopped early: its results are then undefined. |arguments| and |results|
// are the leaves' buffers in the layouts that the program states; |scratch| is aligned to 64 bytes. Compiled code calls
// nothing outside itself but this table, and of the C library memcpy, memmove, memset, fmod and fmodf.
//
// This header includes nothing of Indim and needs no libindim: programs that link an object of `indim compile` include it
// where they have a host of their own. A NULL host is one thread, never stopped, without services; so is each entry of a host
// that is NULL:
//
//   static volatile int32_t stop;  // set by another thread, or by a handler of a signal
//   const indim_host host = {.stop = &stop, .parallel = my_threads};
//   int32_t outcome = model_run(&arguments, &results, scratch, &host);
#ifndef INDIM_INDIM_HOST_H
#define INDIM_INDIM_HOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct indim_host indim_host;

// A piece of a parallel loop: iterations begin to end (in units of the loop's step); |frame| is the body's closure.
typedef void indim_host_piece(void *frame, int64_t begin, int64_t end);

// Element types of products, transforms, convolutions and keys, numbered as all of them are in indim/type.h.
enum {
  INDIM_HOST_PRED = 1,
  INDIM_HOST_S8 = 2,
  INDIM_HOST_S16 = 3,
  INDIM_HOST_S32 = 4,
  INDIM_HOST_S64 = 5,
  INDIM_HOST_U8 = 6,
  INDIM_HOST_U16 = 7,
  INDIM_HOST_U32 = 8,
  INDIM_HOST_U64 = 9,
  INDIM_HOST_F16 = 10,
  INDIM_HOST_F32 = 11,
  INDIM_HOST_F64 = 12,
  INDIM_HOST_BF16 = 16
};

// Arrays out, lhs, rhs: out[b, m, n] (+)= sum over k of lhs[b, m, k] * rhs[b, k, n]; strides in elements.
typedef struct indim_host_matmul {
  int64_t type;  // of the elements of out, and of the sums: INDIM_HOST_F32 or INDIM_HOST_F64, or S32, modulo 2^32
  int64_t batch, m, n, k;
  int64_t lhs_batch, lhs_m, lhs_k;  // strides; one of lhs_m, lhs_k is 1, likewise below
  int64_t rhs_batch, rhs_k, rhs_n;
  int64_t out_batch, out_m;  // out_n is 1
  int64_t accumulate;        // 1: added to what out holds
  int64_t single_thread;     // 1: called by one piece of a parallel loop; the calling thread computes all of it
  // Of the operands' elements; 0: |type|. F32 is summed of BF16, too, and S32 of S8, U8 and S16, each of the two another if so.
  int64_t lhs_type, rhs_type;
  int64_t
      is_symmetric;  // 1: rhs is the transpose of lhs, in the same array: the upper half of each product need not be computed
} indim_host_matmul;

// The kinds of fft, XLA's.
enum { INDIM_HOST_FFT_FFT = 0, INDIM_HOST_FFT_IFFT = 1, INDIM_HOST_FFT_RFFT = 2, INDIM_HOST_FFT_IRFFT = 3 };

// Arrays out, in, dense in row-major order: out[b, k] = sum over j of in[b, j] * exp(-2 pi i j k / length), along each of the
// last |rank| dimensions. IFFT and IRFFT have the other sign and divide by the lengths. RFFT takes reals and gives
// lengths[rank - 1] / 2 + 1 results in the last dimension, which determine the others; IRFFT takes those.
typedef struct indim_host_fft {
  int64_t kind;
  int64_t type;  // of the parts: INDIM_HOST_F32 or INDIM_HOST_F64
  int64_t batch;
  int64_t rank;           // 1 to 3
  int64_t lengths[3];     // outermost first
  int64_t single_thread;  // 1: called by one piece of a parallel loop; the calling thread computes all of it
} indim_host_fft;

enum { INDIM_HOST_LAPACK_ARRAYS = 12, INDIM_HOST_LAPACK_SIZES = 26, INDIM_HOST_LAPACK_ATTRS = 4 };

// One array of each matrix of a batch: |rows| x |columns| elements, row by row, or column by column if |by_columns|.
typedef struct indim_host_lapack_array {
  int64_t type;  // an indim_type
  int64_t is_batched;
  int64_t by_columns;
  int64_t rows, columns;
} indim_host_lapack_array;

// Linear algebra on a batch of matrices. Arrays: the results, then the operands, dense, the batch first. |routine|, |sizes|
// and |attrs| are those of linalg/linalg.def.
typedef struct indim_host_lapack {
  int64_t routine;  // an indim_linalg_id
  int64_t type;     // an indim_type, a float or complex
  int64_t batch;
  int64_t result_count, operand_count;
  indim_host_lapack_array arrays[INDIM_HOST_LAPACK_ARRAYS];
  int64_t sizes[INDIM_HOST_LAPACK_SIZES];
  int64_t attrs[INDIM_HOST_LAPACK_ATTRS];
} indim_host_lapack;

// A call of a function of the caller's. Arrays: the results, then the operands, those without elements left out, each dense
// in the layout that the call states.
typedef struct indim_host_custom_call {
  int64_t number;   // among the program's calls
  int64_t present;  // bit i: leaf i of the results and operands (the first 64, without tokens) is among the arrays
} indim_host_custom_call;

// One spatial dimension of a convolution: place o of the output, |out| of them, and tap t of the filter, |taps| of them, meet
// at i = (o * stride + t * dilation - pad) / base_dilation of the image, which has |in| places; where the division leaves a
// rest or i is not in the image they meet nothing. |pad| may be negative. Strides in elements, the filter's may be negative.
typedef struct indim_host_convolution_dim {
  int64_t out, in, taps;
  int64_t stride, dilation, base_dilation, pad;
  int64_t out_stride, image_stride, filter_stride;
} indim_host_convolution_dim;

// Arrays out, image, filter: out[g, b, o..., c] = sum over t..., f of image[g, b, i..., f] * filter[g, t..., f, c].
typedef struct indim_host_convolution {
  int64_t type;  // of the elements of out, and of the sums: INDIM_HOST_F32 or INDIM_HOST_F64, or S32, modulo 2^32
  int64_t groups, batch, features, outputs;      // features and outputs of one group
  int64_t out_group, image_group, filter_group;  // strides; those of outputs in out and filter are 1
  int64_t out_batch, image_batch;
  int64_t image_feature, filter_feature;
  indim_host_convolution_dim
      dims[3];            // those that the convolution does not have are 1 everywhere, without padding and strides
  int64_t single_thread;  // 1: called by one piece of a parallel loop; the calling thread computes all of it
  // Of the operands' elements; 0: |type|. F32 is summed of BF16, too, and S32 of S8, U8 and S16, each of the two another if so.
  int64_t image_type, filter_type;
} indim_host_convolution;

// What a host has for this service: |stop|, |parallel| as below, and a library of such routines; each may be NULL.
typedef struct indim_host_lapack_run {
  const volatile int32_t *stop;
  void (*parallel)(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain);
  void *parallel_user;
  const void *library;  // an indim_lapack
} indim_host_lapack_run;

// The time is taken where a step of a program begins or ends, which is compiled so (indim_compile_options.profile). No arrays.
typedef struct indim_host_clock {
  int64_t step;
  int64_t is_end;  // 1: behind the step
} indim_host_clock;

enum { INDIM_HOST_SORT_KEYS = 4, INDIM_HOST_SORT_COLUMNS = 8 };

// Sorts lines by keys: the smallest comes first, of equal ones the first. Floats are in their total order, from -NaN to NaN with
// -0 before 0. Arrays, each dense: the results, [outer, kept, inner] elements of each column; working memory of 64-bit words; the
// keys, [outer, size, inner] of each, the first one deciding first; and the columns themselves, but for those that are indices.
typedef struct indim_host_sort {
  int64_t outer, size, inner;  // outer * inner lines
  int64_t kept;                // so many elements of each line are results
  int64_t key_count;
  int64_t key_types[INDIM_HOST_SORT_KEYS];  // each one of those above
  int64_t descending;                       // bit k: key k, the largest comes first
  int64_t column_count;
  int64_t column_bytes
      [INDIM_HOST_SORT_COLUMNS];  // of an element; 0: not an array, but the index within the line, an int32_t
} indim_host_sort;

enum { INDIM_HOST_OK = 0, INDIM_HOST_STOPPED = 1, INDIM_HOST_FAILED = 2 };

struct indim_host {
  void *user;
  // Set to nonzero, by any thread, to cancel: loops that may run for long then end, and the function returns
  // INDIM_HOST_STOPPED.
  const volatile int32_t *stop;
  // Runs piece(frame, b, e) over [0, count) in chunks of |grain| (the last may be shorter), in any order, on any
  // threads, and returns when all are done. The chunks do not depend on the number of threads; one thread alone may
  // merge them.
  void (*parallel)(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain);
  // The services; NULL: there is none, and a program that asks for it returns INDIM_HOST_FAILED. Each returns 0,
  // INDIM_HOST_STOPPED, or another number when it failed. It is given |user|, its numbers, and its arrays, of which the
  // first are written: of a product, a transform and a convolution one, of a sort the working memory too, else as many as
  // there are results.
  int32_t (*matmul)(void *user, const indim_host_matmul *numbers, void *const *arrays);
  int32_t (*fft)(void *user, const indim_host_fft *numbers, void *const *arrays);
  int32_t (*lapack)(void *user, const indim_host_lapack *numbers, void *const *arrays);
  int32_t (*custom_call)(void *user, const indim_host_custom_call *numbers, void *const *arrays);
  int32_t (*clock)(void *user, const indim_host_clock *numbers, void *const *arrays);
  int32_t (*convolution)(void *user, const indim_host_convolution *numbers, void *const *arrays);
  int32_t (*sort)(void *user, const indim_host_sort *numbers, void *const *arrays);
};

typedef int32_t indim_compiled_fn(const void *const *arguments, void *const *results, void *scratch,
                                  const indim_host *host);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_INDIM_HOST_H
