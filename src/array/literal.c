// Literals: making, owning, reading and writing values in any layout.
//
// An array literal is a shape, the bytes of its storage, and the way from an index to a place: strides where there are
// no tiles, a plan (index_plan.h) otherwise. Bulk copies use strides as long as elements are whole bytes; what is
// packed or tiled goes element by element. A tuple literal owns its members, and its shape points to theirs.
#include "array/literal_internal.h"

#include <inttypes.h>
#include <string.h>

#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/size.h"

// Making ----------------------------------------------------------------------------------------------------------

static void destroy_tree(indim_literal *literal) {
  indim_ctx *cx = literal->cx;
  for (int64_t i = 0; i < literal->member_count; i++) {
    if (literal->members[i] != NULL) {
      destroy_tree(literal->members[i]);
    }
  }
  indim_free(cx, literal->members, (size_t)literal->member_count * sizeof literal->members[0]);
  indim_free(cx, literal->member_shapes, (size_t)literal->member_count * sizeof literal->member_shapes[0]);
  indim_free(cx, literal->plan, sizeof *literal->plan);
  indim_free(cx, literal->data, literal->bytes);
  indim_free(cx, literal, sizeof *literal);
}

void indim_literal_destroy(indim_literal *literal) {
  if (literal != NULL && !literal->in_tuple) {
    destroy_tree(literal);
  }
}

static indim_status new_literal(indim_ctx *cx, indim_literal **out) {
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, sizeof(indim_literal), &memory));
  *out = memory;
  (*out)->cx = cx;
  return INDIM_OK;
}

