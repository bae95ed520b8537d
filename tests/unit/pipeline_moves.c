// Narrow floats that a compiled program only moves keep every bit, quiet and signalling NaNs included; those that it
// also computes with are converted where they must be.
#include <stdlib.h>

#include "indim/compile.h"
#include "indim/text.h"
#include "test.h"

enum { ROWS = 256, COLUMNS = 256, MOST = (ROWS + 8) * (COLUMNS + 8) };

static const char *const halves[] = {"f16", "bf16"};
static const char *const bytes[] = {"f8e5m2", "f8e4m3", "f8e4m3fn", "f8e3m4", "f8e4m3fnuz", "f8e8m0fnu"};

// Runs |format|, in which every %s is the type.
static bool run(const char *format, const char *type, const void *x, const void *y, void *out) {
  char text[2048];
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  indim_executable *exe = NULL;
  (void)snprintf(text, sizeof text, format, type, type, type, type, type, type, type, type);
  bool ok = indim_ctx_create(NULL, &cx) == INDIM_OK &&
            indim_module_parse(cx, indim_str_of("p.hlo"), indim_str_of(text), &module) == INDIM_OK &&
            indim_module_verify(cx, module) == INDIM_OK && indim_compile(cx, module, NULL, &exe) == INDIM_OK;
  if (ok) {
    indim_run_options options = {.arguments = (const void *const[]){x, y},
                                 .argument_count = y == NULL ? 1 : 2,
                                 .results = (void *const[]){out},
                                 .result_count = 1,
                                 .cx = cx};
    ok = indim_execute(exe, &options) == INDIM_OK;
  }
  if (!ok && cx != NULL) {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
    printf("  %s: %s\n", type, d == NULL ? "no diagnostic" : d->message);
  }
  indim_executable_destroy(exe);
  indim_module_destroy(module);
  indim_ctx_destroy(cx);
  return ok;
}

static bool can_compile(void) {
  bool can = indim_compile_available(NULL) == INDIM_OK;
  if (!can) {
    printf("  this build has no code generator: not tested\n");
  }
  return can;
}

static uint16_t x16[MOST], y16[MOST], out16[MOST];
static uint8_t x8[MOST], y8[MOST], out8[MOST], mask[MOST];

// Every pattern of 16 bits, and of 8 bits many times over.
static void fill(void) {
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    x16[i] = (uint16_t)i;
    y16[i] = (uint16_t)(i * 40503 + 7);
    x8[i] = (uint8_t)(i ^ i >> 8);
    y8[i] = (uint8_t)(i * 181 + 3);
    mask[i] = (uint8_t)((unsigned)i * 2654435761u >> 31);
  }
}

#define TRANSPOSE "ENTRY e { x = %s[256,256] parameter(0) ROOT t = %s[256,256] transpose(x), dimensions={1,0} }"
#define PAD                                                                                                          \
  "ENTRY e { x = %s[256,256] parameter(0) c = %s[] constant(1) p = %s[259,260] pad(x, c), padding=1_2x3_1 ROOT r = " \
  "%s[259,260] reverse(p), dimensions={1} }"
#define JOIN                                                                                                     \
  "ENTRY e { x = %s[256,256] parameter(0) y = %s[256,256] parameter(1) t = %s[256,256] transpose(y), "           \
  "dimensions={1,0} s = %s[256,100] slice(x), slice={[0:256], [5:105]} ROOT c = %s[256,356] concatenate(t, s), " \
  "dimensions={1} }"
#define CHOOSE                                                                                                        \
  "ENTRY e { m = pred[256,256] parameter(0) x = %s[256,256] parameter(1) z = %s[256,256] reverse(x), dimensions={0} " \
  "ROOT s = %s[256,256] select(m, x, z) }"
#define COUNTED                                                                                                        \
  "ENTRY e { x = %s[256,256] parameter(0) t = %s[256,256] transpose(x), dimensions={1,0} a = %s[256,256] abs(t) ROOT " \
  "r = %s[256,256] reverse(a), dimensions={1} }"

