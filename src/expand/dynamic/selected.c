// select-and-scatter, where what does not count could be selected: a window's element is looked for with its place and whether it
// counts, and the sources are scattered to these places.
//
//   places  = reduce-window of (elements, 0 1 2 ..., whether they count), -1 where a window has none that counts
//   result  = scatter of the sources that count to these places of an array of initial values
#include "expand/dynamic/padder.h"
#include "graph/infer_kit.h"

// (element, its place, whether it counts) twice -> the one that is selected: the first, unless it does not count, or the second
// does and select(first, second) does not keep the first.
static const indim_computation *make_selector(indim_padder *p, const indim_instr *instr) {
  const indim_computation *select = indim_instr_computation(instr, INDIM_ATTR_SELECT);
  indim_type types[] = {instr->operands[0]->shape->type, INDIM_S64, INDIM_PRED};
  value all[6];
  value results[3];
  indim_shape scalar;
  indim_computation *outer = indim_padder_begin(p, "select");
  for (int32_t k = 0; k < 6; k++) {
    indim_build_fail(p->x.b, indim_shape_init(p->x.cx, types[k % 3], 0, NULL, &scalar));
    all[k] = indim_padder_parameter(p, k, &scalar);
  }
  const value both[] = {all[0], all[3]};
  value keeps = indim_expand_call(&p->x, p->made[select->index], both, 2);
  keeps = indim_build_binary(p->x.b, INDIM_OP_AND, keeps, all[2], NULL, 0);
  value takes = indim_build_unary(p->x.b, INDIM_OP_NOT, keeps);
  takes = indim_build_binary(p->x.b, INDIM_OP_AND, takes, all[5], NULL, 0);
  for (int k = 0; k < 2; k++) {
    results[k] = indim_build_select(p->x.b, takes, all[3 + k], all[k]);
  }
  results[2] = indim_build_binary(p->x.b, INDIM_OP_OR, all[2], all[5], NULL, 0);
  return indim_padder_end(p, indim_build_tuple(p->x.b, results, 3), outer);
}

// A scatter's computation has the old value first, that of a select-and-scatter the source.
static const indim_computation *make_scatterer(indim_padder *p, const indim_instr *instr) {
  const indim_computation *scatter = indim_instr_computation(instr, INDIM_ATTR_SCATTER);
  indim_computation *outer = indim_padder_begin(p, "scatter");
  value old = indim_padder_parameter(p, 0, scatter->parameters[1]->shape);
  value source = indim_padder_parameter(p, 1, scatter->parameters[0]->shape);
  const value both[] = {source, old};
  return indim_padder_end(p, indim_expand_call(&p->x, p->made[scatter->index], both, 2), outer);
}

// The place in row-major order of what each window selects, -1 for nothing.
static value find_places(indim_padder *p, const indim_instr *instr, const indim_sized *operands,
                         const indim_run_size *sizes) {
  const indim_shape *shape = instr->operands[0]->shape;
  const indim_computation *selector = make_selector(p, instr);
  int64_t count = indim_shape_element_count(shape);
  indim_shape flat;
  indim_build_fail(p->x.b, indim_shape_init(p->x.cx, INDIM_S64, 1, &count, &flat));
  value counts = indim_padder_counts(p, shape, sizes, UINT64_MAX);
  value yes = indim_build_scalar_int(p->x.b, INDIM_PRED, 1);
  value places = indim_build_reshape(p->x.b, indim_build_iota(p->x.b, &flat, 0), shape->sizes, shape->rank);
  const value all[] = {operands[0].data,
                       places,
                       counts == NULL ? indim_expand_repeat(&p->x, yes, shape, NULL) : counts,
                       indim_build_scalar_int(p->x.b, shape->type, 0),
                       indim_build_scalar_int(p->x.b, INDIM_S64, -1),
                       indim_build_scalar_int(p->x.b, INDIM_PRED, 0)};
  if (selector == NULL || indim_padder_failed(p)) {
    return NULL;
  }
  const indim_attr attrs[] = {*indim_instr_attr(instr, INDIM_ATTR_WINDOW),
                              indim_build_attr_computation(p->x.b, INDIM_ATTR_TO_APPLY, selector)};
  value found = indim_build_emit(p->x.b, INDIM_OP_REDUCE_WINDOW, NULL, all, 6, attrs, 2);
  return found == NULL ? NULL : indim_build_get_tuple_element(p->x.b, found, 1);
}

