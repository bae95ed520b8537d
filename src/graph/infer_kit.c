// What the shape rules share.
#include "graph/infer_kit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The most leaves and nested tuples, counted once for each place they stand in, of one tuple that a rule makes.
enum { MAX_TUPLE_NODES = 1 << 16 };

const char *indim_list_brief(const int64_t *values, int64_t count, indim_list_text *out) {
  size_t capacity = sizeof out->text;
  size_t size = (size_t)snprintf(out->text, capacity, "{");
  for (int64_t i = 0; i < count && size + 1 < capacity; i++) {
    size += (size_t)snprintf(out->text + size, capacity - size, "%s%" PRId64, i == 0 ? "" : ",", values[i]);
  }
  if (size + 1 < capacity) {
    size += (size_t)snprintf(out->text + size, capacity - size, "}");
  }
  if (size >= capacity) {
    memcpy(out->text + capacity - 4, "...", 4);
  }
  return out->text;
}

const char *indim_dim_brief(const indim_shape *shape, int64_t dim, indim_dim_text *out) {
  if (shape->sizes[dim] == INDIM_UNBOUNDED) {
    snprintf(out->text, sizeof out->text, "?");
  } else {
    snprintf(out->text, sizeof out->text, "%s%" PRId64, indim_dim_is_dynamic(shape, dim) ? "<=" : "",
             shape->sizes[dim]);
  }
  return out->text;
}

indim_status indim_fail_attr(indim_ctx *cx, const indim_instr *instr, indim_attr_id id, const char *format, ...) {
  char message[sizeof((indim_diagnostic *)NULL)->message];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(message, sizeof message, format, arguments) < 0) {
    message[0] = '\0';
  }
  va_end(arguments);
  const indim_attr *attr = indim_instr_attr(instr, id);
  size_t offset = attr == NULL || attr->offset == INDIM_NO_OFFSET ? instr->offset : attr->offset;
  const indim_source *source = offset == INDIM_NO_OFFSET ? NULL : &instr->computation->module->source;
  return indim_fail_at(cx, INDIM_INVALID, source, offset, "%s (%s): %s", instr->name.data,
                       indim_op_get(instr->op)->text, message);
}

// Operands -----------------------------------------------------------------------------------------------------------

static indim_status fail_operand(indim_ctx *cx, const indim_instr *instr, int32_t operand, const char *expected) {
  indim_shape_text text;
  return indim_fail_instr(cx, INDIM_INVALID, instr, "operand %d (%s) is %s, expected %s", (int)operand,
                          indim_operand_name(instr, operand),
                          indim_shape_brief(indim_operand_shape(instr, operand), &text), expected);
}

indim_status indim_operand_verify_array(indim_ctx *cx, const indim_instr *instr, int32_t operand) {
  const indim_shape *shape = indim_operand_shape(instr, operand);
  if (indim_shape_is_array(shape)) {
    return INDIM_OK;
  }
  fail_operand(cx, instr, operand, "an array");
  if (shape->type == INDIM_TUPLE && shape->member_count > 0) {
    indim_hint(cx, "take a member of it first: get-tuple-element(%s), index=0", indim_operand_name(instr, operand));
  }
  return INDIM_INVALID;
}

indim_status indim_operands_verify_arrays(indim_ctx *cx, const indim_instr *instr, int32_t first, int32_t last) {
  for (int32_t i = first; i <= last; i++) {
    INDIM_TRY(indim_operand_verify_array(cx, instr, i));
  }
  return INDIM_OK;
}

indim_status indim_operand_verify_scalar(indim_ctx *cx, const indim_instr *instr, int32_t operand, const char *what) {
  INDIM_TRY(indim_operand_verify_array(cx, instr, operand));
  if (indim_operand_shape(instr, operand)->rank != 0) {
    char expected[96];
    snprintf(expected, sizeof expected, "a scalar: it is %s", what);
    return fail_operand(cx, instr, operand, expected);
  }
  return INDIM_OK;
}

