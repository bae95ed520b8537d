// Targets by name, features that a host lacks for one, and the fallback ladder from wide vectors to almost none.
#include "loop/target/target.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_VECTOR = 16, PLAIN_VECTOR = 8 };

// Typical recent caches, per core, for machines other than the host.
#define USUAL_CACHES \
  { 32 << 10, 1 << 20, 4 << 20 }

static const indim_target named[] = {
#define INDIM_TARGET(enumerator, name_, triple_, cpu_, features_, bytes, registers, fma, half, mask, gathers, meaning) \
  {.name = name_,                                                                                                      \
   .triple = triple_,                                                                                                  \
   .cpu = cpu_,                                                                                                        \
   .features = features_,                                                                                              \
   .vector_bytes = bytes,                                                                                              \
   .vector_registers = registers,                                                                                      \
   .has_fma = fma,                                                                                                     \
   .has_f16 = half,                                                                                                    \
   .mask_bytes = mask,                                                                                                 \
   .has_gather = gathers,                                                                                              \
   .has_scatter = gathers,                                                                                             \
   .cache_bytes = USUAL_CACHES},
#include "loop/target/targets.def"
};

enum { NAMED = sizeof named / sizeof named[0] };

indim_arch indim_arch_of(const char *triple) {
  static const struct {
    const char *begin;
    indim_arch arch;
  } families[] = {{"x86_64", INDIM_ARCH_X86_64},
                  {"amd64", INDIM_ARCH_X86_64},
                  {"aarch64", INDIM_ARCH_AARCH64},
                  {"arm64", INDIM_ARCH_AARCH64},
                  {"riscv64", INDIM_ARCH_RISCV64}};
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
    if (strncmp(triple, families[i].begin, strlen(families[i].begin)) == 0) {
      return families[i].arch;
    }
  }
  return INDIM_ARCH_OTHER;
}

static indim_target target_at(size_t i) {
  indim_target target = named[i];
  target.arch = indim_arch_of(target.triple);
  return target;
}

indim_status indim_target_find(indim_ctx *cx, const char *name, indim_target *out_target) {
  for (size_t i = 0; i < NAMED; i++) {
    if (strcmp(named[i].name, name) == 0) {
      *out_target = target_at(i);
      return INDIM_OK;
    }
  }
  static const char all[] = "native"
#define INDIM_TARGET(enumerator, name, triple, cpu, features, bytes, registers, fma, half, mask, gathers, meaning) \
  ", " name
#include "loop/target/targets.def"
      ;
  indim_fail(cx, INDIM_INVALID, "there is no target '%.40s'", name);
  indim_hint(cx, "there are %s", all);
  return INDIM_INVALID;
}

bool indim_features_have(const char *features, const char *name) {
  size_t length = strlen(name);
  for (const char *at = features; *at != '\0'; at += *at == ',') {
    size_t size = strcspn(at, ",");
    if (size == length + 1 && *at == '+' && memcmp(at + 1, name, length) == 0) {
      return true;
    }
    at += size;
  }
  return false;
}

void indim_target_missing(const indim_target *target, const indim_target *host, char out_text[INDIM_TARGET_TEXT]) {
  out_text[0] = '\0';
  if (target->arch != host->arch) {
    int size = (int)strcspn(target->triple, "-");
    snprintf(out_text, INDIM_TARGET_TEXT, "a processor of the family %.*s", size, target->triple);
    return;
  }
  for (const char *at = target->features; *at != '\0'; at += *at == ',') {
    char feature[INDIM_TARGET_TEXT];
    size_t size = strcspn(at, ",");
    snprintf(feature, sizeof feature, "%.*s", (int)size - 1, at + 1);
    if (*at == '+' && !indim_features_have(host->features, feature)) {
      snprintf(out_text, INDIM_TARGET_TEXT, "%s", feature);
      return;
    }
    at += size;
  }
}

// The widest named target of this family whose vectors have at most |bytes|; NAMED if there is none.
static size_t find_narrower(indim_arch arch, int32_t bytes) {
  size_t best = NAMED;
  for (size_t i = 0; i < NAMED; i++) {
    bool fits = indim_arch_of(named[i].triple) == arch && named[i].vector_bytes <= bytes;
    if (fits && (best == NAMED || named[i].vector_bytes > named[best].vector_bytes)) {
      best = i;
    }
  }
  return best;
}

bool indim_target_step_down(indim_target *target) {
  if (target->is_plain) {
    return false;
  }
  size_t narrower = target->vector_bytes > LEAST_VECTOR ? find_narrower(target->arch, target->vector_bytes / 2) : NAMED;
  if (narrower == NAMED) {
    target->vector_bytes = PLAIN_VECTOR;
    target->is_plain = true;
    return true;
  }
  // Keeps the triple and the caches, which describe the actual machine.
  indim_target lower = target_at(narrower);
  lower.triple = target->triple;
  memcpy(lower.cache_bytes, target->cache_bytes, sizeof lower.cache_bytes);
  *target = lower;
  return true;
}
