// SPDX-License-Identifier: Apache-2.0
#include "analysis/hotspots/instructions.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

// Bytes that are not among those that were counted may be so many of these.
#define MOST_UNSIZED 0.01
enum { ATOMIC_BYTES = 8 }; // the widest

bool tare_instructions_may(const struct tare_recording *recorded)
{
	for (size_t i = 0; i < recorded->device_count; i++)
		if (recorded->devices[i].api != TARE_TRACE_OPENCL &&
		    recorded->devices[i].api != TARE_TRACE_LEVELZERO)
			return false;
	return recorded->device_count > 0;
}

// All counts of a name. false: there are none.
static bool sum_of(const struct tare_instruction_counts *counts, size_t count, const char *name,
                   struct tare_instruction_counts *sum)
{
	bool found = false;

	*sum = (struct tare_instruction_counts){ .name = name };
	for (size_t i = 0; i < count; i++) {
		const struct tare_instruction_counts *one = &counts[i];
		if (strcmp(one->name, name) != 0)
			continue;
		found = true;
		sum->launches += one->launches;
		sum->counted += one->counted;
		sum->instructions += one->instructions;
		for (enum tare_flop_kind kind = 0; kind < TARE_FLOP_KINDS; kind++)
			sum->flop[kind] += one->flop[kind];
		sum->bytes += one->bytes;
		sum->local_loaded_bytes += one->local_loaded_bytes;
		sum->local_stored_bytes += one->local_stored_bytes;
		sum->special += one->special;
		sum->unsized_known += one->unsized_known;
		sum->unsized_unknown += one->unsized_unknown;
	}
	return found;
}

static void set(struct tare_counted_kernel *kernel, enum tare_counter_role role, double sum,
                uint64_t launches, bool in_part)
{
	kernel->values[role] = (struct tare_counter_value){
		.state = in_part ? TARE_COUNTER_IN_PART : TARE_COUNTER_COUNTED,
		.mean = in_part ? NAN : sum / (double)launches,
		.least = NAN,
		.most = NAN,
		.launches = launches < UINT32_MAX ? (uint32_t)launches : UINT32_MAX,
	};
}

static void take(const struct tare_instruction_counts *sum, struct tare_counted_kernel *kernel)
{
	uint64_t launches = sum->counted;
	bool in_part = sum->unsized_unknown > 0 ||
	               sum->unsized_known * ATOMIC_BYTES > MOST_UNSIZED * sum->bytes;

	kernel->uncounted = TARE_UNCOUNTED_NONE;
	kernel->counted_launches = launches;
	kernel->more_flop = sum->special > 0;
	set(kernel, TARE_COUNTER_LANE_INSTRUCTIONS, sum->instructions, launches, false);
	set(kernel, TARE_COUNTER_FLOP_FP16, sum->flop[TARE_FLOP_FP16], launches, false);
	set(kernel, TARE_COUNTER_FLOP_FP32, sum->flop[TARE_FLOP_FP32], launches, false);
	set(kernel, TARE_COUNTER_FLOP_FP64, sum->flop[TARE_FLOP_FP64], launches, false);
	set(kernel, TARE_COUNTER_L1_BYTES, sum->bytes, launches, in_part);
	set(kernel, TARE_COUNTER_LOCAL_READ_BYTES, sum->local_loaded_bytes, launches, in_part);
	set(kernel, TARE_COUNTER_LOCAL_WRITE_BYTES, sum->local_stored_bytes, launches, in_part);
}

void tare_instructions_take(const struct tare_instruction_counts *counts, size_t count,
                            const char *pattern, struct tare_collection *collection)
{
	struct tare_counted_run *run = &collection->run;

	run->by_instructions = true;
	for (size_t i = 0; i < run->kernel_count; i++) {
		struct tare_counted_kernel *kernel = &run->kernels[i];
		struct tare_instruction_counts sum;

		kernel->by_instructions = true;
		kernel->compulsory_missing = "it is not looked at where instructions are counted";
		for (size_t role = 0; role < TARE_COUNTER_ROLES; role++)
			kernel->values[role] =
			    (struct tare_counter_value){ .state = TARE_COUNTER_NOT_ON_DEVICE,
				                         .mean = NAN,
				                         .least = NAN,
				                         .most = NAN };
		if (pattern && fnmatch(pattern, kernel->name, 0) != 0)
			continue;
		if (!sum_of(counts, count, kernel->name, &sum))
			kernel->uncounted = TARE_UNCOUNTED_NOT_LAUNCHED;
		else if (sum.counted == 0 || sum.counted != sum.launches)
			kernel->uncounted = TARE_UNCOUNTED_NO_INSTRUCTIONS;
		else if (sum.launches != kernel->launches)
			kernel->uncounted = TARE_UNCOUNTED_OTHER_LAUNCHES;
		else
			take(&sum, kernel);
	}
}
