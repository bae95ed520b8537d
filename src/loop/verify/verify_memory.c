// The verifier's rules for memory, access by access: types, lanes, masks, which storages are writable, and that every
// unmasked access is inside its storage by the range of its address. In a parallel loop the accesses are recorded.
#include "host/convolution.h"
#include "host/matmul.h"
#include "host/sort.h"
#include "loop/ir/index_math.h"
#include "loop/verify/verify.h"

static const indim_loop_value *value_of(const indim_loop_verifier *v, indim_value_id value) {
  return &v->program->values[value];
}

// Single accesses -------------------------------------------------------------------------------------------------------

indim_status indim_loop_record(indim_loop_verifier *v, const indim_loop_node *node, const indim_effect *e,
                               bool is_write) {
  if (v->access_count == v->access_capacity) {
    size_t capacity = v->access_capacity == 0 ? 32 : v->access_capacity * 2;
    void *memory = v->accesses;
    INDIM_TRY(indim_resize(v->program->cx, &memory, v->access_capacity * sizeof *v->accesses,
                           capacity * sizeof *v->accesses));
    v->accesses = memory;
    v->access_capacity = capacity;
  }
  v->accesses[v->access_count++] =
      (indim_loop_access){e->storage, v->roots[e->storage], is_write, e->is_masked, e->address, e->low, e->high, node};
  return INDIM_OK;
}

static indim_status check_storage(const indim_loop_verifier *v, const indim_loop_node *node, int32_t index,
                                  bool is_write) {
  if (index < 0 || index >= v->program->storage_count) {
    return indim_verify_fail_node(v, node, "storage %d does not exist", (int)index);
  }
  const indim_storage *storage = v->program->storages[index];
  bool is_argument = storage->kind == INDIM_STORAGE_ARGUMENT;
  if (is_write && (storage->kind == INDIM_STORAGE_CONSTANT || (is_argument && !storage->is_donated))) {
    return indim_verify_fail_node(v, node, "%s may not be written", storage->name);
  }
  const indim_storage *root = v->program->storages[v->roots[index]];
  if (is_write &&
      (root->kind == INDIM_STORAGE_CONSTANT || (root->kind == INDIM_STORAGE_ARGUMENT && !root->is_donated))) {
    return indim_verify_fail_node(v, node, "%s aliases %s, which may not be written", storage->name, root->name);
  }
  int64_t bytes = indim_index_mul_saturated(root->elements, indim_type_bytes(root->type));
  if (root->kind == INDIM_STORAGE_SCRATCH && v->program->scratch_bytes > 0 &&
      (root->offset < 0 || root->offset % 64 != 0 || bytes > v->program->scratch_bytes - root->offset)) {
    return indim_verify_fail_node(v, node, "%s is not inside the scratch block", root->name);
  }
  return INDIM_OK;
}

// Masked accesses are exempt.
static indim_status check_inside(const indim_loop_verifier *v, const indim_loop_node *node, const indim_effect *e) {
  const indim_loop_value *at = value_of(v, e->address);
  const indim_storage *to = v->program->storages[e->storage];
  bool is_inside = at->low > INT64_MIN && at->high < INT64_MAX && indim_index_add_saturated(at->low, e->low) >= 0 &&
                   indim_index_add_saturated(at->high, e->high) < to->elements;
  if (is_inside || v->dead != 0 || e->is_masked) {
    return INDIM_OK;
  }
  return indim_verify_fail_node(v, node, "elements %lld..%lld from v%d, which is in %lld..%lld, of %s with %lld",
                                (long long)e->low, (long long)e->high, (int)e->address, (long long)at->low,
                                (long long)at->high, to->name, (long long)to->elements);
}

// All accesses of a node whose storages and addresses are valid.
static indim_status check_accesses(indim_loop_verifier *v, const indim_loop_node *node) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  int32_t count = indim_loop_effects(v->program, node, effects);
  for (int32_t i = 0; i < count; i++) {
    const indim_effect *e = &effects[i];
    if (e->low > e->high) {
      continue;
    }
    INDIM_TRY(check_inside(v, node, e));
    INDIM_TRY(v->parallel != NULL && e->reads ? indim_loop_record(v, node, e, false) : INDIM_OK);
    INDIM_TRY(v->parallel != NULL && e->writes ? indim_loop_record(v, node, e, true) : INDIM_OK);
  }
  return INDIM_OK;
}

