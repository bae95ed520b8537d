// What the files of packing share.
//
//   slp.c        the walk over the bodies; nodes put into their new order
//   slp_group.c  which nodes of a segment become one
//   slp_carry.c  carried values as vectors
#ifndef INDIM_LOOP_SLP_H
#define INDIM_LOOP_SLP_H

#include "loop/ir/rewrite.h"
#include "loop/pass/pass.h"

// A vector that was put together from scalars.
typedef struct indim_slp_gather {
  struct indim_slp_gather *next;  // of the same body
  indim_loop_node *node;
  int32_t count;
  indim_value_id *values;
} indim_slp_gather;

typedef struct indim_slp_body {
  indim_loop_body *body;
  indim_node_list before;  // nodes for the body around this one, in front of this one's owner
  indim_slp_gather *gathers;
} indim_slp_body;

typedef struct indim_slp {
  indim_loop_program *program;
  indim_loop_builder b;  // makes values and nodes; knows no open body
  indim_arena arena;     // of the pass
  indim_slp_body *bodies;
  int32_t body_count;
  int32_t limit;            // values from this number on are the pass's own; the arrays below are for those before
  int32_t *place;           // in the running segment; -1: elsewhere
  int32_t *use_count;       // in the whole program
  indim_value_id *vector;   // that has the value in its lanes, 0 if none
  int32_t *lane;            // the first of them
  int32_t *gathered;        // how often the value went into a vector
  indim_value_id *renamed;  // the value that takes this one's place, 0 if none
  int32_t *last_write;      // by storage: the node of the running segment, -1: none
  int32_t *last_load;
} indim_slp;

// Nodes of a body between two control nodes. Group g has the members |members[first]|..., places in the segment.
typedef struct indim_slp_group {
  int32_t first;
  int32_t count;
} indim_slp_group;

typedef struct indim_slp_segment {
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
  indim_slp_group *groups;
  int32_t member_count;
  int32_t *members;
} indim_slp_segment;

// slp.c
// One vector of the values, each of as many lanes as the others, in their order: at the end of |list|, or further out where
// all of them are in scope there.
indim_value_id indim_slp_make_vector(indim_slp *p, indim_node_list *list, int32_t count, const indim_value_id *values);
// The args and the map of a shuffle that puts |values| one behind the other.
void indim_slp_fill_shuffle(indim_slp *p, indim_loop_node *node, int32_t count, const indim_value_id *values);
// A node that gives |value| from the lanes of |vector|.
void indim_slp_take(indim_slp *p, indim_node_list *list, indim_value_id value, indim_value_id vector, int32_t lane);
indim_slp_body *indim_slp_body_of(indim_slp *p, const indim_loop_body *body);
// slp_group.c
// Fills everything from |dep_start| on. Groups are found only where there is a chance.
void indim_slp_plan(indim_slp *p, indim_slp_segment *s);

// slp_carry.c
// |node| is a for or while whose bodies are done, about to be appended to |list|; |after| gets nodes for behind it.
void indim_slp_carry(indim_slp *p, indim_loop_node *node, indim_node_list *list, indim_node_list *after);

#endif  // INDIM_LOOP_SLP_H
