// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Goes along the time of a device, from one start or end of a command to the next.
struct sweep {
	const struct ledger_scope *scope;
	struct ledger_walk *cause, *host; // for idle time, for the matrix
	struct ledger_attention *attention;
	struct ledger_override *overrides;
	size_t override_at, override_count;
	int64_t *queue_end_ns; // of commands of a queue that have begun
	const struct ledger_rows *rows;
	size_t parts_mark, matrix_mark, near_mark; // the next, for each group of figures
	struct tare_ledger sum;                    // of the view so far, whatever the rows
	struct ledger_gap_list *gaps;
	struct tare_cover near_edges;
	int64_t now_ns, stop_ns;
	int64_t ends_ns[TARE_EFFECTS];      // when the last running command of an effect ends
	int64_t residuals_ns[TARE_EFFECTS]; // of that end
	int64_t edge_residual_ns;           // of the stamps that fall on now_ns
	int last_category;                  // of the time before now_ns; -1: idle; -2: not known
	// The part of an idle gap that one part of the row has.
	bool in_row, in_gap;
	int64_t gap_from_ns;
	uint32_t gap_command;
	int64_t gap_parts_ns[TARE_LEDGER_CATEGORIES];
	bool failed;
};

static const enum tare_ledger_category idle_category[TARE_HOST_STATES] = {
	[TARE_HOST_BEFORE_FIRST] = TARE_LEDGER_BEFORE_FIRST,
	[TARE_HOST_BUILD] = TARE_LEDGER_BUILD,
	[TARE_HOST_ALLOCATE] = TARE_LEDGER_ALLOCATE,
	[TARE_HOST_BLOCKING_COPY] = TARE_LEDGER_BLOCKING_COPY,
	[TARE_HOST_WAIT] = TARE_LEDGER_WAIT,
	[TARE_HOST_API] = TARE_LEDGER_API,
	[TARE_HOST_RELEASE] = TARE_LEDGER_RELEASE,
	[TARE_HOST_QUERY] = TARE_LEDGER_QUERY,
	[TARE_HOST_COMPUTING] = TARE_LEDGER_COMPUTING,
	[TARE_HOST_OFF_CPU] = TARE_LEDGER_OFF_CPU,
	[TARE_HOST_GONE] = TARE_LEDGER_ENDED,
	[TARE_HOST_NOT_RECORDED] = TARE_LEDGER_NOT_RECORDED,
	[TARE_HOST_UNKNOWN] = TARE_LEDGER_UNKNOWN,
};

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t between(int64_t low, int64_t at, int64_t high)
{
	return earlier(later(at, low), high);
}

static void mark_edge(struct sweep *sweep, int64_t at_ns, int64_t residual_ns)
{
	if (residual_ns > 0 && tare_cover_around(&sweep->near_edges, at_ns, residual_ns))
		sweep->failed = true;
}

// The category changes at now_ns, or does not.
static void turn_to(struct sweep *sweep, int category)
{
	if (sweep->last_category != category && sweep->last_category != -2)
		mark_edge(sweep, sweep->now_ns, sweep->edge_residual_ns);
	sweep->last_category = category;
}

// ---- the list of gaps

static bool is_longer(const struct tare_gap *a, const struct tare_gap *b)
{
	int64_t left_ns = a->to_ns - a->from_ns, right_ns = b->to_ns - b->from_ns;
	return left_ns != right_ns ? left_ns > right_ns : a->from_ns < b->from_ns;
}

static void begin_gap(struct sweep *sweep, int64_t from_ns)
{
	sweep->gap_from_ns = from_ns;
	memset(sweep->gap_parts_ns, 0, sizeof sweep->gap_parts_ns);
}

static void end_gap(struct sweep *sweep, int64_t to_ns)
{
	struct ledger_gap_list *gaps = sweep->gaps;
	struct tare_gap gap = {
		.from_ns = later(sweep->gap_from_ns, sweep->scope->view->from_ns),
		.to_ns = earlier(to_ns, sweep->scope->view->to_ns),
		.device = sweep->scope->device,
		.command = sweep->gap_command,
	};
	if (!gaps || !sweep->in_row || !sweep->in_gap || gap.from_ns >= gap.to_ns)
		return;
	for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++)
		if (sweep->gap_parts_ns[i] > sweep->gap_parts_ns[gap.cause])
			gap.cause = (enum tare_ledger_category)i;
	if (gaps->each && gaps->each(gaps->context, &gap, sweep->gap_parts_ns) != 0)
		sweep->failed = true;
	if (gaps->count == LEDGER_GAPS) {
		if (!is_longer(&gap, &gaps->at[LEDGER_GAPS - 1]))
			return;
		gaps->count--;
	}
	size_t at = gaps->count++;
	for (; at > 0 && is_longer(&gap, &gaps->at[at - 1]); at--)
		gaps->at[at] = gaps->at[at - 1];
	gaps->at[at] = gap;
}

