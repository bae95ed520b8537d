// Kernels that fill one array: computed element by element, or copied. Dimensions are split where a layout or a reshape
// divides their index.
#include <string.h>

#include "loop/ir/build.h"
#include "loop/nest/element.h"

enum { MOST_KEPT_COST = 60 };  // beyond, a step of several vectors is long code for little

// A part of an array, seen as an array of more dimensions: index p of these counts |factor| elements along |dim|.
typedef struct region {
  int32_t rank;
  int64_t sizes[INDIM_MAX_RANK];
  int32_t dim[INDIM_MAX_RANK];
  int64_t factor[INDIM_MAX_RANK];
  bool is_split[INDIM_MAX_RANK];   // made of a dimension by splitting
  int64_t offset[INDIM_MAX_RANK];  // of the part, for each dimension of the array
} region;

typedef struct filling {
  indim_flow_item *item;
  const indim_location *at;
  int64_t cost;
  bool is_copy;
  region part;
} filling;

static void fill_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  const filling *f = nest->user;
  indim_coord whole[INDIM_MAX_RANK];
  for (int32_t d = 0; d < f->item->shape->rank; d++) {
    whole[d] = indim_coord_const(k, f->part.offset[d]);
  }
  for (int32_t p = 0; p < f->part.rank; p++) {
    int32_t d = f->part.dim[p];
    whole[d] = indim_coord_add(k, whole[d], indim_coord_scale(k, index[p], f->part.factor[p], 0));
  }
  indim_value_id value =
      f->is_copy ? indim_value_at_lanes(k, f->item, whole, 0) : indim_element_compute(k, f->item, whole);
  if (!indim_lower_failed(k->l)) {
    indim_store_at(k, f->item->shape, f->at, whole, value);
  }
}

// Whether what is stored passes the caches: a result that nobody reads again, too large for them together with what it is
// made of.
static bool worth_streaming(const indim_nest *nest, const indim_flow_item *item, const indim_location *at) {
  int64_t cache = nest->l->target->cache_bytes[2] > 0 ? nest->l->target->cache_bytes[2] : INT64_C(16) << 20;
  int64_t bytes = indim_shape_element_count(item->shape) * indim_type_bytes(item->shape->type);
  int64_t total = bytes;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    bool is_new = access->item != NULL;
    for (int32_t j = 0; j < i && is_new; j++) {
      is_new = nest->list->accesses[j].item == NULL || nest->list->accesses[j].storage != access->storage;
    }
    int64_t own = indim_index_mul_saturated(access->storage->elements, indim_type_bytes(access->storage->type));
    total = is_new ? indim_index_add_saturated(total, own) : total;
  }
  return at->storage->kind == INDIM_STORAGE_RESULT && item->use_count == 1 && bytes >= cache * 3 / 4 &&
         total >= cache * 7 / 4 && indim_lower_is_enabled(nest->l, INDIM_DECISION_NON_TEMPORAL);
}

// Of what is stored; NULL when those are not constant.
static const int64_t *stored_strides(const indim_access_list *list) {
  const int64_t *strides = NULL;
  for (int32_t i = 0; i < list->count; i++) {
    strides = list->accesses[i].item == NULL ? list->accesses[i].strides : strides;
  }
  return strides;
}

// Splitting ------------------------------------------------------------------------------------------------------------
//
// Where an index is divided, as in a tiled layout or behind a reshape, neighbours do not lie on a line. A dimension that is
// split where its quotient changes is two for the nest, in which all addresses are sums again:
//
//   f32[1024]{0:T(128)}     place of 128 i + j: 128 i + j
//   f32[1000]{0:T(128)}     the same with i below 7; then a part of its own with the last 104

enum { MAX_SPLITS = 6, MAX_REGIONS = 8 };

static void analyze_region(indim_nest *nest, filling *f, indim_access_list *list) {
  const indim_flow_item *item = f->item;
  *nest = (indim_nest){.l = nest->l, .rank = f->part.rank, .cost = f->cost, .body = fill_body, .user = f};
  memcpy(nest->sizes, f->part.sizes, (size_t)nest->rank * sizeof *nest->sizes);
  // Addresses are sums of what a split left only as far as the parts go: each is for itself.
  for (int32_t p = 0; p < nest->rank; p++) {
    bool is_row = item->separate_row_dims > 0 && f->part.dim[p] >= item->shape->rank - item->separate_row_dims;
    nest->group[p] = f->part.is_split[p] ? (uint8_t)(2 + p) : is_row ? 1 : 0;
  }
  nest->may_thread = true;
  indim_nest_analyze(nest, list);
}

