// SPDX-License-Identifier: Apache-2.0
// Devices, streams and kernels: what they are called, and what they say of themselves.
#include "guest/cuda/cuda.h"

#include <stdio.h>
#include <string.h>

enum {
	PAIRS_NS = 20000000,
	TEXT_BYTES = 256,
	NVIDIA_GPU = 4,
	STREAM_NON_BLOCKING = 1,
	WARP_ITEMS = 32
};

static struct cuda_recorded_device devices[CUDA_MOST_DEVICES];
static const char platform; // its address is the handle
static _Atomic uint32_t platform_process;
static struct guest_map *streams, *kernels;
static guest_lock lock; // of what is made; never across a call

// Devices, default streams, functions: they were there before any call, and several threads may be
// the first to name them. What a handle meant later is told with the call that first names it.
static uint64_t begin_ticks;

void cuda_objects_now(void)
{
	begin_ticks = guest_ticks();
}

bool cuda_objects_begin(void)
{
	streams = guest_map_new();
	kernels = guest_map_new();
	guest_lock_register(&lock);
	return streams && kernels && cuda_order_begin();
}

static uint32_t text_of(const char *text)
{
	return guest_text(text, strlen(text));
}

// ---- devices

static void define_platform(uint32_t process)
{
	int version = 0;
	char text[32];
	if (atomic_exchange(&platform_process, process) == process)
		return;
	cuda_define(begin_ticks, TARE_OBJECT_PLATFORM, &platform, NULL, NULL, 0, 0,
	            text_of("NVIDIA CUDA"), 0);
	cuda_fact(TARE_TRACE_FACT_VENDOR, &platform, 0, text_of("NVIDIA"));
	if (cuda_driver.cuDriverGetVersion &&
	    cuda_driver.cuDriverGetVersion(&version) == ABI_SUCCESS) {
		snprintf(text, sizeof text, "CUDA %d.%d", version / 1000, version % 1000 / 10);
		cuda_fact(TARE_TRACE_FACT_API_VERSION, &platform, 0, text_of(text));
	}
	if (cuda_library[0])
		cuda_fact(TARE_TRACE_FACT_LIBRARY, &platform, 0, text_of(cuda_library));
	cuda_variables_define(&platform);
}

static void attribute_fact(const struct cuda_recorded_device *device, enum tare_trace_fact fact,
                           cu_attribute attribute, uint64_t factor)
{
	int value = 0;
	if (cuda_driver.cuDeviceGetAttribute &&
	    cuda_driver.cuDeviceGetAttribute(&value, attribute, device->ordinal) == ABI_SUCCESS &&
	    value >= 0)
		cuda_fact(fact, device, (uint64_t)value * factor, 0);
}

static void occupancy_facts(const struct cuda_recorded_device *device)
{
	static const struct {
		enum tare_trace_fact fact;
		cu_attribute attribute;
	} facts[] = {
		{ TARE_TRACE_FACT_UNIT_ITEMS, ABI_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR },
		{ TARE_TRACE_FACT_UNIT_GROUPS, ABI_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR },
		{ TARE_TRACE_FACT_UNIT_REGISTERS, ABI_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR },
		{ TARE_TRACE_FACT_UNIT_LOCAL_BYTES,
		  ABI_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR },
		{ TARE_TRACE_FACT_GROUP_REGISTERS, ABI_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK },
		{ TARE_TRACE_FACT_GROUP_RESERVED_BYTES,
		  ABI_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK },
	};
	int major = 0, minor = 0;
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		attribute_fact(device, facts[i].fact, facts[i].attribute, 1);
	if (cuda_driver.cuDeviceGetAttribute &&
	    cuda_driver.cuDeviceGetAttribute(&major, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
	                                     device->ordinal) == ABI_SUCCESS &&
	    cuda_driver.cuDeviceGetAttribute(&minor, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
	                                     device->ordinal) == ABI_SUCCESS)
		cuda_fact(TARE_TRACE_FACT_CAPABILITY, device, (uint64_t)(100 * major + minor), 0);
}

static void uuid_fact(const struct cuda_recorded_device *device)
{
	static const char digits[] = "0123456789abcdef";
	cu_uuid uuid;
	char text[32];
	if (!cuda_driver.cuDeviceGetUuid_v2 ||
	    cuda_driver.cuDeviceGetUuid_v2(&uuid, device->ordinal) != ABI_SUCCESS)
		return;
	for (int i = 0; i < 16; i++) {
		text[2 * i] = digits[(unsigned char)uuid.bytes[i] >> 4];
		text[2 * i + 1] = digits[(unsigned char)uuid.bytes[i] & 15];
	}
	cuda_fact(TARE_TRACE_FACT_UUID, device, 0, guest_text(text, sizeof text));
}

