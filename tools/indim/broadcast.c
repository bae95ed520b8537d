// indim broadcast: how two shapes meet.
#include "indim/broadcast.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "tool.h"

const char *const help_broadcast =
    "Usage: indim broadcast [--dims D,D...] [--json] SHAPE SHAPE\n"
    "\n"
    "Broadcasts two shapes by XLA's strict rules and draws which dimensions meet, or says why they do not.\n"
    "\n"
    "Options:\n"
    "  -d D,D..., --dims=D,D...  for each dimension of the lower-rank shape, the dimension of the other that it is\n"
    "                            matched with\n"
    "  --json                    print one JSON object\n"
    "\n"
    "Exit code 1 when the shapes do not broadcast.\n"
    "\n"
    "Examples:\n"
    "  $ indim broadcast 'f32[2,3]' 'f32[3]' --dims 1\n"
    "  $ indim broadcast 'f32[4]' 'f32[1,2]' --dims 0\n";

enum { OPTION_DIMS = 1, OPTION_JSON };

static const option_spec specs[] = {{"dims", 'd', OPTION_DIMS, true}, {"json", 0, OPTION_JSON, false}, {0}};

static const char *reason_name(indim_broadcast_reason reason) {
  switch (reason) {
#define INDIM_BROADCAST_REASON(name, text) \
  case INDIM_BROADCAST_##name:             \
    return #name;
#include "indim/broadcast_reason.def"
  }
  return "";
}

static void print_json(indim_ctx *cx, indim_status status, const indim_broadcast *result,
                       indim_broadcast_reason reason) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddBoolToObject(object, "ok", status == INDIM_OK);
  if (status == INDIM_OK) {
    char *text = shape_text(cx, &result->shape, false);
    cJSON_AddStringToObject(object, "shape", text);
    free(text);
    cJSON_AddItemToObject(object, "left_dims", cJSON_CreateIntArray(result->lhs_dims, result->shape.rank));
    cJSON_AddItemToObject(object, "right_dims", cJSON_CreateIntArray(result->rhs_dims, result->shape.rank));
  } else {
    const indim_diagnostic *diagnostic = indim_ctx_diagnostic_get(cx, 0);
    cJSON_AddStringToObject(object, "reason", reason_name(reason));
    cJSON_AddStringToObject(object, "message", diagnostic == NULL ? "" : diagnostic->message);
    cJSON_AddStringToObject(object, "hint", diagnostic == NULL ? "" : diagnostic->hint);
  }
  json_print(object, true);
}

static int show(indim_ctx *cx, const indim_shape *lhs, const indim_shape *rhs, const int64_t *dims, int32_t count,
                bool json) {
  indim_broadcast result;
  indim_broadcast_reason reason = INDIM_BROADCAST_NONE;
  indim_status status = indim_broadcast_shapes(cx, lhs, rhs, dims, count, &result, &reason);
  if (status != INDIM_OK && reason == INDIM_BROADCAST_NONE) {
    return report(cx, status);
  }
  if (json) {
    print_json(cx, status, &result, reason);
    return exit_code_of(status);
  }
  if (status == INDIM_OK) {
    char *text = shape_text(cx, &result.shape, false);
    puts(text);
    free(text);
  }
  indim_buffer drawing;
  indim_buffer_init(&drawing, cx);
  indim_broadcast_draw(lhs, rhs, dims, count, &result, reason, &drawing);
  FILE *out = status == INDIM_OK ? stdout : stderr;
  if (drawing.size > 0) {
    fwrite(drawing.data, 1, drawing.size, out);
  }
  int code = status == INDIM_OK ? EXIT_OK : report(cx, status);
  indim_buffer_deinit(&drawing);
  return code;
}

int command_broadcast(indim_ctx *cx, const command *self, int argc, char **argv) {
  bool json = false;
  int64_t dims[INDIM_MAX_RANK];
  int32_t count = 0;
  option_walk walk;
  options_start(&walk, self, specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    json = json || option == OPTION_JSON;
    if (option == OPTION_DIMS && !parse_dims(walk.value, dims, INDIM_MAX_RANK, &count)) {
      return usage_error(self, "'%s' is no list of dimension numbers like 0,2", walk.value);
    }
  }
  if (walk.operand_count != 2) {
    return usage_error(self, "give two shapes, for example 'f32[2,3]' 'f32[3]'");
  }
  indim_arena *arena = NULL;
  indim_shape shapes[2];
  indim_status status = indim_arena_create(cx, &arena);
  for (int i = 0; i < 2 && status == INDIM_OK; i++) {
    status = indim_shape_parse(cx, indim_str_of(walk.operands[i]), arena, &shapes[i]);
  }
  int code = status == INDIM_OK ? show(cx, &shapes[0], &shapes[1], dims, count, json) : report(cx, status);
  indim_arena_destroy(arena);
  return code;
}
