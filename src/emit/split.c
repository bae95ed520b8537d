// The modules of a program in parts. LLVM's context, which owns a module, serves one thread at a time, so parts are made by
// way of bitcode: the module is written once, and each part reads of it what it needs, as the bodies of functions are read one
// by one. Functions of other parts are declarations, which the linker resolves.
#include "emit/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>

#include "emit/program/program.h"
#include "loop/target/cost.h"

enum { MOST_PARTS = 32, ELSEWHERE = -1 };

typedef struct split split;

typedef struct part {
  const split *split;
  int32_t index;
  int64_t instructions;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMMemoryBufferRef object;  // NULL: failed
  char *message;               // of LLVM's, for a failure; NULL: |guard| has it, or there is none
  bool is_lost;                // LLVM failed: what it has made must not be touched again
  indim_guard guard;
} part;

struct split {
  const indim_object *o;
  LLVMMemoryBufferRef bitcode;
  int32_t *parts_of;  // of each function, in the order of the module; ELSEWHERE: it is a declaration
  int32_t function_count;
  part parts[MOST_PARTS];
  int32_t part_count;
};

// Sharing out -----------------------------------------------------------------------------------------------------------

static int64_t instructions_of(LLVMValueRef function) {
  int64_t count = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i)) {
      count++;
    }
  }
  return count;
}

static int64_t instructions_of_module(LLVMModuleRef module) {
  int64_t count = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
    count += instructions_of(f);
  }
  return count;
}

// The fewest instructions of a part.
static int64_t least_part(const indim_object *o) { return o->options->chunk > 0 ? o->options->chunk : INDIM_COST_PART; }

bool indim_split_pays(const indim_object *o) {
  const indim_emit_options *options = o->options;
  bool is_one = options->parallel == NULL || options->is_cross || options->out_asm != NULL ||
                options->out_lines != NULL || options->out_object != NULL;
  return !is_one && instructions_of_module(o->module) >= 2 * least_part(o);
}

typedef struct sized {
  int32_t function;
  int64_t instructions;
} sized;

static int larger_first(const void *a, const void *b) {
  const sized *x = a;
  const sized *y = b;
  return x->instructions != y->instructions ? (x->instructions < y->instructions ? 1 : -1)
                                            : (x->function > y->function) - (x->function < y->function);
}

static part *smallest_part(split *s) {
  part *found = &s->parts[0];
  for (int32_t i = 1; i < s->part_count; i++) {
    found = s->parts[i].instructions < found->instructions ? &s->parts[i] : found;
  }
  return found;
}

// The largest functions first, each to the part that has least.
static indim_status share_out(indim_object *o, split *s) {
  for (LLVMValueRef f = LLVMGetFirstFunction(o->module); f != NULL; f = LLVMGetNextFunction(f)) {
    s->function_count++;
  }
  sized *all = NULL;
  int32_t count = 0;
  int64_t total = 0;
  INDIM_TRY(indim_arena_array(&o->arena, (size_t)s->function_count, sizeof *all, (void **)&all));
  INDIM_TRY(indim_arena_array(&o->arena, (size_t)s->function_count, sizeof *s->parts_of, (void **)&s->parts_of));
  int32_t at = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(o->module); f != NULL; f = LLVMGetNextFunction(f), at++) {
    s->parts_of[at] = ELSEWHERE;
    if (!LLVMIsDeclaration(f)) {
      all[count++] = (sized){at, instructions_of(f)};
      total += all[count - 1].instructions;
      LLVMSetLinkage(f, LLVMExternalLinkage);  // for the other parts
    }
  }
  qsort(all, (size_t)count, sizeof *all, larger_first);
  int64_t parts = total / least_part(o);
  parts = parts < count ? parts : count;
  s->part_count = (int32_t)(parts < MOST_PARTS ? parts : MOST_PARTS);
  for (int32_t i = 0; i < count; i++) {
    part *p = smallest_part(s);
    s->parts_of[all[i].function] = (int32_t)(p - s->parts);
    p->instructions += all[i].instructions;
  }
  return INDIM_OK;
}

// A part ----------------------------------------------------------------------------------------------------------------

static void declare(LLVMModuleRef module, LLVMValueRef function) {
  size_t size = 0;
  const char *name = LLVMGetValueName2(function, &size);
  LLVMValueRef declared = LLVMAddFunction(module, "", LLVMGlobalGetValueType(function));
  char kept[INDIM_EMIT_NAME];
  snprintf(kept, sizeof kept, "%.*s", (int)size, name);
  LLVMReplaceAllUsesWith(function, declared);
  LLVMDeleteFunction(function);
  LLVMSetValueName2(declared, kept, strlen(kept));
}

