// What became of a program, as JSON (indim_compile_options.out_report).
#ifndef INDIM_PIPELINE_REPORT_H
#define INDIM_PIPELINE_REPORT_H

#include "loop/ir/loop.h"

typedef struct indim_report_source {
  const indim_loop_program *program;  // finished
  const indim_buffer *items;          // the flows, as JSON
  const indim_buffer *lines;          // assembly with lines of steps (emit.h)
} indim_report_source;

// Writes the report. NO_MEMORY.
INDIM_CHECKED indim_status indim_report_write(const indim_report_source *source, indim_buffer *out);

// A run of lines of a text that belongs to a step, or to none (-1).
typedef struct indim_report_run {
  int32_t step;
  int32_t first, count;
} indim_report_run;

typedef struct indim_report_runs {
  indim_ctx *cx;
  indim_report_run *runs;
  size_t count, capacity;
} indim_report_runs;

void indim_report_runs_deinit(indim_report_runs *r);
// Adds a line to the last run, or begins another.
INDIM_CHECKED indim_status indim_report_add_line(indim_report_runs *r, int32_t step, int32_t line);
// report_asm.c: takes the `.loc` directives and what else is for debuggers out of |lines|, and tells whose each line is.
INDIM_CHECKED indim_status indim_report_cut_asm(const indim_buffer *lines, indim_buffer *out_asm,
                                                indim_report_runs *out_runs);

#endif  // INDIM_PIPELINE_REPORT_H
