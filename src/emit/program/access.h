// Shared by loads and stores: addresses, and lanes under masks.
#ifndef INDIM_EMIT_ACCESS_H
#define INDIM_EMIT_ACCESS_H

#include "emit/program/program.h"

// address.c -------------------------------------------------------------------------------------------------------------

// A scalar address, decomposed: base[variable] + constant elements.
typedef struct indim_emit_address {
  LLVMTypeRef element;
  LLVMValueRef base;  // includes the variable part
  int64_t constant;
} indim_emit_address;

// An access to noncontiguous lanes.
typedef struct indim_emit_access_lanes {
  int32_t storage;
  indim_type stored;  // the storage's type, by which elements are aligned
  indim_value_id address;
  int32_t lanes;
  int64_t stride;  // for a scalar address
  bool has_lanes;
  bool is_cheap;
  indim_emit_address at;  // for a scalar address
  LLVMValueRef mask;      // or NULL
  LLVMValueRef base;      // for a vector of addresses
  LLVMValueRef indices;   // of all lanes, all readable; or NULL
  LLVMTypeRef element;    // the unit of addresses
} indim_emit_access_lanes;

// The element type.
indim_type indim_emit_storage_type(const indim_generator *g, int32_t storage);
// An integer of the size of one element in memory, for address arithmetic and for moving whole elements.
LLVMTypeRef indim_emit_element_type(indim_generator *g, indim_type type);
// The alignment of an element: its own size, or that of one part.
unsigned indim_emit_alignment(indim_type type);
// The type as which elements that do not lie side by side are moved: f64 for c64, a lane for two; and |x|, in the memory type, as
// elements of the other one.
indim_type indim_emit_moved_type(const indim_generator *g, indim_type type);
LLVMValueRef indim_emit_as_moved(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef x);
LLVMValueRef indim_emit_from_moved(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef x);
// base[index] in units of |element|; |is_inside|: known to be in bounds.
LLVMValueRef indim_emit_offset(indim_generator *g, LLVMTypeRef element, LLVMValueRef base, LLVMValueRef index,
                               bool is_inside);
// The storage that has the bytes of |storage|, a scratch array: itself, or the one that it shares them with.
int32_t indim_emit_owner(const indim_generator *g, int32_t storage);
// The base address of a storage. Loaded once, in the entry block; scratch storages are offsets into the block.
LLVMValueRef indim_emit_storage_base(indim_generator *g, int32_t index);
// The pointer |offset| elements after the address.
LLVMValueRef indim_emit_address_pointer(indim_generator *g, const indim_emit_address *at, int64_t offset);
// Describes a load or store; |mask| may be NULL.
indim_emit_access_lanes indim_emit_access(indim_generator *g, const indim_loop_node *node, int32_t lanes,
                                          LLVMValueRef mask);
// The pointer of one lane.
LLVMValueRef indim_emit_lane_pointer(indim_generator *g, const indim_emit_access_lanes *a, int32_t lane);
// The element numbers of all lanes. In 32 bits when the storage is small enough for that, which halves the registers;
// truncation only affects lanes that are masked off.
LLVMValueRef indim_emit_index_vector(indim_generator *g, const indim_emit_access_lanes *a, bool is_narrow);
// The pointers of all lanes, for gathers and scatters; and whether there are such for these lanes.
LLVMValueRef indim_emit_pointer_vector(indim_generator *g, const indim_emit_access_lanes *a);
bool indim_emit_is_gatherable(const indim_generator *g, indim_type type, int32_t lanes);

// mask.c ----------------------------------------------------------------------------------------------------------------

// One lane of a mask.
LLVMValueRef indim_emit_mask_lane(indim_generator *g, LLVMValueRef mask, int32_t lanes, int32_t lane);
// The mask for the memory type: complex elements are two numbers each.
LLVMValueRef indim_emit_memory_mask(indim_generator *g, indim_type type, int32_t lanes, LLVMValueRef mask);
// Calls llvm.masked.load, store, gather or scatter, which are overloaded on the data and the pointer.
LLVMValueRef indim_emit_masked_call(indim_generator *g, const char *name, LLVMTypeRef data, LLVMTypeRef pointer,
                                    LLVMValueRef *args, unsigned count);
