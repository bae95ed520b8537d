// The value of an item at an index. Whatever lives nowhere is computed here, from its operands at the indices that its
// op's meaning says: broadcast, transpose, slice, reverse and reshape only change coordinates, pad and concatenate choose
// by them, and elementwise work becomes one node. What was computed for an index once is remembered.
#include "base/size.h"
#include "loop/element.h"

#include <string.h>

#include "array/element.h"
// Memory of what was computed --------------------------------------------------------------------------------------------

// Room for a key: the item, lanes, mask, and two words for each coordinate.
typedef struct memo_entry {
  uint64_t hash;
  const indim_flow_item *item;
  const int64_t *key;
  int32_t key_count;
  indim_lval value;
} memo_entry;

struct indim_lower_memo {
  memo_entry *entries;
  size_t count, used;
};

static uint64_t hash_key(const indim_flow_item *item, int32_t count, const int64_t *key) {
  uint64_t h = (uint64_t)(uintptr_t)item;
  for (int32_t i = 0; i < count; i++) {
    h = (h ^ (uint64_t)key[i]) * UINT64_C(0x9E3779B97F4A7C15);
    h ^= h >> 29;
  }
  return h;
}

static bool is_open(const indim_lowering *l, indim_lval v) {
  for (const indim_loop_body *body = l->program->values[v].body; body != NULL; body = body->outer) {
    if (body->is_closed) {
      return false;
    }
  }
  return true;
}

static memo_entry *find(indim_lower_memo *memo, uint64_t hash, const indim_flow_item *item, int32_t count,
                        const int64_t *key) {
  if (memo->count == 0) {
    return NULL;
  }
  for (size_t at = hash & (memo->count - 1);; at = (at + 1) & (memo->count - 1)) {
    memo_entry *entry = &memo->entries[at];
    if (entry->item == NULL || (entry->hash == hash && entry->item == item && entry->key_count == count &&
                                memcmp(entry->key, key, (size_t)count * sizeof *key) == 0)) {
      return entry;
    }
  }
}

static void grow(indim_lowering *l, indim_lower_memo *memo) {
  size_t count = memo->count == 0 ? 256 : memo->count * 2;
  memo_entry *entries = indim_lower_alloc(l, (int64_t)count, sizeof *entries);
  if (entries == NULL) {
    return;
  }
  for (size_t i = 0; i < memo->count; i++) {
    const memo_entry *entry = &memo->entries[i];
    if (entry->item != NULL) {
      size_t at = entry->hash & (count - 1);
      while (entries[at].item != NULL) {
        at = (at + 1) & (count - 1);
      }
      entries[at] = *entry;
    }
  }
  memo->entries = entries;
  memo->count = count;
}

static void remember(indim_lowering *l, uint64_t hash, const indim_flow_item *item, int32_t count, const int64_t *key,
                     indim_lval value) {
  indim_lower_memo *memo = l->memo;
  if (memo->used * 2 >= memo->count) {
    grow(l, memo);
  }
  int64_t *kept = indim_lower_alloc(l, count, sizeof *kept);
  if (kept == NULL || memo->count == 0) {
    return;
  }
  memo_entry *entry = find(memo, hash, item, count, key);
  if (entry->item == NULL) {
    memcpy(kept, key, (size_t)count * sizeof *key);
    *entry = (memo_entry){.hash = hash, .item = item, .key = kept, .key_count = count};
    memo->used++;
  }
  entry->value = value;
}

void indim_element_forget(indim_lowering *l) {
  indim_lower_memo *memo = l->memo;
  if (memo == NULL) {
    l->memo = indim_lower_alloc(l, 1, sizeof *memo);
    return;
  }
  if (memo->used > 0) {
    memset(memo->entries, 0, memo->count * sizeof *memo->entries);
    memo->used = 0;
  }
}

static int32_t make_key(const indim_kernel *k, const indim_flow_item *item, const indim_coord *index, indim_lval mask,
                        int64_t *key) {
  int32_t count = 0;
  key[count++] = k->lanes;
  key[count++] = mask;
  for (int32_t d = 0; d < item->shape->rank; d++) {
    key[count++] = index[d].base;
    key[count++] = index[d].step;
  }
  return count;
}

// Coordinates ------------------------------------------------------------------------------------------------------------

