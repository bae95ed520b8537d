// The table of alias.def, read word by word as linalg.c reads its own.
#include "linalg/alias.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "graph/dynamic.h"
#include "graph/infer_kit.h"
#include "graph/word.h"

typedef struct row {
  const char *prefix, *routine;
  const char *complex_routine;  // of XLA's names, which are whole in |prefix|; NULL for names with a letter
  const char *types, *operands, *results;
} row;

static const row rows[] = {
#define INDIM_LINALG_OLDER(prefix, routine, types, operands, results) {prefix, routine, NULL, types, operands, results},
#define INDIM_LINALG_XLA(name, routine, complex_routine, operands, results) \
  {name, routine, complex_routine, "sdcz", operands, results},
#include "linalg/alias.def"
};

enum { MOST_SCALARS = 8 };

// A scalar operand that says again what the shapes say; they are compared once those are known.
typedef struct scalar {
  indim_str name;
  int32_t operand;
  int64_t value;
} scalar;

typedef struct reader {
  indim_ctx *cx;
  const indim_instr *instr;
  const row *row;
  const indim_linalg_target *target;
  indim_type type;
  indim_linalg_alias *out;
  int64_t attrs[INDIM_LINALG_MOST_ATTRS];  // in the order of linalg.def's row
  scalar scalars[MOST_SCALARS];
  int32_t scalar_count;
} reader;

// Words --------------------------------------------------------------------------------------------------------------

// The word at |*text|, which steps behind it: its name, and what stands behind ':' or '?:'. False at the end.
static bool next_word(const char **text, indim_str *out_name, indim_str *out_kind) {
  const char *at = *text + strspn(*text, " ");
  size_t size = strcspn(at, " ");
  size_t name = strcspn(at, "?: ");
  size_t kind = name + strspn(at + name, "?:");
  *out_name = (indim_str){at, name};
  *out_kind = (indim_str){at + kind, size - kind};
  *text = at + size;
  return size > 0;
}

// The number of the word of that name, with its kind; -1 if there is none.
static int32_t find_word(const char *text, indim_str name, indim_str *out_kind) {
  indim_str word;
  for (int32_t i = 0; next_word(&text, &word, out_kind); i++) {
    if (word.size == name.size && memcmp(word.data, name.data, name.size) == 0) {
      return i;
    }
  }
  return -1;
}

static int32_t count_words(const char *text) {
  indim_str name;
  indim_str kind;
  int32_t count = 0;
  while (next_word(&text, &name, &kind)) {
    count++;
  }
  return count;
}

// The letter of the elements, if it is one of those types.
static char letter_of(const indim_shape *shape) {
  indim_type type = indim_shape_is_array(shape) ? shape->type : INDIM_F32;
  return type == INDIM_F64 ? 'd' : type == INDIM_C64 ? 'c' : type == INDIM_C128 ? 'z' : 's';
}

static const row *find_row(const indim_instr *instr, char *out_letter) {
  indim_str name = indim_instr_attr(instr, INDIM_ATTR_CUSTOM_CALL_TARGET)->value.text;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].complex_routine != NULL && indim_str_is(name, rows[i].prefix)) {
      *out_letter = instr->operand_count > 0 ? letter_of(indim_operand_shape(instr, 0)) : 's';
      return &rows[i];
    }
    if (rows[i].complex_routine != NULL) {
      continue;
    }
    size_t prefix = strlen(rows[i].prefix);
    size_t size = prefix + 1 + strlen(rows[i].routine);
    if (name.size == size && memcmp(name.data, rows[i].prefix, prefix) == 0 &&
        memcmp(name.data + prefix + 1, rows[i].routine, size - prefix - 1) == 0 && name.data[prefix] != '\0' &&
        strchr(rows[i].types, name.data[prefix]) != NULL) {
      *out_letter = name.data[prefix];
      return &rows[i];
    }
  }
  return NULL;
}

bool indim_linalg_is_alias(const indim_instr *instr) {
  char letter = '\0';
  return instr->op == INDIM_OP_CUSTOM_CALL && find_row(instr, &letter) != NULL;
}

// Scalar operands ----------------------------------------------------------------------------------------------------

