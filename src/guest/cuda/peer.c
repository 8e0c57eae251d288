// SPDX-License-Identifier: Apache-2.0
// Copies from one device's memory to another's: which two they are, and what lies between them. The
// driver is asked whose memory an address is, for a copy may name any; only where there are several
// devices.
#include "guest/cuda/cuda.h"

#include <string.h>

enum { MOST_DEVICES = 64, ACCESS_SUPPORTED = 2, UNKNOWN = -2 };

// Pairs that were told, a bit each of the other.
static _Atomic uint64_t told[MOST_DEVICES];
static _Atomic uint32_t told_process;

static bool are_several(void)
{
	static _Atomic int devices; // 1 + how many; 0: not asked yet
	int count = atomic_load_explicit(&devices, memory_order_relaxed);
	if (CUDA_LIKELY(count))
		return count > 2;
	if (!cuda_driver.cuDeviceGetCount || cuda_driver.cuDeviceGetCount(&count) != ABI_SUCCESS)
		count = 0;
	atomic_store_explicit(&devices, 1 + count, memory_order_relaxed);
	return count > 1;
}

// The device whose memory that is; less than 0: of none, an array, or managed memory, which is now
// here and now there.
static int ordinal_at(uint64_t address)
{
	enum { IS_MANAGED = 8, DEVICE_ORDINAL = 9 };
	int attributes[] = { IS_MANAGED, DEVICE_ORDINAL };
	uint32_t managed = 0;
	int ordinal = UNKNOWN;
	void *values[] = { &managed, &ordinal };
	if (!address || !cuda_driver.cuPointerGetAttributes ||
	    cuda_driver.cuPointerGetAttributes(2, attributes, values, address) != ABI_SUCCESS)
		return UNKNOWN;
	return !(managed & 0xff) && ordinal < MOST_DEVICES ? ordinal : UNKNOWN;
}

static void write_link(struct guest_thread *thread, enum tare_trace_link_kind kind,
                       const struct cuda_recorded_device *first,
                       const struct cuda_recorded_device *second, uint64_t count)
{
	union tare_trace_record *record = guest_event(thread);
	if (!record)
		return;
	record->link = (struct tare_trace_link){ .ticks = guest_ticks(),
		                                 .first = (uintptr_t)first,
		                                 .second = (uintptr_t)second,
		                                 .count = count };
	guest_commit(record, tare_trace_head(TARE_TRACE_LINK, TARE_TRACE_CUDA, (uint16_t)kind,
	                                     thread->track));
}

void cuda_tell_link(struct guest_thread *thread, const struct cuda_recorded_device *source,
                    const struct cuda_recorded_device *destination)
{
	uint32_t process = atomic_load(&guest_process);
	uint64_t bit = UINT64_C(1) << destination->ordinal;
	int can = 0;
	if (atomic_exchange(&told_process, process) != process)
		for (int i = 0; i < MOST_DEVICES; i++)
			atomic_store(&told[i], 0);
	if (atomic_fetch_or(&told[source->ordinal], bit) & bit)
		return;
	if (cuda_driver.cuDeviceGetP2PAttribute &&
	    cuda_driver.cuDeviceGetP2PAttribute(&can, ACCESS_SUPPORTED, source->ordinal,
	                                        destination->ordinal) == ABI_SUCCESS)
		write_link(thread, can ? TARE_LINK_DIRECT : TARE_LINK_THROUGH_HOST, source,
		           destination, 0);
	// Its records are of all links of the machine, and come once.
	if (cuda_timed)
		cuda_cupti.cuptiActivityEnable(ABI_CUPTI_KIND_NVLINK);
}

struct cuda_peers cuda_peers_of(uint64_t to, uint64_t from)
{
	struct cuda_peers none = { NULL, NULL }, peers;
	int source, destination;
	if (!are_several())
		return none;
	source = ordinal_at(from);
	destination = ordinal_at(to);
	if (source < 0 || destination < 0 || source == destination)
		return none;
	peers = (struct cuda_peers){ cuda_device_at((uint32_t)source),
		                     cuda_device_at((uint32_t)destination) };
	return peers.source && peers.destination ? peers : none;
}

void cuda_write_peers(struct guest_thread *thread, uint32_t number, const struct cuda_peers *peers)
{
	union tare_trace_record *record = guest_event(thread);
	if (!record)
		return;
	record->peer = (struct tare_trace_peer){ .number = number,
		                                 .source = (uintptr_t)peers->source,
		                                 .destination = (uintptr_t)peers->destination };
	guest_commit(record, tare_trace_head(TARE_TRACE_PEER, TARE_TRACE_CUDA, 0, thread->track));
	cuda_tell_link(thread, peers->source, peers->destination);
}

// The device that has this UUID, of those that are known.
static struct cuda_recorded_device *device_of_uuid(const uint8_t *uuid)
{
	for (uint32_t i = 0; i < MOST_DEVICES; i++) {
		struct cuda_recorded_device *device = cuda_device_known(i);
		cu_uuid own;
		if (device && cuda_driver.cuDeviceGetUuid_v2 &&
		    cuda_driver.cuDeviceGetUuid_v2(&own, device->ordinal) == ABI_SUCCESS &&
		    memcmp(own.bytes, uuid, sizeof own.bytes) == 0)
			return device;
	}
	return NULL;
}

void cuda_nvlink_tell(struct guest_thread *thread, const struct cupti_nvlink *record)
{
	struct cuda_recorded_device *first, *second;
	if (record->types[0] != ABI_CUPTI_NVLINK_GPU || record->types[1] != ABI_CUPTI_NVLINK_GPU)
		return;
	first = device_of_uuid(record->ends[0]);
	second = device_of_uuid(record->ends[1]);
	if (first && second && first != second)
		write_link(thread, TARE_LINK_NVLINK, first, second, record->count);
}
