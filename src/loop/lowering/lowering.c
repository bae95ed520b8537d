// The tools of all that lowers: failing at an instruction, memory, lines of --explain, decisions that are left out.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "array/element.h"
#include "graph/place.h"
#include "loop/lowering/lowering.h"

bool indim_lower_failed(const indim_lowering *l) { return l->status != INDIM_OK || l->b.status != INDIM_OK; }

void indim_lower_refuse(indim_lowering *l, const indim_flow_item *item, const char *reason) {
  if (!indim_lower_failed(l)) {
    l->status = indim_fail_instr(l->cx, INDIM_UNSUPPORTED, item->instr, "%s", reason);
    indim_hint(l->cx, indim_op_get(item->instr->op)->evaluated ? "the evaluator may run it (--engine=eval)"
                                                               : "nor does the evaluator; `indim ops` lists what runs");
  }
}

void *indim_lower_alloc(indim_lowering *l, int64_t count, size_t size) {
  void *memory = NULL;
  if (l->status == INDIM_OK) {
    l->status = indim_arena_array(&l->arena, count <= 0 ? 1 : (size_t)count, size, &memory);
  }
  return memory;
}

static void add_note(indim_lowering *l, const indim_flow_item *item, const char *text) {
  if (l->note_count == l->note_capacity) {
    int32_t capacity = l->note_capacity == 0 ? 64 : 2 * l->note_capacity;
    indim_lower_note *notes = indim_lower_alloc(l, capacity, sizeof *notes);
    if (notes == NULL) {
      return;
    }
    if (l->note_count > 0) {
      memcpy(notes, l->notes, (size_t)l->note_count * sizeof *notes);
    }
    l->notes = notes;
    l->note_capacity = capacity;
  }
  indim_lower_note *note = &l->notes[l->note_count++];
  note->item = item;
  note->order = l->note_count;
  if (l->status == INDIM_OK) {
    l->status = indim_arena_str(&l->arena, indim_str_of(text), &note->text);
  }
}

void indim_lower_explain(indim_lowering *l, const indim_flow_item *item, const char *format, ...) {
  if (l->options->out_explain == NULL && l->options->out_items == NULL) {
    return;
  }
  char text[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (l->options->out_items != NULL) {
    add_note(l, item, text);
  }
  if (l->options->out_explain == NULL) {
    return;
  }
  indim_shape_text shape;
  indim_place_text place;
  bool is_placed = indim_instr_place(item->instr, &place);
  indim_buffer_printf(l->options->out_explain, "%-24.*s %-22s %-16s %s%s%s%s\n", (int)item->instr->name.size,
                      item->instr->name.data, indim_op_get(item->instr->op)->text,
                      indim_shape_brief(item->shape, &shape), text, is_placed ? " (" : "", is_placed ? place.text : "",
                      is_placed ? ")" : "");
}

bool indim_uniform_literal(const indim_literal *literal, indim_element_bits *out_bits) {
  const indim_shape *shape = indim_literal_shape(literal);
  if (indim_literal_is_elided(literal) || !indim_shape_is_array(shape) || indim_shape_element_count(shape) == 0) {
    return false;
  }
  if (shape->has_layout && (shape->layout.tile_count > 0 || shape->layout.padded_rank > 0)) {
    return false;
  }
  int64_t width = indim_shape_element_bits(shape);
  const void *data = indim_literal_data(literal);
  indim_element first = indim_element_load(shape->type, width, data, 0);
  int64_t count = indim_shape_element_count(shape);
  for (int64_t i = 1; i < count; i++) {
    indim_element other = indim_element_load(shape->type, width, data, i);
    if (other.bits != first.bits || other.imag != first.imag) {
      return false;
    }
  }
  *out_bits = (indim_element_bits){first.bits, first.imag};
  return true;
}

bool indim_lower_is_enabled(const indim_lowering *l, indim_decision decision) {
  return !indim_decision_is_out(l->without, decision);
}

bool indim_lower_choose(indim_lowering *l, const indim_instr *instr, indim_decision decision, bool pays) {
  if (instr == NULL) {  // an argument that is copied to a result: nobody can name it
    return indim_lower_is_enabled(l, decision) && pays;
  }
  indim_choice *choice = indim_choices_find(&l->choices, instr->name, decision);
  bool is_taken = indim_lower_is_enabled(l, decision) && (choice != NULL ? choice->is_taken : pays);
  if (choice != NULL) {
    choice->is_met = true;
  }
  if (l->options->out_choices != NULL) {
    indim_buffer_printf(l->options->out_choices, "%.*s %s %s\n", (int)instr->name.size, instr->name.data,
                        indim_decision_name((int)decision), is_taken ? "yes" : "no");
  }
  return is_taken;
}

const char *indim_lower_choose_library(indim_lowering *l, const indim_instr *instr, const char *reason) {
  bool is_taken = indim_lower_choose(l, instr, INDIM_DECISION_LIBRARY, reason == NULL);
  return is_taken ? NULL : reason == NULL ? "a choice says so" : reason;
}

bool indim_lower_may_thread(indim_lowering *l, int64_t count, int64_t least) {
  return count >= least / 16 && indim_lower_choose(l, l->b.origin, INDIM_DECISION_THREADS, count >= least);
}
