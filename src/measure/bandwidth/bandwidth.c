// SPDX-License-Identifier: Apache-2.0
#include "measure/bandwidth/bandwidth.h"

#include "backend/call.h"
#include "base/units.h"
#include "measure/bandwidth/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIT_NS INT64_C(100000000)
#define SIZES_MAX 160
// A copy of so many bytes gets twice the share of a small one.
#define WEIGHT_BYTES (UINT64_C(64) << 20)
#define BOTH_LINES (UINT64_C(7) << TARE_LINE_BOTH_TO_DEVICE)

struct sizes {
	uint64_t at[SIZES_MAX];
	size_t count;
};

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	return (left > right) - (left < right);
}

static void add_size(struct sizes *sizes, const struct bandwidth *bandwidth, uint64_t bytes)
{
	if (bytes < bandwidth->from_bytes || bytes > bandwidth->to_bytes ||
	    sizes->count == SIZES_MAX)
		return;
	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->at[i] == bytes)
			return;
	sizes->at[sizes->count++] = bytes;
}

// Powers of two (of four for a quick look), some decimal sizes that fit no page or cache line, and
// both ends as asked for.
static struct sizes all_sizes(const struct bandwidth *bandwidth)
{
	struct sizes sizes = { 0 };

	for (uint64_t bytes = 1; bytes && bytes <= bandwidth->to_bytes;
	     bytes *= bandwidth->coarse ? 4 : 2)
		add_size(&sizes, bandwidth, bytes);
	for (uint64_t bytes = 100000; !bandwidth->coarse && bytes <= 100000000; bytes *= 10)
		add_size(&sizes, bandwidth, bytes);
	add_size(&sizes, bandwidth, bandwidth->from_bytes);
	add_size(&sizes, bandwidth, bandwidth->to_bytes);
	qsort(sizes.at, sizes.count, sizeof sizes.at[0], compare);
	return sizes;
}

static void keep_multiples(struct sizes *sizes, uint64_t bytes)
{
	for (size_t i = 0; bytes && i < sizes->count; i++)
		if (sizes->at[i] % bytes)
			sizes->at[i--] = sizes->at[--sizes->count];
}

// Of two, and no smaller than a pixel.
static void keep_powers(struct sizes *sizes)
{
	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->at[i] < BANDWIDTH_PIXEL_BYTES || (sizes->at[i] & (sizes->at[i] - 1)))
			sizes->at[i--] = sizes->at[--sizes->count];
}

// Fewer for the lines that answer a question of kind, not of size. row_bytes: of rectangles, else
// 0.
static struct sizes few_sizes(const struct bandwidth *bandwidth, uint64_t row_bytes, bool ends)
{
	struct sizes sizes = { 0 };
	struct bandwidth half = *bandwidth;

	if (row_bytes)
		half.to_bytes /= 2; // the host's side spans twice the bytes
	for (uint64_t bytes = UINT64_C(64) << 10; bytes <= bandwidth->few_to_bytes; bytes *= 16)
		add_size(&sizes, &half, bytes);
	if (sizes.count == 0 || ends) {
		add_size(&sizes, &half, half.from_bytes);
		add_size(&sizes, &half, half.to_bytes);
	}
	keep_multiples(&sizes, row_bytes);
	qsort(sizes.at, sizes.count, sizeof sizes.at[0], compare);
	return sizes;
}

static struct sizes sizes_of(const struct bandwidth *bandwidth, enum tare_line line)
{
	enum tare_line_group group = tare_lines[line].group;
	uint64_t row_bytes = 0;

	if (group == TARE_LINES_COPY)
		return all_sizes(bandwidth);
	if (line == TARE_LINE_NARROW_TO_DEVICE || line == TARE_LINE_NARROW_TO_HOST)
		row_bytes = BANDWIDTH_NARROW_BYTES;
	else if (group == TARE_LINES_RECTANGLE)
		row_bytes = BANDWIDTH_ROW_BYTES;
	struct sizes sizes = few_sizes(bandwidth, row_bytes, group == TARE_LINES_MAP);
	if (group == TARE_LINES_IMAGE)
		keep_powers(&sizes);
	if (group != TARE_LINES_PAGES)
		return sizes;
	keep_multiples(&sizes, BANDWIDTH_HUGE_BYTES);
	if (sizes.count == 0 && bandwidth->to_bytes >= BANDWIDTH_HUGE_BYTES)
		add_size(&sizes, bandwidth,
		         bandwidth->to_bytes - bandwidth->to_bytes % BANDWIDTH_HUGE_BYTES);
	return sizes;
}

// ---- what the budget allows

