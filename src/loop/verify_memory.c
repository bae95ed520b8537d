// The verifier's rules for what touches memory. Every access without a mask is inside its storage by the range of its
// address. In a parallel loop no iteration may touch what another one writes: of a storage that is read and written there,
// every access of iteration i is at c i + r with r in a window that is no wider than c times the step, or the like with
// the digits of i (its quotients and remainders) for i.
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "loop/verify.h"

static const indim_loop_value *value_of(const indim_loop_verifier *v, indim_lval value) {
  return &v->program->values[value];
}

// Single accesses -------------------------------------------------------------------------------------------------------

static indim_status record(indim_loop_verifier *v, const indim_loop_access *access) {
  if (v->access_count == v->access_capacity) {
    size_t capacity = v->access_capacity == 0 ? 32 : v->access_capacity * 2;
    void *memory = v->accesses;
    INDIM_TRY(indim_resize(v->program->cx, &memory, v->access_capacity * sizeof *v->accesses,
                           capacity * sizeof *v->accesses));
    v->accesses = memory;
    v->access_capacity = capacity;
  }
  v->accesses[v->access_count++] = *access;
  return INDIM_OK;
}

static indim_status check_storage(const indim_loop_verifier *v, const indim_loop_node *node, int32_t index,
                                  bool is_write) {
  if (index < 0 || index >= v->program->storage_count) {
    return indim_loop_broken(v, node, "storage %d is not there", (int)index);
  }
  const indim_storage *storage = v->program->storages[index];
  bool is_argument = storage->kind == INDIM_STORAGE_ARGUMENT;
  if (is_write && (storage->kind == INDIM_STORAGE_CONSTANT || (is_argument && !storage->is_donated))) {
    return indim_loop_broken(v, node, "%s may not be written", storage->name);
  }
  const indim_storage *root = v->program->storages[v->roots[index]];
  if (is_write &&
      (root->kind == INDIM_STORAGE_CONSTANT || (root->kind == INDIM_STORAGE_ARGUMENT && !root->is_donated))) {
    return indim_loop_broken(v, node, "%s has the bytes of %s, which may not be written", storage->name, root->name);
  }
  int64_t bytes = indim_index_mul_saturated(root->elements, indim_type_bytes(root->type));
  if (root->kind == INDIM_STORAGE_SCRATCH && v->program->scratch_bytes > 0 &&
      (root->offset < 0 || root->offset % 64 != 0 || bytes > v->program->scratch_bytes - root->offset)) {
    return indim_loop_broken(v, node, "%s is no part of the scratch block", root->name);
  }
  return INDIM_OK;
}

// An access of the elements |address| + low to |address| + high of |storage|; of none when low > high. What a mask covers
// need not be inside.
static indim_status check_span(indim_loop_verifier *v, const indim_loop_node *node, int32_t storage, indim_lval address,
                               int64_t low, int64_t high, bool is_write, bool is_masked) {
  const indim_loop_value *at = value_of(v, address);
  const indim_storage *to = v->program->storages[storage];
  if (low > high) {
    return INDIM_OK;
  }
  bool is_inside = at->low > INT64_MIN && at->high < INT64_MAX && indim_index_add_saturated(at->low, low) >= 0 &&
                   indim_index_add_saturated(at->high, high) < to->elements;
  if (!is_inside && v->dead == 0 && !is_masked) {
    return indim_loop_broken(v, node, "elements %lld..%lld behind v%d, which is in %lld..%lld, of %s with %lld",
                             (long long)low, (long long)high, (int)address, (long long)at->low, (long long)at->high,
                             to->name, (long long)to->elements);
  }
  indim_loop_access access = {storage, v->roots[storage], is_write, is_masked, address, low, high, node};
  return v->parallel == NULL ? INDIM_OK : record(v, &access);
}

