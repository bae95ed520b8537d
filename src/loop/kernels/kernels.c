// Which kernel lowers an op (kernels.def), and what the planner asks of it.
#include "loop/kernels/kernels.h"

// Why a kernel does not take an item ---------------------------------------------------------------------------------

static const char *refuses_takes_all(const indim_flow_item *item) {
  (void)item;
  return NULL;
}

static const char *refuses_applies(const indim_flow_item *item) {
  static const indim_attr_id computations[] = {INDIM_ATTR_TO_APPLY, INDIM_ATTR_SELECT, INDIM_ATTR_SCATTER};
  for (size_t i = 0; i < sizeof computations / sizeof *computations; i++) {
    const indim_computation *computation = indim_instr_computation(item->instr, computations[i]);
    if (computation != NULL && !indim_loop_can_apply(computation)) {
      return "its computation is more than elementwise work on scalars";
    }
  }
  return NULL;
}

static const char *refuses_cumulative(const indim_flow_item *item) {
  if (!indim_lower_is_cumulative(item)) {
    return "its windows do not reach from each element to one end of one dimension";
  }
  return refuses_applies(item);
}

static const char *refuses_dot(const indim_flow_item *item) {
  int64_t contracted = 0;
  (void)indim_instr_ints(item->instr, INDIM_ATTR_LHS_CONTRACTING_DIMS, &contracted);
  bool fits = item->shape->rank + contracted <= INDIM_MAX_RANK;
  return fits ? NULL : "output and contracted dimensions together are more than 64";
}

static const char *refuses_convolution(const indim_flow_item *item) {
  bool has_both = indim_instr_int(item->instr, INDIM_ATTR_FEATURE_GROUP_COUNT, 1) > 1 &&
                  indim_instr_int(item->instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1) > 1;
  return has_both                              ? "it has groups of both features and the batch"
         : item->shape->rank >= INDIM_MAX_RANK ? "it has more than 63 dimensions"
                                               : NULL;
}

static const char *refuses_custom_call(const indim_flow_item *item) {
  return item->call != 0 ? NULL : "no function of that name is registered";
}

// How often an element of an operand is computed --------------------------------------------------------------------------

static int64_t repeats_once(const indim_flow_item *item, int32_t k) {
  (void)item;
  (void)k;
  return 1;
}

// An element of a factor meets every index of the other factor's free dimensions.
static int64_t repeats_dot(const indim_flow_item *item, int32_t k) {
  int64_t count = 0;
  const int64_t *contracting = indim_instr_ints(item->instr, INDIM_ATTR_RHS_CONTRACTING_DIMS, &count);
  int64_t times = indim_shape_element_count(item->shape);
  for (int64_t i = 0; i < count; i++) {
    times = times > INT32_MAX ? times : times * item->operands[1]->shape->sizes[contracting[i]];
  }
  int64_t elements = indim_shape_element_count(item->operands[k]->shape);
  return elements == 0 ? 1 : times / elements;
}

// An element of a window's array is met by as many taps as the strides leave.
static int64_t repeats_window(const indim_flow_item *item, int32_t k) {
  const indim_attr *attr = indim_instr_attr(item->instr, INDIM_ATTR_WINDOW);
  int64_t taps = 1;
  for (int64_t d = 0; attr != NULL && d < attr->count && taps < INT32_MAX; d++) {
    int64_t size = attr->value.window[d].size;
    int64_t stride = attr->value.window[d].stride;
    taps *= size > stride ? (size + stride - 1) / stride : 1;
  }
  bool is_array = item->instr->op == INDIM_OP_SELECT_AND_SCATTER ? k == 0 : k < item->operand_count / 2;
  return is_array ? taps : 1;
}

// An element of the input meets the taps and the output features, one of the kernel the places of the window.
static int64_t repeats_convolution(const indim_flow_item *item, int32_t k) {
  const indim_shape *kernel = item->operands[1]->shape;
  int64_t elements = indim_shape_element_count(item->operands[k]->shape);
  const indim_attr *attr = indim_instr_attr(item->instr, INDIM_ATTR_DIM_LABELS);
  int64_t times = indim_shape_element_count(item->shape);
  for (int32_t d = 0; d < kernel->rank && times <= INT32_MAX; d++) {
    times *= d == attr->value.dim_labels->kernel_output ? 1 : kernel->sizes[d];
  }
  return elements == 0 ? 1 : (times + elements - 1) / elements;
}

