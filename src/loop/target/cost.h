// Thresholds: where one way becomes faster than another. What follows from the machine is in the target; what follows from
// correctness or from the size of a buffer stands where it is used. Each says what it trades, and which programs of bench/
// show it: change one, run these (./dev bench --only), and keep what is faster. Sizes are in elements, costs in those of
// ir/op.def.
#ifndef INDIM_LOOP_COST_H
#define INDIM_LOOP_COST_H

// Planning (plan/) -----------------------------------------------------------------------------------------------------

enum {
  // The largest array in registers: 128 of f32 are 16 registers of 32 bytes, as many as AVX2 has. chain_6x6_*, kalman_step.
  INDIM_COST_REGISTER_ARRAY = 128,
  // Up to here an array computed in a loop stays in registers though one of its elements is picked by an index known at run time.
  INDIM_COST_INDEXED_IN_REGISTERS = 16,
  // An element whose cost is at most this is computed again for each user rather than stored and loaded.
  // softmax, layer_norm, gelu_*.
  INDIM_COST_AGAIN = 16,
  // The same for an array larger than the caches, with vectors of 64 bytes, in proportion with shorter ones: its elements come
  // from memory meanwhile. Stencils of computed values.
  INDIM_COST_AGAIN_IN_MEMORY = 64,
  // What is computed once before a row of at least so many elements counts as free, if its cost is at most the second.
  // layer_norm, softmax.
  INDIM_COST_LONG_ROW = 32,
  INDIM_COST_BEFORE_ROW = 64,
  // What is the same in each step of a loop is computed before it if an element costs at least this and the array has at most so
  // many bytes, which stay in a cache beside what it is computed from; a larger one, up to the second
  // number, if it costs INDIM_COST_AGAIN_IN_MEMORY. signals.bellman_ford.
  INDIM_COST_HOISTED = 3,
  INDIM_COST_HOISTED_ARRAY = 1 << 18,
  INDIM_COST_HOISTED_MOST = 1 << 22,
  // A read is stored ahead of an update in place if it is at most this part of the array: storing it costs a copy of that
  // size. update_*.
  INDIM_COST_STORED_PART = 2,
  // A while loop of at most INDIM_COST_UNROLLED_STEPS is unrolled if an element costs at most this in all steps together,
  // and the rows of small arrays at most the second: the time of code generation is bounded. bench/random_numbers.py.
  INDIM_COST_UNROLLED_ELEMENT = 1024,
  INDIM_COST_UNROLLED_ROWS = 8192,
};

// Linear algebra (linalg/) ---------------------------------------------------------------------------------------------

enum {
  // Operations of straight code for a matrix, by small.def, with four for each element loaded or stored: compiling takes
  // some 0.1 s then, more than XLA:CPU takes for such programs. bench/linalg.py.
  INDIM_COST_SMALL_LINALG = 2800,
  // The longest side of such a matrix.
  INDIM_COST_SMALL_MATRIX = 32,
  // Matrices of a batch that the host may be given.
  INDIM_COST_LANES_BATCH = 64
};

// Threads --------------------------------------------------------------------------------------------------------------

enum {
  // Elements of cost 0 from which a loop is parallel (fewer if they cost more: n * (cost + 8) / 8): below,
  // waking the workers takes longer than the loop. add_f32_l2, exp_5m with smaller shapes.
  INDIM_COST_PARALLEL = 32768,
  // The same for a reduction, whose partial results are combined afterwards. sum_*.
  INDIM_COST_PARALLEL_REDUCTION = 65536,
  // The same for the lines of a sort, where an element costs some 10 ns.
  INDIM_COST_PARALLEL_SORT = 8192,
  // Bytes of a copy or a fill from which it is cut into pieces: some 10 us of one processor. moves.dynamic_update.
  INDIM_COST_PARALLEL_BYTES = 1 << 18,
  // Instructions on vectors of a loop that no kernel made parallel, from which it becomes so: some 20 us.
  INDIM_COST_PARALLEL_WORK = 1 << 15,
  // Work (elements times cost) of one iteration that may be a chunk of its own. attention.
  INDIM_COST_PARALLEL_ITERATION = 1 << 20,
  // Elements of cost 0 of one that moves elements or computes next to nothing, which is bound by memory: some 5 us.
  // moves.transpose_reverse_5.
  INDIM_COST_PARALLEL_MOVES = 1 << 14
};

