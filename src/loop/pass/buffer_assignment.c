// The scratch block: every scratch storage gets an offset, and storages that are never alive at the same time share
// bytes. A storage is alive from the first to the last node that touches it; one that is touched before a while and inside
// it lives until that ends, because the next step may look again; and what a for touches lives through all of it, because
// its iterations each own a part.
#include "base/size.h"
#include "loop/ir/effects.h"
#include "loop/pass/pass.h"

enum { ALIGNMENT = 64 };

typedef struct span {
  int64_t first, last;  // in the order of the nodes; first < 0: never touched
} span;

typedef struct walk {
  indim_loop_program *program;
  span *spans;
  int64_t now;
} walk;

static void walk_body(walk *w, const indim_loop_body *body);

static void touch(walk *w, int32_t storage) {
  // A storage that takes over another's bytes keeps them alive.
  for (int32_t s = storage + 1; s != 0; s = w->program->storages[s - 1]->shares) {
    span *at = &w->spans[s - 1];
    at->first = at->first < 0 ? w->now : at->first;
    at->last = w->now;
  }
}

static void walk_loop(walk *w, const indim_loop_node *node) {
  int64_t begin = w->now;
  for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
    walk_body(w, node->bodies[k]);
  }
  if (node->kind == INDIM_NODE_IF) {
    return;
  }
  for (int32_t s = 0; s < w->program->storage_count; s++) {
    span *at = &w->spans[s];
    if (at->first < 0 || at->last < begin) {
      continue;
    }
    if (node->kind == INDIM_NODE_FOR) {  // other iterations' parts of it are alive meanwhile
      at->first = at->first < begin ? at->first : begin;
      at->last = w->now;
    } else if (at->first < begin) {
      at->last = w->now;
    }
  }
}

static void walk_body(walk *w, const indim_loop_body *body) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    w->now++;
    int32_t count = indim_loop_effects(w->program, node, effects);
    for (int32_t i = 0; i < count; i++) {
      touch(w, effects[i].storage);
    }
    if (node->bodies[0] != NULL) {
      walk_loop(w, node);
    }
  }
}

static bool aligned_bytes(const indim_storage *storage, int64_t *out) {
  size_t bytes = 0;
  return indim_size_mul((size_t)storage->elements, (size_t)indim_type_bytes(storage->type), &bytes) &&
         indim_size_add(bytes, ALIGNMENT - 1, &bytes) && bytes <= INT64_MAX / 2 &&
         (*out = (int64_t)(bytes / ALIGNMENT * ALIGNMENT), true);
}

// The lowest offset at which |storage| overlaps nobody placed so far that is alive at the same time. |placed| is sorted by
// offset.
static int64_t find_offset(const walk *w, const int64_t *bytes, const int32_t *placed, int32_t count, int32_t storage) {
  int64_t at = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t other = placed[i];
    bool together = w->spans[other].first <= w->spans[storage].last && w->spans[storage].first <= w->spans[other].last;
    int64_t begin = w->program->storages[other]->offset;
    if (!together || begin + bytes[other] <= at) {
      continue;
    }
    if (begin >= at + bytes[storage]) {
      break;
    }
    at = begin + bytes[other];
  }
  return at;
}

static void insert_sorted(const walk *w, int32_t *placed, int32_t count, int32_t storage) {
  int32_t at = count;
  while (at > 0 && w->program->storages[placed[at - 1]]->offset > w->program->storages[storage]->offset) {
    placed[at] = placed[at - 1];
    at--;
  }
  placed[at] = storage;
}

static indim_status place_all(walk *w, int64_t *bytes, int32_t *placed) {
  indim_loop_program *program = w->program;
  int32_t count = 0;
  for (int32_t s = 0; s < program->storage_count; s++) {
    indim_storage *storage = program->storages[s];
    if (storage->kind != INDIM_STORAGE_SCRATCH || storage->shares != 0 || w->spans[s].first < 0) {
      continue;
    }
    if (!aligned_bytes(storage, &bytes[s])) {
      return indim_fail(program->cx, INDIM_LIMIT, "%s needs more bytes of scratch memory than can be counted",
                        storage->name);
    }
    storage->offset = find_offset(w, bytes, placed, count, s);
    insert_sorted(w, placed, count++, s);
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
  void *spans = NULL, *bytes = NULL, *placed = NULL;
  indim_status status = indim_arena_array(&arena, count, sizeof(span), &spans);
  status = status == INDIM_OK ? indim_arena_array(&arena, count, sizeof(int64_t), &bytes) : status;
  status = status == INDIM_OK ? indim_arena_array(&arena, count, sizeof(int32_t), &placed) : status;
  if (status == INDIM_OK) {
    walk w = {.program = program, .spans = spans};
    for (size_t s = 0; s < count; s++) {
      w.spans[s].first = -1;
    }
    walk_body(&w, program->body);
    program->scratch_bytes = 0;
    status = place_all(&w, bytes, placed);
  }
  indim_arena_deinit(&arena);
  return status;
}
