// What loads and stores share: where elements lie, and lanes under masks.
#ifndef INDIM_EMIT_ACCESS_H
#define INDIM_EMIT_ACCESS_H

#include "emit/program/program.h"

// address.c -------------------------------------------------------------------------------------------------------------

// A scalar address taken apart: base[variable] + constant elements.
typedef struct indim_emit_place {
  LLVMTypeRef element;
  LLVMValueRef base;  // with the variable part
  int64_t constant;
} indim_emit_place;

// An access whose lanes are not side by side.
typedef struct indim_emit_access_lanes {
  int32_t storage;
  indim_value_id address;
  int32_t lanes;
  int32_t stride;  // with a scalar address
  bool has_lanes;
  bool is_cheap;
  indim_emit_place at;   // with a scalar address
  LLVMValueRef mask;     // or NULL
  LLVMValueRef base;     // with an address with lanes
  LLVMValueRef indices;  // of all lanes, all of them readable; or NULL
  LLVMTypeRef element;   // as the unit of addresses
} indim_emit_access_lanes;

// Of the elements.
indim_type indim_emit_storage_type(const indim_generator *g, int32_t storage);
// An integer as wide as one element in memory, for address arithmetic and moving elements whole.
LLVMTypeRef indim_emit_element_type(indim_generator *g, indim_type type);
// What an element's address is a multiple of: its own size, or its parts'.
unsigned indim_emit_alignment(indim_type type);
// base[index] in units of |element|; |is_inside|: surely within the storage.
LLVMValueRef indim_emit_offset(indim_generator *g, LLVMTypeRef element, LLVMValueRef base, LLVMValueRef index,
                               bool is_inside);
// Where a storage begins. Loaded once, in the entry block; a part of the scratch block is a displacement.
LLVMValueRef indim_emit_storage_base(indim_generator *g, int32_t index);
// Element |further| from the place.
LLVMValueRef indim_emit_place_pointer(indim_generator *g, const indim_emit_place *at, int64_t further);
// Of a load or store; |mask| may be NULL.
indim_emit_access_lanes indim_emit_access(indim_generator *g, const indim_loop_node *node, int32_t lanes,
                                          LLVMValueRef mask);
// Where one lane lies.
LLVMValueRef indim_emit_lane_pointer(indim_generator *g, const indim_emit_access_lanes *a, int32_t lane);
// The element numbers of all lanes. In 32 bits when the storage is small enough for that, which halves the registers; what
// is cut off belongs to lanes that are switched off.
LLVMValueRef indim_emit_index_vector(indim_generator *g, const indim_emit_access_lanes *a, bool is_narrow);
// The pointers of all lanes, for gathers and scatters; and whether those are worth it.
LLVMValueRef indim_emit_pointer_vector(indim_generator *g, const indim_emit_access_lanes *a);
bool indim_emit_can_gather(const indim_generator *g, indim_type type, int32_t lanes);

// mask.c ----------------------------------------------------------------------------------------------------------------

// One lane of a mask.
LLVMValueRef indim_emit_mask_lane(indim_generator *g, LLVMValueRef mask, int32_t lanes, int32_t lane);
// The mask as it lies over memory: complex elements are two numbers each.
LLVMValueRef indim_emit_memory_mask(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef mask);
// Calls llvm.masked.load, store, gather or scatter, which are overloaded on the data and the pointer.
LLVMValueRef indim_emit_masked_call(indim_generator *g, const char *name, LLVMTypeRef data, LLVMTypeRef pointer,
                                    LLVMValueRef *args, unsigned count);
// The alignment that those take as an argument.
LLVMValueRef indim_emit_alignment_argument(indim_generator *g, indim_type type);
// How many lanes a mask known beforehand switches on, when they are the first ones; -1 for any other mask.
int32_t indim_emit_known_prefix(LLVMValueRef mask, int32_t lanes);
// Whether the target moves lanes of this type under a mask; otherwise LLVM would make a branch of every lane.
bool indim_emit_has_masked_moves(const indim_generator *g, indim_type type);
// Whether a mask of so many lanes fits into the bits of an s64; and those bits.
bool indim_emit_can_loop_lanes(int32_t lanes);
LLVMValueRef indim_emit_mask_bits(indim_generator *g, LLVMValueRef mask, int32_t lanes);
// One element from a place to another.
void indim_emit_move_element(indim_generator *g, indim_type type, LLVMValueRef to, LLVMValueRef from);
// With the alignment of |element|.
LLVMValueRef indim_emit_plain_load(indim_generator *g, LLVMTypeRef type, LLVMValueRef pointer, indim_type element);
LLVMValueRef indim_emit_plain_store(indim_generator *g, LLVMValueRef value, LLVMValueRef pointer, indim_type element);
// The lanes in reverse order.
indim_reg indim_emit_reversed(indim_generator *g, int32_t lanes, indim_reg x);

// The lanes that are on, one turn of a loop for each. Between begin and end the builder stands in the loop; |lane| is the
// number of the lane.
typedef struct indim_emit_lane_loop {
  LLVMBasicBlockRef loop, after;
  LLVMValueRef bits, lane;
} indim_emit_lane_loop;
indim_emit_lane_loop indim_emit_lanes_begin(indim_generator *g, LLVMValueRef bits);
void indim_emit_lanes_end(indim_generator *g, const indim_emit_lane_loop *l);

// interleave.c ----------------------------------------------------------------------------------------------------------

// Loads of lanes 2 to 4 elements apart, either way: as memory holds them.
bool indim_emit_can_load_strided(const indim_emit_access_lanes *a, indim_type type);
LLVMValueRef indim_emit_load_strided(indim_generator *g, indim_type type, const indim_emit_access_lanes *a);
// Looks for stores from this one on that go together with it and sets g->group; false when there are none. The group is
// stored when the last of its nodes is met.
bool indim_emit_find_group(indim_generator *g, const indim_loop_node *node);
void indim_emit_store_group(indim_generator *g);
// Whether a store may wait until after this node. Loads from working memory of its own see nothing of it, nor do those from
// the caller's arguments, unless a result may lie in their place.
bool indim_emit_may_wait(const indim_generator *g, const indim_loop_node *store, const indim_loop_node *node);

// stream.c --------------------------------------------------------------------------------------------------------------

// Whether the store is one of whole vectors that passes the caches.
bool indim_emit_is_streamed(const indim_generator *g, const indim_loop_node *node);
// Such a store: |packed| goes to |pointer|, when the last of the stores is met that can be done together.
void indim_emit_store_streamed(indim_generator *g, const indim_loop_node *node, LLVMValueRef packed,
                               LLVMValueRef pointer);

// load.c, store.c -------------------------------------------------------------------------------------------------------

// Asks for |bytes| from |offset| bytes behind |pointer| on: a line at a time, into the nearest cache (3) or the second one
// (2). They may lie outside of the storage: asking never fails.
void indim_emit_prefetch(indim_generator *g, LLVMValueRef pointer, int64_t offset, int64_t bytes, int32_t nearness);
INDIM_CHECKED indim_status indim_emit_load(indim_generator *g, const indim_loop_node *node);
INDIM_CHECKED indim_status indim_emit_store(indim_generator *g, const indim_loop_node *node);

#endif  // INDIM_EMIT_ACCESS_H
