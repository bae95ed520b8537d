// What a program that runs by itself on one device can do of what HLO has for many devices and for a host: collectives
// over groups of one device give each device what it had; all else is refused.
#ifndef INDIM_GRAPH_ONE_DEVICE_H
#define INDIM_GRAPH_ONE_DEVICE_H

#include "graph/module.h"

// infeed, outfeed, send, recv and the ends of those: data that come or go while the program runs. They do so whether or
// not anybody needs the result.
bool indim_op_is_host_transfer(indim_op op);
// UNSUPPORTED at such an instruction, with the way out.
INDIM_CHECKED indim_status indim_host_transfer_refuse(indim_ctx *cx, const indim_instr *instr);

// Collectives, and the starts and ends of those that are asynchronous.
bool indim_op_is_collective(indim_op op);
// Whether the start of one is stated to return the result alone, as all-reduce-start may, and not (operands, result, ..).
bool indim_collective_start_is_result(const indim_instr *instr);
// Devices in one group of a collective other than collective-permute; -1 if only the machine knows (the mesh form), or if
// groups differ in size. INVALID for a replica_groups= that is none.
INDIM_CHECKED indim_status indim_collective_group_size(indim_ctx *cx, const indim_instr *instr, int64_t *out_size);
// INDIM_OK if each group of devices of a collective is one device, so that there is nobody to exchange with, and device 0,
// which a program runs on, is in one; else UNSUPPORTED, with the groups. Of a collective-permute, whose devices are in
// pairs: if each sends to itself.
INDIM_CHECKED indim_status indim_collective_verify_alone(indim_ctx *cx, const indim_instr *instr);
// Whether a collective-permute of that kind gives a device its operand; device 0, which runs it, gets zeros if no pair
// names it.
bool indim_permute_keeps(const indim_instr *instr);

#endif  // INDIM_GRAPH_ONE_DEVICE_H
