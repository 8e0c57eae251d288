// SPDX-License-Identifier: Apache-2.0
// How kernels use their device: all of it models, so that nothing here is more than possible.
#include "analysis/findings/execution/internal.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>

// CL_DEVICE_TYPE_CPU
#define DEVICE_TYPE_CPU 2
#define SHARE 0.05

// ---- the time of a task

double finding_claim_alone(struct evaluation *evaluation, const struct tare_task *task,
                           struct finding_draft *draft, double part)
{
	const struct tare_recording *recording = evaluation->recording;
	double sum_ns = 0;
	int64_t busy_until_ns = INT64_MIN;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(recording, evaluation->order[i]);
		int64_t from_ns = command->start_ns, to_ns = command->end_ns;
		if (!tables_is_kernel(command) ||
		    tables_device(&evaluation->context, command) != task->device)
			continue;
		if (busy_until_ns > from_ns)
			from_ns = busy_until_ns;
		if (command->end_ns > busy_until_ns)
			busy_until_ns = command->end_ns;
		for (size_t j = i + 1; j < evaluation->order_count; j++) {
			const struct tare_recorded_command *next =
			    TARE_COMMAND(recording, evaluation->order[j]);
			if (next->start_ns >= to_ns)
				break;
			if (tables_is_kernel(next) &&
			    tables_device(&evaluation->context, next) == task->device)
				to_ns = next->start_ns;
		}
		if (from_ns >= to_ns || !evaluation_has_command(evaluation, command) ||
		    !finding_is_of_task(evaluation, task, command))
			continue;
		sum_ns += (double)(to_ns - from_ns);
		finding_claim(draft, from_ns, to_ns);
		if (part > 0)
			finding_saw_command(draft, evaluation->order[i], command->start_ns,
			                    command->end_ns,
			                    llround(part * (double)(to_ns - from_ns)));
	}
	draft->finding.device = task->device;
	return sum_ns;
}

static const struct tare_recorded_device *device_of(const struct evaluation *evaluation,
                                                    const struct tare_task *task)
{
	return task->device < evaluation->recording->device_count
	           ? &evaluation->recording->devices[task->device]
	           : NULL;
}

uint64_t finding_multiple(const struct tare_task *task)
{
	if (task->facts.kernel == TARE_NO_INDEX)
		return 0;
	return task->facts.preferred_multiple > 0 ? task->facts.preferred_multiple
	                                          : task->facts.sub_group;
}

static const struct tare_recorded_shape *shape_of(const struct evaluation *evaluation,
                                                  const struct tare_task *task)
{
	return task->frequent_shape < evaluation->recording->shape_count
	           ? &evaluation->recording->shapes[task->frequent_shape]
	           : NULL;
}

// ---- one kernel takes most of the time

#define DOMINATES 0.5

// What each of these reads could be fetched again and again: two dimensions or more, and no local
// memory.
static bool may_fetch_again(const struct evaluation *evaluation, const struct tare_task *task)
{
	const struct tare_recorded_shape *shape = shape_of(evaluation, task);
	return shape && shape->dimensions >= 2 && shape->global[1] > 1 &&
	       task->facts.kernel != TARE_NO_INDEX &&
	       (task->facts.local_bytes == 0 || task->facts.local_bytes == UINT64_MAX);
}

static void describe_dominating(struct evaluation *evaluation, const struct tare_task *task,
                                double alone_ns, struct finding_draft *draft)
{
	const struct tare_recorded_device *device = device_of(evaluation, task);
	char total[TARE_UNIT_TEXT], fill[96] =
	                                "its fill is not known, as its group size was left to the "
	                                "runtime";
	bool cpu = device && device->type & DEVICE_TYPE_CPU;
	tare_format_ns(alone_ns, total);
	if (isfinite(task->waves))
		snprintf(fill, sizeof fill, "it fills the device with %.0f wave%s of groups",
		         task->waves, task->waves == 1 ? "" : "s");
	finding_title(draft,
	              "One kernel, '%.60s', takes %.0f %% of the working part, and works in %u "
	              "dimensions without local memory",
	              task->name, 100 * alone_ns / (double)evaluation->steady_ns,
	              shape_of(evaluation, task)->dimensions);
	finding_evidence(
	    draft,
	    "%llu launch%s, %s in all; %s; not known without counters: whether memory or "
	    "arithmetic holds it up, so up to all of its time is in question and the "
	    "estimate is half of it",
	    (unsigned long long)task->timed, task->timed == 1 ? "" : "es", total, fill);
	finding_advice(
	    draft,
	    "If neighbouring work-items read the same data, tile it through local memory "
	    "(`tare matmul` shows by how much)%s; hold its rate against `tare peak`",
	    cpu ? ", though on a CPU that may gain nothing" : "");
	finding_figure(draft, "alone_ns", alone_ns, "device timestamp");
	finding_figure(draft, "share", alone_ns / (double)evaluation->steady_ns,
	               "device timestamp");
	finding_figure(draft, "launches", (double)task->timed, "counted");
	finding_figure(draft, "waves", task->waves, "model");
	draft->finding.modelled = true;
	finding_cost(draft, 0, alone_ns / 2, alone_ns);
}

