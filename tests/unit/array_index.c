// Indices and places (X..), the padded cases Y65, Y67 and the walks S82-S86, by id.
#include "array/index_plan.h"

#include "literal_test.h"

// index <-> place for one array, both ways.
static void check_place(const char *id, const char *text, const int64_t *index, int64_t place) {
  indim_ctx *cx = test_cx_new();
  indim_shape shape = test_shape(text);
  int64_t actual = -1;
  int64_t back[INDIM_MAX_RANK];
  bool padding = true;
  CHECK_OK(cx, indim_index_linearize(cx, &shape, index, &actual));
  CHECK_MSG(actual == place, "%s: %s: place %" PRId64 ", expected %" PRId64, id, text, actual, place);
  CHECK_OK(cx, indim_index_delinearize(cx, &shape, place, back, &padding));
  CHECK_MSG(!padding && indim_index_compare(shape.rank, back, index) == 0, "%s: %s: place %" PRId64 " back", id, text,
            place);
  test_cx_free(cx);
}
#define PLACE(id, text, place, ...)         \
  do {                                      \
    const int64_t index_[] = {__VA_ARGS__}; \
    check_place(id, text, index_, place);   \
  } while (0)

TEST(X01_to_X06_dense) {
  PLACE("X01", "f32[100]", 42, 42);
  PLACE("X02", "f32[10,20]{0,1}", 0, 0, 0);
  PLACE("X02", "f32[10,20]{0,1}", 53, 3, 5);
  PLACE("X02", "f32[10,20]{0,1}", 199, 9, 19);
  PLACE("X03", "f32[10,20]{1,0}", 0, 0, 0);
  PLACE("X03", "f32[10,20]{1,0}", 65, 3, 5);
  PLACE("X03", "f32[10,20]{1,0}", 199, 9, 19);
  PLACE("X04", "f32[10,20,30]{2,1,0}", 1957, 3, 5, 7);
  PLACE("X04", "f32[10,20,30]{2,1,0}", 5277, 8, 15, 27);
  PLACE("X05", "f32[10,20,30]{1,2,0}", 1945, 3, 5, 7);
  PLACE("X05", "f32[10,20,30]{1,2,0}", 5355, 8, 15, 27);
  PLACE("X06", "f32[10,20,30,40]{3,2,1,0}", 78289, 3, 5, 7, 9);
  PLACE("X06", "f32[10,20,30,40]{3,2,1,0}", 211113, 8, 15, 27, 33);
}

TEST(X07_round_trip) {
  const char *const shapes[] = {"f32[10,20,30,40,30,20,10]{6,5,4,3,2,1,0}", "f32[10,20,30,40,30,20,10]{0,1,2,3,4,5,6}",
                                "f32[10,20,30,40,30,20,10]{4,5,1,2,6,0,3}"};
  const int64_t places[] = {0, 1439999999, 1145567336, 43883404, 617295214, 1117613654};
  indim_ctx *cx = test_cx_new();
  for (size_t s = 0; s < 3; s++) {
    indim_shape shape = test_shape(shapes[s]);
    for (size_t p = 0; p < 6; p++) {
      int64_t index[INDIM_MAX_RANK];
      int64_t back = -1;
      bool padding = true;
      CHECK_OK(cx, indim_index_delinearize(cx, &shape, places[p], index, &padding));
      CHECK_OK(cx, indim_index_linearize(cx, &shape, index, &back));
      CHECK_MSG(!padding && back == places[p], "X07: %s: %" PRId64 " gives %" PRId64, shapes[s], places[p], back);
    }
  }
  test_cx_free(cx);
}

