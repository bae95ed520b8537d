// The profile of a program: it is compiled with clocks around its steps and without, both run in turn on the same buffers,
// and what is told is the round whose time is the median, so that the steps and the whole belong together.
#include "profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "measuring.h"

// Running --------------------------------------------------------------------------------------------------------------

// One program with its buffers.
typedef struct runner {
  indim_executable *executable;
  indim_binding *binding;
} runner;

typedef struct profile {
  indim_ctx *cx;
  const profile_options *options;
  measuring buffers;
  runner plain, timed;
  int64_t steps;
  int64_t rounds, together;  // rounds of so many runs
  double *plain_ns, *timed_ns;
  indim_step_time *times;       // of the present round
  double *step_ns, *step_runs;  // of each round, step by step; of one execution
  machine_limits limits;
} profile;

// How many runs make a round, and how many rounds fit the time.
static indim_status choose_rounds(profile *p) {
  enum { WHOLE = 600000000, LEAST = 5, MOST = 101 };
  int64_t ns = 0;
  indim_status status = measuring_choose_together(p->timed.binding, &p->together, &ns);
  int64_t rounds = WHOLE / (2 * (ns + 1));
  rounds = rounds < LEAST ? LEAST : rounds > MOST ? MOST : rounds;
  p->rounds = p->options->repeat > 0 ? p->options->repeat : rounds;
  return status;
}

static indim_status run_round(profile *p, int64_t round) {
  int64_t ns = 0;
  indim_status status = measuring_run(p->plain.binding, p->together, &ns);
  p->plain_ns[round] = (double)ns / (double)p->together;
  memset(p->times, 0, (size_t)p->steps * sizeof *p->times);
  status = status == INDIM_OK ? measuring_run(p->timed.binding, p->together, &ns) : status;
  p->timed_ns[round] = (double)ns / (double)p->together;
  for (int64_t s = 0; s < p->steps; s++) {
    p->step_ns[round * p->steps + s] = (double)p->times[s].ns / (double)p->together;
    p->step_runs[round * p->steps + s] = (double)p->times[s].runs / (double)p->together;
  }
  return status;
}

static indim_status run_rounds(profile *p) {
  p->steps = indim_executable_step_count(p->timed.executable);
  p->times = zeroed((size_t)p->steps + 1, sizeof *p->times);
  indim_status status = measuring_bind(&p->buffers, p->plain.executable, NULL, &p->plain.binding);
  status = status == INDIM_OK ? measuring_bind(&p->buffers, p->timed.executable, p->times, &p->timed.binding) : status;
  status = status == INDIM_OK ? choose_rounds(p) : status;
  if (status != INDIM_OK) {
    return status;
  }
  size_t cells = (size_t)p->rounds * ((size_t)p->steps + 1);
  p->plain_ns = zeroed((size_t)p->rounds, sizeof(double));
  p->timed_ns = zeroed((size_t)p->rounds, sizeof(double));
  p->step_ns = zeroed(cells, sizeof(double));
  p->step_runs = zeroed(cells, sizeof(double));
  for (int64_t i = 0; i < p->rounds && status == INDIM_OK; i++) {
    status = run_round(p, i);
  }
  return status;
}

static indim_status compile_both(profile *p, const indim_module *module) {
  indim_compile_options options = p->options->compile;
  indim_status status = compile_module(p->cx, module, &options, &p->plain.executable);
  options.profile = true;
  return status == INDIM_OK ? compile_module(p->cx, module, &options, &p->timed.executable) : status;
}

// What is told ---------------------------------------------------------------------------------------------------------

static double least_of(const double *values, int64_t count) {
  double least = values[0];
  for (int64_t i = 1; i < count; i++) {
    least = values[i] < least ? values[i] : least;
  }
  return least;
}

typedef struct step_row {
  int64_t number;
  const indim_profile_step *step;
  double ns, runs;                // of one execution
  double bytes, flops;            // of all runs; functions count as operations
  double of_bandwidth, of_flops;  // shares of the limits; 0: not measured
} step_row;

typedef struct summary {
  double timed_ns, plain_ns;
  double cost;     // of measuring, as a share: by the least times, which other work on the machine disturbs least
  double rest_ns;  // between the steps
  step_row *rows;
} summary;

