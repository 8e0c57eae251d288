// SPDX-License-Identifier: Apache-2.0
// A measuring command on several devices: one after the other, then together.
#include "cli/commands/measure_command.h"

#include "backend/call.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/signals.h"
#include "measure/devices/devices.h"
#include "measure/several/several.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef int measure_function(struct tare_run *run, const void *context, struct tare_error *error);

struct member {
	const struct tare_selected *selected;
	const struct tare_backend *backend;
	struct tare_driver *driver; // shared by the devices of one API
	struct tare_device *device; // while it is being measured
	bool failed, lost;
};

struct session {
	const struct tare_settings *settings;
	struct tare_result *whole;
	struct tare_selection selection;
	struct member *members;
	struct tare_progress progress;
	struct tare_host_time started;
	size_t now, stages; // which is being measured, of how many
	uint64_t seed;
	bool simulated;           // all of them
	struct tare_error failed; // why the first one has failed or gave wrong data
};

static int fail_memory(struct tare_error *error)
{
	tare_fail(error, ENOMEM, "out of memory");
	return TARE_EXIT_FAILED;
}

// ---- opening and closing

static int open_member(struct session *session, size_t index, struct tare_error *error)
{
	struct member *member = &session->members[index];
	const char *script = member->selected->script;
	int status = 0;

	for (size_t i = 0; !member->driver && i < session->selection.count; i++) {
		const struct member *other = &session->members[i];
		const char *theirs = other->selected->script;
		if (other->driver && other->backend == member->backend &&
		    (script && theirs ? strcmp(script, theirs) == 0 : script == theirs))
			member->driver = other->driver;
	}
	if (!member->driver)
		status = member->backend->driver_open(script, &member->driver, error);
	if (status == 0)
		status = member->backend->device_open(member->driver, member->selected->index,
		                                      &member->device, error);
	return status;
}

static void close_member(struct member *member)
{
	member->lost = member->lost || (member->device && member->device->lost);
	if (member->device)
		tare_device_close(member->device);
	member->device = NULL;
}

// What a lost device left behind still points into its driver.
static void close_drivers(struct session *session)
{
	for (size_t i = 0; i < session->selection.count; i++) {
		struct tare_driver *driver = session->members[i].driver;
		bool lost = false, later = false;
		for (size_t k = 0; k < session->selection.count; k++) {
			bool same = session->members[k].driver == driver;
			lost = lost || (same && session->members[k].lost);
			later = later || (same && k > i);
		}
		if (driver && !later && !lost)
			driver->backend->driver_close(driver);
	}
}

static void session_close(struct session *session)
{
	for (size_t i = 0; session->members && i < session->selection.count; i++)
		close_member(&session->members[i]);
	if (session->members)
		close_drivers(session);
	free(session->members);
	tare_selection_clear(&session->selection);
	tare_result_free(session->whole);
}

// ---- what is common

static int64_t left_ns(const struct session *session)
{
	int64_t left =
	    session->settings->budget_ns - tare_host_elapsed_ns(session->started, tare_host_now());
	return left > 0 ? left : 1;
}

// Its share of what is left of --budget; 0 where none was given: the default of what it measures.
// Others may have taken longer than theirs: a quarter of an equal share is left to each.
static int64_t budget_of(const struct session *session)
{
	int64_t given = session->settings->budget_ns;
	int64_t share = left_ns(session) / (int64_t)(session->stages - session->now) + 1;
	int64_t least = given / (int64_t)(4 * session->stages) + 1;

	return given == 0 ? 0 : share > least ? share : least;
}

static void report_progress(void *context, const char *what, size_t cells, size_t total,
                            int64_t remaining_ns)
{
	struct session *session = context;
	char text[200];

	(void)cells;
	(void)total;
	snprintf(text, sizeof text, "%s, %s",
	         session->now < session->selection.count
	             ? session->members[session->now].selected->name
	             : "together",
	         what ? what : "");
	tare_progress_update(&session->progress, text, session->now, session->stages,
	                     session->settings->budget_ns ? left_ns(session) : remaining_ns);
}

