// The verifier over whole modules: several problems in one run, each once and at its place; modules whose parts do not hang
// together, as only a maker in C could leave them; deep chains of calls, and tuples that would grow without end.
#include <stdlib.h>

#include "graph/infer.h"
#include "graph/module.h"
#include "indim/text.h"
#include "test.h"

static indim_ctx *new_ctx(void) {
  indim_ctx *cx = NULL;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    abort();
  }
  return cx;
}

// Everything must be given back.
static void end_ctx(indim_ctx *cx) {
  CHECK_EQ_UINT(indim_ctx_memory_in_use(cx), 0);
  indim_ctx_destroy(cx);
}

static const char *message(indim_ctx *cx, size_t index) {
  const indim_diagnostic *diagnostic = indim_ctx_diagnostic_get(cx, index);
  return diagnostic == NULL ? "" : diagnostic->message;
}

static void check_message(indim_ctx *cx, size_t index, const char *part, int line) {
  if (strstr(message(cx, index), part) == NULL) {
    test_fail(__FILE__, line);
    printf("diagnostic %zu is\n    %s\n  expected to hold\n    %s\n", index, message(cx, index), part);
  }
}
#define CHECK_SAYS(cx, index, part) check_message(cx, index, part, __LINE__)

static indim_status parse_and_verify(indim_ctx *cx, const char *text) {
  indim_module *module = NULL;
  indim_status status = indim_module_parse(cx, indim_str_of("t.hlo"), indim_str_of(text), &module);
  CHECK_MSG(status == INDIM_OK, "does not parse: %s", message(cx, 0));
  if (status == INDIM_OK) {
    status = indim_module_verify(cx, module);
  }
  indim_module_destroy(module);
  return status;
}

// From text ------------------------------------------------------------------------------------------------------------

TEST(sound_module) {
  indim_ctx *cx = new_ctx();
  CHECK(parse_and_verify(cx, "HloModule m, entry_computation_layout={(f32[2,3]{0,1})->(f32[2,3]{1,0})}\n"
                             "ENTRY e { p = f32[2,3] parameter(0)  n = f32[2,3] negate(p)  ROOT t = tuple(n) }") ==
        INDIM_OK);
  CHECK_EQ_UINT(indim_ctx_diagnostic_count(cx), 0);
  end_ctx(cx);
}

// Each mistake is told once, where it stands; what uses the mistaken instruction is held against its declared shape.
TEST(several_problems_and_no_follow_ups) {
  indim_ctx *cx = new_ctx();
  CHECK(parse_and_verify(cx, "ENTRY e {\n"
                             "  p = f32[2,3] parameter(0)\n"
                             "  v = f32[3] parameter(1)\n"
                             "  a = f32[2,3] add(p, v)\n"                       // line 4: ranks
                             "  b = f32[2,3] negate(a)\n"                       // fine
                             "  c = f32[3,2] reshape(b)\n"                      // fine
                             "  d = f32[2,4] transpose(p), dimensions={1,0}\n"  // line 7: declared
                             "  f = f32[2,4] negate(d)\n"                       // fine
                             "  ROOT r = (f32[3], f32[2,4]) tuple(c, f)\n"      // line 9: declared
                             "}") == INDIM_INVALID);
  CHECK_EQ_UINT(indim_ctx_diagnostic_count(cx), 3);
  CHECK_SAYS(cx, 0, "a (add): operands of different rank");
  CHECK_SAYS(cx, 1, "d (transpose): declared f32[2,4], but the result is f32[3,2]");
  CHECK_SAYS(cx, 2, "r (tuple): declared (f32[3], f32[2,4]), but the result is (f32[3,2], f32[2,4])");
  const int32_t lines[] = {4, 7, 9};
  for (size_t i = 0; i < 3; i++) {
    const indim_diagnostic *diagnostic = indim_ctx_diagnostic_get(cx, i);
    REQUIRE(diagnostic != NULL);
    CHECK_EQ_INT(diagnostic->line, lines[i]);
    CHECK_EQ_STR(diagnostic->source, "t.hlo");
    CHECK(diagnostic->hint[0] != '\0');
  }
  end_ctx(cx);
}