static indim_status check_lanes_at(indim_loop_verifier *v, const indim_loop_node *node, const indim_loop_value *value,
                                   bool is_write) {
  const indim_loop_value *address = value_of(v, node->args[0]);
  const indim_storage *storage = v->program->storages[node->u.memory.storage];
  if (address->type != INDIM_S64 || (address->lanes != 1 && address->lanes != value->lanes)) {
    return indim_verify_fail_node(v, node, "the address must be s64, with one lane or one per element");
  }
  if (value->type != storage->type) {
    return indim_verify_fail_node(v, node, "%s holds %s, not %s", storage->name, indim_type_text(storage->type),
                                  indim_type_text(value->type));
  }
  if (node->u.memory.has_mask) {
    const indim_loop_value *mask = value_of(v, node->args[is_write ? 2 : 1]);
    if (mask->type != INDIM_PRED || mask->lanes != value->lanes) {
      return indim_verify_fail_node(v, node, "the mask must be a pred of as many lanes");
    }
  }
  return check_accesses(v, node);
}

static indim_status check_load(indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_loop_value *result = value_of(v, node->first_result);
  INDIM_TRY(check_storage(v, node, node->u.memory.storage, false));
  if (node->arg_count != (node->u.memory.has_mask ? 3 : 1)) {
    return indim_verify_fail_node(v, node, "a load of %d arguments", (int)node->arg_count);
  }
  if (node->u.memory.has_mask) {
    const indim_loop_value *fill = value_of(v, node->args[2]);
    if (fill->type != result->type || fill->lanes != result->lanes) {
      return indim_verify_fail_node(v, node, "the fill is not of the result's type");
    }
  }
  if (result->type == INDIM_S64 && (result->low != INT64_MIN || result->high != INT64_MAX)) {
    return indim_verify_fail_node(v, node, "v%d may be outside of its range", (int)node->first_result);
  }
  return check_lanes_at(v, node, result, false);
}

static indim_status check_store(indim_loop_verifier *v, const indim_loop_node *node) {
  INDIM_TRY(check_storage(v, node, node->u.memory.storage, true));
  if (node->arg_count != (node->u.memory.has_mask ? 3 : 2)) {
    return indim_verify_fail_node(v, node, "a store of %d arguments", (int)node->arg_count);
  }
  return check_lanes_at(v, node, value_of(v, node->args[1]), true);
}

static bool is_address(const indim_loop_verifier *v, indim_value_id x) {
  return value_of(v, x)->type == INDIM_S64 && value_of(v, x)->lanes == 1;
}

static indim_status check_copy(indim_loop_verifier *v, const indim_loop_node *node) {
  INDIM_TRY(check_storage(v, node, node->u.move.to, true));
  INDIM_TRY(check_storage(v, node, node->u.move.from, false));
  const indim_storage *to = v->program->storages[node->u.move.to];
  const indim_storage *from = v->program->storages[node->u.move.from];
  if (!is_address(v, node->args[0]) || !is_address(v, node->args[1]) || node->u.move.count < 0) {
    return indim_verify_fail_node(v, node, "a copy takes two s64 addresses and a count");
  }
  if (to->type != from->type) {
    return indim_verify_fail_node(v, node, "a copy from %s to %s", indim_type_text(from->type),
                                  indim_type_text(to->type));
  }
  return check_accesses(v, node);
}

static indim_status check_fill(indim_loop_verifier *v, const indim_loop_node *node) {
  INDIM_TRY(check_storage(v, node, node->u.move.to, true));
  const indim_loop_value *value = value_of(v, node->args[1]);
  if (!is_address(v, node->args[0]) || node->u.move.count < 0) {
    return indim_verify_fail_node(v, node, "a fill takes an s64 address and a count");
  }
  if (value->lanes != 1 || value->type != v->program->storages[node->u.move.to]->type) {
    return indim_verify_fail_node(v, node, "a fill with other than one element of the storage's type");
  }
  return check_accesses(v, node);
}

