// Tiles of x86's AMX: products of 16 rows by 16 columns in one instruction, of bytes summed in s32 and of bf16 summed in f32.
#ifndef INDIM_RUN_AMX_H
#define INDIM_RUN_AMX_H

#include <stdbool.h>
#include <stdint.h>

// Of a tile: rows of 64 bytes, on the left elements of a row in the order of the sum, on the right groups of 32 bits, elements of a column that
// are adjacent in the sum. What is missing at an edge is zero.
enum { INDIM_AMX_ROWS = 16, INDIM_AMX_ROW_BYTES = 64, INDIM_AMX_TILE_BYTES = INDIM_AMX_ROWS * INDIM_AMX_ROW_BYTES };

// The types of the left and the right side.
typedef enum indim_amx_kind {
  INDIM_AMX_BF16,
  INDIM_AMX_S8_S8,
  INDIM_AMX_S8_U8,
  INDIM_AMX_U8_S8,
  INDIM_AMX_U8_U8
} indim_amx_kind;

// Whether the processor and the system have tiles of them. The first call asks the system for them, for the process.
bool indim_amx_has(void);

// Before products, and after them, on each thread: tiles slow down switches between threads for as long as they are in use.
void indim_amx_begin(void);
void indim_amx_end(void);

// The left side of a tile: its first row, the bytes to the next row, and to the next tile along the sum.
typedef struct indim_amx_left {
  const void *at;
  int64_t row_bytes, tile_bytes;
} indim_amx_left;

// 16 or 32 rows by 16 or 32 columns of sums over |count| tiles: |out|, rows |out_bytes| apart, (+)= left[i] * right[j]. The tiles of each of
// |right| lie one behind the other. Sums of bf16 are of numbers and results none of which is below the normal ones.
void indim_amx_multiply(indim_amx_kind kind, int64_t count, const indim_amx_left *left, int32_t left_count,
                        const void *const *right, int32_t right_count, void *out, int64_t out_bytes, bool accumulate);

#endif  // INDIM_RUN_AMX_H