int finding_one_kernel_dominates(struct evaluation *evaluation, struct tare_error *error)
{
	int code = 0;
	(void)error;
	for (size_t i = 0; i < evaluation->tables->task_count && !code; i++) {
		const struct tare_task *task = &evaluation->tables->tasks[i];
		struct finding_draft draft;
		if ((double)task->total_ns < DOMINATES * (double)evaluation->steady_ns ||
		    !may_fetch_again(evaluation, task))
			continue;
		finding_begin(evaluation, &draft, "one-kernel-dominates");
		double alone_ns = finding_claim_alone(evaluation, task, &draft, 0.5);
		if (!finding_matters(evaluation, task->device, alone_ns, 0, task->timed, 0,
		                     DOMINATES)) {
			finding_drop(&draft);
			continue;
		}
		if (task->facts.local_bytes == UINT64_MAX) {
			finding_drop(&draft);
			code =
			    finding_unjudged(evaluation,
			                     "'%.60s', which takes most of the working part: the "
			                     "driver does not tell whether it uses local memory",
			                     task->name);
			continue;
		}
		describe_dominating(evaluation, task, alone_ns, &draft);
		code = finding_raise(&draft);
	}
	return code;
}

// ---- fill

// A tenth is lost by any program that does not know its device.
#define LOST 0.10

// Part of the device's units that have no group, over all waves.
static double lost_part(const struct evaluation *evaluation, const struct tare_task *task)
{
	const struct tare_recorded_device *device = device_of(evaluation, task);
	if (!device || !isfinite(task->waves) || task->groups == 0)
		return 0;
	return 1 - (double)task->groups / (task->waves * (double)device->compute_units);
}

static void describe_fill(struct evaluation *evaluation, const struct tare_task *task, double lost,
                          double alone_ns, struct finding_draft *draft)
{
	const struct tare_recorded_device *device = device_of(evaluation, task);
	bool fewer = task->groups < device->compute_units;
	if (fewer)
		finding_title(
		    draft,
		    "'%.60s' has %llu work-group%s for %llu units: %.0f %% of the device is idle",
		    task->name, (unsigned long long)task->groups, task->groups == 1 ? "" : "s",
		    (unsigned long long)device->compute_units, 100 * lost);
	else
		finding_title(
		    draft,
		    "'%.60s' leaves %.0f %% of the device idle at its end: %llu work-groups "
		    "for %llu units are %.0f waves",
		    task->name, 100 * lost, (unsigned long long)task->groups,
		    (unsigned long long)device->compute_units, task->waves);
	finding_evidence(draft,
	                 "a unit is taken to run one group at a time; where it holds several, the "
	                 "loss is another one, and for a kernel that waits for memory it may be "
	                 "none%s",
	                 device->type & DEVICE_TYPE_CPU
	                     ? "; its units are the host's cores, which may have other work"
	                     : "");
	if (fewer)
		finding_advice(
		    draft,
		    "Cut the work into at least %llu groups, or run several such kernels at "
		    "the same time",
		    (unsigned long long)device->compute_units);
	else
		finding_advice(
		    draft, "Use smaller groups, or a number of groups that is a multiple of %llu",
		    (unsigned long long)device->compute_units);
	finding_figure(draft, "groups", (double)task->groups, "counted");
	finding_figure(draft, "units", (double)device->compute_units, "counted");
	finding_figure(draft, "waves", task->waves, "model");
	finding_figure(draft, "idle_part", lost, "model");
	finding_figure(draft, "alone_ns", alone_ns, "device timestamp");
	draft->finding.modelled = true;
	finding_cost(draft, 0, lost * alone_ns, lost * alone_ns);
}

int finding_under_filled_device(struct evaluation *evaluation, struct tare_error *error)
{
	int code = 0;
	(void)error;
	for (size_t i = 0; i < evaluation->tables->task_count && !code; i++) {
		const struct tare_task *task = &evaluation->tables->tasks[i];
		struct finding_draft draft;
		double lost = lost_part(evaluation, task);
		if (evaluation->small_task[i] || lost < LOST ||
		    lost * (double)task->total_ns < SHARE * (double)evaluation->steady_ns)
			continue;
		finding_begin(evaluation, &draft, "under-filled-device");
		double alone_ns = finding_claim_alone(evaluation, task, &draft, lost);
		if (!finding_matters(evaluation, task->device, lost * alone_ns, 0, task->timed, 0,
		                     SHARE)) {
			finding_drop(&draft);
			continue;
		}
		describe_fill(evaluation, task, lost, alone_ns, &draft);
		code = finding_raise(&draft);
	}
	return code;
}

// ---- group sizes

