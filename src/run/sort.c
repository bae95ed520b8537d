// Sorting by plain keys. What is sorted are words: 32 bits of a key, as unsigned numbers have their order, above the index of
// the element, or above the element itself where that is all; or a key of 64 bits that is the element. Long lines are sorted by
// digits, the lowest first (LSD radix sort), but for digits that are equal in all words; short ones by merging runs of eight,
// which are made by counting. All of that is stable, so another key of 64 bits is two, and of several keys the last one is
// sorted by first. Where few elements are kept, words below the last of those found so far are collected, and sorted when there
// is room for no more.
#include "run/sort.h"

#include <stdbool.h>
#include <string.h>

#include "host/sort.h"

enum {
  RUN = 8,
  KEY_BIT = 32,  // of a word, from which on it is the key
  DIGIT_BITS = 8,
  VALUES = 1 << DIGIT_BITS,
  LEAST_BY_DIGITS = 400,   // words; fewer are merged
  LEAST_SHARED = 1 << 15,  // words of a line that several threads sort
  CHUNK = 64,              // keys that are compared with the last one kept at once,
  PART = 16,               // and so many of them again, where one is below it
  MOST_INSERTED = 64       // kept words that others are inserted among
};

// What the words are made with.
typedef enum payload { INDEX, VALUE, AS_BEFORE, NONE } payload;

// One line, and the step of sorting it that its pieces are given.
typedef struct line {
  const indim_host_sort *p;
  void *const *arrays;
  int64_t number;      // among the lines
  uint64_t *words[2];  // what is sorted is in the first
  int64_t count;       // of words
  int64_t pieces;
  int32_t key, shift;  // the part of the key
  payload payload;
  uint32_t (*counts)[VALUES];  // for each piece
} line;

typedef void step_fn(void *frame, int64_t begin, int64_t end);

// The number of a line's first element in an array of lines of |size|.
static int64_t first_of(const line *l, int64_t size) {
  return l->number / l->p->inner * l->p->inner * size + l->number % l->p->inner;
}

static const unsigned char *key_data(const line *l, int32_t key) {
  const unsigned char *data = l->arrays[l->p->column_count + 1 + key];
  return data + first_of(l, l->p->size) * indim_sort_key_bytes(l->p->key_types[key]);
}

// The elements of a column; NULL for indices.
static const unsigned char *column_data(const line *l, int64_t column) {
  int64_t at = l->p->column_count + 1 + l->p->key_count;
  for (int64_t c = 0; c < column; c++) {
    at += l->p->column_bytes[c] != 0;
  }
  int64_t bytes = l->p->column_bytes[column];
  return bytes == 0 ? NULL : (const unsigned char *)l->arrays[at] + first_of(l, l->p->size) * bytes;
}

// Words ------------------------------------------------------------------------------------------------------------------

// How keys become unsigned numbers: xored with |flip|, and where the highest bit is set with |negative|.
typedef struct mapping {
  int32_t top;
  uint64_t flip, negative;
} mapping;

static mapping mapping_of(const indim_host_sort *p, int32_t key) {
  int32_t bits = 8 * indim_sort_key_bytes(p->key_types[key]);
  uint64_t all = UINT64_MAX >> (64 - bits);
  uint64_t sign = UINT64_C(1) << (bits - 1);
  int64_t type = p->key_types[key];
  mapping m = {.top = bits - 1};
  if (type == INDIM_HOST_F16 || type == INDIM_HOST_BF16 || type == INDIM_HOST_F32 || type == INDIM_HOST_F64) {
    m = (mapping){bits - 1, sign, all};
  } else if (type == INDIM_HOST_S8 || type == INDIM_HOST_S16 || type == INDIM_HOST_S32 || type == INDIM_HOST_S64) {
    m = (mapping){bits - 1, sign, sign};
  }
  if ((p->descending >> key & 1) != 0) {
    m.flip ^= all;
    m.negative ^= all;
  }
  return m;
}

