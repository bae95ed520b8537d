// Broadcasting of two shapes: every case of the specification by its id, the sources of each result dimension, and
// the drawing.
#include "indim/broadcast.h"

#include <stdlib.h>

#include "test.h"

#define R(name) INDIM_BROADCAST_##name

typedef struct row {
  const char *id;
  const char *lhs;
  const char *rhs;
  const char *dims;      // "1,2"
  const char *expected;  // NULL: refused
  indim_broadcast_reason reason;
} row;

static const row rows[] = {
    // Seed documents
    {"S1", "f32[2,3]", "f32[3]", "1", "f32[2,3]", R(NONE)},
    {"S2", "f32[2,3]", "f32[]", "", "f32[2,3]", R(NONE)},
    {"S3", "f32[2,3]", "f32[3]", "", NULL, R(RANK)},
    {"S4", "f32[3,3]", "f32[3]", "1", "f32[3,3]", R(NONE)},
    {"S5", "f32[3,3]", "f32[3]", "0", "f32[3,3]", R(NONE)},
    {"S6", "f32[2,3,4]", "f32[3,4]", "1,2", "f32[2,3,4]", R(NONE)},
    {"S7 T=Q", "f32[2,3,4,5]", "f32[5]", "3", "f32[2,3,4,5]", R(NONE)},
    {"S7 T=P", "f32[2,3,4,5]", "f32[4]", "2", "f32[2,3,4,5]", R(NONE)},
    {"S7 T=N", "f32[2,3,4,5]", "f32[3]", "1", "f32[2,3,4,5]", R(NONE)},
    {"S7 T=M", "f32[2,3,4,5]", "f32[2]", "0", "f32[2,3,4,5]", R(NONE)},
    {"S8 P,Q", "f32[2,3,4,5]", "f32[4,5]", "2,3", "f32[2,3,4,5]", R(NONE)},
    {"S8 N,P", "f32[2,3,4,5]", "f32[3,4]", "1,2", "f32[2,3,4,5]", R(NONE)},
    {"S8 M,Q", "f32[2,3,4,5]", "f32[2,5]", "0,3", "f32[2,3,4,5]", R(NONE)},
    {"S9", "f32[2,3,4,5]", "f32[4,3]", "2,1", NULL, R(ORDER)},
    {"S9 sizes first", "f32[2,3,4,5]", "f32[3,4]", "2,1", NULL, R(SIZE)},
    {"S10 three", "f32[2,3,4,5]", "f32[3,4]", "1,2,3", NULL, R(COUNT)},
    {"S10 twice", "f32[2,3,4,5]", "f32[4,4]", "2,2", NULL, R(ORDER)},
    {"S11", "f32[2,1]", "f32[2,3]", "", "f32[2,3]", R(NONE)},
    {"S12", "f32[1,2,5]", "f32[7,2,5]", "", "f32[7,2,5]", R(NONE)},
    {"S13", "f32[7,2,5]", "f32[7,1,5]", "", "f32[7,2,5]", R(NONE)},
    {"S14", "f32[7,2,5]", "f32[7,2,6]", "", NULL, R(INCOMPATIBLE)},
    {"S15", "f32[2,1]", "f32[1,3]", "", "f32[2,3]", R(NONE)},
    {"S16", "f32[4]", "f32[1,2]", "0", "f32[4,2]", R(NONE)},
    {"S17", "f32[1,2]", "f32[4,3,1]", "1,2", "f32[4,3,2]", R(NONE)},
    {"S18", "f32[2,3]", "f32[3]", "0", NULL, R(SIZE)},
    // Ranks differ, exact sizes
    {"C1", "f32[16,8]", "f32[8]", "1", "f32[16,8]", R(NONE)},
    {"C2", "f32[16,8]", "f32[8]", "0", NULL, R(SIZE)},
    {"C3", "f32[16,8]", "f32[16]", "0", "f32[16,8]", R(NONE)},
    {"C4", "f32[16,8]", "f32[16]", "1", NULL, R(SIZE)},
    {"C5", "f32[16,8,4]", "f32[8,4]", "1,2", "f32[16,8,4]", R(NONE)},
    {"C6", "f32[16,8,4]", "f32[16,4]", "0,2", "f32[16,8,4]", R(NONE)},
    {"C7", "f32[16,8,4]", "f32[16,8]", "0,1", "f32[16,8,4]", R(NONE)},
    {"C8", "f32[8]", "f32[16,8]", "1", "f32[16,8]", R(NONE)},
    {"C9", "s32[2,4,6]", "s32[2,4]", "0,1", "s32[2,4,6]", R(NONE)},
    {"C14", "f32[2]", "f32[2,2,2]", "0", "f32[2,2,2]", R(NONE)},
    {"C15", "f32[2]", "f32[2,2,2]", "1", "f32[2,2,2]", R(NONE)},
    {"C16", "f32[2]", "f32[2,2,2]", "2", "f32[2,2,2]", R(NONE)},
    {"C17", "f32[2,3,2]", "f32[2,3]", "0,1", "f32[2,3,2]", R(NONE)},
    {"C18 a", "f32[2,3,2]", "f32[2]", "2", "f32[2,3,2]", R(NONE)},
    {"C18 b", "f32[2,3,2]", "f32[2]", "0", "f32[2,3,2]", R(NONE)},
    {"C19", "f32[2,3,4,5]", "f32[3]", "1", "f32[2,3,4,5]", R(NONE)},
    {"C20", "f32[16,16,2,2]", "f32[16]", "1", "f32[16,16,2,2]", R(NONE)},
    {"C23", "f32[2,3]", "f32[2,2,1,3]", "1,3", "f32[2,2,1,3]", R(NONE)},
    {"C30 a", "f32[]", "f32[2,3]", "", "f32[2,3]", R(NONE)},
    {"C30 b", "f32[2,3]", "f32[]", "", "f32[2,3]", R(NONE)},
    {"C31", "f32[]", "f32[]", "", "f32[]", R(NONE)},
    // Ranks differ, errors
    {"C32", "f32[16,8,4]", "f32[8]", "", NULL, R(RANK)},
    {"C33", "f32[16,8,4]", "f32[8,4]", "3", NULL, R(COUNT)},
    {"C34", "f32[16,8,4]", "f32[8]", "3", NULL, R(RANGE)},
    {"C35", "f32[16,8,4]", "f32[8]", "0", NULL, R(SIZE)},
    {"C36", "f32[16,8,4]", "f32[8,4]", "0,1,2", NULL, R(COUNT)},
    {"C37", "f32[16,8,4]", "f32[8,4]", "3,0", NULL, R(RANGE)},
    {"C38", "f32[16,8,4]", "f32[8,4]", "2,1", NULL, R(SIZE)},
    {"C39", "f32[8,8,8]", "f32[8,8]", "0,0", NULL, R(ORDER)},
    {"C40", "f32[8,8,8]", "f32[8,8]", "1,0", NULL, R(ORDER)},
    {"C41", "f32[16,8]", "f32[8]", "-1", NULL, R(NEGATIVE)},
    {"C42", "f32[2,2]", "f32[2,3,1]", "1,2", NULL, R(SIZE)},
    {"C43", "u32[2,4,6]", "u32[2,4]", "", NULL, R(RANK)},
    {"C44", "f32[]", "f32[2,3]", "0", NULL, R(COUNT)},
    {"C45", "f32[4]", "f32[1,2]", "", NULL, R(RANK)},
    {"C46", "f32[2,1]", "f32[2,3,4]", "1,2", NULL, R(SIZE)},
    {"C47", "f32[3]", "f32[4,3]", "0", NULL, R(SIZE)},
    // Equal rank: the dimension list
    {"C48 a", "f32[2,3]", "f32[2,3]", "", "f32[2,3]", R(NONE)},
    {"C48 b", "f32[2,3]", "f32[2,3]", "0,1", "f32[2,3]", R(NONE)},
    {"C49", "f32[2,2]", "f32[2,2]", "1,0", NULL, R(IDENTITY)},
    {"C50", "f32[2,1]", "f32[2,3]", "0,1", "f32[2,3]", R(NONE)},
    {"C51", "f32[2,3]", "f32[2,3]", "0", NULL, R(IDENTITY)},
    {"C52", "f32[]", "f32[]", "0", NULL, R(IDENTITY)},
    {"C53", "f32[5]", "f32[5]", "0", "f32[5]", R(NONE)},
    // Degenerate
    {"C54", "f32[1,2]", "f32[2,3]", "", NULL, R(INCOMPATIBLE)},
    {"C55", "f32[2,2]", "f32[1,2]", "", "f32[2,2]", R(NONE)},
    {"C56", "f32[2,2]", "f32[2,1]", "", "f32[2,2]", R(NONE)},
    {"C57", "f32[2,2,2]", "f32[2,1,1]", "", "f32[2,2,2]", R(NONE)},
    {"C63", "f32[2,2,2]", "f32[1,1,1]", "", "f32[2,2,2]", R(NONE)},
    {"C66", "f32[4,1]", "f32[1,3]", "", "f32[4,3]", R(NONE)},
    {"C67", "f32[1]", "f32[2]", "", "f32[2]", R(NONE)},
    {"C68 a", "f32[3,4,5]", "f32[1,1,5]", "", "f32[3,4,5]", R(NONE)},
    {"C68 b", "f32[3,4,5]", "f32[1,4,1]", "", "f32[3,4,5]", R(NONE)},
    {"C68 c", "f32[3,4,5]", "f32[3,1,1]", "", "f32[3,4,5]", R(NONE)},
    {"C68 d", "f32[3,4,5]", "f32[1,1,1]", "", "f32[3,4,5]", R(NONE)},
    {"C68 e", "f32[3,4,5]", "f32[1,4,5]", "", "f32[3,4,5]", R(NONE)},
    {"C68 f", "f32[3,4,5]", "f32[3,4,1]", "", "f32[3,4,5]", R(NONE)},
    {"C68 g", "f32[3,4,5]", "f32[3,1,5]", "", "f32[3,4,5]", R(NONE)},
    {"C69 a", "f32[3,199,5]", "f32[1,199,1]", "", "f32[3,199,5]", R(NONE)},
    {"C69 b", "f32[1,1,1]", "f32[1,1,1]", "", "f32[1,1,1]", R(NONE)},
    {"C71", "f32[50,150]", "f32[1,150]", "", "f32[50,150]", R(NONE)},
    // Composition
    {"C72", "f32[1,2]", "f32[2,3,1]", "1,2", "f32[2,3,2]", R(NONE)},
    {"C73", "pred[2,1]", "pred[2,2,1]", "1,2", "pred[2,2,1]", R(NONE)},
    {"C74", "f32[2,1]", "f32[2,3,4]", "0,2", "f32[2,3,4]", R(NONE)},
    {"C75", "f32[2,3]", "f32[2,1,4]", "0,1", "f32[2,3,4]", R(NONE)},
    {"C76", "f32[1]", "f32[2,2]", "1", "f32[2,2]", R(NONE)},
    {"C77", "f32[2]", "f32[2,2,3,3]", "1", "f32[2,2,3,3]", R(NONE)},
    {"C78", "f32[5]", "f32[1,7]", "0", "f32[5,7]", R(NONE)},
    {"C79", "f32[5]", "f32[7,1]", "1", "f32[7,5]", R(NONE)},
    // Zero sizes
    {"C80", "f32[1]", "f32[0]", "", "f32[0]", R(NONE)},
    {"C81 a", "f32[1]", "f32[0,2]", "0", "f32[0,2]", R(NONE)},
    {"C81 b", "f32[1]", "f32[0,2]", "1", "f32[0,2]", R(NONE)},
    {"C82", "f32[0]", "f32[2,0]", "1", "f32[2,0]", R(NONE)},
    {"C83", "f32[0]", "f32[0,2]", "0", "f32[0,2]", R(NONE)},
    {"C84", "s32[2,0,3]", "s32[]", "", "s32[2,0,3]", R(NONE)},
    {"C85", "f32[2]", "f32[2,0]", "0", "f32[2,0]", R(NONE)},
    {"C86", "f32[2,3]", "f32[2,2,0,3]", "1,3", "f32[2,2,0,3]", R(NONE)},
    {"C87", "f32[0]", "f32[1,3]", "0", "f32[0,3]", R(NONE)},
    {"C88", "f32[0]", "f32[2]", "", NULL, R(INCOMPATIBLE)},
    {"C89", "f32[0]", "f32[0]", "", "f32[0]", R(NONE)},
    // Types and non-arrays
    {"C90", "f32[2]", "s32[2]", "", NULL, R(TYPE)},
    {"C91", "bf16[2]", "f32[2]", "", "f32[2]", R(NONE)},
    {"C92", "f16[2]", "bf16[2]", "", "bf16[2]", R(NONE)},
    {"C93", "pred[2]", "pred[2]", "", "pred[2]", R(NONE)},
    {"C98 opaque", "opaque[]", "f32[2]", "", NULL, R(ARRAY)},
    {"C98 tuple", "(f32[2])", "f32[2]", "", NULL, R(ARRAY)},
    {"C98 right", "f32[2]", "token[]", "", NULL, R(ARRAY)},
    // Dynamic
    {"C100", "f32[1]", "f32[<=2,<=2]", "1", "f32[<=2,<=2]", R(NONE)},
    {"C101", "f32[<=5,4]", "f32[<=5]", "0", "f32[<=5,4]", R(NONE)},
    {"C102", "f32[<=10]", "f32[1,15]", "0", "f32[<=10,15]", R(NONE)},
    {"C103", "f32[?,10]", "f32[]", "", "f32[?,10]", R(NONE)},
    {"C104 a", "f32[?,10]", "f32[1,10]", "0,1", "f32[?,10]", R(NONE)},
    {"C104 b", "f32[?,10]", "f32[1,10]", "", "f32[?,10]", R(NONE)},
    {"C105", "f32[?,10]", "f32[2]", "0", NULL, R(SIZE)},
    {"C106", "f32[1]", "f32[?,3]", "0", "f32[?,3]", R(NONE)},
    {"C107", "f32[2]", "f32[?,3]", "0", NULL, R(SIZE)},
    {"C108", "f32[?,2]", "f32[?,3]", "", NULL, R(INCOMPATIBLE)},
    {"C109 1|?", "f32[?]", "f32[1]", "", "f32[?]", R(NONE)},
    {"C109 2|?", "f32[?]", "f32[2]", "", "f32[2]", R(NONE)},
    {"C109 <=2|?", "f32[?]", "f32[<=2]", "", "f32[<=2]", R(NONE)},
    {"C109 ?|?", "f32[?]", "f32[?]", "", "f32[?]", R(NONE)},
    {"1.11 N|<=N", "f32[3]", "f32[<=3]", "", "f32[<=3]", R(NONE)},
    {"1.11 <=N|M", "f32[<=4]", "f32[3]", "", NULL, R(INCOMPATIBLE)},
    {"1.11 <=1|N", "f32[<=1]", "f32[3]", "", "f32[3]", R(NONE)},
    {"1.11 in-dim dyn", "f32[<=1]", "f32[3,2]", "0", NULL, R(DYNAMIC)},
};

