// Shape rules of the collectives: what each device of a group holds before and after. replica_groups= is kept as written and
// read here, only to know how large a group is; where that cannot be known (the mesh form) the declared sizes are held
// against the operands as far as they must divide.
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "graph/infer_kit.h"
#include "graph/one_device.h"

enum { UNKNOWN_GROUP = -1, MAX_DEVICE = 1 << 24 };

// Reading replica_groups= ---------------------------------------------------------------------------------------------

typedef struct cursor {
  const char *at;
  const char *end;
} cursor;

static void skip_blanks(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r')) {
    c->at++;
  }
}

static bool take(cursor *c, const char *token) {
  size_t size = strlen(token);
  skip_blanks(c);
  if ((size_t)(c->end - c->at) < size || memcmp(c->at, token, size) != 0) {
    return false;
  }
  c->at += size;
  return true;
}

static bool take_number(cursor *c, int64_t *out_number) {
  skip_blanks(c);
  const char *start = c->at;
  *out_number = 0;
  while (c->at < c->end && *c->at >= '0' && *c->at <= '9' && *out_number <= INT64_MAX / 16) {
    *out_number = *out_number * 10 + (*c->at++ - '0');
  }
  return c->at > start && !(c->at < c->end && *c->at >= '0' && *c->at <= '9');
}

// "a,b,c" up to |close|; counts the numbers and multiplies them.
static bool take_list(cursor *c, const char *close, int64_t *out_count, int64_t *out_product) {
  *out_count = 0;
  *out_product = 1;
  while (!take(c, close)) {
    int64_t number = 0;
    if ((*out_count > 0 && !take(c, ",")) || !take_number(c, &number) ||
        !indim_count_mul(*out_product, number, out_product)) {
      return false;
    }
    ++*out_count;
  }
  return true;
}

static bool at_end(cursor *c) {
  skip_blanks(c);
  return c->at == c->end;
}

// [groups,size]<=[sizes...], then possibly T(permutation).
static bool read_iota_groups(cursor *c, int64_t *out_size) {
  int64_t groups = 0;
  int64_t count = 0;
  int64_t product = 0;
  int64_t total = 0;
  if (!take_number(c, &groups) || !take(c, ",") || !take_number(c, out_size) || !take(c, "]") || !take(c, "<=") ||
      !take(c, "[") || !take_list(c, "]", &count, &product) || !indim_count_mul(groups, *out_size, &total) ||
      total != product) {
    return false;
  }
  if (take(c, "T")) {
    int64_t permuted = 0;
    if (!take(c, "(") || !take_list(c, ")", &permuted, &product) || permuted != count) {
      return false;
    }
  }
  return at_end(c);
}

// {{0,1},{2,3}}: groups of one size, or |*out_size| is UNKNOWN_GROUP and |*out_even| false. {}: size 0.
static bool read_listed_groups(cursor *c, int64_t *out_size, bool *out_even) {
  *out_size = 0;
  bool first = true;
  while (!take(c, "}")) {
    int64_t count = 0;
    int64_t product = 0;
    if ((!first && !take(c, ",")) || !take(c, "{") || !take_list(c, "}", &count, &product)) {
      return false;
    }
    *out_even = *out_even && (first || count == *out_size);
    *out_size = first || *out_even ? count : UNKNOWN_GROUP;
    first = false;
  }
  return at_end(c);
}

// How device numbers are meant.
typedef enum group_mode { CROSS_REPLICA, CROSS_PARTITION, CROSS_BOTH, FLATTENED } group_mode;

static group_mode get_mode(const indim_instr *instr) {
  static const char *const words[] = {"cross_replica", "cross_partition", "cross_replica_and_partition"};
  indim_str word = indim_instr_word(instr, INDIM_ATTR_MODE);
  for (int i = 0; i < 3; i++) {
    if (indim_str_is(word, words[i])) {
      return (group_mode)i;
    }
  }
  if (indim_str_is(word, "flattened_id") || indim_instr_bool(instr, INDIM_ATTR_USE_GLOBAL_DEVICE_IDS, false)) {
    return FLATTENED;
  }
  if (indim_instr_attr(instr, INDIM_ATTR_CHANNEL_ID) == NULL) {
    return CROSS_REPLICA;
  }
  // An op that could have said use_global_device_ids= and did not means both.
  indim_attr_id id;
  return indim_attr_find(instr->op, indim_str_of("use_global_device_ids"), &id) ? CROSS_BOTH : CROSS_PARTITION;
}

