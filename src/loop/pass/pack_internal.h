// What the files of packing share.
//
//   pack.c        the walk over the bodies; nodes put into their new order
//   pack_group.c  which nodes of a segment become one
//   pack_carry.c  carried values as vectors
#ifndef INDIM_LOOP_PACK_INTERNAL_H
#define INDIM_LOOP_PACK_INTERNAL_H

#include "loop/ir/rewrite.h"
#include "loop/pass/pass.h"

// A vector that was put together from scalars.
typedef struct indim_pack_gather {
  struct indim_pack_gather *next;  // of the same body
  indim_loop_node *node;
  int32_t count;
  indim_lval *values;
} indim_pack_gather;

typedef struct indim_pack_body {
  indim_loop_body *body;
  indim_node_list before;  // nodes for the body around this one, in front of this one's owner
  indim_pack_gather *gathers;
} indim_pack_body;

typedef struct indim_pack {
  indim_loop_program *program;
  indim_loop_builder b;  // makes values and nodes; knows no open body
  indim_arena arena;     // of the pass
  indim_pack_body *bodies;
  int32_t body_count;
  int32_t limit;        // values from this number on are the pass's own; the arrays below are for those before
  int32_t *place;       // in the running segment; -1: elsewhere
  int32_t *use_count;   // in the whole program
  indim_lval *vector;   // that has the value in its lanes, 0 if none
  int32_t *lane;        // the first of them
  int32_t *gathered;    // how often the value went into a vector
  indim_lval *renamed;  // the value that takes this one's place, 0 if none
  int32_t *last_write;  // by storage: the node of the running segment, -1: none
  int32_t *last_load;
} indim_pack;

// Nodes of a body between two control nodes. Group g has the members |members[first]|..., places in the segment.
typedef struct indim_pack_group {
  int32_t first;
  int32_t count;
} indim_pack_group;

typedef struct indim_pack_segment {
  indim_arena arena;
  indim_loop_body *body;
  int32_t count;
  indim_loop_node **nodes;
  int32_t *dep_start;  // deps[dep_start[i]] ... deps[dep_start[i + 1] - 1] must come before i
  int32_t *deps;
  int32_t *use_start;  // the reverse
  int32_t *uses;
  int32_t *level;
  int32_t *group;   // -1: none
  int32_t *number;  // in the group
  int32_t group_count;
  indim_pack_group *groups;
  int32_t member_count;
  int32_t *members;
} indim_pack_segment;

// pack.c
// One vector of the values, each of as many lanes as the others, in their order: at the end of |list|, or further out where
// all of them are in scope there.
indim_lval indim_pack_make_vector(indim_pack *p, indim_node_list *list, int32_t count, const indim_lval *values);
// The args and the map of a shuffle that puts |values| one behind the other.
void indim_pack_fill_shuffle(indim_pack *p, indim_loop_node *node, int32_t count, const indim_lval *values);
// A node that gives |value| from the lanes of |vector|.
void indim_pack_take(indim_pack *p, indim_node_list *list, indim_lval value, indim_lval vector, int32_t lane);
indim_pack_body *indim_pack_body_of(indim_pack *p, const indim_loop_body *body);
// pack_group.c
// Fills everything from |dep_start| on. Groups are found only where there is a chance.
void indim_pack_plan(indim_pack *p, indim_pack_segment *s);

// pack_carry.c
// |node| is a for or while whose bodies are done, about to be appended to |list|; |after| gets nodes for behind it.
void indim_pack_carry(indim_pack *p, indim_loop_node *node, indim_node_list *list, indim_node_list *after);

#endif  // INDIM_LOOP_PACK_INTERNAL_H
