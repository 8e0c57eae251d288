// SPDX-License-Identifier: Apache-2.0
// What a reader must know before believing the figures of a recorded run.
#include "report/run/problems.h"

#include "report/core/words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of the wall time, or of the commands: less is not worth a line at the top.
#define WORTH_SAYING 0.01
// What profiling alone may take of the time before it is said.
#define DEAR_PROFILING 0.15

// ---- of the time

// What a reader can do so that more is recorded.
static const char *way_out(const struct tare_recorded_loss *loss,
                           const struct tare_recorded_process *process)
{
	switch (loss->why) {
	case TARE_LOSS_STOPPED:
		switch (process->stop_reason) {
		case TARE_TRACE_MAX_SIZE:
			return "its file reached --max-size; record with a larger one, or only a "
			       "part of the run with --delay and --duration";
		case TARE_TRACE_NO_SPACE:
			return "no space was left on the disk; record to another one with -o, or "
			       "only a part of the run with --duration";
		case TARE_TRACE_FILE_LIMIT:
			return "its file reached the process's limit; raise ulimit -f, or record "
			       "only a part of the run with --duration";
		default:
			return "the recording stopped; record only a part of the run with "
			       "--delay and --duration";
		}
	case TARE_LOSS_RECYCLED:
		return "newer records took the place of older ones (--keep newest); a larger "
		       "--max-size keeps more";
	case TARE_LOSS_INACTIVE:
		return "as --delay and --duration asked; tare report --from and --to choose "
		       "what was";
	case TARE_LOSS_NO_ROOM:
		return "records found no room";
	default:
		return "a process vanished: when it ended is not known";
	}
}

static int64_t seen_ns(const struct tare_view *view, const struct tare_recorded_loss *loss)
{
	return tare_view_overlap_ns(view, loss->from_ns, loss->to_ns);
}

// By the union of the devices; the longest loss in the view says why.
static void find_not_recorded(struct problem_finder *finder)
{
	const struct tare_recording *recording = finder->run->recording;
	const struct tare_ledgers *ledgers = finder->run->ledgers;
	const struct tare_view *view = finder->run->view;
	const struct tare_ledger *all =
	    ledgers->count ? &ledgers->ledgers[ledgers->count - 1] : NULL;
	const struct tare_recorded_loss *longest = NULL;

	if (!all ||
	    (double)all->parts_ns[TARE_LEDGER_NOT_RECORDED] <= WORTH_SAYING * (double)all->wall_ns)
		return;
	for (size_t i = 0; i < recording->loss_count; i++) {
		const struct tare_recorded_loss *loss = &recording->losses[i];
		if (loss->process < recording->process_count &&
		    tare_view_has_process(view, loss->process) &&
		    seen_ns(view, loss) > (longest ? seen_ns(view, longest) : 0))
			longest = loss;
	}
	problem_add(finder, "not-recorded", true, "%.1f %% of the time was not recorded%s%s",
	            100 * (double)all->parts_ns[TARE_LEDGER_NOT_RECORDED] / (double)all->wall_ns,
	            longest ? ": " : "",
	            longest ? way_out(longest, &recording->processes[longest->process]) : "");
}

// ---- of the commands

static bool any_command(const struct problem_finder *finder)
{
	const struct tare_coverage *coverage = &finder->run->tables->coverage;
	return coverage->enqueued > 0;
}

static bool was_strict(const struct problem_finder *finder)
{
	const struct tare_recording *recording = finder->run->recording;

	for (size_t i = 0; i < recording->process_count; i++)
		if (recording->processes[i].flags & TARE_TRACE_STRICT)
			return true;
	return false;
}

// Commands of a process that the recorder had no times for, because the program traces for itself.
static uint64_t count_left(const struct tare_recording *recording,
                           const struct tare_recorded_change *left)
{
	uint64_t count = 0;

	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		count += command->thread < recording->thread_count &&
		         recording->threads[command->thread].process == left->process &&
		         command->flags & TARE_COMMAND_NO_TIMES &&
		         command->enter_ns >= left->first_ns;
	}
	return count;
}

// Of all processes together, as far as they are in the view.
static uint64_t count_all_left(const struct problem_finder *finder)
{
	const struct tare_recording *recording = finder->run->recording;
	uint64_t count = 0;

	for (size_t i = 0; i < recording->change_count; i++)
		if (recording->changes[i].change == TARE_CHANGE_LEFT &&
		    tare_view_has_process(finder->run->view, recording->changes[i].process))
			count += count_left(recording, &recording->changes[i]);
	return count;
}

