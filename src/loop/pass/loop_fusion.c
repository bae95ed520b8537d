// Loop fusion. Two adjacent loops with equal iteration spaces that share an array are fused if in every storage that one
// of them writes and the other accesses, the windows of different iterations are disjoint. Then a row is still in the
// cache (and the outer loop is paid once) when the next step of a softmax or of an optimizer reads it. Loops nested
// inside are fused next.
//
// Sums along rows of the same array that do not wait for each other are one loop, too, which carries them all: those of
// the last columns, fewer than a vector has, or those of squares. Each alone would fetch the lines that it shares with others.
//
// A loop of calls, one for each product of a batch, has fewer iterations than the loop over the rows of all products.
// The latter is strip-mined to match, if the two may then be fused: attention goes head by head, and the scores of a
// head are still in the cache for the softmax and for the second product.
#include "loop/pass/strip_mine.h"
#include "loop/pass/pass.h"
#include "loop/pass/footprint.h"

// Legality ---------------------------------------------------------------------------------------------------------------

static bool same_iteration_space(const indim_loop_node *a, const indim_loop_node *b) {
  return a->kind == INDIM_NODE_FOR && b->kind == INDIM_NODE_FOR && a->args[0] == b->args[0] &&
         a->args[1] == b->args[1] && a->u.loop.step == b->u.loop.step &&
         a->u.loop.is_parallel == b->u.loop.is_parallel && a->u.loop.grain == b->u.loop.grain;
}

// Vector registers of the values that the loop carries.
static int32_t carried_registers(const indim_loop_program *program, const indim_loop_node *loop) {
  int32_t count = 0;
  for (int32_t i = 0; i < loop->result_count; i++) {
    const indim_loop_value *value = &program->values[loop->first_result + i];
    int32_t bytes = value->lanes * indim_type_bytes(value->type);
    count += (bytes + program->target.vector_bytes - 1) / program->target.vector_bytes;
  }
  return count;
}

// Whether registers are left beside what the loops carry, if both do.
static bool fits_registers(const indim_loop_program *program, const indim_loop_node *a, const indim_loop_node *b) {
  return a->result_count == 0 || b->result_count == 0 ||
         2 * (carried_registers(program, a) + carried_registers(program, b)) <= program->target.vector_registers;
}

static bool footprints_are_disjoint(const indim_footprint *x, const indim_footprint *y, int64_t step) {
  indim_footprint both = *x;
  int64_t width = 0;
  return indim_footprint_unite(&both, y) && both.stride > 0 && indim_index_mul(both.stride, step, &width) &&
         indim_footprint_width(&both) <= width;
}

static bool may_fuse(indim_footprints *a, indim_footprints *b, const indim_loop_node *loop) {
  bool shares = false;
  if (a->is_opaque || b->is_opaque) {
    return false;
  }
  for (int32_t i = 0; i < b->count; i++) {
    const indim_footprint *y = &b->list[i];
    const indim_footprint *x = indim_footprints_find(a, y->storage);
    if (x == NULL) {
      continue;
    }
    if ((x->writes || y->writes) && !footprints_are_disjoint(x, y, loop->u.loop.step)) {
      return false;
    }
    shares = shares || x->writes || (x->is_known && y->is_known && x->stride == y->stride && x->stride != 0);
  }
  return shares;
}

// Whether a node between two loops may be moved before both: it computes or loads what the first does not write.
static bool may_move_before(indim_footprints *first, const indim_loop_node *node) {
  for (int32_t i = 0; i < node->arg_count; i++) {
    if (first->program->values[node->args[i]].node == first->loop) {
      return false;
    }
  }
  if (node->kind == INDIM_NODE_LOAD) {
    const indim_footprint *x = indim_footprints_find(first, node->u.memory.storage);
    return x == NULL || !x->writes;
  }
  return indim_node_group_of(node->kind) == INDIM_GROUP_VALUE;
}

// Fusion -----------------------------------------------------------------------------------------------------------------

