// SPDX-License-Identifier: Apache-2.0
// Another set of build options in the place of the program's own, in OpenCL, and pragmas in its
// sources.
#include "guest/blocks/layer.h"
#include "guest/blocks/set.h"

#include <errno.h>
#include <sys/mman.h>

// What the driver says of a build that failed, for tare to tell.
static void note_failure(cl_program program, cl_int code)
{
	cl_device_id device = NULL;
	size_t bytes = 0;

	if (!blocks_set_failed(code))
		return;
	if (blocks_next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, 0, NULL, &bytes) !=
	        CL_SUCCESS ||
	    bytes != sizeof device)
		return;
	blocks_next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof device, &device, NULL);
	blocks_next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
	char *log = bytes <= 1 ? MAP_FAILED
	                       : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (log == MAP_FAILED)
		return;
	if (blocks_next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log,
	                                      NULL) == CL_SUCCESS)
		blocks_set_log(log, bytes);
	munmap(log, bytes);
}

static CL_API_ENTRY cl_int CL_API_CALL build(cl_program program, cl_uint count,
                                             const cl_device_id *devices, const char *options,
                                             void(CL_CALLBACK *notify)(cl_program, void *),
                                             void *data)
{
	size_t bytes;
	const char *others = blocks_set_options(BLOCKS_OPENCL, options, &bytes);
	cl_int result = blocks_next.clBuildProgram(program, count, devices, others, notify, data);
	int saved = errno;

	note_failure(program, result);
	blocks_set_give_back(others, bytes);
	errno = saved;
	return result;
}

cl_int blocks_compile(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, cl_uint headers, const cl_program *header,
                      const char **names, void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	size_t bytes;
	const char *others = blocks_set_options(BLOCKS_OPENCL, options, &bytes);
	cl_int result = blocks_next.clCompileProgram(program, count, devices, others, headers,
	                                             header, names, notify, data);
	int saved = errno;

	note_failure(program, result);
	blocks_set_give_back(others, bytes);
	errno = saved;
	return result;
}

static CL_API_ENTRY cl_program CL_API_CALL create(cl_context context, cl_uint count,
                                                  const char **parts, const size_t *lengths,
                                                  cl_int *result)
{
	size_t length, bytes;
	int saved = errno;
	const char *text = blocks_set_source(count, parts, lengths, &length, &bytes);

	errno = saved;
	if (text == NULL)
		return blocks_next.clCreateProgramWithSource(context, count, parts, lengths,
		                                             result);
	cl_program program =
	    blocks_next.clCreateProgramWithSource(context, 1, &text, &length, result);
	saved = errno;
	blocks_set_give_back(text, bytes);
	errno = saved;
	return program;
}

void blocks_wrap_options(cl_icd_dispatch *table)
{
	if (!blocks_set_given())
		return;
	BLOCKS_WRAP(table, clBuildProgram, build);
	BLOCKS_WRAP(table, clCreateProgramWithSource, create);
}
