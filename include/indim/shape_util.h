// Utilities over shapes and layouts with XLA's meaning, whose name stands in parentheses: walks over tuples, editing of
// dimensions, questions about layouts, sizes as XLA counts them, and the analysis of reshapes and transposes.
//
// Where XLA dies of a wrong argument, a function with a status returns INDIM_INVALID and a question answers no.
// |out_shape| may be |shape| itself, and is untouched on failure. Functions that take an arena accept every kind of
// shape and rebuild its tree there; |arena| may be NULL when the shape is no tuple and no buffer. A permutation |p| has
// as many entries as its shape has dimensions.
#ifndef INDIM_SHAPE_UTIL_H
#define INDIM_SHAPE_UTIL_H

#include "indim/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// Walking trees ---------------------------------------------------------------------------------------------------

// A place in a tree is the list of member numbers that leads there: (f32[], (s32[], u32[])) has s32[] at {1,0} and the
// whole at {}. Leaves are all that is no tuple; a buffer is one leaf.
//
//   indim_shape_walk walk;
//   indim_shape_walk_init(&walk, &shape);
//   while (indim_shape_walk_next(&walk)) { ... walk.shape, walk.path, walk.length ... }
typedef struct indim_shape_walk {
  const indim_shape *shape;  // where the walk stands
  int32_t length;            // of |path|
  int64_t path[INDIM_MAX_TUPLE_DEPTH];
  const indim_shape *parents[INDIM_MAX_TUPLE_DEPTH];
  bool started;
} indim_shape_walk;

// Outermost first, members from left to right (ForEachSubshape).
INDIM_API void indim_shape_walk_init(indim_shape_walk *walk, const indim_shape *shape);
INDIM_API bool indim_shape_walk_next(indim_shape_walk *walk);
// The same tree with every tuple behind its members (ForEachSubshapePostOrder).
INDIM_API bool indim_shape_walk_next_post_order(indim_shape_walk *walk);
// Leaves only (ForEachLeafShape).
INDIM_API bool indim_shape_walk_next_leaf(indim_shape_walk *walk);

// The shape at a place, or NULL if there is none (GetSubshape, IndexIsValid).
INDIM_API const indim_shape *indim_shape_at(const indim_shape *shape, const int64_t *path, int32_t length);
// The same with a diagnostic (TryGetSubshape).
INDIM_API INDIM_CHECKED indim_status indim_shape_find(indim_ctx *cx, const indim_shape *shape, const int64_t *path,
                                                      int32_t length, const indim_shape **out_shape);
// Writes "{1,0}".
INDIM_API void indim_shape_path_print(const int64_t *path, int32_t length, indim_buffer *out);

INDIM_API int64_t indim_shape_subshape_count(const indim_shape *shape);  // all nodes, this one included (SubshapeCount)
INDIM_API int64_t indim_shape_leaf_count(const indim_shape *shape);      // (GetLeafCount)
// Writes the leaves from left to right into |out_leaves|, room for leaf_count (FlattenTupleShape).
INDIM_API void indim_shape_leaves(const indim_shape *shape, const indim_shape **out_leaves);
// Members start to limit-1 of a tuple as a tuple (SliceTuple).
INDIM_API INDIM_CHECKED indim_status indim_shape_slice_tuple(indim_arena *arena, const indim_shape *tuple,
                                                             int64_t start, int64_t limit, indim_shape *out_shape);
// One shape stays itself, any other number becomes a tuple (MakeMaybeTupleShape).
INDIM_API INDIM_CHECKED indim_status indim_shape_init_maybe_tuple(indim_arena *arena, const indim_shape *members,
                                                                  int64_t count, indim_shape *out_shape);
INDIM_API bool indim_shape_is_nested_tuple(const indim_shape *shape);            // a tuple in a tuple (IsNestedTuple)
INDIM_API bool indim_shape_has_type(const indim_shape *shape, indim_type type);  // anywhere (HasPrimitiveType)
INDIM_API bool indim_shape_leaves_are_integers(const indim_shape *shape);        // (AreAllLeavesIntegers)