// ---- the rows
//
// A row's figures are the sum when each of its parts ends less the sum when it begins, so that a
// mark costs the same however many rows there are. The groups of figures are summed up at their own
// pace.

// Whether a mark of the group is due at a time. *until_ns: when the next one is.
static bool take_mark(const struct sweep *sweep, size_t *next, int64_t at_ns, int64_t *until_ns,
                      const struct ledger_mark **mark)
{
	*until_ns = INT64_MAX;
	if (*next == sweep->rows->mark_count)
		return false;
	*mark = &sweep->rows->marks[*next];
	*until_ns = (*mark)->at_ns;
	if (*until_ns > at_ns)
		return false;
	++*next;
	return true;
}

static void add_figures(int64_t *row, const int64_t *sum, size_t count, bool begins)
{
	for (size_t i = 0; i < count; i++)
		row[i] += begins ? -sum[i] : sum[i];
}

// All three return until when no mark comes.
static int64_t pass_parts(struct sweep *sweep, int64_t at_ns)
{
	const struct ledger_mark *mark;
	int64_t until_ns;
	while (take_mark(sweep, &sweep->parts_mark, at_ns, &until_ns, &mark)) {
		struct tare_ledger *row = &sweep->rows->at[mark->row], *sum = &sweep->sum;
		bool begins = mark->begins;
		if (begins)
			begin_gap(sweep, mark->at_ns);
		else
			end_gap(sweep, mark->at_ns);
		sweep->in_row = begins;
		add_figures(&row->wall_ns, &mark->at_ns, 1, begins);
		add_figures(row->parts_ns, sum->parts_ns, TARE_LEDGER_CATEGORIES, begins);
		add_figures(&row->hidden_to_device_ns, &sum->hidden_to_device_ns, 1, begins);
		add_figures(&row->hidden_from_device_ns, &sum->hidden_from_device_ns, 1, begins);
	}
	return until_ns;
}

static int64_t pass_matrix(struct sweep *sweep, int64_t at_ns)
{
	const struct ledger_mark *mark;
	int64_t until_ns;
	while (take_mark(sweep, &sweep->matrix_mark, at_ns, &until_ns, &mark))
		for (size_t i = 0; i < TARE_HOST_STATES; i++)
			add_figures(sweep->rows->at[mark->row].matrix_ns[i],
			            sweep->sum.matrix_ns[i], TARE_DEVICE_STATES, mark->begins);
	return until_ns;
}

static int64_t pass_near(struct sweep *sweep, int64_t at_ns)
{
	const struct ledger_mark *mark;
	int64_t until_ns;
	while (take_mark(sweep, &sweep->near_mark, at_ns, &until_ns, &mark))
		add_figures(&sweep->rows->at[mark->row].ambiguous_ns, &sweep->sum.ambiguous_ns, 1,
		            mark->begins);
	return until_ns;
}

static void take_near(void *context, const struct tare_time_span *span)
{
	struct sweep *sweep = context;
	for (int64_t from_ns = span->from_ns; from_ns < span->to_ns;) {
		int64_t until_ns = earlier(pass_near(sweep, from_ns), span->to_ns);
		sweep->sum.ambiguous_ns += until_ns - from_ns;
		from_ns = until_ns;
	}
}

// ---- the matrix

static void spend_matrix(struct sweep *sweep, int64_t from_ns, int64_t to_ns,
                         enum tare_device_state device)
{
	while (from_ns < to_ns) {
		int64_t states[TARE_HOST_STATES] = { 0 }, until_ns;
		int64_t mark_ns = pass_matrix(sweep, from_ns);
		uint32_t thread = ledger_attention_at(sweep->attention, from_ns, &until_ns);
		until_ns = earlier(earlier(until_ns, mark_ns), to_ns);
		ledger_walk_spend(sweep->host, thread, from_ns, until_ns, states);
		for (size_t i = 0; i < TARE_HOST_STATES; i++)
			sweep->sum.matrix_ns[i][device] += states[i];
		from_ns = until_ns;
	}
}

