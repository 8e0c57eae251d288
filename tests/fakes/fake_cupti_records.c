// SPDX-License-Identifier: Apache-2.0
// The records of fake_cupti.c: made of what fake_cuda.c has done, and written into the client's
// buffers.
#include "fake_cupti_internal.h"

#include <string.h>
#include <time.h>

static size_t by_version(const size_t sizes[3])
{
	return sizes[fake_cupti.script.version < ABI_CUPTI_VERSION_GRAPH_NODE ? 0
	             : fake_cupti.script.version < 130000                     ? 1
	                                                                      : 2];
}

// As they were up to CUDA 10, in CUDA 11.1 and in CUDA 13.
size_t fake_cupti_record_bytes(cupti_kind kind)
{
	switch (kind) {
	case ABI_CUPTI_KIND_CONCURRENT_KERNEL:
		return by_version((const size_t[]){ 144, 160, 216 });
	case ABI_CUPTI_KIND_MEMCPY:
		return by_version((const size_t[]){ 64, 72, 96 });
	case ABI_CUPTI_KIND_MEMCPY_PEER:
		return by_version((const size_t[]){ 72, 80, 96 });
	case ABI_CUPTI_KIND_MEMSET:
		return by_version((const size_t[]){ 64, 72, 88 });
	case ABI_CUPTI_KIND_PAGES:
		return by_version((const size_t[]){ 64, 64, 104 });
	case ABI_CUPTI_KIND_NVLINK:
		return by_version((const size_t[]){ 72, 96, 136 });
	case ABI_CUPTI_KIND_OVERHEAD:
		return by_version((const size_t[]){ 40, 40, 56 });
	case ABI_CUPTI_KIND_DRIVER:
		return sizeof(struct fake_cupti_api);
	case ABI_CUPTI_KIND_EXTERNAL_CORRELATION:
		return sizeof(struct cupti_external);
	default:
		return 0;
	}
}

// Of it, what is filled in here.
static size_t known_bytes(cupti_kind kind)
{
	return kind == ABI_CUPTI_KIND_CONCURRENT_KERNEL ? sizeof(struct cupti_kernel)
	       : kind == ABI_CUPTI_KIND_MEMCPY          ? sizeof(struct cupti_memcpy)
	       : kind == ABI_CUPTI_KIND_MEMCPY_PEER     ? sizeof(struct cupti_memcpy_peer)
	       : kind == ABI_CUPTI_KIND_PAGES           ? sizeof(struct cupti_pages)
	       : kind == ABI_CUPTI_KIND_MEMSET          ? sizeof(struct cupti_memset)
	       : kind == ABI_CUPTI_KIND_NVLINK          ? sizeof(struct cupti_nvlink)
	       : kind == ABI_CUPTI_KIND_OVERHEAD        ? sizeof(struct cupti_overhead)
	                                                : fake_cupti_record_bytes(kind);
}

struct full {
	uint8_t *buffer;
	size_t bytes, used;
};

static void *hand_back(void *context)
{
	struct full *full = context;
	fake_cupti.completed(NULL, 0, full->buffer, full->bytes, full->used);
	return NULL;
}

// Called with the lock, which it gives away meanwhile.
void fake_cupti_complete(void)
{
	struct full full = { fake_cupti.buffer, fake_cupti.bytes, fake_cupti.used };
	pthread_t thread;

	if (!fake_cupti.buffer)
		return;
	fake_cupti.buffer = NULL;
	fake_cupti.buffers--;
	pthread_mutex_unlock(&fake_cupti.lock);
	if (pthread_create(&thread, NULL, hand_back, &full) == 0)
		pthread_join(thread, NULL);
	pthread_mutex_lock(&fake_cupti.lock);
}

