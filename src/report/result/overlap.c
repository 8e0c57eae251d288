// SPDX-License-Identifier: Apache-2.0
// `overlap` as text: what each stage takes, what overlapping gains at each kernel : copy, and with
// -v every schedule that was measured beside its prediction. What follows from it is printed with
// the conclusions (frame.c).
#include "report/result/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MOST 64
#define CELL_TEXT 48
// The label `cycles` of a cell that has none.
#define NO_CYCLES (-1)

struct overlap_text {
	const struct tare_text *text;
	const struct tare_result *result;
	int64_t cycles[POINTS_MOST]; // of the points, in order
	size_t points;
	double unit_ns; // of the tables
	const char *unit;
};

static int64_t number_of(const struct tare_cell *cell, const char *name)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, name);
	return label && !label->text ? label->number : NO_CYCLES;
}

// The cell of a group at `cycles` whose label `name` says `value`.
static const struct tare_cell *find(const struct overlap_text *overlap, const char *group,
                                    int64_t cycles, const char *name, const char *value)
{
	for (size_t i = 0; i < overlap->result->cell_count; i++) {
		const struct tare_cell *cell = &overlap->result->cells[i];
		if (strcmp(tare_text_label_of(cell, "group"), group) == 0 &&
		    number_of(cell, "cycles") == cycles &&
		    strcmp(tare_text_label_of(cell, name), value) == 0)
			return cell;
	}
	return NULL;
}

static bool has_figure(const struct tare_cell *cell)
{
	return cell && !cell->absent && isfinite(cell->summary.median);
}

static double ns_of(const struct tare_cell *cell)
{
	return cell->summary.median * tare_cell_unit_ns(cell);
}

static bool is_schedule(const struct tare_cell *cell)
{
	return strcmp(tare_text_label_of(cell, "group"), "concurrent") == 0 &&
	       !tare_labels_find(&cell->labels, "what");
}

// The measured schedule at `cycles` whose label `name` says `value`: the best, the serial one.
static const struct tare_cell *find_schedule(const struct overlap_text *overlap, int64_t cycles,
                                             const char *name, int64_t value)
{
	for (size_t i = 0; i < overlap->result->cell_count; i++) {
		const struct tare_cell *cell = &overlap->result->cells[i];
		if (is_schedule(cell) && number_of(cell, "cycles") == cycles &&
		    number_of(cell, name) == value)
			return cell;
	}
	return NULL;
}

// All in one queue, one after the other, as it was timed in turn with the best: what the speed-up
// rests on. Else as it was timed among the stages.
static const struct tare_cell *find_serial(const struct overlap_text *overlap, int64_t cycles)
{
	const struct tare_cell *serial = find_schedule(overlap, cycles, "chunks", 1);

	return has_figure(serial) ? serial : find(overlap, "sequential", cycles, "stage", "total");
}

// ---- texts of cells

static const char *time_text(const struct overlap_text *overlap, const struct tare_cell *cell,
                             char text[CELL_TEXT])
{
	char number[TARE_UNIT_TEXT];
	bool model = cell && tare_cell_is_model(cell);

	if (!has_figure(cell))
		return cell ? "n/a" : "";
	if (cell->verified == TARE_WRONG)
		return "wrong";
	snprintf(text, CELL_TEXT, "%s%s",
	         tare_format_significant(ns_of(cell) / overlap->unit_ns, 3, number),
	         cell->converged || model ? "" : "*");
	return text;
}

static const char *plain_text(const struct tare_cell *cell, const char *format,
                              char text[CELL_TEXT])
{
	if (!has_figure(cell))
		return cell ? "n/a" : "";
	snprintf(text, CELL_TEXT, format, cell->summary.median);
	return text;
}

static const char *percent_text(const struct tare_cell *cell, char text[CELL_TEXT])
{
	return plain_text(cell, "%.0f %%", text);
}

// ---- points and units

static int compare_cycles(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;
	return (*left > *right) - (*left < *right);
}

