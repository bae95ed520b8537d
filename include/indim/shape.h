// Shapes and layouts: what an array is (element type, sizes) and how it lies in memory (minor_to_major, padding,
// tiles). Both are plain values that can be copied by assignment. The members of a tuple shape, and a layout's
// physical_shape, are pointers into an arena: copying a tuple shape copies the pointers, and they stay valid as long
// as that arena does. Members are never changed after they are made. Make tuples and buffers with the functions below
// (they keep |depth| right, which bounds every walk over the tree).
//
//   f32[2,3]{0,1}         rank 2, sizes 2 and 3, dimension 0 varies fastest in memory
//   f32[2,3]{0,1:PAD(3,5;zero)}   the same, stored as a 3 x 5 block whose extra places hold zero
//   bf16[32,256]{1,0:T(8,128)(2,1)}   tiled
//   (f32[2], (s32[], token[]))    a tuple of two, the second a tuple
#ifndef INDIM_SHAPE_H
#define INDIM_SHAPE_H

#include "indim/type.h"

#ifdef __cplusplus
extern "C" {
#endif

// The largest rank; a shape beyond it is refused with INDIM_LIMIT wherever it comes from.
#define INDIM_MAX_RANK 64
// The most tiles of a layout, and the most tile entries of all its tiles together.
#define INDIM_MAX_TILES 8
#define INDIM_MAX_TILE_SIZES 64
// The most split configurations of a layout, and the most split indices of all of them together.
#define INDIM_MAX_SPLITS 8
#define INDIM_MAX_SPLIT_INDICES 32
// Size of a dimension without bound ("?"); such a dimension is dynamic.
#define INDIM_UNBOUNDED INT64_MIN
// A tile entry "*": this dimension is combined with the next more minor one before tiling.
#define INDIM_TILE_COMBINE INT64_MIN
// Deepest nesting of tuples in text and on the wire.
#define INDIM_MAX_TUPLE_DEPTH 256

// What the storage outside the array's own elements holds in a padded layout (the seed's padding_value; its numbers).
typedef enum indim_padding {
  INDIM_PADDING_INVALID = 0,  // not stated
  INDIM_PADDING_ZERO = 1,
  INDIM_PADDING_ONE = 2,
  INDIM_PADDING_LOWEST = 3,   // the type's least value; -inf where there is one
  INDIM_PADDING_HIGHEST = 4,  // the type's largest value; inf where there is one
  INDIM_PADDING_UNKNOWN = 5   // anything
} indim_padding;

typedef struct indim_shape indim_shape;

// How an array lies in memory. Defaults are zero except |tail_alignment|, which is 1: start from indim_layout_init.
typedef struct indim_layout {
  int32_t rank;                            // entries of minor_to_major
  int64_t minor_to_major[INDIM_MAX_RANK];  // [0] varies fastest
  int32_t padded_rank;                     // entries of padded_sizes: 0 (not padded) or the rank
  indim_padding padding_value;
  int64_t padded_sizes[INDIM_MAX_RANK];  // padded_dimensions: width of each logical dimension, >= its size
  int32_t tile_count;
  int32_t tile_ranks[INDIM_MAX_TILES];         // entries of each tile
  int64_t tile_sizes[INDIM_MAX_TILE_SIZES];    // all tiles' entries, one tile after another
  int64_t tail_alignment;                      // L: allocated elements are rounded up to a multiple; 1 is none
  int64_t element_bits;                        // E: bits of a stored element; 0 is the natural width
  int64_t memory_space;                        // S
  indim_type index_type;                       // "#(u32)"; any value other than INVALID is refused for dense arrays
  indim_type pointer_type;                     // "*(u16)"; likewise
  int64_t metadata_prefix_bytes;               // M
  int32_t split_count;                         // SC
  int64_t split_dimensions[INDIM_MAX_SPLITS];  // physical dimension, 0 is the most major
  int32_t split_index_counts[INDIM_MAX_SPLITS];
  int64_t split_indices[INDIM_MAX_SPLIT_INDICES];  // all splits' indices, one split after another
  const indim_shape *physical_shape;               // P; NULL if none; refused for dense arrays
} indim_layout;

// |type| says what it is: INDIM_TUPLE, INDIM_TOKEN, INDIM_OPAQUE, INDIM_BUFFER (one member, an array), an element type
// (an array), or INDIM_TYPE_INVALID (the all-zero shape).
struct indim_shape {
  indim_type type;
  int32_t rank;                   // of an array; 0 otherwise
  int64_t sizes[INDIM_MAX_RANK];  // of an array, INDIM_UNBOUNDED allowed where dynamic
  uint64_t dynamic;               // bit i: dimension i is dynamic and its size is a bound
  bool has_layout;
  indim_layout layout;
  int64_t member_count;  // of a tuple (or 1 for a buffer)
  const indim_shape *const *members;
  int32_t depth;  // 0 without members, else 1 + the deepest member's; at most INDIM_MAX_TUPLE_DEPTH
};

// Making ----------------------------------------------------------------------------------------------------------

// The descending (row-major) layout of |rank| dimensions: {rank-1, ..., 1, 0}.
INDIM_API void indim_layout_init(int32_t rank, indim_layout *out_layout);

// An array shape with the default layout. A size INDIM_UNBOUNDED makes its dimension dynamic. |cx| may be NULL: then
// no diagnostic is recorded. Errors: rank above INDIM_MAX_RANK (LIMIT), type not an array type, negative size, bytes
// of the array overflow int64 (a size 0 before the overflow hides it, one after does not).
INDIM_API INDIM_CHECKED indim_status indim_shape_init(indim_ctx *cx, indim_type type, int32_t rank,
                                                      const int64_t *sizes, indim_shape *out_shape);
// The same with explicit dynamic flags, one per dimension: bit i of |dynamic|.
INDIM_API INDIM_CHECKED indim_status indim_shape_init_dynamic(indim_ctx *cx, indim_type type, int32_t rank,
                                                              const int64_t *sizes, uint64_t dynamic,
                                                              indim_shape *out_shape);
// token[] (INDIM_TOKEN) or opaque[] (INDIM_OPAQUE).
INDIM_API indim_shape indim_shape_plain(indim_type type);
// A tuple of |count| shapes, which are copied into |arena| with all that they hold. LIMIT when that nests deeper than
// INDIM_MAX_TUPLE_DEPTH.
INDIM_API INDIM_CHECKED indim_status indim_shape_init_tuple(indim_arena *arena, const indim_shape *members,
                                                            int64_t count, indim_shape *out_shape);
// b(array): a buffer of one array shape, copied into |arena|.
INDIM_API INDIM_CHECKED indim_status indim_shape_init_buffer(indim_arena *arena, const indim_shape *array,
                                                             indim_shape *out_shape);
// A copy of |shape| whose whole tree lives in |arena|.
INDIM_API INDIM_CHECKED indim_status indim_shape_copy(indim_arena *arena, const indim_shape *shape,
                                                      indim_shape *out_shape);

// Text ------------------------------------------------------------------------------------------------------------

// Reads a whole text as a shape: "f32[2,<=3]{0,1}", "(f32[], token[])". A missing layout is filled in with the default.
// Tuples, buffers and physical shapes go into |arena|; with NULL they are refused. On failure *out_shape is untouched
// and the diagnostic has line and column. Refused at once is also what XLA's parser lets through or dies of: unbalanced
// layout text, {0,0} and {5,4}, empty tiles, tile entries below 1, L below 1, E below 0, sizes beyond int64. "f32[]{}"
// is read (older printers wrote it), "f32[2]{}" is not: its layout would have to name dimension 0. A layout's index,
// pointer and split parts are read and kept; whether an array may have them is indim_shape_validate's question.
INDIM_API INDIM_CHECKED indim_status indim_shape_parse(indim_ctx *cx, indim_str text, indim_arena *arena,
                                                       indim_shape *out_shape);
// Writes the text: "f32[2,3]", or with layouts "f32[2,3]{0,1}" (nothing for a scalar's empty layout).
INDIM_API void indim_shape_print(const indim_shape *shape, bool with_layout, indim_buffer *out);
// Reads and writes a layout alone: "{1,0:T(8,128)}". Behind the colon stand, in this order and each at most once:
//   D(...)  old dimension kinds, read and dropped      PAD(3,5;zero)  padded widths of dimensions 0, 1, ... and what
//   T(8,128)(2,1)  tiles                                              they hold: zero one lowest highest unknown, or
//   L(n)  tail alignment in elements                                  nothing (not stated); our extension
//   #(u32) *(u16)  index and pointer type              SC(d:i,j)(d:i)  splits
//   E(n)  bits of an element                           P(shape)  physical shape
//   S(n)  memory space                                 M(n)  bytes of metadata in front
// P is for a layout alone: behind an array's dimensions it is refused.
INDIM_API INDIM_CHECKED indim_status indim_layout_parse(indim_ctx *cx, indim_str text, indim_arena *arena,
                                                        indim_layout *out_layout);
INDIM_API void indim_layout_print(const indim_layout *layout, indim_buffer *out);

// Checking --------------------------------------------------------------------------------------------------------

// Refuses what no array can be: unknown types, negative sizes, overflow, a layout that does not fit; with
// |need_layouts| also an array without layout. One reason: the first that XLA would find.
INDIM_API INDIM_CHECKED indim_status indim_shape_validate(indim_ctx *cx, const indim_shape *shape, bool need_layouts);
// The layout part alone, for one array shape. Padding and tiles exclude each other: both say where elements lie, and
// no source defines the two together.
INDIM_API INDIM_CHECKED indim_status indim_layout_validate(indim_ctx *cx, const indim_layout *layout,
                                                           const indim_shape *shape);

// Asking ----------------------------------------------------------------------------------------------------------

INDIM_API bool indim_shape_is_array(const indim_shape *shape);   // an element type; a buffer is not
INDIM_API bool indim_shape_is_scalar(const indim_shape *shape);  // array of rank 0
INDIM_API bool indim_shape_is_tuple(const indim_shape *shape);
INDIM_API bool indim_shape_is_dynamic_dim(const indim_shape *shape, int32_t dim);
INDIM_API bool indim_shape_is_static(const indim_shape *shape);     // no dynamic dimension anywhere in the tree
INDIM_API bool indim_shape_is_unbounded(const indim_shape *shape);  // some dimension is "?"

// Dimensions of size above 1: f32[3,1] has true rank 1, f32[3,0] too. (XLA's code counts the size 0 as well; its
// documentation says this.) An unbounded dimension counts.
INDIM_API int32_t indim_shape_true_rank(const indim_shape *shape);
// Turns a dimension number that may be negative (-1 is the last) into 0..rank-1. INDIM_INVALID when outside
// -rank..rank-1.
INDIM_API INDIM_CHECKED indim_status indim_shape_dim(indim_ctx *cx, const indim_shape *shape, int64_t dim,
                                                     int32_t *out_dim);
// The letter pictures and messages use for a dimension: rank 2 y x, rank 3 z y x, rank 4 p z y x; 0 for other ranks.
INDIM_API char indim_shape_dim_letter(int32_t rank, int32_t dim);

// Product of the sizes; 1 for a scalar. The shape must be valid and bounded (0 otherwise).
INDIM_API int64_t indim_shape_element_count(const indim_shape *shape);
// Bytes of the elements alone, one after another without tiles or padding: ceil(count * E / 8) with an element size in
// the layout, else count * bytes of the type. XLA's ByteSizeOfElements.
INDIM_API int64_t indim_shape_element_bytes(const indim_shape *shape);
// Bytes that the array takes in its layout: padding widths, tiles (all of them, "*" too), tail alignment and element
// size applied. For a padded layout the product of the widths; without any of these the same as element_bytes. A tile
// longer than the list of dimensions finds sizes of 1 in front of it: f32[100]{0:T(8,128)} takes 8 * 128 places. A
// metadata prefix M is not counted. INDIM_INVALID on overflow, on unbounded sizes and for what is no array.
INDIM_API INDIM_CHECKED indim_status indim_shape_storage_bytes(indim_ctx *cx, const indim_shape *shape,
                                                               int64_t *out_bytes);
// Places of the storage, in elements: what storage_bytes counts, before the element's width.
INDIM_API INDIM_CHECKED indim_status indim_shape_storage_count(indim_ctx *cx, const indim_shape *shape,
                                                               int64_t *out_count);
// Bits of one stored element: E if set, else 8 * bytes of the type.
INDIM_API int64_t indim_shape_element_bits(const indim_shape *shape);

// Comparing -------------------------------------------------------------------------------------------------------

// What a comparison leaves out.
enum {
  INDIM_IGNORE_LAYOUT = 1 << 0,
  INDIM_IGNORE_TILES = 1 << 1,
  INDIM_IGNORE_ELEMENT_SIZE = 1 << 2,
  INDIM_IGNORE_MEMORY_SPACE = 1 << 3,
  INDIM_IGNORE_TAIL_PADDING = 1 << 4,
  INDIM_IGNORE_SPLIT_CONFIG = 1 << 5,
  INDIM_IGNORE_INDEX_TYPE = 1 << 6,
  INDIM_IGNORE_POINTER_TYPE = 1 << 7,
  INDIM_IGNORE_PHYSICAL_SHAPE = 1 << 8,
  INDIM_IGNORE_PADDED_DIMENSIONS = 1 << 9,
  // tiles, element size, memory space, tail padding, splits, index and pointer type, physical shape, padding
  INDIM_MINOR_TO_MAJOR_ONLY = 0x3FE,
  INDIM_IGNORE_ELEMENT_TYPE = 1 << 10,
  INDIM_IGNORE_FP_PRECISION = 1 << 11,
  INDIM_IGNORE_DYNAMIC = 1 << 12,  // flags skipped, and an unbounded size matches any
  INDIM_IGNORE_SIZES = 1 << 13,    // rank still compared
  INDIM_IGNORE_BUFFER = 1 << 14,
  // XLA's "compatible": layouts and dynamic flags left out
  INDIM_COMPATIBLE = INDIM_IGNORE_LAYOUT | INDIM_IGNORE_DYNAMIC
};
INDIM_API bool indim_shape_equal(const indim_shape *a, const indim_shape *b, unsigned ignore);
INDIM_API bool indim_layout_equal(const indim_layout *a, const indim_layout *b, unsigned ignore);
// equal(a, b, INDIM_COMPATIBLE).
INDIM_API bool indim_shape_compatible(const indim_shape *a, const indim_shape *b);
// Same rank and sizes, an unbounded size matching any; type and layout aside. Arrays only.
INDIM_API bool indim_shape_same_dimensions(const indim_shape *a, const indim_shape *b);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_SHAPE_H
