// SPDX-License-Identifier: Apache-2.0
// The real layer: a queue's thread takes its runs in order, waits for their events, does the work.
#include "run/run.h"

#include "device/metric.h"
#include "kernel/trap.h"

#include <stdlib.h>
#include <string.h>

// A queue that was destroyed goes on for so long with what waits; then it drops it.
#define GRACE_NS INT64_C(1000000000)
// A thread that waits copies so much itself, and does so many commands before it looks at the time.
#define SHORT_BYTES 65536
#define RUNS_AT_ONCE 64

static uint64_t sequence;

uint64_t cpu_last_sequence(void)
{
	return sequence;
}

static void keep_queried(struct run *run)
{
	const struct command *command = run->command;

	for (uint32_t i = 0; i < command->queried_count; i++) {
		const struct cpu_point *point = cpu_run_queried(run, i);
		run->queried[i] = point->stamp;
		run->queried[i].none = !(cpu_device.scripted ? point->modelled : point->real);
	}
}

void cpu_run_modelled(struct run *run)
{
	const struct command *command = run->command;
	struct cpu_point *signal = command ? cpu_run_signal(run) : NULL;
	struct cpu_queue *queue = run->queue;

	if (queue->first_modelled == run) {
		queue->first_modelled = run->next_modelled;
		if (!queue->first_modelled)
			queue->last_modelled = NULL;
	}
	run->modelled = true;
	if (command && command->type == COMMAND_QUERY_TIMESTAMPS)
		keep_queried(run);
	if (command && command->type == COMMAND_RESET)
		command->reset->point->modelled = false;
	if (command && command->type == COMMAND_LAUNCH)
		metric_launched(launch_kernel_name(command->launch));
	if (command && command->metric_query)
		metric_query_turn(command->metric_query, command->type == COMMAND_METRIC_BEGIN);
	if (signal) {
		signal->modelled = true;
		signal->stamp = run->stamp;
	}
	if (run->fence)
		run->fence->modelled = true;
	if (cpu_device.scripted)
		cpu_changed();
}

void cpu_run_real(struct run *run, bool failed)
{
	const struct command *command = run->command;
	struct cpu_point *signal = command ? cpu_run_signal(run) : NULL;
	struct cpu_queue *queue = run->queue;

	queue->first_real = run->next_real;
	if (!queue->first_real)
		queue->last_real = NULL;
	run->real = true;
	if (command && command->type == COMMAND_RESET)
		command->reset->point->real = command->reset->point->failed = false;
	if (signal) {
		signal->real = true;
		signal->failed = failed;
	}
	if (run->fence) {
		run->fence->real = true;
		run->fence->failed = failed;
	}
	if (!cpu_device.scripted) {
		cpu_run_modelled(run);
	} else {
		scripted_pump();
		// Whoever waits for the model looks whether that gets on now.
		if (command && command->type == COMMAND_LAUNCH && launch_indirect(command->launch))
			cpu_changed_in_model();
		else
			cpu_changed();
	}
	// Unscripted that takes it off, and wakes who waited for it.
	cpu_reap();
}

// Sleeps until it is done, or until a queue that was destroyed gives up: false.
static bool still_waiting(const struct cpu_queue *queue, bool (*done)(void *context), void *context)
{
	return cpu_sleep_for(done, context, queue->ending ? queue->give_up_ns : INT64_MAX);
}

static bool is_real(void *context)
{
	return ((const struct cpu_point *)context)->real;
}

static bool is_empty(void *context)
{
	return !((const struct cpu_queue *)context)->first;
}

static bool is_modelled(void *context)
{
	return ((const struct run *)context)->modelled;
}

static bool await_events(const struct run *run)
{
	const struct command *command = run->command;

	for (uint32_t i = 0; command && i < command->wait_count; i++)
		while (!cpu_run_wait(run, i)->real && !cpu_device.lost)
			if (!still_waiting(run->queue, is_real, cpu_run_wait(run, i)))
				return false;
	return true;
}

// The next run, claimed, with its events signalled. NULL: the queue was destroyed, and is empty or
// gives up.
static struct run *next_run(struct cpu_queue *queue)
{
	while (queue->claimed || !queue->first_real) {
		if (queue->claimed || !queue->ending)
			pthread_cond_wait(&queue->work, &work_lock);
		else if (!queue->first || !still_waiting(queue, is_empty, queue))
			return NULL;
	}
	queue->claimed = true;
	return await_events(queue->first_real) ? queue->first_real : NULL;
}

