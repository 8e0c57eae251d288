// SPDX-License-Identifier: Apache-2.0
// What the kernels of a script compute, to the last bit as the entries of kernels/ that they stand
// for. A span may begin at any byte, so everything goes through memcpy.
#include "backend/simulated/simulated.h"

#include "base/interrupt.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <math.h>
#include <string.h>

void simulated_move(unsigned char *to, const unsigned char *from, uint64_t bytes)
{
	uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;

	if ((a < b ? b - a : a - b) >= bytes)
		memcpy(to, from, bytes);
	else
		memmove(to, from, bytes);
}

// Saturates: a grid may have more work-items than 64 bits count.
static uint64_t items_of(const struct tare_launch *launch)
{
	uint64_t items = 1;

	for (int i = 0; i < 3; i++)
		if (__builtin_mul_overflow(
		        items, (uint64_t)launch->groups[i] * launch->group_size[i], &items))
			return UINT64_MAX;
	return items;
}

uint32_t simulated_value(const struct tare_launch *launch, uint32_t index)
{
	uint32_t value;

	memcpy(&value, launch->arguments[index].value, sizeof value);
	return value;
}

uint64_t simulated_copied_bytes(const struct tare_launch *launch, uint64_t items)
{
	uint64_t bytes;

	if (launch->argument_count > 2 && launch->arguments[2].type == TARE_ARGUMENT_VALUE &&
	    launch->arguments[2].bytes == sizeof bytes) {
		memcpy(&bytes, launch->arguments[2].value, sizeof bytes);
		return bytes;
	}
	return items > UINT64_MAX / 4 ? UINT64_MAX : items * 4;
}

static inline float load(const unsigned char *at)
{
	float value;

	memcpy(&value, at, sizeof value);
	return value;
}

static inline void store(unsigned char *at, float value)
{
	memcpy(at, &value, sizeof value);
}

static void add(const struct tare_launch *launch)
{
	unsigned char *to = simulated_bytes_of(launch->arguments[0].span);
	const unsigned char *a = simulated_bytes_of(launch->arguments[1].span);
	const unsigned char *b = simulated_bytes_of(launch->arguments[2].span);
	uint64_t items = items_of(launch);

	for (uint64_t i = 0; i < items; i++)
		store(to + i * 4, load(a + i * 4) + load(b + i * 4));
}

#define BLOCK 64

// value -> value * factor + term, modulo 2^32.
struct affine {
	uint32_t factor, term;
};

static struct affine after(struct affine first, struct affine second)
{
	return (struct affine){ first.factor * second.factor,
		                first.term * second.factor + second.term };
}

// All turns of the register loop as one step, by repeated squaring.
static struct affine turns_of(uint32_t add_each, uint32_t turns)
{
	struct affine all = { 1, 0 }, power = { 1664525u, add_each };

	for (; turns; turns >>= 1) {
		if (turns & 1)
			all = after(all, power);
		power = after(power, power);
	}
	return all;
}

// Checks of each word would be half of what tests under sanitizers take; memcpy's are left.
__attribute__((no_sanitize("address", "undefined"))) static uint64_t
turn_blocks(unsigned char *to, const unsigned char *from, uint64_t items, struct affine step)
{
	// Blocks of a known size are turned into vectors that never see the stack.
	uint64_t done = 0;

	for (; done + BLOCK <= items; done += BLOCK) {
		uint32_t words[BLOCK];
		memcpy(words, from + done * 4, sizeof words);
		for (int k = 0; k < BLOCK; k++)
			words[k] = words[k] * step.factor + step.term;
		memcpy(to + done * 4, words, sizeof words);
	}
	return done;
}