// Accesses that are no sums of the indices.
static int32_t irregular_count(const indim_access_list *list) {
  int32_t count = 0;
  for (int32_t i = 0; i < list->count; i++) {
    count += list->accesses[i].strides == NULL ? 1 : 0;
  }
  return count;
}

// Takes |count| elements from |from| on along dimension |p|.
static void narrow(region *r, int32_t p, int64_t from, int64_t count) {
  r->offset[r->dim[p]] += from * r->factor[p];
  r->sizes[p] = count;
}

// Splits dimension |p| of |r|, behind |first| elements, into parts of |part|; what is left over goes to |out_rests|.
// Answers how many of those there are.
static int32_t split_dim(region *r, int32_t p, int64_t part, int64_t first, region *out_rests) {
  int32_t count = 0;
  int64_t size = r->sizes[p];
  first = first < size ? first : size;
  int64_t parts = (size - first) / part;
  int64_t end = parts > 0 ? first + parts * part : size;
  if (first > 0) {
    out_rests[count] = *r;
    narrow(&out_rests[count++], p, 0, first);
  }
  if (end < size) {
    out_rests[count] = *r;
    narrow(&out_rests[count++], p, end, size - end);
  }
  narrow(r, p, first, end - first);
  if (parts > 1) {
    size_t behind = (size_t)(r->rank - p);
    memmove(r->sizes + p + 1, r->sizes + p, behind * sizeof *r->sizes);
    memmove(r->dim + p + 1, r->dim + p, behind * sizeof *r->dim);
    memmove(r->factor + p + 1, r->factor + p, behind * sizeof *r->factor);
    memmove(r->is_split + p + 1, r->is_split + p, behind * sizeof *r->is_split);
    r->is_split[p] = r->is_split[p + 1] = true;
    r->rank++;
    r->sizes[p] = parts;
    r->sizes[p + 1] = part;
    r->factor[p] *= part;
  }
  return count;
}

// Splits what can be split of |f|'s part, if that makes accesses regular. Adds what is left over to |todo| and answers how
// many are there then. |list| is the survey of the part, before and after.
static int32_t split_region(indim_nest *nest, filling *f, indim_access_list *list, region *todo, int32_t count) {
  filling trial = *f;
  int32_t rests = count;
  int32_t irregular = irregular_count(list);
  bool is_split = irregular > 0;
  for (int32_t s = 0; s < MAX_SPLITS && is_split && !indim_lower_failed(nest->l); s++) {
    int32_t p = 0;
    while (p < trial.part.rank && (list->part[p] == 0 || list->part[p] >= trial.part.sizes[p])) {
      p++;
    }
    is_split = p < trial.part.rank && rests + 2 <= MAX_REGIONS && trial.part.rank < INDIM_MAX_RANK;
    if (is_split) {
      rests += split_dim(&trial.part, p, list->part[p], list->first_part[p], todo + rests);
      analyze_region(nest, &trial, list);
    }
  }
  if (irregular_count(list) < irregular) {
    *f = trial;
    nest->user = f;
    return rests;
  }
  analyze_region(nest, f, list);
  return count;
}

// What loops have written in rows is read in the same steps, so that the loops can become one (loop_fusion.c).
static void keep_step(indim_nest *nest, indim_flow_item *item) {
  for (int32_t i = 0; i < nest->list->count && nest->vector_dim >= 0; i++) {
    const indim_access *access = &nest->list->accesses[i];
    bool is_row = access->item != NULL && access->strides != NULL && access->strides[nest->vector_dim] == 1;
    if (is_row && access->item->unroll > 0 && nest->cost <= MOST_KEPT_COST &&
        indim_shape_element_count(access->item->shape) == indim_shape_element_count(item->shape)) {
      nest->unroll = access->item->unroll;
    }
  }
  item->unroll = nest->unroll;
}

// From here on the kernel writes what it fills and the nest's panels.
static void begin_kernel(indim_nest *nest, indim_storage *to) {
  indim_storage *written[1 + INDIM_MAX_PANELS] = {to};
  memcpy(written + 1, nest->panels, (size_t)nest->panel_count * sizeof *written);
  indim_loop_region_begin(&nest->l->b, written, 1 + nest->panel_count);
}