// Their alignment operand.
LLVMValueRef indim_emit_alignment_argument(indim_generator *g, indim_type type);
// Whether the active lanes of a mask are known and follow each other: |*out_count| of them from |*out_first| on.
bool indim_emit_known_lanes(LLVMValueRef mask, int32_t lanes, int32_t *out_first, int32_t *out_count);
// Their number if they come first; -1 for any other mask.
int32_t indim_emit_known_prefix(LLVMValueRef mask, int32_t lanes);
// Whether the target has masked moves of this type; otherwise LLVM would emit a branch per lane.
bool indim_emit_has_masked_moves(const indim_generator *g, indim_type type);
// Whether a mask of so many lanes fits into the bits of an s64; and those bits.
bool indim_emit_can_loop_lanes(int32_t lanes);
LLVMValueRef indim_emit_mask_bits(indim_generator *g, LLVMValueRef mask, int32_t lanes);
// Copies one element.
void indim_emit_move_element(indim_generator *g, indim_type type, LLVMValueRef to, LLVMValueRef from);
// Aligned like |element|.
LLVMValueRef indim_emit_plain_load(indim_generator *g, LLVMTypeRef type, LLVMValueRef pointer, indim_type element);
LLVMValueRef indim_emit_plain_store(indim_generator *g, LLVMValueRef value, LLVMValueRef pointer, indim_type element);
// The lanes in reverse order.
indim_reg indim_emit_reversed(indim_generator *g, int32_t lanes, indim_reg x);

// A loop over the active lanes. Between begin and end the builder is inside the loop; |lane| is the number of the lane.
typedef struct indim_emit_lane_loop {
  LLVMBasicBlockRef loop, after;
  LLVMValueRef bits, lane;
} indim_emit_lane_loop;
indim_emit_lane_loop indim_emit_lanes_begin(indim_generator *g, LLVMValueRef bits);
void indim_emit_lanes_end(indim_generator *g, const indim_emit_lane_loop *l);

// interleave.c ----------------------------------------------------------------------------------------------------------

// The |count| vectors of |lanes| one after another; |count| is a power of two, and |parts| is overwritten.
LLVMValueRef indim_emit_joined(indim_generator *g, LLVMValueRef *parts, int32_t count, int32_t lanes);
// Loads of stride 2 to 4, forwards or backwards, and of stride 8 for types of one or two bytes, where the storage has
// whole vectors; the result has the memory type. Not of c128.
bool indim_emit_can_load_strided(const indim_generator *g, const indim_emit_access_lanes *a, indim_type type);
LLVMValueRef indim_emit_load_strided(indim_generator *g, indim_type type, const indim_emit_access_lanes *a);
// Searches, starting at this store, for stores that interleave with it and sets g->group; false if there are none. The
// group is emitted at the last of its nodes.
bool indim_emit_find_group(indim_generator *g, const indim_loop_node *node);
void indim_emit_store_group(indim_generator *g);
// Whether a store may be delayed past this node. Loads from other scratch storages do not depend on it, nor do loads
// from the caller's arguments unless a result may alias them.
bool indim_emit_may_wait(const indim_generator *g, const indim_loop_node *store, const indim_loop_node *node);

// stream.c --------------------------------------------------------------------------------------------------------------

// Whether this is a non-temporal store of whole vectors.
bool indim_emit_is_streamed(const indim_generator *g, const indim_loop_node *node);
// A non-temporal store of |packed| to |pointer|, emitted with the last of the stores that can be done together.
void indim_emit_store_streamed(indim_generator *g, const indim_loop_node *node, LLVMValueRef packed,
                               LLVMValueRef pointer);

// load.c, store.c -------------------------------------------------------------------------------------------------------

// Prefetches |bytes| from |offset| bytes after |pointer| on, one per cache line, into L1 (|nearness| 3) or L2 (2). They
// may lie outside the storage: prefetches never fault.
// |is_store|: the lines will be written.
void indim_emit_prefetch(indim_generator *g, LLVMValueRef pointer, int64_t offset, int64_t bytes, int32_t nearness,
                         bool is_store);
// Prefetches what the |lanes| of a load or store will be so many elements further on, if it says so.
void indim_emit_prefetch_lanes(indim_generator *g, const indim_loop_node *node, int32_t lanes);
INDIM_CHECKED indim_status indim_emit_load(indim_generator *g, const indim_loop_node *node);
INDIM_CHECKED indim_status indim_emit_store(indim_generator *g, const indim_loop_node *node);

#endif  // INDIM_EMIT_ACCESS_H