static void overlap(const struct tare_launch *launch, bool volatile_loop)
{
	uint64_t first = simulated_value(launch, 2), count = simulated_value(launch, 3);
	uint32_t each = simulated_value(launch, 4), cycles = simulated_value(launch, 5);
	const unsigned char *from = simulated_bytes_of(launch->arguments[0].span) + first * 4;
	unsigned char *to = simulated_bytes_of(launch->arguments[1].span) + first * 4;
	// Whatever the grid: a work-item takes every n-th item where there are fewer of them.
	uint64_t items = items_of(launch) ? count : 0;

	// The kernel's count of turns is signed: a negative one is none.
	if (cycles > INT32_MAX)
		cycles = 0;
	struct affine step =
	    volatile_loop ? (struct affine){ 1, each * cycles } : turns_of(each, cycles);
	for (uint64_t done = turn_blocks(to, from, items, step); done < items; done++) {
		uint32_t word;
		memcpy(&word, from + done * 4, sizeof word);
		word = word * step.factor + step.term;
		memcpy(to + done * 4, &word, sizeof word);
	}
}

// Rows and columns of a product, each element a chain of fused multiply-adds in the order of k.
struct part {
	uint64_t row, rows, column, columns; // from, and behind the last
};

static inline __attribute__((always_inline)) void product(unsigned char *c, const unsigned char *a,
                                                          const unsigned char *b, uint64_t n,
                                                          struct part part)
{
	for (uint64_t i = part.row; i < part.rows; i++) {
		for (uint64_t j = part.column; j < part.columns; j++)
			store(c + (i * n + j) * 4, 0);
		for (uint64_t k = 0; k < n; k++) {
			float factor = load(a + (i * n + k) * 4);
			for (uint64_t j = part.column; j < part.columns; j++) {
				unsigned char *at = c + (i * n + j) * 4;
				store(at, fmaf(factor, load(b + (k * n + j) * 4), load(at)));
			}
		}
	}
}

#ifdef __x86_64__
#define FUSED __attribute__((target("avx2,fma")))
enum { ROWS = 4, COLUMNS = 16 };

// Not watched by sanitizers, under which it would be most of what a run costs: matmul touches the
// ends of what it reads and writes.
FUSED __attribute__((no_sanitize("address", "undefined"))) static void
fused_tile(unsigned char *c, const unsigned char *a, const unsigned char *b, uint64_t n)
{
	__m256 sums[ROWS][2];

#pragma GCC unroll 4
	for (int row = 0; row < ROWS; row++)
		sums[row][0] = sums[row][1] = _mm256_setzero_ps();
	for (uint64_t k = 0; k < n; k++) {
		__m256 left = _mm256_loadu_ps((const float *)(const void *)(b + k * n * 4));
		__m256 right = _mm256_loadu_ps((const float *)(const void *)(b + k * n * 4 + 32));
#pragma GCC unroll 4
		for (uint64_t row = 0; row < ROWS; row++) {
			__m256 factor = _mm256_broadcast_ss(
			    (const float *)(const void *)(a + (row * n + k) * 4));
			sums[row][0] = _mm256_fmadd_ps(factor, left, sums[row][0]);
			sums[row][1] = _mm256_fmadd_ps(factor, right, sums[row][1]);
		}
	}
#pragma GCC unroll 4
	for (uint64_t row = 0; row < ROWS; row++)
		memcpy(c + row * n * 4, sums[row], sizeof sums[row]);
}

// Reads the last byte of a matrix.
static void touch_end(const unsigned char *matrix, uint64_t n)
{
	if (n > 0)
		(void)*(const volatile unsigned char *)(matrix + n * n * 4 - 1);
}

// The same to the last bit, in tiles. Without this, fmaf is a call.
FUSED static void fused_product(unsigned char *c, const unsigned char *a, const unsigned char *b,
                                uint64_t n)
{
	uint64_t rows = n - n % ROWS, columns = n - n % COLUMNS;

	// Whoever waits for a product that was left says so.
	for (uint64_t j = 0; j < columns && !tare_interrupt_due(); j += COLUMNS)
		for (uint64_t i = 0; i < rows; i += ROWS)
			fused_tile(c + (i * n + j) * 4, a + i * n * 4, b + j * 4, n);
	product(c, a, b, n, (struct part){ 0, rows, columns, n });
	product(c, a, b, n, (struct part){ rows, n, 0, n });
}
#endif

