// SPDX-License-Identifier: Apache-2.0
// Commands on their way into a recording: packed rows, which are changed as more is told of them.
#include "analysis/recording/internal.h"
#include "analysis/recording/intervals.h"

#include <string.h>

// Ticks of a device may lie anywhere: while they are kept as they are, they are kept against the
// first of the queue.
static uint64_t *shift_of(const struct loading *l, uint32_t queue)
{
	return &l->commands->shift[queue % LOADING_SHIFTS];
}

struct load_times loading_times_of(const struct loading *l, size_t index)
{
	const struct tare_recorded_command *c = TARE_COMMAND(l->recording, index);
	struct load_times times = { c->submitted_ns, c->start_ns, c->end_ns, c->untimed };

	if (times.untimed == LOADING_RAW) {
		uint64_t shift = *shift_of(l, c->queue);
		times.start_ns = (int64_t)((uint64_t)times.start_ns + shift);
		times.end_ns = (int64_t)((uint64_t)times.end_ns + shift);
		if (times.submitted_ns != TARE_NO_TIME && times.submitted_ns)
			times.submitted_ns = (int64_t)((uint64_t)times.submitted_ns + shift);
	}
	return times;
}

static void set_times(struct tare_recorded_command *c, const struct load_times *times)
{
	c->submitted_ns = times->submitted_ns;
	c->start_ns = times->start_ns;
	c->end_ns = times->end_ns;
	c->untimed = times->untimed;
}

struct tare_recorded_command loading_command(const struct loading *l, size_t index)
{
	struct tare_recorded_command c = *TARE_COMMAND(l->recording, index);
	struct load_times times = loading_times_of(l, index);

	set_times(&c, &times);
	return c;
}

// The same, as near to the call as other times.
static void shift_ticks(const struct loading *l, uint32_t queue, int64_t enter_ns,
                        struct load_times *times)
{
	uint64_t *shift = shift_of(l, queue);

	if (times->untimed != LOADING_RAW)
		return;
	if (!l->commands->shifted[queue % LOADING_SHIFTS])
		*shift = (uint64_t)times->start_ns - (uint64_t)enter_ns;
	l->commands->shifted[queue % LOADING_SHIFTS] = true;
	times->start_ns = (int64_t)((uint64_t)times->start_ns - *shift);
	times->end_ns = (int64_t)((uint64_t)times->end_ns - *shift);
	if (times->submitted_ns != TARE_NO_TIME && times->submitted_ns)
		times->submitted_ns = (int64_t)((uint64_t)times->submitted_ns - *shift);
}

// ---- packing

// Whether `ns` - `from_ns` is at least `low` and below `high`; *offset: it.
static bool fits(int64_t ns, int64_t from_ns, int64_t low, int64_t high, int64_t *offset)
{
	return !__builtin_sub_overflow(ns, from_ns, offset) && *offset >= low && *offset < high;
}

// The command's times, against its call. Where they do not fit nothing is changed.
static bool pack_times(const struct load_times *times, int64_t enter_ns,
                       struct tare_packed_command *row)
{
	const int64_t near = INT64_C(1) << 39;
	int64_t start = 0, run = TARE_PACKED_UNTIMED, submitted = 0;
	bool timed = times->start_ns != TARE_NO_TIME || times->end_ns != TARE_NO_TIME;

	if (timed && (!fits(times->start_ns, enter_ns, -near, near, &start) ||
	              !fits(times->end_ns, times->start_ns, 0, TARE_PACKED_UNTIMED, &run)))
		return false;
	if (times->submitted_ns == TARE_NO_TIME)
		submitted = TARE_PACKED_NO_TIME;
	else if (times->submitted_ns == 0)
		submitted = TARE_PACKED_ZERO;
	else if (!fits(times->submitted_ns, enter_ns, TARE_PACKED_ZERO + 1, INT32_MAX, &submitted))
		return false;
	row->start = (uint32_t)start;
	row->start_high = (int8_t)(start >> 32);
	row->run_ns = (uint32_t)run;
	row->submitted_ns = (int32_t)submitted;
	row->untimed = times->untimed;
	return true;
}

