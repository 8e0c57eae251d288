// SPDX-License-Identifier: Apache-2.0
// Where the time went: the ledgers with bars, the matrix, and what bounds the run.
#include "report/run/text_run.h"

#include <math.h>
#include <string.h>

#define BAR 60 // columns of a bar at most

// Below this part of the wall, time near the boundaries is not worth a line.
#define AMBIGUOUS 0.001

// A bar of `share` of `columns`, to an eighth of a column.
static const char *write_bar(struct tare_text *text, double share, size_t columns,
                             char buffer[BAR * 3 + 4])
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	long eighths = lround(share * (double)columns * 8);
	char *to = buffer;

	buffer[0] = '\0';
	if (!(share > 0) || eighths < 0)
		return buffer;
	eighths = eighths > (long)columns * 8 ? (long)columns * 8 : eighths;
	for (long i = 0; i < eighths / 8; i++)
		to = stpcpy(to, text->options->ascii ? "#" : "█");
	if (eighths % 8)
		stpcpy(to, !text->options->ascii ? parts[eighths % 8]
		           : eighths % 8 >= 4    ? "#"
		                                 : "-");
	return buffer;
}

// As many decimals as show four digits of the wall time, the same in all rows.
static const char *write_part(int64_t ns, int64_t wall_ns, char buffer[RUN_TEXT])
{
	struct tare_report_unit unit = tare_report_unit_for((double)wall_ns);
	double wall = (double)wall_ns / unit.ns, value = (double)ns / unit.ns;
	int decimals = wall >= 999.5 ? 0 : wall >= 99.95 ? 1 : wall >= 9.995 ? 2 : 3;

	// What would come out as 0 keeps its own unit.
	if (ns > 0 && value < 0.5 * pow(10, -decimals))
		tare_report_span(ns, buffer);
	else
		snprintf(buffer, RUN_TEXT, "%.*f %s", decimals, value, unit.name);
	return buffer;
}

static double share_of(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : NAN;
}

// The largest part of any ledger, which has the longest bar.
static double largest_share(const struct tare_ledgers *ledgers)
{
	double largest = 0;

	for (size_t i = 0; i < ledgers->count; i++)
		for (enum tare_ledger_category c = 0; c < TARE_LEDGER_CATEGORIES; c++)
			largest = fmax(largest, share_of(ledgers->ledgers[i].parts_ns[c],
			                                 ledgers->ledgers[i].wall_ns));
	return largest;
}

static void write_categories(struct tare_text *text, const struct tare_ledger *ledger,
                             double largest, bool all)
{
	struct tare_text_table *table = tare_text_table_new(text, 2);
	size_t columns = text->options->columns, longest = 0, room;
	char percent[RUN_TEXT], part[RUN_TEXT], bar[BAR * 3 + 4];

	for (enum tare_ledger_category c = 0; c < TARE_LEDGER_CATEGORIES; c++) {
		size_t width = tare_text_width(tare_ledger_category_title(c));
		if (ledger->parts_ns[c] > 0 && width > longest)
			longest = width;
	}
	room = columns > longest + 22 ? columns - longest - 22 : 0;
	room = room > BAR ? BAR : room;
	tare_text_column(table, "", TARE_COLUMN_CUT);
	tare_text_column(table, "", TARE_COLUMN_RIGHT);
	tare_text_column(table, "", TARE_COLUMN_RIGHT);
	tare_text_column(table, "", 0);
	for (enum tare_ledger_category c = 0; c < TARE_LEDGER_CATEGORIES; c++) {
		double share = share_of(ledger->parts_ns[c], ledger->wall_ns);
		if (ledger->parts_ns[c] == 0 && !all)
			continue;
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", tare_ledger_category_title(c));
		tare_text_cell(table, "%s", tare_report_percent(share, percent));
		tare_text_cell(table, "%s", write_part(ledger->parts_ns[c], ledger->wall_ns, part));
		tare_text_cell(table, "%s", write_bar(text, share / largest, room, bar));
	}
	tare_text_table_print(table);
}

static void write_remarks(struct tare_text *text, const struct tare_ledger *ledger)
{
	char to[RUN_TEXT], from[RUN_TEXT], all[RUN_TEXT], ambiguous[RUN_TEXT];
	int64_t hidden = ledger->hidden_to_device_ns + ledger->hidden_from_device_ns;

	if (hidden > 0)
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3,
		    "(%s of transfers were hidden behind kernels: %s to the device, %s to the "
		    "host)",
		    write_part(hidden, ledger->wall_ns, all),
		    write_part(ledger->hidden_to_device_ns, ledger->wall_ns, to),
		    write_part(ledger->hidden_from_device_ns, ledger->wall_ns, from));
	if (ledger->ambiguous_ns > 0 &&
	    (text->options->verbosity > 0 ||
	     share_of(ledger->ambiguous_ns, ledger->wall_ns) > AMBIGUOUS))
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3,
		    "(%s lie so near to a boundary that the clocks' error may put them on its "
		    "other "
		    "side)",
		    write_part(ledger->ambiguous_ns, ledger->wall_ns, ambiguous));
}

void tare_report_text_ledger_of(struct tare_text *text, const struct tare_ledger *ledger,
                                double largest, bool all)
{
	write_categories(text, ledger, largest, all);

	write_remarks(text, ledger);
}

