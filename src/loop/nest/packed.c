// Arrays whose elements are not whole bytes apart, or not as far as their type is wide: E in a layout. In memory they are bytes.
// In come a storage of bytes and one of plain elements, in the same order of places, and the one becomes the other.
//
// Places are taken in groups that fill whole bytes, so that no two iterations of a loop, and no two threads, write the same byte:
//
//   s4, E(4): two places in a byte          s4, E(5): eight in five bytes          s8, E(16): one in two, the second of them 0
//
// Loops that need elements of a large argument, of several in a byte, load its bytes where they stand and take them apart in
// registers (indim_packed_load); the rest is unpacked at the start of the program, and packed at its end.
//
// Within a group each element begins at a constant bit: a shift, and a mask by the conversion to its type.
#include "base/size.h"
#include "loop/ir/build.h"
#include "loop/nest/element.h"
#include "loop/target/cost.h"

enum { MOST_GROUP = 8, UNPACK_COST = 4, BYTE_BITS = 8, MOST_LANES = 256 };

typedef struct packing {
  indim_lowering *l;
  const indim_flow_item *item;
  indim_type type;
  indim_type word;    // unsigned, as wide as the type in memory, or as a part of a complex number
  int32_t part_bits;  // that are kept of a word
  int32_t parts;      // 2 for complex numbers
  int64_t bits;       // from one element to the next
  int64_t group;      // places
  int64_t size;       // bytes of a group
  int64_t count;      // places of the group that is built: fewer in the last one
  indim_storage *bytes, *elements;
  bool packs;
} packing;

bool indim_packed_is(const indim_shape *shape) {
  return indim_shape_element_bits(shape) != BYTE_BITS * (int64_t)indim_type_bytes(shape->type);
}

bool indim_packed_loads(const indim_shape *shape) {
  int64_t bits = indim_shape_element_bits(shape);
  return (bits == 1 || bits == 2 || bits == 4) && indim_shape_element_count(shape) > INDIM_COST_REGISTER_ARRAY;
}

// Words -----------------------------------------------------------------------------------------------------------------

static indim_value_id constant(indim_element_ctx *k, indim_type type, uint64_t bits) {
  return indim_loop_splat(&k->l->b, indim_loop_const(&k->l->b, type, bits, 0), k->lanes);
}

// |x| shifted by |by| bits to the left, or to the right where that is negative.
static indim_value_id shifted(indim_element_ctx *k, indim_value_id x, int64_t by) {
  if (by == 0 || indim_lower_failed(k->l)) {
    return x;
  }
  indim_value_id bits = constant(k, indim_loop_value_of(&k->l->b, x)->type, (uint64_t)indim_index_abs(by));
  return indim_loop_binary(&k->l->b, by > 0 ? INDIM_OP_SHIFT_LEFT : INDIM_OP_SHIFT_RIGHT_LOGICAL, x, bits);
}

static indim_value_id joined(indim_element_ctx *k, indim_value_id x, indim_value_id y) {
  return x == 0 || y == 0 ? x + y : indim_loop_binary(&k->l->b, INDIM_OP_OR, x, y);
}

static indim_coord byte_address(indim_element_ctx *k, const packing *p, indim_coord group, int64_t byte) {
  return indim_coord_scale(k, group, p->size, byte);
}

static indim_coord place_address(indim_element_ctx *k, const packing *p, indim_coord group, int64_t place) {
  return indim_coord_scale(k, group, p->group, place);
}

