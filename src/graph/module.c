// Making modules and looking at them. A module's parts live in its arena; literals and the shape pool's table are heap
// memory that the module frees.
#include "graph/module.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "graph/place.h"
#include "graph/shape_pool.h"

struct indim_literal_node {
  indim_literal_node *next;
  indim_literal *literal;
};

static indim_status fill_module(indim_module *module, indim_str name, indim_source source) {
  INDIM_TRY(indim_arena_str(&module->arena, name, &module->name));
  INDIM_TRY(indim_arena_str(&module->arena, source.name, &module->source.name));
  INDIM_TRY(indim_arena_str(&module->arena, source.text, &module->source.text));
  return indim_shape_pool_create(&module->arena, &module->shapes);
}

indim_status indim_module_create(indim_ctx *cx, indim_str name, indim_source source, indim_module **out_module) {
  void *memory = NULL;
  *out_module = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, sizeof(indim_module), &memory));
  indim_module *module = memory;
  module->cx = cx;
  module->replica_count = 1;
  module->num_partitions = 1;
  indim_arena_init(&module->arena, cx);
  indim_status status = fill_module(module, name, source);
  if (status != INDIM_OK) {
    indim_module_destroy(module);
    return status;
  }
  *out_module = module;
  return INDIM_OK;
}

void indim_module_destroy(indim_module *module) {
  if (module == NULL) {
    return;
  }
  indim_ctx *cx = module->cx;
  for (indim_literal_node *node = module->literals; node != NULL; node = node->next) {
    indim_literal_destroy(node->literal);
  }
  indim_shape_pool_destroy(module->shapes);
  indim_arena_deinit(&module->arena);
  indim_free(cx, module, sizeof *module);
}

indim_status indim_module_intern(indim_module *module, const indim_shape *shape, const indim_shape **out_shape) {
  return indim_shape_pool_intern(module->shapes, shape, out_shape);
}

indim_status indim_module_own_literal(indim_module *module, indim_literal *literal) {
  void *memory = NULL;
  indim_status status = indim_arena_alloc(&module->arena, sizeof(indim_literal_node), &memory);
  if (status != INDIM_OK) {
    indim_literal_destroy(literal);
    return status;
  }
  indim_literal_node *node = memory;
  *node = (indim_literal_node){module->literals, literal};
  module->literals = node;
  return INDIM_OK;
}

// Makes room for one more pointer in an array that lives in the arena; the old array stays behind as waste, at most as
// much as is used.
static indim_status reserve(indim_arena *arena, void *array, int32_t count, int32_t *capacity, void **out_array) {
  *out_array = array;
  if (count < *capacity) {
    return INDIM_OK;
  }
  if (*capacity > INT32_MAX / 2) {
    return indim_fail(arena->cx, INDIM_LIMIT, "more than %d entries in one list of the program", INT32_MAX / 2);
  }
  int32_t new_capacity = *capacity == 0 ? 16 : *capacity * 2;
  INDIM_TRY(indim_arena_array(arena, (size_t)new_capacity, sizeof(void *), out_array));
  if (count > 0) {
    memcpy(*out_array, array, (size_t)count * sizeof(void *));
  }
  *capacity = new_capacity;
  return INDIM_OK;
}

indim_status indim_module_append(indim_module *module, indim_computation *computation) {
  void *memory = NULL;
  INDIM_TRY(
      reserve(&module->arena, module->computations, module->computation_count, &module->computation_capacity, &memory));
  module->computations = memory;
  computation->index = module->computation_count;
  module->computations[module->computation_count++] = computation;
  return INDIM_OK;
}

indim_status indim_module_new_computation(indim_module *module, indim_str name, size_t offset,
                                          indim_computation **out_computation) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(&module->arena, sizeof(indim_computation), &memory));
  indim_computation *computation = memory;
  INDIM_TRY(indim_arena_str(&module->arena, name, &computation->name));
  computation->module = module;
  computation->offset = offset;
  computation->execution_thread = (indim_str){"", 0};
  *out_computation = computation;
  return INDIM_OK;
}

indim_status indim_module_add_computation(indim_module *module, indim_str name, size_t offset,
                                          indim_computation **out_computation) {
  INDIM_TRY(indim_module_new_computation(module, name, offset, out_computation));
  return indim_module_append(module, *out_computation);
}