TEST(X08_next) {
  indim_shape shape = test_shape("f32[2,2]{0,1}");
  int64_t index[2] = {0, 0};
  CHECK(indim_index_next(&shape, index) && index[0] == 0 && index[1] == 1);
  CHECK(indim_index_next(&shape, index) && index[0] == 1 && index[1] == 0);
  CHECK(indim_index_next(&shape, index) && index[0] == 1 && index[1] == 1);
  CHECK(!indim_index_next(&shape, index) && index[0] == 0 && index[1] == 0);
  CHECK(indim_index_next_in_memory(&shape, index) && index[0] == 1 && index[1] == 0);
  CHECK(indim_index_next_in_memory(&shape, index) && index[0] == 0 && index[1] == 1);
  CHECK(indim_index_next_in_memory(&shape, index) && index[0] == 1 && index[1] == 1);
  CHECK(!indim_index_next_in_memory(&shape, index) && index[0] == 0 && index[1] == 0);
  shape.has_layout = false;
  CHECK(indim_index_next_in_memory(&shape, index) && index[0] == 0 && index[1] == 1);
  indim_shape scalar = test_shape("f32[]");
  CHECK(!indim_index_next(&scalar, index));
  CHECK(!indim_index_next_in_memory(&scalar, index));
}

static void check_strides(const char *id, const char *text, const int64_t *expected) {
  indim_ctx *cx = test_cx_new();
  indim_shape shape = test_shape(text);
  int64_t strides[INDIM_MAX_RANK];
  CHECK_OK(cx, indim_index_strides(cx, &shape, strides));
  CHECK_MSG(indim_index_compare(shape.rank, strides, expected) == 0, "%s: strides of %s", id, text);
  test_cx_free(cx);
}

TEST(X09_Y65_strides) {
  check_strides("X09", "f32[5,8,10,4]{3,2,1,0}", (const int64_t[]){320, 40, 4, 1});
  check_strides("Y65", "f32[10,20]{1,0:PAD(15,21;zero)}", (const int64_t[]){21, 1});
  check_strides("Y65", "f32[10,20]{0,1:PAD(15,21;zero)}", (const int64_t[]){1, 15});
  check_strides("an empty array", "f32[0,3]", (const int64_t[]){3, 1});
  indim_ctx *cx = test_cx_new();
  int64_t strides[INDIM_MAX_RANK];
  indim_shape tiled = test_shape("f32[8,4]{1,0:T(2,2)}");
  CHECK_FAILS(cx, indim_index_strides(cx, &tiled, strides), INDIM_INVALID, "tiled");
  const int64_t sizes[3] = {0, INT64_C(1) << 31, INT64_C(1) << 33};
  indim_shape huge;
  CHECK_OK(cx, indim_shape_init(cx, INDIM_S8, 3, sizes, &huge));
  CHECK_FAILS(cx, indim_index_strides(cx, &huge, strides), INDIM_INVALID, "64 bits");
  test_cx_free(cx);
}

TEST(X12_in_bounds) {
  indim_shape shape = test_shape("f32[2,3]");
  CHECK(indim_index_in_bounds(&shape, (const int64_t[]){1, 2}));
  CHECK(!indim_index_in_bounds(&shape, (const int64_t[]){2, 0}));
  CHECK(!indim_index_in_bounds(&shape, (const int64_t[]){-1, 0}));  // XLA's own lets this pass
  CHECK(!indim_index_in_bounds(&shape, (const int64_t[]){0, 3}));
  indim_shape scalar = test_shape("f32[]");
  CHECK(indim_index_in_bounds(&scalar, (const int64_t[]){0}));
}

TEST(X13_compare) {
  CHECK_EQ_INT(indim_index_compare(2, (const int64_t[]){1, 2}, (const int64_t[]){1, 3}), -1);
  CHECK_EQ_INT(indim_index_compare(2, (const int64_t[]){2, 0}, (const int64_t[]){1, 9}), 1);
  CHECK_EQ_INT(indim_index_compare(2, (const int64_t[]){1, 9}, (const int64_t[]){1, 9}), 0);
  CHECK_EQ_INT(indim_index_compare(0, NULL, NULL), 0);
}

