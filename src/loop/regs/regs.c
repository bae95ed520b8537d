// Register arrays: how arrays are cut into rows, which instructions can be made of them, and each one made: sources and elementwise
// ops here, movement, sums and products in the other files of this name. Computations that are called are written out.
#include "loop/regs/regs.h"

#include "array/element.h"
#include "loop/regs/inline_scope.h"
#include "loop/regs/regs_internal.h"

// Rows ----------------------------------------------------------------------------------------------------------------

// Sources ---------------------------------------------------------------------------------------------------------------

// A register array of known elements.
static void lower_elements(indim_loop_builder *b, const indim_shape *shape, const indim_element *elements,
                           indim_regs *out) {
  indim_value_id *rows = indim_regs_new(b, shape, out);
  for (int32_t r = 0; rows != NULL && r < out->row_count; r++) {
    uint64_t bits[2 * INDIM_REGS_ELEMENTS];
    const indim_element *first = &elements[r * out->lanes];
    bool same = true;
    for (int32_t k = 0; k < out->lanes; k++) {
      bits[2 * k] = first[k].bits;
      bits[2 * k + 1] = first[k].imag;
      same = same && first[k].bits == first[0].bits && first[k].imag == first[0].imag;
    }
    rows[r] = same ? indim_loop_splat(b, indim_loop_const(b, shape->type, bits[0], bits[1]), out->lanes)
                   : indim_loop_lanes(b, shape->type, out->lanes, bits);
  }
}

static void lower_constant(indim_loop_builder *b, const indim_instr *instr, indim_regs *out) {
  enum { MOST_BYTES = 16 };  // of an element
  indim_element elements[INDIM_REGS_ELEMENTS];
  unsigned char dense[INDIM_REGS_ELEMENTS * MOST_BYTES];
  int32_t bytes = indim_type_bytes(instr->shape->type);
  int64_t count = indim_shape_element_count(instr->shape);
  indim_status status = indim_literal_read_dense(b->program->cx, instr->literal, dense, count * bytes);
  if (status != INDIM_OK) {
    indim_loop_fail(b, status);
  }
  for (int64_t k = 0; status == INDIM_OK && k < count; k++) {
    elements[k] = indim_element_load(instr->shape->type, 8 * (int64_t)bytes, dense, k);
  }
  lower_elements(b, instr->shape, elements, out);
}

static void lower_iota(indim_loop_builder *b, const indim_instr *instr, indim_regs *out) {
  indim_element elements[INDIM_REGS_ELEMENTS];
  int64_t dim = indim_instr_int(instr, INDIM_ATTR_IOTA_DIMENSION, 0);
  int64_t inner = 1;
  for (int32_t d = (int32_t)dim + 1; d < instr->shape->rank; d++) {
    inner *= instr->shape->sizes[d];
  }
  for (int64_t k = 0; k < indim_shape_element_count(instr->shape); k++) {
    indim_element index = indim_element_of_int(INDIM_S64, k / inner % instr->shape->sizes[dim]);
    elements[k] = indim_element_convert(INDIM_S64, instr->shape->type, index);
  }
  lower_elements(b, instr->shape, elements, out);
}

// partition-id, replica-id: there is one device. get-dimension-size: sizes are static.
static void lower_number(indim_loop_builder *b, const indim_instr *instr, indim_regs *out) {
  int64_t value = 0;
  if (instr->op == INDIM_OP_GET_DIMENSION_SIZE) {
    int64_t count = 0;
    value = instr->operands[0]->shape->sizes[indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0]];
  }
  indim_element element = indim_element_of_int(instr->shape->type, value);
  lower_elements(b, instr->shape, &element, out);
}

// Elementwise -------------------------------------------------------------------------------------------------------------

// Operands that are scalars beside arrays go with every row.
static indim_value_id row_of(const indim_regs *regs, int32_t row, const indim_regs *out) {
  return regs->rows[regs->row_count == out->row_count && regs->lanes == out->lanes ? row : 0];
}

