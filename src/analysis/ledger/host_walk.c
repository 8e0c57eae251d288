// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/host_internal.h"
#include "analysis/recording/intervals.h"
#include "base/room.h"

#include <stdlib.h>

// A thread that asks again within this time does nothing else in between.
static const int64_t polling_ns = 10000;

struct ledger_walk {
	const struct ledger_hosts *hosts;
	struct host_cursor *cursors; // one a thread
	bool *begun;
	size_t whole; // of so many threads nothing was lost: all or none
};

int64_t host_share(int64_t n, int64_t part, int64_t whole)
{
	int64_t product;
	// A thread that never leaves the CPU is the usual one.
	if (whole <= 0 || part == 0)
		return 0;
	return __builtin_mul_overflow(n, part, &product) ? (int64_t)((__int128)n * part / whole)
	                                                 : product / whole;
}

// ---- calls in progress

static void enter_call(struct host_cursor *cursor, int64_t exit_ns, enum tare_host_state state)
{
	if (exit_ns <= cursor->now_ns)
		return;
	if (!TARE_ROOM_FOR(cursor->open, cursor->open_capacity, cursor->open_count)) {
		cursor->failed = true;
		return;
	}
	size_t at = cursor->open_count++;
	for (; at > 0 && cursor->open[(at - 1) / 2].exit_ns > exit_ns; at = (at - 1) / 2)
		cursor->open[at] = cursor->open[(at - 1) / 2];
	cursor->open[at] = (struct host_open){ exit_ns, state };
	cursor->inside[state]++;
	cursor->inside_states |= 1u << state;
}

static void leave_first(struct host_cursor *cursor)
{
	struct host_open *open = cursor->open;
	if (--cursor->inside[open[0].state] == 0)
		cursor->inside_states &= ~(1u << open[0].state);
	struct host_open moved = open[--cursor->open_count];
	size_t at = 0, child = 1;
	for (; child < cursor->open_count; child = 2 * at + 1) {
		if (child + 1 < cursor->open_count && open[child + 1].exit_ns < open[child].exit_ns)
			child++;
		if (moved.exit_ns <= open[child].exit_ns)
			break;
		open[at] = open[child];
		at = child;
	}
	open[at] = moved;
}

// A row of calls with time between them: part of the time is the program's own.
static bool is_loose_row(const struct tare_recorded_call *call)
{
	int64_t span_ns = call->exit_ns - call->enter_ns;
	if (call->count <= 1 || call->inside_ns >= span_ns)
		return false;
	return call->role != TARE_ROLE_POLL ||
	       (uint64_t)((span_ns - 1) / polling_ns) >= call->count;
}

static void begin_call(struct host_cursor *cursor, const struct tare_recorded_call *call)
{
	enum tare_host_state state = ledger_state_of_role(call->role);
	if (!is_loose_row(call)) {
		enter_call(cursor, call->exit_ns, state);
		return;
	}
	cursor->row_from_ns = call->enter_ns;
	cursor->row_to_ns = call->exit_ns;
	cursor->row_inside_ns = call->inside_ns > 0 ? call->inside_ns : 0;
	cursor->row_state = state;
}

// ---- one thread

