// Properties that hold for every array, tried on random ones of small sizes (0 and 1 among them) in random dimension
// orders: text is read back as it was, undoing an operation gives the operand, and neither layouts nor a trip through
// text change a program's result. A failure names its seed.
#include "indim/builder.h"
#include "indim/eval.h"
#include "indim/text.h"
#include "literal_test.h"

enum { ROUNDS = 300, RANK = 3 };

static uint64_t draw(uint64_t *state, uint64_t below) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*state >> 33) % below;
}

static indim_shape random_shape(indim_ctx *cx, uint64_t *state, indim_type type) {
  int64_t sizes[RANK];
  indim_shape shape;
  for (int i = 0; i < RANK; i++) {
    sizes[i] = (int64_t)draw(state, 5);
  }
  CHECK_OK(cx, indim_shape_init(cx, type, RANK, sizes, &shape));
  indim_layout_init(RANK, &shape.layout);
  shape.has_layout = true;
  for (int i = RANK - 1; i > 0; i--) {
    int j = (int)draw(state, (uint64_t)i + 1);
    int64_t kept = shape.layout.minor_to_major[i];
    shape.layout.minor_to_major[i] = shape.layout.minor_to_major[j];
    shape.layout.minor_to_major[j] = kept;
  }
  return shape;
}

static indim_literal *random_literal(indim_ctx *cx, uint64_t *state, const indim_shape *shape) {
  indim_literal *literal = NULL;
  CHECK_OK(cx, indim_literal_create(cx, shape, &literal));
  int64_t at[RANK];
  for (at[0] = 0; literal != NULL && at[0] < shape->sizes[0]; at[0]++) {
    for (at[1] = 0; at[1] < shape->sizes[1]; at[1]++) {
      for (at[2] = 0; at[2] < shape->sizes[2]; at[2]++) {
        CHECK_OK(cx, indim_literal_set_int(cx, literal, at, (int64_t)draw(state, 200) - 100));
      }
    }
  }
  return literal;
}

TEST(literal_text_is_read_back) {
  static const indim_type types[] = {INDIM_S8, INDIM_S16, INDIM_S32, INDIM_S64};
  for (uint64_t seed = 1; seed <= ROUNDS && test_failures == 0; seed++) {
    uint64_t state = seed;
    indim_ctx *cx = test_cx_new();
    indim_shape shape = random_shape(cx, &state, types[draw(&state, 4)]);
    indim_literal *literal = random_literal(cx, &state, &shape);
    indim_literal *again = NULL;
    indim_buffer text;
    indim_buffer_init(&text, cx);
    indim_literal_print(literal, (unsigned)(INDIM_LITERAL_SHAPE | INDIM_LITERAL_LAYOUT), &text);
    CHECK_OK(cx, indim_literal_parse(cx, (indim_str){text.data, text.size}, &again));
    CHECK_MSG(again != NULL && indim_literal_equal(literal, again), "seed %" PRIu64 ": %s", seed, text.data);
    indim_buffer_deinit(&text);
    indim_literal_destroy(literal);
    indim_literal_destroy(again);
    test_cx_free(cx);
  }
}

// Programs whose result is their operand.
static const indim_instr *build_identity(indim_builder *b, const indim_instr *x, const int64_t *sizes, int which) {
  static const int64_t turn[] = {1, 2, 0};
  static const int64_t back[] = {2, 0, 1};
  static const int64_t zeros[RANK] = {0};
  int64_t low[] = {1, 0, 2};
  int64_t limits[RANK];
  int64_t flat = sizes[0] * sizes[1] * sizes[2];
  for (int i = 0; i < RANK; i++) {
    limits[i] = low[i] + sizes[i];
  }
  switch (which) {
  case 0:
    return indim_build_transpose(b, indim_build_transpose(b, x, turn, RANK), back, RANK);
  case 1:
    return indim_build_reverse(b, indim_build_reverse(b, x, turn, 2), turn, 2);
  case 2:
    return indim_build_reshape(b, indim_build_reshape(b, x, &flat, 1), sizes, RANK);
  case 3:
    return indim_build_slice(b, indim_build_pad(b, x, indim_build_scalar_int(b, INDIM_S32, 7), low, low, NULL), low,
                             limits, NULL);
  default:
    return indim_build_slice(b, indim_build_concatenate(b, (const indim_instr *[]){x, x}, 2, 1), zeros, sizes, NULL);
  }
}

static void check_identity(uint64_t seed, int which) {
  uint64_t state = seed;
  indim_ctx *cx = test_cx_new();
  indim_shape shape = random_shape(cx, &state, INDIM_S32);
  indim_shape other = shape;
  indim_literal *argument = random_literal(cx, &state, &shape);
  indim_literal *result[2] = {NULL, NULL};
  indim_module *module[2] = {NULL, NULL};
  indim_builder *b = NULL;
  indim_buffer text[2];
  indim_layout_init(RANK, &other.layout);
  CHECK_OK(cx, indim_builder_create(cx, "identity", &b));
  indim_builder_begin(b, "main");
  const indim_instr *x = indim_build_parameter(b, 0, &other, "x");
  indim_builder_end(b, build_identity(b, x, shape.sizes, which));
  CHECK_OK(cx, indim_builder_finish(b, &module[0]));
  indim_builder_destroy(b);
  for (int i = 0; i < 2; i++) {
    indim_buffer_init(&text[i], cx);
    if (i == 1 && module[0] != NULL) {
      CHECK_OK(cx, indim_module_parse(cx, indim_str_of("p"), (indim_str){text[0].data, text[0].size}, &module[1]));
      CHECK_OK(cx, indim_module_verify(cx, module[1]));
    }
    if (module[i] != NULL) {
      indim_module_print(module[i], 0, &text[i]);
      CHECK_OK(cx, indim_eval(cx, module[i], (const indim_literal *const[]){argument}, 1, NULL, &result[i]));
    }
    indim_mismatch mismatch = {.count = -1};
    indim_tolerance exact = {0};
    if (result[i] != NULL) {
      CHECK_OK(cx, indim_literal_compare(cx, argument, result[i], &exact, &mismatch));
    }
    CHECK_MSG(mismatch.count == 0, "seed %" PRIu64 ", program %d: not its operand\n%s", seed, which, text[0].data);
  }
  CHECK_EQ_STR(text[1].data, text[0].data);
  for (int i = 0; i < 2; i++) {
    indim_buffer_deinit(&text[i]);
    indim_literal_destroy(result[i]);
    indim_module_destroy(module[i]);
  }
  indim_literal_destroy(argument);
  test_cx_free(cx);
}

TEST(undone_operations_give_the_operand) {
  for (uint64_t seed = 1; seed <= ROUNDS && test_failures == 0; seed++) {
    check_identity(seed, (int)(seed % 5));
  }
}

#define CASES(X)               \
  X(literal_text_is_read_back) \
  X(undone_operations_give_the_operand)
TEST_MAIN(CASES)