static void find_points(struct overlap_text *overlap)
{
	double longest = 0;

	for (size_t i = 0; i < overlap->result->cell_count; i++) {
		const struct tare_cell *cell = &overlap->result->cells[i];
		int64_t cycles = number_of(cell, "cycles");
		bool known = false;
		if (strcmp(tare_text_label_of(cell, "group"), "sequential") != 0)
			continue;
		if (has_figure(cell))
			longest = fmax(longest, ns_of(cell));
		for (size_t k = 0; k < overlap->points; k++)
			known |= overlap->cycles[k] == cycles;
		if (!known && overlap->points < POINTS_MOST)
			overlap->cycles[overlap->points++] = cycles;
	}
	qsort(overlap->cycles, overlap->points, sizeof *overlap->cycles, compare_cycles);
	overlap->unit = longest >= 2e9 ? "s" : longest >= 2e6 ? "ms" : "µs";
	overlap->unit_ns = longest >= 2e9 ? 1e9 : longest >= 2e6 ? 1e6 : 1e3;
}

// ---- the tables

static const char *ratio_text(const struct tare_cell *over, const struct tare_cell *under,
                              char text[CELL_TEXT])
{
	if (!has_figure(over) || !has_figure(under) || !(ns_of(under) > 0))
		return "";
	snprintf(text, CELL_TEXT, "%.2f", ns_of(over) / ns_of(under));
	return text;
}

static bool has_handbook(const struct overlap_text *overlap)
{
	for (size_t i = 0; i < overlap->points; i++)
		if (has_figure(find_schedule(overlap, overlap->cycles[i], "handbook", 1)))
			return true;
	return false;
}

// The Handbook's further columns: what its schedule takes, and how much faster that is; and ours.
static void write_handbook(const struct overlap_text *overlap, struct tare_text_table *table,
                           int64_t cycles)
{
	const struct tare_cell *theirs = find_schedule(overlap, cycles, "handbook", 1);
	const struct tare_cell *best = find_schedule(overlap, cycles, "best", 1);
	const struct tare_cell *total = find_serial(overlap, cycles);
	char text[CELL_TEXT];

	tare_text_cell(table, "%s", time_text(overlap, theirs, text));
	tare_text_cell(table, "%s", ratio_text(total, theirs, text));
	tare_text_cell(table, "%s", time_text(overlap, best, text));
	tare_text_cell(table, "%s", ratio_text(best, theirs, text));
}

static int write_sequential(const struct overlap_text *overlap)
{
	static const char *const stages[] = { "to-device", "kernel", "to-host" };
	static const char *const columns[] = { "cycles",   "to device", "kernel",
		                               "to host",  "serial",    "8 streams",
		                               "speed-up", "best",      "ratio" };
	struct tare_text_table *table = tare_text_table_new(overlap->text, 0);
	bool cycles = overlap->points && overlap->cycles[0] != NO_CYCLES;
	bool handbook = has_handbook(overlap);
	char text[CELL_TEXT];
	int status;

	for (int k = !cycles; k < (handbook ? 9 : 5); k++)
		tare_text_column(table, columns[k], TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < overlap->points; i++) {
		tare_text_row(table, TARE_STYLE_PLAIN);
		if (cycles)
			tare_text_cell(table, "%lld", (long long)overlap->cycles[i]);
		for (int k = 0; k < 3; k++)
			tare_text_cell(table, "%s",
			               time_text(overlap,
			                         find(overlap, "sequential", overlap->cycles[i],
			                              "stage", stages[k]),
			                         text));
		tare_text_cell(table, "%s",
		               time_text(overlap, find_serial(overlap, overlap->cycles[i]), text));
		if (handbook)
			write_handbook(overlap, table, overlap->cycles[i]);
	}
	status = tare_text_table_print(table);
	if (status == 0 && handbook)
		status =
		    tare_text_paragraph(overlap->text, TARE_STYLE_PLAIN, "", 1,
		                        "8 streams: the CUDA Handbook's schedule, a chunk a "
		                        "stream and all copies in first, in turn with the best; "
		                        "ratio: the best to that");
	return status;
}