// " (1 ended with an error, 3 queue without profiling)"; nothing when no reason is known.
static const char *list_reasons(const struct problem_finder *finder, char *text, size_t size)
{
	const struct tare_coverage *coverage = &finder->run->tables->coverage;
	uint64_t left = count_all_left(finder);
	const char *separator = " (";
	size_t at = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < TARE_UNOBSERVED_REASONS; i++) {
		bool own = i == TARE_UNOBSERVED_NOT_ASKED && left >= coverage->unobserved_by[i];
		int length;
		if (coverage->unobserved_by[i] == 0)
			continue;
		length = snprintf(text + at, size - at, "%s%llu %s", separator,
		                  problem_number(coverage->unobserved_by[i]),
		                  own ? "traced by the program itself"
		                      : tare_report_unobserved_title(i));
		at += length < 0 ? 0 : (size_t)length;
		if (at + 2 > size)
			return text;
		separator = ", ";
	}
	if (at)
		snprintf(text + at, size - at, ")");
	return text;
}

// NULL: no process was recorded without CUPTI.
static const struct tare_recorded_change *front_of(const struct problem_finder *finder)
{
	const struct tare_recording *recording = finder->run->recording;

	for (size_t i = 0; i < recording->change_count; i++)
		if (recording->changes[i].change == TARE_CHANGE_FRONT &&
		    tare_view_has_process(finder->run->view, recording->changes[i].process))
			return &recording->changes[i];
	return NULL;
}

static void find_untimed(struct problem_finder *finder)
{
	const struct tare_coverage *coverage = &finder->run->tables->coverage;
	uint64_t unsampled = coverage->unobserved_by[TARE_UNOBSERVED_NOT_SAMPLED];
	uint64_t unprofiled = coverage->unobserved_by[TARE_UNOBSERVED_NOT_ASKED];
	const char *why = was_strict(finder) ? " (--strict changes none)" : "";
	if (!any_command(finder) || coverage->unobserved == 0 ||
	    (unprofiled >= coverage->unobserved && front_of(finder)) ||
	    (coverage->completed == 0 && unprofiled >= coverage->unobserved &&
	     count_all_left(finder) >= unprofiled))
		return; // said by find_front, by find_left
	if (coverage->completed > 0 && unsampled >= coverage->unobserved) {
		problem_add(
		    finder, "sampled", true,
		    "%llu of %llu commands have device times, a random sample from where they cost "
		    "more "
		    "than 5 %% of the run on; all are counted (--times all times every one)",
		    problem_number(coverage->completed), problem_number(coverage->enqueued));
	} else if (coverage->completed > 0) {
		bool many =
		    (double)coverage->unobserved > WORTH_SAYING * (double)coverage->enqueued;
		char reasons[400];
		problem_add(finder, "untimed", many, "%llu of %llu commands have no device times%s",
		            problem_number(coverage->unobserved),
		            problem_number(coverage->enqueued),
		            list_reasons(finder, reasons, sizeof reasons));
	} else if (unprofiled >= coverage->unobserved) {
		problem_add(
		    finder, "no-profiling", true,
		    "no device times: the queues have no profiling%s; %llu commands, host times "
		    "only",
		    why, problem_number(coverage->enqueued));
	} else if (coverage->unobserved_by[TARE_UNOBSERVED_UNLISTED] >= coverage->unobserved) {
		problem_add(
		    finder, "unlisted", true,
		    "no device times: %llu commands were run by lists or graphs that were filled "
		    "while nothing was recorded, or are longer than is read; record from the "
		    "program's start",
		    problem_number(coverage->enqueued));
	} else if (coverage->never_flushed >= coverage->unobserved) {
		problem_add(
		    finder, "never-flushed", true,
		    "%llu enqueued, 0 completed: nothing was flushed or waited for, so that no "
		    "device "
		    "had to start; no device times, host times only",
		    problem_number(coverage->enqueued));
	} else {
		problem_add(
		    finder, "nothing-completed", true,
		    "%llu enqueued, 0 completed as far as was seen; no device times, host times "
		    "only",
		    problem_number(coverage->enqueued));
	}
}

// Profiling is fixed when a queue is made: no sample makes it cheaper.
static void find_profiling(struct problem_finder *finder)
{
	double share = finder->run->tables->coverage.profiling_share;

	if (share > DEAR_PROFILING)
		problem_add(
		    finder, "profiling-cost", true,
		    "profiling alone, which recording switched on, took about %.0f %% of the time "
		    "in this "
		    "driver; tare record --times none leaves it off and counts",
		    100 * share);
}