// Writes a program's signature without layouts, "(x: f32[2], y: s32[]) -> f32[2]"; an empty name becomes (unknown).
// |names| may be NULL.
INDIM_API void indim_shape_print_program(const indim_str *names, const indim_shape *const *parameters, int64_t count,
                                         const indim_shape *result, indim_buffer *out);

// Comparing -------------------------------------------------------------------------------------------------------
// XLA's named comparisons are indim_shape_equal with these options.

enum {
  INDIM_COMPATIBLE_IGNORING_ELEMENT_TYPE = INDIM_COMPATIBLE | INDIM_IGNORE_ELEMENT_TYPE,
  INDIM_COMPATIBLE_IGNORING_FP_PRECISION = INDIM_COMPATIBLE | INDIM_IGNORE_FP_PRECISION,
  INDIM_COMPATIBLE_KIND = INDIM_COMPATIBLE | INDIM_IGNORE_ELEMENT_TYPE | INDIM_IGNORE_SIZES
};
// The same tree, whatever its leaves; an empty tuple and a leaf count as the same (EqualStructure).
INDIM_API bool indim_shape_equal_structure(const indim_shape *a, const indim_shape *b);
// Same tree, and every dynamic array of |dynamic| within the sizes of its counterpart (DynamicShapeIsCompatible).
INDIM_API bool indim_shape_dynamic_fits(const indim_shape *dynamic, const indim_shape *bound);
// Same trees with equal layouts, sizes and types aside; both without a layout are equal too (LayoutsInShapesEqual; here
// a leaf never equals a tuple, and |ignore| reaches the members).
INDIM_API bool indim_shape_layouts_equal(const indim_shape *a, const indim_shape *b, unsigned ignore);

// Asking about arrays ---------------------------------------------------------------------------------------------

INDIM_API bool indim_shape_is_zero_element(const indim_shape *shape);      // some size is 0 (IsZeroElementArray)
INDIM_API bool indim_shape_is_effective_scalar(const indim_shape *shape);  // all sizes are 1 (IsEffectiveScalar)
INDIM_API bool indim_shape_has_degenerate_dims(const indim_shape *shape);  // some size is 1 (HasDegenerateDimensions)
INDIM_API bool indim_shape_is_padded(const indim_shape *shape);  // some width is more than its size (IsPadded)
// Signed integers and every float, even f8e8m0fnu; not complex, not pred (ElementIsSigned).
INDIM_API bool indim_shape_element_is_signed(const indim_shape *shape);
// From the most major dimension down, |dim| comes before any other whose size is not 1
// (IsEffectivelyMostMajorDimension).
INDIM_API bool indim_shape_is_most_major(const indim_shape *shape, int32_t dim);
// The last dimension varies fastest (LastDimIsMinorMost).
INDIM_API bool indim_shape_last_dim_is_minor_most(const indim_shape *shape);
// Of an array whose layout interleaves rows as bf16[1024]{0:T(1024)(128)(2,1)} does: 2, the first entry of the third
// tile. INVALID for any other (PackedFactorFor1DInterleavedArray).
INDIM_API INDIM_CHECKED indim_status indim_shape_packed_factor(indim_ctx *cx, const indim_shape *shape,
                                                               int64_t *out_factor);

// Sizes -----------------------------------------------------------------------------------------------------------
// All refuse unbounded sizes and overflow. indim_shape_storage_bytes (shape.h) is what an array really takes; those
// here count as XLA does.

// Elements, and bytes of elements, of all arrays in the tree; INVALID for tokens and opaques (ElementsInRecursive,
// ByteSizeOfElementsRecursive).
INDIM_API INDIM_CHECKED indim_status indim_shape_total_elements(indim_ctx *cx, const indim_shape *shape,
                                                                int64_t *out_count);
INDIM_API INDIM_CHECKED indim_status indim_shape_total_element_bytes(indim_ctx *cx, const indim_shape *shape,
                                                                     int64_t *out_bytes);