static int write_concurrent(const struct overlap_text *overlap)
{
	static const char *const columns[] = { "kernel:copy", "serial", "best",
		                               "speed-up",    "bound",  "of bound" };
	struct tare_text_table *table = tare_text_table_new(overlap->text, 0);
	char text[CELL_TEXT], schedule[96];

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		tare_text_column(table, columns[i], TARE_COLUMN_RIGHT);
	tare_text_column(table, "schedule", TARE_COLUMN_CUT);
	for (size_t i = 0; i < overlap->points; i++) {
		int64_t cycles = overlap->cycles[i];
		const struct tare_cell *best = find_schedule(overlap, cycles, "best", 1);
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s",
		               plain_text(find(overlap, "bound", cycles, "what", "kernel-to-copy"),
		                          "%.2f", text));
		tare_text_cell(table, "%s", time_text(overlap, find_serial(overlap, cycles), text));
		tare_text_cell(table, "%s", time_text(overlap, best, text));
		tare_text_cell(
		    table, "%s",
		    plain_text(find(overlap, "bound", cycles, "what", "speed-up"), "%.2f", text));
		tare_text_cell(
		    table, "%s",
		    time_text(overlap, find(overlap, "bound", cycles, "what", "bound"), text));
		tare_text_cell(table, "%s",
		               percent_text(find(overlap, "bound", cycles, "what", "share"), text));
		tare_text_cell(table, "%s",
		               best ? tare_text_schedule(best, true, schedule, sizeof schedule)
		                    : "");
	}
	return tare_text_table_print(table);
}

// ---- lines

static double share_of(const struct overlap_text *overlap, const char *stage)
{
	const struct tare_cell *alone = NULL, *both = NULL;

	for (size_t i = 0; i < overlap->result->cell_count; i++) {
		const struct tare_cell *cell = &overlap->result->cells[i];
		if (strcmp(tare_text_label_of(cell, "group"), "mode") != 0 ||
		    strcmp(tare_text_label_of(cell, "stage"), stage) != 0)
			continue;
		if (strcmp(tare_text_label_of(cell, "mode"), stage) == 0)
			alone = cell;
		if (strcmp(tare_text_label_of(cell, "mode"), "to-device+to-host") == 0)
			both = cell;
	}
	return has_figure(alone) && has_figure(both) ? alone->summary.median / both->summary.median
	                                             : NAN;
}

// Of how many bytes a cell's rate is; rates are bytes a nanosecond.
static const char *copied_text(const struct tare_cell *cell, char text[TARE_UNIT_TEXT])
{
	return tare_format_bytes((uint64_t)llround(cell->rate.median * ns_of(cell)), text);
}

static int write_copies(const struct overlap_text *overlap)
{
	int64_t cycles = overlap->points ? overlap->cycles[overlap->points / 2] : NO_CYCLES;
	const struct tare_cell *to = find(overlap, "sequential", cycles, "stage", "to-device");
	const struct tare_cell *from = find(overlap, "sequential", cycles, "stage", "to-host");
	double to_share = share_of(overlap, "to-device"), from_share = share_of(overlap, "to-host");
	char a[TARE_UNIT_TEXT], b[TARE_UNIT_TEXT], c[TARE_UNIT_TEXT], d[TARE_UNIT_TEXT];
	int status = 0;

	if (has_figure(to) && to->rate.present && has_figure(from) && from->rate.present)
		status = tare_text_paragraph(
		    overlap->text, TARE_STYLE_PLAIN, "", 1,
		    "copies alone, whole (%s clock): %s at %s GB/s to the "
		    "device, %s at %s GB/s to the host",
		    strcmp(to->source, "device") == 0 ? "device's" : "host's", copied_text(to, c),
		    tare_format_significant(to->rate.median, 3, a), copied_text(from, d),
		    tare_format_significant(from->rate.median, 3, b));
	if (status == 0 && isfinite(to_share) && isfinite(from_share))
		status =
		    tare_text_paragraph(overlap->text, TARE_STYLE_PLAIN, "", 1,
		                        "both copies at once: %.0f %% and %.0f %% of these rates",
		                        100 * to_share, 100 * from_share);
	return status;
}

// How near the shortest kernel is to the memory's own rate, where `peak` has measured that.
static int write_memory(const struct overlap_text *overlap)
{
	const struct tare_cell *share = overlap->points ? find(overlap, "bound", overlap->cycles[0],
	                                                       "what", "kernel-memory-share")
	                                                : NULL;

	if (!has_figure(share))
		return 0;
	return tare_text_paragraph(overlap->text, TARE_STYLE_PLAIN, "", 1,
	                           "memory: the %skernel moves its data at %.0f %% of the rate at "
	                           "which the device's memory copies",
	                           overlap->points > 1 ? "shortest " : "", share->summary.median);
}

