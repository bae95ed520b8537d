// Modules as text: by default XLA's short parsable form, one instruction a line, in the order of the
// text or of building, which already has operands before users and callees before callers. Attributes that say only
// the default are left out. Printing what was read from printed text gives the same bytes.
#include <inttypes.h>
#include <string.h>

#include "array/lexer.h"
#include "base/escape.h"
#include "base/number.h"
#include "graph/module.h"
#include "indim/text.h"

// Names and strings -------------------------------------------------------------------------------------------------

// Some names mean something else to the lexer ("ROOT", "nan"); they need their %.
static bool reads_as_identifier(indim_str name) {
  indim_lexer lexer;
  indim_source source = {{"", 0}, name};
  indim_lexer_init(&lexer, NULL, source);
  return lexer.token.kind == INDIM_TOKEN_IDENT && lexer.token.end == name.size;
}

static void print_name(indim_str name, unsigned flags, indim_buffer *out) {
  if ((flags & (unsigned)INDIM_PRINT_PERCENT) != 0 || !reads_as_identifier(name)) {
    indim_buffer_char(out, '%');
  }
  indim_buffer_append(out, name.data, name.size);
}

// Attribute values --------------------------------------------------------------------------------------------------

static void print_ints(const int64_t *values, int64_t count, indim_buffer *out) {
  indim_buffer_char(out, '{');
  for (int64_t i = 0; i < count; i++) {
    indim_buffer_text(out, i == 0 ? "" : ",");
    indim_buffer_int(out, values[i]);
  }
  indim_buffer_char(out, '}');
}

static void print_int_lists(const indim_attr *attr, indim_buffer *out) {
  const int64_t *values = attr->value.ints;
  indim_buffer_char(out, '{');
  for (int64_t i = 0; i < attr->count; i++) {
    indim_buffer_text(out, i == 0 ? "" : ",");
    print_ints(values, attr->list_sizes[i], out);
    values += attr->list_sizes[i];
  }
  indim_buffer_char(out, '}');
}

static void print_bools(const indim_attr *attr, indim_buffer *out) {
  indim_buffer_char(out, '{');
  for (int64_t i = 0; i < attr->count; i++) {
    indim_buffer_text(out, i == 0 ? "" : ",");
    indim_buffer_text(out, attr->value.ints[i] != 0 ? "true" : "false");
  }
  indim_buffer_char(out, '}');
}

// The shortest of 6, 9, 15 and 17 digits that reads back as the same number.
static void print_number(double value, indim_buffer *out) {
  static const int digits[] = {6, 9, 15, 17};
  char text[40];
  size_t size = 0;
  for (int i = 0; i < 4; i++) {
    size = indim_number_print(value, digits[i], text);
    if (indim_number_parse((indim_str){text, size}) == value) {
      break;
    }
  }
  indim_buffer_append(out, text, size);
}

// " name=AxBxC" of one field of every window dimension, unless all have the default.
static void print_window_field(const indim_attr *attr, const char *name, size_t offset, int64_t if_absent,
                               indim_buffer *out) {
  bool differs = false;
  for (int64_t i = 0; i < attr->count; i++) {
    int64_t value = 0;
    memcpy(&value, (const char *)&attr->value.window[i] + offset, sizeof value);
    differs = differs || value != if_absent;
  }
  for (int64_t i = 0; differs && i < attr->count; i++) {
    int64_t value = 0;
    memcpy(&value, (const char *)&attr->value.window[i] + offset, sizeof value);
    indim_buffer_printf(out, "%s%s%s%" PRId64, i == 0 ? " " : "", i == 0 ? name : "x", i == 0 ? "=" : "", value);
  }
}

static void print_window(const indim_attr *attr, indim_buffer *out) {
  bool pads = false;
  bool reverses = false;
  indim_buffer_text(out, "{size=");
  for (int64_t i = 0; i < attr->count; i++) {
    const indim_window_dim *dim = &attr->value.window[i];
    indim_buffer_printf(out, "%s%" PRId64, i == 0 ? "" : "x", dim->size);
    pads = pads || dim->pad_low != 0 || dim->pad_high != 0;
    reverses = reverses || dim->reversal;
  }
  print_window_field(attr, "stride", offsetof(indim_window_dim, stride), 1, out);
  for (int64_t i = 0; pads && i < attr->count; i++) {
    const indim_window_dim *dim = &attr->value.window[i];
    indim_buffer_printf(out, "%s%" PRId64 "_%" PRId64, i == 0 ? " pad=" : "x", dim->pad_low, dim->pad_high);
  }
  print_window_field(attr, "lhs_dilate", offsetof(indim_window_dim, base_dilation), 1, out);
  print_window_field(attr, "rhs_dilate", offsetof(indim_window_dim, window_dilation), 1, out);
  for (int64_t i = 0; reverses && i < attr->count; i++) {
    indim_buffer_printf(out, "%s%d", i == 0 ? " rhs_reversal=" : "x", (int)attr->value.window[i].reversal);
  }
  indim_buffer_char(out, '}');
}

