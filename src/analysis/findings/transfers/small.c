// SPDX-License-Identifier: Apache-2.0
// Copies that are too small, and too many.
#include "analysis/findings/transfers/internal.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "model/statistics/statistics.h"

#include <math.h>
#include <stdlib.h>

enum { SMALL_BYTES = 65536, FEWEST_SMALL = 100, SIZES = 24, FEWEST_OF_SIZE = 3 };
#define SMALL_SHARE 0.02
#define FIXED_SHARE 0.5 // of what the copies and their calls take

struct small {
	uint64_t count, bytes;
	double device_ns, alone_ns; // alone: while nothing else ran
	struct gap_sum idle;        // by which the copies kept the device idle
};

// Calls of small copies, for what of the idle time lies in them. Returns how many there are.
static size_t find_calls(const struct evaluation *evaluation, uint8_t kind, uint32_t device,
                         struct tare_run_span *calls)
{
	size_t count = 0;
	for (size_t i = 0; i < evaluation->transfer_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(evaluation->recording, evaluation->transfers[i]);
		if (finding_is_copy_of(evaluation, c, kind, device) && c->amount <= SMALL_BYTES)
			calls[count++] = (struct tare_run_span){ c->enter_ns, c->exit_ns };
	}
	return tare_spans_unite(calls, count);
}

// Nearly all commands are of another kind, which is told from what they have in common.
static inline bool is_small_copy(const struct evaluation *evaluation, uint32_t command,
                                 uint8_t kind, uint32_t device)
{
	const struct tare_recording *recording = evaluation->recording;
	if (command >= recording->command_count ||
	    tare_command_kind_at(&recording->commands, command) != kind)
		return false;
	const struct tare_recorded_command *c = TARE_COMMAND(recording, command);
	return finding_is_copy_of(evaluation, c, kind, device) && c->amount <= SMALL_BYTES;
}

// Whether a gap ends when its command starts: the view is in one piece, and no command has parts.
static bool are_leapt_over(const struct evaluation *evaluation)
{
	return evaluation->span_count == 1 && evaluation->recording->part_count == 0;
}

