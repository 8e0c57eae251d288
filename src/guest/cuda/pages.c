// SPDX-License-Identifier: Apache-2.0
// What the driver does with managed memory by itself: pages that it moves between host and device,
// and the faults that make it. CUPTI is asked for it when the program allocates the first such
// memory.
#include "guest/cuda/cuda.h"

_Atomic bool cuda_pages_told;

static const struct {
	uint32_t counter; // as CUPTI numbers it
	enum tare_trace_pages_what what;
} counters[] = {
	{ ABI_CUPTI_PAGES_TO_DEVICE, TARE_PAGES_TO_DEVICE },
	{ ABI_CUPTI_PAGES_TO_HOST, TARE_PAGES_FROM_DEVICE },
	{ ABI_CUPTI_PAGES_BETWEEN_DEVICES, TARE_PAGES_BETWEEN },
	{ ABI_CUPTI_PAGES_HOST_FAULTS, TARE_PAGES_HOST_FAULTS },
	{ ABI_CUPTI_PAGES_DEVICE_FAULTS, TARE_PAGES_DEVICE_FAULTS },
	{ ABI_CUPTI_PAGES_THRASHING, TARE_PAGES_THRASHING },
	{ ABI_CUPTI_PAGES_THROTTLING, TARE_PAGES_THROTTLING },
	{ ABI_CUPTI_PAGES_REMOTE_MAP, TARE_PAGES_REMOTE_MAP },
};
enum { COUNTERS = sizeof counters / sizeof *counters };

// One counter at a time: what an older library does not know is not to cost us the others.
void cuda_pages_begin(cu_context context)
{
	static _Atomic bool begun;
	uint32_t device = 0, known = 0;
	if (!cuda_timed || !cuda_cupti.cuptiActivityConfigureUnifiedMemoryCounter ||
	    !cuda_cupti.cuptiGetDeviceId ||
	    cuda_cupti.cuptiGetDeviceId(context, &device) != ABI_CUPTI_SUCCESS ||
	    atomic_exchange(&begun, true))
		return;
	for (size_t i = 0; i < COUNTERS; i++) {
		cupti_pages_config config = { ABI_CUPTI_PAGES_ALL_DEVICES, counters[i].counter,
			                      device, 1 };
		known += cuda_cupti.cuptiActivityConfigureUnifiedMemoryCounter(&config, 1) ==
		         ABI_CUPTI_SUCCESS;
	}
	if (known && cuda_cupti.cuptiActivityEnable(ABI_CUPTI_KIND_PAGES) == ABI_CUPTI_SUCCESS)
		atomic_store(&cuda_pages_told, true);
}

// Of which device it is told: of a move the device's end, of a fault where it was.
static uint32_t queue_of(const struct cupti_pages *record, enum tare_trace_pages_what what)
{
	bool destination = what == TARE_PAGES_TO_DEVICE || what == TARE_PAGES_BETWEEN ||
	                   what == TARE_PAGES_REMOTE_MAP;
	// The host's faults are nobody's, and those that thrash are told as a set.
	bool any = what == TARE_PAGES_HOST_FAULTS || what == TARE_PAGES_THRASHING ||
	           what == TARE_PAGES_REMOTE_MAP;
	return cuda_pages_queue(destination ? record->destination : record->source, any);
}

static bool has_end(enum tare_trace_pages_what what)
{
	return what != TARE_PAGES_HOST_FAULTS && what != TARE_PAGES_THRASHING &&
	       what != TARE_PAGES_REMOTE_MAP;
}

void cuda_pages_tell(struct guest_thread *thread, const struct cupti_pages *told)
{
	union tare_trace_record *record;
	enum tare_trace_pages_what what;
	size_t i = 0;
	uint32_t queue;
	while (i < COUNTERS && counters[i].counter != told->counter)
		i++;
	if (i == COUNTERS || !told->start)
		return;
	what = counters[i].what;
	queue = queue_of(told, what);
	record = queue ? guest_event(thread) : NULL;
	if (!record)
		return;
	record->pages = (struct tare_trace_pages){
		.queue = queue,
		.cause = told->cause,
		// Of a fault of the host CUPTI tells the instruction.
		.value = what == TARE_PAGES_HOST_FAULTS ? 1 : told->value,
		.start = told->start,
		.end = has_end(what) && told->end > told->start ? told->end : told->start,
		.address = told->address,
		.observed = guest_ticks()
	};
	guest_commit(record, tare_trace_head(TARE_TRACE_PAGES, 0, (uint16_t)what, thread->track));
}