indim_status indim_operand_verify_token(indim_ctx *cx, const indim_instr *instr, int32_t operand) {
  if (indim_operand_shape(instr, operand)->type != INDIM_TOKEN) {
    fail_operand(cx, instr, operand, "token[]");
    indim_hint(cx, "after-all() makes a token");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

indim_status indim_operand_verify_classes(indim_ctx *cx, const indim_instr *instr, int32_t operand, unsigned classes) {
  unsigned class = indim_type_class(indim_operand_shape(instr, operand)->type);
  if ((class & classes) != 0) {
    return INDIM_OK;
  }
  indim_class_text text;
  fail_operand(cx, instr, operand, indim_class_brief(classes, &text));
  if (class == INDIM_CLASS_PRED) {
    indim_hint(cx, "convert it to a number first: convert(%s)", indim_operand_name(instr, operand));
  } else if (class == INDIM_CLASS_COMPLEX) {
    indim_hint(cx, "use its parts, real(%s) and imag(%s)", indim_operand_name(instr, operand),
               indim_operand_name(instr, operand));
  } else if (class == INDIM_CLASS_FLOAT) {
    indim_hint(cx, "convert(%s) for its value, bitcast-convert(%s) for its bits", indim_operand_name(instr, operand),
               indim_operand_name(instr, operand));
  } else {
    indim_hint(cx, "convert it first: convert(%s)", indim_operand_name(instr, operand));
  }
  return INDIM_INVALID;
}

indim_status indim_operands_verify_same_type(indim_ctx *cx, const indim_instr *instr, int32_t a, int32_t b) {
  const indim_shape *left = indim_operand_shape(instr, a);
  const indim_shape *right = indim_operand_shape(instr, b);
  if (left->type == right->type) {
    return INDIM_OK;
  }
  indim_shape_text left_text;
  indim_shape_text right_text;
  indim_fail_instr(cx, INDIM_INVALID, instr, "different element types: operand %d (%s) is %s, operand %d (%s) is %s",
                   (int)a, indim_operand_name(instr, a), indim_shape_brief(left, &left_text), (int)b,
                   indim_operand_name(instr, b), indim_shape_brief(right, &right_text));
  indim_shape other = *right;
  other.type = left->type;
  indim_hint(cx, "convert one of them first, for example %s convert(%s)", indim_shape_brief(&other, &right_text),
             indim_operand_name(instr, b));
  return INDIM_INVALID;
}

// The one list of increasing dimensions of |large| whose sizes are those of |small| with its dimensions of size 1 left
// out (all of them kept if |keep_ones|); false if there is none or more than one.
static bool only_fit(const indim_shape *small, const indim_shape *large, bool keep_ones, int64_t *out_dims,
                     int64_t *out_count) {
  int64_t leftmost[INDIM_MAX_RANK];
  int64_t count = 0;
  int32_t at = 0;
  for (int32_t i = 0; i < small->rank; i++) {
    if (small->sizes[i] == 1 && !keep_ones) {
      continue;
    }
    while (at < large->rank && large->sizes[at] != small->sizes[i]) {
      at++;
    }
    if (at == large->rank) {
      return false;
    }
    leftmost[count++] = at++;
  }
  at = large->rank;
  int64_t k = count;
  for (int32_t i = small->rank - 1; i >= 0; i--) {
    if (small->sizes[i] == 1 && !keep_ones) {
      continue;
    }
    do {
      at--;
    } while (large->sizes[at] != small->sizes[i]);
    if (leftmost[--k] != at) {
      return false;
    }
  }
  memcpy(out_dims, leftmost, (size_t)count * sizeof *leftmost);
  *out_count = count;
  return true;
}

// The way out when |operand| would have to be stretched to |large|.
static void hint_broadcast(indim_ctx *cx, const indim_instr *instr, int32_t operand, const indim_shape *large) {
  const indim_shape *small = indim_operand_shape(instr, operand);
  const char *name = indim_operand_name(instr, operand);
  int64_t dims[INDIM_MAX_RANK];
  int64_t count = 0;
  indim_list_text list;
  if (small->rank < large->rank && only_fit(small, large, true, dims, &count)) {
    indim_shape result = *large;
    result.type = small->type;
    indim_shape_text text;
    indim_hint(cx, "HLO broadcasts nothing by itself; broadcast it with dimensions=%s: %s broadcast(%s), dimensions=%s",
               indim_list_brief(dims, count, &list), indim_shape_brief(&result, &text), name, list.text);
  } else if (small->rank == large->rank && only_fit(small, large, false, dims, &count) && count < small->rank) {
    int64_t sizes[INDIM_MAX_RANK];
    for (int64_t i = 0; i < count; i++) {
      sizes[i] = large->sizes[dims[i]];
    }
    indim_list_text kept;
    indim_hint(cx,
               "HLO broadcasts nothing by itself; reshape it to the sizes %s, then broadcast that with dimensions=%s",
               indim_list_brief(sizes, count, &kept), indim_list_brief(dims, count, &list));
  } else {
    indim_hint(cx, "HLO broadcasts nothing by itself: the dimensions must be exactly equal");
  }
}

static bool can_stretch(const indim_shape *small, const indim_shape *large) {
  int64_t dims[INDIM_MAX_RANK];
  int64_t count = 0;
  return small->rank < large->rank || (small->rank == large->rank && only_fit(small, large, false, dims, &count));
}

indim_status indim_operands_verify_same_dims(indim_ctx *cx, const indim_instr *instr, int32_t a, int32_t b) {
  const indim_shape *left = indim_operand_shape(instr, a);
  const indim_shape *right = indim_operand_shape(instr, b);
  int32_t dim = 0;
  while (dim < left->rank && dim < right->rank && indim_size_fits(left->sizes[dim], right->sizes[dim])) {
    dim++;
  }
  if (left->rank == right->rank && dim == left->rank) {
    return INDIM_OK;
  }
  indim_shape_text left_text;
  indim_shape_text right_text;
  indim_shape_brief(left, &left_text);
  indim_shape_brief(right, &right_text);
  const char *left_name = indim_operand_name(instr, a);
  const char *right_name = indim_operand_name(instr, b);
  if (left->rank != right->rank) {
    indim_fail_instr(cx, INDIM_INVALID, instr,
                     "operands of different rank: operand %d (%s) is %s of rank %d, operand %d (%s) is %s of rank %d",
                     (int)a, left_name, left_text.text, (int)left->rank, (int)b, right_name, right_text.text,
                     (int)right->rank);
  } else {
    indim_dim_text left_size;
    indim_dim_text right_size;
    indim_fail_instr(cx, INDIM_INVALID, instr,
                     "operands differ in dimension %d: %s in operand %d (%s), which is %s, but %s in operand %d (%s), "
                     "which is %s",
                     (int)dim, indim_dim_brief(left, dim, &left_size), (int)a, left_name, left_text.text,
                     indim_dim_brief(right, dim, &right_size), (int)b, right_name, right_text.text);
  }
  if (can_stretch(right, left)) {
    hint_broadcast(cx, instr, b, left);
  } else {
    hint_broadcast(cx, instr, a, right);
  }
  return INDIM_INVALID;
}

// Attributes ---------------------------------------------------------------------------------------------------------

indim_status indim_attr_verify_dims(indim_ctx *cx, const indim_instr *instr, indim_attr_id id, const indim_shape *of,
                                    unsigned flags) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, id, &count);
  const char *name = indim_attr_text(id);
  indim_list_text list;
  indim_shape_text text;
  uint64_t seen = 0;
  for (int64_t i = 0; i < count; i++) {
    if (dims[i] < 0 || dims[i] >= of->rank) {
      indim_fail_attr(cx, instr, id, "%s=%s: %" PRId64 " is no dimension of %s", name,
                      indim_list_brief(dims, count, &list), dims[i], indim_shape_brief(of, &text));
      if (of->rank == 0) {
        indim_hint(cx, "a scalar has no dimensions");
      } else {
        indim_hint(cx, "its dimensions are numbered 0 to %d", (int)of->rank - 1);
      }
      return INDIM_INVALID;
    }
    if ((flags & INDIM_DIMS_SORTED) != 0 && i > 0 && dims[i - 1] > dims[i]) {
      indim_fail_attr(cx, instr, id, "%s=%s: %" PRId64 " comes after %" PRId64, name,
                      indim_list_brief(dims, count, &list), dims[i], dims[i - 1]);
      indim_hint(cx, "the numbers must increase");
      return INDIM_INVALID;
    }
    if (flags != 0 && (seen >> dims[i] & 1) != 0) {
      return indim_fail_attr(cx, instr, id, "%s=%s: dimension %" PRId64 " stands there twice", name,
                             indim_list_brief(dims, count, &list), dims[i]);
    }
    seen |= UINT64_C(1) << dims[i];
  }
  return INDIM_OK;
}

