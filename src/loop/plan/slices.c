// Slices of what is put together read the parts that they meet, so that nobody computes the others (XLA: algebraic simplifier):
//
//   slice(concatenate(a, sort(b)))       -> slice(a), where it lies in a
//   slice(pad(sort(a), p))               -> slice(sort(a)), or broadcast(p), or a smaller pad of a slice
//   slice(slice(x)), slice(negate(x))    -> slice(x), negate(slice(x)), where x leads to one of these
//
// This is done where slices alone read the whole, and no part is then read by more than before: what has another reader is
// computed whole anyway, and a part that is read beside the whole would be computed twice. A walk from the last item to the
// first, so that all readers of an item are known.
#include <string.h>

#include "loop/ir/op.h"
#include "loop/plan/flow_make.h"
#include "loop/plan/plan.h"

typedef indim_flow_maker maker;

typedef struct reader {
  indim_flow_item *slice;
  struct reader *next;
} reader;

typedef struct readers {
  reader *slices;
  int32_t count;
  bool is_whole;  // something else reads it as well, or it is a result
} readers;

typedef struct cutting {
  maker *m;
  readers *of;                // each item, by its index
  bool *leads;                // it puts parts together, or is a slice or an elementwise op of such an item
  indim_flow_item **instead;  // what is read in place of an item that is gone; NULL: that item
  bool *is_gone;
  indim_flow_item **order;  // the items in their new order, from |at| on
  int32_t at;
  int32_t budget;  // of new items: the flow stays as long as it was, more or less
} cutting;

static const indim_slice_dim *bounds_of(const indim_flow_item *slice) {
  return indim_instr_attr(slice->instr, INDIM_ATTR_SLICE)->value.slice;
}

static int32_t concatenated_dim(const indim_flow_item *item) {
  int64_t count = 0;
  return (int32_t)indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count)[0];
}

// Readers --------------------------------------------------------------------------------------------------------------

static indim_status add_reader(cutting *c, indim_flow_item *slice) {
  reader *r = NULL;
  readers *of = &c->of[slice->operands[0]->index];
  INDIM_TRY(indim_flow_array(c->m->arena, 1, sizeof *r, &r));
  *r = (reader){slice, of->slices};
  of->slices = r;
  of->count++;
  return INDIM_OK;
}

static bool is_read(const cutting *c, const indim_flow_item *item) {
  return c->of[item->index].is_whole || c->of[item->index].count > 0;
}

// What an item reads that stays.
static indim_status note_reads(cutting *c, indim_flow_item *item) {
  if (indim_flow_is_op(item, INDIM_OP_SLICE)) {
    return add_reader(c, item);
  }
  if (item->kind == INDIM_FLOW_MEMBER && is_read(c, item)) {
    c->of[item->source->index].is_whole = true;
  }
  for (int32_t k = 0; k < item->operand_count; k++) {
    c->of[item->operands[k]->index].is_whole = true;
  }
  return INDIM_OK;
}

// New items ------------------------------------------------------------------------------------------------------------

// |like| with other sizes, without tiles and padding.
static indim_status make_shape(const cutting *c, const indim_shape *like, const int64_t *sizes,
                               const indim_shape **out) {
  indim_shape *shape = NULL;
  INDIM_TRY(indim_flow_array(c->m->instr_arena, 1, sizeof *shape, &shape));
  INDIM_TRY(indim_shape_init(c->m->cx, like->type, like->rank, sizes, shape));
  if (like->has_layout) {
    memcpy(shape->layout.minor_to_major, like->layout.minor_to_major, sizeof shape->layout.minor_to_major);
  }
  *out = shape;
  return INDIM_OK;
}

// A new item of |shape|, named after |origin|, which becomes something.
static indim_status make_item(cutting *c, const indim_flow_item *origin, const indim_shape *shape,
                              indim_flow_item **out) {
  c->budget--;
  return indim_flow_new_item(c->m, INDIM_FLOW_OP, origin->instr, shape, out);
}

static bool has_sizes(const indim_shape *shape, const int64_t *sizes) {
  return memcmp(shape->sizes, sizes, (size_t)shape->rank * sizeof *sizes) == 0;
}

