// Copies between strided arrays. Dimensions are ordered so that the target is written in its memory order, neighbours
// that lie together in both are merged, and the loop over the source's fastest dimension is blocked together with the
// target's, so that a transposition does not touch a new cache line for every item.
#include "array/literal_internal.h"

#include <string.h>

#include "base/size.h"

typedef struct axis {
  int64_t size;
  int64_t target;  // strides in items
  int64_t source;
} axis;

// Axes of size above 1, major first in the target, neighbours merged. Returns their number, -1 when nothing is to do.
static int32_t sort_axes(int32_t rank, const int64_t *sizes, const int64_t *target, const int64_t *source, axis *out) {
  int32_t count = 0;
  for (int32_t d = 0; d < rank; d++) {
    if (sizes[d] == 0) {
      return -1;
    }
    if (sizes[d] > 1) {
      int32_t at = count++;
      for (; at > 0 && out[at - 1].target < target[d]; at--) {
        out[at] = out[at - 1];
      }
      out[at] = (axis){sizes[d], target[d], source[d]};
    }
  }
  int32_t merged = 0;
  for (int32_t i = 0; i < count; i++) {
    axis *before = merged > 0 ? &out[merged - 1] : NULL;
    if (before != NULL && before->target == out[i].size * out[i].target &&
        before->source == out[i].size * out[i].source) {
      *before = (axis){before->size * out[i].size, out[i].target, out[i].source};
    } else {
      out[merged++] = out[i];
    }
  }
  return merged;
}

// Moves the axis along which the source is fastest next to the last one.
static void pair_axes(axis *axes, int32_t count) {
  int32_t best = count - 1;
  for (int32_t i = 0; i < count; i++) {
    best = axes[i].source > 0 && axes[i].source < axes[best].source ? i : best;
  }
  if (best < count - 2) {
    axis moved = axes[best];
    memmove(axes + best, axes + best + 1, (size_t)(count - 2 - best) * sizeof axes[0]);
    axes[count - 2] = moved;
  }
}

#define COPY_BLOCK(name, bytes)                                                                            \
  static void name(unsigned char *target, const unsigned char *source, const axis *slow, const axis *fast, \
                   int64_t slow_count, int64_t fast_count) {                                               \
    for (int64_t i = 0; i < slow_count; i++) {                                                             \
      unsigned char *to = target + i * slow->target * (bytes);                                             \
      const unsigned char *from = source + i * slow->source * (bytes);                                     \
      for (int64_t j = 0; j < fast_count; j++) {                                                           \
        memcpy(to + j * fast->target * (bytes), from + j * fast->source * (bytes), (bytes));               \
      }                                                                                                    \
    }                                                                                                      \
  }
COPY_BLOCK(copy_block_1, 1)
COPY_BLOCK(copy_block_2, 2)
COPY_BLOCK(copy_block_4, 4)
COPY_BLOCK(copy_block_8, 8)
COPY_BLOCK(copy_block_16, 16)

static void copy_block(int32_t item_bytes, unsigned char *target, const unsigned char *source, const axis *slow,
                       const axis *fast, int64_t slow_count, int64_t fast_count) {
  switch (item_bytes) {
  case 1:
    copy_block_1(target, source, slow, fast, slow_count, fast_count);
    break;
  case 2:
    copy_block_2(target, source, slow, fast, slow_count, fast_count);
    break;
  case 4:
    copy_block_4(target, source, slow, fast, slow_count, fast_count);
    break;
  case 8:
    copy_block_8(target, source, slow, fast, slow_count, fast_count);
    break;
  default:
    copy_block_16(target, source, slow, fast, slow_count, fast_count);
    break;
  }
}

// The two innermost axes.
static void copy_plane(int32_t item_bytes, unsigned char *target, const unsigned char *source, const axis *slow,
                       const axis *fast) {
  enum { BLOCK = 32 };
  if (fast->target == 1 && fast->source == 1) {
    for (int64_t i = 0; i < slow->size; i++) {
      memcpy(target + i * slow->target * item_bytes, source + i * slow->source * item_bytes,
             (size_t)fast->size * (size_t)item_bytes);
    }
    return;
  }
  for (int64_t j = 0; j < fast->size; j += BLOCK) {
    int64_t fast_count = fast->size - j < BLOCK ? fast->size - j : BLOCK;
    for (int64_t i = 0; i < slow->size; i += BLOCK) {
      int64_t slow_count = slow->size - i < BLOCK ? slow->size - i : BLOCK;
      copy_block(item_bytes, target + (i * slow->target + j * fast->target) * item_bytes,
                 source + (i * slow->source + j * fast->source) * item_bytes, slow, fast, slow_count, fast_count);
    }
  }
}

void indim_strided_copy(int32_t rank, const int64_t *sizes, int32_t item_bytes, void *target,
                        const int64_t *target_strides, const void *source, const int64_t *source_strides) {
  axis axes[INDIM_MAX_RANK];
  int32_t count = sort_axes(rank, sizes, target_strides, source_strides, axes);
  if (count < 0) {
    return;
  }
  pair_axes(axes, count);
  const axis single = {1, 1, 1};
  const axis *fast = count > 0 ? &axes[count - 1] : &single;
  const axis *slow = count > 1 ? &axes[count - 2] : &single;
  int64_t index[INDIM_MAX_RANK] = {0};
  unsigned char *to = target;
  const unsigned char *from = source;
  for (;;) {
    copy_plane(item_bytes, to, from, slow, fast);
    int32_t d = count - 3;
    for (; d >= 0; d--) {
      to += axes[d].target * item_bytes;
      from += axes[d].source * item_bytes;
      if (++index[d] < axes[d].size) {
        break;
      }
      to -= axes[d].size * axes[d].target * item_bytes;
      from -= axes[d].size * axes[d].source * item_bytes;
      index[d] = 0;
    }
    if (d < 0) {
      return;
    }
  }
}

void indim_dense_strides(int32_t rank, const int64_t *sizes, int64_t *out_strides) {
  int64_t stride = 1;
  for (int32_t d = rank - 1; d >= 0; d--) {
    out_strides[d] = stride;
    if (!indim_count_mul(stride, sizes[d], &stride)) {
      stride = 0;  // only an array without elements gets here: its strides are never used
    }
  }
}
