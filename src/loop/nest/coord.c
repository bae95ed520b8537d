// Coordinates of lanes: base + step * lane while that is exact, else one value per lane. And masks, the guards of
// coordinates, of one lane or all.
#include "array/element.h"
#include "base/size.h"
#include "loop/nest/element.h"

indim_value_id indim_coord_lanes_as(indim_element_ctx *k, indim_coord x, indim_type type) {
  indim_loop_builder *b = &k->l->b;
  indim_value_id base = indim_loop_splat(b, indim_loop_convert(b, x.base, type), k->lanes);
  if (x.step == 0 || k->lanes == 1) {
    return base;
  }
  uint64_t *bits = indim_lower_alloc(k->l, 2 * (int64_t)k->lanes, sizeof *bits);
  for (int32_t i = 0; i < k->lanes && bits != NULL; i++) {
    bits[2 * i] = indim_element_of_int(type, i * x.step).bits;
  }
  indim_value_id lanes = bits == NULL ? base : indim_loop_lanes(b, type, k->lanes, bits);
  return type == INDIM_S64 ? indim_loop_add(b, base, lanes) : indim_loop_binary(b, INDIM_OP_ADD, base, lanes);
}

indim_value_id indim_coord_lanes(indim_element_ctx *k, indim_coord x) {
  return indim_coord_value_lanes(k, x.base) > 1 ? x.base : indim_coord_lanes_as(k, x, INDIM_S64);
}

bool indim_coord_has_lanes(const indim_element_ctx *k, indim_coord x) {
  return x.step != 0 || indim_coord_value_lanes(k, x.base) > 1;
}

indim_coord indim_coord_add(indim_element_ctx *k, indim_coord x, indim_coord y) {
  indim_loop_builder *b = &k->l->b;
  if (indim_coord_value_lanes(k, x.base) == 1 && indim_coord_value_lanes(k, y.base) == 1) {
    return (indim_coord){indim_loop_add(b, x.base, y.base), x.step + y.step};
  }
  return (indim_coord){indim_loop_add(b, indim_coord_lanes(k, x), indim_coord_lanes(k, y)), 0};
}

indim_coord indim_coord_scale(indim_element_ctx *k, indim_coord x, int64_t factor, int64_t constant) {
  indim_loop_builder *b = &k->l->b;
  indim_value_id base = indim_loop_mul_const(b, x.base, factor);
  if (indim_coord_value_lanes(k, base) > 1 && constant != 0) {
    indim_value_id added = indim_loop_splat(b, indim_loop_index(b, constant), indim_coord_value_lanes(k, base));
    return (indim_coord){indim_loop_add(b, base, added), 0};
  }
  return (indim_coord){indim_loop_add_const(b, base, constant), x.step * factor};
}

void indim_coord_divide(indim_element_ctx *k, indim_coord x, int64_t divisor, indim_coord *out_quotient,
                        indim_coord *out_remainder) {
  indim_loop_builder *b = &k->l->b;
  if (divisor == 1) {
    *out_quotient = x;
    *out_remainder = (indim_coord){indim_loop_index(b, 0), 0};
    return;
  }
  if (!indim_coord_has_lanes(k, x)) {
    *out_quotient = (indim_coord){indim_loop_floordiv(b, x.base, divisor), 0};
    *out_remainder = (indim_coord){indim_loop_modulo(b, x.base, divisor), 0};
    indim_access_note_divided(k->l, x, divisor, out_quotient->base);
    return;
  }
  if (indim_coord_value_lanes(k, x.base) == 1 && x.step % divisor == 0) {
    *out_quotient = (indim_coord){indim_loop_floordiv(b, x.base, divisor), x.step / divisor};
    *out_remainder = (indim_coord){indim_loop_modulo(b, x.base, divisor), 0};
    return;
  }
  if (indim_coord_value_lanes(k, x.base) == 1) {
    indim_value_id remainder = indim_loop_modulo(b, x.base, divisor);
    const indim_loop_value *range = indim_loop_value_of(b, remainder);
    int64_t reach = x.step * (k->lanes - 1);
    bool has_range = range->low >= 0 && range->high < divisor;  // not after a failure
    if (has_range && range->low + (reach < 0 ? reach : 0) >= 0 && range->high + (reach > 0 ? reach : 0) < divisor) {
      *out_quotient = (indim_coord){indim_loop_floordiv(b, x.base, divisor), 0};
      *out_remainder = (indim_coord){remainder, x.step};
      return;
    }
  }
  indim_value_id lanes = indim_coord_lanes(k, x);
  *out_quotient = (indim_coord){indim_loop_floordiv(b, lanes, divisor), 0};
  *out_remainder = (indim_coord){indim_loop_modulo(b, lanes, divisor), 0};
}