static int64_t interval_end_ns(const struct ledger_hosts *hosts, const struct host_thread *thread,
                               size_t interval)
{
	return interval < thread->sample_count
	           ? hosts->recording->cpu_samples[thread->sample + interval].at_ns
	           : INT64_MAX;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

// ---- what comes next on a thread

static void look_at_command(const struct ledger_hosts *hosts, struct host_cursor *cursor)
{
	cursor->command_enter_ns = INT64_MAX;
	if (cursor->command == TARE_NO_INDEX)
		return;
	const struct tare_recorded_command *command =
	    TARE_COMMAND(hosts->recording, cursor->command);
	cursor->command_enter_ns = command->enter_ns;
	cursor->command_exit_ns = command->exit_ns;
	cursor->command_state = ledger_state_of_command(command);
}

static void look_at_call(const struct ledger_hosts *hosts, struct host_cursor *cursor)
{
	cursor->call_enter_ns = cursor->call == TARE_NO_INDEX
	                            ? INT64_MAX
	                            : hosts->recording->calls[cursor->call].enter_ns;
}

static void look_at_extra(const struct ledger_hosts *hosts, const struct host_thread *thread,
                          struct host_cursor *cursor)
{
	cursor->extra_enter_ns = cursor->extra < thread->extra_count
	                             ? hosts->extras[thread->extra + cursor->extra].enter_ns
	                             : INT64_MAX;
}

// Takes in what begins at now_ns. No call is entered at INT64_MAX, nor is that ever now.
static void take_begun(const struct ledger_hosts *hosts, const struct host_thread *thread,
                       struct host_cursor *cursor)
{
	while (cursor->command_enter_ns <= cursor->now_ns) {
		enter_call(cursor, cursor->command_exit_ns, cursor->command_state);
		cursor->command = host_next_command(hosts, cursor->command);
		look_at_command(hosts, cursor);
	}
	while (cursor->call_enter_ns <= cursor->now_ns) {
		begin_call(cursor, &hosts->recording->calls[cursor->call]);
		cursor->call = hosts->next_call[cursor->call];
		look_at_call(hosts, cursor);
	}
	while (cursor->extra_enter_ns <= cursor->now_ns) {
		const struct host_extra *extra = &hosts->extras[thread->extra + cursor->extra++];
		enter_call(cursor, extra->exit_ns, extra->state);
		look_at_extra(hosts, thread, cursor);
	}
}

// Takes in what begins and ends at now_ns, and finds out until when nothing more does.
static void refresh(const struct ledger_hosts *hosts, const struct host_thread *thread,
                    struct host_cursor *cursor)
{
	int64_t now_ns = cursor->now_ns, until_ns;

	take_begun(hosts, thread, cursor);
	until_ns = earlier(cursor->command_enter_ns,
	                   earlier(cursor->call_enter_ns, cursor->extra_enter_ns));
	while (cursor->open_count && cursor->open[0].exit_ns <= now_ns)
		leave_first(cursor);
	if (cursor->open_count)
		until_ns = earlier(until_ns, cursor->open[0].exit_ns);
	if (cursor->row_to_ns > now_ns)
		until_ns = earlier(until_ns, cursor->row_to_ns);
	while (cursor->interval_end_ns <= now_ns) {
		cursor->interval_end_ns = interval_end_ns(hosts, thread, ++cursor->interval);
		cursor->outside_ns = 0;
	}
	until_ns = earlier(until_ns, cursor->interval_end_ns);
	if (thread->gone_ns > now_ns)
		until_ns = earlier(until_ns, thread->gone_ns);
	cursor->until_ns = until_ns;
}

// Damaged traces hold times that add up to more than fits.
static void add(int64_t *sum_ns, int64_t ns)
{
	if (__builtin_add_overflow(*sum_ns, ns, sum_ns))
		*sum_ns = ns < 0 ? INT64_MIN : INT64_MAX;
}

static void measure_inside(struct host_cursor *cursor, int64_t ns, enum tare_host_state state)
{
	bool may_sleep = state == TARE_HOST_WAIT || state == TARE_HOST_BLOCKING_COPY ||
	                 state == TARE_HOST_NOT_RECORDED;
	if (cursor->measure && may_sleep)
		add(&cursor->measure[cursor->interval].off_ns, ns);
}

static void spend_inside(struct host_cursor *cursor, int64_t ns, enum tare_host_state state,
                         int64_t states[TARE_HOST_STATES])
{
	add(&states[state], ns);
	measure_inside(cursor, ns, state);
}

// Inline: it is a few instructions, for each call of each walk.
__attribute__((always_inline)) static inline void measure_outside(struct host_cursor *cursor,
                                                                  int64_t ns)
{
	add(&cursor->outside_ns, ns);
	if (cursor->measure)
		add(&cursor->measure[cursor->interval].outside_ns, ns);
}

static void spend_outside(const struct ledger_hosts *hosts, const struct host_thread *thread,
                          struct host_cursor *cursor, int64_t ns, int64_t states[TARE_HOST_STATES])
{
	const struct host_interval *interval =
	    &hosts->intervals[thread->interval + cursor->interval];
	int64_t before_ns = cursor->outside_ns;
	measure_outside(cursor, ns);
	if (cursor->measure)
		return;
	if (interval->off_ns < 0) {
		add(&states[TARE_HOST_UNKNOWN], ns);
		return;
	}
	int64_t off_ns = host_share(cursor->outside_ns, interval->off_ns, interval->outside_ns) -
	                 host_share(before_ns, interval->off_ns, interval->outside_ns);
	add(&states[TARE_HOST_OFF_CPU], off_ns);
	add(&states[TARE_HOST_COMPUTING], ns - off_ns);
}

// States of calls: of those that the thread is inside of, the first wins.
#define CALLS ((2u << TARE_HOST_QUERY) - (1u << TARE_HOST_BUILD))

static bool inside_call(const struct host_cursor *cursor, enum tare_host_state *state)
{
	uint32_t calls = cursor->inside_states & CALLS;
	if (!calls)
		return false;
	*state = (enum tare_host_state)__builtin_ctz(calls);
	return true;
}

// Where it is not inside a call.
static void spend_beside_calls(const struct ledger_hosts *hosts, const struct host_thread *thread,
                               struct host_cursor *cursor, int64_t to_ns,
                               int64_t states[TARE_HOST_STATES])
{
	int64_t ns = to_ns - cursor->now_ns;
	if (cursor->now_ns >= thread->gone_ns) {
		add(&states[TARE_HOST_GONE], ns);
	} else if (cursor->row_to_ns > cursor->now_ns) {
		int64_t row_ns = cursor->row_to_ns - cursor->row_from_ns;
		int64_t inside_ns =
		    host_share(to_ns - cursor->row_from_ns, cursor->row_inside_ns, row_ns) -
		    host_share(cursor->now_ns - cursor->row_from_ns, cursor->row_inside_ns, row_ns);
		spend_inside(cursor, inside_ns, cursor->row_state, states);
		spend_outside(hosts, thread, cursor, ns - inside_ns, states);
	} else if (cursor->inside[TARE_HOST_NOT_RECORDED]) {
		spend_inside(cursor, ns, TARE_HOST_NOT_RECORDED, states);
	} else {
		spend_outside(hosts, thread, cursor, ns, states);
	}
}

// Inline: it is a few instructions, for each call of each walk.
__attribute__((always_inline)) static inline void spend(const struct ledger_hosts *hosts,
                                                        const struct host_thread *thread,
                                                        struct host_cursor *cursor, int64_t to_ns,
                                                        int64_t states[TARE_HOST_STATES])
{
	enum tare_host_state state;
	if (cursor->now_ns < thread->gone_ns && inside_call(cursor, &state))
		spend_inside(cursor, to_ns - cursor->now_ns, state, states);
	else
		spend_beside_calls(hosts, thread, cursor, to_ns, states);
	cursor->now_ns = to_ns;
}

void host_cursor_begin(const struct ledger_hosts *hosts, uint32_t index, struct host_cursor *cursor)
{
	const struct host_thread *thread = &hosts->threads[index];
	*cursor = (struct host_cursor){
		.now_ns = thread->first_ns,
		.until_ns = thread->first_ns,
		.command = thread->command,
		.call = thread->call,
		.row_to_ns = INT64_MIN,
		.interval_end_ns = interval_end_ns(hosts, thread, 0),
	};
	look_at_command(hosts, cursor);
	look_at_call(hosts, cursor);
	look_at_extra(hosts, thread, cursor);
}

void host_cursor_go(const struct ledger_hosts *hosts, const struct host_thread *thread,
                    struct host_cursor *cursor, int64_t to_ns, int64_t states[TARE_HOST_STATES])
{
	while (cursor->now_ns < to_ns) {
		if (cursor->now_ns >= cursor->until_ns)
			refresh(hosts, thread, cursor);
		spend(hosts, thread, cursor, earlier(cursor->until_ns, to_ns), states);
	}
}

// ---- going along without asking what the thread did

// Takes the next call where it begins and ends alone, by `end_ns`, as nearly all do.
static bool leap_call(const struct ledger_hosts *hosts, struct host_cursor *cursor, int64_t end_ns,
                      int64_t *enter_ns, int64_t *exit_ns, enum tare_host_state *state)
{
	const struct tare_recorded_call *call = &hosts->recording->calls[cursor->call];
	*enter_ns = call->enter_ns;
	*exit_ns = call->exit_ns;
	*state = ledger_state_of_role(call->role);
	if (*exit_ns > end_ns || *exit_ns > cursor->command_enter_ns || is_loose_row(call))
		return false;
	uint32_t next = hosts->next_call[cursor->call];
	int64_t next_ns =
	    next == TARE_NO_INDEX ? INT64_MAX : hosts->recording->calls[next].enter_ns;
	if (next_ns < *exit_ns)
		return false;
	cursor->call = next;
	cursor->call_enter_ns = next_ns;
	return true;
}

// The same of a command.
__attribute__((always_inline)) static inline bool
leap_command(const struct ledger_hosts *hosts, struct host_cursor *cursor, int64_t end_ns,
             int64_t *enter_ns, int64_t *exit_ns, enum tare_host_state *state)
{
	uint32_t command = cursor->command;
	*enter_ns = cursor->command_enter_ns;
	*exit_ns = cursor->command_exit_ns;
	*state = cursor->command_state;
	if (*exit_ns > end_ns || *exit_ns > cursor->call_enter_ns)
		return false;
	cursor->command = host_next_command(hosts, command);
	look_at_command(hosts, cursor);
	if (cursor->command_enter_ns >= *exit_ns)
		return true;
	cursor->command = command;
	cursor->command_enter_ns = *enter_ns;
	cursor->command_exit_ns = *exit_ns;
	cursor->command_state = *state;
	return false;
}

// Leaves behind the calls that begin and end alone, to `to_ns` at most: no other begins in one, nor
// does an interval end.
static void leap(const struct ledger_hosts *hosts, const struct host_thread *thread,
                 struct host_cursor *cursor, int64_t to_ns)
{
	int64_t end_ns = earlier(earlier(to_ns, cursor->interval_end_ns),
	                         earlier(thread->gone_ns, cursor->extra_enter_ns));
	if (cursor->open_count || cursor->row_to_ns > cursor->now_ns)
		return;
	while (cursor->now_ns < end_ns && cursor->command_enter_ns != cursor->call_enter_ns) {
		int64_t enter_ns, exit_ns;
		enum tare_host_state state;
		bool leapt = cursor->command_enter_ns < cursor->call_enter_ns
		                 ? leap_command(hosts, cursor, end_ns, &enter_ns, &exit_ns, &state)
		                 : leap_call(hosts, cursor, end_ns, &enter_ns, &exit_ns, &state);
		if (!leapt)
			break;
		if (enter_ns > cursor->now_ns) {
			measure_outside(cursor, enter_ns - cursor->now_ns);
			cursor->now_ns = enter_ns;
		}
		if (exit_ns > cursor->now_ns) {
			measure_inside(cursor, exit_ns - cursor->now_ns, state);
			cursor->now_ns = exit_ns;
		}
		cursor->until_ns = cursor->now_ns;
	}
}

void host_cursor_skip(const struct ledger_hosts *hosts, const struct host_thread *thread,
                      struct host_cursor *cursor, int64_t to_ns)
{
	int64_t ignored[TARE_HOST_STATES] = { 0 };
	while (cursor->now_ns < to_ns) {
		leap(hosts, thread, cursor, to_ns);
		if (cursor->now_ns >= to_ns)
			return;
		if (cursor->now_ns >= cursor->until_ns)
			refresh(hosts, thread, cursor);
		spend(hosts, thread, cursor, earlier(cursor->until_ns, to_ns), ignored);
	}
}

// ---- all threads

struct ledger_walk *ledger_walk_new(const struct ledger_hosts *hosts)
{
	size_t count = hosts->recording->thread_count;
	struct ledger_walk *walk = calloc(1, sizeof *walk);
	if (!walk)
		return NULL;
	walk->hosts = hosts;
	walk->cursors = calloc(count + 1, sizeof *walk->cursors);
	walk->begun = calloc(count + 1, sizeof *walk->begun);
	walk->whole = hosts->recording->loss_count ? 0 : count;
	if (!walk->cursors || !walk->begun) {
		ledger_walk_free(walk);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) // no time is that of one that has not begun
		walk->cursors[i].now_ns = INT64_MIN;
	return walk;
}

void ledger_walk_free(struct ledger_walk *walk)
{
	if (!walk)
		return;
	for (size_t i = 0; walk->cursors && i < walk->hosts->recording->thread_count; i++)
		free(walk->cursors[i].open);
	free(walk->cursors);
	free(walk->begun);
	free(walk);
}

// Who counts for `thread` at a time, and until when; TARE_NO_INDEX: nobody has called yet.
static uint32_t stand_in(const struct ledger_hosts *hosts, uint32_t thread, int64_t at_ns,
                         int64_t *until_ns)
{
	while (thread != TARE_NO_INDEX && hosts->threads[thread].first_ns > at_ns) {
		*until_ns = earlier(*until_ns, hosts->threads[thread].first_ns);
		thread = hosts->threads[thread].stand_in;
	}
	return thread;
}

// The cursor of a thread at a time, or beyond.
static struct host_cursor *cursor_at(struct ledger_walk *walk, uint32_t thread, int64_t at_ns)
{
	struct host_cursor *cursor = &walk->cursors[thread];
	if (!walk->begun[thread]) {
		host_cursor_begin(walk->hosts, thread, cursor);
		walk->begun[thread] = true;
	}
	host_cursor_skip(walk->hosts, &walk->hosts->threads[thread], cursor, at_ns);
	return cursor;
}

// As ledger_walk_spend, by what was recorded alone.
static void spend_recorded(struct ledger_walk *walk, uint32_t thread, int64_t from_ns,
                           int64_t to_ns, int64_t states[TARE_HOST_STATES])
{
	const struct ledger_hosts *hosts = walk->hosts;
	while (from_ns < to_ns) {
		int64_t until_ns = to_ns;
		uint32_t who = stand_in(hosts, thread, from_ns, &until_ns);
		if (who == TARE_NO_INDEX)
			add(&states[TARE_HOST_BEFORE_FIRST], until_ns - from_ns);
		else
			host_cursor_go(hosts, &hosts->threads[who], cursor_at(walk, who, from_ns),
			               until_ns, states);
		from_ns = until_ns;
	}
}

int64_t ledger_walk_steady_ns(struct ledger_walk *walk, uint32_t thread, int64_t at_ns)
{
	const struct ledger_hosts *hosts = walk->hosts;
	uint32_t process = thread < hosts->recording->thread_count
	                       ? hosts->recording->threads[thread].process
	                       : TARE_NO_INDEX;
	int64_t until_ns;
	host_lost_at(hosts, process, at_ns, &until_ns);
	uint32_t who = stand_in(hosts, thread, at_ns, &until_ns);
	if (who == TARE_NO_INDEX)
		return until_ns;
	struct host_cursor *cursor = cursor_at(walk, who, at_ns);
	// One that stands beyond has been asked about this time before.
	if (cursor->now_ns > at_ns)
		return earlier(until_ns, cursor->now_ns);
	if (cursor->now_ns >= cursor->until_ns)
		refresh(hosts, &hosts->threads[who], cursor);
	return earlier(until_ns, cursor->until_ns);
}

// As ledger_walk_spend, while the process was not recorded: only calls that were say what its
// threads did.
static void spend_lost(struct ledger_walk *walk, uint32_t thread, int64_t from_ns, int64_t to_ns,
                       int64_t states[TARE_HOST_STATES])
{
	int64_t recorded[TARE_HOST_STATES] = { 0 };
	spend_recorded(walk, thread, from_ns, to_ns, recorded);
	for (enum tare_host_state i = 0; i < TARE_HOST_STATES; i++)
		add(&states[CALLS >> i & 1 ? i : TARE_HOST_NOT_RECORDED], recorded[i]);
}

// Not inline: the usual way needs no room for it.
__attribute__((noinline)) static void spend_steps(struct ledger_walk *walk, uint32_t thread,
                                                  int64_t from_ns, int64_t to_ns,
                                                  int64_t states[TARE_HOST_STATES])
{
	const struct ledger_hosts *hosts = walk->hosts;
	uint32_t process = thread < hosts->recording->thread_count
	                       ? hosts->recording->threads[thread].process
	                       : TARE_NO_INDEX;
	while (from_ns < to_ns) {
		int64_t until_ns;
		bool lost = host_lost_at(hosts, process, from_ns, &until_ns);
		until_ns = earlier(until_ns, to_ns);
		if (lost)
			spend_lost(walk, thread, from_ns, until_ns, states);
		else
			spend_recorded(walk, thread, from_ns, until_ns, states);
		from_ns = until_ns;
	}
}

void ledger_walk_spend(struct ledger_walk *walk, uint32_t thread, int64_t from_ns, int64_t to_ns,
                       int64_t states[TARE_HOST_STATES])
{
	struct host_cursor *cursor = &walk->cursors[thread < walk->whole ? thread : 0];
	// Nothing begins or ends in between, and the walk stands there: nearly always.
	if (thread >= walk->whole || cursor->now_ns != from_ns || from_ns >= to_ns) {
		spend_steps(walk, thread, from_ns, to_ns, states);
		return;
	}
	if (cursor->until_ns <= from_ns)
		refresh(walk->hosts, &walk->hosts->threads[thread], cursor);
	if (cursor->until_ns < to_ns)
		spend_steps(walk, thread, from_ns, to_ns, states);
	else
		spend(walk->hosts, &walk->hosts->threads[thread], cursor, to_ns, states);
}

bool ledger_walk_failed(const struct ledger_walk *walk)
{
	for (size_t i = 0; i < walk->hosts->recording->thread_count; i++)
		if (walk->cursors[i].failed)
			return true;
	return false;
}