// ---- idle time

static void add_idle(struct sweep *sweep, enum tare_ledger_category category, int64_t ns)
{
	sweep->sum.parts_ns[category] += ns;
	sweep->gap_parts_ns[category] += ns;
}

// What idle time is whatever else is true (NULL: nothing), and until when that does not change.
static const struct ledger_override *override_at(struct sweep *sweep, int64_t at_ns,
                                                 int64_t *until_ns)
{
	while (sweep->override_at < sweep->override_count &&
	       sweep->overrides[sweep->override_at].span.to_ns <= at_ns)
		sweep->override_at++;
	*until_ns = INT64_MAX;
	if (sweep->override_at == sweep->override_count)
		return NULL;
	const struct ledger_override *next = &sweep->overrides[sweep->override_at];
	bool inside = next->span.from_ns <= at_ns;
	*until_ns = inside ? next->span.to_ns : next->span.from_ns;
	return inside ? next : NULL;
}

// Why the device is idle: what a thread does, or a category.
struct reason {
	bool host;
	uint32_t thread;
	enum tare_ledger_category category;
};

// Says a piece of idle time to who asks for them.
static void note_piece(struct sweep *sweep, int64_t from_ns, int64_t to_ns,
                       const int64_t parts_ns[TARE_LEDGER_CATEGORIES])
{
	struct tare_gap piece = {
		.from_ns = from_ns,
		.to_ns = to_ns,
		.device = sweep->scope->device,
		.command = sweep->gap_command,
	};
	if (!sweep->gaps || !sweep->gaps->piece || !sweep->in_row)
		return;
	for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++)
		if (parts_ns[i] > parts_ns[piece.cause])
			piece.cause = (enum tare_ledger_category)i;
	if (sweep->gaps->piece(sweep->gaps->context, &piece) != 0)
		sweep->failed = true;
}

static void spend_idle(struct sweep *sweep, int64_t from_ns, int64_t to_ns,
                       const struct reason *reason)
{
	bool pieces = sweep->gaps && sweep->gaps->piece;
	from_ns = later(from_ns, sweep->scope->view->from_ns);
	to_ns = earlier(to_ns, sweep->scope->view->to_ns);
	while (from_ns < to_ns) {
		int64_t until_ns, mark_ns = pass_parts(sweep, from_ns);
		int64_t parts_ns[TARE_LEDGER_CATEGORIES] = { 0 };
		const struct ledger_override *override = override_at(sweep, from_ns, &until_ns);
		until_ns = earlier(earlier(until_ns, mark_ns), to_ns);
		if (override) {
			parts_ns[override->category] = until_ns - from_ns;
		} else if (reason->host) {
			int64_t states[TARE_HOST_STATES] = { 0 };
			if (pieces)
				until_ns = earlier(
				    until_ns,
				    ledger_walk_steady_ns(sweep->cause, reason->thread, from_ns));
			ledger_walk_spend(sweep->cause, reason->thread, from_ns, until_ns, states);
			for (size_t i = 0; i < TARE_HOST_STATES; i++)
				parts_ns[idle_category[i]] += states[i];
		} else {
			parts_ns[reason->category] = until_ns - from_ns;
		}
		for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++)
			add_idle(sweep, (enum tare_ledger_category)i, parts_ns[i]);
		note_piece(sweep, from_ns, until_ns, parts_ns);
		from_ns = until_ns;
	}
}

// When the last of what a command waits for was complete, and the error of that; INT64_MAX: not
// known.
static int64_t dependency_end_ns(const struct sweep *sweep,
                                 const struct tare_recorded_command *command, int64_t *residual_ns)
{
	const struct tare_recording *recording = sweep->scope->recording;
	int64_t end_ns = INT64_MIN;
	*residual_ns = 0;
	if (command->queue < recording->queue_count) {
		end_ns = sweep->queue_end_ns[command->queue];
		*residual_ns = ledger_residual_ns(recording, command);
	}
	for (size_t i = command->first_wait; i < recording->wait_count; i++) {
		const struct tare_recorded_wait *wait = &recording->waits[i];
		if (wait->command >= recording->command_count)
			return INT64_MAX;
		const struct tare_recorded_command *other = &recording->commands[wait->command];
		if (!tare_command_timed(other))
			return INT64_MAX;
		if (other->end_ns > end_ns) {
			end_ns = other->end_ns;
			*residual_ns = ledger_residual_ns(recording, other);
		}
		if (wait->last)
			break;
	}
	return end_ns;
}

