// Lanes of stride 2, 3 or 4, and narrow ones of stride 6 or 8: loads are whole vectors, deinterleaved; stores are interleaved and whole. Three loads of
// x, y and z of consecutive points read the same three vectors, which LLVM then loads once; three such stores, adjacent
// in a body, become three vector stores.
//
// With a stride coprime to the lanes of a vector (3), the wanted lanes are at different positions in each vector: they
// are blended into one, which is then permuted once. With an even stride, vectors are combined pairwise.
#include "emit/program/access.h"
#include "emit/program/chunk.h"
#include "loop/ir/affine.h"
#include "loop/ir/index_math.h"

enum { MOST_STRIDE = INDIM_LOOP_MOST_STRIDE, MOST_LANES = 512 };  // eight registers of bytes, as reductions have them
enum { PAIRS_OF_THREE = 6, NARROW_STRIDE = 8 };                   // indim_loop_is_narrow_stride

// The lanes of a register if |lanes| is a multiple of that, else |lanes|.
static int32_t register_lanes(const indim_generator *g, indim_type type, int32_t lanes) {
  int32_t native = g->e.program->target.vector_bytes / indim_type_bytes(type);
  return native > 1 && lanes > native && lanes % native == 0 ? native : lanes;
}

static bool is_power_of_two(int32_t x) { return (x & (x - 1)) == 0; }

// |part| lanes, starting with |first|.
static LLVMValueRef lanes_from(indim_generator *g, LLVMValueRef x, int32_t first, int32_t part) {
  int32_t map[MOST_LANES];
  if ((int32_t)LLVMGetVectorSize(LLVMTypeOf(x)) == part) {
    return x;
  }
  for (int32_t k = 0; k < part; k++) {
    map[k] = first + k;
  }
  return indim_emit_shuffle(g, x, NULL, part, map);
}

LLVMValueRef indim_emit_joined(indim_generator *g, LLVMValueRef *parts, int32_t count, int32_t lanes) {
  int32_t map[2 * INDIM_EMIT_MAX_LANES];  // a complex number is two
  while (count > 1) {
    for (int32_t k = 0; k < 2 * lanes; k++) {
      map[k] = k;
    }
    for (int32_t i = 0; i < count / 2; i++) {
      parts[i] = indim_emit_shuffle(g, parts[2 * i], parts[2 * i + 1], 2 * lanes, map);
    }
    count /= 2;
    lanes *= 2;
  }
  return parts[0];
}

// Loads -----------------------------------------------------------------------------------------------------------------

// The same for a stride of 8: of each eight elements one half is kept, of that a half and of that one element, as whole
// words that are moved. The code generator makes shuffles once that loads of neighbours have in common, 24 for all of them.
static LLVMValueRef pick_by_halves(indim_generator *g, LLVMValueRef *vectors, int32_t lanes, int32_t stride,
                                   int32_t first) {
  LLVMTypeRef type = LLVMTypeOf(vectors[0]);
  LLVMTypeRef element = LLVMGetElementType(type);
  unsigned bits = LLVMGetTypeKind(element) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element) : 16;
  int32_t map[MOST_LANES];
  for (int32_t half = stride / 2; half > 0; half /= 2) {
    int32_t words = lanes / half;
    LLVMTypeRef word = LLVMIntTypeInContext(g->e.context, bits * (unsigned)half);
    LLVMTypeRef moved = LLVMVectorType(word, (unsigned)words);
    for (int32_t k = 0; k < words; k++) {
      map[k] = 2 * k + first / half % 2;
    }
    for (int32_t j = 0; j < half; j++) {
      LLVMValueRef low = LLVMBuildBitCast(g->e.builder, vectors[2 * j], moved, "");
      LLVMValueRef high = LLVMBuildBitCast(g->e.builder, vectors[2 * j + 1], moved, "");
      vectors[j] = indim_emit_shuffle(g, low, high, words, map);
    }
  }
  return LLVMBuildBitCast(g->e.builder, vectors[0], type, "");
}

