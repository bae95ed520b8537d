// Reductions in types with more lanes, and no conversions:
//
//   maximum and minimum of f16 and bf16    of s16 that have their order
//   argmax with an index of s64            with one of s32, where the dimension has so few elements
//   sums and bits of integers that         in the type of the bytes of them that anyone asks for (sum(u8) in u32, to u8)
//   were converted from a narrower type
//   maximum and minimum of such            in the type they were converted from
//
// The bits of a float, those of a magnitude flipped below zero, are in the order of the numbers, with -0 before 0 and the NaNs
// at both ends. As many as there are of either sign are subtracted, modulo 2^16: then all NaNs are behind infinity, where a
// maximum takes them; added, they are all before the least, where a minimum does.
#include "expand/narrow_reduce.h"

#include "array/float_format.h"
#include "expand/kit.h"
#include "expand/needed.h"
#include "expand/split.h"
#include "expand/unit_reduce.h"
#include "graph/infer_kit.h"
#include "indim/literal_util.h"

enum {
  LEAST_ELEMENTS = 64,
  FEW_INDICES = 4,  // no more of them pay for converting the result
};

// Extremes of floats ------------------------------------------------------------------------------------------------------

static const indim_computation *reducer_of(const indim_instr *instr) {
  return indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
}

static bool is_extreme(const indim_instr *instr) {
  const indim_instr *root = indim_computation_single_op(reducer_of(instr));
  indim_type type = instr->operands[0]->shape->type;
  bool is_op = root != NULL && (root->op == INDIM_OP_MAXIMUM || root->op == INDIM_OP_MINIMUM);
  return instr->operand_count == 2 && (type == INDIM_BF16 || type == INDIM_F16) && is_op && root->shape->type == type;
}

static value with_int(const indim_expander *x, indim_op op, value v, int64_t number) {
  return v == NULL ? NULL : indim_build_binary(x->b, op, v, indim_build_scalar_int(x->b, INDIM_S16, number), NULL, 0);
}

// Flips the magnitude of what is below zero.
static value flip(const indim_expander *x, value bits) {
  value flipped = with_int(x, INDIM_OP_AND, with_int(x, INDIM_OP_SHIFT_RIGHT_ARITHMETIC, bits, 15), INT16_MAX);
  return indim_build_binary(x->b, INDIM_OP_XOR, bits, flipped, NULL, 0);
}

static value extreme(indim_expander *x) {
  indim_op op = reducer_of(x->instr)->root->op;
  indim_type type = x->instr->operands[0]->shape->type;
  indim_op forth = op == INDIM_OP_MAXIMUM ? INDIM_OP_SUBTRACT : INDIM_OP_ADD;
  indim_op back = op == INDIM_OP_MAXIMUM ? INDIM_OP_ADD : INDIM_OP_SUBTRACT;
  int64_t nans = INT16_MAX - (int64_t)indim_float_format_of(type)->infinity_bits;
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(x->instr, INDIM_ATTR_DIMENSIONS, &count);
  const indim_computation *apply = indim_expand_reducer(x, "extreme", op, INDIM_S16);
  value keys[2];
  indim_expand_begin(x);
  for (int32_t k = 0; k < 2; k++) {
    value bits = indim_build_bitcast_convert(x->b, x->operands[k], INDIM_S16);
    keys[k] = with_int(x, forth, flip(x, bits), nans);
  }
  value found = indim_build_reduce(x->b, &keys[0], &keys[1], 1, apply, dims, (int32_t)count);
  return indim_build_bitcast_convert(x->b, flip(x, with_int(x, back, found, nans)), type);
}

// Indices -----------------------------------------------------------------------------------------------------------------

// The dimension along which |index| is an iota, as it is or broadcast; -1 for anything else.
static int32_t iota_dim(const indim_instr *index) {
  if (index->op == INDIM_OP_IOTA) {
    return (int32_t)indim_instr_int(index, INDIM_ATTR_IOTA_DIMENSION, 0);
  }
  bool is_repeated = index->op == INDIM_OP_BROADCAST && index->operands[0]->op == INDIM_OP_IOTA;
  int64_t count = 0;
  const int64_t *dims = is_repeated ? indim_instr_ints(index, INDIM_ATTR_DIMENSIONS, &count) : NULL;
  return is_repeated ? (int32_t)dims[iota_dim(index->operands[0])] : -1;
}