// The timestamps' commands are written in their turn: under a script once the model knows it.
static bool write_stamps(struct run *run)
{
	const struct command *command = run->command;
	ze_kernel_timestamp_result_t result;
	bool written = true;
	uint64_t ticks;
	size_t at;

	while (cpu_device.scripted && !run->modelled && !cpu_device.lost)
		if (!still_waiting(run->queue, is_modelled, run))
			return false;
	if (!cpu_device.scripted && command->type == COMMAND_QUERY_TIMESTAMPS)
		keep_queried(run);
	pthread_mutex_unlock(&work_lock);
	if (command->type == COMMAND_GLOBAL_TIMESTAMP) {
		ticks = cpu_device.scripted ? cpu_global_ticks_ps(run->stamp.end_ps)
		                            : cpu_global_ticks(tare_host_now().ns);
		written = trap_copy(command->destination, &ticks, sizeof ticks);
	}
	for (uint32_t i = 0; written && i < command->queried_count; i++) {
		at = command->offsets ? command->offsets[i] : i * sizeof result;
		cpu_stamp_ticks(&run->queried[i], &result);
		written = trap_copy((char *)command->destination + at, &result, sizeof result);
	}
	if (!written)
		run->result = ZE_RESULT_ERROR_DEVICE_LOST;
	pthread_mutex_lock(&work_lock);
	return true;
}

static bool needs_engine(const struct command *command)
{
	return command->type == COMMAND_COPY || command->type == COMMAND_REGION ||
	       command->type == COMMAND_FILL || command->type == COMMAND_LAUNCH;
}

static bool is_stamp(const struct command *command)
{
	return command->type == COMMAND_GLOBAL_TIMESTAMP ||
	       command->type == COMMAND_QUERY_TIMESTAMPS;
}

static int urgency(ze_command_queue_priority_t priority)
{
	if (priority == ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH)
		return 1;
	return priority == ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW ? -1 : 0;
}

static bool is_ready(const struct run *run)
{
	const struct command *command = run->command;

	for (uint32_t i = 0; command && i < command->wait_count; i++)
		if (!cpu_run_wait(run, i)->real)
			return false;
	return true;
}

// Whether a queue has work for its engine that nothing holds back, perhaps behind commands that
// need no engine. What may take any time (a host's function, a stamp under a script) holds it back.
static bool wants_engine(const struct cpu_queue *queue)
{
	for (const struct run *run = queue->first_real; run; run = run->next_real) {
		if (!is_ready(run))
			return false;
		if (run->command && needs_engine(run->command))
			return true;
		if (run->command &&
		    (run->command->type == COMMAND_HOST_CALL || is_stamp(run->command)))
			return false;
	}
	return false;
}

bool cpu_real_work(void)
{
	for (const struct cpu_queue *queue = cpu_queues; queue; queue = queue->next) {
		const struct run *run = queue->first_real;
		if (run && is_ready(run) && !(run->command && is_stamp(run->command)))
			return true;
	}
	return false;
}

// Whether a more urgent queue is to have the engine first.
static bool must_give_way(const struct cpu_queue *queue)
{
	for (const struct cpu_queue *other = cpu_queues; other; other = other->next)
		if (other->engine == queue->engine &&
		    urgency(other->priority) > urgency(queue->priority) && wants_engine(other))
			return true;
	return false;
}

static bool may_take_engine(void *context)
{
	const struct cpu_queue *queue = context;

	return !queue->engine->busy && !must_give_way(queue);
}

static void take_engine(struct cpu_queue *queue)
{
	while (!may_take_engine(queue))
		cpu_sleep_for(may_take_engine, queue, INT64_MAX);
	queue->engine->busy = true;
}

// Works without the lock; an engine is held by one command at a time.
static void work(struct run *run)
{
	bool on_engine = needs_engine(run->command);
	struct cpu_stamp stamp = { .known = true };

	if (on_engine)
		take_engine(run->queue);
	pthread_mutex_unlock(&work_lock);
	stamp.start_ns = tare_host_now().ns;
	run->result = cpu_command_do(run->command);
	stamp.end_ns = tare_host_now().ns;
	scripted_worked(run);
	pthread_mutex_lock(&work_lock);
	if (on_engine)
		run->queue->engine->busy = false;
	if (!cpu_device.scripted)
		run->stamp = stamp;
}