// The bits of x, turned, of which lanes are also computed with.
#define BITS                                                                                             \
  "ENTRY e { m = pred[256,256] parameter(0) x = %s[256,256] parameter(1) t = %s[256,256] transpose(x), " \
  "dimensions={1,0} s = %s[256,256] add(t, t) c = %s[256,256] select(m, t, s) ROOT b = u16[256,256] "    \
  "bitcast-convert(c) }"

TEST(transposed) {
  fill();
  for (size_t i = 0; can_compile() && i < sizeof halves / sizeof halves[0]; i++) {
    REQUIRE(run(TRANSPOSE, halves[i], x16, NULL, out16));
    int wrong = 0;
    for (int k = 0; k < ROWS * COLUMNS; k++) {
      wrong += out16[k] != x16[k % ROWS * COLUMNS + k / ROWS];
    }
    CHECK_MSG(wrong == 0, "%s: %d elements differ", halves[i], wrong);
  }
  for (size_t i = 0; can_compile() && i < sizeof bytes / sizeof bytes[0]; i++) {
    REQUIRE(run(TRANSPOSE, bytes[i], x8, NULL, out8));
    int wrong = 0;
    for (int k = 0; k < ROWS * COLUMNS; k++) {
      wrong += out8[k] != x8[k % ROWS * COLUMNS + k / ROWS];
    }
    CHECK_MSG(wrong == 0, "%s: %d elements differ", bytes[i], wrong);
  }
}

TEST(padded_and_reversed) {
  fill();
  static const uint16_t ones[] = {0x3C00, 0x3F80};
  for (size_t i = 0; can_compile() && i < sizeof halves / sizeof halves[0]; i++) {
    REQUIRE(run(PAD, halves[i], x16, NULL, out16));
    int wrong = 0;
    for (int k = 0; k < 259 * 260; k++) {
      int row = k / 260 - 1;
      int column = 259 - k % 260 - 3;
      bool is_inside = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
      wrong += out16[k] != (is_inside ? x16[row * COLUMNS + column] : ones[i]);
    }
    CHECK_MSG(wrong == 0, "%s: %d elements differ", halves[i], wrong);
  }
}

TEST(joined) {
  fill();
  for (size_t i = 0; can_compile() && i < sizeof bytes / sizeof bytes[0]; i++) {
    static uint8_t joined[256 * 356];
    REQUIRE(run(JOIN, bytes[i], x8, y8, joined));
    int wrong = 0;
    for (int k = 0; k < 256 * 356; k++) {
      int row = k / 356;
      int column = k % 356;
      wrong += joined[k] != (column < 256 ? y8[column * 256 + row] : x8[row * 256 + column - 256 + 5]);
    }
    CHECK_MSG(wrong == 0, "%s: %d elements differ", bytes[i], wrong);
  }
}

TEST(chosen) {
  fill();
  for (size_t i = 0; can_compile() && i < sizeof halves / sizeof halves[0]; i++) {
    REQUIRE(run(CHOOSE, halves[i], mask, x16, out16));
    int wrong = 0;
    for (int k = 0; k < ROWS * COLUMNS; k++) {
      int other = (ROWS - 1 - k / COLUMNS) * COLUMNS + k % COLUMNS;
      wrong += out16[k] != x16[mask[k] != 0 ? k : other];
    }
    CHECK_MSG(wrong == 0, "%s: %d elements differ", halves[i], wrong);
  }
}

TEST(bits_beside_arithmetic) {
  fill();
  memset(mask, 1, sizeof mask);
  for (size_t i = 0; can_compile() && i < sizeof halves / sizeof halves[0]; i++) {
    REQUIRE(run(BITS, halves[i], mask, x16, out16));
    int wrong = 0;
    for (int k = 0; k < ROWS * COLUMNS; k++) {
      wrong += out16[k] != x16[k % ROWS * COLUMNS + k / ROWS];
    }
    CHECK_MSG(wrong == 0, "%s: %d elements differ", halves[i], wrong);
  }
}