// Devices in one group of the instruction; UNKNOWN_GROUP if only the machine knows, or if groups differ in size.
static indim_status read_group_size(indim_ctx *cx, const indim_instr *instr, int64_t *out_size) {
  if (indim_instr_bool(instr, INDIM_ATTR_USE_GLOBAL_DEVICE_IDS, false) &&
      indim_instr_attr(instr, INDIM_ATTR_CHANNEL_ID) == NULL) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_USE_GLOBAL_DEVICE_IDS,
                           "use_global_device_ids=true needs a channel_id=");
  }
  *out_size = UNKNOWN_GROUP;
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_REPLICA_GROUPS);
  int64_t listed = 0;
  bool even = true;
  if (attr != NULL) {
    cursor c = {attr->value.text.data, attr->value.text.data + attr->value.text.size};
    if (take(&c, "mesh")) {
      return INDIM_OK;
    }
    bool ok = take(&c, "[") ? read_iota_groups(&c, &listed) : take(&c, "{") && read_listed_groups(&c, &listed, &even);
    if (!ok) {
      indim_fail_attr(cx, instr, attr->id, "replica_groups=%.*s is not understood",
                      (int)(attr->value.text.size < 100 ? attr->value.text.size : 100), attr->value.text.data);
      indim_hint(cx, "write {{0,1},{2,3}}, {} for all devices, or [2,2]<=[4]");
      return INDIM_INVALID;
    }
  }
  bool any_size = instr->op == INDIM_OP_ALL_REDUCE || instr->op == INDIM_OP_ALL_REDUCE_START ||
                  instr->op == INDIM_OP_COLLECTIVE_BROADCAST;
  if (!even && !any_size) {
    return indim_fail_attr(
        cx, instr, INDIM_ATTR_REPLICA_GROUPS,
        "replica_groups= has groups of different sizes, but every device's result has the same shape");
  }
  const indim_module *module = instr->computation->module;
  group_mode mode = get_mode(instr);
  int64_t replicas = listed > 0 ? listed : module->replica_count;
  if (!even) {
    return INDIM_OK;
  }
  if (mode == CROSS_BOTH) {
    return indim_count_mul(replicas, module->num_partitions, out_size)
               ? INDIM_OK
               : indim_fail_instr(cx, INDIM_INVALID, instr, "the number of devices overflows");
  }
  if (listed > 0 || mode == CROSS_REPLICA) {
    *out_size = replicas;
  } else if (mode == CROSS_PARTITION) {
    *out_size = module->num_partitions;
  }
  return INDIM_OK;
}

indim_status indim_collective_group_size(indim_ctx *cx, const indim_instr *instr, int64_t *out_size) {
  return read_group_size(cx, instr, out_size);
}

// Results ------------------------------------------------------------------------------------------------------------

// One shape as it is, several as a tuple.
static indim_status make_result(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                const indim_shape *const *shapes, int32_t count, indim_shape *out_shape) {
  if (count == 1) {
    *out_shape = *shapes[0];
    return INDIM_OK;
  }
  return indim_instr_make_tuple(cx, instr, arena, shapes, count, out_shape);
}

static indim_status need_operand(indim_ctx *cx, const indim_instr *instr) {
  return instr->operand_count > 0 ? INDIM_OK
                                  : indim_fail_instr(cx, INDIM_INVALID, instr, "has no operand, expected one at least");
}

// The operands' own shapes.
static indim_status make_same(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  INDIM_TRY(need_operand(cx, instr));
  if (instr->operand_count == 1) {
    *out_shape = *indim_operand_shape(instr, 0);
    return INDIM_OK;
  }
  return indim_infer_tuple(cx, instr, arena, out_shape);
}