static void pci_fact(const struct cuda_recorded_device *device)
{
	char text[16] = "";
	if (!cuda_driver.cuDeviceGetPCIBusId ||
	    cuda_driver.cuDeviceGetPCIBusId(text, sizeof text, device->ordinal) != ABI_SUCCESS)
		return;
	for (char *at = text; *at; at++)
		if (*at >= 'A' && *at <= 'F')
			*at = (char)(*at - 'A' + 'a');
	cuda_fact(TARE_TRACE_FACT_PCI, device, 0, text_of(text));
}

// CUPTI puts the device's times on the clock that it is given, which is CLOCK_MONOTONIC_RAW.
static void clock_facts(const struct cuda_recorded_device *device)
{
	cuda_fact(TARE_TRACE_FACT_TIMER_HZ, device, 1000000000, 0);
	cuda_fact(TARE_TRACE_FACT_STAMP_BITS, device, 64, 0);
	cuda_fact(TARE_TRACE_FACT_PAIR_BITS, device, 64, 0);
	cuda_fact(TARE_TRACE_FACT_TIMER_RESOLUTION_NS, device, 1000, 0);
}

static void define_device(const struct cuda_recorded_device *device)
{
	char name[TEXT_BYTES] = "", version[CUDA_VERSION_BYTES];
	size_t bytes = 0;
	if (cuda_driver.cuDeviceGetName)
		cuda_driver.cuDeviceGetName(name, sizeof name - 1, device->ordinal);
	if (cuda_driver.cuDeviceTotalMem_v2)
		cuda_driver.cuDeviceTotalMem_v2(&bytes, device->ordinal);
	cuda_define(begin_ticks, TARE_OBJECT_DEVICE, device, &platform, NULL, 0, bytes,
	            text_of(name), device->number);
	cuda_fact(TARE_TRACE_FACT_VENDOR, device, 0, text_of("NVIDIA"));
	if (cuda_driver_version(version)[0])
		cuda_fact(TARE_TRACE_FACT_DRIVER_VERSION, device, 0, text_of(version));
	cuda_fact(TARE_TRACE_FACT_DEVICE_TYPE, device, NVIDIA_GPU, 0);
	attribute_fact(device, TARE_TRACE_FACT_COMPUTE_UNITS, ABI_ATTRIBUTE_MULTIPROCESSOR_COUNT,
	               1);
	attribute_fact(device, TARE_TRACE_FACT_CLOCK_HZ, ABI_ATTRIBUTE_CLOCK_RATE, 1000);
	attribute_fact(device, TARE_TRACE_FACT_GROUP_LIMIT, ABI_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1);
	occupancy_facts(device);
	attribute_fact(device, TARE_TRACE_FACT_UNIFIED_MEMORY, ABI_ATTRIBUTE_INTEGRATED, 1);
	attribute_fact(device, TARE_TRACE_FACT_COPY_ENGINES, ABI_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1);
	clock_facts(device);
	uuid_fact(device);
	pci_fact(device);
}

// Without CUPTI of the thread's current one only, which calls are about.
static bool ordinal_of(cu_context context, uint32_t *ordinal)
{
	cu_device current = -1;
	if (!context)
		return false;
	if (!cuda_fronted)
		return cuda_cupti.cuptiGetDeviceId &&
		       cuda_cupti.cuptiGetDeviceId(context, ordinal) == ABI_CUPTI_SUCCESS;
	if (!cuda_driver.cuCtxGetDevice || cuda_driver.cuCtxGetDevice(&current) != ABI_SUCCESS)
		return false;
	*ordinal = (uint32_t)current;
	return true;
}

struct cuda_recorded_device *cuda_device_known(uint32_t ordinal)
{
	bool known = ordinal < CUDA_MOST_DEVICES &&
	             atomic_load(&devices[ordinal].process) == atomic_load(&guest_process);
	return known ? &devices[ordinal] : NULL;
}

