// Nodes that compute values from values: constants, elementwise operations, index arithmetic, and lane permutations.
// Complex values are two registers, treated alike.
#include <string.h>

#include "emit/program/program.h"
#include "emit/scalar/scalar.h"

static const char *op_text(indim_op op) { return indim_op_get(op)->text; }

// Elementwise -----------------------------------------------------------------------------------------------------------

static indim_status refuse(indim_generator *g, const indim_loop_node *node, const indim_loop_op *op) {
  indim_type type = node->arg_count == 0 ? INDIM_TYPE_INVALID : indim_emit_value(g, node->args[0])->type;
  return indim_fail(g->e.cx, INDIM_UNSUPPORTED, "the code generator has no %s of %s", op_text(op->op),
                    indim_type_text(type));
}

// Most arguments of an elementwise node, collected for scalar.c; no op has more (sorts and the like do not come here).
enum { MAX_ARGS = 8 };

// The value in its computed type, and back: registers of a narrow float may hold its bits (legalize.c).
static indim_reg computed(indim_generator *g, indim_value_id v) {
  indim_type type = indim_emit_computed_type(g, v);
  if (indim_emit_value(g, v)->type == type) {
    return g->regs[v];
  }
  return (indim_reg){{indim_emit_float_of_bits(&g->e, type, g->regs[v].part[0]), NULL}};
}

static void set_register(indim_generator *g, indim_value_id v, indim_reg x) {
  indim_type type = indim_emit_computed_type(g, v);
  if (indim_emit_value(g, v)->type != type) {
    x.part[0] = indim_emit_float_bits(&g->e, type, x.part[0]);
  }
  g->regs[v] = x;
}

static bool is_move(indim_op op) {
  return op == INDIM_OP_SELECT || op == INDIM_OP_COPY || op == INDIM_OP_BITCAST_CONVERT;
}

// The even lanes (0) or the odd ones (1) of a bf16 value; for a uniform value, the first half of its lanes.
static indim_reg half_of(indim_generator *g, indim_value_id v, int32_t which) {
  if (g->is_split[v]) {
    return (indim_reg){{g->regs[v].part[which], NULL}};
  }
  int32_t map[INDIM_EMIT_MAX_LANES];
  int32_t lanes = indim_emit_value(g, v)->lanes / 2;
  for (int32_t k = 0; k < lanes; k++) {
    map[k] = k;
  }
  return (indim_reg){{indim_emit_shuffle(g, computed(g, v).part[0], NULL, lanes, map), NULL}};
}

static indim_status emit_split(indim_generator *g, const indim_loop_node *node) {
  indim_reg args[MAX_ARGS];
  indim_type types[MAX_ARGS];
  indim_value_id v = node->first_result;
  for (int32_t which = 0; which < 2; which++) {
    indim_reg out = {{NULL, NULL}};
    for (int32_t i = 0; i < node->arg_count; i++) {
      args[i] = half_of(g, node->args[i], which);
      types[i] = INDIM_BF16;
    }
    INDIM_TRY(indim_emit_scalar(&g->e, &node->u.op, INDIM_BF16, indim_emit_value(g, v)->lanes / 2, node->arg_count,
                                types, args, &out));
    g->regs[v].part[which] = out.part[0];
  }
  return INDIM_OK;
}

static indim_status emit_elementwise(indim_generator *g, const indim_loop_node *node) {
  indim_reg args[MAX_ARGS];
  indim_type types[MAX_ARGS];
  bool moves = is_move(node->u.op.op);
  indim_value_id v = node->first_result;
  if (node->arg_count > MAX_ARGS) {
    return indim_fail(g->e.cx, INDIM_INTERNAL, "%s of %d arguments", op_text(node->u.op.op), (int)node->arg_count);
  }
  if (g->is_split[v]) {
    indim_status status = emit_split(g, node);
    return status == INDIM_UNSUPPORTED ? refuse(g, node, &node->u.op) : status;
  }
  for (int32_t i = 0; i < node->arg_count; i++) {
    args[i] = moves ? g->regs[node->args[i]] : computed(g, node->args[i]);
    types[i] = moves ? indim_emit_value(g, node->args[i])->type : indim_emit_computed_type(g, node->args[i]);
  }
  indim_type type = moves ? indim_emit_value(g, v)->type : indim_emit_computed_type(g, v);
  indim_reg out = {{NULL, NULL}};
  bool is_done = false;
  indim_status status = indim_emit_outlined_scalar(g, node, types, args, &out, &is_done);
  if (status == INDIM_OK && !is_done) {
    int32_t lanes = indim_emit_value(g, v)->lanes;
    status = indim_emit_scalar(&g->e, &node->u.op, type, lanes, node->arg_count, types, args, &out);
  }
  if (status != INDIM_OK) {
    return status == INDIM_UNSUPPORTED ? refuse(g, node, &node->u.op) : status;
  }
  if (moves) {
    g->regs[v] = out;
  } else {
    set_register(g, v, out);
  }
  return INDIM_OK;
}

