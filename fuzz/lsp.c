// The language server's input: any bytes where messages should be (the first byte is odd), or any bytes as a program that is
// opened, asked about at a place that the bytes choose, and changed. It answers, whatever comes.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lsp/lsp.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  return freopen("/dev/null", "w", stdout) == NULL;
}

static const char *const methods[] = {"hover",         "definition", "references", "documentHighlight",
                                      "prepareRename", "rename",     "completion", "documentSymbol",
                                      "foldingRange",  "formatting", "inlayHint",  "semanticTokens/full"};

static void send_text(FILE *file, char *text) {
  fprintf(file, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
  free(text);
}

static void send(FILE *file, const char *method, const char *id, cJSON *params) {
  cJSON *message = cJSON_CreateObject();
  cJSON_AddStringToObject(message, "method", method);
  if (id != NULL) {
    cJSON_AddStringToObject(message, "id", id);
  }
  cJSON_AddItemToObject(message, "params", params);
  send_text(file, json_text(message, false));
}

static cJSON *about_text(const char *text, int line, int character) {
  cJSON *params = cJSON_CreateObject();
  cJSON *document = cJSON_AddObjectToObject(params, "textDocument");
  cJSON_AddStringToObject(document, "uri", "a");
  cJSON_AddStringToObject(document, "text", text);
  cJSON_AddStringToObject(params, "newName", "n");
  cJSON *position = cJSON_AddObjectToObject(params, "position");
  cJSON_AddNumberToObject(position, "line", line);
  cJSON_AddNumberToObject(position, "character", character);
  cJSON *range = cJSON_AddObjectToObject(params, "range");
  cJSON_AddItemToObject(range, "start", cJSON_Duplicate(position, true));
  cJSON *end = cJSON_AddObjectToObject(range, "end");
  cJSON_AddNumberToObject(end, "line", line + 3);
  cJSON_AddNumberToObject(end, "character", 0);
  cJSON *change = cJSON_CreateObject();
  cJSON_AddItemToObject(change, "range", cJSON_Duplicate(range, true));
  cJSON_AddStringToObject(change, "text", "x = ");
  cJSON_AddItemToArray(cJSON_AddArrayToObject(params, "contentChanges"), change);
  return params;
}

static void send_program(FILE *file, const uint8_t *data, size_t size) {
  if (size < 2) {
    return;
  }
  char *text = copy_text((const char *)data + 2, size - 2);
  send(file, "textDocument/didOpen", NULL, about_text(text, 0, 0));
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
      char method[64];
      snprintf(method, sizeof method, "textDocument/%s", methods[i]);
      send(file, method, method, about_text("", data[0] / 8, data[1]));
    }
    send(file, "textDocument/didChange", NULL, about_text("", data[0] / 16, data[1] / 2));
  }
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) {
    return 0;
  }
  FILE *file = tmpfile();
  indim_ctx *cx = NULL;
  if (file == NULL || indim_ctx_create(NULL, &cx) != INDIM_OK) {
    abort();
  }
  send(file, "initialize", "i", cJSON_CreateObject());
  if (data[0] % 2 != 0) {
    fwrite(data + 1, 1, size - 1, file);
  } else {
    send_program(file, data + 1, size - 1);
  }
  fflush(file);
  lseek(fileno(file), 0, SEEK_SET);
  serve(cx, fileno(file), true);
  fclose(file);
  indim_ctx_destroy(cx);
  return 0;
}
