// The header of an object: what a caller in C or C++ has to know, as declarations, constants and comments. It includes nothing
// but <stdint.h>, and has no path and no time in it.
#include "pipeline/object.h"

#include <string.h>

#include "graph/module.h"

typedef struct printer {
  const indim_object *object;
  const indim_executable *e;
  const indim_object_names *names;
  const indim_object_facts *facts;
  indim_buffer *out;
} printer;

// Words -----------------------------------------------------------------------------------------------------------------

// Names of the program may hold anything: no line of a comment ends early or is continued by one.
static void print_safe(indim_str text, indim_buffer *out) {
  for (size_t i = 0; i < text.size; i++) {
    unsigned char c = (unsigned char)text.data[i];
    indim_buffer_char(out, c < ' ' || c == '\\' || c == '?' || c == 127 ? '_' : (char)c);
  }
}

static void print_upper(indim_str text, indim_buffer *out) {
  for (size_t i = 0; i < text.size; i++) {
    char c = text.data[i];
    indim_buffer_char(out, c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
  }
}

// The features with a '+' of a list separated by commas, in lines of a comment.
static void print_features(const char *prefix, const char *list, indim_buffer *out) {
  enum { COLUMNS = 120 };
  size_t column = strlen(prefix);
  indim_buffer_text(out, prefix);
  for (const char *at = list; *at != '\0';) {
    size_t size = strcspn(at, ",");
    if (column + size > COLUMNS) {
      indim_buffer_text(out, "\n//  ");
      column = 4;
    }
    if (*at == '+') {
      indim_buffer_char(out, ' ');
      indim_buffer_append(out, at + 1, size - 1);
      column += size;
    }
    at += size + (at[size] == ',');
  }
  indim_buffer_char(out, '\n');
}

// The type of C that holds elements, with a word on those that C does not have.
typedef struct c_type {
  const char *name;
  int32_t parts;     // of an element: 2 of a complex number
  const char *note;  // NULL: none
} c_type;

static c_type type_of(indim_type type) {
  static const char *const ints[2][4] = {{"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
                                         {"int8_t", "int16_t", "int32_t", "int64_t"}};
  int32_t bytes = indim_type_bytes(type);
  if (indim_type_is_complex(type)) {
    return (c_type){bytes == 8 ? "float" : "double", 2, "real and imaginary part in turn"};
  }
  if (type == INDIM_PRED) {
    return (c_type){"uint8_t", 1, "0 or 1"};
  }
  if (type == INDIM_F32 || type == INDIM_F64) {
    return (c_type){type == INDIM_F32 ? "float" : "double", 1, NULL};
  }
  int size = bytes >= 8 ? 3 : bytes >= 4 ? 2 : bytes >= 2 ? 1 : 0;
  if (indim_type_is_integral(type)) {
    const char *note = indim_type_is_sub_byte(type) ? "one a byte, in its low bits" : NULL;
    return (c_type){ints[indim_type_is_signed_int(type)][size], 1, note};
  }
  return (c_type){ints[0][size], 1, "the bits of the number"};
}

// Constants -------------------------------------------------------------------------------------------------------------

static void begin_define(const printer *p, indim_str leaf, const char *what) {
  indim_buffer_text(p->out, "#define ");
  print_upper(p->object->name, p->out);
  indim_buffer_char(p->out, '_');
  print_upper(leaf, p->out);
  indim_buffer_printf(p->out, "%s%s ", leaf.size > 0 ? "_" : "", what);
}

static void define_number(const printer *p, indim_str leaf, const char *what, int64_t value) {
  begin_define(p, leaf, what);
  indim_buffer_int(p->out, value);
  indim_buffer_char(p->out, '\n');
}

static void define_text(const printer *p, indim_str leaf, const char *what, const char *value) {
  begin_define(p, leaf, what);
  indim_buffer_printf(p->out, "\"%s\"\n", value);
}

static void print_alias(const printer *p, const indim_leaf *leaf) {
  if (leaf->alias < 0) {
    return;
  }
  indim_str argument = p->names->arguments[leaf->alias];
  if (leaf->is_copied) {
    indim_buffer_printf(
        p->out, "//   the program allows the buffer of arguments.%.*s, this code does not: give it another one\n",
        (int)argument.size, argument.data);
  } else {
    indim_buffer_printf(p->out, "//   may be the buffer of arguments.%.*s, whose values are lost then\n",
                        (int)argument.size, argument.data);
  }
}

static void print_leaf_constants(const printer *p, const char *structure, indim_str name, const indim_leaf *leaf) {
  const indim_shape *shape = leaf->shape;
  c_type type = type_of(shape->type);
  int64_t count = leaf->bytes / (indim_type_bytes(shape->type) / type.parts);
  indim_buffer_printf(p->out, "\n// %s.%.*s: ", structure, (int)name.size, name.data);
  indim_shape_print(shape, true, p->out);
  indim_buffer_printf(p->out, "%s%s\n", type.note == NULL ? "" : ", ", type.note == NULL ? "" : type.note);
  if (count != type.parts * indim_shape_element_count(shape)) {
    indim_buffer_printf(p->out, "//   its layout has room for more than its %lld elements\n",
                        (long long)indim_shape_element_count(shape));
  }
  if (leaf->size_of >= 0) {
    indim_buffer_printf(p->out, "//   how much counts of the array before along dimension %d, 0 to its size there\n",
                        (int)leaf->size_of);
  }
  print_alias(p, leaf);
  define_text(p, name, "TYPE", indim_type_text(shape->type));
  define_number(p, name, "RANK", shape->rank);
  if (shape->rank > 0) {
    begin_define(p, name, "SHAPE");
    for (int32_t d = 0; d < shape->rank; d++) {
      indim_buffer_printf(p->out, "%s%lld", d == 0 ? "{" : ", ", (long long)shape->sizes[d]);
    }
    indim_buffer_text(p->out, "}\n");
  }
  define_number(p, name, "COUNT", count);
  define_number(p, name, "BYTES", leaf->bytes);
  define_number(p, name, "ALIGNMENT", (int64_t)leaf->misaligned + 1);
}

static void print_constants(const printer *p) {
  static const indim_str program = {"", 0};
  indim_buffer_text(p->out, "\n// Of the program. Sizes are in bytes.\n");
  define_text(p, program, "TARGET", p->facts->target->name);
  define_text(p, program, "TARGET_TRIPLE", p->facts->target->triple);
  define_number(p, program, "SCRATCH_BYTES", p->object->scratch_bytes);
  define_number(p, program, "SCRATCH_ALIGNMENT", INDIM_SCRATCH_ALIGNMENT);
  define_number(p, program, "ARGUMENTS", p->e->argument_count);
  define_number(p, program, "RESULTS", p->e->result_count);
  indim_buffer_text(p->out, "\n// What the function returns.\n");
  define_number(p, program, "RUN_OK", INDIM_HOST_OK);
  define_number(p, program, "RUN_STOPPED", INDIM_HOST_STOPPED);
  define_number(p, program, "RUN_FAILED", INDIM_HOST_FAILED);
  indim_buffer_text(p->out,
                    "\n// Of each array: its element type; its rank and sizes; how many elements of the type of C "
                    "its buffer has, and\n// how many bytes; what the buffer's address is a multiple of.\n");
  for (int64_t i = 0; i < p->e->argument_count; i++) {
    print_leaf_constants(p, "arguments", p->names->arguments[i], &p->e->arguments[i]);
  }
  for (int64_t i = 0; i < p->e->result_count; i++) {
    print_leaf_constants(p, "results", p->names->results[i], &p->e->results[i]);
  }
}

// Declarations ----------------------------------------------------------------------------------------------------------

static void print_struct(const printer *p, const char *what, bool is_const, int64_t count, const indim_str *names,
                         const indim_leaf *leaves) {
  indim_buffer_printf(p->out, "struct %.*s_%s {\n", (int)p->object->name.size, p->object->name.data, what);
  for (int64_t i = 0; i < count; i++) {
    indim_buffer_printf(p->out, "  %s%s *%.*s;  // ", is_const ? "const " : "", type_of(leaves[i].shape->type).name,
                        (int)names[i].size, names[i].data);
    indim_shape_print(leaves[i].shape, true, p->out);
    indim_buffer_char(p->out, '\n');
  }
  if (count == 0) {
    indim_buffer_text(p->out, "  const void *none;  // not looked at\n");
  }
  indim_buffer_text(p->out, "};\n\n");
}

static void print_function(const printer *p) {
  int size = (int)p->object->name.size;
  const char *name = p->object->name.data;
  indim_buffer_printf(p->out,
                      "// Any number of threads may run it at once, each with results and scratch memory of its own.\n"
                      "int %s(const struct %.*s_arguments *arguments, struct %.*s_results *results, void *scratch,\n"
                      "%*sconst struct indim_host *host);\n",
                      p->object->symbol, size, name, size, name, (int)strlen(p->object->symbol) + 5, "");
}

// The comment in front --------------------------------------------------------------------------------------------------

static void print_static(const printer *p) {
  for (int64_t i = 0; i < p->facts->static_argument_count; i++) {
    const indim_instr *parameter =
        indim_computation_parameter(p->facts->module->entry, p->facts->static_arguments[i].parameter);
    indim_buffer_printf(p->out, "//   parameter %lld, ", (long long)p->facts->static_arguments[i].parameter);
    print_safe(parameter->name, p->out);
    indim_buffer_text(p->out, ": ");
    indim_shape_print(parameter->shape, false, p->out);
    indim_buffer_char(p->out, '\n');
  }
}

static void print_needs(const printer *p) {
  const indim_object *o = p->object;
  if (o->need_count == 0) {
    indim_buffer_text(p->out,
                      "// The host may be NULL: one thread, which nothing stops. Else it is a table as indim_host.h "
                      "has it, for threads of your\n// own or to stop a run.\n");
    return;
  }
  indim_buffer_printf(p->out,
                      "// It needs services of the host, a table as indim_host.h has it; without them it returns "
                      "%d:\n",
                      (int)INDIM_HOST_FAILED);
  for (int64_t i = 0; i < o->need_count; i++) {
    indim_buffer_printf(p->out, "//   %s, for ", o->needs[i].service);
    print_safe(indim_str_of(o->needs[i].instruction), p->out);
    indim_buffer_char(p->out, '\n');
  }
}

static void print_target(const printer *p) {
  const indim_target *t = p->facts->target;
  indim_buffer_printf(p->out, "// Made for %s (%s), vectors of %d bytes. The processor has to have:\n", t->name,
                      t->triple, (int)t->vector_bytes);
  print_features("//  ", t->features[0] == '\0' ? "+nothing,+beyond,+its,+base" : t->features, p->out);
}

static void print_contract(const printer *p) {
  const indim_object *o = p->object;
  indim_buffer_text(p->out, "// The program ");
  print_safe(p->facts->module->name, p->out);
  indim_buffer_printf(p->out,
                      " as a function of C, made by `indim compile`: %s.\n//\n"
                      "// Buffers are yours. Each is as large and as aligned as its constants below say, and holds its "
                      "array in the layout that\n// its comment has, {1,0} being row-major. A result overlaps no other "
                      "buffer, unless its comment allows an argument's.\n// ",
                      o->symbol);
  if (o->scratch_bytes == 0) {
    indim_buffer_text(p->out, "No scratch memory is needed: it may be NULL.\n//\n");
  } else {
    indim_buffer_text(p->out, "Scratch memory holds nothing from one run to the next.\n//\n");
  }
  print_needs(p);
  indim_buffer_text(p->out, "//\n// Of the C library it calls at most memcpy, memmove, memset, fmod and fmodf.\n//\n");
  print_target(p);
  if (p->facts->static_argument_count > 0) {
    indim_buffer_text(p->out, "//\n// Arguments that are constants in it:\n");
    print_static(p);
  }
}

void indim_object_print_header(const indim_object *object, const indim_executable *e, const indim_object_names *names,
                               const indim_object_facts *facts, indim_buffer *out) {
  const printer p = {object, e, names, facts, out};
  print_contract(&p);
  indim_buffer_text(out, "#ifndef INDIM_");
  print_upper(object->name, out);
  indim_buffer_text(out, "_H\n#define INDIM_");
  print_upper(object->name, out);
  indim_buffer_text(out, "_H\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  indim_buffer_text(out, "struct indim_host;  // indim_host.h\n\n");
  print_struct(&p, "arguments", true, e->argument_count, names->arguments, e->arguments);
  print_struct(&p, "results", false, e->result_count, names->results, e->results);
  print_function(&p);
  print_constants(&p);
  indim_buffer_text(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