// Each size is copied at least so often: tried twice, poisoned, warmed up, sampled, verified.
#define LEAST_COPIES 8
#define LEAST_LARGE 6
// Sizes of the lines that answer a question of kind.
#define FEW_TO (UINT64_C(256) << 20)
#define FEW_SHORT (UINT64_C(16) << 20)
// The simulated device really moves each byte, while its clock stands still: so many bytes in the
// samples of one measurement of a larger copy than FEW_SHORT, but a few samples in any case.
#define SIMULATED_BYTES (UINT64_C(512) << 20)
#define SIMULATED_LEAST 2
#define PROBE_BYTES (UINT64_C(16) << 20)

// Bytes moved if every measurement takes a single sample.
static double least_work(const struct bandwidth *bandwidth)
{
	double work = 0;

	for (int line = 0; line < TARE_LINE_COUNT; line++) {
		struct sizes sizes;
		if (!(bandwidth->lines >> line & 1))
			continue;
		sizes = sizes_of(bandwidth, (enum tare_line)line);
		for (size_t i = 0; i < sizes.count; i++)
			work += (sizes.at[i] >= BANDWIDTH_LARGE ? LEAST_LARGE : LEAST_COPIES) *
			        (double)sizes.at[i];
	}
	return work;
}

// Host time of one copy from the heap, in bytes a second; 0 where that cannot be tried. Fails only
// where the device is gone.
static int probe_rate(struct bandwidth *bandwidth, double *rate, struct tare_error *error)
{
	uint64_t bytes = bandwidth->to_bytes < PROBE_BYTES ? bandwidth->to_bytes : PROBE_BYTES;
	struct tare_memory *heap = NULL, *device = NULL;
	struct tare_operation copy = { .type = TARE_OPERATION_COPY };
	struct tare_error why = { 0 };
	int status = 0;

	*rate = 0;
	if (tare_memory_create(bandwidth->run->device, TARE_MEMORY_PAGEABLE, bytes, &heap, NULL) ==
	        0 &&
	    tare_memory_create(bandwidth->run->device, TARE_MEMORY_DEVICE, bytes, &device, NULL) ==
	        0 &&
	    heap->host) {
		struct tare_host_time begin;
		memset(heap->host, 1, bytes);
		copy.source = (struct tare_span){ heap, 0, bytes };
		copy.destination = (struct tare_span){ device, 0, bytes };
		status = tare_bench_run(bandwidth->bench.plain, &copy, &why);
		if (status == 0) {
			begin = tare_run_now(bandwidth->run);
			status = tare_bench_run(bandwidth->bench.plain, &copy, &why);
			if (status == 0)
				*rate = (double)bytes * 1e9 /
				        (double)(tare_host_elapsed_ns(
				                     begin, tare_run_now(bandwidth->run)) +
				                 1);
		}
	}
	bool gone = tare_device_is_gone(status);
	// Freeing behind it could block.
	if (gone)
		tare_device_abandon(bandwidth->run->device);
	if (gone && error)
		*error = why;
	tare_memory_free(device);
	tare_memory_free(heap);
	return gone ? status : 0;
}

// Leaves out the largest sizes where one sample of each measurement alone would take more than two
// thirds of the budget: first of the lines that answer a question of kind, then of all; a warning
// says so.
static int bound_by_budget(struct bandwidth *bandwidth, struct tare_error *error)
{
	double rate, budget_s = (double)bandwidth->run->budget_ns * 1e-9;
	double wanted_work = least_work(bandwidth);
	uint64_t wanted = bandwidth->to_bytes;
	char now[TARE_UNIT_TEXT], then[TARE_UNIT_TEXT], seconds[TARE_UNIT_TEXT], action[64];

	int status = probe_rate(bandwidth, &rate, error);

	if (status < 0 || !(rate > 0))
		return status;
	if (least_work(bandwidth) > rate * budget_s * 2 / 3)
		bandwidth->few_to_bytes = FEW_SHORT;
	while (bandwidth->to_bytes / 2 >= bandwidth->from_bytes &&
	       least_work(bandwidth) > rate * budget_s * 2 / 3)
		bandwidth->to_bytes /= 2;
	if (bandwidth->to_bytes == wanted)
		return 0;
	double needed_s = ceil(1.8 * wanted_work / rate / 10) * 10;
	bool sensible = needed_s <= TARE_LONGEST_ADVICE_S;
	if (sensible)
		snprintf(action, sizeof action, "--budget %.0f, or fewer --lines", needed_s);
	else
		snprintf(action, sizeof action, "ask for fewer --lines");
	tare_result_warn(bandwidth->run->result, "sizes-short", action,
	                 "sizes end at %s, not %s: %s s is too short for more",
	                 tare_format_bytes(bandwidth->to_bytes, now),
	                 tare_format_bytes(wanted, then),
	                 tare_format_significant(budget_s, 3, seconds));
	if (sensible)
		tare_result_action_is_options(bandwidth->run->result, "sizes-short");
	return 0;
}