static indim_status check_array(indim_ctx *cx, const indim_shape *shape) {
  indim_element padding;
  if (indim_shape_is_unbounded(shape)) {
    indim_fail(cx, INDIM_INVALID, "a literal cannot be %s: a dimension has no bound", indim_shape_name_of(shape).text);
    indim_hint(cx, "give the dimension a bound (<=N)");
    return INDIM_INVALID;
  }
  if (shape->has_layout && indim_shape_element_bits(shape) < indim_type_bits(shape->type)) {
    return indim_fail(cx, INDIM_INVALID, "a literal cannot be %s: %s needs %" PRId32 " bits, E gives it %" PRId64,
                      indim_shape_name_with_layout(shape).text, indim_type_text(shape->type),
                      indim_type_bits(shape->type), indim_shape_element_bits(shape));
  }
  if (shape->has_layout && shape->layout.padded_rank > 0 &&
      !indim_element_padding(shape->type, shape->layout.padding_value, &padding)) {
    indim_fail(cx, INDIM_INVALID, "a literal cannot be %s: complex numbers have no lowest and no highest value",
               indim_shape_name_with_layout(shape).text);
    indim_hint(cx, "pad with zero, one or unknown");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

// Storage and the way to its places.
static indim_status add_storage(indim_literal *literal) {
  indim_ctx *cx = literal->cx;
  const indim_shape *shape = &literal->shape;
  int64_t bytes = 0;
  void *memory = NULL;
  INDIM_TRY(indim_shape_storage_bytes(cx, shape, &bytes));
  if ((uint64_t)bytes > SIZE_MAX) {
    return indim_fail(cx, INDIM_NO_MEMORY, "out of memory: %" PRId64 " bytes could not be allocated", bytes);
  }
  indim_index_plan plan;
  INDIM_TRY(indim_index_plan_init(cx, shape, &plan));
  literal->places = plan.padded_count;
  memcpy(literal->strides, plan.strides, (size_t)shape->rank * sizeof literal->strides[0]);
  if (plan.tiled) {
    INDIM_TRY(indim_alloc(cx, sizeof plan, &memory));
    literal->plan = memory;
    *literal->plan = plan;
  }
  INDIM_TRY(indim_alloc(cx, (size_t)bytes, &memory));
  literal->data = memory;
  literal->bytes = (size_t)bytes;
  return INDIM_OK;
}

static bool is_padded(const indim_shape *shape) {
  for (int32_t d = 0; shape->has_layout && d < shape->layout.padded_rank; d++) {
    if (shape->layout.padded_sizes[d] > shape->sizes[d]) {
      return true;
    }
  }
  return false;
}

static bool has_padding_bits(const indim_literal *literal, indim_element *out) {
  const indim_shape *shape = &literal->shape;
  return is_padded(shape) && indim_element_padding(shape->type, shape->layout.padding_value, out) &&
         (out->bits | out->imag) != 0;
}

void indim_literal_fill(indim_literal *literal) {
  indim_element padding;
  memset(literal->data, 0, literal->bytes);
  if (has_padding_bits(literal, &padding)) {
    for (int64_t i = 0; i < literal->places; i++) {
      indim_literal_store(literal, i, padding);
    }
  }
}

static void store_zeros(indim_literal *literal) {
  const indim_shape *shape = &literal->shape;
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t length = indim_row_length(shape->rank, shape->sizes);
  for (bool more = indim_rows_any(shape->rank, shape->sizes); more;
       more = indim_rows_next(shape->rank, shape->sizes, index)) {
    indim_row row = indim_row_at(literal, index);
    for (int64_t i = 0; i < length; i++) {
      indim_literal_store(literal, indim_row_place(&row, i), (indim_element){0, 0});
    }
  }
}

static indim_status init_array(indim_literal *literal, const indim_shape *shape, bool elided) {
  indim_element padding;
  literal->shape = *shape;
  if (!shape->has_layout) {
    indim_layout_init(shape->rank, &literal->shape.layout);
    literal->shape.has_layout = true;
  }
  memcpy(literal->dynamic_sizes, shape->sizes, sizeof literal->dynamic_sizes);
  literal->width = indim_shape_element_bits(&literal->shape);
  literal->elided = elided;
  INDIM_TRY(check_array(literal->cx, &literal->shape));
  if (elided) {
    return INDIM_OK;
  }
  INDIM_TRY(add_storage(literal));
  indim_literal_fill(literal);
  if (has_padding_bits(literal, &padding)) {
    store_zeros(literal);
  }
  return INDIM_OK;
}

static indim_status add_members(indim_literal *literal, int64_t count) {
  void *memory = NULL;
  size_t bytes = 0;
  if (count < 0 || (uint64_t)count > SIZE_MAX || !indim_size_mul((size_t)count, sizeof literal->members[0], &bytes)) {
    return indim_fail(literal->cx, INDIM_INVALID, "a tuple cannot have %" PRId64 " members", count);
  }
  literal->shape.type = INDIM_TUPLE;
  INDIM_TRY(indim_alloc_zeroed(literal->cx, bytes, &memory));
  literal->members = memory;
  indim_status status = indim_alloc_zeroed(literal->cx, bytes, &memory);
  if (status != INDIM_OK) {
    indim_free(literal->cx, literal->members, bytes);
    literal->members = NULL;
    return status;
  }
  literal->member_shapes = memory;
  literal->member_count = count;
  literal->shape.member_count = count;
  literal->shape.members = literal->member_shapes;
  return INDIM_OK;
}

static void set_member(indim_literal *tuple, int64_t i, indim_literal *member) {
  tuple->members[i] = member;
  tuple->member_shapes[i] = &member->shape;
  tuple->depth = tuple->depth > member->depth ? tuple->depth : member->depth + 1;
  member->in_tuple = true;
}

static indim_status fail_depth(indim_ctx *cx) {
  return indim_fail(cx, INDIM_LIMIT, "tuples are nested deeper than %d", INDIM_MAX_TUPLE_DEPTH);
}

// What an array leaf becomes is the caller's: zeros, nothing, or a copy.
typedef enum leaf_kind { LEAF_ZERO, LEAF_ELIDED } leaf_kind;

static indim_status create_tree(indim_ctx *cx, const indim_shape *shape, leaf_kind kind, int32_t depth,
                                indim_literal **out);

static indim_status init_tree(indim_literal *literal, const indim_shape *shape, leaf_kind kind, int32_t depth) {
  if (indim_shape_is_array(shape)) {
    return init_array(literal, shape, kind == LEAF_ELIDED);
  }
  if (shape->type == INDIM_TOKEN) {
    literal->shape = *shape;
    return INDIM_OK;
  }
  if (shape->type != INDIM_TUPLE) {
    return indim_fail(literal->cx, INDIM_INVALID, "a literal cannot be %s: it has no values",
                      indim_shape_name_of(shape).text);
  }
  if (depth >= INDIM_MAX_TUPLE_DEPTH) {
    return fail_depth(literal->cx);
  }
  INDIM_TRY(add_members(literal, shape->member_count));
  for (int64_t i = 0; i < shape->member_count; i++) {
    indim_literal *member = NULL;
    INDIM_TRY(create_tree(literal->cx, shape->members[i], kind, depth + 1, &member));
    set_member(literal, i, member);
  }
  return INDIM_OK;
}

static indim_status create_tree(indim_ctx *cx, const indim_shape *shape, leaf_kind kind, int32_t depth,
                                indim_literal **out) {
  indim_literal *literal = NULL;
  INDIM_TRY(new_literal(cx, &literal));
  indim_status status = init_tree(literal, shape, kind, depth);
  if (status != INDIM_OK) {
    destroy_tree(literal);
    return status;
  }
  *out = literal;
  return INDIM_OK;
}

static indim_status create(indim_ctx *cx, const indim_shape *shape, leaf_kind kind, indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  INDIM_TRY(indim_shape_validate(cx, shape, false));
  return create_tree(cx, shape, kind, 0, out_literal);
}

indim_status indim_literal_create(indim_ctx *cx, const indim_shape *shape, indim_literal **out_literal) {
  return create(cx, shape, LEAF_ZERO, out_literal);
}

indim_status indim_literal_create_elided(indim_ctx *cx, const indim_shape *shape, indim_literal **out_literal) {
  return create(cx, shape, LEAF_ELIDED, out_literal);
}

static indim_status check_member(indim_ctx *cx, const indim_literal *member, int64_t i) {
  if (member == NULL || member->in_tuple) {
    return indim_fail(cx, INDIM_INVALID, "member %" PRId64 " of the tuple %s", i,
                      member == NULL ? "is NULL" : "already belongs to a tuple");
  }
  return member->depth + 1 >= INDIM_MAX_TUPLE_DEPTH ? fail_depth(cx) : INDIM_OK;
}

static void release_members(indim_literal *const *members, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    members[i]->in_tuple = false;
  }
}

indim_status indim_literal_create_tuple(indim_ctx *cx, indim_literal *const *members, int64_t count,
                                        indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  if (count > 0) {
    INDIM_NOT_NULL(cx, members);
  }
  indim_literal *literal = NULL;
  INDIM_TRY(new_literal(cx, &literal));
  indim_status status = add_members(literal, count);
  if (status != INDIM_OK) {
    destroy_tree(literal);
    return status;
  }
  for (int64_t i = 0; i < count; i++) {
    status = check_member(cx, members[i], i);
    if (status != INDIM_OK) {
      release_members(members, i);
      memset(literal->members, 0, (size_t)count * sizeof literal->members[0]);
      destroy_tree(literal);
      return status;
    }
    set_member(literal, i, members[i]);
  }
  *out_literal = literal;
  return INDIM_OK;
}

static void copy_values(const indim_literal *from, indim_literal *to) {
  for (int64_t i = 0; i < from->member_count; i++) {
    copy_values(from->members[i], to->members[i]);
  }
  if (indim_shape_is_array(&from->shape)) {
    memcpy(to->dynamic_sizes, from->dynamic_sizes, sizeof to->dynamic_sizes);
    to->elided = from->elided;
    if (!from->elided) {
      memcpy(to->data, from->data, from->bytes);
    }
  }
}

// Gives storage to the leaves of |to| whose counterparts have values.
static indim_status copy_storage(const indim_literal *from, indim_literal *to) {
  for (int64_t i = 0; i < from->member_count; i++) {
    INDIM_TRY(copy_storage(from->members[i], to->members[i]));
  }
  return indim_shape_is_array(&from->shape) && !from->elided ? add_storage(to) : INDIM_OK;
}

indim_status indim_literal_copy(indim_ctx *cx, const indim_literal *literal, indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, literal);
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  indim_literal *copy = NULL;
  INDIM_TRY(create_tree(cx, &literal->shape, LEAF_ELIDED, 0, &copy));
  indim_status status = copy_storage(literal, copy);
  if (status != INDIM_OK) {
    destroy_tree(copy);
    return status;
  }
  copy_values(literal, copy);
  *out_literal = copy;
  return INDIM_OK;
}

