// Compiling a program, and what is asked of it then.
#include "plugin.h"

#include "indim/read.h"
#include "indim/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void plugin_program_retain(plugin_program *program) { atomic_fetch_add(&program->references, 1); }

static void free_arrays(plugin_array *arrays, size_t count) {
  for (size_t i = 0; arrays != NULL && i < count; i++) {
    free((void *)(uintptr_t)arrays[i].dims);
  }
  free(arrays);
}

void plugin_program_release(plugin_program *program) {
  if (program == NULL || atomic_fetch_sub(&program->references, 1) != 1) {
    return;
  }
  indim_executable_destroy(program->code);
  indim_module_destroy(program->module);
  indim_ctx_destroy(program->cx);
  free_arrays(program->parameters, program->parameter_count);
  free_arrays(program->outputs, program->output_count);
  free(program->kinds);
  free(program->kind_sizes);
  free(program->layouts);
  free(program->layout_list);
  free(program->output_types);
  free(program->output_dims);
  free(program->output_ranks);
  free(program->name);
  free(program->source);
  free(program->options);
  free(program);
}

// The arrays that go in and out ------------------------------------------------------------------------------------------

enum { HOST_SPACE = 5 };  // XLA's number of the host's memory in layouts

// The order in which the compiler has an array; false for layouts with more to them.
static bool read_layout(const plugin_program *program, const indim_shape *shape, plugin_array *array) {
  if (!shape->has_layout) {
    return true;
  }
  const indim_layout *layout = &shape->layout;
  int64_t *order = (int64_t *)(uintptr_t)array->dims + array->rank;  // room for it
  if (layout->rank != (int32_t)array->rank || layout->tile_count != 0 || layout->padded_rank != 0 ||
      layout->element_bits != 0) {
    return false;
  }
  for (size_t i = 0; i < array->rank; i++) {
    order[i] = layout->minor_to_major[i];
  }
  array->order = plugin_known_order(array->rank, order);
  array->memory = &program->client->memory[layout->memory_space == HOST_SPACE ? 1 : 0];
  return true;
}

static pjrt_error *read_array(plugin_program *program, const char *what, size_t number, const indim_shape *shape,
                              int64_t *leaf, plugin_array *out) {
  pjrt_type type = PJRT_TYPE_TOKEN;
  out->leaf = out->alias = -1;
  out->order = plugin_row_major(0);
  out->memory = &program->client->memory[0];
  if (!plugin_type_of(shape->type, &type)) {
    return plugin_error(PJRT_UNIMPLEMENTED, "%s %zu of %s is a %s; PJRT has arrays and tokens", what, number,
                        program->name, indim_type_text(shape->type));
  }
  out->type = type;
  if (type == PJRT_TYPE_TOKEN) {
    return NULL;
  }
  if (!indim_shape_is_static(shape)) {
    return plugin_error(PJRT_UNIMPLEMENTED, "%s %zu of %s has a size that is known only when it runs", what, number,
                        program->name);
  }
  int64_t *dims = malloc((shape->rank == 0 ? 1 : 2 * (size_t)shape->rank) * sizeof *dims);
  if (dims == NULL) {
    return plugin_no_memory();
  }
  memcpy(dims, shape->sizes, (size_t)shape->rank * sizeof *dims);
  out->dims = dims;
  out->rank = (size_t)shape->rank;
  out->order = plugin_row_major(out->rank);
  out->leaf = (*leaf)++;
  return plugin_array_bytes((int32_t)type, out->rank, dims, &out->bytes);
}

