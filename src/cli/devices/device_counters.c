// SPDX-License-Identifier: Apache-2.0
#include "cli/devices/device_counters.h"

#include "analysis/hotspots/levelzero_metrics.h"
#include "analysis/hotspots/refused.h"
#include "backend/backend.h"
#include "base/cleanup.h"
#include "cli/devices/counters_tables.h"
#include "cli/devices/counters_trial.h"
#include "cli/devices/device_select.h"
#include "cli/terminal/terminal.h"
#include "report/terminal/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Settings by which a system keeps counters for root.
static const struct {
	const char *path, *format; // of a line
	const char *sentence;
} settings_of_systems[] = {
	{ "/proc/driver/nvidia/params", "RmProfilingAdminOnly: %d",
	  "only root may read NVIDIA's counters here; load the module nvidia with "
	  "NVreg_RestrictProfilingToAdminUsers=0, or run as root" },
	{ "/proc/sys/dev/i915/perf_stream_paranoid", "%d",
	  "only root may read counters of i915 here; sysctl dev.i915.perf_stream_paranoid=0 "
	  "allows it" },
	{ "/proc/sys/dev/xe/observation_paranoid", "%d",
	  "only root may read counters of xe here; sysctl dev.xe.observation_paranoid=0 allows "
	  "it" },
};

struct listing {
	struct tare_counters_listed listed;
	uint32_t groups;
	bool told[TARE_LEVELZERO_METRICS];
};

// Intel's driver lists no metric without it.
static void ask_for_metrics(void)
{
	setenv("ZET_ENABLE_METRICS", "1", 0);
}

void tare_device_counters_prepare(void)
{
	tare_counters_trial_prepare();
	if (tare_device_counters_begin())
		ask_for_metrics();
}

bool tare_device_counters_begin(void)
{
	const struct tare_backend *backend = tare_backend_find("levelzero");
	int status = 0;
	pid_t child;

	if (!backend)
		return true;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		struct tare_driver *driver = NULL;
		struct tare_error error = { 0 };
		ask_for_metrics();
		_exit(backend->driver_open(NULL, &driver, &error) < 0);
	}
	return child < 0 || waitpid(child, &status, 0) != child || status == 0;
}

static bool is_set(const char *folder, const char *path, const char *format)
{
	char name[512], line[256];
	int value = 0;
	FILE *file;

	snprintf(name, sizeof name, "%s%s", folder, path);
	file = fopen(name, "re");
	while (file && value == 0 && fgets(line, sizeof line, file))
		if (sscanf(line, format, &value) != 1)
			value = 0;
	if (file)
		fclose(file);
	return value > 0;
}

void tare_device_counters_forbidden(const char *folder, char text[512])
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof settings_of_systems / sizeof *settings_of_systems; i++)
		if (is_set(folder, settings_of_systems[i].path, settings_of_systems[i].format))
			length +=
			    (size_t)snprintf(text + length, 512 - length, "%s%s",
			                     length ? "; " : "", settings_of_systems[i].sentence);
}

static int list_group(void *context, const struct tare_counter_group *group)
{
	struct listing *listing = context;

	listing->groups++;
	return tare_counters_add(&listing->listed, 0,
	                         &(struct tare_counter_row){ group->name,
	                                                     group->by_event && group->by_time
	                                                         ? "event, time"
	                                                     : group->by_event ? "event"
	                                                                       : "time",
	                                                     group->description, "" });
}

static int list_counter(void *context, const struct tare_listed_counter *counter)
{
	struct listing *listing = context;
	enum tare_levelzero_metric metric = tare_levelzero_metric_of(counter->name);
	bool known = metric != TARE_LEVELZERO_METRICS;

	if (known)
		listing->told[metric] = true;
	return tare_counters_add(
	    &listing->listed, 1,
	    &(struct tare_counter_row){ counter->name, counter->unit, counter->description,
	                                known ? tare_levelzero_metric_title(metric) : "" });
}