uint64_t indim_attr_mask(const indim_instr *instr, indim_attr_id id) {
  int64_t count = 0;
  uint64_t mask = 0;
  const int64_t *dims = indim_instr_ints(instr, id, &count);
  for (int64_t i = 0; i < count; i++) {
    mask |= UINT64_C(1) << dims[i];
  }
  return mask;
}

indim_status indim_attr_one_dim(indim_ctx *cx, const indim_instr *instr, indim_attr_id id, const indim_shape *of,
                                int32_t *out_dim) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, id, &count);
  if (count != 1) {
    indim_list_text list;
    return indim_fail_attr(cx, instr, id, "%s=%s has length %" PRId64 ", expected one dimension", indim_attr_text(id),
                           indim_list_brief(dims, count, &list), count);
  }
  INDIM_TRY(indim_attr_verify_dims(cx, instr, id, of, 0));
  *out_dim = (int32_t)dims[0];
  return INDIM_OK;
}

// Called computations ------------------------------------------------------------------------------------------------

indim_status indim_called_verify_count(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                       const indim_computation *called, int32_t count) {
  if (called->parameter_count == count) {
    return INDIM_OK;
  }
  return indim_fail_attr(cx, instr, id, "%s=%s takes %d parameter%s, expected %d", indim_attr_text(id),
                         called->name.data, (int)called->parameter_count, called->parameter_count == 1 ? "" : "s",
                         (int)count);
}