// Values of 8 bytes have the lanes of such an index.
static bool has_wide_index(const indim_instr *instr) {
  if (instr->operand_count != 4 || instr->operands[1]->shape->type != INDIM_S64 ||
      indim_type_bytes(instr->operands[0]->shape->type) > 4 || !indim_split_only_selects(reducer_of(instr))) {
    return false;
  }
  const indim_instr *init = instr->operands[3];
  int32_t dim = iota_dim(instr->operands[1]);
  return dim >= 0 && instr->operands[1]->shape->sizes[dim] > FEW_INDICES &&
         instr->operands[1]->shape->sizes[dim] <= INT32_MAX && init->op == INDIM_OP_CONSTANT &&
         indim_literal_is_all(init->literal, 0);
}

// The reducer with an index of s32.
static const indim_computation *narrowed(indim_expander *x) {
  const indim_computation *apply = reducer_of(x->instr);
  value *of = indim_expand_values(x, apply->instr_count);
  indim_shape scalar;
  indim_build_fail(x->b, indim_shape_init(x->cx, INDIM_S32, 0, NULL, &scalar));
  indim_builder_begin(x->b, "narrowed");
  for (int32_t i = 0; of != NULL && i < apply->instr_count; i++) {
    const indim_instr *instr = apply->instrs[i];
    if (instr->op == INDIM_OP_PARAMETER) {
      const indim_shape *shape = instr->shape->type == INDIM_S64 ? &scalar : instr->shape;
      of[i] = indim_build_parameter(x->b, instr->parameter_number, shape, NULL);
      continue;
    }
    value operands[4];
    int32_t count = instr->operand_count < 4 ? instr->operand_count : 4;
    for (int32_t k = 0; k < count; k++) {
      operands[k] = of[instr->operands[k]->index];
    }
    of[i] = indim_build_emit(x->b, instr->op, NULL, operands, count, instr->attrs, instr->attr_count);
  }
  return of == NULL ? NULL : indim_builder_end(x->b, of[apply->root->index]);
}

static value selection(indim_expander *x) {
  const indim_shape *shape = x->instr->operands[1]->shape;
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(x->instr, INDIM_ATTR_DIMENSIONS, &count);
  const indim_computation *apply = narrowed(x);
  indim_shape index;
  indim_build_fail(x->b, indim_shape_init(x->cx, INDIM_S32, shape->rank, shape->sizes, &index));
  if (apply == NULL) {
    return NULL;
  }
  indim_expand_begin(x);
  value operands[] = {x->operands[0], indim_build_iota(x->b, &index, iota_dim(x->instr->operands[1]))};
  value inits[] = {x->operands[2], indim_build_scalar_int(x->b, INDIM_S32, 0)};
  value found = indim_build_reduce(x->b, operands, inits, 2, apply, dims, (int32_t)count);
  value results[] = {indim_build_get_tuple_element(x->b, found, 0),
                     indim_expand_convert(x, indim_build_get_tuple_element(x->b, found, 1), INDIM_S64)};
  return indim_build_tuple(x->b, results, 2);
}

// Integers ----------------------------------------------------------------------------------------------------------------

// The op of a reducer of two integers; INDIM_OP_COUNT for any other.
static indim_op op_of_ints(const indim_instr *instr) {
  const indim_instr *root = indim_computation_single_op(reducer_of(instr));
  bool is_plain = root != NULL && indim_type_is_integral(instr->operands[0]->shape->type) &&
                  root->shape->type == instr->operands[0]->shape->type &&
                  root->op != INDIM_OP_SUBTRACT;  // whose order counts
  return is_plain ? root->op : INDIM_OP_COUNT;
}

bool indim_narrow_reduce_is_modular(const indim_instr *instr) { return indim_op_is_modular(op_of_ints(instr)); }

// The type that integers were converted from; their own where they were not.
static indim_type source_type(const indim_instr *instr) {
  indim_type source = instr->op == INDIM_OP_CONVERT ? instr->operands[0]->shape->type : instr->shape->type;
  return source == INDIM_PRED ? INDIM_U8 : source;
}