// The times at which an idle gap is cut by the command that ends it.
struct cuts {
	int64_t enter_ns, returned_ns, ready_ns, submitted_ns;
	int64_t handed_over_ns; // the cut that the submission makes
	int64_t submitted_residual_ns, ready_residual_ns;
};

static struct cuts cut_gap(const struct sweep *sweep, int64_t from_ns, int64_t to_ns,
                           const struct tare_recorded_command *command)
{
	struct cuts cuts = { .enter_ns = between(from_ns, command->enter_ns, to_ns) };
	bool known = command->submitted_ns != TARE_NO_TIME;
	int64_t submitted_ns = known ? command->submitted_ns : command->exit_ns;
	int64_t ready_ns = dependency_end_ns(sweep, command, &cuts.ready_residual_ns);
	cuts.returned_ns = between(cuts.enter_ns, earlier(command->exit_ns, submitted_ns), to_ns);
	cuts.ready_ns = between(cuts.returned_ns, ready_ns, to_ns);
	cuts.submitted_ns = between(cuts.ready_ns, submitted_ns, to_ns);
	// A submission in the call ends that, one after it ends what is held; one while the command
	// waits for others divides nothing. Cut to another time it is that one, on the host's
	// clock.
	cuts.handed_over_ns =
	    submitted_ns <= command->exit_ns ? cuts.returned_ns : cuts.submitted_ns;
	if (known && cuts.handed_over_ns == submitted_ns)
		cuts.submitted_residual_ns = ledger_residual_ns(sweep->scope->recording, command);
	return cuts;
}

// A cut by a device's stamp that divides two categories.
static void mark_cut(struct sweep *sweep, int64_t from_ns, int64_t at_ns, int64_t to_ns,
                     int64_t residual_ns)
{
	bool overridden = false;
	for (size_t i = sweep->override_at; i < sweep->override_count; i++) {
		const struct tare_time_span *span = &sweep->overrides[i].span;
		if (span->from_ns > at_ns)
			break;
		overridden = overridden || span->to_ns > at_ns;
	}
	if (from_ns < at_ns && at_ns < to_ns && !overridden)
		mark_edge(sweep, at_ns, residual_ns);
}

static void spend_gap(struct sweep *sweep, int64_t from_ns, int64_t to_ns,
                      const struct tare_recorded_command *command)
{
	struct cuts cuts = cut_gap(sweep, from_ns, to_ns, command);
	const struct {
		int64_t to_ns;
		struct reason reason;
	} parts[] = {
		{ cuts.enter_ns, { true, command->thread, 0 } },
		{ cuts.returned_ns, { false, 0, TARE_LEDGER_API } },
		{ cuts.ready_ns, { false, 0, TARE_LEDGER_DEPENDENCY } },
		{ cuts.submitted_ns, { false, 0, TARE_LEDGER_HELD } },
		{ to_ns, { false, 0, TARE_LEDGER_DISPATCH } },
	};
	int64_t part_from_ns = from_ns;
	// A cover takes its edges in order.
	if (cuts.handed_over_ns <= cuts.ready_ns)
		mark_cut(sweep, from_ns, cuts.handed_over_ns, to_ns, cuts.submitted_residual_ns);
	if (cuts.ready_ns > cuts.returned_ns)
		mark_cut(sweep, from_ns, cuts.ready_ns, to_ns, cuts.ready_residual_ns);
	if (cuts.handed_over_ns > cuts.ready_ns)
		mark_cut(sweep, from_ns, cuts.handed_over_ns, to_ns, cuts.submitted_residual_ns);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		spend_idle(sweep, part_from_ns, parts[i].to_ns, &parts[i].reason);
		part_from_ns = parts[i].to_ns;
	}
}

// ---- all of a gap