// The word of |p->part_bits| bits from bit |start| of the group on; bits above those are of its neighbours.
static indim_value_id read_word(indim_element_ctx *k, const packing *p, indim_coord group, int64_t start) {
  indim_loop_builder *b = &k->l->b;
  indim_value_id word = 0;
  for (int64_t byte = start / BYTE_BITS; byte * BYTE_BITS < start + p->part_bits; byte++) {
    indim_coord at = byte_address(k, p, group, byte);
    indim_access_note_read(k->l, p->item, &(indim_location){.storage = p->bytes}, at.base);
    indim_value_id x = indim_loop_load(b, p->bytes, at.base, k->lanes, at.step);
    // To the right first: what is widened afterwards has no neighbour's bits below.
    x = byte * BYTE_BITS < start ? shifted(k, x, byte * BYTE_BITS - start) : x;
    x = indim_loop_convert(b, x, p->word);
    word = joined(k, word, shifted(k, x, byte * BYTE_BITS > start ? byte * BYTE_BITS - start : 0));
  }
  return word;
}

static indim_value_id value_of_word(indim_element_ctx *k, const packing *p, indim_type type, indim_value_id word) {
  indim_loop_builder *b = &k->l->b;
  if (type == INDIM_PRED) {
    uint64_t mask = p->part_bits == 1 ? 1 : UINT8_MAX;
    return indim_loop_convert(b, indim_loop_binary(b, INDIM_OP_AND, word, constant(k, p->word, mask)), INDIM_PRED);
  }
  return indim_loop_bitcast(b, indim_loop_convert(b, word, indim_recast_unsigned(type)), type);
}

static indim_value_id word_of_value(indim_element_ctx *k, const packing *p, indim_value_id value) {
  indim_loop_builder *b = &k->l->b;
  indim_type type = indim_loop_value_of(b, value)->type;
  value = type == INDIM_PRED ? value : indim_loop_bitcast(b, value, indim_recast_unsigned(type));
  return indim_loop_convert(b, value, p->word);
}

// Loads -----------------------------------------------------------------------------------------------------------------

// What loops that compute with packed elements load of them.
typedef struct packed_load {
  indim_element_ctx *k;
  const indim_location *at;
  int32_t lanes;
  int32_t in_byte;      // elements
  indim_value_id mask;  // 0: none
} packed_load;

static indim_value_id uniform(const packed_load *p, indim_value_id x, int32_t lanes) {
  indim_loop_builder *b = &p->k->l->b;
  return indim_loop_splat(b, indim_loop_convert(b, x, INDIM_U8), lanes);
}

// The bytes at |address|, one for each lane that is not masked off.
static indim_value_id load_each(const packed_load *p, indim_value_id address, int32_t lanes, indim_value_id mask) {
  indim_loop_builder *b = &p->k->l->b;
  indim_value_id zero = indim_loop_splat(b, indim_loop_const(b, INDIM_U8, 0, 0), lanes);
  return mask == 0 ? indim_loop_load(b, p->at->storage, address, lanes, 1)
                   : indim_loop_load_masked(b, p->at->storage, address, 1, indim_loop_splat(b, mask, lanes), zero);
}

// Every element from a byte of its own, shifted down by its place in it.
static indim_value_id load_apart(const packed_load *p, indim_coord address) {
  indim_loop_builder *b = &p->k->l->b;
  indim_value_id place = p->lanes == 1 ? address.base : indim_coord_lanes(p->k, address);
  indim_value_id bytes = load_each(p, indim_loop_floordiv(b, place, p->in_byte), p->lanes, p->mask);
  indim_value_id shift = indim_loop_mul_const(b, indim_loop_modulo(b, place, p->in_byte), p->at->packed_bits);
  return indim_loop_binary(b, INDIM_OP_SHIFT_RIGHT_LOGICAL, bytes, uniform(p, shift, p->lanes));
}

// The mask of bytes that hold an element whose lane is not masked off.
static indim_value_id mask_of_bytes(const packed_load *p, int32_t count) {
  indim_loop_builder *b = &p->k->l->b;
  int32_t map[MOST_LANES];
  indim_value_id any = 0;
  indim_value_id mask = indim_loop_splat(b, p->mask, p->lanes);
  for (int32_t s = 0; s < p->in_byte && !indim_lower_failed(p->k->l); s++) {
    for (int32_t i = 0; i < count; i++) {
      map[i] = i * p->in_byte + s;
    }
    any = joined(p->k, any, indim_loop_shuffle(b, 1, &mask, count, map));
  }
  return any;
}