static indim_status check_lanes_at(indim_loop_verifier *v, const indim_loop_node *node, const indim_loop_value *value,
                                   bool is_write) {
  const indim_loop_value *address = value_of(v, node->args[0]);
  const indim_storage *storage = v->program->storages[node->u.memory.storage];
  if (address->type != INDIM_S64 || (address->lanes != 1 && address->lanes != value->lanes)) {
    return indim_loop_broken(v, node, "the address is to be s64, one or as many as lanes");
  }
  if (value->type != storage->type) {
    return indim_loop_broken(v, node, "%s holds %s, not %s", storage->name, indim_type_text(storage->type),
                             indim_type_text(value->type));
  }
  if (node->u.memory.has_mask) {
    const indim_loop_value *mask = value_of(v, node->args[is_write ? 2 : 1]);
    if (mask->type != INDIM_PRED || mask->lanes != value->lanes) {
      return indim_loop_broken(v, node, "the mask is to be a pred of as many lanes");
    }
  }
  int64_t reach = address->lanes > 1 ? 0 : indim_index_mul_saturated(node->u.memory.lane_stride, value->lanes - 1);
  return check_span(v, node, node->u.memory.storage, node->args[0], reach < 0 ? reach : 0, reach > 0 ? reach : 0,
                    is_write, node->u.memory.has_mask);
}

static indim_status check_load(indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_loop_value *result = value_of(v, node->first_result);
  INDIM_TRY(check_storage(v, node, node->u.memory.storage, false));
  if (node->arg_count != (node->u.memory.has_mask ? 3 : 1)) {
    return indim_loop_broken(v, node, "a load of %d arguments", (int)node->arg_count);
  }
  if (node->u.memory.has_mask) {
    const indim_loop_value *fill = value_of(v, node->args[2]);
    if (fill->type != result->type || fill->lanes != result->lanes) {
      return indim_loop_broken(v, node, "the fill is not of the result's type");
    }
  }
  if (result->type == INDIM_S64 && (result->low != INT64_MIN || result->high != INT64_MAX)) {
    return indim_loop_broken(v, node, "v%d may be outside of its range", (int)node->first_result);
  }
  return check_lanes_at(v, node, result, false);
}

static indim_status check_store(indim_loop_verifier *v, const indim_loop_node *node) {
  INDIM_TRY(check_storage(v, node, node->u.memory.storage, true));
  if (node->arg_count != (node->u.memory.has_mask ? 3 : 2)) {
    return indim_loop_broken(v, node, "a store of %d arguments", (int)node->arg_count);
  }
  return check_lanes_at(v, node, value_of(v, node->args[1]), true);
}

static bool is_address(const indim_loop_verifier *v, indim_lval x) {
  return value_of(v, x)->type == INDIM_S64 && value_of(v, x)->lanes == 1;
}

static indim_status check_copy(indim_loop_verifier *v, const indim_loop_node *node) {
  INDIM_TRY(check_storage(v, node, node->u.move.to, true));
  INDIM_TRY(check_storage(v, node, node->u.move.from, false));
  const indim_storage *to = v->program->storages[node->u.move.to];
  const indim_storage *from = v->program->storages[node->u.move.from];
  if (!is_address(v, node->args[0]) || !is_address(v, node->args[1]) || node->u.move.count < 0) {
    return indim_loop_broken(v, node, "a copy takes two s64 addresses and a count");
  }
  if (to->type != from->type) {
    return indim_loop_broken(v, node, "a copy from %s to %s", indim_type_text(from->type), indim_type_text(to->type));
  }
  INDIM_TRY(check_span(v, node, node->u.move.to, node->args[0], 0, node->u.move.count - 1, true, false));
  return check_span(v, node, node->u.move.from, node->args[1], 0, node->u.move.count - 1, false, false);
}

static indim_status check_fill(indim_loop_verifier *v, const indim_loop_node *node) {
  INDIM_TRY(check_storage(v, node, node->u.move.to, true));
  const indim_loop_value *value = value_of(v, node->args[1]);
  if (!is_address(v, node->args[0]) || node->u.move.count < 0) {
    return indim_loop_broken(v, node, "a fill takes an s64 address and a count");
  }
  if (value->lanes != 1 || value->type != v->program->storages[node->u.move.to]->type) {
    return indim_loop_broken(v, node, "a fill with other than one element of the storage's type");
  }
  return check_span(v, node, node->u.move.to, node->args[0], 0, node->u.move.count - 1, true, false);
}

// Calls of the host -----------------------------------------------------------------------------------------------------

// The numbers of INDIM_HOST_MATMUL, as the struct of run/host.h holds them.
enum matmul_number {
  MATMUL_TYPE,
  MATMUL_BATCH,
  MATMUL_M,
  MATMUL_N,
  MATMUL_K,
  MATMUL_LHS_BATCH,
  MATMUL_LHS_M,
  MATMUL_LHS_K,
  MATMUL_RHS_BATCH,
  MATMUL_RHS_K,
  MATMUL_RHS_N,
  MATMUL_OUT_BATCH,
  MATMUL_OUT_M,
  MATMUL_ACCUMULATE,
  MATMUL_COUNT
};

