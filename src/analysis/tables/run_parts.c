// SPDX-License-Identifier: Apache-2.0
// A run in time: start-up, working part, tear-down, and what each went into.
#include "analysis/ledger/internal.h"
#include "analysis/tables/internal.h"

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

const char *tare_recording_part_words(enum tare_ledger_category category)
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
	return (unsigned)category < TARE_LEDGER_CATEGORIES ? words[category] : "unknown";
}

// What lies before the first command of a part of the run, of one device or of one process is no
// start-up.
static bool is_whole_run(const struct tables_context *context)
{
	const struct tare_view *view = context->view;
	return view->from_ns <= context->recording->start_ns &&
	       view->to_ns >= context->recording->end_ns && !view->spans &&
	       view->process == TARE_NO_INDEX && view->device == TARE_NO_INDEX && !view->kernel;
}

int tables_run_parts(const struct tables_context *context, struct tare_recorded_summary *summary)
{
	const struct tare_view *view = context->view;
	const int64_t borders_ns[TARE_PARTS + 1] = { view->from_ns, summary->working_from_ns,
		                                     summary->working_to_ns, view->to_ns };
	struct ledger_mark marks[2 * TARE_PARTS];
	struct tare_ledger ledgers[TARE_PARTS] = { 0 };
	if (!is_whole_run(context))
		return 0;
	for (uint32_t i = 0; i < TARE_PARTS; i++) {
		marks[2 * i] = (struct ledger_mark){ borders_ns[i], i, true };
		marks[2 * i + 1] = (struct ledger_mark){ borders_ns[i + 1], i, false };
	}
	const struct ledger_rows rows = { marks, 2 * TARE_PARTS, ledgers };
	int code = ledger_of_rows(context->recording, view, &rows, TARE_PARTS);
	if (code)
		return code;
	for (uint32_t i = 0; i < TARE_PARTS; i++) {
		struct tare_recording_part *part = &summary->parts[i];
		part->from_ns = borders_ns[i];
		part->to_ns = borders_ns[i + 1];
		memcpy(part->parts_ns, ledgers[i].parts_ns, sizeof part->parts_ns);
	}
	summary->has_parts = true;
	return 0;
}
