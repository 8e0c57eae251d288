// SPDX-License-Identifier: Apache-2.0
// What each sub-device did of a command that was given to the whole device, where the driver
// spreads it over several. An event tells that of the last command that has signalled it, and only
// to the host. So it is compared with what is known of the command: what another one did is not
// told.
#include "guest/levelzero/ze.h"

// Whether the parts together began and ended when the command did.
static bool are_of(const struct ze_device *device, const ze_kernel_timestamp_result_t *whole,
                   const ze_kernel_timestamp_result_t *parts, uint32_t count)
{
	uint64_t mask = device->stamp_bits > 0 && device->stamp_bits < 64
	                    ? (UINT64_C(1) << device->stamp_bits) - 1
	                    : UINT64_MAX;
	uint64_t begin = whole->global.kernelStart,
	         length = (whole->global.kernelEnd - begin) & mask;
	uint64_t first = UINT64_MAX, last = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t from = (parts[i].global.kernelStart - begin) & mask,
		         to = (parts[i].global.kernelEnd - begin) & mask;
		if (from > to)
			return false;
		first = from < first ? from : first;
		last = to > last ? to : last;
	}
	return first == 0 && last == length;
}

void ze_parts_ask(const struct ze_list *list, ze_event_handle_t event, struct ze_parts *parts)
{
	const struct ze_calls *call = &list->driver->call;
	parts->count = 0;
	if (ZE_LIKELY(list->device == NULL || list->device->sub_devices == 0) ||
	    call->zeEventQueryTimestampsExp == NULL)
		return;
	ze_device_handle_t device = list->device->handle;
	uint32_t count = 0;
	if (call->zeEventQueryTimestampsExp(event, device, &count, NULL) != ZE_RESULT_SUCCESS ||
	    count < 2 || count > ZE_MOST_PARTS)
		return;
	uint32_t given = count;
	if (call->zeEventQueryTimestampsExp(event, device, &given, parts->of) ==
	        ZE_RESULT_SUCCESS &&
	    given == count)
		parts->count = count;
}

void ze_write_parts(struct guest_thread *thread, const struct ze_list *list,
                    const struct ze_parts *parts, uint32_t track, uint32_t number,
                    uint64_t execution, const ze_kernel_timestamp_result_t *whole)
{
	struct ze_device *device = list->device;
	if (ZE_LIKELY(parts->count == 0) || number == 0 ||
	    !are_of(device, whole, parts->of, parts->count))
		return;
	ze_sub_devices_define(device);
	for (uint32_t i = 0; i < parts->count; i++) {
		const ze_kernel_timestamp_result_t *part = &parts->of[i];
		union tare_trace_record *record = guest_event(thread);
		if (record == NULL)
			return;
		record->part = (struct tare_trace_part){ .command_track = track,
			                                 .command_number = number,
			                                 .start = part->global.kernelStart,
			                                 .end = part->global.kernelEnd,
			                                 .active_start = part->context.kernelStart,
			                                 .active_end = part->context.kernelEnd,
			                                 .observed = guest_ticks(),
			                                 .execution = execution };
		guest_commit(record, tare_trace_head(TARE_TRACE_PART, (uint8_t)parts->count,
		                                     (uint16_t)i, thread->track));
	}
}
