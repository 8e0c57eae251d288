// SPDX-License-Identifier: Apache-2.0
// The memory hierarchy in a terminal: boxes for the levels, a line of figures for each edge.
#include "base/units.h"
#include "report/hotspots/text.h"
#include "report/hotspots/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INNER = 20, LABEL = 22 }; // columns within a box, and of the words beside an edge

// Lines of boxes, and what stands for them in ASCII.
struct lines {
	const char *across, *down, *top_left, *top_right, *bottom_left, *bottom_right, *out_below,
	    *in_above, *side, *binding, *arrow;
};
static const struct lines plain = { "-", "|", "+", "+", "+", "+", "+", "+", "+", "#", "<" },
                          drawn = { "─", "│", "┌", "┐", "└", "┘", "┬", "┴", "├", "║", "◄" };

static const struct {
	const char *box; // below the edge
	enum tare_edge edge;
} levels[] = {
	{ "L1, shared memory", TARE_EDGE_REGISTERS_L1 },
	{ "L2", TARE_EDGE_L1_L2 },
	{ "device memory", TARE_EDGE_L2_DEVICE },
};

static const struct {
	const char *title;
	enum tare_edge edge;
} sides[] = { { "host memory", TARE_EDGE_HOST }, { "other devices", TARE_EDGE_PEER } };

static const struct lines *lines_of(struct tare_text *text)
{
	return text->options->ascii ? &plain : &drawn;
}

// A box's upper or lower edge, with `middle` at its tenth column.
static void write_edge(struct tare_text *text, const char *left, const char *middle,
                       const char *right)
{
	const struct lines *lines = lines_of(text);

	fprintf(text->file, "  %s", left);
	for (int i = 0; i < INNER; i++)
		fputs(i == INNER / 2 ? middle : lines->across, text->file);
	fputs(right, text->file);
}

static void write_field(struct tare_text *text, const char *value, size_t columns)
{
	size_t width = tare_text_width(value);

	fprintf(text->file, "%*s%s", (int)(columns > width ? columns - width : 1), "", value);
}

static void write_figures(struct tare_text *text, const struct tare_edge_traffic *traffic)
{
	char words[HOTSPOT_TEXT], number[TARE_UNIT_TEXT];

	write_field(text, tare_hotspot_bytes(traffic->bytes, words), 8);
	write_field(text,
	            isnan(traffic->bytes_per_s)
	                ? "n/a"
	                : tare_format_significant(traffic->bytes_per_s / 1e9, 3, number),
	            8);
	write_field(text, tare_hotspot_percent(traffic->share, words), 7);
	write_field(text, tare_hotspot_percent(traffic->measured_share, words), 8);
	write_field(text,
	            isnan(traffic->over_compulsory)
	                ? "n/a"
	                : tare_format_significant(traffic->over_compulsory, 3, number),
	            8);
	fputc('\n', text->file);
}

// Words in the columns beside a box or an edge.
static void write_label(struct tare_text *text, const char *words)
{
	size_t width = tare_text_width(words);

	fprintf(text->file, "%s%*s", words, (int)(LABEL > width ? LABEL - width : 0), "");
}

static void write_vertical(struct tare_text *text, const struct tare_edge_traffic *traffic)
{
	const struct lines *lines = lines_of(text);
	char label[64] = "";

	if (traffic->binding)
		snprintf(label, sizeof label, " %s binds", lines->arrow);
	fprintf(text->file, "  %*s%s", INNER / 2 + 1, "",
	        traffic->binding ? lines->binding : lines->down);
	fprintf(text->file, "%*s", INNER / 2 - 6, "");
	write_label(text, label);
	write_figures(text, traffic);
}

static void write_box(struct tare_text *text, const char *title, bool above, bool below,
                      const struct tare_hotspot *hotspot)
{
	const struct lines *lines = lines_of(text);
	size_t count = hotspot ? sizeof sides / sizeof *sides : 1;

	write_edge(text, lines->top_left, above ? lines->in_above : lines->across,
	           lines->top_right);
	fputc('\n', text->file);
	for (size_t i = 0; i < count; i++) {
		fprintf(text->file, "  %s %-*s%s", lines->down, INNER - 1, i == 0 ? title : "",
		        hotspot ? lines->side : lines->down);
		if (hotspot) {
			fprintf(text->file, "%s ", lines->across);
			fprintf(text->file, "%-*s", LABEL - 8, sides[i].title);
			write_figures(text, &hotspot->edges[sides[i].edge]);
		} else {
			fputc('\n', text->file);
		}
	}
	write_edge(text, lines->bottom_left, below ? lines->out_below : lines->across,
	           lines->bottom_right);
	fputc('\n', text->file);
}

// Edges whose counters have no figure for the same reason, on a line.
static void write_absent(struct tare_text *text, const struct tare_hotspot *hotspot,
                         enum tare_counter_state state)
{
	char names[HOTSPOT_TEXT] = "";
	size_t length = 0;

	for (enum tare_edge edge = 0; edge < TARE_EDGES; edge++)
		if (isnan(hotspot->edges[edge].bytes) && hotspot->edges[edge].state == state)
			length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
			                           length ? ", " : "", tare_edge_name(edge));
	if (!length)
		return;
	tare_text_paragraph(text, TARE_STYLE_FAINT, "  ", 4, "%s: n/a, %s", names,
	                    tare_counter_state_words(state));
}

// What the figures lack: counters without a figure, and rates that need a word.
static void write_remarks(struct tare_text *text, const struct tare_hotspot *hotspot)
{
	for (enum tare_counter_state state = 0; state <= TARE_COUNTER_REFUSED; state++)
		if (state != TARE_COUNTER_COUNTED)
			write_absent(text, hotspot, state);
	for (enum tare_edge edge = 0; edge < TARE_EDGES; edge++) {
		const char *origin = tare_rate_origin_words(hotspot->edges[edge].origin);
		if (origin)
			tare_text_paragraph(text, TARE_STYLE_FAINT, "  ", 4, "%s, GB/s: %s",
			                    tare_edge_name(edge), origin);
	}
}

void tare_hotspot_diagram(struct tare_text *text, const struct tare_hotspot *hotspot)
{
	size_t last = sizeof levels / sizeof *levels - 1;

	fprintf(text->file, "%*s%8s%8s%7s%8s%8s\n", INNER + LABEL - 2, "", "moved", "GB/s",
	        "of max", "of peak", "x given");
	write_box(text, "registers", false, true, NULL);
	for (size_t i = 0; i <= last; i++) {
		write_vertical(text, &hotspot->edges[levels[i].edge]);
		write_box(text, levels[i].box, true, i < last,
		          levels[i].edge == TARE_EDGE_L1_L2 ? hotspot : NULL);
	}
	write_remarks(text, hotspot);
}
