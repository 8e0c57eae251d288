// SPDX-License-Identifier: Apache-2.0
// Transfers themselves: too much time in them, too many, at odd addresses.
#include "analysis/findings/transfers/internal.h"

#include "base/units.h"

#include <math.h>

const struct tare_transfer_row *finding_row_of(const struct evaluation *evaluation,
                                               const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = evaluation->recording;
	uint32_t device = tare_command_device(recording, command);
	if (device < recording->device_count && recording->devices[device].unified_memory)
		return NULL;
	for (size_t i = 0; i < evaluation->tables->transfer_count; i++) {
		const struct tare_transfer_row *row = &evaluation->tables->transfers[i];
		if (row->kind == command->kind && row->direction == command->direction &&
		    row->memory == command->memory && row->device == device &&
		    row->blocking == !!(command->flags & TARE_COMMAND_BLOCKING))
			return row;
	}
	return NULL;
}

// ---- too much time

#define DOMINATING_SHARE 0.4 // of the working part

int finding_transfers_dominate(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording *recording = evaluation->recording;
	const int64_t *parts_ns = evaluation->ledger.parts_ns;
	struct finding_draft draft;
	char cost[TARE_UNIT_TEXT], work[TARE_UNIT_TEXT], moved[TARE_UNIT_TEXT];
	double in_ns = (double)parts_ns[TARE_LEDGER_TO_DEVICE];
	double out_ns = (double)parts_ns[TARE_LEDGER_FROM_DEVICE];
	double cost_ns = in_ns + out_ns + (double)parts_ns[TARE_LEDGER_BOTH_WAYS], bytes = 0;
	double kernel_ns = (double)parts_ns[TARE_LEDGER_KERNEL];
	(void)error;
	finding_begin(evaluation, &draft, "transfers-dominate");
	for (size_t i = 0; i < evaluation->transfer_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(recording, evaluation->transfers[i]);
		if (!tables_is_transfer(c) || !evaluation_has_command(evaluation, c))
			continue;
		finding_claim(&draft, c->start_ns, c->end_ns);
		if (!finding_is_copy(evaluation, c))
			continue;
		bytes += (double)c->amount;
		finding_saw_command(&draft, evaluation->transfers[i], c->start_ns, c->end_ns,
		                    c->end_ns - c->start_ns);
	}
	if (cost_ns <= kernel_ns ||
	    !finding_matters(evaluation, TARE_NO_INDEX, cost_ns, 2, draft.finding.occurrences, 0,
	                     DOMINATING_SHARE)) {
		finding_drop(&draft);
		return 0;
	}
	tare_format_ns(cost_ns, cost);
	tare_format_ns(kernel_ns, work);
	tare_format_bytes((uint64_t)fmin(bytes, 0x1p63), moved);
	finding_title(&draft,
	              "The device copies, and runs no kernel, for %.0f %% of the working part",
	              evaluation_percent(evaluation, cost_ns));
	finding_evidence(&draft, "%s of transfers not hidden, %s of kernels; %s moved", cost, work,
	                 moved);
	// Pinned memory is no faster where the device has the host's.
	if (finding_shares_memory(recording))
		finding_advice(&draft,
		               "The device has the host's memory: copies may be left out. %s",
		               finding_word(evaluation, FINDING_WORD_IN_PLACE));
	else
		finding_advice(
		    &draft, "Keep data on the device between kernels, move less of it, and let "
		            "what must move overlap with kernels; `tare bandwidth` shows whether "
		            "pinned memory is faster here");
	finding_figure(&draft, "to_device_ns", in_ns, "device timestamp");
	finding_figure(&draft, "from_device_ns", out_ns, "device timestamp");
	finding_figure(&draft, "kernel_ns", kernel_ns, "device timestamp");
	finding_figure(&draft, "bytes", bytes, "counted");
	finding_cost(&draft, 0, cost_ns, cost_ns);
	draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	return finding_raise(&draft);
}

int finding_each_way(struct evaluation *evaluation,
                     int (*evaluate)(struct evaluation *evaluation, uint8_t kind, uint32_t device))
{
	const struct tare_recording *recording = evaluation->recording;
	int code = 0;
	for (uint32_t i = 0; i < recording->device_count && !code; i++) {
		if (recording->devices[i].same_as != i)
			continue;
		code = evaluate(evaluation, TARE_KIND_WRITE, i);
		if (!code)
			code = evaluate(evaluation, TARE_KIND_READ, i);
	}
	return code;
}

// ---- at odd addresses

