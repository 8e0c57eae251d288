// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/internal.h"

#include "analysis/recording/intervals.h"
#include "base/room.h"

#include <stdlib.h>

// A call that puts work into a queue of the device or waits for it.
struct contact {
	int64_t enter_ns, exit_ns;
	uint32_t thread;
	enum tare_host_state state;
};

struct contacts {
	struct contact *at;
	size_t count, capacity;
};

// What is taken in the order of enter_ns.
enum source { COMMANDS, WAITS, UNFINISHED, SOURCES };

struct ledger_attention {
	const struct ledger_scope *scope;
	const struct ledger_hosts *hosts;
	size_t at[SOURCES];           // behind the contact that is next, in each
	struct contact next[SOURCES]; // without one: enter_ns INT64_MAX, no thread
	struct contacts coming;       // all that begin at the next moment, the winner last
	struct contacts open;         // begun, the winner last; some may have ended
	uint32_t last;
	bool failed;
};

static bool add(struct contacts *contacts, const struct contact *contact)
{
	if (!TARE_ROOM_FOR(contacts->at, contacts->capacity, contacts->count))
		return false;
	contacts->at[contacts->count++] = *contact;
	return true;
}

// Among those that begin together the first to return wins, then the state that comes first.
static int compare_contacts(const void *a, const void *b, void *context)
{
	const struct contact *x = a, *y = b;
	if (x->exit_ns != y->exit_ns)
		return x->exit_ns > y->exit_ns ? -1 : 1;
	if (x->state != y->state)
		return x->state > y->state ? -1 : 1;
	return ledger_compare_threads(context, y->thread, x->thread);
}

// ---- in the order of enter_ns

static struct contact of_command(const struct tare_recorded_command *command)
{
	return (struct contact){ command->enter_ns, command->exit_ns, command->thread,
		                 ledger_state_of_command(command) };
}

static bool take_command(struct ledger_attention *attention, struct contact *contact)
{
	const struct tare_recording *recording = attention->scope->recording;
	while (attention->at[COMMANDS] < recording->command_count) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(recording, attention->at[COMMANDS]++);
		if (tare_command_is_run(command) || !ledger_has_command(attention->scope, command))
			continue;
		*contact = of_command(command);
		return true;
	}
	return false;
}

static bool take_wait(struct ledger_attention *attention, struct contact *contact)
{
	const struct tare_recording *recording = attention->scope->recording;
	while (attention->at[WAITS] < recording->call_count) {
		const struct tare_recorded_call *call = &recording->calls[attention->at[WAITS]++];
		if (!ledger_has_wait(attention->scope, call))
			continue;
		*contact = (struct contact){ call->enter_ns, call->exit_ns, call->thread,
			                     ledger_state_of_role(call->role) };
		return true;
	}
	return false;
}

static bool take_unfinished(struct ledger_attention *attention, struct contact *contact)
{
	size_t count;
	const struct ledger_unfinished *unfinished = ledger_unfinished(attention->hosts, &count);
	while (attention->at[UNFINISHED] < count) {
		const struct ledger_unfinished *call = &unfinished[attention->at[UNFINISHED]++];
		if (!ledger_has_thread(attention->scope, call->thread))
			continue;
		*contact =
		    (struct contact){ call->enter_ns, call->exit_ns, call->thread, call->state };
		return true;
	}
	return false;
}

static void take(struct ledger_attention *attention, enum source source)
{
	static bool (*const takes[])(struct ledger_attention *, struct contact *) = {
		[COMMANDS] = take_command, [WAITS] = take_wait, [UNFINISHED] = take_unfinished
	};
	if (!takes[source](attention, &attention->next[source]))
		attention->next[source] =
		    (struct contact){ .enter_ns = INT64_MAX, .thread = TARE_NO_INDEX };
}

// Where the earliest contact is; SOURCES: there is none.
static enum source earliest(const struct ledger_attention *attention)
{
	enum source first = SOURCES;
	for (enum source i = 0; i < SOURCES; i++)
		if (attention->next[i].thread != TARE_NO_INDEX &&
		    (first == SOURCES ||
		     attention->next[i].enter_ns < attention->next[first].enter_ns))
			first = i;
	return first;
}