// The six lines of copies are what is asked for most; and a large copy takes so long that an even
// share of the budget would end after a few. Pageable ones are slower, and vary more.
static double weight_of(const struct transfer *transfer)
{
	if (tare_lines[transfer->line].group != TARE_LINES_COPY)
		return 1;
	return (tare_lines[transfer->line].host_is_main ? 2 : 1) *
	       (2 + 2 * (double)transfer->bytes / (double)WEIGHT_BYTES);
}

static size_t most_samples(const struct transfer *transfer)
{
	uint64_t samples = SIMULATED_BYTES / transfer->bytes;

	if (!transfer->bandwidth->run->simulated || transfer->bytes <= FEW_SHORT)
		return 0;
	return samples < SIMULATED_LEAST ? SIMULATED_LEAST : (size_t)samples;
}

static void plan_one(struct transfer *transfer, struct tare_measurement *measurement)
{
	static void (*const plans[])(struct transfer *transfer,
	                             struct tare_measurement *measurement) = {
		[TARE_LINES_COPY] = transfer_plan_copy,
		[TARE_LINES_TWICE] = transfer_plan_copy,
		[TARE_LINES_UNALIGNED] = transfer_plan_copy,
		[TARE_LINES_BOTH] = transfer_plan_both,
		[TARE_LINES_MAP] = transfer_plan_map,
		[TARE_LINES_RECTANGLE] = transfer_plan_rectangle,
		[TARE_LINES_HOST_MEMORY] = transfer_plan_host_memory,
		[TARE_LINES_KERNEL] = transfer_plan_kernel,
		[TARE_LINES_SHARED] = transfer_plan_shared,
		[TARE_LINES_FIRST_TOUCH] = transfer_plan_first_touch,
		[TARE_LINES_PAGES] = transfer_plan_pages,
		[TARE_LINES_IMAGE] = transfer_plan_image,
	};
	_Static_assert(sizeof plans / sizeof *plans == TARE_LINE_GROUPS, "each group has a plan");
	char text[TARE_UNIT_TEXT];

	measurement->weight = weight_of(transfer);
	measurement->most_samples = most_samples(transfer);
	snprintf(measurement->title, sizeof measurement->title, "%s, %s",
	         tare_lines[transfer->line].title, tare_format_bytes(transfer->bytes, text));
	measurement->context = transfer;
	plans[tare_lines[transfer->line].group](transfer, measurement);
}

// A line for which none of the sizes will do still has a row, which says so.
static void add_sizeless(struct bandwidth *bandwidth, enum tare_line line)
{
	struct tare_cell *cell =
	    tare_result_add_cell(bandwidth->run->result, "time", "ps", "device");

	tare_labels_set_text(&cell->labels, "line", tare_lines[line].name);
	if (tare_lines[line].group == TARE_LINES_IMAGE) {
		tare_cell_set_absent(cell, "needs a size that is a power of two");
		return;
	}
	if (tare_lines[line].group == TARE_LINES_PAGES) {
		tare_cell_set_absent(cell, "needs a size that is a multiple of 2 MB, a huge page");
		return;
	}
	tare_cell_set_absent(cell,
	                     "needs a size that is a multiple of %s and at most half of "
	                     "the largest buffer",
	                     line == TARE_LINE_NARROW_TO_DEVICE || line == TARE_LINE_NARROW_TO_HOST
	                         ? "256 B"
	                         : "4 KB");
}

struct plan {
	struct tare_measurement *measurements;
	struct transfer *transfers;
	size_t count;
};

static int make_plan(struct bandwidth *bandwidth, struct plan *plan)
{
	size_t capacity = (size_t)TARE_LINE_COUNT * SIZES_MAX;

	plan->measurements = calloc(capacity, sizeof *plan->measurements);
	plan->transfers = calloc(capacity, sizeof *plan->transfers);
	if (!plan->measurements || !plan->transfers)
		return -ENOMEM;
	for (int line = 0; line < TARE_LINE_COUNT; line++) {
		struct sizes sizes;
		// The three lines of both ways are one measurement, the two within the device too.
		if (!BANDWIDTH_HAS(bandwidth->lines, line) || line == TARE_LINE_DEVICE_TWICE ||
		    line == TARE_LINE_BOTH_TO_HOST || line == TARE_LINE_BOTH_TOTAL)
			continue;
		sizes = sizes_of(bandwidth, (enum tare_line)line);
		if (sizes.count == 0)
			add_sizeless(bandwidth, (enum tare_line)line);
		for (size_t i = 0; i < sizes.count; i++) {
			struct transfer *transfer = &plan->transfers[plan->count];
			*transfer = (struct transfer){ .bandwidth = bandwidth,
				                       .line = (enum tare_line)line,
				                       .bytes = sizes.at[i],
				                       .batch = 1 };
			plan_one(transfer, &plan->measurements[plan->count++]);
		}
	}
	return 0;
}