static pjrt_error *read_signature(plugin_program *program, const indim_module *module) {
  const indim_computation *entry = indim_module_entry(module);
  const indim_shape *result = indim_instr_shape(indim_computation_root(entry));
  bool is_tuple = indim_shape_is_tuple(result);
  size_t parameters = (size_t)indim_computation_parameter_count(entry);
  size_t outputs = is_tuple ? (size_t)result->member_count : 1;
  program->parameters = calloc(parameters + 1, sizeof *program->parameters);
  program->outputs = calloc(outputs + 1, sizeof *program->outputs);
  if (program->parameters == NULL || program->outputs == NULL) {
    return plugin_no_memory();
  }
  program->parameter_count = parameters;
  program->output_count = outputs;
  int64_t leaf = 0;
  for (size_t i = 0; i < parameters; i++) {
    const indim_shape *shape = indim_instr_shape(indim_computation_parameter(entry, (int64_t)i));
    PLUGIN_TRY(read_array(program, "argument", i, shape, &leaf, &program->parameters[i]));
  }
  program->leaf_count = (size_t)leaf;
  leaf = 0;
  for (size_t i = 0; i < outputs; i++) {
    PLUGIN_TRY(read_array(program, "result", i, is_tuple ? result->members[i] : result, &leaf, &program->outputs[i]));
  }
  program->result_count = (size_t)leaf;
  return NULL;
}

// The layouts and sizes that the compiler chose are those of the interface, and which output may overwrite which argument.
static pjrt_error *match_code(plugin_program *program) {
  const indim_executable *code = program->code;
  for (size_t i = 0; i < program->parameter_count; i++) {
    plugin_array *array = &program->parameters[i];
    if (array->leaf >= 0 && (indim_executable_argument_bytes(code, array->leaf) != (int64_t)array->bytes ||
                             !read_layout(program, indim_executable_argument_shape(code, array->leaf), array))) {
      return plugin_error(PJRT_UNIMPLEMENTED, "argument %zu of %s has a layout with tiles or padding", i,
                          program->name);
    }
  }
  for (size_t i = 0; i < program->output_count; i++) {
    plugin_array *array = &program->outputs[i];
    if (array->leaf < 0) {
      continue;
    }
    if (indim_executable_result_bytes(code, array->leaf) != (int64_t)array->bytes ||
        !read_layout(program, indim_executable_result_shape(code, array->leaf), array)) {
      return plugin_error(PJRT_UNIMPLEMENTED, "result %zu of %s has a layout with tiles or padding", i, program->name);
    }
    int64_t leaf = indim_executable_result_alias(code, array->leaf);
    for (size_t j = 0; leaf >= 0 && j < program->parameter_count; j++) {
      array->alias = program->parameters[j].leaf == leaf ? (int64_t)j : array->alias;
    }
  }
  return NULL;
}

// buffer_donor={ (0, {}), (3, {}) }: parameters, and places in tuples, which there are not.
static void read_donors(plugin_program *program, const indim_module *module) {
  indim_str text = indim_module_header(module, "buffer_donor");
  for (size_t i = 0; i < text.size; i++) {
    uint64_t number = 0;
    if (text.data[i] != '(') {
      continue;
    }
    while (i + 1 < text.size && text.data[i + 1] >= '0' && text.data[i + 1] <= '9' &&
           number < program->parameter_count) {
      number = number * 10 + (uint64_t)(text.data[++i] - '0');
    }
    if (number < program->parameter_count && i + 1 < text.size && text.data[i + 1] == ',') {
      program->parameters[number].is_donor = true;
    }
  }
}