// The first and the last element that three sizes with their strides reach; low > high when a size is 0.
static void reach_of(const int64_t *sizes, const int64_t *strides, int64_t *out_low, int64_t *out_high) {
  *out_low = 0;
  *out_high = 0;
  for (int i = 0; i < 3; i++) {
    int64_t reach = indim_index_mul_saturated(sizes[i] - 1, strides[i]);
    int64_t *to = reach < 0 ? out_low : out_high;
    *to = indim_index_add_saturated(*to, reach);
  }
  if (sizes[0] <= 0 || sizes[1] <= 0 || sizes[2] <= 0) {
    *out_low = 1;
    *out_high = 0;
  }
}

static indim_status check_matmul(indim_loop_verifier *v, const indim_loop_node *node) {
  const int64_t *n = node->u.host.numbers;
  if (node->u.host.storage_count != 3 || node->u.host.number_count != MATMUL_COUNT) {
    return indim_loop_broken(v, node, "matmul takes 3 storages and %d numbers", MATMUL_COUNT);
  }
  if (!node->u.host.is_written[0] || node->u.host.is_written[1] || node->u.host.is_written[2]) {
    return indim_loop_broken(v, node, "matmul writes its first storage and no other");
  }
  if ((n[MATMUL_TYPE] != INDIM_F32 && n[MATMUL_TYPE] != INDIM_F64) || n[MATMUL_BATCH] < 0 || n[MATMUL_M] < 0 ||
      n[MATMUL_N] < 0 || n[MATMUL_K] < 0) {
    return indim_loop_broken(v, node, "matmul of a type or sizes that it does not take");
  }
  const int64_t sizes[3][3] = {{n[MATMUL_BATCH], n[MATMUL_M], n[MATMUL_N]},
                               {n[MATMUL_BATCH], n[MATMUL_M], n[MATMUL_K]},
                               {n[MATMUL_BATCH], n[MATMUL_K], n[MATMUL_N]}};
  const int64_t strides[3][3] = {{n[MATMUL_OUT_BATCH], n[MATMUL_OUT_M], 1},
                                 {n[MATMUL_LHS_BATCH], n[MATMUL_LHS_M], n[MATMUL_LHS_K]},
                                 {n[MATMUL_RHS_BATCH], n[MATMUL_RHS_K], n[MATMUL_RHS_N]}};
  for (int i = 0; i < 3; i++) {
    int64_t low = 0;
    int64_t high = 0;
    int32_t storage = node->u.host.storages[i];
    if ((int64_t)v->program->storages[storage]->type != n[MATMUL_TYPE]) {
      return indim_loop_broken(v, node, "%s is not of the product's type", v->program->storages[storage]->name);
    }
    reach_of(sizes[i], strides[i], &low, &high);
    INDIM_TRY(check_span(v, node, storage, node->args[i], low, high, i == 0, false));
    if (i == 0 && n[MATMUL_ACCUMULATE] != 0) {
      INDIM_TRY(check_span(v, node, storage, node->args[i], low, high, false, false));
    }
  }
  return INDIM_OK;
}

static indim_status check_host(indim_loop_verifier *v, const indim_loop_node *node) {
  int32_t count = node->u.host.storage_count;
  if (count < 0 || count > INDIM_MAX_HOST_STORAGES || count != node->arg_count || node->u.host.number_count < 0 ||
      node->u.host.number_count > INDIM_MAX_HOST_NUMBERS) {
    return indim_loop_broken(v, node, "%d storages, %d addresses, %d numbers", (int)count, (int)node->arg_count,
                             (int)node->u.host.number_count);
  }
  for (int32_t i = 0; i < count; i++) {
    INDIM_TRY(check_storage(v, node, node->u.host.storages[i], node->u.host.is_written[i]));
    if (!is_address(v, node->args[i])) {
      return indim_loop_broken(v, node, "the host takes s64 addresses");
    }
  }
  switch (node->u.host.service) {
  case INDIM_HOST_MATMUL:
    return check_matmul(v, node);
  case INDIM_HOST_SERVICE_COUNT:
    break;
  }
  return indim_loop_broken(v, node, "a service that the host does not have");
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
  return node->kind == INDIM_NODE_FILL ? check_fill(v, node) : check_host(v, node);
}

