// indim explain: what a shape is and how it lies in memory, and what it takes to get from one to another.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "drawing.h"
#include "indim/index.h"
#include "picture/pair.h"

const char *const help_explain =
    "Usage: indim explain [OPTION...] SHAPE\n"
    "       indim explain [OPTION...] SHAPE '->' SHAPE\n"
    "\n"
    "Explains a shape and its layout: each part in words, and the array and its memory drawn, with padding, tiles and\n"
    "the way of memory through the elements. Of two shapes: whether the second is a bitcast of the first, or what has\n"
    "to move, why, and which layout would be free. Large arrays are drawn in miniature.\n"
    "\n"
    "Options:\n"
    "  --all                    draw all of arrays of up to 65536 places, and all members of a tuple\n" DRAWING_HELP
    "\n"
    "Examples:\n"
    "  $ indim explain 'f32[2,3]{0,1:PAD(3,5;zero)}'\n"
    "  $ indim explain 'bf16[32,256]{1,0:T(8,128)(2,1)}' --html -o tiles.html\n"
    "  $ indim explain 'f32[2,3]' '->' 'f32[3,2]{0,1}'\n";

const char *const help_shape = "Usage: indim shape [OPTION...] SHAPE\n"
                               "\n"
                               "The same as `indim explain`, whose --help lists the options.\n"
                               "\n"
                               "Examples:\n"
                               "  $ indim shape 'f32[2,3]{0,1:PAD(3,5;zero)}'\n";

enum { OPTION_ALL = 1 };

static const option_spec specs[] = {{"all", 0, OPTION_ALL, false}, DRAWING_OPTIONS, {0}};

// Facts for programs -----------------------------------------------------------------------------------------------

static void add_int(cJSON *object, const char *name, int64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRId64, value);
  cJSON_AddRawToObject(object, name, digits);
}

static void add_ints(cJSON *object, const char *name, const int64_t *values, int32_t count) {
  cJSON *list = cJSON_AddArrayToObject(object, name);
  for (int32_t i = 0; i < count; i++) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, values[i]);
    cJSON_AddItemToArray(list, values[i] == INDIM_UNBOUNDED ? cJSON_CreateNull() : cJSON_CreateRaw(digits));
  }
}

static indim_status describe_storage(indim_ctx *cx, const indim_shape *shape, cJSON *object) {
  int64_t places = 0;
  int64_t bytes = 0;
  indim_status status = indim_shape_storage_count(cx, shape, &places);
  status = status == INDIM_OK ? indim_shape_storage_bytes(cx, shape, &bytes) : status;
  add_int(object, "elements", indim_shape_element_count(shape));
  add_int(object, "element_bytes", indim_shape_element_bytes(shape));
  add_int(object, "places", places);
  add_int(object, "bytes", bytes);
  add_int(object, "padding_bytes", bytes - indim_shape_element_bytes(shape));
  if (status == INDIM_OK && shape->layout.tile_count == 0) {
    int64_t strides[INDIM_MAX_RANK];
    status = indim_index_strides(cx, shape, strides);
    add_ints(object, "strides", strides, status == INDIM_OK ? shape->rank : 0);
  }
  return status;
}

static indim_status describe(indim_ctx *cx, const indim_shape *shape, cJSON *object) {
  char *text = shape_text(cx, shape, true);
  cJSON_AddStringToObject(object, "shape", text);
  free(text);
  cJSON_AddStringToObject(object, "type", indim_type_text(shape->type));
  if (!indim_shape_is_array(shape)) {
    cJSON *members = cJSON_AddArrayToObject(object, "members");
    indim_status status = INDIM_OK;
    for (int64_t i = 0; i < shape->member_count && status == INDIM_OK; i++) {
      cJSON *member = cJSON_CreateObject();
      cJSON_AddItemToArray(members, member);
      status = describe(cx, shape->members[i], member);
    }
    return status;
  }
  add_ints(object, "sizes", shape->sizes, shape->rank);
  add_int(object, "rank", shape->rank);
  add_int(object, "true_rank", indim_shape_true_rank(shape));
  add_ints(object, "minor_to_major", shape->layout.minor_to_major, shape->layout.rank);
  if (shape->layout.padded_rank > 0) {
    add_ints(object, "padded_sizes", shape->layout.padded_sizes, shape->layout.padded_rank);
  }
  return indim_shape_is_unbounded(shape) ? INDIM_OK : describe_storage(cx, shape, object);
}

// The command -------------------------------------------------------------------------------------------------------

