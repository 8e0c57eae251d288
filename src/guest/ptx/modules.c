// SPDX-License-Identifier: Apache-2.0
// The modules that the program has loaded, and launches of their kernels.
#include "guest/ptx/ptx.h"

#include <pthread.h>
#include <string.h>

// What a function's or a kernel's handle is of.
struct known {
	struct ptx_kernel *_Atomic kernel;
	_Atomic uint64_t changes; // that there were when this was found out
};

enum blocks_stage ptx_stage;
struct ptx_loaded *_Atomic ptx_loaded_all;
static _Atomic uint64_t changes; // of what handles mean
static struct guest_map *kernels;
static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *_Atomic mapped[BLOCKS_KERNELS]; // the counters of each row, once they are
bool ptx_modules_begin(enum blocks_stage at)
{
	ptx_stage = at;
	kernels = guest_map_new();
	return kernels != NULL;
}

// ---- launches

static struct ptx_loaded *find(const void *handle, bool library)
{
	for (struct ptx_loaded *at = atomic_load(&ptx_loaded_all); at != NULL; at = at->following)
		if (at->handle == handle && at->library == library && !atomic_load(&at->gone))
			return at;
	return NULL;
}

// The one library of ours that has a kernel of that name: of a function that was made of a
// library's kernel the driver tells neither.
static struct ptx_loaded *library_with(const char *name)
{
	struct ptx_loaded *found = NULL;
	void *kernel;

	for (struct ptx_loaded *at = atomic_load(&ptx_loaded_all);
	     at != NULL && ptx_driver.cuLibraryGetKernel != NULL; at = at->following) {
		if (atomic_load(&at->gone) || !at->library ||
		    ptx_driver.cuLibraryGetKernel(&kernel, at->handle, name) != ABI_SUCCESS)
			continue;
		if (found != NULL)
			return NULL;
		found = at;
	}
	return found;
}

// The module of ours that a kernel is of; NULL: none.
static struct ptx_loaded *module_of(void *function, const char *name)
{
	struct ptx_loaded *found = NULL;
	void *handle = NULL;

	ptx_ours_begin();
	if (ptx_driver.cuFuncGetModule(&handle, function) == ABI_SUCCESS)
		found = find(handle, false);
	if (found == NULL && ptx_driver.cuKernelGetLibrary != NULL &&
	    ptx_driver.cuKernelGetLibrary(&handle, function) == ABI_SUCCESS)
		found = find(handle, true);
	if (found == NULL)
		found = library_with(name);
	ptx_ours_end();
	return found;
}

// The counters of a row, in the file.
static uint64_t *counters_of(struct blocks_kernel *row, const struct blocks_module *module,
                             enum blocks_why *why)
{
	uint64_t *_Atomic *place = &mapped[row - blocks_counts->kernel];
	uint64_t *counters = atomic_load(place);

	if (counters == NULL) {
		counters = blocks_counters(row, module, why);
		atomic_store(place, counters);
	}
	return counters;
}

// Where a kernel's counters are in the device's memory: a variable that is called what its module's
// names begin with, and the kernel's name.
static bool find_variable(struct ptx_kernel *kernel)
{
	const struct ptx_loaded *loaded = kernel->loaded;
	const struct blocks_module *module = loaded->module;
	char name[sizeof module->options + BLOCKS_NAME_BYTES];
	size_t before = strnlen(module->options, sizeof module->options);
	size_t behind = strnlen(kernel->row->name, sizeof kernel->row->name - 1);

	memcpy(name, module->options, before);
	memcpy(name + before, kernel->row->name, behind);
	name[before + behind] = '\0';
	cu_result result = (cu_result)1;
	if (!loaded->library)
		result = ptx_driver.cuModuleGetGlobal_v2(&kernel->at, &kernel->bytes,
		                                         loaded->handle, name);
	else if (ptx_driver.cuLibraryGetGlobal != NULL)
		result = ptx_driver.cuLibraryGetGlobal(&kernel->at, &kernel->bytes, loaded->handle,
		                                       name);
	kernel->row->code = (int32_t)result;
	return result == ABI_SUCCESS && kernel->bytes == (size_t)kernel->row->rows *
	                                                     kernel->row->row_counters *
	                                                     sizeof(uint64_t);
}

// Why a kernel is not counted; COVERED: it is.
static enum blocks_why prepare(struct ptx_kernel *kernel)
{
	enum blocks_why why = BLOCKS_NO_ROOM;