// The prefetched elements may be outside the storage, the address may not.
static indim_status check_prefetch(const indim_loop_verifier *v, const indim_loop_node *node) {
  INDIM_TRY(check_storage(v, node, node->u.prefetch.storage, false));
  const indim_loop_value *at = value_of(v, node->args[0]);
  bool is_inside = at->low >= 0 && at->high < v->program->storages[node->u.prefetch.storage]->elements;
  if (!is_address(v, node->args[0]) || (!is_inside && v->dead == 0) || node->u.prefetch.count < 0) {
    return indim_verify_fail_node(v, node, "a prefetch starts at an s64 address in its storage");
  }
  return INDIM_OK;
}

// Calls of the host -----------------------------------------------------------------------------------------------------

// The three arrays of a product, or of a convolution.
static indim_status check_types(const indim_loop_verifier *v, const indim_loop_node *node, const int64_t *types) {
  for (int32_t i = 0; i < node->u.host.storage_count; i++) {
    const indim_storage *storage = v->program->storages[node->u.host.storages[i]];
    if ((int64_t)storage->type != types[i]) {
      return indim_verify_fail_node(v, node, "%s is not of the product's type", storage->name);
    }
  }
  return INDIM_OK;
}

static indim_status check_matmul(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_host_matmul *p = (const indim_host_matmul *)(const void *)node->u.host.numbers;
  const int64_t types[] = {p->type, indim_matmul_lhs_type(p), indim_matmul_rhs_type(p)};
  if (!indim_matmul_takes(types[0], types[1], types[2]) || p->batch < 0 || p->m < 0 || p->n < 0 || p->k < 0) {
    return indim_verify_fail_node(v, node, "matmul of an unsupported type or sizes");
  }
  if (v->parallel != NULL && p->single_thread == 0) {
    return indim_verify_fail_node(v, node, "in a parallel loop matmul must be computed by the calling thread");
  }
  if (p->is_symmetric != 0 &&
      (!indim_matmul_is_own_transpose(p) || node->u.host.storages[1] != node->u.host.storages[2] ||
       node->args[1] != node->args[2])) {
    return indim_verify_fail_node(v, node, "a symmetric matmul reads one array, by rows and by columns");
  }
  return check_types(v, node, types);
}

static indim_status check_convolution(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_host_convolution *p = (const indim_host_convolution *)(const void *)node->u.host.numbers;
  const int64_t types[] = {p->type, indim_convolution_image_type(p), indim_convolution_filter_type(p)};
  bool is_known = indim_convolution_takes(types[0], types[1], types[2]) && p->groups >= 0 && p->batch >= 0 &&
                  p->features >= 0 && p->outputs >= 0;
  for (int a = 0; a < 3; a++) {
    const indim_host_convolution_dim *d = &p->dims[a];
    is_known = is_known && d->out >= 0 && d->in >= 0 && d->taps >= 0 && d->stride > 0 && d->dilation > 0 &&
               d->base_dilation > 0;
  }
  if (!is_known) {
    return indim_verify_fail_node(v, node, "convolution of an unsupported type or sizes");
  }
  if (v->parallel != NULL && p->single_thread == 0) {
    return indim_verify_fail_node(v, node, "in a parallel loop convolution must be computed by the calling thread");
  }
  return check_types(v, node, types);
}

static int64_t elements_of(const indim_host_fft *p, bool is_complex) {
  bool is_real = p->kind == INDIM_HOST_FFT_RFFT || p->kind == INDIM_HOST_FFT_IRFFT;
  int64_t count = p->batch;
  for (int64_t d = 0; d < p->rank; d++) {
    bool is_half = is_real && is_complex && d == p->rank - 1;
    count = indim_index_mul_saturated(count, is_half ? p->lengths[d] / 2 + 1 : p->lengths[d]);
  }
  return count;
}

