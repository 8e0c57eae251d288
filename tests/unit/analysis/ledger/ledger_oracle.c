// SPDX-License-Identifier: Apache-2.0
#include "ledger_oracle_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GAPS = 1000 };

// ---- what belongs

static uint32_t device_of_queue(const struct oracle *o, uint32_t queue)
{
	if (queue >= o->r->queue_count || o->made->queues[queue].device >= o->r->device_count)
		return TARE_NO_INDEX;
	return o->made->devices[o->made->queues[queue].device].same_as;
}

static bool wanted_device(const struct oracle *o, uint32_t device)
{
	return (o->view->device == TARE_NO_INDEX || o->view->device == device) &&
	       (o->device == TARE_NO_INDEX || o->device == device);
}

static bool wanted(const struct oracle *o, const struct tare_recorded_command *c)
{
	return oracle_wanted_thread(o, c->thread) && wanted_device(o, device_of_queue(o, c->queue));
}

static bool timed(const struct tare_recorded_command *c)
{
	return c->start_ns != TARE_NO_TIME && c->end_ns != TARE_NO_TIME && c->start_ns <= c->end_ns;
}

// 'K'ernel, 'T'o the device, 'F'rom it, 'L'ocal, or '-'.
static char effect(const struct tare_recorded_command *c)
{
	static const char by_direction[] = { '-', 'T', 'F', 'L', 'L' };
	static const char by_kind[TARE_KIND_KINDS] = {
		[TARE_KIND_WRITE] = 'T', [TARE_KIND_READ] = 'F',  [TARE_KIND_COPY] = 'L',
		[TARE_KIND_FILL] = 'L',  [TARE_KIND_OTHER] = 'L',
	};
	if (c->kind == TARE_KIND_KERNEL || c->kind == TARE_KIND_TASK || c->kind == TARE_KIND_GRAPH)
		return 'K';
	if (c->kind == TARE_KIND_MARKER || c->kind == TARE_KIND_BARRIER)
		return '-';
	if (c->direction != TARE_DIRECTION_NONE)
		return by_direction[c->direction];
	return by_kind[c->kind] ? by_kind[c->kind] : '-';
}

static bool in_view(const struct oracle *o, int64_t t)
{
	bool inside = !o->view->spans;
	for (size_t i = 0; i < o->view->span_count; i++)
		inside |= o->view->spans[i].from_ns <= t && t < o->view->spans[i].to_ns;
	return inside && o->view->from_ns <= t && t < o->view->to_ns;
}

// ---- devices

static bool runs(const struct oracle *o, char what, int64_t t)
{
	for (size_t i = 0; i < o->r->command_count; i++) {
		const struct tare_recorded_command *c = &o->made->commands[i];
		if (wanted(o, c) && timed(c) && effect(c) == what && c->start_ns <= t &&
		    t < c->end_ns)
			return true;
	}
	return false;
}

static enum tare_device_state device_at(const struct oracle *o, int64_t t)
{
	bool to = runs(o, 'T', t), from = runs(o, 'F', t);
	if (runs(o, 'K', t))
		return to || from ? TARE_DEVICE_KERNEL_AND_TRANSFER : TARE_DEVICE_KERNEL;
	if (to || from)
		return to && from ? TARE_DEVICE_BOTH_WAYS
		       : to       ? TARE_DEVICE_TO_DEVICE
		                  : TARE_DEVICE_FROM_DEVICE;
	return runs(o, 'L', t) ? TARE_DEVICE_LOCAL : TARE_DEVICE_IDLE;
}

static int busy_category(enum tare_device_state state)
{
	static const int of[TARE_DEVICE_STATES] = {
		TARE_LEDGER_KERNEL,
		TARE_LEDGER_KERNEL,
		TARE_LEDGER_TO_DEVICE,
		TARE_LEDGER_FROM_DEVICE,
		TARE_LEDGER_BOTH_WAYS,
		TARE_LEDGER_LOCAL,
		-1,
	};
	return of[state];
}

