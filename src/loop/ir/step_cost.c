// What a step moves and computes, by the bounds of its loops and the ranges of its addresses.
#include <math.h>

#include "loop/ir/affine.h"
#include "loop/ir/effects.h"
#include "loop/ir/steps.h"

// What is known of a storage in the present step.
typedef struct access {
  int32_t step;          // + 1; another: nothing yet
  int32_t touch;         // its place among the touches
  int64_t low, high;     // elements, over all accesses
  double reads, writes;  // accesses to single elements
} access;

typedef struct tally {
  const indim_loop_program *program;
  access *accesses;           // one for each storage
  indim_step_touch *touches;  // of the present step
  indim_step_cost *cost;
  int32_t step;  // + 1
} tally;

static const indim_loop_value *value_of(const tally *t, indim_value_id v) { return &t->program->values[v]; }

static double trips_of(const tally *t, const indim_loop_node *loop) {
  int64_t distance = 0;
  double length = 0;
  if (indim_affine_distance(t->program, loop->args[0], loop->args[1], &distance)) {
    length = (double)distance;
  } else {
    length = (double)value_of(t, loop->args[1])->high - (double)value_of(t, loop->args[0])->low;
  }
  return length > 0 ? ceil(length / (double)loop->u.loop.step) : 0;
}

static bool is_transcendental(const indim_loop_op *op) {
  return indim_op_is_function(op->op) || op->op == INDIM_OP_SQRT || op->op == INDIM_OP_RSQRT;
}

static double matmul_operations(const indim_loop_node *node) {
  const indim_host_matmul *p = (const indim_host_matmul *)(const void *)node->u.host.numbers;
  return 2 * (double)p->batch * (double)p->m * (double)p->n * (double)p->k;
}

// Without the zeros between the elements of a dilated image; padding counts.
static double convolution_operations(const indim_loop_node *node) {
  const indim_host_convolution *p = (const indim_host_convolution *)(const void *)node->u.host.numbers;
  double count = 2 * (double)p->groups * (double)p->batch * (double)p->features * (double)p->outputs;
  for (int32_t a = 0; a < 3; a++) {
    count *= (double)p->dims[a].out * (double)p->dims[a].taps / (double)p->dims[a].base_dilation;
  }
  return count;
}

// As XLA counts: eight operations for an element of the result and each halving of a length.
static double fft_operations(const indim_loop_node *node) {
  const indim_host_fft *p = (const indim_host_fft *)(const void *)node->u.host.numbers;
  double halvings = 0;
  for (int64_t d = 0; d < p->rank && d < 3; d++) {
    halvings += p->lengths[d] > 1 ? ceil(log2((double)p->lengths[d])) : 0;
  }
  return 8 * (double)node->u.host.elements[0] * halvings;
}

static void count_operations(tally *t, const indim_loop_node *node, double times) {
  const indim_loop_value *result = value_of(t, node->result_count > 0 ? node->first_result : 0);
  double lanes = result->lanes;
  indim_step_cost *cost = t->cost;
  if (node->kind == INDIM_NODE_ELEMENTWISE) {
    *(is_transcendental(&node->u.op) ? &cost->transcendentals : &cost->operations) += times * lanes;
  } else if (node->kind == INDIM_NODE_FMA) {
    cost->operations += 2 * times * lanes;
  } else if (node->kind == INDIM_NODE_REDUCE) {
    cost->operations += times * (value_of(t, node->args[0])->lanes - 1);
  } else if (node->kind == INDIM_NODE_HOST && node->u.host.service == INDIM_HOST_MATMUL) {
    cost->operations += times * matmul_operations(node);
  } else if (node->kind == INDIM_NODE_HOST && node->u.host.service == INDIM_HOST_CONVOLUTION) {
    cost->operations += times * convolution_operations(node);
  } else if (node->kind == INDIM_NODE_HOST && node->u.host.service == INDIM_HOST_FFT) {
    cost->operations += times * fft_operations(node);
  }
  bool counts = node->kind == INDIM_NODE_ELEMENTWISE || node->kind == INDIM_NODE_FMA || node->kind == INDIM_NODE_LOAD;
  int32_t wide = counts ? result->lanes : node->kind == INDIM_NODE_STORE ? value_of(t, node->args[1])->lanes : 1;
  cost->lanes = wide > cost->lanes ? wide : cost->lanes;
}

// Whether a call of the host shares its work among threads, if it has any.
static bool shares_work(const indim_loop_node *node) {
  const int64_t *numbers = node->u.host.numbers;
  switch ((int)node->u.host.service) {
  case INDIM_HOST_MATMUL:
    return ((const indim_host_matmul *)(const void *)numbers)->single_thread == 0;
  case INDIM_HOST_CONVOLUTION:
    return ((const indim_host_convolution *)(const void *)numbers)->single_thread == 0;
  default:
    return node->u.host.service == INDIM_HOST_FFT || node->u.host.service == INDIM_HOST_SORT;
  }
}

