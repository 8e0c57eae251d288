// SPDX-License-Identifier: Apache-2.0
// "all", "cuda:all" and lists of devices.
#include "cli/devices/device_select.h"

#include "measure/devices/devices.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct selecting {
	enum tare_need need;
	struct tare_result *result;
	struct tare_selection *selection;
	struct tare_error *error;
};

static int fail_memory(struct tare_error *error)
{
	tare_fail(error, ENOMEM, "out of memory");
	return TARE_EXIT_FAILED;
}

static const char *name_of(const struct tare_device_entry *entry)
{
	const struct tare_fact *name = &entry->facts.fact[TARE_FACT_NAME];
	return name->present ? name->text : "a device without a name";
}

static bool is_simulated(const struct tare_device_entry *entry)
{
	return strcmp(entry->backend, "simulated") == 0;
}

static bool same_script(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

// Whether the list has this one already.
static bool is_selected(const struct selecting *selecting, const struct tare_device_entry *entry,
                        const char *script)
{
	for (size_t i = 0; i < selecting->selection->count; i++)
		if (strcmp(selecting->result->devices[i].backend, entry->backend) == 0 &&
		    selecting->selection->at[i].index == entry->index &&
		    same_script(selecting->selection->at[i].script, script))
			return true;
	return false;
}

// Moves a found device to the end of the selection.
static int add(struct selecting *selecting, struct tare_result *found, size_t index,
               const char *script)
{
	struct tare_selection *selection = selecting->selection;
	const struct tare_device_entry *entry = &found->devices[index];
	struct tare_selected *grown;
	uint32_t number = entry->index;

	if (selection->count == TARE_SELECTION_MOST)
		return tare_usage(selecting->error, "--device names more than %d devices",
		                  TARE_SELECTION_MOST);
	grown = reallocarray(selection->at, selection->count + 1, sizeof *grown);
	if (!grown)
		return fail_memory(selecting->error);
	selection->at = grown;
	grown += selection->count;
	*grown = (struct tare_selected){ .index = entry->index };
	for (size_t i = 0; is_simulated(entry) && i < selection->count; i++)
		number += is_simulated(&selecting->result->devices[i]);
	snprintf(grown->name, sizeof grown->name, "%.30s:%u", entry->backend, number);
	if (script && !(grown->script = strdup(script)))
		return fail_memory(selecting->error);
	selection->count++;
	if (tare_device_move(found, index, selecting->result) < 0)
		return fail_memory(selecting->error);
	selecting->result->devices[selection->count - 1].index = number;
	return TARE_EXIT_OK;
}

static int add_one(struct selecting *selecting, const char *item)
{
	struct tare_result *found = tare_result_new("devices");
	const char *script = tare_device_script(item);
	bool *chosen = NULL;
	int status = found ? tare_devices_find(item, selecting->need, found, selecting->error)
	                   : fail_memory(selecting->error);
	int best;

	if (status != TARE_EXIT_OK)
		goto out;
	chosen = calloc(found->device_count + 1, sizeof *chosen);
	status = chosen ? tare_devices_choose(item, found, chosen, selecting->error)
	                : fail_memory(selecting->error);
	if (status != TARE_EXIT_OK)
		goto out;
	best = tare_devices_best(item, selecting->need, found, chosen, selecting->error);
	if (best < 0)
		status = TARE_EXIT_FAILED;
	else if (is_selected(selecting, &found->devices[best], script))
		status = tare_usage(selecting->error, "--device names %s:%u twice",
		                    found->devices[best].backend, found->devices[best].index);
	else
		status = add(selecting, found, (size_t)best, script);
out:
	free(chosen);
	tare_result_free(found);
	return status;
}

// "opencl:0 is cuda:0": the other ways to see a device that is measured once.
static int say_same(struct selecting *selecting, const struct tare_result *found, size_t best)
{
	const struct tare_device_entry *first = &found->devices[best];

	for (size_t i = 0; i < found->device_count; i++) {
		const struct tare_device_entry *other = &found->devices[i];
		const char *by = other->same_by ? other->same_by : first->same_by;
		if (i != best && other->backend && other->number == first->number &&
		    !is_simulated(other) &&
		    tare_result_conclude(selecting->result, "same-device",
		                         "%s:%u is %s:%u (%s) and is not measured again.",
		                         other->backend, other->index, first->backend, first->index,
		                         by ? by : "one device") < 0)
			return fail_memory(selecting->error);
	}
	return TARE_EXIT_OK;
}

static bool is_processor(const struct tare_device_entry *entry)
{
	return tare_facts_type(&entry->facts) == TARE_DEVICE_CPU;
}

// Whoever has GPUs means these by "all": their host, which OpenCL may show too, would be in their
// way.
static int leave_processors_out(struct selecting *selecting, struct tare_result *found)
{
	bool others = false;

	for (size_t i = 0; i < found->device_count; i++)
		others |= !is_simulated(&found->devices[i]) && !is_processor(&found->devices[i]);
	for (size_t i = 0; others && i < found->device_count; i++) {
		struct tare_device_entry *entry = &found->devices[i];
		if (!is_processor(entry))
			continue;
		if (tare_result_conclude(selecting->result, "processor-left-out",
		                         "%s:%u is the host's processor and is left out of all; "
		                         "name it to have it.",
		                         entry->backend, entry->index) < 0)
			return fail_memory(selecting->error);
		entry->number = UINT32_MAX;
	}
	return TARE_EXIT_OK;
}

// The best of the entries with this number, if one of them can be measured.
static int add_number(struct selecting *selecting, struct tare_result *found, const char *item,
                      uint32_t number)
{
	bool *chosen = calloc(found->device_count + 1, sizeof *chosen);
	const char *what = strcasecmp(item, "all") == 0 ? NULL : item;
	struct tare_error why = { 0 };
	size_t any = found->device_count;
	int status = TARE_EXIT_OK, best;

	if (!chosen)
		return fail_memory(selecting->error);
	for (size_t i = 0; i < found->device_count; i++) {
		const struct tare_device_entry *entry = &found->devices[i];
		chosen[i] =
		    entry->backend && entry->number == number && (what || !is_simulated(entry));
		any = chosen[i] ? i : any;
	}
	best = any < found->device_count
	           ? tare_devices_best(what, selecting->need, found, chosen, &why)
	           : -1;
	if (best >= 0 && !is_selected(selecting, &found->devices[best], NULL)) {
		status = say_same(selecting, found, (size_t)best);
		if (status == TARE_EXIT_OK)
			status = add(selecting, found, (size_t)best, NULL);
	} else if (best < 0 && any < found->device_count &&
	           tare_result_warn(selecting->result, "device-left-out", NULL,
	                            "%s is left out: %s", name_of(&found->devices[any]),
	                            why.message) < 0) {
		status = fail_memory(selecting->error);
	}
	free(chosen);
	return status;
}

static int add_all(struct selecting *selecting, const char *item)
{
	const char *what = strcasecmp(item, "all") == 0 ? NULL : item;
	struct tare_result *found = tare_result_new("devices");
	size_t before = selecting->selection->count;
	uint32_t numbers = 0;
	int status = found ? tare_devices_find(what, selecting->need, found, selecting->error)
	                   : fail_memory(selecting->error);

	if (status == TARE_EXIT_OK && !what)
		status = leave_processors_out(selecting, found);
	for (size_t i = 0; status == TARE_EXIT_OK && i < found->device_count; i++)
		if (found->devices[i].number != UINT32_MAX && found->devices[i].number >= numbers)
			numbers = found->devices[i].number + 1;
	for (uint32_t number = 0; status == TARE_EXIT_OK && number < numbers; number++)
		status = add_number(selecting, found, item, number);
	// The reasons why there is none at all are those of choosing one.
	if (status == TARE_EXIT_OK && selecting->selection->count == before) {
		bool *none = calloc(found->device_count + 1, sizeof *none);
		if (!none ||
		    tare_devices_best(what, selecting->need, found, none, selecting->error) < 0)
			status = none ? TARE_EXIT_FAILED : fail_memory(selecting->error);
		free(none);
	}
	tare_result_free(found);
	return status;
}

static char *trim(char *item)
{
	size_t length;

	while (isspace((unsigned char)*item))
		item++;
	length = strlen(item);
	while (length && isspace((unsigned char)item[length - 1]))
		item[--length] = '\0';
	return item;
}

static bool is_all(const char *item)
{
	return tare_devices_are_several(item);
}

int tare_devices_select(const char *what, enum tare_need need, struct tare_result *result,
                        struct tare_selection *selection, struct tare_error *error)
{
	struct selecting selecting = { need, result, selection, error };
	char *list = strdup(what), *rest = list;
	int status = list ? TARE_EXIT_OK : fail_memory(error);

	while (status == TARE_EXIT_OK && rest) {
		char *item = trim(strsep(&rest, ","));
		if (!item[0])
			status =
			    tare_usage(error, "--device '%s' has an empty place in its list", what);
		else
			status =
			    is_all(item) ? add_all(&selecting, item) : add_one(&selecting, item);
	}
	free(list);
	if (status == TARE_EXIT_OK &&
	    tare_merge_identities(result->devices, result->device_count) < 0)
		status = fail_memory(error);
	return status;
}

void tare_selection_clear(struct tare_selection *selection)
{
	for (size_t i = 0; i < selection->count; i++)
		free(selection->at[i].script);
	free(selection->at);
	*selection = (struct tare_selection){ 0 };
}