static void multiply(unsigned char *c, const unsigned char *a, const unsigned char *b, uint64_t n)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		touch_end(a, n);
		touch_end(b, n);
		touch_end(c, n);
		fused_product(c, a, b, n);
		return;
	}
#endif
	product(c, a, b, n, (struct part){ 0, n, 0, n });
}

static void matmul(const struct tare_launch *launch)
{
	unsigned char *c = simulated_bytes_of(launch->arguments[0].span);
	const unsigned char *a = simulated_bytes_of(launch->arguments[1].span);
	const unsigned char *b = simulated_bytes_of(launch->arguments[2].span);

	multiply(c, a, b, simulated_value(launch, 3));
}

// As a work-group of 64 does it: strided chains, then their sums by halves.
static void matmul_element(const struct tare_launch *launch)
{
	const unsigned char *a = simulated_bytes_of(launch->arguments[1].span);
	const unsigned char *b = simulated_bytes_of(launch->arguments[2].span);
	uint64_t n = simulated_value(launch, 3);
	uint64_t row = simulated_value(launch, 4), column = simulated_value(launch, 5);
	float sums[64] = { 0 };

	for (uint64_t k = 0; k < n; k++)
		sums[k % 64] =
		    fmaf(load(a + (row * n + k) * 4), load(b + (k * n + column) * 4), sums[k % 64]);
	for (int other = 32; other > 0; other /= 2)
		for (int item = 0; item < other; item++)
			sums[item] += sums[item + other];
	store(simulated_bytes_of(launch->arguments[0].span) + (row * n + column) * 4, sums[0]);
}

void simulated_run_kernel(const struct simulated_command *command)
{
	const struct tare_launch *launch = &command->operation.launch;

	switch ((enum tare_kernel_action)command->kernel->action) {
	case TARE_KERNEL_NONE:
		return;
	case TARE_KERNEL_COPY:
		simulated_move(simulated_bytes_of(launch->arguments[0].span),
		               simulated_bytes_of(launch->arguments[1].span),
		               simulated_copied_bytes(launch, items_of(launch)));
		return;
	case TARE_KERNEL_ADD:
		add(launch);
		return;
	case TARE_KERNEL_OVERLAP_VOLATILE:
	case TARE_KERNEL_OVERLAP_REGISTER:
		overlap(launch, command->kernel->action == TARE_KERNEL_OVERLAP_VOLATILE);
		return;
	case TARE_KERNEL_MATMUL:
		matmul(launch);
		return;
	case TARE_KERNEL_MATMUL_ELEMENT:
		matmul_element(launch);
		return;
	}
}

struct tare_span simulated_kernel_output(const struct simulated_command *command)
{
	const struct tare_launch *launch = &command->operation.launch;
	uint64_t n, items, count;
	struct tare_span span = { 0 };

	switch ((enum tare_kernel_action)command->kernel->action) {
	case TARE_KERNEL_NONE:
		break;
	case TARE_KERNEL_COPY:
	case TARE_KERNEL_ADD:
		span = launch->arguments[0].span;
		span.bytes = span.memory->bytes - span.offset_bytes;
		break;
	case TARE_KERNEL_OVERLAP_VOLATILE:
	case TARE_KERNEL_OVERLAP_REGISTER:
		items = items_of(launch);
		count = simulated_value(launch, 3);
		span = launch->arguments[1].span;
		span.offset_bytes += (uint64_t)simulated_value(launch, 2) * 4;
		span.bytes = (count < items ? count : items) * 4;
		break;
	case TARE_KERNEL_MATMUL:
		n = simulated_value(launch, 3);
		span = launch->arguments[0].span;
		span.bytes = n * n * 4;
		break;
	case TARE_KERNEL_MATMUL_ELEMENT:
		n = simulated_value(launch, 3);
		span = launch->arguments[0].span;
		span.offset_bytes +=
		    (simulated_value(launch, 4) * n + simulated_value(launch, 5)) * 4;
		span.bytes = 4;
		break;
	}
	return span;
}