static int compare_starts(const struct oracle *o, const struct tare_recorded_command *x,
                          const struct tare_recorded_command *y)
{
	const int64_t key[][2] = {
		{ x->start_ns, y->start_ns },
		{ x->enter_ns, y->enter_ns },
		{ x->submitted_ns, y->submitted_ns },
		{ x->end_ns, y->end_ns },
		{ x->kind, y->kind },
	};
	for (size_t i = 0; i < sizeof key / sizeof *key; i++)
		if (key[i][0] != key[i][1])
			return key[i][0] < key[i][1] ? -1 : 1;
	bool kernels = x->kind == TARE_KIND_KERNEL || x->kind == TARE_KIND_TASK;
	int order = kernels && x->object < 2 && y->object < 2
	                ? strcmp(o->made->kernels[x->object].name, o->made->kernels[y->object].name)
	                : 0;
	if (order)
		return order;
	return x->thread == y->thread ? 0 : oracle_before_thread(o, x->thread, y->thread) ? -1 : 1;
}

// The command that ends the idle time at t.
static uint32_t next_start(const struct oracle *o, int64_t t)
{
	uint32_t best = TARE_NO_INDEX;
	for (uint32_t i = 0; i < o->r->command_count; i++) {
		const struct tare_recorded_command *c = &o->made->commands[i];
		if (!wanted(o, c) || !timed(c) || effect(c) == '-' || c->start_ns <= t)
			continue;
		if (best == TARE_NO_INDEX || compare_starts(o, c, &o->made->commands[best]) < 0)
			best = i;
	}
	return best;
}

static int64_t residual(const struct oracle *o, const struct tare_recorded_command *c)
{
	return most(0, o->made->devices[o->made->queues[c->queue].device].residual_ns);
}

// When what c waits for was over, and the error of that.
static int64_t ready_at(const struct oracle *o, const struct tare_recorded_command *c,
                        int64_t *error)
{
	int64_t ready = INT64_MIN;
	*error = residual(o, c);
	for (size_t i = 0; i < o->r->command_count; i++) {
		const struct tare_recorded_command *p = &o->made->commands[i];
		bool ordered =
		    !o->made->queues[c->queue].out_of_order || p->kind == TARE_KIND_BARRIER;
		if (p != c && p->queue == c->queue && ordered && wanted(o, p) && timed(p) &&
		    compare_starts(o, p, c) < 0)
			ready = most(ready, p->end_ns);
	}
	for (size_t i = c->first_wait; c->first_wait != TARE_NO_INDEX; i++) {
		const struct tare_recorded_wait *wait = &o->made->waits[i];
		if (wait->command == MADE_NO_COMMAND || !timed(&o->made->commands[wait->command]))
			return INT64_MAX;
		const struct tare_recorded_command *p = &o->made->commands[wait->command];
		if (p->end_ns > ready) {
			ready = p->end_ns;
			*error = residual(o, p);
		}
		if (wait->last)
			break;
	}
	return ready;
}

static int64_t known_complete(const struct oracle *o, const struct tare_recorded_command *u)
{
	int64_t until = o->made->processes[o->made->threads[u->thread].process].end_ns;
	if (u->flags & TARE_COMMAND_BLOCKING)
		until = least(until, u->exit_ns);
	for (size_t i = 0; i < o->r->call_count; i++) {
		const struct tare_recorded_call *call = &o->made->calls[i];
		if (call->role == TARE_ROLE_WAIT && call->object == u->queue &&
		    call->enter_ns > u->enter_ns && !(call->flags & TARE_CALL_FAILED))
			until = least(until, call->exit_ns);
	}
	for (size_t i = 0; i < o->r->command_count; i++) {
		const struct tare_recorded_command *c = &o->made->commands[i];
		if (o->made->queues[u->queue].out_of_order || c->queue != u->queue ||
		    c->enter_ns <= u->enter_ns)
			continue;
		if (c->flags & TARE_COMMAND_BLOCKING)
			until = least(until, c->exit_ns);
		if (timed(c))
			until = least(until, c->start_ns);
	}
	return until;
}

static bool untimed_at(const struct oracle *o, int64_t t)
{
	for (size_t i = 0; i < o->r->command_count; i++) {
		const struct tare_recorded_command *u = &o->made->commands[i];
		if (wanted(o, u) && !timed(u) && effect(u) != '-' && u->enter_ns <= t &&
		    t < known_complete(o, u))
			return true;
	}
	return false;
}