// Indices are computed one by one, for each row where windows are columns, and so are updates but along windows that are vectors.
static int64_t repeats_scatter(const indim_flow_item *item, int32_t k) {
  enum { LANES = 8 };
  int32_t n = (item->operand_count - 1) / 2;
  const indim_shape *updates = item->operands[item->operand_count - 1]->shape;
  int64_t count = 0;
  int64_t window = 1;
  const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_UPDATE_WINDOW_DIMS, &count);
  for (int64_t i = 0; i < count && window < INT32_MAX; i++) {
    window *= updates->sizes[dims[i]];
  }
  if (k >= n && indim_scatters_columns(item)) {
    return k == n ? LANES * window : LANES;
  }
  return k < n || window >= LANES || window == 0 ? 1 : LANES / window;
}

// The table ----------------------------------------------------------------------------------------------------------------

typedef enum reads { MEMORY, ELEMENTS, UPDATES } reads;
typedef enum results { SCRATCH, OWN } results;

typedef struct kernel {
  indim_op op;
  const char *name;
  const char *(*refuses)(const indim_flow_item *item);
  reads reads;
  int64_t (*repeats)(const indim_flow_item *item, int32_t k);
  results results;
  void (*lower)(indim_lowering *l, indim_flow_item *item);
} kernel;

static const kernel kernels[] = {
#define INDIM_KERNEL(op, name, refuses, reads, repeats, results, lower) \
  {INDIM_OP_##op, name, refuses_##refuses, reads, repeats_##repeats, results, indim_lower_##lower},
#include "loop/kernels/kernels.def"
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const kernel *first_of(indim_op op) {
  for (int i = 0; i < KERNELS; i++) {
    if (kernels[i].op == op) {
      return &kernels[i];
    }
  }
  return NULL;
}

// The first kernel that takes the item. NULL when there is none; |*out_reason| is then why not, of the last one tried. |l|:
// for lines of --explain; may be NULL.
static const kernel *find(indim_lowering *l, const indim_flow_item *item, const char **out_reason) {
  const kernel *last = NULL;
  *out_reason = "the compiler does not lower it";
  for (int i = 0; i < KERNELS; i++) {
    if (kernels[i].op != item->instr->op) {
      continue;
    }
    if (last != NULL && l != NULL) {
      indim_lower_explain(l, item, "not as a %s: %s", last->name, *out_reason);
    }
    last = &kernels[i];
    *out_reason = last->refuses(item);
    if (*out_reason == NULL) {
      return last;
    }
  }
  return NULL;
}

// All kernels of an op read in the same way; this is asked of each operand, so without what find() would have to look at.
bool indim_lower_takes_elements(const indim_flow_item *item, int32_t k) {
  const kernel *first = first_of(item->instr->op);
  return first != NULL && (first->reads == ELEMENTS || (first->reads == UPDATES && k > 0));
}

int64_t indim_lower_repeats(const indim_flow_item *item, int32_t k) {
  const char *reason = NULL;
  const kernel *taken = find(NULL, item, &reason);
  return taken == NULL ? 1 : taken->repeats(item, k);
}

// Of none of its results: there is nothing to compute.
static bool has_no_elements(indim_flow_item *item) {
  int32_t count = item->member_count > 0 ? item->member_count : 1;
  for (int32_t i = 0; i < count; i++) {
    if (indim_shape_element_count(indim_flow_result(item, i)->shape) > 0) {
      return false;
    }
  }
  return true;
}

void indim_lower_kernel(indim_lowering *l, indim_flow_item *item) {
  const char *reason = NULL;
  const kernel *taken = find(l, item, &reason);
  if (taken == NULL) {
    indim_lower_refuse(l, item, reason);
    return;
  }
  if (taken->results == SCRATCH) {
    indim_lower_place(l, item);
    if (has_no_elements(item)) {
      return;
    }
  }
  for (int32_t k = 0; k < item->operand_count && taken->reads == ELEMENTS && !indim_lower_failed(l); k++) {
    indim_lower_keep_tangled(l, item->operands[k]);
  }
  if (!indim_lower_failed(l)) {
    taken->lower(l, item);
  }
}
