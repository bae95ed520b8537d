// The verifier of loop programs: a right program passes; each broken rule is refused with its own words.
#include "loop_test.h"

// A program with one node of nearly every kind, and the values that the cases break.
typedef struct subject {
  fixture f;
  indim_storage *a, *n, *p, *r, *t;
  indim_value_id i, x, gathered, address, quotient, held, sum, real, wide, lane, mixed, total, constant, lanes, pred,
      fma;
  indim_value_id if_result, for_result, masked;
  indim_loop_node *loop, *store, *copy, *fill, *prefetch, *branch, *repeat, *masked_store, *host, *convolution;
} subject;

// The node that the builder made last in the open body.
static indim_loop_node *last(const indim_loop_builder *b) { return b->body->last; }

static void build_loop(subject *s, indim_loop_builder *b, indim_value_id zero) {
  indim_value_id carried = 0;
  s->i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, 64), 8, 1, &zero, &carried);
  s->loop = b->body->owner;
  s->x = indim_loop_load(b, s->a, s->i, 8, 1);
  s->address = indim_loop_affine(b, 1, 1, &s->i, &(int64_t){3});
  s->quotient = indim_loop_floordiv(b, s->address, 7);
  s->gathered = indim_loop_load(b, s->n, s->quotient, 1, 1);
  s->held = indim_loop_clamp_index(b, s->gathered, 0, 63);
  s->real = indim_loop_load(b, s->a, s->held, 1, 1);
  s->wide = indim_loop_splat(b, s->real, 8);
  s->sum = indim_loop_binary(b, INDIM_OP_ADD, s->x, s->wide);
  s->lane = indim_loop_extract(b, s->x, 3);
  const indim_value_id args[2] = {s->x, s->sum};
  s->mixed = indim_loop_shuffle(b, 2, args, 8, (const int32_t[]){0, 8, 1, 9, 2, 10, 3, 11});
  s->fma = indim_loop_fma(b, s->x, s->lanes, s->mixed);
  s->total = indim_loop_reduce(b, (indim_loop_op){.op = INDIM_OP_ADD}, s->fma);
  s->pred = indim_loop_load(b, s->p, s->i, 8, 1);
  s->masked = indim_loop_load_masked(b, s->a, s->address, 1, s->pred, s->wide);
  indim_loop_store(b, s->r, s->i, s->masked, 1, false);
  s->store = last(b);
  indim_loop_store_masked(b, s->r, s->address, s->sum, 1, s->pred);
  s->masked_store = last(b);
  indim_value_id yield = indim_loop_binary(b, INDIM_OP_ADD, carried, s->total);
  indim_loop_for_end(b, &yield, &s->for_result);
}

static bool build_subject(subject *s) {
  *s = (subject){.i = 0};
  if (!open_fixture(&s->f)) {
    return false;
  }
  indim_loop_builder *b = &s->f.b;
  static const uint64_t bits[16] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0};
  s->a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 64, "a");
  s->n = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S32, 64, "n");
  s->p = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_PRED, 64, "p");
  s->r = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F32, 64, "r");
  s->t = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, INDIM_F32, 64, "t");
  indim_storage *const written[2] = {s->r, s->t};
  indim_loop_region_begin(b, written, 2);
  s->constant = indim_loop_const(b, INDIM_F32, 0x3f800000, 0);
  s->lanes = indim_loop_lanes(b, INDIM_F32, 8, bits);
  build_loop(s, b, s->constant);
  indim_value_id flag = indim_loop_load(b, s->p, indim_loop_index(b, 0), 1, 1);
  indim_loop_if_begin(b, flag);
  indim_loop_if_else(b, 1, &s->constant);
  indim_loop_if_end(b, &s->for_result, &s->if_result);
  s->branch = last(b);
  indim_value_id carried = 0;
  indim_value_id result = 0;
  indim_loop_while_begin(b, 1, &s->if_result, &carried);
  indim_loop_while_body(b, flag, &carried);
  indim_loop_while_end(b, &carried, &result);
  s->repeat = last(b);
  indim_loop_copy(b, s->t, indim_loop_index(b, 0), s->r, indim_loop_index(b, 32), 32);
  s->copy = last(b);
  indim_loop_fill(b, s->t, indim_loop_index(b, 60), result, 4);
  s->fill = last(b);
  indim_loop_prefetch(b, s->a, indim_loop_index(b, 60), 60, 16);
  s->prefetch = last(b);
  const indim_host_matmul numbers = {INDIM_F32, 1, 4, 4, 4, 0, 4, 1, 0, 4, 1, 0, 4, 0, 0, 0, 0, 0};
  indim_value_id zero = indim_loop_index(b, 0);
  call_matmul(b, (indim_storage *const[]){s->t, s->a, s->a}, (const indim_value_id[]){zero, zero, zero}, numbers);
  s->host = last(b);
  call_convolution(b, (indim_storage *const[]){s->t, s->a, s->a},
                   (const indim_value_id[]){zero, zero, indim_loop_index(b, 6)}, small_convolution());
  s->convolution = last(b);
  return s->f.b.status == INDIM_OK;
}

static indim_loop_node *mutable_node(const subject *s, indim_value_id v) { return s->f.program->values[v].node; }
static indim_host_convolution *numbers_of(const subject *s) {
  return (indim_host_convolution *)(void *)s->convolution->u.host.numbers;
}
static indim_loop_value *mutable_value(const subject *s, indim_value_id v) { return &s->f.program->values[v]; }

TEST(a_right_program_passes) {
  subject s;
  REQUIRE(build_subject(&s));
  CHECK_EQ_INT(indim_loop_verify(s.f.program), INDIM_OK);
  close_fixture(&s.f);
}

// The loop gives its index, where it begins with a float.
static bool carry_another_type(subject *s) {
  s->loop->bodies[0]->yields[0] = s->i;
  mutable_value(s, s->for_result)->type = INDIM_S64;
  return true;
}

