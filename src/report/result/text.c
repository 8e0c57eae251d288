// SPDX-License-Identifier: Apache-2.0
// The text report: head line, the command's tables, warnings with what to do.
#include "report/result/parts.h"

#include "base/units.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *command;
	int (*write)(const struct tare_text *text, const struct tare_result *result);
} bodies[] = {
	{ "devices", tare_text_devices }, { "bandwidth", tare_text_bandwidth },
	{ "peak", tare_text_peak },       { "matmul", tare_text_matmul },
	{ "overlap", tare_text_overlap }, { "checkup", tare_text_checkup },
};

int tare_text_body(const struct tare_text *text, const struct tare_result *result)
{
	if (tare_result_is_several(result))
		return tare_text_several(text, result);
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
		if (strcmp(result->command, bodies[i].command) == 0)
			return bodies[i].write(text, result);
	// A document of a later command has cells like any other: they are listed.
	return tare_text_latency(text, result);
}

int tare_report_text(const struct tare_result *result, const struct tare_text_options *options,
                     FILE *file, struct tare_error *error)
{
	struct tare_text text = { .options = options, .file = file, .body = tare_text_body };
	int status = tare_result_status(result);

	if (status < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	if (tare_result_is_several(result)) {
		status = tare_text_several(&text, result);
		return status < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
	}
	if (strcmp(result->command, "devices") != 0)
		status = tare_text_head(&text, result);
	if (status == 0)
		status = tare_text_telemetry(&text, result);
	if (status == 0)
		status = tare_text_body(&text, result);
	if (status == 0)
		status = tare_text_end(&text, result);
	return status < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}