static int write_engines(const struct overlap_text *overlap)
{
	const struct tare_cell *revealed = find(overlap, "engines", NO_CYCLES, "what", "revealed");
	const struct tare_cell *claimed = find(overlap, "engines", NO_CYCLES, "what", "claimed");
	char claim[160] = "";

	if (!revealed)
		return 0;
	if (!has_figure(revealed))
		return tare_text_paragraph(overlap->text, TARE_STYLE_PLAIN, "", 1,
		                           "engines: n/a, %s",
		                           revealed->absent ? revealed->absent : "not measured");
	if (has_figure(claimed) && claimed->summary.median > 1)
		snprintf(claim, sizeof claim,
		         "; the device claims %.0f engines: %.0f copy, 1 compute",
		         claimed->summary.median, claimed->summary.median - 1);
	else if (has_figure(claimed))
		snprintf(claim, sizeof claim, "; the device claims one engine for all");
	else if (claimed && claimed->absent)
		snprintf(claim, sizeof claim, "; the device claims nothing (%.120s)",
		         claimed->absent);
	return tare_text_paragraph(overlap->text, TARE_STYLE_PLAIN, "", 1,
	                           "engines: %.0f of the 3 stages were at work at one moment%s",
	                           revealed->summary.median, claim);
}

// The most by which a schedule that the prediction liked best was slower than the best measured.
static double worst_choice(const struct overlap_text *overlap)
{
	double worst = NAN;

	for (size_t i = 0; i < overlap->points; i++) {
		const struct tare_cell *chosen =
		    find(overlap, "prediction", overlap->cycles[i], "what", "chosen");
		if (has_figure(chosen) && !(chosen->summary.median <= worst))
			worst = chosen->summary.median;
	}
	return worst;
}

// Runs of one schedule that differ by more (%) say little about a prediction.
#define NOISY 5

static int write_prediction(const struct overlap_text *overlap)
{
	const struct tare_cell *mean = find(overlap, "prediction", NO_CYCLES, "what", "mean-error");
	const struct tare_cell *worst =
	    find(overlap, "prediction", NO_CYCLES, "what", "worst-error");
	const struct tare_cell *noise = find(overlap, "prediction", NO_CYCLES, "what", "noise");
	double choice = worst_choice(overlap);
	double noise_percent = has_figure(noise) ? noise->summary.median : 0;
	char chosen[96] = "", noisy[96] = "";

	if (!has_figure(mean) || !has_figure(worst))
		return tare_text_paragraph(overlap->text, TARE_STYLE_PLAIN, "", 1, "times in %s",
		                           overlap->unit);
	if (isfinite(choice))
		snprintf(chosen, sizeof chosen,
		         "; what it liked best took at most %.1f %% longer than the best measured",
		         fmax(0, choice));
	if (noise_percent > NOISY)
		snprintf(noisy, sizeof noisy,
		         ", of which noise is a part: two runs of one schedule differ by %.0f %%",
		         noise_percent);
	return tare_text_paragraph(
	    overlap->text, TARE_STYLE_PLAIN, "", 1,
	    "times in %s; prediction was within %.1f %% on average, %.0f %% at worst%s%s",
	    overlap->unit, mean->summary.median, ceil(worst->summary.median), noisy, chosen);
}

static unsigned order_bit(const char *order)
{
	static const char *const orders[] = { "depth-first", "breadth-first", "interleaved" };

	for (unsigned i = 0; i < 3; i++)
		if (strcmp(order, orders[i]) == 0)
			return 1u << i;
	return 0;
}