// All places of a rank 2 array, row by row.
static void check_rows(const char *id, const char *text, const int64_t *places) {
  indim_shape shape = test_shape(text);
  for (int64_t i = 0; i < shape.sizes[0]; i++) {
    for (int64_t j = 0; j < shape.sizes[1]; j++) {
      PLACE(id, text, places[i * shape.sizes[1] + j], i, j);
    }
  }
}

TEST(X20_to_X22_tiled) {
  const int64_t x20[][2] = {{0, 0}, {128, 1}, {1, 2}, {127, 254}, {129, 3}, {256, 256}, {1023, 1023}, {1024, 1024}};
  for (size_t i = 0; i < sizeof x20 / sizeof x20[0]; i++) {
    PLACE("X20", "bf16[2048]{0:T(1024)(128)(2,1)}", x20[i][1], x20[i][0]);
  }
  PLACE("X21", "bf16[2,8,128]{2,1,0:T(8,128)(2,1)}", 0, 0, 0, 0);
  PLACE("X21", "bf16[2,8,128]{2,1,0:T(8,128)(2,1)}", 256, 0, 2, 0);
  PLACE("X21", "bf16[2,8,128]{2,1,0:T(8,128)(2,1)}", 1, 0, 1, 0);
  PLACE("X21", "bf16[2,8,128]{2,1,0:T(8,128)(2,1)}", 2, 0, 0, 1);
  PLACE("X21", "bf16[2,8,128]{2,1,0:T(8,128)(2,1)}", 1024, 1, 0, 0);
  PLACE("X22", "f32[8,4]{1,0:T(2,2)}", 11, 3, 1);
  PLACE("X22", "f32[8,4]{1,0}", 13, 3, 1);
}

TEST(X23_to_X26_tiled_rows) {
  check_rows("X23", "f32[3,5]{1,0:T(2,2)}", (const int64_t[]){0, 1, 4, 5, 8, 2, 3, 6, 7, 10, 12, 13, 16, 17, 20});
  check_rows("X24", "f32[3,5]{0,1:T(2,2)}", (const int64_t[]){0, 2, 8, 10, 16, 1, 3, 9, 11, 17, 4, 6, 12, 14, 20});
  check_rows("X25", "f32[4,8]{1,0:T(2,4)(2,1)}",
             (const int64_t[]){0,  2,  4,  6,  8,  10, 12, 14, 1,  3,  5,  7,  9,  11, 13, 15,
                               16, 18, 20, 22, 24, 26, 28, 30, 17, 19, 21, 23, 25, 27, 29, 31});
  check_rows("X26", "f32[4,8]{1,0:T(2,4)}",
             (const int64_t[]){0,  1,  2,  3,  8,  9,  10, 11, 4,  5,  6,  7,  12, 13, 14, 15,
                               16, 17, 18, 19, 24, 25, 26, 27, 20, 21, 22, 23, 28, 29, 30, 31});
}

TEST(X23_padding_places) {
  const int64_t padding_places[] = {9, 11, 14, 15, 18, 19, 21, 22, 23};
  indim_ctx *cx = test_cx_new();
  indim_shape shape = test_shape("f32[3,5]{1,0:T(2,2)}");
  int64_t index[2];
  bool padding = false;
  size_t next = 0;
  for (int64_t place = 0; place < 24; place++) {
    CHECK_OK(cx, indim_index_delinearize(cx, &shape, place, index, &padding));
    bool expected = next < 9 && padding_places[next] == place;
    next += expected;
    CHECK_MSG(padding == expected && padding == (index[0] >= 3 || index[1] >= 5), "X23: place %" PRId64, place);
  }
  CHECK_FAILS(cx, indim_index_delinearize(cx, &shape, 24, index, &padding), INDIM_INVALID, "24 places");
  CHECK_FAILS(cx, indim_index_delinearize(cx, &shape, -1, index, &padding), INDIM_INVALID, "outside");
  test_cx_free(cx);
}

