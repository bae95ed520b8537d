// Rewriting of a finished program, in which all bodies are closed: node lists that become a body or a part of one, new
// nodes and constants in them, moving nodes to another body, and renaming values. The builder that these functions take
// creates values and nodes and keeps the first error; after one they return 0.
#ifndef INDIM_LOOP_REWRITE_H
#define INDIM_LOOP_REWRITE_H

#include "loop/ir/build.h"

// Nodes for one body, in order.
typedef struct indim_node_list {
  indim_loop_body *body;
  indim_loop_node *first, *last;
} indim_node_list;

// Appends a node that is in no list, or in one that is abandoned: the nodes after it there are lost.
void indim_nodes_append(indim_node_list *list, indim_loop_node *node);
// Appends all nodes of |more|, leaving it empty.
void indim_nodes_append_all(indim_node_list *list, indim_node_list *more);
// Appends a node of another body: its values and nested bodies now belong to the list's body.
void indim_nodes_move(indim_loop_program *program, indim_node_list *list, indim_loop_node *node);
// Inserts the list before what |*link| points to, a |first| or |next| of its body, and returns the link after the list.
indim_loop_node **indim_nodes_insert(indim_node_list *list, indim_loop_node **link);
// Replaces the nodes of the list's body by the list.
void indim_nodes_become_body(const indim_node_list *list);

// Appends |node| (NULL: nothing), defining a new value, which is returned.
indim_value_id indim_nodes_put(indim_loop_builder *b, indim_node_list *list, indim_loop_node *node, indim_type type,
                               int32_t lanes);
// The same, defining an existing value.
void indim_nodes_put_as(indim_loop_builder *b, indim_node_list *list, indim_loop_node *node, indim_value_id value);
// The same, defining a new s64 scalar whose range follows from the arguments' ranges.
indim_value_id indim_nodes_put_index(indim_loop_builder *b, indim_node_list *list, indim_loop_node *node);
// A constant with these bits in every lane; sets the range of an s64.
indim_value_id indim_nodes_put_const(indim_loop_builder *b, indim_node_list *list, indim_type type, int32_t lanes,
                                     uint64_t bits);
// A sum of scalars whose window is one number.
indim_value_id indim_nodes_put_sum(indim_loop_builder *b, indim_node_list *list, const indim_affine *sum);
// A detached for, empty and without carried values, to be inserted into |outer|. NULL after a failure.
indim_loop_node *indim_loop_new_for(indim_loop_builder *b, indim_loop_body *outer, const indim_value_id *bounds,
                                    int64_t step);

// In |body| and nested bodies, replaces uses of each value v of the |count| from |first| on by to[v - first], where not
// 0.
void indim_loop_rename(indim_loop_body *body, indim_value_id first, int32_t count, const indim_value_id *to);

// A new value with the properties of |old|, numbered after the last one: parameters and results follow each other. 0 after a failure.
indim_value_id indim_loop_renumber(indim_loop_builder *b, indim_value_id old);

// Zeroed memory in an arena of the pass; NULL after a failure, which the builder keeps.
void *indim_loop_scratch(indim_loop_builder *b, indim_arena *arena, int64_t count, size_t size);
// For each storage whether it has bytes in common with another; NULL after a failure.
const bool *indim_loop_shared_storages(indim_loop_builder *b, indim_arena *arena);
bool indim_loop_all_same(int32_t count, const indim_value_id *values);

#endif  // INDIM_LOOP_REWRITE_H
