// SPDX-License-Identifier: Apache-2.0
// Queue groups by ordinal, and the engines in them.
#include "backend/levelzero/facts/facts.h"

#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>

#define COMPUTE ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE
#define COPY ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY

// All queue groups, to free(); *count of them. NULL: none (*count is 0), or a failure. The number
// is asked for first: a count that is too large stays as it is in Intel's driver 22.43.
static ze_command_queue_group_properties_t *read_groups(const struct levelzero_driver *driver,
                                                        const struct levelzero_place *place,
                                                        uint32_t *count, ze_result_t *result)
{
	ze_command_queue_group_properties_t *list = NULL;

	*count = 0;
	*result = driver->call.zeDeviceGetCommandQueueGroupProperties(place->device, count, NULL);
	if (*result != ZE_RESULT_SUCCESS || *count == 0)
		return NULL;
	list = calloc(*count, sizeof *list);
	if (!list) {
		*result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		return NULL;
	}
	for (uint32_t i = 0; i < *count; i++)
		list[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
	*result = driver->call.zeDeviceGetCommandQueueGroupProperties(place->device, count, list);
	if (*result != ZE_RESULT_SUCCESS) {
		free(list);
		return NULL;
	}
	return list;
}

int levelzero_engines_of(const struct levelzero_driver *driver, const struct levelzero_place *place,
                         struct tare_engine *engines, uint32_t capacity, struct tare_error *error)
{
	uint32_t count, found = 0, of_class[2] = { 0, 0 };
	ze_result_t result;
	ze_command_queue_group_properties_t *groups = read_groups(driver, place, &count, &result);

	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeDeviceGetCommandQueueGroupProperties", error,
		                      "cannot list the engines");
	for (uint32_t ordinal = 0; groups && ordinal < count; ordinal++) {
		bool compute = groups[ordinal].flags & COMPUTE;
		enum tare_engine_class class = compute ? TARE_ENGINE_COMPUTE : TARE_ENGINE_COPY;
		// A group for something else (media) takes none of our commands.
		if (!(groups[ordinal].flags & LEVELZERO_GROUP_FLAGS))
			continue;
		for (uint32_t i = 0; i < groups[ordinal].numQueues; i++, found++) {
			uint32_t index = of_class[compute]++;
			if (found >= capacity)
				continue;
			engines[found] =
			    (struct tare_engine){ .class = class, .index = index, .known = true };
			snprintf(engines[found].title, sizeof engines[found].title,
			         "ordinal %u, %s %u", ordinal, compute ? "compute" : "copy", i);
		}
	}
	free(groups);
	return (int)found;
}

// "0: 1 queue for compute, copy, fills by up to 128 B".
static size_t write_group(const ze_command_queue_group_properties_t *group, uint32_t ordinal,
                          char *text, size_t size)
{
	static const struct {
		uint32_t flag;
		const char *word;
	} words[] = {
		{ COMPUTE, "compute" },
		{ COPY, "copy" },
		{ ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS, "cooperative" },
		{ ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_METRICS, "metrics" },
	};
	char pattern[TARE_UNIT_TEXT];
	const char *join = " for ";
	size_t used = (size_t)snprintf(text, size, "%s%u: %u queue%s", ordinal ? "; " : "", ordinal,
	                               group->numQueues, group->numQueues == 1 ? "" : "s");

	for (size_t i = 0; i < sizeof words / sizeof *words && used < size; i++)
		if (group->flags & words[i].flag) {
			used +=
			    (size_t)snprintf(text + used, size - used, "%s%s", join, words[i].word);
			join = ", ";
		}
	if (used < size && group->maxMemoryFillPatternSize == SIZE_MAX)
		used += (size_t)snprintf(text + used, size - used, ", fills by any pattern");
	else if (used < size && group->maxMemoryFillPatternSize)
		used +=
		    (size_t)snprintf(text + used, size - used, ", fills by up to %s",
		                     tare_format_bytes(group->maxMemoryFillPatternSize, pattern));
	return used;
}

static void group_facts(const struct levelzero_driver *driver, const struct levelzero_place *place,
                        struct tare_facts *facts)
{
	uint32_t count;
	ze_result_t result;
	ze_command_queue_group_properties_t *groups = read_groups(driver, place, &count, &result);
	char text[250] = "";
	size_t used = 0;

	for (uint32_t i = 0; groups && i < count && used < sizeof text; i++)
		used += write_group(&groups[i], i, text + used, sizeof text - used);
	if (used)
		tare_fact_set_text(facts, TARE_FACT_QUEUE_GROUPS, TARE_ORIGIN_DRIVER, text);
	else
		tare_fact_absent(facts, TARE_FACT_QUEUE_GROUPS, "the driver tells none");
	free(groups);
}

void levelzero_engine_facts(const struct levelzero_driver *driver,
                            const struct levelzero_place *place, struct tare_facts *facts)
{
	struct tare_engine engines[64];
	struct tare_error error;
	uint32_t copies = 0;
	char text[64];
	int count = levelzero_engines_of(driver, place, engines, 64, &error);

	tare_fact_absent(facts, TARE_FACT_OUT_OF_ORDER,
	                 "Level Zero orders by events, not by queue");
	group_facts(driver, place, facts);
	if (count < 0) {
		tare_fact_absent(facts, TARE_FACT_ENGINES, "%s", error.message);
		tare_fact_absent(facts, TARE_FACT_COPY_ENGINES, "%s", error.message);
		return;
	}
	if (count > 64)
		count = 64;
	for (int i = 0; i < count; i++)
		copies += engines[i].class == TARE_ENGINE_COPY;
	snprintf(text, sizeof text, "%u compute, %u copy", (uint32_t)count - copies, copies);
	tare_fact_set_text(facts, TARE_FACT_ENGINES, TARE_ORIGIN_DRIVER, text);
	tare_fact_set_count(facts, TARE_FACT_COPY_ENGINES, TARE_ORIGIN_DRIVER, copies);
}