static bool waits_for_failure(const struct run *run)
{
	const struct command *command = run->command;

	for (uint32_t i = 0; command && i < command->wait_count; i++)
		if (cpu_run_wait(run, i)->failed)
			return true;
	return false;
}

// Does one run. False: its queue gave up. A failure is kept in the queue and in what it signals;
// what waits for that fails too, and behind a command that faulted everything of its queue.
static bool perform(struct run *run)
{
	struct cpu_queue *queue = run->queue;
	bool stamps = run->command && is_stamp(run->command);

	if (cpu_device.lost || queue->lost || waits_for_failure(run)) {
		run->result = ZE_RESULT_ERROR_DEVICE_LOST;
	} else if (stamps) {
		if (!write_stamps(run))
			return false;
		queue->lost = run->result == ZE_RESULT_ERROR_DEVICE_LOST;
	} else if (run->command) {
		work(run);
		queue->lost = run->result == ZE_RESULT_ERROR_DEVICE_LOST;
	}
	if (!cpu_device.scripted && !run->stamp.known) {
		run->stamp.start_ns = run->stamp.end_ns = tare_host_now().ns;
		run->stamp.known = true;
	}
	if (run->result != ZE_RESULT_SUCCESS)
		queue->result = ZE_RESULT_ERROR_DEVICE_LOST;
	cpu_run_real(run, run->result != ZE_RESULT_SUCCESS);
	return true;
}

// What takes no longer than waking a thread does, and waits for nothing.
static bool is_short(const struct run *run)
{
	if (!run->command)
		return true;
	switch (run->command->type) {
	case COMMAND_BARRIER:
	case COMMAND_RESET:
	case COMMAND_PREFETCH:
	case COMMAND_ADVISE:
	case COMMAND_METRIC_BEGIN:
	case COMMAND_METRIC_END:
		return true;
	case COMMAND_COPY:
	case COMMAND_FILL:
		return run->command->bytes <= SHORT_BYTES;
	case COMMAND_GLOBAL_TIMESTAMP:
	case COMMAND_QUERY_TIMESTAMPS:
		return !cpu_device.scripted;
	default:
		return false;
	}
}

// Whether the first run of a queue may be done by a thread that waits. A host's function never: it
// may wait for what that thread does next.
static bool may_help(struct cpu_queue *queue, bool whole)
{
	const struct run *run = queue->first_real;

	if (!run || queue->ending || !is_ready(run))
		return false;
	if (!is_short(run) && (!whole || run->command->type == COMMAND_HOST_CALL))
		return false;
	return !run->command || !needs_engine(run->command) || may_take_engine(queue);
}

bool cpu_help(struct cpu_queue *queue, bool whole, bool (*done)(void *context), void *context)
{
	unsigned runs = 0;
	sigset_t mask;

	if (queue->claimed)
		return false;
	if (!may_help(queue, whole)) {
		// Nobody has woken its thread yet.
		if (queue->synchronous && queue->first_real)
			pthread_cond_signal(&queue->work);
		return false;
	}
	queue->claimed = true;
	trap_let_faults_in(&mask);
	do
		perform(queue->first_real);
	while (++runs < RUNS_AT_ONCE && !done(context) && !cpu_device.lost &&
	       may_help(queue, whole));
	queue->claimed = false;
	if (queue->first_real || queue->ending)
		pthread_cond_signal(&queue->work);
	cpu_collect();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return true;
}

static void unlink_queue(struct cpu_queue *queue)
{
	struct cpu_queue **at = &cpu_queues;

	while (*at != queue)
		at = &(*at)->next;
	*at = queue->next;
}

static void queue_free(struct cpu_queue *queue)
{
	pthread_cond_destroy(&queue->work);
	free(queue);
}

// The thread of a queue. When the queue was destroyed it still does what can be done and waits for
// GRACE_NS; then the rest is dropped, and nobody waits for ever for a program's mistake.
static void *queue_main(void *context)
{
	struct cpu_queue *queue = context;
	struct run *run;

	pthread_mutex_lock(&work_lock);
	while ((run = next_run(queue)) != NULL) {
		if (!perform(run))
			break;
		queue->claimed = false;
		cpu_collect();
	}
	scripted_queue_end(queue);
	cpu_queue_drop(queue);
	unlink_queue(queue);
	cpu_collect();
	pthread_mutex_unlock(&work_lock);
	queue_free(queue);
	return NULL;
}