static int32_t read_dims(const char *text, int64_t *out) {
  int32_t count = 0;
  for (const char *at = text; *at != '\0';) {
    char *end = NULL;
    out[count++] = strtoll(at, &end, 10);
    at = *end == ',' ? end + 1 : end;
  }
  return count;
}

static void check_row(indim_ctx *cx, indim_arena *arena, const row *r, bool swapped) {
  indim_shape lhs;
  indim_shape rhs;
  int64_t dims[8];
  int32_t count = read_dims(r->dims, dims);
  CHECK_MSG(indim_shape_parse(cx, indim_str_of(swapped ? r->rhs : r->lhs), arena, &lhs) == INDIM_OK &&
                indim_shape_parse(cx, indim_str_of(swapped ? r->lhs : r->rhs), arena, &rhs) == INDIM_OK,
            "%s: shapes do not parse", r->id);
  indim_broadcast result;
  indim_broadcast_reason reason = INDIM_BROADCAST_ARRAY;
  indim_status status = indim_broadcast_shapes(cx, &lhs, &rhs, dims, count, &result, &reason);
  CHECK_MSG(reason == r->reason, "%s: reason %d, expected %d", r->id, (int)reason, (int)r->reason);
  CHECK_MSG((status == INDIM_OK) == (r->expected != NULL), "%s: status %s", r->id, indim_status_name(status));
  indim_buffer text;
  indim_buffer_init(&text, cx);
  if (status == INDIM_OK) {
    indim_shape_print(&result.shape, false, &text);
    CHECK_MSG(r->expected != NULL && strcmp(text.data, r->expected) == 0, "%s: got %s", r->id, text.data);
  } else {
    CHECK_MSG(indim_ctx_diagnostic_count(cx) == 1, "%s: %zu diagnostics", r->id, indim_ctx_diagnostic_count(cx));
    CHECK_MSG(indim_ctx_diagnostic_get(cx, 0)->message[0] != '\0', "%s: no message", r->id);
    indim_ctx_diagnostics_clear(cx);
  }
  // The drawing must cope with every pair.
  indim_buffer_clear(&text);
  indim_broadcast_draw(&lhs, &rhs, dims, count, status == INDIM_OK ? &result : NULL, reason, &text);
  CHECK(text.status == INDIM_OK);
  indim_buffer_deinit(&text);
}