// What leaves a number as it is. (A number that a conversion cuts off is none that any operand may have.)
static const indim_instr *behind_moves(const indim_instr *instr) {
  while (instr->op == INDIM_OP_CONVERT || instr->op == INDIM_OP_COPY || instr->op == INDIM_OP_RESHAPE ||
         instr->op == INDIM_OP_BROADCAST || instr->op == INDIM_OP_OPT_BARRIER) {
    instr = instr->operands[0];
  }
  return instr;
}

static bool constant_of(indim_ctx *cx, const indim_instr *instr, int64_t *out) {
  const int64_t index[INDIM_MAX_RANK] = {0};
  const indim_shape *shape = instr->shape;
  return instr->op == INDIM_OP_CONSTANT && indim_shape_is_array(shape) && indim_type_is_integral(shape->type) &&
         indim_shape_element_count(shape) == 1 && !indim_literal_is_elided(instr->literal) &&
         indim_literal_get_int(cx, instr->literal, index, out) == INDIM_OK;
}

// A constant, or a product as JAX writes the number of matrices: ((1 * 4) * 2).
static bool number_of(indim_ctx *cx, const indim_instr *instr, int64_t *out) {
  int64_t product = 1;
  int64_t factor = 0;
  for (instr = behind_moves(instr); instr->op == INDIM_OP_MULTIPLY; instr = behind_moves(instr->operands[0])) {
    if (!constant_of(cx, behind_moves(instr->operands[1]), &factor) || factor < 0 ||
        !indim_count_mul(product, factor, &product)) {
      return false;
    }
  }
  if (!constant_of(cx, instr, out)) {
    return false;
  }
  return *out < 0 || indim_count_mul(product, *out, out);  // what is negative is wrong anyway
}

static indim_status read_scalar(const reader *r, int32_t i, indim_str name, indim_type type, int64_t *out) {
  const indim_shape *shape = indim_operand_shape(r->instr, i);
  indim_shape_text text;
  if (!indim_shape_is_array(shape) || shape->type != type || shape->rank != 0) {
    return indim_fail_instr(r->cx, INDIM_INVALID, r->instr, "operand %d (%.*s) is %s, expected %s[]", (int)i,
                            (int)name.size, name.data, indim_shape_brief(shape, &text), indim_type_text(type));
  }
  if (!number_of(r->cx, r->instr->operands[i], out)) {
    indim_fail_instr(r->cx, INDIM_UNSUPPORTED, r->instr, "operand %d (%.*s) is not a constant", (int)i, (int)name.size,
                     name.data);
    indim_hint(r->cx, "%s takes its sizes and flags as constants; JAX 0.4.36 and later write %s_ffi, which has none",
               r->row->routine, r->row->routine);
    return INDIM_UNSUPPORTED;
  }
  return INDIM_OK;
}

// Flags that become letters: letters[value].
typedef struct flag {
  const char *name, *attr, *letters;
} flag;

static const flag flags[] = {
    {"lower", "uplo", "UL"}, {"left", "side", "RL"}, {"trans", "trans_x", "NTC"},
    {"unit", "diag", "NU"},  {"full", "mode", "SA"}, {"vectors", "mode", "N"},
};

static indim_status read_flag(reader *r, int32_t i, indim_str name, const flag *f) {
  int64_t value = 0;
  indim_str kind;
  int64_t count = (int64_t)strlen(f->letters);
  bool is_vectors = count == 1;  // 1 leaves the mode that |full| has given
  INDIM_TRY(read_scalar(r, i, name, INDIM_S32, &value));
  int64_t end = is_vectors ? 2 : count;
  if (value < 0 || value >= end) {
    return indim_fail_instr(r->cx, INDIM_INVALID, r->instr, "operand %d (%s) is %" PRId64 ", expected 0%s or %d",
                            (int)i, f->name, value, end == 3 ? ", 1" : "", (int)end - 1);
  }
  if (value < count) {
    r->attrs[find_word(r->target->attributes, indim_str_of(f->attr), &kind)] = f->letters[value];
  }
  return INDIM_OK;
}

// Operands -----------------------------------------------------------------------------------------------------------

static bool is_xla(const reader *r) { return r->row->complex_routine != NULL; }

// An array of XLA's, a matrix if |kind| is "T[m,n]", in the layout of LAPACK's: it is no part of what they mean.
static const indim_shape *lay_out(reader *r, const indim_shape *shape, indim_str kind) {
  if (!is_xla(r) || !indim_shape_is_array(shape)) {
    return shape;
  }
  indim_shape *out = &r->out->arrays[r->out->array_count++];
  *out = *shape;
  out->has_layout = true;
  indim_layout_init(out->rank, &out->layout);
  if (memchr(kind.data, ',', kind.size) != NULL && out->rank >= 2) {
    out->layout.minor_to_major[0] = out->rank - 2;
    out->layout.minor_to_major[1] = out->rank - 1;
  }
  return out;
}

