// SPDX-License-Identifier: Apache-2.0
#include "measure/bandwidth.h"

#include "base/units.h"
#include "measure/bandwidth_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIT_NS INT64_C(100000000)
#define SIZES_MAX 160
#define BOTH_LINES (7u << TARE_LINE_BOTH_TO_DEVICE)

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

// Powers of two, some decimal sizes that fit no page or cache line, and both ends as asked for.
static struct sizes all_sizes(const struct bandwidth *bandwidth)
{
	struct sizes sizes = { 0 };

	for (uint64_t bytes = 1; bytes && bytes <= bandwidth->to_bytes; bytes *= 2)
		add_size(&sizes, bandwidth, bytes);
	for (uint64_t bytes = 100000; bytes <= 100000000; bytes *= 10)
		add_size(&sizes, bandwidth, bytes);
	add_size(&sizes, bandwidth, bandwidth->from_bytes);
	add_size(&sizes, bandwidth, bandwidth->to_bytes);
	qsort(sizes.at, sizes.count, sizeof sizes.at[0], compare);
	return sizes;
}

// Fewer for the lines that answer a question of kind, not of size.
static struct sizes few_sizes(const struct bandwidth *bandwidth, bool rectangle, bool ends)
{
	struct sizes sizes = { 0 };
	struct bandwidth half = *bandwidth;

	if (rectangle)
		half.to_bytes /= 2; // the host's side spans twice the bytes
	for (uint64_t bytes = UINT64_C(64) << 10; bytes <= UINT64_C(256) << 20; bytes *= 16)
		add_size(&sizes, &half, bytes);
	if (sizes.count == 0 || ends) {
		add_size(&sizes, &half, half.from_bytes);
		add_size(&sizes, &half, half.to_bytes);
	}
	for (size_t i = 0; rectangle && i < sizes.count; i++)
		if (sizes.at[i] % BANDWIDTH_ROW_BYTES)
			sizes.at[i--] = sizes.at[--sizes.count];
	qsort(sizes.at, sizes.count, sizeof sizes.at[0], compare);
	return sizes;
}

static struct sizes sizes_of(const struct bandwidth *bandwidth, enum tare_line line)
{
	const char *group = tare_lines[line].group;

	if (strcmp(group, "copy") == 0)
		return all_sizes(bandwidth);
	return few_sizes(bandwidth, strcmp(group, "rectangle") == 0, strcmp(group, "map") == 0);
}

static int plan_one(struct transfer *transfer, struct tare_measurement *measurement)
{
	const char *group = tare_lines[transfer->line].group;
	char text[TARE_UNIT_TEXT];

	snprintf(measurement->title, sizeof measurement->title, "%s, %s",
	         tare_lines[transfer->line].title, tare_format_bytes(transfer->bytes, text));
	measurement->context = transfer;
	if (strcmp(group, "both") == 0)
		return transfer_plan_both(transfer, measurement);
	if (strcmp(group, "map") == 0)
		return transfer_plan_map(transfer, measurement);
	if (strcmp(group, "rectangle") == 0)
		return transfer_plan_rectangle(transfer, measurement);
	if (strcmp(group, "first-touch") == 0)
		return transfer_plan_first_touch(transfer, measurement);
	return transfer_plan_copy(transfer, measurement);
}

