// Shape rules of the elementwise ops: every operand has exactly the same dimensions, since HLO broadcasts nothing by
// itself, and the same element type; the result has the first operand's layout. select and clamp
// alone take scalars beside arrays (3.4).
#include <inttypes.h>

#include "graph/infer_kit.h"

indim_status indim_infer_unary(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 0, indim_op_classes(instr->op)));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  indim_type type = operand->type;
  bool to_component = instr->op == INDIM_OP_ABS || instr->op == INDIM_OP_REAL || instr->op == INDIM_OP_IMAG;
  if (to_component && indim_type_is_complex(type)) {
    type = indim_type_component_of(type);
  } else if (instr->op == INDIM_OP_IS_FINITE) {
    type = INDIM_PRED;
  }
  return indim_instr_change_type(cx, instr, operand, type, out_shape);
}

// The element type that the instruction declares.
static indim_status declared_type(indim_ctx *cx, const indim_instr *instr, indim_type *out_type) {
  const indim_shape *declared = NULL;
  INDIM_TRY(indim_instr_declared(cx, instr, &declared));
  if (!indim_shape_is_array(declared)) {
    indim_shape_text text;
    return indim_fail_instr(cx, INDIM_INVALID, instr, "the result is %s, expected an array",
                            indim_shape_brief(declared, &text));
  }
  *out_type = declared->type;
  return INDIM_OK;
}

indim_status indim_infer_convert(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  indim_type type = INDIM_TYPE_INVALID;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(declared_type(cx, instr, &type));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  if (indim_type_is_complex(operand->type) && !indim_type_is_complex(type)) {
    indim_shape_text text;
    const char *name = indim_operand_name(instr, 0);
    indim_fail_instr(cx, INDIM_INVALID, instr, "complex operand 0 (%s), which is %s, cannot become %s", name,
                     indim_shape_brief(operand, &text), indim_type_text(type));
    indim_hint(cx, "convert a part of it: real(%s) or imag(%s)", name, name);
    return INDIM_INVALID;
  }
  return indim_instr_change_type(cx, instr, operand, type, out_shape);
}

// pred counts as the byte that it takes.
static int32_t bitcast_bits(indim_type type) { return type == INDIM_PRED ? 8 : indim_type_bits(type); }

indim_status indim_infer_bitcast_convert(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                         indim_shape *out_shape) {
  (void)arena;
  indim_type type = INDIM_TYPE_INVALID;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(declared_type(cx, instr, &type));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  indim_shape_text text;
  indim_shape_brief(operand, &text);
  const char *name = indim_operand_name(instr, 0);
  if (indim_type_is_complex(operand->type) != indim_type_is_complex(type)) {
    indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s, which has no bits in common with %s", name,
                     text.text, indim_type_text(type));
    indim_hint(cx, "complex numbers are taken apart by real and imag, and put together by complex");
    return INDIM_INVALID;
  }
  int32_t from = bitcast_bits(operand->type);
  int32_t to = bitcast_bits(type);
  if (from == to) {
    return indim_instr_change_type(cx, instr, operand, type, out_shape);
  }
  int32_t ratio = from > to ? from / to : to / from;
  if (from % to != 0 && to % from != 0) {
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "operand 0 (%s) is %s: the %d bits of %s and the %d of %s do not divide", name, text.text,
                            (int)from, indim_type_text(operand->type), (int)to, indim_type_text(type));
  }
  int64_t sizes[INDIM_MAX_RANK + 1];
  for (int32_t i = 0; i < operand->rank; i++) {
    sizes[i] = operand->sizes[i];
  }
  if (from > to) {
    sizes[operand->rank] = ratio;
    return indim_instr_make_array(cx, instr, type, operand->rank + 1, sizes, operand->dynamic, out_shape);
  }
  int32_t last = operand->rank - 1;
  if (last < 0 || operand->sizes[last] != ratio || indim_dim_is_dynamic(operand, last)) {
    indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s: its last dimension must be %d, the %s in one %s",
                     name, text.text, (int)ratio, indim_type_text(operand->type), indim_type_text(type));
    indim_hint(cx, "%d x %d bits make %d; the last dimension is dropped", (int)ratio, (int)from, (int)to);
    return INDIM_INVALID;
  }
  return indim_instr_make_array(cx, instr, type, last, sizes, operand->dynamic, out_shape);
}