// An array's bytes without tiles and tail, with padded widths; a tuple's table of pointers; a token's 0; one pointer
// for an opaque (ByteSizeOf). |pointer_bytes| may be -1 when no pointer is counted.
INDIM_API INDIM_CHECKED indim_status indim_shape_byte_size(indim_ctx *cx, const indim_shape *shape,
                                                           int64_t pointer_bytes, int64_t *out_bytes);
// What XLA allocates: the first tile and the tail if there is a tile, else neither; the largest split (ArraySize).
// INVALID when the first tile has a *.
INDIM_API INDIM_CHECKED indim_status indim_shape_array_size(indim_ctx *cx, const indim_shape *shape,
                                                            int64_t *out_bytes);
// Bytes up to the last element in the first tile's order, or in no tiles at rank 1 (ArrayDataSize).
INDIM_API INDIM_CHECKED indim_status indim_shape_array_data_size(indim_ctx *cx, const indim_shape *shape,
                                                                 int64_t *out_bytes);
// Bytes from one index to the next along each logical dimension, tiles aside, padded widths counted: with the type's
// bytes (UnpackedByteStrides), or with the layout's element size, INVALID when that is no whole byte (ByteStrides).
INDIM_API INDIM_CHECKED indim_status indim_shape_unpacked_byte_strides(indim_ctx *cx, const indim_shape *shape,
                                                                       int64_t *out_strides);
INDIM_API INDIM_CHECKED indim_status indim_shape_byte_strides(indim_ctx *cx, const indim_shape *shape,
                                                              int64_t *out_strides);
// Whether |strides| are those of a row-major array (ByteStridesIsMajorToMinor).
INDIM_API bool indim_shape_strides_are_row_major(const indim_shape *shape, const int64_t *strides);

// The largest part that a split leaves of a dimension, the size without one (MaxSplitSize); and of the whole array
// (MaxElementsInPerSplit).
INDIM_API int64_t indim_shape_max_split_size(const indim_shape *shape, int32_t dim);
INDIM_API int64_t indim_shape_max_split_elements(const indim_shape *shape);

// Editing dimensions ----------------------------------------------------------------------------------------------

// A new dimension with the highest number, most major or most minor in memory; the rest of the layout stays
// (AppendMajorDimension, AppendMinorDimension).
INDIM_API INDIM_CHECKED indim_status indim_shape_append_major_dim(indim_ctx *cx, const indim_shape *shape, int64_t size,
                                                                  indim_shape *out_shape);
INDIM_API INDIM_CHECKED indim_status indim_shape_append_minor_dim(indim_ctx *cx, const indim_shape *shape, int64_t size,
                                                                  indim_shape *out_shape);
// New dimensions before dimension |index| (0 to rank), directly more major in memory than that one; at the end, most
// minor. Only type, sizes and minor_to_major survive: f32[10,20,30]{0,2,1} with 40 at 1 is f32[10,40,20,30]{0,3,2,1}
// (InsertDimensionsAtIndex, InsertDimensionAtIndex).
INDIM_API INDIM_CHECKED indim_status indim_shape_insert_dims(indim_ctx *cx, const indim_shape *shape, int32_t index,
                                                             int32_t count, const int64_t *sizes,
                                                             indim_shape *out_shape);
// A new dimension 0, most major; the same survives (PrependMajorDimension).
INDIM_API INDIM_CHECKED indim_status indim_shape_prepend_major_dim(indim_ctx *cx, const indim_shape *shape,
                                                                   int64_t size, indim_shape *out_shape);
// Without the |count| dimensions listed, in any order; higher numbers close up. Tiles stay (DeleteDimensions).
INDIM_API INDIM_CHECKED indim_status indim_shape_delete_dims(indim_ctx *cx, const indim_shape *shape, int32_t count,
                                                             const int64_t *dims, indim_shape *out_shape);
// Only the dimensions whose bit is set in |keep| (FilterDimensions).
INDIM_API INDIM_CHECKED indim_status indim_shape_filter_dims(indim_ctx *cx, const indim_shape *shape, uint64_t keep,
                                                             indim_shape *out_shape);
