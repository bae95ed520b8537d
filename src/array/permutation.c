// Permutations: arrays of up to 64 dimension numbers.
#include "array/permutation.h"

bool indim_list_has(const int64_t *list, int64_t count, int64_t value) {
  for (int64_t i = 0; i < count; i++) {
    if (list[i] == value) {
      return true;
    }
  }
  return false;
}

bool indim_permutation_is_valid(const int64_t *p, int32_t count) {
  uint64_t seen = 0;
  for (int32_t i = 0; i < count; i++) {
    if (p[i] < 0 || p[i] >= count || count > 64 || (seen >> p[i] & 1) != 0) {
      return false;
    }
    seen |= UINT64_C(1) << p[i];
  }
  return true;
}

void indim_permutation_invert(const int64_t *p, int32_t count, int64_t *out) {
  for (int32_t i = 0; i < count; i++) {
    out[p[i]] = i;
  }
}

void indim_permutation_compose(const int64_t *p, const int64_t *q, int32_t count, int64_t *out) {
  indim_permutation_apply(q, p, count, out);
}

void indim_permutation_apply(const int64_t *p, const int64_t *values, int32_t count, int64_t *out) {
  for (int32_t i = 0; i < count; i++) {
    out[i] = values[p[i]];
  }
}

void indim_permutation_apply_inverse(const int64_t *p, const int64_t *values, int32_t count, int64_t *out) {
  for (int32_t i = 0; i < count; i++) {
    out[p[i]] = values[i];
  }
}

void indim_permutation_move(int64_t *values, int32_t count, int32_t from, int32_t to) {
  if (from < 0 || from >= count || to < 0 || to >= count) {
    return;
  }
  int64_t value = values[from];
  for (int32_t i = from; i < to; i++) {
    values[i] = values[i + 1];
  }
  for (int32_t i = from; i > to; i--) {
    values[i] = values[i - 1];
  }
  values[to] = value;
}