static void with_context(void (*body)(indim_ctx *cx, indim_arena *arena)) {
  indim_ctx *cx = NULL;
  indim_arena *arena = NULL;
  CHECK(indim_ctx_create(NULL, &cx) == INDIM_OK);
  CHECK(indim_arena_create(cx, &arena) == INDIM_OK);
  body(cx, arena);
  indim_arena_destroy(arena);
  CHECK_EQ_INT((int64_t)indim_ctx_memory_in_use(cx), 0);
  indim_ctx_destroy(cx);
}

static void run_rows(indim_ctx *cx, indim_arena *arena) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    check_row(cx, arena, &rows[i], false);
    // The order of the operands never matters to matching.
    check_row(cx, arena, &rows[i], true);
  }
}
TEST(cases) { with_context(run_rows); }

// The message of a refusal shows both sides and the numbers, and the hint the way out.
static void refusal(indim_ctx *cx, indim_arena *arena, const char *lhs, const char *rhs, const char *dims,
                    const char *message, const char *hint) {
  indim_shape a;
  indim_shape b;
  int64_t list[8];
  int32_t count = read_dims(dims, list);
  indim_broadcast result;
  CHECK(indim_shape_parse(cx, indim_str_of(lhs), arena, &a) == INDIM_OK);
  CHECK(indim_shape_parse(cx, indim_str_of(rhs), arena, &b) == INDIM_OK);
  CHECK(indim_broadcast_shapes(cx, &a, &b, list, count, &result, NULL) == INDIM_INVALID);
  CHECK_EQ_STR(indim_ctx_diagnostic_get(cx, 0)->message, message);
  CHECK_EQ_STR(indim_ctx_diagnostic_get(cx, 0)->hint, hint);
  indim_ctx_diagnostics_clear(cx);
}

