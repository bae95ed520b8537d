// Pictures of shapes, of pairs of shapes and of broadcasts: a small model (facts in words, grids of cells), built once
// and rendered as text for a terminal, SVG, an HTML page or JSON. Made from Indim's public headers alone, for whoever
// shows shapes: the command line, a viewer, an editor's help.
//
//   indim_buffer out;
//   indim_buffer_init(&out, cx);
//   status = picture_shape_text(&out, &shape, &(picture_options){.width = 80});   // as `indim explain` prints it
//
// Shapes must be valid (indim_shape_validate with layouts). Nothing here changes a shape, and all memory is the
// context's.
#ifndef INDIM_PICTURE_H
#define INDIM_PICTURE_H

#include "indim/broadcast.h"

// What of a picture is wanted.
enum {
  PICTURE_FACTS = 1 << 0,     // the parts of the shape in words
  PICTURE_DRAWINGS = 1 << 1,  // the grids
};

// All zero is the usual: everything, in Unicode without colour, 100 characters wide, large arrays as miniatures.
typedef struct picture_options {
  int32_t width;   // characters a line may have, 0: 100; drawings are chosen to fit
  bool ascii;      // text: no character beyond ASCII
  bool colour;     // text: ANSI colours
  bool all;        // no miniature up to PICTURE_MOST_PLACES places, however wide
  unsigned parts;  // PICTURE_FACTS | PICTURE_DRAWINGS; 0 is both
} picture_options;

#define PICTURE_MOST_PLACES 65536

// One call --------------------------------------------------------------------------------------------------------
// They append to |out|, whose context they use. Errors are the library's, NO_MEMORY and LIMIT.

INDIM_CHECKED indim_status picture_shape_text(indim_buffer *out, const indim_shape *shape,
                                              const picture_options *options);
// One <svg> element with its own style, for dark and light; it may stand in a page or alone in a file.
INDIM_CHECKED indim_status picture_shape_svg(indim_buffer *out, const indim_shape *shape,
                                             const picture_options *options);

// The model -------------------------------------------------------------------------------------------------------

typedef enum picture_cell_kind {
  PICTURE_EMPTY,    // nothing is here
  PICTURE_ELEMENT,  // an element
  PICTURE_PADDING,  // a place that belongs to no element
  PICTURE_GAP       // something is left out here
} picture_cell_kind;

// Sides of a cell where a tile ends.
enum { PICTURE_LEFT = 1, PICTURE_TOP = 2, PICTURE_RIGHT = 4, PICTURE_BOTTOM = 8 };

enum { PICTURE_LABEL_SIZE = 24, PICTURE_TINTS = 6 };

typedef struct picture_cell {
  int64_t element;                // its number in row-major order, the first of the shape being 0; -1: none
  int64_t place;                  // in the array's memory, in elements; -1: none
  uint8_t kind;                   // picture_cell_kind
  uint8_t tint;                   // colour, 1 to PICTURE_TINTS; equal elements of one picture have equal tints; 0: none
  uint8_t edges;                  // PICTURE_LEFT ...
  bool repeated;                  // the element stands elsewhere too: shaded, as text in ( )
  bool marked;                    // at fault; as text in > <
  char text[PICTURE_LABEL_SIZE];  // ASCII; "" for a gap
} picture_cell;

typedef enum picture_block_kind {
  PICTURE_HEADING,  // text
  PICTURE_FACT,     // label: text
  PICTURE_NOTE,     // text
  PICTURE_GRID      // text is the title
} picture_block_kind;

// A part of a picture, from top to bottom. Texts are ASCII.
typedef struct picture_block {
  picture_block_kind kind;
  size_t label;  // of a fact; both for picture_string
  size_t text;
  // Of a grid:
  int32_t rows;
  int32_t columns;
  size_t first_cell;
  size_t first_label;               // rows' labels, then columns'
  char corner[PICTURE_LABEL_SIZE];  // over the row labels: what rows and columns are
  bool beside;                      // stands beside the grid before it where there is room
  bool path;                        // the way of memory through the cells is drawn as a line
  int32_t joined;                   // number of the block whose equal elements arrows come from; -1: none
} picture_block;

typedef struct picture {
  indim_buffer blocks;  // picture_block
  indim_buffer cells;   // picture_cell
  indim_buffer labels;  // char[PICTURE_LABEL_SIZE]
  indim_buffer strings;
} picture;

// Deinit in any case, also after a failure.
void picture_init(picture *p, indim_ctx *cx);
void picture_deinit(picture *p);

// Adds the picture of a shape: of every array in it, if it is a tuple.
INDIM_CHECKED indim_status picture_add_shape(picture *p, const indim_shape *shape, const picture_options *options);
// Adds what lies between two shapes: whether B is a bitcast of A, or what has to move, why, and which layout of B would
// be free. Where there is no way from A to B the picture says so.
INDIM_CHECKED indim_status picture_add_pair(picture *p, const indim_shape *a, const indim_shape *b,
                                            const picture_options *options);
// Adds a broadcast as indim_broadcast_shapes left it: its result, or with another |reason| than NONE what it refused,
// which |diagnostic| (may be NULL) says. |with_numpy|: also what NumPy would have made of it.
INDIM_CHECKED indim_status picture_add_broadcast(picture *p, const indim_shape *lhs, const indim_shape *rhs,
                                                 const int64_t *dims, int32_t dim_count, bool with_numpy,
                                                 const indim_broadcast *result, indim_broadcast_reason reason,
                                                 const indim_diagnostic *diagnostic, const picture_options *options);
// The lists of dimensions with which two arrays of different rank broadcast, in lexicographic order, the first |most|
// of them into |out_lists| (each as long as the lesser rank); returns how many there are, INT64_MAX / 4 standing for
// more.
int64_t picture_valid_dims(const indim_shape *a, const indim_shape *b, int64_t *out_lists, int64_t most);

size_t picture_block_count(const picture *p);
const picture_block *picture_block_at(const picture *p, size_t number);
const char *picture_string(const picture *p, size_t offset);
const picture_cell *picture_cell_at(const picture *p, const picture_block *grid, int32_t row, int32_t column);
const char *picture_row_label(const picture *p, const picture_block *grid, int32_t row);
const char *picture_column_label(const picture *p, const picture_block *grid, int32_t column);

// Renderers; what fails is in |out|->status.
void picture_print_text(const picture *p, const picture_options *options, indim_buffer *out);
void picture_print_svg(const picture *p, const picture_options *options, indim_buffer *out);
// One page, with nothing from elsewhere; |title| may be any text.
void picture_print_html(const picture *p, const picture_options *options, const char *title, indim_buffer *out);
// {"blocks":[{"kind":"heading","text":..}, {"kind":"fact","label":..,"text":..}, {"kind":"note","text":..},
// {"kind":"grid","title":..,"corner":..,"row_labels":[],"column_labels":[],"rows":[[{"kind":"element","text":"a",
// "element":0,"place":0}]]}]}: what is -1, false or empty in a cell is left out.
void picture_print_json(const picture *p, indim_buffer *out);

#endif  // INDIM_PICTURE_H