// ---- the matrix

static const char *const host_titles[TARE_HOST_STATES] = {
	[TARE_HOST_BEFORE_FIRST] = "before the first call",
	[TARE_HOST_BUILD] = "building",
	[TARE_HOST_LOAD] = "loading",
	[TARE_HOST_ALLOCATE] = "allocating",
	[TARE_HOST_BLOCKING_COPY] = "blocking copy",
	[TARE_HOST_WAIT] = "waiting",
	[TARE_HOST_API] = "other calls",
	[TARE_HOST_RELEASE] = "releasing",
	[TARE_HOST_QUERY] = "queries",
	[TARE_HOST_COMPUTING] = "computing",
	[TARE_HOST_OFF_CPU] = "off the CPU",
	[TARE_HOST_GONE] = "gone",
	[TARE_HOST_NOT_RECORDED] = "not recorded",
	[TARE_HOST_UNKNOWN] = "unknown",
};

static const char *const device_titles[TARE_DEVICE_STATES] = {
	[TARE_DEVICE_KERNEL] = "kernel",     [TARE_DEVICE_KERNEL_AND_TRANSFER] = "kernel+copy",
	[TARE_DEVICE_TO_DEVICE] = "to dev.", [TARE_DEVICE_FROM_DEVICE] = "to host",
	[TARE_DEVICE_BOTH_WAYS] = "both",    [TARE_DEVICE_LOCAL] = "local",
	[TARE_DEVICE_IDLE] = "idle",
};

static bool any_in_row(const struct tare_ledger *ledger, size_t host)
{
	for (size_t d = 0; d < TARE_DEVICE_STATES; d++)
		if (ledger->matrix_ns[host][d])
			return true;
	return false;
}

static bool any_in_column(const struct tare_ledger *ledger, size_t device)
{
	for (size_t h = 0; h < TARE_HOST_STATES; h++)
		if (ledger->matrix_ns[h][device])
			return true;
	return false;
}

static void write_matrix(struct tare_text *text, const struct tare_ledger *ledger)
{
	struct tare_text_table *table;
	char percent[RUN_TEXT];

	fputc('\n', text->file);
	table = tare_text_table_new(text, 2);
	tare_text_column(table, "host, % against device", TARE_COLUMN_CUT);
	for (size_t d = 0; d < TARE_DEVICE_STATES; d++)
		if (any_in_column(ledger, d))
			tare_text_column(table, device_titles[d], TARE_COLUMN_RIGHT);
	for (size_t h = 0; h < TARE_HOST_STATES; h++) {
		if (!any_in_row(ledger, h))
			continue;
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", host_titles[h]);
		for (size_t d = 0; d < TARE_DEVICE_STATES; d++) {
			double share = share_of(ledger->matrix_ns[h][d], ledger->wall_ns);
			if (!any_in_column(ledger, d))
				continue;
			// The unit is in the corner.
			tare_report_percent_number(share, percent);
			tare_text_cell(table, "%s", ledger->matrix_ns[h][d] ? percent : "");
		}
	}
	tare_text_table_print(table);
}

// ---- all of them

static void write_ledger(struct tare_text *text, const struct tare_report *run,
                         const struct tare_ledger *ledger)
{
	char name[RUN_TEXT], cut[RUN_TEXT];
	bool device = ledger->device < run->recording->device_count;

	tare_report_heading(
	    text, "Where the time went",
	    tare_report_cut(
	        text,
	        device ? tare_report_device_name(run->recording, ledger->device, name, RUN_TEXT)
	        : tare_report_several_devices(run) ? "all devices together"
	                                           : "no device",
	        56, cut));
	tare_report_text_ledger_of(text, ledger, largest_share(run->ledgers),
	                           text->options->verbosity > 0);
	if (text->options->verbosity > 0)
		write_matrix(text, ledger);
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

static void write_parts(struct tare_text *text, const struct tare_recorded_summary *summary)
{
	static const char *const titles[TARE_PARTS] = { "start-up", "working part", "tear-down" };
	struct tare_text_table *table;
	char percent[RUN_TEXT], part[RUN_TEXT], bar[BAR * 3 + 4];
	size_t columns = text->options->columns, room = columns > 45 ? columns - 45 : 0;

	tare_report_heading(text, "Parts of the run", "working: first enqueue to last completion");
	table = tare_text_table_new(text, 2);
	tare_text_column(table, "", TARE_COLUMN_CUT);
	tare_text_column(table, "", TARE_COLUMN_RIGHT);
	tare_text_column(table, "", TARE_COLUMN_RIGHT);
	tare_text_column(table, "", 0);
	for (enum tare_recording_part_of i = 0; i < TARE_PARTS; i++) {
		int64_t ns = part_length(&summary->parts[i]);
		double share = share_of(ns, summary->wall_ns);
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", titles[i]);
		tare_text_cell(table, "%s", tare_report_percent(share, percent));
		tare_text_cell(table, "%s", write_part(ns, summary->wall_ns, part));
		tare_text_cell(table, "%s", write_bar(text, share, room > BAR ? BAR : room, bar));
	}
	tare_text_table_print(table);
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
		write_parts(text, &run->tables->summary);
	write_verdict(text, &run->tables->summary);
}