struct cuda_recorded_device *cuda_device_at(uint32_t ordinal)
{
	uint32_t process = atomic_load(&guest_process);
	struct cuda_recorded_device *device;
	if (ordinal >= CUDA_MOST_DEVICES)
		return NULL;
	device = &devices[ordinal];
	guest_hold(&lock);
	if (!device->known) {
		device->ordinal = (cu_device)ordinal;
		device->number = guest_device_number();
		device->known = true;
	}
	guest_let_go(&lock);
	if (atomic_exchange(&device->process, process) != process) {
		struct guest_thread *thread = guest_thread();
		define_platform(process);
		define_device(device);
		if (thread)
			cuda_clock_pairs(thread, true);
	}
	return device;
}

struct cuda_recorded_device *cuda_device_of(cu_context context)
{
	uint32_t ordinal = 0;
	return ordinal_of(context, &ordinal) ? cuda_device_at(ordinal) : NULL;
}

// The tightest of some readings.
static struct tare_trace_clock_pair read_pair(void)
{
	struct tare_trace_clock_pair best = { 0 };
	for (int i = 0; i < 3; i++) {
		struct timespec now;
		uint64_t before = guest_ticks(), after;
		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		after = guest_ticks();
		if (i == 0 || after - before < best.after - best.before)
			best = (struct tare_trace_clock_pair){
				.before = before,
				.after = after,
				.value = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec
			};
	}
	return best;
}

void cuda_clock_pairs(struct guest_thread *thread, bool due)
{
	uint32_t process = atomic_load(&guest_process);
	for (uint32_t i = 0; i < CUDA_MOST_DEVICES; i++) {
		struct cuda_recorded_device *device = &devices[i];
		uint64_t now = guest_ticks(), last = atomic_load(&device->paired_ticks);
		struct tare_trace_clock_pair pair;
		union tare_trace_record *record;
		if (atomic_load(&device->process) != process ||
		    (!due && last && now - last < guest_ticks_of_ns(PAIRS_NS)) ||
		    !atomic_compare_exchange_strong(&device->paired_ticks, &last, now))
			continue;
		pair = read_pair();
		pair.device = (uintptr_t)device;
		record = guest_event(thread);
		if (!record)
			continue;
		record->clock_pair = pair;
		guest_commit(record, tare_trace_head(TARE_TRACE_CLOCK_PAIR, TARE_TRACE_CUDA,
		                                     TARE_CLOCK_DEVICE, thread->track));
	}
}

// ---- streams

static bool is_default(cu_stream handle)
{
	return (uintptr_t)handle <= 2; // none, legacy, the thread's own
}

static const void *stream_key(const struct guest_thread *thread, uint32_t context_id,
                              cu_stream handle, bool of_thread)
{
	const uint32_t parts[] = { context_id, of_thread, of_thread ? thread->track : 0 };
	return is_default(handle)
	           ? guest_hash_key(guest_hash(GUEST_HASH_START, parts, sizeof parts))
	           : handle;
}

// In the trace a default stream's handle is where we keep it: NULL is none.
static const void *traced_handle(const struct cuda_stream *stream)
{
	return is_default(stream->handle) ? (const void *)stream : (const void *)stream->handle;
}

static void define_stream(const struct cuda_stream *stream, const struct cupti_call *call)
{
	enum { PROFILING = 2, NON_BLOCKING = 0x100, LEGACY = 0x200 };
	const char *name = !is_default(stream->handle) ? NULL
	                   : stream->of_thread         ? "default stream of a thread"
	                                               : "default stream";
	cuda_define(stream->again ? 0 : begin_ticks, TARE_OBJECT_QUEUE, traced_handle(stream),
	            call->context, stream->device,
	            (cuda_timed ? PROFILING : 0) | (stream->blocking ? 0 : NON_BLOCKING) |
	                (stream->legacy ? LEGACY : 0),
	            0, name ? text_of(name) : 0, stream->number);
	cuda_fact(TARE_TRACE_FACT_PROFILING, traced_handle(stream), cuda_timed, 0);
	if (stream->priority)
		cuda_fact(TARE_TRACE_FACT_PRIORITY, traced_handle(stream),
		          (uint64_t)(int64_t)stream->priority, 0);
	if (cuda_timed)
		cuda_change(TARE_CHANGE_PROFILING, traced_handle(stream), 0, PROFILING); // by CUPTI
}

