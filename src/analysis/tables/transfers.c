// SPDX-License-Identifier: Apache-2.0
// Transfers, by what is done, which way, with which memory of the host, blocking or not.
#include "analysis/tables/internal.h"

#include "base/cleanup.h"
#include "base/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SIZES = sizeof((struct tare_transfer_row *)0)->sizes / sizeof(uint64_t),
	LINE_BYTES_LOG2 = 6
};

struct gathering {
	const struct tables_context *context;
	struct tare_id_map rows; // by key
	uint32_t *listed;        // the commands that rows are about
	size_t listed_count, listed_room;
	struct tare_transfer_row *row;
	size_t room;
	uint32_t *device;          // of each row, in range
	size_t *first;             // of each row's spans
	struct tables_span *spans; // of one row after the other
	uint64_t *timed_bytes;
	struct tare_id_map classes; // a row and the power of two of the bytes, as a sample is drawn
	struct tables_estimate *estimate; // of each class
	size_t estimate_room;
	const struct tare_transfer_ceiling *ceilings;
	size_t ceiling_count;
	const struct tare_transfer_ceiling **own; // of each row's memory; NULL
	double *ceiling_ns,
	    *unfit_ns; // what the timed of each row would take at the rates of their sizes,
	               // and of that, what is only a bound: below the smallest
};

// The pair of devices that it copies between; TARE_NO_INDEX: none.
static uint32_t link_of(const struct tables_context *context, size_t index)
{
	const struct tare_recorded_link *link = tare_command_link(context->recording, index);
	return link ? (uint32_t)(link - context->recording->links) : TARE_NO_INDEX;
}

// What a row is about, each in so many bits as its values take.
static uint64_t key_of(const struct tables_context *context, size_t index,
                       const struct tare_recorded_command *command)
{
	_Static_assert(TARE_MOST_LINKS < 1 << 15, "");
	return (uint64_t)command->kind | (uint64_t)(command->direction & 15) << 8 |
	       (uint64_t)(command->memory & 15) << 12 |
	       (uint64_t)((command->flags & TARE_COMMAND_BLOCKING) != 0) << 16 |
	       (uint64_t)((link_of(context, index) + 1) & INT16_MAX) << 17 |
	       (uint64_t)tables_device(context, command) << 32;
}

// Nothing moves where device and host share the memory, and when what was mapped for reading only
// is given back.
static bool is_in_place(const struct tables_context *context,
                        const struct tare_recorded_command *command)
{
	uint32_t device = tables_device(context, command);
	if (command->kind != TARE_KIND_MAP && command->kind != TARE_KIND_UNMAP)
		return false;
	return command->direction == TARE_DIRECTION_NONE ||
	       (device < context->recording->device_count &&
	        context->recording->devices[device].unified_memory);
}

static void add_size(struct tare_transfer_row *row, const struct tare_recorded_command *command)
{
	uint64_t limit = 64;
	size_t size = 0;
	while (size < SIZES - 1 && command->amount >= limit) {
		limit *= 4;
		size++;
	}
	row->sizes[size]++;
	row->bytes += command->amount;
	row->unaligned += command->alignment < LINE_BYTES_LOG2;
	if (row->count == 0 || command->amount < row->smallest)
		row->smallest = command->amount;
	if (command->amount > row->largest)
		row->largest = command->amount;
	row->count++;
}

static struct tare_transfer_row begin_row(const struct tables_context *context, size_t index,
                                          const struct tare_recorded_command *command)
{
	uint32_t device = tables_device(context, command);
	return (struct tare_transfer_row){
		.kind = command->kind,
		.direction = command->direction,
		.memory = command->memory,
		.blocking = command->flags & TARE_COMMAND_BLOCKING,
		.device = device < context->recording->device_count ? device : TARE_NO_INDEX,
		.link = link_of(context, index),
		.in_place = is_in_place(context, command),
		.bytes_per_second = NAN,
		.median_bytes_per_second = NAN,
		.ceiling = NAN,
		.sized_ceiling = NAN,
		.pinned_ceiling = NAN,
	};
}

static bool is_listed(const struct gathering *g, size_t index,
                      const struct tare_recorded_command *command)
{
	return tables_is_transfer(command) && tables_has_command(g->context, command) &&
	       !tables_is_twice(g->context, index);
}