// Looking inside --------------------------------------------------------------------------------------------------

const indim_shape *indim_literal_shape(const indim_literal *literal) { return &literal->shape; }
const void *indim_literal_data(const indim_literal *literal) {
  if (literal == NULL) {
    return NULL;
  }
  return literal->data;
}
void *indim_literal_mutable_data(indim_literal *literal) {
  if (literal == NULL) {
    return NULL;
  }
  return literal->data;
}
int64_t indim_literal_bytes(const indim_literal *literal) {
  if (literal == NULL) {
    return 0;
  }
  return (int64_t)literal->bytes;
}

indim_literal *indim_literal_mutable_member(indim_literal *literal, int64_t member) {
  if (literal == NULL) {
    return NULL;
  }
  return member < 0 || member >= literal->member_count ? NULL : literal->members[member];
}

const indim_literal *indim_literal_member(const indim_literal *literal, int64_t member) {
  if (literal == NULL) {
    return NULL;
  }
  return member < 0 || member >= literal->member_count ? NULL : literal->members[member];
}

bool indim_literal_is_elided(const indim_literal *literal) {
  if (literal == NULL) {
    return false;
  }
  for (int64_t i = 0; i < literal->member_count; i++) {
    if (indim_literal_is_elided(literal->members[i])) {
      return true;
    }
  }
  return literal->elided;
}