// The message stands at the attribute that is wrong, not at the instruction.
TEST(place_of_an_attribute) {
  indim_ctx *cx = new_ctx();
  CHECK(parse_and_verify(cx, "ENTRY e { p = f32[2,3] parameter(0)\n"
                             "  ROOT r = f32[2,3] reverse(p), dimensions={5} }") == INDIM_INVALID);
  const indim_diagnostic *diagnostic = indim_ctx_diagnostic_get(cx, 0);
  REQUIRE(diagnostic != NULL);
  CHECK_EQ_INT(diagnostic->line, 2);
  CHECK_EQ_INT(diagnostic->column, 33);
  end_ctx(cx);
}

TEST(problems_in_called_computations) {
  indim_ctx *cx = new_ctx();
  CHECK(parse_and_verify(cx, "bad { x = f32[] parameter(0)  y = s32[] parameter(1)  ROOT r = f32[] add(x, y) }\n"
                             "ENTRY e { p = f32[4] parameter(0)  z = f32[] constant(0)\n"
                             "  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=bad }") == INDIM_INVALID);
  CHECK_EQ_UINT(indim_ctx_diagnostic_count(cx), 2);
  CHECK_SAYS(cx, 0, "r (add): different element types");
  CHECK_SAYS(cx, 1, "parameter 1 (y) of to_apply=bad is s32[], expected f32[]");
  end_ctx(cx);
}

TEST(entry_layout) {
  static const struct {
    const char *layout;
    const char *says;
  } rows[] = {
      {"(f32[2]{0})->f32[3]{0}", "entry_computation_layout= has 1 parameters, but e has 2"},
      {"(f32[2]{0}, f32[4]{0})->f32[3]{0}", "b (parameter): entry_computation_layout= gives f32[4] for parameter 1"},
      {"(f32[2]{0}, f32[3]{0})->f32[2]{0}", "b (parameter): entry_computation_layout= gives the result f32[2]"},
      {"(s32[2]{0}, f32[3]{0})->f32[3]{0}", "a (parameter): entry_computation_layout= gives s32[2] for parameter 0"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    indim_ctx *cx = new_ctx();
    char text[300];
    snprintf(text, sizeof text,
             "HloModule m, entry_computation_layout={%s}\n"
             "ENTRY e { a = f32[2] parameter(0)  ROOT b = f32[3] parameter(1) }",
             rows[i].layout);
    CHECK(parse_and_verify(cx, text) == INDIM_INVALID);
    CHECK_EQ_UINT(indim_ctx_diagnostic_count(cx), 1);
    CHECK_SAYS(cx, 0, rows[i].says);
    end_ctx(cx);
  }
}

TEST(parameter_replication) {
  indim_ctx *cx = new_ctx();
  CHECK(parse_and_verify(cx, "ENTRY e { ROOT p = (f32[2], (s32[], s32[])) parameter(0), "
                             "parameter_replication={true,false,true} }") == INDIM_OK);
  CHECK(parse_and_verify(cx, "ENTRY e { ROOT p = f32[2] parameter(0), parameter_replication={true,false} }") ==
        INDIM_INVALID);
  CHECK_SAYS(cx, 0, "parameter_replication= has length 2 for 1 array");
  end_ctx(cx);
}

// How many devices a group has, where the list leaves it open. Two replicas of three partitions.
TEST(group_sizes) {
  static const struct {
    const char *instr;
    const char *says;  // NULL: it is right
  } rows[] = {
      {"f32[8] all-gather(p), replica_groups={}, dimensions={0}", NULL},
      {"f32[24] all-gather(p), channel_id=1, replica_groups={}, dimensions={0}", NULL},
      {"f32[12] all-gather(p), channel_id=1, replica_groups={{0},{1}}, dimensions={0}", NULL},
      {"f32[24] all-gather(p), channel_id=1, replica_groups={{0,1,2,3,4,5}}, use_global_device_ids=true, "
       "dimensions={0}",
       NULL},
      {"f32[20] all-gather(p), channel_id=1, replica_groups={}, use_global_device_ids=true, dimensions={0}", NULL},
      {"f32[4] all-to-all(p), replica_groups={}, dimensions={0}", NULL},
      {"f32[12] all-gather(p), replica_groups={}, dimensions={0}", "declared f32[12], but the result is f32[8]"},
      {"f32[8] all-gather(p), channel_id=1, replica_groups={}, dimensions={0}",
       "declared f32[8], but the result is f32[24]"},
      {"f32[4] all-to-all(p), channel_id=1, replica_groups={}, dimensions={0}", "does not divide among 3 devices"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    indim_ctx *cx = new_ctx();
    char text[400];
    snprintf(text, sizeof text,
             "HloModule m, replica_count=2, num_partitions=3\nENTRY e { p = f32[4] parameter(0)  ROOT r = %s }",
             rows[i].instr);
    CHECK_MSG(parse_and_verify(cx, text) == (rows[i].says == NULL ? INDIM_OK : INDIM_INVALID), "%s: %s", rows[i].instr,
              message(cx, 0));
    if (rows[i].says != NULL) {
      CHECK_SAYS(cx, 0, rows[i].says);
    }
    end_ctx(cx);
  }
}

TEST(async_threads) {
  static const char *const threads[] = {"host", "device"};
  for (int i = 0; i < 2; i++) {
    indim_ctx *cx = new_ctx();
    char text[400];
    snprintf(text, sizeof text,
             "HloModule m\nc { ROOT x = f32[2] parameter(0) }, execution_thread=\"host\"\n"
             "ENTRY e { p = f32[2] parameter(0)\n"
             "  ROOT r = ((f32[2]), f32[2], u32[]) async-start(p), async_execution_thread=\"%s\", calls=c }",
             threads[i]);
    CHECK(parse_and_verify(cx, text) == (i == 0 ? INDIM_OK : INDIM_INVALID));
    if (i == 1) {
      CHECK_SAYS(cx, 0, "async_execution_thread=\"device\", but calls=c is on \"host\"");
    }
    end_ctx(cx);
  }
}

// A result of more dimensions than there can be, from every rule that adds some.
TEST(too_many_dimensions) {
  char ones[100] = "1";
  char numbers[200] = "40";
  for (int i = 1; i < 40; i++) {
    strcat(ones, ",1");
    snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), ",%d", 40 + i);
  }
  for (int i = 0; i < 2; i++) {
    char text[1000];
    char gather[600];
    snprintf(gather, sizeof gather,
             "gather(p, i), offset_dims={%s}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=40, "
             "slice_sizes={%s}",
             numbers, ones);
    snprintf(text, sizeof text, "ENTRY e { p = f32[%s] parameter(0)  i = s32[%s] parameter(1)  ROOT r = %s }", ones,
             ones, i == 0 ? "dot(p, p)" : gather);
    indim_ctx *cx = new_ctx();
    indim_module *module = NULL;
    CHECK(indim_module_parse(cx, indim_str_of(""), indim_str_of(text), &module) == INDIM_LIMIT);
    CHECK_SAYS(cx, 0, "80");
    indim_module_destroy(module);
    end_ctx(cx);
  }
}

