// SPDX-License-Identifier: Apache-2.0
// A run, from when it is made until it is freed; and the points of commands that count.
#include "run/run.h"

#include <stdlib.h>

// How many points a command's runs have: the signal's place, and those it waits for and queries.
static uint32_t count_points(const struct command *command)
{
	return 1 + command->wait_count + command->queried_count;
}

// The point that it may signal is made while memory may still run out.
static bool make_points(struct run *run)
{
	const struct command *command = run->command;

	run->points = calloc(count_points(command), sizeof(struct cpu_point *));
	if (run->points && command->signal && command->signal->counts) {
		run->points[0] = cpu_point_new();
		if (!run->points[0]) {
			free(run->points);
			run->points = NULL;
		}
	}
	return run->points;
}

void cpu_run_bind(struct run *run)
{
	const struct command *command = run->command;
	struct cpu_slot *signal = command ? command->signal : NULL;
	struct cpu_point *old;

	if (!run->points)
		return;
	for (uint32_t i = 0; i < command->wait_count; i++)
		run->points[1 + i] = cpu_point_retain(command->waits[i]->point);
	for (uint32_t i = 0; i < command->queried_count; i++)
		run->points[1 + command->wait_count + i] =
		    cpu_point_retain(command->queried[i]->point);
	if (!signal)
		return;
	// The first run signals what has been waited for since the append, later ones what is new.
	old = signal->counts && signal->used ? signal->point : run->points[0];
	if (signal->counts && signal->used)
		signal->point = cpu_point_retain(run->points[0]);
	else
		run->points[0] = cpu_point_retain(signal->point);
	signal->used = true;
	cpu_point_release(old);
}

struct run *cpu_run_new(const struct command *command, struct command_chain *chain,
                        struct _ze_fence_handle_t *fence)
{
	struct run *run = calloc(1, sizeof *run);

	if (!run)
		return NULL;
	if (command && command->type == COMMAND_QUERY_TIMESTAMPS) {
		run->queried = calloc(command->queried_count, sizeof *run->queried);
		if (!run->queried) {
			free(run);
			return NULL;
		}
	}
	run->command = command;
	if (command && command->counts && !make_points(run)) {
		free(run->queried);
		free(run);
		return NULL;
	}
	run->chain = chain;
	run->fence = fence;
	if (chain)
		__atomic_add_fetch(&chain->references, 1, __ATOMIC_RELAXED);
	if (fence)
		__atomic_add_fetch(&fence->references, 1, __ATOMIC_RELAXED);
	return run;
}

void cpu_run_free(struct run *run)
{
	for (uint32_t i = 0; run->points && i < count_points(run->command); i++)
		cpu_point_release(run->points[i]);
	free(run->points);
	if (run->chain)
		cpu_chain_release(run->chain);
	else
		cpu_command_free((struct command *)(uintptr_t)run->command);
	if (run->fence)
		cpu_fence_release(run->fence);
	free(run->queried);
	free(run->scripted);
	free(run);
}