ze_result_t cpu_queue_new(ze_device_handle_t device, const ze_command_queue_desc_t *description,
                          struct cpu_queue **made)
{
	uint32_t ordinal = description->ordinal, index = description->index;
	const struct cpu_group *group = &device->groups[ordinal < CPU_GROUPS ? ordinal : 0];
	struct cpu_queue *queue;
	ze_result_t result;

	if (ordinal >= cpu_device.group_count || index >= group->engine_count)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	queue = calloc(1, sizeof *queue);
	if (!queue)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	queue->ordinal = ordinal;
	queue->index = index;
	queue->parts = device->root || !cpu_sub_device_count ? 1 : cpu_sub_device_count;
	queue->synchronous = description->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
	queue->priority = description->priority;
	queue->engine_index = group->first_engine + index;
	queue->engine = &cpu_device.engines[queue->engine_index];
	pthread_cond_init(&queue->work, NULL);
	pthread_mutex_lock(&work_lock);
	result = scripted_queue_start(queue);
	if (result == ZE_RESULT_SUCCESS) {
		queue->next = cpu_queues;
		cpu_queues = queue;
	}
	pthread_mutex_unlock(&work_lock);
	if (result != ZE_RESULT_SUCCESS)
		queue_free(queue);
	else
		*made = queue;
	return result;
}

void cpu_queue_end(struct cpu_queue *queue)
{
	bool threadless;

	pthread_mutex_lock(&work_lock);
	threadless = !queue->started;
	queue->ending = true;
	queue->give_up_ns = cpu_monotonic_ns() + GRACE_NS;
	if (threadless) {
		scripted_queue_end(queue);
		unlink_queue(queue);
	} else {
		pthread_cond_signal(&queue->work);
		// Its thread's limit is another one now.
		cpu_changed_for_all();
	}
	pthread_mutex_unlock(&work_lock);
	if (threadless)
		queue_free(queue);
}

static void put(struct cpu_queue *queue, struct run *run)
{
	run->queue = queue;
	run->sequence = ++sequence;
	run->next = NULL;
	if (queue->last)
		queue->last->next = run;
	else
		queue->first = run;
	queue->last = run;
	if (queue->last_real)
		queue->last_real->next_real = run;
	else
		queue->first_real = run;
	queue->last_real = run;
	queue->submitted++;
	cpu_run_bind(run);
	if (!cpu_device.scripted)
		return;
	if (queue->last_modelled)
		queue->last_modelled->next_modelled = run;
	else
		queue->first_modelled = run;
	queue->last_modelled = run;
	scripted_submit(run);
}

ze_result_t cpu_queue_submit(struct cpu_queue *queue, struct run *runs)
{
	int64_t submitted_ps;
	struct run *next;

	if (!queue->started)
		queue->started = cpu_thread_start(queue_main, queue) == 0;
	if (!queue->started)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	cpu_pump_wake();
	// What is handed over together is submitted at one time.
	submitted_ps = scripted_now_ps();
	for (; runs; runs = next) {
		next = runs->next;
		runs->submitted_ps = submitted_ps;
		put(queue, runs);
	}
	// Who waits for a synchronous queue does the work itself, or wakes its thread (cpu_help).
	if (!queue->synchronous)
		pthread_cond_signal(&queue->work);
	if (cpu_device.scripted)
		cpu_changed_in_model();
	return ZE_RESULT_SUCCESS;
}

struct awaited {
	const struct cpu_queue *queue;
	uint64_t count;
};

static bool reached(void *context)
{
	const struct awaited *awaited = context;

	return awaited->queue->completed >= awaited->count;
}

ze_result_t cpu_queue_wait(struct cpu_queue *queue, uint64_t timeout_ns)
{
	struct awaited awaited = { queue, queue->submitted };
	ze_result_t result = cpu_wait_for_queue(queue, reached, &awaited, timeout_ns);

	// Where the device was lost before anybody did the work.
	if (queue->synchronous && queue->first_real)
		pthread_cond_signal(&queue->work);
	if (result == ZE_RESULT_SUCCESS && queue->result != ZE_RESULT_SUCCESS) {
		result = queue->result;
		if (!queue->lost)
			queue->result = ZE_RESULT_SUCCESS;
	}
	return result;
}
