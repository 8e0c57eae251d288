// SPDX-License-Identifier: Apache-2.0
// Why a device is idle: a gap is cut by what became of the command that ends it.
#include "analysis/ledger/sweep.h"

static const enum tare_ledger_category idle_category[TARE_HOST_STATES] = {
	[TARE_HOST_BEFORE_FIRST] = TARE_LEDGER_BEFORE_FIRST,
	[TARE_HOST_BUILD] = TARE_LEDGER_BUILD,
	[TARE_HOST_LOAD] = TARE_LEDGER_LOAD,
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

static int64_t between(int64_t low, int64_t at, int64_t high)
{
	return ledger_earlier(ledger_later(at, low), high);
}

static void add_idle(struct sweep *sweep, enum tare_ledger_category category, int64_t ns)
{
	sweep->sum.parts_ns[category] += ns;
	for (uint32_t row = 0; row < sweep->gap_rows; row++) {
		sweep->gap[row].parts_ns[category] += ns;
		sweep->gap[row].has |= UINT32_C(1) << category;
	}
}

const struct ledger_override *sweep_override_at(struct sweep *sweep, int64_t at_ns,
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
                       enum tare_ledger_category cause)
{
	struct tare_gap piece = { from_ns, to_ns, sweep->scope->device, sweep->gap_command, cause };
	if (sweep->gaps && sweep->gaps->piece && sweep->gap[0].in_row &&
	    sweep->gaps->piece(sweep->gaps->context, &piece) != 0)
		sweep->failed = true;
}

// What the host's state counts as. Within the call that enqueues the command (`within`) all is that
// call, but for what the driver loads in it.
static enum tare_ledger_category category_of(enum tare_host_state state,
                                             enum tare_ledger_category within)
{
	return within && state != TARE_HOST_LOAD ? within : idle_category[state];
}

// What the host did. Returns until when: pieces are of one cause.
static int64_t spend_host(struct sweep *sweep, uint32_t thread, int64_t from_ns, int64_t until_ns,
                          enum tare_ledger_category within)
{
	int64_t states[TARE_HOST_STATES] = { 0 };
	enum tare_host_state most = 0;
	if (sweep->gaps && sweep->gaps->piece)
		until_ns =
		    ledger_earlier(until_ns, ledger_walk_steady_ns(sweep->cause, thread, from_ns));
	ledger_walk_spend(sweep->cause, thread, from_ns, until_ns, states);
	for (enum tare_host_state i = 0; i < TARE_HOST_STATES; i++) {
		if (states[i])
			add_idle(sweep, category_of(i, within), states[i]);
		if (states[i] > states[most])
			most = i;
	}
	note_piece(sweep, from_ns, until_ns, category_of(most, within));
	return until_ns;
}

static void spend_idle(struct sweep *sweep, int64_t from_ns, int64_t to_ns, const uint32_t *thread,
                       enum tare_ledger_category category)
{
	from_ns = ledger_later(from_ns, sweep->scope->view->from_ns);
	to_ns = ledger_earlier(to_ns, sweep->scope->view->to_ns);
	while (from_ns < to_ns) {
		int64_t until_ns, mark_ns = sweep_pass_parts(sweep, from_ns);
		const struct ledger_override *override =
		    sweep_override_at(sweep, from_ns, &until_ns);
		until_ns = ledger_earlier(ledger_earlier(until_ns, mark_ns), to_ns);
		if (thread && !override) {
			from_ns = spend_host(sweep, *thread, from_ns, until_ns, category);
			continue;
		}
		enum tare_ledger_category cause = override ? override->category : category;
		add_idle(sweep, cause, until_ns - from_ns);
		note_piece(sweep, from_ns, until_ns, cause);
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
		const struct tare_recorded_command *other = TARE_COMMAND(recording, wait->command);
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
	cuts.returned_ns =
	    between(cuts.enter_ns, ledger_earlier(command->exit_ns, submitted_ns), to_ns);
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
		const struct tare_run_span *span = &sweep->overrides[i].span;
		if (span->from_ns > at_ns)
			break;
		overridden = overridden || span->to_ns > at_ns;
	}
	if (from_ns < at_ns && at_ns < to_ns && !overridden)
		sweep_mark_edge(sweep, at_ns, residual_ns);
}

static void spend_before(struct sweep *sweep, int64_t from_ns, int64_t to_ns,
                         const struct tare_recorded_command *command)
{
	struct cuts cuts = cut_gap(sweep, from_ns, to_ns, command);
	// A cover takes its edges in order.
	if (cuts.handed_over_ns <= cuts.ready_ns)
		mark_cut(sweep, from_ns, cuts.handed_over_ns, to_ns, cuts.submitted_residual_ns);
	if (cuts.ready_ns > cuts.returned_ns)
		mark_cut(sweep, from_ns, cuts.ready_ns, to_ns, cuts.ready_residual_ns);
	if (cuts.handed_over_ns > cuts.ready_ns)
		mark_cut(sweep, from_ns, cuts.handed_over_ns, to_ns, cuts.submitted_residual_ns);
	const uint32_t thread = command->thread;
	// Most gaps are of one or two of these.
	if (from_ns < cuts.enter_ns)
		spend_idle(sweep, from_ns, cuts.enter_ns, &thread, 0);
	if (cuts.enter_ns < cuts.returned_ns)
		spend_idle(sweep, cuts.enter_ns, cuts.returned_ns, sweep->loads ? &thread : NULL,
		           TARE_LEDGER_API);
	if (cuts.returned_ns < cuts.ready_ns)
		spend_idle(sweep, cuts.returned_ns, cuts.ready_ns, NULL, TARE_LEDGER_DEPENDENCY);
	if (cuts.ready_ns < cuts.submitted_ns)
		spend_idle(sweep, cuts.ready_ns, cuts.submitted_ns, NULL, TARE_LEDGER_HELD);
	if (cuts.submitted_ns < to_ns)
		spend_idle(sweep, cuts.submitted_ns, to_ns, NULL, TARE_LEDGER_DISPATCH);
}

void sweep_spend_gap(struct sweep *sweep, int64_t from_ns, int64_t to_ns, uint32_t index)
{
	if (index == TARE_NO_INDEX) {
		uint32_t last = ledger_attention_last(sweep->attention);
		spend_idle(sweep, from_ns, to_ns, &last, 0);
	} else {
		spend_before(sweep, from_ns, to_ns, TARE_COMMAND(sweep->scope->recording, index));
	}
}