static void take_array(reader *r, int32_t i, int32_t place, indim_str kind) {
  const indim_attr *constraints = indim_instr_attr(r->instr, INDIM_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
  indim_linalg_alias *out = r->out;
  out->operands[place] = i;
  out->values[place] = r->instr->operands[i];
  out->constraints[place] = is_xla(r)             ? lay_out(r, r->instr->operands[i]->shape, kind)
                            : constraints == NULL ? NULL
                                                  : constraints->value.shapes[i];
  out->today.operand_count++;
}

static indim_status read_operand(reader *r, int32_t i, indim_str name) {
  indim_str kind;
  int32_t place = find_word(r->target->operands, name, &kind);
  if (place >= 0) {
    take_array(r, i, place, kind);
    return INDIM_OK;
  }
  place = find_word(r->target->attributes, name, &kind);
  if (place >= 0) {
    return read_scalar(r, i, name, indim_str_is(kind, "i32") ? INDIM_S32 : INDIM_U8, &r->attrs[place]);
  }
  for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
    if (indim_str_is(name, flags[f].name)) {
      return read_flag(r, i, name, &flags[f]);
    }
  }
  scalar *s = &r->scalars[r->scalar_count++];
  *s = (scalar){.name = name, .operand = i};
  return read_scalar(r, i, name, INDIM_S32, &s->value);
}

static indim_status read_operands(reader *r) {
  int32_t count = count_words(r->row->operands);
  const char *text = r->row->operands;
  indim_str name;
  indim_str kind;
  if (r->instr->operand_count != count) {
    return indim_fail_instr(r->cx, INDIM_INVALID, r->instr, "%s takes %d operand%s (%s), here are %d",
                            is_xla(r) ? r->row->prefix : r->row->routine, (int)count, count == 1 ? "" : "s",
                            r->row->operands, (int)r->instr->operand_count);
  }
  for (int32_t i = 0; next_word(&text, &name, &kind); i++) {
    INDIM_TRY(read_operand(r, i, name));
  }
  return INDIM_OK;
}

// Results ------------------------------------------------------------------------------------------------------------

// A working array's size is anything; JAX reads |info|.
static indim_status check_work(const reader *r, int32_t i, indim_str name, char kind, const indim_shape *shape) {
  indim_type type = kind == 'I'                                     ? INDIM_S32
                    : kind == 'R' && indim_type_is_complex(r->type) ? indim_type_component_of(r->type)
                                                                    : r->type;
  indim_shape_text text;
  if (indim_shape_is_array(shape) && indim_shape_is_static(shape) && shape->type == type) {
    return INDIM_OK;
  }
  return indim_fail_instr(r->cx, INDIM_INVALID, r->instr, "result %d (%.*s) is %s, expected an array of %s", (int)i,
                          (int)name.size, name.data, indim_shape_brief(shape, &text), indim_type_text(type));
}

// XLA's have no info, which is LAPACK's last result: one for each matrix.
static const indim_shape *info_of(reader *r) {
  indim_shape *info = &r->out->arrays[r->out->array_count++];
  const indim_shape *x = r->instr->operands[0]->shape;
  *info = *x;
  info->type = INDIM_S32;
  info->rank = indim_shape_is_array(x) && x->rank > 2 ? x->rank - 2 : 0;
  indim_layout_init(info->rank, &info->layout);
  return info;
}

