// A program of tests/hlo with what its comments say (tests/hlo/README.md says how they read).
#ifndef INDIM_HLO_FILE_H
#define INDIM_HLO_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 32, MOST_CASES = 64 };

typedef struct hlo_case {
  char *inputs[MOST_INPUTS];
  int input_count;
  char *output;     // or
  char *run_error;  // one of the two
} hlo_case;

typedef struct hlo_file {
  const char *path;
  char *text;
  hlo_case cases[MOST_CASES];
  int case_count;
  char *error;  // the program must be refused
  long ulps;
  double compiled_abs;  // what the compiled program may be off besides
  bool has_dump;        // which loop_dumps.c looks at: there need be no case
} hlo_file;

// NULL when it cannot be read. Allocated.
static inline char *hlo_read(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = file == NULL ? NULL : calloc(1, 1 << 20);
  if (text != NULL && fread(text, 1, (1 << 20) - 1, file) == 0) {
    free(text);
    text = NULL;
  }
  if (file != NULL) {
    fclose(file);
  }
  return text;
}

// The rest of a comment line behind |key| with the lines that continue it; NULL if the line is another. Allocated.
static inline char *hlo_value(const char *line, const char *key) {
  size_t size = strlen(key);
  if (strncmp(line, key, size) != 0) {
    return NULL;
  }
  char *value = calloc(1, strlen(line) + 1);
  line += size;
  for (;;) {
    size_t length = strcspn(line, "\n");
    strncat(value, line, length);
    line += length + (line[length] == '\n');
    if (strncmp(line, "//      ", 8) != 0) {
      return value;
    }
    line += 7;
  }
}

static inline void hlo_line_read(hlo_file *file, const char *line) {
  hlo_case *now = &file->cases[file->case_count];
  char *value = NULL;
  if ((value = hlo_value(line, "// in: ")) != NULL && now->input_count < MOST_INPUTS) {
    now->inputs[now->input_count++] = value;
  } else if (value == NULL && (value = hlo_value(line, "// out: ")) != NULL) {
    now->output = value;
    file->case_count++;
  } else if (value == NULL && (value = hlo_value(line, "// run-error: ")) != NULL) {
    now->run_error = value;
    file->case_count++;
  } else if (value == NULL && (value = hlo_value(line, "// error: ")) != NULL) {
    file->error = value;
  } else if (value == NULL && (strncmp(line, "// dump ", 8) == 0 || strncmp(line, "// explain for ", 15) == 0)) {
    file->has_dump = true;
  } else if (value == NULL && (value = hlo_value(line, "// within: ")) != NULL) {
    char *compiled = strstr(value, "compiled ");
    file->ulps = strtol(value, NULL, 10);
    file->compiled_abs = compiled == NULL ? 0 : strtod(compiled + strlen("compiled "), NULL);
    free(value);
  } else {
    free(value);
  }
}

static inline void hlo_cases_read(hlo_file *file) {
  for (const char *line = file->text; *line != '\0'; line += line[strcspn(line, "\n")] == '\n') {
    if (file->case_count < MOST_CASES - 1) {
      hlo_line_read(file, line);
    }
    line += strcspn(line, "\n");
  }
}

static inline void hlo_cases_free(hlo_file *file) {
  for (int c = 0; c < MOST_CASES; c++) {
    for (int i = 0; i < MOST_INPUTS; i++) {
      free(file->cases[c].inputs[i]);
    }
    free(file->cases[c].output);
    free(file->cases[c].run_error);
  }
  free(file->error);
  free(file->text);
}

// How far a float of the compiled program may be off: functions are within 2 ulps, all else is exact.
static inline long hlo_ulps(const hlo_file *file) {
  static const char *const functions[] = {" exponential(", " exponential-minus-one(",
                                          " log(",         " log-plus-one(",
                                          " logistic(",    " sine(",
                                          " cosine(",      " tan(",
                                          " sinh(",        " cosh(",
                                          " tanh(",        " asin(",
                                          " acos(",        " asinh(",
                                          " acosh(",       " atanh(",
                                          " cbrt(",        " erf(",
                                          " power(",       " atan2(",
                                          " rsqrt("};
  enum { WITHIN = 2 };
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    if (strstr(file->text, functions[i]) != NULL) {
      return file->ulps > WITHIN ? file->ulps : WITHIN;
    }
  }
  return file->ulps;
}

#endif  // INDIM_HLO_FILE_H