// Idle until `to_ns`, when `index` begins; TARE_NO_INDEX: nothing begins any more.
static void idle_until(struct sweep *sweep, int64_t to_ns, uint32_t index)
{
	const struct tare_view *view = sweep->scope->view;
	int64_t from_ns = sweep->now_ns;
	int64_t ignored_ns;
	if (from_ns >= to_ns)
		return;
	// A gap after a gap: a command of no length lies between them.
	if (sweep->last_category == -1)
		mark_edge(sweep, from_ns, sweep->edge_residual_ns);
	turn_to(sweep, -1);
	override_at(sweep, from_ns, &ignored_ns);
	sweep->in_gap = true;
	sweep->gap_command = index;
	begin_gap(sweep, from_ns);
	if (index == TARE_NO_INDEX) {
		struct reason reason = { true, ledger_attention_last(sweep->attention), 0 };
		spend_idle(sweep, from_ns, to_ns, &reason);
	} else {
		spend_gap(sweep, from_ns, to_ns, &sweep->scope->recording->commands[index]);
	}
	spend_matrix(sweep, later(from_ns, view->from_ns), earlier(to_ns, view->to_ns),
	             TARE_DEVICE_IDLE);
	end_gap(sweep, to_ns);
	sweep->in_gap = false;
	sweep->now_ns = to_ns;
	sweep->edge_residual_ns = 0;
}

// ---- busy time

static bool running(const struct sweep *sweep, enum tare_effect effect)
{
	return sweep->ends_ns[effect] > sweep->now_ns;
}

static void spend_busy(struct sweep *sweep, int64_t until_ns)
{
	const struct tare_view *view = sweep->scope->view;
	bool kernel = running(sweep, TARE_EFFECT_KERNEL);
	bool to_device = running(sweep, TARE_EFFECT_TO_DEVICE);
	bool from_device = running(sweep, TARE_EFFECT_FROM_DEVICE);
	enum tare_device_state state = TARE_DEVICE_LOCAL;
	enum tare_ledger_category category = TARE_LEDGER_LOCAL;
	if (kernel) {
		state =
		    to_device || from_device ? TARE_DEVICE_KERNEL_AND_TRANSFER : TARE_DEVICE_KERNEL;
		category = TARE_LEDGER_KERNEL;
	} else if (to_device || from_device) {
		state = !from_device ? TARE_DEVICE_TO_DEVICE
		        : !to_device ? TARE_DEVICE_FROM_DEVICE
		                     : TARE_DEVICE_BOTH_WAYS;
		category = !from_device ? TARE_LEDGER_TO_DEVICE
		           : !to_device ? TARE_LEDGER_FROM_DEVICE
		                        : TARE_LEDGER_BOTH_WAYS;
	}
	turn_to(sweep, (int)category);
	int64_t from_ns = later(sweep->now_ns, view->from_ns);
	int64_t to_ns = earlier(until_ns, view->to_ns);
	if (from_ns >= to_ns)
		return;
	spend_matrix(sweep, from_ns, to_ns, state);
	while (from_ns < to_ns) {
		int64_t until = earlier(pass_parts(sweep, from_ns), to_ns);
		sweep->sum.parts_ns[category] += until - from_ns;
		if (kernel && to_device)
			sweep->sum.hidden_to_device_ns += until - from_ns;
		if (kernel && from_device)
			sweep->sum.hidden_from_device_ns += until - from_ns;
		from_ns = until;
	}
}

// Busy until `to_ns` or until nothing runs any more, whichever comes first.
static void busy_until(struct sweep *sweep, int64_t to_ns)
{
	while (sweep->now_ns < to_ns) {
		int64_t until_ns = to_ns;
		bool busy = false;
		for (enum tare_effect i = TARE_EFFECT_KERNEL; i < TARE_EFFECTS; i++) {
			if (!running(sweep, i))
				continue;
			busy = true;
			until_ns = earlier(until_ns, sweep->ends_ns[i]);
		}
		if (!busy)
			return;
		spend_busy(sweep, until_ns);
		sweep->now_ns = until_ns;
		sweep->edge_residual_ns = 0;
		for (enum tare_effect i = TARE_EFFECT_KERNEL; i < TARE_EFFECTS; i++)
			if (sweep->ends_ns[i] == until_ns)
				sweep->edge_residual_ns =
				    later(sweep->edge_residual_ns, sweep->residuals_ns[i]);
	}
}

static void start_command(struct sweep *sweep, const struct tare_recorded_command *command,
                          enum tare_effect effect)
{
	int64_t residual_ns = ledger_residual_ns(sweep->scope->recording, command);
	if (command->start_ns == sweep->now_ns)
		sweep->edge_residual_ns = later(sweep->edge_residual_ns, residual_ns);
	if (command->end_ns > sweep->ends_ns[effect]) {
		sweep->ends_ns[effect] = command->end_ns;
		sweep->residuals_ns[effect] = residual_ns;
	} else if (command->end_ns == sweep->ends_ns[effect]) {
		sweep->residuals_ns[effect] = later(sweep->residuals_ns[effect], residual_ns);
	}
}

