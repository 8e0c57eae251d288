// SPDX-License-Identifier: Apache-2.0
// Runs the parts of a checkup one after the other, each on a run of its own.
#include "measure/checkup/internal.h"
#include "measure/core/telemetry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Kept back for each part that is still to come, as a share of the budget: buffers and kernels have
// to be made before it can measure.
#define SET_UP_SHARE 0.04
// What those before it have overspent takes no more than this share of what a part was promised, as
// long as the whole does not last longer than this.
#define PROMISE_KEPT 0.5
#define WHOLE_AT_MOST 1.15
// A part that is left with less than this share of the budget is not begun.
#define LEAST_SHARE 0.01

// ---- one part

// What is said of a part counts as said of the whole: which part, and what is left of the whole.
static void report_progress(void *context, const char *what, size_t cells, size_t total,
                            int64_t remaining_ns)
{
	struct checkup *checkup = context;
	struct tare_run *run = checkup->run;
	char text[160];

	(void)cells;
	(void)total;
	(void)remaining_ns;
	snprintf(text, sizeof text, "%s, %s", checkup->rows[checkup->row].command,
	         what ? what : "");
	// `devices` is done before the first.
	run->progress(run->progress_context, text, checkup->row + 1, checkup->count + 1,
	              tare_run_remaining_ns(run));
}

// What is left, less what the parts to come need to be set up, by shares; but see PROMISE_KEPT.
static int64_t budget_of(const struct checkup *checkup, size_t row)
{
	double budget_ns = (double)checkup->run->budget_ns, all = 0, rest = 0;
	double left_ns = budget_ns - (double)tare_host_elapsed_ns(checkup->run->started,
	                                                          tare_run_now(checkup->run));
	double share_ns, promised_ns, most_ns;

	for (size_t i = 0; i < checkup->count; i++) {
		all += checkup->rows[i].share;
		rest += i < row ? 0 : checkup->rows[i].share;
	}
	share_ns = (left_ns - SET_UP_SHARE * budget_ns * (double)(checkup->count - row - 1)) *
	           checkup->rows[row].share / rest;
	promised_ns = PROMISE_KEPT * budget_ns * checkup->rows[row].share / all;
	most_ns = left_ns + (WHOLE_AT_MOST - 1) * budget_ns;
	if (share_ns < promised_ns)
		share_ns = promised_ns < most_ns ? promised_ns : most_ns;
	return (int64_t)share_ns;
}

static void warn_cut(struct tare_result *part, const struct checkup_row *row)
{
	char action[64];

	if (!row->cut)
		return;
	snprintf(action, sizeof action, "tare %s measures it in full", row->command);
	tare_result_warn(part, "short-profile", action, "%s", row->cut);
}

// A part that is not here says why in the warnings of the whole.
static void warn_missing(struct checkup *checkup, const struct checkup_row *row, const char *why,
                         bool failed)
{
	char action[64];

	snprintf(action, sizeof action,
	         failed ? "tare %s alone may say more" : "tare %s measures it alone", row->command);
	tare_result_warn(checkup->run->result, "part-missing", action, "no %s: %s", row->command,
	                 why);
}

static bool ends_the_run(int status)
{
	return tare_device_is_gone(status) || status == -EINTR;
}

// Keeps a part that has something to show, and decides whether the others go on: 0, or the status
// with which the checkup ends. Takes over `part`.
static int settle(struct checkup *checkup, const struct checkup_row *row, struct tare_run *run,
                  int status, const struct tare_error *why, struct tare_error *error)
{
	struct tare_result *part = run->result;
	int ends = ends_the_run(status) ? status : 0;

	if (status == 0 || status == -EBADMSG || tare_run_is_partial(run, status)) {
		char command[64];
		snprintf(command, sizeof command, "tare %s", part->command);
		tare_result_name_options(part, command);
		warn_cut(part, row);
		tare_run_add_noise(checkup->run, run);
		tare_result_add_part(checkup->run->result, part);
	} else {
		warn_missing(checkup, row, why->message, true);
		tare_result_free(part);
	}
	if (status == -EBADMSG && !checkup->wrong.code) {
		checkup->wrong = *why;
		tare_error_prefix(&checkup->wrong, "%s", row->command);
	}
	if (tare_result_status(checkup->run->result) < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	if (ends < 0 && error)
		*error = *why;
	return ends;
}

static int measure_part(struct checkup *checkup, size_t index, struct tare_error *error)
{
	const struct checkup_row *row = &checkup->rows[index];
	struct tare_run *whole = checkup->run, run;
	struct tare_result *part;
	struct tare_error why = { 0 };
	int status;

	if (tare_run_interrupted(whole))
		return tare_fail(error, EINTR, "interrupted");
	run = (struct tare_run){
		.device = whole->device,
		.facts = whole->facts,
		.budget_ns = budget_of(checkup, index),
		.seed = whole->seed,
		.progress = whole->progress ? report_progress : NULL,
		.progress_context = checkup,
		.interrupted = whole->interrupted,
		.is_part = true,
	};
	checkup->row = index;
	if ((double)run.budget_ns < LEAST_SHARE * (double)whole->budget_ns) {
		warn_missing(checkup, row, "the budget was used up before its turn", false);
		return 0;
	}
	part = run.result = tare_result_new(row->command);
	if (!part || checkup_copy_device(part, &whole->result->devices[0]) < 0) {
		tare_result_free(part);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	status = row->measure(checkup, &run, &why);
	if (status == -EINTR)
		part->interrupted = true;
	return settle(checkup, row, &run, status, &why, error);
}

// ---- the whole

// The clock as the first part that used it found it.
static void copy_clock(struct tare_result *result)
{
	for (size_t i = 0; i < result->part_count; i++) {
		const struct tare_clock_quality *clock = &result->parts[i]->clock;
		if (!clock->present)
			continue;
		result->clock = *clock;
		result->clock.note = NULL;
		tare_result_set_text(result, &result->clock.note, clock->note);
		return;
	}
}

static int sum_up(struct checkup *checkup, int status, struct tare_error *error)
{
	struct tare_result *result = checkup->run->result;

	copy_clock(result);
	tare_telemetry_join(result);
	checkup_conclude(result, &checkup->peaks);
	if (status == -EINTR)
		result->interrupted = true;
	return tare_run_end(checkup->run, status, error);
}

int checkup_measure(struct tare_run *run, const struct checkup_row *rows, size_t count,
                    struct tare_error *error)
{
	struct checkup checkup = { .run = run, .rows = rows, .count = count };
	int status = tare_run_begin(run, TARE_CHECKUP_BUDGET_NS, error);

	if (status < 0)
		return status;
	status = checkup_add_devices(run);
	if (status < 0)
		return tare_fail(error, -status, "out of memory");
	for (size_t i = 0; status == 0 && i < count; i++)
		status = measure_part(&checkup, i, error);
	if (status < 0 && !ends_the_run(status))
		return status;
	status = sum_up(&checkup, status, error);
	if (status < 0 || !checkup.wrong.code)
		return status;
	if (error)
		*error = checkup.wrong;
	return -EBADMSG;
}
