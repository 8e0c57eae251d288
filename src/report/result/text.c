// SPDX-License-Identifier: Apache-2.0
// The text report: head line, the command's tables, warnings with what to do.
#include "report/result/parts.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool counts_bytes(const char *name)
{
	size_t length = strlen(name);
	return strcmp(name, "bytes") == 0 ||
	       (length > 6 && strcmp(name + length - 6, "_bytes") == 0);
}

const char *tare_text_label(const struct tare_label *label, char *buffer, size_t size)
{
	char bytes[TARE_UNIT_TEXT];

	if (label->text)
		snprintf(buffer, size, "%s", label->text);
	else if (counts_bytes(label->name) && label->number >= 0)
		snprintf(buffer, size, "%s", tare_format_bytes((uint64_t)label->number, bytes));
	else
		snprintf(buffer, size, "%lld", (long long)label->number);
	return buffer;
}

const char *tare_text_label_of(const struct tare_cell *cell, const char *name)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, name);
	return label && label->text ? label->text : "";
}

const char *tare_text_plus_minus(const struct tare_cell *cell, double scale,
                                 char buffer[TARE_UNIT_TEXT])
{
	const struct tare_summary *summary = &cell->summary;
	double low = summary->median - summary->ci_low, high = summary->ci_high - summary->median;
	double half = low > high ? low : high;
	const char *mark = cell->converged || summary->n == 0 ? "" : "*";
	char number[TARE_UNIT_TEXT];

	if (!isfinite(half)) {
		// A model's bound is what it is; a median without an interval is not known at all.
		snprintf(buffer, TARE_UNIT_TEXT, "%s%s", summary->n ? "?" : "", mark);
	} else if (summary->n == 0 || summary->median <= 0) {
		snprintf(buffer, TARE_UNIT_TEXT, "%.12s%s",
		         tare_format_significant(half * scale, 2, number), mark);
	} else {
		half = 100 * tare_cell_spread(cell);
		if (half < 0.05)
			snprintf(buffer, TARE_UNIT_TEXT, "<0.1 %%%s", mark);
		else if (half >= 1000)
			snprintf(buffer, TARE_UNIT_TEXT, ">999 %%%s", mark);
		else
			snprintf(buffer, TARE_UNIT_TEXT, "%.*f %%%s", half < 10, half, mark);
	}
	return buffer;
}

// ---- why there is no figure

struct reason {
	const char *name, *text;
};

struct tare_text_reasons {
	struct reason *at;
	size_t count;
};

struct tare_text_reasons *tare_text_reasons_new(void)
{
	return calloc(1, sizeof(struct tare_text_reasons));
}

void tare_text_reasons_free(struct tare_text_reasons *reasons)
{
	if (reasons)
		free(reasons->at);
	free(reasons);
}

int tare_text_reasons_add(struct tare_text_reasons *reasons, const char *name, const char *reason)
{
	void *grown;

	if (!reasons)
		return -ENOMEM;
	for (size_t i = 0; i < reasons->count; i++)
		if (strcmp(reasons->at[i].name, name) == 0 &&
		    strcmp(reasons->at[i].text, reason) == 0)
			return 0;
	grown = reallocarray(reasons->at, reasons->count + 1, sizeof *reasons->at);
	if (!grown)
		return -ENOMEM;
	reasons->at = grown;
	reasons->at[reasons->count].name = name;
	reasons->at[reasons->count++].text = reason;
	return 0;
}

// One reason with everything that shares it from entry `first` on.
static int print_reason(const struct tare_text_reasons *reasons, size_t first,
                        const struct tare_text *text, enum tare_text_style style, const char *lead)
{
	char *names = NULL;
	size_t size = 0;
	const char *separator = "";
	FILE *file = open_memstream(&names, &size);
	int status;

	if (!file)
		return -ENOMEM;
	for (size_t i = first; i < reasons->count; i++)
		if (strcmp(reasons->at[i].text, reasons->at[first].text) == 0) {
			fprintf(file, "%s%s", separator, reasons->at[i].name);
			separator = ", ";
		}
	if (fclose(file) != 0)
		return -ENOMEM;
	status = tare_text_paragraph(text, style, lead, lead[0] ? strlen(lead) : 2, "%s: %s", names,
	                             reasons->at[first].text);
	free(names);
	return status;
}

int tare_text_reasons_print(struct tare_text_reasons *reasons, const struct tare_text *text,
                            enum tare_text_style style, const char *lead)
{
	int status = reasons ? 0 : -ENOMEM;

	for (size_t i = 0; status == 0 && i < reasons->count; i++) {
		bool said = false;
		for (size_t j = 0; j < i; j++)
			said |= strcmp(reasons->at[j].text, reasons->at[i].text) == 0;
		if (!said)
			status = print_reason(reasons, i, text, style, lead);
	}
	tare_text_reasons_free(reasons);
	return status;
}

// ---- the head