static step_row row_of(const profile *p, int64_t s, int64_t round) {
  const indim_profile_step *step = indim_executable_step(p->timed.executable, s);
  step_row row = {
      .number = s, .step = step, .ns = p->step_ns[round * p->steps + s], .runs = p->step_runs[round * p->steps + s]};
  if (strcmp(step->kind, "while") != 0) {  // how many iterations it had is not known
    row.bytes = row.runs * (step->bytes_read + step->bytes_written);
    row.flops = row.runs * (step->operations + step->transcendentals);
  }
  if (p->limits.bandwidth > 0 && row.ns > 0) {
    row.of_bandwidth = row.bytes / row.ns * 1e9 / p->limits.bandwidth;
    row.of_flops = row.flops / row.ns * 1e9 / p->limits.flops;
  }
  return row;
}

static summary summarize(const profile *p) {
  summary out = {.timed_ns = quantile_of(p->timed_ns, p->rounds, 0.5),
                 .plain_ns = quantile_of(p->plain_ns, p->rounds, 0.5)};
  double plain = least_of(p->plain_ns, p->rounds);
  out.cost = plain > 0 ? least_of(p->timed_ns, p->rounds) / plain - 1 : 0;
  int64_t round = 0;
  while (p->timed_ns[round] != out.timed_ns) {
    round++;
  }
  out.rest_ns = out.timed_ns;
  out.rows = must_alloc((size_t)p->steps * sizeof *out.rows);
  for (int64_t s = 0; s < p->steps; s++) {
    out.rows[s] = row_of(p, s, round);
    out.rest_ns -= out.rows[s].ns;
  }
  out.rest_ns = out.rest_ns > 0 ? out.rest_ns : 0;
  return out;
}

// JSON -----------------------------------------------------------------------------------------------------------------

static void add_step(cJSON *list, const step_row *row, bool with_limits) {
  cJSON *object = cJSON_CreateObject();
  const indim_profile_step *step = row->step;
  cJSON_AddItemToArray(list, object);
  cJSON_AddNumberToObject(object, "step", (double)row->number);
  cJSON_AddStringToObject(object, "kind", step->kind);
  if (step->service[0] != '\0') {
    cJSON_AddStringToObject(object, "service", step->service);
  }
  cJSON_AddStringToObject(object, "name", step->name);
  cJSON_AddStringToObject(object, "op", step->op);
  cJSON *names = cJSON_AddArrayToObject(object, "instructions");
  for (int64_t i = 0; i < step->instruction_count; i++) {
    cJSON_AddItemToArray(names, cJSON_CreateString(step->instructions[i]));
  }
  cJSON_AddBoolToObject(object, "parallel", step->is_parallel);
  cJSON_AddNumberToObject(object, "runs", row->runs);
  cJSON_AddNumberToObject(object, "seconds", row->ns * 1e-9);
  if (strcmp(step->kind, "while") != 0) {
    cJSON_AddNumberToObject(object, "bytes_read", row->runs * step->bytes_read);
    cJSON_AddNumberToObject(object, "bytes_written", row->runs * step->bytes_written);
    cJSON_AddNumberToObject(object, "operations", row->runs * step->operations);
    cJSON_AddNumberToObject(object, "transcendentals", row->runs * step->transcendentals);
  }
  if (with_limits) {
    cJSON_AddNumberToObject(object, "of_bandwidth", row->of_bandwidth);
    cJSON_AddNumberToObject(object, "of_flops", row->of_flops);
  }
}

static void print_json(const profile *p, const summary *sum) {
  cJSON *object = cJSON_CreateObject();
  cJSON *out = cJSON_AddObjectToObject(object, "profile");
  cJSON_AddStringToObject(out, "target", indim_executable_target(p->timed.executable));
  cJSON_AddNumberToObject(out, "threads", p->options->threads);
  cJSON_AddNumberToObject(out, "rounds", (double)p->rounds);
  cJSON_AddNumberToObject(out, "runs_per_round", (double)p->together);
  cJSON_AddNumberToObject(out, "seconds", sum->timed_ns * 1e-9);
  cJSON_AddNumberToObject(out, "seconds_without_clocks", sum->plain_ns * 1e-9);
  cJSON_AddNumberToObject(out, "cost", sum->cost);
  cJSON_AddNumberToObject(out, "rest_seconds", sum->rest_ns * 1e-9);
  bool with_limits = p->limits.bandwidth > 0;
  if (with_limits) {
    cJSON_AddNumberToObject(out, "bandwidth", p->limits.bandwidth);
    cJSON_AddNumberToObject(out, "flops", p->limits.flops);
    cJSON_AddStringToObject(out, "limits_type", p->limits.type);
  }
  cJSON *steps = cJSON_AddArrayToObject(out, "steps");
  for (int64_t s = 0; s < p->steps; s++) {
    add_step(steps, &sum->rows[s], with_limits);
  }
  json_print(object, true);
}