static int32_t lanes_of(const indim_kernel *k, indim_lval v) { return v == 0 ? 1 : k->l->program->values[v].lanes; }

indim_lval indim_coord_lanes(indim_kernel *k, indim_coord x) {
  indim_loop_builder *b = &k->l->b;
  if (lanes_of(k, x.base) > 1) {
    return x.base;
  }
  indim_lval base = indim_loop_splat(b, x.base, k->lanes);
  if (x.step == 0 || k->lanes == 1) {
    return base;
  }
  uint64_t bits[2 * 256] = {0};
  for (int32_t i = 0; i < k->lanes && i < 256; i++) {
    bits[2 * i] = (uint64_t)(i * x.step);
  }
  return indim_loop_add(b, base, indim_loop_lanes(b, INDIM_S64, k->lanes, bits));
}

static bool has_lanes(const indim_kernel *k, indim_coord x) { return x.step != 0 || lanes_of(k, x.base) > 1; }

indim_coord indim_coord_add(indim_kernel *k, indim_coord x, indim_coord y) {
  indim_loop_builder *b = &k->l->b;
  if (lanes_of(k, x.base) == 1 && lanes_of(k, y.base) == 1) {
    return (indim_coord){indim_loop_add(b, x.base, y.base), x.step + y.step};
  }
  return (indim_coord){indim_loop_add(b, indim_coord_lanes(k, x), indim_coord_lanes(k, y)), 0};
}

indim_coord indim_coord_scale(indim_kernel *k, indim_coord x, int64_t factor, int64_t constant) {
  indim_loop_builder *b = &k->l->b;
  indim_lval base = indim_loop_mul_const(b, x.base, factor);
  if (lanes_of(k, base) > 1 && constant != 0) {
    indim_lval added = indim_loop_splat(b, indim_loop_index(b, constant), lanes_of(k, base));
    return (indim_coord){indim_loop_add(b, base, added), 0};
  }
  return (indim_coord){indim_loop_add_const(b, base, constant), x.step * factor};
}

// x / divisor and x % divisor. Lanes stay on a line when they provably do not cross a multiple of the divisor.
void indim_coord_divide(indim_kernel *k, indim_coord x, int64_t divisor, indim_coord *out_quotient,
                        indim_coord *out_rest) {
  indim_loop_builder *b = &k->l->b;
  if (divisor == 1) {
    *out_quotient = x;
    *out_rest = (indim_coord){indim_loop_index(b, 0), 0};
    return;
  }
  if (!has_lanes(k, x)) {
    *out_quotient = (indim_coord){indim_loop_floordiv(b, x.base, divisor), 0};
    *out_rest = (indim_coord){indim_loop_modulo(b, x.base, divisor), 0};
    indim_survey_divided(k->l, x, out_quotient->base);
    return;
  }
  if (lanes_of(k, x.base) == 1 && x.step % divisor == 0) {
    *out_quotient = (indim_coord){indim_loop_floordiv(b, x.base, divisor), x.step / divisor};
    *out_rest = (indim_coord){indim_loop_modulo(b, x.base, divisor), 0};
    return;
  }
  if (lanes_of(k, x.base) == 1) {
    indim_lval rest = indim_loop_modulo(b, x.base, divisor);
    const indim_loop_value *range = indim_loop_value_of(b, rest);
    int64_t reach = x.step * (k->lanes - 1);
    bool is_known = range->low >= 0 && range->high < divisor;  // it is not after a failure
    if (is_known && range->low + (reach < 0 ? reach : 0) >= 0 && range->high + (reach > 0 ? reach : 0) < divisor) {
      *out_quotient = (indim_coord){indim_loop_floordiv(b, x.base, divisor), 0};
      *out_rest = (indim_coord){rest, x.step};
      return;
    }
  }
  indim_lval lanes = indim_coord_lanes(k, x);
  *out_quotient = (indim_coord){indim_loop_floordiv(b, lanes, divisor), 0};
  *out_rest = (indim_coord){indim_loop_modulo(b, lanes, divisor), 0};
}

indim_coord indim_coord_const(indim_kernel *k, int64_t value) {
  return (indim_coord){indim_loop_index(&k->l->b, value), 0};
}

