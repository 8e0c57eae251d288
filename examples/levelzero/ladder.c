// SPDX-License-Identifier: Apache-2.0
// One matrix product, four times better: the inner loop as a kernel of its own, launched for every
// element; the whole as one launch; with neighbours that read neighbouring floats; through local
// memory. Timed by global timestamps around each rung, and by the host.
//   ZE_ENABLE_ALT_DRIVERS=/path/to/libze_cpu.so levelzero-ladder --size 128
#include "example.h"
#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUNS 50

static const struct rung {
	const char *kernel, *what;
	uint32_t group; // its side; 1: a launch an element
} rungs[] = {
	{ "matmul_element", "inner loop", 1 },
	{ "matmul_naive", "naive", TILE },
	{ "matmul_coalesced", "coalesced", TILE },
	{ "matmul_tiled", "tiled", TILE },
};
#define RUNGS (sizeof rungs / sizeof *rungs)

struct ladder {
	struct device device;
	size_t n, bytes;
	float *a, *b, *c, *expected;
	void *on_device[3]; // c, a, b
	ze_module_handle_t module;
	ze_command_queue_handle_t queue;
	uint64_t *stamps; // host memory: start, end
};

static void prepare(struct ladder *ladder, const char *kernels)
{
	const struct device *device = &ladder->device;

	ladder->bytes = ladder->n * ladder->n * sizeof(float);
	ladder->a = memory_of(device, HEAP, ladder->bytes);
	ladder->b = memory_of(device, HEAP, ladder->bytes);
	ladder->c = memory_of(device, HEAP, ladder->bytes);
	ladder->expected = memory_of(device, HEAP, ladder->bytes);
	fill_matrix(ladder->a, ladder->n, 1);
	fill_matrix(ladder->b, ladder->n, 2);
	host_matmul(ladder->expected, ladder->a, ladder->b, ladder->n);
	for (int i = 0; i < 3; i++)
		ladder->on_device[i] = memory_of(device, DEVICE, ladder->bytes);
	ladder->module = module_of(device, kernels);
	ladder->queue = queue_of(device, device->compute, 0);
	ladder->stamps = memory_of(device, HOST, 2 * sizeof *ladder->stamps);
}

static void move(const struct ladder *ladder, void *to, const void *from)
{
	ze_command_list_handle_t list = list_of(&ladder->device, ladder->device.compute);

	check(zeCommandListAppendMemoryCopy(list, to, from, ladder->bytes, NULL, 0, NULL),
	      "zeCommandListAppendMemoryCopy");
	check(zeCommandListClose(list), "zeCommandListClose");
	run_ns(ladder->queue, list);
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

static void append_launches(const struct ladder *ladder, const struct rung *rung,
                            ze_kernel_handle_t kernel, ze_command_list_handle_t list)
{
	uint32_t n = (uint32_t)ladder->n, side = rung->group == 1 ? 1 : n / rung->group;
	ze_group_count_t groups = { side, side, 1 };

	for (uint32_t i = 0; i < 3; i++)
		set_argument(kernel, i, sizeof(void *), &ladder->on_device[i]);
	set_argument(kernel, 3, sizeof n, &n);
	for (uint32_t row = 0; row < (rung->group == 1 ? n : 1); row++)
		for (uint32_t column = 0; column < (rung->group == 1 ? n : 1); column++) {
			if (rung->group == 1) {
				set_argument(kernel, 4, sizeof row, &row);
				set_argument(kernel, 5, sizeof column, &column);
			}
			check(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL),
			      "zeCommandListAppendLaunchKernel");
		}
}

static void append_stamp(const struct ladder *ladder, ze_command_list_handle_t list, int which)
{
	check(zeCommandListAppendBarrier(list, NULL, 0, NULL), "zeCommandListAppendBarrier");
	check(zeCommandListAppendWriteGlobalTimestamp(list, &ladder->stamps[which], NULL, 0, NULL),
	      "zeCommandListAppendWriteGlobalTimestamp");
	check(zeCommandListAppendBarrier(list, NULL, 0, NULL), "zeCommandListAppendBarrier");
}

