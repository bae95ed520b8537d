// The report of a compilation: items as lowering left them, and steps, storages and texts of the finished program.
#include "pipeline/report.h"

#include "base/arena.h"
#include "base/json.h"
#include "loop/ir/effects.h"
#include "loop/ir/steps.h"

// Steps from |first| to |last| use a storage; first < 0: none does.
typedef struct live_range {
  int32_t first, last;
} live_range;

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
  live_range *live;        // of each storage
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

// Liveness --------------------------------------------------------------------------------------------------------------

static void use(report *r, int32_t storage, int32_t step) {
  for (int32_t s = storage + 1; s != 0; s = r->program->storages[s - 1]->shares) {
    live_range *at = &r->live[s - 1];
    at->first = at->first < 0 ? step : at->first;
    at->last = step > at->last ? step : at->last;
  }
}

static int32_t clamp_step(const report *r, int32_t step) {
  return step < r->step_count ? step : r->step_count == 0 ? 0 : r->step_count - 1;
}

// What is live before a while and used inside it is live until its end.
static void close_while(report *r, int32_t begin) {
  int32_t end = clamp_step(r, r->next - (r->next > begin));
  for (int32_t s = 0; s < r->program->storage_count; s++) {
    live_range *at = &r->live[s];
    if (at->first >= 0 && at->first < begin && at->last >= begin) {
      at->last = end > at->last ? end : at->last;
    }
  }
}

// Uses between two steps count for the second. Depth is that of the emission, which was there before.
static void see_body(report *r, const indim_loop_body *body, int32_t inside) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    bool is_step = r->next < r->step_count && r->steps[r->next].node == node;
    int32_t step = inside >= 0 ? inside : clamp_step(r, r->next);
    int32_t count = indim_loop_effects(r->program, node, effects);
    for (int32_t i = 0; i < count; i++) {
      use(r, effects[i].storage, step);
    }
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      see_body(r, node->bodies[k], is_step ? step : inside);
    }
    if (node->kind == INDIM_NODE_WHILE && inside < 0 && !is_step) {
      close_while(r, step);
    }
    r->next += is_step;
  }
}

static int64_t bytes_of(const indim_storage *storage) {
  return storage->elements * (int64_t)indim_type_bytes(storage->type);
}

static void print_peak(report *r) {
  int64_t peak = 0;
  int32_t at = 0;
  int64_t *change = NULL;
  void *memory = NULL;
  if (indim_arena_array(&r->arena, (size_t)r->step_count + 2, sizeof *change, &memory) != INDIM_OK) {
    return;
  }
  change = memory;
  for (int32_t s = 0; s < r->program->storage_count; s++) {
    const indim_storage *storage = r->program->storages[s];
    if (storage->kind == INDIM_STORAGE_SCRATCH && storage->shares == 0 && r->live[s].first >= 0) {
      change[r->live[s].first] += bytes_of(storage);
      change[r->live[s].last + 1] -= bytes_of(storage);
    }
  }
  int64_t now = 0;
  for (int32_t i = 0; i <= r->step_count; i++) {
    now += change[i];
    at = now > peak ? i : at;
    peak = now > peak ? now : peak;
  }
  indim_buffer_printf(r->out, ",\n\"scratch_bytes\":%lld,\"peak_bytes\":%lld,\"peak_step\":%d",
                      (long long)r->program->scratch_bytes, (long long)peak, (int)at);
}

// Storages and steps ----------------------------------------------------------------------------------------------------

static void print_storage(const report *r, const indim_storage *storage) {
  static const char *const kinds[] = {"argument", "result", "scratch", "constant"};
  live_range live = r->live[storage->index];
  indim_buffer_printf(r->out, "%s{\"kind\":\"%s\"", storage->index == 0 ? "\n" : ",\n", kinds[storage->kind]);
  if (storage->kind == INDIM_STORAGE_ARGUMENT || storage->kind == INDIM_STORAGE_RESULT) {
    indim_buffer_printf(r->out, ",\"number\":%d", (int)storage->number);
  }
  indim_buffer_text(r->out, ",\"name\":");
  indim_json_string(r->out, indim_str_of(storage->name));
  indim_buffer_printf(r->out, ",\"type\":\"%s\",\"elements\":%lld,\"bytes\":%lld", indim_type_text(storage->type),
                      (long long)storage->elements, (long long)bytes_of(storage));
  if (storage->kind == INDIM_STORAGE_SCRATCH && storage->shares == 0 && live.first >= 0) {
    indim_buffer_printf(r->out, ",\"offset\":%lld", (long long)storage->offset);
  }
  if (storage->shares != 0) {
    indim_buffer_printf(r->out, ",\"shares\":%d", (int)storage->shares - 1);
  }
  if (live.first >= 0) {
    indim_buffer_printf(r->out, ",\"live\":[%d,%d]}", (int)live.first, (int)live.last);
  } else {
    indim_buffer_text(r->out, ",\"live\":null}");
  }
}

static void print_name(const report *r, const indim_instr *instr) {
  const indim_loop_program *program = r->program;
  const indim_instr *source = indim_expansion_source(&program->expansions, program->module, instr);
  source = source == NULL ? instr : source;
  indim_buffer_char(r->out, '[');
  indim_json_string(r->out, source->name);
  indim_buffer_char(r->out, ',');
  indim_json_string(r->out, source->computation->name);
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
  void *live = NULL, *lines = NULL;
  size_t storages = (size_t)r->program->storage_count;
  INDIM_TRY(indim_program_steps(r->program, &r->arena, &r->steps, &r->step_count));
  INDIM_TRY(indim_loop_step_costs(r->program, &r->arena, r->steps, r->step_count, &r->costs));
  INDIM_TRY(indim_arena_array(&r->arena, storages + 1, sizeof(live_range), &live));
  INDIM_TRY(indim_arena_array(&r->arena, (size_t)r->step_count + 1, sizeof(line_range), &lines));
  r->live = live;
  r->loop_lines = lines;
  for (size_t s = 0; s < storages; s++) {
    r->live[s] = (live_range){-1, -1};
  }
  see_body(r, r->program->body, -1);
  r->next = 0;
  indim_loop_print_marked(r->program, mark, r, &r->loops);
  INDIM_TRY(indim_report_cut_asm(source->lines, &r->assembly, &r->runs));
  return r->loops.status != INDIM_OK ? r->loops.status : r->assembly.status;
}

static void print_text(report *r, const char *key, const indim_buffer *text) {
  indim_buffer_printf(r->out, ",\n\"%s\":", key);
  indim_json_string(r->out, (indim_str){text->data == NULL ? "" : text->data, text->size});
}

static indim_status print(report *r, const indim_report_source *source) {
  const indim_target *target = &r->program->target;
  int32_t *starts = NULL;
  line_range *sorted = NULL;
  INDIM_TRY(sort_runs(r, &starts, &sorted));
  indim_buffer_text(r->out, "{\"version\":1,\"target\":");
  indim_json_string(r->out, indim_str_of(target->name));
  indim_buffer_text(r->out, ",\"triple\":");
  indim_json_string(r->out, indim_str_of(target->triple));
  indim_buffer_printf(r->out, ",\"vector_bytes\":%d", (int)target->vector_bytes);
  print_peak(r);
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
