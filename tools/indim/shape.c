// indim shape: what a shape is and how it lies in memory.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "tool.h"

const char *const help_shape =
    "Usage: indim shape [--json] [--all] SHAPE\n"
    "\n"
    "Explains a shape and its layout: rank, elements, bytes, strides, padding, tiles, and for small arrays the\n"
    "order of the elements in memory.\n"
    "\n"
    "Options:\n"
    "  --all    draw the memory of arrays with more than 256 places too (up to 65536)\n"
    "  --json   print one JSON object\n"
    "\n"
    "Examples:\n"
    "  $ indim shape 'f32[2,3]{0,1:PAD(3,5;zero)}'\n"
    "  $ indim shape 'bf16[32,256]{1,0:T(8,128)(2,1)}'\n";

enum { OPTION_JSON = 1, OPTION_ALL };
enum { FEW_PLACES = 256, MOST_PLACES = 65536 };  // drawn by themselves, and with --all

static const option_spec specs[] = {{"json", 0, OPTION_JSON, false}, {"all", 0, OPTION_ALL, false}, {0}};

// What is said of one array.
typedef struct facts {
  int64_t elements;
  int64_t element_bytes;  // of the elements alone
  int64_t places;         // of the storage
  int64_t bytes;
  int64_t strides[INDIM_MAX_RANK];
  bool has_strides;
} facts;

static indim_status gather(indim_ctx *cx, const indim_shape *shape, facts *out) {
  indim_status status = indim_shape_storage_count(cx, shape, &out->places);
  if (status == INDIM_OK) {
    status = indim_shape_storage_bytes(cx, shape, &out->bytes);
  }
  if (status == INDIM_OK) {
    out->elements = indim_shape_element_count(shape);
    out->element_bytes = indim_shape_element_bytes(shape);
    out->has_strides = shape->layout.tile_count == 0;
    if (out->has_strides) {
      status = indim_index_strides(cx, shape, out->strides);
    }
  }
  return status;
}

static void print_dims(const char *label, const int64_t *values, int32_t count) {
  printf("%-16s", label);
  for (int32_t i = 0; i < count; i++) {
    printf("%s%" PRId64, i == 0 ? "" : ", ", values[i]);
  }
  printf("%s\n", count == 0 ? "none" : "");
}

// "a" to "z", then "a1", ...: the element number in logical order.
static void element_label(int64_t number, int64_t count, char *out) {
  if (count <= 26) {
    snprintf(out, 24, "%c", (char)('a' + number));
  } else {
    snprintf(out, 24, "%" PRId64, number);
  }
}

static const char *padding_label(const indim_layout *layout) {
  if (layout->padded_rank == 0) {
    return ".";
  }
  switch (layout->padding_value) {
  case INDIM_PADDING_ZERO:
    return "0";
  case INDIM_PADDING_ONE:
    return "1";
  case INDIM_PADDING_LOWEST:
    return "lo";
  case INDIM_PADDING_HIGHEST:
    return "hi";
  case INDIM_PADDING_INVALID:
  case INDIM_PADDING_UNKNOWN:
    break;
  }
  return "?";
}

static int64_t element_number(const indim_shape *shape, const int64_t *index) {
  int64_t number = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    number = number * shape->sizes[d] + index[d];
  }
  return number;
}

// The elements as they are written, rows of the last dimension, blocks of the one before.
static void draw_elements(const indim_shape *shape, int64_t count, int width) {
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t row = shape->rank == 0 ? 1 : shape->sizes[shape->rank - 1];
  printf("elements, as indexed (the last dimension runs along the line):\n");
  for (int64_t i = 0; i < count; i++) {
    char label[24];
    element_label(i, count, label);
    printf("%s%*s", i % row == 0 ? "  " : " ", width, label);
    (void)indim_index_next(shape, index);
    if ((i + 1) % row == 0) {
      printf("\n");
      bool block_ends = shape->rank > 2 && index[shape->rank - 2] == 0 && i + 1 < count;
      printf("%s", block_ends ? "\n" : "");
    }
  }
}