// Of what memory holds, nothing is known.
static bool know_what_is_loaded(subject *s) {
  s->n->type = INDIM_S64;
  mutable_value(s, s->gathered)->type = INDIM_S64;
  mutable_value(s, s->gathered)->low = 0;
  return true;
}

// Broken rules: what to break, and words of the message.
#define BREAKS(X)                                                                                      \
  /* where and how often */                                                                            \
  X(mutable_node(&s, s.sum)->args[1] = 0, "not defined before its use")                                \
  X(mutable_node(&s, s.sum)->args[1] = s.total, "not defined before its use")                          \
  X(mutable_node(&s, s.sum)->args[1] = 99999, "not defined before its use")                            \
  X(s.copy->args[0] = s.i, "not in scope here")                                                        \
  X(mutable_node(&s, s.sum)->first_result = s.x, "defined twice")                                      \
  X(mutable_node(&s, s.sum)->first_result = 99999, "defined twice or is not a value")                  \
  X(mutable_value(&s, s.sum)->node = s.store, "names another definition")                              \
  X(mutable_value(&s, s.sum)->body = s.f.program->body, "names another definition")                    \
  X(mutable_node(&s, s.sum)->body = s.f.program->body, "is in another body")                           \
  X(mutable_node(&s, s.sum)->result_count = 2, "defines 2 values, expected 1")                         \
  X(s.store->result_count = 1, "defines 1 values, expected 0")                                         \
  X(mutable_node(&s, s.fma)->arg_count = 2, "2 arguments, expected 3")                                 \
  X(mutable_node(&s, s.sum)->bodies[0] = s.f.program->body, "has 1 bodies, expected 0")                \
  X(s.branch->bodies[1] = NULL, "has 1 bodies, expected 2")                                            \
  X(mutable_node(&s, s.sum)->kind = INDIM_NODE_COUNT, "invalid kind")                                  \
  X(mutable_value(&s, s.sum)->lanes = 0, "0 lanes of f32")                                             \
  X(mutable_value(&s, s.sum)->type = INDIM_TUPLE, "8 lanes of tuple")                                  \
  /* elementwise */                                                                                    \
  X(mutable_node(&s, s.sum)->u.op.op = INDIM_OP_TRANSPOSE, "not elementwise")                          \
  X(mutable_node(&s, s.sum)->u.op.op = INDIM_OP_COUNT, "not elementwise")                              \
  X(mutable_node(&s, s.sum)->u.op.op = INDIM_OP_NEGATE, "negate of 2 values")                          \
  X(mutable_node(&s, s.sum)->u.op.op = INDIM_OP_COMPARE, "types of compare")                           \
  X(mutable_node(&s, s.sum)->args[1] = s.real, "has 1 lanes, the result 8")                            \
  X(mutable_node(&s, s.sum)->args[1] = s.pred - 0, "before its use")                                   \
  X(mutable_value(&s, s.sum)->type = INDIM_F64, "types of add")                                        \
  X(mutable_value(&s, s.fma)->type = INDIM_S32, "fma requires f32, f64 or a complex type")             \
  X((mutable_value(&s, s.fma)->type = INDIM_BF16), "fma requires f32, f64 or a complex type")          \
  X(mutable_node(&s, s.total)->u.op.op = INDIM_OP_NEGATE, "a reduction by negate")                     \
  X(mutable_value(&s, s.total)->lanes = 2, "has one lane")                                             \
  X(mutable_node(&s, s.constant)->u.constant.bits[0] = 1ULL << 32, "more bits than f32")               \
  X(mutable_node(&s, s.constant)->u.constant.bits[1] = 1, "more bits than f32")                        \
  X(mutable_node(&s, s.lanes)->u.lanes.bits = NULL, "without bits")                                    \
  /* lanes */                                                                                          \
  X(mutable_node(&s, s.wide)->args[0] = s.x, "splat of 8 lanes")                                       \
  X(mutable_node(&s, s.lane)->u.lane = 8, "lane 8 of 8")                                               \
  X(mutable_node(&s, s.lane)->u.lane = -1, "lane -1 of 8")                                             \
  X(mutable_value(&s, s.lane)->type = INDIM_S32, "f32 moved into s32")                                 \
  X(mutable_node(&s, s.mixed)->u.map = bad_map, "lane 16 of 16")                                       \
  X(mutable_node(&s, s.mixed)->u.map = NULL, "shuffle of nothing")                                     \
  X(mutable_value(&s, s.mixed)->type = INDIM_S32, "shuffle of f32 into s32")                           \
  /* index arithmetic and ranges */                                                                    \
  X(mutable_value(&s, s.address)->type = INDIM_S32, "must be s64")                                     \
  X(mutable_node(&s, s.quotient)->u.affine.constant = 0, "the divisor is 0")                           \
  X(mutable_node(&s, s.quotient)->args[0] = s.x, "other than s64")                                     \
  X(mutable_node(&s, s.held)->u.clamp.low = 64, "to an empty range")                                   \
  X(mutable_node(&s, s.held)->args[0] = s.x, "clamp of a non-integer")                                 \
  X(mutable_value(&s, s.address)->high -= 1, "may be outside of its range")                            \
  X(mutable_value(&s, s.address)->low += 1, "may be outside of its range")                             \
  X(mutable_node(&s, s.address)->u.affine.constant = 9, "may be outside of its range")                 \
  X(mutable_value(&s, s.i)->high = 55, "may be outside of its range")                                  \
  X(mutable_value(&s, s.held)->high = 62, "may be outside of its range")                               \
  X(know_what_is_loaded(&s), "may be outside of its range")                                            \
  /* memory */                                                                                         \
  X(s.a->elements = 63, "elements 0..7 from")                                                          \
  X(s.a->type = INDIM_S32, "a holds s32, not f32")                                                     \
  X(mutable_node(&s, s.x)->u.memory.storage = 77, "storage 77 does not exist")                         \
  X(mutable_node(&s, s.x)->u.memory.lane_stride = 2, "elements 0..14 from")                            \
  X(mutable_node(&s, s.x)->u.memory.lane_stride = -1, "elements -7..0 from")                           \
  X(mutable_node(&s, s.x)->args[0] = s.constant, "address must be s64")                                \
  X(mutable_node(&s, s.x)->u.memory.has_mask = true, "a load of 1 arguments")                          \
  X(s.store->u.memory.has_mask = true, "a store of 2 arguments")                                       \
  X(s.masked_store->args[2] = s.sum, "mask must be a pred")                                            \
  X(mutable_node(&s, s.masked)->args[2] = s.pred, "fill is not of the result's type")                  \
  X(mutable_node(&s, s.masked)->args[1] = s.x, "mask must be a pred")                                  \
  X(s.store->u.memory.storage = s.a->index, "a may not be written")                                    \
  X(s.r->kind = INDIM_STORAGE_CONSTANT, "constant without data")                                       \
  X(s.r->elements = 31, "elements 0..7 from")                                                          \
  X(s.t->elements = 63, "elements 0..3 from")                                                          \
  X(s.copy->u.move.count = 33, "elements 0..32 from")                                                  \
  X(s.copy->u.move.count = -1, "two s64 addresses and a count")                                        \
  X(s.copy->u.move.from = s.n->index, "a copy from s32 to f32")                                        \
  X(s.copy->u.move.to = s.a->index, "a may not be written")                                            \
  X(s.fill->args[1] = s.lanes, "other than one element")                                               \
  X(s.fill->u.move.count = 5, "elements 0..4 from")                                                    \
  X(s.fill->args[0] = s.constant, "an s64 address and a count")                                        \
  X(s.prefetch->u.prefetch.storage = 99, "storage 99 does not exist")                                  \
  X(s.prefetch->args[0] = s.constant, "starts at an s64 address in its storage")                       \
  X(s.prefetch->u.prefetch.count = -1, "starts at an s64 address in its storage")                      \
  /* the host */                                                                                       \
  X(s.host->u.host.storage_count = 2, "2 storages, 3 addresses")                                       \
  X(s.host->u.host.number_count = 14, "matmul takes 3 storages, of which it writes 1, and 18 numbers") \
  X(s.host->u.host.written_count = 2, "matmul takes 3 storages, of which it writes 1")                 \
  X(s.host->u.host.service = INDIM_HOST_SERVICE_COUNT, "unknown service")                              \
  X(s.host->u.host.storages[0] = s.a->index, "a may not be written")                                   \
  X(s.host->u.host.elements = s.host->u.host.numbers, "and 18 numbers")                                \
  X(s.host->u.host.numbers[0] = INDIM_S32, "unsupported type or sizes")                                \
  X(s.host->u.host.numbers[2] = -1, "unsupported type or sizes")                                       \
  X(s.host->u.host.numbers[17] = 1, "reads one array, by rows and by columns")                         \
  X(s.host->u.host.numbers[0] = INDIM_F64, "not of the product's type")                                \
  X(numbers_of(&s)->type = INDIM_F64, "not of the product's type")                                     \
  X(numbers_of(&s)->type = INDIM_S32, "unsupported type or sizes")                                     \
  X(numbers_of(&s)->groups = -1, "unsupported type or sizes")                                          \
  X(numbers_of(&s)->dims[0].stride = 0, "unsupported type or sizes")                                   \
  X(numbers_of(&s)->dims[1].base_dilation = 0, "unsupported type or sizes")                            \
  X(numbers_of(&s)->dims[0].in = 33, "elements 0..65 from")                                            \
  X(numbers_of(&s)->dims[0].filter_stride = -7, "elements -7..5 from")                                 \
  X(s.convolution->u.host.storages[0] = s.a->index, "a may not be written")                            \
  X(s.host->u.host.numbers[3] = 64, "elements 0..75 from")                                             \
  X(s.host->u.host.numbers[9] = -4, "elements -12..3 from")                                            \
  X(s.host->args[2] = s.constant, "the host takes s64 addresses")                                      \
  /* storages */                                                                                       \
  X(s.t->index = 0, "another index")                                                                   \
  X(s.t->elements = -1, "is not an array")                                                             \
  X(s.t->shares = 99, "a storage that does not exist")                                                 \
  X((s.t->shares = s.r->index + 1, s.r->shares = s.t->index + 1), "shares its own bytes")              \
  X((s.t->shares = s.n->index + 1), "aliases n, which may not be written")                             \
  X((s.t->shares = s.p->index + 1), "bytes of a smaller storage")                                      \
  X((s.f.program->scratch_bytes = 256, s.t->offset = 64), "not inside the scratch block")              \
  X((s.f.program->scratch_bytes = 512, s.t->offset = 32), "not inside the scratch block")              \
  X((s.f.program->result_count = 1, s.r->number = 1), "a result beyond the last")                      \
  X((s.f.program->argument_count = 3, s.a->number = 3), "an argument beyond the last")                 \
  /* control */                                                                                        \
  X(s.loop->u.loop.step = 0, "the step is 0")                                                          \
  X(s.loop->args[1] = s.constant, "begin and end must be s64")                                         \
  X(s.loop->u.loop.is_parallel = true, "carries 1 values")                                             \
  X(s.loop->bodies[0]->parameter_count = 1, "has 1 parameters, expected 2")                            \
  X(s.loop->args[2] = s.lanes, "not of v")                                                             \
  X(s.loop->bodies[0]->yield_count = 0, "yields 0 values, expected 1")                                 \
  X(s.loop->bodies[0]->yields[0] = s.sum, "not of result 0's type")                                    \
  X(s.loop->bodies[0]->is_closed = false, "was not closed")                                            \
  X(s.loop->bodies[0]->depth = 2, "claims depth 2")                                                    \
  X(s.loop->bodies[0]->owner = s.branch, "names another owner")                                        \
  X(mutable_value(&s, s.for_result)->type = INDIM_F64, "not of result 0's type")                       \
  X(s.repeat->result_count = 0, "yields 1 values, expected 0")                                         \
  X((s.repeat->result_count = 0, s.repeat->bodies[1]->yield_count = 0), "carries 1 values has 0")      \
  X(mutable_value(&s, s.if_result)->low = 0, "may be outside of its range")                            \
  X(carry_another_type(&s), "not of the carried value's type")                                         \
  X(mutable_value(&s, s.for_result)->low = 0, "may be outside of its range")                           \
  X(s.f.program->body->owner = s.loop, "own body has an owner")                                        \
  X(s.loop->result_count = 0, "yields 1 values, expected 0")                                           \
  X(s.branch->args[0] = s.constant, "condition must be a scalar pred")                                 \
  X(s.branch->bodies[0]->yields[0] = s.sum, "not in scope here")                                       \
  X(s.repeat->bodies[0]->yields[0] = s.constant, "must yield a scalar pred")                           \
  X(s.repeat->bodies[1]->yields[0] = s.lanes, "not of result 0's type")                                \
  X((s.f.program->body->yields = &s.constant, s.f.program->body->yield_count = 1), "own body yields values")