static void find_losses(struct problem_finder *finder)
{
	const struct tare_recording *recording = finder->run->recording;
	uint64_t lost = 0, lost_commands = 0, recycled = 0, recycled_commands = 0;

	for (size_t i = 0; i < recording->process_count; i++) {
		const struct tare_recorded_process *process = &recording->processes[i];
		if (!tare_view_has_process(finder->run->view, (uint32_t)i))
			continue;
		lost += process->lost_records;
		lost_commands += process->lost_commands;
		recycled += process->recycled_records;
		recycled_commands += process->recycled_commands;
	}
	if (lost)
		problem_add(
		    finder, "lost", true,
		    "%llu record%s found no room and are missing, %llu of them commands: totals "
		    "are "
		    "too small",
		    problem_number(lost), problem_plural(lost), problem_number(lost_commands));
	if (recycled)
		problem_add(
		    finder, "recycled", true,
		    "%llu older record%s made room for newer ones (--keep newest), %llu of them "
		    "commands: totals are of what is left",
		    problem_number(recycled), problem_plural(recycled),
		    problem_number(recycled_commands));
}

// ---- of the clocks

static void find_clocks(struct problem_finder *finder)
{
	const struct tare_recording *recording = finder->run->recording;
	uint64_t contradictions = finder->run->tables->coverage.contradictions;
	char name[160];

	for (size_t i = 0; i < recording->device_count; i++) {
		const struct tare_recorded_device *device = &recording->devices[i];
		bool used = false;
		for (size_t q = 0; q < recording->queue_count; q++)
			used |= recording->queues[q].device == i;
		if (!used || device->clock_source != TARE_CLOCK_NONE ||
		    finder->run->tables->coverage.completed == 0 ||
		    !tare_view_has_device(recording, finder->run->view, (uint32_t)i))
			continue;
		problem_add(
		    finder, "no-clock", true,
		    "the stamps of %s could not be put on the host's clock: its times are missing",
		    tare_report_device_name(recording, (uint32_t)i, name, sizeof name));
		break;
	}
	if (contradictions)
		problem_add(
		    finder, "contradictions", true,
		    "%llu command%s: the device's times contradict the calls by more than the "
		    "clock's "
		    "error (started before it was enqueued, or ended after it was waited for)",
		    problem_number(contradictions), problem_plural(contradictions));
}

// Devices that two APIs show: what made them one, or that it is not known whether they are.
static void find_of_two_apis(struct problem_finder *finder)
{
	static const char *const by[] = {
		[TARE_SAME_BY_UUID] = "they tell the same UUID",
		[TARE_SAME_BY_PCI] = "they tell the same place on the bus",
		[TARE_SAME_BY_NAME] = "each has one device of that name, and no UUID or place says "
		                      "otherwise"
	};
	const struct tare_recording *recording = finder->run->recording;
	char name[160], other[160];

	for (uint32_t i = 0; i < recording->device_count; i++) {
		const struct tare_recorded_device *device = &recording->devices[i];
		uint32_t same_by = tare_report_joined_by(recording, i);
		if (device->same_as != i || !tare_view_has_device(recording, finder->run->view, i))
			continue;
		if (same_by != TARE_SAME_BY_NOTHING)
			problem_add(finder, "one-device", false,
			            "%s is one device for the APIs that show it: %s",
			            tare_report_device_name(recording, i, name, sizeof name),
			            by[same_by]);
		if (device->maybe_same)
			problem_add(
			    finder, "two-devices", false,
			    "two devices? %s and %s may be one: the APIs do not both tell a UUID "
			    "or a "
			    "place on the bus, and the names do not say; they have a ledger each",
			    tare_report_device_name(recording, device->maybe_same - 1, other,
			                            sizeof other),
			    tare_report_device_name(recording, i, name, sizeof name));
	}
}

static void find_in_ledgers(struct problem_finder *finder)
{
	const struct tare_ledgers *ledgers = finder->run->ledgers;
	char name[160];

	for (size_t i = 0; i < ledgers->count; i++) {
		const struct tare_ledger *ledger = &ledgers->ledgers[i];
		double unknown = (double)ledger->parts_ns[TARE_LEDGER_UNKNOWN];
		if (ledger->wall_ns > 0 && unknown > WORTH_SAYING * (double)ledger->wall_ns) {
			problem_add(finder, "unknown-time", true,
			            "%.1f %% of the time of %s is not known",
			            100 * unknown / (double)ledger->wall_ns,
			            ledger->device < finder->run->recording->device_count
			                ? tare_report_device_name(finder->run->recording,
			                                          ledger->device, name, sizeof name)
			                : "the run");
			break;
		}
	}
}