indim_status indim_called_verify_parameter(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                           const indim_computation *called, int32_t number, const indim_shape *expected,
                                           const char *what) {
  const indim_shape *actual = called->parameters[number]->shape;
  if (actual == expected || indim_shape_compatible(actual, expected)) {
    return INDIM_OK;
  }
  indim_shape_text actual_text;
  indim_shape_text expected_text;
  return indim_fail_attr(cx, instr, id, "parameter %d (%s) of %s=%s is %s, but %s is %s", (int)number,
                         called->parameters[number]->name.data, indim_attr_text(id), called->name.data,
                         indim_shape_brief(actual, &actual_text), what, indim_shape_brief(expected, &expected_text));
}

indim_status indim_called_verify_result(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                        const indim_computation *called, const indim_shape *expected,
                                        const char *what) {
  const indim_shape *actual = called->root->shape;
  if (actual == expected || indim_shape_compatible(actual, expected)) {
    return INDIM_OK;
  }
  indim_shape_text actual_text;
  indim_shape_text expected_text;
  return indim_fail_attr(cx, instr, id, "%s=%s returns %s, but %s is %s", indim_attr_text(id), called->name.data,
                         indim_shape_brief(actual, &actual_text), what, indim_shape_brief(expected, &expected_text));
}

indim_status indim_called_verify_scalar(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                        const indim_computation *called, int32_t number, int32_t operand) {
  const indim_shape *parameter = called->parameters[number]->shape;
  indim_type type = indim_operand_shape(instr, operand)->type;
  if (indim_shape_is_scalar_of(parameter, type)) {
    return INDIM_OK;
  }
  indim_shape_text parameter_text;
  indim_shape_text operand_text;
  return indim_fail_attr(cx, instr, id, "parameter %d (%s) of %s=%s is %s, expected %s[], as operand %d (%s) is %s",
                         (int)number, called->parameters[number]->name.data, indim_attr_text(id), called->name.data,
                         indim_shape_brief(parameter, &parameter_text), indim_type_text(type), (int)operand,
                         indim_operand_name(instr, operand),
                         indim_shape_brief(indim_operand_shape(instr, operand), &operand_text));
}

