// SPDX-License-Identifier: Apache-2.0
// Times copies between kinds of memory by global timestamps around each: six lines over a range of
// sizes, in random order, every page written before and every byte verified after.
//   ZE_ENABLE_ALT_DRIVERS=/path/to/libze_cpu.so levelzero-transfers --largest 4096
#include "example.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST_BYTES 4096
#define MOST_SIZES 12
#define MOST_RUNS 25

static const struct line {
	enum memory from, to;
} lines[] = {
	{ SHARED, SHARED }, { HEAP, DEVICE }, { DEVICE, HEAP },
	{ DEVICE, DEVICE }, { HOST, DEVICE }, { DEVICE, HOST },
};
#define LINES (sizeof lines / sizeof *lines)

struct transfers {
	struct device device;
	uint32_t ordinal;
	ze_command_queue_handle_t queue;
	ze_command_list_handle_t list;
	uint64_t *stamps;        // host memory: start, end
	void *memory[2][4];      // source and destination of each kind
	uint8_t *pattern, *seen; // the host's side of the verification
	uint32_t random;
	size_t wrong;
};

struct cell {
	double ns[MOST_RUNS], wall_ns[MOST_RUNS];
};

static uint32_t next_random(struct transfers *transfers)
{
	transfers->random = transfers->random * 1664525u + 1013904223u;
	return transfers->random >> 8;
}

static void append_copy(const struct transfers *transfers, void *to, const void *from, size_t bytes)
{
	check(zeCommandListAppendMemoryCopy(transfers->list, to, from, bytes, NULL, 0, NULL),
	      "zeCommandListAppendMemoryCopy");
}

static void append_barrier(const struct transfers *transfers)
{
	check(zeCommandListAppendBarrier(transfers->list, NULL, 0, NULL),
	      "zeCommandListAppendBarrier");
}

static void append_stamp(const struct transfers *transfers, int which)
{
	check(zeCommandListAppendWriteGlobalTimestamp(transfers->list, &transfers->stamps[which],
	                                              NULL, 0, NULL),
	      "zeCommandListAppendWriteGlobalTimestamp");
	append_barrier(transfers);
}

static double run_list(const struct transfers *transfers)
{
	check(zeCommandListClose(transfers->list), "zeCommandListClose");
	double wall = run_ns(transfers->queue, transfers->list);
	check(zeCommandListReset(transfers->list), "zeCommandListReset");
	return wall;
}

// Copies outside of what is timed.
static void move(const struct transfers *transfers, void *to, const void *from, size_t bytes)
{
	append_copy(transfers, to, from, bytes);
	run_list(transfers);
}

// Nanoseconds between two stamps with the copy between them, or with nothing (0 bytes). The
// commands of a list may overlap: the barriers hold the copy behind the first stamp, and the second
// stamp behind the copy.
static double timed(const struct transfers *transfers, void *to, const void *from, size_t bytes,
                    double *wall_ns)
{
	append_barrier(transfers);
	append_stamp(transfers, 0);
	if (bytes > 0)
		append_copy(transfers, to, from, bytes);
	append_barrier(transfers);
	append_stamp(transfers, 1);
	*wall_ns = run_list(transfers);
	return transfers->device.tick_ns *
	       (double)elapsed(transfers->stamps[0], transfers->stamps[1],
	                       transfers->device.properties.timestampValidBits);
}

// Another pattern each time, so that what an earlier copy left cannot pass for this one's work.
static void copy_once(struct transfers *transfers, const struct line *line, size_t bytes,
                      double *ns, double *wall_ns)
{
	void *from = transfers->memory[0][line->from], *to = transfers->memory[1][line->to];
	uint32_t first = next_random(transfers);

	for (size_t i = 0; i < bytes; i++)
		transfers->pattern[i] = (uint8_t)(first + i * 7 + i / 251);
	memset(transfers->seen, ~first & 0xff, bytes);
	move(transfers, from, transfers->pattern, bytes);
	move(transfers, to, transfers->seen, bytes);
	*ns = timed(transfers, to, from, bytes, wall_ns);
	move(transfers, transfers->seen, to, bytes);
	transfers->wrong += memcmp(transfers->seen, transfers->pattern, bytes) != 0;
}

static void prepare(struct transfers *transfers, size_t largest)
{
	transfers->queue = queue_of(&transfers->device, transfers->ordinal, 0);
	transfers->list = list_of(&transfers->device, transfers->ordinal);
	transfers->stamps = memory_of(&transfers->device, HOST, 2 * sizeof *transfers->stamps);
	transfers->pattern = memory_of(&transfers->device, HEAP, largest);
	transfers->seen = memory_of(&transfers->device, HEAP, largest);
	memset(transfers->pattern, 1, largest);
	for (int way = 0; way < 2; way++)
		for (int kind = HEAP; kind <= SHARED; kind++) {
			transfers->memory[way][kind] =
			    memory_of(&transfers->device, (enum memory)kind, largest);
			// Memory that nobody has written has no pages yet: the first copy would
			// make them.
			if (kind != DEVICE)
				memset(transfers->memory[way][kind], 1, largest);
			move(transfers, transfers->memory[way][kind], transfers->pattern, largest);
		}
}

