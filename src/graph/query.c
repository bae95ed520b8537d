// What callers may ask of an instruction beyond its op, shape and operands: attributes as numbers, called computations, places.
#include "graph/module.h"
#include "graph/place.h"

int64_t indim_computation_index(const indim_computation *computation) {
  return computation == NULL ? 0 : computation->index;
}

int64_t indim_instr_index(const indim_instr *instr) { return instr == NULL ? 0 : instr->index; }

int64_t indim_instr_parameter_number(const indim_instr *instr) {
  return instr == NULL || instr->op != INDIM_OP_PARAMETER ? -1 : instr->parameter_number;
}

const indim_literal *indim_instr_literal(const indim_instr *instr) {
  return instr == NULL || instr->op != INDIM_OP_CONSTANT ? NULL : instr->literal;
}

static bool calls(const indim_attr *attr) {
  indim_attr_kind kind = indim_attr_kind_of(attr->id);
  return kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS;
}

int64_t indim_instr_called_count(const indim_instr *instr) {
  int64_t count = 0;
  for (int32_t i = 0; instr != NULL && i < instr->attr_count; i++) {
    count += calls(&instr->attrs[i]) ? instr->attrs[i].count : 0;
  }
  return count;
}

const indim_computation *indim_instr_called(const indim_instr *instr, int64_t index) {
  for (int32_t i = 0; instr != NULL && i < instr->attr_count && index >= 0; i++) {
    const indim_attr *attr = &instr->attrs[i];
    if (calls(attr) && index < attr->count) {
      return attr->value.computations[index];
    }
    index -= calls(attr) ? attr->count : 0;
  }
  return NULL;
}

int64_t indim_instr_numbers(const indim_instr *instr, const char *attribute, const int64_t **out_numbers) {
  const indim_attr *found = NULL;
  for (int32_t i = 0; instr != NULL && attribute != NULL && i < instr->attr_count; i++) {
    bool is_it = indim_str_equal(indim_str_of(indim_attr_text(instr->attrs[i].id)), indim_str_of(attribute));
    found = is_it ? &instr->attrs[i] : found;
  }
  if (found == NULL || out_numbers == NULL) {
    return -1;
  }
  switch ((int)indim_attr_kind_of(found->id)) {
  case INDIM_KIND_INT:
  case INDIM_KIND_BOOL:
    *out_numbers = &found->value.integer;
    return 1;
  case INDIM_KIND_INTS:
    *out_numbers = found->value.ints;
    return found->count;
  case INDIM_KIND_SLICE:
    *out_numbers = found->count == 0 ? NULL : &found->value.slice->start;
    return 3 * found->count;
  case INDIM_KIND_PADDING:
    *out_numbers = found->count == 0 ? NULL : &found->value.padding->low;
    return 3 * found->count;
  default:
    return -1;
  }
}

int64_t indim_instr_line(const indim_instr *instr) {
  if (instr == NULL || instr->offset == INDIM_NO_OFFSET) {
    return 0;
  }
  indim_str text = instr->computation->module->source.text;
  int64_t line = 1;
  for (size_t i = 0; i < instr->offset && i < text.size; i++) {
    line += text.data[i] == '\n';
  }
  return line;
}

void indim_instr_origin_print(const indim_instr *instr, indim_buffer *out) {
  indim_place_text place;
  if (instr != NULL && indim_instr_place(instr, &place)) {
    indim_buffer_text(out, place.text);
  }
}
