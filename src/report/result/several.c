// SPDX-License-Identifier: Apache-2.0
// One command on several devices as text: each device, then what they reach together and between
// each other.
#include "report/core/table_text.h"
#include "report/result/figure.h"
#include "report/result/parts.h"
#include "report/result/tables.h"

#include <string.h>

#define MOST 16 // devices in a table

static struct tare_cell_value fact(const struct tare_device_entry *entry, enum tare_fact_id id)
{
	return tare_if(entry->facts.fact[id].present, tare_string(tare_text_fact(entry, id)),
	               TARE_NOT_MEASURED);
}

enum { LINES = 5 }; // of a link

// A row of the links: what goes which way, of a device or of all together.
struct link {
	const char *line, *title, *device;
	bool all; // devices
};

struct peer {
	const char *name;
};

struct view {
	const struct tare_result *result;
	struct link links[LINES * (MOST + 1)];
	struct peer peers[MOST];
	size_t link_count, peer_count;
	const struct matrix *matrix; // that is being written
};

#define SOURCE struct view
#define SOURCE_NAME view

static bool name_cell(const struct tare_cell_text *cell)
{
	tare_text_device(cell->row, cell->text);
	return true;
}

static bool link_cell(const struct tare_cell_text *cell)
{
	char room[TARE_TEXT_LINK];
	const char *link = tare_text_link(cell->row, room);

	snprintf(cell->text, cell->size, "%s", link[0] ? link : "n/a");
	return true;
}

#define ROW struct tare_device_entry
#define TABLE devices
#define COLUMNS "report/result/tables/several_devices.def"
#include "table/declare.h"
TARE_TABLE(, tare_table_several_devices, "several_devices", "Devices",
           "a device that was asked for, measured or not", NULL, struct view, view,
           view->result->device_count, &view->result->devices[index], devices_columns);