// Parallel loops --------------------------------------------------------------------------------------------------------

// An address as the sum of what is fixed in an iteration and a window that it moves in while the iteration runs.
enum { MAX_PLACE_TERMS = 32, MAX_EXPANSIONS = 256 };

typedef struct place {
  int32_t count;
  indim_lval terms[MAX_PLACE_TERMS];  // sorted
  int64_t coefficients[MAX_PLACE_TERMS];
  int64_t low, high;  // the window
} place;

static bool add_term(place *p, indim_lval term, int64_t coefficient) {
  int32_t at = 0;
  while (at < p->count && p->terms[at] < term) {
    at++;
  }
  if (at < p->count && p->terms[at] == term) {
    return indim_int_add(p->coefficients[at], coefficient, &p->coefficients[at]);
  }
  if (p->count == MAX_PLACE_TERMS) {
    return false;
  }
  for (int32_t i = p->count; i > at; i--) {
    p->terms[i] = p->terms[i - 1];
    p->coefficients[i] = p->coefficients[i - 1];
  }
  p->terms[at] = term;
  p->coefficients[at] = coefficient;
  p->count++;
  return true;
}

static void remove_term(place *p, int32_t at) {
  for (int32_t i = at + 1; i < p->count; i++) {
    p->terms[i - 1] = p->terms[i];
    p->coefficients[i - 1] = p->coefficients[i];
  }
  p->count--;
}

// Widens the window by coefficient * [low, high].
static bool widen(place *p, int64_t coefficient, int64_t low, int64_t high) {
  int64_t from = 0;
  int64_t to = 0;
  return indim_index_mul(coefficient, coefficient > 0 ? low : high, &from) &&
         indim_index_mul(coefficient, coefficient > 0 ? high : low, &to) && indim_int_add(p->low, from, &p->low) &&
         indim_int_add(p->high, to, &p->high);
}

// How far a for's index gets beyond its begin. A for to the lesser of two ends goes no further than to either.
static bool reach_of_for(const indim_loop_verifier *v, const indim_loop_node *node, int64_t *out_reach) {
  const indim_loop_node *end = value_of(v, node->args[1])->node;
  int64_t distance = 0;
  bool is_known = indim_index_distance(v->program, node->args[0], node->args[1], &distance);
  if (!is_known && end != NULL && end->kind == INDIM_NODE_SCALAR && end->u.op.op == INDIM_OP_MINIMUM) {
    is_known = indim_index_distance(v->program, node->args[0], end->args[0], &distance) ||
               indim_index_distance(v->program, node->args[0], end->args[1], &distance);
  }
  *out_reach = distance > 0 ? (distance - 1) / node->u.loop.step * node->u.loop.step : 0;
  return is_known;
}

// Replaces term |at|, which is made inside the parallel loop, by what it is made of. False when nothing is known of it.
static bool expand(const indim_loop_verifier *v, place *p, int32_t at) {
  indim_lval term = p->terms[at];
  int64_t coefficient = p->coefficients[at];
  const indim_loop_value *value = value_of(v, term);
  const indim_loop_node *node = value->node;
  int64_t reach = 0;
  remove_term(p, at);
  if (node != NULL && node->kind == INDIM_NODE_AFFINE) {
    bool fits = widen(p, coefficient, node->u.affine.constant, node->u.affine.constant);
    for (int32_t i = 0; i < node->arg_count && fits; i++) {
      int64_t product = 0;
      fits =
          indim_index_mul(coefficient, node->u.affine.coefficients[i], &product) && add_term(p, node->args[i], product);
    }
    return fits;
  }
  if (node != NULL && node->kind == INDIM_NODE_SPLAT) {
    return add_term(p, node->args[0], coefficient);
  }
  const indim_loop_node *owner = value->body->owner;
  if (node == NULL && owner->kind == INDIM_NODE_FOR && reach_of_for(v, owner, &reach)) {
    return add_term(p, owner->args[0], coefficient) && widen(p, coefficient, 0, reach);
  }
  return value->low > INT64_MIN && value->high < INT64_MAX && widen(p, coefficient, value->low, value->high);
}

