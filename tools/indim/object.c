// indim compile -o model.o: a program as a file to link, and the header that goes with it.
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "indim/text.h"
#include "object.h"

extern char **environ;

// Kinds -------------------------------------------------------------------------------------------------------------

static const struct {
  const char *name;
  emit_kind kind;
} kind_names[] = {{"object", EMIT_OBJECT},
                  {"asm", EMIT_ASM},
                  {"llvm", EMIT_LLVM},
                  {"static-library", EMIT_STATIC_LIBRARY},
                  {"shared-library", EMIT_SHARED_LIBRARY}};

int parse_emit(const command *self, const char *text, emit_kind *out_kind) {
  spelling meant = spelling_of(text, strlen(text));
  for (size_t i = 0; i < sizeof kind_names / sizeof kind_names[0]; i++) {
    if (strcmp(kind_names[i].name, text) == 0) {
      *out_kind = kind_names[i].kind;
      return EXIT_OK;
    }
    spelling_offer(&meant, kind_names[i].name);
  }
  return usage_error(self, "--emit knows object, asm, llvm, static-library and shared-library, not '%s'%s", text,
                     did_you_mean(&meant, ""));
}

emit_kind emit_of_file(const char *path) {
  static const struct {
    const char *ending;
    emit_kind kind;
  } endings[] = {{".o", EMIT_OBJECT},          {".obj", EMIT_OBJECT},           {".s", EMIT_ASM},
                 {".ll", EMIT_LLVM},           {".a", EMIT_STATIC_LIBRARY},     {".lib", EMIT_STATIC_LIBRARY},
                 {".so", EMIT_SHARED_LIBRARY}, {".dylib", EMIT_SHARED_LIBRARY}, {".dll", EMIT_SHARED_LIBRARY}};
  size_t size = strlen(path);
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    size_t length = strlen(endings[i].ending);
    if (size > length && strcmp(path + size - length, endings[i].ending) == 0) {
      return endings[i].kind;
    }
  }
  return EMIT_NOTHING;
}

// Names and static arguments ----------------------------------------------------------------------------------------

// "models/digits-8.hlo" to "digits_8", to be freed; NULL for standard input.
static char *name_of_file(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *base = slash == NULL ? path : slash + 1;
  const char *dot = strchr(base, '.');
  size_t size = dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base);
  size_t from = 0;
  if (strcmp(path, "-") == 0) {
    return NULL;
  }
  char *name = must_alloc(size + 2);
  if (isdigit((unsigned char)base[0]) || size == 0) {
    name[from++] = 'x';
  }
  for (size_t i = 0; i < size; i++) {
    unsigned char c = (unsigned char)base[i];
    name[from++] = c < 128 && isalnum(c) ? (char)c : '_';
  }
  name[from] = '\0';
  return name;
}

int add_static_arguments(const command *self, const char *list, object_request *request) {
  for (indim_str item; next_name(&list, &item);) {
    char *end = NULL;
    int64_t number = item.size > 0 && isdigit((unsigned char)item.data[0]) ? strtoll(item.data, &end, 10) : -1;
    if (number < 0 || *end != ':' || end + 1 >= item.data + item.size) {
      return usage_error(self, "--static-arguments takes NUMBER:FILE.npy,..., as in 2:weights.npy, not '%.*s'",
                         (int)item.size, item.data);
    }
    if (request->static_count == MOST_STATIC_ARGUMENTS) {
      return usage_error(self, "more than %d static arguments", (int)MOST_STATIC_ARGUMENTS);
    }
    static_file *file = &request->statics[request->static_count++];
    size_t size = (size_t)(item.data + item.size - end - 1);
    file->parameter = number;
    file->path = must_alloc(size + 1);
    memcpy(file->path, end + 1, size);
    file->path[size] = '\0';
  }
  return EXIT_OK;
}

void free_static_arguments(object_request *request) {
  for (int i = 0; i < request->static_count; i++) {
    free(request->statics[i].path);
  }
  request->static_count = 0;
}

