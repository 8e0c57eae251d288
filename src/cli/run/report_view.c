// SPDX-License-Identifier: Apache-2.0
#include "cli/run/report_view.h"

#include "analysis/tables/phases.h"
#include "base/units.h"
#include "report/run/report.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- the trace

static bool is_folder(const char *path)
{
	struct stat found;

	return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

// When the trace was last written, by its record.json or else by the folder.
static struct timespec written_at(const char *folder)
{
	char path[4200];
	struct stat found = { 0 };

	snprintf(path, sizeof path, "%s/record.json", folder);
	if (stat(path, &found) != 0)
		(void)!stat(folder, &found);
	return found.st_mtim;
}

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

static int find_newest(struct tare_report_trace *trace, struct tare_error *error)
{
	glob_t all = { 0 };
	struct timespec latest = { 0 };
	const char *newest = NULL;
	size_t count = 0;

	if (glob("*.tare", 0, NULL, &all) != 0) {
		globfree(&all);
		all = (glob_t){ 0 };
	}
	for (size_t i = 0; i < all.gl_pathc; i++) {
		struct timespec written;
		if (!is_folder(all.gl_pathv[i]))
			continue;
		written = written_at(all.gl_pathv[i]);
		if (count++ == 0 || is_later(written, latest)) {
			newest = all.gl_pathv[i];
			latest = written;
		}
	}
	trace->path = newest ? strdup(newest) : NULL;
	globfree(&all);
	if (count == 0)
		return tare_fail(error, ENOENT,
		                 "no trace (*.tare) in this folder; name one, or record one with "
		                 "tare record -- ./app");
	if (count > 1)
		snprintf(trace->choice, sizeof trace->choice, "the newest of %zu here", count);
	else
		snprintf(trace->choice, sizeof trace->choice, "the only one here");
	return trace->path ? 0 : tare_fail(error, ENOMEM, "no memory left");
}

int tare_report_trace_find(const char *named, struct tare_report_trace *trace,
                           struct tare_error *error)
{
	char with_suffix[4200];
	struct stat found;

	*trace = (struct tare_report_trace){ 0 };
	if (!named)
		return find_newest(trace, error) < 0 ? TARE_EXIT_FAILED : TARE_EXIT_OK;
	snprintf(with_suffix, sizeof with_suffix, "%s.tare", named);
	if (stat(named, &found) != 0) {
		if (errno == ENOENT && is_folder(with_suffix))
			tare_fail(error, ENOENT, "no folder %.200s; did you mean %.200s?", named,
			          with_suffix);
		else
			tare_fail(error, errno, "cannot read %.200s: %s", named, strerror(errno));
		return TARE_EXIT_FAILED;
	}
	trace->path = strdup(named);
	if (!trace->path)
		tare_fail(error, ENOMEM, "no memory left");
	return trace->path ? TARE_EXIT_OK : TARE_EXIT_FAILED;
}

// ---- lists for sentences

// A list with commas in a text of limited size; what does not fit is said by "...".
struct list {
	char *text;
	size_t size, used;
	bool full;
};

static void list_add(struct list *list, const char *item)
{
	const char *separator = list->used ? ", " : "";
	size_t length = strlen(separator) + strlen(item);

	if (list->full)
		return;
	if (list->used + length + 6 > list->size) {
		snprintf(list->text + list->used, list->size - list->used, ", ...");
		list->full = true;
		return;
	}
	list->used += (size_t)snprintf(list->text + list->used, list->size - list->used, "%s%s",
	                               separator, item);
}

// A name from the program, cut and without what a terminal would obey.
static void clean_name(const char *name, char *text, size_t size)
{
	size_t at = 0;

	for (; name[at] && at + 4 < size; at++)
		text[at] = (unsigned char)name[at] < ' ' || name[at] == 0x7f ? '?' : name[at];
	snprintf(text + at, size - at, "%s", name[at] ? "..." : "");
}

// ---- numbers

static bool parse_whole(const char *text, uint64_t *value)
{
	char *end = NULL;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return *end == '\0' && errno == 0;
}

// "2.5" seconds or "10%" of the run, as nanoseconds from its start.
static int parse_time(const char *option, const char *text, int64_t run_ns, int64_t *ns,
                      struct tare_error *error)
{
	char *end = NULL;
	double value = strtod(text, &end);
	bool percent = *end == '%';

	if (end == text || end[percent] != '\0' || !(value >= 0) || (percent && value > 100) ||
	    !(value <= 1e9))
		return tare_usage(
		    error,
		    "%s: '%.40s' is neither seconds from the start of the run, such as "
		    "2.5, nor a part of it, such as 10%%",
		    option, text);
	*ns = percent ? (int64_t)(value / 100 * (double)run_ns) : (int64_t)(value * 1e9);
	return TARE_EXIT_OK;
}

static int parse_times(const struct tare_settings *settings, const struct tare_recording *recording,
                       struct tare_view *view, struct tare_error *error)
{
	int64_t run_ns = recording->end_ns - recording->start_ns, from = 0, to = run_ns;
	char length[TARE_UNIT_TEXT];
	int status = TARE_EXIT_OK;

	if (settings->from)
		status = parse_time("--from", settings->from, run_ns, &from, error);
	if (status == TARE_EXIT_OK && settings->to)
		status = parse_time("--to", settings->to, run_ns, &to, error);
	if (status != TARE_EXIT_OK || (!settings->from && !settings->to))
		return status;
	if (from >= run_ns)
		return tare_usage(error, "--from %.40s is not within the run, which took %s",
		                  settings->from ? settings->from : "0",
		                  tare_format_ns((double)run_ns, length));
	if (to > run_ns)
		to = run_ns;
	if (from >= to)
		return tare_usage(error, "--from %.40s is not before --to %.40s",
		                  settings->from ? settings->from : "0",
		                  settings->to ? settings->to : "100%");
	view->from_ns = recording->start_ns + from;
	view->to_ns = recording->start_ns + to;
	return TARE_EXIT_OK;
}

// ---- the process

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_called(const struct tare_recorded_process *process, const char *name)
{
	return strcmp(base_name(process->executable), name) == 0 ||
	       strcmp(process->executable, name) == 0;
}

// "python3" for python3.11.
static bool begins_with(const struct tare_recorded_process *process, const char *name)
{
	return name[0] && strncmp(base_name(process->executable), name, strlen(name)) == 0;
}

typedef bool names_process(const struct tare_recorded_process *process, const char *name);

static int refuse_process(const char *text, const struct tare_recording *recording,
                          names_process *named, struct tare_error *error)
{
	char there[300] = "", item[80], program[48];
	struct list list = { there, sizeof there, 0, false };

	for (size_t i = 0; i < recording->process_count; i++) {
		const struct tare_recorded_process *process = &recording->processes[i];
		if (named && !named(process, text))
			continue;
		clean_name(base_name(process->executable), program, sizeof program);
		snprintf(item, sizeof item, "%zu (pid %" PRIu64 ", %s)", i, process->pid, program);
		list_add(&list, item);
	}
	if (named)
		return tare_usage(error, "--process: several are called '%.40s': %s", text, there);
	return tare_usage(error, "--process: no process '%.40s' in this trace; there %s %s", text,
	                  recording->process_count == 1 ? "is" : "are", there[0] ? there : "none");
}

static size_t count_named(const char *text, const struct tare_recording *recording,
                          names_process *named, struct tare_view *view)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->process_count; i++) {
		if (!named(&recording->processes[i], text))
			continue;
		view->process = (uint32_t)i;
		count++;
	}
	return count;
}