static bool pack_call(const struct tare_commands *commands, const struct tare_recorded_command *c,
                      struct tare_packed_command *row)
{
	const int64_t far = INT64_C(1) << 47, word = INT64_C(1) << 32;
	int64_t enter, call;

	if (!fits(c->enter_ns, commands->base_ns, -far, far, &enter) ||
	    !fits(c->exit_ns, c->enter_ns, 0, word, &call))
		return false;
	row->enter = (uint32_t)enter;
	row->enter_high = (int16_t)(enter >> 32);
	row->call_ns = (uint32_t)call;
	return true;
}

// Where the rarer members go: there is room for one, or for two where the other is what the
// command waits for and its submission is not known.
static bool pack_links(const struct tare_recorded_command *c, struct tare_packed_command *row,
                       struct tare_command_like *like)
{
	bool executes = c->part != TARE_ALONE || c->execution;

	if (c->active_ns && (executes || c->active_ns < 0 || c->active_ns > UINT32_MAX))
		return false;
	like->link = executes       ? TARE_LINK_EXECUTION
	             : c->active_ns ? TARE_LINK_ACTIVE
	                            : TARE_LINK_NONE;
	row->link = executes ? c->execution : (uint32_t)c->active_ns;
	if (c->first_wait == TARE_NO_INDEX)
		return true;
	if (like->link == TARE_LINK_NONE) {
		like->link = TARE_LINK_WAIT;
		row->link = c->first_wait;
		return true;
	}
	like->waits = row->submitted_ns == TARE_PACKED_NO_TIME;
	row->submitted_ns = (int32_t)c->first_wait;
	return like->waits;
}

// ---- what commands have in common

// So many of one hash are kept: they may have been chosen to have it.
enum { MOST_EQUAL = 16 };

static bool is_like(const struct tare_commands *commands, uint32_t index,
                    const struct tare_command_like *like)
{
	return index < commands->like_count &&
	       memcmp(&commands->likes[index], like, sizeof *like) == 0;
}

static uint64_t hash_of(const struct tare_command_like *like)
{
	uint64_t words[sizeof *like / sizeof(uint64_t)], hash = TARE_HASH_START;

	memcpy(words, like, sizeof words);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}

// Its index, added where it is new; TARE_PACKED_WHOLE: it is not kept, or there is no memory, and
// the failure is kept.
static uint32_t intern(struct loading *l, const struct tare_command_like *like)
{
	struct tare_commands *commands = &l->recording->commands;
	struct load_commands *load = l->commands;
	uint64_t key = hash_of(like);
	uint32_t *recent = &load->recent[key % LOADING_RECENT];

	if (is_like(commands, *recent, like))
		return *recent;
	uint32_t index = tare_id_map_find(&load->like_of, key);
	for (int i = 1; index != TARE_ID_ABSENT && !is_like(commands, index, like); i++) {
		if (i == MOST_EQUAL)
			return TARE_PACKED_WHOLE;
		index = tare_id_map_find(&load->like_of, ++key);
	}
	if (index == TARE_ID_ABSENT) {
		struct tare_command_like *added =
		    TARE_ROOM_FOR(commands->likes, load->like_room, commands->like_count);
		index = (uint32_t)commands->like_count;
		if (!added || !tare_id_map_put(&load->like_of, key, index)) {
			loading_fail(l, ENOMEM, "commands");
			return TARE_PACKED_WHOLE;
		}
		*added = *like;
		commands->like_count++;
	}
	*recent = index;
	return index;
}

// ---- rows

static int put_whole(struct loading *l, struct tare_packed_command *row,
                     const struct tare_recorded_command *c)
{
	struct tare_commands *commands = &l->recording->commands;
	struct tare_recorded_command *whole =
	    TARE_ROOM_FOR(commands->whole, l->commands->whole_room, commands->whole_count);

	if (!whole)
		return loading_fail(l, ENOMEM, "commands");
	*whole = *c;
	*row = (struct tare_packed_command){ .enter = (uint32_t)commands->whole_count++,
		                             .like = TARE_PACKED_WHOLE };
	return l->status;
}

