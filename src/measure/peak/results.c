// SPDX-License-Identifier: Apache-2.0
// What follows from the rates of `peak`: ceilings, charts, conclusions, warnings.
#include "measure/peak/internal.h"

#include "base/units.h"
#include "measure/core/precision.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_compute(int ceiling)
{
	return tare_ceiling_is_arithmetic((enum tare_ceiling)ceiling);
}

static const char *unit_of(int ceiling)
{
	return ceiling == TARE_CEILING_INT32 ? "Gop/s" : is_compute(ceiling) ? "GFLOP/s" : "GB/s";
}

// "64.5 TFLOP/s", "4.46 TB/s".
static const char *format_rate(double per_second, int ceiling, char text[2 * TARE_UNIT_TEXT])
{
	bool large = per_second >= 1e12;
	char number[TARE_UNIT_TEXT];

	tare_format_significant(per_second / (large ? 1e12 : 1e9), 3, number);
	snprintf(text, 2 * TARE_UNIT_TEXT, "%s %c%s", number, large ? 'T' : 'G',
	         unit_of(ceiling) + 1);
	return text;
}

// ---- ceilings

// How a ceiling comes about, and what makes it doubtful.
static const char *ceiling_method(const struct tare_cell *cell, char text[128])
{
	bool few = cell && !isfinite(cell->rate.ci_low);
	char doubt[64] = "";

	if (few)
		snprintf(doubt, sizeof doubt, ", from %zu sample%s", cell->summary.n,
		         cell->summary.n == 1 ? "" : "s");
	else if (cell)
		snprintf(doubt, sizeof doubt, ", not known to 1 %%, from %zu samples",
		         cell->summary.n);
	snprintf(text, 128, "the best median of its kind%s",
	         cell && cell->converged ? ", with its interval" : doubt);
	return text;
}

static void add_ceiling(struct tare_result *result, int ceiling, const char *quantity,
                        const char *unit, double value, double low, double high, const char *method)
{
	struct tare_cell *cell = tare_result_add_cell(result, quantity, unit, "model");

	tare_labels_set_text(&cell->labels, "group", "ceiling");
	tare_labels_set_text(&cell->labels, "what", tare_ceiling_name((enum tare_ceiling)ceiling));
	tare_cell_set_method(cell, method);
	if (!isfinite(value)) {
		tare_cell_set_absent(cell, "%s",
		                     ceiling == TARE_CEILING_CACHE
		                         ? "no working set was read faster than memory"
		                         : "no figure of its kind");
		return;
	}
	tare_cell_set_model(cell, value, low, high);
}

static const char *theory_origin(const struct peak *peak, int ceiling, char text[128])
{
	const struct tare_fact *fact =
	    &peak->run->facts->fact[tare_ceiling_fact((enum tare_ceiling)ceiling)];

	snprintf(text, 128, "of the device's facts, origin %s", tare_origin_name(fact->origin));
	return text;
}

static void add_paper_share(struct tare_result *result, int ceiling, double best, double theory,
                            double low, double high)
{
	if (!isfinite(best))
		return;
	add_ceiling(result, ceiling, "share of theoretical", "%", 100 * best / theory,
	            1e11 * low / theory, 1e11 * high / theory, "attainable over theoretical");
}

// What this device, or its API, need not have.
static bool is_optional(const struct peak *peak, enum tare_ceiling ceiling)
{
	if (ceiling == TARE_CEILING_SHARED_CACHE)
		return true;
	return !peak->has_library && ceiling >= TARE_CEILING_TENSOR_TF32 &&
	       ceiling <= TARE_CEILING_TENSOR_BF16;
}

static void add_ceilings(const struct peak *peak, const struct tare_peaks *peaks)
{
	struct tare_result *result = peak->run->result;
	char origin[128];

	for (int c = 0; c < TARE_CEILING_COUNT; c++) {
		double best = peaks->per_second[c], theory = peaks->theoretical[c];
		const struct tare_cell *cell =
		    isfinite(best) ? tare_peaks_cell(result, (enum tare_ceiling)c) : NULL;
		if (!isfinite(best) && is_optional(peak, (enum tare_ceiling)c))
			continue;
		double low = cell ? cell->rate.ci_low : NAN, high = cell ? cell->rate.ci_high : NAN;
		const struct peak_clock *clock = cell ? peak_find_clock(peak, cell) : NULL;
		add_ceiling(result, c, "attainable", unit_of(c), best / 1e9, low, high,
		            ceiling_method(cell, origin));
		if (isfinite(theory)) {
			theory_origin(peak, c, origin);
			add_ceiling(result, c, "theoretical", unit_of(c), theory / 1e9, NAN, NAN,
			            origin);
			add_paper_share(result, c, best, theory, low, high);
		}
		if (clock)
			peak_add_clock(peak, (enum tare_ceiling)c, clock, best, theory);
	}
}

