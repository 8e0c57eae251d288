// SPDX-License-Identifier: Apache-2.0
// Writes counted kernels made by hand, among them one with a hostile name and one that is not
// decided: `hotspots_fixture page|json|text|none`, to the output.
#include "report/hotspots/hotspots.h"
#include "tests/unit/analysis/hotspots/made_counted.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static int write_as(const char *what, const struct tare_counted_run *run, struct tare_error *error)
{
	struct tare_text_options options = { .columns = 80 };

	if (strcmp(what, "page") == 0 || strcmp(what, "none") == 0)
		return tare_report_hotspots_page(run, stdout, error);
	if (strcmp(what, "json") == 0)
		return tare_report_hotspots_json(run, stdout, error);
	return tare_report_hotspots_text(run, MADE_KERNELS, &options, stdout, error);
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
	if (write_as(arguments[1], &run, &error) == 0)
		return 0;
	fprintf(stderr, "%s\n", error.message);
	return 1;
}
