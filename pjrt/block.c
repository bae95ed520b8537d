// Blocks of memory that buffers share. Large ones are kept when they are freed, for the next of about their size: pages that the
// system has to clear anew cost as much as writing them four times.
#if defined(__linux__)
#define _DEFAULT_SOURCE  // madvise
#endif

#include "plugin.h"

#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

enum {
  LEAST_KEPT = 1 << 16,  // bytes; smaller ones go back to malloc
  STEPS = 4              // bins for each doubling of the size
};
static const size_t most_kept = (size_t)1 << 30;  // bytes in all

static size_t size_of_bin(int bin) {
  size_t low = (size_t)LEAST_KEPT << (bin / STEPS);
  return low + low / STEPS * (size_t)(bin % STEPS + 1);
}

// Bin of a size, and the size that all blocks in it have; -1 for sizes that are not kept.
static int bin_of(size_t size, size_t *out_size) {
  *out_size = (size + PLUGIN_ALIGNMENT - 1) / PLUGIN_ALIGNMENT * PLUGIN_ALIGNMENT;
  if (size < LEAST_KEPT || size > most_kept / 2) {
    return -1;
  }
  int bin = 0;
  while (bin < PLUGIN_BINS && size_of_bin(bin) < size) {
    bin++;
  }
  if (bin == PLUGIN_BINS) {
    return -1;
  }
  *out_size = size_of_bin(bin);
  return bin;
}

static void *take_kept(pjrt_client *client, int bin, size_t size) {
  pthread_mutex_lock(&client->kept_lock);
  plugin_kept *found = client->kept[bin];
  if (found != NULL) {
    client->kept[bin] = found->next;
    client->kept_count[bin]--;
    client->kept_bytes -= size;
  }
  client->kept_used[bin] = ++client->kept_clock;
  pthread_mutex_unlock(&client->kept_lock);
  return found;
}

// Gives back the kept block of |size| bytes at the front of |bin|.
static void drop_kept(pjrt_client *client, int bin, size_t size) {
  plugin_kept *kept = client->kept[bin];
  client->kept[bin] = kept->next;
  client->kept_count[bin]--;
  client->kept_bytes -= size;
  free(kept);
}

// The bin with blocks, other than |bin|, that was not used for the longest time; -1: none.
static int least_used_bin(const pjrt_client *client, int bin) {
  int found = -1;
  for (int i = 0; i < PLUGIN_BINS; i++) {
    bool is_older = found < 0 || client->kept_used[i] < client->kept_used[found];
    found = i != bin && client->kept[i] != NULL && is_older ? i : found;
  }
  return found;
}

static bool keep(pjrt_client *client, void *data, size_t size) {
  size_t whole = 0;
  int bin = bin_of(size, &whole);
  if (bin < 0) {
    return false;
  }
  pthread_mutex_lock(&client->kept_lock);
  // Not more than was ever in use at once, in the sizes of bins. Sizes that are no longer asked for make room, else they would take
  // all of it for good; but not for a block that finds none between those of its own size.
  size_t limit = (size_t)atomic_load(&client->peak_bytes);
  limit += limit / STEPS;
  limit = limit < most_kept ? limit : most_kept;
  client->kept_used[bin] = ++client->kept_clock;
  bool may_fit = (client->kept_count[bin] + 1) * whole <= limit;
  for (int other = least_used_bin(client, bin); may_fit && other >= 0 && client->kept_bytes + whole > limit;
       other = least_used_bin(client, bin)) {
    drop_kept(client, other, size_of_bin(other));
  }
  bool fits = client->kept_bytes + whole <= limit;
  if (fits) {
    plugin_kept *kept = data;
    kept->next = client->kept[bin];
    client->kept[bin] = kept;
    client->kept_count[bin]++;
    client->kept_bytes += whole;
  }
  pthread_mutex_unlock(&client->kept_lock);
  return fits;
}

