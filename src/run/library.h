// Shared libraries that are loaded at run time: the code generator, and a BLAS.
#ifndef INDIM_RUN_LIBRARY_H
#define INDIM_RUN_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef void indim_symbol(void);

// The library of that name, by the system's search path; NULL when it is missing or does not load. |*out_why| is then
// the system's reason, valid until this thread's next call; |out_why| may be NULL. Once loaded a library stays in the
// process, closed or not: LLVM cannot be unloaded safely, and loading takes tens of milliseconds.
void *indim_library_open(const char *name, const char **out_why);
// Whether somebody has loaded it already.
bool indim_library_is_loaded(const char *name);
// The same library in the folders of our own parts, relative to libindim (or to the executable that it is linked into):
// beside it, in ../lib, in the installed place, and one folder up; then by the system's search path.
void *indim_library_open_ours(const char *name, const char **out_why);
void indim_library_close(void *library);  // NULL allowed
// An exported function, and an exported object; NULL when there is none.
indim_symbol *indim_library_function(void *library, const char *name);
const void *indim_library_object(void *library, const char *name);

#endif  // INDIM_RUN_LIBRARY_H