// Moves the nodes of |from| to the front of |to|.
static void prepend_body(indim_loop_program *program, indim_loop_body *to, indim_loop_body *from) {
  indim_node_list list = {.body = to};
  indim_loop_node *next = NULL;
  for (indim_loop_node *node = from->first; node != NULL; node = next) {
    next = node->next;
    indim_nodes_move(program, &list, node);
  }
  indim_nodes_insert(&list, &to->first);
}

// Lets |second| carry what |first| does, before its own; |body| has both. The body of |first| takes the names of |second|'s.
static void join_carried(indim_loop_builder *b, indim_loop_body *body, indim_loop_node *first,
                         indim_loop_node *second) {
  indim_loop_body *from = first->bodies[0];
  indim_loop_body *to = second->bodies[0];
  int32_t ahead = first->result_count;
  int32_t count = ahead + second->result_count;
  if (ahead == 0) {
    indim_loop_rename(from, from->first_parameter, 1, &to->first_parameter);
    return;
  }
  indim_value_id *args = indim_loop_alloc(b, (size_t)count + 2, sizeof *args);
  indim_value_id *yields = indim_loop_alloc(b, (size_t)count, sizeof *yields);
  indim_value_id *parameters = indim_loop_alloc(b, (size_t)count + 1, sizeof *parameters);
  indim_value_id *results = indim_loop_alloc(b, (size_t)count, sizeof *results);
  for (int32_t i = 0; i <= count && b->status == INDIM_OK; i++) {  // the index, then what is carried
    parameters[i] = indim_loop_renumber(b, i <= ahead ? from->first_parameter + i : to->first_parameter + i - ahead);
  }
  for (int32_t i = 0; i < count && b->status == INDIM_OK; i++) {
    results[i] = indim_loop_renumber(b, i < ahead ? first->first_result + i : second->first_result + i - ahead);
  }
  if (b->status != INDIM_OK) {
    return;
  }
  indim_loop_rename(from, from->first_parameter, 1 + ahead, parameters);
  indim_loop_rename(to, to->first_parameter, 1, parameters);
  indim_loop_rename(to, to->first_parameter + 1, count - ahead, parameters + 1 + ahead);
  indim_loop_rename(body, first->first_result, ahead, results);
  indim_loop_rename(body, second->first_result, count - ahead, results + ahead);
  for (int32_t i = 0; i <= count; i++) {
    b->program->values[parameters[i]].body = to;
  }
  for (int32_t i = 0; i < count; i++) {
    args[2 + i] = i < ahead ? first->args[2 + i] : second->args[2 + i - ahead];
    yields[i] = i < ahead ? from->yields[i] : to->yields[i - ahead];
  }
  args[0] = second->args[0];
  args[1] = second->args[1];
  second->args = args;
  second->arg_count = count + 2;
  second->first_result = results[0];
  second->result_count = count;
  to->first_parameter = parameters[0];
  to->parameter_count = count + 1;
  to->yields = yields;
  to->yield_count = count;
}

enum {
  MOST_BETWEEN = 96,       // nodes between two loops that are looked at
  MOST_LOOPS_BETWEEN = 8,  // of them loops, as those that add up what the threads of the first have
};

// Where a node between two loops goes that are fused.
typedef struct between {
  indim_loop_node *node;
  bool may_be_before, is_needed, is_behind;
} between;

typedef struct fusion {
  indim_loop_program *program;
  indim_loop_builder b;  // makes nodes for strip-mined loops; has no open body
  indim_footprints *first, *second, *other;
  between moves[MOST_BETWEEN];
} fusion;

