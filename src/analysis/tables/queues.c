// SPDX-License-Identifier: Apache-2.0
// Queues: how busy, how deep, how long until a command starts, and what their gaps were. The
// commands of most queues start and end in the order in which they were enqueued: one walk over all
// of them is enough. Those of the others are sorted.
#include "analysis/recording/intervals.h"
#include "analysis/tables/internal.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// An idle gap of the ledger's list.
struct listed_gap {
	int64_t from_ns, to_ns;
	uint32_t device;
	enum tare_ledger_category cause;
};

// When commands end that have not when one is enqueued: a ring.
struct ends {
	int64_t *at;
	size_t first, count, room;
	int64_t last_ns; // of all there were
};

// What is known of a queue so far.
struct queue {
	struct tare_queue_row *row;
	struct tables_span busy; // without a pause so far
	bool any;
	bool sorted;         // its commands are not in order: they are to be sorted
	size_t gap, gap_end; // the ledger's gaps of its device that lie ahead
	int64_t start_ns;    // of the last command
	struct ends ends;
	uint64_t begun;
	int64_t first_ns;
	double command_ns;
};

struct gathering {
	const struct tables_context *context;
	struct tare_queue_row *rows; // by queue
	struct queue *queues;
	struct listed_gap *gaps; // by device and time
	// for those whose commands are sorted
	size_t *first; // of each queue's spans
	size_t *count; // of the spans filled in
	struct tables_span *spans;
};

// A device's clock may put an end before the enqueue by its residual.
static int64_t end_of(const struct tare_recorded_command *command, const struct tables_span *span)
{
	int64_t enter_ns = tables_bounded(command->enter_ns);
	return span->to > enter_ns ? span->to : enter_ns;
}

// ---- how busy it is