	if (kernel->loaded == NULL)
		return BLOCKS_NO_PTX;
	kernel->row->code = (int32_t)kernel->loaded->code;
	if (kernel->loaded->module == NULL)
		return kernel->loaded->why;
	uint64_t *counters = counters_of(kernel->row, kernel->loaded->module, &why);
	if (counters == NULL)
		return why;
	ptx_ours_begin();
	bool found = find_variable(kernel);
	ptx_ours_end();
	if (!found)
		return BLOCKS_NOT_READ;
	kernel->counters = counters;
	return BLOCKS_COVERED;
}

// The kernel of that name, new where none of its module was launched yet; NULL: no memory.
static struct ptx_kernel *kernel_of(struct ptx_loaded *loaded, const char *name)
{
	struct blocks_kernel *row =
	    blocks_row(name, loaded != NULL ? loaded->hash : 0, BLOCKS_CUDA);
	struct ptx_kernel *first = loaded != NULL ? atomic_load(&loaded->kernels) : NULL;

	for (struct ptx_kernel *at = first; at != NULL && row != NULL; at = at->following)
		if (at->row == row)
			return at;
	struct ptx_kernel *made = guest_memory(sizeof *made);
	if (made == NULL)
		return NULL;
	*made = (struct ptx_kernel){ .following = first, .loaded = loaded, .row = row };
	if (row == NULL)
		return made;
	enum blocks_why why = prepare(made);
	if (why != BLOCKS_COVERED)
		row->why = why;
	if (loaded != NULL)
		atomic_store(&loaded->kernels, made);
	return made;
}

void ptx_handles_change(void)
{
	atomic_fetch_add(&changes, 1);
}

static bool is_known(struct known *known, void *function, const char *name)
{
	uint64_t now = atomic_load(&changes);
	struct ptx_kernel *before = atomic_load(&known->kernel);

	if (before != NULL && atomic_load(&known->changes) == now)
		return true;
	struct ptx_loaded *loaded = module_of(function, name);
	// Most handles mean what they did.
	if (before == NULL || before->loaded != loaded || before->row == NULL ||
	    strcmp(before->row->name, name) != 0 ||
	    (loaded != NULL && atomic_load(&loaded->kernels) == NULL))
		before = kernel_of(loaded, name);
	atomic_store(&known->kernel, before);
	atomic_store(&known->changes, now);
	return before != NULL;
}

struct ptx_kernel *ptx_kernel_of(void *function, const char *name)
{
	struct known *known = (struct known *)(uintptr_t)guest_map_find(kernels, function, 0);
	struct ptx_kernel *kernel = NULL;

	if (known != NULL && atomic_load(&known->changes) == atomic_load(&changes))
		return atomic_load(&known->kernel);
	pthread_mutex_lock(&finding);
	known = (struct known *)(uintptr_t)guest_map_find(kernels, function, 0);
	bool is_new = known == NULL;
	if (is_new)
		known = guest_memory(sizeof *known);
	if (known != NULL && is_known(known, function, name))
		kernel = atomic_load(&known->kernel);
	if (is_new && kernel != NULL)
		guest_map_put(kernels, function, (uintptr_t)known);
	pthread_mutex_unlock(&finding);
	return kernel;
}

uint64_t ptx_items(const struct ptx_grid *grid)
{
	uint64_t items = 1;

	for (int i = 0; i < 3; i++)
		items *= (uint64_t)grid->groups[i] * grid->lanes[i];
	return items;
}

void ptx_count(struct ptx_kernel *kernel, cu_context in, uint64_t items)
{
	cu_context context = NULL;

	if (kernel == NULL || kernel->row == NULL) {
		blocks_count_launch(kernel == NULL ? NULL : &blocks_no_row, false, 0);
		return;
	}
	bool counted = kernel->counters != NULL;
	if (counted && !atomic_compare_exchange_strong(&kernel->loaded->context, &context, in) &&
	    context != in) {
		kernel->row->why = BLOCKS_ANOTHER_CONTEXT;
		counted = false;
	}
	if (counted) {
		kernel->row->far = 1;
		__atomic_fetch_add(&kernel->row->unread, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&kernel->work_items, items, __ATOMIC_RELAXED);
		__atomic_fetch_add(&kernel->unread, 1, __ATOMIC_RELAXED);
	}
	blocks_count_launch(kernel->row, counted, items);
}

void ptx_launched(const struct cupti_call *call, void *function, const struct ptx_grid *grid)
{
	if (ptx_stage == BLOCKS_COUNT && call->symbol != NULL)
		ptx_count(ptx_kernel_of(function, call->symbol), call->context, ptx_items(grid));
}