static bool is_part(const struct tare_report *run)
{
	const struct tare_view *view = run->view;

	return view->process != TARE_NO_INDEX || view->device != TARE_NO_INDEX || view->kernel ||
	       view->spans || view->from_ns > run->recording->start_ns ||
	       view->to_ns < run->recording->end_ns;
}

static void find_nothing(struct problem_finder *finder)
{
	const struct tare_recording *recording = finder->run->recording;
	const struct tare_coverage *coverage = &finder->run->tables->coverage;
	enum tare_no_command why = finder->run->tables->summary.why_no_command;

	// The verdict says it, or what is wrong with the files.
	if (why == TARE_NO_COMMAND_OTHER_API ||
	    (why == TARE_NO_COMMAND_DAMAGED && recording->process_count == 0))
		return;
	if (recording->process_count == 0 && recording->layer &&
	    strcmp(recording->layer, TARE_LAYER_LOADED) == 0)
		problem_add(finder, "nothing-recorded", true,
		            "the program was recorded, but its traces are gone: no file of the "
		            "folder ends in .trace");
	else if (recording->process_count == 0)
		problem_add(finder, "nothing-recorded", true, "no process was recorded: %.400s",
		            recording->layer && recording->layer[0] ? recording->layer
		                                                    : "the trace does not say why");
	else if (recording->call_count == 0 && recording->command_count == 0 &&
	         recording->phase_count > 0)
		problem_add(finder, "no-calls", true, "%.300s",
		            recording->layer && recording->layer[0]
		                ? recording->layer
		                : "only phases were recorded, no call");
	else if (coverage->calls == 0 && coverage->enqueued == 0)
		problem_add(finder, "no-calls", true,
		            "nothing to report: no call and no command was recorded%s",
		            is_part(finder->run) ? " in what was asked for"
		            : why == TARE_NO_COMMAND_STOPPED || why == TARE_NO_COMMAND_DAMAGED
		                ? ", as far as is known"
		                : "; the recorder was loaded");
}

static void find_lesser(struct problem_finder *finder)
{
	const struct tare_coverage *coverage = &finder->run->tables->coverage;

	if (coverage->failed)
		problem_add(finder, "failed", false,
		            "%llu enqueue%s refused by the API: nothing was enqueued",
		            problem_number(coverage->failed),
		            coverage->failed == 1 ? " was" : "s were");
	if (coverage->unresolved)
		problem_add(finder, "unresolved", false,
		            "%llu record%s an object, a queue or an event that was not found",
		            problem_number(coverage->unresolved),
		            coverage->unresolved == 1 ? " names" : "s name");
	if (coverage->passed_calls)
		problem_add(finder, "passed", false,
		            "%llu call%s of functions that are not recorded: passed on, not timed",
		            problem_number(coverage->passed_calls),
		            problem_plural(coverage->passed_calls));
	if (tare_symbols_problem(finder->run->symbols))
		problem_add(finder, "call-sites", false, "%.400s",
		            tare_symbols_problem(finder->run->symbols));
}

static void find_left(struct problem_finder *finder)
{
	const struct tare_recording *recording = finder->run->recording;

	for (size_t i = 0; i < recording->change_count; i++) {
		const struct tare_recorded_change *left = &recording->changes[i];
		uint64_t count;
		if (left->change != TARE_CHANGE_LEFT ||
		    !tare_view_has_process(finder->run->view, left->process))
			continue;
		count = count_left(recording, left);
		problem_add(
		    finder, "left", count > 0,
		    "process %llu traces its own work with CUPTI: from %.3f s on, the device times "
		    "of %llu command%s are "
		    "not known",
		    problem_number(recording->processes[left->process].pid),
		    (double)(left->first_ns - recording->start_ns) / 1e9, problem_number(count),
		    problem_plural(count));
	}
}

