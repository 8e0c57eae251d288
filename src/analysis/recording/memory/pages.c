// SPDX-License-Identifier: Apache-2.0
// Managed memory: what the driver moved by itself is a command that nobody enqueued; faults are
// counted.
#include "analysis/recording/internal.h"
#include "analysis/recording/intervals.h"

static int add_move(struct loading *l, const struct tare_trace_pages *p, uint32_t queue,
                    const struct load_track *track)
{
	static const uint8_t directions[] = { [TARE_PAGES_TO_DEVICE] = TARE_DIRECTION_TO_DEVICE,
		                              [TARE_PAGES_FROM_DEVICE] = TARE_DIRECTION_FROM_DEVICE,
		                              [TARE_PAGES_BETWEEN] = TARE_DIRECTION_LOCAL };
	struct tare_recording *r = l->recording;
	uint32_t device = r->queues[queue].device, index = (uint32_t)r->command_count;
	struct tare_command_stamps stamps = { .enter_ns = loading_ns(l, p->observed),
		                              .observed_ns = loading_ns(l, p->observed),
		                              .start = p->start,
		                              .end = p->end };

	loading_stamps_ns(l, device, TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END, &stamps);
	struct tare_recorded_command c = { .enter_ns = stamps.observed_ns,
		                           .exit_ns = stamps.observed_ns,
		                           .submitted_ns = TARE_NO_TIME,
		                           .start_ns = (int64_t)stamps.start,
		                           .end_ns = (int64_t)stamps.end,
		                           .amount = p->value,
		                           .thread = track->thread,
		                           .queue = queue,
		                           .object = TARE_NO_INDEX,
		                           .first_wait = TARE_NO_INDEX,
		                           .function = (uint16_t)loading_own_function(
		                               l, "(unified memory)"),
		                           .kind = TARE_KIND_MIGRATE,
		                           .direction = directions[tare_trace_detail(p->head)],
		                           .alignment = UINT8_MAX,
		                           .memory = TARE_TRACE_MEMORY_SHARED,
		                           .untimed = LOADING_RAW,
		                           .stack = TARE_NO_INDEX,
		                           .part = TARE_RUN,
		                           .execution = TARE_OF_DRIVER };
	if (loading_add_command(l, &c) != TARE_NO_INDEX && loading_clock(l, device))
		loading_keep_observed(l, index, stamps.observed_ns);
	return l->status;
}

static void count(struct loading *l, const struct tare_trace_pages *p, uint32_t device)
{
	struct tare_recorded_faults *faults = &l->recording->devices[device].faults;
	struct tare_command_stamps stamps = { .enter_ns = loading_ns(l, p->observed),
		                              .start = p->start,
		                              .end = p->end };

	switch (tare_trace_detail(p->head)) {
	case TARE_PAGES_HOST_FAULTS:
		faults->host_faults += p->value;
		break;
	case TARE_PAGES_DEVICE_FAULTS:
		faults->device_faults += p->value;
		faults->device_groups++;
		break;
	case TARE_PAGES_THRASHING:
		faults->thrashing++;
		break;
	case TARE_PAGES_THROTTLING:
		loading_stamps_ns(l, device, TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END,
		                  &stamps);
		faults->throttled++;
		faults->throttled_ns = loading_cut(
		    faults->throttled_ns + loading_cut((int64_t)(stamps.end - stamps.start)));
		break;
	case TARE_PAGES_REMOTE_MAP:
		faults->remote_maps++;
		break;
	default:
		break;
	}
}

int loading_pages(struct loading *l, const struct tare_trace_pages *p)
{
	uint32_t queue = tare_id_map_find(&l->queue_of, p->queue);
	const struct load_track *track = loading_track(l, tare_trace_track(p->head));

	if (!track)
		return l->status;
	if (queue == TARE_ID_ABSENT || l->recording->queues[queue].device == TARE_NO_INDEX) {
		l->recording->unresolved++;
		return l->status;
	}
	l->recording->devices[l->recording->queues[queue].device].faults.known = true;
	if (tare_trace_detail(p->head) <= TARE_PAGES_BETWEEN)
		return add_move(l, p, queue, track);
	count(l, p, l->recording->queues[queue].device);
	return l->status;
}

void loading_finish_pages(struct loading *l)
{
	struct tare_recording *r = l->recording;

	for (size_t i = l->first_command; i < r->command_count; i++) {
		if (!tare_command_is_drivers(TARE_COMMAND(r, i)))
			continue;
		struct tare_recorded_command c = *TARE_COMMAND(r, i);
		if (c.start_ns != TARE_NO_TIME)
			c.exit_ns = c.start_ns;
		c.enter_ns = c.exit_ns;
		loading_put_command(l, i, &c);
	}
}
