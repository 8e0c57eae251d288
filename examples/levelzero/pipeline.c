// SPDX-License-Identifier: Apache-2.0
// Copy in, compute, copy out, cut into chunks: one step after the other, then overlapped over the
// compute and the copy engines with events between the steps; beside the least that it can take.
//   ZE_ENABLE_ALT_DRIVERS=/path/to/libze_cpu.so levelzero-pipeline --chunks 8 --queues 3
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CHUNKS 64
#define MOST_RUNS 2000
// Of the working part, where nobody says how many runs: half a second, though the host sees each
// end late.
#define WORK_NS 6e8
#define GROUP_ITEMS 64

enum step { IN, KERNEL, OUT, STEPS };

struct pipeline {
	struct device device;
	size_t chunks, chunk_bytes, queue_count;
	uint32_t cycles;
	uint32_t ordinals[STEPS]; // where each step runs
	size_t queue_of_step[STEPS];
	ze_command_queue_handle_t queues[STEPS];
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
	ze_event_pool_handle_t pool;
	ze_event_handle_t done[MOST_CHUNKS][STEPS];
	uint32_t *input, *output;           // host memory: the device copies it without staging
	void *chunk[MOST_CHUNKS];           // on the device
	double step_ns[MOST_CHUNKS][STEPS]; // of the last serial run, by the events' stamps
	double sum_ns[STEPS];               // of these
	double span_ns;                     // of the last run, first start to last end
};

// One queue: all on the compute group. Two: copies of both ways on one copy engine. Three: an
// engine each way where there are two. A device without copy engines gets further queues of
// compute.
static void choose_engines(struct pipeline *pipeline)
{
	const struct device *device = &pipeline->device;
	const ze_command_queue_group_properties_t *groups = device->groups;
	uint32_t copy = device->compute;
	bool own_engines = false;

	for (uint32_t i = 0; i < device->group_count && !own_engines; i++)
		if ((groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) &&
		    !(groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)) {
			copy = i;
			own_engines = true;
		}
	pipeline->ordinals[KERNEL] = device->compute;
	pipeline->ordinals[IN] = pipeline->ordinals[OUT] =
	    pipeline->queue_count > 1 ? copy : device->compute;
	pipeline->queue_of_step[IN] = pipeline->queue_count > 1;
	pipeline->queue_of_step[OUT] = pipeline->queue_count > 2 ? 2 : pipeline->queue_of_step[IN];
	for (size_t i = 0; i < pipeline->queue_count; i++) {
		uint32_t ordinal = i == 0 ? device->compute : copy;
		uint32_t wanted = i == 0 ? 0 : own_engines ? (uint32_t)i - 1 : (uint32_t)i;
		uint32_t index = wanted % groups[ordinal].numQueues;
		pipeline->queues[i] = queue_of(device, ordinal, index);
		printf("queue %zu: ordinal %u, engine %u of %u\n", i, ordinal, index,
		       groups[ordinal].numQueues);
	}
}

static void prepare(struct pipeline *pipeline, const char *kernels)
{
	const struct device *device = &pipeline->device;
	size_t items = pipeline->chunks * pipeline->chunk_bytes / sizeof(uint32_t);

	choose_engines(pipeline);
	pipeline->module = module_of(device, kernels);
	pipeline->kernel = kernel_of(pipeline->module, "steps");
	check(zeKernelSetGroupSize(pipeline->kernel, GROUP_ITEMS, 1, 1), "zeKernelSetGroupSize");
	pipeline->input = memory_of(device, HOST, items * sizeof(uint32_t));
	pipeline->output = memory_of(device, HOST, items * sizeof(uint32_t));
	for (size_t i = 0; i < items; i++)
		pipeline->input[i] = (uint32_t)i;
	pipeline->pool = pool_of(device, (uint32_t)pipeline->chunks * STEPS);
	for (size_t i = 0; i < pipeline->chunks; i++) {
		pipeline->chunk[i] = memory_of(device, DEVICE, pipeline->chunk_bytes);
		for (uint32_t step = 0; step < STEPS; step++)
			pipeline->done[i][step] =
			    event_of(pipeline->pool, (uint32_t)i * STEPS + step);
	}
}