static void touch(tally *t, const indim_effect *e, double times, double elements) {
  const indim_storage *storage = t->program->storages[e->storage];
  const indim_loop_value *address = value_of(t, e->address);
  access *a = &t->accesses[e->storage];
  bool is_known = address->low != INT64_MIN && address->high != INT64_MAX;
  // Elements outside are masked; without a range it is all of them.
  double low = is_known ? (double)address->low + (double)e->low : 0;
  double high = is_known ? (double)address->high + (double)e->high : (double)storage->elements - 1;
  int64_t from = low > 0 ? (int64_t)low : 0;
  int64_t to = high < (double)storage->elements - 1 ? (int64_t)high : storage->elements - 1;
  if (a->step != t->step) {
    *a = (access){t->step, t->cost->touch_count++, from, to, 0, 0};
    t->touches[a->touch] = (indim_step_touch){e->storage, 0, 0};
  }
  a->low = from < a->low ? from : a->low;
  a->high = to > a->high ? to : a->high;
  a->reads += e->reads ? times * elements : 0;
  a->writes += e->writes ? times * elements : 0;
}

static void count_memory(tally *t, const indim_loop_node *node, double times) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  int32_t count = indim_loop_effects(t->program, node, effects);
  for (int32_t i = 0; i < count; i++) {
    const indim_effect *e = &effects[i];
    if (e->low > e->high) {
      continue;
    }
    double elements = (double)e->high - (double)e->low + 1;
    if (node->kind == INDIM_NODE_LOAD || node->kind == INDIM_NODE_STORE) {
      elements = value_of(t, node->kind == INDIM_NODE_LOAD ? node->first_result : node->args[1])->lanes;
    }
    touch(t, e, times, elements);
  }
}

// One node, executed so many times, with all that is nested in it.
static void count_node(tally *t, const indim_loop_node *node, double times) {
  count_operations(t, node, times);
  count_memory(t, node, times);
  t->cost->is_parallel = t->cost->is_parallel || (node->kind == INDIM_NODE_HOST && shares_work(node));
  if (node->kind == INDIM_NODE_FOR) {
    t->cost->is_parallel = t->cost->is_parallel || node->u.loop.is_parallel;
    times *= trips_of(t, node);
  }
  for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
    for (const indim_loop_node *inner = node->bodies[k]->first; inner != NULL; inner = inner->next) {
      count_node(t, inner, times);
    }
  }
}

static double least(double x, double y) { return x < y ? x : y; }

// From accesses to bytes.
static void finish(const tally *t) {
  for (int32_t i = 0; i < t->cost->touch_count; i++) {
    indim_step_touch *out = &t->touches[i];
    const access *a = &t->accesses[out->storage];
    double bytes = (double)indim_type_bytes(t->program->storages[out->storage]->type);
    double extent = (double)a->high - (double)a->low + 1;
    out->bytes_read = bytes * least(a->reads, extent);
    out->bytes_written = bytes * least(a->writes, extent);
    t->cost->bytes_read += out->bytes_read;
    t->cost->bytes_written += out->bytes_written;
  }
}

indim_status indim_loop_step_costs(const indim_loop_program *program, indim_arena *arena, const indim_step *steps,
                                   int32_t count, indim_step_cost **out_costs) {
  size_t storages = (size_t)program->storage_count + 1;
  void *accesses = NULL, *touches = NULL, *costs = NULL;
  INDIM_TRY(indim_arena_array(arena, storages, sizeof(access), &accesses));
  INDIM_TRY(indim_arena_array(arena, storages, sizeof(indim_step_touch), &touches));
  INDIM_TRY(indim_arena_array(arena, (size_t)count + 1, sizeof(indim_step_cost), &costs));
  *out_costs = costs;
  tally t = {.program = program, .accesses = accesses, .touches = touches};
  for (int32_t s = 0; s < count; s++) {
    void *own = NULL;
    t.cost = &(*out_costs)[s];
    t.step = s + 1;
    t.cost->lanes = 1;
    count_node(&t, steps[s].node, 1);
    finish(&t);
    INDIM_TRY(indim_arena_array(arena, (size_t)t.cost->touch_count + 1, sizeof(indim_step_touch), &own));
    t.cost->touches = own;
    for (int32_t i = 0; i < t.cost->touch_count; i++) {
      t.cost->touches[i] = t.touches[i];
    }
  }
  return INDIM_OK;
}
