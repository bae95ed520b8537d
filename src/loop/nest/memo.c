// Memoizes values of items at indices within one region.
#include <string.h>

#include "loop/nest/element.h"

// An item at an index: lanes, mask, and two words for each coordinate. It is large: none is kept while values are computed
// one inside the other.
typedef struct memo_key {
  uint64_t hash;
  const indim_flow_item *item;
  int32_t count;
  int64_t words[2 + 2 * INDIM_MAX_RANK];
} memo_key;

typedef struct memo_entry {
  uint64_t hash;
  const indim_flow_item *item;
  const int64_t *words;
  int32_t count;
  indim_value_id value;
} memo_entry;

struct indim_lower_memo {
  memo_entry *entries;
  size_t count, used;
};

static uint64_t hash_key(const indim_flow_item *item, int32_t count, const int64_t *key) {
  uint64_t h = (uint64_t)(uintptr_t)item;
  for (int32_t i = 0; i < count; i++) {
    h = (h ^ (uint64_t)key[i]) * UINT64_C(0x9E3779B97F4A7C15);
    h ^= h >> 29;
  }
  return h;
}

static memo_key key_of(const indim_element_ctx *k, const indim_flow_item *item, const indim_coord *index,
                       indim_value_id mask) {
  memo_key key = {.item = item};
  key.words[key.count++] = k->lanes;
  key.words[key.count++] = mask;
  for (int32_t d = 0; d < item->shape->rank; d++) {
    key.words[key.count++] = index[d].base;
    key.words[key.count++] = index[d].step;
  }
  key.hash = hash_key(item, key.count, key.words);
  return key;
}

static bool is_open(const indim_lowering *l, indim_value_id v) {
  for (const indim_loop_body *body = l->program->values[v].body; body != NULL; body = body->outer) {
    if (body->is_closed) {
      return false;
    }
  }
  return true;
}

static memo_entry *find(indim_lower_memo *memo, const memo_key *key) {
  if (memo->count == 0) {
    return NULL;
  }
  for (size_t at = key->hash & (memo->count - 1);; at = (at + 1) & (memo->count - 1)) {
    memo_entry *entry = &memo->entries[at];
    if (entry->item == NULL || (entry->hash == key->hash && entry->item == key->item && entry->count == key->count &&
                                memcmp(entry->words, key->words, (size_t)key->count * sizeof *key->words) == 0)) {
      return entry;
    }
  }
}

static void grow(indim_lowering *l, indim_lower_memo *memo) {
  size_t count = memo->count == 0 ? 256 : memo->count * 2;
  memo_entry *entries = indim_lower_alloc(l, (int64_t)count, sizeof *entries);
  if (entries == NULL) {
    return;
  }
  for (size_t i = 0; i < memo->count; i++) {
    const memo_entry *entry = &memo->entries[i];
    if (entry->item != NULL) {
      size_t at = entry->hash & (count - 1);
      while (entries[at].item != NULL) {
        at = (at + 1) & (count - 1);
      }
      entries[at] = *entry;
    }
  }
  memo->entries = entries;
  memo->count = count;
}

indim_value_id indim_memo_find(const indim_element_ctx *k, const indim_flow_item *item, const indim_coord *index,
                               indim_value_id mask) {
  memo_key key = key_of(k, item, index, mask);
  const memo_entry *entry = find(k->l->memo, &key);
  return entry != NULL && entry->item != NULL && is_open(k->l, entry->value) ? entry->value : 0;
}

void indim_memo_keep(indim_element_ctx *k, const indim_flow_item *item, const indim_coord *index, indim_value_id mask,
                     indim_value_id value) {
  indim_lower_memo *memo = k->l->memo;
  memo_key key = key_of(k, item, index, mask);
  if (memo->used * 2 >= memo->count) {
    grow(k->l, memo);
  }
  int64_t *words = indim_lower_alloc(k->l, key.count, sizeof *words);
  if (words == NULL || memo->count == 0) {
    return;
  }
  memo_entry *entry = find(memo, &key);
  if (entry->item == NULL) {
    memcpy(words, key.words, (size_t)key.count * sizeof *words);
    *entry = (memo_entry){.hash = key.hash, .item = key.item, .words = words, .count = key.count};
    memo->used++;
  }
  entry->value = value;
}

void indim_element_forget(indim_lowering *l) {
  indim_lower_memo *memo = l->memo;
  if (memo == NULL) {
    l->memo = indim_lower_alloc(l, 1, sizeof *memo);
    return;
  }
  if (memo->used > 0) {
    memset(memo->entries, 0, memo->count * sizeof *memo->entries);
    memo->used = 0;
  }
}
