// SPDX-License-Identifier: Apache-2.0
// What the driver takes for profiling, for an event with each command, for its times and for its
// release: measured on two queues of our own on a context of the program's, with a fill of 64
// bytes, which drivers treat like a small kernel (a kernel would have to be built), and with a
// write of 64 bytes for the rest: NVIDIA's driver makes kernels pay for the event and transfers for
// the queue's profiling. Our own code is measured around the same fills: in a row by itself it is
// faster than between a driver's locks and caches. The trials take turns, so that what the machine
// does meanwhile falls on all of them; a cost is the median over the rounds of a difference within
// a round. Whatever fails, or takes too long, means that nothing is known.
#include "guest/opencl/bench.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define MOST_NS 6000000     // that a measurement is to take
#define WARM_UP_NS 20000000 // that the device may take to do the first command
#define AGAIN 40 // so many times as long as it took must have passed before it is done again

enum {
	COMMANDS = 48,
	LEAST_COMMANDS = 8,
	TIMES = 3, // that it is done in a process
	// other threads compute when they take more than one so-manieth of this one's CPU time
	OTHERS = 4,
	BYTES = 64,
};
// The last two are PROFILED (NATIVE where nothing is to have times) and BOTH with our own code
// around it.
enum trial { NATIVE, PROFILED, EVENT, BOTH, TRIALS, OURS_UNTIMED = TRIALS, OURS, ALL_TRIALS };
enum work { FILL, WRITE, WORKS };
// What is found: the driver's costs as in the header, what a command takes that nothing was changed
// for, and our own code's.
enum {
	FOUND_NATIVE = TARE_DRIVER_COST_COUNT,
	FOUND_OURS_UNTIMED,
	FOUND_OURS,
	FOUND_HARVEST,
	FOUND_COUNT
};

struct bench {
	cl_command_queue queues[2]; // without and with profiling
	cl_mem memory;
	cl_event events[COMMANDS];
	uint32_t commands;        // of a trial
	struct layer_bench *ours; // NULL: our own code is not measured here
};

// Ticks of one trial's commands; of the last BOTH also what comes after them.
struct round {
	uint64_t commands[WORKS][ALL_TRIALS], queries, release, harvest;
};

// Picoseconds.
struct told {
	int64_t middle[FOUND_COUNT], low[FOUND_COUNT], high[FOUND_COUNT];
};

// Of the measurement that is under way, in the order of measuring.
static int64_t found[FOUND_COUNT][GUEST_BENCH_ROUNDS];
static uint32_t found_count;
// Of all measurements so far: the last one's, for at the first the driver's memory is as tidy as it
// will never be again; the interval reaches to the middle of the one before.
static struct told told;
static uint32_t told_rounds, times_done;
static bool others_compute;
static uint64_t last_ticks, took_ticks;
static _Atomic bool at_it;
_Atomic uint64_t layer_event_ticks;

static bool can_measure(void)
{
	return !guest_options.strict && layer_next.clCreateCommandQueue != NULL &&
	       layer_next.clReleaseCommandQueue != NULL && layer_next.clCreateBuffer != NULL &&
	       layer_next.clReleaseMemObject != NULL && layer_next.clEnqueueFillBuffer != NULL &&
	       layer_next.clEnqueueWriteBuffer != NULL && layer_next.clFlush != NULL &&
	       layer_next.clFinish != NULL && layer_next.clGetEventInfo != NULL &&
	       layer_next.clGetEventProfilingInfo != NULL && layer_next.clReleaseEvent != NULL;
}

static bool enqueue(const struct bench *bench, enum work work, bool profiled, cl_event *event)
{
	static const cl_uchar pattern, host[BYTES];
	cl_command_queue queue = bench->queues[profiled];
	if (work == WRITE)
		return layer_next.clEnqueueWriteBuffer(queue, bench->memory, CL_FALSE, 0, BYTES,
		                                       host, 0, NULL, event) == CL_SUCCESS;
	return layer_next.clEnqueueFillBuffer(queue, bench->memory, &pattern, sizeof pattern, 0,
	                                      BYTES, 0, NULL, event) == CL_SUCCESS;
}

// The device may be busy with another process's work, or hang: only once it has answered is it
// waited for.
static bool warm_up(const struct bench *bench)
{
	cl_event event = NULL;
	cl_int status = CL_QUEUED;
	uint64_t until = guest_ticks() + guest_ticks_of_ns(WARM_UP_NS);
	bool profiled = !guest_options.count_only;
	if (!enqueue(bench, FILL, profiled, &event) || event == NULL)
		return false;
	layer_next.clFlush(bench->queues[profiled]);
	while (layer_next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
	                                 &status, NULL) == CL_SUCCESS &&
	       status > CL_COMPLETE && guest_ticks() < until)
		;
	layer_next.clReleaseEvent(event);
	return status == CL_COMPLETE;
}

