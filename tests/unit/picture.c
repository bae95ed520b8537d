// Pictures of the seed documents' examples, letter by letter; pairs against literals laid out anew; lists of dimensions
// against the rules of broadcasting.
#include "picture.h"

#include "indim/literal.h"
#include "indim/shape_util.h"
#include "pair.h"
#include "test.h"

static indim_ctx *cx;

static bool start(void) { return indim_ctx_create(NULL, &cx) == INDIM_OK; }
static void stop(void) { indim_ctx_destroy(cx); }

static indim_shape shape_of(const char *text) {
  indim_shape shape;
  if (indim_shape_parse(cx, indim_str_of(text), NULL, &shape) != INDIM_OK) {
    test_check(false, __FILE__, __LINE__, text);
    shape = indim_shape_plain(INDIM_TOKEN);
  }
  return shape;
}

static void check_text(const char *text, const picture_options *options, const char *expected) {
  indim_buffer out;
  indim_shape shape = shape_of(text);
  indim_buffer_init(&out, cx);
  CHECK(picture_shape_text(&out, &shape, options) == INDIM_OK);
  CHECK_EQ_STR(out.data, expected);
  indim_buffer_deinit(&out);
}

static const picture_options drawing = {.parts = PICTURE_DRAWINGS};

TEST(Y60_padded) {
  REQUIRE(start());
  check_text("f32[2,3]{0,1:PAD(3,5;zero)}", &drawing,
             "f32[2,3]{0,1:PAD(3,5;zero)}\n"
             "\n"
             "  the array         the place of each element in memory\n"
             "  y\\x  0 1 2 3 4    y\\x  0  1  2  3  4\n"
             "    0  a b c 0 0      0  0  3  6  .  .\n"
             "    1  d e f 0 0         │  │  │  │  │\n"
             "    2  0 0 0 0 0      1  1  4  7  .  .\n"
             "                         │  │  │  │  │\n"
             "                      2  .  .  .  .  .\n"
             "\n"
             "  memory, place by place\n"
             "  place     0  1  2    3  4  5    6  7  8    9 10 11   12 13 14\n"
             "         │  a  d  0 │  b  e  0 │  c  f  0 │  0  0  0 │  0  0  0 │\n"
             "  padding is shown by its value in memory; ? is not stated\n");
  stop();
}

TEST(X10_rows_and_columns) {
  REQUIRE(start());
  check_text("f32[2,3]{1,0}", &drawing,
             "f32[2,3]{1,0}\n"
             "\n"
             "  the array     the place of each element in memory\n"
             "  y\\x  0 1 2    y\\x  0  1  2\n"
             "    0  a b c      0  0──1──2\n"
             "    1  d e f      1  3──4──5\n"
             "\n"
             "  memory, place by place\n"
             "  place    0 1 2   3 4 5\n"
             "         │ a b c │ d e f │\n");
  check_text("f32[2,3]{0,1}", &drawing,
             "f32[2,3]{0,1}\n"
             "\n"
             "  the array     the place of each element in memory\n"
             "  y\\x  0 1 2    y\\x  0  1  2\n"
             "    0  a b c      0  0  2  4\n"
             "    1  d e f         │ ╱│ ╱│\n"
             "                  1  1  3  5\n"
             "\n"
             "  memory, place by place\n"
             "  place    0 1   2 3   4 5\n"
             "         │ a d │ b e │ c f │\n");
  stop();
}

TEST(X23_tiles) {
  static const picture_options narrow = {.parts = PICTURE_DRAWINGS, .ascii = true, .width = 50};
  REQUIRE(start());
  check_text("f32[3,5]{1,0:T(2,2)}", &narrow,
             "f32[3,5]{1,0:T(2,2)}\n"
             "\n"
             "  the array\n"
             "  y\\x    0 1   2 3   4 5\n"
             "       +-----+-----+-----+\n"
             "    0  | a b | c d | e . |\n"
             "    1  | f g | h i | j . |\n"
             "       +-----+-----+-----+\n"
             "    2  | k l | m n | o . |\n"
             "    3  | . . | . . | . . |\n"
             "       +-----+-----+-----+\n"
             "\n"
             "  the place of each element in memory\n"
             "  y\\x   0   1   2   3   4   5\n"
             "    0   0---1   4---5   8---.\n"
             "          /   /   /   /   /\n"
             "    1   2---3   6---7  10---.\n"
             "    2  12--13  16--17  20---.\n"
             "          /   /   /   /   /\n"
             "    3   .---.   .---.   .---.\n"
             "\n"
             "  memory, place by place\n"
             "  place  +0 +1 +2 +3\n"
             "      0   a  b  f  g\n"
             "      4   c  d  h  i\n"
             "      8   e  .  j  .\n"
             "     12   k  l  .  .\n"
             "     16   m  n  .  .\n"
             "     20   o  .  .  .\n"
             "  . is padding\n");
  stop();
}