int64_t indim_literal_dynamic_size(const indim_literal *literal, int32_t dim) {
  if (literal == NULL) {
    return 0;
  }
  return dim < 0 || dim >= literal->shape.rank ? 0 : literal->dynamic_sizes[dim];
}

indim_status indim_literal_set_dynamic_size(indim_ctx *cx, indim_literal *literal, int32_t dim, int64_t size) {
  INDIM_NOT_NULL(cx, literal);
  const indim_shape *shape = &literal->shape;
  if (!indim_shape_is_array(shape) || dim < 0 || dim >= shape->rank) {
    return indim_fail(cx, INDIM_INVALID, "%s has no dimension %" PRId32, indim_shape_name_of(shape).text, dim);
  }
  if (size < 0 || size > shape->sizes[dim]) {
    return indim_fail(cx, INDIM_INVALID,
                      "the run-time size %" PRId64 " of dimension %" PRId32 " is outside 0..%" PRId64
                      ", its bound in %s",
                      size, dim, shape->sizes[dim], indim_shape_name_of(shape).text);
  }
  literal->shape.dynamic |= UINT64_C(1) << dim;
  literal->dynamic_sizes[dim] = size;
  return INDIM_OK;
}

indim_status indim_literal_need_array(indim_ctx *cx, const indim_literal *literal, const char *what) {
  if (literal == NULL) {
    return indim_fail(cx, INDIM_INVALID, "%s: the literal is NULL", what);
  }
  if (!indim_shape_is_array(&literal->shape)) {
    return indim_fail(cx, INDIM_INVALID, "%s needs an array, this literal is %s", what,
                      indim_shape_name_of(&literal->shape).text);
  }
  if (literal->elided) {
    indim_fail(cx, INDIM_INVALID, "%s needs the values of %s, which its text left out ({...})", what,
               indim_shape_name_of(&literal->shape).text);
    indim_hint(cx, "print the program with its large constants");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

// Elements --------------------------------------------------------------------------------------------------------

static indim_status find_place(indim_ctx *cx, const indim_literal *literal, const int64_t *index, bool is_float,
                               const char *what, int64_t *out_place) {
  INDIM_TRY(indim_literal_need_array(cx, literal, what));
  indim_type type = literal->shape.type;
  bool type_is_float = indim_type_is_float(type) || indim_type_is_complex(type);
  if (type_is_float != is_float) {
    return indim_fail(cx, INDIM_INVALID, "%s: the elements of %s are %s", what,
                      indim_shape_name_of(&literal->shape).text, type_is_float ? "floating" : "integers");
  }
  for (int32_t d = 0; d < literal->shape.rank; d++) {
    if (index == NULL || index[d] < 0 || index[d] >= literal->shape.sizes[d]) {
      return indim_fail(cx, INDIM_INVALID, "%s: index %" PRId64 " of dimension %" PRId32 " of %s is out of bounds",
                        what, index == NULL ? 0 : index[d], d, indim_shape_name_of(&literal->shape).text);
    }
  }
  *out_place = indim_literal_place(literal, index);
  return INDIM_OK;
}

indim_status indim_literal_get_int(indim_ctx *cx, const indim_literal *literal, const int64_t *index,
                                   int64_t *out_value) {
  int64_t place = 0;
  INDIM_TRY(find_place(cx, literal, index, false, "reading an integer", &place));
  *out_value = indim_element_to_int(literal->shape.type, indim_literal_load(literal, place));
  return INDIM_OK;
}

indim_status indim_literal_set_int(indim_ctx *cx, indim_literal *literal, const int64_t *index, int64_t value) {
  int64_t place = 0;
  INDIM_TRY(find_place(cx, literal, index, false, "writing an integer", &place));
  indim_literal_store(literal, place, indim_element_of_int(literal->shape.type, value));
  return INDIM_OK;
}

indim_status indim_literal_get_float(indim_ctx *cx, const indim_literal *literal, const int64_t *index,
                                     double *out_real, double *out_imag) {
  int64_t place = 0;
  INDIM_TRY(find_place(cx, literal, index, true, "reading a floating-point number", &place));
  indim_element element = indim_literal_load(literal, place);
  *out_real = indim_element_real(literal->shape.type, element);
  if (out_imag != NULL) {
    *out_imag = indim_element_imag(literal->shape.type, element);
  }
  return INDIM_OK;
}

indim_status indim_literal_set_float(indim_ctx *cx, indim_literal *literal, const int64_t *index, double real,
                                     double imag) {
  int64_t place = 0;
  INDIM_TRY(find_place(cx, literal, index, true, "writing a floating-point number", &place));
  indim_literal_store(literal, place, indim_element_of_float(literal->shape.type, real, imag));
  return INDIM_OK;
}

// Bulk ------------------------------------------------------------------------------------------------------------

bool indim_literal_is_strided(const indim_literal *literal) {
  return literal->plan == NULL && literal->width == 8 * (int64_t)indim_type_bytes(literal->shape.type);
}

bool indim_literal_is_plain(const indim_literal *literal) {
  const indim_shape *shape = &literal->shape;
  if (!indim_literal_is_strided(literal) || is_padded(shape)) {
    return false;
  }
  int64_t strides[INDIM_MAX_RANK];
  indim_dense_strides(shape->rank, shape->sizes, strides);
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] > 1 && strides[d] != literal->strides[d]) {
      return false;
    }
  }
  return true;
}

