// The host's sorts against a plain insertion sort: all types of keys with their NaN and zeros, up and down, several keys, columns
// of all widths, lines apart, few elements kept; short lines, long ones, and those that threads share.
#include <stdlib.h>
#include <string.h>

#include "host/sort.h"
#include "run/sort.h"
#include "test.h"

enum { ARRAYS = 2 * INDIM_HOST_SORT_COLUMNS + INDIM_HOST_SORT_KEYS + 1 };

static uint64_t state;

static uint64_t draw(void) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return state >> 33 ^ state << 20;
}

// Whether key |a| comes before key |b|.
static bool precedes(indim_type type, bool descending, const unsigned char *a, const unsigned char *b) {
  int32_t bytes = indim_sort_key_bytes(type);
  uint64_t x = 0, y = 0;
  memcpy(&x, a, (size_t)bytes);
  memcpy(&y, b, (size_t)bytes);
  uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
  if (type == INDIM_PRED) {
    x = x != 0;
    y = y != 0;
  } else if (type == INDIM_F16 || type == INDIM_BF16 || type == INDIM_F32 || type == INDIM_F64) {
    x = (x & sign) != 0 ? ~x & (2 * sign - 1) : x | sign;
    y = (y & sign) != 0 ? ~y & (2 * sign - 1) : y | sign;
  } else if (type == INDIM_S8 || type == INDIM_S16 || type == INDIM_S32 || type == INDIM_S64) {
    x ^= sign;
    y ^= sign;
  }
  return descending ? y < x : x < y;
}

static bool element_precedes(const indim_host_sort *p, void *const *keys, int64_t a, int64_t b) {
  for (int64_t k = 0; k < p->key_count; k++) {
    indim_type type = (indim_type)p->key_types[k];
    bool descending = (p->descending >> k & 1) != 0;
    const unsigned char *data = keys[k];
    const unsigned char *x = data + a * indim_sort_key_bytes(type);
    const unsigned char *y = data + b * indim_sort_key_bytes(type);
    if (precedes(type, descending, x, y) || precedes(type, descending, y, x)) {
      return precedes(type, descending, x, y);
    }
  }
  return false;
}

// Elements as arrays have them, merged by halves.
static void sort_plainly(const indim_host_sort *p, void *const *keys, int64_t *list, int64_t count, int64_t *room) {
  int64_t half = count / 2;
  if (count < 2) {
    return;
  }
  sort_plainly(p, keys, list, half, room);
  sort_plainly(p, keys, list + half, count - half, room);
  for (int64_t i = 0, j = half, at = 0; at < count; at++) {
    bool takes_right = i == half || (j < count && element_precedes(p, keys, list[j], list[i]));
    room[at] = takes_right ? list[j++] : list[i++];
  }
  memcpy(list, room, (size_t)count * sizeof *list);
}

static void run_backwards(void *user, void (*piece)(void *, int64_t, int64_t), void *frame, int64_t count,
                          int64_t grain) {
  (void)user;
  for (int64_t begin = (count - 1) / grain * grain; begin >= 0; begin -= grain) {
    piece(frame, begin, begin + grain < count ? begin + grain : count);
  }
}

// Random bits, or few different ones.
static void fill(unsigned char *data, int64_t bytes, uint64_t mask) {
  for (int64_t i = 0; i < bytes; i++) {
    data[i] = (unsigned char)(draw() & mask);
  }
}

