// Choices: at which instruction which decision is taken, whatever the estimates say. A text of lines, as
// `indim compile --dump=choices` prints all that were taken and `indim tune` writes those that were found better:
//
//   # a comment, up to the end of its line
//   exp.2 inline no        NAME DECISION yes|no: at the instruction, where both ways are right
//   * reroll no            of the whole program: the decision is left out
#ifndef INDIM_LOOP_CHOICES_H
#define INDIM_LOOP_CHOICES_H

#include "base/arena.h"
#include "loop/decision/decision.h"

typedef struct indim_choice {
  indim_str name;  // of an instruction; in the text
  indim_decision decision;
  bool is_taken;
  bool is_met;  // the lowering came to it
  int32_t line;
} indim_choice;

typedef struct indim_choices {
  indim_choice *list;
  int32_t count;
  uint32_t without;  // of the whole program, bit k for decision k
} indim_choices;

// Whether both ways of a decision can be chosen at an instruction; the others are of the whole program.
bool indim_decision_is_of_instruction(indim_decision decision);
// |text| (NULL: no choices) must outlive |out_choices|, whose list is in |arena|. INVALID, with the line, for what is no choice;
// NO_MEMORY.
INDIM_CHECKED indim_status indim_choices_parse(indim_ctx *cx, indim_arena *arena, const char *text,
                                               indim_choices *out_choices);
// The choice at an instruction of this name, or NULL.
indim_choice *indim_choices_find(const indim_choices *choices, indim_str name, indim_decision decision);
// Tells, as a diagnostic that is no failure, how many choices the lowering did not come to.
void indim_choices_tell_unmet(indim_ctx *cx, const indim_choices *choices);

#endif  // INDIM_LOOP_CHOICES_H
