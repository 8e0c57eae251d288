// SPDX-License-Identifier: Apache-2.0
#include "ledger_oracle_internal.h"

bool oracle_wanted_thread(const struct oracle *o, uint32_t thread)
{
	return o->view->process == TARE_NO_INDEX ||
	       o->view->process == o->made->threads[thread].process;
}

enum tare_host_state oracle_role_state(uint32_t role)
{
	return role == TARE_ROLE_BUILD                            ? TARE_HOST_BUILD
	       : role == TARE_ROLE_LOAD                           ? TARE_HOST_LOAD
	       : role == TARE_ROLE_ALLOCATE                       ? TARE_HOST_ALLOCATE
	       : role == TARE_ROLE_RELEASE                        ? TARE_HOST_RELEASE
	       : role == TARE_ROLE_QUERY                          ? TARE_HOST_QUERY
	       : role == TARE_ROLE_WAIT || role == TARE_ROLE_POLL ? TARE_HOST_WAIT
	                                                          : TARE_HOST_API;
}

enum tare_host_state oracle_command_state(const struct tare_recorded_command *c)
{
	bool copies = c->kind >= TARE_KIND_WRITE && c->kind <= TARE_KIND_MIGRATE;
	return (copies || c->kind == TARE_KIND_OTHER) && c->flags & TARE_COMMAND_BLOCKING
	           ? TARE_HOST_BLOCKING_COPY
	           : TARE_HOST_API;
}

bool oracle_before_thread(const struct oracle *o, uint32_t a, uint32_t b)
{
	const struct tare_recorded_thread *x = &o->made->threads[a], *y = &o->made->threads[b];
	uint64_t p = o->made->processes[x->process].pid, q = o->made->processes[y->process].pid;
	return p != q ? p < q : x->tid < y->tid;
}

static bool loose(const struct tare_recorded_call *call)
{
	int64_t ns = call->exit_ns - call->enter_ns;
	if (call->count <= 1 || call->inside_ns >= ns)
		return false;
	return call->role != TARE_ROLE_POLL || ns / 10000 > (int64_t)call->count;
}

static void better(enum tare_host_state *best, enum tare_host_state state)
{
	if (*best > state)
		*best = state;
}

static bool in_loss(const struct oracle *o, uint32_t thread, int64_t t)
{
	for (size_t i = 0; i < o->r->loss_count; i++) {
		const struct tare_recorded_loss *loss = &o->made->losses[i];
		if (loss->thread == thread && loss->from_ns <= t && t < loss->to_ns)
			return true;
	}
	return false;
}

bool oracle_is_unfinished(const struct oracle *o, uint32_t thread)
{
	const struct tare_recorded_thread *recorded = &o->made->threads[thread];
	return recorded->unfinished_function != TARE_NO_INDEX &&
	       recorded->unfinished_since_ns < o->gone[thread];
}

enum tare_host_state oracle_unfinished_state(const struct oracle *o, uint32_t thread)
{
	uint32_t role = o->made->functions[o->made->threads[thread].unfinished_function].role;
	return role == TARE_ROLE_COMMAND ? TARE_HOST_BLOCKING_COPY : oracle_role_state(role);
}

// TARE_HOST_STATES: outside all calls.
static enum tare_host_state call_state(const struct oracle *o, uint32_t thread, int64_t t)
{
	enum tare_host_state best = TARE_HOST_STATES;
	const struct tare_recorded_call *row = NULL;
	for (size_t i = 0; i < o->r->command_count; i++) {
		const struct tare_recorded_command *c = &o->made->commands[i];
		if (c->thread == thread && c->enter_ns <= t && t < c->exit_ns)
			better(&best, oracle_command_state(c));
	}
	for (size_t i = 0; i < o->r->call_count; i++) {
		const struct tare_recorded_call *call = &o->made->calls[i];
		if (call->thread != thread || t < call->enter_ns || t >= call->exit_ns)
			continue;
		if (loose(call))
			row = call;
		else
			better(&best, oracle_role_state(call->role));
	}
	if (oracle_is_unfinished(o, thread) && t >= o->made->threads[thread].unfinished_since_ns)
		better(&best, oracle_unfinished_state(o, thread));
	if (best != TARE_HOST_STATES)
		return best;
	if (row) {
		int64_t ns = row->exit_ns - row->enter_ns, y = t - row->enter_ns;
		if ((y + 1) * row->inside_ns / ns > y * row->inside_ns / ns)
			return oracle_role_state(row->role);
	} else if (in_loss(o, thread, t)) {
		return TARE_HOST_NOT_RECORDED;
	}
	return TARE_HOST_STATES;
}

