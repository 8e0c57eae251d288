// SPDX-License-Identifier: Apache-2.0
// Kernels of which a unit holds few warps at once, and by what they are limited: a model of CUDA
// devices.
#include "analysis/findings/execution/internal.h"

#include "base/units.h"

// Less of the warps that a unit holds is low; a kernel that takes less of the working part is not
// looked at.
#define LOW 0.5
#define OCCUPANCY_SHARE 0.10

static const char *limit_words(enum tare_occupancy_limit limit)
{
	switch (limit) {
	case TARE_OCCUPANCY_REGISTERS:
		return "registers";
	case TARE_OCCUPANCY_LOCAL:
		return "shared memory";
	case TARE_OCCUPANCY_GROUPS:
		return "the number of blocks, which are small";
	default:
		return "threads, as its blocks are of a size of which a unit holds few";
	}
}

static const char *advice_for(enum tare_occupancy_limit limit)
{
	switch (limit) {
	case TARE_OCCUPANCY_REGISTERS:
		return "Try __launch_bounds__ or -maxrregcount, or split the kernel";
	case TARE_OCCUPANCY_LOCAL:
		return "Use less shared memory a block, or give a block more threads that share it";
	case TARE_OCCUPANCY_GROUPS:
		return "Use larger blocks";
	default:
		return "Use blocks of a size that divides what a unit holds";
	}
}

static void describe(const struct tare_task *task, double alone_ns, struct finding_draft *draft)
{
	const struct tare_occupancy *occupancy = &task->occupancy;
	char alone[TARE_UNIT_TEXT];
	tare_format_ns(alone_ns, alone);
	finding_title(
	    draft, "'%.60s' fills %.0f %% of the warps that a multiprocessor holds, limited by %s",
	    task->name, 100 * occupancy->share, limit_words(occupancy->limit));
	finding_evidence(draft,
	                 "%llu block%s at once, by the kernel's registers and shared memory and "
	                 "the device's limits; it ran "
	                 "alone for %s; whether more warps would hide more latency is not known "
	                 "without counters, and "
	                 "many fast kernels need few",
	                 (unsigned long long)occupancy->groups, occupancy->groups == 1 ? "" : "s",
	                 alone);
	finding_advice(draft, "%s, and see whether it gets faster", advice_for(occupancy->limit));
	finding_figure(draft, "occupancy", occupancy->share, "model");
	finding_figure(draft, "blocks_at_once", (double)occupancy->groups, "model");
	finding_figure(draft, "waves", task->occupancy_waves, "model");
	finding_figure(draft, "registers", (double)task->facts.registers, "counted");
	finding_figure(draft, "shared_bytes", (double)task->facts.local_bytes, "counted");
	finding_figure(draft, "alone_ns", alone_ns, "device timestamp");
	draft->finding.modelled = true;
	finding_cost(draft, 0, (1 - occupancy->share) * alone_ns / 2,
	             (1 - occupancy->share) * alone_ns);
}

int finding_low_occupancy(struct evaluation *evaluation, struct tare_error *error)
{
	int code = 0;
	(void)error;
	for (size_t i = 0; i < evaluation->tables->task_count && !code; i++) {
		const struct tare_task *task = &evaluation->tables->tasks[i];
		struct finding_draft draft;
		// One that leaves units empty is under-filled-device's.
		if (task->occupancy.groups == 0 || task->occupancy.share >= LOW ||
		    !(task->occupancy_waves >= 1) ||
		    (double)task->total_ns < OCCUPANCY_SHARE * (double)evaluation->steady_ns)
			continue;
		finding_begin(evaluation, &draft, "low-occupancy");
		double lost = 1 - task->occupancy.share;
		double alone_ns = finding_claim_alone(evaluation, task, &draft, lost / 2);
		if (!finding_matters(evaluation, task->device, alone_ns, 0, task->timed, 0,
		                     OCCUPANCY_SHARE)) {
			finding_drop(&draft);
			continue;
		}
		describe(task, alone_ns, &draft);
		code = finding_raise(&draft);
	}
	return code;
}
