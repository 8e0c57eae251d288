// SPDX-License-Identifier: Apache-2.0
// The text report: head line, the command's tables, warnings with what to do.
#include "report/result/parts.h"

#include "base/units.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *command;
	void (*write)(struct tare_text *text, const struct tare_result *result);
} bodies[] = {
	{ "devices", tare_text_devices }, { "bandwidth", tare_text_bandwidth },
	{ "peak", tare_text_peak },       { "matmul", tare_text_matmul },
	{ "overlap", tare_text_overlap }, { "checkup", tare_text_checkup },
};

void tare_text_body(struct tare_text *text, const struct tare_result *result)
{
	if (tare_result_is_several(result)) {
		tare_text_several(text, result);
		return;
	}
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
		if (strcmp(result->command, bodies[i].command) == 0) {
			bodies[i].write(text, result);
			return;
		}
	// A document of a later command has cells like any other: they are listed.
	tare_text_latency(text, result);
}

int tare_report_text(const struct tare_result *result, const struct tare_text_options *options,
                     FILE *file, struct tare_error *error)
{
	struct tare_text text = { .options = options, .file = file, .body = tare_text_body };

	if (tare_result_status(result) < 0) {
		text.failed = true;
	} else if (tare_result_is_several(result)) {
		tare_text_several(&text, result);
	} else {
		if (strcmp(result->command, "devices") != 0)
			tare_text_head(&text, result);
		tare_text_telemetry(&text, result);
		tare_text_body(&text, result);
		tare_text_end(&text, result);
	}
	return text.failed ? tare_fail(error, ENOMEM, "out of memory") : 0;
}
