// How fast a large program is read, verified and printed: a chain of 20,000 instructions of several kinds, repeated, with
// the median of each stage, and the memory that the module holds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "indim/text.h"

enum { INSTRUCTIONS = 20000, RUNS = 15 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *times) {
  qsort(times, RUNS, sizeof *times, compare);
  return times[RUNS / 2];
}

static void make_program(indim_buffer *out) {
  static const char *const lines[] = {
      ("  i.%d = f32[16,128]{1,0} add(i.%d, b.0), metadata={op_name=\"jit(f)/add\" source_file=\"f.py\" "
       "source_line=12}\n"),
      "  i.%d = f32[16,128]{1,0} multiply(i.%d, i.0)\n",
      "  i.%d = f32[16,128]{1,0} tanh(i.%d)\n",
      "  i.%d = f32[16,128]{1,0} reverse(i.%d), dimensions={1}\n",
  };
  indim_buffer_text(out, "HloModule large\n\nENTRY main {\n  i.0 = f32[16,128]{1,0} parameter(0)\n"
                         "  v.0 = f32[128]{0} parameter(1)\n"
                         "  b.0 = f32[16,128]{1,0} broadcast(v.0), dimensions={1}\n");
  for (int i = 1; i < INSTRUCTIONS - 2; i++) {
    char line[160];
    const char *form = lines[i % 4];
    // The form is one of ours above.
    const char *at = strstr(form, "%d");
    snprintf(line, sizeof line, "%.*s%d", (int)(at - form), form, i);
    indim_buffer_text(out, line);
    const char *next = strstr(at + 2, "%d");
    indim_buffer_append(out, at + 2, (size_t)(next - at - 2));
    indim_buffer_int(out, i - 1);
    indim_buffer_text(out, next + 2);
  }
  indim_buffer_text(out, "}\n");
}

int main(void) {
  indim_ctx *cx = NULL;
  indim_buffer text;
  indim_buffer printed;
  double parse[RUNS];
  double verify[RUNS];
  double print[RUNS];
  uint64_t held = 0;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    return 1;
  }
  indim_buffer_init(&text, cx);
  indim_buffer_init(&printed, cx);
  make_program(&text);
  for (int run = 0; run < RUNS; run++) {
    indim_module *module = NULL;
    uint64_t before = indim_ctx_memory_in_use(cx);
    double start = now();
    indim_status status = indim_module_parse(cx, indim_str_of("large"), (indim_str){text.data, text.size}, &module);
    double parsed = now();
    held = indim_ctx_memory_in_use(cx) - before;
    status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
    double verified = now();
    if (status != INDIM_OK) {
      fprintf(stderr, "bench_parse: %s\n", indim_ctx_diagnostic_get(cx, 0)->message);
      return 1;
    }
    indim_buffer_clear(&printed);
    double printing = now();
    indim_module_print(module, 0, &printed);
    print[run] = now() - printing;
    parse[run] = parsed - start;
    verify[run] = verified - parsed;
    indim_module_destroy(module);
  }
  double megabytes = (double)text.size / 1e6;
  printf("a program of %d instructions, %.2f MB of text, medians of %d runs\n", (int)INSTRUCTIONS, megabytes,
         (int)RUNS);
  printf("  %-8s %8.2f ms  %8.1f MB/s\n", "parse", 1e3 * median(parse), megabytes / median(parse));
  printf("  %-8s %8.2f ms  %8.1f MB/s\n", "verify", 1e3 * median(verify), megabytes / median(verify));
  printf("  %-8s %8.2f ms  %8.1f MB/s\n", "print", 1e3 * median(print), (double)printed.size / 1e6 / median(print));
  printf("  the module holds %.1f MB\n", (double)held / 1e6);
  indim_buffer_deinit(&text);
  indim_buffer_deinit(&printed);
  indim_ctx_destroy(cx);
  return 0;
}