// The lists that questions are answered with.
static pjrt_error *make_lists(plugin_program *program) {
  size_t outputs = program->output_count, parameters = program->parameter_count, dims = 0;
  for (size_t i = 0; i < outputs; i++) {
    dims += program->outputs[i].rank;
  }
  program->kinds = calloc(parameters + outputs + 1, sizeof *program->kinds);
  program->kind_sizes = calloc(parameters + outputs + 1, sizeof *program->kind_sizes);
  program->layouts = calloc(parameters + outputs + 1, sizeof *program->layouts);
  program->layout_list = calloc(parameters + outputs + 1, sizeof *program->layout_list);
  program->output_types = calloc(outputs + 1, sizeof *program->output_types);
  program->output_dims = calloc(dims + 1, sizeof *program->output_dims);
  program->output_ranks = calloc(outputs + 1, sizeof *program->output_ranks);
  if (program->kinds == NULL || program->kind_sizes == NULL || program->layouts == NULL ||
      program->layout_list == NULL || program->output_types == NULL || program->output_dims == NULL ||
      program->output_ranks == NULL) {
    return plugin_no_memory();
  }
  int64_t *next = program->output_dims;
  for (size_t i = 0; i < parameters + outputs; i++) {
    const plugin_array *array = i < parameters ? &program->parameters[i] : &program->outputs[i - parameters];
    program->kinds[i] = array->memory->kind;
    program->kind_sizes[i] = strlen(program->kinds[i]);
    program->layouts[i] = (pjrt_memory_layout){array->rank, array->order};
    program->layout_list[i] = &program->layouts[i];
  }
  for (size_t i = 0; i < outputs; i++) {
    const plugin_array *array = &program->outputs[i];
    program->output_types[i] = (int32_t)array->type;
    program->output_ranks[i] = array->rank;
    for (size_t d = 0; d < array->rank; d++) {
      *next++ = array->dims[d];
    }
  }
  return NULL;
}

// Compiling --------------------------------------------------------------------------------------------------------------

static char *copy_bytes(const char *bytes, size_t size) {
  char *copy = malloc(size + 1);
  if (copy != NULL) {
    memcpy(copy, bytes == NULL ? "" : bytes, size);
    copy[size] = '\0';
  }
  return copy;
}

static bool calls_python(const indim_module *module) {
  for (int64_t c = 0; c < indim_module_computation_count(module); c++) {
    const indim_computation *computation = indim_module_computation(module, c);
    for (int64_t i = 0; i < indim_computation_instr_count(computation); i++) {
      if (plugin_is_python_call(indim_instr_call_target(indim_computation_instr(computation, i)))) {
        return true;
      }
    }
  }
  return false;
}

static pjrt_error *compile(plugin_program *program, const plugin_options *options) {
  indim_ctx *cx = program->cx;
  indim_status status =
      indim_module_read(cx, indim_str_of("program"), program->source, program->source_size, &program->module);
  if (status == INDIM_OK) {
    status = indim_module_verify(cx, program->module);
  }
  if (status != INDIM_OK) {
    return plugin_error_of(cx, status);
  }
  indim_str name = indim_module_name(program->module);
  program->name = copy_bytes(name.data, name.size);
  if (program->name == NULL) {
    return plugin_no_memory();
  }
  PLUGIN_TRY(read_signature(program, program->module));
  read_donors(program, program->module);
  PLUGIN_TRY(plugin_costs_read(program));
  program->calls_python = calls_python(program->module);
  indim_compile_options how = {.fast = options->fast, .pool = program->client->pool};
  status = indim_compile(cx, program->module, &how, &program->code);
  if (status == INDIM_UNSUPPORTED && program->code == NULL) {
    return make_lists(program);  // the evaluator knows all of the language
  }
  if (status != INDIM_OK) {
    return plugin_error_of(cx, status);
  }
  indim_module_destroy(program->module);
  program->module = NULL;
  PLUGIN_TRY(match_code(program));
  return make_lists(program);
}

static uint64_t hash_on(uint64_t value, const char *bytes, size_t size) {  // FNV-1a
  for (size_t i = 0; i < size; i++) {
    value = (value ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001B3);
  }
  return value;
}

static void set_fingerprint(plugin_program *program) {
  uint64_t value = hash_on(UINT64_C(0xCBF29CE484222325), program->source, program->source_size);
  value = hash_on(value, program->options, program->options_size);
  snprintf(program->fingerprint, sizeof program->fingerprint, "%016" PRIx64, value);
}

