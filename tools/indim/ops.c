// indim ops: the table of operations.
#include <string.h>

#include <cjson/cJSON.h>

#include "indim/graph.h"
#include "indim/stablehlo.h"
#include "tool.h"

const char *const help_ops =
    "Usage: indim ops [--stablehlo] [--json | --markdown] [NAME...]\n"
    "\n"
    "Lists the operations of the language: operands, whether `indim run` evaluates them, and what they mean.\n"
    "\n"
    "Options:\n"
    "  --json       print a JSON array\n"
    "  --markdown   print the table of docs/ops.md\n"
    "  --stablehlo  list the operations of StableHLO and CHLO instead, and what they become\n"
    "               (--markdown: the table of docs/stablehlo.md)\n"
    "\n"
    "Example:\n"
    "  $ indim ops add dot\n"
    "  $ indim ops --stablehlo stablehlo.dot_general\n";

enum { OPTION_JSON = 1, OPTION_MARKDOWN, OPTION_STABLEHLO };

static const option_spec specs[] = {{"json", 0, OPTION_JSON, false},
                                    {"markdown", 0, OPTION_MARKDOWN, false},
                                    {"stablehlo", 0, OPTION_STABLEHLO, false},
                                    {0}};

static bool is_wanted(const char *name, char **names, int count) {
  for (int i = 0; i < count; i++) {
    if (strcmp(name, names[i]) == 0) {
      return true;
    }
  }
  return count == 0;
}

static void print_operands(const indim_op_info *info, char *out, size_t capacity) {
  if (info->most < 0) {
    snprintf(out, capacity, "%d+", (int)info->least);
  } else {
    snprintf(out, capacity, "%d", (int)info->least);
  }
}

static bool is_stablehlo(const char *name) {
  indim_stablehlo_op op;
  for (int32_t i = 0; indim_stablehlo_op_get(i, &op); i++) {
    if (strcmp(op.name, name) == 0) {
      return true;
    }
  }
  return false;
}

static int list_stablehlo(const command *self, int form, char **names, int count) {
  indim_stablehlo_op op;
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < count; i++) {
    if (!is_stablehlo(names[i])) {
      cJSON_Delete(list);
      spelling nearest = spelling_of(names[i], strlen(names[i]));
      char best[sizeof op.name] = "";
      for (int32_t k = 0; indim_stablehlo_op_get(k, &op); k++) {
        spelling_offer(&nearest, op.name);
        if (nearest.best == op.name) {  // the next one overwrites it
          nearest.best = strcpy(best, op.name);
        }
      }
      return usage_error(self, "StableHLO has no operation '%s'%s", names[i], did_you_mean(&nearest, ""));
    }
  }
  if (form == OPTION_MARKDOWN) {
    printf("| op | read | runs | becomes |\n|---|---|---|---|\n");
  } else if (form == 0) {
    printf("%-36s %-5s %-5s %s\n", "op", "read", "runs", "becomes");
  }
  for (int32_t i = 0; indim_stablehlo_op_get(i, &op); i++) {
    if (!is_wanted(op.name, names, count)) {
      continue;
    }
    const char *is_read = op.is_read ? "yes" : "no", *is_run = op.is_run ? "yes" : "no";
    if (form == OPTION_MARKDOWN) {
      printf("| `%s` | %s | %s | %s |\n", op.name, is_read, is_run, op.becomes);
    } else if (form == 0) {
      printf("%-36s %-5s %-5s %s\n", op.name, is_read, is_run, op.becomes);
    } else {
      cJSON *row = cJSON_CreateObject();
      cJSON_AddStringToObject(row, "op", op.name);
      cJSON_AddBoolToObject(row, "read", op.is_read);
      cJSON_AddBoolToObject(row, "runs", op.is_run);
      cJSON_AddStringToObject(row, "becomes", op.becomes);
      cJSON_AddItemToArray(list, row);
    }
  }
  if (form == OPTION_JSON) {
    json_print(list, true);
  } else {
    cJSON_Delete(list);
  }
  return EXIT_OK;
}

