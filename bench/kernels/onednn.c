// oneDNN as a peer: a sequence of primitives, made once over the row's buffers and then run. Built only where oneDNN is
// installed. Every function that adds a primitive answers 0, or oneDNN's status when it has none for these shapes.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>

#include "kernels.h"

enum { MOST = 16, MOST_ARGS = 8 };

typedef struct step {
  dnnl_primitive_t primitive;
  dnnl_exec_arg_t args[MOST_ARGS];
  int count;
} step;

typedef struct sequence {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_memory_t memories[MOST];
  dnnl_memory_desc_t descs[MOST];
  step steps[MOST];
  int memory_count, step_count;
} sequence;

sequence *onednn_create(void);
int onednn_memory(sequence *s, int rank, const int64_t *dims, const int64_t *strides, int type, void *data);
int onednn_add(sequence *s, int a, int b, int y);
int onednn_gelu(sequence *s, int x, int scale, int shift, int y);
int onednn_eltwise(sequence *s, int which, int x, int y);
int onednn_softmax(sequence *s, int axis, int x, int y);
int onednn_layer_norm(sequence *s, int x, int scale, int shift, int y);
int onednn_sum(sequence *s, int x, int y);
int onednn_reorder(sequence *s, int x, int y);
int onednn_concatenate(sequence *s, int axis, int a, int b, int y);
int onednn_matmul(sequence *s, int a, int b, int bias, int relu, float scale, int y);

sequence *onednn_create(void) {
  sequence *s = calloc(1, sizeof *s);
  if (s && (dnnl_engine_create(&s->engine, dnnl_cpu, 0) != dnnl_success ||
            dnnl_stream_create(&s->stream, s->engine, dnnl_stream_default_flags) != dnnl_success)) {
    free(s);
    return NULL;
  }
  return s;
}

// A new memory over |data|, or one of oneDNN's own when that is NULL. Answers its number, or -1.
int onednn_memory(sequence *s, int rank, const int64_t *dims, const int64_t *strides, int type, void *data) {
  int at = s->memory_count;
  if (at == MOST ||
      dnnl_memory_desc_init_by_strides(&s->descs[at], rank, dims, (dnnl_data_type_t)type, strides) != dnnl_success ||
      dnnl_memory_create(&s->memories[at], &s->descs[at], s->engine, data ? data : DNNL_MEMORY_ALLOCATE) !=
          dnnl_success) {
    return -1;
  }
  return s->memory_count++;
}

static int add_step(sequence *s, dnnl_primitive_desc_t description, int count, const dnnl_exec_arg_t *args) {
  step *next = &s->steps[s->step_count];
  if (s->step_count == MOST) {
    return dnnl_out_of_memory;
  }
  int status = dnnl_primitive_create(&next->primitive, description);
  dnnl_primitive_desc_destroy(description);
  if (status == dnnl_success) {
    memcpy(next->args, args, (size_t)count * sizeof *args);
    next->count = count;
    s->step_count++;
  }
  return status;
}

#define MAKE(what, attributes)                                                                                  \
  dnnl_primitive_desc_t description;                                                                            \
  status = status ? status : (int)dnnl_primitive_desc_create(&description, &what, attributes, s->engine, NULL); \
  if (status) {                                                                                                 \
    return status;                                                                                              \
  }

int onednn_add(sequence *s, int a, int b, int y) {
  dnnl_binary_desc_t what;
  int status = dnnl_binary_desc_init(&what, dnnl_binary_add, &s->descs[a], &s->descs[b], &s->descs[y]);
  MAKE(what, NULL)
  const dnnl_exec_arg_t args[] = {
      {DNNL_ARG_SRC_0, s->memories[a]}, {DNNL_ARG_SRC_1, s->memories[b]}, {DNNL_ARG_DST, s->memories[y]}};
  return add_step(s, description, 3, args);
}

// gelu(x * scale + shift) as one primitive.
int onednn_gelu(sequence *s, int x, int scale, int shift, int y) {
  dnnl_binary_desc_t what;
  dnnl_primitive_attr_t attributes;
  dnnl_post_ops_t after;
  int status = dnnl_primitive_attr_create(&attributes);
  status = status ? status : (int)dnnl_post_ops_create(&after);
  status = status ? status : (int)dnnl_post_ops_append_binary(after, dnnl_binary_add, &s->descs[shift]);
  status = status ? status : (int)dnnl_post_ops_append_eltwise(after, 1, dnnl_eltwise_gelu_tanh, 0, 0);
  status = status ? status : (int)dnnl_primitive_attr_set_post_ops(attributes, after);
  status = status ? status
                  : (int)dnnl_binary_desc_init(&what, dnnl_binary_mul, &s->descs[x], &s->descs[scale], &s->descs[y]);
  MAKE(what, attributes)
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC_0, s->memories[x]},
                                  {DNNL_ARG_SRC_1, s->memories[scale]},
                                  {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, s->memories[shift]},
                                  {DNNL_ARG_DST, s->memories[y]}};
  return add_step(s, description, 4, args);
}

// Which function: 0 exp, 1 log, 2 tanh.
int onednn_eltwise(sequence *s, int which, int x, int y) {
  static const dnnl_alg_kind_t algorithms[] = {dnnl_eltwise_exp, dnnl_eltwise_log, dnnl_eltwise_tanh};
  dnnl_alg_kind_t algorithm = algorithms[which];
  dnnl_eltwise_desc_t what;
  int status = dnnl_eltwise_forward_desc_init(&what, dnnl_forward_inference, algorithm, &s->descs[x], 0, 0);
  MAKE(what, NULL)
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, s->memories[x]}, {DNNL_ARG_DST, s->memories[y]}};
  return add_step(s, description, 2, args);
}