// `after` is the event that it waits for; NULL: none.
static void append(const struct pipeline *pipeline, ze_command_list_handle_t list, size_t chunk,
                   enum step step, ze_event_handle_t after)
{
	size_t items = pipeline->chunk_bytes / sizeof(uint32_t);
	ze_group_count_t groups = { (uint32_t)(items / GROUP_ITEMS), 1, 1 };
	ze_event_handle_t done = pipeline->done[chunk][step];
	void *there = pipeline->chunk[chunk];

	if (step == KERNEL) {
		set_argument(pipeline->kernel, 0, sizeof there, &there);
		set_argument(pipeline->kernel, 1, sizeof pipeline->cycles, &pipeline->cycles);
		check(zeCommandListAppendLaunchKernel(list, pipeline->kernel, &groups, done,
		                                      after != NULL, after ? &after : NULL),
		      "zeCommandListAppendLaunchKernel");
		return;
	}
	void *to = step == IN ? there : pipeline->output + chunk * items;
	const void *from = step == IN ? (const void *)(pipeline->input + chunk * items) : there;
	check(zeCommandListAppendMemoryCopy(list, to, from, pipeline->chunk_bytes, done,
	                                    after != NULL, after ? &after : NULL),
	      "zeCommandListAppendMemoryCopy");
}

// The events are reset and what came out is wiped, so that nothing of an earlier run is left.
static void begin_run(const struct pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->chunks; i++)
		for (int step = 0; step < STEPS; step++)
			check(zeEventHostReset(pipeline->done[i][step]), "zeEventHostReset");
	memset(pipeline->output, 0, pipeline->chunks * pipeline->chunk_bytes);
}

// Runs lists[i] on queue i, all at once; returns how long that took.
static double run_lists(const struct pipeline *pipeline, ze_command_list_handle_t *lists,
                        size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(zeCommandListClose(lists[i]), "zeCommandListClose");
	begin_run(pipeline);
	double begin = now_ns();
	for (size_t i = 0; i < count; i++)
		check(zeCommandQueueExecuteCommandLists(pipeline->queues[i], 1, &lists[i], NULL),
		      "zeCommandQueueExecuteCommandLists");
	for (size_t i = 0; i < count; i++)
		synchronize(pipeline->queues[i]);
	double took = now_ns() - begin;
	for (size_t i = 0; i < count; i++)
		check(zeCommandListDestroy(lists[i]), "zeCommandListDestroy");
	return took;
}

// All stamps are of one counter, so that they can be compared across the engines.
static void read_stamps(struct pipeline *pipeline, bool steps)
{
	uint32_t bits = pipeline->device.properties.kernelTimestampValidBits;
	ze_kernel_timestamp_result_t first = stamps_of(pipeline->done[0][IN]);
	double span_ticks = 0;

	for (size_t i = 0; i < pipeline->chunks; i++)
		for (int step = 0; step < STEPS; step++) {
			ze_kernel_timestamp_result_t stamps = stamps_of(pipeline->done[i][step]);
			double end = (double)elapsed(first.global.kernelStart,
			                             stamps.global.kernelEnd, bits);
			span_ticks = end > span_ticks ? end : span_ticks;
			if (!steps)
				continue;
			pipeline->step_ns[i][step] = pipeline->device.tick_ns *
			                             (double)elapsed(stamps.global.kernelStart,
			                                             stamps.global.kernelEnd, bits);
			pipeline->sum_ns[step] += pipeline->step_ns[i][step];
		}
	pipeline->span_ns = pipeline->device.tick_ns * span_ticks;
}

