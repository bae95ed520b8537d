// What is read of a serialised xla.CompileOptionsProto: how many devices, and the options that the user gave by name
// (jax.jit(compiler_options=)).
#include "plugin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };  // wire types
enum { BUILD_OPTIONS = 3, OVERRIDES = 7 };                  // of CompileOptionsProto
enum { REPLICAS = 4, PARTITIONS = 5 };                      // of ExecutableBuildOptionsProto
enum { KEY = 1, VALUE = 2 };                                // of an entry of a map
enum { OF_TEXT = 1, OF_BOOL = 2, OF_INT = 3 };              // of OptionOverrideProto

typedef struct field {
  uint32_t number;
  uint32_t wire;
  uint64_t integer;
  indim_str bytes;
} field;

static bool read_varint(indim_str *in, uint64_t *out) {
  *out = 0;
  for (int shift = 0; shift < 64 && in->size > 0; shift += 7) {
    unsigned char byte = (unsigned char)in->data[0];
    in->data++, in->size--;
    *out |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
}

// The next field; false at the end and for what is no message (then *|out_ok| is false).
static bool next_field(indim_str *in, field *out, bool *out_ok) {
  uint64_t tag = 0, size = 0;
  if (in->size == 0 || !*out_ok) {
    return false;
  }
  *out_ok = read_varint(in, &tag);
  *out = (field){.number = (uint32_t)(tag >> 3), .wire = (uint32_t)tag & 7};
  switch (out->wire) {
  case VARINT:
    *out_ok = *out_ok && read_varint(in, &out->integer);
    return *out_ok;
  case LENGTH:
    *out_ok = *out_ok && read_varint(in, &size);
    break;
  case FIXED64:
    size = 8;
    break;
  case FIXED32:
    size = 4;
    break;
  default:
    *out_ok = false;
  }
  *out_ok = *out_ok && size <= in->size;
  if (*out_ok) {
    out->bytes = (indim_str){in->data, (size_t)size};
    in->data += size, in->size -= (size_t)size;
  }
  return *out_ok;
}

// No text: the value was no text, or there was none.
static bool is_falsehood(indim_str text) {
  return text.size == 0 || indim_str_equal(text, indim_str_of("false")) ||
         indim_str_equal(text, indim_str_of("False")) || indim_str_equal(text, indim_str_of("0"));
}

// Relaxations of strict IEEE, by the names that compiler_options has for them.
static const struct {
  const char *name;
  unsigned flag;
} relaxations[] = {{"indim_contract", INDIM_COMPILE_CONTRACT},
                   {"indim_reassociate", INDIM_COMPILE_REASSOCIATE},
                   {"indim_reciprocal", INDIM_COMPILE_RECIPROCAL},
                   {"indim_flush", INDIM_COMPILE_FLUSH}};
enum { RELAXATIONS = sizeof relaxations / sizeof relaxations[0] };

// Those of all programs: INDIM_FAST=flush,contract.
static pjrt_error *read_environment(plugin_options *options) {
  static const char prefix[] = "indim_";
  const char *list = getenv("INDIM_FAST");
  while (list != NULL && *list != '\0') {
    size_t size = strcspn(list, ",");
    unsigned flag = 0;
    for (size_t i = 0; i < RELAXATIONS; i++) {
      const char *name = relaxations[i].name + sizeof prefix - 1;
      flag |= indim_str_equal(indim_str_of(name), (indim_str){list, size}) ? relaxations[i].flag : 0;
    }
    if (flag == 0) {
      return plugin_error(PJRT_INVALID_ARGUMENT,
                          "INDIM_FAST knows contract, reassociate, reciprocal and flush, not '%.*s'",
                          (int)(size < 200 ? size : 200), list);
    }
    options->fast |= flag;
    list += size + (list[size] == ',' ? 1 : 0);
  }
  return NULL;
}

static pjrt_error *read_override(indim_str entry, plugin_options *options, bool *ok) {
  field f, v;
  indim_str key = {"", 0}, text = {"", 0};
  bool truth = false;
  while (next_field(&entry, &f, ok)) {
    if (f.number == KEY && f.wire == LENGTH) {
      key = f.bytes;
    } else if (f.number == VALUE && f.wire == LENGTH) {
      while (next_field(&f.bytes, &v, ok)) {
        truth = truth || ((v.number == OF_BOOL || v.number == OF_INT) && v.wire == VARINT && v.integer != 0);
        text = v.number == OF_TEXT && v.wire == LENGTH ? v.bytes : text;
      }
    }
  }
  truth = truth || indim_str_equal(text, indim_str_of("true")) || indim_str_equal(text, indim_str_of("True")) ||
          indim_str_equal(text, indim_str_of("1"));
  for (size_t i = 0; i < RELAXATIONS; i++) {
    if (indim_str_equal(key, indim_str_of(relaxations[i].name))) {
      options->fast = (options->fast & ~relaxations[i].flag) | (truth ? relaxations[i].flag : 0);
      return truth || is_falsehood(text)
                 ? NULL
                 : plugin_error(PJRT_INVALID_ARGUMENT, "%s: '%.*s' is not a valid bool value", relaxations[i].name,
                                (int)(text.size < 200 ? text.size : 200), text.data);
    }
  }
  // XLA's own say how XLA works.
  static const char *const efforts[] = {"exec_time_optimization_effort", "memory_fitting_effort", "optimization_level",
                                        "memory_fitting_level"};
  bool is_known = key.size >= 4 && memcmp(key.data, "xla_", 4) == 0;
  for (size_t i = 0; i < sizeof efforts / sizeof efforts[0]; i++) {
    is_known = is_known || indim_str_equal(key, indim_str_of(efforts[i]));
  }
  return is_known ? NULL
                  : plugin_error(PJRT_INVALID_ARGUMENT,
                                 "No such compile option: '%.*s'. Indim has indim_contract, indim_reassociate, "
                                 "indim_reciprocal and indim_flush; options that begin with xla_ are ignored",
                                 (int)(key.size < 200 ? key.size : 200), key.data);
}

pjrt_error *plugin_options_read(const char *bytes, size_t size, plugin_options *out_options) {
  indim_str in = {bytes, size};
  field f, g;
  bool ok = true;
  *out_options = (plugin_options){.replicas = 1, .partitions = 1};
  PLUGIN_TRY(read_environment(out_options));
  while (next_field(&in, &f, &ok)) {
    if (f.number == BUILD_OPTIONS && f.wire == LENGTH) {
      while (next_field(&f.bytes, &g, &ok)) {
        out_options->replicas = g.number == REPLICAS && g.wire == VARINT ? (int64_t)g.integer : out_options->replicas;
        out_options->partitions =
            g.number == PARTITIONS && g.wire == VARINT ? (int64_t)g.integer : out_options->partitions;
      }
    } else if (f.number == OVERRIDES && f.wire == LENGTH) {
      PLUGIN_TRY(read_override(f.bytes, out_options, &ok));
    }
  }
  if (!ok) {
    return plugin_error(PJRT_INVALID_ARGUMENT, "the compile options are no xla.CompileOptionsProto");
  }
  if (out_options->replicas != 1 || out_options->partitions != 1) {
    return plugin_error(PJRT_UNIMPLEMENTED,
                        "a program for %" PRId64 " replicas of %" PRId64 " partitions: Indim has one device",
                        out_options->replicas, out_options->partitions);
  }
  return NULL;
}