TEST(X27_X28_combined) {
  const char *x27 = "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}";
  PLACE("X27", x27, 0, 0, 0, 0, 0, 0);
  PLACE("X27", x27, 6, 0, 0, 0, 0, 3);
  PLACE("X27", x27, 19, 0, 0, 0, 1, 0);
  PLACE("X27", x27, 3, 0, 0, 1, 0, 0);
  PLACE("X27", x27, 222, 0, 0, 2, 0, 0);
  PLACE("X27", x27, 888, 0, 1, 0, 0, 0);
  PLACE("X27", x27, 6216, 1, 0, 0, 0, 0);
  PLACE("X27", x27, 12430, 1, 6, 7, 10, 9);
  const char *x28 = "bf16[2,3,1004]{2,1,0:T(2,*,128)}";
  PLACE("X28", x28, 256, 0, 0, 128);
  PLACE("X28", x28, 1900, 0, 1, 0);
  PLACE("X28", x28, 128, 1, 0, 0);
  PLACE("X28", x28, 6083, 1, 2, 1003);
}

TEST(X29_tile_longer_than_the_rank) {
  PLACE("X29", "f32[100]{0:T(8,128)}", 5, 5);
  PLACE("X29", "f32[]{:T(256)}", 0, 0);
  PLACE("X29 twice", "f32[2]{0:T(2,2,2)(4,2)}", 1, 1);
}

TEST(Y67_padded) {
  PLACE("Y67", "f32[2,3]{0,1:PAD(3,5;zero)}", 7, 1, 2);
  PLACE("Y67", "f32[2,3]{0,1:PAD(3,5;zero)}", 6, 0, 2);
  indim_ctx *cx = test_cx_new();
  indim_shape shape = test_shape("f32[2,3]{0,1:PAD(3,5;zero)}");
  int64_t index[2];
  bool padding = false;
  CHECK_OK(cx, indim_index_delinearize(cx, &shape, 2, index, &padding));
  CHECK(padding && index[0] == 2 && index[1] == 0);
  CHECK_OK(cx, indim_index_delinearize(cx, &shape, 14, index, &padding));
  CHECK(padding && index[0] == 2 && index[1] == 4);
  test_cx_free(cx);
}

TEST(refusals) {
  indim_ctx *cx = test_cx_new();
  int64_t place = 0;
  int64_t index[3] = {0, 0, 0};
  bool padding = false;
  indim_shape shape = test_shape("f32[2,3]");
  CHECK_FAILS(cx, indim_index_linearize(cx, &shape, (const int64_t[]){0, -1}, &place), INDIM_INVALID, "dimension 1");
  CHECK_FAILS(cx, indim_index_linearize(cx, &shape, (const int64_t[]){2, 0}, &place), INDIM_INVALID, "its size is 2");
  indim_shape empty = test_shape("f32[0]");
  CHECK_FAILS(cx, indim_index_linearize(cx, &empty, index, &place), INDIM_INVALID, "bounds");
  CHECK_FAILS(cx, indim_index_delinearize(cx, &empty, 0, index, &padding), INDIM_INVALID, "0 places");
  indim_shape unbounded = test_shape("f32[?]");
  CHECK_FAILS(cx, indim_index_linearize(cx, &unbounded, index, &place), INDIM_INVALID, "bounded");
  indim_shape token = indim_shape_plain(INDIM_TOKEN);
  CHECK_FAILS(cx, indim_index_linearize(cx, &token, index, &place), INDIM_INVALID, "array");
  shape.layout.minor_to_major[0] = 7;
  CHECK_FAILS(cx, indim_index_linearize(cx, &shape, index, &place), INDIM_INVALID, "minor_to_major");
  test_cx_free(cx);
}

