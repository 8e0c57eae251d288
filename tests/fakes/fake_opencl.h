// SPDX-License-Identifier: Apache-2.0
// What the files of the fake OpenCL share: its objects, and the script (fake_opencl.c).
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

// Objects of a driver begin with its table of functions, which lies in the driver's library.
struct object {
	const void *table;
	int references;
	struct object *before, *after; // all that live, as a driver would hold them: an object that
	                               // is left behind on purpose is no leak
};
struct _cl_platform_id {
	struct object object;
};
struct _cl_device_id {
	struct object object;
};
struct _cl_context {
	struct object object;
};
struct _cl_program {
	struct object object;
	bool local;
};
struct _cl_kernel {
	struct object object;
	bool local;
};
struct _cl_command_queue {
	struct object object;
	cl_context context;
	cl_command_queue_properties properties;
	bool stuck;
};
struct _cl_mem {
	struct object object;
	char *data;
	size_t bytes;
	bool owned;
};
struct _cl_event {
	struct object object;
	cl_command_queue queue; // NULL: a user event
	cl_int status;
	cl_ulong stamp;
};

// Nothing but the API is to be seen outside.
#pragma GCC visibility push(hidden)
// A new object with one reference, and one reference less, which frees it with the last.
void *fake_create(size_t bytes);
cl_int fake_release(void *pointer);
// An answer to clGet...Info.
cl_int fake_answer(const void *value, size_t bytes, size_t room, void *to, size_t *size);
// Whether the script has `word`; its value, if it has one, goes to *value (may be NULL).
bool fake_told(const char *word, const char **value);
#pragma GCC visibility pop
