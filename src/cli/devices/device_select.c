// SPDX-License-Identifier: Apache-2.0
#include "cli/devices/device_select.h"

#include "measure/devices/devices.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_number(const char *text)
{
	return text[0] && text[strspn(text, "0123456789")] == '\0' && strlen(text) < 7;
}

// The backend that "opencl" or "opencl:0" begins with, or NULL; *rest is what follows the colon.
static const struct tare_backend *backend_of(const char *what, const char **rest)
{
	char name[32];
	size_t length = what ? strcspn(what, ":") : 0;

	*rest = NULL;
	if (!what || length >= sizeof name)
		return NULL;
	for (size_t i = 0; i <= length; i++)
		name[i] = i < length ? (char)tolower((unsigned char)what[i]) : '\0';
	if (what[length] == ':')
		*rest = what + length + 1;
	return tare_backend_find(name);
}

static bool is_simulated(const struct tare_device_entry *entry)
{
	return strcmp(entry->backend, "simulated") == 0;
}

const char *tare_device_script(const char *what)
{
	const char *rest;
	const struct tare_backend *backend = backend_of(what, &rest);

	return backend && strcmp(backend->name, "simulated") == 0 && rest && rest[0] &&
	               !is_number(rest)
	           ? rest
	           : NULL;
}

bool tare_devices_are_several(const char *what)
{
	const char *rest;

	if (!what)
		return false;
	return strcasecmp(what, "all") == 0 || strchr(what, ',') ||
	       (backend_of(what, &rest) && rest && strcasecmp(rest, "all") == 0);
}

int tare_devices_find(const char *what, enum tare_need need, struct tare_result *found,
                      struct tare_error *error)
{
	const char *rest;
	const struct tare_backend *backend =
	    what && strchr(what, ',') ? NULL : backend_of(what, &rest);
	struct tare_devices_options options = {
		.backend = backend ? backend->name : NULL,
		.option = tare_device_script(what),
		.facts_only = need != TARE_NEED_LISTING,
	};

	return tare_measure_devices(&options, found, error) < 0 ? TARE_EXIT_FAILED : TARE_EXIT_OK;
}

// ---- what a word can mean

static bool means(const char *what, const struct tare_device_entry *entry)
{
	const char *rest;
	const struct tare_backend *backend = backend_of(what, &rest);

	if (is_number(what))
		return entry->number == strtoul(what, NULL, 10);
	if (backend && strcmp(backend->name, entry->backend) == 0)
		return !rest || !is_number(rest) || entry->index == strtoul(rest, NULL, 10);
	if (backend && rest)
		return false;
	return strcasestr(tare_fact_text(&entry->facts, TARE_FACT_NAME), what) ||
	       strcasestr(tare_fact_text(&entry->facts, TARE_FACT_PCI), what) ||
	       strcasecmp(tare_fact_text(&entry->facts, TARE_FACT_UUID), what) == 0;
}

// Adds "0: NVIDIA H200 (cuda:0, opencl:0)" for each physical device that `chosen` marks.
static void list_devices(const struct tare_result *found, const bool *chosen, char *text,
                         size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < found->device_count; i++) {
		const struct tare_device_entry *first = &found->devices[i];
		const char *name = tare_fact_text(&first->facts, TARE_FACT_NAME);
		int shown = (int)strnlen(name, 40);
		bool listed = chosen && !chosen[i];
		for (size_t j = 0; j < i; j++)
			listed |=
			    found->devices[j].number == first->number && (!chosen || chosen[j]);
		if (listed || length + 1 >= size)
			continue;
		while (shown > 0 && name[shown - 1] == ' ')
			shown--;
		length += (size_t)snprintf(text + length, size - length, "%s%u: %.*s (",
		                           length ? "; " : "", first->number, shown, name);
		for (size_t j = i; j < found->device_count && length < size; j++)
			if (found->devices[j].number == first->number)
				length += (size_t)snprintf(
				    text + length, size - length, "%s%s:%u", j == i ? "" : ", ",
				    found->devices[j].backend, found->devices[j].index);
		if (length < size)
			length += (size_t)snprintf(text + length, size - length, ")");
	}
}

// Whether a bare API name was meant, which stands for the API's best device.
static bool is_backend_name(const char *what)
{
	const char *rest;
	return backend_of(what, &rest) && (!rest || !is_number(rest));
}

static int refuse_no_device(const char *what, const struct tare_result *found,
                            struct tare_error *error)
{
	const char *rest;
	const struct tare_backend *backend = backend_of(what, &rest);
	const struct tare_backend_absence *absence = NULL;

