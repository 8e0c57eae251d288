// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/host_internal.h"
#include "analysis/recording/intervals.h"

#include <errno.h>
#include <stdlib.h>

int ledger_compare_threads(const struct tare_recording *recording, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	if (a >= recording->thread_count || b >= recording->thread_count)
		return (a > b) - (a < b);
	const struct tare_recorded_thread *x = &recording->threads[a], *y = &recording->threads[b];
	uint64_t left = recording->processes[x->process].pid;
	uint64_t right = recording->processes[y->process].pid;
	if (left != right)
		return left < right ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return (a > b) - (a < b);
}

const struct ledger_unfinished *ledger_unfinished(const struct ledger_hosts *hosts, size_t *count)
{
	*count = hosts->unfinished_count;
	return hosts->unfinished;
}

// ---- what each thread called

static bool is_ours(const struct ledger_hosts *hosts, const struct tare_view *view, uint32_t thread)
{
	const struct tare_recording *recording = hosts->recording;
	return thread < recording->thread_count &&
	       recording->threads[thread].process < recording->process_count &&
	       (view->process == TARE_NO_INDEX ||
	        view->process == recording->threads[thread].process);
}

static void seen(struct host_thread *thread, int64_t enter_ns, int64_t exit_ns)
{
	if (enter_ns < thread->first_ns)
		thread->first_ns = enter_ns;
	// A process lives as long as its calls, whatever its end was told to be.
	if (exit_ns > thread->gone_ns)
		thread->gone_ns = exit_ns;
}

// Notes what comes behind a command on its thread. False: no memory.
static bool note_next(struct ledger_hosts *hosts, uint32_t command, uint32_t next)
{
	bool far = next != TARE_NO_INDEX && next - command >= HOST_FAR;
	hosts->next_command[command] = (uint16_t)(next == TARE_NO_INDEX ? 0
	                                          : far                 ? HOST_FAR
	                                                                : next - command);
	return !far || tare_id_map_put(&hosts->far, command, next);
}

// Chains the calls of each thread, the last one first. Returns 0 or -ENOMEM.
static int chain(struct ledger_hosts *hosts, const struct tare_view *view)
{
	const struct tare_recording *recording = hosts->recording;
	for (size_t i = recording->command_count; i-- > 0;) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (tare_command_is_run(command) || !is_ours(hosts, view, command->thread))
			continue;
		struct host_thread *thread = &hosts->threads[command->thread];
		if (!note_next(hosts, (uint32_t)i, thread->command))
			return -ENOMEM;
		thread->command = (uint32_t)i;
		seen(thread, command->enter_ns, command->exit_ns);
	}
	for (size_t i = recording->call_count; i-- > 0;) {
		const struct tare_recorded_call *call = &recording->calls[i];
		if (!is_ours(hosts, view, call->thread))
			continue;
		struct host_thread *thread = &hosts->threads[call->thread];
		hosts->next_call[i] = thread->call;
		thread->call = (uint32_t)i;
		seen(thread, call->enter_ns, call->exit_ns);
	}
	return 0;
}

// ---- unfinished calls and losses

static void add_extra(struct ledger_hosts *hosts, const struct host_extra *extra)
{
	if (extra->enter_ns == TARE_NO_TIME || extra->exit_ns <= extra->enter_ns)
		return;
	hosts->extras[hosts->extra_count++] = *extra;
	seen(&hosts->threads[extra->thread], extra->enter_ns, INT64_MIN);
}

static void add_unfinished(struct ledger_hosts *hosts, uint32_t thread)
{
	const struct tare_recording *recording = hosts->recording;
	const struct tare_recorded_thread *recorded = &recording->threads[thread];
	if (recorded->unfinished_function >= recording->function_count)
		return;
	uint32_t role = recording->functions[recorded->unfinished_function].role;
	struct host_extra extra = {
		.enter_ns = recorded->unfinished_since_ns,
		.exit_ns = hosts->threads[thread].gone_ns,
		.thread = thread,
		.state = role == TARE_ROLE_COMMAND ? TARE_HOST_BLOCKING_COPY
		                                   : ledger_state_of_role(role),
	};
	size_t before = hosts->extra_count;
	add_extra(hosts, &extra);
	if (hosts->extra_count > before &&
	    (role == TARE_ROLE_COMMAND || role == TARE_ROLE_WAIT || role == TARE_ROLE_POLL))
		hosts->unfinished[hosts->unfinished_count++] = (struct ledger_unfinished){
			extra.enter_ns,
			extra.exit_ns,
			thread,
			extra.state,
		};
}