static indim_status describe_all(indim_ctx *cx, const indim_shape *shapes, int count, cJSON *facts) {
  if (count == 1) {
    return describe(cx, shapes, facts);
  }
  static const char *const kinds[] = {"copy", "reshape", "transpose"};
  pair_reading readings[PAIR_MOST_READINGS];
  bool is_known = indim_shape_is_array(&shapes[0]) && indim_shape_is_array(&shapes[1]) &&
                  !indim_shape_is_unbounded(&shapes[0]) && !indim_shape_is_unbounded(&shapes[1]);
  int32_t read = is_known ? pair_read(&shapes[0], &shapes[1], readings) : 0;
  cJSON *list = cJSON_AddArrayToObject(facts, "readings");
  for (int32_t i = 0; i < read; i++) {
    cJSON *reading = cJSON_CreateObject();
    cJSON_AddItemToArray(list, reading);
    cJSON_AddStringToObject(reading, "kind", kinds[readings[i].kind]);
    cJSON_AddBoolToObject(reading, "bitcast", readings[i].is_free);
    if (readings[i].kind == PAIR_TRANSPOSE) {
      add_ints(reading, "permutation", readings[i].p, shapes[1].rank);
    }
    add_int(reading, "elements_looked_at", readings[i].looked_at);
    add_int(reading, "elements_moved", readings[i].moved);
    if (readings[i].has_free) {
      char *text = shape_text(cx, &readings[i].free, true);
      cJSON_AddStringToObject(reading, "free", text);
      free(text);
    }
  }
  cJSON *a = cJSON_AddObjectToObject(facts, "a");
  cJSON *b = cJSON_AddObjectToObject(facts, "b");
  indim_status status = describe(cx, &shapes[0], a);
  return status == INDIM_OK ? describe(cx, &shapes[1], b) : status;
}

static int explain(indim_ctx *cx, const command *self, const drawing *d, const indim_shape *shapes, int count,
                   const char *title) {
  picture p;
  cJSON *facts = d->form == DRAWING_JSON ? cJSON_CreateObject() : NULL;
  picture_init(&p, cx);
  indim_status status = facts == NULL ? INDIM_OK : describe_all(cx, shapes, count, facts);
  if (status == INDIM_OK) {
    status = count == 1 ? picture_add_shape(&p, shapes, &d->options)
                        : picture_add_pair(&p, &shapes[0], &shapes[1], &d->options);
  }
  if (status != INDIM_OK) {
    cJSON_Delete(facts);
  }
  int code = status == INDIM_OK ? drawing_print(cx, self, d, &p, title, facts) : report(cx, status);
  picture_deinit(&p);
  return code;
}

// The texts of the operands A, A '->' B or 'A -> B': returns how many, 0 for anything else.
static int split_operands(const option_walk *walk, indim_str *out) {
  if (walk->operand_count == 3 && strcmp(walk->operands[1], "->") == 0) {
    out[0] = indim_str_of(walk->operands[0]);
    out[1] = indim_str_of(walk->operands[2]);
    return 2;
  }
  if (walk->operand_count != 1) {
    return 0;
  }
  out[0] = indim_str_of(walk->operands[0]);
  const char *arrow = strstr(walk->operands[0], "->");
  if (arrow == NULL) {
    return 1;
  }
  out[0].size = (size_t)(arrow - walk->operands[0]);
  out[1] = indim_str_of(arrow + 2);
  return 2;
}

static int read_shapes(indim_ctx *cx, const command *self, const option_walk *walk, indim_arena *arena,
                       indim_shape *out, int *out_count) {
  indim_str texts[2];
  *out_count = split_operands(walk, texts);
  for (int i = 0; i < *out_count; i++) {
    indim_status status = indim_shape_parse(cx, texts[i], arena, &out[i]);
    status = status == INDIM_OK ? indim_shape_validate(cx, &out[i], true) : status;
    if (status != INDIM_OK) {
      return report(cx, status);
    }
  }
  return *out_count > 0
             ? EXIT_OK
             : usage_error(self, "give one shape, for example 'f32[2,3]{0,1}', or two with '->' between them");
}

int command_explain(indim_ctx *cx, const command *self, int argc, char **argv) {
  drawing d;
  option_walk walk;
  drawing_start(&d);
  options_start(&walk, self, specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    d.options.all = d.options.all || option == OPTION_ALL;
    int code = drawing_option(&d, self, option, walk.value);
    if (code != EXIT_OK) {
      return code;
    }
  }
  indim_arena *arena = NULL;
  indim_shape shapes[2];
  int count = 0;
  indim_status status = indim_arena_create(cx, &arena);
  int code = status == INDIM_OK ? read_shapes(cx, self, &walk, arena, shapes, &count) : report(cx, status);
  if (code == EXIT_OK) {
    code = explain(cx, self, &d, shapes, count, walk.operands[0]);
  }
  indim_arena_destroy(arena);
  return code;
}

int command_shape(indim_ctx *cx, const command *self, int argc, char **argv) {
  return command_explain(cx, self, argc, argv);
}
