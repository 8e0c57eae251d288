// SPDX-License-Identifier: Apache-2.0
// Managed memory whose pages the driver moves to and fro.
#include "analysis/findings/transfers/internal.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <stdlib.h>

#define MOVED_SHARE 0.05 // of the working part

struct moves {
	double to_bytes, from_bytes;
	uint64_t count;
	double ns; // in which anything was moved
};

static bool is_move(const struct evaluation *evaluation, const struct tare_recorded_command *c,
                    uint32_t device)
{
	return c->kind == TARE_KIND_MIGRATE && c->part == TARE_RUN &&
	       c->execution == TARE_OF_DRIVER &&
	       tare_command_device(evaluation->recording, c) == device &&
	       evaluation_has_command(evaluation, c);
}

static int add_moves(struct evaluation *evaluation, uint32_t device, struct moves *moves,
                     struct finding_draft *draft)
{
	const struct tare_recording *recording = evaluation->recording;
	TARE_FREE struct tables_span *spans = calloc(evaluation->order_count + 1, sizeof *spans);
	if (!spans)
		return -ENOMEM;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(recording, evaluation->order[i]);
		if (!is_move(evaluation, c, device))
			continue;
		spans[moves->count++] = (struct tables_span){ c->start_ns, c->end_ns };
		moves->to_bytes += c->direction == TARE_DIRECTION_TO_DEVICE ? (double)c->amount : 0;
		moves->from_bytes +=
		    c->direction == TARE_DIRECTION_FROM_DEVICE ? (double)c->amount : 0;
		finding_claim(draft, c->start_ns, c->end_ns);
		finding_saw_command(draft, evaluation->order[i], c->start_ns, c->end_ns,
		                    c->end_ns - c->start_ns);
	}
	moves->ns = (double)tables_union(spans, moves->count);
	return 0;
}

static double managed_bytes(const struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	double sum = 0;
	for (size_t i = 0; i < recording->memory_count; i++)
		if (recording->memories[i].kind == TARE_TRACE_MEMORY_SHARED &&
		    recording->memories[i].parent == TARE_NO_INDEX)
			sum += (double)recording->memories[i].bytes;
	return sum;
}

// What is moved beyond once there and once back.
static double again(double bytes, double managed)
{
	return bytes > managed ? bytes - managed : 0;
}

static int evaluate_device(struct evaluation *evaluation, uint32_t device, double managed)
{
	struct tare_recorded_faults faults =
	    tare_device_faults(evaluation->recording, evaluation->view, device);
	struct finding_draft draft;
	struct moves moves = { 0 };
	char to[TARE_UNIT_TEXT], from[TARE_UNIT_TEXT], all[TARE_UNIT_TEXT], ns[TARE_UNIT_TEXT];
	finding_begin(evaluation, &draft, "managed-memory-moves");
	int code = add_moves(evaluation, device, &moves, &draft);
	double more = again(moves.to_bytes, managed) + again(moves.from_bytes, managed);
	double part = more > 0 ? more / (moves.to_bytes + moves.from_bytes) : 0;
	if (code || more < managed ||
	    !finding_matters(evaluation, device, part * moves.ns, 0, 0, 0, MOVED_SHARE)) {
		finding_drop(&draft);
		return code;
	}
	tare_format_bytes((uint64_t)moves.to_bytes, to);
	tare_format_bytes((uint64_t)moves.from_bytes, from);
	tare_format_bytes((uint64_t)managed, all);
	tare_format_ns(moves.ns, ns);
	finding_title(&draft,
	              "Managed memory moves to and fro: %s to the device and %s back, of %s that "
	              "were allocated",
	              to, from, all);
	finding_evidence(
	    &draft,
	    "%llu moves took %s; %llu faults of the device in %llu groups and %llu of the host, "
	    "%llu times "
	    "the driver saw pages thrash; what is moved beyond once there and once back is the "
	    "estimate",
	    (unsigned long long)moves.count, ns, (unsigned long long)faults.device_faults,
	    (unsigned long long)faults.device_groups, (unsigned long long)faults.host_faults,
	    (unsigned long long)faults.thrashing);
	finding_advice(&draft,
	               "Do not use it on host and device in turn: keep it on the device "
	               "(cudaMemAdvise), move what is "
	               "needed in one piece (cudaMemPrefetchAsync), or use cudaMalloc and copies");
	finding_figure(&draft, "to_device_bytes", moves.to_bytes, "counted");
	finding_figure(&draft, "from_device_bytes", moves.from_bytes, "counted");
	finding_figure(&draft, "managed_bytes", managed, "counted");
	finding_figure(&draft, "moves_ns", moves.ns, "device timestamp");
	finding_figure(&draft, "device_faults", (double)faults.device_faults, "counted");
	finding_figure(&draft, "host_faults", (double)faults.host_faults, "counted");
	draft.finding.device = device;
	finding_cost(&draft, 0, part * moves.ns, moves.ns);
	return finding_raise(&draft);
}

int finding_managed_memory(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording *recording = evaluation->recording;
	double managed = managed_bytes(evaluation);
	int code = 0;
	(void)error;
	for (uint32_t i = 0; i < recording->device_count && managed > 0 && !code; i++)
		if (recording->devices[i].same_as == i)
			code = evaluate_device(evaluation, i, managed);
	return code;
}