// More problems than a context keeps: all are counted.
TEST(many_problems) {
  indim_ctx *cx = new_ctx();
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_buffer_text(&text, "ENTRY e {\n  p = f32[2] parameter(0)\n");
  for (int i = 0; i < 100; i++) {
    indim_buffer_printf(&text, "  n%d = f32[3] negate(p)\n", i);
  }
  indim_buffer_text(&text, "}\n");
  CHECK(parse_and_verify(cx, text.data) == INDIM_INVALID);
  CHECK_EQ_UINT(indim_ctx_diagnostic_count(cx), 100);
  indim_buffer_deinit(&text);
  end_ctx(cx);
}

// 20,000 computations, each calling the one before: no recursion anywhere.
TEST(deep_calls) {
  indim_ctx *cx = new_ctx();
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_buffer_text(&text, "deep0 { ROOT p = f32[2] parameter(0) }\n");
  for (int i = 1; i < 20000; i++) {
    indim_buffer_printf(&text, "deep%d { p = f32[2] parameter(0)  ROOT r = f32[2] call(p), to_apply=deep%d }\n", i,
                        i - 1);
  }
  indim_buffer_text(&text, "ENTRY e { p = f32[2] parameter(0)  ROOT r = f32[2] call(p), to_apply=deep19999 }\n");
  CHECK(parse_and_verify(cx, text.data) == INDIM_OK);
  indim_buffer_deinit(&text);
  end_ctx(cx);
}

