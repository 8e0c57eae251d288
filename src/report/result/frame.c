// SPDX-License-Identifier: Apache-2.0
// What stands around the tables of a document: the device, what follows, what to do.
#include "base/units.h"
#include "report/result/parts.h"
#include <string.h>

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

const char *tare_text_fact(const struct tare_device_entry *entry, enum tare_fact_id id)
{
	return entry->facts.fact[id].present ? entry->facts.fact[id].text : "";
}

// "PCIe 1.0 x16 (at most PCIe 5.0 x16)": a GPU that idles lowers its link. "" if not known.
const char *tare_text_link(const struct tare_device_entry *entry, char text[TARE_TEXT_LINK])
{
	const char *now = tare_text_fact(entry, TARE_FACT_LINK_NOW);
	const char *most = tare_text_fact(entry, TARE_FACT_LINK_MAX);

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

void tare_text_head(struct tare_text *text, const struct tare_result *result)
{
	const struct tare_device_entry *entry = result->devices;
	char line[1024] = "", api[64], clock[128], link[TARE_TEXT_LINK];

	if (result->device_count == 0)
		return;
	short_version(tare_text_fact(entry, TARE_FACT_API_VERSION), api, sizeof api);
	add_part(line, sizeof line, "%s", tare_text_fact(entry, TARE_FACT_NAME));
	// Some versions say themselves whose they are ("OpenCL 3.0 PoCL").
	if (entry->backend_title &&
	    strncmp(api, entry->backend_title, strlen(entry->backend_title)) != 0)
		add_part(line, sizeof line, "  %s", entry->backend_title);
	else
		add_part(line, sizeof line, "%s", " ");
	add_part(line, sizeof line, " %s", api);
	add_part(line, sizeof line, ", driver %s", tare_text_fact(entry, TARE_FACT_DRIVER));
	add_part(line, sizeof line, "  %s", tare_text_link(entry, link));
	describe_clock(&result->clock, clock, sizeof clock);
	add_part(line, sizeof line, "  %s", clock);
	tare_text_paragraph(text, TARE_STYLE_BOLD, "", 1, "%s", line);
}

void tare_text_conclusions(struct tare_text *text, const struct tare_result *result)
{
	if (result->conclusion_count)
		fputc('\n', text->file);
	for (size_t i = 0; i < result->conclusion_count; i++)
		tare_text_verdict(text, "", 0, result->conclusions[i].text);
}

static void write_warnings(struct tare_text *text, const struct tare_result *result)
{
	if (result->warning_count)
		fputc('\n', text->file);
	for (size_t i = 0; i < result->warning_count; i++) {
		const struct tare_warning *warning = &result->warnings[i];
		const char *message = warning->message;
		const char *action = warning->action && warning->action[0] ? warning->action : NULL;
		bool sentence = message[0] && message[strlen(message) - 1] == '.';
		tare_text_paragraph(text, TARE_STYLE_WARNING, " ", 1, "%s%s%s", message,
		                    !action    ? ""
		                    : sentence ? " "
		                               : ": ",
		                    action ? action : "");
	}
}

void tare_text_end(struct tare_text *text, const struct tare_result *result)
{
	text->options->verbosity > 0 ? tare_text_stamps(text, result) : 0;

	// Those of several parts stand above them.
	if (result->part_count == 0)
		tare_text_conclusions(text, result);
	if (text->options->verbosity >= 0)
		write_warnings(text, result);
	if (result->interrupted)
		tare_text_paragraph(text, TARE_STYLE_WARNING, " ", 1,
		                    "Interrupted: only what was measured until then is here.");
}
