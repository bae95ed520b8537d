// Sorting lines, and keeping the first elements of them.
#ifndef INDIM_LOOP_KERNELS_SORT_H
#define INDIM_LOOP_KERNELS_SORT_H

#include "loop/kernels/kernels.h"

enum { INDIM_SORT_BLOCK = 8 };  // elements of the runs that are merged

// The location of a line: element i of column c is at base[c] + i of storage[c].
typedef struct indim_sort_line {
  indim_storage **storage;
  indim_value_id *base;
} indim_sort_line;

typedef struct indim_sorting indim_sorting;
typedef void indim_sort_run_line(indim_sorting *s, indim_value_id number);
struct indim_sorting {
  indim_lowering *l;
  indim_flow_item *item;
  int32_t n;  // columns: arrays sorted together
  indim_flow_item **inputs, **results;
  const indim_computation *comparator;  // NULL for topk, whose second column is the indices
  bool is_largest;
  bool is_strict;    // the comparator is a strict weak order
  bool is_partial;   // but on lines with a NaN in these columns, which are looked for first
  bool *is_ordered;  // by it, without regard to NaNs
  bool *is_key;      // columns that the comparator reads
  int32_t rank, dim;
  int64_t size;
  int64_t kept;     // elements of a line of the results
  bool in_result;   // one of the buffers is the result
  bool in_halves;   // the buffers are halves of one scratch buffer
  bool has_loops;   // inside loops over lines
  bool own_memory;  // every line has its own part of the scratch buffers
  indim_coord position[INDIM_MAX_RANK];
  int64_t room;                   // elements of a line in each scratch buffer
  const indim_sort_line *source;  // what is sorted, if not the inputs
  indim_sort_line buffers[2];
  indim_storage **scratch[2];
  indim_sort_run_line *run_line;
};

// A key by which a comparator orders: a function of its left parameters.
typedef struct indim_sort_key {
  const indim_instr *value;
  bool descending;
  bool is_partial;  // a column of floats, of which NaNs are in no order, and zeros of both signs equal
} indim_sort_key;

// The keys of a comparator that is a less or greater of them, one after the other; how many, 0 for another one, or for more
// than |most|.
int32_t indim_sort_find_keys(const indim_computation *comparator, int32_t most, indim_sort_key *out);
// Fills in what the comparator says: the columns that it reads, whether it is strict, and what NaNs would spoil (sort_order.c).
void indim_sort_know_order(indim_sorting *s);
// A sort, or a topk, by the host (sort_host.c). False, and nothing done, if code has to do it.
bool indim_sort_lower_host(indim_lowering *l, indim_flow_item *item);

// Runs |run_line| for each line, with two scratch buffers of |room| elements for each column (one if a line is the result's).
void indim_sort_lines(indim_sorting *s);
// A way to keep the first elements of each line without sorting all of it: a |run_line|, with the |room| it takes; NULL where
// none pays. |*out_inserts|: for so few that nothing else is as fast (topk.c).
indim_sort_run_line *indim_sort_selection(indim_sorting *s, bool *out_inserts);
// Sorts all of a line: a |run_line|.
void indim_sort_line_whole(indim_sorting *s, indim_value_id number);
// The scratch buffer of a line.
void indim_sort_scratch(indim_sorting *s, int32_t side, indim_value_id number);
// Sorts |size| elements of the inputs' line, or of |source|, into the first of the two buffers.
void indim_sort_elements(indim_sorting *s);
// Merges the runs of |run| elements in the buffer that the next function names, until all are one in the first buffer
// (sort_merge.c).
void indim_sort_merge(indim_sorting *s, int64_t run);
int32_t indim_sort_first_side(const indim_sorting *s, int64_t run);
// Whether that takes so many passes for |size| elements that they are a loop.
bool indim_sort_loops_over_passes(const indim_sorting *s, int64_t size);
// Whether elements |x| must precede |y|: a pred of |lanes|.
indim_value_id indim_sort_before(indim_sorting *s, int32_t lanes, const indim_value_id *x, const indim_value_id *y);
// Loads |lanes| elements from element |i| on of the inputs' line, or of |source|.
void indim_sort_load(indim_sorting *s, indim_value_id i, int32_t lanes, indim_value_id *out);
// Element |i| of column |c|.
indim_value_id indim_sort_element(indim_sorting *s, const indim_sort_line *from, int32_t c, indim_value_id i);
// |sum|, plus 1 where |x| is true.
indim_value_id indim_sort_count_if(indim_sorting *s, indim_value_id sum, indim_value_id x);
indim_value_id indim_sort_not(indim_sorting *s, indim_value_id x);
// Whether the loops of one line may be parallel.
bool indim_sort_may_thread(const indim_sorting *s);
// Stores the first |kept| elements as the line of the results.
void indim_sort_store(indim_sorting *s, const indim_sort_line *from);

#endif  // INDIM_LOOP_KERNELS_SORT_H
