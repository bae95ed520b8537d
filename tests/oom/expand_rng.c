// Every allocation of the expansions of random bits and numbers failed in turn: the builder keeps NO_MEMORY, and nothing is
// left.
#include "expand/kit.h"

#include "allocator_test.h"
#include "indim/text.h"
#include "test.h"

static indim_status expand_root(indim_ctx *cx, const char *text, indim_expand_fn *expand) {
  indim_module *before = NULL;
  indim_module *after = NULL;
  value operands[2] = {NULL, NULL};
  indim_expander x = {.cx = cx, .operands = operands};
  indim_status status = indim_module_parse(cx, indim_str_of("p"), indim_str_of(text), &before);
  status = status == INDIM_OK ? indim_builder_create(cx, "expanded", &x.b) : status;
  if (status == INDIM_OK) {
    x.instr = before->entry->root;
    value result = expand(&x);
    indim_builder_end(x.b, result);
    status = indim_builder_finish(x.b, &after);
  }
  indim_module_destroy(after);
  indim_builder_destroy(x.b);
  indim_module_destroy(before);
  return status;
}

static void fail_each(const char *text, indim_expand_fn *expand) {
  bool failed = true;
  for (int64_t n = 1; failed && test_failures < 10; n++) {
    test_allocator f = {.fail_at = n};
    indim_allocator allocator = {test_resize, &f};
    indim_ctx *cx = NULL;
    indim_status status = indim_ctx_create(&allocator, &cx);
    if (status == INDIM_OK) {
      status = expand_root(cx, text, expand);
      CHECK_MSG(status == INDIM_OK || status == INDIM_NO_MEMORY, "allocation %lld: %s", (long long)n,
                indim_status_name(status));
      CHECK_MSG(indim_ctx_memory_in_use(cx) == 0, "allocation %lld: memory is left", (long long)n);
    }
    indim_ctx_destroy(cx);
    CHECK_MSG(f.blocks == 0, "allocation %lld: %lld blocks are left", (long long)n, (long long)f.blocks);
    failed = f.failed;
    CHECK(failed || n > 10);
  }
}

TEST(bits) {
  fail_each(
      "ENTRY e { s = u64[3] parameter(0) ROOT r = (u64[3], s8[3,5]) rng-bit-generator(s), algorithm=rng_default }",
      indim_expand_rng_bit_generator);
  fail_each("ENTRY e { s = u64[2] parameter(0) ROOT r = f32[3,5] rng-bit-generator(s), algorithm=rng_three_fry }",
            indim_expand_rng_bit_generator);
}

TEST(numbers) {
  fail_each(
      "ENTRY e { a = f16[] parameter(0) b = f16[] parameter(1) ROOT r = f16[3] rng(a, b), distribution=rng_normal }",
      indim_expand_rng);
  fail_each(
      "ENTRY e { a = s8[] parameter(0) b = s8[] parameter(1) ROOT r = s8[3] rng(a, b), distribution=rng_uniform }",
      indim_expand_rng);
  fail_each("ENTRY e { ROOT r = u64[2] rng-get-and-update-state(), delta=3 }", indim_expand_rng_get_and_update_state);
}

#define CASES(X) \
  X(bits)        \
  X(numbers)
TEST_MAIN(CASES)
