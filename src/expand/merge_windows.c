// A window that slides by one along a dimension, past an innermost one along which it does nothing and which is less than a vector,
// slides over both as one, with its taps as far apart as the innermost has elements:
//
//   f32[100,50,3], window 2x3x1, pad 0_1x1_1x0_0    is    f32[100,150], window 2x3, pad 0_1x3_3, rhs_dilate 1x3
//
// Vectors then lie along the pixels of an image and their channels, which are contiguous.
#include "expand/merge_windows.h"

#include <string.h>

#include "expand/kit.h"

enum { VECTOR_BYTES = 64 };

bool indim_merge_windows_suits(const indim_instr *instr) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_WINDOW);
  int32_t rank = instr->shape->rank;
  if (instr->op != INDIM_OP_REDUCE_WINDOW || instr->operand_count != 2 || rank < 2 || attr == NULL) {
    return false;
  }
  const indim_shape *shape = instr->operands[0]->shape;
  const indim_window_dim *slides = &attr->value.window[rank - 2];
  int64_t size = shape->sizes[rank - 1];
  if (!indim_shape_is_static(shape) || !indim_expand_is_row_major(shape) || !indim_expand_is_row_major(instr->shape) ||
      indim_shape_element_count(shape) == 0 || size < 2 || size * indim_type_bytes(shape->type) >= VECTOR_BYTES) {
    return false;
  }
  // A window of all elements is a cumulative reduction's, which a kernel of its own has.
  return indim_expand_window_does_nothing(&attr->value.window[rank - 1]) && slides->stride == 1 &&
         slides->base_dilation == 1 && slides->size > 1 && slides->size < shape->sizes[rank - 2];
}

// The sizes with the two innermost as one.
static void merged_sizes(const indim_shape *shape, int64_t *out) {
  memcpy(out, shape->sizes, (size_t)(shape->rank - 1) * sizeof *out);
  out[shape->rank - 2] *= shape->sizes[shape->rank - 1];
}

value indim_expand_reduce_window(indim_expander *x) {
  const indim_instr *instr = x->instr;
  indim_builder *b = x->b;
  int32_t rank = instr->shape->rank;
  int64_t apart = instr->shape->sizes[rank - 1];
  int64_t in[INDIM_MAX_RANK], out[INDIM_MAX_RANK];
  indim_window_dim window[INDIM_MAX_RANK];
  indim_shape shape;
  memcpy(window, indim_instr_attr(instr, INDIM_ATTR_WINDOW)->value.window, (size_t)(rank - 1) * sizeof *window);
  window[rank - 2].window_dilation *= apart;
  window[rank - 2].pad_low *= apart;
  window[rank - 2].pad_high *= apart;
  merged_sizes(instr->operands[0]->shape, in);
  merged_sizes(instr->shape, out);
  indim_expand_begin(x);
  indim_attr attrs[] = {indim_expand_window(x, window, rank - 1), *indim_instr_attr(instr, INDIM_ATTR_TO_APPLY)};
  indim_build_fail(b, indim_shape_init(x->cx, instr->shape->type, rank - 1, out, &shape));
  if (b->status != INDIM_OK) {
    return NULL;
  }
  value operands[] = {indim_build_reshape(b, x->operands[0], in, rank - 1), x->operands[1]};
  value result = indim_build_emit(b, INDIM_OP_REDUCE_WINDOW, &shape, operands, 2, attrs, 2);
  return indim_build_reshape(b, result, instr->shape->sizes, rank);
}