static value scatter_to(indim_padder *p, const indim_instr *instr, const indim_sized *operands, value places) {
  const indim_shape *shape = instr->operands[0]->shape;
  const indim_computation *scatterer = make_scatterer(p, instr);
  const int64_t zero = 0;
  int64_t count = indim_shape_element_count(shape);
  int64_t sources = indim_shape_element_count(instr->operands[1]->shape);
  const value all[] = {indim_build_broadcast(p->x.b, operands[2].data, &count, 1),
                       indim_build_reshape(p->x.b, places, &sources, 1),
                       indim_build_reshape(p->x.b, operands[1].data, &sources, 1)};
  if (scatterer == NULL || indim_padder_failed(p)) {
    return NULL;
  }
  const indim_attr attrs[] = {indim_build_attr_ints(p->x.b, INDIM_ATTR_UPDATE_WINDOW_DIMS, NULL, 0),
                              indim_build_attr_ints(p->x.b, INDIM_ATTR_INSERTED_WINDOW_DIMS, &zero, 1),
                              indim_build_attr_ints(p->x.b, INDIM_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, &zero, 1),
                              indim_build_attr_int(INDIM_ATTR_INDEX_VECTOR_DIM, 1),
                              indim_build_attr_computation(p->x.b, INDIM_ATTR_TO_APPLY, scatterer)};
  value result = indim_build_emit(p->x.b, INDIM_OP_SCATTER, NULL, all, 3, attrs, 5);
  return indim_build_reshape(p->x.b, result, shape->sizes, shape->rank);
}

static bool is_trivial(const indim_window_dim *window) {
  return window->size == 1 && window->stride == 1 && window->pad_low == 0 && window->pad_high == 0 &&
         window->base_dilation == 1;
}

indim_sized indim_dynamic_select_and_scatter(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  const indim_window_dim *window = indim_instr_attr(instr, INDIM_ATTR_WINDOW)->value.window;
  const indim_shape *shape = instr->operands[0]->shape;
  const indim_shape *sources = instr->operands[1]->shape;
  indim_run_size sizes[INDIM_MAX_RANK];
  indim_run_size source_sizes[INDIM_MAX_RANK];
  bool mixes = false;
  for (int32_t d = 0; d < shape->rank; d++) {
    sizes[d] = indim_size_of(&operands[0], shape, d);
    indim_run_size windows = indim_size_windows(p, sizes[d], &window[d]);
    source_sizes[d] = indim_size_least(p, indim_size_of(&operands[1], sources, d), windows);
    bool is_cut = indim_size_is_cut(sizes[d], shape->sizes[d]) || indim_size_is_cut(source_sizes[d], sources->sizes[d]);
    mixes = mixes || (is_cut && !(is_trivial(&window[d]) && indim_size_same(sizes[d], source_sizes[d])));
  }
  value data = NULL;
  if (mixes) {
    value places = find_places(p, instr, operands, sizes);
    value nowhere = indim_build_scalar_int(p->x.b, INDIM_S64, -1);
    data = scatter_to(p, instr, operands, indim_padder_mask(p, places, source_sizes, UINT64_MAX, nowhere));
  } else {
    data = indim_padder_emit_data(p, instr, operands);
  }
  return indim_padder_settle(p, instr->shape, indim_padder_clear(p, data, sizes), sizes);
}