// Values of the static arguments, as long as there is a parameter for each; the library refuses what does not fit.
static int read_static_arguments(indim_ctx *cx, const command *self, const object_request *request,
                                 const indim_module *module, indim_static_argument *out) {
  const indim_computation *entry = indim_module_entry(module);
  for (int i = 0; i < request->static_count; i++) {
    const indim_instr *parameter = indim_computation_parameter(entry, request->statics[i].parameter);
    if (parameter == NULL) {
      return refuse(self, INDIM_INVALID,
                    "--static-arguments: there is no parameter %" PRId64 ", the program has %" PRId64 ", from 0 on",
                    request->statics[i].parameter, indim_computation_parameter_count(entry));
    }
    indim_literal *literal = NULL;
    int code = read_argument(cx, self, request->statics[i].path, indim_instr_shape(parameter), &literal);
    if (code != EXIT_OK) {
      return code;
    }
    out[i] = (indim_static_argument){request->statics[i].parameter, literal};
  }
  return EXIT_OK;
}

// Shared libraries --------------------------------------------------------------------------------------------------

// Runs a command; its exit code, -1 if there is no such command.
static int run_command_line(const char *const *argv) {
  pid_t pid = 0;
  int status = 0;
  if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ) != 0) {
    return -1;
  }
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      return -1;
    }
  }
  // A shell's way to say that there is no such command, which some systems' posix_spawnp has, too.
  return !WIFEXITED(status) ? 1 : WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

// The linkers for a triple: the machine's own compiler, that of cross tools, and LLVM's linker, which needs no libraries.
static int list_linkers(const char *triple, const char *out[4]) {
#if defined(__x86_64__)
  static const char own[] = "x86_64-";
#elif defined(__aarch64__)
  static const char own[] = "aarch64-";
#elif defined(__riscv)
  static const char own[] = "riscv64-";
#else
  static const char own[] = "none";
#endif
  static const char *const cross[] = {"x86_64-linux-gnu-gcc", "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"};
  int count = 0;
  const char *cc = getenv("CC");
  if (strncmp(triple, own, strlen(own)) == 0) {
    out[count++] = cc != NULL && cc[0] != '\0' ? cc : "cc";
  } else {
    for (size_t i = 0; i < sizeof cross / sizeof cross[0]; i++) {
      size_t size = strcspn(cross[i], "-") + 1;
      if (strncmp(triple, cross[i], size) == 0) {
        out[count++] = cross[i];
      }
    }
  }
  out[count++] = "ld.lld";
  out[count++] = "ld.lld-19";
  return count;
}

static int link_shared(const command *self, const char *triple, const char *object, const char *library) {
  const char *linkers[4];
  int count = list_linkers(triple, linkers);
  for (int i = 0; i < count; i++) {
    bool is_compiler = strncmp(linkers[i], "ld.", 3) != 0;
    const char *argv[] = {linkers[i], "-shared", "-o", library, object, is_compiler ? "-lm" : NULL, NULL};
    int code = run_command_line(argv);
    if (code == 0) {
      return EXIT_OK;
    }
    if (code > 0) {
      return refuse(self, INDIM_IO, "%s could not link a shared library (exit code %d)", linkers[i], code);
    }
  }
  return refuse(
      self, INDIM_UNSUPPORTED,
      "a shared library for %s needs a linker: neither %s nor ld.lld is there; make an object (--emit=object)", triple,
      linkers[0]);
}

// A temporary file beside |path|, with those bytes; its name is to be freed.
static char *write_temporary(const command *self, const char *path, indim_str bytes) {
  char *name = NULL;
  int file = open_temporary(path, &name);
  if (file < 0) {
    refuse(self, INDIM_IO, "cannot write %s: %s", path, strerror(errno));
    free(name);
    return NULL;
  }
  close(file);
  if (write_file(self, name, bytes.data, bytes.size) != EXIT_OK) {
    unlink(name);
    free(name);
    return NULL;
  }
  return name;
}