static indim_status fail_result(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                const indim_computation *called, const char *expected) {
  indim_shape_text text;
  return indim_fail_attr(cx, instr, id, "%s=%s returns %s, expected %s", indim_attr_text(id), called->name.data,
                         indim_shape_brief(called->root->shape, &text), expected);
}

indim_status indim_combiner_verify(indim_ctx *cx, const indim_instr *instr, indim_attr_id id, int32_t count,
                                   int32_t first_accumulator, int32_t first_value) {
  const indim_computation *called = indim_instr_computation(instr, id);
  INDIM_TRY(indim_called_verify_count(cx, instr, id, called, 2 * count));
  const indim_shape *result = called->root->shape;
  bool is_tuple = result->type == INDIM_TUPLE;
  if (is_tuple ? result->member_count != count : count != 1) {
    char expected[64];
    snprintf(expected, sizeof expected, "%s%d scalar%s", count == 1 ? "" : "a tuple of ", (int)count,
             count == 1 ? "" : "s");
    return fail_result(cx, instr, id, called, expected);
  }
  for (int32_t k = 0; k < count; k++) {
    INDIM_TRY(indim_called_verify_scalar(cx, instr, id, called, k, first_accumulator + k));
    INDIM_TRY(indim_called_verify_scalar(cx, instr, id, called, count + k, first_value + k));
    indim_type type = called->parameters[k]->shape->type;
    const indim_shape *value = called->parameters[count + k]->shape;
    indim_shape_text text;
    if (value->type != type) {
      return indim_fail_attr(cx, instr, id, "parameters %d and %d of %s=%s are %s[] and %s: one type is combined",
                             (int)k, (int)(count + k), indim_attr_text(id), called->name.data, indim_type_text(type),
                             indim_shape_brief(value, &text));
    }
    const indim_shape *accumulator = is_tuple ? result->members[k] : result;
    if (!indim_shape_is_scalar_of(accumulator, type)) {
      char expected[96];
      snprintf(expected, sizeof expected, "%s[] %s it takes as parameter %d", indim_type_text(type),
               is_tuple ? "where" : "as", (int)k);
      return fail_result(cx, instr, id, called, expected);
    }
  }
  return INDIM_OK;
}

indim_status indim_comparator_verify(indim_ctx *cx, const indim_instr *instr, indim_attr_id id, int32_t count) {
  const indim_computation *called = indim_instr_computation(instr, id);
  INDIM_TRY(indim_called_verify_count(cx, instr, id, called, 2 * count));
  for (int32_t k = 0; k < 2 * count; k++) {
    INDIM_TRY(indim_called_verify_scalar(cx, instr, id, called, k, k / 2));
  }
  return indim_shape_is_scalar_of(called->root->shape, INDIM_PRED) ? INDIM_OK
                                                                   : fail_result(cx, instr, id, called, "pred[]");
}

// Shapes -------------------------------------------------------------------------------------------------------------

indim_status indim_instr_make_array(indim_ctx *cx, const indim_instr *instr, indim_type type, int32_t rank,
                                    const int64_t *sizes, uint64_t dynamic, indim_shape *out_shape) {
  indim_status status = indim_shape_init_dynamic(cx, type, rank, sizes, dynamic, out_shape);
  if (status != INDIM_OK && instr->offset != INDIM_NO_OFFSET) {
    indim_place(cx, &instr->computation->module->source, instr->offset);
  }
  return status;
}

indim_status indim_instr_change_type(indim_ctx *cx, const indim_instr *instr, const indim_shape *shape, indim_type type,
                                     indim_shape *out_shape) {
  if (shape->type == type) {
    *out_shape = *shape;
    return INDIM_OK;
  }
  INDIM_TRY(indim_instr_make_array(cx, instr, type, shape->rank, shape->sizes, shape->dynamic, out_shape));
  out_shape->has_layout = shape->has_layout;
  out_shape->layout = shape->layout;
  out_shape->layout.element_bits = 0;
  return INDIM_OK;
}

