// The report of a compilation: items as lowering left them, and steps, storages and texts of the finished program.
#include "pipeline/report.h"

#include <stdlib.h>

#include "base/arena.h"
#include "loop/ir/steps.h"

typedef struct time_range {
  int64_t first, last;  // nodes, numbered from 1 in a pre-order walk
} time_range;

typedef struct line_range {
  int32_t first, count;
} line_range;

typedef struct report {
  const indim_loop_program *program;
  indim_buffer *out;
  indim_arena arena;
  indim_step *steps;
  indim_step_cost *costs;
  int32_t step_count;
  time_range *times;  // of each step
  int64_t node_count;
  line_range *loop_lines;  // of each step
  indim_buffer loops, assembly;
  indim_report_runs runs;
  // Of the text of the loops: the step that is looked for next or is open, and lines so far.
  int32_t next, line;
  size_t counted;
} report;

// Text of the loops -----------------------------------------------------------------------------------------------------

static void count_lines(report *r) {
  for (; r->counted < r->loops.size; r->counted++) {
    r->line += r->loops.data[r->counted] == '\n';
  }
}

static void mark(void *user, const indim_loop_node *node, bool is_end) {
  report *r = user;
  if (r->next < r->step_count && r->steps[r->next].node == node) {
    line_range *range = &r->loop_lines[r->next];
    count_lines(r);
    if (is_end) {
      range->count = r->line - range->first;
      r->next++;
    } else {
      range->first = r->line;
    }
  }
}

// Time ------------------------------------------------------------------------------------------------------------------

// Numbers the nodes as buffer assignment does.
static void number_steps(report *r) {
  int64_t now = 0;
  int32_t next = 0;
  for (const indim_loop_node *node = r->program->body->first; node != NULL; node = indim_loop_next(node)) {
    bool is_inside = next > 0 && node->body->depth > r->steps[next - 1].node->body->depth;
    if (node->kind == INDIM_NODE_HOST && node->u.host.service == INDIM_HOST_CLOCK) {
      continue;  // put in afterwards
    }
    now++;
    if (next < r->step_count && r->steps[next].node == node) {
      r->times[next++] = (time_range){now, now};
    } else if (is_inside && r->times[next - 1].last == now - 1) {
      r->times[next - 1].last = now;
    }
  }
  r->node_count = now;
}

static int64_t bytes_of(const indim_storage *storage) {
  return storage->elements * (int64_t)indim_type_bytes(storage->type);
}

// An array in the block begins or ends to be live.
typedef struct change {
  int64_t time;
  int64_t bytes;  // negative at its end
} change;

static int by_time(const void *x, const void *y) {
  const change *a = x;
  const change *b = y;
  if (a->time != b->time) {
    return a->time < b->time ? -1 : 1;
  }
  return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;  // ends first
}

static indim_status print_peak(report *r) {
  void *memory = NULL;
  size_t count = 0;
  INDIM_TRY(indim_arena_array(&r->arena, 2 * (size_t)r->program->storage_count + 1, sizeof(change), &memory));
  change *changes = memory;
  for (int32_t s = 0; s < r->program->storage_count; s++) {
    const indim_storage *storage = r->program->storages[s];
    if (storage->kind == INDIM_STORAGE_SCRATCH && storage->shares == 0 && storage->first_node > 0) {
      changes[count++] = (change){storage->first_node, bytes_of(storage)};
      changes[count++] = (change){storage->last_node + 1, -bytes_of(storage)};
    }
  }
  if (count > 0) {
    qsort(changes, count, sizeof *changes, by_time);
  }
  int64_t now = 0, peak = 0, at = 0;
  for (size_t i = 0; i < count; i++) {
    now += changes[i].bytes;
    at = now > peak ? changes[i].time : at;
    peak = now > peak ? now : peak;
  }
  indim_buffer_printf(r->out, ",\n\"scratch_bytes\":%lld,\"peak_bytes\":%lld,\"peak_time\":%lld,\"time\":%lld",
                      (long long)r->program->scratch_bytes, (long long)peak, (long long)at, (long long)r->node_count);
  return INDIM_OK;
}

// Storages and steps ----------------------------------------------------------------------------------------------------