// "clock: 32 ns ticks, fit ±40 ns"
static void describe_clock(const struct tare_clock_quality *clock, char *buffer, size_t size)
{
	char tick[TARE_UNIT_TEXT], residual[TARE_UNIT_TEXT];

	if (!clock->present) {
		snprintf(buffer, size, "clock: host's only");
		return;
	}
	tare_format_ns(tare_step_ns(&clock->rate), tick);
	if (clock->fitted)
		snprintf(buffer, size, "clock: %s ticks, fit ±%s", tick,
		         tare_format_ns((double)clock->fit.residual_ns, residual));
	else
		snprintf(buffer, size, "clock: %s ticks, not mapped to the host's", tick);
}

static void add_part(char *line, size_t size, const char *format, const char *value)
{
	size_t length = strlen(line);
	if (value[0] && length < size)
		snprintf(line + length, size - length, format, value);
}

static const char *fact_text(const struct tare_device_entry *entry, enum tare_fact_id id)
{
	return entry->facts.fact[id].present ? entry->facts.fact[id].text : "";
}

// "PCIe 1.0 x16 (at most PCIe 5.0 x16)": a GPU that idles lowers its link. "" if not known.
const char *tare_text_link(const struct tare_device_entry *entry, char text[TARE_TEXT_LINK])
{
	const char *now = fact_text(entry, TARE_FACT_LINK_NOW);
	const char *most = fact_text(entry, TARE_FACT_LINK_MAX);

	if (!now[0] || !most[0] || strcmp(now, most) == 0)
		return now;
	snprintf(text, TARE_TEXT_LINK, "%.40s (at most %.40s)", now, most);
	return text;
}

// "OpenCL 3.0" of "OpenCL 3.0 PoCL HSTR: ...": what follows is the vendor's own.
static void short_version(const char *version, char *text, size_t size)
{
	size_t first = strcspn(version, " ");
	size_t second = version[first] ? first + 1 + strcspn(version + first + 1, " ") : first;

	snprintf(text, size, "%.*s", (int)second, version);
}

int tare_text_head(const struct tare_text *text, const struct tare_result *result)
{
	const struct tare_device_entry *entry = result->devices;
	char line[1024] = "", api[64], clock[128], link[TARE_TEXT_LINK];

	if (result->device_count == 0)
		return 0;
	short_version(fact_text(entry, TARE_FACT_API_VERSION), api, sizeof api);
	add_part(line, sizeof line, "%s", fact_text(entry, TARE_FACT_NAME));
	// Some versions say themselves whose they are ("OpenCL 3.0 PoCL").
	if (entry->backend_title &&
	    strncmp(api, entry->backend_title, strlen(entry->backend_title)) != 0)
		add_part(line, sizeof line, "  %s", entry->backend_title);
	else
		add_part(line, sizeof line, "%s", " ");
	add_part(line, sizeof line, " %s", api);
	add_part(line, sizeof line, ", driver %s", fact_text(entry, TARE_FACT_DRIVER));
	add_part(line, sizeof line, "  %s", tare_text_link(entry, link));
	describe_clock(&result->clock, clock, sizeof clock);
	add_part(line, sizeof line, "  %s", clock);
	return tare_text_paragraph(text, TARE_STYLE_BOLD, "", 1, "%s", line);
}

// ---- what follows

int tare_text_conclusions(const struct tare_text *text, const struct tare_result *result)
{
	int status = 0;

	if (result->conclusion_count)
		fputc('\n', text->file);
	for (size_t i = 0; status == 0 && i < result->conclusion_count; i++)
		status = tare_text_verdict(text, "", 0, result->conclusions[i].text);
	return status;
}

static int write_warnings(const struct tare_text *text, const struct tare_result *result)
{
	int status = 0;

	if (result->warning_count)
		fputc('\n', text->file);
	for (size_t i = 0; status == 0 && i < result->warning_count; i++) {
		const struct tare_warning *warning = &result->warnings[i];
		const char *message = warning->message;
		const char *action = warning->action && warning->action[0] ? warning->action : NULL;
		bool sentence = message[0] && message[strlen(message) - 1] == '.';
		status = tare_text_paragraph(text, TARE_STYLE_WARNING, " ", 1, "%s%s%s", message,
		                             !action    ? ""
		                             : sentence ? " "
		                                        : ": ",
		                             action ? action : "");
	}
	return status;
}

int tare_text_end(const struct tare_text *text, const struct tare_result *result)
{
	int status = text->options->verbosity > 0 ? tare_text_stamps(text, result) : 0;

	// Those of several parts stand above them.
	if (status == 0 && result->part_count == 0)
		status = tare_text_conclusions(text, result);
	if (status == 0 && text->options->verbosity >= 0)
		status = write_warnings(text, result);
	if (status == 0 && result->interrupted)
		status =
		    tare_text_paragraph(text, TARE_STYLE_WARNING, " ", 1,
		                        "Interrupted: only what was measured until then is here.");
	return status;
}

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
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
		if (strcmp(result->command, bodies[i].command) == 0)
			return bodies[i].write(text, result);
	// A document of a later command has cells like any other: they are listed.
	return tare_text_latency(text, result);
}

int tare_report_text(const struct tare_result *result, const struct tare_text_options *options,
                     FILE *file, struct tare_error *error)
{
	struct tare_text text = { .options = options, .file = file };
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
