// Passes over a finished loop program (passes.def). Each leaves a program that the verifier accepts.
#ifndef INDIM_LOOP_PASS_H
#define INDIM_LOOP_PASS_H

#include "loop/decision/decision.h"
#include "loop/ir/loop.h"

// Runs all passes but those that are left out. A debug build verifies the program after each. |options| may ask for the
// program after a pass, and for what each did.
INDIM_CHECKED indim_status indim_passes_run(indim_loop_program *program, const indim_lower_options *options,
                                            uint32_t without);

// Joins loops that count alike and share arrays.
INDIM_CHECKED indim_status indim_pass_loop_fusion(indim_loop_program *program);
// Writes short loops inside loops out, and takes what they store from registers.
INDIM_CHECKED indim_status indim_pass_unroll(indim_loop_program *program);
// Lets scratch arrays of which each step of a loop uses a part of its own hold one part for each piece of the loop.
INDIM_CHECKED indim_status indim_pass_storage_folding(indim_loop_program *program);
// Lets loops that go over rows several times ask for the next row.
INDIM_CHECKED indim_status indim_pass_prefetch(indim_loop_program *program);
// poll.c: lets long loops look at the host's stop word.
INDIM_CHECKED indim_status indim_pass_poll(indim_loop_program *program);
// Removes what nobody uses.
INDIM_CHECKED indim_status indim_pass_dce(indim_loop_program *program);
// Lets arrays in scratch memory live where what is made of them goes, element by element (buffer_sharing.c).
INDIM_CHECKED indim_status indim_pass_buffer_sharing(indim_loop_program *program);
// Sets the offsets of all scratch storages and the size of the block.
INDIM_CHECKED indim_status indim_pass_buffer_assignment(indim_loop_program *program);

// Rewrites a finished program; what is not packed stays as it is, and so does every result, bit for bit. Takes time that
// grows as n log n with the nodes of a body. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_pass_slp(indim_loop_program *program);

// Rewrites a finished program; no result changes. Takes time that grows with the nodes. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_pass_reroll(indim_loop_program *program);

// Rewrites a finished program; no result changes. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_pass_widen(indim_loop_program *program);

#endif  // INDIM_LOOP_PASS_H