// Bitcode does not say that the address of a block was taken that nobody uses (program.c).
static void keep_cuts(LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b)) {
    if (strncmp(LLVMGetBasicBlockName(b), INDIM_EMIT_CUT, strlen(INDIM_EMIT_CUT)) == 0) {
      LLVMBlockAddress(function, b);
    }
  }
}

// Reads the bodies of the part's functions, which a manager of passes does when it is to run on one.
static void read_functions(const part *p) {
  LLVMPassManagerRef none = LLVMCreateFunctionPassManagerForModule(p->module);
  const int32_t *part_of = p->split->parts_of;
  LLVMValueRef next = LLVMGetFirstFunction(p->module);
  for (int32_t i = 0; i < p->split->function_count; i++) {
    LLVMValueRef function = next;
    next = LLVMGetNextFunction(function);
    if (part_of[i] != ELSEWHERE && part_of[i] != p->index) {
      declare(p->module, function);
    }
  }
  next = LLVMGetFirstFunction(p->module);
  for (; next != NULL; next = LLVMGetNextFunction(next)) {
    if (!LLVMIsDeclaration(next)) {
      LLVMRunFunctionPassManager(none, next);
      keep_cuts(next);
    }
  }
  LLVMDisposePassManager(none);
}

static void drop_constants(LLVMModuleRef module) {
  for (LLVMValueRef next = LLVMGetFirstGlobal(module); next != NULL;) {
    LLVMValueRef global = next;
    next = LLVMGetNextGlobal(global);
    if (LLVMGetFirstUse(global) == NULL) {
      LLVMDeleteGlobal(global);
    }
  }
}

// Under a guard, on any thread: nothing of the caller's context is touched.
static void make_part(void *user) {
  part *p = user;
  const indim_target *target = &p->split->o->program->target;
  LLVMMemoryBufferRef bitcode = LLVMCreateMemoryBufferWithMemoryRange(LLVMGetBufferStart(p->split->bitcode),
                                                                      LLVMGetBufferSize(p->split->bitcode), "indim", 0);
  p->context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(p->context, indim_object_on_diagnostic, NULL);
  if (LLVMGetBitcodeModuleInContext2(p->context, bitcode, &p->module)) {
    return;  // the handler has the reason
  }
  indim_object_crash_on_purpose(p->split->o);
  read_functions(p);
  drop_constants(p->module);
  LLVMTargetMachineRef machine = indim_machine_take(target, true);
  if (machine == NULL ||
      LLVMTargetMachineEmitToMemoryBuffer(machine, p->module, LLVMObjectFile, &p->message, &p->object)) {
    p->object = NULL;
  }
  if (machine != NULL) {
    indim_machine_release(target, machine);
  }
}

static void run_parts(void *frame, int64_t begin, int64_t end) {
  split *s = frame;
  for (int64_t i = begin; i < end; i++) {
    part *p = &s->parts[i];
    p->is_lost = !indim_guard_run(&p->guard, s->o->options->leaves_signals, make_part, p);
    if (!p->is_lost && p->module != NULL) {
      LLVMDisposeModule(p->module);
    }
    if (!p->is_lost) {
      LLVMContextDispose(p->context);
    }
  }
}

// All of them -----------------------------------------------------------------------------------------------------------

static indim_status collect(indim_object *o, split *s) {
  indim_status status = INDIM_OK;
  for (int32_t i = 0; i < s->part_count; i++) {
    part *p = &s->parts[i];
    const char *reason = p->message != NULL ? p->message : p->guard.message;
    bool has_failed = p->is_lost || p->object == NULL || p->guard.message[0] != '\0';
    o->is_lost = o->is_lost || p->is_lost;
    if (has_failed && status == INDIM_OK) {
      o->is_llvm_failure = true;
      status = indim_fail(o->cx, INDIM_INTERNAL, "LLVM, generating code: %s",
                          reason[0] == '\0' ? "no reason given" : reason);
    }
    LLVMDisposeMessage(p->message);
    if (!p->is_lost && p->object != NULL) {
      o->objects[o->object_count++] = p->object;
    }
  }
  return status;
}

indim_status indim_split_generate(indim_object *o) {
  split *s = NULL;
  INDIM_TRY(indim_arena_array(&o->arena, 1, sizeof *s, (void **)&s));
  INDIM_TRY(indim_arena_array(&o->arena, MOST_PARTS, sizeof(LLVMMemoryBufferRef), (void **)&o->objects));
  s->o = o;
  INDIM_TRY(share_out(o, s));
  s->bitcode = LLVMWriteBitcodeToMemoryBuffer(o->module);
  LLVMDisposeModule(o->module);
  o->module = NULL;
  for (int32_t i = 0; i < s->part_count; i++) {
    s->parts[i].split = s;
    s->parts[i].index = i;
  }
  o->options->parallel(o->options->parallel_user, run_parts, s, s->part_count, 1);
  LLVMDisposeMemoryBuffer(s->bitcode);
  return collect(o, s);
}
