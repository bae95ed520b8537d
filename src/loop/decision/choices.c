// Choices from their text, and finding them.
#include "loop/decision/choices.h"

#include <string.h>

typedef enum decision_scope { SCOPE_PROGRAM, SCOPE_INSTRUCTION } decision_scope;

bool indim_decision_is_of_instruction(indim_decision decision) {
  static const decision_scope scopes[] = {
#define INDIM_DECISION(enumerator, name, scope, meaning) SCOPE_##scope,
#include "loop/decision/decisions.def"
  };
  return scopes[decision] == SCOPE_INSTRUCTION;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The next word of the line at |*at|; an empty one at its end or a comment.
static indim_str next_word(const char **at) {
  while (is_space(**at)) {
    ++*at;
  }
  indim_str word = {*at, 0};
  while (**at != '\0' && **at != '\n' && !is_space(**at) && !(word.size == 0 && **at == '#')) {
    ++*at;
    word.size++;
  }
  return word;
}

enum { SHOWN = 60 };

static int shown(indim_str text) { return text.size < SHOWN ? (int)text.size : SHOWN; }

static indim_status refuse(indim_ctx *cx, int32_t line, const char *what, indim_str word, const char *hint) {
  indim_fail(cx, INDIM_INVALID, "choices, line %d: %s%s%.*s%s", (int)line, what, word.size > 0 ? " '" : "", shown(word),
             word.data, word.size > 0 ? "'" : "");
  indim_hint(cx, "%s", hint);
  return INDIM_INVALID;
}

static const char form[] = "a line is NAME DECISION yes|no, or * DECISION no for the whole program";

static indim_status parse_decision(indim_ctx *cx, int32_t line, indim_str word, bool is_whole,
                                   indim_decision *out_decision) {
  int found = indim_decision_find(word);
  if (found == INDIM_DECISION_COUNT) {
    return refuse(cx, line, "there is no decision", word, "`indim compile --without=help` lists them");
  }
  *out_decision = (indim_decision)found;
  return is_whole || indim_decision_is_of_instruction(*out_decision)
             ? INDIM_OK
             : refuse(cx, line, "not taken at single instructions:", word, "* NAME no is for the whole program");
}

static indim_status parse_line(indim_ctx *cx, const char **at, int32_t line, indim_choices *out) {
  indim_choice choice = {.name = next_word(at), .line = line};
  if (choice.name.size == 0) {
    return INDIM_OK;
  }
  indim_str decision = next_word(at);
  indim_str answer = next_word(at);
  indim_str more = next_word(at);
  if (answer.size == 0 || more.size > 0) {
    return refuse(cx, line, more.size > 0 ? "not expected:" : "it ends too early", more, form);
  }
  bool is_whole = indim_str_equal(choice.name, indim_str_of("*"));
  INDIM_TRY(parse_decision(cx, line, decision, is_whole, &choice.decision));
  choice.is_taken = indim_str_equal(answer, indim_str_of("yes"));
  if (!choice.is_taken && !indim_str_equal(answer, indim_str_of("no"))) {
    return refuse(cx, line, "neither yes nor no:", answer, form);
  }
  if (is_whole) {
    out->without |= choice.is_taken ? 0 : UINT32_C(1) << choice.decision;
  } else {
    out->list[out->count++] = choice;
  }
  return INDIM_OK;
}

indim_status indim_choices_parse(indim_ctx *cx, indim_arena *arena, const char *text, indim_choices *out_choices) {
  *out_choices = (indim_choices){0};
  if (text == NULL) {
    return INDIM_OK;
  }
  size_t lines = 1;
  for (const char *c = text; *c != '\0'; c++) {
    lines += *c == '\n';
  }
  if (lines > INT32_MAX) {
    return indim_fail(cx, INDIM_LIMIT, "choices of %zu lines", lines);
  }
  void *list = NULL;
  INDIM_TRY(indim_arena_array(arena, lines, sizeof *out_choices->list, &list));
  out_choices->list = list;
  int32_t line = 1;
  for (const char *at = text; *at != '\0'; line++) {
    INDIM_TRY(parse_line(cx, &at, line, out_choices));
    at += strcspn(at, "\n");
    at += *at == '\n';
  }
  return INDIM_OK;
}

indim_choice *indim_choices_find(const indim_choices *choices, indim_str name, indim_decision decision) {
  for (int32_t i = 0; i < choices->count; i++) {
    indim_choice *choice = &choices->list[i];
    if (choice->decision == decision && indim_str_equal(choice->name, name)) {
      return choice;
    }
  }
  return NULL;
}

void indim_choices_tell_unmet(indim_ctx *cx, const indim_choices *choices) {
  const indim_choice *first = NULL;
  int count = 0;
  for (int32_t i = choices->count; i > 0; i--) {
    if (!choices->list[i - 1].is_met) {
      first = &choices->list[i - 1];
      count++;
    }
  }
  if (count > 0) {
    (void)indim_fail(cx, INDIM_INVALID, "%d of %d choices are about nothing in this program: line %d, '%.*s %s'", count,
                     (int)choices->count, (int)first->line, shown(first->name), first->name.data,
                     indim_decision_name((int)first->decision));
    indim_hint(cx, "they may be another program's, or another version's: `indim tune` finds new ones");
  }
}
