// SPDX-License-Identifier: Apache-2.0
// Writes what counters said of each counted launch as CSV, for beside_ncu.py:
// counted_launches RUN.tare/counted.tare. A launch is known by its kernel's symbol, its grid and
// its block, and by its place among those that are alike in these.
#include "analysis/hotspots/collect.h"
#include "analysis/recording/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	enum tare_trace_counter counter;
	const char *name;
} figures[] = {
	{ TARE_TRACE_COUNTER_DURATION_NS, "duration" },
	{ TARE_TRACE_COUNTER_INSTRUCTIONS, "instructions" },
	{ TARE_TRACE_COUNTER_LANE_INSTRUCTIONS, "lanes" },
	{ TARE_TRACE_COUNTER_L1_BYTES, "L1" },
	{ TARE_TRACE_COUNTER_L1_READ_BYTES, "L2 to L1" },
	{ TARE_TRACE_COUNTER_L2_BYTES, "L2" },
	{ TARE_TRACE_COUNTER_DEVICE_READ_BYTES, "read" },
	{ TARE_TRACE_COUNTER_DEVICE_WRITE_BYTES, "written" },
	{ TARE_TRACE_COUNTER_OCCUPANCY_SHARE, "occupancy" },
	{ TARE_TRACE_COUNTER_ISSUE_SHARE, "issue" },
	{ TARE_TRACE_COUNTER_CORES_ACTIVE_SHARE, "cores active" },
	{ TARE_TRACE_COUNTER_DEVICE_MEMORY_SHARE, "device memory share" },
	{ TARE_TRACE_COUNTER_L2_SHARE, "L2 share" },
	{ TARE_TRACE_COUNTER_L2_LOOKUP_SHARE, "L2 look-ups" },
	{ TARE_TRACE_COUNTER_L2_TO_L1_SHARE, "L2 to cores" },
	{ TARE_TRACE_COUNTER_L1_TO_L2_SHARE, "cores to L2" },
	{ TARE_TRACE_COUNTER_L1_SHARE, "L1 share" },
	{ TARE_TRACE_COUNTER_L1_HIT_SHARE, "L1 hits" },
	{ TARE_TRACE_COUNTER_PIPE_ALU_SHARE, "integer pipe" },
	{ TARE_TRACE_COUNTER_PIPE_FMA_SHARE, "single pipe" },
	{ TARE_TRACE_COUNTER_PIPE_TENSOR_SHARE, "matrix engines" },
	{ TARE_TRACE_COUNTER_PIPE_FP64_SHARE, "double pipe" },
	{ TARE_TRACE_COUNTER_PIPE_SPECIAL_SHARE, "special functions" },
	{ TARE_TRACE_COUNTER_PIPE_MEMORY_SHARE, "load and store" },
};

struct launch {
	const char *symbol;
	const struct tare_recorded_shape *shape;
	int64_t enter_ns;
	uint32_t command;
	uint32_t place, launches; // among those alike
};

static int by_kind(const struct launch *a, const struct launch *b)
{
	int order = strcmp(a->symbol, b->symbol);

	return order ? order : tare_compare_shapes(a->shape, b->shape);
}

static int by_kind_and_call(const void *left, const void *right)
{
	const struct launch *a = left, *b = right;
	int order = by_kind(a, b);

	return order ? order : (a->enter_ns > b->enter_ns) - (a->enter_ns < b->enter_ns);
}

static int by_command(const void *left, const void *right)
{
	const struct launch *a = left, *b = right;

	return (a->command > b->command) - (a->command < b->command);
}

static size_t find_launches(const struct tare_recording *recording, struct launch *launches)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recording, i);
		const struct tare_recorded_kernel *kernel =
		    c->kind == TARE_KIND_KERNEL && c->object != TARE_NO_INDEX
		        ? &recording->kernels[c->object]
		        : NULL;
		if (!kernel || !tare_shape_of(recording, c))
			continue;
		launches[count++] = (struct launch){
			.symbol = kernel->symbol ? kernel->symbol : kernel->name,
			.shape = tare_shape_of(recording, c),
			.enter_ns = c->enter_ns,
			.command = (uint32_t)i,
		};
	}
	qsort(launches, count, sizeof *launches, by_kind_and_call);
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first; next < count && by_kind(&launches[next], &launches[first]) == 0;)
			next++;
		for (size_t i = first; i < next; i++) {
			launches[i].place = (uint32_t)(i - first);
			launches[i].launches = (uint32_t)(next - first);
		}
	}
	qsort(launches, count, sizeof *launches, by_command);
	return count;
}

static void write_launch(const struct launch *launch)
{
	const struct tare_recorded_shape *s = launch->shape;

	printf("\"%s\",\"(%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")\",\"(%" PRIu32 ", %" PRIu32
	       ", %" PRIu32 ")\",%" PRIu32 ",%" PRIu32,
	       launch->symbol, s->local[0] ? s->global[0] / s->local[0] : 0,
	       s->local[1] ? s->global[1] / s->local[1] : 1,
	       s->local[2] ? s->global[2] / s->local[2] : 1, s->local[0],
	       s->local[1] ? s->local[1] : 1, s->local[2] ? s->local[2] : 1, launch->place,
	       launch->launches);
}

static void write_counts(const struct tare_recording *recording, const struct launch *launches,
                         size_t count)
{
	puts("kernel,grid,block,place,launches,counted,group,figure,value");
	for (size_t i = 0; i < recording->count_count; i++) {
		const struct tare_recorded_count *one = &recording->counts[i];
		const struct launch key = { .command = one->command };
		const struct launch *launch =
		    bsearch(&key, launches, count, sizeof *launches, by_command);
		for (size_t f = 0; launch && f < sizeof figures / sizeof *figures; f++) {
			if (one->counter != figures[f].counter)
				continue;
			write_launch(launch);
			printf(",%" PRIu32 ",%u,%s,%.17g\n", one->launch, one->group,
			       figures[f].name, one->value);
		}
	}
}

int main(int argc, char **argv)
{
	struct tare_recording *recording;
	struct tare_error error;
	struct launch *launches;

	if (argc != 2) {
		fputs("usage: counted_launches RUN.tare/counted.tare\n", stderr);
		return 2;
	}
	if (tare_recording_load(argv[1], &recording, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	launches = calloc(recording->command_count + 1, sizeof *launches);
	if (launches)
		write_counts(recording, launches, find_launches(recording, launches));
	free(launches);
	tare_recording_free(recording);
	return launches ? 0 : 1;
}
