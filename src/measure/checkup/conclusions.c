// SPDX-License-Identifier: Apache-2.0
// What a checkup says over all of its parts: a sentence or two a part, each from its cells.
#include "measure/checkup/internal.h"

#include "base/units.h"
#include "measure/matmul/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct tare_result *part_of(const struct tare_result *result, const char *command)
{
	for (size_t i = 0; i < result->part_count; i++)
		if (strcmp(result->parts[i]->command, command) == 0)
			return result->parts[i];
	return NULL;
}

// A figure that may be quoted: it is there, and it is not known to be wrong.
static bool holds(const struct tare_cell *cell)
{
	return !cell->absent && cell->verified != TARE_WRONG && isfinite(cell->summary.median);
}

static bool is_rate(const struct tare_cell *cell)
{
	return holds(cell) && cell->rate.present && cell->rate.median > 0 &&
	       isfinite(cell->rate.median);
}

// ---- does it pay

static const char *conclusion_of(const struct tare_result *part, const char *id)
{
	for (size_t i = 0; part && i < part->conclusion_count; i++)
		if (strcmp(part->conclusions[i].id, id) == 0)
			return part->conclusions[i].text;
	return NULL;
}

// The question that a checkup is run for, by the one computation that it has done on both sides.
static void conclude_pays(struct tare_result *result, const struct tare_result *matmul)
{
	const char *total = conclusion_of(matmul, TARE_MATMUL_TOTAL);
	const char *kernels = conclusion_of(matmul, TARE_MATMUL_KERNELS);

	if (!total) {
		tare_result_conclude(
		    result, "pays",
		    "Does it pay here? Not known: no matrix product was measured on "
		    "both the host and the device.");
		return;
	}
	tare_result_conclude(result, "pays", "Does it pay here, for a matrix product? %s%s%s",
	                     total, kernels ? " " : "", kernels ? kernels : "");
}

// ---- device

static void conclude_device(struct tare_result *result)
{
	const struct tare_device_entry *own = &result->devices[0];
	const struct tare_result *devices = part_of(result, "devices");
	const struct tare_fact *name = &own->facts.fact[TARE_FACT_NAME];
	char others[128] = "";

	for (size_t i = 0; devices && i < devices->device_count; i++) {
		size_t used = strlen(others);
		if (strcmp(devices->devices[i].backend, own->backend) != 0)
			snprintf(others + used, sizeof others - used, "%s%s",
			         used ? ", " : " The same device is seen through ",
			         devices->devices[i].backend_title);
	}
	tare_result_conclude(result, "device", "%s, measured through %s (%s:%u).%s%s",
	                     name->present ? name->text : "A device without a name",
	                     own->backend_title, own->backend, own->index, others,
	                     others[0] ? " too." : "");
}

// ---- launches

// Nanoseconds, or NaN.
static double latency_ns(const struct tare_result *latency, const char *what)
{
	for (size_t i = 0; i < latency->cell_count; i++) {
		const struct tare_cell *cell = &latency->cells[i];
		if (holds(cell) && tare_cell_has_text(cell, "group", "launch") &&
		    tare_cell_has_text(cell, "what", what) && cell->summary.median > 0)
			return cell->summary.median * tare_cell_unit_ns(cell);
	}
	return NAN;
}

static void conclude_launch(struct tare_result *result, const struct tare_result *latency)
{
	double alone_ns = latency_ns(latency, "launch and wait");
	double many_ns = latency_ns(latency, "launch, many then wait");
	char alone[TARE_UNIT_TEXT], many[TARE_UNIT_TEXT];

	if (!isfinite(many_ns))
		return;
	tare_format_ns(many_ns, many);
	if (!isfinite(alone_ns)) {
		tare_result_conclude(result, "launch",
		                     "A launch of many costs %s by the host's clock: kernels "
		                     "shorter than that are launch-bound.",
		                     many);
		return;
	}
	tare_result_conclude(result, "launch",
	                     "A launch that is waited for costs %s, one of many %s (host's "
	                     "clock): kernels shorter than %s are launch-bound.",
	                     tare_format_ns(alone_ns, alone), many, many);
}

// ---- the link

