// indim lsp: a language server for HLO text. Messages come in one after another; what is wrong with a text is told when
// none waits, so that only the newest text is read.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lsp.h"

const char *const help_lsp =
    "Usage: indim lsp [--stdio] [--no-lint]\n"
    "\n"
    "A language server for HLO text: editors start it and speak the Language Server Protocol with it over standard\n"
    "input and output. It tells what `indim check` and `indim lint` do while you type, explains what is under the\n"
    "cursor (ops, attributes, shapes and layouts), shows the shapes that are left out, goes to definitions and\n"
    "references, renames, completes, formats as `indim print` does, lists symbols and colours names.\n"
    "docs/editors.md has what to write into the settings of VS Code and Neovim.\n"
    "\n"
    "Options:\n"
    "  --stdio    what it does anyway; some editors ask for it\n"
    "  --no-lint  tell mistakes alone, not what `indim lint` finds\n"
    "\n"
    "Exit code 0 after the requests shutdown and exit, 1 when the input ends without them.\n"
    "\n"
    "Example:\n"
    "  $ nvim --cmd 'autocmd FileType hlo lua vim.lsp.start({name = \"indim\", cmd = {\"indim\", \"lsp\"}})' "
    "program.hlo\n";

enum { OPTION_STDIO = 1, OPTION_NO_LINT };
static const option_spec specs[] = {{"stdio", 0, OPTION_STDIO, false}, {"no-lint", 0, OPTION_NO_LINT, false}, {0}};

// Errors of JSON-RPC and of the protocol.
enum {
  PARSE_ERROR = -32700,
  INVALID_REQUEST = -32600,
  METHOD_NOT_FOUND = -32601,
  INVALID_PARAMS = -32602,
  NOT_INITIALIZED = -32002,
  REQUEST_FAILED = -32803,
  REQUEST_CANCELLED = -32800
};

// The most memory that programs in editors may take together.
static const uint64_t MEMORY_LIMIT = (uint64_t)4 << 30;

static const cJSON *get(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *get_text(const cJSON *object, const char *name) {
  const cJSON *value = get(object, name);
  return cJSON_IsString(value) ? value->valuestring : NULL;
}

static bool is_true(const cJSON *value) { return cJSON_IsTrue(value); }

// Sending ------------------------------------------------------------------------------------------------------------

static cJSON *begin_message(void) {
  cJSON *message = cJSON_CreateObject();
  cJSON_AddStringToObject(message, "jsonrpc", "2.0");
  return message;
}

static void send_error(const cJSON *id, int code, const char *text) {
  cJSON *message = begin_message();
  cJSON_AddItemToObject(message, "id", id == NULL ? cJSON_CreateNull() : cJSON_Duplicate(id, false));
  cJSON *error = cJSON_AddObjectToObject(message, "error");
  cJSON_AddNumberToObject(error, "code", code);
  cJSON_AddStringToObject(error, "message", text);
  send_message(message);
}

static void send_result(const cJSON *id, cJSON *result) {
  cJSON *message = begin_message();
  cJSON_AddItemToObject(message, "id", cJSON_Duplicate(id, false));
  cJSON_AddItemToObject(message, "result", result == NULL ? cJSON_CreateNull() : result);
  send_message(message);
}

static void publish(const document *d, const char *uri, cJSON *problems) {
  cJSON *message = begin_message();
  cJSON_AddStringToObject(message, "method", "textDocument/publishDiagnostics");
  cJSON *params = cJSON_AddObjectToObject(message, "params");
  cJSON_AddStringToObject(params, "uri", uri);
  if (d != NULL) {
    cJSON_AddNumberToObject(params, "version", d->version);
  }
  cJSON_AddItemToObject(params, "diagnostics", problems);
  send_message(message);
}

// Life ---------------------------------------------------------------------------------------------------------------

static position_encoding choose_encoding(const cJSON *capabilities) {
  const cJSON *offered = get(get(capabilities, "general"), "positionEncodings");
  const cJSON *each = NULL;
  cJSON_ArrayForEach(each, offered) {
    if (cJSON_IsString(each) && strcmp(each->valuestring, "utf-8") == 0) {
      return POSITION_UTF8;
    }
  }
  return POSITION_UTF16;
}

static cJSON *capabilities_of(const server *s) {
  cJSON *c = cJSON_CreateObject();
  cJSON_AddStringToObject(c, "positionEncoding", s->encoding == POSITION_UTF8 ? "utf-8" : "utf-16");
  cJSON *sync = cJSON_AddObjectToObject(c, "textDocumentSync");
  cJSON_AddTrueToObject(sync, "openClose");
  cJSON_AddNumberToObject(sync, "change", 2);
  static const char *const providers[] = {
      "hoverProvider",          "definitionProvider",   "referencesProvider",         "documentHighlightProvider",
      "documentSymbolProvider", "foldingRangeProvider", "documentFormattingProvider", "inlayHintProvider"};
  for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++) {
    cJSON_AddTrueToObject(c, providers[i]);
  }
  cJSON_AddTrueToObject(cJSON_AddObjectToObject(c, "renameProvider"), "prepareProvider");
  cJSON *completion = cJSON_AddObjectToObject(c, "completionProvider");
  static const char *const triggers[] = {"%", "(", ",", "=", " "};
  cJSON_AddItemToObject(completion, "triggerCharacters", cJSON_CreateStringArray(triggers, 5));
  cJSON *semantic = cJSON_AddObjectToObject(c, "semanticTokensProvider");
  cJSON_AddItemToObject(semantic, "legend", semantic_legend());
  cJSON_AddTrueToObject(semantic, "full");
  return c;
}

