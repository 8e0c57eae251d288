// SPDX-License-Identifier: Apache-2.0
// All devices are idle because of what the host does, or has not done.
#include "analysis/findings/execution/internal.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>

// The least share of the working part, first uses left out: less is the price of any program that
// talks to a device. A thread is off the CPU, too, when others have it: that takes more to be said.
#define SHARE 0.05
#define OFF_CPU_SHARE 0.10
#define OFF_CPU_GAPS 3
// Start-up is a finding only where it dominates; what is built later is another one.
#define BUILD_SHARE 0.5
// So many of the kernels run in the calls that enqueue them, where a device does not run beside the
// host.
#define IN_CALLER_SHARE 0.9
// Less in one gap is how commands are issued, no matter of computing or flushing.
#define LEAST_PART_NS 5e3

struct idle {
	const char *id;
	enum tare_ledger_category category;
	enum tare_confidence confidence;
	const char *title; // takes percent and time
	const char *advice;
	const char *advice_in_caller; // with `beside`: where kernels run in the thread itself
	bool launched;   // the part lies behind the enqueue of the command that ends the gap
	double least_ns; // in one gap
	double share;
	uint64_t gaps; // at least
	bool start_up; // before the first kernel only
	// saved by doing it beside the device's work: no more than that work lasts
	bool beside;
};

// Of the parts, what the device's work behind each of them can hide.
struct beside {
	double saved_ns, low_ns, work_ns;
	double part_ns, part_low_ns; // of the last gap that counts; NAN: none
	double run_ns;               // and the device's work since
};

static int64_t find_first_kernel(const struct evaluation *evaluation)
{
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(evaluation->recording, evaluation->order[i]);
		if (tables_is_kernel(command))
			return command->start_ns;
	}
	return INT64_MAX;
}

static void close_part(struct beside *beside)
{
	beside->saved_ns += fmin(beside->part_ns, beside->run_ns);
	beside->low_ns += fmin(beside->part_low_ns, beside->run_ns);
	beside->work_ns += beside->run_ns;
	beside->part_ns = beside->part_low_ns = beside->run_ns = 0;
}

double finding_free_host_ns(const struct evaluation *evaluation)
{
	static const enum tare_host_state states[] = { TARE_HOST_WAIT, TARE_HOST_BLOCKING_COPY,
		                                       TARE_HOST_API };
	double sum_ns = 0;
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		for (int device = 0; device < TARE_DEVICE_IDLE; device++)
			sum_ns += (double)evaluation->ledger.matrix_ns[states[i]][device];
	return sum_ns;
}

bool finding_runs_in_caller(const struct evaluation *evaluation)
{
	uint64_t kernels = 0, inside = 0;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(evaluation->recording, evaluation->order[i]);
		if (!tables_is_kernel(command) || command->flags & TARE_COMMAND_BLOCKING)
			continue;
		kernels++;
		inside +=
		    command->start_ns >= command->enter_ns && command->end_ns <= command->exit_ns;
	}
	return kernels > 0 && (double)inside >= IN_CALLER_SHARE * (double)kernels;
}

// Bounds what was summed by what can be done side by side.
static void cut_to_beside(const struct evaluation *evaluation, struct beside *beside,
                          struct gap_sum *sum)
{
	double most_ns = finding_free_host_ns(evaluation);
	close_part(beside);
	sum->ns = fmin(beside->saved_ns, most_ns);
	sum->low_ns = fmin(beside->low_ns, most_ns);
	sum->high_ns = fmin(sum->high_ns, fmin(beside->work_ns, most_ns));
}