static void free_plan(struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		tare_measurement_clear(&plan->measurements[i]);
	free(plan->measurements);
	free(plan->transfers);
}

static void add_parameters(const struct bandwidth *bandwidth)
{
	struct tare_labels *parameters = &bandwidth->run->result->parameters;
	char names[2048] = "";
	size_t used = 0;

	for (int i = 0; i < TARE_LINE_COUNT && used < sizeof names; i++)
		if (bandwidth->lines >> i & 1)
			used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
			                         used ? "," : "", tare_lines[i].name);
	tare_labels_set_number(parameters, "from_bytes", (int64_t)bandwidth->from_bytes);
	tare_labels_set_number(parameters, "to_bytes", (int64_t)bandwidth->to_bytes);
	tare_labels_set_text(parameters, "lines", names);
}

// Everything that is derived from the cells; also after an interruption or a lost device.
static void conclude(struct bandwidth *bandwidth)
{
	bandwidth_judge_maps(bandwidth);
	bandwidth_add_fits(bandwidth);
	bandwidth_add_plots(bandwidth);
	bandwidth_add_advice(bandwidth);
}

static void warn_few(struct bandwidth *bandwidth, const struct plan *plan)
{
	char limit[TARE_UNIT_TEXT];

	struct tare_result *result = bandwidth->run->result;

	for (size_t i = 0; i < plan->count; i++)
		if (plan->measurements[i].most_samples &&
		    result->cells[plan->measurements[i].figures[0].cell].summary.n > 0) {
			tare_result_warn(
			    result, "few-samples", "measure smaller ones for an interval",
			    "copies above %s were sampled %d to %d times: the simulated device "
			    "really "
			    "moves every byte",
			    tare_format_bytes(FEW_SHORT, limit), SIMULATED_LEAST,
			    (int)(SIMULATED_BYTES / FEW_SHORT / 2));
			return;
		}
}

static int measure(struct bandwidth *bandwidth, struct tare_error *error)
{
	struct plan plan = { 0 };
	int status;

	add_parameters(bandwidth);
	status = make_plan(bandwidth, &plan);
	if (status < 0)
		status = tare_fail(error, -status, "out of memory");
	else
		status = tare_run_measure(bandwidth->run, plan.measurements, plan.count, error);
	if (status == 0 || tare_run_is_partial(bandwidth->run, status)) {
		warn_few(bandwidth, &plan);
		conclude(bandwidth);
		status = tare_run_end(bandwidth->run, status, error);
	}
	free_plan(&plan);
	return status;
}

static uint64_t usual_lines(void)
{
	uint64_t lines = 0;

	for (int line = 0; line < TARE_LINE_COUNT; line++)
		if (!tare_lines[line].extra)
			lines |= UINT64_C(1) << line;
	return lines;
}

int tare_measure_bandwidth(struct tare_run *run, const struct tare_bandwidth_options *options,
                           struct tare_error *error)
{
	struct bandwidth bandwidth = {
		.run = run,
		.from_bytes =
		    options && options->from_bytes ? options->from_bytes : TARE_BANDWIDTH_FROM,
		.to_bytes = options && options->to_bytes ? options->to_bytes : TARE_BANDWIDTH_TO,
		.lines = options ? options->lines : 0,
		.coarse = options && options->coarse,
	};
	int status = tare_run_begin(run, TARE_BANDWIDTH_BUDGET_NS, error);

	if (status < 0)
		return status;
	bandwidth.few_to_bytes =
	    run->simulated && !(options && options->to_bytes) ? FEW_SHORT : FEW_TO;
	if (bandwidth.lines == 0)
		bandwidth.lines = usual_lines();
	if (BANDWIDTH_HAS(bandwidth.lines, TARE_LINE_DEVICE_TWICE))
		bandwidth.lines |= UINT64_C(1) << TARE_LINE_DEVICE_TO_DEVICE;
	if (bandwidth.lines & BOTH_LINES)
		bandwidth.lines |= BOTH_LINES;
	status = tare_bench_open(run, FIT_NS, &bandwidth.bench, error);
	status = status ?: bound_by_budget(&bandwidth, error);
	status = status ?: bandwidth_open_buffers(&bandwidth, error);
	status = status ?: bandwidth_open_kernel(&bandwidth, error);
	tare_run_restart(run);
	status = status ?: measure(&bandwidth, error);
	if (tare_device_is_gone(status))
		tare_device_abandon(run->device);
	bandwidth_close_buffers(&bandwidth);
	tare_kernel_free(bandwidth.kernel);
	tare_module_free(bandwidth.module);
	tare_bench_close(&bandwidth.bench);
	return status
	           ?: tare_run_fail_if_wrong(
	                  run, "copies whose destination did not hold what was sent", error);
}