// The op's own attributes; those that any op takes are left out.
static cJSON *list_attributes(indim_op op) {
  cJSON *list = cJSON_CreateArray();
  indim_op_attr_info info;
  for (int32_t i = 0; indim_op_attr_get(op, i, &info) && !info.of_any_op; i++) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", info.text);
    cJSON_AddStringToObject(row, "form", info.form);
    cJSON_AddBoolToObject(row, "required", info.required);
    cJSON_AddStringToObject(row, "meaning", info.meaning);
    cJSON *words = cJSON_AddArrayToObject(row, "words");
    const char *word = NULL;
    for (int32_t w = 0; (word = indim_op_attr_word(op, i, w)) != NULL; w++) {
      cJSON_AddItemToArray(words, cJSON_CreateString(word));
    }
    cJSON_AddItemToArray(list, row);
  }
  return list;
}

int command_ops(indim_ctx *cx, const command *self, int argc, char **argv) {
  (void)cx;
  int form = 0;
  bool of_stablehlo = false;
  option_walk walk;
  options_start(&walk, self, specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    of_stablehlo = of_stablehlo || option == OPTION_STABLEHLO;
    form = option == OPTION_STABLEHLO ? form : option;
  }
  if (of_stablehlo) {
    return list_stablehlo(self, form, walk.operands, walk.operand_count);
  }
  for (int i = 0; i < walk.operand_count; i++) {
    indim_op op;
    if (!indim_op_parse(indim_str_of(walk.operands[i]), &op)) {
      spelling nearest = spelling_of(walk.operands[i], strlen(walk.operands[i]));
      for (int k = 0; k < INDIM_OP_COUNT; k++) {
        spelling_offer(&nearest, indim_op_get((indim_op)k)->text);
      }
      return usage_error(self, "there is no operation '%s'%s", walk.operands[i], did_you_mean(&nearest, ""));
    }
  }
  cJSON *list = cJSON_CreateArray();
  if (form == OPTION_MARKDOWN) {
    printf("| op | operands | evaluated | meaning |\n|---|---|---|---|\n");
  } else if (form == 0) {
    printf("%-26s %-9s %-6s %s\n", "op", "operands", "runs", "meaning");
  }
  for (int op = 0; op < INDIM_OP_COUNT; op++) {
    const indim_op_info *info = indim_op_get((indim_op)op);
    char operands[16];
    print_operands(info, operands, sizeof operands);
    if (!is_wanted(info->text, walk.operands, walk.operand_count)) {
      continue;
    }
    if (form == OPTION_MARKDOWN) {
      // A bar would end the cell.
      printf("| `%s` | %s | %s | ", info->text, operands, info->evaluated ? "yes" : "no");
      for (const char *c = info->meaning; *c != '\0'; c++) {
        printf(*c == '|' ? "\\%c" : "%c", *c);
      }
      printf(" |\n");
    } else if (form == 0) {
      printf("%-26s %-9s %-6s %s\n", info->text, operands, info->evaluated ? "yes" : "no", info->meaning);
    } else {
      cJSON *row = cJSON_CreateObject();
      cJSON_AddStringToObject(row, "op", info->text);
      cJSON_AddStringToObject(row, "operands", operands);
      cJSON_AddBoolToObject(row, "evaluated", info->evaluated);
      cJSON_AddStringToObject(row, "meaning", info->meaning);
      cJSON_AddBoolToObject(row, "shape_inferred", info->shape_inferred);
      cJSON_AddItemToObject(row, "attributes", list_attributes((indim_op)op));
      cJSON_AddItemToArray(list, row);
    }
  }
  if (form == OPTION_JSON) {
    json_print(list, true);
  } else {
    cJSON_Delete(list);
  }
  return EXIT_OK;
}