// Says what is being measured, where the user left it open.
static void say_choice(const struct session *session)
{
	const struct tare_result *whole = session->whole;

	if (session->settings->verbosity < 0)
		return;
	fprintf(stderr, "tare: %s: measuring %zu devices:", whole->command, whole->device_count);
	for (size_t i = 0; i < whole->device_count; i++)
		fprintf(stderr, "%s %s (%s)", i ? "," : "",
		        whole->devices[i].facts.fact[TARE_FACT_NAME].text,
		        session->selection.at[i].name);
	fputc('\n', stderr);
	for (size_t i = 0; i < whole->conclusion_count; i++)
		fprintf(stderr, "tare: %s: %s\n", whole->command, whole->conclusions[i].text);
}

static int describe_whole(struct session *session, struct tare_error *error)
{
	struct tare_result *whole = session->whole;

	if (session->simulated)
		tare_result_set_timeless(whole);
	else
		tare_topology_of_host(&whole->host);
	tare_labels_set_text(&whole->parameters, "device", session->settings->device);
	tare_labels_set_number(&whole->parameters, "seed", (int64_t)session->seed);
	if (session->settings->budget_ns)
		tare_labels_set_number(&whole->parameters, "budget_ns",
		                       session->settings->budget_ns);
	return tare_result_status(whole) < 0 ? fail_memory(error) : TARE_EXIT_OK;
}

static int session_open(struct session *session, enum tare_need need, struct tare_error *error)
{
	struct tare_result *whole = session->whole =
	    tare_result_new(session->settings->command->name);
	int status = whole ? tare_devices_select(session->settings->device, need, whole,
	                                         &session->selection, error)
	                   : fail_memory(error);
	size_t count = session->selection.count;

	if (status != TARE_EXIT_OK)
		return status;
	session->members = calloc(count + 1, sizeof *session->members);
	if (!session->members)
		return fail_memory(error);
	session->simulated = true;
	for (size_t i = 0; i < count; i++) {
		session->members[i].selected = &session->selection.at[i];
		session->members[i].backend = tare_backend_find(whole->devices[i].backend);
		session->simulated =
		    session->simulated && strcmp(whole->devices[i].backend, "simulated") == 0;
	}
	session->seed = tare_choose_seed(session->settings, session->simulated);
	return describe_whole(session, error);
}

// ---- one after the other

// Remembers the first failure: it is what the command ends with.
static void note_failure(struct session *session, const char *name, const struct tare_error *why)
{
	if (session->failed.code)
		return;
	session->failed = *why;
	tare_error_prefix(&session->failed, "%s", name);
	if (!session->failed.code)
		session->failed.code = -EIO;
}

// Keeps a part that has something to show. Takes over the part. 0 or -ENOMEM.
static int settle(struct session *session, const struct tare_run *run, int status,
                  const struct tare_error *why)
{
	struct member *member = &session->members[session->now];
	const char *name = member->selected->name;
	struct tare_result *part = run->result;
	int kept = 0;

	part->interrupted = part->interrupted || status == -EINTR;
	if (status == 0 || status == -EBADMSG || tare_run_is_partial(run, status)) {
		char command[128];
		snprintf(command, sizeof command, "tare %s --device %.80s", session->whole->command,
		         name);
		tare_result_name_options(part, command);
		kept = tare_result_status(part);
		if (kept == 0)
			kept = tare_result_add_part(session->whole, part);
		else
			tare_result_free(part);
	} else {
		kept = tare_result_warn(session->whole, "device-missing",
		                        "the other devices were measured without it",
		                        "no figures of %s: %s", name, why->message);
		tare_result_free(part);
	}
	member->failed = status < 0 && status != -EBADMSG;
	if (status < 0 && status != -EINTR)
		note_failure(session, name, why);
	return kept;
}

