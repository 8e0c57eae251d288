// SPDX-License-Identifier: Apache-2.0
// One command on several devices as text: each device, then what they reach together and between
// each other.
#include "report/result/pivot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16 // devices in a table

static const char *fact_text(const struct tare_device_entry *entry, enum tare_fact_id id)
{
	const struct tare_fact *fact = &entry->facts.fact[id];
	return fact->present ? fact->text : "n/a";
}

static void name_of(const struct tare_device_entry *entry, char text[64])
{
	snprintf(text, 64, "%.48s:%u", entry->backend, entry->index);
}

// What was asked for, measured or not.
static int write_devices(const struct tare_text *text, const struct tare_result *result)
{
	struct tare_text_table *table = tare_text_table_new(text, 0);
	char name[64], room[TARE_TEXT_LINK];
	const char *link;

	tare_text_column(table, "Devices", 0);
	tare_text_column(table, "", TARE_COLUMN_CUT);
	tare_text_column(table, "PCI address", 0);
	tare_text_column(table, "NUMA", 0);
	tare_text_column(table, "link", 0);
	for (size_t i = 0; i < result->device_count; i++) {
		const struct tare_device_entry *entry = &result->devices[i];
		name_of(entry, name);
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", name);
		tare_text_cell(table, "%s", fact_text(entry, TARE_FACT_NAME));
		tare_text_cell(table, "%s", fact_text(entry, TARE_FACT_PCI));
		tare_text_cell(table, "%s", fact_text(entry, TARE_FACT_NUMA));
		link = tare_text_link(entry, room);
		tare_text_cell(table, "%s", link[0] ? link : "n/a");
	}
	return tare_text_table_print(table);
}

static int write_parts(const struct tare_text *text, const struct tare_result *result)
{
	char name[64], heading[160];
	int status = 0;

	for (size_t i = 0; status == 0 && i < result->part_count; i++) {
		const struct tare_result *part = result->parts[i];
		snprintf(heading, sizeof heading, "part %zu", i + 1);
		if (part->device_count) {
			name_of(&part->devices[0], name);
			snprintf(heading, sizeof heading, "%s %.80s", name,
			         fact_text(&part->devices[0], TARE_FACT_NAME));
		}
		status = tare_text_heading(text, heading);
		if (status == 0)
			status = tare_text_head(text, part);
		if (status == 0)
			status = tare_text_telemetry(text, part);
		if (status == 0)
			status = text->body(text, part);
		if (status == 0)
			status = tare_text_end(text, part);
	}
	return status;
}

// ---- the host's links

static const struct tare_cell *find(const struct tare_result *result, const char *quantity,
                                    const char *line, const char *device, const char *at_work)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (strcmp(cell->quantity, quantity) == 0 &&
		    tare_cell_has_text(cell, "group", "links") &&
		    tare_cell_has_text(cell, "line", line) &&
		    tare_cell_has_text(cell, "device", device) &&
		    (!at_work || tare_cell_has_text(cell, "at_work", at_work)))
			return cell;
	}
	return NULL;
}

// The names that the label `label` has in cells of a group, in order of appearance.
static size_t list_names(const struct tare_result *result, const char *group, const char *label,
                         const char *names[MOST])
{
	size_t count = 0;

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const char *name = tare_cell_text(cell, label);
		bool known = !name[0] || count == MOST || strcmp(name, "all") == 0 ||
		             !tare_cell_has_text(cell, "group", group);
		for (size_t k = 0; k < count && !known; k++)
			known = strcmp(names[k], name) == 0;
		if (!known)
			names[count++] = name;
	}
	return count;
}

// A rate and its uncertainty: two columns. A sum is a figure of source "model".
static void put_rate(struct tare_text_table *table, const struct tare_cell *cell)
{
	char rate[TARE_PIVOT_TEXT], spread[TARE_UNIT_TEXT];

	if (cell && !cell->absent && tare_cell_is_model(cell)) {
		tare_text_cell(table, "%s", tare_format_significant(cell->summary.median, 3, rate));
		tare_text_cell(table, "%s", "");
		return;
	}
	tare_text_cell(table, "%s", tare_pivot_rate(cell, rate));
	tare_text_cell(table, "%s",
	               cell && cell->rate.present ? tare_text_plus_minus(cell, 1, spread) : "");
}

static void put_share(struct tare_text_table *table, const struct tare_cell *cell)
{
	if (cell && !cell->absent)
		tare_text_cell(table, "%.0f %%", cell->summary.median);
	else
		tare_text_cell(table, "%s", cell ? "n/a" : "");
}

