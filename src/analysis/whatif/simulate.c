// SPDX-License-Identifier: Apache-2.0
// Runs a pipeline of recorded chunks through the engine model.
#include "analysis/whatif/internal.h"

#include "model/engine/engine.h"

#include <math.h>
#include <stdlib.h>

// More chunks are taken several at a time: the filling and draining that this adds is a thousandth.
enum { MOST_CHUNKS = 2048, QUEUES = 3 };
// How long an operation takes to become ready after its predecessor on another engine, or an engine
// to turn to another queue, is not recorded. It is next to nothing beside a chunk, but decides who
// is first when all else is equal, so that several are tried.
#define MOMENT_PS 1000000
// A stage longer than this in all is made shorter with the others, so that picoseconds suffice.
#define LONGEST_PS 1e17

static const enum tare_flow flow_of[TARE_STAGE_COUNT] = {
	[TARE_STAGE_TO_DEVICE] = TARE_FLOW_TO_DEVICE,
	[TARE_STAGE_KERNEL] = TARE_FLOW_KERNEL,
	[TARE_STAGE_TO_HOST] = TARE_FLOW_TO_HOST,
};

struct simulation {
	struct tare_script script;
	struct tare_model_operation operations[MOST_CHUNKS * TARE_STAGE_COUNT];
	int64_t last_ps;
};

static void note_end(void *context, struct tare_model_operation *operation)
{
	struct simulation *simulation = context;
	if (operation->end_ps > simulation->last_ps)
		simulation->last_ps = operation->end_ps;
}

static void make_engines(struct tare_script *script, enum whatif_engines engines, double duplex)
{
	const uint64_t in = 1 << TARE_FLOW_TO_DEVICE, out = 1 << TARE_FLOW_TO_HOST;
	const uint64_t work = 1 << TARE_FLOW_KERNEL;
	static const size_t counts[] = {
		[WHATIF_THREE] = 3, [WHATIF_ONE_COPY] = 2, [WHATIF_ONE] = 1
	};
	const uint64_t flows[][3] = {
		[WHATIF_THREE] = { work, in, out },
		[WHATIF_ONE_COPY] = { work, in | out },
		[WHATIF_ONE] = { work | in | out },
	};
	script->engine_count = counts[engines];
	for (size_t i = 0; i < script->engine_count; i++)
		script->engines[i] =
		    (struct tare_script_engine){ .compute = i == 0, .flows = flows[engines][i] };
	if (!(duplex < 1))
		return;
	script->concurrency_count = 2;
	script->concurrencies[0] =
	    (struct tare_script_concurrency){ TARE_FLOW_TO_DEVICE, out, (uint64_t)(duplex * 1e6) };
	script->concurrencies[1] =
	    (struct tare_script_concurrency){ TARE_FLOW_TO_HOST, in, (uint64_t)(duplex * 1e6) };
}

// Puts `count` chunks from `first` on into one pass through the stages.
static void append(struct simulation *simulation, struct tare_model *model,
                   struct tare_model_queue *queue, const struct whatif_chunk *chunks, size_t count,
                   size_t pass, double ps_per_ns, double submitted_ps, double issue_ps)
{
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		struct tare_model_operation *operation =
		    &simulation->operations[pass * TARE_STAGE_COUNT + (size_t)stage];
		double ns = 0;
		for (size_t i = 0; i < count; i++)
			ns += chunks[i].stage_ns[stage];
		if (!(ns > 0))
			continue;
		*operation = (struct tare_model_operation){ .flow = flow_of[stage],
			                                    .work_ps = llround(ns * ps_per_ns),
			                                    .submitted_ps = llround(submitted_ps) };
		submitted_ps += issue_ps;
		tare_model_append(model, queue, operation);
	}
}

static double commands_of(const struct whatif_chunk *chunks, size_t count)
{
	double commands = 0;
	for (size_t i = 0; i < count; i++)
		commands += chunks[i].kernels + chunks[i].copies;
	return commands;
}

static double scale_of(const struct whatif_chunk *chunks, size_t count, double host_ns,
                       double issue_ns)
{
	double sum_ns = host_ns + issue_ns * commands_of(chunks, count);
	for (size_t i = 0; i < count; i++)
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			sum_ns += chunks[i].stage_ns[stage];
	return sum_ns * 1e3 > LONGEST_PS ? LONGEST_PS / sum_ns : 1e3;
}

static double run(struct simulation *simulation, const struct whatif_chunk *chunks, size_t count,
                  const struct whatif_host *host)
{
	struct tare_model *model = tare_model_new(&simulation->script, note_end, simulation);
	struct tare_model_queue *queues[QUEUES] = { NULL };
	size_t each = (count + MOST_CHUNKS - 1) / MOST_CHUNKS;
	double ps_per_ns = scale_of(chunks, count, host->own_ns, host->issue_ns);
	double host_ps = host->own_ns * ps_per_ns, issue_ps = host->issue_ns * ps_per_ns;
	double ready_ps = 0; // when the host has come to the next chunk
	bool ready = model != NULL;
	for (int i = 0; ready && i < QUEUES; i++) {
		queues[i] = tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1);
		ready = queues[i] != NULL;
	}
	for (size_t first = 0, pass = 0; ready && first < count; first += each, pass++) {
		size_t taken = each < count - first ? each : count - first;
		double issues_ps = issue_ps * commands_of(chunks + first, taken);
		append(simulation, model, queues[pass % QUEUES], chunks + first, taken, pass,
		       ps_per_ns, ready_ps, issues_ps / (double)TARE_STAGE_COUNT);
		ready_ps += issues_ps + host_ps * (double)taken / (double)count;
	}
	if (ready)
		tare_model_run(model, TARE_PS_MAX);
	tare_model_free(model);
	// One thread issues everything, which no overlapping on the device makes shorter.
	return ready ? fmax((double)simulation->last_ps, ready_ps) / ps_per_ns : NAN;
}

int whatif_simulate(const struct whatif_chunk *chunks, size_t count, enum whatif_engines engines,
                    double duplex, const struct whatif_host *host, struct whatif_time *time)
{
	struct simulation *simulation = calloc(1, sizeof *simulation);
	bool failed = !simulation;
	*time = (struct whatif_time){ .low_ns = INFINITY };
	if (!failed)
		make_engines(&simulation->script, engines, duplex);
	for (int moments = 0; moments < 4 && !failed; moments++) {
		simulation->script.queue.gap_ps = moments & 1 ? MOMENT_PS : 0;
		simulation->script.queue.switch_ps = moments & 2 ? MOMENT_PS : 0;
		simulation->last_ps = 0;
		double ns = run(simulation, chunks, count, host);
		failed = isnan(ns);
		time->low_ns = fmin(time->low_ns, ns);
		time->high_ns = fmax(time->high_ns, ns);
		// Devices do hand over between engines.
		if (moments & 1)
			time->ns += ns / 2;
	}
	free(simulation);
	return failed ? -ENOMEM : 0;
}