static const int32_t bad_map[8] = {0, 8, 1, 9, 2, 10, 3, 16};

// Breaks rule number |which|; the words that the message is to have, NULL behind the last.
static const char *break_rule(const subject *whole, int which) {
  subject s = *whole;
  int at = 0;
#define BREAK(statement, words) \
  if (at++ == which) {          \
    (void)(statement);          \
    return words;               \
  }
  BREAKS(BREAK)
#undef BREAK
  return NULL;
}

TEST(every_broken_rule_is_refused) {
  int which = 0;
  for (;; which++) {
    subject s;
    REQUIRE(build_subject(&s));
    const char *words = break_rule(&s, which);
    if (words == NULL) {
      close_fixture(&s.f);
      break;
    }
    indim_status status = indim_loop_verify(s.f.program);
    const indim_diagnostic *diagnostic = indim_ctx_diagnostic_get(s.f.cx, 0);
    const char *message = diagnostic == NULL ? "" : diagnostic->message;
    CHECK_MSG(status == INDIM_INTERNAL && strstr(message, words) != NULL, "rule %d: status %d, \"%s\", expected \"%s\"",
              which, (int)status, message, words);
    close_fixture(&s.f);
  }
  CHECK(which > 95);
}

// Parallel loops --------------------------------------------------------------------------------------------------------