// Whether commands to the device may be missing at t.
static bool hidden_at(const struct oracle *o, int64_t t)
{
	for (size_t i = 0; i < o->r->loss_count; i++) {
		const struct tare_recorded_loss *loss = &o->made->losses[i];
		bool here = o->view->process == TARE_NO_INDEX || o->view->process == loss->process;
		bool uses = o->device == TARE_NO_INDEX;
		for (uint32_t k = 0; k < o->r->queue_count; k++)
			uses |= o->made->queues[k].process == loss->process &&
			        device_of_queue(o, k) == o->device;
		bool helper =
		    loss->thread != TARE_NO_INDEX && o->made->threads[loss->thread].helper;
		if (here && uses && !helper && loss->why != TARE_LOSS_NO_SIGN &&
		    loss->from_ns <= t && t < loss->to_ns)
			return true;
	}
	return false;
}

// ---- contacts

struct contact {
	int64_t enter_ns, exit_ns;
	enum tare_host_state state;
	uint32_t thread;
};

static bool process_uses(const struct oracle *o, uint32_t thread)
{
	if (o->device == TARE_NO_INDEX)
		return true;
	for (uint32_t i = 0; i < o->r->queue_count; i++)
		if (o->made->queues[i].process == o->made->threads[thread].process &&
		    device_of_queue(o, i) == o->device)
			return true;
	return false;
}

static bool is_wait(const struct oracle *o, const struct tare_recorded_call *call)
{
	uint32_t device = TARE_NO_INDEX;
	if ((call->role != TARE_ROLE_WAIT && call->role != TARE_ROLE_POLL) ||
	    !oracle_wanted_thread(o, call->thread) || !process_uses(o, call->thread))
		return false;
	if (call->device != TARE_NO_INDEX)
		device = o->made->devices[call->device].same_as;
	else if (call->role == TARE_ROLE_WAIT)
		device = device_of_queue(o, call->object);
	return device == TARE_NO_INDEX || wanted_device(o, device);
}

static size_t contacts(const struct oracle *o, struct contact *found)
{
	size_t n = 0;
	for (size_t i = 0; i < o->r->command_count; i++) {
		const struct tare_recorded_command *c = &o->made->commands[i];
		if (wanted(o, c))
			found[n++] = (struct contact){ c->enter_ns, c->exit_ns,
				                       oracle_command_state(c), c->thread };
	}
	for (size_t i = 0; i < o->r->call_count; i++) {
		const struct tare_recorded_call *c = &o->made->calls[i];
		if (is_wait(o, c))
			found[n++] = (struct contact){ c->enter_ns, c->exit_ns,
				                       oracle_role_state(c->role), c->thread };
	}
	for (uint32_t i = 0; i < o->r->thread_count; i++) {
		uint32_t function = o->made->threads[i].unfinished_function;
		if (!oracle_wanted_thread(o, i) || !process_uses(o, i) ||
		    !oracle_is_unfinished(o, i))
			continue;
		if (function == TARE_ROLE_COMMAND || function == TARE_ROLE_WAIT ||
		    function == TARE_ROLE_POLL)
			found[n++] =
			    (struct contact){ o->made->threads[i].unfinished_since_ns, o->gone[i],
				              oracle_unfinished_state(o, i), i };
	}
	return n;
}

static bool beats(const struct oracle *o, const struct contact *a, const struct contact *b)
{
	if (a->exit_ns != b->exit_ns)
		return a->exit_ns < b->exit_ns;
	if (a->state != b->state)
		return a->state < b->state;
	return a->thread != b->thread && oracle_before_thread(o, a->thread, b->thread);
}