static int compare_gaps(const void *a, const void *b)
{
	const struct listed_gap *x = a, *y = b;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static int list_gaps(struct gathering *g)
{
	const struct tare_ledgers *ledgers = g->context->ledgers;
	size_t count = ledgers->gap_count;
	g->gaps = malloc((count + 1) * sizeof *g->gaps);
	if (!g->gaps)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		g->gaps[i] = (struct listed_gap){ tables_bounded(ledgers->gaps[i].from_ns),
			                          tables_bounded(ledgers->gaps[i].to_ns),
			                          ledgers->gaps[i].device, ledgers->gaps[i].cause };
	qsort(g->gaps, count, sizeof *g->gaps, compare_gaps);
	return 0;
}

static struct queue begin_queue(const struct gathering *g, size_t index)
{
	struct queue queue = { .row = &g->rows[index] };
	size_t count = g->context->ledgers->gap_count;
	uint32_t device = g->context->device_of[index];
	while (queue.gap < count && g->gaps[queue.gap].device < device)
		queue.gap++;
	queue.gap_end = queue.gap;
	while (queue.gap_end < count && g->gaps[queue.gap_end].device == device)
		queue.gap_end++;
	return queue;
}

// The ledger's gaps of the queue's device against the one in which the queue has nothing to do.
static void add_causes(const struct gathering *g, struct queue *queue, int64_t from_ns,
                       int64_t to_ns)
{
	const struct listed_gap *gaps = g->gaps;
	while (queue->gap < queue->gap_end && gaps[queue->gap].to_ns <= from_ns)
		queue->gap++;
	for (size_t i = queue->gap; i < queue->gap_end && gaps[i].from_ns < to_ns; i++)
		queue->row->gap_causes_ns[gaps[i].cause] +=
		    tables_length(gaps[i].from_ns > from_ns ? gaps[i].from_ns : from_ns,
		                  gaps[i].to_ns < to_ns ? gaps[i].to_ns : to_ns);
}

static void end_busy(struct queue *queue)
{
	if (queue->any && queue->busy.to > queue->busy.from)
		queue->row->busy_ns =
		    tables_add(queue->row->busy_ns, queue->busy.to - queue->busy.from);
}

// The next in the order of starts.
static void add_execution(const struct gathering *g, struct queue *queue, struct tables_span span)
{
	if (queue->any && span.from <= queue->busy.to) {
		if (span.to > queue->busy.to)
			queue->busy.to = span.to;
		return;
	}
	end_busy(queue);
	if (queue->any) {
		queue->row->gaps_ns = tables_add(
		    queue->row->gaps_ns, tables_inside_ns(g->context, queue->busy.to, span.from));
		add_causes(g, queue, queue->busy.to, span.from);
	}
	queue->busy = span;
	queue->any = true;
}

// ---- in the order of enqueueing

static int push_end(struct ends *ends, int64_t end_ns)
{
	if (ends->count == ends->room) {
		size_t before = ends->room;
		int64_t *grown = tare_make_room(ends->at, &ends->room, before, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		ends->at = grown;
		// What had gone round goes on behind the rest.
		memcpy(grown + before, grown, ends->first * sizeof *grown);
	}
	ends->at[(ends->first + ends->count++) & (ends->room - 1)] = end_ns;
	ends->last_ns = end_ns;
	return 0;
}

// Returns 0 or -ENOMEM. Where it is not in order, `sorted` is set.
static int add_command(const struct gathering *g, const struct tare_recorded_command *command,
                       const struct tables_span *span)
{
	struct queue *queue = &g->queues[command->queue];
	struct ends *ends = &queue->ends;
	int64_t enter_ns = tables_bounded(command->enter_ns), end_ns = end_of(command, span);
	queue->sorted =
	    queue->begun > 0 && (span->from < queue->start_ns || end_ns < ends->last_ns);
	if (queue->sorted)
		return 0;
	queue->start_ns = span->from;
	add_execution(g, queue, *span);
	for (; ends->count > 0 && ends->at[ends->first] <= enter_ns; ends->count--)
		ends->first = (ends->first + 1) & (ends->room - 1);
	if (queue->begun++ == 0)
		queue->first_ns = enter_ns;
	if (push_end(ends, end_ns))
		return -ENOMEM;
	if (ends->count > queue->row->max_depth)
		queue->row->max_depth = ends->count;
	queue->command_ns += (double)tables_inside_ns(g->context, enter_ns, end_ns);
	return 0;
}

static void tell_depth(const struct gathering *g, struct queue *queue, int64_t last_ns)
{
	int64_t ns = tables_inside_ns(g->context, queue->first_ns, last_ns);
	if (ns > 0)
		queue->row->mean_depth = queue->command_ns / (double)ns;
}

static int walk_along(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct tables_span span;
		if (!tables_is_queued(g->context, command) || !tables_timed(command, &span) ||
		    g->queues[command->queue].sorted)
			continue;
		if (add_command(g, command, &span))
			return -ENOMEM;
	}
	for (size_t i = 0; i < recording->queue_count; i++) {
		struct queue *queue = &g->queues[i];
		if (queue->sorted || queue->begun == 0)
			continue;
		end_busy(queue);
		tell_depth(g, queue, queue->ends.last_ns);
		if (!isnan(g->context->latency_ns[i]))
			queue->row->median_latency_ns = llround(g->context->latency_ns[i]);
	}
	return 0;
}

// ---- sorted

// What is gathered of a command with times.
enum what {
	EXECUTION, // start to end
	END,       // from: the end; to: how long after the enqueue it started, NO_LATENCY
};
enum { NO_LATENCY = -1 }; // the call waited for it

static void gather(struct gathering *g, enum what what)
{
	const struct tare_recording *recording = g->context->recording;
	memset(g->count, 0, recording->queue_count * sizeof *g->count);
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct tables_span span, *to;
		if (!tables_is_queued(g->context, command) || !g->queues[command->queue].sorted ||
		    !tables_timed(command, &span))
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

// Begins anew what the walk has left off.
static void begin_again(struct gathering *g, size_t index)
{
	struct queue *queue = &g->queues[index];
	free(queue->ends.at);
	memset(queue->row->gap_causes_ns, 0, sizeof queue->row->gap_causes_ns);
	queue->row->busy_ns = queue->row->gaps_ns = 0;
	queue->row->max_depth = 0;
	*queue = begin_queue(g, index);
	queue->sorted = true;
}

static void time_queue(struct gathering *g, size_t queue)
{
	struct tables_span *spans = g->spans + g->first[queue];
	tables_sort(spans, g->count[queue]);
	for (size_t i = 0; i < g->count[queue]; i++)
		add_execution(g, &g->queues[queue], spans[i]);
	end_busy(&g->queues[queue]);
}

// Commands come in the order of their enqueues; the ends of each queue are in order too.
static int find_depths(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	TARE_FREE size_t *ended = calloc(recording->queue_count + 1, sizeof *ended);
	if (!ended)
		return -ENOMEM;
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		uint32_t index = command->queue;
		struct tables_span span;
		if (!tables_is_queued(g->context, command) || !g->queues[index].sorted ||
		    !tables_timed(command, &span))
			continue;
		struct queue *queue = &g->queues[index];
		const struct tables_span *ends = g->spans + g->first[index];
		int64_t enter_ns = tables_bounded(command->enter_ns);
		while (ended[index] < queue->begun && ends[ended[index]].from <= enter_ns)
			ended[index]++;
		if (queue->begun++ == 0)
			queue->first_ns = enter_ns;
		if (queue->begun - ended[index] > queue->row->max_depth)
			queue->row->max_depth = queue->begun - ended[index];
		queue->command_ns +=
		    (double)tables_inside_ns(g->context, enter_ns, end_of(command, &span));
	}
	for (size_t i = 0; i < recording->queue_count; i++)
		if (g->queues[i].sorted && g->queues[i].begun > 0)
			tell_depth(g, &g->queues[i], g->spans[g->first[i] + g->count[i] - 1].from);
	return 0;
}

// Room for the spans of the queues whose commands are not in order; false: there is none.
static bool needs_sorting(struct gathering *g, int *code)
{
	size_t queues = g->context->recording->queue_count, room = 0;
	bool needs = false;
	for (size_t i = 0; i < queues; i++)
		needs |= g->queues[i].sorted;
	if (!needs)
		return false;
	g->first = calloc(queues + 1, sizeof *g->first);
	g->count = calloc(queues + 1, sizeof *g->count);
	for (size_t i = 0; i < queues && g->first; i++) {
		g->first[i] = room;
		room += g->queues[i].sorted ? (size_t)g->rows[i].timed : 0;
		if (g->queues[i].sorted)
			begin_again(g, i);
	}
	g->spans = malloc((room + 1) * sizeof *g->spans);
	*code = g->first && g->count && g->spans ? 0 : -ENOMEM;
	return *code == 0;
}

static int sort_the_rest(struct gathering *g)
{
	size_t queues = g->context->recording->queue_count;
	int code = 0;
	if (!needs_sorting(g, &code))
		return code;
	gather(g, EXECUTION);
	for (size_t i = 0; i < queues; i++)
		if (g->queues[i].sorted)
			time_queue(g, i);
	gather(g, END);
	for (size_t i = 0; i < queues; i++)
		tables_sort(g->spans + g->first[i], g->count[i]);
	code = find_depths(g);
	for (size_t i = 0; code == 0 && i < queues; i++) {
		keep_latencies(g, i);
		if (g->count[i] > 0)
			g->rows[i].median_latency_ns =
			    llround(tables_median_length(g->spans + g->first[i], g->count[i]));
	}
	return code;
}

// ---- the whole

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
		if (!tables_is_queued(g->context, command))
			continue;
		g->rows[command->queue].commands++;
		g->rows[command->queue].timed += tables_timed(command, &span);
	}
}

