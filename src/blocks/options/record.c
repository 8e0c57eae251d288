// SPDX-License-Identifier: Apache-2.0
// What one recorded run of a set of options tells.
#include "blocks/options/trials.h"

#include "analysis/recording/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void clear(struct tare_blocks_cell *cell)
{
	*cell = (struct tare_blocks_cell){ .multiple = UINT64_MAX,
		                           .sub_group = UINT64_MAX,
		                           .private_bytes = UINT64_MAX,
		                           .local_bytes = UINT64_MAX,
		                           .spill_bytes = UINT64_MAX };
}

size_t tare_blocks_trials_name(struct tare_blocks_trials *trials, const char *name)
{
	for (size_t i = 0; i < trials->name_count; i++)
		if (strcmp(trials->names[i], name) == 0)
			return i;
	char **names = realloc(trials->names, (trials->name_count + 1) * sizeof *names);
	char *copy = strdup(name);
	if (names)
		trials->names = names;
	bool well = names && copy;
	for (uint32_t i = 0; well && i < trials->set_count; i++) {
		struct tare_blocks_cell *cells =
		    realloc(trials->sets[i].cells, (trials->name_count + 1) * sizeof *cells);
		well = cells != NULL;
		if (!well)
			break;
		trials->sets[i].cells = cells;
		clear(&cells[trials->name_count]);
	}
	if (!well) {
		free(copy);
		return SIZE_MAX;
	}
	trials->names[trials->name_count] = copy;
	return trials->name_count++;
}

// ---- what drivers say of kernels

// The place of a recorded kernel among the names; SIZE_MAX: no memory, or it is not known.
static size_t name_of(struct tare_blocks_trials *trials, const struct tare_recording *recording,
                      uint32_t kernel)
{
	if (kernel >= recording->kernel_count)
		return SIZE_MAX;
	return tare_blocks_trials_name(trials, recording->kernels[kernel].name);
}

static void take_facts(struct tare_blocks_trials *trials, uint32_t set,
                       const struct tare_recording *recording)
{
	for (size_t i = 0; i < recording->kernel_fact_count; i++) {
		const struct tare_recorded_kernel_fact *fact = &recording->kernel_facts[i];
		size_t name = name_of(trials, recording, fact->kernel);
		if (name == SIZE_MAX)
			continue;
		struct tare_blocks_cell *cell = &trials->sets[set].cells[name];
		if (fact->preferred_multiple)
			cell->multiple = fact->preferred_multiple;
		if (fact->sub_group)
			cell->sub_group = fact->sub_group;
		if (fact->private_bytes)
			cell->private_bytes = fact->private_bytes;
		cell->local_bytes = fact->local_bytes;
		cell->spill_bytes = fact->spill_bytes;
	}
}

// ---- times

// The launches of a kernel in one run.
struct launches {
	uint64_t count, timed;
	double ns;
};

static void add(struct launches *to, const struct tare_recorded_command *command)
{
	to->count++;
	if (command->start_ns == TARE_NO_TIME || command->end_ns == TARE_NO_TIME)
		return;
	to->timed++;
	to->ns += (double)(command->end_ns - command->start_ns);
}

static void keep(struct tare_blocks_cell *cell, uint32_t round, const struct launches *launches,
                 bool all)
{
	bool complete = launches->timed && launches->timed == launches->count;

	if (round == 0)
		cell->launches = launches->count;
	cell->varies |= cell->launches != launches->count;
	// Of all kernels together a part says nothing.
	if (all)
		cell->ns[round] = complete ? launches->ns : 0;
	else
		cell->ns[round] = launches->timed ? launches->ns / (double)launches->timed : 0;
}

static int take_times(struct tare_blocks_trials *trials, uint32_t set, uint32_t round,
                      const struct tare_recording *recording)
{
	size_t *place = calloc(recording->kernel_count + 1, sizeof *place);
	struct launches all = { 0 };
	int status = place ? 0 : -ENOMEM;

	for (uint32_t i = 0; status == 0 && i < recording->kernel_count; i++) {
		place[i] = name_of(trials, recording, i);
		status = place[i] == SIZE_MAX ? -ENOMEM : 0;
	}
	size_t known = trials->name_count;
	struct launches *of = status == 0 ? calloc(known + 1, sizeof *of) : NULL;
	if (!of)
		status = -ENOMEM;
	for (size_t i = 0; status == 0 && i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (command->kind != TARE_KIND_KERNEL || command->object >= recording->kernel_count)
			continue;
		add(&of[place[command->object]], command);
		add(&all, command);
	}
	for (size_t i = 1; status == 0 && i < known; i++)
		keep(&trials->sets[set].cells[i], round, &of[i], false);
	if (status == 0)
		keep(&trials->sets[set].cells[0], round, &all, true);
	free(of);
	free(place);
	return status;
}

// ---- what was read back

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(0x100000001b3);
}

static void take_reads(const struct tare_recording *recording, struct tare_blocks_given *given)
{
	uint64_t reads = 0, hashed = 0;

	for (size_t i = 0; i < recording->command_count; i++)
		reads += TARE_COMMAND(recording, i)->kind == TARE_KIND_READ;
	for (size_t i = 0; i < recording->place_count; i++) {
		const struct tare_recorded_place *place = &recording->places[i];
		if (place->command >= recording->command_count ||
		    TARE_COMMAND(recording, place->command)->kind != TARE_KIND_READ ||
		    place->contents != TARE_CONTENTS_WHOLE)
			continue;
		// Threads may read in another order.
		given->read += mix(place->whole, place->identity);
		hashed++;
	}
	given->read_known = reads != 0 && reads == hashed;
}

int tare_blocks_trial_read(struct tare_blocks_trials *trials, uint32_t set, uint32_t round,
                           struct tare_blocks_given *given, struct tare_error *error)
{
	struct tare_recording *recording = NULL;
	int status = tare_recording_load(trials->trace.folder, &recording, error);

	if (status < 0)
		return status;
	take_facts(trials, set, recording);
	take_reads(recording, given);
	if (round != UINT32_MAX)
		status = take_times(trials, set, round, recording);
	tare_recording_free(recording);
	return status < 0 ? tare_fail(error, -status, "out of memory") : 0;
}