// t1 = (p, p), t2 = (t1, t1), ...: forty lines that would make 2^40 leaves; and tuples nested ever deeper.
TEST(tuples_without_end) {
  for (int wide = 0; wide < 2; wide++) {
    indim_ctx *cx = new_ctx();
    indim_buffer text;
    indim_buffer_init(&text, cx);
    indim_buffer_text(&text, "ENTRY e {\n  t0 = f32[2] parameter(0)\n");
    for (int i = 1; i < (wide ? 40 : 1000); i++) {
      indim_buffer_printf(&text, wide ? "  t%d = tuple(t%d, t%d)\n" : "  t%d = tuple(t%d)\n", i, i - 1, i - 1);
    }
    indim_buffer_text(&text, "}\n");
    indim_module *module = NULL;
    CHECK(indim_module_parse(cx, indim_str_of("t.hlo"), indim_str_of(text.data), &module) == INDIM_LIMIT);
    CHECK(module == NULL);
    CHECK_SAYS(cx, 0, wide ? "a tuple of more than 65536 parts" : "tuples nested more than 256 deep");
    indim_buffer_deinit(&text);
    end_ctx(cx);
  }
}

// Made in C ------------------------------------------------------------------------------------------------------------

typedef struct made {
  indim_ctx *cx;
  indim_module *module;
  indim_computation *entry;
  indim_instr *p;  // f32[2] parameter(0)
  indim_instr *q;  // f32[2] negate(p), the root
} made;

static indim_instr *add_instr(indim_computation *computation, indim_op op, const char *name, indim_type type,
                              int64_t size) {
  indim_shape shape;
  indim_instr *instr = NULL;
  if (indim_shape_init(NULL, type, 1, &size, &shape) != INDIM_OK ||
      indim_computation_add(computation, op, indim_str_of(name), &shape, INDIM_NO_OFFSET, &instr) != INDIM_OK) {
    abort();
  }
  return instr;
}

static void set_operand(indim_instr *instr, indim_instr *operand) {
  if (indim_instr_set_operands(instr, &operand, 1) != INDIM_OK) {
    abort();
  }
}

static void set_attr(indim_instr *instr, indim_attr attr) {
  attr.offset = INDIM_NO_OFFSET;
  if (indim_instr_set_attrs(instr, &attr, 1) != INDIM_OK) {
    abort();
  }
}

static indim_computation *add_computation(indim_module *module, const char *name) {
  indim_computation *computation = NULL;
  if (indim_module_add_computation(module, indim_str_of(name), INDIM_NO_OFFSET, &computation) != INDIM_OK) {
    abort();
  }
  computation->root = add_instr(computation, INDIM_OP_PARAMETER, "x", INDIM_F32, 2);
  if (indim_computation_finish(computation) != INDIM_OK) {
    abort();
  }
  return computation;
}

static made make(void) {
  made m = {.cx = new_ctx()};
  indim_source source = {{"", 0}, {"", 0}};
  if (indim_module_create(m.cx, indim_str_of("m"), source, &m.module) != INDIM_OK ||
      indim_module_add_computation(m.module, indim_str_of("e"), INDIM_NO_OFFSET, &m.entry) != INDIM_OK) {
    abort();
  }
  m.p = add_instr(m.entry, INDIM_OP_PARAMETER, "p", INDIM_F32, 2);
  m.q = add_instr(m.entry, INDIM_OP_NEGATE, "q", INDIM_F32, 2);
  set_operand(m.q, m.p);
  m.entry->root = m.q;
  m.module->entry = m.entry;
  if (indim_computation_finish(m.entry) != INDIM_OK) {
    abort();
  }
  return m;
}

static void expect(made *m, indim_status status, const char *says, int line) {
  indim_ctx_diagnostics_clear(m->cx);
  indim_status actual = indim_module_verify(m->cx, m->module);
  if (actual != status) {
    test_fail(__FILE__, line);
    printf("status %s, expected %s: %s\n", indim_status_name(actual), indim_status_name(status), message(m->cx, 0));
  }
  if (says != NULL) {
    check_message(m->cx, 0, says, line);
  }
}
#define EXPECT(m, status, says) expect(m, status, says, __LINE__)

static void end(made *m) {
  indim_module_destroy(m->module);
  end_ctx(m->cx);
}

