// The text of loop programs: the example of docs/loop.md, and a line of every node.
#include "loop_test.h"

static const indim_loop_op ADD = {.op = INDIM_OP_ADD};

// r[i, j] = maximum(a[i, j] + b[j], 0) for f32[4,11]: eight lanes and a tail under a mask.
static void build_example(fixture *f) {
  indim_loop_builder *b = &f->b;
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 44, "a");
  indim_storage *bias = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 11, "b");
  indim_storage *r = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F32, 44, "r");
  bias->number = 1;
  indim_loop_region_begin(b, &r, 1);
  const uint64_t lanes[16] = {0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0};
  indim_value_id zero = indim_loop_splat(b, indim_loop_const(b, INDIM_F32, 0, 0), 8);
  indim_value_id i = simple_for(b, 4);
  indim_loop_for_parallel(b, 2);
  const indim_value_id row = indim_loop_mul_const(b, i, 11);
  indim_value_id at = indim_loop_add_const(b, row, 0);
  indim_value_id sum = indim_loop_binary(b, INDIM_OP_ADD, indim_loop_load(b, a, at, 8, 1),
                                         indim_loop_load(b, bias, indim_loop_index(b, 0), 8, 1));
  indim_loop_store(b, r, at, indim_loop_binary(b, INDIM_OP_MAXIMUM, sum, zero), 1, false);
  indim_value_id tail = indim_loop_add_const(b, row, 8);
  indim_value_id mask = indim_loop_in_range(b, indim_loop_lanes(b, INDIM_S64, 8, lanes), 0, 2);
  sum = indim_loop_binary(b, INDIM_OP_ADD, indim_loop_load_masked(b, a, tail, 1, mask, zero),
                          indim_loop_load_masked(b, bias, indim_loop_index(b, 8), 1, mask, zero));
  indim_loop_store_masked(b, r, tail, indim_loop_binary(b, INDIM_OP_MAXIMUM, sum, zero), 1, mask);
  indim_loop_for_end(b, NULL, NULL);
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = file == NULL ? NULL : calloc(1, 1 << 20);
  if (text != NULL) {
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    text[size] = '\0';
  }
  if (file != NULL) {
    fclose(file);
  }
  return text;
}

TEST(the_page_shows_what_is_printed) {
  fixture f;
  REQUIRE(open_fixture(&f));
  build_example(&f);
  CHECK_EQ_INT(f.b.status, INDIM_OK);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  indim_buffer text;
  indim_buffer block;
  indim_buffer_init(&text, f.cx);
  indim_buffer_init(&block, f.cx);
  indim_loop_print(f.program, &text);
  indim_buffer_printf(&block, "```\n%s```\n", text.data);
  char *page = read_file("docs/loop.md");
  CHECK(page != NULL);
  CHECK_MSG(page != NULL && strstr(page, block.data) != NULL, "docs/loop.md does not show:\n%s", block.data);
  free(page);
  indim_buffer_deinit(&text);
  indim_buffer_deinit(&block);
  close_fixture(&f);
}

