// XLA's utilities over shapes and layouts: the cases by id.
#include "indim/shape_util.h"

#include "array/permutation.h"
#include "literal_test.h"

typedef void shape_test(indim_ctx *cx, indim_arena *arena);

static void with_context(shape_test *body) {
  indim_ctx *cx = test_cx_new();
  indim_arena *arena = NULL;
  CHECK(indim_arena_create(cx, &arena) == INDIM_OK);
  body(cx, arena);
  indim_arena_destroy(arena);
  test_cx_free(cx);
}

static indim_shape parse(indim_ctx *cx, indim_arena *arena, const char *text) {
  indim_shape shape = {0};
  CHECK_MSG(indim_shape_parse(cx, indim_str_of(text), arena, &shape) == INDIM_OK, "%s: %s", text, test_message(cx));
  indim_ctx_diagnostics_clear(cx);
  return shape;
}

static void is(indim_ctx *cx, const char *id, const indim_shape *shape, const char *expected) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_shape_print(shape, true, &text);
  CHECK_MSG(strcmp(text.data, expected) == 0, "%s: got %s, expected %s", id, text.data, expected);
  indim_buffer_deinit(&text);
}

static bool same_list(const int64_t *a, const int64_t *b, int32_t count) {
  return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

// Sizes -------------------------------------------------------------------------------------------------------------

static void run_sizes(indim_ctx *cx, indim_arena *arena) {
  static const struct {
    const char *text;
    int64_t count;
  } counts[] = {{"f32[]", 1},      {"f32[0]", 0},      {"f32[1]", 1},      {"f32[1,1]", 1},
                {"f32[2]", 2},     {"f32[2,1]", 2},    {"f32[3,5]", 15},   {"f32[3,0,5]", 0},
                {"f32[0,3,0]", 0}, {"f32[1,3,5]", 15}, {"f32[13,17]", 221}};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    indim_shape shape = parse(cx, arena, counts[i].text);
    CHECK_MSG(indim_shape_element_count(&shape) == counts[i].count, "S63: %s", counts[i].text);
    CHECK_MSG(indim_shape_is_zero_element(&shape) == (counts[i].count == 0), "S64: %s", counts[i].text);
  }
  indim_shape tuple = parse(cx, arena, "(s32[0,3,0])");
  CHECK(!indim_shape_is_zero_element(&tuple));  // S64
  static const struct {
    const char *text;
    int64_t bytes;
  } sizes[] = {{"f32[]", 4}, {"f32[10,20]", 800}, {"f64[10,20]", 1600}, {"c64[10,20]", 1600}, {"token[]", 0}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    indim_shape shape = parse(cx, arena, sizes[i].text);
    int64_t bytes = -1;
    CHECK(indim_shape_byte_size(cx, &shape, -1, &bytes) == INDIM_OK);
    CHECK_MSG(bytes == sizes[i].bytes, "S65: %s is %lld bytes", sizes[i].text, (long long)bytes);
  }
  int64_t bytes = 0;
  indim_shape shape = parse(cx, arena, "(s32[], s32[])");
  CHECK(indim_shape_total_element_bytes(cx, &shape, &bytes) == INDIM_OK && bytes == 8);  // S66
  CHECK(indim_shape_byte_size(cx, &shape, 8, &bytes) == INDIM_OK && bytes == 16);
  CHECK_FAILS(cx, indim_shape_byte_size(cx, &shape, -1, &bytes), INDIM_INVALID, "pointer");
  shape = parse(cx, arena, "(s32[16,32,64], s8[16,32,64])");
  CHECK(indim_shape_total_element_bytes(cx, &shape, &bytes) == INDIM_OK && bytes == 163840);
  CHECK(indim_shape_total_elements(cx, &shape, &bytes) == INDIM_OK && bytes == 65536);
}
TEST(S63_sizes) { with_context(run_sizes); }

static void run_strides(indim_ctx *cx, indim_arena *arena) {
  static const struct {
    const char *text;
    int64_t strides[3];
  } rows[] = {{"f32[3,5,7]", {140, 28, 4}}, {"f16[5,7,9]", {126, 18, 2}}, {"s4[2,4]{1,0:E(4)}", {4, 1, 0}}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    indim_shape shape = parse(cx, arena, rows[i].text);
    int64_t strides[3] = {0};
    CHECK(indim_shape_unpacked_byte_strides(cx, &shape, strides) == INDIM_OK);
    CHECK_MSG(same_list(strides, rows[i].strides, 3), "S67: %s", rows[i].text);
  }
  int64_t strides[2];
  indim_shape shape = parse(cx, arena, "s4[10,20]{1,0:E(4)}");
  CHECK_FAILS(cx, indim_shape_byte_strides(cx, &shape, strides), INDIM_INVALID, "4 bits");  // S68
  shape = parse(cx, arena, "f32[10,20]{0,1}");
  CHECK(indim_shape_byte_strides(cx, &shape, strides) == INDIM_OK && strides[0] == 4 && strides[1] == 40);
  // Y49
  shape = parse(cx, arena, "f32[8,9,10,11]");
  CHECK(indim_shape_strides_are_row_major(&shape, (int64_t[]){3960, 440, 44, 4}));
  CHECK(!indim_shape_strides_are_row_major(&shape, (int64_t[]){1880, 220, 22, 2}));
  CHECK(!indim_shape_strides_are_row_major(&shape, (int64_t[]){1880, 440, 44, 4}));
}
TEST(S67_strides) { with_context(run_strides); }

