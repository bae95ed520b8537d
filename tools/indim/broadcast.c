// indim broadcast: how two shapes meet.
#include "indim/broadcast.h"

#include <stdlib.h>

#include <cjson/cJSON.h>

#include "drawing.h"

const char *const help_broadcast =
    "Usage: indim broadcast [OPTION...] SHAPE SHAPE...\n"
    "\n"
    "Broadcasts two shapes by XLA's strict rules and draws it: which dimensions meet, what is repeated, and the sum "
    "of\n"
    "counted elements; or says why they do not, and which dims would fit. Of more shapes, the third meets the result "
    "of\n"
    "the first two, and so on.\n"
    "\n"
    "Options:\n"
    "  -d, --dims=D,D...        for each dimension of the lower-rank shape, the dimension of the other that it is\n"
    "                           matched with (of two shapes)\n"
    "  --numpy                  also what NumPy would have made of it, and whether it is the same\n"
    "  --all                    draw all of results of up to 65536 elements\n" DRAWING_HELP "\n"
    "Exit code 1 when the shapes do not broadcast.\n"
    "\n"
    "Examples:\n"
    "  $ indim broadcast 'f32[2,3]' 'f32[3]' --dims 1\n"
    "  $ indim broadcast 'f32[4]' 'f32[1,2]' --dims 0\n"
    "  $ indim broadcast 'f32[3,3]' 'f32[3]' --numpy\n";

enum { OPTION_DIMS = 1, OPTION_NUMPY, OPTION_ALL };

static const option_spec specs[] = {{"dims", 'd', OPTION_DIMS, true},
                                    {"numpy", 0, OPTION_NUMPY, false},
                                    {"all", 0, OPTION_ALL, false},
                                    DRAWING_OPTIONS,
                                    {0}};

// What is asked.
typedef struct request {
  drawing drawing;
  int64_t dims[INDIM_MAX_RANK];
  int32_t dim_count;
  bool with_dims;
  bool with_numpy;
} request;

static const char *reason_name(indim_broadcast_reason reason) {
  switch (reason) {
#define INDIM_BROADCAST_REASON(name, text) \
  case INDIM_BROADCAST_##name:             \
    return #name;
#include "indim/broadcast_reason.def"
  }
  return "";
}

// The first lists of dimensions that would fit two arrays of different rank.
static void add_valid_dims(cJSON *object, const indim_shape *lhs, const indim_shape *rhs) {
  enum { MOST_LISTS = 64 };
  int64_t lists[MOST_LISTS * INDIM_MAX_RANK];
  if (!indim_shape_is_array(lhs) || !indim_shape_is_array(rhs) || lhs->rank == rhs->rank) {
    return;
  }
  int32_t rank = lhs->rank < rhs->rank ? lhs->rank : rhs->rank;
  int64_t count = picture_valid_dims(lhs, rhs, lists, MOST_LISTS);
  cJSON *all = cJSON_AddArrayToObject(object, "valid_dims");
  for (int64_t n = 0; n < count && n < MOST_LISTS; n++) {
    cJSON *list = cJSON_CreateArray();
    cJSON_AddItemToArray(all, list);
    for (int32_t i = 0; i < rank; i++) {
      cJSON_AddItemToArray(list, cJSON_CreateNumber((double)lists[n * rank + i]));
    }
  }
}

static cJSON *facts_of(indim_ctx *cx, indim_status status, const indim_broadcast *result,
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
  return object;
}

// A refusal as text goes to standard error, with the diagnostic behind it.
static int print_refusal(indim_ctx *cx, const request *r, const picture *p, indim_status status) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  picture_options options = r->drawing.options;
  options.colour = false;
  picture_print_text(p, &options, &text);
  if (text.size > 0) {
    fflush(stdout);
    fwrite(text.data, 1, text.size, stderr);
  }
  indim_buffer_deinit(&text);
  return report(cx, status);
}