typedef struct apart {
  indim_loop_builder *b;
  indim_storage *r, *t, *n;
  indim_value_id i, one;
  indim_value_id k;  // 0 to 6, known before the loop
} apart;

// Adds 1 to |count| elements of |storage| at |from|, written at |to|.
static void touch(const apart *c, indim_storage *storage, indim_value_id from, indim_value_id to, int32_t lanes) {
  indim_value_id x = indim_loop_load(c->b, storage, from, lanes, 1);
  indim_value_id y = indim_loop_binary(c->b, INDIM_OP_ADD, x, indim_loop_splat(c->b, c->one, lanes));
  indim_loop_store(c->b, storage, to, y, 1, false);
}

static indim_value_id sum2(const apart *c, indim_value_id x, int64_t times, indim_value_id y) {
  const indim_value_id args[2] = {x, y};
  const int64_t coefficients[2] = {times, 1};
  return indim_loop_affine(c->b, 0, 2, args, coefficients);
}

static void same_element(const apart *c) { touch(c, c->r, c->i, c->i, 1); }
static void neighbour(const apart *c) { touch(c, c->r, indim_loop_add_const(c->b, c->i, 1), c->i, 1); }
static void vectors(const apart *c) {
  indim_value_id at = indim_loop_mul_const(c->b, c->i, 8);
  touch(c, c->r, at, at, 8);
}
static void vectors_that_overlap(const apart *c) {
  indim_value_id at = indim_loop_mul_const(c->b, c->i, 7);
  touch(c, c->r, at, at, 8);
}
static void backwards(const apart *c) {
  indim_value_id at = indim_loop_affine(c->b, 900, 1, &c->i, &(int64_t){-8});
  touch(c, c->r, at, at, 8);
}
static void rows_of(const apart *c, int64_t length, int64_t stride) {
  indim_value_id j = simple_for(c->b, length);
  indim_value_id at = sum2(c, c->i, stride, j);
  touch(c, c->r, at, at, 1);
  indim_loop_for_end(c->b, NULL, NULL);
}
static void rows(const apart *c) { rows_of(c, 10, 10); }
static void rows_too_long(const apart *c) { rows_of(c, 11, 10); }
static void rows_read_before_and_behind(const apart *c) {
  indim_value_id at = indim_loop_mul_const(c->b, c->i, 10);
  touch(c, c->r, indim_loop_add_const(c->b, at, 9), at, 1);
}
static void rows_read_beyond(const apart *c) {
  indim_value_id at = indim_loop_mul_const(c->b, c->i, 10);
  touch(c, c->r, indim_loop_add_const(c->b, at, 10), at, 1);
}
static void two_digits(const apart *c) {
  indim_value_id j = simple_for(c->b, 10);
  indim_value_id row = indim_loop_mul_const(c->b, indim_loop_floordiv(c->b, c->i, 8), 100);
  indim_value_id at = indim_loop_add(c->b, row, sum2(c, indim_loop_modulo(c->b, c->i, 8), 10, j));
  touch(c, c->r, at, at, 1);
  indim_loop_for_end(c->b, NULL, NULL);
}
static void three_digits(const apart *c) {
  indim_value_id low = indim_loop_modulo(c->b, c->i, 4);
  indim_value_id middle = indim_loop_modulo(c->b, indim_loop_floordiv(c->b, c->i, 4), 4);
  indim_value_id high = indim_loop_floordiv(c->b, c->i, 16);
  indim_value_id at = sum2(c, low, 200, sum2(c, high, 16, middle));
  touch(c, c->r, at, at, 1);
}
static void a_digit_is_missing(const apart *c) {
  indim_value_id at = indim_loop_mul_const(c->b, indim_loop_modulo(c->b, c->i, 8), 10);
  touch(c, c->r, at, at, 1);
}
static void a_middle_digit_is_missing(const apart *c) {
  indim_value_id at = sum2(c, indim_loop_modulo(c->b, c->i, 4), 200, indim_loop_floordiv(c->b, c->i, 16));
  touch(c, c->r, at, at, 1);
}
static void blocks(const apart *c) {
  indim_value_id begin = indim_loop_mul_const(c->b, c->i, 16);
  indim_value_id end =
      indim_loop_binary(c->b, INDIM_OP_MINIMUM, indim_loop_add_const(c->b, begin, 16), indim_loop_index(c->b, 1000));
  indim_value_id j = indim_loop_for_begin(c->b, begin, end, 1, 0, NULL, NULL);
  touch(c, c->r, j, j, 1);
  indim_loop_for_end(c->b, NULL, NULL);
}
static void blocks_the_other_way_round(const apart *c) {
  indim_value_id begin = indim_loop_mul_const(c->b, c->i, 16);
  indim_value_id end =
      indim_loop_binary(c->b, INDIM_OP_MINIMUM, indim_loop_index(c->b, 1000), indim_loop_add_const(c->b, begin, 16));
  indim_value_id j = indim_loop_for_begin(c->b, begin, end, 1, 0, NULL, NULL);
  touch(c, c->r, j, j, 1);
  indim_loop_for_end(c->b, NULL, NULL);
}
static void triangle(const apart *c) {
  indim_value_id j =
      indim_loop_for_begin(c->b, indim_loop_index(c->b, 0), indim_loop_add_const(c->b, c->i, 1), 1, 0, NULL, NULL);
  indim_value_id at = indim_loop_affine(c->b, 0, 2, (const indim_value_id[]){c->i, j}, (const int64_t[]){16, 1});
  indim_value_id held = indim_loop_clamp_index(c->b, at, 0, 1023);
  touch(c, c->r, held, held, 1);
  indim_loop_for_end(c->b, NULL, NULL);
}
static void blocks_too_long(const apart *c) {
  indim_value_id begin = indim_loop_mul_const(c->b, c->i, 15);
  indim_value_id end = indim_loop_add_const(c->b, begin, 16);
  indim_value_id j = indim_loop_for_begin(c->b, begin, end, 1, 0, NULL, NULL);
  touch(c, c->r, j, j, 1);
  indim_loop_for_end(c->b, NULL, NULL);
}
static void read_where_data_says(const apart *c) {
  indim_value_id at = indim_loop_clamp_index(c->b, indim_loop_load(c->b, c->n, c->i, 1, 1), 0, 63);
  touch(c, c->r, at, c->i, 1);
}
static void write_where_data_says(const apart *c) {
  indim_value_id at = indim_loop_clamp_index(c->b, indim_loop_load(c->b, c->n, c->i, 1, 1), 0, 63);
  indim_loop_store(c->b, c->r, at, c->one, 1, false);
}
static void same_place(const apart *c) { indim_loop_store(c->b, c->r, indim_loop_index(c->b, 3), c->one, 1, false); }
static void read_here_and_write_there(const apart *c) {
  indim_value_id x = indim_loop_load(c->b, c->t, c->i, 1, 1);
  indim_loop_store(c->b, c->r, indim_loop_affine(c->b, 63, 1, &c->i, &(int64_t){-1}), x, 1, false);
}
// Scatters inside its own ten elements, and reads all of them.
static void own_part_of(const apart *c, int64_t stride) {
  indim_value_id row = indim_loop_mul_const(c->b, c->i, stride);
  indim_value_id at = indim_loop_clamp_index(c->b, indim_loop_load(c->b, c->n, c->i, 1, 1), 0, 9);
  touch(c, c->r, indim_loop_add(c->b, row, at), indim_loop_add(c->b, row, at), 1);
  indim_value_id j = simple_for(c->b, 10);
  touch(c, c->r, indim_loop_add(c->b, row, j), indim_loop_add(c->b, row, at), 1);
  indim_loop_for_end(c->b, NULL, NULL);
}
static void own_part(const apart *c) { own_part_of(c, 10); }
static void own_part_too_long(const apart *c) { own_part_of(c, 9); }
// Two halves of |size| elements, of which 504 are used, number |half| read and the other written.
static void halves_of(const apart *c, int64_t size) {
  indim_value_id half =
      indim_loop_clamp_index(c->b, indim_loop_load(c->b, c->n, indim_loop_index(c->b, 0), 1, 1), 0, 1);
  const indim_value_id args[2] = {half, c->i};
  const int64_t read_at[2] = {size, 8};
  const int64_t write_at[2] = {-size, 8};
  for (int64_t k = 0; k < 2; k++) {
    indim_value_id from = indim_loop_affine(c->b, 1 - k, 2, args, read_at);
    indim_value_id to = indim_loop_affine(c->b, size + 8 * k, 2, args, write_at);
    touch(c, c->r, from, to, 8);
  }
}
static void halves(const apart *c) { halves_of(c, 512); }
// Seven elements of its own, |size| apart, in places that were known before the loop.
static void places_of(const apart *c, int64_t size) {
  const indim_value_id args[2] = {c->k, c->i};
  const int64_t read_at[2] = {1, size};
  const int64_t write_at[2] = {-1, size};
  touch(c, c->r, indim_loop_affine(c->b, 0, 2, args, read_at), indim_loop_affine(c->b, 6, 2, args, write_at), 1);
}
static void places_known_before(const apart *c) { places_of(c, 7); }
static void places_known_before_that_meet(const apart *c) { places_of(c, 6); }
static void halves_that_meet(const apart *c) { halves_of(c, 500); }
// |count| slots of |size| elements in |r|, of which number (k + |to|) mod |count| is written and number (k + |from|) mod |count|
// read, where k is known when the loop runs.
static void slots_of(const apart *c, int64_t count, int64_t size, int64_t from, int64_t to) {
  indim_value_id data = indim_loop_load(c->b, c->n, indim_loop_index(c->b, 0), 1, 1);
  indim_value_id k = indim_loop_clamp_index(c->b, data, 0, count - 1);
  indim_value_id read = indim_loop_modulo(c->b, indim_loop_add_const(c->b, k, from), count);
  indim_value_id written = indim_loop_modulo(c->b, indim_loop_add_const(c->b, k, to), count);
  indim_value_id x = indim_loop_load(c->b, c->r, sum2(c, read, size, c->i), 1, 1);
  indim_loop_store(c->b, c->r, sum2(c, written, size, c->i), x, 1, false);
}
static void slots(const apart *c) { slots_of(c, 3, 62, 0, 1); }
static void slots_around(const apart *c) { slots_of(c, 5, 100, 7, 4); }
static void slots_that_are_one(const apart *c) { slots_of(c, 3, 61, 0, 1); }
static void slots_of_the_same_number(const apart *c) {
  indim_value_id data = indim_loop_load(c->b, c->n, indim_loop_index(c->b, 0), 1, 1);
  indim_value_id k = indim_loop_clamp_index(c->b, data, 0, 4);
  indim_value_id read = indim_loop_modulo(c->b, k, 3);  // 4 and 1 are one slot
  indim_value_id x = indim_loop_load(c->b, c->r, sum2(c, read, 62, indim_loop_add_const(c->b, c->i, 0)), 1, 1);
  indim_value_id written = indim_loop_modulo(c->b, indim_loop_add_const(c->b, k, 3), 3);
  indim_loop_store(c->b, c->r, sum2(c, written, 62, indim_loop_affine(c->b, 61, 1, &c->i, &(int64_t){-1})), x, 1,
                   false);
}
// What is written lies behind all that is read, wherever data says that both begin.
static void behind_any_place(const apart *c, int64_t distance) {
  indim_value_id data = indim_loop_load(c->b, c->n, indim_loop_index(c->b, 0), 1, 1);
  indim_value_id other = indim_loop_load(c->b, c->n, indim_loop_index(c->b, 1), 1, 1);
  indim_value_id k = indim_loop_clamp_index(c->b, data, 0, 400);
  indim_value_id m = indim_loop_clamp_index(c->b, other, 0, 100);
  indim_value_id x = indim_loop_load(c->b, c->r, sum2(c, k, 1, c->i), 1, 1);
  indim_loop_store(c->b, c->r, indim_loop_add_const(c->b, sum2(c, m, 1, c->i), distance), x, 1, false);
}
static void behind(const apart *c) { behind_any_place(c, 462); }
static void not_quite_behind(const apart *c) { behind_any_place(c, 461); }
// Of ten neighbours three share a place.
static void digits_that_do_not_divide(const apart *c) {
  indim_value_id part = indim_loop_floordiv(c->b, indim_loop_modulo(c->b, c->i, 10), 3);
  indim_value_id at = sum2(c, part, 10, indim_loop_floordiv(c->b, c->i, 10));
  touch(c, c->r, at, at, 1);
}
// Places that data says, each of its own: what is read may be what another iteration writes, and too many to compare.
static void many_places(const apart *c) {
  indim_value_id x = c->one;
  for (int64_t k = 0; k < 40; k++) {
    indim_value_id data = indim_loop_load(c->b, c->n, indim_loop_index(c->b, k), 1, 1);
    indim_value_id at = indim_loop_clamp_index(c->b, data, 0, 100);
    x = indim_loop_binary(c->b, INDIM_OP_ADD, x, indim_loop_load(c->b, c->r, sum2(c, at, 1, c->i), 1, 1));
  }
  indim_loop_store(c->b, c->r, indim_loop_add_const(c->b, c->i, 500), x, 1, false);
}
// |count| numbers of a few values each in one place.
static void few_values(const apart *c, int64_t count) {
  indim_value_id from = c->i;
  for (int64_t k = 0; k < count; k++) {
    indim_value_id data = indim_loop_load(c->b, c->n, indim_loop_index(c->b, k), 1, 1);
    from = sum2(c, indim_loop_clamp_index(c->b, data, 0, 1), 64, from);
  }
  indim_value_id x = indim_loop_load(c->b, c->r, from, 1, 1);
  indim_loop_store(c->b, c->r, indim_loop_add_const(c->b, c->i, 700), x, 1, false);
}
static void four_few_values(const apart *c) { few_values(c, 4); }
static void five_few_values(const apart *c) { few_values(c, 5); }  // apart as well, but that is not looked at
static void rows_of_two_tables(const apart *c) {
  indim_value_id x = indim_loop_load(c->b, c->r, indim_loop_modulo(c->b, c->i, 32), 1, 1);
  indim_loop_store(c->b, c->r, indim_loop_add_const(c->b, c->i, 32), x, 1, false);
}
static void rows_of_two_tables_that_meet(const apart *c) {
  indim_value_id x = indim_loop_load(c->b, c->r, indim_loop_modulo(c->b, c->i, 33), 1, 1);
  indim_loop_store(c->b, c->r, indim_loop_add_const(c->b, c->i, 32), x, 1, false);
}
static void copied_rows(const apart *c) {
  indim_value_id at = indim_loop_mul_const(c->b, c->i, 16);
  indim_loop_copy(c->b, c->r, at, c->t, at, 16);
  indim_loop_fill(c->b, c->t, at, c->one, 16);
}
static void copied_rows_that_meet(const apart *c) {
  indim_value_id at = indim_loop_mul_const(c->b, c->i, 15);
  indim_loop_copy(c->b, c->r, at, c->t, at, 16);
  indim_loop_fill(c->b, c->t, at, c->one, 16);
}
static void product(const apart *c, int64_t stride, bool alone) {
  const indim_host_matmul numbers = {INDIM_F32, 1, 4, 4, 4, 0, 4, 1, 0, 4, 1, 0, 4, 1, alone, 0, 0, 0};
  indim_storage *const storages[3] = {c->r, c->t, c->t};
  indim_value_id at = indim_loop_mul_const(c->b, c->i, stride);
  const indim_value_id addresses[3] = {at, indim_loop_index(c->b, 0), indim_loop_index(c->b, 1008)};
  call_matmul(c->b, storages, addresses, numbers);
}
static void products(const apart *c) { product(c, 16, true); }
static void products_that_meet(const apart *c) { product(c, 15, true); }
static void products_by_several(const apart *c) { product(c, 16, false); }
static void product_outside(const apart *c) {
  const indim_host_matmul numbers = {INDIM_F32, 2, 4, 4, 4, 0, 4, 1, 0, 4, 1, 1009, 4, 0, 1, 0, 0, 0};
  indim_storage *const storages[3] = {c->r, c->t, c->t};
  indim_value_id zero = indim_loop_index(c->b, 0);
  const indim_value_id addresses[3] = {zero, zero, zero};
  call_matmul(c->b, storages, addresses, numbers);
}
// The image is where the output will be.
static void convolution(const apart *c, int64_t stride, bool alone) {
  indim_host_convolution numbers = small_convolution();
  numbers.single_thread = alone;
  indim_storage *const storages[3] = {c->r, c->r, c->t};
  indim_value_id at = indim_loop_mul_const(c->b, c->i, stride);
  call_convolution(c->b, storages, (const indim_value_id[]){at, at, indim_loop_index(c->b, 6)}, numbers);
}
static void convolutions(const apart *c) { convolution(c, 12, true); }
static void convolutions_that_meet(const apart *c) { convolution(c, 11, true); }
static void convolutions_by_several(const apart *c) { convolution(c, 12, false); }
static void lanes_of_their_own(const apart *c) {
  const uint64_t bits[8] = {0, 0, 2, 0, 4, 0, 6, 0};
  indim_value_id at = sum2(c, c->i, 8, indim_loop_lanes(c->b, INDIM_S64, 4, bits));
  touch(c, c->r, at, at, 4);
}
static void lanes_that_meet(const apart *c) {
  const uint64_t bits[8] = {0, 0, 2, 0, 4, 0, 8, 0};
  indim_value_id at = sum2(c, c->i, 8, indim_loop_lanes(c->b, INDIM_S64, 4, bits));
  touch(c, c->r, at, at, 4);
}