// The operands' shapes with the size of dimension |dim| times, or divided by, the group's size.
static indim_status make_scaled(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, bool divide,
                                indim_shape *out_shape) {
  int64_t group = UNKNOWN_GROUP;
  INDIM_TRY(need_operand(cx, instr));
  INDIM_TRY(read_group_size(cx, instr, &group));
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, instr->operand_count - 1));
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)instr->operand_count, sizeof(indim_shape *), &memory));
  const indim_shape **members = memory;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    const indim_shape *operand = indim_operand_shape(instr, i);
    int32_t dim = 0;
    INDIM_TRY(indim_attr_one_dim(cx, instr, INDIM_ATTR_DIMENSIONS, operand, &dim));
    int64_t factor = group;
    indim_shape_text text;
    indim_shape_text declared_text;
    int64_t size = operand->sizes[dim];
    if (group == UNKNOWN_GROUP) {
      // Taken from the declared shape.
      const indim_shape *declared = instr->shape;
      bool is_tuple = declared != NULL && declared->type == INDIM_TUPLE && declared->member_count > i;
      const indim_shape *part = is_tuple && instr->operand_count > 1 ? declared->members[i] : declared;
      bool fits = part != NULL && indim_shape_is_array(part) && part->rank == operand->rank;
      int64_t large = !fits ? 0 : divide ? size : part->sizes[dim];
      int64_t small = !fits ? 0 : divide ? part->sizes[dim] : size;
      bool unbounded = fits && (size == INDIM_UNBOUNDED || part->sizes[dim] == INDIM_UNBOUNDED);
      if (!fits || (!unbounded && (small == 0 ? large != 0 : large < small || large % small != 0))) {
        return indim_fail_instr(cx, INDIM_INVALID, instr,
                                "declared %s: dimension %d of operand %d (%s), which is %s, does not divide by it",
                                indim_shape_brief(declared, &declared_text), (int)dim, (int)i,
                                indim_operand_name(instr, i), indim_shape_brief(operand, &text));
      }
      factor = small == 0 || unbounded ? 1 : large / small;
    }
    if (size != INDIM_UNBOUNDED && divide && (factor < 1 || size % factor != 0)) {
      return indim_fail_instr(cx, INDIM_INVALID, instr,
                              "size %" PRId64 " of dimension %d of operand %d (%s), which is %s, does not divide among "
                              "%" PRId64 " devices",
                              size, (int)dim, (int)i, indim_operand_name(instr, i), indim_shape_brief(operand, &text),
                              factor);
    }
    indim_shape dims = *operand;
    if (size != INDIM_UNBOUNDED && divide) {
      dims.sizes[dim] = size / factor;
    } else if (size != INDIM_UNBOUNDED && !indim_count_mul(size, factor, &dims.sizes[dim])) {
      return indim_fail_instr(cx, INDIM_INVALID, instr, "the size of dimension %d overflows", (int)dim);
    }
    INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_shape), &memory));
    INDIM_TRY(indim_instr_make_array(cx, instr, operand->type, dims.rank, dims.sizes, dims.dynamic, memory));
    members[i] = memory;
  }
  return make_result(cx, instr, arena, members, instr->operand_count, out_shape);
}

// Reductions ---------------------------------------------------------------------------------------------------------

static indim_status verify_combiners(indim_ctx *cx, const indim_instr *instr) {
  INDIM_TRY(need_operand(cx, instr));
  for (int32_t i = 0; i < instr->operand_count; i++) {
    INDIM_TRY(indim_operand_verify_array(cx, instr, i));
    INDIM_TRY(indim_combiner_verify(cx, instr, INDIM_ATTR_TO_APPLY, 1, i, i));
  }
  return INDIM_OK;
}

indim_status indim_infer_all_reduce(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                    indim_shape *out_shape) {
  int64_t group = 0;
  INDIM_TRY(verify_combiners(cx, instr));
  INDIM_TRY(read_group_size(cx, instr, &group));
  return make_same(cx, instr, arena, out_shape);
}

// Declared as an all-reduce is, or as (operand, result).
static bool is_start_pair(const indim_shape *declared, const indim_shape *same) {
  return declared != NULL && declared->type == INDIM_TUPLE && declared->member_count == 2 &&
         indim_shape_compatible(declared->members[0], same) && indim_shape_compatible(declared->members[1], same);
}

indim_status indim_infer_all_reduce_start(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                          indim_shape *out_shape) {
  INDIM_TRY(indim_infer_all_reduce(cx, instr, arena, out_shape));
  if (is_start_pair(instr->shape, out_shape)) {
    *out_shape = *instr->shape;
  }
  return INDIM_OK;
}

static indim_status verify_start(indim_ctx *cx, const indim_instr *instr, indim_op op) {
  const indim_instr *start = instr->operands[0];
  if (start->op == op) {
    return INDIM_OK;
  }
  return indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is a %s, expected the %s that it ends",
                          start->name.data, indim_op_get(start->op)->text, indim_op_get(op)->text);
}

