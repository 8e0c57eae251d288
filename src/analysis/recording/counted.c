// SPDX-License-Identifier: Apache-2.0
// What hardware counters said of single launches.
#include "analysis/recording/internal.h"

#include <errno.h>

static uint64_t identity_of(uint32_t track, uint32_t number)
{
	return (uint64_t)track << 32 | number;
}

// Counters are written right behind their command, which is then the last of its track, or later:
// then the command was said to be counted, or is a run of a list.
static uint32_t command_of(struct loading *l, uint32_t head_track, uint32_t command_track,
                           uint32_t number)
{
	struct load_track *track = loading_track(l, head_track);

	if (l->counted_command != TARE_NO_INDEX &&
	    l->counted_identity == identity_of(command_track, number))
		return l->counted_command;
	if (head_track != command_track || !track || track->command_number != number)
		return TARE_NO_INDEX;
	return track->command;
}

static uint32_t kernel_of(const struct loading *l, uint32_t command)
{
	const struct tare_recorded_command *c;

	if (command >= l->recording->command_count)
		return TARE_NO_INDEX;
	c = TARE_COMMAND(l->recording, command);
	return c->kind == TARE_KIND_KERNEL ? c->object : TARE_NO_INDEX;
}

// What a launch's record and its values, which follow it, are of.
static void begin_launch(struct loading *l, const struct tare_trace_counting *counting)
{
	uint64_t identity = identity_of(counting->command_track, counting->command_number);
	uint32_t found = counting->execution ? loading_run_of(l, identity, counting->execution)
	                                     : tare_id_map_find(&l->counted_of, identity);

	l->counted_identity = identity;
	l->counted_command =
	    found == TARE_ID_ABSENT || found == TARE_NO_RUN ? TARE_NO_INDEX : found;
}

static void announce(struct loading *l, const struct tare_trace_counting *counting)
{
	struct load_track *track = loading_track(l, tare_trace_track(counting->head));
	uint64_t identity = identity_of(counting->command_track, counting->command_number);

	if (track && track->command_number == counting->command_number &&
	    track->command != TARE_NO_INDEX &&
	    !tare_id_map_put(&l->counted_of, identity, track->command))
		loading_fail(l, ENOMEM, "counters");
}

int loading_counted(struct loading *l, const struct tare_trace_counted *counted)
{
	uint32_t command = command_of(l, tare_trace_track(counted->head), counted->command_track,
	                              counted->command_number);
	uint32_t kernel = kernel_of(l, command);

	if (kernel == TARE_NO_INDEX) {
		l->recording->unresolved++;
		return l->status;
	}
	for (size_t i = 0; i < 4 && counted->counter[i]; i++) {
		struct tare_recorded_count *count = LOADING_ADD(l, counts, count_count, count_room);
		if (!count)
			return l->status;
		*count = (struct tare_recorded_count){
			.kernel = kernel,
			.launch = l->counted_launches,
			.command = command,
			.counter = counted->counter[i],
			.group = tare_trace_detail(counted->head),
			.replayed = tare_trace_record_flags(counted->head) & TARE_COUNTED_REPLAYED,
			.value = counted->value[i],
		};
	}
	return l->status;
}

int loading_counting(struct loading *l, const struct tare_trace_counting *counting)
{
	uint16_t what = tare_trace_detail(counting->head);
	struct tare_recorded_counting *added =
	    LOADING_ADD(l, countings, counting_count, counting_room);

	if (!added)
		return l->status;
	*added = (struct tare_recorded_counting){
		.process = l->process,
		.kernel = TARE_NO_INDEX,
		.what = what,
		.code = counting->code,
		.group = counting->group,
		.passes = counting->passes,
		.ns = loading_ns(l, counting->to) - loading_ns(l, counting->from),
		.text = loading_text(l, tare_trace_text(l->trace, l->file, counting->text)),
	};
	if (what == TARE_COUNTING_LAUNCH) {
		l->counted_launches++;
		begin_launch(l, counting);
		added->kernel =
		    kernel_of(l, command_of(l, tare_trace_track(counting->head),
		                            counting->command_track, counting->command_number));
	} else if (what == TARE_COUNTING_BEGUN) {
		announce(l, counting);
	} else if (what == TARE_COUNTING_LEFT && counting->object) {
		added->kernel = loading_resolve(l, l->api, TARE_OBJECT_KERNEL, counting->object,
		                                counting->from);
	}
	return l->status;
}