// Lane k is element |first| + k * stride of the concatenation of |stride| vectors.
static LLVMValueRef pick_lanes(indim_generator *g, LLVMValueRef *vectors, int32_t lanes, int32_t stride,
                               int32_t first) {
  int32_t map[MOST_LANES];
  if (stride == NARROW_STRIDE) {
    return pick_by_halves(g, vectors, lanes, stride, first);
  }
  if (stride == 3 && is_power_of_two(lanes)) {
    LLVMValueRef out = vectors[0];
    for (int32_t j = 1; j < stride; j++) {
      for (int32_t i = 0; i < lanes; i++) {
        bool is_here = (j * lanes + i - first) % stride == 0;
        map[i] = is_here ? lanes + i : i;
      }
      out = indim_emit_shuffle(g, out, vectors[j], lanes, map);
    }
    for (int32_t k = 0; k < lanes; k++) {
      map[k] = (first + k * stride) % lanes;
    }
    return indim_emit_shuffle(g, out, NULL, lanes, map);
  }
  LLVMValueRef out = NULL;
  for (int32_t j = 0; j < stride; j += 2) {
    int32_t count = j + 1 < stride ? 2 : 1;
    for (int32_t k = 0; k < lanes; k++) {
      int32_t from = first + k * stride - j * lanes;
      map[k] = from >= 0 && from < count * lanes ? from : -1;
    }
    LLVMValueRef some = indim_emit_shuffle(g, vectors[j], count == 2 ? vectors[j + 1] : NULL, lanes, map);
    for (int32_t k = 0; k < lanes; k++) {
      map[k] = map[k] >= 0 ? lanes + k : k;
    }
    out = out == NULL ? some : indim_emit_shuffle(g, out, some, lanes, map);
  }
  return out;
}

// Lane k is lane |first| + 2 k.
static LLVMValueRef every_second(indim_generator *g, LLVMValueRef both, int32_t lanes, int32_t first) {
  int32_t map[MOST_LANES];
  for (int32_t k = 0; k < lanes; k++) {
    map[k] = 2 * k + first;
  }
  return indim_emit_shuffle(g, both, NULL, lanes, map);
}

// Lanes |from| to |to| of |lanes| that are |stride| apart, of which lane 0 is |start| elements from the access's address; the others
// are poison.
typedef struct span {
  int64_t start;
  int32_t lanes, stride, from, to;
} span;

static int32_t span_elements(const span *s) { return s->from < s->to ? (s->to - 1 - s->from) * s->stride + 1 : 0; }

// From vectors of which the first begins with the first lane and the last ends with the last one, so that nothing else is read.
static LLVMValueRef pick_span(indim_generator *g, indim_type type, const indim_emit_access_lanes *a, const span *s) {
  LLVMTypeRef memory = indim_emit_memory_type(&g->e, indim_emit_moved_type(g, type), s->lanes);
  LLVMValueRef out = NULL;
  int32_t map[MOST_LANES];
  int32_t low = s->from * s->stride;
  int32_t high = low + span_elements(s);
  int32_t done = low;
  for (int32_t at = low; at < high; at += s->lanes) {
    int32_t first = at + s->lanes <= high ? at : high - s->lanes;
    LLVMValueRef vector =
        indim_emit_plain_load(g, memory, indim_emit_address_pointer(g, &a->at, s->start + first), a->stored);
    if (out == NULL) {
      out = vector;
      done = first + s->lanes;
      continue;
    }
    // Before the first merge |out| is the memory at the start of the span, afterwards lanes in their places.
    bool is_memory = done <= low + s->lanes;
    for (int32_t k = 0; k < s->lanes; k++) {
      int32_t element = k * s->stride;
      bool is_read = k >= s->from && k < s->to && element < first + s->lanes;
      map[k] = !is_read ? -1 : element >= done ? s->lanes + element - first : is_memory ? element - low : k;
    }
    out = indim_emit_shuffle(g, out, vector, s->lanes, map);
    done = first + s->lanes;
  }
  if (high - low == s->lanes) {  // a single vector
    for (int32_t k = 0; k < s->lanes; k++) {
      map[k] = k >= s->from && k < s->to ? k * s->stride - low : -1;
    }
    out = indim_emit_shuffle(g, out, NULL, s->lanes, map);
  }
  return out != NULL ? out : LLVMGetPoison(memory);
}

// How many elements before the first lane the vectors may begin, so that loads of neighbours begin at the same address;
// -1 when the storage is not known to contain all that they read.
static int32_t window_start(const indim_generator *g, const indim_emit_access_lanes *a, int32_t lanes) {
  const indim_loop_value *address = indim_emit_value(g, a->address);
  const indim_storage *storage = g->e.program->storages[a->storage];
  int64_t before = a->stride < 0 ? 0 : a->at.constant % a->stride;
  before = before < 0 ? before + a->stride : before;
  int64_t all = (int64_t)lanes * a->stride;
  bool fits = a->stride > 0 && address->low >= before && all <= storage->elements &&
              address->high - before <= storage->elements - all;
  return fits ? (int32_t)before : -1;
}

