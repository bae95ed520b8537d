// Names of the program as identifiers of C and C++.
#include "pipeline/object.h"

#include <stdio.h>
#include <string.h>

// Identifiers -----------------------------------------------------------------------------------------------------------

// Locale does not matter to C's identifiers.
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static char upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

// Keywords of C and C++, and what their headers or compilers define as macros.
static bool is_taken_by_c(indim_str name) {
  static const char words[] =
      "alignas alignof and and_eq asm assert auto bitand bitor bool break case catch char class co_await "
      "co_return co_yield compl complex concept const const_cast consteval constexpr constinit continue "
      "decltype default delete do double dynamic_cast else enum errno explicit export extern false far float "
      "for friend goto I if imaginary inline int linux long mutable namespace near new noexcept not not_eq "
      "NULL nullptr operator or or_eq private protected public register reinterpret_cast requires restrict "
      "return short signed sizeof small static static_assert static_cast stderr stdin stdout struct switch "
      "template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unix "
      "unsigned using virtual void volatile wchar_t while xor xor_eq ";
  for (const char *at = words; *at != '\0';) {
    size_t size = strcspn(at, " ");
    if (indim_str_equal(name, (indim_str){at, size})) {
      return true;
    }
    at += size + 1;
  }
  return false;
}

bool indim_object_is_identifier(const char *text) {
  bool ok = is_letter(text[0]);
  for (const char *at = text; *at != '\0'; at++) {
    ok = ok && (is_letter(*at) || is_digit(*at));
  }
  return ok;
}

// Without the number that XLA appends to make names unique: "add.3" is add.
static size_t size_without_number(indim_str text) {
  size_t size = text.size;
  while (size > 0 && is_digit(text.data[size - 1])) {
    size--;
  }
  return size > 1 && size < text.size && text.data[size - 1] == '.' ? size - 1 : text.size;
}

indim_status indim_object_identifier(indim_arena *arena, indim_str text, indim_str *out) {
  size_t size = size_without_number(text);
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(arena, size + 2, &memory));
  char *name = memory;
  size_t end = 0;
  for (size_t i = 0; i < size; i++) {
    char c = is_letter(text.data[i]) || is_digit(text.data[i]) ? text.data[i] : '_';
    if (c != '_' || (end > 0 && name[end - 1] != '_')) {  // "__" and '_' in front are the compiler's in C and C++
      name[end++] = c;
    }
  }
  end -= end > 1 && name[end - 1] == '_';
  if (end == 0 || is_digit(name[0])) {  // of "_" and "_1"
    memmove(name + 1, name, end++);
    name[0] = 'x';
  }
  *out = (indim_str){name, end};
  return INDIM_OK;
}

// Leaves ----------------------------------------------------------------------------------------------------------------

// Names that are taken, in upper case, since the header's constants are: a hash table of views, never full.
typedef struct name_set {
  indim_arena *arena;
  indim_str *slots;
  size_t count;  // a power of two
} name_set;

static indim_status make_set(indim_arena *arena, size_t names, name_set *out) {
  size_t count = 16;
  while (count / 4 < names) {
    count *= 2;
  }
  *out = (name_set){.arena = arena, .count = count};
  return indim_arena_array(arena, count, sizeof *out->slots, (void **)&out->slots);
}

static bool equal_in_upper_case(indim_str a, indim_str b) {
  bool equal = a.size == b.size;
  for (size_t i = 0; equal && i < a.size; i++) {
    equal = upper(a.data[i]) == upper(b.data[i]);
  }
  return equal;
}

// False if it is there already.
static bool add_name(name_set *set, indim_str name) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < name.size; i++) {
    hash = (hash ^ (uint8_t)upper(name.data[i])) * 1099511628211u;
  }
  size_t at = (size_t)hash & (set->count - 1);
  for (; set->slots[at].size > 0; at = (at + 1) & (set->count - 1)) {
    if (equal_in_upper_case(set->slots[at], name)) {
      return false;
    }
  }
  set->slots[at] = name;
  return true;
}

// |base|, or else with a number behind it: that of the leaf, or one after it.
static indim_status add_unique(name_set *set, indim_str base, int64_t leaf, indim_str *out) {
  *out = base;
  for (int64_t number = leaf; !add_name(set, *out); number++) {
    void *memory = NULL;
    INDIM_TRY(indim_arena_alloc(set->arena, base.size + 24, &memory));
    snprintf(memory, base.size + 24, "%.*s_%lld", (int)base.size, base.data, (long long)number);
    *out = indim_str_of(memory);
  }
  return INDIM_OK;
}

// "state" and {0,1} are state_0_1; a keyword alone gets a '_'.
static indim_status append_path(indim_arena *arena, indim_str base, const indim_shape_walk *walk, indim_str *out) {
  bool is_keyword = walk->length == 0 && is_taken_by_c(base);
  size_t room = base.size + 22 * (size_t)walk->length + 2;
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(arena, room, &memory));
  char *text = memory;
  memcpy(text, base.data, base.size);
  size_t size = base.size;
  if (is_keyword) {
    text[size++] = '_';
  }
  for (int32_t i = 0; i < walk->length; i++) {
    size += (size_t)snprintf(text + size, room - size, "_%lld", (long long)walk->path[i]);
  }
  *out = (indim_str){text, size};
  return INDIM_OK;
}

// How much of |array| counts along a dynamic dimension: x_size_0.
static indim_status add_size(name_set *set, indim_str array, int32_t dim, int64_t leaf, indim_str *out) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(set->arena, array.size + 24, &memory));
  snprintf(memory, array.size + 24, "%.*s_size_%d", (int)array.size, array.data, (int)dim);
  return add_unique(set, indim_str_of(memory), leaf, out);
}

static indim_status name_shape(name_set *set, const indim_shape *shape, indim_str base, indim_str *names,
                               int64_t *count) {
  indim_shape_walk walk;
  indim_shape_walk_init(&walk, shape);
  while (indim_leaf_next(&walk)) {
    indim_str name;
    INDIM_TRY(append_path(set->arena, base, &walk, &name));
    INDIM_TRY(add_unique(set, name, *count, &names[*count]));
    (*count)++;
    for (int32_t d = 0; d < walk.shape->rank; d++) {
      if (indim_shape_is_dynamic_dim(walk.shape, d)) {
        INDIM_TRY(add_size(set, name, d, *count, &names[*count]));
        (*count)++;
      }
    }
  }
  return INDIM_OK;
}

indim_status indim_object_name_leaves(indim_arena *arena, const indim_executable *e, indim_object_names *out) {
  name_set set;
  int64_t count = 0;
  INDIM_TRY(make_set(arena, (size_t)(e->argument_count + e->result_count) + 1, &set));
  INDIM_TRY(indim_arena_array(arena, (size_t)e->argument_count, sizeof *out->arguments, (void **)&out->arguments));
  INDIM_TRY(indim_arena_array(arena, (size_t)e->result_count, sizeof *out->results, (void **)&out->results));
  (void)add_name(&set, indim_str_of("scratch"));  // NAME_SCRATCH_BYTES is the program's
  for (int64_t p = 0; p < e->parameter_count; p++) {
    indim_str base;
    INDIM_TRY(indim_object_identifier(arena, e->parameter_names[p], &base));
    INDIM_TRY(name_shape(&set, e->parameter_shapes[p], base, out->arguments, &count));
  }
  count = 0;
  return name_shape(&set, e->result_shape, indim_str_of("result"), out->results, &count);
}