enum { CLASS_BITS = 8 };

// The estimate that the command is a part of.
static struct tables_estimate *find_estimate(struct gathering *g, uint32_t row,
                                             const struct tare_recorded_command *command)
{
	uint64_t class = command->amount ? 64 - (uint64_t)__builtin_clzll(command->amount) : 0;
	size_t known = g->classes.count;
	uint32_t number;
	if (tables_number(&g->classes, (uint64_t)row << CLASS_BITS | class, &number) != 0)
		return NULL;
	if (number >= known) {
		struct tables_estimate *room = TARE_ROOM_FOR(g->estimate, g->estimate_room, number);
		if (!room)
			return NULL;
		*room = (struct tables_estimate){ .row = row };
	}
	return &g->estimate[number];
}

static int note_time(struct gathering *g, uint32_t row, size_t index)
{
	const struct tare_recorded_command *command = TARE_COMMAND(g->context->recording, index);
	struct tables_estimate *estimate = find_estimate(g, row, command);
	struct tables_span span;
	if (!estimate)
		return -ENOMEM;
	if (tables_timed(command, &span)) {
		g->row[row].timed++;
		tables_estimate_timed(estimate, span.to - span.from,
		                      tare_command_chance(g->context->recording, index));
	} else if (command->untimed == TARE_UNTIMED_NOT_SAMPLED) {
		tables_estimate_unsampled(estimate);
	}
	return 0;
}

// When the rows have their totals.
static int estimate_rows(struct gathering *g)
{
	TARE_FREE struct tables_estimate *sums = calloc(g->rows.count + 1, sizeof *sums);
	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < g->classes.count; i++) {
		tables_estimate_end(&g->estimate[i]);
		tables_estimate_add(&sums[g->estimate[i].row], &g->estimate[i]);
	}
	for (size_t i = 0; i < g->rows.count; i++)
		g->row[i].estimate = tables_estimate_tell(&sums[i], g->row[i].total_ns);
	return 0;
}

// Makes the rows and counts what needs no times.
static int count_rows(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	for (size_t i = 0; i < recording->command_count; i++) {
		if (!tables_transfers_kind(tare_command_kind_at(&recording->commands, i)))
			continue;
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		uint32_t number, known = (uint32_t)g->rows.count;
		if (!is_listed(g, i, command))
			continue;
		uint32_t *listed = TARE_ROOM_FOR(g->listed, g->listed_room, g->listed_count);
		if (!listed)
			return -ENOMEM;
		*listed = (uint32_t)i;
		g->listed_count++;
		if (tables_number(&g->rows, key_of(g->context, i, command), &number) != 0)
			return -ENOMEM;
		if (number == known) {
			if (!TARE_ROOM_FOR(g->row, g->room, number))
				return -ENOMEM;
			g->row[number] = begin_row(g->context, i, command);
		}
		add_size(&g->row[number], command);
		if (note_time(g, number, i) != 0)
			return -ENOMEM;
	}
	return 0;
}

// 1: pinned, 0: pageable, -1: not known, or nothing that was measured.
static int is_pinned(uint8_t memory)
{
	switch (memory) {
	case TARE_TRACE_MEMORY_PAGEABLE:
		return 0;
	case TARE_TRACE_MEMORY_BUFFER_HOST:
	case TARE_TRACE_MEMORY_PINNED:
	case TARE_TRACE_MEMORY_MAPPED:
		return 1;
	default:
		return -1;
	}
}

static bool is_ceiling_of(const struct tare_transfer_ceiling *ceiling,
                          const struct tare_transfer_row *row, const char *device_name, int pinned)
{
	if (row->direction != ceiling->direction || !device_name || !ceiling->device_name ||
	    strcmp(device_name, ceiling->device_name) != 0)
		return false;
	// No memory of the host takes part in a copy within the device.
	return row->direction == TARE_DIRECTION_LOCAL || pinned == ceiling->pinned;
}