// The active lanes of part |c| of |part| lanes, where that is known.
static bool active_span(const indim_emit_access_lanes *a, int32_t part, int32_t c, span *out) {
  int32_t stride = (int32_t)indim_index_abs(a->stride);
  int32_t first = 0, count = a->lanes;
  if (a->mask != NULL && !indim_emit_known_lanes(a->mask, a->lanes, &first, &count)) {
    return false;
  }
  first = a->stride < 0 ? a->lanes - first - count : first;  // in the order of memory
  int64_t start = a->stride < 0 ? -(int64_t)(a->lanes - 1) * stride : 0;
  int32_t from = first - c * part, to = first + count - c * part;
  *out = (span){.start = start + (int64_t)c * part * stride, .lanes = part, .stride = stride};
  out->from = from < 0 ? 0 : from > part ? part : from;
  out->to = to > part ? part : to < out->from ? out->from : to;
  return true;
}

// The lanes that are loaded at a time.
static int32_t part_lanes(const indim_generator *g, const indim_emit_access_lanes *a, indim_type type) {
  int32_t part = register_lanes(g, type, a->lanes);
  return is_power_of_two(a->lanes / part) ? part : a->lanes;
}

// Whether the active lanes of each part, known, span a vector, or there are none.
static bool has_long_spans(const indim_generator *g, const indim_emit_access_lanes *a, indim_type type) {
  int32_t part = part_lanes(g, a, type);
  bool are_long = true;
  for (int32_t c = 0; c < a->lanes / part && are_long; c++) {
    span s;
    are_long = active_span(a, part, c, &s) && (s.from == s.to || span_elements(&s) >= part);
  }
  return are_long;
}

LLVMValueRef indim_emit_load_strided(indim_generator *g, indim_type type, const indim_emit_access_lanes *a) {
  int32_t stride = (int32_t)indim_index_abs(a->stride);
  int32_t part = part_lanes(g, a, type);
  int32_t count = a->lanes / part;
  int32_t before = a->mask != NULL ? -1 : window_start(g, a, a->lanes);
  LLVMValueRef parts[MOST_LANES];
  for (int32_t c = 0; c < count; c++) {
    span s;
    (void)active_span(a, part, c, &s);
    if (before < 0) {
      parts[c] = pick_span(g, type, a, &s);
      continue;
    }
    // Of pairs of three each third element is picked, and of these every second: neighbours have all but that in common.
    bool is_pair = stride == PAIRS_OF_THREE;
    int32_t step = is_pair ? stride / 2 : stride;
    int32_t lanes = is_pair ? 2 * part : part;
    LLVMTypeRef whole = indim_emit_memory_type(&g->e, indim_emit_moved_type(g, type), lanes);
    LLVMValueRef vectors[NARROW_STRIDE];
    for (int32_t j = 0; j < step; j++) {
      LLVMValueRef pointer = indim_emit_address_pointer(g, &a->at, s.start - before + (int64_t)j * lanes);
      vectors[j] = indim_emit_plain_load(g, whole, pointer, a->stored);
    }
    LLVMValueRef picked = pick_lanes(g, vectors, lanes, step, before % step);
    parts[c] = is_pair ? every_second(g, picked, part, before / step) : picked;
  }
  indim_reg all = {{indim_emit_joined(g, parts, count, part), NULL}};
  all = a->stride < 0 ? indim_emit_reversed(g, a->lanes, all) : all;
  return indim_emit_from_moved(g, type, a->lanes, all.part[0]);
}

bool indim_emit_can_load_strided(const indim_generator *g, const indim_emit_access_lanes *a, indim_type type) {
  bool is_masked = a->mask != NULL;
  if (a->has_lanes || a->lanes < 2 || a->lanes > MOST_LANES || indim_type_is_complex(indim_emit_moved_type(g, type)) ||
      (is_masked && !has_long_spans(g, a, type))) {
    return false;
  }
  if (indim_loop_is_narrow_stride(a->stride, indim_type_bytes(type))) {
    return !is_masked && is_power_of_two(a->lanes) && a->lanes >= NARROW_STRIDE && window_start(g, a, a->lanes) >= 0;
  }
  return a->stride <= MOST_STRIDE && a->stride >= -MOST_STRIDE && (a->stride > 1 || a->stride < -1);
}