// What a for carries is not its index, though it is a parameter, too.
static void carried_places(const apart *c) {
  indim_value_id carried = 0;
  indim_value_id result = 0;
  indim_value_id begin = indim_loop_mul_const(c->b, c->i, 16);
  indim_value_id zero = indim_loop_index(c->b, 0);
  indim_value_id mask = indim_loop_const(c->b, INDIM_PRED, 1, 0);
  (void)indim_loop_for_begin(c->b, begin, indim_loop_add_const(c->b, begin, 16), 1, 1, &zero, &carried);
  indim_value_id x = indim_loop_load_masked(c->b, c->r, carried, 1, mask, c->one);
  indim_loop_store_masked(c->b, c->r, carried, indim_loop_binary(c->b, INDIM_OP_ADD, x, c->one), 1, mask);
  indim_value_id next = indim_loop_add_const(c->b, carried, 1);
  indim_loop_for_end(c->b, &next, &result);
}

// Builds a parallel loop of 62 iterations with |body|, verifies it and compares the message; NULL: it is right.
static void check_parallel(const char *name, void (*body)(const apart *c), const char *words) {
  fixture f;
  REQUIRE(open_fixture(&f));
  apart c = {.b = &f.b};
  c.r = indim_loop_storage(&f.b, INDIM_STORAGE_RESULT, INDIM_F32, 1024, "r");
  c.t = indim_loop_storage(&f.b, INDIM_STORAGE_SCRATCH, INDIM_F32, 1024, "t");
  c.n = indim_loop_storage(&f.b, INDIM_STORAGE_ARGUMENT, INDIM_S32, 64, "n");
  indim_storage *const written[2] = {c.r, c.t};
  indim_loop_region_begin(&f.b, written, 2);
  c.one = indim_loop_const(&f.b, INDIM_F32, 0x3f800000, 0);
  indim_value_id number = indim_loop_load(&f.b, c.n, indim_loop_index(&f.b, 0), 1, 1);
  c.k = indim_loop_clamp_index(&f.b, number, 0, 6);
  c.i = simple_for(&f.b, 62);
  indim_loop_for_parallel(&f.b, 4);
  body(&c);
  indim_loop_for_end(&f.b, NULL, NULL);
  CHECK_EQ_INT(f.b.status, INDIM_OK);
  indim_status status = indim_loop_verify(f.program);
  const indim_diagnostic *diagnostic = indim_ctx_diagnostic_get(f.cx, 0);
  const char *message = diagnostic == NULL ? "" : diagnostic->message;
  CHECK_MSG(words == NULL ? status == INDIM_OK : status == INDIM_INTERNAL && strstr(message, words) != NULL,
            "%s: status %d, \"%s\"", name, (int)status, message);
  close_fixture(&f);
}

