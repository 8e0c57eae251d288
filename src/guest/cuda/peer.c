// SPDX-License-Identifier: Apache-2.0
// Copies from one device's memory to another's: which two they are, and what lies between them. The
// driver is asked whose memory an address is, for a copy may name any; only where there are several
// devices. Where the program has not enabled the access, a copy goes through the host's memory:
// then CUPTI has two records of it, out of the one device and into the other.
#include "guest/cuda/cuda.h"

#include <string.h>

enum { MOST_DEVICES = CUDA_MOST_DEVICES, ACCESS_SUPPORTED = 2, UNKNOWN = -2 };

// Pairs that were told, a bit each of the other: by the best way, and through the host.
static _Atomic uint64_t told[2][MOST_DEVICES];
// Pairs whose copies were told to go directly, and how many NVLinks are between them.
static _Atomic uint64_t direct[MOST_DEVICES];
static _Atomic uint32_t nvlinks[MOST_DEVICES][MOST_DEVICES];
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

// Less than 0: the driver does not say.
static int can_reach(const struct cuda_recorded_device *source,
                     const struct cuda_recorded_device *destination)
{
	int can;
	if (!cuda_driver.cuDeviceGetP2PAttribute ||
	    cuda_driver.cuDeviceGetP2PAttribute(&can, ACCESS_SUPPORTED, source->ordinal,
	                                        destination->ordinal) != ABI_SUCCESS)
		return -1;
	return can != 0;
}

void cuda_links_in_child(void)
{
	for (int i = 0; i < MOST_DEVICES; i++) {
		atomic_store(&told[false][i], 0);
		atomic_store(&told[true][i], 0);
		atomic_store(&direct[i], 0);
	}
}

void cuda_tell_link(struct guest_thread *thread, const struct cuda_recorded_device *source,
                    const struct cuda_recorded_device *destination, bool staged)
{
	uint32_t process = atomic_load(&guest_process), count;
	int can;
	uint64_t bit = UINT64_C(1) << destination->ordinal;
	if (atomic_exchange(&told_process, process) != process)
		cuda_links_in_child();
	if (atomic_fetch_or(&told[staged][source->ordinal], bit) & bit)
		return;
	can = staged ? 0 : can_reach(source, destination);
	if (can <= 0) {
		if (can == 0)
			write_link(thread, TARE_LINK_THROUGH_HOST, source, destination, 0);
		return;
	}
	atomic_fetch_or(&direct[source->ordinal], bit);
	count = atomic_load(&nvlinks[source->ordinal][destination->ordinal]);
	write_link(thread, count ? TARE_LINK_NVLINK : TARE_LINK_DIRECT, source, destination, count);
}

void cuda_ends_seen(struct guest_thread *thread, uint16_t ends, bool staged)
{
	const struct cuda_recorded_device *source = cuda_device_known(ends >> 6 & 63),
	                                  *destination = cuda_device_known(ends & 63);
	if (source && destination)
		cuda_tell_link(thread, source, destination, staged);
}

// CUPTI's records are of all links of the machine, and come once. Not all machines have them.
static void ask_for_nvlinks(const struct cuda_peers *peers)
{
	static _Atomic uint64_t asked[MOST_DEVICES];
	cu_device source = peers->source->ordinal, destination = peers->destination->ordinal;
	uint64_t bit = UINT64_C(1) << destination;
	if (CUDA_LIKELY(atomic_load_explicit(&asked[source], memory_order_relaxed) & bit))
		return;
	cuda_nvlinks_of(source);
	cuda_nvlinks_of(destination);
	atomic_fetch_or(&asked[source], bit);
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
	if (!peers.source || !peers.destination)
		return none;
	ask_for_nvlinks(&peers);
	return peers;
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
	// With times, what is seen of it tells.
	if (!cuda_timed)
		cuda_tell_link(thread, peers->source, peers->destination, false);
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

static void count_told(struct guest_thread *thread, const struct cuda_recorded_device *source,
                       const struct cuda_recorded_device *destination, uint32_t count)
{
	atomic_store(&nvlinks[source->ordinal][destination->ordinal], count);
	if (count && atomic_load(&direct[source->ordinal]) >> destination->ordinal & 1)
		write_link(thread, TARE_LINK_NVLINK, source, destination, count);
}

void cuda_nvlink_tell(struct guest_thread *thread, const struct cupti_nvlink *record)
{
	struct cuda_recorded_device *first, *second;
	if (record->types[0] != ABI_CUPTI_NVLINK_GPU || record->types[1] != ABI_CUPTI_NVLINK_GPU)
		return;
	first = device_of_uuid(record->ends[0]);
	second = device_of_uuid(record->ends[1]);
	if (first && second && first != second) {
		count_told(thread, first, second, record->count);
		count_told(thread, second, first, record->count);
	}
}

void cuda_links_at_exit(void)
{
	struct guest_thread *thread = NULL;
	uint32_t before = 0;
	for (uint32_t pair = 0; pair < MOST_DEVICES * MOST_DEVICES; pair++) {
		uint32_t from = pair / MOST_DEVICES, to = pair % MOST_DEVICES;
		if (!(atomic_load(&direct[from]) >> to & 1) || atomic_load(&nvlinks[from][to]) ||
		    guest_options.strict || !atomic_load(&guest_alive))
			continue;
		// In the child of a fork asking for a thread would begin a file.
		if (!thread) {
			thread = guest_thread();
			if (!thread)
				return;
			before = guest_aside_begin(thread, TARE_TRACE_CUDA);
		}
		count_told(thread, cuda_device_known(from), cuda_device_known(to),
		           cuda_nvlinks((cu_device)from, (cu_device)to));
	}
	if (thread)
		guest_aside_end(thread, before);
}