indim_status indim_infer_reduce_precision(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                          indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 0, indim_op_classes(instr->op)));
  int64_t exponent = indim_instr_int(instr, INDIM_ATTR_EXPONENT_BITS, 0);
  int64_t mantissa = indim_instr_int(instr, INDIM_ATTR_MANTISSA_BITS, 0);
  if (exponent < 1) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_EXPONENT_BITS, "exponent_bits=%" PRId64 ", expected 1 at least",
                           exponent);
  }
  if (mantissa < 0) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_MANTISSA_BITS, "mantissa_bits=%" PRId64 ", expected 0 at least",
                           mantissa);
  }
  *out_shape = *indim_operand_shape(instr, 0);
  return INDIM_OK;
}

indim_status indim_infer_stochastic_convert(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                            indim_shape *out_shape) {
  (void)arena;
  indim_type type = INDIM_TYPE_INVALID;
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, 1));
  INDIM_TRY(declared_type(cx, instr, &type));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 0, indim_op_classes(instr->op)));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 1, INDIM_CLASS_UNSIGNED));
  INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 0, 1));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  const indim_shape *random = indim_operand_shape(instr, 1);
  indim_shape_text text;
  if (indim_type_bits(operand->type) != indim_type_bits(random->type)) {
    indim_shape_text random_text;
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "operand 1 (%s) is %s, expected random numbers of the %d bits of operand 0 (%s), which "
                            "is %s",
                            indim_operand_name(instr, 1), indim_shape_brief(random, &random_text),
                            (int)indim_type_bits(operand->type), indim_operand_name(instr, 0),
                            indim_shape_brief(operand, &text));
  }
  if ((indim_type_class(type) & (INDIM_CLASS_INTEGER | INDIM_CLASS_FLOAT)) == 0) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "the result is of type %s, expected integers or floats",
                            indim_type_text(type));
  }
  return indim_instr_change_type(cx, instr, operand, type, out_shape);
}

// Two arrays of the same type and dimensions; dynamic where either is. With a "?" on either side the result has the
// default layout, and 1 beside "?" gives "?", as in XLA.
static indim_status infer_pair(indim_ctx *cx, const indim_instr *instr, indim_shape *out_shape) {
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, 1));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 0, indim_op_classes(instr->op)));
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, 1));
  INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 0, 1));
  const indim_shape *left = indim_operand_shape(instr, 0);
  const indim_shape *right = indim_operand_shape(instr, 1);
  *out_shape = *left;
  indim_dims_join(out_shape, right);
  if (indim_shape_is_unbounded(left) || indim_shape_is_unbounded(right)) {
    for (int32_t i = 0; i < left->rank; i++) {
      if (out_shape->sizes[i] == 1 && left->sizes[i] != right->sizes[i]) {
        indim_dim_set(out_shape, i, INDIM_UNBOUNDED, true);
      }
    }
    indim_layout_init(out_shape->rank, &out_shape->layout);
    out_shape->has_layout = true;
  }
  return INDIM_OK;
}

indim_status indim_infer_binary(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  return infer_pair(cx, instr, out_shape);
}

indim_status indim_infer_complex(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  indim_shape parts;
  INDIM_TRY(infer_pair(cx, instr, &parts));
  indim_type type = indim_type_complex_of(parts.type);
  if (type == INDIM_TYPE_INVALID) {
    indim_shape_text text;
    indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s: there is no complex type of two %s",
                     indim_operand_name(instr, 0), indim_shape_brief(&parts, &text), indim_type_text(parts.type));
    indim_hint(cx, "convert both to f32 (giving c64) or f64 (giving c128)");
    return INDIM_INVALID;
  }
  return indim_instr_change_type(cx, instr, &parts, type, out_shape);
}