TEST(made_module_is_sound) {
  made m = make();
  EXPECT(&m, INDIM_OK, NULL);
  end(&m);
}

TEST(made_operands) {
  made m = make();
  indim_computation *other = add_computation(m.module, "other");
  indim_instr *late = add_instr(m.entry, INDIM_OP_NEGATE, "late", INDIM_F32, 2);
  set_operand(late, m.p);
  set_operand(m.q, late);
  EXPECT(&m, INDIM_INVALID, "q (negate): operand 0 (late) does not stand before it");
  set_operand(m.q, m.q);
  EXPECT(&m, INDIM_INVALID, "q (negate): operand 0 (q) does not stand before it");
  set_operand(m.q, other->root);
  EXPECT(&m, INDIM_INVALID, "q (negate): operand 0 (x) belongs to another computation, other");
  set_operand(m.q, NULL);
  EXPECT(&m, INDIM_INVALID, "q (negate): operand 0 is missing");
  indim_instr *two[] = {m.p, m.p};
  CHECK(indim_instr_set_operands(m.q, two, 2) == INDIM_OK);
  EXPECT(&m, INDIM_INVALID, "q (negate): takes 1 operand, has 2");
  CHECK(indim_instr_set_operands(m.q, NULL, 0) == INDIM_OK);
  EXPECT(&m, INDIM_INVALID, "q (negate): takes 1 operand, has 0");
  end(&m);
}

TEST(made_attributes) {
  made m = make();
  const int64_t dims[] = {0};
  indim_instr *late = add_instr(m.entry, INDIM_OP_NEGATE, "late", INDIM_F32, 2);
  set_operand(late, m.p);
  set_attr(m.q, (indim_attr){.id = INDIM_ATTR_DIMENSIONS, .count = 1, .value.ints = dims});
  EXPECT(&m, INDIM_INVALID, "q (negate): takes no attribute dimensions=");
  set_attr(m.q, (indim_attr){.id = INDIM_ATTR_CONTROL_PREDECESSORS, .count = 1, .value.instrs = &late});
  EXPECT(&m, INDIM_INVALID, "q (negate): control predecessor 0 (late) does not stand before it");
  set_attr(m.q, (indim_attr){.id = INDIM_ATTR_CONTROL_PREDECESSORS, .count = 1, .value.instrs = &m.p});
  EXPECT(&m, INDIM_OK, NULL);
  m.q->op = INDIM_OP_REVERSE;
  EXPECT(&m, INDIM_INVALID, "q (reverse): attribute dimensions= is missing");
  set_attr(m.q, (indim_attr){.id = INDIM_ATTR_DIMENSIONS, .count = 1, .value.ints = dims});
  EXPECT(&m, INDIM_OK, NULL);
  end(&m);
}

TEST(made_words) {
  made m = make();
  m.q->op = INDIM_OP_COMPARE;
  indim_instr *two[] = {m.p, m.p};
  CHECK(indim_instr_set_operands(m.q, two, 2) == INDIM_OK);
  set_attr(m.q, (indim_attr){.id = INDIM_ATTR_DIRECTION, .value.text = indim_str_of("LESS")});
  EXPECT(&m, INDIM_INVALID, "q (compare): direction=LESS is not known");
  set_attr(m.q, (indim_attr){.id = INDIM_ATTR_DIRECTION, .value.text = indim_str_of("LT")});
  EXPECT(&m, INDIM_INVALID, "q (compare): declared f32[2], but the result is pred[2]");
  end(&m);
}

TEST(made_padding) {
  made m = make();
  int64_t none = 0;
  indim_shape scalar;
  CHECK(indim_shape_init(m.cx, INDIM_F32, 0, &none, &scalar) == INDIM_OK);
  indim_computation *computation = NULL;
  CHECK(indim_module_add_computation(m.module, indim_str_of("c"), INDIM_NO_OFFSET, &computation) == INDIM_OK);
  indim_instr *x = add_instr(computation, INDIM_OP_PARAMETER, "x", INDIM_F32, 2);
  indim_instr *y = NULL;
  CHECK(indim_computation_add(computation, INDIM_OP_PARAMETER, indim_str_of("y"), &scalar, INDIM_NO_OFFSET, &y) ==
        INDIM_OK);
  y->parameter_number = 1;
  indim_instr *pad = add_instr(computation, INDIM_OP_PAD, "r", INDIM_F32, 2);
  indim_instr *operands[] = {x, y};
  CHECK(indim_instr_set_operands(pad, operands, 2) == INDIM_OK);
  const indim_padding_dim padding = {0, 0, -1};
  set_attr(pad, (indim_attr){.id = INDIM_ATTR_PADDING, .count = 1, .value.padding = &padding});
  computation->root = pad;
  CHECK(indim_computation_finish(computation) == INDIM_OK);
  EXPECT(&m, INDIM_INVALID, "r (pad): interior padding -1 of dimension 0 is negative");
  end(&m);
}

