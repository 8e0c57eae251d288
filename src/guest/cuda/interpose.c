// SPDX-License-Identifier: Apache-2.0
// Recording without CUPTI: the front tells of calls before and after. What CUPTI tells beside, the
// context and the name of a kernel, is asked of the driver and taken from the calls by which the
// program got the kernel.
#include "guest/cuda/cuda.h"
#include "guest/cuda/front/front.h"
#include "guest/environment.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cuda_fronted;

static struct cuda_front *front;
static uint16_t numbers[CUDA_FRONT_MOST]; // as in cuda_by_callback
static enum how { NOT_NAMED, NAMED, NAMED_BY_KERNEL } names_it[CUDA_FRONT_MOST];
static struct guest_map *names; // of kernels, by their handles

bool cuda_cupti_is_wanted(void)
{
	static const char word[] = TARE_ENVIRONMENT_NO_CUPTI;
	const char *words = getenv(TARE_ENVIRONMENT_OPTIONS);
	while (words && *words) {
		size_t length = strcspn(words, ",");
		if (length == sizeof word - 1 && strncmp(words, word, length) == 0)
			return false;
		words += length + (words[length] == ',');
	}
	return true;
}

// ---- names of kernels

static const char *name_of(const void *handle)
{
	return (const char *)(uintptr_t)guest_map_find(names, handle, 0);
}

// The same handle may be another kernel's when its module is gone; mostly it is the same again.
static void keep_name(const void *handle, const char *name)
{
	const char *known = name_of(handle);
	size_t bytes = strlen(name) + 1;
	char *kept = known && strcmp(known, name) == 0 ? NULL : guest_memory(bytes);
	if (!kept)
		return;
	memcpy(kept, name, bytes);
	guest_map_put(names, handle, (uintptr_t)kept);
}

// cuModuleGetFunction and cuLibraryGetKernel: where the handle goes, of what, its name.
// cuKernelGetFunction: where it goes, the kernel.
static void learn_name(const struct cupti_call *told, enum how how)
{
	const void *const *made = cuda_parameter(told, 0);
	const char *name =
	    how == NAMED ? cuda_parameter(told, 2) : name_of(cuda_parameter(told, 1));
	if (*(const cu_result *)told->result == ABI_SUCCESS && made && *made && name)
		keep_name(*made, name);
}

// The driver is not asked for it: it takes kernels of libraries in place of functions here, and not
// everywhere.
static const char *symbol_of(const void *handle)
{
	const char *known = name_of(handle);
	char text[48];
	if (known)
		return known;
	snprintf(text, sizeof text, "kernel at %p", handle);
	keep_name(handle, text);
	known = name_of(handle);
	return known ? known : "kernel";
}

// ---- calls

static const void *launched(const struct cupti_call *told, const struct cuda_function *function)
{
	return function->form == CUDA_LAUNCH      ? cuda_parameter(told, 0)
	       : function->form == CUDA_LAUNCH_EX ? cuda_parameter(told, 1)
	                                          : NULL;
}

static void complete(struct cupti_call *told, uint32_t place)
{
	const struct cuda_function *function =
	    &cuda_functions[(numbers[place] & ~CUDA_OF_THREAD) - 1];
	const void *kernel = launched(told, function);
	if (cuda_driver.cuCtxGetCurrent &&
	    cuda_driver.cuCtxGetCurrent(&told->context) != ABI_SUCCESS)
		told->context = NULL;
	told->context_id = (uint32_t)((uintptr_t)told->context >> 4);
	if (kernel)
		told->symbol = symbol_of(kernel);
	if (names_it[place] != NOT_NAMED)
		learn_name(told, names_it[place]);
}

static void tell(uint32_t place, struct cupti_call *told)
{
	int error = errno;
	if (numbers[place] && told->site == ABI_CUPTI_SITE_EXIT)
		complete(told, place);
	cuda_record_call(told, numbers[place]);
	errno = error;
}

// ---- the beginning

bool cuda_front_find(void)
{
	front = dlsym(RTLD_DEFAULT, CUDA_FRONT_SYMBOL);
	names = front && front->count == CUDA_FRONT_MOST ? guest_map_new() : NULL;
	return names != NULL;
}

void cuda_front_listen(enum tare_trace_front why)
{
	for (uint32_t i = 0; i < CUDA_FRONT_MOST; i++) {
		const char *name = front->names[i];
		numbers[i] = cuda_function_of(name);
		names_it[i] = strcmp(name, "cuModuleGetFunction") == 0 ||
		                      strcmp(name, "cuLibraryGetKernel") == 0
		                  ? NAMED
		              : strcmp(name, "cuKernelGetFunction") == 0 ? NAMED_BY_KERNEL
		                                                         : NOT_NAMED;
	}
	cuda_fronted = true;
	cuda_change(TARE_CHANGE_FRONT, NULL, why, 1);
	cuda_calibrate();
	__atomic_store_n(&front->tell, tell, __ATOMIC_RELEASE);
}