static void print_storage(const report *r, const indim_storage *storage) {
  static const char *const kinds[] = {"argument", "result", "scratch", "constant"};
  indim_buffer_printf(r->out, "%s{\"kind\":\"%s\"", storage->index == 0 ? "\n" : ",\n", kinds[storage->kind]);
  if (storage->kind == INDIM_STORAGE_ARGUMENT || storage->kind == INDIM_STORAGE_RESULT) {
    indim_buffer_printf(r->out, ",\"number\":%d", (int)storage->number);
  }
  indim_buffer_text(r->out, ",\"name\":");
  indim_buffer_json(r->out, indim_str_of(storage->name));
  indim_buffer_printf(r->out, ",\"type\":\"%s\",\"elements\":%lld,\"bytes\":%lld", indim_type_text(storage->type),
                      (long long)storage->elements, (long long)bytes_of(storage));
  if (storage->kind == INDIM_STORAGE_SCRATCH && storage->shares == 0 && storage->first_node > 0) {
    indim_buffer_printf(r->out, ",\"offset\":%lld", (long long)storage->offset);
  }
  if (storage->shares != 0) {
    indim_buffer_printf(r->out, ",\"shares\":%d", (int)storage->shares - 1);
  }
  if (storage->first_node > 0) {
    indim_buffer_printf(r->out, ",\"live\":[%lld,%lld]}", (long long)storage->first_node,
                        (long long)storage->last_node);
  } else {
    indim_buffer_text(r->out, ",\"live\":null}");
  }
}

static void print_name(const report *r, const indim_instr *instr) {
  const indim_loop_program *program = r->program;
  const indim_instr *source = indim_expansion_source(&program->expansions, program->module, instr);
  source = source == NULL ? instr : source;
  indim_buffer_char(r->out, '[');
  indim_buffer_json(r->out, source->name);
  indim_buffer_char(r->out, ',');
  indim_buffer_json(r->out, source->computation->name);
  indim_buffer_char(r->out, ']');
}

// The instructions that the nodes of a step are for, each once.
static void print_origins(const report *r, const indim_loop_node *step) {
  enum { MOST = 64 };
  const indim_instr *seen[MOST];
  int32_t count = 0;
  indim_buffer_text(r->out, ",\"instructions\":[");
  for (const indim_loop_node *node = step; node != NULL && count < MOST; node = indim_loop_next(node)) {
    if (node != step && node->body->depth <= step->body->depth) {
      break;
    }
    bool is_new = node->origin != NULL;
    for (int32_t i = count - 1; i >= 0 && is_new; i--) {
      is_new = seen[i] != node->origin;
    }
    if (is_new) {
      indim_buffer_text(r->out, count == 0 ? "" : ",");
      print_name(r, node->origin);
      seen[count++] = node->origin;
    }
  }
  indim_buffer_char(r->out, ']');
}

static void print_touches(const report *r, const indim_step_cost *cost) {
  for (int side = 0; side < 2; side++) {
    const char *separator = "";
    indim_buffer_text(r->out, side == 0 ? ",\"reads\":[" : ",\"writes\":[");
    for (int32_t i = 0; i < cost->touch_count; i++) {
      const indim_step_touch *touch = &cost->touches[i];
      double bytes = side == 0 ? touch->bytes_read : touch->bytes_written;
      if (bytes > 0) {
        indim_buffer_printf(r->out, "%s[%d,%.0f]", separator, (int)touch->storage, bytes);
        separator = ",";
      }
    }
    indim_buffer_char(r->out, ']');
  }
}

// |starts|: where the runs of each step begin in |sorted|.
static void print_step(const report *r, int32_t s, const int32_t *starts, const line_range *sorted) {
  const indim_step *step = &r->steps[s];
  const indim_step_cost *cost = &r->costs[s];
  indim_buffer_printf(r->out, "%s{\"kind\":\"%s\"", s == 0 ? "\n" : ",\n", indim_step_kind_text(step->kind));
  if (step->kind == INDIM_STEP_HOST) {
    indim_buffer_printf(r->out, ",\"service\":\"%s\"", indim_service_get(step->node->u.host.service)->name);
  }
  print_origins(r, step->node);
  const indim_loop_node *owner = step->node->body->owner;
  if (owner != NULL && owner->origin != NULL) {
    indim_buffer_text(r->out, ",\"inside\":");
    print_name(r, owner->origin);
  }
  indim_buffer_printf(r->out, ",\"time\":[%lld,%lld]", (long long)r->times[s].first, (long long)r->times[s].last);
  indim_buffer_printf(r->out, ",\"parallel\":%s,\"lanes\":%d", cost->is_parallel ? "true" : "false", (int)cost->lanes);
  print_touches(r, cost);
  indim_buffer_printf(r->out,
                      ",\"bytes_read\":%.0f,\"bytes_written\":%.0f,\"operations\":%.0f,\"transcendentals\":%.0f",
                      cost->bytes_read, cost->bytes_written, cost->operations, cost->transcendentals);
  indim_buffer_printf(r->out, ",\"loop_lines\":[%d,%d],\"asm_lines\":[", (int)r->loop_lines[s].first,
                      (int)r->loop_lines[s].count);
  for (int32_t i = starts[s]; i < starts[s + 1]; i++) {
    indim_buffer_printf(r->out, "%s[%d,%d]", i == starts[s] ? "" : ",", (int)sorted[i].first, (int)sorted[i].count);
  }
  indim_buffer_text(r->out, "]}");
}