static void emit_fma(indim_generator *g, const indim_loop_node *node) {
  indim_reg a = computed(g, node->args[0]);
  indim_reg b = computed(g, node->args[1]);
  indim_reg c = computed(g, node->args[2]);
  indim_reg *out = &g->regs[node->first_result];
  out->part[0] = indim_emit_fma(&g->e, a.part[0], b.part[0], c.part[0]);
  if (a.part[1] != NULL) {
    LLVMValueRef minus = LLVMBuildFNeg(g->e.builder, a.part[1], "");
    out->part[0] = indim_emit_fma(&g->e, minus, b.part[1], out->part[0]);
    LLVMValueRef im = indim_emit_fma(&g->e, a.part[0], b.part[1], c.part[1]);
    out->part[1] = indim_emit_fma(&g->e, a.part[1], b.part[0], im);
  }
}

// Constants -------------------------------------------------------------------------------------------------------------

// |bits|: of the element, the imaginary part separate, which is the upper half of a complex number's word (legalize.c).
static indim_reg constant(indim_generator *g, indim_value_id v, int32_t lanes, const uint64_t *bits) {
  indim_type type = indim_emit_value(g, v)->type;
  bool is_word = indim_type_is_complex(indim_emit_computed_type(g, v)) && !indim_type_is_complex(type);
  return indim_emit_constant(&g->e, type, lanes, is_word ? bits[0] | bits[1] << 32 : bits[0], bits[1]);
}

static indim_status emit_lanes(indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *result = indim_emit_value(g, node->first_result);
  indim_reg *out = &g->regs[node->first_result];
  size_t lanes = (size_t)result->lanes;
  LLVMValueRef *parts = NULL;
  INDIM_TRY(indim_emit_temp(g, 2 * lanes * sizeof *parts, (void **)&parts));
  bool is_complex = false;
  for (size_t k = 0; k < lanes; k++) {
    indim_reg one = constant(g, node->first_result, 1, &node->u.lanes.bits[2 * k]);
    parts[k] = one.part[0];
    parts[lanes + k] = one.part[1];
    is_complex = one.part[1] != NULL;
  }
  for (size_t part = 0; part < (is_complex ? 2 : 1); part++) {
    out->part[part] = lanes == 1 ? parts[part * lanes] : LLVMConstVector(&parts[part * lanes], (unsigned)lanes);
  }
  return INDIM_OK;
}

// Index arithmetic: s64, which never wraps -----------------------------------------------------------------------------

static void emit_affine(indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *result = indim_emit_value(g, node->first_result);
  LLVMValueRef sum = NULL;
  // Positive terms first, so that a difference is one subtraction.
  for (int32_t sign = 1; sign >= -1; sign -= 2) {
    for (int32_t i = 0; i < node->arg_count; i++) {
      int64_t coefficient = node->u.affine.coefficients[i];
      if ((coefficient > 0) == (sign > 0)) {
        sum = indim_emit_add_scaled(g, sum, g->regs[node->args[i]].part[0], coefficient);
      }
    }
  }
  LLVMTypeRef type = indim_emit_part_type(&g->e, INDIM_S64, result->lanes);
  LLVMValueRef constant = indim_emit_int(&g->e, type, (uint64_t)node->u.affine.constant);
  g->regs[node->first_result].part[0] = sum == NULL ? constant
                                        : node->u.affine.constant == 0
                                            ? sum
                                            : LLVMBuildNSWAdd(g->e.builder, sum, constant, "");
}