static inline uint64_t mapped(mapping m, uint64_t x) {
  return x ^ m.flip ^ ((m.flip ^ m.negative) & (0 - (x >> m.top & 1)));
}

// What becomes |x| by that. |flip| and |negative| have the highest bit in common.
static inline uint64_t unmapped(mapping m, uint64_t x) {
  bool was_negative = ((x ^ m.flip) >> m.top & 1) != 0;
  return x ^ (was_negative ? m.negative : m.flip);
}

static inline uint64_t load_8(const unsigned char *at) { return *at; }
static inline uint64_t load_pred(const unsigned char *at) { return *at != 0; }
static inline uint64_t load_16(const unsigned char *at) {
  uint16_t x = 0;
  memcpy(&x, at, sizeof x);
  return x;
}
static inline uint64_t load_32(const unsigned char *at) {
  uint32_t x = 0;
  memcpy(&x, at, sizeof x);
  return x;
}
static inline uint64_t load_64(const unsigned char *at) {
  uint64_t x = 0;
  memcpy(&x, at, sizeof x);
  return x;
}

static inline uint64_t load_value(const unsigned char *data, int64_t bytes, int64_t i) {
  return bytes == 4 ? load_32(data + 4 * i) : bytes == 2 ? load_16(data + 2 * i) : data[i];
}