// Later commands of an in-order queue wait for this one; of the other queues for barriers only.
static void note_order(struct sweep *sweep, const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = sweep->scope->recording;
	if (command->queue >= recording->queue_count)
		return;
	if (recording->queues[command->queue].out_of_order && command->kind != TARE_KIND_BARRIER)
		return;
	int64_t *end_ns = &sweep->queue_end_ns[command->queue];
	*end_ns = later(*end_ns, command->end_ns);
}

static void go(struct sweep *sweep, const uint32_t *order, size_t count)
{
	const struct tare_recording *recording = sweep->scope->recording;
	for (size_t i = 0; i < count && sweep->now_ns < sweep->stop_ns; i++) {
		const struct tare_recorded_command *command = &recording->commands[order[i]];
		enum tare_effect effect = tare_command_effect(command);
		if (!ledger_has_command(sweep->scope, command))
			continue;
		if (effect != TARE_EFFECT_NONE) {
			busy_until(sweep, earlier(command->start_ns, sweep->stop_ns));
			idle_until(sweep, command->start_ns, order[i]);
			start_command(sweep, command, effect);
		}
		note_order(sweep, command);
	}
	busy_until(sweep, sweep->stop_ns);
	idle_until(sweep, sweep->stop_ns, TARE_NO_INDEX);
}

// ---- the whole

static int64_t largest_residual_ns(const struct tare_recording *recording)
{
	int64_t largest_ns = 0;
	for (size_t i = 0; i < recording->device_count; i++)
		largest_ns = later(largest_ns, recording->devices[i].residual_ns);
	return largest_ns;
}

static int begin(struct sweep *sweep, const struct ledger_hosts *hosts)
{
	const struct tare_recording *recording = sweep->scope->recording;
	const struct tare_view *view = sweep->scope->view;
	int64_t reach_ns = largest_residual_ns(recording);
	sweep->near_edges = (struct tare_cover){
		.from_ns = view->from_ns,
		.to_ns = view->to_ns,
		.reach_ns = reach_ns,
		.take = take_near,
		.context = sweep,
	};
	// An edge outside the view may be near to a part of it.
	sweep->now_ns = tare_earlier_ns(view->from_ns, reach_ns);
	sweep->stop_ns = tare_later_ns(tare_later_ns(view->to_ns, reach_ns), 1);
	sweep->last_category = -2;
	for (size_t i = 0; i < TARE_EFFECTS; i++)
		sweep->ends_ns[i] = INT64_MIN;
	sweep->cause = ledger_walk_new(hosts);
	sweep->host = ledger_walk_new(hosts);
	sweep->attention = ledger_attention_new(sweep->scope, hosts);
	sweep->queue_end_ns = calloc(recording->queue_count + 1, sizeof *sweep->queue_end_ns);
	if (!sweep->cause || !sweep->host || !sweep->attention || !sweep->queue_end_ns)
		return -ENOMEM;
	for (size_t i = 0; i < recording->queue_count; i++)
		sweep->queue_end_ns[i] = INT64_MIN;
	return ledger_overrides(sweep->scope, &sweep->overrides, &sweep->override_count);
}

int ledger_sweep(const struct ledger_scope *scope, const struct ledger_hosts *hosts,
                 const uint32_t *order, size_t count, const struct ledger_rows *rows,
                 struct ledger_gap_list *gaps)
{
	struct sweep sweep = { .scope = scope, .rows = rows, .gaps = gaps };
	int rc = begin(&sweep, hosts);
	if (!rc) {
		go(&sweep, order, count);
		tare_cover_finish(&sweep.near_edges);
		pass_parts(&sweep, INT64_MAX);
		pass_matrix(&sweep, INT64_MAX);
		pass_near(&sweep, INT64_MAX);
		if (sweep.failed || ledger_walk_failed(sweep.cause) ||
		    ledger_walk_failed(sweep.host) || ledger_attention_failed(sweep.attention))
			rc = -ENOMEM;
	}
	tare_cover_free(&sweep.near_edges);
	ledger_walk_free(sweep.cause);
	ledger_walk_free(sweep.host);
	ledger_attention_free(sweep.attention);
	free(sweep.queue_end_ns);
	free(sweep.overrides);
	return rc;
}
