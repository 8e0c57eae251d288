// SPDX-License-Identifier: Apache-2.0
// The report of a recorded run as JSON; report.schema.json describes it.
#include "report/run/json_run.h"

#include "report/core/words.h"
#include "report/run/report.h"

#include <errno.h>

#if !TARE_HAVE_JSON

int tare_report_run_json(const struct tare_report *run, FILE *file, struct tare_error *error)
{
	(void)run;
	(void)file;
	return tare_fail(error, ENOSYS, "this tare was built without JSON; build it with jansson");
}

#else

#include <math.h>

static void put_run(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	const struct tare_recording *recording = run->recording;
	json_t *trace = json_object();

	tare_json_put(json, root, "program",
	              recording->program && recording->program[0]
	                  ? tare_json_text(recording->program)
	                  : json_null());
	tare_json_put(json, root, "exit_status",
	              recording->exit_status < 0 ? json_null()
	                                         : json_integer(recording->exit_status));
	tare_json_put(json, root, "exit_signal",
	              recording->exit_signal <= 0 ? json_null()
	                                          : json_integer(recording->exit_signal));
	tare_json_put(json, trace, "name", tare_json_text(recording->name));
	tare_json_put(json, trace, "complete", json_boolean(recording->complete));
	tare_json_put(json, trace, "start_realtime_ns",
	              recording->start_realtime_ns ? json_integer(recording->start_realtime_ns)
	                                           : json_null());
	tare_json_put(json, trace, "run_ns", json_integer(recording->end_ns - recording->start_ns));
	tare_json_put(json, trace, "user_cpu_ns", tare_json_time(recording->user_cpu_ns));
	tare_json_put(json, trace, "system_cpu_ns", tare_json_time(recording->system_cpu_ns));
	tare_json_put(json, trace, "host_units",
	              recording->host_units ? json_integer(recording->host_units) : json_null());
	tare_json_put(json, root, "trace", trace);
}

static void put_others(struct tare_json *json, const struct tare_other_uses *others, json_t *root)
{
	json_t *list = json_array();

	for (enum tare_other_api api = 0; api < TARE_OTHER_APIS; api++) {
		const struct tare_other_use *use = &others->of[api];
		json_t *object;
		if (!use->seen)
			continue;
		object = json_object();
		tare_json_put(json, object, "api", tare_json_text(tare_other_name(api)));
		tare_json_put(json, object, "library", tare_json_text(use->library));
		tare_json_put(json, object, "seen",
		              tare_json_text(use->loaded ? TARE_OTHER_LOADED : TARE_OTHER_LINKED));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "other_apis", list);
}

static void put_view(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	const struct tare_recording *recording = run->recording;
	const struct tare_view *view = run->view;
	json_t *object = json_object();

	tare_json_put(json, object, "from_ns", json_integer(view->from_ns - recording->start_ns));
	tare_json_put(json, object, "to_ns", json_integer(view->to_ns - recording->start_ns));
	tare_json_put(json, object, "process", tare_json_index(view->process));
	tare_json_put(json, object, "device",
	              tare_json_index(tare_report_device_number(recording, view->device)));
	tare_json_put(json, object, "kernel", tare_json_text(view->kernel));
	tare_json_put(json, object, "phase", tare_json_text(view->phase));
	tare_json_put(json, object, "spans",
	              view->spans ? tare_json_unsigned(view->span_count) : json_null());
	tare_json_put(json, root, "view", object);
}

static void put_problems(struct tare_json *json, const struct tare_report_problems *problems,
                         json_t *root)
{
	json_t *list = json_array();

	for (size_t i = 0; i < problems->count; i++) {
		json_t *object = json_object();
		tare_json_put(json, object, "id", tare_json_text(problems->at[i].id));
		tare_json_put(json, object, "concerns_figures",
		              json_boolean(problems->at[i].figures));
		tare_json_put(json, object, "text", tare_json_text(problems->at[i].text));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "problems", list);
}

static json_t *since_start(const struct tare_recording *recording, int64_t ns)
{
	return tare_json_time(ns == TARE_NO_TIME ? ns : ns - recording->start_ns);
}

static json_t *went_into(struct tare_json *json, const struct tare_recording_part *part)
{
	json_t *list = json_array();

	for (enum tare_ledger_category c = 0; c < TARE_LEDGER_CATEGORIES; c++) {
		json_t *row;
		if (part->parts_ns[c] == 0)
			continue;
		row = json_object();
		tare_json_put(json, row, "category", tare_json_text(tare_ledger_category_name(c)));
		tare_json_put(json, row, "words",
		              tare_json_text(tare_recording_part_words(part, c)));
		tare_json_put(json, row, "ns", json_integer(part->parts_ns[c]));
		tare_json_push(json, list, row);
	}
	return list;
}