uint32_t cuda_pages_queue(uint32_t ordinal, bool any)
{
	enum { ANY_ORDER = 1, PROFILING = 2 };
	uint32_t process = atomic_load(&guest_process);
	struct cuda_recorded_device *device =
	    ordinal < CUDA_MOST_DEVICES ? &devices[ordinal] : NULL;
	for (uint32_t i = 0;
	     any && i < CUDA_MOST_DEVICES && (!device || atomic_load(&device->process) != process);
	     i++)
		device = &devices[i];
	if (!device || atomic_load(&device->process) != process)
		return 0;
	if (device->pages_process != process) {
		device->pages_process = process;
		device->pages_queue = guest_queue_number();
		cuda_define(begin_ticks, TARE_OBJECT_QUEUE, &device->pages_queue, NULL, device,
		            ANY_ORDER | PROFILING, 0, text_of("unified memory"),
		            device->pages_queue);
	}
	return device->pages_queue;
}

enum { DESTROYED = 1 }; // in place of a stream: its handle may come again

static struct cuda_stream *known_stream(const void *key, bool *again)
{
	uint64_t known = guest_map_find(streams, key, 0);
	*again = known == DESTROYED;
	return known == DESTROYED ? NULL : (struct cuda_stream *)(uintptr_t)known;
}

// Another thread may have been faster.
static struct cuda_stream *keep_stream(const void *key, struct cuda_stream *stream)
{
	struct cuda_stream *other;
	guest_hold(&lock);
	other = known_stream(key, &stream->again);
	if (other)
		atomic_store(&stream->gone, true);
	else
		guest_map_put(streams, key, (uintptr_t)stream);
	guest_let_go(&lock);
	return other ? other : stream;
}

static struct cuda_stream *stream_new(struct guest_thread *thread, const struct cupti_call *call,
                                      cu_stream handle, bool of_thread)
{
	struct cuda_recorded_device *device = cuda_device_of(call->context);
	struct cuda_stream *stream = device ? cuda_stream_take() : NULL;
	unsigned int flags = 0;
	if (!stream)
		return NULL;
	if (!is_default(handle) && cuda_driver.cuStreamGetFlags)
		cuda_driver.cuStreamGetFlags(handle, &flags);
	if (!is_default(handle) && cuda_driver.cuStreamGetPriority)
		cuda_driver.cuStreamGetPriority(handle, &stream->priority);
	stream->context_id = call->context_id;
	stream->number = guest_queue_number();
	stream->of_thread = of_thread;
	stream->legacy = is_default(handle) && !of_thread;
	stream->blocking = !stream->legacy && !(flags & STREAM_NON_BLOCKING);
	stream->device = device;
	stream->handle = handle;
	return keep_stream(stream_key(thread, call->context_id, handle, of_thread), stream);
}

struct cuda_stream *cuda_stream_of(struct guest_thread *thread, const struct cupti_call *call,
                                   cu_stream handle, bool of_thread)
{
	struct cuda_thread *mine = cuda_of(thread);
	struct cuda_stream *stream = mine->stream;
	bool again;
	of_thread = (uintptr_t)handle == 2 || (of_thread && !handle);
	// Most calls are about the stream of the one before.
	if (CUDA_LIKELY(stream && stream->handle == handle && !of_thread && !stream->of_thread &&
	                !atomic_load_explicit(&stream->gone, memory_order_relaxed) &&
	                (!is_default(handle) || stream->context_id == call->context_id) &&
	                atomic_load_explicit(&stream->process, memory_order_relaxed) ==
	                    thread->process))
		return stream;
	const void *key = stream_key(thread, call->context_id, handle, of_thread);
	stream = known_stream(key, &again);
	if (!stream && call->context)
		stream = stream_new(thread, call, handle, of_thread);
	if (stream && atomic_exchange(&stream->process, thread->process) != thread->process) {
		if (atomic_load(&stream->device->process) != thread->process)
			cuda_device_of(call->context);
		define_stream(stream, call);
	}
	mine->stream = stream;
	return stream;
}

// The others' `stream` may still be it: a program that uses a stream after it has destroyed it is
// wrong.
void cuda_stream_forget(cu_stream handle)
{
	struct cuda_stream *stream;
	bool again;
	if (is_default(handle))
		return;
	stream = known_stream(handle, &again);
	guest_map_put(streams, handle, DESTROYED);
	if (stream)
		atomic_store(&stream->gone, true);
}

// ---- kernels

static uint64_t hash_of(const char *symbol)
{
	return symbol ? guest_hash(GUEST_HASH_START, symbol, strlen(symbol)) : 0;
}