// Nodes of the tree, stopping when there are too many; false if it is too deep.
static bool count_nodes(const indim_shape *shape, int32_t depth, int64_t *count) {
  if (++*count > MAX_TUPLE_NODES) {
    return true;
  }
  if (depth > INDIM_MAX_TUPLE_DEPTH) {
    return false;
  }
  for (int64_t i = 0; i < shape->member_count && *count <= MAX_TUPLE_NODES; i++) {
    if (!count_nodes(shape->members[i], depth + 1, count)) {
      return false;
    }
  }
  return true;
}

indim_status indim_instr_make_tuple(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                    const indim_shape *const *members, int64_t count, indim_shape *out_shape) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)count, sizeof *members, &memory));
  if (count > 0) {
    memcpy(memory, members, (size_t)count * sizeof *members);
  }
  indim_shape tuple = indim_shape_plain(INDIM_TOKEN);
  tuple.type = INDIM_TUPLE;
  tuple.member_count = count;
  tuple.members = memory;
  int64_t nodes = 0;
  if (!count_nodes(&tuple, 0, &nodes)) {
    return indim_fail_instr(cx, INDIM_LIMIT, instr, "tuples nested more than %d deep", INDIM_MAX_TUPLE_DEPTH);
  }
  if (nodes > MAX_TUPLE_NODES) {
    return indim_fail_instr(cx, INDIM_LIMIT, instr, "a tuple of more than %d parts, those of nested tuples counted",
                            (int)MAX_TUPLE_NODES);
  }
  *out_shape = tuple;
  return INDIM_OK;
}

indim_status indim_instr_declared(indim_ctx *cx, const indim_instr *instr, const indim_shape **out_shape) {
  *out_shape = instr->shape;
  if (instr->shape == NULL) {
    indim_fail_instr(cx, INDIM_INVALID, instr, "the result shape does not follow from the operands");
    indim_hint(cx, "write it before the opcode: f32[2,3] %s(...)", indim_op_get(instr->op)->text);
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

void indim_dims_join(indim_shape *shape, const indim_shape *other) {
  for (int32_t i = 0; i < shape->rank; i++) {
    if (shape->sizes[i] == INDIM_UNBOUNDED) {
      indim_dim_set(shape, i, other->sizes[i], indim_dim_is_dynamic(other, i));
    } else if (other->sizes[i] != INDIM_UNBOUNDED) {
      shape->dynamic |= other->dynamic & UINT64_C(1) << i;
    }
  }
}

// Folds --------------------------------------------------------------------------------------------------------------

indim_status indim_folded_verify(indim_ctx *cx, const indim_instr *instr, int32_t *out_count) {
  if (instr->operand_count == 0 || instr->operand_count % 2 != 0) {
    indim_fail_instr(cx, INDIM_INVALID, instr, "has %d operand%s, expected an even number", (int)instr->operand_count,
                     instr->operand_count == 1 ? "" : "s");
    indim_hint(cx, "give the arrays first, then as many scalars to start from");
    return INDIM_INVALID;
  }
  int32_t count = instr->operand_count / 2;
  for (int32_t i = 0; i < count; i++) {
    INDIM_TRY(indim_operand_verify_array(cx, instr, i));
    INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 0, i));
    INDIM_TRY(indim_operand_verify_scalar(cx, instr, count + i, "a value to start from"));
  }
  *out_count = count;
  return INDIM_OK;
}

indim_status indim_folded_make(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, const indim_shape *dims,
                               indim_shape *out_shape) {
  const indim_shape *result = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY)->root->shape;
  if (result->type != INDIM_TUPLE) {
    return indim_instr_make_array(cx, instr, result->type, dims->rank, dims->sizes, dims->dynamic, out_shape);
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)result->member_count, sizeof(indim_shape), &memory));
  indim_shape *shapes = memory;
  INDIM_TRY(indim_arena_array(arena, (size_t)result->member_count, sizeof(indim_shape *), &memory));
  const indim_shape **members = memory;
  for (int64_t i = 0; i < result->member_count; i++) {
    indim_type type = result->members[i]->type;
    INDIM_TRY(indim_instr_make_array(cx, instr, type, dims->rank, dims->sizes, dims->dynamic, &shapes[i]));
    members[i] = &shapes[i];
  }
  return indim_instr_make_tuple(cx, instr, arena, members, result->member_count, out_shape);
}