TEST(facts_in_words) {
  static const picture_options facts = {.parts = PICTURE_FACTS, .width = 90};
  REQUIRE(start());
  check_text("s4[<=3,5]{0,1:T(2,*,4)L(64)E(4)S(5)SC(1:2)M(8)}", &facts,
             "s4[<=3,5]{0,1:T(2,*,4)L(64)E(4)S(5)SC(1:2)M(8)}\n"
             "type            s4: signed integer, 4 bits; E(4) stores each in 4 bits, 2 in a byte, the\n"
             "                first in its low bits\n"
             "dimensions      y <= 3, x = 5; rank 2\n"
             "dynamic         <= is a bound: there are at most so many when the program runs, and memory\n"
             "                for all of them\n"
             "minor to major  {0,1}: y runs fastest, then x (column-major)\n"
             "tiles           T(2,*,4) cuts [1,5,3] into [1,4,2,4]; * joins a size with the next one; a\n"
             "                tile lies in one piece\n"
             "tail            L(64): padding at the end, up to a multiple of 64 elements\n"
             "memory space    S(5): the host's memory\n"
             "splits          SC(1: ...): y is cut at 2, each part in a memory of its own\n"
             "metadata        M(8): 8 bytes in front, for sizes known when the program runs\n"
             "elements        15 at most\n"
             "bytes           32, 8 of them elements and 24 padding (76.6 %): 64 places for 15 elements\n"
             "address         index (2,3) is (3,2) in [5,3], (0,2,0,3) in [1,4,2,4]\n"
             "                place = ((0*4 + 2)*2 + 0)*4 + 3 = 19, byte 9 from bit 4\n");
  stop();
}

// Pairs ------------------------------------------------------------------------------------------------------------

static uint64_t draw(uint64_t *state, uint64_t below) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*state >> 33) % below;
}

static void shuffle(uint64_t *state, int64_t *list, int32_t count) {
  for (int32_t i = count - 1; i > 0; i--) {
    int32_t k = (int32_t)draw(state, (uint64_t)i + 1);
    int64_t swap = list[i];
    list[i] = list[k];
    list[k] = swap;
  }
}

// The storage of 1, 2, 3, ... in the shape's row-major order, or permuted as transpose(a, p) has them.
static indim_literal *numbers(const indim_shape *shape, const indim_shape *a, const int64_t *p) {
  int32_t dense[256];
  int64_t count = indim_shape_element_count(shape);
  int64_t index[INDIM_MAX_RANK] = {0};
  indim_literal *literal = NULL;
  for (int64_t i = 0; i < count; i++) {
    int64_t of[INDIM_MAX_RANK];
    int64_t number = 0;
    for (int32_t d = 0; d < shape->rank; d++) {
      of[p == NULL ? d : p[d]] = index[d];
    }
    const indim_shape *sizes = p == NULL ? shape : a;
    for (int32_t d = 0; d < shape->rank; d++) {
      number = number * sizes->sizes[d] + of[d];
    }
    dense[i] = (int32_t)number + 1;
    (void)indim_index_next(shape, index);
  }
  if (indim_literal_create(cx, shape, &literal) != INDIM_OK ||
      indim_literal_write_dense(cx, literal, dense, count * 4) != INDIM_OK) {
    test_check(false, __FILE__, __LINE__, "a literal");
  }
  return literal;
}

// Whether the bytes of A are those of B.
static bool is_bitcast(const indim_shape *a, const indim_shape *b, const int64_t *p) {
  indim_literal *x = numbers(a, a, NULL);
  indim_literal *y = numbers(b, a, p);
  bool same = x != NULL && y != NULL && indim_literal_bytes(x) == indim_literal_bytes(y) &&
              memcmp(indim_literal_data(x), indim_literal_data(y), (size_t)indim_literal_bytes(x)) == 0;
  indim_literal_destroy(x);
  indim_literal_destroy(y);
  return same;
}

static void any_layout(uint64_t *state, indim_shape *shape) {
  static const int64_t tiles[] = {1, 2, 2, 4};
  shuffle(state, shape->layout.minor_to_major, shape->rank);
  if (shape->rank > 0 && draw(state, 3) == 0) {
    shape->layout.tile_count = 1;
    shape->layout.tile_ranks[0] = 1 + (int32_t)draw(state, (uint64_t)shape->rank);
    for (int32_t i = 0; i < shape->layout.tile_ranks[0]; i++) {
      shape->layout.tile_sizes[i] = tiles[draw(state, 4)];
    }
  }
}