// The ceiling for this row's memory, or for pinned memory whatever the row's is; NULL.
static const struct tare_transfer_ceiling *
find_ceiling(const struct gathering *g, const struct tare_transfer_row *row, int pinned)
{
	const struct tare_recording *recording = g->context->recording;
	const struct tare_transfer_ceiling *best = NULL;

	// Nobody has measured what goes between two devices.
	if (row->in_place || row->kind == TARE_KIND_FILL || row->link != TARE_NO_INDEX ||
	    row->device >= recording->device_count)
		return NULL;
	for (size_t i = 0; i < g->ceiling_count; i++) {
		const struct tare_transfer_ceiling *one = &g->ceilings[i];
		if (is_ceiling_of(one, row, recording->devices[row->device].name, pinned) &&
		    one->bytes_per_second > 0 &&
		    (!best || one->bytes_per_second > best->bytes_per_second))
			best = one;
	}
	return best;
}

static int place_rows(struct gathering *g)
{
	size_t rows = g->rows.count;
	size_t room = 0;
	g->first = calloc(rows + 1, sizeof *g->first);
	g->device = calloc(rows + 1, sizeof *g->device);
	g->timed_bytes = calloc(rows + 1, sizeof *g->timed_bytes);
	g->ceiling_ns = calloc(rows + 1, sizeof *g->ceiling_ns);
	g->unfit_ns = calloc(rows + 1, sizeof *g->unfit_ns);
	g->own = calloc(rows + 1, sizeof(void *));
	if (!g->first || !g->device || !g->timed_bytes || !g->ceiling_ns || !g->unfit_ns || !g->own)
		return -ENOMEM;
	for (size_t i = 0; i < rows; i++) {
		g->first[i] = room;
		room += (size_t)g->row[i].timed;
		g->own[i] = find_ceiling(g, &g->row[i], is_pinned(g->row[i].memory));
		g->device[i] = g->row[i].device == TARE_NO_INDEX
		                   ? (uint32_t)g->context->recording->device_count
		                   : g->row[i].device;
	}
	g->spans = malloc((room + 1) * sizeof *g->spans);
	return g->spans ? 0 : -ENOMEM;
}

// Bytes per second as a whole number, which a span's length can be; at most 2^61.
static struct tables_span rate_of(uint64_t bytes, int64_t ns)
{
	const uint64_t most = UINT64_C(1) << 61;
	unsigned __int128 rate = (unsigned __int128)bytes * 1000000000u / (uint64_t)ns;
	return (struct tables_span){ 0, (int64_t)(rate > most ? most : (uint64_t)rate) };
}

static void add_ceiling_time(struct gathering *g, uint32_t row, uint64_t bytes)
{
	const struct tare_transfer_ceiling *ceiling = g->own[row];
	double ns;

	if (!ceiling || ceiling->sizes.count == 0 || bytes == 0)
		return;
	ns = tare_rate_curve_ns(&ceiling->sizes, bytes);
	if (isnan(ns)) {
		ns =
		    tare_rate_curve_ns(&ceiling->sizes, (uint64_t)ceil(ceiling->sizes.at[0].bytes));
		g->unfit_ns[row] += ns;
	}
	g->ceiling_ns[row] += ns;
}

// A row whose time at the ceiling is to so much a bound, because its copies are smaller than what
// was measured, has no ceiling.
#define MOST_UNFIT 0.01

static void set_ceilings(struct gathering *g, size_t i)
{
	struct tare_transfer_row *row = &g->row[i];
	const struct tare_transfer_ceiling *own = g->own[i];
	const struct tare_transfer_ceiling *pinned = find_ceiling(g, row, 1);

	row->ceiling = own ? own->bytes_per_second : NAN;
	row->pinned_ceiling = pinned ? pinned->bytes_per_second : NAN;
	if (g->ceiling_ns[i] > 0 && g->unfit_ns[i] <= MOST_UNFIT * g->ceiling_ns[i])
		row->sized_ceiling = 1e9 * (double)g->timed_bytes[i] / g->ceiling_ns[i];
}

// Fills the spans with the times of the rows' commands, or with their rates. `count` of each row.
static int fill_spans(struct gathering *g, bool rates, size_t *count)
{
	const struct tare_recording *recording = g->context->recording;
	memset(count, 0, g->rows.count * sizeof *count);
	for (size_t i = 0; i < g->listed_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, g->listed[i]);
		struct tables_span span;
		uint32_t row;
		int64_t ns;
		if (!tables_timed(command, &span))
			continue;
		if (tables_number(&g->rows, key_of(g->context, g->listed[i], command), &row) != 0)
			return -ENOMEM;
		ns = span.to - span.from;
		if (rates && (ns == 0 || command->amount == 0))
			continue;
		if (!rates) {
			g->timed_bytes[row] += command->amount;
			add_ceiling_time(g, row, command->amount);
		}
		g->spans[g->first[row] + count[row]++] =
		    rates ? rate_of(command->amount, ns) : span;
	}
	return 0;
}

