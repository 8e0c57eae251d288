// SPDX-License-Identifier: Apache-2.0
#include "analysis/whatif/internal.h"

#include "analysis/core/lengths.h"
#include "analysis/ledger/internal.h"
#include "analysis/ledger/working.h"
#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>

// FEWEST chunks make a pipeline; of a run with many parts the longest are looked at.
enum { FEWEST_CHUNKS = 3, MOST_PARTS = TARE_LEDGER_SPANS };

// Chunks [first, first + count) of a list, without a long pause between them.
struct part {
	size_t first, count, pipelined;
	int64_t from_ns, to_ns;
};

// ---- parts

// Cuts what is no pipeline off both ends.
static struct part trimmed(const struct whatif_chunks *chunks, struct part part)
{
	while (part.count > 0 && !whatif_chunk_overlaps(&chunks->at[part.first])) {
		part.first++;
		part.count--;
	}
	while (part.count > 0 && !whatif_chunk_overlaps(&chunks->at[part.first + part.count - 1]))
		part.count--;
	part.pipelined = 0;
	for (size_t i = 0; i < part.count; i++) {
		const struct whatif_chunk *chunk = &chunks->at[part.first + i];
		part.pipelined += whatif_chunk_overlaps(chunk);
		if (i == 0 || chunk->from_ns < part.from_ns)
			part.from_ns = chunk->from_ns;
		if (i == 0 || chunk->to_ns > part.to_ns)
			part.to_ns = chunk->to_ns;
	}
	return part;
}

// Keeps the longest parts, longest first.
static size_t keep_part(struct part parts[MOST_PARTS], size_t kept, struct part part)
{
	size_t at = kept;
	if (part.pipelined < FEWEST_CHUNKS)
		return kept;
	while (at > 0 && parts[at - 1].to_ns - parts[at - 1].from_ns < part.to_ns - part.from_ns)
		at--;
	if (kept < MOST_PARTS)
		kept++;
	for (size_t i = kept; i-- > at + 1;)
		parts[i] = parts[i - 1];
	if (at < kept)
		parts[at] = part;
	return kept;
}

static size_t find_parts(const struct whatif_chunks *chunks, struct part parts[MOST_PARTS])
{
	size_t kept = 0, first = 0;
	int64_t reach_ns = INT64_MIN;
	for (size_t i = 0; i < chunks->count; i++) {
		const struct whatif_chunk *chunk = &chunks->at[i];
		if (i > first &&
		    (double)tare_earlier_ns(chunk->from_ns, reach_ns) > chunks->pause_ns) {
			kept = keep_part(
			    parts, kept,
			    trimmed(chunks, (struct part){ .first = first, .count = i - first }));
			first = i;
		}
		if (i == first || chunk->to_ns > reach_ns)
			reach_ns = chunk->to_ns;
	}
	return keep_part(
	    parts, kept,
	    trimmed(chunks, (struct part){ .first = first, .count = chunks->count - first }));
}

// ---- measured

static int stage_of(const struct tare_recorded_command *command)
{
	switch (tare_command_effect(command)) {
	case TARE_EFFECT_NONE:
		return -1;
	case TARE_EFFECT_TO_DEVICE:
		return TARE_STAGE_TO_DEVICE;
	case TARE_EFFECT_FROM_DEVICE:
		return TARE_STAGE_TO_HOST;
	default:
		return TARE_STAGE_KERNEL;
	}
}