// Floor division or remainder by a positive constant. Where the range permits, it is unsigned and of 32 bits, which
// vectors do with a multiplication.
static void emit_division(indim_generator *g, const indim_loop_node *node) {
  LLVMBuilderRef b = g->e.builder;
  const indim_loop_value *arg = indim_emit_value(g, node->args[0]);
  LLVMValueRef x = g->regs[node->args[0]].part[0];
  LLVMTypeRef wide = LLVMTypeOf(x);
  int64_t divisor = node->u.affine.constant;
  bool is_modulo = node->kind == INDIM_NODE_MODULO;
  LLVMValueRef *out = &g->regs[node->first_result].part[0];
  if (arg->low >= 0) {
    bool is_narrow = arg->high <= INT32_MAX && divisor <= INT32_MAX && (divisor & (divisor - 1)) != 0;
    if (is_narrow) {
      x = LLVMBuildTrunc(b, x, indim_emit_like(&g->e, wide, LLVMInt32TypeInContext(g->e.context)), "");
    }
    LLVMValueRef y = indim_emit_s64_like(g, x, divisor);
    x = is_modulo ? LLVMBuildURem(b, x, y, "") : LLVMBuildUDiv(b, x, y, "");
    *out = is_narrow ? LLVMBuildZExt(b, x, wide, "") : x;
    return;
  }
  LLVMValueRef y = indim_emit_s64_like(g, x, divisor);
  LLVMValueRef rest = LLVMBuildSRem(b, x, y, "");
  LLVMValueRef is_negative = LLVMBuildICmp(b, LLVMIntSLT, rest, indim_emit_s64_like(g, x, 0), "");
  if (is_modulo) {
    *out = LLVMBuildSelect(b, is_negative, LLVMBuildAdd(b, rest, y, ""), rest, "");
  } else {
    *out = LLVMBuildAdd(b, LLVMBuildSDiv(b, x, y, ""), LLVMBuildSExt(b, is_negative, wide, ""), "");
  }
}

// Types of at most 32 bits are clamped in 32 bits, twice as many to a register, when the limits fit there.
static bool clamps_narrow(const indim_loop_value *arg, int64_t low, int64_t high) {
  bool fits = low >= INT32_MIN && high <= INT32_MAX;
  return fits && indim_type_bits(arg->type) <= 32 && (arg->type != INDIM_U32 || high >= 0);
}

// Whether |pred| implies bound <= x, or x <= bound: a comparison with a constant, an `and` of such, or one comparison of x as
// unsigned, which has zero as its lower bound.
static bool implies(const indim_generator *g, indim_value_id pred, indim_value_id x, bool is_low, int64_t bound) {
  const indim_loop_node *node = indim_emit_value(g, pred)->node;
  if (node == NULL || node->kind != INDIM_NODE_ELEMENTWISE || node->arg_count != 2) {
    return false;
  }
  if (node->u.op.op == INDIM_OP_AND) {
    return implies(g, node->args[0], x, is_low, bound) || implies(g, node->args[1], x, is_low, bound);
  }
  const indim_loop_value *left = indim_emit_value(g, node->args[0]);
  const indim_loop_value *right = indim_emit_value(g, node->args[1]);
  bool is_constant = right->node != NULL && right->node->kind == INDIM_NODE_CONST;
  bool is_index = right->type == INDIM_S32 || right->type == INDIM_S64 || right->type == INDIM_U32;
  if (node->u.op.op != INDIM_OP_COMPARE || !is_constant || !is_index) {
    return false;
  }
  uint64_t bits = right->node->u.constant.bits[0];
  int64_t limit = right->type == INDIM_S32 ? (int32_t)(uint32_t)bits : (int64_t)bits;
  bool is_most = node->u.op.direction == INDIM_COMPARE_LE;
  if (node->args[0] == x) {
    return is_low ? node->u.op.direction == INDIM_COMPARE_GE && limit >= bound : is_most && limit <= bound;
  }
  bool is_unsigned = left->type == INDIM_U32 && left->node != NULL && left->node->kind == INDIM_NODE_ELEMENTWISE &&
                     left->node->u.op.op == INDIM_OP_CONVERT && left->node->args[0] == x &&
                     indim_emit_value(g, x)->type == INDIM_S32;
  return is_unsigned && is_most && limit <= INT32_MAX && (is_low ? bound <= 0 : limit <= bound);
}

// Whether a branch around |node| is taken only where x is on this side of |bound|.
static bool is_checked(const indim_generator *g, const indim_loop_node *node, bool is_low, int64_t bound) {
  const indim_loop_body *body = node->body;
  for (; body->owner != NULL; body = body->outer) {
    if (body->owner->kind == INDIM_NODE_IF && body == body->owner->bodies[0] &&
        implies(g, body->owner->args[0], node->args[0], is_low, bound)) {
      return true;
    }
  }
  return false;
}

