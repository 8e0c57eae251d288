// SPDX-License-Identifier: Apache-2.0
// The OpenCL CPU device that kernels run on. It is opened past the OpenCL loader, so that OpenCL
// layers (tare's recorder is one) never see the driver's calls as the program's.
#pragma once
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <stdbool.h>
#include <stddef.h>

// Stacks of the threads that run kernels, and how much of one the private variables of a work-group
// may take.
#define CPU_OPENCL_STACK_BYTES ((size_t)64 << 20)
#define CPU_OPENCL_PRIVATE_BYTES (UINT64_C(48) << 20)

struct cpu_opencl {
	const cl_icd_dispatch *cl;
	cl_device_id device;
	cl_context context;
	// the compiler's LLVM, by the platform's version text; 0: it does not tell
	unsigned llvm;
	bool takes_spirv;  // clCreateProgramWithIL works
	bool half;         // has the functions of half precision
	char name[128];    // of the device
	char library[256]; // where it came from
	char cache[256];   // folder in which PoCL keeps compiled kernels, with a last '/'
};

// Opens the device at the first call; later calls give the same. NULL: there is none, and *why (at
// most why_bytes) is a sentence that says what to install. Any thread.
// Libraries are those of ZE_CPU_OPENCL (a library or an .icd file), else those that the OpenCL
// loaders would open: OCL_ICD_VENDORS, OPENCL_VENDOR_PATH, else /etc/OpenCL/vendors/*.icd.
const struct cpu_opencl *cpu_opencl(char *why, size_t why_bytes);

// Calls `each` for every ICD library named there until it returns true (icd.c). True: one did.
bool icd_each(bool (*each)(const char *library, void *context), void *context);
