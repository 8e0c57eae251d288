// SPDX-License-Identifier: Apache-2.0
#include "guest/opencl/bench.h"

struct layer_bench *layer_bench(void)
{
	static struct layer_bench *bench;
	uint32_t process = atomic_load(&guest_process);
	if (bench == NULL)
		bench = guest_memory(sizeof *bench);
	if (bench == NULL || guest_header == NULL || !atomic_load(&guest_active))
		return NULL;
	// In the child of a fork the window is the parent's.
	if (bench->thread.process != process)
		bench->room = NULL;
	bench->thread.process = process;
	bench->thread.api[TARE_TRACE_OPENCL] = &bench->mine;
	// What it takes to harvest here is not the program's.
	bench->thread.helper = true;
	bench->thread.depth = 1;
	bench->thread.window = &bench->window;
	bench->records[0].head = 1;
	bench->queue.object.handle = bench;
	bench->queue.ring = bench->ring;
	bench->queue.mask = LAYER_BENCH_RING - 1;
	atomic_store(&bench->queue.process, process);
	atomic_store(&bench->queue.told_supply, true);
	bench->mine.queue = &bench->queue;
	bench->thread.next = bench->thread.end = NULL;
	layer_bench_room(bench, false);
	layer_bench_rewind(bench);
	return bench;
}

void layer_bench_room(struct layer_bench *bench, bool lent)
{
	if (bench->room != NULL)
		guest_window_give_back(bench->room);
	bench->room = lent ? guest_window_borrow() : NULL;
	bench->thread.next = bench->thread.end = NULL;
}

void layer_bench_rewind(struct layer_bench *bench)
{
	enum { WANTED = 2 * LAYER_BENCH_COMMANDS };
	struct guest_thread *thread = &bench->thread;
	union tare_trace_record *all = bench->room != NULL ? (union tare_trace_record *)bench->room
	                                                   : bench->records;
	size_t count = bench->room != NULL ? TARE_TRACE_WINDOW_BYTES / sizeof *all
	                                   : sizeof bench->records / sizeof *all;
	thread->cpu_read_ticks = thread->left_ticks = guest_ticks();
	// A window is gone through once: its lines are as cold as those of the program's will be.
	if (bench->room != NULL && thread->end != NULL && thread->end - thread->next >= WANTED)
		return;
	// Without a head it is nobody's to a reader, wherever the process ends; the claim of the second looks
	// at the record before.
	thread->next = all + 1 + (bench->room != NULL);
	if (bench->room != NULL)
		all[1].head = tare_trace_head(TARE_TRACE_VOID, 0, 0, 0);
	thread->end = all + count;
}

static const size_t one[] = {1};
static const struct layer_range range = {.dimensions = 1, .globals = one};

// From now on a sample is drawn, and nothing is of it when its first ones are through.
static void draw_none(struct layer_bench *bench)
{
	enum { FIRST = 64 };
	struct layer_sampler *sampler = &bench->mine.sampler;
	sampler->on = true;
	sampler->state = 1;
	sampler->chance = 0;
	sampler->left = UINT32_MAX;
	for (int i = 0; i < FIRST; i++)
		layer_sample_draw(&bench->thread, LAYER_clEnqueueNDRangeKernel, &range, 0);
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
	struct guest_thread *thread = &bench->thread;
	struct layer_command command;
	// As layer_enter, which would count a call of the program's.
	__asm__ volatile("" : : "r"(layer_thread()));
	thread->depth++;
	layer_command_begin(thread, &command, LAYER_clEnqueueNDRangeKernel, (cl_command_queue)(uintptr_t)bench,
	                    NULL, true, false, &range, 0);
	cl_int result = vendor(context, command.event);
	layer_kernel_end(thread, &command, result, &range, 0, NULL);
	layer_give_event(&command);
	layer_leave(thread);
	return result;
}

void layer_bench_harvest(struct layer_bench *bench)
{
	layer_harvest_queue(&bench->thread, &bench->queue, UINT32_MAX, atomic_load(&bench->queue.head),
	                    guest_ticks());
}