#define CHECK_PARALLEL(body, words) check_parallel(#body, body, words)

TEST(parallel_iterations_are_apart) {
  CHECK_PARALLEL(same_element, NULL);
  CHECK_PARALLEL(vectors, NULL);
  CHECK_PARALLEL(slots, NULL);
  CHECK_PARALLEL(slots_around, NULL);
  CHECK_PARALLEL(behind, NULL);
  CHECK_PARALLEL(four_few_values, NULL);
  CHECK_PARALLEL(backwards, NULL);
  CHECK_PARALLEL(rows, NULL);
  CHECK_PARALLEL(rows_read_before_and_behind, NULL);
  CHECK_PARALLEL(two_digits, NULL);
  CHECK_PARALLEL(three_digits, NULL);
  CHECK_PARALLEL(blocks, NULL);
  CHECK_PARALLEL(blocks_the_other_way_round, NULL);
  CHECK_PARALLEL(write_where_data_says, NULL);
  CHECK_PARALLEL(read_here_and_write_there, NULL);
  CHECK_PARALLEL(copied_rows, NULL);
  CHECK_PARALLEL(products, NULL);
  CHECK_PARALLEL(convolutions, NULL);
  CHECK_PARALLEL(own_part, NULL);
  CHECK_PARALLEL(halves, NULL);
  CHECK_PARALLEL(places_known_before, NULL);
  CHECK_PARALLEL(rows_of_two_tables, NULL);
  CHECK_PARALLEL(lanes_of_their_own, NULL);
}