// A line for which none of the sizes will do still has a row, which says so.
static int add_sizeless(struct bandwidth *bandwidth, enum tare_line line)
{
	struct tare_cell *cell =
	    tare_result_add_cell(bandwidth->run->result, "time", "ps", "device");

	if (!cell || tare_labels_set_text(&cell->labels, "line", tare_lines[line].name) < 0)
		return -ENOMEM;
	return tare_cell_set_absent(cell,
	                            "needs a size that is a multiple of 4 KB and at most half of "
	                            "the largest buffer");
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
		// The three lines of both ways are one measurement.
		if (!(bandwidth->lines >> line & 1) || line == TARE_LINE_BOTH_TO_HOST ||
		    line == TARE_LINE_BOTH_TOTAL)
			continue;
		sizes = sizes_of(bandwidth, (enum tare_line)line);
		if (sizes.count == 0 && add_sizeless(bandwidth, (enum tare_line)line) < 0)
			return -ENOMEM;
		for (size_t i = 0; i < sizes.count; i++) {
			struct transfer *transfer = &plan->transfers[plan->count];
			*transfer = (struct transfer){ .bandwidth = bandwidth,
				                       .line = (enum tare_line)line,
				                       .bytes = sizes.at[i],
				                       .batch = 1 };
			if (plan_one(transfer, &plan->measurements[plan->count++]) < 0)
				return -ENOMEM;
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

static int add_parameters(const struct bandwidth *bandwidth)
{
	struct tare_labels *parameters = &bandwidth->run->result->parameters;
	char names[512] = "";
	size_t used = 0;

	for (int i = 0; i < TARE_LINE_COUNT && used < sizeof names; i++)
		if (bandwidth->lines >> i & 1)
			used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
			                         used ? "," : "", tare_lines[i].name);
	if (tare_labels_set_number(parameters, "from_bytes", (int64_t)bandwidth->from_bytes) < 0 ||
	    tare_labels_set_number(parameters, "to_bytes", (int64_t)bandwidth->to_bytes) < 0)
		return -ENOMEM;
	return tare_labels_set_text(parameters, "lines", names);
}

// Everything that is derived from the cells; also after an interruption.
static int conclude(struct bandwidth *bandwidth)
{
	int status = bandwidth_judge_maps(bandwidth);

	if (status == 0)
		status = bandwidth_add_fits(bandwidth);
	if (status == 0)
		status = bandwidth_add_plots(bandwidth);
	if (status == 0)
		status = bandwidth_add_advice(bandwidth);
	return status < 0 ? status : tare_run_warn_convergence(bandwidth->run);
}

static int measure(struct bandwidth *bandwidth, struct tare_error *error)
{
	struct plan plan = { 0 };
	int status = add_parameters(bandwidth), concluded;

	if (status == 0)
		status = make_plan(bandwidth, &plan);
	if (status < 0)
		status = tare_fail(error, -status, "out of memory");
	else
		status = tare_run_measure(bandwidth->run, plan.measurements, plan.count, error);
	free_plan(&plan);
	if (status < 0 && status != -EINTR)
		return status;
	concluded = conclude(bandwidth);
	return concluded < 0 ? tare_fail(error, -concluded, "out of memory") : status;
}

static int fail_if_wrong(const struct tare_result *result, struct tare_error *error)
{
	size_t wrong = 0;

	for (size_t i = 0; i < result->cell_count; i++)
		wrong += result->cells[i].verified == TARE_WRONG;
	return wrong ? tare_fail(error, EBADMSG,
	                         "%zu figures are of copies whose destination did not "
	                         "hold what was sent",
	                         wrong)
	             : 0;
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
	};
	int status = tare_run_begin(run, TARE_BANDWIDTH_BUDGET_NS, error);

	if (status < 0)
		return status;
	if (bandwidth.lines == 0)
		bandwidth.lines = (UINT32_C(1) << TARE_LINE_COUNT) - 1;
	if (bandwidth.lines & BOTH_LINES)
		bandwidth.lines |= BOTH_LINES;
	status = tare_bench_open(run, FIT_NS, &bandwidth.bench, error);
	if (status == 0)
		status = bandwidth_open_buffers(&bandwidth, error);
	tare_run_restart(run);
	if (status == 0)
		status = measure(&bandwidth, error);
	bandwidth_close_buffers(&bandwidth);
	tare_bench_close(&bandwidth.bench);
	if (status == 0)
		status = fail_if_wrong(run->result, error);
	return status;
}