// Time of each stage within the part, what runs at once counted once.
static void measure_stages(const struct whatif_scope *scope, const struct part *part,
                           double stage_ns[TARE_STAGE_COUNT])
{
	int64_t sum_ns[TARE_STAGE_COUNT] = { 0 }, to_ns[TARE_STAGE_COUNT];
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		to_ns[stage] = INT64_MIN;
	for (size_t i = 0; i < scope->count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(scope->recording, scope->order[i]);
		int stage = stage_of(c);
		if (stage < 0 || c->start_ns < part->from_ns || c->end_ns > part->to_ns)
			continue;
		int64_t from_ns = c->start_ns > to_ns[stage] ? c->start_ns : to_ns[stage];
		if (c->end_ns <= from_ns)
			continue;
		sum_ns[stage] = tables_add(sum_ns[stage], c->end_ns - from_ns);
		to_ns[stage] = c->end_ns;
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		stage_ns[stage] = (double)sum_ns[stage];
}

// The host's own work in the part, and how much of it kept the device idle; and what the device
// did.
static void take_host(const struct tare_ledger *ledger, struct tare_overlap_gain *gain,
                      double *idle_ns)
{
	static const enum tare_host_state own[] = { TARE_HOST_BUILD, TARE_HOST_LOAD,
		                                    TARE_HOST_ALLOCATE, TARE_HOST_COMPUTING,
		                                    TARE_HOST_OFF_CPU };
	*idle_ns = 0;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		*idle_ns += (double)ledger->matrix_ns[own[i]][TARE_DEVICE_IDLE];
		for (int state = 0; state < TARE_DEVICE_STATES; state++)
			gain->host_ns += ledger->matrix_ns[own[i]][state];
	}
	gain->exposed_ns = ledger->parts_ns[TARE_LEDGER_TO_DEVICE] +
	                   ledger->parts_ns[TARE_LEDGER_FROM_DEVICE] +
	                   ledger->parts_ns[TARE_LEDGER_BOTH_WAYS];
}

static int measure_host(const struct whatif_scope *scope, const struct part *part,
                        struct tare_overlap_gain *gain, double *idle_ns)
{
	struct tare_run_span span = { part->from_ns, part->to_ns };
	const struct tare_ledger *known =
	    scope->working ? ledger_working_span(scope->working, span) : NULL;
	struct tare_view view = *scope->view;
	struct tare_ledgers ledgers;
	if (known) {
		take_host(known, gain, idle_ns);
		return 0;
	}
	view.device = scope->device;
	view.from_ns = part->from_ns;
	view.to_ns = part->to_ns;
	view.spans = NULL;
	view.span_count = 0;
	int code = tare_ledgers_compute(scope->recording, &view, &ledgers, NULL);
	if (code)
		return code;
	take_host(&ledgers.ledgers[0], gain, idle_ns);
	tare_ledgers_free(&ledgers);
	return 0;
}

// ---- predicted

static const char *limit_of(const struct tare_overlap_gain *gain)
{
	double in = (double)gain->to_device_ns, out = (double)gain->from_device_ns;
	double work = (double)gain->kernel_ns, host = (double)gain->host_ns;
	if (host > in && host > out && host > work)
		return "the host";
	if (gain->copies != TARE_TOGETHER_SEEN && in + out > work)
		return gain->copies == TARE_TOGETHER_APART ? "copies, one at a time" : "copies";
	if (in > work || out > work)
		return in > out ? "copies to the device" : "copies from the device";
	return "kernels";
}

// What an enqueue that does not block usually costs the host, by the kernels' calls. Of a call in
// which the kernel itself ran, only what was before: a device of the host's cores may have taken
// this one. 0: not known.
static int issue_time(const struct whatif_scope *scope, double *issue_ns)
{
	struct tare_lengths calls = { 0 };
	int code = 0;
	for (size_t i = 0; i < scope->count && code == 0; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(scope->recording, scope->order[i]);
		if (tare_command_is_run(c)) {
			int64_t share_ns = tare_command_launch_ns(scope->recording, c);
			if (c->kind == TARE_KIND_KERNEL && share_ns > 0)
				code = tare_lengths_add(&calls, share_ns);
			continue;
		}
		int64_t issued_ns =
		    c->end_ns <= c->exit_ns && c->start_ns < c->exit_ns ? c->start_ns : c->exit_ns;
		if (c->kind == TARE_KIND_KERNEL && !(c->flags & TARE_COMMAND_BLOCKING) &&
		    issued_ns > c->enter_ns)
			code = tare_lengths_add(&calls, issued_ns - c->enter_ns);
	}
	*issue_ns = calls.count ? tare_lengths_quantile(&calls, 0.5) : 0;
	tare_lengths_free(&calls);
	return code;
}

// Where the recording leaves the engines for copies open, what the driver counts is likely; where
// that is none either, the middle of both.
static bool goes_by_driver(const struct tare_overlap_gain *gain)
{
	return gain->copies == TARE_TOGETHER_UNKNOWN && gain->copy_engines > 0 &&
	       !gain->shares_host && gain->beside != TARE_TOGETHER_APART;
}

