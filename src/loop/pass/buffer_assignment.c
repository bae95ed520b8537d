// Buffer assignment for the scratch block: every scratch storage gets an offset, and storages whose live ranges do not
// overlap share bytes. A storage is live from the first to the last node that accesses it. One that is accessed before
// a while and inside it is live until the while ends, because the next iteration may read it; one that is accessed in a
// for is live during the whole for, because each iteration has its own part.
#include "base/size.h"
#include "loop/ir/effects.h"
#include "loop/pass/pass.h"

enum { ALIGNMENT = 64 };

typedef struct live_range {
  int64_t first, last;  // numbers of nodes in program order; first < 0: never accessed
} live_range;

typedef struct liveness {
  indim_loop_program *program;
  live_range *ranges;
  int64_t now;
} liveness;

static void visit_body(liveness *w, const indim_loop_body *body);

static void extend(liveness *w, int32_t storage) {
  // A storage that reuses another's buffer keeps it live.
  for (int32_t s = storage + 1; s != 0; s = w->program->storages[s - 1]->shares) {
    live_range *at = &w->ranges[s - 1];
    at->first = at->first < 0 ? w->now : at->first;
    at->last = w->now;
  }
}

static void visit_loop(liveness *w, const indim_loop_node *node) {
  int64_t begin = w->now;
  for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
    visit_body(w, node->bodies[k]);
  }
  if (node->kind == INDIM_NODE_IF) {
    return;
  }
  for (int32_t s = 0; s < w->program->storage_count; s++) {
    live_range *at = &w->ranges[s];
    if (at->first < 0 || at->last < begin) {
      continue;
    }
    if (node->kind == INDIM_NODE_FOR) {  // the parts of other iterations are live meanwhile
      at->first = at->first < begin ? at->first : begin;
      at->last = w->now;
    } else if (at->first < begin) {
      at->last = w->now;
    }
  }
}

static void visit_body(liveness *w, const indim_loop_body *body) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    w->now++;
    int32_t count = indim_loop_effects(w->program, node, effects);
    for (int32_t i = 0; i < count; i++) {
      extend(w, effects[i].storage);
    }
    if (node->bodies[0] != NULL) {
      visit_loop(w, node);
    }
  }
}

static bool aligned_bytes(const indim_storage *storage, int64_t *out) {
  size_t bytes = 0;
  return indim_size_mul((size_t)storage->elements, (size_t)indim_type_bytes(storage->type), &bytes) &&
         indim_size_add(bytes, ALIGNMENT - 1, &bytes) && bytes <= INT64_MAX / 2 &&
         (*out = (int64_t)(bytes / ALIGNMENT * ALIGNMENT), true);
}

// The lowest offset at which |storage| overlaps no storage assigned so far with an overlapping live range. |assigned|
// is sorted by offset.
static int64_t find_offset(const liveness *w, const int64_t *bytes, const int32_t *assigned, int32_t count,
                           int32_t storage) {
  int64_t at = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t other = assigned[i];
    bool overlaps =
        w->ranges[other].first <= w->ranges[storage].last && w->ranges[storage].first <= w->ranges[other].last;
    int64_t begin = w->program->storages[other]->offset;
    if (!overlaps || begin + bytes[other] <= at) {
      continue;
    }
    if (begin >= at + bytes[storage]) {
      break;
    }
    at = begin + bytes[other];
  }
  return at;
}

static void insert_sorted(const liveness *w, int32_t *assigned, int32_t count, int32_t storage) {
  int32_t at = count;
  while (at > 0 && w->program->storages[assigned[at - 1]]->offset > w->program->storages[storage]->offset) {
    assigned[at] = assigned[at - 1];
    at--;
  }
  assigned[at] = storage;
}

static indim_status assign_offsets(liveness *w, int64_t *bytes, int32_t *assigned) {
  indim_loop_program *program = w->program;
  int32_t count = 0;
  for (int32_t s = 0; s < program->storage_count; s++) {
    indim_storage *storage = program->storages[s];
    if (storage->kind != INDIM_STORAGE_SCRATCH || storage->shares != 0 || w->ranges[s].first < 0) {
      continue;
    }
    if (!aligned_bytes(storage, &bytes[s])) {
      return indim_fail(program->cx, INDIM_LIMIT, "%s needs more bytes of scratch memory than can be counted",
                        storage->name);
    }
    storage->offset = find_offset(w, bytes, assigned, count, s);
    insert_sorted(w, assigned, count++, s);
    int64_t end = 0;
    if (!indim_int_add(storage->offset, bytes[s], &end)) {
      return indim_fail(program->cx, INDIM_LIMIT, "the scratch block has more bytes than can be counted");
    }
    program->scratch_bytes = end > program->scratch_bytes ? end : program->scratch_bytes;
  }
  return INDIM_OK;
}

indim_status indim_pass_buffer_assignment(indim_loop_program *program) {
  indim_arena arena;
  indim_arena_init(&arena, program->cx);
  size_t count = (size_t)program->storage_count;
  void *ranges = NULL, *bytes = NULL, *assigned = NULL;
  indim_status status = indim_arena_array(&arena, count, sizeof(live_range), &ranges);
  status = status == INDIM_OK ? indim_arena_array(&arena, count, sizeof(int64_t), &bytes) : status;
  status = status == INDIM_OK ? indim_arena_array(&arena, count, sizeof(int32_t), &assigned) : status;
  if (status == INDIM_OK) {
    liveness w = {.program = program, .ranges = ranges};
    for (size_t s = 0; s < count; s++) {
      w.ranges[s].first = -1;
    }
    visit_body(&w, program->body);
    for (size_t s = 0; s < count; s++) {
      program->storages[s]->first_node = w.ranges[s].first < 0 ? 0 : w.ranges[s].first;
      program->storages[s]->last_node = w.ranges[s].first < 0 ? 0 : w.ranges[s].last;
    }
    program->scratch_bytes = 0;
    status = assign_offsets(&w, bytes, assigned);
  }
  indim_arena_deinit(&arena);
  return status;
}
