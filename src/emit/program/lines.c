// Which step each instruction is for, as debug lines: line INDIM_EMIT_FIRST_LINE + n stands for step n. LLVM keeps them
// through all of its work and chooses the same instructions (on 64-bit Arm it orders prologues differently), so the assembly
// can be cut at its `.loc` directives. The code that runs is made without them.
#include "emit/interface/emit.h"
#include "emit/program/program.h"

enum { NO_STEP = INDIM_EMIT_FIRST_LINE - 1, DEBUG_VERSION = 3 };

indim_status indim_emit_lines_begin(indim_generator *g) {
  indim_emit_lines *l = &g->lines;
  static const char name[] = "steps";
  static const char version[] = "Debug Info Version";
  INDIM_TRY(indim_program_steps(g->e.program, g->arena, &l->steps, &l->count));
  l->line = NO_STEP;
  l->builder = LLVMCreateDIBuilder(g->e.module);
  l->file = LLVMDIBuilderCreateFile(l->builder, name, sizeof name - 1, "", 0);
  l->type = LLVMDIBuilderCreateSubroutineType(l->builder, l->file, NULL, 0, LLVMDIFlagZero);
  LLVMDIBuilderCreateCompileUnit(l->builder, LLVMDWARFSourceLanguageC, l->file, "", 0, 0, "", 0, 0, "", 0,
                                 LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0, "", 0);
  LLVMMetadataRef number = LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(g->e.context), DEBUG_VERSION, 0));
  LLVMAddModuleFlag(g->e.module, LLVMModuleFlagBehaviorWarning, version, sizeof version - 1, number);
  return INDIM_OK;
}

void indim_emit_lines_end(indim_generator *g) {
  if (g->lines.builder != NULL) {
    LLVMDIBuilderFinalize(g->lines.builder);
    LLVMDisposeDIBuilder(g->lines.builder);
    g->lines.builder = NULL;
  }
}

void indim_emit_lines_function(indim_generator *g) {
  indim_emit_lines *l = &g->lines;
  if (l->builder == NULL) {
    return;
  }
  g->current->scope = LLVMDIBuilderCreateFunction(l->builder, l->file, "f", 1, "", 0, l->file, l->line, l->type, 1, 1,
                                                  l->line, LLVMDIFlagZero, 0);
  LLVMSetSubprogram(g->current->function, g->current->scope);
  indim_emit_lines_go_on(g);
}

void indim_emit_lines_go_on(indim_generator *g) {
  if (g->lines.builder != NULL) {
    LLVMSetCurrentDebugLocation2(
        g->e.builder, LLVMDIBuilderCreateDebugLocation(g->e.context, g->lines.line, 0, g->current->scope, NULL));
  }
}

bool indim_emit_lines_enter(indim_generator *g, const indim_loop_node *node) {
  indim_emit_lines *l = &g->lines;
  if (l->builder == NULL || l->next >= l->count || l->steps[l->next].node != node) {
    return false;
  }
  l->line = INDIM_EMIT_FIRST_LINE + (unsigned)l->next++;
  indim_emit_lines_go_on(g);
  return true;
}

void indim_emit_lines_leave(indim_generator *g, bool is_step) {
  if (is_step) {
    g->lines.line = NO_STEP;
    indim_emit_lines_go_on(g);
  }
}