static bool release(struct bench *bench, uint32_t count)
{
	bool all = true;
	for (uint32_t i = 0; i < count; i++)
		all &= bench->events[i] != NULL &&
		       layer_next.clReleaseEvent(bench->events[i]) == CL_SUCCESS;
	return all;
}

// As many questions as harvest.c asks.
static bool query(const struct bench *bench)
{
	static const cl_profiling_info names[] = { CL_PROFILING_COMMAND_END,
		                                   CL_PROFILING_COMMAND_QUEUED,
		                                   CL_PROFILING_COMMAND_SUBMIT,
		                                   CL_PROFILING_COMMAND_START };
	bool all = true;
	for (uint32_t i = 0; i < bench->commands; i++) {
		for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
			cl_ulong stamp;
			all &= layer_next.clGetEventProfilingInfo(bench->events[i], names[n],
			                                          sizeof stamp, &stamp,
			                                          NULL) == CL_SUCCESS;
		}
	}
	return all;
}

static bool try_one(struct bench *bench, enum work work, enum trial trial, struct round *round)
{
	bool profiled = trial == PROFILED || trial == BOTH,
	     events = trial == EVENT || trial == BOTH;
	uint32_t done = 0;
	uint64_t from = guest_ticks();
	while (done < bench->commands &&
	       enqueue(bench, work, profiled, events ? &bench->events[done] : NULL))
		done++;
	bool well =
	    layer_next.clFinish(bench->queues[profiled]) == CL_SUCCESS && done == bench->commands;
	uint64_t finished = guest_ticks();
	round->commands[work][trial] = finished - from;
	if (!events)
		return well;
	if (trial == BOTH)
		well = well && query(bench);
	uint64_t asked = guest_ticks();
	well &= release(bench, done);
	round->queries = asked - finished;
	round->release = guest_ticks() - asked;
	return well;
}

// ---- our own code, between the same calls

struct launch {
	const struct bench *bench;
	bool profiled;
};

static cl_int launch(void *context, cl_event *event)
{
	const struct launch *launch = context;
	return enqueue(launch->bench, FILL, launch->profiled, event) ? CL_SUCCESS
	                                                             : CL_OUT_OF_RESOURCES;
}

// What a command without times is compared with: a sample leaves the queue's profiling as it is.
static enum trial untimed_base(void)
{
	return guest_options.may_sample && !guest_options.count_only ? PROFILED : NATIVE;
}

static bool try_ours(struct bench *bench, enum trial trial, struct round *round)
{
	struct launch of = { bench, trial == OURS || untimed_base() == PROFILED };
	uint32_t done = 0;
	layer_bench_times(bench->ours, trial == OURS);
	layer_bench_rewind(bench->ours);
	uint64_t from = guest_ticks();
	while (done < bench->commands &&
	       layer_bench_command(bench->ours, launch, &of) == CL_SUCCESS)
		done++;
	bool well = layer_next.clFinish(bench->queues[of.profiled]) == CL_SUCCESS &&
	            done == bench->commands;
	uint64_t finished = guest_ticks();
	round->commands[FILL][trial] = finished - from;
	layer_bench_harvest(bench->ours);
	round->harvest = guest_ticks() - finished;
	return well;
}

static bool is_tried(const struct bench *bench, enum work work, enum trial trial)
{
	if (trial >= TRIALS && (bench->ours == NULL || work != FILL))
		return false;
	return !guest_options.count_only ||
	       (work == FILL && (trial == NATIVE || trial == OURS_UNTIMED));
}

static bool try_all(struct bench *bench, struct round *round)
{
	memset(bench->events, 0, sizeof bench->events);
	memset(round, 0, sizeof *round);
	for (int i = 0; i < WORKS * ALL_TRIALS; i++) {
		enum work work = (enum work)(i / ALL_TRIALS);
		enum trial trial = (enum trial)(i % ALL_TRIALS);
		if (is_tried(bench, work, trial) &&
		    !(trial < TRIALS ? try_one(bench, work, trial, round)
		                     : try_ours(bench, trial, round)))
			return false;
	}
	return true;
}

