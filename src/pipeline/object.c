// Ahead of time: from a verified module to an object file and its header. The stages are those of indim_compile, as far as the
// object; what callers need to know is taken from the loop program.
#include "pipeline/object.h"

#include <stdio.h>
#include <string.h>

#include "graph/module.h"
#include "pipeline/bind.h"
#include "pipeline/compilation.h"
#include "run/library.h"

enum { MOST_NAME = 200 };  // of an object's name

// One compilation to an object. The compilation comes first: its stages are handed a pointer to it.
typedef struct making {
  indim_compilation c;
  const indim_object_options *options;
  indim_compile_options compile;  // the caller's, with what is ours
  const indim_module *given;
  indim_module *specialized;  // NULL: no argument is static
  indim_object *object;
} making;

// Names -----------------------------------------------------------------------------------------------------------------

static indim_status choose_name(making *m) {
  indim_object *o = m->object;
  const char *name = m->options->name;
  if (name == NULL) {
    INDIM_TRY(indim_object_identifier(&o->arena, m->given->name, &o->name));
  } else if (!indim_object_is_identifier(name) || strlen(name) > MOST_NAME) {
    indim_fail(o->cx, INDIM_INVALID, "'%.60s' is no identifier of C, which the names of a header begin with", name);
    indim_hint(o->cx, "letters, digits and '_', no digit in front, at most %d of them", (int)MOST_NAME);
    return INDIM_INVALID;
  } else {
    INDIM_TRY(indim_arena_str(&o->arena, indim_str_of(name), &o->name));
  }
  o->name.size = o->name.size > MOST_NAME ? MOST_NAME : o->name.size;
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(&o->arena, o->name.size + sizeof "_run", &memory));
  snprintf(memory, o->name.size + sizeof "_run", "%.*s_run", (int)o->name.size, o->name.data);
  o->symbol = memory;
  return INDIM_OK;
}

// Services --------------------------------------------------------------------------------------------------------------

static indim_status refuse_service(const indim_loop_program *program, const indim_loop_node *node) {
  static const char format[] = "it asks the host for %s, and the object is to be self-contained";
  const char *service = indim_service_get(node->u.host.service)->name;
  if (node->origin == NULL) {
    indim_fail(program->cx, INDIM_UNSUPPORTED, format, service);
  } else {
    indim_fail_instr(program->cx, INDIM_UNSUPPORTED, node->origin, format, service);
  }
  indim_hint(program->cx, "leave --self-contained out, and give the function a host with that entry (indim_host.h)");
  return INDIM_UNSUPPORTED;
}

static const indim_loop_node *next_service(const indim_loop_node *node) {
  while (node != NULL && (node->kind != INDIM_NODE_HOST || indim_loop_node_fails(node))) {
    node = indim_loop_next(node);
  }
  return node;
}

// "dot.3 (dot)", "y (custom-call), call 0 of scale".
static indim_status name_need(indim_object *o, const indim_loop_node *node, indim_object_need *out) {
  indim_buffer text;
  indim_str copy = indim_str_of("");
  indim_buffer_init(&text, o->cx);
  if (node->origin != NULL) {
    indim_buffer_printf(&text, "%s (%s)", node->origin->name.data, indim_op_get(node->origin->op)->text);
  }
  if (node->origin != NULL && node->u.host.service == INDIM_HOST_CUSTOM_CALL) {
    const indim_attr *target = indim_instr_attr(node->origin, INDIM_ATTR_CUSTOM_CALL_TARGET);
    indim_buffer_printf(&text, ", call %lld of ", (long long)node->u.host.numbers[0]);
    indim_buffer_append(&text, target->value.text.data, target->value.text.size);
  }
  indim_status status = text.status;
  if (status == INDIM_OK && text.size > 0) {
    status = indim_arena_str(&o->arena, (indim_str){text.data, text.size}, &copy);
  }
  indim_buffer_deinit(&text);
  *out = (indim_object_need){indim_service_get(node->u.host.service)->name, copy.data};
  return status;
}