static void check_line(const indim_host_sort *p, void *const *arrays, void *const *columns, int64_t line) {
  int64_t first = line / p->inner * p->inner * p->size + line % p->inner;
  int64_t to = line / p->inner * p->inner * p->kept + line % p->inner;
  int64_t *list = malloc(2 * (size_t)p->size * sizeof *list);
  REQUIRE(list != NULL);
  for (int64_t i = 0; i < p->size; i++) {
    list[i] = first + i * p->inner;
  }
  sort_plainly(p, arrays + p->column_count + 1, list, p->size, list + p->size);
  bool same = true;
  for (int64_t c = 0; c < p->column_count; c++) {
    for (int64_t i = 0; i < p->kept; i++) {
      size_t bytes = p->column_bytes[c] == 0 ? 4 : (size_t)p->column_bytes[c];
      int32_t index = (int32_t)((list[i] - first) / p->inner);
      const unsigned char *wanted = p->column_bytes[c] == 0
                                        ? (const unsigned char *)&index
                                        : (const unsigned char *)columns[c] + (size_t)list[i] * bytes;
      same = same && memcmp((unsigned char *)arrays[c] + (size_t)(to + i * p->inner) * bytes, wanted, bytes) == 0;
    }
  }
  CHECK_MSG(same, "outer %d, size %d, inner %d, kept %d, key 0 %s of %d, descending %d, columns %d", (int)p->outer,
            (int)p->size, (int)p->inner, (int)p->kept, indim_type_text((indim_type)p->key_types[0]), (int)p->key_count,
            (int)p->descending, (int)p->column_count);
  free(list);
}

// |mask| of the keys' bytes. |are_keys|: the single column is the array of the key.
static void check_keys(const indim_host_sort *p, uint64_t mask, bool are_keys) {
  void *arrays[ARRAYS] = {NULL};
  void *columns[INDIM_HOST_SORT_COLUMNS] = {NULL};
  int64_t all = p->outer * p->size * p->inner;
  int32_t count = 0;
  for (int64_t c = 0; c < p->column_count; c++) {
    arrays[count++] = malloc((size_t)(p->outer * p->kept * p->inner * 16 + 1));
  }
  arrays[count++] = malloc((size_t)(indim_sort_room(p) * indim_sort_pieces(p)) * sizeof(uint64_t) + 1);
  for (int64_t k = 0; k < p->key_count; k++) {
    arrays[count] = malloc((size_t)all * 8 + 1);
    REQUIRE(arrays[count] != NULL);
    fill(arrays[count++], all * 8, mask);
  }
  if (are_keys) {
    columns[0] = arrays[count] = arrays[count - 1];
  }
  for (int64_t c = 0; c < p->column_count && !are_keys; c++) {
    if (p->column_bytes[c] > 0) {
      columns[c] = arrays[count] = malloc((size_t)(all * p->column_bytes[c]) + 1);
      REQUIRE(arrays[count] != NULL);
      fill(arrays[count++], all * p->column_bytes[c], 255);
    }
  }
  for (int threads = 0; threads < 2; threads++) {
    const indim_sort_context context = {.parallel = threads == 0 ? NULL : run_backwards};
    for (int64_t c = 0; c < p->column_count; c++) {
      memset(arrays[c], 170,
             (size_t)(p->outer * p->kept * p->inner * (p->column_bytes[c] == 0 ? 4 : p->column_bytes[c])));
    }
    CHECK_EQ_INT(indim_sort_run(&context, p, arrays), INDIM_HOST_OK);
    for (int64_t line = 0; line < p->outer * p->inner; line++) {
      check_line(p, arrays, columns, line);
    }
  }
  while (count > 0) {
    free(arrays[--count]);
  }
}

static void check(const indim_host_sort *p, uint64_t mask) { check_keys(p, mask, false); }

static const indim_type types[] = {INDIM_PRED, INDIM_S8,  INDIM_U8,  INDIM_S16, INDIM_U16, INDIM_F16, INDIM_BF16,
                                   INDIM_S32,  INDIM_U32, INDIM_F32, INDIM_S64, INDIM_U64, INDIM_F64};
enum { TYPES = sizeof types / sizeof *types };

TEST(every_type_and_size) {
  static const int64_t sizes[] = {1, 2, 7, 8, 9, 16, 63, 100, 399, 400, 1000};
  state = 1;
  for (int t = 0; t < TYPES; t++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      indim_host_sort p = {.outer = 1 + (int64_t)(draw() % 3), .size = sizes[i], .inner = 1 + (int64_t)(draw() % 3)};
      p.kept = p.size;
      p.key_count = 1;
      p.key_types[0] = types[t];
      p.descending = (int64_t)(draw() % 2);
      p.column_count = 1 + (int64_t)(draw() % 3);
      for (int64_t c = 0; c < p.column_count; c++) {
        p.column_bytes[c] = (INT64_C(1) << draw() % 6) / 2;
      }
      check(&p, i % 3 == 0 ? 129 : 255);
    }
  }
}