// ---- charts

// One roof: rising with the memory's rate up to the ridge, then flat.
static void add_roof(struct tare_plot *plot, const struct tare_peaks *peaks, int compute,
                     int memory)
{
	double flat = peaks->per_second[compute] / 1e9, slope = peaks->per_second[memory] / 1e9;
	double ridge = flat / slope, from = 0.0625, to = 1024;
	struct tare_plot_series *series;
	char name[96];

	if (!isfinite(flat) || !isfinite(slope))
		return;
	snprintf(name, sizeof name, "%s, %s", tare_ceiling_name((enum tare_ceiling)compute),
	         tare_ceiling_name((enum tare_ceiling)memory));
	series = tare_plot_add_series(plot, name);
	for (double x = from; x < ridge && x < to; x *= 4)
		tare_plot_series_add(series, (struct tare_point){ x, x * slope, NAN, NAN });
	for (double x = ridge > from ? ridge : from; x < 4 * to; x *= 4)
		tare_plot_series_add(series,
		                     (struct tare_point){ x < to ? x : to, flat, NAN, NAN });
}

static void add_roofline(struct tare_result *result, const struct tare_peaks *peaks)
{
	static const int computes[] = { TARE_CEILING_FP32, TARE_CEILING_FP64, TARE_CEILING_FP16 };
	static const int memories[] = { TARE_CEILING_MEMORY_READ, TARE_CEILING_CACHE,
		                        TARE_CEILING_LOCAL };
	struct tare_plot *plot;

	if (!isfinite(peaks->per_second[TARE_CEILING_MEMORY_READ]))
		return;
	plot = tare_result_add_plot(result, "roofline", "What is attainable, by arithmetic a byte",
	                            TARE_PLOT_LINE);
	tare_plot_set_note(plot, "A kernel that does x FLOP for each byte cannot be above "
	                         "its line: the rising part is the rate of its data, the "
	                         "flat part that of arithmetic.");
	tare_plot_axes(plot, "arithmetic intensity", "FLOP/B", true, "attainable", "GFLOP/s", true);
	for (int c = 0; c < 3; c++)
		for (int m = 0; m < 3; m++)
			if (c == 0 || m == 0)
				add_roof(plot, peaks, computes[c], memories[m]);
}

// Adds the rates of the cells with this group and, if `label` is not NULL, this text, over the
// number `x`. The cells are sorted.
static void add_rates(struct tare_plot *plot, const struct tare_result *result, const char *name,
                      const char *group, const char *label, const char *text, const char *x)
{
	struct tare_plot_series *series = NULL;

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (cell->absent || !cell->rate.present ||
		    strcmp(tare_cell_text(cell, "group"), group) ||
		    (label && strcmp(tare_cell_text(cell, label), text)))
			continue;
		if (!series)
			series = tare_plot_add_series(plot, name);
		tare_plot_series_add(series,
		                     (struct tare_point){ (double)tare_cell_number(cell, x),
		                                          cell->rate.median, cell->rate.ci_low,
		                                          cell->rate.ci_high });
	}
}

static void add_charts(struct tare_result *result)
{
	struct tare_plot *plot = tare_result_add_plot(
	    result, "sweep", "Reading a working set again and again", TARE_PLOT_LINE);

	tare_plot_set_note(plot, "The total of all units; one work-group on "
	                         "each goes round the whole set.");
	tare_plot_axes(plot, "working set", "B", true, "read", "GB/s", true);
	add_rates(plot, result, "read", "sweep", NULL, NULL, "bytes");
	plot = tare_result_add_plot(result, "compute", "Multiply-adds by vector width",
	                            TARE_PLOT_LINE);
	tare_plot_axes(plot, "vector width", "", true, "rate", "Gop/s", true);
	for (int type = 0; type < PEAK_TYPES; type++)
		add_rates(plot, result, peak_type_names[type], "compute", "type",
		          peak_type_names[type], "width");
	plot =
	    tare_result_add_plot(result, "memory", "Device memory by vector width", TARE_PLOT_LINE);
	tare_plot_axes(plot, "vector width", "", true, "rate", "GB/s", false);
	for (int op = 0; op < PEAK_STRIDED; op++)
		add_rates(plot, result, peak_op_names[op], "memory", "op", peak_op_names[op],
		          "width");
}

