// A hash table with open addressing over pointers to shapes. Members are interned first, so tuples compare by their
// members' pointers and a comparison never walks a tree.
#include "graph/shape_pool.h"

#include <string.h>

struct indim_shape_pool {
  indim_arena *arena;
  const indim_shape **slots;
  uint64_t *hashes;
  size_t capacity;  // a power of two
  size_t count;
};

enum { FIRST_CAPACITY = 64 };

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

static uint64_t mix_ints(uint64_t hash, const int64_t *values, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    hash = mix(hash, (uint64_t)values[i]);
  }
  return hash;
}

// |members| are the interned ones.
static uint64_t hash_shape(const indim_shape *shape, const indim_shape *const *members) {
  uint64_t hash = mix(mix(mix(0, (uint64_t)shape->type), (uint64_t)shape->rank), shape->dynamic);
  hash = mix_ints(hash, shape->sizes, shape->rank);
  if (shape->has_layout) {
    const indim_layout *layout = &shape->layout;
    hash = mix_ints(mix(hash, (uint64_t)layout->rank), layout->minor_to_major, layout->rank);
    hash = mix(mix(hash, (uint64_t)layout->tile_count), (uint64_t)layout->element_bits);
    hash = mix(mix(hash, (uint64_t)layout->memory_space), (uint64_t)layout->metadata_prefix_bytes);
  }
  for (int64_t i = 0; i < shape->member_count; i++) {
    hash = mix(hash, (uint64_t)(uintptr_t)members[i]);
  }
  return hash;
}

static bool same_shape(const indim_shape *a, const indim_shape *b, const indim_shape *const *b_members) {
  if (a->type != b->type || a->member_count != b->member_count) {
    return false;
  }
  if (a->member_count > 0) {
    return memcmp(a->members, b_members, (size_t)a->member_count * sizeof *b_members) == 0;
  }
  return indim_shape_equal(a, b, 0) && a->layout.metadata_prefix_bytes == b->layout.metadata_prefix_bytes;
}

static indim_status grow(indim_shape_pool *pool) {
  size_t capacity = pool->capacity == 0 ? FIRST_CAPACITY : pool->capacity * 2;
  indim_ctx *cx = pool->arena->cx;
  void *slots = NULL;
  void *hashes = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, capacity * sizeof *pool->slots, &slots));
  indim_status status = indim_alloc(cx, capacity * sizeof *pool->hashes, &hashes);
  if (status != INDIM_OK) {
    indim_free(cx, slots, capacity * sizeof *pool->slots);
    return status;
  }
  const indim_shape **new_slots = slots;
  uint64_t *new_hashes = hashes;
  for (size_t i = 0; i < pool->capacity; i++) {
    if (pool->slots[i] != NULL) {
      size_t at = (size_t)pool->hashes[i] & (capacity - 1);
      while (new_slots[at] != NULL) {
        at = (at + 1) & (capacity - 1);
      }
      new_slots[at] = pool->slots[i];
      new_hashes[at] = pool->hashes[i];
    }
  }
  indim_free(cx, pool->slots, pool->capacity * sizeof *pool->slots);
  indim_free(cx, pool->hashes, pool->capacity * sizeof *pool->hashes);
  pool->slots = new_slots;
  pool->hashes = new_hashes;
  pool->capacity = capacity;
  return INDIM_OK;
}

indim_status indim_shape_pool_create(indim_arena *arena, indim_shape_pool **out_pool) {
  void *memory = NULL;
  *out_pool = NULL;
  INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_shape_pool), &memory));
  indim_shape_pool *pool = memory;
  pool->arena = arena;
  INDIM_TRY(grow(pool));
  *out_pool = pool;
  return INDIM_OK;
}

void indim_shape_pool_destroy(indim_shape_pool *pool) {
  if (pool != NULL) {
    indim_free(pool->arena->cx, pool->slots, pool->capacity * sizeof *pool->slots);
    indim_free(pool->arena->cx, pool->hashes, pool->capacity * sizeof *pool->hashes);
  }
}

// A copy in the arena; |members| are already there. A physical shape is copied whole.
static indim_status copy_into_arena(indim_shape_pool *pool, const indim_shape *shape, const indim_shape *const *members,
                                    const indim_shape **out_shape) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(pool->arena, sizeof(indim_shape), &memory));
  indim_shape *copy = memory;
  if (shape->member_count > 0) {
    *copy = *shape;
    copy->members = members;
  } else {
    INDIM_TRY(indim_shape_copy(pool->arena, shape, copy));
  }
  *out_shape = copy;
  return INDIM_OK;
}

indim_status indim_shape_pool_intern(indim_shape_pool *pool, const indim_shape *shape, const indim_shape **out_shape) {
  const indim_shape **members = NULL;
  if (shape->member_count > 0) {
    void *memory = NULL;
    INDIM_TRY(indim_arena_array(pool->arena, (size_t)shape->member_count, sizeof *members, &memory));
    members = memory;
    for (int64_t i = 0; i < shape->member_count; i++) {
      INDIM_TRY(indim_shape_pool_intern(pool, shape->members[i], &members[i]));
    }
  }
  uint64_t hash = hash_shape(shape, members);
  size_t at = (size_t)hash & (pool->capacity - 1);
  for (; pool->slots[at] != NULL; at = (at + 1) & (pool->capacity - 1)) {
    if (pool->hashes[at] == hash && same_shape(pool->slots[at], shape, members)) {
      *out_shape = pool->slots[at];
      return INDIM_OK;
    }
  }
  INDIM_TRY(copy_into_arena(pool, shape, members, out_shape));
  pool->slots[at] = *out_shape;
  pool->hashes[at] = hash;
  pool->count++;
  return pool->count * 2 > pool->capacity ? grow(pool) : INDIM_OK;
}