void fake_cupti_write_record(const void *record)
{
	cupti_kind kind = *(const cupti_kind *)record;
	size_t bytes = fake_cupti_record_bytes(kind),
	       limit = fake_cupti.script.fill ? (size_t)fake_cupti.script.fill : fake_cupti.bytes;
	size_t known = known_bytes(kind);

	if (fake_cupti.script.drop > 0) {
		fake_cupti.script.drop--;
		fake_cupti.dropped++;
		return;
	}
	if (fake_cupti.buffer &&
	    fake_cupti.used + bytes > (limit < fake_cupti.bytes ? limit : fake_cupti.bytes))
		fake_cupti_complete();
	if (!fake_cupti.buffer) {
		size_t most = 0;
		fake_cupti.requested(&fake_cupti.buffer, &fake_cupti.bytes, &most);
		fake_cupti.used = 0;
		fake_cupti.buffers += fake_cupti.buffer != NULL;
	}
	if (!fake_cupti.buffer || (uintptr_t)fake_cupti.buffer % 8 || fake_cupti.bytes < bytes) {
		fake_cupti.dropped++;
		return;
	}
	// What a reader takes beyond the record is nobody's.
	memset(fake_cupti.buffer + fake_cupti.used, 0xee, bytes);
	memcpy(fake_cupti.buffer + fake_cupti.used, record, known < bytes ? known : bytes);
	fake_cupti.used += bytes;
}

void fake_cupti_emit(const void *record)
{
	if (fake_cupti.script.late && fake_cupti.held_count < FAKE_CUPTI_HELD)
		memcpy(&fake_cupti.held[fake_cupti.held_count++], record,
		       known_bytes(*(const cupti_kind *)record));
	else
		fake_cupti_write_record(record);
}