// The table ------------------------------------------------------------------------------------------------------------

static int by_time(const void *a, const void *b) {
  const step_row *x = a;
  const step_row *y = b;
  return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns) : (x->number > y->number) - (x->number < y->number);
}

// "dot.3 (matmul)", "add.5 (add) + 3": cut at |width|.
static void describe(const step_row *row, int width, char *out, size_t size) {
  const indim_profile_step *s = row->step;
  const char *what = strcmp(s->kind, "host") == 0 ? s->service : strcmp(s->kind, "loop") == 0 ? s->op : s->kind;
  int64_t more = s->instruction_count - 1;
  char tail[64];
  snprintf(tail, sizeof tail, more > 0 ? "%s(%s) +%" PRId64 : "%s(%s)", s->name[0] == '\0' ? "" : " ", what, more);
  int room = width - (int)strlen(tail);
  room = room < 8 ? 8 : room;
  int name = (int)strlen(s->name);
  bool is_cut = name > room;
  snprintf(out, size, "%.*s%s%s", is_cut ? room - 2 : name, s->name, is_cut ? ".." : "", tail);
}

// Eighths of a block in UTF-8; plain ASCII where the output is no terminal, or the locale another.
static void print_bar(double share, int width, bool has_color) {
  static const char *const parts[] = {"",
                                      "\xe2\x96\x8f",
                                      "\xe2\x96\x8e",
                                      "\xe2\x96\x8d",
                                      "\xe2\x96\x8c",
                                      "\xe2\x96\x8b",
                                      "\xe2\x96\x8a",
                                      "\xe2\x96\x89"};
  bool has_blocks = has_color && terminal_has_utf8();
  int eighths = (int)(share * width * 8 + 0.5);
  eighths = eighths > width * 8 ? width * 8 : eighths < 0 ? 0 : eighths;
  int whole = has_blocks ? eighths / 8 : (eighths + 4) / 8;
  fputs(has_color ? "\033[36m" : "", stdout);
  for (int i = 0; i < whole; i++) {
    fputs(has_blocks ? "\xe2\x96\x88" : "#", stdout);
  }
  printf("%s%s", has_blocks ? parts[eighths % 8] : "", has_color ? "\033[0m" : "");
}

static void print_rate(double amount, double ns) {
  if (amount <= 0 || ns <= 0) {
    printf(" %8s", "-");
  } else {
    printf(" %8.3g", amount / ns);
  }
}

static void print_row(const profile *p, const step_row *row, double total, int name_width, int bar_width, bool color) {
  char what[256];
  describe(row, name_width, what, sizeof what);
  printf("%5" PRId64 "  %-*s %9s %3.0f%%", row->number, name_width, what, time_text_of((int64_t)(row->ns + 0.5)).text,
         total > 0 ? 100 * row->ns / total : 0);
  printf(" %7.4g", row->runs);
  print_rate(row->bytes, row->ns);
  print_rate(row->flops, row->ns);
  if (p->limits.bandwidth > 0) {
    bool is_memory = row->of_bandwidth >= row->of_flops;
    printf(" %4.0f%% %-6s", 100 * (is_memory ? row->of_bandwidth : row->of_flops), is_memory ? "memory" : "flops");
  }
  fputs("  ", stdout);
  print_bar(total > 0 ? row->ns / total : 0, bar_width, color);
  putchar('\n');
}

static void tell_cost(const profile *p, const summary *sum) {
  printf("one execution: %s with clocks, %s without (medians of %" PRId64 " rounds of %" PRId64
         " in turn)\nmeasuring costs %.1f %% (by the least times)\n",
         time_text_of((int64_t)(sum->timed_ns + 0.5)).text, time_text_of((int64_t)(sum->plain_ns + 0.5)).text,
         p->rounds, p->together, sum->cost > 0 ? 100 * sum->cost : 0);
  if (p->limits.bandwidth > 0) {
    printf("limits of this machine on %d thread%s: %.3g GB/s (sum of an array of 64 MiB and a number), %.3g GFLOP/s "
           "(product of %s matrices)\n",
           (int)p->options->threads, p->options->threads == 1 ? "" : "s", p->limits.bandwidth * 1e-9,
           p->limits.flops * 1e-9, p->limits.type);
  }
}

