// Every allocation of making and printing a picture failed in turn: the outcome is NO_MEMORY or success, and nothing is
// left.
#include "allocator_test.h"
#include "picture.h"
#include "test.h"

typedef indim_status make_fn(indim_ctx *cx, picture *p);

static indim_status parse(indim_ctx *cx, const char *text, indim_arena *arena, indim_shape *out) {
  return indim_shape_parse(cx, indim_str_of(text), arena, out);
}

static indim_status make_shape(indim_ctx *cx, picture *p) {
  indim_arena *arena = NULL;
  indim_shape shape;
  picture_options options = {0};
  indim_status status = indim_arena_create(cx, &arena);
  status =
      status == INDIM_OK
          ? parse(cx, "(f32[2,3]{0,1:PAD(3,5;zero)}, (s4[2,3,9]{2,1,0:T(2,2)(2,1)E(4)S(1)}, token[]))", arena, &shape)
          : status;
  status = status == INDIM_OK ? picture_add_shape(p, &shape, &options) : status;
  indim_arena_destroy(arena);
  return status;
}

static indim_status make_pair(indim_ctx *cx, picture *p) {
  indim_shape a;
  indim_shape b;
  indim_status status = parse(cx, "f32[2,3]", NULL, &a);
  status = status == INDIM_OK ? parse(cx, "f32[3,2]", NULL, &b) : status;
  return status == INDIM_OK ? picture_add_pair(p, &a, &b, NULL) : status;
}

static indim_status make_broadcast(indim_ctx *cx, picture *p) {
  static const int64_t dims[] = {1};
  indim_shape a;
  indim_shape b;
  indim_broadcast result;
  indim_broadcast_reason reason = INDIM_BROADCAST_NONE;
  indim_status status = parse(cx, "f32[2,3,2]", NULL, &a);
  status = status == INDIM_OK ? parse(cx, "f32[3]", NULL, &b) : status;
  status = status == INDIM_OK ? indim_broadcast_shapes(cx, &a, &b, dims, 1, &result, &reason) : status;
  return status == INDIM_OK ? picture_add_broadcast(p, &a, &b, dims, 1, true, &result, reason, NULL, NULL) : status;
}

static indim_status print(indim_ctx *cx, const picture *p) {
  picture_options options = {.colour = true};
  indim_buffer out;
  indim_buffer_init(&out, cx);
  picture_print_text(p, &options, &out);
  picture_print_svg(p, &options, &out);
  picture_print_html(p, &options, "a title", &out);
  picture_print_json(p, &out);
  indim_status status = out.status;
  indim_buffer_deinit(&out);
  return status;
}

// Returns whether an allocation failed.
static bool fail_at(make_fn *make, int64_t number, bool on) {
  test_allocator state = {.fail_at = number, .fail_on = on};
  indim_allocator allocator = {test_resize, &state};
  indim_ctx *cx = NULL;
  picture p;
  if (indim_ctx_create(&allocator, &cx) != INDIM_OK) {
    CHECK_EQ_INT(state.blocks, (int64_t)0);
    return true;
  }
  picture_init(&p, cx);
  indim_status status = make(cx, &p);
  status = status == INDIM_OK ? print(cx, &p) : status;
  CHECK_MSG(status == INDIM_NO_MEMORY || (status == INDIM_OK && !state.failed), "allocation %" PRId64 "%s: %s", number,
            on ? " and all behind it" : "", indim_status_name(status));
  picture_deinit(&p);
  indim_ctx_destroy(cx);
  CHECK_EQ_INT(state.blocks, (int64_t)0);
  return state.failed;
}

static void fail_each(make_fn *make) {
  for (int on = 0; on < 2; on++) {
    int64_t number = 1;
    while (fail_at(make, number, on == 1)) {
      number += TEST_SAMPLE;
    }
    CHECK(number > 10);
  }
}

TEST(shapes) { fail_each(make_shape); }
TEST(pairs) { fail_each(make_pair); }
TEST(broadcasts) { fail_each(make_broadcast); }

#define CASES(X) \
  X(shapes)      \
  X(pairs)       \
  X(broadcasts)
TEST_MAIN(CASES)
