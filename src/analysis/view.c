// SPDX-License-Identifier: Apache-2.0
#include "analysis/recording.h"

#include <fnmatch.h>

struct tare_view tare_view_all(const struct tare_recording *recording)
{
	return (struct tare_view){ .from_ns = recording->start_ns, .to_ns = recording->end_ns,
		.process = TARE_NO_INDEX, .device = TARE_NO_INDEX };
}

bool tare_view_has_process(const struct tare_view *view, uint32_t process)
{
	return view->process == TARE_NO_INDEX || view->process == process;
}

bool tare_view_has_device(const struct tare_recording *recording, const struct tare_view *view,
                          uint32_t device)
{
	const struct tare_recorded_device *d;

	if (device == TARE_NO_INDEX)
		return view->device == TARE_NO_INDEX;
	d = &recording->devices[device];
	return tare_view_has_process(view, d->process) &&
	       (view->device == TARE_NO_INDEX || view->device == d->same_as);
}

uint32_t tare_command_device(const struct tare_recording *recording,
                             const struct tare_recorded_command *command)
{
	uint32_t device = TARE_NO_INDEX;

	if (command->queue != TARE_NO_INDEX)
		device = recording->queues[command->queue].device;
	return device == TARE_NO_INDEX ? device : recording->devices[device].same_as;
}

// Intervals that only touch do not overlap, but a moment at the view's start belongs to it.
static bool overlaps(const struct tare_view *view, int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns)
		return from_ns >= view->from_ns && from_ns < view->to_ns;
	return from_ns < view->to_ns && to_ns > view->from_ns;
}

bool tare_view_has_command(const struct tare_recording *recording, const struct tare_view *view,
                           const struct tare_recorded_command *command)
{
	uint32_t process = recording->threads[command->thread].process;

	if (!tare_view_has_process(view, process))
		return false;
	if (view->device != TARE_NO_INDEX &&
	    tare_command_device(recording, command) != view->device)
		return false;
	if (view->kernel && command->kind == TARE_KIND_KERNEL) {
		const char *name = command->object == TARE_NO_INDEX ?
		                           "" : recording->kernels[command->object].name;
		if (fnmatch(view->kernel, name, 0) != 0)
			return false;
	}
	return overlaps(view, command->enter_ns, command->exit_ns) ||
	       (command->start_ns != TARE_NO_TIME &&
	        overlaps(view, command->start_ns, command->end_ns));
}
