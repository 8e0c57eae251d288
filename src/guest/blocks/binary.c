// SPDX-License-Identifier: Apache-2.0
// Binaries that the program takes from what it has built, and loads again, in this run or the next:
// what they were built from is known by their bytes.
#include "guest/blocks/layer.h"

#include <errno.h>

enum { MOST_DEVICES = 32 };

static struct guest_map *origins; // of programs that were loaded: the hash of their BUILD, or 0

bool blocks_binaries_begin(void)
{
	origins = guest_map_new();
	return origins != NULL;
}

uint64_t blocks_origin(cl_program program)
{
	return guest_map_find(origins, program, 0);
}

// The program has been given its binaries.
static void kept(cl_program program, unsigned char *const *binaries, size_t count)
{
	size_t sizes[MOST_DEVICES], bytes = 0;
	struct blocks_source source;
	enum blocks_why why;

	if (blocks_next.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes,
	                                 &bytes) != CL_SUCCESS)
		return;
	blocks_source_read(program, &source, &why);
	if (source.data == NULL)
		return;
	blocks_write_build(source.hash, source.data, source.bytes);
	for (size_t i = 0; i < count && i < bytes / sizeof *sizes; i++)
		if (binaries[i] != NULL && sizes[i] != 0)
			blocks_write_origin(guest_hash(GUEST_HASH_START, binaries[i], sizes[i]),
			                    source.hash);
	blocks_source_free(&source);
}

static CL_API_ENTRY cl_int CL_API_CALL get_info(cl_program program, cl_program_info name,
                                                size_t bytes, void *value, size_t *bytes_ret)
{
	cl_int result = blocks_next.clGetProgramInfo(program, name, bytes, value, bytes_ret);
	int saved = errno;

	if (result == CL_SUCCESS && name == CL_PROGRAM_BINARIES && value != NULL)
		kept(program, value, bytes / sizeof(unsigned char *));
	errno = saved;
	return result;
}

static CL_API_ENTRY cl_program CL_API_CALL load(cl_context context, cl_uint count,
                                                const cl_device_id *devices, const size_t *lengths,
                                                const unsigned char **binaries, cl_int *status,
                                                cl_int *error)
{
	cl_program made = blocks_next.clCreateProgramWithBinary(context, count, devices, lengths,
	                                                        binaries, status, error);
	int saved = errno;

	// One device's is enough: all of a program's are built from one source.
	if (made != NULL)
		guest_map_put(
		    origins, made,
		    blocks_read_origin(guest_hash(GUEST_HASH_START, binaries[0], lengths[0])));
	errno = saved;
	return made;
}

// Other programs without a source: they may have the address of one that was loaded.
static CL_API_ENTRY cl_program CL_API_CALL link(cl_context context, cl_uint count,
                                                const cl_device_id *devices, const char *options,
                                                cl_uint programs, const cl_program *program,
                                                void(CL_CALLBACK *notify)(cl_program, void *),
                                                void *data, cl_int *error)
{
	cl_program made = blocks_next.clLinkProgram(context, count, devices, options, programs,
	                                            program, notify, data, error);

	if (made != NULL)
		guest_map_remove(origins, made);
	return made;
}

static CL_API_ENTRY cl_program CL_API_CALL built_in(cl_context context, cl_uint count,
                                                    const cl_device_id *devices, const char *names,
                                                    cl_int *error)
{
	cl_program made =
	    blocks_next.clCreateProgramWithBuiltInKernels(context, count, devices, names, error);

	if (made != NULL)
		guest_map_remove(origins, made);
	return made;
}

void blocks_wrap_binaries(cl_icd_dispatch *table)
{
	BLOCKS_WRAP(table, clGetProgramInfo, get_info);
	BLOCKS_WRAP(table, clCreateProgramWithBinary, load);
	BLOCKS_WRAP(table, clLinkProgram, link);
	BLOCKS_WRAP(table, clCreateProgramWithBuiltInKernels, built_in);
}