indim_status indim_computation_add(indim_computation *computation, indim_op op, indim_str name,
                                   const indim_shape *shape, size_t offset, indim_instr **out_instr) {
  indim_arena *arena = &computation->module->arena;
  void *memory = NULL;
  INDIM_TRY(reserve(arena, computation->instrs, computation->instr_count, &computation->instr_capacity, &memory));
  computation->instrs = memory;
  INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_instr), &memory));
  indim_instr *instr = memory;
  INDIM_TRY(indim_arena_str(arena, name, &instr->name));
  if (shape != NULL) {
    INDIM_TRY(indim_module_intern(computation->module, shape, &instr->shape));
  }
  instr->op = op;
  instr->index = computation->instr_count;
  instr->computation = computation;
  instr->offset = offset;
  computation->instrs[computation->instr_count++] = instr;
  *out_instr = instr;
  return INDIM_OK;
}

static indim_status copy_items(indim_arena *arena, const void *items, int64_t count, size_t size, void **out) {
  *out = NULL;
  if (count > INT32_MAX) {
    return indim_fail(arena->cx, INDIM_LIMIT, "an instruction with more than %d operands or attributes", INT32_MAX);
  }
  if (count > 0) {
    INDIM_TRY(indim_arena_array(arena, (size_t)count, size, out));
    memcpy(*out, items, (size_t)count * size);
  }
  return INDIM_OK;
}

indim_status indim_instr_set_operands(indim_instr *instr, indim_instr *const *operands, int64_t count) {
  void *memory = NULL;
  INDIM_TRY(copy_items(&instr->computation->module->arena, operands, count, sizeof *operands, &memory));
  instr->operands = memory;
  instr->operand_count = (int32_t)count;
  return INDIM_OK;
}

indim_status indim_instr_set_attrs(indim_instr *instr, const indim_attr *attrs, int64_t count) {
  void *memory = NULL;
  INDIM_TRY(copy_items(&instr->computation->module->arena, attrs, count, sizeof *attrs, &memory));
  instr->attrs = memory;
  instr->attr_count = (int32_t)count;
  return INDIM_OK;
}

indim_status indim_computation_finish(indim_computation *computation) {
  indim_module *module = computation->module;
  int32_t count = 0;
  for (int32_t i = 0; i < computation->instr_count; i++) {
    count += computation->instrs[i]->op == INDIM_OP_PARAMETER;
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&module->arena, (size_t)count, sizeof(indim_instr *), &memory));
  computation->parameters = memory;
  computation->parameter_count = 0;
  for (int32_t i = 0; i < computation->instr_count; i++) {
    indim_instr *instr = computation->instrs[i];
    if (instr->op != INDIM_OP_PARAMETER) {
      continue;
    }
    int64_t number = instr->parameter_number;
    if (number < 0 || number >= count) {
      indim_fail_instr(module->cx, INDIM_INVALID, instr, "parameter number %lld in a computation of %d parameters",
                       (long long)number, (int)count);
      indim_hint(module->cx, "number the parameters 0 to %d, each once", (int)count - 1);
      return INDIM_INVALID;
    }
    indim_instr *other = computation->parameters[number];
    if (other != NULL) {
      indim_fail_instr(module->cx, INDIM_INVALID, instr, "parameter number %lld is already taken by %s",
                       (long long)number, other->name.data);
      indim_hint(module->cx, "number the parameters 0 to %d, each once", (int)count - 1);
      return INDIM_INVALID;
    }
    computation->parameters[number] = instr;
  }
  computation->parameter_count = count;
  for (int32_t i = 0; i < computation->instr_count; i++) {
    computation->has_effect = computation->has_effect || indim_instr_has_effect(computation->instrs[i]);
  }
  return INDIM_OK;
}

const indim_shape *indim_instr_result_shape(const indim_instr *instr, int64_t k) {
  return indim_shape_is_tuple(instr->shape) ? instr->shape->members[k] : instr->shape;
}

bool indim_instr_has_effect(const indim_instr *instr) {
  if (instr->op == INDIM_OP_CUSTOM_CALL && indim_instr_bool(instr, INDIM_ATTR_CUSTOM_CALL_HAS_SIDE_EFFECT, false)) {
    return true;
  }
  for (int32_t i = 0; i < instr->attr_count; i++) {
    const indim_attr *attr = &instr->attrs[i];
    indim_attr_kind kind = indim_attr_kind_of(attr->id);
    bool is_call = kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS;
    for (int64_t k = 0; is_call && k < attr->count; k++) {
      if (attr->value.computations[k]->has_effect) {
        return true;
      }
    }
  }
  return false;
}