static void run_messages(indim_ctx *cx, indim_arena *arena) {
  refusal(cx, arena, "f32[2,3]", "f32[3]", "",
          "shapes must be of equal rank, or say which dimensions match: f32[3] and f32[2,3]", "match it with dims {1}");
  refusal(cx, arena, "f32[2,3]", "f32[3]", "0",
          "broadcast dimension 0 mismatch: size 3 of dimension 0 of f32[3] is not size 2 of dimension 0 of f32[2,3]",
          "dims {1} would match");
  refusal(cx, arena, "f32[7,2,5]", "f32[7,2,6]", "",
          "incompatible shapes f32[7,2,5] and f32[7,2,6]: dimension 2 has sizes 5 and 6",
          "sizes must be equal, or one of them 1");
  refusal(cx, arena, "f32[8,8,8]", "f32[8,8]", "1,0", "broadcast dimensions order is wrong: 0 comes after 1",
          "the dimensions must increase strictly; transpose the operand first to match them otherwise");
  refusal(cx, arena, "f32[16,8]", "f32[8]", "2", "broadcast dimension number 2 is too large for f32[16,8] of rank 2",
          "number the dimensions of f32[16,8] from 0 to 1");
  refusal(cx, arena, "f32[?,10]", "f32[2]", "0",
          "broadcast dimension 0 mismatch: size 2 of dimension 0 of f32[2] is not size ? of dimension 0 of f32[?,10]",
          "matched dimensions must be equal, or one of them 1");
}
TEST(messages) { with_context(run_messages); }

