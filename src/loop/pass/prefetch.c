// Software prefetch of rows. Where a loop traverses each row of an array several times, the first traversal is
// memory-bound and memory is idle during the others: rows are too short for the hardware prefetcher. So the last of the
// loops over a row prefetches the same elements of the next row. So does a loop that reads rows backwards: at the start
// of each row the hardware prefetcher has to detect the stream again. And where the target gains by that, streams of
// stores prefetch what they will overwrite.
#include "loop/ir/build.h"
#include "loop/pass/pass.h"
#include "loop/pass/footprint.h"
#include "loop/target/cost.h"

static bool reads(const indim_loop_body *body, int32_t storage) {
  const indim_loop_node *node = body->first;
  while (node != NULL && !(node->kind == INDIM_NODE_LOAD && node->u.memory.storage == storage)) {
    node = indim_loop_next_in(body, node);
  }
  return node != NULL;
}

// The last of at least two loops in |body| that read the storage, or NULL.
static indim_loop_node *last_reader(const indim_loop_body *body, int32_t storage) {
  int32_t count = 0;
  indim_loop_node *last = NULL;
  for (indim_loop_node *node = body->first; node != NULL; node = node->next) {
    if (node->kind == INDIM_NODE_FOR && reads(node->bodies[0], storage)) {
      count++;
      last = node;
    }
  }
  return count > 1 ? last : NULL;
}

// Contiguous vector loads prefetch the elements |distance| further on, one load per cache line.
static void prefetch(const indim_loop_program *program, indim_loop_body *body, int32_t storage, int64_t distance) {
  int64_t line = INDIM_TARGET_LINE / indim_type_bytes(program->storages[storage]->type);
  for (indim_loop_node *node = body->first; node != NULL; node = indim_loop_next_in(body, node)) {
    if (node->kind == INDIM_NODE_LOAD && node->u.memory.storage == storage && !node->u.memory.has_mask &&
        node->u.memory.lane_stride == 1) {
      indim_affine address;
      indim_affine_of(program, node->args[0], &address);
      bool in_line = program->values[node->args[0]].lanes == 1 && program->values[node->first_result].lanes > 1;
      node->u.memory.prefetch = address.low % line == 0 && in_line ? distance : 0;
    }
  }
}

static void prefetch_rows(indim_loop_program *program, indim_loop_node *loop, indim_footprints *footprints) {
  indim_footprints_of(program, loop, footprints);
  for (int32_t i = 0; i < footprints->count && !footprints->is_opaque; i++) {
    const indim_footprint *t = &footprints->list[i];
    const indim_storage *storage = program->storages[t->storage];
    int64_t bytes = indim_type_bytes(storage->type);
    int64_t row = indim_index_mul_saturated(indim_footprint_width(t), bytes);
    int64_t distance = 0;
    if (t->writes || !t->is_known || t->stride <= 0 || row < INDIM_COST_PREFETCHED_LEAST ||
        row > INDIM_COST_PREFETCHED_MOST ||
        indim_index_mul_saturated(storage->elements, bytes) <= program->target.cache_bytes[1] ||
        !indim_index_mul(t->stride, loop->u.loop.step, &distance) || distance > storage->elements) {
      continue;
    }
    indim_loop_node *last = last_reader(loop->bodies[0], t->storage);
    if (last != NULL) {
      prefetch(program, last->bodies[0], t->storage, distance);
    }
  }
}

// What one step of |loop| adds to an address; 0 when that is unknown, or the address does not depend on the loop.
static int64_t step_of(const indim_loop_program *program, const indim_loop_node *loop, indim_value_id address) {
  indim_affine sum;
  int64_t distance = 0;
  indim_affine_of(program, address, &sum);
  int64_t coefficient = indim_affine_coefficient(&sum, loop->bodies[0]->first_parameter);
  return indim_index_mul(coefficient, loop->u.loop.step, &distance) ? distance : 0;
}

