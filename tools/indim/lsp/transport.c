// Messages in and out: "Content-Length: N", an empty line, N bytes of JSON. What frames no message is stepped over, up
// to the next header; what is too large is read past, never kept.
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lsp.h"

enum { CHUNK = 1 << 16, MAX_LINE = 256, MAX_MESSAGE = 128 << 20, MAX_QUEUE = 256 };

typedef struct queued {
  cJSON *message;  // NULL: no JSON
  bool is_cancelled;
} queued;

struct input {
  int file;
  bool is_ended;
  char chunk[CHUNK];
  size_t chunk_at;
  size_t chunk_size;
  // The header so far.
  char line[MAX_LINE];
  size_t line_size;
  uint64_t length;
  bool has_length;
  // The body so far; |length| bytes are to come.
  bool in_body;
  char *body;  // NULL: too large, stepped over
  uint64_t body_size;
  queued queue[MAX_QUEUE];
  size_t queue_first;
  size_t queue_count;
};

struct input *input_open(int file) {
  struct input *in = must_alloc(sizeof *in);
  *in = (struct input){.file = file};
  return in;
}

void input_close(struct input *in) {
  for (; in->queue_count > 0; in->queue_count--) {
    cJSON_Delete(in->queue[in->queue_first].message);
    in->queue_first = (in->queue_first + 1) % MAX_QUEUE;
  }
  free(in->body);
  free(in);
}

static bool same_id(const cJSON *a, const cJSON *b) {
  bool strings = cJSON_IsString(a) && cJSON_IsString(b) && strcmp(a->valuestring, b->valuestring) == 0;
  bool numbers = cJSON_IsNumber(a) && cJSON_IsNumber(b) && a->valuedouble == b->valuedouble;
  return strings || numbers;
}

static void enqueue(struct input *in, cJSON *message) {
  const cJSON *method = cJSON_GetObjectItemCaseSensitive(message, "method");
  if (cJSON_IsString(method) && strcmp(method->valuestring, "$/cancelRequest") == 0) {
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(message, "params");
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(params, "id");
    for (size_t i = 0; i < in->queue_count; i++) {
      queued *q = &in->queue[(in->queue_first + i) % MAX_QUEUE];
      q->is_cancelled = q->is_cancelled || same_id(cJSON_GetObjectItemCaseSensitive(q->message, "id"), id);
    }
    cJSON_Delete(message);
    return;
  }
  in->queue[(in->queue_first + in->queue_count++) % MAX_QUEUE] = (queued){message, false};
}

static void end_body(struct input *in) {
  cJSON *message = NULL;
  if (in->body != NULL) {
    const char *end = NULL;
    in->body[in->body_size] = '\0';
    message = cJSON_ParseWithLengthOpts(in->body, in->body_size + 1, &end, true);
  }
  free(in->body);
  in->body = NULL;
  in->body_size = 0;
  in->in_body = false;
  enqueue(in, message);
}

static bool is_length(const char *line, uint64_t *out_length) {
  static const char name[] = "content-length:";
  size_t i = 0;
  for (; i + 1 < sizeof name; i++) {
    char c = line[i] >= 'A' && line[i] <= 'Z' ? (char)(line[i] - 'A' + 'a') : line[i];
    if (c != name[i]) {
      return false;
    }
  }
  while (line[i] == ' ' || line[i] == '\t') {
    i++;
  }
  uint64_t value = 0;
  size_t first = i;
  for (; line[i] >= '0' && line[i] <= '9'; i++) {
    value = value > (UINT64_MAX - 9) / 10 ? UINT64_MAX : value * 10 + (uint64_t)(line[i] - '0');
  }
  while (line[i] == ' ' || line[i] == '\t') {
    i++;
  }
  *out_length = value;
  return i > first && line[i] == '\0';
}

static void end_line(struct input *in) {
  in->line[in->line_size] = '\0';
  if (in->line_size > 0) {
    in->has_length = is_length(in->line, &in->length) || in->has_length;
    in->line_size = 0;
    return;
  }
  if (in->has_length) {
    in->has_length = false;
    in->in_body = true;
    in->body = in->length <= MAX_MESSAGE ? malloc((size_t)in->length + 1) : NULL;
    if (in->length == 0) {
      end_body(in);
    }
  }
}

static void take_header_byte(struct input *in, char c) {
  if (c == '\n') {
    end_line(in);
  } else if (c != '\r' && in->line_size + 1 < MAX_LINE) {
    in->line[in->line_size++] = c;
  }
}

// Takes what is in the chunk, until the queue is full.
static void take_chunk(struct input *in) {
  while (in->chunk_at < in->chunk_size && in->queue_count < MAX_QUEUE) {
    if (!in->in_body) {
      take_header_byte(in, in->chunk[in->chunk_at++]);
      continue;
    }
    uint64_t left = in->length - in->body_size;
    size_t there = in->chunk_size - in->chunk_at;
    size_t size = left < there ? (size_t)left : there;
    if (in->body != NULL) {
      memcpy(in->body + in->body_size, in->chunk + in->chunk_at, size);
    }
    in->body_size += size;
    in->chunk_at += size;
    if (in->body_size == in->length) {
      end_body(in);
    }
  }
}

static bool is_readable(const struct input *in, int timeout) {
  struct pollfd file = {.fd = in->file, .events = POLLIN};
  return !in->is_ended && poll(&file, 1, timeout) > 0;
}

// Reads once; blocks if nothing is there.
static void fill(struct input *in) {
  take_chunk(in);
  if (in->chunk_at < in->chunk_size || in->is_ended) {
    return;
  }
  ssize_t size = read(in->file, in->chunk, CHUNK);
  if (size < 0 && errno == EINTR) {
    return;
  }
  in->is_ended = size <= 0;
  in->chunk_at = 0;
  in->chunk_size = size > 0 ? (size_t)size : 0;
  take_chunk(in);
}

// What has come without waiting, as far as the queue has room.
static void drain(struct input *in) {
  take_chunk(in);
  while (in->queue_count < MAX_QUEUE && is_readable(in, 0)) {
    fill(in);
  }
}

bool input_is_pending(struct input *in) { return in->queue_count > 0 || is_readable(in, 0); }

bool input_next(struct input *in, cJSON **out_message) {
  drain(in);
  while (in->queue_count == 0 && !in->is_ended) {
    fill(in);
  }
  *out_message = NULL;
  if (in->queue_count == 0) {
    return false;
  }
  queued *q = &in->queue[in->queue_first];
  *out_message = q->message;
  if (q->is_cancelled) {
    cJSON_AddTrueToObject(q->message, "is_cancelled");
  }
  in->queue_first = (in->queue_first + 1) % MAX_QUEUE;
  in->queue_count--;
  return true;
}

void send_message(cJSON *message) {
  char *text = json_text(message, false);
  printf("Content-Length: %zu\r\n\r\n%s", strlen(text), text);
  fflush(stdout);
  free(text);
}
