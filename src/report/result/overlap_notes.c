// SPDX-License-Identifier: Apache-2.0
// What stands around the tables of `overlap`: copies, prediction, engines, memory, reasons.
#include "report/result/overlap.h"

#include <math.h>
#include <string.h>

static double share_of(const struct overlap_view *view, const char *stage)
{
	const struct tare_cell *alone = NULL, *both = NULL;

	for (size_t i = 0; i < view->result->cell_count; i++) {
		const struct tare_cell *cell = &view->result->cells[i];
		if (!tare_cell_has_text(cell, "group", "mode") ||
		    !tare_cell_has_text(cell, "stage", stage))
			continue;
		if (tare_cell_has_text(cell, "mode", stage))
			alone = cell;
		if (tare_cell_has_text(cell, "mode", "to-device+to-host"))
			both = cell;
	}
	return tare_has_figure(alone) && tare_has_figure(both)
	           ? alone->summary.median / both->summary.median
	           : NAN;
}

// Of how many bytes a cell's rate is; rates are bytes a nanosecond.
static const char *copied_text(const struct tare_cell *cell, char text[TARE_UNIT_TEXT])
{
	return tare_format_bytes((uint64_t)llround(cell->rate.median * tare_figure_ns(cell)), text);
}

void tare_overlap_copies(const struct overlap_view *view)
{
	int64_t cycles = view->points ? view->cycles[view->points / 2] : TARE_NO_CYCLES;
	const struct tare_cell *to =
	    tare_overlap_find(view, "sequential", cycles, "stage", "to-device");
	const struct tare_cell *from =
	    tare_overlap_find(view, "sequential", cycles, "stage", "to-host");
	double to_share = share_of(view, "to-device"), from_share = share_of(view, "to-host");
	char a[TARE_UNIT_TEXT], b[TARE_UNIT_TEXT], c[TARE_UNIT_TEXT], d[TARE_UNIT_TEXT];

	if (tare_has_figure(to) && to->rate.present && tare_has_figure(from) && from->rate.present)
		tare_text_paragraph(
		    view->text, TARE_STYLE_PLAIN, "", 1,
		    "copies alone, whole (%s clock): %s at %s GB/s to the "
		    "device, %s at %s GB/s to the host",
		    strcmp(to->source, "device") == 0 ? "device's" : "host's", copied_text(to, c),
		    tare_format_significant(to->rate.median, 3, a), copied_text(from, d),
		    tare_format_significant(from->rate.median, 3, b));
	if (isfinite(to_share) && isfinite(from_share))
		tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 1,
		                    "both copies at once: %.0f %% and %.0f %% of these rates",
		                    100 * to_share, 100 * from_share);
}

// How near the shortest kernel is to the memory's own rate, where `peak` has measured that.
static void write_memory(const struct overlap_view *view)
{
	const struct tare_cell *share =
	    view->points
	        ? tare_overlap_find(view, "bound", view->cycles[0], "what", "kernel-memory-share")
	        : NULL;

	if (!tare_has_figure(share))
		return;
	tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 1,
	                    "memory: the %skernel moves its data at %.0f %% of the rate at "
	                    "which the device's memory copies",
	                    view->points > 1 ? "shortest " : "", share->summary.median);
}

static void write_engines(const struct overlap_view *view)
{
	const struct tare_cell *revealed =
	    tare_overlap_find(view, "engines", TARE_NO_CYCLES, "what", "revealed");
	const struct tare_cell *claimed =
	    tare_overlap_find(view, "engines", TARE_NO_CYCLES, "what", "claimed");
	char claim[160] = "";

	if (!revealed)
		return;
	if (!tare_has_figure(revealed)) {
		tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 1, "engines: n/a, %s",
		                    revealed->absent ? revealed->absent : "not measured");
		return;
	}
	if (tare_has_figure(claimed) && claimed->summary.median > 1)
		snprintf(claim, sizeof claim,
		         "; the device claims %.0f engines: %.0f copy, 1 compute",
		         claimed->summary.median, claimed->summary.median - 1);
	else if (tare_has_figure(claimed))
		snprintf(claim, sizeof claim, "; the device claims one engine for all");
	else if (claimed && claimed->absent)
		snprintf(claim, sizeof claim, "; the device claims nothing (%.120s)",
		         claimed->absent);
	tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 1,
	                    "engines: %.0f of the 3 stages were at work at one moment%s",
	                    revealed->summary.median, claim);
}

// The most by which a schedule that the prediction liked best was slower than the best measured.
static double worst_choice(const struct overlap_view *view)
{
	double worst = NAN;

	for (size_t i = 0; i < view->points; i++) {
		const struct tare_cell *chosen =
		    tare_overlap_find(view, "prediction", view->cycles[i], "what", "chosen");
		if (tare_has_figure(chosen) && !(chosen->summary.median <= worst))
			worst = chosen->summary.median;
	}
	return worst;
}

// Runs of one schedule that differ by more (%) say little about a prediction.
#define NOISY 5