// A part of the parallel index i: (i / divisor) mod |modulus|, 0 being none.
typedef struct digit {
  int64_t divisor, modulus;
} digit;

static bool digit_of(const indim_loop_verifier *v, indim_lval term, digit *out);

// Whether |term| is to be expanded: a sum, a constant, what differs between lanes, or what is made in a body inside the
// parallel loop's own; |all| adds what is made in that body itself and is no digit of its index.
static bool is_inner(const indim_loop_verifier *v, indim_lval term, bool all) {
  const indim_loop_value *value = value_of(v, term);
  const indim_loop_body *body = v->parallel->bodies[0];
  digit d = {0, 0};
  bool is_sum = value->node != NULL && value->node->kind == INDIM_NODE_AFFINE;
  return is_sum || value->lanes > 1 || value->low == value->high || value->body->depth > body->depth ||
         (all && value->body == body && !digit_of(v, term, &d));
}

// Resolves an access's address. False when its window is not known.
static bool resolve(const indim_loop_verifier *v, const indim_loop_access *access, bool all, place *out) {
  *out = (place){.low = access->low, .high = access->high};
  bool fits = add_term(out, access->address, 1);
  for (int rounds = 0; fits && rounds < MAX_EXPANSIONS; rounds++) {
    int32_t at = 0;
    while (at < out->count && out->coefficients[at] != 0 && !is_inner(v, out->terms[at], all)) {
      at++;
    }
    if (at == out->count) {
      return true;
    }
    if (out->coefficients[at] == 0) {
      remove_term(out, at);
    } else {
      fits = expand(v, out, at);
    }
  }
  return false;
}

// Whether |term| is a digit of the parallel index.
static bool digit_of(const indim_loop_verifier *v, indim_lval term, digit *out) {
  indim_lval index = v->parallel->bodies[0]->first_parameter;
  const indim_loop_node *chain[8];
  int count = 0;
  while (term != index) {
    const indim_loop_node *node = value_of(v, term)->node;
    if (node == NULL || count == 8 || (node->kind != INDIM_NODE_FLOORDIV && node->kind != INDIM_NODE_MODULO)) {
      return false;
    }
    chain[count++] = node;
    term = node->args[0];
  }
  *out = (digit){1, 0};
  while (count-- > 0) {
    int64_t number = chain[count]->u.affine.constant;
    if (out->modulus != 0 && out->modulus % number != 0) {
      return false;
    }
    if (chain[count]->kind == INDIM_NODE_MODULO) {
      out->modulus = number;
    } else if (!indim_index_mul(out->divisor, number, &out->divisor)) {
      return false;
    } else {
      out->modulus /= number;
      if (out->modulus == 1) {
        return false;
      }
    }
  }
  return true;
}

// Whether the terms that change with the iteration tell iterations apart: their digits leave no part of the index out.
// i mod step is the same in all iterations; i mod d and (i / d) mod m make i mod (d m).
static bool determines_index(const indim_loop_verifier *v, const place *p) {
  const indim_loop_value *index = value_of(v, v->parallel->bodies[0]->first_parameter);
  int64_t step = v->parallel->u.loop.step;
  int64_t known = step;  // i mod |known| is known
  for (int32_t rounds = 0; rounds <= p->count; rounds++) {
    int64_t next = known;
    for (int32_t i = 0; i < p->count; i++) {
      digit d = {0, 0};
      int64_t end = 0;
      bool is_digit = digit_of(v, p->terms[i], &d);
      if (is_digit && d.modulus == 0 && (d.divisor <= step || known % d.divisor == 0)) {
        return true;
      }
      if (is_digit && d.modulus != 0 && known % d.divisor == 0 && indim_index_mul(d.divisor, d.modulus, &end)) {
        next = end > next ? end : next;
      }
    }
    if (index->low >= 0 && index->high < next) {
      return true;
    }
    known = next;
  }
  return false;
}