TEST(parallel_iterations_that_meet) {
  CHECK_PARALLEL(neighbour, "may conflict in r");
  CHECK_PARALLEL(vectors_that_overlap, "may conflict in r");
  CHECK_PARALLEL(rows_too_long, "may conflict in r");
  CHECK_PARALLEL(rows_read_beyond, "may conflict in r");
  CHECK_PARALLEL(a_digit_is_missing, "may conflict in r");
  CHECK_PARALLEL(a_middle_digit_is_missing, "may conflict in r");
  CHECK_PARALLEL(blocks_too_long, "may conflict in r");
  CHECK_PARALLEL(read_where_data_says, "may conflict in r");
  CHECK_PARALLEL(triangle, "may conflict in r");
  CHECK_PARALLEL(own_part_too_long, "may conflict in r");
  CHECK_PARALLEL(halves_that_meet, "may conflict in r");
  CHECK_PARALLEL(places_known_before_that_meet, "may conflict in r");
  CHECK_PARALLEL(rows_of_two_tables_that_meet, "may conflict in r");
  CHECK_PARALLEL(same_place, "write the same element");
  CHECK_PARALLEL(copied_rows_that_meet, "may conflict in t");
  CHECK_PARALLEL(products_that_meet, "may conflict in r");
  CHECK_PARALLEL(products_by_several, "by the calling thread");
  CHECK_PARALLEL(convolutions_that_meet, "may conflict in r");
  CHECK_PARALLEL(convolutions_by_several, "by the calling thread");
  CHECK_PARALLEL(product_outside, "elements 0..1024 from");
  CHECK_PARALLEL(lanes_that_meet, "may conflict in r");
  CHECK_PARALLEL(carried_places, "may conflict in r");
  CHECK_PARALLEL(slots_that_are_one, "may conflict in r");
  CHECK_PARALLEL(slots_of_the_same_number, "may conflict in r");
  CHECK_PARALLEL(not_quite_behind, "may conflict in r");
  CHECK_PARALLEL(digits_that_do_not_divide, "may conflict in r");
  CHECK_PARALLEL(many_places, "may conflict in r");
  CHECK_PARALLEL(five_few_values, "may conflict in r");
}