static int measure_open(struct session *session, struct tare_run *run, measure_function *measure,
                        const void *context, struct tare_error *error)
{
	struct member *member = &session->members[session->now];
	struct tare_device_entry *entry = tare_result_add_device(run->result);
	int status = tare_device_describe(member->driver, member->selected->index, entry, error);

	if (status < 0)
		return status;
	entry->index = session->whole->devices[session->now].index;
	entry->number = session->whole->devices[session->now].number;
	status = tare_device_describe_open(member->device, entry, error);
	if (status < 0)
		return status;
	run->device = member->device;
	run->facts = &entry->facts;
	return measure(run, context, error);
}

// 0, -EINTR or -ENOMEM.
static int measure_one(struct session *session, measure_function *measure, const void *context,
                       struct tare_error *error)
{
	struct tare_error why = { 0 };
	struct tare_run run = {
		.result = tare_result_new(session->whole->command),
		.budget_ns = budget_of(session),
		.seed = session->seed,
		.progress = report_progress,
		.progress_context = session,
		.interrupted = &tare_interrupted,
	};
	int status, kept;

	if (!run.result)
		return tare_fail(error, ENOMEM, "out of memory");
	status = open_member(session, session->now, &why);
	status = status ?: measure_open(session, &run, measure, context, &why);
	close_member(&session->members[session->now]);
	kept = settle(session, &run, status, &why);
	if (kept < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	return status == -EINTR || tare_interrupted ? tare_fail(error, EINTR, "interrupted") : 0;
}

// ---- together

// Those that have figures, real and each once.
static size_t list_together(const struct session *session, size_t at[TARE_SEVERAL_MOST])
{
	const struct tare_result *whole = session->whole;
	size_t count = 0;

	for (size_t i = 0; i < session->selection.count && count < TARE_SEVERAL_MOST; i++) {
		bool listed = session->members[i].failed || session->members[i].lost ||
		              strcmp(whole->devices[i].backend, "simulated") == 0;
		for (size_t k = 0; k < count; k++)
			listed = listed || whole->devices[at[k]].number == whole->devices[i].number;
		if (!listed)
			at[count++] = i;
	}
	return count;
}

static int cannot_together(struct session *session)
{
	return tare_result_warn(session->whole, "not-together", NULL,
	                        session->simulated
	                            ? "simulated devices each have a time of their own: they "
	                              "cannot be measured together"
	                            : "fewer than two real devices are left to be measured "
	                              "together");
}

// 0, -EINTR, -EBADMSG or -ENOMEM.
static int measure_together(struct session *session, struct tare_error *error)
{
	struct tare_several_member members[TARE_SEVERAL_MOST];
	size_t at[TARE_SEVERAL_MOST], listed = list_together(session, at), count = 0;
	struct tare_run run = {
		.result = session->whole,
		.budget_ns = budget_of(session),
		.seed = session->seed,
		.progress = report_progress,
		.progress_context = session,
		.interrupted = &tare_interrupted,
	};

	for (size_t i = 0; i < listed; i++) {
		struct tare_error why = { 0 };
		const char *name = session->selection.at[at[i]].name;
		if (open_member(session, at[i], &why) == 0) {
			members[count++] = (struct tare_several_member){
				session->members[at[i]].device,
				name,
				&session->whole->devices[at[i]].facts,
			};
			continue;
		}
		note_failure(session, name, &why);
		if (tare_result_warn(session->whole, "device-left-out", NULL,
		                     "%s is not measured together with the others: %s", name,
		                     why.message) < 0)
			return tare_fail(error, ENOMEM, "out of memory");
	}
	if (count < 2)
		return cannot_together(session) < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
	return tare_measure_several(&run, members, count, error);
}

static int measure_all(struct session *session, measure_function *measure, const void *context,
                       struct tare_error *error)
{
	bool together =
	    strcmp(session->whole->command, "bandwidth") == 0 && session->selection.count > 1;
	int status = 0;

