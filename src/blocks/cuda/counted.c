// SPDX-License-Identifier: Apache-2.0
// How many instructions warps of a kernel execute, as the hardware counts them in some launches of
// a run of its own: what is asked for, and what came out.
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

// A launch takes some 26 ms for each group of counters (docs/hotspots.md).
enum { KERNELS = 16, A_GROUP = 2 };

int tare_sampled_plan(const struct tare_pc_samples *samples, char **plan)
{
	uint32_t chosen = 0;
	size_t size;

	*plan = NULL;
	FILE *file = open_memstream(plan, &size);
	if (!file)
		return -ENOMEM;
	fprintf(file, "%d,replay", A_GROUP);
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

static void take(struct tare_pc_samples *samples, const struct tare_recording *recording,
                 const struct tare_recorded_count *count)
{
	if (count->counter != TARE_TRACE_COUNTER_INSTRUCTIONS || count->graph ||
	    count->kernel == TARE_NO_INDEX || count->command == TARE_NO_INDEX)
		return;
	const struct tare_recorded_shape *shape =
	    tare_shape_of(recording, TARE_COMMAND(recording, count->command));
	struct tare_sampled_kernel *kernel = kernel_of(samples, recording, count->kernel);
	uint64_t warps = shape ? warps_of(shape) : 0;
	if (!kernel || !warps || !(count->value > 0))
		return;
	double each = count->value / (double)warps;
	kernel->counted_warps += warps;
	// Of a warp, whichever launch it is of.
	kernel->each += (each - kernel->each) * (double)warps / (double)kernel->counted_warps;
	kernel->each_least = kernel->counted ? fmin(kernel->each_least, each) : each;
	kernel->each_most = fmax(kernel->each_most, each);
	kernel->counted++;
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
	for (size_t i = 0; status == 0 && i < samples->kernel_count; i++)
		status = tare_sampled_tell_executions(&samples->kernels[i]);
	tare_recording_free(recording);
	return status < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}