static cJSON *initialize(server *s, const cJSON *params) {
  const cJSON *capabilities = get(params, "capabilities");
  const cJSON *of_text = get(capabilities, "textDocument");
  s->encoding = choose_encoding(capabilities);
  s->has_hierarchy = is_true(get(get(of_text, "documentSymbol"), "hierarchicalDocumentSymbolSupport"));
  s->is_initialized = true;
  cJSON *result = cJSON_CreateObject();
  cJSON_AddItemToObject(result, "capabilities", capabilities_of(s));
  cJSON *info = cJSON_AddObjectToObject(result, "serverInfo");
  cJSON_AddStringToObject(info, "name", "indim");
  cJSON_AddStringToObject(info, "version", INDIM_VERSION);
  return result;
}

// Notifications ------------------------------------------------------------------------------------------------------

static void did_open(server *s, const cJSON *params) {
  const cJSON *item = get(params, "textDocument");
  const char *uri = get_text(item, "uri");
  const char *text = get_text(item, "text");
  const cJSON *version = get(item, "version");
  if (uri != NULL && text != NULL) {
    document_open(s, uri, text, cJSON_IsNumber(version) ? version->valuedouble : 0);
  }
}

static void did_change(server *s, document *d, const cJSON *params) {
  const cJSON *version = get(get(params, "textDocument"), "version");
  const cJSON *change = NULL;
  cJSON_ArrayForEach(change, get(params, "contentChanges")) {
    if (!document_change(s, d, change)) {
      fprintf(stderr, "indim lsp: a change of %s is malformed and was left out\n", d->uri);
    }
  }
  d->version = cJSON_IsNumber(version) ? version->valuedouble : d->version;
  d->is_dirty = true;
}

static void notify(server *s, const char *method, const cJSON *params) {
  const char *uri = get_text(get(params, "textDocument"), "uri");
  document *d = uri == NULL ? NULL : document_find(s, uri);
  if (strcmp(method, "exit") == 0) {
    s->is_done = true;
  } else if (!s->is_initialized || s->is_shut_down) {
    return;
  } else if (strcmp(method, "textDocument/didOpen") == 0) {
    did_open(s, params);
  } else if (strcmp(method, "textDocument/didChange") == 0 && d != NULL) {
    did_change(s, d, params);
  } else if (strcmp(method, "textDocument/didClose") == 0 && d != NULL) {
    publish(NULL, uri, cJSON_CreateArray());
    document_close(s, d);
  }
}

// Requests -----------------------------------------------------------------------------------------------------------

static const struct {
  const char *method;
  answer *give;
} answers[] = {
    {"textDocument/hover", answer_hover},
    {"textDocument/definition", answer_definition},
    {"textDocument/references", answer_references},
    {"textDocument/documentHighlight", answer_highlight},
    {"textDocument/prepareRename", answer_prepare_rename},
    {"textDocument/rename", answer_rename},
    {"textDocument/documentSymbol", answer_symbols},
    {"textDocument/foldingRange", answer_folding},
    {"textDocument/completion", answer_completion},
    {"textDocument/formatting", answer_formatting},
    {"textDocument/semanticTokens/full", answer_semantic_tokens},
    {"textDocument/inlayHint", answer_inlay_hints},
};