// Fuses |first| and |second| at the position of the first; |before| is the node before |first| (NULL: none). The nodes between them go
// before or behind both, as |f->moves| says. Returns the last node before the fused loop.
static indim_loop_node *fuse(fusion *f, indim_loop_body *body, indim_loop_node *before, indim_loop_node *first,
                             indim_loop_node *second) {
  join_carried(&f->b, body, first, second);
  if (f->b.status != INDIM_OK) {
    return before;
  }
  indim_loop_node *behind = NULL;
  indim_loop_node *last_behind = NULL;
  indim_loop_node *next = NULL;
  int32_t i = 0;
  for (indim_loop_node *node = first->next; node != second; node = next, i++) {
    next = node->next;
    if (f->moves[i].is_behind) {
      *(behind == NULL ? &behind : &last_behind->next) = node;
      last_behind = node;
      continue;
    }
    *(before == NULL ? &body->first : &before->next) = node;
    node->next = first;
    before = node;
  }
  first->next = behind == NULL ? second->next : behind;
  if (behind != NULL) {
    last_behind->next = second->next;
  }
  body->last = body->last != second ? body->last : behind == NULL ? first : last_behind;
  prepend_body(f->program, second->bodies[0], first->bodies[0]);
  first->bodies[0] = second->bodies[0];
  first->bodies[0]->owner = first;
  first->args = second->args;
  first->arg_count = second->arg_count;
  first->first_result = second->first_result;
  first->result_count = second->result_count;
  for (i = 0; i < first->result_count; i++) {
    f->program->values[first->first_result + i].node = first;
  }
  return before;
}

// Strip-mining -----------------------------------------------------------------------------------------------------------

static bool calls_host(const indim_loop_body *body) {
  const indim_loop_node *node = body->first;
  while (node != NULL && node->kind != INDIM_NODE_HOST) {
    node = node->next;
  }
  return node != NULL;
}

static bool has_calls(const indim_loop_program *program) {
  const indim_loop_node *node = program->body->first;
  while (node != NULL && node->kind != INDIM_NODE_HOST) {
    node = indim_loop_next(node);
  }
  return node != NULL;
}

// How many iterations of |fine| correspond to one of |coarse|, a loop of calls; 0 when that is not a whole number.
static int64_t steps_per_iteration(const indim_loop_program *program, const indim_loop_node *coarse,
                                   const indim_loop_node *fine) {
  bool are_loops = coarse->kind == INDIM_NODE_FOR && fine->kind == INDIM_NODE_FOR && coarse->arg_count == 2 &&
                   fine->arg_count == 2 && coarse->u.loop.is_parallel && fine->u.loop.is_parallel;
  if (!are_loops || coarse->u.loop.step != 1 || program->values[coarse->args[0]].low != 0 ||
      !calls_host(coarse->bodies[0])) {
    return 0;
  }
  int64_t few = indim_loop_steps(program, coarse);
  int64_t many = indim_loop_steps(program, fine);
  return program->values[fine->args[0]].low >= 0 && few > 0 && many > few && many % few == 0 ? many / few : 0;
}

// Turns the footprint of one iteration of |fine| into that of |many| consecutive ones.
static void scale_footprints(indim_footprints *fine, int64_t many) {
  int64_t step = fine->loop->u.loop.step;
  int64_t begin = fine->program->values[fine->loop->args[0]].low;
  for (int32_t i = 0; i < fine->count; i++) {
    indim_footprint *t = &fine->list[i];
    t->is_known = t->is_known && indim_affine_widen(&t->outer, t->stride, begin, begin + (many - 1) * step) &&
                  indim_index_mul(t->stride, many * step, &t->stride);
  }
}

// Strip-mines the one of two loops with more iterations, if both may then be fused. |at_first| points to the first,
// |at_second| to the other.
static void strip_mine_to_match(fusion *f, indim_loop_node **at_first, indim_loop_node **at_second) {
  indim_loop_node *first = *at_first;
  indim_loop_node *second = *at_second;
  int64_t in_first = steps_per_iteration(f->program, first, second);
  int64_t in_second = steps_per_iteration(f->program, second, first);
  if (in_first == 0 && in_second == 0) {
    return;
  }
  indim_footprints_of(f->program, first, f->first);
  indim_footprints_of(f->program, second, f->second);
  scale_footprints(in_first > 0 ? f->second : f->first, in_first > 0 ? in_first : in_second);
  if (!may_fuse(f->first, f->second, in_first > 0 ? first : second)) {
    return;
  }
  if (in_first > 0) {
    int64_t begin = f->program->values[second->args[0]].low;
    indim_strip_mine_like(&f->b, at_second, begin, in_first, first, first->args);
    return;
  }
  // The bounds of the second must be in scope at the first.
  int64_t begin = f->program->values[first->args[0]].low;
  int64_t end = f->program->values[second->args[1]].low;
  at_first = indim_loop_put_bounds(&f->b, at_first, end, second->args);
  if (f->b.status == INDIM_OK) {
    indim_strip_mine_like(&f->b, at_first, begin, in_second, second, second->args);
  }
}

