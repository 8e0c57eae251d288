// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/internal.h"

#include "analysis/recording/intervals.h"

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

struct ledger_attention {
	const struct ledger_scope *scope;
	const struct ledger_hosts *hosts;
	size_t command, call, unfinished; // the next to look at
	struct contacts coming;           // all that begin at the next moment, the winner last
	struct contacts open;             // begun, the winner last; some may have ended
	uint32_t last;
	bool failed;
};

static bool add(struct contacts *contacts, const struct contact *contact)
{
	if (contacts->count == contacts->capacity) {
		size_t capacity = contacts->capacity ? 2 * contacts->capacity : 8;
		struct contact *at = reallocarray(contacts->at, capacity, sizeof *at);
		if (!at)
			return false;
		contacts->at = at;
		contacts->capacity = capacity;
	}
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

static bool take_command(struct ledger_attention *attention, struct contact *contact)
{
	const struct tare_recording *recording = attention->scope->recording;
	for (; attention->command < recording->command_count; attention->command++) {
		const struct tare_recorded_command *command =
		    &recording->commands[attention->command];
		if (tare_command_is_run(command) || !ledger_has_command(attention->scope, command))
			continue;
		*contact = (struct contact){ command->enter_ns, command->exit_ns, command->thread,
			                     ledger_state_of_command(command) };
		return true;
	}
	return false;
}

static bool take_wait(struct ledger_attention *attention, struct contact *contact)
{
	const struct tare_recording *recording = attention->scope->recording;
	for (; attention->call < recording->call_count; attention->call++) {
		const struct tare_recorded_call *call = &recording->calls[attention->call];
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
	for (; attention->unfinished < count; attention->unfinished++) {
		const struct ledger_unfinished *call = &unfinished[attention->unfinished];
		if (!ledger_has_thread(attention->scope, call->thread))
			continue;
		*contact =
		    (struct contact){ call->enter_ns, call->exit_ns, call->thread, call->state };
		return true;
	}
	return false;
}

// The earliest contact that was not taken yet; increasing *cursor takes it.
static bool peek(struct ledger_attention *attention, struct contact *contact, size_t **cursor)
{
	struct contact other;
	bool found = take_command(attention, contact);
	*cursor = &attention->command;
	if (take_wait(attention, &other) && (!found || other.enter_ns < contact->enter_ns)) {
		*contact = other;
		*cursor = &attention->call;
		found = true;
	}
	if (take_unfinished(attention, &other) && (!found || other.enter_ns < contact->enter_ns)) {
		*contact = other;
		*cursor = &attention->unfinished;
		found = true;
	}
	return found;
}

static void look_ahead(struct ledger_attention *attention)
{
	struct contacts *coming = &attention->coming;
	struct contact contact;
	size_t *cursor;
	coming->count = 0;
	while (peek(attention, &contact, &cursor)) {
		if (coming->count && contact.enter_ns != coming->at[0].enter_ns)
			break;
		++*cursor;
		if (!add(coming, &contact)) {
			attention->failed = true;
			return;
		}
	}
	if (coming->count > 1)
		qsort_r(coming->at, coming->count, sizeof *coming->at, compare_contacts,
		        (void *)attention->scope->recording);
}

// ---- who was last

static bool is_later(const struct tare_recording *recording, const struct contact *a,
                     const struct contact *b)
{
	if (a->exit_ns != b->exit_ns)
		return a->exit_ns > b->exit_ns;
	if (a->enter_ns != b->enter_ns)
		return a->enter_ns > b->enter_ns;
	return ledger_compare_threads(recording, a->thread, b->thread) < 0;
}

static uint32_t last_caller(const struct ledger_scope *scope)
{
	const struct tare_recording *recording = scope->recording;
	struct contact last = { .exit_ns = INT64_MIN, .thread = TARE_NO_INDEX };
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		struct contact contact = { call->enter_ns, call->exit_ns, call->thread, 0 };
		if (ledger_has_thread(scope, call->thread) &&
		    (last.thread == TARE_NO_INDEX || is_later(recording, &contact, &last)))
			last = contact;
	}
	return last.thread;
}

static uint32_t find_last(struct ledger_attention *attention)
{
	struct contact contact, last = { .exit_ns = INT64_MIN, .thread = TARE_NO_INDEX };
	size_t *cursor;
	while (peek(attention, &contact, &cursor)) {
		++*cursor;
		if (last.thread == TARE_NO_INDEX ||
		    is_later(attention->scope->recording, &contact, &last))
			last = contact;
	}
	attention->command = attention->call = attention->unfinished = 0;
	return last.thread != TARE_NO_INDEX ? last.thread : last_caller(attention->scope);
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