// Messages -----------------------------------------------------------------------------------------------------------

indim_status indim_fail_instr(indim_ctx *cx, indim_status status, const indim_instr *instr, const char *format, ...) {
  char message[sizeof((indim_diagnostic *)NULL)->message];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(message, sizeof message, format, arguments) < 0) {
    message[0] = '\0';
  }
  va_end(arguments);
  const indim_source *source = &instr->computation->module->source;
  const char *op = indim_op_get(instr->op)->text;
  if (instr->offset != INDIM_NO_OFFSET) {
    return indim_fail_at(cx, status, source, instr->offset, "%s (%s): %s", instr->name.data, op, message);
  }
  indim_place_text place;
  bool kept = indim_ctx_diagnostic_count(cx) < INDIM_MAX_DIAGNOSTICS;  // else nobody reads it
  bool known = kept && indim_instr_place(instr, &place);
  indim_fail(cx, status, "%s (%s)%s%s: %s", instr->name.data, op, known ? ", at " : "", known ? place.text : "",
             message);
  indim_place_name(cx, source->name);
  return status;
}

const char *indim_shape_brief(const indim_shape *shape, indim_shape_text *out) {
  if (shape == NULL) {
    memcpy(out->text, "(no shape)", sizeof "(no shape)");
  } else {
    *out = indim_shape_name_of(shape);
  }
  return out->text;
}

// Public accessors ---------------------------------------------------------------------------------------------------

indim_str indim_module_name(const indim_module *module) { return module == NULL ? (indim_str){"", 0} : module->name; }
const indim_computation *indim_module_entry(const indim_module *module) {
  return module == NULL ? NULL : module->entry;
}
int64_t indim_module_computation_count(const indim_module *module) {
  return module == NULL ? 0 : module->computation_count;
}

const indim_computation *indim_module_computation(const indim_module *module, int64_t index) {
  return module == NULL || index < 0 || index >= module->computation_count ? NULL : module->computations[index];
}

int64_t indim_module_instr_count(const indim_module *module) {
  int64_t count = 0;
  for (int32_t i = 0; module != NULL && i < module->computation_count; i++) {
    count += module->computations[i]->instr_count;
  }
  return count;
}

indim_str indim_module_header(const indim_module *module, const char *name) {
  for (int32_t i = 0; module != NULL && name != NULL && i < module->header_attr_count; i++) {
    if (indim_str_is(module->header_attrs[i].name, name)) {
      return module->header_attrs[i].text;
    }
  }
  return (indim_str){"", 0};
}
indim_str indim_computation_name(const indim_computation *computation) {
  return computation == NULL ? (indim_str){"", 0} : computation->name;
}
int64_t indim_computation_instr_count(const indim_computation *computation) {
  return computation == NULL ? 0 : computation->instr_count;
}
const indim_instr *indim_computation_root(const indim_computation *computation) {
  return computation == NULL ? NULL : computation->root;
}
int64_t indim_computation_parameter_count(const indim_computation *computation) {
  return computation == NULL ? 0 : computation->parameter_count;
}

const indim_instr *indim_computation_instr(const indim_computation *computation, int64_t index) {
  return computation == NULL || index < 0 || index >= computation->instr_count ? NULL : computation->instrs[index];
}

const indim_instr *indim_computation_parameter(const indim_computation *computation, int64_t number) {
  return computation == NULL || number < 0 || number >= computation->parameter_count ? NULL
                                                                                     : computation->parameters[number];
}

indim_op indim_instr_op(const indim_instr *instr) { return instr == NULL ? INDIM_OP_COUNT : instr->op; }
indim_str indim_instr_name(const indim_instr *instr) { return instr == NULL ? (indim_str){"", 0} : instr->name; }
const indim_shape *indim_instr_shape(const indim_instr *instr) { return instr == NULL ? NULL : instr->shape; }
int64_t indim_instr_operand_count(const indim_instr *instr) { return instr == NULL ? 0 : instr->operand_count; }

const indim_instr *indim_instr_operand(const indim_instr *instr, int64_t index) {
  return instr == NULL || index < 0 || index >= instr->operand_count ? NULL : instr->operands[index];
}

indim_str indim_instr_call_target(const indim_instr *instr) {
  const indim_attr *attr = instr == NULL ? NULL : indim_instr_attr(instr, INDIM_ATTR_CUSTOM_CALL_TARGET);
  return attr == NULL ? indim_str_of("") : attr->value.text;
}
