// The table of linalg.def, read as it is needed: each row's operands, results and attributes are little texts, which are
// held against the instruction one item after another.
#include "linalg/linalg.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "graph/infer_kit.h"
#include "graph/word.h"
#include "ffi/registry.h"
#include "graph/dictionary.h"

static const indim_linalg_target table[] = {
#define INDIM_LINALG(enumerator, routine, types, runs, operands, results, attributes) \
  {INDIM_LINALG_##enumerator, routine, types, operands, results, attributes},
#include "linalg/linalg.def"
    {INDIM_LINALG_CHOLESKY, "", "", "x:T[n,n]", "factor:T[n,n]", "lower:bool"},  // no target's name
};
enum { TARGETS = INDIM_LINALG_CHOLESKY };

const indim_linalg_target *indim_linalg_target_of(indim_linalg_id id) { return &table[id]; }

static const char letters[] = "sdcz";
static const indim_type letter_types[] = {INDIM_F32, INDIM_F64, INDIM_C64, INDIM_C128};

// A target that is called by one name for all types; NULL if there is none.
static const indim_linalg_target *find_typeless(indim_str name) {
  char text[64];
  for (size_t i = 0; i < TARGETS; i++) {
    snprintf(text, sizeof text, "%s_ffi", table[i].routine);
    if (table[i].types[0] == '\0' && indim_str_is(name, text)) {
      return &table[i];
    }
  }
  return NULL;
}

const indim_linalg_target *indim_linalg_find(indim_str name, indim_type *out_type) {
  *out_type = INDIM_TYPE_INVALID;
  const indim_linalg_target *typeless = find_typeless(name);
  if (typeless != NULL) {
    return typeless;
  }
  const char prefix[] = "lapack_";
  const char suffix[] = "_ffi";
  size_t start = sizeof prefix;  // of the routine, behind the letter
  size_t rest = sizeof suffix - 1;
  if (name.size <= start + rest || memcmp(name.data, prefix, sizeof prefix - 1) != 0 ||
      memcmp(name.data + name.size - rest, suffix, rest) != 0) {
    return NULL;
  }
  const char *letter = strchr(letters, name.data[start - 1]);
  indim_str routine = {name.data + start, name.size - start - rest};
  for (size_t i = 0; i < TARGETS && letter != NULL && *letter != '\0'; i++) {
    if (indim_str_is(routine, table[i].routine) && strchr(table[i].types, *letter) != NULL) {
      *out_type = letter_types[letter - letters];
      return &table[i];
    }
  }
  return NULL;
}

// A target as JAX wrote it before 2025: its name has no _ffi, its sizes are operands.
static bool is_older_name(indim_str name) {
  char text[64];
  indim_type type = INDIM_TYPE_INVALID;
  int size = snprintf(text, sizeof text, "%.*s_ffi", (int)(name.size < 40 ? name.size : 40), name.data);
  return indim_linalg_find((indim_str){text, (size_t)size}, &type) != NULL;
}

indim_status indim_linalg_fail_unknown(indim_ctx *cx, const indim_instr *instr, indim_str name) {
  char known[700] = "";
  char registered[150];
  size_t size = 0;
  for (size_t i = 0; i < TARGETS && size + 1 < sizeof known; i++) {
    bool is_typeless = table[i].types[0] == '\0';
    int more = snprintf(known + size, sizeof known - size, "%s%s%s%s%s%s", i == 0 ? "" : ", ", i == 0 ? "lapack_" : "",
                        is_typeless ? "" : "{", table[i].types, is_typeless ? "" : "}", table[i].routine);
    size += more > 0 ? (size_t)more : 0;
  }
  int length = (int)(name.size < 80 ? name.size : 80);
  indim_registry_print(cx, registered, sizeof registered);
  indim_fail_instr(
      cx, INDIM_UNSUPPORTED, instr,
      "custom-call target '%.*s' is not known; known are %s, each with _ffi behind it, and XLA's Qr, Eigh and "
      "ProductOfElementaryHouseholderReflectors, TopK, and cpu_csr_sparse_dense_ffi; %s%s",
      length, name.data, known, registered[0] == '\0' ? "no function is registered" : "registered are ", registered);
  if (is_older_name(name)) {
    indim_hint(cx, "programs of JAX 0.4.36 and later have %.*s_ffi; lower this one anew", length, name.data);
  } else {
    indim_hint(cx, "register a function of that name (indim_register_custom_call, --custom-call)");
  }
  return INDIM_UNSUPPORTED;
}

int64_t indim_linalg_size(const indim_linalg_call *call, char letter) {
  int64_t m = call->sizes['m' - 'a'];
  int64_t n = call->sizes['n' - 'a'];
  if (letter == 'k') {
    return m < n ? m : n;
  }
  return letter == 'l' ? (n > 0 ? n - 1 : 0) : call->sizes[letter - 'a'];
}

// The items of the table's texts -------------------------------------------------------------------------------------

// name[?]:kind[sizes]
typedef struct item {
  indim_str name;
  bool is_optional;
  indim_str kind;
  int32_t rank;
  char sizes[2];
} item;

// The item at |*text|, which steps behind it. False at the end.
static bool next_item(const char **text, item *out) {
  const char *at = *text + strspn(*text, " ");
  size_t size = strcspn(at, " ");
  if (size == 0) {
    return false;
  }
  *text = at + size;
  size_t name = strcspn(at, "?:");
  *out = (item){.name = {at, name}, .is_optional = at[name] == '?'};
  at += name + (at[name] == '?' ? 2 : 1);
  out->kind = (indim_str){at, strcspn(at, "[ ")};
  at += out->kind.size;
  for (; *at != '\0' && *at != ' ' && *at != ']'; at++) {
    if (*at >= 'a' && *at <= 'z') {
      out->sizes[out->rank++] = *at;
    }
  }
  return true;
}

static indim_type type_of(const indim_linalg_call *call, const item *it) {
  switch (it->kind.data[0]) {
  case 'R':
    return indim_type_is_complex(call->type) ? indim_type_component_of(call->type) : call->type;
  case 'C':
    return indim_type_is_complex(call->type) ? call->type : indim_type_complex_of(call->type);
  case 'I':
    return INDIM_S32;
  default:
    return call->type;
  }
}

// Whether a letter has its number: k and l follow from others, any other has one when it is first seen.
static bool is_bound(const indim_linalg_call *call, char letter) { return indim_linalg_size(call, letter) >= 0; }

// What is expected, for a message: "f32[2,3,r]"; a size not known yet is its letter.
static void print_expected(const indim_linalg_call *call, const item *it, const indim_shape *first, char *out,
                           size_t room) {
  int32_t batch = it->is_optional ? 0 : call->batch_rank;
  size_t size = (size_t)snprintf(out, room, "%s[", indim_type_text(type_of(call, it)));
  for (int32_t d = 0; d < batch + it->rank && size + 24 < room; d++) {
    char letter = d < batch ? 'a' : it->sizes[d - batch];
    const char *comma = d == 0 ? "" : ",";
    if (d >= batch && !is_bound(call, letter)) {
      size += (size_t)snprintf(out + size, room - size, "%s%c", comma, letter);
    } else {
      int64_t number = d < batch ? first->sizes[d] : indim_linalg_size(call, letter);
      size += (size_t)snprintf(out + size, room - size, "%s%" PRId64, comma, number);
    }
  }
  snprintf(out + size, room - size, "]");
}

// Whether |shape| is the item, whose unknown letters get their numbers.
static bool matches(indim_linalg_call *call, const item *it, const indim_shape *first, const indim_shape *shape) {
  int32_t batch = it->is_optional ? 0 : call->batch_rank;
  if (!indim_shape_is_array(shape) || shape->type != type_of(call, it) || shape->rank != batch + it->rank) {
    return false;
  }
  for (int32_t d = 0; d < batch; d++) {
    if (shape->sizes[d] != first->sizes[d]) {
      return false;
    }
  }
  for (int32_t d = 0; d < it->rank; d++) {
    char letter = it->sizes[d];
    if (!is_bound(call, letter) && letter != 'k' && letter != 'l') {
      call->sizes[letter - 'a'] = shape->sizes[batch + d];
    }
    if (shape->sizes[batch + d] != indim_linalg_size(call, letter)) {
      return false;
    }
  }
  return true;
}

static void set_array(const indim_linalg_call *call, const item *it, indim_linalg_array *out) {
  *out = (indim_linalg_array){.name = it->name, .type = type_of(call, it), .is_batched = !it->is_optional};
  out->rank = it->rank;
  for (int32_t d = 0; d < 2; d++) {
    out->sizes[d] = d < it->rank ? indim_linalg_size(call, it->sizes[d]) : 1;
  }
}

// Layouts ------------------------------------------------------------------------------------------------------------

// The dimension that should vary as the |place|th fastest: of a matrix its rows first, then its columns; else the last.
static int64_t expected_dim(int32_t rank, bool is_matrix, int32_t place) {
  return is_matrix && place < 2 ? rank - 2 + place : rank - 1 - place;
}

// Whether the elements lie as expected. Dimensions of size 1 may stand anywhere.
static bool is_laid_out(const indim_shape *shape, bool is_matrix) {
  const indim_layout *layout = &shape->layout;
  if (indim_shape_element_count(shape) <= 1) {
    return true;
  }
  if (shape->has_layout && (layout->tile_count != 0 || layout->padded_rank != 0 || layout->element_bits != 0)) {
    return false;
  }
  int32_t ours = 0;
  for (int32_t place = 0; place < shape->rank; place++) {
    int64_t dim = shape->has_layout ? layout->minor_to_major[place] : shape->rank - 1 - place;
    if (shape->sizes[dim] == 1) {
      continue;
    }
    while (shape->sizes[expected_dim(shape->rank, is_matrix, ours)] == 1) {
      ours++;
    }
    if (dim != expected_dim(shape->rank, is_matrix, ours++)) {
      return false;
    }
  }
  return true;
}

static indim_status fail_layout(indim_ctx *cx, const indim_instr *instr, const char *what, const indim_shape *shape,
                                bool is_matrix) {
  int64_t order[INDIM_MAX_RANK];
  indim_list_text expected;
  indim_list_text actual;
  const char *given = "none";
  for (int32_t place = 0; place < shape->rank; place++) {
    order[place] = expected_dim(shape->rank, is_matrix, place);
  }
  if (shape->has_layout) {
    given = indim_list_brief(shape->layout.minor_to_major, shape->rank, &actual);
  }
  indim_fail_instr(cx, INDIM_INVALID, instr, "the layout of %s is %s, expected %s without tiles or padding", what,
                   given, indim_list_brief(order, shape->rank, &expected));
  indim_hint(
      cx, "LAPACK's matrices lie column by column; state that in operand_layout_constraints= and the result's shape");
  return INDIM_INVALID;
}

// Operands and results -----------------------------------------------------------------------------------------------

static indim_status fail_shape(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call, const item *it,
                               const char *what, const indim_shape *shape) {
  char expected[200];
  indim_shape_text text;
  print_expected(call, it, indim_operand_shape(instr, 0), expected, sizeof expected);
  return indim_fail_instr(cx, INDIM_INVALID, instr, "%s is %s, expected %s", what, indim_shape_brief(shape, &text),
                          expected);
}

// What indim_fail_instr needs no name for: "operand 1 (y)", "result 0 (the factor)".
typedef struct what_text {
  char text[200];
} what_text;

static const char *operand_text(const indim_instr *instr, int32_t i, what_text *out) {
  snprintf(out->text, sizeof out->text, "operand %d (%.120s)", (int)i, indim_operand_name(instr, i));
  return out->text;
}

// Only how many of a batch count may be known when the program runs.
static indim_status check_fixed(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call, const item *it,
                                const char *what, const indim_shape *shape) {
  indim_shape_text text;
  int32_t batch = it->is_optional ? 0 : call->batch_rank;
  for (int32_t d = batch; indim_shape_is_array(shape) && d < shape->rank; d++) {
    if (indim_dim_is_dynamic(shape, d)) {
      indim_fail_instr(cx, INDIM_UNSUPPORTED, instr,
                       "dimension %d of %s, which is %s, is dynamic; that is allowed of the batch, and matrices have "
                       "fixed sizes",
                       (int)d, what, indim_shape_brief(shape, &text));
      indim_hint(cx, "slice it to fixed sizes, and put rows of the identity behind those that count");
      return INDIM_UNSUPPORTED;
    }
  }
  return INDIM_OK;
}

static indim_status check_count(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call) {
  int32_t least = 0;
  int32_t most = 0;
  item it;
  for (const char *text = call->target->operands; next_item(&text, &it); most++) {
    least += !it.is_optional;
  }
  if (instr->operand_count >= least && instr->operand_count <= most) {
    return INDIM_OK;
  }
  return indim_fail_instr(cx, INDIM_INVALID, instr, "%s takes %d%s operands (%s), here are %d", call->target->routine,
                          (int)least, most > least ? " or more" : "", call->target->operands,
                          (int)instr->operand_count);
}

static indim_status check_operands(indim_ctx *cx, const indim_instr *instr, indim_linalg_call *call) {
  const indim_attr *constraints = indim_instr_attr(instr, INDIM_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
  item it;
  what_text what;
  INDIM_TRY(check_count(cx, instr, call));
  for (const char *text = call->target->operands;
       call->operand_count < instr->operand_count && next_item(&text, &it);) {
    int32_t i = call->operand_count++;
    const indim_shape *shape = indim_operand_shape(instr, i);
    if (i == 0) {
      call->batch_rank = indim_shape_is_array(shape) && shape->rank > it.rank ? shape->rank - it.rank : 0;
    }
    INDIM_TRY(check_fixed(cx, instr, call, &it, operand_text(instr, i, &what), shape));
    if (!matches(call, &it, indim_operand_shape(instr, 0), shape)) {
      return fail_shape(cx, instr, call, &it, what.text, shape);
    }
    indim_shape stated = constraints != NULL ? *constraints->value.shapes[i] : *shape;
    if (constraints == NULL) {
      indim_layout_init(stated.rank, &stated.layout);
    }
    if (!is_laid_out(&stated, it.rank == 2)) {
      return fail_layout(cx, instr, operand_text(instr, i, &what), &stated, it.rank == 2);
    }
    set_array(call, &it, &call->operands[i]);
  }
  call->batch = 1;
  for (int32_t d = 0; d < call->batch_rank; d++) {
    call->batch *= indim_operand_shape(instr, 0)->sizes[d];
  }
  return INDIM_OK;
}

static int32_t count_items(const char *text) {
  int32_t count = 0;
  item it;
  while (next_item(&text, &it)) {
    count++;
  }
  return count;
}

static indim_status check_results(indim_ctx *cx, const indim_instr *instr, indim_linalg_call *call) {
  const indim_shape *shape = instr->shape;
  int32_t count = count_items(call->target->results);
  bool is_tuple = count > 1;
  indim_shape_text brief;
  what_text what;
  item it;
  if (is_tuple != indim_shape_is_tuple(shape) || (is_tuple && shape->member_count != count)) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "the result is %s, expected %s%d array%s (%s)",
                            indim_shape_brief(shape, &brief), is_tuple ? "a tuple of " : "", (int)count,
                            is_tuple ? "s" : "", call->target->results);
  }
  for (const char *text = call->target->results; next_item(&text, &it);) {
    int32_t i = call->result_count++;
    const indim_shape *one = is_tuple ? shape->members[i] : shape;
    snprintf(what.text, sizeof what.text, "result %d (%.*s)", (int)i, (int)it.name.size, it.name.data);
    INDIM_TRY(check_fixed(cx, instr, call, &it, what.text, one));
    if (!matches(call, &it, indim_operand_shape(instr, 0), one)) {
      return fail_shape(cx, instr, call, &it, what.text, one);
    }
    if (!is_laid_out(one, it.rank == 2)) {
      return fail_layout(cx, instr, what.text, one, it.rank == 2);
    }
    set_array(call, &it, &call->results[i]);
  }
  return INDIM_OK;
}