pjrt_error *plugin_compile(pjrt_client *client, const char *code, size_t code_size, const char *options,
                           size_t options_size, pjrt_loaded **out_loaded) {
  plugin_options read;
  *out_loaded = NULL;
  PLUGIN_TRY(plugin_options_read(options, options_size, &read));
  pjrt_loaded *loaded = calloc(1, sizeof *loaded);
  plugin_program *program = calloc(1, sizeof *program);
  if (loaded == NULL || program == NULL || indim_ctx_create(NULL, &program->cx) != INDIM_OK) {
    free(loaded);
    free(program);
    return plugin_no_memory();
  }
  atomic_init(&program->references, 1);
  atomic_init(&program->run_ns, -1);
  program->client = client;
  program->source = copy_bytes(code, code_size);
  program->options = copy_bytes(options, options_size);
  program->source_size = code_size;
  program->options_size = options_size;
  pjrt_error *error = program->source == NULL || program->options == NULL ? plugin_no_memory() : NULL;
  error = error != NULL ? error : plugin_register_calls(program->cx);
  error = error != NULL ? error : compile(program, &read);
  if (error != NULL) {
    plugin_program_release(program);
    free(loaded);
    return error;
  }
  set_fingerprint(program);
  loaded->program = program;
  *out_loaded = loaded;
  return NULL;
}

pjrt_error *pjrt_client_compile(pjrt_compile_args *args) {
  const pjrt_program *program = args->program;
  return plugin_compile(args->client, program->code, program->code_size, args->options, args->options_size,
                        &args->executable);
}

// Executables ------------------------------------------------------------------------------------------------------------

pjrt_error *pjrt_loaded_executable_get_executable(pjrt_loaded_get_executable_args *args) {
  args->executable = malloc(sizeof *args->executable);
  if (args->executable == NULL) {
    return plugin_no_memory();
  }
  plugin_program_retain(args->loaded->program);
  args->executable->program = args->loaded->program;
  return NULL;
}

pjrt_error *pjrt_executable_destroy(pjrt_executable_destroy_args *args) {
  plugin_program_release(args->executable->program);
  free(args->executable);
  return NULL;
}

pjrt_error *pjrt_loaded_executable_destroy(pjrt_loaded_args *args) {
  plugin_program_release(args->executable->program);
  free(args->executable);
  return NULL;
}

pjrt_error *pjrt_loaded_executable_delete(pjrt_loaded_args *args) {
  atomic_store(&args->executable->is_deleted, true);
  return NULL;
}

pjrt_error *pjrt_loaded_executable_is_deleted(pjrt_loaded_is_deleted_args *args) {
  args->is_deleted = atomic_load(&args->executable->is_deleted);
  return NULL;
}

pjrt_error *pjrt_loaded_executable_addressable_devices(pjrt_loaded_devices_args *args) {
  args->devices = args->executable->program->client->devices;
  args->device_count = 1;
  return NULL;
}

pjrt_error *pjrt_loaded_executable_addressable_device_logical_ids(pjrt_loaded_logical_ids_args *args) {
  static const pjrt_logical_id first = {0, 0};
  args->ids = &first;
  args->count = 1;
  return NULL;
}

static void keep_nothing(pjrt_serialized *holder) { (void)holder; }

pjrt_error *pjrt_loaded_executable_get_device_assignment(pjrt_loaded_assignment_args *args) {
  // A DeviceAssignmentProto: one replica, one partition, on device 0.
  static const char assignment[] = {0x08, 0x01, 0x10, 0x01, 0x1A, 0x03, 0x0A, 0x01, 0x00};
  args->bytes = assignment;
  args->size = sizeof assignment;
  args->holder = NULL;
  args->deleter = keep_nothing;
  return NULL;
}

pjrt_error *pjrt_loaded_executable_fingerprint(pjrt_loaded_fingerprint_args *args) {
  args->text = args->executable->program->fingerprint;
  args->text_size = strlen(args->text);
  return NULL;
}

pjrt_error *pjrt_executable_fingerprint(pjrt_executable_text_args *args) {
  args->text = args->executable->program->fingerprint;
  args->text_size = strlen(args->text);
  return NULL;
}