void indim_literal_canonicalize(indim_type type, unsigned char *bytes, size_t count) {
  int32_t bits = indim_type_bits(type);
  if (type == INDIM_PRED) {
    for (size_t i = 0; i < count; i++) {
      bytes[i] = bytes[i] != 0;
    }
  } else if (bits < 8) {
    for (size_t i = 0; i < count; i++) {
      bytes[i] = (unsigned char)(bytes[i] & ((1U << bits) - 1));
    }
  }
}

static indim_status check_dense(indim_ctx *cx, const indim_literal *literal, const void *dense, int64_t bytes,
                                const char *what) {
  INDIM_TRY(indim_literal_need_array(cx, literal, what));
  const indim_shape *shape = &literal->shape;
  int64_t needed = indim_shape_element_count(shape) * indim_type_bytes(shape->type);
  if (bytes != needed) {
    return indim_fail(cx, INDIM_INVALID, "%s: %s has %" PRId64 " bytes of values, the buffer has %" PRId64, what,
                      indim_shape_name_of(shape).text, needed, bytes);
  }
  return dense == NULL && bytes > 0 ? indim_fail(cx, INDIM_INVALID, "%s: the buffer is NULL", what) : INDIM_OK;
}

// Packed or tiled: element by element. |to_literal| tells the direction.
static void copy_elements(indim_literal *literal, const indim_literal *source, unsigned char *dense,
                          const unsigned char *from_dense) {
  const indim_shape *shape = &source->shape;
  int64_t natural = 8 * (int64_t)indim_type_bytes(shape->type);
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t length = indim_row_length(shape->rank, shape->sizes);
  int64_t at = 0;
  for (bool more = indim_rows_any(shape->rank, shape->sizes); more;
       more = indim_rows_next(shape->rank, shape->sizes, index)) {
    indim_row row = indim_row_at(source, index);
    for (int64_t i = 0; i < length; i++, at++) {
      int64_t place = indim_row_place(&row, i);
      if (literal != NULL) {
        indim_literal_store(literal, place, indim_element_load(shape->type, natural, from_dense, at));
      } else {
        indim_element_store(shape->type, natural, dense, at, indim_literal_load(source, place));
      }
    }
  }
}