static void say_missing(struct tare_text *text, const struct listing *listing)
{
	char names[512] = "";
	size_t length = 0;

	for (enum tare_levelzero_metric m = 0; m < TARE_LEVELZERO_METRICS; m++)
		if (!listing->told[m])
			length +=
			    (size_t)snprintf(names + length, sizeof names - length, "%s%s",
			                     length ? ", " : "", tare_levelzero_metric_title(m));
	if (names[0])
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 2, "No counter is known for: %s.",
		                    names);
}

static void say_none(struct tare_text *text, const char *why)
{
	char forbidden[512];

	tare_device_counters_forbidden("", forbidden);
	tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 2, "n/a: %s%s%s.", why,
	                    forbidden[0] ? "; " : "", forbidden);
}

// It was not asked for them (tare_device_counters_prepare).
static const char without_metrics[] =
    "the driver lists no counters, and does not begin where it is asked for them "
    "(ZET_ENABLE_METRICS=1): install Intel's metrics-discovery and metrics-library (libigdmd, "
    "libigdml)";

static void list(struct tare_text *text, const struct tare_settings *settings,
                 const struct tare_device_entry *entry, const struct tare_backend *backend)
{
	struct listing listing = { .groups = 0 };
	const struct tare_counter_visitor visitor = { &listing, list_group, list_counter };
	struct tare_driver *driver = NULL;
	struct tare_error why = { 0 };
	int status = backend->driver_open(tare_device_script(settings->device), &driver, &why);

	status = status ?: backend->counters(driver, entry->index, &visitor, &why);
	if (driver)
		backend->driver_close(driver);
	text->failed |= status == -ENOMEM;
	if (status < 0 || listing.groups == 0) {
		say_none(text, status < 0                     ? why.message
		               : getenv("ZET_ENABLE_METRICS") ? "the driver lists no counters"
		                                              : without_metrics);
	} else {
		tare_counters_listed_text(text, &listing.listed);
		say_missing(text, &listing);
	}
	tare_counters_free(&listing.listed);
}

// The driver lists nothing: whether it lets its counters be read is tried.
static void try_to_sample(struct tare_text *text, const struct tare_device_entry *entry)
{
	struct tare_error why = { 0 };
	int status = tare_counters_trial(entry->backend, entry->index, &why);
	TARE_FREE char *refused = NULL;

	bool cupti = status < 0 && strcmp(why.api, "cupti") == 0;
	bool over_time_alone = cupti && tare_counters_lack_interface((uint32_t)why.native);

	if (cupti)
		refused = tare_counters_refused((uint32_t)why.native, why.call);
	if (status < 0 && !over_time_alone) {
		say_none(text, refused ? refused : why.message);
		return;
	}
	if (status < 0)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 2,
		                    "Not over time (--timeline): %s. Launches of kernels may be "
		                    "counted nevertheless: tare hotspots says so when it tries.",
		                    why.message);
	else
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 2,
		                    "Its counters may be read, of launches (tare hotspots) and "
		                    "over time (--timeline): it was tried.");
	tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 2,
	                    "Asked for are these; what the chip lacks of them tare hotspots says "
	                    "when it counts.");
	tare_counters_asked_text(text);
}

int tare_device_counters(const struct tare_settings *settings, const struct tare_result *result,
                         FILE *file, struct tare_error *error)
{
	const struct tare_text_options options = tare_terminal_text_options(settings->verbosity);
	struct tare_text text = { .options = &options, .file = file };

	for (size_t i = 0; i < result->device_count; i++) {
		const struct tare_device_entry *entry = &result->devices[i];
		const struct tare_backend *backend = tare_backend_find(entry->backend);
		const struct tare_fact *name = &entry->facts.fact[TARE_FACT_NAME];
		tare_text_paragraph(&text, TARE_STYLE_BOLD, "", 2, "%s:%u %s", entry->backend,
		                    entry->index, name->present ? name->text : "");
		if (backend && backend->counters)
			list(&text, settings, entry, backend);
		else if (backend && backend->sampler)
			try_to_sample(&text, entry);
		else
			say_none(&text, "this API tells no counters: the same device may have them "
			                "through CUDA or Level Zero");
	}
	if (!text.failed)
		return TARE_EXIT_OK;
	tare_fail(error, ENOMEM, "out of memory");
	return TARE_EXIT_FAILED;
}