enum {
	ALIGNED_LOG2 = 4,
	NO_ADDRESS = 255,
	FEWEST_UNALIGNED = 16,
	WORTH_BYTES = 4096,
	SIZE_FACTOR = 4
};
#define UNALIGNED_SHARE 0.05
#define FASTER 1.1

struct way {
	double ns[2], bytes[2]; // unaligned, aligned
	double ceiling_ns;      // of the unaligned, at the rate that was measured earlier; NaN
	uint64_t count;
};

static struct way gather_unaligned(const struct evaluation *evaluation, uint8_t kind,
                                   uint32_t device, struct finding_draft *draft)
{
	struct way way = { .count = 0 };
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < evaluation->transfer_count; i++) {
			uint32_t at = evaluation->transfers[i];
			const struct tare_recorded_command *c =
			    TARE_COMMAND(evaluation->recording, at);
			double mean = way.bytes[0] / (double)(way.count ? way.count : 1);
			double amount = (double)c->amount;
			if (!finding_is_copy_of(evaluation, c, kind, device) ||
			    c->amount < WORTH_BYTES || c->alignment == NO_ADDRESS ||
			    (c->alignment >= ALIGNED_LOG2) != pass)
				continue;
			if (pass == 1 && (amount * (double)SIZE_FACTOR < mean ||
			                  amount > mean * (double)SIZE_FACTOR))
				continue;
			way.ns[pass] += (double)(c->end_ns - c->start_ns);
			way.bytes[pass] += amount;
			if (pass == 1)
				continue;
			const struct tare_transfer_row *row = finding_row_of(evaluation, c);
			way.count++;
			way.ceiling_ns += row ? 1e9 * amount / row->ceiling : NAN;
			finding_claim(draft, c->start_ns, c->end_ns);
			finding_saw_command(draft, at, c->start_ns, c->end_ns,
			                    c->end_ns - c->start_ns);
		}
	return way;
}

static int evaluate_unaligned(struct evaluation *evaluation, uint8_t kind, uint32_t device)
{
	struct finding_draft draft;
	char ns[TARE_UNIT_TEXT];
	finding_begin(evaluation, &draft, "unaligned-transfers");
	struct way way = gather_unaligned(evaluation, kind, device, &draft);
	bool beside = way.bytes[1] > 0, known = beside || isfinite(way.ceiling_ns);
	bool sharp = beside || way.bytes[0] >= (double)FINDING_FULL_RATE_BYTES * (double)way.count;
	double aligned_ns = beside  ? way.bytes[0] * way.ns[1] / way.bytes[1]
	                    : known ? way.ceiling_ns
	                            : 0;
	double cost_ns = known ? way.ns[0] - aligned_ns : way.ns[0] / 2;
	// The host's own memory is copied by its cores, which take any address about alike: nothing
	// is said without a proof.
	if ((!known && evaluation->recording->devices[device].unified_memory) ||
	    way.count < FEWEST_UNALIGNED ||
	    way.ns[0] < UNALIGNED_SHARE * (double)evaluation->working_ns ||
	    (known && way.ns[0] < FASTER * aligned_ns) ||
	    !finding_matters(evaluation, device, cost_ns, 2, way.count, 0, FINDING_SHARE)) {
		finding_drop(&draft);
		return 0;
	}
	tare_format_ns(way.ns[0], ns);
	finding_title(&draft,
	              "%llu copies %s the device use host addresses that are not on 16 bytes",
	              (unsigned long long)way.count, kind == TARE_KIND_WRITE ? "to" : "from");
	if (known)
		finding_evidence(&draft, "they took %s; %s %.1f times as fast", ns,
		                 beside ? "aligned ones of about their size are"
		                        : "the rate that `tare bandwidth` measured here is",
		                 way.ns[0] / aligned_ns);
	else
		finding_evidence(&draft,
		                 "they took %s; no aligned copy of about their size in this run to "
		                 "compare with, so what it costs is not known",
		                 ns);
	finding_advice(&draft,
	               "Begin host buffers on 64 bytes (aligned_alloc), better on pages of 4096");
	finding_figure(&draft, "copies", (double)way.count, "counted");
	finding_figure(&draft, "copy_ns", way.ns[0], "device timestamp");
	finding_cost(&draft, known && sharp ? cost_ns : 0, cost_ns, known ? cost_ns : way.ns[0]);
	draft.finding.modelled = !beside;
	draft.finding.confidence =
	    known && sharp ? TARE_CONFIDENCE_LIKELY : TARE_CONFIDENCE_POSSIBLE;
	draft.finding.device = device;
	return finding_raise(&draft);
}

int finding_unaligned_transfers(struct evaluation *evaluation, struct tare_error *error)
{
	(void)error;
	return finding_each_way(evaluation, evaluate_unaligned);
}