// Loop nests (nest/) ---------------------------------------------------------------------------------------------------

enum {
  // Loops of at most so many iterations are unrolled while they are built. points_3x3, rigid_body_step.
  INDIM_COST_UNROLLED_LOOP = 4,
  // Operations for each element from which on rows shorter than a vector are worth moves that fill its lanes. numerics.densities.
  INDIM_COST_FULL_LANES = 20,
  // One copy of a loop of so many vectors takes as long as one for each iteration of the loop around it. argmax of rows.
  INDIM_COST_LONG_LOOP = 16,
  // The same of a row of so many operations on vectors. A step of Go on four boards.
  INDIM_COST_LONG_BODIES = 128,
  // Up to the first cost per element 64 copies of a body are built in unrolled loops, up to the second 16, then 4: code
  // generation takes time per copy. concatenate, pad.
  INDIM_COST_MANY_COPIES = 12,
  INDIM_COST_SOME_COPIES = 100,
  // A body of higher cost hides its own latencies: unrolling it doubles the time of code generation and gains nothing.
  // exp_5m, tanh_5m.
  INDIM_COST_LONG_BODY = 48,
  // Unless most of it are chains of operations that need each other: then vectors are computed side by side, four where the cost is
  // up to the first tenths of that of the longest chain, two up to the second. Shorter bodies than the least overlap as they are;
  // the most bounds the code. clenshaw_f64.
  INDIM_COST_ONE_CHAIN = 25,
  INDIM_COST_FEW_CHAINS = 31,
  INDIM_COST_JAMMED_LEAST = 70,
  INDIM_COST_JAMMED_MOST = 1600,
  // One value in so many may have lanes of 8 bytes and take two registers, the others having 4. bench/random_numbers.py.
  INDIM_COST_RARE_WIDE = 8,
  // Vectors of a row from which its start is aligned to a cache line for non-temporal stores. add_f32_dram, transpose_4096x4096.
  INDIM_COST_ALIGNED_ROW = 64,
  // Rows of this many columns in a band of a transpose: their pages stay in the first TLB .
  // transpose_1024x1024, transpose_4096x4096.
  INDIM_COST_TRANSPOSE_BAND = 128,
  // The longest side of a square of which the result has rows of two to four elements: u8 compiles in half the time. moves.stack_turned.
  INDIM_COST_STACKED_SQUARE = 16,
  // Row strides divisible by this many bytes map to few sets of an L1 of 32 to 48 KiB: squares go through panels.
  // transpose_1024x1024 against transpose_1023x1025.
  INDIM_COST_CONFLICTING_STRIDE = 2048
};

// Products (kernels/dot*.c, regs/regs_reduce.c) ------------------------------------------------------------------------