static uint32_t last_thread(const struct oracle *o, const struct contact *all, size_t n)
{
	static struct contact calls[MADE_MOST];
	const struct contact *best = NULL;
	if (n == 0) {
		for (size_t i = 0; i < o->r->call_count; i++) {
			const struct tare_recorded_call *c = &o->made->calls[i];
			if (oracle_wanted_thread(o, c->thread) && process_uses(o, c->thread))
				calls[n++] =
				    (struct contact){ c->enter_ns, c->exit_ns, 0, c->thread };
		}
		all = calls;
	}
	for (const struct contact *c = all; c < all + n; c++)
		if (!best || c->exit_ns > best->exit_ns ||
		    (c->exit_ns == best->exit_ns &&
		     (c->enter_ns > best->enter_ns ||
		      (c->enter_ns == best->enter_ns && c->thread != best->thread &&
		       oracle_before_thread(o, c->thread, best->thread)))))
			best = c;
	return best ? best->thread : TARE_NO_INDEX;
}

static uint32_t matrix_thread(const struct oracle *o, const struct contact *all, size_t n,
                              int64_t t)
{
	const struct contact *now = NULL, *next = NULL;
	for (const struct contact *c = all; c < all + n; c++) {
		if (c->enter_ns <= t && t < c->exit_ns &&
		    (!now || c->enter_ns > now->enter_ns ||
		     (c->enter_ns == now->enter_ns && beats(o, c, now))))
			now = c;
		if (c->enter_ns > t && (!next || c->enter_ns < next->enter_ns ||
		                        (c->enter_ns == next->enter_ns && beats(o, c, next))))
			next = c;
	}
	return now ? now->thread : next ? next->thread : last_thread(o, all, n);
}

// ---- all of it

static enum tare_ledger_category idle_at(const struct oracle *o, int64_t t, uint32_t last)
{
	static const enum tare_ledger_category of[TARE_HOST_STATES] = {
		TARE_LEDGER_BEFORE_FIRST, TARE_LEDGER_BUILD,         TARE_LEDGER_LOAD,
		TARE_LEDGER_ALLOCATE,     TARE_LEDGER_BLOCKING_COPY, TARE_LEDGER_WAIT,
		TARE_LEDGER_API,          TARE_LEDGER_RELEASE,       TARE_LEDGER_QUERY,
		TARE_LEDGER_COMPUTING,    TARE_LEDGER_OFF_CPU,       TARE_LEDGER_ENDED,
		TARE_LEDGER_NOT_RECORDED, TARE_LEDGER_UNKNOWN,
	};
	int64_t ignored;
	if (hidden_at(o, t))
		return TARE_LEDGER_NOT_RECORDED;
	if (untimed_at(o, t))
		return TARE_LEDGER_UNTIMED;
	uint32_t next = next_start(o, t);
	if (next == TARE_NO_INDEX)
		return of[oracle_host_at(o, last, t)];
	const struct tare_recorded_command *c = &o->made->commands[next];
	if (t < c->enter_ns)
		return of[oracle_host_at(o, c->thread, t)];
	bool told = c->submitted_ns != TARE_NO_TIME;
	int64_t submitted = told ? c->submitted_ns : c->exit_ns;
	if (t < submitted && t < c->exit_ns)
		return oracle_host_at(o, c->thread, t) == TARE_HOST_LOAD ? TARE_LEDGER_LOAD
		                                                         : TARE_LEDGER_API;
	if (t < ready_at(o, c, &ignored))
		return TARE_LEDGER_DEPENDENCY;
	return t < submitted ? TARE_LEDGER_HELD : TARE_LEDGER_DISPATCH;
}

// The error of the device's stamps that divide categories at x; 0: none does.
static int64_t edge_at(const struct oracle *o, int64_t x)
{
	int before = busy_category(device_at(o, x - 1)), after = busy_category(device_at(o, x));
	int64_t error = 0;
	bool stamped = false;
	for (size_t i = 0; i < o->r->command_count; i++) {
		const struct tare_recorded_command *c = &o->made->commands[i];
		bool goes_on = false;
		if (!wanted(o, c) || !timed(c) || effect(c) == '-' ||
		    (c->start_ns != x && c->end_ns != x))
			continue;
		for (size_t k = 0; k < o->r->command_count; k++) {
			const struct tare_recorded_command *other = &o->made->commands[k];
			goes_on |= wanted(o, other) && timed(other) && effect(other) == effect(c) &&
			           other->start_ns < x && other->end_ns > x;
		}
		if (c->start_ns == x || !goes_on) {
			stamped |= c->start_ns == x;
			error = most(error, residual(o, c));
		}
	}
	if (before != after || (before == -1 && after == -1 && stamped))
		return error;
	uint32_t next = next_start(o, x);
	if (after != -1 || next == TARE_NO_INDEX || untimed_at(o, x) || hidden_at(o, x))
		return 0;
	const struct tare_recorded_command *c = &o->made->commands[next];
	int64_t ready_error, ready = ready_at(o, c, &ready_error);
	bool told = c->submitted_ns != TARE_NO_TIME;
	int64_t submitted = told ? c->submitted_ns : c->exit_ns;
	int64_t returned = most(c->enter_ns, least(c->exit_ns, submitted));
	// While c waits for others its submission divides nothing.
	bool divides =
	    told && c->enter_ns <= submitted && (submitted <= c->exit_ns || submitted >= ready);
	error = divides && x == submitted ? residual(o, c) : 0;
	return x == ready && ready > returned ? most(error, ready_error) : error;
}