// Lists what the program asks for, in its order; of an instruction that asks for a service several times in a row, once.
static indim_status list_needs(indim_object *o, const indim_loop_program *program) {
  size_t count = 0;
  const indim_loop_node *first = next_service(program->body->first);
  for (const indim_loop_node *node = first; node != NULL; node = next_service(indim_loop_next(node))) {
    count++;
  }
  INDIM_TRY(indim_arena_array(&o->arena, count, sizeof *o->needs, (void **)&o->needs));
  o->need_count = 0;
  const indim_loop_node *before = NULL;
  for (const indim_loop_node *node = first; node != NULL; node = next_service(indim_loop_next(node))) {
    bool is_same = before != NULL && before->origin == node->origin && before->u.host.service == node->u.host.service &&
                   node->origin != NULL;
    if (!is_same) {
      INDIM_TRY(name_need(o, node, &o->needs[o->need_count++]));
    }
    before = node;
  }
  return INDIM_OK;
}

static indim_status take_needs(making *m) {
  const indim_loop_program *program = m->c.program;
  const indim_loop_node *service = next_service(program->body->first);
  if (m->options->is_self_contained && service != NULL) {
    return refuse_service(program, service);
  }
  return list_needs(m->object, program);
}

// Stages ----------------------------------------------------------------------------------------------------------------

static indim_status generate(making *m) {
  indim_code *code = NULL;
  INDIM_TRY(indim_compilation_emit(&m->c, &code));
  m->object->code_bytes = m->c.generator.functions->code_bytes(code);
  m->c.generator.functions->destroy(code);
  return m->object->bytes.status;
}

static indim_status write_header(making *m) {
  indim_object *o = m->object;
  indim_object_names names;
  const indim_object_facts facts = {.module = m->given,
                                    .target = &m->c.target,
                                    .static_arguments = m->options->static_arguments,
                                    .static_argument_count = m->options->static_argument_count};
  INDIM_TRY(indim_object_name_leaves(&o->arena, m->c.executable, &names));
  indim_buffer_clear(&o->header);
  indim_object_print_header(o, m->c.executable, &names, &facts, &o->header);
  return o->header.status;
}

static indim_status run_stages(indim_compilation *c) {
  making *m = (making *)c;
  if (c->triple != NULL) {
    c->target.triple = c->triple;  // of a simpler target, too
  }
  INDIM_TRY(indim_compilation_lower(c));
  INDIM_TRY(take_needs(m));
  INDIM_TRY(indim_bind_executable(c->cx, c->module, &c->executable));
  INDIM_TRY(indim_bind_storages(c->executable, c->program));
  INDIM_TRY(indim_bind_aliases(c->executable, indim_compilation_module(c), c->program));
  m->object->scratch_bytes = c->program->scratch_bytes;
  INDIM_TRY(generate(m));
  return write_header(m);
}

// Making ----------------------------------------------------------------------------------------------------------------

static indim_status specialize(making *m) {
  const indim_object_options *options = m->options;
  indim_arena *arena = &m->object->arena;
  size_t count = (size_t)options->static_argument_count;
  indim_fixed_parameter *fixed = NULL;
  if (count == 0) {
    return INDIM_OK;
  }
  if (options->static_argument_count < 0 || options->static_arguments == NULL) {
    return indim_fail(m->c.cx, INDIM_INVALID, "the list of static arguments is NULL");
  }
  INDIM_TRY(indim_arena_array(arena, count, sizeof *fixed, (void **)&fixed));
  for (size_t i = 0; i < count; i++) {
    fixed[i] = (indim_fixed_parameter){options->static_arguments[i].parameter, options->static_arguments[i].value};
  }
  INDIM_TRY(indim_module_specialize(m->c.cx, m->given, fixed, (int64_t)count, &m->specialized));
  m->c.module = m->specialized;
  return INDIM_OK;
}