// Attributes ---------------------------------------------------------------------------------------------------------

// "uplo = 76 : ui8 ('L') or 85 : ui8 ('U')"
static void print_attr(const item *it, char *out, size_t room) {
  size_t size = (size_t)snprintf(out, room, "%.*s = ", (int)it->name.size, it->name.data);
  if (indim_str_is(it->kind, "bool") || indim_str_is(it->kind, "i32")) {
    snprintf(out + size, room - size, "%s", it->kind.data[0] == 'b' ? "true or false" : "a number : i32");
    return;
  }
  for (size_t i = 0; i < it->kind.size && size < room; i++) {
    size += (size_t)snprintf(out + size, room - size, "%s%d : ui8 ('%c')", i == 0 ? "" : " or ", it->kind.data[i],
                             it->kind.data[i]);
  }
}

static bool read_attr(const item *it, indim_str value, int64_t *out) {
  indim_str type = {"", 0};
  bool flag = false;
  if (indim_str_is(it->kind, "bool")) {
    bool ok = indim_dictionary_bool(value, &flag);
    *out = flag;
    return ok;
  }
  if (!indim_dictionary_int(value, out, &type)) {
    return false;
  }
  if (indim_str_is(it->kind, "i32")) {
    return indim_str_is(type, "i32") && *out >= INT32_MIN && *out <= INT32_MAX;
  }
  return indim_str_is(type, "ui8") && *out > 0 && *out < 128 && memchr(it->kind.data, (int)*out, it->kind.size) != NULL;
}