// Start-up, working part and tear-down; none of a part of the run.
static json_t *run_parts(struct tare_json *json, const struct tare_report *run)
{
	const struct tare_recorded_summary *summary = &run->tables->summary;
	json_t *list = json_array();

	for (enum tare_recording_part_of i = 0; i < TARE_PARTS && summary->has_parts; i++) {
		const struct tare_recording_part *part = &summary->parts[i];
		json_t *object = json_object();
		tare_json_put(json, object, "part", tare_json_text(tare_recording_part_name(i)));
		tare_json_put(json, object, "from_ns", since_start(run->recording, part->from_ns));
		tare_json_put(json, object, "to_ns", since_start(run->recording, part->to_ns));
		tare_json_put(json, object, "share",
		              tare_json_number((double)(part->to_ns - part->from_ns) /
		                               (double)summary->wall_ns));
		tare_json_put(json, object, "went_into", went_into(json, part));
		tare_json_push(json, list, object);
	}
	return list;
}

static void put_summary(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	const struct tare_recorded_summary *summary = &run->tables->summary;
	const struct {
		const char *key;
		double value;
	} shares[] = {
		{ "device_utilisation", summary->device_utilisation },
		{ "kernel_share", summary->kernel_share },
		{ "transfer_share", summary->transfer_share },
		{ "exposed_transfer_share", summary->exposed_transfer_share },
	};
	json_t *object = json_object(), *bounds = json_array();

	tare_json_put(json, object, "cpu_utilisation", tare_json_number(summary->cpu_utilisation));
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		tare_json_put(
		    json, object, shares[i].key,
		    tare_json_number(tare_report_nothing_timed(run) ? NAN : shares[i].value));
	tare_json_put(json, object, "launch_ns", json_integer(summary->launch_ns));
	tare_json_put(json, object, "mean_launch_ns", tare_json_number(summary->mean_launch_ns));
	tare_json_put(json, object, "working_from_ns",
	              since_start(run->recording, summary->working_from_ns));
	tare_json_put(json, object, "working_to_ns",
	              since_start(run->recording, summary->working_to_ns));
	tare_json_put(json, object, "parts", run_parts(json, run));
	tare_json_put(json, object, "bound", tare_json_text(tare_bound_name(summary->bound)));
	tare_json_put(json, object, "why_no_command",
	              tare_json_text(tare_no_command_name(summary->why_no_command)));
	for (enum tare_bound b = 0; b < TARE_BOUND_COUNT; b++) {
		json_t *part = json_object();
		tare_json_put(json, part, "bound", tare_json_text(tare_bound_name(b)));
		tare_json_put(json, part, "ns", json_integer(summary->bound_ns[b]));
		tare_json_push(json, bounds, part);
	}
	tare_json_put(json, object, "bounds", bounds);
	tare_json_put(json, object, "verdict", tare_json_text(summary->verdict));
	tare_json_put(json, object, "evidence", tare_json_text(summary->evidence));
	tare_json_put(json, root, "summary", object);
}

// ---- ledgers

static void put_ledgers(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	const struct tare_recording *recording = run->recording;
	json_t *list = json_array();

	for (size_t i = 0; i < run->ledgers->count && tare_report_devices_known(run); i++) {
		const struct tare_ledger *ledger = &run->ledgers->ledgers[i];
		bool device = ledger->device < recording->device_count;
		json_t *object = json_object();
		tare_json_put(json, object, "scope", tare_json_text(ledger->scope));
		tare_json_put(json, object, "name",
		              tare_json_text(device ? recording->devices[ledger->device].name
		                                    : ledger->name));
		tare_json_put(
		    json, object, "device_number",
		    tare_json_index(tare_report_device_number(recording, ledger->device)));
		tare_json_put_ledger(json, object, ledger);
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "ledgers", list);
}

// ---- the rest

static void put_cost(struct tare_json *json, const struct tare_coverage *coverage, json_t *object)
{
	const char *source = tare_cost_source_name(coverage->cost_source);

	tare_json_put(json, object, "driver_cost_ns", tare_json_time(coverage->driver_ns));
	tare_json_put(json, object, "driver_cost_low_ns", tare_json_time(coverage->driver_low_ns));
	tare_json_put(json, object, "driver_cost_high_ns",
	              tare_json_time(coverage->driver_high_ns));
	tare_json_put(json, object, "profiling_share", tare_json_number(coverage->profiling_share));
	tare_json_put(json, object, "cost_ns", tare_json_time(coverage->cost_ns));
	tare_json_put(json, object, "cost_low_ns", tare_json_time(coverage->cost_low_ns));
	tare_json_put(json, object, "cost_high_ns", tare_json_time(coverage->cost_high_ns));
	tare_json_put(json, object, "cost_share", tare_json_number(coverage->cost_share));
	tare_json_put(json, object, "cost_source", source ? json_string(source) : json_null());
	tare_json_put(json, object, "once_ns", json_integer(coverage->once_ns));
	tare_json_put(json, object, "contents_ns", json_integer(coverage->contents_ns));
	tare_json_put(json, object, "contents_whole",
	              json_integer((json_int_t)coverage->contents_whole));
	tare_json_put(json, object, "contents_sampled",
	              json_integer((json_int_t)coverage->contents_sampled));
	tare_json_put(json, object, "contents_not",
	              json_integer((json_int_t)coverage->contents_not));
}