pjrt_error *pjrt_executable_name(pjrt_executable_text_args *args) {
  args->text = args->executable->program->name;
  args->text_size = strlen(args->text);
  return NULL;
}

pjrt_error *pjrt_executable_num_replicas(pjrt_executable_count_args *args) {
  args->count = 1;
  return NULL;
}

pjrt_error *pjrt_executable_num_partitions(pjrt_executable_count_args *args) {
  args->count = 1;
  return NULL;
}

pjrt_error *pjrt_executable_num_outputs(pjrt_executable_count_args *args) {
  args->count = (int64_t)args->executable->program->output_count;
  return NULL;
}

pjrt_error *pjrt_executable_size_of_generated_code_in_bytes(pjrt_executable_count_args *args) {
  args->count = indim_executable_code_bytes(args->executable->program->code);
  return NULL;
}

static pjrt_error *memory_kinds(pjrt_executable_memory_kinds_args *args, size_t first, size_t count) {
  args->count = count;
  args->kinds = args->executable->program->kinds + first;
  args->kind_sizes = args->executable->program->kind_sizes + first;
  return NULL;
}

pjrt_error *pjrt_executable_output_memory_kinds(pjrt_executable_memory_kinds_args *args) {
  const plugin_program *program = args->executable->program;
  return memory_kinds(args, program->parameter_count, program->output_count);
}

pjrt_error *pjrt_executable_parameter_memory_kinds(pjrt_executable_memory_kinds_args *args) {
  return memory_kinds(args, 0, args->executable->program->parameter_count);
}

pjrt_error *pjrt_executable_output_element_types(pjrt_executable_types_args *args) {
  args->types = args->executable->program->output_types;
  args->count = args->executable->program->output_count;
  return NULL;
}

pjrt_error *pjrt_executable_output_dimensions(pjrt_executable_dims_args *args) {
  args->count = args->executable->program->output_count;
  args->dims = args->executable->program->output_dims;
  args->ranks = args->executable->program->output_ranks;
  return NULL;
}

pjrt_error *pjrt_executable_get_compiled_memory_stats(pjrt_executable_memory_stats_args *args) {
  const plugin_program *program = args->executable->program;
  args->code_bytes = indim_executable_code_bytes(program->code);
  args->argument_bytes = args->output_bytes = args->alias_bytes = 0;
  for (size_t i = 0; i < program->parameter_count; i++) {
    args->argument_bytes += (int64_t)program->parameters[i].bytes;
  }
  for (size_t i = 0; i < program->output_count; i++) {
    args->output_bytes += (int64_t)program->outputs[i].bytes;
    args->alias_bytes += program->outputs[i].alias >= 0 ? (int64_t)program->outputs[i].bytes : 0;
  }
  args->temp_bytes = indim_executable_scratch_bytes(program->code);
  args->host_code_bytes = args->host_argument_bytes = args->host_output_bytes = 0;
  args->host_alias_bytes = args->host_temp_bytes = 0;
  int64_t peak = args->argument_bytes + args->output_bytes - args->alias_bytes + args->temp_bytes;
  if (args->struct_size >= offsetof(pjrt_executable_memory_stats_args, total_size_bytes)) {
    args->peak_memory_bytes = peak;
  }
  if (args->struct_size >= sizeof *args) {
    args->total_size_bytes = peak + args->code_bytes;
  }
  return NULL;
}

pjrt_error *pjrt_executable_optimized_program(pjrt_executable_program_args *args) {
  // The program as it came: what is made of it are loops, which no format of a client's has.
  const plugin_program *program = args->executable->program;
  static const char format[] = "mlir";
  args->program->format = format;
  args->program->format_size = sizeof format - 1;
  if (args->program->code != NULL && args->program->code_size >= program->source_size) {
    memcpy(args->program->code, program->source, program->source_size);
  }
  args->program->code_size = program->source_size;
  return NULL;
}
