// SPDX-License-Identifier: Apache-2.0
// Commands and calls by where they were issued.
#include "analysis/symbols/symbols.h"

#include "analysis/core/id_map.h"
#include "analysis/recording/intervals.h"
#include "analysis/tables/view_filter.h"
#include "base/room.h"

#include <errno.h>
#include <string.h>

struct gathering {
	const struct tare_recording *recording;
	struct tare_symbols *symbols;
	struct tare_sites *sites;
	size_t room;
	// of what commands have in common; NOT_LOOKED_FOR
	uint32_t *row_of_like;
	uint64_t *site_of;         // identity of each stack's site; 0: not looked up yet
	struct tare_id_map rows;   // by site, kind and what
	struct tare_id_map stacks; // those of a row
	bool failed;
};

#define NO_SITE 1 // in site_of: there is none
#define NOT_LOOKED_FOR (UINT32_MAX - 1)

static const char *const kinds[TARE_KIND_KINDS] = {
	[TARE_KIND_KERNEL] = "(unknown kernel)",
	[TARE_KIND_TASK] = "(native kernel)",
	[TARE_KIND_WRITE] = "write",
	[TARE_KIND_READ] = "read",
	[TARE_KIND_COPY] = "copy",
	[TARE_KIND_FILL] = "fill",
	[TARE_KIND_MAP] = "map",
	[TARE_KIND_UNMAP] = "unmap",
	[TARE_KIND_MIGRATE] = "migrate",
	[TARE_KIND_MARKER] = "marker",
	[TARE_KIND_BARRIER] = "barrier",
	[TARE_KIND_GRAPH] = "graph",
	[TARE_KIND_OTHER] = "other",
};

// A line of a source file, a function, or an address: stacks that end there are one site.
static uint64_t identity(const struct tare_frame *frame)
{
	uint64_t hash = TARE_HASH_START;

	if (!frame)
		return NO_SITE;
	if (frame->file && frame->line > 0) {
		hash = tare_hash_text(hash, frame->file);
		hash = tare_hash_bytes(hash, &frame->line, sizeof frame->line);
	} else {
		hash = tare_hash_text(hash, frame->module ? frame->module : "");
		if (frame->function)
			hash = tare_hash_text(hash, frame->function);
		else
			hash = tare_hash_bytes(hash, &frame->address, sizeof frame->address);
	}
	return hash | 2;
}

static uint64_t site_of(struct gathering *g, uint32_t stack)
{
	if (stack >= g->recording->stack_count)
		return NO_SITE;
	if (!g->site_of[stack])
		g->site_of[stack] = identity(tare_symbols_site(g->symbols, stack));
	return g->site_of[stack];
}

// The row of a stack's site for a kind and what it is done to; TARE_NO_INDEX: there is no site.
static uint32_t row_of(struct gathering *g, uint32_t stack, uint8_t kind, const char *what)
{
	uint64_t site = site_of(g, stack), key;
	uint32_t row;

	if (site == NO_SITE)
		return TARE_NO_INDEX;
	key = tare_hash_text(tare_hash_bytes(site, &kind, sizeof kind), what);
	row = tare_id_map_find(&g->rows, key);
	if (row == TARE_ID_ABSENT) {
		struct tare_site_row *added =
		    TARE_ROOM_FOR(g->sites->rows, g->room, g->sites->count);
		row = (uint32_t)g->sites->count;
		if (!added || !tare_id_map_put(&g->rows, key, row)) {
			g->failed = true;
			return TARE_NO_INDEX;
		}
		*added = (struct tare_site_row){ .stack = stack,
			                         .kind = kind,
			                         .what = what,
			                         .text = tare_symbols_text(g->symbols, stack) };
		g->sites->count++;
	}
	key = (uint64_t)row << 32 | stack;
	if (tare_id_map_find(&g->stacks, key) == TARE_ID_ABSENT) {
		g->sites->rows[row].stacks++;
		g->failed |= !tare_id_map_put(&g->stacks, key, 1);
	}
	return row;
}

static const char *what_of(const struct tare_recording *r, const struct tare_recorded_command *c)
{
	if (c->kind == TARE_KIND_KERNEL && c->object < r->kernel_count)
		return r->kernels[c->object].name;
	return c->kind < TARE_KIND_KINDS && kinds[c->kind] ? kinds[c->kind] : "?";
}

// The row of a command; TARE_NO_INDEX: there is no site.
static uint32_t row_of_command(struct gathering *g, size_t index)
{
	const struct tare_recording *r = g->recording;
	const struct tare_recorded_command *c = TARE_COMMAND(r, index);
	uint32_t like = tare_command_like_of(&r->commands, index);
	uint32_t row;

	if (like != TARE_PACKED_WHOLE && g->row_of_like[like] != NOT_LOOKED_FOR)
		return g->row_of_like[like];
	row = row_of(g, c->stack, c->kind, what_of(r, TARE_COMMAND(r, index)));
	if (like != TARE_PACKED_WHOLE)
		g->row_of_like[like] = row;
	return row;
}

