// SPDX-License-Identifier: Apache-2.0
#include "guest/opencl/bench.h"
#include "guest/opencl/again.h"

struct layer_bench *layer_bench(void)
{
	static struct layer_bench *bench;
	if (bench == NULL)
		bench = guest_memory(sizeof *bench);
	if (bench == NULL || guest_header == NULL || !atomic_load(&guest_active))
		return NULL;
	guest_bench_begin(&bench->on, TARE_TRACE_OPENCL, &bench->mine, bench->records,
	                  sizeof bench->records / sizeof *bench->records);
	bench->queue.object.handle = bench;
	// What harvesting takes is told apart: here it is never due while commands are pushed.
	struct layer_ring *ring = &bench->queue.rings[LAYER_OWNED];
	struct layer_places *places = atomic_load(&ring->places);
	if (places == NULL)
		places = guest_memory(sizeof *places + LAYER_BENCH_RING * sizeof *places->at);
	if (places == NULL)
		return NULL;
	places->mask = LAYER_BENCH_RING - 1;
	atomic_store(&ring->places, places);
	ring->look = UINT32_MAX;
	atomic_store(&bench->queue.owner, &bench->on.thread);
	atomic_store(&bench->queue.process, atomic_load(&guest_process));
	atomic_store(&bench->queue.told_supply, true);
	bench->mine.queue = &bench->queue;
	return bench;
}

void layer_bench_rewind(struct layer_bench *bench)
{
	enum { WANTED = 2 * LAYER_BENCH_COMMANDS };
	guest_bench_rewind(&bench->on, WANTED);
}

static const size_t one[] = { 1 };
// Four launches of each of two kernels in turn: three of four are like the one before, as nearly
// all are of a program for which recording costs much.
static const struct layer_range ranges[] = {
	{ .kernel = (cl_kernel)&ranges[0], .dimensions = 1, .globals = one },
	{ .kernel = (cl_kernel)&ranges[1], .dimensions = 1, .globals = one },
};

// From now on a sample is drawn, and nothing is of it.
static void draw_none(struct layer_bench *bench)
{
	struct layer_sampler *sampler = &bench->mine.sampler;
	sampler->on = true;
	sampler->state = 1;
	sampler->chance = 0;
	sampler->left = UINT32_MAX;
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		uint32_t chance = 0;
		layer_sample_draw(&bench->on.thread, LAYER_clEnqueueNDRangeKernel, &ranges[i], 0,
		                  &chance);
	}
	for (size_t i = 0; i < LAYER_KINDS; i++) {
		sampler->kinds[i].chance = 0;
		sampler->kinds[i].next = UINT32_MAX;
	}
}

void layer_bench_times(struct layer_bench *bench, bool timed)
{
	bool times = !guest_options.count_only && !guest_options.strict;
	bench->queue.timed = bench->queue.supply = times && (timed || guest_options.may_sample);
	bench->mine.sampler.on = false;
	bench->mine.sampler.look_in = UINT32_MAX;
	if (!timed && times && guest_options.may_sample)
		draw_none(bench);
}

cl_int layer_bench_command(struct layer_bench *bench, layer_bench_vendor *vendor, void *context)
{
	struct guest_thread *thread = &bench->on.thread;
	const struct layer_range *range = &ranges[bench->turn++ / 4 % 2];
	struct layer_command command;
	struct layer_again again = { .handle = (cl_command_queue)(uintptr_t)bench,
		                     .kernel = range->kernel,
		                     .globals = range->globals };
	// As layer_enter, which would count a call of the program's.
	__asm__ volatile("" : : "r"(layer_thread()));
	if (layer_again_begin(thread, &again)) {
		cl_event own = NULL;
		cl_int result = vendor(context, layer_again_wants(&again) ? &own : NULL);
		layer_again_end(thread, &again, own, result);
		return result;
	}
	thread->depth++;
	layer_command_begin(thread, &command, LAYER_clEnqueueNDRangeKernel,
	                    (cl_command_queue)(uintptr_t)bench, NULL, true, false, range, 0);
	cl_int result = vendor(context, command.event);
	layer_kernel_end(thread, &command, result, range, 0, NULL);
	layer_give_event(&command);
	layer_leave(thread);
	return result;
}

void layer_bench_harvest(struct layer_bench *bench)
{
	layer_harvest_queue(&bench->on.thread, &bench->queue, UINT32_MAX,
	                    layer_heads(&bench->queue), guest_ticks());
}