static void print_padding(const indim_attr *attr, indim_buffer *out) {
  bool interior = false;
  for (int64_t i = 0; i < attr->count; i++) {
    interior = interior || attr->value.padding[i].interior != 0;
  }
  for (int64_t i = 0; i < attr->count; i++) {
    const indim_padding_dim *dim = &attr->value.padding[i];
    indim_buffer_printf(out, "%s%" PRId64 "_%" PRId64, i == 0 ? "" : "x", dim->low, dim->high);
    if (interior) {
      indim_buffer_printf(out, "_%" PRId64, dim->interior);
    }
  }
}

static void print_slice(const indim_attr *attr, indim_buffer *out) {
  bool strides = false;
  for (int64_t i = 0; i < attr->count; i++) {
    strides = strides || attr->value.slice[i].stride != 1;
  }
  indim_buffer_char(out, '{');
  for (int64_t i = 0; i < attr->count; i++) {
    const indim_slice_dim *dim = &attr->value.slice[i];
    indim_buffer_printf(out, "%s[%" PRId64 ":%" PRId64, i == 0 ? "" : ", ", dim->start, dim->limit);
    if (strides) {
      indim_buffer_printf(out, ":%" PRId64, dim->stride);
    }
    indim_buffer_char(out, ']');
  }
  indim_buffer_char(out, '}');
}

static void print_computations(const indim_attr *attr, unsigned flags, indim_buffer *out) {
  for (int64_t i = 0; i < attr->count; i++) {
    indim_buffer_text(out, i == 0 ? "" : ", ");
    print_name(attr->value.computations[i]->name, flags, out);
  }
}

static void print_instrs(const indim_attr *attr, unsigned flags, indim_buffer *out) {
  indim_buffer_char(out, '{');
  for (int64_t i = 0; i < attr->count; i++) {
    indim_buffer_text(out, i == 0 ? "" : ", ");
    print_name(attr->value.instrs[i]->name, flags, out);
  }
  indim_buffer_char(out, '}');
}

static void print_words(const indim_attr *attr, indim_buffer *out) {
  indim_buffer_char(out, '{');
  for (int64_t i = 0; i < attr->count; i++) {
    indim_buffer_text(out, i == 0 ? "" : ",");
    indim_buffer_append(out, attr->value.words[i].data, attr->value.words[i].size);
  }
  indim_buffer_char(out, '}');
}

static void print_shapes(const indim_attr *attr, indim_buffer *out) {
  for (int64_t i = 0; i < attr->count; i++) {
    indim_buffer_text(out, i == 0 ? "" : ", ");
    indim_shape_print(attr->value.shapes[i], true, out);
  }
}

static void print_value(const indim_attr *attr, unsigned flags, indim_buffer *out) {
  switch (indim_attr_kind_of(attr->id)) {
  case INDIM_KIND_INT:
    indim_buffer_int(out, attr->value.integer);
    return;
  case INDIM_KIND_BOOL:
    indim_buffer_text(out, attr->value.integer != 0 ? "true" : "false");
    return;
  case INDIM_KIND_FLOAT:
    print_number(attr->value.number, out);
    return;
  case INDIM_KIND_INTS:
    print_ints(attr->value.ints, attr->count, out);
    return;
  case INDIM_KIND_BOOLS:
    print_bools(attr, out);
    return;
  case INDIM_KIND_INT_LISTS:
    print_int_lists(attr, out);
    return;
  case INDIM_KIND_STRING:
    indim_buffer_quoted(out, attr->value.text);
    return;
  case INDIM_KIND_RAW:
    if (attr->is_string) {
      indim_buffer_quoted(out, attr->value.text);
      return;
    }
    indim_buffer_append(out, attr->value.text.data, attr->value.text.size);
    return;
  case INDIM_KIND_WORD:
  case INDIM_KIND_GROUPS:
    indim_buffer_append(out, attr->value.text.data, attr->value.text.size);
    return;
  case INDIM_KIND_DIM_LABELS:
    indim_buffer_append(out, attr->value.dim_labels->text.data, attr->value.dim_labels->text.size);
    return;
  case INDIM_KIND_WORDS:
    print_words(attr, out);
    return;
  case INDIM_KIND_WINDOW:
    print_window(attr, out);
    return;
  case INDIM_KIND_PADDING:
    print_padding(attr, out);
    return;
  case INDIM_KIND_SLICE:
    print_slice(attr, out);
    return;
  case INDIM_KIND_COMPUTATION:
    print_computations(attr, flags, out);
    return;
  case INDIM_KIND_COMPUTATIONS:
    indim_buffer_char(out, '{');
    print_computations(attr, flags, out);
    indim_buffer_char(out, '}');
    return;
  case INDIM_KIND_INSTRS:
    print_instrs(attr, flags, out);
    return;
  case INDIM_KIND_SHAPE:
    print_shapes(attr, out);
    return;
  case INDIM_KIND_SHAPES:
    indim_buffer_char(out, '{');
    print_shapes(attr, out);
    indim_buffer_char(out, '}');
    return;
  case INDIM_KIND_LITERAL:
    indim_literal_print(
        attr->value.literal,
        (unsigned)INDIM_LITERAL_SHAPE | (unsigned)INDIM_LITERAL_LAYOUT | (unsigned)INDIM_LITERAL_ONE_LINE, out);
    return;
  }
}

