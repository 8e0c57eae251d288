// SPDX-License-Identifier: Apache-2.0
// All devices are idle because of what the host does, or has not done.
#include "analysis/findings_work.h"

#include "base/units.h"

// The least share of the working part, first uses left out: less is the price of any program that
// talks to a device. A thread is off the CPU, too, when others have it: that takes more to be said.
#define SHARE 0.05
#define OFF_CPU_SHARE 0.10
#define OFF_CPU_GAPS 3
// Start-up is a finding only where it dominates; what is built later is another one.
#define BUILD_SHARE 0.5
// Less in one gap is how commands are issued, no matter of computing or flushing.
#define LEAST_PART_NS 5e3

struct idle {
	const char *id;
	enum tare_ledger_category category;
	enum tare_confidence confidence;
	const char *title;   // takes percent and time
	const char *advice;
	bool launched;       // the part lies behind the enqueue of the command that ends the gap
	double least_ns;     // in one gap
	double share;
	uint64_t gaps;       // at least
	bool start_up;       // before the first kernel only
};

static int64_t find_first_kernel(const struct judging *judging)
{
	for (size_t i = 0; i < judging->order_count; i++) {
		const struct tare_recorded_command *command =
		    &judging->recording->commands[judging->order[i]];
		if (tables_is_kernel(command))
			return command->start_ns;
	}
	return INT64_MAX;
}

static int judge_idle(struct judging *judging, const struct idle *idle)
{
	struct finding_draft draft;
	char cost[TARE_UNIT_TEXT], longest[TARE_UNIT_TEXT];
	struct gap_sum sum = { 0 };
	double longest_ns = 0;
	int64_t first_kernel_ns = idle->start_up ? find_first_kernel(judging) : 0;
	finding_begin(judging, &draft, idle->id);
	for (size_t i = 0; i < judging->gap_count; i++) {
		const struct judged_gap *gap = &judging->gaps[i];
		double part_ns = (double)gap->parts_ns[idle->category];
		int64_t from_ns = idle->launched ? gap->enter_ns : gap->from_ns;
		int64_t to_ns = idle->launched ? gap->to_ns : gap->enter_ns;
		if (part_ns <= 0 || part_ns < idle->least_ns)
			continue;
		if (gap->looped && idle->category == TARE_LEDGER_COMPUTING)
			continue;
		if (gap->drained && (idle->category == TARE_LEDGER_COMPUTING || idle->category == TARE_LEDGER_WAIT))
			continue;
		if (idle->start_up && gap->from_ns > first_kernel_ns)
			break;
		judging_add_part(judging, TARE_NO_INDEX, gap, part_ns, &sum);
		longest_ns = part_ns > longest_ns ? part_ns : longest_ns;
		finding_claim(&draft, from_ns, to_ns);
		finding_saw_command(&draft, gap->command, from_ns, to_ns, (int64_t)part_ns);
	}
	if (draft.finding.occurrences < idle->gaps ||
	    !finding_matters(judging, TARE_NO_INDEX, sum.ns, judging_edges(judging, sum.gaps),
	                     sum.gaps, sum.gaps, idle->share)) {
		finding_drop(&draft);
		return 0;
	}
	tare_format_ns(sum.ns, cost);
	tare_format_ns(longest_ns, longest);
	finding_title(&draft, idle->title, judging_percent(judging, sum.ns));
	finding_evidence(&draft,
	                 "%s in %llu gaps in which no device ran anything, the longest %s; from the "
	                 "first enqueue to the last completion",
	                 cost, (unsigned long long)draft.finding.occurrences, longest);
	finding_advice(&draft, "%s%s", idle->advice, idle->category == TARE_LEDGER_BUILD ? finding_rebuilds(judging) : "");
	finding_figure(&draft, "idle_ns", sum.ns, "device timestamp");
	finding_figure(&draft, "longest_ns", longest_ns, "device timestamp");
	draft.finding.confidence = idle->confidence;
	finding_cost(&draft, sum.low_ns, sum.ns, sum.high_ns);
	return finding_raise(&draft);
}

int finding_idle_host_computes(struct judging *judging, struct tare_error *error)
{
	static const struct idle idle = {
		.id = "idle-host-computes",
		.category = TARE_LEDGER_COMPUTING,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title = "The device is idle %.1f %% of the working part while the host computes",
		.advice = "Enqueue the next piece before computing on the last one, or compute in another "
		          "thread",
		.least_ns = LEAST_PART_NS,
		.share = SHARE,
	};
	(void)error;
	return judge_idle(judging, &idle);
}

int finding_idle_host_waits(struct judging *judging, struct tare_error *error)
{
	static const struct idle idle = {
		.id = "idle-host-waits",
		.category = TARE_LEDGER_WAIT,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title = "The device is idle %.1f %% of the working part while the host wakes up from "
		         "waiting for it",
		.advice = "Wait less often: enqueue several steps, let events order them, and wait once",
		.share = SHARE,
	};
	(void)error;
	return judge_idle(judging, &idle);
}

int finding_idle_host_builds(struct judging *judging, struct tare_error *error)
{
	bool cuda = judging->recording->apis == 1 << TARE_TRACE_CUDA;
	const struct idle idle = {
		.id = "idle-host-builds",
		.category = TARE_LEDGER_BUILD,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title = cuda ? "The device is idle %.1f %% of the working part while modules are loaded before the first kernel"
		              : "The device is idle %.1f %% of the working part while programs are built before the first kernel",
		.advice = cuda ? "Compile for this GPU instead of from PTX, keep the driver's cache (CUDA_CACHE_PATH on a disk of "
		                 "this machine), or load before or while the data are made (CUDA_MODULE_LOADING=EAGER)"
		               : "Keep the programs' binaries, or build before or while the data are made",
		.share = BUILD_SHARE,
		.start_up = true,
	};
	(void)error;
	return judge_idle(judging, &idle);
}

int finding_idle_host_sleeps(struct judging *judging, struct tare_error *error)
{
	static const struct idle idle = {
		.id = "idle-host-sleeps",
		.category = TARE_LEDGER_OFF_CPU,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title = "The device is idle %.1f %% of the working part while the host is off the CPU: "
		         "asleep, waiting for input or a lock, or without a CPU to run on",
		.advice = "Wait for events rather than sleep, read input in another thread, and see that "
		          "others leave it a CPU",
		.least_ns = LEAST_PART_NS,
		.share = OFF_CPU_SHARE,
		.gaps = OFF_CPU_GAPS,
	};
	(void)error;
	return judge_idle(judging, &idle);
}

int finding_unflushed_queue(struct judging *judging, struct tare_error *error)
{
	const struct idle idle = {
		.id = "unflushed-queue",
		.category = TARE_LEDGER_HELD,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title = "The device is idle %.1f %% of the working part while commands that could run "
		         "are not handed over to it",
		.advice = finding_word(judging, FINDING_WORD_HAND_OVER),
		.launched = true,
		.least_ns = LEAST_PART_NS,
		.share = SHARE,
	};
	(void)error;
	return judge_idle(judging, &idle);
}
