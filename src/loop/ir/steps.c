// Finds the steps of a program: one walk to count them, one to list them.
#include "loop/ir/steps.h"

const char *indim_step_kind_text(indim_step_kind kind) {
  static const char *const texts[INDIM_STEP_KIND_COUNT] = {[INDIM_STEP_LOOP] = "loop",
                                                           [INDIM_STEP_HOST] = "host",
                                                           [INDIM_STEP_COPY] = "copy",
                                                           [INDIM_STEP_FILL] = "fill",
                                                           [INDIM_STEP_WHILE] = "while"};
  return texts[kind];
}

typedef struct walk {
  indim_step *steps;  // NULL: they are counted
  int32_t count;
} walk;

static void add(walk *w, indim_step_kind kind, const indim_loop_node *node) {
  if (w->steps != NULL) {
    w->steps[w->count] = (indim_step){kind, node};
  }
  w->count++;
}

// A loop, or a copy or a fill in pieces (pass/split_moves.c).
static indim_step_kind kind_of_loop(const indim_loop_node *loop) {
  indim_node_kind last = loop->bodies[0]->last == NULL ? INDIM_NODE_FOR : loop->bodies[0]->last->kind;
  return last == INDIM_NODE_COPY ? INDIM_STEP_COPY : last == INDIM_NODE_FILL ? INDIM_STEP_FILL : INDIM_STEP_LOOP;
}

// Recurses no deeper than lowering nests whiles and ifs.
static void visit(walk *w, const indim_loop_body *body) {
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    int32_t before = w->count;
    switch ((int)node->kind) {
    case INDIM_NODE_FOR:
      add(w, kind_of_loop(node), node);
      break;
    case INDIM_NODE_HOST:
      if (node->u.host.service != INDIM_HOST_CLOCK) {  // of a profile, around each step
        add(w, INDIM_STEP_HOST, node);
      }
      break;
    case INDIM_NODE_COPY:
      add(w, INDIM_STEP_COPY, node);
      break;
    case INDIM_NODE_FILL:
      add(w, INDIM_STEP_FILL, node);
      break;
    case INDIM_NODE_IF:
    case INDIM_NODE_WHILE:
      visit(w, node->bodies[0]);
      visit(w, node->bodies[1]);
      if (w->count == before && node->kind == INDIM_NODE_WHILE) {
        add(w, INDIM_STEP_WHILE, node);
      }
      break;
    default:
      break;
    }
  }
}

indim_status indim_program_steps(const indim_loop_program *program, indim_arena *arena, indim_step **out_steps,
                                 int32_t *out_count) {
  walk w = {NULL, 0};
  void *memory = NULL;
  visit(&w, program->body);
  INDIM_TRY(indim_arena_array(arena, (size_t)w.count + 1, sizeof *w.steps, &memory));
  w = (walk){memory, 0};
  visit(&w, program->body);
  *out_steps = w.steps;
  *out_count = w.count;
  return INDIM_OK;
}