static int write_shared(const command *self, const char *path, const indim_object *object) {
  const char *triple = indim_object_triple(object);
  if (strcmp(path, "-") == 0) {
    return usage_error(self, "a shared library needs a file: -o FILE.so");
  }
  if (strstr(triple, "linux") == NULL) {
    return refuse(self, INDIM_UNSUPPORTED,
                  "a shared library for %s is linked by that system's tools; make an object (--emit=object)", triple);
  }
  struct stat status;
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
    return refuse(self, INDIM_IO, "cannot write %s: %s", path,
                  S_ISDIR(status.st_mode) ? strerror(EISDIR) : "a shared library needs a regular file");
  }
  char *real = real_path_of(path);
  char *input = write_temporary(self, real, indim_object_bytes(object));
  char *output = input == NULL ? NULL : write_temporary(self, real, indim_str_of(""));
  int code = output == NULL ? EXIT_FILE : link_shared(self, triple, input, output);
  mode_t mask = umask(0);
  umask(mask);
  if (code == EXIT_OK && (chmod(output, 0777 & ~mask) != 0 || rename(output, real) != 0)) {
    code = refuse(self, INDIM_IO, "cannot write %s: %s", path, strerror(errno));
  }
  if (input != NULL) {
    unlink(input);
  }
  if (output != NULL && code != EXIT_OK) {
    unlink(output);
  }
  free(output);
  free(input);
  free(real);
  return code;
}

// Output ------------------------------------------------------------------------------------------------------------

static int write_archive(indim_ctx *cx, const command *self, const char *path, const indim_object *object) {
  indim_buffer bytes;
  indim_buffer_init(&bytes, cx);
  indim_status status = indim_object_archive(object, &bytes);
  int code = status == INDIM_OK ? write_file(self, path, bytes.data, bytes.size) : report(cx, status);
  indim_buffer_deinit(&bytes);
  return code;
}

static int write_output(indim_ctx *cx, const command *self, const object_request *request, const indim_object *object,
                        const indim_buffer *text) {
  const char *path = request->output;
  indim_str bytes = indim_object_bytes(object);
  switch (request->emit) {
  case EMIT_NOTHING:
    return EXIT_OK;
  case EMIT_OBJECT:
    return write_file(self, path, bytes.data, bytes.size);
  case EMIT_ASM:
  case EMIT_LLVM:
    return write_file(self, path, text->data == NULL ? "" : text->data, text->size);
  case EMIT_STATIC_LIBRARY:
    return write_archive(cx, self, path, object);
  case EMIT_SHARED_LIBRARY:
    return write_shared(self, path, object);
  }
  return EXIT_INTERNAL;
}

static void tell_needs(const command *self, const indim_object *object) {
  for (int64_t i = 0; i < indim_object_need_count(object); i++) {
    const indim_object_need *need = indim_object_need_get(object, i);
    fprintf(stderr, "indim %s: note: %s needs %s of its host, for %s\n", self->name, indim_object_symbol(object),
            need->service, need->instruction);
  }
}

static void print_facts(const object_request *request, const indim_object *object) {
  cJSON *answer = cJSON_CreateObject();
  cJSON_AddBoolToObject(answer, "ok", true);
  cJSON_AddStringToObject(answer, "symbol", indim_object_symbol(object));
  cJSON_AddStringToObject(answer, "target", request->compile.target == NULL ? "native" : request->compile.target);
  cJSON_AddStringToObject(answer, "triple", indim_object_triple(object));
  cJSON_AddNumberToObject(answer, "object_bytes", (double)indim_object_bytes(object).size);
  cJSON_AddNumberToObject(answer, "code_bytes", (double)indim_object_code_bytes(object));
  cJSON_AddNumberToObject(answer, "scratch_bytes", (double)indim_object_scratch_bytes(object));
  cJSON *needs = cJSON_AddArrayToObject(answer, "needs");
  for (int64_t i = 0; i < indim_object_need_count(object); i++) {
    const indim_object_need *need = indim_object_need_get(object, i);
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "service", need->service);
    cJSON_AddStringToObject(item, "instruction", need->instruction);
    cJSON_AddItemToArray(needs, item);
  }
  json_print(answer, true);
}

