// SPDX-License-Identifier: Apache-2.0
// Commands on their way into a recording: packed rows, which are changed as more is told of them.
#include "analysis/recording/internal.h"
#include "analysis/recording/intervals.h"
#include "analysis/recording/packing.h"

#include <string.h>

struct load_times loading_times_of(const struct loading *l, size_t index)
{
	return loading_unshifted(l, TARE_COMMAND(l->recording, index));
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

// ---- packing

static bool pack_call(const struct tare_commands *commands, int64_t enter_ns, int64_t exit_ns,
                      struct tare_packed_command *row)
{
	const int64_t far = INT64_C(1) << 47, word = INT64_C(1) << 32;
	int64_t enter, call;

	if (!loading_fits(enter_ns, commands->base_ns, -far, far, &enter) ||
	    !loading_fits(exit_ns, enter_ns, 0, word, &call))
		return false;
	row->enter = (uint32_t)enter;
	row->enter_high = (int16_t)(enter >> 32);
	row->call_ns = (uint32_t)call;
	return true;
}

// The rarer members: there is a link, or two of which one is what the command waits for, where its
// submission is not known.
static bool pack_links(const struct tare_recorded_command *c, struct tare_packed_pair *words,
                       struct tare_command_like *like)
{
	bool executes = c->part != TARE_ALONE || c->execution;

	if (c->active_ns && (executes || c->active_ns < 0 || c->active_ns > UINT32_MAX))
		return false;
	like->link = executes       ? TARE_LINK_EXECUTION
	             : c->active_ns ? TARE_LINK_ACTIVE
	                            : TARE_LINK_NONE;
	words->link = executes ? c->execution : (uint32_t)c->active_ns;
	if (c->first_wait == TARE_NO_INDEX)
		return true;
	if (like->link == TARE_LINK_NONE) {
		like->link = TARE_LINK_WAIT;
		words->link = c->first_wait;
		return true;
	}
	like->waits = words->submitted_ns == TARE_PACKED_NO_TIME;
	words->submitted_ns = (int32_t)c->first_wait;
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

// Puts the words where they go; of a row `at` that had a pair into that one.
static int put_words(struct loading *l, const struct tare_packed_command *at,
                     struct tare_packed_pair words, struct tare_command_like *like,
                     struct tare_packed_command *row)
{
	struct tare_commands *commands = &l->recording->commands;
	bool has = at->like < commands->like_count && commands->likes[at->like].pair &&
	           at->more != TARE_NO_INDEX;

	like->pair = like->link != TARE_LINK_NONE && words.submitted_ns != TARE_PACKED_NO_TIME;
	row->more = like->link == TARE_LINK_NONE ? (uint32_t)words.submitted_ns : words.link;
	if (!like->pair)
		return l->status;
	row->more = has ? at->more : (uint32_t)commands->pair_count;
	if (!has && !TARE_ROOM_FOR(commands->pairs, l->commands->pair_room, commands->pair_count))
		return loading_fail(l, ENOMEM, "commands");
	commands->pair_count += !has;
	commands->pairs[row->more] = words;
	return l->status;
}

static int put(struct loading *l, struct tare_packed_command *at,
               const struct tare_recorded_command *given)
{
	struct tare_commands *commands = &l->recording->commands;
	struct tare_recorded_command c = *given;
	struct tare_packed_command row = { 0 };
	struct tare_packed_pair words = { 0 };
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

	loading_shift_ticks(l, c.queue, c.enter_ns, &times);
	set_times(&c, &times);
	if (at->like == TARE_PACKED_WHOLE) { // and stays so, or its place were lost
		commands->whole[at->enter] = c;
		return l->status;
	}
	if (!pack_call(commands, c.enter_ns, c.exit_ns, &row) ||
	    !loading_pack_times(&times, c.enter_ns, &row, &words.submitted_ns) ||
	    !pack_links(&c, &words, &like))
		return put_whole(l, at, &c);
	if (put_words(l, at, words, &like, &row))
		return l->status;
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
	if (loading_put_times_in_row(l, index, TARE_COMMAND(l->recording, index)->enter_ns, times))
		return l->status;
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
	*row = (struct tare_packed_command){ .like = l->commands->last, .more = TARE_NO_INDEX };
	if (put(l, row, c))
		return TARE_NO_INDEX;
	if (row->like != TARE_PACKED_WHOLE)
		l->commands->last = row->like;
	return (uint32_t)r->command_count++;
}

uint32_t loading_add_like(struct loading *l, uint32_t like, uint8_t untimed, int64_t enter_ns,
                          int64_t exit_ns)
{
	struct tare_recording *r = l->recording;
	struct tare_packed_command row = { .run_ns = TARE_PACKED_UNTIMED,
		                           .more = (uint32_t)TARE_PACKED_NO_TIME,
		                           .like = like,
		                           .untimed = untimed };

	if (!pack_call(&r->commands, enter_ns, exit_ns, &row) ||
	    !loading_may_add(l, r->command_count))
		return TARE_NO_INDEX;
	struct tare_packed_command *added =
	    TARE_ROOM_FOR(r->commands.rows, l->commands->row_room, r->command_count);
	if (!added) {
		loading_fail(l, ENOMEM, "records");
		return TARE_NO_INDEX;
	}
	*added = row;
	l->commands->last = like;
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
