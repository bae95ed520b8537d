// The names of the nodes.
#include "loop/loop.h"

const char *indim_node_text(indim_node_kind kind) {
  static const char *const texts[] = {
#define INDIM_NODE(name, text, args, regions, meaning) text,
#include "loop/nodes.def"
  };
  return (unsigned)kind < INDIM_NODE_COUNT ? texts[kind] : "?";
}
