// SPDX-License-Identifier: Apache-2.0
// What launching costs: kernels that are short against it, and a host that is slower than its device.
#include "analysis/findings_work.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

// Fewer launches are no loop; a kernel that takes longer is not short whatever launching costs.
#define LAUNCHES 100
#define SHORT_NS 100e3
// A launch costs at least so much of what the kernel runs for.
#define AGAINST_RUN 0.5
#define SHARE 0.02
// A kernel of so few work-items could have its loop made into the range of one launch.
#define FEW_ITEMS 4096

bool finding_is_of_task(const struct judging *judging, const struct tare_task *task,
                        const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = judging->recording;
	const struct tables_context *context = &judging->context;
	if (!tables_is_kernel(command) || tables_device(context, command) != task->device)
		return false;
	if (task->kernel >= recording->kernel_count || command->object >= recording->kernel_count)
		return task->kernel >= recording->kernel_count &&
		       command->object >= recording->kernel_count;
	return context->name_of[command->object] == context->name_of[task->kernel] &&
	       (task->shape >= recording->shape_count ||
	        command->amount >= recording->shape_count ||
	        context->shape_of[command->amount] == context->shape_of[task->shape]);
}

// What of a gap is the launch of the command that ends it: inside the API, handing over, dispatch.
static double launch_ns(const struct judging *judging, const struct judged_gap *gap)
{
	double sum_ns = (double)gap->parts_ns[TARE_LEDGER_API] +
	                (double)gap->parts_ns[TARE_LEDGER_HELD] +
	                (double)gap->parts_ns[TARE_LEDGER_DISPATCH];
	return fmax(0, sum_ns - (double)judging_first_use_ns(judging, gap));
}

// Of gaps ended by kernels of one name.
struct launches {
	uint64_t count;  // launches in the working part, timed
	uint64_t gaps;
	double launch_ns, host_ns; // of the gaps: launching; and the program's own time between launches
};

static void sum_launches(struct judging *judging, const struct tare_task *task,
                         struct launches *sums, struct finding_draft *draft)
{
	const struct tare_recording *recording = judging->recording;
	for (size_t i = 0; i < judging->gap_count; i++) {
		const struct judged_gap *gap = &judging->gaps[i];
		if (gap->command >= recording->command_count ||
		    judging_is_first_launch(judging, gap->command) ||
		    !finding_is_of_task(judging, task, &recording->commands[gap->command]))
			continue;
		sums->gaps++;
		sums->launch_ns += launch_ns(judging, gap);
		sums->host_ns += (double)gap->parts_ns[TARE_LEDGER_COMPUTING];
		finding_claim(draft, gap->from_ns, gap->to_ns);
		finding_saw_command(draft, gap->command, gap->from_ns, gap->to_ns,
		                    llround(launch_ns(judging, gap)));
	}
	sums->count = task->timed;
}

static double items_of(const struct judging *judging, uint32_t index)
{
	double items = 1;
	if (index >= judging->recording->shape_count)
		return NAN;
	const struct tare_recorded_shape *shape = &judging->recording->shapes[index];
	for (uint32_t i = 0; i < shape->dimensions && i < 3; i++)
		items *= (double)shape->global[i];
	return items;
}

static void describe_short(struct judging *judging, const struct tare_task *task,
                           const struct launches *sums, struct finding_draft *draft)
{
	char run[TARE_UNIT_TEXT], one[TARE_UNIT_TEXT], all[TARE_UNIT_TEXT];
	double each_ns = sums->launch_ns / (double)sums->count;
	double items = items_of(judging, task->frequent_shape);
	tare_format_ns(task->median_ns, run);
	tare_format_ns(each_ns, one);
	tare_format_ns(sums->launch_ns, all);
	finding_title(draft,
	              "Too many small kernels: %llu launches of '%.60s' run %s each, and each costs "
	              "%s to launch",
	              (unsigned long long)sums->count, task->name, run, one);
	finding_evidence(draft,
	                 "between them the device idles %s (%.1f %% of the working part) while they are "
	                 "issued, handed over and dispatched; first launches are left out",
	                 all, judging_percent(judging, sums->launch_ns));
	if (items < FEW_ITEMS)
		finding_advice(draft,
		               "Put the loop that launches it into the kernel's range: one launch with a "
		               "work-item for every turn, instead of %.0f item%s a launch",
		               items, items == 1 ? "" : "s");
	else
		finding_advice(draft, "Give each launch more work, fuse kernels that follow each other, "
		                      "or replay them as a command buffer");
	finding_figure(draft, "median_ns", task->median_ns, "device timestamp");
	finding_figure(draft, "launch_ns", each_ns, "device timestamp");
	finding_figure(draft, "launches", (double)sums->count, "counted");
	finding_figure(draft, "work_items", items, "counted");
	draft->finding.device = task->device;
	draft->finding.confidence = TARE_CONFIDENCE_LIKELY;
	// The program's own time between launches goes with them, if the loop moves to the device.
	double doubt_ns = 2 * (double)sums->gaps * (double)judging_residual_ns(judging, task->device);
	finding_cost(draft, sums->launch_ns - doubt_ns, sums->launch_ns,
	             sums->launch_ns + sums->host_ns);
}

