// SPDX-License-Identifier: Apache-2.0
// Queues: how busy, how deep, how long until a command starts, and what their gaps were.
#include "analysis/recording/intervals.h"
#include "analysis/tables/internal.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gathering {
	const struct tables_context *context;
	struct tare_queue_row *rows; // by queue
	size_t *first;               // of each queue's spans
	size_t *count;               // of the spans filled in
	struct tables_span *spans;
};

// What is gathered of a command with times.
enum what {
	EXECUTION, // start to end
	END,       // from: the end; to: how long after the enqueue it started, NO_LATENCY
};
enum { NO_LATENCY = -1 }; // the call waited for it

static bool is_listed(const struct gathering *g, const struct tare_recorded_command *command)
{
	return command->queue < g->context->recording->queue_count &&
	       !tare_command_only_executes(command) && tables_has_command(g->context, command);
}

// A device's clock may put an end before the enqueue by its residual.
static int64_t end_of(const struct tare_recorded_command *command, const struct tables_span *span)
{
	int64_t enter_ns = tables_bounded(command->enter_ns);
	return span->to > enter_ns ? span->to : enter_ns;
}

static void gather(struct gathering *g, enum what what)
{
	const struct tare_recording *recording = g->context->recording;
	memset(g->count, 0, recording->queue_count * sizeof *g->count);
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct tables_span span, *to;
		if (!is_listed(g, command) || !tables_timed(command, &span))
			continue;
		to = &g->spans[g->first[command->queue] + g->count[command->queue]++];
		if (what == EXECUTION)
			*to = span;
		else
			*to = (struct tables_span){ end_of(command, &span),
				                    command->flags & TARE_COMMAND_BLOCKING
				                        ? NO_LATENCY
				                        : tables_length(command->exit_ns,
				                                        span.from) };
	}
}

// Leaves of the ends of a queue's commands how long they took to start.
static void keep_latencies(struct gathering *g, size_t queue)
{
	struct tables_span *spans = g->spans + g->first[queue];
	size_t kept = 0;
	for (size_t i = 0; i < g->count[queue]; i++)
		if (spans[i].to != NO_LATENCY)
			spans[kept++] = (struct tables_span){ 0, spans[i].to };
	g->count[queue] = kept;
}

static int compare_spans(const void *a, const void *b)
{
	const struct tables_span *x = a;
	const struct tables_span *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

// The ledger's gaps of the queue's device against those between the queue's merged spans.
static int find_causes(const struct gathering *g, const struct tables_span *spans, size_t n,
                       struct tare_queue_row *row)
{
	const struct tare_ledgers *ledgers = g->context->ledgers;
	TARE_FREE struct tables_span *listed = malloc((ledgers->gap_count + 1) * sizeof *listed);
	if (!listed)
		return -ENOMEM;
	for (int cause = 0; cause < TARE_LEDGER_CATEGORIES; cause++) {
		size_t listed_count = 0;
		size_t next = 0;
		for (size_t i = 0; i < ledgers->gap_count; i++)
			if (ledgers->gaps[i].device == g->context->device_of[row->queue] &&
			    (int)ledgers->gaps[i].cause == cause)
				listed[listed_count++] =
				    (struct tables_span){ tables_bounded(ledgers->gaps[i].from_ns),
					                  tables_bounded(ledgers->gaps[i].to_ns) };
		qsort(listed, listed_count, sizeof *listed, compare_spans);
		for (size_t i = 1; listed_count > 0 && i < n; i++) {
			while (next < listed_count && listed[next].to <= spans[i - 1].to)
				next++;
			for (size_t k = next; k < listed_count && listed[k].from < spans[i].from;
			     k++)
				row->gap_causes_ns[cause] += tables_length(
				    listed[k].from > spans[i - 1].to ? listed[k].from
				                                     : spans[i - 1].to,
				    listed[k].to < spans[i].from ? listed[k].to : spans[i].from);
		}
	}
	return 0;
}

static int time_queue(struct gathering *g, uint32_t queue)
{
	struct tare_queue_row *row = &g->rows[queue];
	struct tables_span *spans = g->spans + g->first[queue];
	size_t n = g->count[queue];
	if (n == 0)
		return 0;
	tables_sort(spans, n);
	n = tables_merge(spans, n);
	row->busy_ns = tables_union(spans, n);
	for (size_t i = 1; i < n; i++)
		row->gaps_ns = tables_add(
		    row->gaps_ns, tables_inside_ns(g->context, spans[i - 1].to, spans[i].from));
	return find_causes(g, spans, n, row);
}

// Commands come in the order of their enqueues; the ends of each queue are in order too.
static int find_depths(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	size_t queues = recording->queue_count;
	TARE_FREE size_t *ended = calloc(queues + 1, sizeof *ended);
	TARE_FREE size_t *begun = calloc(queues + 1, sizeof *begun);
	TARE_FREE double *command_ns = calloc(queues + 1, sizeof *command_ns);
	TARE_FREE int64_t *first_ns = calloc(queues + 1, sizeof *first_ns);
	if (!ended || !begun || !command_ns || !first_ns)
		return -ENOMEM;
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		uint32_t queue = command->queue;
		int64_t enter_ns = tables_bounded(command->enter_ns);
		const struct tables_span *ends;
		struct tables_span span;
		if (!is_listed(g, command) || !tables_timed(command, &span))
			continue;
		ends = g->spans + g->first[queue];
		while (ended[queue] < begun[queue] && ends[ended[queue]].from <= enter_ns)
			ended[queue]++;
		if (begun[queue]++ == 0)
			first_ns[queue] = enter_ns;
		if (begun[queue] - ended[queue] > g->rows[queue].max_depth)
			g->rows[queue].max_depth = begun[queue] - ended[queue];
		command_ns[queue] +=
		    (double)tables_inside_ns(g->context, enter_ns, end_of(command, &span));
	}
	for (size_t i = 0; i < queues; i++) {
		int64_t ns;
		if (begun[i] == 0)
			continue;
		ns = tables_inside_ns(g->context, first_ns[i],
		                      g->spans[g->first[i] + g->count[i] - 1].from);
		if (ns > 0)
			g->rows[i].mean_depth = command_ns[i] / (double)ns;
	}
	return 0;
}