static void release(struct transfers *transfers)
{
	for (int way = 0; way < 2; way++)
		for (int kind = HEAP; kind <= SHARED; kind++)
			free_memory(&transfers->device, (enum memory)kind,
			            transfers->memory[way][kind]);
	free_memory(&transfers->device, HOST, transfers->stamps);
	free(transfers->pattern);
	free(transfers->seen);
	check(zeCommandListDestroy(transfers->list), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(transfers->queue), "zeCommandQueueDestroy");
	close_device(&transfers->device);
}

// Every line, size and run once, in random order: what drifts while this runs meets all alike.
static void measure(struct transfers *transfers, struct cell cells[LINES][MOST_SIZES], size_t sizes,
                    size_t runs)
{
	static uint32_t order[LINES * MOST_SIZES * MOST_RUNS];
	size_t count = LINES * sizes * runs;

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (size_t i = count; i > 1; i--) {
		size_t other = next_random(transfers) % i;
		uint32_t kept = order[i - 1];
		order[i - 1] = order[other];
		order[other] = kept;
	}
	for (size_t i = 0; i < count; i++) {
		size_t line = order[i] % LINES, size = order[i] / LINES % sizes;
		size_t run = order[i] / LINES / sizes;
		struct cell *cell = &cells[line][size];
		copy_once(transfers, &lines[line], (size_t)SMALLEST_BYTES << 2 * size,
		          &cell->ns[run], &cell->wall_ns[run]);
	}
}

static void print(struct cell cells[LINES][MOST_SIZES], size_t sizes, size_t runs, double floor_ns)
{
	printf("%-16s %10s %14s %10s %10s\n", "from -> to", "bytes", "device ns", "GB/s",
	       "host GB/s");
	for (size_t line = 0; line < LINES; line++)
		for (size_t size = 0; size < sizes; size++) {
			size_t bytes = (size_t)SMALLEST_BYTES << 2 * size;
			double ns = median(cells[line][size].ns, runs);
			double wall = median(cells[line][size].wall_ns, runs);
			char name[32], rate[32];

			snprintf(name, sizeof name, "%s -> %s", memory_names[lines[line].from],
			         memory_names[lines[line].to]);
			snprintf(rate, sizeof rate, "%.2f", (double)bytes / ns);
			printf("%-16s %10zu %14.0f %10s %10.2f%s\n", name, bytes, ns,
			       ns > 0 ? rate : "n/a", (double)bytes / wall,
			       ns < 4 * floor_ns ? "  near the floor" : "");
		}
}

int main(int count, char **arguments)
{
	static struct transfers transfers = { .random = 1 };
	static struct cell cells[LINES][MOST_SIZES];
	size_t largest = 4096, runs = 5, ordinal = SIZE_MAX, sizes = 0;
	double floors[MOST_RUNS], wall;
	const struct option options[] = {
		{ "--largest", "kilobytes of the largest copy", &largest, 4, 1048576, NULL },
		{ "--runs", "copies of each line and size", &runs, 1, MOST_RUNS, NULL },
		{ "--ordinal", "queue group; if not given the first that runs kernels", &ordinal, 0,
		  GROUPS - 1, NULL },
	};

	read_options(count, arguments, "Times copies between kinds of memory by global timestamps.",
	             options, sizeof options / sizeof *options);
	transfers.device = open_device();
	transfers.ordinal = ordinal == SIZE_MAX ? transfers.device.compute : (uint32_t)ordinal;
	if (transfers.ordinal >= transfers.device.group_count)
		stop("the device has %u queue groups, there is no ordinal %u",
		     transfers.device.group_count, transfers.ordinal);
	while (sizes < MOST_SIZES && (size_t)SMALLEST_BYTES << 2 * sizes <= largest << 10)
		sizes++;
	prepare(&transfers, largest << 10);
	for (size_t i = 0; i < runs; i++)
		floors[i] = timed(&transfers, NULL, NULL, 0, &wall);
	double floor_ns = median(floors, runs);
	measure(&transfers, cells, sizes, runs);

	printf("ordinal %u; medians of %zu copies, the whole in random order\n", transfers.ordinal,
	       runs);
	printf(
	    "floor: %.0f ns between two stamps with nothing between them; it is in every figure\n",
	    floor_ns);
	print(cells, sizes, runs, floor_ns);
	printf("The stamps leave out what the host does before, as making heap memory fit for the "
	       "device;\nhost GB/s has all of it, the wait included.\n");
	printf("result: %s\n", transfers.wrong ? "WRONG" : "right");
	if (transfers.wrong)
		printf("  %zu copies are wrong\n", transfers.wrong);
	release(&transfers);
	return transfers.wrong ? 1 : 0;
}