static void emit_clamp_index(indim_generator *g, const indim_loop_node *node) {
  LLVMBuilderRef b = g->e.builder;
  const indim_loop_value *arg = indim_emit_value(g, node->args[0]);
  LLVMValueRef x = g->regs[node->args[0]].part[0];
  int64_t least = node->u.clamp.low;
  bool is_signed = indim_type_is_signed_int(arg->type);
  bool is_narrow = clamps_narrow(arg, least, node->u.clamp.high);
  LLVMTypeRef wide = indim_emit_part_type(&g->e, INDIM_S64, arg->lanes);
  LLVMTypeRef type = indim_emit_part_type(&g->e, is_narrow ? INDIM_S32 : INDIM_S64, arg->lanes);
  bool is_large = arg->type == INDIM_U64 || (is_narrow && arg->type == INDIM_U32);  // may look negative
  if (is_large) {
    LLVMValueRef most[] = {x, indim_emit_s64_like(g, x, is_narrow ? INT32_MAX : INT64_MAX)};
    x = indim_emit_intrinsic(&g->e, "llvm.umin", 2, most);
  } else if (LLVMTypeOf(x) != type) {
    x = is_signed ? LLVMBuildSExt(b, x, type, "") : LLVMBuildZExt(b, x, type, "");
  }
  if (arg->low < least && !is_checked(g, node, true, least)) {
    LLVMValueRef low[] = {x, indim_emit_s64_like(g, x, least)};
    x = indim_emit_intrinsic(&g->e, "llvm.smax", 2, low);
  }
  if (arg->high > node->u.clamp.high && !is_checked(g, node, false, node->u.clamp.high)) {
    LLVMValueRef high[] = {x, indim_emit_s64_like(g, x, node->u.clamp.high)};
    x = indim_emit_intrinsic(&g->e, "llvm.smin", 2, high);
  }
  // Range analysis in the builder proves more results nonnegative than LLVM does.
  x = !is_narrow ? x : least >= 0 ? LLVMBuildZExt(b, x, wide, "") : LLVMBuildSExt(b, x, wide, "");
  g->regs[node->first_result].part[0] = x;
}

// Lanes -----------------------------------------------------------------------------------------------------------------

static LLVMValueRef lane_of(indim_generator *g, LLVMValueRef x, int32_t lanes, int32_t lane) {
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  return lanes == 1 ? x : LLVMBuildExtractElement(g->e.builder, x, LLVMConstInt(word, (unsigned)lane, 0), "");
}

// What some of the arguments contribute to a shuffle: a vector of the result's lanes; |is_there| marks the defined
// ones.
typedef struct piece {
  LLVMValueRef value;
  bool *is_there;
} piece;

// State of one shuffle while its parts are merged.
typedef struct shuffling {
  const indim_loop_node *node;
  int32_t lanes;
  int32_t part;
  int32_t *map;  // of the current step
  piece *pieces;
  int32_t count;
} shuffling;

static int32_t arg_lanes(indim_generator *g, const indim_loop_node *node, int32_t i) {
  return indim_emit_value(g, node->args[i])->lanes;
}

// The lanes that come from |count| arguments of equal lanes, starting with the i-th; their first lane is number |first|
// of the concatenation. NULL when no lane does.
static LLVMValueRef extract_lanes(indim_generator *g, shuffling *s, int32_t i, int32_t count, int32_t first,
                                  bool *is_there) {
  int32_t end = first + count * arg_lanes(g, s->node, i);
  bool is_used = false;
  for (int32_t k = 0; k < s->lanes; k++) {
    int32_t from = s->node->u.map[k];
    is_there[k] = from >= first && from < end;
    s->map[k] = is_there[k] ? from - first : -1;
    is_used = is_used || is_there[k];
  }
  LLVMValueRef a = g->regs[s->node->args[i]].part[s->part];
  if (!is_used || arg_lanes(g, s->node, i) > 1) {
    LLVMValueRef b = count == 2 ? g->regs[s->node->args[i + 1]].part[s->part] : NULL;
    return is_used ? indim_emit_shuffle(g, a, b, s->lanes, s->map) : NULL;
  }
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  LLVMValueRef out = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(a), (unsigned)s->lanes));
  for (int32_t k = 0; k < s->lanes; k++) {
    if (is_there[k]) {
      LLVMValueRef x = g->regs[s->node->args[i + s->map[k]]].part[s->part];
      out = LLVMBuildInsertElement(g->e.builder, out, x, LLVMConstInt(word, (unsigned)k, 0), "");
    }
  }
  return out;
}

