// Shared by the files of SLP vectorization.
//
//   slp.c        the walk over the bodies; emission of nodes and groups
//   slp_group.c  which nodes of a segment form groups
//   slp_carry.c  carried values as vectors
#ifndef INDIM_LOOP_SLP_H
#define INDIM_LOOP_SLP_H

#include "loop/ir/rewrite.h"
#include "loop/pass/pass.h"

// A vector gathered from scalars.
typedef struct indim_slp_gather {
  struct indim_slp_gather *next;  // of the same body
  indim_loop_node *node;
  int32_t count;
  indim_value_id *values;
} indim_slp_gather;

typedef struct indim_slp_body {
  indim_loop_body *body;
  indim_node_list before;  // nodes for the outer body, before the control node that owns this one
  indim_slp_gather *gathers;
} indim_slp_body;

typedef struct indim_slp {
  indim_loop_program *program;
  indim_loop_builder b;  // makes values and nodes; has no open body
  indim_arena arena;     // of the pass
  indim_slp_body *bodies;
  int32_t body_count;
  int32_t limit;            // values from this number on are the pass's own; the arrays below are for those before
  int32_t *position;        // in the current segment; -1: elsewhere
  int32_t *use_count;       // in the whole program
  indim_value_id *vector;   // the vector that contains the value, 0 if none
  int32_t *lane;            // its first lane there
  int32_t *gathered;        // how often the value is gathered into a vector
  indim_value_id *renamed;  // the value that replaces this one, 0 if none
  int32_t *last_write;      // by storage: the node of the current segment, -1: none
  int32_t *last_load;
} indim_slp;

// Nodes of a body between two control nodes. Group g has the members |members[first]|..., positions in the segment.
typedef struct indim_slp_group {
  int32_t first;
  int32_t count;
} indim_slp_group;

typedef struct indim_slp_segment {
  indim_arena arena;
  indim_loop_body *body;
  int32_t count;
  indim_loop_node **nodes;
  int32_t *dep_start;  // i depends on deps[dep_start[i]] ... deps[dep_start[i + 1] - 1]
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
// One vector of the values, all of equally many lanes, in their order: appended to |list|, or further out where
// all of them are in scope.
indim_value_id indim_slp_make_vector(indim_slp *p, indim_node_list *list, int32_t count, const indim_value_id *values);
// The args and the map of a shuffle that concatenates |values|.
void indim_slp_fill_shuffle(indim_slp *p, indim_loop_node *node, int32_t count, const indim_value_id *values);
// A node that defines |value| as lanes of |vector|.
void indim_slp_take(indim_slp *p, indim_node_list *list, indim_value_id value, indim_value_id vector, int32_t lane);
indim_slp_body *indim_slp_body_of(indim_slp *p, const indim_loop_body *body);
// slp_group.c
// Computes everything from |dep_start| on. Groups are formed only where that is profitable.
void indim_slp_plan(indim_slp *p, indim_slp_segment *s);

// slp_carry.c
// |node| is a for or while whose bodies are done, about to be appended to |list|; |after| gets the nodes after it.
void indim_slp_carry(indim_slp *p, indim_loop_node *node, indim_node_list *list, indim_node_list *after);

#endif  // INDIM_LOOP_SLP_H
