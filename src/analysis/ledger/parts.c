// SPDX-License-Identifier: Apache-2.0
// Commands that were spread over sub-devices, for the ledgers of these: each part stands as a
// command of its sub-device, behind the whole one, on a queue of its own. Nobody but the ledger
// sees them.
#include "analysis/ledger/internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Behind the queues that there are, of each whose device has sub-devices as many: those of its
// parts. One that has no part stays what it is a copy of.
static void copy_queues(const struct tare_recording *from, struct ledger_parted *parted)
{
	struct tare_recording *r = &parted->recording;
	for (size_t i = 0; i < from->queue_count; i++)
		r->queues[i] = from->queues[i];
	for (size_t i = 0; i < from->queue_count; i++) {
		uint32_t device = from->queues[i].device;
		parted->parts_at[i] = (uint32_t)r->queue_count;
		for (uint32_t k = 0;
		     device < from->device_count && k < from->devices[device].sub_devices; k++)
			r->queues[r->queue_count++] = from->queues[i];
	}
}

static void add(struct ledger_parted *parted, const struct tare_recorded_command *command,
                uint32_t of)
{
	struct tare_recording *r = &parted->recording;
	parted->command_of[r->command_count] = of;
	r->commands.plain[r->command_count++] = *command;
}

// Behind each command its parts; what waits for the command goes on doing so.
static bool copy_commands(const struct tare_recording *from, struct ledger_parted *parted)
{
	struct tare_recording *r = &parted->recording;
	TARE_FREE uint32_t *now_at = calloc(from->command_count + 1, sizeof *now_at);
	size_t part = 0;
	if (!now_at)
		return false;
	r->command_count = 0;
	for (uint32_t i = 0; i < from->command_count; i++) {
		now_at[i] = (uint32_t)r->command_count;
		add(parted, TARE_COMMAND(from, i), i);
		for (; part < from->part_count && from->parts[part].command == i; part++) {
			struct tare_recorded_command command = *TARE_COMMAND(from, i);
			command.queue = parted->parts_at[command.queue] +
			                from->devices[from->parts[part].device].sub_device;
			command.start_ns = from->parts[part].start_ns;
			command.end_ns = from->parts[part].end_ns;
			r->queues[command.queue].device = from->parts[part].device;
			add(parted, &command, i);
		}
	}
	for (size_t i = 0; i < from->wait_count; i++) {
		r->waits[i] = from->waits[i];
		if (from->waits[i].command < from->command_count)
			r->waits[i].command = now_at[from->waits[i].command] & 0x7fffffff;
	}
	return true;
}

static size_t count_queues(const struct tare_recording *recording)
{
	size_t count = 0;
	for (size_t i = 0; i < recording->queue_count; i++)
		if (recording->queues[i].device < recording->device_count)
			count += recording->devices[recording->queues[i].device].sub_devices;
	return count;
}

int ledger_parts_new(const struct tare_recording *recording, struct ledger_parted **made)
{
	*made = NULL;
	if (recording->part_count == 0)
		return 0;
	struct ledger_parted *parted = calloc(1, sizeof *parted);
	if (!parted)
		return -ENOMEM;
	struct tare_recording *r = &parted->recording;
	size_t commands = recording->command_count + recording->part_count;
	*r = *recording;
	r->queues = calloc(recording->queue_count + count_queues(recording) + 1, sizeof *r->queues);
	r->commands.plain = calloc(commands + 1, sizeof *r->commands.plain);
	r->waits = calloc(recording->wait_count + 1, sizeof *r->waits);
	parted->command_of = calloc(commands + 1, sizeof *parted->command_of);
	parted->parts_at = calloc(recording->queue_count + 1, sizeof *parted->parts_at);
	parted->has = calloc(recording->device_count + 1, sizeof *parted->has);
	bool ready = r->queues && r->commands.plain && r->waits && parted->command_of &&
	             parted->parts_at && parted->has;
	if (ready) {
		copy_queues(recording, parted);
		ready = copy_commands(recording, parted);
	}
	for (size_t i = 0; ready && i < recording->part_count; i++)
		parted->has[recording->devices[recording->parts[i].device].same_as] = true;
	*made = parted;
	return ready ? 0 : -ENOMEM;
}

void ledger_parts_free(struct ledger_parted *parted)
{
	if (!parted)
		return;
	free(parted->recording.queues);
	free(parted->recording.commands.plain);
	free(parted->recording.waits);
	free(parted->command_of);
	free(parted->parts_at);
	free(parted->has);
	free(parted);
}

// Of commands of the whole devices, as `wholes` says of a same_as, which have times and no parts.
static size_t without_parts(const struct ledger_scope *scope, const bool *wholes,
                            struct tare_run_span *spans)
{
	const struct tare_recording *recording = scope->recording;
	size_t part = 0, count = 0;
	for (uint32_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		while (part < recording->part_count && recording->parts[part].command < i)
			part++;
		bool has = part < recording->part_count && recording->parts[part].command == i;
		if (!has && tare_command_timed(command) &&
		    tare_command_effect(command) != TARE_EFFECT_NONE &&
		    ledger_queue_device(recording, command->queue) != TARE_NO_INDEX &&
		    wholes[ledger_queue_device(recording, command->queue)] &&
		    command->start_ns < command->end_ns)
			spans[count++] =
			    (struct tare_run_span){ command->start_ns, command->end_ns };
	}
	return count;
}

// Those of the whole devices without times, added to `spans`, which has room for one a command and
// more.
static int without_times(const struct ledger_scope *scope, const bool *wholes,
                         struct tare_run_span **spans, size_t *count)
{
	const struct tare_recording *recording = scope->recording;
	struct tare_view view = *scope->view;
	view.device = TARE_NO_INDEX;
	for (uint32_t i = 0; i < recording->device_count; i++) {
		TARE_FREE struct tare_run_span *found = NULL;
		size_t more = 0;
		struct ledger_scope of = { .recording = recording, .view = &view, .device = i };
		if (!wholes[i])
			continue;
		int rc = ledger_untimed(&of, &found, &more);
		struct tare_run_span *grown =
		    rc ? NULL : reallocarray(*spans, *count + more + 1, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		*spans = grown;
		if (more)
			memcpy(*spans + *count, found, more * sizeof *found);
		*count += more;
	}
	return 0;
}

int ledger_parts_unknown(const struct ledger_scope *scope, struct tare_run_span **spans,
                         size_t *count)
{
	const struct tare_recording *recording = scope->recording;
	TARE_FREE bool *wholes = calloc(recording->device_count + 1, sizeof *wholes);
	*spans = calloc(recording->command_count + 1, sizeof **spans);
	*count = 0;
	if (!wholes || !*spans)
		return -ENOMEM;
	for (uint32_t i = 0; i < recording->device_count; i++)
		if (recording->devices[i].same_as == scope->device &&
		    recording->devices[i].sub_device_of)
			wholes[recording->devices[recording->devices[i].sub_device_of - 1]
			           .same_as] = true;
	*count = without_parts(scope, wholes, *spans);
	int rc = without_times(scope, wholes, spans, count);
	*count = rc ? 0 : tare_spans_unite(*spans, *count);
	return rc;
}
