// indim ops: the table of operations.
#include <string.h>

#include <cjson/cJSON.h>

#include "indim/graph.h"
#include "tool.h"

const char *const help_ops =
    "Usage: indim ops [--json | --markdown] [NAME...]\n"
    "\n"
    "Lists the operations of the language: operands, whether `indim run` evaluates them, and what they mean.\n"
    "\n"
    "Options:\n"
    "  --json      print a JSON array\n"
    "  --markdown  print the table of docs/ops.md\n"
    "\n"
    "Example:\n"
    "  $ indim ops add dot\n";

enum { OPTION_JSON = 1, OPTION_MARKDOWN };

static const option_spec specs[] = {{"json", 0, OPTION_JSON, false}, {"markdown", 0, OPTION_MARKDOWN, false}, {0}};

static bool is_wanted(const indim_op_info *info, char **names, int count) {
  for (int i = 0; i < count; i++) {
    if (strcmp(info->text, names[i]) == 0) {
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

int command_ops(indim_ctx *cx, const command *self, int argc, char **argv) {
  (void)cx;
  int form = 0;
  option_walk walk;
  options_start(&walk, self, specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    form = option;
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
    if (!is_wanted(info, walk.operands, walk.operand_count)) {
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
