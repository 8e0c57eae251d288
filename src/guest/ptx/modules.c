// SPDX-License-Identifier: Apache-2.0
// The modules that the program loads, their kernels' launches, and their counters.
#include "guest/blocks/ptx_text.h"
#include "guest/ptx/ptx.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

// A module of ours in the place of one of the program's. Never given back.
struct loaded {
	struct loaded *following;
	void *handle;
	bool library, gone;
	cu_context context; // in which its kernels ran; NULL: none did
	uint64_t hash;
	const struct blocks_module *module;
};

// What a kernel's handle is of.
struct known {
	struct blocks_kernel *row;
	struct loaded *loaded; // NULL: it is not counted
	uint64_t loads;        // that there were when this was found out
};

static enum blocks_stage stage;
static struct loaded *_Atomic all;
static uint64_t loads; // of code, so far
static struct guest_map *kernels;
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
// Of the call in which this thread is.
static _Thread_local struct {
	const void *image;                  // the program's own
	const struct blocks_module *module; // NULL: it is not replaced
	uint64_t hash;
} load;

bool ptx_modules_begin(enum blocks_stage at)
{
	stage = at;
	kernels = guest_map_new();
	return kernels != NULL;
}

// ---- loading

// The hash of the BUILD of a text, which is written down in the first run.
static uint64_t note(const char *text)
{
	struct blocks_build build = { .magic = BLOCKS_MAGIC,
		                      .api = BLOCKS_CUDA,
		                      .language = BLOCKS_PTX,
		                      .text_bytes = strlen(text) };
	size_t bytes = sizeof build + build.text_bytes;
	uint64_t hash =
	    guest_hash(guest_hash(GUEST_HASH_START, &build, sizeof build), text, build.text_bytes);

	if (stage != BLOCKS_COLLECT)
		return hash;
	char *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return hash;
	memcpy(data, &build, sizeof build);
	memcpy(data + sizeof build, text, build.text_bytes);
	blocks_write(hash, BLOCKS_BUILD_SUFFIX, data, bytes);
	munmap(data, bytes);
	return hash;
}

// Whether the driver takes a text: it is tried before the program's call depends on it.
static bool is_taken(const char *text)
{
	void *module = NULL;

	ptx_is_ours = true;
	bool taken = ptx_driver.cuModuleLoadData(&module, text) == ABI_SUCCESS;
	if (taken)
		ptx_driver.cuModuleUnload(module);
	ptx_is_ours = false;
	return taken;
}

// The second parameter of all these calls is the image.
static const void **image_of(const struct cupti_call *call)
{
	return (const void **)(uintptr_t)call->parameters + 1;
}

void ptx_load_enters(const struct cupti_call *call, bool library)
{
	const char *text = *image_of(call);

	(void)library;
	load.module = NULL;
	__atomic_fetch_add(&loads, 1, __ATOMIC_RELAXED);
	if (text == NULL || !blocks_is_ptx(text, SIZE_MAX))
		return;
	load.hash = note(text);
	const struct blocks_module *module =
	    stage == BLOCKS_COUNT ? blocks_module_of(load.hash) : NULL;
	if (module == NULL || module->ptx_bytes == 0 || !is_taken((const char *)(module + 1)))
		return;
	load.image = text;
	load.module = module;
	*image_of(call) = module + 1;
}

void ptx_load_leaves(const struct cupti_call *call, bool library)
{
	void **handle = *(void ***)(uintptr_t)call->parameters;

	if (load.module == NULL)
		return;
	*image_of(call) = load.image;
	if (*(const cu_result *)call->result == ABI_SUCCESS && handle != NULL) {
		struct loaded *made = guest_memory(sizeof *made);
		if (made != NULL) {
			*made = (struct loaded){ .handle = *handle,
				                 .library = library,
				                 .hash = load.hash,
				                 .module = load.module };
			made->following = atomic_load(&all);
			while (!atomic_compare_exchange_weak(&all, &made->following, made))
				;
		}
	}
	load.module = NULL;
}

// ---- launches

static struct loaded *find(const void *handle, bool library)
{
	for (struct loaded *at = atomic_load(&all); at != NULL; at = at->following)
		if (at->handle == handle && at->library == library && !at->gone)
			return at;
	return NULL;
}

// The one library of ours that has a kernel of that name: of a function that was made of a
// library's kernel the driver tells neither.
static struct loaded *library_with(const char *name)
{
	struct loaded *found = NULL;
	void *kernel;

	for (struct loaded *at = atomic_load(&all);
	     at != NULL && ptx_driver.cuLibraryGetKernel != NULL; at = at->following) {
		if (at->gone || !at->library ||
		    ptx_driver.cuLibraryGetKernel(&kernel, at->handle, name) != ABI_SUCCESS)
			continue;
		if (found != NULL)
			return NULL;
		found = at;
	}
	return found;
}

// The module of ours that a kernel is of; NULL: none.
static struct loaded *module_of(void *function, const char *name)
{
	struct loaded *found = NULL;
	void *handle = NULL;

	ptx_is_ours = true;
	if (ptx_driver.cuFuncGetModule(&handle, function) == ABI_SUCCESS)
		found = find(handle, false);
	if (found == NULL && ptx_driver.cuKernelGetLibrary != NULL &&
	    ptx_driver.cuKernelGetLibrary(&handle, function) == ABI_SUCCESS)
		found = find(handle, true);
	if (found == NULL)
		found = library_with(name);
	ptx_is_ours = false;
	return found;
}

static struct known *known_of(void *function, const char *name)
{
	struct known *known = (struct known *)(uintptr_t)guest_map_find(kernels, function, 0);
	uint64_t now = __atomic_load_n(&loads, __ATOMIC_RELAXED);
	enum blocks_why why = BLOCKS_COVERED;