// Whether places of different iterations, each with the window's elements around it, are apart: as in a number system,
// each coefficient is at least as large as all that the smaller ones and the window reach.
static bool keeps_apart(const indim_loop_verifier *v, const place *p) {
  const indim_loop_body *body = v->parallel->bodies[0];
  int64_t width = indim_index_add_saturated(indim_index_add_saturated(p->high, 1), p->low == INT64_MIN ? 0 : -p->low);
  bool is_used[MAX_PLACE_TERMS] = {false};
  for (int32_t rounds = 0; rounds < p->count; rounds++) {
    int32_t least = -1;
    int64_t least_size = 0;
    for (int32_t i = 0; i < p->count; i++) {
      int64_t size = p->coefficients[i] < 0 ? indim_index_mul_saturated(p->coefficients[i], -1) : p->coefficients[i];
      bool counts = !is_used[i] && value_of(v, p->terms[i])->body == body;
      if (counts && (least < 0 || size < least_size)) {
        least = i;
        least_size = size;
      }
    }
    if (least < 0) {
      break;
    }
    const indim_loop_value *value = value_of(v, p->terms[least]);
    int64_t gap = p->terms[least] == body->first_parameter ? v->parallel->u.loop.step : 1;
    if (value->low == INT64_MIN || value->high == INT64_MAX || indim_index_mul_saturated(least_size, gap) < width) {
      return false;
    }
    int64_t reach = indim_index_mul_saturated(least_size, indim_index_add_saturated(value->high, -value->low));
    width = indim_index_add_saturated(width, reach);
    is_used[least] = true;
  }
  return width < INT64_MAX && determines_index(v, p);
}

// Whether the same terms with the same coefficients stand in both.
static bool same_terms(const place *x, const place *y) {
  return x->count == y->count && memcmp(x->terms, y->terms, (size_t)x->count * sizeof *x->terms) == 0 &&
         memcmp(x->coefficients, y->coefficients, (size_t)x->count * sizeof *x->coefficients) == 0;
}

// Accesses whose addresses are the same sum, with one window around all of them.
typedef struct access_class {
  place at;
  bool is_read, is_written;
  const indim_loop_node *node;
} access_class;

enum { MAX_CLASSES = 32, MAX_FREE_TERMS = 4, MAX_VALUES = 4 };

// Whether |term| has one value while the parallel loop runs.
static bool is_outer(const indim_loop_verifier *v, indim_lval term) {
  return value_of(v, term)->body->depth < v->parallel->bodies[0]->depth;
}

// Adds the terms of |from| times |sign| to a difference of two places: outer ones as terms, of the others, which are those
// of some iteration, what they reach.
static bool add_place(const indim_loop_verifier *v, place *difference, const place *from, int64_t sign) {
  bool fits = widen(difference, sign, from->low, from->high);
  for (int32_t i = 0; i < from->count && fits; i++) {
    const indim_loop_value *value = value_of(v, from->terms[i]);
    int64_t coefficient = indim_index_mul_saturated(from->coefficients[i], sign);
    fits = is_outer(v, from->terms[i]) ? add_term(difference, from->terms[i], coefficient)
                                       : value->low > INT64_MIN && value->high < INT64_MAX &&
                                             widen(difference, coefficient, value->low, value->high);
  }
  return fits;
}

// Whether the difference is never 0: not for any of the few values that each of its terms may have (as of the number of
// the half of a pair of buffers that is read, the other being written).
static bool is_never_zero(const indim_loop_verifier *v, const place *difference) {
  int64_t at[MAX_FREE_TERMS] = {0};
  place d = *difference;
  for (int32_t i = d.count - 1; i >= 0; i--) {
    if (d.coefficients[i] == 0) {
      remove_term(&d, i);
    }
  }
  for (int32_t i = 0; i < d.count; i++) {
    const indim_loop_value *value = value_of(v, d.terms[i]);
    if (d.count > MAX_FREE_TERMS || (uint64_t)value->high - (uint64_t)value->low >= MAX_VALUES) {
      return false;
    }
    at[i] = value->low;
  }
  for (;;) {
    place one = d;
    bool fits = true;
    for (int32_t i = 0; i < d.count; i++) {
      fits &= widen(&one, d.coefficients[i], at[i], at[i]);
    }
    if (!fits || (one.low <= 0 && one.high >= 0)) {
      return false;
    }
    int32_t next = 0;
    while (next < d.count && at[next] == value_of(v, d.terms[next])->high) {
      at[next] = value_of(v, d.terms[next])->low;
      next++;
    }
    if (next == d.count) {
      return true;
    }
    at[next]++;
  }
}

// Whether no access of |x| meets one of |y|, in any two iterations.
static bool is_elsewhere(const indim_loop_verifier *v, const place *x, const place *y) {
  place difference = {.count = 0};
  return add_place(v, &difference, x, 1) && add_place(v, &difference, y, -1) && is_never_zero(v, &difference);
}