// |bytes|, the first of them at |first|, moved down by |skipped| elements; what comes in from above is in the byte behind them.
static indim_value_id aligned(const packed_load *p, indim_value_id bytes, int32_t count, indim_value_id first,
                              indim_value_id skipped) {
  indim_loop_builder *b = &p->k->l->b;
  int32_t map[MOST_LANES];
  // Where nothing is skipped that byte is not needed, and may not be there.
  indim_value_id behind =
      indim_loop_clamp_index(b, indim_loop_add_const(b, first, count), 0, p->at->storage->elements - 1);
  indim_value_id both[] = {bytes, indim_loop_load(b, p->at->storage, behind, 1, 1)};
  for (int32_t i = 0; i < count; i++) {
    map[i] = i + 1;
  }
  indim_value_id next = indim_loop_shuffle(b, 2, both, count, map);
  indim_value_id down = indim_loop_mul_const(b, skipped, p->at->packed_bits);
  indim_value_id up = indim_loop_add_const(b, indim_loop_mul_const(b, down, -1), BYTE_BITS);
  return indim_loop_binary(b, INDIM_OP_OR,
                           indim_loop_binary(b, INDIM_OP_SHIFT_RIGHT_LOGICAL, bytes, uniform(p, down, count)),
                           indim_loop_binary(b, INDIM_OP_SHIFT_LEFT, next, uniform(p, up, count)));
}

// Contiguous elements: whole bytes, the elements of which are then interleaved.
static indim_value_id load_contiguous(const packed_load *p, indim_value_id place, indim_value_id skipped) {
  indim_loop_builder *b = &p->k->l->b;
  indim_value_id parts[BYTE_BITS] = {0};
  int32_t map[MOST_LANES];
  int32_t count = p->lanes / p->in_byte;
  indim_value_id first = indim_loop_floordiv(b, place, p->in_byte);
  indim_value_id bytes = load_each(p, first, count, p->mask == 0 ? 0 : mask_of_bytes(p, count));
  bytes = skipped == 0 || indim_lower_failed(p->k->l) ? bytes : aligned(p, bytes, count, first, skipped);
  for (int32_t s = 0; s < p->in_byte; s++) {
    indim_value_id by = indim_loop_const(b, INDIM_U8, (uint64_t)(s * p->at->packed_bits), 0);
    parts[s] =
        s == 0 ? bytes : indim_loop_binary(b, INDIM_OP_SHIFT_RIGHT_LOGICAL, bytes, indim_loop_splat(b, by, count));
  }
  for (int32_t i = 0; i < p->lanes; i++) {
    map[i] = i % p->in_byte * count + i / p->in_byte;
  }
  return indim_loop_shuffle(b, p->in_byte, parts, p->lanes, map);
}

indim_value_id indim_packed_load(indim_element_ctx *k, indim_type type, const indim_location *at, indim_coord address,
                                 int32_t lanes, indim_value_id mask) {
  indim_loop_builder *b = &k->l->b;
  packed_load p = {k, at, lanes, BYTE_BITS / at->packed_bits, mask};
  if (indim_lower_failed(k->l)) {
    return 0;
  }
  bool is_row = address.step == 1 && indim_coord_value_lanes(k, address.base) == 1 && lanes > 1 &&
                lanes % p.in_byte == 0 && lanes <= MOST_LANES;
  indim_value_id skipped = is_row ? indim_loop_modulo(b, address.base, p.in_byte) : 0;
  bool is_aligned = is_row && indim_loop_value_of(b, skipped)->low == 0 && indim_loop_value_of(b, skipped)->high == 0;
  indim_value_id bits = is_row && (is_aligned || mask == 0)
                            ? load_contiguous(&p, address.base, is_aligned ? 0 : skipped)
                            : load_apart(&p, address);
  if (indim_lower_failed(k->l)) {
    return 0;
  }
  if (type == INDIM_PRED) {
    indim_value_id one = indim_loop_splat(b, indim_loop_const(b, INDIM_U8, 1, 0), lanes);
    return indim_loop_convert(b, indim_loop_binary(b, INDIM_OP_AND, bits, one), INDIM_PRED);
  }
  return indim_loop_bitcast(b, indim_loop_convert(b, bits, indim_recast_unsigned(type)), type);
}