int onednn_softmax(sequence *s, int axis, int x, int y) {
  dnnl_softmax_desc_t what;
  int status = dnnl_softmax_forward_desc_init(&what, dnnl_forward_inference, &s->descs[x], axis);
  MAKE(what, NULL)
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, s->memories[x]}, {DNNL_ARG_DST, s->memories[y]}};
  return add_step(s, description, 2, args);
}

int onednn_layer_norm(sequence *s, int x, int scale, int shift, int y) {
  dnnl_layer_normalization_desc_t what;
  int status = dnnl_layer_normalization_forward_desc_init(&what, dnnl_forward_inference, &s->descs[x], NULL, 1e-5F,
                                                          dnnl_use_scale | dnnl_use_shift);
  MAKE(what, NULL)
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, s->memories[x]},
                                  {DNNL_ARG_SCALE, s->memories[scale]},
                                  {DNNL_ARG_SHIFT, s->memories[shift]},
                                  {DNNL_ARG_DST, s->memories[y]}};
  return add_step(s, description, 4, args);
}

// Sums over the dimensions that are 1 in |y|.
int onednn_sum(sequence *s, int x, int y) {
  dnnl_reduction_desc_t what;
  int status = dnnl_reduction_desc_init(&what, dnnl_reduction_sum, &s->descs[x], &s->descs[y], 0, 0);
  MAKE(what, NULL)
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, s->memories[x]}, {DNNL_ARG_DST, s->memories[y]}};
  return add_step(s, description, 2, args);
}

int onednn_reorder(sequence *s, int x, int y) {
  dnnl_primitive_desc_t description;
  int status = dnnl_reorder_primitive_desc_create(&description, &s->descs[x], s->engine, &s->descs[y], s->engine, NULL);
  if (status) {
    return status;
  }
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, s->memories[x]}, {DNNL_ARG_TO, s->memories[y]}};
  return add_step(s, description, 2, args);
}

int onednn_concatenate(sequence *s, int axis, int a, int b, int y) {
  dnnl_primitive_desc_t description;
  const dnnl_memory_desc_t sources[] = {s->descs[a], s->descs[b]};
  int status = dnnl_concat_primitive_desc_create(&description, &s->descs[y], 2, axis, sources, NULL, s->engine);
  if (status) {
    return status;
  }
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_MULTIPLE_SRC, s->memories[a]},
                                  {DNNL_ARG_MULTIPLE_SRC + 1, s->memories[b]},
                                  {DNNL_ARG_DST, s->memories[y]}};
  return add_step(s, description, 3, args);
}

// y = scale * a b + bias (-1: none), then max(0, y) if |relu|. The right side may be packed once, in a layout of oneDNN's
// choice, where it has two dimensions: weights, which a caller would keep packed.
int onednn_matmul(sequence *s, int a, int b, int bias, int relu, float scale, int y) {
  dnnl_matmul_desc_t what;
  dnnl_primitive_attr_t attributes;
  dnnl_post_ops_t after;
  dnnl_memory_desc_t weights = s->descs[b];
  int status = 0;
  if (weights.ndims == 2) {
    status = dnnl_memory_desc_init_by_tag(&weights, 2, s->descs[b].dims, s->descs[b].data_type, dnnl_format_tag_any);
  }
  status = status ? status : (int)dnnl_primitive_attr_create(&attributes);
  status = status ? status : (int)dnnl_post_ops_create(&after);
  if (relu) {
    status = status ? status : (int)dnnl_post_ops_append_eltwise(after, 1, dnnl_eltwise_relu, 0, 0);
  }
  status = status ? status : (int)dnnl_primitive_attr_set_post_ops(attributes, after);
  if (scale != 1) {
    status = status ? status : (int)dnnl_primitive_attr_set_output_scales(attributes, 1, 0, &scale);
  }
  status = status ? status
                  : (int)dnnl_matmul_desc_init(&what, &s->descs[a], &weights, bias < 0 ? NULL : &s->descs[bias],
                                               &s->descs[y]);
  MAKE(what, attributes)
  const dnnl_memory_desc_t *chosen = dnnl_primitive_desc_query_md(description, dnnl_query_weights_md, 0);
  int packed = b;
  if (!dnnl_memory_desc_equal(chosen, &s->descs[b])) {
    packed = s->memory_count;
    if (packed == MOST) {
      return dnnl_out_of_memory;
    }
    s->descs[packed] = *chosen;
    status = dnnl_memory_create(&s->memories[packed], chosen, s->engine, DNNL_MEMORY_ALLOCATE);
    s->memory_count += status == 0;
    int steps = s->step_count;
    status = status ? status : onednn_reorder(s, b, packed);
    if (status) {
      return status;
    }
    // Once, now, and not in every run.
    step *once = &s->steps[steps];
    status = dnnl_primitive_execute(once->primitive, s->stream, once->count, once->args);
    dnnl_stream_wait(s->stream);
    s->step_count = steps;
    if (status) {
      return status;
    }
  }
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, s->memories[a]},
                                  {DNNL_ARG_WEIGHTS, s->memories[packed]},
                                  {DNNL_ARG_DST, s->memories[y]},
                                  {DNNL_ARG_BIAS, s->memories[bias < 0 ? a : bias]}};
  return add_step(s, description, bias < 0 ? 3 : 4, args);
}

// Args: the sequence.
KERNEL(onednn_run) {
  const sequence *s = args[0];
  for (int i = 0; i < s->step_count; i++) {
    dnnl_primitive_execute(s->steps[i].primitive, s->stream, s->steps[i].count, s->steps[i].args);
  }
  dnnl_stream_wait(s->stream);
  (void)results;
  (void)n;
}