static indim_status read_results(reader *r) {
  const indim_shape *shape = r->instr->shape;
  indim_linalg_alias *out = r->out;
  int32_t count = count_words(r->row->results);
  int32_t today = count_words(r->target->results);
  bool is_tuple = count > 1;
  const char *text = r->row->results;
  indim_shape_text brief;
  indim_str name;
  indim_str kind;
  if (is_tuple != indim_shape_is_tuple(shape) || (is_tuple && shape->member_count != count)) {
    return indim_fail_instr(r->cx, INDIM_INVALID, r->instr, "the result is %s, expected %s%d array%s (%s)",
                            indim_shape_brief(shape, &brief), is_tuple ? "a tuple of " : "", (int)count,
                            is_tuple ? "s" : "", r->row->results);
  }
  out->result_count = count;
  for (int32_t i = 0; next_word(&text, &name, &kind); i++) {
    indim_str array;
    const indim_shape *one = is_tuple ? shape->members[i] : shape;
    out->results[i] = kind.size > 0 ? -1 : find_word(r->target->results, name, &array);
    if (kind.size > 0) {
      INDIM_TRY(check_work(r, i, name, kind.data[0], one));
    } else {
      out->members[out->results[i]] = lay_out(r, one, array);
    }
  }
  if (is_xla(r) && out->members[today - 1] == NULL) {
    out->members[today - 1] = info_of(r);
  }
  out->shape = (indim_shape){.type = INDIM_TUPLE, .member_count = today, .members = out->members, .depth = 1};
  out->today.shape = today > 1 ? &out->shape : out->members[0];
  return INDIM_OK;
}

// The call of today --------------------------------------------------------------------------------------------------

// Where an attribute is none of the operands it is what JAX always asked for: mode V of syevd.
static void print_config(const reader *r, char *out, size_t room) {
  const char *text = r->target->attributes;
  indim_str name;
  indim_str kind;
  size_t size = (size_t)snprintf(out, room, "{");
  for (int32_t i = 0; next_word(&text, &name, &kind) && size < room; i++) {
    size += (size_t)snprintf(out + size, room - size, "%s%.*s = %" PRId64 " : %s", i > 0 ? ", " : "", (int)name.size,
                             name.data, r->attrs[i], indim_str_is(kind, "i32") ? "i32" : "ui8");
  }
  if (size < room) {
    snprintf(out + size, room - size, "}");
  }
}

static indim_attr text_attr(const reader *r, indim_attr_id id, const char *text) {
  const indim_attr *own = indim_instr_attr(r->instr, id);
  return (indim_attr){
      .id = id, .offset = own == NULL ? INDIM_NO_OFFSET : own->offset, .count = 1, .value.text = indim_str_of(text)};
}

