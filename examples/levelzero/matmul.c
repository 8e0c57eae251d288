// SPDX-License-Identifier: Apache-2.0
// Times a kernel by kernel timestamps: a matrix product, its stamps field by field, the host's time
// around it, and the same product on one core of the host.
//   ZE_ENABLE_ALT_DRIVERS=/path/to/libze_cpu.so levelzero-matmul --size 256
#include "example.h"
#include "matrix.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUNS 100

struct product {
	struct device device;
	size_t n, bytes;
	float *a, *b, *c, *expected; // the host's
	void *on_device[3];          // c, a, b
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
	ze_event_pool_handle_t pool;
	ze_event_handle_t done;
	ze_command_queue_handle_t queue;
	ze_kernel_timestamp_result_t *stamps; // host memory: the device writes it
};

// Copies both matrices to the device before anything is timed.
static void send(const struct product *product)
{
	ze_command_list_handle_t list = list_of(&product->device, product->device.compute);

	check(zeCommandListAppendMemoryCopy(list, product->on_device[1], product->a, product->bytes,
	                                    NULL, 0, NULL),
	      "zeCommandListAppendMemoryCopy");
	check(zeCommandListAppendMemoryCopy(list, product->on_device[2], product->b, product->bytes,
	                                    NULL, 0, NULL),
	      "zeCommandListAppendMemoryCopy");
	check(zeCommandListClose(list), "zeCommandListClose");
	run_ns(product->queue, list);
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

static void prepare(struct product *product, const char *kernels)
{
	uint32_t n = (uint32_t)product->n;

	product->bytes = product->n * product->n * sizeof(float);
	product->a = memory_of(&product->device, HEAP, product->bytes);
	product->b = memory_of(&product->device, HEAP, product->bytes);
	product->c = memory_of(&product->device, HEAP, product->bytes);
	product->expected = memory_of(&product->device, HEAP, product->bytes);
	fill_matrix(product->a, product->n, 1);
	fill_matrix(product->b, product->n, 2);
	memset(product->c, 0, product->bytes);
	product->queue = queue_of(&product->device, product->device.compute, 0);
	product->module = module_of(&product->device, kernels);
	product->kernel = kernel_of(product->module, "matmul_coalesced");
	check(zeKernelSetGroupSize(product->kernel, TILE, TILE, 1), "zeKernelSetGroupSize");
	for (uint32_t i = 0; i < 3; i++) {
		product->on_device[i] = memory_of(&product->device, DEVICE, product->bytes);
		set_argument(product->kernel, i, sizeof(void *), &product->on_device[i]);
	}
	set_argument(product->kernel, 3, sizeof n, &n);
	product->pool = pool_of(&product->device, 1);
	product->done = event_of(product->pool, 0);
	product->stamps = memory_of(&product->device, HOST, sizeof *product->stamps);
	send(product);
}

// One launch. The stamps are asked for by a command that waits for the kernel's event: what a query
// of an event gives that is not signalled yet is undefined.
static ze_command_list_handle_t launch_list(const struct product *product)
{
	ze_command_list_handle_t list = list_of(&product->device, product->device.compute);
	ze_group_count_t groups = { (uint32_t)product->n / TILE, (uint32_t)product->n / TILE, 1 };
	ze_event_handle_t done = product->done;

	check(zeCommandListAppendLaunchKernel(list, product->kernel, &groups, done, 0, NULL),
	      "zeCommandListAppendLaunchKernel");
	check(zeCommandListAppendQueryKernelTimestamps(list, 1, &done, product->stamps, NULL, NULL,
	                                               1, &done),
	      "zeCommandListAppendQueryKernelTimestamps");
	check(zeCommandListAppendMemoryCopy(list, product->c, product->on_device[0], product->bytes,
	                                    NULL, 1, &done),
	      "zeCommandListAppendMemoryCopy");
	check(zeCommandListClose(list), "zeCommandListClose");
	return list;
}

static double global_ns(const struct product *product, const ze_kernel_timestamp_result_t *stamps)
{
	return product->device.tick_ns *
	       (double)elapsed(stamps->global.kernelStart, stamps->global.kernelEnd,
	                       product->device.properties.kernelTimestampValidBits);
}

// `global` is the free-running clock; `context` counts only while the kernel's context was being
// executed. They agree where nothing else ran.
static void print_stamps(const struct product *product, const ze_kernel_timestamp_result_t *stamps)
{
	uint32_t bits = product->device.properties.kernelTimestampValidBits;
	uint64_t global = elapsed(stamps->global.kernelStart, stamps->global.kernelEnd, bits);
	uint64_t context = elapsed(stamps->context.kernelStart, stamps->context.kernelEnd, bits);

	printf("kernel timestamps of the last launch:\n");
	printf("  global start  %20" PRIu64 " ticks\n", stamps->global.kernelStart);
	printf("  kernel start  %20" PRIu64 " ticks\n", stamps->context.kernelStart);
	printf("  kernel end    %20" PRIu64 " ticks\n", stamps->context.kernelEnd);
	printf("  global end    %20" PRIu64 " ticks\n", stamps->global.kernelEnd);
	printf("  by global     %20" PRIu64 " ticks = %.0f ns%s\n", global,
	       (double)global * product->device.tick_ns,
	       stamps->global.kernelEnd < stamps->global.kernelStart ? " (the counter wrapped)"
	                                                             : "");
	printf("  by context    %20" PRIu64 " ticks = %.0f ns\n", context,
	       (double)context * product->device.tick_ns);
}

static double host_ns(struct product *product)
{
	double times[5];

	for (int i = 0; i < 5; i++) {
		double begin = now_ns();
		host_matmul(product->expected, product->a, product->b, product->n);
		times[i] = now_ns() - begin;
	}
	return median(times, 5);
}

static void release(struct product *product)
{
	check(zeEventDestroy(product->done), "zeEventDestroy");
	check(zeEventPoolDestroy(product->pool), "zeEventPoolDestroy");
	check(zeKernelDestroy(product->kernel), "zeKernelDestroy");
	check(zeModuleDestroy(product->module), "zeModuleDestroy");
	check(zeCommandQueueDestroy(product->queue), "zeCommandQueueDestroy");
	free_memory(&product->device, HOST, product->stamps);
	for (int i = 0; i < 3; i++)
		free_memory(&product->device, DEVICE, product->on_device[i]);
	free(product->a);
	free(product->b);
	free(product->c);
	free(product->expected);
	close_device(&product->device);
}

static void row(const char *what, double ns, double operations)
{
	printf("%-34s %12.1f us %10.2f GFLOP/s\n", what, ns * 1e-3, operations / ns);
}

int main(int count, char **arguments)
{
	struct product product = { .n = 256 };
	double kernel_ns[MOST_RUNS], wall_ns[MOST_RUNS];
	ze_kernel_timestamp_result_t last = { 0 };
	const char *kernels = NULL;
	size_t runs = 10;
	const struct option options[] = {
		{ "--size", "rows of the matrices, a multiple of 16", &product.n, TILE, 4096,
		  NULL },
		{ "--runs", "timed launches", &runs, 1, MOST_RUNS, NULL },
		{ "--kernels", "kernels as SPIR-V", NULL, 0, 0, &kernels },
	};

	read_options(count, arguments, "Times a matrix product by kernel timestamps.", options, 3);
	if (product.n % TILE) {
		fprintf(stderr, "--size takes a multiple of %d\n", TILE);
		return 2;
	}
	product.device = open_device();
	prepare(&product, kernels);
	ze_command_list_handle_t list = launch_list(&product);
	for (size_t i = 0; i <= runs; i++) {
		double wall = run_ns(product.queue, list);
		last = *product.stamps;
		check(zeEventHostReset(product.done), "zeEventHostReset");
		if (i == 0) // the first launch also pays for what the driver puts off
			continue;
		wall_ns[i - 1] = wall;
		kernel_ns[i - 1] = global_ns(&product, &last);
	}
	double host = host_ns(&product), n = (double)product.n;
	size_t wrong = differences(product.c, product.expected, product.n);
	double kernel = median(kernel_ns, runs), wall = median(wall_ns, runs);

	print_stamps(&product, &last);
	printf("%zu x %zu, medians of %zu launches:\n", product.n, product.n, runs);
	row("  kernel, by its timestamps", kernel, 2 * n * n * n);
	row("  host, execute to synchronised", wall, 2 * n * n * n);
	row("  the same on one core of the host", host, 2 * n * n * n);
	printf("  the kernel is %.2f times as fast as that core; with launch, wait and copy back "
	       "%.2f\n",
	       host / kernel, host / wall);
	printf("result: %s\n", wrong ? "WRONG" : "right");
	if (wrong)
		printf("  %zu of %zu elements differ\n", wrong, product.n * product.n);
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	release(&product);
	return wrong ? 1 : 0;
}