static indim_status draw_memory(indim_ctx *cx, const indim_shape *shape, const facts *f) {
  char label[24];
  element_label(f->elements - 1, f->elements, label);
  int width = (int)strlen(label);
  int pad = (int)strlen(padding_label(&shape->layout));
  width = f->places > f->elements && pad > width ? pad : width;
  draw_elements(shape, f->elements, width);
  const indim_layout *layout = &shape->layout;
  printf("memory, place 0 first%s:\n", f->places == f->elements  ? ""
                                       : layout->padded_rank > 0 ? " (padding shown by its value)"
                                                                 : " (. is padding)");
  // Break lines where the padded fastest dimension, or the last tile, comes round.
  int64_t line = 32;
  if (layout->tile_count == 0 && shape->rank > 0) {
    int64_t fastest = layout->minor_to_major[0];
    line = layout->padded_rank > 0 ? layout->padded_sizes[fastest] : shape->sizes[fastest];
  } else if (layout->tile_count > 0) {
    line = 1;
    for (int32_t i = 0; i < layout->tile_ranks[0]; i++) {
      int64_t size = layout->tile_sizes[i];
      line = size > 0 && size < 64 ? line * size : line;
    }
  }
  line = line < 1 || line > 64 ? 32 : line;
  for (int64_t place = 0; place < f->places; place++) {
    int64_t index[INDIM_MAX_RANK];
    bool is_padding = false;
    indim_status status = indim_index_delinearize(cx, shape, place, index, &is_padding);
    if (status != INDIM_OK) {
      return status;
    }
    if (is_padding) {
      snprintf(label, sizeof label, "%s", padding_label(layout));
    } else {
      element_label(element_number(shape, index), f->elements, label);
    }
    printf("%s%*s%s", place % line == 0 ? "  " : " ", width, label,
           place % line == line - 1 || place + 1 == f->places ? "\n" : "");
  }
  return INDIM_OK;
}

static void print_layout(const indim_shape *shape) {
  const indim_layout *layout = &shape->layout;
  print_dims("minor to major", layout->minor_to_major, layout->rank);
  if (shape->rank >= 2 && indim_shape_dim_letter(shape->rank, 0) != 0) {
    printf("%-16s", "");
    for (int32_t i = 0; i < layout->rank; i++) {
      printf("%s%c", i == 0 ? "" : ", ", indim_shape_dim_letter(shape->rank, (int32_t)layout->minor_to_major[i]));
    }
    printf("   (dimensions ");
    for (int32_t d = 0; d < shape->rank; d++) {
      printf("%s%c", d == 0 ? "" : " ", indim_shape_dim_letter(shape->rank, d));
    }
    printf(")\n");
  }
  if (layout->padded_rank > 0) {
    print_dims("padded to", layout->padded_sizes, layout->padded_rank);
  }
  int32_t at = 0;
  for (int32_t t = 0; t < layout->tile_count; t++) {
    printf("%-16s", t == 0 ? "tiles" : "");
    for (int32_t i = 0; i < layout->tile_ranks[t]; i++, at++) {
      if (layout->tile_sizes[at] == INDIM_TILE_COMBINE) {
        printf("%s*", i == 0 ? "" : " x ");
      } else {
        printf("%s%" PRId64, i == 0 ? "" : " x ", layout->tile_sizes[at]);
      }
    }
    printf("\n");
  }
  if (layout->element_bits != 0) {
    printf("%-16s%" PRId64 " bits an element\n", "packed", layout->element_bits);
  }
  if (layout->memory_space != 0) {
    printf("%-16s%" PRId64 "\n", "memory space", layout->memory_space);
  }
}

static int explain_array(indim_ctx *cx, const indim_shape *shape, bool all) {
  facts f = {0};
  bool is_bounded = !indim_shape_is_unbounded(shape);
  indim_status status = is_bounded ? gather(cx, shape, &f) : INDIM_OK;
  if (status != INDIM_OK) {
    return report(cx, status);
  }
  char *text = shape_text(cx, shape, true);
  printf("%s\n", text);
  free(text);
  int bits = (int)indim_type_bits(shape->type);
  printf("%-16s%s, %d bit%s\n", "type", indim_type_text(shape->type), bits, bits == 1 ? "" : "s");
  printf("%-16s%d, true rank %d\n", "rank", (int)shape->rank, (int)indim_shape_true_rank(shape));
  if (!is_bounded) {
    printf("%-16swithout bound (?)\n", "elements");
    print_layout(shape);
    return EXIT_OK;
  }
  printf("%-16s%" PRId64 "%s\n", "elements", f.elements, indim_shape_is_static(shape) ? "" : " at most");
  print_layout(shape);
  if (f.has_strides) {
    print_dims("strides", f.strides, shape->rank);
  }
  printf("%-16s%" PRId64, "bytes", f.bytes);
  if (f.bytes != f.element_bytes) {
    printf(", %" PRId64 " of them elements (%.1f %% padding)", f.element_bytes,
           100.0 * (double)(f.bytes - f.element_bytes) / (double)f.bytes);
  }
  printf("\n");
  if (f.elements > 0 && f.places <= (all ? MOST_PLACES : FEW_PLACES)) {
    status = draw_memory(cx, shape, &f);
  } else if (f.elements > 0) {
    printf("%-16s%" PRId64 " places, not drawn%s\n", "memory", f.places,
           f.places <= MOST_PLACES ? " without --all" : ": too many");
  }
  return status == INDIM_OK ? EXIT_OK : report(cx, status);
}

