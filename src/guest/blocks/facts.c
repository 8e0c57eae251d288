// SPDX-License-Identifier: Apache-2.0
// What the driver says of the program's own kernels.
#include "guest/blocks/layer.h"

#ifndef CL_KERNEL_SPILL_MEM_SIZE_INTEL
#define CL_KERNEL_SPILL_MEM_SIZE_INTEL 0x4109
#endif
// Only its compiler tells spills; another's might take the number for something else.
enum { VENDOR_INTEL = 0x8086 };

static cl_device_id device_of(cl_kernel kernel)
{
	cl_program program = NULL;
	cl_device_id devices[BLOCKS_MOST_DEVICES] = { NULL };

	if (blocks_next.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program,
	                                NULL) != CL_SUCCESS ||
	    blocks_next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices,
	                                 NULL) != CL_SUCCESS)
		return NULL;
	return devices[0];
}

// BLOCKS_NOT_TOLD where the driver does not say.
static uint64_t ask(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name,
                    size_t bytes)
{
	uint64_t value = 0; // numbers are little-endian

	return blocks_next.clGetKernelWorkGroupInfo(kernel, device, name, bytes, &value, NULL) ==
	               CL_SUCCESS
	           ? value
	           : BLOCKS_NOT_TOLD;
}

void blocks_facts(cl_kernel kernel, struct blocks_kernel *row)
{
	cl_device_id device = device_of(kernel);
	cl_uint vendor = 0;

	if (device == NULL || row->facts)
		return;
	blocks_next.clGetDeviceInfo(device, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, NULL);
	row->multiple =
	    ask(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof(size_t));
	row->private_bytes = ask(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof(cl_ulong));
	row->spill_bytes =
	    vendor == VENDOR_INTEL
	        ? ask(kernel, device, CL_KERNEL_SPILL_MEM_SIZE_INTEL, sizeof(cl_ulong))
	        : BLOCKS_NOT_TOLD;
	// From 4 on PoCL says 0 where it does not know; a kernel without any is as likely.
	if (row->private_bytes == 0)
		row->private_bytes = BLOCKS_NOT_TOLD;
	row->sub_group = BLOCKS_NOT_TOLD;
	row->facts = 1;
}

void blocks_sub_group(cl_kernel kernel, cl_uint dimensions, const size_t *locals,
                      struct blocks_kernel *row)
{
	size_t size = 0;

	if (!row->facts || row->sub_group != BLOCKS_NOT_TOLD || locals == NULL ||
	    blocks_next.clGetKernelSubGroupInfo == NULL)
		return;
	if (blocks_next.clGetKernelSubGroupInfo(
	        kernel, device_of(kernel), CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
	        dimensions * sizeof *locals, locals, sizeof size, &size, NULL) == CL_SUCCESS &&
	    size != 0)
		row->sub_group = size;
	else
		row->sub_group = 0; // it is not asked again
}

bool blocks_regroup(cl_kernel kernel, cl_uint dimensions, const size_t *sizes, const size_t *locals,
                    const struct blocks_kernel *row, size_t chosen[3])
{
	uint64_t width = blocks_width(row), others = 1;

	if (width == 0 || sizes == NULL || locals == NULL || dimensions == 0 || dimensions > 3)
		return false;
	for (cl_uint i = 0; i < dimensions; i++) {
		chosen[i] = locals[i];
		others *= i > 0 ? locals[i] : 1;
	}
	chosen[0] = (size_t)blocks_filling(
	    width, sizes[0], others,
	    ask(kernel, device_of(kernel), CL_KERNEL_WORK_GROUP_SIZE, sizeof(size_t)));
	return chosen[0] != 0;
}

void blocks_lanes(cl_uint dimensions, const size_t *sizes, const size_t *locals,
                  struct blocks_kernel *row)
{
	uint64_t groups = 1, in_group = 1, items = 1;

	if (sizes == NULL || locals == NULL)
		return;
	for (cl_uint i = 0; i < dimensions; i++) {
		if (locals[i] == 0)
			return;
		groups *= (sizes[i] + locals[i] - 1) / locals[i];
		in_group *= locals[i];
		items *= sizes[i];
	}
	blocks_add_lanes(row, items, groups, in_group);
}