// Rows that |row|, a for in |loop|, reads backwards.
static void prefetch_backwards(const indim_loop_program *program, const indim_loop_node *loop,
                               const indim_loop_node *row) {
  for (indim_loop_node *node = row->bodies[0]->first; node != NULL; node = node->next) {
    if (node->kind != INDIM_NODE_LOAD || node->u.memory.has_mask || node->u.memory.lane_stride != -1 ||
        program->values[node->args[0]].lanes > 1 || program->values[node->first_result].lanes == 1) {
      continue;
    }
    const indim_storage *storage = program->storages[node->u.memory.storage];
    int64_t bytes = indim_type_bytes(storage->type);
    int64_t line = INDIM_TARGET_LINE / bytes;
    int64_t distance = step_of(program, loop, node->args[0]);
    int64_t length = indim_index_mul_saturated(indim_index_abs(distance), bytes);
    bool ends_line = distance != 0 && indim_index_modulo(program->values[node->args[0]].high + 1, line) == 0;
    if (ends_line && length >= INDIM_COST_PREFETCHED_LEAST && length <= INDIM_COST_PREFETCHED_MOST &&
        indim_index_mul_saturated(storage->elements, bytes) > program->target.cache_bytes[1]) {
      node->u.memory.prefetch = distance;
    }
  }
}

// What a step of |loop| moves a store of a whole vector by, if such steps follow each other in an array larger than the nearer
// caches; otherwise 0.
static int64_t stream_step(const indim_loop_program *program, const indim_loop_node *loop,
                           const indim_loop_node *node) {
  if (node->kind != INDIM_NODE_STORE || node->u.memory.has_mask || node->u.memory.non_temporal ||
      node->u.memory.lane_stride != 1 || program->values[node->args[0]].lanes > 1) {
    return 0;
  }
  const indim_storage *storage = program->storages[node->u.memory.storage];
  int64_t bytes = indim_type_bytes(storage->type);
  int64_t step = step_of(program, loop, node->args[0]);
  int32_t lanes = program->values[node->args[1]].lanes;
  bool is_stream = lanes > 1 && step >= lanes && step * bytes <= INDIM_COST_PREFETCHED_STORES;
  bool is_large = indim_index_mul_saturated(storage->elements, bytes) >= program->target.cache_bytes[1] / 2;
  return is_stream && is_large ? step : 0;
}

// Unless streams are so many, as the rows of a transposed square of bytes, that what is prefetched of all would fill the first cache.
static void prefetch_stores(const indim_loop_program *program, const indim_loop_node *loop) {
  enum { WHOLE = 64, MOST_STREAMS = 16 };  // parts of a stream, of which a store may be some
  int64_t streams = 0;
  for (const indim_loop_node *node = loop->bodies[0]->first; node != NULL; node = node->next) {
    int64_t step = stream_step(program, loop, node);
    streams += step > 0 ? WHOLE * program->values[node->args[1]].lanes / step : 0;
  }
  for (indim_loop_node *node = loop->bodies[0]->first; node != NULL; node = node->next) {
    int64_t step = stream_step(program, loop, node);
    if (step > 0 && streams <= MOST_STREAMS * WHOLE) {
      int64_t bytes = indim_type_bytes(program->storages[node->u.memory.storage]->type);
      indim_affine address;
      indim_affine_of(program, node->args[0], &address);
      bool begins_line = indim_index_modulo(address.low, INDIM_TARGET_LINE / bytes) == 0;
      node->u.memory.prefetch = begins_line ? INDIM_COST_PREFETCHED_STORES / (step * bytes) * step : 0;
    }
  }
}

indim_status indim_pass_prefetch(indim_loop_program *program) {
  void *memory = NULL;
  INDIM_TRY(indim_alloc(program->cx, sizeof(indim_footprints), &memory));
  for (indim_loop_node *node = program->body->first; node != NULL; node = indim_loop_next(node)) {
    if (node->kind == INDIM_NODE_FOR && program->target.prefetches_stores) {
      prefetch_stores(program, node);
    }
    if (node->kind == INDIM_NODE_FOR) {
      prefetch_rows(program, node, memory);
      for (indim_loop_node *row = node->bodies[0]->first; row != NULL; row = row->next) {
        if (row->kind == INDIM_NODE_FOR) {
          prefetch_backwards(program, node, row);
        }
      }
    }
  }
  indim_free(program->cx, memory, sizeof(indim_footprints));
  return INDIM_OK;
}
