// SPDX-License-Identifier: Apache-2.0
// What the hardware counts of kernels' instructions and warps in some launches of a run of its own:
// what is asked for, and what came out.
#include "analysis/hotspots/collect.h"
#include "analysis/hotspots/refused.h"
#include "analysis/recording/recording.h"
#include "blocks/cuda/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A launch is run once for each pass (docs/blocks-accounts.md).
enum { KERNELS = 16, LAUNCHES = 2 };

int tare_sampled_plan(const struct tare_pc_samples *samples, char **plan)
{
	uint32_t chosen = 0;
	size_t size;

	*plan = NULL;
	FILE *file = open_memstream(plan, &size);
	if (!file)
		return -ENOMEM;
	fprintf(file, "%d,accounts", LAUNCHES);
	for (size_t i = 0; i < samples->kernel_count && chosen < KERNELS; i++) {
		const struct tare_sampled_kernel *kernel = &samples->kernels[i];
		if (kernel->why != TARE_SAMPLED_UNCOUNTED ||
		    strlen(kernel->name) >= SAMPLES_NAME_BYTES - 1)
			continue;
		fprintf(file, "\n%" PRIu64 " %s", kernel->launches, kernel->name);
		chosen++;
	}
	int status = fclose(file) == 0 && *plan ? 0 : -ENOMEM;
	if (status == 0 && chosen)
		return 0;
	free(*plan);
	*plan = NULL;
	return status;
}

static uint64_t warps_of(const struct tare_recorded_shape *shape)
{
	uint64_t groups = 1, lanes = 1;

	for (uint32_t i = 0; i < shape->dimensions && i < 3; i++) {
		if (!shape->local[i])
			return 0;
		groups *= shape->global[i] / shape->local[i];
		lanes *= shape->local[i];
	}
	return groups * ((lanes + 31) / 32);
}

static struct tare_sampled_kernel *
kernel_of(struct tare_pc_samples *samples, const struct tare_recording *recording, uint32_t kernel)
{
	const struct tare_recorded_kernel *of = &recording->kernels[kernel];
	const char *name = of->symbol ? of->symbol : of->name;

	for (size_t i = 0; name && i < samples->kernel_count; i++)
		if (samples->kernels[i].why == TARE_SAMPLED_UNCOUNTED &&
		    strcmp(samples->kernels[i].name, name) == 0)
			return &samples->kernels[i];
	return NULL;
}

static void take_state(struct tare_sampled_kernel *kernel, uint16_t counter, double value)
{
	static const uint16_t states[TARE_STALLS] = {
#define STALL(name, text, what) [TARE_STALL_##name] = TARE_TRACE_COUNTER_STATE_##name,
#include "blocks/cuda/stalls.def"
#undef STALL
	};

	for (int i = 0; i < TARE_STALLS; i++)
		if (states[i] == counter) {
			kernel->states.by[i] += (uint64_t)value;
			kernel->states.all += (uint64_t)value;
		}
}

// How many instructions a warp of it executes, whichever launch it is of.
static void take_instructions(struct tare_sampled_kernel *kernel, double value, uint64_t warps)
{
	double each = value / (double)warps;

	kernel->counted_warps += warps;
	kernel->accounts.warps = (double)kernel->counted_warps;
	kernel->each += (each - kernel->each) * (double)warps / (double)kernel->counted_warps;
	kernel->each_least = kernel->counted ? fmin(kernel->each_least, each) : each;
	kernel->each_most = fmax(kernel->each_most, each);
	kernel->counted++;
}

static void take(struct tare_pc_samples *samples, const struct tare_recording *recording,
                 const struct tare_recorded_count *count)
{
	enum tare_account account = tare_account_of((uint16_t)count->counter);

	if (count->graph || count->kernel == TARE_NO_INDEX || count->command == TARE_NO_INDEX)
		return;
	const struct tare_recorded_shape *shape =
	    tare_shape_of(recording, TARE_COMMAND(recording, count->command));
	struct tare_sampled_kernel *kernel = kernel_of(samples, recording, count->kernel);
	uint64_t warps = shape ? warps_of(shape) : 0;
	bool is_count = count->value >= 0 && count->value < 0x1p53;
	if (!kernel || !warps || !is_count)
		return;
	take_state(kernel, (uint16_t)count->counter, count->value);
	if (account == TARE_ACCOUNTS || (account == TARE_ACCOUNT_ALL && count->value == 0))
		return;
	kernel->accounts.sums[account] += count->value;
	kernel->accounts.launches[account]++;
	if (account == TARE_ACCOUNT_ALL)
		take_instructions(kernel, count->value, warps);
}

// A sum is of all launches whose warps are known, or it is not known.
static void compare_launches(struct tare_accounts *accounts)
{
	for (int i = 0; i < TARE_ACCOUNTS; i++)
		if (accounts->launches[i] &&
		    accounts->launches[i] == accounts->launches[TARE_ACCOUNT_ALL])
			accounts->known |= 1u << i;
}

// The first error, where no context could be counted in.
static int tell_refused(struct tare_pc_samples *samples, const struct tare_recording *recording)
{
	const struct tare_recorded_counting *first = tare_counters_refusal(recording);

	if (!first)
		return 0;
	samples->uncounted = tare_counters_refused(first->code, first->text);
	return samples->uncounted ? 0 : -ENOMEM;
}

int tare_sampled_count(const char *folder, struct tare_pc_samples *samples,
                       struct tare_error *error)
{
	struct tare_recording *recording = NULL;
	struct tare_error why = { 0 };
	int status = tare_recording_load(folder, &recording, &why);

	if (status < 0) {
		samples->uncounted = strdup("the program was not recorded in the run for that");
		return samples->uncounted ? 0 : tare_fail(error, ENOMEM, "out of memory");
	}
	status = tell_refused(samples, recording);
	for (size_t i = 0; status == 0 && i < recording->count_count; i++)
		take(samples, recording, &recording->counts[i]);
	struct tare_host_time begin = tare_host_now();
	for (size_t i = 0; status == 0 && i < samples->kernel_count; i++) {
		compare_launches(&samples->kernels[i].accounts);
		status = tare_sampled_tell_executions(&samples->kernels[i], begin);
	}
	tare_recording_free(recording);
	return status < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}