static void build_every_node(indim_loop_builder *b) {
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 64, "a");
  indim_storage *n = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S32, 64, "n");
  indim_storage *r = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F32, 64, "r");
  indim_storage *t = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, INDIM_F32, 64, "t");
  indim_storage *u = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, INDIM_F32, 64, "t");
  a->is_donated = true;
  n->number = 1;
  u->shares = t->index + 1;
  indim_storage *const written[3] = {r, t, u};
  indim_loop_region_begin(b, written, 3);
  indim_value_id zero = indim_loop_index(b, 0);
  indim_value_id half = indim_loop_const(b, INDIM_F32, 0x3f000000, 0);
  indim_value_id s = indim_loop_load(b, n, zero, 4, 16);
  indim_value_id each = indim_loop_clamp_index(b, s, 0, 63);
  indim_value_id x = indim_loop_load(b, a, each, 4, 1);
  const indim_value_id pair[2] = {x, indim_loop_splat(b, half, 4)};
  indim_loop_op less = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_LT};
  indim_value_id mask = indim_loop_elementwise(b, less, INDIM_PRED, 2, pair);
  indim_loop_op narrow = {.op = INDIM_OP_REDUCE_PRECISION, .exponent_bits = 8, .mantissa_bits = 7};
  indim_value_id y = indim_loop_elementwise(b, narrow, INDIM_F32, 1, &x);
  indim_value_id mixed = indim_loop_shuffle(b, 2, (const indim_value_id[]){x, y}, 4, (const int32_t[]){0, 4, -1, 7});
  indim_value_id sum = indim_loop_reduce(b, ADD, indim_loop_fma(b, mixed, y, x));
  indim_value_id lane = indim_loop_extract(b, x, 2);
  indim_value_id in[1];
  indim_value_id out = 0;
  indim_value_id i = indim_loop_for_begin(b, zero, indim_loop_index(b, 16), 4, 1, &sum, in);
  indim_value_id at = indim_loop_affine(b, -3, 1, &i, &(int64_t){-2});
  indim_value_id held = indim_loop_modulo(b, indim_loop_floordiv(b, at, 3), 8);
  indim_loop_store(b, t, held, in[0], 1, true);
  indim_value_id fresh = indim_loop_load(b, u, held, 1, 1);
  indim_loop_store_masked(b, r, i, x, 2, mask);
  indim_loop_for_end(b, &fresh, &out);
  indim_loop_if_begin(b, indim_loop_extract(b, mask, 0));
  indim_loop_if_else(b, 1, &out);
  indim_loop_if_end(b, &lane, &out);
  indim_loop_while_begin(b, 1, &out, in);
  indim_loop_while_body(b, indim_loop_const(b, INDIM_PRED, 0, 0), in);
  indim_loop_while_end(b, in, &out);
  indim_loop_copy(b, t, zero, a, indim_loop_index(b, 8), 16);
  indim_loop_fill(b, t, zero, out, 2);
  indim_loop_prefetch(b, a, zero, 64, 16);
  const indim_host_matmul numbers = {INDIM_F32, 1, 4, 4, 4, 0, 4, 1, 0, 4, 1, 0, 4, 0, 0, 0, 0, 0};
  call_matmul(b, (indim_storage *const[]){r, a, t}, (const indim_value_id[]){zero, zero, zero}, numbers);
}

TEST(every_node_has_its_line) {
  static const char *const expected =
      "argument 0 a: f32[64] donated\n"
      "argument 1 n: s32[64]\n"
      "result 0 r: f32[64]\n"
      "scratch t#3: f32[64] at byte 0\n"
      "scratch t#4: f32[64] at byte 0 aliases t#3\n"
      "\n"
      "v3: s32x4 = load n[0] by 16\n"
      "v4: s64x4 0..63 = clamp-index v3 to 0..63\n"
      "v5: f32x4 = load a[v4] lane by lane\n"
      "v7: predx4 = compare LT v5, 0.5\n"
      "v8: f32x4 = reduce-precision e8m7 v5\n"
      "v9: f32x4 = shuffle v5, v8 {0, 4, _, 7}\n"
      "v10: f32x4 = fma v9, v8, v5\n"
      "v11: f32 = reduce add v10\n"
      "v12: f32 = extract v5 lane 2\n"
      "v23: f32 = for v14: s64 0..12 in 0..16 step 4 carrying v15: f32 = v11\n"
      "  v16: s64 -27..-3 = -2 * v14 - 3\n"
      "  v17: s64 -24..0 = -2 * v14\n"
      "  v18: s64 -8..0 = v17 floordiv 3\n"
      "  v19: s64 -9..-1 = v18 - 1\n"
      "  v20: s64 -1..7 = v18 + 7\n"
      "  v21: s64 0..7 = v20 modulo 8\n"
      "  store t#3[v21], v15 non-temporal\n"
      "  v22: f32 = load t#4[v21] fresh\n"
      "  store r[v14] by 2, v5 where v7\n"
      "  yield v22\n"
      "v24: pred = extract v7 lane 0\n"
      "v25: f32 = if v24\n"
      "  yield v23\n"
      "else\n"
      "  yield v12\n"
      "v29: f32 = while carrying v26: f32 = v25\n"
      "  yield false\n"
      "do carrying v28: f32\n"
      "  yield v28\n"
      "copy t#3[0], a[8] count 16\n"
      "fill t#3[0], v29 count 2\n"
      "prefetch a[0] distance 64 count 16\n"
      "host matmul out r[0], a[0], t#3[0] numbers 11, 1, 4, 4, 4, 0, 4, 1, 0, 4, 1, 0, 4, 0, 0, 0, 0, 0\n";
  fixture f;
  REQUIRE(open_fixture(&f));
  build_every_node(&f.b);
  CHECK_EQ_INT(f.b.status, INDIM_OK);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  indim_buffer text;
  indim_buffer_init(&text, f.cx);
  indim_loop_print(f.program, &text);
  CHECK_EQ_STR(text.data, expected);
  indim_buffer_deinit(&text);
  close_fixture(&f);
}

#define CASES(X)                    \
  X(the_page_shows_what_is_printed) \
  X(every_node_has_its_line)
TEST_MAIN(CASES)
