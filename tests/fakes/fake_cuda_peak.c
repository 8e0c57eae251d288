// SPDX-License-Identifier: Apache-2.0
// What the kernels of `peak` (kernels/peak_*.c) put out, so that their results can be checked. What
// they only read is compared with what it should be instead of being added up.
#include "fake_cuda_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLASSES 8      // work-items differ by their number modulo this
#define ROUND 512      // steps a round over all chains and lanes
#define LITERALLY 4096 // so many steps are done one by one

static uint32_t word_of(const struct op *op, size_t index)
{
	uint32_t value;
	memcpy(&value, op->arguments + op->parameters[index].offset, sizeof value);
	return value;
}

static void *memory_of(const struct op *op, size_t index)
{
	cu_pointer at;
	memcpy(&at, op->arguments + op->parameters[index].offset, sizeof at);
	return AT(at);
}

// Whether so many bytes are there behind the argument.
static bool holds(const struct op *op, size_t index, uint64_t bytes)
{
	const char *at = memory_of(op, index);
	const struct range *range = range_of(at);
	return range && bytes <= range->bytes - (size_t)(at - range->at);
}

// ---- arithmetic

enum type { HALF, SINGLE, DOUBLE };

static double rounded(double x, enum type type)
{
	int exponent;

	if (type == DOUBLE)
		return x;
	if (type == SINGLE)
		return (double)(float)x;
	frexp(x, &exponent);
	return ldexp(rint(ldexp(x, 11 - exponent)), exponent - 11);
}

// Numbers of half precision here are normal ones.
static double load(const void *from, uint64_t index, enum type type)
{
	if (type == DOUBLE)
		return ((const double *)from)[index];
	if (type == SINGLE)
		return (double)((const float *)from)[index];
	uint16_t bits = ((const uint16_t *)from)[index];
	double value = ldexp(1024 + (bits & 1023), (bits >> 10 & 31) - 25);
	return bits == 0 ? 0 : bits >> 15 ? -value : value;
}

static void put(void *to, uint64_t index, double value, enum type type)
{
	int exponent;

	if (type == DOUBLE) {
		((double *)to)[index] = value;
	} else if (type == SINGLE) {
		((float *)to)[index] = (float)value;
	} else {
		double fraction = frexp(fabs(rounded(value, HALF)), &exponent);
		uint32_t bits =
		    (uint32_t)(fraction * 2048) - 1024 + ((uint32_t)(exponent + 14) << 10);
		((uint16_t *)to)[index] = (uint16_t)(bits | (value < 0 ? 0x8000u : 0u));
	}
}

// n steps x = x * factor + addend.
static double stepped(double x, double factor, double addend, uint64_t n, enum type type)
{
	if (n > LITERALLY) {
		double rest = addend / (1 - factor);
		return rest + (x - rest) * pow(factor, (double)n);
	}
	for (; n; n--)
		x = type == SINGLE ? (double)fmaf((float)x, (float)factor, (float)addend)
		                   : rounded(fma(x, factor, addend), type);
	return x;
}

// Chains are added up by neighbours, then the upper half of the lanes to the lower.
static double folded(double *x, uint32_t chains, uint32_t width, enum type type)
{
	for (; chains > 1; chains /= 2)
		for (uint32_t i = 0; i < chains / 2 * width; i++) {
			uint32_t pair = i / width * 2 * width + i % width;
			x[i] = rounded(x[pair] + x[pair + width], type);
		}
	for (uint32_t half = width / 2; half; half /= 2)
		for (uint32_t i = 0; i < half; i++)
			x[i] = rounded(x[i] + x[i + half], type);
	return x[0];
}

// A number of the launch: half precision is passed in single.
static double number(const struct op *op, size_t index, enum type type)
{
	double wide;
	float single;

	if (type == DOUBLE) {
		memcpy(&wide, op->arguments + op->parameters[index].offset, sizeof wide);
		return wide;
	}
	memcpy(&single, op->arguments + op->parameters[index].offset, sizeof single);
	return rounded((double)single, type);
}