// The largest divisor of `size` that is at most `most`.
static uint64_t largest_divisor(uint64_t size, uint64_t most)
{
	for (uint64_t divisor = most < size ? most : size; divisor > 1; divisor--)
		if (size % divisor == 0)
			return divisor;
	return 1;
}

// Work-items of a group: as told, as compiled, or the most that a runtime can choose which cuts
// every dimension evenly. 0: not known.
static uint64_t group_items(const struct evaluation *evaluation, const struct tare_task *task,
                            bool *chosen)
{
	const struct tare_recorded_shape *shape = shape_of(evaluation, task);
	uint64_t items = 1, most = task->facts.group_limit;
	*chosen = false;
	if (!shape)
		return 0;
	for (uint32_t i = 0; i < shape->dimensions && i < 3; i++) {
		uint64_t local = shape->local[i];
		if (local == 0)
			local = task->facts.compiled_group >> (21 * i) & 0x1fffff;
		if (local == 0) {
			*chosen = true;
			local = largest_divisor(shape->global[i], most > 0 ? most : 1);
			most /= local;
		}
		if (local == 0 || __builtin_mul_overflow(items, local, &items))
			return 0;
	}
	return *chosen && task->facts.group_limit == 0 ? 0 : items;
}

static double wasted_part(const struct evaluation *evaluation, const struct tare_task *task,
                          uint64_t *items, bool *chosen)
{
	const struct tare_recorded_shape *shape = shape_of(evaluation, task);
	uint64_t multiple = finding_multiple(task);
	double all = 1;
	*items = group_items(evaluation, task, chosen);
	if (multiple < 2 || *items == 0)
		return 0;
	for (uint32_t i = 0; i < shape->dimensions && i < 3; i++)
		all *= (double)shape->global[i];
	// While each group has a unit of its own, nothing waits for the lanes that are empty.
	const struct tare_recorded_device *device = device_of(evaluation, task);
	// On a CPU a group is a loop, whose last turn is as long as it has work-items.
	if (all < (double)multiple || (device && device->type & DEVICE_TYPE_CPU) ||
	    (device && ceil(all / (double)*items) <= (double)device->compute_units))
		return 0;
	double lanes = ceil((double)*items / (double)multiple) * (double)multiple;
	return 1 - (double)*items / lanes;
}

static void describe_odd(const struct tare_task *task, double wasted, bool chosen, uint64_t items,
                         double alone_ns, struct finding_draft *draft)
{
	unsigned long long multiple = finding_multiple(task);
	bool preferred = task->facts.preferred_multiple > 0;
	if (chosen)
		finding_title(
		    draft,
		    "'%.60s' leaves its group size to the runtime, and its range can be cut "
		    "evenly into groups of %llu at most, no multiple of %llu",
		    task->name, (unsigned long long)items, multiple);
	else
		finding_title(draft,
		              "'%.60s' runs in groups of %llu work-item%s, no multiple of %llu: "
		              "%.0f %% of the lanes have nothing to do",
		              task->name, (unsigned long long)items, items == 1 ? "" : "s",
		              multiple, 100 * wasted);
	finding_evidence(draft,
	                 "%s %llu for this kernel; lanes of a group's "
	                 "last bundle that have no work-item are taken to be lost%s",
	                 preferred ? "the driver prefers multiples of"
	                           : "the largest sub-group has",
	                 multiple, chosen ? "; a runtime may cut unevenly, which is not seen" : "");
	finding_advice(draft,
	               "Round the range up to a multiple of %llu, return at once in the work-items "
	               "beyond its end, and ask for groups of such a size",
	               multiple);
	finding_figure(draft, "group_items", (double)items, chosen ? "model" : "counted");
	finding_figure(draft, "preferred_multiple", (double)multiple, "counted");
	finding_figure(draft, "idle_part", wasted, "model");
	finding_figure(draft, "alone_ns", alone_ns, "device timestamp");
	draft->finding.modelled = true;
	finding_cost(draft, 0, wasted * alone_ns, wasted * alone_ns);
}

int finding_odd_work_group_size(struct evaluation *evaluation, struct tare_error *error)
{
	int code = 0;
	(void)error;
	for (size_t i = 0; i < evaluation->tables->task_count && !code; i++) {
		const struct tare_task *task = &evaluation->tables->tasks[i];
		struct finding_draft draft;
		uint64_t items;
		bool chosen;
		double wasted = wasted_part(evaluation, task, &items, &chosen);
		if (wasted < LOST ||
		    wasted * (double)task->total_ns < SHARE * (double)evaluation->steady_ns)
			continue;
		finding_begin(evaluation, &draft, "odd-work-group-size");
		double alone_ns = finding_claim_alone(evaluation, task, &draft, wasted);
		if (!finding_matters(evaluation, task->device, wasted * alone_ns, 0, task->timed, 0,
		                     SHARE)) {
			finding_drop(&draft);
			continue;
		}
		describe_odd(task, wasted, chosen, items, alone_ns, &draft);
		code = finding_raise(&draft);
	}
	return code;
}