// How many arguments from the i-th on are handled together: consecutive scalars, or two vectors of equal lanes.
static int32_t run_of_args(indim_generator *g, const indim_loop_node *node, int32_t i) {
  int32_t lanes = arg_lanes(g, node, i);
  int32_t most = lanes == 1 ? node->arg_count - i : 2;
  int32_t count = 1;
  while (count < most && i + count < node->arg_count && arg_lanes(g, node, i + count) == lanes) {
    count++;
  }
  return count;
}

// Merges the pieces pairwise until one is left.
static void merge_pieces(indim_generator *g, shuffling *s) {
  while (s->count > 1) {
    int32_t merged = 0;
    for (int32_t i = 0; i < s->count; i += 2) {
      piece a = s->pieces[i];
      if (i + 1 < s->count) {
        piece b = s->pieces[i + 1];
        for (int32_t k = 0; k < s->lanes; k++) {
          s->map[k] = a.is_there[k] ? k : b.is_there[k] ? s->lanes + k : -1;
          a.is_there[k] = a.is_there[k] || b.is_there[k];
        }
        a.value = indim_emit_shuffle(g, a.value, b.value, s->lanes, s->map);
      }
      s->pieces[merged++] = a;
    }
    s->count = merged;
  }
}

// Points from their coordinates: two to four arguments of equal lanes, interleaved.
static LLVMValueRef interleaved(indim_generator *g, const shuffling *s) {
  LLVMValueRef values[4];
  const indim_loop_node *node = s->node;
  if (node->arg_count < 2 || node->arg_count > 4) {
    return NULL;
  }
  for (int32_t i = 0; i < node->arg_count; i++) {
    if (arg_lanes(g, node, i) != arg_lanes(g, node, 0)) {
      return NULL;
    }
    values[i] = g->regs[node->args[i]].part[s->part];
  }
  return indim_emit_interleaved(g, values, node->arg_count, arg_lanes(g, node, 0), s->lanes, node->u.map);
}

// One part of a vector result: the pieces of the arguments, merged.
static void shuffle_part(indim_generator *g, shuffling *s, bool *is_there) {
  const indim_loop_node *node = s->node;
  indim_type type = indim_emit_value(g, node->first_result)->type;
  LLVMValueRef mixed = interleaved(g, s);
  if (mixed != NULL) {
    g->regs[node->first_result].part[s->part] = mixed;
    return;
  }
  s->count = 0;
  for (int32_t i = 0, first = 0; i < node->arg_count;) {
    int32_t count = run_of_args(g, node, i);
    bool *there = &is_there[s->count * s->lanes];
    LLVMValueRef value = extract_lanes(g, s, i, count, first, there);
    if (value != NULL) {
      s->pieces[s->count++] = (piece){value, there};
    }
    first += arg_lanes(g, node, i) * count;
    i += count;
  }
  merge_pieces(g, s);
  g->regs[node->first_result].part[s->part] =
      s->count == 0 ? LLVMGetPoison(indim_emit_part_type(&g->e, type, s->lanes)) : s->pieces[0].value;
}

// One lane: an extract.
static void shuffle_scalar(indim_generator *g, const indim_loop_node *node) {
  indim_reg *out = &g->regs[node->first_result];
  const indim_loop_value *result = indim_emit_value(g, node->first_result);
  int32_t from = node->u.map[0];
  int32_t i = 0;
  for (; from >= 0 && from >= arg_lanes(g, node, i); i++) {
    from -= arg_lanes(g, node, i);
  }
  for (int32_t part = 0; part < 2 && g->regs[node->args[i]].part[part] != NULL; part++) {
    LLVMValueRef x = g->regs[node->args[i]].part[part];
    out->part[part] = from < 0 ? LLVMGetPoison(indim_emit_part_type(&g->e, result->type, 1))
                               : lane_of(g, x, arg_lanes(g, node, i), from);
  }
}