static indim_status check_fft(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_host_fft *p = (const indim_host_fft *)(const void *)node->u.host.numbers;
  bool is_known = p->kind >= INDIM_HOST_FFT_FFT && p->kind <= INDIM_HOST_FFT_IRFFT && p->rank >= 1 && p->rank <= 3 &&
                  (p->type == INDIM_F32 || p->type == INDIM_F64) && p->batch >= 0;
  if (!is_known || v->parallel != NULL) {
    return indim_verify_fail_node(v, node, "fft of an unsupported kind, type or rank, or in a parallel loop");
  }
  for (int i = 0; i < 2; i++) {
    const indim_storage *storage = v->program->storages[node->u.host.storages[i]];
    bool is_complex = p->kind != (i == 0 ? INDIM_HOST_FFT_IRFFT : INDIM_HOST_FFT_RFFT);
    indim_type type = is_complex ? indim_type_complex_of((indim_type)p->type) : (indim_type)p->type;
    if (storage->type != type || node->u.host.elements[i] != elements_of(p, is_complex)) {
      return indim_verify_fail_node(v, node, "%s is not of the transform's type or size", storage->name);
    }
  }
  return INDIM_OK;
}

static indim_status check_lapack(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_host_lapack *p = (const indim_host_lapack *)(const void *)node->u.host.numbers;
  int64_t count = p->result_count + p->operand_count;
  if (v->parallel != NULL || p->batch < 0 || count != node->u.host.storage_count || count > INDIM_HOST_LAPACK_ARRAYS ||
      p->result_count != node->u.host.written_count) {
    return indim_verify_fail_node(v, node, "lapack with other arrays than it says, or in a parallel loop");
  }
  for (int64_t i = 0; i < count; i++) {
    const indim_storage *storage = v->program->storages[node->u.host.storages[i]];
    const indim_host_lapack_array *a = &p->arrays[i];
    int64_t elements = indim_index_mul_saturated(a->rows, a->columns);
    elements = a->is_batched != 0 ? indim_index_mul_saturated(elements, p->batch) : elements;
    if (a->rows < 0 || a->columns < 0 || (int64_t)storage->type != a->type || node->u.host.elements[i] != elements) {
      return indim_verify_fail_node(v, node, "%s is not of the matrices' type or size", storage->name);
    }
  }
  return INDIM_OK;
}

// The arrays of a call, with those without elements left out.
static indim_status check_custom_call(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_host_custom_call *p = (const indim_host_custom_call *)(const void *)node->u.host.numbers;
  if (p->number == INDIM_LOOP_FAILS) {
    return INDIM_OK;
  }
  if (p->number < 0 || p->number >= v->program->calls.count || v->parallel != NULL) {
    return indim_verify_fail_node(v, node, "an unknown function of the caller's, or in a parallel loop");
  }
  const indim_call *call = v->program->calls.list[p->number];
  int32_t array = 0;
  int32_t written = 0;
  for (int64_t i = 0; i < indim_call_leaf_count(call); i++) {
    const indim_shape *shape = indim_call_leaf(call, i);
    if (shape->type == INDIM_TOKEN || indim_shape_element_count(shape) == 0) {
      continue;
    }
    written += i < indim_call_result_count(call) ? 1 : 0;
    if (array == node->u.host.storage_count ||
        v->program->storages[node->u.host.storages[array]]->type != shape->type ||
        node->u.host.elements[array] != indim_shape_element_count(shape)) {
      return indim_verify_fail_node(v, node, "array %d is not of the function's type or size", (int)array);
    }
    array++;
  }
  if (array != node->u.host.storage_count || written != node->u.host.written_count) {
    return indim_verify_fail_node(v, node, "a function of the caller's with other arrays than it says");
  }
  return INDIM_OK;
}

// A step is in no other, so no loop has one inside.
static indim_status check_clock(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_host_clock *p = (const indim_host_clock *)(const void *)node->u.host.numbers;
  const indim_loop_node *outer = node->body->owner;
  while (outer != NULL && outer->kind != INDIM_NODE_FOR) {
    outer = outer->body->owner;
  }
  return outer == NULL && p->step >= 0 ? INDIM_OK : indim_verify_fail_node(v, node, "a clock inside a loop nest");
}

static bool is_sort(const indim_host_sort *p) {
  bool is = p->outer >= 0 && p->inner >= 0 && p->size >= 0 && p->size <= INT32_MAX && p->kept >= 0 &&
            p->kept <= p->size && p->key_count >= 1 && p->key_count <= INDIM_HOST_SORT_KEYS && p->column_count >= 1 &&
            p->column_count <= INDIM_HOST_SORT_COLUMNS;
  for (int64_t k = 0; is && k < p->key_count; k++) {
    is = indim_sort_key_bytes(p->key_types[k]) > 0;
  }
  return is;
}