static void make_attrs(reader *r) {
  indim_linalg_alias *out = r->out;
  const indim_attr *constraints = indim_instr_attr(r->instr, INDIM_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
  print_config(r, out->config, sizeof out->config);
  out->attrs[0] = text_attr(r, INDIM_ATTR_CUSTOM_CALL_TARGET, out->target);
  out->attrs[1] = text_attr(r, INDIM_ATTR_API_VERSION, "API_VERSION_TYPED_FFI");
  out->attrs[2] = text_attr(r, INDIM_ATTR_BACKEND_CONFIG, out->config);
  out->today.attr_count = 3;
  if (constraints != NULL || is_xla(r)) {
    out->attrs[3] = (indim_attr){.id = INDIM_ATTR_OPERAND_LAYOUT_CONSTRAINTS,
                                 .offset = constraints == NULL ? INDIM_NO_OFFSET : constraints->offset,
                                 .count = out->today.operand_count};
    out->attrs[3].value.shapes = out->constraints;
    out->today.attr_count = 4;
  }
  out->today.attrs = out->attrs;
}

// Eigh's "lower,sort,sweeps,tolerance". The values are sorted, and found until they do not change any more, in any case.
static indim_status read_xla_config(reader *r) {
  const indim_attr *attr = indim_instr_attr(r->instr, INDIM_ATTR_BACKEND_CONFIG);
  indim_str text = attr == NULL ? (indim_str){"", 0} : attr->value.text;
  indim_str kind;
  int32_t uplo = find_word(r->target->attributes, indim_str_of("uplo"), &kind);
  if (uplo < 0) {
    return INDIM_OK;
  }
  bool is_list = text.size > 1 && (text.data[0] == '0' || text.data[0] == '1') && text.data[1] == ',';
  if (!is_list) {
    return indim_fail_attr(r->cx, r->instr, INDIM_ATTR_BACKEND_CONFIG,
                           "backend_config= of %s is '%.*s', expected lower,sort,sweeps,tolerance like 1,1,100,1e-6",
                           r->row->prefix, (int)(text.size < 80 ? text.size : 80), text.data);
  }
  r->attrs[uplo] = text.data[0] == '1' ? 'L' : 'U';
  return INDIM_OK;
}

static indim_status check_version(const reader *r) {
  indim_str version = indim_instr_word(r->instr, INDIM_ATTR_API_VERSION);
  if (!indim_word_equal(INDIM_ATTR_API_VERSION, version, "API_VERSION_TYPED_FFI")) {
    return INDIM_OK;
  }
  return indim_fail_attr(r->cx, r->instr, INDIM_ATTR_API_VERSION,
                         "%s%s is not called by API_VERSION_TYPED_FFI; that is lapack_%s_ffi", r->row->prefix,
                         r->row->routine, r->row->routine);
}

// What a scalar should be.
static int64_t expected_of(const reader *r, indim_str name, const indim_linalg_call *call) {
  indim_str kind;
  if (indim_str_is(name, "batch")) {
    return call->batch;
  }
  if (indim_str_is(name, "lda")) {
    int64_t n = indim_linalg_size(call, 'n');
    return n > 1 ? n : 1;
  }
  if (indim_str_is(name, "lwork")) {
    int32_t i = find_word(r->row->results, indim_str_of("work"), &kind);
    return indim_shape_element_count(r->instr->shape->members[i]);
  }
  return indim_linalg_size(call, name.data[0]);
}

static indim_status check_scalars(const reader *r, const indim_linalg_call *call) {
  for (int32_t i = 0; i < r->scalar_count; i++) {
    const scalar *s = &r->scalars[i];
    int64_t expected = expected_of(r, s->name, call);
    if (s->value != expected) {
      return indim_fail_instr(r->cx, INDIM_INVALID, r->instr,
                              "operand %d (%.*s) is %" PRId64 ", expected %" PRId64 " from the shapes", (int)s->operand,
                              (int)s->name.size, s->name.data, s->value, expected);
    }
  }
  return INDIM_OK;
}

// info of a routine that always succeeds: one for each matrix.
static indim_status check_info(const reader *r, const indim_linalg_call *call) {
  indim_str kind;
  indim_shape_text text;
  int32_t i = find_word(r->row->results, indim_str_of("info"), &kind);
  if (i < 0 || r->out->results[i] >= 0) {
    return INDIM_OK;
  }
  const indim_shape *shape = r->instr->shape->members[i];
  bool ok = shape->rank == call->batch_rank;
  for (int32_t d = 0; ok && d < shape->rank; d++) {
    ok = shape->sizes[d] == r->out->today.operands[0]->shape->sizes[d];
  }
  return ok ? INDIM_OK
            : indim_fail_instr(r->cx, INDIM_INVALID, r->instr,
                               "result %d (info) is %s, expected one s32 for each of %" PRId64 " matrices", (int)i,
                               indim_shape_brief(shape, &text), call->batch);
}

indim_status indim_linalg_read_alias(indim_ctx *cx, const indim_instr *instr, indim_linalg_alias *out,
                                     indim_linalg_call *out_call) {
  char letter = '\0';
  reader r = {.cx = cx, .instr = instr, .out = out};
  *out = (indim_linalg_alias){.today = *instr};
  r.row = find_row(instr, &letter);
  bool is_complex = letter == 'c' || letter == 'z';
  const char *routine = is_xla(&r) && is_complex ? r.row->complex_routine : r.row->routine;
  snprintf(out->target, sizeof out->target, "lapack_%c%s_ffi", letter, routine);
  r.target = indim_linalg_find(indim_str_of(out->target), &r.type);
  if (indim_instr_is_dynamic(instr)) {
    if (is_xla(&r)) {
      return indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "%s is not computed of dynamic dimensions", r.row->prefix);
    }
    indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "lapack_%c%s has sizes as operands, and no dynamic dimensions",
                     letter, r.row->routine);
    indim_hint(cx, "programs of JAX 0.4.36 and later have %s, whose batch may be dynamic; lower this one anew",
               out->target);
    return INDIM_UNSUPPORTED;
  }
  for (int32_t i = 0; i < INDIM_LINALG_MOST_ATTRS; i++) {
    r.attrs[i] = 'V';
  }
  out->today.operand_count = 0;
  out->today.operands = out->values;
  INDIM_TRY(is_xla(&r) ? read_xla_config(&r) : check_version(&r));
  INDIM_TRY(read_operands(&r));
  INDIM_TRY(read_results(&r));
  make_attrs(&r);
  INDIM_TRY(indim_linalg_read(cx, &out->today, out_call));
  INDIM_TRY(check_scalars(&r, out_call));
  return check_info(&r, out_call);
}