static bool is_tensor(const struct tare_cell *cell)
{
	return tare_cell_has_text(cell, "group", "tensor") && !cell->absent && cell->rate.present;
}

// What each precision is for a tick of the clock that it was measured at: what a power cap leaves
// alone.
static void add_per_clock(const struct peak *peak, struct tare_plot *plot, const char *precision)
{
	const struct tare_result *result = peak->run->result;
	struct tare_plot_series *series = NULL;

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const struct peak_clock *clock =
		    is_tensor(cell) && tare_cell_has_text(cell, "type", precision)
		        ? peak_find_clock(peak, cell)
		        : NULL;
		if (!clock)
			continue;
		if (!series)
			series = tare_plot_add_series(plot, precision);
		tare_plot_series_add(
		    series, (struct tare_point){ (double)tare_cell_number(cell, "n"),
		                                 1e9 * cell->rate.median /
		                                     (clock->range.median_hz * peak->units),
		                                 NAN, NAN });
	}
}

static void add_tensor_charts(const struct peak *peak)
{
	struct tare_result *result = peak->run->result;
	bool any = false, clocks = false;
	struct tare_plot *plot;

	for (size_t i = 0; i < result->cell_count; i++)
		if (is_tensor(&result->cells[i])) {
			any = true;
			clocks |= peak_find_clock(peak, &result->cells[i]) != NULL;
		}
	for (int per_clock = 0; any && per_clock <= clocks; per_clock++) {
		plot = tare_result_add_plot(result, per_clock ? "tensor-per-clock" : "tensor",
		                            per_clock ? "Matrix library, for each clock and unit"
		                                      : "Matrix library by size",
		                            TARE_PLOT_LINE);
		if (per_clock)
			tare_plot_set_note(plot, "Over the median clock while each was "
			                         "sampled: a power cap lowers the clock, "
			                         "hardly this.");
		tare_plot_axes(plot, "rows and columns", "", true, "rate",
		               per_clock ? "FLOP" : "GFLOP/s", false);
		for (int p = TARE_BLAS_TF32; p < TARE_BLAS_PRECISION_COUNT; p++) {
			const char *name = tare_precision_name((enum tare_blas_precision)p);
			if (per_clock)
				add_per_clock(peak, plot, name);
			else
				add_rates(plot, result, name, "tensor", "type", name, "n");
		}
	}
}

// ---- conclusions

static void add_share(char *text, size_t size, const struct tare_peaks *peaks, int c)
{
	char best[2 * TARE_UNIT_TEXT], theory[2 * TARE_UNIT_TEXT];
	double share = 100 * peaks->per_second[c] / peaks->theoretical[c];
	size_t used = strlen(text);

	if (!isfinite(peaks->per_second[c]))
		return;
	used += (size_t)snprintf(text + used, size - used, "%s%s %s", used ? ", " : "",
	                         tare_ceiling_name((enum tare_ceiling)c),
	                         format_rate(peaks->per_second[c], c, best));
	if (isfinite(peaks->theoretical[c]) && used < size)
		snprintf(text + used, size - used, " (%.*f %% of the %s on paper)",
		         share < 1 ? 2 : 0, share, format_rate(peaks->theoretical[c], c, theory));
}