static void write_prediction(const struct overlap_view *view)
{
	const struct tare_cell *mean =
	    tare_overlap_find(view, "prediction", TARE_NO_CYCLES, "what", "mean-error");
	const struct tare_cell *worst =
	    tare_overlap_find(view, "prediction", TARE_NO_CYCLES, "what", "worst-error");
	const struct tare_cell *noise =
	    tare_overlap_find(view, "prediction", TARE_NO_CYCLES, "what", "noise");
	double choice = worst_choice(view);
	double noise_percent = tare_has_figure(noise) ? noise->summary.median : 0;
	char chosen[96] = "", noisy[96] = "";

	if (!tare_has_figure(mean) || !tare_has_figure(worst)) {
		tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 1, "times in %s", view->unit);
		return;
	}
	if (isfinite(choice))
		snprintf(chosen, sizeof chosen,
		         "; what it liked best took at most %.1f %% longer than the best measured",
		         fmax(0, choice));
	if (noise_percent > NOISY)
		snprintf(noisy, sizeof noisy,
		         ", of which noise is a part: two runs of one schedule differ by %.0f %%",
		         noise_percent);
	tare_text_paragraph(
	    view->text, TARE_STYLE_PLAIN, "", 1,
	    "times in %s; prediction was within %.1f %% on average, %.0f %% at worst%s%s",
	    view->unit, mean->summary.median, ceil(worst->summary.median), noisy, chosen);
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
static void write_in_sequence(const struct overlap_view *view)
{
	static const char *const mechanisms[] = { "out-of-order", "stage-queues", "chunk-queues",
		                                  "graph" };
	static const char *const says[] = { "an out-of-order queue", "a queue for each stage",
		                            "chunks in turn over several queues", "a graph" };

	for (size_t m = 0; m < 4; m++) {
		size_t kinds = 0, serial = 0;
		unsigned orders = 0;
		for (size_t i = 0; i < view->result->cell_count; i++) {
			const struct tare_cell *cell = &view->result->cells[i];
			if (!tare_cell_has_text(cell, "what", "correction") ||
			    !tare_cell_has_text(cell, "mechanism", mechanisms[m]))
				continue;
			kinds++;
			serial += tare_cell_number(cell, "in-sequence") == 1;
			orders |= order_bit(tare_cell_text(cell, "order"));
		}
		// An order that met the prediction has no correction, and does overlap.
		if (serial && serial == kinds && orders == (m < 3 ? 7 : 1))
			tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 1,
			                    "%s overlaps nothing here: it runs one "
			                    "operation after the other",
			                    says[m]);
	}
}

// Below this a launch does not fill the device (model/engine/prediction.c).
#define LEAVES_ROOM 0.9

static void write_beside(const struct overlap_view *view)
{
	char room[64] = "";
	const struct tare_cell *two = NULL, *one = NULL;

	for (size_t i = 0; i < view->points; i++) {
		int64_t cycles = view->cycles[i];
		const struct tare_cell *here = tare_overlap_find(
		    view, "kernel-beside-kernel", cycles, "what", "two halves in two queues");
		if (here) {
			two = here;
			one = tare_overlap_find(view, "kernel-beside-kernel", cycles, "what",
			                        "one launch");
		}
	}
	if (!tare_has_figure(two) || !tare_has_figure(one) || !(one->summary.median > 0))
		return;
	if (two->summary.median < LEAVES_ROOM * one->summary.median)
		snprintf(room, sizeof room, "; the bound has kernels side by side in it");
	tare_text_paragraph(view->text, TARE_STYLE_PLAIN, "", 1,
	                    "kernel beside kernel: two halves in two queues take %.2f times "
	                    "as long as one launch%s",
	                    two->summary.median / one->summary.median, room);
}

void tare_overlap_notes(const struct overlap_view *view)
{
	static void (*const notes[])(const struct overlap_view *view) = {
		write_prediction, write_in_sequence, write_engines, write_beside, write_memory,
	};

	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
		notes[i](view);
}

static void name_of(const struct tare_cell *cell, FILE *file)
{
	static const char *const names[] = { "break",     "mode",  "what", "stage",
		                             "mechanism", "group", NULL };
	size_t i = 0;

	while (names[i] && !tare_cell_text(cell, names[i])[0])
		i++;
	fputs(names[i] ? tare_cell_text(cell, names[i]) : cell->quantity, file);
}

// The line of the engines says itself why they have none.
static bool is_no_engine(const struct tare_cell *cell)
{
	return !tare_cell_has_text(cell, "group", "engines");
}

void tare_overlap_reasons(const struct overlap_view *view, bool methods)
{
	const struct tare_text_why why = {
		.methods = methods,
		.style = methods ? TARE_STYLE_FAINT : TARE_STYLE_PLAIN,
		.lead = methods ? "" : "n/a: ",
		.name = name_of,
		.about = methods ? NULL : is_no_engine,
	};

	tare_text_reasons(view->text, view->result, &why);
}