static void lower_elementwise(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands,
                              indim_regs *out) {
  indim_value_id *rows = indim_regs_new(b, instr->shape, out);
  for (int32_t r = 0; rows != NULL && r < out->row_count; r++) {
    indim_value_id args[3] = {0, 0, 0};
    for (int32_t i = 0; i < instr->operand_count; i++) {
      args[i] = row_of(&operands[i], r, out);
    }
    rows[r] = indim_loop_instr(b, instr, instr->operand_count, args);
  }
}

static void lower_map(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out) {
  indim_ctx *cx = b->program->cx;
  const indim_computation *computation = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
  void *memory = NULL;
  size_t size = (size_t)instr->operand_count * sizeof(indim_value_id);
  indim_value_id *rows = indim_regs_new(b, instr->shape, out);
  indim_status status = indim_alloc(cx, size, &memory);
  if (status != INDIM_OK) {
    indim_loop_fail(b, status);
    return;
  }
  indim_value_id *args = memory;
  for (int32_t r = 0; rows != NULL && r < out->row_count; r++) {
    for (int32_t i = 0; i < instr->operand_count; i++) {
      args[i] = operands[i].rows[r];
    }
    indim_loop_apply(b, computation, out->lanes, args, &rows[r]);
  }
  indim_free(cx, memory, size);
}

// What can be made --------------------------------------------------------------------------------------------------------

enum { MAX_STEPS = 1 << 12 };

static bool fits_registers(const indim_shape *shape) {
  if (!indim_shape_is_array(shape) || !indim_shape_is_static(shape)) {
    return false;
  }
  int64_t count = indim_shape_element_count(shape);
  return count >= 1 && count <= INDIM_REGS_ELEMENTS;
}

// An array or a flat tuple of arrays.
static bool fit_registers(const indim_shape *shape) {
  if (!indim_shape_is_tuple(shape)) {
    return fits_registers(shape);
  }
  for (int64_t i = 0; i < shape->member_count; i++) {
    if (!fits_registers(shape->members[i])) {
      return false;
    }
  }
  return shape->member_count <= MAX_STEPS;
}

static bool is_dense(const indim_shape *shape) {
  return !shape->has_layout || (shape->layout.tile_count == 0 && shape->layout.padded_rank == 0 &&
                                shape->layout.element_bits == 0 && shape->layout.tail_alignment <= 1);
}

static bool can_move(const indim_instr *instr) {
  int64_t elements = 0;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    elements += indim_shape_element_count(instr->operands[i]->shape);
  }
  if (instr->op == INDIM_OP_BITCAST) {
    const indim_shape *from = instr->operands[0]->shape;
    return from->type == instr->shape->type && elements == indim_shape_element_count(instr->shape) && is_dense(from) &&
           is_dense(instr->shape);
  }
  return elements <= INDIM_POOL_ELEMENTS;
}

static bool can_instr(const indim_instr *instr, int32_t depth, int32_t *steps);

// Whether its op can be made, of operands that fit; |depth|: of the computation that it is in, 0 for the flow's own items.
static bool can_op(const indim_instr *instr, int32_t depth, int32_t *steps) {
  switch (indim_op_class_of(instr->op)) {
  case INDIM_OP_CLASS_SOURCE:
    return fits_registers(instr->shape) && (instr->op != INDIM_OP_CONSTANT || !indim_literal_is_elided(instr->literal));
  case INDIM_OP_CLASS_MOVE:
  case INDIM_OP_CLASS_ASSEMBLE:
    return can_move(instr);
  case INDIM_OP_CLASS_INDEX:
  case INDIM_OP_CLASS_UPDATE:
    return indim_regs_can_dynamic(instr);
  case INDIM_OP_CLASS_CALL:
    return indim_inline_can(indim_inline_called(instr), depth + 1, steps, can_instr);
  case INDIM_OP_CLASS_NAME:
    return depth > 0;
  case INDIM_OP_CLASS_APPLY:
    return indim_loop_can_apply(indim_inline_called(instr));
  case INDIM_OP_CLASS_KERNEL:
    return (instr->op == INDIM_OP_DOT && indim_regs_can_dot(instr)) ||
           (instr->op == INDIM_OP_REDUCE && indim_regs_can_reduce(instr));
  case INDIM_OP_CLASS_SAME:
  case INDIM_OP_CLASS_ELEMENTWISE:
  case INDIM_OP_CLASS_LONG:
  case INDIM_OP_CLASS_FUNCTION:
    return indim_loop_can_instr(instr);
  case INDIM_OP_CLASS_NONE:
  case INDIM_OP_CLASS_CONTROL:
  case INDIM_OP_CLASS_EXPAND:
    break;
  }
  return false;
}

