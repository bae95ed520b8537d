// The services of the host (host/service.def).
#include <stddef.h>

#include "loop/ir/loop.h"

// The public header writes the entries of struct indim_host out, so that it needs no other file.
#define INDIM_SERVICE(enumerator, name, storages, written, arrays)                                                \
  _Static_assert(offsetof(indim_host, name) ==                                                                    \
                     offsetof(indim_host, parallel) + (1 + INDIM_HOST_##enumerator) * sizeof(indim_host_piece *), \
                 "service.def and indim_host.h list the services in one order");
#include "host/service.def"
#define SAME(type) ((int)INDIM_HOST_##type == (int)INDIM_##type)
_Static_assert(SAME(PRED) && SAME(S8) && SAME(S16) && SAME(S32) && SAME(S64) && SAME(U8) && SAME(U16) && SAME(U32) &&
                   SAME(U64) && SAME(F16) && SAME(BF16) && SAME(F32) && SAME(F64),
               "numbers of types");

const indim_service_info *indim_service_get(indim_host_service service) {
  enum { STRIDED = false, DENSE = true };
  static const indim_service_info rows[] = {
#define INDIM_SERVICE(enumerator, name, storages, written, arrays) \
  {#name, storages, written, (int32_t)(sizeof(indim_host_##name) / sizeof(int64_t)), arrays},
#include "host/service.def"
  };
  return (unsigned)service < INDIM_HOST_SERVICE_COUNT ? &rows[service] : NULL;
}
