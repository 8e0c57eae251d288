// SPDX-License-Identifier: Apache-2.0
// Arranges metrics into groups of one pass each, so that no launch needs to be run twice. What a
// chip cannot read together goes into groups of its own.
#include "guest/cuda/counters/counters.h"

#include <string.h>

// A name that the chip has; NULL: none of them.
static const char *name_of(const struct counters_arrangement *to,
                           const struct counters_metric *metric)
{
	struct profiler_host made = { .bytes = ABI_PROFILER_BYTES(profiler_host, host),
		                      .type = ABI_PROFILER_RANGE,
		                      .chip = to->chip,
		                      .availability = to->availability };
	const char *found = NULL;
	if (counters_cupti.cuptiProfilerHostInitialize(&made) != ABI_CUPTI_SUCCESS)
		return NULL;
	for (size_t i = 0; i < 3 && metric->names[i] && !found; i++) {
		const char *name = metric->names[i];
		if (COUNTERS_CALL(cuptiProfilerHostConfigAddMetrics, profiler_metrics, count,
		                  .host = made.host, .names = &name,
		                  .count = 1) == ABI_CUPTI_SUCCESS)
			found = metric->names[i];
	}
	COUNTERS_CALL(cuptiProfilerHostDeinitialize, profiler_host_end, host, .host = made.host);
	return found;
}

static void drop(struct counters_group *group)
{
	if (group->host)
		COUNTERS_CALL(cuptiProfilerHostDeinitialize, profiler_host_end, host,
		              .host = group->host);
	group->host = NULL;
}

// Metrics that are added together share passes; what is added later begins a new one. So the groups
// of `to`, of which `all` is made, are a pass each, in their order.
static cupti_result add_metrics(const struct counters_arrangement *to,
                                const struct counters_group *group, bool all)
{
	uint32_t done = 0;
	for (uint32_t g = 0; all && g < to->count; done += to->groups[g++].count) {
		cupti_result result = COUNTERS_CALL(
		    cuptiProfilerHostConfigAddMetrics, profiler_metrics, count, .host = group->host,
		    .names = (const char **)group->names + done, .count = to->groups[g].count);
		if (result != ABI_CUPTI_SUCCESS)
			return result;
	}
	return all ? ABI_CUPTI_SUCCESS
	           : COUNTERS_CALL(cuptiProfilerHostConfigAddMetrics, profiler_metrics, count,
	                           .host = group->host, .names = (const char **)group->names,
	                           .count = group->count);
}

// Makes a group's configuration, and says how many passes it takes. `all`: it is all groups.
static cupti_result configure(const struct counters_arrangement *to, struct counters_group *group,
                              bool all, const char **where)
{
	struct profiler_host made = { .bytes = ABI_PROFILER_BYTES(profiler_host, host),
		                      .type = ABI_PROFILER_RANGE,
		                      .chip = to->chip,
		                      .availability = to->availability };
	struct profiler_config_bytes size = { .bytes = ABI_PROFILER_BYTES(profiler_config_bytes,
		                                                          image_bytes) };
	struct profiler_passes passes = { .bytes = ABI_PROFILER_BYTES(profiler_passes, passes) };
	cupti_result result;
	*where = "cuptiProfilerHostInitialize";
	result = counters_cupti.cuptiProfilerHostInitialize(&made);
	group->host = size.host = made.host;
	if (result == ABI_CUPTI_SUCCESS) {
		*where = "cuptiProfilerHostConfigAddMetrics";
		result = add_metrics(to, group, all);
	}
	if (result == ABI_CUPTI_SUCCESS) {
		*where = "cuptiProfilerHostGetConfigImageSize";
		result = counters_cupti.cuptiProfilerHostGetConfigImageSize(&size);
	}
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	*where = "cuptiProfilerHostGetConfigImage";
	group->image = guest_memory(size.image_bytes);
	group->image_bytes = size.image_bytes;
	if (!group->image)
		return ABI_CUPTI_OUT_OF_MEMORY;
	result = COUNTERS_CALL(cuptiProfilerHostGetConfigImage, profiler_config_image, image,
	                       .host = group->host, .image_bytes = group->image_bytes,
	                       .image = group->image);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	*where = "cuptiProfilerHostGetNumOfPasses";
	passes.image_bytes = group->image_bytes;
	passes.image = group->image;
	result = counters_cupti.cuptiProfilerHostGetNumOfPasses(&passes);
	group->passes = (uint32_t)passes.passes;
	return result;
}

static void add(struct counters_group *group, const char *name, uint32_t metric)
{
	group->names[group->count] = name;
	group->metrics[group->count++] = (uint8_t)metric;
}

// A group's metrics in one pass, and in more groups as far as there is room for them. Metrics of
// one counter lie behind one another and stay together.
static cupti_result split(struct counters_arrangement *to, const struct counters_group *all,
                          const char **where)
{
	struct counters_group *group = &to->groups[to->count];
	uint32_t done = 0;
	while (done < all->count && to->count < COUNTERS_MOST_GROUPS) {
		uint32_t most = all->count - done;
		cupti_result result;
		do {
			*group = (struct counters_group){ 0 };
			for (uint32_t i = done; i < done + most; i++)
				add(group, all->names[i], all->metrics[i]);
			result = configure(to, group, false, where);
			if (result != ABI_CUPTI_SUCCESS)
				return result;
			if (group->passes > 1)
				drop(group);
		} while (group->passes > 1 && --most > 0);
		if (most == 0) { // more than a pass by itself
			to->absent |= UINT64_C(1) << counters_metrics[all->metrics[done]].counter;
			done++;
			continue;
		}
		done += most;
		group = &to->groups[++to->count];
	}
	for (; done < all->count; done++)
		to->absent |= UINT64_C(1) << counters_metrics[all->metrics[done]].counter;
	return ABI_CUPTI_SUCCESS;
}