// Only those whose size is not 1 (DropDegenerateDimensions).
INDIM_API INDIM_CHECKED indim_status indim_shape_drop_degenerate_dims(indim_ctx *cx, const indim_shape *shape,
                                                                      indim_shape *out_shape);
// Dimension i of the result is dimension p[i]; no byte moves (PermuteDimensions).
INDIM_API INDIM_CHECKED indim_status indim_shape_permute_dims(indim_ctx *cx, const indim_shape *shape, const int64_t *p,
                                                              indim_shape *out_shape);
// The same with minor_to_major as it was, so that bytes move (PermuteDimensionsIgnoringLayout).
INDIM_API INDIM_CHECKED indim_status indim_shape_permute_dims_ignoring_layout(indim_ctx *cx, const indim_shape *shape,
                                                                              const int64_t *p, indim_shape *out_shape);
// The dimensions listed from the most major to the most minor, which makes the layout descending without moving a byte
// (MakeShapeWithDescendingLayoutAndSamePhysicalLayout).
INDIM_API INDIM_CHECKED indim_status indim_shape_in_memory_order(indim_ctx *cx, const indim_shape *shape,
                                                                 indim_shape *out_shape);
// |dim| made the most major of every array in the tree; only minor_to_major survives of a layout (MoveDimToMajor).
INDIM_API INDIM_CHECKED indim_status indim_shape_move_dim_to_major(indim_ctx *cx, indim_arena *arena,
                                                                   const indim_shape *shape, int32_t dim,
                                                                   indim_shape *out_shape);

// Editing trees ---------------------------------------------------------------------------------------------------

// Every array gets this type; an element size stays only if the type is narrower than a byte (ChangeElementType).
INDIM_API INDIM_CHECKED indim_status indim_shape_change_element_type(indim_ctx *cx, indim_arena *arena,
                                                                     const indim_shape *shape, indim_type type,
                                                                     indim_shape *out_shape);
// Element size: the type's bits where |pack| and narrower than a byte, else none (UpdateElementSizeInBits).
INDIM_API INDIM_CHECKED indim_status indim_shape_update_element_bits(indim_ctx *cx, indim_arena *arena,
                                                                     const indim_shape *shape, bool pack,
                                                                     indim_shape *out_shape);
// No tiles, memory space, element size, tail alignment, physical shape or metadata prefix; splits stay
// (DeviceShapeToHostShape, DeviceShapeIsHostShape).
INDIM_API INDIM_CHECKED indim_status indim_shape_to_host(indim_ctx *cx, indim_arena *arena, const indim_shape *shape,
                                                         indim_shape *out_shape);
INDIM_API bool indim_shape_is_host(const indim_shape *shape);
// All dimensions static, sizes as they were; an unbounded one is then invalid (ClearDynamicDimensions).
INDIM_API INDIM_CHECKED indim_status indim_shape_clear_dynamic(indim_ctx *cx, indim_arena *arena,
                                                               const indim_shape *shape, indim_shape *out_shape);
// One dimension of the array at |path| made dynamic or static (UpdateDynamicDimension).
INDIM_API INDIM_CHECKED indim_status indim_shape_set_dynamic(indim_ctx *cx, indim_arena *arena,
                                                             const indim_shape *shape, const int64_t *path,
                                                             int32_t length, int32_t dim, bool dynamic,
                                                             indim_shape *out_shape);
// No layouts; no tiles; the default minor_to_major, with the rest of each layout kept (ClearLayout, ClearTiles,
// SetToDefaultLayout).
INDIM_API INDIM_CHECKED indim_status indim_shape_clear_layout(indim_ctx *cx, indim_arena *arena,
                                                              const indim_shape *shape, indim_shape *out_shape);
INDIM_API INDIM_CHECKED indim_status indim_shape_clear_tiles(indim_ctx *cx, indim_arena *arena,
                                                             const indim_shape *shape, indim_shape *out_shape);
INDIM_API INDIM_CHECKED indim_status indim_shape_set_default_layout(indim_ctx *cx, indim_arena *arena,
                                                                    const indim_shape *shape, indim_shape *out_shape);