// Kinds of schedules that overlapped nothing at any point where they were tried and found off.
static int write_in_sequence(const struct overlap_text *overlap)
{
	static const char *const mechanisms[] = { "out-of-order", "stage-queues", "chunk-queues",
		                                  "graph" };
	static const char *const says[] = { "an out-of-order queue", "a queue for each stage",
		                            "chunks in turn over several queues", "a graph" };
	int status = 0;

	for (size_t m = 0; status == 0 && m < 4; m++) {
		size_t kinds = 0, serial = 0;
		unsigned orders = 0;
		for (size_t i = 0; i < overlap->result->cell_count; i++) {
			const struct tare_cell *cell = &overlap->result->cells[i];
			if (strcmp(tare_text_label_of(cell, "what"), "correction") != 0 ||
			    strcmp(tare_text_label_of(cell, "mechanism"), mechanisms[m]) != 0)
				continue;
			kinds++;
			serial += number_of(cell, "in-sequence") == 1;
			orders |= order_bit(tare_text_label_of(cell, "order"));
		}
		// An order that met the prediction has no correction, and does overlap.
		if (serial && serial == kinds && orders == (m < 3 ? 7 : 1))
			status = tare_text_paragraph(overlap->text, TARE_STYLE_PLAIN, "", 1,
			                             "%s overlaps nothing here: it runs one "
			                             "operation after the other",
			                             says[m]);
	}
	return status;
}

// Below this a launch does not fill the device (model/engine/prediction.c).
#define LEAVES_ROOM 0.9

static int write_beside(const struct overlap_text *overlap)
{
	char room[64] = "";
	const struct tare_cell *two = NULL, *one = NULL;

	for (size_t i = 0; i < overlap->points; i++) {
		int64_t cycles = overlap->cycles[i];
		const struct tare_cell *here = find(overlap, "kernel-beside-kernel", cycles, "what",
		                                    "two halves in two queues");
		if (here) {
			two = here;
			one = find(overlap, "kernel-beside-kernel", cycles, "what", "one launch");
		}
	}
	if (!has_figure(two) || !has_figure(one) || !(one->summary.median > 0))
		return 0;
	if (two->summary.median < LEAVES_ROOM * one->summary.median)
		snprintf(room, sizeof room, "; the bound has kernels side by side in it");
	return tare_text_paragraph(overlap->text, TARE_STYLE_PLAIN, "", 1,
	                           "kernel beside kernel: two halves in two queues take %.2f times "
	                           "as long as one launch%s",
	                           two->summary.median / one->summary.median, room);
}

// ---- with -v

// The prediction for a measured schedule.
static const struct tare_cell *prediction_of(const struct overlap_text *overlap,
                                             const struct tare_cell *measured, const char *what)
{
	static const char *const numbers[] = { "cycles", "chunks", "queues" };
	static const char *const texts[] = { "order", "mechanism", "sizes" };

	for (size_t i = 0; i < overlap->result->cell_count; i++) {
		const struct tare_cell *cell = &overlap->result->cells[i];
		bool same = strcmp(tare_text_label_of(cell, "group"), "concurrent") == 0 &&
		            strcmp(tare_text_label_of(cell, "what"), what) == 0;
		for (int k = 0; same && k < 3; k++)
			same = number_of(cell, numbers[k]) == number_of(measured, numbers[k]) &&
			       strcmp(tare_text_label_of(cell, texts[k]),
			              tare_text_label_of(measured, texts[k])) == 0;
		if (same)
			return cell;
	}
	return NULL;
}

static int write_schedules(const struct overlap_text *overlap)
{
	struct tare_text_table *table = tare_text_table_new(overlap->text, 0);
	bool cycles = overlap->points && overlap->cycles[0] != NO_CYCLES;
	char text[CELL_TEXT], schedule[96];

	fputc('\n', overlap->text->file);
	if (cycles)
		tare_text_column(table, "cycles", TARE_COLUMN_RIGHT);
	tare_text_column(table, overlap->unit, TARE_COLUMN_RIGHT);
	tare_text_column(table, "predicted", TARE_COLUMN_RIGHT);
	tare_text_column(table, "error", TARE_COLUMN_RIGHT);
	tare_text_column(table, "n", TARE_COLUMN_RIGHT);
	tare_text_column(table, "schedule", TARE_COLUMN_CUT);
	for (size_t p = 0; p < overlap->points; p++)
		for (size_t i = 0; i < overlap->result->cell_count; i++) {
			const struct tare_cell *cell = &overlap->result->cells[i];
			if (!is_schedule(cell) || number_of(cell, "cycles") != overlap->cycles[p])
				continue;
			tare_text_row(table, number_of(cell, "best") == 1 ? TARE_STYLE_PLAIN
			                                                  : TARE_STYLE_FAINT);
			if (cycles)
				tare_text_cell(table, "%lld", (long long)overlap->cycles[p]);
			tare_text_cell(table, "%s", time_text(overlap, cell, text));
			tare_text_cell(
			    table, "%s",
			    time_text(overlap, prediction_of(overlap, cell, "predicted"), text));
			tare_text_cell(
			    table, "%s",
			    plain_text(prediction_of(overlap, cell, "error"), "%+.1f %%", text));
			tare_text_cell(table, "%zu", cell->summary.n);
			tare_text_cell(table, "%s%s",
			               tare_text_schedule(cell, false, schedule, sizeof schedule),
			               number_of(cell, "best") == 1       ? " (best)"
			               : number_of(cell, "handbook") == 1 ? " (Handbook)"
			               : number_of(cell, "control") == 1  ? " (at random)"
			                                                  : "");
		}
	return tare_text_table_print(table);
}

