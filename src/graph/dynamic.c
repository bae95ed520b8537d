// Dynamic dimensions: the ops that may have them, and which of their dimensions.
#include "graph/dynamic.h"

#include "graph/infer_kit.h"
#include "graph/one_device.h"
#include "graph/op_type.h"

static bool has_dynamic(const indim_shape *shape) { return shape != NULL && !indim_shape_is_static(shape); }

bool indim_op_has_sizes(indim_op op) {
  return op == INDIM_OP_DYNAMIC_RESHAPE || op == INDIM_OP_GET_DIMENSION_SIZE || op == INDIM_OP_SET_DIMENSION_SIZE;
}

bool indim_instr_is_dynamic(const indim_instr *instr) {
  bool is_dynamic = has_dynamic(instr->shape) || indim_op_has_sizes(instr->op);
  for (int32_t i = 0; i < instr->operand_count && !is_dynamic; i++) {
    is_dynamic = has_dynamic(instr->operands[i]->shape);
  }
  return is_dynamic;
}

bool indim_instr_is_elementwise(const indim_instr *instr) {
  if (instr->op == INDIM_OP_BITCAST_CONVERT) {
    return instr->shape->rank == instr->operands[0]->shape->rank;
  }
  return instr->op == INDIM_OP_CONVERT || instr->op == INDIM_OP_COMPARE || instr->op == INDIM_OP_SELECT ||
         instr->op == INDIM_OP_MAP || instr->op == INDIM_OP_ADD || instr->op == INDIM_OP_MULTIPLY ||
         indim_op_classes(instr->op) != INDIM_CLASS_ANY;
}

bool indim_instr_is_batch_norm(const indim_instr *instr) {
  return instr->op == INDIM_OP_BATCH_NORM_TRAINING || instr->op == INDIM_OP_BATCH_NORM_INFERENCE ||
         instr->op == INDIM_OP_BATCH_NORM_GRAD;
}

int32_t indim_instr_batch_rank(const indim_instr *instr) {
  int64_t count = 0;
  int32_t rank = instr->operand_count > 0 ? instr->operands[0]->shape->rank : 0;
  switch ((int)instr->op) {
  case INDIM_OP_FFT:
    (void)indim_instr_ints(instr, INDIM_ATTR_FFT_LENGTH, &count);
    return rank - (int32_t)count;
  case INDIM_OP_CHOLESKY:
  case INDIM_OP_TRIANGULAR_SOLVE:
    return rank - 2;
  case INDIM_OP_TOPK:
    return rank - 1;
  case INDIM_OP_BITCAST_CONVERT:
    return rank < instr->shape->rank ? rank : instr->shape->rank;
  default:
    return 0;
  }
}

bool indim_reshape_group_next(const indim_shape *from, const indim_shape *to, indim_reshape_group *group) {
  int32_t i = group->from;
  int32_t j = group->to;
  if (i >= from->rank && j >= to->rank) {
    return false;
  }
  group->first_from = i;
  group->first_to = j;
  int64_t left = i < from->rank ? from->sizes[i++] : 1;
  int64_t right = j < to->rank ? to->sizes[j++] : 1;
  while (left != right && (i < from->rank || j < to->rank)) {
    bool takes_left = (left < right && i < from->rank) || j == to->rank;
    left *= takes_left ? from->sizes[i] : 1;
    right *= takes_left ? 1 : to->sizes[j];
    i += takes_left ? 1 : 0;
    j += takes_left ? 0 : 1;
  }
  group->from = i;
  group->to = j;
  group->count = right;
  return true;
}

// The hint of what is no matrix.
static const char to_fixed_sizes[] = "a slice to fixed sizes, as f32[10] slice(x), slice={[0:10]} of f32[<=10], has "
                                     "all that is stored, also behind what "
                                     "counts";

// Refuses a dynamic dimension that is not of the batch.
static indim_status verify_batch_alone(indim_ctx *cx, const indim_instr *instr, const char *what, const char *hint) {
  int32_t batch_rank = indim_instr_batch_rank(instr);
  indim_shape_text text;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    const indim_shape *shape = instr->operands[i]->shape;
    for (int32_t d = batch_rank; d < shape->rank; d++) {
      if (indim_dim_is_dynamic(shape, d)) {
        indim_fail_instr(
            cx, INDIM_UNSUPPORTED, instr,
            "dimension %d of operand %d (%s), which is %s, is dynamic; that is allowed of the batch, and %s "
            "have fixed sizes",
            (int)d, (int)i, instr->operands[i]->name.data, indim_shape_brief(shape, &text), what);
        indim_hint(cx, "%s", hint);
        return INDIM_UNSUPPORTED;
      }
    }
  }
  return INDIM_OK;
}