static void time_row(struct gathering *g, const struct tables_busy *busy, size_t row, size_t n)
{
	struct tare_transfer_row *at = &g->row[row];
	struct tables_span *spans = g->spans + g->first[row];
	for (size_t i = 0; i < n; i++)
		at->total_ns = tables_add(at->total_ns, spans[i].to - spans[i].from);
	tables_sort(spans, n);
	n = tables_merge(spans, n);
	for (size_t i = 0; i < n; i++) {
		int64_t hidden_ns = tables_busy_before(busy, g->device[row], spans[i].to) -
		                    tables_busy_before(busy, g->device[row], spans[i].from);
		int64_t exposed_ns = spans[i].to - spans[i].from - hidden_ns;
		at->hidden_ns = tables_add(at->hidden_ns, hidden_ns);
		at->exposed_ns = tables_add(at->exposed_ns, exposed_ns);
	}
	if (at->total_ns > 0 && g->timed_bytes[row] > 0 && !at->in_place)
		at->bytes_per_second = 1e9 * (double)g->timed_bytes[row] / (double)at->total_ns;
}

static int time_rows(struct gathering *g)
{
	struct tables_busy busy;
	TARE_FREE size_t *count = calloc(g->rows.count + 1, sizeof *count);
	int code = count ? tables_busy_open(g->context, false, &busy) : -ENOMEM;
	if (!count)
		return code;
	if (code == 0)
		code = fill_spans(g, false, count);
	for (size_t i = 0; code == 0 && i < g->rows.count; i++)
		time_row(g, &busy, i, count[i]);
	tables_busy_close(&busy);
	if (code == 0)
		code = fill_spans(g, true, count);
	for (size_t i = 0; code == 0 && i < g->rows.count; i++)
		if (count[i] > 0 && !g->row[i].in_place)
			g->row[i].median_bytes_per_second =
			    tables_median_length(g->spans + g->first[i], count[i]);
	return code;
}

static int compare_rows(const void *a, const void *b)
{
	const struct tare_transfer_row *x = a;
	const struct tare_transfer_row *y = b;
	double x_ns = isfinite(x->estimate.ns) ? x->estimate.ns : (double)x->total_ns;
	double y_ns = isfinite(y->estimate.ns) ? y->estimate.ns : (double)y->total_ns;
	if (x_ns > y_ns || x_ns < y_ns)
		return x_ns > y_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->direction != y->direction)
		return x->direction < y->direction ? -1 : 1;
	if (x->memory != y->memory)
		return x->memory < y->memory ? -1 : 1;
	if (x->blocking != y->blocking)
		return x->blocking < y->blocking ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

int tables_transfers(const struct tables_context *context,
                     const struct tare_transfer_ceiling *ceilings, size_t ceiling_count,
                     struct tare_tables *tables)
{
	struct gathering g = { .context = context,
		               .ceilings = ceilings,
		               .ceiling_count = ceiling_count };
	int code = count_rows(&g);
	if (code == 0)
		code = place_rows(&g);
	if (code == 0)
		code = time_rows(&g);
	if (code == 0)
		code = estimate_rows(&g);
	if (code == 0) {
		for (size_t i = 0; i < g.rows.count; i++)
			set_ceilings(&g, i);
		if (g.rows.count > 0)
			qsort(g.row, g.rows.count, sizeof *g.row, compare_rows);
	}
	tables->transfers = g.row;
	tables->transfer_count = code == 0 ? g.rows.count : 0;
	tare_id_map_free(&g.rows);
	free(g.listed);
	free(g.first);
	free(g.device);
	free(g.spans);
	free(g.timed_bytes);
	free(g.own);
	free(g.ceiling_ns);
	free(g.unfit_ns);
	tare_id_map_free(&g.classes);
	free(g.estimate);
	return code;
}
