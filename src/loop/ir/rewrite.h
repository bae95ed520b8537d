// Changes of a finished program, in which no body is open any more: lists of nodes that become a body or a part of one, new
// nodes and constants in them, nodes that move to another body, and values under other names. The builder that these take
// makes values and nodes and keeps the first error; after one everything answers 0.
#ifndef INDIM_LOOP_REWRITE_H
#define INDIM_LOOP_REWRITE_H

#include "loop/ir/build.h"

// Nodes for one body, in their order.
typedef struct indim_node_list {
  indim_loop_body *body;
  indim_loop_node *first, *last;
} indim_node_list;

// Appends a node that stands in no list, or in one that is given up: what comes after it there is lost.
void indim_nodes_append(indim_node_list *list, indim_loop_node *node);
// Appends all of |more|, which is empty then.
void indim_nodes_append_all(indim_node_list *list, indim_node_list *more);
// Appends a node of another body with all that it defines: its values and the bodies inside belong to the list's body now.
void indim_nodes_move(indim_loop_program *program, indim_node_list *list, indim_loop_node *node);
// Puts the list in front of what |*link| points to, a |first| or |next| of its body, and answers the link behind the list.
indim_loop_node **indim_nodes_insert(indim_node_list *list, indim_loop_node **link);
// Makes the list all that its body has.
void indim_nodes_become_body(const indim_node_list *list);

// Appends |node| (NULL: nothing) and lets it define a new value, which is the answer.
indim_value_id indim_nodes_put(indim_loop_builder *b, indim_node_list *list, indim_loop_node *node, indim_type type,
                               int32_t lanes);
// The same with a value that is there already.
void indim_nodes_put_as(indim_loop_builder *b, indim_node_list *list, indim_loop_node *node, indim_value_id value);
// The same with a new s64 scalar that has the range that the arguments' ranges say.
indim_value_id indim_nodes_put_index(indim_loop_builder *b, indim_node_list *list, indim_loop_node *node);
// A constant with these bits in every lane; the range of an s64 is known.
indim_value_id indim_nodes_put_const(indim_loop_builder *b, indim_node_list *list, indim_type type, int32_t lanes,
                                     uint64_t bits);
// A sum of scalars whose window is one number.
indim_value_id indim_nodes_put_sum(indim_loop_builder *b, indim_node_list *list, const indim_affine *sum);
// A for with nothing in it, which stands nowhere yet and carries nothing, for a place in |outer|. NULL after a failure.
indim_loop_node *indim_loop_new_for(indim_loop_builder *b, indim_loop_body *outer, const indim_value_id *bounds,
                                    int64_t step);

// Lets |body| and the bodies inside use to[v - first] for each value v of |count| from |first| on, where that is not 0.
void indim_loop_rename(indim_loop_body *body, indim_value_id first, int32_t count, const indim_value_id *to);

// Zeroed memory of an arena of the pass; NULL after a failure, which the builder keeps.
void *indim_loop_scratch(indim_loop_builder *b, indim_arena *arena, int64_t count, size_t size);
bool indim_loop_all_same(int32_t count, const indim_value_id *values);

#endif  // INDIM_LOOP_REWRITE_H