// A slice reads |dims| of |of|: it is gone where that is all of it.
static indim_status read_instead(cutting *c, indim_flow_item *slice, indim_flow_item *of, const indim_slice_dim *dims) {
  if (indim_shape_equal(of->shape, slice->shape, 0)) {
    c->instead[slice->index] = of;
    c->is_gone[slice->index] = true;
    c->of[of->index].is_whole = true;
    return INDIM_OK;
  }
  INDIM_TRY(indim_flow_become_slice(c->m, slice, of, dims));
  return add_reader(c, slice);
}

// An item for |dims| of |of|, for |user|; |sizes| has room for its sizes.
static indim_status make_part(cutting *c, const indim_flow_item *user, indim_flow_item *of, const indim_slice_dim *dims,
                              const int64_t *sizes, indim_flow_item **out) {
  const indim_shape *shape = NULL;
  if (has_sizes(of->shape, sizes)) {
    c->of[of->index].is_whole = true;
    *out = of;
    return INDIM_OK;
  }
  INDIM_TRY(make_shape(c, of->shape, sizes, &shape));
  INDIM_TRY(make_item(c, user, shape, out));
  INDIM_TRY(indim_flow_become_slice(c->m, *out, of, dims));
  return add_reader(c, *out);
}

// Concatenates ---------------------------------------------------------------------------------------------------------

typedef struct joint {
  indim_flow_item *item;
  int32_t dim, count;
  int64_t *starts;  // of each operand in the dimension, and the end
} joint;

// The operands that the slice's first and last element lie in.
typedef struct met {
  int32_t first, last;
} met;