static bool all_words_are(const indim_attr *attr, const char *word) {
  for (int64_t i = 0; i < attr->count; i++) {
    if (!indim_str_is(attr->value.words[i], word)) {
      return false;
    }
  }
  return true;
}

// Whether an attribute says no more than its absence would. A required one is never left out.
static bool says_default(const indim_instr *instr, const indim_attr *attr) {
  if (indim_attr_is_required(instr->op, attr->id)) {
    return false;
  }
  indim_attr_kind kind = indim_attr_kind_of(attr->id);
  if (kind == INDIM_KIND_BOOL) {
    return attr->value.integer == 0 && attr->id != INDIM_ATTR_LARGEST;
  }
  if (kind == INDIM_KIND_INT) {
    bool groups = attr->id == INDIM_ATTR_FEATURE_GROUP_COUNT || attr->id == INDIM_ATTR_BATCH_GROUP_COUNT;
    return groups && attr->value.integer == 1;
  }
  if (kind == INDIM_KIND_WINDOW) {
    return attr->count == 0;
  }
  if (kind == INDIM_KIND_INTS) {
    return attr->count == 0 && attr->id != INDIM_ATTR_DIMENSIONS;
  }
  return kind == INDIM_KIND_WORDS && all_words_are(attr, "default");
}

static bool is_reference(indim_attr_kind kind) {
  return kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS || kind == INDIM_KIND_INSTRS;
}

// Instructions ------------------------------------------------------------------------------------------------------

static void print_attrs(const indim_instr *instr, unsigned flags, indim_buffer *out) {
  int32_t cursor = 0;
  indim_attr_id id;
  bool required = false;
  while (instr->attr_count > 0 && indim_attr_next(instr->op, &cursor, &id, &required)) {
    const indim_attr *attr = indim_instr_attr(instr, id);
    bool hidden = (id == INDIM_ATTR_METADATA && (flags & (unsigned)INDIM_PRINT_METADATA) == 0) ||
                  (is_reference(indim_attr_kind_of(id)) && (flags & (unsigned)INDIM_PRINT_NO_REFERENCES) != 0);
    if (attr != NULL && !hidden && !says_default(instr, attr)) {
      indim_buffer_printf(out, ", %s=", indim_attr_text(id));
      print_value(attr, flags, out);
    }
  }
}

void indim_instr_attributes_print(const indim_instr *instr, unsigned flags, indim_buffer *out) {
  if (instr != NULL) {
    print_attrs(instr, flags, out);
  }
}

static void print_constant(const indim_instr *instr, unsigned flags, indim_buffer *out) {
  bool tuple = indim_shape_is_tuple(instr->shape);
  bool large = tuple || indim_shape_element_count(instr->shape) > 10;
  if ((flags & (unsigned)INDIM_PRINT_ELIDE_CONSTANTS) != 0 && large) {
    indim_buffer_text(out, "{...}");
  } else {
    indim_literal_print(instr->literal, INDIM_LITERAL_ONE_LINE, out);
  }
}

static void print_operands(const indim_instr *instr, unsigned flags, indim_buffer *out) {
  if (instr->op == INDIM_OP_PARAMETER) {
    indim_buffer_int(out, instr->parameter_number);
  } else if (instr->op == INDIM_OP_CONSTANT) {
    print_constant(instr, flags, out);
  }
  for (int32_t i = 0; i < instr->operand_count; i++) {
    indim_buffer_text(out, i == 0 ? "" : ", ");
    print_name(instr->operands[i]->name, flags, out);
  }
}