static indim_type int_type(int32_t bytes, bool is_signed) {
  switch (bytes) {
  case 1:
    return is_signed ? INDIM_S8 : INDIM_U8;
  case 2:
    return is_signed ? INDIM_S16 : INDIM_U16;
  case 4:
    return is_signed ? INDIM_S32 : INDIM_U32;
  default:
    return INDIM_TYPE_INVALID;
  }
}

// The largest of an integer type of at most 63 bits, or else the least.
static int64_t limit_of(indim_type type, bool is_largest) {
  bool is_signed = indim_type_is_signed_int(type);
  int64_t largest = (int64_t)(UINT64_MAX >> (64 - indim_type_bits(type) + (is_signed ? 1 : 0)));
  return is_largest ? largest : is_signed ? -largest - 1 : 0;
}

// Where an extreme begins: where all elements go on from, or zero.
static bool has_plain_init(const indim_instr *instr, bool is_minimum) {
  const indim_instr *init = instr->operands[1];
  indim_type type = init->shape->type;
  return init->op == INDIM_OP_CONSTANT &&
         (indim_literal_is_all(init->literal, 0) ||
          (type != INDIM_U64 && indim_literal_is_all(init->literal, limit_of(type, is_minimum))));
}

// The type to reduce integers in of which |bytes| are asked for; INVALID where that is their own.
static indim_type narrow_type(const indim_instr *instr, int32_t bytes) {
  indim_op op = op_of_ints(instr);
  indim_type type = instr->operands[0]->shape->type;
  indim_type source = op == INDIM_OP_COUNT ? type : source_type(instr->operands[0]);
  if (!indim_type_is_integral(source) || indim_type_is_sub_byte(source) ||
      indim_type_bytes(source) >= indim_type_bytes(type)) {
    return INDIM_TYPE_INVALID;
  }
  if (op == INDIM_OP_MAXIMUM || op == INDIM_OP_MINIMUM) {
    bool keeps_order = indim_type_is_unsigned_int(source) || indim_type_is_signed_int(type);
    return keeps_order && has_plain_init(instr, op == INDIM_OP_MINIMUM) ? source : INDIM_TYPE_INVALID;
  }
  // Products stay: vectors of bytes have no multiplication.
  bool is_narrower = indim_op_is_modular(op) && op != INDIM_OP_MULTIPLY && bytes < indim_type_bytes(type);
  return is_narrower ? int_type(bytes, indim_type_is_signed_int(type)) : INDIM_TYPE_INVALID;
}

static value narrow_init(indim_expander *x, indim_op op, indim_type type) {
  if (indim_op_is_modular(op)) {
    return indim_expand_convert(x, x->operands[1], type);
  }
  bool is_zero = indim_literal_is_all(x->instr->operands[1]->literal, 0);
  return indim_build_scalar_int(x->b, type, is_zero ? 0 : limit_of(type, op == INDIM_OP_MINIMUM));
}

static value of_ints(indim_expander *x, indim_type type) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(x->instr, INDIM_ATTR_DIMENSIONS, &count);
  indim_op op = op_of_ints(x->instr);
  const indim_computation *apply = indim_expand_reducer(x, "narrow", op, type);
  indim_expand_begin(x);
  value init = narrow_init(x, op, type);
  value operand = indim_expand_convert(x, x->operands[0], type);
  value found = indim_build_reduce(x->b, &operand, &init, 1, apply, dims, (int32_t)count);
  return indim_expand_convert(x, found, x->instr->shape->type);
}

bool indim_narrow_reduce_suits(const indim_instr *instr, int32_t bytes) {
  return instr->op == INDIM_OP_REDUCE && indim_shape_is_static(instr->operands[0]->shape) &&
         indim_shape_element_count(instr->operands[0]->shape) >= LEAST_ELEMENTS &&
         (is_extreme(instr) || has_wide_index(instr) || narrow_type(instr, bytes) != INDIM_TYPE_INVALID);
}

value indim_expand_reduction(indim_expander *x) {
  if (indim_unit_reduce_suits(x->instr)) {
    return indim_unit_reduce_expand(x);
  }
  if (!indim_narrow_reduce_suits(x->instr, x->bytes)) {
    return indim_split_reduce(x);
  }
  indim_type type = narrow_type(x->instr, x->bytes);
  if (type != INDIM_TYPE_INVALID) {
    return of_ints(x, type);
  }
  return x->instr->operand_count == 2 ? extreme(x) : selection(x);
}
