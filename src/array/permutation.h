// Lists of dimension numbers, and permutations among them.
#ifndef INDIM_ARRAY_PERMUTATION_H
#define INDIM_ARRAY_PERMUTATION_H

#include <stdbool.h>
#include <stdint.h>

bool indim_list_has(const int64_t *list, int64_t count, int64_t value);
// Each of 0..count-1 once.
bool indim_permutation_is_valid(const int64_t *p, int32_t count);
// out[p[i]] = i. |out| may not be |p|.
void indim_permutation_invert(const int64_t *p, int32_t count, int64_t *out);
// out[i] = p[q[i]] (ComposePermutations). |out| may be neither.
void indim_permutation_compose(const int64_t *p, const int64_t *q, int32_t count, int64_t *out);
// out[i] = values[p[i]], and out[p[i]] = values[i] (Permute, PermuteInverse). |out| may not be |values|.
void indim_permutation_apply(const int64_t *p, const int64_t *values, int32_t count, int64_t *out);
void indim_permutation_apply_inverse(const int64_t *p, const int64_t *values, int32_t count, int64_t *out);
// Takes the entry at |from| out and puts it in at |to| (MoveSingleElement).
void indim_permutation_move(int64_t *values, int32_t count, int32_t from, int32_t to);

#endif  // INDIM_ARRAY_PERMUTATION_H
