// Access analysis by a dry run before a nest is built: its body is generated for one element at a general index and
// discarded; its accesses, guards and uses of indices are recorded (access_note.c).
#include <string.h>

#include "loop/nest/element.h"

void indim_nest_analyze(indim_nest *nest, indim_access_list *out_list) {
  indim_lowering *l = nest->l;
  memset(out_list, 0, sizeof *out_list);
  out_list->widest = 1;
  nest->list = out_list;
  if (indim_lower_failed(l)) {
    return;
  }
  indim_loop_body *outside = l->b.body;
  indim_access_analysis analysis = {.rank = nest->rank, .list = out_list};
  indim_coord index[INDIM_MAX_RANK];
  for (int32_t d = 0; d < nest->rank; d++) {
    analysis.index[d] = nest->sizes[d] == 1
                            ? indim_loop_index(&l->b, 0)
                            : indim_loop_for_begin(&l->b, indim_loop_index(&l->b, 0),
                                                   indim_loop_index(&l->b, nest->sizes[d]), 1, 0, NULL, NULL);
    index[d] = (indim_coord){analysis.index[d], 0};
  }
  if (l->b.body == outside) {  // the stores of a body without loops are discarded too
    (void)indim_loop_for_begin(&l->b, indim_loop_index(&l->b, 0), indim_loop_index(&l->b, 1), 1, 0, NULL, NULL);
  }
  indim_element_ctx k = {.l = l, .lanes = 1};
  indim_access_analysis *outer = l->survey;
  l->survey = &analysis;
  indim_element_forget(l);
  nest->body(nest, &k, index);
  l->survey = outer;
  indim_element_forget(l);
  for (indim_loop_body *body = l->b.body; body != outside; body = body->outer) {
    body->is_closed = true;
  }
  l->b.body = outside;
}