// The rate of a line at a size by one clock; NULL: none.
static const struct tare_cell *line_by(const struct tare_result *bandwidth, const char *line,
                                       int64_t bytes, const char *source)
{
	for (size_t i = 0; i < bandwidth->cell_count; i++) {
		const struct tare_cell *cell = &bandwidth->cells[i];
		if (is_rate(cell) && strcmp(cell->source, source) == 0 &&
		    tare_cell_has_text(cell, "line", line) &&
		    tare_cell_number(cell, "bytes") == bytes)
			return cell;
	}
	return NULL;
}

// By the host's clock, which sees pageable and pinned memory alike.
static const struct tare_cell *line_at(const struct tare_result *bandwidth, const char *line,
                                       int64_t bytes)
{
	return line_by(bandwidth, line, bytes, "host");
}

// The largest size at which all lines have a rate, one with bounds if there is such a size; 0:
// none.
static int64_t common_size(const struct tare_result *bandwidth, const char *const *lines,
                           size_t count)
{
	int64_t largest = 0, bounded = 0;
	double low, high;

	for (size_t i = 0; i < bandwidth->cell_count; i++) {
		int64_t bytes = tare_cell_number(&bandwidth->cells[i], "bytes");
		bool all = bytes > 0, sure = all;
		for (size_t k = 0; all && k < count; k++) {
			const struct tare_cell *cell = line_at(bandwidth, lines[k], bytes);
			all = cell;
			sure = sure && cell && tare_cell_rate_bounds(cell, &low, &high);
		}
		if (all && bytes > largest)
			largest = bytes;
		if (all && sure && bytes > bounded)
			bounded = bytes;
	}
	return bounded ? bounded : largest;
}

double checkup_link_rate(const struct tare_result *result)
{
	static const char *const line = "host-to-device";
	const struct tare_result *bandwidth = part_of(result, "bandwidth");
	int64_t bytes = bandwidth ? common_size(bandwidth, &line, 1) : 0;

	return bytes > 0 ? 1e9 * line_at(bandwidth, line, bytes)->rate.median : NAN;
}

enum difference { UNKNOWN, NONE, SURE };

// Whether the rates differ by more than their bounds; text: " (40 %)" of the pinned one if so.
static enum difference compare(const struct tare_cell *pageable, const struct tare_cell *pinned,
                               char text[16])
{
	double low[2], high[2];

	text[0] = '\0';
	if (!tare_cell_rate_bounds(pageable, &low[0], &high[0]) ||
	    !tare_cell_rate_bounds(pinned, &low[1], &high[1]))
		return UNKNOWN;
	if (high[0] >= low[1] && low[0] <= high[1])
		return NONE;
	snprintf(text, 16, " (%.0f %%)", 100 * pageable->rate.median / pinned->rate.median);
	return SURE;
}

// What the device's clock says of the same copies: the tables show both, so the sentence tells them
// apart.
static const char *device_text(const struct tare_result *bandwidth, int64_t bytes, char text[160])
{
	const struct tare_cell *to = line_by(bandwidth, "host-to-device", bytes, "device");
	const struct tare_cell *back = line_by(bandwidth, "device-to-host", bytes, "device");
	char rates[2][TARE_UNIT_TEXT];

	text[0] = '\0';
	if (to && back)
		snprintf(text, 160,
		         " By the device's clock, which leaves out what the host does around a "
		         "copy, pinned "
		         "memory moves at %s and %s GB/s.",
		         tare_format_significant(to->rate.median, 3, rates[0]),
		         tare_format_significant(back->rate.median, 3, rates[1]));
	return text;
}