static void run_filling(indim_lowering *l, indim_flow_item *item, const indim_location *at, int64_t cost,
                        bool is_copy) {
  const indim_shape *shape = item->shape;
  indim_access_list *list = indim_lower_alloc(l, 1, sizeof *list);
  region *todo = indim_lower_alloc(l, MAX_REGIONS, sizeof *todo);
  filling f = {.item = item, .at = at, .cost = cost, .is_copy = is_copy};
  indim_nest nest = {.l = l};
  if (list == NULL || todo == NULL || indim_lower_failed(l) || indim_shape_element_count(shape) == 0) {
    return;
  }
  todo->rank = shape->rank;
  for (int32_t d = 0; d < shape->rank; d++) {
    todo->sizes[d] = shape->sizes[d];
    todo->dim[d] = d;
    todo->factor[d] = 1;
  }
  begin_kernel(&nest, at->storage);
  for (int32_t count = 1; count > 0 && !indim_lower_failed(l);) {
    f.part = todo[--count];
    analyze_region(&nest, &f, list);
    count = split_region(&nest, &f, list, todo, count);
    indim_nest_choose(&nest, stored_strides(list));
    indim_nest_choose_transpose(&nest);
    keep_step(&nest, item);
    nest.streams = worth_streaming(&nest, item, at);
    indim_nest_choose_panels(&nest);
    // Loads between the stores of a line that is turned in registers send it to memory in parts.
    bool in_parts =
        nest.turns && nest.side == 0 && (indim_transpose_is_mixed(&nest) || indim_nest_rows_are_misaligned(&nest));
    nest.streams = nest.streams && !in_parts;
    if (nest.panel_count > 0) {
      begin_kernel(&nest, at->storage);
    }
    indim_nest_run(&nest);
  }
}

void indim_nest_fill(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  run_filling(l, item, at, item->cost, false);
}

// Both arrays lie one element behind the other in the same order: bytes are moved.
static bool copy_bytes(indim_lowering *l, const indim_flow_item *item, const indim_location *at) {
  const indim_location *from = &item->place;
  const indim_shape *shape = item->shape;
  if (from->storage == NULL || at->tiled != NULL || !indim_location_is_dense(shape, from)) {
    return false;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] != 1 && at->strides[d] != from->strides[d]) {
      return false;
    }
  }
  indim_loop_builder *b = &l->b;
  indim_value_id to_address = indim_location_start(l, at);
  indim_value_id from_address = indim_location_start(l, from);
  indim_storage *written[] = {at->storage};
  indim_loop_region_begin(b, written, 1);
  indim_loop_copy(b, at->storage, to_address, from->storage, from_address, indim_shape_element_count(shape));
  return true;
}

// Registers stored element by element: the layout has tiles.
static void copy_elements(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  int64_t index[INDIM_MAX_RANK] = {0};
  indim_storage *written[] = {at->storage};
  indim_loop_region_begin(&l->b, written, 1);
  indim_element_forget(l);
  indim_element_ctx k = {.l = l, .lanes = 1};
  do {
    indim_coord coords[INDIM_MAX_RANK];
    for (int32_t d = 0; d < item->shape->rank; d++) {
      coords[d] = (indim_coord){indim_loop_index(&l->b, index[d]), 0};
    }
    indim_store_at(&k, item->shape, at, coords, indim_value_at(&k, item, coords, 0));
  } while (indim_index_next(item->shape, index) && !indim_lower_failed(l));
}

void indim_nest_copy(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  bool is_constant = item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT;
  if (indim_lower_failed(l) || indim_shape_element_count(item->shape) == 0 || at->storage == NULL) {
    return;
  }
  if (item->has_regs && item->place.storage == NULL) {
    if (at->tiled != NULL) {
      copy_elements(l, item, at);
      return;
    }
    indim_value_id address = indim_location_start(l, at);
    indim_storage *written[] = {at->storage};
    indim_loop_region_begin(&l->b, written, 1);
    indim_regs_store(&l->b, &item->regs, at->storage, address, at->strides);
  } else if (is_constant || !copy_bytes(l, item, at)) {
    run_filling(l, item, at, 0, true);
  }
}