static void tell(const command *self, const object_request *request, const indim_object *object) {
  if (request->json) {
    print_facts(request, object);
    return;
  }
  tell_needs(self, object);
  bool is_taken = strcmp(request->output, "-") == 0 || strcmp(request->output, "/dev/stdout") == 0 ||
                  (request->header != NULL && strcmp(request->header, "/dev/stdout") == 0);
  if (!is_taken) {  // standard output, by a file
    char *shown = shown_path(request->output);
    printf("%s: %s for %s, %" PRId64 " bytes of code, %" PRId64 " bytes of working memory\n", shown,
           indim_object_symbol(object), indim_object_triple(object), indim_object_code_bytes(object),
           indim_object_scratch_bytes(object));
    free(shown);
  }
}

static int deliver(indim_ctx *cx, const command *self, const object_request *request, const indim_object *object,
                   const indim_buffer *text) {
  indim_str header = indim_object_header(object);
  int code = write_output(cx, self, request, object, text);
  if (code == EXIT_OK && request->header != NULL) {
    code = write_file(self, request->header, header.data, header.size);
  }
  if (code == EXIT_OK) {
    tell(self, request, object);
  }
  return code;
}

// Work --------------------------------------------------------------------------------------------------------------

static void show_stage(void *user, indim_compile_stage stage) {
  (void)user;
  work_now(stage == INDIM_COMPILE_LOWER ? "fusing and planning" : "generating code");
}

static int make(indim_ctx *cx, const command *self, const object_request *request, const indim_module *module,
                const indim_static_argument *statics) {
  indim_buffer text;
  indim_object *object = NULL;
  char *own_name = request->name == NULL ? name_of_file(request->input) : NULL;
  indim_buffer_init(&text, cx);
  indim_compile_options compile = request->compile;
  compile.progress = show_stage;
  compile.out_asm = request->emit == EMIT_ASM ? &text : NULL;
  compile.out_llvm = request->emit == EMIT_LLVM ? &text : NULL;
  const indim_object_options options = {.compile = &compile,
                                        .name = request->name == NULL ? own_name : request->name,
                                        .triple = request->triple,
                                        .static_arguments = statics,
                                        .static_argument_count = request->static_count,
                                        .is_self_contained = request->is_self_contained};
  work_begin(cx, "compiling");
  indim_status status = indim_compile_object(cx, module, &options, &object);
  work_end(cx);
  int code = status == INDIM_OK ? EXIT_OK : report(cx, status);
  if (code == EXIT_OK) {
    indim_ctx_set_memory_limit(cx, 0);  // was for the compiler
    tell_detours(cx, self);
    code = deliver(cx, self, request, object, &text);
  }
  indim_object_destroy(object);
  indim_buffer_deinit(&text);
  free(own_name);
  return code;
}

int compile_object(indim_ctx *cx, const command *self, const object_request *request) {
  indim_module *module = NULL;
  indim_status status = INDIM_OK;
  indim_static_argument statics[MOST_STATIC_ARGUMENTS] = {{0}};
  int code = load_module(cx, self, request->input, true, &module, &status);
  if (code == EXIT_OK && status != INDIM_OK) {
    code = report(cx, status);
  }
  if (code == EXIT_OK) {
    code = read_static_arguments(cx, self, request, module, statics);
  }
  if (code == EXIT_OK) {
    code = make(cx, self, request, module, statics);
  }
  for (int i = 0; i < request->static_count; i++) {
    indim_literal_destroy((indim_literal *)(uintptr_t)statics[i].value);
  }
  indim_module_destroy(module);
  return code;
}