static int open_queues(struct gathering *g)
{
	size_t queues = g->context->recording->queue_count;
	g->queues = calloc(queues + 1, sizeof *g->queues);
	if (!g->queues || list_gaps(g))
		return -ENOMEM;
	for (uint32_t i = 0; i < queues; i++) {
		g->rows[i] = (struct tare_queue_row){ .queue = i,
			                              .mean_depth = NAN,
			                              .median_latency_ns = TARE_NO_TIME };
		g->queues[i] = begin_queue(g, i);
	}
	count_commands(g);
	return 0;
}

static void close_queues(struct gathering *g)
{
	for (size_t i = 0; g->queues && i < g->context->recording->queue_count; i++) {
		free(g->queues[i].ends.at);
	}
	free(g->queues);
	free(g->gaps);
	free(g->first);
	free(g->count);
	free(g->spans);
}

int tables_queues(const struct tables_context *context, struct tare_tables *tables)
{
	size_t queues = context->recording->queue_count;
	struct gathering g = { .context = context };
	tables->queues = g.rows = calloc(queues + 1, sizeof *g.rows);
	int code = g.rows ? open_queues(&g) : -ENOMEM;
	if (code == 0)
		code = walk_along(&g);
	if (code == 0)
		code = sort_the_rest(&g);
	close_queues(&g);
	for (size_t i = 0; g.rows && i < queues; i++)
		if (g.rows[i].commands > 0)
			g.rows[tables->queue_count++] = g.rows[i];
	return code;
}