static void run_array_sizes(indim_ctx *cx, indim_arena *arena) {
  static const struct {
    const char *id;
    const char *text;
    int64_t array_size;
    int64_t data_size;  // -1: not asked
  } rows[] = {
      {"S69", "s4[64,128]{1,0:E(4)}", 4096, 4096},
      {"S70", "s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}", 28311552, 28311552},
      {"S71", "s4[0,64,128]{2,1,0:E(4)}", 0, 0},
      {"S71", "s4[128,0,64]{2,1,0:E(4)}", 0, 0},
      {"S71", "s4[64,128,0]{2,1,0:E(4)}", 0, 0},
      {"S71", "s4[0,63,127]{2,1,0:E(4)}", 0, 0},
      {"S71", "s4[127,0,63]{2,1,0:E(4)}", 0, 0},
      {"S71", "s4[63,127,0]{2,1,0:E(4)}", 0, 0},
      {"S72", "f32[3,5]{1,0:T(2,2)}", 96, 84},
      {"S73", "f32[2,3,4]{2,1,0:T(8,128)}", 8192, 5136},
      {"S74", "f32[]{:T(256)}", 1024, 4},
      {"S74", "f32[100]{0:T(8,128)}", 4096, 400},
      {"S75", "f32[1000]{0:T(8)L(1024)}", 4096, -1},
      {"S75", "f32[1000]{0:L(1024)}", 4000, -1},
      {"S76", "pred[8,8,8]{0,2,1:T(8,128)E(32)}", 32768, -1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    indim_shape shape = parse(cx, arena, rows[i].text);
    int64_t bytes = -1;
    CHECK(indim_shape_array_size(cx, &shape, &bytes) == INDIM_OK);
    CHECK_MSG(bytes == rows[i].array_size, "%s: %s: array size %lld", rows[i].id, rows[i].text, (long long)bytes);
    CHECK(indim_shape_array_data_size(cx, &shape, &bytes) == INDIM_OK);
    CHECK_MSG(rows[i].data_size < 0 || bytes == rows[i].data_size, "%s: %s: data size %lld", rows[i].id, rows[i].text,
              (long long)bytes);
  }
  int64_t bytes = 0;
  indim_shape star = parse(cx, arena, "f32[4,6]{1,0:T(*,4)}");
  CHECK_FAILS(cx, indim_shape_array_size(cx, &star, &bytes), INDIM_INVALID, "*");
  indim_shape split = parse(cx, arena, "f32[150,200,100]{0,1,2:SC(0:30)(1:40,130)}");  // Y70, Y71
  CHECK(indim_shape_max_split_size(&split, 0) == 150 && indim_shape_max_split_size(&split, 1) == 90 &&
        indim_shape_max_split_size(&split, 2) == 70);
  CHECK_EQ_INT(indim_shape_max_split_elements(&split), 945000);
  split.layout.split_count = 0;
  CHECK_EQ_INT(indim_shape_max_split_elements(&split), 3000000);
}
TEST(S69_array_sizes) { with_context(run_array_sizes); }

// Trees -------------------------------------------------------------------------------------------------------------

static void run_trees(indim_ctx *cx, indim_arena *arena) {
  indim_shape shape = parse(cx, arena, "s4[2,4]{1,0:E(4)}");
  static const struct {
    indim_type type;
    int64_t bits;
  } changes[] = {{INDIM_PRED, 0}, {INDIM_U8, 0}, {INDIM_U4, 4}};
  for (int i = 0; i < 3; i++) {
    indim_shape changed;
    CHECK(indim_shape_change_element_type(cx, NULL, &shape, changes[i].type, &changed) == INDIM_OK);
    CHECK_MSG(changed.layout.element_bits == changes[i].bits && changed.type == changes[i].type, "S77 %d", i);
  }
  static const struct {
    const char *text;
    indim_type type;
    bool has;
  } types[] = {{"s32[]", INDIM_S32, true},
               {"s32[]", INDIM_S16, false},
               {"()", INDIM_S32, false},
               {"(s32[], s32[])", INDIM_S32, true},
               {"(s32[], (s16[]))", INDIM_S16, true}};
  for (int i = 0; i < 5; i++) {
    shape = parse(cx, arena, types[i].text);
    CHECK_MSG(indim_shape_has_type(&shape, types[i].type) == types[i].has, "S78 %s", types[i].text);
  }
  static const struct {
    const char *text;
    bool nested;
  } tuples[] = {{"()", false}, {"(s32[])", false}, {"(())", true}, {"(s32[], ())", true}, {"((), s32[])", true}};
  for (int i = 0; i < 5; i++) {
    shape = parse(cx, arena, tuples[i].text);
    CHECK_MSG(indim_shape_is_nested_tuple(&shape) == tuples[i].nested, "S79 %s", tuples[i].text);
  }
  // S80
  shape = parse(cx, arena, "(f32[42], (f32[101], pred[33]))");
  indim_shape_walk walk;
  int64_t sizes[3];
  int visits = 0;
  int leaves = 0;
  for (indim_shape_walk_init(&walk, &shape); indim_shape_walk_next(&walk);) {
    visits++;
    if (walk.shape->type != INDIM_TUPLE && leaves < 3) {
      sizes[leaves++] = walk.shape->sizes[0];
    }
  }
  CHECK_EQ_INT(visits, 5);
  CHECK_EQ_INT(indim_shape_subshape_count(&shape), 5);
  CHECK(leaves == 3 && same_list(sizes, (int64_t[]){42, 101, 33}, 3));
  // The whole comes last in post order, and each tuple behind its members.
  visits = 0;
  for (indim_shape_walk_init(&walk, &shape); indim_shape_walk_next_post_order(&walk);) {
    visits++;
    CHECK_MSG((walk.shape->type == INDIM_TUPLE) == (visits == 4 || visits == 5), "post order %d", visits);
  }
  CHECK_EQ_INT(visits, 5);
  CHECK(indim_shape_at(&shape, (int64_t[]){1, 0}, 2)->sizes[0] == 101);
  CHECK(indim_shape_at(&shape, (int64_t[]){0, 0}, 2) == NULL && indim_shape_at(&shape, (int64_t[]){2}, 1) == NULL);
  const indim_shape *found = NULL;
  CHECK_FAILS(cx, indim_shape_find(cx, &shape, (int64_t[]){1, 7}, 2, &found), INDIM_INVALID, "{1,7}");
  // S81
  shape = parse(cx, arena, "(f32[2,3], (f32[4,5], (), f32[6,7]), f32[8,9])");
  const indim_shape *list[4];
  CHECK_EQ_INT(indim_shape_leaf_count(&shape), 4);
  indim_shape_leaves(&shape, list);
  CHECK(list[0]->sizes[0] == 2 && list[1]->sizes[0] == 4 && list[2]->sizes[0] == 6 && list[3]->sizes[0] == 8);
  indim_shape part;
  CHECK(indim_shape_slice_tuple(arena, &shape, 1, 3, &part) == INDIM_OK);
  is(cx, "slice", &part, "((f32[4,5]{1,0}, (), f32[6,7]{1,0}), f32[8,9]{1,0})");
  CHECK_FAILS(cx, indim_shape_slice_tuple(arena, &shape, 2, 4, &part), INDIM_INVALID, "2 to 4");
  shape = parse(cx, arena, "(s32[], (u8[2], s4[3]))");
  CHECK(indim_shape_leaves_are_integers(&shape));
  shape = parse(cx, arena, "(s32[], pred[])");
  CHECK(!indim_shape_leaves_are_integers(&shape));
  // S119
  indim_shape dynamic;
  shape = parse(cx, arena, "(f32[8,9])");
  CHECK(indim_shape_set_dynamic(cx, arena, &shape, (int64_t[]){0}, 1, 1, true, &dynamic) == INDIM_OK);
  is(cx, "S119", &dynamic, "(f32[8,<=9]{1,0})");
  is(cx, "S119 original", &shape, "(f32[8,9]{1,0})");
  CHECK(indim_shape_clear_dynamic(cx, arena, &dynamic, &part) == INDIM_OK);
  is(cx, "clear", &part, "(f32[8,9]{1,0})");
  indim_shape bound = parse(cx, arena, "(f32[8,10])");
  CHECK(indim_shape_dynamic_fits(&dynamic, &bound));
  bound = parse(cx, arena, "(f32[8,7])");
  CHECK(!indim_shape_dynamic_fits(&dynamic, &bound));
  bound = parse(cx, arena, "f32[8,7]");
  CHECK(!indim_shape_dynamic_fits(&dynamic, &bound) && !indim_shape_equal_structure(&dynamic, &bound));
  indim_shape nil = parse(cx, arena, "()");
  CHECK(indim_shape_equal_structure(&nil, &bound));
  // S28
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_shape p = parse(cx, arena, "f32[1,2,3]");
  indim_shape r = parse(cx, arena, "f32[7]");
  const indim_shape *parameters[] = {&p};
  indim_str names[] = {indim_str_of("x")};
  indim_shape_print_program(NULL, parameters, 1, &r, &text);
  CHECK_EQ_STR(text.data, "((unknown): f32[1,2,3]) -> f32[7]");
  indim_buffer_clear(&text);
  indim_shape_print_program(names, parameters, 1, &r, &text);
  CHECK_EQ_STR(text.data, "(x: f32[1,2,3]) -> f32[7]");
  indim_buffer_deinit(&text);
}
TEST(S77_trees) { with_context(run_trees); }

// Editing -----------------------------------------------------------------------------------------------------------

static void run_editing(indim_ctx *cx, indim_arena *arena) {
  indim_shape out;
  indim_shape a = parse(cx, arena, "f32[10,20,30]{2,1,0}");
  indim_shape b = parse(cx, arena, "f32[10,20,30]{0,2,1}");
  CHECK(indim_shape_prepend_major_dim(cx, &a, 40, &out) == INDIM_OK);
  is(cx, "S87", &out, "f32[40,10,20,30]{3,2,1,0}");
  CHECK(indim_shape_prepend_major_dim(cx, &b, 40, &out) == INDIM_OK);
  is(cx, "S87", &out, "f32[40,10,20,30]{1,3,2,0}");
  CHECK(indim_shape_append_minor_dim(cx, &a, 40, &out) == INDIM_OK);
  is(cx, "S88", &out, "f32[10,20,30,40]{3,2,1,0}");
  CHECK(indim_shape_append_minor_dim(cx, &b, 40, &out) == INDIM_OK);
  is(cx, "S88", &out, "f32[10,20,30,40]{3,0,2,1}");
  CHECK(indim_shape_append_major_dim(cx, &b, 40, &out) == INDIM_OK);
  is(cx, "append major", &out, "f32[10,20,30,40]{0,2,1,3}");
  static const struct {
    bool second;
    int32_t index;
    const char *expected;
  } inserts[] = {{false, 3, "f32[10,20,30,40]{3,2,1,0}"},
                 {false, 1, "f32[10,40,20,30]{3,2,1,0}"},
                 {true, 1, "f32[10,40,20,30]{0,3,2,1}"},
                 {false, 0, "f32[40,10,20,30]{3,2,1,0}"}};
  for (int i = 0; i < 4; i++) {
    const indim_shape *from = inserts[i].second ? &b : &a;
    CHECK(indim_shape_insert_dims(cx, from, inserts[i].index, 1, (int64_t[]){40}, &out) == INDIM_OK);
    is(cx, "S89", &out, inserts[i].expected);
  }
  CHECK(indim_shape_insert_dims(cx, &b, 1, 2, (int64_t[]){40, 50}, &out) == INDIM_OK);
  is(cx, "S90", &out, "f32[10,40,50,20,30]{0,4,3,2,1}");
  indim_shape scalar = parse(cx, arena, "f32[]");
  CHECK(indim_shape_insert_dims(cx, &scalar, 0, 1, (int64_t[]){10}, &out) == INDIM_OK);
  is(cx, "S91", &out, "f32[10]{0}");
  CHECK(indim_shape_insert_dims(cx, &scalar, 0, 2, (int64_t[]){10, 20}, &out) == INDIM_OK);
  is(cx, "S91", &out, "f32[10,20]{1,0}");
  CHECK_FAILS(cx, indim_shape_insert_dims(cx, &a, 4, 1, (int64_t[]){1}, &out), INDIM_INVALID, "4");
  indim_shape cube = parse(cx, arena, "f32[10,10,10]{2,1,0}");
  CHECK(indim_shape_move_dim_to_major(cx, NULL, &cube, 0, &out) == INDIM_OK);
  is(cx, "S92", &out, "f32[10,10,10]{2,1,0}");
  CHECK(indim_shape_move_dim_to_major(cx, NULL, &cube, 1, &out) == INDIM_OK);
  is(cx, "S92", &out, "f32[10,10,10]{2,0,1}");
  cube = parse(cx, arena, "f32[10,10,10]{0,2,1:T(8)}");
  CHECK(indim_shape_move_dim_to_major(cx, NULL, &cube, 0, &out) == INDIM_OK);
  is(cx, "S92, tiles are dropped", &out, "f32[10,10,10]{2,1,0}");
  indim_shape c = parse(cx, arena, "f32[5,3,2]{2,0,1}");
  CHECK(indim_shape_delete_dims(cx, &c, 1, (int64_t[]){1}, &out) == INDIM_OK);
  is(cx, "S93", &out, "f32[5,2]{1,0}");
  c = parse(cx, arena, "f32[5,3,2,7,9]{2,0,1,4,3}");
  CHECK(indim_shape_delete_dims(cx, &c, 3, (int64_t[]){1, 2, 3}, &out) == INDIM_OK);
  is(cx, "S93", &out, "f32[5,9]{0,1}");
  CHECK(indim_shape_delete_dims(cx, &c, 3, (int64_t[]){3, 1, 2}, &out) == INDIM_OK);
  is(cx, "S93", &out, "f32[5,9]{0,1}");
  CHECK_FAILS(cx, indim_shape_delete_dims(cx, &c, 1, (int64_t[]){5}, &out), INDIM_INVALID, "5");
  c = parse(cx, arena, "f32[1,<=3,1,4]{0,3,2,1}");
  CHECK(indim_shape_drop_degenerate_dims(cx, &c, &out) == INDIM_OK);
  is(cx, "drop", &out, "f32[<=3,4]{1,0}");
  c = parse(cx, arena, "f32[128,24,4,48,48]{2,4,3,1,0}");
  CHECK(indim_shape_in_memory_order(cx, &c, &out) == INDIM_OK);
  is(cx, "S94", &out, "f32[128,24,48,48,4]{4,3,2,1,0}");
  c = parse(cx, arena, "f32[128,24,?,48,48]{2,4,3,1,0}");
  CHECK(indim_shape_in_memory_order(cx, &c, &out) == INDIM_OK);
  is(cx, "S95", &out, "f32[128,24,48,48,?]{4,3,2,1,0}");
  c = parse(cx, arena, "f32[10,100,1000]{2,1,0}");
  CHECK(indim_shape_permute_dims_ignoring_layout(cx, &c, (int64_t[]){1, 2, 0}, &out) == INDIM_OK);
  is(cx, "S96", &out, "f32[100,1000,10]{2,1,0}");
  CHECK_FAILS(cx, indim_shape_permute_dims(cx, &c, (int64_t[]){1, 1, 0}, &out), INDIM_INVALID, "permutation");
  c = parse(cx, arena, "f32[16,3,12,17]{1,2,0,3}");
  CHECK(indim_shape_permute_dims(cx, &c, (int64_t[]){0, 2, 1, 3}, &out) == INDIM_OK);
  is(cx, "S98", &out, "f32[16,12,3,17]{2,1,0,3}");
  static const struct {
    const char *text;
    bool has;
  } ones[] = {{"f32[3,1,2]", true}, {"f32[3,1,1]", true}, {"f32[3,3,5]", false}, {"f32[3,0,5]", false}};
  for (int i = 0; i < 4; i++) {
    c = parse(cx, arena, ones[i].text);
    CHECK_MSG(indim_shape_has_degenerate_dims(&c) == ones[i].has, "S99 %s", ones[i].text);
  }
}
TEST(S87_editing) { with_context(run_editing); }

// Bitcasts ----------------------------------------------------------------------------------------------------------

static const int64_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

static void run_bitcasts(indim_ctx *cx, indim_arena *arena) {
  for (int l = 0; l < 6; l++) {
    for (int k = 0; k < 6; k++) {
      indim_shape s = parse(cx, arena, "f32[10,100,1000]");
      indim_shape permuted;
      memcpy(s.layout.minor_to_major, orders[l], sizeof orders[l]);
      CHECK(indim_shape_permute_dims(cx, &s, orders[k], &permuted) == INDIM_OK);
      CHECK_MSG(indim_shape_transpose_is_bitcast(&s, &permuted, orders[k], false), "S97 layout %d, permutation %d", l,
                k);
    }
  }
  indim_shape a = parse(cx, arena, "f32[10,5]{1,0}");
  indim_shape b = parse(cx, arena, "f16[5,10]{0,1}");
  CHECK(indim_shape_transpose_is_bitcast(&a, &b, (int64_t[]){1, 0}, true));  // S100
  CHECK(!indim_shape_transpose_is_bitcast(&a, &b, (int64_t[]){1, 0}, false));
  for (int l = 0; l < 4; l++) {
    a = parse(cx, arena, l & 1 ? "f32[3,4]{1,0}" : "f32[3,4]{0,1}");
    b = parse(cx, arena, l & 2 ? "f32[6,2]{1,0}" : "f32[6,2]{0,1}");
    CHECK_MSG(indim_shape_reshape_is_bitcast(&a, &b, false) == (l == 3), "S101 %d", l);
  }
  a = parse(cx, arena, "f32[3,2,2]{1,0,2}");
  b = parse(cx, arena, "f32[6,2]{0,1}");
  CHECK(indim_shape_reshape_is_bitcast(&a, &b, false));  // S102
  a = parse(cx, arena, "f32[3,2,2]{0,1,2}");
  CHECK(!indim_shape_reshape_is_bitcast(&a, &b, false));
  int64_t p[4];
  a = parse(cx, arena, "f32[5,3]{1,0}");
  b = parse(cx, arena, "f32[3,5]{0,1}");
  CHECK(indim_shape_deduce_transpose(&a, &b, p) && p[0] == 1 && p[1] == 0);  // S103
  b = parse(cx, arena, "f32[3,5]{1,0}");
  CHECK(!indim_shape_deduce_transpose(&a, &b, p));
  a = parse(cx, arena, "f32[10,5]{1,0}");
  b = parse(cx, arena, "f32[5,10]{0,1}");
  CHECK(indim_shape_is_reshape_or_transpose_bitcast(&a, &b, false));  // S104
  a = parse(cx, arena, "f32[2,3,5]{2,1,0}");
  b = parse(cx, arena, "f32[3,5,2]{1,0,2}");
  CHECK(!indim_shape_is_reshape_or_transpose_bitcast(&a, &b, false));
}
TEST(S97_bitcasts) { with_context(run_bitcasts); }

static void run_decompose(indim_ctx *cx, indim_arena *arena) {
  static const struct {
    const char *id;
    const char *in;
    const char *out;
    indim_bitcast_kind kind;
    int64_t t1[4];
    const char *middle1;
    const char *middle2;
    int64_t t2[4];
  } rows[] = {
      {"S105", "f32[1,16,17,3]{3,2,1,0}", "f32[16,51]{1,0}", INDIM_BITCAST_RESHAPE, {0}, NULL, NULL, {0}},
      {"S105", "f32[17,3,1,16]{1,0,3,2}", "f32[51,16]{0,1}", INDIM_BITCAST_RESHAPE, {0}, NULL, NULL, {0}},
      {"S106",
       "f32[3,7,6,4]{3,2,1,0}",
       "f32[3,6,4,7]{2,1,3,0}",
       INDIM_BITCAST_TRANSPOSE,
       {0, 2, 3, 1},
       NULL,
       NULL,
       {0}},
      {"S107",
       "f32[16,17,3]{2,1,0}",
       "f32[51,16]{0,1}",
       INDIM_BITCAST_GENERAL,
       {0, 1, 2, 0},
       "f32[16,17,3]{2,1,0}",
       "f32[16,51]{1,0}",
       {1, 0, 0, 0}},
      {"S108",
       "f32[16,17,3,7]{3,2,1,0}",
       "f32[7,16,51]{0,2,1}",
       INDIM_BITCAST_GENERAL,
       {0, 1, 2, 3},
       "f32[16,17,3,7]{3,2,1,0}",
       "f32[16,51,7]{2,1,0}",
       {2, 0, 1, 0}},
      {"S109",
       "f32[16,3,17]{1,2,0}",
       "f32[51,16]{1,0}",
       INDIM_BITCAST_GENERAL,
       {0, 2, 1, 0},
       "f32[16,17,3]{2,1,0}",
       "f32[51,16]{1,0}",
       {0, 1, 0, 0}},
      {"S110",
       "f32[16,3,17]{1,2,0}",
       "f32[16,51]{0,1}",
       INDIM_BITCAST_GENERAL,
       {0, 2, 1, 0},
       "f32[16,17,3]{2,1,0}",
       "f32[51,16]{1,0}",
       {1, 0, 0, 0}},
      {"S111", "s4[3,2]", "s8[3]", INDIM_BITCAST_NONE, {0}, NULL, NULL, {0}},
      {"S111", "s4[3,2]", "s8[3,2]", INDIM_BITCAST_RESHAPE, {0}, NULL, NULL, {0}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    indim_shape in = parse(cx, arena, rows[i].in);
    indim_shape out = parse(cx, arena, rows[i].out);
    indim_bitcast_parts parts;
    indim_shape_decompose_bitcast(&in, &out, &parts);
    CHECK_MSG(parts.kind == rows[i].kind, "%s: %s to %s is kind %d", rows[i].id, rows[i].in, rows[i].out,
              (int)parts.kind);
    if (parts.kind >= INDIM_BITCAST_TRANSPOSE) {
      CHECK_MSG(same_list(parts.transpose1, rows[i].t1, in.rank), "%s: first transpose", rows[i].id);
    }
    if (parts.kind == INDIM_BITCAST_GENERAL && rows[i].middle1 != NULL) {
      is(cx, rows[i].id, &parts.middle1, rows[i].middle1);
      is(cx, rows[i].id, &parts.middle2, rows[i].middle2);
      CHECK_MSG(same_list(parts.transpose2, rows[i].t2, out.rank), "%s: second transpose", rows[i].id);
    }
  }
}
TEST(S105_decompose) { with_context(run_decompose); }

static void run_align(indim_ctx *cx, indim_arena *arena) {
  static const struct {
    const char *id;
    const char *in;
    const char *out;
    const char *aligned;  // NULL: none
  } rows[] = {
      {"S112", "f32[3,8,5,7,11]{3,2,1,0,4}", "f32[4,3,2,7,5,11]", "f32[4,3,2,7,5,11]{4,3,2,1,0,5}"},
      {"S112", "f32[3,8,5,7,11]{3,2,1,0,4}", "f32[3,2,4,35,11]", "f32[3,2,4,35,11]{3,2,1,0,4}"},
      {"S113", "f32[3,8,5,7,11]{2,3,1,0,4}", "f32[4,3,2,7,5,11]", NULL},
      {"S113", "f32[3,8,5,7,11]{3,2,1,0,4}", "f32[4,3,2,5,77]", NULL},
  };
  indim_shape aligned;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    indim_shape in = parse(cx, arena, rows[i].in);
    indim_shape out = parse(cx, arena, rows[i].out);
    bool found = indim_shape_align_layouts(&in, &out, &aligned);
    CHECK_MSG(found == (rows[i].aligned != NULL), "%s: %s", rows[i].id, rows[i].out);
    if (found && rows[i].aligned != NULL) {
      is(cx, rows[i].id, &aligned, rows[i].aligned);
      CHECK(indim_shape_reshape_is_bitcast(&in, &aligned, false));
    }
  }
  indim_shape in = parse(cx, arena, "f32[1,3,8,1,5,7,1,11,1,1]{5,0,4,2,1,3,6,7,9,8}");
  indim_shape out = parse(cx, arena, "f32[1,4,1,3,2,7,5,11,1]");
  CHECK(indim_shape_align_layouts(&in, &out, &aligned));  // S114
  CHECK(indim_shape_validate(cx, &aligned, true) == INDIM_OK);
  CHECK(indim_shape_reshape_is_bitcast(&in, &aligned, false));
}
TEST(S112_align) { with_context(run_align); }

// Reshapes ----------------------------------------------------------------------------------------------------------

static void run_factors(indim_ctx *cx, indim_arena *arena) {
  (void)cx;
  (void)arena;
  static const struct {
    const char *id;
    int32_t a_rank;
    int64_t a[4];
    int32_t b_rank;
    int64_t b[4];
    int32_t count;
    int32_t pairs[7][2];
  } rows[] = {
      {"S120", 1, {0}, 1, {0}, 2, {{0, 0}, {1, 1}}},
      {"S121", 1, {1}, 0, {0}, 2, {{0, 0}, {1, 0}}},
      {"S122", 0, {0}, 1, {1}, 2, {{0, 0}, {0, 1}}},
      {"S123", 2, {0, 10}, 3, {0, 10, 3}, 2, {{0, 0}, {2, 3}}},
      {"S124", 2, {1, 0}, 3, {1, 0, 1}, 4, {{0, 0}, {1, 1}, {2, 2}, {2, 3}}},
      {"S125", 2, {0, 1}, 2, {0, 1}, 3, {{0, 0}, {1, 1}, {2, 2}}},
      {"S126", 0, {0}, 0, {0}, 1, {{0, 0}}},
      {"S127", 4, {2, 5, 1, 3}, 4, {1, 10, 3, 1}, 6, {{0, 0}, {0, 1}, {2, 2}, {3, 2}, {4, 3}, {4, 4}}},
      {"S128", 3, {1, 1, 3}, 3, {1, 1, 3}, 4, {{0, 0}, {1, 1}, {2, 2}, {3, 3}}},
      {"S129", 2, {2, 6}, 2, {4, 3}, 2, {{0, 0}, {2, 2}}},
      {"S130", 3, {1, 2, 6}, 4, {4, 1, 3, 1}, 4, {{0, 0}, {1, 0}, {3, 3}, {3, 4}}},
      {"S131", 3, {1, 2, 1}, 4, {1, 1, 1, 2}, 6, {{0, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}}},
      {"products differ", 1, {2}, 1, {3}, 0, {{0, 0}}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    indim_dim_pair pairs[16];
    int32_t count = indim_dims_common_factors(rows[i].a_rank, rows[i].a, rows[i].b_rank, rows[i].b, pairs);
    CHECK_MSG(count == rows[i].count, "%s: %d pairs", rows[i].id, count);
    for (int32_t k = 0; k < count && k < rows[i].count; k++) {
      CHECK_MSG(pairs[k].a == rows[i].pairs[k][0] && pairs[k].b == rows[i].pairs[k][1], "%s: pair %d is %d %d",
                rows[i].id, k, pairs[k].a, pairs[k].b);
    }
  }
}
TEST(S120_common_factors) { with_context(run_factors); }

static void run_reshapes(indim_ctx *cx, indim_arena *arena) {
  uint64_t deleted = 0;
  uint64_t inserted = 0;
  indim_shape a = parse(cx, arena, "f32[9,1,4]");
  indim_shape b = parse(cx, arena, "f32[1,9,4,1]");
  CHECK(indim_shape_degenerate_changes(&a, &b, &deleted, &inserted) && deleted == 2 && inserted == 9);  // S115
  b = parse(cx, arena, "f32[3,1,12]");
  CHECK(!indim_shape_degenerate_changes(&a, &b, &deleted, &inserted));
  indim_dim_pair pairs[8];
  a = parse(cx, arena, "f32[1,1,1,1]");
  b = parse(cx, arena, "f32[1,1,1]");
  for (int side = 0; side < 2; side++) {
    CHECK_EQ_INT(indim_shape_dims_unmodified_by_reshape(side ? &b : &a, side ? &a : &b, pairs), 3);  // S116
    for (int i = 0; i < 3; i++) {
      CHECK(pairs[i].a == i && pairs[i].b == i);
    }
  }
  a = parse(cx, arena, "f32[4,1,3,5,6,7]");
  b = parse(cx, arena, "f32[2,6,1,5,1,42]");
  CHECK(indim_shape_dims_unmodified_by_reshape(&a, &b, pairs) == 1 && pairs[0].a == 3 && pairs[0].b == 3);
  int64_t kept[2];
  CHECK(indim_shape_reshape_keeps_dims(&a, &b, 1, (int64_t[]){3}, kept) && kept[0] == 3);
  CHECK(!indim_shape_reshape_keeps_dims(&a, &b, 2, (int64_t[]){2, 3}, kept));
  // S117, S118
  static const struct {
    const char *text;
    int32_t dim;
    bool major;
  } majors[] = {{"f32[1,1,16,1,279]{4,0,1,2,3}", 2, true},
                {"f32[1,1,16,1,279]{4,1,2,3,0}", 2, true},
                {"f32[1,1,16,1,279]{0,1,2,3,4}", 2, false},
                {"f32[1,1,16,1,279]{0,1,2,3,4}", 4, true}};
  for (int i = 0; i < 4; i++) {
    a = parse(cx, arena, majors[i].text);
    CHECK_MSG(indim_shape_is_most_major(&a, majors[i].dim) == majors[i].major, "S117 %d", i);
  }
  a = parse(cx, arena, "f32[3,4]{1,0}");
  CHECK(indim_shape_last_dim_is_minor_most(&a));
  a = parse(cx, arena, "f32[5,6]{0,1}");
  CHECK(!indim_shape_last_dim_is_minor_most(&a));
  int64_t factor = 0;
  a = parse(cx, arena, "bf16[1024]{0:T(1024)(128)(2,1)}");
  CHECK(indim_shape_packed_factor(cx, &a, &factor) == INDIM_OK && factor == 2);
  a = parse(cx, arena, "bf16[1024]{0:T(1024)}");
  CHECK_FAILS(cx, indim_shape_packed_factor(cx, &a, &factor), INDIM_INVALID, "interleaved");
}
TEST(S115_reshapes) { with_context(run_reshapes); }

static void run_normalize(indim_ctx *cx, indim_arena *arena) {
  static const struct {
    const char *id;
    int32_t rank;
    int64_t out[7];
    int64_t p[7];
    int32_t runs;
    int64_t sizes[3];
    int64_t reduced[4];
  } rows[] = {
      {"S140", 4, {32, 1, 10, 11}, {3, 1, 0, 2}, 2, {32, 110}, {1, 0}},
      {"S141", 3, {20, 30, 50}, {1, 2, 0}, 2, {600, 50}, {1, 0}},
      {"S142", 3, {64, 1, 128}, {0, 2, 1}, 1, {8192}, {0}},
      {"S143", 2, {10, 20}, {0, 1}, 1, {200}, {0}},
      {"S144", 2, {64, 128}, {1, 0}, 2, {64, 128}, {1, 0}},
      {"S145", 3, {8, 16, 32768}, {0, 2, 1}, 3, {8, 16, 32768}, {0, 2, 1}},
      {"S146", 3, {16, 32768, 8}, {2, 1, 0}, 3, {16, 32768, 8}, {2, 1, 0}},
      {"S148", 5, {8, 16, 32, 32, 32}, {0, 4, 1, 2, 3}, 3, {8, 16, 32768}, {0, 2, 1}},
      {"S149", 4, {16, 4096, 4096, 128}, {3, 0, 1, 2}, 2, {16, INT64_C(2147483648)}, {1, 0}},
      {"S150", 7, {1, 32, 1, 64, 1, 3, 1}, {6, 1, 4, 5, 2, 3, 0}, 3, {32, 64, 3}, {0, 2, 1}},
      {"S151", 5, {10, 1, 32, 100, 2}, {2, 1, 3, 0, 4}, 3, {320, 100, 2}, {1, 0, 2}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    indim_shape in;
    indim_shape out;
    int64_t in_sizes[7];
    int64_t sizes[8];
    int64_t reduced[8];
    int32_t runs = 0;
    indim_permutation_apply_inverse(rows[i].p, rows[i].out, rows[i].rank, in_sizes);
    CHECK(indim_shape_init(cx, INDIM_F32, rows[i].rank, in_sizes, &in) == INDIM_OK);
    CHECK(indim_shape_init(cx, INDIM_F32, rows[i].rank, rows[i].out, &out) == INDIM_OK);
    CHECK(indim_shape_normalize_transpose(cx, &in, &out, rows[i].p, &runs, sizes, reduced) == INDIM_OK);
    CHECK_MSG(runs == rows[i].runs && same_list(sizes, rows[i].sizes, runs) &&
                  same_list(reduced, rows[i].reduced, runs),
              "%s: %d runs", rows[i].id, runs);
  }
  // S147 has four runs.
  indim_shape in;
  indim_shape out;
  int64_t sizes[4];
  int64_t reduced[4];
  int32_t runs = 0;
  int64_t p[] = {2, 0, 3, 1};
  int64_t out_sizes[] = {16, 32768, 8, 4};
  int64_t in_sizes[4];
  indim_permutation_apply_inverse(p, out_sizes, 4, in_sizes);
  CHECK(indim_shape_init(cx, INDIM_F32, 4, in_sizes, &in) == INDIM_OK);
  CHECK(indim_shape_init(cx, INDIM_F32, 4, out_sizes, &out) == INDIM_OK);
  CHECK(indim_shape_normalize_transpose(cx, &in, &out, p, &runs, sizes, reduced) == INDIM_OK);
  CHECK(runs == 4 && same_list(sizes, out_sizes, 4) && same_list(reduced, p, 4));
  out = parse(cx, arena, "f32[64,128]{0,1}");
  in = parse(cx, arena, "f32[128,64]{1,0}");
  CHECK_FAILS(cx, indim_shape_normalize_transpose(cx, &in, &out, (int64_t[]){1, 0}, &runs, sizes, reduced),
              INDIM_INVALID,
              "descending");  // S152
}
TEST(S140_normalize) { with_context(run_normalize); }

// Layouts -----------------------------------------------------------------------------------------------------------

static indim_layout parse_layout(indim_ctx *cx, indim_arena *arena, const char *text) {
  indim_layout layout;
  indim_layout_init(0, &layout);
  CHECK_MSG(indim_layout_parse(cx, indim_str_of(text), arena, &layout) == INDIM_OK, "%s", text);
  return layout;
}

static void layout_is(indim_ctx *cx, const char *id, const indim_layout *layout, const char *expected) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_layout_print(layout, &text);
  CHECK_MSG(strcmp(text.data, expected) == 0, "%s: got %s, expected %s", id, text.data, expected);
  indim_buffer_deinit(&text);
}

static void run_layouts(indim_ctx *cx, indim_arena *arena) {
  indim_layout layout;
  indim_layout_init_ascending(5, &layout);
  layout_is(cx, "Y31", &layout, "{0,1,2,3,4}");
  indim_layout_init_ascending(0, &layout);
  layout_is(cx, "Y31", &layout, "{}");
  indim_layout_init_major_to_minor(3, (int64_t[]){0, 2, 1}, &layout);
  layout_is(cx, "major to minor", &layout, "{1,2,0}");
  int64_t physical[3];
  indim_layout_logical_to_physical(&layout, physical);
  CHECK(same_list(physical, (int64_t[]){0, 2, 1}, 3));  // Y53
  layout = parse_layout(cx, arena, "{0,2,1}");
  indim_layout_logical_to_physical(&layout, physical);
  CHECK(same_list(physical, (int64_t[]){2, 0, 1}, 3));
  CHECK(indim_layout_major(&layout, 0) == 1 && indim_layout_minor(&layout, 0) == 0 &&
        indim_layout_major(&layout, 3) == -1);
  // Y48
  layout = parse_layout(cx, arena, "{2,1,0}");
  CHECK(indim_layout_move_dim_to_major(&layout, 0));
  layout_is(cx, "Y48", &layout, "{2,1,0}");
  CHECK(indim_layout_move_dim_to_major(&layout, 1));
  layout_is(cx, "Y48", &layout, "{2,0,1}");
  layout = parse_layout(cx, arena, "{2,0,3,1:T(8)}");
  CHECK(indim_layout_move_dim_to_minor(&layout, 2));
  layout_is(cx, "Y48", &layout, "{2,0,3,1:T(8)}");
  CHECK(indim_layout_move_dim_to_minor(&layout, 3));
  layout_is(cx, "Y48", &layout, "{3,2,0,1:T(8)}");
  CHECK(!indim_layout_move_dim_to_minor(&layout, 4));
  // Y51
  layout = parse_layout(cx, arena, "{0,1}");
  CHECK(indim_layout_delete_dim(&layout, 1));
  layout_is(cx, "Y51", &layout, "{0}");
  layout = parse_layout(cx, arena, "{1,0:PAD(3,5;zero)}");
  CHECK(indim_layout_delete_dim(&layout, 0));
  layout_is(cx, "Y51", &layout, "{0:PAD(5;zero)}");
  // Y52
  static const struct {
    const char *text;
    bool ascending;
    bool descending;
  } sorted[] = {{"{0,1,2}", true, false},
                {"{2,1,0}", false, true},
                {"{1,0,2}", false, false},
                {"{0}", true, true},
                {"{}", true, true}};
  for (int i = 0; i < 5; i++) {
    layout = parse_layout(cx, arena, sorted[i].text);
    CHECK_MSG(indim_layout_is_ascending(&layout) == sorted[i].ascending &&
                  indim_layout_is_descending(&layout) == sorted[i].descending,
              "Y52 %s", sorted[i].text);
  }
  layout = parse_layout(cx, arena, "{3,1,0,2}");
  CHECK(indim_layout_are_consecutive(&layout, 2, (int64_t[]){0, 1}) && indim_layout_are_consecutive(&layout, 0, NULL));
  CHECK(!indim_layout_are_consecutive(&layout, 2, (int64_t[]){3, 0}));
  // Y80, Y81
  static const struct {
    const char *tiles;
    int32_t rank;
    int64_t sizes[3];
    bool untiled;
  } tiled[] = {{"{1,0:T(8,128)}", 2, {24, 128}, true},  {"{1,0:T(1,128)}", 2, {4, 256}, true},
               {"{1,0:T(8,128)}", 3, {2, 3, 4}, false}, {"{1,0}", 2, {3, 5}, true},
               {"{1,0:T(2,2)}", 2, {6, 4}, false},      {"{1,0:T(1,2)(1,1)}", 2, {2, 4}, true},
               {"{1,0:T(2,4)}", 2, {2, 4}, true}};
  for (int i = 0; i < 7; i++) {
    layout = parse_layout(cx, arena, tiled[i].tiles);
    CHECK_MSG(indim_layout_is_untiled(&layout, tiled[i].rank, tiled[i].sizes) == tiled[i].untiled, "Y80 %d", i);
  }
  // A dense layout with its natural element size is stored with none.
  indim_shape shape;
  layout = parse_layout(cx, arena, "{0,1:E(32)}");
  CHECK(indim_shape_init_with_layout(cx, INDIM_F32, 2, (int64_t[]){2, 3}, &layout, &shape) == INDIM_OK);
  is(cx, "E(32)", &shape, "f32[2,3]{0,1}");
  CHECK_FAILS(cx, indim_shape_init_with_layout(cx, INDIM_F32, 1, (int64_t[]){2}, &layout, &shape), INDIM_INVALID, "2");
}
TEST(Y31_layouts) { with_context(run_layouts); }

static void run_tree_layouts(indim_ctx *cx, indim_arena *arena) {
  indim_shape out;
  // Y35, Y36
  indim_shape nil = parse(cx, arena, "()");
  indim_shape one = parse(cx, arena, "(f32[2,3]{0,1})");
  indim_shape two = parse(cx, arena, "(f32[2,3]{0,1}, f32[2,3]{0,1})");
  indim_shape other = parse(cx, arena, "(f32[2,3]{0,1}, f32[2,2]{0,1})");
  CHECK(indim_shape_layouts_equal(&nil, &nil, 0) && !indim_shape_layouts_equal(&nil, &one, 0) &&
        !indim_shape_layouts_equal(&one, &two, 0) && indim_shape_layouts_equal(&two, &other, 0));
  // Y37
  indim_shape from = parse(cx, arena, "f32[2,3]{0,1}");
  indim_shape to = parse(cx, arena, "f32[2,3]{1,0}");
  indim_shape bare;
  CHECK(indim_shape_clear_layout(cx, NULL, &to, &bare) == INDIM_OK);
  is(cx, "clear", &bare, "f32[2,3]");
  CHECK(indim_shape_copy_layouts(cx, NULL, &from, &to, &out) == INDIM_OK);
  is(cx, "Y37", &out, "f32[2,3]{0,1}");
  CHECK(indim_shape_copy_layouts(cx, NULL, &from, &bare, &out) == INDIM_OK);
  is(cx, "Y37", &out, "f32[2,3]{0,1}");
  CHECK(indim_shape_copy_layouts(cx, NULL, &bare, &to, &out) == INDIM_OK);
  is(cx, "Y37", &out, "f32[2,3]");
  // Y38, Y39
  from = parse(cx, arena, "f32[123,42,7]{2,0,1}");
  to = parse(cx, arena, "f32[2,3,5]");
  CHECK(indim_shape_copy_layouts(cx, NULL, &from, &to, &out) == INDIM_OK);
  is(cx, "Y38", &out, "f32[2,3,5]{2,0,1}");
  to = parse(cx, arena, "f32[2,3]");
  CHECK_FAILS(cx, indim_shape_copy_layouts(cx, NULL, &from, &to, &out), INDIM_INVALID, "cannot copy layout");
  indim_shape a = parse(cx, arena, "(f32[2], f32[3], (f32[4], f32[5]))");
  indim_shape b = parse(cx, arena, "(f32[2], f32[3], (f32[4]))");
  CHECK_FAILS(cx, indim_shape_copy_layouts(cx, arena, &a, &b, &out), INDIM_INVALID, "element count");
  CHECK_FAILS(cx, indim_shape_copy_layouts(cx, arena, &a, &to, &out), INDIM_INVALID, "structure");
  // Y40
  from = parse(cx, arena, "f32[2,3]");
  from.layout = parse_layout(cx, arena, "{1,2,3,0}");
  CHECK_FAILS(cx, indim_shape_copy_layouts(cx, NULL, &from, &to, &out), INDIM_INVALID, "4");
  // Y41, Y42
  indim_shape token = indim_shape_plain(INDIM_TOKEN);
  CHECK(indim_shape_copy_layouts(cx, NULL, &token, &token, &out) == INDIM_OK && out.type == INDIM_TOKEN);
  CHECK(indim_shape_clear_layout(cx, NULL, &token, &out) == INDIM_OK && indim_shape_has_layout(&out));
  CHECK(indim_shape_has_layout(&nil) && !indim_shape_has_any_layout(&nil) && indim_shape_has_any_layout(&token));
  CHECK(!indim_shape_has_layout(&bare) && !indim_shape_has_any_layout(&bare) && indim_shape_has_layout(&two));
  // Y50
  static const struct {
    const char *text;
    bool has;
  } sizes[] = {
      {"f32[2]", false}, {"f32[2]{0:E(32)}", true}, {"(f32[2], f32[3])", false}, {"(f32[2], (f32[3]{0:E(32)}))", true}};
  for (int i = 0; i < 4; i++) {
    a = parse(cx, arena, sizes[i].text);
    CHECK_MSG(indim_shape_has_element_size(&a) == sizes[i].has, "Y50 %s", sizes[i].text);
  }
  a = parse(cx, arena, "(bf16[4,8]{0,1:T(2,4)L(8)S(3)SC(0:2)M(16)}, s4[8]{0:E(4)})");
  CHECK(!indim_shape_is_host(&a));
  CHECK(indim_shape_to_host(cx, arena, &a, &out) == INDIM_OK && indim_shape_is_host(&out));
  is(cx, "host", &out, "(bf16[4,8]{0,1:SC(0:2)}, s4[8]{0})");
  CHECK(indim_shape_update_element_bits(cx, arena, &out, true, &b) == INDIM_OK);
  is(cx, "packed", &b, "(bf16[4,8]{0,1:SC(0:2)}, s4[8]{0:E(4)})");
  CHECK(indim_shape_clear_tiles(cx, arena, &a, &out) == INDIM_OK);
  is(cx, "no tiles", &out, "(bf16[4,8]{0,1:L(8)S(3)SC(0:2)M(16)}, s4[8]{0:E(4)})");
  CHECK(indim_shape_set_default_layout(cx, arena, &a, &out) == INDIM_OK);
  is(cx, "default", &out, "(bf16[4,8]{1,0:T(2,4)L(8)S(3)SC(0:2)M(16)}, s4[8]{0:E(4)})");
  a = parse(cx, arena, "(f8e8m0fnu[2])");
  CHECK(indim_shape_element_is_signed(a.members[0]));
  a = parse(cx, arena, "pred[2]");
  CHECK(!indim_shape_element_is_signed(&a) && !indim_shape_is_effective_scalar(&a));
  a = parse(cx, arena, "f32[1,1]");
  CHECK(indim_shape_is_effective_scalar(&a));
}
TEST(Y35_tree_layouts) { with_context(run_tree_layouts); }

TEST(permutations) {
  CHECK(indim_permutation_is_valid(NULL, 0) && indim_permutation_is_valid((int64_t[]){0}, 1) &&
        indim_permutation_is_valid((int64_t[]){1, 0}, 2) && indim_permutation_is_valid((int64_t[]){3, 1, 0, 2}, 4));
  CHECK(!indim_permutation_is_valid((int64_t[]){-3}, 1) && !indim_permutation_is_valid((int64_t[]){1, 1}, 2) &&
        !indim_permutation_is_valid((int64_t[]){3, 0, 2}, 3));
  int64_t values[] = {'a', 'b', 'c'};
  int64_t out[5];
  indim_permutation_apply_inverse((int64_t[]){2, 1, 0}, values, 3, out);
  CHECK(same_list(out, (int64_t[]){'c', 'b', 'a'}, 3));
  indim_permutation_apply_inverse((int64_t[]){2, 0, 1}, values, 3, out);
  CHECK(same_list(out, (int64_t[]){'b', 'c', 'a'}, 3));
  indim_permutation_compose((int64_t[]){0, 1, 2}, (int64_t[]){1, 2, 0}, 3, out);
  CHECK(same_list(out, (int64_t[]){1, 2, 0}, 3));
  indim_permutation_compose((int64_t[]){1, 3, 2, 0}, (int64_t[]){2, 1, 3, 0}, 4, out);
  CHECK(same_list(out, (int64_t[]){2, 3, 0, 1}, 4));
  int64_t p[] = {3, 1, 0, 2};
  int64_t inverse[4];
  indim_permutation_invert(p, 4, inverse);
  indim_permutation_compose(inverse, p, 4, out);
  CHECK(same_list(out, (int64_t[]){0, 1, 2, 3}, 4));
  int64_t list[] = {0, 1, 2, 3, 4};
  indim_permutation_move(list, 5, 1, 3);
  CHECK(same_list(list, (int64_t[]){0, 2, 3, 1, 4}, 5));
  int64_t again[] = {0, 1, 2, 3, 4};
  indim_permutation_move(again, 5, 3, 1);
  CHECK(same_list(again, (int64_t[]){0, 3, 1, 2, 4}, 5));
}

#define CASES(X)         \
  X(S63_sizes)           \
  X(S67_strides)         \
  X(S69_array_sizes)     \
  X(S77_trees)           \
  X(S87_editing)         \
  X(S97_bitcasts)        \
  X(S105_decompose)      \
  X(S112_align)          \
  X(S120_common_factors) \
  X(S115_reshapes)       \
  X(S140_normalize)      \
  X(Y31_layouts)         \
  X(Y35_tree_layouts)    \
  X(permutations)
TEST_MAIN(CASES)
