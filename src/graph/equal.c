#include "graph/equal.h"

#include <string.h>

#include "indim/literal.h"

enum { MAX_CALLS = 16 };  // one in the other

static bool same_instr(const indim_instr *a, const indim_instr *b, int calls);

static bool same_computation(const indim_computation *a, const indim_computation *b, int calls) {
  if (a == b) {
    return !a->has_effect;
  }
  if (calls == MAX_CALLS || a->has_effect || b->has_effect || a->instr_count != b->instr_count ||
      a->parameter_count != b->parameter_count || a->root->index != b->root->index) {
    return false;
  }
  for (int32_t i = 0; i < a->instr_count; i++) {
    const indim_instr *x = a->instrs[i];
    const indim_instr *y = b->instrs[i];
    if (!same_instr(x, y, calls + 1) || x->operand_count != y->operand_count) {
      return false;
    }
    for (int32_t k = 0; k < x->operand_count; k++) {
      if (x->operands[k]->index != y->operands[k]->index) {
        return false;
      }
    }
  }
  return true;
}

// What is said about an instruction and not to it.
static bool is_note(indim_attr_id id) {
  return id == INDIM_ATTR_METADATA || id == INDIM_ATTR_ORIGIN || id == INDIM_ATTR_STATISTICS ||
         id == INDIM_ATTR_BACKEND_CONFIG || id == INDIM_ATTR_FRONTEND_ATTRIBUTES || id == INDIM_ATTR_SHARDING ||
         id == INDIM_ATTR_PARAMETER_REPLICATION;
}

static bool same_ints(const int64_t *a, const int64_t *b, int64_t count) {
  return count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static bool same_window(const indim_window_dim *a, const indim_window_dim *b) {
  return a->size == b->size && a->stride == b->stride && a->pad_low == b->pad_low && a->pad_high == b->pad_high &&
         a->base_dilation == b->base_dilation && a->window_dilation == b->window_dilation && a->reversal == b->reversal;
}

static bool same_list(const indim_attr *a, const indim_attr *b, indim_attr_kind kind, int calls) {
  bool is_same = true;
  for (int64_t i = 0; i < a->count && is_same; i++) {
    if (kind == INDIM_KIND_WINDOW) {
      is_same = same_window(&a->value.window[i], &b->value.window[i]);
    } else if (kind == INDIM_KIND_PADDING) {
      const indim_padding_dim *x = &a->value.padding[i];
      const indim_padding_dim *y = &b->value.padding[i];
      is_same = x->low == y->low && x->high == y->high && x->interior == y->interior;
    } else if (kind == INDIM_KIND_SLICE) {
      const indim_slice_dim *x = &a->value.slice[i];
      const indim_slice_dim *y = &b->value.slice[i];
      is_same = x->start == y->start && x->limit == y->limit && x->stride == y->stride;
    } else if (kind == INDIM_KIND_WORDS) {
      is_same = indim_str_equal(a->value.words[i], b->value.words[i]);
    } else {
      is_same = same_computation(a->value.computations[i], b->value.computations[i], calls);
    }
  }
  return is_same;
}

static bool same_attr(const indim_attr *a, const indim_attr *b, int calls) {
  if (a->id != b->id || a->count != b->count) {
    return false;
  }
  indim_attr_kind kind = indim_attr_kind_of(a->id);
  switch ((int)kind) {
  case INDIM_KIND_INT:
  case INDIM_KIND_BOOL:
    return a->value.integer == b->value.integer;
  case INDIM_KIND_FLOAT:
    return memcmp(&a->value.number, &b->value.number, sizeof a->value.number) == 0;
  case INDIM_KIND_INTS:
  case INDIM_KIND_BOOLS:
    return same_ints(a->value.ints, b->value.ints, a->count);
  case INDIM_KIND_WORD:
  case INDIM_KIND_STRING:
  case INDIM_KIND_RAW:
    return indim_str_equal(a->value.text, b->value.text);
  case INDIM_KIND_DIM_LABELS:
    return indim_str_equal(a->value.dim_labels->text, b->value.dim_labels->text);
  case INDIM_KIND_WINDOW:
  case INDIM_KIND_PADDING:
  case INDIM_KIND_SLICE:
  case INDIM_KIND_WORDS:
  case INDIM_KIND_COMPUTATION:
  case INDIM_KIND_COMPUTATIONS:
    return same_list(a, b, kind, calls);
  default:
    return false;  // instructions to wait for, groups of devices, and the like
  }
}

// The next attribute from |*at| on that means something; NULL at the end.
static const indim_attr *next_attr(const indim_instr *instr, int32_t *at) {
  while (*at < instr->attr_count && is_note(instr->attrs[*at].id)) {
    ++*at;
  }
  return *at < instr->attr_count ? &instr->attrs[(*at)++] : NULL;
}

static bool same_attrs(const indim_instr *a, const indim_instr *b, int calls) {
  int32_t i = 0;
  int32_t k = 0;
  for (;;) {
    const indim_attr *x = next_attr(a, &i);
    const indim_attr *y = next_attr(b, &k);
    if (x == NULL || y == NULL) {
      return x == y;
    }
    if (!same_attr(x, y, calls)) {
      return false;
    }
  }
}

static bool same_instr(const indim_instr *a, const indim_instr *b, int calls) {
  if (a->op != b->op || a->op == INDIM_OP_CUSTOM_CALL || a->parameter_number != b->parameter_number ||
      !indim_shape_equal(a->shape, b->shape, 0) || (a->literal == NULL) != (b->literal == NULL)) {
    return false;
  }
  bool is_same = a->literal == b->literal || indim_literal_equal(a->literal, b->literal);
  return is_same && same_attrs(a, b, calls);
}

bool indim_instr_computes_same(const indim_instr *a, const indim_instr *b) {
  return !indim_instr_has_effect(a) && !indim_instr_has_effect(b) && same_instr(a, b, 0);
}