static void run_sources(indim_ctx *cx, indim_arena *arena) {
  indim_shape a;
  indim_shape b;
  indim_broadcast result;
  CHECK(indim_shape_parse(cx, indim_str_of("f32[1,2]"), arena, &a) == INDIM_OK);
  CHECK(indim_shape_parse(cx, indim_str_of("f32[4,3,1]"), arena, &b) == INDIM_OK);
  int64_t dims[] = {1, 2};
  CHECK(indim_broadcast_shapes(cx, &a, &b, dims, 2, &result, NULL) == INDIM_OK);
  // S17: f32[4,3,2]; the left operand lies along 1 and 2 and repeats along 1, the right repeats along 2.
  int32_t lhs_dims[] = {-1, 0, 1};
  int32_t rhs_dims[] = {0, 1, 2};
  for (int d = 0; d < 3; d++) {
    CHECK_EQ_INT(result.lhs_dims[d], lhs_dims[d]);
    CHECK_EQ_INT(result.rhs_dims[d], rhs_dims[d]);
  }
  CHECK_EQ_UINT(result.lhs_stretched, 1u << 1);
  CHECK_EQ_UINT(result.rhs_stretched, 1u << 2);
}
TEST(S17_sources) { with_context(run_sources); }

// The result takes the left operand's layout when the dimensions are the same, the default otherwise (1.4, 1.5).
static void run_layouts(indim_ctx *cx, indim_arena *arena) {
  indim_shape a;
  indim_shape b;
  indim_broadcast result;
  CHECK(indim_shape_parse(cx, indim_str_of("f32[2,3]{0,1}"), arena, &a) == INDIM_OK);
  CHECK(indim_shape_parse(cx, indim_str_of("f32[2,3]{1,0}"), arena, &b) == INDIM_OK);
  CHECK(indim_broadcast_shapes(cx, &a, &b, NULL, 0, &result, NULL) == INDIM_OK);
  CHECK_EQ_INT(result.shape.layout.minor_to_major[0], 0);
  CHECK(indim_shape_parse(cx, indim_str_of("f32[1,3]{0,1}"), arena, &b) == INDIM_OK);
  CHECK(indim_broadcast_shapes(cx, &a, &b, NULL, 0, &result, NULL) == INDIM_OK);
  CHECK_EQ_INT(result.shape.layout.minor_to_major[0], 1);
}
TEST(layouts) { with_context(run_layouts); }