static void conclude_link(struct tare_result *result, const struct tare_result *bandwidth)
{
	static const char *const lines[] = { "host-to-device", "device-to-host", "heap-to-device",
		                             "device-to-heap" };
	char rates[4][TARE_UNIT_TEXT], size[TARE_UNIT_TEXT];
	char shares[2][16], device[160];
	enum difference to_device, to_host;
	const struct tare_cell *cell[4];
	int64_t bytes = common_size(bandwidth, lines, 4);
	size_t count = bytes > 0 ? 4 : 2;

	if (bytes <= 0)
		bytes = common_size(bandwidth, lines, 2);
	if (bytes <= 0)
		return;
	for (size_t i = 0; i < count; i++) {
		cell[i] = line_at(bandwidth, lines[i], bytes);
		tare_format_significant(cell[i]->rate.median, 3, rates[i]);
	}
	tare_format_bytes((uint64_t)bytes, size);
	if (count == 2) {
		tare_result_conclude(result, "link",
		                     "Pinned memory moves at %s GB/s to the device and %s GB/s "
		                     "back (%s, host's clock).%s",
		                     rates[0], rates[1], size,
		                     device_text(bandwidth, bytes, device));
		return;
	}
	to_device = compare(cell[2], cell[0], shares[0]);
	to_host = compare(cell[3], cell[1], shares[1]);
	tare_result_conclude(
	    result, "link",
	    "Pinned memory moves at %s GB/s to the device and %s GB/s back, pageable memory at %s "
	    "GB/s%s and %s GB/s%s (%s, host's clock%s).%s",
	    rates[0], rates[1], rates[2], shares[0], rates[3], shares[1], size,
	    to_device == NONE && to_host == NONE         ? "; no difference that is sure"
	    : to_device == UNKNOWN || to_host == UNKNOWN ? "; too few samples to compare"
	                                                 : "",
	    device_text(bandwidth, bytes, device));
}

// ---- ceilings

// "64.5 TFLOP/s", "812 GFLOP/s".
static const char *flops_text(double per_second, char text[2 * TARE_UNIT_TEXT])
{
	bool tera = per_second >= 1e12;
	char number[TARE_UNIT_TEXT];

	tare_format_significant(per_second / (tera ? 1e12 : 1e9), 3, number);
	snprintf(text, 2 * TARE_UNIT_TEXT, "%s %sFLOP/s", number, tera ? "T" : "G");
	return text;
}

// " (96 % of the paper's)", or "".
static const char *share_text(const struct tare_peaks *peaks, enum tare_ceiling ceiling,
                              char text[48])
{
	double share = peaks->per_second[ceiling] / peaks->theoretical[ceiling];

	text[0] = '\0';
	if (isfinite(share) && share > 0)
		snprintf(text, 48, " (%.0f %% of the paper's)", 100 * share);
	return text;
}

static void conclude_ceilings(struct tare_result *result, const struct tare_peaks *peaks)
{
	double compute = peaks->per_second[TARE_CEILING_FP32];
	double memory = peaks->per_second[TARE_CEILING_MEMORY_READ];
	char flops[2 * TARE_UNIT_TEXT], bytes[TARE_UNIT_TEXT], ridge[TARE_UNIT_TEXT];
	char compute_share[48], memory_share[48];
	bool earlier = !part_of(result, "peak");

	if (!(compute > 0) || !(memory > 0))
		return;
	flops_text(compute, flops);
	tare_format_significant(memory / 1e9, 3, bytes);
	tare_format_significant(compute / memory, 2, ridge);
	tare_result_conclude(
	    result, "ceilings",
	    "The device reaches %s in FP32%s and reads its memory at %s GB/s%s%s%s%s: a kernel "
	    "that "
	    "does fewer than %s FLOP for each byte is bound by memory.",
	    flops, share_text(peaks, TARE_CEILING_FP32, compute_share), bytes,
	    share_text(peaks, TARE_CEILING_MEMORY_READ, memory_share), earlier ? " (" : "",
	    earlier ? peaks->origin : "", earlier ? ")" : "", ridge);
}

// ---- matmul

static enum tare_rung rung_of(const struct tare_cell *cell)
{
	int rung = 0;

	while (rung < TARE_RUNG_COUNT &&
	       !tare_cell_has_text(cell, "rung", tare_rung_name((enum tare_rung)rung)))
		rung++;
	return (enum tare_rung)rung;
}

// The kernel figures of the device at `n`: of one rung, or the fastest of those whose factors are
// in single precision or of those with fewer bits.
enum wanted { WANTED_NAIVE, WANTED_FP32, WANTED_ROUNDED };