static void describe(const struct evaluation *evaluation, const struct idle *idle, double idle_ns,
                     double saved_ns, double longest_ns, bool in_caller,
                     struct finding_draft *draft)
{
	char cost[TARE_UNIT_TEXT], longest[TARE_UNIT_TEXT], saved[TARE_UNIT_TEXT], bound[128] = "";
	tare_format_ns(idle_ns, cost);
	tare_format_ns(longest_ns, longest);
	if (saved_ns < idle_ns)
		snprintf(bound, sizeof bound,
		         "; beside the device's work %s of it can be hidden, which is what that "
		         "work lasts",
		         tare_format_ns(saved_ns, saved));
	finding_title(draft, idle->title, evaluation_percent(evaluation, idle_ns));
	finding_evidence(
	    draft,
	    "%s in %llu gaps in which no device ran anything, the longest %s; from the "
	    "first enqueue to the last completion%s",
	    cost, (unsigned long long)draft->finding.occurrences, longest, bound);
	finding_advice(draft, "%s%s", in_caller ? idle->advice_in_caller : idle->advice,
	               idle->category == TARE_LEDGER_BUILD ? finding_rebuilds(evaluation) : "");
	finding_figure(draft, "idle_ns", idle_ns, "device timestamp");
	finding_figure(draft, "longest_ns", longest_ns, "device timestamp");
}

// All gaps cost no more than the ledger has of the category.
static bool may_be_idle(const struct evaluation *evaluation, const struct idle *idle)
{
	return evaluation_has_part(evaluation, idle->category) &&
	       finding_may_matter(evaluation, (double)evaluation->ledger.parts_ns[idle->category],
	                          idle->share);
}

static int evaluate_idle(struct evaluation *evaluation, const struct idle *idle)
{
	struct finding_draft draft;
	struct gap_sum sum = { 0 };
	struct beside beside = { 0 };
	double longest_ns = 0, idle_ns;
	int64_t before_ns = 0; // end of the gap before
	int64_t first_kernel_ns = idle->start_up ? find_first_kernel(evaluation) : 0;
	finding_begin(evaluation, &draft, idle->id);
	size_t count = may_be_idle(evaluation, idle) ? evaluation->gap_count : 0;
	for (size_t i = 0; i < count; i++) {
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		double part_ns = evaluation_part_ns(evaluation, gap, idle->category),
		       low_ns = sum.low_ns;
		// The device's work behind a gap, up to the next one: all but idle gaps.
		if (i > 0)
			beside.run_ns += (double)(gap->from_ns - before_ns);
		before_ns = gap->to_ns;
		if (part_ns <= 0 || part_ns < idle->least_ns)
			continue;
		if (gap->looped && idle->category == TARE_LEDGER_COMPUTING)
			continue;
		if (gap->drained &&
		    (idle->category == TARE_LEDGER_COMPUTING || idle->category == TARE_LEDGER_WAIT))
			continue;
		if (idle->start_up && gap->from_ns > first_kernel_ns)
			break;
		int64_t enter_ns = ledger_working_enter_ns(evaluation->recording, gap);
		int64_t from_ns = idle->launched ? enter_ns : gap->from_ns;
		int64_t to_ns = idle->launched ? gap->to_ns : enter_ns;
		close_part(&beside);
		evaluation_add_part(evaluation, TARE_NO_INDEX, gap, part_ns, &sum);
		beside.part_ns = part_ns;
		beside.part_low_ns = sum.low_ns - low_ns;
		longest_ns = part_ns > longest_ns ? part_ns : longest_ns;
		finding_claim(&draft, from_ns, to_ns);
		finding_saw_command(&draft, gap->command, from_ns, to_ns, (int64_t)part_ns);
	}
	if (count > 0)
		beside.run_ns +=
		    (double)(evaluation->to_ns -
		             FINDING_GAP(evaluation, evaluation->gap_count - 1)->to_ns);
	idle_ns = sum.ns;
	if (idle->beside)
		cut_to_beside(evaluation, &beside, &sum);
	if (draft.finding.occurrences < idle->gaps ||
	    !finding_matters(evaluation, TARE_NO_INDEX, sum.ns,
	                     evaluation_edges(evaluation, sum.gaps), sum.gaps, sum.gaps,
	                     idle->share)) {
		finding_drop(&draft);
		return 0;
	}
	bool in_caller = idle->beside && finding_runs_in_caller(evaluation);
	if (in_caller)
		sum.low_ns = 0;
	describe(evaluation, idle, idle_ns, sum.ns, longest_ns, in_caller, &draft);
	draft.finding.confidence = idle->confidence;
	finding_cost(&draft, sum.low_ns, sum.ns, sum.high_ns);
	return finding_raise(&draft);
}