static int explain(indim_ctx *cx, const indim_shape *shape, bool all) {
  if (indim_shape_is_array(shape)) {
    return explain_array(cx, shape, all);
  }
  char *text = shape_text(cx, shape, true);
  if (shape->type == INDIM_TUPLE) {
    printf("%s\n%-16s%" PRId64 " members\n", text, "tuple", shape->member_count);
  } else {
    printf("%s\n%-16s%s\n", text, "kind", indim_type_text(shape->type));
  }
  free(text);
  for (int64_t i = 0; i < shape->member_count; i++) {
    printf("\nmember %" PRId64 ": ", i);
    int code = explain(cx, shape->members[i], all);
    if (code != EXIT_OK) {
      return code;
    }
  }
  return EXIT_OK;
}

static cJSON *json_ints(const int64_t *values, int32_t count) {
  cJSON *list = cJSON_CreateArray();
  for (int32_t i = 0; i < count; i++) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, values[i]);
    cJSON_AddItemToArray(list, values[i] == INDIM_UNBOUNDED ? cJSON_CreateNull() : cJSON_CreateRaw(digits));
  }
  return list;
}

static void add_int(cJSON *object, const char *name, int64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRId64, value);
  cJSON_AddRawToObject(object, name, digits);
}

static int describe(indim_ctx *cx, const indim_shape *shape, cJSON *object) {
  char *text = shape_text(cx, shape, true);
  cJSON_AddStringToObject(object, "shape", text);
  free(text);
  cJSON_AddStringToObject(object, "type", indim_type_text(shape->type));
  if (!indim_shape_is_array(shape)) {
    cJSON *members = cJSON_AddArrayToObject(object, "members");
    for (int64_t i = 0; i < shape->member_count; i++) {
      cJSON *member = cJSON_CreateObject();
      cJSON_AddItemToArray(members, member);
      int code = describe(cx, shape->members[i], member);
      if (code != EXIT_OK) {
        return code;
      }
    }
    return EXIT_OK;
  }
  cJSON_AddItemToObject(object, "sizes", json_ints(shape->sizes, shape->rank));
  add_int(object, "rank", shape->rank);
  add_int(object, "true_rank", indim_shape_true_rank(shape));
  cJSON_AddItemToObject(object, "minor_to_major", json_ints(shape->layout.minor_to_major, shape->layout.rank));
  if (indim_shape_is_unbounded(shape)) {
    return EXIT_OK;
  }
  facts f;
  indim_status status = gather(cx, shape, &f);
  if (status != INDIM_OK) {
    return report(cx, status);
  }
  add_int(object, "elements", f.elements);
  add_int(object, "element_bytes", f.element_bytes);
  add_int(object, "bytes", f.bytes);
  if (f.has_strides) {
    cJSON_AddItemToObject(object, "strides", json_ints(f.strides, shape->rank));
  }
  if (shape->layout.padded_rank > 0) {
    cJSON_AddItemToObject(object, "padded_sizes", json_ints(shape->layout.padded_sizes, shape->layout.padded_rank));
  }
  return EXIT_OK;
}

static int describe_shape(indim_ctx *cx, const indim_shape *shape) {
  cJSON *object = cJSON_CreateObject();
  int code = describe(cx, shape, object);
  if (code != EXIT_OK) {
    cJSON_Delete(object);
    return code;
  }
  json_print(object, true);
  return EXIT_OK;
}

int command_shape(indim_ctx *cx, const command *self, int argc, char **argv) {
  bool json = false;
  bool all = false;
  option_walk walk;
  options_start(&walk, self, specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    json = json || option == OPTION_JSON;
    all = all || option == OPTION_ALL;
  }
  if (walk.operand_count != 1) {
    return usage_error(self, "give one shape, for example 'f32[2,3]{0,1}'");
  }
  indim_arena *arena = NULL;
  indim_shape shape;
  indim_status status = indim_arena_create(cx, &arena);
  if (status == INDIM_OK) {
    status = indim_shape_parse(cx, indim_str_of(walk.operands[0]), arena, &shape);
  }
  if (status == INDIM_OK) {
    status = indim_shape_validate(cx, &shape, true);
  }
  int code = EXIT_OK;
  if (status != INDIM_OK) {
    code = report(cx, status);
  } else if (json) {
    code = describe_shape(cx, &shape);
  } else {
    code = explain(cx, &shape, all);
  }
  indim_arena_destroy(arena);
  return code;
}
