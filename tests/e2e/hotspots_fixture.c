// SPDX-License-Identifier: Apache-2.0
// Writes counted kernels made by hand, among them one with a hostile name and one that is not
// decided: `hotspots_fixture page|json|text|none|timeline`, to the output.
#include "analysis/hotspots/samples.h"
#include "report/hotspots/hotspots.h"
#include "tests/unit/analysis/hotspots/made_counted.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Cores that are busier and busier, and a link that is used in the second half, by half.
static const struct tare_device_samples *made_samples(void)
{
	static struct tare_device_samples made = {
		.count = 5000,
		.losses = 2,
		.api = TARE_TRACE_CUDA,
		.interval_ns = 100000,
		.residual_ns = 7000,
		.clock_readings = 6,
		.to_ns = 500000000,
		.sampled = 0.9,
		.series_count = 2,
		.series = { { .key = "cores_active",
		              .title = "cores active",
		              .unit = TARE_SAMPLES_PERCENT,
		              .mean = 50,
		              .peak = 99.9,
		              .at_work = 0.99,
		              .at_limit = 0.4 },
		            { .key = "pcie_read",
		              .title = "PCIe, from the host",
		              .unit = TARE_SAMPLES_BYTES_PER_S,
		              .mean = 1e10,
		              .peak = 4e10,
		              .at_work = 0.5,
		              .at_limit = (double)NAN } },
	};

	for (size_t i = 0; i < TARE_SAMPLES_PARTS; i++) {
		bool late = i >= TARE_SAMPLES_PARTS / 2, none = i >= 900;
		made.kernels[i] = late;
		made.series[0].means[i] = none ? NAN : (double)i / 10;
		made.series[0].peaks[i] = none ? NAN : (double)i / 10 + 0.1;
		made.series[1].means[i] = none ? NAN : late * 2e10;
		made.series[1].peaks[i] = none ? NAN : late * 4e10;
	}
	return &made;
}

static int write_as(const char *what, const struct tare_counted_run *run, struct tare_error *error)
{
	struct tare_text_options options = { .columns = 80 };

	if (strcmp(what, "page") == 0 || strcmp(what, "none") == 0 ||
	    strcmp(what, "timeline") == 0 || strcmp(what, "asked") == 0)
		return tare_report_hotspots_page(run, stdout, error);
	if (strcmp(what, "json") == 0)
		return tare_report_hotspots_json(run, stdout, error);
	return tare_report_hotspots_text(run, MADE_KERNELS, &options, stdout, error);
}

// A device without counters, of whose kernels all but one were counted by their instructions.
static void count_instructions(struct tare_counted_run *run)
{
	run->device.no_counters = "its driver offers none";
	run->by_instructions = true;
	for (size_t i = 0; i < run->kernel_count; i++) {
		struct tare_counted_kernel *kernel = &run->kernels[i];
		kernel->by_instructions = true;
		for (enum tare_counter_role role = 0; role < TARE_COUNTER_ROLES; role++)
			made_unset(kernel, role, TARE_COUNTER_NOT_ON_DEVICE);
		if (kernel->uncounted != TARE_UNCOUNTED_NONE) {
			kernel->uncounted = TARE_UNCOUNTED_NO_INSTRUCTIONS;
			continue;
		}
		made_set(kernel, TARE_COUNTER_L1_BYTES, 1e6 * (double)(i + 1));
		made_set(kernel, TARE_COUNTER_FLOP_FP32, 1e6);
		made_set(kernel, TARE_COUNTER_FLOP_FP16, 0);
		made_set(kernel, TARE_COUNTER_FLOP_FP64, 0);
	}
}

int main(int count, char **arguments)
{
	struct tare_counted_kernel kernels[MADE_KERNELS];
	struct tare_counted_run run = made_run(kernels);
	struct tare_error error;

	setlocale(LC_CTYPE, "C.UTF-8");
	if (count < 2)
		return 2;
	kernels[MADE_SHARED].name = "</script><b onclick='x'>&amp;\n\xff\xe2\x80\xae";
	made_set(&kernels[MADE_FEW], TARE_COUNTER_ISSUE_SHARE, 61);
	if (strcmp(arguments[1], "none") == 0) {
		run.device.no_counters = "its driver offers none";
		run.kernel_count = 0;
	}
	if (strcmp(arguments[1], "asked") == 0)
		count_instructions(&run);
	if (strcmp(arguments[1], "timeline") == 0)
		run.samples = made_samples();
	if (write_as(arguments[1], &run, &error) == 0)
		return 0;
	fprintf(stderr, "%s\n", error.message);
	return 1;
}
