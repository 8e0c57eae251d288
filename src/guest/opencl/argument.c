// SPDX-License-Identifier: Apache-2.0
// Which memory kernels may write (--contents): what is given to them as an argument that is neither
// constant nor said to be. A FACT each time that a kernel gets a memory object for the first time.
#include "guest/opencl/layer.h"

static struct guest_map *told; // by kernel, argument and memory object

void layer_arguments_begin(void)
{
	if (guest_compares())
		told = guest_map_new();
}

// Not asked of every driver's answer: one that does not know leaves it written.
static bool is_read_only(cl_kernel kernel, cl_uint index)
{
	cl_kernel_arg_address_qualifier address = 0;
	cl_kernel_arg_type_qualifier type = 0;
	cl_kernel_arg_access_qualifier access = 0;
	if (layer_next.clGetKernelArgInfo == NULL)
		return false;
	if (layer_next.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
	                                  sizeof address, &address, NULL) == CL_SUCCESS &&
	    address == CL_KERNEL_ARG_ADDRESS_CONSTANT)
		return true;
	if (layer_next.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof type,
	                                  &type, NULL) == CL_SUCCESS &&
	    type & CL_KERNEL_ARG_TYPE_CONST)
		return true;
	return layer_next.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER,
	                                     sizeof access, &access, NULL) == CL_SUCCESS &&
	       access == CL_KERNEL_ARG_ACCESS_READ_ONLY;
}

static void tell(cl_kernel kernel, cl_mem memory)
{
	// Not the ticks of this thread's last call: another thread may have made the object since.
	const union tare_trace_record record = { .fact = { .head = guest_api_head(
		                                               TARE_TRACE_OPENCL, TARE_TRACE_FACT,
		                                               TARE_TRACE_FACT_MAY_WRITE),
		                                           .object = (uintptr_t)kernel,
		                                           .ticks = guest_ticks(),
		                                           .value = (uintptr_t)memory } };
	guest_define(&record);
}

static __attribute__((noinline)) void given(cl_kernel kernel, cl_uint index, cl_mem memory)
{
	const struct layer_object *of = layer_object_find(TARE_OBJECT_KERNEL, kernel);
	const struct layer_object *object = layer_object_find(TARE_OBJECT_MEMORY, memory);
	struct guest_thread *thread = object != NULL && told != NULL ? layer_thread() : NULL;
	if (thread == NULL)
		return;
	uint64_t parts[] = { (uintptr_t)kernel, of != NULL ? of->serial : 0, index,
		             object->serial };
	const void *key = guest_hash_key(guest_hash(GUEST_HASH_START, parts, sizeof parts));
	if (guest_map_find(told, key, 0) != 0 || !guest_map_put(told, key, 1))
		return;
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_OPENCL);
	if (!is_read_only(kernel, index))
		tell(kernel, memory);
	guest_aside_end(thread, aside);
}

cl_int layer_do_clSetKernelArg(layer_next_clSetKernelArg next, cl_kernel kernel, cl_uint index,
                               size_t bytes, const void *value)
{
	cl_int result = next(kernel, index, bytes, value);
	if (guest_compares() && result == CL_SUCCESS && bytes == sizeof(cl_mem) && value != NULL) {
		cl_mem memory;
		__builtin_memcpy(&memory, value, sizeof memory);
		if (memory != NULL)
			given(kernel, index, memory);
	}
	return result;
}