// Groups ----------------------------------------------------------------------------------------------------------------

static void unpack_group(indim_element_ctx *k, const packing *p, indim_coord group) {
  indim_loop_builder *b = &k->l->b;
  indim_type part = p->parts == 2 ? (p->type == INDIM_C64 ? INDIM_F32 : INDIM_F64) : p->type;
  for (int64_t j = 0; j < p->count && !indim_lower_failed(k->l); j++) {
    indim_value_id value = value_of_word(k, p, part, read_word(k, p, group, j * p->bits));
    if (p->parts == 2) {
      indim_value_id imag = value_of_word(k, p, part, read_word(k, p, group, j * p->bits + p->part_bits));
      indim_value_id both[] = {value, imag};
      value = indim_loop_elementwise(b, (indim_loop_op){.op = INDIM_OP_COMPLEX}, p->type, 2, both);
    }
    indim_coord at = place_address(k, p, group, j);
    indim_access_note_store(k->l, &(indim_location){.storage = p->elements}, at.base);
    indim_loop_store(b, p->elements, at.base, value, at.step, false);
  }
}

// The words of element |j|, one for each part.
static void load_words(indim_element_ctx *k, const packing *p, indim_coord group, int64_t j, indim_value_id *words) {
  indim_loop_builder *b = &k->l->b;
  indim_coord at = place_address(k, p, group, j);
  indim_access_note_read(k->l, p->item, &(indim_location){.storage = p->elements}, at.base);
  indim_value_id value = indim_loop_load(b, p->elements, at.base, k->lanes, at.step);
  for (int32_t i = 0; i < p->parts && !indim_lower_failed(k->l); i++) {
    indim_loop_op op = {.op = i == 0 ? INDIM_OP_REAL : INDIM_OP_IMAG};
    indim_type part = p->type == INDIM_C64 ? INDIM_F32 : INDIM_F64;
    words[i] = word_of_value(k, p, p->parts == 2 ? indim_loop_elementwise(b, op, part, 1, &value) : value);
  }
}

// What byte |byte| of the group holds: bits of all words that reach into it.
static indim_value_id gather_byte(indim_element_ctx *k, const packing *p, const indim_value_id *words, int64_t byte) {
  indim_value_id sum = 0;
  for (int64_t j = 0; j < p->count * p->parts && !indim_lower_failed(k->l); j++) {
    int64_t start = j / p->parts * p->bits + j % p->parts * p->part_bits;
    int64_t by = start - byte * BYTE_BITS;  // negative: bits of the word before are in the byte before
    if (by >= BYTE_BITS || by + p->part_bits <= 0) {
      continue;
    }
    indim_value_id x = by < 0 ? shifted(k, words[j], by) : words[j];
    x = indim_loop_convert(&k->l->b, x, INDIM_U8);
    sum = joined(k, sum, by > 0 ? shifted(k, x, by) : x);
  }
  return sum;
}

static void pack_group(indim_element_ctx *k, const packing *p, indim_coord group) {
  indim_value_id words[2 * MOST_GROUP] = {0};
  for (int64_t j = 0; j < p->count; j++) {
    load_words(k, p, group, j, words + j * p->parts);
  }
  int64_t next = 0;  // the first byte that is not stored yet
  for (int64_t j = 0; j < p->count && !indim_lower_failed(k->l); j++) {
    int64_t end = indim_ceil_div(j * p->bits + p->parts * p->part_bits, BYTE_BITS);
    int64_t first = j * p->bits / BYTE_BITS;
    for (int64_t byte = first > next ? first : next; byte < end; byte++) {
      indim_coord at = byte_address(k, p, group, byte);
      indim_access_note_store(k->l, &(indim_location){.storage = p->bytes}, at.base);
      indim_loop_store(&k->l->b, p->bytes, at.base, gather_byte(k, p, words, byte), at.step, false);
      next = byte + 1;
    }
  }
}