// Fills the prediction for chunks whose stages have been brought to what they take of the device.
static int predict(const struct whatif_scope *scope, const struct whatif_chunk *chunks,
                   size_t count, double idle_ns, struct tare_overlap_gain *gain)
{
	bool apart = gain->beside == TARE_TOGETHER_APART;
	bool seen = gain->beside == TARE_TOGETHER_SEEN;
	double duplex = isnan(gain->duplex) ? 1 : gain->duplex;
	struct whatif_host host = { .own_ns = (double)gain->host_ns };
	if (issue_time(scope, &host.issue_ns))
		return -ENOMEM;
	enum whatif_engines best = apart                                 ? WHATIF_ONE
	                           : gain->copies == TARE_TOGETHER_APART ? WHATIF_ONE_COPY
	                                                                 : WHATIF_THREE;
	enum whatif_engines worst = apart || (gain->shares_host && !seen) ? WHATIF_ONE
	                            : gain->copies == TARE_TOGETHER_SEEN  ? WHATIF_THREE
	                                                                  : WHATIF_ONE_COPY;
	struct whatif_time fast, slow;
	int code = whatif_simulate(chunks, count, best, duplex, &host, &fast);
	// Whether the host's own work needs what it has just read back is not recorded: at worst
	// the device idles for it as it did.
	host.own_ns = fmax(0, host.own_ns - idle_ns);
	if (!code)
		code = whatif_simulate(chunks, count, worst, duplex, &host, &slow);
	if (code)
		return code;
	gain->predicted_low_ns = fast.low_ns;
	gain->predicted_high_ns = fmax(slow.high_ns + idle_ns, gain->predicted_low_ns);
	if (goes_by_driver(gain)) {
		enum whatif_engines likely =
		    gain->copy_engines > 1 ? WHATIF_THREE : WHATIF_ONE_COPY;
		code = whatif_simulate(chunks, count, likely, duplex, &host, &slow);
		host.own_ns = (double)gain->host_ns;
		if (!code)
			code = whatif_simulate(chunks, count, likely, duplex, &host, &fast);
		if (code)
			return code;
	}
	gain->predicted_ns = (fast.ns + fmax(slow.ns + idle_ns, fast.ns)) / 2;
	gain->limit = apart ? "one engine for copies and kernels" : limit_of(gain);
	return 0;
}

// Looks at one part. `chunks` is room for as many as it has.
static int look_at(const struct whatif_scope *scope, const struct whatif_chunks *all,
                   const struct part *part, struct whatif_chunk *chunks,
                   struct tare_overlap_gain *gain)
{
	double stage_ns[TARE_STAGE_COUNT], sum_ns[TARE_STAGE_COUNT] = { 0 }, idle_ns = 0;
	measure_stages(scope, part, stage_ns);
	int code = measure_host(scope, part, gain, &idle_ns);
	if (code)
		return code;
	for (size_t i = 0; i < part->count; i++)
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			sum_ns[stage] += all->at[part->first + i].stage_ns[stage];
	// What ran at once took no longer than one of it.
	for (size_t i = 0; i < part->count; i++) {
		chunks[i] = all->at[part->first + i];
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			if (sum_ns[stage] > 0)
				chunks[i].stage_ns[stage] *=
				    fmin(1, stage_ns[stage] / sum_ns[stage]);
	}
	gain->from_ns = part->from_ns;
	gain->to_ns = part->to_ns;
	gain->chunks = part->pipelined;
	gain->measured_ns = part->to_ns - part->from_ns;
	gain->to_device_ns = llround(stage_ns[TARE_STAGE_TO_DEVICE]);
	gain->kernel_ns = llround(stage_ns[TARE_STAGE_KERNEL]);
	gain->from_device_ns = llround(stage_ns[TARE_STAGE_TO_HOST]);
	return predict(scope, chunks, part->count, idle_ns, gain);
}

static int look_at_parts(const struct whatif_scope *scope, const struct whatif_chunks *chunks,
                         struct tare_overlap_gain *gain)
{
	struct part parts[MOST_PARTS];
	struct tare_overlap_gain found = *gain;
	TARE_FREE struct whatif_chunk *room = calloc(chunks->count + 1, sizeof *room);
	size_t count = find_parts(chunks, parts);
	if (!room)
		return -ENOMEM;
	if (count == 0)
		return -ENODATA;
	for (size_t i = 0; i < count; i++) {
		struct tare_overlap_gain each = found;
		int code = look_at(scope, chunks, &parts[i], room, &each);
		if (code)
			return code;
		if (i == 0 || (double)each.measured_ns - each.predicted_ns >
		                  (double)gain->measured_ns - gain->predicted_ns)
			*gain = each;
	}
	gain->why_not = NULL;
	return 0;
}