// Puts an access into the class of its address. False when the address or the class has no place.
static bool classify(const indim_loop_verifier *v, const indim_loop_access *access, bool all, access_class *classes,
                     int32_t *count) {
  place p = {.count = 0};
  int32_t at = 0;
  if (!resolve(v, access, all, &p)) {
    return false;
  }
  while (at < *count && !same_terms(&classes[at].at, &p)) {
    at++;
  }
  if (at == MAX_CLASSES) {
    return false;
  }
  access_class *c = &classes[at];
  if (at == *count) {
    *c = (access_class){.at = p, .node = access->node};
    (*count)++;
  }
  c->at.low = p.low < c->at.low ? p.low : c->at.low;
  c->at.high = p.high > c->at.high ? p.high : c->at.high;
  c->is_read |= !access->is_write;
  c->is_written |= access->is_write;
  return true;
}

// NULL, or the node of an access that may meet another one's element in another iteration.
static const indim_loop_node *find_meeting(const indim_loop_verifier *v, const indim_loop_access *accesses,
                                           size_t count, bool all) {
  access_class classes[MAX_CLASSES];
  int32_t class_count = 0;
  for (size_t i = 0; i < count; i++) {
    bool same_size = indim_type_bytes(v->program->storages[accesses[i].storage]->type) ==
                     indim_type_bytes(v->program->storages[accesses[0].storage]->type);
    if (!same_size || !classify(v, &accesses[i], all, classes, &class_count)) {
      return accesses[i].node;
    }
  }
  for (int32_t i = 0; i < class_count; i++) {
    const access_class *x = &classes[i];
    bool is_apart = !x->is_read || !x->is_written || keeps_apart(v, &x->at);
    for (int32_t j = 0; j < i && is_apart; j++) {
      const access_class *y = &classes[j];
      bool may_matter = (x->is_written && y->is_read) || (x->is_read && y->is_written);
      is_apart = !may_matter || is_elsewhere(v, &x->at, &y->at);
    }
    if (!is_apart) {
      return x->node;
    }
  }
  return NULL;
}

// All accesses of one storage, |count| of them, among them reads and writes. What an iteration makes and holds fast counts
// as a part of its place first, and as a part of its window where accesses differ in it.
static indim_status check_group(const indim_loop_verifier *v, const indim_loop_access *accesses, size_t count) {
  const indim_loop_node *node = find_meeting(v, accesses, count, false);
  if (node != NULL && find_meeting(v, accesses, count, true) != NULL) {
    return indim_loop_broken(v, node, "iterations of a parallel loop may meet in %s",
                             v->program->storages[accesses[0].root]->name);
  }
  return INDIM_OK;
}

// Whether every iteration writes the same place: nothing in its address is made in the loop.
static bool is_same_everywhere(const indim_loop_verifier *v, const indim_loop_access *access) {
  return access->is_write && !access->is_masked &&
         value_of(v, access->address)->body->depth < v->parallel->bodies[0]->depth;
}

static int by_root(const void *x, const void *y) {
  const indim_loop_access *a = x;
  const indim_loop_access *b = y;
  return (a->root > b->root) - (a->root < b->root);
}

indim_status indim_loop_verify_parallel(indim_loop_verifier *v) {
  const indim_loop_value *index = value_of(v, v->parallel->bodies[0]->first_parameter);
  if (v->access_count == 0 || index->low == index->high) {
    return INDIM_OK;
  }
  qsort(v->accesses, v->access_count, sizeof *v->accesses, by_root);
  for (size_t begin = 0; begin < v->access_count;) {
    size_t end = begin;
    bool is_read = false;
    bool is_written = false;
    for (; end < v->access_count && v->accesses[end].root == v->accesses[begin].root; end++) {
      is_read |= !v->accesses[end].is_write;
      is_written |= v->accesses[end].is_write;
      if (is_same_everywhere(v, &v->accesses[end])) {
        return indim_loop_broken(v, v->accesses[end].node, "all iterations of a parallel loop write the same place");
      }
    }
    if (is_read && is_written) {
      INDIM_TRY(check_group(v, v->accesses + begin, end - begin));
    }
    begin = end;
  }
  return INDIM_OK;
}
