// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/sweep.h"

#include <errno.h>
#include <stdlib.h>

// The category changes at now_ns, or does not.
static void turn_to(struct sweep *sweep, int category)
{
	if (sweep->last_category != category && sweep->last_category != -2)
		sweep_mark_edge(sweep, sweep->now_ns, sweep->edge_residual_ns);
	sweep->last_category = category;
}

// ---- the matrix

static void spend_matrix(struct sweep *sweep, int64_t from_ns, int64_t to_ns,
                         enum tare_device_state device)
{
	// Who asks for pieces has no use for it, and it is half of what they would cost.
	if (sweep->gaps && sweep->gaps->piece)
		return;
	while (from_ns < to_ns) {
		int64_t mark_ns = sweep_pass_matrix(sweep, from_ns);
		if (from_ns >= sweep->attended_until_ns)
			sweep->attended = ledger_attention_at(sweep->attention, from_ns,
			                                      &sweep->attended_until_ns);
		int64_t until_ns =
		    ledger_earlier(ledger_earlier(sweep->attended_until_ns, mark_ns), to_ns);
		ledger_walk_spend(sweep->host, sweep->attended, from_ns, until_ns,
		                  sweep->matrix_ns[device]);
		from_ns = until_ns;
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
		sweep_mark_edge(sweep, from_ns, sweep->edge_residual_ns);
	turn_to(sweep, -1);
	sweep_override_at(sweep, from_ns, &ignored_ns);
	sweep->in_gap = true;
	sweep->gap_command = index;
	for (uint32_t row = 0; row < sweep->gap_rows; row++)
		sweep_begin_gap(sweep, row, from_ns);
	sweep_spend_gap(sweep, from_ns, to_ns, index);
	spend_matrix(sweep, ledger_later(from_ns, view->from_ns),
	             ledger_earlier(to_ns, view->to_ns), TARE_DEVICE_IDLE);
	for (uint32_t row = 0; row < sweep->gap_rows; row++)
		if (sweep->gap[row].in_row)
			sweep_end_gap(sweep, row, to_ns);
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
	int64_t from_ns = ledger_later(sweep->now_ns, view->from_ns);
	int64_t to_ns = ledger_earlier(until_ns, view->to_ns);
	if (from_ns >= to_ns)
		return;
	spend_matrix(sweep, from_ns, to_ns, state);
	while (from_ns < to_ns) {
		int64_t until = ledger_earlier(sweep_pass_parts(sweep, from_ns), to_ns);
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
			until_ns = ledger_earlier(until_ns, sweep->ends_ns[i]);
		}
		if (!busy)
			return;
		spend_busy(sweep, until_ns);
		sweep->now_ns = until_ns;
		sweep->edge_residual_ns = 0;
		for (enum tare_effect i = TARE_EFFECT_KERNEL; i < TARE_EFFECTS; i++)
			if (sweep->ends_ns[i] == until_ns)
				sweep->edge_residual_ns =
				    ledger_later(sweep->edge_residual_ns, sweep->residuals_ns[i]);
	}
}

static void start_command(struct sweep *sweep, const struct tare_recorded_command *command,
                          enum tare_effect effect)
{
	int64_t residual_ns = ledger_residual_ns(sweep->scope->recording, command);
	if (command->start_ns == sweep->now_ns)
		sweep->edge_residual_ns = ledger_later(sweep->edge_residual_ns, residual_ns);
	if (command->end_ns > sweep->ends_ns[effect]) {
		sweep->ends_ns[effect] = command->end_ns;
		sweep->residuals_ns[effect] = residual_ns;
	} else if (command->end_ns == sweep->ends_ns[effect]) {
		sweep->residuals_ns[effect] =
		    ledger_later(sweep->residuals_ns[effect], residual_ns);
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
	*end_ns = ledger_later(*end_ns, command->end_ns);
}

static void go(struct sweep *sweep, const uint32_t *order, size_t count)
{
	const struct tare_recording *recording = sweep->scope->recording;
	for (size_t i = 0; i < count && sweep->now_ns < sweep->stop_ns; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, order[i]);
		enum tare_effect effect = tare_command_effect(command);
		if (!ledger_has_command(sweep->scope, command))
			continue;
		if (effect != TARE_EFFECT_NONE) {
			busy_until(sweep, ledger_earlier(command->start_ns, sweep->stop_ns));
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
		largest_ns = ledger_later(largest_ns, recording->devices[i].residual_ns);
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
		.take = sweep_take_near,
		.context = sweep,
	};
	// An edge outside the view may be near to a part of it.
	sweep->now_ns = tare_earlier_ns(view->from_ns, reach_ns);
	sweep->stop_ns = tare_later_ns(tare_later_ns(view->to_ns, reach_ns), 1);
	sweep->last_category = -2;
	sweep->attended_until_ns = INT64_MIN;
	sweep->parts_mark_ns = sweep_mark_ns(sweep, 0);
	sweep->matrix_mark_ns = sweep_mark_ns(sweep, 0);
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

static bool has_loads(const struct tare_recording *recording)
{
	for (size_t i = 0; i < recording->function_count; i++)
		if (recording->functions[i].role == TARE_ROLE_LOAD)
			return true;
	return false;
}

int ledger_sweep(const struct ledger_scope *scope, const struct ledger_hosts *hosts,
                 const uint32_t *order, size_t count, const struct ledger_rows *rows,
                 struct ledger_gap_list *gaps)
{
	struct sweep sweep = {
		.scope = scope, .rows = rows, .gaps = gaps, .loads = has_loads(scope->recording)
	};
	sweep.gap_rows = !gaps ? 0 : gaps->each && gaps->each_row > 0 ? gaps->each_row + 1 : 1;
	int rc = begin(&sweep, hosts);
	if (!rc) {
		go(&sweep, order, count);
		tare_cover_finish(&sweep.near_edges);
		sweep_pass_all(&sweep);
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
