// Shared libraries that are loaded while the program runs: the code generator, and a library of matrix products.
#ifndef INDIM_RUN_LIBRARY_H
#define INDIM_RUN_LIBRARY_H

#include <stddef.h>

typedef void indim_symbol(void);

// The library of that name, searched for as the system does; NULL when it is not there or does not load. |*out_why| is
// then the system's reason, valid until this thread's next call; it may be NULL. Once loaded a library stays in the
// process, closed or not: LLVM does not survive being unloaded, and loading takes tens of milliseconds.
void *indim_library_open(const char *name, const char **out_why);
// The same library in the folders where our own parts lie, relative to libindim (or to the executable that it is linked
// into): beside it, in ../lib, in the installed place, and one folder up; then as the system does.
void *indim_library_open_ours(const char *name, const char **out_why);
void indim_library_close(void *library);  // NULL allowed
// An exported function, and an exported object; NULL when there is none.
indim_symbol *indim_library_function(void *library, const char *name);
const void *indim_library_object(void *library, const char *name);

#endif  // INDIM_RUN_LIBRARY_H