// One sentence, of the processes together.
static void find_front(struct problem_finder *finder)
{
	static const char *const why[] = {
		[TARE_FRONT_NO_CUPTI] =
		    ("CUPTI (libcupti.so), which times them, was not found: the CUDA toolkit and "
		     "Python's "
		     "nvidia-cuda-cupti have it, and $TARE_CUPTI_LIBRARY can name it"),
		[TARE_FRONT_NOT_WANTED] = "they were recorded without CUPTI, as --no-cupti asks",
		[TARE_FRONT_CUPTI_TAKEN] = "another tool in the process held CUPTI, which times "
		                           "them: record without that tool",
	};
	const struct tare_recorded_change *front = front_of(finder);

	if (front)
		problem_add(finder, "no-cupti", true, "no device times of CUDA commands: %s",
		            why[front->why]);
}

// ---- the environment

// The number that a variable is set to in a process of the view; 0: it is not set.
static long variable_of(const struct tare_report *run, const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < run->recording->variable_count; i++) {
		const struct tare_recorded_variable *variable = &run->recording->variables[i];
		if (tare_view_has_process(run->view, variable->process) &&
		    strncmp(variable->text, name, length) == 0 && variable->text[length] == '=')
			return strtol(variable->text + length + 1, NULL, 10);
	}
	return 0;
}

// CUDA's streams of one process that had commands: the most of any process.
static uint64_t most_streams(struct problem_finder *finder)
{
	const struct tare_recording *recording = finder->run->recording;
	bool *used = calloc(recording->queue_count + 1, sizeof *used);
	uint64_t *of = calloc(recording->process_count + 1, sizeof *of), most = 0;
	finder->failed |= !used || !of;
	for (size_t i = 0; i < recording->command_count && used && of; i++)
		if (TARE_COMMAND(recording, i)->queue < recording->queue_count)
			used[TARE_COMMAND(recording, i)->queue] = true;
	for (size_t i = 0; i < recording->queue_count && used && of; i++) {
		const struct tare_recorded_queue *queue = &recording->queues[i];
		if (used[i] && queue->api == TARE_TRACE_CUDA &&
		    queue->process < recording->process_count &&
		    tare_view_has_process(finder->run->view, queue->process) &&
		    ++of[queue->process] > most)
			most = of[queue->process];
	}
	free(used);
	free(of);
	return most;
}

// What the user has set that keeps streams from running beside each other.
static void find_environment(struct problem_finder *finder)
{
	long blocking = variable_of(finder->run, "CUDA_LAUNCH_BLOCKING");
	long connections = variable_of(finder->run, "CUDA_DEVICE_MAX_CONNECTIONS");
	uint64_t streams = blocking || connections > 0 ? most_streams(finder) : 0;

	if (blocking && streams > 1)
		problem_add(
		    finder, "launch-blocking", false,
		    "CUDA_LAUNCH_BLOCKING is set: each launch waits for its kernel, so that "
		    "kernels "
		    "of one thread do not run beside each other, though it has up to %llu streams",
		    problem_number(streams));
	if (connections > 0 && streams > (uint64_t)connections)
		problem_add(
		    finder, "few-connections", false,
		    "CUDA_DEVICE_MAX_CONNECTIONS is %ld: %llu streams share %s, and one may wait "
		    "for "
		    "another's work that it does not depend on",
		    connections, problem_number(streams),
		    connections == 1 ? "one connection" : "these connections");
}

int tare_report_problems_find(const struct tare_report *run, struct tare_report_problems *problems)
{
	struct problem_finder finder = { .run = run, .problems = problems };
	const struct tare_recording *recording = run->recording;

	*problems = (struct tare_report_problems){ 0 };
	find_nothing(&finder);
	if (recording->problem)
		problem_add(&finder, "folder", true, "%.400s", recording->problem);
	problems_find_processes(&finder);
	if (!recording->complete && recording->process_count > 0) {
		bool running = false;
		for (size_t i = 0; i < recording->process_count; i++)
			running |= recording->processes[i].state == TARE_TRACE_RECORDING;
		if (!running)
			problem_add(
			    &finder, "not-complete", false,
			    "the trace does not say that the program has ended: more may come");
	}
	find_not_recorded(&finder);
	find_front(&finder);
	find_untimed(&finder);
	find_profiling(&finder);
	find_left(&finder);
	find_losses(&finder);
	find_clocks(&finder);
	find_in_ledgers(&finder);
	find_of_two_apis(&finder);
	find_lesser(&finder);
	find_environment(&finder);
	return finder.failed ? -ENOMEM : 0;
}

void tare_report_problems_free(struct tare_report_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		free(problems->at[i].text);
	free(problems->at);
	*problems = (struct tare_report_problems){ 0 };
}