indim_status indim_infer_all_reduce_done(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                         indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(verify_start(cx, instr, INDIM_OP_ALL_REDUCE_START));
  const indim_instr *start = instr->operands[0];
  bool is_pair = start->operand_count == 1 && is_start_pair(start->shape, indim_operand_shape(start, 0));
  *out_shape = is_pair ? *start->shape->members[1] : *start->shape;
  return INDIM_OK;
}

indim_status indim_infer_reduce_scatter(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                        indim_shape *out_shape) {
  INDIM_TRY(verify_combiners(cx, instr));
  return make_scaled(cx, instr, arena, true, out_shape);
}

// Gathering and exchanging -------------------------------------------------------------------------------------------

indim_status indim_infer_all_gather(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                    indim_shape *out_shape) {
  return make_scaled(cx, instr, arena, false, out_shape);
}

// (operand, result); with several operands ((operands), (results)).
static indim_status make_start(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, const indim_shape *result,
                               indim_shape *out_shape) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, 2, sizeof(indim_shape), &memory));
  indim_shape *parts = memory;
  INDIM_TRY(make_same(cx, instr, arena, &parts[0]));
  parts[1] = *result;
  const indim_shape *members[] = {&parts[0], &parts[1]};
  return indim_instr_make_tuple(cx, instr, arena, members, 2, out_shape);
}

indim_status indim_infer_all_gather_start(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                          indim_shape *out_shape) {
  indim_shape result;
  const indim_shape *declared = instr->shape;
  indim_instr gather = *instr;  // the same with the shape that all-gather would declare
  gather.shape = declared != NULL && declared->type == INDIM_TUPLE && declared->member_count >= 2 ? declared->members[1]
                                                                                                  : declared;
  INDIM_TRY(make_scaled(cx, &gather, arena, false, &result));
  return make_start(cx, instr, arena, &result, out_shape);
}

// The second member of what the start declares.
static indim_status infer_done(indim_ctx *cx, const indim_instr *instr, indim_op op, indim_shape *out_shape) {
  INDIM_TRY(verify_start(cx, instr, op));
  const indim_shape *start = indim_operand_shape(instr, 0);
  if (start->type != INDIM_TUPLE || start->member_count < 2) {
    indim_shape_text text;
    return indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s, expected (operand, result)",
                            indim_operand_name(instr, 0), indim_shape_brief(start, &text));
  }
  *out_shape = *start->members[1];
  return INDIM_OK;
}

indim_status indim_infer_all_gather_done(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                         indim_shape *out_shape) {
  (void)arena;
  return infer_done(cx, instr, INDIM_OP_ALL_GATHER_START, out_shape);
}

// With dimensions= one operand, cut along it; without, one operand of the same shape for each device of the group.
indim_status indim_infer_all_to_all(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                    indim_shape *out_shape) {
  int64_t group = UNKNOWN_GROUP;
  INDIM_TRY(need_operand(cx, instr));
  INDIM_TRY(read_group_size(cx, instr, &group));
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, instr->operand_count - 1));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  indim_shape_text text;
  if (indim_instr_attr(instr, INDIM_ATTR_DIMENSIONS) != NULL) {
    int32_t dim = 0;
    INDIM_TRY(indim_attr_one_dim(cx, instr, INDIM_ATTR_DIMENSIONS, operand, &dim));
    if (instr->operand_count != 1) {
      return indim_fail_instr(cx, INDIM_INVALID, instr, "has %d operands, expected one to cut along dimensions={%d}",
                              (int)instr->operand_count, (int)dim);
    }
    if (group > 0 && operand->sizes[dim] != INDIM_UNBOUNDED && operand->sizes[dim] % group != 0) {
      return indim_fail_instr(cx, INDIM_INVALID, instr,
                              "size %" PRId64 " of dimension %d of operand 0 (%s), which is %s, does not divide among "
                              "%" PRId64 " devices",
                              operand->sizes[dim], (int)dim, indim_operand_name(instr, 0),
                              indim_shape_brief(operand, &text), group);
    }
    *out_shape = *operand;
    return INDIM_OK;
  }
  for (int32_t i = 1; i < instr->operand_count; i++) {
    INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, i));
    INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 0, i));
  }
  if (group > 0 && group != instr->operand_count) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "has %d operands for the %" PRId64 " devices of a group",
                            (int)instr->operand_count, group);
  }
  return indim_infer_tuple(cx, instr, arena, out_shape);
}