// A called computation stands before its caller, so that calls cannot go in circles.
TEST(made_calls) {
  made m = make();
  indim_computation *later = add_computation(m.module, "later");
  m.q->op = INDIM_OP_CALL;
  set_attr(m.q, (indim_attr){.id = INDIM_ATTR_TO_APPLY, .count = 1, .value.computations = &later});
  EXPECT(&m, INDIM_INVALID,
         "q (call): to_apply=later does not stand before e, which calls it: calls cannot go in circles");
  set_attr(m.q, (indim_attr){.id = INDIM_ATTR_TO_APPLY, .count = 1, .value.computations = &m.entry});
  EXPECT(&m, INDIM_INVALID, "to_apply=e does not stand before e, which calls it: a computation cannot call itself");
  made n = make();
  set_attr(m.q, (indim_attr){.id = INDIM_ATTR_TO_APPLY, .count = 1, .value.computations = &n.entry});
  EXPECT(&m, INDIM_INVALID, "to_apply= names a computation of another module");
  set_operand(later->root, NULL);
  later->root->op = INDIM_OP_CALL;
  later->root->operand_count = 0;
  later->parameter_count = 0;
  set_attr(later->root, (indim_attr){.id = INDIM_ATTR_TO_APPLY, .count = 1, .value.computations = &m.entry});
  m.q->op = INDIM_OP_NEGATE;
  CHECK(indim_instr_set_attrs(m.q, NULL, 0) == INDIM_OK);
  EXPECT(&m, INDIM_INVALID, "x (call): to_apply=e takes 1 parameter, expected 0");
  m.entry->root = NULL;
  EXPECT(&m, INDIM_INVALID, "computation e has no root of its own");
  m.entry->root = m.q;
  end(&m);
  end(&n);
}

TEST(made_shapes) {
  made m = make();
  const indim_shape *shape = m.q->shape;
  m.q->shape = NULL;
  EXPECT(&m, INDIM_INVALID, "q (negate): has no shape");
  indim_shape broken = *shape;
  broken.sizes[0] = -4;
  m.q->shape = &broken;
  EXPECT(&m, INDIM_INVALID, "-4");
  m.q->shape = shape;
  EXPECT(&m, INDIM_OK, NULL);
  // The result of a convert does not follow from its operand.
  m.q->op = INDIM_OP_CONVERT;
  m.q->shape = NULL;
  indim_shape inferred;
  CHECK(indim_infer_shape(m.cx, m.q, &m.module->arena, &inferred) == INDIM_INVALID);
  m.q->shape = shape;
  // An operand without a shape is our mistake, not the user's.
  m.p->shape = NULL;
  CHECK(indim_infer_shape(m.cx, m.q, &m.module->arena, &inferred) == INDIM_INTERNAL);
  m.p->shape = shape;
  end(&m);
}

TEST(made_constants) {
  made m = make();
  m.q->op = INDIM_OP_CONSTANT;
  m.q->operand_count = 0;
  EXPECT(&m, INDIM_INVALID, "q (constant): has no value");
  indim_shape other;
  int64_t size = 3;
  CHECK(indim_shape_init(m.cx, INDIM_F32, 1, &size, &other) == INDIM_OK);
  indim_literal *literal = NULL;
  CHECK(indim_literal_create(m.cx, &other, &literal) == INDIM_OK);
  m.q->literal = literal;
  CHECK(indim_module_own_literal(m.module, literal) == INDIM_OK);
  EXPECT(&m, INDIM_INVALID, "q (constant): declared f32[2], but the value is f32[3]");
  end(&m);
}