static cu_result floats(const struct op *op, uint32_t width, enum type type)
{
	static const size_t bytes[] = { 2, 4, 8 };
	uint32_t chains = type == DOUBLE && width == 16 ? 4 : 8, count = chains * width;
	uint64_t steps = (uint64_t)word_of(op, 4) * (ROUND / count);
	double factor = number(op, 2, type), addend = number(op, 3, type), sums[CLASSES];

	if (!holds(op, 0, op->items * bytes[type]) || !holds(op, 1, count * bytes[type]))
		return ABI_ILLEGAL_ADDRESS;
	for (uint32_t class = 0; class < CLASSES; class ++) {
		double x[128];
		for (uint32_t i = 0; i < count; i++) {
			double from =
			    rounded(load(memory_of(op, 1), i, type) + class * 0.125, type);
			x[i] = rounded(stepped(from, factor, addend, steps, type), type);
		}
		sums[class] = folded(x, chains, width, type);
	}
	for (uint64_t i = 0; i < op->items; i++)
		put(memory_of(op, 0), i, sums[i % CLASSES], type);
	return ABI_SUCCESS;
}

static cu_result integers(const struct op *op, uint32_t width)
{
	uint32_t count = 8 * width, sums[CLASSES] = { 0 }, a = word_of(op, 2), b = word_of(op, 3);
	uint32_t factor = 1, term = 0;

	if (!holds(op, 0, op->items * 4) || !holds(op, 1, count * 4))
		return ABI_ILLEGAL_ADDRESS;
	// All steps as one, by squaring.
	for (uint64_t n = (uint64_t)word_of(op, 4) * (ROUND / count); n; n >>= 1) {
		if (n & 1) {
			factor *= a;
			term = term * a + b;
		}
		b = a * b + b;
		a *= a;
	}
	const uint32_t *start = memory_of(op, 1);
	uint32_t *output = memory_of(op, 0);
	for (uint32_t class = 0; class < CLASSES; class ++)
		for (uint32_t i = 0; i < count; i++)
			sums[class] += (start[i] + class) * factor + term;
	for (uint64_t i = 0; i < op->items; i++)
		output[i] = sums[i % CLASSES];
	return ABI_SUCCESS;
}

// ---- memory

// Where the work-items go; the arguments from `first` on say it.
struct shape {
	uint64_t group_step, item_step, step, turns, each; // each: vectors a turn
	uint64_t groups, size;
	uint32_t width;
};

static struct shape shape_of(const struct op *op, size_t first, size_t turns, uint32_t width)
{
	return (struct shape){ word_of(op, first),
		               word_of(op, first + 1),
		               word_of(op, first + 2),
		               word_of(op, turns),
		               width <= 4 ? 8 : 32 / width,
		               op->items / op->group_items,
		               op->group_items,
		               width };
}

static uint64_t reach(const struct shape *shape)
{
	return ((shape->groups - 1) * shape->group_step + (shape->size - 1) * shape->item_step +
	        (shape->turns * shape->each - 1) * shape->step + 1) *
	       shape->width * 4;
}

// Whether vector i holds i * factor in every lane.
static bool holds_numbers(const uint32_t *words, uint64_t vectors, uint32_t width, uint32_t factor)
{
	bool right = true;
	for (uint64_t i = 0; i < vectors; i++)
		for (uint32_t lane = 0; lane < width; lane++)
			right &= words[i * width + lane] == (uint32_t)i * factor;
	return right;
}

static void report(const struct op *op, size_t index, uint32_t turns, bool wrong)
{
	uint32_t *status = memory_of(op, index);
	if (wrong)
		status[0] = 1;
	status[1] = turns;
}