static int longer(const void *a, const void *b)
{
	const struct tare_gap *x = a, *y = b;
	int64_t p = x->to_ns - x->from_ns, q = y->to_ns - y->from_ns;
	return p != q ? (p < q) - (p > q) : (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static void sum_up(struct oracle *o, struct tare_ledger *ledger, struct tare_gap *gaps,
                   size_t *gap_count)
{
	static struct contact all[MADE_MOST];
	size_t n = contacts(o, all);
	int64_t in_gap[TARE_LEDGER_CATEGORIES];
	uint32_t last = last_thread(o, all, n);
	for (int64_t t = o->view->from_ns; t < o->view->to_ns; t++) {
		if (!in_view(o, t))
			continue;
		enum tare_device_state device = device_at(o, t);
		int category = busy_category(device);
		ledger->wall_ns++;
		ledger->matrix_ns[oracle_host_at(o, matrix_thread(o, all, n, t), t)][device]++;
		ledger->hidden_to_device_ns += runs(o, 'K', t) && runs(o, 'T', t);
		ledger->hidden_from_device_ns += runs(o, 'K', t) && runs(o, 'F', t);
		if (category >= 0) {
			ledger->parts_ns[category]++;
			continue;
		}
		category = (int)idle_at(o, t, last);
		ledger->parts_ns[category]++;
		uint32_t next = next_start(o, t);
		struct tare_gap *gap = *gap_count ? &gaps[*gap_count - 1] : NULL;
		bool stamped = false;
		for (size_t i = 0; i < o->r->command_count; i++)
			stamped |= wanted(o, &o->made->commands[i]) &&
			           timed(&o->made->commands[i]) &&
			           effect(&o->made->commands[i]) != '-' &&
			           o->made->commands[i].start_ns == t;
		if (!gap || gap->to_ns != t || stamped) {
			assert_true(*gap_count < GAPS);
			gap = &gaps[(*gap_count)++];
			*gap = (struct tare_gap){ t, t, o->device, next, 0 };
			memset(in_gap, 0, sizeof in_gap);
		}
		gap->to_ns = t + 1;
		in_gap[category]++;
		for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++)
			if (in_gap[i] > in_gap[gap->cause] ||
			    (in_gap[i] == in_gap[gap->cause] && i < (int)gap->cause))
				gap->cause = (enum tare_ledger_category)i;
	}
}

static void find_ambiguous(const struct oracle *o, struct tare_ledger *ledger)
{
	static bool near[LONGEST];
	memset(near, 0, sizeof near);
	int64_t reach = 0;
	for (size_t i = 0; i < o->r->device_count; i++)
		reach = most(reach, o->made->devices[i].residual_ns);
	for (int64_t x = o->view->from_ns - reach + 1; x < o->view->to_ns + reach; x++) {
		int64_t error = edge_at(o, x);
		for (int64_t t = most(x - error, 0); t < least(x + error, LONGEST); t++)
			near[t] = true;
	}
	for (int64_t t = o->view->from_ns; t < o->view->to_ns; t++)
		ledger->ambiguous_ns += near[t] && in_view(o, t);
}

void oracle_ledger(const struct made *made, const struct tare_view *view, uint32_t device,
                   struct tare_ledger *ledger, struct tare_gap *gaps, size_t *gap_count)
{
	struct oracle *o = calloc(1, sizeof *o);
	assert_non_null(o);
	assert_true(view->to_ns <= LONGEST);
	o->made = made;
	o->r = &made->recording;
	o->view = view;
	o->device = device;
	memset(ledger, 0, sizeof *ledger);
	*gap_count = 0;
	ledger->device = device;
	oracle_find_hosts(o);
	sum_up(o, ledger, gaps, gap_count);
	find_ambiguous(o, ledger);
	qsort(gaps, *gap_count, sizeof *gaps, longer);
	free(o);
}

// ---- comparing

static void assert_same(const struct tare_ledger *is, const struct tare_ledger *should)
{
	bool same = is->ambiguous_ns == should->ambiguous_ns &&
	            is->hidden_to_device_ns == should->hidden_to_device_ns &&
	            is->hidden_from_device_ns == should->hidden_from_device_ns &&
	            is->wall_ns == should->wall_ns &&
	            !memcmp(is->parts_ns, should->parts_ns, sizeof is->parts_ns) &&
	            !memcmp(is->matrix_ns, should->matrix_ns, sizeof is->matrix_ns);
	if (same)
		return;
	for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++)
		if (is->parts_ns[i] != should->parts_ns[i])
			print_error("%s: %s %lld, not %lld\n", is->scope,
			            tare_ledger_category_name(i), (long long)is->parts_ns[i],
			            (long long)should->parts_ns[i]);
	for (int h = 0; h < TARE_HOST_STATES; h++)
		for (int d = 0; d < TARE_DEVICE_STATES; d++)
			if (is->matrix_ns[h][d] != should->matrix_ns[h][d])
				print_error("%s: %s x %s %lld, not %lld\n", is->scope,
				            tare_host_state_name(h), tare_device_state_name(d),
				            (long long)is->matrix_ns[h][d],
				            (long long)should->matrix_ns[h][d]);
	print_error("ambiguous %lld, not %lld; hidden %lld %lld, not %lld %lld\n",
	            (long long)is->ambiguous_ns, (long long)should->ambiguous_ns,
	            (long long)is->hidden_to_device_ns, (long long)is->hidden_from_device_ns,
	            (long long)should->hidden_to_device_ns,
	            (long long)should->hidden_from_device_ns);
	fail_msg("the ledger of device %u is not what its rules say", is->device);
}