enum {
  // Rows of the output computed together in a nest, and in registers: they share each load of the right side.
  // lstm_b16_*, matmul_4x4_1000.
  INDIM_COST_PRODUCT_ROWS = 4,
  // The same of columns, where lanes are of the batch; half of them beside 16 registers. products.batch_last_*.
  INDIM_COST_PRODUCT_COLUMNS = 4,
  // Operations of a complex product and its sum, with infinities and NaN as they have to be.
  INDIM_COST_COMPLEX_PRODUCT = 16,
  // Registers of sums that hide the latency of an addition: two units of four steps. learning.lasso.
  INDIM_COST_SUM_REGISTERS = 8,
  // Copies of a product's step from unrolled contracted dimensions: each is code for all rows.
  INDIM_COST_PRODUCT_COPIES = 16,
  INDIM_COST_COMPLEX_COPIES = 4,
  // Multiplications from which the host's product is faster than a nest, if no side is shorter than the second. mlp_b128.
  INDIM_COST_HOST_PRODUCT = 200 * 1000,
  INDIM_COST_HOST_DILATED =
      10 * 1000,  // of a convolution, where a nest multiplies the zeros as well. learning.transposed_convolutions.
  INDIM_COST_HOST_SIDE = 8,
  // The same of a sum of at least so many steps. products.narrow_*.
  INDIM_COST_HOST_LONG_SUM = 128,
  INDIM_COST_HOST_SIDE_OF_LONG = 2,
  // Of small integers, which the host multiplies four at a time. Random sizes, no row.
  INDIM_COST_HOST_BYTES = 60 * 1000,
  // Multiplications from which the host's product is faster than a nest that adds up the lanes of each sum, or fetches those of an
  // operand one by one; where that sum is shorter than a register; and where lanes of the result are stored apart. Sides (of
  // narrow elements the usual ones) and steps from which that is so. attention, products.short_sum_*, products.batch_behind.
  INDIM_COST_HOST_PRODUCT_ALONG = 10 * 1000,
  INDIM_COST_HOST_PRODUCT_SHORT = 3 * 1000,
  INDIM_COST_HOST_PRODUCT_STORED = 30 * 1000,
  INDIM_COST_HOST_SIDE_ALONG = 4,
  INDIM_COST_HOST_STEPS_ALONG = 5,
  // The same of a product whose operands are copied first: an element of a copy serves so many multiplications.
  INDIM_COST_PACKED_SIDE = 16,
  // The same where an element costs more to fetch than to multiply.
  INDIM_COST_FETCHED_SIDE = 2,
  // Rows of the other operand that make up for laying out one whose lanes a nest would load one by one. products.batch_behind_3.
  INDIM_COST_LAID_OUT_ROWS = 16,
  // The same where lanes are along the sum, which takes adding them up besides.
  INDIM_COST_LAID_OUT_SUM_ROWS = 3,
  // Steps of a sum from which adding up its lanes takes less than laying out an operand: in any case, and for each row of the other one
  // (half of it for complex numbers). products.heads_16, short_sum_9_s32.
  INDIM_COST_LAID_OUT_STEPS = 64,
  INDIM_COST_LAID_OUT_EACH = 8,
  // Multiplications of each product from which that pays where a nest's lanes would be of the batch. products.batch_last_32.
  INDIM_COST_PACKED_BATCH = 30 * 1000,
  // The host reads what is contiguous in a convolution's image from so many elements on without packing it. conv_*.
  INDIM_COST_HOST_CONTIGUOUS = 16,
  // The host's convolutions of floats, from random sizes. Steps on elements and on zeros of a dilated one with fewer input features;
  // places of all of the batch, where features are contiguous, and where there are fewer of them; multiplications of the
  // gradient of a filter, and of one whose image lies along its places; of other convolutions whose image is copied; elements
  // of a group's filter where images are copied, and of one that a nest would read from beyond the L2. convolution.*.
  INDIM_COST_HOST_STEPS_DILATED = 30,
  INDIM_COST_HOST_PLACES = 25,
  INDIM_COST_HOST_PLACES_COPIED = 400,
  INDIM_COST_HOST_GRADIENT = 7 * 1000 * 1000,
  INDIM_COST_HOST_GRADIENT_ALONG = 2 * 1000 * 1000,
  INDIM_COST_HOST_OF_COPIES = 600 * 1000,
  INDIM_COST_HOST_FILTER = 4000,
  INDIM_COST_HOST_FILTER_OF_L2 = 250 * 1000,
  // The same where elements of the image are converted for each product.
  INDIM_COST_HOST_HALF_STEPS = 60,
  INDIM_COST_HOST_HALF_FILTER = 1900,
  // Of small integers: steps of the sum up to which a nest is faster where fewer input features are contiguous, and where the image
  // lies along the places of the output; output features from which the host is, in longer ones.
  INDIM_COST_HOST_STEPS = 40,
  INDIM_COST_HOST_STEPS_ALONG_PLACES = 110,
  INDIM_COST_HOST_OUTPUTS = 5,
  // Steps of the sum of a convolution of small integers from which it gains by laying the image out for the host's product.
  INDIM_COST_HOST_NARROW_STEPS = 64,
  // Tiles of rows of a convolution's nest that make up for laying out a filter whose output features are apart.
  // convolution.1x1_256_input.
  INDIM_COST_FILTER_READS = 4,
  // One row times a matrix of at least so many columns reads so many rows at a time, half of them of complex numbers and where
  // threads share them in parts of at least the fourth (elements). mlp_b1.
  INDIM_COST_ROW_PRODUCT_COLUMNS = 128,
  INDIM_COST_ROW_PRODUCT_STEPS = 8,
  INDIM_COST_ROW_PRODUCT_FEW_STEPS = 4,
  INDIM_COST_ROW_PRODUCT_PART = 65536,
  // Registers that a product of small arrays blocks for, of 32, too: with all of them chains of 6x6 products took 1.2
  // times as long. chain_6x6_*.
  INDIM_COST_BLOCKED_REGISTERS = 16
};

