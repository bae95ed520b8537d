// Passes over a finished loop program (passes.def). Each leaves a program that the verifier accepts.
#ifndef INDIM_LOOP_PASS_H
#define INDIM_LOOP_PASS_H

#include "loop/decision/decision.h"
#include "loop/ir/steps.h"

// Runs all passes except those that are disabled. A debug build verifies the program after each. |options| may request
// the program after a pass, and an explanation of what each did.
INDIM_CHECKED indim_status indim_passes_run(indim_loop_program *program, const indim_lower_options *options,
                                            uint32_t without);

// Fuses adjacent loops with equal iteration spaces that share arrays.
INDIM_CHECKED indim_status indim_pass_loop_fusion(indim_loop_program *program);
// Takes what a body stored before from registers, and removes the arrays that nobody reads then.
INDIM_CHECKED indim_status indim_pass_forward(indim_loop_program *program);
// Unrolls short inner loops, and forwards what they store to later loads.
INDIM_CHECKED indim_status indim_pass_unroll(indim_loop_program *program);
// Makes loops parallel whose iterations are independent, where lowering left them serial.
INDIM_CHECKED indim_status indim_pass_parallel(indim_loop_program *program);
// A line of --explain for each loop with enough work for threads that stays serial. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_explain_serial(indim_loop_program *program, bool without_threads, indim_buffer *out);
// Shrinks scratch arrays to the window that one iteration uses, one for each piece of the loop.
INDIM_CHECKED indim_status indim_pass_storage_folding(indim_loop_program *program);
// Prefetches the next row in loops that traverse rows several times.
INDIM_CHECKED indim_status indim_pass_prefetch(indim_loop_program *program);
// Cuts long copies and fills into pieces for threads. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_pass_split_moves(indim_loop_program *program);
// Makes long loops poll the host's stop word.
INDIM_CHECKED indim_status indim_pass_poll(indim_loop_program *program);
// Removes dead code and dead stores.
INDIM_CHECKED indim_status indim_pass_dce(indim_loop_program *program);
// Lets scratch arrays reuse the buffers of the arrays that are computed from them elementwise.
INDIM_CHECKED indim_status indim_pass_buffer_sharing(indim_loop_program *program);
// Sets the offsets of all scratch storages and the size of the block.
INDIM_CHECKED indim_status indim_pass_buffer_assignment(indim_loop_program *program);

// Rewrites a finished program; every result stays the same, bit for bit. Takes O(n log n) time in the nodes of a body.
// Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_pass_slp(indim_loop_program *program);

// Rewrites a finished program; results do not change. Takes time linear in the number of nodes. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_pass_reroll(indim_loop_program *program);

// Rewrites a finished program; results do not change. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_pass_widen(indim_loop_program *program);

// Puts a reading of the host's clock before and behind each of the program's steps. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_pass_profile(indim_loop_program *program, const indim_step *steps, int32_t count);

#endif  // INDIM_LOOP_PASS_H