// The runs of lines by their steps, in the order of the text.
static indim_status sort_runs(report *r, int32_t **out_starts, line_range **out_sorted) {
  void *starts_memory = NULL, *sorted_memory = NULL;
  INDIM_TRY(indim_arena_array(&r->arena, (size_t)r->step_count + 2, sizeof(int32_t), &starts_memory));
  INDIM_TRY(indim_arena_array(&r->arena, r->runs.count + 1, sizeof(line_range), &sorted_memory));
  int32_t *starts = starts_memory;
  line_range *sorted = sorted_memory;
  for (size_t i = 0; i < r->runs.count; i++) {
    int32_t step = r->runs.runs[i].step;
    starts[step >= 0 && step < r->step_count ? step + 2 : 0]++;
  }
  starts[0] = 0;
  for (int32_t s = 2; s < r->step_count + 2; s++) {
    starts[s] += starts[s - 1];
  }
  for (size_t i = 0; i < r->runs.count; i++) {  // starts[s + 1] moves to where those of s end
    const indim_report_run *run = &r->runs.runs[i];
    if (run->step >= 0 && run->step < r->step_count) {
      sorted[starts[run->step + 1]++] = (line_range){run->first, run->count};
    }
  }
  *out_starts = starts;
  *out_sorted = sorted;
  return INDIM_OK;
}

// The whole ---------------------------------------------------------------------------------------------------------------

static indim_status prepare(report *r, const indim_report_source *source) {
  void *times = NULL, *lines = NULL;
  INDIM_TRY(indim_program_steps(r->program, &r->arena, &r->steps, &r->step_count));
  INDIM_TRY(indim_loop_step_costs(r->program, &r->arena, r->steps, r->step_count, &r->costs));
  INDIM_TRY(indim_arena_array(&r->arena, (size_t)r->step_count + 1, sizeof(time_range), &times));
  INDIM_TRY(indim_arena_array(&r->arena, (size_t)r->step_count + 1, sizeof(line_range), &lines));
  r->times = times;
  r->loop_lines = lines;
  number_steps(r);
  indim_loop_print_marked(r->program, mark, r, &r->loops);
  INDIM_TRY(indim_report_cut_asm(source->lines, &r->assembly, &r->runs));
  return r->loops.status != INDIM_OK ? r->loops.status : r->assembly.status;
}

static void print_text(report *r, const char *key, const indim_buffer *text) {
  indim_buffer_printf(r->out, ",\n\"%s\":", key);
  indim_buffer_json(r->out, (indim_str){text->data == NULL ? "" : text->data, text->size});
}

static indim_status print(report *r, const indim_report_source *source) {
  const indim_target *target = &r->program->target;
  int32_t *starts = NULL;
  line_range *sorted = NULL;
  INDIM_TRY(sort_runs(r, &starts, &sorted));
  indim_buffer_text(r->out, "{\"version\":1,\"target\":");
  indim_buffer_json(r->out, indim_str_of(target->name));
  indim_buffer_text(r->out, ",\"triple\":");
  indim_buffer_json(r->out, indim_str_of(target->triple));
  indim_buffer_printf(r->out, ",\"vector_bytes\":%d", (int)target->vector_bytes);
  INDIM_TRY(print_peak(r));
  indim_buffer_text(r->out, ",\n\"flows\":");
  indim_buffer_append(r->out, source->items->data, source->items->size);
  indim_buffer_text(r->out, ",\n\"storages\":[");
  for (int32_t s = 0; s < r->program->storage_count; s++) {
    print_storage(r, r->program->storages[s]);
  }
  indim_buffer_text(r->out, "],\n\"steps\":[");
  for (int32_t s = 0; s < r->step_count; s++) {
    print_step(r, s, starts, sorted);
  }
  indim_buffer_char(r->out, ']');
  print_text(r, "loops", &r->loops);
  print_text(r, "asm", &r->assembly);
  indim_buffer_text(r->out, "}\n");
  return r->out->status;
}

indim_status indim_report_write(const indim_report_source *source, indim_buffer *out) {
  report r = {.program = source->program, .out = out, .runs = {.cx = source->program->cx}};
  indim_arena_init(&r.arena, source->program->cx);
  indim_buffer_init(&r.loops, source->program->cx);
  indim_buffer_init(&r.assembly, source->program->cx);
  indim_status status = prepare(&r, source);
  status = status == INDIM_OK ? print(&r, source) : status;
  indim_report_runs_deinit(&r.runs);
  indim_buffer_deinit(&r.assembly);
  indim_buffer_deinit(&r.loops);
  indim_arena_deinit(&r.arena);
  return status;
}