static int64_t unread_cpu(const struct oracle *o, uint32_t process)
{
	uint64_t read = o->made->processes[process].helper_cpu_ns;
	for (size_t i = 0; i < o->r->thread_count; i++) {
		const struct tare_recorded_thread *thread = &o->made->threads[i];
		if (thread->process == process && thread->sample_count)
			read += (uint64_t)o->made
			            ->samples[thread->first_sample + thread->sample_count - 1]
			            .cpu_ns;
	}
	uint64_t all = o->made->processes[process].cpu_ns;
	return all == 0 ? -1 : all > read ? (int64_t)(all - read) : 0;
}

// Divides the time outside calls of [from, to) when the thread had a CPU for cpu_ns; negative: not
// known.
static void divide(struct oracle *o, uint32_t thread, int64_t from, int64_t to, int64_t cpu_ns)
{
	int64_t outside = 0, waits = 0, off, seen = 0;
	for (int64_t t = from; t < to; t++) {
		unsigned state = o->host[thread][t];
		outside += state == TARE_HOST_STATES;
		waits += state == TARE_HOST_WAIT || state == TARE_HOST_BLOCKING_COPY ||
		         state == TARE_HOST_NOT_RECORDED;
	}
	off = least(outside, most(0, to - from - waits - cpu_ns));
	for (int64_t t = from; t < to; t++) {
		if (o->host[thread][t] != TARE_HOST_STATES)
			continue;
		bool is_off = (seen + 1) * off / outside > seen * off / outside;
		seen++;
		o->host[thread][t] = cpu_ns < 0 ? TARE_HOST_UNKNOWN
		                     : is_off   ? TARE_HOST_OFF_CPU
		                                : TARE_HOST_COMPUTING;
	}
}

static void note_first(struct oracle *o, uint32_t thread, int64_t enter_ns, int64_t exit_ns)
{
	o->first[thread] = least(o->first[thread], enter_ns);
	o->gone[thread] = most(o->gone[thread], exit_ns);
}

static void find_life(struct oracle *o, uint32_t thread)
{
	const struct tare_recorded_thread *recorded = &o->made->threads[thread];
	o->first[thread] = INT64_MAX;
	o->gone[thread] = o->made->processes[recorded->process].end_ns;
	for (size_t i = 0; i < o->r->command_count; i++)
		if (o->made->commands[i].thread == thread)
			note_first(o, thread, o->made->commands[i].enter_ns,
			           o->made->commands[i].exit_ns);
	for (size_t i = 0; i < o->r->call_count; i++)
		if (o->made->calls[i].thread == thread)
			note_first(o, thread, o->made->calls[i].enter_ns,
			           o->made->calls[i].exit_ns);
	if (oracle_is_unfinished(o, thread))
		note_first(o, thread, recorded->unfinished_since_ns, 0);
	for (size_t i = 0; i < o->r->loss_count; i++) {
		const struct tare_recorded_loss *loss = &o->made->losses[i];
		if (loss->from_ns < loss->to_ns && loss->thread == thread)
			note_first(o, thread, loss->from_ns, 0);
	}
	if (!oracle_wanted_thread(o, thread))
		o->first[thread] = INT64_MAX;
}