	if (known != NULL && known->loads == now)
		return known;
	if (known == NULL)
		known = guest_memory(sizeof *known);
	if (known == NULL)
		return NULL;
	known->loads = now;
	known->loaded = module_of(function, name);
	known->row = blocks_row(name, known->loaded != NULL ? known->loaded->hash : 0, BLOCKS_CUDA);
	if (known->row != NULL && known->loaded != NULL &&
	    blocks_counters(known->row, known->loaded->module, &why) == NULL) {
		known->row->why = why;
		known->loaded = NULL;
	} else if (known->row != NULL && known->loaded == NULL) {
		known->row->why = BLOCKS_NO_PTX;
	}
	guest_map_put(kernels, function, (uintptr_t)known);
	return known;
}

void ptx_launched(const struct cupti_call *call, void *function, const uint32_t groups[3],
                  const uint32_t lanes[3])
{
	uint64_t items = 1;

	if (stage != BLOCKS_COUNT || call->symbol == NULL)
		return;
	struct known *known = known_of(function, call->symbol);
	if (known == NULL || known->row == NULL) {
		blocks_count_launch(known == NULL ? NULL : &blocks_no_row, false, 0);
		return;
	}
	for (int i = 0; i < 3; i++)
		items *= (uint64_t)groups[i] * lanes[i];
	struct loaded *loaded = known->loaded;
	if (loaded != NULL && loaded->context == NULL)
		loaded->context = call->context;
	bool other = loaded != NULL && loaded->context != call->context;
	if (other)
		known->row->why = BLOCKS_ANOTHER_CONTEXT;
	blocks_count_launch(known->row, loaded != NULL && !other, items);
}

// ---- counters

// The variable of a kernel's counters: what its module's names begin with, and the kernel's name.
static bool variable_of(const struct loaded *loaded, const struct blocks_kernel *row, uint64_t *at,
                        size_t *bytes)
{
	char name[sizeof loaded->module->options + BLOCKS_NAME_BYTES];
	size_t before = strnlen(loaded->module->options, sizeof loaded->module->options);
	size_t behind = strnlen(row->name, sizeof row->name - 1);

	memcpy(name, loaded->module->options, before);
	memcpy(name + before, row->name, behind);
	name[before + behind] = '\0';
	if (loaded->library)
		return ptx_driver.cuLibraryGetGlobal != NULL &&
		       ptx_driver.cuLibraryGetGlobal(at, bytes, loaded->handle, name) ==
		           ABI_SUCCESS;
	return ptx_driver.cuModuleGetGlobal_v2(at, bytes, loaded->handle, name) == ABI_SUCCESS;
}

static void fail(struct blocks_kernel *row, cu_result code)
{
	row->why = BLOCKS_NOT_READ;
	row->code = (int32_t)code;
	// It is not known what they were of.
	__atomic_store_n(&row->counted, 0, __ATOMIC_RELAXED);
}

// Adds what one kernel counted to its row, and begins anew.
static void read_kernel(const struct loaded *loaded, struct blocks_kernel *row)
{
	enum blocks_why why;
	uint64_t at = 0;
	size_t bytes = 0, wanted = (size_t)row->rows * row->row_counters * sizeof(uint64_t);

	if (!variable_of(loaded, row, &at, &bytes) || bytes != wanted)
		return fail(row, 0);
	uint64_t *counters = blocks_counters(row, loaded->module, &why);
	uint64_t *told =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (counters == NULL || (void *)told == MAP_FAILED)
		return fail(row, 0);
	cu_result result = ptx_driver.cuMemcpyDtoH_v2(told, at, bytes);
	if (result == ABI_SUCCESS)
		result = ptx_driver.cuMemsetD8_v2(at, 0, bytes);
	if (result != ABI_SUCCESS)
		fail(row, result);
	for (size_t i = 0; result == ABI_SUCCESS && i < bytes / sizeof *told; i++)
		if (told[i] != 0)
			__atomic_fetch_add(&counters[i], told[i], __ATOMIC_RELAXED);
	munmap(told, bytes);
	munmap(counters, (size_t)blocks_counter_bytes(loaded->module));
}

static void read_module(const struct loaded *loaded)
{
	cu_context before = NULL;

	if (loaded->context == NULL ||
	    ptx_driver.cuCtxPushCurrent_v2(loaded->context) != ABI_SUCCESS)
		return;
	ptx_driver.cuCtxSynchronize();
	for (uint32_t i = 0; i < blocks_counts->kernels; i++) {
		struct blocks_kernel *row = &blocks_counts->kernel[i];
		if (row->hash == loaded->hash && row->api == BLOCKS_CUDA && row->at != 0)
			read_kernel(loaded, row);
	}
	ptx_driver.cuCtxPopCurrent_v2(&before);
}

static void read_where(const void *handle, bool library, cu_context context, bool goes)
{
	if (stage != BLOCKS_COUNT)
		return;
	pthread_mutex_lock(&reading);
	ptx_is_ours = true;
	for (struct loaded *at = atomic_load(&all); at != NULL; at = at->following) {
		bool meant = handle != NULL ? at->handle == handle && at->library == library
		                            : context == NULL || at->context == context;
		if (at->gone || !meant)
			continue;
		read_module(at);
		at->gone = goes;
	}
	ptx_is_ours = false;
	pthread_mutex_unlock(&reading);
}

void ptx_unloads(void *handle, bool library)
{
	if (handle != NULL)
		read_where(handle, library, NULL, true);
}

void ptx_context_ends(cu_context context)
{
	read_where(NULL, false, context, context != NULL);
}