static void conclude_reached(struct tare_result *result, const struct tare_peaks *peaks)
{
	double flat = peaks->per_second[TARE_CEILING_FP32];
	double slope = peaks->per_second[TARE_CEILING_MEMORY_READ];
	char text[768] = "", ridge[TARE_UNIT_TEXT];

	add_share(text, sizeof text, peaks, TARE_CEILING_FP32);
	add_share(text, sizeof text, peaks, TARE_CEILING_FP64);
	add_share(text, sizeof text, peaks, TARE_CEILING_FP16);
	for (int c = TARE_CEILING_TENSOR_TF32; c <= TARE_CEILING_TENSOR_BF16; c++)
		add_share(text, sizeof text, peaks, c);
	add_share(text, sizeof text, peaks, TARE_CEILING_MEMORY_READ);
	if (text[0])
		tare_result_conclude(result, "attainable", "This device reaches: %s.", text);
	if (isfinite(flat) && isfinite(slope))
		tare_result_conclude(
		    result, "ridge",
		    "A kernel in single precision that does less than %s FLOP for each byte that "
		    "it "
		    "reads from device memory is limited by memory, not by arithmetic.",
		    tare_format_significant(flat / slope, 2, ridge));
}

// What ends where the sweep falls.
static const char *what_ends(const struct tare_sweep_fall *fall)
{
	static const char *const words[] = {
		[TARE_FALLEN_CACHE] = "a cache ends",
		[TARE_FALLEN_SHARED] = "the shared cache ends",
		[TARE_FALLEN_NEARER] = "a cache nearer to the units ends",
	};
	return words[fall->cache];
}

static void conclude_caches(const struct peak *peak)
{
	struct tare_result *result = peak->run->result;
	struct tare_sweep_fall falls[TARE_SWEEP_FALLS];
	size_t count = tare_sweep_falls(result, peak->cache_bytes, falls), used = 0;
	char text[400] = "", known[80], from[TARE_UNIT_TEXT], to[TARE_UNIT_TEXT];

	if (count == 0)
		return;
	if (peak->cache_bytes)
		snprintf(known, sizeof known, "a last-level cache of %s",
		         tare_format_bytes(peak->cache_bytes, from));
	else
		snprintf(known, sizeof known, "no size of its last-level cache");
	for (size_t i = 0; i < count && used < sizeof text; i++)
		used += (size_t)snprintf(
		    text + used, sizeof text - used, "%s%s and %s, where %s",
		    i ? ", and between " : "", tare_format_bytes((uint64_t)falls[i].from, from),
		    tare_format_bytes((uint64_t)falls[i].to, to), what_ends(&falls[i]));
	tare_result_conclude(result, "caches",
	                     "Reading a working set, each unit all of it, slows down "
	                     "between %s (the driver tells %s).",
	                     text, known);
}

// ---- warnings

// No last-level cache known today comes near it.
#define SURELY_UNCACHED (UINT64_C(2) << 30)

static bool any_memory(const struct tare_result *result)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (!result->cells[i].absent &&
		    strcmp(tare_cell_text(&result->cells[i], "group"), "memory") == 0)
			return true;
	return false;
}

static void warn(struct peak *peak, const char *left_out)
{
	struct tare_result *result = peak->run->result;
	char buffer[TARE_UNIT_TEXT], cache[TARE_UNIT_TEXT];

	if (any_memory(result) && peak->cache_bytes == 0 && peak->buffer_bytes < SURELY_UNCACHED)
		tare_result_warn(result, "cache-unknown",
		                 "compare with the largest working set of the sweep",
		                 "the driver tells no cache size; memory was measured with "
		                 "buffers of %s, which may be cached in part",
		                 tare_format_bytes(peak->buffer_bytes, buffer));
	else if (any_memory(result) && peak->buffer_bytes < 2 * peak->cache_bytes)
		tare_result_warn(result, "may-be-cached",
		                 "read the memory rates as those of cache and memory "
		                 "together",
		                 "there was room for buffers of %s only, and the cache has "
		                 "%s",
		                 tare_format_bytes(peak->buffer_bytes, buffer),
		                 tare_format_bytes(peak->cache_bytes, cache));
	if (left_out)
		tare_result_warn(result, "left-out", "--budget 30 has room for all",
		                 "the budget had no room for all; left out: %s", left_out);
	tare_result_action_is_options(result, "left-out");
}

void peak_conclude(struct peak *peak, const char *left_out)
{
	struct tare_result *result = peak->run->result;
	struct tare_peaks peaks;

	tare_result_sort_cells(result);
	tare_peaks_of(result, &peaks);
	add_ceilings(peak, &peaks);
	add_roofline(result, &peaks);
	add_charts(result);
	add_tensor_charts(peak);
	conclude_reached(result, &peaks);
	conclude_caches(peak);
	warn(peak, left_out);
}