static void keep(const struct bench *bench, const struct round *round)
{
	uint64_t ticks_of_ms = guest_ticks_of_ns(1000000);
	const uint64_t *fills = round->commands[FILL];
	int64_t ticks[FOUND_COUNT] = {
		[TARE_DRIVER_QUERIES] = (int64_t)round->queries,
		[TARE_DRIVER_RELEASE] = (int64_t)round->release,
		[FOUND_NATIVE] = (int64_t)fills[NATIVE],
		[FOUND_OURS_UNTIMED] = (int64_t)(fills[OURS_UNTIMED] - fills[untimed_base()]),
		[FOUND_OURS] = (int64_t)(fills[OURS] - fills[BOTH]),
		[FOUND_HARVEST] = (int64_t)(round->harvest - round->queries - round->release)
	};
	for (enum work work = FILL; work < WORKS; work++) {
		int64_t *of = &ticks[work == FILL ? 0 : TARE_DRIVER_TRANSFER];
		const uint64_t *took = round->commands[work];
		of[TARE_DRIVER_PROFILING] = (int64_t)(took[PROFILED] - took[NATIVE]);
		of[TARE_DRIVER_BOTH] = (int64_t)(took[BOTH] - took[NATIVE]);
		of[TARE_DRIVER_PROFILED_EVENT] = (int64_t)(took[BOTH] - took[EVENT]);
		of[TARE_DRIVER_EVENT] = (int64_t)(took[BOTH] - took[PROFILED]);
	}
	for (int i = 0; i < FOUND_COUNT; i++)
		found[i][found_count] =
		    (int64_t)((double)ticks[i] / bench->commands * 1e9 / (double)ticks_of_ms);
	found_count++;
}