static indim_status emit_shuffle(indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *result = indim_emit_value(g, node->first_result);
  if (result->lanes == 1) {
    shuffle_scalar(g, node);
    return INDIM_OK;
  }
  size_t lanes = (size_t)result->lanes;
  size_t args = (size_t)node->arg_count;
  size_t bytes = args * sizeof(piece) + lanes * sizeof(int32_t) + args * lanes * sizeof(bool);
  char *block = NULL;
  INDIM_TRY(indim_emit_temp(g, bytes, (void **)&block));
  shuffling s = {.node = node, .lanes = result->lanes, .pieces = (piece *)(void *)block};
  s.map = (int32_t *)(void *)(block + args * sizeof(piece));
  bool *is_there = (bool *)(block + args * sizeof(piece) + lanes * sizeof(int32_t));
  for (s.part = 0; s.part < 2 && g->regs[node->args[0]].part[s.part] != NULL; s.part++) {
    shuffle_part(g, &s, is_there);
  }
  return INDIM_OK;
}

// |count| lanes, starting with |first|.
static indim_reg part_of(indim_generator *g, indim_reg x, int32_t first, int32_t count) {
  indim_reg out = {{NULL, NULL}};
  int32_t lanes = (int32_t)LLVMGetVectorSize(LLVMTypeOf(x.part[0]));
  int32_t map[INDIM_EMIT_MAX_LANES];
  for (int32_t k = 0; k < count; k++) {
    map[k] = first + k;
  }
  for (int32_t part = 0; part < 2 && x.part[part] != NULL; part++) {
    out.part[part] =
        count == 1 ? lane_of(g, x.part[part], lanes, first) : indim_emit_shuffle(g, x.part[part], NULL, count, map);
  }
  return out;
}

// Tree reduction: halves are combined until one lane is left. The last lane of an odd number is combined at the end.
static indim_status emit_reduce(indim_generator *g, const indim_loop_node *node) {
  indim_type type = indim_emit_computed_type(g, node->args[0]);
  indim_type types[] = {type, type};
  indim_reg x = computed(g, node->args[0]);
  indim_reg waiting[32];
  int32_t waiting_count = 0;
  int32_t lanes = indim_emit_value(g, node->args[0])->lanes;
  while (lanes > 1) {
    if (lanes % 2 != 0) {
      waiting[waiting_count++] = part_of(g, x, lanes - 1, 1);
    }
    lanes /= 2;
    indim_reg halves[] = {part_of(g, x, 0, lanes), part_of(g, x, lanes, lanes)};
    indim_status status = indim_emit_scalar(&g->e, &node->u.op, type, lanes, 2, types, halves, &x);
    if (status != INDIM_OK) {
      return status == INDIM_UNSUPPORTED ? refuse(g, node, &node->u.op) : status;
    }
  }
  while (waiting_count > 0) {
    indim_reg pair[] = {x, waiting[--waiting_count]};
    INDIM_TRY(indim_emit_scalar(&g->e, &node->u.op, type, 1, 2, types, pair, &x));
  }
  set_register(g, node->first_result, x);
  return INDIM_OK;
}

static void emit_extract_or_splat(indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *arg = indim_emit_value(g, node->args[0]);
  const indim_loop_value *result = indim_emit_value(g, node->first_result);
  for (int32_t part = 0; part < 2 && g->regs[node->args[0]].part[part] != NULL; part++) {
    LLVMValueRef x = g->regs[node->args[0]].part[part];
    g->regs[node->first_result].part[part] = node->kind == INDIM_NODE_SPLAT ? indim_emit_splat(g, x, result->lanes)
                                                                            : lane_of(g, x, arg->lanes, node->u.lane);
  }
}

indim_status indim_emit_value_node(indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *result = indim_emit_value(g, node->first_result);
  if (node->kind == INDIM_NODE_CONST) {
    g->regs[node->first_result] = constant(g, node->first_result, result->lanes, node->u.constant.bits);
  } else if (node->kind == INDIM_NODE_LANES) {
    return emit_lanes(g, node);
  } else if (node->kind == INDIM_NODE_ELEMENTWISE) {
    return emit_elementwise(g, node);
  } else if (node->kind == INDIM_NODE_FMA) {
    emit_fma(g, node);
    return INDIM_OK;
  } else if (node->kind == INDIM_NODE_AFFINE) {
    emit_affine(g, node);
  } else if (node->kind == INDIM_NODE_CLAMP_INDEX) {
    emit_clamp_index(g, node);
  } else if (node->kind == INDIM_NODE_SHUFFLE) {
    return emit_shuffle(g, node);
  } else if (node->kind == INDIM_NODE_REDUCE) {
    return emit_reduce(g, node);
  } else if (node->kind == INDIM_NODE_SPLAT || node->kind == INDIM_NODE_EXTRACT) {
    emit_extract_or_splat(g, node);
  } else {
    emit_division(g, node);
  }
  return INDIM_OK;
}