static void candidate(const struct oracle *o, uint32_t thread, uint32_t other, int64_t enter_ns,
                      int64_t *best_ns, uint32_t *best)
{
	if (o->made->threads[other].process != o->made->threads[thread].process ||
	    enter_ns >= o->first[thread] || enter_ns < *best_ns)
		return;
	if (enter_ns == *best_ns && *best != TARE_NO_INDEX &&
	    !oracle_before_thread(o, other, *best))
		return;
	*best_ns = enter_ns;
	*best = other;
}

static void find_stand_in(struct oracle *o, uint32_t thread)
{
	int64_t best_ns = INT64_MIN;
	bool called_first = false;
	o->stand_in[thread] = TARE_NO_INDEX;
	for (size_t i = 0; i < o->r->command_count; i++) {
		const struct tare_recorded_command *c = &o->made->commands[i];
		called_first |= c->thread == thread && c->enter_ns == o->first[thread];
		candidate(o, thread, c->thread, c->enter_ns, &best_ns, &o->stand_in[thread]);
	}
	for (size_t i = 0; i < o->r->call_count; i++) {
		const struct tare_recorded_call *c = &o->made->calls[i];
		called_first |= c->thread == thread && c->enter_ns == o->first[thread];
		candidate(o, thread, c->thread, c->enter_ns, &best_ns, &o->stand_in[thread]);
	}
	// One whose first call was lost may have called before the others.
	if (!called_first)
		o->stand_in[thread] = TARE_NO_INDEX;
}

void oracle_find_hosts(struct oracle *o)
{
	for (uint32_t i = 0; i < o->r->thread_count; i++)
		find_life(o, i);
	for (uint32_t i = 0; i < o->r->thread_count; i++) {
		const struct tare_recorded_thread *thread = &o->made->threads[i];
		int64_t from = o->first[i], before = 0, gone = least(o->gone[i], LONGEST);
		if (from == INT64_MAX)
			continue;
		find_stand_in(o, i);
		for (int64_t t = 0; t < LONGEST; t++)
			o->host[i][t] =
			    t >= o->gone[i] ? TARE_HOST_GONE : (unsigned char)call_state(o, i, t);
		for (size_t k = 0; k < thread->sample_count; k++) {
			const struct tare_cpu_sample *sample =
			    &o->made->samples[thread->first_sample + k];
			if (sample->at_ns > from)
				divide(o, i, from, least(sample->at_ns, gone),
				       most(0, sample->cpu_ns - before));
			from = most(from, sample->at_ns);
			before = sample->cpu_ns;
		}
		divide(o, i, from, gone, unread_cpu(o, thread->process));
	}
}

static bool process_lost(const struct oracle *o, uint32_t thread, int64_t t)
{
	for (size_t i = 0; i < o->r->loss_count; i++) {
		const struct tare_recorded_loss *loss = &o->made->losses[i];
		bool mine =
		    thread == TARE_NO_INDEX
		        ? o->view->process == TARE_NO_INDEX || o->view->process == loss->process
		        : o->made->threads[thread].process == loss->process;
		if (loss->thread == TARE_NO_INDEX && mine && loss->from_ns <= t && t < loss->to_ns)
			return true;
	}
	return false;
}

static enum tare_host_state recorded_host_at(const struct oracle *o, uint32_t thread, int64_t t)
{
	while (thread != TARE_NO_INDEX && o->first[thread] > t)
		thread = o->stand_in[thread];
	return thread == TARE_NO_INDEX ? TARE_HOST_BEFORE_FIRST : o->host[thread][t];
}

enum tare_host_state oracle_host_at(const struct oracle *o, uint32_t thread, int64_t t)
{
	enum tare_host_state state = recorded_host_at(o, thread, t);
	bool call = state == TARE_HOST_BUILD || state == TARE_HOST_LOAD ||
	            state == TARE_HOST_ALLOCATE || state == TARE_HOST_BLOCKING_COPY ||
	            state == TARE_HOST_WAIT || state == TARE_HOST_API ||
	            state == TARE_HOST_RELEASE || state == TARE_HOST_QUERY;
	return !call && process_lost(o, thread, t) ? TARE_HOST_NOT_RECORDED : state;
}