TEST(pairs_are_what_literals_say) {
  uint64_t state = 3;
  int64_t free_ones = 0;
  int64_t others = 0;
  REQUIRE(start());
  for (int i = 0; i < 4000 / TEST_SAMPLE; i++) {
    int64_t factors[4];
    int64_t sizes[2][4];
    int32_t ranks[2] = {0, 0};
    indim_shape shapes[2];
    for (int k = 0; k < 4; k++) {
      factors[k] = 1 + (int64_t)draw(&state, 4);
    }
    for (int side = 0; side < 2; side++) {
      int64_t size = 1;
      for (int k = 0; k < 4; k++) {
        size *= factors[k];
        if (k == 3 || draw(&state, 3) > 0) {
          sizes[side][ranks[side]++] = size;
          size = 1;
        }
      }
      if (draw(&state, 2) == 0) {
        shuffle(&state, sizes[side], ranks[side]);
      }
      CHECK(indim_shape_init(cx, INDIM_S32, ranks[side], sizes[side], &shapes[side]) == INDIM_OK);
      any_layout(&state, &shapes[side]);
    }
    pair_reading readings[PAIR_MOST_READINGS];
    int32_t count = pair_read(&shapes[0], &shapes[1], readings);
    CHECK(count > 0);
    for (int32_t r = 0; r < count; r++) {
      const int64_t *p = readings[r].kind == PAIR_TRANSPOSE ? readings[r].p : NULL;
      bool is_free = is_bitcast(&shapes[0], &shapes[1], p);
      CHECK_MSG(readings[r].is_free == is_free, "case %d, reading %d: free %d", i, (int)r, is_free);
      free_ones += is_free;
      others += !is_free;
      if (readings[r].has_free) {
        CHECK_MSG(is_bitcast(&shapes[0], &readings[r].free, p), "case %d: the layout that is free", i);
      }
    }
  }
  CHECK(free_ones > 300 / TEST_SAMPLE && others > 300 / TEST_SAMPLE);
  stop();
}

// Lists of dimensions ----------------------------------------------------------------------------------------------

// All increasing lists, each asked of the rules.
static int64_t count_by_rule(const indim_shape *a, const indim_shape *b, const int64_t *lists, int64_t count) {
  const indim_shape *small = a->rank < b->rank ? a : b;
  int32_t rank = a->rank < b->rank ? b->rank : a->rank;
  int64_t found = 0;
  for (uint32_t set = 0; set < 1u << rank; set++) {
    int64_t dims[8];
    int32_t size = 0;
    for (int32_t d = 0; d < rank; d++) {
      if ((set >> d & 1) != 0) {
        dims[size++] = d;
      }
    }
    indim_broadcast result;
    if (size != small->rank || indim_broadcast_shapes(cx, a, b, dims, size, &result, NULL) != INDIM_OK) {
      continue;
    }
    found++;
    bool listed = false;
    for (int64_t n = 0; n < count; n++) {
      listed = listed || memcmp(lists + n * size, dims, (size_t)size * sizeof dims[0]) == 0;
    }
    CHECK(listed);
  }
  indim_ctx_diagnostics_clear(cx);
  return found;
}

TEST(dims_that_fit_are_those_of_the_rules) {
  uint64_t state = 11;
  REQUIRE(start());
  for (int i = 0; i < 2000 / TEST_SAMPLE; i++) {
    indim_shape shapes[2];
    int32_t rank = 1 + (int32_t)draw(&state, 6);
    int32_t ranks[2] = {rank, 1 + (int32_t)draw(&state, (uint64_t)rank)};
    if (ranks[1] == rank) {
      ranks[1] = rank == 1 ? 0 : rank - 1;
    }
    int64_t lists[64 * 8];
    for (int side = 0; side < 2; side++) {
      int64_t sizes[8];
      uint64_t dynamic = 0;
      for (int32_t d = 0; d < ranks[side]; d++) {
        sizes[d] = (int64_t)draw(&state, 4);
        dynamic |= draw(&state, 8) == 0 ? UINT64_C(1) << d : 0;
      }
      CHECK(indim_shape_init_dynamic(cx, INDIM_F32, ranks[side], sizes, dynamic, &shapes[side]) == INDIM_OK);
    }
    if (draw(&state, 2) == 0) {
      indim_shape swap = shapes[0];
      shapes[0] = shapes[1];
      shapes[1] = swap;
    }
    int64_t count = picture_valid_dims(&shapes[0], &shapes[1], lists, 64);
    CHECK_EQ_INT(count, count_by_rule(&shapes[0], &shapes[1], lists, count));
  }
  stop();
}

#define CASES(X)                 \
  X(Y60_padded)                  \
  X(X10_rows_and_columns)        \
  X(X23_tiles)                   \
  X(facts_in_words)              \
  X(pairs_are_what_literals_say) \
  X(dims_that_fit_are_those_of_the_rules)
TEST_MAIN(CASES)
