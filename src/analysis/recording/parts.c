// SPDX-License-Identifier: Apache-2.0
// Commands that were spread over the sub-devices of a device: what each of these did of one. A
// part's stamps are of the command's clock, and lie within its times.
#include "analysis/recording/internal.h"
#include "analysis/recording/intervals.h"

#include <stdlib.h>
#include <string.h>

void loading_sub_device(struct loading *l, uint32_t device, uint32_t root, uint64_t number)
{
	struct tare_recorded_device *devices = l->recording->devices;
	uint64_t key = (uint64_t)root << 32 | (uint32_t)number;

	if (root == TARE_NO_INDEX || root == device || number > UINT16_MAX ||
	    devices[device].sub_device_of || tare_id_map_find(&l->part_of, key) != TARE_ID_ABSENT)
		return;
	if (!tare_id_map_put(&l->part_of, key, device)) {
		loading_fail(l, ENOMEM, "devices");
		return;
	}
	devices[device].sub_device_of = root + 1;
	devices[device].sub_device = (uint32_t)number;
	devices[root].sub_devices++;
}

// Of a device that has another number of sub-devices than there are parts nobody says which part is
// whose.
static uint32_t device_of_part(const struct loading *l, uint32_t root,
                               const struct tare_trace_part *p)
{
	uint64_t key = (uint64_t)root << 32 | tare_trace_detail(p->head);
	uint32_t found = tare_id_map_find(&l->part_of, key),
	         parts = tare_trace_record_flags(p->head);

	bool known = found != TARE_ID_ABSENT && l->recording->devices[root].sub_devices == parts;

	return known && tare_trace_detail(p->head) < parts ? found : TARE_NO_INDEX;
}

int loading_part(struct loading *l, const struct tare_trace_part *p)
{
	struct tare_recording *r = l->recording;
	uint64_t identity = loading_identity(p->command_track, p->command_number);
	uint32_t index = p->execution ? loading_run_of(l, identity, p->execution)
	                              : loading_find_pending(&l->pending, identity);
	uint32_t queue = index < r->command_count ? TARE_COMMAND(r, index)->queue : TARE_NO_INDEX;
	uint32_t root = queue < r->queue_count ? r->queues[queue].device : TARE_NO_INDEX;
	struct tare_recorded_part *part;
	uint32_t device;

	if (index == TARE_ID_ABSENT &&
	    loading_keep_early(l, p->execution, &(union tare_trace_record){ .part = *p }))
		return l->status;
	if (root == TARE_NO_INDEX) {
		r->unresolved++;
		return l->status;
	}
	device = device_of_part(l, root, p);
	if (device == TARE_NO_INDEX)
		return l->status;
	struct tare_command_stamps stamps = { .enter_ns = TARE_COMMAND(r, index)->enter_ns,
		                              .exit_ns = TARE_COMMAND(r, index)->exit_ns,
		                              .observed_ns = loading_ns(l, p->observed),
		                              .start = p->start,
		                              .end = p->end };
	loading_stamps_ns(l, root, TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END, &stamps);
	part = LOADING_ADD(l, parts, part_count, part_room);
	if (part)
		*part = (struct tare_recorded_part){ (int64_t)stamps.start, (int64_t)stamps.end,
			                             index, device };
	return l->status;
}

static bool map_part(const struct loading *l, struct tare_recorded_part *part)
{
	const struct tare_recording *r = l->recording;
	const struct tare_recorded_command *c = TARE_COMMAND(r, part->command);
	const struct tare_device_clock *clock =
	    l->clocks[r->queues[c->queue].device - l->first_device];
	int64_t start_ns, end_ns;

	if (!tare_command_timed(c) || !clock)
		return false;
	start_ns = tare_device_clock_map(clock, (uint64_t)part->start_ns);
	end_ns = tare_device_clock_map(clock, (uint64_t)part->end_ns);
	if (start_ns == TARE_NO_TIME || end_ns == TARE_NO_TIME)
		return false;
	part->start_ns = loading_cut(start_ns);
	part->end_ns = loading_cut(end_ns);
	return c->start_ns <= part->start_ns && part->start_ns <= part->end_ns &&
	       part->end_ns <= c->end_ns;
}

// By command, of one by sub-device: of what is said twice one is left.
static int compare(const void *a, const void *b)
{
	const struct tare_recorded_part *x = a, *y = b;

	if (x->command != y->command)
		return x->command < y->command ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

// How many of the sorted parts are of the first one's command, each of another sub-device.
static size_t group(struct tare_recorded_part *parts, size_t count, size_t *different)
{
	size_t i = 1;

	*different = 1;
	for (; i < count && parts[i].command == parts->command; i++)
		if (parts[i].device != parts[*different - 1].device)
			parts[(*different)++] = parts[i];
	return i;
}

void loading_finish_parts(struct loading *l)
{
	struct tare_recording *r = l->recording;
	size_t first = l->first_part, mapped = first, kept = first, different, count;

	for (size_t i = first; i < r->part_count; i++)
		if (map_part(l, &r->parts[i]))
			r->parts[mapped++] = r->parts[i];
	if (mapped > first)
		qsort(r->parts + first, mapped - first, sizeof *r->parts, compare);
	for (size_t i = first; i < mapped; i += count) {
		uint32_t root = r->devices[r->parts[i].device].sub_device_of - 1;
		count = group(r->parts + i, mapped - i, &different);
		// Records of some may be lost.
		if (different != r->devices[root].sub_devices)
			continue;
		memmove(r->parts + kept, r->parts + i, different * sizeof *r->parts);
		kept += different;
	}
	r->part_count = kept;
}

void loading_order_parts(struct tare_recording *r)
{
	if (r->part_count)
		qsort(r->parts, r->part_count, sizeof *r->parts, compare);
}