static int64_t raw_ns(clockid_t id)
{
	struct timespec now;
	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// A time of the device's, which is CLOCK_MONOTONIC_RAW here, on the registered clock.
uint64_t fake_cupti_normal(int64_t ns)
{
	int64_t before = raw_ns(CLOCK_MONOTONIC_RAW);
	int64_t now = fake_cupti.clock ? (int64_t)fake_cupti.clock() : raw_ns(CLOCK_REALTIME);
	bool same = before <= now && now <= raw_ns(CLOCK_MONOTONIC_RAW);
	return (uint64_t)(same ? ns : now - (before - ns));
}

static uint32_t correlation_of(const struct fake_cuda_activity *what)
{
	return fake_cupti.enabled[ABI_CUPTI_KIND_DRIVER] ||
	               fake_cupti.enabled[ABI_CUPTI_KIND_RUNTIME] ||
	               (fake_cupti.calls_told && !fake_cupti.script.uncorrelated)
	           ? what->correlation
	           : 0;
}

// A name lives as long as the process.
static const char *kept_name(const char *name)
{
	static const char *kept[256];
	size_t i = 0;
	while (i < sizeof kept / sizeof *kept - 1 && kept[i] && strcmp(kept[i], name) != 0)
		i++;
	if (!kept[i])
		kept[i] = strdup(name);
	return kept[i];
}

uint32_t fake_cupti_stream_id(cu_stream stream)
{
	return (uint32_t)((uintptr_t)stream >> 4);
}

static int32_t size(uint32_t told)
{
	return told ? (int32_t)told : 1;
}

// Pages that moved to a device did so for a group of faults; of the host's faults each page is one.
static void see_migration(const struct fake_cuda_activity *what)
{
	bool to_device = what->copy_kind == 1;
	uint64_t start = fake_cupti_normal(what->start_ns);
	struct cupti_pages moved = { .kind = ABI_CUPTI_KIND_PAGES,
		                     .value = what->bytes,
		                     .start = start,
		                     .counter = to_device ? ABI_CUPTI_PAGES_TO_DEVICE
		                                          : ABI_CUPTI_PAGES_TO_HOST,
		                     .end = start + (uint64_t)(what->end_ns - what->start_ns),
		                     .address = 0x7000,
		                     .source = to_device ? 0 : what->device,
		                     .destination = to_device ? what->device : 0,
		                     .cause = 2 };
	struct cupti_pages faults = moved;
	faults.counter = ABI_CUPTI_PAGES_DEVICE_FAULTS;
	faults.source = what->device;
	faults.value = 3;
	if (!fake_cupti.enabled[ABI_CUPTI_KIND_PAGES])
		return;
	if (fake_cupti.counters >> moved.counter & 1)
		fake_cupti_emit(&moved);
	if (to_device && fake_cupti.counters >> faults.counter & 1)
		fake_cupti_emit(&faults);
}

static void see_copy(const struct fake_cuda_activity *what, uint32_t device, int copy_kind,
                     uint64_t start, uint64_t end, uint32_t correlation)
{
	fake_cupti_emit(&(struct cupti_memcpy){ .kind = ABI_CUPTI_KIND_MEMCPY,
	                                        .copy_kind = (uint8_t)copy_kind,
	                                        .source_kind = copy_kind == 1 ? 2 : 3,
	                                        .destination_kind = copy_kind == 2 ? 2 : 3,
	                                        .bytes = what->bytes,
	                                        .start = start,
	                                        .end = end,
	                                        .device = device,
	                                        .stream = fake_cupti_stream_id(what->stream),
	                                        .correlation = correlation,
	                                        .graph_node = what->graph_node });
}

void fake_cupti_see(const struct fake_cuda_activity *what)
{
	if (what->kind == FAKE_CUDA_MIGRATION) {
		pthread_mutex_lock(&fake_cupti.lock);
		see_migration(what);
		pthread_mutex_unlock(&fake_cupti.lock);
		return;
	}
	pthread_mutex_lock(&fake_cupti.lock);
	uint64_t start = fake_cupti_normal(what->start_ns);
	uint64_t end = start + (uint64_t)(what->end_ns - what->start_ns);
	bool peer = what->copy_kind == 10;
	cupti_kind kind = what->kind == FAKE_CUDA_KERNEL ? ABI_CUPTI_KIND_CONCURRENT_KERNEL
	                  : what->kind == FAKE_CUDA_FILL ? ABI_CUPTI_KIND_MEMSET
	                  : peer                         ? ABI_CUPTI_KIND_MEMCPY_PEER
	                                                 : ABI_CUPTI_KIND_MEMCPY;
	uint32_t stream = fake_cupti_stream_id(what->stream), correlation = correlation_of(what);
	bool timed = fake_cupti.script.timeless == 0;

	if (!fake_cupti.enabled[kind]) {
		pthread_mutex_unlock(&fake_cupti.lock);
		return;
	}
	if (!timed) {
		fake_cupti.script.timeless--;
		start = end = 0;
	}
	if (kind == ABI_CUPTI_KIND_CONCURRENT_KERNEL)
		fake_cupti_emit(&(struct cupti_kernel){
		    .kind = kind,
		    .start = start,
		    .end = end,
		    .completed = end,
		    .device = what->device,
		    .stream = stream,
		    .name = kept_name(what->name),
		    .grid = { size(what->grid[0]), size(what->grid[1]), size(what->grid[2]) },
		    .block = { size(what->block[0]), size(what->block[1]), size(what->block[2]) },
		    .registers = 32,
		    .static_shared = fake_cupti.script.unshared ? 0 : 256,
		    .local_a_thread = 16,
		    .dynamic_shared = (int32_t)what->shared_bytes,
		    .queued = timed && fake_cupti.latency ? start - 2000 : 0,
		    .submitted = timed && fake_cupti.latency ? start - 1000 : 0,
		    .correlation = correlation,
		    .graph_node = what->graph_node });
	else if (kind == ABI_CUPTI_KIND_MEMSET)
		fake_cupti_emit(&(struct cupti_memset){ .kind = kind,
		                                        .bytes = what->bytes,
		                                        .start = start,
		                                        .end = end,
		                                        .device = what->device,
		                                        .stream = stream,
		                                        .correlation = correlation,
		                                        .graph_node = what->graph_node });
	else if (kind == ABI_CUPTI_KIND_MEMCPY_PEER)
		fake_cupti_emit(&(struct cupti_memcpy_peer){ .kind = kind,
		                                             .copy_kind = 10,
		                                             .bytes = what->bytes,
		                                             .start = start,
		                                             .end = end,
		                                             .device = what->device,
		                                             .stream = stream,
		                                             .source_kind = 3,
		                                             .destination_kind = 3,
		                                             .source_device = what->ends[0],
		                                             .destination_device = what->ends[1],
		                                             .correlation = correlation,
		                                             .graph_node = what->graph_node });
	else if (what->copy_kind == FAKE_CUDA_STAGED) {
		// As a driver does it: out of the one and into the other, piece by piece.
		uint64_t third = (end - start) / 3;
		see_copy(what, what->ends[0], 2, start, end - third, correlation);
		see_copy(what, what->ends[1], 1, start ? start + third : 0, end, correlation);
	} else
		see_copy(what, what->device, what->copy_kind, start, end, correlation);
	pthread_mutex_unlock(&fake_cupti.lock);
}