static answer *find_answer(const char *method) {
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    if (strcmp(answers[i].method, method) == 0) {
      return answers[i].give;
    }
  }
  return NULL;
}

static void answer_about_document(server *s, const cJSON *id, answer *give, const cJSON *params) {
  const char *uri = get_text(get(params, "textDocument"), "uri");
  document *d = uri == NULL ? NULL : document_find(s, uri);
  if (d == NULL) {
    send_error(id, INVALID_PARAMS, "the document is not open");
    return;
  }
  const char *error = NULL;
  cJSON *result = give(s, d, params, &error);
  indim_ctx_diagnostics_clear(s->cx);
  if (error != NULL) {
    cJSON_Delete(result);
    send_error(id, REQUEST_FAILED, error);
  } else {
    send_result(id, result);
  }
}

static void request(server *s, const cJSON *id, const char *method, const cJSON *message) {
  const cJSON *params = get(message, "params");
  answer *give = find_answer(method);
  if (get(message, "is_cancelled") != NULL) {
    send_error(id, REQUEST_CANCELLED, "cancelled");
  } else if (s->is_shut_down) {
    send_error(id, INVALID_REQUEST, "the server was shut down");
  } else if (strcmp(method, "initialize") == 0) {
    if (s->is_initialized) {
      send_error(id, INVALID_REQUEST, "initialize comes once");
    } else {
      send_result(id, initialize(s, params));
    }
  } else if (!s->is_initialized) {
    send_error(id, NOT_INITIALIZED, "initialize comes first");
  } else if (strcmp(method, "shutdown") == 0) {
    s->is_shut_down = true;
    send_result(id, NULL);
  } else if (give != NULL) {
    answer_about_document(s, id, give, params);
  } else {
    send_error(id, METHOD_NOT_FOUND, method);
  }
}

static void take(server *s, const cJSON *message) {
  const cJSON *id = get(message, "id");
  const char *method = get_text(message, "method");
  if (message == NULL) {
    send_error(NULL, PARSE_ERROR, "the message is no JSON, or larger than 128 MB");
  } else if (method != NULL && (cJSON_IsNumber(id) || cJSON_IsString(id))) {
    request(s, id, method, message);
  } else if (method != NULL && id == NULL) {
    notify(s, method, get(message, "params"));
  } else if (method != NULL || (get(message, "result") == NULL && get(message, "error") == NULL)) {
    send_error(NULL, INVALID_REQUEST, "a message has a method, and a request an id that is a number or a string");
  }
}

// Running ------------------------------------------------------------------------------------------------------------

static bool is_newer_waiting(void *user) {
  const server *s = user;
  return input_is_pending(s->input);
}

// One text that changed, if no message waits.
static bool diagnose_next(server *s) {
  for (size_t i = 0; i < s->document_count; i++) {
    document *d = s->documents[i];
    if (!d->is_dirty) {
      continue;
    }
    indim_ctx_set_interrupt(s->cx, is_newer_waiting, s);
    cJSON *problems = diagnose(s, d);
    indim_ctx_set_interrupt(s->cx, NULL, NULL);
    if (problems != NULL) {
      d->is_dirty = false;
      publish(d, d->uri, problems);
    }
    return true;
  }
  return false;
}

int serve(indim_ctx *cx, int file, bool with_lint) {
  server s = {.cx = cx, .input = input_open(file), .has_lint = with_lint};
  indim_ctx_set_memory_limit(cx, MEMORY_LIMIT);
  cJSON *message = NULL;
  while (!s.is_done) {
    while (!input_is_pending(s.input) && diagnose_next(&s)) {
    }
    if (!input_next(s.input, &message)) {
      break;
    }
    take(&s, message);
    cJSON_Delete(message);
  }
  while (s.document_count > 0) {
    document_close(&s, s.documents[0]);
  }
  free(s.documents);
  input_close(s.input);
  return s.is_done && s.is_shut_down ? EXIT_OK : EXIT_REFUSED;
}

int command_lsp(indim_ctx *cx, const command *self, int argc, char **argv) {
  bool with_lint = true;
  option_walk walk;
  options_start(&walk, self, specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    with_lint = with_lint && option != OPTION_NO_LINT;
  }
  if (walk.operand_count != 0) {
    return usage_error(self, "it takes no files: the editor sends them");
  }
  return serve(cx, STDIN_FILENO, with_lint);
}