static bool is_plain_convolution(const indim_instr *instr) {
  const indim_dim_labels *labels = indim_instr_attr(instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels;
  const indim_shape *input = instr->operands[0]->shape;
  const indim_shape *kernel = instr->operands[1]->shape;
  bool in_groups = indim_instr_int(instr, INDIM_ATTR_FEATURE_GROUP_COUNT, 1) > 1 ||
                   indim_instr_int(instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1) > 1;
  bool is_fixed = !in_groups || (!indim_dim_is_dynamic(input, labels->input_batch) &&
                                 !indim_dim_is_dynamic(input, labels->input_feature) && kernel->dynamic == 0);
  for (int32_t i = 0; i < labels->spatial_count; i++) {
    is_fixed = is_fixed && !indim_dim_is_dynamic(kernel, labels->kernel_spatial[i]);
  }
  return is_fixed;
}

static const char *reason_against(const indim_instr *instr) {
  switch ((int)instr->op) {
  case INDIM_OP_PARAMETER:
  case INDIM_OP_CONSTANT:
  case INDIM_OP_TUPLE:
  case INDIM_OP_GET_TUPLE_ELEMENT:
  case INDIM_OP_COPY:
  case INDIM_OP_OPT_BARRIER:
  case INDIM_OP_DOMAIN:
  case INDIM_OP_ADD_DEPENDENCY:
  case INDIM_OP_AFTER_ALL:
  case INDIM_OP_CALL:
  case INDIM_OP_WHILE:
  case INDIM_OP_CONDITIONAL:
  case INDIM_OP_FUSION:
  case INDIM_OP_GET_DIMENSION_SIZE:
  case INDIM_OP_SET_DIMENSION_SIZE:
  case INDIM_OP_BROADCAST:
  case INDIM_OP_TRANSPOSE:
  case INDIM_OP_SLICE:
  case INDIM_OP_DYNAMIC_SLICE:
  case INDIM_OP_DYNAMIC_UPDATE_SLICE:
  case INDIM_OP_GATHER:
  case INDIM_OP_SCATTER:
  case INDIM_OP_RESHAPE:
  case INDIM_OP_DYNAMIC_RESHAPE:
  case INDIM_OP_REVERSE:
  case INDIM_OP_CONCATENATE:
  case INDIM_OP_PAD:
  case INDIM_OP_REDUCE:
  case INDIM_OP_REDUCE_WINDOW:
  case INDIM_OP_SORT:
  case INDIM_OP_DOT:
  case INDIM_OP_RAGGED_DOT:
  case INDIM_OP_SCAN:
  case INDIM_OP_TOPK:
  case INDIM_OP_BITCAST_CONVERT:
  case INDIM_OP_IOTA:
  case INDIM_OP_RNG:
  case INDIM_OP_SELECT_AND_SCATTER:
  case INDIM_OP_BATCH_NORM_TRAINING:
  case INDIM_OP_BATCH_NORM_INFERENCE:
  case INDIM_OP_BATCH_NORM_GRAD:
  case INDIM_OP_COPY_START:
  case INDIM_OP_COPY_DONE:
  case INDIM_OP_ASYNC_START:
  case INDIM_OP_ASYNC_UPDATE:
  case INDIM_OP_ASYNC_DONE:
  case INDIM_OP_CUSTOM_CALL:  // who reads it knows its arrays
    return NULL;
  case INDIM_OP_RNG_BIT_GENERATOR:
    return instr->operands[0]->shape->dynamic == 0 ? NULL : "its state may have no dynamic dimension";
  case INDIM_OP_CONVOLUTION:
    return is_plain_convolution(instr) ? NULL : "the window, and what is in groups, may have no dynamic dimensions";
  default:
    return indim_instr_is_elementwise(instr) || indim_op_is_collective(instr->op)
               ? NULL
               : "it runs on static shapes only, no dynamic dimensions";
  }
}

indim_status indim_dynamic_verify(indim_ctx *cx, const indim_instr *instr) {
  switch ((int)instr->op) {
  case INDIM_OP_FFT:
    return verify_batch_alone(cx, instr, "transforms", to_fixed_sizes);
  case INDIM_OP_CHOLESKY:
  case INDIM_OP_TRIANGULAR_SOLVE:
    return verify_batch_alone(cx, instr, "matrices",
                              "slice it to fixed sizes, and put rows of the identity behind those that count");
  default: {
    const char *reason = reason_against(instr);
    if (reason == NULL) {
      return INDIM_OK;
    }
    indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "%s", reason);
    indim_hint(cx, "%s", to_fixed_sizes);
    return INDIM_UNSUPPORTED;
  }
  }
}