static int time_queues(struct gathering *g)
{
	size_t queues = g->context->recording->queue_count;
	int code = 0;
	gather(g, EXECUTION);
	for (uint32_t i = 0; code == 0 && i < queues; i++)
		code = time_queue(g, i);
	if (code != 0)
		return code;
	gather(g, END);
	for (size_t i = 0; i < queues; i++)
		tables_sort(g->spans + g->first[i], g->count[i]);
	code = find_depths(g);
	if (code != 0)
		return code;
	for (size_t i = 0; i < queues; i++) {
		keep_latencies(g, i);
		if (g->count[i] > 0)
			g->rows[i].median_latency_ns =
			    llround(tables_median_length(g->spans + g->first[i], g->count[i]));
	}
	return 0;
}

static void count_commands(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	const struct tare_commands *commands = &recording->commands;
	for (size_t i = 0; i < commands->sum_count && g->context->all; i++) {
		const struct tare_like_sums *sums = &commands->sums[i];
		uint32_t queue = commands->likes[sums->like].queue;
		if (queue >= recording->queue_count)
			continue;
		g->rows[queue].commands += sums->count;
		g->rows[queue].timed += sums->timed;
	}
	if (commands->sums && g->context->all)
		return;
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct tables_span span;
		if (!is_listed(g, command))
			continue;
		g->rows[command->queue].commands++;
		g->rows[command->queue].timed += tables_timed(command, &span);
	}
}

static int place_queues(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	size_t room = 0;
	g->first = calloc(recording->queue_count + 1, sizeof *g->first);
	g->count = calloc(recording->queue_count + 1, sizeof *g->count);
	if (!g->first || !g->count)
		return -ENOMEM;
	for (uint32_t i = 0; i < recording->queue_count; i++)
		g->rows[i] = (struct tare_queue_row){ .queue = i,
			                              .mean_depth = NAN,
			                              .median_latency_ns = TARE_NO_TIME };
	count_commands(g);
	for (size_t i = 0; i < recording->queue_count; i++) {
		g->first[i] = room;
		room += (size_t)g->rows[i].timed;
	}
	g->spans = malloc((room + 1) * sizeof *g->spans);
	return g->spans ? 0 : -ENOMEM;
}

int tables_queues(const struct tables_context *context, struct tare_tables *tables)
{
	size_t queues = context->recording->queue_count;
	struct gathering g = { .context = context };
	int code;
	tables->queues = g.rows = calloc(queues + 1, sizeof *g.rows);
	if (!g.rows)
		return -ENOMEM;
	code = place_queues(&g);
	if (code == 0)
		code = time_queues(&g);
	for (size_t i = 0; i < queues; i++)
		if (g.rows[i].commands > 0)
			g.rows[tables->queue_count++] = g.rows[i];
	free(g.first);
	free(g.count);
	free(g.spans);
	return code;
}