// Nanoseconds by the device and by the host; the number of wrong elements.
static size_t climb(const struct ladder *ladder, const struct rung *rung, size_t runs,
                    double *device_ns, double *host_ns)
{
	ze_command_list_handle_t list = list_of(&ladder->device, ladder->device.compute);
	ze_kernel_handle_t kernel = kernel_of(ladder->module, rung->kernel);
	double by_device[MOST_RUNS], by_host[MOST_RUNS];

	check(zeKernelSetGroupSize(kernel, rung->group, rung->group, 1), "zeKernelSetGroupSize");
	move(ladder, ladder->on_device[1], ladder->a);
	move(ladder, ladder->on_device[2], ladder->b);
	memset(ladder->c, 0, ladder->bytes);
	move(ladder, ladder->on_device[0], ladder->c); // what an earlier rung left goes
	append_stamp(ladder, list, 0);
	append_launches(ladder, rung, kernel, list);
	append_stamp(ladder, list, 1);
	check(zeCommandListClose(list), "zeCommandListClose");
	for (size_t i = 0; i <= runs; i++) {
		size_t at = i == 0 ? 0 : i - 1; // the first is overwritten: it warms up
		by_host[at] = run_ns(ladder->queue, list);
		by_device[at] = ladder->device.tick_ns *
		                (double)elapsed(ladder->stamps[0], ladder->stamps[1],
		                                ladder->device.properties.timestampValidBits);
	}
	*device_ns = median(by_device, runs);
	*host_ns = median(by_host, runs);
	move(ladder, ladder->c, ladder->on_device[0]);
	check(zeKernelDestroy(kernel), "zeKernelDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	return differences(ladder->c, ladder->expected, ladder->n);
}

static void release(struct ladder *ladder)
{
	free_memory(&ladder->device, HOST, ladder->stamps);
	for (int i = 0; i < 3; i++)
		free_memory(&ladder->device, DEVICE, ladder->on_device[i]);
	check(zeModuleDestroy(ladder->module), "zeModuleDestroy");
	check(zeCommandQueueDestroy(ladder->queue), "zeCommandQueueDestroy");
	free(ladder->a);
	free(ladder->b);
	free(ladder->c);
	free(ladder->expected);
	close_device(&ladder->device);
}

int main(int count, char **arguments)
{
	struct ladder ladder = { .n = 128 };
	const char *kernels = NULL;
	size_t runs = 5, all_wrong = 0;
	double before = 0;
	const struct option options[] = {
		{ "--size", "rows of the matrices, a multiple of 16", &ladder.n, TILE, 1024, NULL },
		{ "--runs", "timed runs of each rung", &runs, 1, MOST_RUNS, NULL },
		{ "--kernels", "kernels as SPIR-V", NULL, 0, 0, &kernels },
	};

	read_options(count, arguments, "Times one matrix product written in four ways.", options,
	             3);
	if (ladder.n % TILE) {
		fprintf(stderr, "--size takes a multiple of %d\n", TILE);
		return 2;
	}
	ladder.device = open_device();
	prepare(&ladder, kernels);
	printf("%zu x %zu, medians of %zu\n", ladder.n, ladder.n, runs);
	printf("%-12s %9s %12s %10s %12s %14s\n", "rung", "launches", "device us", "GFLOP/s",
	       "host us", "times the last");
	for (size_t i = 0; i < RUNGS; i++) {
		double device_ns, host_ns, n = (double)ladder.n;
		size_t wrong = climb(&ladder, &rungs[i], runs, &device_ns, &host_ns);

		printf("%-12s %9.0f %12.1f %10.3f %12.1f ", rungs[i].what,
		       rungs[i].group == 1 ? n * n : 1, device_ns * 1e-3, 2 * n * n * n / device_ns,
		       host_ns * 1e-3);
		if (i == 0)
			printf("%14s", "-");
		else
			printf("%14.2f", before / device_ns);
		puts(wrong ? "  WRONG" : "");
		before = device_ns;
		all_wrong += wrong;
	}
	printf("result: %s\n", all_wrong ? "WRONG" : "right");
	release(&ladder);
	return all_wrong ? 1 : 0;
}