static bool has_pid(const struct tare_recorded_process *process, const char *text)
{
	uint64_t number;

	return parse_whole(text, &number) && process->pid == number;
}

static int parse_process(const char *text, const struct tare_recording *recording,
                         struct tare_view *view, struct tare_error *error)
{
	uint64_t number = 0;
	bool whole = parse_whole(text, &number);
	// A pid before a number: a pid is what other tools say.
	names_process *named = whole ? has_pid : is_called;
	size_t count = count_named(text, recording, named, view);

	if (count == 0 && !whole) {
		named = begins_with;
		count = count_named(text, recording, named, view);
	}
	if (count > 1)
		return refuse_process(text, recording, whole ? NULL : named, error);
	if (count == 0 && whole && number < recording->process_count) {
		view->process = (uint32_t)number;
		return TARE_EXIT_OK;
	}
	return count == 1 ? TARE_EXIT_OK : refuse_process(text, recording, NULL, error);
}

// ---- the device

static int refuse_device(const char *text, const struct tare_recording *recording, bool several,
                         struct tare_error *error)
{
	char there[300] = "", item[160], name[120];
	struct list list = { there, sizeof there, 0, false };

	for (uint32_t i = 0; i < recording->device_count; i++) {
		if (recording->devices[i].same_as != i)
			continue;
		clean_name(recording->devices[i].name, name, sizeof name);
		snprintf(item, sizeof item, "%" PRIu32 " (%s)",
		         tare_report_device_number(recording, i), name);
		list_add(&list, item);
	}
	if (several)
		return tare_usage(error, "--device: '%.40s' could be any of several; there are %s",
		                  text, there);
	return tare_usage(error, "--device: no device '%.40s' in this trace; there %s %s", text,
	                  recording->device_count == 1 ? "is" : "are", there[0] ? there : "none");
}

static int parse_device(const char *text, const struct tare_recording *recording,
                        struct tare_view *view, struct tare_error *error)
{
	uint64_t number = 0;
	bool whole = parse_whole(text, &number);
	size_t count = 0;