static const char *name_of(const struct tare_cell *cell)
{
	static const char *const names[] = {
		"break", "mode", "what", "stage", "mechanism", "group"
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (tare_text_label_of(cell, names[i])[0])
			return tare_text_label_of(cell, names[i]);
	return cell->quantity;
}

// Why figures are missing, or with `methods` how they were measured.
static int write_reasons(const struct overlap_text *overlap, bool methods)
{
	struct tare_text_reasons *reasons = tare_text_reasons_new();
	int status = reasons ? 0 : -ENOMEM;

	for (size_t i = 0; status == 0 && i < overlap->result->cell_count; i++) {
		const struct tare_cell *cell = &overlap->result->cells[i];
		const char *reason = methods ? cell->method : cell->absent;
		if (reason &&
		    (methods || strcmp(tare_text_label_of(cell, "group"), "engines") != 0))
			status = tare_text_reasons_add(reasons, name_of(cell), reason);
	}
	if (status < 0) {
		tare_text_reasons_free(reasons);
		return status;
	}
	if (methods)
		fputc('\n', overlap->text->file);
	return tare_text_reasons_print(reasons, overlap->text,
	                               methods ? TARE_STYLE_FAINT : TARE_STYLE_PLAIN,
	                               methods ? "" : "n/a: ");
}

// ----

static int write_head(const struct overlap_text *overlap)
{
	const struct tare_labels *parameters = &overlap->result->parameters;
	const struct tare_label *in = tare_labels_find(parameters, "in_bytes");
	const struct tare_label *out = tare_labels_find(parameters, "out_bytes");
	const struct tare_label *kernel = tare_labels_find(parameters, "kernel");
	char to[TARE_UNIT_TEXT], from[TARE_UNIT_TEXT];

	if (!in || !out || in->text || out->text || !kernel || !kernel->text)
		return 0;
	return tare_text_paragraph(overlap->text, TARE_STYLE_PLAIN, "", 0,
	                           "%s over %s in, %s out; median times in %s; * not known to 1 %%",
	                           kernel->text, tare_format_bytes((uint64_t)in->number, to),
	                           tare_format_bytes((uint64_t)out->number, from), overlap->unit);
}

int tare_text_overlap(const struct tare_text *text, const struct tare_result *result)
{
	struct overlap_text overlap = { .text = text, .result = result };
	bool verbose = text->options->verbosity > 0;
	int status;

	find_points(&overlap);
	status = write_head(&overlap);
	fputc('\n', text->file);
	if (status == 0 && overlap.points == 0)
		return tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 0, "No figures.");
	if (status == 0)
		status = write_sequential(&overlap);
	if (status == 0)
		status = write_copies(&overlap);
	fputc('\n', text->file);
	if (status == 0)
		status = write_concurrent(&overlap);
	if (status == 0)
		status = write_prediction(&overlap);
	if (status == 0)
		status = write_in_sequence(&overlap);
	if (status == 0)
		status = write_engines(&overlap);
	if (status == 0)
		status = write_beside(&overlap);
	if (status == 0)
		status = write_memory(&overlap);
	if (status == 0 && verbose)
		status = write_schedules(&overlap);
	if (status == 0)
		status = write_reasons(&overlap, false);
	if (status == 0 && verbose)
		status = write_reasons(&overlap, true);
	return status;
}