// Adds shape after shape to the picture. |*out_status| says whether they broadcast.
static indim_status draw(indim_ctx *cx, const request *r, const indim_shape *shapes, int count, picture *p,
                         indim_broadcast *result, indim_broadcast_reason *reason, indim_status *out_status) {
  indim_shape left = shapes[0];
  for (int i = 1; i < count; i++) {
    *out_status = indim_broadcast_shapes(cx, &left, &shapes[i], r->dims, r->dim_count, result, reason);
    if (*out_status != INDIM_OK && *reason == INDIM_BROADCAST_NONE) {
      return *out_status;
    }
    // As text the diagnostic is printed behind the picture.
    bool is_text = r->drawing.form == DRAWING_TEXT;
    indim_status status =
        picture_add_broadcast(p, &left, &shapes[i], r->dims, r->dim_count, r->with_numpy, result, *reason,
                              is_text ? NULL : indim_ctx_diagnostic_get(cx, 0), &r->drawing.options);
    if (status != INDIM_OK || *out_status != INDIM_OK) {
      return status;
    }
    left = result->shape;
  }
  return INDIM_OK;
}

static int show(indim_ctx *cx, const command *self, const request *r, const indim_shape *shapes, int count) {
  indim_broadcast result;
  indim_broadcast_reason reason = INDIM_BROADCAST_NONE;
  indim_status outcome = INDIM_OK;
  picture p;
  picture_init(&p, cx);
  indim_status status = draw(cx, r, shapes, count, &p, &result, &reason, &outcome);
  int code = EXIT_OK;
  if (status != INDIM_OK) {
    code = report(cx, status);
  } else if (outcome != INDIM_OK && r->drawing.form == DRAWING_TEXT) {
    code = print_refusal(cx, r, &p, outcome);
  } else {
    cJSON *facts = r->drawing.form == DRAWING_JSON ? facts_of(cx, outcome, &result, reason) : NULL;
    if (facts != NULL && count == 2) {
      add_valid_dims(facts, &shapes[0], &shapes[1]);
    }
    code = drawing_print(cx, self, &r->drawing, &p, "A broadcast", facts);
    code = code == EXIT_OK ? exit_code_of(outcome) : code;
  }
  picture_deinit(&p);
  return code;
}

static int read_options(request *r, const command *self, option_walk *walk) {
  for (int option; (option = options_next(walk)) != 0;) {
    if (option < 0) {
      return walk->exit_code;
    }
    int code = drawing_option(&r->drawing, self, option, walk->value);
    if (code != EXIT_OK) {
      return code;
    }
    r->drawing.options.all = r->drawing.options.all || option == OPTION_ALL;
    r->with_numpy = r->with_numpy || option == OPTION_NUMPY;
    r->with_dims = r->with_dims || option == OPTION_DIMS;
    if (option == OPTION_DIMS && !parse_dims(walk->value, r->dims, INDIM_MAX_RANK, &r->dim_count)) {
      return usage_error(self, "'%s' is no list of dimension numbers like 0,2", walk->value);
    }
  }
  if (walk->operand_count < 2) {
    return usage_error(self, "give two shapes, for example 'f32[2,3]' 'f32[3]'");
  }
  return r->with_dims && walk->operand_count > 2 ? usage_error(self, "--dims is for two shapes") : -1;
}

int command_broadcast(indim_ctx *cx, const command *self, int argc, char **argv) {
  request r = {0};
  option_walk walk;
  drawing_start(&r.drawing);
  options_start(&walk, self, specs, argc, argv);
  int code = read_options(&r, self, &walk);
  if (code >= 0) {
    return code;
  }
  int count = walk.operand_count;
  indim_arena *arena = NULL;
  indim_shape *shapes = must_alloc((size_t)count * sizeof *shapes);
  indim_status status = indim_arena_create(cx, &arena);
  for (int i = 0; i < count && status == INDIM_OK; i++) {
    status = indim_shape_parse(cx, indim_str_of(walk.operands[i]), arena, &shapes[i]);
  }
  code = status == INDIM_OK ? show(cx, self, &r, shapes, count) : report(cx, status);
  indim_arena_destroy(arena);
  free(shapes);
  return code;
}