static bool can_instr(const indim_instr *instr, int32_t depth, int32_t *steps) {
  if (--*steps < 0 || !fit_registers(instr->shape)) {
    return false;
  }
  indim_op_class class = indim_op_class_of(instr->op);
  bool takes_tuples = depth > 0 && (class == INDIM_OP_CLASS_CALL || class == INDIM_OP_CLASS_NAME);
  for (int32_t i = 0; i < instr->operand_count; i++) {
    const indim_shape *shape = instr->operands[i]->shape;
    if (takes_tuples ? !fit_registers(shape) : !fits_registers(shape)) {
      return false;
    }
  }
  return can_op(instr, depth, steps);
}

bool indim_regs_can(const indim_instr *instr) {
  int32_t steps = MAX_STEPS;
  return can_instr(instr, 0, &steps);
}

// Computations --------------------------------------------------------------------------------------------------------------

// |operands| are all leaves of the operands.
static void lower(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out);

static void run_instr(indim_loop_builder *b, const indim_inline_scope *f, const indim_instr *instr, void *out) {
  indim_regs *operands = indim_inline_operands(b, f, instr);
  if (operands != NULL) {
    lower(b, instr, operands, out);
    indim_inline_release(b, f, instr, operands);
  }
}

static void lower_source(indim_loop_builder *b, const indim_instr *instr, indim_regs *out) {
  if (instr->op == INDIM_OP_CONSTANT) {
    lower_constant(b, instr, out);
  } else if (instr->op == INDIM_OP_IOTA) {
    lower_iota(b, instr, out);
  } else {
    lower_number(b, instr, out);
  }
}

static void lower(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out) {
  switch (indim_op_class_of(instr->op)) {
  case INDIM_OP_CLASS_SOURCE:
    lower_source(b, instr, out);
    break;
  case INDIM_OP_CLASS_MOVE:
  case INDIM_OP_CLASS_ASSEMBLE:
    indim_regs_move(b, instr, operands, out);
    break;
  case INDIM_OP_CLASS_INDEX:
  case INDIM_OP_CLASS_UPDATE:
    indim_regs_dynamic(b, instr, operands, out);
    break;
  case INDIM_OP_CLASS_CALL:
    indim_inline_run(b, indim_inline_called(instr), sizeof *out, operands, run_instr, out);
    break;
  case INDIM_OP_CLASS_APPLY:
    lower_map(b, instr, operands, out);
    break;
  case INDIM_OP_CLASS_KERNEL:
    if (instr->op == INDIM_OP_DOT) {
      indim_regs_dot(b, instr, operands, out);
    } else {
      indim_regs_reduce(b, instr, operands, out);
    }
    break;
  case INDIM_OP_CLASS_SAME:
  case INDIM_OP_CLASS_ELEMENTWISE:
  case INDIM_OP_CLASS_LONG:
  case INDIM_OP_CLASS_FUNCTION:
    lower_elementwise(b, instr, operands, out);
    break;
  case INDIM_OP_CLASS_NONE:
  case INDIM_OP_CLASS_NAME:  // inline_scope.c
  case INDIM_OP_CLASS_CONTROL:
  case INDIM_OP_CLASS_EXPAND:
    break;
  }
}

void indim_regs_lower(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out) {
  for (int32_t k = 0; k < indim_inline_leaf_count(instr->shape); k++) {
    const indim_shape *shape = indim_instr_result_shape(instr, k);
    out[k] = (indim_regs){.shape = shape};
  }
  if (b->status == INDIM_OK) {
    lower(b, instr, operands, out);
  }
}