static void print_table(const profile *p, summary *sum) {
  enum { MOST_ROWS = 40, FIXED = 50, LIMITS = 13, LEAST_NAME = 16, MOST_NAME = 48, LEAST_BAR = 4, MOST_BAR = 40 };
  bool color = terminal_has_color();
  int left = terminal_width() - FIXED - (p->limits.bandwidth > 0 ? LIMITS : 0);
  int bar = left / 4;
  bar = bar < LEAST_BAR ? LEAST_BAR : bar > MOST_BAR ? MOST_BAR : bar;
  int name = left - bar;
  name = name < LEAST_NAME ? LEAST_NAME : name > MOST_NAME ? MOST_NAME : name;
  printf(" step  %-*s %9s %4s %7s %8s %8s%s\n", name, "what", "time", "", "runs", "GB/s", "GFLOP/s",
         p->limits.bandwidth > 0 ? "  of limit" : "");
  qsort(sum->rows, (size_t)p->steps, sizeof *sum->rows, by_time);
  double others = 0;
  for (int64_t s = 0; s < p->steps; s++) {
    if (s < MOST_ROWS) {
      print_row(p, &sum->rows[s], sum->timed_ns, name, bar, color);
    } else {
      others += sum->rows[s].ns;
    }
  }
  if (p->steps > MOST_ROWS) {
    printf("       %-*s %9s %3.0f%%  (%" PRId64 " steps; --json lists them)\n", name, "others",
           time_text_of((int64_t)others).text, 100 * others / sum->timed_ns, p->steps - MOST_ROWS);
  }
  printf("       %-*s %9s %3.0f%%\n", name, "between steps", time_text_of((int64_t)sum->rest_ns).text,
         sum->timed_ns > 0 ? 100 * sum->rest_ns / sum->timed_ns : 0);
  tell_cost(p, sum);
}

// --------------------------------------------------------------------------------------------------------------------

// Whether the program computes with f64 more than with f32.
static bool is_f64(const indim_module *module) {
  const indim_computation *entry = indim_module_entry(module);
  int64_t more = 0;
  for (int64_t i = 0; i < indim_computation_instr_count(entry); i++) {
    indim_type type = indim_instr_shape(indim_computation_instr(entry, i))->type;
    more += (type == INDIM_F64 || type == INDIM_C128) - (type == INDIM_F32 || type == INDIM_C64);
  }
  return more > 0;
}

static indim_status measure(profile *p, const indim_module *module, const indim_literal *const *arguments,
                            int64_t count, indim_literal **out_result) {
  indim_status status = compile_both(p, module);
  if (status != INDIM_OK) {
    return status;
  }
  work_begin(p->cx, "running");
  status = measuring_begin(p->cx, module, p->plain.executable, arguments, count, p->options->threads, &p->buffers);
  indim_run_options run = {.pool = p->buffers.pool, .stop = work_stop_flag()};
  if (status == INDIM_OK && out_result != NULL) {
    status = indim_execute_literals(p->cx, p->plain.executable, arguments, count, &run, out_result);
  }
  status = status == INDIM_OK ? run_rounds(p) : status;
  if (status == INDIM_OK && p->options->limits) {
    work_now("measuring the machine");
    status = measure_limits(p->cx, p->buffers.pool, is_f64(module), &p->limits);
  }
  work_end(p->cx);
  return status;
}

static void clean_up(profile *p) {
  indim_binding_destroy(p->plain.binding);
  indim_binding_destroy(p->timed.binding);
  indim_executable_destroy(p->plain.executable);
  indim_executable_destroy(p->timed.executable);
  measuring_end(&p->buffers);
  free(p->plain_ns);
  free(p->timed_ns);
  free(p->times);
  free(p->step_ns);
  free(p->step_runs);
}

int profile_program(indim_ctx *cx, const command *self, const indim_module *module,
                    const indim_literal *const *arguments, int64_t count, const profile_options *options,
                    indim_literal **out_result) {
  profile p = {.cx = cx, .options = options};
  int code = EXIT_OK;
  indim_status status = measure(&p, module, arguments, count, out_result);
  if (status != INDIM_OK) {
    code = report(cx, status);
  } else {
    tell_detours(cx, self);
    summary sum = summarize(&p);
    if (options->json) {
      print_json(&p, &sum);
    } else {
      print_table(&p, &sum);
    }
    free(sum.rows);
  }
  clean_up(&p);
  return code;
}