static int64_t between(int64_t from_ns, int64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void add_to_row(struct gathering *g, uint32_t index, const struct tare_like_sums *sums)
{
	const struct tare_recorded_command *c = TARE_COMMAND(g->recording, index);
	uint32_t at = row_of_command(g, index);
	struct tare_site_row *row;

	if (at == TARE_NO_INDEX) {
		g->sites->without += sums->count;
		return;
	}
	row = &g->sites->rows[at];
	row->count += sums->count;
	row->bytes += c->kind == TARE_KIND_KERNEL ? 0 : sums->count * c->amount;
	row->host_ns += sums->call_ns;
	row->device_ns += sums->run_ns;
}

static void add_commands(struct gathering *g, const struct tare_view_filter *members)
{
	const struct tare_recording *r = g->recording;
	const struct tare_commands *commands = &r->commands;
	bool all = commands->sums && tare_view_filter_has_all(members);

	for (size_t i = 0; all && i < commands->sum_count && !g->failed; i++)
		add_to_row(g, commands->sums[i].first, &commands->sums[i]);
	for (uint32_t i = 0; !all && i < r->command_count && !g->failed; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, i);
		bool timed = c->start_ns != TARE_NO_TIME && c->end_ns != TARE_NO_TIME;
		if (!tare_view_filter_has_command(members, TARE_COMMAND(r, i)))
			continue;
		add_to_row(g, i,
		           &(struct tare_like_sums){
		               .count = 1,
		               .call_ns = between(0, tare_command_call_ns(c)),
		               .run_ns = timed ? between(c->start_ns, c->end_ns) : 0,
		           });
	}
}

static void add_calls(struct gathering *g, const struct tare_view_filter *members)
{
	const struct tare_recording *r = g->recording;

	for (size_t i = 0; i < r->call_count && !g->failed; i++) {
		const struct tare_recorded_call *c = &r->calls[i];
		const char *function =
		    c->function < r->function_count ? r->functions[c->function].name : "?";
		uint32_t row;
		if (c->stack >= r->stack_count || !tare_view_filter_has_call(members, c))
			continue;
		row = row_of(g, c->stack, 0, function);
		if (row == TARE_NO_INDEX)
			continue;
		g->sites->rows[row].count += c->count;
		g->sites->rows[row].bytes += c->bytes;
		g->sites->rows[row].host_ns += c->inside_ns;
	}
}

static void add_gaps(struct gathering *g, const struct tare_ledgers *ledgers,
                     const struct tare_view_filter *members)
{
	for (size_t i = 0; i < ledgers->gap_count; i++) {
		const struct tare_gap *gap = &ledgers->gaps[i];
		uint32_t row;
		if (gap->command >= g->recording->command_count ||
		    !tare_view_filter_has_command(members,
		                                  TARE_COMMAND(g->recording, gap->command)))
			continue;
		row = row_of_command(g, gap->command);
		if (row != TARE_NO_INDEX)
			g->sites->rows[row].gap_ns += between(gap->from_ns, gap->to_ns);
	}
}

static int64_t cost(const struct tare_site_row *row)
{
	return row->device_ns > row->host_ns ? row->device_ns : row->host_ns;
}

static int compare(const void *a, const void *b)
{
	const struct tare_site_row *x = a, *y = b;
	int order;

	if (cost(x) != cost(y))
		return cost(x) > cost(y) ? -1 : 1;
	order = strcmp(x->text, y->text);
	if (order == 0)
		order = strcmp(x->what, y->what);
	return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

int tare_sites_compute(const struct tare_recording *recording, const struct tare_view *view,
                       const struct tare_ledgers *ledgers, struct tare_symbols *symbols,
                       struct tare_sites *sites, struct tare_error *error)
{
	struct gathering g = { .recording = recording, .symbols = symbols, .sites = sites };
	struct tare_view_filter *members;
	int status = tare_view_filter_open(recording, view, &members, error);

	*sites = (struct tare_sites){ 0 };
	if (status < 0)
		return status;
	g.site_of = calloc(recording->stack_count + 1, sizeof *g.site_of);
	g.row_of_like = malloc((recording->commands.like_count + 1) * sizeof *g.row_of_like);
	for (size_t i = 0; g.row_of_like && i < recording->commands.like_count; i++)
		g.row_of_like[i] = NOT_LOOKED_FOR;
	g.failed = !g.site_of || !g.row_of_like;
	if (!g.failed) {
		add_commands(&g, members);
		add_calls(&g, members);
	}
	if (!g.failed) {
		add_gaps(&g, ledgers, members);
		if (sites->count)
			qsort(sites->rows, sites->count, sizeof *sites->rows, compare);
	}
	tare_view_filter_close(members);
	tare_id_map_free(&g.rows);
	tare_id_map_free(&g.stacks);
	free(g.row_of_like);
	free(g.site_of);
	if (!g.failed)
		return 0;
	tare_sites_free(sites);
	return tare_fail(error, ENOMEM, "no memory for the call sites");
}

void tare_sites_free(struct tare_sites *sites)
{
	free(sites->rows);
	*sites = (struct tare_sites){ 0 };
}