	session->started = tare_host_now();
	session->stages = session->selection.count + together;
	for (; status == 0 && session->now < session->selection.count; session->now++)
		status = measure_one(session, measure, context, error);
	if (status == 0 && together)
		status = measure_together(session, error);
	session->whole->interrupted = status == -EINTR;
	return status;
}

// ---- the end

static int conclude(struct session *session, int measured, struct tare_outputs *outputs,
                    struct tare_error *error)
{
	struct tare_error why = *error;
	int status;

	if (measured == -ENOMEM)
		return TARE_EXIT_FAILED;
	if (session->whole->part_count == 0) {
		if (measured != -EINTR)
			*error = session->failed;
		return measured == -EINTR ? TARE_EXIT_INTERRUPTED : TARE_EXIT_FAILED;
	}
	*error = (struct tare_error){ 0 };
	status = tare_report_all(session->settings, outputs, session->whole, error);
	if (status != TARE_EXIT_OK)
		return status;
	if (measured == -EINTR) {
		tare_fail(error, EINTR, "interrupted; what was measured until then is reported");
		return TARE_EXIT_INTERRUPTED;
	}
	if (session->failed.code)
		*error = session->failed;
	else if (measured < 0)
		*error = why;
	return session->failed.code || measured < 0 ? TARE_EXIT_FAILED : TARE_EXIT_OK;
}

// One device, and nothing else to say: its document is the ordinary one.
static bool is_alone(const struct session *session)
{
	return session->selection.count == 1 && session->whole->warning_count == 0;
}

static int measure_alone(const struct session *session, enum tare_need need,
                         measure_function *measure, const void *context, struct tare_error *error)
{
	const struct tare_selected *selected = &session->selection.at[0];
	struct tare_settings settings = *session->settings;
	char *device = NULL;
	int status;

	if (selected->script && asprintf(&device, "simulated:%s", selected->script) < 0)
		return fail_memory(error);
	settings.device = selected->script ? device : selected->name;
	status = tare_measure_one_command(&settings, need, measure, context, error);
	free(device);
	return status;
}

// A --device that means several: one document with a part a device, which each get
// their share of the budget; `bandwidth` measures them together as well. A device that fails is a
// warning in the document and makes the command fail, after everything has been written.
static int measure_several(const struct tare_settings *settings, enum tare_need need,
                           measure_function *measure, const void *context, struct tare_error *error)
{
	struct session session = { .settings = settings };
	struct tare_outputs outputs;
	int measured, status;

	if (settings->command->one_device)
		return tare_usage(error,
		                  "checkup measures one device at a time; --device %s means "
		                  "several: run it for each",
		                  settings->device);
	tare_signals_install(true);
	status = tare_outputs_open(settings, &outputs, error);
	if (status != TARE_EXIT_OK)
		return status;
	status = session_open(&session, need, error);
	if (status == TARE_EXIT_OK && is_alone(&session)) {
		tare_outputs_close(&outputs);
		status = measure_alone(&session, need, measure, context, error);
		session_close(&session);
		return status;
	}
	if (status == TARE_EXIT_OK) {
		say_choice(&session);
		tare_progress_start(&session.progress, settings->command->name,
		                    settings->verbosity >= 0);
		measured = measure_all(&session, measure, context, error);
		tare_progress_clear(&session.progress);
		status = conclude(&session, measured, &outputs, error);
	}
	session_close(&session);
	tare_outputs_close(&outputs);
	return status;
}

int tare_measure_command(const struct tare_settings *settings, enum tare_need need,
                         measure_function *measure, const void *context, struct tare_error *error)
{
	if (tare_devices_are_several(settings->device))
		return measure_several(settings, need, measure, context, error);
	return tare_measure_one_command(settings, need, measure, context, error);
}