// Stores ----------------------------------------------------------------------------------------------------------------

// A store of vectors that may be part of a group.
static bool may_interleave(const indim_generator *g, const indim_loop_node *node) {
  if (node->kind != INDIM_NODE_STORE) {
    return false;
  }
  const indim_loop_value *value = indim_emit_value(g, node->args[1]);
  int64_t stride = node->u.memory.lane_stride;
  int32_t part = register_lanes(g, value->type, value->lanes);
  return !node->u.memory.has_mask && indim_emit_value(g, node->args[0])->lanes == 1 && stride >= 2 &&
         stride <= MOST_STRIDE && value->lanes > 1 && value->lanes <= MOST_LANES && is_power_of_two(part) &&
         !indim_type_is_complex(indim_emit_moved_type(g, value->type));
}

bool indim_emit_may_wait(const indim_generator *g, const indim_loop_node *store, const indim_loop_node *node) {
  const indim_loop_program *program = g->e.program;
  indim_node_group group = indim_node_group_of(node->kind);
  if (group != INDIM_GROUP_LOAD) {
    return group == INDIM_GROUP_VALUE || group == INDIM_GROUP_HINT;
  }
  const indim_storage *storage = program->storages[node->u.memory.storage];
  const indim_storage *to = program->storages[store->u.memory.storage];
  bool is_disjoint = storage->kind == INDIM_STORAGE_SCRATCH && storage != to && storage->shares == 0 && to->shares == 0;
  return is_disjoint || storage->kind == INDIM_STORAGE_CONSTANT ||
         (storage->kind == INDIM_STORAGE_ARGUMENT && !storage->is_donated);
}

bool indim_emit_find_group(indim_generator *g, const indim_loop_node *node) {
  indim_emit_group *group = &g->group;
  int64_t stride = node->u.memory.lane_stride;
  *group = (indim_emit_group){.count = 0};
  if (!may_interleave(g, node)) {
    return false;
  }
  const indim_loop_value *value = indim_emit_value(g, node->args[1]);
  int64_t least = 0;
  for (const indim_loop_node *next = node; next != indim_emit_chunk_end(g) && next != NULL && group->count < stride;
       next = next->next) {
    int64_t offset = 0;
    bool is_member = next == node ||
                     (may_interleave(g, next) && next->u.memory.storage == node->u.memory.storage &&
                      next->u.memory.lane_stride == stride && indim_emit_value(g, next->args[1])->type == value->type &&
                      indim_emit_value(g, next->args[1])->lanes == value->lanes &&
                      indim_affine_distance(g->e.program, node->args[0], next->args[0], &offset) && offset > -stride &&
                      offset < stride);
    if (is_member) {
      group->offsets[group->count] = offset;
      group->nodes[group->count++] = next;
      least = offset < least ? offset : least;
    } else if (!indim_emit_may_wait(g, node, next)) {
      break;
    }
  }
  // Every offset from the least one on must occur once.
  unsigned seen = 0;
  for (int32_t i = 0; i < group->count; i++) {
    group->offsets[i] -= least;
    seen |= 1U << group->offsets[i];
  }
  bool is_whole = group->count == stride && seen == (1U << stride) - 1;
  group->count = is_whole ? (int32_t)stride : 0;
  return is_whole;
}

// Memory vector j of |stride|: lane i is element (j * lanes + i) / stride of the value whose offset is the remainder.
static LLVMValueRef mix_lanes(indim_generator *g, LLVMValueRef *values, int32_t lanes, int32_t stride, int32_t j) {
  int32_t map[MOST_LANES];
  LLVMValueRef out = NULL;
  for (int32_t x = 0; x < stride; x += stride == 3 ? 1 : 2) {
    LLVMValueRef some = values[x];
    for (int32_t i = 0; i < lanes; i++) {
      int32_t value = (j * lanes + i) % stride;
      int32_t lane = (j * lanes + i) / stride;
      map[i] = stride == 3 ? i : value == x ? lane : value == x + 1 ? lanes + lane : -1;
    }
    if (stride != 3) {
      some = indim_emit_shuffle(g, values[x], values[x + 1], lanes, map);
    }
    for (int32_t i = 0; i < lanes; i++) {
      int32_t value = (j * lanes + i) % stride;
      bool is_here = stride == 3 ? value == x : value == x || value == x + 1;
      map[i] = is_here ? lanes + i : i;
    }
    out = out == NULL ? some : indim_emit_shuffle(g, out, some, lanes, map);
  }
  return out;
}