indim_coord indim_coord_const(indim_element_ctx *k, int64_t value) {
  return (indim_coord){indim_loop_index(&k->l->b, value), 0};
}

indim_value_id indim_coord_guard(indim_element_ctx *k, indim_coord x, int64_t low, int64_t high, bool *out_never) {
  indim_loop_builder *b = &k->l->b;
  *out_never = false;
  const indim_loop_value *range = indim_loop_value_of(b, x.base);
  int64_t reach = indim_coord_value_lanes(k, x.base) > 1 ? 0 : x.step * (k->lanes - 1);
  int64_t least = range->low;
  int64_t most = range->high;
  if (least == INT64_MIN || most == INT64_MAX || !indim_int_add(least, reach < 0 ? reach : 0, &least) ||
      !indim_int_add(most, reach > 0 ? reach : 0, &most)) {
    least = INT64_MIN;
    most = INT64_MAX;
  }
  // The result would not hold if this dimension were collapsed with another.
  if (least >= low && most <= high) {
    indim_access_note_value_use(k->l, x);
    return 0;
  }
  if (most < low || least > high) {
    indim_access_note_value_use(k->l, x);
    *out_never = true;
    return 0;
  }
  indim_access_note_split(k->l, x, low);
  indim_access_note_split(k->l, x, high + 1);
  if (x.step == 0 || indim_coord_value_lanes(k, x.base) > 1 || least < INT32_MIN || most > INT32_MAX) {
    return indim_loop_in_range(b, indim_coord_has_lanes(k, x) ? indim_coord_lanes(k, x) : x.base, low, high);
  }
  // Half as many registers; the type has no range of its own, so that bounds which always hold are left out here.
  return indim_loop_in_range(b, indim_coord_lanes_as(k, x, INDIM_S32), least >= low ? INT32_MIN : low,
                             most <= high ? INT32_MAX : high);
}

indim_value_id indim_mask_and(indim_element_ctx *k, indim_value_id x, indim_value_id y) {
  if (x == 0 || y == 0) {
    return x == 0 ? y : x;
  }
  int32_t lanes = indim_coord_value_lanes(k, x) > indim_coord_value_lanes(k, y) ? indim_coord_value_lanes(k, x)
                                                                                : indim_coord_value_lanes(k, y);
  indim_loop_builder *b = &k->l->b;
  return indim_loop_binary(b, INDIM_OP_AND, indim_loop_splat(b, x, lanes), indim_loop_splat(b, y, lanes));
}

indim_value_id indim_select_lanes(indim_element_ctx *k, indim_value_id pred, indim_value_id on_true,
                                  indim_value_id on_false) {
  indim_loop_builder *b = &k->l->b;
  int32_t lanes = indim_coord_value_lanes(k, pred);
  lanes = indim_coord_value_lanes(k, on_true) > lanes ? indim_coord_value_lanes(k, on_true) : lanes;
  lanes = indim_coord_value_lanes(k, on_false) > lanes ? indim_coord_value_lanes(k, on_false) : lanes;
  return indim_loop_select(b, indim_loop_splat(b, pred, lanes), indim_loop_splat(b, on_true, lanes),
                           indim_loop_splat(b, on_false, lanes));
}