// |shape| with the layouts of |from|, which must have the same tree and ranks; sizes may differ. An array of |from|
// without layout clears that of its counterpart (CopyLayoutBetweenShapes).
INDIM_API INDIM_CHECKED indim_status indim_shape_copy_layouts(indim_ctx *cx, indim_arena *arena,
                                                              const indim_shape *from, const indim_shape *shape,
                                                              indim_shape *out_shape);

// Layouts ---------------------------------------------------------------------------------------------------------

// An array with a layout of these parts, validated; an element size equal to the type's natural one is stored as 0
// (MakeShapeWithDenseLayout). |layout| may have any other part set too.
INDIM_API INDIM_CHECKED indim_status indim_shape_init_with_layout(indim_ctx *cx, indim_type type, int32_t rank,
                                                                  const int64_t *sizes, const indim_layout *layout,
                                                                  indim_shape *out_shape);
INDIM_API bool indim_shape_has_layout(const indim_shape *shape);  // every array has one (HasLayout)
INDIM_API bool
indim_shape_has_any_layout(const indim_shape *shape);  // as XLA: no for (), yes for a token (HasAnyLayout)
INDIM_API bool indim_shape_has_element_size(const indim_shape *shape);  // some array has E (HasCustomElementSizeInBits)

// {0, 1, ..., rank-1}, column-major (MakeAscendingLayout).
INDIM_API void indim_layout_init_ascending(int32_t rank, indim_layout *out_layout);
// From the dimensions listed slowest first (MakeLayoutFromMajorToMinor).
INDIM_API void indim_layout_init_major_to_minor(int32_t rank, const int64_t *major_to_minor, indim_layout *out_layout);
// Sorted upwards: dimension 0 is minor; downwards: major; both at rank 0 and 1 (IsMonotonicWithDim0Minor, ...Major).
INDIM_API bool indim_layout_is_ascending(const indim_layout *layout);
INDIM_API bool indim_layout_is_descending(const indim_layout *layout);
// The dimension at a place counted from the most major or the most minor; -1 outside (Major, Minor).
INDIM_API int64_t indim_layout_major(const indim_layout *layout, int32_t place);
INDIM_API int64_t indim_layout_minor(const indim_layout *layout, int32_t place);
// out[d] is the place of dimension d counted from the most major (MakeLogicalToPhysical).
INDIM_API void indim_layout_logical_to_physical(const indim_layout *layout, int64_t *out);
// |dim| made the most major or minor; the rest stays (MoveDimToMajor, MoveDimToMinor). False if it has no such |dim|.
INDIM_API bool indim_layout_move_dim_to_major(indim_layout *layout, int64_t dim);
INDIM_API bool indim_layout_move_dim_to_minor(indim_layout *layout, int64_t dim);
// Removes |dim|; higher numbers close up, padded widths follow, tiles stay (DeleteDimension). False as above.
INDIM_API bool indim_layout_delete_dim(indim_layout *layout, int64_t dim);
// The dimensions lie next to each other in memory, in any order (AreDimensionsConsecutive).
INDIM_API bool indim_layout_are_consecutive(const indim_layout *layout, int32_t count, const int64_t *dims);
// Tiling |sizes|, listed from the most major, leaves them in row-major order without padding: {24,128} by (8,128) does,
// {6,4} by (2,2) does not (IsUntiledLayout). Only the tiles of |layout| are used; no for tiles with *.
INDIM_API bool indim_layout_is_untiled(const indim_layout *layout, int32_t rank, const int64_t *sizes);

// Bitcasts --------------------------------------------------------------------------------------------------------
// A bitcast reads the same bytes as another shape. All want arrays with layouts and answer no otherwise, also when
// either is padded. Tiles are not looked at, as in XLA: compare them where there are any.

// transpose(in, p) has the layout of |out| without moving a byte (TransposeIsBitcast).
INDIM_API bool indim_shape_transpose_is_bitcast(const indim_shape *in, const indim_shape *out, const int64_t *p,
                                                bool ignore_type);
