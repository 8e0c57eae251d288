// SPDX-License-Identifier: Apache-2.0
// Recordings made at random, the same for one seed. Include after cmocka.h.
#pragma once
#include "analysis/ledger/ledger.h"
#include "analysis/ledger/working.h"
#include "ledger_oracle.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WALL = 300, ROUNDS = 150, PROPERTY_ROUNDS = 400 };

static inline uint64_t test_seed(void)
{
	const char *given = getenv("TARE_TEST_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	print_message("# TARE_TEST_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

static inline int64_t below(struct tare_random *random, int64_t bound)
{
	return (int64_t)tare_random_below(random, (uint64_t)bound);
}

static inline bool one_in(struct tare_random *random, uint64_t n)
{
	return tare_random_below(random, n) == 0;
}

// Within another call, as a wait in the call of a copy.
static inline void perhaps_within(struct tare_random *random, struct made *made, uint32_t thread,
                                  int64_t enter_ns, int64_t exit_ns)
{
	if (exit_ns > enter_ns + 2 && one_in(random, 4))
		made_call(made, made_plain_call(thread, (uint8_t)below(random, TARE_ROLE_COUNT),
		                                enter_ns + below(random, 2), exit_ns - 1));
}

static inline void some_command(struct tare_random *random, struct made *made, uint32_t thread,
                                int64_t enter_ns, int64_t exit_ns)
{
	uint32_t queue;
	do
		queue = (uint32_t)below(random, (int64_t)made->recording.queue_count);
	while (made->queues[queue].process != made->threads[thread].process);
	int64_t start_ns = enter_ns + below(random, 40) - 3;
	struct tare_recorded_command command = made_plain_command(
	    thread, queue, (uint8_t)(1 + below(random, TARE_KIND_KINDS - 1)), enter_ns, exit_ns,
	    one_in(random, 5) ? TARE_NO_TIME : enter_ns + below(random, 30) - 2, start_ns,
	    start_ns + (one_in(random, 6) ? 0 : below(random, 25)));
	if (one_in(random, 8))
		command.start_ns = TARE_NO_TIME;
	if (one_in(random, 20))
		command.end_ns = TARE_NO_TIME;
	command.direction = (uint8_t)below(random, 5);
	command.flags = one_in(random, 3) ? TARE_COMMAND_BLOCKING : 0;
	command.object = (uint32_t)below(random, 3);
	made_command(made, command);
	uint32_t waits[3];
	size_t count = one_in(random, 2) ? (size_t)below(random, 4) : 0;
	for (size_t i = 0; i < count; i++)
		waits[i] = one_in(random, 6)
		               ? MADE_NO_COMMAND
		               : (uint32_t)below(random, (int64_t)made->recording.command_count);
	made_waits(made, waits, count);
	perhaps_within(random, made, thread, enter_ns, exit_ns);
}

static inline void some_call(struct tare_random *random, struct made *made, uint32_t thread,
                             int64_t enter_ns, int64_t exit_ns)
{
	struct tare_recorded_call call =
	    made_plain_call(thread, (uint8_t)below(random, TARE_ROLE_COUNT), enter_ns, exit_ns);
	if (one_in(random, 2))
		call.object = (uint32_t)below(random, (int64_t)made->recording.queue_count);
	if (one_in(random, 3))
		call.device = (uint32_t)below(random, (int64_t)made->recording.device_count);
	if (one_in(random, 8))
		call.flags = TARE_CALL_FAILED;
	made_call(made, call);
	perhaps_within(random, made, thread, enter_ns, exit_ns);
}

static inline void some_row(struct tare_random *random, struct made *made, uint32_t thread,
                            int64_t enter_ns, int64_t exit_ns)
{
	struct tare_recorded_call call = made_plain_call(
	    thread, one_in(random, 2) ? TARE_ROLE_POLL : TARE_ROLE_QUERY, enter_ns, exit_ns);
	call.count = 2 + tare_random_below(random, 5);
	call.inside_ns = below(random, exit_ns - enter_ns + 2);
	made_call(made, call);
}

static inline void some_thread(struct tare_random *random, struct made *made, uint32_t process)
{
	uint32_t thread = made_thread(made, process);
	int64_t at_ns = below(random, 120), cpu_ns = 0;
	while (at_ns < WALL - 60) {
		int64_t exit_ns = at_ns + below(random, 25);
		switch (below(random, 8)) {
		case 0:
		case 1:
		case 2:
		case 3:
			some_command(random, made, thread, at_ns, exit_ns);
			break;
		case 4:
			some_row(random, made, thread, at_ns, exit_ns);
			break;
		default:
			some_call(random, made, thread, at_ns, exit_ns);
		}
		at_ns = exit_ns + 1 + below(random, 20);
	}
	if (one_in(random, 5)) {
		made->threads[thread].unfinished_function =
		    (uint32_t)below(random, TARE_ROLE_COUNT);
		made->threads[thread].unfinished_since_ns = at_ns;
	}
	if (one_in(random, 4))
		return;
	for (at_ns = below(random, 40); at_ns < WALL; at_ns += below(random, 50)) {
		made_sample(made, at_ns, cpu_ns);
		cpu_ns += below(random, 45);
	}
}

static inline void some_loss(struct tare_random *random, struct made *made)
{
	uint32_t thread = (uint32_t)below(random, (int64_t)made->recording.thread_count);
	int64_t from_ns = below(random, WALL);
	made->losses[made->recording.loss_count++] = (struct tare_recorded_loss){
		.process = made->threads[thread].process,
		.thread = one_in(random, 2) ? thread : TARE_NO_INDEX,
		.from_ns = from_ns,
		.to_ns = from_ns + below(random, 40),
		.why = one_in(random, 4) ? TARE_LOSS_NO_SIGN : TARE_LOSS_NO_ROOM,
	};
}

// At most so many threads in all, if not 0.
static inline struct made *some_threads(struct tare_random *random, int64_t most_residual_ns,
                                        size_t most_threads)
{
	struct made *made = made_new(WALL);
	int64_t processes = 1 + one_in(random, 3), devices = 1 + below(random, 2);
	for (uint32_t p = 0; p < processes; p++) {
		made_process(made, WALL - below(random, 40));
		if (one_in(random, 2))
			made->processes[p].cpu_ns = tare_random_below(random, 400);
		for (uint32_t d = 0; d < devices; d++) {
			int64_t residual_ns =
			    one_in(random, 8) ? TARE_NO_TIME : below(random, most_residual_ns + 1);
			uint32_t device = made_device(made, p, p ? d : TARE_NO_INDEX, residual_ns);
			for (int64_t q = 1 + below(random, 2); q > 0; q--)
				made_queue(made, p, device, one_in(random, 2));
		}
	}
	for (uint32_t p = 0; p < processes; p++)
		for (int64_t t = 1 + below(random, 3); t > 0; t--)
			if (!most_threads || made->recording.thread_count < most_threads)
				some_thread(random, made, p);
	while (one_in(random, 3))
		some_loss(random, made);
	made_sort(made);
	return made;
}

static inline struct made *some_recording(struct tare_random *random, int64_t most_residual_ns)
{
	return some_threads(random, most_residual_ns, 0);
}

enum { SPANS = 12 };

// Spans of a view: none, one or several, some of which touch. Returns how many.
static inline size_t some_spans(struct tare_random *random, const struct tare_view *view,
                                struct tare_run_span spans[SPANS])
{
	int64_t at_ns = view->from_ns;
	size_t count = 0, most = (size_t)below(random, SPANS);
	while (count < most && at_ns < view->to_ns) {
		int64_t from_ns = at_ns + (one_in(random, 4) ? 0 : below(random, 40));
		int64_t to_ns = from_ns + 1 + (one_in(random, 4) ? 0 : below(random, 50));
		to_ns = one_in(random, 8) || to_ns > view->to_ns ? view->to_ns : to_ns;
		if (from_ns >= to_ns)
			break;
		spans[count++] = (struct tare_run_span){ from_ns, to_ns };
		at_ns = to_ns;
	}
	return count;
}

// What is left of a view beside spans. Returns how many.
static inline size_t complement(const struct tare_view *view, const struct tare_run_span *spans,
                                size_t count, struct tare_run_span others[SPANS + 1])
{
	int64_t at_ns = view->from_ns;
	size_t n = 0;
	for (size_t i = 0; i <= count; i++) {
		int64_t to_ns = i < count ? spans[i].from_ns : view->to_ns;
		if (at_ns < to_ns)
			others[n++] = (struct tare_run_span){ at_ns, to_ns };
		at_ns = i < count ? spans[i].to_ns : at_ns;
	}
	return n;
}

static inline struct tare_view some_view(struct tare_random *random, const struct made *made)
{
	struct tare_view view = { 0, WALL, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
	if (one_in(random, 2)) {
		view.from_ns = below(random, WALL);
		view.to_ns = view.from_ns + below(random, WALL - view.from_ns + 1);
	}
	if (one_in(random, 5))
		view.process = (uint32_t)below(random, (int64_t)made->recording.process_count);
	if (one_in(random, 5))
		view.device = (uint32_t)below(random, 2);
	return view;
}