static void assert_same_gaps(const struct tare_ledgers *ledgers, uint32_t device,
                             const struct tare_gap *should, size_t count)
{
	size_t n = 0;
	for (size_t i = 0; i < ledgers->gap_count; i++) {
		const struct tare_gap *is = &ledgers->gaps[i];
		if (is->device != device)
			continue;
		assert_true(n < count);
		assert_int_equal(is->from_ns, should[n].from_ns);
		assert_int_equal(is->to_ns, should[n].to_ns);
		assert_int_equal(is->command, should[n].command);
		assert_int_equal(is->cause, should[n].cause);
		n++;
	}
	assert_int_equal(n, count < 64 ? count : 64);
}

void assert_ledgers_agree(const struct made *made, const struct tare_view *view)
{
	static struct tare_gap gaps[GAPS];
	struct tare_ledgers ledgers;
	struct tare_ledger should;
	size_t gap_count;
	assert_int_equal(tare_ledgers_compute(&made->recording, view, &ledgers, NULL), 0);
	assert_true(ledgers.count >= 1);
	for (size_t i = 0; i < ledgers.count; i++) {
		const struct tare_ledger *ledger = &ledgers.ledgers[i];
		bool is_union = i + 1 == ledgers.count;
		assert_string_equal(ledger->scope, is_union ? "union" : "device");
		// With one device the union is its ledger.
		uint32_t device =
		    is_union && ledgers.count == 2 ? ledgers.ledgers[0].device : ledger->device;
		oracle_ledger(made, view, device, &should, gaps, &gap_count);
		assert_same(ledger, &should);
		if (!is_union)
			assert_same_gaps(&ledgers, ledger->device, gaps, gap_count);
	}
	tare_ledgers_free(&ledgers);
}