// The table's item of that name and its place; -1 if the target has none.
static int32_t find_item(const char *text, indim_str name, item *out) {
  for (int32_t i = 0; next_item(&text, out); i++) {
    if (out->name.size == name.size && memcmp(out->name.data, name.data, name.size) == 0) {
      return i;
    }
  }
  return -1;
}

static indim_status take_attr(indim_ctx *cx, const indim_instr *instr, indim_linalg_call *call,
                              const indim_dictionary_entry *entry, unsigned *seen) {
  const indim_linalg_target *target = call->target;
  item it;
  char expected[160];
  int32_t i = find_item(target->attributes, entry->name, &it);
  int name = (int)(entry->name.size < 60 ? entry->name.size : 60);
  if (i < 0) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_BACKEND_CONFIG, "%s takes no attribute %.*s; it takes %s",
                           target->routine, name, entry->name.data,
                           target->attributes[0] == '\0' ? "none" : target->attributes);
  }
  if ((*seen >> i & 1) != 0) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_BACKEND_CONFIG, "attribute %.*s stands there twice", name,
                           entry->name.data);
  }
  *seen |= 1u << i;
  if (!read_attr(&it, entry->value, &call->attrs[i])) {
    print_attr(&it, expected, sizeof expected);
    return indim_fail_attr(cx, instr, INDIM_ATTR_BACKEND_CONFIG, "attribute %.*s is %.*s, expected %s", name,
                           entry->name.data, (int)(entry->value.size < 80 ? entry->value.size : 80), entry->value.data,
                           expected);
  }
  return INDIM_OK;
}

