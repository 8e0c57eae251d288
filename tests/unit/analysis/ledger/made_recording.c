// SPDX-License-Identifier: Apache-2.0
#include "made_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void point(struct made *made)
{
	struct tare_recording *recording = &made->recording;
	recording->processes = made->processes;
	recording->threads = made->threads;
	recording->devices = made->devices;
	recording->queues = made->queues;
	recording->kernels = made->kernels;
	recording->functions = made->functions;
	recording->commands.plain = made->commands;
	recording->calls = made->calls;
	recording->waits = made->waits;
	recording->losses = made->losses;
	recording->cpu_samples = made->samples;
}

struct made *made_new(int64_t end_ns)
{
	struct made *made = calloc(1, sizeof *made);
	assert_non_null(made);
	point(made);
	made->recording.end_ns = end_ns;
	made->recording.function_count = TARE_ROLE_COUNT;
	for (uint32_t i = 0; i < TARE_ROLE_COUNT; i++)
		made->functions[i] = (struct tare_recorded_function){ "call", 1, i };
	made->recording.kernel_count = 2;
	made->kernels[0].name = "first";
	made->kernels[1].name = "second";
	return made;
}

uint32_t made_process(struct made *made, int64_t end_ns)
{
	uint32_t at = (uint32_t)made->recording.process_count++;
	assert_true(at < MADE_FEW);
	made->processes[at] = (struct tare_recorded_process){ .pid = 100 + at, .end_ns = end_ns };
	return at;
}

uint32_t made_thread(struct made *made, uint32_t process)
{
	uint32_t at = (uint32_t)made->recording.thread_count++;
	assert_true(at < MADE_FEW);
	made->threads[at] = (struct tare_recorded_thread){
		.process = process,
		.tid = 1000 + at,
		.track = at,
		.first_sample = made->recording.cpu_sample_count,
		.unfinished_function = TARE_NO_INDEX,
	};
	return at;
}

uint32_t made_device(struct made *made, uint32_t process, uint32_t same_as, int64_t residual_ns)
{
	uint32_t at = (uint32_t)made->recording.device_count++;
	assert_true(at < MADE_FEW);
	made->devices[at] = (struct tare_recorded_device){
		.process = process,
		.same_as = same_as == TARE_NO_INDEX ? at : same_as,
		.name = "device",
		.residual_ns = residual_ns,
	};
	return at;
}

uint32_t made_queue(struct made *made, uint32_t process, uint32_t device, bool out_of_order)
{
	uint32_t at = (uint32_t)made->recording.queue_count++;
	assert_true(at < MADE_FEW);
	made->queues[at] = (struct tare_recorded_queue){
		.process = process,
		.device = device,
		.number = at,
		.out_of_order = out_of_order,
	};
	return at;
}

uint32_t made_command(struct made *made, struct tare_recorded_command command)
{
	uint32_t at = (uint32_t)made->recording.command_count++;
	assert_true(at < MADE_MOST);
	made->commands[at] = command;
	return at;
}

void made_call(struct made *made, struct tare_recorded_call call)
{
	assert_true(made->recording.call_count < MADE_MOST);
	made->calls[made->recording.call_count++] = call;
}

void made_waits(struct made *made, const uint32_t *commands, size_t count)
{
	struct tare_recording *recording = &made->recording;
	if (count == 0)
		return;
	made->commands[recording->command_count - 1].first_wait = (uint32_t)recording->wait_count;
	for (size_t i = 0; i < count; i++) {
		assert_true(recording->wait_count < MADE_MOST);
		made->waits[recording->wait_count++] = (struct tare_recorded_wait){
			.command = commands[i] & MADE_NO_COMMAND,
			.last = i + 1 == count,
		};
	}
}

void made_sample(struct made *made, int64_t at_ns, int64_t cpu_ns)
{
	struct tare_recording *recording = &made->recording;
	assert_true(recording->cpu_sample_count < MADE_MOST);
	made->samples[recording->cpu_sample_count++] = (struct tare_cpu_sample){ at_ns, cpu_ns };
	made->threads[recording->thread_count - 1].sample_count++;
}

// ---- order

struct place {
	int64_t enter_ns;
	uint64_t tie;
	uint32_t at;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	return (x->tie > y->tie) - (x->tie < y->tie);
}

