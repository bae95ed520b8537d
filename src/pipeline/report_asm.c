// Cuts assembly at its debug lines: whose step each line is.
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "emit/interface/emit.h"
#include "pipeline/report.h"

void indim_report_runs_deinit(indim_report_runs *r) {
  indim_free(r->cx, r->runs, r->capacity * sizeof *r->runs);
  *r = (indim_report_runs){.cx = r->cx};
}

indim_status indim_report_add_line(indim_report_runs *r, int32_t step, int32_t line) {
  indim_report_run *last = r->count == 0 ? NULL : &r->runs[r->count - 1];
  if (last != NULL && last->step == step && last->first + last->count == line) {
    last->count++;
    return INDIM_OK;
  }
  if (r->count == r->capacity) {
    size_t capacity = r->capacity == 0 ? 64 : 2 * r->capacity;
    void *runs = r->runs;
    INDIM_TRY(indim_resize(r->cx, &runs, r->capacity * sizeof *r->runs, capacity * sizeof *r->runs));
    r->runs = runs;
    r->capacity = capacity;
  }
  r->runs[r->count++] = (indim_report_run){step, line, 1};
  return INDIM_OK;
}

typedef struct cutter {
  indim_buffer *out;
  indim_report_runs *runs;
  int32_t step;        // of what follows; -1: none
  int32_t line;        // number of the next line that is kept
  int32_t held;        // labels before it, which go with what follows them
  bool is_debug_data;  // in a section for debuggers
} cutter;

static bool begins(const char *line, size_t size, const char *with) {
  size_t length = strlen(with);
  return size >= length && memcmp(line, with, length) == 0;
}

static bool is_label(const char *line, size_t size) {
  return size > 0 && line[0] != '\t' && line[0] != ' ' && line[0] != '#' && line[0] != '/' &&
         memchr(line, ':', size) != NULL;
}

// "\t.loc\t1 5 0": 5.
static void take_line(cutter *c, const char *line, size_t size) {
  const char *at = memchr(line, ' ', size);
  long number = at == NULL ? 0 : strtol(at, NULL, 10);
  if (number > 0) {  // 0 is of no line: what was before goes on
    c->step = (int32_t)number - INDIM_EMIT_FIRST_LINE;
    c->step = c->step < 0 ? -1 : c->step;
  }
}

static bool is_for_debuggers(const char *line, size_t size) {
  return begins(line, size, "\t.cfi_") || begins(line, size, ".Ltmp") || begins(line, size, ".Lfunc_begin") ||
         begins(line, size, "\t.file\t") || begins(line, size, "Ltmp") || begins(line, size, "Lfunc_begin");
}

static bool is_section(const char *line, size_t size) {
  return begins(line, size, "\t.section\t") || (size == 6 && begins(line, size, "\t.text"));
}

// ".section .debug_line", "__DWARF,__debug_line".
static bool is_debug_section(const char *line, size_t size) {
  for (size_t i = 0; i + 6 <= size; i++) {
    if (begins(line + i, size - i, ".debug") || begins(line + i, size - i, "__DWAR")) {
      return true;
    }
  }
  return false;
}

static indim_status flush(cutter *c, int32_t step) {
  for (; c->held > 0; c->held--) {
    INDIM_TRY(indim_report_add_line(c->runs, step, c->line - c->held));
  }
  return INDIM_OK;
}

static indim_status keep(cutter *c, const char *line, size_t size) {
  indim_buffer_append(c->out, line, size);
  indim_buffer_char(c->out, '\n');
  c->line++;
  c->held++;
  return is_label(line, size) ? INDIM_OK : flush(c, c->step);
}

static indim_status take(cutter *c, const char *line, size_t size) {
  if (is_section(line, size)) {
    c->is_debug_data = is_debug_section(line, size);
    c->step = -1;
  }
  if (begins(line, size, "\t.loc\t")) {
    take_line(c, line, size);
    return INDIM_OK;
  }
  if (c->is_debug_data || is_for_debuggers(line, size)) {
    return INDIM_OK;
  }
  if (is_label(line, size) && line[0] != '.' && !begins(line, size, "LBB")) {  // a function or an object
    INDIM_TRY(flush(c, c->step));
    c->step = -1;
  }
  return keep(c, line, size);
}

indim_status indim_report_cut_asm(const indim_buffer *lines, indim_buffer *out_asm, indim_report_runs *out_runs) {
  cutter c = {.out = out_asm, .runs = out_runs, .step = -1};
  const char *at = lines->data;
  const char *end = at == NULL ? NULL : at + lines->size;
  while (at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop == NULL ? end : stop;
    INDIM_TRY(take(&c, at, (size_t)(stop - at)));
    at = stop == end ? end : stop + 1;
  }
  return flush(&c, -1);
}