static void put_coverage(struct tare_json *json, const struct tare_coverage *coverage, json_t *root)
{
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{ "enqueued", coverage->enqueued },
		{ "completed", coverage->completed },
		{ "unobserved", coverage->unobserved },
		{ "lost_commands", coverage->lost_commands },
		{ "dropped", coverage->dropped },
		{ "failed", coverage->failed },
		{ "never_flushed", coverage->never_flushed },
		{ "calls", coverage->calls },
		{ "passed_calls", coverage->passed_calls },
		{ "damaged_windows", coverage->damaged_windows },
		{ "unresolved", coverage->unresolved },
		{ "contradictions", coverage->contradictions },
	};
	json_t *object = json_object(), *reasons = json_object();

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		tare_json_put(json, object, counts[i].key, tare_json_unsigned(counts[i].value));
	for (uint32_t i = 0; i < TARE_UNOBSERVED_REASONS; i++)
		tare_json_put(json, reasons, tare_report_unobserved(i),
		              tare_json_unsigned(coverage->unobserved_by[i]));
	tare_json_put(json, object, "unobserved_by", reasons);
	tare_json_put(json, object, "stacks", tare_json_unsigned(coverage->stacks));
	tare_json_put(json, object, "stack_cost_ns", tare_json_number(coverage->stack_cost_ns));
	tare_json_put(json, object, "self_cost_ns", tare_json_time(coverage->self_cost_ns));
	tare_json_put(json, object, "self_cost_share", tare_json_number(coverage->self_cost_share));
	tare_json_put(json, object, "helper_cpu_ns", json_integer(coverage->helper_cpu_ns));
	tare_json_put(json, object, "stalled_ns", json_integer(coverage->stalled_ns));
	put_cost(json, coverage, object);
	tare_json_put(json, root, "coverage", object);
}

static void put_changes(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->recording->change_count; i++) {
		const struct tare_recorded_change *made = &run->recording->changes[i];
		json_t *object;
		if (!tare_view_has_process(run->view, made->process))
			continue;
		object = json_object();
		tare_json_put(json, object, "change",
		              tare_json_text(tare_report_change(made->change)));
		tare_json_put(json, object, "process", json_integer(made->process));
		tare_json_put(json, object, "count", tare_json_unsigned(made->count));
		tare_json_put(json, object, "commands", tare_json_unsigned(made->commands));
		if (made->change == TARE_CHANGE_LISTS)
			tare_json_put(json, object, "device_ns",
			              tare_json_unsigned(made->device_ns));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "changes", list);
}

static void put_environment(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->recording->variable_count; i++) {
		const struct tare_recorded_variable *variable = &run->recording->variables[i];
		json_t *object;
		if (!tare_view_has_process(run->view, variable->process))
			continue;
		object = json_object();
		tare_json_put(json, object, "process", json_integer(variable->process));
		tare_json_put(json, object, "text", tare_json_text(variable->text));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "environment", list);
}

static int build(struct tare_json *json, const struct tare_report *run,
                 const struct tare_report_problems *problems, json_t *root)
{
	json_t *tool = json_object();

	tare_json_put(json, root, "format", tare_json_text(TARE_REPORT_FORMAT));
	tare_json_put(json, tool, "name", tare_json_text("tare"));
	tare_json_put(json, tool, "version", tare_json_text(TARE_VERSION));
	tare_json_put(json, root, "tool", tool);
	put_run(json, run, root);
	tare_json_put(json, root, "wall_ns", json_integer(run->tables->summary.wall_ns));
	put_others(json, &run->recording->others, root);
	put_view(json, run, root);
	put_problems(json, problems, root);
	put_summary(json, run, root);
	put_ledgers(json, run, root);
	tare_json_put_findings(json, run, root);
	tare_json_put_tables(json, run, root);
	put_coverage(json, &run->tables->coverage, root);
	put_changes(json, run, root);
	put_environment(json, run, root);
	tare_json_put_clock(json, run, root);
	return json->failed ? -ENOMEM : 0;
}

int tare_report_run_json(const struct tare_report *run, FILE *file, struct tare_error *error)
{
	struct tare_json json = { false };
	struct tare_report_problems problems;
	json_t *root = json_object();
	int status = tare_report_problems_find(run, &problems);

	if (!root)
		status = -ENOMEM;
	if (status == 0)
		status = build(&json, run, &problems, root);
	if (status == 0)
		status = tare_json_layout(root, file);
	tare_report_problems_free(&problems);
	json_decref(root);
	return status < 0 ? tare_fail(error, ENOMEM, "no memory left for the report as JSON") : 0;
}

#endif
