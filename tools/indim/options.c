// Command lines: options before, after and between operands, "--name=value" and "--name value", "-o FILE" and "-oFILE".
#include <stdlib.h>
#include <string.h>

#include "tool.h"

void options_start(option_walk *walk, const command *self, const option_spec *specs, int argc, char **argv) {
  *walk = (option_walk){
      .self = self, .specs = specs, .argc = argc, .argv = argv, .operands = argv, .exit_code = EXIT_USAGE};
}

// Spelling ------------------------------------------------------------------------------------------------------------

enum { MOST_WRONG = 2, LONGEST_WORD = 40 };

spelling spelling_of(const char *word, size_t size) { return (spelling){word, size, NULL, MOST_WRONG + 1}; }

// Letters to be put in, left out or changed (Levenshtein).
static int letters_apart(const char *a, size_t a_size, const char *b, size_t b_size) {
  int row[LONGEST_WORD + 1];
  for (size_t j = 0; j <= b_size; j++) {
    row[j] = (int)j;
  }
  for (size_t i = 0; i < a_size; i++) {
    int diagonal = row[0];
    row[0] = (int)i + 1;
    for (size_t j = 0; j < b_size; j++) {
      int changed = diagonal + (a[i] != b[j]);
      int moved = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
      diagonal = row[j + 1];
      row[j + 1] = changed < moved ? changed : moved;
    }
  }
  return row[b_size];
}

void spelling_offer(spelling *s, const char *candidate) {
  size_t size = strlen(candidate);
  if (s->size < 2 || s->size > LONGEST_WORD || size > LONGEST_WORD) {
    return;
  }
  bool begins = s->size < size && memcmp(candidate, s->word, s->size) == 0;
  int distance = letters_apart(s->word, s->size, candidate, size);
  distance = begins && distance > MOST_WRONG ? MOST_WRONG : distance;
  if (distance < s->distance) {
    s->distance = distance;
    s->best = candidate;
  }
}

const char *did_you_mean(const spelling *s, const char *prefix) {
  static char text[LONGEST_WORD + 32];
  snprintf(text, sizeof text, "; did you mean %s%s?", prefix, s->best == NULL ? "" : s->best);
  return s->best == NULL ? "" : text;
}

// Walking -------------------------------------------------------------------------------------------------------------

static int need_value(option_walk *walk, const option_spec *spec, const char *attached) {
  walk->value = attached;
  if (!spec->takes_value && attached != NULL) {
    usage_error(walk->self, "option --%s takes no value", spec->long_name);
    return -1;
  }
  if (spec->takes_value && attached == NULL) {
    if (walk->index >= walk->argc) {
      usage_error(walk->self, "option --%s needs a value", spec->long_name);
      return -1;
    }
    walk->value = walk->argv[walk->index++];
  }
  return spec->code;
}

static int long_option(option_walk *walk, const char *text) {
  const char *equals = strchr(text, '=');
  size_t size = equals == NULL ? strlen(text) : (size_t)(equals - text);
  for (const option_spec *spec = walk->specs; spec->long_name != NULL; spec++) {
    if (strlen(spec->long_name) == size && memcmp(spec->long_name, text, size) == 0) {
      return need_value(walk, spec, equals == NULL ? NULL : equals + 1);
    }
  }
  spelling nearest = spelling_of(text, size);
  for (const option_spec *spec = walk->specs; spec->long_name != NULL; spec++) {
    spelling_offer(&nearest, spec->long_name);
  }
  usage_error(walk->self, "there is no option --%.*s%s", (int)size, text, did_you_mean(&nearest, "--"));
  return -1;
}

static int short_option(option_walk *walk) {
  char letter = *walk->cluster++;
  const char *rest = *walk->cluster == '\0' ? NULL : walk->cluster;
  for (const option_spec *spec = walk->specs; spec->long_name != NULL; spec++) {
    if (spec->letter == letter) {
      if (spec->takes_value || rest == NULL) {
        walk->cluster = NULL;
      }
      return need_value(walk, spec, spec->takes_value ? rest : NULL);
    }
  }
  usage_error(walk->self, "there is no option -%c", letter);
  return -1;
}

// "-3", "-inf", "-nan", and "->" between two shapes: no options.
static bool is_operand(const char *text) {
  return strcmp(text, "->") == 0 || (text[1] >= '0' && text[1] <= '9') || text[1] == '.' || strcmp(text, "-inf") == 0 ||
         strcmp(text, "-nan") == 0;
}

// --help and -h belong to every command: the help is printed, and the walk ends with success.
static int show_help(option_walk *walk) {
  fputs(walk->self->help, stdout);
  walk->exit_code = EXIT_OK;
  return -1;
}

int options_next(option_walk *walk) {
  if (walk->cluster != NULL) {
    return short_option(walk);
  }
  while (walk->index < walk->argc) {
    char *text = walk->argv[walk->index++];
    if (strcmp(text, "--") == 0) {
      while (walk->index < walk->argc) {
        walk->operands[walk->operand_count++] = walk->argv[walk->index++];
      }
      return 0;
    }
    if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
      return show_help(walk);
    }
    if (text[0] == '-' && text[1] == '-') {
      return long_option(walk, text + 2);
    }
    if (text[0] == '-' && text[1] != '\0' && !is_operand(text)) {
      walk->cluster = text + 1;
      return short_option(walk);
    }
    walk->operands[walk->operand_count++] = text;
  }
  return 0;
}

static bool read_count(const char *text, uint64_t *out_count) {
  static const char units[] = "KMGT";
  uint64_t value = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; at++) {
    uint64_t digit = (uint64_t)(*at - '0');
    if (value > (UINT64_MAX - digit) / 10) {
      return false;
    }
    value = value * 10 + digit;
  }
  const char *unit = *at == '\0' ? NULL : strchr(units, *at >= 'a' ? *at - 'a' + 'A' : *at);
  if (unit != NULL) {
    int shift = 10 * (int)(unit - units + 1);
    if (value > UINT64_MAX >> shift) {
      return false;
    }
    value <<= shift;
    at++;
  }
  *out_count = value;
  return *at == '\0' && value > 0;
}

int parse_count(const command *self, const char *option, const char *text, uint64_t *out_count) {
  if (!read_count(text, out_count)) {
    return usage_error(self, "--%s: '%s' is no positive number like 1000 or 4G", option, text);
  }
  return EXIT_OK;
}

bool next_name(const char **list, indim_str *out_name) {
  if (*list == NULL) {
    return false;
  }
  size_t size = strcspn(*list, ",");
  *out_name = (indim_str){*list, size};
  *list = (*list)[size] == ',' ? *list + size + 1 : NULL;
  return true;
}

bool parse_dims(const char *text, int64_t *out_dims, int32_t capacity, int32_t *out_count) {
  size_t size = strlen(text);
  bool braces = size >= 2 && text[0] == '{' && text[size - 1] == '}';
  const char *end = text + size - braces;
  const char *at = text + braces;
  *out_count = 0;
  while (at < end) {
    char *after = NULL;
    bool number = (*at >= '0' && *at <= '9') || (*at == '-' && at[1] >= '0' && at[1] <= '9');
    if (!number || *out_count == capacity) {
      return false;
    }
    out_dims[(*out_count)++] = strtoll(at, &after, 10);
    at = after;
    if (at < end) {
      if (*at != ',' || at + 1 == end) {
        return false;
      }
      at++;
    }
  }
  return true;
}