static const struct tare_cell *rung_at(const struct tare_result *matmul, enum wanted wanted,
                                       int64_t n)
{
	const struct tare_cell *best = NULL;

	for (size_t i = 0; i < matmul->cell_count; i++) {
		const struct tare_cell *cell = &matmul->cells[i];
		enum tare_rung rung = rung_of(cell);
		if (!is_rate(cell) ||
		    !tare_cell_has_text(cell, "part", tare_part_name(TARE_PART_KERNEL)) ||
		    tare_cell_number(cell, "n") != n || rung == TARE_RUNG_COUNT)
			continue;
		if (wanted == WANTED_NAIVE ? rung != TARE_RUNG_NAIVE
		                           : (wanted == WANTED_ROUNDED) != matmul_is_rounded(rung))
			continue;
		if (!best || cell->rate.median > best->rate.median)
			best = cell;
	}
	return best;
}

// ", 46 % of the FP32 ceiling" of the arithmetic that it does, or "".
static const char *ceiling_text(const struct tare_cell *cell, const struct tare_peaks *peaks,
                                char text[64])
{
	enum tare_ceiling which = matmul_compute_ceiling(rung_of(cell));
	double ceiling = peaks->present ? peaks->per_second[which] : NAN;

	text[0] = '\0';
	if (ceiling > 0)
		snprintf(text, 64, ", %.0f %% of the %s ceiling",
		         100 * 1e9 * cell->rate.median / ceiling,
		         which == TARE_CEILING_FP32 ? "FP32" : tare_ceiling_name(which));
	return text;
}

static void conclude_matmul(struct tare_result *result, const struct tare_result *matmul,
                            const struct tare_peaks *peaks)
{
	const struct tare_cell *best, *naive, *rounded;
	char rate[2 * TARE_UNIT_TEXT], share[64], gain[64] = "", factor[TARE_UNIT_TEXT];
	char fewer[192] = "";
	int64_t n = 0;

	for (size_t i = 0; i < matmul->cell_count; i++)
		if (tare_cell_number(&matmul->cells[i], "n") > n &&
		    rung_at(matmul, WANTED_FP32, tare_cell_number(&matmul->cells[i], "n")))
			n = tare_cell_number(&matmul->cells[i], "n");
	best = n > 0 ? rung_at(matmul, WANTED_FP32, n) : NULL;
	if (!best)
		return;
	naive = rung_at(matmul, WANTED_NAIVE, n);
	rounded = rung_at(matmul, WANTED_ROUNDED, n);
	if (rounded)
		snprintf(fewer, sizeof fewer, " With factors of fewer bits '%s' reaches %s%s.",
		         tare_rung_name(rung_of(rounded)),
		         flops_text(1e9 * rounded->rate.median, rate),
		         ceiling_text(rounded, peaks, share));
	if (naive && naive != best)
		snprintf(
		    gain, sizeof gain, " and %s times the naive kernel",
		    tare_format_significant(best->rate.median / naive->rate.median, 2, factor));
	tare_result_conclude(result, "matmul",
	                     "The fastest matrix product of n = %lld%s is '%s': %s in its "
	                     "kernel%s%s.%s",
	                     (long long)n, rounded ? " in FP32" : "", tare_rung_name(rung_of(best)),
	                     flops_text(1e9 * best->rate.median, rate),
	                     ceiling_text(best, peaks, share), gain, fewer);
}

// ---- overlap

// Its verdict, word for word but for the first letter.
static void conclude_overlap(struct tare_result *result, const struct tare_result *overlap)
{
	const char *text = conclusion_of(overlap, "worth-it");

	if (!text || !text[0])
		return;
	tare_result_conclude(result, "overlap", "Overlapping copies and kernels: %c%s",
	                     tolower((unsigned char)text[0]), text + 1);
}

void checkup_conclude(struct tare_result *result, const struct tare_peaks *peaks)
{
	const struct tare_result *latency = part_of(result, "latency");
	const struct tare_result *bandwidth = part_of(result, "bandwidth");
	const struct tare_result *matmul = part_of(result, "matmul");
	const struct tare_result *overlap = part_of(result, "overlap");

	conclude_pays(result, matmul);
	conclude_device(result);
	if (latency)
		conclude_launch(result, latency);
	if (bandwidth)
		conclude_link(result, bandwidth);
	if (peaks->present)
		conclude_ceilings(result, peaks);
	if (matmul)
		conclude_matmul(result, matmul, peaks);
	if (overlap)
		conclude_overlap(result, overlap);
}