static void drawing(indim_ctx *cx, indim_arena *arena, const char *lhs, const char *rhs, const char *dims,
                    const char *expected) {
  indim_shape a;
  indim_shape b;
  int64_t list[8];
  int32_t count = read_dims(dims, list);
  indim_broadcast result;
  indim_broadcast_reason reason;
  CHECK(indim_shape_parse(cx, indim_str_of(lhs), arena, &a) == INDIM_OK);
  CHECK(indim_shape_parse(cx, indim_str_of(rhs), arena, &b) == INDIM_OK);
  indim_status status = indim_broadcast_shapes(cx, &a, &b, list, count, &result, &reason);
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_broadcast_draw(&a, &b, list, count, status == INDIM_OK ? &result : NULL, reason, &text);
  CHECK_EQ_STR(text.data, expected);
  indim_buffer_deinit(&text);
  indim_ctx_diagnostics_clear(cx);
}

static void run_drawings(indim_ctx *cx, indim_arena *arena) {
  drawing(cx, arena, "f32[2,3,4,5]", "f32[3,5]", "1,3",
          "  f32[2,3,4,5]   left\n"
          "  f32[  3,  5]   right, dims {1,3}\n"
          "  f32[2,3,4,5]   result\n");
  drawing(cx, arena, "f32[16]", "f32[1,2]", "0",
          "  f32[ 1,2]   right\n"
          "  f32[16  ]   left, dims {0}\n"
          "  f32[16,2]   result\n");
  drawing(cx, arena, "f32[7,2,5]", "f32[7,2,6]", "",
          "  f32[7,2,5]   left\n"
          "  f32[7,2,6]   right\n"
          "          ^\n");
  drawing(cx, arena, "f32[2,3]", "f32[]", "",
          "  f32[2,3]   left\n"
          "  f32[   ]   right\n"
          "  f32[2,3]   result\n");
}
TEST(drawings) { with_context(run_drawings); }

#define CASES(X) \
  X(cases)       \
  X(messages)    \
  X(S17_sources) \
  X(layouts)     \
  X(drawings)
TEST_MAIN(CASES)