static void add_losses(struct ledger_hosts *hosts, uint32_t thread)
{
	const struct tare_recording *recording = hosts->recording;
	for (size_t i = 0; i < recording->loss_count; i++) {
		const struct tare_recorded_loss *loss = &recording->losses[i];
		if (loss->thread == thread)
			add_extra(hosts, &(struct host_extra){ loss->from_ns, loss->to_ns, thread,
			                                       TARE_HOST_NOT_RECORDED });
	}
}

static int compare_extras(const void *a, const void *b)
{
	const struct host_extra *x = a, *y = b;
	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	return (x->exit_ns > y->exit_ns) - (x->exit_ns < y->exit_ns);
}

static int compare_unfinished(const void *a, const void *b)
{
	const struct ledger_unfinished *x = a, *y = b;
	return (x->enter_ns > y->enter_ns) - (x->enter_ns < y->enter_ns);
}

static int add_extras(struct ledger_hosts *hosts, const struct tare_view *view)
{
	size_t threads = hosts->recording->thread_count;
	// At most one unfinished call a thread, and the losses of one thread.
	hosts->extras = calloc(threads + hosts->recording->loss_count + 1, sizeof *hosts->extras);
	hosts->unfinished = calloc(threads + 1, sizeof *hosts->unfinished);
	if (!hosts->extras || !hosts->unfinished)
		return -ENOMEM;
	for (uint32_t i = 0; i < threads; i++) {
		struct host_thread *thread = &hosts->threads[i];
		thread->extra = hosts->extra_count;
		if (!is_ours(hosts, view, i))
			continue;
		add_losses(hosts, i);
		add_unfinished(hosts, i);
		thread->extra_count = hosts->extra_count - thread->extra;
		qsort(hosts->extras + thread->extra, thread->extra_count, sizeof *hosts->extras,
		      compare_extras);
	}
	qsort(hosts->unfinished, hosts->unfinished_count, sizeof *hosts->unfinished,
	      compare_unfinished);
	return 0;
}

// ---- who stands in for a thread that has not called yet

// The thread of a process that called last, and the one before that called earlier than it.
struct caller {
	int64_t last_ns, before_ns;
	uint32_t last, before;
};

static void note_caller(struct ledger_hosts *hosts, struct caller *callers, uint32_t index,
                        int64_t enter_ns)
{
	const struct tare_recording *recording = hosts->recording;
	struct host_thread *thread = &hosts->threads[index];
	struct caller *caller = &callers[recording->threads[index].process];
	if (caller->last == TARE_NO_INDEX || enter_ns > caller->last_ns) {
		caller->before = caller->last;
		caller->before_ns = caller->last_ns;
		caller->last = index;
		caller->last_ns = enter_ns;
	} else if (ledger_compare_threads(recording, index, caller->last) < 0) {
		caller->last = index;
	}
	// Found at the thread's first call; a thread cannot stand in for itself, nor one that
	// begins at the same moment or later: who stands in for whom would never end.
	if (enter_ns == thread->first_ns && thread->stand_in == TARE_NO_INDEX &&
	    caller->before != TARE_NO_INDEX &&
	    hosts->threads[caller->before].first_ns < thread->first_ns)
		thread->stand_in = caller->before;
}