TEST(elements_that_are_keys) {
  static const int64_t sizes[] = {1, 7, 9, 100, 399, 799, 800, 1500, 40000};
  state = 5;
  for (int t = 0; t < TYPES; t++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      bool is_long = sizes[i] > 10000;
      indim_host_sort p = {.outer = is_long ? 1 : 2, .size = sizes[i], .key_count = 1, .column_count = 1};
      p.inner = is_long ? 1 : 1 + (int64_t)(draw() % 3);
      p.kept = p.size - (int64_t)(draw() % 2);
      p.key_types[0] = types[t];
      p.descending = (int64_t)(draw() % 2);
      p.column_bytes[0] = indim_sort_key_bytes(types[t]);
      check_keys(&p, i % 3 == 0 ? 129 : 255, true);
    }
  }
}

TEST(several_keys) {
  state = 2;
  for (int i = 0; i < 40; i++) {
    indim_host_sort p = {
        .outer = 2, .size = 1 + (int64_t)(draw() % 900), .inner = 1, .column_count = 1, .column_bytes = {8}};
    p.kept = p.size;
    p.key_count = 2 + (int64_t)(draw() % 3);
    p.descending = (int64_t)(draw() % 16);
    for (int64_t k = 0; k < p.key_count; k++) {
      p.key_types[k] = types[draw() % TYPES];
    }
    check(&p, 1);
  }
}

TEST(few_are_kept) {
  static const int64_t kept[] = {0, 1, 2, 8, 64, 65, 200};
  state = 3;
  for (int t = 0; t < TYPES; t++) {
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
      indim_host_sort p = {
          .outer = 3, .size = 300 + (int64_t)(draw() % 4000), .inner = 1, .kept = kept[i], .key_count = 1};
      p.key_types[0] = types[t];
      p.descending = (int64_t)(draw() % 2);
      p.column_count = 2;
      p.column_bytes[0] = 4;
      check(&p, i % 2 == 0 ? 3 : 255);
    }
  }
}

TEST(long_lines_are_shared) {
  state = 4;
  for (int t = 0; t < TYPES; t++) {
    indim_host_sort p = {
        .outer = 1, .size = 33000 + 1111 * t, .inner = 1, .key_count = 1, .column_count = 1, .column_bytes = {4}};
    p.kept = p.size - t;
    p.key_types[0] = types[t];
    p.descending = t % 2;
    check(&p, t % 3 == 0 ? 7 : 255);
  }
}

TEST(senseless_numbers_fail) {
  const indim_host_sort good = {.outer = 1,
                                .size = 2,
                                .inner = 1,
                                .kept = 2,
                                .key_count = 1,
                                .key_types = {INDIM_F32},
                                .column_count = 1,
                                .column_bytes = {4}};
  const indim_sort_context context = {NULL, NULL, NULL};
  indim_host_sort bad[7] = {good, good, good, good, good, good, good};
  bad[0].kept = 3;
  bad[1].key_types[0] = INDIM_C64;
  bad[2].key_count = 5;
  bad[3].column_count = 9;
  bad[4].column_bytes[0] = 3;
  bad[5].size = -1;
  bad[6].outer = -1;
  for (int i = 0; i < 7; i++) {
    CHECK_EQ_INT(indim_sort_run(&context, &bad[i], NULL), INDIM_HOST_FAILED);
  }
}

#define CASES(X)            \
  X(every_type_and_size)    \
  X(elements_that_are_keys) \
  X(several_keys)           \
  X(few_are_kept)           \
  X(long_lines_are_shared)  \
  X(senseless_numbers_fail)

TEST_MAIN(CASES)
