// SPDX-License-Identifier: Apache-2.0
// A run in time: start-up, working part, tear-down, and what each went into.
#include "analysis/ledger/internal.h"
#include "analysis/tables/internal.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

const char *tare_recording_part_name(enum tare_recording_part_of part)
{
	static const char *const names[TARE_PARTS] = {
		[TARE_PART_START_UP] = "start_up",
		[TARE_PART_WORKING] = "working",
		[TARE_PART_TEAR_DOWN] = "tear_down",
	};
	return (unsigned)part < TARE_PARTS ? names[part] : "unknown";
}

const char *tare_recording_part_words(const struct tare_recording_part *part,
                                      enum tare_ledger_category category)
{
	static const char *const words[TARE_LEDGER_CATEGORIES] = {
		[TARE_LEDGER_KERNEL] = "kernels",
		[TARE_LEDGER_TO_DEVICE] = "transfers to the device",
		[TARE_LEDGER_FROM_DEVICE] = "transfers to the host",
		[TARE_LEDGER_BOTH_WAYS] = "transfers both ways",
		[TARE_LEDGER_LOCAL] = "copies and fills on the device",
		[TARE_LEDGER_BEFORE_FIRST] = "what the program did before its first API call",
		[TARE_LEDGER_BUILD] = "building programs",
		[TARE_LEDGER_LOAD] = "loading kernels",
		[TARE_LEDGER_ALLOCATE] = "allocating and freeing memory",
		[TARE_LEDGER_BLOCKING_COPY] = "blocking copies",
		[TARE_LEDGER_WAIT] = "waits",
		[TARE_LEDGER_API] = "other API calls (devices, contexts, queues)",
		[TARE_LEDGER_RELEASE] = "releasing objects",
		[TARE_LEDGER_QUERY] = "queries",
		[TARE_LEDGER_COMPUTING] = "computing on the host",
		[TARE_LEDGER_OFF_CPU] = "the host off the CPU",
		[TARE_LEDGER_HELD] = "commands not submitted",
		[TARE_LEDGER_DEPENDENCY] = "commands waiting for others",
		[TARE_LEDGER_DISPATCH] = "commands not started",
		[TARE_LEDGER_ENDED] = "the time after the program's end",
		[TARE_LEDGER_UNTIMED] = "commands without times",
		[TARE_LEDGER_NOT_RECORDED] = "time that was not recorded",
		[TARE_LEDGER_UNKNOWN] = "what is not known",
	};
	if (part && category == TARE_LEDGER_OFF_CPU &&
	    part->off_cpu_beside_builds_ns > part->parts_ns[TARE_LEDGER_OFF_CPU] / 2)
		return "the host off the CPU, most of that while other threads build programs";
	return (unsigned)category < TARE_LEDGER_CATEGORIES ? words[category] : "unknown";
}

const struct tare_ledger *tables_union_of(const struct tare_ledgers *ledgers)
{
	const struct tare_ledger *last =
	    ledgers->count > 0 ? &ledgers->ledgers[ledgers->count - 1] : NULL;
	return last && last->device == TARE_NO_INDEX ? last : NULL;
}

bool tables_is_whole_run(const struct tables_context *context)
{
	const struct tare_view *view = context->view;
	return view->from_ns <= context->recording->start_ns &&
	       view->to_ns >= context->recording->end_ns && !view->spans &&
	       view->process == TARE_NO_INDEX && view->device == TARE_NO_INDEX && !view->kernel;
}

// Where the time off the CPU and that in which some thread builds are together more than the part,
// they lie at the same time by at least the rest.
static int find_beside_builds(const struct tables_context *context,
                              struct tare_recording_part *part)
{
	const struct tare_recording *recording = context->recording;
	int64_t off_ns = part->parts_ns[TARE_LEDGER_OFF_CPU], both_ns;
	size_t count = 0;
	if (off_ns == 0)
		return 0;
	TARE_FREE struct tables_span *builds = calloc(recording->call_count + 1, sizeof *builds);
	if (!builds)
		return -ENOMEM;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		struct tables_span span = {
			call->enter_ns > part->from_ns ? call->enter_ns : part->from_ns,
			call->exit_ns < part->to_ns ? call->exit_ns : part->to_ns,
		};
		if (call->role == TARE_ROLE_BUILD && span.from < span.to &&
		    tables_has_call(context, call))
			builds[count++] = span;
	}
	tables_sort(builds, count);
	both_ns = off_ns + tables_union(builds, count) - (part->to_ns - part->from_ns);
	part->off_cpu_beside_builds_ns = both_ns > 0 ? both_ns : 0;
	return 0;
}

int tables_run_parts(const struct tables_context *context, struct tare_recorded_summary *summary)
{
	const struct tare_view *view = context->view;
	const int64_t borders_ns[TARE_PARTS + 1] = { view->from_ns, summary->working_from_ns,
		                                     summary->working_to_ns, view->to_ns };
	struct ledger_mark marks[2 * TARE_PARTS];
	struct tare_ledger ledgers[TARE_PARTS] = { 0 };
	if (!tables_is_whole_run(context))
		return 0;
	for (uint32_t i = 0; i < TARE_PARTS; i++) {
		marks[2 * i] = (struct ledger_mark){ borders_ns[i], i, true };
		marks[2 * i + 1] = (struct ledger_mark){ borders_ns[i + 1], i, false };
	}
	const struct ledger_rows rows = { marks, 2 * TARE_PARTS, ledgers };
	int code = ledger_of_rows(context->recording, view, &rows, TARE_PARTS);
	if (code)
		return code;
	for (uint32_t i = 0; i < TARE_PARTS && !code; i++) {
		struct tare_recording_part *part = &summary->parts[i];
		part->from_ns = borders_ns[i];
		part->to_ns = borders_ns[i + 1];
		memcpy(part->parts_ns, ledgers[i].parts_ns, sizeof part->parts_ns);
		code = find_beside_builds(context, part);
	}
	summary->has_parts = !code;
	return code;
}