	for (size_t i = 0; i < found->absence_count; i++)
		if (!absence || strcmp(found->absences[i].backend, "opencl") == 0)
			absence = &found->absences[i];
	if (!absence)
		tare_fail(error, ENODEV, "there is no device");
	else if (backend)
		tare_fail(error, ENODEV, "%s%s%s", absence->reason, absence->action ? "; " : "",
		          absence->action ? absence->action : "");
	else
		tare_fail(error, ENODEV,
		          "there is no device to measure: %s%s%s (tare devices has the other "
		          "reasons; --device simulated works anywhere)",
		          absence->reason, absence->action ? "; " : "",
		          absence->action ? absence->action : "");
	return TARE_EXIT_FAILED;
}

// All that any place of the list means. `cuda:all` means what `cuda` does.
static int choose_several(const char *what, const struct tare_result *found, bool *chosen,
                          struct tare_error *error)
{
	char list[400];

	for (const char *at = what; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t length = strcspn(at, ",");
		bool any = false;
		snprintf(list, sizeof list, "%.*s", (int)(length < 300 ? length : 300), at);
		for (size_t i = 0; i < found->device_count; i++) {
			bool meant = strcasecmp(list, "all") == 0 ||
			             (list[0] && means(list, &found->devices[i]));
			chosen[i] = chosen[i] || meant;
			any = any || meant;
		}
		if (any)
			continue;
		if (found->device_count == 0)
			return refuse_no_device(what, found, error);
		list_devices(found, NULL, list, sizeof list);
		return tare_usage(error, "there is no device '%.*s'; there is %s", (int)length, at,
		                  list);
	}
	return TARE_EXIT_OK;
}

int tare_devices_choose(const char *what, const struct tare_result *found, bool *chosen,
                        struct tare_error *error)
{
	char list[400];
	size_t matches = 0;
	uint32_t number = 0;
	bool several = false;

	if (tare_devices_are_several(what))
		return choose_several(what, found, chosen, error);
	for (size_t i = 0; i < found->device_count; i++) {
		chosen[i] = !what || means(what, &found->devices[i]);
		if (!chosen[i])
			continue;
		several |= matches++ && found->devices[i].number != number;
		number = found->devices[i].number;
	}
	if (!what || (matches && (!several || is_backend_name(what))))
		return TARE_EXIT_OK;
	if (found->device_count == 0)
		return refuse_no_device(what, found, error);
	list_devices(found, matches ? chosen : NULL, list, sizeof list);
	return tare_usage(
	    error, matches ? "--device '%s' could be %s" : "there is no device '%s'; there is %s",
	    what, list);
}

int tare_device_move(struct tare_result *found, size_t index, struct tare_result *result)
{
	struct tare_device_entry *entry = tare_result_add_device(result);

	*entry = found->devices[index];
	found->devices[index] = (struct tare_device_entry){ 0 };
	return tare_result_status(result);
}

// ---- the best one

static int type_rank(const struct tare_device_entry *entry)
{
	static const int rank[TARE_DEVICE_TYPES] = {
		[TARE_DEVICE_GPU] = 0,       [TARE_DEVICE_ACCELERATOR] = 1, [TARE_DEVICE_CPU] = 2,
		[TARE_DEVICE_OTHER] = 3,     [TARE_DEVICE_FPGA] = 3,        [TARE_DEVICE_VPU] = 3,
		[TARE_DEVICE_SIMULATED] = 4,
	};

	return rank[tare_facts_type(&entry->facts)];
}

static bool can(const struct tare_backend *backend, enum tare_need need)
{
	if (need == TARE_NEED_LISTING)
		return true;
	if (!backend->queue_create || !backend->append || !backend->finish)
		return false;
	if (need == TARE_NEED_KERNELS && !backend->kernel_create)
		return false;
	return need == TARE_NEED_LATENCY || backend->memory_create;
}

static int backend_rank(const struct tare_backend *backend)
{
	int rank = 0;
	while (tare_backends[rank] && tare_backends[rank] != backend)
		rank++;
	return rank;
}

int tare_devices_best(const char *what, enum tare_need need, const struct tare_result *found,
                      const bool *chosen, struct tare_error *error)
{
	const struct tare_device_entry *unable = NULL;
	long best_score = LONG_MAX;
	int best = -1;

	for (size_t i = 0; i < found->device_count; i++) {
		const struct tare_device_entry *entry = &found->devices[i];
		const struct tare_backend *backend =
		    chosen[i] ? tare_backend_find(entry->backend) : NULL;
		long score;

		if (!backend || (!what && is_simulated(entry)))
			continue;
		if (!can(backend, need)) {
			unable = entry;
			continue;
		}
		score =
		    type_rank(entry) * 1000000L + (long)entry->number * 100 + backend_rank(backend);
		if (score < best_score) {
			best_score = score;
			best = (int)i;
		}
	}
	if (best >= 0)
		return best;
	if (unable)
		tare_fail(error, ENOTSUP,
		          "%s is seen only through %s, which tare lists but does not measure "
		          "yet; install the device's OpenCL driver",
		          tare_fact_text(&unable->facts, TARE_FACT_NAME), unable->backend_title);
	else
		refuse_no_device(NULL, found, error);
	return -1;
}