// Words |begin| to |end|, of keys of one type.
#define DEFINE_FILL(NAME, BYTES)                                                                                      \
  static void fill_##NAME(const line *l, int64_t begin, int64_t end) {                                                \
    const unsigned char *keys = key_data(l, l->key);                                                                  \
    const unsigned char *values = column_data(l, 0);                                                                  \
    int64_t value_bytes = l->p->column_bytes[0];                                                                      \
    int64_t apart = l->p->inner;                                                                                      \
    mapping m = mapping_of(l->p, l->key);                                                                             \
    int32_t shift = l->shift;                                                                                         \
    uint64_t *words = l->words[0];                                                                                    \
    for (int64_t i = begin; i < end && l->payload == INDEX; i++) {                                                    \
      words[i] = mapped(m, load_##NAME(keys + (BYTES)*i * apart)) >> shift << 32 | (uint64_t)i;                       \
    }                                                                                                                 \
    for (int64_t i = begin; i < end && l->payload == VALUE; i++) {                                                    \
      words[i] = mapped(m, load_##NAME(keys + (BYTES)*i * apart)) << 32 | load_value(values, value_bytes, i * apart); \
    }                                                                                                                 \
    for (int64_t i = begin; i < end && l->payload == NONE; i++) {                                                     \
      words[i] = mapped(m, load_##NAME(keys + (BYTES)*i * apart));                                                    \
    }                                                                                                                 \
    for (int64_t i = begin; i < end && l->payload == AS_BEFORE; i++) {                                                \
      int64_t at = (int64_t)(words[i] & UINT32_MAX);                                                                  \
      words[i] = mapped(m, load_##NAME(keys + (BYTES)*at * apart)) >> shift << 32 | (uint64_t)at;                     \
    }                                                                                                                 \
  }
DEFINE_FILL(8, 1)
DEFINE_FILL(pred, 1)
DEFINE_FILL(16, 2)
DEFINE_FILL(32, 4)
DEFINE_FILL(64, 8)

static void fill(void *frame, int64_t begin, int64_t end) {
  const line *l = frame;
  int64_t type = l->p->key_types[l->key];
  begin = l->count * begin / l->pieces;
  end = l->count * end / l->pieces;
  switch (indim_sort_key_bytes(type)) {
  case 1:
    (type == INDIM_HOST_PRED ? fill_pred : fill_8)(l, begin, end);
    break;
  case 2:
    fill_16(l, begin, end);
    break;
  case 4:
    fill_32(l, begin, end);
    break;
  default:
    fill_64(l, begin, end);
    break;
  }
}

// Short lines --------------------------------------------------------------------------------------------------------------

static inline uint32_t key_of(uint64_t word) { return (uint32_t)(word >> 32); }
// By what counts of them.
static inline bool is_below(uint64_t x, uint64_t y, int32_t low) { return low == 0 ? x < y : key_of(x) < key_of(y); }

static inline int32_t lowest_bit(const line *l) { return l->payload == NONE ? 0 : KEY_BIT; }

// The compiler makes a copy of what follows for each lowest bit.
#define INLINE static inline __attribute__((always_inline))

INLINE void sort_run(const uint64_t *in, int32_t low, uint64_t *out) {
  int32_t ranks[RUN] = {0};
  for (int32_t j = 1; j < RUN; j++) {
    for (int32_t h = 0; h < j; h++) {
      int32_t precedes = is_below(in[j], in[h], low);
      ranks[h] += precedes;
      ranks[j] += 1 - precedes;
    }
  }
  for (int32_t j = 0; j < RUN; j++) {
    out[ranks[j]] = in[j];
  }
}

INLINE void insertion_sort(const uint64_t *in, int64_t count, int32_t low, uint64_t *out) {
  for (int64_t i = 0; i < count; i++) {
    int64_t at = i;
    for (; at > 0 && is_below(in[i], out[at - 1], low); at--) {
      out[at] = out[at - 1];
    }
    out[at] = in[i];
  }
}

// The second of two words if |takes_second|, without a branch that nobody could predict.
static inline uint64_t choose(uint64_t first, uint64_t second, bool takes_second) {
  return first ^ ((first ^ second) & (0 - (uint64_t)takes_second));
}

// From both ends as many as the shorter run has, neither of which can have ended before; then what is left in the middle.
INLINE void merge(const uint64_t *left, int64_t left_count, const uint64_t *right, int64_t right_count, int32_t low,
                  uint64_t *out) {
  int64_t count = left_count < right_count ? left_count : right_count;
  int64_t last = left_count + right_count - 1;
  int64_t taken = 0;       // of the right run, from the front
  int64_t left_taken = 0;  // of the left run, from the back
  for (int64_t j = 0; j < count; j++) {
    uint64_t x = left[j - taken];
    uint64_t y = right[taken];
    bool precedes = is_below(y, x, low);
    out[j] = choose(x, y, precedes);
    taken += precedes;
    x = left[left_count - 1 - left_taken];
    y = right[right_count - 1 - (j - left_taken)];
    precedes = is_below(y, x, low);
    out[last - j] = choose(y, x, precedes);
    left_taken += precedes;
  }
  int64_t i = count - taken;
  int64_t left_end = left_count - left_taken;
  int64_t right_end = right_count - (count - left_taken);
  for (int64_t at = count; at <= last - count; at++) {
    bool takes_right = i == left_end || (taken < right_end && is_below(right[taken], left[i], low));
    out[at] = takes_right ? right[taken] : left[i];
    taken += takes_right;
    i += !takes_right;
  }
}

static void swap_words(line *l) {
  uint64_t *words = l->words[0];
  l->words[0] = l->words[1];
  l->words[1] = words;
}

INLINE void merge_runs(line *l, int32_t low) {
  int64_t count = l->count;
  int64_t whole = count / RUN * RUN;
  for (int64_t i = 0; i < whole; i += RUN) {
    sort_run(l->words[0] + i, low, l->words[1] + i);
  }
  insertion_sort(l->words[0] + whole, count - whole, low, l->words[1] + whole);
  swap_words(l);
  for (int64_t run = RUN; run < count; run *= 2) {
    const uint64_t *in = l->words[0];
    for (int64_t i = 0; i < count; i += 2 * run) {
      int64_t left = count - i < run ? count - i : run;
      int64_t right = count - i - left < run ? count - i - left : run;
      merge(in + i, left, in + i + left, right, low, l->words[1] + i);
    }
    swap_words(l);
  }
}

// Functions of their own, which have the registers for themselves.
__attribute__((noinline)) static void merge_words(line *l) { merge_runs(l, 0); }
__attribute__((noinline)) static void merge_keys(line *l) { merge_runs(l, KEY_BIT); }

static void sort_by_merging(line *l) { (l->payload == NONE ? merge_words : merge_keys)(l); }

// Long lines ---------------------------------------------------------------------------------------------------------------

static inline int64_t digit_of(uint64_t word, int32_t shift) { return (int64_t)(word >> shift & (VALUES - 1)); }

static void count_digits(void *frame, int64_t begin, int64_t end) {
  const line *l = frame;
  for (int64_t piece = begin; piece < end; piece++) {
    uint32_t *counts = l->counts[piece];
    memset(counts, 0, VALUES * sizeof *counts);
    for (int64_t i = l->count * piece / l->pieces; i < l->count * (piece + 1) / l->pieces; i++) {
      counts[digit_of(l->words[0][i], l->shift)]++;
    }
  }
}

static void move_words(void *frame, int64_t begin, int64_t end) {
  const line *l = frame;
  for (int64_t piece = begin; piece < end; piece++) {
    uint32_t *counts = l->counts[piece];
    for (int64_t i = l->count * piece / l->pieces; i < l->count * (piece + 1) / l->pieces; i++) {
      uint64_t word = l->words[0][i];
      l->words[1][counts[digit_of(word, l->shift)]++] = word;
    }
  }
}

// From how many words of a piece have each digit to where the first of them goes. False if all words have the same digit.
static bool place_digits(const line *l) {
  uint32_t at = 0;
  for (int32_t v = 0; v < VALUES; v++) {
    uint32_t first = at;
    for (int64_t piece = 0; piece < l->pieces; piece++) {
      uint32_t count = l->counts[piece][v];
      l->counts[piece][v] = at;
      at += count;
    }
    if (at - first == (uint32_t)l->count) {
      return false;
    }
  }
  return true;
}

static void each_piece(const indim_sort_context *context, line *l, step_fn *step) {
  if (l->pieces == 1) {
    step(l, 0, 1);
  } else {
    context->parallel(context->parallel_user, step, l, l->pieces, 1);
  }
}

static void sort_by_digits(const indim_sort_context *context, line *l) {
  for (l->shift = lowest_bit(l); l->shift < 64; l->shift += DIGIT_BITS) {
    each_piece(context, l, count_digits);
    if (place_digits(l)) {
      each_piece(context, l, move_words);
      swap_words(l);
    }
  }
}

static bool stops(const indim_sort_context *context) { return context->stop != NULL && *context->stop != 0; }

// Of a single piece all digits are counted at once.
INLINE void count_all(const line *l, int32_t low, uint32_t (*counts)[VALUES]) {
  for (int64_t i = 0; i < l->count; i++) {
    for (int32_t d = 0; d < (64 - low) / DIGIT_BITS; d++) {
      counts[d][digit_of(l->words[0][i], low + d * DIGIT_BITS)]++;
    }
  }
}

static void sort_piece_by_digits(const indim_sort_context *context, line *l) {
  uint32_t counts[64 / DIGIT_BITS][VALUES];
  int32_t low = lowest_bit(l);
  memset(counts, 0, sizeof counts);
  if (low == 0) {
    count_all(l, 0, counts);
  } else {
    count_all(l, KEY_BIT, counts);
  }
  for (int32_t d = 0; d < (64 - low) / DIGIT_BITS && !stops(context); d++) {
    l->counts = &counts[d];
    l->shift = low + d * DIGIT_BITS;
    if (place_digits(l)) {
      move_words(l, 0, 1);
      swap_words(l);
    }
  }
}

static void sort_words(const indim_sort_context *context, line *l) {
  uint32_t counts[INDIM_SORT_PIECES][VALUES];
  if (l->count < (l->payload == NONE ? 2 * LEAST_BY_DIGITS : LEAST_BY_DIGITS)) {
    sort_by_merging(l);
  } else if (l->pieces == 1) {
    sort_piece_by_digits(context, l);
  } else {
    l->counts = counts;
    sort_by_digits(context, l);
  }
}

// Results ------------------------------------------------------------------------------------------------------------------

typedef struct wide_element {
  uint64_t halves[2];
} wide_element;

#define GATHER(TYPE)                                                                                      \
  for (int64_t i = begin; i < end; i++) {                                                                 \
    memcpy(to + (size_t)(i * apart) * sizeof(TYPE), from + (words[i] & UINT32_MAX) * step, sizeof(TYPE)); \
  }

// Elements |apart| from one to the next.
static void gather(const unsigned char *from, int64_t bytes, const uint64_t *words, int64_t begin, int64_t end,
                   unsigned char *to, int64_t apart) {
  size_t step = (size_t)(bytes * apart);
  switch (bytes) {
  case 1:
    GATHER(uint8_t)
    break;
  case 2:
    GATHER(uint16_t)
    break;
  case 4:
    GATHER(uint32_t)
    break;
  case 8:
    GATHER(uint64_t)
    break;
  default:
    GATHER(wide_element)
    break;
  }
}

// What the words have below the keys.
static void unpack(int64_t bytes, const uint64_t *words, int64_t begin, int64_t end, unsigned char *to, int64_t apart) {
  for (int64_t i = begin; i < end && bytes == 4; i++) {
    uint32_t x = (uint32_t)words[i];
    memcpy(to + 4 * i * apart, &x, sizeof x);
  }
  for (int64_t i = begin; i < end && bytes == 2; i++) {
    uint16_t x = (uint16_t)words[i];
    memcpy(to + 2 * i * apart, &x, sizeof x);
  }
  for (int64_t i = begin; i < end && bytes == 1; i++) {
    to[i * apart] = (unsigned char)words[i];
  }
}

// The keys that the words are.
static void store_keys(const line *l, int64_t begin, int64_t end, unsigned char *to) {
  mapping m = mapping_of(l->p, 0);
  for (int64_t i = begin; i < end; i++) {
    uint64_t x = unmapped(m, l->words[0][i]);
    memcpy(to + (size_t)(i * l->p->inner) * sizeof x, &x, sizeof x);
  }
}

static void store(void *frame, int64_t begin, int64_t end) {
  const line *l = frame;
  int64_t kept = l->p->kept;
  begin = kept * begin / l->pieces;
  end = kept * end / l->pieces;
  for (int64_t c = 0; c < l->p->column_count; c++) {
    int64_t bytes = l->p->column_bytes[c];
    int64_t stored = bytes == 0 ? (int64_t)sizeof(int32_t) : bytes;
    unsigned char *to = (unsigned char *)l->arrays[c] + first_of(l, kept) * stored;
    if (l->payload == NONE) {
      store_keys(l, begin, end, to);
    } else if (bytes == 0 || l->payload == VALUE) {
      unpack(stored, l->words[0], begin, end, to, l->p->inner);
    } else {
      gather(column_data(l, c), bytes, l->words[0], begin, end, to, l->p->inner);
    }
  }
}

// Selection ----------------------------------------------------------------------------------------------------------------

// Whether one of |count| keys is below |limit|.
#define ANY_BELOW(NAME, TYPE)                                                                          \
  static inline bool any_##NAME(const unsigned char *keys, int32_t count, mapping m, uint32_t limit) { \
    TYPE found = 0;                                                                                    \
    TYPE flip = (TYPE)m.flip;                                                                          \
    TYPE toggle = (TYPE)(m.flip ^ m.negative);                                                         \
    TYPE most = (TYPE)limit;                                                                           \
    for (int32_t i = 0; i < count; i++) {                                                              \
      TYPE x;                                                                                          \
      memcpy(&x, keys + (size_t)i * sizeof x, sizeof x);                                               \
      x = (TYPE)(x ^ flip ^ (toggle & (TYPE)(0 - (TYPE)(x >> (8 * sizeof x - 1)))));                   \
      found = (TYPE)(found | (TYPE)(x < most));                                                        \
    }                                                                                                  \
    return found != 0;                                                                                 \
  }
ANY_BELOW(8, uint8_t)
ANY_BELOW(16, uint16_t)
ANY_BELOW(32, uint32_t)

static inline uint64_t load_key(int64_t type, const unsigned char *keys, int64_t i) {
  switch (indim_sort_key_bytes(type)) {
  case 1:
    return type == INDIM_HOST_PRED ? load_pred(keys + i) : load_8(keys + i);
  case 2:
    return load_16(keys + 2 * i);
  default:
    return load_32(keys + 4 * i);
  }
}

typedef struct selection {
  line *l;
  const unsigned char *keys;
  int64_t type;
  mapping m;
  uint64_t limit;  // what is to be kept is below it
} selection;

// Whether there may be keys below the limit among |count| from |at| on.
static inline bool may_have_below(const selection *s, int64_t at, int32_t count) {
  if (s->limit > UINT32_MAX || s->type == INDIM_HOST_PRED || s->l->p->size - at < count) {
    return true;
  }
  switch (indim_sort_key_bytes(s->type)) {
  case 1:
    return any_8(s->keys + at, count, s->m, (uint32_t)s->limit);
  case 2:
    return any_16(s->keys + 2 * at, count, s->m, (uint32_t)s->limit);
  default:
    return any_32(s->keys + 4 * at, count, s->m, (uint32_t)s->limit);
  }
}

// Behind those that it is not below; the last one goes.
static void insert_word(selection *s, uint64_t word) {
  line *l = s->l;
  uint64_t *words = l->words[0];
  int64_t at = l->count < l->p->kept ? l->count++ : l->p->kept - 1;
  for (; at > 0 && key_of(word) < key_of(words[at - 1]); at--) {
    words[at] = words[at - 1];
  }
  words[at] = word;
  s->limit = l->count < l->p->kept ? s->limit : key_of(words[l->p->kept - 1]);
}

static void add_word(const indim_sort_context *context, selection *s, uint64_t word) {
  line *l = s->l;
  l->words[0][l->count++] = word;
  if (l->count == 2 * l->p->kept + INDIM_SORT_SLACK) {
    sort_words(context, l);
    l->count = l->p->kept;
    s->limit = key_of(l->words[0][l->p->kept - 1]);
  }
}

// Of keys that are equal the first are kept: later ones have to be below the last one.
static void select_words(const indim_sort_context *context, line *l) {
  int64_t size = l->p->size;
  bool inserts = l->p->kept <= MOST_INSERTED;
  selection s = {l, key_data(l, 0), l->p->key_types[0], mapping_of(l->p, 0), UINT64_C(1) << 32};
  l->count = 0;
  for (int64_t at = 0; at < size && l->p->kept > 0; at += PART) {
    if (at % CHUNK == 0 && stops(context)) {
      return;
    }
    if (at % CHUNK == 0 && !may_have_below(&s, at, CHUNK)) {
      at += CHUNK - PART;
      continue;
    }
    int64_t end = may_have_below(&s, at, PART) ? size - at < PART ? size : at + PART : at;
    for (int64_t i = at; i < end; i++) {
      uint64_t key = mapped(s.m, load_key(s.type, s.keys, i));
      if (key >= s.limit) {
        continue;
      }
      if (inserts) {
        insert_word(&s, key << 32 | (uint64_t)i);
      } else {
        add_word(context, &s, key << 32 | (uint64_t)i);
      }
    }
  }
  if (!inserts) {
    sort_words(context, l);
  }
}

// Lines --------------------------------------------------------------------------------------------------------------------

// Whether the elements of a line are its keys, of 64 bits.
static bool are_wide_keys(const line *l) {
  const indim_host_sort *p = l->p;
  return p->key_count == 1 && p->column_count == 1 && p->column_bytes[0] == 8 &&
         indim_sort_key_bytes(p->key_types[0]) == 8 && key_data(l, 0) == column_data(l, 0);
}

static payload first_payload(const line *l) {
  bool is_single = l->p->key_count == 1 && indim_sort_key_bytes(l->p->key_types[0]) <= 4;
  bool is_small = l->p->column_count == 1 && l->p->column_bytes[0] <= 4 && l->p->column_bytes[0] > 0;
  return are_wide_keys(l) ? NONE : is_single && is_small ? VALUE : INDEX;
}

// The keys from the last to the first, those of 64 bits that are not all of a word in two parts, the lower one first.
static void sort_all(const indim_sort_context *context, line *l) {
  payload first = first_payload(l), next = first;
  int32_t part = first == NONE ? 64 : 32;  // bits
  l->count = l->p->size;
  for (l->key = (int32_t)l->p->key_count - 1; l->key >= 0; l->key--) {
    int32_t bits = 8 * indim_sort_key_bytes(l->p->key_types[l->key]);
    for (int32_t shift = 0; shift < bits && !stops(context); shift += part) {
      l->shift = shift;
      l->payload = next;
      each_piece(context, l, fill);
      sort_words(context, l);
      next = AS_BEFORE;
    }
  }
  l->payload = first;
}

typedef struct lines {
  const indim_sort_context *context;
  const indim_host_sort *p;
  void *const *arrays;
  int64_t count, pieces;  // of the lines
} lines;

static void sort_line(const lines *s, int64_t number, int64_t piece, int64_t pieces) {
  int64_t room = indim_sort_room(s->p);
  uint64_t *words = (uint64_t *)s->arrays[s->p->column_count] + piece * room;
  line l = {.p = s->p, .arrays = s->arrays, .number = number, .words = {words, words + room / 2}, .pieces = pieces};
  if (indim_sort_selects(s->p)) {
    select_words(s->context, &l);
  } else {
    sort_all(s->context, &l);
  }
  if (!stops(s->context)) {
    each_piece(s->context, &l, store);
  }
}

static void sort_lines(void *frame, int64_t begin, int64_t end) {
  const lines *s = frame;
  for (int64_t piece = begin; piece < end; piece++) {
    for (int64_t i = s->count * piece / s->pieces; i < s->count * (piece + 1) / s->pieces; i++) {
      if (!stops(s->context)) {
        sort_line(s, i, piece, 1);
      }
    }
  }
}

static bool is_valid(const indim_host_sort *p) {
  bool is = p->outer >= 0 && p->inner >= 0 && p->size >= 0 && p->size <= INT32_MAX && p->kept >= 0 &&
            p->kept <= p->size && p->key_count >= 1 && p->key_count <= INDIM_HOST_SORT_KEYS && p->column_count >= 1 &&
            p->column_count <= INDIM_HOST_SORT_COLUMNS;
  for (int64_t k = 0; k < p->key_count && is; k++) {
    is = indim_sort_key_bytes(p->key_types[k]) > 0;
  }
  for (int64_t c = 0; c < p->column_count && is; c++) {
    int64_t bytes = p->column_bytes[c];
    is = bytes >= 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0;
  }
  return is;
}

int32_t indim_sort_run(const indim_sort_context *context, const indim_host_sort *numbers, void *const *arrays) {
  if (!is_valid(numbers)) {
    return INDIM_HOST_FAILED;
  }
  lines s = {context, numbers, arrays, indim_sort_line_count(numbers), indim_sort_pieces(numbers)};
  if (numbers->size == 0 || s.count == 0) {
    return INDIM_HOST_OK;
  }
  if (s.count == 1) {
    bool is_shared = context->parallel != NULL && numbers->size >= LEAST_SHARED && !indim_sort_selects(numbers);
    sort_line(&s, 0, 0, is_shared ? INDIM_SORT_PIECES : 1);
  } else if (context->parallel != NULL) {
    context->parallel(context->parallel_user, sort_lines, &s, s.pieces, 1);
  } else {
    sort_lines(&s, 0, s.pieces);
  }
  return stops(context) ? INDIM_HOST_STOPPED : INDIM_HOST_OK;
}
