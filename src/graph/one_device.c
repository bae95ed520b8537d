// Refusing what needs a second device or a host beside the running program.
#include "graph/one_device.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/size.h"

bool indim_op_is_host_transfer(indim_op op) {
  return op == INDIM_OP_INFEED || op == INDIM_OP_OUTFEED || op == INDIM_OP_SEND || op == INDIM_OP_SEND_DONE ||
         op == INDIM_OP_RECV || op == INDIM_OP_RECV_DONE;
}

indim_status indim_host_transfer_refuse(indim_ctx *cx, const indim_instr *instr) {
  bool comes = instr->op == INDIM_OP_INFEED || instr->op == INDIM_OP_RECV || instr->op == INDIM_OP_RECV_DONE;
  indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "data %s a program while it runs: there is no channel for that",
                   comes ? "would come into" : "would leave");
  if (comes) {
    indim_hint(cx, "make it a parameter of the entry computation");
  } else {
    indim_hint(cx, "make it a part of the entry computation's result");
  }
  return INDIM_UNSUPPORTED;
}

static indim_status refuse_groups(indim_ctx *cx, const indim_instr *instr, int64_t devices) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_REPLICA_GROUPS);
  const indim_module *module = instr->computation->module;
  indim_str groups = attr == NULL ? (indim_str){"{}", 2} : attr->value.text;
  char count[40] = "more than one device";
  if (devices > 0) {
    snprintf(count, sizeof count, "%" PRId64 " devices", devices);
  }
  indim_fail_instr(cx, INDIM_UNSUPPORTED, instr,
                   "exchanges data between %s (replica_groups=%.*s, replica_count=%" PRId64 ", num_partitions=%" PRId64
                   "), but a program runs on one",
                   count, (int)(groups.size < 100 ? groups.size : 100), groups.data, module->replica_count,
                   module->num_partitions);
  indim_hint(cx, "lower the program for one device");
  return INDIM_UNSUPPORTED;
}

// Whether a list of groups has device 0; true where there is no list.
static bool has_device_0(const indim_instr *instr) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_REPLICA_GROUPS);
  indim_str text = attr == NULL ? (indim_str){"", 0} : attr->value.text;
  bool any = false;
  bool in_number = false;
  for (size_t i = 0; i < text.size && text.data[0] == '{'; i++) {
    bool is_digit = text.data[i] >= '0' && text.data[i] <= '9';
    bool ends = i + 1 == text.size || text.data[i + 1] < '0' || text.data[i + 1] > '9';
    if (is_digit && !in_number && text.data[i] == '0' && ends) {
      return true;
    }
    in_number = is_digit;
    any = any || is_digit;
  }
  return !any;
}

static indim_status verify_permute_alone(indim_ctx *cx, const indim_instr *instr) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_SOURCE_TARGET_PAIRS);
  for (int64_t i = 0; i < attr->count; i++) {
    const int64_t *pair = &attr->value.ints[2 * i];
    if (pair[0] != pair[1]) {
      indim_fail_instr(cx, INDIM_UNSUPPORTED, instr,
                       "device %" PRId64 " sends to device %" PRId64
                       " (source_target_pairs=), but a program runs on one",
                       pair[0], pair[1]);
      indim_hint(cx, "lower the program for one device");
      return INDIM_UNSUPPORTED;
    }
  }
  if (indim_instr_attr(instr, INDIM_ATTR_PERMUTE_SLICE_SIZES) == NULL) {
    return INDIM_OK;
  }
  return indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "slices (slice_sizes=) are not permuted");
}

indim_status indim_collective_verify_alone(indim_ctx *cx, const indim_instr *instr) {
  const indim_module *module = instr->computation->module;
  int64_t size = 0;
  if (instr->op == INDIM_OP_COLLECTIVE_PERMUTE || instr->op == INDIM_OP_COLLECTIVE_PERMUTE_START) {
    return verify_permute_alone(cx, instr);
  }
  INDIM_TRY(indim_collective_group_size(cx, instr, &size));
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_REPLICA_GROUPS);
  bool is_list = attr != NULL && attr->value.text.size > 2 && attr->value.text.data[0] == '{';
  int64_t devices = 0;
  if (size < 0 && !is_list && indim_count_mul(module->replica_count, module->num_partitions, &devices)) {
    size = devices;  // at most: all
  }
  if (size != 1) {
    return refuse_groups(cx, instr, size);
  }
  if (has_device_0(instr)) {
    return INDIM_OK;
  }
  indim_fail_instr(cx, INDIM_UNSUPPORTED, instr, "no group has device 0, which is the one that a program runs on");
  indim_hint(cx, "list it in replica_groups=, or write {} for all devices");
  return INDIM_UNSUPPORTED;
}

bool indim_permute_keeps(const indim_instr *instr) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_SOURCE_TARGET_PAIRS);
  for (int64_t i = 0; i < attr->count; i++) {
    if (attr->value.ints[2 * i] == 0 && attr->value.ints[2 * i + 1] == 0) {
      return true;
    }
  }
  return false;
}

bool indim_op_is_collective(indim_op op) {
  switch ((int)op) {
  case INDIM_OP_ALL_REDUCE:
  case INDIM_OP_ALL_REDUCE_START:
  case INDIM_OP_ALL_REDUCE_DONE:
  case INDIM_OP_REDUCE_SCATTER:
  case INDIM_OP_ALL_GATHER:
  case INDIM_OP_ALL_GATHER_START:
  case INDIM_OP_ALL_GATHER_DONE:
  case INDIM_OP_ALL_TO_ALL:
  case INDIM_OP_COLLECTIVE_PERMUTE:
  case INDIM_OP_COLLECTIVE_PERMUTE_START:
  case INDIM_OP_COLLECTIVE_PERMUTE_DONE:
  case INDIM_OP_COLLECTIVE_BROADCAST:
    return true;
  default:
    return false;
  }
}

bool indim_collective_start_is_result(const indim_instr *instr) {
  const indim_shape *shape = instr->shape;
  if (instr->operand_count == 1) {
    return indim_shape_compatible(instr->operands[0]->shape, shape);
  }
  return indim_shape_is_tuple(shape) && shape->member_count == instr->operand_count &&
         indim_shape_compatible(instr->operands[0]->shape, shape->members[0]);
}