// reshape(in) to |out| moves no byte (ReshapeIsBitcast).
INDIM_API bool indim_shape_reshape_is_bitcast(const indim_shape *in, const indim_shape *out, bool ignore_type);
// The only transposition that could be the bitcast, or false (DeduceTransposeDimensionsForBitcast).
INDIM_API bool indim_shape_deduce_transpose(const indim_shape *in, const indim_shape *out, int64_t *out_p);
// XLA's question, which misses transpositions that are not their own inverse; ask deduce_transpose for those
// (IsReshapeOrTransposeBitcast).
INDIM_API bool indim_shape_is_reshape_or_transpose_bitcast(const indim_shape *a, const indim_shape *b,
                                                           bool ignore_type);

typedef enum indim_bitcast_kind {
  INDIM_BITCAST_NONE,       // element counts differ, or a layout is missing
  INDIM_BITCAST_RESHAPE,    // a reshape alone
  INDIM_BITCAST_TRANSPOSE,  // |transpose1| alone
  INDIM_BITCAST_GENERAL     // |transpose1| to |middle1|, reshape to |middle2|, |transpose2|
} indim_bitcast_kind;

typedef struct indim_bitcast_parts {
  indim_bitcast_kind kind;
  int64_t transpose1[INDIM_MAX_RANK];
  indim_shape middle1;
  indim_shape middle2;
  int64_t transpose2[INDIM_MAX_RANK];
} indim_bitcast_parts;
// What a bitcast means for values, each step one that moves no byte (DecomposeBitcast).
INDIM_API void indim_shape_decompose_bitcast(const indim_shape *in, const indim_shape *out,
                                             indim_bitcast_parts *out_parts);
// |out| with a layout that makes the reshape a bitcast, or false (AlignLayouts).
INDIM_API bool indim_shape_align_layouts(const indim_shape *in, const indim_shape *out, indim_shape *out_aligned);

// Reshapes --------------------------------------------------------------------------------------------------------

typedef struct indim_dim_pair {
  int32_t a;
  int32_t b;
} indim_dim_pair;

// Cuts two lists of sizes with equal products into the shortest groups with equal products: from pair k to pair k+1.
// The first pair is {0,0}, the last {a_rank,b_rank}: [2,6] and [4,3] give {0,0} {2,2}. |out_pairs| has room for
// a_rank + b_rank + 1. Returns their number, 0 when the products differ or a size is negative (CommonFactors).
INDIM_API int32_t indim_dims_common_factors(int32_t a_rank, const int64_t *a, int32_t b_rank, const int64_t *b,
                                            indim_dim_pair *out_pairs);
// The dimensions that the reshape carries over whole, input with output; room for the lesser rank; returns their number
// (DimensionsUnmodifiedByReshape).
INDIM_API int32_t indim_shape_dims_unmodified_by_reshape(const indim_shape *in, const indim_shape *out,
                                                         indim_dim_pair *out_pairs);
// The output's dimensions for the input's |dims| (ascending), or false if the reshape modifies any of them
// (ReshapeLeavesDimensionsUnmodified).
INDIM_API bool indim_shape_reshape_keeps_dims(const indim_shape *in, const indim_shape *out, int32_t count,
                                              const int64_t *dims, int64_t *out_dims);
// If the reshape only drops and adds dimensions of size 1: which ones, as bits (InsertedOrDeleted1SizedDimensions).
INDIM_API bool indim_shape_degenerate_changes(const indim_shape *in, const indim_shape *out, uint64_t *out_deleted,
                                              uint64_t *out_inserted);
// The smallest transposition that does what transpose(in, p) to |out| does: no sizes of 1, neighbours that stay
// together merged. [20,30,50] by {1,2,0} is [600,50] by {1,0}. Sizes are the output's; returns their number in
// |*out_rank|. INVALID unless both layouts are descending (GetNormalizedLogicalTransposeShape).
INDIM_API INDIM_CHECKED indim_status indim_shape_normalize_transpose(indim_ctx *cx, const indim_shape *in,
                                                                     const indim_shape *out, const int64_t *p,
                                                                     int32_t *out_rank, int64_t *out_sizes,
                                                                     int64_t *out_p);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_SHAPE_UTIL_H