// Every step waits for the one before it, all on the compute group: each has the device to itself.
static double serial(struct pipeline *pipeline)
{
	ze_command_list_handle_t list = list_of(&pipeline->device, pipeline->device.compute);
	ze_event_handle_t before = NULL;

	for (size_t i = 0; i < pipeline->chunks; i++)
		for (int step = 0; step < STEPS; step++) {
			append(pipeline, list, i, (enum step)step, before);
			before = pipeline->done[i][step];
		}
	double took = run_lists(pipeline, &list, 1);
	memset(pipeline->sum_ns, 0, sizeof pipeline->sum_ns);
	read_stamps(pipeline, true);
	return took;
}

// A step waits for the one before it of its own chunk only. The copy out of a chunk is appended
// behind the copy in of the next: where both share a queue, the engine never waits for a kernel
// while there is something to copy in.
static double overlapped(struct pipeline *pipeline)
{
	ze_command_list_handle_t lists[STEPS];

	lists[0] = list_of(&pipeline->device, pipeline->device.compute);
	for (size_t i = 1; i < pipeline->queue_count; i++)
		lists[i] = list_of(&pipeline->device, pipeline->ordinals[IN]);
	for (size_t i = 0; i <= pipeline->chunks; i++) {
		if (i < pipeline->chunks) {
			append(pipeline, lists[pipeline->queue_of_step[IN]], i, IN, NULL);
			append(pipeline, lists[0], i, KERNEL, pipeline->done[i][IN]);
		}
		if (i > 0)
			append(pipeline, lists[pipeline->queue_of_step[OUT]], i - 1, OUT,
			       pipeline->done[i - 1][KERNEL]);
	}
	double took = run_lists(pipeline, lists, pipeline->queue_count);
	read_stamps(pipeline, false);
	return took;
}

// No schedule can end before its busiest queue has done its work, nor that begin before the first
// chunk is there, nor end before the last has left.
static double bound_ns(const struct pipeline *pipeline)
{
	const double *first = pipeline->step_ns[0], *last = pipeline->step_ns[pipeline->chunks - 1];
	const double *sums = pipeline->sum_ns;
	double bound = first[IN] + sums[KERNEL] + last[OUT];

	if (pipeline->queue_count == 1)
		return sums[IN] + sums[KERNEL] + sums[OUT];
	if (pipeline->queue_count == 2)
		return sums[IN] + sums[OUT] > bound ? sums[IN] + sums[OUT] : bound;
	if (sums[IN] + last[KERNEL] + last[OUT] > bound)
		bound = sums[IN] + last[KERNEL] + last[OUT];
	if (first[IN] + first[KERNEL] + sums[OUT] > bound)
		bound = first[IN] + first[KERNEL] + sums[OUT];
	return bound;
}

static size_t wrong_items(const struct pipeline *pipeline)
{
	size_t items = pipeline->chunks * pipeline->chunk_bytes / sizeof(uint32_t), wrong = 0;
	uint32_t factor = 1, sum = 0; // all steps at once: value * factor + sum

	for (uint32_t k = 0; k < pipeline->cycles; k++) {
		factor *= 1664525u;
		sum = sum * 1664525u + 1013904223u;
	}
	for (size_t i = 0; i < items; i++)
		wrong += pipeline->output[i] != (uint32_t)i * factor + sum;
	return wrong;
}

static void release(struct pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->chunks; i++) {
		for (int step = 0; step < STEPS; step++)
			check(zeEventDestroy(pipeline->done[i][step]), "zeEventDestroy");
		free_memory(&pipeline->device, DEVICE, pipeline->chunk[i]);
	}
	check(zeEventPoolDestroy(pipeline->pool), "zeEventPoolDestroy");
	check(zeKernelDestroy(pipeline->kernel), "zeKernelDestroy");
	check(zeModuleDestroy(pipeline->module), "zeModuleDestroy");
	for (size_t i = 0; i < pipeline->queue_count; i++)
		check(zeCommandQueueDestroy(pipeline->queues[i]), "zeCommandQueueDestroy");
	free_memory(&pipeline->device, HOST, pipeline->input);
	free_memory(&pipeline->device, HOST, pipeline->output);
	close_device(&pipeline->device);
}