TEST(made_parameters) {
  made m = make();
  m.p->parameter_number = 7;
  EXPECT(&m, INDIM_INVALID, "p (parameter): parameter number 7 is not one of 0 to 0, each once");
  m.p->parameter_number = -1;
  EXPECT(&m, INDIM_INVALID, "p (parameter): parameter number -1 is negative");
  m.p->parameter_number = INT64_MAX;
  EXPECT(&m, INDIM_INVALID, "p (parameter): parameter number 9223372036854775807 is not one of 0 to 0");
  m.p->parameter_number = 0;
  m.entry->parameter_count = 0;
  EXPECT(&m, INDIM_INVALID, "parameter number 0 is not one of 0 to -1");
  m.entry->parameter_count = 1;
  EXPECT(&m, INDIM_OK, NULL);
  end(&m);
}

// What no user can do is our mistake: INDIM_INTERNAL.
TEST(made_wrong_by_us) {
  made m = make();
  m.q->index = 5;
  EXPECT(&m, INDIM_INVALID, "computation e has no root of its own");
  m.q->index = 1;
  m.p->index = 1;
  EXPECT(&m, INDIM_INTERNAL, "instruction 0 of computation e is not where it says");
  m.p->index = 0;
  m.entry->index = 3;
  EXPECT(&m, INDIM_INTERNAL, "computation 0 (e) is not where it says");
  m.entry->index = 0;
  m.module->entry = NULL;
  EXPECT(&m, INDIM_INVALID, "the module has no entry computation");
  m.module->entry = m.entry;
  EXPECT(&m, INDIM_OK, NULL);
  end(&m);
}

// The host can stop a long verification; a shortage of memory ends it too.
static bool stop(void *user) {
  ++*(int *)user;
  return true;
}

TEST(interrupted) {
  indim_ctx *cx = new_ctx();
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_buffer_text(&text, "ENTRY e {\n  p = f32[2] parameter(0)\n");
  for (int i = 0; i < 3000; i++) {
    indim_buffer_printf(&text, "  n%d = f32[2] negate(p)\n", i);
  }
  indim_buffer_text(&text, "}\n");
  indim_module *module = NULL;
  REQUIRE(indim_module_parse(cx, indim_str_of(""), indim_str_of(text.data), &module) == INDIM_OK);
  int polls = 0;
  indim_ctx_set_interrupt(cx, stop, &polls);
  CHECK(indim_module_verify(cx, module) == INDIM_INTERRUPTED);
  CHECK_EQ_INT(polls, 1);
  indim_ctx_set_interrupt(cx, NULL, NULL);
  CHECK(indim_module_verify(cx, module) == INDIM_OK);
  indim_module_destroy(module);
  indim_buffer_deinit(&text);
  end_ctx(cx);
}

TEST(memory_limit) {
  indim_ctx *cx = new_ctx();
  const char *text = "ENTRY e { p = f32[2] parameter(0)  ROOT t = (f32[2], f32[2]) tuple(p, p) }";
  indim_module *module = NULL;
  REQUIRE(indim_module_parse(cx, indim_str_of(""), indim_str_of(text), &module) == INDIM_OK);
  indim_ctx_set_memory_limit(cx, indim_ctx_memory_in_use(cx) + 100);
  CHECK(indim_module_verify(cx, module) == INDIM_LIMIT);
  indim_ctx_set_memory_limit(cx, 0);
  CHECK(indim_module_verify(cx, module) == INDIM_OK);
  indim_module_destroy(module);
  end_ctx(cx);
}

#define CASES(X)                        \
  X(sound_module)                       \
  X(several_problems_and_no_follow_ups) \
  X(place_of_an_attribute)              \
  X(problems_in_called_computations)    \
  X(entry_layout)                       \
  X(parameter_replication)              \
  X(group_sizes)                        \
  X(async_threads)                      \
  X(too_many_dimensions)                \
  X(many_problems)                      \
  X(deep_calls)                         \
  X(tuples_without_end)                 \
  X(made_module_is_sound)               \
  X(made_operands)                      \
  X(made_attributes)                    \
  X(made_words)                         \
  X(made_padding)                       \
  X(made_calls)                         \
  X(made_shapes)                        \
  X(made_constants)                     \
  X(made_parameters)                    \
  X(made_wrong_by_us)                   \
  X(interrupted)                        \
  X(memory_limit)
TEST_MAIN(CASES)
