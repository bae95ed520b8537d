// What can be named in indim_compile_options: targets, passes and decisions.
#include "indim/compile.h"

const indim_compile_target *indim_compile_targets(void) {
  static const indim_compile_target list[] = {{"native", "this machine, with all that it has"},
#define INDIM_TARGET(enumerator, name, triple, cpu, features, bytes, registers, fma, half, mask, gathers, meaning) \
  {name, meaning},
#include "loop/target/targets.def"
                                              {NULL, NULL}};
  return list;
}

const indim_compile_pass *indim_compile_passes(void) {
  static const indim_compile_pass list[] = {
#define INDIM_PASS(enumerator, name, function, decision, meaning) {name, meaning},
#include "loop/pass/passes.def"
      {NULL, NULL}};
  return list;
}

const indim_compile_decision *indim_compile_decisions(void) {
  static const indim_compile_decision list[] = {
#define INDIM_DECISION(enumerator, name, scope, meaning) {name, meaning},
#include "loop/decision/decisions.def"
      {NULL, NULL}};
  return list;
}