// low <= x <= high; 0 when that is always so, and *|out_never| when it is never so.
indim_lval indim_coord_guard(indim_kernel *k, indim_coord x, int64_t low, int64_t high, bool *out_never) {
  indim_loop_builder *b = &k->l->b;
  *out_never = false;
  const indim_loop_value *range = indim_loop_value_of(b, x.base);
  int64_t reach = lanes_of(k, x.base) > 1 ? 0 : x.step * (k->lanes - 1);
  int64_t least = range->low;
  int64_t most = range->high;
  if (least == INT64_MIN || most == INT64_MAX || !indim_int_add(least, reach < 0 ? reach : 0, &least) ||
      !indim_int_add(most, reach > 0 ? reach : 0, &most)) {
    least = INT64_MIN;
    most = INT64_MAX;
  }
  // What holds in this dimension would not hold if it were merged with another.
  if (least >= low && most <= high) {
    indim_survey_alone(k->l, x);
    return 0;
  }
  if (most < low || least > high) {
    indim_survey_alone(k->l, x);
    *out_never = true;
    return 0;
  }
  indim_survey_cut(k->l, x, low);
  indim_survey_cut(k->l, x, high + 1);
  indim_lval value = has_lanes(k, x) ? indim_coord_lanes(k, x) : x.base;
  return indim_loop_in_range(b, value, low, high);
}

indim_lval indim_mask_both(indim_kernel *k, indim_lval x, indim_lval y) {
  if (x == 0 || y == 0) {
    return x == 0 ? y : x;
  }
  int32_t lanes = lanes_of(k, x) > lanes_of(k, y) ? lanes_of(k, x) : lanes_of(k, y);
  indim_loop_builder *b = &k->l->b;
  return indim_loop_binary(b, INDIM_OP_AND, indim_loop_splat(b, x, lanes), indim_loop_splat(b, y, lanes));
}

// Memory -----------------------------------------------------------------------------------------------------------------

static void fill_index(indim_kernel *k, int32_t rank, const indim_coord *index, bool spread, indim_lval *out,
                       bool *out_any) {
  *out_any = false;
  for (int32_t d = 0; d < rank; d++) {
    *out_any = *out_any || has_lanes(k, index[d]);
    out[d] = spread ? indim_coord_lanes(k, index[d]) : index[d].base;
  }
}

// The address of the first lane and the elements between lanes, or an address for each lane.
static indim_lval address_of(indim_kernel *k, const indim_shape *shape, const indim_location *at,
                             const indim_coord *index, int64_t *out_step, bool *out_any) {
  indim_lval bases[INDIM_MAX_RANK];
  bool spread = false;
  int64_t step = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    spread = spread || lanes_of(k, index[d].base) > 1 || (at->tiled != NULL && index[d].step != 0);
    step += at->tiled == NULL ? index[d].step * at->strides[d] : 0;
  }
  fill_index(k, shape->rank, index, spread, bases, out_any);
  // A line of lanes may still fold onto one element, as a broadcast dimension of stride 0 does.
  *out_any = *out_any && (spread || step != 0);
  *out_step = spread ? 0 : step;
  indim_location scalar = *at;
  if (spread) {
    scalar.base = at->base == 0 ? 0 : indim_loop_splat(&k->l->b, at->base, k->lanes);
    scalar.offset = 0;
    indim_lval address = indim_location_address(k->l, shape, &scalar, bases);
    indim_lval offset = indim_loop_splat(&k->l->b, indim_loop_index(&k->l->b, at->offset), k->lanes);
    return at->offset == 0 ? address : indim_loop_add(&k->l->b, address, offset);
  }
  return indim_location_address(k->l, shape, &scalar, bases);
}

static indim_lval load(indim_kernel *k, const indim_flow_item *item, const indim_location *at, const indim_coord *index,
                       indim_lval mask) {
  int64_t step = 0;
  bool any = false;
  indim_loop_builder *b = &k->l->b;
  indim_lval turned = mask == 0 ? indim_turn_find(k->l) : 0;
  if (turned != 0) {
    return turned;
  }
  indim_lval address = address_of(k, item->shape, at, index, &step, &any);
  indim_survey_access(k->l, item, at, address);
  if (mask != 0) {
    indim_turn_note(k->l, item, false, 0);
    int32_t lanes = any || lanes_of(k, mask) > 1 ? k->lanes : 1;
    indim_lval fill = indim_loop_splat(b, indim_loop_const(b, item->shape->type, 0, 0), lanes);
    return indim_loop_load_masked(b, at->storage, address, (int32_t)step, indim_loop_splat(b, mask, lanes), fill);
  }
  indim_lval value = indim_loop_load(b, at->storage, address, any ? k->lanes : 1, (int32_t)step);
  indim_turn_note(k->l, item, any && step == 1, value);
  return value;
}