// The first gap from `index` on that ends at a time or later; further and further from there.
static size_t gap_to(const struct evaluation *evaluation, size_t index, int64_t at_ns)
{
	size_t low = index, high = index, step = 1, end = evaluation->gap_count;
	while (high < end && FINDING_GAP(evaluation, high)->to_ns < at_ns) {
		low = high + 1;
		high = end - high > step ? high + step : end;
		step *= 2;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (FINDING_GAP(evaluation, middle)->to_ns < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// When the next transfer of the kind starts that may end the gap `index` or a later one; *copy: its
// place among the transfers, which are in the order of starts.
static int64_t next_copy_ns(const struct evaluation *evaluation, uint8_t kind, size_t index,
                            size_t *copy)
{
	const struct tare_recording *recording = evaluation->recording;
	int64_t to_ns = FINDING_GAP(evaluation, index)->to_ns;
	for (; *copy < evaluation->transfer_count; ++*copy) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(recording, evaluation->transfers[*copy]);
		if (c->kind == kind && c->start_ns >= to_ns)
			return c->start_ns;
	}
	return INT64_MAX;
}

// What no longer passes without the copies: no device runs anything, and the host is in the call of
// one, or one has been handed over and does not start. What the device did while a call waited for
// its turn passes without it, too.
static int sum_idle(struct evaluation *evaluation, uint8_t kind, uint32_t device,
                    struct small *small, struct finding_draft *draft)
{
	TARE_FREE struct tare_run_span *calls =
	    calloc(evaluation->transfer_count + 1, sizeof *calls);
	size_t first = 0;
	if (!calls)
		return -ENOMEM;
	size_t count = find_calls(evaluation, kind, device, calls), copy = 0;
	for (size_t i = 0; i < evaluation->gap_count && count > 0; i++) {
		if (are_leapt_over(evaluation)) {
			int64_t next_ns = next_copy_ns(evaluation, kind, i, &copy);
			while (first < count &&
			       calls[first].to_ns <= FINDING_GAP(evaluation, i)->from_ns)
				first++;
			if (first < count && calls[first].from_ns < next_ns)
				next_ns = calls[first].from_ns;
			i = gap_to(evaluation, i, next_ns);
			if (i == evaluation->gap_count)
				break;
		}
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		double part_ns = evaluation_within_gap(gap, calls, count, &first), behind_ns = 0;
		if (is_small_copy(evaluation, gap->command, kind, device)) {
			behind_ns = evaluation_part_ns(evaluation, gap, TARE_LEDGER_HELD) +
			            evaluation_part_ns(evaluation, gap, TARE_LEDGER_DISPATCH);
			finding_claim(draft, gap->from_ns, gap->to_ns);
			finding_saw_command(draft, gap->command, gap->from_ns, gap->to_ns,
			                    llround(fmax(part_ns, behind_ns)));
		}
		if (part_ns > 0 || behind_ns > 0)
			evaluation_add_part(evaluation, device, gap, fmax(part_ns, behind_ns),
			                    &small->idle);
	}
	return 0;
}

// The median time of a size, of `spans` as room. Returns how many copies there are.
static size_t median_of_size(const struct evaluation *evaluation, uint8_t kind, uint32_t device,
                             uint64_t bytes, struct tables_span *spans, double *median_ns)
{
	size_t count = 0;
	for (size_t i = 0; i < evaluation->transfer_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(evaluation->recording, evaluation->transfers[i]);
		if (finding_is_copy_of(evaluation, c, kind, device) && c->amount == bytes)
			spans[count++] = (struct tables_span){ c->start_ns, c->end_ns };
	}
	*median_ns = count ? tables_median_length(spans, count) : 0;
	return count;
}

static size_t find_sizes(const struct evaluation *evaluation, uint8_t kind, uint32_t device,
                         uint64_t sizes[SIZES])
{
	size_t count = 0;
	for (size_t i = 0; i < evaluation->transfer_count && count < SIZES; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(evaluation->recording, evaluation->transfers[i]);
		size_t at = 0;
		if (!finding_is_copy_of(evaluation, c, kind, device) || c->amount == 0)
			continue;
		while (at < count && sizes[at] != c->amount)
			at++;
		if (at == count)
			sizes[count++] = c->amount;
	}
	return count;
}

// The device's fixed cost of a copy, from the times of three sizes or more; 0 where they do not
// tell.
static int fixed_cost(const struct evaluation *evaluation, uint8_t kind, uint32_t device,
                      double *fixed_ns)
{
	uint64_t sizes[SIZES], fitted[SIZES];
	double medians_ns[SIZES];
	struct tare_transfer_fit fit;
	size_t count = find_sizes(evaluation, kind, device, sizes), n = 0;
	*fixed_ns = 0;
	if (count < 3)
		return 0;
	TARE_FREE struct tables_span *spans = calloc(evaluation->transfer_count + 1, sizeof *spans);
	if (!spans)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		double median_ns;
		size_t copies =
		    median_of_size(evaluation, kind, device, sizes[i], spans, &median_ns);
		if (copies < FEWEST_OF_SIZE || !(median_ns > 0))
			continue;
		fitted[n] = sizes[i];
		medians_ns[n++] = median_ns;
	}
	int code = n < 3 ? -EINVAL : tare_fit_transfer(fitted, medians_ns, n, &fit);
	if (code == 0 && fit.latency_ns > 0)
		*fixed_ns = fit.latency_ns;
	return code == -ENOMEM ? code : 0;
}

// How long small copies alone kept the device busy.
static double alone_ns(const struct evaluation *evaluation, uint8_t kind, uint32_t device)
{
	struct finding_unions unions = finding_unions_begin();
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(evaluation->recording, evaluation->order[i]);
		finding_unions_add(&unions, c,
		                   finding_is_copy_of(evaluation, c, kind, device) &&
		                       c->amount <= SMALL_BYTES);
	}
	return (double)unions.all_ns - (double)unions.rest_ns;
}