static void look_ahead(struct ledger_attention *attention)
{
	struct contacts *coming = &attention->coming;
	enum source source;
	coming->count = 0;
	while ((source = earliest(attention)) != SOURCES) {
		const struct contact *contact = &attention->next[source];
		if (coming->count && contact->enter_ns != coming->at[0].enter_ns)
			break;
		if (!add(coming, contact)) {
			attention->failed = true;
			return;
		}
		take(attention, source);
	}
	if (coming->count > 1)
		qsort_r(coming->at, coming->count, sizeof *coming->at, compare_contacts,
		        (void *)attention->scope->recording);
}

// ---- who was last

static void note_last(const struct tare_recording *recording, const struct contact *a,
                      struct contact *last)
{
	bool later = last->thread == TARE_NO_INDEX;
	if (!later && a->exit_ns != last->exit_ns)
		later = a->exit_ns > last->exit_ns;
	else if (!later && a->enter_ns != last->enter_ns)
		later = a->enter_ns > last->enter_ns;
	else if (!later)
		later = ledger_compare_threads(recording, a->thread, last->thread) < 0;
	if (later)
		*last = *a;
}

// Of all calls, or of those that wait.
static void note_last_calls(const struct ledger_scope *scope, bool waits, struct contact *last)
{
	const struct tare_recording *recording = scope->recording;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		struct contact contact = { call->enter_ns, call->exit_ns, call->thread, 0 };
		if (waits ? ledger_has_wait(scope, call) : ledger_has_thread(scope, call->thread))
			note_last(recording, &contact, last);
	}
}

static uint32_t find_last(struct ledger_attention *attention)
{
	const struct ledger_scope *scope = attention->scope;
	const struct tare_recording *recording = scope->recording;
	struct contact contact, last = { .exit_ns = INT64_MIN, .thread = TARE_NO_INDEX };
	// The last to return is among the last to be called, mostly.
	for (size_t i = recording->command_count; i-- > 0;) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (command->exit_ns < last.exit_ns || tare_command_is_run(command) ||
		    !ledger_has_command(scope, command))
			continue;
		contact = of_command(command);
		note_last(recording, &contact, &last);
	}
	note_last_calls(scope, true, &last);
	while (take_unfinished(attention, &contact))
		note_last(recording, &contact, &last);
	attention->at[UNFINISHED] = 0;
	if (last.thread == TARE_NO_INDEX)
		note_last_calls(scope, false, &last);
	return last.thread;
}

// ---- going along

// Those that have ended may lie below one that has not; without this they would pile up.
static void clear_ended(struct contacts *open, int64_t now_ns)
{
	size_t kept = 0;
	for (size_t i = 0; i < open->count; i++)
		if (open->at[i].exit_ns > now_ns)
			open->at[kept++] = open->at[i];
	open->count = kept;
}

static void begin(struct ledger_attention *attention)
{
	struct contacts *coming = &attention->coming, *open = &attention->open;
	for (size_t i = 0; i < coming->count; i++) {
		if (open->count == open->capacity)
			clear_ended(open, coming->at[i].enter_ns);
		if (!add(open, &coming->at[i]))
			attention->failed = true;
	}
	look_ahead(attention);
}

struct ledger_attention *ledger_attention_new(const struct ledger_scope *scope,
                                              const struct ledger_hosts *hosts)
{
	struct ledger_attention *attention = calloc(1, sizeof *attention);
	if (!attention)
		return NULL;
	attention->scope = scope;
	attention->hosts = hosts;
	attention->last = find_last(attention);
	for (enum source i = 0; i < SOURCES; i++)
		take(attention, i);
	look_ahead(attention);
	return attention;
}

void ledger_attention_free(struct ledger_attention *attention)
{
	if (!attention)
		return;
	free(attention->coming.at);
	free(attention->open.at);
	free(attention);
}

uint32_t ledger_attention_at(struct ledger_attention *attention, int64_t at_ns, int64_t *until_ns)
{
	struct contacts *coming = &attention->coming, *open = &attention->open;
	while (coming->count && coming->at[0].enter_ns <= at_ns)
		begin(attention);
	while (open->count && open->at[open->count - 1].exit_ns <= at_ns)
		open->count--;
	*until_ns = coming->count ? coming->at[0].enter_ns : INT64_MAX;
	if (open->count) {
		const struct contact *top = &open->at[open->count - 1];
		if (top->exit_ns < *until_ns)
			*until_ns = top->exit_ns;
		return top->thread;
	}
	return coming->count ? coming->at[coming->count - 1].thread : attention->last;
}

uint32_t ledger_attention_last(const struct ledger_attention *attention)
{
	return attention->last;
}

bool ledger_attention_failed(const struct ledger_attention *attention)
{
	return attention->failed;
}