static int64_t ns_of(clockid_t clock)
{
	struct timespec now = { 0 };
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// CPU time of the process's other threads. A device whose commands they execute takes of the host
// what no clock of the calling thread's sees, and whose turn is whose changes from run to run.
static int64_t others_cpu_ns(void)
{
	return ns_of(CLOCK_PROCESS_CPUTIME_ID) - ns_of(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t ticks_of(const struct round *round)
{
	uint64_t sum = 1 + round->harvest + WORKS * (round->queries + 2 * round->release);
	for (int i = 0; i < WORKS * ALL_TRIALS; i++)
		sum += round->commands[i / ALL_TRIALS][i % ALL_TRIALS];
	return sum;
}

static bool measure(struct bench *bench)
{
	struct round round;
	uint64_t from = guest_ticks(), most = guest_ticks_of_ns(MOST_NS);
	bench->commands = LEAST_COMMANDS;
	found_count = 0;
	if (most == 0 || !warm_up(bench) || !try_all(bench, &round) || !try_all(bench, &round))
		return false;
	// So many commands that enough rounds fit.
	uint64_t one = ticks_of(&round) / LEAST_COMMANDS + 1;
	int64_t others_ns = others_cpu_ns(), own_ns = ns_of(CLOCK_THREAD_CPUTIME_ID);
	uint64_t fit = most / (2 * GUEST_BENCH_LEAST_ROUNDS) / one;
	bench->commands = fit >= COMMANDS        ? COMMANDS
	                  : fit > LEAST_COMMANDS ? (uint32_t)fit
	                                         : LEAST_COMMANDS;
	// On a busy machine the least takes longer.
	for (uint32_t i = 0; guest_bench_goes_on(i, from, most); i++) {
		if (!try_all(bench, &round))
			break;
		keep(bench, &round);
	}
	if (others_cpu_ns() - others_ns > (ns_of(CLOCK_THREAD_CPUTIME_ID) - own_ns) / OTHERS)
		others_compute = true;
	// What is too little to have a median of is not used at all.
	return found_count >= GUEST_BENCH_LEAST_ROUNDS;
}

// ---- what is told of it

// For the children of a fork, too.
static void tell_ours(void)
{
	for (int i = 0; i < 2; i++) {
		int at = i == 0 && !guest_options.count_only ? FOUND_OURS : FOUND_OURS_UNTIMED;
		guest_bench_own(
		    i, (struct guest_middle){ told.low[at], told.middle[at], told.high[at] });
	}
	int64_t timed_ps =
	    told.middle[FOUND_OURS] - told.middle[FOUND_OURS_UNTIMED] + told.middle[FOUND_HARVEST];
	if (!guest_options.count_only && timed_ps > layer_timed_cost_ps)
		layer_timed_cost_ps = timed_ps;
}

static void conclude(bool ours)
{
	for (int i = 0; i < FOUND_COUNT; i++) {
		int64_t values[GUEST_BENCH_ROUNDS];
		memcpy(values, found[i], found_count * sizeof *values);
		const struct guest_middle now = guest_middle_of(values, found_count);
		int64_t before = told_rounds != 0 ? told.middle[i] : now.low;
		told.middle[i] = now.best;
		told.low[i] = now.low < before ? now.low : before;
		before = before > told.middle[i] ? before : told.middle[i];
		told.high[i] = now.high > before ? now.high : before;
	}
	told_rounds += found_count;
	if (ours)
		tell_ours();
}

void layer_driver_cost_tell(void)
{
	struct tare_trace_header *header = guest_header;
	if (header == NULL)
		return;
	// The child of a fork has the costs from its parent, whose time it was.
	if (!(header->flags & TARE_TRACE_FORKED))
		__atomic_store_n(&header->calibration_ticks,
		                 guest_options.calibration_ticks + took_ticks, __ATOMIC_RELAXED);
	if (told_rounds == 0)
		return;
	guest_tell_self_cost(header);
	if (guest_options.count_only)
		return;
	if (others_compute)
		__atomic_fetch_or(&header->flags, TARE_TRACE_DRIVER_THREADS, __ATOMIC_RELAXED);
	for (int i = 0; i < TARE_DRIVER_COST_COUNT; i++) {
		__atomic_store_n(&header->driver_ps[i], told.middle[i], __ATOMIC_RELAXED);
		__atomic_store_n(&header->driver_low_ps[i], told.low[i], __ATOMIC_RELAXED);
		__atomic_store_n(&header->driver_high_ps[i], told.high[i], __ATOMIC_RELAXED);
	}
	__atomic_store_n(&header->driver_native_ps, told.middle[TARE_DRIVER_COST_COUNT],
	                 __ATOMIC_RELAXED);
	__atomic_store_n(&header->driver_rounds, told_rounds, __ATOMIC_RELEASE);
	int64_t event_ps = header->driver_ps[TARE_DRIVER_EVENT] +
	                   header->driver_ps[TARE_DRIVER_QUERIES] +
	                   header->driver_ps[TARE_DRIVER_RELEASE];
	if (guest_options.event_ns > 0)
		event_ps = guest_options.event_ns * 1000;
	event_ps += layer_timed_cost_ps;
	atomic_store(&layer_event_ticks, event_ps > 0 ? guest_ticks_of_ns(event_ps / 1000) : 0);
}

// ---- when it is measured

static void measure_on(cl_context context, cl_device_id device)
{
	static struct bench bench; // the program's stack may be a small one
	struct guest_thread *thread = guest_this;
	int saved = errno;
	uint32_t before = guest_aside_begin(thread, TARE_TRACE_OPENCL);
	uint64_t from = guest_ticks();
	cl_int error = CL_SUCCESS;
	bool well = false;
	times_done++;
	bench.queues[0] = layer_next.clCreateCommandQueue(context, device, 0, &error);
	if (!guest_options.count_only)
		bench.queues[1] = layer_next.clCreateCommandQueue(
		    context, device, CL_QUEUE_PROFILING_ENABLE, &error);
	bench.memory = layer_next.clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
	bench.ours = layer_bench();
	if (bench.ours != NULL)
		guest_bench_room(&bench.ours->on, true);
	if (bench.queues[0] != NULL && (bench.queues[1] != NULL || guest_options.count_only) &&
	    bench.memory != NULL)
		well = measure(&bench);
	if (bench.ours != NULL)
		guest_bench_room(&bench.ours->on, false);
	if (bench.memory != NULL)
		layer_next.clReleaseMemObject(bench.memory);
	for (int i = 0; i < 2; i++)
		if (bench.queues[i] != NULL)
			layer_next.clReleaseCommandQueue(bench.queues[i]);
	guest_aside_end(thread, before);
	// A driver that has failed once is left alone.
	if (well)
		conclude(bench.ours != NULL);
	else
		times_done = TIMES;
	last_ticks = guest_ticks();
	took_ticks += last_ticks - from;
	layer_driver_cost_tell();
	errno = saved;
}

void layer_driver_cost_first(const struct guest_thread *thread, cl_context context,
                             cl_device_id device)
{
	if (!can_measure() || device == NULL || thread->depth != 1 || atomic_exchange(&at_it, true))
		return;
	if (times_done == 0) {
		layer_change(TARE_CHANGE_CALIBRATION, context, 0, 1);
		measure_on(context, device);
	}
	atomic_store(&at_it, false);
}

void layer_driver_cost_again(const struct guest_thread *thread, const struct layer_queue *last)
{
	const struct layer_thread *mine = layer_of(thread);
	if (last->device == NULL || last->context == NULL || !can_measure() || thread->depth != 1 ||
	    mine == NULL || mine->callbacks != 0 || !atomic_load(&guest_alive) ||
	    atomic_exchange(&at_it, true))
		return;
	bool others = false;
	for (const struct layer_queue *queue = layer_queues(); queue != NULL;
	     queue = queue->following)
		others |= queue != last && atomic_load(&queue->free) == LAYER_QUEUE_USED &&
		          (queue->object.handle != NULL || layer_pending_count(queue) != 0);
	if (times_done != 0 && times_done < TIMES && !others && layer_pending_count(last) == 0 &&
	    guest_ticks() - last_ticks > AGAIN * took_ticks)
		measure_on(last->context, last->device->handle);
	atomic_store(&at_it, false);
}