// Names of a fixed group: mostly the chip has the first of each, which is asked for at once.
static void find_names(struct counters_arrangement *to, uint8_t fixed,
                       const char *names[COUNTERS_MOST_METRICS])
{
	struct profiler_host made = { .bytes = ABI_PROFILER_BYTES(profiler_host, host),
		                      .type = ABI_PROFILER_RANGE,
		                      .chip = to->chip,
		                      .availability = to->availability };
	const char *first[COUNTERS_MOST_METRICS];
	uint32_t count = 0;
	bool all;
	for (uint32_t i = 0; i < counters_metric_count; i++)
		if (counters_metrics[i].group == fixed)
			first[count++] = counters_metrics[i].names[0];
	if (counters_cupti.cuptiProfilerHostInitialize(&made) != ABI_CUPTI_SUCCESS)
		return;
	all = COUNTERS_CALL(cuptiProfilerHostConfigAddMetrics, profiler_metrics, count,
	                    .host = made.host, .names = first, .count = count) == ABI_CUPTI_SUCCESS;
	COUNTERS_CALL(cuptiProfilerHostDeinitialize, profiler_host_end, host, .host = made.host);
	for (uint32_t i = 0; i < counters_metric_count; i++)
		if (counters_metrics[i].group == fixed)
			names[i] =
			    all ? counters_metrics[i].names[0] : name_of(to, &counters_metrics[i]);
}

// What most chips do: each has the first names, and takes a pass for each fixed group. One
// configuration tells, which is asked for once where each group would be. False: not so.
static bool arrange_at_once(struct counters_arrangement *to)
{
	struct counters_group *all = &to->groups[COUNTERS_FIXED_GROUPS];
	const char *where;
	for (uint8_t fixed = 0; fixed < COUNTERS_FIXED_GROUPS; fixed++) {
		struct counters_group *group = &to->groups[fixed];
		*group = (struct counters_group){ .passes = 1 };
		for (uint32_t i = 0; i < counters_metric_count; i++)
			if (counters_metrics[i].group == fixed)
				add(group, counters_metrics[i].names[0], i);
	}
	*all = (struct counters_group){ 0 };
	for (uint32_t g = 0; g < COUNTERS_FIXED_GROUPS; g++)
		for (uint32_t i = 0; i < to->groups[g].count; i++)
			add(all, to->groups[g].names[i], to->groups[g].metrics[i]);
	to->count = COUNTERS_FIXED_GROUPS;
	to->joined = configure(to, all, true, &where) == ABI_CUPTI_SUCCESS &&
	             all->passes == COUNTERS_FIXED_GROUPS;
	if (to->joined)
		return true;
	drop(all);
	memset(to->groups, 0, sizeof to->groups);
	to->count = 0;
	return false;
}

static cupti_result arrange_accounts(struct counters_arrangement *to, const char **where)
{
	const char *names[COUNTERS_MOST_METRICS] = { 0 };

	find_names(to, 0, names);
	for (uint32_t i = 0; i < counters_metric_count; i++)
		if (names[i])
			add(&to->groups[0], names[i], i);
	if (!to->groups[0].count)
		return ABI_CUPTI_SUCCESS;
	to->count = 1;
	return configure(to, &to->groups[0], false, where);
}

cupti_result counters_arrange(struct counters_arrangement *to, const char **where)
{
	if (counters_set == COUNTERS_ACCOUNTS)
		return arrange_accounts(to, where);
	if (arrange_at_once(to))
		return ABI_CUPTI_SUCCESS;
	struct counters_group all = { 0 };
	const char *names[COUNTERS_MOST_METRICS] = { 0 };
	cupti_result result;
	for (uint8_t fixed = 0; fixed < COUNTERS_FIXED_GROUPS; fixed++)
		find_names(to, fixed, names);
	for (uint32_t i = 0; i < counters_metric_count; i++)
		if (!names[i])
			to->absent |= UINT64_C(1) << counters_metrics[i].counter;
	for (uint8_t fixed = 0; fixed < COUNTERS_FIXED_GROUPS; fixed++) {
		struct counters_group wanted = { 0 };
		for (uint32_t i = 0; i < counters_metric_count; i++)
			if (counters_metrics[i].group == fixed &&
			    !(to->absent >> counters_metrics[i].counter & 1))
				add(&wanted, names[i], i);
		result = split(to, &wanted, where);
		if (result != ABI_CUPTI_SUCCESS)
			return result;
	}
	for (uint32_t g = 0; g < to->count; g++)
		for (uint32_t i = 0; i < to->groups[g].count; i++)
			add(&all, to->groups[g].names[i], to->groups[g].metrics[i]);
	to->groups[to->count] = all;
	if (!all.count)
		return ABI_CUPTI_SUCCESS;
	result = configure(to, &to->groups[to->count], true, where);
	to->joined = result == ABI_CUPTI_SUCCESS && to->groups[to->count].passes == to->count;
	return result;
}