	for (uint32_t i = 0; i < recording->device_count; i++) {
		if (recording->devices[i].same_as != i)
			continue;
		if (whole ? tare_report_device_number(recording, i) != number
		          : !strcasestr(recording->devices[i].name, text))
			continue;
		view->device = i;
		count++;
	}
	return count == 1 ? TARE_EXIT_OK : refuse_device(text, recording, count > 1, error);
}

// ---- the kernels

int tare_kernel_pattern_check(const char *pattern, const struct tare_recording *recording,
                              struct tare_error *error)
{
	char there[300] = "", name[80];
	struct list list = { there, sizeof there, 0, false };

	for (size_t i = 0; i < recording->kernel_count; i++)
		if (fnmatch(pattern, recording->kernels[i].name, 0) == 0)
			return TARE_EXIT_OK;
	for (size_t i = 0; i < recording->kernel_count; i++) {
		bool said = false;
		for (size_t k = 0; k < i && !said; k++)
			said = strcmp(recording->kernels[k].name, recording->kernels[i].name) == 0;
		if (said)
			continue;
		clean_name(recording->kernels[i].name, name, sizeof name);
		list_add(&list, name);
		if (list.full)
			break;
	}
	return tare_usage(error, "--kernel: no kernel of this trace matches '%.60s'; there %s %s",
	                  pattern, recording->kernel_count == 1 ? "is" : "are",
	                  there[0] ? there : "none");
}

// ---- the phases

enum { PHASES_SAID = 8 };

// Nothing matches, at all or in the time that was asked for.
static int refuse_phase(const char *pattern, const struct tare_recording *recording,
                        const struct tare_view *view, struct tare_error *error)
{
	struct tare_view whole = *view;
	struct tare_run_span *spans = NULL;
	char there[500] = "", name[80], full[256];
	struct list list = { there, sizeof there, 0, false };
	uint32_t found[PHASES_SAID + 1];
	size_t count = tare_phase_names(recording, view->process, found, PHASES_SAID + 1);
	int matches;

	whole.from_ns = recording->start_ns;
	whole.to_ns = recording->end_ns;
	matches = tare_phase_spans(recording, &whole, pattern, &spans);
	free(spans);
	if (matches > 0)
		return tare_usage(error,
		                  "--phase: no phase '%.60s' was open in the part of the run "
		                  "that --from and --to choose",
		                  pattern);
	if (count == 0)
		return tare_usage(error,
		                  "--phase: %s marks no phases; it could with "
		                  "tare/phase.h, ITT or NVTX, see tare-record(1)",
		                  view->process == TARE_NO_INDEX ? "this program" : "this process");
	for (size_t i = 0; i < count && i < PHASES_SAID; i++) {
		const struct tare_recorded_phase *phase = &recording->phases[found[i]];
		snprintf(full, sizeof full, "%.100s%s%.100s", phase->domain,
		         phase->domain[0] ? "/" : "", phase->name);
		clean_name(full, name, sizeof name);
		list_add(&list, name);
	}
	if (count > PHASES_SAID)
		list_add(&list, "...");
	return tare_usage(error, "--phase: no phase of this trace matches '%.60s'; there %s %s",
	                  pattern, count == 1 ? "is" : "are", there);
}

static int parse_phase(const char *pattern, const struct tare_recording *recording,
                       struct tare_view *view, struct tare_run_span **spans,
                       struct tare_error *error)
{
	int count = tare_phase_spans(recording, view, pattern, spans);

	if (count < 0) {
		tare_fail(error, ENOMEM, "no memory for the phases: there are %zu",
		          recording->phase_count);
		return TARE_EXIT_FAILED;
	}
	if (count == 0)
		return refuse_phase(pattern, recording, view, error);
	view->phase = pattern;
	view->spans = *spans;
	view->span_count = (size_t)count;
	return TARE_EXIT_OK;
}

int tare_report_view_parse(const struct tare_settings *settings,
                           const struct tare_recording *recording, struct tare_view *view,
                           struct tare_run_span **spans, struct tare_error *error)
{
	int status;

	*spans = NULL;
	*view = tare_view_all(recording);
	view->kernel = settings->task;
	status = parse_times(settings, recording, view, error);
	if (status == TARE_EXIT_OK && settings->process)
		status = parse_process(settings->process, recording, view, error);
	if (status == TARE_EXIT_OK && settings->device)
		status = parse_device(settings->device, recording, view, error);
	if (status == TARE_EXIT_OK && settings->task)
		status = tare_kernel_pattern_check(settings->task, recording, error);
	if (status == TARE_EXIT_OK && settings->phase)
		status = parse_phase(settings->phase, recording, view, spans, error);
	return status;
}