int finding_many_short_kernels(struct judging *judging, struct tare_error *error)
{
	int code = 0;
	(void)error;
	for (size_t i = 0; i < judging->tables->task_count && !code; i++) {
		const struct tare_task *task = &judging->tables->tasks[i];
		struct launches sums = { 0 };
		struct finding_draft draft;
		if (task->timed < LAUNCHES || !(task->median_ns < SHORT_NS))
			continue;
		finding_begin(judging, &draft, "many-short-kernels");
		sum_launches(judging, task, &sums, &draft);
		if (sums.launch_ns / (double)sums.count < AGAINST_RUN * task->median_ns ||
		    !finding_matters(judging, task->device, sums.launch_ns, 2 * sums.gaps, sums.gaps,
		                     sums.gaps, SHARE)) {
			finding_drop(&draft);
			continue;
		}
		describe_short(judging, task, &sums, &draft);
		code = finding_raise(&draft);
	}
	return code;
}

// ---- the host is slower than the device

#define BOUND_SHARE 0.10
// The device has run out of work before so many of the commands.
#define RAN_OUT 0.5
// Not said again when short kernels are so much of it.
#define EXPLAINED 0.5

// What findings of that id cost together.
static double found_ns(const struct judging *judging, const char *id)
{
	double sum_ns = 0;
	for (size_t i = 0; i < judging->findings->count; i++)
		if (strcmp(judging->findings->at[i].id, id) == 0)
			sum_ns += (double)judging->findings->at[i].cost_ns;
	return sum_ns;
}

int finding_launch_bound(struct judging *judging, struct tare_error *error)
{
	struct finding_draft draft;
	char cost[TARE_UNIT_TEXT];
	double sum_ns = 0;
	uint64_t gaps = 0, runs = 0;
	(void)error;
	for (size_t i = 0; i < judging->order_count; i++)
		runs += tare_command_effect(&judging->recording->commands[judging->order[i]]) !=
		        TARE_EFFECT_NONE;
	finding_begin(judging, &draft, "launch-bound");
	double explained_ns = found_ns(judging, "many-short-kernels");
	for (size_t i = 0; i < judging->gap_count; i++) {
		const struct judged_gap *gap = &judging->gaps[i];
		double api_ns = (double)gap->parts_ns[TARE_LEDGER_API] -
		                (double)judging_first_use_ns(judging, gap);
		if (gap->command == TARE_NO_INDEX || api_ns <= 0)
			continue;
		gaps++;
		sum_ns += api_ns;
		finding_claim(&draft, gap->from_ns, gap->to_ns);
		finding_saw_command(&draft, gap->command, gap->from_ns, gap->to_ns, llround(api_ns));
	}
	if (runs < LAUNCHES || (double)gaps < RAN_OUT * (double)runs ||
	    explained_ns > EXPLAINED * sum_ns ||
	    !finding_matters(judging, TARE_NO_INDEX, sum_ns, 2 * gaps, gaps, gaps, BOUND_SHARE)) {
		finding_drop(&draft);
		return 0;
	}
	tare_format_ns(sum_ns, cost);
	finding_title(&draft,
	              "The host issues work more slowly than the device executes it: before %.0f %% "
	              "of the commands the device had run out of work",
	              100 * (double)gaps / (double)runs);
	finding_evidence(&draft,
	                 "the device idles %s (%.1f %% of the working part) while the host is inside "
	                 "the API, before %llu of %llu commands",
	                 cost, judging_percent(judging, sum_ns), (unsigned long long)gaps,
	                 (unsigned long long)runs);
	finding_advice(&draft, "Enqueue ahead of the device, set arguments once, and make fewer and larger "
	                       "commands");
	finding_figure(&draft, "idle_in_api_ns", sum_ns, "device timestamp");
	finding_figure(&draft, "commands", (double)runs, "counted");
	finding_figure(&draft, "ran_out", (double)gaps, "counted");
	draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	double doubt_ns =
	    2 * (double)gaps * (double)judging_residual_ns(judging, TARE_NO_INDEX);
	finding_cost(&draft, sum_ns - doubt_ns, sum_ns, sum_ns + doubt_ns);
	return finding_raise(&draft);
}