void plugin_blocks_trim(pjrt_client *client) {
  pthread_mutex_lock(&client->kept_lock);
  for (int bin = 0; bin < PLUGIN_BINS; bin++) {
    while (client->kept[bin] != NULL) {
      plugin_kept *next = client->kept[bin]->next;
      free(client->kept[bin]);
      client->kept[bin] = next;
    }
    client->kept_count[bin] = 0;
  }
  client->kept_bytes = 0;
  pthread_mutex_unlock(&client->kept_lock);
}

static void raise_to(atomic_llong *highest, long long value) {
  long long known = atomic_load(highest);
  while (value > known && !atomic_compare_exchange_weak(highest, &known, value)) {
  }
}

static pjrt_error *create(pjrt_client *client, void *data, size_t size, plugin_block **out_block) {
  plugin_block *block = calloc(1, sizeof *block);
  *out_block = block;
  if (block == NULL) {
    return plugin_no_memory();
  }
  block->client = client;
  block->data = data;
  block->size = size;
  atomic_init(&block->references, 1);
  atomic_init(&block->owners, 1);
  return NULL;
}

// Of large arrays pages of 2 MiB, where the system has them on request: rows of a matrix are a page of 4 KiB each, and looking up where a
// page lies takes as long as reading it.
static void *allocate_anew(size_t whole) {
  static const size_t large_page = (size_t)2 << 20;
  if (whole < large_page) {
    return aligned_alloc(PLUGIN_ALIGNMENT, whole);
  }
  size_t pages = whole / large_page * large_page;
  void *data = aligned_alloc(large_page, pages + (pages < whole ? large_page : 0));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (data != NULL) {
    (void)madvise(data, pages, MADV_HUGEPAGE);
  }
#endif
  return data;
}

static void *allocate(pjrt_client *client, size_t size) {
  size_t whole = 0;
  int bin = bin_of(size, &whole);
  void *data = bin < 0 ? NULL : take_kept(client, bin, whole);
  data = data != NULL ? data : allocate_anew(whole);
  if (data == NULL) {
    plugin_blocks_trim(client);
    data = allocate_anew(whole);
  }
  return data;
}

pjrt_error *plugin_block_create(pjrt_client *client, size_t size, plugin_block **out_block) {
  *out_block = NULL;
  if (size > PTRDIFF_MAX - LEAST_KEPT) {
    return plugin_no_memory();
  }
  // Pointers are not NULL even where there are no bytes: clients hand them on.
  void *data = allocate(client, size == 0 ? 1 : size);
  if (data == NULL) {
    return plugin_error(PJRT_RESOURCE_EXHAUSTED, "no memory for an array of %zu bytes", size);
  }
  pjrt_error *error = create(client, data, size, out_block);
  if (error != NULL) {
    free(data);
    return error;
  }
  raise_to(&client->peak_bytes, atomic_fetch_add(&client->bytes, (long long)size) + (long long)size);
  raise_to(&client->largest_block, (long long)size);
  atomic_fetch_add(&client->blocks, 1);
  return NULL;
}

pjrt_error *plugin_block_foreign(pjrt_client *client, void *data, size_t size, plugin_block **out_block) {
  PLUGIN_TRY(create(client, data, size, out_block));
  (*out_block)->is_foreign = true;
  return NULL;
}

void plugin_block_retain(plugin_block *block) { atomic_fetch_add(&block->references, 1); }

void plugin_block_release(plugin_block *block) {
  if (block == NULL || atomic_fetch_sub(&block->references, 1) != 1) {
    return;
  }
  if (!block->is_foreign) {
    atomic_fetch_sub(&block->client->bytes, (long long)block->size);
    if (!keep(block->client, block->data, block->size == 0 ? 1 : block->size)) {
      free(block->data);
    }
  } else {
    if (block->on_delete != NULL) {
      block->on_delete(block->data, block->on_delete_user);
    }
    if (block->done != NULL) {
      plugin_event_set(block->done, NULL);
      plugin_event_release(block->done);
    }
  }
  free(block);
}

void plugin_block_own(plugin_block *block) {
  plugin_block_retain(block);
  atomic_fetch_add(&block->owners, 1);
}

void plugin_block_disown(plugin_block *block) {
  if (block != NULL) {
    atomic_fetch_sub(&block->owners, 1);
    plugin_block_release(block);
  }
}