static void sort(struct made *made, struct tare_random *random)
{
	static struct place places[MADE_MOST];
	static uint32_t moved_to[MADE_MOST];
	static struct tare_recorded_command commands[MADE_MOST];
	static struct tare_recorded_call calls[MADE_MOST];
	struct tare_recording *recording = &made->recording;

	for (uint32_t i = 0; i < recording->command_count; i++)
		places[i] = (struct place){ made->commands[i].enter_ns,
			                    random ? tare_random_next(random) : i, i };
	qsort(places, recording->command_count, sizeof *places, compare_places);
	for (uint32_t i = 0; i < recording->command_count; i++) {
		commands[i] = made->commands[places[i].at];
		moved_to[places[i].at] = i;
	}
	memcpy(made->commands, commands, recording->command_count * sizeof *commands);
	for (size_t i = 0; i < recording->wait_count; i++)
		if (made->waits[i].command < recording->command_count)
			made->waits[i].command = moved_to[made->waits[i].command] & MADE_NO_COMMAND;

	for (uint32_t i = 0; i < recording->call_count; i++)
		places[i] = (struct place){ made->calls[i].enter_ns,
			                    random ? tare_random_next(random) : i, i };
	qsort(places, recording->call_count, sizeof *places, compare_places);
	for (uint32_t i = 0; i < recording->call_count; i++)
		calls[i] = made->calls[places[i].at];
	memcpy(made->calls, calls, recording->call_count * sizeof *calls);
}

void made_sort(struct made *made)
{
	sort(made, NULL);
}

static void rename_threads(struct made *made, struct tare_random *random)
{
	struct tare_recording *recording = &made->recording;
	struct tare_recorded_thread threads[MADE_FEW];
	uint32_t moved_to[MADE_FEW];
	for (uint32_t i = 0; i < recording->thread_count; i++)
		moved_to[i] = i;
	for (uint32_t i = (uint32_t)recording->thread_count; i > 1; i--) {
		uint32_t j = (uint32_t)tare_random_below(random, i), kept = moved_to[i - 1];
		moved_to[i - 1] = moved_to[j];
		moved_to[j] = kept;
	}
	for (uint32_t i = 0; i < recording->thread_count; i++)
		threads[moved_to[i]] = made->threads[i];
	memcpy(made->threads, threads, recording->thread_count * sizeof *threads);
	for (size_t i = 0; i < recording->command_count; i++)
		made->commands[i].thread = moved_to[made->commands[i].thread];
	for (size_t i = 0; i < recording->call_count; i++)
		made->calls[i].thread = moved_to[made->calls[i].thread];
	for (size_t i = 0; i < recording->loss_count; i++)
		if (made->losses[i].thread != TARE_NO_INDEX)
			made->losses[i].thread = moved_to[made->losses[i].thread];
}

struct made *made_shuffled(const struct made *made, struct tare_random *random)
{
	struct made *copy = malloc(sizeof *copy);
	assert_non_null(copy);
	memcpy(copy, made, sizeof *copy);
	point(copy);
	rename_threads(copy, random);
	sort(copy, random);
	return copy;
}

// ---- common ones

struct tare_recorded_call made_plain_call(uint32_t thread, uint8_t role, int64_t enter_ns,
                                          int64_t exit_ns)
{
	return (struct tare_recorded_call){
		.enter_ns = enter_ns,
		.exit_ns = exit_ns,
		.count = 1,
		.inside_ns = exit_ns - enter_ns,
		.thread = thread,
		.object = TARE_NO_INDEX,
		.device = TARE_NO_INDEX,
		.function = role,
		.role = role,
	};
}

struct tare_recorded_command made_plain_command(uint32_t thread, uint32_t queue, uint8_t kind,
                                                int64_t enter_ns, int64_t exit_ns,
                                                int64_t submitted_ns, int64_t start_ns,
                                                int64_t end_ns)
{
	return (struct tare_recorded_command){
		.enter_ns = enter_ns,
		.exit_ns = exit_ns,
		.submitted_ns = submitted_ns,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.thread = thread,
		.queue = queue,
		.object = TARE_NO_INDEX,
		.first_wait = TARE_NO_INDEX,
		.kind = kind,
		.function = TARE_ROLE_COMMAND,
	};
}