static indim_status check_attrs(indim_ctx *cx, const indim_instr *instr, indim_linalg_call *call) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_BACKEND_CONFIG);
  indim_str text = attr != NULL && attr->value.text.size > 0 ? attr->value.text : (indim_str){"{}", 2};
  indim_dictionary_entry entry;
  size_t cursor = 0;
  unsigned seen = 0;
  for (bool more = true; more;) {
    if (!indim_dictionary_next(text, &cursor, &entry, &more)) {
      return indim_fail_attr(
          cx, instr, INDIM_ATTR_BACKEND_CONFIG,
          "backend_config= is no list of attributes like {uplo = 76 : ui8}: character %zu is unexpected", cursor + 1);
    }
    if (more) {
      INDIM_TRY(take_attr(cx, instr, call, &entry, &seen));
    }
  }
  const char *row = call->target->attributes;
  item it;
  for (int32_t i = 0; next_item(&row, &it); i++) {
    if ((seen >> i & 1) == 0) {
      char expected[160];
      print_attr(&it, expected, sizeof expected);
      return indim_fail_attr(cx, instr, INDIM_ATTR_BACKEND_CONFIG,
                             "%s needs the attribute %s in backend_config=", call->target->routine, expected);
    }
  }
  return INDIM_OK;
}

void *indim_linalg_matrix_at(const indim_linalg_array *a, int64_t number, void *array) {
  int64_t bytes = a->sizes[0] * a->sizes[1] * indim_type_bytes(a->type);
  return (char *)array + (a->is_batched ? number * bytes : 0);
}