// A parallel loop of one iteration meets nobody.
TEST(a_parallel_loop_of_one_iteration) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *r = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F32, 64, "r");
  indim_loop_region_begin(b, &r, 1);
  indim_value_id one = indim_loop_const(b, INDIM_F32, 0x3f800000, 0);
  (void)indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, 62), 62, 0, NULL, NULL);
  indim_loop_for_parallel(b, 1);
  indim_value_id x = indim_loop_load(b, r, indim_loop_index(b, 4), 1, 1);
  indim_loop_store(b, r, indim_loop_index(b, 3), indim_loop_binary(b, INDIM_OP_ADD, x, one), 1, false);
  indim_loop_store(b, r, indim_loop_index(b, 4), one, 1, false);
  indim_loop_for_end(b, NULL, NULL);
  CHECK_EQ_INT(b->status, INDIM_OK);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

TEST(a_parallel_loop_stands_in_no_other) {
  fixture f;
  REQUIRE(open_fixture(&f));
  (void)simple_for(&f.b, 4);
  (void)simple_for(&f.b, 4);
  indim_loop_for_parallel(&f.b, 1);
  indim_loop_for_end(&f.b, NULL, NULL);
  indim_loop_for_end(&f.b, NULL, NULL);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_INTERNAL);
  close_fixture(&f);
}

// What a loop that never runs would access is of no matter.
TEST(loops_that_never_run_access_nothing) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_storage *r = indim_loop_storage(&f.b, INDIM_STORAGE_RESULT, INDIM_F32, 0, "r");
  indim_loop_region_begin(&f.b, &r, 1);
  indim_value_id one = indim_loop_const(&f.b, INDIM_F32, 0x3f800000, 0);
  indim_value_id i = simple_for(&f.b, 0);
  (void)simple_for(&f.b, 4);
  indim_loop_store(&f.b, r, i, one, 1, false);
  indim_loop_for_end(&f.b, NULL, NULL);
  indim_loop_for_end(&f.b, NULL, NULL);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  indim_loop_store(&f.b, r, indim_loop_index(&f.b, 0), one, 1, false);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_INTERNAL);
  close_fixture(&f);
}

#define CASES(X)                        \
  X(a_right_program_passes)             \
  X(every_broken_rule_is_refused)       \
  X(parallel_iterations_are_apart)      \
  X(parallel_iterations_that_meet)      \
  X(a_parallel_loop_of_one_iteration)   \
  X(a_parallel_loop_stands_in_no_other) \
  X(loops_that_never_run_access_nothing)
TEST_MAIN(CASES)