static void write_parts(struct tare_text *text, const struct tare_result *result)
{
	char name[64], heading[160];

	for (size_t i = 0; i < result->part_count; i++) {
		const struct tare_result *part = result->parts[i];
		snprintf(heading, sizeof heading, "part %zu", i + 1);
		if (part->device_count) {
			snprintf(heading, sizeof heading, "%s %.80s",
			         tare_text_device(&part->devices[0], name),
			         tare_text_fact(&part->devices[0], TARE_FACT_NAME));
		}
		tare_text_heading(text, heading);
		tare_text_head(text, part);
		tare_text_telemetry(text, part);
		text->body(text, part);
		tare_text_end(text, part);
	}
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

// A sum is a figure of source "model".
static struct tare_cell_value rate_of(const struct tare_cell *cell)
{
	return cell && tare_cell_is_model(cell) ? tare_figure_median(cell, TARE_NOT_KNOWN)
	                                        : tare_figure_rate(cell);
}

static const struct tare_cell *alone(const struct view *view, const struct link *link)
{
	return find(view->result, link->all ? "sum" : "time", link->line, link->device, "alone");
}

static const struct tare_cell *together(const struct view *view, const struct link *link)
{
	return find(view->result, "time", link->line, link->device, "together");
}

static bool spread_of(const struct tare_cell *cell, char *text)
{
	if (cell && cell->rate.present && (cell->absent || !tare_cell_is_model(cell)))
		tare_text_plus_minus(cell, 1, text);
	return true;
}

static bool alone_spread(const struct tare_cell_text *cell)
{
	return spread_of(alone(cell->source, cell->row), cell->text);
}

static bool together_spread(const struct tare_cell_text *cell)
{
	return spread_of(together(cell->source, cell->row), cell->text);
}

#define ROW struct link
#define TABLE links
#define COLUMNS "report/result/tables/several_links.def"
#include "table/declare.h"
TARE_TABLE(, tare_table_several_links, "several_links", "The host's links",
           "a direction of a device's link", NULL, struct view, view, view->link_count,
           &view->links[index], links_columns);

static void list_links(struct view *view)
{
	static const struct {
		const char *line, *title;
	} lines[LINES] = {
		{ "host-to-device", "host → device" }, { "device-to-host", "device → host" },
		{ "both-to-device", "both ways, to" }, { "both-to-host", "both ways, from" },
		{ "both-total", "both ways, sum" },
	};
	const char *names[MOST + 1];
	size_t count = list_names(view->result, "links", "device", names);

	if (count == 0)
		return;
	names[count++] = "all";
	for (size_t i = 0; i < LINES * count; i++)
		view->links[view->link_count++] =
		    (struct link){ lines[i / count].line, lines[i / count].title, names[i % count],
			           i % count + 1 == count };
}

static void write_links(struct tare_text *text, const struct view *view)
{
	if (view->link_count)
		fputc('\n', text->file);
	tare_table_text(text, &tare_table_several_links, view,
	                &(struct tare_table_part){ .flush = true, .on = TARE_ON_TEXT });
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

static const struct tare_cell *pair(const struct view *view, const struct peer *from, size_t to)
{
	return at(view->result, view->matrix, from->name, view->peers[to].name);
}

// A rate, or a time in µs.
static struct tare_cell_value pair_figure(const struct tare_cell *cell)
{
	return !cell || cell->absent || cell->rate.present
	           ? tare_figure_rate(cell)
	           : tare_figure(cell, cell->summary.median / 1e3, TARE_NOT_KNOWN);
}

#define ROW struct peer
#define TABLE peers
#define COLUMNS "report/result/tables/several_peers.def"
#include "table/declare.h"
TARE_TABLE(, tare_table_several_peers, "several_peers", "Between devices",
           "the device that is copied from", NULL, struct view, view, view->peer_count,
           &view->peers[index], peers_columns);

// Rows copy to columns. Left out where no pair has a figure: the reasons say why.
static void write_matrix(struct tare_text *text, const struct view *view)
{
	bool any = false;

	for (size_t i = 0; i < view->peer_count; i++)
		for (size_t k = 0; k < view->peer_count; k++) {
			const struct tare_cell *cell = pair(view, &view->peers[i], k);
			any = any || (cell && !cell->absent);
		}
	if (!any)
		return;
	fputc('\n', text->file);
	tare_table_text(text, &tare_table_several_peers, view,
	                &(struct tare_table_part){
	                    .flush = true, .on = TARE_ON_TEXT, .title = view->matrix->title });
}

static void pair_name(const struct tare_cell *cell, FILE *file)
{
	const char *peer = tare_cell_text(cell, "peer");

	fprintf(file, "%s%s%s %s", tare_cell_text(cell, "device"), peer[0] ? " → " : "", peer,
	        tare_cell_text(cell, peer[0] ? "path" : "line"));
}

static void write_peers(struct tare_text *text, struct view *view)
{
	static const struct matrix matrices[] = {
		{ "Direct, GB/s, row → column", "time", "direct", "alone" },
		{ "Both ways at once, GB/s", "time", "direct", "both" },
		{ "Through the host, GB/s", "time", "staged", "alone" },
		{ "Direct, 4 bytes, µs", "latency", "direct", NULL },
		{ "Through the host, 4 bytes, µs", "latency", "staged", NULL },
	};
	const char *names[MOST];

	view->peer_count = list_names(view->result, "peers", "device", names);
	for (size_t i = 0; i < view->peer_count; i++)
		view->peers[i].name = names[i];
	for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
		view->matrix = &matrices[i];
		write_matrix(text, view);
	}
}

void tare_text_several(struct tare_text *text, const struct tare_result *result)
{
	bool ends = result->conclusion_count || result->cell_count ||
	            (result->warning_count && text->options->verbosity >= 0);
	struct view view = { .result = result };

	tare_table_text(text, &tare_table_several_devices, &view,
	                &(struct tare_table_part){ .flush = true, .on = TARE_ON_TEXT });
	list_links(&view);

	write_parts(text, result);
	if (ends)
		tare_text_heading(text, result->cell_count ? "together" : "all devices");
	write_links(text, &view);
	write_peers(text, &view);
	tare_text_reasons(text, result,
	                  &(struct tare_text_why){
	                      .style = TARE_STYLE_FAINT, .lead = " n/a ", .name = pair_name });
	if (text->options->verbosity > 0 && result->cell_count)
		tare_text_latency(text, result);
	if (result->part_count)
		tare_text_conclusions(text, result);
	tare_text_end(text, result);
}