// Host's time and device's time of both kinds of run.
static void print(const struct pipeline *pipeline, const double host_ns[2], const double span_ns[2],
                  double bound)
{
	const double *sums = pipeline->sum_ns;

	printf("%zu chunks of %zu KB, %u cycles; by the stamps in %.3f ms, kernel %.3f ms, out "
	       "%.3f ms\n",
	       pipeline->chunks, pipeline->chunk_bytes >> 10, pipeline->cycles, sums[IN] * 1e-6,
	       sums[KERNEL] * 1e-6, sums[OUT] * 1e-6);
	printf("serial      %10.3f ms by the stamps, %10.3f ms by the host\n", span_ns[0] * 1e-6,
	       host_ns[0] * 1e-6);
	printf("overlapped  %10.3f ms by the stamps, %10.3f ms by the host; %.2f times as fast\n",
	       span_ns[1] * 1e-6, host_ns[1] * 1e-6, span_ns[0] / span_ns[1]);
	printf("bound       %10.3f ms with %zu queues, if steps do not slow each other down\n",
	       bound * 1e-6, pipeline->queue_count);
}

int main(int count, char **arguments)
{
	static struct pipeline pipeline = { .chunks = 8, .queue_count = 3 };
	static double host_ns[2][MOST_RUNS], span_ns[2][MOST_RUNS], bounds[MOST_RUNS];
	size_t kilobytes = 1024, cycles = 64, runs = 0, done = 0, wrong = 0;
	double took = 0;
	const char *kernels = NULL;
	const struct option options[] = {
		{ "--chunks", "parts of the work", &pipeline.chunks, 1, MOST_CHUNKS, NULL },
		{ "--kilobytes", "of a chunk", &kilobytes, 1, 65536, NULL },
		{ "--cycles", "steps of the kernel", &cycles, 0, 1000000, NULL },
		{ "--queues", "2: one for copies; 3: one each way", &pipeline.queue_count, 1, STEPS,
		  NULL },
		{ "--runs", "runs of each kind; 0: half a second", &runs, 0, MOST_RUNS, NULL },
		{ "--kernels", "kernels as SPIR-V", NULL, 0, 0, &kernels },
	};

	read_options(count, arguments, "Copy in, compute, copy out: serial and overlapped.",
	             options, sizeof options / sizeof *options);
	pipeline.chunk_bytes = kilobytes << 10;
	pipeline.cycles = (uint32_t)cycles;
	pipeline.device = open_device();
	prepare(&pipeline, kernels);
	size_t most = runs ? runs : MOST_RUNS;
	for (size_t i = 0; i <= most && (i == 0 || runs || took < WORK_NS); i++) {
		size_t at = i == 0 ? 0 : i - 1; // the first of each is overwritten: it warms up
		host_ns[0][at] = serial(&pipeline);
		span_ns[0][at] = pipeline.span_ns;
		bounds[at] = bound_ns(&pipeline);
		wrong += wrong_items(&pipeline);
		host_ns[1][at] = overlapped(&pipeline);
		span_ns[1][at] = pipeline.span_ns;
		wrong += wrong_items(&pipeline);
		took += i ? host_ns[0][at] + host_ns[1][at] : 0;
		done = at + 1;
	}
	runs = done;
	printf("%zu run%s of each kind, together %.3f ms\n", runs, runs == 1 ? "" : "s",
	       took * 1e-6);
	print(&pipeline, (double[]){ median(host_ns[0], runs), median(host_ns[1], runs) },
	      (double[]){ median(span_ns[0], runs), median(span_ns[1], runs) },
	      median(bounds, runs));
	printf("result: %s, %zu items are wrong\n", wrong ? "WRONG" : "right", wrong);
	release(&pipeline);
	return wrong ? 1 : 0;
}