static int put(struct loading *l, struct tare_packed_command *at,
               const struct tare_recorded_command *given)
{
	struct tare_commands *commands = &l->recording->commands;
	struct tare_recorded_command c = *given;
	struct tare_packed_command row = { 0 };
	struct tare_command_like like = { .amount = c.amount,
		                          .thread = c.thread,
		                          .queue = c.queue,
		                          .object = c.object,
		                          .stack = c.stack,
		                          .function = c.function,
		                          .kind = c.kind,
		                          .direction = c.direction,
		                          .alignment = c.alignment,
		                          .memory = c.memory,
		                          .flags = c.flags,
		                          .part = (uint8_t)(c.part & 3) };

	struct load_times times = { c.submitted_ns, c.start_ns, c.end_ns, c.untimed };

	shift_ticks(l, c.queue, c.enter_ns, &times);
	set_times(&c, &times);
	if (at->like == TARE_PACKED_WHOLE) { // and stays so, or its place were lost
		commands->whole[at->enter] = c;
		return l->status;
	}
	if (!pack_call(commands, &c, &row) || !pack_times(&times, c.enter_ns, &row) ||
	    !pack_links(&c, &row, &like))
		return put_whole(l, at, &c);
	row.like = is_like(commands, at->like, &like) ? at->like : intern(l, &like);
	if (row.like == TARE_PACKED_WHOLE)
		return l->status ? l->status : put_whole(l, at, &c);
	*at = row;
	return l->status;
}

int loading_put_command(struct loading *l, size_t index, const struct tare_recorded_command *c)
{
	return l->status ? l->status : put(l, &l->recording->commands.rows[index], c);
}

int loading_put_times(struct loading *l, size_t index, const struct load_times *times)
{
	const struct tare_commands *commands = &l->recording->commands;
	struct tare_packed_command *row = &commands->rows[index];
	const struct tare_command_like *like =
	    row->like == TARE_PACKED_WHOLE ? NULL : &commands->likes[row->like];

	// The others have something where times go, or may.
	if (!l->status && like && !like->waits && like->link != TARE_LINK_ACTIVE) {
		int64_t enter_ns = TARE_COMMAND(l->recording, index)->enter_ns;
		struct load_times shifted = *times;
		shift_ticks(l, like->queue, enter_ns, &shifted);
		if (pack_times(&shifted, enter_ns, row))
			return l->status;
	}
	struct tare_recorded_command c = loading_command(l, index);
	set_times(&c, times);
	return loading_put_command(l, index, &c);
}

int loading_put_stack(struct loading *l, size_t index, uint32_t stack)
{
	const struct tare_commands *commands = &l->recording->commands;
	struct tare_packed_command *row = &commands->rows[index];

	// Each comes from few places: nothing but what it has in common changes.
	if (!l->status && row->like != TARE_PACKED_WHOLE) {
		struct load_sited *sited =
		    &l->commands->sited[(row->like * 31 + stack) % LOADING_RECENT];
		if (sited->becomes && sited->like == row->like && sited->stack == stack) {
			row->like = sited->becomes - 1;
			return l->status;
		}
		struct tare_command_like like = commands->likes[row->like];
		like.stack = stack;
		uint32_t becomes = intern(l, &like);
		if (becomes != TARE_PACKED_WHOLE) {
			*sited = (struct load_sited){ row->like, stack, becomes + 1 };
			row->like = becomes;
			return l->status;
		}
	}
	struct tare_recorded_command c = loading_command(l, index);
	c.stack = stack;
	return loading_put_command(l, index, &c);
}

void loading_put_untimed(struct loading *l, size_t index, uint8_t why)
{
	struct tare_recorded_command c = loading_command(l, index);

	c.untimed = why;
	loading_put_command(l, index, &c);
}

