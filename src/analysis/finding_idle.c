// SPDX-License-Identifier: Apache-2.0
// All devices are idle because of what the host does, or has not done.
#include "analysis/findings_work.h"

#include "base/units.h"

// The least share of the working part, first uses left out: less is the price of any program that
// talks to a device.
#define SHARE 0.05

struct idle {
	const char *id;
	enum tare_ledger_category category;
	enum tare_confidence confidence;
	const char *title;   // takes percent and time
	const char *advice;
	bool launched;       // the part lies behind the enqueue of the command that ends the gap
};

static int judge_idle(struct judging *judging, const struct idle *idle)
{
	struct finding_draft draft;
	char cost[TARE_UNIT_TEXT], longest[TARE_UNIT_TEXT];
	double sum_ns = 0, longest_ns = 0;
	finding_begin(judging, &draft, idle->id);
	for (size_t i = 0; i < judging->gap_count; i++) {
		const struct judged_gap *gap = &judging->gaps[i];
		double part_ns = (double)gap->parts_ns[idle->category];
		int64_t from_ns = idle->launched ? gap->enter_ns : gap->from_ns;
		int64_t to_ns = idle->launched ? gap->to_ns : gap->enter_ns;
		if (part_ns <= 0)
			continue;
		sum_ns += part_ns;
		longest_ns = part_ns > longest_ns ? part_ns : longest_ns;
		finding_claim(&draft, from_ns, to_ns);
		finding_saw_command(&draft, gap->command, from_ns, to_ns, (int64_t)part_ns);
	}
	if (!finding_matters(judging, TARE_NO_INDEX, sum_ns, 2 * draft.finding.occurrences,
	                     draft.finding.occurrences, draft.finding.occurrences, SHARE)) {
		finding_drop(&draft);
		return 0;
	}
	tare_format_ns(sum_ns, cost);
	tare_format_ns(longest_ns, longest);
	finding_title(&draft, idle->title, judging_percent(judging, sum_ns));
	finding_evidence(&draft,
	                 "%s in %llu gaps in which no device ran anything, the longest %s; from the "
	                 "first enqueue to the last completion",
	                 cost, (unsigned long long)draft.finding.occurrences, longest);
	finding_advice(&draft, "%s", idle->advice);
	finding_figure(&draft, "idle_ns", sum_ns, "device timestamp");
	finding_figure(&draft, "longest_ns", longest_ns, "device timestamp");
	draft.finding.confidence = idle->confidence;
	// The residual may shift both ends of each gap.
	double doubt_ns = (double)judging_residual_ns(judging, TARE_NO_INDEX) * 2 *
	                  (double)draft.finding.occurrences;
	finding_cost(&draft, sum_ns - doubt_ns, sum_ns, sum_ns + doubt_ns);
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
	};
	(void)error;
	return judge_idle(judging, &idle);
}

int finding_idle_host_builds(struct judging *judging, struct tare_error *error)
{
	static const struct idle idle = {
		.id = "idle-host-builds",
		.category = TARE_LEDGER_BUILD,
		.confidence = TARE_CONFIDENCE_SURE,
		.title = "The device is idle %.1f %% of the working part while programs are built",
		.advice = "Build every program once before the first enqueue, or keep its binary",
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
		         "asleep, or waiting for input or a lock",
		.advice = "Wait for events rather than sleep, and read input in another thread",
	};
	(void)error;
	return judge_idle(judging, &idle);
}

int finding_unflushed_queue(struct judging *judging, struct tare_error *error)
{
	static const struct idle idle = {
		.id = "unflushed-queue",
		.category = TARE_LEDGER_HELD,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title = "The device is idle %.1f %% of the working part while commands that could run "
		         "are not handed over to it",
		.advice = "Call clFlush after enqueueing what may start now",
		.launched = true,
	};
	(void)error;
	return judge_idle(judging, &idle);
}
