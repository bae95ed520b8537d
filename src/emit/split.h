// Code by several threads: the functions of a module are shared out among modules of their own, and code for each of those is
// made at the same time. Which function goes where depends on the program alone, and functions do not depend on each other,
// so the code is that of one thread.
#ifndef INDIM_EMIT_SPLIT_H
#define INDIM_EMIT_SPLIT_H

#include "emit/object.h"

// Whether the caller has threads and the module is large enough.
bool indim_split_pays(const indim_object *o);
// Makes the objects in parts; the module is gone afterwards.
INDIM_CHECKED indim_status indim_split_generate(indim_object *o);

#endif  // INDIM_EMIT_SPLIT_H