static const char *why_none(const struct whatif_chunks *chunks)
{
	size_t overlapping = 0, copies = 0, kernels = 0;
	for (size_t i = 0; i < chunks->count; i++) {
		overlapping += whatif_chunk_overlaps(&chunks->at[i]);
		copies += chunks->at[i].copies;
		kernels += chunks->at[i].kernels;
	}
	return chunks->count == 0 ? "no command of the device has times"
	       : kernels == 0     ? "no kernel ran"
	       : copies == 0      ? "nothing was copied"
	       : overlapping < FEWEST_CHUNKS
	           ? "copies and kernels do not repeat, and whether the work could be cut into "
	             "chunks is not recorded"
	           : "long pauses divide the repetitions";
}

int tare_whatif_spans(const struct tare_recording *recording, const struct tare_view *view,
                      uint32_t device, struct tare_run_span *spans, size_t *count)
{
	struct tare_view of_device = *view;
	struct whatif_scope scope = { .recording = recording,
		                      .view = &of_device,
		                      .device = device };
	struct whatif_chunks chunks = { 0 };
	struct part parts[MOST_PARTS];
	of_device.device = device;
	of_device.kernel = NULL;
	*count = 0;
	int code = whatif_chunks_find(&scope, &chunks);
	if (!code)
		*count = find_parts(&chunks, parts);
	for (size_t i = 0; i < *count; i++)
		spans[i] = (struct tare_run_span){ parts[i].from_ns, parts[i].to_ns };
	free(chunks.at);
	return code;
}

int tare_whatif_overlap(const struct tare_recording *recording, const struct tare_view *view,
                        uint32_t device, struct tare_overlap_gain *gain, struct tare_error *error)
{
	return tare_whatif_overlap_by(recording, view, device, NULL, gain, error);
}

// Whether every command of the recording is of the device and in the order that the working part
// has.
static bool has_order(const struct whatif_scope *scope)
{
	const struct tare_commands *commands = &scope->recording->commands;
	const struct ledger_working *working = scope->working;
	if (!working || !working->order || !commands->sums ||
	    working->order_count != scope->recording->command_count)
		return false;
	for (size_t i = 0; i < commands->sum_count; i++)
		if (ledger_queue_device(scope->recording,
		                        commands->likes[commands->sums[i].like].queue) !=
		    scope->device)
			return false;
	return true;
}

int tare_whatif_overlap_by(const struct tare_recording *recording, const struct tare_view *view,
                           uint32_t device, const struct ledger_working *working,
                           struct tare_overlap_gain *gain, struct tare_error *error)
{
	struct tare_view of_device = *view;
	struct whatif_scope scope = {
		.recording = recording, .view = &of_device, .device = device, .working = working
	};
	struct whatif_chunks chunks = { 0 };
	*gain = (struct tare_overlap_gain){ .device = device,
		                            .predicted_ns = NAN,
		                            .predicted_low_ns = NAN,
		                            .predicted_high_ns = NAN,
		                            .duplex = NAN };
	of_device.device = device;
	of_device.kernel = NULL;
	if (device >= recording->device_count) {
		gain->why_not = "there is no such device";
		return -ENODATA;
	}
	bool ordered = has_order(&scope);
	int code = 0;
	if (ordered) {
		scope.order = working->order;
		scope.count = working->order_count;
	} else {
		code = ledger_order(recording, &of_device, &scope.order, &scope.count);
	}
	if (!code)
		code = whatif_chunks_find(&scope, &chunks);
	if (!code)
		code = whatif_evidence(&scope, gain);
	if (!code)
		code = look_at_parts(&scope, &chunks, gain);
	if (code == -ENODATA)
		gain->why_not = why_none(&chunks);
	else if (code)
		tare_fail(error, ENOMEM, "no memory to predict what overlapping would gain");
	if (!ordered)
		free(scope.order);
	free(chunks.at);
	return code;
}