indim_lval indim_load_at(indim_kernel *k, const indim_shape *shape, const indim_location *at,
                         const indim_coord *index) {
  int64_t step = 0;
  bool any = false;
  indim_lval address = address_of(k, shape, at, index, &step, &any);
  indim_survey_store(k->l, at, address);
  indim_lval value = indim_loop_load(&k->l->b, at->storage, address, any ? k->lanes : 1, (int32_t)step);
  return indim_loop_splat(&k->l->b, value, k->lanes);
}

void indim_store_at(indim_kernel *k, const indim_shape *shape, const indim_location *at, const indim_coord *index,
                    indim_lval value) {
  int64_t step = 0;
  bool any = false;
  indim_lval address = address_of(k, shape, at, index, &step, &any);
  indim_survey_store(k->l, at, address);
  if (k->is_trial) {
    return;
  }
  indim_loop_store(&k->l->b, at->storage, address, indim_loop_splat(&k->l->b, value, k->lanes), (int32_t)step,
                   k->streams);
}

// Ops that move ----------------------------------------------------------------------------------------------------------

static indim_lval broadcast(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  indim_coord inner[INDIM_MAX_RANK];
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  for (int64_t d = 0; d < count; d++) {
    inner[d] = index[dims[d]];
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

static indim_lval transpose(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  indim_coord inner[INDIM_MAX_RANK];
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  for (int64_t d = 0; d < count; d++) {
    inner[dims[d]] = index[d];
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

static indim_lval slice(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  indim_coord inner[INDIM_MAX_RANK];
  const indim_attr *attr = indim_instr_attr(item->instr, INDIM_ATTR_SLICE);
  for (int32_t d = 0; d < item->shape->rank; d++) {
    inner[d] = indim_coord_scale(k, index[d], attr->value.slice[d].stride, attr->value.slice[d].start);
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

static indim_lval reverse(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  indim_coord inner[INDIM_MAX_RANK];
  memcpy(inner, index, (size_t)item->shape->rank * sizeof *inner);
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  for (int64_t i = 0; i < count; i++) {
    inner[dims[i]] = indim_coord_scale(k, index[dims[i]], -1, item->shape->sizes[dims[i]] - 1);
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

// Dimensions of a shape from the most minor: of its layout where the op is about memory, else as numbered.
static int32_t minor_dim(const indim_shape *shape, int32_t position, bool in_memory) {
  return in_memory && shape->has_layout ? (int32_t)shape->layout.minor_to_major[position] : shape->rank - 1 - position;
}

// reshape counts in row-major order, bitcast in the order of both layouts. Equal sizes met from the minor end pass
// through; the rest goes by one number for all dimensions.
static indim_lval reshape(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  bool in_memory = item->instr->op == INDIM_OP_BITCAST;
  const indim_shape *to = item->shape;
  const indim_shape *from = item->operands[0]->shape;
  indim_coord inner[INDIM_MAX_RANK];
  int32_t i = 0;
  int32_t j = 0;
  while (i < to->rank || j < from->rank) {
    int32_t td = i < to->rank ? minor_dim(to, i, in_memory) : -1;
    int32_t fd = j < from->rank ? minor_dim(from, j, in_memory) : -1;
    if (td >= 0 && to->sizes[td] == 1 && (fd < 0 || from->sizes[fd] != 1)) {
      i++;
      continue;
    }
    if (fd >= 0 && from->sizes[fd] == 1 && (td < 0 || to->sizes[td] != 1)) {
      inner[fd] = indim_coord_const(k, 0);
      j++;
      continue;
    }
    if (td < 0 || fd < 0) {
      indim_loop_fail(&k->l->b, INDIM_INTERNAL);
      return 0;
    }
    if (to->sizes[td] == from->sizes[fd]) {
      inner[fd] = index[td];
      i++;
      j++;
      continue;
    }
    // The smallest runs of dimensions on both sides with equal products.
    int64_t to_size = to->sizes[td];
    int64_t from_size = from->sizes[fd];
    indim_coord linear = index[td];
    int32_t first = j;
    i++;
    j++;
    while (to_size != from_size) {
      if (to_size < from_size && i < to->rank) {
        int32_t d = minor_dim(to, i++, in_memory);
        linear = indim_coord_add(k, linear, indim_coord_scale(k, index[d], to_size, 0));
        to_size *= to->sizes[d];
      } else if (j < from->rank) {
        from_size *= from->sizes[minor_dim(from, j++, in_memory)];
      } else {
        indim_loop_fail(&k->l->b, INDIM_INTERNAL);
        return 0;
      }
    }
    for (int32_t p = first; p < j; p++) {
      int32_t d = minor_dim(from, p, in_memory);
      if (p + 1 == j) {
        inner[d] = linear;
      } else {
        indim_coord_divide(k, linear, from->sizes[d], &linear, &inner[d]);
      }
    }
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

// The coordinate itself. Lanes on a line are counted in the type, or in 32 bits on the way to a float, rather than in the 64
// of an index: the sum wraps as the conversion does.
static indim_lval iota(indim_kernel *k, indim_flow_item *item, const indim_coord *index) {
  indim_loop_builder *b = &k->l->b;
  int64_t dim = indim_instr_int(item->instr, INDIM_ATTR_IOTA_DIMENSION, 0);
  indim_coord x = index[dim];
  indim_type type = item->shape->type;
  indim_survey_alone(k->l, x);
  if (!has_lanes(k, x)) {
    return indim_loop_convert(b, x.base, type);
  }
  bool is_float = !indim_type_is_integral(type) && item->shape->sizes[dim] <= INT32_MAX;
  if (lanes_of(k, x.base) > 1 || k->lanes > 256 || (!indim_type_is_integral(type) && !is_float)) {
    return indim_loop_convert(b, indim_coord_lanes(k, x), type);
  }
  indim_type counted = is_float ? INDIM_S32 : type;
  uint64_t bits[2 * 256] = {0};
  for (int32_t i = 0; i < k->lanes; i++) {
    bits[2 * i] = indim_element_of_int(counted, i * x.step).bits;
  }
  indim_lval base = indim_loop_splat(b, indim_loop_convert(b, x.base, counted), k->lanes);
  indim_lval sum = indim_loop_binary(b, INDIM_OP_ADD, base, indim_loop_lanes(b, counted, k->lanes, bits));
  return indim_loop_convert(b, sum, type);
}

// One element of an empty index.
static indim_lval scalar_of(indim_kernel *k, indim_flow_item *item) { return indim_value_at(k, item, NULL, 0); }

static indim_lval dynamic_slice(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  indim_coord inner[INDIM_MAX_RANK];
  const indim_shape *from = item->operands[0]->shape;
  for (int32_t d = 0; d < from->rank; d++) {
    indim_lval start =
        indim_lower_start(k, item->operands, item->operand_count, 1, d, from->sizes[d] - item->shape->sizes[d]);
    inner[d] = indim_coord_add(k, index[d], (indim_coord){start, 0});
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

indim_lval indim_lower_start(indim_kernel *k, indim_flow_item **operands, int32_t operand_count, int32_t first,
                             int32_t d, int64_t most) {
  indim_loop_builder *b = &k->l->b;
  indim_lval start = 0;
  if (most == 0) {
    return indim_loop_index(b, 0);
  }
  if (operand_count == first + 1 && operands[first]->shape->rank == 1) {  // the old form: all starts in one array
    indim_coord place = indim_coord_const(k, d);
    start = indim_value_at(k, operands[first], &place, 0);
  } else {
    start = scalar_of(k, operands[first + d]);
  }
  return indim_loop_clamp_index(b, start, 0, most);
}

indim_lval indim_choose(indim_kernel *k, indim_lval pred, indim_lval on_true, indim_lval on_false) {
  indim_loop_builder *b = &k->l->b;
  int32_t lanes = lanes_of(k, pred);
  lanes = lanes_of(k, on_true) > lanes ? lanes_of(k, on_true) : lanes;
  lanes = lanes_of(k, on_false) > lanes ? lanes_of(k, on_false) : lanes;
  return indim_loop_select(b, indim_loop_splat(b, pred, lanes), indim_loop_splat(b, on_true, lanes),
                           indim_loop_splat(b, on_false, lanes));
}

// An element of the operand where one falls, else the padding value.
static indim_lval pad(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  indim_coord inner[INDIM_MAX_RANK];
  const indim_attr *attr = indim_instr_attr(item->instr, INDIM_ATTR_PADDING);
  indim_flow_item *operand = item->operands[0];
  indim_lval guard = 0;
  indim_lval value = scalar_of(k, item->operands[1]);
  for (int32_t d = 0; d < item->shape->rank; d++) {
    const indim_padding_dim *p = &attr->value.padding[d];
    int64_t size = operand->shape->sizes[d];
    if (size == 0) {
      return value;
    }
    bool never = false;
    indim_coord x = indim_coord_scale(k, index[d], 1, -p->low);
    if (p->low <= 0 && p->high <= 0 && p->interior == 0) {
      inner[d] = x;  // no guard: the index may be that of several dimensions that were merged
      continue;
    }
    guard = indim_mask_both(k, guard, indim_coord_guard(k, x, 0, (size - 1) * (p->interior + 1), &never));
    if (never) {
      return value;
    }
    inner[d] = x;
    if (p->interior > 0) {
      indim_coord rest;
      indim_coord_divide(k, x, p->interior + 1, &inner[d], &rest);
      guard = indim_mask_both(k, guard, indim_coord_guard(k, rest, 0, 0, &never));
      if (never) {
        return value;
      }
    }
  }
  if (guard == 0) {
    return indim_value_at(k, operand, inner, mask);
  }
  return indim_choose(k, guard, indim_value_at(k, operand, inner, indim_mask_both(k, mask, guard)), value);
}

static indim_lval concatenate(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  int64_t count = 0;
  int64_t dim = *indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  indim_coord inner[INDIM_MAX_RANK];
  memcpy(inner, index, (size_t)item->shape->rank * sizeof *inner);
  indim_lval result = 0;
  int64_t at = 0;
  for (int32_t i = 0; i < item->operand_count; i++) {
    int64_t size = item->operands[i]->shape->sizes[dim];
    if (size == 0) {
      continue;
    }
    if (size == item->shape->sizes[dim]) {
      return indim_value_at(k, item->operands[i], index, mask);  // the others are empty
    }
    bool never = false;
    indim_lval guard = indim_coord_guard(k, index[dim], at, at + size - 1, &never);
    if (!never) {
      inner[dim] = indim_coord_scale(k, index[dim], 1, -at);
      indim_lval value = indim_value_at(k, item->operands[i], inner, indim_mask_both(k, mask, guard));
      result = result == 0 || guard == 0 ? value : indim_choose(k, guard, value, result);
    }
    at += size;
  }
  return result;
}

// The start vector at the result's batch coordinates, clamped, plus the result's offset coordinates.
static indim_lval gather(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  const indim_instr *instr = item->instr;
  const indim_shape *from = item->operands[0]->shape;
  const indim_shape *indices = item->operands[1]->shape;
  int64_t offset_count = 0, collapsed_count = 0, map_count = 0, batching_count = 0, size_count = 0;
  const int64_t *offsets = indim_instr_ints(instr, INDIM_ATTR_OFFSET_DIMS, &offset_count);
  const int64_t *collapsed = indim_instr_ints(instr, INDIM_ATTR_COLLAPSED_SLICE_DIMS, &collapsed_count);
  const int64_t *map = indim_instr_ints(instr, INDIM_ATTR_START_INDEX_MAP, &map_count);
  const int64_t *batching = indim_instr_ints(instr, INDIM_ATTR_OPERAND_BATCHING_DIMS, &batching_count);
  const int64_t *indices_batching = indim_instr_ints(instr, INDIM_ATTR_START_INDICES_BATCHING_DIMS, &batching_count);
  const int64_t *sizes = indim_instr_ints(instr, INDIM_ATTR_SLICE_SIZES, &size_count);
  int64_t vector_dim = indim_instr_int(instr, INDIM_ATTR_INDEX_VECTOR_DIM, 0);
  indim_coord start_index[INDIM_MAX_RANK];
  indim_coord inner[INDIM_MAX_RANK];
  int32_t batch = 0;
  for (int32_t d = 0; d < item->shape->rank; d++) {
    if (!indim_list_has(offsets, offset_count, d)) {
      batch += batch == vector_dim ? 1 : 0;
      start_index[batch++] = index[d];
    }
  }
  int64_t window = 0;
  for (int32_t d = 0; d < from->rank; d++) {
    bool is_window = !indim_list_has(collapsed, collapsed_count, d) && !indim_list_has(batching, batching_count, d);
    inner[d] = is_window ? index[offsets[window++]] : indim_coord_const(k, 0);
  }
  for (int64_t i = 0; i < batching_count; i++) {
    inner[batching[i]] = start_index[indices_batching[i]];
  }
  for (int64_t i = 0; i < map_count; i++) {
    if (vector_dim < indices->rank) {
      start_index[vector_dim] = indim_coord_const(k, i);
    }
    indim_lval start = indim_value_at(k, item->operands[1], start_index, mask);
    start = indim_loop_clamp_index(&k->l->b, start, 0, from->sizes[map[i]] - sizes[map[i]]);
    inner[map[i]] = indim_coord_add(k, inner[map[i]], (indim_coord){start, 0});
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

// Elementwise --------------------------------------------------------------------------------------------------------------

static indim_lval elementwise(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  indim_lval few[8];
  indim_lval *args = few;
  if (item->operand_count > 8) {
    args = indim_lower_alloc(k->l, item->operand_count, sizeof *args);
    if (args == NULL) {
      return 0;
    }
  }
  int32_t lanes = 1;
  for (int32_t i = 0; i < item->operand_count; i++) {
    args[i] = item->operands[i]->shape->rank == 0 ? scalar_of(k, item->operands[i])
                                                  : indim_value_at(k, item->operands[i], index, mask);
    lanes = lanes_of(k, args[i]) > lanes ? lanes_of(k, args[i]) : lanes;
  }
  for (int32_t i = 0; i < item->operand_count; i++) {
    args[i] = indim_loop_splat(&k->l->b, args[i], lanes);
  }
  if (item->instr->op == INDIM_OP_MAP) {
    indim_lval result = 0;
    indim_loop_apply(&k->l->b, indim_instr_computation(item->instr, INDIM_ATTR_TO_APPLY), lanes, args, &result);
    return result;
  }
  return indim_loop_elementwise(&k->l->b, item->instr, item->operand_count, args);
}

bool indim_element_can(const indim_instr *instr) {
  switch ((int)instr->op) {
  case INDIM_OP_BROADCAST:
  case INDIM_OP_TRANSPOSE:
  case INDIM_OP_SLICE:
  case INDIM_OP_REVERSE:
  case INDIM_OP_RESHAPE:
  case INDIM_OP_COPY:
  case INDIM_OP_IOTA:
  case INDIM_OP_PAD:
  case INDIM_OP_CONCATENATE:
  case INDIM_OP_DYNAMIC_SLICE:
  case INDIM_OP_GATHER:
  case INDIM_OP_CONSTANT:
    return true;
  case INDIM_OP_BITCAST:
    return instr->operands[0]->shape->type == instr->shape->type || indim_recast_can(instr);
  case INDIM_OP_BITCAST_CONVERT:
    return indim_loop_can_elementwise(instr) || indim_recast_can(instr);
  case INDIM_OP_MAP:
    return indim_loop_can_apply(indim_instr_computation(instr, INDIM_ATTR_TO_APPLY));
  default:
    return indim_loop_can_elementwise(instr);
  }
}

static indim_lval compute(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  switch ((int)item->instr->op) {
  case INDIM_OP_BROADCAST:
    return broadcast(k, item, index, mask);
  case INDIM_OP_TRANSPOSE:
    return transpose(k, item, index, mask);
  case INDIM_OP_SLICE:
    return slice(k, item, index, mask);
  case INDIM_OP_REVERSE:
    return reverse(k, item, index, mask);
  case INDIM_OP_RESHAPE:
    return reshape(k, item, index, mask);
  case INDIM_OP_BITCAST:
    return item->operands[0]->shape->type == item->shape->type ? reshape(k, item, index, mask)
                                                               : indim_recast(k, item, index, mask);
  case INDIM_OP_BITCAST_CONVERT:
    return indim_loop_can_elementwise(item->instr) ? elementwise(k, item, index, mask)
                                                   : indim_recast(k, item, index, mask);
  case INDIM_OP_COPY:
    return indim_value_at(k, item->operands[0], index, mask);
  case INDIM_OP_IOTA:
    return iota(k, item, index);
  case INDIM_OP_PAD:
    return pad(k, item, index, mask);
  case INDIM_OP_CONCATENATE:
    return concatenate(k, item, index, mask);
  case INDIM_OP_DYNAMIC_SLICE:
    return dynamic_slice(k, item, index, mask);
  case INDIM_OP_GATHER:
    return gather(k, item, index, mask);
  default:
    return elementwise(k, item, index, mask);
  }
}

// Tiles and constants --------------------------------------------------------------------------------------------------

// A constant number when the item is one and all its elements are the same; 0 otherwise.
static indim_lval uniform_constant(indim_kernel *k, const indim_flow_item *item) {
  if (item->kind != INDIM_FLOW_OP || item->instr->op != INDIM_OP_CONSTANT) {
    return 0;
  }
  indim_element_bits bits;
  if (!indim_uniform_literal(item->instr->literal, &bits)) {
    return 0;
  }
  return indim_loop_const(&k->l->b, item->shape->type, bits.bits, bits.imag);
}

// The element of a tile at an index of constants; 0 when the index is not, or is that of several dimensions merged.
static indim_lval tile_element(indim_kernel *k, const indim_flow_item *item, const indim_coord *index) {
  const indim_tile *tile = &item->tile;
  int64_t linear = 0;
  for (int32_t d = 0; d < item->shape->rank; d++) {
    const indim_loop_value *value = indim_loop_value_of(&k->l->b, index[d].base);
    if (item->shape->sizes[d] == 1) {
      continue;
    }
    bool is_constant = index[d].step == 0 && value->lanes == 1 && value->low == value->high;
    if (!is_constant || value->low < 0 || value->low >= item->shape->sizes[d]) {
      return 0;
    }
    linear = linear * item->shape->sizes[d] + value->low;
  }
  return indim_loop_extract(&k->l->b, tile->rows[linear / tile->lanes], (int32_t)(linear % tile->lanes));
}

static indim_lval from_where_it_lives(indim_kernel *k, indim_flow_item *item, const indim_coord *index,
                                      indim_lval mask) {
  if (item->has_tile) {
    indim_lval value = tile_element(k, item, index);
    if (value != 0) {
      return value;
    }
  }
  indim_location at = indim_location_need(k->l, item);
  return at.storage == NULL ? 0 : load(k, item, &at, index, mask);
}

indim_lval indim_value_at(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  indim_lowering *l = k->l;
  if (indim_lower_failed(l)) {
    return 0;
  }
  indim_survey_type(l, item->shape->type);
  indim_lval constant = uniform_constant(k, item);
  if (constant != 0) {
    return constant;
  }
  int64_t key[2 + 2 * INDIM_MAX_RANK];
  int32_t count = make_key(k, item, index, mask, key);
  uint64_t hash = hash_key(item, count, key);
  memo_entry *entry = find(l->memo, hash, item, count, key);
  if (entry != NULL && entry->item != NULL && is_open(l, entry->value)) {
    return entry->value;
  }
  bool is_constant = item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT;  // in the program's memory
  bool computed = item->placement == INDIM_PLACEMENT_INLINE && item->place.storage == NULL && !item->has_tile;
  indim_lval value =
      computed && !is_constant ? compute(k, item, index, mask) : from_where_it_lives(k, item, index, mask);
  if (value != 0 && !indim_lower_failed(l)) {
    remember(l, hash, item, count, key, value);
  }
  return value;
}

indim_lval indim_element_compute(indim_kernel *k, indim_flow_item *item, const indim_coord *index) {
  indim_survey_type(k->l, item->shape->type);
  indim_lval constant = uniform_constant(k, item);
  if (constant == 0 && item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT) {
    return indim_value_at(k, item, index, 0);
  }
  return constant != 0 ? constant : compute(k, item, index, 0);
}

indim_lval indim_value_at_lanes(indim_kernel *k, indim_flow_item *item, const indim_coord *index, indim_lval mask) {
  return indim_loop_splat(&k->l->b, indim_value_at(k, item, index, mask), k->lanes);
}
