// Includes BODY once for each element type and width of vectors, with what bodies expect:
//
//   REAL          the element type
//   VECTOR_BYTES  16, and on x86-64 32 and 64
//   NAME(x)       the name of x in this instance: x_f32_16, ...
//   TARGET        attributes of the functions
//
// and defines supported_bytes(most): the bytes of the widest vectors of at most |most| that the processor has, and
// DISPATCH(function, type, ...): calls the instance of the widest vectors of at most |vector_bytes| that the processor has, and
// returns; where none but those of 16 bytes is left, it does nothing.
#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)

#define VECTOR_BYTES 16
#define TARGET
#define REAL float
#define NAME(x) PASTE(x, f32_16)
#include BODY
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) PASTE(x, f64_16)
#include BODY
#undef REAL
#undef NAME
#undef TARGET
#undef VECTOR_BYTES

#if defined(__x86_64__)
#define VECTOR_BYTES 32
#define TARGET __attribute__((target("avx2,fma")))
#define REAL float
#define NAME(x) PASTE(x, f32_32)
#include BODY
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) PASTE(x, f64_32)
#include BODY
#undef REAL
#undef NAME
#undef TARGET
#undef VECTOR_BYTES

#define VECTOR_BYTES 64
#define TARGET __attribute__((target("avx512f,avx2,fma")))
#define REAL float
#define NAME(x) PASTE(x, f32_64)
#include BODY
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) PASTE(x, f64_64)
#include BODY
#undef REAL
#undef NAME
#undef TARGET
#undef VECTOR_BYTES

static inline int32_t supported_bytes(int32_t most) {
  return most >= 64 && __builtin_cpu_supports("avx512f")                                 ? 64
         : most >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32
                                                                                         : 16;
}

#define DISPATCH(function, type, ...)                  \
  do {                                                 \
    int32_t supported = supported_bytes(vector_bytes); \
    if (supported == 64) {                             \
      function##_##type##_64(__VA_ARGS__);             \
      return;                                          \
    }                                                  \
    if (supported == 32) {                             \
      function##_##type##_32(__VA_ARGS__);             \
      return;                                          \
    }                                                  \
  } while (0)
#else
static inline int32_t supported_bytes(int32_t most) {
  (void)most;
  return 16;
}

#define DISPATCH(function, type, ...) (void)vector_bytes
#endif