indim_status indim_literal_write_dense(indim_ctx *cx, indim_literal *literal, const void *dense, int64_t bytes) {
  INDIM_TRY(check_dense(cx, literal, dense, bytes, "writing values"));
  const indim_shape *shape = &literal->shape;
  int64_t strides[INDIM_MAX_RANK];
  if (bytes > 0 && indim_literal_is_plain(literal)) {
    memcpy(literal->data, dense, (size_t)bytes);
    indim_literal_canonicalize(shape->type, literal->data, (size_t)bytes);
    return INDIM_OK;
  }
  indim_literal_fill(literal);
  if (bytes > 0 && indim_literal_is_strided(literal)) {
    indim_dense_strides(shape->rank, shape->sizes, strides);
    indim_strided_copy(shape->rank, shape->sizes, indim_type_bytes(shape->type), literal->data, literal->strides, dense,
                       strides);
    indim_literal_canonicalize(shape->type, literal->data, literal->bytes);
  } else {
    copy_elements(literal, literal, NULL, dense);
  }
  return INDIM_OK;
}

indim_status indim_literal_read_dense(indim_ctx *cx, const indim_literal *literal, void *dense, int64_t bytes) {
  INDIM_TRY(check_dense(cx, literal, dense, bytes, "reading values"));
  const indim_shape *shape = &literal->shape;
  int64_t strides[INDIM_MAX_RANK];
  if (bytes > 0 && indim_literal_is_strided(literal)) {
    indim_dense_strides(shape->rank, shape->sizes, strides);
    indim_strided_copy(shape->rank, shape->sizes, indim_type_bytes(shape->type), dense, strides, literal->data,
                       literal->strides);
    indim_literal_canonicalize(shape->type, dense, (size_t)bytes);
  } else {
    copy_elements(NULL, literal, dense, NULL);
  }
  return INDIM_OK;
}