static void define_kernel(const struct cuda_recorded_kernel *kernel, const char *symbol)
{
	cuda_define(kernel->again ? 0 : begin_ticks, TARE_OBJECT_KERNEL, kernel->handle, NULL, NULL,
	            0, 0, symbol ? text_of(symbol) : 0, 0);
}

static struct cuda_recorded_kernel *kernel_find(cu_function handle, const char *symbol)
{
	struct cuda_recorded_kernel *kernel =
	    (struct cuda_recorded_kernel *)(uintptr_t)guest_map_find(kernels, handle, 0);
	bool again = kernel != NULL;
	if (kernel && kernel->symbol != symbol && kernel->hash != hash_of(symbol))
		kernel = NULL; // another module's, at the same place
	if (kernel) {
		kernel->symbol = symbol; // to be compared first
		return kernel;
	}
	kernel = guest_memory(sizeof *kernel);
	if (!kernel)
		return NULL;
	*kernel = (struct cuda_recorded_kernel){
		.handle = handle, .symbol = symbol, .hash = hash_of(symbol), .again = again
	};
	guest_map_put(kernels, handle, (uintptr_t)kernel);
	return kernel;
}

struct cuda_recorded_kernel *cuda_kernel_of(struct guest_thread *thread, cu_function handle,
                                            const char *symbol)
{
	struct cuda_thread *mine = cuda_of(thread);
	struct cuda_recorded_kernel *kernel = mine->kernel;
	if (CUDA_UNLIKELY(!symbol) && cuda_driver.cuFuncGetName)
		cuda_driver.cuFuncGetName(&symbol, handle);
	if (CUDA_UNLIKELY(!kernel || kernel->handle != handle || kernel->symbol != symbol))
		kernel = kernel_find(handle, symbol);
	if (kernel &&
	    CUDA_UNLIKELY(atomic_load_explicit(&kernel->process, memory_order_relaxed) !=
	                  thread->process) &&
	    atomic_exchange(&kernel->process, thread->process) != thread->process)
		define_kernel(kernel, symbol);
	mine->kernel = kernel;
	return kernel;
}

struct cuda_recorded_kernel *cuda_kernel_named(const char *symbol)
{
	uint32_t process = atomic_load(&guest_process);
	uint64_t hash = hash_of(symbol);
	const void *key = guest_hash_key(hash);
	struct cuda_recorded_kernel *kernel =
	    (struct cuda_recorded_kernel *)(uintptr_t)guest_map_find(kernels, key, 0);
	if (!kernel) {
		kernel = guest_memory(sizeof *kernel);
		if (!kernel)
			return NULL;
		*kernel =
		    (struct cuda_recorded_kernel){ .handle = (cu_function)kernel, .hash = hash };
		guest_map_put(kernels, key, (uintptr_t)kernel);
	}
	if (atomic_exchange(&kernel->process, process) != process)
		define_kernel(kernel, symbol);
	return kernel;
}

static void kernel_fact(enum tare_trace_fact fact, const struct cuda_recorded_kernel *kernel,
                        const struct cuda_recorded_device *device, uint64_t value)
{
	guest_define_fact(TARE_TRACE_CUDA, fact, kernel->handle, value, device, 0);
}

// Once a device; by who harvests, one thread at a time.
void cuda_kernel_tell(struct cuda_recorded_kernel *kernel, const struct cupti_kernel *record)
{
	uint32_t process = atomic_load(&guest_process);
	const struct cuda_recorded_device *device =
	    record->device < CUDA_MOST_DEVICES ? &devices[record->device] : NULL;
	if (!device || atomic_load(&device->process) != process ||
	    atomic_load(&kernel->process) != process)
		return;
	if (kernel->told_process != process)
		kernel->told = 0;
	kernel->told_process = process;
	if (CUDA_LIKELY(kernel->told >> record->device & 1))
		return;
	kernel->told |= UINT64_C(1) << record->device;
	kernel_fact(TARE_TRACE_FACT_REGISTERS, kernel, device, record->registers);
	kernel_fact(TARE_TRACE_FACT_LOCAL_BYTES, kernel, device,
	            (uint64_t)record->static_shared + (uint64_t)record->dynamic_shared);
	kernel_fact(TARE_TRACE_FACT_FIXED_LOCAL_BYTES, kernel, device,
	            (uint64_t)record->static_shared);
	kernel_fact(TARE_TRACE_FACT_PRIVATE_BYTES, kernel, device, record->local_a_thread);
	kernel_fact(TARE_TRACE_FACT_SUB_GROUP, kernel, device, WARP_ITEMS);
}