// Rows of bf16 are computed as even and odd lanes: every operation rounds once, and NaN stays NaN.
#define ROW                                                                                                          \
  "ENTRY e { x = bf16[65529] parameter(0) y = bf16[65529] parameter(1) c = bf16[] constant(1.5) b = bf16[65529] "    \
  "broadcast(c), dimensions={} s = bf16[65529] add(x, y) m = bf16[65529] multiply(s, b) n = bf16[65529] minimum(m, " \
  "x) d = bf16[65529] divide(n, y) ROOT r = bf16[65529] subtract(d, b) }"

static float widen(uint16_t bits) {
  uint32_t word = (uint32_t)bits << 16;
  float value = 0;
  memcpy(&value, &word, sizeof value);
  return value;
}

static uint16_t narrow(float value) {
  uint32_t word = 0;
  memcpy(&word, &value, sizeof word);
  return (uint16_t)((word + 0x7FFF + (word >> 16 & 1)) >> 16);
}

static float rounded(float value) { return value != value ? value : widen(narrow(value)); }

TEST(rows_of_bf16) {
  enum { COUNT = 65529 };
  fill();
  if (!can_compile()) {
    return;
  }
  REQUIRE(run(ROW, "", x16, y16, out16));
  int wrong = 0;
  for (int k = 0; k < COUNT; k++) {
    float x = widen(x16[k]);
    float y = widen(y16[k]);
    float product = rounded(rounded(x + y) * 1.5F);
    float least = product != product || x != x ? product + x : product < x ? product : x;
    float expected = rounded(rounded(least / y) - 1.5F);
    float actual = widen(out16[k]);
    wrong += expected != expected ? actual == actual : out16[k] != narrow(expected);
  }
  CHECK_MSG(wrong == 0, "%d elements differ", wrong);
}

// Every sixth element, from each of the first six: %d is where it begins.
static void take_every_sixth(const char *type, int begin) {
  enum { COUNT = 10922 };
  char text[512];
  (void)snprintf(
      text, sizeof text,
      "ENTRY e { x = %s[65536] parameter(0) s = %s[%d] slice(x), slice={[%d:%d:6]} ROOT r = %s[%d] copy(s) }", type,
      type, COUNT, begin, begin + 6 * COUNT - 5, type, COUNT);
  bool is_narrow = strcmp(type, "u8") == 0;
  REQUIRE(run(text, type, is_narrow ? (const void *)x8 : x16, NULL, is_narrow ? (void *)out8 : out16));
  int wrong = 0;
  for (int k = 0; k < COUNT; k++) {
    wrong += is_narrow ? out8[k] != x8[begin + 6 * k] : out16[k] != x16[begin + 6 * k];
  }
  CHECK_MSG(wrong == 0, "%s from %d on: %d elements differ", type, begin, wrong);
}

TEST(every_sixth) {
  fill();
  for (int begin = 0; begin < 4 && can_compile(); begin++) {
    take_every_sixth("u8", begin);
    take_every_sixth("s16", begin);
    take_every_sixth("bf16", begin);
  }
}

TEST(computed_on_the_way) {
  fill();
  for (size_t i = 0; can_compile() && i < sizeof halves / sizeof halves[0]; i++) {
    REQUIRE(run(COUNTED, halves[i], x16, NULL, out16));
    uint16_t infinity = i == 0 ? 0x7C00 : 0x7F80;
    int wrong = 0;
    for (int k = 0; k < ROWS * COLUMNS; k++) {
      uint16_t expected = x16[(COLUMNS - 1 - k % COLUMNS) * COLUMNS + k / COLUMNS] & 0x7FFF;
      bool are_nan = expected > infinity && (out16[k] & 0x7FFF) > infinity;
      wrong += out16[k] != expected && !are_nan;
    }
    CHECK_MSG(wrong == 0, "%s: %d elements differ", halves[i], wrong);
  }
}

#define CASES(X)            \
  X(transposed)             \
  X(padded_and_reversed)    \
  X(joined)                 \
  X(chosen)                 \
  X(rows_of_bf16)           \
  X(bits_beside_arithmetic) \
  X(every_sixth)            \
  X(computed_on_the_way)
TEST_MAIN(CASES)