TEST(places_overflow) {
  indim_ctx *cx = test_cx_new();
  int64_t place = 0;
  int64_t index[3] = {0, 0, 0};
  const int64_t sizes[3] = {INT64_C(1) << 20, INT64_C(1) << 20, INT64_C(1) << 20};
  indim_shape shape;
  CHECK_OK(cx, indim_shape_init(cx, INDIM_S8, 3, sizes, &shape));
  shape.layout.tile_count = 1;
  shape.layout.tile_ranks[0] = 1;
  shape.layout.tile_sizes[0] = INT64_C(1) << 40;
  CHECK_FAILS(cx, indim_index_linearize(cx, &shape, index, &place), INDIM_INVALID, "64 bits");
  shape.layout.tile_count = 0;
  shape.layout.tail_alignment = (INT64_C(1) << 62) + 1;
  CHECK_OK(cx, indim_index_linearize(cx, &shape, index, &place));
  const int64_t size = (INT64_C(1) << 62) + 8;
  CHECK_OK(cx, indim_shape_init(cx, INDIM_S8, 1, &size, &shape));
  shape.layout.tail_alignment = size - 4;
  CHECK_FAILS(cx, indim_index_linearize(cx, &shape, index, &place), INDIM_INVALID, "64 bits");
  test_cx_free(cx);
}

// Every place of the storage belongs to one element or to padding; all elements have one place each.
static void check_bijection(const char *text) {
  indim_ctx *cx = test_cx_new();
  indim_shape shape = test_shape(text);
  int64_t index[INDIM_MAX_RANK];
  int64_t places = 0;
  int64_t elements = 0;
  CHECK_OK(cx, indim_shape_storage_count(cx, &shape, &places));
  for (int64_t place = 0; place < places; place++) {
    bool padding = false;
    int64_t back = -1;
    CHECK_OK(cx, indim_index_delinearize(cx, &shape, place, index, &padding));
    CHECK_MSG(shape.rank == 0 || padding != indim_index_in_bounds(&shape, index), "%s: place %" PRId64, text, place);
    if (!padding) {
      elements++;
      CHECK_OK(cx, indim_index_linearize(cx, &shape, index, &back));
      CHECK_MSG(back == place, "%s: place %" PRId64 " comes back as %" PRId64, text, place, back);
    }
  }
  CHECK_MSG(elements == indim_shape_element_count(&shape), "%s: %" PRId64 " elements have a place", text, elements);
  CHECK_FAILS(cx, indim_index_delinearize(cx, &shape, places, index, &(bool){false}), INDIM_INVALID, "outside");
  test_cx_free(cx);
}

TEST(every_place_is_an_element_or_padding) {
  check_bijection("f32[]");
  check_bijection("f32[]{:T(4)}");
  check_bijection("f32[3,4,5]{1,2,0}");
  check_bijection("f32[3,5]{1,0:T(2,2)}");
  check_bijection("f32[3,5]{1,0:T(3,4)(2,1)}");
  check_bijection("f32[3,5]{0,1:T(3,4)(2,3)(*,2)}");
  check_bijection("f32[3,4,5]{2,0,1:T(*,*,7)}");
  check_bijection("f32[3,4,5]{2,1,0:T(2,3)(*,*,2)}");
  check_bijection("f32[7]{0:T(2,2)L(16)}");
  check_bijection("f32[7]{0:L(5)}");
  check_bijection("f32[7]{0:T(2)(2,2,3)}");
  check_bijection("f32[]{:T(2)(3,2,3)}");
  check_bijection("f32[2,3]{0,1:PAD(3,5;zero)}");
  check_bijection("f32[2,3]{0,1:PAD(3,5;zero)L(8)}");
  check_bijection("f32[3,0]{1,0:T(2,2)}");
}

static int64_t walk_count(const char *text) {
  indim_shape shape = test_shape(text);
  indim_index_walk walk;
  int64_t count = 0;
  indim_index_walk_init(&walk, &shape, NULL, NULL, NULL);
  while (indim_index_walk_next(&walk)) {
    CHECK(indim_index_in_bounds(&shape, walk.index));
    count++;
  }
  CHECK(!indim_index_walk_next(&walk));
  return count;
}

