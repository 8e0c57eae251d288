// SPDX-License-Identifier: Apache-2.0
// Where the time went: the ledgers, the parts of the run, and what bounds it.
#include "report/core/ledger.h"
#include "report/core/table_text.h"
#include "report/run/tables.h"
#include "report/run/text_run.h"

#include <math.h>
#include <string.h>

static double share_of(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : NAN;
}

static void write_ledger(struct tare_text *text, const struct tare_report *run,
                         const struct tare_ledger *ledger)
{
	char name[RUN_TEXT], cut[RUN_TEXT];
	bool device = ledger->device < run->recording->device_count;
	double largest = 0;

	tare_report_heading(
	    text, "Where the time went",
	    tare_report_cut(
	        text,
	        device ? tare_report_device_name(run->recording, ledger->device, name, RUN_TEXT)
	        : tare_report_several_devices(run) ? "all devices together"
	                                           : "no device",
	        56, cut));
	for (size_t i = 0; i < run->ledgers->count; i++)
		largest = fmax(largest, tare_ledger_largest(&run->ledgers->ledgers[i]));
	tare_ledger_text(text, ledger, largest, text->options->verbosity > 0);
	if (text->options->verbosity > 0)
		tare_ledger_states_text(text, ledger);
}

// ---- the parts of the run

// Of a part what took this much of it is worth a word.
#define NAMED 0.02
// A tear-down that took this much of the run is worth saying what it went into.
#define SPLIT 0.05

static int64_t part_length(const struct tare_recording_part *part)
{
	return part->to_ns - part->from_ns;
}

// "Start-up went into building programs 24.6 s (79.1 %), queries 3.77 s (12.1 %), others 0.2 s (0.6
// %)."
static void write_went_into(struct tare_text *text, const struct tare_recording_part *part,
                            const char *title)
{
	char words[2048] = "", percent[RUN_TEXT], time[RUN_TEXT];
	int64_t left_ns = part_length(part), below_ns = INT64_MAX;
	size_t at = 0;

	for (;;) {
		enum tare_ledger_category most = TARE_LEDGER_CATEGORIES;
		for (enum tare_ledger_category c = 0; c < TARE_LEDGER_CATEGORIES; c++)
			if (part->parts_ns[c] < below_ns &&
			    (most == TARE_LEDGER_CATEGORIES ||
			     part->parts_ns[c] > part->parts_ns[most]))
				most = c;
		if (most == TARE_LEDGER_CATEGORIES ||
		    share_of(part->parts_ns[most], part_length(part)) < NAMED)
			break;
		// Equal ones are named together, or they would be lost.
		below_ns = part->parts_ns[most];
		for (enum tare_ledger_category c = most; c < TARE_LEDGER_CATEGORIES; c++) {
			if (part->parts_ns[c] != below_ns)
				continue;
			tare_report_percent(share_of(below_ns, part_length(part)), percent);
			at += (size_t)snprintf(words + at, sizeof words - at, "%s%s %s (%s)",
			                       at ? ", " : "", tare_recording_part_words(part, c),
			                       tare_report_span(below_ns, time), percent);
			left_ns -= below_ns;
		}
	}
	if (left_ns > 0) {
		tare_report_percent(share_of(left_ns, part_length(part)), percent);
		snprintf(words + at, sizeof words - at, "%sothers %s (%s)", at ? ", " : "",
		         tare_report_span(left_ns, time), percent);
	}
	tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3, "%s went into %s.", title, words);
}

static void write_parts(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_recorded_summary *summary = &run->tables->summary;

	tare_report_heading(text, "Parts of the run", "working: first enqueue to last completion");
	tare_table_text(text, &tare_run_parts_table, run,
	                &(struct tare_table_part){ .on = TARE_ON_TEXT, .bar_whole = 1 });
	if (share_of(part_length(&summary->parts[TARE_PART_START_UP]), summary->wall_ns) >= NAMED)
		write_went_into(text, &summary->parts[TARE_PART_START_UP], "Start-up");
	if (share_of(part_length(&summary->parts[TARE_PART_TEAR_DOWN]), summary->wall_ns) >= SPLIT)
		write_went_into(text, &summary->parts[TARE_PART_TEAR_DOWN], "Tear-down");
}

// The whole evidence follows the verdict, which alone is bold.
static void write_verdict(struct tare_text *text, const struct tare_recorded_summary *summary)
{
	if (!summary->verdict[0])
		return;
	fputc('\n', text->file);
	tare_text_paragraph(text, TARE_STYLE_BOLD, "", 0, "%s.", summary->verdict);
	if (summary->evidence[0])
		tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1, "%s.", summary->evidence);
}

void tare_report_text_ledgers(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_ledgers *ledgers = run->ledgers;
	size_t devices = 0;

	for (size_t i = 0; i < ledgers->count; i++)
		devices += ledgers->ledgers[i].device != TARE_NO_INDEX;
	for (size_t i = 0; i < ledgers->count && tare_report_devices_known(run); i++) {
		// The union of one device is that device.
		if (ledgers->ledgers[i].device == TARE_NO_INDEX && devices == 1)
			continue;
		write_ledger(text, run, &ledgers->ledgers[i]);
	}
	if (run->tables->summary.has_parts)
		write_parts(text, run);
	write_verdict(text, &run->tables->summary);
}