// The operand that has a place of the dimension.
static int32_t operand_at(const joint *j, int64_t place) {
  int32_t low = 0, high = j->count - 1;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    if (place < j->starts[middle + 1]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// A slice without elements counts as one of the first operand.
static met meets(const joint *j, const indim_flow_item *slice) {
  int64_t size = slice->shape->sizes[j->dim];
  indim_slice_dim dim = bounds_of(slice)[j->dim];
  return size == 0 ? (met){0, 0} : (met){operand_at(j, dim.start), operand_at(j, dim.start + (size - 1) * dim.stride)};
}

// Reads |slice|'s elements from |of|, which begins at |start| and has all of them.
static indim_status shift(cutting *c, const joint *j, indim_flow_item *slice, indim_flow_item *of, int64_t start) {
  indim_slice_dim dims[INDIM_MAX_RANK];
  memcpy(dims, bounds_of(slice), (size_t)slice->shape->rank * sizeof *dims);
  indim_slice_dim *dim = &dims[j->dim];
  int64_t size = slice->shape->sizes[j->dim];
  dim->start = size == 0 ? 0 : dim->start - start;
  dim->limit = size == 0 ? 0 : dim->start + (size - 1) * dim->stride + 1;
  return read_instead(c, slice, of, dims);
}

// A slice that is the only one to read these operands is the concatenate of their slices.
static indim_status concatenate_parts(cutting *c, const joint *j, indim_flow_item *slice, met m) {
  indim_flow_item **parts = NULL;
  int64_t *attr_dim = NULL;
  int64_t sizes[INDIM_MAX_RANK];
  indim_slice_dim dims[INDIM_MAX_RANK];
  size_t rank = (size_t)slice->shape->rank;
  int32_t count = 0;
  INDIM_TRY(indim_flow_array(c->m->arena, (int64_t)m.last - m.first + 1, sizeof *parts, &parts));
  INDIM_TRY(indim_flow_array(c->m->instr_arena, 1, sizeof *attr_dim, &attr_dim));
  memcpy(dims, bounds_of(slice), rank * sizeof *dims);
  memcpy(sizes, slice->shape->sizes, rank * sizeof *sizes);
  indim_slice_dim *dim = &dims[j->dim];
  int64_t place = dim->start;  // of the next element
  int64_t left = sizes[j->dim];
  for (int32_t k = m.first; k <= m.last; k++) {
    int64_t here = place < j->starts[k + 1] ? (j->starts[k + 1] - place - 1) / dim->stride + 1 : 0;
    here = here < left ? here : left;
    if (here == 0) {
      continue;
    }
    sizes[j->dim] = here;
    dim->start = place - j->starts[k];
    dim->limit = dim->start + (here - 1) * dim->stride + 1;
    INDIM_TRY(make_part(c, slice, j->item->operands[k], dims, sizes, &parts[count++]));
    left -= here;
    if (left == 0) {  // a stride may lead anywhere behind the last element
      break;
    }
    place += here * dim->stride;
  }
  *attr_dim = j->dim;
  indim_attr attr = {.id = INDIM_ATTR_DIMENSIONS, .offset = INDIM_NO_OFFSET, .count = 1, .value.ints = attr_dim};
  return indim_flow_become(c->m, slice, slice->instr, INDIM_OP_CONCATENATE, &attr, 1, parts, count);
}

// The concatenate of the operands that are kept, which several slices read. |starts|: where each begins there.
static indim_status concatenate_kept(cutting *c, const joint *j, const int32_t *kept, int64_t *starts,
                                     indim_flow_item **out) {
  indim_flow_item **operands = NULL;
  int64_t sizes[INDIM_MAX_RANK];
  const indim_shape *shape = NULL;
  int64_t end = 0;
  int32_t count = 0;
  INDIM_TRY(indim_flow_array(c->m->arena, j->count, sizeof *operands, &operands));
  for (int32_t k = 0; k < j->count; k++) {
    starts[k] = end;
    if (kept[k] > 0) {
      operands[count++] = j->item->operands[k];
      end += j->starts[k + 1] - j->starts[k];
      c->of[operands[count - 1]->index].is_whole = true;
    }
  }
  memcpy(sizes, j->item->shape->sizes, (size_t)j->item->shape->rank * sizeof *sizes);
  sizes[j->dim] = end;
  INDIM_TRY(make_shape(c, j->item->shape, sizes, &shape));
  INDIM_TRY(make_item(c, j->item, shape, out));
  return indim_flow_become(c->m, *out, (*out)->instr, INDIM_OP_CONCATENATE,
                           indim_instr_attr(j->item->instr, INDIM_ATTR_DIMENSIONS), 1, operands, count);
}

static indim_status open_joint(const cutting *c, indim_flow_item *item, joint *out) {
  *out = (joint){.item = item, .dim = concatenated_dim(item), .count = item->operand_count};
  INDIM_TRY(indim_flow_array(c->m->arena, (int64_t)out->count + 1, sizeof *out->starts, &out->starts));
  for (int32_t k = 0; k < out->count; k++) {
    out->starts[k + 1] = out->starts[k] + item->operands[k]->shape->sizes[out->dim];
  }
  return INDIM_OK;
}

// Marks the operands that slices read together with others: these stay together. Returns how many do.
static int32_t mark_kept(const joint *j, const reader *slices, int32_t *kept) {
  int32_t count = 0;
  for (const reader *r = slices; r != NULL; r = r->next) {
    met m = meets(j, r->slice);
    kept[m.first] += m.first < m.last ? 1 : 0;
    kept[m.last + 1] -= m.first < m.last ? 1 : 0;
  }
  for (int32_t k = 0; k < j->count; k++) {
    kept[k] += k > 0 ? kept[k - 1] : 0;
    count += kept[k] > 0 ? 1 : 0;
  }
  return count;
}

// Where several slices read operands together, these stay one array, without the others.
static indim_status cut_concatenate(cutting *c, indim_flow_item *item, bool *out_is_cut) {
  joint j;
  int32_t *kept = NULL;
  int64_t *starts = NULL;
  indim_flow_item *rest = NULL;
  int32_t stay = 0;
  INDIM_TRY(open_joint(c, item, &j));
  INDIM_TRY(indim_flow_array(c->m->arena, (int64_t)j.count + 1, sizeof *kept, &kept));
  int32_t kept_count = mark_kept(&j, c->of[item->index].slices, kept);
  for (const reader *r = c->of[item->index].slices; r != NULL; r = r->next) {
    stay += kept[meets(&j, r->slice).first] > 0 ? 1 : 0;
  }
  *out_is_cut = kept_count <= c->budget && (stay <= 1 || kept_count < j.count);
  if (!*out_is_cut) {
    return INDIM_OK;
  }
  if (stay > 1) {
    INDIM_TRY(indim_flow_array(c->m->arena, j.count, sizeof *starts, &starts));
    INDIM_TRY(concatenate_kept(c, &j, kept, starts, &rest));
  }
  for (const reader *r = c->of[item->index].slices; r != NULL; r = r->next) {
    met m = meets(&j, r->slice);
    if (kept[m.first] == 0) {
      INDIM_TRY(shift(c, &j, r->slice, item->operands[m.first], j.starts[m.first]));
    } else if (rest != NULL) {
      INDIM_TRY(shift(c, &j, r->slice, rest, j.starts[m.first] - starts[m.first]));
    } else {
      INDIM_TRY(concatenate_parts(c, &j, r->slice, m));
    }
  }
  return INDIM_OK;
}

// Pads -----------------------------------------------------------------------------------------------------------------

// What a slice of a pad reads of the operand, and how much padding is left around that.
typedef struct framed {
  indim_slice_dim dims[INDIM_MAX_RANK];
  int64_t sizes[INDIM_MAX_RANK];
  indim_padding_dim padding[INDIM_MAX_RANK];
  bool is_inside, is_outside;
} framed;

// How many of |count| places, |stride| apart and the first at |place|, lie before |end|.
static int64_t places_before(int64_t place, int64_t stride, int64_t count, int64_t end) {
  int64_t before = place < end ? (end - place - 1) / stride + 1 : 0;
  return before < count ? before : count;
}

static void frame(const indim_flow_item *pad, const indim_flow_item *slice, framed *f) {
  const indim_padding_dim *padding = indim_instr_attr(pad->instr, INDIM_ATTR_PADDING)->value.padding;
  f->is_inside = true;
  f->is_outside = indim_shape_element_count(slice->shape) == 0;
  for (int32_t d = 0; d < slice->shape->rank; d++) {
    indim_slice_dim dim = bounds_of(slice)[d];
    int64_t count = slice->shape->sizes[d];
    int64_t start = dim.start - padding[d].low;
    int64_t low = places_before(start, dim.stride, count, 0);
    int64_t inside = places_before(start, dim.stride, count, pad->operands[0]->shape->sizes[d]) - low;
    f->sizes[d] = inside;
    dim.start = start + low * dim.stride;
    dim.limit = dim.start + (inside - 1) * dim.stride + 1;
    f->dims[d] = dim;
    f->padding[d] = (indim_padding_dim){.low = low, .high = count - inside - low};
    f->is_inside = f->is_inside && inside == count;
    f->is_outside = f->is_outside || inside == 0;
  }
  f->is_inside = f->is_inside && !f->is_outside;
}

static indim_status cut_from_pad(cutting *c, indim_flow_item *pad, indim_flow_item *slice, const framed *f) {
  indim_flow_item *operands[2] = {NULL, pad->operands[1]};
  indim_padding_dim *padding = NULL;
  if (f->is_inside) {
    return read_instead(c, slice, pad->operands[0], f->dims);
  }
  c->of[operands[1]->index].is_whole = true;
  if (f->is_outside) {
    return indim_flow_become(c->m, slice, slice->instr, INDIM_OP_BROADCAST, NULL, 0, &operands[1], 1);
  }
  INDIM_TRY(make_part(c, slice, pad->operands[0], f->dims, f->sizes, &operands[0]));
  INDIM_TRY(indim_flow_array(c->m->instr_arena, slice->shape->rank, sizeof *padding, &padding));
  memcpy(padding, f->padding, (size_t)slice->shape->rank * sizeof *padding);
  indim_attr attr = {
      .id = INDIM_ATTR_PADDING, .offset = INDIM_NO_OFFSET, .count = slice->shape->rank, .value.padding = padding};
  return indim_flow_become(c->m, slice, slice->instr, INDIM_OP_PAD, &attr, 1, operands, 2);
}

// Of several slices that meet the operand each has to lie inside of it: the others would be pads, each with its own edges.
static indim_status cut_pad(cutting *c, indim_flow_item *pad, bool *out_is_cut) {
  int32_t met_count = 0, edges = 0;
  framed f;
  for (const reader *r = c->of[pad->index].slices; r != NULL; r = r->next) {
    frame(pad, r->slice, &f);
    met_count += f.is_outside ? 0 : 1;
    edges += f.is_outside || f.is_inside ? 0 : 1;
  }
  *out_is_cut = edges <= c->budget && (edges == 0 || met_count == 1);
  for (const reader *r = c->of[pad->index].slices; *out_is_cut && r != NULL; r = r->next) {
    frame(pad, r->slice, &f);
    INDIM_TRY(cut_from_pad(c, pad, r->slice, &f));
  }
  return INDIM_OK;
}

// What leads there -----------------------------------------------------------------------------------------------------

// The one slice of a slice is one of its operand: several might all be computed from an operand that is larger and kept whole.
// What is all of its operand is that, whoever reads it.
static indim_status cut_slice(cutting *c, indim_flow_item *inner, bool *out_is_cut) {
  const readers *of = &c->of[inner->index];
  bool is_all = indim_shape_equal(inner->shape, inner->operands[0]->shape, 0);
  *out_is_cut = is_all || (of->count == 1 && !of->is_whole && c->leads[inner->index]);
  if (!*out_is_cut) {
    return INDIM_OK;
  }
  if (of->is_whole) {
    c->instead[inner->index] = inner->operands[0];
    c->of[inner->operands[0]->index].is_whole = true;
  }
  for (const reader *r = c->of[inner->index].slices; r != NULL; r = r->next) {
    indim_slice_dim dims[INDIM_MAX_RANK];
    for (int32_t d = 0; d < inner->shape->rank; d++) {
      indim_slice_dim by = bounds_of(r->slice)[d];
      indim_slice_dim dim = bounds_of(inner)[d];
      int64_t size = r->slice->shape->sizes[d];
      dim.start = size == 0 ? 0 : dim.start + by.start * dim.stride;
      dim.stride = size > 1 ? dim.stride * by.stride : 1;
      dim.limit = size == 0 ? 0 : dim.start + (size - 1) * dim.stride + 1;
      dims[d] = dim;
    }
    INDIM_TRY(read_instead(c, r->slice, inner->operands[0], dims));
  }
  return INDIM_OK;
}

// The one slice of an elementwise op is the op of a slice.
static indim_status cut_elementwise(cutting *c, const indim_flow_item *item) {
  indim_flow_item *slice = c->of[item->index].slices->slice;
  indim_flow_item *part = NULL;
  INDIM_TRY(make_part(c, slice, item->operands[0], bounds_of(slice), slice->shape->sizes, &part));
  return indim_flow_become(c->m, slice, slice->instr, item->instr->op, item->instr->attrs, item->instr->attr_count,
                           &part, 1);
}

static bool is_unary(const indim_flow_item *item) {
  return item->kind == INDIM_FLOW_OP && item->operand_count == 1 && indim_op_is_elementwise(item->instr->op) &&
         item->shape->rank == item->operands[0]->shape->rank && has_sizes(item->shape, item->operands[0]->shape->sizes);
}

static bool is_edge_pad(const indim_flow_item *item) {
  const indim_padding_dim *padding = indim_instr_attr(item->instr, INDIM_ATTR_PADDING)->value.padding;
  bool is = true;
  for (int32_t d = 0; d < item->shape->rank; d++) {
    is = is && padding[d].interior == 0;
  }
  return is;
}

// Finds whether |item| leads to one that puts parts together, and whether it is a slice that does.
static indim_status find_lead(const cutting *c, indim_flow_item *item, bool *is_any) {
  bool *leads = &c->leads[item->index];
  if (item->kind != INDIM_FLOW_OP || !indim_shape_is_array(item->shape) || !indim_shape_is_static(item->shape)) {
    return INDIM_OK;
  }
  if (indim_flow_is_op(item, INDIM_OP_DYNAMIC_SLICE) && c->leads[item->operands[0]->index]) {
    INDIM_TRY(indim_flow_fix_starts(c->m, item));
  }
  bool passes = indim_flow_is_op(item, INDIM_OP_SLICE) || is_unary(item);
  *leads = indim_flow_is_op(item, INDIM_OP_CONCATENATE) ||
           (indim_flow_is_op(item, INDIM_OP_PAD) && is_edge_pad(item)) ||
           (passes && c->leads[item->operands[0]->index]);
  *is_any = *is_any || (*leads && indim_flow_is_op(item, INDIM_OP_SLICE));
  return INDIM_OK;
}

// The walk -------------------------------------------------------------------------------------------------------------

// What nobody reads goes, an op with all of its results.
static bool drop(cutting *c, const indim_flow_item *item) {
  bool is_dead = item->kind == INDIM_FLOW_OP && !item->has_effect && !is_read(c, item);
  for (int32_t k = 0; k < item->member_count && is_dead; k++) {
    c->is_gone[item->members[k]->index] = true;
  }
  return is_dead;
}

// Lets the slices of |item| read something else; sets whether it is gone then.
static indim_status cut(cutting *c, indim_flow_item *item, bool *out_is_cut) {
  const readers *of = &c->of[item->index];
  *out_is_cut = drop(c, item);
  if (!*out_is_cut && indim_flow_is_op(item, INDIM_OP_SLICE)) {
    return cut_slice(c, item, out_is_cut);
  }
  if (!c->leads[item->index] || of->is_whole || of->count == 0) {
    return INDIM_OK;
  }
  switch ((int)item->instr->op) {
  case INDIM_OP_CONCATENATE:
    return cut_concatenate(c, item, out_is_cut);
  case INDIM_OP_PAD:
    return cut_pad(c, item, out_is_cut);
  default:
    *out_is_cut = of->count == 1 && c->budget > 0;
    return *out_is_cut ? cut_elementwise(c, item) : INDIM_OK;
  }
}

// New items stand where the one stood that they are made for: behind what they read.
static indim_status cut_all(cutting *c, int32_t item_count) {
  const indim_flow *flow = c->m->flow;
  for (int32_t i = item_count - 1; i >= 0; i--) {
    indim_flow_item *item = flow->items[i];
    int32_t before = flow->item_count;
    INDIM_TRY(cut(c, item, &c->is_gone[i]));
    c->order[--c->at] = item;  // what is gone leaves at the end
    if (!c->is_gone[i]) {
      INDIM_TRY(note_reads(c, item));
    }
    for (int32_t k = flow->item_count - 1; k >= before; k--) {
      c->order[--c->at] = flow->items[k];
    }
  }
  return INDIM_OK;
}

static indim_flow_item *now(const cutting *c, indim_flow_item *item) {
  return c->instead[item->index] == NULL ? item : c->instead[item->index];
}

// The flow in the new order, without what is gone.
static void put_in_order(cutting *c, int32_t end) {
  indim_flow *flow = c->m->flow;
  int32_t count = 0;
  for (int32_t i = c->at; i < end; i++) {
    indim_flow_item *item = c->order[i];
    for (int32_t k = 0; k < item->operand_count; k++) {
      item->operands[k] = now(c, item->operands[k]);
    }
    if (c->instead[item->index] != NULL) {
      c->instead[item->index] = now(c, c->instead[item->index]);
    }
    if (!c->is_gone[item->index]) {
      c->order[count++] = item;
    }
  }
  for (int32_t k = 0; k < flow->result_count; k++) {
    flow->results[k] = now(c, flow->results[k]);
  }
  for (int32_t i = 0; i < count; i++) {
    c->order[i]->index = i;
  }
  flow->items = c->order;
  flow->item_count = count;
  flow->item_capacity = end;
}

static indim_status open_cutting(cutting *c, int32_t *out_end) {
  indim_arena *arena = c->m->arena;
  const indim_flow *flow = c->m->flow;
  enum { LEAST_BUDGET = 64 };
  c->budget = flow->item_count + LEAST_BUDGET;
  *out_end = c->at = flow->item_count + c->budget;
  INDIM_TRY(indim_flow_array(arena, *out_end, sizeof *c->of, &c->of));
  INDIM_TRY(indim_flow_array(arena, *out_end, sizeof *c->instead, &c->instead));
  INDIM_TRY(indim_flow_array(arena, *out_end, sizeof *c->is_gone, &c->is_gone));
  INDIM_TRY(indim_flow_array(arena, *out_end, sizeof *c->order, &c->order));
  for (int32_t k = 0; k < flow->result_count; k++) {
    c->of[flow->results[k]->index].is_whole = true;
  }
  return INDIM_OK;
}

indim_status indim_flow_cut(maker *m) {
  cutting c = {.m = m};
  int32_t item_count = m->flow->item_count;
  int32_t end = 0;
  bool is_any = false;
  INDIM_TRY(indim_flow_array(m->arena, item_count, sizeof *c.leads, &c.leads));
  for (int32_t i = 0; i < item_count; i++) {
    INDIM_TRY(find_lead(&c, m->flow->items[i], &is_any));
  }
  if (!is_any) {
    return INDIM_OK;
  }
  INDIM_TRY(open_cutting(&c, &end));
  INDIM_TRY(cut_all(&c, item_count));
  put_in_order(&c, end);
  return INDIM_OK;
}
