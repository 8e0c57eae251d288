// SPDX-License-Identifier: Apache-2.0
// Reads counters out of the device's memory before they go. A thread of ours waits for the device,
// for a limited time, and copies by a stream of its own, so that neither a kernel that never ends
// nor a launch that comes meanwhile stops the program.
#include "guest/ptx/ptx.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { PATIENCE_S = 2 };

// Whose counters are read.
struct wish {
	const void *handle; // of this module or library; NULL: of all
	bool library;
	cu_context context; // in this context; NULL: in any
};
static struct wish wish;
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER; // held for a moment only
static bool is_left;          // nobody waits for the thread of ours any more
static _Atomic bool is_stuck; // it has not come back
static cu_result code;        // the driver's last error

static bool is_meant(const struct ptx_loaded *loaded)
{
	cu_context context = atomic_load(&loaded->context);

	return !atomic_load(&loaded->gone) && loaded->module != NULL && context != NULL &&
	       (wish.handle == NULL ||
	        (loaded->handle == wish.handle && loaded->library == wish.library)) &&
	       (wish.context == NULL || context == wish.context);
}

static bool succeeded(cu_result result)
{
	if (result != ABI_SUCCESS)
		code = result;
	return result == ABI_SUCCESS;
}

// Adds what one kernel has counted to its row, unless the program went on without that.
static void add(struct ptx_kernel *kernel, const uint64_t *told, uint64_t launches, uint64_t items)
{
	pthread_mutex_lock(&adding);
	for (size_t i = 0; !is_left && i < kernel->bytes / sizeof *told; i++)
		if (told[i] != 0)
			__atomic_fetch_add(&kernel->counters[i], told[i], __ATOMIC_RELAXED);
	if (!is_left) {
		__atomic_fetch_sub(&kernel->unread, launches, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&kernel->work_items, items, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&kernel->row->unread, launches, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&adding);
}

// Zeros are copied, not filled: filling takes a kernel, for which there may be no room.
static void read_kernel(struct ptx_kernel *kernel, cu_stream stream)
{
	uint64_t launches = __atomic_load_n(&kernel->unread, __ATOMIC_RELAXED),
	         items = __atomic_load_n(&kernel->work_items, __ATOMIC_RELAXED);
	char *memory = launches == 0 ? MAP_FAILED
	                             : mmap(NULL, 2 * kernel->bytes, PROT_READ | PROT_WRITE,
	                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if ((void *)memory == MAP_FAILED)
		return;
	pthread_mutex_lock(&adding);
	bool left = is_left;
	pthread_mutex_unlock(&adding);
	if (!left &&
	    succeeded(ptx_driver.cuMemcpyDtoHAsync_v2(memory, kernel->at, kernel->bytes, stream)) &&
	    succeeded(ptx_driver.cuMemcpyHtoDAsync_v2(kernel->at, memory + kernel->bytes,
	                                              kernel->bytes, stream)) &&
	    succeeded(ptx_driver.cuStreamSynchronize(stream)))
		add(kernel, (const uint64_t *)(const void *)memory, launches, items);
	munmap(memory, 2 * kernel->bytes);
}

// All that is meant of the context that one module is counted in.
static void read_context(cu_context context)
{
	cu_stream stream = NULL;

	if (!succeeded(ptx_driver.cuCtxSetCurrent(context)) ||
	    !succeeded(ptx_driver.cuCtxSynchronize()) ||
	    !succeeded(ptx_driver.cuStreamCreate(&stream, ABI_STREAM_NON_BLOCKING)))
		return;
	for (struct ptx_loaded *at = atomic_load(&ptx_loaded_all); at != NULL; at = at->following)
		for (struct ptx_kernel *kernel = atomic_load(&at->kernels);
		     kernel != NULL && is_meant(at) && atomic_load(&at->context) == context;
		     kernel = kernel->following)
			if (kernel->counters != NULL)
				read_kernel(kernel, stream);
	ptx_driver.cuStreamDestroy_v2(stream);
}

static bool is_first(const struct ptx_loaded *loaded)
{
	for (struct ptx_loaded *at = atomic_load(&ptx_loaded_all); at != loaded; at = at->following)
		if (is_meant(at) && atomic_load(&at->context) == atomic_load(&loaded->context))
			return false;
	return true;
}

static void *read_all(void *none)
{
	ptx_ours_begin();
	for (struct ptx_loaded *at = atomic_load(&ptx_loaded_all); at != NULL; at = at->following)
		if (is_meant(at) && is_first(at))
			read_context(atomic_load(&at->context));
	ptx_driver.cuCtxSetCurrent(NULL);
	ptx_ours_end();
	atomic_store(&is_stuck, false);
	return none;
}

static void wait_for_reading(void)
{
	sigset_t all, before;
	pthread_t thread;
	struct timespec until;

	sigfillset(&all);
	is_left = false;
	atomic_store(&is_stuck, true);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool made = pthread_create(&thread, NULL, read_all, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!made) {
		atomic_store(&is_stuck, false);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	if (pthread_timedjoin_np(thread, NULL, &until) == 0)
		return;
	pthread_mutex_lock(&adding);
	is_left = true;
	pthread_mutex_unlock(&adding);
	pthread_detach(thread);
}

// Launches whose counts have gone were not counted.
static void lose(struct ptx_kernel *kernel)
{
	uint64_t launches = __atomic_exchange_n(&kernel->unread, 0, __ATOMIC_RELAXED),
	         items = __atomic_exchange_n(&kernel->work_items, 0, __ATOMIC_RELAXED);

	if (launches == 0)
		return;
	kernel->row->why = atomic_load(&ptx_captures) > 0 ? BLOCKS_CAPTURING : BLOCKS_NOT_READ;
	kernel->row->code = (int32_t)code;
	__atomic_fetch_sub(&kernel->row->counted, launches, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&kernel->row->work_items, items, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&kernel->row->unread, launches, __ATOMIC_RELAXED);
}

// `goes`: what is not read now is lost.
static void read_where(const struct wish *asked, bool goes)
{
	struct timespec until;
	bool any = false;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	if (pthread_mutex_timedlock(&reading, &until) != 0)
		return;
	// While a thread of ours is not back it reads the wish.
	if (!atomic_load(&is_stuck))
		wish = *asked;
	code = ABI_SUCCESS;
	for (struct ptx_loaded *at = atomic_load(&ptx_loaded_all); at != NULL; at = at->following)
		any |= is_meant(at);
	if (any && !atomic_load(&is_stuck) && atomic_load(&ptx_captures) <= 0)
		wait_for_reading();
	for (struct ptx_loaded *at = atomic_load(&ptx_loaded_all); goes && at != NULL;
	     at = at->following) {
		if (asked->handle != NULL
		        ? at->handle != asked->handle || at->library != asked->library
		        : asked->context != NULL && atomic_load(&at->context) != asked->context)
			continue;
		for (struct ptx_kernel *kernel = atomic_load(&at->kernels); kernel != NULL;
		     kernel = kernel->following)
			lose(kernel);
		// As the process ends nothing has gone yet.
		atomic_store(&at->gone, asked->handle != NULL || asked->context != NULL);
	}
	pthread_mutex_unlock(&reading);
}

void ptx_unloads(void *handle, bool library)
{
	ptx_handles_change();
	if (handle != NULL)
		read_where(&(struct wish){ .handle = handle, .library = library }, true);
}

void ptx_context_ends(cu_context context)
{
	if (context != NULL)
		ptx_handles_change();
	read_where(&(struct wish){ .context = context }, true);
}

// The primary context of a device whose state this thread changes.
static _Thread_local cu_context primary;

static bool is_active(cu_device device)
{
	unsigned int flags = 0;
	int active = 0;

	return ptx_driver.cuDevicePrimaryCtxGetState != NULL &&
	       ptx_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) == ABI_SUCCESS &&
	       active;
}

void ptx_device_ends(cu_device device)
{
	primary = NULL;
	ptx_ours_begin();
	// One more user of it for a moment, which tells its handle.
	if (ptx_driver.cuDevicePrimaryCtxRetain != NULL &&
	    ptx_driver.cuDevicePrimaryCtxRelease_v2 != NULL && is_active(device) &&
	    ptx_driver.cuDevicePrimaryCtxRetain(&primary, device) == ABI_SUCCESS)
		ptx_driver.cuDevicePrimaryCtxRelease_v2(device);
	ptx_ours_end();
	if (primary != NULL)
		read_where(&(struct wish){ .context = primary }, false);
}

void ptx_device_ended(cu_device device)
{
	ptx_ours_begin();
	bool active = is_active(device);
	ptx_ours_end();
	if (primary != NULL && !active) {
		ptx_handles_change();
		pthread_mutex_lock(&adding);
		for (struct ptx_loaded *at = atomic_load(&ptx_loaded_all); at != NULL;
		     at = at->following) {
			if (atomic_load(&at->context) != primary)
				continue;
			for (struct ptx_kernel *kernel = atomic_load(&at->kernels); kernel != NULL;
			     kernel = kernel->following)
				lose(kernel);
			// A library lives on, and is counted in the next context that runs it.
			if (at->library) {
				atomic_store(&at->kernels, NULL);
				atomic_store(&at->context, NULL);
			} else {
				atomic_store(&at->gone, true);
			}
		}
		pthread_mutex_unlock(&adding);
	}
	primary = NULL;
}
