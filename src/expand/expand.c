// The table of expansions (expand.def), and the expansions made so far.
#include "expand/expand.h"

#include <string.h>

#include "expand/kit.h"

static indim_expand_fn *const table[INDIM_OP_COUNT] = {
#define INDIM_EXPANSION(op, function) [INDIM_OP_##op] = indim_expand_##function,
#include "expand/expand.def"
};

// Making one -----------------------------------------------------------------------------------------------------------

static indim_status verify_static(indim_ctx *cx, const indim_instr *instr) {
  bool is_static = indim_shape_is_static(instr->shape);
  for (int32_t i = 0; i < instr->operand_count; i++) {
    is_static = is_static && indim_shape_is_static(instr->operands[i]->shape);
  }
  return is_static ? INDIM_OK : indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "a dynamic dimension is not compiled");
}

static indim_status label_all(indim_module *module, const indim_instr *origin) {
  module->source = origin->computation->module->source;
  for (int32_t c = 0; c < module->computation_count; c++) {
    const indim_computation *computation = module->computations[c];
    for (int32_t i = 0; i < computation->instr_count; i++) {
      INDIM_TRY(indim_expand_label(computation->instrs[i], origin, false));
    }
  }
  return INDIM_OK;
}

// What stands in the builder after an error that no expansion foresaw is a mistake of the expansion, but for memory.
static indim_status build(indim_expander *x, indim_expand_fn *expand) {
  value root = expand(x);
  (void)indim_builder_end(x->b, root);
  indim_status status = indim_builder_status(x->b);
  if (status == INDIM_INVALID && !x->is_refused) {
    const indim_diagnostic *last = indim_ctx_diagnostic_get(x->cx, indim_ctx_diagnostic_count(x->cx) - 1);
    return indim_fail_instr(x->cx, INDIM_INTERNAL, x->instr, "its expansion is not valid: %.300s",
                            last == NULL ? "no reason is known" : last->message);
  }
  INDIM_TRY(status);
  if (!indim_shape_compatible(x->instr->shape, root->shape)) {
    indim_shape_text text;
    return indim_fail_instr(x->cx, INDIM_INTERNAL, x->instr, "its expansion into simpler operations gives %s",
                            indim_shape_brief(root->shape, &text));
  }
  return label_all(x->b->module, x->instr);
}

static indim_status make(indim_ctx *cx, const indim_instr *instr, int32_t bytes_asked, indim_module **out) {
  void *memory = NULL;
  indim_expander x = {.cx = cx, .instr = instr, .bytes = bytes_asked};
  size_t bytes = (size_t)instr->operand_count * sizeof *x.operands;
  INDIM_TRY(verify_static(cx, instr));
  INDIM_TRY(indim_alloc_zeroed(cx, bytes, &memory));
  x.operands = memory;
  indim_status status = indim_builder_create(cx, indim_op_get(instr->op)->text, &x.b);
  if (status == INDIM_OK) {
    status = build(&x, table[instr->op]);
    if (status == INDIM_OK) {
      *out = x.b->module;
      x.b->module = NULL;
    }
    indim_builder_destroy(x.b);
  }
  indim_free(cx, memory, bytes);
  return status;
}

// Keeping them ---------------------------------------------------------------------------------------------------------

void indim_expansions_init(indim_expansions *e, indim_ctx *cx) { *e = (indim_expansions){.cx = cx}; }

void indim_expansions_deinit(indim_expansions *e) {
  for (size_t i = 0; i < e->capacity; i++) {
    indim_module_destroy(e->slots[i].module);
  }
  indim_free(e->cx, e->slots, e->capacity * sizeof *e->slots);
  *e = (indim_expansions){.cx = e->cx};
}

// The slot of an instruction, or the free one for it. There always is a free one.
static indim_expansion *find(indim_expansion *slots, size_t capacity, const indim_instr *instr) {
  size_t at = (size_t)((uint64_t)(uintptr_t)instr * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (capacity - 1);
  while (slots[at].instr != NULL && slots[at].instr != instr) {
    at = (at + 1) & (capacity - 1);
  }
  return &slots[at];
}

// At most half of the slots are taken.
static indim_status reserve(indim_expansions *e) {
  if (2 * (e->count + 1) <= e->capacity) {
    return INDIM_OK;
  }
  void *memory = NULL;
  size_t capacity = e->capacity == 0 ? 16 : 2 * e->capacity;
  INDIM_TRY(indim_alloc_zeroed(e->cx, capacity * sizeof *e->slots, &memory));
  for (size_t i = 0; i < e->capacity; i++) {
    if (e->slots[i].instr != NULL) {
      *find(memory, capacity, e->slots[i].instr) = e->slots[i];
    }
  }
  indim_free(e->cx, e->slots, e->capacity * sizeof *e->slots);
  e->slots = memory;
  e->capacity = capacity;
  return INDIM_OK;
}

indim_status indim_expand(indim_expansions *e, const indim_instr *instr, int32_t bytes, const indim_computation **out) {
  *out = NULL;
  if (table[instr->op] == NULL) {
    return INDIM_OK;
  }
  INDIM_TRY(reserve(e));
  indim_expansion *slot = find(e->slots, e->capacity, instr);
  if (slot->instr == NULL) {
    indim_module *module = NULL;
    INDIM_TRY(make(e->cx, instr, bytes, &module));
    *slot = (indim_expansion){instr, module};
    e->count++;
  }
  *out = slot->module->entry;
  return INDIM_OK;
}

static const indim_instr *expanded(const indim_expansions *e, const indim_module *module) {
  for (size_t i = 0; i < e->capacity; i++) {
    if (e->slots[i].instr != NULL && e->slots[i].module == module) {
      return e->slots[i].instr;
    }
  }
  return NULL;
}

// Expansions may have expansions.
const indim_instr *indim_expansion_source(const indim_expansions *e, const indim_module *module,
                                          const indim_instr *instr) {
  while (instr != NULL && instr->computation->module != module) {
    instr = expanded(e, instr->computation->module);
  }
  return instr;
}
