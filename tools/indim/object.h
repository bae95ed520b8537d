// What compile.c asks of object.c: a file to link instead of a look at the stages.
#ifndef INDIM_TOOL_OBJECT_H
#define INDIM_TOOL_OBJECT_H

#include "tool.h"

typedef enum emit_kind {
  EMIT_NOTHING,  // the header alone
  EMIT_OBJECT,
  EMIT_ASM,
  EMIT_LLVM,
  EMIT_STATIC_LIBRARY,
  EMIT_SHARED_LIBRARY
} emit_kind;

enum { MOST_STATIC_ARGUMENTS = 256 };

// 2:weights.npy
typedef struct static_file {
  int64_t parameter;
  char *path;
} static_file;

typedef struct object_request {
  const char *input;
  const char *output;             // "-": standard output
  const char *header;             // NULL: none
  const char *name;               // NULL: that of the input
  const char *triple;             // NULL: the target's
  indim_compile_options compile;  // without the texts
  emit_kind emit;
  bool is_self_contained;
  bool json;
  static_file statics[MOST_STATIC_ARGUMENTS];
  int static_count;
} object_request;

// "static-library"; reports another word and returns EXIT_USAGE.
int parse_emit(const command *self, const char *text, emit_kind *out_kind);
// By the ending of a file's name; EMIT_NOTHING for one that says nothing.
emit_kind emit_of_file(const char *path);
// "2:weights.npy,3:bias.npy"; reports what is no such list and returns EXIT_USAGE.
int add_static_arguments(const command *self, const char *list, object_request *request);
void free_static_arguments(object_request *request);
int compile_object(indim_ctx *cx, const command *self, const object_request *request);

#endif  // INDIM_TOOL_OBJECT_H