uint32_t loading_add_command(struct loading *l, const struct tare_recorded_command *c)
{
	struct tare_recording *r = l->recording;
	struct tare_packed_command *row = NULL;

	if (!l->commands) {
		l->commands = calloc(1, sizeof *l->commands);
		r->commands.base_ns = c->enter_ns;
	}
	if (l->commands && loading_may_add(l, r->command_count))
		row = TARE_ROOM_FOR(r->commands.rows, l->commands->row_room, r->command_count);
	if (!row) {
		loading_fail(l, ENOMEM, "records");
		return TARE_NO_INDEX;
	}
	*row = (struct tare_packed_command){ .like = l->commands->last };
	if (put(l, row, c))
		return TARE_NO_INDEX;
	if (row->like != TARE_PACKED_WHOLE)
		l->commands->last = row->like;
	return (uint32_t)r->command_count++;
}

// ---- sums

// Sums take memory, and are of use where many commands have one.
enum { FEWEST_A_SUM = 8 };

static bool may_sum(const struct tare_commands *commands, size_t count)
{
	bool alone = commands->like_count > 0 && commands->whole_count == 0 &&
	             commands->like_count <= count / FEWEST_A_SUM;

	for (size_t i = 0; i < commands->like_count && alone; i++)
		alone = commands->likes[i].part == TARE_ALONE;
	return alone;
}

static void add_to_sums(struct tare_like_sums *sums, uint32_t index,
                        const struct tare_recorded_command *c)
{
	bool timed = tare_command_timed(c);
	int64_t last_ns = timed ? c->end_ns : c->exit_ns;

	sums->last = index;
	sums->count++;
	sums->timed += timed;
	int64_t call_ns = c->exit_ns - c->enter_ns;
	sums->call_ns += call_ns;
	sums->longest_call_ns = call_ns > sums->longest_call_ns ? call_ns : sums->longest_call_ns;
	sums->run_ns += timed ? c->end_ns - c->start_ns : 0;
	sums->enter_ns = c->enter_ns < sums->enter_ns ? c->enter_ns : sums->enter_ns;
	sums->last_ns = last_ns > sums->last_ns ? last_ns : sums->last_ns;
}

int loading_sum_likes(struct loading *l)
{
	const struct tare_recording *r = l->recording;
	struct tare_commands *commands = &l->recording->commands;
	uint32_t *sums_of = NULL;

	if (!may_sum(commands, r->command_count))
		return l->status;
	commands->sums = malloc(commands->like_count * sizeof *commands->sums);
	sums_of = malloc(commands->like_count * sizeof *sums_of);
	if (!commands->sums || !sums_of) {
		free(sums_of);
		return loading_fail(l, ENOMEM, "commands");
	}
	memset(sums_of, 0xff, commands->like_count * sizeof *sums_of);
	commands->all_timed = true;
	for (uint32_t i = 0; i < r->command_count; i++) {
		uint32_t like = commands->rows[i].like;
		if (sums_of[like] == UINT32_MAX) {
			sums_of[like] = (uint32_t)commands->sum_count++;
			commands->sums[sums_of[like]] =
			    (struct tare_like_sums){ .like = like,
				                     .first = i,
				                     .enter_ns = INT64_MAX,
				                     .last_ns = INT64_MIN };
		}
		add_to_sums(&commands->sums[sums_of[like]], i, TARE_COMMAND(r, i));
	}
	for (size_t i = 0; i < commands->sum_count; i++)
		commands->all_timed &= commands->sums[i].timed == commands->sums[i].count;
	free(sums_of);
	return l->status;
}

void loading_forget_ticks(struct loading *l)
{
	if (l->commands)
		memset(l->commands->shifted, 0, sizeof l->commands->shifted);
}

void loading_free_commands(struct loading *l)
{
	if (l->commands)
		tare_id_map_free(&l->commands->like_of);
	free(l->commands);
	l->commands = NULL;
}