// Calls for every vector of the shape; neighbouring ones follow one another.
static void for_vectors(const struct shape *shape, const struct op *op,
                        void (*at_each)(const struct op *op, uint64_t at, uint32_t width))
{
	for (uint64_t group = 0; group < shape->groups; group++)
		for (uint64_t n = 0; n < shape->turns * shape->each; n++)
			for (uint64_t item = 0; item < shape->size; item++)
				at_each(op,
				        group * shape->group_step + item * shape->item_step +
				            n * shape->step,
				        shape->width);
}

static void put_number(const struct op *op, uint64_t at, uint32_t width)
{
	uint32_t *to = memory_of(op, 0), value = (uint32_t)at * word_of(op, 5);
	for (uint32_t lane = 0; lane < width; lane++)
		to[at * width + lane] = value;
}

static void put_copy(const struct op *op, uint64_t at, uint32_t width)
{
	memcpy((uint32_t *)memory_of(op, 0) + at * width,
	       (const uint32_t *)memory_of(op, 1) + at * width, width * 4);
}

static void put_triad(const struct op *op, uint64_t at, uint32_t width)
{
	uint32_t *to = memory_of(op, 0), scale = word_of(op, 7);
	const uint32_t *a = memory_of(op, 1), *b = memory_of(op, 2);
	for (uint64_t i = at * width; i < (at + 1) * width; i++)
		to[i] = a[i] + b[i] * scale;
}

static cu_result stream(const struct op *op, const char *what, uint32_t width)
{
	static const struct {
		const char *what;
		size_t memories; // beside the status, which is behind them
		void (*put)(const struct op *op, uint64_t at, uint32_t width);
	} rows[] = { { "write", 1, put_number },
		     { "copy", 2, put_copy },
		     { "triad", 3, put_triad },
		     { "read", 1, NULL } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(what, rows[i].what) != 0)
			continue;
		size_t status = rows[i].memories, turns = op->parameter_count - 1;
		struct shape shape = shape_of(op, status + 1, turns, width);
		bool there = holds(op, status, 8);
		for (size_t k = 0; k < rows[i].memories && shape.turns; k++)
			there = there && holds(op, k, reach(&shape));
		if (!there)
			return ABI_ILLEGAL_ADDRESS;
		if (rows[i].put)
			for_vectors(&shape, op, rows[i].put);
		bool wrong = !rows[i].put && shape.turns &&
		             !holds_numbers(memory_of(op, 0), reach(&shape) / width / 4, width,
		                            word_of(op, 5));
		report(op, status, (uint32_t)shape.turns, wrong);
	}
	return ABI_SUCCESS;
}

static cu_result sweep(const struct op *op, uint32_t width)
{
	uint32_t span = word_of(op, 2);

	if (!holds(op, 0, span) || !holds(op, 1, 8))
		return ABI_ILLEGAL_ADDRESS;
	report(op, 1, word_of(op, 4),
	       !holds_numbers(memory_of(op, 0), span / width / 4, width, word_of(op, 3)));
	return ABI_SUCCESS;
}

static cu_result local(const struct op *op, uint32_t width)
{
	uint32_t *output = memory_of(op, 0), all = 28 + 8 * word_of(op, 2) * word_of(op, 3);

	if (!holds(op, 0, op->items * 4))
		return ABI_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < op->items; i++)
		output[i] = width * (8 * (uint32_t)(i % op->group_items) + all);
	return ABI_SUCCESS;
}

bool is_peak(const struct op *op)
{
	return strncmp(op->name, "peak_", 5) == 0 && op->parameter_count >= 4;
}

cu_result run_peak(const struct op *op)
{
	char what[16];
	unsigned int width;

	if (sscanf(op->name, "peak_%15[a-z0-9]_%u", what, &width) != 2)
		return ABI_SUCCESS;
	if (strncmp(what, "fp", 2) == 0)
		return floats(op, width, what[2] == '1' ? HALF : what[2] == '3' ? SINGLE : DOUBLE);
	if (strcmp(what, "int32") == 0)
		return integers(op, width);
	if (strcmp(what, "sweep") == 0)
		return sweep(op, width);
	if (strcmp(what, "local") == 0)
		return local(op, width);
	return stream(op, what, width);
}
