// The services of the host (host/service.def).
#include "loop/ir/loop.h"

const indim_service_info *indim_service_get(indim_host_service service) {
  enum { STRIDED = false, DENSE = true };
  static const indim_service_info rows[] = {
#define INDIM_SERVICE(enumerator, name, storages, written, arrays) \
  {#name, storages, written, (int32_t)(sizeof(indim_host_##name) / sizeof(int64_t)), arrays},
#include "host/service.def"
  };
  return (unsigned)service < INDIM_HOST_SERVICE_COUNT ? &rows[service] : NULL;
}