// Strip-mines loops of |body| that may then be fused with loops of calls.
static void strip_mine_body(fusion *f, indim_loop_body *body) {
  for (indim_loop_node **link = &body->first; *link != NULL && f->b.status == INDIM_OK; link = &(*link)->next) {
    bool is_for = (*link)->kind == INDIM_NODE_FOR && (*link)->arg_count == 2 && (*link)->u.loop.is_parallel;
    if (is_for) {
      indim_footprints_of(f->program, *link, f->first);
    }
    indim_loop_node **other = &(*link)->next;
    while (is_for && *other != NULL && may_move_before(f->first, *other)) {
      other = &(*other)->next;
    }
    if (is_for && *other != NULL) {
      strip_mine_to_match(f, link, other);
    }
    for (int32_t k = 0; !is_for && k < 2 && (*link)->bodies[k] != NULL; k++) {
      strip_mine_body(f, (*link)->bodies[k]);
    }
  }
}

// Driver ---------------------------------------------------------------------------------------------------------------------

// Whether a loop between two others writes nothing that the second accesses, nor the other way round.
static bool loop_may_move_behind(fusion *f, const indim_loop_node *loop) {
  indim_footprints_of(f->program, loop, f->other);
  bool may = !f->other->is_opaque;
  for (int32_t i = 0; i < f->other->count && may; i++) {
    const indim_footprint *x = &f->other->list[i];
    const indim_footprint *y = indim_footprints_find(f->second, x->storage);
    may = y == NULL || !(x->writes || y->writes);
  }
  return may;
}

// Whether a node between two loops, a load, a store, a value or a loop, may be moved behind the second.
static bool may_move_behind(fusion *f, const indim_loop_node *node) {
  if (node->kind == INDIM_NODE_FOR) {
    return loop_may_move_behind(f, node);
  }
  indim_effect effects[INDIM_MAX_EFFECTS];
  int32_t count = indim_loop_effects(f->program, node, effects);
  for (int32_t i = 0; i < count; i++) {
    if (!indim_footprints_miss(f->second, &effects[i])) {
      return false;
    }
  }
  return true;
}

// Notes of the |count| nodes between two loops those that define one of the values. False if the first loop defines one.
static bool note_needed(fusion *f, int32_t value_count, const indim_value_id *values, int32_t count) {
  for (int32_t k = 0; k < value_count; k++) {
    const indim_loop_node *node = f->program->values[values[k]].node;
    if (node == f->first->loop) {
      return false;
    }
    for (int32_t i = 0; i < count && node != NULL; i++) {
      f->moves[i].is_needed = f->moves[i].is_needed || f->moves[i].node == node;
    }
  }
  return true;
}

// The same for all that |node| and what is nested in it use.
static bool note_needed_by(fusion *f, const indim_loop_node *node, int32_t count) {
  bool is_free = note_needed(f, node->arg_count, node->args, count);
  for (int32_t k = 0; k < 2 && node->bodies[k] != NULL && is_free; k++) {
    is_free = note_needed(f, node->bodies[k]->yield_count, node->bodies[k]->yields, count);
    for (const indim_loop_node *inner = node->bodies[k]->first; inner != NULL && is_free; inner = inner->next) {
      is_free = note_needed_by(f, inner, count);
    }
  }
  return is_free;
}