static indim_status make(making *m) {
  indim_object *o = m->object;
  INDIM_TRY(choose_name(m));
  INDIM_TRY(specialize(m));
  m->c.is_self_contained = m->options->is_self_contained;
  m->compile.out_object = &o->bytes;
  m->c.options = &m->compile;
  m->c.symbol = o->symbol;
  m->c.triple = m->options->triple;
  INDIM_TRY(indim_compilation_begin(&m->c));
  INDIM_TRY(indim_compilation_climb_down(&m->c, run_stages));
  indim_str triple;
  INDIM_TRY(indim_arena_str(&o->arena, indim_str_of(m->c.target.triple), &triple));
  o->triple = triple.data;
  indim_buffer *wanted = m->options->compile == NULL ? NULL : m->options->compile->out_object;
  if (wanted != NULL) {
    indim_buffer_append(wanted, o->bytes.data, o->bytes.size);
    return wanted->status;
  }
  return INDIM_OK;
}

static indim_status refuse_profile(indim_ctx *cx) {
  indim_fail(cx, INDIM_INVALID, "an object has no list of steps for |profile|");
  indim_hint(cx, "indim_compile measures the same loops");
  return INDIM_INVALID;
}

indim_status indim_compile_object(indim_ctx *cx, const indim_module *module, const indim_object_options *options,
                                  indim_object **out_object) {
  static const indim_object_options none = {0};
  void *memory = NULL;
  if (cx == NULL || module == NULL || out_object == NULL) {
    return indim_fail(cx, INDIM_INVALID, "indim_compile_object: a pointer that is needed is NULL");
  }
  *out_object = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, sizeof(indim_object), &memory));
  indim_object *object = memory;
  object->cx = cx;
  indim_arena_init(&object->arena, cx);
  indim_buffer_init(&object->bytes, cx);
  indim_buffer_init(&object->header, cx);
  making m = {.c = {.cx = cx, .module = module}, .options = options == NULL ? &none : options, .given = module};
  m.compile = m.options->compile == NULL ? (indim_compile_options){0} : *m.options->compile;
  m.object = object;
  indim_status status = m.compile.profile ? refuse_profile(cx) : make(&m);
  indim_compilation_end(&m.c);
  indim_executable_destroy(m.c.executable);
  indim_module_destroy(m.specialized);
  if (status != INDIM_OK) {
    indim_object_destroy(object);
    return status;
  }
  *out_object = object;
  return INDIM_OK;
}

void indim_object_destroy(indim_object *object) {
  if (object == NULL) {
    return;
  }
  indim_buffer_deinit(&object->header);
  indim_buffer_deinit(&object->bytes);
  indim_arena_deinit(&object->arena);
  indim_free(object->cx, object, sizeof *object);
}

// Queries ---------------------------------------------------------------------------------------------------------------

static indim_str view_of(const indim_buffer *buffer) {
  return (indim_str){buffer->data == NULL ? "" : buffer->data, buffer->size};
}

indim_str indim_object_bytes(const indim_object *o) { return o == NULL ? indim_str_of("") : view_of(&o->bytes); }
indim_str indim_object_header(const indim_object *o) { return o == NULL ? indim_str_of("") : view_of(&o->header); }
const char *indim_object_symbol(const indim_object *o) { return o == NULL ? NULL : o->symbol; }
const char *indim_object_triple(const indim_object *o) { return o == NULL ? NULL : o->triple; }
int64_t indim_object_code_bytes(const indim_object *o) { return o == NULL ? 0 : o->code_bytes; }
int64_t indim_object_scratch_bytes(const indim_object *o) { return o == NULL ? 0 : o->scratch_bytes; }
int64_t indim_object_need_count(const indim_object *o) { return o == NULL ? 0 : o->need_count; }

const indim_object_need *indim_object_need_get(const indim_object *o, int64_t index) {
  return o == NULL || index < 0 || index >= o->need_count ? NULL : &o->needs[index];
}