int finding_idle_host_computes(struct evaluation *evaluation, struct tare_error *error)
{
	static const struct idle idle = {
		.id = "idle-host-computes",
		.category = TARE_LEDGER_COMPUTING,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title = "The device is idle %.1f %% of the working part while the host computes",
		.advice = "Enqueue the next piece before computing on the last one, or compute in "
		          "another "
		          "thread; if the next piece needs what is computed, this gains nothing",
		.advice_in_caller = "Kernels run in the thread that enqueues them, which can do "
		                    "nothing beside them: "
		                    "compute in another thread; if the next piece needs what is "
		                    "computed, this gains "
		                    "nothing",
		.least_ns = LEAST_PART_NS,
		.share = SHARE,
		.beside = true,
	};
	(void)error;
	return evaluate_idle(evaluation, &idle);
}

int finding_idle_host_waits(struct evaluation *evaluation, struct tare_error *error)
{
	static const struct idle idle = {
		.id = "idle-host-waits",
		.category = TARE_LEDGER_WAIT,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title =
		    "The device is idle %.1f %% of the working part while the host wakes up from "
		    "waiting for it",
		.advice =
		    "Wait less often: enqueue several steps, let events order them, and wait once",
		.share = SHARE,
	};
	(void)error;
	return evaluate_idle(evaluation, &idle);
}

int finding_idle_host_builds(struct evaluation *evaluation, struct tare_error *error)
{
	bool cuda = evaluation->recording->apis == 1 << TARE_TRACE_CUDA;
	const struct idle idle = {
		.id = "idle-host-builds",
		.category = TARE_LEDGER_BUILD,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title = cuda ? "The device is idle %.1f %% of the working part while modules are "
		                "loaded before the first kernel"
		              : "The device is idle %.1f %% of the working part while programs are "
		                "built before the first kernel",
		.advice =
		    cuda
		        ? "Compile for this GPU instead of from PTX, keep the driver's cache "
		          "(CUDA_CACHE_PATH on a disk of "
		          "this machine), or load before or while the data are made "
		          "(CUDA_MODULE_LOADING=EAGER)"
		        : "Keep the programs' binaries, or build before or while the data are made",
		.share = BUILD_SHARE,
		.start_up = true,
	};
	(void)error;
	return evaluate_idle(evaluation, &idle);
}

int finding_idle_host_sleeps(struct evaluation *evaluation, struct tare_error *error)
{
	static const struct idle idle = {
		.id = "idle-host-sleeps",
		.category = TARE_LEDGER_OFF_CPU,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title =
		    "The device is idle %.1f %% of the working part while the host is off the CPU: "
		    "asleep, waiting for input or a lock, or without a CPU to run on",
		.advice =
		    "Wait for events rather than sleep, read input in another thread, and see that "
		    "others leave it a CPU",
		.least_ns = LEAST_PART_NS,
		.share = OFF_CPU_SHARE,
		.gaps = OFF_CPU_GAPS,
	};
	(void)error;
	return evaluate_idle(evaluation, &idle);
}

int finding_unflushed_queue(struct evaluation *evaluation, struct tare_error *error)
{
	const struct idle idle = {
		.id = "unflushed-queue",
		.category = TARE_LEDGER_HELD,
		.confidence = TARE_CONFIDENCE_LIKELY,
		.title =
		    "The device is idle %.1f %% of the working part while commands that could run "
		    "are not handed over to it",
		.advice = finding_word(evaluation, FINDING_WORD_HAND_OVER),
		.launched = true,
		.least_ns = LEAST_PART_NS,
		.share = SHARE,
	};
	(void)error;
	return evaluate_idle(evaluation, &idle);
}