void indim_instr_print(const indim_instr *instr, unsigned flags, indim_buffer *out) {
  if (instr == NULL) {
    return;
  }
  if (instr->computation->root == instr) {
    indim_buffer_text(out, "ROOT ");
  }
  print_name(instr->name, flags, out);
  indim_buffer_text(out, " = ");
  indim_shape_print(instr->shape, true, out);
  indim_buffer_printf(out, " %s(", indim_op_get(instr->op)->text);
  print_operands(instr, flags, out);
  indim_buffer_char(out, ')');
  print_attrs(instr, flags, out);
}

// Computations and modules ------------------------------------------------------------------------------------------

static void print_program_shape(const indim_computation *computation, indim_buffer *out) {
  indim_buffer_text(out, " (");
  for (int32_t i = 0; i < computation->parameter_count; i++) {
    const indim_instr *parameter = computation->parameters[i];
    indim_buffer_printf(out, "%s%s: ", i == 0 ? "" : ", ", parameter->name.data);
    indim_shape_print(parameter->shape, false, out);
  }
  indim_buffer_text(out, ") -> ");
  indim_shape_print(computation->root->shape, false, out);
}

static void print_computation(const indim_computation *computation, unsigned flags, indim_buffer *out) {
  if (computation == computation->module->entry) {
    indim_buffer_text(out, "ENTRY ");
  }
  print_name(computation->name, flags, out);
  if ((flags & (unsigned)INDIM_PRINT_PROGRAM_SHAPES) != 0) {
    print_program_shape(computation, out);
  }
  indim_buffer_text(out, " {\n");
  for (int32_t i = 0; i < computation->instr_count; i++) {
    indim_buffer_text(out, "  ");
    indim_instr_print(computation->instrs[i], flags, out);
    indim_buffer_char(out, '\n');
  }
  indim_buffer_char(out, '}');
  if (computation->execution_thread.size > 0) {
    indim_buffer_text(out, ", execution_thread=");
    indim_buffer_quoted(out, computation->execution_thread);
  }
  indim_buffer_char(out, '\n');
}

static void print_header_attr(const indim_module *module, const char *name, indim_buffer *out) {
  for (int32_t i = 0; i < module->header_attr_count; i++) {
    const indim_header_attr *attr = &module->header_attrs[i];
    if (indim_str_is(attr->name, name)) {
      indim_buffer_printf(out, ", %s=", name);
      indim_buffer_append(out, attr->text.data, attr->text.size);
    }
  }
}

static void print_entry_layout(const indim_module *module, indim_buffer *out) {
  const indim_computation *entry = module->entry;
  bool stated = module->entry_result_shape != NULL;
  int64_t count = stated ? module->entry_shape_count : entry->parameter_count;
  indim_buffer_text(out, ", entry_computation_layout={(");
  for (int64_t i = 0; i < count; i++) {
    indim_buffer_text(out, i == 0 ? "" : ", ");
    indim_shape_print(stated ? module->entry_parameter_shapes[i] : entry->parameters[i]->shape, true, out);
  }
  indim_buffer_text(out, ")->");
  indim_shape_print(stated ? module->entry_result_shape : entry->root->shape, true, out);
  indim_buffer_char(out, '}');
}

static void print_header(const indim_module *module, unsigned flags, indim_buffer *out) {
  indim_buffer_printf(out, "HloModule %s", module->name.data);
  if (module->is_scheduled) {
    indim_buffer_text(out, ", is_scheduled=true");
  }
  print_header_attr(module, "input_output_alias", out);
  print_header_attr(module, "buffer_donor", out);
  print_header_attr(module, "alias_passthrough_params", out);
  print_entry_layout(module, out);
  print_header_attr(module, "allow_spmd_sharding_propagation_to_parameters", out);
  print_header_attr(module, "allow_spmd_sharding_propagation_to_output", out);
  if (module->replica_count != 1) {
    indim_buffer_printf(out, ", replica_count=%" PRId64, module->replica_count);
  }
  if (module->num_partitions != 1) {
    indim_buffer_printf(out, ", num_partitions=%" PRId64, module->num_partitions);
  }
  print_header_attr(module, "frontend_attributes", out);
  print_header_attr(module, "origin_recovery_table", out);
  indim_buffer_text(out, "\n\n");
  if ((flags & (unsigned)INDIM_PRINT_METADATA) != 0 && module->frames.size > 0) {
    indim_buffer_append(out, module->frames.data, module->frames.size);
    indim_buffer_text(out, "\n\n");
  }
}

void indim_module_print(const indim_module *module, unsigned flags, indim_buffer *out) {
  if (module == NULL) {
    return;
  }
  print_header(module, flags, out);
  for (int32_t i = 0; i < module->computation_count; i++) {
    indim_buffer_text(out, i == 0 ? "" : "\n");
    print_computation(module->computations[i], flags, out);
  }
}