int64_t indim_linalg_attr(const indim_linalg_call *call, const char *name) {
  item it;
  int32_t i = find_item(call->target->attributes, (indim_str){name, strlen(name)}, &it);
  return i < 0 ? 0 : call->attrs[i];
}

// What else must hold ------------------------------------------------------------------------------------------------

static indim_status fail_size(indim_ctx *cx, const indim_instr *instr, const char *format, ...) INDIM_PRINTF(3, 4);
static indim_status fail_size(indim_ctx *cx, const indim_instr *instr, const char *format, ...) {
  char message[300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return indim_fail_instr(cx, INDIM_INVALID, instr, "%s", message);
}

// The square or tall matrix that stands on one side of an m x n matrix has |order| rows.
static indim_status check_side(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call, bool left) {
  int64_t rows = indim_linalg_size(call, 's');
  int64_t expected = indim_linalg_size(call, left ? 'm' : 'n');
  return rows == expected ? INDIM_OK
                          : fail_size(cx, instr,
                                      "operand 0 (x) has %" PRId64 " rows, expected %" PRId64 ": it stands on the %s "
                                      "of a matrix with %" PRId64 " rows and %" PRId64 " columns",
                                      rows, expected, left ? "left" : "right", indim_linalg_size(call, 'm'),
                                      indim_linalg_size(call, 'n'));
}

static indim_status check_reflectors(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call,
                                     int64_t rows, int64_t columns) {
  int64_t count = indim_linalg_size(call, 't');
  return count <= columns && count <= rows
             ? INDIM_OK
             : fail_size(cx, instr,
                         "operand 1 (taus) has %" PRId64 " elements for a matrix of %" PRId64 " rows and %" PRId64
                         " columns, which has not so many reflectors",
                         count, rows, columns);
}

static indim_status check_orgqr(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call) {
  int64_t m = indim_linalg_size(call, 'm');
  int64_t n = indim_linalg_size(call, 'n');
  if (m < n) {
    return fail_size(cx, instr,
                     "operand 0 (x) has %" PRId64 " rows and %" PRId64
                     " columns; q has orthogonal columns, so it cannot have more columns than rows",
                     m, n);
  }
  return check_reflectors(cx, instr, call, m, n);
}

// p columns of u and q rows of vt: what mode= asks for.
static indim_status check_svd(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call) {
  int64_t mode = indim_linalg_attr(call, "mode");
  int64_t k = indim_linalg_size(call, 'k');
  int64_t m = indim_linalg_size(call, 'm');
  int64_t n = indim_linalg_size(call, 'n');
  int64_t p = indim_linalg_size(call, 'p');
  int64_t q = indim_linalg_size(call, 'q');
  bool full = p == m && q == n;
  bool reduced = p == k && q == k;
  if ((mode == 'A' && full) || (mode == 'S' && reduced) || (mode == 'N' && (full || reduced))) {
    return INDIM_OK;
  }
  return fail_size(cx, instr,
                   "u has %" PRId64 " columns and vt %" PRId64 " rows, expected %" PRId64 " and %" PRId64
                   " with mode '%c'",
                   p, q, mode == 'S' ? k : m, mode == 'S' ? k : n, (char)mode);
}

static indim_status check_gehrd(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call) {
  int64_t low = indim_linalg_attr(call, "low");
  int64_t high = indim_linalg_attr(call, "high");
  int64_t n = indim_linalg_size(call, 'n');
  bool ok = n == 0 ? low == 1 && high == 0 : low >= 1 && low <= high && high <= n;
  return ok ? INDIM_OK
            : fail_size(cx, instr, "low = %" PRId64 " and high = %" PRId64 ", expected 1 <= low <= high <= %" PRId64,
                        low, high, n);
}

static indim_status check_rules(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call) {
  switch ((int)call->target->id) {
  case INDIM_LINALG_TRSM:
    return check_side(cx, instr, call, indim_linalg_attr(call, "side") == 'L');
  case INDIM_LINALG_ORMQR:
  case INDIM_LINALG_UNMQR:
    INDIM_TRY(check_side(cx, instr, call, indim_linalg_attr(call, "left") != 0));
    return check_reflectors(cx, instr, call, indim_linalg_size(call, 's'), indim_linalg_size(call, 'c'));
  case INDIM_LINALG_ORGQR:
  case INDIM_LINALG_UNGQR:
    return check_orgqr(cx, instr, call);
  case INDIM_LINALG_GESDD:
  case INDIM_LINALG_GESVD:
    return check_svd(cx, instr, call);
  case INDIM_LINALG_GEHRD:
    return check_gehrd(cx, instr, call);
  default:
    return INDIM_OK;
  }
}

// LAPACK counts in s32, and so do info, pivots and orders.
static indim_status check_limits(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call) {
  for (size_t i = 0; i < sizeof call->sizes / sizeof call->sizes[0]; i++) {
    if (call->sizes[i] > INT32_MAX) {
      return indim_fail_instr(cx, INDIM_LIMIT, instr, "a size of %" PRId64 " is more than LAPACK can count",
                              call->sizes[i]);
    }
  }
  return INDIM_OK;
}

static indim_status check_version(indim_ctx *cx, const indim_instr *instr, const indim_linalg_call *call) {
  indim_str version = indim_instr_word(instr, INDIM_ATTR_API_VERSION);
  if (indim_word_equal(INDIM_ATTR_API_VERSION, version, "API_VERSION_TYPED_FFI")) {
    return INDIM_OK;
  }
  bool stated = version.size > 0;
  return indim_fail_attr(cx, instr, INDIM_ATTR_API_VERSION,
                         "api_version= is %.*s, but %s_ffi is called by API_VERSION_TYPED_FFI",
                         stated ? (int)version.size : 7, stated ? version.data : "missing", call->target->routine);
}

// The type of a target whose name has none: its first operand's, or one that is expected instead.
static void take_type(const indim_instr *instr, indim_linalg_call *call) {
  call->type = letter_types[0];
  for (size_t i = 0; i < sizeof letter_types / sizeof letter_types[0] && instr->operand_count > 0; i++) {
    if (indim_operand_shape(instr, 0)->type == letter_types[i]) {
      call->type = letter_types[i];
    }
  }
}

static indim_status read_custom_call(indim_ctx *cx, const indim_instr *instr, indim_linalg_call *out_call) {
  const indim_attr *name = indim_instr_attr(instr, INDIM_ATTR_CUSTOM_CALL_TARGET);
  out_call->target = indim_linalg_find(name->value.text, &out_call->type);
  if (out_call->target == NULL) {
    return indim_linalg_fail_unknown(cx, instr, name->value.text);
  }
  if (out_call->type == INDIM_TYPE_INVALID) {
    take_type(instr, out_call);
  }
  INDIM_TRY(check_version(cx, instr, out_call));
  INDIM_TRY(check_attrs(cx, instr, out_call));
  INDIM_TRY(check_operands(cx, instr, out_call));
  INDIM_TRY(check_results(cx, instr, out_call));
  INDIM_TRY(check_rules(cx, instr, out_call));
  return check_limits(cx, instr, out_call);
}

// The ops ------------------------------------------------------------------------------------------------------------

// The last two dimensions of |shape| are a matrix. Its sizes get the letters.
static indim_linalg_array matrix_of(indim_linalg_call *call, const indim_shape *shape, char rows, char columns) {
  const int64_t *sizes = &shape->sizes[shape->rank - 2];
  call->sizes[rows - 'a'] = sizes[0];
  call->sizes[columns - 'a'] = sizes[1];
  return (indim_linalg_array){.type = shape->type, .is_batched = true, .rank = 2, .sizes = {sizes[0], sizes[1]}};
}

static void read_batch(indim_linalg_call *call, const indim_instr *instr, indim_linalg_id id) {
  const indim_shape *shape = instr->shape;
  call->target = &table[id];
  call->type = shape->type;
  call->batch = 1;
  call->batch_rank = shape->rank - 2;
  call->operand_count = instr->operand_count;
  call->result_count = 1;
  for (int32_t d = 0; d < call->batch_rank; d++) {
    call->batch *= shape->sizes[d];
  }
}

static void set_attr(indim_linalg_call *call, const char *name, int64_t value) {
  item it;
  call->attrs[find_item(call->target->attributes, (indim_str){name, strlen(name)}, &it)] = value;
}

static indim_status read_cholesky(indim_ctx *cx, const indim_instr *instr, indim_linalg_call *call) {
  read_batch(call, instr, INDIM_LINALG_CHOLESKY);
  call->operands[0] = call->results[0] = matrix_of(call, instr->shape, 'n', 'n');
  set_attr(call, "lower", indim_instr_bool(instr, INDIM_ATTR_LOWER, false));
  return check_limits(cx, instr, call);
}

static indim_status read_triangular_solve(indim_ctx *cx, const indim_instr *instr, indim_linalg_call *call) {
  indim_str trans = indim_instr_word(instr, INDIM_ATTR_TRANSPOSE_A);
  char letter = indim_str_is(trans, "NO_TRANSPOSE") ? 'N'
                : indim_str_is(trans, "TRANSPOSE")  ? 'T'
                : indim_str_is(trans, "ADJOINT")    ? 'C'
                                                    : '\0';
  if (letter == '\0') {
    bool stated = trans.size > 0;
    indim_fail_instr(cx, INDIM_INVALID, instr, "transpose_a= is %.*s", stated ? (int)trans.size : 7,
                     stated ? trans.data : "missing");
    indim_hint(cx, "it is one of NO_TRANSPOSE, TRANSPOSE or ADJOINT");
    return INDIM_INVALID;
  }
  read_batch(call, instr, INDIM_LINALG_TRSM);
  call->operands[0] = matrix_of(call, instr->operands[0]->shape, 's', 's');
  call->operands[1] = call->results[0] = matrix_of(call, instr->shape, 'm', 'n');
  set_attr(call, "side", indim_instr_bool(instr, INDIM_ATTR_LEFT_SIDE, false) ? 'L' : 'R');
  set_attr(call, "uplo", indim_instr_bool(instr, INDIM_ATTR_LOWER, false) ? 'L' : 'U');
  set_attr(call, "trans_x", letter);
  set_attr(call, "diag", indim_instr_bool(instr, INDIM_ATTR_UNIT_DIAGONAL, false) ? 'U' : 'N');
  return check_limits(cx, instr, call);
}

indim_status indim_linalg_read(indim_ctx *cx, const indim_instr *instr, indim_linalg_call *out_call) {
  *out_call = (indim_linalg_call){0};
  for (size_t i = 0; i < sizeof out_call->sizes / sizeof out_call->sizes[0]; i++) {
    out_call->sizes[i] = -1;
  }
  return instr->op == INDIM_OP_CHOLESKY           ? read_cholesky(cx, instr, out_call)
         : instr->op == INDIM_OP_TRIANGULAR_SOLVE ? read_triangular_solve(cx, instr, out_call)
                                                  : read_custom_call(cx, instr, out_call);
}