static int gather(struct evaluation *evaluation, uint8_t kind, uint32_t device, struct small *small,
                  struct finding_draft *draft)
{
	for (size_t i = 0; i < evaluation->transfer_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(evaluation->recording, evaluation->transfers[i]);
		if (!finding_is_copy_of(evaluation, c, kind, device) || c->amount > SMALL_BYTES)
			continue;
		small->count++;
		small->bytes += c->amount;
		small->device_ns += (double)(c->end_ns - c->start_ns);
		finding_claim(draft, c->enter_ns, c->exit_ns);
		finding_claim(draft, c->start_ns, c->end_ns);
	}
	if (small->count < FEWEST_SMALL)
		return 0;
	return sum_idle(evaluation, kind, device, small, draft);
}

// Whether what is summed up may matter, however little else ran beside the copies.
static bool may_matter(const struct evaluation *evaluation, const struct small *small,
                       double fixed_ns)
{
	double most_ns = small->idle.ns + fmin(fixed_ns * (double)small->count, small->device_ns);
	return small->count >= FEWEST_SMALL && finding_may_matter(evaluation, most_ns, SMALL_SHARE);
}

static int evaluate_small(struct evaluation *evaluation, uint8_t kind, uint32_t device)
{
	struct small small = { 0 };
	struct finding_draft draft;
	char each[TARE_UNIT_TEXT], all[TARE_UNIT_TEXT], mean[TARE_UNIT_TEXT];
	double fixed_ns;
	int code = fixed_cost(evaluation, kind, device, &fixed_ns);
	if (code)
		return code;
	finding_begin(evaluation, &draft, "small-transfers");
	code = gather(evaluation, kind, device, &small, &draft);
	if (code || !may_matter(evaluation, &small, fixed_ns)) {
		finding_drop(&draft);
		return code;
	}
	small.alone_ns = alone_ns(evaluation, kind, device);
	double count = (double)small.count,
	       joined = ceil((double)small.bytes / (double)SMALL_BYTES);
	double whole_ns = small.idle.ns + small.device_ns, most_ns = small.idle.ns + small.alone_ns;
	double each_ns = (small.idle.ns + fmin(fixed_ns * count, small.alone_ns)) / count;
	double saved = (count - joined) / count;
	double cost_ns = each_ns * count * saved;
	if (each_ns * count < FIXED_SHARE * whole_ns ||
	    !finding_matters(evaluation, device, cost_ns, 0, small.count, 0, SMALL_SHARE)) {
		finding_drop(&draft);
		return code;
	}
	tare_format_ns(each_ns, each);
	tare_format_ns(whole_ns, all);
	tare_format_bytes((uint64_t)((double)small.bytes / count), mean);
	finding_title(&draft, "%llu copies %s the device move %s each on average",
	              (unsigned long long)small.count, kind == TARE_KIND_WRITE ? "to" : "from",
	              mean);
	finding_evidence(
	    &draft, "each has a fixed cost of %s%s, %.0f %% of the %s that they take", each,
	    fixed_ns > 0 ? " (the device idle for it, and in it)"
	                 : " (the device idle for it: too few sizes to tell the copy's own)",
	    fmin(100, 100 * each_ns * count / whole_ns), all);
	finding_advice(
	    &draft, "Gather the pieces in one buffer and copy it at once, or pass small values as "
	            "kernel arguments");
	finding_figure(&draft, "copies", count, "counted");
	finding_figure(&draft, "fixed_ns", each_ns, fixed_ns > 0 ? "model" : "host clock");
	finding_figure(&draft, "bytes", (double)small.bytes, "counted");
	// Gathering costs the host something, too.
	finding_cost(&draft, small.idle.low_ns * saved / 2, cost_ns,
	             fixed_ns > 0 ? cost_ns : most_ns * saved);
	draft.finding.modelled = fixed_ns > 0;
	draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	draft.finding.device = device;
	return finding_raise(&draft);
}

int finding_small_transfers(struct evaluation *evaluation, struct tare_error *error)
{
	(void)error;
	return finding_each_way(evaluation, evaluate_small);
}