// Reductions (kernels/reduce*.c) ---------------------------------------------------------------------------------------

enum {
  // Rows shorter than this many bytes that follow each other in memory are one stream and need not be read side by side.
  // sum_128x128x128_2, sum_4096x4096_1.
  INDIM_COST_STREAM_ROW = 4096,
  // The highest cost of an element at which latency, not throughput, limits a row: several rows are reduced together.
  INDIM_COST_LATENCY_BOUND = 16,
  // Columns of a band of partial results, whose registers and lines stay in L1; and the most columns whose results stay in
  // L2. sum_4096x4096_0.
  INDIM_COST_REDUCED_BAND = 2048,
  INDIM_COST_REDUCED_COLUMNS = 1 << 15
};

// Passes ---------------------------------------------------------------------------------------------------------------

enum {
  // Straight code of so many nodes is rerolled: shorter code takes less time to generate than the loop saves. scalars_60, matrices_60.
  INDIM_COST_REROLLED_NODES = 300,
  INDIM_COST_REROLLED_TRIPS = 4,
  // Divisions and roots, one instruction each, become one on a vector from so many on; functions from two on. lorenz_step.
  INDIM_COST_SLP_INSTRUCTIONS = 4,
  // Iterations and nodes up to which an inner loop is fully unrolled; a function counts as so many nodes. attention.
  INDIM_COST_UNROLLED_STEPS = 8,
  INDIM_COST_UNROLLED_NODES = 512,
  INDIM_COST_FUNCTION_NODES = 16,
  // Bytes of an array from which storage folding pays (smaller ones stay in L2), and of the window that stays in L2.
  // softmax, layer_norm.
  INDIM_COST_FOLDED_ARRAY = 1 << 16,
  INDIM_COST_FOLDED_WINDOW = 1 << 16,
  // Bytes of a row that is prefetched: shorter ones the hardware follows, longer ones evict the row in use. layer_norm.
  INDIM_COST_PREFETCHED_LEAST = 1024,
  INDIM_COST_PREFETCHED_MOST = 16384,
  // Bytes ahead of a stream of stores that are prefetched, where the target gains by that. numpy.multiply, moves.stack_0.
  INDIM_COST_PREFETCHED_STORES = 1024,
  // Nodes run between two polls for cancellation, and of an iteration that polls itself. A node takes 0.2 ns as vectors in
  // registers and about 1 ns from memory: some tenths of a second in total, and more than a thousand polls.
  INDIM_COST_POLL_NODES = 1 << 28,
  INDIM_COST_POLL_ITERATION = 1 << 12
};

// Code (emit/program/) ---------------------------------------------------------------------------------------------------

enum {
  // Occurrences of one function in a body from which it is called, not inlined. matrices_60.
  INDIM_COST_OUTLINED = 12,
  // The same for functions of complex numbers, which are from 300 (exp) to 3000 (power) instructions each.
  INDIM_COST_OUTLINED_COMPLEX = 3,
  // Registers from which it is called in a loop, too, if the program has so many of them: the call costs little beside the
  // work. Loops around small arrays compile in a fourth of the time.
  INDIM_COST_OUTLINED_REGISTERS = 4,
  // Instructions of a block: LLVM's time grows faster than linearly with longer ones. matrices_60.
  INDIM_COST_BLOCK = 200,
  // A shuffle of bytes counts as so many. moves.transpose_u8.
  INDIM_COST_BLOCK_SHUFFLE = 3,
  // Nodes that a loop runs, from which equal ones become one function: a call is some tens of instructions. spectral solvers
  // and layers of networks compile in a fourth of the time.
  INDIM_COST_SHARED_LOOP = 512,
  // Instructions of LLVM's, about, that long code is cut into functions of, and the most bytes of their frame.
  INDIM_COST_CHUNK = 350,
  INDIM_COST_CHUNK_FRAME = 65536,
  // Instructions of LLVM's that a thread of its own makes code of; a millisecond goes into making a module of them, 15 into code.
  INDIM_COST_PART = 600,
  // A function whose own code runs less than 1 in so many nodes, the others being in parallel loops, is not optimized.
  INDIM_COST_UNOPTIMIZED_SHARE = 64
};

#endif  // INDIM_LOOP_COST_H