static int write_links(const struct tare_text *text, const struct tare_result *result)
{
	static const struct {
		const char *line, *title;
	} lines[] = {
		{ "host-to-device", "host → device" }, { "device-to-host", "device → host" },
		{ "both-to-device", "both ways, to" }, { "both-to-host", "both ways, from" },
		{ "both-total", "both ways, sum" },
	};
	const char *names[MOST + 1];
	size_t count = list_names(result, "links", "device", names);
	struct tare_text_table *table;

	if (count == 0)
		return 0;
	names[count++] = "all";
	fputc('\n', text->file);
	table = tare_text_table_new(text, 0);
	tare_text_column(table, "Host's links, GB/s", 0);
	tare_text_column(table, "", 0);
	tare_text_column(table, "alone", TARE_COLUMN_RIGHT);
	tare_text_column(table, "±", TARE_COLUMN_RIGHT);
	tare_text_column(table, "together", TARE_COLUMN_RIGHT);
	tare_text_column(table, "±", TARE_COLUMN_RIGHT);
	tare_text_column(table, "share", TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		for (size_t k = 0; k < count; k++) {
			const char *line = lines[i].line;
			tare_text_row(table, TARE_STYLE_PLAIN);
			tare_text_cell(table, "%s", k == 0 ? lines[i].title : "");
			tare_text_cell(table, "%s", k + 1 == count ? "all" : names[k]);
			put_rate(table, find(result, k + 1 == count ? "sum" : "time", line,
			                     names[k], "alone"));
			put_rate(table, find(result, "time", line, names[k], "together"));
			put_share(table, find(result, "share", line, names[k], NULL));
		}
	return tare_text_table_print(table);
}

// ---- peers

struct matrix {
	const char *title, *quantity, *path, *at_work;
};

static const struct tare_cell *at(const struct tare_result *result, const struct matrix *matrix,
                                  const char *from, const char *to)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (strcmp(cell->quantity, matrix->quantity) == 0 &&
		    tare_cell_has_text(cell, "group", "peers") &&
		    tare_cell_has_text(cell, "path", matrix->path) &&
		    (!matrix->at_work || tare_cell_has_text(cell, "at_work", matrix->at_work)) &&
		    tare_cell_has_text(cell, "device", from) &&
		    tare_cell_has_text(cell, "peer", to))
			return cell;
	}
	return NULL;
}

static void put_pair(struct tare_text_table *table, const struct tare_cell *cell)
{
	char text[TARE_PIVOT_TEXT];

	if (!cell || cell->absent || cell->rate.present)
		tare_text_cell(table, "%s", tare_pivot_rate(cell, text));
	else
		tare_text_cell(table, "%s%s",
		               tare_format_significant(cell->summary.median / 1e3, 3, text),
		               cell->converged ? "" : "*");
}

// Rows copy to columns. Left out where no pair has a figure: the reasons say why.
static int write_matrix(const struct tare_text *text, const struct tare_result *result,
                        const struct matrix *matrix)
{
	const char *names[MOST];
	size_t count = list_names(result, "peers", "device", names);
	struct tare_text_table *table;
	bool any = false;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			const struct tare_cell *cell = at(result, matrix, names[i], names[k]);
			any = any || (cell && !cell->absent);
		}
	if (!any)
		return 0;
	fputc('\n', text->file);
	table = tare_text_table_new(text, 0);
	tare_text_column(table, matrix->title, 0);
	for (size_t i = 0; i < count; i++)
		tare_text_column(table, names[i], TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < count; i++) {
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", names[i]);
		for (size_t k = 0; k < count; k++)
			put_pair(table, at(result, matrix, names[i], names[k]));
	}
	return tare_text_table_print(table);
}

// Why figures are missing, each reason once.
static int write_reasons(const struct tare_text *text, const struct tare_result *result)
{
	struct tare_text_reasons *reasons = tare_text_reasons_new();
	char(*pairs)[160] = calloc(result->cell_count + 1, sizeof *pairs);
	int status = pairs ? 0 : -ENOMEM;

	for (size_t i = 0; status == 0 && i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const char *peer = tare_cell_text(cell, "peer");
		if (!cell->absent)
			continue;
		snprintf(pairs[i], sizeof *pairs, "%.48s%s%.48s %.40s",
		         tare_cell_text(cell, "device"), peer[0] ? " → " : "", peer,
		         tare_cell_text(cell, peer[0] ? "path" : "line"));
		status = tare_text_reasons_add(reasons, pairs[i], cell->absent);
	}
	if (status < 0)
		tare_text_reasons_free(reasons);
	else
		status = tare_text_reasons_print(reasons, text, TARE_STYLE_FAINT, " n/a ");
	free(pairs);
	return status;
}

static int write_peers(const struct tare_text *text, const struct tare_result *result)
{
	static const struct matrix matrices[] = {
		{ "Direct, GB/s, row → column", "time", "direct", "alone" },
		{ "Both ways at once, GB/s", "time", "direct", "both" },
		{ "Through the host, GB/s", "time", "staged", "alone" },
		{ "Direct, 4 bytes, µs", "latency", "direct", NULL },
		{ "Through the host, 4 bytes, µs", "latency", "staged", NULL },
	};
	int status = 0;

	for (size_t i = 0; status == 0 && i < sizeof matrices / sizeof *matrices; i++)
		status = write_matrix(text, result, &matrices[i]);
	return status;
}

int tare_text_several(const struct tare_text *text, const struct tare_result *result)
{
	bool ends = result->conclusion_count || result->cell_count ||
	            (result->warning_count && text->options->verbosity >= 0);
	int status = write_devices(text, result);

	if (status == 0)
		status = write_parts(text, result);
	if (status == 0 && ends)
		status = tare_text_heading(text, result->cell_count ? "together" : "all devices");
	if (status == 0)
		status = write_links(text, result);
	if (status == 0)
		status = write_peers(text, result);
	if (status == 0)
		status = write_reasons(text, result);
	if (status == 0 && text->options->verbosity > 0 && result->cell_count)
		status = tare_text_latency(text, result);
	if (status == 0 && result->part_count)
		status = tare_text_conclusions(text, result);
	return status < 0 ? status : tare_text_end(text, result);
}