// With a stride of 3 each value is permuted once, so that every lane is where one of the three vectors has it.
static LLVMValueRef permute_lanes(indim_generator *g, LLVMValueRef value, int32_t lanes, int32_t stride, int32_t x) {
  int32_t map[MOST_LANES];
  for (int32_t j = 0; j < stride; j++) {
    for (int32_t i = 0; i < lanes; i++) {
      if ((j * lanes + i) % stride == x) {
        map[i] = (j * lanes + i) / stride;
      }
    }
  }
  return indim_emit_shuffle(g, value, NULL, lanes, map);
}

// The vectors of |part| lanes that result from interleaving |count| values of |lanes| lanes.
static void interleave(indim_generator *g, LLVMValueRef *whole, int32_t count, int32_t lanes, int32_t part,
                       LLVMValueRef *out) {
  for (int32_t c = 0; c * part < lanes; c++) {
    LLVMValueRef values[MOST_STRIDE];
    for (int32_t x = 0; x < count; x++) {
      values[x] = lanes_from(g, whole[x], c * part, part);
      values[x] = count == 3 ? permute_lanes(g, values[x], part, count, x) : values[x];
    }
    for (int32_t j = 0; j < count; j++) {
      out[c * count + j] = mix_lanes(g, values, part, count, j);
    }
  }
}

// Whether map[k] is lane k / count of value k % count for all lanes that exist, and -1 after them.
static bool is_interleaving(const int32_t *map, int32_t count, int32_t lanes, int32_t result_lanes) {
  bool is_so = result_lanes >= count * lanes;
  for (int32_t k = 0; is_so && k < result_lanes; k++) {
    is_so = map[k] == (k < count * lanes ? k % count * lanes + k / count : -1);
  }
  return is_so;
}

LLVMValueRef indim_emit_interleaved(indim_generator *g, LLVMValueRef *values, int32_t count, int32_t lanes,
                                    int32_t result_lanes, const int32_t *map) {
  LLVMTypeRef type = LLVMTypeOf(values[0]);
  LLVMTypeRef element = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
  bool is_number = LLVMGetTypeKind(element) == LLVMFloatTypeKind || LLVMGetTypeKind(element) == LLVMDoubleTypeKind;
  if (!is_number || count < 2 || count > MOST_STRIDE || lanes < 2 || result_lanes > MOST_LANES ||
      !is_power_of_two(result_lanes) || !is_power_of_two(lanes) || !is_interleaving(map, count, lanes, result_lanes)) {
    return NULL;
  }
  int32_t part = register_lanes(g, LLVMGetTypeKind(element) == LLVMFloatTypeKind ? INDIM_F32 : INDIM_F64, lanes);
  LLVMValueRef parts[MOST_STRIDE * MOST_LANES];
  interleave(g, values, count, lanes, part, parts);
  for (int32_t i = count * lanes / part; i < result_lanes / part; i++) {
    parts[i] = LLVMGetPoison(LLVMTypeOf(parts[0]));
  }
  return indim_emit_joined(g, parts, result_lanes / part, part);
}

void indim_emit_store_group(indim_generator *g) {
  indim_emit_group *group = &g->group;
  int32_t stride = group->count;
  const indim_loop_node *first = NULL;
  LLVMValueRef packed[MOST_STRIDE];
  const indim_loop_value *value = indim_emit_value(g, group->nodes[0]->args[1]);
  for (int32_t i = 0; i < stride; i++) {
    const indim_loop_node *node = group->nodes[i];
    first = group->offsets[i] == 0 ? node : first;
    LLVMValueRef x = indim_emit_pack(&g->e, value->type, value->lanes, g->regs[node->args[1]]);
    packed[group->offsets[i]] = indim_emit_as_moved(g, value->type, value->lanes, x);
  }
  indim_emit_access_lanes a = indim_emit_access(g, first, value->lanes, NULL);
  int32_t part = register_lanes(g, value->type, value->lanes);
  LLVMValueRef parts[MOST_STRIDE * MOST_LANES];
  interleave(g, packed, stride, value->lanes, part, parts);
  for (int32_t i = 0; i * part < stride * value->lanes; i++) {
    LLVMValueRef pointer = indim_emit_address_pointer(g, &a.at, (int64_t)i * part);
    indim_emit_plain_store(g, parts[i], pointer, a.stored);
  }
  group->count = 0;
}