TEST(S82_walk_counts) {
  CHECK_EQ_INT(walk_count("f32[]"), 1);
  CHECK_EQ_INT(walk_count("f32[0]"), 0);
  CHECK_EQ_INT(walk_count("f32[16]"), 16);
  CHECK_EQ_INT(walk_count("f32[3,0]"), 0);
  CHECK_EQ_INT(walk_count("f32[0,2]"), 0);
  CHECK_EQ_INT(walk_count("f32[4,16]"), 64);
  CHECK_EQ_INT(walk_count("f32[6,11,17]"), 1122);
  CHECK_EQ_INT(walk_count("f32[6,11,5,17]"), 5610);
}

static void check_walk(const char *id, const char *text, const int64_t *base, const int64_t *count, const int64_t *step,
                       const int64_t *expected, int64_t visits) {
  indim_shape shape = test_shape(text);
  indim_index_walk walk;
  int64_t seen = 0;
  indim_index_walk_init(&walk, &shape, base, count, step);
  for (; indim_index_walk_next(&walk); seen++) {
    CHECK_MSG(seen < visits && indim_index_compare(shape.rank, walk.index, expected + seen * shape.rank) == 0,
              "%s: visit %" PRId64 " is (%" PRId64 ",%" PRId64 ")", id, seen, walk.index[0], walk.index[1]);
  }
  CHECK_MSG(seen == visits, "%s: %" PRId64 " visits", id, seen);
}

TEST(S83_to_S86_walks) {
  check_walk("S83", "f32[10,10]", (const int64_t[]){2, 3}, (const int64_t[]){3, 1}, (const int64_t[]){2, 1},
             (const int64_t[]){2, 3, 4, 3}, 2);
  int64_t thirds[32];
  for (int64_t i = 0; i < 16; i++) {  // memory order: the last dimension first
    thirds[2 * i] = i / 4 * 3;
    thirds[2 * i + 1] = i % 4 * 3;
  }
  check_walk("S84", "f32[10,10]", (const int64_t[]){0, 0}, (const int64_t[]){10, 10}, (const int64_t[]){3, 3}, thirds,
             16);
  check_walk("S85", "f32[2,2]", (const int64_t[]){1, 0}, (const int64_t[]){0, 2}, (const int64_t[]){0, 1},
             (const int64_t[]){1, 0, 1, 1}, 2);
  check_walk("memory order", "f32[2,2]{0,1}", NULL, NULL, NULL, (const int64_t[]){0, 0, 1, 0, 0, 1, 1, 1}, 4);
  // S86: whoever walks stops when it wants to; a step of 0 does not keep the walk from ending.
  indim_shape shape = test_shape("f32[10,10]");
  indim_index_walk walk;
  int64_t calls = 0;
  indim_index_walk_init(&walk, &shape, NULL, NULL, (const int64_t[]){0, 1});
  while (indim_index_walk_next(&walk)) {
    if (++calls == 5) {
      break;
    }
  }
  CHECK_EQ_INT(calls, 5);
  CHECK_EQ_INT(walk.index[1], 4);
}

#define CASES(X)                          \
  X(X01_to_X06_dense)                     \
  X(X07_round_trip)                       \
  X(X08_next)                             \
  X(X09_Y65_strides)                      \
  X(X12_in_bounds)                        \
  X(X13_compare)                          \
  X(X20_to_X22_tiled)                     \
  X(X23_to_X26_tiled_rows)                \
  X(X23_padding_places)                   \
  X(X27_X28_combined)                     \
  X(X29_tile_longer_than_the_rank)        \
  X(Y67_padded)                           \
  X(refusals)                             \
  X(places_overflow)                      \
  X(every_place_is_an_element_or_padding) \
  X(S82_walk_counts)                      \
  X(S83_to_S86_walks)
TEST_MAIN(CASES)
