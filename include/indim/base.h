// What everything else in Indim stands on: status codes, the context (memory, limits, diagnostics), arenas and
// growing text buffers. Nothing here knows of arrays.
//
// One context serves one thread at a time; make one per thread. There is no global state. Nothing is ever printed
// by the library: a failing call returns a status other than INDIM_OK and leaves one or more diagnostics in the
// context.
#ifndef INDIM_BASE_H
#define INDIM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#if defined(INDIM_BUILDING)
#define INDIM_API __declspec(dllexport)
#else
#define INDIM_API
#endif
#elif defined(__GNUC__)
#define INDIM_API __attribute__((visibility("default")))
#else
#define INDIM_API
#endif

#if defined(__GNUC__)
#define INDIM_CHECKED __attribute__((warn_unused_result))
#define INDIM_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define INDIM_CHECKED
#define INDIM_PRINTF(format_index, first_argument)
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The outcome of a call. The list, with a sentence each, is status.def.
typedef enum indim_status {
#define INDIM_STATUS(name, text) INDIM_##name,
#include "indim/status.def"
} indim_status;

// Returns the enumerator's name ("INVALID") and its sentence; "UNKNOWN" for a number that is no status.
INDIM_API const char *indim_status_name(indim_status status);
INDIM_API const char *indim_status_text(indim_status status);

// A view of bytes that somebody else owns; not null-terminated.
typedef struct indim_str {
  const char *data;
  size_t size;
} indim_str;

// View of a null-terminated string; NULL gives the empty view.
INDIM_API indim_str indim_str_of(const char *text);
INDIM_API bool indim_str_equal(indim_str a, indim_str b);

// The host's memory, the only path to it. |resize| behaves as follows, with |self| passed through:
//   new_size == 0              frees |pointer| (which may be NULL) and returns NULL;
//   pointer == NULL            allocates |new_size| bytes, aligned for any type, or returns NULL;
//   otherwise                  resizes from |old_size| to |new_size|, or returns NULL and leaves |pointer| alone.
typedef struct indim_allocator {
  void *(*resize)(void *self, void *pointer, size_t old_size, size_t new_size);
  void *self;
} indim_allocator;

// The C library's realloc and free.
INDIM_API indim_allocator indim_allocator_default(void);

// One reported problem. All text is inside the struct, so that reporting never allocates; text that does not fit
// ends in "...". |line| and |column| count from 1 and are 0 when the problem has no place in a text.
typedef struct indim_diagnostic {
  indim_status status;
  int32_t line;
  int32_t column;
  char source[128];       // name of the text: a file name, or "" when there is none
  char message[896];      // what is wrong, with both sides
  char hint[320];         // the way out, or ""
  char excerpt[200];      // the source line (a part of it if long), or ""
  int32_t excerpt_caret;  // where in |excerpt| the caret belongs, in bytes
} indim_diagnostic;

// How many diagnostics a context keeps; further ones are counted only.
#define INDIM_MAX_DIAGNOSTICS 20

typedef struct indim_ctx indim_ctx;

// Creates a context. |allocator| may be NULL for the default. Returns INDIM_NO_MEMORY, and *|out_cx| NULL, when the
// first allocation fails.
INDIM_API INDIM_CHECKED indim_status indim_ctx_create(const indim_allocator *allocator, indim_ctx **out_cx);
// Frees the context. Everything made with it must be destroyed before. NULL is allowed.
INDIM_API void indim_ctx_destroy(indim_ctx *cx);

// Limits the bytes that everything made with this context may hold at once; 0 removes the limit (the default).
// An allocation beyond it fails with INDIM_LIMIT and names the limit.
INDIM_API void indim_ctx_set_memory_limit(indim_ctx *cx, uint64_t bytes);
// Bytes held now, and the most that were held at any time.
INDIM_API uint64_t indim_ctx_memory_in_use(const indim_ctx *cx);
INDIM_API uint64_t indim_ctx_memory_peak(const indim_ctx *cx);

// Asks whether to go on: long work calls |poll| now and then, and stops with INDIM_INTERRUPTED when it returns true.
// NULL removes it.
INDIM_API void indim_ctx_set_interrupt(indim_ctx *cx, bool (*poll)(void *user), void *user);

// Diagnostics since the last clear, oldest first. |count| includes those beyond INDIM_MAX_DIAGNOSTICS, which are lost;
// |get| returns NULL outside what is kept. Calls add to the list; clear it between independent pieces of work.
INDIM_API size_t indim_ctx_diagnostic_count(const indim_ctx *cx);
INDIM_API const indim_diagnostic *indim_ctx_diagnostic_get(const indim_ctx *cx, size_t index);
INDIM_API void indim_ctx_diagnostics_clear(indim_ctx *cx);

// Text that grows. Use: indim_buffer b; indim_buffer_init(&b, cx); ...print...; read b.data (null-terminated; NULL as
// long as nothing was written); indim_buffer_deinit(&b). A failed growth is remembered in |status|, later writes do
// nothing, so that only the end needs a check.
typedef struct indim_buffer {
  indim_ctx *cx;
  char *data;
  size_t size;  // bytes written, without the terminating null
  size_t capacity;
  indim_status status;
} indim_buffer;

INDIM_API void indim_buffer_init(indim_buffer *buffer, indim_ctx *cx);
INDIM_API void indim_buffer_deinit(indim_buffer *buffer);
INDIM_API void indim_buffer_clear(indim_buffer *buffer);
INDIM_API void indim_buffer_append(indim_buffer *buffer, const char *bytes, size_t size);
INDIM_API void indim_buffer_text(indim_buffer *buffer, const char *text);
INDIM_API void indim_buffer_char(indim_buffer *buffer, char c);
INDIM_API void indim_buffer_int(indim_buffer *buffer, int64_t value);
INDIM_API void indim_buffer_printf(indim_buffer *buffer, const char *format, ...) INDIM_PRINTF(2, 3);
// Writes a string of JSON, in quotes; bytes that are no UTF-8 become U+FFFD.
INDIM_API void indim_buffer_json(indim_buffer *buffer, indim_str text);

// How many bytes at the beginning of |text| are one character of UTF-8; 0 if none is.
INDIM_API size_t indim_character_size(indim_str text);
// Replaces the bytes of control characters, which a terminal would obey, by |by|: those of ASCII, line ends among them, and
// U+0080 to U+009F.
INDIM_API void indim_hide_controls(char *text, char by);

// Writes "file:line:col: error: message", the source line, a caret and the hint, as a compiler does.
INDIM_API void indim_diagnostic_print(const indim_diagnostic *diagnostic, indim_buffer *out);

// Memory that is freed all at once. Tuple shapes and other trees live in one and are valid until it is destroyed.
typedef struct indim_arena indim_arena;
INDIM_API INDIM_CHECKED indim_status indim_arena_create(indim_ctx *cx, indim_arena **out_arena);
INDIM_API void indim_arena_destroy(indim_arena *arena);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_BASE_H
