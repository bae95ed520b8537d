// Targets that tests name. What a test counts (lanes, loops, shuffles), it counts for a target, so that it is the same on any
// host; code is run where the host can.
#ifndef INDIM_TESTS_TARGET_H
#define INDIM_TESTS_TARGET_H

#include "emit/program/program.h"
#include "loop/target/target.h"
#include "test.h"

// The levels of x86-64: vectors of 16, 32 and 64 bytes.
enum { LEVELS = 3 };
static const char *const levels[LEVELS] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};

static inline indim_target target_named(const char *name) {
  indim_target target = {0};
  if (strcmp(name, "native") == 0) {
    indim_host_target(&target);
  } else if (indim_target_find(NULL, name, &target) != INDIM_OK) {
    CHECK_MSG(false, "there is no target %s", name);
  }
  return target;
}

static inline bool runs_here(const indim_target *target) {
  indim_target host;
  char missing[INDIM_TARGET_TEXT];
  indim_host_target(&host);
  indim_target_missing(target, &host, missing);
  return missing[0] == '\0';
}

#endif  // INDIM_TESTS_TARGET_H