// Decides where the |count| nodes between the loops go; false when one of them may go nowhere. What stores the last elements of the
// first loop's arrays, fewer than its vectors have, goes behind both.
static bool place_between(fusion *f, const indim_loop_node *second, int32_t count) {
  bool is_free = count == 0 && f->first->loop->result_count == 0;
  if (!is_free && !note_needed_by(f, second, count)) {
    return false;
  }
  for (int32_t i = count - 1; i >= 0; i--) {
    between *m = &f->moves[i];
    m->is_behind = !m->is_needed && may_move_behind(f, m->node);
    if (!m->is_behind && (!m->may_be_before || !note_needed_by(f, m->node, count))) {
      return false;
    }
  }
  return true;
}

// Whether a node of index |i| between two loops reads what a store before it writes, or may read what a loop does, which may be moved
// behind it.
static bool reads_stored(const fusion *f, int32_t i) {
  const indim_loop_node *load = f->moves[i].node;
  for (int32_t j = 0; j < i && load->kind == INDIM_NODE_LOAD; j++) {
    const indim_loop_node *store = f->moves[j].node;
    if (store->kind == INDIM_NODE_FOR ||
        (store->kind == INDIM_NODE_STORE && indim_loop_root_of(f->program, store->u.memory.storage) ==
                                                indim_loop_root_of(f->program, load->u.memory.storage))) {
      return true;
    }
  }
  return false;
}

// The loop after |first| that may be fused with it, and where all nodes between go.
static indim_loop_node *find_partner(fusion *f, indim_loop_node *first) {
  int32_t count = 0;
  int32_t loops = 0;
  indim_footprints_of(f->program, first, f->first);
  for (indim_loop_node *node = first->next; node != NULL; node = node->next) {
    if (same_iteration_space(first, node)) {
      indim_footprints_of(f->program, node, f->second);
      return fits_registers(f->program, first, node) && may_fuse(f->first, f->second, first) &&
                     place_between(f, node, count)
                 ? node
                 : NULL;
    }
    loops += node->kind == INDIM_NODE_FOR ? 1 : 0;
    if (count == MOST_BETWEEN || loops > MOST_LOOPS_BETWEEN) {
      return NULL;
    }
    f->moves[count] = (between){.node = node};
    f->moves[count].may_be_before = may_move_before(f->first, node) && !reads_stored(f, count);
    bool may_be_behind = node->kind == INDIM_NODE_STORE || node->kind == INDIM_NODE_LOAD ||
                         node->kind == INDIM_NODE_FOR || indim_node_group_of(node->kind) == INDIM_GROUP_VALUE;
    if (!f->moves[count].may_be_before && !may_be_behind) {
      return NULL;
    }
    count++;
  }
  return NULL;
}

static void fuse_body(fusion *f, indim_loop_body *body) {
  indim_loop_node *before = NULL;
  for (indim_loop_node *node = body->first; node != NULL && f->b.status == INDIM_OK;) {
    indim_loop_node *partner = node->kind == INDIM_NODE_FOR ? find_partner(f, node) : NULL;
    if (partner != NULL) {
      before = fuse(f, body, before, node, partner);
      continue;
    }
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      fuse_body(f, node->bodies[k]);
    }
    before = node;
    node = node->next;
  }
}

indim_status indim_pass_loop_fusion(indim_loop_program *program) {
  void *memory = NULL;
  INDIM_TRY(indim_alloc(program->cx, 3 * sizeof(indim_footprints), &memory));
  fusion f = {.program = program, .first = memory};
  f.second = f.first + 1;
  f.other = f.first + 2;
  indim_loop_builder_init(&f.b, program);
  fuse_body(&f, program->body);
  if (has_calls(program)) {
    strip_mine_body(&f, program->body);
    if (f.b.status == INDIM_OK) {
      fuse_body(&f, program->body);
    }
  }
  indim_status status = f.b.status;
  indim_loop_builder_deinit(&f.b);
  indim_free(program->cx, memory, 3 * sizeof(indim_footprints));
  return status;
}