static const char *default_compare_type(indim_type type) {
  unsigned class = indim_type_class(type);
  return (class & (INDIM_CLASS_FLOAT | INDIM_CLASS_COMPLEX)) != 0 ? "FLOAT"
         : class == INDIM_CLASS_SIGNED                            ? "SIGNED"
                                                                  : "UNSIGNED";
}

// Floats compare as FLOAT or TOTALORDER, every other type in its own way only, and
// complex numbers have no order.
static indim_status verify_comparison(indim_ctx *cx, const indim_instr *instr) {
  const indim_shape *operand = indim_operand_shape(instr, 1);
  const char *expected = default_compare_type(operand->type);
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_COMPARE_TYPE);
  indim_shape_text text;
  if (attr != NULL && !indim_str_is(attr->value.text, expected) &&
      !(indim_type_is_float(operand->type) && indim_str_is(attr->value.text, "TOTALORDER"))) {
    bool is_float = indim_type_is_float(operand->type);
    return indim_fail_attr(cx, instr, INDIM_ATTR_COMPARE_TYPE,
                           "type=%.*s does not fit operand 1 (%s), which is %s: "
                           "expected %s%s",
                           (int)attr->value.text.size, attr->value.text.data, indim_operand_name(instr, 1),
                           indim_shape_brief(operand, &text), expected, is_float ? " or TOTALORDER" : "");
  }
  indim_str direction = indim_instr_word(instr, INDIM_ATTR_DIRECTION);
  if (indim_type_is_complex(operand->type) && !indim_str_is(direction, "EQ") && !indim_str_is(direction, "NE")) {
    indim_fail_attr(cx, instr, INDIM_ATTR_DIRECTION, "direction=%.*s of %s: complex numbers have no order",
                    (int)direction.size, direction.data, indim_shape_brief(operand, &text));
    indim_hint(cx, "EQ and NE compare them; for an order compare a part or the modulus (abs)");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

indim_status indim_infer_compare(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  indim_shape pair;
  INDIM_TRY(infer_pair(cx, instr, &pair));
  INDIM_TRY(verify_comparison(cx, instr));
  return indim_instr_change_type(cx, instr, &pair, INDIM_PRED, out_shape);
}

indim_status indim_infer_select(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, 2));
  const indim_shape *predicate = indim_operand_shape(instr, 0);
  if (predicate->type != INDIM_PRED) {
    indim_shape_text text;
    indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s, expected pred", indim_operand_name(instr, 0),
                     indim_shape_brief(predicate, &text));
    indim_hint(cx, "compare it with zero first: compare(%s, zero), direction=NE", indim_operand_name(instr, 0));
    return INDIM_INVALID;
  }
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 1, 2));
  INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 1, 2));
  const indim_shape *on_true = indim_operand_shape(instr, 1);
  if (predicate->rank == 0) {
    *out_shape = *on_true;
  } else {
    INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 1, 0));
    INDIM_TRY(indim_instr_change_type(cx, instr, predicate, on_true->type, out_shape));
    indim_dims_join(out_shape, on_true);
  }
  indim_dims_join(out_shape, indim_operand_shape(instr, 2));
  return INDIM_OK;
}

indim_status indim_infer_clamp(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, 2));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 1, indim_op_classes(instr->op)));
  for (int32_t bound = 0; bound <= 2; bound += 2) {
    INDIM_TRY(indim_operands_verify_same_type(cx, instr, 1, bound));
    if (indim_operand_shape(instr, bound)->rank != 0) {
      INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 1, bound));
    }
  }
  *out_shape = *indim_operand_shape(instr, 1);
  return INDIM_OK;
}
