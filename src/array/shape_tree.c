// Walks over tuple shapes, questions about trees, and comparisons leaf by leaf.
#include <string.h>

#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/arena.h"
#include "indim/shape_util.h"

static bool is_tuple(const indim_shape *shape) { return shape->type == INDIM_TUPLE; }

void indim_shape_walk_init(indim_shape_walk *walk, const indim_shape *shape) {
  if (walk == NULL || shape == NULL) {
    return;
  }
  memset(walk, 0, sizeof *walk);
  walk->shape = shape;
}

// Steps to the next sibling of where the walk stands, or of a parent; false when there is none.
static bool step_over(indim_shape_walk *walk) {
  while (walk->length > 0) {
    const indim_shape *parent = walk->parents[walk->length - 1];
    int64_t next = ++walk->path[walk->length - 1];
    if (next < parent->member_count) {
      walk->shape = parent->members[next];
      return true;
    }
    walk->length--;
    walk->shape = parent;
  }
  return false;
}

// Into the first member; false for leaves and empty tuples.
static bool step_into(indim_shape_walk *walk) {
  if (!is_tuple(walk->shape) || walk->shape->member_count == 0 || walk->length == INDIM_MAX_TUPLE_DEPTH) {
    return false;
  }
  walk->parents[walk->length] = walk->shape;
  walk->path[walk->length++] = 0;
  walk->shape = walk->shape->members[0];
  return true;
}

bool indim_shape_walk_next(indim_shape_walk *walk) {
  if (walk == NULL) {
    return false;
  }
  if (!walk->started) {
    walk->started = true;
    return true;
  }
  return step_into(walk) || step_over(walk);
}

bool indim_shape_walk_next_post_order(indim_shape_walk *walk) {
  if (walk == NULL) {
    return false;
  }
  if (!walk->started) {
    walk->started = true;
  } else if (walk->length == 0) {
    return false;
  } else {
    const indim_shape *parent = walk->parents[walk->length - 1];
    int64_t next = ++walk->path[walk->length - 1];
    if (next == parent->member_count) {
      walk->length--;
      walk->shape = parent;
      return true;
    }
    walk->shape = parent->members[next];
  }
  while (step_into(walk)) {
  }
  return true;
}

bool indim_shape_walk_next_leaf(indim_shape_walk *walk) {
  if (walk == NULL) {
    return false;
  }
  while (indim_shape_walk_next(walk)) {
    if (!is_tuple(walk->shape)) {
      return true;
    }
  }
  return false;
}

const indim_shape *indim_shape_at(const indim_shape *shape, const int64_t *path, int32_t length) {
  for (int32_t i = 0; i < length; i++) {
    if (!is_tuple(shape) || path[i] < 0 || path[i] >= shape->member_count) {
      return NULL;
    }
    shape = shape->members[path[i]];
  }
  return shape;
}

void indim_shape_path_print(const int64_t *path, int32_t length, indim_buffer *out) {
  if (out == NULL) {
    return;
  }
  indim_buffer_char(out, '{');
  for (int32_t i = 0; i < length; i++) {
    indim_buffer_text(out, i == 0 ? "" : ",");
    indim_buffer_int(out, path[i]);
  }
  indim_buffer_char(out, '}');
}

indim_status indim_shape_find(indim_ctx *cx, const indim_shape *shape, const int64_t *path, int32_t length,
                              const indim_shape **out_shape) {
  INDIM_NOT_NULL(cx, shape);
  const indim_shape *found = indim_shape_at(shape, path, length);
  if (found == NULL) {
    indim_buffer text;
    indim_buffer_init(&text, cx);
    indim_shape_path_print(path, length, &text);
    indim_status status = indim_fail(cx, INDIM_INVALID, "%s has no part %s", indim_shape_name_of(shape).text,
                                     text.data == NULL ? "" : text.data);
    indim_buffer_deinit(&text);
    return status;
  }
  *out_shape = found;
  return INDIM_OK;
}

int64_t indim_shape_subshape_count(const indim_shape *shape) {
  if (shape == NULL) {
    return 0;
  }
  indim_shape_walk walk;
  int64_t count = 0;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next(&walk);) {
    count++;
  }
  return count;
}

int64_t indim_shape_leaf_count(const indim_shape *shape) {
  if (shape == NULL) {
    return 0;
  }
  indim_shape_walk walk;
  int64_t count = 0;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next_leaf(&walk);) {
    count++;
  }
  return count;
}

void indim_shape_leaves(const indim_shape *shape, const indim_shape **out_leaves) {
  if (shape == NULL) {
    return;
  }
  indim_shape_walk walk;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next_leaf(&walk);) {
    *out_leaves++ = walk.shape;
  }
}