static int find_stand_ins(struct ledger_hosts *hosts, const struct tare_view *view)
{
	const struct tare_recording *recording = hosts->recording;
	struct caller *callers = calloc(recording->process_count + 1, sizeof *callers);
	if (!callers)
		return -ENOMEM;
	for (size_t i = 0; i < recording->process_count; i++)
		callers[i].last = callers[i].before = TARE_NO_INDEX;
	size_t command = 0, call = 0;
	// Who stands in is found at a thread's first call.
	int64_t last_first_ns = INT64_MIN;
	for (size_t i = 0; i < recording->thread_count; i++)
		if (hosts->threads[i].first_ns != INT64_MAX &&
		    hosts->threads[i].first_ns > last_first_ns)
			last_first_ns = hosts->threads[i].first_ns;
	while (command < recording->command_count || call < recording->call_count) {
		bool is_command =
		    call == recording->call_count ||
		    (command < recording->command_count &&
		     TARE_COMMAND(recording, command)->enter_ns < recording->calls[call].enter_ns);
		uint32_t thread = is_command ? TARE_COMMAND(recording, command)->thread
		                             : recording->calls[call].thread;
		int64_t enter_ns = is_command ? TARE_COMMAND(recording, command)->enter_ns
		                              : recording->calls[call].enter_ns;
		if (enter_ns > last_first_ns)
			break;
		if (is_ours(hosts, view, thread))
			note_caller(hosts, callers, thread, enter_ns);
		command += is_command;
		call += !is_command;
	}
	free(callers);
	return 0;
}

// ---- CPU time

static bool sample_of(const struct ledger_hosts *hosts, const struct host_thread *thread,
                      size_t sample, int64_t *cpu_ns)
{
	if (sample >= thread->sample_count)
		return false;
	*cpu_ns = hosts->recording->cpu_samples[thread->sample + sample].cpu_ns;
	return true;
}

// CPU time of a process that no reading of a thread's clock accounts for; negative: not known.
static int64_t unread_cpu_ns(const struct ledger_hosts *hosts, uint32_t process)
{
	const struct tare_recording *recording = hosts->recording;
	uint64_t all_ns = recording->processes[process].cpu_ns;
	uint64_t read_ns = recording->processes[process].helper_cpu_ns;
	int64_t last_ns;
	if (all_ns == 0)
		return -1;
	for (size_t i = 0; i < recording->thread_count; i++) {
		const struct host_thread *thread = &hosts->threads[i];
		if (recording->threads[i].process != process || recording->threads[i].helper)
			continue;
		if (thread->sample_count &&
		    sample_of(hosts, thread, thread->sample_count - 1, &last_ns) && last_ns > 0)
			read_ns += (uint64_t)last_ns;
	}
	uint64_t left_ns = all_ns > read_ns ? all_ns - read_ns : 0;
	return left_ns > INT64_MAX ? INT64_MAX : (int64_t)left_ns;
}

// Turns an interval's waits into the time that the thread was outside calls and off the CPU: what
// its CPU time does not cover, when waits are slept through and other calls are not.
static void judge(struct host_interval *interval, int64_t wall_ns, int64_t cpu_ns)
{
	int64_t off_ns = wall_ns - interval->off_ns - (cpu_ns > 0 ? cpu_ns : 0);
	if (off_ns < 0)
		off_ns = 0;
	interval->off_ns = off_ns < interval->outside_ns ? off_ns : interval->outside_ns;
}

static void judge_thread(struct ledger_hosts *hosts, uint32_t index, int64_t unread_ns)
{
	const struct host_thread *thread = &hosts->threads[index];
	int64_t from_ns = thread->first_ns, before_ns = 0, cpu_ns;
	for (size_t i = 0; i <= thread->sample_count; i++) {
		struct host_interval *interval = &hosts->intervals[thread->interval + i];
		bool read = sample_of(hosts, thread, i, &cpu_ns);
		if (!read && unread_ns < 0) {
			interval->off_ns = -1;
			continue;
		}
		int64_t to_ns = thread->gone_ns;
		if (read && hosts->recording->cpu_samples[thread->sample + i].at_ns < to_ns)
			to_ns = hosts->recording->cpu_samples[thread->sample + i].at_ns;
		int64_t used_ns = unread_ns;
		if (read && __builtin_sub_overflow(cpu_ns, before_ns, &used_ns))
			used_ns = INT64_MAX;
		judge(interval, to_ns > from_ns ? to_ns - from_ns : 0, used_ns);
		if (read && to_ns > from_ns)
			from_ns = to_ns;
		before_ns = read ? cpu_ns : before_ns;
	}
}