static indim_status check_sort(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_host_sort *p = (const indim_host_sort *)(const void *)node->u.host.numbers;
  if (!is_sort(p) || v->parallel != NULL || node->u.host.written_count != p->column_count + 1) {
    return indim_verify_fail_node(v, node, "a sort of unsupported sizes or keys, or in a parallel loop");
  }
  int64_t all = indim_index_mul_saturated(indim_sort_line_count(p), p->size);
  int64_t kept = indim_index_mul_saturated(indim_sort_line_count(p), p->kept);
  int64_t words = indim_index_mul_saturated(indim_sort_room(p), indim_sort_pieces(p));
  int64_t column = p->column_count + 1 + p->key_count;  // the array of the column at hand
  bool is = column <= node->u.host.storage_count && node->u.host.elements[p->column_count] == words &&
            v->program->storages[node->u.host.storages[p->column_count]]->type == INDIM_U64;
  for (int64_t k = 0; is && k < p->key_count; k++) {
    int64_t at = p->column_count + 1 + k;
    is = node->u.host.elements[at] == all &&
         (int64_t)v->program->storages[node->u.host.storages[at]]->type == p->key_types[k];
  }
  for (int64_t c = 0; is && c < p->column_count; c++) {
    indim_type type = v->program->storages[node->u.host.storages[c]]->type;
    is = node->u.host.elements[c] == kept;
    if (p->column_bytes[c] == 0) {
      is = is && type == INDIM_S32;
      continue;
    }
    is = is && column < node->u.host.storage_count && indim_type_bytes(type) == p->column_bytes[c] &&
         v->program->storages[node->u.host.storages[column]]->type == type && node->u.host.elements[column] == all;
    column++;
  }
  return is && column == node->u.host.storage_count
             ? INDIM_OK
             : indim_verify_fail_node(v, node, "a sort with other arrays than it says");
}

// What must hold of a service's numbers and arrays beyond its row.
typedef indim_status service_check(const indim_loop_verifier *v, const indim_loop_node *node);
static service_check *const service_checks[INDIM_HOST_SERVICE_COUNT] = {
#define INDIM_SERVICE(enumerator, name, storages, written, arrays) [INDIM_HOST_##enumerator] = check_##name,
#include "host/service.def"
};

static indim_status check_host(indim_loop_verifier *v, const indim_loop_node *node) {
  int32_t count = node->u.host.storage_count;
  const indim_service_info *info = indim_service_get(node->u.host.service);
  if (info == NULL) {
    return indim_verify_fail_node(v, node, "an unknown service of the host");
  }
  if (count < 0 || count > INDIM_MAX_HOST_STORAGES || count != node->arg_count) {
    return indim_verify_fail_node(v, node, "%d storages, %d addresses", (int)count, (int)node->arg_count);
  }
  bool is_row = info->storages < 0 || (count == info->storages && node->u.host.written_count == info->written);
  if (!is_row || node->u.host.number_count != info->numbers || info->is_dense != (node->u.host.elements != NULL)) {
    return indim_verify_fail_node(v, node, "%s takes %d storages, of which it writes %d, and %d numbers", info->name,
                                  (int)info->storages, (int)info->written, (int)info->numbers);
  }
  for (int32_t i = 0; i < count; i++) {
    INDIM_TRY(check_storage(v, node, node->u.host.storages[i], i < node->u.host.written_count));
    if (!is_address(v, node->args[i])) {
      return indim_verify_fail_node(v, node, "the host takes s64 addresses");
    }
  }
  INDIM_TRY(service_checks[node->u.host.service](v, node));
  return check_accesses(v, node);
}

indim_status indim_loop_verify_memory(indim_loop_verifier *v, const indim_loop_node *node) {
  if (node->kind == INDIM_NODE_LOAD) {
    return check_load(v, node);
  }
  if (node->kind == INDIM_NODE_STORE) {
    return check_store(v, node);
  }
  if (node->kind == INDIM_NODE_COPY) {
    return check_copy(v, node);
  }
  if (node->kind == INDIM_NODE_PREFETCH) {
    return check_prefetch(v, node);
  }
  return node->kind == INDIM_NODE_FILL ? check_fill(v, node) : check_host(v, node);
}