indim_status indim_shape_slice_tuple(indim_arena *arena, const indim_shape *tuple, int64_t start, int64_t limit,
                                     indim_shape *out_shape) {
  if (arena == NULL || tuple == NULL || out_shape == NULL) {
    return INDIM_INVALID;
  }
  if (!is_tuple(tuple) || start < 0 || limit < start || limit > tuple->member_count) {
    return indim_fail(arena->cx, INDIM_INVALID, "members %lld to %lld of %s", (long long)start, (long long)limit,
                      indim_shape_name_of(tuple).text);
  }
  return indim_shape_tuple_of(arena, tuple->members + start, limit - start, out_shape);
}

indim_status indim_shape_init_maybe_tuple(indim_arena *arena, const indim_shape *members, int64_t count,
                                          indim_shape *out_shape) {
  return count == 1 ? indim_shape_copy(arena, members, out_shape)
                    : indim_shape_init_tuple(arena, members, count, out_shape);
}

bool indim_shape_is_nested_tuple(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  for (int64_t i = 0; is_tuple(shape) && i < shape->member_count; i++) {
    if (is_tuple(shape->members[i])) {
      return true;
    }
  }
  return false;
}

bool indim_shape_has_type(const indim_shape *shape, indim_type type) {
  if (shape == NULL) {
    return false;
  }
  indim_shape_walk walk;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next(&walk);) {
    if (walk.shape->type == type || indim_shape_array_of(walk.shape)->type == type) {
      return true;
    }
  }
  return false;
}

bool indim_shape_leaves_are_integers(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  indim_shape_walk walk;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next_leaf(&walk);) {
    if (!indim_type_is_integral(indim_shape_array_of(walk.shape)->type)) {
      return false;
    }
  }
  return true;
}

void indim_shape_print_program(const indim_str *names, const indim_shape *const *parameters, int64_t count,
                               const indim_shape *result, indim_buffer *out) {
  if (result == NULL || out == NULL) {
    return;
  }
  indim_buffer_char(out, '(');
  for (int64_t i = 0; i < count; i++) {
    indim_str unknown = {"(unknown)", 9};
    indim_str name = names != NULL && names[i].size > 0 ? names[i] : unknown;
    indim_buffer_text(out, i == 0 ? "" : ", ");
    indim_buffer_append(out, name.data, name.size);
    indim_buffer_text(out, ": ");
    indim_shape_print(parameters[i], false, out);
  }
  indim_buffer_text(out, ") -> ");
  indim_shape_print(result, false, out);
}

// Comparing two trees -----------------------------------------------------------------------------------------------

// Two walks of the same structure, step by step. |same| gets false where the trees differ.
typedef struct pair_walk {
  indim_shape_walk a, b;
  bool same;
} pair_walk;

static pair_walk begin_pairs(const indim_shape *a, const indim_shape *b) {
  pair_walk w = {.same = a != NULL && b != NULL};
  if (w.same) {
    indim_shape_walk_init(&w.a, a);
    indim_shape_walk_init(&w.b, b);
  }
  return w;
}

static bool next_pair(pair_walk *w) {
  if (!w->same) {
    return false;
  }
  bool more = indim_shape_walk_next(&w->a);
  w->same = indim_shape_walk_next(&w->b) == more;
  if (w->same && more) {
    w->same = w->a.length == w->b.length &&
              (w->a.length == 0 || memcmp(w->a.path, w->b.path, (size_t)w->a.length * sizeof *w->a.path) == 0);
  }
  return w->same && more;
}

// The next pair, which both are tuples or none.
static bool next_alike(pair_walk *w) {
  if (!next_pair(w)) {
    return false;
  }
  w->same = is_tuple(w->a.shape) == is_tuple(w->b.shape);
  return w->same;
}

bool indim_shape_equal_structure(const indim_shape *a, const indim_shape *b) {
  pair_walk w = begin_pairs(a, b);
  while (next_pair(&w)) {
  }
  return w.same;
}

bool indim_shape_dynamic_fits(const indim_shape *dynamic, const indim_shape *bound) {
  pair_walk w = begin_pairs(dynamic, bound);
  while (next_alike(&w)) {
    const indim_shape *a = indim_shape_array_of(w.a.shape);
    const indim_shape *b = indim_shape_array_of(w.b.shape);
    if (a->dynamic == 0) {
      continue;
    }
    if (a->rank != b->rank) {
      return false;
    }
    for (int32_t d = 0; d < a->rank; d++) {
      if (a->sizes[d] > b->sizes[d]) {
        return false;
      }
    }
  }
  return w.same;
}

bool indim_shape_layouts_equal(const indim_shape *a, const indim_shape *b, unsigned ignore) {
  pair_walk w = begin_pairs(a, b);
  while (next_alike(&w)) {
    const indim_shape *p = indim_shape_array_of(w.a.shape);
    const indim_shape *q = indim_shape_array_of(w.b.shape);
    if (is_tuple(w.a.shape) || !indim_shape_is_array(p)) {
      continue;
    }
    if (p->rank != q->rank || p->has_layout != q->has_layout ||
        (p->has_layout && !indim_layout_equal(&p->layout, &q->layout, ignore))) {
      return false;
    }
  }
  return w.same;
}