// Operands: input, output, then offsets and sizes of what is sent, offsets and sizes of what is received.
indim_status indim_infer_ragged_all_to_all(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                           indim_shape *out_shape) {
  (void)arena;
  int64_t group = UNKNOWN_GROUP;
  INDIM_TRY(read_group_size(cx, instr, &group));
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, 5));
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, 1));
  for (int32_t i = 2; i < 6; i++) {
    INDIM_TRY(indim_operand_verify_classes(cx, instr, i, INDIM_CLASS_INTEGER));
    INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 2, i));
  }
  *out_shape = *indim_operand_shape(instr, 1);
  return INDIM_OK;
}

// Every pair has a source and a target; no device sends twice or receives twice.
static indim_status verify_pairs(indim_ctx *cx, const indim_instr *instr, indim_arena *arena) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_SOURCE_TARGET_PAIRS);
  int64_t largest = -1;
  for (int64_t i = 0; i < attr->count; i++) {
    if (attr->list_sizes[i] != 2) {
      return indim_fail_attr(cx, instr, attr->id,
                             "source_target_pairs=: entry %" PRId64 " has length %" PRId64 ", expected {source,target}",
                             i, attr->list_sizes[i]);
    }
    for (int64_t k = 2 * i; k < 2 * i + 2; k++) {
      int64_t device = attr->value.ints[k];
      if (device < 0 || device > MAX_DEVICE) {
        return indim_fail_attr(cx, instr, attr->id, "source_target_pairs=: %" PRId64 " is no device number", device);
      }
      largest = device > largest ? device : largest;
    }
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)largest + 1, 1, &memory));
  uint8_t *seen = memory;
  for (int64_t k = 0; k < 2 * attr->count; k++) {
    uint8_t role = k % 2 == 0 ? 1 : 2;
    int64_t device = attr->value.ints[k];
    if ((seen[device] & role) != 0) {
      return indim_fail_attr(cx, instr, attr->id, "source_target_pairs=: device %" PRId64 " %s twice", device,
                             role == 1 ? "sends" : "receives");
    }
    seen[device] |= role;
  }
  return INDIM_OK;
}

// One operand, several, or with slice_sizes= (input, output, input starts, output starts).
indim_status indim_infer_collective_permute(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                            indim_shape *out_shape) {
  INDIM_TRY(verify_pairs(cx, instr, arena));
  if (indim_instr_attr(instr, INDIM_ATTR_PERMUTE_SLICE_SIZES) != NULL) {
    if (instr->operand_count != 4) {
      return indim_fail_instr(cx, INDIM_INVALID, instr,
                              "has %d operands, expected 4 with slice_sizes=: input, output and their starts",
                              (int)instr->operand_count);
    }
    *out_shape = *indim_operand_shape(instr, 1);
    return INDIM_OK;
  }
  return make_same(cx, instr, arena, out_shape);
}

// (operand, result), then any number of u32[] of context.
indim_status indim_infer_collective_permute_start(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                                  indim_shape *out_shape) {
  indim_shape result;
  indim_shape start;
  INDIM_TRY(indim_infer_collective_permute(cx, instr, arena, &result));
  INDIM_TRY(make_start(cx, instr, arena, &result, &start));
  const indim_shape *declared = instr->shape;
  bool is_longer = declared != NULL && declared->type == INDIM_TUPLE && declared->member_count > 2 &&
                   indim_shape_compatible(declared->members[0], start.members[0]) &&
                   indim_shape_compatible(declared->members[1], start.members[1]);
  for (int64_t i = 2; is_longer && i < declared->member_count; i++) {
    is_longer = indim_shape_is_scalar_of(declared->members[i], INDIM_U32);
  }
  *out_shape = is_longer ? *declared : start;
  return INDIM_OK;
}

indim_status indim_infer_collective_permute_done(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                                 indim_shape *out_shape) {
  (void)arena;
  return infer_done(cx, instr, INDIM_OP_COLLECTIVE_PERMUTE_START, out_shape);
}

indim_status indim_infer_collective_broadcast(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                              indim_shape *out_shape) {
  int64_t group = UNKNOWN_GROUP;
  INDIM_TRY(read_group_size(cx, instr, &group));
  return make_same(cx, instr, arena, out_shape);
}

indim_status indim_infer_device_id(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                   indim_shape *out_shape) {
  (void)arena;
  return indim_instr_make_array(cx, instr, INDIM_U32, 0, NULL, 0, out_shape);
}