static void body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  const packing *p = nest->user;
  indim_access_note_type(k->l, p->type);
  indim_access_note_type(k->l, p->word);
  if (p->packs) {
    pack_group(k, p, index[0]);
  } else {
    unpack_group(k, p, index[0]);
  }
}

// Arrays ----------------------------------------------------------------------------------------------------------------

static packing packing_of(indim_lowering *l, const indim_flow_item *item, const indim_shape *shape,
                          indim_storage *bytes, indim_storage *elements) {
  packing p = {.l = l, .item = item, .type = shape->type, .bytes = bytes, .elements = elements, .parts = 1};
  p.bits = indim_shape_element_bits(shape);
  p.group = BYTE_BITS / indim_gcd(p.bits, BYTE_BITS);
  p.size = p.bits / indim_gcd(p.bits, BYTE_BITS);
  p.part_bits = indim_type_bits(p.type);
  p.word = p.part_bits < BYTE_BITS ? INDIM_U8 : indim_recast_unsigned(p.type);
  if (indim_type_is_complex(p.type)) {
    p.parts = 2;
    p.part_bits /= 2;
    p.word = p.type == INDIM_C64 ? INDIM_U32 : INDIM_U64;
  }
  if (p.bits % BYTE_BITS == 0 && p.part_bits < BYTE_BITS) {
    p.part_bits = BYTE_BITS;
  }
  return p;
}

// Bits that belong to no element are 0.
static void clear(indim_lowering *l, const packing *p) {
  if (p->bits != p->parts * (int64_t)p->part_bits) {
    indim_value_id zero = indim_loop_const(&l->b, INDIM_U8, 0, 0);
    indim_loop_fill(&l->b, p->bytes, indim_loop_index(&l->b, 0), zero, p->bytes->elements);
  }
}

static void run(indim_lowering *l, packing *p) {
  int64_t places = p->elements->elements;
  indim_access_list *list = indim_lower_alloc(l, 1, sizeof *list);
  if (list == NULL || places == 0 || indim_lower_failed(l)) {
    return;
  }
  indim_storage *written[] = {p->packs ? p->bytes : p->elements};
  indim_loop_region_begin(&l->b, written, 1);
  if (p->packs) {
    clear(l, p);
  }
  indim_nest nest = {.l = l, .rank = 1, .sizes = {places / p->group}, .body = body, .user = p, .may_thread = true};
  nest.cost = UNPACK_COST * p->group * p->parts;
  p->count = p->group;
  if (nest.sizes[0] > 0) {
    indim_nest_analyze(&nest, list);
    indim_nest_choose(&nest, NULL);
    indim_nest_run(&nest);
  }
  p->count = places % p->group;
  indim_element_ctx k = {.l = l, .lanes = 1};
  indim_coord last = indim_coord_const(&k, places / p->group);
  if (p->packs) {
    pack_group(&k, p, last);
  } else {
    unpack_group(&k, p, last);
  }
}

void indim_packed_read(indim_lowering *l, const indim_flow_item *item, const indim_shape *shape, indim_storage *from,
                       indim_storage *to) {
  packing p = packing_of(l, item, shape, from, to);
  run(l, &p);
}

void indim_packed_write(indim_lowering *l, const indim_flow_item *item, const indim_shape *shape, indim_storage *from,
                        indim_storage *to) {
  packing p = packing_of(l, item, shape, to, from);
  p.packs = true;
  run(l, &p);
}