static int read_cpu_clocks(struct ledger_hosts *hosts)
{
	const struct tare_recording *recording = hosts->recording;
	int64_t *unread_ns = calloc(recording->process_count + 1, sizeof *unread_ns);
	if (!unread_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < recording->process_count; i++)
		unread_ns[i] = unread_cpu_ns(hosts, i);
	bool failed = false;
	for (uint32_t i = 0; i < recording->thread_count; i++) {
		const struct host_thread *thread = &hosts->threads[i];
		struct host_cursor cursor;
		int64_t left_ns;
		if (thread->first_ns == INT64_MAX)
			continue;
		left_ns = unread_ns[recording->threads[i].process];
		// Without any reading there is nothing to hold the time outside calls against.
		if (thread->sample_count || left_ns >= 0) {
			host_cursor_begin(hosts, i, &cursor);
			cursor.measure = hosts->intervals + thread->interval;
			host_cursor_skip(hosts, thread, &cursor, thread->gone_ns);
			free(cursor.open);
			failed = failed || cursor.failed;
		}
		judge_thread(hosts, i, left_ns);
	}
	free(unread_ns);
	return failed ? -ENOMEM : 0;
}

// ---- all of it

static int prepare_threads(struct ledger_hosts *hosts)
{
	const struct tare_recording *recording = hosts->recording;
	size_t intervals = 0;
	for (size_t i = 0; i < recording->thread_count; i++) {
		const struct tare_recorded_thread *recorded = &recording->threads[i];
		int64_t end_ns = TARE_NO_TIME;
		if (recorded->process < recording->process_count)
			end_ns = recording->processes[recorded->process].end_ns;
		hosts->threads[i] = (struct host_thread){
			.first_ns = INT64_MAX,
			.gone_ns = end_ns != TARE_NO_TIME ? end_ns : recording->end_ns,
			.stand_in = TARE_NO_INDEX,
			.command = TARE_NO_INDEX,
			.call = TARE_NO_INDEX,
			.interval = intervals,
			.sample = recorded->first_sample,
			.sample_count = recorded->sample_count,
		};
		intervals += recorded->sample_count + 1;
	}
	hosts->intervals = calloc(intervals + 1, sizeof *hosts->intervals);
	return hosts->intervals ? 0 : -ENOMEM;
}

int ledger_hosts_new(const struct tare_recording *recording, const struct tare_view *view,
                     struct ledger_hosts **result)
{
	struct ledger_hosts *hosts = calloc(1, sizeof *hosts);
	int rc = -ENOMEM;
	if (!hosts)
		return rc;
	hosts->recording = recording;
	hosts->threads = calloc(recording->thread_count + 1, sizeof *hosts->threads);
	hosts->next_command = calloc(recording->command_count + 1, sizeof *hosts->next_command);
	hosts->next_call = calloc(recording->call_count + 1, sizeof *hosts->next_call);
	if (hosts->threads && hosts->next_command && hosts->next_call)
		rc = prepare_threads(hosts);
	if (!rc)
		rc = chain(hosts, view);
	if (!rc)
		rc = add_extras(hosts, view);
	if (!rc)
		rc = find_stand_ins(hosts, view);
	if (!rc)
		rc = host_lost_find(hosts, view);
	if (!rc)
		rc = read_cpu_clocks(hosts);
	if (rc) {
		ledger_hosts_free(hosts);
		return rc;
	}
	*result = hosts;
	return 0;
}

void ledger_hosts_free(struct ledger_hosts *hosts)
{
	if (!hosts)
		return;
	free(hosts->threads);
	free(hosts->next_command);
	tare_id_map_free(&hosts->far);
	free(hosts->next_call);
	free(hosts->extras);
	free(hosts->unfinished);
	free(hosts->intervals);
	free(hosts->lost);
	free(hosts->lost_first);
	free(hosts);
}
